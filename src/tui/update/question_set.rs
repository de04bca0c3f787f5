//! Picks and the questions of features: their dialogs, the question before money is spent, and
//! their result.

use crate::app::error::AppError;
use crate::app::question_set::{
    BatchStep, QuestionOffer, QuestionSet, QuestionSetOutcome, QuestionSetPrice,
    QuestionSetProgress,
};
use crate::domain::adjudication::PickMode;
use crate::domain::sanitize;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::requests;
use crate::tui::screens::Screen;
use crate::tui::screens::run;
use crate::tui::screens::run::begin::budget_words;
use crate::tui::text::{self, counted};
use crate::tui::widgets::question_dialog::{QuestionDialog, QuestionOrder, QuestionWay};
use crate::tui::widgets::toast::Level;

/// The modes of picking, each with its name and the question to a judge.
const PICKS: [(PickMode, &str, &str); 3] = [
    (
        PickMode::Exactly,
        "as many as labels",
        "a judge is told how many are labeled relevant",
    ),
    (
        PickMode::AnyNumber,
        "any number",
        "a judge names all documents it finds relevant",
    ),
    (
        PickMode::PerDocument,
        "every document",
        "supports, refutes or not enough, with the sentence",
    ),
];

pub(super) fn open_picks(model: &mut Model) -> Vec<Effect> {
    let ways = PICKS.map(|(way, name, doc)| QuestionWay {
        set: QuestionSet::Picks(way),
        name: name.to_owned(),
        doc: doc.to_owned(),
    });
    open(model, "Picks", ways.to_vec())
}

/// The parts of the work with batches, each with its name and a description.
const BATCHES: [(BatchStep, &str, &str); 2] = [
    (
        BatchStep::Submit,
        "submit",
        "the missing calls, cheaper and within a day",
    ),
    (
        BatchStep::Fetch,
        "fetch",
        "the votes of the batches that have ended",
    ),
];

pub(super) fn open_batches(model: &mut Model) -> Vec<Effect> {
    if let Some(why) = model.options.no_run.clone() {
        model.say(Level::Error, &why);
        return Vec::new();
    }
    let ways = BATCHES.map(|(step, name, doc)| QuestionWay {
        set: QuestionSet::Batches(step),
        name: name.to_owned(),
        doc: doc.to_owned(),
    });
    open(model, "Batches", ways.to_vec())
}

/// Opens the questions of a feature.
pub(super) fn open_added(model: &mut Model, offer: &QuestionOffer) -> Vec<Effect> {
    let ways = (offer.choices)(&model.options.judges)
        .into_iter()
        .map(|choice| QuestionWay {
            set: QuestionSet::Added(choice.questions, choice.judges),
            name: choice.name,
            doc: choice.doc,
        })
        .collect();
    open(model, offer.title, ways)
}

/// Opens the questions that a screen has offered.
pub(super) fn open_offered(model: &mut Model) -> Vec<Effect> {
    match model.questions.offered.take() {
        Some((title, ways)) => open(model, title, ways),
        None => Vec::new(),
    }
}

/// Opens the dialog; while judges are being asked, asks whether to stop that.
fn open(model: &mut Model, title: &'static str, ways: Vec<QuestionWay>) -> Vec<Effect> {
    if model.questions.going.is_some() {
        requests::stop_questions(model);
        return Vec::new();
    }
    if model.run.running {
        model.inform("a run is in progress; ask when it has ended");
        return Vec::new();
    }
    if ways.is_empty() {
        model.inform("no judge is set up: `overrule judges check` says what is missing");
        return Vec::new();
    }
    if dialog(model).is_some() {
        return Vec::new();
    }
    let dialog = QuestionDialog::new(title, ways, budget_words(model));
    model.overlays.push(Overlay::Questions(dialog));
    model.forget_prices();
    look(model)
}

fn dialog(model: &mut Model) -> Option<&mut QuestionDialog> {
    model.overlays.iter_mut().find_map(|overlay| match overlay {
        Overlay::Questions(dialog) => Some(dialog),
        _ => None,
    })
}

/// Requests the price of the chosen option, if it was not requested yet.
pub(super) fn look(model: &mut Model) -> Vec<Effect> {
    match dialog(model).and_then(QuestionDialog::ask) {
        Some(set) => vec![model.price_questions(set)],
        None => Vec::new(),
    }
}

pub(crate) fn priced(
    model: &mut Model,
    set: &QuestionSet,
    price: Result<QuestionSetPrice, AppError>,
) {
    if let Some(dialog) = dialog(model) {
        // The user has not typed an option here.
        let words = |error: AppError| {
            let words = error.to_string();
            words.trim_start_matches("--judges: ").to_owned()
        };
        dialog.priced(set, price.map_err(words));
    }
}

