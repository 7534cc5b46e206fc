//! Priors of whole models, to be drawn from.

use super::Layer;
use super::layout::layer_name;
use crate::Registry;
use crate::gram::Block;
use crate::kernels::{Identity, Kernel};
use crate::processes::{
    Deterministic, FiniteNetwork, GaussianFeatures, Input, InverseWishart, OutOfRange, PriorProcess, Wishart,
    features_of, identity,
};
use dkp_tape::random::Key;
use dkp_tape::{Failure, Jitter, Node, Pass, Program, Tape};
use faer::{Mat, MatRef};
use std::sync::Arc;

/// A kernel with values for its parameters.
#[derive(Clone)]
pub struct PriorKernel {
    kernel: Arc<dyn Kernel>,
    parameters: Vec<f64>,
}

impl PriorKernel {
    /// A kernel and its parameters, in its order.
    pub fn new(kernel: impl Kernel + 'static, parameters: &[f64]) -> PriorKernel {
        PriorKernel { kernel: Arc::new(kernel), parameters: parameters.to_vec() }
    }

    /// The same for a kernel that is shared.
    pub fn of(kernel: Arc<dyn Kernel>, parameters: &[f64]) -> PriorKernel {
        PriorKernel { kernel, parameters: parameters.to_vec() }
    }

    fn check(&self) -> Result<(), PriorError> {
        let names = self.kernel.parameters();
        if names.len() != self.parameters.len() {
            return Err(PriorError::Parameters { names, found: self.parameters.len() });
        }
        for (name, &value) in names.iter().zip(&self.parameters) {
            // without a bias the linear kernel is still one
            let fits = (value > 0.0 && value.is_finite()) || (value == 0.0 && name.ends_with("bias"));
            if !fits {
                return Err(PriorError::OutOfRange { name: name.clone(), expected: "positive and finite", value });
            }
        }
        Ok(())
    }

    fn record(&self, tape: &mut Tape, gram: Block) -> Block {
        let parameters: Vec<Node> = self.parameters.iter().map(|&p| tape.number(p)).collect();
        gram.kernel(tape, &*self.kernel, &parameters)
    }
}

/// The prior of a model: every row of the family is one of these.
///
/// ```
/// use dkp::kernels::SquaredExponential;
/// use dkp::model::{Prior, PriorKernel};
/// use dkp_tape::random::Key;
/// use faer::Mat;
/// let kernel = PriorKernel::new(SquaredExponential, &[1.0, 0.5]);
/// let x = Mat::from_fn(1, 20, |_, j| 0.1 * j as f64); // one feature, twenty points
/// let prior = Prior::diwp(kernel, &[10.0, 10.0]);
/// let draw = prior.draw(x.as_ref(), 3, Key::new(1))?;
/// assert_eq!(draw.grams.len(), 2); // of the input, and after one hidden layer
/// assert_eq!((draw.functions.nrows(), draw.functions.ncols()), (20, 3));
/// # Ok::<(), dkp::model::PriorError>(())
/// ```
#[derive(Clone)]
pub struct Prior {
    /// The input layer.
    pub input: Input<Arc<dyn PriorProcess>>,
    /// Hidden layers.
    pub layers: Vec<Layer<PriorKernel, Arc<dyn PriorProcess>>>,
    /// The last kernel, the covariance of the outputs.
    pub output: PriorKernel,
}

/// Priors that go by one name; a [`Registry`](crate::Registry) has them.
#[derive(Clone, Copy)]
pub struct PriorFamily {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// The prior with a kernel everywhere and this many hidden layers, of which each, and the input layer where it is random, has δ or a width.
    pub prior: fn(PriorKernel, layers: usize, delta: f64, width: usize) -> Prior,
}

impl PriorFamily {
    /// δ, if nothing is said: small enough for draws to differ from their kernel.
    pub const DELTA: f64 = 10.0;
    /// The width.
    pub const WIDTH: usize = 10;
}

/// The priors of this crate, by name.
pub(crate) fn register_priors(registry: &mut Registry) {
    let families = [
        PriorFamily {
            name: "diwp",
            title: "Deep inverse Wishart process",
            prior: |kernel, layers, delta, _| Prior::diwp(kernel, &vec![delta; layers + 1]),
        },
        PriorFamily {
            name: "nngp",
            title: "Infinitely wide network",
            prior: |kernel, layers, _, _| Prior::nngp(kernel, layers),
        },
        PriorFamily {
            name: "dgp",
            title: "Deep Gaussian process: an infinite network with bottlenecks",
            prior: |kernel, layers, _, width| Prior::deep_gp(kernel, &vec![width; layers]),
        },
        PriorFamily {
            name: "dwp",
            title: "Deep Wishart process",
            // as the family that is trained has it
            prior: |kernel, layers, _, width| Prior {
                input: Input::Fixed,
                ..Prior::deep_wishart(kernel, &vec![width; layers + 1])
            },
        },
        PriorFamily {
            name: "bnn",
            title: "Bayesian ReLU network of finite width, with a kernel of its own",
            prior: |_, layers, _, width| Prior::finite_network(&vec![width; layers]),
        },
        PriorFamily {
            name: "shah",
            title: "Inverse Wishart after the kernel (Shah et al. 2014)",
            prior: |kernel, layers, delta, _| Prior::shah(kernel, &vec![delta; layers]),
        },
    ];
    families.into_iter().for_each(|family| registry.add_prior(family));
}

