//! How a run is going: a bar on a terminal, a line now and then elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Time between lines where there is no terminal.
const LINES_EVERY: Duration = Duration::from_secs(10);

pub enum Progress {
    Silent,
    Bar(ProgressBar),
    Lines { what: &'static str, begun: Instant, last: Instant, first: u64, steps: u64 },
}

impl Progress {
    /// For a run of `steps` that is at step `first`.
    pub fn new(quiet: bool, first: u64, steps: u64) -> Progress {
        Progress::of("", quiet, first, steps)
    }

    /// For the steps of what a model starts from.
    pub fn of_start(quiet: bool, steps: u64) -> Progress {
        Progress::of("start: ", quiet, 0, steps)
    }

    fn of(what: &'static str, quiet: bool, first: u64, steps: u64) -> Progress {
        if quiet {
            return Progress::Silent;
        }
        if !std::io::stderr().is_terminal() {
            let now = Instant::now();
            return Progress::Lines { what, begun: now, last: now, first, steps };
        }
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr_with_hz(5));
        let style = ProgressStyle::with_template("{prefix}{bar:30} {pos}/{len} steps, {msg}, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(what);
        bar.set_position(first);
        bar.reset_eta();
        Progress::Bar(bar)
    }

    /// After a step: its number from 1, the bound in the target's units, the learning rate.
    pub fn step(&mut self, done: u64, bound: Option<f64>, rate: f64) {
        let message = bound.map_or("step skipped".to_string(), |b| format!("bound {b:.4} nats a row, rate {rate:.1e}"));
        match self {
            Progress::Silent => {}
            Progress::Bar(bar) => {
                bar.set_message(message);
                bar.set_position(done);
            }
            Progress::Lines { what, begun, last, first, steps } => {
                // the start's last step is nothing to tell of
                if last.elapsed() >= LINES_EVERY || (done == *steps && what.is_empty()) {
                    *last = Instant::now();
                    let each = begun.elapsed().as_secs_f64() / (done - *first).max(1) as f64;
                    let left = duration(each * (*steps - done) as f64);
                    let left = if done == *steps { String::new() } else { format!(", {left} left") };
                    eprintln!("{what}step {done} of {steps}: {message}{left}");
                }
            }
        }
    }

    /// A line between.
    pub fn say(&self, line: &str) {
        match self {
            Progress::Silent => {}
            Progress::Bar(bar) => bar.println(line),
            Progress::Lines { .. } => eprintln!("{line}"),
        }
    }

    pub fn finish(&self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// Seconds, for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "less than a second".to_string(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The most memory that this process has had, in MB, where the system tells.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}
