//! From a table to what a model learns from: held-out rows, encoding, scales.

use crate::choice::AUTO;
use crate::columns::{feature_names, likelihood_name, name_for, placing_kind, target_names, tasks};
use crate::roles::HOLDOUT;
use crate::targets::{called, columns_there, known_rows, known_shares};
use crate::{Card, Config, Error, FeatureScale, Fit, InputLayer, Roles, RowNames, Scaling, Settings, Targets, Task};
use dkp::data::{Dataset, Scaler, Split};
use dkp::likelihoods::TargetKind;
use dkp::train::{Start, initialise};
use dkp_table::{Column, Encoder, Frame, Kind, Origin, Survey, Table};
use faer::MatRef;
use sha2::{Digest as _, Sha256};

/// Different whole numbers that may stand for classes, at most.
const CLASSES: usize = 10;

/// Data in a model's scales, and what is known of them.
pub struct Prepared {
    /// Rows to learn from.
    pub train: Dataset,
    /// Rows to be judged on, of which there may be none.
    pub held_out: Option<Dataset>,
    /// What the rows to be judged on are called, with folds all rows; none in a fold, whose model is not explained.
    pub names: Option<RowNames>,
    /// What a model file says of its data; without the results of training.
    pub card: Card,
    /// Divisions of the same rows, of which each is learned from and judged before the model learns from all; none without cross-validation.
    pub folds: Vec<Fold>,
}

/// One division of a table's rows.
pub struct Fold {
    /// As if there were no other rows: what is encoded and scaled is that of the rows to learn from.
    pub prepared: Prepared,
    /// Where the rows to be judged on are among all rows to learn from.
    pub places: Vec<usize>,
}

impl Prepared {
    /// A digest of the points that are learned from, and of how they are divided.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for n in 0..self.train.points() {
            self.train.x(n).iter().chain(self.train.y(n)).for_each(|v| hash.update(v.to_le_bytes()));
        }
        for fold in &self.folds {
            hash.update(u64::MAX.to_le_bytes());
            fold.places.iter().for_each(|&place| hash.update((place as u64).to_le_bytes()));
        }
        hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// Rows of a table of which a target is known.
struct Known {
    origin: Origin,
    frame: Frame,
    rows: Vec<usize>,
}

/// A table as it is read, before it is known which rows are learned from.
struct Source {
    whole: Known,
    test: Option<Known>,
    survey: Survey,
    task: Task,
    targets: Vec<(String, Kind)>,
    features: Vec<(String, Kind)>,
    notes: Vec<String>,
}

impl Fit {
    /// Reads a table, and one of rows to hold out: that which is given, or the file that the settings name. Every mistake in table or settings
    /// is told here.
    pub fn prepare(&self, table: &Table, test: Option<&Table>) -> Result<Prepared, Error> {
        self.config.check()?;
        let (roles, seed) = (&self.config.table, self.config.model.seed.unwrap_or(0));
        if test.is_some() && roles.folds.is_some() {
            return Err(Error::Both { first: "folds", second: "test" });
        }
        let opened = match (test, &roles.test) {
            (None, Some(path)) => Some(Table::open(path, &roles.read_options())?),
            _ => None,
        };
        let test = test.or(opened.as_ref());
        let source = self.read(table, test)?;
        let all = Split { train: source.whole.rows.clone(), held_out: Vec::new() };
        let Some(count) = roles.folds.map(|k| k as usize) else {
            let rows = if source.test.is_some() { all } else { split(&source.whole, roles, seed)? };
            let (mut prepared, judged) = self.prepare_rows(&source, &rows)?;
            prepared.names = Some(RowNames::of(test.unwrap_or(table), &roles.id, &judged));
            return Ok(prepared);
        };
        let (mut prepared, _) = self.prepare_rows(&source, &all)?;
        prepared.names = Some(RowNames::of(table, &roles.id, &source.whole.rows));
        let folds = folds(&source.whole, roles, count, seed)?;
        let fold = |(i, rows): (usize, &Split)| {
            let too_few = |error: Error| match error {
                Error::Data { origin, reason } => {
                    Error::data(&origin, format!("{reason}; fewer folds leave more rows to learn from"))
                }
                other => other,
            };
            self.prepare_fold(&source, rows).map_err(|error| too_few(error).in_fold(i + 1, count))
        };
        prepared.folds = folds.iter().enumerate().map(fold).collect::<Result<_, Error>>()?;
        Ok(prepared)
    }

