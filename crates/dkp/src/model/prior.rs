//! Priors of whole models, to be drawn from.

use crate::gram::Block;
use crate::kernels::{Identity, Kernel};
use crate::processes::{
    Deterministic, Features, FiniteNetwork, Input, InverseWishart, PriorProcess, ResidualWishart, Wishart,
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
            if !(name.ends_with("bias") && value == 0.0) {
                positive(name, value)?;
            }
        }
        Ok(())
    }

    fn record(&self, tape: &mut Tape, gram: Block) -> Block {
        let parameters: Vec<Node> = self.parameters.iter().map(|&p| tape.number(p)).collect();
        gram.kernel(tape, &*self.kernel, &parameters)
    }
}

/// How inputs become the first Gram matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriorInput {
    /// G₁ = XᵀX/N₀.
    Fixed,
    /// Ω ~ W⁻¹(δI, δ+N₀+1) and G₁ = XᵀΩX/N₀, over any number of points.
    Omega {
        /// δ.
        delta: f64,
    },
    /// The same law with G₁ itself drawn: G₁ ~ W⁻¹(δXᵀX/N₀, δ+P+1), for at least as many features as points.
    Gram {
        /// δ.
        delta: f64,
    },
    /// Ω ~ W(I/N₁, N₁) and G₁ = XᵀΩX/N₀.
    Wishart {
        /// N₁.
        width: usize,
    },
}

/// A process between two kernels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriorProcessKind {
    /// G = K.
    Deterministic,
    /// G ~ W⁻¹(δK, δ+P+1).
    InverseWishart {
        /// δ.
        delta: f64,
    },
    /// G = FᵀF/N with N Gaussian features.
    Features {
        /// N.
        width: usize,
    },
    /// G ~ W(K/N, N).
    Wishart {
        /// N.
        dof: f64,
    },
    /// The kernel of a layer of ReLU units.
    FiniteNetwork {
        /// Units.
        width: usize,
    },
    /// G = LΩ″Lᵀ.
    ResidualWishart {
        /// α.
        alpha: f64,
    },
}

