//! Requests to the project on behalf of a screen.

use super::message::Effect;
use super::model::open_query::OpenQuery;
use super::model::{ConfirmFor, Model};
use crate::app::review::review_queue::QueueRequest;
use crate::domain::adjudication::{CONTROL_SHARE, DisagreementRule};
use crate::domain::battle::BattleId;
use crate::domain::vote::JudgeId;

/// Maximum number of listed queue items.
pub(crate) const LISTED: usize = 1_000;

pub(crate) fn queue(model: &mut Model) -> Vec<Effect> {
    model.queue.generation += 1;
    let filter = model.queue.filter.trim();
    let only = (!filter.is_empty()).then(|| model.queries.matching_keys(filter, None));
    model.queue.narrowed = only.is_some();
    let request = QueueRequest {
        policy: model.queue.policy,
        scope: model.queue.scope,
        only,
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

/// Requests the statistics on picks, labels and rulings now.
pub(crate) fn disagreements(model: &mut Model) -> Vec<Effect> {
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

/// The rows around a cursor that are not known yet, so that they can be read a page at a time: two
/// pages if the current one is incomplete.
pub(crate) fn unread<K>(
    rows: impl Iterator<Item = K> + Clone,
    (cursor, page): (usize, usize),
    known: impl Fn(&K) -> bool,
) -> Vec<K> {
    let about = |reach: usize| -> Vec<K> {
        rows.clone()
            .skip(cursor.saturating_sub(reach))
            .take(2 * reach)
            .filter(|row| !known(row))
            .collect()
    };
    if about(page).is_empty() {
        Vec::new()
    } else {
        about(2 * page)
    }
}

pub(crate) fn pair(model: &mut Model) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let Some(pair) = model.battle.pair() else {
        return Vec::new();
    };
    missing(open, &[pair.low(), pair.high()], open.view.battles_of(pair))
}

/// Effects that load these texts, and the votes of these battles, if they are missing.
pub(crate) fn missing(open: &OpenQuery, documents: &[usize], battles: &[usize]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let known =
        |document: &usize| *document < open.documents.len() && !open.texts.contains_key(document);
    let texts: Vec<usize> = documents.iter().copied().filter(known).collect();
    if !texts.is_empty() {
        effects.push(Effect::Texts(open.info.key, texts));
    }
    // A call that was missing or failed when it was loaded may have been made since, during a run.
    let stale = |index: &usize| -> Option<BattleId> {
        let record = open.view.rows().battles.get(*index)?;
        let loaded = open.votes.get(&record.battle.id);
        let has = |judge: JudgeId, voted: bool| {
            loaded
                .into_iter()
                .flatten()
                .any(|detail| detail.judge == judge && detail.result.is_ok() == voted)
        };
        let fresh = loaded.is_some()
            && record.votes.iter().all(|vote| has(vote.judge, true))
            && record.failed.iter().all(|judge| has(*judge, false));
        (!fresh).then_some(record.battle.id)
    };
    let votes: Vec<BattleId> = battles.iter().filter_map(stale).collect();
    if !votes.is_empty() {
        let judges = open.judges.iter().map(|(judge, _)| *judge).collect();
        effects.push(Effect::Votes(open.info.key, votes, judges));
    }
    effects
}

/// Asks whether to stop judges that are being asked questions outside a run.
pub fn stop_questions(model: &mut Model) {
    if let Some((set, _)) = &model.questions.going {
        let question = format!(
            "Every answer so far is kept. Stop asking for {}?",
            set.noun()
        );
        model.confirm("Stop asking", &question, ConfirmFor::StopQuestions);
    }
}

impl Model {
    /// Stores a draft reason for the decision on screen until it is made; an empty one removes it.
    pub(crate) fn set_draft(&mut self, text: &str) -> Vec<Effect> {
        let Some(subject) = self.subject() else {
            return Vec::new();
        };
        let note = Some(text.trim().to_owned()).filter(|note| !note.is_empty());
        let before = match &note {
            Some(note) => self.drafts.insert(subject.clone(), note.clone()),
            None => self.drafts.remove(&subject),
        };
        if before == note {
            Vec::new()
        } else {
            vec![Effect::Draft(subject, note)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_with_the_pages_around_it_once() {
        let read = |known: &[usize]| unread(0..100, (50, 10), |row| known.contains(row));
        assert_eq!(read(&[]), (30..70).collect::<Vec<_>>());
        let near: Vec<usize> = (40..60).collect();
        assert!(read(&near).is_empty(), "what is in sight is known");
        let but_one: Vec<usize> = (30..69).filter(|row| *row != 41).collect();
        assert_eq!(read(&but_one), [41, 69]);
    }
}
