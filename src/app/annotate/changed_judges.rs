//! Judges that are no longer the ones who cast the votes under their name.

use crate::app::wording::counted;
use crate::domain::sanitise;
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, JudgeSpec, identity_of};
use crate::store::{Db, Store, StoreError};
use serde::Serialize;
use std::fmt;

/// A judge whose votes of before do not count for it as it is configured now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedJudge {
    pub name: String,
    /// What is different: `provider`, `model`, `prompt` or `params`, each with what it was and what it is.
    pub changes: Vec<JudgeChange>,
    /// Votes that are kept and not used.
    pub votes: usize,
}

/// One thing that is different about a judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgeChange {
    pub what: &'static str,
    pub before: String,
    pub now: String,
}

impl ChangedJudge {
    /// Those of an ensemble that have no vote in the project, while another judge of their name has some.
    pub fn of(store: &Store, ensemble: &JudgeEnsemble) -> Result<Vec<Self>, StoreError> {
        let specs: Vec<JudgeSpec> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
        store.read_blocking(move |db| {
            let known = db.all_judges()?;
            let changed = specs.iter().map(|spec| changed(db, spec, &known));
            let changed = changed.collect::<Result<Vec<_>, _>>()?;
            Ok(changed.into_iter().flatten().collect())
        })
    }
}

fn changed(
    db: &Db,
    now: &JudgeSpec,
    known: &[(JudgeId, JudgeSpec)],
) -> Result<Option<ChangedJudge>, StoreError> {
    let mut latest = None;
    for (id, before) in known.iter().filter(|(_, known)| known.name == now.name) {
        let votes = db.votes_of(*id)?;
        if before.is_same_judge(now) && votes > 0 {
            return Ok(None);
        }
        if !before.is_same_judge(now) && votes > 0 {
            latest = Some((before, votes));
        }
    }
    Ok(latest.map(|(before, votes)| ChangedJudge {
        name: now.name.clone(),
        changes: differences(before, now),
        votes,
    }))
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
        let Self { name, votes, .. } = self;
        write!(f, "{} is another judge than before: ", sanitise::line(name))?;
        for (at, JudgeChange { what, before, now }) in self.changes.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            match *what {
                // A hash says nothing to anybody.
                "prompt" => write!(f, "{comma}its prompt has changed")?,
                _ => {
                    let (before, now) = (sanitise::line(before), sanitise::line(now));
                    write!(f, "{comma}{what} {before} → {now}")?;
                }
            }
        }
        write!(
            f,
            "; not reused: {} of before, which stay in the project. Set it back to use them, or give it another name to \
             keep both.",
            counted(*votes, "vote")
        )
    }
}
