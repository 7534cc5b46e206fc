//! Scopes: values, gradients and bits, on any number of threads.

use super::*;
use crate::{Node, Tape};

#[test]
fn chunks_cover_every_tile_once() {
    for (draws, tiles) in [(1, 1), (1, 7), (3, 100), (10, 5), (40, 3)] {
        let plan = Plan { draws, tiles };
        let all: Vec<usize> = (0..plan.chunks()).flat_map(|c| plan.chunk(c)).collect();
        assert_eq!(all, (0..tiles).collect::<Vec<_>>());
    }
}

/// A step with one leaf a, draws with nothing, and tiles of one number x: f = Σ a·x.
fn sums() -> (Scopes, Node, Node) {
    let mut step = Tape::new("step");
    let a = step.leaf("a", 1, 1);
    let draw = step.nested("draw");
    let mut tile = draw.nested("tile");
    let x = tile.input("x", 1, 1);
    let f = tile.product(a, x);
    tile.output("f", f);
    let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
    scopes.step().set_slice(a, &[2.0]).unwrap();
    (scopes, a, x)
}

#[test]
#[should_panic(expected = "input \"x\" of \"tile\" has not been set")]
fn a_tile_that_is_not_filled_is_refused() {
    let (mut scopes, _, x) = sums();
    let plan = Plan { draws: 1, tiles: 2 };
    let _ = scopes.evaluate(plan, Key::new(0), &|t, run| if t == 0 { run.set_slice(x, &[1.0]) } else { Ok(()) });
}

#[test]
#[should_panic(expected = "the point ids of \"tile\" have not been set")]
fn a_tile_does_not_inherit_point_ids() {
    let step = Tape::new("step");
    let draw = step.nested("draw");
    let mut tile = draw.nested("tile");
    tile.points(1);
    tile.point_normals(1);
    let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
    let _ = scopes.evaluate(Plan { draws: 20, tiles: 2 }, Key::new(0), &|t, run| {
        if t == 0 {
            run.set_point_ids(&[7]);
        }
        Ok(())
    });
}

#[test]
fn an_evaluation_leaves_the_gradient_alone() {
    let (mut scopes, a, x) = sums();
    let plan = Plan { draws: 3, tiles: 4 };
    let weights = Weights { step: &[], draw: &[], tile: &[0.5] };
    let fill: Fill<'_> = &|t, run| run.set_slice(x, &[t as f64]);
    assert_eq!(scopes.gradient(plan, Key::new(0), weights, fill).unwrap().tile, [36.0]);
    assert_eq!(scopes.step().gradient(a)[(0, 0)], 9.0);
    assert_eq!(scopes.evaluate(plan, Key::new(0), fill).unwrap().tile, [36.0]);
    assert_eq!(scopes.step().gradient(a)[(0, 0)], 9.0);
}

#[test]
fn gradients_can_follow_an_evaluation_with_fewer_or_more_draws() {
    let (mut scopes, a, x) = sums();
    let weights = Weights { step: &[], draw: &[], tile: &[1.0] };
    let fill: Fill<'_> = &|_, run| run.set_slice(x, &[1.0]);
    for draws in [5, 2, 40, 7] {
        let plan = Plan { draws, tiles: 3 };
        assert_eq!(scopes.evaluate(plan, Key::new(0), fill).unwrap().tile, [6.0 * draws as f64]);
        scopes.gradient(plan, Key::new(0), weights, fill).unwrap();
        assert_eq!(scopes.step().gradient(a)[(0, 0)], 3.0 * draws as f64);
    }
}

#[test]
fn a_plan_without_tiles_or_draws_has_no_gradient() {
    let (mut scopes, a, x) = sums();
    let weights = Weights { step: &[], draw: &[], tile: &[1.0] };
    let fill: Fill<'_> = &|_, run| run.set_slice(x, &[1.0]);
    for (draws, tiles) in [(2, 0), (0, 3)] {
        scopes.gradient(Plan { draws: 2, tiles: 3 }, Key::new(0), weights, fill).unwrap();
        assert_eq!(scopes.step().gradient(a)[(0, 0)], 6.0);
        assert_eq!(scopes.gradient(Plan { draws, tiles }, Key::new(0), weights, fill).unwrap().tile, [0.0]);
        assert_eq!(scopes.step().gradient(a)[(0, 0)], 0.0, "{draws} draws, {tiles} tiles");
    }
}

/// Draws of b = a², with tiles f = Σ b·x that fail where x is not finite, in as many chunks as a draw has.
#[test]
fn a_failed_run_leaves_no_gradient_behind() {
    let mut step = Tape::new("step");
    let a = step.leaf("a", 1, 1);
    let mut draw = step.nested("draw");
    let b = draw.square(a);
    let mut tile = draw.nested("tile");
    let x = tile.input("x", 1, 1);
    let f = tile.product(b, x);
    tile.output("f", f);
    let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
    scopes.step().set_slice(a, &[3.0]).unwrap();
    let (plan, weights) = (Plan { draws: 1, tiles: 100 }, Weights { step: &[], draw: &[], tile: &[1.0] });
    assert!(plan.chunks() > 1);
    for last in [1.0, f64::NAN, 1.0] {
        let fill: Fill<'_> = &|t, run| run.set_slice(x, &[if t == 99 { last } else { 1.0 }]);
        match scopes.gradient(plan, Key::new(0), weights, fill) {
            Ok(totals) => assert_eq!(totals.tile, [900.0]),
            Err(failure) => assert!(last.is_nan(), "{failure}"),
        }
        if last == 1.0 {
            assert_eq!(scopes.step().gradient(a)[(0, 0)], 600.0);
        }
    }
}

