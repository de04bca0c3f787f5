//! The reasonings of a judge under both prompts.

use super::PromptTrial;
use crate::domain::battle::Pair;
use crate::store::corpus::QueryKey;
use crate::store::{Db, StoreError};

/// What a judge wrote about a pair under the old and the new prompt. It saw the same document first
/// under both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BothReasonings {
    /// The documents that it saw first and second, by their places in the pool.
    pub shown: [usize; 2],
    pub old: String,
    /// Empty if the answer is not in the project.
    pub new: String,
}

impl PromptTrial {
    /// The reasonings about a pair; `None` if it was not tried.
    pub fn reasonings(
        &self,
        db: &Db,
        query: QueryKey,
        pair: Pair,
    ) -> Result<Option<BothReasonings>, StoreError> {
        let mut cases = self.cases.iter();
        let Some(case) = cases.find(|case| case.query == query && case.decided.pair == pair) else {
            return Ok(None);
        };
        let written = |battle, judge| -> Result<String, StoreError> {
            let votes = db.battle_votes(battle, &[judge])?;
            let texts = votes.iter().map(|vote| vote.reasoning.text().to_owned());
            Ok(texts.collect::<Vec<_>>().join("\n"))
        };
        let asked = &case.asked[0];
        let key = self.judge.key(asked);
        let new = match (db.pair_reply(&key)?, db.vote_by_call(&key)?) {
            (Some(reply), _) => self
                .judge
                .judge
                .parse(&asked.case, &reply.into())
                .map_or_else(|_| String::new(), |opinion| opinion.thoughts.join("\n")),
            (None, Some(vote)) => written(vote.battle, vote.judge)?,
            (None, None) => String::new(),
        };
        Ok(Some(BothReasonings {
            shown: [asked.case.first, asked.case.second],
            old: written(case.old.battle, self.old.0)?,
            new,
        }))
    }
}
