//! Battles by pair and game, with the votes and failures on them.

use super::{MatchedQuery, Merger};
use crate::store::call_totals::KeptCall;
use crate::store::vote_details::VoteReasoning;
use crate::store::{Result, StoreError};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};
use std::collections::HashMap;

/// A battle of the other file here, and whether it is stored the other way round.
type BattleRows = HashMap<i64, (i64, bool)>;

/// What of a vote has no counterpart to look up.
const PLAIN: &str = "attempt, tokens_input, tokens_cached, tokens_output, tokens_thinking, cost_usd, latency_ms, truncated,
    created_ms, call_key";

impl Merger<'_> {
    /// Takes over the battles of a query with their votes and failures.
    pub(crate) fn votes(&mut self, query: &mut MatchedQuery) -> Result<()> {
        let battles = self.battles(query)?;
        let mut statement = self.from.prepare_cached(&format!(
            "SELECT vote.battle, vote.judge, vote.run, swapped, margin, model, stop_reason, reply, {PLAIN}
             FROM battle JOIN vote ON vote.battle = battle.id WHERE battle.query = ?1
             ORDER BY vote.created_ms, vote.battle, vote.judge"
        ))?;
        let mut rows = statement.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            let (battle, turned) = found(&battles, row.get(0)?)?;
            let judge = self.judge(row.get(1)?)?;
            let run = row.get::<_, Option<i64>>(2)?;
            let swapped = row.get::<_, bool>(3)? != turned;
            let margin = turn(row.get(4)?, turned);
            let reply = row.get::<_, Option<i64>>(7)?;
            let there = self.db.maybe(
                "SELECT swapped, margin, reply, run IS NOT NULL FROM vote WHERE battle = ?1 AND judge = ?2",
                params![battle, judge.0],
                |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))),
            )?;
            if let Some((known, (known_reply, known_of_run))) = there {
                let ours = self.db.reasoning(known_reply, known_of_run)?;
                let theirs = self.other.reasoning(reply, run.is_some())?;
                // An embedded judge's words follow from its margin; they are kept where they were imported alone.
                let words = ours == theirs || [ours, theirs].contains(&VoteReasoning::Unkept);
                if known != (swapped, margin) || !words {
                    self.merged.vote_clashes += 1;
                }
                continue;
            }
            let run = run.map(|run| self.run(run)).transpose()?;
            let model = self.name(row.get(5)?)?;
            let stop_reason = self.name(row.get(6)?)?;
            let call_key = row.get::<_, Option<Vec<u8>>>("call_key")?;
            let reply = reply
                .map(|reply| self.reply(reply, call_key.as_deref()))
                .transpose()?;
            let mut values: Vec<Value> = vec![
                battle.into(),
                judge.0.into(),
                run.into(),
                i64::from(swapped).into(),
                margin.into(),
                model.into(),
                stop_reason.into(),
                reply.into(),
            ];
            for column in 0..PLAIN.split(',').count() {
                values.push(row.get(8 + column)?);
            }
            self.db.change(
                &format!(
                    "INSERT INTO vote (battle, judge, run, swapped, margin, model, stop_reason, reply, {PLAIN})
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
                ),
                params_from_iter(values),
            )?;
            let cost_usd: Option<f64> = row.get("cost_usd")?;
            let kept = KeptCall::Vote {
                asked: run.is_some(),
                margin,
                swapped,
            };
            self.db.count_call(battle, judge.0, kept, cost_usd)?;
            self.merged.votes += 1;
            self.merged.spent_usd += cost_usd.unwrap_or(0.0);
            query.changed = true;
        }
        self.failures(query, &battles)
    }

    /// A name of the other file, here.
    fn name(&mut self, theirs: Option<i64>) -> Result<Option<i64>> {
        let Some(theirs) = theirs else {
            return Ok(None);
        };
        if let Some(known) = self.names.get(&theirs) {
            return Ok(Some(*known));
        }
        let text: String = self
            .other
            .value("SELECT text FROM name WHERE id = ?1", [theirs])?;
        let ours = self.db.name(Some(&text))?;
        self.names.extend(ours.map(|ours| (theirs, ours)));
        Ok(ours)
    }

    /// A reply of the other file, here, as it is packed. Votes of the same call share it, as they do there.
    fn reply(&mut self, theirs: i64, call_key: Option<&[u8]>) -> Result<i64> {
        let mut packed = self.other.packed_reply(theirs)?;
        if let Some(dictionary) = packed.dictionary {
            let ours = match self.dictionaries.get(&dictionary) {
                Some(known) => *known,
                None => self.db.take_dictionary(self.other, dictionary)?,
            };
            self.dictionaries.insert(dictionary, ours);
            packed.dictionary = Some(ours);
        }
        if let Some(key) = call_key
            && let Some(known) = self.db.same_reply(key, &packed)?
        {
            return Ok(known);
        }
        self.db.add_packed_reply(&packed)
    }

    /// Failures have no name of their own: one with the same words at the same moment is the same.
    fn failures(&mut self, query: &mut MatchedQuery, battles: &BattleRows) -> Result<()> {
        const COLUMNS: &str = "cause, message, attempt, tokens_input, tokens_output, cost_usd, latency_ms, created_ms, raw,
            again";
        let mut statement = self.from.prepare_cached(&format!(
            "SELECT failure.battle, failure.judge, failure.run, swapped, {COLUMNS}
             FROM battle JOIN failure ON failure.battle = battle.id WHERE battle.query = ?1 ORDER BY failure.id"
        ))?;
        let mut rows = statement.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            let (battle, turned) = found(battles, row.get(0)?)?;
            let judge = self.judge(row.get(1)?)?;
            let there = self.exists(
                "SELECT 1 FROM failure WHERE battle = ?1 AND judge = ?2 AND cause = ?3 AND message = ?4 AND attempt = ?5
                 AND created_ms = ?6",
                params![
                    battle,
                    judge.0,
                    row.get::<_, String>("cause")?,
                    row.get::<_, String>("message")?,
                    row.get::<_, i64>("attempt")?,
                    row.get::<_, i64>("created_ms")?,
                ],
            )?;
            if there {
                continue;
            }
            let run = row.get::<_, Option<i64>>(2)?;
            let run = run.map(|run| self.run(run)).transpose()?;
            let swapped = row.get::<_, bool>(3)? != turned;
            let mut values: Vec<Value> = vec![
                battle.into(),
                judge.0.into(),
                run.into(),
                i64::from(swapped).into(),
            ];
            for column in 0..COLUMNS.split(',').count() {
                values.push(row.get(4 + column)?);
            }
            self.db.change(
                &format!(
                    "INSERT INTO failure (battle, judge, run, swapped, {COLUMNS})
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
                ),
                params_from_iter(values),
            )?;
            let cost_usd: Option<f64> = row.get("cost_usd")?;
            self.db
                .count_call(battle, judge.0, KeptCall::Failure, cost_usd)?;
            self.merged.failures += 1;
            self.merged.spent_usd += cost_usd.unwrap_or(0.0);
            query.changed = true;
        }
        Ok(())
    }

    /// The other file's battles, added where they are new. A battle that wants only some judges goes on wanting those.
    fn battles(&mut self, query: &mut MatchedQuery) -> Result<BattleRows> {
        let mut known: HashMap<(usize, usize, i64), (i64, usize)> = HashMap::new();
        let mut ours = self
            .db
            .connection
            .prepare_cached("SELECT id, a, b, game FROM battle WHERE query = ?1")?;
        let mut rows = ours.query([query.ours.0])?;
        while let Some(row) = rows.next()? {
            let (a, b): (usize, usize) = (row.get(1)?, row.get(2)?);
            known.insert((a.min(b), a.max(b), row.get(3)?), (row.get(0)?, a));
        }
        let mut battles = BattleRows::new();
        let mut theirs = self.from.prepare_cached(
            "SELECT id, a, b, game, cycle, origin FROM battle WHERE query = ?1 ORDER BY id",
        )?;
        let mut rows = theirs.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let (a, b) = (query.place(row.get(1)?)?, query.place(row.get(2)?)?);
            let game: i64 = row.get(3)?;
            if let Some((ours, ours_a)) = known.get(&(a.min(b), a.max(b), game)) {
                battles.insert(id, (*ours, *ours_a != a));
                self.tasks(id, *ours, false)?;
                continue;
            }
            self.db.change(
                "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    query.ours.0,
                    a,
                    b,
                    game,
                    row.get::<_, i64>(4)?,
                    row.get::<_, String>(5)?
                ],
            )?;
            let ours = self.db.connection.last_insert_rowid();
            battles.insert(id, (ours, false));
            self.tasks(id, ours, true)?;
            self.merged.battles += 1;
            query.changed = true;
        }
        Ok(battles)
    }

    /// The judges that a battle was for: a new one's as they are, and added to those of a battle that has some here.
    fn tasks(&mut self, theirs: i64, ours: i64, new: bool) -> Result<()> {
        let mut statement = self
            .from
            .prepare_cached("SELECT judge, round FROM task WHERE battle = ?1")?;
        let tasks: Vec<(i64, i64)> = statement
            .query_map([theirs], |row| row.try_into())?
            .collect::<rusqlite::Result<_>>()?;
        if tasks.is_empty()
            || (!new && !self.exists("SELECT 1 FROM task WHERE battle = ?1", [ours])?)
        {
            return Ok(());
        }
        for (judge, round) in tasks {
            let judge = self.judge(judge)?;
            self.db.change(
                "INSERT INTO task (battle, judge, round) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![ours, judge.0, round],
            )?;
        }
        Ok(())
    }
}

fn found(battles: &BattleRows, id: i64) -> Result<(i64, bool)> {
    let battle = battles.get(&id).copied();
    battle.ok_or_else(|| StoreError::Corrupt(format!("battle {id} is not there")))
}

/// A margin as seen from the other document.
fn turn(margin: f64, turned: bool) -> f64 {
    if turned { 0.0 - margin } else { margin }
}
