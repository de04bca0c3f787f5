//! Prompt templates: our own wording, or the user's, filled with a case so that no document can pose as instructions.
//!
//! A template is a text file: a line `answer: score`, `answer: choice` or `answer: letter`, a line `=== system ===`, the
//! standing instructions, a line `=== case ===`, and the message of one case. In the message, `{{query}}`, `{{a}}` and
//! `{{b}}` stand for the texts, `{{mark}}` for twelve digits that cannot be known to who wrote a text (they are a hash
//! of all three), and `{{cut_a}}`, `{{cut_b}}` for a remark on a document that was cut. Texts are put in once and never
//! looked at again, so that a `{{b}}` inside a document stays what it is.
//!
//! The templates for picks begin with `answer: slots` or, for a verdict on each document, `answer: verdicts`; their
//! messages have `{{query}}`, `{{documents}}`, `{{task}}` and `{{mark}}`.

mod answer_form;
mod document;
mod template;
#[cfg(test)]
mod tests;

pub use answer_form::AnswerForm;
pub use document::DocumentCut;
pub use template::Template;
pub(super) use template::task_text;

/// The template that asks for a number.
pub const SCORE: &str = include_str!("../../assets/prompts/score.md");
/// The template that asks for A, B or a tie, with reasons.
pub const CHOICE: &str = include_str!("../../assets/prompts/choice.md");
/// The template that asks for one letter: for small models whose log-probabilities are read.
pub const LETTER: &str = include_str!("../../assets/prompts/letter.md");
/// The template that asks for the relevant documents of a pool.
pub const PICK: &str = include_str!("../../assets/prompts/pick.md");
/// The template that asks for a verdict on every document of a pool.
pub const VERDICTS: &str = include_str!("../../assets/prompts/verdicts.md");