    /// Finds what columns hold, and the rows of which a target is known.
    fn read(&self, table: &Table, test: Option<&Table>) -> Result<Source, Error> {
        let Config { table: roles, model: choices } = &self.config;
        let origin = table.origin();
        let predicted = target_names(table, roles)?;
        if predicted.is_empty() {
            let (option, columns) = (origin.option("target"), list(table.names()));
            let reason = format!("which column is to be predicted? Give {option}; there are {columns}");
            return Err(Error::data(origin, reason));
        }
        let survey = table.survey()?;
        let names = feature_names(table, roles, &predicted)?;
        let placing = roles.group.iter().chain(&roles.time);
        let placing = placing.map(|column| Ok((column.clone(), placing_kind(&survey, roles, column)?)));
        let placing = placing.collect::<Result<Vec<(String, Kind)>, Error>>()?;
        let features = survey.features(&names)?;
        let mut notes = features.notes();
        if features.columns.is_empty() {
            let reason = format!("there is no column to learn from beside {}", called(&predicted));
            return Err(Error::data(origin, reason));
        }
        let (task, kinds) = tasks(&survey, roles, choices, &self.registry, &predicted)?;
        let targets: Vec<(String, Kind)> = predicted.into_iter().zip(kinds).collect();
        let mut columns = [features.columns.clone(), targets.clone()].concat();
        notes.extend(survey.notation_notes(&columns));
        columns.extend(placing);
        let whole = Known::of(table, &columns, &targets, &mut notes)?;
        let of_test = |t: &Table| {
            let there = columns_there(&targets, t);
            Known::of(t, &[features.columns.clone(), there.clone()].concat(), &there, &mut notes)
        };
        let test = test.map(of_test).transpose()?;
        Ok(Source { whole, test, survey, task, targets, features: features.columns, notes })
    }

