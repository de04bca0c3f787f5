//! A query's rows as domain types, and the view computed from them.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result, StoreError};
use crate::domain::battle::{Battle, BattleId, PROBE_GAME};
use crate::domain::ranking::{
    self, BattleRecord, JudgeWeights, PairTarget, QueryRows, RankingSettings, View,
};
use crate::domain::rating::{RatingError, RatingModel};
use crate::domain::vote::{JudgeId, Vote, VoteRule};
use crate::registry;
use std::collections::HashMap;

impl Db {
    /// All data that a query's view is computed from.
    pub fn rows(&self, query: QueryKey) -> Result<QueryRows> {
        self.check_positions(query)?;
        let (documents, depth): (usize, Option<usize>) = self
            .maybe(
                "SELECT documents, depth FROM query WHERE id = ?1",
                [query.0],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?
            .ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
        let judges: Vec<JudgeId> = self
            .judges_of(query)?
            .into_iter()
            .map(|(id, _)| id)
            .collect();
        let judge_index: HashMap<i64, usize> = judges
            .iter()
            .enumerate()
            .map(|(judge_index, judge)| (judge.0, judge_index))
            .collect();

        let mut battles = Vec::new();
        let mut index: HashMap<i64, usize> = HashMap::new();
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, a, b, game FROM battle WHERE query = ?1 ORDER BY id")?;
        let mut rows = statement.query([query.0])?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let (a, b): (usize, usize) = (row.get(1)?, row.get(2)?);
            if a >= documents || b >= documents {
                return Err(StoreError::Corrupt(format!(
                    "battle {id} names a document that is not there"
                )));
            }
            index.insert(id, battles.len());
            battles.push(BattleRecord {
                battle: Battle {
                    id: BattleId(id),
                    a,
                    b,
                    game: row.get(3)?,
                },
                votes: Vec::new(),
                failed: Vec::new(),
                asked: None,
            });
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT vote.battle, vote.judge, vote.swapped, vote.margin
             FROM battle JOIN vote ON vote.battle = battle.id WHERE battle.query = ?1",
        )?;
        let mut rows = statement.query([query.0])?;
        while let Some(row) = rows.next()? {
            let (battle, judge): (i64, i64) = (row.get(0)?, row.get(1)?);
            if let (Some(at), true) = (index.get(&battle), judge_index.contains_key(&judge)) {
                battles[*at].votes.push(Vote {
                    judge: JudgeId(judge),
                    margin: row.get(3)?,
                    swapped: row.get(2)?,
                });
            }
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT failure.battle, failure.judge
             FROM battle JOIN failure ON failure.battle = battle.id WHERE battle.query = ?1
             AND again = 0",
        )?;
        let mut rows = statement.query([query.0])?;
        while let Some(row) = rows.next()? {
            let (battle, judge): (i64, i64) = (row.get(0)?, row.get(1)?);
            if let (Some(at), true) = (index.get(&battle), judge_index.contains_key(&judge)) {
                let record = &mut battles[*at];
                if record.votes.iter().all(|vote| vote.judge.0 != judge) {
                    record.failed.push(JudgeId(judge));
                }
            }
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT task.battle, task.judge FROM battle JOIN task ON task.battle = battle.id
             WHERE battle.query = ?1",
        )?;
        let mut rows = statement.query([query.0])?;
        while let Some(row) = rows.next()? {
            let (battle, judge): (i64, i64) = (row.get(0)?, row.get(1)?);
            if let Some(at) = index.get(&battle) {
                let asked = battles[*at].asked.get_or_insert_default();
                asked.extend(judge_index.contains_key(&judge).then_some(JudgeId(judge)));
            }
        }
        for record in &mut battles {
            if let Some(asked) = &mut record.asked {
                asked.extend(record.votes.iter().map(|vote| vote.judge));
                asked.extend(&record.failed);
                asked.sort_by_key(|judge| judge_index.get(&judge.0).copied());
                asked.dedup();
            }
            record
                .votes
                .sort_by_key(|vote| judge_index.get(&vote.judge.0).copied());
            record
                .failed
                .sort_by_key(|judge| judge_index.get(&judge.0).copied());
        }
        let by_identifier = self.all(
            "SELECT position FROM document WHERE query = ?1 ORDER BY name",
            [query.0],
            |row| row.get(0),
        )?;
        let (probes, battles) = battles
            .into_iter()
            .partition(|record| record.battle.game == PROBE_GAME);
        Ok(QueryRows {
            by_identifier,
            responses: Vec::new(),
            curves: Vec::new(),
            student: None,
            answers: None,
            documents,
            depth,
            judges,
            battles,
            probes,
            verdicts: self.verdicts_in_force(query)?,
        })
    }

