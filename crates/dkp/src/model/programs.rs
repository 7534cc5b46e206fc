//! A model's programs, recorded when they are needed and kept for the next time.

use super::Model;
use super::record::{Points, Recorded};
use crate::params::Parameters;
use dkp_tape::Failure;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

/// Programs that are kept: training alternates between two kinds. Threads that share a model find some, and record others.
const KEPT: usize = 4;

/// Programs that are not in use, those used last at the end.
#[derive(Default)]
pub(super) struct Programs(Mutex<Vec<Recorded>>);

/// Programs in use, which go back when this is dropped.
pub(super) struct Lent<'a> {
    home: &'a Programs,
    /// There until then.
    recorded: Option<Recorded>,
}

impl Model {
    /// The programs for tiles of this width, with the parameters' present values set; `tight` ones yield the gain of a tighter bound, if
    /// the likelihood has one.
    pub(super) fn prepared(&self, width: usize, tight: bool) -> Result<Lent<'_>, Failure> {
        let points = Points::Tile { width, tight: tight && self.architecture.likelihood.tightening().is_some() };
        let mut lent = self.programs.lend(points, || Recorded::new(&self.architecture, &self.parameters, points));
        set_leaves(&mut lent, &self.parameters)?;
        Ok(lent)
    }
}

impl Programs {
    fn lend(&self, points: Points, record: impl FnOnce() -> Recorded) -> Lent<'_> {
        let found = {
            let mut idle = self.0.lock().unwrap_or_else(|e| e.into_inner());
            idle.iter().rposition(|r| r.points == points).map(|at| idle.remove(at))
        };
        Lent { home: self, recorded: Some(found.unwrap_or_else(record)) }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut idle = self.home.0.lock().unwrap_or_else(|e| e.into_inner());
        idle.extend(self.recorded.take());
        if idle.len() > KEPT {
            idle.remove(0);
        }
    }
}

impl Deref for Lent<'_> {
    type Target = Recorded;

    fn deref(&self) -> &Recorded {
        self.recorded.as_ref().expect("it is there until this is dropped")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Recorded {
        self.recorded.as_mut().expect("it is there until this is dropped")
    }
}

/// Sets the parameters' values.
pub(super) fn set_leaves(recorded: &mut Recorded, parameters: &Parameters) -> Result<(), Failure> {
    let all: Vec<_> = parameters.iter().collect();
    for &(i, leaf) in &recorded.leaves {
        recorded.scopes.step().set_slice(leaf, &all[i].kept)?;
    }
    Ok(())
}
