//! A whole pool in one message.

use super::document::{DocumentCut, clean};
use super::{Template, mark};
use crate::domain::adjudication::PickRequest;
use crate::judge::{JudgePrompt, PresentedPool};
use std::fmt::Write as _;

impl DocumentCut {
    /// How much of each of `documents` is shown in one message: together as much as of the two of a battle.
    pub fn shared(self, documents: usize) -> Self {
        Self {
            chars: (self.chars.saturating_mul(2) / documents.max(2)).max(1),
        }
    }
}

impl Template {
    /// The prompt for a lineup, its documents cut to their share of `cut`. For a template that asks for slots or
    /// verdicts.
    pub fn fill_pool(&self, lineup: &PresentedPool, cut: DocumentCut) -> JudgePrompt {
        let pool = &lineup.pool;
        let cut = cut.shared(pool.documents.len());
        let query = clean(&pool.query);
        let shown: Vec<_> = pool
            .documents
            .iter()
            .map(|text| {
                let (text, remark) = cut.apply(text);
                (clean(text), remark)
            })
            .collect();
        let mut texts: Vec<&str> = vec![&query];
        texts.extend(shown.iter().map(|(text, _)| text.as_ref()));
        let mark = mark(&texts);
        let mut documents = String::new();
        for (at, (text, remark)) in shown.iter().enumerate() {
            let (number, gap) = (at + 1, if at == 0 { "" } else { "\n\n" });
            // Writing to a string cannot fail.
            let _ = write!(
                documents,
                "{gap}[[document {number} {mark}]]{remark}\n{text}\n[[/document {number} {mark}]]"
            );
        }
        let task = task_text(lineup.ask, pool.documents.len());
        // In the order of the names.
        self.filled(&[query, documents.into(), task.into(), mark.into()])
    }
}

/// What a judge is asked to do with so many documents.
pub(in crate::judge) fn task_text(ask: PickRequest, documents: usize) -> String {
    match ask {
        PickRequest::Exactly(1) => format!(
            "Exactly 1 of these {documents} documents is relevant: \"slots\" holds exactly 1 number from 1 to {documents}."
        ),
        PickRequest::Exactly(wanted) => format!(
            "Exactly {wanted} of these {documents} documents are relevant: \"slots\" holds exactly {wanted} different \
             numbers from 1 to {documents}."
        ),
        PickRequest::AnyNumber => format!(
            "Any number of these {documents} documents may be relevant, or none: \"slots\" holds their numbers from 1 to \
             {documents}, and is empty where none is."
        ),
        PickRequest::PerDocument => format!(
            "Give each of these {documents} documents its verdict: \"verdicts\" has {documents} members, one for each number \
             from 1 to {documents}."
        ),
    }
}
