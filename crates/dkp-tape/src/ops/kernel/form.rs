//! The forms of kernels: what each is a function of, what is kept of it for the adjoint, and how derivatives follow from that.

use super::map::{Element, Jet, KernelMap, MOST_PARAMETERS, Point, Profile};
use crate::math::{exp, positive_part};

/// What a kernel is a function of: one of [`General`], [`Angular`], [`Stationary`] and [`Exponential`], each with a number P of parameters
/// that are the kernel's own.
///
/// | form | the kernel | `at` takes | and returns | kept for the adjoint, numbers an element |
/// |---|---|---|---|---|
/// | `General<P>` | k(g, r, c) | [`Element`] | [`Jet<P>`] | 3 + P |
/// | `Angular<P>` | k(g, r, c) by √r and √c | [`Element<Point>`] | [`Jet<P>`] | 3 + P |
/// | `Stationary<P>` | h²·ρ(u) | u | [`Profile<P>`] of ρ | 2 + P |
/// | `Exponential<P>` | h²·ρ(u) | u | [`Profile<P>`] of ln ρ | none |
///
/// with u = R/ℓ² and R = r + c − 2g, clipped at 0: the height h and the lengthscale ℓ are parameters that the form has, in front of the
/// kernel's own. There are four parameters at most in all.
pub trait Form: Passes {
    /// The kernel's own parameters, `[f64; P]`.
    type Parameters;
    /// What [`KernelMap::at`] takes.
    type Argument;
    /// What it returns.
    type Jet;
    /// The names of the parameters that every kernel of this form has.
    const NAMES: &'static [&'static str];
}

/// Any function of g, r and c.
pub struct General<const P: usize>;

/// A function of g, r and c by the roots of r and c, which are then computed once for many elements: one of lengths and an angle.
pub struct Angular<const P: usize>;

/// h²·ρ(R/ℓ²): its derivatives in r and c follow from that in g, that in h from its value.
pub struct Stationary<const P: usize>;

/// h²·ρ(R/ℓ²) where ln ρ is much cheaper than ρ: all derivatives follow from its value and those of ln ρ, which is evaluated again for them.
pub struct Exponential<const P: usize>;

impl<const P: usize> Form for General<P> {
    type Parameters = [f64; P];
    type Argument = Element;
    type Jet = Jet<P>;
    const NAMES: &'static [&'static str] = &[];
}

impl<const P: usize> Form for Angular<P> {
    type Parameters = [f64; P];
    type Argument = Element<Point>;
    type Jet = Jet<P>;
    const NAMES: &'static [&'static str] = &[];
}

impl<const P: usize> Form for Stationary<P> {
    type Parameters = [f64; P];
    type Argument = f64;
    type Jet = Profile<P>;
    const NAMES: &'static [&'static str] = SCALES;
}

impl<const P: usize> Form for Exponential<P> {
    type Parameters = [f64; P];
    type Argument = f64;
    type Jet = Profile<P>;
    const NAMES: &'static [&'static str] = SCALES;
}

/// The parameters of functions of the distance.
const SCALES: &[&str] = &["height", "lengthscale"];

/// All parameters of a kernel, those of the form first.
pub type Theta = [f64; MOST_PARAMETERS];

/// The most numbers that are kept of an element.
pub const MOST_KEPT: usize = 3 + MOST_PARAMETERS;

/// What the engine does with a form. Only the forms of this module have it.
pub trait Passes: Sized + 'static {
    /// How many parameters are the kernel's own.
    const OWN: usize;
    /// Numbers that the forward pass keeps of an element.
    const KEPT: usize;
    /// Whether the roots of diagonals are needed.
    const ROOTS: bool;

    /// The value at one element; hands what is to be kept to `keep`, each with its number.
    fn forward<K: KernelMap<Form = Self>>(
        kernel: &K,
        theta: &Theta,
        at: Element<Point>,
        keep: impl FnMut(usize, f64),
    ) -> f64
    where
        Self: Form;

    /// The derivatives there, from the value and what was kept.
    fn backward<K: KernelMap<Form = Self>>(
        kernel: &K,
        theta: &Theta,
        at: Element,
        value: f64,
        kept: impl Fn(usize) -> f64,
    ) -> Jet<MOST_PARAMETERS>
    where
        Self: Form;
}

impl<const P: usize> Passes for General<P> {
    const OWN: usize = P;
    const KEPT: usize = 3 + P;
    const ROOTS: bool = false;

    #[inline(always)]
    fn forward<K: KernelMap<Form = Self>>(
        kernel: &K,
        theta: &Theta,
        at: Element<Point>,
        keep: impl FnMut(usize, f64),
    ) -> f64 {
        let jet = kernel.at(&own(theta, 0), Element { g: at.g, row: at.row.square, col: at.col.square });
        keep_all(jet, keep)
    }

    #[inline(always)]
    fn backward<K: KernelMap<Form = Self>>(
        _: &K,
        _: &Theta,
        _: Element,
        value: f64,
        kept: impl Fn(usize) -> f64,
    ) -> Jet<MOST_PARAMETERS> {
        all_kept::<P>(value, kept)
    }
}

impl<const P: usize> Passes for Angular<P> {
    const OWN: usize = P;
    const KEPT: usize = 3 + P;
    const ROOTS: bool = true;

