//! Moves through the disagreements, chooses the list, and receives computed results.

use super::tables;
use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::app::review::pair_description::ListedDocument;
use crate::app::review::undo::{Undo, ruling_words};
use crate::domain::adjudication::DisagreementOrder;
use crate::domain::corpus::DocId;
use crate::store::corpus::QueryKey;
use crate::store::rulings::StoredRuling;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::ruling::CurrentRuling;
use crate::tui::model::{Model, Overlay};
use crate::tui::navigation::{cycled, moved};
use crate::tui::requests;
use crate::tui::screens::{Screen, ruling};
use crate::tui::widgets::page::Page;
use crate::tui::widgets::toast::Level;

/// Number of rows around the cursor whose titles are read if the screen is smaller or was not drawn
/// yet.
const PAGE: usize = 20;

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    model.adjudication.cursor = 0;
    model.adjudication.current = None;
    model.stack.push(Screen::ADJUDICATION);
    model.read_overview()
}

/// Lists, tables and rulings are available once judges have picked.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let overview = model.adjudication.overview.as_ref();
    let picked = overview.is_some_and(|overview| !overview.judges.is_empty());
    match command {
        Command::Open => picked && !model.shown_disagreements().is_empty(),
        Command::NextPane => overview.is_some_and(|overview| overview.effect.len() > 1),
        Command::NextPolicy
        | Command::PreviousPolicy
        | Command::Conflicts
        | Command::ShowTables => picked,
        _ => true,
    }
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::NextPolicy | Command::PreviousPolicy => {
            let forward = command == Command::NextPolicy;
            let order = model.adjudication.order;
            model.adjudication.order = cycled(&DisagreementOrder::ALL, order, forward);
            return ask_anew(model);
        }
        Command::NextPane => {
            let overview = model.adjudication.overview.as_ref();
            let count = overview.map_or(0, |overview| overview.effect.len());
            if count < 2 {
                model.inform("there is no other ranking; `overrule import RUN` adds one");
            }
            model.adjudication.ranking = (model.adjudication.ranking + 1) % count.max(1);
        }
        Command::Conflicts => {
            model.adjudication.list = match model.adjudication.list {
                AdjudicationList::Open => AdjudicationList::Ruled,
                AdjudicationList::Ruled => AdjudicationList::Contested,
                AdjudicationList::Contested => AdjudicationList::Open,
            };
            return ask_anew(model);
        }
        Command::Guideline => return model.read_guideline(),
        Command::EditGuideline => return model.edit_guideline(),
        Command::ShowTables => {
            if let Some(overview) = &model.adjudication.overview {
                let columns = Page::columns(model.size.0);
                let details = tables::details(model, overview, columns);
                let page = Page::new("Picks and rankings", &details);
                model.overlays.push(Overlay::Page(page));
            }
        }
        Command::Open => {
            if let Some(at) = model
                .shown_disagreements()
                .get(model.adjudication.cursor)
                .copied()
            {
                model.stack.push(Screen::RULING);
                return ruling::update::begin_ruling(model, at);
            }
        }
        _ => {
            let (count, page) = (model.shown_disagreements().len(), model.areas.page);
            let cursor = model.adjudication.cursor;
            model.adjudication.cursor = moved(cursor, command, count, page);
            return read_titles(model);
        }
    }
    Vec::new()
}

/// Requests the titles of the rows around the cursor, one page at a time.
pub(crate) fn read_titles(model: &mut Model) -> Vec<Effect> {
    let shown = model.shown_disagreements();
    let screen = &mut model.adjudication;
    let rows = shown.iter().filter_map(|at| screen.disagreements.get(*at));
    let rows = rows.map(|item| (item.query, item.document.clone()));
    let about = (screen.cursor, model.areas.page.max(PAGE));
    let wanted = requests::unread(rows, about, |row| screen.titles.contains_key(row));
    if wanted.is_empty() {
        return Vec::new();
    }
    for document in &wanted {
        screen
            .titles
            .insert(document.clone(), ListedDocument::default());
    }
    vec![model.read_document_titles(wanted)]
}

/// Requests another list; the current one no longer matches its heading.
fn ask_anew(model: &mut Model) -> Vec<Effect> {
    model.adjudication.cursor = 0;
    model.adjudication.disagreements.clear();
    model.read_overview()
}

