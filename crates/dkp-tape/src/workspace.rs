//! Memory in which a program runs.

use crate::failure::{Failure, Place, Problem};
use crate::math::vectorized;
use crate::node::{Node, Shape};
use crate::operation::{Adjoint, Forward, Inputs, Jitter, Target, Targets};
use crate::program::{Gradient, Kind, Program, Value, aligned};
use crate::random::Key;
use aligned_vec::{AVec, ConstAlign};
use faer::{Accum, MatMut, MatRef};
use std::sync::Arc;

/// Numbers at cache-line boundaries.
pub(crate) type Buffer = AVec<f64, ConstAlign<64>>;

pub(crate) fn buffer(len: usize) -> Buffer {
    AVec::from_iter(64, std::iter::repeat_n(0.0, len))
}

/// What a forward pass prepares for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Values only.
    Value,
    /// Values, and what [`Workspace::backward`] needs.
    Gradient,
}

/// Values and gradients of one program in execution. Nothing is allocated after it is made.
pub struct Workspace {
    program: Arc<Program>,
    values: Buffer,
    /// Adjoints of inner nodes, meaningful where `touched`.
    adjoints: Buffer,
    /// Gradients of leaves, which add up until they are cleared; meaningful where `touched`, which a backward pass makes all of them.
    pub(crate) gradients: Buffer,
    touched: Vec<bool>,
    scratch: Buffer,
    ids: Vec<u64>,
    ids_set: bool,
    is_set: Vec<bool>,
    /// What the last forward pass left here, if no leaf has changed since.
    ready: Option<Pass>,
    jitter: Jitter,
}

impl Workspace {
    pub(crate) fn new(program: Arc<Program>) -> Workspace {
        let mut values = buffer(program.values);
        for (slot, kind) in program.slots.iter().zip(&program.kinds) {
            if let (Kind::Constant(constant), Value::Own(offset)) = (kind, slot.value) {
                values[offset..offset + constant.len()].copy_from_slice(constant);
            }
        }
        Workspace {
            values,
            adjoints: buffer(program.adjoints),
            gradients: buffer(program.gradients),
            touched: program.slots.iter().map(|s| matches!(s.gradient, Gradient::Leaf(_))).collect(),
            scratch: buffer(program.scratch),
            ids: vec![0; program.point_count.unwrap_or(0)],
            ids_set: program.point_count.is_none(),
            is_set: program.kinds.iter().map(|k| !matches!(k, Kind::Leaf { .. })).collect(),
            ready: None,
            jitter: Jitter::default(),
            program,
        }
    }

    /// Sets a leaf or an input from elements in column-major order.
    ///
    /// # Panics
    ///
    /// If the node is no leaf of this program, or the number of elements is wrong.
    #[track_caller]
    pub fn set_slice(&mut self, leaf: Node, values: &[f64]) -> Result<(), Failure> {
        assert!(values.len() == leaf.len(), "set_slice: {} numbers for a {} leaf", values.len(), leaf.shape());
        self.set_with(leaf, |own| own.copy_from_slice(values))
    }

    /// Sets a leaf or an input.
    ///
    /// # Panics
    ///
    /// If the node is no leaf of this program, or the shape is wrong.
    #[track_caller]
    pub fn set(&mut self, leaf: Node, values: MatRef<'_, f64>) -> Result<(), Failure> {
        let shape = Shape(values.nrows(), values.ncols());
        assert!(shape == leaf.shape(), "set: {shape} numbers for a {} leaf", leaf.shape());
        self.set_with(leaf, |own| {
            MatMut::from_column_major_slice_mut(own, leaf.rows(), leaf.cols()).copy_from(values);
        })
    }

    /// Sets a leaf or an input by what `fill` writes to its elements, which stand in column-major order.
    ///
    /// # Panics
    ///
    /// If the node is no leaf of this program.
    #[track_caller]
    pub fn set_with(&mut self, leaf: Node, fill: impl FnOnce(&mut [f64])) -> Result<(), Failure> {
        let index = self.index("set", leaf);
        let Kind::Leaf { .. } = &self.program.kinds[index] else {
            panic!("set: node {index} of \"{}\" is no leaf", self.program.name)
        };
        let Value::Own(offset) = self.program.slots[index].value else { unreachable!("a leaf has its own value") };
        self.ready = None;
        let own = &mut self.values[offset..offset + leaf.len()];
        fill(own);
        if let Some((row, col, value)) = first_not_finite(own, leaf.rows()) {
            self.is_set[index] = false;
            let problem = Problem::NonFiniteLeaf { row, col, value };
            return Err(Failure { place: self.place(index), problem });
        }
        self.is_set[index] = true;
        Ok(())
    }

