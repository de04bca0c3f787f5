//! What the workbench remembers about a project for one person: display preferences and positions.

use super::Model;
use crate::domain::ranking::DocumentOrder;
use crate::tui::theme::{Ramp, ThemeChoice};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Stored in the project under the person's name. Preferences that were not chosen follow the
/// configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    pub ramp: Option<Ramp>,
    pub theme: ThemeChoice,
    /// The order of the matrix.
    pub order: DocumentOrder,
    pub queue_blind: Option<bool>,
    pub battle_blind: Option<bool>,
    /// The query that was last open, or under the cursor.
    pub query: Option<String>,
    /// The identifiers of the two documents under the cursor of its matrix.
    pub pair: Option<(String, String)>,
    /// Whether the person has ended the tour of the sample.
    pub toured: bool,
    /// The names of commands that were used from their hint for newcomers, which is then hidden.
    pub used: BTreeSet<String>,
    /// Texts that were being edited when the workbench ended, by the name of what they change.
    pub unsaved: BTreeMap<String, String>,
}

impl Remembered {
    /// The name under which a person's preferences are stored in the project.
    pub fn name(annotator: &str) -> String {
        format!("workbench {annotator}")
    }

    /// The current state to remember.
    pub(crate) fn of(model: &Model) -> Self {
        let chosen = |now: bool, configured: bool, before: Option<bool>| {
            if now == configured {
                before.map(|_| now)
            } else {
                Some(now)
            }
        };
        let before = &model.remembered;
        let judging = &model.options.judging;
        let configured = &model.configured;
        let open = model.open.as_ref();
        let query = open
            .map(|open| &open.info)
            .or_else(|| model.queries.selected().map(|(info, _)| info));
        let query = query.map(|info| info.id.to_string());
        Self {
            ramp: if model.ramp == configured.ramp {
                before.ramp.map(|_| model.ramp)
            } else {
                Some(model.ramp)
            },
            theme: model.theme,
            order: model.matrix.order,
            queue_blind: chosen(
                judging.queue_blind,
                configured.queue_blind,
                before.queue_blind,
            ),
            battle_blind: chosen(
                judging.battle_blind,
                configured.battle_blind,
                before.battle_blind,
            ),
            pair: match open {
                Some(open) => {
                    let (row, column) = model.matrix.cursor;
                    let id = |at: usize| Some(open.documents.get(at)?.id.to_string());
                    id(row).zip(id(column))
                }
                None => before.pair.clone().filter(|_| query == before.query),
            },
            query: query.or_else(|| before.query.clone()),
            toured: before.toured || model.options.sample.is_some() && !model.tour,
            used: model.queries.used.clone(),
            unsaved: model.unsaved.clone(),
        }
    }
}

/// The configured values that a person may override.
#[derive(Clone, Copy, Debug)]
pub struct Configured {
    pub ramp: Ramp,
    pub queue_blind: bool,
    pub battle_blind: bool,
}
