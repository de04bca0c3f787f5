//! Two orders: the matrix in hybrid order and in zELO order, with one cursor, and the documents
//! that moved.

mod keys;
mod layout;
mod list;
mod state;
pub(crate) mod update;
mod view;

use super::behavior::{Click, Copied, ScreenBehavior};
use crate::app::picture::{Picture, TwoOrdersPicture};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use std::sync::Arc;

impl Screen {
    pub const TWO_ORDERS: Self = Self::named("orders");
}

pub(crate) struct TwoOrdersScreen;

impl ScreenBehavior for TwoOrdersScreen {
    fn id(&self) -> Screen {
        Screen::TWO_ORDERS
    }

    fn heading(&self) -> &'static str {
        "Two orders"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "numbers"
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::CompareOrders)
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::MATRIX, Command::CompareOrders))
    }

    fn uses(&self, command: Command) -> bool {
        command != Command::PreviousPane
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn crumb(&self, _model: &Model, _open: &OpenQuery) -> String {
        "two orders".to_owned()
    }

    fn labels(&self, model: &Model) -> &'static [(&'static str, &'static str)] {
        if model.two_orders().shows_matrix {
            &[("matrix", "list")]
        } else {
            &[]
        }
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn pair(&self, model: &Model, _open: &OpenQuery) -> Option<(usize, usize)> {
        Some(model.matrix.cursor)
    }

    fn picture(&self, model: &Model) -> Option<Arc<dyn Picture>> {
        let query = model.open.as_ref()?.info.key;
        Some(Arc::new(TwoOrdersPicture(query)))
    }

    fn copy(&self, model: &Model) -> Copied {
        update::copy(model)
    }

    fn click(&self, model: &mut Model, column: u16, row: u16) -> Click {
        update::click(model, column, row)
    }
}

#[cfg(test)]
mod tests;
