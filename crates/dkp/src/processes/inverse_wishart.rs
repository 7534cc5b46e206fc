//! The inverse Wishart process.

use super::{Draw, Extension, Law, OutOfRange, PriorProcess, Process, RootDraw, WhitenedInverseWishart};
use crate::distributions::{self, DegreesOfFreedom};
use crate::gram::numbers::columns;
use crate::gram::white::{Noisy, noisy, noisy_data};
use crate::gram::{Block, DataBlock, Gram, condition, factor_of_difference};
use crate::kernels::Kernel;
use crate::model::Family;
use crate::params::{Constraint, Shape};
use dkp_tape::{Failure, Lower, Node, Tape};
use faer::Mat;
use std::sync::Arc;

/// Deep inverse Wishart processes.
pub(super) const FAMILY: Family = Family {
    name: "diwp",
    title: "deep inverse Wishart process",
    posteriors: &["whitened", "paper"],
    parts: |options| match options.posterior {
        "" | "whitened" => {
            let of = |start: WhitenedInverseWishart, delta: f64| Arc::new(WhitenedInverseWishart { delta, ..start });
            let input = of(WhitenedInverseWishart::INPUT, options.input[0]);
            (options.drawn.map(|()| input as _), of(WhitenedInverseWishart::HIDDEN, options.hidden[0]))
        }
        _ => {
            let process = |[delta, gamma]: [f64; 2]| Arc::new(InverseWishart { delta, gamma });
            (options.drawn.map(|()| process(options.input) as _), process(options.hidden))
        }
    },
};

/// G ~ W⁻¹(δK, δ+P+1) over P points: the mean is K, and δ says how closely G follows it.
///
/// At M inducing points the posterior is W⁻¹(δK + VVᵀ, δ+γ+M+1). It is the exact one for data V that are normal with
/// covariance G, if γ is the number of columns of V; otherwise γ is free. Its term of the bound, log P − log Q, is taken in
/// expectation, which has a closed form given K and so a smaller variance and fewer operations than the value at the draw.
///
/// V = √γ·U, with UUᵀ = K to begin with: the posterior's mean is (δK + γUUᵀ)/(δ+γ). The limit is δ → ∞.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseWishart {
    /// δ; in a model that is trained, where it starts.
    pub delta: f64,
    /// γ, where it starts.
    pub gamma: f64,
}

impl InverseWishart {
    /// Where hidden layers start: near their limit, so that the data lower δ.
    pub const HIDDEN: InverseWishart = InverseWishart { delta: 1000.0, gamma: 1e-3 };
    /// Where the input layer starts: a broad prior and a narrow posterior.
    pub const INPUT: InverseWishart = InverseWishart { delta: 5.0, gamma: 500.0 };
}

impl Process for InverseWishart {
    fn name(&self) -> String {
        "inverse_wishart".to_string()
    }

    fn check(&self) -> Result<(), OutOfRange> {
        OutOfRange::unless_positive("δ", self.delta)?;
        OutOfRange::unless_positive("γ", self.gamma)
    }

    fn parameters(&self, size: usize) -> Vec<Shape> {
        vec![
            Shape::new("delta", 1, 1, Constraint::Positive),
            Shape::new("gamma", 1, 1, Constraint::Positive),
            Shape::new("root", size, size, Constraint::Free),
        ]
    }

    fn around(&self, root: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        Ok(vec![vec![self.delta], vec![self.gamma], columns(root)])
    }

    fn limit(&self, kernel: &Arc<dyn Kernel>) -> Arc<dyn Kernel> {
        Arc::new(Noisy(kernel.clone()))
    }

    fn law(&self, tape: &mut Tape, _: usize, parameters: &[Node]) -> Box<dyn Law> {
        let [delta, gamma, u] = *parameters else { panic!("InverseWishart: {} parameters", parameters.len()) };
        let root = tape.sqrt(gamma);
        let v = tape.scale(root, u);
        Box::new(InverseWishartLaw::posterior(tape, delta, gamma, v))
    }

    fn has_gram_form(&self) -> bool {
        true
    }

    fn flops(&self, size: usize, points: usize) -> f64 {
        let (m, b) = (size as f64, points as f64);
        // two Cholesky factors, L_qA⁻¹, L_q⁻¹L_p, L⁻¹F, FFᵀ; L⁻¹k, Qᵀ(…), F·u
        6.0 * m.powi(3) + 9.0 * m * m * b
    }

