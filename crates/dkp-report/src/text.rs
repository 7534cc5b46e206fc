//! Text in pages and pictures: escaping, numbers as people read them, and how wide a line is.

/// Text that is safe between tags and in double-quoted attributes, of HTML and of XML.
///
/// Control characters that XML forbids, and marks that turn the writing direction, become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// A number with up to four significant digits: `−0.1234`, `12 340`, `1.2×10⁸`.
pub fn number(value: f64) -> String {
    rounded(value, 4)
}

/// A number with up to so many significant digits; those before the point are all kept.
pub(crate) fn rounded(value: f64, digits: i32) -> String {
    if value.is_nan() {
        return "not a number".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_string();
    }
    if value == 0.0 {
        return "0".to_string();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        return scientific(value, exponent, 2);
    }
    let digits = fixed(value, (digits - 1 - exponent).max(0) as usize);
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.').to_string() } else { digits }
}

/// A number with so many decimals, a true minus sign, and narrow spaces between thousands from 10 000 on.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && whole.len() > 4 && (whole.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// `1.25×10⁻⁷`: a mantissa with so many decimals, and a power of ten.
pub(crate) fn scientific(value: f64, exponent: i32, decimals: usize) -> String {
    // in two steps: 10^−exponent alone overflows for subnormal values
    let mantissa = value / 10_f64.powi(exponent / 2) / 10_f64.powi(exponent - exponent / 2);
    let digits = fixed(mantissa, decimals);
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
    let power = power_of_ten(exponent);
    match digits {
        "1" => power,
        "−1" => format!("−{power}"),
        _ => format!("{digits}×{power}"),
    }
}

/// `10⁻³`.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = exponent.to_string();
    let raised = raised.chars().map(|c| c.to_digit(10).map_or('⁻', |d| RAISED[d as usize]));
    format!("10{}", raised.collect::<String>())
}

/// A share as a percentage: `87.5 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{}\u{202f}%", fixed(share * 100.0, 1))
}

/// A count and its noun: `1 row`, `12 000 rows`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{}\u{a0}{noun}{}", fixed(n as f64, 0), if n == 1 { "" } else { "s" })
}

/// About how wide a line of text is, in units of its font size; on the wide side of common fonts.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(character_width).sum::<f64>()
}

fn character_width(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | '\u{202f}' => 0.34,
        ' ' | '\u{a0}' | 'f' | 't' | 'r' | 'I' | '(' | ')' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 1.0,
        '⁰'..='⁹' | '¹' | '²' | '³' | '⁻' => 0.45,
        '<' | '>' | '=' | '+' | '~' | '^' | '#' => 0.85,
        'A'..='Z' | '−' | '×' | '&' => 0.75,
        c if c >= '\u{1100}' && !('\u{2000}'..'\u{2e80}').contains(&c) => 1.1,
        _ => 0.63,
    }
}

/// Text cut with an ellipsis so that it is at most so wide, in units of its font size.
pub(crate) fn fit(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_string();
    }
    let mut used = character_width('…');
    let kept = text.chars().take_while(|&c| {
        used += character_width(c);
        used <= room
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_forbidden_characters_do_not_survive() {
        assert_eq!(escape("<a b=\"c\">&'\0\u{202e}"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{fffd}\u{fffd}");
    }

    #[test]
    fn numbers_read_well_at_every_size() {
        let shown = [0.0, -0.12345, 12340.0, 1.0, 1.2e8, -1e-9, 5e-324, f64::MAX, f64::NEG_INFINITY].map(number);
        let expected = ["0", "−0.1235", "12\u{202f}340", "1", "1.2×10⁸", "−10⁻⁹", "4.94×10⁻³²⁴", "1.8×10³⁰⁸", "−∞"];
        assert_eq!(shown, expected);
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!((count(1, "row"), count(12000, "row")), ("1\u{a0}row".into(), "12\u{202f}000\u{a0}rows".into()));
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        assert_eq!(fit("short", 10.0), "short");
        let cut = fit("a name that is far too long", 8.0);
        assert!(cut.ends_with('…') && width(&cut) <= 8.0, "{cut}");
        assert_eq!(fit("anything", 0.0), "…");
    }
}
