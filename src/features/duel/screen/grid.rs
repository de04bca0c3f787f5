//! Nine documents in a 3×3 grid: as cards with excerpts if there is room, or else as titles with a
//! reading pane.

use crate::features::duel::screen::state::{
    Card, Choice, GRID, OpenDuel, TaskCards, shown_passage,
};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::layout::cut;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::document_text::TextMarks;
use crate::tui::widgets::{document_text, heading};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Widget};
use std::ops::Range;

/// Minimum size of a card with a useful excerpt.
const CARD: (u16, u16) = (30, 6);

/// The cells of a grid with this many places, row by row.
pub(super) fn cells(area: Rect, places: usize) -> Vec<Rect> {
    let rows = places.div_ceil(GRID);
    let rows = Layout::vertical(vec![Constraint::Fill(1); rows]).split(area);
    let cells = rows.iter().flat_map(|row| {
        let row = Layout::horizontal([Constraint::Fill(1); GRID]).split(*row);
        row.iter().copied().collect::<Vec<_>>()
    });
    cells.take(places).collect()
}

pub(super) fn view(open: &OpenDuel, cards: &TaskCards, canvas: Canvas<'_>) -> Areas {
    let Canvas {
        theme,
        mut area,
        buf,
    } = canvas;
    let rows = cards.cards.len().div_ceil(GRID) as u16;
    let large = area.width >= CARD.0 * GRID as u16 && area.height >= CARD.1 * rows;
    let list = if large {
        area
    } else {
        let lines = if area.height >= 16 { 2 } else { 1 };
        cut(&mut area, rows * lines)
    };
    let all = cards.cards.iter().zip(cells(list, cards.cards.len()));
    for (place, (card, cell)) in all.enumerate() {
        let cursor = place == open.cursor;
        if large {
            full(open, card, place, cursor, Canvas::new(theme, cell, buf))
        } else {
            title(open, card, place, cursor, Canvas::new(theme, cell, buf))
        }
    }
    if !large && let Some(card) = open.card() {
        pane(open, card, Canvas::new(theme, area, buf));
    }
    Areas {
        list,
        lines: cards.cards.len(),
        page: cards.cards.len(),
        ..Areas::default()
    }
}

/// `●` if chosen, `◌` if the choice is being written.
pub(super) fn mark(choice: Option<Choice>) -> &'static str {
    match choice {
        None => " ",
        Some(choice) if choice.stored => "●",
        Some(_) => "◌",
    }
}

fn choice_words(choice: Choice) -> &'static str {
    match (choice.stored, choice.passage) {
        (false, _) => " being stored ",
        (true, Some(_)) => " passage marked ",
        (true, None) => " whole text ",
    }
}

pub(super) fn chosen_style(choice: Option<Choice>, theme: &Theme) -> Style {
    match choice {
        Some(_) => theme.override_mark(),
        None => theme.text(),
    }
}

/// Draws a card with its title in the border and an excerpt.
fn full(open: &OpenDuel, card: &Card, place: usize, cursor: bool, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let choice = open.choice(&card.document);
    let (border, pointer) = if cursor {
        (theme.border_focus(), "▸")
    } else {
        (theme.border(), " ")
    };
    let room = usize::from(area.width).saturating_sub(8);
    let number = Span::styled(
        format!("{pointer}{} {} ", place + 1, mark(choice)),
        if cursor {
            theme.accent()
        } else {
            theme.muted()
        },
    );
    // The border's color must not apply to the title.
    let own = Style::reset().patch(theme.title());
    let name = text::truncate(&card.title, room).into_owned();
    let name = Span::styled(format!("{name} "), own.patch(chosen_style(choice, theme)));
    let mut block = Block::bordered()
        .border_style(border)
        .title(Line::from(vec![number, name]));
    if let Some(choice) = choice {
        block = block.title_bottom(Line::styled(choice_words(choice), theme.override_mark()));
    }
    let inner = block.inner(area);
    block.render(area, buf);
    let inside = Rect {
        x: inner.x + 1.min(inner.width),
        width: inner.width.saturating_sub(2),
        ..inner
    };
    excerpt(card, choice, Canvas::new(theme, inside, buf));
}

/// Draws a cell with a title, on as many lines as it has.
fn title(open: &OpenDuel, card: &Card, place: usize, cursor: bool, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let choice = open.choice(&card.document);
    if cursor {
        buf.set_style(area, theme.selection());
    }
    let columns = usize::from(area.width).saturating_sub(6);
    let ranges = text::wrap(&card.title, columns);
    let count = usize::from(area.height);
    let style = chosen_style(choice, theme);
    for (at, (row, range)) in area.rows().zip(ranges.iter().take(count)).enumerate() {
        let cut_off = at + 1 == count && ranges.len() > count;
        let words = if cut_off {
            text::truncate(card.title.get(range.start..).unwrap_or_default(), columns)
        } else {
            card.title.get(range.clone()).unwrap_or_default().into()
        };
        let lead = match at {
            0 => format!(
                "{}{} {} ",
                if cursor { "▌" } else { " " },
                place + 1,
                mark(choice)
            ),
            _ => format!("{}    ", if cursor { "▌" } else { " " }),
        };
        Line::from(vec![
            Span::styled(
                lead,
                if cursor {
                    theme.accent()
                } else {
                    theme.muted()
                },
            ),
            Span::styled(words.into_owned(), style),
        ])
        .render(row, buf);
    }
}

