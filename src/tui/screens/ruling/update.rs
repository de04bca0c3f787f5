//! Ruling on a document, blind first, then again with everything visible.

use super::panel;
use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::domain::adjudication::{DisagreementCause, Finding, Ruling};
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::store::rulings::{NewRuling, RulingContext};
use crate::tui::clipboard::tsv_line;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::review::active_ms;
use crate::tui::model::ruling::CurrentRuling;
use crate::tui::model::ruling_session::RuledDocument;
use crate::tui::model::{Model, Overlay, Subject};
use crate::tui::navigation::{neighbor, scrolled};
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::Copied;
use crate::tui::widgets::document_text::PreparedText;
use crate::tui::widgets::page::Page;
use std::sync::Arc;
use std::time::Instant;

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if let Some(finding) = panel::FINDINGS.of(command) {
        return rule(model, finding);
    }
    if let Some(fault) = panel::CAUSES.of(command) {
        return blame(model, fault);
    }
    let (lines, page, first) = (model.areas.lines, model.areas.page, model.areas.first);
    match command {
        Command::Open => keep(model),
        Command::PutOff => put_off(model),
        Command::NextDocument => step(model, true),
        Command::PreviousDocument => step(model, false),
        Command::Guideline => model.read_guideline(),
        Command::EditGuideline => model.edit_guideline(),
        Command::ChooseGuideline => {
            model.ask_for_guideline();
            Vec::new()
        }
        Command::WriteNote => ask_why(model),
        Command::ShowTables => {
            if let Some(text) = panel::page_text(model, Page::columns(model.size.0)) {
                let page = Page::new("Who said what", &text);
                model.overlays.push(Overlay::Page(page));
            }
            Vec::new()
        }
        Command::ToggleFullText => {
            if let Some(current) = &mut model.adjudication.current {
                current.scroll = None;
            }
            model.from_top = !model.from_top;
            Vec::new()
        }
        command => {
            if let Some(current) = &mut model.adjudication.current {
                let from = current.scroll.unwrap_or(first);
                let to = scrolled(from, command, lines, page);
                if to != from {
                    current.scroll = Some(to);
                }
            }
            Vec::new()
        }
    }
}

/// The text, once it is loaded.
pub(super) fn texts(model: &Model) -> Vec<Option<Arc<PreparedText>>> {
    let current = model.adjudication.current.as_ref();
    let text = current
        .and_then(|current| current.evidence.as_ref())
        .map(|found| model.layouts.prepared(&found.text, &found.asked));
    vec![text]
}

/// Scrolls the text to the search match.
pub(super) fn reveal(model: &mut Model, _: usize) {
    if let Some(current) = &mut model.adjudication.current {
        current.scroll = None;
    }
}

/// Why no ruling can be made, for example before the text is visible.
pub(super) fn obstacle(model: &Model) -> Option<&'static str> {
    let current = model.adjudication.current.as_ref();
    let shown = current.is_some_and(|current| current.evidence.is_some());
    (!shown).then_some("no ruling yet: the document is still loading")
}

/// Which commands are available for the document now.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let current = model.adjudication.current.as_ref();
    let ruled = current.is_some_and(|current| current.ruled.is_some());
    let several = model.adjudication.disagreements.len() > 1;
    match command {
        Command::Open => ruled,
        Command::PutOff => current.is_some() && !ruled,
        Command::NextDocument | Command::PreviousDocument => several,
        Command::WriteNote => current.is_some(),
        // Before the person has ruled, other people's findings are hidden.
        Command::ShowTables => current.is_some_and(|current| current.open),
        Command::ToggleFullText => model.areas.lines > model.areas.page,
        command if panel::CAUSES.of(command).is_some() => ruled,
        _ => true,
    }
}

