//! Parses the answer in a judge's reply: first by the contract, then tolerantly of common
//! deviations. A score is never made up, rescaled or clamped: if none can be read, there is none.
//! Text that is not an answer is a failure, never a vote.
//!
//! Only the part after the model's reasoning counts: after the last `</think>` or similar mark, and
//! in the final channel.
//!
//! | that part of the reply | decision |
//! | --- | --- |
//! | `{"thoughts": [...], "score": x}`, further keys, thoughts as one string, a `json` fence, a byte order mark | read |
//! | the same in other fences, in a list, with prose before or after, with line breaks inside its strings | read |
//! | `"score": "0.5"`, `+1`, `1.`, `.5`, `−1` with U+2212, U+FE63 or U+FF0D, bare or as a string | read |
//! | no object, but `<score>x</score>` | read; the text around it is the thoughts |
//! | several objects or tags with the same score | read |
//! | a draft, words that lead away from it, and then another object that ends the reply | the last one is read |
//! | any other objects or tags that differ, two scores in one object | failure |
//! | an object in the middle of a sentence, or followed by words that retract it or prefer the other document | failure |
//! | an object or tag copied from the query or a document | ignored; failure if there is no other |
//! | a score outside −1..=1, `NaN`, `Infinity`, `1e999`, `75`, `50%`, `0,5`, `1/2`, `null`, a list | failure |
//! | no score; a score in an object without thoughts; thoughts that are not text | failure |
//! | an object that does not end, or that is broken in any way except the spelling of its score | failure |
//! | empty, whitespace, only reasoning | failure |
//! | prose that declines ("I'm sorry, but I can't …") without an object or a tag | failure, as a refusal |
//! | any other prose, even with numbers | failure |
//!
//! If a letter or a word is requested, the part must be that word alone, ignoring Markdown,
//! quotation marks and a period; the model's probabilities are only read in this case. If the
//! content of a reply is empty and its text came in another field, such as `reasoning_content`,
//! that whole text must be an answer that follows the contract.
//!
//! Answers to reranking questions ([`read_answer`]) are parsed in the same way: `{"ranking": […]}`
//! and the like, without thoughts.
//!
//! Refusals, safety blocks and truncation reported by the provider are failures before any text is
//! parsed.

mod afterwards;
mod answer;
mod choice;
mod conclusion;
mod error;
mod letter;
mod number;
mod opinion;
mod reply_text;
mod scan;
mod slots;
#[cfg(test)]
mod tests;
mod thinking;
mod verdicts;
mod written;

pub use answer::{read_answer, read_answer_strictly};
pub(crate) use choice::from_odds;
pub use error::{NoAnswer, ParseError};
pub use letter::AnswerWord;
pub(crate) use letter::answer_word;
pub use opinion::{
    WITHOUT_PROBABILITIES, choice, letter, score, strict_choice, strict_letter, strict_score,
};
pub use slots::slots;
pub use verdicts::verdicts;
pub use written::Written;
