//! Replaces the prompt of a judge: edits `overrule.toml` and logs the change.

use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::output_file::write_whole;
use crate::client::now_ms;
use crate::domain::sanitize;
use crate::domain::vote::JudgeId;
use crate::features::prompts::domain::PromptVersion;
use crate::formats::file;
use crate::judge::ensemble::{FILE, JudgeEdit, JudgesFile};
use crate::judge::{Judge, JudgeEnsemble, JudgeSpec};
use crate::store::judges::EnsembleId;
use crate::store::setting_changes::SettingChange;
use crate::store::{Db, Store, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of prompts next to `overrule.toml`.
const FOLDER: &str = "prompts";
/// Stands in the log for a judge without the setting `prompt`.
const DEFAULT: &str = "(default)";
/// Stands in the log for a judge that is not in the file.
const NONE: &str = "(none)";

/// A prepared change of a judge's prompt.
#[derive(Debug)]
pub struct Replacement {
    pub judge: String,
    /// The judge that it is a copy of, if it is added.
    pub copied: Option<String>,
    edit: JudgeEdit,
    /// The value of `prompt` in the file, before and after.
    pub before: String,
    pub after: String,
    /// The text of the prompt file to write, if the prompt is not built in.
    text: Option<String>,
    folder: PathBuf,
    /// All judges after the change.
    pub ensemble: JudgeEnsemble,
    /// Votes under other prompts of this judge that count now.
    pub stale_votes: usize,
    pub notes: Vec<String>,
}

/// Prepares `judge` to be asked with a version of its prompt, or a copy of it named `copy`. Changes
/// nothing.
///
/// # Errors
/// The judge or its file cannot be changed, or the judge would show other metadata or another
/// guideline than the version does.
pub fn prepare_replacement(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judge: &str,
    version: &PromptVersion,
    text: &str,
    copy: Option<&str>,
) -> Result<Replacement, AppError> {
    let folder = folder_of(configuration.project);
    let (file_text, file) = read_file(&folder)?;
    let shown = sanitize::line(judge);
    let config = file.judges.iter().find(|config| config.name == judge);
    let config = config.ok_or_else(|| invalid!("{FILE} has no judge {shown:?}"))?;
    let built_in = version
        .name
        .filter(|_| version.text.as_deref() == Some(text));
    let after = built_in.map_or_else(|| format!("{FOLDER}/{}.md", version.hash), str::to_owned);
    let name = copy.unwrap_or(judge);
    let before = match copy {
        Some(_) => NONE.to_owned(),
        None => config.prompt.clone().unwrap_or_else(|| DEFAULT.to_owned()),
    };
    let edit = match copy {
        Some(name) => JudgeEdit::Copy {
            judge: judge.to_owned(),
            name: name.to_owned(),
            prompt: after.clone(),
        },
        None => JudgeEdit::SetPrompt {
            judge: judge.to_owned(),
            prompt: Some(after.clone()),
        },
    };
    edit.edit(&file_text)
        .map_err(|error| invalid!("{FILE}: {error}"))?;
    let chosen = configuration.choose_edited(&edit, name, text)?;
    let new = named(&chosen.ensemble, name)?;
    if new.spec().prompt_hash != version.hash {
        return Err(
            if new.prompt_text().map(|of| of.fields) == Some(version.fields.clone()) {
                invalid!(
                    "prompt {} was stored with another guideline or note than the project has now; \
                 store its text again: `overrule prompt export {0} FILE`, then `overrule prompt \
                 edit {0} --file FILE`",
                    version.hash
                )
            } else {
                invalid!(
                    "prompt {} shows other metadata than {shown} does; `metadata` in {FILE} decides \
                 what a judge is shown",
                    version.hash
                )
            },
        );
    }
    let spec = new.spec().clone();
    let stale_votes = match copy {
        Some(_) => 0,
        None => store.read_blocking(move |db| stale_votes(db, &spec))?,
    };
    Ok(Replacement {
        judge: name.to_owned(),
        copied: copy.map(|_| judge.to_owned()),
        edit,
        before,
        text: built_in.is_none().then(|| text.to_owned()),
        after,
        folder,
        ensemble: chosen.ensemble,
        stale_votes,
        notes: chosen.notes,
    })
}

impl Replacement {
    /// Writes the prompt and `overrule.toml`, and logs the change.
    pub fn carry_out(&self, store: &Store, author: &str) -> Result<(), AppError> {
        if let Some(text) = &self.text {
            let folder = self.folder.join(FOLDER);
            std::fs::create_dir_all(&folder)
                .map_err(|error| invalid!("{}: {error}", folder.display()))?;
            write_prompt(&self.folder.join(&self.after), text)?;
        }
        // The file is read again: the user may have edited it while the price was shown.
        edit_file(&self.folder, &self.edit)?;
        log_change(store, &self.judge, author, &self.before, &self.after)
    }

    /// Whether the file changes.
    pub fn changes_file(&self) -> bool {
        self.before != self.after
    }
}

/// An undone change of a judge's prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneReplacement {
    /// The value of `prompt` in the file, before and after the undo.
    pub before: String,
    pub after: String,
    /// Whether the judge was removed, because the change had added it.
    pub is_removed: bool,
}

