//! Stores a verdict that a program proposes.

use super::judged_pairs;
use crate::app::error::{AppError, invalid};
use crate::client::now_ms;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::Decision;
use crate::features::mcp::store::Proposal;
use crate::store::Store;
use serde::Serialize;
use uuid::Uuid;

/// Maximum length of a reason in characters.
const LONGEST_REASON: usize = 2_000;

/// Maximum length of a program's name in characters.
const LONGEST_AUTHOR: usize = 60;

/// A verdict that a program wants to propose.
#[derive(Clone, Debug, PartialEq)]
pub struct NewProposal {
    pub query: String,
    pub a: String,
    pub b: String,
    pub decision: Decision,
    pub reason: String,
    /// The name that the program gives itself.
    pub author: String,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProposalState {
    /// Nobody has given a verdict on the pair.
    Waiting,
    /// A person has given a verdict on the pair.
    Decided,
}

/// Stores a proposal.
///
/// # Errors
/// The query or a document does not exist, both documents are the same, or the reason is empty or
/// too long.
pub fn propose(store: &Store, new: NewProposal) -> Result<ProposalState, AppError> {
    let reason = new.reason.trim().to_owned();
    let length = reason.chars().count();
    if reason.is_empty() {
        return Err(invalid!("reason: is empty; say why"));
    }
    if length > LONGEST_REASON {
        return Err(invalid!(
            "reason: has {length} characters; at most {LONGEST_REASON} are allowed"
        ));
    }
    if new.a == new.b {
        return Err(invalid!("a and b are the same document; name two"));
    }
    let author: String = new.author.chars().take(LONGEST_AUTHOR).collect();
    Ok(store.write_blocking(move |db| {
        let key = db.find_query(&new.query)?;
        let places = (
            db.find_document(key, &new.a)?,
            db.find_document(key, &new.b)?,
        );
        db.add_proposal(&Proposal {
            uid: Uuid::now_v7().to_string(),
            query: QueryId::new(new.query),
            a: DocId::new(new.a),
            b: DocId::new(new.b),
            decision: new.decision,
            reason,
            author,
            created_ms: now_ms(),
        })?;
        let judged = judged_pairs(db)?;
        let pair = Pair::new(places.0, places.1);
        Ok(if pair.is_some_and(|pair| judged.contains(&(key, pair))) {
            ProposalState::Decided
        } else {
            ProposalState::Waiting
        })
    })?)
}
