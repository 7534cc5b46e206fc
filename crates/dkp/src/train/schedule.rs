//! Learning rates over a run.

/// Warm-up, then a constant rate, then a decay to a fraction of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The highest rate.
    pub rate: f64,
    /// Steps over which it rises linearly to that.
    pub warm_up: u64,
    /// The fraction of the run after which it falls.
    pub decay_from: f64,
    /// What it falls to, relative to the highest rate, geometrically.
    pub last: f64,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule { rate: 1e-2, warm_up: 100, decay_from: 0.5, last: 1e-2 }
    }
}

impl Schedule {
    /// The rate of step `step` of `steps`.
    pub fn at(&self, step: u64, steps: u64) -> f64 {
        let warm = ((step + 1) as f64 / (self.warm_up as f64 + 1.0)).min(1.0);
        let progress = step as f64 / steps.max(1) as f64;
        let decay = ((progress - self.decay_from) / (1.0 - self.decay_from).max(1e-9)).clamp(0.0, 1.0);
        self.rate * warm * self.last.powf(decay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_stays_and_falls() {
        let s = Schedule { rate: 1.0, warm_up: 9, decay_from: 0.5, last: 0.01 };
        let at = |step| s.at(step, 1000);
        assert!((at(0) - 0.1).abs() < 1e-15 && (at(4) - 0.5).abs() < 1e-15);
        assert_eq!((at(9), at(500)), (1.0, 1.0));
        assert!((at(750) - 0.1).abs() < 1e-12 && (at(1000) - 0.01).abs() < 1e-12);
        assert!(s.at(5, 0).is_finite());
    }
}