    /// A query's view under the project's settings.
    pub fn view(&self, query: QueryKey) -> Result<View> {
        let (rows, settings) = self.view_inputs(query)?;
        Ok(View::new(rows, settings))
    }

    /// The scores, ranks and verdicts of [`Db::view`], without errors and intervals, which take most
    /// of its time.
    pub fn view_without_errors(&self, query: QueryKey) -> Result<View> {
        let (rows, settings) = self.view_inputs(query)?;
        Ok(View::without_errors(rows, settings))
    }

    /// The view of votes and verdicts alone, without the project's student and without tastes, from
    /// which another student may learn.
    pub fn view_without_student(&self, query: QueryKey) -> Result<View> {
        let (mut rows, settings) = self.view_inputs(query)?;
        rows.student = None;
        rows.answers = None;
        Ok(View::new(rows, settings.without_tastes()))
    }

    /// The input of a query's view: its rows and the project's settings.
    pub(crate) fn view_inputs(&self, query: QueryKey) -> Result<(QueryRows, RankingSettings)> {
        let mut settings = self.settings_under(self.ensemble_of(query)?)?;
        if settings.phi.is_none()
            && let Some((phi, battles)) = self.estimated_phi(query)?
        {
            settings.phi = Some(phi);
            settings.phi_battles = Some(battles);
        }
        Ok((self.fitted_rows(query, &settings)?, settings))
    }

    /// The scores of a query's view, bit for bit, without computing the rest of the view: the
    /// cached ones if nothing has changed, or else those of a fit. The dispersion does not affect
    /// them.
    pub fn scores(
        &self,
        query: QueryKey,
    ) -> Result<std::result::Result<Vec<Option<f64>>, RatingError>> {
        if let Some(kept) = self.kept_scores(query)? {
            return Ok(Ok(kept));
        }
        let settings = self.settings_under(self.ensemble_of(query)?)?;
        let rows = self.fitted_rows(query, &settings)?;
        Ok(ranking::scores(&rows, &settings))
    }

    /// The scores of a query and that of a document which nothing compares with others
    /// ([`ranking::scores_and_bare`]), and the revision to cache the scores for if they can be cached
    /// and are not.
    pub fn scores_and_bare(
        &self,
        query: QueryKey,
    ) -> Result<(
        std::result::Result<ranking::PoolScores, RatingError>,
        Option<i64>,
    )> {
        let settings = self.settings_under(self.ensemble_of(query)?)?;
        if settings.model == RatingModel::Zbench {
            let rows = self.fitted_rows(query, &settings)?;
            return Ok((ranking::scores_and_bare(&rows, &settings), None));
        }
        let (scores, revision) = self.scores_now(query)?;
        let with_mean = |scores| ranking::PoolScores { scores, bare: 0.0 };
        Ok((scores.map(with_mean), revision))
    }

    /// The scores of [`Db::view_without_student`], without computing the rest of that view.
    pub fn scores_without_student(
        &self,
        query: QueryKey,
    ) -> Result<std::result::Result<Vec<Option<f64>>, RatingError>> {
        let settings = self.settings_under(self.ensemble_of(query)?)?;
        let mut rows = self.fitted_rows(query, &settings)?;
        let has_no_answers = rows.answers_in_fit(&settings).is_empty();
        if rows.student.is_none() && has_no_answers && settings.taste() == 0.0 {
            return self.scores(query);
        }
        rows.student = None;
        rows.answers = None;
        Ok(ranking::scores(&rows, &settings.without_tastes()))
    }

