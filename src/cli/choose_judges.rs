//! Which judges a command works with: those of `overrule.toml` that have their keys, or else the offline ones.

use super::{CommandContext, CommandFailure, CommandResult, output};
use crate::app::annotate::estimate::JudgeEstimate;
use crate::domain::adjudication::PickMode;
use crate::domain::sanitise;
use crate::embedding::Embedder;
use crate::judge::ensemble::{
    Dotenv, EnsembleError, FILE, JudgeSources, JudgesFile, MissingKey, ensemble_from, pickers_from,
};
use crate::judge::provider::http::Timeouts;
use crate::judge::{Judge, JudgeEnsemble, JudgePrompt, PoolText, PresentedPool, offline};
use anyhow::anyhow;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;

/// Bytes of an answer full of vectors at most.
const VECTORS: usize = 64 << 20;

/// An ensemble, and what is to be said about it.
#[derive(Debug)]
pub(super) struct ChosenJudges {
    /// The judges, in order.
    pub(super) ensemble: JudgeEnsemble,
    /// Who is left out and why, in words.
    pub(super) notes: Vec<String>,
}

/// Judges made from a file.
type MadeJudges = Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError>;

/// The judges named, or all of them; those of `overrule.toml` beside the project come first, the offline ones after.
pub(super) fn choose(
    context: &CommandContext,
    names: &[String],
    insecure_http: bool,
) -> Result<ChosenJudges, CommandFailure> {
    chosen(context, names, insecure_http, ensemble_from)
}

/// The same for picks that are asked for in this way. Judges that can only compare two documents are left out, unless they are named.
pub(super) fn choose_pickers(
    context: &CommandContext,
    names: &[String],
    way: PickMode,
    insecure_http: bool,
) -> Result<ChosenJudges, CommandFailure> {
    let make = |file: &JudgesFile, sources: &JudgeSources<'_>| pickers_from(file, sources, way);
    let mut chosen = chosen(context, names, insecure_http, make)?;
    let empty = PresentedPool {
        pool: Arc::new(PoolText::new("", Vec::new())),
        ask: way.ask(0),
    };
    let cannot = |judge: &Arc<dyn Judge>| judge.pick_prompt(&empty).is_none();
    for judge in chosen.ensemble.iter().filter(|judge| cannot(judge)) {
        let why = format!(
            "{} can only compare two documents",
            sanitise::line(&judge.spec().name)
        );
        if !names.is_empty() {
            return Err(CommandFailure::usage(anyhow!("--judges: {why}")));
        }
        chosen.notes.push(format!("left out: {why}"));
    }
    chosen.ensemble.retain(|judge| !cannot(judge));
    if chosen.ensemble.is_empty() {
        return Err(CommandFailure::usage(anyhow!(
            "no judge is left that can pick; name some with --judges"
        )));
    }
    Ok(chosen)
}

fn chosen(
    context: &CommandContext,
    names: &[String],
    insecure_http: bool,
    make: impl Fn(&JudgesFile, &JudgeSources<'_>) -> MadeJudges,
) -> Result<ChosenJudges, CommandFailure> {
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(CommandFailure::usage(anyhow!(
                "--judges: {:?} is named twice",
                sanitise::line(name)
            )));
        }
    }
    let timeouts = Timeouts::default();
    let (made, found) = configured(context, insecure_http, timeouts, |file, found, sources| {
        let made = make(file, sources).map_err(CommandFailure::usage)?;
        Ok((made, found))
    })?;
    let (network, missing) = made;
    if names.is_empty() {
        return Ok(all(network, &missing, found));
    }
    let ensemble = names
        .iter()
        .map(|name| named(name, &network, &missing))
        .collect::<Result<_, _>>()?;
    Ok(ChosenJudges {
        ensemble,
        notes: Vec::new(),
    })
}

/// Works with `overrule.toml` beside the project, or with the default where there is none, and with what keys come from.
fn configured<T>(
    context: &CommandContext,
    insecure_http: bool,
    timeouts: Timeouts,
    work: impl FnOnce(&JudgesFile, bool, &JudgeSources<'_>) -> Result<T, CommandFailure>,
) -> Result<T, CommandFailure> {
    let folder = context
        .project()
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let (file, found) = JudgesFile::load(folder).map_err(CommandFailure::usage)?;
    let dotenv = Dotenv::load(folder).map_err(|error| CommandFailure::usage(anyhow!("{error}")))?;
    let sources = JudgeSources {
        env: &|name| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        },
        dotenv: &dotenv,
        folder,
        today: jiff::Zoned::now().date(),
        insecure_http,
        timeouts,
        trusted_hosts: &context.config.keys.trusted_hosts,
    };
    work(&file, found.is_some(), &sources)
}

/// The embedder of that name in `overrule.toml`.
pub(super) fn embedder(
    context: &CommandContext,
    name: &str,
    insecure_http: bool,
) -> Result<Embedder, CommandFailure> {
    let timeouts = Timeouts {
        reply_bytes: VECTORS,
        ..Timeouts::default()
    };
    configured(context, insecure_http, timeouts, |file, _, sources| {
        let all = &file.embedders;
        let Some(config) = all.iter().find(|embedder| embedder.name == name) else {
            let known: Vec<&str> = all.iter().map(|embedder| embedder.name.as_str()).collect();
            let there = match known.is_empty() {
                true => "there is none; `overrule config judges` shows how to write one".to_owned(),
                false => format!("there are {}", known.join(", ")),
            };
            return Err(CommandFailure::usage(anyhow!(
                "--embed: no [[embedder]] of {FILE} is called {name:?}; {there}"
            )));
        };
        Embedder::new(config, sources).map_err(CommandFailure::usage)
    })
}

