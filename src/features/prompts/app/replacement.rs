//! Replaces the prompt of a judge: edits `overrule.toml`, logs the change, and lets the answers of
//! trials stand for votes, so that they are not bought again.

use super::trial::{PromptTrial, TrialPairs, TrialRequest, TrialVote, prepare_trial};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::output_file::write_whole;
use crate::client::now_ms;
use crate::domain::sanitize;
use crate::domain::vote::JudgeId;
use crate::features::prompts::domain::{PromptVersion, SetPart};
use crate::formats::file;
use crate::judge::ensemble::{FILE, JudgeEdit, JudgesFile};
use crate::judge::{Judge, JudgeEnsemble, JudgeReply, JudgeSpec, Usage};
use crate::store::judges::EnsembleId;
use crate::store::setting_changes::SettingChange;
use crate::store::votes::{CallOutcome, CallRecord, Recorded};
use crate::store::{Db, Store, StoreError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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
    /// Answers of trials that will stand for votes.
    pub known: Vec<TrialVote>,
    pub notes: Vec<String>,
}

/// Prepares `judge` to be asked with a version of its prompt, or a copy of it named `copy`. Changes
/// nothing.
///
/// # Errors
/// The judge or its file cannot be changed, or the judge would show other metadata than the version
/// does.
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
        return Err(invalid!(
            "prompt {} shows other metadata than {shown} does; `metadata` in {FILE} decides what a \
             judge is shown",
            version.hash
        ));
    }
    let known = match copy {
        Some(_) => Vec::new(),
        None => trial_votes(store, configuration, judge, version, text)?,
    };
    let spec = new.spec().clone();
    let stale_votes = match copy {
        Some(_) => 0,
        None => store.read_blocking(move |db| stale_votes(db, &spec))?,
    };
    Ok(Replacement {
        judge: name.to_owned(),
        edit,
        before,
        text: built_in.is_none().then(|| text.to_owned()),
        after,
        folder,
        ensemble: chosen.ensemble,
        stale_votes,
        known,
        notes: chosen.notes,
    })
}

impl Replacement {
    /// Writes the prompt, stores the answers of trials as votes, writes `overrule.toml`, and logs the
    /// change. Returns the number of these votes.
    pub fn carry_out(&self, store: &Store, author: &str) -> Result<usize, AppError> {
        if let Some(text) = &self.text {
            let folder = self.folder.join(FOLDER);
            std::fs::create_dir_all(&folder)
                .map_err(|error| invalid!("{}: {error}", folder.display()))?;
            write_prompt(&self.folder.join(&self.after), text)?;
        }
        // Before the file names the prompt, or a run after a crash would buy these answers again.
        let stored = self.store_votes(store)?;
        // The file is read again: the user may have edited it while the price was shown.
        edit_file(&self.folder, &self.edit)?;
        log_change(store, &self.judge, author, &self.before, &self.after)?;
        Ok(stored)
    }

    fn store_votes(&self, store: &Store) -> Result<usize, AppError> {
        if self.known.is_empty() {
            return Ok(0);
        }
        let judge = named(&self.ensemble, &self.judge)?;
        let known = self.known.clone();
        Ok(store.write_blocking(move |db| {
            db.atomically(|db| {
                let id = db.judge(judge.spec())?;
                let mut stored = 0;
                for vote in &known {
                    stored += usize::from(stand_for_vote(db, judge.as_ref(), id, vote)?);
                }
                Ok(stored)
            })
        })?)
    }

    /// Whether the file changes.
    pub fn changes_file(&self) -> bool {
        self.before != self.after
    }
}

/// Undoes the latest change of a judge's prompt. Returns the value of `prompt` before and after.
///
/// # Errors
/// There is none, or the file was changed since.
pub fn undo_replacement(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judge: &str,
    author: &str,
) -> Result<(String, String), AppError> {
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
        NONE => JudgeEdit::Remove {
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
    Ok((before, after))
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

/// The answers of trials of this version, on both parts of the regression set.
fn trial_votes(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judge: &str,
    version: &PromptVersion,
    text: &str,
) -> Result<Vec<TrialVote>, AppError> {
    let mut votes = Vec::new();
    for part in [SetPart::Tuning, SetPart::HeldOut] {
        let request = TrialRequest {
            judge: judge.to_owned(),
            text: text.to_owned(),
            examples_of: version.examples.clone(),
            examples: 0,
            model: None,
            pairs: TrialPairs::All,
            part,
            retry: false,
        };
        let trial: PromptTrial = match prepare_trial(store, configuration, request) {
            Ok(trial) => trial,
            // Without pairs to try, there are no answers either.
            Err(AppError::Invalid(_)) => continue,
            Err(error) => return Err(error),
        };
        votes.extend(store.read_blocking(move |db| trial.votes(db))?);
    }
    Ok(votes)
}

/// Stores an answer of a trial as a vote that costs nothing, since the trial has paid for it.
/// Returns whether it was stored: a judge has one vote on a battle.
fn stand_for_vote(
    db: &Db,
    judge: &dyn Judge,
    id: JudgeId,
    vote: &TrialVote,
) -> Result<bool, StoreError> {
    let run = db.latest_run_id()?;
    if run.is_none() || db.has_voted(vote.battle, id)? {
        return Ok(false);
    }
    // The pair is shown with its earlier document first, or the other way round; the battle may
    // store it in either order.
    let later_first = vote.shown.first > vote.shown.second;
    let swapped = later_first != db.is_reversed(vote.battle)?;
    let margin = vote.reply.margin;
    let reply = JudgeReply {
        text: vote.reply.raw.clone().unwrap_or_default(),
        outside: None,
        model: vote.reply.model.clone(),
        stop_reason: None,
        request_id: None,
        usage: Usage::default(),
        cost_usd: None,
        latency: Duration::ZERO,
        fingerprint: None,
        odds: None,
        limits: Default::default(),
    };
    let thoughts = judge
        .parse(&vote.shown, &reply)
        .map(|opinion| opinion.thoughts);
    let record = CallRecord {
        battle: vote.battle,
        judge: id,
        swapped,
        attempt: 1,
        usage: Usage::default(),
        cost_usd: Some(0.0),
        latency_ms: None,
        truncated: vote.reply.truncated,
        call_key: Some(vote.key),
        run,
        created_ms: now_ms(),
        raw: vote.reply.raw.clone(),
        result: CallOutcome::Vote {
            margin: if swapped { margin.flipped() } else { margin },
            reasoning: thoughts.unwrap_or_default().join("\n"),
            model: vote.reply.model.clone(),
            stop_reason: None,
            request_id: None,
        },
    };
    Ok(db.record(&record)? == Recorded::Kept)
}
