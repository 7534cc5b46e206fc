//! A process with a learned posterior, in one file: G = e^z·K, z ~ N(0, τ²), one number for all points.

use dkp::gram::{Block, DataBlock, Gram};
use dkp::params::{Constraint, Shape};
use dkp::processes::{Draw, Extension, Law, OutOfRange, Process};
use dkp_tape::{Failure, Node, Tape};
use faer::Mat;

/// The posterior is z ~ N(μ, σ²); its limit, τ → 0, is the kernel alone.
#[derive(Clone, Copy, Debug)]
pub struct RandomScale {
    /// τ
    pub spread: f64,
}

impl Process for RandomScale {
    fn name(&self) -> String {
        format!("random_scale({})", self.spread)
    }

    fn check(&self) -> Result<(), OutOfRange> {
        OutOfRange::unless_positive("τ", self.spread)
    }

    fn parameters(&self, _: usize) -> Vec<Shape> {
        vec![Shape::new("mean", 1, 1, Constraint::Free), Shape::new("deviation", 1, 1, Constraint::Positive)]
    }

    fn around(&self, _: &Mat<f64>) -> Result<Vec<Vec<f64>>, Failure> {
        Ok(vec![vec![0.0], vec![0.1 * self.spread]])
    }

    fn law(&self, tape: &mut Tape, _: usize, parameters: &[Node]) -> Box<dyn Law> {
        let (mean, deviation) = (parameters[0], parameters[1]);
        // −KL = log(σ/τ) − (σ² + μ²)/2τ² + ½
        let log = tape.ln(deviation);
        let [first, second] = [mean, deviation].map(|x| tape.square(x));
        let squares = tape.add(first, second);
        let fit = tape.affine(squares, -0.5 / self.spread.powi(2), 0.5 - self.spread.ln());
        let log_ratio = tape.add(log, fit);
        Box::new(ScaleLaw { mean, deviation, log_ratio })
    }
}

struct ScaleLaw {
    mean: Node,
    deviation: Node,
    log_ratio: Node,
}

impl Law for ScaleLaw {
    fn draw(&self, tape: &mut Tape, kernel: Block) -> Draw {
        let normal = tape.normals(1, 1);
        let noise = tape.product(self.deviation, normal);
        let z = tape.add(self.mean, noise);
        let scale = tape.exp(z);
        let matrix = tape.scale(scale, kernel.matrix);
        let gram = Block::new(tape, matrix);
        let log_ratio = tape.affine(self.log_ratio, 1.0, 0.0);
        Draw { gram, log_ratio: Some(log_ratio), extension: Box::new(ScaleExtension { scale, gram }) }
    }
}

struct ScaleExtension {
    scale: Node,
    gram: Block,
}

impl Extension for ScaleExtension {
    fn extend(&self, tape: &mut Tape, kernel: Gram) -> Gram {
        let ti = tape.scale(self.scale, kernel.ti);
        let tt = match kernel.tt {
            DataBlock::Diagonal(tt) => DataBlock::Diagonal(tape.scale(self.scale, tt)),
            DataBlock::Full(tt) => DataBlock::Full(tape.scale(self.scale, tt)),
        };
        Gram::new(tape, self.gram, ti, tt)
    }
}
