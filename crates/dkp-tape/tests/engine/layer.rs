//! A small deep inverse Wishart process, written from public operations alone: the input layer Ω, one inverse-Wishart layer
//! between two squared-exponential kernels, and the output layer in closed form, with a Gaussian likelihood.
//!
//! Points are columns. M inducing points, B points a tile, D features; the bound's parts are the outputs.

use dkp_tape::random::{Key, fill_normal};
use dkp_tape::{Exponential, Failure, KernelMap, Lower, Node, Plan, Profile, Scopes, Tape, Totals, Weights, Workspace};
use faer::Mat;

/// h²·exp(−R/(2ℓ²)) with R = r + c − 2g; parameters h and ℓ.
#[derive(Clone, Copy)]
pub struct SquaredExponential;

impl KernelMap for SquaredExponential {
    type Form = Exponential<0>;

    #[inline(always)]
    fn at(&self, _: &[f64; 0], u: f64) -> Profile<0> {
        Profile { value: -0.5 * u, slope: -0.5, parameters: [] }
    }
}

/// Sizes of the problem.
#[derive(Clone, Copy)]
pub struct Size {
    pub features: usize,
    pub inducing: usize,
    pub tile: usize,
    pub points: usize,
    pub draws: usize,
}

/// Parameters of an inverse-Wishart layer in the step.
struct Layer {
    delta: Node,
    /// Degrees of freedom of prior and posterior.
    nu: [Node; 2],
    /// VVᵀ.
    update: Node,
    /// Shapes of the gamma variates on Bartlett's diagonal.
    shapes: Node,
    /// The part of log P − log Q that depends on degrees of freedom alone.
    constant: Node,
}

/// A draw from an inverse-Wishart posterior.
struct Draw {
    /// C with G = CᵀC.
    root: Node,
    log_ratio: Node,
}

/// The recorded programs, their leaves and the data.
pub struct Problem {
    pub size: Size,
    pub scopes: Scopes,
    pub leaves: Vec<(Node, Mat<f64>)>,
    /// Features, target and mask of a tile.
    pub inputs: [Node; 3],
    x: Vec<f64>,
    y: Vec<f64>,
}

struct Recorder {
    step: Tape,
    leaves: Vec<(Node, Mat<f64>)>,
}

impl Recorder {
    fn leaf(&mut self, name: &str, value: Mat<f64>) -> Node {
        let node = self.step.leaf(name, value.nrows(), value.ncols());
        self.leaves.push((node, value));
        node
    }

    /// exp of a scalar leaf.
    fn positive(&mut self, name: &str, value: f64) -> Node {
        let log = self.leaf(&format!("log {name}"), Mat::from_fn(1, 1, |_, _| value.ln()));
        self.step.exp(log)
    }

    fn layer(&mut self, name: &str, p: usize, seed: u64) -> Layer {
        let delta = self.positive(&format!("{name} delta"), 6.0);
        let gamma = self.positive(&format!("{name} gamma"), 4.0);
        let v = self.leaf(&format!("{name} V"), normal(seed, p, p, 0.6));
        let step = &mut self.step;
        let update = step.symmetric_product(v);
        let prior = step.affine(delta, 1.0, p as f64 + 1.0);
        let posterior = step.add(prior, gamma);
        // A_jj² ~ χ²(ν − j + 1) = 2·Gamma((ν − j + 1)/2)
        let halves = step.constant(p, 1, &vec![0.5; p]);
        let shapes = step.scale(posterior, halves);
        let offsets: Vec<f64> = (0..p).map(|j| -0.5 * j as f64).collect();
        let offsets = step.constant(p, 1, &offsets);
        let shapes = step.add(shapes, offsets);
        // −(ν_p − ν_q)·P/2·log 2 − log Γ_P(ν_p/2) + log Γ_P(ν_q/2), and ν_p − ν_q = −γ
        let [half_p, half_q] = [prior, posterior].map(|nu| step.affine(nu, 0.5, 0.0));
        let [lg_p, lg_q] = [half_p, half_q].map(|nu| step.multivariate_ln_gamma(nu, p));
        let gammas = step.subtract(lg_q, lg_p);
        let twos = step.affine(gamma, 0.5 * p as f64 * 2_f64.ln(), 0.0);
        let constant = step.add(gammas, twos);
        Layer { delta, nu: [prior, posterior], update, shapes, constant }
    }
}

