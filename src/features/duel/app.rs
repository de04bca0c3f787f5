//! Duels: blind comparisons of two rankings by people.

mod answers_file;
mod draft;
pub mod export;
mod labels;
mod log;
mod rankings;
mod result;
pub mod sbr;
mod session;
mod status;
mod words;

pub use answers_file::take_answers;
pub use draft::{DraftedDuel, DuelDraft, DuelRequest};
pub use labels::{chosen_labels, rule_as_chosen};
pub use log::log_entries;
pub use rankings::{DuelRankings, find_ranking};
pub use result::{
    chosen_duel, duel_result, ends_blindness, listed_duels, note_reveal, participants,
};
pub use session::{DuelSession, TaskTexts, open_duel, record, task_texts};
pub use status::status;
pub use words::{control_words, duel_name, form_words, result_lines};
