//! The matrix normal distribution.

use super::{Distribution, Error, MatrixDistribution, Support, constant, error};
use dkp_tape::{Lower, Node, Tape};
use faer::MatRef;

/// N(M, U, V) over n×p matrices: rows have covariance U = L_UL_Uᵀ, columns V = L_VL_Vᵀ.
///
/// log p(X) = −½tr(V⁻¹(X−M)ᵀU⁻¹(X−M)) − np/2·log 2π − n/2·log|V| − p/2·log|U|
///
/// A draw is M + L_U·Z·L_Vᵀ with standard normal Z.
#[derive(Clone, Copy, Debug)]
pub struct MatrixNormal {
    /// M, n×p.
    pub mean: Node,
    /// L_U, n×n.
    pub rows: Lower,
    /// L_V, p×p.
    pub columns: Lower,
}

impl MatrixNormal {
    /// The log-density from tr(V⁻¹(X−M)ᵀU⁻¹(X−M)).
    fn log_density_from(&self, tape: &mut Tape, trace: Node) -> Node {
        let (n, p) = (self.mean.rows() as f64, self.mean.cols() as f64);
        let (rows, columns) = (tape.log_det(self.rows), tape.log_det(self.columns));
        let (rows, columns) = (tape.affine(rows, p, 0.0), tape.affine(columns, n, 0.0));
        let sum = tape.add(rows, columns);
        let sum = tape.add(sum, trace);
        tape.affine(sum, -0.5, -0.5 * n * p * std::f64::consts::TAU.ln())
    }

    fn place(&self, tape: &mut Tape, normals: Node) -> Node {
        let left = tape.matmul(self.rows.matrix(), normals);
        let both = tape.matmul(left, self.columns.matrix().t());
        tape.add(self.mean, both)
    }
}

impl MatrixDistribution for MatrixNormal {
    fn shape(&self) -> (usize, usize) {
        (self.mean.rows(), self.mean.cols())
    }

    fn log_density(&self, tape: &mut Tape, x: Node) -> Node {
        // L_V⁻¹(L_U⁻¹(X−M))ᵀ
        let centred = tape.subtract(x, self.mean);
        let left = tape.lower_solve(self.rows, centred);
        let transposed = tape.transpose(left);
        let white = tape.lower_solve(self.columns, transposed);
        let trace = tape.squared_norm(white);
        self.log_density_from(tape, trace)
    }

    fn draw(&self, tape: &mut Tape) -> Node {
        let normals = tape.normals(self.mean.rows(), self.mean.cols());
        self.place(tape, normals)
    }

    fn draw_with_log_density(&self, tape: &mut Tape) -> (Node, Node) {
        let normals = tape.normals(self.mean.rows(), self.mean.cols());
        let trace = tape.squared_norm(normals);
        (self.place(tape, normals), self.log_density_from(tape, trace))
    }
}

/// [`MatrixNormal`] with numbers: N(M, U, V).
pub fn matrix_normal(
    mean: MatRef<'_, f64>,
    rows: MatRef<'_, f64>,
    columns: MatRef<'_, f64>,
) -> Result<Distribution, Error> {
    let (n, p) = (mean.nrows(), mean.ncols());
    error::shape("the mean", mean, (n, p))?;
    error::finite("the mean", mean)?;
    for (name, covariance, size) in [("the rows' covariance", rows, n), ("the columns' covariance", columns, p)] {
        error::shape(name, covariance, (size, size))?;
        error::scale(name, covariance)?;
    }
    Distribution::new(Support::Everything, Tape::new("matrix normal"), |tape| {
        let (mean, rows, columns) = (constant(tape, mean), constant(tape, rows), constant(tape, columns));
        tape.section("the rows' covariance");
        let rows = tape.cholesky(rows);
        tape.section("the columns' covariance");
        MatrixNormal { mean, rows, columns: tape.cholesky(columns) }
    })
}
