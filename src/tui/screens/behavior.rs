//! The interface between the workbench and a screen.

use super::decisions::{Decisions, Verdicts};
use crate::app::picture::Picture;
use crate::tui::canvas::Canvas;
use crate::tui::clipboard::ClipboardTable;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::{Model, Subject};
use crate::tui::widgets::document_text::PreparedText;
use crate::tui::widgets::export_dialog::ExportSubject;
use std::sync::Arc;

/// What a screen shows and does. Only methods without a default differ on every screen.
pub(crate) trait ScreenBehavior: Sync {
    fn id(&self) -> Screen;

    /// The heading of its key table.
    fn heading(&self) -> &'static str;

    /// Its keys, most important first.
    fn keys(&self) -> &'static [Binding];

    /// The topic of the manual's chapter about it.
    fn chapter(&self) -> &'static str {
        "screens"
    }

    /// The section, table row or term of the chapter about this screen; `None` if the whole chapter
    /// is about it.
    fn section(&self) -> Option<&'static str> {
        None
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas;

    /// Handles a command that is not the same on all screens.
    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect>;

    /// The command that opens it from every screen.
    fn opened_by(&self) -> Option<Command> {
        None
    }

    /// The screen below it, and the command that opens it there, if it shows a row of that screen.
    fn opened_from(&self) -> Option<(Screen, Command)> {
        None
    }

    /// Whether it can be opened for the row under the cursor of that screen.
    fn can_open(&self, _model: &Model) -> bool {
        true
    }

    /// Opens the screen on that command.
    fn open(&self, model: &mut Model) -> Vec<Effect> {
        model.stack.push(self.id());
        Vec::new()
    }

    /// Opens the screen when the workbench starts, for the row with this key.
    fn open_row(&self, model: &mut Model, _key: i64) -> Vec<Effect> {
        self.open(model)
    }

    /// The open query was loaded or has changed.
    fn loaded(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// The screen is on top again.
    fn returned(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// Judges have answered questions that were asked outside a run.
    fn answered(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// There was a key, a click or a paste, on this screen or on another one.
    fn touched(&self, _model: &mut Model) {}

    /// Decisions are stored under another name from now on.
    fn renamed(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// The screen is being left; stores unconfirmed changes.
    fn leave(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// The screen has been left.
    fn closed(&self, _model: &mut Model) {}

    /// Closes a part of the screen; returns false if there is none, and the screen itself is left.
    fn closes(&self, _model: &mut Model) -> bool {
        false
    }

    /// Text of the header while a query is open.
    fn crumb(&self, _model: &Model, _open: &OpenQuery) -> String {
        self.id().name().to_owned()
    }

    /// Hints with a more specific label in the current state, each with that label.
    fn labels(&self, _model: &Model) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Whether one of the screen's own commands is available now; others are hidden.
    fn offers(&self, _model: &Model, _command: Command) -> bool {
        true
    }

    /// Whether a command whose key works everywhere does something here.
    fn uses(&self, command: Command) -> bool {
        let own = || self.keys().iter().any(|binding| binding.command == command);
        let paneled = matches!(
            command,
            Command::Open
                | Command::Left
                | Command::Right
                | Command::NextPane
                | Command::PreviousPane
        );
        !paneled || own()
    }

    fn find(&self) -> Find {
        Find::Nothing
    }

    /// The filter has changed.
    fn filtered(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// The cursor was moved to another row of [`Find::Rows`].
    fn selected(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// Scrolls to the current search match in the text of this side.
    fn reveal(&self, _model: &mut Model, _side: usize) {}

    /// Whether a command gives a verdict, a ruling or an answer here. In the verdict state, such a
    /// command runs only on its own key.
    fn decides(&self, command: Command) -> bool {
        command.decides()
    }

    /// Why no verdict can be given now; `None` if one can.
    fn obstacle(&self, _model: &Model) -> Option<&'static str> {
        Some("no verdict is given on this screen")
    }

    /// The subject of a decision made now.
    fn subject(&self, _model: &Model) -> Option<Subject> {
        None
    }

    /// Whether something on it is to be judged without knowing other opinions of it.
    fn is_blind(&self, _model: &Model) -> bool {
        false
    }

    /// Stores the reason for the decision.
    fn reason(&self, _model: &mut Model, _text: &str) -> Vec<Effect> {
        Vec::new()
    }

    /// The decisions that undo and redo refer to.
    fn decisions(&self) -> &'static dyn Decisions {
        &Verdicts
    }

    /// The person has confirmed what [`ConfirmFor::Screen`] asked.
    ///
    /// [`ConfirmFor::Screen`]: crate::tui::model::ConfirmFor::Screen
    fn confirmed(&self, _model: &mut Model) -> Vec<Effect> {
        Vec::new()
    }

    /// Why a line typed for [`PromptFor::Screen`] is rejected; `None` if it is accepted.
    ///
    /// [`PromptFor::Screen`]: crate::tui::model::PromptFor::Screen
    fn refuses(&self, _model: &Model, _text: &str) -> Option<String> {
        None
    }

    /// Such a line was accepted.
    fn typed(&self, _model: &mut Model, _text: &str) -> Vec<Effect> {
        Vec::new()
    }

    /// The text in the text area of this screen has changed.
    fn typing(&self, _model: &mut Model, _text: String) -> Vec<Effect> {
        Vec::new()
    }

    /// A text was edited, in the text area of this screen or in the user's editor.
    fn edited(&self, _model: &mut Model, _text: String) -> Vec<Effect> {
        Vec::new()
    }

    /// The two documents that it is about, A first; the same one twice on the diagonal of a matrix.
    fn pair(&self, _model: &Model, _open: &OpenQuery) -> Option<(usize, usize)> {
        None
    }

    /// The data that it shows, which the export offers first.
    fn exports(&self) -> ExportSubject {
        ExportSubject::Scores
    }

    /// The chart that it shows, for the export.
    fn picture(&self, _model: &Model) -> Option<Arc<dyn Picture>> {
        None
    }

    /// The text to copy to the clipboard: the table, or the text under the cursor.
    fn copy(&self, _model: &Model) -> Copied {
        Copied::Nothing
    }

    /// Index of the row of the list at a row of the terminal.
    fn row_at(&self, model: &Model, row: u16) -> usize {
        model.areas.first + usize::from(row.saturating_sub(model.areas.list.y))
    }

    /// A click in [`Areas::list`], at a column and a row of the terminal.
    fn click(&self, model: &mut Model, _column: u16, row: u16) -> Click {
        Click::Row(self.row_at(model, row))
    }

    /// The wheel over a pane of [`Areas::panes`], whichever has the focus: moves in the first one
    /// and scrolls the text in the second one.
    fn scroll_pane(&self, model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
        if pane == 0 {
            model.panes.text_first = 0;
            return self.update(model, command);
        }
        model.scroll_pane_text(command);
        Vec::new()
    }

    /// A click in a pane of [`Areas::panes`] gives it the focus.
    fn focus_pane(&self, _model: &mut Model, _pane: usize) {}

    /// A drag from there to a column and a row of the terminal.
    fn drag(&self, _model: &mut Model, _column: u16, _row: u16) {}
}

pub(crate) enum Find {
    /// It filters rows.
    Rows {
        /// Gives access to the cursor and the filter.
        list: fn(&mut Model) -> (&mut usize, &mut String),
        /// Indices of the rows that match the filter, in display order.
        shown: fn(&Model) -> Vec<usize>,
        filter: fn(&Model) -> &str,
    },
    Document,
    /// It shows texts; gives access to the loaded ones, by side.
    Texts(fn(&Model) -> Vec<Option<Arc<PreparedText>>>),
    /// There is nothing to search: `/` does nothing.
    Nothing,
}

pub(crate) enum Copied {
    Table(ClipboardTable),
    Text {
        text: String,
        /// A description of the text.
        what: String,
    },
    Nothing,
    /// Names are hidden until the person has decided.
    Hidden,
}

pub(crate) enum Click {
    Moved,
    /// It was on the cursor.
    Open,
    /// It was on a row of the list whose position is in [`Areas::position`].
    Row(usize),
}
