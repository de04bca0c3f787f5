//! `overrule` and `overrule demo`: the workbench.

use crate::app::annotate::RunRequest;
use crate::app::choose_judges::{ChosenJudges, bound_note, is_paid};
use crate::app::project::{Sample, open_sample};
use crate::app::text_editor::TextEditor;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, DEFAULT_PROJECT, usage};
use crate::cli::output;
use crate::cli::spending::kept_budget;
use crate::client::{RunControl, now_ms};
use crate::judge::offline;
use crate::store::Store;
use crate::tui;
use crate::tui::model::remembered::Remembered;
use crate::tui::model::{Start, TuiOptions};
use clap::{Args, ValueEnum};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "The copy is made in a temporary folder, unless --project names a file for it.
`overrule` alone, in a folder without a project, opens the sample scifact and keeps your changes.

Examples:
  overrule demo
  overrule demo pandalm    reasons of two language models, and people who disagree with them
  overrule demo --no-screen --project sample.db"
)]
pub(super) struct DemoCommand {
    /// Sample to open
    #[arg(value_enum, default_value_t = SampleName::Scifact)]
    sample: SampleName,
    /// Create the project without opening the workbench
    #[arg(long)]
    no_screen: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SampleName {
    /// 8 claims with 25 abstracts each, and labels; judged by the offline judges
    Scifact,
    /// 65 prompts with answers of five models, judged by GPT-3.5, PandaLM-7B and three people
    Pandalm,
}

impl From<SampleName> for Sample {
    fn from(name: SampleName) -> Self {
        match name {
            SampleName::Scifact => Self::Scifact,
            SampleName::Pandalm => Self::Pandalm,
        }
    }
}

impl DemoCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let path = match &context.named_project {
            Some(path) => path.clone(),
            None => fresh_path()?,
        };
        let sample = self.sample.into();
        let store = open_sample(&path, &context.config, sample)?;
        if self.no_screen {
            output::message(&format!("the sample is in {}", path.display()));
            return Ok(());
        }
        show(context, store, Some(sample))
    }
}

/// Opens the workbench on the project in this folder, or else on the sample stored for this user.
pub(crate) fn open(context: &CommandContext) -> CommandResult {
    if context.named_project.is_some() || Store::may_exist(context.project()) {
        let store = context.open_or_create()?;
        return show(context, store, None);
    }
    let path = match directories::ProjectDirs::from("", "", "overrule") {
        Some(folders) => folders.data_dir().join("sample.db"),
        None => fresh_path()?,
    };
    let sample = Sample::default();
    let store = open_sample(&path, &context.config, sample)?;
    show(context, store, Some(sample))
}

/// The path of a new file for a copy of the sample.
fn fresh_path() -> std::io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("overrule-demo-{}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(folder.join("overrule.db"))
}

/// Opens the workbench on a project, beginning at `start`. `without_terminal` is the error where no
/// screen can be drawn.
pub(crate) fn open_at(
    context: &CommandContext,
    store: Store,
    start: Start,
    without_terminal: &str,
) -> CommandResult {
    require_terminal(without_terminal)?;
    show_from(context, store, None, start)
}

/// Opens the workbench on a project, beginning with its list of queries.
fn show(context: &CommandContext, store: Store, sample: Option<Sample>) -> CommandResult {
    require_terminal(
        "the workbench needs a terminal; `overrule status`, `queries`, `matrix` and `battles` \
         print the same data",
    )?;
    show_from(context, store, sample, Start::Queries)
}

/// Opens the workbench on a project, and then on each one that is opened from inside.
fn show_from(
    context: &CommandContext,
    store: Store,
    sample: Option<Sample>,
    start: Start,
) -> CommandResult {
    let kept = sample.map(|_| store.path().to_owned());
    let mut next = show_one(context, store, sample, start)?;
    while let Some(path) = next {
        let context = CommandContext {
            named_project: Some(path),
            ..context.clone()
        };
        next = show_one(&context, context.open()?, None, Start::Queries)?;
    }
    if let Some(path) = kept {
        tui::print_line(&format!(
            "The sample is kept in {}, with the verdicts that you gave on it.",
            path.display()
        ));
    }
    Ok(())
}

