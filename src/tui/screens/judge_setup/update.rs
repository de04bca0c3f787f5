//! Choosing, editing, testing and saving judges.

use super::state::TestState;
use crate::app::init::setup::Candidate;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, PromptFor};
use crate::tui::navigation::moved;
use crate::tui::screens::{Screen, run};

/// The largest limit of calls at a time; beyond it, the limit of the run applies.
const MOST_CALLS: usize = 64;

pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    if model.options.sample.is_some() {
        model.inform(
            "the sample is judged by the judges that come with it; i on the list of queries makes \
             a project of your own data",
        );
        return Vec::new();
    }
    model.stack.retain(|screen| *screen != Screen::JUDGE_SETUP);
    model.stack.push(Screen::JUDGE_SETUP);
    // Edits that are not saved are kept.
    if model.judge_setup().setup.is_some() {
        return Vec::new();
    }
    model.look_around()
}

/// A judge under the cursor can be edited; the last row adds one.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let state = model.judge_setup();
    match command {
        Command::SaveJudges => !state.is_saving && state.is_changed,
        Command::Open | Command::SetBudget => state.setup.is_some(),
        Command::ChooseJudge => state.selected().is_some(),
        Command::TestJudge => state.selected().is_some() && !is_testing(model),
        Command::EditJudge | Command::NextPrompt | Command::MoreCalls | Command::FewerCalls => {
            state.selected().is_some_and(|judge| !judge.is_embedded())
        }
        _ => true,
    }
}

/// Whether the judge under the cursor is being called.
fn is_testing(model: &Model) -> bool {
    let state = model.judge_setup();
    matches!(state.tests.get(&state.cursor), Some(TestState::Calling))
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if !offers(model, command) {
        return Vec::new();
    }
    match command {
        Command::ChooseJudge => edit(model, |judge| judge.chosen ^= true),
        Command::NextPrompt => {
            let at = model.judge_setup().cursor;
            model.judge_setup_mut().tests.remove(&at);
            edit(model, |judge| {
                judge.next_prompt();
                judge.chosen = true;
            })
        }
        Command::MoreCalls => edit(model, |judge| {
            let twice = judge.config.concurrency.map(|now| now * 2);
            judge.config.concurrency = twice.filter(|calls| *calls <= MOST_CALLS);
            judge.chosen = true;
        }),
        Command::FewerCalls => edit(model, |judge| {
            let half = judge.config.concurrency.map(|now| (now / 2).max(1));
            judge.config.concurrency = Some(half.unwrap_or(MOST_CALLS));
            judge.chosen = true;
        }),
        Command::TestJudge => test(model),
        Command::SaveJudges => save(model),
        Command::SetBudget => run::update::ask_budget(model),
        Command::Open => {
            name(model);
            Vec::new()
        }
        Command::EditJudge => {
            ask_for_settings(model);
            Vec::new()
        }
        _ => {
            let (rows, page) = (model.judge_setup().rows(), model.areas.page);
            let cursor = moved(model.judge_setup().cursor, command, rows, page);
            model.judge_setup_mut().cursor = cursor;
            Vec::new()
        }
    }
}

/// Edits the judge under the cursor.
fn edit(model: &mut Model, change: impl FnOnce(&mut Candidate)) -> Vec<Effect> {
    let state = model.judge_setup_mut();
    let at = state.cursor;
    let setup = state.setup.as_mut();
    if let Some(judge) = setup.and_then(|setup| setup.candidates.get_mut(at)) {
        change(judge);
    }
    model.look_ahead()
}

/// Asks first if the call costs money or may cost money.
fn test(model: &mut Model) -> Vec<Effect> {
    let Some(judge) = model.judge_setup().selected() else {
        return Vec::new();
    };
    if judge.is_free() {
        return model.test_judge();
    }
    let question = format!(
        "One paid call to {} {}, which counts as spending of the project. Call?",
        judge.config.provider, judge.config.model
    );
    model.confirm(
        "Test call",
        &question,
        ConfirmFor::Screen(Screen::JUDGE_SETUP),
    );
    Vec::new()
}

fn save(model: &mut Model) -> Vec<Effect> {
    if model.run.running || model.questions.going.is_some() {
        model.inform("judges are being asked; save when that has ended");
        return Vec::new();
    }
    model.save_judges()
}

/// Opens the line for the settings of the judge under the cursor.
fn ask_for_settings(model: &mut Model) {
    let Some(judge) = model.judge_setup().selected() else {
        return;
    };
    let now = judge.settings();
    model.judge_setup_mut().edits_settings = true;
    let placeholder = "key_env = \"MY_KEY\", params = { temperature = 0 }";
    let purpose = PromptFor::Screen(Screen::JUDGE_SETUP);
    model.ask("settings: ", placeholder, &now, purpose);
}

/// Opens the line for the name of the judge under the cursor, or for another judge.
fn name(model: &mut Model) {
    model.judge_setup_mut().edits_settings = false;
    let (label, placeholder, now) = match model.judge_setup().selected() {
        Some(judge) => ("name: ", "a short name", judge.config.name.clone()),
        None => (
            "judge: ",
            "PROVIDER MODEL [URL], such as vllm qwen3-8b http://gpu:8000/v1",
            String::new(),
        ),
    };
    let purpose = PromptFor::Screen(Screen::JUDGE_SETUP);
    model.ask(label, placeholder, &now, purpose);
}

/// Why a typed line is rejected.
pub(super) fn refuses(model: &Model, text: &str) -> Option<String> {
    let state = model.judge_setup();
    let mut setup = state.setup.as_deref()?.clone();
    let done = if state.edits_settings {
        setup.set_settings(state.cursor, text)
    } else if state.selected().is_some() {
        setup.rename(state.cursor, text)
    } else {
        setup.add(text).map(|_| ())
    };
    done.err().map(|error| error.to_string())
}

/// Settings, a name or another judge was typed.
pub(super) fn typed(model: &mut Model, text: &str) -> Vec<Effect> {
    let state = model.judge_setup_mut();
    let (at, is_judge) = (state.cursor, state.selected().is_some());
    if state.edits_settings {
        state.tests.remove(&at);
    }
    if let Some(setup) = &mut state.setup {
        let done = if state.edits_settings {
            setup.set_settings(at, text).map(|()| at)
        } else if is_judge {
            setup.rename(at, text).map(|()| at)
        } else {
            setup.add(text)
        };
        if let Ok(at) = done {
            state.cursor = at;
        }
    }
    model.look_ahead()
}
