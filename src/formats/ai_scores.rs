//! zBench's `ai_scores.json`: pairs of documents with each judge's score.
//!
//! A score of 0.0 without a thought is how zBench records an API error: it is read as a failure,
//! never as a vote. A score of 0.0 with a thought is a tie. zBench checks no score, so a file may
//! contain one outside −1..1, which is no vote either.

mod element;
mod pair;
mod read;
mod write;

pub use element::ExpectedJudges;
pub use pair::{RecordedVote, ScoredDocument, ZBENCH_JUDGES, ZbenchPair};
pub use read::read_scored_pairs;
pub use write::ScoredPairsWriter;
