//! Named parameters: what optimisers change, files hold and users set.
//!
//! A parameter is a matrix. Optimisers see it without constraints; a positive one is kept as its logarithm.
//!
//! ```
//! use dkp::params::{Constraint, Parameters};
//! let mut parameters = Parameters::default();
//! parameters.add("noise", 1, 1, Constraint::Above(1e-4), &[0.1])?;
//! parameters.add("lengthscale", 1, 1, Constraint::Positive, &[2.0])?;
//! parameters.set("lengthscale", &[3.0])?;
//! assert!((parameters.get("lengthscale")?[0] - 3.0).abs() < 1e-15);
//! let error = parameters.set("noise", &[-1.0]).unwrap_err();
//! assert_eq!(error.to_string(), "parameter \"noise\" must be greater than 0.0001, but element 0 is -1");
//! # Ok::<(), dkp::params::Error>(())
//! ```

use dkp_tape::{Node, Tape};
use std::collections::HashMap;

/// Values that a parameter may have, and how it is kept for optimisers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraint {
    /// Any: kept as it is.
    Free,
    /// x > 0: kept as log x.
    Positive,
    /// x > a: kept as log(x − a).
    Above(f64),
}

impl Constraint {
    /// The value from what is kept.
    pub fn value(self, kept: f64) -> f64 {
        match self {
            Constraint::Free => kept,
            Constraint::Positive => kept.exp(),
            Constraint::Above(floor) => floor + kept.exp(),
        }
    }

    /// What is kept of a value, if it may be.
    pub fn keep(self, value: f64) -> Option<f64> {
        let kept = match self {
            Constraint::Free => value,
            Constraint::Positive => value.ln(),
            Constraint::Above(floor) => (value - floor).ln(),
        };
        kept.is_finite().then_some(kept)
    }

    fn describe(self) -> String {
        match self {
            Constraint::Free => "finite".to_string(),
            Constraint::Positive => "positive and finite".to_string(),
            Constraint::Above(floor) => format!("greater than {floor}"),
        }
    }

    fn record(self, tape: &mut Tape, kept: Node) -> Node {
        match self {
            Constraint::Free => kept,
            Constraint::Positive => tape.exp(kept),
            Constraint::Above(floor) => {
                let above = tape.exp(kept);
                tape.affine(above, 1.0, floor)
            }
        }
    }
}

/// A parameter without values: what a part of a model says of one that it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Its name, within the part.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// What values it may have.
    pub constraint: Constraint,
}

impl Shape {
    /// A parameter of this name.
    pub fn new(name: impl Into<String>, rows: usize, cols: usize, constraint: Constraint) -> Shape {
        Shape { name: name.into(), rows, cols, constraint }
    }

    /// The same by its name in a model: `layer 1.delta`.
    pub(crate) fn within(self, part: &str) -> Shape {
        Shape { name: format!("{part}.{}", self.name), ..self }
    }
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: `layer 1.kernel.lengthscale`.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// What values it may have.
    pub constraint: Constraint,
    /// Whether it stays as it is in training.
    pub frozen: bool,
    /// What optimisers see, column by column.
    pub kept: Vec<f64>,
    /// The parameter whose values this one shares.
    tied: Option<usize>,
}

/// What cannot be done with parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No parameter has this name.
    #[error("there is no parameter \"{name}\"; the nearest name is \"{nearest}\"")]
    Unknown {
        /// The name.
        name: String,
        /// One that exists.
        nearest: String,
    },
    /// A name that is taken.
    #[error("there is a parameter \"{0}\" already")]
    Duplicate(String),
    /// The wrong number of values.
    #[error("parameter \"{name}\" is {rows}×{cols}, but {found} values were given")]
    Count {
        /// The parameter.
        name: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// Values given.
        found: usize,
    },
    /// A value that it may not have.
    #[error("parameter \"{name}\" must be {expected}, but element {element} is {value}")]
    Value {
        /// The parameter.
        name: String,
        /// Its constraint.
        expected: String,
        /// The element, from 0, column by column.
        element: usize,
        /// Its value.
        value: f64,
    },
    /// Two parameters that cannot be tied.
    #[error("parameters \"{0}\" and \"{1}\" have different shapes or constraints and cannot be tied")]
    Untieable(String, String),
}

/// A model's parameters, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    list: Vec<Parameter>,
    index: HashMap<String, usize>,
}

