//! Two documents with each judge's vote.

use crate::domain::corpus::{DocId, JsonObject, QueryId};
use crate::domain::vote::Margin;

/// The judges of a file written by zBench, in its order.
pub const ZBENCH_JUDGES: [&str; 3] = ["openai", "gemini", "anthropic"];

/// Prefix of the thought of a judge that was shown B first. The corresponding score is already
/// inverted.
pub(super) const SWAPPED: &str = "(SWAPPED)\n";

/// Placeholder for the thought of a tie without one, which would otherwise be read as a failure.
pub(super) const NO_REASONING: &str = "(no reasoning)";

#[derive(Clone, Debug, PartialEq)]
pub struct ScoredDocument {
    pub id: DocId,
    pub content: String,
    pub metadata: JsonObject,
}

/// The record of one judge on one pair.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedVote {
    Vote {
        /// The preference, oriented to the pair's A and B.
        margin: Margin,
        /// Whether the judge was shown B first.
        swapped: bool,
        /// The judge's reasoning, without the prefix of a swap.
        thought: String,
    },
    /// A score outside −1..1: there is no vote.
    OutOfRange {
        score: f64,
        /// As in the file, with the prefix of a swap.
        thought: String,
    },
    /// The call failed: there is no vote.
    Failure,
}

/// Two documents and the judges' votes on them. A file may contain a pair several times, in either
/// orientation. For a query with one document, zBench writes pairs of it with itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ZbenchPair {
    /// The file's name for the pair; zBench's own is [`ZbenchPair::zbench_id`].
    pub pair_id: String,
    pub query_id: QueryId,
    pub query: String,
    pub a: ScoredDocument,
    pub b: ScoredDocument,
    /// The judges by name (`openai` for the member `openai_score`) in the order of the file, with
    /// the record of each.
    pub votes: Vec<(String, RecordedVote)>,
}

impl ZbenchPair {
    /// Whether both documents are the same, as zBench writes for queries with one document.
    pub fn meets_itself(&self) -> bool {
        self.a.id == self.b.id
    }

    /// zBench's name of a pair: the three identifiers joined by hyphens.
    pub fn zbench_id(query: &QueryId, a: &DocId, b: &DocId) -> String {
        format!("{query}-{a}-{b}")
    }
}
