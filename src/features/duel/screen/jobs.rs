//! Opens and creates duels, reads the texts of tasks, and stores events.

use super::update::FoundDuel;
use super::{chooser, record, update};
use crate::app::error::AppError;
use crate::features::duel::app::{
    DuelDraft, DuelRankings, DuelRequest, TaskTexts, duel_result, open_duel, record as store_event,
    result_lines, task_texts,
};
use crate::features::duel::domain::{DuelEvent, Task as DuelTask};
use crate::features::duel::store::{DuelKey, NewDuelEvent};
use crate::store::{self, Db};
use crate::tui::job::{Job, JobContext, Request, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;

/// The duel on screen, with its texts.
const DUEL: Slot = Slot::of(Screen::DUEL, "duel");

/// Opens a duel, by default the latest.
#[derive(Debug, PartialEq)]
pub(super) struct OpenDuelOf(pub(super) Option<DuelKey>);

impl Request for OpenDuelOf {
    type Answer = FoundDuel;

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<FoundDuel> {
        Ok(
            match open_duel(db, self.0, context.annotator(), context.asked_ms)? {
                Some(session) => FoundDuel::Session(Box::new(session)),
                None => FoundDuel::Choice(DuelRankings::read(db)?),
            },
        )
    }
}

/// Reads the rankings available for a new duel.
#[derive(Debug, PartialEq)]
struct ReadRankings;

impl Request for ReadRankings {
    type Answer = FoundDuel;

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<FoundDuel> {
        Ok(FoundDuel::Choice(DuelRankings::read(db)?))
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct ReadTaskTexts(pub(super) DuelTask);

impl Request for ReadTaskTexts {
    type Answer = TaskTexts;

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<TaskTexts> {
        task_texts(db, &self.0)
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct StoreEvent {
    duel: DuelKey,
    pub(super) new: NewDuelEvent,
}

impl Request for StoreEvent {
    type Answer = DuelEvent;

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<DuelEvent> {
        let new = NewDuelEvent {
            created_ms: context.asked_ms,
            ..self.new
        };
        store_event(db, self.duel, new)
    }
}

#[derive(Debug, PartialEq)]
struct MakeDuel(DuelRequest);

impl Task for MakeDuel {
    /// The new duel, with notes about it.
    type Answer = (DuelKey, Vec<String>);

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError> {
        let store = context.store();
        let drafted = DuelDraft::read(&store, self.0)?.choose(None)?;
        Ok((drafted.store(&store)?, drafted.notes()))
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct ReadResult(pub(super) DuelKey);

impl Task for ReadResult {
    /// As lines.
    type Answer = String;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        let read = move |db: &mut _| Ok(result_lines(&duel_result(db, self.0)?).join("\n"));
        Ok(context.store().read_blocking(read)?)
    }
}

impl Model {
    pub(crate) fn open_duel(&mut self, key: Option<DuelKey>) -> Effect {
        let then = |model: &mut Model, found| update::opened(model, Ok(found));
        Job::write(OpenDuelOf(key), then)
            .about("the duel cannot be opened")
            .or_else(|model, error| update::opened(model, Err(error)))
            .latest(&mut self.jobs, DUEL)
            .into()
    }

    pub(crate) fn read_duel_rankings(&mut self) -> Effect {
        let then = |model: &mut Model, found| update::opened(model, Ok(found));
        Job::read(ReadRankings, then)
            .or_else(|model, error| update::opened(model, Err(error)))
            .latest(&mut self.jobs, DUEL)
            .into()
    }

    /// Requests the texts of a task, by its index.
    pub(crate) fn read_task_texts(&mut self, at: usize, task: DuelTask) -> Effect {
        Job::read(ReadTaskTexts(task), move |model, texts| {
            update::texts(model, at, &texts);
            Vec::new()
        })
        .part_of(&mut self.jobs, DUEL)
        .into()
    }

    /// Stores an event, which has this number until it is stored.
    pub(crate) fn store_duel_event(
        &mut self,
        duel: DuelKey,
        serial: u64,
        new: NewDuelEvent,
    ) -> Effect {
        Job::write(StoreEvent { duel, new }, move |model, event| {
            record::recorded(model, serial, event);
            Vec::new()
        })
        .about("an answer was not stored")
        .or_else(move |model, error| {
            record::not_recorded(model, serial, &error.to_string());
            Vec::new()
        })
        .into()
    }

    pub(crate) fn make_duel(&mut self, request: DuelRequest) -> Effect {
        Job::try_task(MakeDuel(request), chooser::made)
            .kept()
            .part_of(&mut self.jobs, DUEL)
            .into()
    }

    pub(crate) fn read_duel_result(&mut self, key: DuelKey) -> Effect {
        let job = Job::task(ReadResult(key), |model, text| {
            model.show_page("Result", &text);
            Vec::new()
        });
        self.request_page(job)
    }
}
