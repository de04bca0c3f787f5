//! Starting, steering and ending a run.

use super::begin::{begin, money_words};
use super::{ask_pair, begin};
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::progress::RunProgress;
use crate::app::annotate::{RunError, RunOutcome};
use crate::store::corpus::QueryKey;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::run::RunScope;
use crate::tui::model::{ConfirmFor, Model, PromptFor};
use crate::tui::requests;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::widgets::toast::Level;
use std::time::Duration;

/// The open query is asked for again at most this often while a run goes on.
const RELOAD_EVERY: Duration = Duration::from_millis(150);
/// Stale summaries are asked for at most this often while a run goes on.
const SUMMARISE_EVERY: Duration = Duration::from_millis(300);

/// Steps of the pace, in calls a second; the last is none.
const PACES: [f64; 9] = [
    20.0,
    50.0,
    100.0,
    200.0,
    400.0,
    1_000.0,
    2_000.0,
    5_000.0,
    f64::INFINITY,
];

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let control = model.run.control;
    match command {
        Command::StartRun => return start(model, None),
        Command::StopRun if model.run.running => {
            let question = format!(
                "What has been judged is kept, and {} resumes later. Stop?",
                key_on(Command::StartRun, Screen::Run)
            );
            model.confirm("Stop the run", &question, ConfirmFor::Stop);
        }
        Command::StopRun => requests::stop_questions(model),
        Command::SetBudget => {
            let placeholder = "total dollars that the project may spend; empty for no limit";
            let now = control.budget_usd.map(|usd| usd.to_string());
            let now = now.unwrap_or_default();
            model.ask("budget $", placeholder, &now, PromptFor::Budget);
        }
        Command::NextJudge => {
            let judges = model
                .run
                .progress
                .as_ref()
                .map_or(1, |progress| progress.judges.len())
                .max(1);
            model.run.chosen_judge = (model.run.chosen_judge + 1) % judges;
        }
        Command::DropJudge if model.run.running => model.run.control.toggle(model.run.chosen_judge),
        Command::MoreCalls => model.run.control.concurrency = (control.concurrency * 2).min(4096),
        Command::FewerCalls => model.run.control.concurrency = (control.concurrency / 2).max(1),
        Command::Faster => {
            let now = control.pace.unwrap_or(f64::INFINITY);
            let next = PACES
                .into_iter()
                .find(|pace| *pace > now)
                .unwrap_or(f64::INFINITY);
            model.run.control.pace = next.is_finite().then_some(next);
        }
        Command::Slower => {
            let now = control.pace.unwrap_or(f64::INFINITY);
            let next = PACES
                .into_iter()
                .rev()
                .find(|pace| *pace < now)
                .unwrap_or(PACES[0]);
            model.run.control.pace = Some(next);
        }
        Command::Up => {
            model.run.log_scroll =
                (model.run.log_scroll + 1).min(model.areas.lines.saturating_sub(model.areas.page))
        }
        Command::Down => model.run.log_scroll = model.run.log_scroll.saturating_sub(1),
        Command::First => model.run.log_scroll = model.areas.lines.saturating_sub(model.areas.page),
        Command::Last => model.run.log_scroll = 0,
        _ => {}
    }
    if model.run.control != control && model.run.running {
        return vec![Effect::Steer(model.run.control)];
    }
    Vec::new()
}

/// What can be done now: a run is stopped and its judges are dropped while it goes on.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    match command {
        Command::StartRun => !model.run.running || model.run.control.paused,
        Command::StopRun => model.run.running || model.questions.going.is_some(),
        Command::NextJudge | Command::DropJudge => model.run.running,
        _ => true,
    }
}

/// Starts a run over the project or one query of it, or resumes one that is paused. One that costs money is asked about
/// first.
pub fn start(model: &mut Model, only: Option<QueryKey>) -> Vec<Effect> {
    if model.run.running {
        if model.run.control.paused {
            model.run.control.paused = false;
            return vec![Effect::Steer(model.run.control)];
        }
        return Vec::new();
    }
    if let Some((set, _)) = &model.questions.going {
        let words = format!(
            "judges are being asked for {}; start the run when that has ended",
            set.noun()
        );
        model.inform(&words);
        return Vec::new();
    }
    if let Some(why) = model.options.missing_keys.clone() {
        model.say(Level::Error, &why);
        return Vec::new();
    }
    let scope = only.map_or(RunScope::Project, RunScope::Query);
    if model.options.paid {
        model.inform("calculating what it will cost");
        model.run.wanted = scope.clone();
        return vec![Effect::Estimate(scope)];
    }
    model.run.scope = scope;
    begin(model)
}

/// Says what a run would cost, and asks whether to start it.
pub fn ask_to_start(model: &mut Model, estimate: &CostEstimate) -> Vec<Effect> {
    if model.run.running || ask_pair::is_asked(model) {
        return Vec::new();
    }
    if estimate.calls() == 0 {
        model.run.scope = model.run.wanted.clone();
        return begin(model);
    }
    if !model.overlays.is_empty() {
        // What is being typed must not answer the question.
        model.inform("the cost is known now: press the key again to see it");
        return Vec::new();
    }
    model.run.scope = model.run.wanted.clone();
    let money = money_words(model, estimate);
    let changed: String = estimate
        .changed
        .iter()
        .map(|judge| format!("{judge} "))
        .collect();
    let scope = match model.run.scope {
        RunScope::Project => "",
        _ => "This query only: ",
    };
    let question = format!(
        "{scope}{changed}{}{} calls to language models: {money} Start?",
        if estimate.rounds { "At most " } else { "" },
        text::count(estimate.calls())
    );
    model.confirm("Start", &question, ConfirmFor::Start);
    Vec::new()
}

