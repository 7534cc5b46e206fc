//! K_ij = k(g_ij, r_i, c_j; θ): kernels of a Gram matrix.
//!
//! Adjoints, from what the kernel's form keeps of the forward pass: ḡ_ij += K̄_ij·∂k/∂g, r̄_i += Σ_j K̄_ij·∂k/∂r,
//! c̄_j += Σ_i K̄_ij·∂k/∂c, θ̄ += Σ_ij K̄_ij·∂k/∂θ. In a symmetric block r and c are the diagonal of g itself.

mod form;
mod map;

pub use form::{Angular, Exponential, Form, General, Stationary};
pub use map::{Element, Jet, KernelMap, MOST_PARAMETERS, Point, Profile};

use super::{scalar, square, vector};
use crate::math::vectorized;
use crate::operation::{Adjoint, Forward, Inputs, Operation, sum, sum_of};
use crate::{Memory, Node, Problem, Tape};
use faer::Accum;
use form::{MOST_KEPT, Passes, Theta};

impl Tape {
    /// The kernel over a symmetric block: K_ij = k(g_ij, g_ii, g_jj). Parameters are 1×1 nodes.
    #[track_caller]
    pub fn kernel_symmetric(&mut self, map: impl KernelMap, g: Node, parameters: &[Node]) -> Node {
        square("kernel_symmetric", g);
        self.record_kernel("kernel_symmetric", Kernel { map, block: Block::Symmetric }, &[g], parameters)
    }

    /// The kernel over a cross block: K_ij = k(g_ij, r_i, c_j), with the two blocks' diagonals.
    #[track_caller]
    pub fn kernel_cross(&mut self, map: impl KernelMap, g: Node, rows: Node, cols: Node, parameters: &[Node]) -> Node {
        vector("kernel_cross", rows, g.rows());
        vector("kernel_cross", cols, g.cols());
        let kernel = Kernel { map, block: Block::Cross };
        self.record_kernel("kernel_cross", kernel, &[g, rows, cols], parameters)
    }

    /// The kernel of every point with itself: k(d_j, d_j, d_j) for the elements of d.
    #[track_caller]
    pub fn kernel_diagonal(&mut self, map: impl KernelMap, d: Node, parameters: &[Node]) -> Node {
        self.record_kernel("kernel_diagonal", Kernel { map, block: Block::Diagonal }, &[d], parameters)
    }

    #[track_caller]
    fn record_kernel<K: KernelMap>(
        &mut self,
        name: &str,
        kernel: Kernel<K>,
        arguments: &[Node],
        parameters: &[Node],
    ) -> Node {
        let (count, names) = (parameters.len(), K::names());
        assert!(count == names.len(), "{name}: {count} parameters for a kernel of {names:?}");
        parameters.iter().for_each(|p| scalar(name, *p));
        let arguments = [arguments, parameters].concat();
        let g = arguments[0];
        let planes = if arguments.iter().any(|a| a.differentiable) { Kernel::<K>::PLANES } else { 0 };
        let height = kernel.height(g.rows(), g.len());
        // sums of rows, columns and parameters, a diagonal, and what is summed for a column; or a diagonal and its roots
        let memory = Memory { saved: planes * g.len(), scratch: (3 + names.len()) * height + g.cols() };
        self.record(Box::new(kernel), &arguments, (g.rows(), g.cols()), memory)
    }
}

/// Which elements are the r and c of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Symmetric,
    Cross,
    Diagonal,
}

/// The operation: a kernel over one kind of block.
struct Kernel<K> {
    map: K,
    block: Block,
}

impl<K: KernelMap> Kernel<K> {
    /// Numbers that are kept of an element.
    const PLANES: usize = K::Form::KEPT;
    const COUNT: usize = {
        assert!(K::NAMES.len() == K::Form::OWN, "a kernel's parameters have one name each");
        let count = K::Form::NAMES.len() + K::Form::OWN;
        assert!(count <= MOST_PARAMETERS, "a kernel has at most four parameters");
        count
    };

