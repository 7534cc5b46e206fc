//! What holds for every factor that is applied to rows: X·L, X·Lᵀ and X·L⁻ᵀ.

use crate::gradcheck::cases::lower;
use crate::gradcheck::{cases, gradcheck};
use crate::{Lower, Node, Pass, Tape, random::Key};

type RowFactor = fn(&mut Tape, Node, Lower) -> Node;
/// What is applied to every row of a matrix.
const FACTORS: [RowFactor; 3] = [Tape::times_lower, Tape::times_lower_transposed, Tape::over_lower_transposed];

#[test]
fn gradients() {
    for (m, n) in cases::SHAPES {
        for x in cases::awkward(3, n, m).into_iter().chain([cases::matrix(2, n, m)]) {
            let leaves = [cases::matrix(1, m, 1), cases::matrix(4, m, m), x];
            for factor in FACTORS {
                let report = gradcheck(&leaves, |t, x| {
                    let l = lower(t, x[0], x[1]);
                    factor(t, x[2], l)
                });
                report.unwrap().assert_below(1e-7);
                // of a factor itself
                let report = gradcheck(&leaves[..2], |t, x| {
                    let l = lower(t, x[0], x[1]);
                    factor(t, l.matrix(), l)
                });
                report.unwrap().assert_below(1e-6);
                // twice, so that contributions are added
                let report = gradcheck(&leaves, |t, x| {
                    let l = lower(t, x[0], x[1]);
                    let y = factor(t, x[2], l);
                    let z = factor(t, y, l);
                    t.product(y, z)
                });
                report.unwrap().assert_below(1e-6);
            }
        }
    }
}

/// Against the factor on the left of columns, for sizes around those of vectors, strips and blocks.
#[test]
fn values_and_gradients_are_those_of_columns() {
    for (points, n) in [(1, 1), (7, 3), (8, 4), (9, 12), (24, 13), (31, 8), (57, 29), (50, 100)] {
        let mut tape = Tape::new("rows");
        let (d, e, x) = (tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("x", points, n));
        let l = lower(&mut tape, d, e);
        let columns = tape.transpose(x);
        let plain: [RowFactor; 3] =
            [|t, x, l| t.lower_transposed_times(l, x), |t, x, l| t.lower_times(l, x), |t, x, l| t.lower_solve(l, x)];
        let mut pairs = Vec::new();
        for (rows, plain) in FACTORS.into_iter().zip(plain) {
            let (ours, theirs) = (rows(&mut tape, x, l), plain(&mut tape, columns, l));
            let theirs = tape.transpose(theirs);
            pairs.push([ours, theirs]);
            for (name, y) in [("ours", ours), ("theirs", theirs)] {
                let cube = tape.map("cube", y, |y| (y * y * y, 3.0 * y * y));
                let sum = tape.sum(cube);
                tape.output(name, sum);
            }
        }
        let mut run = tape.finish().workspace();
        run.set(d, cases::matrix(1, n, 1).as_ref()).unwrap();
        run.set(e, (cases::matrix(2, n, n) * faer::Scale(3.0 / n as f64)).as_ref()).unwrap();
        run.set(x, cases::matrix(3, points, n).as_ref()).unwrap();
        for (i, [ours, theirs]) in pairs.into_iter().enumerate() {
            let mut gradients = Vec::new();
            for which in [2 * i, 2 * i + 1] {
                run.forward(Key::new(0), Pass::Gradient).unwrap();
                run.clear_gradients();
                let mut seed = [0.0; 6];
                seed[which] = 1.0;
                run.backward(&seed).unwrap();
                gradients.push([d, e, x].map(|leaf| run.gradient(leaf).to_owned()));
            }
            let close =
                |a: faer::MatRef<'_, f64>, b: faer::MatRef<'_, f64>| (a - b).norm_max() <= 1e-12 * (1.0 + b.norm_max());
            assert!(close(run.value(ours), run.value(theirs)), "{points} points, {n}: values of {i}");
            for (a, b) in gradients[0].iter().zip(&gradients[1]) {
                assert!(close(a.as_ref(), b.as_ref()), "{points} points, {n}: gradients of {i}");
            }
        }
    }
}

/// A point's bits do not depend on how many others there are, or where it stands among them.
#[test]
fn a_row_does_not_depend_on_the_others() {
    let n = 37;
    let (d, e, x) = (cases::matrix(1, n, 1), cases::matrix(2, n, n), cases::matrix(3, 61, n));
    for factor in FACTORS {
        let values = |rows: std::ops::Range<usize>| {
            let mut tape = Tape::new("rows");
            let nodes = [tape.leaf("d", n, 1), tape.leaf("e", n, n), tape.leaf("x", rows.len(), n)];
            let l = lower(&mut tape, nodes[0], nodes[1]);
            let y = factor(&mut tape, nodes[2], l);
            let mut run = tape.finish().workspace();
            run.set(nodes[0], d.as_ref()).unwrap();
            run.set(nodes[1], e.as_ref()).unwrap();
            run.set(nodes[2], x.subrows(rows.start, rows.len())).unwrap();
            run.forward(Key::new(0), Pass::Value).unwrap();
            run.value(y).to_owned()
        };
        let all = values(0..61);
        for rows in [0..1, 3..4, 5..29, 20..61, 60..61] {
            assert_eq!(values(rows.clone()), all.subrows(rows.start, rows.len()));
        }
    }
}
