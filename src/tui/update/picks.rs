//! Picks: their dialog, the question before money is spent, and their end.

use crate::app::pick::PickProgress;
use crate::app::pick::prepared::{PickOutcome, PickPrice};
use crate::domain::adjudication::PickMode;
use crate::domain::sanitise;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::requests;
use crate::tui::screens::Screen;
use crate::tui::screens::run::begin::budget_words;
use crate::tui::text::{self, count_of};
use crate::tui::widgets::pick_dialog::{PickDialog, PickOrder};
use crate::tui::widgets::toast::Level;

/// Opens the dialog; while judges are asked, asks whether to stop that.
pub(super) fn open(model: &mut Model) -> Vec<Effect> {
    if model.picks.going.is_some() {
        let question = "Every answer so far is kept. Stop asking for picks?";
        model.confirm("Stop the picks", question, ConfirmFor::StopPicks);
        return Vec::new();
    }
    if model.run.running {
        model.inform("a run is going on; ask for picks when it has ended");
        return Vec::new();
    }
    let is_open = |overlay: &Overlay| matches!(overlay, Overlay::Picks(_));
    if model.overlays.iter().any(is_open) {
        return Vec::new();
    }
    let dialog = PickDialog::new(budget_words(model));
    model.overlays.push(Overlay::Picks(dialog));
    model.picks.generation += 1;
    look(model)
}

fn dialog(model: &mut Model) -> Option<&mut PickDialog> {
    let mut overlays = model.overlays.iter_mut();
    overlays.find_map(|overlay| match overlay {
        Overlay::Picks(dialog) => Some(dialog),
        _ => None,
    })
}

/// Asks what the chosen way would take, where that was not asked yet.
pub(super) fn look(model: &mut Model) -> Vec<Effect> {
    let generation = model.picks.generation;
    let way = dialog(model).and_then(PickDialog::ask);
    way.map(|way| Effect::PricePicks(way, generation))
        .into_iter()
        .collect()
}

pub(super) fn priced(
    model: &mut Model,
    generation: u64,
    way: PickMode,
    price: Result<PickPrice, String>,
) {
    if generation == model.picks.generation
        && let Some(dialog) = dialog(model)
    {
        dialog.priced(way, price);
    }
}

/// Begins what was chosen; where it costs money, a person is asked first.
pub(super) fn chosen(model: &mut Model, order: PickOrder) -> Vec<Effect> {
    let free = !order.price.paid || order.price.worst_usd == Some(0.0);
    if free {
        return begin(model, &order);
    }
    let cost = match (order.price.expected_usd, order.price.worst_usd) {
        (Some(expected), Some(worst)) => format!(
            "about {} expected, {} at the very most",
            text::usd(expected),
            text::usd(worst)
        ),
        _ => "at a price that is not known for every judge".to_owned(),
    };
    let question = format!(
        "{}: {cost}. {} Ask?",
        count_of(order.price.calls, "call"),
        budget_words(model)
    );
    model.picks.asked = Some(order);
    model.confirm("Ask for picks", &question, ConfirmFor::Picks);
    Vec::new()
}

/// Money may be spent on what was asked about.
pub(super) fn confirmed(model: &mut Model) -> Vec<Effect> {
    match model.picks.asked.take() {
        Some(order) => begin(model, &order),
        None => Vec::new(),
    }
}

fn begin(model: &mut Model, order: &PickOrder) -> Vec<Effect> {
    if model.run.running || model.picks.going.is_some() {
        model.inform("judges are being asked already; wait for the end of that");
        return Vec::new();
    }
    model.picks.going = Some(PickProgress {
        all: order.price.calls,
        ..PickProgress::default()
    });
    vec![Effect::Pick(order.way, order.price.calls)]
}

pub(super) fn progressed(model: &mut Model, progress: PickProgress) {
    if let Some(going) = &mut model.picks.going {
        *going = progress;
    }
}

pub(super) fn ended(model: &mut Model, result: Result<PickOutcome, String>) -> Vec<Effect> {
    model.picks.going = None;
    match result {
        Ok(outcome) => {
            let (level, words) = outcome_words(&outcome);
            model.say(level, &words);
        }
        Err(why) => model.say(Level::Error, &why),
    }
    match model.screen() {
        Screen::Adjudication => requests::disagreements(model),
        _ => Vec::new(),
    }
}

