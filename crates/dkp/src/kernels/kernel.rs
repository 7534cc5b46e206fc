//! What a model asks of a kernel, and kernels made of kernels.

use dkp_tape::{KernelMap, Node, Tape};
use std::sync::Arc;

/// A kernel as a model records it: over a symmetric block, a cross block, and a diagonal.
///
/// Implement [`KernelMap`] for a new kernel, and it has this trait too. Kernels made of others, like [`Sum`], implement
/// it directly.
///
/// ```
/// use dkp::kernels::{Kernel, Relu, Scaled, Sum};
/// use dkp_tape::{Element, General, Jet, KernelMap};
/// use std::sync::Arc;
///
/// /// The quadratic kernel (1 + w·g)², with the parameter w.
/// #[derive(Clone)]
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
/// let kernel = Sum(Arc::new(Quadratic), Arc::new(Scaled(Arc::new(Relu))));
/// assert_eq!(kernel.parameters(), ["1.weight", "2.scale"]);
/// ```
pub trait Kernel: Send + Sync {
    /// What files call it; a [`Registry`](crate::Registry) finds it again.
    fn name(&self) -> String;

    /// The names of its parameters, all of them positive, in the order in which the other methods take them.
    fn parameters(&self) -> Vec<String>;

    /// Where its parameters start for points that are typically `lengthscale` apart, with functions of that height where it has a lengthscale.
    ///
    /// Of a [`KernelMap`], a parameter called `lengthscale` starts there, one called `height` beside it at the height, and others at 1.
    fn start(&self, lengthscale: f64, height: f64) -> Vec<f64>;

    /// K_ij = k(g_ij, g_ii, g_jj) over a symmetric block g.
    fn symmetric(&self, tape: &mut Tape, g: Node, parameters: &[Node]) -> Node;

    /// K_ij = k(g_ij, r_i, c_j) over a cross block g with the two blocks' diagonals.
    fn cross(&self, tape: &mut Tape, g: Node, rows: Node, cols: Node, parameters: &[Node]) -> Node;

    /// k(d, d, d) for the elements of a diagonal.
    fn diagonal(&self, tape: &mut Tape, d: Node, parameters: &[Node]) -> Node;
}

impl<K: KernelMap + Clone> Kernel for K {
    fn name(&self) -> String {
        KernelMap::name(self)
    }

    fn parameters(&self) -> Vec<String> {
        K::names().iter().map(|name| name.to_string()).collect()
    }

    fn start(&self, lengthscale: f64, height: f64) -> Vec<f64> {
        let names = K::names();
        let has_lengthscale = names.contains(&"lengthscale");
        let value = |name: &&str| match *name {
            "lengthscale" => lengthscale,
            "height" if has_lengthscale => height,
            _ => 1.0,
        };
        names.iter().map(value).collect()
    }

    fn symmetric(&self, tape: &mut Tape, g: Node, parameters: &[Node]) -> Node {
        tape.kernel_symmetric(self.clone(), g, parameters)
    }

    fn cross(&self, tape: &mut Tape, g: Node, rows: Node, cols: Node, parameters: &[Node]) -> Node {
        tape.kernel_cross(self.clone(), g, rows, cols, parameters)
    }

    fn diagonal(&self, tape: &mut Tape, d: Node, parameters: &[Node]) -> Node {
        tape.kernel_diagonal(self.clone(), d, parameters)
    }
}

/// The sum of two kernels. Parameters of the first are called `1.…`, of the second `2.…`.
pub struct Sum(pub Arc<dyn Kernel>, pub Arc<dyn Kernel>);

/// The element-wise product of two kernels. Parameters of the first are called `1.…`, of the second `2.…`.
pub struct Product(pub Arc<dyn Kernel>, pub Arc<dyn Kernel>);

/// A kernel times a positive number, the parameter `scale`, which stands before the kernel's own.
pub struct Scaled(pub Arc<dyn Kernel>);

/// Two kernels over one block, combined.
struct Pair<'a> {
    kernels: [&'a dyn Kernel; 2],
    combine: fn(&mut Tape, Node, Node) -> Node,
}

