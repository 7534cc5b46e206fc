//! Gradients against finite differences.

use crate::random::Key;
use crate::{Failure, Node, Pass, Tape};
use faer::{Mat, MatRef};

/// Step of the five-point formula relative to a leaf's scale: about ε^{1/5}, where the truncation error h⁴ meets the rounding error ε/h.
const STEP: f64 = 1e-3;
/// An element moves by at least this fraction of what the leaf's largest element moves by.
const LEAST: f64 = 1e-2;
/// Elements of a gradient below this fraction of the largest one are compared with that fraction of it.
const FLOOR: f64 = 1e-3;
/// Rounding errors of a term, in units of its last place: what a few operations leave.
const NOISE: f64 = 8.0;

/// The largest disagreement that a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// |analytic − numeric|, beyond the rounding noise of the differences, relative to the larger of the two or to a
    /// thousandth of the leaf's largest element.
    pub relative_error: f64,
    /// The leaf, by position.
    pub leaf: usize,
    /// The element in column-major order.
    pub element: usize,
    /// The gradient that the program computed.
    pub analytic: f64,
    /// The gradient by finite differences.
    pub numeric: f64,
    /// The largest rounding noise of the differences, relative likewise, for elements above that thousandth: a smaller error than
    /// this can hide.
    pub noise: f64,
}

impl Report {
    /// Fails unless the relative error is below `tolerance`, and the noise that could hide one below its square root.
    ///
    /// # Panics
    ///
    /// With the whole report, if it is not.
    #[track_caller]
    pub fn assert_below(&self, tolerance: f64) {
        assert!(self.relative_error < tolerance, "gradient check failed: {self:?}");
        assert!(self.noise < tolerance.sqrt(), "gradient check sees too little: {self:?}");
    }
}

/// Records a function of leaves with the given values and compares its gradient with finite differences.
///
/// A result that is a matrix is first summed with fixed weights. Random nodes keep their numbers, with gamma variates that
/// are smooth in their shape; data points have the ids 0, 1, ….
///
/// ```
/// use dkp_tape::gradcheck::gradcheck;
/// use faer::mat;
/// let a = mat![[1.0, 0.5], [0.2, 3.0]];
/// gradcheck(&[a], |tape, x| tape.matmul(x[0].t(), x[0]))?.assert_below(1e-8);
/// # Ok::<(), dkp_tape::Failure>(())
/// ```
pub fn gradcheck(leaves: &[Mat<f64>], record: impl FnOnce(&mut Tape, &[Node]) -> Node) -> Result<Report, Failure> {
    let mut tape = Tape::new("gradcheck");
    let nodes: Vec<Node> =
        leaves.iter().enumerate().map(|(i, l)| tape.leaf(&format!("leaf {i}"), l.nrows(), l.ncols())).collect();
    // the function reads copies, which are inner nodes like those that it will read in a program
    let copies: Vec<Node> = nodes.iter().map(|&n| tape.affine(n, 1.0, 0.0)).collect();
    let result = record(&mut tape, &copies);
    let weights: Vec<f64> = (0..result.len()).map(|i| 1.0 + (1.7 * i as f64 + 0.3).sin()).collect();
    let weights = tape.constant(result.rows(), result.cols(), &weights);
    let weighted = tape.product(weights, result);
    let f = tape.sum(weighted);
    tape.output("f", f);
    let mut run = tape.finish().workspace();
    let key = Key::new(1).smooth();
    let ids: Vec<u64> = (0..run.program().point_count.unwrap_or(0) as u64).collect();
    run.set_point_ids(&ids);
    // once at other values first: nothing of it may be left in the memory
    for factor in [1.0 + STEP, 1.0] {
        for (node, leaf) in nodes.iter().zip(leaves) {
            run.set(*node, (faer::Scale(factor) * leaf).as_ref())?;
        }
        run.poison();
        run.forward(key, Pass::Gradient)?;
        run.poison();
        run.backward(&[1.0])?;
    }
    let analytic: Vec<Mat<f64>> = nodes.iter().map(|&n| run.gradient(n).to_owned()).collect();
    let gradients: Vec<MatRef<'_, f64>> = analytic.iter().map(Mat::as_ref).collect();
    compare(leaves, &gradients, |i, leaf| {
        run.set(nodes[i], leaf)?;
        run.forward(key, Pass::Value)?;
        Ok(run.value(weighted).col_iter().flat_map(|c| c.iter().copied().collect::<Vec<f64>>()).collect())
    })
}

