//! `overrule` and `overrule demo`: the workbench.

use super::{CommandContext, CommandFailure, CommandResult, choose_judges, create_project, output};
use crate::app::annotate::RunRequest;
use crate::client::RunControl;
use crate::judge::offline;
use crate::store::Store;
use crate::tui::{self, model::TuiOptions};
use clap::Args;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// The bundled claims with their candidates.
const SCIFACT: &[u8] = include_bytes!("../../data/scifact.jsonl");
/// The bundled battles of three language models.
const ZBENCH: &[u8] = include_bytes!("../../data/zbench_example.ai_scores.json");

/// What the sample's datasets are called in a project.
const SAMPLES: [&str; 2] = ["scifact", "zbench_example"];

#[derive(Debug, Args)]
#[command(
    after_help = "The copy is made in a temporary folder, unless --project names a file for it.
`overrule` alone, in a folder without a project, opens one sample that is kept for you."
)]
pub(super) struct DemoCommand {
    /// Make the sample's project and do not open the workbench
    #[arg(long)]
    no_screen: bool,
}

impl DemoCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let path = match &context.project {
            Some(path) => path.clone(),
            None => fresh_path()?,
        };
        let store = sample(&path, context)?;
        if self.no_screen {
            output::message(&format!("the sample is in {}", path.display()));
            return Ok(());
        }
        show(context, store, true)
    }
}

/// The workbench on the project in this folder, or, where there is none, on the sample that is kept for this user.
pub(super) fn open(context: &CommandContext) -> CommandResult {
    if context.project.is_some() || context.project().exists() {
        let store = context.open_or_create()?;
        return show(context, store, false);
    }
    let path = match directories::ProjectDirs::from("", "", "overrule") {
        Some(folders) => folders.data_dir().join("sample.db"),
        None => fresh_path()?,
    };
    let store = sample(&path, context)?;
    show(context, store, true)
}

/// A file that does not exist yet, for a copy of the sample.
fn fresh_path() -> std::io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("overrule-demo-{}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(folder.join("overrule.db"))
}

/// A project with the bundled sample in it.
fn sample(path: &Path, context: &CommandContext) -> Result<Store, super::CommandFailure> {
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)?;
    }
    let store = create_project(path, &context.config)?;
    let datasets = store.read_blocking(|db| db.datasets())?;
    if let Some(foreign) = datasets
        .iter()
        .find(|name| !SAMPLES.contains(&name.as_str()))
    {
        return Err(super::CommandFailure::usage(anyhow::anyhow!(
            "{}: holds queries of {:?}; the sample goes into a project of its own",
            path.display(),
            crate::domain::sanitise::line(foreign)
        )));
    }
    super::import::bundled(&store, SCIFACT, ZBENCH)?;
    Ok(store)
}

fn show(context: &CommandContext, store: Store, demo: bool) -> CommandResult {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(super::CommandFailure::usage(anyhow::anyhow!(
            "the workbench needs a terminal; `overrule status`, `queries`, `matrix` and `battles` print the same"
        )));
    }
    let config = &context.config;
    let latest = store.read_blocking(|db| db.latest_run())?;
    // What a run without a screen began goes on here.
    let request = match latest {
        Some(run) => RunRequest {
            seed: run.seed,
            cycles: run.cycles,
            campaign: run.campaign,
            depth: run.depth,
            ..RunRequest::default()
        },
        None => RunRequest {
            seed: config.run.seed,
            cycles: config.run.cycles,
            campaign: config.run.campaign(),
            ..RunRequest::default()
        },
    };
    let options = TuiOptions {
        annotator: context.annotator(),
        request,
        control: RunControl {
            concurrency: config.run.concurrency,
            budget_usd: config.run.budget,
            pace: (demo && config.run.demo_pace > 0.0).then_some(config.run.demo_pace),
            ..RunControl::default()
        },
        judging: config.judging.clone(),
        project: if demo {
            "sample".to_owned()
        } else {
            store
                .path()
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        },
        ..TuiOptions::default()
    };
    let path = store.path().to_owned();
    let chosen = if demo {
        // The sample is for looking: it costs nothing, whatever keys are set.
        choose_judges::ChosenJudges {
            ensemble: offline::ensemble(),
            notes: Vec::new(),
        }
    } else {
        choose_judges::choose(context, &[], false)?
    };
    let options = TuiOptions {
        paid: chosen
            .ensemble
            .iter()
            .any(|judge| choose_judges::is_paid(judge.as_ref())),
        note: chosen.notes.join("; "),
        ..options
    };
    match tui::run(store, chosen.ensemble, options, &config.screen) {
        Err(error @ tui::TuiError::LeftAtOnce) => {
            output::message(&format!("overrule: {error}"));
            return Err(CommandFailure::interrupted());
        }
        left => left?,
    }
    if demo {
        output::message(&format!(
            "The sample and your verdicts are kept in {}.",
            path.display()
        ));
    }
    Ok(())
}
