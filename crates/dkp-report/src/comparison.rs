//! What a page about several models is made of: plain data, with nothing computed yet.

/// Several models, judged on the same rows. What is empty is left out of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The heading.
    pub title: String,
    /// The table that they are judged by.
    pub data: String,
    /// What they predict: `regression of price`.
    pub task: String,
    /// Rows that they are judged by.
    pub rows: usize,
    /// Those that are not, and why.
    pub left_out: String,
    /// The models; others are compared with the first.
    pub models: Vec<Contender>,
    /// What is measured.
    pub measures: Vec<Measure>,
    /// What the reader should know before trusting the page.
    pub warnings: Vec<String>,
}

/// One of the models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contender {
    /// What it is called: `houses.dkp`.
    pub name: String,
    /// The model in one line.
    pub description: String,
    /// Rows that it learned from.
    pub rows_trained: usize,
}

/// A metric of all models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measure {
    /// What it is called: `RMSE`.
    pub name: String,
    /// What it means, in a few words.
    pub explanation: String,
    /// Which values are better, where this can be said.
    pub better: Option<Better>,
    /// Of each model, as it is shown.
    pub values: Vec<String>,
    /// Of each model but the first, how far it is above the first, and the standard error of that.
    pub differences: Vec<Option<(f64, f64)>>,
}

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The higher ones.
    Higher,
    /// The lower ones.
    Lower,
}
