//! `overrule doctor`: what is there, what is not, and what to do about it.

use crate::app::wording::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output;
use crate::cli::output::clean;
use crate::judge::{
    Judge, JudgePrompt, OFFLINE_LABEL, PoolText, PresentedPair, call_adapting, parse,
};
use crate::store::Store;
use crate::store::integrity::Integrity;
use clap::Args;
use serde::Serialize;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Args)]
pub(super) struct DoctorCommand {
    /// Make no call
    #[arg(long)]
    offline: bool,
    /// Let keys travel unencrypted to other machines
    #[arg(long)]
    insecure_http: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct HealthCheck {
    name: String,
    ok: bool,
    found: String,
    remedy: Option<String>,
}

impl DoctorCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let mut checks = vec![configuration(context)];
        checks.extend(project(context));
        checks.push(terminal());
        let chosen = context.judges(self.insecure_http).choose(&[])?;
        checks.extend(chosen.notes.into_iter().map(|note| HealthCheck {
            name: "keys".to_owned(),
            ok: true,
            found: note,
            remedy: None,
        }));
        for judge in chosen.ensemble {
            checks.push(judge_check(judge.as_ref(), self.offline)?);
        }
        let healthy = checks.iter().all(|check| check.ok);
        if self.json {
            output::json(&checks)?;
        } else {
            let rows: Vec<Vec<String>> = checks
                .iter()
                .map(|check| {
                    let mark = if check.ok { "ok" } else { "!!" };
                    let remedy = check.remedy.clone().unwrap_or_default();
                    // Names and messages come from files that anyone may have written.
                    let cells = [mark, &check.name, &check.found, &remedy];
                    cells.iter().map(clean).collect()
                })
                .collect();
            output::text(&output::table(&["", "what", "found", "to do"], &rows))?;
        }
        if healthy {
            Ok(())
        } else {
            Err(CommandFailure::incomplete())
        }
    }
}

fn configuration(context: &CommandContext) -> HealthCheck {
    HealthCheck {
        name: "configuration".to_owned(),
        ok: true,
        found: match &context.config_file {
            Some(path) => path.display().to_string(),
            None => "defaults".to_owned(),
        },
        remedy: None,
    }
}

fn project(context: &CommandContext) -> Vec<HealthCheck> {
    let path = context.project();
    let check = |name: &str, ok, found, remedy: Option<&str>| HealthCheck {
        name: name.to_owned(),
        ok,
        found,
        remedy: remedy.map(str::to_owned),
    };
    if !path.exists() {
        let remedy = "overrule demo, overrule import FILE or overrule annotate DATASET makes one";
        let found = format!("none at {}", path.display());
        return vec![check("project", true, found, Some(remedy))];
    }
    let looked = Store::open_existing(path).and_then(|store| {
        let (queries, integrity) =
            store.read_blocking(|db| Ok((db.queries()?.len(), db.integrity()?)))?;
        Ok((store.is_read_only(), queries, integrity))
    });
    let (read_only, queries, integrity) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let remedy = Some("name another file with --project");
            return vec![check("project", false, error.to_string(), remedy)];
        }
    };
    let queries = counted(queries, "query");
    let mut checks = vec![match read_only {
        false => check(
            "project",
            true,
            format!("{} with {queries}", path.display()),
            None,
        ),
        true => check(
            "project",
            false,
            format!("{} with {queries}, which can only be read", path.display()),
            Some("copy it to a folder where you may write"),
        ),
    }];
    checks.push(soundness(&integrity));
    checks.extend(room(path, integrity.bytes));
    checks
}

fn soundness(found: &Integrity) -> HealthCheck {
    let name = "integrity".to_owned();
    if found.damage.is_empty() && found.dangling == 0 {
        return HealthCheck {
            name,
            ok: true,
            found: format!(
                "sound, {:.1} MB{}",
                found.bytes as f64 / 1e6,
                match found.journal_mode.as_str() {
                    "wal" => ", write-ahead log",
                    _ => "",
                }
            ),
            remedy: None,
        };
    }
    let mut words = found.damage.clone();
    if found.dangling > 0 {
        let rows = counted(found.dangling, "row");
        words.push(format!("{rows} without the row that they belong to"));
    }
    HealthCheck {
        name,
        ok: false,
        found: words.join("; "),
        remedy: Some(
            "keep a copy, go back to a backup, and have `overrule merge` take over what can still be read"
                .to_owned(),
        ),
    }
}

