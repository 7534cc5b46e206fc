//! What a kernel is to the engine: a function of three numbers, with derivatives.

/// A kernel's value and derivatives at one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<T> {
    /// k(g, r, c).
    pub value: f64,
    /// ∂k/∂g, in the Gram matrix's element.
    pub g: f64,
    /// ∂k/∂r, in the row's diagonal element.
    pub row: f64,
    /// ∂k/∂c, in the column's diagonal element.
    pub col: f64,
    /// ∂k/∂θ.
    pub parameters: T,
}

impl<T> Jet<T> {
    /// Where g, r and c are the same number: its derivative stands in for g's.
    #[inline(always)]
    pub(super) fn of_equals(self) -> Jet<T> {
        Jet { g: self.g + self.row + self.col, ..self }
    }

    /// Of a kernel that depends on R = r + c − 2g alone, from ∂k/∂R.
    #[inline(always)]
    pub fn of_distance(value: f64, slope: f64, parameters: T) -> Jet<T> {
        Jet { value, g: -2.0 * slope, row: slope, col: slope, parameters }
    }
}

/// A diagonal element with its root and the inverse of that, which are computed once for many elements of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The diagonal element d.
    pub square: f64,
    /// √d.
    pub root: f64,
    /// 1/√d.
    pub inverse: f64,
}

impl Point {
    /// The point with a diagonal element.
    #[inline(always)]
    pub fn new(square: f64) -> Point {
        let root = square.sqrt();
        Point { square, root, inverse: 1.0 / root }
    }
}

/// A kernel's parameters, or its derivatives in them: an array `[f64; P]`, P at most four.
pub trait ParameterArray: Copy + Send + Sync + 'static {
    /// How many there are.
    const COUNT: usize;

    /// An array of f(0), f(1), ….
    fn gather(f: impl FnMut(usize) -> f64) -> Self;

    /// The elements.
    fn elements(&self) -> &[f64];
}

pub(super) const MOST_PARAMETERS: usize = 4;

impl<const P: usize> ParameterArray for [f64; P] {
    const COUNT: usize = P;

    fn gather(f: impl FnMut(usize) -> f64) -> [f64; P] {
        std::array::from_fn(f)
    }

    #[inline(always)]
    fn elements(&self) -> &[f64] {
        self
    }
}

/// A kernel as a function of three numbers and some parameters.
///
/// It is evaluated in vector loops: mark `at` `#[inline(always)]`, use [`math`](crate::math) for transcendental functions,
/// and select instead of branching.
///
/// ```
/// use dkp_tape::{Jet, KernelMap, Tape, math};
///
/// /// exp(−R/(2ℓ²)) with R = r + c − 2g and the parameter ℓ.
/// struct SquaredExponential;
///
/// impl KernelMap for SquaredExponential {
///     type Parameters = [f64; 1];
///     const NAMES: &'static [&'static str] = &["lengthscale"];
///     const OF_DISTANCE: bool = true;
///
///     #[inline(always)]
///     fn at(&self, [l]: &[f64; 1], g: f64, row: f64, col: f64) -> Jet<[f64; 1]> {
///         let distance = math::positive_part(row + col - 2.0 * g);
///         let inverse = 1.0 / l; // the same for all elements: not repeated in the loop
///         let precision = inverse * inverse;
///         let value = math::exp(-0.5 * precision * distance);
///         Jet::of_distance(value, -0.5 * precision * value, [precision * inverse * value * distance])
///     }
/// }
///
/// let mut tape = Tape::new("kernel");
/// let g = tape.leaf("g", 4, 4);
/// let l = tape.leaf("lengthscale", 1, 1);
/// let k = tape.kernel_symmetric(SquaredExponential, g, &[l]);
/// ```
pub trait KernelMap: Send + Sync + 'static {
    /// `[f64; P]` for P parameters.
    type Parameters: ParameterArray;
    /// What the P parameters are called.
    const NAMES: &'static [&'static str];
    /// Whether the kernel depends on R = r + c − 2g alone: then ∂k/∂r = ∂k/∂c = −½∂k/∂g, and they are not kept.
    const OF_DISTANCE: bool = false;
    /// Whether the first parameter is a height h > 0, k = h²·k₁: then ∂k/∂h = 2k/h, and it is not kept.
    const HAS_HEIGHT: bool = false;

    /// Whether [`again`](KernelMap::again) is cheap: then no derivatives are kept, and the adjoint asks for them.
    const FROM_VALUE: bool = false;

    /// Whether the kernel needs the roots of r and c: then [`between`](KernelMap::between) is asked for its elements.
    const OF_LENGTHS: bool = false;

    /// What files call the kernel: by default its type's name.
    fn name(&self) -> String {
        let path = std::any::type_name::<Self>();
        path.rsplit("::").next().unwrap_or(path).to_string()
    }

    /// The kernel at one element.
    fn at(&self, parameters: &Self::Parameters, g: f64, row: f64, col: f64) -> Jet<Self::Parameters>;

    /// The same between two points whose roots are known.
    #[inline(always)]
    fn between(&self, parameters: &Self::Parameters, g: f64, row: Point, col: Point) -> Jet<Self::Parameters> {
        self.at(parameters, g, row.square, col.square)
    }

    /// The same where its value is known.
    #[inline(always)]
    fn again(&self, parameters: &Self::Parameters, g: f64, row: f64, col: f64, value: f64) -> Jet<Self::Parameters> {
        let _ = value;
        self.at(parameters, g, row, col)
    }
}
