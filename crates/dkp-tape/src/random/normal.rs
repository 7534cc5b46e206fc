//! Standard normals in bulk.

use super::Stream;
use super::box_muller::box_muller;
use super::chacha::{LANES, MakeBlocks};
use crate::math::arch;

/// Normals that one block gives: two from each pair of words.
const PER_BLOCK: usize = 16;

/// Fills `out`, column by column of `len` numbers, column j from the sequence `rows(j)` of `stream`.
///
/// A column is the same whatever stands beside it, and a shorter column is the beginning of a longer one.
///
/// # Panics
///
/// If `out` is not a whole number of columns.
///
/// ```
/// use dkp_tape::random::{Key, fill_normal};
/// let stream = Key::new(1).stream(0, 0);
/// let mut both = [0.0; 6];
/// fill_normal(stream, 3, |j| [10, 20][j], &mut both);
/// let mut second = [0.0; 3];
/// fill_normal(stream, 3, |_| 20, &mut second);
/// assert_eq!(both[3..], second);
/// ```
pub fn fill_normal(stream: Stream, len: usize, rows: impl Fn(usize) -> u64, out: &mut [f64]) {
    assert!(len > 0 && out.len().is_multiple_of(len), "fill_normal: {} numbers in columns of {len}", out.len());
    let blocks_a_column = len.div_ceil(PER_BLOCK);
    let blocks = blocks_a_column * (out.len() / len);
    let mut random = [[0; LANES]; 16];
    let mut normals = [[0.0; LANES]; PER_BLOCK];
    let (mut counters, mut ids) = ([0; LANES], [0; LANES]);
    // (column, block in the column) of the next block
    let (mut column, mut counter) = (0, 0);
    for first in (0..blocks).step_by(LANES) {
        let lanes = LANES.min(blocks - first);
        let begin = (column, counter);
        for l in 0..lanes {
            (counters[l], ids[l]) = (counter as u64, rows(column));
            (column, counter) = next(column, counter, blocks_a_column);
        }
        arch().dispatch(MakeNormals {
            blocks: MakeBlocks { key: &stream.words, counters: &counters, rows: &ids, out: &mut random },
            out: &mut normals,
        });
        let (mut c, mut b) = begin;
        for l in 0..lanes {
            let whole = &mut out[c * len..(c + 1) * len];
            let part = &mut whole[b * PER_BLOCK..len.min((b + 1) * PER_BLOCK)];
            for (x, n) in part.iter_mut().zip(&normals) {
                *x = n[l];
            }
            (c, b) = next(c, b, blocks_a_column);
        }
    }
}

/// The same numbers by rows: `out` has a row for each of `points` points, and row p is the beginning of the sequence `rows(p)`.
///
/// # Panics
///
/// If `out` is not a whole number of rows.
///
/// ```
/// use dkp_tape::random::{Key, fill_normal, fill_normal_rows};
/// let stream = Key::new(1).stream(0, 0);
/// let (mut rows, mut columns) = ([0.0; 6], [0.0; 6]);
/// fill_normal_rows(stream, 2, |p| [10, 20][p], &mut rows);
/// fill_normal(stream, 3, |p| [10, 20][p], &mut columns);
/// assert_eq!([rows[1], rows[3], rows[5]], columns[3..]);
/// ```
pub fn fill_normal_rows(stream: Stream, points: usize, rows: impl Fn(usize) -> u64, out: &mut [f64]) {
    assert!(
        points > 0 && out.len().is_multiple_of(points),
        "fill_normal_rows: {} numbers for {points} rows",
        out.len()
    );
    let len = out.len() / points;
    let blocks = len.div_ceil(PER_BLOCK) * points;
    let mut random = [[0; LANES]; 16];
    let mut normals = [[0.0; LANES]; PER_BLOCK];
    let (mut counters, mut ids) = ([0; LANES], [0; LANES]);
    for first in (0..blocks).step_by(LANES) {
        let lanes = LANES.min(blocks - first);
        for l in 0..lanes {
            (counters[l], ids[l]) = (((first + l) / points) as u64, rows((first + l) % points));
        }
        arch().dispatch(MakeNormals {
            blocks: MakeBlocks { key: &stream.words, counters: &counters, rows: &ids, out: &mut random },
            out: &mut normals,
        });
        // neighbours in one block of their sequences stand together
        let mut l = 0;
        while l < lanes {
            let (block, point) = ((first + l) / points, (first + l) % points);
            let run = (lanes - l).min(points - point);
            let columns = block * PER_BLOCK..len.min((block + 1) * PER_BLOCK);
            for (column, normals) in columns.zip(&normals) {
                out[column * points + point..][..run].copy_from_slice(&normals[l..l + run]);
            }
            l += run;
        }
    }
}

#[inline(always)]
fn next(column: usize, block: usize, blocks_a_column: usize) -> (usize, usize) {
    if block + 1 == blocks_a_column { (column + 1, 0) } else { (column, block + 1) }
}

