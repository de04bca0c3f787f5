//! Reads texts that are shown as a page.

use crate::app::log::rows::{LogFilter, LogRow, log_rows};
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request};
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use crate::tui::update::log_page::{self, LOGGED};
use crate::tui::update::{offers, unsaved_guideline};
use crate::tui::widgets::page::Page;

/// The page that was requested last.
const PAGE: Slot = Slot::shared("page");

const READ_ONLY: &str = "The project is read-only: its guideline cannot be changed here.";

#[derive(Debug, PartialEq)]
pub(crate) struct ReadGuideline;

impl Request for ReadGuideline {
    type Answer = FoundGuideline;

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<Self::Answer> {
        Ok(FoundGuideline {
            text: db.guideline()?,
            is_read_only: context.store().is_read_only(),
        })
    }
}

/// The project's guideline, and whether it can be changed.
pub(crate) struct FoundGuideline {
    pub(crate) text: Option<String>,
    pub(crate) is_read_only: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) struct ReadLog;

impl Request for ReadLog {
    /// The latest entries, earliest first.
    type Answer = Vec<LogRow>;

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<Self::Answer> {
        let filter = LogFilter {
            limit: Some(LOGGED),
            ..LogFilter::default()
        };
        log_rows(db, &filter)
    }
}

impl Model {
    pub(crate) fn read_guideline(&mut self) -> Vec<Effect> {
        let job = Job::read(ReadGuideline, |model, found| {
            match found.text {
                Some(text) => model.show_guideline(&text, found.is_read_only),
                None if found.is_read_only => {
                    model.inform("this project has no guideline, and it is read-only");
                }
                None => {
                    let edit = key_on(Command::EditGuideline, Screen::REVIEW);
                    let file = key_on(Command::ChooseGuideline, Screen::REVIEW);
                    model.inform(&format!(
                        "this project has no guideline; press {edit} to write one, or {file} to \
                         take one from a file"
                    ));
                }
            }
            Vec::new()
        });
        vec![self.request_page(job)]
    }

    /// Shows the guideline, unless something else was opened since. Where it can be edited, the
    /// page names the key.
    fn show_guideline(&mut self, text: &str, is_read_only: bool) {
        if self.overlays.is_empty() {
            let edit = key_on(Command::EditGuideline, self.screen());
            let words = match &self.options.editor {
                _ if is_read_only => READ_ONLY.to_owned(),
                _ if edit.is_empty() => String::new(),
                Some(_) => format!("{edit} opens it in $EDITOR."),
                None => format!("{edit} edits it."),
            };
            let text = format!("{}\n\n{words}", text.trim_end());
            let page = Page::new("Guideline", &text).passing(Command::EditGuideline);
            self.overlays.push(Overlay::Page(page));
        }
    }

    /// Reads the guideline and opens it in the user's editor, or in the workbench if none is set.
    pub(crate) fn edit_guideline(&mut self) -> Vec<Effect> {
        let job = Job::read(ReadGuideline, |model, found| {
            let text = found.text.unwrap_or_default();
            if found.is_read_only {
                model.inform(READ_ONLY);
            } else if model.options.editor.is_some() && !unsaved_guideline::has_unsaved(model) {
                return vec![Effect::EditGuideline(text)];
            } else if model.overlays.is_empty() {
                unsaved_guideline::edit(model, &text);
            }
            Vec::new()
        });
        vec![self.request_page(job)]
    }

    pub(crate) fn read_log(&mut self) -> Vec<Effect> {
        let job = Job::read(ReadLog, |model, rows| {
            if !offers::judges_blind(model) {
                model.show_page("Log", &log_page::words(&rows));
            }
            Vec::new()
        });
        vec![self.request_page(job)]
    }

    /// Requests a page, in place of one that was requested before.
    pub(crate) fn request_page(&mut self, job: Job) -> Effect {
        job.latest(&mut self.jobs, PAGE).into()
    }

    /// Shows a requested text, unless something else was opened since: the text would cover what
    /// the person is typing.
    pub(crate) fn show_page(&mut self, title: &'static str, text: &str) {
        if self.overlays.is_empty() {
            self.overlays.push(Overlay::Page(Page::new(title, text)));
        }
    }
}
