//! Draws the text with highlighted query terms, the marked passage, and the earlier choice.

use crate::features::duel::domain::DuelForm;
use crate::features::duel::screen as duel;
use crate::features::duel::screen::commands;
use crate::features::duel::screen::state::{Card, OpenDuel, Reading, shown_passage};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::review::view::{QUERY_LINES, query_lines};
use crate::tui::text;
use crate::tui::text::counted;
use crate::tui::theme::Theme;
use crate::tui::widgets::document_text::{PreparedText, TextMarks};
use crate::tui::widgets::{document_text, heading, notice, scroll_to};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::ops::Range;
use std::sync::Arc;

/// Below this height, the text has priority over everything else.
const SMALL: u16 = 18;
/// Maximum line length, since longer lines are hard to read.
const COLUMNS: u16 = 110;

fn open_card(open: &OpenDuel) -> Option<(&Reading, &Card)> {
    Some((open.reading.as_ref()?, open.card()?))
}

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let open = model.duel().open();
    let Some((open, (reading, card))) = open.and_then(|open| Some((open, open_card(open)?))) else {
        notice("no text is open", theme, rest, buf);
        return Areas::default();
    };
    if open.paused {
        duel::view::paused(open, Canvas::new(theme, rest, buf));
        return Areas::default();
    }
    let columns = usize::from(rest.width);
    let query = open.task_cards().map_or("", |cards| cards.query.as_str());
    let most = if area.height < SMALL { 1 } else { QUERY_LINES };
    let head = query_lines(query, most, theme, columns);
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let line = status(open, reading, theme, columns);
    line.render(cut_bottom(&mut rest, 1), buf);
    let mut top = cut(&mut rest, 1);
    top.width = top.width.min(rest.width);
    rest.width = rest.width.min(COLUMNS);
    let (shown, lines) = model
        .layouts
        .lines(&card.source, query, usize::from(rest.width));
    let note = shown.note().unwrap_or_default();
    let page = usize::from(rest.height);
    let first = first_line(model, reading, &shown, &lines, page);
    let place = document_text::place(first, page, lines.len());
    let words = format!("{} {}", open.cursor + 1, card.title);
    let room = columns.saturating_sub(text::width(&place) + text::width(&note) + 6);
    let mut words = text::truncate(&words, room).into_owned();
    if !note.is_empty() {
        words = format!("{words} · {note}");
    }
    let words = format!("{words}{place}");
    heading(&words, false, theme, top, buf);
    let chosen = open.choice(&reading.document);
    let chosen = chosen.and_then(|choice| choice.passage);
    let marking = open.form() != DuelForm::Lists;
    let marks = TextMarks {
        quotes: chosen
            .map(|passage| shown_passage(&card.source, passage))
            .into_iter()
            .collect(),
        current: marking.then(|| reading.mark.clone()),
        ..TextMarks::default()
    };
    let canvas = Canvas::new(theme, rest, buf);
    let count = document_text::render(&shown, &lines, first, &marks, canvas);
    Areas {
        list: rest,
        lines: count,
        page,
        first,
        ..Areas::default()
    }
}

/// The first visible line: scrolls no more than needed to keep the marked passage visible.
fn first_line(
    model: &Model,
    reading: &Reading,
    shown: &PreparedText,
    lines: &[Range<usize>],
    page: usize,
) -> usize {
    let last = lines.len().saturating_sub(page);
    if !reading.moved {
        return shown.line_in_view(lines, page, &reading.mark);
    }
    let from = lines.partition_point(|line| line.end <= reading.mark.start);
    let to = lines.partition_point(|line| line.start < reading.mark.end);
    let first = scroll_to(model.areas.first.min(last), to.saturating_sub(1), page);
    scroll_to(first, from, page).min(last)
}

/// Describes the mark and the earlier choice.
fn status(open: &OpenDuel, reading: &Reading, theme: &Theme, columns: usize) -> Line<'static> {
    if open.form() == DuelForm::Lists {
        let back = key_on(Command::Back, Screen::PASSAGE);
        let words = format!("{back} goes back to the lists");
        return text::line(&words, columns, theme.muted());
    }
    let enter = key_on(Command::Open, Screen::PASSAGE);
    let whole = key_on(commands::CHOOSE_WHOLE, Screen::PASSAGE);
    let lead = if reading.is_empty() {
        "nothing to mark".to_owned()
    } else {
        format!("{} marked", counted(reading.marked_words(), "word"))
    };
    let chosen = match open.choice(&reading.document) {
        Some(choice) if !choice.stored => " · being stored",
        Some(choice) if choice.passage.is_some() => " · chosen with the underlined passage",
        Some(_) => " · chosen as a whole",
        None => "",
    };
    let rest = format!(" · {enter} chooses this passage, {whole} the whole text");
    let room = columns.saturating_sub(text::width(&lead) + text::width(chosen));
    Line::from(vec![
        Span::styled(lead, theme.strong()),
        Span::styled(chosen, theme.override_mark()),
        Span::styled(text::truncate(&rest, room).into_owned(), theme.muted()),
    ])
}

/// The byte of the text that is drawn at a position of the terminal.
pub(super) fn byte_at(model: &Model, (column, row): (u16, u16)) -> Option<usize> {
    let open = model.duel().open()?;
    let (_, card) = open_card(open)?;
    let area = model.areas.list;
    let query = open.task_cards().map_or("", |cards| cards.query.as_str());
    let (shown, lines): (Arc<PreparedText>, _) =
        model
            .layouts
            .lines(&card.source, query, usize::from(area.width));
    let line = model.areas.first + usize::from(row.checked_sub(area.y)?);
    let line = lines.get(line)?.clone();
    let words = shown.text.get(line.clone())?;
    let (before, _) = text::fit(words, usize::from(column.checked_sub(area.x)?));
    Some(line.start + before.len())
}
