//! The input layer: from features to the first Gram matrix.

use super::{Extension, Law};
use crate::gram::{Block, DataBlock, Gram};
use dkp_tape::{Lower, Node, Tape};

/// How N₀ input features, points as columns, become the first Gram matrix: P is a process, of a model, of a prior, or recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input<P> {
    /// G₁ = XᵀX/N₀.
    Fixed,
    /// G₁ = XᵀΩX/N₀ with Ω drawn by the process over N₀ "points", the features, whose kernel is the identity: a Bayesian full-matrix
    /// lengthscale.
    Omega(P),
    /// G₁ itself drawn by the process, whose kernel is K = XᵀX/N₀ over the points. For inverse Wishart processes the prior is the same. K must
    /// have full rank at the inducing points, so it is for more features than those.
    Gram(P),
}

impl<P> Input<P> {
    /// The process, if there is one.
    pub fn process(&self) -> Option<&P> {
        match self {
            Input::Fixed => None,
            Input::Omega(process) | Input::Gram(process) => Some(process),
        }
    }

    /// The same with something else in the process's place.
    pub fn map<Q>(self, f: impl FnOnce(P) -> Q) -> Input<Q> {
        match self {
            Input::Fixed => Input::Fixed,
            Input::Omega(process) => Input::Omega(f(process)),
            Input::Gram(process) => Input::Gram(f(process)),
        }
    }

    /// The same by reference.
    pub fn as_ref(&self) -> Input<&P> {
        match self {
            Input::Fixed => Input::Fixed,
            Input::Omega(process) => Input::Omega(process),
            Input::Gram(process) => Input::Gram(process),
        }
    }

    /// Over how many points the process is.
    pub fn size(&self, features: usize, inducing: usize) -> usize {
        if matches!(self, Input::Gram(_)) { inducing } else { features }
    }
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

/// The features of points, N₀×B, whose Gram matrix counts, for Rᵀ with Ω = RᵀR if that is not the identity.
pub(crate) fn features_of(tape: &mut Tape, root: Option<Node>, points: Node) -> Node {
    Projection::new(tape, None, root).points(tape, points)[1]
}

/// The kernel of the features, I, and its factor.
pub(crate) fn identity(tape: &mut Tape, features: usize) -> (Node, Lower) {
    let identity: Vec<f64> = (0..features * features).map(|e| f64::from(e % (features + 1) == 0)).collect();
    let identity = tape.constant(features, features, &identity);
    (identity, tape.cholesky(identity))
}

impl Input<Box<dyn Law>> {
    /// Draws at the inducing inputs, N₀×M.
    pub fn draw(&self, tape: &mut Tape, scaling: Option<Scaling>, inducing: Node) -> InputDraw {
        let (mut omega, mut log_ratio, mut root) = (None, None, None);
        if let Input::Omega(law) = self {
            let (identity, factor) = identity(tape, inducing.rows());
            let draw = law.draw_root(tape, identity, factor);
            (omega, log_ratio, root) = (Some(draw.gram), draw.log_ratio, Some(draw.root));
        }
        let projection = Projection::new(tape, scaling, root);
        let [_, phi] = projection.points(tape, inducing);
        let (linear, cross) = (Block::from_features(tape, phi), projection.back(tape, phi));
        let (mut gram, mut extension) = (linear, None);
        if let Input::Gram(law) = self {
            let draw = law.draw(tape, linear);
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
