//! How much work a fit is worth, and the sizes that follow from it and from the number of rows.

use serde::{Deserialize, Serialize};

/// How much work a fit is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// A first look.
    Quick,
    /// About two minutes on two cores for a table of up to 2,000 rows, and fifteen for 50,000.
    #[default]
    Normal,
    /// Finer, and some ten times as long.
    Best,
}

/// Sizes of a model and its training.
pub(crate) struct Sizes {
    pub inducing: u64,
    pub start_steps: u64,
    pub steps: u64,
    pub draws: u64,
    /// Rows a step; 0 for all.
    pub batch: u64,
    /// The highest learning rate.
    pub rate: f64,
}

impl Effort {
    /// For this many rows, of numbers or of classes.
    ///
    /// Few draws and more steps go further than the reverse, and so do batches where rows are many; these want a lower rate.
    pub(crate) fn sizes(self, rows: usize, of_classes: bool) -> Sizes {
        let small = Sizes { inducing: 200, start_steps: 2_000, steps: 4_000, draws: 3, batch: 0, rate: 2e-2 };
        let normal = match rows {
            0..=500 => small,
            501..=2_000 => Sizes { inducing: 300, start_steps: 1_000, steps: 1_000, draws: 2, ..small },
            _ if !of_classes => {
                Sizes { inducing: 400, start_steps: 2_000, steps: 4_000, draws: 2, batch: 1_000, rate: 1e-2 }
            }
            _ => Sizes { inducing: 300, start_steps: 2_000, steps: 3_000, draws: 2, batch: 1_000, rate: 1e-2 },
        };
        match self {
            Effort::Quick => {
                let (start_steps, steps) = (normal.start_steps / 2, normal.steps / 3);
                Sizes { inducing: 100, start_steps, steps, ..normal }
            }
            Effort::Normal => normal,
            Effort::Best => {
                let (start_steps, steps) = (2 * normal.start_steps, 4 * normal.steps);
                Sizes { inducing: normal.inducing + 200, start_steps, steps, ..normal }
            }
        }
    }
}