impl Parameters {
    /// Adds a parameter with its values.
    pub fn add(
        &mut self,
        name: &str,
        rows: usize,
        cols: usize,
        constraint: Constraint,
        values: &[f64],
    ) -> Result<(), Error> {
        if self.index.contains_key(name) {
            return Err(Error::Duplicate(name.to_string()));
        }
        let mut parameter =
            Parameter { name: name.to_string(), rows, cols, constraint, frozen: false, kept: Vec::new(), tied: None };
        parameter.kept = keep(&parameter, values)?;
        self.index.insert(name.to_string(), self.list.len());
        self.list.push(parameter);
        Ok(())
    }

    /// Adds a parameter as optimisers see it.
    pub(crate) fn add_kept(
        &mut self,
        name: &str,
        rows: usize,
        cols: usize,
        constraint: Constraint,
        kept: Vec<f64>,
    ) -> Result<(), Error> {
        let values: Vec<f64> = kept.iter().map(|&k| constraint.value(k)).collect();
        self.add(name, rows, cols, constraint, &values)?;
        // a logarithm's logarithm would round
        if let Some(last) = self.list.last_mut() {
            last.kept = kept;
        }
        Ok(())
    }

    /// All parameters.
    pub fn iter(&self) -> impl Iterator<Item = &Parameter> {
        self.list.iter()
    }

    /// The values of a parameter, column by column.
    pub fn get(&self, name: &str) -> Result<Vec<f64>, Error> {
        let parameter = &self.list[self.source(self.find(name)?)];
        Ok(parameter.kept.iter().map(|&k| parameter.constraint.value(k)).collect())
    }

    /// Sets a parameter, and those that are tied to it.
    pub fn set(&mut self, name: &str, values: &[f64]) -> Result<(), Error> {
        let source = self.source(self.find(name)?);
        self.list[source].kept = keep(&self.list[source], values)?;
        Ok(())
    }

    /// Keeps a parameter as it is in training, or lets it go.
    pub fn freeze(&mut self, name: &str, frozen: bool) -> Result<(), Error> {
        let source = self.source(self.find(name)?);
        self.list[source].frozen = frozen;
        Ok(())
    }

    /// Makes `name` share the values of `with` from now on; if either is frozen, both are.
    pub fn tie(&mut self, name: &str, with: &str) -> Result<(), Error> {
        let (i, source) = (self.find(name)?, self.source(self.find(with)?));
        let (a, b) = (&self.list[i], &self.list[source]);
        if (a.rows, a.cols, a.constraint) != (b.rows, b.cols, b.constraint) {
            return Err(Error::Untieable(name.to_string(), with.to_string()));
        }
        if self.source(i) != source {
            self.list[i].tied = Some(source);
            // what was frozen stays so: both are
            let frozen = std::mem::take(&mut self.list[i].frozen);
            self.list[source].frozen |= frozen;
        }
        Ok(())
    }

    /// Those that training changes: neither frozen nor tied to another.
    pub fn free(&self) -> impl Iterator<Item = &Parameter> {
        self.list.iter().filter(|p| !p.frozen && p.tied.is_none())
    }

    /// The same, to be changed.
    pub fn free_mut(&mut self) -> impl Iterator<Item = &mut Parameter> {
        self.list.iter_mut().filter(|p| !p.frozen && p.tied.is_none())
    }

    /// All of them, to be restored.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Parameter> {
        self.list.iter_mut()
    }

    /// The parameter whose values `name` shares.
    pub(crate) fn tied(&self, name: &str) -> Option<&str> {
        let own = self.list.get(*self.index.get(name)?)?;
        own.tied.map(|with| self.list[with].name.as_str())
    }

    fn find(&self, name: &str) -> Result<usize, Error> {
        self.index.get(name).copied().ok_or_else(|| {
            let common = |p: &&Parameter| p.name.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
            let nearest = self.list.iter().max_by_key(common).map_or(String::new(), |p| p.name.clone());
            Error::Unknown { name: name.to_string(), nearest }
        })
    }

    /// The parameter that holds another's values.
    fn source(&self, mut i: usize) -> usize {
        while let Some(next) = self.list[i].tied {
            i = next;
        }
        i
    }
}

