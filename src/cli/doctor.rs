//! `overrule doctor`: checks the setup, and suggests remedies.

use crate::app::annotate::progress::replaced_weights;
use crate::app::embedder_check;
use crate::app::judge_check::{self, CheckResult, votes_by_other_weights};
use crate::app::reranker_check;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output;
use crate::cli::output::clean;
use crate::cli::signals;
use crate::store::integrity::Integrity;
use crate::store::{Store, StoreError};
use clap::Args;
use serde::Serialize;
use std::io::IsTerminal as _;
use std::path::Path;
use unicode_width::UnicodeWidthStr as _;

#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:
  overrule doctor
  overrule doctor --offline --json")]
pub(super) struct DoctorCommand {
    /// Make no calls
    #[arg(long)]
    offline: bool,
    /// Also start the programs named in overrule.toml, without asking for permission
    #[arg(long, conflicts_with = "offline")]
    programs: bool,
    /// Allow sending keys unencrypted to other machines
    #[arg(long)]
    insecure_http: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct HealthCheck {
    name: String,
    #[serde(flatten)]
    result: CheckResult,
}

impl HealthCheck {
    fn new(name: impl Into<String>, ok: bool, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            result: CheckResult::new(ok, found),
        }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self {
            result: self.result.remedy(remedy),
            ..self
        }
    }
}

impl DoctorCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let judges = if self.offline {
            context.judges_without_asking(self.insecure_http)
        } else {
            context.judges(self.insecure_http)
        };
        let chosen = judges.available()?;
        let embedders = judges.embedders()?;
        let rerankers = judges.rerankers()?;
        let judges = chosen
            .ensemble
            .iter()
            .map(|judge| &judge.spec().name)
            .chain(chosen.missing.iter().map(|missing| &missing.judge))
            .map(|name| clean(name).width() + "judge ".len());
        let others = embedders.iter();
        let others = others.map(|(name, _)| clean(name).width() + "embedder ".len());
        let more = rerankers.iter();
        let more = more.map(|(name, _)| clean(name).width() + "reranker ".len());
        let widest = judges.chain(others).chain(more).max();
        let mut printer = CheckPrinter {
            width: widest.unwrap_or(0).max("configuration".len()),
            checks: Vec::new(),
            json: self.json,
        };
        printer.add(configuration(context))?;
        let (checks, store) = project(context);
        for check in checks {
            printer.add(check)?;
        }
        printer.add(terminal())?;
        for missing in &chosen.missing {
            let found = missing.problem.to_string();
            let name = format!("judge {}", missing.judge);
            printer.add(HealthCheck::new(name, false, found))?;
        }
        for note in chosen.notes {
            printer.add(HealthCheck::new("keys", true, note))?;
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        for judge in chosen.ensemble {
            let uncalled = self.offline && !judge.spec().is_offline();
            let mut result = if uncalled {
                judge_check::configured(judge.as_ref())
            } else {
                runtime.block_on(judge_check::examine(judge.as_ref()))
            };
            if let Some(store) = store.as_ref().filter(|_| !uncalled) {
                // Damage to the project has already been reported.
                let votes = runtime.block_on(votes_by_other_weights(store, judge.as_ref()));
                if let Some(votes) = votes.ok().filter(|votes| *votes > 0) {
                    result.found += &format!("; {}", replaced_weights(votes));
                }
            }
            printer.add(HealthCheck {
                name: format!("judge {}", judge.spec().name),
                result,
            })?;
        }
        for (name, embedder) in embedders {
            let result = match &embedder {
                Err(error) => CheckResult::new(false, error.to_string()),
                Ok(embedder) if self.offline && embedder.is_remote() => {
                    embedder_check::configured(embedder)
                }
                Ok(embedder) => runtime.block_on(embedder_check::examine(embedder)),
            };
            let name = format!("embedder {name}");
            printer.add(HealthCheck { name, result })?;
        }
        for (name, reranker) in rerankers {
            let result = match &reranker {
                Err(error) => CheckResult::new(false, error.to_string()),
                Ok(reranker) if self.offline => reranker_check::configured(reranker),
                Ok(reranker) if !reranker.is_remote() && !self.programs => {
                    reranker_check::configured(reranker)
                        .remedy("overrule doctor --programs starts and tests it")
                }
                Ok(reranker) => {
                    // --programs permits this one start.
                    reranker.permit();
                    // A signal must not leave the program running.
                    let examined = runtime.block_on(async {
                        let mut stops = signals::stops()?;
                        Ok::<_, std::io::Error>(tokio::select! {
                            result = reranker_check::examine(reranker) => Some(result),
                            _ = stops.recv() => None,
                        })
                    });
                    examined?.ok_or_else(CommandFailure::interrupted)?
                }
            };
            let name = format!("reranker {name}");
            printer.add(HealthCheck { name, result })?;
        }
        if self.json {
            output::json(&printer.checks)?;
        }
        if printer.checks.iter().all(|check| check.result.ok) {
            Ok(())
        } else {
            Err(CommandFailure::incomplete())
        }
    }
}

/// Prints each check as it is made, since a judge may take minutes to answer.
struct CheckPrinter {
    /// Columns of the longest name.
    width: usize,
    checks: Vec<HealthCheck>,
    json: bool,
}

