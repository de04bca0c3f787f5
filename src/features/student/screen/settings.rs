//! Settings: which student counts along with the votes, and its weight.

use crate::app::error::AppError;
use crate::domain::ranking::{OPINION_WEIGHTS, OpinionWeight};
use crate::domain::sanitize;
use crate::features::student::app::naming::{StudentChoice, name_student};
use crate::store::{self, Db};
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::additions::{AddedSettings, PutValues};
use crate::tui::slot::Slot;
use crate::tui::widgets::settings_dialog::{Setting, SettingKind, SettingsDialog};
use crate::tui::widgets::toast::Level;

const STUDENT: SettingKind = SettingKind::Added("student");
const WEIGHT: SettingKind = SettingKind::Added("student's weight");

/// The student that was chosen last counts, however long the previous choice takes.
const NAMING: Slot = Slot::shared("student of the project");

/// The initial weight of a newly chosen student: zero, so that choosing one changes no score.
const NO_WEIGHT: OpinionWeight = OpinionWeight::Set(0.0);
const NO_STUDENT: &str = "none";

pub(crate) struct StudentSettings;

impl AddedSettings for StudentSettings {
    fn read(&self, db: &Db) -> store::Result<PutValues> {
        let choice = StudentChoice::read(db)?;
        Ok(Box::new(|model| *model.state_mut() = choice))
    }

    fn rows(&self, model: &Model) -> Vec<Setting> {
        rows(model.state())
    }

    fn keep(&self, model: &mut Model, dialog: &SettingsDialog) -> Vec<Effect> {
        let known: &StudentChoice = model.state();
        let chosen = chosen_student(known, dialog);
        if is_weight_of_nobody(known, dialog) {
            model.say(
                Level::Error,
                "a weight needs a student: choose one too; the other settings are stored in this \
                 project",
            );
        }
        chosen
            .map(|choice| model.name_student(choice))
            .into_iter()
            .collect()
    }
}

/// Which student counts, and its weight if there is one.
fn rows(student: &StudentChoice) -> Vec<Setting> {
    let names = student.names.iter();
    let names = names.map(|name| sanitize::line(name).into_owned());
    let values: Vec<String> = [NO_STUDENT.to_owned()].into_iter().chain(names).collect();
    let named = student.named.as_ref().map(|(name, _)| name);
    let at = named.and_then(|named| student.names.iter().position(|name| name == named));
    let mut rows = vec![Setting {
        kind: STUDENT,
        name: "student",
        doc: if student.names.is_empty() {
            "The project holds no student yet: overrule student train --name NAME fits one to its \
             votes."
        } else {
            "Of the project, for everybody: whose predictions count along with the votes, \
             according to its weight."
        },
        values,
        chosen: at.map_or(0, |at| at + 1),
    }];
    if !student.names.is_empty() {
        let weights = weights(student);
        let now = weight_of(student);
        rows.push(Setting {
            kind: WEIGHT,
            name: "student's weight",
            doc: "How much its predictions count, in battles per document; auto estimates it from \
                  the votes. Changes scores.",
            values: weights.iter().map(weight_name).collect(),
            chosen: weights
                .iter()
                .position(|weight| *weight == now)
                .unwrap_or(0),
        });
    }
    rows
}

/// The current weight.
fn weight_of(student: &StudentChoice) -> OpinionWeight {
    student
        .named
        .as_ref()
        .map_or(NO_WEIGHT, |(_, weight)| *weight)
}

/// The weights to choose from; a different current value is added to them.
fn weights(student: &StudentChoice) -> Vec<OpinionWeight> {
    let mut weights: Vec<OpinionWeight> = [OpinionWeight::Auto]
        .into_iter()
        .chain(OPINION_WEIGHTS.map(OpinionWeight::Set))
        .collect();
    if let Some((_, now)) = student.named
        && !weights.contains(&now)
    {
        weights.push(now);
    }
    weights
}

fn weight_name(weight: &OpinionWeight) -> String {
    match weight {
        OpinionWeight::Auto => "auto".to_owned(),
        OpinionWeight::Set(0.0) => "0: shown, not counted".to_owned(),
        OpinionWeight::Set(battles) => format!("{battles} battles per document"),
    }
}

fn chosen_weight(known: &StudentChoice, dialog: &SettingsDialog) -> Option<OpinionWeight> {
    weights(known).get(dialog.chosen(WEIGHT)?).copied()
}

