//! Three lexical measures of a pool: pure arithmetic over its texts, identical on every machine.
//!
//! `bm25` weighs rare stems by how often they occur, `proximity` considers which terms occur, how
//! close together and in which order, and `ngram` compares letter sequences of unstemmed words.
//! None of them understands a sentence.

mod analysis;
mod assessment;
mod bm25;
mod margin;
mod method;
mod ngram;
mod proximity;
mod reading;
mod wording;

pub(super) use analysis::LexicalAnalysis;
pub use analysis::LexicalScores;
pub(super) use analysis::count_words;
pub use method::{LexicalMethod, NAMES};

use serde_json::{Value, json};

/// The constants of a measure, as recorded in a judge's parameters.
pub(super) fn parameters(method: LexicalMethod) -> Value {
    match method {
        LexicalMethod::Bm25 => json!({"k1": bm25::K1, "b": bm25::B, "stemmer": "porter"}),
        LexicalMethod::Proximity => json!({
            "window": proximity::WINDOW,
            "reach": proximity::REACH,
            "shares": proximity::SHARES,
            "lateness": proximity::LATENESS,
            "stemmer": "porter",
        }),
        LexicalMethod::Ngram => json!({
            "lengths": [reading::GRAMS.start(), reading::GRAMS.end()],
            "passage_share": ngram::PASSAGE_SHARE,
            "slopes": ngram::SLOPES,
        }),
    }
}
