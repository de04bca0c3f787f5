//! One row a query, with what there is to doubt about it.

use crate::domain::sanitise;
use crate::judge::OFFLINE_LABEL;
use crate::store::summary_cache::QuerySummary;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::layout::inset;
use crate::tui::model::Model;
use crate::tui::model::queries::QuerySort;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// A column: its header, its width, and the narrowest screen that shows it.
struct Column(&'static str, usize, u16);

const COLUMNS: [Column; 8] = [
    Column("K", 4, 0),
    Column("battles", 15, 0),
    Column("consensus", 9, 0),
    Column("cycles", 7, 100),
    Column("widest", 8, 110),
    Column("missing", 7, 140),
    Column("failed", 6, 100),
    Column("verdicts", 8, 80),
];

const BAR: usize = 5;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    if model.queries.loaded && model.queries.rows.is_empty() {
        let lines = vec![
            Line::default(),
            Line::styled("This project holds no queries yet.", theme.strong()),
            Line::default(),
            Line::raw("overrule import DATASET.jsonl     brings in queries with their documents"),
            Line::raw("overrule import ai_scores.json    brings in an existing zBench run"),
            Line::raw("overrule demo                     opens the bundled sample"),
        ];
        Paragraph::new(lines).render(area, buf);
        return Areas::default();
    }
    let detail_height = if area.height >= 16 { 6 } else { 0 };
    let [head, list, detail] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(detail_height),
    ])
    .areas(area);
    let shown = model.queries.shown();
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| area.width + 2 >= column.2)
        .collect();
    let fixed: usize = columns.iter().map(|column| column.1 + 1).sum();
    let room = usize::from(area.width).saturating_sub(fixed + 2);
    let longest = shown
        .iter()
        .map(|index| text::width(&name(model, *index)))
        .max()
        .unwrap_or(5);
    let name_width = longest.clamp(5, 22).min(room);
    let text_width = room.saturating_sub(name_width + 2);

    let mut header = vec![Span::styled(
        format!(
            "  {}  {}",
            text::pad_right("query", name_width),
            text::pad_right(&headline(model), text_width)
        ),
        theme.muted(),
    )];
    for column in &columns {
        header.push(Span::styled(
            format!(" {}", text::pad_left(column.0, column.1)),
            theme.muted(),
        ));
    }
    Line::from(header).render(head, buf);

    let page = usize::from(list.height);
    let first = (model.queries.cursor + 1).saturating_sub(page);
    for (line, (place, index)) in list.rows().zip(shown.iter().enumerate().skip(first)) {
        let (info, summary) = &model.queries.rows[*index];
        let selected = place == model.queries.cursor;
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(
                text::pad_right(&name(model, *index), name_width),
                theme.strong(),
            ),
            Span::raw("  "),
            Span::raw(text::pad_right(&sanitise::line(&info.text), text_width)),
        ];
        for column in &columns {
            spans.push(Span::raw(" "));
            spans.extend(cell(column, info.documents, summary.as_ref(), theme));
        }
        if selected {
            buf.set_style(line, theme.selection());
        }
        Line::from(spans).render(line, buf);
    }
    if shown.is_empty() && model.queries.loaded {
        let text = format!(
            "No query matches “{}”. Esc shows all.",
            sanitise::line(&model.queries.filter)
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
        ..Areas::default()
    }
}

fn name(model: &Model, index: usize) -> String {
    sanitise::line(model.queries.rows[index].0.id.as_str()).into_owned()
}

fn headline(model: &Model) -> String {
    let mut words = "text".to_owned();
    if model.queries.sort != QuerySort::Import {
        words = format!("text · sorted: {}", model.queries.sort.describe());
    }
    if !model.queries.filter.is_empty() {
        words = format!(
            "{words} · filter: {}",
            sanitise::line(&model.queries.filter)
        );
    }
    words
}

fn cell(
    column: &Column,
    documents: usize,
    summary: Option<&QuerySummary>,
    theme: &Theme,
) -> Vec<Span<'static>> {
    let right =
        |words: String, style: Style| vec![Span::styled(text::pad_left(&words, column.1), style)];
    if column.0 == "K" {
        return right(text::count(documents), Style::new());
    }
    let Some(summary) = summary else {
        return right("…".to_owned(), theme.muted());
    };
    let none = || right("–".to_owned(), theme.faint());
    let number = |count: usize, style: Style| match count {
        0 => right("0".to_owned(), theme.faint()),
        _ => right(text::count(count), style),
    };
    match column.0 {
        "battles" if summary.battles == 0 => right("not run".to_owned(), theme.muted()),
        "battles" => {
            let figure = format!("{}/{}", summary.fought, summary.battles);
            let filled = BAR * summary.fought / summary.battles;
            vec![
                Span::styled("█".repeat(filled), theme.bar_fill()),
                Span::styled("░".repeat(BAR - filled), theme.bar_back()),
                Span::raw(text::pad_left(&figure, column.1 - BAR)),
            ]
        }
        "consensus" => summary.consensus().map_or_else(none, |share| {
            right(format!("{:.0} %", 100.0 * share), Style::new())
        }),
        "cycles" if summary.triads == 0 => none(),
        "cycles" => right(
            format!("{}/{}", summary.cyclic, summary.triads),
            Style::new(),
        ),
        "widest" if summary.judged == 0 => none(),
        "widest" => summary.widest.map_or_else(none, |ranks| {
            right(text::count_of(ranks, "rank"), Style::new())
        }),
        "missing" => number(summary.missing, theme.warn()),
        "failed" => number(summary.failures, theme.bad()),
        _ => number(summary.verdicts, theme.override_mark()),
    }
}

fn render_detail(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let Some((info, summary)) = model.queries.selected() else {
        return;
    };
    let width = usize::from(area.width);
    let full = sanitise::line(&info.text).into_owned();
    let mut lines = vec![text::rule(width, theme.faint())];
    lines.extend(
        text::lines(&full, width, theme.strong())
            .into_iter()
            .take(2),
    );
    let words = match summary {
        None => "counting …".to_owned(),
        Some(summary) if summary.battles == 0 => {
            format!(
                "{} documents, not judged yet: s starts the run, C opens adjudication.",
                info.documents
            )
        }
        Some(summary) => summary_text(summary),
    };
    lines.extend(text::lines(&words, width, theme.text()).into_iter().take(2));
    if summary.as_ref().is_some_and(|summary| summary.offline) {
        lines.push(Line::styled(OFFLINE_LABEL, theme.warn()));
    }
    Paragraph::new(lines).render(area, buf);
}

fn summary_text(summary: &QuerySummary) -> String {
    let mut words = format!("{} of {} battles fought", summary.fought, summary.battles);
    if summary.judged > 0 {
        words += &format!(
            ", judges of one mind on {} of {}",
            summary.unanimous, summary.judged
        );
    }
    if summary.triads > 0 {
        words += &format!(", {} of {} triads cyclic", summary.cyclic, summary.triads);
    }
    if let Some(widest) = summary.widest {
        words += &format!(", widest 95 % interval in the top ten {widest} ranks");
    }
    if summary.missing > 0 {
        words += &format!(", {} votes missing", summary.missing);
    }
    if summary.verdicts > 0 {
        words += &format!(", {} overruled", summary.verdicts);
    }
    words + "."
}