    /// Encodes and scales by the rows that are learned from. Also tells the numbers of those that are held out, from 0.
    fn prepare_rows(&self, source: &Source, rows: &Split) -> Result<(Prepared, Vec<usize>), Error> {
        let Config { table: roles, model: choices } = &self.config;
        let Source { whole, test, survey, task, .. } = source;
        let (origin, task, mut notes) = (&whole.origin, *task, source.notes.clone());
        let targets = Targets::fit(&whole.frame, &rows.train, &source.targets)?;
        let y = targets.encode(&whole.frame)?.y;
        targets.check_variety(&y, &rows.train, origin)?;
        notes.extend(targets.notes(&y, &rows.train));
        let likelihood = likelihood_name(&self.registry, choices, &targets)?;
        // those that `auto` chooses among take the same targets
        let stands_for = if likelihood == AUTO { "gaussian" } else { &likelihood };
        let stands_for = name_for(&self.registry, stands_for, targets.count());
        let named = self.registry.likelihood(&stands_for).map_err(|e| Error::named("likelihood", e))?;
        let varying = varying(&whole.frame, &rows.train, source.features.clone(), &mut notes)?;
        if varying.is_empty() {
            let reason = format!("no column beside {} varies over the training rows", called(&targets.names()));
            return Err(Error::data(origin, reason));
        }
        let encoder = Encoder::fit(&whole.frame, &rows.train, &varying)?;
        notes.extend(encoding_notes(&encoder, survey));
        if let ([(name, _)], Task::Regression) = (source.targets.as_slice(), task) {
            notes.extend(hint_of_classes(survey, name, rows.train.iter().map(|&r| y[r]))?);
        }
        targets.check(&*named, &y, whole.frame.first(), origin)?;
        let raw = dataset(&encoder, whole, &rows.train, &y)?;
        let scaling = match roles.scaling {
            Some(scaling) => {
                notes.push(format!("scaling of features: {}", scaling.name()));
                scaling
            }
            None if task == Task::Regression => Scaling::Own,
            None => {
                // levels of a text have no unit; ranks do not change them
                let texts = varying.iter().any(|(_, kind)| *kind == Kind::Text);
                let others: &[Scaling] = if texts { &[Scaling::Ranks] } else { &[Scaling::Shared, Scaling::Ranks] };
                let (scaling, line) = FeatureScale::chosen(&raw, others, choices.seed.unwrap_or(0));
                notes.extend(line);
                scaling
            }
        };
        let (feature_scale, (_, target_scale)) = (FeatureScale::of(&raw, scaling), raw.scales());
        let rescaled = named.target_kind() == TargetKind::Real;
        let target_scale = if rescaled { target_scale } else { Scaler::identity(targets.count()) };
        let held_out = match test {
            None => held_out(&encoder, &targets, whole, &rows.held_out, &y, &mut notes)?,
            Some(test) => {
                let y = targets.encode(&test.frame)?.y;
                targets.check(&*named, &y, test.frame.first(), &test.origin)?;
                held_out(&encoder, &targets, test, &test.rows, &y, &mut notes)?
            }
        };
        let same = Scaler::identity(encoder.width());
        let scaled = |data: &Dataset| feature_scale.applied(data).scaled(&same, &target_scale);
        let (held_out, judged) = held_out.map(|(data, rows)| (scaled(&data), rows)).unzip();
        let (points, features) = (raw.points(), encoder.width());
        let settings = Settings::resolve(choices, &self.registry, points, features, scaling, likelihood)?;
        let train = scaled(&raw);
        self.check_settings(&settings, &train)?;
        let card = Card {
            data: origin_name(origin),
            rows_trained: train.points(),
            rows_held_out: held_out.as_ref().map_or(0, Dataset::points),
            task,
            id: roles.id.clone(),
            na: roles.na.clone(),
            encoder,
            targets,
            feature_scale,
            target_scale,
            known_shares: known_shares(&train),
            settings,
            notes,
            noise: None,
            calibration: None,
            bound: None,
            evaluation: None,
            explanations: Vec::new(),
            cross_validation: None,
        };
        Ok((Prepared { train, held_out, names: None, card, folds: Vec::new() }, judged.unwrap_or_default()))
    }

    /// One division of all rows; `rows` are places among those whose target is known.
    fn prepare_fold(&self, source: &Source, rows: &Split) -> Result<Fold, Error> {
        let whole = &source.whole;
        let own = |places: &[usize]| places.iter().map(|&i| whole.rows[i]).collect::<Vec<_>>();
        let held_out = own(&rows.held_out);
        let (prepared, _) =
            self.prepare_rows(source, &Split { train: own(&rows.train), held_out: held_out.clone() })?;
        // those of classes that the others do not have are not judged
        let targets = &prepared.card.targets;
        let y = targets.encode(&whole.frame)?.y;
        let is_known = |(_, row): &(&usize, &usize)| targets.is_known(&y, **row);
        let places = rows.held_out.iter().zip(&held_out).filter(is_known).map(|(&place, _)| place).collect();
        Ok(Fold { prepared, places })
    }

    /// Makes a model without training anything, so that a wrong setting is told at once.
    fn check_settings(&self, settings: &Settings, train: &Dataset) -> Result<(), Error> {
        let (features, inducing) = (train.features(), settings.inducing as usize);
        if settings.input_layer == InputLayer::Gram && features <= inducing {
            let reason = format!(
                "{inducing} inducing points with {features} features make it singular: give fewer points than features"
            );
            return Err(Error::setting("input_layer", "gram", reason));
        }
        let start = Start { warm_up: 0, ..settings.start() };
        let mut settings = settings.clone();
        if settings.likelihood == AUTO {
            let first = settings.candidates(self).into_iter().next().unwrap_or("gaussian");
            settings.likelihood = name_for(&self.registry, first, train.targets());
        }
        let mut model = initialise(settings.architecture(&self.registry)?, train, start)?;
        settings.adjust(model.parameters_mut())
    }
}

