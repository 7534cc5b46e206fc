//! Workspaces: what they hold, refuse and report.

use super::*;
use crate::Tape;

/// ln x of a leaf, as the output.
fn logarithm() -> (Workspace, Node) {
    let mut tape = Tape::new("logarithm");
    let x = tape.leaf("x", 1, 1);
    let y = tape.ln(x);
    tape.output("y", y);
    (tape.finish().workspace(), x)
}

#[test]
fn a_leaf_that_is_not_finite_is_named() {
    let mut tape = Tape::new("program");
    let x = tape.leaf("weights", 2, 2);
    let mut run = tape.finish().workspace();
    let failure = run.set_slice(x, &[1.0, 2.0, f64::NAN, 4.0]).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "program \"program\", leaf \"weights\" (node 0): the value given for row 0, column 1 is NaN; leaves must be finite"
    );
}

#[test]
fn an_output_that_is_not_finite_is_a_failure() {
    let (mut run, x) = logarithm();
    run.set_slice(x, &[0.0]).unwrap();
    let failure = run.forward(Key::new(0), Pass::Value).unwrap_err();
    assert_eq!(failure.problem, Problem::NonFiniteOutput { value: f64::NEG_INFINITY });
    run.set_slice(x, &[1.0]).unwrap();
    run.forward(Key::new(0), Pass::Value).unwrap();
}

#[test]
#[should_panic(expected = "forward: leaf \"x\" of \"logarithm\" has not been set")]
fn a_leaf_that_was_never_set_is_named() {
    let _ = logarithm().0.forward(Key::new(0), Pass::Value);
}

#[test]
#[should_panic(expected = "forward: the point ids of \"tile\" have not been set")]
fn data_points_without_ids_are_refused() {
    let mut tape = Tape::new("tile");
    tape.points(2);
    tape.point_normals(3);
    let _ = tape.finish().workspace().forward(Key::new(0), Pass::Value);
}

#[test]
#[should_panic(expected = "set_slice: 3 numbers for a 1×1 leaf")]
fn too_many_numbers_are_refused() {
    let (mut run, x) = logarithm();
    let _ = run.set_slice(x, &[1.0, 2.0, 3.0]);
}

#[test]
#[should_panic(expected = "set: 1×2 numbers for a 1×1 leaf")]
fn a_matrix_of_another_shape_is_refused() {
    let (mut run, x) = logarithm();
    let _ = run.set(x, faer::Mat::zeros(1, 2).as_ref());
}

#[test]
#[should_panic(expected = "value: the 1×1 node is not of program \"logarithm\"")]
fn a_node_of_another_program_has_no_value_here() {
    logarithm().0.value(logarithm().1);
}

#[test]
#[should_panic(expected = "backward: 2 weights for 1 outputs")]
fn every_output_needs_a_weight() {
    let (mut run, x) = logarithm();
    run.set_slice(x, &[1.0]).unwrap();
    run.forward(Key::new(0), Pass::Gradient).unwrap();
    let _ = run.backward(&[1.0, 2.0]);
}

#[test]
#[should_panic(expected = "program \"inner\" runs inside 1 others")]
fn a_nested_program_needs_its_surroundings() {
    let outer = Tape::new("outer");
    let inner = outer.nested("inner");
    let _ = inner.finish().workspace().forward(Key::new(0), Pass::Value);
}

#[test]
#[should_panic(expected = "backward: run \"logarithm\" forward with Pass::Gradient first")]
fn a_gradient_needs_a_pass_that_prepares_it() {
    let (mut run, x) = logarithm();
    run.set_slice(x, &[1.0]).unwrap();
    run.forward(Key::new(0), Pass::Value).unwrap();
    run.backward(&[1.0]).unwrap();
}

#[test]
#[should_panic(expected = "backward: run \"logarithm\" forward")]
fn a_changed_leaf_needs_a_new_pass() {
    let (mut run, x) = logarithm();
    run.set_slice(x, &[1.0]).unwrap();
    run.forward(Key::new(0), Pass::Gradient).unwrap();
    run.set_slice(x, &[2.0]).unwrap();
    run.backward(&[1.0]).unwrap();
}

#[test]
#[should_panic(expected = "value: run \"logarithm\" forward first")]
fn a_failed_run_leaves_no_value() {
    let mut tape = Tape::new("logarithm");
    let x = tape.leaf("x", 1, 1);
    let y = tape.ln(x);
    tape.output("y", y);
    let mut run = tape.finish().workspace();
    run.set_slice(x, &[-1.0]).unwrap();
    run.forward(Key::new(0), Pass::Value).unwrap_err();
    run.value(y);
}

#[test]
fn a_gradient_that_is_not_finite_is_a_failure() {
    let mut tape = Tape::new("root");
    let x = tape.leaf("x", 2, 1);
    let root = tape.sqrt(x);
    let y = tape.squared_norm(root);
    tape.output("y", y);
    let mut run = tape.finish().workspace();
    run.set_slice(x, &[1.0, 0.0]).unwrap();
    run.forward(Key::new(0), Pass::Gradient).unwrap();
    let failure = run.backward(&[1.0]).unwrap_err();
    assert!(matches!(failure.problem, Problem::NonFiniteGradient { row: 1, col: 0, .. }), "{failure}");
}

#[test]
fn nested_programs_can_be_run_by_hand() {
    // f = Σ (a + 3)², and 3 is the nested program's own
    let mut outer = Tape::new("outer");
    let x = outer.leaf("x", 2, 1);
    let a = outer.affine(x, 2.0, 0.0);
    let mut inner = outer.nested("inner");
    let shifted = inner.affine(a, 1.0, 3.0);
    let f = inner.squared_norm(shifted);
    inner.output("f", f);
    let (mut outer, mut inner) = (outer.finish().workspace(), inner.finish().workspace());
    outer.set_slice(x, &[1.0, -1.0]).unwrap();
    outer.forward(Key::new(0), Pass::Gradient).unwrap();
    inner.forward_within(&[&outer], Key::new(0), Pass::Gradient).unwrap();
    assert_eq!(inner.scalar(f), 26.0);
    inner.backward_within(&[&outer], &[1.0]).unwrap();
    outer.add_gradient(a, inner.gradient(a));
    outer.backward(&[]).unwrap();
    assert_eq!((outer.gradient(x)[(0, 0)], outer.gradient(x)[(1, 0)]), (20.0, 4.0));
}

#[test]
fn a_backward_pass_can_be_repeated() {
    let mut tape = Tape::new("twice");
    let x = tape.leaf("x", 2, 1);
    let squares = tape.square(x);
    let f = tape.squared_norm(squares);
    tape.output("f", f);
    let mut run = tape.finish().workspace();
    run.set_slice(x, &[1.0, 2.0]).unwrap();
    run.forward(Key::new(0), Pass::Gradient).unwrap();
    for times in [1.0, 2.0] {
        run.backward(&[1.0]).unwrap();
        // d/dx x⁴
        assert_eq!((run.gradient(x)[(0, 0)], run.gradient(x)[(1, 0)]), (4.0 * times, 32.0 * times));
    }
}

#[test]
fn gradients_add_up_until_they_are_cleared() {
    let (mut run, x) = logarithm();
    run.set_slice(x, &[4.0]).unwrap();
    for expected in [0.25, 0.5] {
        run.forward(Key::new(0), Pass::Gradient).unwrap();
        run.backward(&[1.0]).unwrap();
        assert_eq!(run.gradient(x)[(0, 0)], expected);
    }
    run.clear_gradients();
    assert_eq!(run.gradient(x)[(0, 0)], 0.0);
}
