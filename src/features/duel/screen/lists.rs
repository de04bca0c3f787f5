//! Lists of documents: one list merged from both rankings, or two lists side by side.

use super::choice::{PREFERENCES, preference_words};
use super::grid;
use crate::features::duel::domain::{Content, DuelForm};
use crate::features::duel::screen::state::{OpenDuel, TaskCards};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::keymap::Scope;
use crate::tui::layout::{cut, cut_bottom};
use crate::tui::model::Model;
use crate::tui::panes::{PaneSplit, second_share};
use crate::tui::screens::Screen;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{heading, scroll_to};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::widgets::{Paragraph, Widget};

/// Minimum width for showing the text next to the list instead of below.
const WIDE: u16 = 100;
/// Minimum number of rows of a reading pane.
const PANE: u16 = 5;
/// Minimum columns of the list and of the text next to it.
const LIST_MIN: u16 = 30;
/// Maximum number of rows of an entry: its title and an excerpt.
const ENTRY: u16 = 3;

/// Number of rows per entry in a list of `count` entries with this height.
fn entry_rows(height: u16, count: usize) -> u16 {
    let count = u16::try_from(count.max(1)).unwrap_or(u16::MAX);
    (height / count).clamp(1, ENTRY)
}

/// Draws the documents of one list; returns the first visible one.
fn entries(
    model: &Model,
    open: &OpenDuel,
    cards: &TaskCards,
    side: usize,
    rows: u16,
    canvas: Canvas<'_>,
) -> usize {
    let Canvas { theme, area, buf } = canvas;
    let from = open.card_index(side, 0);
    let count = match open.current().map(|task| &task.content) {
        Some(Content::Lists { lists, .. }) => lists.get(side).map_or(0, Vec::len),
        _ => cards.cards.len(),
    };
    let page = usize::from(area.height / rows.max(1));
    let before = model.areas.firsts.get(side).copied().unwrap_or(0);
    let before = before.min(count.saturating_sub(page));
    let here = side == open.side;
    let first = if here {
        scroll_to(before, open.cursor, page)
    } else {
        before
    };
    let shown = cards
        .cards
        .iter()
        .skip(from + first)
        .take(count - first.min(count))
        .take(page);
    for (at, card) in shown.enumerate() {
        let place = first + at;
        let mut cell = Rect {
            y: area.y + at as u16 * rows,
            height: rows,
            ..area
        };
        let cursor = here && place == open.cursor;
        let line = cut(&mut cell, 1);
        if cursor {
            buf.set_style(line, theme.selection());
        }
        let columns = usize::from(area.width);
        grid::entry_line(open, card, place, cursor, theme, columns).render(line, buf);
        let indented = Rect {
            x: cell.x + 6.min(cell.width),
            width: cell.width.saturating_sub(6),
            ..cell
        };
        if indented.height > 0 {
            let choice = open.choice(&card.document);
            grid::excerpt(card, choice, Canvas::new(theme, indented, buf));
        }
    }
    let lines = count * usize::from(rows);
    scrollbar(
        first * usize::from(rows),
        lines,
        Canvas::new(theme, area, buf),
    );
    first
}

/// Draws one list with the text of the document under the cursor.
pub(super) fn interleaved(
    model: &Model,
    open: &OpenDuel,
    cards: &TaskCards,
    canvas: Canvas<'_>,
) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let count = cards.cards.len();
    let wide = area.width >= WIDE;
    let split = if wide {
        PaneSplit {
            upright: true,
            gap: 2,
            usual: second_share(area.width, 2, [1, 1]),
            least: [LIST_MIN; 2],
        }
    } else {
        let most = area.height.saturating_sub(PANE).max(3).min(area.height);
        let list = most.min(u16::try_from(count).unwrap_or(most));
        PaneSplit {
            upright: false,
            gap: 0,
            usual: area.height - list,
            least: [3, 1],
        }
    };
    let panes = model.split(area, split);
    let list = panes.first;
    let rows = if wide {
        entry_rows(list.height, count)
    } else {
        1
    };
    let first = entries(model, open, cards, 0, rows, Canvas::new(theme, list, buf));
    if let Some(card) = open.card() {
        grid::pane(open, card, Canvas::new(theme, panes.second, buf));
    }
    Areas {
        list,
        lines: count,
        page: usize::from(list.height / rows.max(1)),
        firsts: [first, 0],
        sides: [usize::from(rows), 0],
        border: Some(panes.border),
        ..Areas::default()
    }
}

fn columns(area: Rect) -> [Rect; 2] {
    let parts = [
        Constraint::Fill(1),
        Constraint::Length(2),
        Constraint::Fill(1),
    ];
    let [left, _, right] = Layout::horizontal(parts).areas(area);
    [left, right]
}

/// Draws two lists side by side, the five answers and, if there is room, the text under the cursor.
pub(super) fn two(model: &Model, open: &OpenDuel, cards: &TaskCards, canvas: Canvas<'_>) -> Areas {
    let Canvas {
        theme,
        mut area,
        buf,
    } = canvas;
    let stored = open.stored_answer().and_then(|answer| answer.preference);
    let keys = PREFERENCES.rows(
        stored,
        preference_words,
        Scope::Screen(Screen::DUEL),
        theme,
        usize::from(area.width),
    );
    let rows = keys.len() as u16;
    Paragraph::new(keys).render(cut_bottom(&mut area, rows), buf);
    for (side, (words, mut column)) in ["left list", "right list"]
        .iter()
        .zip(columns(area))
        .enumerate()
    {
        heading(words, side == open.side, theme, cut(&mut column, 1), buf);
    }
    cut(&mut area, 1);
    let counts = [0, 1].map(|side| match open.current().map(|task| &task.content) {
        Some(Content::Lists { lists, .. }) => lists.get::<usize>(side).map_or(0, Vec::len),
        _ => 0,
    });
    let count = counts.into_iter().max().unwrap_or(0);
    let spare = area.height.saturating_sub(PANE);
    let rows = entry_rows(spare, count);
    let wanted = u16::try_from(count)
        .unwrap_or(u16::MAX)
        .saturating_mul(rows);
    let list = if spare >= wanted {
        cut(&mut area, wanted)
    } else {
        cut(&mut area, u16::MAX)
    };
    let mut firsts = [0, 0];
    for (side, (first, column)) in firsts.iter_mut().zip(columns(list)).enumerate() {
        *first = entries(
            model,
            open,
            cards,
            side,
            rows,
            Canvas::new(theme, column, buf),
        );
    }
    if let Some(card) = open.card() {
        grid::pane(open, card, Canvas::new(theme, area, buf));
    }
    Areas {
        list,
        lines: count,
        page: usize::from(list.height / rows.max(1)),
        firsts,
        sides: [usize::from(rows); 2],
        ..Areas::default()
    }
}

/// The side and the position of a click.
pub(super) fn place_at(
    open: &OpenDuel,
    areas: Areas,
    (column, row): (u16, u16),
) -> Option<(usize, usize)> {
    let two = open.form() == DuelForm::Lists;
    let side = if two {
        columns(areas.list)
            .iter()
            .position(|part| part.contains((column, row).into()))?
    } else {
        0
    };
    let rows = areas.sides.get(side).copied().filter(|rows| *rows > 0)?;
    let line = usize::from(row.checked_sub(areas.list.y)?);
    Some((side, areas.firsts.get(side)? + line / rows))
}
