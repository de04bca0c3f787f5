//! Navigating the queue and choosing its content.

use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::pair_description::PairQuestion;
use crate::app::review::review_queue::QueueItem;
use crate::domain::battle::Pair;
use crate::domain::priority::Policy;
use crate::domain::vote::JudgeId;
use crate::registry::AcceptanceOffer;
use crate::store::corpus::QueryKey;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::run::RunScope;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::navigation::{cycled, moved};
use crate::tui::requests;
use crate::tui::screens::{Screen, review, run};
use crate::tui::widgets::page::Page;
use std::collections::HashSet;

/// Rows of a page before one was drawn.
pub(super) const PAGE: usize = 50;

/// Opens the queue of the project, or of the query that is open in a matrix.
pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    model.queue.scope = match model.screen() {
        Screen::MATRIX | Screen::CYCLES => model.open.as_ref().map(|open| open.info.key),
        _ => None,
    };
    if model.screen() == Screen::CYCLES {
        model.queue.policy = Policy::Cycle;
    }
    show_against(model, None)
}

/// Opens the queue of battles on which a judge disagrees with the others, or of all.
pub(crate) fn show_against(model: &mut Model, judge: Option<JudgeId>) -> Vec<Effect> {
    model.queue.against = judge;
    model.queue.within = None;
    model.queue.current = None;
    model.stack.push(Screen::QUEUE);
    ask_anew(model)
}

/// Opens the queue of battles of these queries.
pub(crate) fn show_within(model: &mut Model, queries: HashSet<QueryKey>) -> Vec<Effect> {
    model.queue.against = None;
    model.queue.within = Some(queries);
    model.queue.current = None;
    model.stack.push(Screen::QUEUE);
    ask_anew(model)
}

/// The queue has arrived.
pub(crate) fn queued(
    model: &mut Model,
    items: Vec<QueueItem>,
    stats: AnnotatorStatistics,
) -> Vec<Effect> {
    let named = |item: &QueueItem| (item.query, item.pair);
    let at = model.shown_items().get(model.queue.cursor).copied();
    let selected = at.map(|at| named(&model.queue.items[at]));
    model.queue.items = items;
    model.queue.stats = stats;
    model.queue.loaded = true;
    model.queue.failed = None;
    let shown = model.shown_items();
    let place = shown
        .iter()
        .position(|at| Some(named(&model.queue.items[*at])) == selected);
    let last = shown.len().saturating_sub(1);
    model.queue.cursor = place.unwrap_or(model.queue.cursor.min(last));
    if model.screen() == Screen::REVIEW && model.queue.current.is_none() {
        model.queue.cursor = 0;
        let first = review::update::free(model, 0, true).unwrap_or(0);
        return review::update::review_item(model, first);
    }
    model.queue.described = None;
    describe(model)
}

/// Requests an incomplete list again, for the queries that match the filter.
pub(super) fn filtered(model: &mut Model) -> Vec<Effect> {
    if model.queue.items.len() < super::LISTED && !model.queue.narrowed {
        return describe(model);
    }
    model.build_queue()
}

/// Requests a description of the pair under the cursor.
pub(crate) fn describe(model: &mut Model) -> Vec<Effect> {
    let shown = model.shown_items();
    let at = shown.get(model.queue.cursor).copied();
    let Some(item) = at.and_then(|at| model.queue.items.get(at)) else {
        return Vec::new();
    };
    let (query, pair) = (item.query, item.pair);
    let mut effects = Vec::new();
    let question = match (model.queue.conflicts, model.queue.policy) {
        (true, _) => Some(PairQuestion::Verdicts),
        (false, Policy::Value) => Some(PairQuestion::Value),
        (false, _) => None,
    };
    if let Some(question) = question
        && !matches!(&model.queue.described, Some((known, of, _)) if (*known, *of) == (query, pair))
    {
        effects.push(model.describe_pair(query, pair, question));
    }
    effects.extend(read_titles(model, &shown));
    effects
}

