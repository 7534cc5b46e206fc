//! What an operation is: a forward pass, and an adjoint that carries gradients back.

use crate::failure::Problem;
use crate::math::vectorized;
use crate::program::{Gradient, Slot};
use crate::random::Key;
use crate::workspace::Workspace;
use faer::{Accum, MatMut, MatRef};
use std::ops::Range;

/// One operation of a program. Matrices are column-major and contiguous.
///
/// Everything an operation needs is handed to it, so that one recorded operation can run in many workspaces
/// at once. With the output's adjoint Ȳ = ∂f/∂Y, `adjoint` adds Σ Ȳ·∂Y/∂Xᵢ to the adjoint of each input Xᵢ.
pub trait Operation: Send + Sync {
    /// The name that failures show.
    fn name(&self) -> &'static str;

    /// Computes the output from the inputs.
    fn forward(&self, run: Forward<'_>) -> Result<(), Problem>;

    /// Adds to the inputs' adjoints.
    fn adjoint(&self, run: Adjoint<'_>);

    /// The argument, if any, of the output's shape whose adjoint gets Ȳ itself: where nothing else has been added to it yet, it takes over Ȳ's
    /// memory, and [`Targets::get`] has none for it.
    fn passes(&self) -> Option<usize> {
        None
    }
}

/// What [`Operation::forward`] works with.
pub struct Forward<'a> {
    /// The arguments.
    pub inputs: Inputs<'a>,
    /// The result, to be filled.
    pub output: &'a mut [f64],
    /// Rows of the result.
    pub rows: usize,
    /// Kept for the adjoint, of the size asked for when recording.
    pub saved: &'a mut [f64],
    /// Working memory of the size asked for when recording, with arbitrary contents.
    pub scratch: &'a mut [f64],
    /// Whether an adjoint pass will follow.
    pub gradient: bool,
    /// The run's random key.
    pub key: Key,
    /// The nesting depth of the program, part of a random stream's address.
    pub depth: u32,
    /// The ids of the data points.
    pub point_ids: &'a [u64],
    /// Where an operation says that it needed jitter.
    pub jitter: &'a mut Jitter,
}

/// What was added to diagonals so that Cholesky factors exist ([`Tape::cholesky_with_jitter`](crate::Tape::cholesky_with_jitter)).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jitter {
    /// Matrices that needed it.
    pub count: u64,
    /// The largest amount, relative to the mean of the diagonal that the operation names.
    pub largest: f64,
}

impl Jitter {
    /// One more matrix.
    pub fn add(&mut self, amount: f64) {
        self.merge(Jitter { count: 1, largest: amount });
    }

    pub(crate) fn merge(&mut self, other: Jitter) {
        self.count += other.count;
        self.largest = self.largest.max(other.largest);
    }
}

impl<'a> Forward<'a> {
    /// The result as a matrix.
    pub fn output_matrix(&mut self) -> MatMut<'_, f64> {
        let cols = self.output.len() / self.rows;
        MatMut::from_column_major_slice_mut(self.output, self.rows, cols)
    }
}

/// The arguments of an operation, by position.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    pub(crate) slots: &'a [Slot],
    pub(crate) arguments: &'a [u32],
    pub(crate) own: &'a [f64],
    pub(crate) outer: &'a [&'a Workspace],
}

impl<'a> Inputs<'a> {
    /// The elements of argument `i`, column by column.
    pub fn slice(&self, i: usize) -> &'a [f64] {
        self.slots[self.arguments[i] as usize].values(self.own, self.outer)
    }

    /// Argument `i`.
    pub fn matrix(&self, i: usize) -> MatRef<'a, f64> {
        let slot = &self.slots[self.arguments[i] as usize];
        MatRef::from_column_major_slice(self.slice(i), slot.rows, slot.cols)
    }

    /// The first element of argument `i`.
    pub fn scalar(&self, i: usize) -> f64 {
        self.slice(i)[0]
    }

    /// How many arguments there are.
    pub fn count(&self) -> usize {
        self.arguments.len()
    }
}

/// What [`Operation::adjoint`] works with.
pub struct Adjoint<'a> {
    /// The arguments' values.
    pub inputs: Inputs<'a>,
    /// The result's value.
    pub output: &'a [f64],
    /// The result's adjoint.
    pub seed: &'a [f64],
    /// Rows of the result.
    pub rows: usize,
    /// What the forward pass kept.
    pub saved: &'a [f64],
    /// Working memory of the size asked for when recording, with arbitrary contents.
    pub scratch: &'a mut [f64],
    /// The arguments' adjoints.
    pub targets: Targets<'a>,
}

impl<'a> Adjoint<'a> {
    /// The result's adjoint as a matrix.
    pub fn seed_matrix(&self) -> MatRef<'a, f64> {
        MatRef::from_column_major_slice(self.seed, self.rows, self.seed.len() / self.rows)
    }
}

/// The adjoints of an operation's arguments.
pub struct Targets<'a> {
    pub(crate) slots: &'a [Slot],
    pub(crate) arguments: &'a [u32],
    /// Adjoints before and behind that of the result.
    pub(crate) adjoints: [&'a mut [f64]; 2],
    /// Where the second part begins.
    pub(crate) behind: usize,
    pub(crate) gradients: &'a mut [f64],
    /// Nodes to which something has been added: inner ones in this pass, leaves since their gradients were cleared.
    pub(crate) touched: &'a mut [bool],
}

