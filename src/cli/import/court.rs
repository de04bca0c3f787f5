//! Labels, rankings and picks into the project.

use super::{Failure, display_name, label, open, output, refused};
use crate::cli::benchmark;
use crate::domain::corpus::QueryId;
use crate::domain::court::PickRecord;
use crate::domain::metrics::{Qrels, Run};
use crate::domain::sanitise;
use crate::engine::now_ms;
use crate::formats::picks::read_picks;
use crate::store::Store;
use serde_json::{Value, json};
use std::path::Path;

/// What a file holds, read and found good.
pub(super) enum Evidence {
    Labels(Qrels),
    Ranking(String, Run),
    Picks(Vec<PickRecord>),
}

impl Evidence {
    pub(super) fn labels(path: &Path) -> Result<Self, Failure> {
        benchmark::labels(path).map(Self::Labels)
    }

    /// A ranking, which goes by the name of its file unless another is given.
    pub(super) fn ranking(path: &Path, name: Option<&str>) -> Result<Self, Failure> {
        let name = name.map_or_else(|| label(path), str::to_owned);
        Ok(Self::Ranking(
            name,
            benchmark::ranking(path, &mut Vec::new())?,
        ))
    }

    pub(super) fn picks(path: &Path) -> Result<Self, Failure> {
        let name = display_name(path);
        let mut complaints = output::Complaints::about(&name);
        let mut picks = Vec::new();
        for record in read_picks(open(path)?, &name) {
            match record {
                Ok((_, record)) => picks.push(record),
                Err(problem) => complaints.tell(&problem),
            }
        }
        match complaints.end() {
            0 => Ok(Self::Picks(picks)),
            bad => Err(refused(path, bad)),
        }
    }

    /// Puts it into the project: all of it, or nothing.
    pub(super) fn take_in(self, store: &Store) -> Result<Taken, Failure> {
        Ok(match self {
            Self::Labels(labels) => {
                let all = labels.values().map(|grades| grades.len()).sum();
                let added = store.write_blocking(move |db| db.put_labels(&labels))?;
                Taken::Labels { added, all }
            }
            Self::Ranking(name, run) => {
                let queries = run.len();
                let called = name.clone();
                let replaced =
                    store.write_blocking(move |db| db.put_ranking(&called, &run, now_ms()))?;
                Taken::Ranking {
                    name,
                    queries,
                    replaced,
                }
            }
            Self::Picks(picks) => {
                let all = picks.len();
                let (added, unknown) = store.write_blocking(move |db| {
                    let known: std::collections::HashSet<QueryId> =
                        db.queries()?.into_iter().map(|query| query.id).collect();
                    let (mut added, mut unknown) = (0, 0);
                    for pick in &picks {
                        match known.contains(&pick.query) {
                            true => added += usize::from(db.add_pick(pick)?),
                            false => unknown += 1,
                        }
                    }
                    Ok((added, unknown))
                })?;
                Taken::Picks {
                    added,
                    unknown,
                    all,
                }
            }
        })
    }
}

/// What was taken in.
pub(super) enum Taken {
    Labels {
        added: usize,
        all: usize,
    },
    Ranking {
        name: String,
        queries: usize,
        replaced: bool,
    },
    Picks {
        added: usize,
        unknown: usize,
        all: usize,
    },
}

impl Taken {
    pub(super) fn json(&self, path: &Path) -> Value {
        let file = path.display().to_string();
        match self {
            Self::Labels { added, all } => {
                json!({ "file": file, "labels": all, "labels_added": added })
            }
            Self::Ranking {
                name,
                queries,
                replaced,
            } => json!({ "file": file, "ranking": name, "queries": queries, "replaced": replaced }),
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
            Self::Labels { added, all } => {
                let what = output::counted(*all, "label");
                format!("{file}: {what}, {}\n", there(added, all))
            }
            Self::Ranking {
                name,
                queries,
                replaced,
            } => {
                let again = match replaced {
                    true => "in place of the one of that name",
                    false => "new",
                };
                let (name, of) = (sanitise::line(name), output::counted(*queries, "query"));
                format!("{file}: ranking {name} of {of}, {again}\n")
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
