//! Files: that what is written is read back to the bit, and that nothing else is read.

use super::*;
use crate::data::Dataset;
use crate::kernels::{self, Relu, SquaredExponential};
use crate::likelihoods::{Categorical, Gaussian, Likelihood, Scalar, StudentT};
use crate::model::Architecture;
use crate::params::Shape;
use crate::processes::{GaussianFeatures, Input, InverseWishart};
use crate::train::{Start, TrainOptions, Trainer, initialise};
use dkp_tape::gradcheck::cases;
use dkp_tape::random::Key;
use faer::Mat;
use std::sync::Arc;

fn data(targets: usize) -> Dataset {
    let x = cases::matrix(1, 3, 25);
    let y = Mat::from_fn(targets, 25, |i, n| if targets == 1 { (n % 3) as f64 } else { x[(i, n)] });
    Dataset::new(x.as_ref(), y.as_ref()).unwrap()
}

fn start() -> Start {
    Start { inducing: 6, warm_up: 0, ..Start::default() }
}

/// A path that is deleted in the end.
struct Path(std::path::PathBuf);

impl Path {
    fn new(name: &str) -> Path {
        Path(std::env::temp_dir().join(format!("dkp-{}-{name}", std::process::id())))
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn architectures() -> Vec<(Architecture, usize)> {
    let kernel: Arc<dyn kernels::Kernel> = Registry::default().kernel("sum(sqexp, scaled(relu))").unwrap();
    let likelihood = |l: Box<dyn Likelihood>| -> Arc<dyn Likelihood> { l.into() };
    let mut separate = Architecture::nngp(kernel.clone(), 0, Arc::new(Gaussian::new(2)));
    separate.share_noise = false;
    separate.scale_features = false;
    let mut gram = Architecture::diwp(Arc::new(Relu), 1, Arc::new(Gaussian::new(1)));
    gram.input = Input::Gram(Arc::new(InverseWishart::INPUT));
    let own = GaussianFeatures { width: 2, share_noise: false };
    let linear = Architecture::of(
        Input::Omega(Arc::new(GaussianFeatures::new(4))),
        Arc::new(own),
        Arc::new(Relu),
        1,
        Arc::new(Gaussian::new(1)),
    );
    vec![
        (linear, 1),
        (Architecture::diwp(kernel, 2, likelihood(Box::new(Categorical::new(3)))), 1),
        (Architecture::dgp(Arc::new(SquaredExponential), 2, 4, Arc::new(Scalar::new(StudentT))), 1),
        (Architecture::dwp(Arc::new(SquaredExponential), 2, 4, Arc::new(Gaussian::new(1))), 1),
        (Architecture::nngp(Arc::new(Relu), 0, Arc::new(Scalar::several(StudentT, 2))), 2),
        (separate, 2),
        (gram, 1),
    ]
}

#[test]
fn a_model_is_read_back_to_the_bit() {
    for (i, (architecture, targets)) in architectures().into_iter().enumerate() {
        let data = data(targets);
        let mut model = initialise(architecture, &data, start()).unwrap();
        model.parameters_mut().freeze("output.targets", true).unwrap();
        let layout = model.architecture().layout(3, 6);
        let shape = |p: &crate::params::Parameter| Shape::new(p.name.clone(), p.rows, p.cols, p.constraint);
        let own: Vec<Shape> = model.parameters().iter().map(shape).collect();
        assert_eq!(layout, own);

        let path = Path::new(&format!("model-{i}"));
        let mut companion = Companion { metadata: json!({"b": 1, "a": [null, "text"]}), ..Companion::default() };
        companion.tensors.insert("numbers".into(), Tensor { shape: vec![2, 0], values: vec![] });
        companion.tensors.insert("others".into(), Tensor::vector(vec![1.5, f64::NAN, -0.0]));
        save(&path.0, &model, &companion).unwrap();
        let first = std::fs::read(&path.0).unwrap();
        let loaded = load(&path.0).unwrap();
        assert_eq!(loaded.model.parameters(), model.parameters());
        assert_eq!(loaded.companion.metadata, companion.metadata);
        assert_eq!(loaded.companion.tensors["others"].values[1].to_bits(), f64::NAN.to_bits());
        let x = cases::matrix(2, 3, 9);
        let [a, b] = [&model, &loaded.model].map(|m| m.predict(x.as_ref(), 3, Key::new(1)).unwrap());
        assert!((0..9).all(|n| (0..targets).all(|t| a.moments(n, t) == b.moments(n, t))));
        save(&path.0, &loaded.model, &loaded.companion).unwrap();
        assert_eq!(std::fs::read(&path.0).unwrap(), first);
    }
}

/// Names that look like the place of the digest, and parts that have no name.
#[test]
fn odd_companions_and_models() {
    let architecture = Architecture::nngp(Arc::new(Relu), 0, Arc::new(Gaussian::new(1)));
    let model = initialise(architecture, &data(1), start()).unwrap();
    let path = Path::new("odd");
    let companion =
        Companion { metadata: json!({ "level": "0".repeat(64), "sha256": "0".repeat(70) }), ..Companion::default() };
    save(&path.0, &model, &companion).unwrap();
    assert_eq!(load(&path.0).unwrap().companion, companion);
    let mut wrong = Companion::default();
    wrong.tensors.insert("odd".into(), Tensor { shape: vec![3], values: vec![1.0] });
    let message = save(&path.0, &model, &wrong).unwrap_err().to_string();
    assert!(message.ends_with("the values of \"kept.odd\" do not fit its shape"), "{message}");

    // a name that no registry can find
    #[derive(Clone)]
    struct Mine;
    impl dkp_tape::KernelMap for Mine {
        type Form = <Relu as dkp_tape::KernelMap>::Form;
        fn name(&self) -> String {
            "mine(all mine".to_string()
        }
        fn at(&self, p: &[f64; 0], element: dkp_tape::Element<dkp_tape::Point>) -> dkp_tape::Jet<0> {
            dkp_tape::KernelMap::at(&Relu, p, element)
        }
    }
    let own = Architecture::nngp(Arc::new(Mine), 0, Arc::new(Gaussian::new(1)));
    let model = initialise(own, &data(1), start()).unwrap();
    let message = save(&path.0, &model, &Companion::default()).unwrap_err().to_string();
    assert!(message.contains("the model cannot be written: \"mine(all mine\" is no name"), "{message}");
}

/// Every truncation and every changed byte is noticed.
#[test]
fn damage_is_noticed_wherever_it_is() {
    let architecture = Architecture::nngp(Arc::new(Relu), 0, Arc::new(Gaussian::new(1)));
    let model = initialise(architecture, &data(1), Start { inducing: 2, ..start() }).unwrap();
    let bytes = container::encode(&contents("model", &model, &Companion::default()));
    assert!(container::decode(&bytes).is_ok());
    for length in 0..bytes.len() {
        assert!(container::decode(&bytes[..length]).is_err(), "{length} bytes");
    }
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x04;
        assert!(container::decode(&changed).is_err(), "byte {at}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(container::decode(&longer).is_err());
}

#[test]
fn what_is_not_a_model_is_said() {
    let path = Path::new("wrong");
    let message = |bytes: &[u8]| {
        std::fs::write(&path.0, bytes).unwrap();
        load(&path.0).err().unwrap().to_string().replace(&path.0.display().to_string(), "file")
    };
    assert!(message(b"a,b\n1,2\nand so on").starts_with("file: not a dkp model file: "));
    assert!(message(b"").starts_with("file: the file is damaged: "));
    let architecture = Architecture::nngp(Arc::new(Relu), 0, Arc::new(Gaussian::new(1)));
    let model = initialise(architecture, &data(1), start()).unwrap();
    let whole = contents("model", &model, &Companion::default());
    let bytes = |contents: &Contents| container::encode(contents);
    let with = |change: &dyn Fn(&mut Contents)| {
        let mut c = Contents { metadata: whole.metadata.clone(), tensors: whole.tensors.clone() };
        change(&mut c);
        bytes(&c)
    };
    let kernel = with(&|c| c.metadata["model"]["output"] = json!("mine"));
    assert!(message(&kernel).starts_with("file: not a dkp model file: there is no kernel \"mine\"; there are "));
    let lacking = with(&|c| drop(c.tensors.remove("parameters.output.targets")));
    assert_eq!(message(&lacking), "file: not a dkp model file: parameter \"output.targets\" has no values");
    let other_likelihood = with(&|c| c.metadata["model"]["likelihood"] = json!("gaussian(2)"));
    assert_eq!(
        message(&other_likelihood),
        "file: not a dkp model file: parameter \"output.targets\" is 6×1 instead of 6×2"
    );
    let run = with(&|c| c.metadata["kind"] = json!("run"));
    assert_eq!(message(&run), "file: not a dkp model file: it holds a run");
    let text = |bytes: &[u8]| bytes.iter().map(|b| char::from(*b)).collect::<String>();
    let of_format = |format: u64| {
        let text = text(&bytes(&whole)).replacen("\\\"format\\\":2", &format!("\\\"format\\\":{format}"), 1);
        text.chars().map(|c| c as u8).collect::<Vec<u8>>()
    };
    assert_eq!(
        message(&of_format(3)),
        "file: written in format 3, but this version of dkp reads up to 2; a newer dkp is needed"
    );
    let older =
        "file: written in format 1 by an earlier version of dkp, which this one does not read: train the model again";
    assert_eq!(message(&of_format(1)), older);
    assert!(load(std::path::Path::new("no/such/file")).err().unwrap().to_string().starts_with("no/such/file: "));
}

/// A run that was written between two steps ends with the same bits.
#[test]
fn a_run_goes_on_from_its_file_to_the_same_bits() {
    let data = data(2);
    let architecture = || Architecture::diwp(Arc::new(SquaredExponential), 1, Arc::new(Gaussian::new(2)));
    let options = TrainOptions { steps: 24, draws: 2, batch: Some(11), ..TrainOptions::default() };
    let fresh = || {
        let mut model = initialise(architecture(), &data, start()).unwrap();
        model.parameters_mut().tie("layer 1.kernel.lengthscale", "output.kernel.lengthscale").unwrap();
        model.parameters_mut().freeze("input.gamma", true).unwrap();
        model
    };
    let mut whole = fresh();
    Trainer::new(&mut whole, &data, options).unwrap().run(|_| true).unwrap();
    let path = Path::new("run");
    let mut part = fresh();
    let mut trainer = Trainer::new(&mut part, &data, options).unwrap();
    trainer.run(|r| r.step < 9).unwrap();
    save_run(&path.0, trainer.model(), trainer.state(), &Companion::default()).unwrap();
    let (mut loaded, state) = load_run(&path.0).unwrap();
    assert_eq!(&state, trainer.state());
    Trainer::resume(&mut loaded.model, &data, options, state).unwrap().run(|_| true).unwrap();
    assert_eq!(loaded.model.parameters(), whole.parameters());
    assert_eq!(
        load(&path.0).err().unwrap().to_string(),
        format!("{}: not a dkp model file: it holds a run", path.0.display())
    );
}
