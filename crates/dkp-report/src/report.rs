//! What a report is made of: plain data, with nothing computed yet.

use crate::Explanation;

/// A trained model, as far as it is to be shown. What is empty is left out of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The heading.
    pub title: String,
    /// The model in one line: `deep inverse Wishart process, two hidden layers, squared exponential`.
    pub model: String,
    /// The table it learned from.
    pub data: String,
    /// What it predicts: `regression of price`.
    pub task: String,
    /// Rows that it learned from.
    pub rows_trained: usize,
    /// Rows that it was evaluated on.
    pub rows_held_out: usize,
    /// The key numbers.
    pub summary: Vec<Fact>,
    /// The bound, as training went on.
    pub trace: Vec<TracePoint>,
    /// Predictions of each target for rows that it did not learn from.
    pub evaluations: Vec<Evaluation>,
    /// How predictions of each target go with columns, and where they were wrong.
    pub explanations: Vec<Explanation>,
    /// How rows that it has learned from were judged all the same, if they were.
    pub cross_validation: String,
    /// What its layers learned.
    pub layers: Vec<LayerMatrix>,
    /// Feature and weight: how strongly the input depends on each. Signs do not matter.
    pub relevance: Vec<(String, f64)>,
    /// Setting and value.
    pub settings: Vec<(String, String)>,
    /// What the reader should know before trusting the page.
    pub warnings: Vec<String>,
}

/// A number with what it means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    /// What it is: `typical error`.
    pub label: String,
    /// As it is shown, with its unit: `0.42 °C`.
    pub value: String,
    /// One sentence for a person without statistics.
    pub explanation: String,
}

/// The bound at one step of training and its parts, in nats per row. The parts add up to the bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracePoint {
    /// The step, from 0.
    pub step: usize,
    /// The bound.
    pub bound: f64,
    /// The expected log-likelihood.
    pub likelihood: f64,
    /// log P − log Q of the input layer; NaN or 0 throughout if there is none.
    pub input: f64,
    /// log P − log Q of each hidden layer.
    pub layers: Vec<f64>,
    /// Minus the divergence of the output layer.
    pub output: f64,
    /// The learning rate.
    pub rate: f64,
}

/// Predictions for rows that the model did not learn from.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluation {
    /// Of numbers.
    Regression {
        /// The column that is predicted.
        target: String,
        /// One for each row held out.
        points: Vec<NumberPrediction>,
        /// How far these rows scatter whatever is known of them.
        noise: Option<Noise>,
        /// Scores.
        metrics: Vec<Fact>,
    },
    /// Of classes.
    Classification {
        /// The column that is predicted.
        target: String,
        /// Names of the classes.
        labels: Vec<String>,
        /// One for each row held out.
        points: Vec<ClassPrediction>,
        /// Scores.
        metrics: Vec<Fact>,
    },
}

impl Evaluation {
    /// The column that is predicted.
    pub fn target(&self) -> &str {
        match self {
            Evaluation::Regression { target, .. } | Evaluation::Classification { target, .. } => target,
        }
    }
}

/// A number that was predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberPrediction {
    /// What was.
    pub observed: f64,
    /// Mean of the prediction.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// Its quantile of 5 %.
    pub lower: f64,
    /// Its quantile of 95 %.
    pub upper: f64,
    /// Probability that the prediction gave to values up to the observed one.
    pub pit: f64,
}

/// The part of a prediction's uncertainty that more rows would not lower.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// Its standard deviation for each row, in the target's units.
    pub deviations: Vec<f64>,
    /// What it is drawn against: a column's name, and its value for each row; without it, the predicted mean.
    pub against: Option<(String, Vec<f64>)>,
}

/// A class that was predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassPrediction {
    /// Number of the class that was, from 0.
    pub observed: usize,
    /// Of each class.
    pub probabilities: Vec<f64>,
}

/// A Gram matrix that a layer learned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerMatrix {
    /// The layer: `layer 1`.
    pub name: String,
    /// Its degrees of freedom δ, if it has any.
    pub delta: Option<f64>,
    /// Rows of the matrix: inducing points.
    pub size: usize,
    /// size × size, column by column.
    pub gram: Vec<f64>,
    /// Eigenvalues, in any order.
    pub spectrum: Vec<f64>,
    /// The order in which rows and columns are shown; as they are if it is not a permutation of 0 to size − 1.
    pub order: Vec<usize>,
    /// Anything to say about it.
    pub note: String,
}
