//! A project's settings: how scores are computed, whose verdicts count, and how people should
//! judge.

use crate::app::error::AppError;
use crate::app::judge_report::rater_data::all_ratings;
use crate::app::judge_report::report::rater_report;
use crate::client::now_ms;
use crate::domain::judge_report::{CalibratedMargins, ParameterBasis, judge_model, margin_curves};
use crate::domain::ranking::RankingSettings;
use crate::domain::verdict::FinalRule;
#[cfg(feature = "remote")]
use crate::store::StoreError;
use crate::store::setting_changes::SettingChange;
use crate::store::settings::{JudgeNote, guideline_hash};
use crate::store::{Db, Result, Store};
#[cfg(feature = "remote")]
use serde_json::Map;
use serde_json::Value;
use std::collections::BTreeMap;

/// The settings of a project.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectSettings {
    pub ranking: RankingSettings,
    pub rule: FinalRule,
    /// Markdown that can be shown with one key while judging.
    pub guideline: Option<String>,
    /// A note on the domain, for prompts with `{{domain}}`.
    pub domain_note: Option<String>,
    /// A note on the languages, for prompts with `{{language}}`.
    pub language_note: Option<String>,
}

impl ProjectSettings {
    pub fn read(db: &Db) -> Result<Self> {
        Ok(Self {
            ranking: db.settings()?,
            rule: db.final_rule()?,
            guideline: db.guideline()?,
            domain_note: db.judge_note(JudgeNote::Domain)?,
            language_note: db.judge_note(JudgeNote::Language)?,
        })
    }

    /// Stores the changes from `before`, with a log entry for each setting that the annotator
    /// changed.
    pub fn store(&self, store: &Store, before: &Self, annotator: &str) -> Result<()> {
        if self == before {
            return Ok(());
        }
        let (after, before) = (self.clone(), before.clone());
        let now_ms = now_ms();
        let changes: Vec<SettingChange> = after
            .changes_from(&before)
            .into_iter()
            .map(|(setting, [before, after])| {
                SettingChange::new(annotator, &setting, before, after, now_ms)
            })
            .collect();
        store.write_blocking(move |db| {
            for change in &changes {
                db.add_setting_change(change)?;
            }
            after.replace(db, &before)
        })
    }

    /// Stores the changes from `before`, without log entries.
    pub fn replace(&self, db: &Db, before: &Self) -> Result<()> {
        if self.guideline != before.guideline {
            db.set_guideline(self.guideline.as_deref())?;
        }
        let notes = [
            (JudgeNote::Domain, &self.domain_note, &before.domain_note),
            (
                JudgeNote::Language,
                &self.language_note,
                &before.language_note,
            ),
        ];
        for (note, after, before) in notes {
            if after != before {
                db.set_judge_note(note, after.as_deref())?;
            }
        }
        if self.ranking != before.ranking {
            db.set_settings(&self.ranking)?;
            let other_scores = self.ranking.vote_rule != before.ranking.vote_rule;
            if self.ranking.learns_prior() && (other_scores || !before.ranking.learns_prior()) {
                for ensemble in db.ensembles_in_force()? {
                    db.keep_prior(ensemble, db.learn_prior(ensemble)?)?;
                }
            }
            // Tastes are relative to the variance of scores, which follows from the prior and φ.
            if self.ranking.learns_tastes() {
                for ensemble in db.ensembles_in_force()? {
                    db.keep_taste(ensemble, db.learn_taste(ensemble)?)?;
                }
            }
        }
        if self.rule != before.rule {
            db.set_final_rule(&self.rule)?;
        }
        Ok(())
    }