/// Whether there is room for the project to grow, where the system tells.
#[cfg(unix)]
fn room(path: &Path, bytes: u64) -> Option<HealthCheck> {
    /// Less than this is said to be little.
    const LITTLE: u64 = 256 << 20;
    let folder = path.canonicalize().ok()?;
    let found = rustix::fs::statvfs(folder.parent()?).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let ok = free >= LITTLE.max(bytes / 4);
    Some(HealthCheck {
        name: "disk".to_owned(),
        ok,
        found: format!("{:.1} GB free", free as f64 / 1e9),
        remedy: (!ok).then(|| "free some space before a run".to_owned()),
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
    let depth = crate::tui::terminal::detect_depth(None);
    HealthCheck {
        name: "terminal".to_owned(),
        ok: size.is_none_or(|(columns, rows)| columns >= 80 && rows >= 24),
        found: match size {
            Some((columns, rows)) => format!(
                "{columns}×{rows}, colour: {}",
                crate::tui::depth_name(depth)
            ),
            None => format!(
                "stdout is not a terminal, colour: {}",
                crate::tui::depth_name(depth)
            ),
        },
        remedy: size
            .filter(|(columns, rows)| *columns < 80 || *rows < 24)
            .map(|_| "make it 80×24 or larger".to_owned()),
    }
}

/// Puts one tiny case to a judge, unless no call is to be made.
fn judge_check(judge: &dyn Judge, offline: bool) -> Result<HealthCheck, CommandFailure> {
    let spec = judge.spec();
    let name = format!("judge {}", spec.name);
    let price = match judge.estimate(&JudgePrompt::default()).1 {
        Some(_) => "price known",
        None => "price unknown",
    };
    let no_price = (price == "price unknown").then(|| {
        "give `price` in overrule.toml, or spending is not counted and --budget is refused"
            .to_owned()
    });
    if offline && !spec.is_offline() {
        return Ok(HealthCheck {
            name,
            ok: true,
            found: format!("{} {}: not called; {price}", spec.provider, spec.model),
            remedy: no_price,
        });
    }
    let documents = vec![
        Arc::from("Paris is the capital of France."),
        Arc::from("Rome is the capital of Italy."),
    ];
    let case = PresentedPair {
        pool: Arc::new(PoolText::new("What is the capital of France?", documents)),
        first: 0,
        second: 1,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let prompt = judge.prompt(&case);
    let reply = match runtime.block_on(call_adapting(|| judge.call(&case, &prompt))) {
        Ok(reply) => reply,
        Err(error) => {
            return Ok(HealthCheck {
                name,
                ok: false,
                found: error.cause.to_string(),
                remedy: Some(error.message),
            });
        }
    };
    let milliseconds = reply.latency.as_secs_f64() * 1e3;
    Ok(match judge.parse(&reply) {
        Ok(opinion) => {
            let kept = match (spec.is_offline(), parse::strict(&reply.text)) {
                (true, _) => OFFLINE_LABEL.to_owned(),
                (false, Ok(_)) => format!("structured output kept; {price}"),
                (false, Err(_)) => {
                    format!("structured output not kept, read all the same; {price}")
                }
            };
            HealthCheck {
                name,
                ok: true,
                found: format!(
                    "answers {:+.2} in {milliseconds:.1} ms; {kept}",
                    opinion.margin.get()
                ),
                remedy: no_price,
            }
        }
        Err(error) => HealthCheck {
            name,
            ok: false,
            found: error.to_string(),
            remedy: Some(
                "try another model, or prompt = \"choice\" or \"letter\" in overrule.toml"
                    .to_owned(),
            ),
        },
    })
}
