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

#[derive(Debug, Default, Args)]
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

impl HealthCheck {
    fn new(name: impl Into<String>, ok: bool, found: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ok,
            found: found.into(),
            remedy: None,
        }
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

impl DoctorCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let mut checks = vec![configuration(context)];
        checks.extend(project(context));
        checks.push(terminal());
        let chosen = context.judges(self.insecure_http).available()?;
        checks.extend(chosen.missing.iter().map(|missing| {
            let found = format!("wants {}", missing.key_env);
            HealthCheck::new(format!("judge {}", missing.judge), false, found)
                .remedy("set it, or put it into .env beside the project")
        }));
        let notes = chosen.notes.into_iter();
        checks.extend(notes.map(|note| HealthCheck::new("keys", true, note)));
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
    let found = match &context.config_file {
        Some(path) => path.display().to_string(),
        None => "defaults".to_owned(),
    };
    HealthCheck::new("configuration", true, found)
}

fn project(context: &CommandContext) -> Vec<HealthCheck> {
    let path = context.project();
    let check = |ok, found: String| HealthCheck::new("project", ok, found);
    if !path.exists() {
        let remedy = "overrule demo, overrule import FILE or overrule annotate DATASET makes one";
        let found = format!("none at {}", path.display());
        return vec![check(true, found).remedy(remedy)];
    }
    let looked = Store::open_existing(path).and_then(|store| {
        let (queries, integrity) =
            store.read_blocking(|db| Ok((db.queries()?.len(), db.integrity()?)))?;
        Ok((store.is_read_only(), queries, integrity))
    });
    let (read_only, queries, integrity) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let remedy = "name another file with --project";
            return vec![check(false, error.to_string()).remedy(remedy)];
        }
    };
    let queries = counted(queries, "query");
    let found = format!("{} with {queries}", path.display());
    let mut checks = vec![match read_only {
        false => check(true, found),
        true => check(false, format!("{found}, which can only be read"))
            .remedy("copy it to a folder where you may write"),
    }];
    checks.push(soundness(&integrity));
    checks.extend(room(path, integrity.bytes));
    checks
}

fn soundness(found: &Integrity) -> HealthCheck {
    if found.damage.is_empty() && found.dangling == 0 {
        let log = match found.journal_mode.as_str() {
            "wal" => ", write-ahead log",
            _ => "",
        };
        let megabytes = found.bytes as f64 / 1e6;
        return HealthCheck::new("integrity", true, format!("sound, {megabytes:.1} MB{log}"));
    }
    let mut words = found.damage.clone();
    if found.dangling > 0 {
        let rows = counted(found.dangling, "row");
        words.push(format!("{rows} without the row that they belong to"));
    }
    HealthCheck::new("integrity", false, words.join("; ")).remedy(
        "keep a copy, go back to a backup, and have `overrule merge` take over what can still be read",
    )
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
    let check = HealthCheck::new("disk", ok, format!("{:.1} GB free", free as f64 / 1e9));
    Some(match ok {
        true => check,
        false => check.remedy("free some space before a run"),
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
            format!("{columns}×{rows}, colour: {depth}"),
        ),
        None => (true, format!("stdout is not a terminal, colour: {depth}")),
    };
    let check = HealthCheck::new("terminal", large, found);
    match large {
        true => check,
        false => check.remedy("make it 80×24 or larger"),
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
            let check = HealthCheck::new(name, false, error.cause.to_string());
            return Ok(check.remedy(error.message));
        }
    };
    let notes: String = judge
        .server_notes()
        .iter()
        .map(|note| format!("; {note}"))
        .collect();
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
                    "answers {:+.2} in {milliseconds:.1} ms; {kept}{notes}",
                    opinion.margin.get()
                ),
                remedy: no_price,
            }
        }
        Err(error) => HealthCheck::new(name, false, error.to_string())
            .remedy("try another model, or prompt = \"choice\" or \"letter\" in overrule.toml"),
    })
}
