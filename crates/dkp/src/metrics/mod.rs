//! How good predictions are: of the predictive mixture itself, never of a normal with its moments.

use crate::model::{Marginal, Prediction};
use crate::quadrature::LEGENDRE;
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Central intervals whose coverage is reported.
pub const LEVELS: [f64; 3] = [0.5, 0.9, 0.95];
/// Probabilities below the median at whose quantiles, roughly, panels of the integral that is the CRPS end; the same above. What is farther out adds
/// less than 1e-9 of the scale even to tails with hardly a variance.
const PANELS: [f64; 10] = [1e-6, 1e-4, 1e-3, 5e-3, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4];
/// Whole numbers of a panel that the CRPS of counts is summed over one by one, at most.
const LONGEST_SUM: f64 = 16.0;
/// Classes of confidence in the calibration error of a classifier.
const BINS: usize = 15;

/// Metrics of one numeric target, in its own units. As JSON, what is not finite is null, and NaN when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    /// Points whose target is known.
    pub rows: usize,
    /// Mean log-density.
    #[serde(deserialize_with = "number_or_nan")]
    pub log_likelihood: f64,
    /// Root mean squared error of the mean.
    #[serde(deserialize_with = "number_or_nan")]
    pub rmse: f64,
    /// Mean absolute error of the median.
    #[serde(deserialize_with = "number_or_nan")]
    pub mae: f64,
    /// Mean continuous ranked probability score.
    #[serde(deserialize_with = "number_or_nan")]
    pub crps: f64,
    /// Fractions of targets in the central intervals of [`LEVELS`].
    #[serde(with = "by_level")]
    pub coverage: [f64; 3],
    /// Mean distance between probabilities and the frequency of targets below the quantiles of those probabilities.
    #[serde(deserialize_with = "number_or_nan")]
    pub calibration: f64,
}

/// Metrics of classes. As JSON, what is not finite is null, and NaN when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classification {
    /// Points whose class is known.
    pub rows: usize,
    /// Fraction whose most probable class is right.
    #[serde(deserialize_with = "number_or_nan")]
    pub accuracy: f64,
    /// Mean log-probability of the right class.
    #[serde(deserialize_with = "number_or_nan")]
    pub log_likelihood: f64,
    /// Mean squared distance between probabilities and the right class.
    #[serde(deserialize_with = "number_or_nan")]
    pub brier: f64,
    /// Expected calibration error: the distance between confidence and accuracy, in fifteen bins.
    #[serde(deserialize_with = "number_or_nan")]
    pub calibration: f64,
}

/// How one prediction of a number turned out, in the target's own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The target.
    pub observed: f64,
    /// The mean predicted.
    pub mean: f64,
    /// The median predicted.
    pub median: f64,
    /// The logarithm of the density at the target.
    pub log_density: f64,
    /// The continuous ranked probability score.
    pub crps: f64,
    /// P(target ≤ what it was), halfway through a jump.
    pub pit: f64,
    /// P(target = what it was): 0 where targets are continuous.
    pub jump: f64,
}

impl Score {
    /// Of a target y, in the prediction's scale, in which 0 is `zero` and 1 is `unit` more.
    pub fn new(predicted: &Marginal<'_>, y: f64, zero: f64, unit: f64) -> Score {
        Score {
            observed: zero + unit * y,
            mean: zero + unit * predicted.moments().mean,
            median: zero + unit * predicted.quantile(0.5),
            log_density: predicted.log_density(y) - unit.ln(),
            crps: unit * crps(predicted, y),
            pit: pit(predicted, y),
            jump: jump(predicted, y),
        }
    }

    /// Whether the target is between the quantiles of ½(1 − c) and ½(1 + c).
    pub fn is_inside(&self, c: f64) -> bool {
        self.pit + 0.5 * self.jump >= 0.5 * (1.0 - c) && self.pit - 0.5 * self.jump <= 0.5 * (1.0 + c)
    }

    /// (mean − target)².
    pub fn squared_error(&self) -> f64 {
        (self.mean - self.observed).powi(2)
    }

    /// |median − target|.
    pub fn absolute_error(&self) -> f64 {
        (self.median - self.observed).abs()
    }
}

