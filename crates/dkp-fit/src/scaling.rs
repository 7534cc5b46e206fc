//! In which scale a model sees features: each column's own, one for all, or ranks.

use dkp::data::{Dataset, Scaler};
use dkp_tape::random::Key;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// In which scale a model sees features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Each column is divided by its own deviation.
    Own,
    /// All columns share a unit, as pixels do, and are divided by the same number.
    Shared,
    /// A value counts as the normal quantile of its rank, so that a column's distribution does not matter.
    Ranks,
}

impl Scaling {
    /// What settings call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Scaling::Own => "own",
            Scaling::Shared => "shared",
            Scaling::Ranks => "ranks",
        }
    }
}

/// What takes features to the scale in which a model sees them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureScale {
    /// What comes first, where ranks count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ranks: Option<Ranks>,
    #[serde(flatten)]
    scaler: Scaler,
    /// The deviation that each feature has in this scale, where it is not 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spread: Option<Vec<f64>>,
}

/// A piecewise linear map of each feature to normal quantiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Ranks {
    /// Values and what they become, both rising, for each feature; a feature with one value stays as it is.
    knots: Vec<Vec<[f64; 2]>>,
    /// What a value beyond the outermost knots adds for each unit.
    slopes: Vec<f64>,
}

/// Rows that are compared with each other, at most.
const ROWS: usize = 1_500;
/// A scaling must be better than each column's own by so many standard errors of the difference.
const CERTAIN: f64 = 2.0;
/// Knots of a feature's map, at most.
const KNOTS: usize = 100;

impl FeatureScale {
    /// For rows to learn from.
    pub fn of(data: &Dataset, scaling: Scaling) -> FeatureScale {
        let own = data.scales().0;
        match scaling {
            Scaling::Own => FeatureScale { ranks: None, scaler: own, spread: None },
            Scaling::Shared => {
                let Some(scaler) = in_common(&own, data) else { return FeatureScale::of(data, Scaling::Own) };
                let varies = |i: usize| f64::from(varies(data, i));
                let spread = |(i, (own, common)): (usize, (&f64, &f64))| varies(i) * own / common;
                let spread = own.deviation.iter().zip(&scaler.deviation).enumerate().map(spread).collect();
                FeatureScale { ranks: None, scaler, spread: Some(spread) }
            }
            Scaling::Ranks => {
                let ranks = Ranks::of(data);
                let scaler = data.with_features(|x| ranks.apply(x)).scales().0;
                FeatureScale { ranks: Some(ranks), scaler, spread: None }
            }
        }
    }

