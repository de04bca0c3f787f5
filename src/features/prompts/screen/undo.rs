//! Undoes the replacement of a judge's prompt.

use super::configured::configured;
use crate::app::error::AppError;
use crate::app::run_lock::RunLock;
use crate::features::prompts::app::replacement::undo_replacement;
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::decisions::Decisions;

/// Replacements of the prompt of the judge on screen.
pub(super) struct PromptUses;

#[derive(Debug, PartialEq)]
struct UndoUse {
    judge: String,
}

impl Task for UndoUse {
    /// The project, to be opened again.
    type Answer = String;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        configured(context, |store, configuration| {
            let _lock = RunLock::take(store.path()).map_err(AppError::failed)?;
            undo_replacement(store, configuration, &self.judge, context.annotator())?;
            Ok(store.path().to_string_lossy().into_owned())
        })
    }
}

impl Decisions for PromptUses {
    fn undo(&self, model: &mut Model) -> Vec<Effect> {
        if model.run.running || model.questions.going.is_some() {
            model.inform("judges are being asked; undo when that has ended");
            return Vec::new();
        }
        let judge = model.prompt().judge.clone();
        let job = Job::task(UndoUse { judge }, |model, project| {
            model.next_project = Some(project);
            vec![Effect::Quit]
        });
        vec![job.kept().into()]
    }

    fn redo(&self, model: &mut Model) -> Vec<Effect> {
        model.inform("nothing to redo");
        Vec::new()
    }

    fn can_undo(&self, model: &Model) -> bool {
        model.prompt().is_undoable
    }

    fn can_redo(&self, _model: &Model) -> bool {
        false
    }
}
