//! Trial screen: what a new prompt fixes and breaks, and the pairs behind it.

mod copy;
mod keys;
mod view;

pub(super) use view::distinct;

use super::commands;
use super::state::{OpenTrial, PendingConfirm};
use super::use_prompt;
use crate::app::error::AppError;
use crate::app::question_set::{AddedQuestions, QuestionSet};
use crate::features::prompts::app::trial::{TrialPairs, TrialRequest};
use crate::features::prompts::app::trial_questions::TrialQuestions;
use crate::features::prompts::domain::SetPart;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model};
use crate::tui::navigation::moved;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};
use crate::tui::screens::decisions::Decisions;
use crate::tui::screens::queue;
use crate::tui::widgets::question_dialog::QuestionWay;
use std::sync::Arc;

impl Screen {
    pub(crate) const PROMPT_TRIAL: Self = Self::named("trial");
}

pub(crate) struct TrialScreen;

impl ScreenBehavior for TrialScreen {
    fn id(&self) -> Screen {
        Screen::PROMPT_TRIAL
    }

    fn heading(&self) -> &'static str {
        "Prompt trial"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "prompts"
    }

    fn section(&self) -> Option<&'static str> {
        Some("A trial")
    }

    fn copy(&self, model: &Model) -> Copied {
        let reading = model.prompt().reading();
        reading.map_or(Copied::Nothing, |of| Copied::Table(copy::table(of)))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
        view::view(model, canvas)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update(model, command)
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::PROMPT, commands::TRY_PROMPT))
    }

    fn answered(&self, model: &mut Model) -> Vec<Effect> {
        model.read_trial(false)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        let state = model.prompt();
        match command {
            Command::Open => state.tried().is_some(),
            commands::DECIDE_TRIAL => state.found().is_some(),
            _ => true,
        }
    }

    fn confirmed(&self, model: &mut Model) -> Vec<Effect> {
        confirmed(model)
    }

    fn refuses(&self, _model: &Model, text: &str) -> Option<String> {
        use_prompt::refuses(text)
    }

    fn typed(&self, model: &mut Model, text: &str) -> Vec<Effect> {
        use_prompt::named(model, text)
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &super::undo::PromptUses
    }
}

/// The person has agreed to the final test, or to the use of the prompt.
pub(super) fn confirmed(model: &mut Model) -> Vec<Effect> {
    match std::mem::take(&mut model.prompt_mut().confirming) {
        PendingConfirm::Nothing => Vec::new(),
        PendingConfirm::FinalTest => read(model, SetPart::HeldOut),
        PendingConfirm::Use(choice) => use_prompt::carry_out(choice),
    }
}

/// Opens the trial of the draft, and offers its questions if there are any.
pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    if model.prompt().version.is_none() {
        return Vec::new();
    }
    model.stack.push(Screen::PROMPT_TRIAL);
    read(model, SetPart::Tuning)
}

fn read(model: &mut Model, part: SetPart) -> Vec<Effect> {
    let state = model.prompt_mut();
    (state.part, state.pairs) = (part, TrialPairs::All);
    (state.trial, state.cursor) = (None, 0);
    model.read_trial(true)
}

/// The result was read.
pub(super) fn found(
    model: &mut Model,
    found: Result<OpenTrial, AppError>,
    asks: bool,
) -> Vec<Effect> {
    let state = model.prompt_mut();
    state.trial = Some(found.map(Box::new).map_err(|error| error.to_string()));
    let pairs = state.reading().map_or(0, |of| of.result.pairs.len());
    state.cursor = state.cursor.min(pairs.saturating_sub(1));
    let is_incomplete = state.found().is_some_and(|found| found.missing > 0);
    if asks && is_incomplete && model.screen() == Screen::PROMPT_TRIAL {
        return ask(model);
    }
    Vec::new()
}

/// Offers the questions that have no answer.
fn ask(model: &mut Model) -> Vec<Effect> {
    let (request, author) = (model.prompt().request(), model.options.annotator.clone());
    let way = |pairs, retry, name: &str, doc: &str| {
        let request = TrialRequest {
            pairs,
            retry,
            ..request.clone()
        };
        let questions: Arc<dyn AddedQuestions> = Arc::new(TrialQuestions::new(request, &author));
        QuestionWay {
            set: QuestionSet::Given(questions),
            name: name.to_owned(),
            doc: doc.to_owned(),
        }
    };
    let mut ways = vec![way(
        TrialPairs::All,
        false,
        "all pairs",
        "both orders of every pair; shows what breaks, too",
    )];
    if request.part == SetPart::Tuning {
        ways.push(way(
            TrialPairs::Overruled,
            false,
            "overruled pairs",
            "only those that people decided against the judge",
        ));
        ways.push(way(
            TrialPairs::Gold,
            false,
            "gold pairs",
            "only known answers",
        ));
    }
    ways.push(way(
        TrialPairs::All,
        true,
        "unreadable again",
        "asks again where a reply could not be read",
    ));
    model.questions.offered = Some(("Try the prompt", ways));
    Vec::new()
}

fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        commands::TRY_PROMPT if model.prompt().part == SetPart::HeldOut => {
            return read(model, SetPart::Tuning);
        }
        commands::TRY_PROMPT => return ask(model),
        commands::TEST_PROMPT => {
            let question = "The final test uses the held-out part. Each version that is tested \
                            there is a look, and the p-value is corrected for all of them. \
                            Continue to the price?";
            model.prompt_mut().confirming = PendingConfirm::FinalTest;
            let purpose = ConfirmFor::Screen(Screen::PROMPT_TRIAL);
            model.confirm("Final test", question, purpose);
        }
        commands::USE_PROMPT => return use_prompt::ask(model),
        commands::DECIDE_TRIAL => {
            let tuning = model.prompt().found().map(|found| found.tuning.clone());
            return tuning.map_or(Vec::new(), |tuning| {
                queue::update::show_within(model, tuning)
            });
        }
        Command::Open if model.prompt().tried().is_some() => {
            model.prompt_mut().reasonings = None;
            model.prompt_mut().reasonings_scroll = 0;
            model.stack.push(Screen::PROMPT_REASONINGS);
            return model.read_reasonings();
        }
        _ => {
            let page = model.areas.page;
            let state = model.prompt_mut();
            let pairs = state.reading().map_or(0, |of| of.result.pairs.len());
            state.cursor = moved(state.cursor, command, pairs, page);
        }
    }
    Vec::new()
}
