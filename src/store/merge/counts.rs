//! Counts of the changes made by a merge.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeCounts {
    pub queries_added: usize,
    /// New documents, including those of new queries.
    pub documents_added: usize,
    /// Documents with a different title or metadata in the other file; ours are kept.
    pub metadata_clashes: usize,
    pub battles: usize,
    pub votes: usize,
    /// Votes skipped because the same judge voted differently on the same pair in the same order.
    pub vote_clashes: usize,
    /// New failed calls.
    pub failures: usize,
    /// Known cost of the new votes, failures, picks and reranking calls in US dollars.
    pub spent_usd: f64,
    /// Maximum cost of further calls for which only the worst-case price is known.
    pub assumed_usd: f64,
    pub verdicts: usize,
    /// Verdicts and rulings that were undone there.
    pub undos: usize,
    /// New gold items.
    pub gold: usize,
    /// Gold items skipped because a different answer exists here.
    pub gold_clashes: usize,
    pub labels: usize,
    /// Labels skipped because the document has a different label here.
    pub label_clashes: usize,
    /// Rankings that are new or have new queries; for queries in both files, ours are kept.
    pub rankings: usize,
    /// New answers of judges about pools.
    pub picks: usize,
    pub rulings: usize,
    /// New calls of reranking methods.
    pub rerank_calls: usize,
    /// New results of reranking methods.
    pub rerank_results: usize,
    /// New students, counting each checkpoint.
    pub students: usize,
    /// New answers of judges to links between queries.
    pub link_answers: usize,
    /// New duels.
    pub duels: usize,
    /// New events of duel participants.
    pub duel_events: usize,
    /// Duels skipped because one of their queries is rejected.
    pub duels_left_out: usize,
    /// Participants whose events are skipped because the same name has different tasks here.
    pub participants_left_out: usize,
    /// Queries for which different judges count in the other file; the judges that count here are
    /// kept.
    pub keep_their_judges: usize,
    /// Pairs of the whole project on which people disagree after the merge.
    pub conflicts: usize,
    /// Names that may stand for two people, or for one who changed their mind, with the number of
    /// pairs judged differently in the two files.
    pub namesakes: BTreeMap<String, usize>,
    /// Calls still pending in batches of the other file; their votes arrive with a later merge.
    pub calls_pending: usize,
    /// Queries that were not merged at all, each with the reason.
    pub refused: Vec<(String, String)>,
}
