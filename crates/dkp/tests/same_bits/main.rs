//! Short runs of every family give the numbers that they have always given.
//!
//! `expected.txt` has a line for each run: its name, the bound, the mean of the predictions, and a digest of everything that the run
//! yields (names, shapes and bits of parameters, all parts of the bound, predictions, draws). With the vector instructions with which the
//! file was made every bit must be the same; elsewhere rounding differs, and the two numbers must agree to a few digits.
//!
//! A change that is meant to alter results says so in its commit and writes the file anew: `DKP_WRITE=1 cargo test -p dkp --test same_bits`.

use dkp::data::Dataset;
use dkp::file::{load_run, save_run};
use dkp::kernels::{Kernel, Matern32, Relu, SquaredExponential};
use dkp::likelihoods::{Categorical, Gaussian, Likelihood, Poisson, Scalar, StudentT};
use dkp::model::{Architecture, Model, Prior, PriorKernel};
use dkp::train::{Start, TrainOptions, Trainer, initialise};
use dkp_tape::random::{Key, fill_normal};
use faer::Mat;
use sha2::{Digest as _, Sha256};
use std::path::PathBuf;
use std::sync::Arc;

const STEPS: u64 = 12;

/// Everything that a run yields, as it goes by.
struct Witness {
    digest: Sha256,
    bound: f64,
    mean: f64,
}

impl Witness {
    fn new() -> Witness {
        Witness { digest: Sha256::new(), bound: 0.0, mean: 0.0 }
    }

    fn text(&mut self, text: &str) {
        self.digest.update(text.as_bytes());
    }

    fn numbers<'a>(&mut self, numbers: impl IntoIterator<Item = &'a f64>) {
        numbers.into_iter().for_each(|v| self.digest.update(v.to_le_bytes()));
    }

    fn matrix(&mut self, m: &Mat<f64>) {
        m.col_iter().for_each(|c| self.numbers(c.iter()));
    }

    /// name, bound, mean of predictions, digest.
    fn line(self, name: &str) -> String {
        let digest: String = self.digest.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect();
        format!("{name} | {:.17e} | {:.17e} | {digest}", self.bound, self.mean)
    }
}

/// Normal features, and what `target` makes of the features and a normal of each point.
fn data(features: usize, points: usize, targets: usize, target: impl Fn(usize, &[f64], f64) -> f64) -> Dataset {
    let (mut x, mut noise) = (vec![0.0; features * points], vec![0.0; points]);
    fill_normal(Key::new(7).stream(0, 0), features, |n| n as u64, &mut x);
    fill_normal(Key::new(7).stream(0, 1), points, |_| 0, &mut noise);
    let y = Mat::from_fn(targets, points, |t, n| target(t, &x[n * features..(n + 1) * features], noise[n]));
    Dataset::new(Mat::from_fn(features, points, |i, n| x[n * features + i]).as_ref(), y.as_ref()).unwrap()
}

fn smooth(features: usize) -> Dataset {
    data(features, 60, 1, |_, x, e| (x[0] + 0.5 * x[1]).sin() + 0.1 * e)
}

fn start() -> Start {
    Start { inducing: 12, warm_up: 15, ..Start::default() }
}

fn options() -> TrainOptions {
    TrainOptions { steps: STEPS, draws: 3, ..TrainOptions::default() }
}

/// Everything that a trained model yields.
fn witness(model: &Model, data: &Dataset) -> Witness {
    let mut w = Witness::new();
    for p in model.parameters().iter() {
        w.text(&format!("{} {}×{}", p.name, p.rows, p.cols));
        w.numbers(&p.kept);
    }
    let bound = model.bound(data, 4, Key::new(3)).unwrap();
    w.bound = bound.total;
    w.numbers(&[bound.total, bound.standard_error, bound.likelihood, bound.gain, bound.input, -bound.output]);
    w.numbers(&bound.layers);
    let inputs = Mat::from_fn(data.features(), 9, |i, n| data.x(5 * n)[i] + 0.1);
    let prediction = model.predict(inputs.as_ref(), 5, Key::new(4)).unwrap();
    for n in 0..9 {
        for t in 0..data.targets() {
            let m = prediction.moments(n, t);
            w.mean += m.mean / 9.0;
            w.numbers(&[m.mean, m.model, m.noise, prediction.cdf(n, t, 1.0), prediction.quantile(n, t, 0.9)]);
        }
        w.numbers(&[prediction.log_density(n, data.y(5 * n))]);
        w.numbers(prediction.probabilities(n).iter().flatten());
    }
    model.functions(inputs.as_ref(), 2, Key::new(5)).unwrap().iter().for_each(|f| w.matrix(f));
    for draw in model.posterior_draws(2, Key::new(6)).unwrap() {
        draw.grams.iter().chain(&draw.omega).for_each(|g| w.matrix(g));
    }
    w
}

fn trained(architecture: Architecture, data: &Dataset, options: TrainOptions) -> Model {
    let mut model = initialise(architecture, data, start()).unwrap();
    Trainer::new(&mut model, data, options).unwrap().run(|_| true).unwrap();
    model
}

fn run(name: &str, architecture: Architecture, data: &Dataset, options: TrainOptions) -> String {
    witness(&trained(architecture, data, options), data).line(name)
}

