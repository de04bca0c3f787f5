//! Draws the two texts side by side.

use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::widgets::document_text::TextMarks;
use crate::tui::widgets::metadata::{all_words, chosen_words};
use crate::tui::widgets::{document_text, heading};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};
use std::ops::Range;

/// Minimum rows for a text before its metadata gets a row.
const LEAST_TEXT: u16 = 8;

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

/// The document's metadata: the chosen fields, or all fields if none are chosen and the battle is
/// not blind.
fn metadata(model: &Model, open: &OpenQuery, document: usize) -> String {
    let Some(document) = open.documents.get(document) else {
        return String::new();
    };
    let chosen = &model.options.config.screen.metadata;
    if chosen.is_empty() && !model.battle.blind {
        all_words(&document.metadata)
    } else {
        chosen_words(&document.metadata, chosen)
    }
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
        let metadata = !metadata(model, open, document).is_empty();
        2 + usize::from(prepared.note().is_some()) + usize::from(metadata) + lines.len()
    });
    wanted[0].max(wanted[1]).max(3)
}

/// Draws both texts, each below its name and rank, with a second line about the document if
/// `detailed`; if the pair is judged blind, below only its letter and title. Stores the number of
/// lines, the number that fits, and the first visible line of each in `areas`.
pub(crate) fn render(
    model: &Model,
    open: &OpenQuery,
    quotes: &Quotes<'_>,
    detailed: bool,
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
        let (lines, page, first) = one(model, open, side, quotes, detailed, canvas);
        (areas.sides[side], areas.firsts[side]) = (lines, first);
        areas.panes[side] = pane;
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
    detailed: bool,
    canvas: Canvas<'_>,
) -> (usize, usize, usize) {
    let Canvas { theme, area, buf } = canvas;
    let mut body = area;
    let battle = &model.battle;
    let document = if side == 0 { battle.a } else { battle.b };
    let top = cut(&mut body, 1);
    let facts = cut(&mut body, u16::from(detailed && !battle.blind));
    let columns = usize::from(body.width);
    let Some(source) = open.texts.get(&document) else {
        head(model, open, side, "", Canvas::new(theme, top, buf));
        Line::styled("loading the text …", theme.missing()).render(body, buf);
        return (0, 0, 0);
    };
    let (shown, lines) = model.layouts.lines(source, &open.info.text, columns);
    if let Some(note) = shown.note().filter(|_| body.height > 1) {
        Line::styled(text::truncate(&note, columns), theme.muted()).render(cut(&mut body, 1), buf);
    }
    let metadata = metadata(model, open, document);
    if !metadata.is_empty() && body.height > LEAST_TEXT {
        text::line(&metadata, columns, theme.muted()).render(cut(&mut body, 1), buf);
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
    head(model, open, side, &place, Canvas::new(theme, top, buf));
    let parts = details(open, document);
    let words = text::parts(&parts, columns.saturating_sub(INDENT), 1, theme.muted());
    let indented = Rect {
        x: facts.x + (INDENT as u16).min(facts.width),
        ..facts
    };
    Paragraph::new(words).render(indented.intersection(facts), buf);
    let canvas = Canvas::new(theme, body, buf);
    let count = document_text::render(&shown, &lines, first, &marks, canvas);
    (count, page, first)
}

/// Columns of a letter and the blanks after it.
const INDENT: usize = 3;

/// `A  Sleep in adults · #6 · 3–14/22`: letter, name, rank and place, as far as there is room and
/// the pair is not judged blind.
fn head(model: &Model, open: &OpenQuery, side: usize, place: &str, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let battle = &model.battle;
    let focus = battle.side < 2 && (battle.together || battle.side == side);
    let (letter, document) = if side == 0 {
        ("A", battle.a)
    } else {
        ("B", battle.b)
    };
    let rank = match open.standing(document).filter(|_| !battle.blind) {
        Some(standing) => format!(" · #{}", standing.rank),
        None => String::new(),
    };
    let after = format!("{rank}{place}");
    let room = usize::from(area.width).saturating_sub(text::width(&after) + INDENT + 3);
    let has_title = |at: &usize| {
        let document = open.documents.get(*at);
        document.is_some_and(|document| document.title().is_some())
    };
    // Without titles, the names are words of the texts below.
    let named = !battle.blind || has_title(&document);
    let words = if named {
        let names = if battle.blind {
            open.titles_of(battle.a, battle.b, room)
        } else {
            open.names_of(battle.a, battle.b, room)
        };
        format!("{letter}  {}{after}", text::truncate(&names[side], room))
    } else {
        format!("{letter}{after}")
    };
    heading(&words, focus, theme, area, buf);
}

/// The range of the rank, the score with its standard error, and the identifier.
fn details(open: &OpenQuery, document: usize) -> Vec<String> {
    let name = open.name(document);
    let Some(standing) = open.standing(document) else {
        return vec!["not scored".to_owned(), name];
    };
    let ranks = standing
        .interval
        .map(|interval| format!("ranks {interval}"));
    let se = standing
        .se
        .map_or(String::new(), |se| format!(" ± {se:.2}"));
    let score = format!("zELO {}{se}", text::signed(standing.zelo, 2));
    ranks.into_iter().chain([score, name]).collect()
}
