//! The operations, one idea a file: the equation, the adjoint, the method of [`Tape`](crate::Tape) that records it, and its tests.
//! How products and quotients of triangles are named stands in the crate's documentation.

mod add;
mod add_scaled_rows;
mod cholesky;
mod cholesky_of_sum;
mod columns;
mod diagonal;
mod kernel;
mod log_det;
mod log_gamma;
mod log_sum_exp;
mod lower;
mod lower_over_lower;
mod lower_solve;
mod lower_solve_lower;
mod lower_solve_lower_squared_norm;
mod lower_times;
mod map;
mod matmul;
mod norm;
mod over_lower_transposed;
mod over_lower_transposed_row_norms;
mod product;
mod random;
mod random_lower;
mod row_norms;
mod scale;
mod select;
mod stack;
mod sum;
mod symmetric_product;
mod symmetric_product_lower;
mod times_lower;
mod transpose;

#[cfg(test)]
mod row_tests;

pub use kernel::{
    Angular, Element, Exponential, Form, General, Jet, KernelMap, MOST_PARAMETERS, Point, Profile, Stationary,
};

use crate::node::Node;

/// The message for arguments that do not fit.
#[track_caller]
fn same_shape(operation: &str, a: Node, b: Node) {
    assert!(a.shape() == b.shape(), "{operation}: {} and {} should have the same shape", a.shape(), b.shape());
}

/// The message for an argument that must be a square matrix.
#[track_caller]
fn square(operation: &str, a: Node) {
    assert!(a.rows() == a.cols(), "{operation}: a square matrix is expected, not {}", a.shape());
}

/// The message for an argument that must be a vector of a given length, standing or lying.
#[track_caller]
fn vector(operation: &str, d: Node, len: usize) {
    let fits = d.is_vector() && d.len() == len;
    assert!(fits, "{operation}: a vector of {len} elements is expected, not {}", d.shape());
}

/// The message for an argument that must be a number.
#[track_caller]
fn scalar(operation: &str, s: Node) {
    assert!(s.len() == 1, "{operation}: a 1×1 node is expected, not {}", s.shape());
}
