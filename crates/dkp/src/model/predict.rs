//! Predictions: mixtures over posterior draws.

use super::programs::set_leaves;
use super::record::{Points, Recorded, TileResult};
use super::{Calibration, Error, Marginal, Model};
use crate::likelihoods::{Likelihood, Mixture, Moments, ParameterStart, TargetKind};
use dkp_tape::random::Key;
use dkp_tape::{Failure, Node, Plan, Problem, Visit, Workspace};
use faer::{Mat, MatRef};
use std::sync::{Arc, Mutex};

/// Points of a tile in prediction. It is always the same, so that how points are batched changes no bit.
const WIDTH: usize = 128;

/// What is predicted at some points: for each draw, the latent functions' means and variances.
///
/// Everything is of the mixture over draws itself.
#[derive(Clone)]
pub struct Prediction {
    likelihood: Arc<dyn Likelihood>,
    parameters: Vec<Vec<f64>>,
    draws: usize,
    points: usize,
    /// For each point and draw: means of the latents, then their variances.
    components: Vec<f64>,
}

/// Matrices of one posterior draw at the inducing points.
#[derive(Clone, Debug)]
pub struct PosteriorDraw {
    /// G of the input layer, and after each hidden layer's process.
    pub grams: Vec<Mat<f64>>,
    /// Ω, where the input layer draws it.
    pub omega: Option<Mat<f64>>,
}

impl Model {
    /// Predicts at points, features × points, with this many posterior draws.
    ///
    /// A point's random numbers follow from its features, so that neither other points nor their order change its
    /// prediction.
    pub fn predict(&self, x: MatRef<'_, f64>, draws: usize, key: Key) -> Result<Prediction, Error> {
        self.check_inputs(x)?;
        let draws = if self.architecture.is_deterministic() { 1 } else { draws.max(1) };
        let likelihood = self.architecture.likelihood.clone();
        let likelihood = likelihood.refined(draws).unwrap_or(likelihood);
        let latents = likelihood.latents();
        let parameters = self.likelihood_parameters();
        let mut lent = self.prepared(WIDTH, false)?;
        let recorded = &mut *lent;
        let TileResult::Marginals(latent) = recorded.latent else { unreachable!("points one by one") };
        let points = x.ncols();
        let stride = 2 * latents;
        let components = Mutex::new(vec![0.0; points * draws * stride]);
        let visitor = |visit: Visit<'_>| {
            let Visit::Tile { draw, tile, run } = visit else { return };
            let (mean, variance) = (run.value(latent.mean), run.value(latent.variance));
            let mut components = components.lock().unwrap_or_else(|e| e.into_inner());
            for j in 0..WIDTH.min(points - tile * WIDTH) {
                let start = ((tile * WIDTH + j) * draws + draw) * stride;
                let (means, variances) = components[start..start + stride].split_at_mut(latents);
                means.iter_mut().enumerate().for_each(|(i, m)| *m = mean[(i, j)]);
                // a row for each group of latents
                let row = |i: usize| i * variance.nrows() / latents;
                variances.iter_mut().enumerate().for_each(|(i, v)| *v = variance[(row(i), j)]);
            }
        };
        let plan = Plan { draws, tiles: points.div_ceil(WIDTH) };
        let targets = recorded.targets.expect("points one by one");
        let inputs = (recorded.x, [targets.values, targets.present]);
        let outcome = recorded.scopes.visit(plan, key, &|t, run| fill(x, inputs, t, run), &visitor);
        outcome.map_err(|failure| farthest(x, &failure).map_or(failure.into(), |point| Error::NotFinite { point }))?;
        let components = components.into_inner().unwrap_or_else(|e| e.into_inner());
        if let Some(at) = components.iter().position(|c| !c.is_finite()) {
            return Err(Error::NotFinite { point: at / (draws * stride) });
        }
        Ok(Prediction { likelihood, parameters, draws, points, components })
    }

    /// Functions drawn from the posterior, jointly at the points: for each draw, latents × points.
    pub fn functions(&self, x: MatRef<'_, f64>, draws: usize, key: Key) -> Result<Vec<Mat<f64>>, Error> {
        self.check_inputs(x)?;
        if x.ncols() == 0 {
            return Ok(vec![Mat::zeros(self.architecture.likelihood.latents(), 0); draws]);
        }
        let mut recorded = Recorded::new(&self.architecture, &self.parameters, Points::Joint(x.ncols()));
        set_leaves(&mut recorded, &self.parameters)?;
        let TileResult::Functions(node) = recorded.latent else { unreachable!("points jointly") };
        let functions = Mutex::new(vec![Mat::new(); draws]);
        let visitor = |visit: Visit<'_>| {
            let Visit::Tile { draw, run, .. } = visit else { return };
            functions.lock().unwrap_or_else(|e| e.into_inner())[draw] = run.value(node).to_owned();
        };
        let data = recorded.x;
        recorded.scopes.visit(Plan { draws, tiles: 1 }, key, &|_, run| run.set(data, x), &visitor)?;
        Ok(functions.into_inner().unwrap_or_else(|e| e.into_inner()))
    }

    /// Gram matrices at the inducing points from the posterior.
    pub fn posterior_draws(&self, draws: usize, key: Key) -> Result<Vec<PosteriorDraw>, Error> {
        let mut lent = self.prepared(WIDTH, false)?;
        let recorded = &mut *lent;
        let found = Mutex::new(vec![PosteriorDraw { grams: Vec::new(), omega: None }; draws]);
        let (grams, omega) = (recorded.grams.clone(), recorded.omega);
        let visitor = |visit: Visit<'_>| {
            let Visit::Draw { draw, run } = visit else { return };
            let value = |n: &Node| run.value(*n).to_owned();
            let this = PosteriorDraw { grams: grams.iter().map(value).collect(), omega: omega.as_ref().map(value) };
            found.lock().unwrap_or_else(|e| e.into_inner())[draw] = this;
        };
        recorded.scopes.visit(Plan { draws, tiles: 0 }, key, &|_, _| Ok(()), &visitor)?;
        Ok(found.into_inner().unwrap_or_else(|e| e.into_inner()))
    }

    pub(super) fn likelihood_parameters(&self) -> Vec<Vec<f64>> {
        let value = |name: &str| self.parameters.get(name).expect("the model has its likelihood's parameters");
        self.architecture.of_likelihood().iter().map(|p| value(&p.name)).collect()
    }
}

