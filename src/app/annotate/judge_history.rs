//! Finds votes that the judges of an ensemble cast under other settings, another name or another
//! seed, and votes of other judges that would no longer count, to report them before any call is
//! made.

use crate::app::text_format::{counted, first_of};
use crate::domain::sanitize;
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, JudgeSpec, identity_of};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use serde::Serialize;
use std::fmt;

/// Facts about earlier votes that a user should know before an ensemble is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JudgeHistory {
    /// Judges whose earlier votes are not reused because their settings changed.
    pub changed: Vec<ChangedJudge>,
    /// Judges without votes whose settings have votes under another name.
    pub renamed: Vec<RenamedJudge>,
    /// Judges whose votes were drawn with another seed and still count.
    pub reseeded: Vec<ReseededJudge>,
    /// Judges outside the ensemble whose votes count until the ensemble is asked.
    pub set_aside: Vec<SetAsideJudge>,
}

/// A judge whose votes no longer count once other judges are asked about the same queries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetAsideJudge {
    pub name: String,
    pub votes: usize,
    pub queries: usize,
}

/// The judges whose votes on these queries, or on all, count until the judges with these
/// specifications are asked.
pub fn set_aside(
    db: &Db,
    ensemble: &[JudgeSpec],
    queries: Option<&[QueryKey]>,
) -> Result<Vec<SetAsideJudge>, StoreError> {
    let asked = db.known_judges(ensemble)?;
    let counting = db.counting_judges(queries)?;
    Ok(counting
        .into_iter()
        .filter(|judge| !asked.contains(&judge.id))
        .map(|judge| SetAsideJudge {
            name: judge.name,
            votes: judge.votes,
            queries: judge.queries,
        })
        .collect())
}

/// A judge whose earlier votes do not count with its current settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedJudge {
    pub name: String,
    /// The settings that differ from the judge of the latest run: `provider`, `model`, `prompt` or
    /// `params`, each with the former and the current value.
    pub changes: Vec<JudgeChange>,
    /// All votes under this name, which are kept and not used.
    pub votes: usize,
    /// The votes with the settings of the latest run.
    pub votes_of_latest: usize,
}

/// A setting of a judge that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgeChange {
    pub what: &'static str,
    pub before: String,
    pub now: String,
}

/// A judge without votes, and a name under which the same provider, model, prompt and parameters
/// have votes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RenamedJudge {
    pub name: String,
    /// The name that has the votes.
    pub before: String,
    pub votes: usize,
}

/// A judge whose answers are drawn at random, with another seed than its latest answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReseededJudge {
    pub name: String,
    pub before: String,
    pub now: String,
    pub votes: usize,
}

/// The key under which the seed of a judge's latest answers is stored.
fn seed_setting(judge: JudgeId) -> String {
    format!("seed of judge {}", judge.0)
}

/// Stores the seed of a judge's latest answers.
pub(super) fn remember_seed(db: &Db, judge: JudgeId, seed: &str) -> Result<(), StoreError> {
    db.remember(&seed_setting(judge), seed)
}

impl JudgeHistory {
    /// The facts about an ensemble that is to be asked about these queries, or about all.
    pub fn of(
        store: &Store,
        ensemble: &JudgeEnsemble,
        queries: Option<Vec<QueryKey>>,
    ) -> Result<Self, StoreError> {
        let judges: Vec<(JudgeSpec, Option<String>)> = ensemble
            .iter()
            .map(|judge| (judge.spec().clone(), judge.seed()))
            .collect();
        store.read_blocking(move |db| {
            let calls = db.calls_by_judge()?;
            let known: Vec<KnownJudge> = db
                .all_judges()?
                .into_iter()
                .map(|(id, spec)| {
                    let votes = calls.get(&id).map_or(0, |(votes, _)| *votes as usize);
                    KnownJudge { id, spec, votes }
                })
                .filter(|known| known.votes > 0)
                .collect();
            let specs: Vec<JudgeSpec> = judges.iter().map(|(spec, _)| spec.clone()).collect();
            let mut history = Self {
                set_aside: set_aside(db, &specs, queries.as_deref())?,
                ..Self::default()
            };
            for (now, seed) in &judges {
                let same = known.iter().find(|known| known.spec.is_same_judge(now));
                if let Some(same) = same {
                    let reseeded = same.reseeded(db, seed.as_deref())?;
                    history.reseeded.extend(reseeded);
                    continue;
                }
                history.changed.extend(changed(db, now, &known)?);
                let in_ensemble =
                    |spec: &JudgeSpec| judges.iter().any(|(one, _)| one.is_same_judge(spec));
                let others = known.iter().filter(|known| !in_ensemble(&known.spec));
                history.renamed.extend(renamed(now, others));
            }
            Ok(history)
        })
    }

    /// One sentence per judge and fact.
    pub fn lines(&self) -> Vec<String> {
        let changed = self.changed.iter().map(ToString::to_string);
        let renamed = self.renamed.iter().map(ToString::to_string);
        let reseeded = self.reseeded.iter().map(ToString::to_string);
        let set_aside = self.set_aside_words();
        changed
            .chain(renamed)
            .chain(reseeded)
            .chain(set_aside)
            .collect()
    }

