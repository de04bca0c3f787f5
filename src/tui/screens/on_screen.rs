//! What the topmost screen is about, as methods of the model.

use super::behavior::ScreenBehavior;
use crate::domain::sanitize;
use crate::registry;
use crate::tui::model::{Model, PromptFor, Subject};

impl Model {
    /// The behavior of the topmost screen.
    pub(crate) fn behavior(&self) -> &'static dyn ScreenBehavior {
        registry::screen(self.screen())
    }

    /// The subject of a decision made now.
    pub(crate) fn subject(&self) -> Option<Subject> {
        self.behavior().subject(self)
    }

    /// Who is deciding on it now, if no more people are wanted.
    pub(crate) fn taken_by(&self, subject: &Subject) -> Option<String> {
        let mut services = registry::SERVICES.iter();
        services.find_map(|service| service.taken_by(self, subject))
    }

    /// The index of the first of `count` subjects from `at` on, or back from there, on which nobody
    /// else is deciding.
    pub(crate) fn first_free(
        &self,
        subjects: impl Fn(usize) -> Subject,
        count: usize,
        at: usize,
        forward: bool,
    ) -> Option<usize> {
        let is_free = |at: &usize| self.taken_by(&subjects(*at)).is_none();
        if forward {
            (at..count).find(is_free)
        } else {
            (0..count.min(at + 1)).rev().find(is_free)
        }
    }

    /// The draft reason for the decision on screen.
    pub(crate) fn draft(&self) -> Option<&str> {
        self.drafts.get(&self.subject()?).map(String::as_str)
    }

    /// Takes the draft reason for the decision being made.
    pub(crate) fn take_draft(&mut self) -> Option<String> {
        let subject = self.subject()?;
        self.drafts.remove(&subject)
    }

    /// Asks for the reason of a decision, before or after it.
    pub fn ask_reason(&mut self, note: &str) {
        let placeholder = "the reason, in one line; Enter stores it";
        let note = sanitize::line(note).into_owned();
        self.explained = self.subject();
        self.ask("reason: ", placeholder, &note, PromptFor::Reason);
    }

    /// The two documents that the topmost screen is about, A first; on the diagonal of the matrix,
    /// they are the same.
    pub(crate) fn pair_on_screen(&self) -> Option<(usize, usize)> {
        self.behavior().pair(self, self.open.as_ref()?)
    }
}
