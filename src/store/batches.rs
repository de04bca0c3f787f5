//! Batches: calls that a provider processes while nobody waits, and their state.

use super::columns::judge_spec;
use super::runs::RunId;
use super::{Db, Result, StoreError};
use crate::domain::battle::BattleId;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use rusqlite::{Row, params};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Row ID of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct BatchId(pub i64);

#[derive(Clone, Debug, PartialEq)]
pub struct BatchCall {
    /// The number that the provider returns with the result.
    pub number: usize,
    /// The vote that is asked for; `None` for the order of a list of documents.
    pub vote: Option<BatchedVote>,
    /// Number of documents that are truncated for the judge.
    pub truncated: usize,
    /// Key shared by identical calls.
    pub call_key: [u8; 32],
    /// Worst-case cost in US dollars, if the price is known.
    pub worst_usd: Option<f64>,
}

/// The vote that a call of a batch asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchedVote {
    pub battle: BattleId,
    /// Whether the judge is shown B first.
    pub swapped: bool,
    /// 1 plus the number of failed calls.
    pub attempt: u32,
}

/// The result of a call of a batch, as far as the project knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchCallState {
    /// Its result is not in the project.
    Open,
    /// The judge has answered: with a vote, or with a list.
    Answered,
    /// The model replied, but not with such an answer.
    Unusable,
    /// The provider reports an error instead of an answer.
    Failed,
}

impl BatchCallState {
    const ALL: [Self; 4] = [Self::Open, Self::Answered, Self::Unusable, Self::Failed];

    fn number(self) -> i64 {
        match self {
            Self::Open => 0,
            Self::Answered => 1,
            Self::Unusable => 2,
            Self::Failed => 3,
        }
    }

    pub(super) fn of_number(number: i64) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|state| state.number() == number)
            .ok_or_else(|| StoreError::Corrupt(format!("{number} is not a state of a batch call")))
    }
}

/// The ID of a call of a batch, or of one result of it. It follows from these, so that copies of a
/// project that fetch the same batch store the same.
pub fn batch_call_uid(batch: &str, number: usize, result: Option<BatchCallState>) -> [u8; 16] {
    let mut hash = Sha256::new_with_prefix(batch);
    hash.update((number as u64).to_le_bytes());
    if let Some(result) = result {
        hash.update(result.number().to_le_bytes());
    }
    let hash: [u8; 32] = hash.finalize().into();
    let mut uid = [0; 16];
    uid.copy_from_slice(&hash[..16]);
    uid
}

/// The state of a batch, as far as the project knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatchStage {
    /// Recorded and perhaps submitted; the provider has not confirmed it.
    Submitting,
    /// The provider is processing it.
    Running,
    /// Completely or partly finished; its results can be fetched.
    Over,
    /// Its results are in the project.
    Fetched,
    /// Refused as a whole, or never arrived; no call was made and nothing is charged.
    Failed,
    /// Given up by a person; its result is unknown.
    Forgotten,
}

impl BatchStage {
    const ALL: [Self; 6] = [
        Self::Submitting,
        Self::Running,
        Self::Over,
        Self::Fetched,
        Self::Failed,
        Self::Forgotten,
    ];

