//! Battles, matched by pair and game, with their votes and failures.

use super::pair_votes::{PairVotes, VotePlace};
use super::{MatchedQuery, Merger};
use crate::domain::battle::BattleId;
use crate::domain::vote::JudgeId;
use crate::store::call_totals::{CallTally, IS_SHARED, KeptCall};
use crate::store::vote_details::VoteReasoning;
use crate::store::{Result, StoreError};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};
use std::collections::{BTreeSet, HashMap};

/// For each battle of the other file, the battle here and whether it is stored in the opposite
/// order.
pub(super) type BattleRows = HashMap<i64, (i64, bool)>;

/// Columns of a vote that can be copied without translation.
const PLAIN: &str = "attempt, tokens_input, tokens_cached, tokens_output, tokens_thinking,
                     cost_usd, latency_ms, truncated,
    created_ms, call_key";

impl Merger<'_> {
    /// Copies the battles of a query with their votes and failures.
    pub(crate) fn votes(&mut self, query: &mut MatchedQuery) -> Result<()> {
        let mut ours = PairVotes::read(self.db, query.ours)?;
        let battles = self.battles(query, &mut ours)?;
        let (mut tally, mut recount) = (CallTally::default(), BTreeSet::new());
        let mut statement = self.from.prepare_cached(&format!(
            "SELECT vote.battle, vote.judge, vote.run, swapped, margin, model, stop_reason, reply,
             {PLAIN},
                 {IS_SHARED} AS shared
             FROM battle JOIN vote ON vote.battle = battle.id WHERE battle.query = ?1
             ORDER BY vote.created_ms, vote.battle, vote.judge"
        ))?;
        let insert = format!(
            "INSERT INTO vote (battle, judge, run, swapped, margin, model, stop_reason, reply,
                 {PLAIN})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                 ?18)"
        );
        let mut rows = statement.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            if !self.takes(&battles, row.get(0)?, row.get(1)?)? {
                continue;
            }
            let (battle, turned) = found(&battles, row.get(0)?)?;
            let (judge, spec) = self.known_judge(row.get(1)?)?;
            let run = row.get::<_, Option<i64>>(2)?;
            let swapped = row.get::<_, bool>(3)? != turned;
            let margin = turn(row.get(4)?, turned);
            let reply = row.get::<_, Option<i64>>(7)?;
            // Whether the battle here names the documents in the other order.
            let mut is_turned = false;
            let battle = match ours.place(battle, judge.0, swapped, spec.is_offline()) {
                VotePlace::Open(battle) => battle,
                VotePlace::NewGame(game) => self.new_game(query, battle, game, judge, &mut ours)?,
                VotePlace::Answered(known) => {
                    let here = self.db.one(
                        "SELECT margin, reply, run, created_ms, latency_ms FROM vote
                         WHERE battle = ?1 AND judge = ?2",
                        params![known, judge.0],
                        |row| row.try_into(),
                    )?;
                    let (known_margin, known_reply, known_run, known_ms, known_latency): (
                        f64,
                        _,
                        Option<i64>,
                        i64,
                        Option<f64>,
                    ) = here;
                    let turned = ours.documents(known) != ours.documents(battle);
                    let words_here = self.db.reasoning(known_reply, known_run.is_some())?;
                    let words_there = self.other.reasoning(reply, run.is_some())?;
                    // The reasoning of an embedded judge follows from its margin; it is stored only
                    // if it was imported.
                    let same_words = words_here == words_there
                        || [words_here, words_there].contains(&VoteReasoning::Unkept);
                    let is_same = known_margin == turn(margin, turned) && same_words;
                    // The answers of a batch have the time at which they were fetched, and imported
                    // ones the time of the import.
                    let latency = row.get::<_, Option<f64>>("latency_ms")?;
                    let is_same_call = is_same
                        && (known_ms == row.get::<_, i64>("created_ms")?
                            || known_latency.is_none()
                                && latency.is_none()
                                && match (known_run, run) {
                                    (None, None) => true,
                                    (Some(known), Some(run)) => known == self.run(run)?,
                                    _ => false,
                                });
                    if is_same_call {
                        continue;
                    }
                    if !self.replaces_votes && !self.is_aside(row.get(0)?, row.get(1)?, known_ms)? {
                        self.merged.vote_clashes += usize::from(!is_same);
                        continue;
                    }
                    self.set_aside(query, known, (judge, &spec))?;
                    recount.insert(judge);
                    is_turned = turned;
                    known
                }
            };
            let (swapped, margin) = (swapped != is_turned, turn(margin, is_turned));
            ours.add_vote(battle, judge.0, swapped);
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
            self.db.change(&insert, params_from_iter(values))?;
            let cost_usd: Option<f64> = row.get("cost_usd")?;
            let kept = KeptCall::Vote {
                asked: run.is_some(),
                margin,
                swapped,
                shared: row.get("shared")?,
            };
            tally.add(judge, kept, cost_usd);
            self.merged.votes += 1;
            self.merged.spent_usd += cost_usd.unwrap_or(0.0);
            query.changed = true;
        }
        self.failures(query, &battles, &mut tally)?;
        self.duplicates(query, &battles)?;
        self.db.count_calls(query.ours, &mut tally)?;
        for judge in recount {
            self.db.recount(query.ours, judge)?;
        }
        Ok(())
    }

    /// Whether the votes and failures of a judge in a battle are merged, both of the other file.
    fn takes(&mut self, battles: &BattleRows, battle: i64, judge: i64) -> Result<bool> {
        if self.pairs.is_some() && !battles.contains_key(&battle) {
            return Ok(false);
        }
        if self.asked.is_none() {
            return Ok(true);
        }
        let spec = self.other_judge(judge)?;
        Ok(self
            .asked
            .as_ref()
            .is_none_or(|asked| asked.contains(&spec)))
    }

    /// Translates a name of the other file to ours.
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

    /// Copies a packed reply of the other file. Votes of the same call share it, as they do there.
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
    /// So is one with the same words in the same run if both come from batches, which have no
    /// latency: two projects may have fetched the same batch at different times.
    fn failures(
        &mut self,
        query: &mut MatchedQuery,
        battles: &BattleRows,
        tally: &mut CallTally,
    ) -> Result<()> {
        const COLUMNS: &str = "cause, message, attempt, tokens_input, tokens_output, cost_usd,
                               latency_ms, created_ms, raw,
            again";
        let mut statement = self.from.prepare_cached(&format!(
            "SELECT failure.battle, failure.judge, failure.run, swapped, {COLUMNS}
             FROM battle JOIN failure ON failure.battle = battle.id WHERE battle.query = ?1
             ORDER BY failure.id"
        ))?;
        let mut rows = statement.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            if !self.takes(battles, row.get(0)?, row.get(1)?)? {
                continue;
            }
            let (battle, turned) = found(battles, row.get(0)?)?;
            let judge = self.judge(row.get(1)?)?;
            let run = row.get::<_, Option<i64>>(2)?;
            let run = run.map(|run| self.run(run)).transpose()?;
            let there = self.exists(
                "SELECT 1 FROM failure WHERE battle = ?1 AND judge = ?2 AND cause = ?3
                 AND message = ?4 AND attempt = ?5
                 AND (created_ms = ?6 OR run = ?7 AND latency_ms IS NULL AND ?8 IS NULL)",
                params![
                    battle,
                    judge.0,
                    row.get::<_, String>("cause")?,
                    row.get::<_, String>("message")?,
                    row.get::<_, i64>("attempt")?,
                    row.get::<_, i64>("created_ms")?,
                    run,
                    row.get::<_, Option<f64>>("latency_ms")?,
                ],
            )?;
            if there {
                continue;
            }
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
            tally.add(judge, KeptCall::Failure, cost_usd);
            self.merged.failures += 1;
            self.merged.spent_usd += cost_usd.unwrap_or(0.0);
            query.changed = true;
        }
        Ok(())
    }

    /// Matches the other file's battles and adds missing ones. A battle meant only for some judges
    /// stays that way.
    fn battles(&mut self, query: &mut MatchedQuery, ours: &mut PairVotes) -> Result<BattleRows> {
        let mut battles = BattleRows::new();
        let mut theirs = self.from.prepare_cached(
            "SELECT id, a, b, game, cycle, origin FROM battle WHERE query = ?1 ORDER BY id",
        )?;
        let mut rows = theirs.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let (is_included, origin) = (
                self.includes(row.get(1)?, row.get(2)?),
                row.get::<_, String>(5)?,
            );
            // With the whole plan, the battles have the same order whichever piece comes first, and
            // sums over them are equal to the last bit.
            if !is_included && origin != "plan" {
                continue;
            }
            let (a, b) = (query.place(row.get(1)?)?, query.place(row.get(2)?)?);
            let (game, cycle): (u32, i64) = (row.get(3)?, row.get(4)?);
            if let Some(here) = ours.battle((a, b), game) {
                if here.promote {
                    self.db.change(
                        "UPDATE battle SET game = ?2, cycle = ?3, origin = ?4 WHERE id = ?1",
                        params![here.id, game, cycle, origin],
                    )?;
                    ours.promoted(here.id);
                    query.changed = true;
                }
                if is_included {
                    battles.insert(id, (here.id, here.a != a));
                }
                self.tasks(id, here.id, false)?;
                continue;
            }
            self.db.change(
                "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, ?4, ?5,
                 ?6)",
                params![query.ours.0, a, b, game, cycle, origin],
            )?;
            let added = self.db.connection.last_insert_rowid();
            ours.add_battle(added, (a, b), game);
            if is_included {
                battles.insert(id, (added, false));
            }
            self.tasks(id, added, true)?;
            self.merged.battles += 1;
            query.changed = true;
        }
        Ok(battles)
    }

    /// Adds another battle for the pair of `like`, for a judge whose answer there was given to the
    /// other order of the documents.
    fn new_game(
        &mut self,
        query: &mut MatchedQuery,
        like: i64,
        game: u32,
        judge: JudgeId,
        ours: &mut PairVotes,
    ) -> Result<i64> {
        let (a, b) = ours.documents(like).ok_or_else(|| missing(like))?;
        self.db.change(
            "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, ?4, 0,
             'merge')",
            params![query.ours.0, a, b, game],
        )?;
        let added = self.db.connection.last_insert_rowid();
        // It is not part of a plan, so it is meant only for those who have voted in it.
        self.db.ask(BattleId(added), judge)?;
        ours.add_battle(added, (a, b), game);
        self.merged.battles += 1;
        query.changed = true;
        Ok(added)
    }

    /// Copies the judges that a battle is meant for: all of them for a new battle, and as additions
    /// to a battle that is already limited to some.
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
    battles.get(&id).copied().ok_or_else(|| missing(id))
}

fn missing(battle: i64) -> StoreError {
    StoreError::Corrupt(format!("battle {battle} is not there"))
}

/// A margin from the point of view of the other document.
pub(super) fn turn(margin: f64, turned: bool) -> f64 {
    if turned { 0.0 - margin } else { margin }
}
