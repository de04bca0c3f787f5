//! Votes and failures: which calls a plan still needs, and what came of those that were made.

use super::call_totals::KeptCall;
use super::columns::KEPT_OF_KEY;
use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::replies::ReplyText;
use super::reply_rows::VoteReasoning;
use super::runs::RunId;
use super::{Db, Result};
use crate::domain::battle::BattleId;
use crate::domain::sampling::PlannedBattle;
use crate::domain::vote::{JudgeId, Margin};
use crate::judge::{FailureCause, JudgeSpec, Usage};
use rusqlite::params;
use std::collections::{HashMap, HashSet};

/// How a call went, whether or not it led to a vote.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    pub battle: BattleId,
    pub judge: JudgeId,
    /// Whether the judge was shown B first.
    pub swapped: bool,
    /// 1 for the first call on this battle by this judge.
    pub attempt: u32,
    pub usage: Usage,
    /// US dollars, where the price is known.
    pub cost_usd: Option<f64>,
    /// From sending to the last byte, in milliseconds, where it was measured.
    pub latency_ms: Option<f64>,
    /// Whether the judge did not see all of a document.
    pub truncated: bool,
    /// What makes two calls the same, for judges that are paid.
    pub call_key: Option<[u8; 32]>,
    /// The run that made the call, `None` for imported ones.
    pub run: Option<RunId>,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// The reply as it came, `None` where it can be made again from the same input or was never known.
    pub raw: Option<String>,
    /// A vote, or why there is none.
    pub result: CallOutcome,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    Vote {
        /// The preference, oriented to the battle's A and B.
        margin: Margin,
        /// The reasoning, in the judge's own presentation.
        reasoning: String,
        /// The model that answered, as it names itself.
        model: Option<String>,
        stop_reason: Option<String>,
        /// The provider's identifier of the call.
        request_id: Option<String>,
    },
    Failure {
        cause: FailureCause,
        message: String,
    },
}

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

