//! Random numbers without a generator to carry around.
//!
//! A number is a function of its address: (seed, step, draw, node, sequence, position). The address keys ChaCha8, a
//! seekable counter-based generator, so that any number can be had at any time, in any order, on any thread.
//! Everything is made in bulk: sixteen blocks side by side on AVX-512.

mod box_muller;
mod chacha;
mod gamma;
mod gamma_coefficients;
mod gamma_derivative;
mod incomplete_gamma;
mod key;
mod normal;

pub use gamma::fill_gamma;
pub use gamma_derivative::{fill_gamma_derivative, gamma_derivative};
pub use incomplete_gamma::gamma_quantile;
pub use key::{Key, Stream};
pub use normal::{fill_normal, fill_normal_rows};
