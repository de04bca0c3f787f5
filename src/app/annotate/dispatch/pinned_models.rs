//! Checks whether judges still answer with the model of their earlier votes.

use super::Dispatcher;
use crate::client::now_ms;
use crate::domain::answering_models::{AnsweringModel, changed_model};
use crate::domain::sanitize;

impl Dispatcher {
    /// Stops a run with pinned models before its first call if a judge has votes of several models.
    pub(super) fn check_pinned_models(&mut self) {
        let pinned = self.progress.judges.iter().filter(|_| self.pin_model);
        self.model_changed = pinned
            .filter(|judge| judge.total > 0)
            .find_map(|judge| Some(format!("{} {}", judge.name, changed_model(&judge.models)?)));
    }

    /// Records the model named in an answer.
    pub(super) fn hear_of_model(&mut self, judge_index: usize, model: Option<&str>) {
        let judge = &mut self.progress.judges[judge_index];
        let Some(model) = model.filter(|model| judge.answered_as(model, now_ms())) else {
            return;
        };
        let before: Vec<_> = judge
            .models
            .iter()
            .filter(|of| of.model != model)
            .map(|AnsweringModel { model, .. }| sanitize::line(model).into_owned())
            .collect();
        if before.is_empty() {
            return;
        }
        let line = format!(
            "{} answers as {} now and answered as {} before",
            judge.name,
            sanitize::line(model),
            before.join(", ")
        );
        if self.pin_model {
            self.model_changed.get_or_insert_with(|| line.clone());
        }
        self.progress.say(line);
    }
}