/// Starts a disagreement, by its index, and loads the next one ahead.
pub(crate) fn begin_ruling(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(disagreement) = model.adjudication.disagreements.get(at).cloned() else {
        model.adjudication.current = None;
        return Vec::new();
    };
    let (query, document) = (disagreement.query, disagreement.document.clone());
    // If people disagree, their findings and reasons are to be weighed.
    let contested = model.adjudication.list == AdjudicationList::Contested;
    let open = contested || !model.options.judging.queue_blind;
    let is_first = free(model, 0, true).is_none_or(|first| at <= first);
    model.adjudication.current = Some(CurrentRuling::new(disagreement, is_first, open));
    let mut effects = match model.adjudication.prefetched.take() {
        Some(ahead) if ahead.query == query && ahead.document == document => loaded(model, ahead),
        _ => vec![model.read_evidence(query, document)],
    };
    let next = model.adjudication.disagreements.get(at + 1);
    if let Some((query, document)) = next.map(|next| (next.query, next.document.clone())) {
        effects.push(model.read_evidence(query, document));
    }
    effects
}

/// The index of the first disagreement from `at` on, or back from there, on which nobody else is
/// ruling.
fn free(model: &Model, at: usize, forward: bool) -> Option<usize> {
    let items = &model.adjudication.disagreements;
    let subject = |at: usize| Subject::Document(items[at].query, items[at].document.clone());
    model.first_free(subject, items.len(), at, forward)
}

/// Receives a document: either the current one, whose clock starts, or one loaded ahead.
pub(crate) fn loaded(model: &mut Model, evidence: Box<DocumentEvidence>) -> Vec<Effect> {
    let now = model.now;
    let annotator = &model.options.annotator;
    match &mut model.adjudication.current {
        Some(current) if current.is_about(evidence.query, &evidence.document) => {
            current.since.get_or_insert(now);
            let own = |ruling: &&Ruling| ruling.annotator == *annotator;
            if let Some(ruling) = evidence.rulings.iter().rev().find(own)
                && current.ruled.is_none()
            {
                // It has been ruled on before and is viewed again.
                current.open = true;
                (current.ruled, current.finding) = (Some(ruling.finding), Some(ruling.finding));
                (current.fault, current.note) = (ruling.fault, ruling.note.clone());
            }
            current.evidence = Some(evidence);
            model.refresh_search();
        }
        _ => model.adjudication.prefetched = Some(evidence),
    }
    Vec::new()
}

/// Records a ruling: the first one is stored and reveals everything; a later one is pending until
/// it is confirmed.
fn rule(model: &mut Model, finding: Finding) -> Vec<Effect> {
    let now = model.now;
    let undecided = |current: &CurrentRuling| current.ruled.is_none() && current.evidence.is_some();
    let note = if model.adjudication.current.as_ref().is_some_and(undecided) {
        model.take_draft()
    } else {
        None
    };
    let Some(current) = &mut model.adjudication.current else {
        return Vec::new();
    };
    if current.evidence.is_none() {
        return Vec::new();
    }
    if current.ruled.is_some() {
        current.unsaved |= current.finding != Some(finding);
        current.finding = Some(finding);
        return Vec::new();
    }
    current.note = note;
    let blind = !current.open;
    let since = current.since;
    // An item chosen from further down was not drawn at random.
    let control_of = current.first.then_some(current.disagreement.control_of);
    (current.ruled, current.finding) = (Some(finding), Some(finding));
    current.open = true;
    let Some(again) = to_store(current, &model.options.annotator, now) else {
        return Vec::new();
    };
    let active_ms = again.about.active_ms;
    if let Some(evidence) = current.evidence.as_deref().filter(|_| since.is_some()) {
        let ruled = RuledDocument::new(evidence, finding, active_ms);
        model.adjudication.session.decided(ruled);
    }
    let new = NewRuling {
        fault: None,
        after_reveal: false,
        about: RulingContext {
            blind,
            control_of: Some(control_of.unwrap_or_default()),
            ..again.about
        },
        ..again
    };
    let named = (
        current.disagreement.query,
        current.disagreement.document.clone(),
    );
    model.adjudication.ruled_since.push(named);
    if let Some(overview) = &mut model.adjudication.overview {
        overview.ruled += 1;
    }
    vec![model.save_ruling(new)]
}

