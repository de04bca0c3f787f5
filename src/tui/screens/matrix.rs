//! Matrix screen: the battles of a query.

mod cell_details;
pub(crate) mod cells;
mod copy;
mod keys;
mod numbers;
pub(crate) mod overview;
mod picture;
pub(crate) mod update;
mod view;

use super::behavior::{Click, Copied, Find, ScreenBehavior};
use crate::app::picture::Picture;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use std::sync::Arc;

impl Screen {
    pub const MATRIX: Self = Self::named("matrix");
}

pub(crate) struct MatrixScreen;

impl ScreenBehavior for MatrixScreen {
    fn id(&self) -> Screen {
        Screen::MATRIX
    }

    fn heading(&self) -> &'static str {
        "Matrix"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "screens"
    }

    fn section(&self) -> Option<&'static str> {
        Some("The matrix")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::QUERIES, Command::Open))
    }

    fn uses(&self, command: Command) -> bool {
        !matches!(command, Command::NextPane | Command::PreviousPane)
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn crumb(&self, _model: &Model, open: &OpenQuery) -> String {
        sanitize::line(open.info.id.as_str()).into_owned()
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn closes(&self, model: &mut Model) -> bool {
        model.matrix.slice.take().is_some()
    }

    fn find(&self) -> Find {
        Find::Document
    }

    fn pair(&self, model: &Model, open: &OpenQuery) -> Option<(usize, usize)> {
        let (row, column) = model.matrix.cursor;
        (row.max(column) < open.documents.len()).then_some((row, column))
    }

    fn picture(&self, model: &Model) -> Option<Arc<dyn Picture>> {
        let picture = picture::MatrixPicture::new(model)?;
        Some(Arc::new(picture))
    }

    fn copy(&self, model: &Model) -> Copied {
        let open = model.open.as_ref();
        open.map_or(Copied::Nothing, |open| {
            Copied::Table(copy::table(model, open))
        })
    }

    fn click(&self, model: &mut Model, column: u16, row: u16) -> Click {
        update::click(model, column, row)
    }
}

#[cfg(test)]
mod tests;