struct MakeNormals<'a> {
    blocks: MakeBlocks<'a>,
    out: &'a mut [[f64; LANES]; PER_BLOCK],
}

impl pulp::WithSimd for MakeNormals<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let MakeBlocks { key, counters, rows, out: random } = self.blocks;
        MakeBlocks { key, counters, rows, out: &mut *random }.with_simd(simd);
        const PAIRS: usize = PER_BLOCK / 2;
        let (u, v) = random.split_at(PAIRS);
        for p in 0..PAIRS {
            let [first, second] = &mut self.out.as_chunks_mut::<2>().0[p];
            for l in 0..LANES {
                (first[l], second[l]) = box_muller(u[p][l], v[p][l]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    fn column(seed: u64, row: u64, len: usize) -> Vec<f64> {
        let mut out = vec![0.0; len];
        fill_normal(Key::new(seed).stream(1, 2), len, |_| row, &mut out);
        out
    }

    #[test]
    fn a_column_does_not_depend_on_its_neighbours_or_its_length() {
        for len in [1, 7, 15, 16, 17, 33, 100, 130] {
            let rows = [5, u64::MAX, 0, 5, 77];
            let mut all = vec![0.0; len * rows.len()];
            fill_normal(Key::new(3).stream(1, 2), len, |j| rows[j], &mut all);
            for (c, &row) in all.chunks(len).zip(&rows) {
                assert_eq!(c, &column(3, row, 200)[..len]);
            }
        }
    }

    #[test]
    fn rows_are_the_columns_transposed() {
        for (points, len) in [(1, 1), (1, 20), (3, 17), (16, 16), (17, 100), (40, 15)] {
            let (mut rows, mut columns) = (vec![0.0; points * len], vec![0.0; points * len]);
            let stream = Key::new(3).stream(1, 2);
            fill_normal_rows(stream, points, |p| 7 * p as u64, &mut rows);
            fill_normal(stream, len, |p| 7 * p as u64, &mut columns);
            let transposed: Vec<f64> = (0..len * points).map(|e| columns[e % points * len + e / points]).collect();
            assert_eq!(rows, transposed, "{points} points, {len} numbers");
        }
    }

    #[test]
    fn every_part_of_the_address_changes_the_numbers() {
        let first = |s: Stream| {
            let mut x = [0.0];
            fill_normal(s, 1, |_| 0, &mut x);
            x[0]
        };
        let k = Key::new(1);
        let all = [
            k.stream(0, 0),
            k.stream(1, 0),
            k.stream(0, 1),
            k.step(1).stream(0, 0),
            k.step(1 << 32).stream(0, 0),
            k.draw(1).stream(0, 0),
            Key::new(2).stream(0, 0),
            Key::new(1 << 40).stream(0, 0),
        ]
        .map(first);
        for i in 0..all.len() {
            assert!(all[..i].iter().all(|x| x != &all[i]), "address {i} repeats a number");
        }
    }

    /// Moments of 2²² numbers, and the distribution function at nine points. Each of the 13 comparisons has
    /// a bound of 5 standard errors: false-alarm rate 13·6e-7, below 1e-5 for the (fixed) seed.
    #[test]
    fn moments_and_distribution_are_those_of_a_standard_normal() {
        let n = 1 << 22;
        let x = column(11, 4, n);
        let root = (n as f64).sqrt();
        for (power, mean, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0_f64)] {
            let m = x.iter().map(|v| v.powi(power)).sum::<f64>() / n as f64;
            assert!((m - mean).abs() < 5.0 * variance.sqrt() / root, "moment {power} is {m}");
        }
        for q in [-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0_f64] {
            let p = 0.5 * libm::erfc(-q / std::f64::consts::SQRT_2);
            let below = x.iter().filter(|&&v| v < q).count() as f64 / n as f64;
            assert!((below - p).abs() < 5.0 * (p * (1.0 - p)).sqrt() / root, "P(x < {q}) is {below}, not {p}");
        }
    }

    #[test]
    fn neighbouring_numbers_and_rows_are_independent() {
        let n = 1 << 20;
        // numbers and, for a common length, their squares, both with mean 0 and variance 1; five standard errors, 36 comparisons: false alarm below 3e-5
        let bound = 5.0 / (n as f64).sqrt();
        let square = |x: &f64| (x * x - 1.0) / std::f64::consts::SQRT_2;
        let (x, y) = (column(5, 0, n), column(5, 1, n));
        let squares = [&x, &y].map(|x| x.iter().map(square).collect::<Vec<_>>());
        for (what, x, y) in [("numbers", &x, &y), ("squares", &squares[0], &squares[1])] {
            for lag in 1..=17 {
                let c = x.windows(lag + 1).map(|w| w[0] * w[lag]).sum::<f64>() / n as f64;
                assert!(c.abs() < bound, "{what}, lag {lag}: {c}");
            }
            let c = x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>() / n as f64;
            assert!(c.abs() < bound, "{what}, between rows: {c}");
        }
    }
}
