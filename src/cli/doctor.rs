//! `overrule doctor`: what is there, what is not, and what to do about it.

use super::{Context, Outcome, annotate, output};
use crate::judge::{Case, OFFLINE_LABEL, PoolText, parse};
use crate::store::Store;
use clap::Args;
use serde::Serialize;
use std::io::IsTerminal as _;
use std::sync::Arc;

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Check {
    name: String,
    ok: bool,
    found: String,
    remedy: Option<String>,
}

impl Doctor {
    pub(super) fn run(self, context: &Context) -> Outcome {
        let mut checks = vec![configuration(context), project(context), terminal()];
        for judge in annotate::ensemble(&[])? {
            checks.push(judge_check(judge.as_ref())?);
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
                    vec![
                        mark.to_owned(),
                        check.name.clone(),
                        check.found.clone(),
                        remedy,
                    ]
                })
                .collect();
            output::text(&output::table(&["", "what", "found", "to do"], &rows))?;
        }
        if healthy {
            Ok(())
        } else {
            Err(super::Failure::incomplete())
        }
    }
}

fn configuration(context: &Context) -> Check {
    Check {
        name: "configuration".to_owned(),
        ok: true,
        found: match &context.config_file {
            Some(path) => path.display().to_string(),
            None => "defaults".to_owned(),
        },
        remedy: None,
    }
}

fn project(context: &Context) -> Check {
    let path = context.project();
    let (ok, found, remedy) = if !path.exists() {
        let remedy =
            "overrule demo, overrule import FILE or overrule annotate DATASET makes one".to_owned();
        (true, format!("none at {}", path.display()), Some(remedy))
    } else {
        match Store::open_existing(path).and_then(|store| store.read_blocking(|db| db.queries())) {
            Ok(queries) => (
                true,
                format!("{} with {} queries", path.display(), queries.len()),
                None,
            ),
            Err(error) => (
                false,
                error.to_string(),
                Some("name another file with --project".to_owned()),
            ),
        }
    };
    Check {
        name: "project".to_owned(),
        ok,
        found,
        remedy,
    }
}

fn terminal() -> Check {
    let size = crossterm::terminal::size()
        .ok()
        .filter(|_| std::io::stdout().is_terminal());
    let depth = crate::tui::terminal::detect_depth(None);
    Check {
        name: "terminal".to_owned(),
        ok: size.is_none_or(|(columns, rows)| columns >= 80 && rows >= 24),
        found: match size {
            Some((columns, rows)) => format!(
                "{columns}×{rows}, colour: {}",
                crate::tui::depth_words(depth)
            ),
            None => format!(
                "stdout is not a terminal, colour: {}",
                crate::tui::depth_words(depth)
            ),
        },
        remedy: size
            .filter(|(columns, rows)| *columns < 80 || *rows < 24)
            .map(|_| "make it 80×24 or larger".to_owned()),
    }
}

/// Puts one tiny case to a judge.
fn judge_check(judge: &dyn crate::judge::Judge) -> Result<Check, super::Failure> {
    let documents = vec![
        Arc::from("Paris is the capital of France."),
        Arc::from("Rome is the capital of Italy."),
    ];
    let case = Case {
        pool: Arc::new(PoolText::new("What is the capital of France?", documents)),
        first: 0,
        second: 1,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let reply = runtime.block_on(judge.call(&case, &judge.prompt(&case)));
    let (ok, found) = match reply {
        Ok(reply) => match parse::parse(&reply.text) {
            Ok(opinion) => {
                let label = if judge.spec().is_offline() {
                    format!("; {OFFLINE_LABEL}")
                } else {
                    String::new()
                };
                let micros = reply.latency.as_secs_f64() * 1e6;
                (
                    true,
                    format!(
                        "answers {:+.2} in {micros:.0} µs{label}",
                        opinion.margin.get()
                    ),
                )
            }
            Err(error) => (false, error.to_string()),
        },
        Err(error) => (false, error.to_string()),
    };
    Ok(Check {
        name: format!("judge {}", judge.spec().name),
        ok,
        found,
        remedy: None,
    })
}
