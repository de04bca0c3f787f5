//! What a merge did, in numbers.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeCounts {
    pub queries_added: usize,
    /// Documents that were new, those of new queries included.
    pub documents_added: usize,
    /// Documents with another title or other metadata there; those of this project stay.
    pub metadata_clashes: usize,
    pub battles: usize,
    pub votes: usize,
    /// Votes left out because the same judge has voted differently on the same pair in the same order.
    pub vote_clashes: usize,
    /// Failed calls that were new.
    pub failures: usize,
    /// What the new votes, failures, picks and calls of reranking methods had cost, in US dollars, as far as that is known.
    pub spent_usd: f64,
    /// What further calls have cost at most, where only the worst price is known.
    pub assumed_usd: f64,
    pub verdicts: usize,
    /// Verdicts and rulings that were taken back there.
    pub undos: usize,
    /// Gold items that were new.
    pub gold: usize,
    /// Gold items left out because another answer is known here.
    pub gold_clashes: usize,
    pub labels: usize,
    /// Labels left out because the document is labelled otherwise here.
    pub label_clashes: usize,
    /// Rankings that were not here, or not of all their queries; of a query that is in both, ours stays.
    pub rankings: usize,
    /// Answers of judges on pools that were new.
    pub picks: usize,
    pub rulings: usize,
    /// Calls of reranking methods that were new.
    pub rerank_calls: usize,
    /// Orders that methods made of queries and that were new.
    pub rerank_results: usize,
    /// Students, each of their checkpoints, that were new.
    pub students: usize,
    /// Answers of judges to links over queries that were new.
    pub link_answers: usize,
    /// Duels that were new.
    pub duels: usize,
    /// What participants of duels did and was new.
    pub duel_events: usize,
    /// Duels left out because a query of theirs is refused.
    pub duels_left_out: usize,
    /// Participants of duels whose events are left out because the same name has other tasks here.
    pub participants_left_out: usize,
    /// Queries on which other judges count there; those that count here go on counting.
    pub keep_their_judges: usize,
    /// Pairs of the whole project on which people differ, after the merge.
    pub conflicts: usize,
    /// People of whom there are two, or who changed their minds: by name, the pairs that they have judged one way here and another
    /// way there.
    pub namesakes: BTreeMap<String, usize>,
    /// Calls that batches of the other file are still making; their votes come with a later merge.
    pub calls_pending: usize,
    /// Queries of which nothing was taken, each with the reason.
    pub refused: Vec<(String, String)>,
}