    /// Sets the ids of the data points, which address their random numbers.
    ///
    /// # Panics
    ///
    /// If the number of ids is not the declared one.
    #[track_caller]
    pub fn set_point_ids(&mut self, ids: &[u64]) {
        assert!(ids.len() == self.ids.len(), "set_point_ids: {} ids for {} data points", ids.len(), self.ids.len());
        self.ids.copy_from_slice(ids);
        self.ids_set = true;
        self.ready = None;
    }

    /// Forgets what inputs, leaves and point ids were set, so that a run without new ones is refused.
    pub(crate) fn forget(&mut self) {
        let kinds = self.program.kinds.iter();
        self.is_set.iter_mut().zip(kinds).for_each(|(set, kind)| *set = !matches!(kind, Kind::Leaf { .. }));
        self.ids_set = self.program.point_count.is_none();
        self.ready = None;
    }

    /// Runs a program that is not nested.
    ///
    /// # Panics
    ///
    /// If a leaf or the point ids were never set.
    pub fn forward(&mut self, key: Key, pass: Pass) -> Result<(), Failure> {
        self.forward_within(&[], key, pass)
    }

    /// Runs a nested program; `outer` are workspaces of the enclosing programs, outermost first, after their own forward passes.
    ///
    /// # Panics
    ///
    /// If a leaf or the point ids were never set, or `outer` are not workspaces of the enclosing programs, each run forward.
    pub fn forward_within(&mut self, outer: &[&Workspace], key: Key, pass: Pass) -> Result<(), Failure> {
        self.check_outer(outer);
        self.ready = None;
        self.jitter = Jitter::default();
        self.forget_adjoints();
        let program = self.program.clone();
        assert!(self.ids_set, "forward: the point ids of \"{}\" have not been set", program.name);
        for (index, kind) in program.kinds.iter().enumerate() {
            let Kind::Operation { op, arguments, saved, .. } = kind else {
                assert!(self.is_set[index], "forward: {} of \"{}\" has not been set", kind.describe(), program.name);
                continue;
            };
            let slot = &program.slots[index];
            let Value::Own(offset) = slot.value else { unreachable!("an operation has its own value") };
            let (before, rest) = self.values.split_at_mut(offset);
            let size = slot.rows * slot.cols;
            let (output, rest) = rest.split_at_mut(aligned(size));
            let done = op.forward(Forward {
                inputs: Inputs { slots: &program.slots, arguments, own: before, outer },
                output: &mut output[..size],
                rows: slot.rows,
                saved: &mut rest[..*saved],
                scratch: &mut self.scratch,
                gradient: pass == Pass::Gradient,
                key,
                depth: program.ancestors.len() as u32,
                point_ids: &self.ids,
                jitter: &mut self.jitter,
            });
            if let Err(problem) = done {
                return Err(Failure { place: self.place(index), problem });
            }
        }
        self.check_outputs()?;
        self.ready = Some(pass);
        Ok(())
    }

    /// Carries gradients of Σ weightᵢ·outputᵢ back to the leaves, where they are added to what is there.
    ///
    /// # Panics
    ///
    /// If the number of weights is not the number of outputs, or no forward pass for a gradient went before.
    #[track_caller]
    pub fn backward(&mut self, weights: &[f64]) -> Result<(), Failure> {
        self.backward_within(&[], weights)
    }

