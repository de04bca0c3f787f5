//! Giving a verdict, which counts immediately.

use crate::domain::ranking::View;
use crate::domain::verdict::{Decision, Verdict};
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::battle::RankingBefore;

/// The commands that decide, their decisions, and the labels of their keys.
pub(super) const DECISIONS: [(Command, Decision, &str); 6] = [
    (Command::JudgeA, Decision::A, "A better"),
    (Command::JudgeAStrongly, Decision::MuchA, "A by far"),
    (Command::JudgeTie, Decision::Tie, "equal"),
    (Command::JudgeB, Decision::B, "B better"),
    (Command::JudgeBStrongly, Decision::MuchB, "B by far"),
    (Command::CannotTell, Decision::CannotTell, "cannot tell"),
];

pub(crate) fn decision_of(command: Command) -> Option<Decision> {
    DECISIONS
        .into_iter()
        .find(|(known, ..)| *known == command)
        .map(|(_, decision, _)| decision)
}

/// Gives a verdict on the pair on screen: the ranking changes immediately, and the verdict is
/// stored.
pub(super) fn give_verdict(model: &mut Model, decision: Decision) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let words = open.decision_text(decision, model.battle.a, model.battle.b);
    let given = model
        .battle
        .pair()
        .and_then(|pair| open.people.by(&model.options.annotator, pair));
    let before = RankingBefore {
        replaces: given.is_some(),
        ..RankingBefore::of(open, words)
    };
    let same = given.is_some_and(|given| given.seen_from(model.battle.a) == decision);
    if same && model.draft().is_none() {
        let undo = key_on(Command::Undo, model.screen());
        model.inform(&format!("this is your verdict already; {undo} undoes it"));
        return Vec::new();
    }
    let note = model.take_draft();
    let effects = save(model, decision, note);
    if !effects.is_empty() {
        model.battle.before = Some(before);
    }
    effects
}

/// Remembers the current ranking, to show the rank changes after a verdict.
pub(crate) fn remember_ranking(model: &mut Model, words: String) {
    if let Some(open) = &model.open {
        let pair = model.battle.pair();
        let given = pair.and_then(|pair| open.people.by(&model.options.annotator, pair));
        model.battle.before = Some(RankingBefore {
            replaces: given.is_some(),
            ..RankingBefore::of(open, words)
        });
    }
}

/// Gives the person's verdict on the pair again with a reason; an empty one removes the reason.
pub(super) fn explain(model: &mut Model, reason: &str) -> Vec<Effect> {
    let pair = model.battle.pair();
    let open = model.open.as_ref();
    let given = open.and_then(|open| open.people.by(&model.options.annotator, pair?));
    let note = Some(reason.trim().to_owned()).filter(|note| !note.is_empty());
    let Some(verdict) = given else {
        return model.set_draft(reason);
    };
    if note == verdict.note {
        return Vec::new();
    }
    let decision = verdict.seen_from(model.battle.a);
    save(model, decision, note)
}

fn save(model: &mut Model, decision: Decision, note: Option<String>) -> Vec<Effect> {
    let (a, b) = (model.battle.a, model.battle.b);
    let Some(query) = apply(model, decision, note.clone()) else {
        return Vec::new();
    };
    vec![model.save_verdict(NewVerdict {
        note,
        ..NewVerdict::open(query, a, b, decision, &model.options.annotator)
    })]
}

/// Applies a verdict to the pair on screen immediately, before anything is stored; returns the
/// query.
pub(crate) fn apply(
    model: &mut Model,
    decision: Decision,
    note: Option<String>,
) -> Option<QueryKey> {
    let (a, b) = (model.battle.a, model.battle.b);
    let annotator = model.options.annotator.clone();
    let (open, pair) = (model.open.as_mut()?, model.battle.pair()?);
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
    let query = open.info.key;
    model.overtake();
    Some(query)
}