/// Scores for one target of predictions, made in scales in which 0 is `zero` and 1 is `unit` more.
///
/// `y` has a value for each point, in the predictions' scale; NaN ones are left out.
pub fn scores(prediction: &Prediction, target: usize, y: &[f64], zero: f64, unit: f64) -> Vec<Score> {
    let known = (0..y.len()).into_par_iter().filter(|&n| !y[n].is_nan());
    known.map(|n| Score::new(&prediction.marginal(n, target), y[n], zero, unit)).collect()
}

/// Metrics for one target of predictions: those of its [`scores`].
pub fn regression(prediction: &Prediction, target: usize, y: &[f64], unit: f64) -> Regression {
    Regression::of(&scores(prediction, target, y, 0.0, unit))
}

impl Regression {
    /// Of some scores; NaN if there are none.
    pub fn of(scores: &[Score]) -> Regression {
        let average = |f: fn(&Score) -> f64| scores.iter().map(f).sum::<f64>() / scores.len() as f64;
        let coverage = LEVELS.map(|c| scores.iter().filter(|s| s.is_inside(c)).count() as f64 / scores.len() as f64);
        Regression {
            rows: scores.len(),
            log_likelihood: average(|s| s.log_density),
            rmse: average(Score::squared_error).sqrt(),
            mae: average(Score::absolute_error),
            crps: average(|s| s.crps),
            coverage,
            calibration: calibration(scores),
        }
    }
}

impl Regression {
    /// The fraction of targets in the central interval of one of the [`LEVELS`], or NaN.
    pub fn coverage_of(&self, level: f64) -> f64 {
        LEVELS.iter().position(|l| *l == level).map_or(f64::NAN, |i| self.coverage[i])
    }
}

/// JSON has no word for what is not finite.
fn number_or_nan<'a, D: Deserializer<'a>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Coverages as a map from "50%", "90%" and "95%".
mod by_level {
    use super::{BTreeMap, Deserialize, Deserializer, LEVELS, Serialize, Serializer};

    fn names() -> [String; 3] {
        LEVELS.map(|l| format!("{:.0}%", 100.0 * l))
    }

    pub fn serialize<S: Serializer>(coverage: &[f64; 3], serializer: S) -> Result<S::Ok, S::Error> {
        names().into_iter().zip(coverage).collect::<BTreeMap<_, _>>().serialize(serializer)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<[f64; 3], D::Error> {
        let map: BTreeMap<String, Option<f64>> = BTreeMap::deserialize(deserializer)?;
        Ok(names().map(|name| map.get(&name).copied().flatten().unwrap_or(f64::NAN)))
    }
}

/// P(target ≤ y), halfway through a jump.
pub fn pit(predicted: &Marginal<'_>, y: f64) -> f64 {
    predicted.cdf(y) - 0.5 * jump(predicted, y)
}

/// P(target = y).
fn jump(predicted: &Marginal<'_>, y: f64) -> f64 {
    if !predicted.is_discrete() {
        return 0.0;
    }
    (predicted.cdf(y) - predicted.cdf(y - 0.5)).max(0.0)
}

/// ∫ (F(z) − 1[z ≥ y])² dz: between quantiles, at which panels of Gauss–Legendre nodes end, so that narrow and wide parts of a
/// mixture are seen alike. Between whole numbers F is constant: the integral is a sum there, in panels that are short enough.
pub fn crps(predicted: &Marginal<'_>, y: f64) -> f64 {
    let f = |z: f64| predicted.cdf(z);
    let term = |z: f64| if z >= y { (1.0 - f(z)).powi(2) } else { f(z).powi(2) };
    let tails = PANELS.into_iter().chain([0.5]).chain(PANELS.into_iter().rev().map(|p| 1.0 - p));
    let mut ends: Vec<f64> = tails.map(|p| predicted.rough_quantile(p)).chain([y]).collect();
    ends.sort_by(f64::total_cmp);
    if predicted.is_discrete() {
        ends.iter_mut().for_each(|end| *end = end.floor());
        // beyond the last whole number nothing is left
        ends.extend(ends.last().map(|last| last + 1.0));
    }
    let panel = |ends: &[f64]| {
        let (middle, half) = (0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0]));
        if predicted.is_discrete() && 2.0 * half <= LONGEST_SUM {
            return (0..(2.0 * half) as u64).map(|k| term(ends[0] + k as f64)).sum();
        }
        half * LEGENDRE.into_iter().map(|(x, w)| w * (term(middle - half * x) + term(middle + half * x))).sum::<f64>()
    };
    ends.windows(2).map(panel).sum()
}

