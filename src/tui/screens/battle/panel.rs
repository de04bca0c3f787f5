//! The verdict panel: the keys, the verdict in force, and what counts how much.

use crate::domain::battle::Pair;
use crate::domain::ranking::VerdictRelation;
use crate::domain::sanitise;
use crate::domain::verdict::{Decision, OverrideMode, Verdict};
use crate::tui::keymap::Scope;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::verdict::DECISIONS;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::key_rows;
use ratatui::text::Line;

pub(crate) fn decision_keys(screen: Screen, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let keys = DECISIONS.map(|(command, _, words)| (command, words, false));
    key_rows(&keys, Scope::Screen(screen), theme, columns)
}

pub(super) fn lines(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = decision_keys(Screen::Battle, theme, columns);
    let (a, b) = (model.battle.a, model.battle.b);
    let Some(pair) = Pair::new(a, b) else {
        return lines;
    };
    let votes = open.view.votes_for(a, b).count();
    if let Some(verdict) = open.view.verdict(pair) {
        let words = in_force(open, verdict, a, b, votes) + &others(open, pair, Some(verdict));
        lines.extend(text::lines(&words, columns, theme.override_mark()));
    } else {
        let opinions = others(open, pair, None);
        if !opinions.is_empty() {
            let words = format!("◆ no majority, so no verdict is in force.{opinions}");
            lines.extend(text::lines(&words, columns, theme.override_mark()));
        }
        lines.extend(text::lines(
            &counts(open, pair, votes),
            columns,
            theme.muted(),
        ));
    }
    lines
}

/// A number of battles without needless decimals.
fn battles(weight: f64) -> String {
    let number = if weight.fract() == 0.0 {
        format!("{weight:.0}")
    } else {
        format!("{weight:.2}")
    };
    format!("{number} battle{}", if weight == 1.0 { "" } else { "s" })
}

/// A decision's score as a share of a win.
fn share(decision: Decision) -> &'static str {
    match decision {
        Decision::A => "⅔ of a win for A",
        Decision::B => "⅔ of a win for B",
        Decision::MuchA => "a whole win for A",
        Decision::MuchB => "a whole win for B",
        Decision::Tie => "half a win each",
        Decision::CannotTell => "no preference",
    }
}

/// What a verdict would count, before there is one.
fn counts(open: &OpenQuery, pair: Pair, votes: usize) -> String {
    let settings = open.view.settings;
    let fought = open.view.battles_of(pair).len();
    let weight = battles(settings.override_weight);
    let here = format!(
        "{} here ({})",
        counted(votes, "vote"),
        counted(fought, "battle")
    );
    let effect = match (votes, settings.override_mode) {
        (0, _) => {
            let better = match settings.by_direction(Decision::A, None) {
                true => "by its direction only",
                false => "as ⅔ of a win",
            };
            format!("No votes here: your verdict alone counts, better {better}.")
        }
        (_, OverrideMode::Replace) => format!(
            "A verdict that contradicts the judges' {here} replaces them; better counts as ⅔ of a win. One that agrees is added."
        ),
        (_, OverrideMode::Beside) => format!(
            "A verdict is added to the judges' {here}. Better counts as ⅔ of a win where it contradicts them."
        ),
    };
    format!(
        "{effect} By far counts as a whole win, equal as half; weight: {weight}. Cannot tell changes no score."
    )
}

/// The verdict in force as the screen's A and B see it.
fn in_force(open: &OpenQuery, verdict: &Verdict, a: usize, b: usize, votes: usize) -> String {
    let settings = open.view.settings;
    let decision = verdict.seen_from(a);
    let words = open.decision_text(decision, a, b);
    let who = sanitise::line(&verdict.annotator);
    let stance = Pair::new(a, b).and_then(|pair| open.view.stance(pair));
    let counts_as = match settings.by_direction(decision, stance) {
        true => "direction only".to_owned(),
        false => format!(
            "{}, weight {}",
            share(decision),
            battles(settings.override_weight)
        ),
    };
    let effect = match (stance, settings.override_mode) {
        (None, _) if votes == 0 => "nothing counts on this pair".to_owned(),
        (None, _) => format!("the judges' {} count", counted(votes, "vote")),
        (Some(VerdictRelation::Alone), _) => format!("{counts_as}, no votes here"),
        (Some(VerdictRelation::Contradicts), OverrideMode::Replace) => {
            format!(
                "{counts_as}, instead of the judges' {}",
                counted(votes, "vote")
            )
        }
        _ => format!(
            "{counts_as}, added to the judges' {}",
            counted(votes, "vote")
        ),
    };
    let note = verdict.note.as_deref().map_or(String::new(), |note| {
        format!(" Reason: {}", sanitise::line(note))
    });
    format!("◆ in force, by {who}: {words} ({effect}).{note}")
}

fn others(open: &OpenQuery, pair: Pair, in_force: Option<&Verdict>) -> String {
    let opinions = open.people.on(pair).into_iter();
    let opinions: Vec<String> = opinions
        .filter(|verdict| in_force.is_none_or(|in_force| in_force.annotator != verdict.annotator))
        .map(|verdict| {
            let words = verdict
                .decision
                .words(&open.name(verdict.a), &open.name(verdict.b));
            let why = verdict
                .note
                .as_deref()
                .map_or(String::new(), |note| format!(" ({})", sanitise::line(note)));
            format!("{} said: {words}{why}", sanitise::line(&verdict.annotator))
        })
        .collect();
    match opinions.is_empty() {
        true => String::new(),
        false => format!(" {}.", opinions.join("; ")),
    }
}