fn blame(model: &mut Model, fault: DisagreementCause) -> Vec<Effect> {
    match &mut model.adjudication.current {
        Some(current) if current.ruled.is_some() => {
            current.fault = (current.fault != Some(fault)).then_some(fault);
            current.unsaved = true;
        }
        _ => model.inform("rule first, then give the reason"),
    }
    Vec::new()
}

fn ask_why(model: &mut Model) -> Vec<Effect> {
    if let Some(current) = &model.adjudication.current {
        let note = match current.ruled {
            None => model.draft().map(str::to_owned),
            Some(_) => current.note.clone(),
        };
        model.ask_reason(&note.unwrap_or_default());
    }
    Vec::new()
}

pub(crate) fn note(model: &mut Model, text: &str) -> Vec<Effect> {
    match &mut model.adjudication.current {
        Some(current) if current.ruled.is_some() => {
            let note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
            current.unsaved |= current.note != note;
            current.note = note;
            Vec::new()
        }
        _ => model.set_draft(text),
    }
}

/// The current ruling, made with label and picks visible.
fn to_store(current: &mut CurrentRuling, annotator: &str, now: Instant) -> Option<NewRuling> {
    let (finding, evidence) = (current.finding?, current.evidence.as_ref()?);
    let (grade, disagreement) = (evidence.label, &current.disagreement);
    Some(NewRuling {
        query: disagreement.query,
        document: disagreement.document.clone(),
        finding,
        fault: current.fault,
        note: current.note.clone(),
        annotator: annotator.to_owned(),
        created_ms: 0,
        about: RulingContext {
            blind: false,
            active_ms: active_ms(&mut current.since, now),
            grade,
            against: disagreement.dispute.against,
            answers: disagreement.dispute.answers,
            control_of: None,
        },
        after_reveal: true,
    })
}

/// Stores an unconfirmed change made after the reveal.
pub(crate) fn leave(model: &mut Model) -> Vec<Effect> {
    let current = model.adjudication.current.as_mut();
    let Some(current) = current.filter(|current| current.unsaved) else {
        return Vec::new();
    };
    let Some(new) = to_store(current, &model.options.annotator, model.now) else {
        return Vec::new();
    };
    current.unsaved = false;
    let session = &mut model.adjudication.session;
    session.kept(new.query, &new.document, new.finding);
    vec![model.save_ruling(new)]
}

/// Confirms the ruling and starts the next disagreement.
fn keep(model: &mut Model) -> Vec<Effect> {
    let ruled = |current: &CurrentRuling| current.ruled.is_some();
    if !model.adjudication.current.as_ref().is_some_and(ruled) {
        let enter = key_on(Command::Open, Screen::RULING);
        model.inform(&format!(
            "rule first; then {enter} keeps the ruling and opens the next document"
        ));
        return Vec::new();
    }
    next(model)
}

/// Resumes a document whose ruling was undone or redone, with everything that has been seen still
/// visible; `None` if it is unknown here.
pub(crate) fn take_up(model: &mut Model, query: QueryKey, document: &DocId) -> Option<Vec<Effect>> {
    let named = |item: &AdjudicationItem| item.query == query && item.document == *document;
    let adjudication = &mut model.adjudication;
    let at = match adjudication.disagreements.iter().position(named) {
        Some(at) => at,
        None => {
            let done = adjudication.done.iter().rposition(named)?;
            let item = adjudication.done.remove(done);
            adjudication.disagreements.insert(0, item);
            0
        }
    };
    let mut effects = leave(model);
    effects.extend(begin_ruling(model, at));
    if let Some(current) = &mut model.adjudication.current {
        current.open = true;
    }
    Some(effects)
}

