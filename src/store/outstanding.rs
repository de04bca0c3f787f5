//! Which calls a plan still needs: those that were never made, or failed, and what probes add to them.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result};
use crate::domain::battle::{BattleId, PROBE_GAME, Pair};
use crate::domain::sampling::PlannedBattle;
use crate::domain::vote::JudgeId;
use crate::judge::{FailureCause, JudgeSpec};
use rusqlite::params;
use std::collections::{HashMap, HashSet};

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
    /// Whether the judge is to be shown B first.
    pub swapped: bool,
    /// 1 plus the calls that failed before.
    pub attempt: u32,
    /// Why the question is to be asked once more, where that was still owed when a run ended.
    pub again: Option<FailureCause>,
}

/// The failed calls of a judge on a battle.
struct FailedCalls {
    count: u32,
    last: bool,
    /// Why the question was to be asked once more.
    again: Option<FailureCause>,
}

/// Which calls of a plan are still to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSelection {
    /// Those never made.
    Fresh,
    /// Those never made and those that failed.
    FreshAndFailed,
    /// Only those that failed.
    Failed,
}

/// Calls on a query that open batches are to make, by battle and judge.
const PENDING: &str = "SELECT batch_call.battle, batch.judge, 1 FROM battle JOIN batch_call ON batch_call.battle = battle.id
             JOIN batch ON batch.id = batch_call.batch
             WHERE query = ?1 AND batch_call.done = 0 AND batch.closed_ms IS NULL";

/// A planned battle's row and whether its A is the later document of the pool, by (low, high, game).
type BattleIndex = HashMap<(usize, usize, u32), (i64, bool)>;

impl Db {
    /// The calls that the planned battles of a query still need from the judges of an ensemble, battle by battle.
    ///
    /// `shown[judge][battle]` follows the order of `planned`: whether the judge is to be shown B first, `None` where it
    /// is not to be asked. A battle that exists in the project but not in `planned` needs nothing, and neither does one
    /// that is planned but not entered yet, nor a call that an open batch is to make. A pair that a round has shown to a
    /// judge is shown to it the other way round, and so is one that is probed.
    pub fn outstanding(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        judges: &[JudgeId],
        shown: &[Vec<Option<bool>>],
        selection: CallSelection,
    ) -> Result<Vec<OutstandingCall>> {
        let battles = self.battle_index(query)?;
        let votes = self.pairs_of(
            "SELECT vote.battle, vote.judge, 1 FROM vote JOIN battle ON battle.id = vote.battle WHERE query = ?1",
            query,
        )?;
        let pending = self.pairs_of(PENDING, query)?;
        let failures = self.failures_of(query)?;
        let in_rounds = self.shown_in_rounds(query)?;
        let in_first_game = self.shown_before_probe(query)?;
        let mut outstanding = Vec::new();
        for (index, plan) in planned.iter().enumerate() {
            let Some((id, reversed)) = battles.get(&(plan.pair.low(), plan.pair.high(), plan.game))
            else {
                continue;
            };
            for (judge, judge_id) in judges.iter().enumerate() {
                let Some(Some(later_first)) = shown.get(judge).and_then(|of| of.get(index)) else {
                    continue;
                };
                let call = (*id, judge_id.0);
                let failures = failures.get(&call);
                let failed = failures.is_some_and(|failures| failures.last);
                let wanted = match selection {
                    CallSelection::Fresh => !failed,
                    CallSelection::FreshAndFailed => true,
                    CallSelection::Failed => failed,
                };
                if !wanted || votes.contains_key(&call) || pending.contains_key(&call) {
                    continue;
                }
                let (a, b) = (plan.pair.low(), plan.pair.high());
                let before = match plan.game {
                    PROBE_GAME => &in_first_game,
                    _ => &in_rounds,
                };
                let later_first = before
                    .get(&(a, b, judge_id.0))
                    .map_or(*later_first, |before| !before);
                outstanding.push(OutstandingCall {
                    battle: BattleId(*id),
                    a: if *reversed { b } else { a },
                    b: if *reversed { a } else { b },
                    judge,
                    swapped: later_first ^ reversed,
                    attempt: failures.map_or(0, |failures| failures.count) + 1,
                    again: failures
                        .filter(|failures| !failures.last)
                        .and_then(|failures| failures.again),
                });
            }
        }
        Ok(outstanding)
    }

