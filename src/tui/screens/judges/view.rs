//! Draws the worst judge, one row per judge, pairwise agreement, and details on the selected judge.

use super::details::detail_lines;
use super::kappas;
use super::table::{figures, rows, table};
use crate::app::judge_report::report::RaterReport;
use crate::domain::agreement::Alpha;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::additions::AddedRaters;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{folded_rows, notice, page_hint};
use ratatui::layout::{Constraint, Layout};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// Minimum columns for text next to the table of κ.
const DETAILS: u16 = 60;

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
        let start = key_on(Command::StartRun, Screen::QUERIES);
        let words =
            format!("No judge has voted yet. Press {start} on the list of queries to start a run.");
        notice(&words, theme, area, buf);
        return Areas::default();
    }
    let headline = headline(report, theme, usize::from(area.width));
    let added_rows = judges.added.iter().map(|raters| rows_of(raters.as_ref()));
    let [head, table_area, mut below_table, rule, below] = Layout::vertical([
        Constraint::Length(headline.len() as u16),
        Constraint::Length(count as u16 + 1),
        Constraint::Length(added_rows.sum()),
        Constraint::Length(1),
        Constraint::Min(1),
    ])
    .areas(area);
    Paragraph::new(headline).render(head, buf);
    let areas = table(model, report, Canvas::new(theme, table_area, buf));
    let mut selected = judges.cursor.checked_sub(count);
    for raters in &judges.added {
        let area = cut(&mut below_table, rows_of(raters.as_ref()));
        raters.render(selected, Canvas::new(theme, area, buf));
        selected = selected.and_then(|at| at.checked_sub(raters.count()));
    }
    text::rule(usize::from(area.width), theme.faint()).render(rule, buf);
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
    let lines = match judges.added_under_cursor(count) {
        Some((raters, at)) => raters.lines(at, theme, columns),
        None => detail_lines(model, report, theme, columns),
    };
    let lines = folded_rows(lines, detail.height, &page_hint(Screen::JUDGES), theme);
    Paragraph::new(lines).render(detail, buf);
    areas
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
    let rows = rows(report);
    let at = model.judges().cursor;
    let lines = match model.judges().added_under_cursor(rows.len()) {
        Some((raters, at)) => raters.lines(at, &theme, columns),
        None => {
            let mut lines = headline(report, &theme, columns);
            lines.push(Line::default());
            lines.extend(detail_lines(model, report, &theme, columns));
            lines
        }
    };
    let words = lines.iter().map(|line| format!("{line}\n"));
    let figures = rows
        .get(at)
        .map(|row| format!("{}\n{}\n", row.name, figures(row)));
    figures.into_iter().chain(words).collect()
}

/// Which judge is clearly the worst, if any, and the overall agreement.
fn headline(report: &RaterReport, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut lines = match report.weakest_words() {
        Some(words) => text::lines(&format!("worst: {words}"), columns, theme.bad()),
        None => text::lines("no judge is clearly the worst", columns, theme.muted()),
    };
    let alpha = |who: &str, alpha: &Option<Alpha>| {
        let alpha = alpha.as_ref()?;
        let interval = alpha.interval.map_or(String::new(), |interval| {
            let (low, high) = (text::fixed(interval.low, 2), text::fixed(interval.high, 2));
            format!(" (95 %: {low}–{high})")
        });
        Some(format!("{who} {}{interval}", text::fixed(alpha.value, 2)))
    };
    let alphas = [
        alpha("judges", &report.alpha_judges),
        alpha("people", &report.alpha_people),
    ];
    let alphas: Vec<String> = alphas.into_iter().flatten().collect();
    if !alphas.is_empty() {
        let words = format!("Krippendorff's α: {}", alphas.join(" · "));
        lines.extend(text::lines(&words, columns, theme.text()));
    }
    lines
}
