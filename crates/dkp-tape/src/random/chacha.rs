//! ChaCha8 (Bernstein 2008), many blocks at once: block `counter` of the sequence `row` under a key.

use pulp::Simd;

/// How many blocks are made together.
pub(super) const LANES: usize = 16;

/// Word w of block l is `out[w][l]`.
pub(super) type Blocks = [[u32; LANES]; 16];

const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
const DOUBLE_ROUNDS: usize = 4;

/// Makes [`LANES`] blocks, lane l being block `counters[l]` of sequence `rows[l]`.
pub(super) struct MakeBlocks<'a> {
    pub key: &'a [u32; 8],
    pub counters: &'a [u64; LANES],
    pub rows: &'a [u64; LANES],
    pub out: &'a mut Blocks,
}

impl pulp::WithSimd for MakeBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut address = [[0_u32; LANES]; 4];
        for l in 0..LANES {
            address[0][l] = self.counters[l] as u32;
            address[1][l] = (self.counters[l] >> 32) as u32;
            address[2][l] = self.rows[l] as u32;
            address[3][l] = (self.rows[l] >> 32) as u32;
        }
        let address = address.each_ref().map(|a| S::as_simd_u32s(a).0);
        let out = self.out.each_mut().map(|o| S::as_mut_simd_u32s(o).0);
        for v in 0..LANES / S::U32_LANES {
            let mut state = [simd.splat_u32s(0); 16];
            for i in 0..4 {
                state[i] = simd.splat_u32s(CONSTANTS[i]);
                state[12 + i] = address[i][v];
            }
            for i in 0..8 {
                state[4 + i] = simd.splat_u32s(self.key[i]);
            }
            let initial = state;
            for _ in 0..DOUBLE_ROUNDS {
                for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
                    quarter_round(simd, &mut state, a, b, c, d);
                }
                for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
                    quarter_round(simd, &mut state, a, b, c, d);
                }
            }
            for i in 0..16 {
                out[i][v] = simd.add_u32s(state[i], initial[i]);
            }
        }
    }
}

#[inline(always)]
fn quarter_round<S: Simd>(simd: S, s: &mut [S::u32s; 16], a: usize, b: usize, c: usize, d: usize) {
    s[a] = simd.add_u32s(s[a], s[b]);
    s[d] = rotate_left::<S, 16>(simd, simd.xor_u32s(s[d], s[a]));
    s[c] = simd.add_u32s(s[c], s[d]);
    s[b] = rotate_left::<S, 12>(simd, simd.xor_u32s(s[b], s[c]));
    s[a] = simd.add_u32s(s[a], s[b]);
    s[d] = rotate_left::<S, 8>(simd, simd.xor_u32s(s[d], s[a]));
    s[c] = simd.add_u32s(s[c], s[d]);
    s[b] = rotate_left::<S, 7>(simd, simd.xor_u32s(s[b], s[c]));
}

#[inline(always)]
fn rotate_left<S: Simd, const BITS: u32>(simd: S, x: S::u32s) -> S::u32s {
    let up = simd.wrapping_dyn_shl_u32s(x, simd.splat_u32s(BITS));
    let down = simd.wrapping_dyn_shr_u32s(x, simd.splat_u32s(32 - BITS));
    simd.or_u32s(up, down)
}

/// A number in (0, 1] with 52 random bits, from words w and w+8 of a block.
#[inline(always)]
pub(super) fn uniform(low: u32, high: u32) -> f64 {
    const ONE: u64 = 1.0_f64.to_bits();
    let bits = (u64::from(high) << 20) | u64::from(low >> 12);
    2.0 - f64::from_bits(bits | ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    #[test]
    fn every_block_is_the_standard_chacha8_block() {
        let key = [1, 2, 3, 4, 5, 6, 7, 0xdead_beef];
        let rows: [u64; LANES] = std::array::from_fn(|l| l as u64 * 0x0123_4567_89ab);
        let counters: [u64; LANES] = std::array::from_fn(|l| l as u64 * l as u64 + if l == 5 { 1 << 33 } else { 0 });
        let mut out = [[0; LANES]; 16];
        crate::math::arch().dispatch(MakeBlocks { key: &key, counters: &counters, rows: &rows, out: &mut out });
        let mut bytes = [0; 32];
        for (b, k) in bytes.chunks_mut(4).zip(key) {
            b.copy_from_slice(&k.to_le_bytes());
        }
        for l in 0..LANES {
            let mut reference = ChaCha8Rng::from_seed(bytes);
            reference.set_stream(rows[l]);
            reference.set_word_pos(u128::from(counters[l]) * 16);
            for (w, words) in out.iter().enumerate() {
                assert_eq!(words[l], reference.next_u32(), "word {w} of lane {l}");
            }
        }
    }

    #[test]
    fn uniforms_lie_in_the_half_open_interval() {
        assert_eq!(uniform(0, 0), 1.0);
        assert_eq!(uniform(u32::MAX, u32::MAX), f64::EPSILON);
    }
}
