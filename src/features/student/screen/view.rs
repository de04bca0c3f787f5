//! Draws one figure with its numbers, and a description of the selected group of battles.

use super::commands;
use super::numbers::{TWO_LINES, answer, description, summary, table, totals};
use super::plot::plot;
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::features::student::app::{StepReport, StudentReport};
use crate::features::student::domain::figure::{Figure, FigureGroup};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::{ColorDepth, Theme};
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{folded_rows, notice, page_hint};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

const NONE_YET: &str = "No student has a prediction of a judged pair. `overrule student train` \
                        fits the built-in one to the project's own votes, \
                        `overrule student report FILE` measures the predictions of another model.";

/// Minimum and maximum columns of the numbers next to the plot.
const NUMBERS: (u16, u16) = (36, 64);

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut area = inset(area);
    let columns = usize::from(area.width);
    match &model.student().found {
        None => {
            notice("calculating the figures …", theme, area, buf);
            return Areas::default();
        }
        Some(Err(error)) => {
            let mut lines = Vec::new();
            if model.queries.is_unjudged() {
                let back = key_on(Command::Back, Screen::STUDENT);
                let start = key_on(Command::StartRun, Screen::QUERIES);
                let words = format!(
                    "Not judged yet. Press {back}, then {start} to let the judges compare the \
                     documents."
                );
                lines.extend(text::lines(&words, columns, theme.strong()));
            }
            let words = error.to_string();
            lines.extend(text::lines(&sanitize::line(&words), columns, theme.muted()));
            Paragraph::new(lines).render(area, buf);
            return Areas::default();
        }
        Some(Ok(_)) => {}
    }
    let (Some(report), Some(step)) = (model.student().report(), model.student().step()) else {
        let manual = key_on(Command::Manual, Screen::STUDENT);
        let train = key_on(commands::TRAIN_STUDENT, Screen::STUDENT);
        let words = format!(
            "{NONE_YET} Press {train} to train it here, {manual} for the chapter of the manual."
        );
        Paragraph::new(text::lines(&words, columns, theme.muted())).render(area, buf);
        return Areas::default();
    };
    let figure = model.student().figure;
    text::line(&answer(&step.figures), columns, theme.strong()).render(cut(&mut area, 1), buf);
    let head = headline(model, report, step);
    text::line(&head, columns, theme.muted()).render(cut(&mut area, 1), buf);
    let title = format!(
        "{} of {} · {}",
        figure.number(),
        Figure::ALL.len(),
        figure.title()
    );
    text::line(&title, columns, theme.title()).render(cut(&mut area, 1), buf);
    let words = description(model.student(), &step.figures, theme, columns);
    let lines = if columns < TWO_LINES { 3 } else { 2 };
    let foot = cut_bottom(&mut area, lines);
    Paragraph::new(words).render(foot, buf);
    text::rule(columns, theme.faint()).render(cut_bottom(&mut area, 1), buf);
    let panes = model.split(
        area,
        PaneSplit {
            upright: true,
            gap: 2,
            usual: (area.width * 2 / 5).clamp(NUMBERS.0, NUMBERS.1),
            least: [NUMBERS.0; 2],
        },
    );
    let (drawn, mut numbers) = (panes.first, panes.second);
    plot(model.student(), Canvas::new(theme, drawn, buf));
    let lines = summary(
        model.student(),
        &step.figures,
        theme,
        usize::from(numbers.width),
    );
    let rows = (lines.len() as u16).min(numbers.height);
    let lines = folded_rows(lines, rows, &page_hint(Screen::STUDENT), theme);
    Paragraph::new(lines).render(cut(&mut numbers, rows), buf);
    if figure.is_plane() {
        return Areas {
            page: 1,
            border: Some(panes.border),
            ..Areas::default()
        };
    }
    cut(&mut numbers, 1);
    if numbers.height < 2 {
        return Areas {
            border: Some(panes.border),
            ..Areas::default()
        };
    }
    let (list, first) = table(model.student(), Canvas::new(theme, numbers, buf));
    let count = model.student().groups.len();
    scrollbar(first, count, Canvas::new(theme, list, buf));
    Areas {
        list,
        first,
        lines: count,
        page: usize::from(list.height),
        position: Some(ListPosition::unfiltered(model.student().cursor, count)),
        border: Some(panes.border),
        ..Areas::default()
    }
}

/// All numbers of a figure, wrapped to this many columns, for a separate page.
pub(super) fn page_text(model: &Model, columns: usize) -> Option<String> {
    let (report, step) = (model.student().report()?, model.student().step()?);
    let theme = Theme {
        depth: ColorDepth::None,
        ..Theme::default()
    };
    let figure = model.student().figure;
    let mut lines = text::lines(&answer(&step.figures), columns, theme.text());
    lines.extend(text::lines(
        &headline(model, report, step),
        columns,
        theme.text(),
    ));
    lines.push(Line::raw(format!(
        "{}. {}",
        figure.number(),
        figure.title()
    )));
    lines.push(Line::default());
    lines.extend(totals(model.student(), &step.figures, &theme, columns));
    lines.push(Line::default());
    let groups = model.student().groups.iter();
    lines.extend(groups.flat_map(|group| group_lines(group, columns, &theme)));
    Some(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// Describes a group of battles.
fn group_lines(group: &FigureGroup, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut parts = vec![group.name.clone(), counted(group.rows.len(), "battle")];
    if let (Some(expected), Some(observed)) = (group.expected, group.observed) {
        parts.push(format!("expected {expected:.3}"));
        let interval = group.interval.map_or(String::new(), |(low, high)| {
            format!(" (95 %: {low:.3} to {high:.3})")
        });
        parts.push(format!("observed {observed:.3}{interval}"));
    }
    text::lines(&parts.join(" · "), columns, theme.text())
}

/// The student, its checkpoint, and the number of battles it is evaluated on.
fn headline(model: &Model, report: &StudentReport, step: &StepReport) -> String {
    let names = model.student().names();
    let mut parts = vec![format!("student {}", sanitize::line(&report.name))];
    if let Some(at) = names.iter().position(|name| *name == report.name)
        && names.len() > 1
    {
        parts.push(format!("{} of {}", at + 1, names.len()));
    }
    if let Some(number) = step.step {
        let place = match report.steps.len() {
            1 => String::new(),
            count => format!(", {} of {count}", model.student().step + 1),
        };
        parts.push(format!("step {number}{place}"));
    }
    parts.push(format!(
        "N = {} of {}",
        counted(step.figures.n, "battle"),
        counted(step.figures.queries, "query")
    ));
    if step.figures.n < report.judged {
        parts.push(format!("{} judged", text::count(report.judged)));
    }
    parts.join(" · ")
}
