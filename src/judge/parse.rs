//! Reply text to opinion. First strictly, by the contract; then once more for what models do to it. Every case below is
//! decided and tested; a score is read or there is none, it is never made up, rescaled or clamped.
//!
//! | reply | decision |
//! | --- | --- |
//! | `{"thoughts": [...], "score": x}`, further keys, thoughts as one string, a `json` fence, a byte order mark | read |
//! | the same in other fences, in a list, with prose before or after, after a leading `<think>…</think>` | read |
//! | `"score": "0.5"`, `+1`, `1.`, `.5`, `−1` with U+2212, U+FE63 or U+FF0D, bare or as a string | read |
//! | no object, but exactly one `<score>x</score>` | read; what stands around it are the thoughts |
//! | two objects with a score, two scores in one object, two `<score>` tags, an object and a tag that differ | failure |
//! | a score outside −1..=1, `NaN`, `Infinity`, `1e999`, `75`, `50%`, `0,5`, `1/2`, `null`, a list | failure |
//! | no score; no thoughts beside a score in an object; thoughts that are not text | failure |
//! | an object that does not end, or that is broken in any way but its score's spelling | failure |
//! | empty, white space, only a `<think>` | failure |
//! | prose that declines ("I'm sorry, but I can't …") and holds no object and no tag | failure, as a refusal |
//! | any other prose, numbers in it included | failure |
//!
//! Answers to reranking questions ([`read_answer`]) are read apart: `{"ranking": […]}` and the like, without thoughts.
//!
//! Refusals, safety blocks and truncation that the provider reports are failures before any text is read.

mod answer;
mod choice;
mod error;
mod number;
mod opinion;
mod reply_text;
mod scan;
mod slots;
#[cfg(test)]
mod tests;
mod verdicts;

pub use answer::{read_answer, read_answer_strictly};
pub(crate) use choice::from_odds;
pub use error::ParseError;
pub use opinion::{
    WITHOUT_PROBABILITIES, choice, letter, parse, strict, strict_choice, strict_letter,
};
pub use slots::slots;
pub use verdicts::verdicts;
