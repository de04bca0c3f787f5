//! `overrule prompt try`: tries a prompt on pairs that people decided.

mod report;

use super::edit::read_text;
use super::set::Names;
use super::versions::text_of;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output::{self, ProgressPace, clean};
use crate::cli::signals::RunEnd;
use crate::cli::spending::{SpendingOptions, confirm_spending};
use crate::client::RunControl;
use crate::domain::spend::Spend;
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::methods::command::rerank::terms::volume_table;
use crate::features::methods::command::rerank::watch::watch_questions;
use crate::features::prompts::app::trial::{
    PromptTrial, TrialEstimate, TrialPairs, TrialReading, TrialRequest, TrialResult, look_at,
    prepare_trial,
};
use crate::features::prompts::app::{find_version, versions};
use crate::features::prompts::domain::SetPart;
use crate::store::Store;
use clap::Args;
use report::TrialReport;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Args)]
#[command(
    after_help = "Asks a judge with another prompt about the tuning part of the regression set \
(`prompt set`), each pair in both orders of its documents, and compares its answers with the votes \
that the project has from the judge. The comparison uses the order that the vote had. The answers \
are stored, count as spending, and are never paid for twice. No fit uses them, unless a run asks \
the judge the same question. The judges of the project do not change.

--final tests a finished prompt on the held-out part instead. Each version that is tested is \
logged as a look, and Holm's correction is applied over the versions. Printing the same result \
again is not another look.

Examples:
  overrule prompt try gpt mine.md --dry-run
  overrule prompt try gpt mine.md --examples 3
  overrule prompt try gpt score --model gpt-6.1-mini --json
  overrule prompt try gpt 1f3a --final"
)]
pub(super) struct TryCommand {
    /// The judge of overrule.toml to ask
    judge: String,
    /// The prompt: a file, or a hash, built-in name or judge
    prompt: String,
    /// Which pairs to try
    #[arg(long, value_enum, default_value_t)]
    set: TrialPairs,
    /// Add this many decided pairs of the tuning part to the prompt as examples; their queries are
    /// not evaluated
    #[arg(long, value_name = "N", default_value_t = 0)]
    examples: usize,
    /// Use another model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Test on the held-out part, and log it as a look
    #[arg(long = "final", conflicts_with = "set")]
    is_final: bool,
    /// Ask again about pairs whose answer cannot be read
    #[arg(long)]
    retry_failed: bool,
    #[command(flatten)]
    spending: SpendingOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl TryCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        // Two runs must not plan the same calls.
        let _lock = self.spending.lock(context)?;
        let request = self.request(&store)?;
        let configuration = context.judges(self.spending.insecure_http);
        let trial = Arc::new(prepare_trial(&store, &configuration, request)?);
        for note in &trial.notes {
            output::message(&format!("note: {}", clean(note)));
        }
        let budget = self.spending.budget(context, Some(&store))?;
        if let Some(budget) = budget {
            trial.judge.check_budget(budget)?;
        }
        let estimate = trial.estimate(&store)?;
        if self.spending.dry_run {
            return dry_run(&trial, &estimate, self.json);
        }
        if trial.judge.is_paid() && estimate.expected.calls > 0.0 {
            confirm_spending(&describe(&trial, &estimate), self.spending.yes)?;
        }
        trial.keep_prompt(&store, &context.annotator())?;
        let (end, spend) = if estimate.expected.calls > 0.0 {
            let ensemble = vec![Arc::clone(&trial.judge.judge)];
            let control = self.spending.control(context, budget, &ensemble);
            watch_trial(&trial, control, &store, estimate.expected.calls as usize)?
        } else {
            (RunEnd::default(), Spend::default())
        };
        let result = trial.result(&store)?;
        let missing = result.missing;
        let trial = Arc::unwrap_or_clone(trial);
        self.print(context, &store, (trial, result), (end, spend))?;
        finish(missing, end)
    }

    /// Prints the result. On the held-out part, this is a look, even if some calls have failed. The
    /// result of a stopped test is not printed, so that continuing it is not another look.
    fn print(
        &self,
        context: &CommandContext,
        store: &Store,
        (trial, result): (PromptTrial, TrialResult),
        (end, spend): (RunEnd, Spend),
    ) -> CommandResult {
        let is_final = trial.request.part == SetPart::HeldOut;
        let was_stopped = result.missing > 0 && (end.interrupted || end.budget_reached);
        if is_final && was_stopped {
            return if self.json {
                output::json(&json!({
                    "judge": trial.request.judge,
                    "prompt": trial.prompt.hash,
                    "part": trial.request.part,
                    "missing_answers": result.missing,
                }))
            } else {
                output::text("the result is printed when all pairs are answered\n")
            };
        }
        let looks = (is_final && result.comparison.pairs > 0)
            .then(|| look_at(store, &trial, &result, &context.annotator()))
            .transpose()?;
        let reading = TrialReading {
            trial,
            result,
            looks,
        };
        let pairs: Vec<_> = reading
            .trial
            .cases
            .iter()
            .map(|case| (case.query, case.decided.clone()))
            .collect();
        let names = store.read_blocking(move |db| Names::read(db, &pairs))?;
        let report = TrialReport {
            reading: &reading,
            spend,
            names: &names,
        };
        if self.json {
            output::json(&report.json())
        } else {
            output::text(&report.text())
        }
    }

    fn request(&self, store: &Store) -> Result<TrialRequest, CommandFailure> {
        let path = Path::new(&self.prompt);
        let known = store.read_blocking(|db| versions(db))?;
        let (text, examples_of) = if path.is_file() {
            let text = read_text(path)?;
            let same = known
                .iter()
                .find(|of| of.text.as_deref() == Some(text.as_str()));
            let examples_of = same.map_or_else(Vec::new, |of| of.examples.clone());
            (text, examples_of)
        } else {
            let version = find_version(&known, &self.prompt)?;
            (text_of(version)?.to_owned(), version.examples.clone())
        };
        Ok(TrialRequest {
            judge: self.judge.clone(),
            text,
            examples_of,
            examples: self.examples,
            model: self.model.clone(),
            pairs: self.set,
            part: if self.is_final {
                SetPart::HeldOut
            } else {
                SetPart::Tuning
            },
            retry: self.retry_failed,
        })
    }
}