    /// [`backward`](Workspace::backward) for a nested program, with the same `outer` as in the forward pass.
    #[track_caller]
    pub fn backward_within(&mut self, outer: &[&Workspace], weights: &[f64]) -> Result<(), Failure> {
        self.check_outer(outer);
        let program = self.program.clone();
        let ready = self.ready == Some(Pass::Gradient);
        assert!(ready, "backward: run \"{}\" forward with Pass::Gradient first", program.name);
        let expected = program.outputs.len();
        assert!(weights.len() == expected, "backward: {} weights for {expected} outputs", weights.len());
        for ((_, node), &weight) in program.outputs.iter().zip(weights) {
            self.add_adjoint(node.index as usize, &[weight]);
        }
        for (index, kind) in program.kinds.iter().enumerate().rev() {
            let Kind::Operation { op, arguments, saved, .. } = kind else { continue };
            if !self.touched[index] {
                continue;
            }
            let slot = &program.slots[index];
            let (Value::Own(offset), Gradient::Inner(adjoint)) = (slot.value, slot.gradient) else { continue };
            let size = slot.rows * slot.cols;
            let start = offset + aligned(size);
            let behind = adjoint + slot.adjoint_size();
            let (before, rest) = self.adjoints.split_at_mut(adjoint);
            let (seed, after) = rest.split_at_mut(slot.adjoint_size());
            op.adjoint(Adjoint {
                inputs: Inputs { slots: &program.slots, arguments, own: &self.values, outer },
                output: &self.values[offset..offset + size],
                seed: &seed[..size],
                rows: slot.rows,
                saved: &self.values[start..start + saved],
                scratch: &mut self.scratch,
                targets: Targets {
                    slots: &program.slots,
                    arguments,
                    adjoints: [before, after],
                    behind,
                    gradients: &mut self.gradients,
                    touched: &mut self.touched,
                },
            });
        }
        self.forget_adjoints();
        self.complete_gradients();
        self.check_gradients()
    }