/// Receives the overview. Documents ruled on meanwhile are removed, and postponed ones come last.
pub(crate) fn overviewed(
    model: &mut Model,
    mut overview: Box<AdjudicationOverview>,
) -> Vec<Effect> {
    let selected = model
        .chosen_disagreement()
        .map(|item| (item.query, item.document.clone()));
    let adjudication = &mut model.adjudication;
    let mut disagreements = std::mem::take(&mut overview.disagreements);
    if adjudication.list == AdjudicationList::Open {
        let done = |disagreement: &AdjudicationItem| {
            adjudication.ruled_since.iter().any(|(query, document)| {
                disagreement.query == *query && disagreement.document == *document
            })
        };
        overview.ruled += adjudication.ruled_since.len();
        disagreements.retain(|disagreement| !done(disagreement));
    }
    let off = |disagreement: &AdjudicationItem| {
        adjudication.put_off.iter().any(|(query, document)| {
            disagreement.query == *query && disagreement.document == *document
        })
    };
    let (later, first): (Vec<AdjudicationItem>, Vec<AdjudicationItem>) =
        disagreements.into_iter().partition(off);
    adjudication.disagreements = [first, later].concat();
    adjudication.ranking = adjudication
        .ranking
        .min(overview.effect.len().saturating_sub(1));
    adjudication.overview = Some(overview);
    let last = model.shown_disagreements().len().saturating_sub(1);
    model.adjudication.cursor = model.adjudication.cursor.min(last);
    if let Some((query, document)) = selected {
        select(model, query, &document);
    }
    if let Some((query, document)) = model.adjudication.wanted.take() {
        return go_to(model, query, &document);
    }
    if model.screen() == Screen::RULING && model.adjudication.current.is_none() {
        return ruling::update::begin_ruling(model, 0);
    }
    match model.screen() {
        Screen::ADJUDICATION => read_titles(model),
        _ => Vec::new(),
    }
}

/// Goes to the document of an undone ruling, if it is listed.
fn go_to(model: &mut Model, query: QueryKey, document: &DocId) -> Vec<Effect> {
    if model.screen() == Screen::RULING {
        return ruling::update::take_up(model, query, document).unwrap_or_default();
    }
    select(model, query, document);
    Vec::new()
}

/// Moves the cursor to a document, if it is listed.
fn select(model: &mut Model, query: QueryKey, document: &DocId) {
    let items = &model.adjudication.disagreements;
    let is = |at: &usize| items[*at].query == query && items[*at].document == *document;
    let place = model.shown_disagreements().iter().position(is);
    model.adjudication.cursor = place.unwrap_or(model.adjudication.cursor);
}

/// Reports what an undo removed. If its document is on screen, it must be ruled on again, with
/// everything that has been seen still visible.
pub(crate) fn undone(model: &mut Model, undone: Undo<Box<StoredRuling>>) -> Vec<Effect> {
    let undone = match undone {
        Undo::Nothing => {
            model.inform("no ruling of yours to undo");
            return Vec::new();
        }
        Undo::Beyond { uid, words } => {
            model.name_older(uid, &words);
            return Vec::new();
        }
        Undo::TakenBack(undone) => undone,
    };
    let ruling = undone.ruling;
    model.say(Level::Good, &format!("undone: {}", ruling_words(&ruling)));
    model.undone_rulings.push(ruling.uid.clone());
    let session = &mut model.adjudication.session;
    session.undone(undone.query, &ruling.document);
    let here = model
        .adjudication
        .current
        .as_ref()
        .is_some_and(|now| now.is_about(undone.query, &ruling.document));
    let mut effects = Vec::new();
    if !here {
        let taken = match model.screen() {
            Screen::RULING => ruling::update::take_up(model, undone.query, &ruling.document),
            _ => None,
        };
        if taken.is_none() {
            // It will be among the open ones again once they are listed.
            model.adjudication.list = AdjudicationList::Open;
            model.adjudication.wanted = Some((undone.query, ruling.document.clone()));
        }
        effects.extend(taken.unwrap_or_default());
    }
    effects.splice(0..0, model.read_overview());
    if let Some(current) = &mut model.adjudication.current
        && current.is_about(undone.query, &ruling.document)
    {
        *current = CurrentRuling {
            ruled: None,
            finding: None,
            fault: None,
            note: None,
            unsaved: false,
            ..current.clone()
        };
    }
    effects
}

/// Reports what was redone, and shows it.
pub(crate) fn redone(model: &mut Model, redone: Option<StoredRuling>) -> Vec<Effect> {
    let Some(redone) = redone else {
        model.inform("this ruling cannot be redone");
        return Vec::new();
    };
    let ruling = redone.ruling;
    let (query, document, finding) = (&ruling.query, &ruling.document, ruling.finding.words());
    let session = &mut model.adjudication.session;
    session.redone(redone.query, &ruling.document);
    let words = format!("redone: query {query}, document {document}: {finding}");
    model.say(Level::Good, &words);
    let mut effects = model.read_overview();
    if model.screen() == Screen::RULING {
        let taken = ruling::update::take_up(model, redone.query, &ruling.document);
        effects.extend(taken.unwrap_or_default());
    }
    effects
}
