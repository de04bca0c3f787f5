//! Settings of the project, and values remembered between runs.

use super::judges::EnsembleId;
use super::{Db, Result, Store, StoreError, file, schema};
use crate::domain::hex::hex;
use crate::domain::ranking::{PriorPrecision, RankingSettings};
use crate::domain::rating::RatingOptions;
use crate::domain::verdict::FinalRule;
use crate::domain::vote::MarginCurve;
use crate::judge::ProjectTexts;
use rusqlite::OptionalExtension as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The stored form of the settings.
#[derive(Serialize, Deserialize)]
struct StoredSettings {
    #[serde(flatten)]
    settings: RankingSettings,
    /// Whether a version wrote them that can learn the prior. Earlier versions stored .05 in every
    /// project, whether or not anyone had chosen it.
    #[serde(default)]
    prior_may_be_learned: bool,
}

fn read_settings(text: &str) -> serde_json::Result<RankingSettings> {
    let stored: StoredSettings = serde_json::from_str(text)?;
    let mut settings = stored.settings;
    let former = PriorPrecision::Set(RatingOptions::default().lambda);
    if !stored.prior_may_be_learned && settings.lambda == former {
        settings.lambda = PriorPrecision::Auto;
    }
    Ok(settings)
}

/// A note that prompts can show, and people do not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeNote {
    Domain,
    Language,
}

impl JudgeNote {
    fn setting(self) -> &'static str {
        match self {
            Self::Domain => "domain-note",
            Self::Language => "language-note",
        }
    }
}

/// The texts that prompts can show, of the project at `path`; none if there is no project. Works
/// while the project is open elsewhere.
pub fn project_texts_at(path: &Path) -> Result<ProjectTexts> {
    let is_empty = std::fs::metadata(path).is_ok_and(|found| found.len() == 0);
    if is_empty || !Store::may_exist(path) {
        return Ok(ProjectTexts::default());
    }
    file::read_steadily(&file::canonical(path)?, |connection| {
        schema::check(path, connection)?;
        let text = |name: &str| {
            let mut statement = connection.prepare("SELECT value FROM setting WHERE name = ?1")?;
            Ok::<_, StoreError>(statement.query_row([name], |row| row.get(0)).optional()?)
        };
        Ok(ProjectTexts {
            guideline: text("guideline")?,
            domain: text(JudgeNote::Domain.setting())?,
            language: text(JudgeNote::Language.setting())?,
        })
    })
}

/// The SHA-256 of a guideline in hexadecimal.
pub fn guideline_hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

impl Db {
    /// The project's settings, or the defaults.
    pub fn settings(&self) -> Result<RankingSettings> {
        self.remembered("rating")?
            .map_or(Ok(RankingSettings::default()), |text| {
                read_settings(&text).map_err(|error| {
                    StoreError::Corrupt(format!("the rating settings cannot be read: {error}"))
                })
            })
    }

    /// Changes the project's settings, which invalidates the numbers of every query.
    pub fn set_settings(&self, settings: &RankingSettings) -> Result<()> {
        let settings = settings
            .checked()
            .map_err(|error| StoreError::Conflict(error.to_string()))?;
        let stored = StoredSettings {
            settings,
            prior_may_be_learned: true,
        };
        self.remember("rating", &serde_json::to_string(&stored)?)?;
        self.touch_all()
    }

    /// β and γ of each judge from the latest fit, by row ID; empty before the first fit.
    pub fn judge_responses(&self) -> Result<HashMap<i64, (f64, f64)>> {
        self.remembered("joint")?
            .map_or(Ok(HashMap::new()), |text| Ok(serde_json::from_str(&text)?))
    }

    /// Stores β and γ of each judge, which invalidates the numbers of every query that uses them.
    pub fn set_judge_responses(&self, responses: &BTreeMap<i64, (f64, f64)>) -> Result<()> {
        self.remember("joint", &serde_json::to_string(responses)?)?;
        self.touch_all()
    }

    /// The latest estimated margin curve of each judge, by row ID; empty before the first estimate.
    pub fn margin_curves(&self) -> Result<BTreeMap<i64, MarginCurve>> {
        self.remembered("margin-curves")?
            .map_or(Ok(BTreeMap::new()), |text| Ok(serde_json::from_str(&text)?))
    }

    /// Stores the margin curve of each judge, which invalidates the numbers of every query that
    /// uses them.
    pub fn set_margin_curves(&self, curves: &BTreeMap<i64, MarginCurve>) -> Result<()> {
        self.remember("margin-curves", &serde_json::to_string(curves)?)?;
        self.touch_all()
    }