/// The mean over probabilities p of |frequency of targets up to the quantile of p − p|; a target with a jump counts in part
/// (Czado, Gneiting & Held 2009).
fn calibration(scores: &[Score]) -> f64 {
    let part = |s: &Score, p: f64| match s.jump {
        jump if jump > 0.0 => ((p - (s.pit - 0.5 * jump)) / jump).clamp(0.0, 1.0),
        _ => f64::from(s.pit <= p),
    };
    let distance = |p: f64| (scores.iter().map(|s| part(s, p)).sum::<f64>() / scores.len() as f64 - p).abs();
    (1..100).map(|i| distance(i as f64 / 100.0)).sum::<f64>() / 99.0
}

/// How one prediction of a class turned out.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassScore {
    /// The class that was.
    pub observed: usize,
    /// Of each class.
    pub probabilities: Vec<f64>,
}

impl ClassScore {
    /// The most probable class, the first of equals, and its probability.
    pub fn best(&self) -> (usize, f64) {
        self.probabilities.iter().copied().enumerate().fold((0, 0.0), |b, c| if c.1 > b.1 { c } else { b })
    }

    /// Whether the most probable class is the right one.
    pub fn is_right(&self) -> bool {
        self.best().0 == self.observed
    }

    /// The logarithm of the right class's probability.
    pub fn log_probability(&self) -> f64 {
        self.probabilities.get(self.observed).copied().unwrap_or(0.0).ln()
    }

    /// The squared distance between the probabilities and the right class.
    pub fn squared_distance(&self) -> f64 {
        let truth = |c: usize| if c == self.observed { 1.0 } else { 0.0 };
        self.probabilities.iter().enumerate().map(|(c, p)| (p - truth(c)).powi(2)).sum()
    }
}

/// Scores for classes, numbered from 0, with NaN for unknown ones; none if the likelihood is not of one target that has classes.
pub fn class_scores(prediction: &Prediction, y: &[f64]) -> Option<Vec<ClassScore>> {
    let known = (0..y.len()).into_par_iter().filter(|&n| !y[n].is_nan());
    known.map(|n| Some(ClassScore { observed: y[n] as usize, probabilities: prediction.probabilities(n)? })).collect()
}

/// Metrics for classes: those of their [`class_scores`].
pub fn classification(prediction: &Prediction, y: &[f64]) -> Option<Classification> {
    Some(Classification::of(&class_scores(prediction, y)?))
}

