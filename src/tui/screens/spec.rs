//! What the workbench needs of a screen.

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

/// Only [`Self::view`] and [`Self::update`] differ on every screen; see [`ScreenSpec::new`] for the rest.
pub(crate) struct ScreenSpec {
    pub(crate) view: View,
    /// Answers a command that is not the same everywhere.
    pub(crate) update: Answer,
    /// The manual's chapter about it, by its topic.
    pub(crate) chapter: &'static str,
    /// What the header says while a query is open; otherwise the screen's name.
    pub(crate) crumb: Option<fn(&Model, &OpenQuery) -> String>,
    /// The open query has arrived or changed.
    pub(crate) loaded: Update,
    /// The screen is on top again.
    pub(crate) returned: Update,
    /// The screen is being left: what was changed and not kept is stored.
    pub(crate) leave: Update,
    /// The screen has been left.
    pub(crate) closed: fn(&mut Model),
    pub(crate) find: Find,
    /// The words that rows are kept by have changed.
    pub(crate) filtered: Update,
    /// Brings the place of the search into view, in the text of this side.
    pub(crate) reveal: fn(&mut Model, usize),
    /// Why no verdict can be given now; `None` where one can.
    pub(crate) obstacle: fn(&Model) -> Option<&'static str>,
    /// Whether one of the screen's own commands can do something now; the others are not offered.
    pub(crate) offers: fn(&Model, Command) -> bool,
    pub(crate) reason: fn(&mut Model, &str) -> Vec<Effect>,
    /// What undo takes back and redo gives again.
    pub(crate) undoes: Undoable,
    /// What it shows, which an export offers first.
    pub(crate) exports: ExportSubject,
    /// What is under the cursor, for the clipboard; the selected query where there is nothing else.
    pub(crate) copy: fn(&Model) -> Copied,
    /// A click into [`Areas::list`], at a column and a row of the terminal.
    pub(crate) click: fn(&mut Model, u16, u16) -> Click,
    /// The pointer is dragged from there to a column and a row of the terminal.
    pub(crate) drag: fn(&mut Model, u16, u16),
    /// Closes something of the screen's own; false where there is nothing, and the screen itself is left.
    pub(crate) closes: fn(&mut Model) -> bool,
    /// Hints that have a better word in the state at hand, each with that word.
    pub(crate) labels: fn(&Model) -> &'static [(&'static str, &'static str)],
}

/// What a person decides on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undoable {
    Verdict,
    Ruling,
    /// What was answered in a duel.
    Duel,
}

pub(crate) enum Find {
    /// It keeps rows; gives the cursor and the filter.
    Rows(fn(&mut Model) -> (&mut usize, &mut String)),
    Document,
    /// It shows texts; gives those that are loaded, by side.
    Texts(fn(&Model) -> Vec<Option<Arc<PreparedText>>>),
    /// There is nothing to find: `/` does nothing.
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
