//! Labels, rankings and picks into the project.

use super::{CommandFailure, display_name, label, open, output, refused};
use crate::cli::benchmark;
use crate::client::now_ms;
use crate::domain::adjudication::PickRecord;
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::sanitise;
use crate::formats::picks::read_picks;
use crate::store::Store;
use crate::store::StoreError;
use anyhow::anyhow;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;

/// What a file holds, read and found good.
pub(super) enum RelevanceFile {
    Labels(Qrels),
    Ranking(String, RankedRun),
    Picks(Vec<PickRecord>),
}

impl RelevanceFile {
    pub(super) fn labels(path: &Path) -> Result<Self, CommandFailure> {
        benchmark::labels(path).map(Self::Labels)
    }

    /// A ranking, which goes by the name of its file unless another is given.
    pub(super) fn ranking(path: &Path, name: Option<&str>) -> Result<Self, CommandFailure> {
        let name = name.map_or_else(|| label(path), str::to_owned);
        Ok(Self::Ranking(
            name,
            benchmark::ranking(path, &mut Vec::new())?,
        ))
    }

    pub(super) fn picks(path: &Path) -> Result<Self, CommandFailure> {
        let name = display_name(path);
        let mut problems_of_file = output::ProblemPrinter::about(&name);
        let mut picks = Vec::new();
        for record in read_picks(open(path)?, &name) {
            match record {
                Ok((_, record)) => picks.push(record),
                Err(problem) => problems_of_file.tell(&problem),
            }
        }
        match problems_of_file.end() {
            0 => Ok(Self::Picks(picks)),
            bad => Err(refused(path, bad)),
        }
    }

    /// Puts it into the project: all of it, or nothing.
    pub(super) fn take_in(
        self,
        store: &Store,
        path: &Path,
    ) -> Result<RelevanceImport, CommandFailure> {
        let known = store.read_blocking(|db| db.queries())?.into_iter();
        let known: HashSet<QueryId> = known.map(|query| query.id).collect();
        let unknown = |queries: Vec<&QueryId>| {
            let unknown = queries.iter().filter(|query| !known.contains(**query));
            if known.is_empty() { 0 } else { unknown.count() }
        };
        Ok(match self {
            Self::Labels(labels) => {
                let all = labels.values().map(|grades| grades.len()).sum();
                let unknown = unknown(labels.keys().collect());
                let added = store
                    .write_blocking(move |db| db.put_labels(&labels))
                    .map_err(|error| match error {
                        StoreError::Conflict(what) => {
                            CommandFailure::usage(anyhow!("{}: {what}", path.display()))
                        }
                        error => error.into(),
                    })?;
                RelevanceImport::Labels {
                    added,
                    all,
                    unknown,
                }
            }
            Self::Ranking(name, run) => {
                let (queries, unknown) = (run.len(), unknown(run.keys().collect()));
                let called = name.clone();
                let replaced =
                    store.write_blocking(move |db| db.put_ranking(&called, &run, now_ms()))?;
                RelevanceImport::Ranking {
                    name,
                    queries,
                    replaced,
                    unknown,
                }
            }
            Self::Picks(picks) => {
                let all = picks.len();
                let (added, unknown) = store.write_blocking(move |db| {
                    let (mut added, mut unknown) = (0, 0);
                    for pick in &picks {
                        match known.contains(&pick.query) {
                            true => added += usize::from(db.add_pick(pick)?),
                            false => unknown += 1,
                        }
                    }
                    Ok((added, unknown))
                })?;
                RelevanceImport::Picks {
                    added,
                    unknown,
                    all,
                }
            }
        })
    }
}

/// What was taken in.
pub(super) enum RelevanceImport {
    Labels {
        added: usize,
        all: usize,
        unknown: usize,
    },
    Ranking {
        name: String,
        queries: usize,
        replaced: bool,
        unknown: usize,
    },
    Picks {
        added: usize,
        unknown: usize,
        all: usize,
    },
}

impl RelevanceImport {
    pub(super) fn json(&self, path: &Path) -> Value {
        let file = path.display().to_string();
        match self {
            Self::Labels {
                added,
                all,
                unknown,
            } => {
                json!({ "file": file, "labels": all, "labels_added": added, "unknown_queries": unknown })
            }
            Self::Ranking {
                name,
                queries,
                replaced,
                unknown,
            } => json!({
                "file": file, "ranking": name, "queries": queries, "replaced": replaced, "unknown_queries": unknown,
            }),
            Self::Picks {
                added,
                unknown,
                all,
            } => {
                json!({ "file": file, "picks": all, "picks_added": added, "picks_of_unknown_queries": unknown })
            }
        }
    }

    pub(super) fn words(&self, path: &Path) -> String {
        let file = path.display().to_string();
        let file = sanitise::line(&file);
        let there =
            |added: &usize, all: &usize| format!("{added} new, {} there already", all - added);
        match self {
            Self::Labels {
                added,
                all,
                unknown,
            } => {
                let what = output::counted(*all, "label");
                let others = others(*unknown);
                format!("{file}: {what}, {}{others}\n", there(added, all))
            }
            Self::Ranking {
                name,
                queries,
                replaced,
                unknown,
            } => {
                let again = match replaced {
                    true => "in place of those in the ranking of that name",
                    false => "new",
                };
                let (name, of) = (sanitise::line(name), output::counted(*queries, "query"));
                format!(
                    "{file}: ranking {name} of {of}, {again}{}\n",
                    others(*unknown)
                )
            }
            Self::Picks {
                added,
                unknown,
                all,
            } => {
                let what = output::counted(*all, "pick");
                let others = match unknown {
                    0 => String::new(),
                    count => format!("; {count} of queries that the project lacks: left out"),
                };
                let there = there(added, &(all - unknown));
                format!("{file}: {what}, {there}{others}\n")
            }
        }
    }
}

/// Queries that have no pool here.
fn others(unknown: usize) -> String {
    match unknown {
        0 => String::new(),
        unknown => format!(
            "; {} without a pool in the project",
            output::counted(unknown, "query")
        ),
    }
}
