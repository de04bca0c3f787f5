//! What is asked of the project for the list, and the rows that match the filter.

use crate::app::adjudication::data::AdjudicationItem;
use crate::domain::adjudication::{CONTROL_SHARE, DisagreementRule};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::WordFilter;

/// Asks for the figures about picks, labels and rulings now.
pub(crate) fn ask(model: &mut Model) -> Vec<Effect> {
    model.adjudication.generation += 1;
    model.adjudication.ruled_since.clear();
    model.adjudication.waiting = true;
    let rule = DisagreementRule {
        order: model.adjudication.order,
        controls: CONTROL_SHARE,
        seed: model.options.request.seed,
    };
    vec![Effect::LoadDisagreements(
        rule,
        model.adjudication.list,
        model.adjudication.generation,
    )]
}

/// Asks for another list; the one that is there is not what its heading would say.
pub(super) fn ask_anew(model: &mut Model) -> Vec<Effect> {
    model.adjudication.cursor = 0;
    model.adjudication.disagreements.clear();
    ask(model)
}

/// The disagreements whose query matches the filter, as indexes.
pub(crate) fn shown(model: &Model) -> Vec<usize> {
    let all = &model.adjudication.disagreements;
    let filter = WordFilter::new(&model.adjudication.filter);
    let matches = |item: &AdjudicationItem| {
        filter.matches(&format!("{} {}", item.query_id, query_text(model, item)))
    };
    let matching = (0..all.len()).filter(|at| filter.is_empty() || matches(&all[*at]));
    matching.collect()
}

/// The text of a disagreement's query.
pub(super) fn query_text<'a>(model: &'a Model, item: &AdjudicationItem) -> &'a str {
    let place = model.adjudication.places.get(&item.query);
    let row = place.and_then(|at| model.queries.rows.get(*at));
    row.filter(|(info, _)| info.key == item.query)
        .map_or("", |(info, _)| &info.text)
}
