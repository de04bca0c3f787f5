//! The pairs on which a judge has voted.

use super::corpus::QueryKey;
use super::{Db, Result};
use crate::domain::battle::Pair;
use crate::domain::vote::{JudgeId, Margin};

/// A judge's vote on a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VotedPair {
    pub query: QueryKey,
    pub pair: Pair,
    /// Whether the document later in the pool was shown first.
    pub later_first: bool,
    /// Negative if the document earlier in the pool is better.
    pub margin: Margin,
}

impl Db {
    /// The first vote of a judge on each pair, by query and pair.
    pub fn voted_pairs_of(&self, judge: JudgeId) -> Result<Vec<VotedPair>> {
        let votes: Vec<Option<VotedPair>> = self.all(
            "SELECT battle.query, a, b, swapped, margin
             FROM call_total CROSS JOIN battle ON battle.query = call_total.query
             CROSS JOIN vote ON vote.battle = battle.id AND vote.judge = ?1
             WHERE call_total.judge = ?1 AND votes > 0
             ORDER BY battle.query, min(a, b), max(a, b), game",
            [judge.0],
            |row| {
                let (query, a, b) = (QueryKey(row.get(0)?), row.get(1)?, row.get(2)?);
                let (swapped, margin): (bool, Margin) = (row.get(3)?, row.get(4)?);
                let reversed = a > b;
                Ok(Pair::new(a, b).map(|pair| VotedPair {
                    query,
                    pair,
                    later_first: swapped != reversed,
                    margin: if reversed { margin.flipped() } else { margin },
                }))
            },
        )?;
        let mut votes: Vec<VotedPair> = votes.into_iter().flatten().collect();
        votes.dedup_by_key(|vote| (vote.query, vote.pair));
        Ok(votes)
    }
}
