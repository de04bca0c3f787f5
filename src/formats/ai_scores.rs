//! zBench's `ai_scores.json`: pairs of documents with what each judge said of them.
//!
//! A score of 0.0 with no thought is how zBench records an API error: that is read as a failure and never as a vote.
//! A score of 0.0 with a thought is a tie.

mod element;
mod pair;
mod read;
mod write;

pub use element::ExpectedJudges;
pub use pair::{RecordedVote, ScoredDocument, ZBENCH_JUDGES, ZbenchPair};
pub use read::read_scored_pairs;
pub use write::ScoredPairsWriter;