/// Sets a tile's points, without targets; the last tile is padded with its first point.
fn fill(
    x: MatRef<'_, f64>,
    (features, targets): (Node, [Node; 2]),
    tile: usize,
    run: &mut Workspace,
) -> Result<(), Failure> {
    let first = tile * WIDTH;
    let count = WIDTH.min(x.ncols() - first);
    let column = |j: usize| first + if j < count { j } else { 0 };
    let values: Vec<f64> = (0..WIDTH).flat_map(|j| x.col(column(j)).iter().copied().collect::<Vec<_>>()).collect();
    let ids: Vec<u64> = values.chunks(x.nrows()).map(hash).collect();
    run.set_slice(features, &values)?;
    for node in targets {
        run.set_slice(node, &vec![0.0; node.len()])?;
    }
    run.set_point_ids(&ids);
    Ok(())
}

/// The point of a tile that failed though parameters had no part in it: the one with the largest feature.
fn farthest(x: MatRef<'_, f64>, failure: &Failure) -> Option<usize> {
    let finite = matches!(failure.problem, Problem::NotPositiveDefinite { value, .. } if value.is_finite());
    let first = failure.place.tile.filter(|_| !finite)? * WIDTH;
    let size = |n: usize| x.col(n).iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    (first..x.ncols().min(first + WIDTH)).max_by(|&a, &b| size(a).total_cmp(&size(b)))
}

