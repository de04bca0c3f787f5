//! A look into the reasoning of some of a judge's votes: quotes that stand nowhere, conclusions against the score.

use crate::app::embedded_reasoning::{EmbeddedReasoning, SeenPair};
use crate::domain::reasoning::{FoldedText, conclusion, quotes};
use crate::domain::vote::{JudgeId, Margin, Outcome};
use crate::store::corpus::QueryKey;
use crate::store::vote_details::{ReasonedVote, VoteReasoning};
use crate::store::{Db, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Votes whose reasoning is looked into, of each judge at most.
const AUDITED: usize = 200;

/// Battles of an embedded judge that are drawn at once: it reads the whole pool before it writes.
const FEW_POOLS: usize = 32;

/// What looking into a judge's reasoning found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasoningAudit {
    /// Votes looked into.
    pub votes: usize,
    pub quotes: usize,
    /// Quotes that stand in neither document nor in the query.
    pub missing_quotes: usize,
    /// Votes whose reasoning names a better document in plain words.
    pub conclusions: usize,
    /// Of those, the ones whose score says the opposite.
    pub contradictions: usize,
}

/// Looks into the reasoning of some of a judge's votes, the same ones every time.
pub fn audit_reasoning(db: &Db, judge: JudgeId) -> Result<ReasoningAudit> {
    let mut audit = ReasoningAudit::default();
    let mut texts: HashMap<(QueryKey, usize), FoldedText> = HashMap::new();
    let mut embedded = EmbeddedReasoning::default();
    let at_once = match embedded.writes(db, judge)? {
        true => FEW_POOLS,
        false => 1,
    };
    for vote in db.votes_with_reasoning(judge, AUDITED, at_once)? {
        let ReasonedVote {
            query: key, a, b, ..
        } = vote;
        let reasoning = match (&vote.reasoning, Margin::new(vote.margin)) {
            (VoteReasoning::Unkept, Some(margin)) => {
                let swapped = vote.swapped;
                let query = key;
                embedded.written_again(
                    db,
                    judge,
                    SeenPair {
                        query,
                        a,
                        b,
                        swapped,
                    },
                    margin,
                )?
            }
            (known, _) => known.clone(),
        };
        let reasoning = reasoning.text();
        if reasoning.is_empty() {
            continue;
        }
        let query = FoldedText::new(&vote.query_text);
        for at in [a, b] {
            if let std::collections::hash_map::Entry::Vacant(place) = texts.entry((key, at)) {
                place.insert(FoldedText::new(&db.document_text(key, at)?));
            }
        }
        audit.votes += 1;
        for quote in quotes(reasoning) {
            let phrase = &reasoning[quote];
            let stands = [a, b]
                .iter()
                .filter_map(|at| texts.get(&(key, *at)))
                .chain([&query])
                .any(|text| !text.find(phrase).is_empty());
            audit.quotes += 1;
            audit.missing_quotes += usize::from(!stands);
        }
        let shown = if vote.swapped {
            -vote.margin
        } else {
            vote.margin
        };
        if let Some(outcome) = conclusion(reasoning)
            && shown != 0.0
        {
            audit.conclusions += 1;
            audit.contradictions += usize::from((outcome == Outcome::B) != (shown > 0.0));
        }
    }
    Ok(audit)
}
