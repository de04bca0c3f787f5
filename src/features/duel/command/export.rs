//! Options of `overrule export` for duels.

use super::end_blindness;
use crate::app::error::AppError;
use crate::app::export::AddedLabels;
use crate::cli::command::{CommandContext, CommandFailure};
use crate::features::duel::app::export::{DuelExport, DuelRows};
use crate::features::duel::app::{chosen_duel, chosen_labels};
use crate::features::duel::store::DuelKey;
use crate::store::Store;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct DuelExportOptions {
    /// For duel, and for qrels from a duel: number of the duel [default: the latest]
    #[arg(long, value_name = "N")]
    duel: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DuelExportForm {
    Judgments,
    Events,
}

impl DuelExportOptions {
    fn key(&self) -> Option<DuelKey> {
        self.duel.map(DuelKey)
    }

    /// The requested export. Judgments show the sources of the documents, so they end a
    /// participant's blindness; `yes` skips the question.
    pub(crate) fn export(
        &self,
        context: &CommandContext,
        store: &Store,
        form: Option<DuelExportForm>,
        yes: bool,
    ) -> Result<DuelExport, CommandFailure> {
        let duel = self.key();
        let rows = match form {
            Some(DuelExportForm::Events) => DuelRows::Events,
            Some(DuelExportForm::Judgments) | None => DuelRows::Judgments,
        };
        if rows == DuelRows::Judgments {
            end_blindness(context, store, chosen_duel(store, duel)?, yes)?;
        }
        Ok(DuelExport { duel, rows })
    }

    pub(crate) fn labels(&self, store: &Store) -> Result<AddedLabels, AppError> {
        chosen_labels(store, self.key())
    }
}