impl Classification {
    /// Of some scores; NaN if there are none.
    pub fn of(scores: &[ClassScore]) -> Classification {
        let mut bins = [(0.0, 0.0); BINS];
        let (mut right, mut log_likelihood, mut brier) = (0.0, 0.0, 0.0);
        for score in scores {
            let (confidence, hit) = (score.best().1, f64::from(score.is_right()));
            let bin = ((confidence * BINS as f64) as usize).min(BINS - 1);
            bins[bin] = (bins[bin].0 + confidence, bins[bin].1 + hit);
            right += hit;
            log_likelihood += score.log_probability();
            brier += score.squared_distance();
        }
        let n = scores.len() as f64;
        Classification {
            rows: scores.len(),
            accuracy: right / n,
            log_likelihood: log_likelihood / n,
            brier: brier / n,
            calibration: bins.iter().map(|(confidence, hits)| (confidence - hits).abs()).sum::<f64>() / n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihoods::{Bernoulli, Gaussian, Likelihood, Poisson, Scalar, StudentT, VaryingNoise};
    use std::sync::Arc;

    /// A likelihood with its parameters.
    type Noise = (Arc<dyn Likelihood>, Vec<Vec<f64>>);

    fn normal_cdf(x: f64) -> f64 {
        0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
    }

    /// CRPS of a mixture of normals in closed form (Grimit et al. 2006): Σw A(y−μ, σ²) − ½ΣΣww' A(μ−μ', σ²+σ'²).
    #[test]
    fn crps_and_quantiles_are_those_of_the_mixture() {
        let (noise, means, variances) = (0.2, [0.5, -1.0, 2.0], [0.3, 0.05, 0.7]);
        let components: Vec<f64> = (0..3).flat_map(|i| [means[i], variances[i]]).collect();
        let p = Prediction::of(Arc::new(Gaussian::new(1)), vec![vec![noise]], 3, components);
        let total = variances.map(|v| v + noise);
        let a = |m: f64, v: f64| {
            let z = m / v.sqrt();
            m * (2.0 * normal_cdf(z) - 1.0) + 2.0 * v.sqrt() * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt()
        };
        for y in [-3.0, 0.1, 0.6, 5.0] {
            let first: f64 = (0..3).map(|i| a(y - means[i], total[i]) / 3.0).sum();
            let pairs = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
            let second: f64 = pairs.map(|(i, j)| a(means[i] - means[j], total[i] + total[j]) / 18.0).sum();
            assert!((crps(&p.marginal(0, 0), y) - (first - second)).abs() < 1e-6, "{y}");
        }
        for q in [0.001, 0.3, 0.5, 0.99] {
            assert!((p.cdf(0, 0, p.quantile(0, 0, q)) - q).abs() < 1e-12);
        }
        let m = p.moments(0, 0);
        assert!((m.mean - 0.5).abs() < 1e-15 && (m.noise - noise).abs() < 1e-15);
        assert!((m.model - (0.35 + (0.0 + 2.25 + 2.25) / 3.0)).abs() < 1e-12);
    }

    /// E g(z), z ~ N(0, 1), by the trapezoid rule.
    fn expect(g: impl Fn(f64) -> f64) -> f64 {
        let places = (-160..=160).map(|i| 0.0625 * f64::from(i));
        places.map(|z| (-0.5 * z * z).exp() * g(z)).sum::<f64>() * 0.0625 / std::f64::consts::TAU.sqrt()
    }

    /// ∫ g over an interval by Simpson's rule.
    fn simpson(from: f64, to: f64, g: impl Fn(f64) -> f64) -> f64 {
        let n = 4000;
        let step = (to - from) / f64::from(n);
        let weight = |i: i32| if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
        (0..=n).map(|i| weight(i) * g(from + step * f64::from(i))).sum::<f64>() * step / 3.0
    }

    /// Quantiles and CRPS of predictions of three draws, for every kind of noise, against integrals of distribution functions that are
    /// written out here.
    #[test]
    fn predictions_of_every_noise_are_those_of_brute_force() {
        let f = [(0.2, 0.3), (-0.5, 0.01), (0.6, 0.09)];
        let g = [(-1.0, 0.5), (0.4, 0.2), (0.0, 1.2)];
        let t_below = |z: f64, nu: f64| {
            let tail = 0.5 * statrs::function::beta::beta_reg(0.5 * nu, 0.5, nu / (nu + z * z));
            if z < 0.0 { tail } else { 1.0 - tail }
        };
        // with what is predicted, and its distribution function
        type Case<'a> = (Noise, Vec<f64>, Box<dyn Fn(f64) -> f64 + 'a>);
        let mean = |of_draw: &dyn Fn(usize) -> f64| (0..3).map(of_draw).sum::<f64>() / 3.0;
        let gaussian = |y: f64| mean(&|d| normal_cdf((y - f[d].0) / f64::sqrt(f[d].1 + 0.2)));
        let varying = |y: f64| {
            let noise = |d: usize, z: f64| 0.2 * (0.7 * (g[d].0 + f64::sqrt(g[d].1) * z)).exp();
            mean(&|d| expect(|z| normal_cdf((y - f[d].0) / (f[d].1 + noise(d, z)).sqrt())))
        };
        let student =
            |nu: f64| move |y: f64| mean(&|d| expect(|z| t_below((y - f[d].0 - f64::sqrt(f[d].1) * z) / 0.4, nu)));
        let plain: Vec<f64> = f.iter().flat_map(|f| [f.0, f.1]).collect();
        let both: Vec<f64> = f.iter().zip(g).flat_map(|(f, g)| [f.0, g.0, f.1, g.1]).collect();
        let t = |nu: f64| -> Noise { (Arc::new(Scalar::new(StudentT)), vec![vec![0.4], vec![nu]]) };
        let cases: [Case<'_>; 4] = [
            ((Arc::new(Gaussian::new(1)), vec![vec![0.2]]), plain.clone(), Box::new(gaussian)),
            ((Arc::new(VaryingNoise::new(1)), vec![vec![0.2], vec![0.7]]), both, Box::new(varying)),
            (t(2.5), plain.clone(), Box::new(student(2.5))),
            (t(9.0), plain, Box::new(student(9.0))),
        ];
        for ((likelihood, theta), components, below) in cases {
            let what = format!("{} {theta:?}", likelihood.name());
            let prediction = Prediction::of(likelihood, theta, 3, components);
            let predicted = prediction.marginal(0, 0);
            for p in [0.001, 0.02, 0.5, 0.8, 0.999] {
                let y = predicted.quantile(p);
                assert!((predicted.cdf(y) - p).abs() < 2e-15, "{what}: {p}");
                assert!((below(y) - p).abs() < 3e-8, "{what}: {} and {p}", below(y));
                assert!((below(predicted.rough_quantile(p)) / p - 1.0).abs() < 1.5, "{what}: {p}");
            }
            for y in [-6.0, 0.1, 1.5] {
                // wide panels far out, where the function is flat
                let low = simpson(y - 120.0, y - 8.0, |z| below(z).powi(2)) + simpson(y - 8.0, y, |z| below(z).powi(2));
                let above = |z: f64| (1.0 - below(z)).powi(2);
                let exact = low + simpson(y, y + 14.0, above) + simpson(y + 14.0, y + 120.0, above);
                let ours = crps(&predicted, y);
                assert!((ours - exact).abs() < 1e-6, "{what}: {ours} and {exact}");
            }
        }
    }

    /// How long it takes: `cargo test --workspace five_thousand -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn five_thousand_rows_are_judged_in_seconds() {
        let (rows, draws) = (5000, 100);
        let place = |i: usize| (i as f64 * 0.618).fract() - 0.5;
        let t = |nu: f64| -> Noise { (Arc::new(Scalar::new(StudentT)), vec![vec![0.3], vec![nu]]) };
        let cases: [Noise; 4] = [
            (Arc::new(Gaussian::new(1)), vec![vec![0.1]]),
            (Arc::new(VaryingNoise::new(1)), vec![vec![0.1], vec![1.0]]),
            t(2.05),
            t(4.0),
        ];
        for (likelihood, theta) in cases {
            let latents = likelihood.latents();
            let of =
                |i: usize| (0..2 * latents).map(move |c| if c < latents { place(i + c) } else { 0.3 + 0.1 * place(i) });
            let what = format!("{} {theta:?}", likelihood.name());
            let components: Vec<f64> = (0..rows * draws).flat_map(of).collect();
            let p = Prediction::of(likelihood, theta, draws, components);
            let y: Vec<f64> = (0..rows).map(|n| 3.0 * place(n)).collect();
            let begun = std::time::Instant::now();
            let judged = regression(&p, 0, &y, 1.0);
            let seconds = begun.elapsed().as_secs_f64();
            println!("{what}: {seconds:.2} s on {} threads", rayon::current_num_threads());
            assert!(judged.crps.is_finite() && seconds < 60.0, "{what}: {seconds} s");
        }
    }

