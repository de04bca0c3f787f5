//! The name under which a person's decisions are stored: it is asked for before the first one among
//! other people's, and changed in the settings.

use crate::domain::annotator_name::{annotator_name, look_alikes};
use crate::registry;
use crate::store::drafts::DecisionSubject;
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request};
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, PromptFor};
use crate::tui::screens::Screen;
use crate::tui::widgets::toast::Level;
use std::collections::HashMap;

/// The name that the person is asked to confirm.
#[derive(Debug, Default)]
struct NewName(Option<String>);

/// The drafts of the person's reasons.
#[derive(Debug, PartialEq)]
struct ReadDrafts;

impl Request for ReadDrafts {
    type Answer = HashMap<DecisionSubject, String>;

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<Self::Answer> {
        db.drafts(context.annotator())
    }
}

/// Asks for the name before a first decision, suggesting the current one.
pub(super) fn ask_first(model: &mut Model) {
    let name = model.options.annotator.clone();
    let label = "Others have decided here. Your name: ";
    model.ask(
        label,
        "stored with each of your decisions",
        &name,
        PromptFor::Annotator,
    );
}

/// Asks for another name, unless a decision on the screen would be stored under it.
pub(super) fn ask_another(model: &mut Model) {
    if let Some(screen) = unkept_decision(model) {
        let keep = key_on(Command::Open, screen);
        model.inform(&format!(
            "the name stays until your decision is kept: {keep} on the {} screen",
            screen.name()
        ));
        return;
    }
    let placeholder = "stored with each of your decisions";
    model.ask("New name: ", placeholder, "", PromptFor::Annotator);
}

/// The screen with a decision that is still to be kept.
fn unkept_decision(model: &Model) -> Option<Screen> {
    let reviewed = model.queue.current.as_ref();
    let ruled = model.adjudication.current.as_ref();
    let unkept = [
        (
            Screen::REVIEW,
            reviewed.is_some_and(|current| !current.is_undecided()),
        ),
        (
            Screen::RULING,
            ruled.is_some_and(|current| current.ruled.is_some()),
        ),
    ];
    unkept
        .into_iter()
        .find(|(screen, is_unkept)| *is_unkept && model.stack.contains(screen))
        .map(|(screen, _)| screen)
}

/// Why a text is not a name.
pub(super) fn refusal(text: &str) -> Option<String> {
    annotator_name(text)
        .is_none()
        .then(|| "a name is needed".to_owned())
}

/// A name was typed. A first name that nobody else has is used at once; other changes ask.
pub(super) fn named(model: &mut Model, text: &str) -> Vec<Effect> {
    let Some(name) = annotator_name(text) else {
        return Vec::new();
    };
    let known = &model.options.people;
    let warning = if known.contains(&name) {
        format!(" {name} has decisions in this project; continue only if that is you.")
    } else {
        let alike = look_alikes(&name, known).join(", ");
        if alike.is_empty() {
            String::new()
        } else {
            format!(" {name} looks like {alike}.")
        }
    };
    if name == model.options.annotator {
        model.options.asks_name = false;
        model.say(Level::Good, &format!("your decisions are stored as {name}"));
        return Vec::new();
    }
    if model.options.asks_name && warning.is_empty() {
        return rename(model, name);
    }
    let question = format!(
        "Store your decisions as {name} from now on? Decisions made as {} keep that \
         name.{warning}",
        model.options.annotator
    );
    model.state_mut::<NewName>().0 = Some(name);
    model.confirm("Change the annotator", &question, ConfirmFor::Annotator);
    Vec::new()
}

/// The person has confirmed the new name.
pub(super) fn confirmed(model: &mut Model) -> Vec<Effect> {
    match model.state_mut::<NewName>().0.take() {
        Some(name) => rename(model, name),
        None => Vec::new(),
    }
}

