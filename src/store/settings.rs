//! Settings of the project, and what is remembered from one run to the next.

use super::{Db, Result, StoreError};
use crate::domain::ranking::RankingSettings;
use crate::domain::verdict::FinalRule;
use rusqlite::OptionalExtension;
use std::collections::{BTreeMap, HashMap};

impl Db {
    /// The project's settings, or the defaults.
    pub fn settings(&self) -> Result<RankingSettings> {
        let stored: Option<String> = self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = 'rating'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        match stored {
            None => Ok(RankingSettings::default()),
            Some(text) => serde_json::from_str(&text).map_err(|error| {
                StoreError::Corrupt(format!("the rating settings cannot be read: {error}"))
            }),
        }
    }

    /// Changes the project's settings, and with them every query's numbers.
    pub fn set_settings(&self, settings: &RankingSettings) -> Result<()> {
        let settings = settings.checked().map_err(StoreError::Conflict)?;
        let text = serde_json::to_string(&settings)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES ('rating', ?1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([text])?;
        self.connection
            .execute("UPDATE query SET revision = revision + 1", [])?;
        Ok(())
    }

    /// β and γ of each judge as last fitted, by its row; empty before any fit.
    pub fn judge_responses(&self) -> Result<HashMap<i64, (f64, f64)>> {
        let stored: Option<String> = self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = 'joint'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        stored.map_or(Ok(HashMap::new()), |text| {
            serde_json::from_str(&text).map_err(|error| StoreError::Corrupt(error.to_string()))
        })
    }

    /// Keeps β and γ of each judge, and with them changes every query's numbers where they are in use.
    pub fn set_judge_responses(&self, responses: &BTreeMap<i64, (f64, f64)>) -> Result<()> {
        let text = serde_json::to_string(responses)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES ('joint', ?1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([text])?;
        self.connection
            .execute("UPDATE query SET revision = revision + 1", [])?;
        Ok(())
    }

    /// How people are to judge, in Markdown, where the project says so.
    pub fn guideline(&self) -> Result<Option<String>> {
        Ok(self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = 'guideline'")?
            .query_row([], |row| row.get(0))
            .optional()?)
    }

    /// Changes the guideline; `None` takes it away.
    pub fn set_guideline(&self, text: Option<&str>) -> Result<()> {
        self.connection
            .prepare_cached("DELETE FROM setting WHERE name = 'guideline'")?
            .execute([])?;
        if let Some(text) = text {
            self.connection
                .prepare_cached("INSERT INTO setting (name, value) VALUES ('guideline', ?1)")?
                .execute([text])?;
        }
        Ok(())
    }

    /// How the verdict in force follows from what several people said.
    pub fn final_rule(&self) -> Result<FinalRule> {
        let stored: Option<String> = self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = 'final'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        stored.map_or(Ok(FinalRule::default()), |text| {
            serde_json::from_str(&text).map_err(|error| {
                StoreError::Corrupt(format!("the rule of verdicts cannot be read: {error}"))
            })
        })
    }

    /// Changes how the verdict in force follows from what several people said, and with it every query's numbers.
    pub fn set_final_rule(&self, rule: &FinalRule) -> Result<()> {
        let text =
            serde_json::to_string(rule).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES ('final', ?1)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([text])?;
        self.connection
            .execute("UPDATE query SET revision = revision + 1", [])?;
        Ok(())
    }

    /// What was remembered under a name.
    pub fn remembered(&self, name: &str) -> Result<Option<String>> {
        Ok(self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?)
    }

    /// Remembers something for the next run; no score depends on it.
    pub fn remember(&self, name: &str, value: &str) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([name, value])?;
        Ok(())
    }
}
