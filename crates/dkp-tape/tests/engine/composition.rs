//! The engine composes: an inverse-Wishart layer with kernels and the closed-form output layer.

use crate::layer::{Problem, Size};
use dkp_tape::gradcheck::compare;
use dkp_tape::random::Key;
use dkp_tape::{Node, Plan};
use faer::{Mat, MatRef};

const SMALL: Size = Size { features: 3, inducing: 18, tile: 5, points: 13, draws: 3 };

/// The gradients of all leaves.
fn gradients(problem: &mut Problem) -> Vec<Mat<f64>> {
    let leaves: Vec<Node> = problem.leaves.iter().map(|(leaf, _)| *leaf).collect();
    leaves.into_iter().map(|leaf| problem.scopes.step().gradient(leaf).to_owned()).collect()
}

fn on_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

#[test]
fn gradient_of_the_bound_agrees_with_finite_differences() {
    let mut problem = Problem::new(SMALL);
    let key = Key::new(7).smooth();
    problem.gradient(key).unwrap();
    let gradients = gradients(&mut problem);
    let references: Vec<MatRef<'_, f64>> = gradients.iter().map(Mat::as_ref).collect();
    let leaves: Vec<Mat<f64>> = problem.leaves.iter().map(|(_, value)| value.clone()).collect();
    let report = compare(&leaves, &references, |i, value| {
        let leaf = problem.leaves[i].0;
        problem.scopes.step().set(leaf, value)?;
        Ok(vec![problem.bound(key)?])
    })
    .unwrap();
    println!("{report:?}");
    // differences of gamma quantiles are good to 5e-6, over 16 keys and four steps
    report.assert_below(1e-5);
}

#[test]
fn values_do_not_depend_on_whether_a_gradient_follows() {
    let mut problem = Problem::new(SMALL);
    let totals = problem.gradient(Key::new(3)).unwrap().clone();
    let bound = problem.bound(Key::new(3)).unwrap();
    let s = 1.0 / SMALL.draws as f64;
    assert_eq!(bound, s * (totals.draw[0] + totals.draw[1] - totals.draw[2] + totals.tile[0]));
}

#[test]
fn same_seed_same_bits_over_runs_and_threads() {
    // five draws on two threads: a thread keeps to a draw; one draw: threads share its tiles
    for draws in [1, 3, 5] {
        let size = Size { points: 60, draws, ..SMALL };
        let run = |threads: usize| {
            on_threads(threads, || {
                let mut problem = Problem::new(size);
                let totals = problem.gradient(Key::new(11).step(4)).unwrap().clone();
                let first = gradients(&mut problem);
                problem.gradient(Key::new(12)).unwrap();
                let other = gradients(&mut problem);
                assert_ne!(first, other, "another seed gives other numbers");
                assert_eq!(&totals, problem.gradient(Key::new(11).step(4)).unwrap());
                assert_eq!(first, gradients(&mut problem), "the same workspace again");
                (totals, first)
            })
        };
        let one = run(1);
        for threads in [1, 2, 2, 3, 7] {
            assert_eq!(one, run(threads), "{draws} draws on {threads} threads");
        }
    }
}

#[test]
fn a_failed_draw_is_named_and_the_next_run_is_unharmed() {
    let mut problem = Problem::new(SMALL);
    let expected = (problem.gradient(Key::new(1)).unwrap().clone(), gradients(&mut problem));
    // inducing points that all coincide, and a jitter lost beside a huge kernel
    let (inducing, height) = (problem.leaves[0].clone(), problem.leaves[7].clone());
    let same = Mat::from_fn(SMALL.features, SMALL.inducing, |i, _| inducing.1[(i, 0)]);
    problem.scopes.step().set(inducing.0, same.as_ref()).unwrap();
    problem.scopes.step().set_slice(height.0, &[1e6_f64.ln()]).unwrap();
    let failure = problem.gradient(Key::new(1)).unwrap_err();
    let text = failure.to_string();
    assert!(text.starts_with("program \"draw\", draw 0, layer 1, cholesky"), "{text}");
    for (leaf, value) in [&inducing, &height] {
        problem.scopes.step().set(*leaf, value.as_ref()).unwrap();
    }
    assert_eq!(expected, (problem.gradient(Key::new(1)).unwrap().clone(), gradients(&mut problem)));
}

#[test]
fn a_points_result_depends_on_its_own_row_alone() {
    for (inducing, tile) in [(5, 9), (37, 24), (100, 64), (100, 114)] {
        let mut problem = Problem::new(Size { features: 3, inducing, tile, points: tile, draws: 1 });
        let [x, y, mask] = problem.inputs;
        // the log likelihood of point `id` at a position in the tile, with other points around it
        let mut alone = |id: u64, position: usize, others: u64| {
            let ids: Vec<u64> = (0..tile).map(|j| if j == position { id } else { others + j as u64 }).collect();
            let xs: Vec<f64> = ids.iter().flat_map(|&n| (0..3).map(move |i| ((5 * n + i) as f64).sin())).collect();
            let ys: Vec<f64> = ids.iter().map(|&n| (n as f64).cos()).collect();
            let masks: Vec<f64> = (0..tile).map(|j| if j == position { 1.0 } else { 0.0 }).collect();
            let totals = problem.scopes.evaluate(Plan { draws: 1, tiles: 1 }, Key::new(2), &|_, run| {
                run.set_point_ids(&ids);
                run.set_slice(x, &xs)?;
                run.set_slice(y, &ys)?;
                run.set_slice(mask, &masks)
            });
            totals.unwrap().tile[0]
        };
        let expected = alone(5, 0, 100);
        for position in 0..tile {
            assert_eq!(alone(5, position, 1000), expected, "M {inducing}, at {position} of {tile}");
        }
        assert_ne!(alone(6, 0, 100), expected);
    }
}
