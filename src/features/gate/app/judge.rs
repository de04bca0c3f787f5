//! Finds the judges that a gate compares.

use crate::app::error::{AppError, invalid};
use crate::app::judge_report::rater_data::JudgedQueries;
use crate::domain::named::did_you_mean;
use crate::domain::sanitize;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::store::{Db, StoreError};

/// A judge of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct GateJudge {
    /// `None` for a judge that has not voted.
    pub id: Option<JudgeId>,
    pub spec: JudgeSpec,
}

impl GateJudge {
    /// The judge called `NAME`, or the one of several with this name that is meant by
    /// `NAME@VERSION`: the start of its prompt's hash, or its model. Among several judges called
    /// `NAME`, those whose votes count for some query come first.
    ///
    /// # Errors
    /// There is no such judge, or there are several.
    pub fn find(db: &Db, reference: &str) -> Result<Self, AppError> {
        let all: Vec<Self> = db
            .all_judges()?
            .into_iter()
            .map(|(id, spec)| Self { id: Some(id), spec })
            .collect();
        let mut found: Vec<&Self> = all.iter().filter(|of| of.spec.name == reference).collect();
        if let (true, Some((name, version))) = (found.is_empty(), reference.rsplit_once('@')) {
            found = all
                .iter()
                .filter(|of| of.spec.name == name && of.is_version(version))
                .collect();
        }
        if found.len() > 1 {
            let counting = JudgedQueries::read(db, None)?.judges;
            let counts = |of: &&&Self| counting.iter().any(|(id, _)| Some(*id) == of.id);
            if found.iter().filter(counts).count() == 1 {
                found = found.iter().filter(counts).copied().collect();
            }
        }
        let shown = sanitize::line(reference);
        match found[..] {
            [one] => Ok(one.clone()),
            [] => {
                let names = all.iter().map(|of| &of.spec.name);
                let similar = did_you_mean(reference, names);
                Err(invalid!(
                    "no judge is called {shown:?}{}; `overrule judges` lists the judges",
                    sanitize::line(&similar)
                ))
            }
            _ => {
                let versions: Vec<String> = found.iter().map(|of| of.version()).collect();
                Err(invalid!(
                    "several judges are called {shown:?}; name one of {}",
                    sanitize::line(&versions.join(", "))
                ))
            }
        }
    }

    /// The judge of this specification, which may not be in the project.
    pub fn of_spec(db: &Db, spec: JudgeSpec) -> Result<Self, StoreError> {
        let known = db.all_judges()?.into_iter();
        let known = known.rev().find(|(_, of)| of.is_same_judge(&spec));
        Ok(Self {
            id: known.map(|(id, _)| id),
            spec,
        })
    }

    fn is_version(&self, version: &str) -> bool {
        let is_hash = version.len() >= 4 && self.spec.prompt_hash.starts_with(version);
        is_hash || self.spec.model == version
    }

    /// Its name with its prompt and model.
    fn version(&self) -> String {
        let JudgeSpec {
            name,
            prompt_hash,
            model,
            ..
        } = &self.spec;
        format!("{name}@{prompt_hash} ({model})")
    }
}
