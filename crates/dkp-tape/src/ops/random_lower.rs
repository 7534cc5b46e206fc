//! L = diag(d) + tril(M + S∘ε, −1) with standard normal ε: a Bartlett factor whose elements have laws of their own.
//! Adjoints: d̄_j += L̄_jj, and below the diagonal M̄_ij += L̄_ij, S̄_ij += L̄_ij·ε_ij.

use super::{same_shape, square, vector};
use crate::operation::{Adjoint, Forward, Operation};
use crate::random::fill_normal;
use crate::{Lower, Memory, Node, Problem, Tape};

impl Tape {
    /// The lower-triangular matrix with diagonal d and independent normals below it, with these means and deviations; the rest of both is not
    /// read.
    ///
    /// A zero on the diagonal stops the run with [`Problem::OutOfDomain`].
    #[track_caller]
    pub fn random_lower(&mut self, d: Node, mean: Node, deviation: Node) -> Lower {
        square("random_lower", mean);
        same_shape("random_lower", mean, deviation);
        let n = mean.rows();
        vector("random_lower", d, n);
        let memory = Memory { saved: n * n.div_ceil(2), scratch: 0 };
        let op = RandomLower { site: self.next_site() };
        Lower(self.record(Box::new(op), &[d, mean, deviation], (n, n), memory))
    }
}

struct RandomLower {
    site: u32,
}

/// Where ε below the diagonal of column j stands: columns j and n−1−j share a sequence of n numbers.
fn place(j: usize, n: usize) -> std::ops::Range<usize> {
    let other = n - 1 - j;
    if j <= other { j * n..j * n + other } else { other * n + j..other * n + n - 1 }
}

impl Operation for RandomLower {
    fn name(&self) -> &'static str {
        "random_lower"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        let (d, n) = (run.inputs.slice(0), run.rows);
        let (mean, deviation) = (run.inputs.slice(1), run.inputs.slice(2));
        let stream = run.key.stream(run.depth, self.site);
        fill_normal(stream, n, |j| j as u64, run.saved);
        for (j, column) in run.output.chunks_exact_mut(n).enumerate() {
            if !(d[j].abs() > 0.0 && d[j].is_finite()) {
                let expected = "finite and not zero";
                return Err(Problem::OutOfDomain { argument: "a diagonal element", expected, value: d[j] });
            }
            column[..j].fill(0.0);
            column[j] = d[j];
            let below = j * n + j + 1..(j + 1) * n;
            let laws = mean[below.clone()].iter().zip(&deviation[below]);
            let elements = column[j + 1..].iter_mut().zip(laws).zip(&run.saved[place(j, n)]);
            elements.for_each(|((x, (m, s)), e)| *x = m + s * e);
        }
        Ok(())
    }

    fn adjoint(&self, mut run: Adjoint<'_>) {
        let n = run.rows;
        if let Some(target) = run.targets.get(0) {
            let diagonal = run.seed.iter().step_by(n + 1);
            target.zeroed().iter_mut().zip(diagonal).for_each(|(d, s)| *d += s);
        }
        let below = |j: usize| j * n + j + 1..(j + 1) * n;
        if let Some(target) = run.targets.get(1) {
            for (j, column) in target.zeroed().chunks_exact_mut(n).enumerate() {
                column[j + 1..].iter_mut().zip(&run.seed[below(j)]).for_each(|(m, s)| *m += s);
            }
        }
        if let Some(target) = run.targets.get(2) {
            for (j, column) in target.zeroed().chunks_exact_mut(n).enumerate() {
                let pairs = run.seed[below(j)].iter().zip(&run.saved[place(j, n)]);
                column[j + 1..].iter_mut().zip(pairs).for_each(|(d, (s, e))| *d += s * e);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::place;
    use crate::gradcheck::{cases, gradcheck};
    use crate::{Pass, Tape, random::Key};

    #[test]
    fn gradients() {
        for n in [1, 2, 5, 16, 33] {
            let leaves = [cases::positive(1, n, 1), cases::matrix(2, n, n), cases::positive(3, n, n)];
            gradcheck(&leaves, |t, x| t.random_lower(x[0], x[1], x[2]).matrix()).unwrap().assert_below(1e-8);
        }
    }

    /// Every element below the diagonal has a number of its own.
    #[test]
    fn no_two_elements_share_a_number() {
        for n in 1..12 {
            let mut all: Vec<usize> = (0..n).flat_map(|j| place(j, n)).collect();
            assert!((0..n).all(|j| place(j, n).len() == n - 1 - j));
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert!(all.len() == count && all.iter().all(|&i| i < n * n.div_ceil(2)), "{n}");
        }
    }

    /// Mean, variance and covariance between neighbours over many matrices.
    #[test]
    fn elements_are_independent_normals() {
        let (n, runs) = (5, 4000);
        let mut tape = Tape::new("laws");
        let d = tape.constant(n, 1, &[1.0; 5]);
        let (mean, deviation) = (tape.constant(n, n, &[0.5; 25]), tape.constant(n, n, &[2.0; 25]));
        let l = tape.random_lower(d, mean, deviation);
        let mut run = tape.finish().workspace();
        let (mut sums, mut products) = ([0.0; 10], [[0.0; 10]; 10]);
        for seed in 0..runs {
            run.forward(Key::new(seed), Pass::Value).unwrap();
            let value = run.value(l.matrix());
            let below: Vec<f64> =
                (0..n).flat_map(|j| (j + 1..n).map(move |i| (i, j))).map(|at| (value[at] - 0.5) / 2.0).collect();
            for i in 0..10 {
                sums[i] += below[i];
                (0..10).for_each(|k| products[i][k] += below[i] * below[k]);
            }
        }
        let error = 5.0 / (runs as f64).sqrt();
        for i in 0..10 {
            assert!((sums[i] / runs as f64).abs() < error);
            for k in 0..10 {
                let expected = f64::from(u8::from(i == k));
                assert!((products[i][k] / runs as f64 - expected).abs() < error * 2.0_f64.sqrt(), "{i} {k}");
            }
        }
    }
}