/// Of a target that may stand for classes: two different numbers, or a few whole ones.
fn hint_of_classes(survey: &Survey, name: &str, mut y: impl Iterator<Item = f64>) -> Result<Option<String>, Error> {
    let levels = survey.column(name)?.levels.as_ref().map_or(usize::MAX, |l| l.len());
    let few = levels == 2 || levels <= CLASSES && y.all(|v| v.fract() == 0.0);
    let line = || {
        let (kind, option) = (if levels == 2 { "" } else { "whole " }, survey.origin().option("task"));
        format!("the target \"{name}\" has {levels} different {kind}numbers: {option} classification may be meant")
    };
    Ok(few.then(line))
}

/// The last part of a path: a model file says nothing of folders.
pub(crate) fn origin_name(origin: &Origin) -> String {
    let name = origin.path().and_then(|p| p.file_name());
    name.map_or("a table in memory".to_string(), |n| n.to_string_lossy().into_owned())
}

fn list(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown = names.iter().take(MOST).map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

/// Which rows are learned from.
fn split(whole: &Known, roles: &Roles, seed: u64) -> Result<Split, Error> {
    let fraction = roles.holdout.unwrap_or(HOLDOUT);
    let split = match (&roles.group, &roles.time) {
        (Some(group), _) => Split::by_group(&whole.groups(group)?, fraction, seed),
        (None, Some(time)) => Split::by_time(&whole.times(time)?, fraction),
        (None, None) => Split::random(whole.rows.len(), fraction, seed),
    };
    let place = |rows: Vec<usize>| rows.into_iter().map(|i| whole.rows[i]).collect();
    Ok(Split { train: place(split.train), held_out: place(split.held_out) })
}

/// Which rows are learned from and judged in turn, by their places among those whose target is known.
fn folds(whole: &Known, roles: &Roles, count: usize, seed: u64) -> Result<Vec<Split>, Error> {
    let (folds, what) = match (&roles.group, &roles.time) {
        (Some(group), _) => {
            let folds = Split::folds_by_group(&whole.groups(group)?, count, seed);
            (folds, format!("there are fewer groups in column \"{group}\""))
        }
        (None, Some(time)) => {
            let folds = Split::folds_by_time(&whole.times(time)?, count);
            (folds, format!("column \"{time}\" must have {} different times or more", count + 1))
        }
        (None, None) => {
            let rows = whole.rows.len();
            (Split::folds(rows, count, seed), format!("there are {rows} rows with a known target"))
        }
    };
    folds.ok_or_else(|| Error::setting("folds", count, format!("{}{what}", whole.origin)))
}

impl Known {
    /// Some columns of a table, and its rows of which a target is known.
    fn of(
        table: &Table,
        columns: &[(String, Kind)],
        targets: &[(String, Kind)],
        notes: &mut Vec<String>,
    ) -> Result<Known, Error> {
        let frame = table.read(columns)?;
        let rows = known_rows(&frame, targets)?;
        let file = table.origin().path().map_or(String::new(), |_| format!("{}: ", origin_name(table.origin())));
        match frame.rows() - rows.len() {
            0 => {}
            1 => notes.push(format!("{file}1 row without a target is left out")),
            n => notes.push(format!("{file}{n} rows without a target are left out")),
        }
        Ok(Known { origin: table.origin().clone(), frame, rows })
    }

    /// The group of each row; rows without one are a group.
    fn groups(&self, column: &str) -> Result<Vec<&str>, Error> {
        let texts = self.frame.texts(column)?;
        Ok(self.rows.iter().map(|&r| texts.get(r).unwrap_or("")).collect())
    }

    /// The time of each row.
    fn times(&self, column: &str) -> Result<Vec<f64>, Error> {
        let times = self.frame.numbers(column)?;
        Ok(self.rows.iter().map(|&r| times[r]).collect())
    }
}

/// Columns without those that are the same in all training rows.
fn varying(
    frame: &Frame,
    rows: &[usize],
    columns: Vec<(String, Kind)>,
    notes: &mut Vec<String>,
) -> Result<Vec<(String, Kind)>, Error> {
    let mut kept = Vec::new();
    for (name, kind) in columns {
        let varies = match frame.column(&name)? {
            Column::Numbers(v) => rows.iter().any(|&r| v[r].to_bits() != v[rows[0]].to_bits()),
            Column::Texts(t) => rows.iter().any(|&r| t.get(r) != t.get(rows[0])),
        };
        if varies {
            kept.push((name, kind));
        } else {
            notes.push(format!("column \"{name}\" is the same in all training rows and is ignored"));
        }
    }
    Ok(kept)
}

/// What encoding does to columns.
fn encoding_notes(encoder: &Encoder, survey: &Survey) -> Vec<String> {
    let features = encoder.features();
    let mut notes = Vec::new();
    for (column, kind) in encoder.columns() {
        let own = features.iter().filter(|f| f.column == column).count();
        let missing = survey.column(&column).map_or(0, |c| c.missing);
        match kind {
            Kind::Text if missing > 0 => notes
                .push(format!("column \"{column}\" is text: {own} levels, of which missing is one, one feature each")),
            Kind::Text => notes.push(format!("column \"{column}\" is text: {own} levels, one feature each")),
            Kind::Date(_) => {
                let parts: Vec<&str> = encoder.date_parts(&column).iter().map(|p| p.name()).collect();
                let lacks =
                    if missing > 0 { format!("; {missing} missing: the median instead") } else { String::new() };
                notes.push(format!("column \"{column}\" holds dates: {}{lacks}", parts.join(", ")));
            }
            _ if missing > 0 => notes.push(format!(
                "column \"{column}\" lacks {missing} value{}: the median instead{}",
                if missing == 1 { "" } else { "s" },
                if own > 1 { ", and a feature that says where" } else { "" }
            )),
            _ => {}
        }
    }
    let ignored = encoder.ignored().iter();
    notes.extend(ignored.map(|c| format!("column \"{c}\" has no values in the training rows and is ignored")));
    notes
}

/// Rows to be judged on, without those of classes that no training row has, and where they are in their table.
fn held_out(
    encoder: &Encoder,
    targets: &Targets,
    known: &Known,
    rows: &[usize],
    y: &[f64],
    notes: &mut Vec<String>,
) -> Result<Option<(Dataset, Vec<usize>)>, Error> {
    let seen: Vec<usize> = rows.iter().copied().filter(|&r| targets.is_known(y, r)).collect();
    match rows.len() - seen.len() {
        0 => {}
        1 => notes.push("1 held-out row of a class that no training row has: left out".to_string()),
        n => notes.push(format!("{n} held-out rows of a class that no training row has: left out")),
    }
    let data = (!seen.is_empty()).then(|| dataset(encoder, known, &seen, y)).transpose()?;
    Ok(data.map(|data| (data, seen)))
}

/// Some rows as a model takes them; `y` has the targets of all.
fn dataset(encoder: &Encoder, known: &Known, rows: &[usize], y: &[f64]) -> Result<Dataset, Error> {
    let (x, _) = encoder.encode_rows(&known.frame, rows)?;
    let targets = y.len() / known.frame.rows();
    let y: Vec<f64> = rows.iter().flat_map(|&r| y[r * targets..][..targets].iter().copied()).collect();
    let x = MatRef::from_column_major_slice(&x, encoder.width(), rows.len());
    let data = Dataset::to_judge(x, MatRef::from_column_major_slice(&y, targets, rows.len()));
    data.map_err(|e| Error::data(&known.origin, e))
}
