//! The guided tour of a sample: list, matrix, surprising battle, verdict, judges, queue. Its step
//! follows from what is on screen, so it never gets out of step with the person.

use super::keymap::{Command, key_on};
use super::message::Effect;
use super::model::Model;
use super::screens::Screen;
use super::text;
use crate::domain::battle::Pair;

const STEPS: usize = 6;

/// A step: its number, what is on screen, and the command that leads on with its effect.
struct TourStep {
    number: usize,
    about: &'static str,
    command: Command,
    effect: &'static str,
}

impl TourStep {
    const fn new(
        number: usize,
        about: &'static str,
        command: Command,
        effect: &'static str,
    ) -> Self {
        Self {
            number,
            about,
            command,
            effect,
        }
    }

    /// The step on the current screen.
    fn of(model: &Model) -> Self {
        match model.screen() {
            Screen::QUERIES if has_votes(model) => {
                Self::new(1, "Each row is a query.", Command::Open, "opens its matrix")
            }
            Screen::QUERIES => Self::new(
                1,
                "Each row is a query.",
                Command::StartRun,
                "lets judges compare documents",
            ),
            Screen::RUN => Self::new(
                1,
                if model.run.running {
                    "The judges are at work."
                } else {
                    "The run has ended."
                },
                Command::Back,
                "returns to the list",
            ),
            Screen::MATRIX if model.matrix.surprise.is_some() => Self::new(
                3,
                "It surprises the fit most.",
                Command::Open,
                "opens the battle",
            ),
            Screen::MATRIX if can_surprise(model) => Self::new(
                2,
                "A cell is a pair.",
                Command::NextSurprise,
                "finds the oddest battle",
            ),
            Screen::MATRIX => Self::new(2, "A cell is a pair.", Command::Open, "opens the battle"),
            Screen::BATTLE if is_decided(model) => Self::new(
                5,
                "Your verdict counts.",
                Command::ShowJudges,
                "shows how good each judge is",
            ),
            Screen::BATTLE => Self::new(
                4,
                "Are the judges right?",
                Command::JudgeA,
                "or b overrules them",
            ),
            Screen::JUDGES => Self::new(
                6,
                "Whom to trust?",
                Command::ShowQueue,
                "lists what to check",
            ),
            _ => Self::new(0, "", Command::Back, "returns to the tour"),
        }
    }
}

/// Whether the selected query has votes.
fn has_votes(model: &Model) -> bool {
    let selected = model.queries.selected();
    selected
        .and_then(|(_, summary)| summary.as_ref())
        .is_some_and(|summary| summary.fought > 0)
}

fn can_surprise(model: &Model) -> bool {
    let open = model.open.as_ref();
    open.is_some_and(|open| !open.view.most_surprising().is_empty())
}

/// Whether the person has decided the battle on screen.
fn is_decided(model: &Model) -> bool {
    let pair = model.battle.pair();
    let verdict = |pair: Pair| model.open.as_ref()?.view.verdict(pair);
    pair.and_then(verdict)
        .is_some_and(|verdict| verdict.annotator == model.options.annotator)
}

/// The line of the tour in at most this many columns if it fits without what is on screen; `None`
/// if there is none.
pub(crate) fn line(model: &Model, columns: usize) -> Option<String> {
    let step = model.tour.then(|| TourStep::of(model))?;
    let key = key_on(step.command, model.screen());
    let TourStep { about, effect, .. } = step;
    let lead = match step.number {
        0 => "tour".to_owned(),
        number => format!("tour {number} of {STEPS}"),
    };
    let gap = if about.is_empty() { "" } else { " " };
    let whole = format!("{lead} · {about}{gap}{key} {effect}.");
    Some(if text::width(&whole) <= columns {
        whole
    } else {
        format!("{lead} · {key} {effect}.")
    })
}

/// The key that ends the tour, with its effect.
pub(crate) fn end_hint(model: &Model) -> String {
    format!("{} ends it", key_on(Command::Tour, model.screen()))
}

/// The command that leads to the next step although it has no key on this screen.
pub(crate) fn next(model: &Model) -> Option<Command> {
    let step = model.tour.then(|| TourStep::of(model))?;
    (step.command == Command::ShowJudges).then_some(step.command)
}

/// Starts the tour from the beginning, or ends it.
pub(crate) fn toggle(
    model: &mut Model,
    back_to_list: impl FnOnce(&mut Model) -> Vec<Effect>,
) -> Vec<Effect> {
    if model.options.sample.is_none() {
        model.inform("the tour is part of the samples: overrule demo");
        return Vec::new();
    }
    model.tour = !model.tour;
    if model.tour {
        model.matrix.surprise = None;
        return back_to_list(model);
    }
    tell_end(model);
    Vec::new()
}

/// Ends the tour if its last command was given.
pub(crate) fn follow(model: &mut Model, command: Command) {
    if model.tour && model.screen() == Screen::JUDGES && command == Command::ShowQueue {
        model.tour = false;
        tell_end(model);
    }
}

fn tell_end(model: &mut Model) {
    let palette = key_on(Command::Palette, model.screen());
    let words = format!(
        "the tour has ended; {palette}{} starts it again",
        Command::Tour
    );
    model.inform(&words);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::project::Sample;
    use crate::tui::screens::testing;
    use crate::tui::update::commands::on_command;

    fn touring(screen: Screen) -> Model {
        let mut model = testing::model(screen);
        model.options.sample = Some(Sample::Scifact);
        model.tour = true;
        model
    }

    #[test]
    fn every_step_fits_a_narrow_terminal_next_to_the_key_that_ends_it() {
        for screen in Screen::all() {
            for (surprise, columns) in [(None, 58), (Some(0), 58), (None, 78), (Some(0), 78)] {
                let mut model = touring(screen);
                model.matrix.surprise = surprise;
                let ends = end_hint(&model);
                let room = columns - text::width(&ends) - 2;
                let words = line(&model, room).unwrap();
                assert!(text::width(&words) <= room, "{words}");
                let about = TourStep::of(&model).about;
                assert!(columns < 78 || words.contains(about), "{words}");
            }
        }
    }

    #[test]
    fn the_steps_follow_the_screens() {
        let said = |model: &Model| line(model, 80).unwrap();
        let mut model = touring(Screen::MATRIX);
        assert!(said(&model).starts_with("tour 2 of 6"), "{}", said(&model));
        on_command(&mut model, Command::NextSurprise);
        assert!(said(&model).starts_with("tour 3 of 6"), "{}", said(&model));
        on_command(&mut model, Command::Open);
        assert!(said(&model).starts_with("tour 4 of 6"), "{}", said(&model));
        assert_eq!(next(&model), None);
        let model = touring(Screen::JUDGES);
        assert!(said(&model).starts_with("tour 6 of 6"), "{}", said(&model));
    }

    #[test]
    fn it_ends_for_good_and_exists_only_in_a_sample() {
        let mut model = touring(Screen::MATRIX);
        on_command(&mut model, Command::Tour);
        assert_eq!(line(&model, 80), None);
        assert!(crate::tui::model::remembered::Remembered::of(&model).toured);
        on_command(&mut model, Command::Tour);
        assert!(line(&model, 80).unwrap().starts_with("tour 1 of 6"));
        assert_eq!(model.screen(), Screen::QUERIES);
        model.options.sample = None;
        model.tour = false;
        on_command(&mut model, Command::Tour);
        assert_eq!(line(&model, 80), None);
    }
}