    /// Far apart modes, between which the distribution function is flat, and the jumps of classes and counts.
    #[test]
    fn quantiles_of_odd_mixtures_are_found() {
        let apart = Prediction::of(
            Arc::new(Gaussian::new(1)),
            vec![vec![1e-6]],
            2,
            vec![-1e3, 1e-6, 1e3, 1e-2, 0.0, 1e-300, 1e-9, 1e-300],
        );
        for (n, p) in [0, 1].into_iter().flat_map(|n| [1e-6, 0.25, 0.499, 0.501, 0.9, 1.0 - 1e-6].map(|p| (n, p))) {
            let (q, m) = (apart.quantile(n, 0, p), apart.moments(n, 0));
            let little = 1e-12 * (m.model + m.noise).sqrt();
            assert!(apart.cdf(n, 0, q - little) <= p && p <= apart.cdf(n, 0, q + little), "{n} {p}");
        }
        assert!((-1000.0..=1000.0).contains(&apart.quantile(0, 0, 0.5)));
        let coin = Prediction::of(Arc::new(Scalar::new(Bernoulli)), vec![], 1, vec![2.0, 0.5]);
        let zero = coin.cdf(0, 0, 0.0);
        assert_eq!((coin.quantile(0, 0, zero - 1e-3), coin.quantile(0, 0, zero + 1e-3)), (0.0, 1.0));
        let counts = Prediction::of(Arc::new(Scalar::new(Poisson)), vec![], 1, vec![1.0, 0.1]);
        let median = counts.quantile(0, 0, 0.5);
        assert!(median.fract() == 0.0 && counts.cdf(0, 0, median) >= 0.5 && counts.cdf(0, 0, median - 1.0) < 0.5);
        assert_eq!((counts.quantile(0, 0, 1.0), counts.quantile(0, 0, 0.0)), (f64::INFINITY, f64::NEG_INFINITY));
    }