/// Refuses to start where no screen can be drawn: without a terminal, or on one that only prints
/// lines. `otherwise` is the error.
fn require_terminal(otherwise: &str) -> CommandResult {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if !is_dumb && std::io::stdout().is_terminal() && std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(usage!("{otherwise}"))
}

/// Opens the workbench on one project; returns the path of the next one to open.
fn show_one(
    context: &CommandContext,
    store: Store,
    sample: Option<Sample>,
    start: Start,
) -> Result<Option<PathBuf>, CommandFailure> {
    let config = &context.config;
    let (latest, budget, people) =
        store.read_blocking(|db| Ok((db.latest_run()?, db.project_budget()?, db.annotators()?)))?;
    // Continues a run that was started without the workbench.
    let request = RunRequest::continuing(latest, &config.run);
    let memory = Remembered::name(&context.annotator());
    let remembered = store.read_blocking(move |db| db.remembered(&memory))?;
    let who = context.annotator();
    let drafts = store.read_blocking(move |db| db.drafts(&who))?;
    let remembered = remembered.map(|text| serde_json::from_str(&text));
    let is_named = context.named_annotator.is_some() || config.set_annotator().is_some();
    let is_new = !people.is_empty() && !people.contains(&context.annotator());
    let options = TuiOptions {
        annotator: context.annotator(),
        // The other people in a sample come with it, so there is no need to ask for the name.
        asks_name: sample.is_none() && !is_named && is_new,
        people,
        drafts,
        remembered: remembered.transpose()?.unwrap_or_default(),
        configuration: context.config_file.clone(),
        request,
        control: RunControl {
            concurrency: config.run.concurrency,
            budget_usd: kept_budget(context, budget),
            pace: (sample.is_some() && config.run.demo_pace > 0.0).then_some(config.run.demo_pace),
            ..RunControl::default()
        },
        judging: config.judging.clone(),
        config: config.clone(),
        project: match sample {
            Some(sample) => sample.name().to_owned(),
            None => store
                .path()
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        },
        sample,
        new_project: free_name(),
        start,
        editor: TextEditor::of_person(),
        opened_ms: now_ms(),
        ..TuiOptions::default()
    };
    let chosen = if sample.is_some() {
        // The sample makes no paid calls, whatever keys are set.
        ChosenJudges {
            ensemble: offline::ensemble(),
            notes: Vec::new(),
            missing: Vec::new(),
        }
    } else {
        context.judges_without_asking(false).available()?
    };
    let recorded = sample.map_or(&[][..], Sample::recorded_judges);
    let recorded_only = (!recorded.is_empty()).then(|| {
        "the votes of this sample were recorded, and no judge is asked; i makes a project of your \
         own data"
            .to_owned()
    });
    let options = TuiOptions {
        paid: chosen.ensemble.iter().any(|judge| is_paid(judge.as_ref())),
        offline: recorded.is_empty()
            && (chosen.ensemble.iter()).any(|judge| judge.spec().is_offline()),
        judges: if recorded.is_empty() {
            chosen
                .ensemble
                .iter()
                .map(|judge| judge.spec().name.clone())
                .collect()
        } else {
            recorded.iter().map(ToString::to_string).collect()
        },
        look_for_servers: sample.is_none()
            && !chosen.notes.is_empty()
            && chosen
                .ensemble
                .iter()
                .all(|judge| judge.spec().is_offline()),
        no_run: recorded_only.or_else(|| chosen.missing_keys()),
        note: chosen
            .notes
            .into_iter()
            .chain(bound_note(&chosen.ensemble, config.run.concurrency))
            .collect::<Vec<_>>()
            .join("; "),
        ..options
    };
    match tui::run(store, chosen.ensemble, options, &config.screen) {
        Err(error @ (tui::TuiError::LeftAtOnce | tui::TuiError::CallsDropped(_))) => {
            tui::print_line(&format!("overrule: {error}"));
            Err(CommandFailure::interrupted())
        }
        left => Ok(left?),
    }
}

/// A name for a project in this folder: the default one of `overrule`, unless it is taken.
fn free_name() -> String {
    let stem = DEFAULT_PROJECT.trim_end_matches(".db");
    let others = (2..).map(|number| format!("{stem}-{number}.db"));
    std::iter::once(DEFAULT_PROJECT.to_owned())
        .chain(others)
        .find(|name| !Path::new(name).exists())
        .unwrap_or_default()
}