/// Compares given gradients with finite differences of a function, which is the sum of the terms `f(i, leaf)` with leaf i replaced
/// and all others as they were. Each leaf is put back before the next one is changed.
///
/// Differences are taken term by term, so that terms which do not change add no noise.
///
/// # Panics
///
/// If the gradients do not have the leaves' shapes.
pub fn compare(
    leaves: &[Mat<f64>],
    gradients: &[MatRef<'_, f64>],
    mut f: impl FnMut(usize, MatRef<'_, f64>) -> Result<Vec<f64>, Failure>,
) -> Result<Report, Failure> {
    let shape = |m: MatRef<'_, f64>| (m.nrows(), m.ncols());
    let fits =
        leaves.len() == gradients.len() && leaves.iter().zip(gradients).all(|(l, g)| shape(l.as_ref()) == shape(*g));
    assert!(fits, "compare: the gradients do not have the leaves' shapes");
    let mut worst = Report { relative_error: 0.0, leaf: 0, element: 0, analytic: 0.0, numeric: 0.0, noise: 0.0 };
    for (i, (leaf, gradient)) in leaves.iter().zip(gradients).enumerate() {
        let mut moved = leaf.clone();
        let scale = leaf.norm_max();
        let mut numeric = Mat::<f64>::zeros(leaf.nrows(), leaf.ncols());
        let mut noise = numeric.clone();
        for c in 0..leaf.ncols() {
            for r in 0..leaf.nrows() {
                let at = leaf[(r, c)];
                // an element moves by its own size, so that positive ones stay positive, or by a little of the largest's
                let h = STEP * if scale == 0.0 { 1.0 } else { at.abs().max(LEAST * scale) };
                let mut value = |k: f64| {
                    moved[(r, c)] = at + k * h;
                    f(i, moved.as_ref())
                };
                let [a, b, d, e] = [value(-2.0)?, value(-1.0)?, value(1.0)?, value(2.0)?];
                for k in (0..a.len()).filter(|&k| a[k] != e[k] || a.len() == 1) {
                    numeric[(r, c)] += (8.0 * (d[k] - b[k]) - (e[k] - a[k])) / (12.0 * h);
                    noise[(r, c)] += NOISE * f64::EPSILON * e[k].abs() / h;
                }
                moved[(r, c)] = at;
            }
        }
        f(i, leaf.as_ref())?;
        let floor = FLOOR * numeric.norm_max().max(gradient.norm_max()).max(f64::MIN_POSITIVE);
        for c in 0..leaf.ncols() {
            for r in 0..leaf.nrows() {
                let (analytic, numeric, noise) = (gradient[(r, c)], numeric[(r, c)], noise[(r, c)]);
                let difference = (analytic - numeric).abs();
                let excess = if difference <= noise { 0.0 } else { difference - noise };
                let size = analytic.abs().max(numeric.abs()).max(floor);
                let relative_error = excess / size;
                // elements at the floor are compared coarsely anyway
                if size > floor {
                    worst.noise = worst.noise.max(noise / size);
                }
                if relative_error.is_nan() || relative_error > worst.relative_error {
                    let element = c * leaf.nrows() + r;
                    worst = Report { relative_error, leaf: i, element, analytic, numeric, ..worst };
                }
            }
        }
    }
    Ok(worst)
}

/// Shapes and values to check gradients at.
pub mod cases {
    use crate::random::{Key, fill_normal};
    use faer::{Mat, MatRef};

    /// 1×1, row, column, square, tall and wide, small and beyond every block size.
    pub const SHAPES: [(usize, usize); 7] = [(1, 1), (1, 5), (5, 1), (4, 4), (17, 3), (3, 40), (19, 19)];

    /// Numbers in ±[0.2, 1.2], different for each seed.
    pub fn matrix(seed: u64, rows: usize, cols: usize) -> Mat<f64> {
        let mut x = vec![0.0; rows * cols];
        fill_normal(Key::new(seed).stream(0, 0), rows * cols, |_| 0, &mut x);
        let x: Vec<f64> = x.iter().map(|v| v.signum() * (0.2 + v.abs().min(3.0) / 3.0)).collect();
        MatRef::from_column_major_slice(&x, rows, cols).to_owned()
    }

    /// Positive numbers in [0.2, 1.2].
    pub fn positive(seed: u64, rows: usize, cols: usize) -> Mat<f64> {
        let m = matrix(seed, rows, cols);
        Mat::from_fn(rows, cols, |i, j| m[(i, j)].abs())
    }

    /// `matrix`, but awkward: rows scaled over six orders of magnitude, or all elements equal.
    pub fn awkward(seed: u64, rows: usize, cols: usize) -> [Mat<f64>; 2] {
        let m = matrix(seed, rows, cols);
        let scaled = Mat::from_fn(rows, cols, |i, j| m[(i, j)] * 10_f64.powi((i % 7) as i32 - 3));
        [scaled, Mat::from_fn(rows, cols, |_, _| 0.7)]
    }

    /// A lower-triangular matrix with a diagonal of at least 1 and small elements below it.
    #[cfg(test)]
    pub(crate) fn lower(tape: &mut crate::Tape, d: crate::Node, e: crate::Node) -> crate::Lower {
        let squared = tape.square(d);
        let diagonal = tape.affine(squared, 1.0, 1.0);
        let below = tape.affine(e, 0.3, 0.0);
        tape.lower(diagonal, below)
    }

    /// The elements, column by column.
    #[cfg(test)]
    pub(crate) fn flat(m: &Mat<f64>) -> Vec<f64> {
        m.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{Adjoint, Forward, Operation};
    use crate::{Memory, Problem};

    /// y = x², with a derivative that is wrong by one part in 10⁵.
    struct Wrong;

    impl Operation for Wrong {
        fn name(&self) -> &'static str {
            "wrong"
        }

        fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
            run.output[0] = run.inputs.scalar(0).powi(2);
            Ok(())
        }

        fn adjoint(&self, mut run: Adjoint<'_>) {
            let x = run.inputs.scalar(0);
            if let Some(t) = run.targets.get(0) {
                t.add1(run.seed, |s| s * 2.00002 * x);
            }
        }
    }

    #[test]
    fn a_wrong_derivative_is_found() {
        let x = cases::matrix(1, 1, 1);
        let report = gradcheck(&[x], |tape, x| tape.record(Box::new(Wrong), x, (1, 1), Memory::default())).unwrap();
        assert!((report.relative_error - 1e-5).abs() < 1e-7, "{report:?}");
    }
}
