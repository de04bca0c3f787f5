//! What imports did, for people and as JSON.

use crate::app::wording::{counted, first_of};
use crate::domain::corpus::QueryId;
use crate::domain::sanitise;
use crate::domain::verdict::FinalRule;
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::{self, Display};

/// Names that are listed before the rest is only counted.
const LISTED: usize = 8;

/// What the import of queries with documents did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PoolsImport {
    /// The file, as shown.
    pub file: String,
    pub queries_added: usize,
    /// Queries that the project already held with the same texts.
    pub queries_unchanged: usize,
    /// Those of them of which the file says something else besides the texts, which the project took over.
    pub queries_updated: usize,
    /// Their documents with another title, metadata, score or further field.
    pub documents_updated: usize,
    pub battles: usize,
    pub votes: usize,
    pub failures: usize,
    /// Lines or pairs left out.
    pub skipped: usize,
    /// Documents that came with a score, which is kept and not used.
    #[serde(skip)]
    pub scored: usize,
    /// The queries of the file, in its order.
    #[serde(skip)]
    pub keys: Vec<QueryKey>,
}

impl PoolsImport {
    /// What the project took over of queries that it held, in words; `None` if the file says the same of them.
    pub fn updated(&self) -> Option<String> {
        (self.queries_updated > 0).then(|| {
            format!(
                "metadata, titles or other fields of {} in {} differ from the project's and replace them; votes stay, because no judge is shown \
                 these fields",
                counted(self.documents_updated, "document"),
                counted(self.queries_updated, "query")
            )
        })
    }
}

impl Display for PoolsImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} added, {} already there",
            sanitise::line(&self.file),
            counted(self.queries_added, "query"),
            self.queries_unchanged
        )?;
        if let Some(words) = self.updated() {
            write!(f, "; {words}")?;
        }
        if self.battles > 0 || self.votes > 0 {
            write!(
                f,
                "; {} with {} and {} reused as recorded",
                counted(self.battles, "battle"),
                counted(self.votes, "vote"),
                counted(self.failures, "failed call"),
            )?;
        }
        if self.scored > 0 {
            write!(
                f,
                "; the scores of {} documents are kept beside them, and are not zELO of this project",
                self.scored
            )?;
        }
        match self.skipped {
            0 => Ok(()),
            skipped => write!(f, "; {} left out", counted(skipped, "bad part")),
        }
    }
}

/// What the import of other systems' and people's votes did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VotesImport {
    /// The file, as shown.
    pub file: String,
    pub(super) queries_added: usize,
    pub(super) queries_unchanged: usize,
    pub(super) documents_added: usize,
    pub(super) battles: usize,
    pub(super) votes: usize,
    /// Failed calls of an export, which are no votes.
    pub(super) failures: usize,
    pub(super) verdicts: usize,
    /// Votes and verdicts that were there already.
    pub(super) unchanged: usize,
    pub(super) judges: Vec<String>,
    pub(super) annotators: Vec<String>,
    /// Queries of the file for which not all of its judges count.
    #[serde(rename = "queries_keeping_their_judges")]
    pub(super) keep_their_judges: usize,
    /// Pairs of the file's queries on which people differ.
    pub(super) conflicts: usize,
    pub(super) skipped: usize,
    #[serde(skip)]
    pub(super) rule: FinalRule,
}

impl Display for VotesImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} added, {} already there; {} added",
            sanitise::line(&self.file),
            counted(self.queries_added, "query"),
            self.queries_unchanged,
            counted(self.documents_added, "document"),
        )?;
        if !self.judges.is_empty() {
            let judges = first_of(&self.judges, LISTED);
            write!(
                f,
                "; {} and {} of {judges}",
                counted(self.battles, "battle"),
                counted(self.votes, "vote")
            )?;
            if self.failures > 0 {
                write!(f, ", {}", counted(self.failures, "failed call"))?;
            }
        }
        if !self.annotators.is_empty() {
            let annotators = first_of(&self.annotators, LISTED);
            let verdicts = counted(self.verdicts, "verdict");
            write!(f, "; {verdicts} of {annotators}")?;
        }
        if self.unchanged > 0 {
            write!(f, "; {} already there", counted(self.unchanged, "line"))?;
        }
        match self.skipped {
            0 => Ok(()),
            skipped => write!(f, "; {} left out", counted(skipped, "bad line")),
        }
    }
}

impl VotesImport {
    /// What should not go unsaid.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.verdicts > 0 {
            notes.push("of a person's score only the direction is used: a, b or tie".to_owned());
        }
        if self.conflicts > 0 {
            notes.push(format!(
                "people differ on {}; the {} verdict counts (`overrule config project --final latest|majority|adjudicator`)",
                counted(self.conflicts, "pair"),
                match &self.rule {
                    FinalRule::Latest => "latest",
                    FinalRule::Majority => "majority's",
                    FinalRule::Adjudicator(_) => "adjudicator's",
                }
            ));
        }
        if self.keep_their_judges > 0 {
            notes.push(format!(
                "{}: the judges whose votes counted there still count; the votes of others are stored and do not count",
                counted(self.keep_their_judges, "query")
            ));
        }
        notes
    }
}

/// The project's queries by their names; an empty project knows none, and lacks none.
pub(super) struct KnownQueries(HashSet<QueryId>);

impl KnownQueries {
    pub(super) fn read(store: &Store) -> Result<Self, StoreError> {
        let queries = store.read_blocking(|db| db.queries())?;
        Ok(Self(queries.into_iter().map(|query| query.id).collect()))
    }

    pub(super) fn contains(&self, query: &QueryId) -> bool {
        self.0.contains(query)
    }

    /// How many queries have no pool in the project.
    pub(super) fn lacking<'a>(&self, queries: impl Iterator<Item = &'a QueryId>) -> usize {
        match self.0.is_empty() {
            true => 0,
            false => queries.filter(|query| !self.contains(query)).count(),
        }
    }
}

/// Queries that have no pool in the project, in words.
pub(super) fn without_pool(unknown: usize) -> String {
    match unknown {
        0 => String::new(),
        unknown => format!(
            "; {} without a pool in the project",
            counted(unknown, "query")
        ),
    }
}
