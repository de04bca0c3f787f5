//! What happens to the document before the court.

use super::super::court;
use crate::domain::adjudication::{DisagreementCause, Finding, Ruling};
use crate::domain::sanitise;
use crate::store::labels::AdjudicationList;
use crate::store::rulings::{NewRuling, RulingContext};
use crate::tui::model::{Effect, Exhibit, Hearing, Model, Overlay, PromptFor};
use crate::tui::widgets::prompt::Prompt;
use crate::tui::widgets::toast::Level;
use std::time::Instant;

/// Calls a matter, by its index, and loads the next one before it is wanted.
pub fn take_up(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(matter) = model.court.matters.get(at).cloned() else {
        model.court.hearing = None;
        return Vec::new();
    };
    let (query, document) = (matter.query, matter.document.clone());
    let open = !model.options.judging.queue_blind;
    model.court.hearing = Some(Hearing::new(matter, at == 0, open));
    let mut effects = match model.court.ahead.take() {
        Some(ahead) if ahead.query == query && ahead.document == document => shown(model, ahead),
        _ => vec![Effect::Exhibit(query, document)],
    };
    if let Some(next) = model.court.matters.get(at + 1) {
        effects.push(Effect::Exhibit(next.query, next.document.clone()));
    }
    effects
}

/// Takes a document in: the one that is ruled on, whose clock starts, or one that will be wanted.
pub fn shown(model: &mut Model, exhibit: Box<Exhibit>) -> Vec<Effect> {
    let now = model.now;
    let annotator = &model.options.annotator;
    match &mut model.court.hearing {
        Some(hearing) if hearing.is_about(exhibit.query, &exhibit.document) => {
            hearing.since.get_or_insert(now);
            let own = |ruling: &&Ruling| ruling.annotator == *annotator;
            if let Some(ruling) = exhibit.rulings.iter().rev().find(own)
                && hearing.ruled.is_none()
            {
                // It has been ruled on before, and is looked at again.
                hearing.open = true;
                (hearing.ruled, hearing.finding) = (Some(ruling.finding), Some(ruling.finding));
                (hearing.fault, hearing.note) = (ruling.fault, ruling.note.clone());
            }
            hearing.exhibit = Some(exhibit);
        }
        _ => model.court.ahead = Some(exhibit),
    }
    Vec::new()
}

fn spent(hearing: &mut Hearing, now: Instant) -> Option<i64> {
    let since = hearing.since.replace(now)?;
    i64::try_from(now.duration_since(since).as_millis()).ok()
}

/// Takes a ruling in: the first one is stored and lifts the veil; a later one waits until it is kept.
pub(super) fn rule(model: &mut Model, finding: Finding) -> Vec<Effect> {
    let now = model.now;
    let Some(hearing) = &mut model.court.hearing else {
        return Vec::new();
    };
    let Some(exhibit) = &hearing.exhibit else {
        return Vec::new();
    };
    if hearing.ruled.is_some() {
        hearing.unsaved |= hearing.finding != Some(finding);
        hearing.finding = Some(finding);
        return Vec::new();
    }
    let about = RulingContext {
        blind: !hearing.open,
        active_ms: None,
        grade: exhibit.label,
        against: hearing.matter.dispute.against,
        answers: hearing.matter.dispute.answers,
        // One that was chosen from further down came by nobody's chance.
        control_of: Some(if hearing.first {
            hearing.matter.control_of
        } else {
            0
        }),
    };
    let active_ms = spent(hearing, now);
    hearing.ruled = Some(finding);
    hearing.finding = Some(finding);
    hearing.open = true;
    let new = NewRuling {
        query: hearing.matter.query,
        document: hearing.matter.document.clone(),
        finding,
        fault: None,
        note: None,
        annotator: model.options.annotator.clone(),
        created_ms: 0,
        about: RulingContext { active_ms, ..about },
        after_reveal: false,
    };
    model.saving += 1;
    let named = (hearing.matter.query, hearing.matter.document.clone());
    model.court.since.push(named);
    if let Some(findings) = &mut model.court.findings {
        findings.ruled += 1;
    }
    vec![Effect::Rule(new)]
}

pub(super) fn blame(model: &mut Model, fault: DisagreementCause) -> Vec<Effect> {
    match &mut model.court.hearing {
        Some(hearing) if hearing.ruled.is_some() => {
            hearing.fault = (hearing.fault != Some(fault)).then_some(fault);
            hearing.unsaved = true;
        }
        _ => model.say(Level::Info, "rule first, then say why".to_owned()),
    }
    Vec::new()
}

