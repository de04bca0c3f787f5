//! Describes the cell under the cursor.

use crate::domain::battle::Pair;
use crate::domain::ranking::PairCell;
use crate::domain::sanitize;
use crate::domain::verdict::{Decision, Verdict};
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::calls::{self, CallResult, JudgeCall};
use crate::tui::screens::battle::numbers;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// Draws the description; on a wide screen, with each document's title and standing. Returns the
/// number of lines and the number that fits.
pub(super) fn render(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    area: Rect,
    wide: bool,
    buf: &mut Buffer,
) -> (usize, usize) {
    let (row, column) = model.matrix.cursor;
    if row.max(column) >= open.documents.len() {
        return (0, 0);
    }
    let margin = if wide { 2 } else { 1 };
    let area = Rect {
        x: area.x + margin.min(area.width),
        width: area.width.saturating_sub(margin + 1),
        ..area
    };
    let width = usize::from(area.width);
    let mut lines: Vec<Line<'static>> = Vec::new();
    if wide {
        for (letter, role, document) in [("A", "row", row), ("B", "column", column)] {
            lines.push(Line::styled(
                format!("{letter} {} ({role})", open.name(document)),
                theme.strong(),
            ));
            let title = open.headline(document);
            let title = text::title_lines(&title, width, 2).into_iter();
            lines.extend(title.map(|line| Line::raw(line.into_owned())));
            let standing = standing_text(open, document);
            lines.extend(text::first_lines(&standing, width, 2, theme.muted()));
            let label = open.label(document);
            if label.is_relevant().is_some() {
                lines.push(text::line(&label.words(), width, theme.muted()));
            }
            lines.push(Line::default());
        }
    }
    for (sentence, style) in sentences(model, open, row, column, theme, wide) {
        let most = if wide { 6 } else { 3 };
        lines.extend(text::first_lines(&sentence, width, most, style));
    }
    if wide {
        lines.push(Line::default());
        for warning in &open.view.warnings {
            let words = format!("! {}", warning.words(|at| open.name(at)));
            lines.extend(text::first_lines(&words, width, 3, theme.muted()));
        }
        if let Err(error) = &open.view.fit {
            let words = format!("no scores: {error}");
            lines.extend(text::first_lines(&words, width, 3, theme.bad()));
        }
    }
    let (lines, aside) = model.pane_text(lines, area.height);
    Paragraph::new(text::clipped(lines, width, usize::from(area.height))).render(area, buf);
    aside
}

fn standing_text(open: &OpenQuery, document: usize) -> String {
    let Some(standing) = open.standing(document) else {
        return "not scored: it is in no battle yet".to_owned();
    };
    let se = standing
        .se
        .map_or(String::new(), |se| format!(" ± {se:.2}"));
    let rank = open.rank_text(document);
    format!("{rank} · zELO {}{se}", text::signed(standing.zelo, 2))
}

/// Describes the battle between the two documents, and how it fits the other results.
fn sentences(
    model: &Model,
    open: &OpenQuery,
    row: usize,
    column: usize,
    theme: &Theme,
    wide: bool,
) -> Vec<(String, Style)> {
    let name_row = open.name(row);
    let Some(pair) = Pair::new(row, column) else {
        let words = standing_text(open, row);
        let hint = if wide {
            format!(
                " {} opens the document.",
                key_on(Command::Open, Screen::MATRIX)
            )
        } else {
            String::new()
        };
        return vec![(
            format!("{name_row} against itself: {words}.{hint}"),
            Style::new(),
        )];
    };
    let cell = open.view.cell(row, column);
    let mut sentences = Vec::new();
    if let Some(verdict) = open.view.verdict(pair) {
        sentences.push((verdict_text(open, verdict), theme.override_mark()));
    }
    sentences.push((votes_text(open, row, column, &cell), Style::new()));
    let calls: Vec<String> = calls::of_pair(open, row, column)
        .iter()
        .filter(|call| matches!(call.result, CallResult::Prefers(_)))
        .map(JudgeCall::summary)
        .collect();
    if !calls.is_empty() {
        sentences.push((calls.join(" · "), theme.muted()));
    }
    if let Some(words) = fit_text(open, row, column, &cell) {
        let surprise = surprise_text(model, open, row, column, &cell);
        // Next to the matrix, the surprise has its own line.
        let gap = if wide { "\n" } else { " · " };
        let words = std::iter::once(words).chain(surprise);
        sentences.push((words.collect::<Vec<_>>().join(gap), Style::new()));
    }
    let answers = numbers::answers(open, row, column).into_iter();
    sentences.extend(answers.map(|words| (words, theme.muted())));
    let students = numbers::students(open, row, column).into_iter();
    sentences.extend(students.map(|words| (words, theme.muted())));
    sentences
}

