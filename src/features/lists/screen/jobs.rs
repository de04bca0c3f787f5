//! Reads the list calls of the open query.

use super::update;
use crate::features::lists::app::{QueryList, query_lists};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use crate::tui::job::{Job, JobContext, Request};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;

const LISTS: Slot = Slot::of(Screen::LISTS, "lists");

#[derive(Debug, PartialEq)]
pub(super) struct ReadLists(QueryKey);

impl Request for ReadLists {
    type Answer = Vec<QueryList>;

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<Self::Answer> {
        query_lists(db, self.0)
    }
}

impl Model {
    /// Requests the list calls of the open query.
    pub(super) fn read_lists(&mut self) -> Vec<Effect> {
        let Some(query) = self.open.as_ref().map(|open| open.info.key) else {
            return Vec::new();
        };
        let job = Job::read(ReadLists(query), move |model, lists| {
            update::found(model, query, Ok(lists))
        })
        .or_else(move |model, error| update::found(model, query, Err(error.to_string())))
        .latest(&mut self.jobs, LISTS);
        vec![job.into()]
    }
}