/// Undoes the latest change of a judge's prompt.
///
/// # Errors
/// There is none, or the file has changed since.
pub fn undo_replacement(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judge: &str,
    author: &str,
) -> Result<UndoneReplacement, AppError> {
    let setting = setting_of(judge);
    let changes = store.read_blocking(|db| db.setting_changes())?;
    let mut done: Vec<&SettingChange> = Vec::new();
    for change in changes.iter().filter(|change| change.setting == setting) {
        // An undo is a change back.
        let is_undo = done
            .last()
            .is_some_and(|last| last.before == change.after && last.after == change.before);
        if is_undo {
            done.pop();
        } else {
            done.push(change);
        }
    }
    let shown = sanitize::line(judge);
    let Some(last) = done.last() else {
        return Err(invalid!(
            "`prompt use` has not changed the prompt of {shown}, or the change was undone"
        ));
    };
    let folder = folder_of(configuration.project);
    let (_, file) = read_file(&folder)?;
    let now = file.judges.iter().find(|config| config.name == judge);
    let now = now.map_or(NONE, |config| config.prompt.as_deref().unwrap_or(DEFAULT));
    if now != last.after {
        return Err(invalid!(
            "the prompt of {shown} in {FILE} is {now:?} and not {:?}: the file has changed since, \
             so there is nothing to undo",
            last.after
        ));
    }
    let edit = match last.before.as_str() {
        NONE => JudgeEdit::RemoveCopy {
            judge: judge.to_owned(),
        },
        before => JudgeEdit::SetPrompt {
            judge: judge.to_owned(),
            prompt: Some(before.to_owned()).filter(|before| before != DEFAULT),
        },
    };
    edit_file(&folder, &edit)?;
    let (before, after) = (last.after.clone(), last.before.clone());
    log_change(store, judge, author, &before, &after)?;
    Ok(UndoneReplacement {
        is_removed: after == NONE,
        before,
        after,
    })
}

fn setting_of(judge: &str) -> String {
    format!("prompt of {judge}")
}

fn log_change(
    store: &Store,
    judge: &str,
    author: &str,
    before: &str,
    after: &str,
) -> Result<(), AppError> {
    if before == after {
        return Ok(());
    }
    let (before, after) = (before.to_owned(), after.to_owned());
    let change = SettingChange::new(author, &setting_of(judge), before, after, now_ms());
    Ok(store.write_blocking(move |db| db.add_setting_change(&change))?)
}

fn write_text(path: &Path, text: &str) -> Result<(), AppError> {
    write_whole(path, |out| Ok(out.write_all(text.as_bytes())?))
}

/// Writes the file of a prompt, unless it has been edited since it was written.
fn write_prompt(path: &Path, text: &str) -> Result<(), AppError> {
    match file::read_to_string(path) {
        Ok(found) if found == text => Ok(()),
        Ok(_) => Err(invalid!(
            "{}: has another text than the prompt that it is named after; rename it, or store its \
             text with `prompt edit`",
            path.display()
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => write_text(path, text),
        Err(error) => Err(invalid!("{}: cannot be read: {error}", path.display())),
    }
}

/// Edits `overrule.toml`, whose permissions stay as they are.
fn edit_file(folder: &Path, edit: &JudgeEdit) -> Result<(), AppError> {
    let (text, _) = read_file(folder)?;
    let edited = edit
        .edit(&text)
        .map_err(|error| invalid!("{FILE}: {error}"))?;
    let path = folder.join(FILE);
    let permissions = std::fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(invalid!("{FILE} is read-only"));
    }
    write_text(&path, &edited)?;
    Ok(std::fs::set_permissions(&path, permissions)?)
}

fn folder_of(project: &Path) -> PathBuf {
    let folder = project.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

fn read_file(folder: &Path) -> Result<(String, JudgesFile), AppError> {
    let path = folder.join(FILE);
    let text = file::read_to_string(&path).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            invalid!("there is no {FILE} next to the project; `overrule init` writes one")
        } else {
            invalid!("{}: cannot be read: {error}", path.display())
        }
    })?;
    let file = JudgesFile::parse(&text).map_err(|error| invalid!("{FILE}: {error}"))?;
    Ok((text, file))
}

fn named(ensemble: &JudgeEnsemble, name: &str) -> Result<Arc<dyn Judge>, AppError> {
    let found = ensemble.iter().find(|judge| judge.spec().name == name);
    found
        .cloned()
        .ok_or_else(|| invalid!("no judge is called {:?}", sanitize::line(name)))
}

/// The votes of judges with the name of `new` that count for a query and are not votes of `new`.
fn stale_votes(db: &Db, new: &JudgeSpec) -> Result<usize, StoreError> {
    let mut votes = 0;
    for ensemble in db.ensembles_in_force()? {
        let queries = db.queries_of(ensemble)?;
        for judge in stale_judges(db, ensemble, new)? {
            votes += db.votes_of_judge_on(judge, &queries)?;
        }
    }
    Ok(votes)
}

fn stale_judges(
    db: &Db,
    ensemble: EnsembleId,
    new: &JudgeSpec,
) -> Result<Vec<JudgeId>, StoreError> {
    let judges = db.ensemble_judges(ensemble)?;
    let stale = judges
        .into_iter()
        .filter(|(_, spec)| spec.name == new.name && !spec.is_same_judge(new));
    Ok(stale.map(|(id, _)| id).collect())
}