    /// How many arguments stand before the parameters.
    fn blocks(&self) -> usize {
        if self.block == Block::Cross { 3 } else { 1 }
    }

    fn parameters(&self, inputs: &Inputs<'_>) -> Theta {
        std::array::from_fn(|p| if p < Self::COUNT { inputs.scalar(self.blocks() + p) } else { 0.0 })
    }

    /// A vector of diagonal elements is one column, whichever way it lies.
    fn height(&self, rows: usize, size: usize) -> usize {
        if self.block == Block::Diagonal { size } else { rows }
    }

    /// Hands out the values of n elements of a column, and fills `planes` with what is kept of them if there is room for it.
    #[inline(always)]
    fn column(
        &self,
        theta: &Theta,
        n: usize,
        element: impl Fn(usize) -> Element<Point>,
        mut value: impl FnMut(usize, f64),
        planes: &mut [f64],
    ) {
        if planes.is_empty() {
            for i in 0..n {
                let own = K::Form::forward(
                    &self.map,
                    theta,
                    element(i),
                    #[inline(always)]
                    |_, _| (),
                );
                value(i, own);
            }
            return;
        }
        let mut rest = planes.chunks_exact_mut(n);
        let mut next = || &mut rest.next().unwrap_or_default()[..n];
        let mut plane = |k: usize| if k < Self::PLANES { next() } else { &mut [] };
        // one by one: from a loop over k the compiler makes no vector code
        let planes: [&mut [f64]; MOST_KEPT] = [plane(0), plane(1), plane(2), plane(3), plane(4), plane(5), plane(6)];
        for i in 0..n {
            let own = K::Form::forward(
                &self.map,
                theta,
                element(i),
                #[inline(always)]
                |k, x| planes[k][i] = x,
            );
            value(i, own);
        }
    }

    /// Elements of a column from what was kept of it, and its values.
    #[inline(always)]
    fn jets<'a>(
        &'a self,
        theta: &'a Theta,
        element: impl Fn(usize) -> Element + 'a,
        planes: &'a [f64],
        values: &'a [f64],
    ) -> impl Fn(usize) -> Jet<MOST_PARAMETERS> + 'a {
        let n = values.len();
        let plane = |k: usize| if k < Self::PLANES { &planes[k * n..][..n] } else { &[] };
        // one by one, as in `column`
        let planes: [&[f64]; MOST_KEPT] = [plane(0), plane(1), plane(2), plane(3), plane(4), plane(5), plane(6)];
        #[inline(always)]
        move |i| {
            K::Form::backward(
                &self.map,
                theta,
                element(i),
                values[i],
                #[inline(always)]
                |k| planes[k][i],
            )
        }
    }

    /// The diagonals that belong to rows and columns. That of a symmetric block is copied to `diagonal`.
    fn diagonals<'a>(&self, inputs: &Inputs<'a>, rows: usize, diagonal: &'a mut [f64]) -> (&'a [f64], &'a [f64]) {
        let g = inputs.slice(0);
        match self.block {
            Block::Symmetric => {
                diagonal.iter_mut().zip(g.iter().step_by(rows + 1)).for_each(|(d, g)| *d = *g);
                (diagonal, diagonal)
            }
            Block::Cross => (inputs.slice(1), inputs.slice(2)),
            Block::Diagonal => (g, g),
        }
    }
}

