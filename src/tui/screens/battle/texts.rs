//! Draws the two texts side by side.

use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::widgets::document_text::TextMarks;
use crate::tui::widgets::{document_text, heading};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Widget;
use std::ops::Range;

/// Minimum number of columns for the beginning of a title, including the dot before it.
const TITLE: usize = 15;

/// The judges' quotes from A and from B: of the judge whose reasoning is shown, and of the others.
pub(crate) struct Quotes<'a> {
    pub chosen: &'a [Vec<Range<usize>>; 2],
    pub others: &'a [Vec<Range<usize>>; 2],
}

/// Splits the area of the pair into the columns of each text.
pub(super) fn split(area: Rect) -> [Rect; 3] {
    Layout::horizontal([
        Constraint::Fill(1),
        Constraint::Length(3),
        Constraint::Fill(1),
    ])
    .areas(area)
}

/// The document's title on one line; `None` without one.
pub(super) fn title(open: &OpenQuery, document: usize) -> Option<String> {
    let title = open.documents.get(document)?.title.as_deref()?.trim();
    (!title.is_empty()).then(|| sanitize::line(title).into_owned())
}

/// Number of rows that both texts need in full.
pub(super) fn rows(model: &Model, open: &OpenQuery, columns: u16) -> usize {
    let [left, _, right] = split(Rect::new(0, 0, columns, 1));
    let wanted = [(model.battle.a, left), (model.battle.b, right)].map(|(document, area)| {
        let Some(source) = open.texts.get(&document) else {
            return 2;
        };
        let columns = usize::from(area.width);
        let (prepared, lines) = model.layouts.lines(source, &open.info.text, columns);
        1 + usize::from(prepared.note().is_some()) + lines.len()
    });
    wanted[0].max(wanted[1]).max(3)
}

/// Draws both texts, each below its name and rank, and its title unless it is already shown above
/// (`titled`); if the pair is judged blind, below only its letter and title. Stores the number of
/// lines, the number that fits, and the first visible line of each in `areas`.
pub(crate) fn render(
    model: &Model,
    open: &OpenQuery,
    quotes: &Quotes<'_>,
    titled: bool,
    areas: &mut Areas,
    canvas: Canvas<'_>,
) {
    let Canvas { theme, area, buf } = canvas;
    let [left, rule, right] = split(area);
    for row in rule.rows().skip(1) {
        Line::styled(" │", theme.border()).render(row, buf);
    }
    areas.page = 0;
    for (side, pane) in [left, right].into_iter().enumerate() {
        let canvas = Canvas::new(theme, pane, buf);
        let (lines, page, first) = one(model, open, side, quotes, titled, canvas);
        (areas.sides[side], areas.firsts[side]) = (lines, first);
        areas.page = areas.page.max(page);
    }
    areas.lines = areas.sides[0].max(areas.sides[1]);
    areas.list = area;
}

fn one(
    model: &Model,
    open: &OpenQuery,
    side: usize,
    quotes: &Quotes<'_>,
    titled: bool,
    canvas: Canvas<'_>,
) -> (usize, usize, usize) {
    let Canvas { theme, area, buf } = canvas;
    let battle = &model.battle;
    let document = if side == 0 { battle.a } else { battle.b };
    let mut body = area;
    let top = cut(&mut body, 1);
    let letter = if side == 0 { "A" } else { "B" };
    let focus = battle.side < 2 && (battle.together || battle.side == side);
    let columns = usize::from(body.width);
    let title = title(open, document);
    let name = match (battle.blind, &title) {
        (true, Some(title)) => format!("{letter} · {title}"),
        (true, None) => letter.to_owned(),
        (false, _) => format!("{letter} {}", open.name(document)),
    };
    let Some(source) = open.texts.get(&document) else {
        heading(&name, focus, theme, top, buf);
        Line::styled("loading the text …", theme.missing()).render(body, buf);
        return (0, 0, 0);
    };
    let (shown, lines) = model.layouts.lines(source, &open.info.text, columns);
    if let Some(note) = shown.note().filter(|_| body.height > 1) {
        Line::styled(text::truncate(&note, columns), theme.muted()).render(cut(&mut body, 1), buf);
    }
    let page = usize::from(body.height);
    let search = model.search.as_ref();
    let marks = TextMarks {
        quotes: quotes.chosen[side].clone(),
        others: quotes.others[side].clone(),
        found: search.map_or(Vec::new(), |search| search.in_text(side)),
        current: search.and_then(|search| search.current_in(side)),
    };
    let first = match (battle.scroll[side], &marks.current) {
        (Some(first), _) => first.min(lines.len().saturating_sub(page)),
        (None, Some(place)) => shown.line_in_view(&lines, page, place),
        (None, None) => shown.first_line(&lines, page, model.from_top),
    };
    let place = document_text::place(first, page, lines.len());
    let room = usize::from(top.width).saturating_sub(text::width(&place) + 3);
    let rank = open.rank_text(document);
    let short = rank.split(" (").next().unwrap_or_default();
    let ranked = [rank.as_str(), short].map(|rank| format!("{name} · {rank}"));
    let words = ranked
        .into_iter()
        .find(|words| !battle.blind && text::width(words) <= room)
        .unwrap_or(name);
    let words = match &title {
        Some(title) if !titled && !battle.blind && text::width(&words) + TITLE <= room => {
            format!("{words} · {title}")
        }
        _ => words,
    };
    let words = format!("{}{place}", text::truncate(&words, room));
    heading(&words, focus, theme, top, buf);
    let canvas = Canvas::new(theme, body, buf);
    let count = document_text::render(&shown, &lines, first, &marks, canvas);
    (count, page, first)
}