/// The index of the current disagreement, and whether it has been ruled on.
fn here(model: &Model) -> Option<(usize, bool)> {
    let current = model.adjudication.current.as_ref()?;
    let at = model
        .adjudication
        .disagreements
        .iter()
        .position(|one| current.is_about(one.query, &one.document))?;
    Some((at, current.ruled.is_some()))
}

/// Leaves the finished disagreement and starts the next one.
fn next(model: &mut Model) -> Vec<Effect> {
    let mut effects = leave(model);
    let at = here(model);
    if model.adjudication.list != AdjudicationList::Open {
        return match at.map(|(at, _)| at + 1) {
            Some(next) if next < model.adjudication.disagreements.len() => {
                let next = free(model, next, true).unwrap_or(next);
                effects.extend(go(model, next));
                effects
            }
            _ => {
                model.stack.pop();
                close(model);
                effects.extend(model.read_overview());
                effects
            }
        };
    }
    if let Some((at, _)) = at {
        let done = model.adjudication.disagreements.remove(at);
        model.adjudication.done.push(done);
    }
    let at = at.map_or(0, |(at, _)| at);
    let free = free(model, at, true).or_else(|| free(model, 0, true));
    effects.extend(go(model, free.unwrap_or(at)));
    effects
}

/// Ends ruling and shows a summary.
pub(crate) fn close(model: &mut Model) {
    let session = std::mem::take(&mut model.adjudication.session);
    if let Some(summary) = session
        .summary()
        .filter(|_| model.screen() == Screen::ADJUDICATION)
    {
        let page = Page::new("This session", &summary);
        model.overlays.push(Overlay::Page(page));
    }
    model.adjudication.current = None;
}

fn go(model: &mut Model, at: usize) -> Vec<Effect> {
    let at = if at < model.adjudication.disagreements.len() {
        at
    } else {
        0
    };
    let place = model
        .shown_disagreements()
        .iter()
        .position(|shown| *shown == at);
    model.adjudication.cursor = place.unwrap_or(0);
    begin_ruling(model, at)
}

/// Postpones the disagreement until all others are done.
fn put_off(model: &mut Model) -> Vec<Effect> {
    match here(model) {
        Some((_, true)) => keep(model),
        Some((at, false)) => {
            let disagreement = model.adjudication.disagreements.remove(at);
            let named = (disagreement.query, disagreement.document.clone());
            let mut effects = vec![model.postpone_ruling(named.0, named.1.clone())];
            model.adjudication.put_off.push(named);
            model.adjudication.disagreements.push(disagreement);
            effects.extend(go(model, free(model, at, true).unwrap_or(at)));
            effects
        }
        None => next(model),
    }
}

/// Goes to the next or the previous disagreement. Only a changed, unconfirmed ruling is stored.
fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    let Some((at, ruled)) = here(model) else {
        // The list has been reloaded since the ruling.
        return next(model);
    };
    let count = model.adjudication.disagreements.len();
    let Some(mut to) = neighbor(at, forward, count) else {
        let end = if forward { "last" } else { "first" };
        model.inform(&format!("this is the {end} document"));
        return Vec::new();
    };
    let mut effects = leave(model);
    if ruled && model.adjudication.list == AdjudicationList::Open {
        // It is done: returning would hide what the person has seen.
        let done = model.adjudication.disagreements.remove(at);
        model.adjudication.done.push(done);
        to -= usize::from(to > at);
    }
    to = free(model, to, forward).unwrap_or(to);
    effects.extend(go(model, to));
    effects
}

/// The identifiers of the document being ruled on, or of the one under the cursor in the list.
pub(super) fn copy(model: &Model) -> Copied {
    let current = model.adjudication.current.as_ref();
    let item = current.map(|current| &current.disagreement);
    item.or_else(|| model.chosen_disagreement())
        .map_or(Copied::Nothing, identifiers)
}

pub(crate) fn identifiers(item: &AdjudicationItem) -> Copied {
    Copied::Text {
        text: tsv_line([item.query_id.as_str(), item.document.as_str()].into_iter()),
        what: "the identifiers of the query and the document".to_owned(),
    }
}
