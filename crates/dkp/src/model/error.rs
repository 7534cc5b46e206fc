//! What a model cannot do with some data.

use super::{Architecture, Model};
use crate::data::Dataset;
use dkp_tape::{Failure, Problem};
use faer::MatRef;

/// Data that are not of a model's shape or range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// Another number of features.
    #[error("the model has {expected} features, but the data have {found}")]
    Features {
        /// What the model has.
        expected: usize,
        /// What the data have.
        found: usize,
    },
    /// A feature that is infinite or NaN.
    #[error("feature {feature} of point {point} is {value}; features must be finite: impute missing ones first")]
    Feature {
        /// The feature, from 0.
        feature: usize,
        /// The point, from 0.
        point: usize,
        /// What it is.
        value: f64,
    },
    /// Another number of targets.
    #[error("the likelihood is for {expected} targets, but the data have {found}")]
    Targets {
        /// What the likelihood has.
        expected: usize,
        /// What the data have.
        found: usize,
    },
    /// A target that the likelihood cannot have.
    #[error("target {target} of point {point} must be {expected}, but is {value}")]
    Target {
        /// The target, from 0.
        target: usize,
        /// The point, from 0.
        point: usize,
        /// What it can be.
        expected: &'static str,
        /// What it is.
        value: f64,
    },
    /// The state of another run.
    #[error("the training state is of a model with other parameters")]
    State,
}

/// Why a bound or a prediction could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data are not of the model's shape or range.
    #[error(transparent)]
    Data(#[from] Mismatch),
    /// A prediction that is not a number, though the features are.
    #[error("the prediction for point {point} is not finite; its features are too far from those of the data")]
    NotFinite {
        /// The point, from 0.
        point: usize,
    },
    /// The arithmetic failed.
    #[error("{}", explain(.0))]
    Failure(Failure),
}

/// The failure is not its source: it would be told twice, the second time in the engine's words.
impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::Failure(failure)
    }
}

/// A failure in the words of someone who trains a model: in which layer, what happened, why that is likely, and what helps. The failure's
/// own text says at which operation of which program.
pub fn explain(failure: &Failure) -> String {
    let place = match failure.place.section.as_str() {
        "" => "what all layers share".to_string(),
        section if section.starts_with("layer") => format!("hidden {section}"),
        section => format!("the {section}"),
    };
    format!("{place}: {}", cause(&failure.problem))
}

/// What happened, why that is likely, and what helps.
pub(crate) fn cause(problem: &Problem) -> String {
    match problem {
        Problem::NotPositiveDefinite { size, value, .. } if value.is_finite() => format!(
            "the {size}×{size} kernel matrix is singular, so the layer can tell some points no longer apart. Rows \
             that are the same but for rounding, or steps that were too large, are likely causes; a lower learning rate, fewer inducing \
             points or fewer layers would help"
        ),
        _ => "a number became too large or is not a number. Cells of a size far beyond the others of their column, or steps that were \
              too large, are likely causes; mend or leave out such cells, or lower the learning rate"
            .to_string(),
    }
}

impl Architecture {
    /// Whether the likelihood can have these targets.
    pub(crate) fn check_targets(&self, data: &Dataset) -> Result<(), Mismatch> {
        let (expected, found) = (self.likelihood.targets(), data.targets());
        if expected != found {
            return Err(Mismatch::Targets { expected, found });
        }
        for point in 0..data.points() {
            for (target, &value) in data.y(point).iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                let refused = |expected| Mismatch::Target { target, point, expected, value };
                self.likelihood.accepts(value).map_err(refused)?;
            }
        }
        Ok(())
    }
}

impl Model {
    /// Whether data have the model's features and targets.
    pub(crate) fn check(&self, data: &Dataset) -> Result<(), Mismatch> {
        self.check_features(data.features())?;
        self.architecture.check_targets(data)
    }

    /// Whether inputs, features × points, are as the model needs them.
    pub(super) fn check_inputs(&self, x: MatRef<'_, f64>) -> Result<(), Mismatch> {
        self.check_features(x.nrows())?;
        for (point, column) in x.col_iter().enumerate() {
            if let Some((feature, &value)) = column.iter().enumerate().find(|(_, v)| !v.is_finite()) {
                return Err(Mismatch::Feature { feature, point, value });
            }
        }
        Ok(())
    }

    fn check_features(&self, found: usize) -> Result<(), Mismatch> {
        let expected = self.features();
        if expected == found { Ok(()) } else { Err(Mismatch::Features { expected, found }) }
    }
}
