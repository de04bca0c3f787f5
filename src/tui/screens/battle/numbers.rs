//! The judges' votes and the fit for the pair, as numbers with words.

use super::calls::{self, CallResult};
use crate::domain::battle::Pair;
use crate::domain::prediction::prediction_of;
use crate::domain::ranking::share_bar;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::Line;

/// Columns of the bar next to the votes.
const BAR: usize = 12;

pub(super) fn lines(
    open: &OpenQuery,
    a: usize,
    b: usize,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = text::lines(&ensemble(open, a, b), columns, Style::new());
    lines.extend(text::lines(
        &expectation(open, a, b),
        columns,
        theme.muted(),
    ));
    for words in students(open, a, b) {
        lines.extend(text::lines(&words, columns, theme.muted()));
    }
    lines
}

/// Each student's prediction, one per line.
pub(crate) fn students(open: &OpenQuery, a: usize, b: usize) -> Vec<String> {
    let students = open.students.iter().enumerate();
    students
        .filter_map(|(index, (_, predictions))| {
            let of = prediction_of(predictions, a, b)?;
            Some(format!(
                "student {}: P(A) {} · P(tie) {} · P(B) {}",
                open.student_name(index),
                text::probability(of.a()),
                text::probability(of.tie()),
                text::probability(of.b())
            ))
        })
        .collect()
}

/// The votes as words and as a bar, with the calls that gave none.
fn ensemble(open: &OpenQuery, a: usize, b: usize) -> String {
    let pair = Pair::new(a, b);
    if pair.is_some_and(|pair| {
        open.view.battles_of(pair).is_empty() && open.view.verdict(pair).is_some()
    }) {
        return "No judge was asked about this pair.".to_owned();
    }
    let Some(pair) = pair.filter(|pair| !open.view.battles_of(*pair).is_empty()) else {
        return "This pair never fought: no judge was asked about it. You can still judge it."
            .to_owned();
    };
    let calls = calls::of_pair(open, a, b);
    let mut missing = String::new();
    for (result, what) in [
        (CallResult::Failed, "failed"),
        (CallResult::NotRun, "not run"),
    ] {
        let number = calls.iter().filter(|call| call.result == result).count();
        if number > 0 {
            missing += if missing.is_empty() { " · " } else { ", " };
            missing += &format!("{} {what}", counted(number, "call"));
        }
    }
    match votes_text(open, a, b) {
        None => format!("No vote yet on this pair{missing}."),
        Some(votes) => {
            let games = match open.view.battles_of(pair).len() {
                1 => String::new(),
                battles => format!(" in {battles} battles"),
            };
            format!("{votes}{games}{missing}")
        }
    }
}

/// `A 3 : 0 B ━━━━━━━━━━━━`: the distribution of votes, and A's share if it does not follow from
/// counting them.
pub(crate) fn votes_text(open: &OpenQuery, a: usize, b: usize) -> Option<String> {
    let count = open.view.vote_count(a, b);
    let share = open.view.cell(a, b).observed?;
    let (for_a, for_b) = share_bar(share, BAR);
    let counted = match count.share() {
        Some(plain) if (plain - share).abs() < 0.005 => String::new(),
        _ => format!(" · counts as {} for A", text::probability(share)),
    };
    Some(format!("{count} {for_a}{for_b}{counted}"))
}

/// The fit's expectation, the certainty of the order, and how the votes compare with it.
fn expectation(open: &OpenQuery, a: usize, b: usize) -> String {
    let Some(expected) = open.view.expected(a, b) else {
        return match &open.view.fit {
            Err(error) => format!("No expectation: {error}."),
            Ok(_) => "No expectation: A or B is in no battle yet.".to_owned(),
        };
    };
    let above = open
        .view
        .outranks(a, b)
        .map_or(String::new(), |probability| {
            format!(" · P(A above B) {}", text::probability(probability))
        });
    let surprise = open
        .view
        .cell(b, a)
        .surprise
        .map_or(String::new(), |surprise| {
            let words = match surprise.abs() {
                size if size >= 3.0 => "very surprising:",
                size if size >= 2.0 => "surprising:",
                _ => "surprise",
            };
            let towards = if surprise < 0.0 { "A" } else { "B" };
            format!(" · {words} {:.1} σ to {towards}", surprise.abs())
        });
    format!(
        "fit: A wins {}{above}{surprise}",
        text::probability(expected)
    )
}
