//! The input layer: from features to the first Gram matrix.

use super::{Extension, InverseWishart, Process as _};
use crate::gram::{Block, Gram};
use dkp_tape::{Lower, Node, Tape};

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

/// The input layer's draw at the inducing points.
pub struct InputDraw {
    /// G₁ at the inducing points.
    pub gram: Block,
    /// log P − log Q of Ω or of G₁; none where nothing is drawn, or from the prior.
    pub log_ratio: Option<Node>,
    /// Ω, N₀×N₀, in the forms that have it.
    pub omega: Option<Node>,
    inducing: Node,
    way: Way,
}

/// How data points follow.
enum Way {
    /// Features of a point, by the root of Ω; the inducing points' are kept.
    Features { root: Root, inducing: Node },
    /// By the process's own extension of the linear kernel.
    Process { kernel: Block, extension: Box<dyn Extension> },
}

/// A root of Ω, by which a point x has the features Rx/√N₀.
#[derive(Clone, Copy)]
enum Root {
    /// Ω = I.
    Identity,
    /// Ω = FFᵀ, R = Fᵀ.
    Lower(Lower),
    /// Ω = RᵀR.
    Dense(Node),
}

impl Root {
    /// RX/√N₀.
    fn project(self, tape: &mut Tape, x: Node) -> Node {
        let scaled = tape.affine(x, scale(x.rows()), 0.0);
        match self {
            Root::Identity => scaled,
            Root::Lower(f) => tape.lower_matmul_transposed(f, scaled),
            Root::Dense(r) => tape.matmul(r, scaled),
        }
    }

    /// Ω.
    fn omega(self, tape: &mut Tape) -> Option<Node> {
        match self {
            Root::Identity => None,
            Root::Lower(f) => Some(tape.lower_square(f)),
            Root::Dense(r) => Some(tape.symmetric_product(r.t())),
        }
    }
}

impl Input {
    /// Draws at the inducing inputs, N₀×M.
    pub fn draw(&self, tape: &mut Tape, inducing: Node) -> InputDraw {
        let features = inducing.rows();
        match self {
            Input::Fixed => InputDraw::from_root(tape, Root::Identity, None, inducing),
            Input::Omega(process) => {
                let identity = tape.constant(features, features, &identity(features));
                let factor = tape.cholesky(identity);
                let (draw, log_ratio) = process.draw_given(tape, identity, factor);
                InputDraw::from_root(tape, Root::Lower(draw.root), log_ratio, inducing)
            }
            Input::Wishart { width } => {
                // Ω = RᵀR, R = ξ/√N₁
                let normals = tape.normals(*width, features);
                let root = tape.affine(normals, 1.0 / (*width as f64).sqrt(), 0.0);
                InputDraw::from_root(tape, Root::Dense(root), None, inducing)
            }
            Input::Gram(process) => {
                let scaled = tape.affine(inducing, scale(features), 0.0);
                let kernel = Block::from_features(tape, scaled);
                let draw = process.draw(tape, kernel);
                let way = Way::Process { kernel, extension: draw.extension };
                InputDraw { gram: draw.gram, log_ratio: draw.log_ratio, omega: None, inducing: scaled, way }
            }
        }
    }
}

impl InputDraw {
    /// G₁ = ΦᵀΦ, Φ = RX/√N₀.
    fn from_root(tape: &mut Tape, root: Root, log_ratio: Option<Node>, inducing: Node) -> InputDraw {
        let phi = root.project(tape, inducing);
        let gram = Block::from_features(tape, phi);
        let omega = root.omega(tape);
        InputDraw { gram, log_ratio, omega, inducing, way: Way::Features { root, inducing: phi } }
    }

    /// The Gram matrix over data points too, N₀×B: one by one.
    pub fn extend(&self, tape: &mut Tape, data: Node) -> Gram {
        match &self.way {
            Way::Features { root, inducing } => {
                let phi = root.project(tape, data);
                Gram::from_features(tape, self.gram, *inducing, phi)
            }
            Way::Process { kernel, extension } => {
                let scaled = tape.affine(data, scale(data.rows()), 0.0);
                let kernel = Gram::from_features(tape, *kernel, self.inducing, scaled);
                extension.extend(tape, kernel)
            }
        }
    }

    /// The same with all of the data block: jointly.
    pub fn extend_jointly(&self, tape: &mut Tape, data: Node) -> Gram {
        match &self.way {
            Way::Features { root, inducing } => {
                let phi = root.project(tape, data);
                Gram::from_features_jointly(tape, self.gram, *inducing, phi)
            }
            Way::Process { kernel, extension } => {
                let scaled = tape.affine(data, scale(data.rows()), 0.0);
                let kernel = Gram::from_features_jointly(tape, *kernel, self.inducing, scaled);
                extension.extend(tape, kernel)
            }
        }
    }
}

/// 1/√N₀
fn scale(features: usize) -> f64 {
    1.0 / (features as f64).sqrt()
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|e| if e % (n + 1) == 0 { 1.0 } else { 0.0 }).collect()
}
