//! Prepares a document for a prompt: truncated, without control characters and without imitations
//! of our marker lines.

use crate::domain::document_cut::DocumentCut;
use std::borrow::Cow;

/// Our marker lines start with this; it is broken up in documents.
const OPENING: &str = "[[";

/// The part of `text` to show, and a remark if it is truncated.
pub(super) fn truncated(text: &str, cut: DocumentCut) -> (&str, String) {
    let Some(head) = cut.head(text) else {
        return (text, String::new());
    };
    let remark = format!(
        " (cut: the first {} of {} characters are shown; judge what is shown)",
        head.chars().count(),
        text.chars().count()
    );
    (head, remark)
}

/// `text` with control characters replaced by spaces, and with every `[[` that could start one of
/// our marker lines broken up.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(odd) && !text.contains(OPENING) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c == '[' && cleaned.ends_with('[') {
            cleaned.push(' ');
        }
        cleaned.push(if odd(c) { ' ' } else { c });
    }
    Cow::Owned(cleaned)
}
