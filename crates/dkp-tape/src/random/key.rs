//! Addresses of random numbers.

use super::gamma::GammaMethod;

/// What a run supplies: the seed, the training step and the posterior draw.
///
/// ```
/// use dkp_tape::random::Key;
/// let key = Key::new(42).step(7).draw(3);
/// assert_ne!(key, Key::new(42).step(7).draw(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    seed: u64,
    step: u64,
    draw: u32,
    gamma: GammaMethod,
}

impl Key {
    /// The key of step 0, draw 0.
    pub const fn new(seed: u64) -> Key {
        Key { seed, step: 0, draw: 0, gamma: GammaMethod::Rejection }
    }

    /// The same key at another step.
    pub fn step(self, step: u64) -> Key {
        Key { step, ..self }
    }

    /// The same key for another draw.
    pub fn draw(self, draw: u32) -> Key {
        Key { draw, ..self }
    }

    /// The same key with gamma variates that are smooth in their shape: slow, for finite differences.
    pub fn smooth(self) -> Key {
        Key { gamma: GammaMethod::Inversion, ..self }
    }

    /// The stream of one random node: `depth` of its program's scope, and the node's number among the random ones.
    pub fn stream(self, depth: u32, site: u32) -> Stream {
        let Key { seed, step, draw, gamma } = self;
        Stream {
            words: [seed as u32, (seed >> 32) as u32, step as u32, (step >> 32) as u32, draw, depth, site, 0x646b_7031],
            gamma,
        }
    }
}

/// A family of independent sequences, one for each 64-bit id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The ChaCha key; the last word marks the layout ("dkp1").
    pub(super) words: [u32; 8],
    pub(super) gamma: GammaMethod,
}
