//! Rows in folds, each of which is judged by a model of others.

use super::split::SITE;
use super::{Split, shuffled};
use dkp_tape::random::Key;
use std::cmp::Reverse;
use std::collections::BTreeMap;

impl Split {
    /// Every row is held out once, at random, in folds whose sizes differ by one at most; none if there are fewer rows than folds.
    ///
    /// ```
    /// use dkp::data::Split;
    /// let folds = Split::folds(10, 3, 0).unwrap();
    /// assert_eq!(folds.iter().map(|f| f.held_out.len()).collect::<Vec<_>>(), [3, 3, 4]);
    /// assert!(folds.iter().all(|f| f.train.len() + f.held_out.len() == 10));
    /// ```
    pub fn folds(rows: usize, count: usize, seed: u64) -> Option<Vec<Split>> {
        let order = shuffled(rows, Key::new(seed), SITE);
        let fold = |k: usize| Split::of(rows, order[k * rows / count..(k + 1) * rows / count].to_vec());
        (count <= rows).then(|| (0..count).map(fold).collect())
    }

    /// Every row is held out once, with all of its group: larger groups come first, equal ones at random, each into the fold that is smallest; none if
    /// there are fewer groups than folds.
    ///
    /// ```
    /// use dkp::data::Split;
    /// let folds = Split::folds_by_group(&["a", "b", "a", "c"], 2, 0).unwrap();
    /// assert_eq!(folds[0].held_out, [0, 2]);
    /// assert_eq!(folds[1].held_out, [1, 3]);
    /// ```
    pub fn folds_by_group(groups: &[&str], count: usize, seed: u64) -> Option<Vec<Split>> {
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        groups.iter().enumerate().for_each(|(row, g)| members.entry(g).or_default().push(row));
        let members: Vec<Vec<usize>> = members.into_values().collect();
        let mut order = shuffled(members.len(), Key::new(seed), SITE);
        order.sort_by_key(|&g| Reverse(members[g].len()));
        let mut folds: Vec<Vec<usize>> = vec![Vec::new(); count];
        for g in order {
            folds.iter_mut().min_by_key(|fold| fold.len())?.extend(&members[g]);
        }
        (count <= members.len()).then(|| folds.into_iter().map(|fold| Split::of(groups.len(), fold)).collect())
    }

    /// Rows in the order of their times: the first stretch is learned from alone, and each of the following, of about the same length, is held out from a
    /// model of all earlier rows. Equal times are in one stretch; none if there are too few different ones.
    ///
    /// ```
    /// use dkp::data::Split;
    /// let folds = Split::folds_by_time(&[5.0, 1.0, 2.0, 2.0, 7.0, 9.0], 2).unwrap();
    /// assert_eq!((&folds[0].train[..], &folds[0].held_out[..]), (&[1][..], &[0, 2, 3][..]));
    /// assert_eq!((&folds[1].train[..], &folds[1].held_out[..]), (&[0, 1, 2, 3][..], &[4, 5][..]));
    /// ```
    pub fn folds_by_time(times: &[f64], count: usize) -> Option<Vec<Split>> {
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        // where another time begins
        let begins: Vec<usize> = (1..order.len()).filter(|&i| times[order[i]] != times[order[i - 1]]).collect();
        let mut from = 0;
        let mut starts = Vec::new();
        for k in 1..=count {
            // the nearest to an even division that leaves one for each of the folds to come
            let possible = begins.get(from..(begins.len() + k).checked_sub(count)?)?;
            let even = k * order.len() / (count + 1);
            let (place, start) = possible.iter().enumerate().min_by_key(|(_, start)| start.abs_diff(even))?;
            starts.push(*start);
            from += place + 1;
        }
        let sorted = |mut rows: Vec<usize>| {
            rows.sort_unstable();
            rows
        };
        let ends = starts.iter().skip(1).copied().chain([order.len()]);
        let fold = |(&start, end): (&usize, usize)| Split {
            train: sorted(order[..start].to_vec()),
            held_out: sorted(order[start..end].to_vec()),
        };
        Some(starts.iter().zip(ends).map(fold).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each row is held out.
    fn held_out(folds: &[Split], rows: usize) -> Vec<usize> {
        let mut counts = vec![0; rows];
        folds.iter().flat_map(|f| &f.held_out).for_each(|&row| counts[row] += 1);
        counts
    }

    #[test]
    fn every_row_is_held_out_once() {
        for (rows, count) in [(37, 5), (10, 10), (100, 2), (7, 3)] {
            let folds = Split::folds(rows, count, 4).unwrap();
            assert_eq!((folds.len(), held_out(&folds, rows)), (count, vec![1; rows]));
            let sizes: Vec<usize> = folds.iter().map(|f| f.held_out.len()).collect();
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
            assert!(folds.iter().all(|f| f.train.iter().all(|row| !f.held_out.contains(row))));
        }
        assert_eq!(Split::folds(37, 5, 4), Split::folds(37, 5, 4));
        assert_ne!(Split::folds(37, 5, 4), Split::folds(37, 5, 5));
        assert_eq!(Split::folds(3, 4, 0), None);
    }

    #[test]
    fn a_group_is_in_one_fold() {
        let names: Vec<String> = (0..60).map(|i| format!("g{}", (i * i) % 13)).collect();
        let groups: Vec<&str> = names.iter().map(String::as_str).collect();
        let folds = Split::folds_by_group(&groups, 3, 1).unwrap();
        assert_eq!(held_out(&folds, 60), vec![1; 60]);
        for fold in &folds {
            assert!(fold.train.iter().all(|&a| fold.held_out.iter().all(|&b| groups[a] != groups[b])));
            assert!((12..=28).contains(&fold.held_out.len()), "{}", fold.held_out.len());
        }
        assert_eq!(Split::folds_by_group(&["a", "a", "b"], 3, 0), None);
    }

    #[test]
    fn a_fold_is_later_than_what_its_model_learned_from() {
        let times: Vec<f64> = (0..80).map(|i| f64::from((i * 37) % 23)).collect();
        let folds = Split::folds_by_time(&times, 4).unwrap();
        let mut before = 0;
        for fold in &folds {
            let latest = fold.train.iter().map(|&row| times[row]).fold(f64::NEG_INFINITY, f64::max);
            assert!(fold.held_out.iter().all(|&row| times[row] > latest));
            assert!(fold.train.len() > before && !fold.held_out.is_empty());
            before = fold.train.len();
        }
        assert!(held_out(&folds, 80).iter().all(|&n| n <= 1));
        assert!((10..=22).contains(&folds[0].train.len()), "{}", folds[0].train.len());
        // lengths that are far from even, and as few times as can be
        let times = [[0.0].repeat(2), [1.0].repeat(40), [2.0].repeat(3), vec![3.0]].concat();
        let sizes = |folds: &[Split]| folds.iter().map(|f| f.held_out.len()).collect::<Vec<_>>();
        assert_eq!(sizes(&Split::folds_by_time(&times, 3).unwrap()), [40, 3, 1]);
        assert_eq!(Split::folds_by_time(&times, 4), None);
        assert_eq!(Split::folds_by_time(&[], 2), None);
    }
}