/// Starts the chosen option; if it costs money, the person is asked first.
pub(super) fn chosen(model: &mut Model, order: QuestionOrder) -> Vec<Effect> {
    let free = !order.price.paid || order.price.worst_usd == Some(0.0);
    if free {
        return begin(model, &order);
    }
    let cost = match (order.price.expected_usd, order.price.worst_usd) {
        (Some(expected), Some(worst)) => format!(
            "about {} expected, {} at most",
            text::usd(expected),
            text::usd(worst)
        ),
        _ => "the price is not known for every judge".to_owned(),
    };
    let (title, verb) = match order.set {
        QuestionSet::Batches(_) => ("Submit batches", "Submit"),
        QuestionSet::Picks(_) | QuestionSet::Added(..) | QuestionSet::Given(_) => {
            ("Ask the judges", "Ask")
        }
    };
    let question = format!(
        "{}: {cost}. {} {verb}?",
        counted(order.price.calls, "call"),
        budget_words(model)
    );
    model.questions.asked = Some(order);
    model.confirm(title, &question, ConfirmFor::Questions);
    Vec::new()
}

/// The person has confirmed the cost.
pub(super) fn confirmed(model: &mut Model) -> Vec<Effect> {
    match model.questions.asked.take() {
        Some(order) => begin(model, &order),
        None => Vec::new(),
    }
}

fn begin(model: &mut Model, order: &QuestionOrder) -> Vec<Effect> {
    if model.run.running || model.questions.going.is_some() {
        model.inform("judges are being asked already; wait until that ends");
        return Vec::new();
    }
    let progress = QuestionSetProgress {
        all: order.price.calls,
        ..QuestionSetProgress::default()
    };
    model.questions.going = Some((order.set.clone(), progress));
    vec![Effect::AskQuestions(order.set.clone(), order.price.calls)]
}

pub(super) fn progressed(model: &mut Model, progress: QuestionSetProgress) {
    if let Some((_, going)) = &mut model.questions.going {
        *going = progress;
    }
}

pub(super) fn ended(
    model: &mut Model,
    result: Result<QuestionSetOutcome, AppError>,
) -> Vec<Effect> {
    let Some((set, _)) = model.questions.going.take() else {
        return Vec::new();
    };
    let (level, words) = match result {
        Ok(outcome) => outcome_words(&set, &outcome),
        Err(error) => (Level::Error, error.to_string()),
    };
    model.say(level, &words);
    model.questions.ended = Some(format!("{}: {words}", set.describe()));
    match (set, model.screen()) {
        (QuestionSet::Picks(_), Screen::ADJUDICATION) => model.read_overview(),
        (QuestionSet::Picks(_), _) => Vec::new(),
        (QuestionSet::Batches(_), _) => run::update::after_votes(model),
        // The result may be a scale, which the list and the documents show.
        (QuestionSet::Added(..) | QuestionSet::Given(_), _) => {
            let mut effects = vec![model.read_scale()];
            effects.extend(model.behavior().answered(model));
            effects
        }
    }
}

fn batch_words(outcome: &QuestionSetOutcome) -> (Level, String) {
    let mut parts = outcome.notes.clone();
    if outcome.stopped {
        parts.push("stopped".to_owned());
    }
    if outcome.budget_reached {
        parts.push("the budget is reached: raise it to submit the other calls".to_owned());
    }
    parts.extend(outcome.troubles.iter().cloned());
    if parts.is_empty() {
        parts.push("nothing was left to submit or to fetch".to_owned());
    }
    let is_done = !outcome.stopped && !outcome.budget_reached && outcome.troubles.is_empty();
    let level = if is_done { Level::Good } else { Level::Warn };
    (level, sanitize::line(&parts.join(" · ")).into_owned())
}

