//! What a kernel is to the engine: one function, with derivatives, and the form of its argument.

use super::form::{Form, MOST_KEPT, Passes};

/// The most parameters that a kernel has, those of its form included.
pub const MOST_PARAMETERS: usize = 4;

/// Where a kernel is evaluated: an element of a Gram matrix, and the two diagonal elements that belong to its row and its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element<T = f64> {
    /// The Gram matrix's element g.
    pub g: f64,
    /// The row's diagonal element r.
    pub row: T,
    /// The column's diagonal element c.
    pub col: T,
}

/// A diagonal element with its root and the inverse of that, which are computed once for many elements of the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
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

/// A kernel's value and derivatives at one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<const P: usize> {
    /// k(g, r, c).
    pub value: f64,
    /// ∂k/∂g, in the Gram matrix's element.
    pub g: f64,
    /// ∂k/∂r, in the row's diagonal element.
    pub row: f64,
    /// ∂k/∂c, in the column's diagonal element.
    pub col: f64,
    /// ∂k/∂θ.
    pub parameters: [f64; P],
}

impl<const P: usize> Jet<P> {
    /// Where g, r and c are the same number: its derivative stands in for g's.
    #[inline(always)]
    pub(super) fn of_equals(self) -> Jet<P> {
        Jet { g: self.g + self.row + self.col, ..self }
    }
}

/// A function of the scaled squared distance u, its value and its derivatives: what [`Stationary`](super::Stationary) and
/// [`Exponential`](super::Exponential) kernels return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile<const P: usize> {
    /// ρ(u), or of an exponential kernel ln ρ(u).
    pub value: f64,
    /// Its derivative in u.
    pub slope: f64,
    /// ∂ ln ρ/∂θ, in the kernel's own parameters.
    pub parameters: [f64; P],
}

/// A kernel as a function of an element of a Gram matrix and some parameters.
///
/// The [`Form`] says what the function depends on and how many parameters it has: [`General`](super::General) will always do. What can be known of a
/// kernel from its form (derivatives that follow from others, parameters that scale it) the engine does, so that there is nothing else to write.
///
/// The function is evaluated in vector loops: mark `at` `#[inline(always)]`, use [`math`](crate::math) for transcendental functions,
/// and select instead of branching.
///
/// ```
/// use dkp_tape::{Element, Exponential, General, Jet, KernelMap, Profile, Tape};
///
/// /// (1 + w·g)² with the parameter w.
/// struct Quadratic;
///
/// impl KernelMap for Quadratic {
///     type Form = General<1>;
///     const NAMES: &'static [&'static str] = &["weight"];
///
///     #[inline(always)]
///     fn at(&self, [w]: &[f64; 1], Element { g, .. }: Element) -> Jet<1> {
///         let root = 1.0 + w * g;
///         Jet { value: root * root, g: 2.0 * w * root, row: 0.0, col: 0.0, parameters: [2.0 * g * root] }
///     }
/// }
///
/// /// h²·exp(−u/2) with u = R/ℓ²: the form has the parameters h and ℓ, the kernel has none of its own.
/// struct SquaredExponential;
///
/// impl KernelMap for SquaredExponential {
///     type Form = Exponential<0>;
///
///     #[inline(always)]
///     fn at(&self, _: &[f64; 0], u: f64) -> Profile<0> {
///         Profile { value: -0.5 * u, slope: -0.5, parameters: [] }
///     }
/// }
///
/// let mut tape = Tape::new("kernels");
/// let g = tape.leaf("g", 4, 4);
/// let [w, h, l] = ["weight", "height", "lengthscale"].map(|name| tape.leaf(name, 1, 1));
/// let quadratic = tape.kernel_symmetric(Quadratic, g, &[w]);
/// let smooth = tape.kernel_symmetric(SquaredExponential, g, &[h, l]);
/// assert_eq!(SquaredExponential::names(), ["height", "lengthscale"]);
/// ```
pub trait KernelMap: Send + Sync + Sized + 'static {
    /// What the kernel depends on, and how many parameters of its own it has.
    type Form: Form;

    /// What its own parameters are called.
    const NAMES: &'static [&'static str] = &[];

    /// What files call the kernel: by default its type's name.
    fn name(&self) -> String {
        let path = std::any::type_name::<Self>();
        path.rsplit("::").next().unwrap_or(path).to_string()
    }

    /// The function that the form asks for.
    fn at(
        &self,
        parameters: &<Self::Form as Form>::Parameters,
        argument: <Self::Form as Form>::Argument,
    ) -> <Self::Form as Form>::Jet;

    /// The names of all parameters, in the order in which a tape takes them: the form's, then the kernel's own.
    fn names() -> Vec<&'static str> {
        [Self::Form::NAMES, Self::NAMES].concat()
    }

    /// The kernel at one element with all its derivatives, as they are computed in programs; of parameters that it does not have they are 0.
    ///
    /// # Panics
    ///
    /// If there are not as many parameters as names.
    #[track_caller]
    fn jet(&self, parameters: &[f64], element: Element) -> Jet<MOST_PARAMETERS> {
        let (count, names) = (parameters.len(), Self::names());
        assert!(count == names.len(), "jet: {count} parameters for a kernel of {names:?}");
        let theta = std::array::from_fn(|p| parameters.get(p).copied().unwrap_or(0.0));
        let points = Element { g: element.g, row: Point::new(element.row), col: Point::new(element.col) };
        let mut kept = [0.0; MOST_KEPT];
        let value = Self::Form::forward(self, &theta, points, |k, x| kept[k] = x);
        Self::Form::backward(self, &theta, element, value, |k| kept[k])
    }
}