    fn concentration(&self) -> Option<&'static str> {
        Some("delta")
    }
}

impl PriorProcess for InverseWishart {
    fn check_prior(&self, _: usize) -> Result<(), OutOfRange> {
        OutOfRange::unless_positive("δ", self.delta)
    }

    fn draw_prior(&self, tape: &mut Tape, kernel: Block) -> Block {
        let delta = tape.number(self.delta);
        InverseWishartLaw::prior(tape, delta, kernel.matrix.rows()).draw(tape, kernel).gram
    }

    fn draw_prior_root(&self, tape: &mut Tape, kernel: Node, factor: Lower) -> Node {
        let delta = tape.number(self.delta);
        InverseWishartLaw::prior(tape, delta, kernel.rows()).draw_root(tape, kernel, factor).root
    }
}

/// [`InverseWishart`] with its parameters as nodes.
#[derive(Clone, Copy, Debug)]
pub struct InverseWishartLaw {
    delta: Node,
    prior: DegreesOfFreedom,
    posterior: Option<Posterior>,
    extension: ExtensionShape,
}

#[derive(Clone, Copy, Debug)]
struct Posterior {
    dof: DegreesOfFreedom,
    /// VVᵀ.
    update: Node,
}

/// ½(δ+M+2), the shape of the inverse gamma variate that extends a draw by one point.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtensionShape(Node);

impl ExtensionShape {
    pub fn new(tape: &mut Tape, delta: Node, size: usize) -> ExtensionShape {
        ExtensionShape(tape.affine(delta, 0.5, 0.5 * (size as f64 + 2.0)))
    }
}

impl InverseWishartLaw {
    /// The prior over `size` points, with δ > 0.
    #[track_caller]
    pub fn prior(tape: &mut Tape, delta: Node, size: usize) -> InverseWishartLaw {
        let m = size as f64;
        let nu = tape.affine(delta, 1.0, m + 1.0);
        let extension = ExtensionShape::new(tape, delta, size);
        let prior = DegreesOfFreedom::new(tape, nu, size);
        InverseWishartLaw { delta, prior, posterior: None, extension }
    }

    /// The posterior with V, M×any, and γ ≥ 0.
    #[track_caller]
    pub fn posterior(tape: &mut Tape, delta: Node, gamma: Node, v: Node) -> InverseWishartLaw {
        let prior = InverseWishartLaw::prior(tape, delta, v.rows());
        let nu = tape.add(prior.prior.nu, gamma);
        let dof = DegreesOfFreedom::new(tape, nu, v.rows());
        let update = tape.symmetric_product(v);
        InverseWishartLaw { posterior: Some(Posterior { dof, update }), ..prior }
    }

    /// Draws G ~ Q for K = LLᵀ; with −KL(Q‖P), the expectation of log P(G) − log Q(G) given K.
    fn draw_given(
        &self,
        tape: &mut Tape,
        kernel: Node,
        factor: Lower,
    ) -> (distributions::InverseWishartDraw, Option<Node>) {
        let Some(Posterior { dof, update }) = self.posterior else {
            let root = tape.sqrt(self.delta);
            let scale = tape.scale_lower(root, factor);
            return (distributions::InverseWishart { scale, dof: self.prior }.draw_root(tape), None);
        };
        let scale = tape.cholesky_of_sum(self.delta, kernel, update);
        let posterior = distributions::InverseWishart { scale, dof };
        let prior = distributions::InverseWishart { scale: factor, dof: self.prior };
        let divergence = posterior.divergence_from(tape, &prior, self.delta);
        let log_ratio = tape.affine(divergence, -1.0, 0.0);
        (posterior.draw_root(tape), Some(log_ratio))
    }
}

impl Law for InverseWishartLaw {
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw {
        let noisy = noisy(tape, kernel);
        let factor = tape.cholesky_with_jitter(noisy);
        let (draw, log_ratio) = self.draw_given(tape, noisy, factor);
        let matrix = tape.symmetric_product_lower(draw.root);
        let gram = Block::new(tape, matrix);
        let white_root = tape.lower_solve_lower(factor, draw.root);
        let InverseWishartLaw { delta, extension: shape, .. } = *self;
        let extension = InverseWishartExtension { delta, shape, factor, root: draw.root, white_root, gram };
        Draw { gram, log_ratio, extension: Box::new(extension) }
    }

