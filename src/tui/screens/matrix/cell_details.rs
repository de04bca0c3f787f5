//! The cell under the cursor, in sentences.

use crate::domain::battle::Pair;
use crate::domain::ranking::PairCell;
use crate::domain::sanitise;
use crate::domain::verdict::{Decision, Verdict};
use crate::domain::vote::Outcome;
use crate::judge::OFFLINE_LABEL;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// Draws the sentences; on a wide screen with each document's title and standing.
pub(super) fn render(
    model: &Model,
    open: &OpenQuery,
    order: &[usize],
    theme: &Theme,
    area: Rect,
    wide: bool,
    buf: &mut Buffer,
) {
    let (row, column) = model.matrix.heat.cursor;
    let (Some(row), Some(column)) = (order.get(row).copied(), order.get(column).copied()) else {
        return;
    };
    let margin = if wide { 2 } else { 1 };
    let area = Rect {
        x: area.x + margin.min(area.width),
        width: area.width.saturating_sub(margin + 1),
        ..area
    };
    let width = usize::from(area.width);
    let mut lines: Vec<Line<'static>> = Vec::new();
    if wide {
        for (role, document) in [("row", row), ("column", column)] {
            lines.push(Line::styled(
                format!("{role} {}", open.name(document)),
                theme.strong(),
            ));
            push(&mut lines, &open.headline(document), width, 2, Style::new());
            let standing = standing_text(open, document);
            push(&mut lines, &standing, width, 2, theme.muted());
            lines.push(Line::default());
        }
    }
    for (sentence, style) in sentences(open, row, column, theme, wide) {
        let most = if wide { 6 } else { 3 };
        push(&mut lines, &sentence, width, most, style);
        if wide {
            lines.push(Line::default());
        }
    }
    if wide {
        for warning in &open.view.warnings {
            let words = format!("! {}", warning.words(|at| open.name(at)));
            push(&mut lines, &words, width, 3, theme.muted());
        }
        if let Err(error) = &open.view.fit {
            let words = format!("no scores: {error}");
            push(&mut lines, &words, width, 3, theme.bad());
        }
        if open.offline() {
            push(&mut lines, OFFLINE_LABEL, width, 2, theme.warn());
        }
    }
    Paragraph::new(lines).render(area, buf);
}

fn push(lines: &mut Vec<Line<'static>>, sentence: &str, width: usize, most: usize, style: Style) {
    let ranges = text::wrap(sentence, width);
    let cut = ranges.len() > most;
    for (index, range) in ranges.into_iter().take(most).enumerate() {
        let mut line = sentence[range].to_owned();
        if cut && index + 1 == most {
            line = text::truncate(&format!("{line} ………"), width.max(1))
                .trim_end_matches('…')
                .to_owned()
                + "…";
        }
        lines.push(Line::styled(line, style));
    }
}

fn standing_text(open: &OpenQuery, document: usize) -> String {
    let Some(standing) = open.standing(document) else {
        return "not scored: it has not been entered into battle".to_owned();
    };
    let se = standing
        .se
        .map_or(String::new(), |se| format!(" ± {se:.2}"));
    let rank = open.rank_text(document);
    format!("{rank} · zELO {}{se}", text::signed(standing.zelo, 2))
}

/// What happened between the two documents, and how it sits with the rest.
pub(super) fn sentences(
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
            " Enter opens the document."
        } else {
            ""
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
    if let Some(words) = fit_text(open, row, column, &cell, &name_row) {
        sentences.push((words, Style::new()));
    }
    sentences
}

fn verdict_text(open: &OpenQuery, verdict: &Verdict) -> String {
    let words = verdict
        .decision
        .words(&open.name(verdict.a), &open.name(verdict.b));
    let note = verdict
        .note
        .as_deref()
        .map_or(String::new(), |note| format!(" “{}”", sanitise::line(note)));
    if verdict.decision == Decision::CannotTell {
        return format!(
            "? {} cannot tell which is better.{note}",
            sanitise::line(&verdict.annotator)
        );
    }
    format!(
        "◆ overruled by {}: {words}.{note}",
        sanitise::line(&verdict.annotator)
    )
}

fn votes_text(open: &OpenQuery, row: usize, column: usize, cell: &PairCell) -> String {
    let (name_row, name_column) = (open.name(row), open.name(column));
    let battles = Pair::new(row, column).map_or(&[][..], |pair| open.view.battles_of(pair));
    if battles.is_empty() {
        return format!("{name_row} and {name_column} never fought. Enter to judge them yourself.");
    }
    let mut votes = Vec::new();
    let (mut for_row, mut ties, mut total) = (0, 0, 0);
    for (judge, margin) in open.view.votes_for(row, column) {
        total += 1;
        match margin.outcome() {
            Outcome::B => for_row += 1,
            Outcome::Tie => ties += 1,
            Outcome::A => {}
        }
        let judge = open.judge_index(judge);
        let judge = judge.map_or(String::new(), |index| open.judge_name(index));
        // A margin that is not 0 must not read as if it were.
        let decimals = if margin.get().abs() < 0.005 { 3 } else { 2 };
        votes.push(format!("{judge} {}", text::signed(margin.get(), decimals)));
    }
    let missing = match cell.missing {
        0 => String::new(),
        1 => " One vote is missing.".to_owned(),
        votes => format!(" {votes} votes are missing."),
    };
    let Some(observed) = cell.observed else {
        return format!("{name_row} and {name_column} are to battle; no vote yet.{missing}");
    };
    let against = total - for_row - ties;
    let headline = match for_row.cmp(&against) {
        std::cmp::Ordering::Greater => {
            format!("{name_row} beat {name_column}, {for_row} of {total} votes")
        }
        std::cmp::Ordering::Less => {
            format!("{name_row} lost to {name_column}, {against} of {total} votes against it")
        }
        std::cmp::Ordering::Equal => {
            format!("{name_row} and {name_column} are level, {total} votes")
        }
    };
    let tied = if ties > 0 {
        format!(", {ties} tied")
    } else {
        String::new()
    };
    let games = if battles.len() > 1 {
        format!(" in {} battles", battles.len())
    } else {
        String::new()
    };
    format!(
        "{headline}{tied}{games} ({}): score {observed:.2}.{missing}",
        votes.join(", ")
    )
}

fn fit_text(
    open: &OpenQuery,
    row: usize,
    column: usize,
    cell: &PairCell,
    name_row: &str,
) -> Option<String> {
    let fitted = cell.fitted?;
    let outranks = open
        .view
        .outranks(row, column)
        .map_or(String::new(), |probability| {
            format!(", and {name_row} stands above with probability {probability:.2}")
        });
    let replaced = Pair::new(row, column).is_some_and(|pair| {
        open.view
            .battles_of(pair)
            .iter()
            .any(|index| open.view.battles[*index].replaced)
    });
    let surprise = cell.surprise.map_or(String::new(), |surprise| {
        if replaced {
            return format!(
                " The replaced votes are {} σ off.",
                text::signed(surprise, 1)
            );
        }
        let words = match surprise.abs() {
            size if size >= 3.0 => "very surprising",
            size if size >= 2.0 => "surprising",
            _ => "not surprising",
        };
        format!(" {} σ: {words}.", text::signed(surprise, 1))
    });
    Some(format!("The fit expects {fitted:.2}{outranks}.{surprise}"))
}
