//! Targets drawn from the posterior, jointly at points.

use super::{Calibration, Error, Model, Prediction};
use dkp_tape::random::{Key, fill_normal};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::f64::consts::FRAC_1_SQRT_2;

impl Model {
    /// Targets drawn jointly at points: for each draw, targets × points. Functions are [drawn](Model::functions) from the posterior, and each target from
    /// its likelihood given them, whose noise counts as the calibration says.
    ///
    /// ```
    /// # use dkp::{data::Dataset, kernels::SquaredExponential, likelihoods::Gaussian, train::{Start, initialise}};
    /// # use dkp::model::{Architecture, Calibration};
    /// # use std::sync::Arc;
    /// # let x = faer::Mat::from_fn(1, 20, |_, n| n as f64 / 10.0 - 1.0);
    /// # let data = Dataset::new(x.as_ref(), x.as_ref()).unwrap();
    /// # let architecture = Architecture::nngp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(1)));
    /// # let model = initialise(architecture, &data, Start { inducing: 5, ..Start::default() }).unwrap();
    /// let draws = model.sample(x.as_ref(), 7, Calibration::NONE, dkp_tape::random::Key::new(0))?;
    /// assert_eq!((draws.len(), draws[0].nrows(), draws[0].ncols()), (7, 1, 20));
    /// # Ok::<(), dkp::model::Error>(())
    /// ```
    pub fn sample(
        &self,
        x: MatRef<'_, f64>,
        draws: usize,
        calibration: Calibration,
        key: Key,
    ) -> Result<Vec<Mat<f64>>, Error> {
        let functions = self.functions(x, draws, key)?;
        let noise = Calibration { noise: calibration.noise, ..Calibration::NONE };
        let likelihood = &self.architecture.likelihood;
        let targets = likelihood.targets();
        let sample = |(draw, f): (usize, Mat<f64>)| {
            // the latents are known: they are their means, without a variance
            let known = |column: usize| f.col(column).iter().copied().chain(std::iter::repeat_n(0.0, f.nrows()));
            let components = (0..f.ncols()).flat_map(known).collect();
            let given =
                Prediction::of(likelihood.clone(), self.likelihood_parameters(), 1, components).calibrated(noise);
            let mut normals = vec![0.0; targets * f.ncols()];
            if !normals.is_empty() {
                let stream = key.draw(draw as u32).stream(u32::MAX, 0);
                fill_normal(stream, targets, |column| column as u64, &mut normals);
            }
            Mat::from_fn(targets, f.ncols(), |t, n| {
                let uniform = 0.5 * libm::erfc(-FRAC_1_SQRT_2 * normals[n * targets + t]);
                given.marginal(n, t).quantile(uniform)
            })
        };
        Ok(functions.into_par_iter().enumerate().map(sample).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::inference_tests::{data, inputs, model, sq_exp};
    use super::*;
    use crate::data::Dataset;
    use crate::likelihoods::{Gaussian, Likelihood, Poisson, Scalar, VaryingNoise};
    use crate::model::Architecture;
    use std::sync::Arc;

    /// Two targets at a point and at itself once more: means and variances are those of predictions, what a target shares with itself is what the model does
    /// not know, and noise is drawn anew.
    #[test]
    fn draws_have_the_moments_of_predictions() {
        const DRAWS: usize = 4000;
        let one = data(30);
        let whole = |n: usize| (2.0 + 2.0 * one.y(n)[0]).round();
        let counts = Mat::from_fn(2, 30, |t, n| if t == 0 { whole(n) } else { 2.0 });
        let numbers = Mat::from_fn(2, 30, |t, n| if t == 0 { one.y(n)[0] } else { one.x(n)[0] });
        let likelihoods: [(Arc<dyn Likelihood>, Mat<f64>); 3] = [
            (Arc::new(Gaussian::new(2)), numbers.clone()),
            (Arc::new(VaryingNoise::heavy(2)), numbers),
            (Arc::new(Scalar::several(Poisson, 2)), counts),
        ];
        for (likelihood, y) in likelihoods {
            let name = likelihood.name();
            let data = Dataset::new(inputs(&one).as_ref(), y.as_ref()).unwrap();
            let model = model(Architecture::diwp(sq_exp(), 1, likelihood), &data, 6);
            let x = Mat::from_fn(3, 3, |i, n| one.x([4, 9, 4][n])[i]);
            let half = Calibration { noise: 0.5, ..Calibration::NONE };
            let draws = model.sample(x.as_ref(), DRAWS, half, Key::new(1)).unwrap();
            assert_eq!(draws[..5], model.sample(x.as_ref(), 5, half, Key::new(1)).unwrap()[..]);
            let predicted = model.predict(x.as_ref(), 2000, Key::new(2)).unwrap().calibrated(half);
            let of = |t: usize, n: usize| draws.iter().map(move |d| d[(t, n)]).collect::<Vec<f64>>();
            let mean = |v: &[f64]| v.iter().sum::<f64>() / DRAWS as f64;
            let shared = |a: &[f64], b: &[f64]| {
                let centred = a.iter().zip(b).map(|(x, y)| (x - mean(a)) * (y - mean(b)));
                centred.sum::<f64>() / DRAWS as f64
            };
            for (t, n) in [(0, 0), (0, 1), (1, 0)] {
                let (own, moments) = (of(t, n), predicted.moments(n, t));
                let variance = moments.model + moments.noise;
                // five standard errors, tails a little heavier than a normal's
                let error = 5.0 * (variance / DRAWS as f64).sqrt();
                assert!((mean(&own) - moments.mean).abs() < 1.5 * error, "{name}: {} {moments:?}", mean(&own));
                let spread = shared(&own, &own);
                assert!((spread / variance - 1.0).abs() < 0.2, "{name}: {spread} {moments:?}");
            }
            let (again, model_alone) = (shared(&of(0, 0), &of(0, 2)), predicted.moments(0, 0).model);
            let variance = shared(&of(0, 0), &of(0, 0));
            assert!((again - model_alone).abs() < 0.1 * variance, "{name}: {again} {model_alone} {variance}");
        }
        let model = model(Architecture::diwp(sq_exp(), 1, Arc::new(Gaussian::new(1))), &one, 6);
        let none = model.sample(Mat::zeros(3, 0).as_ref(), 2, Calibration::NONE, Key::new(0)).unwrap();
        assert_eq!((none.len(), none[0].ncols()), (2, 0));
    }
}
