//! Reads and stores settings, and what the workbench remembers.

use crate::app::error::{AppError, invalid};
use crate::app::settings::ProjectSettings;
use crate::app::text_editor::{EditedText, EditorFailure};
use crate::formats::file;
use crate::registry;
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::remembered::Remembered;
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::additions::PutValues;
use crate::tui::slot::Slot;
use crate::tui::update::{settings, unsaved_guideline};
use crate::tui::widgets::toast::Level;
use std::path::PathBuf;

const SETTINGS: Slot = Slot::shared("settings");

#[derive(Debug, PartialEq)]
pub(crate) struct ReadSettings;

impl Request for ReadSettings {
    type Answer = (ProjectSettings, Vec<PutValues>);

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<Self::Answer> {
        let added = registry::SETTINGS.iter().map(|added| added.read(db));
        let added = added.collect::<Result<_>>()?;
        Ok((ProjectSettings::read(db)?, added))
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

#[derive(Debug, PartialEq)]
pub(crate) struct Remember(pub(crate) Remembered);

impl Request for Remember {
    type Answer = ();

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<()> {
        let text = serde_json::to_string(&self.0)?;
        db.remember(&Remembered::name(context.annotator()), &text)
    }
}

/// Where a new guideline comes from.
#[derive(Debug, PartialEq)]
pub(crate) enum NewGuideline {
    File(PathBuf),
    Edited(EditedText),
    /// Edited in the workbench.
    Typed(String),
    /// The project gets no guideline.
    Nowhere,
}

#[derive(Debug, PartialEq)]
pub(crate) struct StoreGuideline(pub(crate) NewGuideline);

impl Task for StoreGuideline {
    type Answer = ();

    fn run(self, context: &JobContext) -> std::result::Result<(), AppError> {
        let store = context.store();
        let before = store.read_blocking(|db| ProjectSettings::read(db))?;
        let guideline = match &self.0 {
            NewGuideline::File(path) => Some(
                file::read_to_string(path)
                    .map_err(|error| invalid!("{}: {error}", path.display()))?,
            ),
            NewGuideline::Edited(edited) => Some(edited.text.clone()),
            NewGuideline::Typed(text) => Some(text.clone()),
            NewGuideline::Nowhere => None,
        };
        let after = ProjectSettings {
            guideline,
            ..before.clone()
        };
        after
            .store(&store, &before, context.annotator())
            .map_err(|error| match &self.0 {
                NewGuideline::Edited(edited) => {
                    invalid!("{error}; the text stays in {}", edited.draft.display())
                }
                _ => AppError::from(error),
            })?;
        if let NewGuideline::Edited(edited) = &self.0 {
            std::fs::remove_file(&edited.draft)?;
        }
        Ok(())
    }
}

/// The editor has ended: stores the text if the person has changed it.
pub(crate) fn guideline_edited(
    model: &mut Model,
    before: &str,
    edited: std::result::Result<EditedText, EditorFailure>,
) -> Vec<Effect> {
    match edited {
        Ok(edited) if edited.text == before => {
            if let Err(error) = std::fs::remove_file(&edited.draft) {
                model.say(Level::Error, &error.to_string());
                return Vec::new();
            }
            model.inform("the guideline is unchanged");
            Vec::new()
        }
        Ok(edited) => vec![model.keep_guideline(NewGuideline::Edited(edited))],
        Err(failure) => {
            model.say(Level::Error, &failure.kept_words());
            Vec::new()
        }
    }
}

/// The project has this text: closes the editor, unless more was typed since.
fn guideline_stored(model: &mut Model, text: String) {
    let editing = |overlay: &Overlay| matches!(overlay, Overlay::Guideline(_));
    let place = model.overlays.iter().position(editing);
    if let Some(Overlay::Guideline(editor)) = place.and_then(|at| model.overlays.get_mut(at)) {
        editor.was_stored(text);
        if !editor.is_changed() {
            model.overlays.retain(|overlay| !editing(overlay));
            unsaved_guideline::settled(model);
        }
    }
    model.say(Level::Good, "the guideline is stored in the project");
}

impl Model {
    /// Takes the project's guideline from a typed path, or removes it for `-`.
    pub(crate) fn choose_guideline(&mut self, typed: &str) -> Effect {
        self.keep_guideline(match typed {
            "-" => NewGuideline::Nowhere,
            path => NewGuideline::File(PathBuf::from(path)),
        })
    }

    pub(in crate::tui::update) fn keep_guideline(&mut self, new: NewGuideline) -> Effect {
        let typed = match &new {
            NewGuideline::Typed(text) => Some(text.clone()),
            _ => None,
        };
        let words = match new {
            NewGuideline::Nowhere => "the project has no guideline now",
            NewGuideline::File(_) | NewGuideline::Edited(_) | NewGuideline::Typed(_) => {
                "the guideline is stored in the project"
            }
        };
        Job::task(StoreGuideline(new), move |model, ()| {
            match typed {
                Some(text) => guideline_stored(model, text),
                None => model.say(Level::Good, words),
            }
            Vec::new()
        })
        .kept()
        .into()
    }

    /// The project's settings have changed, and with them every query's numbers.
    pub(crate) fn list_anew(&mut self) -> Vec<Effect> {
        self.forget_prefetched();
        let mut effects = vec![self.list()];
        effects.extend(self.reload());
        effects
    }

    pub(crate) fn read_settings(&mut self) -> Vec<Effect> {
        let job = Job::read(ReadSettings, |model, (project, added)| {
            added.into_iter().for_each(|put| put(model));
            settings::open(model, project);
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, SETTINGS).into()]
    }

    pub(crate) fn store_settings(
        &mut self,
        before: ProjectSettings,
        after: ProjectSettings,
    ) -> Effect {
        Job::task(StoreSettings { before, after }, |model, ()| {
            let mut effects = model.list_anew();
            if model.adjudication.overview.is_some() {
                effects.extend(model.read_overview());
            }
            effects
        })
        .kept()
        .about("the settings were not stored")
        .into()
    }

    pub(crate) fn remember(&mut self, now: Remembered) -> Effect {
        Job::write(Remember(now), |_, ()| Vec::new()).into()
    }
}
