//! The input layer: from features to the first Gram matrix.

use super::{Extension, InverseWishart, Process as _};
use crate::gram::{Block, DataBlock, Gram};
use dkp_tape::{Node, Tape};

/// How N₀ input features, points as columns, become the first Gram matrix.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// G₁ = XᵀX/N₀.
    Fixed,
    /// G₁ = XᵀΩX/N₀ with Ω ~ W⁻¹(δI, δ+N₀+1), a Bayesian full-matrix lengthscale; the process is over N₀ "points", the features.
    Omega(InverseWishart),
    /// G₁ ~ W⁻¹(δK, δ+P+1) with K = XᵀX/N₀ over the P points: the same prior, with G₁ itself as the variable. K must have
    /// full rank at the inducing points, so it is for more features than inducing points.
    Gram(InverseWishart),
    /// G₁ = XᵀΩX/N₀ with Ω ~ W(I/N₁, N₁), N₁ a whole number: the deep Wishart process's.
    Wishart {
        /// N₁.
        width: usize,
    },
}

/// Learned scales s and biases b of the features, N₀×1: a point x counts as s∘(x + b).
#[derive(Clone, Copy, Debug)]
pub struct Scaling {
    /// s.
    pub scale: Node,
    /// b.
    pub bias: Node,
}

/// The input layer's draw at the inducing points.
pub struct InputDraw {
    /// G₁ at the inducing points.
    pub gram: Block,
    /// log P − log Q of Ω or of G₁; none where nothing is drawn, or from the prior.
    pub log_ratio: Option<Node>,
    /// Ω, N₀×N₀, in the forms that have it.
    pub omega: Option<Node>,
    projection: Projection,
    /// ΦᵀΦ for the features Φ of the inducing points.
    linear: Block,
    /// TΦ for the same.
    cross: Node,
    /// How G₁ follows from the features' Gram matrix, where it is not that itself.
    extension: Option<Box<dyn Extension>>,
}

/// What takes points to the features whose Gram matrix counts, Φ = R·(s∘(x + b))/√N₀ for Ω = RᵀR.
///
/// That is Φ = Tᵀx⁺ with x⁺ = (x, 1) and T = diag(s)·Rᵀ/√N₀ above bᵀ times the same; without scales and biases x⁺ = x, and T has no last row.
#[derive(Clone, Copy)]
struct Projection {
    scaling: Option<Scaling>,
    /// T; none for Ω = I, where it is a diagonal above a row.
    matrix: Option<Node>,
}

impl Projection {
    /// For Rᵀ, if it is not the identity.
    fn new(tape: &mut Tape, scaling: Option<Scaling>, root: Option<Node>) -> Projection {
        let diagonal = Projection { scaling, matrix: None };
        Projection { matrix: root.map(|r| diagonal.back(tape, r)), ..diagonal }
    }

    /// x⁺ and Φ of points x.
    fn points(self, tape: &mut Tape, x: Node) -> [Node; 2] {
        let ones = self.scaling.map(|_| tape.constant(1, x.cols(), &vec![1.0; x.cols()]));
        let plus = ones.map_or(x, |ones| tape.above(&[x, ones]));
        if let Some(t) = self.matrix {
            return [plus, tape.matmul(t.t(), plus)];
        }
        let mut scaled = x;
        if let (Some(Scaling { scale, bias }), Some(ones)) = (self.scaling, ones) {
            let biases = tape.matmul(bias, ones);
            let moved = tape.add(x, biases);
            scaled = tape.scale_rows(scale, moved);
        }
        [plus, tape.affine(scaled, scale_of(x.rows()), 0.0)]
    }

    /// TΦ.
    fn back(self, tape: &mut Tape, phi: Node) -> Node {
        if let Some(t) = self.matrix {
            return tape.matmul(t, phi);
        }
        let phi = tape.affine(phi, scale_of(phi.rows()), 0.0);
        let Some(Scaling { scale, bias }) = self.scaling else { return phi };
        let scaled = tape.scale_rows(scale, phi);
        let last = tape.matmul(bias.t(), scaled);
        tape.above(&[scaled, last])
    }
}

impl Input {
    /// Draws at the inducing inputs, N₀×M.
    pub fn draw(&self, tape: &mut Tape, scaling: Option<Scaling>, inducing: Node) -> InputDraw {
        let features = inducing.rows();
        let (mut omega, mut log_ratio) = (None, None);
        // Rᵀ with Ω = RᵀR
        let root = match self {
            Input::Fixed | Input::Gram(_) => None,
            Input::Omega(process) => {
                let identity = tape.constant(features, features, &identity(features));
                let factor = tape.cholesky(identity);
                let (draw, own) = process.draw_given(tape, identity, factor);
                (omega, log_ratio) = (Some(tape.symmetric_product_lower(draw.root)), own);
                Some(draw.root.matrix())
            }
            Input::Wishart { width } => {
                let normals = tape.normals(features, *width);
                let root = tape.affine(normals, 1.0 / (*width as f64).sqrt(), 0.0);
                omega = Some(tape.symmetric_product(root));
                Some(root)
            }
        };
        let projection = Projection::new(tape, scaling, root);
        let [_, phi] = projection.points(tape, inducing);
        let (linear, cross) = (Block::from_features(tape, phi), projection.back(tape, phi));
        let (mut gram, mut extension) = (linear, None);
        if let Input::Gram(process) = self {
            let draw = process.draw(tape, linear);
            (gram, log_ratio, extension) = (draw.gram, draw.log_ratio, Some(draw.extension));
        }
        InputDraw { gram, log_ratio, omega, projection, linear, cross, extension }
    }
}

impl InputDraw {
    /// The Gram matrix over data points too, N₀×B: one by one.
    pub fn extend(&self, tape: &mut Tape, data: Node) -> Gram {
        self.extend_with(tape, data, |tape, phi| DataBlock::Diagonal(tape.column_norms(phi)))
    }

    /// The same with all of the data block: jointly.
    pub fn extend_jointly(&self, tape: &mut Tape, data: Node) -> Gram {
        self.extend_with(tape, data, |tape, phi| DataBlock::Full(tape.symmetric_product(phi.t())))
    }

    /// With the data block for given features of the data.
    fn extend_with(&self, tape: &mut Tape, data: Node, tt: impl FnOnce(&mut Tape, Node) -> DataBlock) -> Gram {
        let [plus, phi] = self.projection.points(tape, data);
        // data are constants: x⁺ᵀ(TΦ) has one product less to carry back than (Tᵀx⁺)ᵀΦ
        let (ti, tt) = (tape.matmul(plus.t(), self.cross), tt(tape, phi));
        let gram = Gram::new(tape, self.linear, ti, tt);
        match &self.extension {
            None => gram,
            Some(extension) => extension.extend(tape, gram),
        }
    }
}

/// 1/√N₀
fn scale_of(features: usize) -> f64 {
    1.0 / (features as f64).sqrt()
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|e| if e % (n + 1) == 0 { 1.0 } else { 0.0 }).collect()
}
