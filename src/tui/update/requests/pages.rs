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
use crate::tui::update::offers;
use crate::tui::widgets::page::Page;

/// The page that was requested last.
const PAGE: Slot = Slot::shared("page");

#[derive(Debug, PartialEq)]
pub(crate) struct ReadGuideline;

impl Request for ReadGuideline {
    type Answer = Option<String>;

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<Self::Answer> {
        db.guideline()
    }
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
        let job = Job::read(ReadGuideline, |model, text| {
            match text {
                Some(text) => model.show_guideline(&text),
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

    /// Shows the guideline, unless something else was opened since. Its key opens it in an editor.
    fn show_guideline(&mut self, text: &str) {
        if self.overlays.is_empty() {
            let edit = key_on(Command::EditGuideline, self.screen());
            let text = format!("{}\n\n{edit} opens it in $EDITOR.", text.trim_end());
            let page = Page::new("Guideline", &text).passing(Command::EditGuideline);
            self.overlays.push(Overlay::Page(page));
        }
    }

    /// Reads the guideline and opens it in the person's editor.
    pub(crate) fn edit_guideline(&mut self) -> Vec<Effect> {
        let job = Job::read(ReadGuideline, |_, text| {
            vec![Effect::EditGuideline(text.unwrap_or_default())]
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
