//! Regenerates the reasoning of embedded judges, which is not stored in the project, by running the
//! same judge on the same texts.

use crate::domain::battle::BattleId;
use crate::domain::vote::{JudgeId, Margin};
use crate::judge::{
    Judge, JudgePrompt, JudgeQuestion, PoolText, PresentedPair, offline, opinion_of,
};
use crate::store::corpus::QueryKey;
use crate::store::vote_details::{VoteDetail, VoteReasoning};
use crate::store::{Db, Result};
use futures::FutureExt as _;
use std::collections::HashMap;
use std::sync::Arc;

/// Placeholder for a reasoning that cannot be regenerated.
pub const REASONING_GONE: &str =
    "the reasoning cannot be written again: the pool or the judge has changed since this vote";

/// A pair as its judge saw it.
#[derive(Clone, Copy, Debug)]
pub struct SeenPair {
    pub query: QueryKey,
    /// Position of document A in the pool.
    pub a: usize,
    /// Position of document B in the pool.
    pub b: usize,
    /// Whether the judge was shown B first.
    pub swapped: bool,
}

/// Regenerates the reasoning of embedded judges.
#[derive(Debug, Default)]
pub struct EmbeddedReasoning {
    /// The project's embedded judges, once they have been looked up.
    judges: Option<HashMap<JudgeId, Arc<dyn Judge>>>,
    /// The latest requested pool: judges compute term weights over the whole of it.
    pool: Option<(QueryKey, Arc<PoolText>)>,
}

impl EmbeddedReasoning {
    /// [`Db::battle_votes`] for a battle of a query, with all available reasoning.
    pub fn battle_votes(
        &mut self,
        db: &Db,
        query: QueryKey,
        battle: BattleId,
        judges: &[JudgeId],
    ) -> Result<Vec<VoteDetail>> {
        let mut votes = db.battle_votes(battle, judges)?;
        let unkept = |vote: &VoteDetail| vote.reasoning == VoteReasoning::Unkept;
        if !votes.iter().any(unkept) {
            return Ok(votes);
        }
        let (a, b) = db.documents_of(battle)?;
        for vote in &mut votes {
            if let (VoteReasoning::Unkept, Ok(margin)) = (&vote.reasoning, &vote.result) {
                let swapped = vote.swapped;
                let pair = SeenPair {
                    query,
                    a,
                    b,
                    swapped,
                };
                vote.reasoning = self.written_again(db, vote.judge, pair, *margin)?;
            }
        }
        Ok(votes)
    }

    /// A judge's reasoning for its vote of `margin` on a pair, or the reason why it is unavailable:
    /// a judge that now computes a different margin would write something else.
    pub fn written_again(
        &mut self,
        db: &Db,
        judge: JudgeId,
        pair: SeenPair,
        margin: Margin,
    ) -> Result<VoteReasoning> {
        let Some(judge) = self.judge(db, judge)? else {
            return Ok(VoteReasoning::Gone);
        };
        let case = PresentedPair {
            pool: self.pool(db, pair.query)?,
            first: if pair.swapped { pair.b } else { pair.a },
            second: if pair.swapped { pair.a } else { pair.b },
        };
        let prompt = JudgePrompt::default();
        let reply = judge
            .call(JudgeQuestion::Pair(&case), &prompt)
            .now_or_never();
        let opinion = reply
            .and_then(|reply| opinion_of(judge.as_ref(), &case, reply.ok()?).ok())
            .map(|(_, opinion)| opinion);
        Ok(match opinion {
            Some(opinion) if opinion.margin == oriented(margin, pair.swapped) => {
                VoteReasoning::WrittenAgain(opinion.thoughts.join("\n"))
            }
            _ => VoteReasoning::Gone,
        })
    }

    /// Whether a judge is embedded, so that its reasoning is regenerated.
    pub fn writes(&mut self, db: &Db, judge: JudgeId) -> Result<bool> {
        Ok(self.judge(db, judge)?.is_some())
    }

    fn judge(&mut self, db: &Db, judge: JudgeId) -> Result<Option<Arc<dyn Judge>>> {
        let known = match &mut self.judges {
            Some(known) => known,
            empty => {
                let embedded = offline::ensemble();
                let judges = db.all_judges()?.into_iter().filter_map(|(id, spec)| {
                    let same = embedded.iter().find(|judge| *judge.spec() == spec)?;
                    Some((id, Arc::clone(same)))
                });
                empty.insert(judges.collect())
            }
        };
        Ok(known.get(&judge).cloned())
    }

    fn pool(&mut self, db: &Db, query: QueryKey) -> Result<Arc<PoolText>> {
        let info = db.query(query)?;
        // A pool only grows.
        if let Some((known, pool)) = &self.pool
            && *known == query
            && pool.documents.len() == info.documents
        {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(db.pool_text(query, None)?);
        self.pool = Some((query, Arc::clone(&pool)));
        Ok(pool)
    }
}

fn oriented(margin: Margin, swapped: bool) -> Margin {
    if swapped { margin.flipped() } else { margin }
}
