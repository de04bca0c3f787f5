//! The picture of the matrix for the export: the layer, the order and the documents on the screen.

use super::cells::MatrixCells;
use super::view::{layer_text, order_text};
use crate::app::error::AppError;
use crate::app::picture::{Picture, answers_noun, check_size, picture_caption, row_labels};
use crate::domain::ranking::DocumentOrder;
use crate::formats::svg::{SvgCell, matrix_svg};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::tui::model::Model;
use crate::tui::model::matrix::{Layer, MatrixSlice};
use crate::tui::requests::read_query;
use crate::tui::widgets::heatmap::{CellSource as _, HeatCell};

#[derive(Debug)]
pub(super) struct MatrixPicture {
    query: QueryKey,
    layer: Layer,
    order: DocumentOrder,
    slice: Option<MatrixSlice>,
}

impl MatrixPicture {
    pub(super) fn new(model: &Model) -> Option<Self> {
        Some(Self {
            query: model.open.as_ref()?.info.key,
            layer: model.matrix.layer,
            order: model.matrix.order,
            slice: model.matrix.slice.clone(),
        })
    }
}

/// A cell as it is drawn; `noun` is what answers outside battles are, in singular.
fn svg_cell(cell: &HeatCell, noun: Option<&'static str>) -> SvgCell {
    let is_open = cell.value.is_none() && cell.overruled.is_none() && !cell.planned;
    let answered = cell.answered.filter(|_| is_open);
    SvgCell {
        value: cell.value.or(answered).or(cell.expected),
        planned: cell.planned,
        missing: cell.missing,
        overruled: cell.overruled.is_some(),
        expected: cell.value.or(answered).is_none() && cell.expected.is_some(),
        answered: answered.and(noun),
    }
}

impl Picture for MatrixPicture {
    fn file_name(&self) -> &'static str {
        "matrix"
    }

    fn svg(&self, store: &Store) -> Result<String, AppError> {
        let key = self.query;
        let open = store.read_blocking(move |db| read_query(db, key))?;
        let mut order = open.view.order(self.order);
        if let Some(slice) = &self.slice {
            order.retain(|document| slice.has(*document));
        }
        check_size(order.len())?;
        let cells = MatrixCells::of_layer(&open, self.layer, &order);
        let notes = picture_caption(&open.view, open.offline());
        let what = [
            layer_text(&open, self.layer),
            order_text(self.order).to_owned(),
        ];
        let slice = self.slice.as_ref();
        let caption = slice
            .map(|slice| format!("only {}", slice.name))
            .into_iter()
            .chain(what)
            .chain(Some(notes).filter(|notes| !notes.is_empty()))
            .collect::<Vec<_>>()
            .join(" · ");
        let noun = answers_noun(&open.view);
        Ok(matrix_svg(
            &|row, column| svg_cell(&cells.cell(row, column), noun),
            &row_labels(&open.documents, &open.view, &order),
            &format!("{}: {}", open.info.id, open.info.text),
            &caption,
        ))
    }
}