    /// The name in the project and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submitting => "submitting",
            Self::Running => "running",
            Self::Over => "over",
            Self::Fetched => "fetched",
            Self::Failed => "failed",
            Self::Forgotten => "forgotten",
        }
    }

    /// Whether a batch is closed at this stage: nothing more is expected of it. A failed batch
    /// stays open until the user has been told.
    fn closes(self) -> bool {
        matches!(self, Self::Fetched | Self::Forgotten)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct BatchRow {
    pub id: BatchId,
    /// Globally unique; the name under which it was submitted.
    pub uid: String,
    pub judge: JudgeId,
    /// The judge at the time when the batch was made, under its name of today.
    pub spec: JudgeSpec,
    /// The name that the judge had when the batch was submitted.
    pub asked_as: String,
    /// The run that the votes belong to; `None` if the batch asks about lists.
    pub run: Option<RunId>,
    /// The provider's name for it, once confirmed.
    pub remote: Option<String>,
    pub stage: BatchStage,
    /// Whether it is no longer pending.
    pub is_closed: bool,
    pub calls: usize,
    /// Number of its calls without results in the project.
    pub left: usize,
    /// Numbers of answered and of failed calls, as last reported by the provider.
    pub told: (u64, u64),
    /// The provider's message about it.
    pub message: Option<String>,
    /// Worst-case cost of the remaining calls in US dollars.
    pub worst_usd: f64,
    /// Milliseconds since the Unix epoch.
    pub submitted_ms: i64,
    /// When the provider was last asked.
    pub checked_ms: Option<i64>,
    /// When the provider first reported that it is over.
    pub over_ms: Option<i64>,
    /// A hash of the account that submitted it, if known.
    pub account: Option<String>,
}

const OPEN: &str = "batch.closed_ms IS NULL AND batch_call.done = 0";

impl Db {
    /// Records a batch before it is submitted.
    pub fn add_batch(
        &self,
        uid: &str,
        judge: JudgeId,
        run: Option<RunId>,
        account: &str,
        calls: &[BatchCall],
        submitted_ms: i64,
    ) -> Result<BatchId> {
        self.change(
            "INSERT INTO batch (uid, judge, asked_as, run, state, submitted_ms, account)
             VALUES (?1, ?2, (SELECT name FROM judge WHERE id = ?2), ?3, ?4, ?5, ?6)",
            params![
                uid,
                judge.0,
                run.map(|run| run.0),
                BatchStage::Submitting.name(),
                submitted_ms,
                account,
            ],
        )?;
        let id = BatchId(self.connection.last_insert_rowid());
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO batch_call (batch, number, battle, swapped, attempt, truncated, call_key,
             worst_usd)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        for call in calls {
            insert.execute(params![
                id.0,
                call.number,
                call.vote.map(|vote| vote.battle.0),
                call.vote.map(|vote| vote.swapped),
                call.vote.map(|vote| vote.attempt),
                call.truncated,
                &call.call_key[..],
                call.worst_usd,
            ])?;
        }
        Ok(id)
    }

    /// Stores the provider's name of the batch, which is open from then on.
    pub fn name_batch(&self, batch: BatchId, remote: &str) -> Result<()> {
        self.change(
            "UPDATE batch SET remote = ?2, state = ?3, message = NULL, over_ms = NULL,
             closed_ms = NULL
             WHERE id = ?1",
            params![batch.0, remote, BatchStage::Running.name()],
        )?;
        Ok(())
    }

    /// Stores the current state of a batch.
    pub fn note_batch(
        &self,
        batch: BatchId,
        stage: BatchStage,
        told: (u64, u64),
        message: Option<&str>,
        now_ms: i64,
    ) -> Result<()> {
        self.change(
            "UPDATE batch SET state = ?2, ended = ?3, failed = ?4, message = coalesce(?5, message),
             checked_ms = ?6,
                 over_ms = CASE ?2 WHEN 'over' THEN coalesce(over_ms, ?6)
                     WHEN 'running' THEN NULL ELSE over_ms END,
                 closed_ms = CASE WHEN ?7 THEN ?6 END
             WHERE id = ?1",
            params![
                batch.0,
                stage.name(),
                told.0,
                told.1,
                message,
                now_ms,
                stage.closes()
            ],
        )?;
        Ok(())
    }

    /// Closes a batch that made no call, so that its calls can be made.
    pub fn close_batch(&self, batch: BatchId, now_ms: i64) -> Result<()> {
        self.change(
            "UPDATE batch SET closed_ms = ?2 WHERE id = ?1",
            params![batch.0, now_ms],
        )?;
        Ok(())
    }

    /// A call of a batch, and its result.
    pub fn batch_call(
        &self,
        batch: BatchId,
        number: usize,
    ) -> Result<Option<(BatchCall, BatchCallState)>> {
        let found = self.maybe(
            "SELECT battle, swapped, attempt, truncated, call_key, worst_usd, done FROM batch_call
             WHERE batch = ?1 AND number = ?2",
            params![batch.0, number],
            |row| {
                let vote = match row.get(0)? {
                    Some(battle) => Some(BatchedVote {
                        battle: BattleId(battle),
                        swapped: row.get(1)?,
                        attempt: row.get(2)?,
                    }),
                    None => None,
                };
                let call = BatchCall {
                    number,
                    vote,
                    truncated: row.get(3)?,
                    call_key: row.get(4)?,
                    worst_usd: row.get(5)?,
                };
                Ok((call, row.get(6)?))
            },
        )?;
        found
            .map(|(call, state)| Ok((call, BatchCallState::of_number(state)?)))
            .transpose()
    }

    /// The results of the calls of a batch, by number.
    pub fn batch_call_states(&self, batch: BatchId) -> Result<Vec<(usize, BatchCallState)>> {
        let states: Vec<(usize, i64)> = self.all(
            "SELECT number, done FROM batch_call WHERE batch = ?1 ORDER BY number",
            [batch.0],
            |row| row.try_into(),
        )?;
        states
            .into_iter()
            .map(|(number, done)| Ok((number, BatchCallState::of_number(done)?)))
            .collect()
    }

    /// Stores the result of a call.
    pub fn end_batch_call(
        &self,
        batch: BatchId,
        number: usize,
        state: BatchCallState,
    ) -> Result<()> {
        self.change(
            "UPDATE batch_call SET done = ?3 WHERE batch = ?1 AND number = ?2",
            params![batch.0, number, state.number()],
        )?;
        Ok(())
    }

    /// One batch.
    pub fn batch(&self, id: BatchId) -> Result<Option<BatchRow>> {
        Ok(self.read_batches(false, Some(id))?.pop())
    }

    /// All batches, or only the open ones, oldest first.
    pub fn batches(&self, open: bool) -> Result<Vec<BatchRow>> {
        self.read_batches(open, None)
    }

    /// All batches, or only the open ones, or only one, oldest first.
    fn read_batches(&self, open: bool, id: Option<BatchId>) -> Result<Vec<BatchRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT batch.id, uid, judge.id, name, provider, model, prompt_hash, params, asked_as, run,
             remote, state,
                    (SELECT count(*) FROM batch_call WHERE batch = batch.id),
                    (SELECT count(*) FROM batch_call WHERE batch = batch.id AND done = 0),
                    ended, failed, message,
                    (SELECT coalesce(sum(worst_usd), 0.0) FROM batch_call WHERE batch = batch.id
                    AND done = 0),
                    submitted_ms, checked_ms, over_ms, account, closed_ms IS NOT NULL
             FROM batch JOIN judge ON judge.id = batch.judge
             WHERE (NOT ?1 OR closed_ms IS NULL) AND (?2 IS NULL OR batch.id = ?2)
             ORDER BY batch.id",
        )?;
        let mut rows = statement.query(params![open, id.map(|id| id.0)])?;
        let mut batches = Vec::new();
        while let Some(row) = rows.next()? {
            batches.push(batch_of(row)?);
        }
        Ok(batches)
    }

    /// Whether an open batch will make an identical call.
    pub fn is_being_made(&self, key: &[u8; 32]) -> Result<bool> {
        self.value(
            &format!(
                "SELECT EXISTS (SELECT 1 FROM batch_call JOIN batch ON batch.id = batch_call.batch
                 WHERE call_key = ?1 AND {OPEN})"
            ),
            [&key[..]],
        )
    }

    /// Whether an open batch will make an identical list call.
    pub fn is_list_being_made(&self, key: &[u8; 32]) -> Result<bool> {
        self.value(
            &format!(
                "SELECT EXISTS (SELECT 1 FROM batch_call JOIN batch ON batch.id = batch_call.batch
                 WHERE call_key = ?1 AND battle IS NULL AND {OPEN})"
            ),
            [&key[..]],
        )
    }

    /// The judges that open batches ask about lists.
    pub fn judges_asked_lists(&self) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        let asked: Vec<i64> = self.all(
            "SELECT DISTINCT judge FROM batch WHERE run IS NULL AND closed_ms IS NULL",
            [],
            |row| row.get(0),
        )?;
        let judges = self.all_judges()?.into_iter();
        Ok(judges
            .filter(|(judge, _)| asked.contains(&judge.0))
            .collect())
    }

    /// The hashes of the list calls that open batches of a judge will make.
    pub fn lists_being_made(&self, judge: JudgeId) -> Result<Vec<[u8; 32]>> {
        self.all(
            &format!(
                "SELECT call_key FROM batch JOIN batch_call ON batch_call.batch = batch.id
                 WHERE judge = ?1 AND battle IS NULL AND {OPEN}"
            ),
            [judge.0],
            |row| row.get(0),
        )
    }

    /// The names under which the open batches of a judge with lists were submitted.
    pub fn names_in_batches(&self, judge: &str) -> Result<Vec<String>> {
        self.all(
            "SELECT DISTINCT asked_as FROM batch JOIN judge ON judge.id = batch.judge
             WHERE judge.name = ?1 AND run IS NULL AND closed_ms IS NULL ORDER BY asked_as",
            [judge],
            |row| row.get(0),
        )
    }

    /// Number of votes that open batches ask for.
    pub fn votes_being_made(&self) -> Result<usize> {
        self.value(
            &format!(
                "SELECT count(*) FROM batch_call JOIN batch ON batch.id = batch_call.batch
                 WHERE battle IS NOT NULL AND {OPEN}"
            ),
            [],
        )
    }

    /// Number of pending calls of open batches, and their worst-case cost in US dollars.
    pub fn committed(&self) -> Result<(usize, f64)> {
        self.one(
            &format!(
                "SELECT count(*), coalesce(sum(worst_usd), 0.0) FROM batch_call
                 JOIN batch ON batch.id = batch_call.batch WHERE {OPEN}"
            ),
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }
}

fn batch_of(row: &Row<'_>) -> Result<BatchRow> {
    let state: String = row.get(11)?;
    let stage = BatchStage::ALL
        .into_iter()
        .find(|stage| stage.name() == state);
    Ok(BatchRow {
        id: BatchId(row.get(0)?),
        uid: row.get(1)?,
        judge: JudgeId(row.get(2)?),
        spec: judge_spec(row, 3)?,
        asked_as: row.get(8)?,
        run: row.get::<_, Option<i64>>(9)?.map(RunId),
        remote: row.get(10)?,
        stage: stage
            .ok_or_else(|| StoreError::Corrupt(format!("{state:?} is not a state of a batch")))?,
        calls: row.get(12)?,
        left: row.get(13)?,
        told: (row.get(14)?, row.get(15)?),
        message: row.get(16)?,
        worst_usd: row.get(17)?,
        submitted_ms: row.get(18)?,
        checked_ms: row.get(19)?,
        over_ms: row.get(20)?,
        account: row.get(21)?,
        is_closed: row.get(22)?,
    })
}