    /// The pairs with votes and verdicts that the fit of a query uses, each with its score as the
    /// fit counts it.
    pub fn pair_targets(&self, query: QueryKey) -> Result<Vec<PairTarget>> {
        let settings = self.settings_under(self.ensemble_of(query)?)?;
        let mut rows = self.fitted_rows(query, &settings)?;
        rows.answers = None;
        Ok(ranking::pair_targets(&rows, &settings))
    }

    /// The scores without the votes of some judges, given by name. If none of these judges votes on
    /// the query, they equal the usual scores; all are `None` if there is nothing left to fit.
    pub fn scores_without(
        &self,
        query: QueryKey,
        names: &[String],
    ) -> Result<std::result::Result<Vec<Option<f64>>, RatingError>> {
        let settings = self.settings_under(self.ensemble_of(query)?)?;
        let mut rows = self.fitted_rows(query, &settings)?;
        let known = self.judges_of(query)?.into_iter();
        let left_out: Vec<JudgeId> = known
            .filter(|(_, judge)| names.contains(&judge.name))
            .map(|(id, _)| id)
            .collect();
        let mut seats = rows.judges.iter().map(|id| !left_out.contains(id));
        rows.responses.retain(|_| seats.next().unwrap_or(true));
        let mut seats = rows.judges.iter().map(|id| !left_out.contains(id));
        rows.curves.retain(|_| seats.next().unwrap_or(true));
        if let Some(counted) = &mut rows.answers {
            counted
                .answers
                .retain(|answer| !names.contains(&answer.judge));
            let kept = rows.judges.iter().enumerate();
            let kept = kept.filter(|(_, id)| !left_out.contains(id));
            let seats: HashMap<usize, usize> = kept.map(|(seat, _)| seat).zip(0..).collect();
            counted.renumber(&seats);
        }
        rows.judges.retain(|id| !left_out.contains(id));
        for record in &mut rows.battles {
            record.votes.retain(|vote| !left_out.contains(&vote.judge));
            record.failed.retain(|id| !left_out.contains(id));
            if let Some(asked) = &mut record.asked {
                asked.retain(|id| !left_out.contains(id));
            }
        }
        let nothing = rows.verdicts.is_empty()
            && rows.battles.iter().all(|record| record.votes.is_empty())
            && rows.answers_in_fit(&settings).is_empty();
        if nothing {
            Ok(Ok(vec![None; rows.documents]))
        } else {
            Ok(ranking::scores(&rows, &settings))
        }
    }

    /// A query's rows, with the judges' responses and margin curves if the fit uses them, with the
    /// project's student, and with answers outside battles that count.
    pub(crate) fn fitted_rows(
        &self,
        query: QueryKey,
        settings: &RankingSettings,
    ) -> Result<QueryRows> {
        let mut rows = self.rows(query)?;
        if settings.judge_weights == JudgeWeights::Joint {
            let known = self.judge_responses()?;
            let of = |judge: &JudgeId| known.get(&judge.0).copied().unwrap_or((1.0, 0.0));
            rows.responses = rows.judges.iter().map(of).collect();
        }
        rows.student = registry::prior_opinion(self, query)?;
        rows.answers = registry::counted_answers(self, query)?;
        if settings.vote_rule == VoteRule::Calibrated {
            let mut known = self.margin_curves()?;
            let judges = rows.judges.iter();
            rows.curves = judges.map(|judge| known.remove(&judge.0)).collect();
        }
        Ok(rows)
    }

    pub(crate) fn ensemble_of(&self, query: QueryKey) -> Result<Option<EnsembleId>> {
        let found: Option<Option<i64>> =
            self.maybe_value("SELECT ensemble FROM query WHERE id = ?1", [query.0])?;
        Ok(found.flatten().map(EnsembleId))
    }

    /// The estimated dispersion for the judges of a query, and the number of battles it is based
    /// on.
    fn estimated_phi(&self, query: QueryKey) -> Result<Option<(f64, usize)>> {
        let stored: Option<String> = self.maybe_value(
            "SELECT value FROM setting JOIN query ON setting.name = 'phi:' || query.ensemble
             WHERE query.id = ?1",
            [query.0],
        )?;
        Ok(stored.map(|text| serde_json::from_str(&text)).transpose()?)
    }
}