pub(super) fn ask_why(model: &mut Model) -> Vec<Effect> {
    match &model.court.hearing {
        Some(hearing) if hearing.ruled.is_some() => {
            let note = hearing.note.clone().unwrap_or_default();
            let prompt = Prompt::new("reason: ", "why, in a line; Enter keeps it")
                .with_text(&sanitise::line(&note));
            let overlay = Overlay::Prompt(prompt, PromptFor::RulingReason);
            model.overlays.push(overlay);
        }
        _ => model.say(Level::Info, "rule first, then say why".to_owned()),
    }
    Vec::new()
}

/// Takes the reason in.
pub fn note(model: &mut Model, text: &str) -> Vec<Effect> {
    if let Some(hearing) = &mut model.court.hearing {
        hearing.note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
        hearing.unsaved = true;
    }
    Vec::new()
}

/// Stores what was changed after the reveal and not kept.
pub fn leave(model: &mut Model) -> Vec<Effect> {
    let now = model.now;
    let Some(hearing) = model.court.hearing.as_mut().filter(|one| one.unsaved) else {
        return Vec::new();
    };
    let (Some(finding), Some(exhibit)) = (hearing.finding, &hearing.exhibit) else {
        return Vec::new();
    };
    let grade = exhibit.label;
    hearing.unsaved = false;
    let active_ms = spent(hearing, now);
    let new = NewRuling {
        query: hearing.matter.query,
        document: hearing.matter.document.clone(),
        finding,
        fault: hearing.fault,
        note: hearing.note.clone(),
        annotator: model.options.annotator.clone(),
        created_ms: 0,
        about: RulingContext {
            blind: false,
            active_ms,
            grade,
            against: hearing.matter.dispute.against,
            answers: hearing.matter.dispute.answers,
            control_of: None,
        },
        after_reveal: true,
    };
    model.saving += 1;
    vec![Effect::Rule(new)]
}

/// Keeps the ruling and calls the next matter.
pub(super) fn keep(model: &mut Model) -> Vec<Effect> {
    let ruled = |hearing: &Hearing| hearing.ruled.is_some();
    if !model.court.hearing.as_ref().is_some_and(ruled) {
        model.say(Level::Info, "rule first: 1 2 3 or 4".to_owned());
        return Vec::new();
    }
    next(model)
}

/// Where the matter stands among all, and whether it has been ruled on.
fn here(model: &Model) -> Option<(usize, bool)> {
    let hearing = model.court.hearing.as_ref()?;
    let mut matters = model.court.matters.iter();
    let at = matters.position(|one| hearing.is_about(one.query, &one.document))?;
    Some((at, hearing.ruled.is_some()))
}

/// Leaves the matter, which is done with, and calls the one after it.
fn next(model: &mut Model) -> Vec<Effect> {
    let mut effects = leave(model);
    let at = here(model);
    if model.court.roll != AdjudicationList::Open {
        return match at.map(|(at, _)| at + 1) {
            Some(next) if next < model.court.matters.len() => {
                effects.extend(go(model, next));
                effects
            }
            _ => {
                model.stack.pop();
                model.court.hearing = None;
                effects.extend(court::ask(model));
                effects
            }
        };
    }
    if let Some((at, _)) = at {
        model.court.matters.remove(at);
    }
    effects.extend(go(model, at.map_or(0, |(at, _)| at)));
    effects
}

fn go(model: &mut Model, at: usize) -> Vec<Effect> {
    let at = match at < model.court.matters.len() {
        true => at,
        false => 0,
    };
    let place = court::shown(model).iter().position(|shown| *shown == at);
    model.court.cursor = place.unwrap_or(0);
    take_up(model, at)
}

/// Puts the matter off until all others are done.
pub(super) fn put_off(model: &mut Model) -> Vec<Effect> {
    match here(model) {
        Some((_, true)) => keep(model),
        Some((at, false)) => {
            let matter = model.court.matters.remove(at);
            let named = (matter.query, matter.document.clone());
            model.court.later.push(named);
            model.court.matters.push(matter);
            go(model, at)
        }
        None => next(model),
    }
}

/// Goes to the next or the previous matter; nothing is written but a ruling that was changed and not kept.
pub(super) fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    let Some((at, ruled)) = here(model) else {
        // The docket has been drawn up anew since the ruling.
        return next(model);
    };
    let to = match forward {
        true => Some(at + 1).filter(|to| *to < model.court.matters.len()),
        false => at.checked_sub(1),
    };
    let Some(mut to) = to else {
        let words = match forward {
            true => "that was the last one",
            false => "that was the first one",
        };
        model.say(Level::Info, words.to_owned());
        return Vec::new();
    };
    let mut effects = leave(model);
    if ruled && model.court.roll == AdjudicationList::Open {
        // It is done: coming back would hide what the person has seen.
        model.court.matters.remove(at);
        to -= usize::from(to > at);
    }
    effects.extend(go(model, to));
    effects
}
