//! Spectra of standard Wishart, residual Wishart and inverse Wishart matrices.

use crate::drawing::{Anchor, Axis, BLACK, Panel, RGBColor, Scene, TICK};
use dkp::kernels::Identity;
use dkp::model::{Prior, PriorInput, PriorKernel, PriorLayer, PriorProcessKind};
use dkp_tape::random::Key;
use faer::{Mat, Scale, Side, c64};
use std::error::Error;
use std::f64::consts::{LN_10, PI};

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

const WIDTH: f64 = 350.0;
const HEIGHT: f64 = 230.0;
const GAP: (f64, f64) = (30.0, 56.0);
const LEFT: f64 = 116.0;
const TOP: f64 = 86.0;
const FONT: f64 = 24.0;
const SMALL: f64 = 21.0;

const BARS: RGBColor = RGBColor(120, 170, 215);
const LIMIT: RGBColor = RGBColor(0, 60, 110);
const MEAN: RGBColor = RGBColor(213, 94, 0);

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

pub fn figure() -> Result<Scene, Box<dyn Error>> {
    let mut scene = Scene::new(1640, 740);
    for (row, laws) in LAWS.iter().enumerate() {
        for (column, law) in laws.iter().enumerate() {
            let key = Key::new(SEED).draw((row * laws.len() + column) as u32);
            let eigenvalues = law.draw(key)?.self_adjoint_eigenvalues(Side::Lower).map_err(|e| format!("{e:?}"))?;
            let panel = panel(row, column);
            histogram(&mut scene, &panel, &eigenvalues);
            limit(&mut scene, &panel, *law);
            let mean = (eigenvalues.iter().sum::<f64>() / N).log10();
            panel.curve(&mut scene, [(mean, FEWEST), (mean, MOST)].into_iter(), 2.5, MEAN);
            panel.frame(&mut scene);
            panel.title(&mut scene, &law.name(), FONT);
            panel.x_tick_labels(&mut scene, SMALL);
            if column == 0 {
                panel.y_tick_labels(&mut scene, SMALL);
                let middle = panel.top + 0.5 * HEIGHT;
                scene.text("number in bin", (LEFT - 84.0, middle), FONT, Anchor::Upwards, BLACK);
            }
            if row + 1 == LAWS.len() {
                let below = panel.bottom() + TICK + 2.5 * SMALL;
                scene.text("eigenvalue", (panel.left + 0.5 * WIDTH, below), FONT, Anchor::Centre, BLACK);
            }
        }
    }
    legend(&mut scene);
    Ok(scene)
}

impl Law {
    /// A draw, as the Gram matrix of a layer that follows the kernel matrix I: with X = √N·I, XᵀX/N = I.
    fn draw(self, key: Key) -> Result<Mat<f64>, Box<dyn Error>> {
        let x = Scale(N.sqrt()) * Mat::<f64>::identity(SIZE, SIZE);
        let process = match self {
            Law::Wishart => PriorProcessKind::Wishart { dof: N },
            Law::Residual { alpha } => PriorProcessKind::ResidualWishart { alpha },
            Law::Inverse { delta } => PriorProcessKind::InverseWishart { delta },
        };
        let kernel = PriorKernel::new(Identity, &[]);
        let layers = vec![PriorLayer { kernel: kernel.clone(), process }];
        let draw = Prior { input: PriorInput::Fixed, layers, output: kernel }.draw(x.as_ref(), 1, key)?;
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

fn panel(row: usize, column: usize) -> Panel {
    let power = |exponent: i32, label: &str| (f64::from(exponent), label.to_string());
    // every other tick without a label, which would be too close to the next
    let x = vec![power(-8, "10⁻⁸"), power(-6, ""), power(-4, "10⁻⁴"), power(-2, ""), power(0, "1"), power(2, "")];
    let y = vec![power(0, "1"), power(1, "10"), power(2, "10²")];
    Panel {
        left: LEFT + column as f64 * (WIDTH + GAP.0),
        top: TOP + row as f64 * (HEIGHT + GAP.1 + 2.0 * FONT),
        width: WIDTH,
        height: HEIGHT,
        x: Axis { low: LOW, high: HIGH, ticks: x },
        y: Axis { low: FEWEST, high: MOST, ticks: y },
    }
}

fn histogram(scene: &mut Scene, panel: &Panel, eigenvalues: &[f64]) {
    let mut counts = [0_usize; BINS];
    for eigenvalue in eigenvalues {
        let bin = (eigenvalue.log10() - LOW) / (HIGH - LOW) * BINS as f64;
        assert!((0.0..BINS as f64).contains(&bin), "the eigenvalue {eigenvalue} is not on the axis");
        counts[bin as usize] += 1;
    }
    let edge = |bin: usize| LOW + (HIGH - LOW) * bin as f64 / BINS as f64;
    let mut bar = |from: f64, to: f64, count: usize| {
        if count > 0 {
            scene.fill([panel.at(from, (count as f64).log10()), panel.at(to, FEWEST)], BARS);
        }
    };
    for (bin, &count) in counts.iter().enumerate() {
        bar(edge(bin), edge(bin + 1), count);
    }
    // from middle to middle as high as both: no seams show between bars
    let half = 0.5 * (HIGH - LOW) / BINS as f64;
    for (bin, pair) in counts.windows(2).enumerate() {
        bar(edge(bin) + half, edge(bin + 1) + half, pair[0].min(pair[1]));
    }
}

/// The number of eigenvalues in a bin that the limit predicts.
fn limit(scene: &mut Scene, panel: &Panel, law: Law) {
    const PLACES: usize = 1000;
    let bin = (HIGH - LOW) / BINS as f64;
    let places = (0..=PLACES).map(|i| LOW + (HIGH - LOW) * i as f64 / PLACES as f64);
    let logarithm = |place: f64| {
        let lambda = 10_f64.powf(place);
        (N * bin * LN_10 * lambda * law.limiting_density(lambda)).log10()
    };
    let points: Vec<(f64, f64)> = places.map(|place| (place, logarithm(place).max(FEWEST))).collect();
    // each law's limit has one hump: it is drawn from foot to foot, without the zeros on both sides
    let first = points.iter().position(|p| p.1 > FEWEST).unwrap_or(0);
    let last = points.iter().rposition(|p| p.1 > FEWEST).unwrap_or(PLACES);
    let hump = first.saturating_sub(1)..=(last + 1).min(PLACES);
    panel.curve(scene, points[hump].iter().copied(), 2.5, LIMIT);
}

fn legend(scene: &mut Scene) {
    const Y: f64 = 24.0;
    const SAMPLE: f64 = 40.0;
    let draw = format!("one draw, N = {SIZE}");
    for (left, text, thickness, colour) in
        [(0.0, draw.as_str(), 16.0, BARS), (330.0, "limit N → ∞", 3.0, LIMIT), (580.0, "mean of the draw", 3.0, MEAN)]
    {
        let left = LEFT + left;
        scene.line(vec![(left, Y), (left + SAMPLE, Y)], thickness, colour);
        scene.text(text, (left + SAMPLE + 12.0, Y), SMALL, Anchor::Left, BLACK);
    }
}
