//! The models named in each judge's votes.

use super::{Db, Result};
use crate::domain::answering_models::AnsweringModel;
use crate::domain::vote::JudgeId;
use std::collections::BTreeMap;

/// The models of each judge, in the order of their first votes.
pub type AnsweringModels = BTreeMap<JudgeId, Vec<AnsweringModel>>;

/// The part of the report that is cached until a judge votes again.
const PART: &str = "answering models";

impl Db {
    /// The models named in each judge's votes, without judges whose votes name none. Reads every
    /// vote, unless the result is cached and no vote has arrived since.
    pub fn answering_models(&self) -> Result<AnsweringModels> {
        match self.kept_models()? {
            (_, Some(kept)) => Ok(kept),
            (_, None) => self.count_models(),
        }
    }

    /// [`Db::answering_models`] with the judges' names.
    pub fn answering_models_by_name(&self) -> Result<Vec<(String, Vec<AnsweringModel>)>> {
        let mut models = self.answering_models()?;
        let judges = self.all_judges()?.into_iter();
        Ok(judges
            .filter_map(|(judge, spec)| Some((spec.name, models.remove(&judge)?)))
            .collect())
    }

    /// Caches the result.
    pub fn keep_answering_models(&self) -> Result<AnsweringModels> {
        let (state, kept) = self.kept_models()?;
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let models = self.count_models()?;
        let rows: Vec<(JudgeId, &Vec<AnsweringModel>)> =
            models.iter().map(|(judge, of)| (*judge, of)).collect();
        self.keep_report_part(PART, &state, &rows)?;
        Ok(models)
    }

    /// The state that the result depends on, and the result if it is cached.
    fn kept_models(&self) -> Result<(Vec<u8>, Option<AnsweringModels>)> {
        let mut calls: Vec<_> = self.calls_by_judge()?.into_iter().collect();
        calls.sort_unstable();
        let state: Vec<u8> = calls
            .into_iter()
            .flat_map(|(judge, (votes, _))| [judge.0.to_le_bytes(), votes.to_le_bytes()].concat())
            .collect();
        let kept: Option<Vec<(JudgeId, Vec<AnsweringModel>)>> = self.report_part(PART, &state)?;
        Ok((state, kept.map(|rows| rows.into_iter().collect())))
    }

    fn count_models(&self) -> Result<AnsweringModels> {
        // Embedded judges name no model and may have millions of votes.
        if self.all_judges()?.iter().all(|(_, spec)| spec.is_offline()) {
            return Ok(AnsweringModels::new());
        }
        let rows: Vec<(i64, String, usize, i64)> = self.all(
            "SELECT vote.judge, name.text, count(*), min(vote.created_ms) FROM vote
             JOIN name ON name.id = vote.model
             GROUP BY vote.judge, vote.model ORDER BY min(vote.created_ms), vote.model",
            [],
            |row| row.try_into(),
        )?;
        let mut models = AnsweringModels::new();
        for (judge, model, votes, first_ms) in rows {
            models
                .entry(JudgeId(judge))
                .or_default()
                .push(AnsweringModel {
                    model,
                    votes,
                    first_ms,
                });
        }
        Ok(models)
    }
}