impl<K: KernelMap> Operation for Kernel<K> {
    fn name(&self) -> &'static str {
        match self.block {
            Block::Symmetric => "kernel_symmetric",
            Block::Cross => "kernel_cross",
            Block::Diagonal => "kernel_diagonal",
        }
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let Forward { output, saved, scratch, inputs, rows, gradient, .. } = run;
        let theta = self.parameters(&inputs);
        let g = inputs.slice(0);
        let height = self.height(rows, output.len());
        let (diagonal, scratch) = scratch.split_at_mut(height);
        let (roots, scratch) = scratch.split_at_mut(height);
        let (r, c) = self.diagonals(&inputs, rows, diagonal);
        let inverses = &mut scratch[..height];
        for ((root, inverse), &r) in roots.iter_mut().zip(&mut *inverses).zip(if K::Form::ROOTS { r } else { &[] }) {
            let point = Point::new(r);
            (*root, *inverse) = (point.root, point.inverse);
        }
        let derivatives = if gradient && !saved.is_empty() { Self::PLANES * height } else { 0 };
        vectorized(
            #[inline(always)]
            || {
                // here, where the compiler sees that it is as long as a column
                let r = &r[..height];
                let diagonal = Diagonal::<K>::new(r, roots, inverses);
                for (j, (out, g)) in output.chunks_exact_mut(height).zip(g.chunks_exact(height)).enumerate() {
                    let saved = &mut saved[j * derivatives..(j + 1) * derivatives];
                    let (g, c) = (&g[..height], c[j]);
                    let out = &mut out[..height];
                    if self.block == Block::Diagonal {
                        self.column(
                            &theta,
                            height,
                            #[inline(always)]
                            |i| Element { g: g[i], row: diagonal.point(i), col: diagonal.point(i) },
                            #[inline(always)]
                            |i, v| out[i] = v,
                            saved,
                        );
                    } else {
                        let c = Point::new(c);
                        self.column(
                            &theta,
                            height,
                            #[inline(always)]
                            |i| Element { g: g[i], row: diagonal.point(i), col: c },
                            #[inline(always)]
                            |i, v| out[i] = v,
                            saved,
                        );
                    }
                }
            },
        );
        Ok(())
    }

    fn adjoint(&self, run: Adjoint<'_>) {
        let Adjoint { inputs, output, seed, saved, scratch, mut targets, rows, .. } = run;
        let height = self.height(rows, seed.len());
        let (cols, theta, g) = (seed.len() / height, self.parameters(&inputs), inputs.slice(0));
        // the sums that belong to rows, columns and parameters
        let (row_sums, scratch) = scratch.split_at_mut(height);
        let (col_sums, scratch) = scratch.split_at_mut(cols);
        let (diagonal, scratch) = scratch.split_at_mut(height);
        let (terms, scratch) = scratch.split_at_mut(height);
        let parameter_sums = &mut scratch[..Self::COUNT * height];
        let (r, c) = self.diagonals(&inputs, rows, diagonal);
        row_sums.fill(0.0);
        parameter_sums.fill(0.0);
        let (mut target, alone) = (targets.get(0), self.block == Block::Diagonal);
        vectorized(
            #[inline(always)]
            || {
                let r = &r[..height];
                for (j, seed) in seed.chunks_exact(height).enumerate() {
                    let column = j * height..(j + 1) * height;
                    let (seed, c) = (&seed[..height], c[j]);
                    let (g, values) = (&g[column.clone()][..height], &output[column.clone()][..height]);
                    let target = match &mut target {
                        Some(t) => Some((&mut t.values[column][..height], t.accum)),
                        None => None,
                    };
                    let sums = Sums { rows: row_sums, column: terms, parameters: parameter_sums };
                    let planes = &saved[j * Self::PLANES * height..(j + 1) * Self::PLANES * height];
                    if alone {
                        let jet = self.jets(
                            &theta,
                            #[inline(always)]
                            |i| Element { g: g[i], row: r[i], col: r[i] },
                            planes,
                            values,
                        );
                        sums.add::<K>(
                            seed,
                            target,
                            #[inline(always)]
                            |i| jet(i).of_equals(),
                        );
                    } else {
                        let jet = self.jets(
                            &theta,
                            #[inline(always)]
                            |i| Element { g: g[i], row: r[i], col: c },
                            planes,
                            values,
                        );
                        sums.add::<K>(seed, target, jet);
                    }
                    col_sums[j] = sum_of(terms, terms, |t, _, sum| sum + t);
                }
            },
        );
        if let (Block::Symmetric, Some(target)) = (self.block, target) {
            let diagonal = target.values.iter_mut().step_by(rows + 1);
            diagonal.zip(row_sums.iter().zip(&*col_sums)).for_each(|(v, (r, c))| *v += r + c);
        }
        if self.block == Block::Cross {
            if let Some(target) = targets.get(1) {
                target.add1(row_sums, |s| s);
            }
            if let Some(target) = targets.get(2) {
                target.add1(col_sums, |s| s);
            }
        }
        for (p, terms) in parameter_sums.chunks_exact(height).enumerate() {
            if let Some(target) = targets.get(self.blocks() + p) {
                target.add_constant(sum(terms));
            }
        }
    }
}

