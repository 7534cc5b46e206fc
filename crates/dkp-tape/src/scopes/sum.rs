//! Gradients of draws, added up while others still run.

use super::{DrawResult, lock};
use crate::math::vectorized;
use crate::workspace::{Buffer, buffer};
use std::sync::Mutex;

/// The sum of the draws' gradients in the draws' order, whichever finishes first.
pub(super) struct GradientSum {
    /// Which draws have finished.
    finished: Vec<bool>,
    /// How many have been added.
    added: usize,
    /// The sum of those.
    sum: Buffer,
}

impl Default for GradientSum {
    fn default() -> GradientSum {
        GradientSum { finished: Vec::new(), added: 0, sum: buffer(0) }
    }
}

impl GradientSum {
    /// Begins a sum of that many draws' gradients, of `len` numbers each.
    pub(super) fn begin(&mut self, draws: usize, len: usize) {
        self.finished.clear();
        self.finished.resize(draws, false);
        self.added = 0;
        self.sum.resize(len, 0.0);
    }

    /// Adds what can be added now that draw d has finished.
    pub(super) fn finish(&mut self, d: usize, results: &[Mutex<DrawResult>]) {
        self.finished[d] = true;
        while self.finished.get(self.added) == Some(&true) {
            let own = &mut *lock(&results[self.added]);
            if self.added == 0 {
                // the first is the sum so far: memory changes hands, and nothing is copied
                std::mem::swap(&mut self.sum, &mut own.draw_gradients);
            } else {
                vectorized(
                    #[inline(always)]
                    || self.sum.iter_mut().zip(&*own.draw_gradients).for_each(|(sum, own)| *sum += own),
                );
            }
            self.added += 1;
        }
    }

    /// The sum, once all draws have finished; none if there are no draws.
    pub(super) fn get(&self) -> Option<&[f64]> {
        debug_assert_eq!(self.added, self.finished.len(), "every draw has finished");
        (self.added > 0).then_some(&*self.sum)
    }
}
