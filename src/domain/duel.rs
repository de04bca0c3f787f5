//! Duels: two rankings before a person who does not know which is which.
//!
//! A duel has queries; a participant has tasks, one a query and some controls, which follow from the duel's seed and the
//! participant's number alone. What a participant did are events, which are only added; the answers follow from them.

mod answers;
mod controls;
mod design;
mod distinct;
mod inference;
mod judgments;
mod lists;
mod nine;
mod places;
mod result;
mod schedule;
mod stop;

pub use answers::{Action, Answer, DuelEvent, Passage, answers_of};
pub use controls::ControlResult;
pub use distinct::RankedText;
pub use inference::{DuelEstimate, sign_test};
#[cfg(test)]
pub use judgments::Credit;
pub use judgments::{Participant, judgment_count};
pub use lists::tops;
pub use nine::{EasyNegative, Nine, NineInput, NineOptions, nine};
#[cfg(test)]
pub use places::PlaceShare;
#[cfg(test)]
pub use result::{CreditShares, DuelQueryResult};
pub use result::{DuelResult, controls_of, looks, result};
pub use schedule::{Content, Place, Task, TaskKey, TaskKind, schedule};
#[cfg(test)]
pub use stop::StopState;

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::named::named;
use serde::{Deserialize, Serialize};

named! {
    "a form of duel", "kebab-case";
    /// What a participant is shown and asked.
    pub enum DuelForm {
        /// Nine documents in a 3×3 grid: which of them serve the query, and which passage says so?
        Grid,
        /// Two ranked lists side by side: which one is better, in five steps?
        Lists,
        /// One list, made of both by team draft: which documents serve the query?
        Interleaved,
    }
}

named! {
    "a list of a duel", "kebab-case";
    /// One of the two rankings.
    pub enum Side {
        A,
        B,
    }
}

named! {
    "a source", "kebab-case";
    /// Why a document is in a duel.
    pub enum Source {
        /// It was taken from the top of ranking A.
        TopOfA,
        /// It was taken from the top of ranking B.
        TopOfB,
        /// Neither ranking has it at the top and it is not relevant, as far as is known.
        EasyNegative,
    }
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// A document of a duel's query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuelDocument {
    pub document: DocId,
    pub source: Source,
    /// Its rank in A from 1, among documents of different texts; `None` where A does not have it.
    pub rank_a: Option<usize>,
    /// Its rank in B.
    pub rank_b: Option<usize>,
}

/// A query of a duel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuelQuery {
    pub query: QueryId,
    /// In the order in which they were chosen. Of a grid: nine or fewer.
    pub documents: Vec<DuelDocument>,
    /// A document *came from* a ranking if its rank there is at most this.
    pub depth: usize,
    /// Why there are fewer documents than asked for; empty if there are not.
    pub shortfall: String,
}

/// Two rankings that are held against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duel {
    pub form: DuelForm,
    /// The name of ranking A in the project.
    pub a: String,
    pub b: String,
    /// Documents of each ranking: 4 in a grid, 10 in lists.
    pub top: usize,
    pub seed: u64,
    /// Whether controls are mixed in.
    pub controls: bool,
    /// The grade from which on a document counts as relevant.
    pub level: i32,
    pub queries: Vec<DuelQuery>,
}

impl DuelQuery {
    /// Which of the rankings a document came from: (A, B).
    pub fn came_from(&self, document: &DuelDocument) -> (bool, bool) {
        let top = |rank: Option<usize>| rank.is_some_and(|rank| rank <= self.depth);
        (top(document.rank_a), top(document.rank_b))
    }
}
