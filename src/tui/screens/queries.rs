//! The list of queries: one row each, with what there is to doubt about it.

use crate::domain::sanitise;
use crate::judge::OFFLINE_LABEL;
use crate::store::summary_cache::QuerySummary;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, Effect, Model, Screen};
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// A column: its header, its width, and the narrowest screen that shows it.
struct Column {
    head: &'static str,
    width: usize,
    from: u16,
}

const COLUMNS: [Column; 8] = [
    Column {
        head: "K",
        width: 4,
        from: 0,
    },
    Column {
        head: "battles",
        width: 15,
        from: 0,
    },
    Column {
        head: "consensus",
        width: 9,
        from: 0,
    },
    Column {
        head: "cycles",
        width: 7,
        from: 100,
    },
    Column {
        head: "widest",
        width: 8,
        from: 110,
    },
    Column {
        head: "missing",
        width: 7,
        from: 140,
    },
    Column {
        head: "failed",
        width: 6,
        from: 100,
    },
    Column {
        head: "verdicts",
        width: 8,
        from: 80,
    },
];

/// Columns of the bar beside the battles.
const BAR: usize = 5;

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    let area = Rect {
        x: area.x + 1.min(area.width),
        width: area.width.saturating_sub(2),
        ..area
    };
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
        return Areas {
            body: area,
            ..Areas::default()
        };
    }
    let detail_height = if area.height >= 16 { 6 } else { 0 };
    let [head, list, detail] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(detail_height),
    ])
    .areas(area);
    let shown = model.shown_queries();
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| area.width + 2 >= column.from)
        .collect();
    let fixed: usize = columns.iter().map(|column| column.width + 1).sum();
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
            format!(" {}", text::pad_left(column.head, column.width)),
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
        body: area,
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
    if model.queries.sort != super::super::model::QuerySort::Import {
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
    let right = |words: String, style: Style| {
        vec![Span::styled(text::pad_left(&words, column.width), style)]
    };
    if column.head == "K" {
        return right(text::count(documents), Style::new());
    }
    let Some(summary) = summary else {
        return right("…".to_owned(), theme.muted());
    };
    let none = || right("–".to_owned(), theme.faint());
    let number = |count: usize, style: Style| {
        if count == 0 {
            right("0".to_owned(), theme.faint())
        } else {
            right(text::count(count), style)
        }
    };
    match column.head {
        "battles" if summary.battles == 0 => right("not run".to_owned(), theme.muted()),
        "battles" => {
            let figure = format!("{}/{}", summary.fought, summary.battles);
            let filled = BAR * summary.fought / summary.battles;
            vec![
                Span::styled("█".repeat(filled), theme.bar_fill()),
                Span::styled("░".repeat(BAR - filled), theme.bar_back()),
                Span::raw(text::pad_left(&figure, column.width - BAR)),
            ]
        }
        "consensus" if summary.judged == 0 => none(),
        "consensus" => right(
            format!(
                "{:.0} %",
                100.0 * summary.unanimous as f64 / summary.judged as f64
            ),
            Style::new(),
        ),
        "cycles" if summary.triads == 0 => none(),
        "cycles" => right(
            format!("{}/{}", summary.cyclic, summary.triads),
            Style::new(),
        ),
        "widest" if summary.judged == 0 => none(),
        "widest" => summary
            .widest
            .map_or_else(none, |ranks| right(ranks_words(ranks), Style::new())),
        "missing" => number(summary.missing, theme.warn()),
        "failed" => number(summary.failures, theme.bad()),
        _ => number(summary.verdicts, theme.override_mark()),
    }
}

fn render_detail(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let Some((info, summary)) = model.selected_query() else {
        return;
    };
    let width = usize::from(area.width);
    let rule = Line::styled("─".repeat(width), theme.faint());
    let full = sanitise::line(&info.text).into_owned();
    let mut lines = vec![rule];
    for range in text::wrap(&full, width).into_iter().take(2) {
        lines.push(Line::styled(full[range].to_owned(), theme.strong()));
    }
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
    for range in text::wrap(&words, width).into_iter().take(2) {
        lines.push(Line::raw(words[range].to_owned()));
    }
    if summary.as_ref().is_some_and(|summary| summary.offline) {
        lines.push(Line::styled(OFFLINE_LABEL, theme.warn()));
    }
    Paragraph::new(lines).render(area, buf);
}

fn ranks_words(ranks: usize) -> String {
    match ranks {
        1 => "1 rank".to_owned(),
        ranks => format!("{ranks} ranks"),
    }
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

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let last = model.shown_queries().len().saturating_sub(1);
    let page = model.areas.page.max(1);
    let cursor = model.queries.cursor;
    match command {
        Command::Down => model.queries.cursor = (cursor + 1).min(last),
        Command::Up => model.queries.cursor = cursor.saturating_sub(1),
        Command::PageDown => model.queries.cursor = (cursor + page).min(last),
        Command::PageUp => model.queries.cursor = cursor.saturating_sub(page),
        Command::First => model.queries.cursor = 0,
        Command::Last => model.queries.cursor = last,
        Command::SortQueries => {
            model.queries.sort = model.queries.sort.next();
            model.queries.cursor = 0;
        }
        Command::StartRun => return super::run::start(model),
        Command::Open | Command::ShowMatrix => {
            if let Some(key) = model.selected_query().map(|(info, _)| info.key) {
                model.stack.push(Screen::Matrix);
                return model.open_query(key);
            }
        }
        _ => {}
    }
    model.stale_summaries()
}