fn all(network: JudgeEnsemble, missing: &[MissingKey], configured: bool) -> ChosenJudges {
    let wanting = |missing: &MissingKey| {
        format!(
            "{} is left out: it wants {}",
            missing.judge, missing.key_env
        )
    };
    if network.is_empty() {
        let notes = if configured {
            let mut notes: Vec<String> = missing.iter().map(wanting).collect();
            notes.push(
                "no judge of overrule.toml has its key, so the offline judges are used".to_owned(),
            );
            notes
        } else {
            let keys: Vec<&str> = missing
                .iter()
                .map(|missing| missing.key_env.as_str())
                .collect();
            vec![format!(
                "no key is set ({}), so the offline judges are used",
                keys.join("; ")
            )]
        };
        return ChosenJudges {
            ensemble: offline::ensemble(),
            notes,
        };
    }
    ChosenJudges {
        ensemble: network,
        notes: missing.iter().map(wanting).collect(),
    }
}

fn named(
    name: &str,
    network: &JudgeEnsemble,
    missing: &[MissingKey],
) -> Result<Arc<dyn Judge>, CommandFailure> {
    if let Some(judge) = network.iter().find(|judge| judge.spec().name == name) {
        return Ok(Arc::clone(judge));
    }
    if let Some(missing) = missing.iter().find(|missing| missing.judge == name) {
        let key = &missing.key_env;
        return Err(CommandFailure::usage(anyhow!(
            "judge {name:?} wants a key: set {key}, or put it into .env beside the project"
        )));
    }
    offline::judge(name).ok_or_else(|| {
        let mut known: Vec<&str> = network
            .iter()
            .map(|judge| judge.spec().name.as_str())
            .collect();
        known.extend(missing.iter().map(|missing| missing.judge.as_str()));
        known.extend(offline::NAMES);
        let name = sanitise::line(name);
        CommandFailure::usage(anyhow!(
            "no judge is called {name:?}; there are {}",
            known.join(", ")
        ))
    })
}

/// Whether a call of the judge may cost money.
pub(super) fn is_paid(judge: &dyn Judge) -> bool {
    !judge.spec().is_offline() && judge.worst(&JudgePrompt::default()).1 != Some(0.0)
}

/// Refuses a budget that is none, or that cannot be kept.
pub(super) fn check_budget(budget: f64, ensemble: &JudgeEnsemble) -> CommandResult {
    if !budget.is_finite() || budget < 0.0 {
        return Err(CommandFailure::usage(anyhow!(
            "--budget {budget}: expected dollars from 0 up"
        )));
    }
    let empty = JudgePrompt::default();
    let named = |judges: Vec<&Arc<dyn Judge>>| {
        let names = judges
            .iter()
            .map(|judge| sanitise::line(&judge.spec().name));
        names.collect::<Vec<_>>().join(", ")
    };
    let (priced, unpriced): (Vec<_>, Vec<_>) = ensemble
        .iter()
        .partition(|judge| judge.estimate(&empty).1.is_some());
    if !unpriced.is_empty() {
        return Err(CommandFailure::usage(anyhow!(
            "a budget cannot be kept: no price is known for {}; give `price` in {FILE}",
            named(unpriced)
        )));
    }
    let unlimited = |judge: &&Arc<dyn Judge>| judge.worst(&empty).1.is_none();
    let unlimited: Vec<_> = priced.into_iter().filter(unlimited).collect();
    if !unlimited.is_empty() {
        return Err(CommandFailure::usage(anyhow!(
            "a budget cannot be kept: nothing limits how long an answer of {} may be; leave the limit of its params alone, or \
             give it a number of tokens from 1 (max_output_tokens sets it)",
            named(unlimited)
        )));
    }
    Ok(())
}

/// Says what is about to be spent and asks, where there is somebody to ask.
pub(super) fn confirm_spending(words: &str, yes: bool) -> CommandResult {
    output::message(words.trim_end());
    if yes || !io::stdin().is_terminal() {
        return Ok(());
    }
    output::message("Start? Type y and press Enter; anything else leaves. (--yes does not ask.)");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(CommandFailure::usage(anyhow!(
            "not started; nothing was called and nothing was spent"
        ))),
    }
}

/// What each judge would need.
pub(super) fn estimate_table(judges: &[JudgeEstimate]) -> String {
    let rows: Vec<Vec<String>> = judges
        .iter()
        .map(|judge| {
            vec![
                sanitise::line(&judge.name).into_owned(),
                judge.calls.to_string(),
                judge.tokens_input.to_string(),
                judge.tokens_output.to_string(),
                usd(judge.cost_usd),
                usd(judge.worst_usd),
            ]
        })
        .collect();
    let header = [
        "judge",
        ">calls",
        ">tokens in (est.)",
        ">tokens out (est.)",
        ">expected",
        ">at most",
    ];
    output::table(&header, &rows)
}

/// Dollars in words.
pub(super) fn usd(usd: Option<f64>) -> String {
    usd.map_or("price unknown".to_owned(), |usd| format!("${usd:.4}"))
}
