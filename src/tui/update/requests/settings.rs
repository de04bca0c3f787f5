//! Reads and stores settings, and what the workbench remembers.

use crate::app::error::AppError;
use crate::app::settings::ProjectSettings;
use crate::domain::ranking::OpinionWeight;
use crate::domain::sanitise;
use crate::features::student::app::naming::{StudentChoice, name_student};
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::remembered::Remembered;
use crate::tui::slot::Slot;
use crate::tui::update::settings;
use crate::tui::widgets::toast::Level;

/// The student that was chosen last counts, however long the previous choice takes.
const STUDENT: Slot = Slot::shared("student of the project");
const SETTINGS: Slot = Slot::shared("settings");

#[derive(Debug, PartialEq)]
pub(crate) struct ReadSettings;

impl Request for ReadSettings {
    type Answer = (ProjectSettings, StudentChoice);

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<Self::Answer> {
        Ok((ProjectSettings::read(db)?, StudentChoice::read(db)?))
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct StoreSettings {
    pub(crate) before: ProjectSettings,
    pub(crate) after: ProjectSettings,
}

impl Task for StoreSettings {
    type Answer = ();

    fn run(self, context: &JobContext) -> std::result::Result<(), AppError> {
        let Self { before, after } = self;
        Ok(after.store(&context.store(), &before, context.annotator())?)
    }
}

/// Sets the project's student and its weight, or clears it. Estimating the weight may require
/// fitting many queries.
#[derive(Debug, PartialEq)]
pub(crate) struct NameStudent(pub(crate) Option<(String, OpinionWeight)>);

impl Task for NameStudent {
    /// A message.
    type Answer = String;

    fn run(self, context: &JobContext) -> std::result::Result<String, AppError> {
        let store = context.store();
        let Some(named) = name_student(&store, self.0, context.is_wanted())? else {
            return Ok("no student counts in this project".to_owned());
        };
        let counts = store.read_blocking(|db| db.student_words())?;
        Ok(match counts {
            Some(counts) => format!("student {}: {counts}", sanitise::line(&named.name)),
            None => "no student counts in this project".to_owned(),
        })
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Remember(pub(crate) Remembered);

impl Request for Remember {
    type Answer = ();

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<()> {
        let text = serde_json::to_string(&self.0)?;
        db.remember(&Remembered::name(context.annotator()), &text)
    }
}

/// The project's settings have changed, and with them every query's numbers.
fn list_anew(model: &mut Model) -> Vec<Effect> {
    model.forget_prefetched();
    let mut effects = vec![model.list()];
    effects.extend(model.reload());
    effects
}

impl Model {
    pub(crate) fn read_settings(&mut self) -> Vec<Effect> {
        let job = Job::read(ReadSettings, |model, (project, student)| {
            settings::open(model, project, student);
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, SETTINGS).into()]
    }

    pub(crate) fn name_student(&mut self, choice: Option<(String, OpinionWeight)>) -> Effect {
        let job = Job::task(NameStudent(choice), |model, words| {
            model.say(Level::Good, &words);
            list_anew(model)
        });
        job.kept()
            .about("the student was not named")
            .latest(&mut self.jobs, STUDENT)
            .into()
    }

    pub(crate) fn store_settings(
        &mut self,
        before: ProjectSettings,
        after: ProjectSettings,
    ) -> Effect {
        Job::task(StoreSettings { before, after }, |model, ()| {
            list_anew(model)
        })
        .kept()
        .about("the settings were not stored")
        .into()
    }

    pub(crate) fn remember(&mut self, now: Remembered) -> Effect {
        Job::write(Remember(now), |_, ()| Vec::new()).into()
    }
}