#[test]
fn a_draw_may_be_all_that_depends_on_the_step() {
    let mut step = Tape::new("step");
    let a = step.leaf("a", 1, 1);
    let mut draw = step.nested("draw");
    let square = draw.square(a);
    draw.output("a²", square);
    let mut tile = draw.nested("tile");
    let one = tile.number(1.0);
    tile.output("1", one);
    let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
    scopes.step().set_slice(a, &[3.0]).unwrap();
    let weights = Weights { step: &[], draw: &[0.5], tile: &[1.0] };
    for _ in 0..2 {
        let totals = scopes.gradient(Plan { draws: 2, tiles: 3 }, Key::new(0), weights, &|_, _| Ok(())).unwrap();
        assert_eq!((totals.draw[0], totals.tile[0]), (18.0, 6.0));
        assert_eq!(scopes.step().gradient(a)[(0, 0)], 6.0);
    }
}

#[test]
fn filling_a_tile_may_use_the_thread_pool() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let (mut scopes, _, x) = sums();
    let totals = pool.install(|| {
        let fill: Fill<'_> = &|t, run| {
            let sum: usize = (0..1000).into_par_iter().map(|i| i % 2).sum();
            run.set_slice(x, &[(t + sum) as f64])
        };
        scopes.evaluate(Plan { draws: 32, tiles: 4 }, Key::new(0), fill).unwrap().tile[0]
    });
    assert_eq!(totals, 32.0 * 2.0 * (4.0 * 500.0 + 6.0));
}

#[test]
#[should_panic(expected = "Scopes: leaf \"w\" of \"draw\" wants a gradient; only the step has such leaves")]
fn a_leaf_outside_the_step_is_refused() {
    let step = Tape::new("step");
    let mut draw = step.nested("draw");
    draw.leaf("w", 1, 1);
    let tile = draw.nested("tile");
    Scopes::new(step.finish(), draw.finish(), tile.finish());
}

#[test]
#[should_panic(expected = "Scopes: \"tile\" is not nested in \"step\" and \"draw\"")]
fn programs_that_are_not_nested_are_refused() {
    let step = Tape::new("step");
    let (draw, tile) = (step.nested("draw"), step.nested("tile"));
    Scopes::new(step.finish(), draw.finish(), tile.finish());
}

#[test]
fn a_tile_that_cannot_be_filled_stops_the_run_with_its_number() {
    let step = Tape::new("step");
    let draw = step.nested("draw");
    let mut tile = draw.nested("tile");
    let x = tile.input("x", 1, 1);
    let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
    // four chunks of one draw, side by side, and two of them fail
    let plan = Plan { draws: 1, tiles: 4 };
    let value = |t: usize| if t % 2 == 1 { f64::NAN } else { 1.0 };
    let failure = scopes.evaluate(plan, Key::new(0), &|t, run| run.set_slice(x, &[value(t)])).unwrap_err();
    assert_eq!((failure.place.draw, failure.place.tile), (Some(0), Some(1)), "{failure}");
    // nothing of it is left when the data are right
    scopes.evaluate(plan, Key::new(0), &|_, run| run.set_slice(x, &[1.0])).unwrap();
}

#[test]
fn a_visitor_sees_every_draw_and_tile_once() {
    let step = Tape::new("step");
    let mut draw = step.nested("draw");
    let z = draw.normals(1, 1);
    let mut tile = draw.nested("tile");
    let x = tile.input("x", 1, 1);
    let y = tile.add(z, x);
    let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
    for draws in [1, 40] {
        let seen = Mutex::new(Vec::new());
        let fill: Fill<'_> = &|t, run| run.set_slice(x, &[t as f64]);
        let plan = Plan { draws, tiles: 5 };
        let visitor: Visitor<'_> = &|visit| match visit {
            Visit::Draw { draw, run } => seen.lock().unwrap().push((draw, None, run.scalar(z))),
            Visit::Tile { draw, tile, run } => seen.lock().unwrap().push((draw, Some(tile), run.scalar(y))),
        };
        scopes.visit(plan, Key::new(3), fill, visitor).unwrap();
        let mut seen = seen.into_inner().unwrap();
        seen.sort_by_key(|&(d, t, _)| (d, t));
        assert_eq!(seen.len(), 6 * draws);
        for of_draw in seen.chunks(6) {
            let z = of_draw[0].2;
            assert!(of_draw[1..].iter().enumerate().all(|(t, s)| s.1 == Some(t) && s.2 == z + t as f64));
        }
    }
}
