//! How sure to be of classes, and of numbers.
//!
//! Of classes rows that were not learned from tell it: how often labels count (the temperature), with which kernel, and how latents do (the calibration).
//!
//! An infinitely wide network is quick to train. So parts of the rows are left out in turn, networks learn from the others, and the model itself
//! then learns from all. Other models keep a part, and are calibrated by it when they are trained.

use crate::choice::{AUTO, LIMIT};
use crate::{Calibrated, Card, Error, Fit, KERNEL, Moment, Settings, Trial, Watch};
use dkp::Registry;
use dkp::data::Dataset;
use dkp::likelihoods::TargetKind;
use dkp::model::{Calibration, Model, Prediction};
use dkp::train::{Step, TrainOptions};
use dkp_tape::random::Key;

/// Fewer rows say too little.
const FEWEST: usize = 300;
/// Rows that are judged, about, a fifth of all rows at a time; of a model that keeps a part, a tenth.
const JUDGED: usize = 1_000;
/// Temperatures, as long as each is better than the one before: labels that nobody doubts count as several, noisy ones do not.
const TEMPERATURES: [f64; 4] = [1.0, 0.2, 0.05, 0.01];
/// How many of them are tried, as a rule.
const TRIED: usize = 3;
/// The kernel that is tried in the first layer of infinitely wide networks: borders of classes are often rough. In all layers it would be too rough: a
/// Matérn ½ kernel of a Matérn ½ kernel has functions rougher than a random walk's.
const ROUGH: &str = "matern12";
/// Posterior draws.
const DRAWS: usize = 16;
/// So many rows of numbers are enough to keep some, which tell their noise to a few per cent.
const MANY: usize = 10_000;
const KEPT: usize = 500;

/// Predictions of rows that a model had not seen.
type Judged = (Prediction, Dataset);

/// What is tried, and the settings of its network.
type Candidate = (Trial, Settings);

/// The best so far, and what it says of rows that it has not seen.
struct Best {
    settings: Settings,
    score: f64,
    judged: Judged,
}

impl Fit {
    /// Decides what is still open of how sure to be, as far as it can be before the model is trained.
    pub(crate) fn find_confidence(&self, card: &mut Card, rows: &Dataset, watch: Watch<'_>) -> Result<(), Error> {
        let parts = card.settings.parts(&self.registry, rows);
        let Some(first) = parts.first() else { return Ok(()) };
        let limit = card.settings.family == LIMIT;
        let open = self.config.model.temperature.is_none();
        if !open && !limit {
            return Ok(());
        }
        let at = |settings: &Settings, temperature: f64| {
            (Trial::Temperature(temperature), Settings { temperature, ..settings.clone() })
        };
        let temperatures = if open { TEMPERATURES.to_vec() } else { vec![card.settings.temperature] };
        let mut best = None;
        let candidates = temperatures.iter().map(|t| at(&card.settings, *t)).collect();
        self.improve(&mut best, candidates, (rows, first), watch)?;
        let Some(settings) = best.as_ref().map(|b| b.settings.clone()) else {
            let line = "how sure to be could not be found: no network could be trained without a part of the rows";
            watch(Moment::Noise(line));
            card.noise = Some(line.to_string());
            return Ok(());
        };
        let kernel_is_open = self.kernel_is_open(&settings);
        if kernel_is_open {
            let layers = [ROUGH].into_iter().chain(std::iter::repeat_n(KERNEL, settings.layers as usize));
            let rough = Settings { kernel: layers.map(str::to_string).collect(), ..settings };
            self.improve(&mut best, vec![(Trial::Kernel(ROUGH), rough.clone())], (rows, first), watch)?;
            if best.as_ref().is_some_and(|b| b.settings.kernel == rough.kernel) {
                // with it labels may count more
                let colder = temperatures.iter().filter(|t| **t < rough.temperature);
                self.improve(&mut best, colder.map(|t| at(&rough, *t)).collect(), (rows, first), watch)?;
            }
        }
        let Some(Best { settings, score, judged }) = best else { return Ok(()) };
        card.settings = settings;
        if limit {
            let mut judged = vec![judged];
            let (temperature, settings) = (card.settings.temperature, &card.settings);
            for part in &parts[1..turns(&parts)] {
                judged.extend(self.tried(&at(settings, temperature), (rows, part), watch)?);
            }
            card.calibration = Some(calibrated(&judged));
        }
        let labels = open.then(|| labels_count(card.settings.temperature));
        let kernel = kernel_is_open.then(|| format!("kernel {}", card.settings.kernel.join(", ")));
        let decided: Vec<String> = labels.into_iter().chain(kernel).collect();
        if !decided.is_empty() {
            let (decided, left_out) = (decided.join(", "), first.len());
            let line = format!("{decided}: {score:.3} nats a row for {left_out} rows that are left out to find that");
            watch(Moment::Noise(&line));
            card.noise = Some(line);
        }
        Ok(())
    }

    /// Takes one candidate after the other, as long as each makes rows that are left out more probable than the best before.
    fn improve(
        &self,
        best: &mut Option<Best>,
        candidates: Vec<Candidate>,
        (rows, part): (&Dataset, &[usize]),
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        // one nat in all
        let margin = 1.0 / part.len() as f64;
        for candidate in candidates {
            let Some(judged) = self.tried(&candidate, (rows, part), watch)? else { continue };
            let judged = [judged];
            let score = Calibration::of(&judged).scores[1];
            if best.as_ref().is_some_and(|best| score.is_nan() || score <= best.score + margin) {
                break;
            }
            let [judged] = judged;
            *best = Some(Best { settings: candidate.1, score, judged });
        }
        Ok(())
    }

