//! Data in memory, and the scales in which models see them.

mod folds;
mod split;

use dkp_tape::random::{Key, fill_normal};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

pub use split::Split;

/// Features and targets of points, as a model sees them. A target that is NaN is missing.
///
/// ```
/// use dkp::data::Dataset;
/// use faer::mat;
/// // two features of three points, and one target
/// let data = Dataset::new(mat![[0.0, 1.0, 2.0], [5.0, 5.5, 4.0]].as_ref(), mat![[1.0, f64::NAN, 3.0]].as_ref())?;
/// assert_eq!((data.points(), data.features(), data.targets()), (3, 2, 1));
/// # Ok::<(), dkp::data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    features: usize,
    targets: usize,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// Data that no model can take.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing to learn from.
    #[error("{points} points with {features} features and {targets} targets: each must be at least 1")]
    Empty {
        /// Points.
        points: usize,
        /// Features.
        features: usize,
        /// Targets.
        targets: usize,
    },
    /// Features and targets of different numbers of points.
    #[error("there are features of {features} points, but targets of {targets}")]
    Points {
        /// Points with features.
        features: usize,
        /// Points with targets.
        targets: usize,
    },
    /// A feature that is infinite or NaN, or an infinite target.
    #[error("{what} {row} of point {point} is {value}; {remedy}")]
    Value {
        /// "feature" or "target".
        what: &'static str,
        /// Its number, from 0.
        row: usize,
        /// The point's number, from 0.
        point: usize,
        /// Its value.
        value: f64,
        /// What to do.
        remedy: &'static str,
    },
    /// All values of a target are missing.
    #[error("target {target} has no values at all")]
    NoTargets {
        /// The target, from 0.
        target: usize,
    },
}

impl Dataset {
    /// Features × points, and targets × points, of which each has a value somewhere.
    pub fn new(x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Result<Dataset, Error> {
        if let Some(target) = (0..y.nrows()).find(|&i| y.ncols() > 0 && y.row(i).iter().all(|v| v.is_nan())) {
            return Err(Error::NoTargets { target });
        }
        Dataset::to_judge(x, y)
    }

    /// The same of points that are not learned from: a target may have no value at all.
    pub fn to_judge(x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Result<Dataset, Error> {
        let (features, targets, points) = (x.nrows(), y.nrows(), x.ncols());
        if points != y.ncols() {
            return Err(Error::Points { features: points, targets: y.ncols() });
        }
        if points == 0 || features == 0 || targets == 0 {
            return Err(Error::Empty { points, features, targets });
        }
        for point in 0..points {
            if let Some(row) = (0..features).find(|&i| !x[(i, point)].is_finite()) {
                let remedy = "features must be finite: impute missing ones first";
                return Err(Error::Value { what: "feature", row, point, value: x[(row, point)], remedy });
            }
            if let Some(row) = (0..targets).find(|&i| y[(i, point)].is_infinite()) {
                let remedy = "targets must be finite, or NaN where they are missing";
                return Err(Error::Value { what: "target", row, point, value: y[(row, point)], remedy });
            }
        }
        let columns = |m: MatRef<'_, f64>| m.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect();
        Ok(Dataset { features, targets, x: columns(x), y: columns(y) })
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.x.len() / self.features
    }

    /// Features of a point.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Targets of a point.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// The features of point n.
    pub fn x(&self, n: usize) -> &[f64] {
        &self.x[n * self.features..(n + 1) * self.features]
    }

    /// The targets of point n.
    pub fn y(&self, n: usize) -> &[f64] {
        &self.y[n * self.targets..(n + 1) * self.targets]
    }

    /// The features of all points, features × points.
    pub fn inputs(&self) -> Mat<f64> {
        MatRef::from_column_major_slice(&self.x, self.features, self.points()).to_owned()
    }

    /// The scales that make each feature and each target have mean 0 and standard deviation 1 here.
    pub fn scales(&self) -> (Scaler, Scaler) {
        (Scaler::of(&self.x, self.features), Scaler::of(&self.y, self.targets))
    }

    /// Points at random, at most so many: all of them in their order where there are no more.
    pub fn sample(&self, most: usize, key: Key) -> Vec<usize> {
        if self.points() <= most {
            return (0..self.points()).collect();
        }
        let mut order = shuffled(self.points(), key, 200);
        order.truncate(most);
        order
    }

    /// Points at random in parts of this size; those that fill no part are in none.
    pub fn parts(&self, size: usize, key: Key) -> Vec<Vec<usize>> {
        shuffled(self.points(), key, 200).chunks_exact(size.max(1)).map(<[usize]>::to_vec).collect()
    }

    /// The data without some points, and those points, both in their order.
    pub fn without(&self, points: &[usize]) -> (Dataset, Dataset) {
        let mut taken = vec![false; self.points()];
        points.iter().for_each(|&n| taken[n] = true);
        let part = |wanted: bool| (0..self.points()).filter(|&n| taken[n] == wanted).collect::<Vec<_>>();
        (self.of(&part(false)), self.of(&part(true)))
    }

    /// Some points, in this order.
    pub fn of(&self, points: &[usize]) -> Dataset {
        let x = points.iter().flat_map(|&n| self.x(n).iter().copied()).collect();
        let y = points.iter().flat_map(|&n| self.y(n).iter().copied()).collect();
        Dataset { features: self.features, targets: self.targets, x, y }
    }

    /// The same data with the features of each point changed.
    pub fn with_features(&self, change: impl Fn(&mut [f64])) -> Dataset {
        let mut data = self.clone();
        data.x.chunks_exact_mut(self.features).for_each(change);
        data
    }

    /// The same data in other scales.
    pub fn scaled(&self, x: &Scaler, y: &Scaler) -> Dataset {
        let (mut data, features, targets) = (self.clone(), self.features, self.targets);
        data.x.chunks_exact_mut(features).for_each(|p| x.apply(p));
        data.y.chunks_exact_mut(targets).for_each(|p| y.apply(p));
        data
    }
}

/// An affine change of scale of each row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    /// What is subtracted.
    pub mean: Vec<f64>,
    /// What is divided by.
    pub deviation: Vec<f64>,
}

impl Scaler {
    /// No change.
    pub fn identity(rows: usize) -> Scaler {
        Scaler { mean: vec![0.0; rows], deviation: vec![1.0; rows] }
    }

