//! A pair with the reasoning of a judge, for the clipboard.

use super::calls::{self, JudgeCall};
use crate::domain::reasoning::{self, OTHER_ORDER};
use crate::domain::sanitize;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::behavior::Copied;

/// The chosen judge's reasoning on a pair, headed by the query and the two documents; only the
/// identifiers if it gave none.
pub(crate) fn reasoning_on(open: &OpenQuery, (a, b): (usize, usize), judge: usize) -> Copied {
    let calls = calls::of_pair(open, a, b);
    let call = calls.get(judge.min(calls.len().saturating_sub(1)));
    let Some((call, words)) = call.and_then(|call| Some((call, words_of(call)?))) else {
        return Copied::Text {
            text: open.identifiers(&[a, b]),
            what: "the identifiers of the query and both documents".to_owned(),
        };
    };
    let document = |at: usize| format!("{} {}", open.name(at), open.headline(at));
    Copied::Text {
        text: format!(
            "query: {}\nA: {}\nB: {}\n{}\n\n{words}\n",
            sanitize::line(&open.info.text),
            document(a),
            document(b),
            call.summary()
        ),
        what: format!("the reasoning of {}", call.name),
    }
}

/// The reasoning with its labels as on the screen, and a note if they are those of the other order.
fn words_of(call: &JudgeCall<'_>) -> Option<String> {
    let written = sanitize::block(call.detail?.reasoning.text());
    let shown = reasoning::oriented(&written, call.b_first == Some(true));
    let words = shown.text.trim();
    let note = if shown.is_reversed {
        format!("({OTHER_ORDER})\n")
    } else {
        String::new()
    };
    (!words.is_empty()).then(|| format!("{note}{words}"))
}