/// The document under the cursor, as much of it as there is room for.
pub(super) fn pane(open: &OpenDuel, card: &Card, canvas: Canvas<'_>) {
    let Canvas {
        theme,
        mut area,
        buf,
    } = canvas;
    if area.height < 2 {
        return;
    }
    let choice = open.choice(&card.document);
    let words = match choice {
        Some(choice) => format!("{} · {}", choice_words(choice).trim(), card.title),
        None => card.title.clone(),
    };
    heading(words.trim_end(), false, theme, cut(&mut area, 1), buf);
    excerpt(card, choice, Canvas::new(theme, area, buf));
}

/// The lines of a text around a byte range; the beginning of the text if that shows the range.
fn lines_around(
    card: &Card,
    place: &Range<usize>,
    columns: usize,
    rows: usize,
) -> Vec<Range<usize>> {
    let whole = &card.shown.text;
    let window = |from: usize| -> Vec<Range<usize>> {
        // Enough for all rows, whatever the width of the characters.
        let mut end = (from + (columns + 1) * rows * 4).min(whole.len());
        while !whole.is_char_boundary(end) {
            end += 1;
        }
        let lines = text::wrap(whole.get(from..end).unwrap_or_default(), columns);
        let lines = lines.into_iter().take(rows);
        lines
            .map(|line| from + line.start..from + line.end)
            .collect()
    };
    let top = window(card.body);
    let in_sight = top.last().is_some_and(|last| last.end >= place.end);
    if in_sight || place.start < card.body {
        return top;
    }
    let lines = window(place.start);
    if lines.len() >= rows {
        return lines;
    }
    // The text ends before the rows are full, so show its last lines.
    let mut from = place.start.saturating_sub(columns * rows).max(card.body);
    while !whole.is_char_boundary(from) {
        from += 1;
    }
    if from > card.body {
        let words = whole.get(from..place.start).unwrap_or_default();
        let space = words
            .char_indices()
            .find(|(_, letter)| letter.is_whitespace());
        from += space.map_or(0, |(at, space)| at + space.len_utf8());
    }
    let lines = text::wrap(whole.get(from..).unwrap_or_default(), columns);
    let skipped = lines.len().saturating_sub(rows);
    let lines = lines.into_iter().skip(skipped);
    lines
        .map(|line| from + line.start..from + line.end)
        .collect()
}

/// Draws the marked passage, or the one most similar to the query, with the text that follows.
pub(super) fn excerpt(card: &Card, choice: Option<Choice>, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let marked = choice.and_then(|choice| choice.passage);
    let marked = marked.map(|passage| shown_passage(&card.source, passage));
    let place = marked.clone().unwrap_or_else(|| card.shown.passage.clone());
    let (columns, rows) = (usize::from(area.width), usize::from(area.height));
    let mut body = area;
    let mut lines = lines_around(card, &place, columns, rows);
    if lines.first().is_some_and(|line| line.start > card.body) && columns > 12 {
        // The text before it is omitted.
        lines = lines_around(card, &place, columns - 2, rows);
        cut_mark(area, theme, buf);
        body = Rect {
            x: area.x + 2,
            width: area.width - 2,
            ..area
        };
    }
    let marks = TextMarks {
        quotes: marked.into_iter().collect(),
        ..TextMarks::default()
    };
    let canvas = Canvas::new(theme, body, buf);
    document_text::render(&card.shown, &lines, 0, &marks, canvas);
    let whole = &card.shown.text;
    if let Some(last) = lines.last()
        && last.end < whole.trim_end().len()
        && lines.len() >= rows
    {
        let used = text::width(whole.get(last.clone()).unwrap_or_default().trim_end()) as u16;
        let end = Rect {
            x: body.x + used.min(body.width),
            y: area.bottom() - 1,
            width: 1,
            height: 1,
        };
        cut_mark(end.intersection(buf.area), theme, buf);
    }
}

fn cut_mark(area: Rect, theme: &Theme, buf: &mut Buffer) {
    Span::styled("…", theme.muted()).render(area, buf);
}

/// A document's number and title on one line, for lists.
pub(super) fn entry_line(
    open: &OpenDuel,
    card: &Card,
    place: usize,
    cursor: bool,
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let choice = open.choice(&card.document);
    let lead = format!(
        "{}{:>2} {} ",
        if cursor { "▌" } else { " " },
        place + 1,
        mark(choice)
    );
    let room = columns.saturating_sub(text::width(&lead));
    Line::from(vec![
        Span::styled(
            lead,
            if cursor {
                theme.accent()
            } else {
                theme.muted()
            },
        ),
        Span::styled(
            text::truncate(&card.title, room).into_owned(),
            chosen_style(choice, theme),
        ),
    ])
}