/// A point's id: its features' bits, mixed (FNV-1a over words, then splitmix64's finaliser).
fn hash(features: &[f64]) -> u64 {
    let mixed = features.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, v| {
        // −0 and 0 are the same number
        let bits = (v + 0.0).to_bits();
        (h ^ bits ^ (bits >> 32)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let z = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Prediction {
    /// Predictions from given components: for each point and draw, means of the latents, then their variances.
    pub(crate) fn of(
        likelihood: Arc<dyn Likelihood>,
        parameters: Vec<Vec<f64>>,
        draws: usize,
        components: Vec<f64>,
    ) -> Prediction {
        let points = components.len() / (2 * likelihood.latents() * draws);
        Prediction { likelihood, parameters, draws, points, components }
    }

    /// The same with calibrated latents, and calibrated noise.
    pub fn calibrated(mut self, calibration: Calibration) -> Prediction {
        let Calibration { scale, doubt, noise } = calibration;
        for (parameter, values) in self.likelihood.parameters().iter().zip(&mut self.parameters) {
            let factor = match parameter.start {
                ParameterStart::NoiseVariance => noise * noise,
                ParameterStart::NoiseDeviation => noise,
                ParameterStart::At(_) => 1.0,
            };
            values.iter_mut().for_each(|v| *v *= factor);
        }
        if (scale, doubt) == (1.0, 1.0) {
            return self;
        }
        let (latents, draws) = (self.likelihood.latents(), self.draws);
        for point in self.components.chunks_exact_mut(2 * latents * draws) {
            for i in 0..latents {
                let mean = point.iter().skip(i).step_by(2 * latents).sum::<f64>() / draws as f64;
                let own = point.iter_mut().skip(i).step_by(2 * latents);
                own.for_each(|m| *m = scale * (mean + doubt * (*m - mean)));
                let variances = point.iter_mut().skip(latents + i).step_by(2 * latents);
                variances.for_each(|v| *v *= (scale * doubt).powi(2));
            }
        }
        self
    }

    /// How many targets a point has.
    pub fn targets(&self) -> usize {
        self.likelihood.targets()
    }

    /// How many points there are.
    pub fn points(&self) -> usize {
        self.points
    }

    /// How many draws.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Means and variances of the latents for each draw at a point.
    fn components(&self, point: usize) -> impl Iterator<Item = (&[f64], &[f64])> {
        let stride = 2 * self.likelihood.latents();
        let all = &self.components[point * self.draws * stride..(point + 1) * self.draws * stride];
        all.chunks_exact(stride).map(move |c| c.split_at(stride / 2))
    }

    /// log p(y) of a point's targets, of which NaN ones are left out: the logarithm of the mean over draws.
    pub fn log_density(&self, point: usize, y: &[f64]) -> f64 {
        let of_draw = |(m, v): (&[f64], &[f64])| self.likelihood.log_density(&self.parameters, y, m, v);
        let logs: Vec<f64> = self.components(point).map(of_draw).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        largest + (logs.iter().map(|l| (l - largest).exp()).sum::<f64>() / logs.len() as f64).ln()
    }

    /// Mean, and variances of model and noise, by the law of total variance.
    pub fn moments(&self, point: usize, target: usize) -> Moments {
        let of_draw = |(m, v): (&[f64], &[f64])| self.likelihood.moments(&self.parameters, target, m, v);
        let all: Vec<_> = self.components(point).map(of_draw).collect();
        let average = |f: fn(&Moments) -> f64| all.iter().map(f).sum::<f64>() / all.len() as f64;
        let mean = average(|m| m.mean);
        let spread = all.iter().map(|m| (m.mean - mean).powi(2)).sum::<f64>() / all.len() as f64;
        Moments { mean, model: average(|m| m.model) + spread, noise: average(|m| m.noise) }
    }

    /// The distribution of one target at a point: for several questions about it.
    pub fn marginal(&self, point: usize, target: usize) -> Marginal<'_> {
        Marginal::new(self, point, target)
    }

    /// P(target ≤ y).
    pub fn cdf(&self, point: usize, target: usize, y: f64) -> f64 {
        self.marginal(point, target).cdf(y)
    }

    /// The y with P(target ≤ y) = p: see [`Marginal::quantile`].
    pub fn quantile(&self, point: usize, target: usize, p: f64) -> f64 {
        self.marginal(point, target).quantile(p)
    }

    /// The mixture over draws, where each is one of normals.
    pub(super) fn mixture(&self, point: usize, target: usize) -> Option<Mixture> {
        let (likelihood, parameters) = (&self.likelihood, &self.parameters);
        Mixture::of(|visit| self.components(point).all(|(m, v)| likelihood.normals(parameters, target, m, v, visit)))
    }

    /// The mean over draws of P(target ≤ y).
    pub(super) fn mean_cdf(&self, point: usize, target: usize, y: f64) -> f64 {
        let of_draw = |(m, v): (&[f64], &[f64])| self.likelihood.cdf(&self.parameters, target, y, m, v);
        self.components(point).map(of_draw).sum::<f64>() / self.draws as f64
    }

    /// What targets are.
    pub fn target_kind(&self) -> TargetKind {
        self.likelihood.target_kind()
    }

    /// Whether targets are whole numbers.
    pub fn is_discrete(&self) -> bool {
        self.target_kind() != TargetKind::Real
    }

    /// Probabilities of the classes, for likelihoods of one target that has them.
    pub fn probabilities(&self, point: usize) -> Option<Vec<f64>> {
        let mut sum: Option<Vec<f64>> = None;
        for (m, v) in self.components(point) {
            let p = self.likelihood.probabilities(&self.parameters, m, v)?;
            match &mut sum {
                None => sum = Some(p),
                Some(total) => total.iter_mut().zip(p).for_each(|(t, p)| *t += p),
            }
        }
        sum.map(|s| s.into_iter().map(|p| p / self.draws as f64).collect())
    }
}