    /// Names the judges that other lines do not mention and whose votes will no longer count.
    fn set_aside_words(&self) -> Option<String> {
        let is_mentioned = |judge: &&SetAsideJudge| {
            let changed = self.changed.iter().map(|changed| &changed.name);
            let renamed = self.renamed.iter().map(|renamed| &renamed.before);
            changed.chain(renamed).any(|name| *name == judge.name)
        };
        let judges: Vec<&SetAsideJudge> = self
            .set_aside
            .iter()
            .filter(|judge| !is_mentioned(judge))
            .collect();
        let votes: usize = judges.iter().map(|judge| judge.votes).sum();
        let queries = judges.iter().map(|judge| judge.queries).max()?;
        let names: Vec<&str> = judges.iter().map(|judge| judge.name.as_str()).collect();
        Some(format!(
            "{} of {} on {} will be set aside, because the judges have changed. They stay in the \
             project: choose those judges again to use them.",
            counted(votes, "vote"),
            first_of(&names, SHOWN),
            counted(queries, "query")
        ))
    }
}

/// Maximum number of judges named whose votes are set aside.
const SHOWN: usize = 5;

/// A judge that has votes.
struct KnownJudge {
    id: JudgeId,
    spec: JudgeSpec,
    votes: usize,
}

impl KnownJudge {
    fn reseeded(&self, db: &Db, now: Option<&str>) -> Result<Option<ReseededJudge>, StoreError> {
        let before = db.remembered(&seed_setting(self.id))?;
        Ok(before
            .zip(now)
            .filter(|(before, now)| before != now)
            .map(|(before, now)| ReseededJudge {
                name: self.spec.name.clone(),
                before,
                now: now.to_owned(),
                votes: self.votes,
            }))
    }
}

fn changed(
    db: &Db,
    now: &JudgeSpec,
    known: &[KnownJudge],
) -> Result<Option<ChangedJudge>, StoreError> {
    let of_name: Vec<&KnownJudge> = known
        .iter()
        .filter(|known| known.spec.name == now.name)
        .collect();
    let in_runs = db.judges_of_runs(&now.name)?;
    let latest = in_runs
        .iter()
        .find_map(|id| of_name.iter().find(|known| known.id == *id));
    // Imported votes belong to no run: take the judge that was added last.
    Ok(latest.or(of_name.last()).map(|latest| ChangedJudge {
        name: now.name.clone(),
        changes: differences(&latest.spec, now),
        votes: of_name.iter().map(|known| known.votes).sum(),
        votes_of_latest: latest.votes,
    }))
}

fn renamed<'a>(
    now: &JudgeSpec,
    others: impl Iterator<Item = &'a KnownJudge>,
) -> Option<RenamedJudge> {
    let same = others.filter(|known| {
        let before = JudgeSpec {
            name: now.name.clone(),
            ..known.spec.clone()
        };
        before.is_same_judge(now)
    });
    same.max_by_key(|known| known.votes)
        .map(|known| RenamedJudge {
            name: now.name.clone(),
            before: known.spec.name.clone(),
            votes: known.votes,
        })
}

fn differences(before: &JudgeSpec, now: &JudgeSpec) -> Vec<JudgeChange> {
    let params = |spec: &JudgeSpec| identity_of(&spec.params);
    [
        ("provider", before.provider.clone(), now.provider.clone()),
        ("model", before.model.clone(), now.model.clone()),
        (
            "prompt",
            before.prompt_hash.clone(),
            now.prompt_hash.clone(),
        ),
        ("params", params(before), params(now)),
    ]
    .into_iter()
    .filter(|(_, before, now)| before != now)
    .map(|(what, before, now)| JudgeChange { what, before, now })
    .collect()
}

impl fmt::Display for ChangedJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            votes,
            votes_of_latest,
            ..
        } = self;
        write!(f, "{} is another judge than before: ", sanitize::line(name))?;
        for (at, JudgeChange { what, before, now }) in self.changes.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            match *what {
                // Hashes of prompts would not help the reader.
                "prompt" => write!(f, "{comma}its prompt has changed")?,
                _ => {
                    let (before, now) = (sanitize::line(before), sanitize::line(now));
                    write!(f, "{comma}{what} {before} → {now}")?;
                }
            }
        }
        let restored = if votes_of_latest == votes {
            "its settings to use them".to_owned()
        } else {
            let votes = counted(*votes_of_latest, "vote");
            format!("the settings of the latest run to use its {votes}")
        };
        write!(
            f,
            "; not reused: {}, which stay in the project. Restore {restored}, or give the judge \
             another name to keep both.",
            counted(*votes, "vote")
        )
    }
}

/// Quotes a name for use on a command line.
fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/".contains(c);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

impl fmt::Display for RenamedJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, before) = (sanitize::line(&self.name), sanitize::line(&self.before));
        write!(
            f,
            "{name} has no votes; {before} has {} of the same model, prompt and parameters, which \
             are not reused. If you \
             renamed {before}, run `overrule config judges --rename {} {}` to keep its votes.",
            counted(self.votes, "vote"),
            shell_word(&before),
            shell_word(&name)
        )
    }
}

impl fmt::Display for ReseededJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, before, now) = (
            sanitize::line(&self.name),
            sanitize::line(&self.before),
            sanitize::line(&self.now),
        );
        write!(
            f,
            "{name}: its seed changed from {before} to {now}. Its {} still count, because a judge \
             with another seed is the same \
             judge. Give it another name to collect votes with the new seed.",
            counted(self.votes, "vote")
        )
    }
}