    /// Of each column's own scale and others the one in which the classes of rows' nearest neighbours tell most of theirs, with what another is better
    /// by, for people.
    pub(crate) fn chosen(data: &Dataset, others: &[Scaling], seed: u64) -> (Scaling, Option<String>) {
        let rows = data.sample(ROWS, Key::new(seed));
        let n = rows.len() as f64;
        let right = |errors: &[f64]| 100.0 * (1.0 - errors.iter().sum::<f64>() / n);
        let own = errors(data, &rows, &FeatureScale::of(data, Scaling::Own));
        let mut best = (Scaling::Own, own.clone());
        for &scaling in others {
            let errors = errors(data, &rows, &FeatureScale::of(data, scaling));
            let mean = own.iter().zip(&errors).map(|(a, b)| a - b).sum::<f64>() / n;
            let variance =
                own.iter().zip(&errors).map(|(a, b)| (a - b - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
            if mean > CERTAIN * (variance / n).sqrt() && right(&errors) > right(&best.1) {
                best = (scaling, errors);
            }
        }
        let what = match best.0 {
            Scaling::Own => return (Scaling::Own, None),
            Scaling::Shared => "columns share one scale, as pixels do",
            Scaling::Ranks => "columns count by their ranks",
        };
        let (before, after) = (right(&own), right(&best.1));
        let line =
            format!("{what}: {after:.1} % instead of {before:.1} % of rows are of their nearest neighbour's class");
        (best.0, Some(line))
    }

    /// Whether it is a scale of so many features.
    pub(crate) fn is_for(&self, features: usize) -> bool {
        let rising = |knots: &Vec<[f64; 2]>| knots.windows(2).all(|w| w[0][0] < w[1][0] && w[0][1] <= w[1][1]);
        let lengths = [self.scaler.mean.len(), self.scaler.deviation.len()];
        lengths == [features; 2]
            && self.spread.as_ref().is_none_or(|s| s.len() == features)
            && self
                .ranks
                .as_ref()
                .is_none_or(|r| [r.knots.len(), r.slopes.len()] == [features; 2] && r.knots.iter().all(rising))
    }

    /// Changes one point.
    pub fn apply(&self, x: &mut [f64]) {
        if let Some(ranks) = &self.ranks {
            ranks.apply(x);
        }
        self.scaler.apply(x);
    }

    /// The deviation that a feature has in this scale.
    pub(crate) fn spread(&self, feature: usize) -> f64 {
        self.spread.as_ref().map_or(1.0, |spread| spread[feature])
    }

    /// The value of a feature in its own unit, from that which the model sees.
    pub(crate) fn value(&self, feature: usize, scaled: f64) -> f64 {
        let value = self.scaler.mean[feature] + self.scaler.deviation[feature] * scaled;
        self.ranks.as_ref().map_or(value, |ranks| ranks.invert(feature, value))
    }

    /// The same data in this scale.
    pub(crate) fn applied(&self, data: &Dataset) -> Dataset {
        data.with_features(|x| self.apply(x))
    }
}

impl Ranks {
    fn of(data: &Dataset) -> Ranks {
        let (mut knots, mut slopes) = (Vec::new(), Vec::new());
        for i in 0..data.features() {
            let mut values: Vec<f64> = (0..data.points()).map(|n| data.x(n)[i]).collect();
            values.sort_by(f64::total_cmp);
            let n = values.len() as f64;
            // each value that is there, with the middle of its ranks
            let mut own: Vec<[f64; 2]> = Vec::new();
            let mut first = 0;
            for group in values.chunk_by(|a, b| a == b) {
                let p = (first as f64 + 0.5 * group.len() as f64) / n;
                own.push([group[0], -std::f64::consts::SQRT_2 * erfc_inverse(2.0 * p)]);
                first += group.len();
            }
            let [low, high] = [own[0], own[own.len() - 1]];
            // evenly by what values become, so that tails have theirs
            let step = (high[1] - low[1]) / KNOTS as f64;
            let mut kept: Vec<[f64; 2]> = Vec::new();
            for knot in own {
                if knot == high || kept.last().is_none_or(|last| knot[1] - last[1] >= step) {
                    kept.push(knot);
                }
            }
            let slope = (high[1] - low[1]) / (high[0] - low[0]);
            slopes.push(if slope > 0.0 && slope.is_finite() { slope } else { 1.0 });
            knots.push(if kept.len() > 1 { kept } else { Vec::new() });
        }
        Ranks { knots, slopes }
    }

    fn apply(&self, x: &mut [f64]) {
        for ((x, knots), slope) in x.iter_mut().zip(&self.knots).zip(&self.slopes) {
            *x = through(knots, *slope, *x, [0, 1]);
        }
    }

    fn invert(&self, feature: usize, value: f64) -> f64 {
        through(&self.knots[feature], 1.0 / self.slopes[feature], value, [1, 0])
    }
}

/// The piecewise linear map from one coordinate of knots to the other; without knots, no change.
fn through(knots: &[[f64; 2]], slope: f64, x: f64, [from, to]: [usize; 2]) -> f64 {
    let (Some(first), Some(last)) = (knots.first(), knots.last()) else { return x };
    if x <= first[from] {
        return first[to] + slope * (x - first[from]);
    }
    let above = knots.partition_point(|k| k[from] < x);
    if above == knots.len() {
        return last[to] + slope * (x - last[from]);
    }
    let (low, high) = (knots[above - 1], knots[above]);
    // halves, whose differences are finite
    let share = (0.5 * x - 0.5 * low[from]) / (0.5 * high[from] - 0.5 * low[from]);
    low[to] + (high[to] - low[to]) * if share.is_finite() { share } else { 1.0 }
}

/// x with erfc(x) = y for y between 0 and 2: Newton's method on the logarithm of the smaller tail, which is concave, so that it converges from anywhere.
fn erfc_inverse(y: f64) -> f64 {
    let (tail, sign) = if y <= 1.0 { (y, 1.0) } else { (2.0 - y, -1.0) };
    let mut x = 0.0_f64;
    for _ in 0..100 {
        let value = libm::erfc(x);
        let slope = -2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() / value;
        let step = (value.ln() - tail.ln()) / slope;
        x -= step;
        if step.abs() < 1e-14 * (1.0 + x.abs()) {
            break;
        }
    }
    sign * x
}

fn varies(data: &Dataset, feature: usize) -> bool {
    (1..data.points()).any(|n| data.x(n)[feature] != data.x(0)[feature])
}

/// The same deviation for all features, that of all which vary; none for a single feature.
fn in_common(own: &Scaler, data: &Dataset) -> Option<Scaler> {
    let varying: Vec<f64> = (0..data.features()).filter(|&i| varies(data, i)).map(|i| own.deviation[i]).collect();
    let largest = varying.iter().copied().fold(0.0, f64::max);
    let squares: f64 = varying.iter().map(|d| (d / largest).powi(2)).sum();
    let deviation = largest * (squares / varying.len() as f64).sqrt();
    let fits = varying.len() > 1 && deviation > 0.0 && deviation.is_finite();
    fits.then(|| Scaler { mean: own.mean.clone(), deviation: vec![deviation; own.deviation.len()] })
}

/// 1 where the nearest of the other rows is of another class, and else 0, for each row.
fn errors(data: &Dataset, rows: &[usize], scale: &FeatureScale) -> Vec<f64> {
    let scaled = |&n: &usize| {
        let mut x = data.x(n).to_vec();
        scale.apply(&mut x);
        x
    };
    let x: Vec<Vec<f64>> = rows.iter().map(scaled).collect();
    let distance = |a: usize, b: usize| x[a].iter().zip(&x[b]).map(|(p, q)| (p - q).powi(2)).sum::<f64>();
    let error = |a: usize| {
        let others = (0..rows.len()).filter(|&b| b != a).map(|b| (distance(a, b), b));
        let nearest = others.min_by(|p, q| p.0.total_cmp(&q.0)).map_or(a, |(_, b)| b);
        f64::from(data.y(rows[a])[0] != data.y(rows[nearest])[0])
    };
    (0..rows.len()).into_par_iter().map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dkp_tape::random::fill_normal;
    use faer::Mat;

    /// Two features that tell the class, and twenty of deviation `noise` that tell nothing, each as a function of a normal number.
    fn data(noise: f64, shape: impl Fn(f64) -> f64) -> Dataset {
        let mut z = vec![0.0; 22 * 300];
        fill_normal(Key::new(3).stream(0, 0), 22, |n| n as u64, &mut z);
        let class = |n: usize| (n % 2) as f64;
        let telling = |i: usize, n: usize| if i < 2 { 3.0 * class(n) } else { 0.0 };
        let x = Mat::from_fn(22, 300, |i, n| shape(z[n * 22 + i] + telling(i, n)) * if i < 2 { 1.0 } else { noise });
        Dataset::new(x.as_ref(), Mat::from_fn(1, 300, |_, n| class(n)).as_ref()).unwrap()
    }

    #[test]
    fn neighbours_decide_the_scaling() {
        const OTHERS: [Scaling; 2] = [Scaling::Shared, Scaling::Ranks];
        // small features are noise; large ones would make one scale worse; none matters where all are alike
        let (chosen, line) = FeatureScale::chosen(&data(0.01, |z| z), &OTHERS, 0);
        assert_eq!(chosen, Scaling::Shared, "{line:?}");
        assert_eq!(FeatureScale::chosen(&data(100.0, |z| z), &OTHERS, 0), (Scaling::Own, None));
        // normal numbers behind a steep function
        let steep = |z: f64| (3.0 * z).exp();
        let (chosen, line) = FeatureScale::chosen(&data(1e6, steep), &OTHERS, 0);
        assert_eq!(chosen, Scaling::Ranks, "{line:?}");
        assert!(line.unwrap().starts_with("columns count by their ranks: "));
    }

    /// Ranks do not see a rising function, and values come back, beyond the knots too.
    #[test]
    fn ranks_are_normal_and_can_be_undone() {
        let (plain, steep) = (data(1.0, |z| z), data(1.0, |z| z.exp()));
        let [a, b] = [&plain, &steep].map(|d| FeatureScale::of(d, Scaling::Ranks).applied(d));
        // at the knots; between them maps are linear in different numbers
        let extreme = |d: &Dataset| (0..300).map(|n| d.x(n)[5]).fold(f64::NEG_INFINITY, f64::max);
        assert!((extreme(&a) - extreme(&b)).abs() < 0.05);
        let variance = (0..300).map(|n| b.x(n)[5].powi(2)).sum::<f64>() / 299.0;
        assert!((variance - 1.0).abs() < 1e-10, "{variance}");
        // all quantiles of a column are the normal's, its tails included, to within the distance of knots
        let mut ranked: Vec<f64> = (0..300).map(|n| b.x(n)[5]).collect();
        ranked.sort_by(f64::total_cmp);
        for (n, z) in ranked.iter().enumerate() {
            let normal = -std::f64::consts::SQRT_2 * erfc_inverse(2.0 * (n as f64 + 0.5) / 300.0);
            assert!((z - normal).abs() < 0.06, "{n}: {z} and {normal}");
        }
        let scale = FeatureScale::of(&steep, Scaling::Ranks);
        for value in [-5.0, 0.01, 0.3, 1.7, 40.0, 1e4] {
            let mut x = vec![value; 22];
            scale.apply(&mut x);
            assert!((scale.value(5, x[5]) / value - 1.0).abs() < 1e-9, "{value}: {}", scale.value(5, x[5]));
        }
        // median and quartiles of the normal
        for (p, z) in [(0.5, 0.0), (0.25, -0.674_489_750_196_081_7), (0.975, 1.959_963_984_540_054)] {
            assert!((-std::f64::consts::SQRT_2 * erfc_inverse(2.0 * p) - z).abs() < 1e-12);
        }
        // files from before there were ranks
        let old: FeatureScale = serde_json::from_str(r#"{"mean":[1.0],"deviation":[2.0]}"#).unwrap();
        let mut x = [5.0];
        old.apply(&mut x);
        assert_eq!(x, [2.0]);
    }

    /// In one scale for all, small features stay small, and relevance can say so.
    #[test]
    fn a_shared_scale_keeps_what_features_differ_by() {
        let data = data(0.01, |z| z);
        let scale = FeatureScale::of(&data, Scaling::Shared);
        let scaled = scale.applied(&data);
        for i in [0, 1, 7, 21] {
            let mean = (0..300).map(|n| scaled.x(n)[i]).sum::<f64>() / 300.0;
            let variance = (0..300).map(|n| (scaled.x(n)[i] - mean).powi(2)).sum::<f64>() / 299.0;
            assert!(mean.abs() < 1e-12 && (variance.sqrt() / scale.spread(i) - 1.0).abs() < 1e-12, "{i}");
        }
        assert!(scale.spread(0) > 50.0 * scale.spread(7));
        assert_eq!(FeatureScale::of(&data, Scaling::Own).spread(7), 1.0);
    }

    #[test]
    fn features_without_a_second_one_or_a_second_value_stay() {
        let one = Mat::from_fn(1, 9, |_, n| n as f64);
        let single = Dataset::new(one.as_ref(), one.as_ref()).unwrap();
        assert_eq!(FeatureScale::of(&single, Scaling::Shared), FeatureScale::of(&single, Scaling::Own));
        let constant = Dataset::new(Mat::from_fn(1, 9, |_, _| 4.0).as_ref(), one.as_ref()).unwrap();
        let mut x = [6.0];
        FeatureScale::of(&constant, Scaling::Ranks).apply(&mut x);
        assert_eq!(x, [2.0]);
    }
}
