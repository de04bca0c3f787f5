//! The calls that a plan still needs, because they were never made or failed, and the order of
//! documents that each shows.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result};
use crate::domain::battle::{BattleId, PROBE_GAME, Pair, SECOND_GAME};
use crate::domain::sampling::{PlannedBattle, SeenOrders};
use crate::domain::vote::JudgeId;
use crate::judge::FailureCause;
use rusqlite::params;
use std::collections::HashMap;

/// A call that a plan still needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutstandingCall {
    pub battle: BattleId,
    /// Position of document A in the pool.
    pub a: usize,
    /// Position of document B in the pool.
    pub b: usize,
    /// Index of the judge in the ensemble.
    pub judge: usize,
    /// Whether the judge is shown B first.
    pub swapped: bool,
    /// 1 plus the number of failed calls.
    pub attempt: u32,
    /// Why the question must be asked again, if a run ended before asking it.
    pub again: Option<FailureCause>,
}

/// The failed calls of a judge on a battle.
struct FailedCalls {
    count: u32,
    last: bool,
    /// Why the question had to be asked again.
    again: Option<FailureCause>,
}

/// Which calls of a plan to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSelection {
    /// Calls that were never made.
    Fresh,
    /// Calls that were never made and calls that failed.
    FreshAndFailed,
    /// Only calls that failed.
    Failed,
}

/// Pending calls of open batches on a query, by battle and judge, with the order of documents.
const PENDING: &str = "SELECT batch_call.battle, batch.judge, batch_call.swapped FROM battle
             JOIN batch_call ON batch_call.battle = battle.id JOIN batch
             ON batch.id = batch_call.batch
             WHERE query = ?1 AND batch_call.done = 0 AND batch.closed_ms IS NULL";

/// A battle stored in the project.
#[derive(Clone, Copy)]
struct EnteredBattle {
    id: i64,
    pair: (usize, usize),
    /// Whether its document A comes later in the pool.
    reversed: bool,
}

/// The battles of a query by (low, high, game).
struct BattleIndex(HashMap<(usize, usize, u32), EnteredBattle>);

impl BattleIndex {
    /// The stored battle for a planned one. If a pair was probed, the probe is its second battle:
    /// both show the pair in the other order, and a judge who has answered one has answered the
    /// other.
    fn get(&self, planned: &PlannedBattle) -> Option<EnteredBattle> {
        let of_game = |game| {
            let pair = planned.pair;
            self.0.get(&(pair.low(), pair.high(), game)).copied()
        };
        of_game(planned.game).or_else(|| match planned.game {
            SECOND_GAME => of_game(PROBE_GAME),
            _ => None,
        })
    }
}

/// A call that a plan still needs, whether or not its battle is in the project yet.
struct OwedCall {
    battle: Option<EnteredBattle>,
    call: PlannedCall,
    attempt: u32,
    again: Option<FailureCause>,
}

/// A call that a plan needs, identified by what the judge is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCall {
    pub pair: Pair,
    /// Index of the judge in the ensemble.
    pub judge: usize,
    /// Whether the document later in the pool is shown first.
    pub later_first: bool,
}

impl Db {
    /// The calls that the planned battles of a query still need from the judges of an ensemble,
    /// battle by battle.
    ///
    /// `shown[judge][battle]` follows the order of `planned`: whether to show the judge B first, or
    /// `None` to not ask the judge. Skipped are battles that are not in `planned`, planned battles
    /// that are not in the project yet, and calls that an open batch will make. A judge that has
    /// seen the pair in another battle, under whatever plan, is shown the other order; a judge that
    /// has seen both orders is not asked.
    pub fn outstanding(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        judges: &[JudgeId],
        shown: &[Vec<Option<bool>>],
        selection: CallSelection,
    ) -> Result<Vec<OutstandingCall>> {
        let owed = self.owed(query, planned, judges, shown, selection)?;
        let calls = owed.into_iter().filter_map(|owed| {
            let EnteredBattle { id, reversed, .. } = owed.battle?;
            let (low, high) = (owed.call.pair.low(), owed.call.pair.high());
            let (a, b) = if reversed { (high, low) } else { (low, high) };
            Some(OutstandingCall {
                battle: BattleId(id),
                a,
                b,
                judge: owed.call.judge,
                swapped: owed.call.later_first ^ reversed,
                attempt: owed.attempt,
                again: owed.again,
            })
        });
        Ok(calls.collect())
    }

