//! The judges' votes and the fit for the pair, as numbers with words.

use super::calls::{self, CallResult};
use crate::domain::battle::Pair;
use crate::domain::prediction::prediction_of;
use crate::domain::ranking::share_bar;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use ratatui::text::Line;

/// Columns of the bar next to the votes.
const BAR: usize = 12;

/// The judges' votes, the fit's expectation and the surprise, most important first, in as many
/// lines as there is room for.
pub(super) fn lines(
    open: &OpenQuery,
    a: usize,
    b: usize,
    theme: &Theme,
    (columns, rows): (usize, usize),
) -> Vec<Line<'static>> {
    text::parts(&parts(open, a, b), columns, rows, theme.text())
}

/// The same as a list, with everything that is known.
pub(super) fn parts(open: &OpenQuery, a: usize, b: usize) -> Vec<String> {
    let mut parts = vec![ensemble(open, a, b)];
    parts.extend(expectation(open, a, b));
    parts.extend(unanswered(open, a, b));
    parts.extend(answers(open, a, b));
    parts.extend(students(open, a, b));
    parts
}

/// What each answer outside battles says about the pair, one per line.
pub(crate) fn answers(open: &OpenQuery, a: usize, b: usize) -> Vec<String> {
    let letter = |document| if document == a { "A" } else { "B" }.to_owned();
    open.view.answer_words([a, b], letter)
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

/// The judges' votes in one sentence: `2 of 3 judges prefer B`.
fn ensemble(open: &OpenQuery, a: usize, b: usize) -> String {
    let Some(pair) = Pair::new(a, b).filter(|pair| !open.view.battles_of(*pair).is_empty()) else {
        let is_judged = Pair::new(a, b).is_some_and(|pair| open.view.verdict(pair).is_some());
        return if is_judged {
            "No judge was asked about this pair."
        } else {
            "This pair never fought: no judge was asked about it. You can still judge it."
        }
        .to_owned();
    };
    let count = open.view.vote_count(a, b);
    let all = count.votes();
    let battles = open.view.battles_of(pair).len();
    let voters = match battles {
        1 => counted(all, "judge"),
        _ => format!("{} in {battles} battles", counted(all, "vote")),
    };
    let (for_a, for_b) = (count.a, count.b);
    let share = open.view.cell(a, b).observed;
    let counts = match (count.share(), share) {
        (Some(plain), Some(share)) if (plain - share).abs() >= 0.005 => {
            format!(", which counts as {} for A", text::probability(share))
        }
        _ => String::new(),
    };
    let words = if all == 0 {
        return "No vote yet on this pair.".to_owned();
    } else if for_a == all || for_b == all {
        let side = if for_a == all { "A" } else { "B" };
        match all {
            1 => format!(
                "The only {} is for {side}",
                if battles == 1 { "judge" } else { "vote" }
            ),
            2 if battles == 1 => format!("Both judges prefer {side}"),
            _ => format!("All {voters} prefer {side}"),
        }
    } else if for_a == for_b {
        format!("{voters} are split, {count}")
    } else {
        let (most, side) = if for_a > for_b {
            (for_a, "A")
        } else {
            (for_b, "B")
        };
        let prefer = if most == 1 { "prefers" } else { "prefer" };
        let ties = match count.ties {
            0 => String::new(),
            _ => format!(", {count}"),
        };
        format!("{most} of {voters} {prefer} {side}{ties}")
    };
    words + &counts
}

/// The calls that gave no vote.
fn unanswered(open: &OpenQuery, a: usize, b: usize) -> Option<String> {
    let calls = calls::of_pair(open, a, b);
    let missing: Vec<String> = [
        (CallResult::Failed, "failed"),
        (CallResult::NotRun, "not run"),
    ]
    .into_iter()
    .filter_map(|(result, what)| {
        let number = calls.iter().filter(|call| call.result == result).count();
        (number > 0).then(|| format!("{} {what}", counted(number, "call")))
    })
    .collect();
    (!missing.is_empty()).then(|| missing.join(", "))
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

/// The fit's expectation, how the votes compare with it, and the certainty of the order.
fn expectation(open: &OpenQuery, a: usize, b: usize) -> Vec<String> {
    let Some(expected) = open.view.expected(a, b) else {
        return vec![match &open.view.fit {
            Err(error) => format!("no expectation: {error}"),
            Ok(_) => "no expectation: A or B is in no battle yet".to_owned(),
        }];
    };
    let (side, share) = if expected < 0.5 {
        ("B", 1.0 - expected)
    } else {
        ("A", expected)
    };
    let mut parts = vec![format!(
        "the fit expects {side} ({})",
        text::probability(share)
    )];
    parts.extend(open.view.cell(b, a).surprise.map(|surprise| {
        let words = match surprise.abs() {
            size if size >= 3.0 => "very surprising:",
            size if size >= 2.0 => "surprising:",
            _ => "surprise",
        };
        let towards = if surprise < 0.0 { "A" } else { "B" };
        format!("{words} {:.1} σ to {towards}", surprise.abs())
    }));
    parts.extend(
        open.view
            .outranks(a, b)
            .map(|probability| format!("P(A above B) {}", text::probability(probability))),
    );
    parts
}
