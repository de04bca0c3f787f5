//! Giving a verdict, and saying what it counts.

use super::calls;
use super::numbers::count_of;
use crate::domain::battle::Pair;
use crate::domain::ranking::{VerdictRelation, View};
use crate::domain::sanitise;
use crate::domain::verdict::{Decision, OverrideMode, Verdict};
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::model::{Effect, Model, OpenQuery, RankingBefore};
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

/// The keys, and what each says.
const KEYS: [(Command, &str); 6] = [
    (Command::JudgeA, "A better"),
    (Command::JudgeAStrongly, "A by far"),
    (Command::JudgeTie, "equal"),
    (Command::JudgeB, "B better"),
    (Command::JudgeBStrongly, "B by far"),
    (Command::CannotTell, "cannot tell"),
];

/// The verdict panel: the keys, the verdict in force, and what counts how much.
pub(super) fn lines(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = keys(theme, columns);
    let (a, b) = (model.battle.a, model.battle.b);
    let Some(pair) = Pair::new(a, b) else {
        return lines;
    };
    let votes = votes_on(open, pair);
    if let Some(verdict) = open.view.verdict(pair) {
        let words = in_force(open, verdict, a, b, votes) + &others(open, pair, Some(verdict));
        lines.extend(calls::wrapped(&words, &[], columns, theme.override_mark()));
    } else {
        let opinions = others(open, pair, None);
        if !opinions.is_empty() {
            let words = format!("◆ no majority, so nobody's verdict is in force.{opinions}");
            lines.extend(calls::wrapped(&words, &[], columns, theme.override_mark()));
        }
        lines.extend(calls::wrapped(
            &counts(open, pair, votes),
            &[],
            columns,
            theme.muted(),
        ));
    }
    lines
}

fn keys(theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0;
    for (command, words) in KEYS {
        let key =
            keymap::key_of(command, Scope::Battle).map_or(String::new(), |key| key.to_string());
        let gap = usize::from(used > 0);
        let width = key.chars().count() + words.len() + 3;
        if used + gap + width > columns && used > 0 {
            rows.push(Vec::new());
            used = 0;
        }
        if let Some(row) = rows.last_mut() {
            row.push(Span::raw(if used > 0 { " [" } else { "[" }));
            row.push(Span::styled(key, theme.key_hint()));
            row.push(Span::raw(format!("] {words}")));
        }
        used += gap + width;
    }
    rows.into_iter().map(Line::from).collect()
}

/// The votes on a pair's battles.
fn votes_on(open: &OpenQuery, pair: Pair) -> usize {
    let records = &open.view.rows().battles;
    open.view
        .battles_of(pair)
        .iter()
        .filter_map(|index| records.get(*index))
        .map(|record| record.votes.len())
        .sum()
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
        count_of(votes, "vote"),
        count_of(fought, "battle")
    );
    let effect = match (votes, settings.override_mode) {
        (0, _) => "No votes here: your verdict alone counts; better says which way and not how far, by far is a whole win"
            .to_owned(),
        (_, OverrideMode::Replace) => format!(
            "A verdict that contradicts the judges' {here} replaces them: better is ⅔ of a win; one that confirms them is \
             added; by far is a whole win"
        ),
        (_, OverrideMode::Beside) => format!(
            "Your verdict stands beside the judges' {here}: better is ⅔ of a win where it contradicts them, by far a whole \
             win"
        ),
    };
    format!("{effect}, equal half, with the weight of {weight}. Cannot tell changes no score.")
}