/// Draws G ~ W⁻¹(Ψ + VVᵀ, ν_q) by Bartlett's decomposition, and log P(G) − log Q(G) for the prior W⁻¹(Ψ, ν_p).
fn draw_inverse_wishart(tape: &mut Tape, layer: &Layer, psi: Node, prior: Lower) -> Draw {
    let p = psi.rows();
    let scale = tape.add(psi, layer.update);
    let posterior = tape.cholesky(scale);
    let chi = tape.gammas(layer.shapes);
    let chi = tape.affine(chi, 2.0, 0.0);
    let diagonal = tape.sqrt(chi);
    let noise = tape.normals(p, p);
    let a = tape.lower(diagonal, noise);
    let upper = tape.transpose(posterior.matrix());
    // G = CᵀC, C = A⁻¹Lᵀ
    let root = tape.lower_solve(a, upper);
    // tr(Ψ_q G⁻¹) = ‖A‖², tr(Ψ_p G⁻¹) = ‖AᵀL_q⁻¹L_p‖²
    let ratio = tape.lower_solve(posterior, prior.matrix());
    let ratio = tape.matmul(a.matrix().t(), ratio);
    let (trace_p, trace_q) = (tape.squared_norm(ratio), tape.squared_norm(a.matrix()));
    let traces = tape.subtract(trace_q, trace_p);
    // log|G| = log|Ψ_q| − log|AAᵀ|
    let (det_p, det_q, det_a) = (tape.log_det(prior), tape.log_det(posterior), tape.log_det(a));
    let det_g = tape.subtract(det_q, det_a);
    let [nu_p, nu_q] = layer.nu;
    let gamma = tape.subtract(nu_q, nu_p);
    let (scale_p, scale_q) = (tape.product(nu_p, det_p), tape.product(nu_q, det_q));
    let scales = tape.subtract(scale_p, scale_q);
    let volume = tape.product(gamma, det_g);
    let sum = tape.add(scales, volume);
    let sum = tape.add(sum, traces);
    let sum = tape.affine(sum, 0.5, 0.0);
    let log_ratio = tape.add(sum, layer.constant);
    Draw { root, log_ratio }
}

