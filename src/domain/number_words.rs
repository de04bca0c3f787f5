//! Formats numbers for people, on screens and on the command line: real minus signs, thousands
//! separators, units on times and amounts. Machine-readable output does not use it.

const UNKNOWN: &str = "–";

/// `+1.25`, `−0.50`, `0.00`: always with a sign, except for zero; `–` for NaN and infinity.
pub fn signed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let digits = format!("{:.decimals$}", value.abs());
    if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        digits
    } else if value < 0.0 {
        format!("−{digits}")
    } else {
        format!("+{digits}")
    }
}

/// `1.25`, `−0.50`: with a minus sign if negative, but no plus.
pub fn fixed(value: f64, decimals: usize) -> String {
    signed(value, decimals).trim_start_matches('+').to_owned()
}

/// `1st`, `2nd`, `3rd`, `4th`, `11th`, `21st`.
pub fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// A count with its noun: `1 document`, `2 documents`, `3 queries`, `4 days`, `5 batches`,
/// `12,000 votes`.
pub fn counted(number: usize, noun: &str) -> String {
    // The plural of query is queries, that of day is days.
    let stem = noun
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ies", count(number)),
        (_, None) if noun.ends_with("ch") => format!("{} {noun}es", count(number)),
        (_, None) => format!("{} {noun}s", count(number)),
    }
}

/// A nonnegative integer with thousands separators: `1,234,567`.
pub fn count(value: impl std::fmt::Display) -> String {
    let digits = value.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A probability in whole percent; values that are not certain never read 0 % or 100 %.
pub fn probability(value: f64) -> String {
    match 100.0 * value {
        percent if percent > 0.0 && percent < 1.0 => "<1 %".to_owned(),
        percent if percent > 99.0 && percent < 100.0 => ">99 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// A nonnegative duration in seconds: `0.25 s`, `4.2 s`, `12 s`, `3 min 05 s`, `2 h 14 min`,
/// `3 d 04 h`; `–` for NaN and infinity.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return UNKNOWN.into();
    }
    if seconds < 9.95 {
        let decimals = if seconds < 0.995 { 2 } else { 1 };
        return fixed(seconds, decimals) + " s";
    }
    let seconds = seconds.round() as u64;
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// `$0.0042`, `$1.23`, `$1,234.50`: with cents, or two significant digits below one cent.
pub fn usd(amount: f64) -> String {
    if !amount.is_finite() {
        return UNKNOWN.into();
    }
    let sign = if amount < 0.0 { "−" } else { "" };
    let size = amount.abs();
    if size == 0.0 || size >= 0.00995 {
        let cents = (size * 100.0).round();
        let (whole, rest) = ((cents / 100.0).floor(), cents % 100.0);
        return format!("{sign}${}.{rest:02.0}", count(whole as u64));
    }
    if size < 0.000_001 {
        return format!("{sign}<$0.000001");
    }
    let decimals = (1.0 - size.log10().floor()).clamp(2.0, 7.0) as usize;
    format!("{sign}${size:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_real_and_zero_has_none() {
        assert_eq!(signed(1.254, 2), "+1.25");
        assert_eq!(signed(-0.5, 2), "−0.50");
        assert_eq!(signed(-0.001, 2), "0.00");
        assert_eq!(signed(f64::NAN, 2), "–");
    }

    #[test]
    fn counts_are_grouped_in_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234), "1,234");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn durations_show_two_units() {
        assert_eq!(duration(0.0), "0.00 s");
        assert_eq!(duration(0.854), "0.85 s");
        assert_eq!(duration(0.997), "1.0 s");
        assert_eq!(duration(4.24), "4.2 s");
        assert_eq!(duration(9.96), "10 s");
        assert_eq!(duration(59.7), "1 min 00 s");
        assert_eq!(duration(185.0), "3 min 05 s");
        assert_eq!(duration(8_050.0), "2 h 14 min");
        assert_eq!(duration(273_700.0), "3 d 04 h");
        assert_eq!(duration(f64::INFINITY), "–");
    }

    #[test]
    fn money_keeps_two_significant_digits() {
        assert_eq!(usd(0.0), "$0.00");
        assert_eq!(usd(1.234), "$1.23");
        assert_eq!(usd(0.996), "$1.00");
        assert_eq!(usd(1_234.5), "$1,234.50");
        assert_eq!(usd(0.0042), "$0.0042");
        assert_eq!(usd(0.000_13), "$0.00013");
        assert_eq!(usd(-2.0), "−$2.00");
    }
}