    /// Whether nobody said which kernel the network has.
    fn kernel_is_open(&self, settings: &Settings) -> bool {
        self.config.model.kernel.is_empty() && settings.family == LIMIT
    }

    /// How many networks that takes, as a rule, and the rows that the first of them leaves out.
    pub(crate) fn trials(&self, settings: &Settings, rows: &Dataset) -> Option<(usize, Vec<usize>)> {
        let mut parts = settings.parts(&self.registry, rows);
        let further = if settings.family == LIMIT { turns(&parts).checked_sub(1)? } else { 0 };
        let tried = match self.config.model.temperature {
            None => TRIED,
            Some(_) => usize::from(settings.family == LIMIT),
        };
        // another kernel, and a colder temperature with it
        let kernels = if self.kernel_is_open(settings) { 2 } else { 0 };
        (tried + further > 0 && !parts.is_empty()).then(|| (tried + kernels + further, parts.swap_remove(0)))
    }

    /// What a network says of rows that it has not seen, if it can be trained.
    fn tried(
        &self,
        (trial, settings): &Candidate,
        (rows, part): (&Dataset, &[usize]),
        watch: Watch<'_>,
    ) -> Result<Option<Judged>, Error> {
        let (learned, kept) = rows.without(part);
        let (settings, options) = settings.trial();
        let each = |step: &Step| watch(Moment::Try { trial: *trial, step, steps: options.steps });
        let Some(network) = self.network(&settings, options, &learned, each)? else { return Ok(None) };
        Ok(predicted(&network, &kept, settings.seed).ok())
    }
}

/// Parts that are left out in turn.
fn turns(parts: &[Vec<usize>]) -> usize {
    parts.first().map_or(0, |first| JUDGED.div_ceil(first.len()).min(parts.len()))
}

impl Settings {
    /// A network that is tried, and how it is trained.
    pub(crate) fn trial(&self) -> (Settings, TrainOptions) {
        if self.family == LIMIT { (self.clone(), self.train_options()) } else { self.small() }
    }

    /// Parts of the rows that are left out in turn, or of which the first is kept; none where targets are not classes or rows are few.
    fn parts(&self, registry: &Registry, rows: &Dataset) -> Vec<Vec<usize>> {
        if self.target_kind(registry) != Some(TargetKind::Class) || rows.points() < FEWEST {
            return Vec::new();
        }
        let share = if self.family == LIMIT { 5 } else { 10 };
        rows.parts(JUDGED.min(rows.points() / share), self.key_of_parts())
    }

    fn target_kind(&self, registry: &Registry) -> Option<TargetKind> {
        registry.likelihood(&self.likelihood).ok().map(|l| l.target_kind())
    }

    fn key_of_parts(&self) -> Key {
        Key::new(self.seed).step(u64::MAX - 2)
    }
}

impl Fit {
    /// The rows that the model learns from, and those that are kept to [calibrate] it: of classes, and of numbers where rows are many, and where rows are
    /// not of other groups than those to come, or earlier.
    pub(crate) fn kept(&self, settings: &Settings, rows: Dataset) -> (Dataset, Option<Dataset>) {
        let alike = self.config.table.group.is_none() && self.config.table.time.is_none();
        let numbers =
            matches!(settings.target_kind(&self.registry), Some(TargetKind::Real)) || settings.likelihood == AUTO;
        let part = match settings.family.as_str() {
            LIMIT => None,
            _ if numbers && alike && rows.points() >= MANY => {
                rows.parts(KEPT, settings.key_of_parts()).into_iter().next()
            }
            _ => settings.parts(&self.registry, &rows).into_iter().next(),
        };
        match part {
            Some(part) => {
                let (learned, kept) = rows.without(&part);
                (learned, Some(kept))
            }
            None => (rows, None),
        }
    }
}

/// How sure a trained model should be, by rows that it has not seen.
pub(crate) fn calibrate(model: &Model, kept: &Dataset, seed: u64) -> Result<Calibrated, Error> {
    let judged = predicted(model, kept, seed)?;
    Ok(match Calibration::of_noise(&judged.0, kept) {
        Some((latents, [before, after])) => {
            let (share, rows) = (100.0 * latents.noise, kept.points());
            let line = format!(
                "noise has {share:.0} % of the deviation that was learned: {:+.3} nats a row for {rows} rows not learned from",
                after - before
            );
            Calibrated { latents, line }
        }
        None => calibrated(&[judged]),
    })
}

fn predicted(model: &Model, kept: &Dataset, seed: u64) -> Result<Judged, Error> {
    let key = Key::new(seed).step(u64::MAX - 1);
    Ok((model.predict(kept.inputs().as_ref(), DRAWS, key)?, kept.clone()))
}

fn calibrated(judged: &[Judged]) -> Calibrated {
    let found = Calibration::of(judged);
    let rows: usize = judged.iter().map(|(_, kept)| kept.points()).sum();
    let ([before, after], [own, calibrated]) = (found.scores, found.confidence);
    let line = match after - before {
        gain if gain < 5e-4 => {
            format!(
                "probabilities are as sure as the posterior: {after:.3} nats a row for {rows} rows not learned from"
            )
        }
        _ => {
            let surer = if calibrated > own { "surer" } else { "less sure" };
            format!(
                "probabilities are {surer} than the posterior: {after:.3} nats a row for {rows} rows not learned from, instead of {before:.3}"
            )
        }
    };
    Calibrated { latents: found.calibration, line }
}

fn labels_count(temperature: f64) -> String {
    match temperature {
        1.0 => "labels count once".to_string(),
        t => format!("labels count {:.0} times", 1.0 / t),
    }
}