    /// The calls of [`Db::outstanding`], and those of planned battles that are not in the project
    /// yet.
    fn owed(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        judges: &[JudgeId],
        shown: &[Vec<Option<bool>>],
        selection: CallSelection,
    ) -> Result<Vec<OwedCall>> {
        let battles = self.battle_index(query)?;
        let mut made = self.orders_of(
            "SELECT vote.battle, vote.judge, vote.swapped FROM vote JOIN battle
             ON battle.id = vote.battle
             WHERE query = ?1",
            query,
        )?;
        made.extend(self.orders_of(PENDING, query)?);
        let failures = self.failures_of(query)?;
        let places: HashMap<i64, usize> = judges.iter().map(|id| id.0).zip(0..).collect();
        let mut seen: HashMap<((usize, usize), usize), SeenOrders> = HashMap::new();
        for battle in battles.0.values() {
            for (judge, place) in &places {
                if let Some(swapped) = made.get(&(battle.id, *judge)) {
                    let orders = seen.entry((battle.pair, *place)).or_default();
                    orders.add(swapped ^ battle.reversed);
                }
            }
        }
        let mut owed = Vec::new();
        for (index, plan) in planned.iter().enumerate() {
            let battle = battles.get(plan);
            for (judge, judge_id) in judges.iter().enumerate() {
                let Some(Some(later_first)) = shown.get(judge).and_then(|of| of.get(index)) else {
                    continue;
                };
                let call = battle.map(|battle| (battle.id, judge_id.0));
                let failures = call.and_then(|call| failures.get(&call));
                let failed = failures.is_some_and(|failures| failures.last);
                let wanted = match selection {
                    CallSelection::Fresh => !failed,
                    CallSelection::FreshAndFailed => true,
                    CallSelection::Failed => failed,
                };
                if !wanted || call.is_some_and(|call| made.contains_key(&call)) {
                    continue;
                }
                let pair = (plan.pair.low(), plan.pair.high());
                let orders = seen.entry((pair, judge)).or_default();
                let Some(later_first) = orders.next(*later_first) else {
                    continue;
                };
                orders.add(later_first);
                owed.push(OwedCall {
                    battle,
                    call: PlannedCall {
                        pair: plan.pair,
                        judge,
                        later_first,
                    },
                    attempt: failures.map_or(0, |failures| failures.count) + 1,
                    again: failures
                        .filter(|failures| !failures.last)
                        .and_then(|failures| failures.again),
                });
            }
        }
        Ok(owed)
    }

