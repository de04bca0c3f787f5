//! Stores verdicts and drafts of reasons, and undoes or redoes verdicts.

use crate::app::review::undo::{Undo, UndoLimit, redone_text, undo_verdict_within};
use crate::domain::verdict::Decision;
use crate::store::corpus::QueryInfo;
use crate::store::verdicts::{NewVerdict, StoredVerdict};
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request};
use crate::tui::message::Effect;
use crate::tui::model::{Model, Subject};
use crate::tui::update::results;

#[derive(Debug, PartialEq)]
pub(crate) struct SaveVerdict(pub(crate) NewVerdict);

impl Request for SaveVerdict {
    /// What this person had decided on the pair elsewhere in the meantime.
    type Answer = Option<Decision>;

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<Self::Answer> {
        let Self(verdict) = self;
        let before = if verdict.is_first_word() {
            db.own_verdict(&verdict)?
        } else {
            None
        };
        let a = verdict.a;
        db.add_verdict(&NewVerdict {
            created_ms: context.asked_ms,
            ..verdict
        })?;
        Ok(before.map(|before| before.verdict.seen_from(a)))
    }
}

/// Undoes the latest verdict.
#[derive(Debug, PartialEq)]
pub(crate) struct UndoVerdict(pub(crate) UndoLimit);

impl Request for UndoVerdict {
    /// Includes a description of the effective verdict on the pair.
    type Answer = Undo<(StoredVerdict, QueryInfo, String)>;

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<Self::Answer> {
        undo_verdict_within(db, context.annotator(), &self.0, context.asked_ms)
    }
}

/// Redoes the undone verdict with this identifier.
#[derive(Debug, PartialEq)]
pub(crate) struct RedoVerdict(pub(crate) String);

impl Request for RedoVerdict {
    type Answer = Option<(StoredVerdict, QueryInfo, String)>;

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<Self::Answer> {
        let redone = db.redo_verdict(context.annotator(), &self.0, context.asked_ms)?;
        redone
            .map(|redone| {
                let info = db.query(redone.query)?;
                let words = redone_text(db, &redone)?;
                Ok((redone, info, words))
            })
            .transpose()
    }
}

/// Stores a draft reason for a future decision; `None` removes it.
#[derive(Debug, PartialEq)]
pub(crate) struct SaveDraft(pub(crate) Subject, pub(crate) Option<String>);

impl Request for SaveDraft {
    type Answer = ();

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<()> {
        db.set_draft(context.annotator(), &self.0, self.1.as_deref())
    }
}

impl Model {
    /// Stores a verdict; undone ones can no longer be redone.
    pub(crate) fn save_verdict(&mut self, new: NewVerdict) -> Effect {
        self.saving += 1;
        self.undone_verdicts.clear();
        let query = new.query;
        let unsaved = new.clone();
        Job::write(SaveVerdict(new), move |model, before| {
            results::saved(model, query, before)
        })
        .about("the verdict was not stored")
        .or_else(move |model, error| results::not_saved(model, &unsaved, &error.to_string()))
        .into()
    }

    /// Stores a draft reason for the decision on screen until it is made; an empty one removes it.
    pub(crate) fn set_draft(&mut self, text: &str) -> Vec<Effect> {
        let Some(subject) = self.subject() else {
            return Vec::new();
        };
        let note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
        let before = match &note {
            Some(note) => self.drafts.insert(subject.clone(), note.clone()),
            None => self.drafts.remove(&subject),
        };
        if before == note {
            return Vec::new();
        }
        let job = Job::write(SaveDraft(subject, note), |_, ()| Vec::new());
        vec![job.about("the reason was not stored").into()]
    }

    /// Keeps the reason of a decision that was not stored, for the next decision on the same
    /// subject.
    pub(crate) fn restore_draft(
        &mut self,
        subject: Option<Subject>,
        note: Option<String>,
    ) -> Vec<Effect> {
        let Some((subject, note)) = subject.zip(note) else {
            return Vec::new();
        };
        if self.drafts.contains_key(&subject) {
            return Vec::new();
        }
        self.drafts.insert(subject.clone(), note.clone());
        // If this fails too, the person knows already that nothing is stored.
        let job = Job::write(SaveDraft(subject, Some(note)), |_, ()| Vec::new());
        vec![job.or_else(|_, _| Vec::new()).into()]
    }

    pub(crate) fn undo_verdict(&mut self, limit: UndoLimit) -> Effect {
        Job::write(UndoVerdict(limit), results::undone).into()
    }

    pub(crate) fn redo_verdict(&mut self, uid: String) -> Effect {
        Job::write(RedoVerdict(uid), results::redone).into()
    }
}
