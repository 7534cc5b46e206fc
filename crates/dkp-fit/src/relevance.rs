//! Which columns matter to a model.

use crate::{Error, Fitted};
use dkp_tape::random::Key;
use faer::Mat;

/// Posterior draws over which E[Ω] is taken.
const DRAWS: usize = 50;

impl Fitted {
    /// For each column, how far a change of a feature by one standard deviation moves a row in the eyes of the model: √(s²·E\[Ω\]) for a
    /// feature with scale s (times its deviation in the model's scale), summed in squares over a column's features, largest first; shares of the whole.
    pub fn relevance(&self) -> Result<Vec<(String, f64)>, Error> {
        let features = self.card.encoder.features();
        let scale = self.model.feature_scales();
        let draws = self.model.posterior_draws(DRAWS, Key::new(0))?;
        let omega: Option<Vec<Mat<f64>>> = draws.into_iter().map(|d| d.omega).collect();
        let mean = |i: usize| match &omega {
            Some(draws) => draws.iter().map(|o| o[(i, i)]).sum::<f64>() / draws.len() as f64,
            None => 1.0,
        };
        let mut columns: Vec<(String, f64)> = Vec::new();
        for (i, feature) in features.iter().enumerate() {
            let square = (scale[i] * self.card.feature_scale.spread(i)).powi(2) * mean(i);
            match columns.iter_mut().find(|c| c.0 == feature.column) {
                Some(column) => column.1 += square,
                None => columns.push((feature.column.clone(), square)),
            }
        }
        columns.iter_mut().for_each(|c| c.1 = c.1.sqrt());
        let total: f64 = columns.iter().map(|c| c.1).sum();
        columns.iter_mut().for_each(|c| c.1 /= total.max(f64::MIN_POSITIVE));
        columns.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(columns)
    }
}
