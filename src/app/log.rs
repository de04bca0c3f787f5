//! The audit log: all verdicts and rulings, undos, choices in duels, imported files, changed
//! settings and runs, and the judges' calls for picks, reranking and score calibration, based on
//! rows that never change.

pub mod rows;

use crate::domain::adjudication::Finding;
use crate::domain::corpus::DocId;
use crate::domain::verdict::{DecisionChange, VerdictEvent, decision_changes};
use crate::registry;
use crate::store::corpus::QueryKey;
use crate::store::days::AskedDay;
use crate::store::imports::ImportRow;
use crate::store::rulings::StoredRuling;
use crate::store::setting_changes::SettingChange;
use crate::store::verdicts::{StoredVerdict, VerdictUndo};
use crate::store::{Db, Result};
use std::collections::HashMap;

/// An event in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogEntry {
    /// In milliseconds since the Unix epoch.
    pub when_ms: i64,
    /// UID of the verdict, undo, import, run, duel or duel event.
    pub uid: String,
    pub event: LogEvent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum LogEvent {
    Verdict(Box<StoredVerdict>, DecisionChange),
    /// A verdict was undone.
    Undo {
        by: String,
        verdict: Box<StoredVerdict>,
        change: DecisionChange,
    },
    Ruling(Box<StoredRuling>, RulingChange),
    /// A ruling was undone.
    RulingUndo {
        by: String,
        ruling: Box<StoredRuling>,
        change: RulingChange,
    },
    /// A file was imported.
    Import(ImportRow),
    /// A setting of the project was changed.
    Setting(SettingChange),
    RunBegun {
        seed: u64,
        cycles: usize,
        judges: Vec<String>,
    },
    /// A judge's first vote in which the provider named a different model than before.
    ModelChanged {
        judge: String,
        before: String,
        now: String,
    },
    /// A run ended, with this state.
    RunEnded(String),
    /// A judge was asked which documents of pools are relevant.
    Picks(AskedDay),
    Feature(Box<FeatureEvent>),
}

/// An event of a feature, as a row of the log shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureEvent {
    pub name: &'static str,
    pub who: Option<String>,
    pub query: Option<String>,
    pub document: Option<DocId>,
    pub note: Option<String>,
    pub role: Option<String>,
    pub about: Option<String>,
}

/// An annotator's finding on a document before and after; `None` for no finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RulingChange {
    pub before: Option<Finding>,
    pub after: Option<Finding>,
}

impl LogEntry {
    pub fn who(&self) -> Option<&str> {
        match &self.event {
            LogEvent::Verdict(verdict, _) => Some(&verdict.verdict.annotator),
            LogEvent::Undo { by, .. } | LogEvent::RulingUndo { by, .. } => Some(by),
            LogEvent::Ruling(ruling, _) => Some(&ruling.ruling.annotator),
            LogEvent::Import(import) => Some(&import.by),
            LogEvent::Setting(change) => Some(&change.by),
            LogEvent::Feature(event) => event.who.as_deref(),
            LogEvent::RunBegun { .. }
            | LogEvent::RunEnded(_)
            | LogEvent::ModelChanged { .. }
            | LogEvent::Picks(_) => None,
        }
    }

    /// Whether a participant of a feature did this.
    fn is_by_participant(&self) -> bool {
        matches!(&self.event, LogEvent::Feature(event) if event.who.is_some())
    }

    /// The verdict that was given or undone, and the resulting change.
    pub fn verdict(&self) -> Option<(&StoredVerdict, DecisionChange)> {
        match &self.event {
            LogEvent::Verdict(verdict, change)
            | LogEvent::Undo {
                verdict, change, ..
            } => Some((verdict, *change)),
            _ => None,
        }
    }

    /// The ruling that was made or undone, and the resulting change.
    pub fn ruling(&self) -> Option<(&StoredRuling, RulingChange)> {
        match &self.event {
            LogEvent::Ruling(ruling, change) | LogEvent::RulingUndo { ruling, change, .. } => {
                Some((ruling, *change))
            }
            _ => None,
        }
    }
}