fn outcome_words(set: &QuestionSet, outcome: &QuestionSetOutcome) -> (Level, String) {
    let progress = &outcome.progress;
    let missing = progress.all - progress.done.min(progress.all);
    let noun = match set {
        QuestionSet::Batches(_) => return batch_words(outcome),
        QuestionSet::Picks(_) => "pick",
        QuestionSet::Added(questions, _) => questions.answer_noun(),
        QuestionSet::Given(questions) => questions.answer_noun(),
    };
    let mut parts = vec![counted(progress.done, noun)];
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
            counted(missing, "answer")
        ));
    }
    let troubles = outcome.troubles.iter();
    parts.extend(troubles.map(|line| sanitize::line(line).into_owned()));
    if missing == 0 && progress.failed == 0 && matches!(set, QuestionSet::Picks(_)) {
        let key = key_on(Command::ShowAdjudication, Screen::QUERIES);
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
    use crate::tui::job::{answer, fail, only};
    use crate::tui::message::Msg;
    use crate::tui::screens::testing::model;
    use crate::tui::testing::key;
    use crate::tui::update::requests::runs::PriceQuestions;
    use crate::tui::update::update;
    use crossterm::event::KeyCode;
    use std::time::Instant;

    const EXACTLY: QuestionSet = QuestionSet::Picks(PickMode::Exactly);

    fn price(paid: bool) -> QuestionSetPrice {
        QuestionSetPrice {
            about: "2 pools".to_owned(),
            calls: 6,
            already: None,
            pending: None,
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

    /// Opens the dialog, delivers the price of its option, and presses Enter.
    fn accepted(paid: bool) -> (Model, Vec<Effect>) {
        let mut model = model(Screen::QUERIES);
        let now = Instant::now();
        let mut late = vec![model.price_questions(EXACTLY)];
        let mut effects = open_picks(&mut model);
        assert_eq!(only(&effects), Some(&PriceQuestions(EXACTLY)));
        update(&mut model, fail::<PriceQuestions>(&mut late, "late"), now);
        let price = answer::<PriceQuestions>(&mut effects, price(paid));
        update(&mut model, price, now);
        let effects = update(&mut model, pressed(KeyCode::Enter), now);
        (model, effects)
    }

    #[test]
    fn free_judges_are_asked_at_once_and_paid_ones_after_a_yes() {
        let (model, effects) = accepted(false);
        assert_eq!(effects, [Effect::AskQuestions(EXACTLY, 6)]);
        assert!(model.questions.going.is_some() && model.overlays.is_empty());

        let (mut model, effects) = accepted(true);
        assert_eq!(effects, []);
        let now = Instant::now();
        assert_eq!(
            update(&mut model, pressed(KeyCode::Enter), now),
            [],
            "no is chosen"
        );
        assert!(model.overlays.is_empty() && model.questions.going.is_none());
        let (mut model, _) = accepted(true);
        let effects = update(&mut model, pressed(KeyCode::Char('y')), now);
        assert_eq!(effects, [Effect::AskQuestions(EXACTLY, 6)]);
        assert_eq!(open_picks(&mut model), [], "asks whether to stop");
        let effects = update(&mut model, pressed(KeyCode::Char('y')), now);
        assert_eq!(effects, [Effect::StopQuestions]);
    }

    #[test]
    fn the_price_of_a_way_is_worked_out_once() {
        let mut model = model(Screen::QUERIES);
        let now = Instant::now();
        let mut effects = open_picks(&mut model);
        for code in [KeyCode::Down, KeyCode::Up, KeyCode::Down, KeyCode::Up] {
            effects.extend(update(&mut model, pressed(code), now));
        }
        let once = [EXACTLY, QuestionSet::Picks(PickMode::AnyNumber)];
        assert_eq!(effects, once.map(|way| model.price_questions(way)));
    }

    #[test]
    fn batches_are_submitted_after_a_yes_and_fetched_at_once() {
        let submit = QuestionSet::Batches(BatchStep::Submit);
        let fetch = QuestionSet::Batches(BatchStep::Fetch);
        let mut model = model(Screen::RUN);
        let now = Instant::now();
        let mut effects = update(&mut model, pressed(KeyCode::Char('Q')), now);
        assert_eq!(only(&effects), Some(&PriceQuestions(submit.clone())));
        let priced = answer::<PriceQuestions>(&mut effects, price(true));
        update(&mut model, priced, now);
        assert_eq!(update(&mut model, pressed(KeyCode::Enter), now), []);
        assert!(matches!(
            model.overlays.last(),
            Some(Overlay::Confirm(_, ConfirmFor::Questions))
        ));
        let effects = update(&mut model, pressed(KeyCode::Char('y')), now);
        assert_eq!(effects, [Effect::AskQuestions(submit, 6)]);
        model.questions.going = None;

        update(&mut model, pressed(KeyCode::Char('Q')), now);
        let mut effects = update(&mut model, pressed(KeyCode::Down), now);
        let open = QuestionSetPrice {
            calls: 0,
            pending: Some("2 open batches with 400 calls".to_owned()),
            worst_usd: Some(0.0),
            ..price(true)
        };
        let priced = answer::<PriceQuestions>(&mut effects, open);
        update(&mut model, priced, now);
        let effects = update(&mut model, pressed(KeyCode::Enter), now);
        assert_eq!(effects, [Effect::AskQuestions(fetch.clone(), 0)]);
        let outcome = QuestionSetOutcome {
            notes: vec!["batch 1 (gpt): 398 votes, 2 failures".to_owned()],
            troubles: vec!["batch 2 (gpt): the server is down".to_owned()],
            ..QuestionSetOutcome::default()
        };
        ended(&mut model, Ok(outcome));
        assert_eq!(
            model.questions.ended.as_deref(),
            Some(
                "batches: batch 1 (gpt): 398 votes, 2 failures · batch 2 (gpt): the server is down"
            )
        );
    }

    #[test]
    fn the_end_says_what_is_missing() {
        let mut outcome = QuestionSetOutcome {
            progress: QuestionSetProgress {
                done: 6,
                all: 6,
                ..QuestionSetProgress::default()
            },
            ..QuestionSetOutcome::default()
        };
        let (level, words) = outcome_words(&EXACTLY, &outcome);
        assert!(
            level == Level::Good && words.starts_with("6 picks · C on"),
            "{words}"
        );
        outcome.progress.done = 5;
        outcome.progress.failed = 2;
        outcome.budget_reached = true;
        let (level, words) = outcome_words(&EXACTLY, &outcome);
        let wanted = "5 picks · 2 failed · the budget is reached: 1 answer is missing";
        assert_eq!((level, words.as_str()), (Level::Warn, wanted));
    }
}
