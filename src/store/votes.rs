//! Votes and failures: the results of calls.

pub use super::call_totals::CallTally;
use super::call_totals::KeptCall;
use super::columns::KEPT_OF_KEY;
use super::corpus::QueryKey;
use super::replies::ReplyText;
pub use super::replies::{PackedAhead, TextPacker};
use super::reply_rows::VoteReasoning;
use super::runs::RunId;
use super::{Db, Result};
use crate::domain::battle::{BattleId, Pair};
use crate::domain::vote::{JudgeId, Margin};
use crate::judge::{FailureCause, Usage};
use rusqlite::params;

/// A call and its result, whether or not it led to a vote.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    pub battle: BattleId,
    pub judge: JudgeId,
    /// Whether the judge was shown B first.
    pub swapped: bool,
    /// 1 for the first call on this battle by this judge.
    pub attempt: u32,
    pub usage: Usage,
    /// US dollars, if the price is known.
    pub cost_usd: Option<f64>,
    /// From sending to the last byte, in milliseconds, if measured.
    pub latency_ms: Option<f64>,
    /// Whether a document was truncated for the judge.
    pub truncated: bool,
    /// Key shared by identical calls, for paid judges.
    pub call_key: Option<[u8; 32]>,
    /// The run that made the call; `None` for imported ones.
    pub run: Option<RunId>,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// The raw reply; `None` if it can be regenerated from the same input or was never known.
    pub raw: Option<String>,
    /// A vote, or the failure.
    pub result: CallOutcome,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    Vote {
        /// The preference between the battle's A and B.
        margin: Margin,
        /// The reasoning in the judge's presentation.
        reasoning: String,
        /// The model that answered, by its own name.
        model: Option<String>,
        stop_reason: Option<String>,
        /// The provider's ID of the call.
        request_id: Option<String>,
    },
    Failure {
        cause: FailureCause,
        message: String,
    },
}

impl CallRecord {
    /// Whether its answer is that of another call, so that it has neither cost nor latency.
    fn is_shared(&self) -> bool {
        self.call_key.is_some()
            && self.run.is_some()
            && self.latency_ms.is_none()
            && self.cost_usd == Some(0.0)
            && self.usage == Usage::default()
    }
}

/// Result of recording a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Kept,
    /// The judge had already voted on the battle; the second vote is stored as a failure.
    Duplicate,
}

impl Db {
    pub fn has_voted(&self, battle: BattleId, judge: JudgeId) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM vote WHERE battle = ?1 AND judge = ?2)",
            params![battle.0, judge.0],
        )
    }

    /// Records a call. A judge's second vote on the same battle does not count: it is stored as a
    /// failure, with its cost.
    pub fn record(&self, call: &CallRecord) -> Result<Recorded> {
        self.record_attempt(call, false)
    }

    /// [`Db::record`]; with `again`, the question will be asked once more, so a failure is not
    /// final.
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
                // Check first, so that no text is stored for a rejected vote.
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
                let names = [model.as_deref(), stop_reason.as_deref()];
                let reply = self.replies.keep(&self.connection, &text)?;
                let kept = self.insert_vote(call, *margin, names, reply)?;
                self.count_call(call.battle.0, call.judge.0, kept, call.cost_usd)?;
            }
            CallOutcome::Failure { cause, message } => {
                self.change(
                    "INSERT INTO failure (battle, judge, swapped, cause, message, attempt,
                     tokens_input,
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

    /// [`Db::record`] with packed reasoning, for many calls on a query: the caller counts the tally
    /// and marks the query as changed once for all of them.
    pub fn record_packed(
        &self,
        call: &CallRecord,
        reply: Option<PackedAhead>,
        tally: &mut CallTally,
    ) -> Result<()> {
        let CallOutcome::Vote { margin, .. } = &call.result else {
            return self.record(call).map(drop);
        };
        if self.has_voted(call.battle, call.judge)? {
            return self.record(call).map(drop);
        }
        let reply = match reply {
            Some(reply) => Some(self.replies.add_ahead(&self.connection, reply)?),
            None => None,
        };
        let kept = self.insert_vote(call, *margin, [None, None], reply)?;
        tally.add(call.judge, kept, call.cost_usd);
        Ok(())
    }

    /// A packer for the replies of [`Db::record_packed`].
    pub fn reply_packer(&self) -> Result<TextPacker> {
        self.replies.packer(&self.connection)
    }

    /// Inserts a vote, given the names of the model and the stop reason, and its reply.
    fn insert_vote(
        &self,
        call: &CallRecord,
        margin: Margin,
        [model, stop_reason]: [Option<&str>; 2],
        reply: Option<i64>,
    ) -> Result<KeptCall> {
        let usage = call.usage;
        self.change(
            "INSERT INTO vote (battle, judge, swapped, margin, attempt, tokens_input, tokens_cached,
                 tokens_output, tokens_thinking, cost_usd, latency_ms, truncated, run, created_ms,
                 call_key, model, stop_reason, reply)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18)",
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
                self.name(model)?,
                self.name(stop_reason)?,
                reply,
            ],
        )?;
        Ok(KeptCall::Vote {
            asked: call.run.is_some(),
            margin: margin.get(),
            swapped: call.swapped,
            shared: call.is_shared(),
        })
    }

    /// Marks the numbers of a battle's query as changed.
    pub(super) fn touch_query_of(&self, battle: BattleId) -> Result<()> {
        self.change(
            "UPDATE query SET revision = revision + 1 WHERE id = (SELECT query FROM battle
             WHERE id = ?1)",
            [battle.0],
        )?;
        Ok(())
    }

    /// The row of a name, which is added if it is new.
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

    /// The votes on a pair: the game, the judge, and whether the document later in the pool was
    /// shown first.
    pub fn shown_of_pair(&self, query: QueryKey, pair: Pair) -> Result<Vec<(u32, JudgeId, bool)>> {
        self.all(
            "SELECT game, judge, swapped != (a > b) FROM battle JOIN vote ON vote.battle = battle.id
             WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 ORDER BY game, judge",
            params![query.0, pair.low(), pair.high()],
            |row| Ok((row.get(0)?, JudgeId(row.get(1)?), row.get(2)?)),
        )
    }

    /// A battle of a pair, in whichever order it is stored, and which document is its A.
    pub fn battle_at(
        &self,
        query: QueryKey,
        x: usize,
        y: usize,
        game: u32,
    ) -> Result<Option<(BattleId, usize)>> {
        self.maybe(
            "SELECT id, a FROM battle WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3
             AND game = ?4",
            params![query.0, x.min(y), x.max(y), game],
            |row| Ok((BattleId(row.get(0)?), row.get(1)?)),
        )
    }

    /// Adds a battle that took place elsewhere, with the given game number.
    pub fn add_fought_battle(
        &self,
        query: QueryKey,
        a: usize,
        b: usize,
        game: u32,
    ) -> Result<BattleId> {
        self.change(
            "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, ?4, 0,
             'import')",
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
}

#[cfg(test)]
mod tests;
