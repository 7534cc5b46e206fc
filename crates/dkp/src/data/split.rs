//! Rows to learn from, and rows to be judged on.

use super::shuffled;
use dkp_tape::random::Key;
use std::collections::BTreeMap;

/// Rows of a table, from 0, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows to learn from, at least one if there is any row.
    pub train: Vec<usize>,
    /// The others.
    pub held_out: Vec<usize>,
}

impl Split {
    /// Holds out a fraction of the rows, at random.
    ///
    /// ```
    /// use dkp::data::Split;
    /// let split = Split::random(50, 0.1, 0);
    /// assert_eq!((split.train.len(), split.held_out.len()), (45, 5));
    /// ```
    pub fn random(rows: usize, fraction: f64, seed: u64) -> Split {
        Split::last_of(&shuffled(rows, Key::new(seed), SITE), fraction)
    }

    /// Holds out whole groups, at random, that together have at most a fraction of the rows; or the smallest one, if all are larger.
    ///
    /// ```
    /// use dkp::data::Split;
    /// let split = Split::by_group(&["a", "a", "b", "b", "c", "c"], 0.4, 0);
    /// assert_eq!((split.train.len(), split.held_out.len()), (4, 2));
    /// assert_eq!(split.held_out[0] / 2, split.held_out[1] / 2);
    /// ```
    pub fn by_group(groups: &[&str], fraction: f64, seed: u64) -> Split {
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        groups.iter().enumerate().for_each(|(row, g)| members.entry(g).or_default().push(row));
        let members: Vec<Vec<usize>> = members.into_values().collect();
        let wanted = count(groups.len(), fraction);
        let mut held_out: Vec<usize> = Vec::new();
        if wanted > 0 && members.len() > 1 && members.iter().all(|m| m.len() > wanted) {
            held_out = members.iter().min_by_key(|m| m.len()).cloned().unwrap_or_default();
            return Split::of(groups.len(), held_out);
        }
        for g in shuffled(members.len(), Key::new(seed), SITE) {
            if held_out.len() + members[g].len() <= wanted {
                held_out.extend(&members[g]);
            }
        }
        Split::of(groups.len(), held_out)
    }

    /// Holds out the latest rows; those of equal time stay in their order, and NaN is latest.
    ///
    /// ```
    /// use dkp::data::Split;
    /// assert_eq!(Split::by_time(&[3.0, 1.0, 2.0, 0.0], 0.5).held_out, [0, 2]);
    /// ```
    pub fn by_time(times: &[f64], fraction: f64) -> Split {
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        Split::last_of(&order, fraction)
    }

    fn last_of(order: &[usize], fraction: f64) -> Split {
        let kept = order.len() - count(order.len(), fraction);
        Split::of(order.len(), order[kept..].to_vec())
    }

    pub(super) fn of(rows: usize, mut held_out: Vec<usize>) -> Split {
        held_out.sort_unstable();
        let train = (0..rows).filter(|row| held_out.binary_search(row).is_err()).collect();
        Split { train, held_out }
    }
}

/// The stream of splits.
pub(super) const SITE: u32 = 200;

/// A fraction of rows, rounded, that leaves one.
fn count(rows: usize, fraction: f64) -> usize {
    ((rows as f64 * fraction).round() as usize).min(rows.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_on_one_side_and_seeds_differ() {
        for fraction in [0.0, 0.1, 0.5, 1.0] {
            let split = Split::random(37, fraction, 3);
            let mut all: Vec<usize> = split.train.iter().chain(&split.held_out).copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..37).collect::<Vec<_>>());
            assert!(!split.train.is_empty());
        }
        assert_ne!(Split::random(37, 0.5, 1), Split::random(37, 0.5, 2));
        assert_eq!(Split::random(0, 0.5, 1), Split { train: vec![], held_out: vec![] });
        assert_eq!(Split::by_time(&[f64::NAN, 1.0], 0.5).held_out, [0]);
        assert_eq!(Split::by_group(&["a", "b", "b", "a", "b"], 0.1, 0).held_out, [0, 3]);
    }
}