/// Reports missing answers, and returns the corresponding result.
pub(super) fn finish(missing: usize, end: RunEnd) -> CommandResult {
    if missing == 0 {
        return Ok(());
    }
    output::message(&format!(
        "incomplete: {} missing; {}",
        counted(missing, "answer"),
        if end.budget_reached {
            "the budget is reached; continue with a larger --budget"
        } else {
            "run the same command again to continue"
        }
    ));
    Err(if end.interrupted {
        CommandFailure::interrupted()
    } else {
        CommandFailure::incomplete()
    })
}

fn describe(trial: &PromptTrial, estimate: &TrialEstimate) -> String {
    format!(
        "{} with prompt {}: {} of the {} part in both orders, {} already there\n{}",
        clean(&trial.request.judge),
        trial.prompt.hash,
        counted(estimate.pairs, "pair"),
        trial.request.part.words(),
        counted(estimate.known, "answer"),
        volume_table(&estimate.expected, &estimate.most)
    )
}

fn dry_run(trial: &PromptTrial, estimate: &TrialEstimate, as_json: bool) -> CommandResult {
    if as_json {
        return output::json(&json!({
            "judge": trial.request.judge,
            "prompt": trial.prompt.hash,
            "part": trial.request.part,
            "pairs": estimate.pairs,
            "known_answers": estimate.known,
            "left_out": trial.left_out,
            "examples": trial.request.examples_of,
            "expected": estimate.expected,
            "most": estimate.most,
        }));
    }
    output::text(&describe(trial, estimate))?;
    output::text("dry run: nothing was called and nothing was changed\n")
}

/// Asks, and shows progress on stderr.
fn watch_trial(
    trial: &Arc<PromptTrial>,
    control: RunControl,
    store: &Store,
    calls: usize,
) -> Result<(RunEnd, Spend), CommandFailure> {
    let (store, trial) = (store.clone(), Arc::clone(trial));
    let (mut made, mut spend) = (0, Spend::default());
    let mut pace = ProgressPace::new();
    let (end, _) = watch_questions(
        control,
        |control, events| async move { trial.ask(&store, control, events).await },
        |event| {
            if let RerankEvent::Called(charge) = event {
                made += 1;
                spend += charge;
                if pace.is_due() {
                    output::message(&progress(made, calls, spend));
                }
            }
        },
    )?;
    output::message(&progress(made, calls, spend));
    Ok((end, spend))
}

pub(super) fn progress(made: usize, calls: usize, spend: Spend) -> String {
    format!(
        "{made} of {} made, spent {}",
        counted(calls, "call"),
        spend.words()
    )
}