    /// A narrow mixture with a wide component, heavy tails (SciPy's quadrature), and counts by their sum.
    #[test]
    fn crps_of_odd_distributions() {
        let mut components = [0.0, 0.01 - 1e-6].repeat(99);
        components.extend([0.0, 100.0 - 1e-6]);
        let p = Prediction::of(Arc::new(Gaussian::new(1)), vec![vec![1e-6]], 100, components);
        // Σw·A(0, σ²) − ½ΣΣww'·A(0, σ² + σ'²), A(0, v) = √(2v/π)
        let a = |v: f64| (2.0 * v / std::f64::consts::PI).sqrt();
        let exact = 0.99 * a(0.01) + 0.01 * a(100.0)
            - 0.5 * (0.99 * 0.99 * a(0.02) + 2.0 * 0.99 * 0.01 * a(100.01) + 1e-4 * a(200.0));
        assert!((crps(&p.marginal(0, 0), 0.0) - exact).abs() < 1e-5, "{} and {exact}", crps(&p.marginal(0, 0), 0.0));
        // Student-t: 2√ν/(ν−1)·(…): Jordan, Krüger & Lerch 2019, at y = 0: 2√ν/(ν−1)/B(½, ν/2) − √ν/(ν−1)·2B(½, ν−½)/B(½, ν/2)²
        let beta = |a: f64, b: f64| (libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)).exp();
        for nu in [2.5_f64, 3.0, 6.0] {
            let b = beta(0.5, 0.5 * nu);
            let exact = 2.0 * nu.sqrt() / (nu - 1.0) / b - 2.0 * nu.sqrt() / (nu - 1.0) * beta(0.5, nu - 0.5) / (b * b);
            let t = Prediction::of(Arc::new(Scalar::new(StudentT)), vec![vec![1.0], vec![nu]], 1, vec![0.0, 0.0]);
            assert!(
                (crps(&t.marginal(0, 0), 0.0) - exact).abs() < 1e-6,
                "{nu}: {} and {exact}",
                crps(&t.marginal(0, 0), 0.0)
            );
        }
        // Poisson(3) at 0: Σ_k (F(k) − 1)²
        let counts = Prediction::of(Arc::new(Scalar::new(Poisson)), vec![], 1, vec![3.0_f64.ln(), 0.0]);
        let (mut mass, mut below, mut exact) = ((-3.0_f64).exp(), 0.0, 0.0);
        for k in 0..60 {
            below += mass;
            exact += (1.0_f64 - below).powi(2);
            mass *= 3.0 / (k + 1) as f64;
        }
        assert!((crps(&counts.marginal(0, 0), 0.0) - exact).abs() < 1e-9);
        // larger counts against the sum
        for (rate, y) in
            [(30.0_f64, 25.0), (300.0, 290.0), (300.0, 450.0), (3000.0, 2950.0), (3000.0, 0.0), (1e6, 1.001e6)]
        {
            let p = Prediction::of(Arc::new(Scalar::new(Poisson)), vec![], 1, vec![rate.ln(), 0.0]);
            let (ours, around) = (crps(&p.marginal(0, 0), y), 12.0 * rate.sqrt());
            let term = |k: f64| (p.cdf(0, 0, k) - f64::from(k >= y)).powi(2);
            let (low, high) = ((rate - around).floor().max(0.0), (rate + around).ceil());
            let mut exact: f64 = (low as u64..high as u64).map(|k| term(k as f64)).sum();
            // where F is 0 or 1
            exact += (low - y).max(0.0) + (y - high).max(0.0);
            // panels of a few whole numbers are summed, as all are at a rate of 30
            let tolerance = if rate == 30.0 { 1e-9 } else { 0.01 };
            assert!((ours - exact).abs() < tolerance * exact, "{rate} {y}: {ours} and {exact}");
        }
    }

    /// A fair model of coins and of counts is calibrated, and its intervals hold at least what they say.
    #[test]
    fn whole_numbers_that_are_as_predicted_are_calibrated() {
        let n = 1000;
        let coin = Prediction::of(Arc::new(Scalar::new(Bernoulli)), vec![], 1, [-0.5, 0.0].repeat(n));
        let one = coin.probabilities(0).unwrap()[1];
        let y: Vec<f64> = (0..n).map(|i| f64::from((i as f64 + 0.5) / n as f64 > 1.0 - one)).collect();
        let m = regression(&coin, 0, &y, 1.0);
        assert!(m.calibration < 2e-3, "{m:?}");
        assert_eq!(m.coverage, [1.0, 1.0, 1.0]);
        // P(0) = 0.076: outside of the central half, inside of the 90 % interval, whose lower end is the quantile of 0.05
        let coin = Prediction::of(Arc::new(Scalar::new(Bernoulli)), vec![], 1, vec![2.5, 0.0]);
        assert_eq!(regression(&coin, 0, &[0.0], 1.0).coverage, [0.0, 1.0, 1.0]);
        let coin = Prediction::of(Arc::new(Scalar::new(Bernoulli)), vec![], 1, vec![-2.5, 0.0]);
        assert_eq!(regression(&coin, 0, &[1.0], 1.0).coverage, [0.0, 1.0, 1.0]);
        let counts = Prediction::of(Arc::new(Scalar::new(Poisson)), vec![], 1, [1.5, 0.2].repeat(n));
        let y: Vec<f64> = (0..n).map(|i| counts.quantile(i, 0, (i as f64 + 0.5) / n as f64)).collect();
        assert!(y.iter().all(|v| v.fract() == 0.0));
        let m = regression(&counts, 0, &y, 1.0);
        assert!(m.calibration < 2e-3, "{m:?}");
        m.coverage.iter().zip(LEVELS).for_each(|(c, l)| assert!(*c >= l && *c < l + 0.2, "{m:?}"));
    }

    /// Targets at evenly spaced quantiles of a normal: everything is known.
    #[test]
    fn predictions_that_are_right_are_calibrated() {
        let n = 1000;
        let p = Prediction::of(Arc::new(Gaussian::new(1)), vec![vec![0.5]], 1, [0.3, 0.5].repeat(n));
        let y: Vec<f64> = (0..n).map(|i| p.quantile(i, 0, (i as f64 + 0.5) / n as f64)).collect();
        let m = regression(&p, 0, &y, 2.0);
        assert_eq!(m.rows, n);
        assert!((m.rmse - 2.0).abs() < 0.01 && (m.mae - 2.0 * (2.0 / std::f64::consts::PI).sqrt()).abs() < 0.01);
        assert!((m.crps - 2.0 / std::f64::consts::PI.sqrt()).abs() < 0.01, "{}", m.crps);
        let entropy = 0.5 * (std::f64::consts::TAU * std::f64::consts::E * 4.0).ln();
        assert!((m.log_likelihood + entropy).abs() < 0.01);
        m.coverage.iter().zip(LEVELS).for_each(|(c, l)| assert!((c - l).abs() < 0.002));
        assert!(m.calibration < 1e-3);
    }

    #[test]
    fn classes_by_hand() {
        // logistic of ±large: nearly certain, right three times of four
        let p = Prediction::of(Arc::new(Scalar::new(Bernoulli)), vec![], 1, [40.0, 0.0].repeat(4));
        let m = classification(&p, &[1.0, 1.0, 0.0, 1.0]).unwrap();
        assert!((m.log_likelihood + 10.0).abs() < 1e-6, "{m:?}");
        assert_eq!((m.rows, m.accuracy), (4, 0.75));
        assert!((m.brier - 0.5).abs() < 1e-12 && (m.calibration - 0.25).abs() < 1e-12);
        let q = Prediction::of(Arc::new(Gaussian::new(1)), vec![vec![0.5]], 1, vec![0.3, 0.5]);
        assert!(classification(&q, &[1.0]).is_none());
    }
}
