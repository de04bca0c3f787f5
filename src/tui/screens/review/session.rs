//! Records each decision in the statistics of a review session.

use crate::domain::battle::Pair;
use crate::domain::verdict::Decision;
use crate::domain::vote::Outcome;
use crate::store::corpus::QueryKey;
use crate::tui::model::Model;
use crate::tui::model::pace::ReadingPace;
use crate::tui::model::session::JudgedPair;
use crate::tui::screens::battle;
use std::cmp::Ordering;

/// Records a blind decision in the session's statistics before it changes the ranking.
pub(super) fn note_session(
    model: &mut Model,
    (query, pair): (QueryKey, Pair),
    decision: Decision,
    active_ms: Option<i64>,
) {
    let texts = battle::update::texts(model);
    let read = texts.iter().flatten().map(|text| &*text.text);
    let pace = ReadingPace::new(active_ms, read);
    let Some(open) = &model.open else { return };
    let votes = open.view.vote_count(model.battle.a, model.battle.b);
    let majority = (votes.votes() > 0).then(|| match votes.a.cmp(&votes.b) {
        Ordering::Greater => Outcome::A,
        Ordering::Less => Outcome::B,
        Ordering::Equal => Outcome::Tie,
    });
    model.session.begin(open);
    model.session.decided(JudgedPair {
        query,
        pair,
        pace,
        agrees: majority
            .zip(decision.direction())
            .map(|(these, own)| these == own),
        changed: false,
    });
}
