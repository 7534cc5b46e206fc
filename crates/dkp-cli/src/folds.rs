//! Cross-validation as it is going on: each fold, then the model of all rows.

use crate::interrupt;
use crate::progress::Say;
use crate::train::Watcher;
use dkp_fit::{Moment, Prepared};

/// Shows how folds, if there are any, and the model are going on, and ends them at Ctrl-C.
pub struct FoldWatcher {
    say: Say,
    /// One for each fold that is not judged, and in the end that of the model.
    watchers: Vec<Option<Watcher>>,
    /// Whose turn it is.
    at: usize,
}

impl FoldWatcher {
    /// For a model of prepared data that is at step `first`.
    pub fn new(say: Say, prepared: &Prepared, first: u64) -> FoldWatcher {
        let of_folds = prepared.folds.iter().map(|fold| Watcher::new(say, &fold.prepared, 0));
        let watchers: Vec<_> = of_folds.chain([Watcher::new(say, prepared, first)]).map(Some).collect();
        FoldWatcher { say, at: watchers.len() - 1, watchers }
    }

    /// Whether to go on.
    pub fn sees(&mut self, moment: Moment<'_>) -> bool {
        let last = self.watchers.len() - 1;
        match moment {
            Moment::Fold { fold, folds } => {
                self.at = fold - 1;
                self.say.line(&format!("fold {fold} of {folds}"));
            }
            Moment::FoldJudged { fold, folds, metrics } => {
                self.watchers[fold - 1] = None;
                self.at = last;
                let said =
                    |m: &dkp_fit::Metrics| format!("log-likelihood {:.4} on {} rows", m.log_likelihood(), m.rows());
                let said = metrics.map_or("no row to be judged".to_string(), said);
                self.say.line(&format!("fold {fold} of {folds}: {said}"));
                if fold == folds {
                    self.say.line("all rows");
                }
            }
            moment => return self.watchers[self.at].as_mut().is_none_or(|watcher| watcher.sees(moment)),
        }
        !interrupt::requested()
    }
}