/// The first run again, but stopped after five steps, written, read and gone on with.
fn resumed(name: &str, architecture: Architecture, data: &Dataset) -> String {
    let path = std::env::temp_dir().join(format!("dkp-same-bits-{}.run", std::process::id()));
    let mut model = initialise(architecture, data, start()).unwrap();
    let mut trainer = Trainer::new(&mut model, data, options()).unwrap();
    (0..5).for_each(|_| drop(trainer.step().unwrap()));
    let state = trainer.state().clone();
    save_run(&path, trainer.model(), &state, &Default::default()).unwrap();
    let (mut loaded, state) = load_run(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    Trainer::resume(&mut loaded.model, data, options(), state).unwrap().run(|_| true).unwrap();
    witness(&loaded.model, data).line(name)
}

fn prior(name: &str, prior: &Prior) -> String {
    let x = Mat::from_fn(2, 10, |i, n| ((3 * i + 2 * n) as f64).sin());
    let draw = prior.draw(x.as_ref(), 2, Key::new(8)).unwrap();
    let mut w = Witness::new();
    draw.grams.iter().chain(&draw.kernels).for_each(|m| w.matrix(m));
    w.matrix(&draw.functions);
    w.mean = draw.functions[(0, 0)];
    w.line(name)
}

fn lines() -> Vec<String> {
    let sqexp = || -> Arc<dyn Kernel> { Arc::new(SquaredExponential) };
    let gaussian = || -> Arc<dyn Likelihood> { Arc::new(Gaussian::new(1)) };
    let plain = smooth(3);
    let classes = data(2, 60, 1, |_, x, _| f64::from(x[0] > 0.3) + f64::from(x[1] > 0.0));
    let counts = data(2, 60, 1, |_, x, e| (x[0] + 0.3 * e).exp().round());
    let both =
        data(2, 60, 2, |t, x, e| if e > 1.0 + t as f64 { f64::NAN } else { (x[t] - 0.5 * x[1 - t]).sin() + 0.1 * e });
    let batches = TrainOptions { batch: Some(25), kl_warm_up: 4, ..options() };
    let kernel = || PriorKernel::new(SquaredExponential, &[1.3, 0.7]);
    vec![
        run("diwp gaussian", Architecture::diwp(sqexp(), 1, gaussian()), &plain, options()),
        resumed("diwp gaussian", Architecture::diwp(sqexp(), 1, gaussian()), &plain),
        run(
            "diwp student_t, two relu layers, batches",
            Architecture::diwp(Arc::new(Relu), 2, Arc::new(Scalar::new(StudentT))),
            &plain,
            batches,
        ),
        run("diwp gram form", Architecture::diwp(sqexp(), 1, gaussian()), &smooth(15), options()),
        run("nngp gaussian", Architecture::nngp(sqexp(), 2, gaussian()), &plain, options()),
        run(
            "nngp categorical",
            Architecture::nngp(Arc::new(Matern32), 1, Arc::new(Categorical::new(3))),
            &classes,
            options(),
        ),
        run(
            "dgp gaussian(2), missing targets",
            Architecture::dgp(sqexp(), 2, 2, Arc::new(Gaussian::new(2))),
            &both,
            batches,
        ),
        run(
            "dgp poisson, no scales, own noises",
            Architecture {
                scale_features: false,
                share_noise: false,
                ..Architecture::dgp(sqexp(), 1, 3, Arc::new(Scalar::new(Poisson)))
            },
            &counts,
            options(),
        ),
        run("dwp gaussian, narrow layers", Architecture::dwp(sqexp(), 2, 2, gaussian()), &plain, options()),
        run(
            "dwp student_t, a wide layer, batches",
            Architecture::dwp(Arc::new(Matern32), 1, 20, Arc::new(Scalar::new(StudentT))),
            &plain,
            batches,
        ),
        prior("prior nngp", &Prior::nngp(kernel(), 2)),
        prior("prior diwp", &Prior::diwp(kernel(), &[4.0, 6.0])),
        prior("prior deep gp", &Prior::deep_gp(kernel(), &[3, 12])),
        prior("prior deep wishart", &Prior::deep_wishart(kernel(), &[3, 4, 20])),
        prior("prior finite network", &Prior::finite_network(&[5, 6])),
        prior("prior shah", &Prior::shah(kernel(), &[5.0])),
    ]
}

/// Whether this machine has the instructions with which the file was made.
fn is_reference() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512dq");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[test]
fn short_runs_give_the_same_bits() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/same_bits/expected.txt");
    let found = lines();
    assert_eq!(found[0], found[1], "a run that is resumed is the same run");
    if std::env::var_os("DKP_WRITE").is_some() {
        std::fs::write(&path, found.join("\n") + "\n").unwrap();
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let expected: Vec<&str> = text.lines().collect();
    assert_eq!(expected.len(), found.len());
    for (expected, found) in expected.iter().zip(&found) {
        if is_reference() {
            assert_eq!(*expected, found);
            continue;
        }
        let ([name, bound, mean, _], [own, own_bound, own_mean, _]) = (fields(expected), fields(found));
        assert_eq!(name, own);
        for (a, b) in [(bound, own_bound), (mean, own_mean)] {
            let (a, b): (f64, f64) = (a.parse().unwrap(), b.parse().unwrap());
            assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{name}: {a} and {b}");
        }
    }
}

fn fields(line: &str) -> [&str; 4] {
    line.split(" | ").collect::<Vec<_>>().try_into().unwrap()
}
