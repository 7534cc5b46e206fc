//! A finished recording.

use crate::node::{Node, TapeId};
use crate::operation::Operation;
use crate::workspace::Workspace;
use std::collections::HashMap;
use std::sync::Arc;

/// A recorded program: immutable, and shared by the workspaces that run it.
pub struct Program {
    pub(crate) id: TapeId,
    pub(crate) name: String,
    pub(crate) ancestors: Vec<TapeId>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) kinds: Vec<Kind>,
    /// This program's leaves for nodes of enclosing ones.
    pub(crate) imported: HashMap<(TapeId, u32), Node>,
    pub(crate) outputs: Vec<(String, Node)>,
    /// Nodes that nested programs read.
    pub(crate) read: Vec<u32>,
    pub(crate) point_count: Option<usize>,
    /// Lengths of a workspace's buffers.
    pub(crate) values: usize,
    pub(crate) adjoints: usize,
    pub(crate) gradients: usize,
    pub(crate) scratch: usize,
}

impl Program {
    /// Memory to run this program in; several may run it at once.
    pub fn workspace(self: &Arc<Program>) -> Workspace {
        Workspace::new(self.clone())
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the outputs, in the order in which they were declared.
    pub fn output_names(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().map(|(name, _)| name.as_str())
    }

    /// Bytes that one workspace takes.
    pub fn bytes(&self) -> usize {
        (self.values + self.adjoints + self.gradients + self.scratch) * size_of::<f64>()
    }
}

/// Buffers start at multiples of a cache line: eight numbers.
pub(crate) fn aligned(len: usize) -> usize {
    len.next_multiple_of(8)
}

/// Shape and place of a node.
pub(crate) struct Slot {
    pub rows: usize,
    pub cols: usize,
    pub value: Value,
    pub gradient: Gradient,
}

impl Slot {
    pub(crate) fn adjoint_size(&self) -> usize {
        aligned(self.rows * self.cols)
    }

    pub(crate) fn values<'a>(&self, own: &'a [f64], outer: &[&'a Workspace]) -> &'a [f64] {
        match self.value {
            Value::Own(offset) => &own[offset..offset + self.rows * self.cols],
            Value::Outer { depth, index } => outer[depth].slice(index),
        }
    }
}

/// Where a node's value stands.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    Own(usize),
    Outer { depth: usize, index: usize },
}

/// Where a node's adjoint stands: leaves accumulate over runs, inner nodes within one.
#[derive(Clone, Copy)]
pub(crate) enum Gradient {
    None,
    Leaf(usize),
    Inner(usize),
}

/// How a node comes by its value.
pub(crate) enum Kind {
    Leaf { name: String, differentiable: bool },
    Constant(Vec<f64>),
    Outer { depth: usize, index: usize },
    Operation { op: Box<dyn Operation>, arguments: Vec<u32>, saved: usize, section: Arc<str> },
}

impl Kind {
    pub(crate) fn describe(&self) -> String {
        match self {
            Kind::Leaf { name, differentiable: true } => format!("leaf \"{name}\""),
            Kind::Leaf { name, differentiable: false } => format!("input \"{name}\""),
            Kind::Constant(_) => "constant".to_string(),
            Kind::Outer { .. } => "node".to_string(),
            Kind::Operation { op, .. } => op.name().to_string(),
        }
    }
}
impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "program \"{}\" of {} nodes", self.name, self.slots.len())
    }
}
