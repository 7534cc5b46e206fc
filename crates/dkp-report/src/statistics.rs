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

/// Counts between which a binomial count falls with probability 95 % at least: n trials with chance p.
pub(crate) fn binomial_band(n: usize, p: f64) -> (f64, f64) {
    const TAIL: f64 = 0.025;
    let (count, p) = (n as f64, if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) });
    let (mean, variance) = (count * p, count * p * (1.0 - p));
    if variance == 0.0 {
        return (mean, mean);
    }
    // from here on the normal distribution is within a fraction of a count
    if variance > 1000.0 {
        let half = 1.959964 * variance.sqrt() + 0.5;
        return ((mean - half).max(0.0), (mean + half).min(count));
    }
    // log p(k+1) − log p(k) = log((n−k)/(k+1)) + log(p/(1−p)), p(0) = (1−p)ⁿ
    let odds = p.ln() - (-p).ln_1p();
    let (mut log_mass, mut below) = (count * (-p).ln_1p(), 0.0);
    let (mut low, mut high) = (None, n);
    for k in 0..=n {
        below += log_mass.exp();
        if low.is_none() && below > TAIL {
            low = Some(k);
        }
        if below >= 1.0 - TAIL {
            high = k;
            break;
        }
        log_mass += ((n - k) as f64).ln() - ((k + 1) as f64).ln() + odds;
    }
    (low.unwrap_or(0) as f64, high as f64)
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
        assert_eq!(binomial_band(10, 0.5), (2.0, 8.0));
        assert_eq!(binomial_band(20, 0.9), (15.0, 20.0));
        assert_eq!(
            (binomial_band(0, 0.5), binomial_band(7, 1.0), binomial_band(5, f64::NAN)),
            ((0.0, 0.0), (7.0, 7.0), (0.0, 0.0))
        );
        // the exact and the approximate form meet
        let (exact, normal) = (binomial_band(3990, 0.5), binomial_band(4010, 0.5));
        assert!((exact.0 - normal.0 + 10.0).abs() < 1.5 && (exact.1 - normal.1 + 10.0).abs() < 1.5);
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
