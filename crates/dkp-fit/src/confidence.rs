//! How sure to be of classes, and of numbers.
//!
//! Of classes rows that were not learned from tell it: how often labels count (the temperature), and how latents do (the calibration).
//!
//! An infinitely wide network is quick to train. So parts of the rows are left out in turn, networks learn from the others, and the model itself
//! then learns from all. Other models keep a part, and are calibrated by it when they are trained.

use crate::choice::LIMIT;
use crate::{Calibrated, Card, Error, Fit, Moment, Settings, Watch};
use dkp::Registry;
use dkp::data::Dataset;
use dkp::likelihoods::TargetKind;
use dkp::model::{Calibration, Model, Prediction};
use dkp_tape::random::Key;

/// Fewer rows say too little.
const FEWEST: usize = 300;
/// Rows that are judged, about, a fifth of all rows at a time; of a model that keeps a part, a tenth.
const JUDGED: usize = 1_000;
/// Temperatures, as long as each is better than the one before: labels that nobody doubts count as several, noisy ones do not.
const TEMPERATURES: [f64; 4] = [1.0, 0.2, 0.05, 0.01];
/// Posterior draws.
const DRAWS: usize = 16;
/// Rows that were learned from by which predictions of numbers are judged, at most.
const LEARNED: usize = 2_000;

/// Predictions of rows that a model had not seen.
type Judged = (Prediction, Dataset);

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
        let candidates = if open { TEMPERATURES.to_vec() } else { vec![card.settings.temperature] };
        let mut tried = |settings: &Settings, temperature: f64, part: &[usize]| {
            watch(Moment::Try(temperature));
            let (learned, kept) = rows.without(part);
            self.tried(&Settings { temperature, ..settings.clone() }, &learned, &kept)
        };
        let mut best: Option<(f64, f64, Vec<Judged>)> = None;
        for temperature in candidates {
            let Some(judged) = tried(&card.settings, temperature, first)? else { continue };
            let judged = vec![judged];
            let score = Calibration::of(&judged).scores[1];
            // one nat in all
            let margin = 1.0 / first.len() as f64;
            if best.as_ref().is_some_and(|best| score.is_nan() || score <= best.1 + margin) {
                break;
            }
            best = Some((temperature, score, judged));
        }
        let Some((temperature, score, mut judged)) = best else { return Ok(()) };
        card.settings.temperature = temperature;
        if limit {
            for part in &parts[1..JUDGED.div_ceil(first.len()).min(parts.len())] {
                judged.extend(tried(&card.settings, temperature, part)?);
            }
            card.calibration = Some(calibrated(&judged));
        }
        if open {
            let line = line_of_temperature(temperature, score, first.len());
            watch(Moment::Noise(&line));
            card.noise = Some(line);
        }
        Ok(())
    }

    /// What a network says of rows that it has not seen, if it can be trained.
    fn tried(&self, settings: &Settings, learned: &Dataset, kept: &Dataset) -> Result<Option<Judged>, Error> {
        let (settings, options) = match settings.family.as_str() {
            LIMIT => (settings.clone(), settings.train_options()),
            _ => settings.small(),
        };
        let Some(network) = self.network(&settings, options, learned)? else { return Ok(None) };
        Ok(predicted(&network, kept, settings.seed).ok())
    }
}

impl Settings {
    /// Parts of the rows that are left out in turn, or of which the first is kept; none where the model is not one of classes or rows are few.
    fn parts(&self, registry: &Registry, rows: &Dataset) -> Vec<Vec<usize>> {
        let likelihood = registry.likelihood(&self.likelihood).ok();
        let of_classes = likelihood.is_some_and(|l| l.target_kind() == TargetKind::Class);
        if !of_classes || rows.points() < FEWEST {
            return Vec::new();
        }
        let share = if self.family == LIMIT { 5 } else { 10 };
        rows.parts(JUDGED.min(rows.points() / share), Key::new(self.seed).step(u64::MAX - 2))
    }

    /// The rows that the model learns from, and those that are kept to [calibrate] it.
    pub(crate) fn kept(&self, registry: &Registry, rows: Dataset) -> (Dataset, Option<Dataset>) {
        match self.parts(registry, &rows).first() {
            Some(part) if self.family != LIMIT => {
                let (learned, kept) = rows.without(part);
                (learned, Some(kept))
            }
            _ => (rows, None),
        }
    }
}

/// How sure a trained model should be, by rows that it has not seen.
pub(crate) fn calibrate(model: &Model, kept: &Dataset, seed: u64) -> Result<Calibrated, Error> {
    Ok(calibrated(&[predicted(model, kept, seed)?]))
}

/// How much of a trained model's noise is noise, by rows that it has learned from; none if it is all.
pub(crate) fn noise_of_learned(
    model: &Model,
    learned: &Dataset,
    divergence: f64,
    seed: u64,
) -> Result<Option<Calibrated>, Error> {
    if learned.points() < FEWEST {
        return Ok(None);
    }
    let rows = learned.of(&learned.sample(LEARNED, Key::new(seed).step(u64::MAX - 3)));
    let (prediction, rows) = predicted(model, &rows, seed)?;
    Ok(Calibration::of_learned(&prediction, &rows, divergence).map(|latents| {
        let share = 100.0 * latents.noise;
        let line = format!(
            "noise has {share:.0} % of the deviation that was learned, of which the rest is what draws differ by"
        );
        Calibrated { latents, line }
    }))
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

fn line_of_temperature(value: f64, score: f64, rows: usize) -> String {
    let count = match value {
        1.0 => "labels count once".to_string(),
        t => format!("labels count {:.0} times", 1.0 / t),
    };
    format!("{count}: {score:.3} nats a row for {rows} rows that are left out to find that")
}