/// Requests the titles of the rows around the cursor, one page at a time.
fn read_titles(model: &mut Model, shown: &[usize]) -> Option<Effect> {
    let rows = shown.iter().filter_map(|at| model.queue.items.get(*at));
    let rows = rows.map(|item| (item.query, item.pair));
    let about = (model.queue.cursor, model.areas.page.max(PAGE));
    let known = |pair: &(QueryKey, Pair)| model.queue.titles.contains_key(pair);
    let wanted = requests::unread(rows, about, known);
    if wanted.is_empty() {
        return None;
    }
    Some(model.read_pair_titles(wanted))
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::NextPolicy | Command::PreviousPolicy => {
            let forward = command == Command::NextPolicy;
            model.queue.policy = cycled(&Policy::ALL, model.queue.policy, forward);
        }
        Command::WholeProject => {
            let here = model.open.as_ref().map(|open| open.info.key);
            model.queue.scope = match model.queue.scope {
                Some(_) => None,
                None => here,
            };
        }
        Command::Conflicts => model.queue.conflicts = !model.queue.conflicts,
        Command::Accept => return vec![model.read_acceptance()],
        Command::Guideline => return model.read_guideline(),
        Command::EditGuideline => return model.edit_guideline(),
        Command::StartRun if can_start(model) => {
            return run::update::start_over(model, scope(model));
        }
        Command::Open => return open(model),
        _ => {
            let (count, page) = (model.shown_items().len(), model.areas.page);
            model.queue.cursor = moved(model.queue.cursor, command, count, page);
            return describe(model);
        }
    }
    ask_anew(model)
}

/// The state of the project's acceptance has arrived: it is shown, or starting one is offered.
pub(super) fn offered(model: &mut Model, offer: AcceptanceOffer) -> Vec<Effect> {
    match offer {
        AcceptanceOffer::Start(question) => {
            model.confirm("Accept", &question, ConfirmFor::Screen(Screen::QUEUE));
            Vec::new()
        }
        AcceptanceOffer::Present(words) => {
            let page = Page::new("Acceptance", &words);
            model.overlays.push(Overlay::Page(page));
            show_accept(model)
        }
    }
}

/// Lists what the acceptance asks people about.
pub(super) fn show_accept(model: &mut Model) -> Vec<Effect> {
    if model.queue.policy == Policy::Accept && !model.queue.conflicts {
        return model.build_queue();
    }
    model.queue.policy = Policy::Accept;
    model.queue.conflicts = false;
    ask_anew(model)
}

/// Whether a run can be started here: without votes, or with votes that a run would set aside.
pub(super) fn can_start(model: &Model) -> bool {
    let would_replace = !model.votes.set_aside.is_empty() && !model.shown_items().is_empty();
    model.queries.is_unjudged() || would_replace
}

/// The scope of a run that is started here: the project if it has no vote, or else the queries of
/// the pairs from the first to the selected one.
fn scope(model: &Model) -> RunScope {
    if model.queries.is_unjudged() {
        return RunScope::Project;
    }
    let shown = model.shown_items();
    let above = shown.iter().take(model.queue.cursor + 1);
    let mut queries: Vec<QueryKey> = above.map(|at| model.queue.items[*at].query).collect();
    queries.sort_unstable();
    queries.dedup();
    RunScope::Queries(queries)
}

fn open(model: &mut Model) -> Vec<Effect> {
    let Some(at) = model.shown_items().get(model.queue.cursor).copied() else {
        return Vec::new();
    };
    if model.options.judging.queue_blind {
        model.stack.push(Screen::REVIEW);
        return review::update::review_item(model, at);
    }
    let item = model.queue.items[at];
    let mut effects = model.open_query(item.query);
    effects.extend(model.open_battle(item.pair.low(), item.pair.high()));
    effects
}

pub(super) fn returned(model: &mut Model) -> Vec<Effect> {
    model.queue.current = None;
    model.battle.before = None;
    model.build_queue()
}

/// Requests another queue; the current one no longer matches its heading.
fn ask_anew(model: &mut Model) -> Vec<Effect> {
    model.queue.cursor = 0;
    model.queue.loaded = false;
    model.queue.waits_for = None;
    model.queue.failed = None;
    model.queue.items.clear();
    model.queue.titles.clear();
    model.build_queue()
}
