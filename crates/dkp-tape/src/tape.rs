//! Recording.

use crate::layout::place_adjoints;
use crate::node::{Node, Shape, TapeId};
use crate::operation::Operation;
use crate::program::{Gradient, Kind, Program, Slot, Value, aligned};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A program being recorded: call operations on nodes, declare outputs, then [`finish`](Tape::finish).
///
/// Recording computes nothing; it fixes shapes and memory. A tape that is nested in another
/// ([`nested`](Tape::nested)) may use the other's nodes as they are: they become leaves whose values are read where they
/// stand, and whose gradients flow back.
///
/// # Panics
///
/// Mistakes in recording are mistakes in the program's text, so they panic where they are made, with the operation and the shapes:
/// arguments whose shapes do not fit, a node from a tape that does not enclose this one, an output that is not 1×1.
///
/// ```
/// use dkp_tape::{Pass, Tape, random::Key};
/// let mut tape = Tape::new("squared distance");
/// let x = tape.leaf("x", 3, 1);
/// let y = tape.input("y", 3, 1);
/// let d = tape.subtract(x, y);
/// let f = tape.squared_norm(d);
/// tape.output("f", f);
/// let mut run = tape.finish().workspace();
/// run.set_slice(x, &[1.0, 2.0, 3.0])?;
/// run.set_slice(y, &[0.0, 0.0, 1.0])?;
/// run.forward(Key::new(0), Pass::Gradient)?;
/// run.backward(&[1.0])?;
/// assert_eq!(run.scalar(f), 9.0);
/// assert_eq!(run.gradient(x)[(2, 0)], 4.0);
/// # Ok::<(), dkp_tape::Failure>(())
/// ```
pub struct Tape {
    id: TapeId,
    name: String,
    ancestors: Vec<TapeId>,
    /// What nested tapes read of this one, and of each ancestor.
    read: Reads,
    outer_reads: Vec<Reads>,
    slots: Vec<Slot>,
    kinds: Vec<Kind>,
    section: Arc<str>,
    imported: HashMap<(TapeId, u32), Node>,
    outputs: Vec<(String, Node)>,
    sites: u32,
    point_count: Option<usize>,
    values: usize,
    gradients: usize,
    scratch: usize,
}

/// Nodes of a tape that nested ones read, until it is finished.
type Reads = Arc<Mutex<Option<Vec<u32>>>>;

/// Memory that an operation asks for, in numbers.
#[derive(Clone, Copy, Default)]
pub struct Memory {
    /// Kept from the forward pass to the adjoint.
    pub saved: usize,
    /// Used within a call.
    pub scratch: usize,
}

impl Tape {
    /// A program that stands alone or encloses others.
    pub fn new(name: &str) -> Tape {
        Tape::with_ancestors(name, Vec::new(), Vec::new())
    }

    /// A program that runs inside this one and may read its nodes.
    pub fn nested(&self, name: &str) -> Tape {
        let (mut ancestors, mut reads) = (self.ancestors.clone(), self.outer_reads.clone());
        ancestors.push(self.id);
        reads.push(self.read.clone());
        Tape::with_ancestors(name, ancestors, reads)
    }

    fn with_ancestors(name: &str, ancestors: Vec<TapeId>, outer_reads: Vec<Reads>) -> Tape {
        Tape {
            id: TapeId::fresh(),
            name: name.to_string(),
            ancestors,
            read: Arc::new(Mutex::new(Some(Vec::new()))),
            outer_reads,
            slots: Vec::new(),
            kinds: Vec::new(),
            section: Arc::from(""),
            imported: HashMap::new(),
            outputs: Vec::new(),
            sites: 0,
            point_count: None,
            values: 0,
            gradients: 0,
            scratch: 0,
        }
    }

    /// Names what is recorded from here on, for messages: `tape.section("layer 2")`.
    pub fn section(&mut self, name: &str) {
        self.section = Arc::from(name);
    }

