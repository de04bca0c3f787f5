//! Requests to the project on behalf of a screen.

use super::job::{Job, JobContext, Request};
use super::message::Effect;
use super::model::human_label::HumanLabel;
use super::model::open_query::OpenQuery;
use super::model::{ConfirmFor, Model};
use crate::client::lock;
use crate::domain::battle::BattleId;
use crate::domain::vote::JudgeId;
use crate::registry;
use crate::store::corpus::QueryKey;
use crate::store::vote_details::VoteDetail;
use crate::store::{Db, Result};
use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, PartialEq)]
pub(crate) struct ReadTexts {
    pub(crate) key: QueryKey,
    pub(crate) documents: Vec<usize>,
}

impl Request for ReadTexts {
    type Answer = Vec<(usize, Arc<str>)>;

    fn answer(self, db: &mut Db, _: &JobContext) -> Result<Self::Answer> {
        let read = |at| Ok((at, db.document_text(self.key, at)?));
        self.documents.into_iter().map(read).collect()
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct ReadVotes {
    pub(crate) key: QueryKey,
    pub(crate) battles: Vec<BattleId>,
    pub(crate) judges: Vec<JudgeId>,
}

impl Request for ReadVotes {
    type Answer = Vec<(BattleId, Vec<VoteDetail>)>;

    fn answer(self, db: &mut Db, context: &JobContext) -> Result<Self::Answer> {
        let mut reasoning = lock(context.reasoning());
        self.battles
            .into_iter()
            .map(|battle| {
                let votes = reasoning.battle_votes(db, self.key, battle, &self.judges)?;
                Ok((battle, votes))
            })
            .collect()
    }
}

/// A query without texts and votes.
pub(crate) fn read_query(db: &Db, key: QueryKey) -> Result<OpenQuery> {
    let view = db.view(key)?;
    // Prepared here, so that no frame waits for it.
    view.prepare_matrix();
    let mut students = Vec::new();
    for read in registry::PREDICTIONS {
        students.extend(read(db, key)?);
    }
    let (info, documents) = (db.query(key)?, db.documents(key)?);
    Ok(OpenQuery {
        labels: HumanLabel::read_all(db, &info.id, &documents)?,
        info,
        documents,
        judges: db.judges_of(key)?,
        view,
        students,
        people: db.people(key)?,
        proposals: registry::proposed_verdicts(db, key)?,
        texts: HashMap::new(),
        votes: HashMap::new(),
    })
}

fn read_texts(key: QueryKey, documents: Vec<usize>) -> Effect {
    let then = move |model: &mut Model, found| model.show_texts(key, found);
    Job::read(ReadTexts { key, documents }, then).into()
}

fn read_votes(key: QueryKey, battles: Vec<BattleId>, judges: Vec<JudgeId>) -> Effect {
    let request = ReadVotes {
        key,
        battles,
        judges,
    };
    Job::read(request, move |model, votes| {
        if let Some(open) = model.open.as_mut().filter(|open| open.info.key == key) {
            open.votes.extend(votes);
        }
        Vec::new()
    })
    .into()
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
            .take(cursor.min(reach) + reach)
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
        effects.push(read_texts(open.info.key, texts));
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
        effects.push(read_votes(open.info.key, votes, judges));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_with_the_pages_around_it_once() {
        let first = |known: &[usize]| unread(0..100, (0, 10), |row| known.contains(row));
        assert_eq!(first(&[]), (0..20).collect::<Vec<_>>());
        assert!(first(&(0..10).collect::<Vec<_>>()).is_empty());
        let read = |known: &[usize]| unread(0..100, (50, 10), |row| known.contains(row));
        assert_eq!(read(&[]), (30..70).collect::<Vec<_>>());
        let near: Vec<usize> = (40..60).collect();
        assert!(read(&near).is_empty(), "what is in sight is known");
        let but_one: Vec<usize> = (30..69).filter(|row| *row != 41).collect();
        assert_eq!(read(&but_one), [41, 69]);
    }
}
