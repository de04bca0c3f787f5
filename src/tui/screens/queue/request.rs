//! What is asked of the project for the queue, and the rows that match the filter.

use crate::app::review::queue::{QueueItem, QueueRequest};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::WordFilter;

/// Items that are listed at most.
pub(super) const LISTED: usize = 1_000;

/// Asks for the queue as it is now.
pub(crate) fn ask(model: &mut Model) -> Vec<Effect> {
    model.queue.generation += 1;
    let request = QueueRequest {
        policy: model.queue.policy,
        scope: model.queue.scope,
        annotator: model.options.annotator.clone(),
        seed: model.options.request.seed,
        limit: LISTED,
        against: model.queue.against,
        conflicts: model.queue.conflicts,
        gold: model.options.judging.gold,
        overlap: model.options.judging.overlap,
    };
    vec![Effect::Queue(request, model.queue.generation)]
}

/// Asks for another queue; the one that is there is not what its heading would say.
pub(super) fn ask_anew(model: &mut Model) -> Vec<Effect> {
    model.queue.cursor = 0;
    model.queue.loaded = false;
    model.queue.items.clear();
    ask(model)
}

/// The items whose query matches the filter, as indexes.
pub(crate) fn shown(model: &Model) -> Vec<usize> {
    let filter = WordFilter::new(&model.queue.filter);
    let matches = |item: &QueueItem| match query_of(model, item) {
        Some((id, text)) => filter.matches(&format!("{id} {text}")),
        None => filter.is_empty(),
    };
    let items = &model.queue.items;
    (0..items.len()).filter(|at| matches(&items[*at])).collect()
}

/// An item's query: identifier and text.
pub(super) fn query_of<'a>(model: &'a Model, item: &QueueItem) -> Option<(&'a str, &'a str)> {
    let info = model.queries.info(item.query)?;
    Some((info.id.as_str(), &info.text))
}