impl Problem {
    /// Records the three programs and makes data that look like a smooth function with noise.
    pub fn new(size: Size) -> Problem {
        let Size { features: d, inducing: m, tile: b, points, .. } = size;
        let mut r = Recorder { step: Tape::new("step"), leaves: Vec::new() };

        // step: what depends on parameters alone
        let xi = r.leaf("inducing inputs", normal(1, d, m, 1.0));
        let omega = r.layer("omega", d, 2);
        let hidden = r.layer("hidden", m, 3);
        let kernels = [1, 2].map(|k| [r.positive(&format!("h{k}"), 1.1), r.positive(&format!("l{k}"), 1.5)]);
        let t = r.leaf("T", Mat::from_fn(m, m, |i, j| if i == j { 2.0 } else { 0.01 * ((i + 2 * j) as f64).sin() }));
        let v = r.leaf("v", normal(4, m, 1, 1.0));
        let noise = r.positive("noise variance", 0.3);
        let Recorder { mut step, leaves } = r;
        let identity = step.constant(d, d, &eye(d));
        let psi_omega = step.scale(omega.delta, identity);
        let prior_omega = step.cholesky(psi_omega);
        let t_transposed = step.transpose(t);
        let log_noise = step.ln(noise);
        let precision = step.reciprocal(noise);
        let extension_shape = step.affine(hidden.delta, 0.5, 0.5 * (m as f64 + 2.0));

        // draw: the inducing part of one posterior draw
        let mut draw = step.nested("draw");
        draw.section("input layer");
        let omega = draw_inverse_wishart(&mut draw, &omega, psi_omega, prior_omega);
        draw.output("log ratio of omega", omega.log_ratio);
        let root = draw.affine(omega.root, 1.0 / (d as f64).sqrt(), 0.0);
        let phi_i = draw.matmul(root, xi);
        let g1 = draw.symmetric_product(phi_i.t());
        let g1_diagonal = draw.diagonal(g1);
        draw.section("layer 1");
        let k1 = draw.kernel_symmetric(SquaredExponential, g1, &kernels[0]);
        let jitter = draw.number(1e-6);
        let k1 = draw.add_diagonal(k1, jitter);
        let psi = draw.scale(hidden.delta, k1);
        let prior = draw.cholesky(psi);
        let layer = draw_inverse_wishart(&mut draw, &hidden, psi, prior);
        draw.output("log ratio of layer 1", layer.log_ratio);
        let g2 = draw.symmetric_product(layer.root.t());
        let g2_diagonal = draw.diagonal(g2);
        draw.section("output layer");
        let k2 = draw.kernel_symmetric(SquaredExponential, g2, &kernels[1]);
        // CCᵀ = I + TᵀKT, E = C⁻¹Tᵀ, a = EᵀEv
        let kt = draw.matmul(k2, t);
        let tkt = draw.matmul(t.t(), kt);
        let one = draw.number(1.0);
        let inner = draw.add_diagonal(tkt, one);
        let c = draw.cholesky(inner);
        let e = draw.lower_solve(c, t_transposed);
        let ev = draw.matmul(e, v);
        let a = draw.matmul(e.t(), ev);
        // KL = ½(log|CCᵀ| − M + ‖C⁻¹‖² + aᵀKa)
        let identity = draw.constant(m, m, &eye(m));
        let c_inverse = draw.lower_solve(c, identity);
        let trace = draw.squared_norm(c_inverse);
        let ka = draw.matmul(k2, a);
        let quadratic = draw.column_dots(a, ka);
        let volume = draw.log_det(c);
        let sum = draw.add(volume, trace);
        let sum = draw.add(sum, quadratic);
        let kl = draw.affine(sum, 0.5, -0.5 * m as f64);
        draw.output("KL of the output", kl);

        // tile: data points through all layers
        let mut tile = draw.nested("tile");
        tile.points(b);
        let (x, y, mask) = (tile.input("x", d, b), tile.input("y", 1, b), tile.input("mask", 1, b));
        let phi_t = tile.matmul(root, x);
        let g1_it = tile.matmul(phi_i.t(), phi_t);
        let g1_tt = tile.column_norms(phi_t);
        let k1_it = tile.kernel_cross(SquaredExponential, g1_it, g1_diagonal, g1_tt, &kernels[0]);
        let k1_tt = tile.kernel_diagonal(SquaredExponential, g1_tt, &kernels[0]);
        let (psi_it, psi_tt) = (tile.scale(hidden.delta, k1_it), tile.scale(hidden.delta, k1_tt));
        // w = L⁻¹ψ, s = ψ_tt − ‖w‖², g = ½s/Gamma(½(δ+M+2)), b = L⁻ᵀ(w + √g·ε)
        let w = tile.lower_solve(prior, psi_it);
        let explained = tile.column_norms(w);
        let schur = tile.subtract(psi_tt, explained);
        let schur = tile.at_least(schur, 1e-10);
        let gamma = tile.point_gammas(extension_shape);
        let inverse_gamma = tile.map("half reciprocal", gamma, |x| (0.5 / x, -0.5 / (x * x)));
        let g = tile.product(schur, inverse_gamma);
        let g_root = tile.sqrt(g);
        let noise = tile.point_normals(m);
        let scaled = tile.scale_columns(noise, g_root);
        let w = tile.add(w, scaled);
        let weights = tile.lower_transposed_solve(prior, w);
        let g2_it = tile.matmul(g2, weights);
        let explained = tile.column_dots(weights, g2_it);
        let g2_tt = tile.add(g, explained);
        let k2_it = tile.kernel_cross(SquaredExponential, g2_it, g2_diagonal, g2_tt, &kernels[1]);
        let k2_tt = tile.kernel_diagonal(SquaredExponential, g2_tt, &kernels[1]);
        // m = aᵀk, s = k_tt − ‖Ek‖²
        let mean = tile.matmul(a.t(), k2_it);
        let ek = tile.matmul(e, k2_it);
        let explained = tile.column_norms(ek);
        let variance = tile.subtract(k2_tt, explained);
        // E log N(y; f, σ²) = −½(log 2πσ² + ((y − m)² + s)/σ²)
        let residual = tile.subtract(y, mean);
        let squared = tile.square(residual);
        let expected = tile.add(squared, variance);
        let fit = tile.scale(precision, expected);
        let ones = tile.constant(1, b, &vec![1.0; b]);
        let level = tile.scale(log_noise, ones);
        let twice = tile.add(fit, level);
        let log_density = tile.affine(twice, -0.5, -0.5 * std::f64::consts::TAU.ln());
        let counted = tile.product(mask, log_density);
        let total = tile.sum(counted);
        tile.output("log likelihood", total);

        let mut scopes = Scopes::new(step.finish(), draw.finish(), tile.finish());
        for (leaf, value) in &leaves {
            scopes.step().set(*leaf, value.as_ref()).expect("finite leaves");
        }
        let data = normal(5, d, points, 1.0);
        let x_values = (0..points).flat_map(|n| (0..d).map(move |i| (i, n))).map(|at| data[at]).collect();
        let y_values = (0..points).map(|n| (0..d).map(|i| data[(i, n)]).sum::<f64>().sin()).collect();
        Problem { size, scopes, leaves, inputs: [x, y, mask], x: x_values, y: y_values }
    }

