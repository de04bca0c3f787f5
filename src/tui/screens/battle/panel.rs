//! The verdict panel: the keys, the effective verdict, and its weight.

use crate::domain::battle::Pair;
use crate::domain::ranking::{verdict_kinds_words, verdict_rule_words};
use crate::domain::sanitize;
use crate::domain::verdict::Verdict;
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
    let mut lines = decision_keys(Screen::BATTLE, theme, columns);
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
            let words = format!("◆ no majority, so no verdict counts.{opinions}");
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

/// How much a verdict on this pair would count, before there is one.
fn counts(open: &OpenQuery, pair: Pair, votes: usize) -> String {
    let settings = &open.view.settings;
    let counting = if votes == 0 {
        format!(
            "No votes on this pair: your verdict alone counts; {}.",
            verdict_kinds_words(settings)
        )
    } else {
        format!(
            "{} on this pair ({}). {}",
            counted(votes, "vote"),
            counted(open.view.battles_of(pair).len(), "battle"),
            verdict_rule_words(settings)
        )
    };
    format!("{counting} Cannot tell changes no score.")
}

/// The effective verdict with the screen's A and B.
fn in_force(open: &OpenQuery, verdict: &Verdict, a: usize, b: usize, votes: usize) -> String {
    let words = open.decision_text(verdict.seen_from(a), a, b);
    let who = sanitize::line(&verdict.annotator);
    let effect = match Pair::new(a, b).and_then(|pair| open.view.verdict_effect(pair)) {
        Some(effect) => effect.words(),
        None if votes == 0 => "nothing counts on this pair".to_owned(),
        None => format!("the judges' {} count", counted(votes, "vote")),
    };
    let note = verdict.note.as_deref().map_or(String::new(), |note| {
        format!(" Reason: {}", sanitize::line(note))
    });
    format!("◆ verdict by {who}: {words} ({effect}).{note}")
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
                .map_or(String::new(), |note| format!(" ({})", sanitize::line(note)));
            format!("{} said: {words}{why}", sanitize::line(&verdict.annotator))
        })
        .collect();
    if opinions.is_empty() {
        String::new()
    } else {
        format!(" {}.", opinions.join("; "))
    }
}