impl CheckPrinter {
    fn add(&mut self, check: HealthCheck) -> CommandResult {
        if !self.json {
            // Names and messages come from files that anyone may have written.
            let (name, found) = (clean(&check.name), clean(&check.result.found));
            let mark = if check.result.ok { "ok" } else { "!!" };
            let pad = " ".repeat(self.width.saturating_sub(name.width()));
            let mut line = format!("{mark}  {name}{pad}  {found}\n");
            if let Some(remedy) = &check.result.remedy {
                let indent = " ".repeat(self.width + 6);
                line.push_str(&format!("{indent}→ {}\n", clean(remedy)));
            }
            output::text(&line)?;
        }
        self.checks.push(check);
        Ok(())
    }
}

fn configuration(context: &CommandContext) -> HealthCheck {
    let found = match &context.config_file {
        Some(path) => path.display().to_string(),
        None => "defaults".to_owned(),
    };
    HealthCheck::new("configuration", true, found)
}

/// Checks the project's file, and returns the project if it can be opened.
fn project(context: &CommandContext) -> (Vec<HealthCheck>, Option<Store>) {
    let path = context.project();
    let check = |ok, found: String| HealthCheck::new("project", ok, found);
    if !Store::may_exist(path) {
        let remedy = "overrule demo, overrule import FILE or overrule annotate DATASET makes one";
        let found = format!("none at {}", path.display());
        return (vec![check(true, found).remedy(remedy)], None);
    }
    let store = match Store::open_existing(path) {
        Ok(store) => store,
        Err(error) => {
            let check = check(false, error.to_string());
            let check = match error {
                StoreError::NotAProject { .. } => check.remedy("name another file with --project"),
                // The other errors already name a remedy.
                _ => check,
            };
            return (vec![check], None);
        }
    };
    let looked = store.read_blocking(|db| Ok((db.queries()?.len(), db.integrity()?)));
    let (queries, integrity) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let mut checks = vec![check(false, error.to_string())];
            checks.extend(exportable(&store));
            return (checks, Some(store));
        }
    };
    let queries = counted(queries, "query");
    let found = format!("{} with {queries}", path.display());
    let mut checks = vec![if store.is_read_only() {
        check(false, format!("{found}, which can only be read"))
            .remedy("copy it to a folder where you may write")
    } else {
        check(true, found)
    }];
    checks.push(soundness(&integrity));
    if !integrity.damage.is_empty() {
        checks.extend(exportable(&store));
    }
    checks.extend(room(path, integrity.bytes));
    (checks, Some(store))
}

fn soundness(found: &Integrity) -> HealthCheck {
    if found.damage.is_empty() {
        let log = match found.journal_mode.as_str() {
            "wal" => ", write-ahead log",
            _ => "",
        };
        let megabytes = found.bytes as f64 / 1e6;
        return HealthCheck::new(
            "integrity",
            true,
            format!("sound, {megabytes:.1} MB{log}; overrule backup FILE copies it"),
        );
    }
    HealthCheck::new("integrity", false, found.damage.join("; ")).remedy(
        "keep a copy of the file, restore the latest backup (overrule backup FILE makes them), and \
         merge what can still be read into it",
    )
}

/// Checks what can still be exported from a damaged project.
fn exportable(store: &Store) -> Option<HealthCheck> {
    /// Maximum number of queries named.
    const NAMED: usize = 5;
    let queries = match store.read_blocking(|db| db.readable_queries()) {
        Ok(queries) => queries,
        Err(error) => {
            let found = format!("the queries cannot be listed: {error}");
            return Some(HealthCheck::new("export", false, found));
        }
    };
    let all = queries.len();
    let (readable, lost): (Vec<_>, Vec<_>) =
        queries.into_iter().partition(|query| query.fault.is_none());
    let mut found = format!(
        "{} of {} can be exported",
        readable.len(),
        counted(all, "query")
    );
    if !lost.is_empty() {
        let names: Vec<&str> = lost
            .iter()
            .take(NAMED)
            .map(|lost| lost.name.as_str())
            .collect();
        let more = match lost.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        found += &format!(", all but {}{more}", names.join(", "));
    }
    let check = HealthCheck::new("export", lost.is_empty(), found);
    Some(match readable.first() {
        Some(first) => check.remedy(format!(
            "overrule export votes --query {} --out votes.csv, and so on for verdicts and each query",
            first.name
        )),
        None => check,
    })
}

/// Whether there is room for the project to grow, if the system can tell.
#[cfg(unix)]
fn room(path: &Path, bytes: u64) -> Option<HealthCheck> {
    /// Less than this is reported as low.
    const LITTLE: u64 = 256 << 20;
    let folder = path.canonicalize().ok()?;
    let found = rustix::fs::statvfs(folder.parent()?).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let ok = free >= LITTLE.max(bytes / 4);
    let check = HealthCheck::new("disk", ok, format!("{:.1} GB free", free as f64 / 1e9));
    Some(if ok {
        check
    } else {
        check.remedy("free some space before a run")
    })
}

#[cfg(not(unix))]
fn room(_: &Path, _: u64) -> Option<HealthCheck> {
    None
}

fn terminal() -> HealthCheck {
    let size = crossterm::terminal::size()
        .ok()
        .filter(|_| std::io::stdout().is_terminal());
    let depth = crate::tui::depth_name(crate::tui::terminal::detect_depth(None));
    let (large, found) = match size {
        Some((columns, rows)) => (
            columns >= 80 && rows >= 24,
            format!("{columns}×{rows}, color: {depth}"),
        ),
        None => (true, format!("stdout is not a terminal, color: {depth}")),
    };
    let check = HealthCheck::new("terminal", large, found);
    if large {
        check
    } else {
        check.remedy("make it 80×24 or larger")
    }
}
