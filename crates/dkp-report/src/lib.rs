//! A trained model as one page: its bound, its predictions, its Gram matrices.
//!
//! [`html`] and, for several models, [`comparison_html`] turn plain data into one file that needs nothing else: no script, no network. It reads on a phone, on a
//! desk and on paper. The same data give the same bytes. [`chart`] draws single pictures.
//!
//! ```
//! use dkp_report::{Fact, Report, html};
//! let error = Fact {
//!     label: "typical error".to_string(),
//!     value: "0.42 °C".to_string(),
//!     explanation: "Half of the predictions are closer than this.".to_string(),
//! };
//! let report = Report { title: "Weather".to_string(), summary: vec![error], ..Report::default() };
//! assert!(html(&report).contains("0.42 °C"));
//! ```

mod calendar;
pub mod chart;
mod comparison;
mod explanation;
mod page;
mod report;
mod statistics;
mod text;

pub use comparison::{Better, Comparison, Contender, Measure};
pub use explanation::{Curve, Effect, Explanation, Pair, Place, Surprise};
pub use page::{comparison_html, html};
pub use report::{ClassPrediction, Evaluation, Fact, LayerMatrix, Noise, NumberPrediction, Report, TracePoint};