fn keep(parameter: &Parameter, values: &[f64]) -> Result<Vec<f64>, Error> {
    let Parameter { name, rows, cols, constraint, .. } = parameter;
    if values.len() != rows * cols {
        return Err(Error::Count { name: name.clone(), rows: *rows, cols: *cols, found: values.len() });
    }
    let keep = |(element, &value): (usize, &f64)| {
        let error = || Error::Value { name: name.clone(), expected: constraint.describe(), element, value };
        constraint.keep(value).ok_or_else(error)
    };
    values.iter().enumerate().map(keep).collect()
}

/// Parameters as nodes of a program being recorded: leaves, or inputs where they are frozen.
pub struct ParameterNodes<'a> {
    parameters: &'a Parameters,
    /// Leaf and value of each parameter that was asked for.
    nodes: HashMap<usize, (Node, Node)>,
}

impl<'a> ParameterNodes<'a> {
    /// For a program that uses these.
    pub fn new(parameters: &'a Parameters) -> ParameterNodes<'a> {
        ParameterNodes { parameters, nodes: HashMap::new() }
    }

    /// The value of a parameter.
    ///
    /// # Panics
    ///
    /// If there is none of that name: a model asks for what it has added.
    #[track_caller]
    pub fn get(&mut self, tape: &mut Tape, name: &str) -> Node {
        let i = self.parameters.find(name).unwrap_or_else(|e| panic!("{e}"));
        let source = self.parameters.source(i);
        let (_, value) = *self.nodes.entry(source).or_insert_with(|| {
            let p = &self.parameters.list[source];
            let leaf = if p.frozen { tape.input(&p.name, p.rows, p.cols) } else { tape.leaf(&p.name, p.rows, p.cols) };
            (leaf, p.constraint.record(tape, leaf))
        });
        value
    }

    /// The leaves, by the position of their parameter.
    pub fn leaves(self) -> Vec<(usize, Node)> {
        let mut leaves: Vec<(usize, Node)> = self.nodes.into_iter().map(|(i, (leaf, _))| (i, leaf)).collect();
        leaves.sort_by_key(|&(i, _)| i);
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Parameters {
        let mut p = Parameters::default();
        p.add("a", 1, 2, Constraint::Positive, &[1.0, 2.0]).unwrap();
        p.add("b", 1, 2, Constraint::Positive, &[3.0, 4.0]).unwrap();
        p.add("c", 2, 1, Constraint::Free, &[-1.0, 0.0]).unwrap();
        p
    }

    #[test]
    fn a_tied_parameter_follows_the_other_both_ways() {
        let mut p = three();
        p.tie("b", "a").unwrap();
        p.tie("a", "b").unwrap();
        assert_eq!(p.get("b").unwrap(), p.get("a").unwrap());
        p.set("b", &[5.0, 6.0]).unwrap();
        assert!((p.get("a").unwrap()[1] - 6.0).abs() < 1e-14);
        assert_eq!(p.free().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        p.freeze("b", false).unwrap();
        let mut q = three();
        q.freeze("b", true).unwrap();
        q.tie("b", "a").unwrap();
        assert_eq!(q.free().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["c"]);
        assert_eq!(p.tie("c", "a"), Err(Error::Untieable("c".into(), "a".into())));
    }

    #[test]
    fn a_frozen_parameter_is_an_input_and_a_tied_one_has_no_leaf() {
        let mut p = three();
        p.tie("b", "a").unwrap();
        p.freeze("c", true).unwrap();
        let (mut tape, mut nodes) = (Tape::new("step"), ParameterNodes::new(&p));
        let (a, b) = (nodes.get(&mut tape, "a"), nodes.get(&mut tape, "b"));
        nodes.get(&mut tape, "c");
        assert_eq!(a, b);
        assert_eq!(nodes.leaves().iter().map(|l| l.0).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn mistakes_are_named() {
        let mut p = three();
        assert_eq!(p.get("bb").unwrap_err().to_string(), "there is no parameter \"bb\"; the nearest name is \"b\"");
        assert_eq!(p.set("a", &[1.0]).unwrap_err().to_string(), "parameter \"a\" is 1×2, but 1 values were given");
        assert_eq!(
            p.set("a", &[1.0, f64::NAN]).unwrap_err().to_string(),
            "parameter \"a\" must be positive and finite, but element 1 is NaN"
        );
        assert_eq!(p.add("a", 1, 1, Constraint::Free, &[0.0]), Err(Error::Duplicate("a".into())));
    }
}
