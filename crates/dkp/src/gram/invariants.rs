//! What must hold of a Gram matrix, checked while a program runs in debug builds.

use super::{Block, DataBlock, Gram};
use dkp_tape::operation::{Adjoint, Forward, Operation};
use dkp_tape::{Memory, Node, Problem, Tape};

/// Disagreement of G_ij with G_ji that rounding explains, relative to √(G_ii·G_jj).
const ASYMMETRY: f64 = 1e-9;
/// Excess of G_ij² over G_ii·G_jj that rounding and jitter explain, relative to the latter: ten times the largest jitter.
const EXCESS: f64 = 1e-3;
/// The same of a point that is zero but for rounding, relative to G_ii and the largest diagonal element.
const ROUNDING: f64 = 1e-24;

pub(super) fn check_block(tape: &mut Tape, block: &Block) {
    record(tape, Invariant::Block, &[block.matrix]);
}

pub(super) fn check_gram(tape: &mut Tape, gram: &Gram) {
    let tt = match gram.tt {
        DataBlock::Diagonal(d) => d,
        DataBlock::Full(tt) => {
            record(tape, Invariant::Block, &[tt]);
            tape.diagonal(tt)
        }
    };
    record(tape, Invariant::Cross, &[gram.ti, gram.ii.diagonal, tt]);
}

#[track_caller]
fn record(tape: &mut Tape, invariant: Invariant, nodes: &[Node]) {
    tape.record(Box::new(invariant), nodes, (1, 1), Memory::default());
}

enum Invariant {
    /// ii: symmetric, with a diagonal that is not negative.
    Block,
    /// ti, diagonal of ii, diagonal of tt: tt ≥ 0 and ti² ≤ ii·tt (Cauchy–Schwarz).
    Cross,
}

impl Operation for Invariant {
    fn name(&self) -> &'static str {
        "invariants of a Gram matrix"
    }

    fn forward(&self, run: Forward<'_>) -> Result<(), Problem> {
        run.output[0] = 0.0;
        let g = run.inputs.matrix(0);
        let fails = |argument, expected, value| Err(Problem::OutOfDomain { argument, expected, value });
        // written so that NaN fails too
        let negative = |x: f64| x.is_nan() || x < 0.0;
        match self {
            Invariant::Block => {
                for j in 0..g.ncols() {
                    if negative(g[(j, j)]) {
                        return fails("a diagonal element of a Gram matrix", "at least 0", g[(j, j)]);
                    }
                    for i in 0..j {
                        let difference = (g[(i, j)] - g[(j, i)]).abs();
                        let holds = difference <= ASYMMETRY * (g[(i, i)] * g[(j, j)]).sqrt();
                        if !holds {
                            return fails("the asymmetry of a Gram matrix", "zero to rounding", difference);
                        }
                    }
                }
            }
            Invariant::Cross => {
                let (ii, tt) = (run.inputs.slice(1), run.inputs.slice(2));
                if let Some(&value) = tt.iter().find(|x| negative(**x)) {
                    return fails("a diagonal element of a data block", "at least 0", value);
                }
                let largest = ii.iter().chain(tt).fold(0.0, |m: f64, d| m.max(*d));
                for i in 0..g.ncols() {
                    for t in 0..g.nrows() {
                        let bound = ii[i] * tt[t];
                        let rounding = ROUNDING * ii[i] * largest + f64::MIN_POSITIVE;
                        let holds = g[(t, i)].powi(2) <= bound * (1.0 + EXCESS) + rounding;
                        if !holds {
                            return fails("G_ti²/(G_ii·G_tt)", "at most 1", g[(t, i)].powi(2) / bound);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn adjoint(&self, _: Adjoint<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use dkp_tape::random::Key;
    use dkp_tape::{Failure, Pass};

    /// A triple with two inducing points and one data point, as a program.
    fn run(ii: [f64; 4], ti: [f64; 2], tt: f64) -> Result<(), Failure> {
        let mut tape = Tape::new("triple");
        let nodes = [tape.input("ii", 2, 2), tape.input("ti", 1, 2), tape.input("tt", 1, 1)];
        let block = Block::new(&mut tape, nodes[0]);
        Gram::new(&mut tape, block, nodes[1], DataBlock::Diagonal(nodes[2]));
        let mut run = tape.finish().workspace();
        run.set_slice(nodes[0], &ii)?;
        run.set_slice(nodes[1], &ti)?;
        run.set_slice(nodes[2], &[tt])?;
        run.forward(Key::new(0), Pass::Value)
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_triple_that_is_no_gram_matrix_is_refused_in_debug_builds() {
        let message = |r: Result<(), Failure>| r.unwrap_err().problem.to_string();
        run([2.0, 0.5, 0.5, 1.0], [0.3, 0.9], 1.0).unwrap();
        // a point that is zero but for rounding
        run([2.0, 0.5, 0.5, 1.0], [1e-16, -1e-16], 0.0).unwrap();
        assert!(message(run([2.0, 0.5, 0.5, 1.0], [1e-11, 0.0], 0.0)).contains("at most 1, but is inf"));
        assert!(message(run([2.0, 0.5, 0.4, 1.0], [0.3, 0.9], 1.0)).contains("asymmetry"));
        assert!(message(run([2.0, 0.5, 0.5, -1.0], [0.3, 0.9], 1.0)).contains("at least 0, but is -1e0"));
        assert!(
            message(run([2.0, 0.5, 0.5, 1.0], [0.3, 0.9], -0.5))
                .contains("data block must be at least 0, but is -5e-1")
        );
        assert!(message(run([2.0, 0.5, 0.5, 1.0], [0.3, 1.2], 1.0)).contains("at most 1, but is 1.44"));
    }
}
