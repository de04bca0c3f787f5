//! Draws the document being ruled on; label and picks are hidden until the person has ruled.

use super::panel;
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::model::ruling::CurrentRuling;
use crate::tui::panes::{PaneSplit, second_share};
use crate::tui::screens::Screen;
use crate::tui::screens::review::view::{QUERY_LINES, query_lines, spare_lines};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::document_text::TextMarks;
use crate::tui::widgets::metadata::chosen_words;
use crate::tui::widgets::{document_text, folded_rows, heading, notice, page_hint};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// Below this height, the text has priority over everything else.
const SMALL: u16 = 18;
/// Minimum width for showing the findings of others next to the text.
const WIDE: u16 = 100;
/// Minimum columns of each of the two.
const PANE_MIN: u16 = 30;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut areas = Areas::default();
    let mut rest = inset(area);
    let Some(current) = &model.adjudication.current else {
        let words = if model.adjudication.overview.is_some()
            && model.adjudication.disagreements.is_empty()
        {
            let back = key_on(Command::Back, Screen::RULING);
            format!("Nothing left to rule on. Press {back} to go back to the list.")
        } else {
            "loading …".to_owned()
        };
        notice(&words, theme, rest, buf);
        return areas;
    };
    let Some(evidence) = &current.evidence else {
        notice("loading the document …", theme, rest, buf);
        return areas;
    };
    let columns = usize::from(rest.width);
    let spare = spare_lines(area.height);
    let mut head = head(model, current, evidence, theme, columns);
    let small = area.height < SMALL;
    if small {
        // The query's first line, and the ruling.
        let last = head
            .pop()
            .filter(|_| current.open && current.finding.is_some());
        head.truncate(1);
        head.extend(last);
    }
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let keys = panel::keys(model, current, theme, columns);
    // The document keeps half of the terminal's rows or, once everything is visible on a tall
    // terminal, a third of the remaining ones.
    let room = if small || !current.open {
        (spare as u16).saturating_sub(rows).max(1)
    } else {
        rest.height * 2 / 3
    };
    let aside = current.open && area.width >= WIDE && !small;
    let keys = folded_rows(keys, room, &page_hint(Screen::RULING), theme);
    let room = room.saturating_sub(keys.len() as u16);
    let key_rows = keys.len() as u16;
    Paragraph::new(keys).render(cut_bottom(&mut rest, key_rows), buf);
    if !small {
        text::rule(columns, theme.faint()).render(cut_bottom(&mut rest, 1), buf);
    }
    if current.open {
        let split = if aside {
            PaneSplit {
                upright: true,
                gap: 2,
                usual: second_share(rest.width, 2, [3, 2]),
                least: [PANE_MIN; 2],
            }
        } else {
            let lines = panel::findings(model, current, evidence, theme, columns).len() as u16;
            PaneSplit {
                upright: false,
                gap: 0,
                // One more row for the heading.
                usual: (lines + 1).min(room),
                least: [2, 1],
            }
        };
        let panes = model.split(rest, split);
        areas = areas.split(&panes);
        rest = panes.first;
        let canvas = Canvas::new(theme, panes.second, buf);
        areas.aside = findings(model, current, evidence, canvas);
    }
    (areas.lines, areas.page, areas.first) =
        document(model, current, evidence, Canvas::new(theme, rest, buf));
    areas.list = rest;
    areas
}

/// Draws the findings of people, judges and benchmark, as far as they fit. Returns the number of
/// lines and the number that fits.
fn findings(
    model: &Model,
    current: &CurrentRuling,
    evidence: &DocumentEvidence,
    canvas: Canvas<'_>,
) -> (usize, usize) {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    if rest.height > 1 {
        heading(
            "who said what, and why",
            false,
            theme,
            cut(&mut rest, 1),
            buf,
        );
    }
    let lines = panel::findings(model, current, evidence, theme, usize::from(rest.width));
    let (lines, aside) = model.pane_text(lines, rest.height);
    let lines = folded_rows(lines, rest.height, &page_hint(Screen::RULING), theme);
    Paragraph::new(lines).render(rest, buf);
    aside
}

fn head(
    model: &Model,
    current: &CurrentRuling,
    evidence: &DocumentEvidence,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = query_lines(&evidence.asked, QUERY_LINES, theme, columns);
    if let Some(words) = panel::headline(model, current, evidence) {
        lines.push(text::line(&words, columns, theme.strong()));
    }
    if !current.open {
        let words = "Does this document answer the query? Underlined: the passage nearest to it. \
                     Label, picks and judges are hidden until you have ruled.";
        lines.extend(text::lines(words, columns, theme.muted()));
    }
    lines
}

/// Draws the text; returns the number of lines, the number that fits, and the first visible one.
fn document(
    model: &Model,
    current: &CurrentRuling,
    evidence: &DocumentEvidence,
    canvas: Canvas<'_>,
) -> (usize, usize, usize) {
    let Canvas { theme, area, buf } = canvas;
    let mut body = area;
    let top = cut(&mut body, 1);
    let columns = usize::from(body.width);
    let (shown, lines) = model
        .layouts
        .lines(&evidence.text, &evidence.asked, columns);
    if let Some(note) = shown.note().filter(|_| body.height > 1) {
        Line::styled(text::truncate(&note, columns), theme.muted()).render(cut(&mut body, 1), buf);
    }
    let chosen = &model.options.config.screen.metadata;
    let metadata = chosen_words(&evidence.metadata, chosen);
    if !metadata.is_empty() && body.height > 2 {
        text::line(&metadata, columns, theme.muted()).render(cut(&mut body, 1), buf);
    }
    let page = usize::from(body.height);
    let search = model.search.as_ref();
    let found = search.and_then(|search| search.current_in(0));
    let first = match (current.scroll, &found) {
        (Some(first), _) => first.min(lines.len().saturating_sub(page)),
        (None, Some(place)) => shown.line_in_view(&lines, page, place),
        (None, None) => shown.first_line(&lines, page, model.from_top),
    };
    let place = document_text::place(first, page, lines.len());
    let title = evidence.title.as_deref().unwrap_or_default();
    let name = sanitize::line(evidence.document.as_str());
    let words = format!("{name} {}", sanitize::line(title));
    let room = usize::from(top.width).saturating_sub(text::width(&place) + 3);
    let words = format!("{}{place}", text::truncate(words.trim_end(), room));
    heading(&words, false, theme, top, buf);
    let evidence = panel::evidence_ranges(evidence, &shown.text).filter(|_| current.open);
    let marks = TextMarks {
        quotes: evidence.unwrap_or_else(|| vec![shown.passage.clone()]),
        others: Vec::new(),
        found: search.map_or(Vec::new(), |search| search.in_text(0)),
        current: found,
    };
    let canvas = Canvas::new(theme, body, buf);
    let count = document_text::render(&shown, &lines, first, &marks, canvas);
    (count, page, first.min(count))
}