/// All events, earliest first: of one query, or of the whole project including imports and runs.
pub fn log_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let verdicts = db.verdicts_ever(query)?;
    let of: HashMap<&str, &StoredVerdict> = verdicts
        .iter()
        .map(|row| (row.verdict.uid.as_str(), row))
        .collect();
    let undos = db.verdict_undos()?;
    let undos: Vec<(&VerdictUndo, &StoredVerdict)> = undos
        .iter()
        .filter_map(|undo| Some((undo, *of.get(undo.verdict.as_str())?)))
        .collect();
    enum VerdictAct<'a> {
        Gave(&'a StoredVerdict),
        TookBack(&'a VerdictUndo, &'a StoredVerdict),
    }
    let gave = verdicts.iter().map(|row| {
        let verdict = &row.verdict;
        (
            (row.order_ms, 0, verdict.uid.as_str()),
            VerdictAct::Gave(row),
        )
    });
    // A verdict comes before its undo even if the clocks of two machines disagree.
    let took = undos.into_iter().map(|(undo, row)| {
        let when = undo.order_ms.max(row.order_ms);
        (
            (when, 1, undo.uid.as_str()),
            VerdictAct::TookBack(undo, row),
        )
    });
    let mut acts: Vec<_> = gave.chain(took).collect();
    acts.sort_by_key(|(key, _)| *key);
    let changes = decision_changes(acts.iter().map(|(_, act)| match act {
        VerdictAct::Gave(row) => VerdictEvent::Gave {
            query: row.query,
            verdict: &row.verdict,
            replaces: row.replaces.as_deref(),
        },
        VerdictAct::TookBack(undo, _) => VerdictEvent::TookBack(&undo.verdict),
    }));
    let mut entries: Vec<((i64, i64), LogEntry)> = Vec::new();
    for (((when, rank, uid), act), change) in acts.into_iter().zip(changes) {
        let (when_ms, event) = match act {
            VerdictAct::Gave(row) => (
                row.verdict.created_ms,
                LogEvent::Verdict(Box::new(row.clone()), change),
            ),
            VerdictAct::TookBack(undo, row) => {
                let verdict = Box::new(row.clone());
                let by = undo.annotator.clone();
                (
                    undo.created_ms,
                    LogEvent::Undo {
                        by,
                        verdict,
                        change,
                    },
                )
            }
        };
        let uid = uid.to_owned();
        entries.push((
            (when, rank),
            LogEntry {
                when_ms,
                uid,
                event,
            },
        ));
    }
    entries.extend(ruling_entries(db, query)?);
    // People react to earlier events, so at the same time theirs come last.
    let ranked = |entry: LogEntry| {
        let rank = if entry.is_by_participant() { 0 } else { -1 };
        ((entry.when_ms, rank), entry)
    };
    for entries_of in registry::LOGS {
        entries.extend(entries_of(db, query)?.into_iter().map(ranked));
    }
    entries.extend(pick_entries(db, query)?.into_iter().map(ranked));
    if query.is_none() {
        let imports = db.imports()?.into_iter().map(|import| LogEntry {
            when_ms: import.imported_ms,
            uid: import.uid.clone(),
            event: LogEvent::Import(import),
        });
        let settings = db.setting_changes()?.into_iter().map(|change| LogEntry {
            when_ms: change.changed_ms,
            uid: change.uid.clone(),
            event: LogEvent::Setting(change),
        });
        let others = imports
            .chain(settings)
            .chain(run_entries(db)?)
            .chain(model_entries(db)?);
        entries.extend(others.map(ranked));
    }
    // The UIDs make the order the same on every machine. The beginning and the end of a run share
    // one, and a stable sort keeps them in order.
    entries.sort_by(|(at, entry), (other_at, other)| (at, &entry.uid).cmp(&(other_at, &other.uid)));
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