    /// Whether a plain plan has been entered to this depth for this ensemble, and each judge has voted on every battle of the
    /// query, so that nothing is left to enter and nobody to ask. Beside each judge stands whether probes ask it too.
    pub fn is_played_out(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        depth: usize,
        ensemble: EnsembleId,
        judges: &[(JudgeId, bool)],
    ) -> Result<bool> {
        let entered: bool = self.value(
            "SELECT ensemble IS ?2 AND coalesce(depth, -1) >= ?3 AND NOT EXISTS (
                 SELECT 1 FROM battle JOIN task ON task.battle = battle.id WHERE battle.query = ?1)
             FROM query WHERE id = ?1",
            params![query.0, ensemble.0, depth],
        )?;
        if !entered {
            return Ok(false);
        }
        let battles: HashSet<(usize, usize, u32)> = self.all(
            "SELECT min(a, b), max(a, b), game FROM battle WHERE query = ?1",
            [query.0],
            |row| row.try_into(),
        )?;
        let probes = battles
            .iter()
            .filter(|(.., game)| *game == PROBE_GAME)
            .count();
        for (judge, probed) in judges {
            // A judge has one vote on a battle at most.
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
        Ok(planned
            .iter()
            .all(|plan| battles.contains(&(plan.pair.low(), plan.pair.high(), plan.game))))
    }

    /// Calls left for each judge of a plan that may not have been entered, and calls that open batches owe; `None` for a
    /// query that is not there.
    pub fn calls_left(
        &self,
        query: &str,
        planned: &[PlannedBattle],
        specs: &[JudgeSpec],
        shown: &[Vec<Option<bool>>],
        selection: CallSelection,
    ) -> Result<Option<(Vec<usize>, usize)>> {
        let Some(query) = self.known_query(query)? else {
            return Ok(None);
        };
        let judges = self.known_judges(specs)?;
        let entered = self.outstanding(query, planned, &judges, shown, selection)?;
        let known = self.battle_index(query)?;
        let new = |battle: &&PlannedBattle| {
            !known.contains_key(&(battle.pair.low(), battle.pair.high(), battle.game))
        };
        let mut left = vec![0; judges.len()];
        if selection != CallSelection::Failed {
            for (left, shown) in left.iter_mut().zip(shown) {
                let asked = planned
                    .iter()
                    .zip(shown)
                    .filter(|(_, shown)| shown.is_some());
                *left = asked.filter(|(battle, _)| new(battle)).count();
            }
        }
        for call in entered {
            left[call.judge] += 1;
        }
        Ok(Some((left, self.pending(query, planned, &judges)?)))
    }

    /// Calls of a plan that open batches are to make.
    pub fn pending(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        judges: &[JudgeId],
    ) -> Result<usize> {
        let open = self.pairs_of(PENDING, query)?;
        if open.is_empty() {
            return Ok(0);
        }
        let battles = self.battle_index(query)?;
        let ids = planned
            .iter()
            .filter_map(|plan| battles.get(&(plan.pair.low(), plan.pair.high(), plan.game)));
        let calls = ids.flat_map(|(id, _)| judges.iter().map(move |judge| (*id, judge.0)));
        Ok(calls.filter(|call| open.contains_key(call)).count())
    }

    /// The pairs that are probed: asked about in both orders.
    pub fn probed_pairs(&self, query: QueryKey) -> Result<Vec<Pair>> {
        let pairs: Vec<(usize, usize)> = self.all(
            "SELECT a, b FROM battle WHERE query = ?1 AND game > 0 AND game = ?2 ORDER BY id",
            params![query.0, PROBE_GAME],
            |row| row.try_into(),
        )?;
        Ok(pairs
            .into_iter()
            .filter_map(|(a, b)| Pair::new(a, b))
            .collect())
    }

    /// How the first games of probed pairs were shown to judges: by (low, high, judge), whether the later document of the
    /// pool came first.
    fn shown_before_probe(&self, query: QueryKey) -> Result<HashMap<(usize, usize, i64), bool>> {
        let mut shown = HashMap::new();
        for pair in self.probed_pairs(query)? {
            let Some((battle, a)) = self.battle_at(query, pair.low(), pair.high(), 0)? else {
                continue;
            };
            let votes: Vec<(i64, bool)> = self.all(
                "SELECT judge, swapped FROM vote WHERE battle = ?1",
                [battle.0],
                |row| row.try_into(),
            )?;
            for (judge, swapped) in votes {
                shown.insert(
                    (pair.low(), pair.high(), judge),
                    swapped != (a == pair.high()),
                );
            }
        }
        Ok(shown)
    }

    /// Row and orientation of each battle by (low, high, game); true where A is the later document of the pool.
    fn battle_index(&self, query: QueryKey) -> Result<BattleIndex> {
        self.all(
            "SELECT id, a, b, game FROM battle WHERE query = ?1",
            [query.0],
            |row| {
                let (a, b): (usize, usize) = (row.get(1)?, row.get(2)?);
                Ok(((a.min(b), a.max(b), row.get(3)?), (row.get(0)?, a > b)))
            },
        )
    }

    fn failures_of(&self, query: QueryKey) -> Result<HashMap<(i64, i64), FailedCalls>> {
        self.all(
            "SELECT failure.battle, failure.judge, count(*), max(again = 0), max(cause) FILTER (WHERE again)
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

    fn pairs_of(&self, sql: &str, query: QueryKey) -> Result<HashMap<(i64, i64), u32>> {
        self.all(sql, [query.0], |row| {
            Ok(((row.get(0)?, row.get(1)?), row.get(2)?))
        })
    }
}
