//! Fitting, while Python goes on: it is told of every step, and may end the fit.

use crate::columns::{Given, table};
use crate::model::Model;
use crate::raised;
use dkp_fit::{Error, Fit, Fitted, Moment, Trial, on_threads};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Between looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);
/// Of the thread that fits.
const STACK: usize = 16 << 20;

/// A moment of a fit, for Python.
struct Event {
    phase: &'static str,
    what: String,
    step: u64,
    steps: u64,
    bound: Option<f64>,
}

impl Event {
    /// Bounds are of targets in the model's scale, which `log_unit` takes to their own.
    fn of(moment: Moment<'_>, log_unit: f64) -> Option<Event> {
        let said = |phase, what: &str| Event { phase, what: what.to_string(), step: 0, steps: 0, bound: None };
        let stepped = |phase, what: String, step: &dkp_fit::Step, steps| {
            let bound = step.bound.as_ref().map(|b| b.total - log_unit);
            Event { phase, what, step: step.step + 1, steps, bound }
        };
        Some(match moment {
            Moment::Noise(line) => said("decided", line),
            Moment::Try { trial, step, steps } => {
                let what = match trial {
                    Trial::Likelihood(name) | Trial::Kernel(name) => name.to_string(),
                    Trial::Temperature(t) => format!("temperature {t}"),
                };
                stepped("try", what, step, steps)
            }
            Moment::Start { step, steps } => stepped("start", String::new(), step, steps),
            Moment::Train { step, steps } => stepped("train", String::new(), step, steps),
            Moment::ColdStart(error) => said("cold start", &error.to_string()),
            Moment::Judge { done, rows } => Event { step: done as u64, steps: rows as u64, ..said("judge", "") },
            Moment::Begin | Moment::Fold { .. } | Moment::FoldJudged { .. } => return None,
        })
    }

    fn told(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let event = PyDict::new(py);
        event.set_item("phase", self.phase)?;
        event.set_item("what", self.what)?;
        event.set_item("step", self.step)?;
        event.set_item("steps", self.steps)?;
        event.set_item("bound", self.bound)?;
        Ok(event)
    }
}

/// A model of the columns, with settings as JSON. `watch` is told every step. If it raises, or Ctrl-C is pressed, the fit ends: then the model is what had
/// been learned by then, if anything, and the exception stands beside it.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    columns: Vec<Given<'_>>,
    settings: &str,
    threads: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Option<Model>, Option<PyErr>)> {
    let table = table(&columns, &[])?;
    let config = serde_json::from_str(settings).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let fit = Fit { config, threads: Some(threads), partial: true, ..Fit::default() };
    let stop = Arc::new(AtomicBool::new(false));
    // training waits for those who watch
    let (events, mut seen) = sync_channel(1);
    let (told, stopped) = (watch.is_some(), stop.clone());
    let fitting =
        std::thread::Builder::new().stack_size(STACK).spawn(move || run(&fit, table, told, &events, &stopped))?;
    let mut interrupted = None;
    loop {
        let (event, back) = py.detach(|| {
            let event = seen.recv_timeout(LOOK);
            (event, seen)
        });
        seen = back;
        if interrupted.is_none() {
            let told = match (&event, &watch) {
                (Ok(_), Some(watch)) => {
                    let Ok(event) = event else { continue };
                    event.told(py).and_then(|event| watch.call1(py, (event,))).map(|_| ())
                }
                (Err(RecvTimeoutError::Disconnected), _) => break,
                _ => Ok(()),
            };
            if let Err(error) = told.and_then(|()| py.check_signals()) {
                stop.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        } else if matches!(event, Err(RecvTimeoutError::Disconnected)) {
            break;
        } else {
            // a second Ctrl-C says nothing new
            let _ = py.check_signals();
        }
    }
    let fitted = py.detach(|| fitting.join()).map_err(|_| PyRuntimeError::new_err("the fit ended by a panic"))?;
    match fitted {
        Ok(fitted) => Ok((Some(Model { fitted }), interrupted)),
        Err(Error::Stopped { .. }) if interrupted.is_some() => Ok((None, interrupted)),
        Err(error) => Err(raised(error)),
    }
}

fn run(
    fit: &Fit,
    table: dkp_table::Table,
    told: bool,
    events: &SyncSender<Event>,
    stop: &AtomicBool,
) -> Result<Fitted, Error> {
    let prepared = on_threads(fit.threads, || fit.prepare(&table, None))?;
    drop(table);
    let log_unit = prepared.card.log_unit();
    let watch = &mut |moment: Moment<'_>| {
        if let Some(event) = told.then(|| Event::of(moment, log_unit)).flatten() {
            // nobody listens any more after an interruption
            let _ = events.send(event);
        }
        !stop.load(Ordering::Relaxed)
    };
    fit.train(prepared, watch)
}
