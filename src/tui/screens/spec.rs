//! The interface between the workbench and a screen.

use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::widgets::document_text::PreparedText;
use crate::tui::widgets::export_dialog::ExportSubject;
use std::sync::Arc;

pub(crate) type View = fn(&Model, Canvas<'_>, &mut Caches) -> Areas;
type Update = fn(&mut Model) -> Vec<Effect>;
type Answer = fn(&mut Model, Command) -> Vec<Effect>;

/// Only [`Self::view`] and [`Self::update`] differ on every screen; see [`ScreenSpec::new`] for the
/// rest.
pub(crate) struct ScreenSpec {
    pub(crate) view: View,
    /// Handles a command that is not the same on all screens.
    pub(crate) update: Answer,
    /// The topic of the manual's chapter about it.
    pub(crate) chapter: &'static str,
    /// Text of the header while a query is open; by default, the screen's name.
    pub(crate) crumb: Option<fn(&Model, &OpenQuery) -> String>,
    /// The open query was loaded or has changed.
    pub(crate) loaded: Update,
    /// The screen is on top again.
    pub(crate) returned: Update,
    /// The screen is being left; stores unconfirmed changes.
    pub(crate) leave: Update,
    /// The screen has been left.
    pub(crate) closed: fn(&mut Model),
    pub(crate) find: Find,
    /// The filter has changed.
    pub(crate) filtered: Update,
    /// Scrolls to the current search match in the text of this side.
    pub(crate) reveal: fn(&mut Model, usize),
    /// Why no verdict can be given now; `None` if one can.
    pub(crate) obstacle: fn(&Model) -> Option<&'static str>,
    /// Whether one of the screen's own commands is available now; others are hidden.
    pub(crate) offers: fn(&Model, Command) -> bool,
    pub(crate) reason: fn(&mut Model, &str) -> Vec<Effect>,
    /// What undo and redo refer to.
    pub(crate) undoes: Undoable,
    /// The data that it shows, which the export offers first.
    pub(crate) exports: ExportSubject,
    /// What is under the cursor, for the clipboard; by default, the selected query.
    pub(crate) copy: fn(&Model) -> Copied,
    /// A click in [`Areas::list`], at a column and a row of the terminal.
    pub(crate) click: fn(&mut Model, u16, u16) -> Click,
    /// A drag from there to a column and a row of the terminal.
    pub(crate) drag: fn(&mut Model, u16, u16),
    /// Closes a part of the screen; returns false if there is none, and the screen itself is left.
    pub(crate) closes: fn(&mut Model) -> bool,
    /// Hints with a more specific label in the current state, each with that label.
    pub(crate) labels: fn(&Model) -> &'static [(&'static str, &'static str)],
}

/// What a person decides on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undoable {
    Verdict,
    Ruling,
    /// Answers in a duel.
    Duel,
}

pub(crate) enum Find {
    /// It filters rows; gives access to the cursor and the filter.
    Rows(fn(&mut Model) -> (&mut usize, &mut String)),
    Document,
    /// It shows texts; gives access to the loaded ones, by side.
    Texts(fn(&Model) -> Vec<Option<Arc<PreparedText>>>),
    /// There is nothing to search: `/` does nothing.
    Nothing,
}

pub(crate) enum Copied {
    SelectedQuery,
    /// Identifiers, separated by tabs.
    Text(String),
    Nothing,
    /// Names are hidden until the person has decided.
    Hidden,
}

pub(crate) enum Click {
    Moved,
    /// It was on the cursor.
    Open,
}

impl ScreenSpec {
    pub(crate) const fn new(view: View, update: Answer) -> Self {
        Self {
            view,
            update,
            chapter: "screens",
            crumb: None,
            loaded: |_| Vec::new(),
            returned: |_| Vec::new(),
            leave: |_| Vec::new(),
            closed: |_| {},
            find: Find::Nothing,
            filtered: |_| Vec::new(),
            reveal: |_, _| {},
            obstacle: |_| Some("no verdict is given on this screen"),
            offers: |_, _| true,
            reason: |_, _| Vec::new(),
            undoes: Undoable::Verdict,
            exports: ExportSubject::Scores,
            copy: |_| Copied::SelectedQuery,
            click: |_, _, _| Click::Moved,
            drag: |_, _, _| {},
            closes: |_| false,
            labels: |_| &[],
        }
    }
}
