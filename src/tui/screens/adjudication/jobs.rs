//! Computes the statistics on picks, labels and rulings, reads titles of documents, and undoes or
//! redoes rulings.

use super::update;
use crate::app::adjudication::data::AdjudicationList;
use crate::app::adjudication::overview::{AdjudicationOverview, overview};
use crate::app::error::AppError;
use crate::app::review::pair_description::{ListedDocument, listed_documents};
use crate::app::review::undo::{Undo, UndoLimit, undo_ruling_within};
use crate::domain::adjudication::{CONTROL_SHARE, DisagreementRule};
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::store::rulings::StoredRuling;
use crate::store::{self, Db};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;
use std::collections::HashMap;

const OVERVIEW: Slot = Slot::of(Screen::ADJUDICATION, "overview");

#[derive(Debug, PartialEq)]
pub(crate) struct ReadOverview {
    pub(crate) rule: DisagreementRule,
    list: AdjudicationList,
}

impl Task for ReadOverview {
    type Answer = AdjudicationOverview;

    fn run(self, context: &JobContext) -> Result<AdjudicationOverview, AppError> {
        let annotator = context.annotator().to_owned();
        let read = move |db: &mut Db| overview(db, &self.rule, self.list, &annotator);
        Ok(context.store().read_blocking(read)?)
    }
}

/// Reads the titles and the metadata for a page of the list.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadTitles(pub(super) Vec<(QueryKey, DocId)>);

impl Request for ReadTitles {
    type Answer = HashMap<(QueryKey, DocId), ListedDocument>;

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<Self::Answer> {
        listed_documents(db, self.0)
    }
}

/// Undoes the latest ruling.
#[derive(Debug, PartialEq)]
pub(crate) struct UndoRuling(pub(crate) UndoLimit);

impl Request for UndoRuling {
    type Answer = Undo<Box<StoredRuling>>;

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<Self::Answer> {
        undo_ruling_within(db, context.annotator(), &self.0, context.asked_ms)
    }
}

/// Redoes the undone ruling with this identifier.
#[derive(Debug, PartialEq)]
pub(crate) struct RedoRuling(String);

impl Request for RedoRuling {
    type Answer = Option<StoredRuling>;

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<Self::Answer> {
        db.redo_ruling(context.annotator(), &self.0, context.asked_ms)
    }
}

impl Model {
    /// Requests the statistics and the chosen list now.
    pub(crate) fn read_overview(&mut self) -> Vec<Effect> {
        self.adjudication.ruled_since.clear();
        let rule = DisagreementRule {
            order: self.adjudication.order,
            controls: CONTROL_SHARE,
            seed: self.options.request.seed,
        };
        let list = self.adjudication.list;
        let then = |model: &mut Model, found| update::overviewed(model, Box::new(found));
        let job = Job::task(ReadOverview { rule, list }, then);
        vec![job.latest(&mut self.jobs, OVERVIEW).into()]
    }

    /// Whether the statistics are being computed.
    pub(crate) fn is_reading_overview(&self) -> bool {
        self.jobs.is_pending(OVERVIEW)
    }

    pub(crate) fn read_document_titles(&mut self, wanted: Vec<(QueryKey, DocId)>) -> Effect {
        Job::read(ReadTitles(wanted), |model, titles| {
            model.adjudication.titles.extend(titles);
            Vec::new()
        })
        .into()
    }

    pub(crate) fn undo_ruling(&mut self, limit: UndoLimit) -> Effect {
        Job::write(UndoRuling(limit), update::undone).into()
    }

    pub(crate) fn redo_ruling(&mut self, uid: String) -> Effect {
        Job::write(RedoRuling(uid), update::redone).into()
    }
}
