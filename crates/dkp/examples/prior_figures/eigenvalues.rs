//! Spectra of standard Wishart, residual Wishart and inverse Wishart matrices.

use dkp::kernels::Identity;
use dkp::model::{self, Prior, PriorKernel};
use dkp::processes::{Input, InverseWishart, PriorProcess, ResidualWishart, Wishart};
use dkp_report::chart::{Axis, Content, Grid, Ink, Layer, Mark, Panel, Spacing};
use dkp_tape::random::Key;
use faer::{Mat, Scale, Side, c64};
use std::error::Error;
use std::f64::consts::{LN_10, PI};
use std::sync::Arc;

/// N.
const SIZE: usize = 2000;
const SEED: u64 = 1;

/// The logarithms (to base 10) of the eigenvalues shown, and their bins.
const LOW: f64 = -9.0;
const HIGH: f64 = 3.0;
const BINS: usize = 240;
/// Counts, as logarithms: a bin with one eigenvalue has a bar that can be seen.
const FEWEST: f64 = -0.25;
const MOST: f64 = 2.75;

/// A distribution over N×N matrices with mean I.
#[derive(Clone, Copy)]
enum Law {
    /// W(I/N, N).
    Wishart,
    /// WWᵀ, W = (ξ/√N + αI)/√(1+α²).
    Residual { alpha: f64 },
    /// W⁻¹(δI, δ+N+1).
    Inverse { delta: f64 },
}

const N: f64 = SIZE as f64;
const LAWS: [[Law; 4]; 2] = [
    [Law::Wishart, Law::Residual { alpha: 1.0 }, Law::Residual { alpha: 2.0 }, Law::Residual { alpha: 4.0 }],
    [
        Law::Inverse { delta: N / 100.0 },
        Law::Inverse { delta: N / 10.0 },
        Law::Inverse { delta: N },
        Law::Inverse { delta: 10.0 * N },
    ],
];

pub fn figure() -> Result<Grid, Box<dyn Error>> {
    let mut panels = Vec::new();
    for law in LAWS.iter().flatten() {
        let key = Key::new(SEED).draw(panels.len() as u32);
        let eigenvalues = law.draw(key)?.self_adjoint_eigenvalues(Side::Lower).map_err(|e| format!("{e:?}"))?;
        let mean = eigenvalues.iter().sum::<f64>() / N;
        let layers = vec![
            layer(format!("one draw, N = {SIZE}"), 0, Mark::Bars { bars: histogram(&eigenvalues) }),
            layer("limit N → ∞", 0, line(limit(*law))),
            layer("mean of the draw", 1, line([FEWEST, MOST].map(|y| (mean, power(y))).into())),
        ];
        panels.push(Panel { title: law.name(), content: Content::Marks(layers) });
    }
    let axis = |label: &str, low, high| Axis::new(label).over(power(low), power(high)).spaced(Spacing::Log);
    Ok(Grid {
        description: "Spectra of Wishart, residual Wishart and inverse Wishart matrices, with their limits".to_string(),
        x: axis("eigenvalue", LOW, HIGH),
        y: axis("number in bin", FEWEST, MOST),
        columns: LAWS[0].len(),
        panels,
        size: (194.0, 128.0),
        ..Grid::default()
    })
}

fn layer(name: impl Into<String>, ink: usize, mark: Mark) -> Layer {
    Layer { name: name.into(), ink: Ink::Series(ink), mark }
}

fn line(points: Vec<(f64, f64)>) -> Mark {
    Mark::Line { points, width: 1.6 }
}

fn power(exponent: f64) -> f64 {
    10_f64.powf(exponent)
}

impl Law {
    /// A draw, as the Gram matrix of a layer that follows the kernel matrix I: with X = √N·I, XᵀX/N = I.
    fn draw(self, key: Key) -> Result<Mat<f64>, Box<dyn Error>> {
        let x = Scale(N.sqrt()) * Mat::<f64>::identity(SIZE, SIZE);
        let process = match self {
            Law::Wishart => Arc::new(Wishart { dof: N }) as Arc<dyn PriorProcess>,
            Law::Residual { alpha } => Arc::new(ResidualWishart { alpha }),
            Law::Inverse { delta } => Arc::new(InverseWishart { delta, ..InverseWishart::HIDDEN }),
        };
        let kernel = PriorKernel::new(Identity, &[]);
        let layers = vec![model::Layer { kernel: kernel.clone(), process }];
        let draw = Prior { input: Input::Fixed, layers, output: kernel }.draw(x.as_ref(), 1, key)?;
        draw.grams.into_iter().next_back().ok_or_else(|| "a draw without Gram matrices".into())
    }