/// Why a prior cannot be drawn from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PriorError {
    /// A number outside its range.
    #[error("{name} must be {expected}, but is {value}")]
    OutOfRange {
        /// The parameter.
        name: String,
        /// Its range.
        expected: &'static str,
        /// What was given.
        value: f64,
    },
    /// The wrong number of kernel parameters.
    #[error("the kernel has the parameters {names:?}, but {found} values were given")]
    Parameters {
        /// What the kernel calls them.
        names: Vec<String>,
        /// How many values there are.
        found: usize,
    },
    /// No points, no features or no outputs.
    #[error("{features} features, {points} points and {outputs} outputs: each must be at least 1")]
    Empty {
        /// Rows of the inputs.
        features: usize,
        /// Columns of the inputs.
        points: usize,
        /// Functions asked for.
        outputs: usize,
    },
    /// The Gram form of the input layer needs as many features as points.
    #[error("the Gram form of the input layer needs at least as many features as points, not {features} and {points}")]
    TooFewFeatures {
        /// Rows of the inputs.
        features: usize,
        /// Columns of the inputs.
        points: usize,
    },
    /// An input that is infinite or NaN.
    #[error("inputs must be finite, but feature {feature} of point {point} is {value}")]
    NotFinite {
        /// Row, from 0.
        feature: usize,
        /// Column, from 0.
        point: usize,
        /// The value.
        value: f64,
    },
    /// A draw that failed numerically.
    #[error(transparent)]
    Numerical(#[from] Failure),
}

/// A draw over P points.
#[derive(Clone, Debug)]
pub struct PriorDraw {
    /// G of the input layer, and after each hidden layer's process.
    pub grams: Vec<Mat<f64>>,
    /// K of each: the hidden layers' kernels, then the output's.
    pub kernels: Vec<Mat<f64>>,
    /// Functions drawn from N(0, K) of the output, P×outputs.
    pub functions: Mat<f64>,
    /// What was added to diagonals to draw from singular kernels.
    pub jitter: Jitter,
}

impl Prior {
    /// An infinitely wide network: `depth` hidden layers without randomness.
    pub fn nngp(kernel: PriorKernel, depth: usize) -> Prior {
        Prior::of(None::<Deterministic>, kernel, std::iter::repeat_n(Deterministic, depth))
    }

    /// A deep inverse Wishart process; the first δ is the input layer's (without any, G₁ = XᵀX/N₀).
    pub fn diwp(kernel: PriorKernel, deltas: &[f64]) -> Prior {
        let mut processes = deltas.iter().map(|&delta| InverseWishart { delta, ..InverseWishart::HIDDEN });
        Prior::of(processes.next(), kernel, processes)
    }

    /// A deep Gaussian process, which for an isotropic kernel is an infinite network with bottlenecks of these widths.
    pub fn deep_gp(kernel: PriorKernel, widths: &[usize]) -> Prior {
        Prior::of(None::<Deterministic>, kernel, widths.iter().map(|&width| GaussianFeatures::new(width)))
    }

    /// A deep Wishart process; the first width N₁ is the input layer's, Ω ~ W(I/N₁, N₁) (without any, G₁ = XᵀX/N₀).
    pub fn deep_wishart(kernel: PriorKernel, widths: &[usize]) -> Prior {
        // the first by its Gaussian features, whose law is the same
        let input = widths.first().map(|&width| GaussianFeatures::new(width));
        Prior::of(input, kernel, widths.iter().skip(1).map(|&width| Wishart { dof: width as f64 }))
    }

    /// A Bayesian ReLU network of finite widths.
    pub fn finite_network(widths: &[usize]) -> Prior {
        let kernel = PriorKernel::new(Identity, &[]);
        Prior::of(None::<Deterministic>, kernel, widths.iter().map(|&width| FiniteNetwork { width }))
    }

    /// The ordering of Shah et al. (2014): kernel first, then inverse Wishart, whose draw is the output's covariance.
    pub fn shah(kernel: PriorKernel, deltas: &[f64]) -> Prior {
        let hidden = deltas.iter().map(|&delta| InverseWishart { delta, ..InverseWishart::HIDDEN });
        Prior { output: PriorKernel::new(Identity, &[]), ..Prior::of(None::<Deterministic>, kernel, hidden) }
    }