fn verdict_text(open: &OpenQuery, verdict: &Verdict) -> String {
    let words = verdict
        .decision
        .words(&open.name(verdict.a), &open.name(verdict.b));
    let note = verdict
        .note
        .as_deref()
        .map_or(String::new(), |note| format!(" “{}”", sanitize::line(note)));
    if verdict.decision == Decision::CannotTell {
        return format!(
            "? {} cannot tell which is better.{note}",
            sanitize::line(&verdict.annotator)
        );
    }
    let pair = Pair::new(verdict.a, verdict.b);
    let fought = pair.is_some_and(|pair| !open.view.battles_of(pair).is_empty());
    let did = if fought { "overruled" } else { "judged" };
    format!(
        "◆ {did} by {}: {words}.{note}",
        sanitize::line(&verdict.annotator)
    )
}

fn votes_text(open: &OpenQuery, row: usize, column: usize, cell: &PairCell) -> String {
    let (name_row, name_column) = (open.name(row), open.name(column));
    let battles = Pair::new(row, column).map_or(&[][..], |pair| open.view.battles_of(pair));
    let pair = Pair::new(row, column);
    if battles.is_empty() && pair.is_some_and(|pair| open.view.verdict(pair).is_some()) {
        return format!("No judge was asked about {name_row} and {name_column}.");
    }
    if battles.is_empty() && cell.answers.is_some() {
        return format!("{name_row} and {name_column} never fought.");
    }
    if battles.is_empty() {
        let enter = key_on(Command::Open, Screen::MATRIX);
        return format!(
            "{name_row} and {name_column} never fought. {enter} to judge them yourself."
        );
    }
    let missing = match cell.missing {
        0 => String::new(),
        1 => " · 1 vote missing".to_owned(),
        votes => format!(" · {votes} votes missing"),
    };
    let Some(votes) = numbers::votes_text(open, row, column) else {
        return format!("{name_row} against {name_column} is planned and has no vote yet.");
    };
    let games = match battles.len() {
        1 => String::new(),
        battles => format!(" in {battles} battles"),
    };
    format!("{votes}{games}{missing}")
}

/// `surprise 3 of 100` while [`Command::NextSurprise`] goes through the battles.
fn visited_surprise(model: &Model, open: &OpenQuery, pair: Option<Pair>) -> Option<String> {
    let surprising = open.view.most_surprising();
    let at = model.matrix.surprise?;
    let visited = open.battle(*surprising.get(at)?)?;
    (Pair::new(visited.a, visited.b) == pair)
        .then(|| format!("surprise {} of {}:", at + 1, surprising.len()))
}

fn fit_text(open: &OpenQuery, row: usize, column: usize, cell: &PairCell) -> Option<String> {
    let fitted = text::probability(cell.fitted?);
    let above = open
        .view
        .outranks(row, column)
        .map_or(String::new(), |probability| {
            format!(" · P(A above B) {}", text::probability(probability))
        });
    Some(format!("fit: A wins {fitted}{above}"))
}

fn surprise_text(
    model: &Model,
    open: &OpenQuery,
    row: usize,
    column: usize,
    cell: &PairCell,
) -> Option<String> {
    let surprise = cell.surprise?;
    let pair = Pair::new(row, column);
    let replaced = pair.is_some_and(|pair| {
        open.view
            .battles_of(pair)
            .iter()
            .any(|index| open.view.battles[*index].replaced)
    });
    let words = match surprise.abs() {
        _ if replaced => "the replaced votes are off by",
        size if size >= 3.0 => "very surprising:",
        size if size >= 2.0 => "surprising:",
        _ => "surprise",
    };
    let words = visited_surprise(model, open, pair).unwrap_or_else(|| words.to_owned());
    let towards = if surprise > 0.0 { "A" } else { "B" };
    Some(format!("{words} {:.1} σ to {towards}", surprise.abs()))
}
