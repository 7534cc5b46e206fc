//! Handles to the values of a program.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies a tape among all that this process records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TapeId(u64);

impl TapeId {
    pub(crate) fn fresh() -> TapeId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        TapeId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A matrix in a program: a plain handle, valid in the tape that made it and in tapes nested in that one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    pub(crate) tape: TapeId,
    pub(crate) index: u32,
    pub(crate) rows: u32,
    pub(crate) cols: u32,
    /// Whether a gradient can flow to some leaf through this node.
    pub(crate) differentiable: bool,
}

impl Node {
    /// The number of rows.
    pub fn rows(self) -> usize {
        self.rows as usize
    }

    /// The number of columns.
    pub fn cols(self) -> usize {
        self.cols as usize
    }

    /// The number of elements.
    pub fn len(self) -> usize {
        self.rows() * self.cols()
    }

    /// Always false: a node has at least one element.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// This matrix, transposed where it is read: `tape.matmul(a.t(), b)`.
    pub fn t(self) -> Operand {
        Operand { node: self, transposed: true }
    }

    pub(crate) fn shape(self) -> Shape {
        Shape(self.rows(), self.cols())
    }

    pub(crate) fn is_vector(self) -> bool {
        self.rows == 1 || self.cols == 1
    }
}

/// A node as a product reads it: as it is, or transposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    pub(crate) node: Node,
    pub(crate) transposed: bool,
}

impl Operand {
    /// The transpose of what this reads.
    pub fn t(self) -> Operand {
        Operand { transposed: !self.transposed, ..self }
    }

    pub(crate) fn shape(self) -> Shape {
        let Shape(rows, cols) = self.node.shape();
        if self.transposed { Shape(cols, rows) } else { Shape(rows, cols) }
    }
}

impl From<Node> for Operand {
    fn from(node: Node) -> Operand {
        Operand { node, transposed: false }
    }
}

/// A lower-triangular matrix with nonzero diagonal, made by [`Tape::cholesky`](crate::Tape::cholesky),
/// [`Tape::lower`](crate::Tape::lower) or as a quotient of two others: what a solve or a log-determinant takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lower(pub(crate) Node);

impl Lower {
    /// The matrix itself, zero above the diagonal.
    pub fn matrix(self) -> Node {
        self.0
    }

    /// The number of rows.
    pub fn size(self) -> usize {
        self.0.rows()
    }
}

/// Rows and columns, for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape(pub usize, pub usize);

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}×{}", self.0, self.1)
    }
}