    /// The same kernel everywhere, after a process that draws Ω, if there is one.
    fn of<P: PriorProcess + 'static>(
        omega: Option<impl PriorProcess + 'static>,
        kernel: PriorKernel,
        hidden: impl Iterator<Item = P>,
    ) -> Prior {
        let input = omega.map_or(Input::Fixed, |p| Input::Omega(Arc::new(p) as Arc<dyn PriorProcess>));
        let layers = Layer::alike(&kernel, hidden.map(|p| Arc::new(p) as Arc<dyn PriorProcess>));
        Prior { input, layers, output: kernel }
    }

    /// One draw at the inputs, features × points, with `outputs` functions.
    pub fn draw(&self, x: MatRef<'_, f64>, outputs: usize, key: Key) -> Result<PriorDraw, PriorError> {
        self.sampler(x, outputs)?.draw(key)
    }

    /// Prepares many draws at the same inputs.
    pub fn sampler(&self, x: MatRef<'_, f64>, outputs: usize) -> Result<PriorSampler, PriorError> {
        self.check(x, outputs)?;
        let mut tape = Tape::new("prior");
        let inputs: Vec<f64> = (0..x.ncols()).flat_map(|j| x.col(j).iter().copied().collect::<Vec<_>>()).collect();
        let inputs = tape.constant(x.nrows(), x.ncols(), &inputs);
        tape.section("input layer");
        let mut gram = self.draw_input(&mut tape, inputs);
        let (mut grams, mut kernels) = (vec![gram.matrix], Vec::new());
        for (i, layer) in self.layers.iter().enumerate() {
            tape.section(&layer_name(i));
            let kernel = layer.kernel.record(&mut tape, gram);
            gram = layer.process.draw_prior(&mut tape, kernel);
            kernels.push(kernel.matrix);
            grams.push(gram.matrix);
        }
        tape.section("output");
        let kernel = self.output.record(&mut tape, gram);
        kernels.push(kernel.matrix);
        let root = tape.cholesky_with_jitter(kernel.matrix);
        let normals = tape.normals(x.ncols(), outputs);
        let functions = tape.matmul(root.matrix(), normals);
        Ok(PriorSampler { program: tape.finish(), grams, kernels, functions })
    }

    fn draw_input(&self, tape: &mut Tape, x: Node) -> Block {
        let root = match &self.input {
            Input::Fixed | Input::Gram(_) => None,
            Input::Omega(process) => {
                let (identity, factor) = identity(tape, x.rows());
                Some(process.draw_prior_root(tape, identity, factor))
            }
        };
        let phi = features_of(tape, root, x);
        let linear = Block::from_features(tape, phi);
        match &self.input {
            Input::Gram(process) => process.draw_prior(tape, linear),
            _ => linear,
        }
    }

    fn check(&self, x: MatRef<'_, f64>, outputs: usize) -> Result<(), PriorError> {
        let (features, points) = (x.nrows(), x.ncols());
        if features == 0 || points == 0 || outputs == 0 {
            return Err(PriorError::Empty { features, points, outputs });
        }
        for point in 0..points {
            for feature in 0..features {
                let value = x[(feature, point)];
                if !value.is_finite() {
                    return Err(PriorError::NotFinite { feature, point, value });
                }
            }
        }
        let of = |part: &str, error: OutOfRange| PriorError::OutOfRange {
            name: format!("{} of {part}", error.what),
            expected: error.expected,
            value: error.value,
        };
        if let Some(process) = self.input.process() {
            process.check_prior(self.input.size(features, points)).map_err(|e| of("the input layer", e))?;
        }
        if matches!(self.input, Input::Gram(_)) && features < points {
            return Err(PriorError::TooFewFeatures { features, points });
        }
        for (i, layer) in self.layers.iter().enumerate() {
            layer.kernel.check()?;
            layer.process.check_prior(points).map_err(|e| of(&layer_name(i), e))?;
        }
        self.output.check()
    }
}

/// Draws from one prior at fixed inputs ([`Prior::sampler`]).
#[derive(Debug)]
pub struct PriorSampler {
    program: Arc<Program>,
    grams: Vec<Node>,
    kernels: Vec<Node>,
    functions: Node,
}

impl PriorSampler {
    /// A draw: the same for the same key.
    pub fn draw(&self, key: Key) -> Result<PriorDraw, PriorError> {
        let mut run = self.program.workspace();
        run.forward(key, Pass::Value)?;
        let all = |nodes: &[Node]| nodes.iter().map(|&n| run.value(n).to_owned()).collect();
        Ok(PriorDraw {
            grams: all(&self.grams),
            kernels: all(&self.kernels),
            functions: run.value(self.functions).to_owned(),
            jitter: run.jitter(),
        })
    }
}
