//! Passage screen: a document of a duel in full, with a passage marked by sentence and by word.

mod update;
mod view;

use super::spec::{Copied, ScreenSpec, Undoable};
use crate::features::duel::screen as duel;

pub(super) const SPEC: ScreenSpec = ScreenSpec {
    chapter: "duel",
    leave: update::leave,
    closed: update::closed,
    closes: duel::update::ends_pause,
    labels: duel::update::pause_label,
    obstacle: update::obstacle,
    offers: update::offers,
    undoes: Undoable::Duel,
    copy: |_| Copied::Hidden,
    click: update::click,
    drag: update::drag,
    ..ScreenSpec::new(view::view, update::update)
};
