//! The little statistics that the charts need: quantiles, and what chance allows.

/// A quantile of ascending values, between neighbours in proportion; nothing of nothing.
pub(crate) fn quantile(ascending: &[f64], share: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (ascending[place.floor() as usize], ascending[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

/// A range for an axis that single wild values do not stretch: no farther than three times the distance between the
/// quantiles of 5 % and 95 % beyond them.
pub(crate) fn robust_range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let mut finite: Vec<f64> = values.filter(|v| crate::chart::drawable(*v)).collect();
    finite.sort_by(f64::total_cmp);
    let (least, most) = (*finite.first()?, *finite.last()?);
    let (low, high) = (quantile(&finite, 0.05)?, quantile(&finite, 0.95)?);
    let far = 3.0 * (high - low);
    if far == 0.0 {
        return Some((least, most));
    }
    Some((least.max(low - far), most.min(high + far)))
}

/// A range with some air, for an axis.
pub(crate) fn with_air((low, high): (f64, f64)) -> Option<(f64, f64)> {
    let air = 0.05 * (high - low);
    (air > 1e-7 * low.abs().max(high.abs())).then_some((low - air, high + air))
}

/// What chance leaves out at each end of a band that it keeps to with probability 95 %: in one place,
pub(crate) const ONE: f64 = 0.025;
/// in some places at once (Bonferroni),
pub(crate) fn several(places: usize) -> f64 {
    ONE / places.max(1) as f64
}
/// and at all of the shares 1/20 to 19/20 of values that are evenly spread (a Brownian bridge, divided by its deviation).
pub(crate) const CURVE: f64 = 0.0025;

/// Counts between which a binomial count falls but for probability `tail` at each end, at most: n trials with chance p.
pub(crate) fn binomial_band(n: usize, p: f64, tail: f64) -> (f64, f64) {
    let (count, p) = (n as f64, if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) });
    if count * p * (1.0 - p) == 0.0 {
        return (count * p, count * p);
    }
    // log p(k+1) − log p(k) = log((n−k)/(k+1)) + log(p/(1−p)), p(0) = (1−p)ⁿ
    let odds = p.ln() - (-p).ln_1p();
    let (mut log_mass, mut below) = (count * (-p).ln_1p(), 0.0);
    let (mut low, mut high) = (None, n);
    for k in 0..=n {
        below += log_mass.exp();
        if low.is_none() && below > tail {
            low = Some(k);
        }
        if below >= 1.0 - tail {
            high = k;
            break;
        }
        log_mass += ((n - k) as f64).ln() - ((k + 1) as f64).ln() + odds;
    }
    (low.unwrap_or(0) as f64, high as f64)
}

/// Whether y goes with x, told from chance (Kruskal & Wallis): y's ranks in five groups of rows of similar x, at a level of 1 %.
pub(crate) fn goes_with(x: &[f64], y: &[f64]) -> bool {
    const GROUPS: usize = 5;
    // the quantile of 99 % of χ² with four degrees of freedom
    const CERTAIN: f64 = 13.277;
    let n = x.len().min(y.len());
    if n < 10 * GROUPS {
        return false;
    }
    let by = |values: &[f64]| {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        order
    };
    let mut rank = vec![0.0; n];
    by(y).into_iter().enumerate().for_each(|(place, row)| rank[row] = place as f64 - 0.5 * (n - 1) as f64);
    // H = 12/(n(n+1)) Σ nᵍ r̄ᵍ²
    let of_group = |rows: &[usize]| rows.iter().map(|&i| rank[i]).sum::<f64>().powi(2) / rows.len() as f64;
    let sum: f64 = by(x).chunks(n.div_ceil(GROUPS)).map(of_group).sum();
    12.0 / (n as f64 * (n + 1) as f64) * sum > CERTAIN
}

