//! Colours: a few for lines that colour-blind people can tell apart, and even scales for heat maps.
//!
//! Scales are paths through OKLab (Ottosson 2020), in which equal distances look about equal.

/// Line and fill colours on white; pages replace them by their own, for dark screens.
pub(crate) const SERIES: [&str; 6] = ["#0b62a8", "#c2500a", "#00795c", "#8b4aa3", "#8a6400", "#5b6570"];
/// Text, muted text, and grid lines on white.
pub(crate) const TEXT: &str = "#1c2024";
pub(crate) const MUTED: &str = "#5b6570";
pub(crate) const GRID: &str = "#e1e5e9";

/// What a mark is drawn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// One of six colours, by number; from 6 on the same colours again, dashed.
    Series(usize),
    /// Grey, for what is to be expected.
    Muted,
}

impl Ink {
    /// The letter or digit that ends its CSS classes.
    pub(crate) fn class(self) -> String {
        match self {
            Ink::Series(i) => (i % SERIES.len()).to_string(),
            Ink::Muted => "m".to_string(),
        }
    }

    /// Its colour on white.
    pub(crate) fn hex(self) -> &'static str {
        match self {
            Ink::Series(i) => SERIES[i % SERIES.len()],
            Ink::Muted => MUTED,
        }
    }

    /// Its dashes, if any.
    pub(crate) fn dashes(self) -> &'static str {
        match self {
            Ink::Series(i) => ["", " stroke-dasharray=\"6 3\"", " stroke-dasharray=\"2 3\""][(i / SERIES.len()) % 3],
            Ink::Muted => "",
        }
    }
}

/// sRGB of a colour given by OKLab lightness, chroma and hue in degrees; chroma shrinks until it can be shown.
fn oklch(lightness: f64, chroma: f64, hue: f64) -> [u8; 3] {
    let (sin, cos) = hue.to_radians().sin_cos();
    let linear = |chroma: f64| {
        let (a, b) = (chroma * cos, chroma * sin);
        let [l, m, s] = [
            lightness + 0.3963377774 * a + 0.2158037573 * b,
            lightness - 0.1055613458 * a - 0.0638541728 * b,
            lightness - 0.0894841775 * a - 1.2914855480 * b,
        ]
        .map(|v| v * v * v);
        [
            4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
        ]
    };
    let shown = (0..=20).map(|i| linear(chroma * (1.0 - f64::from(i) / 20.0)));
    let rgb = shown.into_iter().find(|rgb| rgb.iter().all(|v| (-1e-3..=1.001).contains(v))).unwrap_or(linear(0.0));
    rgb.map(|v| {
        let v = v.clamp(0.0, 1.0);
        let v = if v <= 0.0031308 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (v * 255.0).round() as u8
    })
}

/// From dark violet over teal to light yellow: lightness and hue change evenly.
pub(crate) fn sequential(t: f64) -> [u8; 3] {
    let t = t.clamp(0.0, 1.0);
    oklch(0.28 + 0.66 * t, 0.13, 295.0 - 190.0 * t)
}

/// From blue over near white to rust: −1 to 1, lightest at 0.
pub(crate) fn diverging(t: f64) -> [u8; 3] {
    let t = t.clamp(-1.0, 1.0);
    oklch(0.96 - 0.54 * t.abs(), 0.15 * t.abs(), if t < 0.0 { 255.0 } else { 45.0 })
}

/// Blue that grows more opaque, for densities over any background: colour and opacity.
pub(crate) fn density(t: f64) -> [u8; 4] {
    [0x2a, 0x7d, 0xd1, (60.0 + 195.0 * t.clamp(0.0, 1.0)).round() as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(rgb: [u8; 3]) -> f64 {
        0.2126 * f64::from(rgb[0]) + 0.7152 * f64::from(rgb[1]) + 0.0722 * f64::from(rgb[2])
    }

    #[test]
    fn scales_read_in_grey_too() {
        let steps: Vec<f64> = (0..=20).map(|i| luminance(sequential(f64::from(i) / 20.0))).collect();
        assert!(steps.windows(2).all(|w| w[1] > w[0]), "{steps:?}");
        let away: Vec<f64> = (0..=10).map(|i| luminance(diverging(f64::from(i) / 10.0))).collect();
        assert!(away.windows(2).all(|w| w[1] < w[0]), "{away:?}");
    }

    #[test]
    fn white_and_black_are_where_oklab_has_them() {
        assert_eq!((oklch(1.0, 0.0, 0.0), oklch(0.0, 0.0, 0.0)), ([255; 3], [0; 3]));
    }
}
