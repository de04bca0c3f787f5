//! Reads a document to rule on, and stores, undoes and redoes rulings.

use super::update;
use crate::app::adjudication::document_evidence::{DocumentEvidence, document_evidence};
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::store::rulings::NewRuling;
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request};
use crate::tui::message::Effect;
use crate::tui::model::{Model, Subject};
use crate::tui::widgets::toast::Level;

#[derive(Debug, PartialEq)]
pub(crate) struct ReadEvidence(pub(super) QueryKey, pub(super) DocId);

impl Request for ReadEvidence {
    type Answer = DocumentEvidence;

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<DocumentEvidence> {
        document_evidence(db, self.0, &self.1)
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct SaveRuling(pub(crate) NewRuling);

impl Request for SaveRuling {
    type Answer = ();

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<()> {
        db.add_ruling(&NewRuling {
            created_ms: context.asked_ms,
            ..self.0
        })?;
        Ok(())
    }
}

/// Moves a document to the end of the list.
#[derive(Debug, PartialEq)]
pub(crate) struct PostponeRuling(QueryKey, DocId);

impl Request for PostponeRuling {
    type Answer = ();

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<()> {
        db.postpone_ruling(context.annotator(), self.0, &self.1, context.asked_ms)
    }
}

/// Reverts the display of a ruling that could not be stored, and keeps its reason as a draft. A
/// change to a stored ruling is stored again when the person continues.
fn not_stored(model: &mut Model, ruling: NewRuling) -> Vec<Effect> {
    let current = model.adjudication.current.as_mut();
    let current = current.filter(|current| current.is_about(ruling.query, &ruling.document));
    let mut effects = match current {
        Some(current) if ruling.after_reveal => {
            current.unsaved = true;
            Vec::new()
        }
        current => {
            if let Some(current) = current {
                (current.ruled, current.finding) = (None, None);
            }
            let subject = Subject::Document(ruling.query, ruling.document);
            model.restore_draft(Some(subject), ruling.note)
        }
    };
    effects.extend(model.read_overview());
    effects
}

impl Model {
    pub(crate) fn read_evidence(&mut self, query: QueryKey, document: DocId) -> Effect {
        let then = |model: &mut Model, found| update::loaded(model, Box::new(found));
        Job::read(ReadEvidence(query, document), then).into()
    }

    /// Stores a ruling; undone ones can no longer be redone.
    pub(crate) fn save_ruling(&mut self, new: NewRuling) -> Effect {
        self.saving += 1;
        self.undone_rulings.clear();
        let stored = |model: &mut Model, ()| {
            model.saving = model.saving.saturating_sub(1);
            Vec::new()
        };
        let what = "the ruling was not stored";
        let unsaved = new.clone();
        Job::write(SaveRuling(new), stored)
            .about(what)
            .or_else(move |model, error| {
                model.saving = model.saving.saturating_sub(1);
                model.say(Level::Error, &format!("{what}: {error}"));
                not_stored(model, unsaved)
            })
            .into()
    }

    pub(crate) fn postpone_ruling(&mut self, query: QueryKey, document: DocId) -> Effect {
        Job::write(PostponeRuling(query, document), |_, ()| Vec::new()).into()
    }
}
