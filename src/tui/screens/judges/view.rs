//! Draws the answer to how good the judges are, one row per judge, and details on the selected one.

use super::details::{
    agreement_words, calls_words, detail_lines, figures, selected as selected_judge,
};
use super::kappas;
use super::table::{height, rows, table};
use crate::app::judge_report::report::RaterReport;
use crate::domain::judge_report::ENOUGH_PAIRS;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::Screen;
use crate::tui::screens::additions::AddedRaters;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{folded_rows, notice, page_hint};
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Minimum columns for text next to the table of κ.
const DETAILS: u16 = 60;
/// Minimum rows of the table of judges: its header and two judges.
const TABLE_MIN: u16 = 3;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    let Some(report) = &model.judges().report else {
        notice("reading all votes …", theme, area, buf);
        return Areas::default();
    };
    let count = rows(report).len();
    let judges = model.judges();
    if count + judges.added_count() == 0 {
        let start = key_on(Command::StartRun, Screen::JUDGES);
        let words = format!("No judge has voted yet. {start}: let the judges compare documents.");
        notice(&words, theme, area, buf);
        return Areas::default();
    }
    let headline = headline(report, theme, usize::from(area.width));
    let added_rows = judges.added.iter().map(|raters| rows_of(raters.as_ref()));
    let [head, _, body] = Layout::vertical([
        Constraint::Length(headline.len() as u16),
        Constraint::Length(1),
        Constraint::Min(0),
    ])
    .areas(area);
    Paragraph::new(headline).render(head, buf);
    let added_rows: u16 = added_rows.sum();
    let table_rows = height(report) + 1 + added_rows;
    let panes = model.split(
        body,
        PaneSplit {
            upright: false,
            gap: 1,
            usual: body.height.saturating_sub(table_rows + 1).max(1),
            least: [TABLE_MIN, 1],
        },
    );
    let (rule, below) = (panes.between, panes.second);
    let mut below_table = panes.first;
    let most = panes.first.height.saturating_sub(added_rows).max(TABLE_MIN);
    let table_area = cut(&mut below_table, most.min(height(report) + 1));
    let mut areas = table(model, report, Canvas::new(theme, table_area, buf)).split(&panes);
    let mut selected = judges.cursor.checked_sub(count);
    for raters in &judges.added {
        let area = cut(&mut below_table, rows_of(raters.as_ref()));
        raters.render(selected, Canvas::new(theme, area, buf));
        selected = selected.and_then(|at| at.checked_sub(raters.count()));
    }
    let under_cursor = judges.added_under_cursor(count);
    match under_cursor
        .is_none()
        .then(|| selected_judge(model, report))
    {
        Some(Some(row)) => {
            titled_rule(
                &row.name,
                &calls_words(report, &row),
                Canvas::new(theme, rule, buf),
            );
        }
        _ => text::rule(usize::from(area.width), theme.faint()).render(rule, buf),
    }
    let mut detail = below;
    if let Some((width, height)) = kappas::size(report)
        && width + 3 + DETAILS <= below.width
        && height <= below.height
    {
        let [right, _, grid] = Layout::horizontal([
            Constraint::Min(1),
            Constraint::Length(3),
            Constraint::Length(width),
        ])
        .areas(below);
        detail = right;
        kappas::render(report, Canvas::new(theme, grid, buf));
    }
    let columns = usize::from(detail.width);
    let lines = match under_cursor {
        Some((raters, at)) => raters.lines(at, theme, columns),
        None => detail_lines(model, report, theme, columns),
    };
    let (lines, aside) = model.pane_text(lines, detail.height);
    areas.aside = aside;
    let lines = folded_rows(lines, detail.height, &page_hint(Screen::JUDGES), theme);
    Paragraph::new(lines).render(detail, buf);
    areas
}

/// `── gpt ─────────── 800 votes · 0 failed`.
fn titled_rule(title: &str, end: &str, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let title = text::truncate(title, usize::from(area.width) / 2);
    let used = text::width(&title) + text::width(end) + 5;
    let line = "─".repeat(usize::from(area.width).saturating_sub(used));
    Line::from(vec![
        Span::styled("── ", theme.faint()),
        Span::styled(title.into_owned(), theme.title()),
        Span::styled(format!(" {line} "), theme.faint()),
        Span::styled(end.to_owned(), theme.muted()),
    ])
    .render(area, buf);
}

/// Height of a table that a feature adds, with its header.
fn rows_of(raters: &dyn AddedRaters) -> u16 {
    match raters.count() {
        0 => 0,
        count => count as u16 + 1,
    }
}

/// All details on the selected judge or other rater, for a separate page.
pub(super) fn page_text(model: &Model, report: &RaterReport, columns: usize) -> String {
    let theme = Theme::default();
    let count = rows(report).len();
    let under_cursor = model.judges().added_under_cursor(count);
    let lines = match &under_cursor {
        Some((raters, at)) => raters.lines(*at, &theme, columns),
        None => detail_lines(model, report, &theme, columns),
    };
    let words: String = lines.iter().map(|line| format!("{line}\n")).collect();
    match selected_judge(model, report).filter(|_| under_cursor.is_none()) {
        Some(row) => {
            let agreement = agreement_words(report);
            let agreement: Vec<String> = agreement
                .lines()
                .flat_map(|line| text::lines(line, columns, theme.text()))
                .map(|line| line.to_string())
                .collect();
            format!(
                "{}\n{}\n{words}\n{}\n",
                row.name,
                figures(report, &row),
                agreement.join("\n")
            )
        }
        None => words,
    }
}

/// Rows of the sentence above the table.
const HEADLINE: usize = 2;

/// The answer to how good the judges are, and which key helps.
fn headline(report: &RaterReport, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut words = report.summary();
    if report.rater_data.blind_pairs().0 < ENOUGH_PAIRS {
        let queue = key_on(Command::ShowQueue, Screen::JUDGES);
        words += &format!(" {queue} opens pairs to judge.");
    }
    let mut lines = text::lines(&words, columns, theme.strong());
    if lines.len() > HEADLINE {
        lines.truncate(HEADLINE);
        if let Some(last) = lines.last_mut() {
            *last = text::ended(last, columns);
        }
    }
    lines
}