    /// Mean and standard deviation of each row of points with `rows` values each, over those that are not NaN. A row that does not
    /// vary keeps its unit.
    fn of(values: &[f64], rows: usize) -> Scaler {
        let row = |i: usize| values.iter().copied().skip(i).step_by(rows).filter(|v| !v.is_nan());
        let moments = (0..rows).map(|i| {
            // scaled by the largest value, so that squares of huge ones stay finite
            let largest = row(i).fold(0.0_f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
            let count = row(i).count() as f64;
            let mean = row(i).map(|v| v / largest).sum::<f64>() / count;
            let squares: f64 = row(i).map(|v| (v / largest - mean).powi(2)).sum();
            let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
            // rounding alone lets a constant row vary by about ε
            let varies = deviation > 1e-12 * mean.abs().max(f64::MIN_POSITIVE);
            (mean * largest, if varies { deviation * largest } else { 1.0 })
        });
        let (mean, deviation) = moments.unzip();
        Scaler { mean, deviation }
    }

    /// Changes one point.
    pub fn apply(&self, values: &mut [f64]) {
        values.iter_mut().zip(self.mean.iter().zip(&self.deviation)).for_each(|(v, (m, s))| *v = (*v - m) / s);
    }
}

/// A random order of `count` things.
pub(crate) fn shuffled(count: usize, key: Key, site: u32) -> Vec<usize> {
    let mut values = vec![0.0; count];
    if count > 0 {
        fill_normal(key.stream(u32::MAX, site), count, |_| 0, &mut values);
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn scales_ignore_missing_targets_and_leave_constant_rows() {
        let x = mat![[1.0, 2.0, 3.0], [7.0, 7.0, 7.0], [1e200, -1e200, 0.0]];
        let data = Dataset::new(x.as_ref(), mat![[1.0, f64::NAN, 5.0]].as_ref()).unwrap();
        let (sx, sy) = data.scales();
        assert_eq!((sx.mean[0], sx.deviation[0], sx.deviation[1]), (2.0, 1.0, 1.0));
        assert!((sx.deviation[2] / 1e200 - 1.0).abs() < 1e-15);
        assert!((sy.mean[0] - 3.0).abs() < 1e-15 && (sy.deviation[0] - 8_f64.sqrt()).abs() < 1e-15);
        let scaled = data.scaled(&sx, &sy);
        assert_eq!((scaled.x(2)[0], scaled.x(2)[1]), (1.0, 0.0));
        assert!(scaled.y(1)[0].is_nan());
    }

    #[test]
    fn points_that_are_taken_out_are_missing_from_the_rest() {
        let count = |_: usize, n: usize| n as f64;
        let data = Dataset::new(Mat::from_fn(2, 50, count).as_ref(), Mat::from_fn(1, 50, count).as_ref()).unwrap();
        let parts = data.parts(7, Key::new(3));
        assert_eq!((parts.len(), &parts), (7, &data.parts(7, Key::new(3))));
        let mut seen: Vec<usize> = parts.iter().flatten().copied().collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() == 49 && data.parts(51, Key::new(3)).is_empty());
        let (rest, taken) = data.without(&parts[0]);
        assert_eq!((rest.points(), taken.points()), (43, 7));
        let mut all: Vec<f64> = [&rest, &taken].iter().flat_map(|d| (0..d.points()).map(|n| d.y(n)[0])).collect();
        all.sort_by(f64::total_cmp);
        assert_eq!(all, (0..50).map(f64::from).collect::<Vec<_>>());
        assert!((0..7).all(|n| taken.x(n) == [taken.y(n)[0]; 2]));
    }

    #[test]
    fn data_that_cannot_be_used_are_named() {
        let message =
            |x: faer::Mat<f64>, y: faer::Mat<f64>| Dataset::new(x.as_ref(), y.as_ref()).unwrap_err().to_string();
        assert_eq!(message(mat![[1.0, 2.0]], mat![[1.0]]), "there are features of 2 points, but targets of 1");
        assert_eq!(
            message(mat![[1.0, f64::NAN]], mat![[1.0, 2.0]]),
            "feature 0 of point 1 is NaN; features must be finite: impute missing ones first"
        );
        assert!(message(mat![[1.0, 2.0]], mat![[1.0, f64::INFINITY]]).starts_with("target 0 of point 1 is inf"));
        assert_eq!(message(mat![[1.0, 2.0]], mat![[f64::NAN, f64::NAN]]), "target 0 has no values at all");
        assert!(message(faer::Mat::zeros(2, 0), faer::Mat::zeros(1, 0)).starts_with("0 points"));
    }
}
