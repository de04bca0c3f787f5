//! Results of imports, as text and as JSON.

use crate::app::text_format::{counted, first_of};
use crate::domain::corpus::{Pool, QueryId};
use crate::domain::sanitize;
use crate::domain::verdict::FinalRule;
use crate::domain::vote::VoteRule;
use crate::store::corpus::{Imported, QueryKey};
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt::{self, Display};

/// Maximum number of names listed; the rest are only counted.
const LISTED: usize = 8;

/// Result of importing queries with documents.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PoolsImport {
    /// The file name as displayed.
    pub file: String,
    pub queries_added: usize,
    /// Queries that were already in the project with the same texts.
    pub queries_unchanged: usize,
    /// Of those, queries whose other fields differ in the file and were updated in the project.
    pub queries_updated: usize,
    /// Their documents with a different title, metadata, score or further field.
    pub documents_updated: usize,
    /// Votes that no longer count because their judges were shown something that has changed.
    pub stale_votes: usize,
    pub battles: usize,
    pub votes: usize,
    pub failures: usize,
    /// Skipped lines or pairs.
    pub skipped: usize,
    /// Pairs of a document with itself, which are no battles.
    pub self_pairs: usize,
    /// Scores outside −1..1, which count as failed calls.
    pub out_of_range: usize,
    /// Documents with a score, which is stored but not used.
    #[serde(skip)]
    pub scored: usize,
    /// The queries of the file, in file order.
    #[serde(skip)]
    pub keys: Vec<QueryKey>,
}

impl PoolsImport {
    /// Counts a pool that was imported.
    pub(super) fn add(&mut self, imported: Imported, pool: &Pool) {
        match imported {
            Imported::Added(_) => self.queries_added += 1,
            Imported::Unchanged(_) => self.queries_unchanged += 1,
            Imported::Updated {
                documents,
                stale_votes,
                ..
            } => {
                self.stale_votes += stale_votes;
                self.queries_unchanged += 1;
                self.queries_updated += 1;
                self.documents_updated += documents;
            }
        }
        let documents = pool.documents.iter();
        self.scored += documents.filter(|one| one.input_score.is_some()).count();
        self.keys.push(imported.key());
    }

    /// Refuses an import that has changed queries of the project, if there is a reason.
    pub(super) fn check_known(&self, reason: Option<&str>) -> Result<(), StoreError> {
        match reason {
            Some(reason) if self.queries_updated > 0 => Err(StoreError::Conflict(format!(
                "{}: changes {} of the project, which judges may be reading: {reason}",
                sanitize::line(&self.file),
                counted(self.queries_updated, "query")
            ))),
            _ => Ok(()),
        }
    }

    /// Describes which existing queries were updated; `None` if nothing differs.
    pub fn updated(&self) -> Option<String> {
        (self.queries_updated > 0).then(|| {
            let votes = if self.stale_votes == 0 {
                "votes stay".to_owned()
            } else {
                format!(
                    "{} of judges that were shown the earlier ones no longer count, and the next \
                     run asks again",
                    counted(self.stale_votes, "vote")
                )
            };
            format!(
                "metadata, titles or other fields of {} in {} differ from the project's and \
                 replace them; {votes}",
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
            sanitize::line(&self.file),
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
                "; the scores of {} documents are stored with them, but are not zELO scores of \
                 this project",
                self.scored
            )?;
        }
        if self.self_pairs > 0 {
            let pairs = counted(self.self_pairs, "pair");
            write!(f, "; {pairs} of a document with itself skipped")?;
        }
        if self.out_of_range > 0 {
            let scores = counted(self.out_of_range, "score");
            write!(f, "; {scores} outside -1..1 read as failed calls")?;
        }
        match self.skipped {
            0 => Ok(()),
            skipped => write!(f, "; skipped {}", counted(skipped, "invalid part")),
        }
    }
}

/// Result of importing votes of other systems and people.
#[derive(Clone, Debug, Default, Serialize)]
pub struct VotesImport {
    /// The file name as displayed.
    pub file: String,
    pub(super) queries_added: usize,
    pub(super) queries_unchanged: usize,
    pub(super) documents_added: usize,
    pub(super) battles: usize,
    pub(super) votes: usize,
    /// Failed calls in an export, which are not votes.
    pub(super) failures: usize,
    pub(super) verdicts: usize,
    /// Votes and verdicts that already existed.
    pub(super) unchanged: usize,
    /// Verdicts that the same person had already given, other than by the same line.
    #[serde(skip)]
    pub(super) given_before: usize,
    pub(super) judges: Vec<String>,
    pub(super) annotators: Vec<String>,
    /// Queries of the file for which not all of its judges count.
    #[serde(rename = "queries_keeping_their_judges")]
    pub(super) keep_their_judges: usize,
    /// Pairs of the file's queries on which people disagree.
    pub(super) conflicts: usize,
    pub(super) skipped: usize,
    #[serde(skip)]
    pub(super) rule: FinalRule,
    /// Votes of a foreign file with a margin other than −1, 0 and 1.
    #[serde(skip)]
    pub(super) graded: usize,
    /// How the project counts them.
    #[serde(skip)]
    pub(super) vote_rule: VoteRule,
}

impl Display for VotesImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} added, {} already there; {} added",
            sanitize::line(&self.file),
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
            skipped => write!(f, "; skipped {}", counted(skipped, "invalid line")),
        }
    }
}

impl VotesImport {
    /// Warnings about the import.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.verdicts > 0 {
            notes.push("only the direction of a person's score is used: a, b or tie".to_owned());
        }
        let counts_direction = matches!(self.vote_rule, VoteRule::Ternary | VoteRule::Zbench);
        if self.given_before > 0 {
            notes.push(format!(
                "skipped {} that the same person has already given; what the project has stays",
                counted(self.given_before, "verdict")
            ));
        }
        if self.graded > 0 && counts_direction {
            notes.push(format!(
                "{} with a margin between −1 and 1: the project counts only the direction; \
                 `overrule config project --vote-rule margin` counts margins as they are",
                counted(self.graded, "vote")
            ));
        }
        if self.conflicts > 0 {
            notes.push(format!(
                "people differ on {}; the {} verdict counts (`overrule config project --final \
                 latest|majority|adjudicator`)",
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
                "{}: the judges whose votes counted there still count; the votes of others are \
                 stored and do not count",
                counted(self.keep_their_judges, "query")
            ));
        }
        notes
    }
}

/// The project's queries by name. An empty project has none, and lacks none.
pub(super) struct KnownQueries(HashSet<QueryId>);

impl KnownQueries {
    pub(super) fn read(store: &Store) -> Result<Self, StoreError> {
        let queries = store.read_blocking(|db| db.queries())?;
        Ok(Self(queries.into_iter().map(|query| query.id).collect()))
    }

    pub(super) fn contains(&self, query: &QueryId) -> bool {
        self.0.contains(query)
    }

    /// Number of queries without a pool in the project.
    pub(super) fn lacking<'a>(&self, queries: impl Iterator<Item = &'a QueryId>) -> usize {
        if self.0.is_empty() {
            0
        } else {
            queries.filter(|query| !self.contains(query)).count()
        }
    }
}

/// Describes queries without a pool in the project.
pub(super) fn without_pool(unknown: usize) -> String {
    match unknown {
        0 => String::new(),
        unknown => format!(
            "; {} without a pool in the project",
            counted(unknown, "query")
        ),
    }
}