    /// A matrix that is set before a run and receives a gradient.
    #[track_caller]
    pub fn leaf(&mut self, name: &str, rows: usize, cols: usize) -> Node {
        self.push(Kind::Leaf { name: name.to_string(), differentiable: true }, Shape(rows, cols), 0, true)
    }

    /// A matrix that is set before a run and receives no gradient: data.
    #[track_caller]
    pub fn input(&mut self, name: &str, rows: usize, cols: usize) -> Node {
        self.push(Kind::Leaf { name: name.to_string(), differentiable: false }, Shape(rows, cols), 0, false)
    }

    /// A fixed matrix, given column by column.
    #[track_caller]
    pub fn constant(&mut self, rows: usize, cols: usize, values: &[f64]) -> Node {
        assert!(values.len() == rows * cols, "constant: {rows}×{cols} matrix from {} numbers", values.len());
        assert!(values.iter().all(|v| v.is_finite()), "constant: a value is not finite");
        self.push(Kind::Constant(values.to_vec()), Shape(rows, cols), 0, false)
    }

    /// A fixed number, as a 1×1 matrix.
    #[track_caller]
    pub fn number(&mut self, value: f64) -> Node {
        self.constant(1, 1, &[value])
    }

    /// Declares that the program handles `count` data points, whose ids are set before a run
    /// ([`Workspace::set_point_ids`](crate::Workspace::set_point_ids)): they address the random numbers of each point.
    #[track_caller]
    pub fn points(&mut self, count: usize) {
        assert!(self.point_count.is_none_or(|c| c == count), "points: already declared with another count");
        self.point_count = Some(count);
    }

    /// Declares a 1×1 node as a result of the program.
    #[track_caller]
    pub fn output(&mut self, name: &str, node: Node) {
        let own = node.tape == self.id;
        assert!(own, "output \"{name}\": the node is not computed in \"{}\"", self.name);
        assert!(node.len() == 1, "output \"{name}\": a 1×1 node is expected, not {}", node.shape());
        self.outputs.push((name.to_string(), node));
    }

    /// Ends the recording. Nested tapes read no further nodes of it then.
    pub fn finish(mut self) -> Arc<Program> {
        let read = self.read.lock().unwrap_or_else(|e| e.into_inner()).take().unwrap_or_default();
        let outside: Vec<u32> = self.outputs.iter().map(|(_, node)| node.index).chain(read.iter().copied()).collect();
        let adjoints = place_adjoints(&mut self.slots, &self.kinds, &outside);
        Arc::new(Program {
            id: self.id,
            name: self.name,
            ancestors: self.ancestors,
            slots: self.slots,
            kinds: self.kinds,
            imported: self.imported,
            outputs: self.outputs,
            point_count: self.point_count,
            values: self.values,
            read,
            adjoints,
            gradients: self.gradients,
            scratch: self.scratch,
        })
    }

    /// Records an operation of your own on `arguments`, with a result of the given shape.
    ///
    /// The shapes are the caller's to check. See [`Operation`].
    #[track_caller]
    pub fn record(
        &mut self,
        op: Box<dyn Operation>,
        arguments: &[Node],
        shape: (usize, usize),
        memory: Memory,
    ) -> Node {
        let name = op.name();
        let arguments: Vec<Node> = arguments.iter().map(|&a| self.own(name, a)).collect();
        let differentiable = arguments.iter().any(|a| a.differentiable);
        self.scratch = self.scratch.max(memory.scratch);
        let kind = Kind::Operation {
            op,
            arguments: arguments.iter().map(|a| a.index).collect(),
            saved: memory.saved,
            section: self.section.clone(),
        };
        self.push(kind, Shape(shape.0, shape.1), memory.saved, differentiable)
    }

    /// The number of the next random node.
    pub(crate) fn next_site(&mut self) -> u32 {
        self.sites += 1;
        self.sites - 1
    }

    /// The declared number of data points.
    #[track_caller]
    pub(crate) fn declared_points(&self, operation: &str) -> usize {
        self.point_count.unwrap_or_else(|| panic!("{operation}: declare the number of data points with `points` first"))
    }

