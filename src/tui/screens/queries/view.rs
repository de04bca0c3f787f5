//! Draws one row per query, with its doubtful points.

use super::columns::Column;
use super::welcome;
use crate::domain::sanitize;
use crate::store::summary_cache::QuerySummary;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::list::scrollbar;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    if model.queries.loaded && model.queries.rows.is_empty() {
        Paragraph::new(welcome::empty_project(model, theme)).render(area, buf);
        return Areas::default();
    }
    let detail_height = if area.height >= 16 { 6 } else { 0 };
    let [totals, head, list, detail] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(detail_height),
    ])
    .areas(area);
    let queries = &model.queries;
    let shown = queries.shown();
    text::line(&totals_text(model), usize::from(totals.width), theme.text()).render(totals, buf);
    let screen = area.width + 2;
    let columns = Column::shown(screen, queries.sort);
    let fixed = columns.iter().map(|column| column.width(screen) + 1);
    let fixed: usize = fixed.sum();
    let room = usize::from(area.width).saturating_sub(fixed + 2);
    let page = usize::from(list.height);
    let first = (queries.cursor + 1).saturating_sub(page);
    let longest = shown.iter().skip(first).take(page);
    let longest = longest
        .map(|index| text::width(&name(model, *index)))
        .max()
        .unwrap_or(5);
    let name_width = longest.clamp(5, 22).min(room);
    let text_width = room.saturating_sub(name_width + 2);

    let mut header = vec![Span::styled(
        format!(
            "  {}  {}",
            text::pad_right("query", name_width),
            text::pad_right("text", text_width)
        ),
        theme.muted(),
    )];
    for column in &columns {
        header.push(Span::raw(" "));
        header.push(column.header(queries, screen, theme));
    }
    Line::from(header).render(head, buf);

    for (line, (place, index)) in list.rows().zip(shown.iter().enumerate().skip(first)) {
        let (info, summary) = &queries.rows[*index];
        let selected = place == queries.cursor;
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(
                text::pad_right(&name(model, *index), name_width),
                theme.strong(),
            ),
            Span::raw("  "),
            Span::raw(text::pad_right(&sanitize::line(&info.text), text_width)),
        ];
        for column in &columns {
            spans.push(Span::raw(" "));
            spans.extend(column.cell(info.documents, summary.as_ref(), screen, theme));
        }
        if selected {
            buf.set_style(line, theme.selection());
        }
        Line::from(spans).render(line, buf);
    }
    scrollbar(first, shown.len(), Canvas::new(theme, list, buf));
    if queries.filter.is_empty() && queries.totals().verdicts == 0 {
        let mut free = list;
        cut(&mut free, shown.len() as u16 + 1);
        let lines = welcome::next_steps(model, theme, usize::from(free.height));
        Paragraph::new(lines).render(free, buf);
    }
    if shown.is_empty() && queries.loaded {
        let text = format!(
            "No query matches “{}”. Press {} to show all.",
            sanitize::line(&queries.filter),
            key_on(Command::Back, Screen::QUERIES)
        );
        Line::styled(text, theme.muted()).render(list, buf);
    }
    if detail_height > 0 {
        render_detail(model, theme, detail, buf);
    }
    Areas {
        list,
        page,
        lines: shown.len(),
        first,
        position: Some(ListPosition {
            cursor: queries.cursor,
            shown: shown.len(),
            all: queries.rows.len(),
        }),
        ..Areas::default()
    }
}

fn name(model: &Model, index: usize) -> String {
    sanitize::line(model.queries.rows[index].0.id.as_str()).into_owned()
}

/// Totals over all queries on one line, starting with the number of settled tops.
fn totals_text(model: &Model) -> String {
    let queries = &model.queries;
    let totals = queries.totals();
    let mut parts = Vec::new();
    if !queries.filter.is_empty() {
        parts.push(format!("filter: {}", sanitize::line(&queries.filter)));
    }
    if totals.decidable > 0 {
        parts.push(format!(
            "top settled in {} of {}",
            text::count(totals.settled),
            queries_of(totals.decidable)
        ));
    }
    if totals.counted < queries.rows.len() && totals.counted > 0 {
        parts.push(format!(
            "{} of {} counted so far",
            text::count(totals.counted),
            queries_of(queries.rows.len())
        ));
    }
    if totals.verdicts > 0 {
        parts.push(text::counted(totals.verdicts, "verdict"));
    }
    if totals.failures > 0 {
        parts.push(text::counted(totals.failures, "failed call"));
    }
    parts.join(" · ")
}

fn render_detail(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let Some((info, summary)) = model.queries.selected() else {
        return;
    };
    let width = usize::from(area.width);
    let full = sanitize::line(&info.text).into_owned();
    let mut lines = vec![text::rule(width, theme.faint())];
    lines.extend(text::first_lines(&full, width, 2, theme.strong()));
    let parts = match summary {
        None => vec!["counting …".to_owned()],
        Some(summary) if summary.battles == 0 => vec![format!(
            "{}, not judged yet: {} starts the run, {} opens adjudication.",
            counted(info.documents, "document"),
            key_on(Command::StartRun, Screen::QUERIES),
            key_on(Command::ShowAdjudication, Screen::QUERIES)
        )],
        Some(summary) => {
            let relevant = model.scale.query_words(&info.id);
            relevant.into_iter().chain(summary_parts(summary)).collect()
        }
    };
    let room = usize::from(area.height).saturating_sub(lines.len());
    lines.extend(text::parts(&parts, width, room.min(3), theme.text()));
    Paragraph::new(lines).render(area, buf);
}

/// The details of a query, most important first.
fn summary_parts(summary: &QuerySummary) -> Vec<String> {
    let mut parts = vec![format!(
        "{} of {} battles fought",
        text::count(summary.fought),
        text::count(summary.battles)
    )];
    if let Some(sure) = summary.settled {
        let words = match (summary.stop, summary.to_separate) {
            (true, _) => "settled at 95 %".to_owned(),
            (false, Some(battles)) => format!(
                "not settled at 95 %: about {} between the two documents at the cut would settle it",
                text::counted(battles, "battle")
            ),
            (false, None) => "not settled at 95 %".to_owned(),
        };
        parts.push(format!(
            "P(top {} right) {}, {words}",
            summary.top,
            text::probability(sure)
        ));
    }
    if let Some(widest) = summary.widest.filter(|_| summary.judged > 0) {
        parts.push(format!(
            "widest 95 % interval in the top {}: {}",
            summary.top,
            text::counted(widest, "rank")
        ));
    }
    if summary.judged > 0 {
        parts.push(format!(
            "judges unanimous on {} of {}",
            summary.unanimous, summary.judged
        ));
    }
    if summary.triads > 0 {
        parts.push(format!(
            "{} of {} triads cyclic",
            summary.cyclic, summary.triads
        ));
    }
    if summary.missing > 0 {
        parts.push(format!(
            "{} missing",
            text::counted(summary.missing, "vote")
        ));
    }
    if summary.verdicts > 0 {
        parts.push(text::counted(summary.verdicts, "verdict"));
    }
    parts
}

fn queries_of(count: usize) -> String {
    match count {
        1 => "1 query".to_owned(),
        _ => format!("{} queries", text::count(count)),
    }
}