/// The chosen student, if the student or its weight differs from before.
fn chosen_student(
    known: &StudentChoice,
    dialog: &SettingsDialog,
) -> Option<Option<(String, OpinionWeight)>> {
    let at = dialog.chosen(STUDENT)?;
    let name = at.checked_sub(1).and_then(|at| known.names.get(at));
    let weight = chosen_weight(known, dialog).unwrap_or(NO_WEIGHT);
    let chosen = name.map(|name| (name.clone(), weight));
    (chosen != known.named).then_some(chosen)
}

/// Whether a weight was chosen without a student.
fn is_weight_of_nobody(known: &StudentChoice, dialog: &SettingsDialog) -> bool {
    dialog.chosen(STUDENT) == Some(0)
        && chosen_weight(known, dialog).is_some_and(|weight| weight != weight_of(known))
}

/// Sets the project's student and its weight, or clears it. Estimating the weight may require
/// fitting many queries.
#[derive(Debug, PartialEq)]
struct NameStudent(Option<(String, OpinionWeight)>);

impl Task for NameStudent {
    /// A message.
    type Answer = String;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        let store = context.store();
        let Some(named) = name_student(&store, self.0, context.is_wanted())? else {
            return Ok("no student counts in this project".to_owned());
        };
        let counts = store.read_blocking(|db| db.student_words())?;
        Ok(match counts {
            Some(counts) => format!("student {}: {counts}", sanitize::line(&named.name)),
            None => "no student counts in this project".to_owned(),
        })
    }
}

impl Model {
    fn name_student(&mut self, choice: Option<(String, OpinionWeight)>) -> Effect {
        let job = Job::task(NameStudent(choice), |model, words| {
            model.say(Level::Good, &words);
            model.list_anew()
        });
        job.kept()
            .about("the student was not named")
            .latest(&mut self.jobs, NAMING)
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::settings::ProjectSettings;
    use crate::tui::job::asked;
    use crate::tui::message::Msg;
    use crate::tui::screens::Screen;
    use crate::tui::screens::testing::model;
    use crate::tui::testing::key;
    use crate::tui::update::{settings, update};
    use crossterm::event::KeyCode::{self, Down, Enter, Left, Right, Up};

    fn press(model: &mut Model, codes: &[KeyCode]) -> Vec<Effect> {
        let now = model.now;
        let mut effects = Vec::new();
        for code in codes {
            effects.extend(update(model, Msg::Key(key(*code)), now));
        }
        effects
    }

    fn open(model: &mut Model, student: &StudentChoice) {
        *model.state_mut() = student.clone();
        settings::open(
            model,
            ProjectSettings {
                ranking: Default::default(),
                rule: Default::default(),
                guideline: None,
                domain_note: None,
                language_note: None,
            },
        );
    }

    /// A project with one student, which does not count.
    fn unnamed() -> StudentChoice {
        StudentChoice {
            names: vec!["own".to_owned()],
            named: None,
        }
    }

    /// To the last row: the weight, with the student above it.
    const DOWNS: [KeyCode; 9] = [Down; 9];

    #[test]
    fn the_projects_student_and_its_weight_are_chosen_and_named() {
        let mut model = model(Screen::QUERIES);
        open(&mut model, &unnamed());
        press(&mut model, &DOWNS);
        let effects = press(&mut model, &[Right, Up, Right, Enter]);
        let weight = OpinionWeight::Set(OPINION_WEIGHTS[1]);
        let named = NameStudent(Some(("own".to_owned(), weight)));
        assert_eq!(asked(&effects), Some(&named), "{effects:?}");

        let student = StudentChoice {
            named: Some(("own".to_owned(), weight)),
            ..unnamed()
        };
        open(&mut model, &student);
        let unchanged = press(&mut model, &[Enter]);
        assert!(asked::<NameStudent>(&unchanged).is_none(), "{unchanged:?}");
        open(&mut model, &student);
        press(&mut model, &DOWNS);
        let effects = press(&mut model, &[Up, Left, Enter]);
        assert_eq!(asked(&effects), Some(&NameStudent(None)), "{effects:?}");
    }

    #[test]
    fn a_weight_that_no_student_has_is_not_said_to_be_kept() {
        let mut model = model(Screen::QUERIES);
        open(&mut model, &unnamed());
        press(&mut model, &DOWNS);
        press(&mut model, &[Right, Enter]);
        let told = format!("{:?}", model.toast);
        assert!(told.contains("a weight needs a student"), "{told}");
    }
}
