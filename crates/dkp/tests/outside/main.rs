//! Parts of models that are written outside this crate, one file each: trained, written and read back like its own.

mod cubic;
mod laplace;
mod random_scale;

use cubic::Cubic;
use dkp::Registry;
use dkp::data::Dataset;
use dkp::file;
use dkp::kernels::{Kernel, SquaredExponential, Sum};
use dkp::likelihoods::Scalar;
use dkp::model::{Architecture, Family};
use dkp::processes::{Input, Process};
use dkp::train::{Start, TrainOptions, Trainer, initialise};
use dkp_tape::random::{Key, fill_normal};
use faer::Mat;
use laplace::Laplace;
use random_scale::RandomScale;
use std::sync::Arc;

/// The names by which files know them.
fn registry() -> Registry {
    let mut registry = Registry::default();
    registry.add_process("random_scale(spread)", |a| Ok(Arc::new(RandomScale { spread: a.number(0)? })));
    registry.add_likelihood("laplace", |_| Ok(Arc::new(Scalar::new(Laplace))));
    registry.add_kernel("cubic", |_| Ok(Arc::new(Cubic)));
    registry.add_family(Family {
        name: "scaled",
        title: "kernels of random height",
        posteriors: &["normal"],
        parts: |_| (Input::Fixed, Arc::new(RandomScale { spread: 0.5 })),
    });
    registry
}

/// A cubic function with noise that has heavy tails.
fn data() -> Dataset {
    let mut noise = vec![0.0; 160];
    fill_normal(Key::new(3).stream(0, 0), 2, |n| n as u64, &mut noise);
    let x = Mat::from_fn(2, 80, |i, n| if i == 0 { 0.05 * n as f64 - 2.0 } else { noise[2 * n] });
    let y = Mat::from_fn(1, 80, |_, n| x[(0, n)].powi(3) - x[(1, n)] + 0.1 * noise[2 * n + 1].powi(3));
    let data = Dataset::new(x.as_ref(), y.as_ref()).unwrap();
    let (sx, sy) = data.scales();
    data.scaled(&sx, &sy)
}

fn architecture(process: Arc<dyn Process>) -> Architecture {
    let kernel: Arc<dyn Kernel> = Arc::new(Sum(Arc::new(Cubic), Arc::new(SquaredExponential)));
    Architecture::of(Input::Fixed, process, kernel, 1, Arc::new(Scalar::new(Laplace)))
}

#[test]
fn parts_from_outside_are_trained_written_and_read() {
    let (data, registry) = (data(), registry());
    let (start, options) = (Start { inducing: 15, warm_up: 100, ..Start::default() }, TrainOptions::default());
    let mut model = initialise(architecture(Arc::new(RandomScale { spread: 0.5 })), &data, start).unwrap();
    let before = model.bound(&data, 50, Key::new(0)).unwrap();
    assert!(before.layers[0] < 0.0 && before.standard_error > 0.0, "{before:?}");
    Trainer::new(&mut model, &data, TrainOptions { steps: 300, draws: 4, ..options }).unwrap().run(|_| true).unwrap();
    let after = model.bound(&data, 50, Key::new(0)).unwrap();
    assert!(after.total > before.total + 0.1, "{before:?} and {after:?}");

    let path = std::env::temp_dir().join(format!("dkp-outside-{}.dkp", std::process::id()));
    file::save(&path, &model, &Default::default()).unwrap();
    let loaded = file::load_with(&path, &registry).unwrap().model;
    let unknown = file::load(&path).err().unwrap().to_string();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(loaded.parameters(), model.parameters());
    let x = data.inputs();
    let [a, b] = [&model, &loaded].map(|m| m.predict(x.as_ref(), 20, Key::new(1)).unwrap());
    assert!((0..data.points()).all(|n| a.moments(n, 0) == b.moments(n, 0)));
    assert_eq!(a.log_density(3, &[0.2]), b.log_density(3, &[0.2]));
    assert!(unknown.contains("there is no kernel \"cubic\"; there are sqexp, "), "{unknown}");
}

/// A process that a model can be made of serves as the input's Ω too, and in a family.
#[test]
fn a_process_from_outside_can_stand_anywhere() {
    let (data, registry) = (data(), registry());
    let process: Arc<dyn Process> = Arc::new(RandomScale { spread: 0.3 });
    let family = registry.family("scaled").unwrap();
    let kernels = [registry.kernel("sqexp").unwrap(), registry.kernel("cubic").unwrap()];
    let options = dkp::model::FamilyOptions {
        posterior: "",
        width: 1,
        hidden: [1.0; 2],
        drawn: Input::Omega(()),
        input: [1.0; 2],
    };
    let mut architecture = family.architecture(&options, &kernels, registry.likelihood("laplace").unwrap());
    architecture.input = Input::Omega(process);
    let start = Start { inducing: 10, warm_up: 20, ..Start::default() };
    let mut model = initialise(architecture, &data, start).unwrap();
    let options = TrainOptions { steps: 20, draws: 2, ..TrainOptions::default() };
    Trainer::new(&mut model, &data, options).unwrap().run(|s| s.failure.is_none()).unwrap();
    let draw = &model.posterior_draws(1, Key::new(0)).unwrap()[0];
    // Ω = e^z·I
    let omega = draw.omega.as_ref().unwrap();
    assert!((omega[(0, 0)] - omega[(1, 1)]).abs() < 1e-6 && omega[(0, 1)].abs() < 1e-6, "{omega:?}");
    let wrong = Arc::new(RandomScale { spread: -1.0 }) as Arc<dyn Process>;
    let refused = initialise(self::architecture(wrong), &data, start).err().unwrap().to_string();
    assert_eq!(refused, "τ of layer 1 must be positive and finite, but is -1");
}
