//! Columns among the features that a model sees, and back to what a table has in them.

use crate::Card;
use dkp_report::Place;
use dkp_table::{DatePart, Kind};
use std::f64::consts::TAU;
use std::ops::Range;

/// A column as features.
pub(crate) struct FeatureColumn {
    /// Its name.
    pub name: String,
    /// Its features.
    pub features: Range<usize>,
    kind: Kind,
    /// What its features say, but for the column's name: texts.
    levels: Vec<String>,
    /// Whether the last feature says that the value is missing.
    missing: bool,
}

impl FeatureColumn {
    /// None if a table has no value of it: where dates do not differ, say.
    pub fn of(card: &Card, name: &str) -> Option<FeatureColumn> {
        let all = card.encoder.features();
        let first = all.iter().position(|f| f.column == name)?;
        let own: Vec<&str> = all[first..].iter().take_while(|f| f.column == name).map(|f| f.name.as_str()).collect();
        let kind = card.columns().into_iter().find(|c| c.0 == name)?.1;
        let level = |feature: &&str| feature.strip_prefix(&format!("{name} = ")).unwrap_or(feature).to_string();
        let levels = if kind == Kind::Text { own.iter().map(level).collect() } else { Vec::new() };
        let missing = kind != Kind::Text && own.last() == Some(&format!("{name} is missing").as_str());
        let features = first..first + own.len();
        (own.len() > usize::from(missing)).then(|| FeatureColumn {
            name: name.to_string(),
            features,
            kind,
            levels,
            missing,
        })
    }

    /// The value of a point in the model's scale; none where it is missing.
    pub fn place(&self, card: &Card, x: &[f64]) -> Option<Place> {
        let value = |i: usize| card.feature_scale.value(i, x[i]);
        let Range { start, end } = self.features;
        if self.missing && value(end - 1) > 0.5 {
            return None;
        }
        Some(match self.kind {
            Kind::Number | Kind::Written(_) => Place::Number(value(start)),
            Kind::Bool => Place::Level(if value(start) > 0.5 { "true" } else { "false" }.to_string()),
            Kind::Date(_) if card.encoder.date_parts(&self.name).first() == Some(&DatePart::Position) => {
                Place::Date(value(start))
            }
            // sine and cosine of the time of day
            Kind::Date(_) => Place::Clock((value(start).atan2(value(start + 1)) / TAU).rem_euclid(1.0)),
            Kind::Text => {
                let level = self.features.clone().position(|i| value(i) > 0.5);
                Place::Level(level.map_or("(unseen)".to_string(), |level| self.levels[level].clone()))
            }
        })
    }
}