impl Targets<'_> {
    /// Where to add argument `i`'s contribution; none if no gradient is wanted there, or it is there already ([`Operation::passes`]).
    ///
    /// The caller must then write every element once, as the target's `accum` says; of a lower-triangular argument those of the triangle, for
    /// who reads its gradient reads no others.
    pub fn get(&mut self, i: usize) -> Option<Target<'_>> {
        let (part, range, accum) = self.begin(i)?;
        let rows = self.slots[self.arguments[i] as usize].rows;
        Some(Target { accum, values: &mut self.parts()[part][range], rows })
    }

    /// The same with the adjoint of argument `other`, another node with an adjoint of its own, beside it.
    pub(crate) fn get_beside(&mut self, i: usize, other: usize) -> Option<(Target<'_>, &[f64])> {
        let (other_part, other_range) = self.place(other).expect("an adjoint of its own");
        let (part, range, accum) = self.begin(i)?;
        let rows = self.slots[self.arguments[i] as usize].rows;
        let mut parts = self.parts().map(Some);
        let values = parts[part].take()?;
        let (values, other) = match parts[other_part].take() {
            Some(other) => (&mut values[range], &other[other_range]),
            None => {
                let [values, other] = values.get_disjoint_mut([range, other_range]).expect("another node");
                (values, &*other)
            }
        };
        Some((Target { accum, values, rows }, other))
    }

    fn begin(&mut self, i: usize) -> Option<(usize, Range<usize>, Accum)> {
        let index = self.arguments[i] as usize;
        if matches!(self.slots[index].gradient, Gradient::None) {
            return None;
        }
        let first = !std::mem::replace(&mut self.touched[index], true);
        let (part, range) = self.place(i)?;
        Some((part, range, if first { Accum::Replace } else { Accum::Add }))
    }

    fn parts(&mut self) -> [&mut [f64]; 3] {
        let [before, behind] = &mut self.adjoints;
        [self.gradients, before, behind]
    }

    /// Which of the parts has an argument's adjoint, and where; none if it is the result's own.
    fn place(&self, i: usize) -> Option<(usize, Range<usize>)> {
        let slot = &self.slots[self.arguments[i] as usize];
        let (part, begin) = match slot.gradient {
            Gradient::None => return None,
            Gradient::Leaf(offset) => (0, offset),
            Gradient::Inner(offset) if offset < self.adjoints[0].len() => (1, offset),
            Gradient::Inner(offset) if offset < self.behind => return None,
            Gradient::Inner(offset) => (2, offset - self.behind),
        };
        Some((part, begin..begin + slot.rows * slot.cols))
    }

    /// Whether arguments `i` and `j` are the same node.
    pub(crate) fn same(&self, i: usize, j: usize) -> bool {
        self.arguments[i] == self.arguments[j]
    }

    /// Whether argument `i` wants a gradient.
    pub fn wants(&self, i: usize) -> bool {
        !matches!(self.slots[self.arguments[i] as usize].gradient, Gradient::None)
    }
}

/// The adjoint of one argument: replaced by the first contribution, added to by the others.
pub struct Target<'a> {
    /// Replace or add.
    pub accum: Accum,
    /// The elements.
    pub values: &'a mut [f64],
    /// Rows of the matrix.
    pub rows: usize,
}

impl<'a> Target<'a> {
    /// As a matrix, for a product that accumulates.
    pub fn matrix(self) -> (MatMut<'a, f64>, Accum) {
        let cols = self.values.len() / self.rows;
        (MatMut::from_column_major_slice_mut(self.values, self.rows, cols), self.accum)
    }

    /// The elements, zeroed first if nothing has been added yet.
    pub fn zeroed(self) -> &'a mut [f64] {
        if let Accum::Replace = self.accum {
            self.values.fill(0.0);
        }
        self.values
    }

    /// Adds the same number to every element.
    pub fn add_constant(self, x: f64) {
        match self.accum {
            Accum::Replace => self.values.fill(x),
            Accum::Add => self.values.iter_mut().for_each(|v| *v += x),
        }
    }

    /// Adds f(x) element by element.
    #[inline(always)]
    pub fn add1(self, x: &[f64], f: impl Fn(f64) -> f64) {
        let Target { accum, values, .. } = self;
        vectorized(
            #[inline(always)]
            || match accum {
                Accum::Replace => values.iter_mut().zip(x).for_each(|(v, &x)| *v = f(x)),
                Accum::Add => values.iter_mut().zip(x).for_each(|(v, &x)| *v += f(x)),
            },
        );
    }

    /// Adds f(x, y) element by element.
    #[inline(always)]
    pub fn add2(self, x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) {
        let Target { accum, values, .. } = self;
        let pairs = x.iter().zip(y);
        vectorized(
            #[inline(always)]
            || match accum {
                Accum::Replace => values.iter_mut().zip(pairs).for_each(|(v, (&x, &y))| *v = f(x, y)),
                Accum::Add => values.iter_mut().zip(pairs).for_each(|(v, (&x, &y))| *v += f(x, y)),
            },
        );
    }
}

/// Σ xᵢ in a fixed order, in partial sums.
pub(crate) fn sum(x: &[f64]) -> f64 {
    vectorized(
        #[inline(always)]
        || sum_of(x, x, |x, _, s| s + x),
    )
}

/// Σ xᵢyᵢ in a fixed order, in partial sums.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    vectorized(
        #[inline(always)]
        || sum_of(x, y, |x, y, s| x.mul_add(y, s)),
    )
}

/// Folds pairs with f(x, y, sum) in sixteen partial sums, then adds those.
#[inline(always)]
pub(crate) fn sum_of(x: &[f64], y: &[f64], f: impl Fn(f64, f64, f64) -> f64) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let tail = xs.remainder().iter().zip(ys.remainder());
    for (x, y) in xs.zip(ys) {
        for l in 0..LANES {
            sums[l] = f(x[l], y[l], sums[l]);
        }
    }
    let rest = tail.fold(0.0, |s, (&x, &y)| f(x, y, s));
    sums.iter().sum::<f64>() + rest
}
