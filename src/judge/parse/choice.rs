//! Parses answers that name a document instead of a number.

use super::error::{ParseError, shown};
use crate::domain::vote::Margin;
use crate::judge::call::{AnswerProbabilities, Opinion};

/// The margin from probabilities: that of B minus that of A, or 0 if a tie is more likely than
/// either. `None` if they are not informative.
pub(crate) fn from_odds(odds: AnswerProbabilities) -> Option<Opinion> {
    let whole = odds.a + odds.b + odds.tie;
    if !whole.is_finite() || whole <= 0.0 || odds.a < 0.0 || odds.b < 0.0 || odds.tie < 0.0 {
        return None;
    }
    let (a, b, tie) = (odds.a / whole, odds.b / whole, odds.tie / whole);
    let margin = if tie >= a.max(b) {
        0.0
    } else {
        (b - a).clamp(-1.0, 1.0)
    };
    Some(Opinion {
        margin: Margin::new(margin)?,
        thoughts: vec![format!(
            "the model's own probabilities: document A {a:.3}, document B {b:.3}, tie {tie:.3}"
        )],
    })
}

/// A, B or a tie, bare or as a JSON string, ignoring case.
pub(super) fn margin(raw: &str) -> Result<Margin, ParseError> {
    let inner = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
    let word = inner
        .trim_matches(|c: char| c.is_whitespace() || "\"'`*.()[]".contains(c))
        .to_ascii_lowercase();
    let value = match word.as_str() {
        "a" | "document a" => -1.0,
        "b" | "document b" => 1.0,
        "t" | "tie" | "neither" | "both" | "equal" => 0.0,
        _ => return Err(ParseError::NotAChoice(shown(raw))),
    };
    Margin::new(value).ok_or_else(|| ParseError::NotAChoice(shown(raw)))
}