    fn name(self) -> String {
        match self {
            Law::Wishart => "Wishart W(I/N, N)".to_string(),
            Law::Residual { alpha } => format!("residual Wishart, α = {alpha}"),
            Law::Inverse { delta } => format!("inverse Wishart, δ = {delta}"),
        }
    }

    /// The density of eigenvalues at λ as N → ∞ with δ/N fixed.
    fn limiting_density(self, lambda: f64) -> f64 {
        match self {
            Law::Wishart => noncentral_density(0.0, lambda),
            Law::Residual { alpha } => {
                let variance = 1.0 + alpha * alpha;
                variance * noncentral_density(alpha, variance * lambda)
            }
            Law::Inverse { delta } => {
                // λ = δ/(νw), where w is an eigenvalue of W(I/ν, ν)
                let dof = delta + N + 1.0;
                let w = delta / (dof * lambda);
                w / lambda * marchenko_pastur_density(N / dof, w)
            }
        }
    }
}

/// Marchenko and Pastur's density for a Wishart matrix with `ratio` = rows/degrees of freedom ≤ 1 and mean I.
fn marchenko_pastur_density(ratio: f64, w: f64) -> f64 {
    let (low, high) = ((1.0 - ratio.sqrt()).powi(2), (1.0 + ratio.sqrt()).powi(2));
    ((high - w) * (w - low)).max(0.0).sqrt() / (2.0 * PI * ratio * w)
}

/// The limiting density of the eigenvalues of (ξ/√N + αI)(ξ/√N + αI)ᵀ, from their Stieltjes transform m(z), the solution of
/// m = 1/(α²/(1+m) − z(1+m)) with positive imaginary part (Dozier and Silverstein 2007).
fn noncentral_density(alpha: f64, x: f64) -> f64 {
    /// How far above the real axis the transform is taken, relative to x, and how often its equation is applied.
    const HEIGHT: f64 = 1e-3;
    const ITERATIONS: usize = 4000;
    let z = c64::new(x, HEIGHT * x);
    let mut m = c64::new(0.0, 1.0);
    for _ in 0..ITERATIONS {
        let shifted = m + 1.0;
        // halfway from the last value: the plain iteration circles the solution
        m = (m + (c64::new(alpha * alpha, 0.0) / shifted - z * shifted).inv()) * 0.5;
    }
    m.im / PI
}

/// From eigenvalue, to eigenvalue, and how many: the bins that have any.
fn histogram(eigenvalues: &[f64]) -> Vec<(f64, f64, f64)> {
    let mut counts = [0_usize; BINS];
    for eigenvalue in eigenvalues {
        let bin = (eigenvalue.log10() - LOW) / (HIGH - LOW) * BINS as f64;
        assert!((0.0..BINS as f64).contains(&bin), "the eigenvalue {eigenvalue} is not on the axis");
        counts[bin as usize] += 1;
    }
    let edge = |bin: usize| power(LOW + (HIGH - LOW) * bin as f64 / BINS as f64);
    let bins = counts.into_iter().enumerate().filter(|(_, count)| *count > 0);
    bins.map(|(bin, count)| (edge(bin), edge(bin + 1), count as f64)).collect()
}

/// The number of eigenvalues in a bin that the limit predicts.
fn limit(law: Law) -> Vec<(f64, f64)> {
    const PLACES: usize = 1000;
    let bin = (HIGH - LOW) / BINS as f64;
    let places = (0..=PLACES).map(|i| power(LOW + (HIGH - LOW) * i as f64 / PLACES as f64));
    let number = |lambda: f64| N * bin * LN_10 * lambda * law.limiting_density(lambda);
    let points: Vec<(f64, f64)> = places.map(|lambda| (lambda, number(lambda).max(power(FEWEST)))).collect();
    // each law's limit has one hump: it is drawn from foot to foot, without the zeros on both sides
    let first = points.iter().position(|p| p.1 > power(FEWEST)).unwrap_or(0);
    let last = points.iter().rposition(|p| p.1 > power(FEWEST)).unwrap_or(PLACES);
    points[first.saturating_sub(1)..=(last + 1).min(PLACES)].to_vec()
}
