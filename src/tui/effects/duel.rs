//! Responses of the project to effects on duels.

use super::Runner;
use crate::app::error::AppError;
use crate::features::duel::app::{
    DuelDraft, DuelRankings, DuelRequest, duel_result, open_duel, record, result_lines, task_texts,
};
use crate::features::duel::store::{DuelKey, NewDuelEvent};
use crate::store::{Db, Result, Store};
use crate::tui::message::{Effect, FoundDuel, Msg};

pub(super) fn answer(
    db: &mut Db,
    effect: Effect,
    annotator: &str,
    now_ms: i64,
) -> Result<Option<Msg>> {
    Ok(Some(match effect {
        Effect::OpenDuel(key, generation) => {
            let found = match open_duel(db, key, annotator, now_ms)? {
                Some(session) => FoundDuel::Session(Box::new(session)),
                None => FoundDuel::Choice(DuelRankings::read(db)?),
            };
            Msg::DuelOpened(generation, Ok(found))
        }
        Effect::ReadDuelRankings(generation) => {
            let found = FoundDuel::Choice(DuelRankings::read(db)?);
            Msg::DuelOpened(generation, Ok(found))
        }
        Effect::LoadDuelTexts(at, task, generation) => {
            Msg::DuelTexts(at, generation, Box::new(task_texts(db, &task)?))
        }
        Effect::RecordDuel(key, number, new) => {
            let new = NewDuelEvent {
                created_ms: now_ms,
                ..*new
            };
            Msg::DuelRecorded(number, Box::new(record(db, key, new)?))
        }
        Effect::LoadDuelResult(key) => {
            Msg::DuelResult(result_lines(&duel_result(db, key)?).join("\n"))
        }
        _ => return Ok(None),
    }))
}

impl Runner {
    pub(super) fn make_duel(&self, request: DuelRequest, generation: u64) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let work = tokio::task::spawn_blocking(move || make(&store, request));
            let made = match work.await {
                Ok(made) => made,
                Err(error) => Err(error.to_string()),
            };
            drop(results.send(Msg::DuelMade(generation, made)).await);
        });
    }
}

/// Creates a duel and returns notes about it.
pub(crate) fn make(
    store: &Store,
    request: DuelRequest,
) -> std::result::Result<(DuelKey, Vec<String>), String> {
    let made = || -> std::result::Result<_, AppError> {
        let drafted = DuelDraft::read(store, request)?.choose(None)?;
        Ok((drafted.store(store)?, drafted.notes()))
    };
    made().map_err(|error| error.to_string())
}
