//! The benchmarks' clock (docs/decisions/benchmark-timer.md).

use std::time::Instant;

/// Seconds of one call: the best of some batches, each long enough for the clock.
pub fn seconds(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    f();
    let once = start.elapsed().as_secs_f64().max(1e-7);
    let batch = (2e-3 / once).ceil().max(1.0) as usize;
    let mut best = f64::INFINITY;
    for _ in 0..25 {
        let start = Instant::now();
        (0..batch).for_each(|_| f());
        best = best.min(start.elapsed().as_secs_f64() / batch as f64);
    }
    best
}
