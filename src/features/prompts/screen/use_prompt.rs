//! Uses a prompt for a judge, or for a copy of it with another name, after showing the votes that
//! become stale and the cost of replacing them.

use super::configured::configured;
use super::state::{PendingConfirm, PromptChoice};
use crate::app::annotate::RunRequest;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::features::prompts::app::replacement::{Replacement, prepare_replacement};
use crate::features::prompts::app::versions;
use crate::store::Store;
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, PromptFor};
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::text;
use crate::tui::widgets::toast::Level;

const DESCRIBE: Slot = Slot::of(Screen::PROMPT, "use");

impl PromptChoice {
    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
    ) -> Result<Replacement, AppError> {
        let found = store.read_blocking(|db| versions(db))?;
        let version = found.iter().find(|version| version.hash == self.hash);
        let text = version.and_then(|version| Some((version, version.text.as_deref()?)));
        let Some((version, text)) = text else {
            return Err(invalid!("the text of prompt {} is unknown", self.hash));
        };
        let copy = (self.name != self.judge).then_some(self.name.as_str());
        prepare_replacement(store, configuration, &self.judge, version, text, copy)
    }
}

/// Describes what a choice changes and costs. Changes nothing.
#[derive(Debug, PartialEq)]
struct DescribeUse(PromptChoice);

impl Task for DescribeUse {
    type Answer = String;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        let request = RunRequest {
            queries: None,
            ..context.options().request.clone()
        };
        configured(context, |store, configuration| {
            let change = self.0.prepare(store, configuration)?;
            let estimate = CostEstimate::of_project(store, &change.ensemble, &request)?;
            Ok(describe(&self.0, &change, &estimate))
        })
    }
}

fn describe(choice: &PromptChoice, change: &Replacement, estimate: &CostEstimate) -> String {
    let name = sanitize::line(&choice.name);
    let what = if choice.name == choice.judge {
        format!(
            "{name} is asked with prompt {}; {} become stale.",
            choice.hash,
            counted(change.stale_votes, "vote")
        )
    } else {
        let judge = sanitize::line(&choice.judge);
        format!(
            "{judge} stays, and {name} is added with prompt {}.",
            choice.hash
        )
    };
    let cost = match (estimate.cost_usd(), estimate.worst_usd()) {
        (Some(expected), Some(worst)) => {
            format!(
                "about {}, at most {}",
                text::usd(expected),
                text::usd(worst)
            )
        }
        _ => "the price is unknown".to_owned(),
    };
    let key = key_on(Command::StartRun, Screen::QUERIES);
    format!(
        "{what} Asking what is then missing on all queries: {}, {cost}. Nothing is asked now. {key} \
         starts a run: on the list of queries for all queries, in a query for that query, and in \
         the queue for the queries of the pairs from the first to the selected one. Change \
         overrule.toml?",
        counted(estimate.calls(), "call"),
    )
}

/// Changes `overrule.toml`.
#[derive(Debug, PartialEq)]
struct UsePrompt(PromptChoice);

impl Task for UsePrompt {
    /// The project, to be opened again with its judges.
    type Answer = String;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        configured(context, |store, configuration| {
            let _lock = RunLock::take(store.path()).map_err(AppError::failed)?;
            let change = self.0.prepare(store, configuration)?;
            change.carry_out(store, context.annotator())?;
            Ok(store.path().to_string_lossy().into_owned())
        })
    }
}

/// Asks for the name of the judge that is to use the prompt.
pub(super) fn ask(model: &mut Model) -> Vec<Effect> {
    let state = model.prompt();
    if state.version.is_none() {
        return Vec::new();
    }
    if state.is_changed() {
        model.inform("the prompt on screen is not stored; edit it until it is valid");
        return Vec::new();
    }
    if model.run.running || model.questions.going.is_some() {
        model.inform("judges are being asked; change them when that has ended");
        return Vec::new();
    }
    let judge = state.judge.clone();
    let placeholder = "the judge, or the name of a copy with this prompt";
    let purpose = PromptFor::Screen(model.screen());
    model.ask("judge with this prompt: ", placeholder, &judge, purpose);
    Vec::new()
}

/// Why a name is rejected.
pub(super) fn refuses(text: &str) -> Option<String> {
    text.trim()
        .is_empty()
        .then(|| "a judge needs a name".to_owned())
}

/// A name was typed: the consequences are shown before anything changes.
pub(super) fn named(model: &mut Model, name: &str) -> Vec<Effect> {
    let state = model.prompt();
    let Some(version) = &state.version else {
        return Vec::new();
    };
    let choice = PromptChoice {
        judge: state.judge.clone(),
        name: name.trim().to_owned(),
        hash: version.hash.clone(),
    };
    let screen = model.screen();
    let job = Job::try_task(DescribeUse(choice.clone()), move |model, words| {
        match words {
            // The person has gone on to something else.
            Ok(_) if model.screen() != screen || !model.overlays.is_empty() => {}
            Ok(words) => {
                model.prompt_mut().confirming = PendingConfirm::Use(choice);
                let purpose = ConfirmFor::Screen(screen);
                model.confirm("Use the prompt", &words, purpose);
            }
            Err(error) => model.say(Level::Error, &error.to_string()),
        }
        Vec::new()
    });
    vec![job.latest(&mut model.jobs, DESCRIBE).into()]
}

/// Changes the judges, and opens the project again.
pub(super) fn carry_out(choice: PromptChoice) -> Vec<Effect> {
    let job = Job::task(UsePrompt(choice), |model, project| {
        model.next_project = Some(project);
        vec![Effect::Quit]
    });
    vec![job.kept().into()]
}
