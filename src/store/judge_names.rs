//! Renames judges by moving votes from one name to another.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result};
use crate::domain::battle::PROBE_GAME;
use crate::domain::sampling::SeenOrders;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::registry;
use rusqlite::params;
use std::collections::{HashMap, HashSet};

/// The result of renaming a judge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewJudgeName {
    /// Votes that moved to the new name.
    pub votes: usize,
    /// Votes that stay under the old name because a judge with the new name answered the same
    /// questions.
    pub kept: usize,
}

/// A battle with a vote.
struct ShownBattle {
    battle: i64,
    /// Pool positions, the smaller one first.
    pair: (usize, usize),
    /// Whether document A comes later in the pool than document B.
    turned: bool,
    /// Whether the document that comes later in the pool was shown first.
    later_first: bool,
}

impl Db {
    /// Moves the votes of all judges named `old` to judges named `new` with the same settings.
    pub fn rename_judge(&self, old: &str, new: &str) -> Result<NewJudgeName> {
        let known = self.all_judges()?;
        let mut done = NewJudgeName::default();
        for (id, spec) in known.iter().filter(|(_, spec)| spec.name == old) {
            let renamed = JudgeSpec {
                name: new.to_owned(),
                ..spec.clone()
            };
            let there = known.iter().find(|(_, spec)| spec.is_same_judge(&renamed));
            match there {
                Some((other, _)) => {
                    let before = self.votes_of(*other)?;
                    self.hand_over(*id, *other)?;
                    done.votes += self.votes_of(*other)? - before;
                    done.kept += self.votes_of(*id)?;
                }
                None => {
                    self.change(
                        "UPDATE judge SET name = ?2 WHERE id = ?1",
                        params![id.0, new],
                    )?;
                    done.votes += self.votes_of(*id)?;
                }
            }
        }
        self.change(
            "UPDATE call SET service = ?2 WHERE service = ?1 AND purpose IN ('votes', 'tests')",
            [old, new],
        )?;
        registry::judges_renamed(self, old, new)?;
        self.touch_all()?;
        Ok(done)
    }

    /// Moves the votes, failures, tasks, batches and weights of a judge to one that differs only in
    /// its name. A vote stays if the other judge saw the same pair in the same order: both answer
    /// the same question, and the judge would count twice.
    fn hand_over(&self, from: JudgeId, to: JudgeId) -> Result<()> {
        for (query, _) in self.query_names()? {
            self.hand_over_in(query, from, to)?;
        }
        self.change(
            "UPDATE batch SET judge = ?2 WHERE judge = ?1",
            params![from.0, to.0],
        )?;
        self.change(
            "UPDATE judge_weights SET judge = ?2 WHERE judge = ?1",
            params![from.0, to.0],
        )?;
        self.replace_in_ensembles(from, to)
    }

    fn hand_over_in(&self, query: QueryKey, from: JudgeId, to: JudgeId) -> Result<()> {
        let mut voted: HashSet<i64> = HashSet::new();
        let mut seen: HashMap<(usize, usize), SeenOrders> = HashMap::new();
        for vote in self.shown_to(query, to)? {
            voted.insert(vote.battle);
            seen.entry(vote.pair).or_default().add(vote.later_first);
        }
        for vote in self.shown_to(query, from)? {
            let orders = seen.entry(vote.pair).or_default();
            if orders.next(vote.later_first) != Some(vote.later_first) {
                continue;
            }
            let open = if voted.contains(&vote.battle) {
                self.open_battle(query, vote.pair, to)?
            } else {
                Some((vote.battle, vote.turned))
            };
            if let Some((battle, turned)) = open {
                orders.add(vote.later_first);
                voted.insert(battle);
                self.change(
                    "UPDATE vote SET battle = ?3, judge = ?4, swapped = swapped != ?5,
                         margin = CASE WHEN ?5 THEN 0.0 - margin ELSE margin END
                     WHERE battle = ?1 AND judge = ?2",
                    params![vote.battle, from.0, battle, to.0, vote.turned != turned],
                )?;
            }
        }
        let of_query = params![from.0, to.0, query.0];
        self.change(
            "UPDATE failure SET judge = ?2 WHERE judge = ?1 AND battle IN (SELECT id FROM battle
             WHERE query = ?3)",
            of_query,
        )?;
        self.change(
            "UPDATE OR REPLACE task SET judge = ?2
             WHERE judge = ?1 AND battle IN (SELECT id FROM battle WHERE query = ?3)",
            of_query,
        )?;
        self.recount(query, from)?;
        self.recount(query, to)
    }

    /// A battle of a pair in which a judge has not voted, and whether its document A comes later in
    /// the pool. Probes are skipped because they do not count for the pair.
    fn open_battle(
        &self,
        query: QueryKey,
        pair: (usize, usize),
        judge: JudgeId,
    ) -> Result<Option<(i64, bool)>> {
        let open: Vec<(i64, bool)> = self.all(
            "SELECT id, a > b FROM battle
             WHERE query = ?1 AND (a, b) IN (VALUES (?2, ?3), (?3, ?2)) AND game != ?4
                 AND NOT EXISTS (SELECT 1 FROM vote WHERE vote.battle = battle.id
                 AND vote.judge = ?5)
             ORDER BY game LIMIT 1",
            params![query.0, pair.0, pair.1, PROBE_GAME, judge.0],
            |row| row.try_into(),
        )?;
        Ok(open.into_iter().next())
    }

    /// The battles of a query in which a judge has voted.
    fn shown_to(&self, query: QueryKey, judge: JudgeId) -> Result<Vec<ShownBattle>> {
        self.all(
            "SELECT battle.id, min(a, b), max(a, b), a > b, swapped != (a > b)
             FROM battle JOIN vote ON vote.battle = battle.id AND vote.judge = ?2 WHERE query = ?1
             ORDER BY battle.id",
            params![query.0, judge.0],
            |row| {
                Ok(ShownBattle {
                    battle: row.get(0)?,
                    pair: (row.get(1)?, row.get(2)?),
                    turned: row.get(3)?,
                    later_first: row.get(4)?,
                })
            },
        )
    }

    /// Replaces every ensemble that contains `from` with one that contains `to`.
    fn replace_in_ensembles(&self, from: JudgeId, to: JudgeId) -> Result<()> {
        let all: Vec<i64> = self.all("SELECT id FROM ensemble", [], |row| row.get(0))?;
        for ensemble in all {
            let judges = self.ensemble_judges(EnsembleId(ensemble))?.into_iter();
            let judges: Vec<JudgeId> = judges.map(|(id, _)| id).collect();
            if !judges.contains(&from) {
                continue;
            }
            let mut replaced: Vec<JudgeId> = Vec::with_capacity(judges.len());
            for judge in judges {
                let judge = if judge == from { to } else { judge };
                if !replaced.contains(&judge) {
                    replaced.push(judge);
                }
            }
            let replacement = self.ensemble(&replaced)?;
            self.change(
                "UPDATE query SET ensemble = ?2 WHERE ensemble = ?1",
                params![ensemble, replacement.0],
            )?;
            self.change(
                "UPDATE run SET ensemble = ?2 WHERE ensemble = ?1",
                params![ensemble, replacement.0],
            )?;
        }
        Ok(())
    }
}