/// A kernel and the process that follows it.
#[derive(Clone)]
pub struct PriorLayer {
    /// The kernel.
    pub kernel: PriorKernel,
    /// The process.
    pub process: PriorProcessKind,
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
    pub input: PriorInput,
    /// Hidden layers.
    pub layers: Vec<PriorLayer>,
    /// The last kernel, the covariance of the outputs.
    pub output: PriorKernel,
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
        Prior::of(PriorInput::Fixed, kernel, (0..depth).map(|_| PriorProcessKind::Deterministic))
    }

    /// A deep inverse Wishart process; the first δ is the input layer's (without any, G₁ = XᵀX/N₀).
    pub fn diwp(kernel: PriorKernel, deltas: &[f64]) -> Prior {
        let input = deltas.first().map_or(PriorInput::Fixed, |&delta| PriorInput::Omega { delta });
        let hidden = deltas.iter().skip(1).map(|&delta| PriorProcessKind::InverseWishart { delta });
        Prior::of(input, kernel, hidden)
    }

    /// A deep Gaussian process, which for an isotropic kernel is an infinite network with bottlenecks of these widths.
    pub fn deep_gp(kernel: PriorKernel, widths: &[usize]) -> Prior {
        Prior::of(PriorInput::Fixed, kernel, widths.iter().map(|&width| PriorProcessKind::Features { width }))
    }

    /// A deep Wishart process; the first width is the input layer's (without any, G₁ = XᵀX/N₀).
    pub fn deep_wishart(kernel: PriorKernel, widths: &[usize]) -> Prior {
        let input = widths.first().map_or(PriorInput::Fixed, |&width| PriorInput::Wishart { width });
        let hidden = widths.iter().skip(1).map(|&width| PriorProcessKind::Wishart { dof: width as f64 });
        Prior::of(input, kernel, hidden)
    }

    /// A Bayesian ReLU network of finite widths.
    pub fn finite_network(widths: &[usize]) -> Prior {
        let hidden = widths.iter().map(|&width| PriorProcessKind::FiniteNetwork { width });
        Prior::of(PriorInput::Fixed, PriorKernel::new(Identity, &[]), hidden)
    }

    /// The ordering of Shah et al. (2014): kernel first, then inverse Wishart, whose draw is the output's covariance.
    pub fn shah(kernel: PriorKernel, deltas: &[f64]) -> Prior {
        let hidden = deltas.iter().map(|&delta| PriorProcessKind::InverseWishart { delta });
        Prior { output: PriorKernel::new(Identity, &[]), ..Prior::of(PriorInput::Fixed, kernel, hidden) }
    }

    /// The same kernel everywhere.
    fn of(input: PriorInput, kernel: PriorKernel, hidden: impl Iterator<Item = PriorProcessKind>) -> Prior {
        let layers = hidden.map(|process| PriorLayer { kernel: kernel.clone(), process }).collect();
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
        let input = self.record_input(&mut tape, x.nrows(), x.ncols());
        let mut gram = input.draw(&mut tape, None, inputs).gram;
        let (mut grams, mut kernels) = (vec![gram.matrix], Vec::new());
        for (i, layer) in self.layers.iter().enumerate() {
            tape.section(&format!("layer {}", i + 1));
            let kernel = layer.kernel.record(&mut tape, gram);
            gram = record_process(&mut tape, layer.process, x.ncols()).draw_prior(&mut tape, kernel);
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

    fn record_input(&self, tape: &mut Tape, features: usize, points: usize) -> Input {
        match self.input {
            PriorInput::Fixed => Input::Fixed,
            PriorInput::Wishart { width } => Input::Wishart { width },
            PriorInput::Omega { delta } => {
                let delta = tape.number(delta);
                Input::Omega(InverseWishart::prior(tape, delta, features))
            }
            PriorInput::Gram { delta } => {
                let delta = tape.number(delta);
                Input::Gram(InverseWishart::prior(tape, delta, points))
            }
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
        match self.input {
            PriorInput::Fixed => {}
            PriorInput::Omega { delta } => positive("δ of the input layer", delta)?,
            PriorInput::Gram { delta } => {
                positive("δ of the input layer", delta)?;
                if features < points {
                    return Err(PriorError::TooFewFeatures { features, points });
                }
            }
            PriorInput::Wishart { width } => check_width("the width of the input layer", width)?,
        }
        for (i, layer) in self.layers.iter().enumerate() {
            layer.kernel.check()?;
            check_process(layer.process, i + 1, points)?;
        }
        self.output.check()
    }
}

fn positive(name: &str, value: f64) -> Result<(), PriorError> {
    let fits = value > 0.0 && value.is_finite();
    let error = || PriorError::OutOfRange { name: name.to_string(), expected: "positive and finite", value };
    if fits { Ok(()) } else { Err(error()) }
}

fn check_width(name: &str, width: usize) -> Result<(), PriorError> {
    let error =
        || PriorError::OutOfRange { name: name.to_string(), expected: "from 1 to 10,000,000", value: width as f64 };
    if (1..=10_000_000).contains(&width) { Ok(()) } else { Err(error()) }
}

fn check_process(process: PriorProcessKind, layer: usize, points: usize) -> Result<(), PriorError> {
    let of_layer = |name: &str| format!("{name} of layer {layer}");
    match process {
        PriorProcessKind::Deterministic => Ok(()),
        PriorProcessKind::InverseWishart { delta } => positive(&of_layer("δ"), delta),
        PriorProcessKind::Features { width } | PriorProcessKind::FiniteNetwork { width } => {
            check_width(&of_layer("the width"), width)
        }
        PriorProcessKind::Wishart { dof } => {
            let name = of_layer("the degrees of freedom");
            positive(&name, dof)?;
            if dof > points as f64 - 1.0 || dof.fract() == 0.0 {
                return Ok(());
            }
            let expected = "a whole number, or greater than the number of points less one";
            Err(PriorError::OutOfRange { name, expected, value: dof })
        }
        PriorProcessKind::ResidualWishart { alpha } if alpha >= 0.0 && alpha.is_finite() => Ok(()),
        PriorProcessKind::ResidualWishart { alpha } => {
            Err(PriorError::OutOfRange { name: of_layer("α"), expected: "at least 0 and finite", value: alpha })
        }
    }
}

fn record_process(tape: &mut Tape, process: PriorProcessKind, points: usize) -> Box<dyn PriorProcess> {
    match process {
        PriorProcessKind::Deterministic => Box::new(Deterministic),
        PriorProcessKind::InverseWishart { delta } => {
            let delta = tape.number(delta);
            Box::new(InverseWishart::prior(tape, delta, points))
        }
        PriorProcessKind::Features { width } => Box::new(Features::prior(width)),
        PriorProcessKind::Wishart { dof } => Box::new(Wishart::new(dof)),
        PriorProcessKind::FiniteNetwork { width } => Box::new(FiniteNetwork::new(width)),
        PriorProcessKind::ResidualWishart { alpha } => Box::new(ResidualWishart::new(alpha)),
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