    pub fn plan(&self) -> Plan {
        Plan { draws: self.size.draws, tiles: self.size.points.div_ceil(self.size.tile) }
    }

    /// The bound and its gradient.
    pub fn gradient(&mut self, key: Key) -> Result<&Totals, Failure> {
        let (plan, s) = (self.plan(), 1.0 / self.size.draws as f64);
        let weights = Weights { step: &[], draw: &[s, s, -s], tile: &[s] };
        let Problem { size, scopes, inputs, x, y, .. } = self;
        scopes.gradient(plan, key, weights, &|t, run| fill(*size, *inputs, x, y, t, run))
    }

    /// The bound.
    pub fn bound(&mut self, key: Key) -> Result<f64, Failure> {
        let (plan, s) = (self.plan(), 1.0 / self.size.draws as f64);
        let Problem { size, scopes, inputs, x, y, .. } = self;
        let totals = scopes.evaluate(plan, key, &|t, run| fill(*size, *inputs, x, y, t, run))?;
        Ok(s * (totals.draw[0] + totals.draw[1] - totals.draw[2] + totals.tile[0]))
    }
}

/// The points of tile t; the last tile is padded with its first point and masked.
fn fill(size: Size, inputs: [Node; 3], x: &[f64], y: &[f64], t: usize, run: &mut Workspace) -> Result<(), Failure> {
    let Size { features: d, tile: b, points, .. } = size;
    let first = t * b;
    let count = b.min(points - first);
    let (mut mask, mut ids, mut ys) = ([0.0; 512], [0; 512], [0.0; 512]);
    mask[..count].fill(1.0);
    ys[..count].copy_from_slice(&y[first..first + count]);
    for (j, id) in ids[..b].iter_mut().enumerate() {
        *id = (first + if j < count { j } else { 0 }) as u64;
    }
    let mut xs = [0.0; 8192];
    for j in 0..b {
        let n = ids[j] as usize;
        xs[j * d..(j + 1) * d].copy_from_slice(&x[n * d..(n + 1) * d]);
    }
    run.set_slice(inputs[0], &xs[..b * d])?;
    run.set_slice(inputs[1], &ys[..b])?;
    run.set_slice(inputs[2], &mask[..b])?;
    run.set_point_ids(&ids[..b]);
    Ok(())
}

fn normal(seed: u64, rows: usize, cols: usize, scale: f64) -> Mat<f64> {
    let mut x = vec![0.0; rows * cols];
    fill_normal(Key::new(seed).stream(9, 9), rows, |j| j as u64, &mut x);
    Mat::from_fn(rows, cols, |i, j| scale * x[j * rows + i])
}

fn eye(n: usize) -> Vec<f64> {
    (0..n * n).map(|e| if e % (n + 1) == 0 { 1.0 } else { 0.0 }).collect()
}
