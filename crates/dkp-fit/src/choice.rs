//! Which noise numbers have (`--likelihood auto`): decided before a model is trained, by the bounds of small networks.

use crate::columns::name_for;
use crate::{Error, Fit, Moment, Settings, Trial, Watch};
use dkp::data::Dataset;
use dkp::model::{Bound, Model};
use dkp::params::Parameters;
use dkp::train::{Step, TrainOptions, Trainer, initialise_with};
use dkp_tape::random::Key;

/// The family of infinitely wide networks.
pub(crate) const LIMIT: &str = "nngp";
/// The name that leaves the choice to the bound.
pub const AUTO: &str = "auto";
/// What is compared, from the simplest on.
const CANDIDATES: [&str; 3] = ["gaussian", "student_t", "varying_t"];
/// A likelihood must be better than simpler ones by this, in nats a row, and by one nat in all.
const MARGIN: f64 = 0.002;
/// The comparison is one of infinitely wide networks, which have nothing to draw: their inducing points, at most, steps, and rows a step.
const INDUCING: u64 = 100;
const STEPS: u64 = 1000;
const FEWEST_STEPS: u64 = 300;
const BATCH: usize = 1000;

/// A likelihood that was chosen.
pub(crate) struct Chosen {
    pub likelihood: String,
    /// What it is better by, for people.
    pub line: String,
}

impl Settings {
    /// Likelihoods among which `auto` chooses: those that have every parameter of a likelihood that is set, frozen or tied.
    pub(crate) fn candidates(&self, fit: &Fit) -> Vec<&'static str> {
        let named = self.set.iter().chain(&self.freeze).chain(&self.tie);
        let named: Vec<&str> = named.flat_map(|text| text.split('=')).map(str::trim).collect();
        let fits = |name: &&str| {
            let Ok(likelihood) = fit.registry.likelihood(name) else { return false };
            let has = |wanted: &str| likelihood.parameters().iter().any(|p| p.name == wanted);
            named.iter().filter_map(|n| n.strip_prefix("likelihood.")).all(has)
        };
        CANDIDATES.into_iter().filter(fits).collect()
    }

    /// The same for a small network, and how it is trained.
    pub(crate) fn small(&self) -> (Settings, TrainOptions) {
        let settings = Settings { inducing: self.inducing.min(INDUCING), ..self.clone() };
        let (seed, temperature) = (self.seed, self.temperature);
        let steps = self.start_steps.clamp(FEWEST_STEPS, STEPS);
        let options = TrainOptions { steps, seed, temperature, batch: Some(BATCH), ..TrainOptions::of_limit() };
        (settings, options)
    }
}

impl Fit {
    /// Trains an infinitely wide network with each candidate, and compares their bounds, without what a tighter bound gains, which not all have.
    pub(crate) fn choose_noise(&self, settings: &Settings, train: &Dataset, watch: Watch<'_>) -> Result<Chosen, Error> {
        let mut bounds: Vec<(&str, f64)> = Vec::new();
        for name in settings.candidates(self) {
            if let Some(bound) = self.bound_with(name, settings, train, watch)? {
                bounds.push((name, bound.total - bound.gain));
            }
        }
        let margin = MARGIN.max(1.0 / train.points() as f64);
        let first = bounds.first().copied().unwrap_or((CANDIDATES[0], 0.0));
        let better =
            |best: (&'static str, f64), next: (&'static str, f64)| if next.1 > best.1 + margin { next } else { best };
        let (name, bound) = bounds.iter().copied().fold(first, better);
        let what = match name {
            "student_t" => "noise has heavy tails",
            "varying_t" => "noise varies with the inputs",
            _ => "noise is the same everywhere",
        };
        let others = bounds.iter().filter(|(n, _)| *n != name).map(|(_, b)| *b);
        let line = match others.fold(f64::NEG_INFINITY, f64::max) {
            f64::NEG_INFINITY => format!("noise is taken to be {name}: nothing could be compared with it"),
            _ if name != first.0 => format!("{what}: {:+.2} nats a row", bound - first.1),
            next => format!("{what}: otherwise {:+.2} nats a row", next - bound),
        };
        Ok(Chosen { likelihood: name_for(&self.registry, name, train.targets()), line })
    }

    /// The bound with one of them, if it can be trained.
    fn bound_with(
        &self,
        likelihood: &'static str,
        settings: &Settings,
        train: &Dataset,
        watch: Watch<'_>,
    ) -> Result<Option<Bound>, Error> {
        let full = name_for(&self.registry, likelihood, train.targets());
        let (settings, options) = Settings { likelihood: full, ..settings.clone() }.small();
        let trial = Trial::Likelihood(likelihood);
        let each = |step: &Step| watch(Moment::Try { trial, step, steps: options.steps });
        let model = self.network(&settings, options, train, each)?;
        Ok(model.and_then(|model| model.bound(train, 1, Key::new(settings.seed)).ok()))
    }

    /// An infinitely wide network, trained, if it can be; `each` step says whether to go on. Where the model itself is one, parameters are set, frozen and tied as its are.
    pub(crate) fn network(
        &self,
        settings: &Settings,
        options: TrainOptions,
        train: &Dataset,
        mut each: impl FnMut(&Step) -> bool,
    ) -> Result<Option<Model>, Error> {
        let family = self.registry.family(LIMIT).map_err(|e| Error::named("family", e))?;
        let posterior = family.posteriors[0].to_string();
        let own = settings.family == family.name;
        let settings = Settings { family: family.name.to_string(), posterior, start_steps: 0, ..settings.clone() };
        let adjust = |p: &mut Parameters| if own { settings.adjust(p) } else { Ok(()) };
        let architecture = settings.architecture(&self.registry)?;
        let Ok(started) = initialise_with(architecture, train, settings.start(), adjust, |_| true) else {
            return Ok(None);
        };
        let mut model = started.model;
        let mut stopped = false;
        let trained = Trainer::new(&mut model, train, options)?.run(|step| {
            stopped = !each(step);
            !stopped
        });
        if stopped {
            return Err(Error::Stopped { step: 0, folder: None });
        }
        Ok(trained.ok().map(|()| model))
    }
}