/// Continues under another name. A first name takes over the drafts; otherwise, they stay with the
/// previous name, whose decisions can no longer be redone.
fn rename(model: &mut Model, name: String) -> Vec<Effect> {
    // What is pending on a screen belongs to the previous name.
    let mut effects = Vec::new();
    for screen in model.stack.clone() {
        effects.extend(registry::screen(screen).leave(model));
    }
    let words = format!("your decisions are stored as {name} from now on");
    model.say(Level::Good, &words);
    model.options.annotator.clone_from(&name);
    if !model.options.asks_name {
        model.drafts.clear();
    }
    model.options.asks_name = false;
    model.undone_verdicts.clear();
    model.undone_rulings.clear();
    let drafts = Job::read(ReadDrafts, |model: &mut Model, found| {
        for (subject, note) in found {
            model.drafts.entry(subject).or_insert(note);
        }
        Vec::new()
    });
    effects.extend([Effect::Rename(name), drafts.into()]);
    if model.queue.loaded {
        effects.extend(model.build_queue());
    }
    for screen in model.stack.clone() {
        effects.extend(registry::screen(screen).renamed(model));
    }
    for service in registry::SERVICES {
        service.renamed(model);
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::job::asked;
    use crate::tui::message::Msg;
    use crate::tui::screens::testing::sized;
    use crate::tui::testing::{key, typed};
    use crate::tui::update::requests::verdicts::SaveVerdict;
    use crate::tui::update::update;
    use crossterm::event::{KeyCode, KeyEvent};
    use std::time::Duration;

    fn press(model: &mut Model, keys: impl IntoIterator<Item = KeyEvent>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for key in keys {
            let now = model.now + Duration::from_secs(1);
            effects.extend(update(model, Msg::Key(key), now));
        }
        effects
    }

    fn among_others() -> Model {
        let mut model = sized(Screen::BATTLE, 3, 1);
        model.options.people = vec!["bea".to_owned()];
        model.options.asks_name = true;
        model
    }

    fn stored_as(effects: &[Effect]) -> Option<String> {
        let SaveVerdict(new) = asked(effects)?;
        Some(new.annotator.clone())
    }

    const ENTER: KeyCode = KeyCode::Enter;

    #[test]
    fn the_name_is_asked_for_once_before_the_first_verdict_among_other_peoples() {
        let mut model = among_others();
        let effects = press(&mut model, typed("b"));
        assert_eq!(stored_as(&effects), None);
        let clear = KeyEvent::new(KeyCode::Char('u'), crossterm::event::KeyModifiers::CONTROL);
        press(&mut model, [clear]);
        let effects = press(&mut model, typed("dana").chain([key(ENTER)]));
        assert_eq!(effects.first(), Some(&Effect::Rename("dana".to_owned())));
        assert!(model.overlays.is_empty());
        let effects = press(&mut model, typed("b"));
        assert_eq!(stored_as(&effects).as_deref(), Some("dana"));
    }

    #[test]
    fn the_suggested_name_is_accepted_with_enter_and_a_blank_one_is_refused() {
        let mut model = among_others();
        press(&mut model, typed("b").chain([key(ENTER)]));
        let effects = press(&mut model, typed("b"));
        assert_eq!(stored_as(&effects).as_deref(), Some("ann"));
        assert!(refusal(" \u{200b}").is_some() && refusal("ann").is_none());
    }

    #[test]
    fn the_name_of_someone_else_is_used_only_after_a_confirmation() {
        for (name, is_confirmed) in [("bea", true), ("Bea", true), ("cleo", false)] {
            let mut model = among_others();
            let effects = named(&mut model, name);
            assert_eq!(effects.is_empty(), is_confirmed, "{name}");
            if is_confirmed {
                let effects = press(&mut model, typed("y"));
                assert_eq!(effects.first(), Some(&Effect::Rename(name.to_owned())));
            }
            assert_eq!(model.options.annotator, name);
        }
    }

    #[test]
    fn another_name_is_always_confirmed_and_a_declined_one_changes_nothing() {
        let mut model = sized(Screen::BATTLE, 3, 1);
        assert_eq!(named(&mut model, "cleo"), []);
        assert_eq!(model.options.annotator, "ann");
        assert_eq!(press(&mut model, [key(KeyCode::Esc)]), []);
        assert_eq!(model.options.annotator, "ann");
        named(&mut model, "cleo");
        let effects = press(&mut model, typed("y"));
        assert_eq!(effects.first(), Some(&Effect::Rename("cleo".to_owned())));
    }
}