    /// The value of a node after a forward pass.
    ///
    /// # Panics
    ///
    /// If the node is not of this program, or no forward pass has succeeded since a leaf was changed.
    #[track_caller]
    pub fn value(&self, node: Node) -> MatRef<'_, f64> {
        let index = self.index("value", node);
        assert!(self.ready.is_some(), "value: run \"{}\" forward first", self.program.name);
        MatRef::from_column_major_slice(self.slice(index), node.rows(), node.cols())
    }

    /// The value of a 1×1 node.
    #[track_caller]
    pub fn scalar(&self, node: Node) -> f64 {
        assert!(node.len() == 1, "scalar: the node is {}", node.shape());
        self.value(node)[(0, 0)]
    }

    /// The gradient of a leaf, or of an enclosing program's node that this one reads, added up since it was last cleared.
    ///
    /// # Panics
    ///
    /// If this program has no such leaf and reads no such node.
    #[track_caller]
    pub fn gradient(&self, leaf: Node) -> MatRef<'_, f64> {
        let imported = self.program.imported.get(&(leaf.tape, leaf.index));
        let index = self.index("gradient", *imported.unwrap_or(&leaf));
        let Gradient::Leaf(offset) = self.program.slots[index].gradient else {
            panic!("gradient: node {index} of \"{}\" is no leaf with a gradient", self.program.name)
        };
        MatRef::from_column_major_slice(&self.gradients[offset..offset + leaf.len()], leaf.rows(), leaf.cols())
    }

    /// Sets the gradients of all leaves to zero.
    pub fn clear_gradients(&mut self) {
        self.renew_gradients();
        self.complete_gradients();
    }

    /// The same where a backward pass follows before they are read: the first contributions replace what is there.
    pub(crate) fn renew_gradients(&mut self) {
        let slots = self.program.slots.iter();
        self.touched.iter_mut().zip(slots).for_each(|(t, slot)| *t &= !matches!(slot.gradient, Gradient::Leaf(_)));
    }

    /// Leaves to which nothing has been added have a gradient of zero.
    pub(crate) fn complete_gradients(&mut self) {
        for (touched, slot) in self.touched.iter_mut().zip(&self.program.slots) {
            if let (false, Gradient::Leaf(offset)) = (*touched, slot.gradient) {
                self.gradients[offset..offset + slot.rows * slot.cols].fill(0.0);
                *touched = true;
            }
        }
    }

    fn forget_adjoints(&mut self) {
        let slots = self.program.slots.iter();
        self.touched.iter_mut().zip(slots).for_each(|(t, slot)| *t &= matches!(slot.gradient, Gradient::Leaf(_)));
    }

    /// The jitter that the last forward pass needed.
    pub fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// The program that runs here.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The values of the outputs, in the order in which they were declared.
    pub fn outputs(&self) -> impl Iterator<Item = f64> {
        self.program.outputs.iter().map(|(_, node)| self.slice(node.index as usize)[0])
    }

    /// Adds to a node's adjoint, between the forward and the backward pass: the gradient that a nested program has for it.
    ///
    /// # Panics
    ///
    /// If the node is not of this program, no nested program reads it, or the shape is wrong.
    #[track_caller]
    pub fn add_gradient(&mut self, node: Node, gradient: MatRef<'_, f64>) {
        let index = self.index("add_gradient", node);
        let read = self.program.read.contains(&node.index);
        assert!(read, "add_gradient: no nested program reads node {index} of \"{}\"", self.program.name);
        let shape = Shape(gradient.nrows(), gradient.ncols());
        assert!(shape == node.shape(), "add_gradient: a {shape} gradient for a {} node", node.shape());
        let values: Vec<f64> = (0..node.len()).map(|e| gradient[(e % node.rows(), e / node.rows())]).collect();
        self.add_adjoint(index, &values);
    }

    /// The same by position, without allocating.
    pub(crate) fn add_adjoint(&mut self, index: usize, addend: &[f64]) {
        let targets = &mut Targets {
            slots: &self.program.slots,
            arguments: &[index as u32],
            behind: self.adjoints.len(),
            adjoints: [&mut self.adjoints, &mut []],
            gradients: &mut self.gradients,
            touched: &mut self.touched,
        };
        if let Some(Target { accum, values, .. }) = targets.get(0) {
            match accum {
                Accum::Replace => values.copy_from_slice(addend),
                Accum::Add => values.iter_mut().zip(addend).for_each(|(v, a)| *v += a),
            }
        }
    }

    /// Fills what operations must not read before they have written it with NaN. Gradients are as if they had been cleared.
    pub(crate) fn poison(&mut self) {
        self.scratch.fill(f64::NAN);
        self.adjoints.fill(f64::NAN);
        self.renew_gradients();
        self.gradients.fill(f64::NAN);
    }

    /// A node's elements; of this workspace's own nodes only.
    pub(crate) fn slice(&self, index: usize) -> &[f64] {
        let slot = &self.program.slots[index];
        let Value::Own(offset) = slot.value else { panic!("node {index} belongs to an enclosing program") };
        &self.values[offset..offset + slot.rows * slot.cols]
    }

    #[track_caller]
    fn index(&self, operation: &str, node: Node) -> usize {
        let name = &self.program.name;
        assert!(node.tape == self.program.id, "{operation}: the {} node is not of program \"{name}\"", node.shape());
        node.index as usize
    }

    #[track_caller]
    fn check_outer(&self, outer: &[&Workspace]) {
        let fits = outer.len() == self.program.ancestors.len()
            && outer.iter().zip(&self.program.ancestors).all(|(w, &id)| w.program.id == id && w.ready.is_some());
        assert!(
            fits,
            "program \"{}\" runs inside {} others; run those forward and give their workspaces, outermost first",
            self.program.name,
            self.program.ancestors.len()
        );
    }

    /// Whether the gradients of this program's own leaves are finite.
    fn check_gradients(&self) -> Result<(), Failure> {
        for (index, (slot, kind)) in self.program.slots.iter().zip(&self.program.kinds).enumerate() {
            let (Kind::Leaf { .. }, Gradient::Leaf(offset)) = (kind, slot.gradient) else { continue };
            let values = &self.gradients[offset..offset + slot.rows * slot.cols];
            if let Some((row, col, value)) = first_not_finite(values, slot.rows) {
                let problem = Problem::NonFiniteGradient { row, col, value };
                return Err(Failure { place: self.place(index), problem });
            }
        }
        Ok(())
    }

    fn check_outputs(&self) -> Result<(), Failure> {
        for (name, node) in &self.program.outputs {
            let value = self.slice(node.index as usize)[0];
            if !value.is_finite() {
                let mut place = self.place(node.index as usize);
                place.operation = format!("output \"{name}\"");
                return Err(Failure { place, problem: Problem::NonFiniteOutput { value } });
            }
        }
        Ok(())
    }

    fn place(&self, index: usize) -> Box<Place> {
        let kind = &self.program.kinds[index];
        let section = if let Kind::Operation { section, .. } = kind { section.to_string() } else { String::new() };
        Box::new(Place {
            program: self.program.name.clone(),
            section,
            operation: kind.describe(),
            node: index,
            draw: None,
            tile: None,
        })
    }
}

/// Row, column and value of the first element that is not finite. Nearly always there is none: all are looked at together.
fn first_not_finite(values: &[f64], rows: usize) -> Option<(usize, usize, f64)> {
    let finite = vectorized(
        #[inline(always)]
        || values.iter().fold(true, |finite, v| finite & v.is_finite()),
    );
    if finite {
        return None;
    }
    let at = values.iter().position(|v| !v.is_finite())?;
    Some((at % rows, at / rows, values[at]))
}

impl std::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "workspace of {:?}", self.program)
    }
}

#[cfg(test)]
mod tests;
