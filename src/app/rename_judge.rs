//! Moves the votes of a judge that was renamed in `overrule.toml` to its new name.

use super::error::{AppError, invalid};
use crate::domain::named::did_you_mean;
use crate::domain::sanitize;
use crate::store::Store;
use crate::store::judge_names::NewJudgeName;

/// Moves the votes of the judges named `old` to the judges named `new`. The caller holds the run
/// lock.
///
/// # Errors
/// No judge is named `old`, or one of the names is invalid.
pub fn rename_judge(store: &Store, old: &str, new: &str) -> Result<NewJudgeName, AppError> {
    if new.trim().is_empty() || new == old {
        return Err(invalid!(
            "--rename: the new name is empty or equal to the old one"
        ));
    }
    let (old, new) = (old.to_owned(), new.to_owned());
    store.write_blocking(move |db| {
        let known = db.all_judges()?;
        if known.iter().all(|(_, spec)| spec.name != old) {
            let names: Vec<&str> = known.iter().map(|(_, spec)| spec.name.as_str()).collect();
            let near = did_you_mean(&old, names);
            return Ok(Err(invalid!(
                "--rename: no judge of the project is called {}{near}; `overrule judges` lists them",
                sanitize::line(&old)
            )));
        }
        let offline = known
            .iter()
            .find(|(_, spec)| spec.is_offline() && [&old, &new].contains(&&spec.name));
        if let Some((_, offline)) = offline {
            return Ok(Err(invalid!(
                "--rename: {} is an offline judge, which keeps its name",
                sanitize::line(&offline.name)
            )));
        }
        Ok(Ok(db.rename_judge(&old, &new)?))
    })?
}