/// Rulings and their undos in log order, each with its time and its rank among events at the same
/// time.
fn ruling_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<((i64, i64), LogEntry)>> {
    let rulings = db.rulings_ever()?;
    let of: HashMap<&str, &StoredRuling> = rulings
        .iter()
        .map(|row| (row.ruling.uid.as_str(), row))
        .collect();
    let undos = db.ruling_undos()?;
    let undone = undos.iter().filter_map(|undo| {
        let row = *of.get(undo.ruling.as_str())?;
        let when = undo.order_ms.max(row.order_ms);
        Some(((when, 1, undo.uid.as_str()), row, Some(undo)))
    });
    let made = rulings.iter().map(|row| {
        let ruling = &row.ruling;
        ((row.order_ms, 0, ruling.uid.as_str()), row, None)
    });
    let mut acts: Vec<_> = made.chain(undone).collect();
    acts.sort_by_key(|(key, ..)| *key);
    // Each annotator's current rulings on each document, latest last.
    let mut live: HashMap<_, Vec<&StoredRuling>> = HashMap::new();
    let mut entries = Vec::new();
    for ((order_ms, rank, uid), row, undo) in acts {
        let when_ms = undo.map_or(row.ruling.created_ms, |undo| undo.created_ms);
        let place = (row.query, &row.ruling.document, &row.ruling.annotator);
        let live = live.entry(place).or_default();
        let before = live.last().map(|row| row.ruling.finding);
        match undo {
            None => live.push(row),
            Some(_) => live.retain(|other| other.ruling.uid != row.ruling.uid),
        }
        let after = live.last().map(|row| row.ruling.finding);
        let change = RulingChange { before, after };
        let ruling = Box::new(row.clone());
        if query.is_none_or(|query| query == row.query) {
            let event = match undo {
                None => LogEvent::Ruling(ruling, change),
                Some(undo) => LogEvent::RulingUndo {
                    by: undo.annotator.clone(),
                    ruling,
                    change,
                },
            };
            let uid = uid.to_owned();
            entries.push((
                (order_ms, rank),
                LogEntry {
                    when_ms,
                    uid,
                    event,
                },
            ));
        }
    }
    Ok(entries)
}

/// Calls about pools, one entry per judge and day, at the time of the last call.
fn pick_entries(db: &Db, query: Option<QueryKey>) -> Result<Vec<LogEntry>> {
    let days = db.pick_days(query)?.into_iter();
    Ok(days
        .map(|day| LogEntry {
            when_ms: day.last_ms,
            uid: day.uid.clone(),
            event: LogEvent::Picks(day),
        })
        .collect())
}

/// Changes of judges' models, each at the first vote that names the new one.
fn model_entries(db: &Db) -> Result<Vec<LogEntry>> {
    let judges = db.answering_models_by_name()?;
    Ok(judges
        .iter()
        .flat_map(|(judge, models)| {
            models.windows(2).map(move |pair| LogEntry {
                when_ms: pair[1].first_ms,
                uid: format!("model:{judge}:{}", pair[1].model),
                event: LogEvent::ModelChanged {
                    judge: judge.clone(),
                    before: pair[0].model.clone(),
                    now: pair[1].model.clone(),
                },
            })
        })
        .collect())
}

fn run_entries(db: &Db) -> Result<Vec<LogEntry>> {
    let mut entries = Vec::new();
    for run in db.runs()? {
        let judges = db.ensemble_judges(run.ensemble)?.into_iter();
        entries.push(LogEntry {
            when_ms: run.started_ms,
            uid: run.uid.clone(),
            event: LogEvent::RunBegun {
                seed: run.seed,
                cycles: run.cycles,
                judges: judges.map(|(_, spec)| spec.name).collect(),
            },
        });
        if let Some((when_ms, state)) = run.ended {
            entries.push(LogEntry {
                when_ms,
                uid: run.uid,
                event: LogEvent::RunEnded(state),
            });
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::Decision;
    use crate::store::verdicts::NewVerdict;
    use crate::suites::fixtures::pool;

    #[test]
    fn events_at_the_same_time_are_in_the_order_of_their_uids_and_verdicts_come_last() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(1, 3), "set").unwrap().key();
        let verdict = NewVerdict {
            created_ms: 9,
            ..NewVerdict::open(query, 0, 1, Decision::A, "ada")
        };
        db.add_verdict(&verdict).unwrap();
        for uid in ["c", "a"] {
            let import = ImportRow {
                uid: uid.to_owned(),
                ..ImportRow::new("ada", "votes.csv", 9)
            };
            db.add_import(&import).unwrap();
        }
        let change = SettingChange {
            uid: "b".to_owned(),
            ..SettingChange::new("eve", "top", "10".to_owned(), "5".to_owned(), 9)
        };
        db.add_setting_change(&change).unwrap();
        let entries = log_entries(&db, None).unwrap();
        let uids: Vec<&str> = entries.iter().map(|entry| entry.uid.as_str()).collect();
        assert_eq!(uids[..3], ["a", "b", "c"]);
        assert!(matches!(entries[3].event, LogEvent::Verdict(..)));
        assert_eq!(entries.len(), 4);
    }
}
