//! Strips: a few vectors of rows, so few that their sums over columns stay in registers.

use pulp::{Scalar, Simd};
use std::ops::Range;

/// Vectors of a strip.
pub(super) const VECTORS: usize = 3;

/// What is done to the rows of a matrix, a strip after the other.
pub(super) trait ByStrips {
    /// Why it may end early.
    type Stop;

    /// Handles some rows, V vectors of them; the first `done` have been handled before.
    fn strip<S: Simd, const V: usize>(&mut self, simd: S, rows: Range<usize>, done: usize) -> Result<(), Self::Stop>;
}

/// Goes through `rows` in strips, then in vectors. The last vector, if incomplete, overlaps the one before; where there is none, single rows are
/// handled.
#[inline(always)]
pub(super) fn over_strips<S: Simd, J: ByStrips>(simd: S, job: &mut J, rows: Range<usize>) -> Result<(), J::Stop> {
    let lanes = S::F64_LANES;
    let mut at = rows.start;
    while rows.end - at >= VECTORS * lanes {
        job.strip::<S, VECTORS>(simd, at..at + VECTORS * lanes, 0)?;
        at += VECTORS * lanes;
    }
    while rows.end - at >= lanes {
        job.strip::<S, 1>(simd, at..at + lanes, 0)?;
        at += lanes;
    }
    if at < rows.end && rows.len() >= lanes {
        let first = rows.end - lanes;
        return job.strip::<S, 1>(simd, first..rows.end, at - first);
    }
    for row in at..rows.end {
        job.strip::<Scalar, 1>(Scalar, row..row + 1, 0)?;
    }
    Ok(())
}

/// How many columns of a result are summed together, of those that are left.
#[inline(always)]
pub(super) fn block<S: Simd>(left: usize) -> usize {
    match left {
        8.. if S::REGISTER_COUNT >= 32 => 8,
        4.. => 4,
        _ => 1,
    }
}

/// The body for each k below a constant of at most 8, written out: sums stay in registers only where no index is a variable.
macro_rules! written_out {
    ($k:ident < $count:ident, $body:block) => {
        written_out!(@ $k, $count, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $k:ident, $count:ident, $body:block, $($each:literal),*) => {
        $(if $each < $count {
            let $k = $each;
            $body
        })*
    };
}
pub(super) use written_out;

/// The numbers by which element k of a row is multiplied: one for each column j of the result, below C.
pub(super) trait Numbers<const C: usize>: Copy {
    fn at(&self, k: usize, j: usize) -> f64;
}

/// L_kj for C columns j.
#[derive(Clone, Copy)]
pub(super) struct Down<'a, const C: usize>(pub [&'a [f64]; C]);

impl<'a, const C: usize> Down<'a, C> {
    /// Of the n×n matrix L, from column `first` on.
    #[inline(always)]
    pub(super) fn new(l: &'a [f64], n: usize, first: usize) -> Self {
        let mut columns = [&[][..]; C];
        for j in 0..C {
            columns[j] = &l[(first + j) * n..][..n];
        }
        Down(columns)
    }
}

impl<const C: usize> Numbers<C> for Down<'_, C> {
    #[inline(always)]
    fn at(&self, k: usize, j: usize) -> f64 {
        self.0[j][k]
    }
}

/// L_ik for C rows i from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Across<'a> {
    pub l: &'a [f64],
    pub n: usize,
    pub first: usize,
}

impl<'a> Across<'a> {
    /// Those of column k.
    #[inline(always)]
    pub(super) fn rows<const C: usize>(&self, k: usize) -> &'a [f64; C] {
        self.l[k * self.n + self.first..].first_chunk().expect("the rows are there")
    }
}

impl<const C: usize> Numbers<C> for Across<'_> {
    #[inline(always)]
    fn at(&self, k: usize, j: usize) -> f64 {
        self.rows::<C>(k)[j]
    }
}

/// Σ_k x_k·l_k over columns k of X, for C columns of the result.
#[inline(always)]
pub(super) fn sum<S: Simd, const V: usize, const C: usize>(
    simd: S,
    (x, rows): (&[f64], usize),
    points: &Range<usize>,
    l: impl Numbers<C>,
    ks: impl Iterator<Item = usize>,
) -> [[S::f64s; V]; C] {
    let mut sums = [[simd.splat_f64s(0.0); V]; C];
    for k in ks {
        let x = load::<S, V>(column(x, rows, k, points));
        for j in 0..C {
            sums[j] = multiply(simd, sums[j], l.at(k, j), x);
        }
    }
    sums
}

/// Part of column k of a matrix.
#[inline(always)]
pub(super) fn column<'a>(x: &'a [f64], rows: usize, k: usize, points: &Range<usize>) -> &'a [f64] {
    &x[k * rows + points.start..][..points.len()]
}

#[inline(always)]
pub(super) fn column_mut<'a>(x: &'a mut [f64], rows: usize, k: usize, points: &Range<usize>) -> &'a mut [f64] {
    &mut x[k * rows + points.start..][..points.len()]
}

/// sum + factor·x
#[inline(always)]
pub(super) fn multiply<S: Simd, const V: usize>(
    simd: S,
    mut sum: [S::f64s; V],
    factor: f64,
    x: [S::f64s; V],
) -> [S::f64s; V] {
    let factor = simd.splat_f64s(factor);
    for v in 0..V {
        sum[v] = simd.mul_add_f64s(factor, x[v], sum[v]);
    }
    sum
}

/// (x − sum)·factor
#[inline(always)]
pub(super) fn difference<S: Simd, const V: usize>(
    simd: S,
    mut x: [S::f64s; V],
    sum: [S::f64s; V],
    factor: f64,
) -> [S::f64s; V] {
    let factor = simd.splat_f64s(factor);
    for v in 0..V {
        x[v] = simd.mul_f64s(simd.sub_f64s(x[v], sum[v]), factor);
    }
    x
}

#[inline(always)]
pub(super) fn load<S: Simd, const V: usize>(x: &[f64]) -> [S::f64s; V] {
    *S::as_simd_f64s(x).0.first_chunk().expect("so many vectors")
}

#[inline(always)]
pub(super) fn store<S: Simd, const V: usize>(to: &mut [f64], x: [S::f64s; V]) {
    *S::as_mut_simd_f64s(to).0.first_chunk_mut().expect("so many vectors") = x;
}