/// What became of a call that was to be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Kept,
    /// The judge had voted on the battle already: the second vote is kept as a failure.
    Duplicate,
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
    /// judge is shown to it the other way round.
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
                let later_first = in_rounds
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
    /// query, so that nothing is left to enter and nobody to ask.
    pub fn is_played_out(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        depth: usize,
        ensemble: EnsembleId,
        judges: &[JudgeId],
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
        for judge in judges {
            // A judge has one vote on a battle at most.
            let votes: Option<usize> = self.maybe_value(
                "SELECT votes FROM call_total WHERE query = ?1 AND judge = ?2",
                params![query.0, judge.0],
            )?;
            if votes.unwrap_or(0) != battles.len() {
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
        let fresh = if selection == CallSelection::Failed {
            0
        } else {
            planned.iter().filter(new).count()
        };
        let mut left = vec![fresh; judges.len()];
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

    pub fn has_voted(&self, battle: BattleId, judge: JudgeId) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM vote WHERE battle = ?1 AND judge = ?2)",
            params![battle.0, judge.0],
        )
    }

    /// Records a call. A second vote of the same judge on the same battle does not count: it is kept as a failure, with
    /// what it cost.
    pub fn record(&self, call: &CallRecord) -> Result<Recorded> {
        self.record_attempt(call, false)
    }

    /// [`Db::record`]; `again` says that the question will be asked once more, so that a failure is not the last word.
    pub fn record_attempt(&self, call: &CallRecord, again: bool) -> Result<Recorded> {
        let usage = call.usage;
        match &call.result {
            CallOutcome::Vote {
                margin,
                reasoning,
                model,
                stop_reason,
                request_id,
            } => {
                // Looked at before, so that no text is kept for a vote that is not.
                if self.has_voted(call.battle, call.judge)? {
                    let second = CallRecord {
                        result: CallOutcome::Failure {
                            cause: FailureCause::Duplicate,
                            message: "the judge had voted on this battle already".to_owned(),
                        },
                        ..call.clone()
                    };
                    self.record_attempt(&second, false)?;
                    return Ok(Recorded::Duplicate);
                }
                let text = ReplyText {
                    reasoning: reasoning.clone(),
                    raw: call.raw.clone(),
                    request_id: request_id.clone(),
                };
                self.change(
                    "INSERT INTO vote (battle, judge, swapped, margin, attempt, tokens_input, tokens_cached,
                         tokens_output, tokens_thinking, cost_usd, latency_ms, truncated, run, created_ms, call_key,
                         model, stop_reason, reply)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
                    params![
                        call.battle.0,
                        call.judge.0,
                        call.swapped,
                        margin.get(),
                        call.attempt,
                        usage.input,
                        usage.cached,
                        usage.output,
                        usage.thinking,
                        call.cost_usd,
                        call.latency_ms,
                        call.truncated,
                        call.run.map(|run| run.0),
                        call.created_ms,
                        call.call_key.as_ref().map(|key| &key[..KEPT_OF_KEY]),
                        self.name(model.as_deref())?,
                        self.name(stop_reason.as_deref())?,
                        self.replies.keep(&self.connection, &text)?,
                    ],
                )?;
                let kept = KeptCall::Vote {
                    asked: call.run.is_some(),
                    margin: margin.get(),
                    swapped: call.swapped,
                };
                self.count_call(call.battle.0, call.judge.0, kept, call.cost_usd)?;
            }
            CallOutcome::Failure { cause, message } => {
                self.change(
                    "INSERT INTO failure (battle, judge, swapped, cause, message, attempt, tokens_input,
                         tokens_output, cost_usd, latency_ms, run, created_ms, raw, again)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                    params![
                        call.battle.0,
                        call.judge.0,
                        call.swapped,
                        cause,
                        message,
                        call.attempt,
                        usage.input,
                        usage.output,
                        call.cost_usd,
                        call.latency_ms,
                        call.run.map(|run| run.0),
                        call.created_ms,
                        call.raw,
                        again,
                    ],
                )?;
                let kept = KeptCall::Failure;
                self.count_call(call.battle.0, call.judge.0, kept, call.cost_usd)?;
            }
        }
        self.touch_query_of(call.battle)?;
        Ok(Recorded::Kept)
    }

    /// Marks the numbers of a battle's query as changed.
    pub(super) fn touch_query_of(&self, battle: BattleId) -> Result<()> {
        self.change(
            "UPDATE query SET revision = revision + 1 WHERE id = (SELECT query FROM battle WHERE id = ?1)",
            [battle.0],
        )?;
        Ok(())
    }

    /// The row of a name, added where it is new.
    pub(super) fn name(&self, name: Option<&str>) -> Result<Option<i64>> {
        let Some(name) = name else {
            return Ok(None);
        };
        if let Some(known) = self.maybe_value("SELECT id FROM name WHERE text = ?1", [name])? {
            return Ok(Some(known));
        }
        self.change("INSERT INTO name (text) VALUES (?1)", [name])?;
        Ok(Some(self.connection.last_insert_rowid()))
    }

    /// A battle of a pair, whichever way round it is stored, and which document is its A.
    pub fn battle_at(
        &self,
        query: QueryKey,
        x: usize,
        y: usize,
        game: u32,
    ) -> Result<Option<(BattleId, usize)>> {
        self.maybe(
            "SELECT id, a FROM battle WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 AND game = ?4",
            params![query.0, x.min(y), x.max(y), game],
            |row| {
                Ok((BattleId(row.get(0)?), row.get(1)?))
            },
        )
    }

    /// Adds a battle that was fought elsewhere, as a certain game of its pair.
    pub fn add_fought_battle(
        &self,
        query: QueryKey,
        a: usize,
        b: usize,
        game: u32,
    ) -> Result<BattleId> {
        self.change(
            "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, ?4, 0, 'import')",
            params![query.0, a, b, game],
        )?;
        Ok(BattleId(self.connection.last_insert_rowid()))
    }

    /// A judge's vote on a battle: its margin and reasoning.
    pub fn vote_on(
        &self,
        battle: BattleId,
        judge: JudgeId,
    ) -> Result<Option<(Margin, VoteReasoning)>> {
        let found = self.maybe(
            "SELECT margin, reply, run IS NOT NULL FROM vote WHERE battle = ?1 AND judge = ?2",
            params![battle.0, judge.0],
            |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))),
        )?;
        let Some((margin, (reply, of_run))) = found else {
            return Ok(None);
        };
        Ok(Some((margin, self.reasoning(reply, of_run)?)))
    }

    pub fn has_failed(&self, battle: BattleId, judge: JudgeId) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM failure WHERE battle = ?1 AND judge = ?2)",
            params![battle.0, judge.0],
        )
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

#[cfg(test)]
mod tests;
