//! Counts of the changes made by a merge.

use std::collections::BTreeMap;

/// A count of a feature.
#[derive(Debug)]
pub struct AddedCount {
    /// Its name in JSON.
    pub name: &'static str,
    /// The noun for one of the rows.
    pub noun: &'static str,
    pub rows: CountedRows,
}

impl AddedCount {
    /// New rows, listed among those that were added.
    pub const fn new(name: &'static str, noun: &'static str) -> Self {
        let rows = CountedRows::New;
        Self { name, noun, rows }
    }

    /// New rows that only JSON lists.
    pub const fn detail(name: &'static str, noun: &'static str) -> Self {
        let rows = CountedRows::Detail;
        Self { name, noun, rows }
    }

    /// Rows that were skipped, with the reason.
    pub const fn skipped(name: &'static str, noun: &'static str, reason: &'static str) -> Self {
        let rows = CountedRows::Skipped(reason);
        Self { name, noun, rows }
    }
}

/// Which rows a feature counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedRows {
    /// New rows, listed among those that were added.
    New,
    /// New rows that only JSON lists.
    Detail,
    /// Skipped rows, with the reason.
    Skipped(&'static str),
}

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
    /// Votes that no longer count, since an earlier answer to the same question came from a server.
    pub votes_set_aside: usize,
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
    /// Settings that were changed later in the other copy of a shared project.
    pub settings: usize,
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
    /// The counts of features, by name.
    added: BTreeMap<&'static str, usize>,
}

impl MergeCounts {
    /// Adds the counts of another merge. Both count conflicts and pending calls in the whole
    /// project, of which the later ones stay.
    #[cfg(feature = "remote")]
    pub(crate) fn add(&mut self, other: Self) {
        self.queries_added += other.queries_added;
        self.documents_added += other.documents_added;
        self.metadata_clashes += other.metadata_clashes;
        self.battles += other.battles;
        self.votes += other.votes;
        self.vote_clashes += other.vote_clashes;
        self.votes_set_aside += other.votes_set_aside;
        self.failures += other.failures;
        self.spent_usd += other.spent_usd;
        self.assumed_usd += other.assumed_usd;
        self.verdicts += other.verdicts;
        self.undos += other.undos;
        self.gold += other.gold;
        self.gold_clashes += other.gold_clashes;
        self.labels += other.labels;
        self.label_clashes += other.label_clashes;
        self.rankings += other.rankings;
        self.picks += other.picks;
        self.rulings += other.rulings;
        self.settings += other.settings;
        self.keep_their_judges += other.keep_their_judges;
        self.conflicts = other.conflicts;
        for (name, pairs) in other.namesakes {
            *self.namesakes.entry(name).or_default() += pairs;
        }
        self.calls_pending = other.calls_pending;
        self.refused.extend(other.refused);
        for (name, rows) in other.added {
            *self.added.entry(name).or_default() += rows;
        }
    }

    /// Counts more rows of a feature.
    pub fn count(&mut self, of: &AddedCount, rows: usize) {
        *self.added.entry(of.name).or_default() += rows;
    }

    /// The number of rows of a feature.
    pub fn counted(&self, of: &AddedCount) -> usize {
        self.added.get(of.name).copied().unwrap_or_default()
    }
}