    #[track_caller]
    fn push(&mut self, kind: Kind, shape: Shape, saved: usize, differentiable: bool) -> Node {
        let Shape(rows, cols) = shape;
        assert!(rows > 0 && cols > 0, "{}: a node needs at least one element, not {shape}", kind.describe());
        assert!(rows < 1 << 31 && cols < 1 << 31, "{}: {shape} is too large", kind.describe());
        let size = aligned(rows * cols);
        let value = match kind {
            Kind::Outer { depth, index } => Value::Outer { depth, index },
            _ => {
                let offset = self.values;
                self.values += size + aligned(saved);
                Value::Own(offset)
            }
        };
        let gradient = match kind {
            _ if !differentiable => Gradient::None,
            Kind::Leaf { .. } | Kind::Outer { .. } => {
                self.gradients += size;
                Gradient::Leaf(self.gradients - size)
            }
            // its place is known when all that reads it is
            _ => Gradient::Inner(0),
        };
        self.slots.push(Slot { rows, cols, value, gradient });
        self.kinds.push(kind);
        let index = self.slots.len() as u32 - 1;
        Node { tape: self.id, index, rows: rows as u32, cols: cols as u32, differentiable }
    }

    /// This tape's node for an argument: the node itself, or a leaf that reads an enclosing tape's node.
    #[track_caller]
    fn own(&mut self, operation: &str, node: Node) -> Node {
        if node.tape == self.id {
            return node;
        }
        if let Some(&known) = self.imported.get(&(node.tape, node.index)) {
            return known;
        }
        let Some(depth) = self.ancestors.iter().position(|&a| a == node.tape) else {
            panic!(
                "{operation}: the {} argument belongs to a tape that does not enclose \"{}\"",
                node.shape(),
                self.name
            );
        };
        match &mut *self.outer_reads[depth].lock().unwrap_or_else(|e| e.into_inner()) {
            Some(read) => read.push(node.index),
            None => panic!(
                "{operation}: the tape of the {} argument is finished; finish it after those in it",
                node.shape()
            ),
        }
        let kind = Kind::Outer { depth, index: node.index as usize };
        let own = self.push(kind, node.shape(), 0, node.differentiable);
        self.imported.insert((node.tape, node.index), own);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "add: the 2×3 argument belongs to a tape that does not enclose \"second\"")]
    fn a_node_of_another_tape_is_refused() {
        let (mut first, mut second) = (Tape::new("first"), Tape::new("second"));
        let (a, b) = (first.leaf("a", 2, 3), second.leaf("b", 2, 3));
        second.add(a, b);
    }

    #[test]
    #[should_panic(expected = "does not enclose \"outer\"")]
    fn an_enclosing_tape_cannot_read_a_nested_ones_node() {
        let mut outer = Tape::new("outer");
        let mut inner = outer.nested("inner");
        let a = inner.leaf("a", 1, 1);
        outer.exp(a);
    }

    #[test]
    fn a_nested_tape_reads_every_enclosing_one() {
        let mut outer = Tape::new("outer");
        let a = outer.leaf("a", 1, 1);
        let mut middle = outer.nested("middle");
        let b = middle.exp(a);
        let mut inner = middle.nested("inner");
        let c = inner.add(a, b);
        assert_eq!((c.rows(), c.cols(), c.len(), c.is_empty()), (1, 1, 1, false));
    }

    #[test]
    #[should_panic(expected = "output \"f\": a 1×1 node is expected, not 2×1")]
    fn an_output_that_is_a_matrix_is_refused() {
        let mut tape = Tape::new("tape");
        let a = tape.leaf("a", 2, 1);
        tape.output("f", a);
    }

    #[test]
    #[should_panic(expected = "leaf \"a\": a node needs at least one element, not 0×3")]
    fn an_empty_node_is_refused() {
        Tape::new("tape").leaf("a", 0, 3);
    }

    #[test]
    #[should_panic(expected = "point_normals: declare the number of data points with `points` first")]
    fn random_numbers_of_points_need_their_count() {
        Tape::new("tape").point_normals(3);
    }
}