/// A budget as it was typed: dollars, or nothing for no limit.
pub fn typed_budget(typed: &str) -> Result<Option<f64>, String> {
    let typed = typed.trim().trim_start_matches('$');
    match typed.parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd >= 0.0 => Ok(Some(usd)),
        _ if typed.is_empty() => Ok(None),
        _ => Err("not a number of dollars, such as 2.50".to_owned()),
    }
}

/// Takes a budget that was typed.
pub fn set_budget(model: &mut Model, typed: &str) -> Vec<Effect> {
    let Ok(budget) = typed_budget(typed) else {
        return Vec::new();
    };
    model.run.control.budget_usd = budget;
    model.say(Level::Good, &begin::budget_words(model));
    vec![Effect::KeepBudget(budget)]
}

pub(crate) fn pause(model: &mut Model) -> Vec<Effect> {
    if !model.run.running {
        let start = key_on(Command::StartRun, Screen::Run);
        model.inform(&format!(
            "no run is in progress; press {start} to start one"
        ));
        return Vec::new();
    }
    model.run.control.paused = !model.run.control.paused;
    vec![Effect::Steer(model.run.control)]
}

pub(crate) fn stop(model: &mut Model) -> Vec<Effect> {
    model.run.control.cancelled = true;
    vec![Effect::Steer(model.run.control)]
}

pub(crate) fn progressed(model: &mut Model, progress: RunProgress) -> Vec<Effect> {
    let before = model.run.progress.as_ref().map_or(0, RunProgress::done);
    let changed = progress.done() != before;
    let planned = model
        .run
        .progress
        .as_ref()
        .map_or(0, |progress| progress.queries_planned)
        != progress.queries_planned;
    model.run.pace.add(progress.elapsed_s, progress.done());
    model.run.progress = Some(progress);
    if !changed && !planned {
        return Vec::new();
    }
    let mut effects = Vec::new();
    if model.screen() == Screen::Queries
        && !model.listing
        && model.now.duration_since(model.listed) >= SUMMARISE_EVERY
    {
        model.listed = model.now;
        model.listing = true;
        effects.push(Effect::List);
    }
    let watching = matches!(
        model.screen(),
        Screen::Matrix | Screen::Document | Screen::Battle | Screen::Comparison
    );
    if watching
        && model.saving == 0
        && !model.loading
        && model.now.duration_since(model.loaded) >= RELOAD_EVERY
    {
        effects.extend(model.reload());
    }
    effects
}

pub(crate) fn ended(model: &mut Model, result: Result<RunOutcome, RunError>) -> Vec<Effect> {
    model.run.running = false;
    model.run.control.cancelled = false;
    let all = ask_pair::ended(model).unwrap_or("every battle has all its votes");
    let (kind, words) = match result {
        Ok(outcome) => {
            // One that had nothing to ask leaves in sight what the one before did.
            let asked = outcome.progress.done() > 0;
            let earlier = model.run.earlier.take();
            model.run.progress = match asked || outcome.missing != Some(0) {
                true => Some(outcome.progress),
                false => earlier,
            };
            match (outcome.cancelled, outcome.missing) {
                (true, _) => {
                    let start = key_on(Command::StartRun, Screen::Run);
                    (Level::Warn, format!("stopped; press {start} to resume"))
                }
                (false, Some(0)) if asked => (Level::Good, all.to_owned()),
                (false, Some(0)) => (Level::Good, format!("nothing was left to ask: {all}")),
                (false, missing) => {
                    let missing = missing.map_or(String::new(), |votes| format!("{votes} "));
                    let why = if outcome.budget_reached {
                        "the budget is reached: "
                    } else {
                        "done, but "
                    };
                    (Level::Warn, format!("{why}{missing}votes are missing"))
                }
            }
        }
        Err(error) => (Level::Error, error.to_string()),
    };
    model.say(kind, &words);
    model.run.ended = Some(words);
    let mut effects = vec![Effect::List];
    if model.run.progress.is_none() && model.run.last.is_none() {
        effects.push(Effect::LoadLastRun);
    }
    effects.extend(model.reload());
    effects.extend(ask_pair::price_again(model));
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::annotate::progress::JudgeProgress;
    use crate::store::runs::RunId;
    use crate::tui::screens::testing::model;

    fn outcome(votes: usize) -> RunOutcome {
        let judge = JudgeProgress {
            votes,
            ..JudgeProgress::default()
        };
        let mut progress = RunProgress::default();
        progress.judges.push(judge);
        RunOutcome {
            run: RunId(1),
            progress,
            cancelled: false,
            budget_reached: false,
            missing: Some(0),
        }
    }

    #[test]
    fn a_run_that_had_nothing_to_ask_leaves_the_one_before_in_sight() {
        let mut model = model(Screen::Run);
        let run = |model: &mut Model, votes| {
            begin(model);
            progressed(model, outcome(votes).progress);
            ended(model, Ok(outcome(votes)))
        };
        let effects = run(&mut model, 0);
        assert!(
            model.run.progress.is_none(),
            "an earlier session had the last"
        );
        assert!(effects.contains(&Effect::LoadLastRun), "{effects:?}");
        run(&mut model, 7);
        assert_eq!(
            model.run.ended.as_deref(),
            Some("every battle has all its votes")
        );
        run(&mut model, 0);
        assert_eq!(model.run.progress.as_ref().map(RunProgress::votes), Some(7));
        assert!(
            model
                .run
                .ended
                .as_ref()
                .unwrap()
                .starts_with("nothing was left to ask")
        );
    }
}
