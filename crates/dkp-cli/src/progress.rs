//! How a run is going: a bar on a terminal, a line now and then elsewhere.

use dkp::model::explain;
use dkp::train::Step;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Time between lines where there is no terminal.
const LINES_EVERY: Duration = Duration::from_secs(10);

/// Lines for a person, on standard error.
#[derive(Clone, Copy)]
pub struct Say {
    pub quiet: bool,
}

impl Say {
    pub fn line(self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }
}

/// The steps of a run, or of what a model starts from.
pub struct Progress {
    say: Say,
    what: &'static str,
    begun: Instant,
    told: Instant,
    first: u64,
    steps: u64,
    /// On a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For a run of `steps` that is at step `first`.
    pub fn new(say: Say, first: u64, steps: u64) -> Progress {
        Progress::of("", say, first, steps)
    }

    /// For the steps of what a model starts from.
    pub fn of_start(say: Say, steps: u64) -> Progress {
        Progress::of("start: ", say, 0, steps)
    }

    fn of(what: &'static str, say: Say, first: u64, steps: u64) -> Progress {
        let now = Instant::now();
        let bar = (!say.quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr_with_hz(5));
            let style = ProgressStyle::with_template("{prefix}{bar:30} {pos}/{len} steps, {msg}, {eta} left");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(what);
            bar.set_position(first);
            bar.reset_eta();
            bar
        });
        Progress { say, what, begun: now, told: now, first, steps, bar }
    }

    /// After a step; the bound is told in the target's units, one of the model's being e^`log_unit` of them.
    pub fn step(&mut self, step: &Step, log_unit: f64) {
        let (done, is_start) = (step.step + 1, !self.what.is_empty());
        let bound = step.bound.as_ref().map(|b| b.total - log_unit);
        let told = |b: f64| format!("bound {b:.4} nats a row, rate {:.1e}", step.rate);
        let message = bound.map_or("step skipped".to_string(), told);
        let each = self.begun.elapsed().as_secs_f64() / (done - self.first).max(1) as f64;
        let left = each * (self.steps - done.min(self.steps)) as f64;
        match &self.bar {
            Some(bar) => {
                bar.set_message(message);
                bar.set_position(done);
            }
            // the start's last step is nothing to tell of
            None if self.told.elapsed() >= LINES_EVERY || (done == self.steps && !is_start) => {
                self.told = Instant::now();
                let left = if done == self.steps { String::new() } else { format!(", {} left", duration(left)) };
                self.say.line(&format!("{}step {done} of {}: {message}{left}", self.what, self.steps));
            }
            None => {}
        }
        if step.rolled_back {
            let why = step.failure.as_ref().map_or("the bound fell".to_string(), explain);
            self.line(&format!("step {done}: {why}; gone back to an earlier state, at half the learning rate"));
        }
    }

    /// A line between.
    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => self.say.line(line),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How far something without steps is: one line that changes on a terminal, a line now and then elsewhere.
pub struct Status {
    say: Say,
    told: Instant,
    /// On a terminal.
    line: Option<ProgressBar>,
}

impl Status {
    pub fn new(say: Say) -> Status {
        let line = (!say.quiet && std::io::stderr().is_terminal()).then(|| {
            let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            line.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar()));
            line
        });
        Status { say, told: Instant::now(), line }
    }

    pub fn tell(&mut self, message: String) {
        match &self.line {
            Some(line) => line.set_message(message),
            None if self.told.elapsed() >= LINES_EVERY => {
                self.told = Instant::now();
                self.say.line(&message);
            }
            None => {}
        }
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

/// Seconds, for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "less than a second".to_string(),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 600.0 => format!("{:.1} min", s / 60.0),
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