/// The verdict in force as the screen's A and B see it.
fn in_force(open: &OpenQuery, verdict: &Verdict, a: usize, b: usize, votes: usize) -> String {
    let settings = open.view.settings;
    let decision = verdict.seen_from(a);
    let words = decision.words(
        &format!("A {}", open.name(a)),
        &format!("B {}", open.name(b)),
    );
    let who = sanitise::line(&verdict.annotator);
    let stance = Pair::new(a, b).and_then(|pair| open.view.stance(pair));
    let counted = match (decision, stance) {
        (Decision::A | Decision::B, Some(VerdictRelation::Confirms | VerdictRelation::Alone)) => {
            "which way, not how far".to_owned()
        }
        _ => format!(
            "{}, weight {}",
            share(decision),
            battles(settings.override_weight)
        ),
    };
    let effect = match (stance, settings.override_mode) {
        (None, _) if votes == 0 => "nothing counts on this pair".to_owned(),
        (None, _) => format!("the judges' {} count", count_of(votes, "vote")),
        (Some(VerdictRelation::Alone), _) => format!("{counted}, no votes here"),
        (Some(VerdictRelation::Contradicts), OverrideMode::Replace) => {
            format!(
                "{counted}, instead of the judges' {}",
                count_of(votes, "vote")
            )
        }
        _ => format!("{counted}, beside the judges' {}", count_of(votes, "vote")),
    };
    let note = verdict.note.as_deref().map_or(String::new(), |note| {
        format!(" Reason: {}", sanitise::line(note))
    });
    format!("◆ in force, by {who}: {words} ({effect}).{note}")
}

/// What people said of a pair beside the verdict in force.
fn others(open: &OpenQuery, pair: Pair, in_force: Option<&Verdict>) -> String {
    let opinions = open.people.on(pair).into_iter();
    let opinions: Vec<String> = opinions
        .filter(|verdict| in_force.is_none_or(|in_force| in_force.annotator != verdict.annotator))
        .map(|verdict| {
            let words = verdict
                .decision
                .words(&open.name(verdict.a), &open.name(verdict.b));
            format!("{} said: {words}", sanitise::line(&verdict.annotator))
        })
        .collect();
    match opinions.is_empty() {
        true => String::new(),
        false => format!(" {}.", opinions.join("; ")),
    }
}

/// Gives a verdict on the pair on screen: the ranking changes at once, and the verdict is stored.
pub fn give_verdict(model: &mut Model, decision: Decision) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let words = decision.words(
        &format!("A {}", open.name(model.battle.a)),
        &format!("B {}", open.name(model.battle.b)),
    );
    let before = RankingBefore::of(open, words);
    let effects = save(model, decision, None);
    if !effects.is_empty() {
        model.battle.before = Some(before);
    }
    effects
}

/// Remembers the ranking as it is, to show what a verdict moves.
pub(in crate::tui::screens) fn remember_ranking(model: &mut Model, words: String) {
    if let Some(open) = &model.open {
        model.battle.before = Some(RankingBefore::of(open, words));
    }
}

/// Gives one's verdict on the pair again, with a reason; an empty one takes the reason away.
pub fn explain(model: &mut Model, reason: String) -> Vec<Effect> {
    let (a, b) = (model.battle.a, model.battle.b);
    let given = model
        .open
        .as_ref()
        .and_then(|open| open.people.by(&model.options.annotator, Pair::new(a, b)?));
    let Some(verdict) = given else {
        return Vec::new();
    };
    let note = Some(reason.trim().to_owned()).filter(|note| !note.is_empty());
    if note == verdict.note {
        return Vec::new();
    }
    let decision = verdict.seen_from(a);
    save(model, decision, note)
}

fn save(model: &mut Model, decision: Decision, note: Option<String>) -> Vec<Effect> {
    let (a, b) = (model.battle.a, model.battle.b);
    let Some(query) = apply(model, decision, note.clone()) else {
        return Vec::new();
    };
    model.saving += 1;
    vec![Effect::Save(NewVerdict {
        note,
        ..NewVerdict::open(query, a, b, decision, &model.options.annotator)
    })]
}

/// Lets a verdict on the pair on screen count at once, before anything is stored; returns the query.
pub(in crate::tui::screens) fn apply(
    model: &mut Model,
    decision: Decision,
    note: Option<String>,
) -> Option<QueryKey> {
    let (a, b) = (model.battle.a, model.battle.b);
    let annotator = model.options.annotator.clone();
    let (open, pair) = (model.open.as_mut()?, Pair::new(a, b)?);
    if pair.high() >= open.documents.len() {
        return None;
    }
    let verdict = Verdict {
        uid: String::new(),
        a,
        b,
        decision,
        note,
        annotator,
        created_ms: 0,
    };
    let mut rows = open.view.rows().clone();
    open.people.give(verdict);
    rows.verdicts = open.people.in_force();
    open.view = View::quick(rows, open.view.settings);
    // An answer on its way was computed without this verdict.
    model.generation += 1;
    Some(open.info.key)
}
