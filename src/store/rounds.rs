//! Rounds: the tasks of a campaign for a query, and their results.
//!
//! A battle with tasks is meant only for the judges of its tasks. The tasks of a whole round are
//! stored before any of its calls is made.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result};
use crate::domain::battle::{BattleId, PROBE_GAME, Pair};
use crate::domain::judge_set::JudgeSet;
use crate::domain::sampling::PlannedBattle;
use crate::domain::sampling::adaptive::{AskedPair, PairTask};
use crate::domain::vote::{JudgeId, Margin};
use rusqlite::params;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Round number of a task that a plain plan added to a battle that began with fewer judges. It
/// belongs to no round.
const PLAIN: i64 = -1;

/// The history of a query when its next round is planned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundHistory {
    /// One entry per asked battle, by pair and game. Failed calls, calls pending in a batch and
    /// calls entered by a round count as asked.
    pub asked: Vec<AskedPair>,
    pub rounds: usize,
}

impl RoundHistory {
    /// Number of calls made or entered.
    pub fn calls(&self) -> usize {
        self.asked.iter().map(|entry| entry.judges.len()).sum()
    }

    pub fn votes(&self) -> usize {
        self.asked.iter().map(|entry| entry.votes.len()).sum()
    }

    /// Number of distinct combinations of pair and judge, not counting second battles of a pair.
    pub fn met(&self) -> usize {
        let mut seats: HashMap<Pair, JudgeSet> = HashMap::new();
        for entry in &self.asked {
            let known = seats.entry(entry.pair).or_default();
            *known = known.with(entry.judges);
        }
        seats.into_values().map(JudgeSet::len).sum()
    }
}

/// A judge to ask about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// The pair's first battle, with the round as its cycle.
    pub battle: PlannedBattle,
    pub judge: JudgeId,
}

impl Db {
    /// What the judges of an ensemble were asked about the first `depth` documents of a query under
    /// any plan, except for probes, which only measure the effect of the order.
    pub fn played(
        &self,
        query: QueryKey,
        depth: usize,
        judges: &[JudgeId],
    ) -> Result<RoundHistory> {
        let seats: HashMap<i64, usize> = (0..).zip(judges).map(|(at, id)| (id.0, at)).collect();
        let mut statement = self.connection.prepare_cached(
            "SELECT id, min(a, b), max(a, b), game, a > b FROM battle WHERE query = ?1
             AND game != ?2",
        )?;
        let mut rows = statement.query(params![query.0, PROBE_GAME])?;
        let mut battles: BTreeMap<(Pair, u32), AskedPair> = BTreeMap::new();
        let mut place: HashMap<i64, ((Pair, u32), bool)> = HashMap::new();
        while let Some(row) = rows.next()? {
            let (low, high): (usize, usize) = (row.get(1)?, row.get(2)?);
            if let Some(pair) = Pair::new(low, high).filter(|_| high < depth) {
                let (judges, votes) = (JudgeSet::EMPTY, Vec::new());
                battles.insert(
                    (pair, row.get(3)?),
                    AskedPair {
                        pair,
                        judges,
                        votes,
                    },
                );
                place.insert(row.get(0)?, ((pair, row.get(3)?), row.get(4)?));
            }
        }
        let mut seen = |battle: i64, judge: i64, margin: Option<Margin>| {
            if let Some((key, turned)) = place.get(&battle)
                && let Some(judge_index) = seats.get(&judge)
                && let Some(entry) = battles.get_mut(key)
            {
                entry.judges = entry.judges.with(JudgeSet::one(*judge_index));
                let margin = margin.map(|margin| if *turned { margin.flipped() } else { margin });
                entry.votes.extend(margin.map(Margin::outcome));
            }
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT vote.battle, vote.judge, vote.margin FROM vote JOIN battle
             ON battle.id = vote.battle
             WHERE query = ?1",
        )?;
        let mut rows = statement.query([query.0])?;
        while let Some(row) = rows.next()? {
            seen(row.get(0)?, row.get(1)?, Some(row.get(2)?));
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT failure.battle, failure.judge FROM failure JOIN battle
             ON battle.id = failure.battle
             WHERE query = ?1
             UNION SELECT task.battle, task.judge FROM battle JOIN task ON task.battle = battle.id
             WHERE query = ?1 AND round != ?2
             UNION SELECT batch_call.battle, batch.judge FROM battle
             JOIN batch_call ON batch_call.battle = battle.id JOIN batch
             ON batch.id = batch_call.batch
             WHERE query = ?1 AND batch_call.done = 0 AND batch.closed_ms IS NULL",
        )?;
        let mut rows = statement.query(params![query.0, PLAIN])?;
        while let Some(row) = rows.next()? {
            seen(row.get(0)?, row.get(1)?, None);
        }
        let rounds = self.tasks(query, judges)?;
        Ok(RoundHistory {
            asked: battles.into_values().collect(),
            rounds: rounds
                .iter()
                .map(|task| task.battle.cycle + 1)
                .max()
                .unwrap_or(0),
        })
    }

