//! Documents whose true relevance stands in their text, and judges that see it through noise.
//!
//! A query that begins with `noise X` and documents that begin with `relevance X` make the noise
//! model of the simulations: what the judges misread alike in a pair, what each misreads by itself
//! (the query's X), a lean to the document shown first, and what changes from call to call. It
//! follows from the texts alone, so that any run can be foretold.

use super::answer::{Shown, hash};

/// What all judges misread alike, what changes from call to call, and how small a preference is a
/// tie.
const PAIR: f64 = 0.498;
const CALL: f64 = 0.3;
const TIE: f64 = 0.05;

/// A preference of this size is stated as a margin of tanh 1 = .76.
const SCALE: f64 = 2.0;

/// The margin of a model on such a pair, in hundredths; `None` where the texts say no relevance.
pub(crate) fn latent_margin(model: &str, shown: &Shown) -> Option<f64> {
    let number = |text: &str, name: &str| -> Option<f64> {
        let rest = text.trim_start().strip_prefix(name)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let own = number(&shown.query, "noise ")?;
    let gap = number(&shown.b, "relevance ")? - number(&shown.a, "relevance ")?;
    // Misreadings are of the pair, whichever document is shown first.
    let turned = shown.a > shown.b;
    let (low, high) = if turned {
        (&shown.b, &shown.a)
    } else {
        (&shown.a, &shown.b)
    };
    let sign = if turned { -1.0 } else { 1.0 };
    let shared = normal(&["pair", &shown.query, low, high]);
    let alone = normal(&["own", model, &shown.query, low, high]);
    let call = normal(&["call", model, &shown.query, &shown.a, &shown.b]);
    let first = match hash(&["lean", model])[0] % 3 {
        0 => 0.25,
        1 => -0.10,
        _ => 0.15,
    };
    let preference = gap + sign * (PAIR * shared + own * alone) + CALL * call - first;
    Some(match preference {
        small if small.abs() < TIE => 0.0,
        // No preference is stated as none.
        large => {
            let stated = (100.0 * (large / SCALE).tanh()).round() / 100.0;
            let least = 0.01_f64.copysign(large);
            if stated == 0.0 { least } else { stated }
        }
    })
}

/// A standard normal that follows from what it is about (Box & Muller 1958).
pub(crate) fn normal(parts: &[&str]) -> f64 {
    let digest = hash(parts);
    let unit = |bytes: &[u8]| {
        let number = bytes
            .iter()
            .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        (number as f64 + 0.5) / 2.0f64.powi(48)
    };
    let (radius, angle) = (unit(&digest[..6]), unit(&digest[6..12]));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