    #[inline(always)]
    fn forward<K: KernelMap<Form = Self>>(
        kernel: &K,
        theta: &Theta,
        at: Element<Point>,
        keep: impl FnMut(usize, f64),
    ) -> f64 {
        keep_all(kernel.at(&own(theta, 0), at), keep)
    }

    #[inline(always)]
    fn backward<K: KernelMap<Form = Self>>(
        _: &K,
        _: &Theta,
        _: Element,
        value: f64,
        kept: impl Fn(usize) -> f64,
    ) -> Jet<MOST_PARAMETERS> {
        all_kept::<P>(value, kept)
    }
}

impl<const P: usize> Passes for Stationary<P> {
    const OWN: usize = P;
    const KEPT: usize = 2 + P;
    const ROOTS: bool = false;

    #[inline(always)]
    fn forward<K: KernelMap<Form = Self>>(
        kernel: &K,
        theta: &Theta,
        at: Element<Point>,
        mut keep: impl FnMut(usize, f64),
    ) -> f64 {
        let Scales { height, inverse, precision, .. } = Scales::new(theta);
        let u = precision * distance(at.g, at.row.square, at.col.square);
        let rho = kernel.at(&own(theta, SCALES.len()), u);
        let value = height * rho.value;
        // ∂k/∂g = −2∂k/∂R and ∂k/∂ℓ
        keep(0, -2.0 * (precision * height * rho.slope));
        keep(1, -2.0 * inverse * height * u * rho.slope);
        for p in 0..P {
            keep(2 + p, value * rho.parameters[p]);
        }
        value
    }

    #[inline(always)]
    fn backward<K: KernelMap<Form = Self>>(
        _: &K,
        theta: &Theta,
        _: Element,
        value: f64,
        kept: impl Fn(usize) -> f64,
    ) -> Jet<MOST_PARAMETERS> {
        let g = kept(0);
        let mut parameters = [Scales::new(theta).relative * value, kept(1), 0.0, 0.0];
        for p in 0..P {
            parameters[SCALES.len() + p] = kept(2 + p);
        }
        Jet { value, g, row: -0.5 * g, col: -0.5 * g, parameters }
    }
}

impl<const P: usize> Passes for Exponential<P> {
    const OWN: usize = P;
    const KEPT: usize = 0;
    const ROOTS: bool = false;

    #[inline(always)]
    fn forward<K: KernelMap<Form = Self>>(
        kernel: &K,
        theta: &Theta,
        at: Element<Point>,
        _: impl FnMut(usize, f64),
    ) -> f64 {
        let Scales { height, precision, .. } = Scales::new(theta);
        let u = precision * distance(at.g, at.row.square, at.col.square);
        height * exp(kernel.at(&own(theta, SCALES.len()), u).value)
    }

    #[inline(always)]
    fn backward<K: KernelMap<Form = Self>>(
        kernel: &K,
        theta: &Theta,
        at: Element,
        value: f64,
        _: impl Fn(usize) -> f64,
    ) -> Jet<MOST_PARAMETERS> {
        let Scales { inverse, precision, relative, .. } = Scales::new(theta);
        let u = precision * distance(at.g, at.row, at.col);
        let ln_rho = kernel.at(&own(theta, SCALES.len()), u);
        // ∂k/∂R and ∂k/∂ℓ
        let slope = ln_rho.slope * precision * value;
        let mut parameters = [relative * value, -2.0 * ln_rho.slope * inverse * u * value, 0.0, 0.0];
        for p in 0..P {
            parameters[SCALES.len() + p] = value * ln_rho.parameters[p];
        }
        Jet { value, g: -2.0 * slope, row: slope, col: slope, parameters }
    }
}

/// Hands out all derivatives; returns the value.
#[inline(always)]
fn keep_all<const P: usize>(jet: Jet<P>, mut keep: impl FnMut(usize, f64)) -> f64 {
    keep(0, jet.g);
    keep(1, jet.row);
    keep(2, jet.col);
    for p in 0..P {
        keep(3 + p, jet.parameters[p]);
    }
    jet.value
}

/// Takes them back.
#[inline(always)]
fn all_kept<const P: usize>(value: f64, kept: impl Fn(usize) -> f64) -> Jet<MOST_PARAMETERS> {
    let mut parameters = [0.0; MOST_PARAMETERS];
    for p in 0..P {
        parameters[p] = kept(3 + p);
    }
    Jet { value, g: kept(0), row: kept(1), col: kept(2), parameters }
}

/// The kernel's own parameters, from the first of them on.
#[inline(always)]
fn own<const P: usize>(theta: &Theta, first: usize) -> [f64; P] {
    let mut own = [0.0; P];
    own.copy_from_slice(&theta[first..first + P]);
    own
}

/// R = r + c − 2g, clipped at 0.
#[inline(always)]
fn distance(g: f64, row: f64, col: f64) -> f64 {
    positive_part(row + col - 2.0 * g)
}

/// What is the same for all elements, and not repeated in a loop.
struct Scales {
    /// h²
    height: f64,
    /// 2/h = ∂ ln k/∂h
    relative: f64,
    /// 1/ℓ
    inverse: f64,
    /// 1/ℓ²
    precision: f64,
}

impl Scales {
    #[inline(always)]
    fn new(theta: &Theta) -> Scales {
        let [h, l, ..] = *theta;
        let inverse = 1.0 / l;
        Scales { height: h * h, relative: 2.0 / h, inverse, precision: inverse * inverse }
    }
}