    /// The tasks of a query's rounds for these judges, ordered by round and pair.
    pub fn tasks(&self, query: QueryKey, judges: &[JudgeId]) -> Result<Vec<TaskRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT a, b, game, round, judge FROM battle JOIN task ON task.battle = battle.id
             WHERE query = ?1 AND round != ?2 ORDER BY round, min(a, b), max(a, b), game, judge",
        )?;
        let mut rows = statement.query(params![query.0, PLAIN])?;
        let mut tasks = Vec::new();
        while let Some(row) = rows.next()? {
            let judge = JudgeId(row.get(4)?);
            if let Some(pair) = Pair::new(row.get(0)?, row.get(1)?)
                && judges.contains(&judge)
            {
                let battle = PlannedBattle {
                    pair,
                    game: row.get(2)?,
                    cycle: row.get(3)?,
                };
                tasks.push(TaskRow { battle, judge });
            }
        }
        Ok(tasks)
    }

    /// The pairs of a round, whichever judges are asked about them, in order.
    pub fn pairs_of_round(&self, query: QueryKey, round: usize) -> Result<Vec<Pair>> {
        let pairs: Vec<(usize, usize)> = self.all(
            "SELECT DISTINCT min(a, b), max(a, b) FROM battle JOIN task ON task.battle = battle.id
             WHERE query = ?1 AND round = ?2 ORDER BY 1, 2",
            params![query.0, round],
            |row| row.try_into(),
        )?;
        let pairs = pairs.into_iter();
        Ok(pairs.filter_map(|(a, b)| Pair::new(a, b)).collect())
    }

    /// The calls of a round: its pairs, and the judges that are asked about them.
    pub(super) fn calls_of_round(
        &self,
        query: QueryKey,
        round: usize,
    ) -> Result<HashSet<(Pair, JudgeId)>> {
        let calls: Vec<(usize, usize, i64)> = self.all(
            "SELECT a, b, judge FROM battle JOIN task ON task.battle = battle.id
             WHERE query = ?1 AND round = ?2",
            params![query.0, round],
            |row| row.try_into(),
        )?;
        let calls = calls.into_iter();
        let calls = calls.filter_map(|(a, b, judge)| Some((Pair::new(a, b)?, JudgeId(judge))));
        Ok(calls.collect())
    }

    /// Stores a round: a task for each judge of each pair, and a battle for each pair that has
    /// none. Returns the number of battles added.
    pub fn add_round(
        &self,
        query: QueryKey,
        round: usize,
        tasks: &[PairTask],
        judges: &[JudgeId],
    ) -> Result<usize> {
        let mut added = 0;
        for task in tasks {
            added += self.add_battle(query, round, task.pair)?;
            for judge in task
                .judges
                .iter()
                .filter_map(|judge_index| judges.get(judge_index))
            {
                self.add_task(query, round, task.pair, *judge)?;
            }
        }
        self.touch(query)?;
        Ok(added)
    }

    /// Adds a pair's first battle, unless there is one. Returns the number of battles added.
    pub(super) fn add_battle(&self, query: QueryKey, round: usize, pair: Pair) -> Result<usize> {
        self.change(
            "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, 0, ?4,
             'adaptive')
             ON CONFLICT DO NOTHING",
            params![query.0, pair.low(), pair.high(), round],
        )
    }

    /// Lets a round ask a judge about a pair's first battle. Returns the number of changed rows.
    pub(super) fn add_task(
        &self,
        query: QueryKey,
        round: usize,
        pair: Pair,
        judge: JudgeId,
    ) -> Result<usize> {
        self.change(
            "INSERT INTO task (battle, judge, round) SELECT id, ?4, ?5 FROM battle
             WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 AND game = 0
             ON CONFLICT (battle, judge) DO UPDATE SET round = excluded.round
             WHERE task.round != excluded.round",
            params![query.0, pair.low(), pair.high(), judge.0, round],
        )
    }

    /// The battles of a query that were chosen by a round after the opening cycle.
    pub(super) fn battles_chosen_by_scores(&self, query: QueryKey) -> Result<HashSet<BattleId>> {
        let ids: Vec<BattleId> = self.all(
            "SELECT DISTINCT battle.id FROM battle JOIN task ON task.battle = battle.id
             WHERE query = ?1 AND round > 0",
            [query.0],
            |row| Ok(BattleId(row.get(0)?)),
        )?;
        Ok(ids.into_iter().collect())
    }

    /// Extends the battles of a plain plan that began in a round to all judges of the ensemble.
    /// Returns the number of tasks added.
    pub(super) fn widen(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        ensemble: EnsembleId,
    ) -> Result<usize> {
        let mut added = 0;
        if !self.has_tasks(query)? {
            return Ok(added);
        }
        for battle in planned {
            added += self.change(
                "INSERT INTO task (battle, judge, round)
                 SELECT battle.id, member.value, ?6 FROM battle, ensemble,
                 json_each(ensemble.judges) AS member
                 WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 AND game = ?4
                 AND ensemble.id = ?5
                     AND EXISTS (SELECT 1 FROM task WHERE task.battle = battle.id)
                 ON CONFLICT DO NOTHING",
                params![
                    query.0,
                    battle.pair.low(),
                    battle.pair.high(),
                    battle.game,
                    ensemble.0,
                    PLAIN
                ],
            )?;
        }
        Ok(added)
    }

    /// Marks a battle as meant for a judge, and only for the judges marked this way.
    pub fn ask(&self, battle: BattleId, judge: JudgeId) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO task (battle, judge, round) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?
            .execute(params![battle.0, judge.0, PLAIN])?;
        Ok(())
    }

    fn has_tasks(&self, query: QueryKey) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM battle JOIN task ON task.battle = battle.id
             WHERE query = ?1)",
            [query.0],
        )
    }
}
