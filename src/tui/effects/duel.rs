//! What the project answers about a duel.

use crate::app::duel::{duel_result, open_duel, record, result_lines, task_texts};
use crate::store::duels::NewDuelEvent;
use crate::store::{Db, Result};
use crate::tui::message::{Effect, Msg};

pub(super) fn answer(
    db: &mut Db,
    effect: Effect,
    annotator: &str,
    now_ms: i64,
) -> Result<Option<Msg>> {
    Ok(Some(match effect {
        Effect::OpenDuel(key, generation) => {
            let session = open_duel(db, key, annotator, now_ms)?;
            Msg::DuelOpened(generation, Ok(session.map(Box::new)))
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