    /// Whether a query was entered to this depth for this ensemble, and its judges play no rounds.
    pub fn is_entered(&self, query: QueryKey, depth: usize, ensemble: EnsembleId) -> Result<bool> {
        self.value(
            "SELECT ensemble IS ?2 AND coalesce(depth, -1) >= ?3 AND NOT EXISTS (
                 SELECT 1 FROM battle JOIN task ON task.battle = battle.id WHERE battle.query = ?1)
             FROM query WHERE id = ?1",
            params![query.0, ensemble.0, depth],
        )
    }

    /// Whether each judge has voted on every battle of a query that was entered, and these battles
    /// include the planned ones, so that nothing is left to enter or ask. The flag of each judge
    /// says whether probes ask it too.
    pub fn is_played_out(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        judges: &[(JudgeId, bool)],
    ) -> Result<bool> {
        let battles: Vec<(usize, usize, u32)> = self.all(
            "SELECT min(a, b), max(a, b), game FROM battle WHERE query = ?1 ORDER BY 1, 2, 3",
            [query.0],
            |row| row.try_into(),
        )?;
        let probes = battles
            .iter()
            .filter(|(.., game)| *game == PROBE_GAME)
            .count();
        for (judge, probed) in judges {
            // A judge has at most one vote per battle.
            let votes: Option<usize> = self.maybe_value(
                "SELECT votes FROM call_total WHERE query = ?1 AND judge = ?2",
                params![query.0, judge.0],
            )?;
            let asked = if *probed {
                battles.len()
            } else {
                battles.len() - probes
            };
            if votes.unwrap_or(0) != asked {
                return Ok(false);
            }
        }
        let is_entered = |plan: &PlannedBattle| {
            let battle = (plan.pair.low(), plan.pair.high(), plan.game);
            battles.binary_search(&battle).is_ok()
        };
        Ok(planned.iter().all(is_entered))
    }

    /// The calls that a plan needs, whether or not its battles have been entered.
    pub fn planned_calls(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        judges: &[JudgeId],
        shown: &[Vec<Option<bool>>],
        selection: CallSelection,
    ) -> Result<Vec<PlannedCall>> {
        let owed = self.owed(query, planned, judges, shown, selection)?;
        Ok(owed.into_iter().map(|owed| owed.call).collect())
    }

    /// Number of calls of a plan that open batches will make.
    pub fn pending(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        judges: &[JudgeId],
    ) -> Result<usize> {
        let open = self.orders_of(PENDING, query)?;
        if open.is_empty() {
            return Ok(0);
        }
        let battles = self.battle_index(query)?;
        Ok(planned
            .iter()
            .filter_map(|plan| battles.get(plan))
            .flat_map(|battle| judges.iter().map(move |judge| (battle.id, judge.0)))
            .filter(|call| open.contains_key(call))
            .count())
    }

    /// The probed pairs, which are shown in both orders and counted once.
    pub fn probed_pairs(&self, query: QueryKey) -> Result<Vec<Pair>> {
        self.pairs_of_game(query, PROBE_GAME)
    }

    /// The pairs with a second battle.
    pub fn repeated_pairs(&self, query: QueryKey) -> Result<Vec<Pair>> {
        self.pairs_of_game(query, SECOND_GAME)
    }

    fn pairs_of_game(&self, query: QueryKey, game: u32) -> Result<Vec<Pair>> {
        let pairs: Vec<(usize, usize)> = self.all(
            "SELECT a, b FROM battle WHERE query = ?1 AND game > 0 AND game = ?2 ORDER BY id",
            params![query.0, game],
            |row| row.try_into(),
        )?;
        Ok(pairs
            .into_iter()
            .filter_map(|(a, b)| Pair::new(a, b))
            .collect())
    }

    fn battle_index(&self, query: QueryKey) -> Result<BattleIndex> {
        let battles = self.all(
            "SELECT id, a, b, game FROM battle WHERE query = ?1",
            [query.0],
            |row| {
                let (a, b): (usize, usize) = (row.get(1)?, row.get(2)?);
                let battle = EnteredBattle {
                    id: row.get(0)?,
                    pair: (a.min(b), a.max(b)),
                    reversed: a > b,
                };
                Ok(((battle.pair.0, battle.pair.1, row.get(3)?), battle))
            },
        )?;
        Ok(BattleIndex(battles))
    }

    fn failures_of(&self, query: QueryKey) -> Result<HashMap<(i64, i64), FailedCalls>> {
        self.all(
            "SELECT failure.battle, failure.judge, count(*), max(again = 0),
             max(cause) FILTER (WHERE again)
             FROM failure JOIN battle ON battle.id = failure.battle WHERE query = ?1 GROUP BY 1, 2",
            [query.0],
            |row| {
                let found = FailedCalls {
                    count: row.get(2)?,
                    last: row.get(3)?,
                    again: row.get(4)?,
                };
                Ok(((row.get(0)?, row.get(1)?), found))
            },
        )
    }

    fn orders_of(&self, sql: &str, query: QueryKey) -> Result<HashMap<(i64, i64), bool>> {
        self.all(sql, [query.0], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
        })
    }
}
