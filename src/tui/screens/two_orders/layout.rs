//! Decides which of the three parts fit next to each other.

use crate::tui::widgets::heatmap::Zoom;
use ratatui::layout::Rect;

/// Minimum width of the terminal for showing a matrix next to the list.
const WIDE: u16 = 100;
/// Columns outside the area of the parts.
const EDGES: u16 = 2;
/// Minimum width of the list next to a matrix.
const LIST_MIN: u16 = 54;
/// Columns between two parts.
pub(super) const GAP: u16 = 3;

/// The visible parts, with the size of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Panes {
    List,
    Matrix(Zoom),
    /// One matrix next to the list.
    OneAndList(Zoom),
    BothAndList(Zoom),
}

impl Panes {
    /// The parts that fit in an area, with `room` columns for matrices next to the list.
    pub(super) fn new(documents: usize, shows_matrix: bool, area: Rect, room: u16) -> Self {
        let columns = usize::from(area.width);
        let fitting = |columns: usize, matrices: usize| {
            let gaps = (matrices - 1) * usize::from(GAP);
            [Zoom::Number, Zoom::Block, Zoom::Dense]
                .into_iter()
                .find(|zoom| {
                    let wide = matrices * documents * zoom.columns() + gaps;
                    // One row is the title.
                    let rows = usize::from(area.height.saturating_sub(1)) * zoom.rows_a_line();
                    wide <= columns && documents <= rows
                })
        };
        if Self::is_narrow(area.width + EDGES) {
            return if shows_matrix {
                Self::Matrix(fitting(columns, 1).unwrap_or(Zoom::Overview))
            } else {
                Self::List
            };
        }
        let room = usize::from(room);
        match fitting(room, 2) {
            Some(zoom) => Self::BothAndList(zoom),
            None => Self::OneAndList(fitting(room, 1).unwrap_or(Zoom::Overview)),
        }
    }

    /// Whether a terminal has room for only one of list and matrix.
    pub(super) fn is_narrow(columns: u16) -> bool {
        columns < WIDE
    }
}

/// Columns for matrices that leave room for the list, until the person moves the border.
pub(super) fn usual_room(area: Rect) -> u16 {
    area.width.saturating_sub(LIST_MIN + GAP)
}

/// Columns of a matrix, at most `room`.
pub(super) fn matrix_columns(documents: usize, zoom: Zoom, room: u16) -> u16 {
    documents.saturating_mul(zoom.columns()).min(room.into()) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_visible_depends_on_the_size_and_the_number_of_documents() {
        let all = |documents, shows_matrix, columns, rows| {
            let area = Rect::new(0, 0, columns, rows);
            Panes::new(documents, shows_matrix, area, usual_room(area))
        };
        let panes = |documents, columns, rows| all(documents, false, columns, rows);
        assert_eq!(panes(25, 78, 14), Panes::List);
        assert_eq!(panes(25, 118, 28), Panes::BothAndList(Zoom::Dense));
        assert_eq!(panes(12, 118, 28), Panes::BothAndList(Zoom::Block));
        assert_eq!(panes(6, 118, 28), Panes::BothAndList(Zoom::Number));
        assert_eq!(panes(25, 198, 48), Panes::BothAndList(Zoom::Block));
        assert_eq!(panes(50, 118, 28), Panes::OneAndList(Zoom::Dense));
        assert_eq!(panes(100, 118, 28), Panes::OneAndList(Zoom::Overview));
        assert_eq!(panes(90, 198, 48), Panes::OneAndList(Zoom::Dense));
        let narrow = |documents| all(documents, true, 78, 14);
        assert_eq!(narrow(6), Panes::Matrix(Zoom::Number));
        assert_eq!(narrow(25), Panes::Matrix(Zoom::Dense));
        assert_eq!(narrow(100), Panes::Matrix(Zoom::Overview));
    }
}