/// How many values fall into each of so many equal parts of 0 to 1; others are not counted.
pub(crate) fn histogram(values: &[f64], parts: usize) -> Vec<usize> {
    let mut counts = vec![0; parts];
    for v in values.iter().filter(|v| (0.0..=1.0).contains(*v)) {
        let part = ((v * parts as f64) as usize).min(parts.saturating_sub(1));
        if let Some(count) = counts.get_mut(part) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binomial_band_is_the_tabulated_one() {
        assert_eq!(binomial_band(10, 0.5, ONE), (2.0, 8.0));
        assert_eq!(binomial_band(20, 0.9, ONE), (15.0, 20.0));
        let degenerate = [(0, 0.5), (7, 1.0), (5, f64::NAN)].map(|(n, p)| binomial_band(n, p, ONE));
        assert_eq!(degenerate, [(0.0, 0.0), (7.0, 7.0), (0.0, 0.0)]);
        // with many trials the normal distribution's
        let (low, high) = binomial_band(1_000_000, 0.3, ONE);
        let half = 1.959_964 * (1e6_f64 * 0.3 * 0.7).sqrt();
        assert!((low - (3e5 - half)).abs() < 1.5 && (high - (3e5 + half)).abs() < 1.5, "{low} {high}");
    }

    /// The chance that counts of evenly spread values stay in the band at all shares, from their joint distribution, step by step.
    #[test]
    fn a_curve_keeps_to_its_band_with_95_percent() {
        let binomial = |n: usize, p: f64| {
            let mut mass = vec![1.0];
            for _ in 0..n {
                let with = |k: usize| mass.get(k).copied().unwrap_or(0.0);
                mass =
                    (0..=mass.len()).map(|k| (1.0 - p) * with(k) + p * if k > 0 { with(k - 1) } else { 0.0 }).collect();
            }
            mass
        };
        for n in [20, 100] {
            let mut chance = vec![0.0; n + 1];
            chance[0] = 1.0;
            for i in 1..20 {
                let (low, high) = binomial_band(n, f64::from(i) / 20.0, CURVE);
                let mut next = vec![0.0; n + 1];
                for (k, before) in chance.iter().enumerate() {
                    // of those above the last share, so many lie below this one
                    let more = binomial(n - k, 1.0 / f64::from(21 - i));
                    more.iter().enumerate().for_each(|(j, mass)| next[k + j] += before * mass);
                }
                let outside = |k: usize| (k as f64) < low || (k as f64) > high;
                next.iter_mut().enumerate().filter(|(k, _)| outside(*k)).for_each(|(_, mass)| *mass = 0.0);
                chance = next;
            }
            let kept: f64 = chance.iter().sum();
            assert!((0.95..0.985).contains(&kept), "{n}: {kept}");
        }
    }

    /// A slope and a funnel are found; a hundred tables of chance give hardly any.
    #[test]
    fn what_goes_with_something_is_told_from_chance() {
        let even = |i: usize, step: f64| (i as f64 * step).fract();
        let x: Vec<f64> = (0..200).map(|i| even(i, 0.618_034)).collect();
        let noise: Vec<f64> = (0..200).map(|i| even(i, 0.414_214) - 0.5).collect();
        let slope: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| x + e).collect();
        let funnel: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| (x * e).abs()).collect();
        assert!(goes_with(&x, &slope) && goes_with(&x, &funnel) && !goes_with(&x, &noise));
        assert!(!goes_with(&x[..20], &slope[..20]));
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64
        };
        let found = (0..200).filter(|_| goes_with(&x, &(0..200).map(|_| random()).collect::<Vec<f64>>())).count();
        assert!(found <= 8, "{found} of 200 at a level of 1 %");
    }

    #[test]
    fn one_wild_value_does_not_stretch_the_range() {
        let values = (0..100).map(f64::from).chain([-1e12, f64::NAN]);
        let (low, high) = robust_range(values).unwrap();
        assert!(low > -400.0 && high == 99.0, "{low} {high}");
        assert_eq!(robust_range([f64::INFINITY].into_iter()), None);
        assert_eq!(robust_range([2.0].into_iter()), Some((2.0, 2.0)));
    }

    #[test]
    fn quantiles_and_histograms_of_little_data() {
        assert_eq!(
            (quantile(&[], 0.5), quantile(&[3.0], 0.9), quantile(&[0.0, 1.0], 0.25)),
            (None, Some(3.0), Some(0.25))
        );
        assert_eq!(histogram(&[0.0, 1.0, f64::NAN, -0.1, 0.5], 2), [1, 2]);
        assert_eq!(histogram(&[0.3], 0), Vec::<usize>::new());
    }
}