    /// The guideline for annotators in Markdown, if the project has one.
    pub fn guideline(&self) -> Result<Option<String>> {
        self.remembered("guideline")
    }

    /// The SHA-256 of the guideline in hexadecimal, as `sha256sum` prints it.
    pub fn guideline_hash(&self) -> Result<Option<String>> {
        Ok(self.guideline()?.as_deref().map(guideline_hash))
    }

    /// Changes the guideline; `None` removes it.
    pub fn set_guideline(&self, text: Option<&str>) -> Result<()> {
        match text {
            Some(text) => self.remember("guideline", text),
            None => self
                .change("DELETE FROM setting WHERE name = 'guideline'", [])
                .map(drop),
        }
    }

    /// The note for prompts on the domain, or on the languages, if the project has one.
    pub fn judge_note(&self, note: JudgeNote) -> Result<Option<String>> {
        self.remembered(note.setting())
    }

    /// Changes a note; `None` removes it.
    pub fn set_judge_note(&self, note: JudgeNote, text: Option<&str>) -> Result<()> {
        match text {
            Some(text) => self.remember(note.setting(), text),
            None => self
                .change("DELETE FROM setting WHERE name = ?1", [note.setting()])
                .map(drop),
        }
    }

    /// The texts that prompts can show.
    pub fn project_texts(&self) -> Result<ProjectTexts> {
        Ok(ProjectTexts {
            guideline: self.guideline()?,
            domain: self.judge_note(JudgeNote::Domain)?,
            language: self.judge_note(JudgeNote::Language)?,
        })
    }

    /// The rule that combines several people's verdicts.
    pub fn final_rule(&self) -> Result<FinalRule> {
        self.remembered("final")?
            .map_or(Ok(FinalRule::default()), |text| {
                serde_json::from_str(&text).map_err(|error| {
                    StoreError::Corrupt(format!("the rule of verdicts cannot be read: {error}"))
                })
            })
    }

    /// Changes the rule that combines several people's verdicts, which invalidates the numbers of
    /// every query.
    pub fn set_final_rule(&self, rule: &FinalRule) -> Result<()> {
        self.remember("final", &serde_json::to_string(rule)?)?;
        self.touch_all()
    }

    /// The project's spending limit in dollars, if it was set in the project; `Some(None)` means no
    /// limit.
    pub fn project_budget(&self) -> Result<Option<Option<f64>>> {
        self.remembered("budget")?
            .map(|text| {
                serde_json::from_str(&text).map_err(|error| {
                    StoreError::Corrupt(format!("the budget cannot be read: {error}"))
                })
            })
            .transpose()
    }

    pub fn set_project_budget(&self, usd: Option<f64>) -> Result<()> {
        self.remember("budget", &serde_json::to_string(&usd)?)
    }

    /// Marks the numbers of every query as changed.
    pub(crate) fn touch_all(&self) -> Result<()> {
        self.change("UPDATE query SET revision = revision + 1", [])?;
        Ok(())
    }

    /// Marks the numbers of an ensemble's queries as changed.
    pub(super) fn touch_ensemble(&self, ensemble: EnsembleId) -> Result<()> {
        self.change(
            "UPDATE query SET revision = revision + 1 WHERE ensemble = ?1",
            [ensemble.0],
        )?;
        Ok(())
    }

    /// The value stored under a name.
    pub fn remembered(&self, name: &str) -> Result<Option<String>> {
        self.maybe_value("SELECT value FROM setting WHERE name = ?1", [name])
    }

    /// Stores a value under a name.
    pub fn remember(&self, name: &str, value: &str) -> Result<()> {
        self.change(
            "INSERT INTO setting (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [name, value],
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_none_is_not_the_same_as_no_budget_set() {
        let db = Db::scratch().unwrap();
        assert_eq!(db.project_budget().unwrap(), None);
        db.set_project_budget(Some(2.5)).unwrap();
        assert_eq!(db.project_budget().unwrap(), Some(Some(2.5)));
        db.set_project_budget(None).unwrap();
        assert_eq!(db.project_budget().unwrap(), Some(None));
    }

    #[test]
    fn the_prior_that_every_older_project_has_is_nobodys_choice() {
        let lambda = |text: &str| read_settings(text).unwrap().lambda;
        assert_eq!(lambda(r#"{"lambda":0.05}"#), PriorPrecision::Auto);
        assert_eq!(lambda(r#"{"lambda":0.15}"#), PriorPrecision::Set(0.15));
        let chosen = r#"{"lambda":0.05,"prior_may_be_learned":true}"#;
        assert_eq!(lambda(chosen), PriorPrecision::Set(0.05));
    }
}