fn outcome_words(outcome: &PickOutcome) -> (Level, String) {
    let progress = &outcome.progress;
    let missing = progress.all - progress.done.min(progress.all);
    let mut parts = vec![count_of(progress.done, "pick")];
    let counts = [(progress.invalid, "invalid"), (progress.failed, "failed")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    parts.extend(counts.map(|(count, what)| format!("{} {what}", text::count(count))));
    if missing > 0 {
        let why = match (outcome.stopped, outcome.budget_reached) {
            (true, _) => "stopped: ",
            (_, true) => "the budget is reached: ",
            _ => "",
        };
        let verb = if missing == 1 { "is" } else { "are" };
        parts.push(format!(
            "{why}{} {verb} missing",
            count_of(missing, "answer")
        ));
    }
    let stopped = outcome.given_up.iter();
    parts.extend(stopped.map(|line| sanitise::line(line).into_owned()));
    if missing == 0 && progress.failed == 0 {
        let key = key_on(Command::ShowAdjudication, Screen::Queries);
        parts.push(format!(
            "{key} on the list of queries compares them with the labels"
        ));
    }
    let level = match missing + progress.failed {
        0 => Level::Good,
        _ => Level::Warn,
    };
    (level, parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::message::Msg;
    use crate::tui::screens::testing::model;
    use crate::tui::testing::key;
    use crate::tui::update::update;
    use crossterm::event::KeyCode;
    use std::time::Instant;

    fn price(paid: bool) -> PickPrice {
        PickPrice {
            pools: 2,
            calls: 6,
            already: 0,
            judges: vec!["gpt".to_owned()],
            expected_usd: Some(if paid { 0.2 } else { 0.0 }),
            worst_usd: Some(if paid { 0.5 } else { 0.0 }),
            paid,
            notes: Vec::new(),
        }
    }

    fn pressed(code: KeyCode) -> Msg {
        Msg::Key(key(code))
    }

    /// The model after the dialog was opened, its way was priced, and Enter was pressed.
    fn accepted(paid: bool) -> (Model, Vec<Effect>) {
        let mut model = model(Screen::Queries);
        let now = Instant::now();
        let effects = open(&mut model);
        let generation = model.picks.generation;
        assert_eq!(effects, [Effect::PricePicks(PickMode::Exactly, generation)]);
        let late = Msg::PicksPriced(generation - 1, PickMode::Exactly, Err("late".to_owned()));
        update(&mut model, late, now);
        let price = Ok(price(paid));
        let msg = Msg::PicksPriced(generation, PickMode::Exactly, price);
        update(&mut model, msg, now);
        let effects = update(&mut model, pressed(KeyCode::Enter), now);
        (model, effects)
    }

    #[test]
    fn free_judges_are_asked_at_once_and_paid_ones_after_a_yes() {
        let (model, effects) = accepted(false);
        assert_eq!(effects, [Effect::Pick(PickMode::Exactly, 6)]);
        assert!(model.picks.going.is_some() && model.overlays.is_empty());

        let (mut model, effects) = accepted(true);
        assert_eq!(effects, []);
        let now = Instant::now();
        assert_eq!(
            update(&mut model, pressed(KeyCode::Enter), now),
            [],
            "no is chosen"
        );
        assert!(model.overlays.is_empty() && model.picks.going.is_none());
        let (mut model, _) = accepted(true);
        let effects = update(&mut model, pressed(KeyCode::Char('y')), now);
        assert_eq!(effects, [Effect::Pick(PickMode::Exactly, 6)]);
        assert_eq!(open(&mut model), [], "asks whether to stop");
        let effects = update(&mut model, pressed(KeyCode::Char('y')), now);
        assert_eq!(effects, [Effect::StopPicks]);
    }

    #[test]
    fn the_price_of_a_way_is_worked_out_once() {
        let mut model = model(Screen::Queries);
        let now = Instant::now();
        let mut effects = open(&mut model);
        for code in [KeyCode::Down, KeyCode::Up, KeyCode::Down, KeyCode::Up] {
            effects.extend(update(&mut model, pressed(code), now));
        }
        let generation = model.picks.generation;
        let once = [PickMode::Exactly, PickMode::AnyNumber];
        assert_eq!(effects, once.map(|way| Effect::PricePicks(way, generation)));
    }

    #[test]
    fn the_end_says_what_is_missing() {
        let mut outcome = PickOutcome {
            progress: PickProgress {
                done: 6,
                all: 6,
                ..PickProgress::default()
            },
            ..PickOutcome::default()
        };
        let (level, words) = outcome_words(&outcome);
        assert!(
            level == Level::Good && words.starts_with("6 picks · C on"),
            "{words}"
        );
        outcome.progress.done = 5;
        outcome.progress.failed = 2;
        outcome.budget_reached = true;
        let (level, words) = outcome_words(&outcome);
        let wanted = "5 picks · 2 failed · the budget is reached: 1 answer is missing";
        assert_eq!((level, words.as_str()), (Level::Warn, wanted));
    }
}