/// The points of rows, with their roots if the kernel needs them.
struct Diagonal<'a, K> {
    squares: &'a [f64],
    roots: &'a [f64],
    inverses: &'a [f64],
    kernel: std::marker::PhantomData<K>,
}

impl<'a, K: KernelMap> Diagonal<'a, K> {
    #[inline(always)]
    fn new(squares: &'a [f64], roots: &'a [f64], inverses: &'a [f64]) -> Diagonal<'a, K> {
        let n = squares.len();
        Diagonal { squares, roots: &roots[..n], inverses: &inverses[..n], kernel: std::marker::PhantomData }
    }

    #[inline(always)]
    fn point(&self, i: usize) -> Point {
        let [root, inverse] = if K::Form::ROOTS { [self.roots[i], self.inverses[i]] } else { [0.0; 2] };
        Point { square: self.squares[i], root, inverse }
    }
}

/// Where the adjoint of a column of K goes besides ḡ, element by element: sums over a column are taken later.
struct Sums<'a> {
    /// Σ_j K̄_ij·∂k/∂r.
    rows: &'a mut [f64],
    /// K̄_ij·∂k/∂c for the column j.
    column: &'a mut [f64],
    /// Σ_j K̄_ij·∂k/∂θ, one parameter after the other.
    parameters: &'a mut [f64],
}

impl Sums<'_> {
    #[inline(always)]
    fn add<K: KernelMap>(
        self,
        seed: &[f64],
        target: Option<(&mut [f64], Accum)>,
        jet: impl Fn(usize) -> Jet<MOST_PARAMETERS>,
    ) {
        match target {
            Some((values, accum)) => {
                let values = &mut values[..seed.len()];
                match accum {
                    Accum::Replace => self.add_to::<K>(
                        seed,
                        #[inline(always)]
                        |i, x| values[i] = x,
                        jet,
                    ),
                    Accum::Add => self.add_to::<K>(
                        seed,
                        #[inline(always)]
                        |i, x| values[i] += x,
                        jet,
                    ),
                }
            }
            None => self.add_to::<K>(
                seed,
                #[inline(always)]
                |_, _| (),
                jet,
            ),
        }
    }

    #[inline(always)]
    fn add_to<K: KernelMap>(
        self,
        seed: &[f64],
        mut target: impl FnMut(usize, f64),
        jet: impl Fn(usize) -> Jet<MOST_PARAMETERS>,
    ) {
        let n = seed.len();
        let (rows, column) = (&mut self.rows[..n], &mut self.column[..n]);
        let mut all = self.parameters.chunks_exact_mut(n);
        let parameters: [&mut [f64]; MOST_PARAMETERS] = std::array::from_fn(|p| {
            if p < Kernel::<K>::COUNT { &mut all.next().unwrap_or_default()[..n] } else { &mut [] }
        });
        for i in 0..n {
            let (jet, s) = (jet(i), seed[i]);
            target(i, s * jet.g);
            rows[i] = s.mul_add(jet.row, rows[i]);
            column[i] = s * jet.col;
            for p in 0..Kernel::<K>::COUNT {
                parameters[p][i] = s.mul_add(jet.parameters[p], parameters[p][i]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