    /// These settings, with those of another copy of the project that were changed there later than
    /// here. A setting that nobody has changed is never taken.
    ///
    /// # Errors
    /// The settings of the other copy do not go together with these.
    #[cfg(feature = "remote")]
    pub fn with_later(
        &self,
        theirs: &Self,
        [ours_changed, theirs_changed]: [&[SettingChange]; 2],
    ) -> Result<Self> {
        /// The latest change to the current value. A merged log may have later changes whose values
        /// were not merged.
        fn latest<'a>(
            changes: &'a [SettingChange],
            words: &BTreeMap<String, String>,
            name: &str,
        ) -> Option<(i64, &'a str)> {
            let now = words.get(name).map_or("none", String::as_str);
            let of_name = changes.iter();
            let of_name = of_name.filter(|change| change.setting == name && change.after == now);
            of_name
                .map(|change| (change.changed_ms, change.uid.as_str()))
                .max()
        }
        let words = [self.words(), theirs.words()];
        let is_later = |name: &str| {
            latest(theirs_changed, &words[1], name) > latest(ours_changed, &words[0], name)
        };
        let mut new = self.clone();
        if is_later("final") {
            new.rule.clone_from(&theirs.rule);
        }
        if is_later("guideline") {
            new.guideline.clone_from(&theirs.guideline);
        }
        if is_later("domain-note") {
            new.domain_note.clone_from(&theirs.domain_note);
        }
        if is_later("language-note") {
            new.language_note.clone_from(&theirs.language_note);
        }
        let (ours, theirs) = (json_of(&self.ranking)?, json_of(&theirs.ranking)?);
        let merged: Map<String, Value> = ours
            .into_iter()
            .map(|(name, value)| {
                let later = theirs
                    .get(&name)
                    .filter(|_| is_later(&name.replace('_', "-")));
                let value = later.cloned().unwrap_or(value);
                (name, value)
            })
            .collect();
        new.ranking = serde_json::from_value(merged.into())?;
        Ok(new)
    }

    /// The settings that differ, each with its old and new value in words.
    pub fn changes_from(&self, before: &Self) -> Vec<(String, [String; 2])> {
        let words = [before, self].map(Self::words);
        let mut names: Vec<&String> = words.iter().flat_map(BTreeMap::keys).collect();
        names.sort();
        names.dedup();
        names
            .into_iter()
            .map(|name| {
                let value = |of: &BTreeMap<String, String>| of.get(name).cloned();
                let values =
                    [&words[0], &words[1]].map(|of| value(of).unwrap_or_else(|| "none".to_owned()));
                (name.clone(), values)
            })
            .filter(|(_, [before, after])| before != after)
            .collect()
    }

    /// Each setting in words, by name.
    fn words(&self) -> BTreeMap<String, String> {
        let mut words = BTreeMap::new();
        if let Ok(Value::Object(ranking)) = serde_json::to_value(self.ranking) {
            for (name, value) in ranking.into_iter().filter(|(_, value)| !value.is_null()) {
                let value = value.as_str().map_or(value.to_string(), str::to_owned);
                words.insert(name.replace('_', "-"), value);
            }
        }
        let rule = match &self.rule {
            FinalRule::Adjudicator(name) => format!("adjudicator {name}"),
            rule => rule.name().to_owned(),
        };
        words.insert("final".to_owned(), rule);
        if let Some(text) = &self.guideline {
            words.insert("guideline".to_owned(), guideline_words(text));
        }
        let notes = [
            ("domain-note", &self.domain_note),
            ("language-note", &self.language_note),
        ];
        for (name, note) in notes {
            words.extend(note.clone().map(|text| (name.to_owned(), text)));
        }
        words
    }
}

/// The settings of a ranking by name; those that are not set are null.
#[cfg(feature = "remote")]
fn json_of(settings: &RankingSettings) -> Result<Map<String, Value>> {
    match serde_json::to_value(settings)? {
        Value::Object(settings) => Ok(settings),
        _ => Err(StoreError::Internal(
            "the settings are no object".to_owned(),
        )),
    }
}

/// The first line of a guideline, and the hash that is stored with verdicts.
fn guideline_words(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let first: String = first.unwrap_or_default().chars().take(60).collect();
    format!("{first:?} (SHA-256 {})", guideline_hash(text))
}

/// The parameters of one judge in a joint fit with documents.
#[derive(Clone, Debug)]
pub struct FittedJudge {
    pub name: String,
    /// Sharpness.
    pub beta: f64,
    /// Position bias.
    pub gamma: f64,
    pub votes: usize,
    pub basis: ParameterBasis,
}

/// Fits documents and judges jointly and stores the judges' parameters.
pub fn fit_judges(store: &Store, lambda: f64) -> std::result::Result<Vec<FittedJudge>, AppError> {
    let (raters, ratings) = all_ratings(store, None)?;
    let fitted = judge_model(&ratings, lambda).map_err(|error| {
        AppError::Failed(format!(
            "judges and documents cannot be fitted together: {error}"
        ))
    })?;
    let mut responses = BTreeMap::new();
    let mut judges = Vec::new();
    for judge in &fitted.judges {
        let known = raters.get(judge.judge);
        if let Some((id, _)) = known {
            responses.insert(id.0, (judge.beta, judge.gamma));
        }
        judges.push(FittedJudge {
            name: known.map_or_else(String::new, |(_, spec)| spec.name.clone()),
            beta: judge.beta,
            gamma: judge.gamma,
            votes: judge.votes,
            basis: judge.basis,
        });
    }
    store.write_blocking(move |db| db.set_judge_responses(&responses))?;
    Ok(judges)
}

/// Estimates and stores each judge's margin curve. Returns the judges by name, with a curve if
/// there was enough data.
pub fn calibrate_margins(store: &Store) -> Result<Vec<(String, Option<CalibratedMargins>)>> {
    let (known, ratings) = all_ratings(store, None)?;
    let verdicts = rater_report(store, None)?.rater_data.verdicts;
    let mut fitted = margin_curves(&ratings, &verdicts);
    let mut curves = BTreeMap::new();
    let mut judges = Vec::new();
    for (at, (id, spec)) in known.iter().enumerate() {
        let calibrated = fitted.remove(&at);
        curves.extend(calibrated.as_ref().map(|found| (id.0, found.curve.clone())));
        judges.push((spec.name.clone(), calibrated));
    }
    store.write_blocking(move |db| db.set_margin_curves(&curves))?;
    Ok(judges)
}