    fn draw_root(&self, tape: &mut Tape, kernel: Node, factor: Lower) -> RootDraw {
        let (draw, log_ratio) = self.draw_given(tape, kernel, factor);
        let gram = tape.symmetric_product_lower(draw.root);
        RootDraw { root: draw.root.matrix(), gram, log_ratio }
    }
}

/// The conditional of the process given G_ii.
///
/// With K_ii = LLᵀ, w = L⁻¹k_it and s = k_tt − wᵀw, for one point:
/// g ~ InverseGamma(½(δ+M+2), ½s), b = L⁻ᵀ(w + √g·ε), g_it = G_ii·b, g_tt = δg + bᵀG_ii·b.
/// For B points jointly, with their w as rows of W and standard normal E: R is a root of a W⁻¹(K_tt·i, δ+M+B+1), b the rows of
/// (W + RE)·L⁻¹, G_tt·i = δRRᵀ, and G_ti, G_tt as for one point.
///
/// With G_ii = FFᵀ and Q = L⁻¹F, which is lower-triangular and close to a multiple of the identity, b is not needed: u = Fᵀb =
/// Qᵀ(w + √g·ε), g_it = F·u and g_tt = δg + uᵀu. That is one solve and two triangular products a point.
pub(super) struct InverseWishartExtension {
    pub delta: Node,
    pub shape: ExtensionShape,
    /// L with K_ii = LLᵀ.
    pub factor: Lower,
    /// F with G_ii = FFᵀ.
    pub root: Lower,
    /// Q = L⁻¹F.
    pub white_root: Lower,
    pub gram: Block,
}

impl Extension for InverseWishartExtension {
    fn extend(&self, tape: &mut Tape, kernel: Gram) -> Gram {
        let noisy_tt = noisy_data(tape, kernel.tt);
        let (w, complement) = condition(tape, self.factor, kernel.ti, noisy_tt);
        match complement {
            DataBlock::Diagonal(schur) => self.extend_one_by_one(tape, w, schur),
            DataBlock::Full(schur) => {
                let scale = factor_of_difference(tape, schur, noisy_tt);
                self.extend_jointly(tape, w, scale)
            }
        }
    }
}

impl InverseWishartExtension {
    fn extend_one_by_one(&self, tape: &mut Tape, w: Node, schur: Node) -> Gram {
        // g = ½s/Gamma(½(δ+M+2))
        let gamma = tape.point_gammas(self.shape.0);
        let inverse = tape.map("half of the reciprocal", gamma, |x| (0.5 / x, -0.5 / (x * x)));
        let g = tape.product(schur, inverse);
        // u = Qᵀ(w + √g·ε)
        let deviation = tape.sqrt(g);
        let normals = tape.point_normals_by_row(w.cols());
        let white = tape.add_scaled_rows(w, normals, deviation);
        let u = tape.times_lower(white, self.white_root);
        // g_it = F·u, g_tt = δg + uᵀu
        let ti = tape.times_lower_transposed(u, self.root);
        let (own, explained) = (tape.scale(self.delta, g), tape.row_norms(u));
        let tt = tape.add(own, explained);
        Gram::new(tape, self.gram, ti, DataBlock::Diagonal(tt))
    }

    fn extend_jointly(&self, tape: &mut Tape, w: Node, scale: Lower) -> Gram {
        let (b, m) = (w.rows(), w.cols());
        // G_tt·i = δRRᵀ
        let nu = tape.affine(self.delta, 1.0, (m + b + 1) as f64);
        let dof = DegreesOfFreedom::new(tape, nu, b);
        let conditional = distributions::InverseWishart { scale, dof };
        let root = conditional.draw_root(tape).root;
        // U = (W + RE)·Q
        let normals = tape.normals(b, m);
        let noise = tape.lower_times(root, normals);
        let white = tape.add(w, noise);
        let u = tape.times_lower(white, self.white_root);
        // G_ti = U·Fᵀ, G_tt = δRRᵀ + UUᵀ
        let ti = tape.times_lower_transposed(u, self.root);
        let own = tape.symmetric_product_lower(root);
        let (own, explained) = (tape.scale(self.delta, own), tape.symmetric_product(u));
        let tt = tape.add(own, explained);
        Gram::new(tape, self.gram, ti, DataBlock::Full(tt))
    }
}
