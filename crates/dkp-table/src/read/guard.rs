//! Panics of the crates that read files, as errors.

use crate::Error;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;

/// Runs what reads a file. The crates for Parquet and for sheets mean to return errors for damaged files, but some of their code asserts: at a page that
/// refers to a dictionary which is not there, for one. What panics is damaged too.
#[cfg_attr(not(any(feature = "parquet", feature = "xlsx")), allow(dead_code))]
pub fn guard<T>(path: &Path, format: &'static str, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    GUARDED.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(run));
    GUARDED.set(false);
    outcome.unwrap_or_else(|_| Err(Error::damaged(path, format, "its contents contradict each other")))
}

thread_local! {
    /// Whether a panic here is caught and becomes an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// For programs that show users one line a mistake: from now on, a panic that is caught while a damaged file is read prints nothing.
pub fn silence_caught_panics() {
    let before = take_hook();
    set_hook(Box::new(move |panic| {
        if !GUARDED.get() {
            before(panic);
        }
    }));
}
