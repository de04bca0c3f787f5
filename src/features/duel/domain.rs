//! Duels: blind comparisons of two rankings by people.
//!
//! A duel has queries. Each participant gets one task per query and some controls, all derived from
//! the duel's seed and the participant's number. A participant's actions are stored as append-only
//! events, from which the answers are computed.

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
pub mod sbr;
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
    /// How a task is presented, and what it asks.
    pub enum DuelForm {
        /// Nine documents in a 3×3 grid: which of them answer the query, and which passage shows
        /// it?
        Grid,
        /// Two ranked lists side by side: which one is better, on a five-step scale?
        Lists,
        /// One list, built from both by team draft: which documents answer the query?
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
        /// Neither ranking has it at the top, and it is not known to be relevant.
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
    /// Its rank in A from 1, counting distinct texts; `None` if A does not have it.
    pub rank_a: Option<usize>,
    /// Its rank in B, likewise.
    pub rank_b: Option<usize>,
}

/// A query of a duel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuelQuery {
    pub query: QueryId,
    /// In the order in which they were chosen. At most nine for a grid.
    pub documents: Vec<DuelDocument>,
    /// A document *came from* a ranking if its rank there is at most this value.
    pub depth: usize,
    /// Why there are fewer documents than requested; empty if there are enough.
    pub shortfall: String,
}

/// A comparison of two rankings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duel {
    pub form: DuelForm,
    /// The name of ranking A in the project.
    pub a: String,
    pub b: String,
    /// Documents of each ranking: 4 in a grid, 10 in lists.
    pub top: usize,
    pub seed: u64,
    /// Whether control tasks are included.
    pub controls: bool,
    /// The lowest grade that counts as relevant.
    pub level: i32,
    pub queries: Vec<DuelQuery>,
}

impl DuelQuery {
    /// Whether a document came from A and from B.
    pub fn came_from(&self, document: &DuelDocument) -> (bool, bool) {
        let top = |rank: Option<usize>| rank.is_some_and(|rank| rank <= self.depth);
        (top(document.rank_a), top(document.rank_b))
    }
}