impl Pair<'_> {
    fn parameters(&self) -> Vec<String> {
        let numbered = |(k, kernel): (usize, &&dyn Kernel)| {
            kernel.parameters().into_iter().map(move |name| format!("{}.{name}", k + 1)).collect::<Vec<_>>()
        };
        self.kernels.iter().enumerate().flat_map(numbered).collect()
    }

    /// # Panics
    ///
    /// If there are not as many parameters as names.
    #[track_caller]
    fn record(
        &self,
        tape: &mut Tape,
        parameters: &[Node],
        block: impl Fn(&dyn Kernel, &mut Tape, &[Node]) -> Node,
    ) -> Node {
        let names = self.parameters();
        let count = parameters.len();
        assert!(count == names.len(), "{count} parameters for a kernel of {names:?}");
        let (first, second) = parameters.split_at(self.kernels[0].parameters().len());
        let (a, b) = (block(self.kernels[0], tape, first), block(self.kernels[1], tape, second));
        (self.combine)(tape, a, b)
    }
}

/// Implements [`Kernel`] for a pair of kernels.
macro_rules! pair {
    ($name:ident, $text:literal, $combine:expr) => {
        impl $name {
            fn pair(&self) -> Pair<'_> {
                Pair { kernels: [&*self.0, &*self.1], combine: $combine }
            }
        }

        impl Kernel for $name {
            fn name(&self) -> String {
                format!("{}({}, {})", $text, self.0.name(), self.1.name())
            }

            fn parameters(&self) -> Vec<String> {
                self.pair().parameters()
            }

            fn start(&self, lengthscale: f64, height: f64) -> Vec<f64> {
                [&self.0, &self.1].into_iter().flat_map(|k| k.start(lengthscale, height)).collect()
            }

            fn symmetric(&self, tape: &mut Tape, g: Node, parameters: &[Node]) -> Node {
                self.pair().record(tape, parameters, |k, tape, p| k.symmetric(tape, g, p))
            }

            fn cross(&self, tape: &mut Tape, g: Node, rows: Node, cols: Node, parameters: &[Node]) -> Node {
                self.pair().record(tape, parameters, |k, tape, p| k.cross(tape, g, rows, cols, p))
            }

            fn diagonal(&self, tape: &mut Tape, d: Node, parameters: &[Node]) -> Node {
                self.pair().record(tape, parameters, |k, tape, p| k.diagonal(tape, d, p))
            }
        }
    };
}

pair!(Sum, "sum", Tape::add);
pair!(Product, "product", Tape::product);

impl Scaled {
    /// # Panics
    ///
    /// If there is no parameter.
    #[track_caller]
    fn record(&self, tape: &mut Tape, parameters: &[Node], block: impl Fn(&mut Tape, &[Node]) -> Node) -> Node {
        let [scale, own @ ..] = parameters else { panic!("0 parameters for a kernel of {:?}", self.parameters()) };
        let k = block(tape, own);
        tape.scale(*scale, k)
    }
}

impl Kernel for Scaled {
    fn name(&self) -> String {
        format!("scaled({})", self.0.name())
    }

    fn parameters(&self) -> Vec<String> {
        ["scale".to_string()].into_iter().chain(self.0.parameters()).collect()
    }

    fn start(&self, lengthscale: f64, height: f64) -> Vec<f64> {
        [1.0].into_iter().chain(self.0.start(lengthscale, height)).collect()
    }

    fn symmetric(&self, tape: &mut Tape, g: Node, parameters: &[Node]) -> Node {
        self.record(tape, parameters, |tape, own| self.0.symmetric(tape, g, own))
    }

    fn cross(&self, tape: &mut Tape, g: Node, rows: Node, cols: Node, parameters: &[Node]) -> Node {
        self.record(tape, parameters, |tape, own| self.0.cross(tape, g, rows, cols, own))
    }

    fn diagonal(&self, tape: &mut Tape, d: Node, parameters: &[Node]) -> Node {
        self.record(tape, parameters, |tape, own| self.0.diagonal(tape, d, own))
    }
}
