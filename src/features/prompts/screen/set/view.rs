//! Draws the regression set, and all about the pair under the cursor.

use super::source;
use crate::domain::sanitize;
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::Outcome;
use crate::features::prompts::domain::DecidedPair;
use crate::features::prompts::screen::state::OpenSet;
use crate::features::prompts::screen::trial::distinct;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{notice, scroll_to};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Columns of the part, the source and the weight.
const PART: usize = 10;
const SOURCE: usize = 7;
const WEIGHT: usize = 8;
const QUERY: usize = 16;

pub(super) fn view(model: &Model, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let state = model.prompt();
    let Some(open) = &state.set else {
        notice("loading …", theme, rest, buf);
        return Areas::default();
    };
    let columns = usize::from(rest.width);
    let head = text::lines(&sentence(open), columns, theme.strong());
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let pairs = &open.set.pairs;
    let Some((_, chosen)) = pairs.get(state.set_cursor) else {
        return Areas::default();
    };
    let below = text::lines(
        &about(open, state.set_cursor, chosen),
        columns,
        theme.text(),
    );
    let high = (below.len() as u16).min(rest.height / 3);
    let detail = cut_bottom(&mut rest, high);
    text::rule(columns, theme.faint()).render(cut_bottom(&mut rest, 1), buf);
    let header = format!(
        "  {:PART$}{:SOURCE$}{:>WEIGHT$}  {:QUERY$}  decided for",
        "part", "from", "weight", "query"
    );
    text::line(&header, columns, theme.muted()).render(cut(&mut rest, 1), buf);
    let page = usize::from(rest.height);
    let first = scroll_to(0, state.set_cursor, page);
    for (row, (at, (_, of))) in rest.rows().zip(pairs.iter().enumerate().skip(first)) {
        let selected = at == state.set_cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        pair_row(open, at, of, selected, theme, columns).render(row, buf);
    }
    scrollbar(first, pairs.len(), Canvas::new(theme, rest, buf));
    Paragraph::new(below).render(detail, buf);
    Areas {
        list: rest,
        page,
        lines: pairs.len(),
        first,
        position: Some(ListPosition::unfiltered(state.set_cursor, pairs.len())),
        ..Areas::default()
    }
}

fn sentence(open: &OpenSet) -> String {
    let [tuning, held_out] = open.parts;
    if tuning + held_out == 0 {
        let queue = key_on(Command::ShowQueue, Screen::PROMPT_SET);
        return format!(
            "No pair tests prompts yet. {queue}: judge pairs blind. In the shell, `overrule gold \
             import FILE` imports gold pairs."
        );
    }
    format!(
        "{} for tuning and {held_out} held out; {} left out, because the votes were visible; {} at \
         the held-out part.",
        counted(tuning, "pair"),
        counted(open.set.not_blind, "verdict"),
        counted(open.looks.len(), "look"),
    )
}

/// The titles of a pair and the place of the better one.
fn titles(open: &OpenSet, at: usize) -> [String; 2] {
    let key = open.set.pairs.get(at).map(|(query, of)| (*query, of.pair));
    let titles = key.and_then(|key| open.titles.get(&key));
    let titles = titles.map(distinct).unwrap_or_default();
    titles.map(|title| sanitize::line(&title).trim_end_matches('.').to_owned())
}

fn decided(of: &DecidedPair, [low, high]: &[String; 2]) -> String {
    match of.people {
        Outcome::A => format!("{low}, not {high}"),
        Outcome::B => format!("{high}, not {low}"),
        Outcome::Tie => format!("neither: {low}, {high}"),
    }
}

fn pair_row(
    open: &OpenSet,
    at: usize,
    of: &DecidedPair,
    selected: bool,
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let weight = of.weight().map_or("–".to_owned(), |of| format!("{of:.1}"));
    let query = text::pad_right(&sanitize::line(of.query.as_str()), QUERY);
    let numbers = format!(
        "{:PART$}{:SOURCE$}{weight:>WEIGHT$}  {query}  ",
        of.part().words(),
        source(of),
    );
    let room = columns.saturating_sub(2 + text::width(&numbers));
    let [low, high] = titles(open, at);
    let half = room.saturating_sub(9) / 2;
    let short = [low, high].map(|title| text::truncate(&title, half).into_owned());
    Line::from(vec![
        Span::raw(if selected { "▌ " } else { "  " }),
        Span::styled(numbers, theme.muted()),
        Span::raw(text::truncate(&decided(of, &short), room).into_owned()),
    ])
}

/// The titles in full, the cause and the note.
fn about(open: &OpenSet, at: usize, of: &DecidedPair) -> String {
    let mut parts = vec![decided(of, &titles(open, at))];
    parts.extend(
        of.cause
            .map(|cause| format!("cause: {}", ErrorCause::words(cause))),
    );
    let note = of.note.as_deref().filter(|note| !note.is_empty());
    parts.extend(note.map(|note| format!("note: {}", sanitize::line(note))));
    parts.join(" · ")
}
