//! The finished tasks of all participants, with the credit that they give to each ranking.

use super::{
    Answer, Content, Duel, DuelForm, DuelQuery, Place, Side, Task, TaskKey, TaskKind, schedule,
};
use crate::domain::corpus::DocId;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// A participant's number in the duel and answers.
#[derive(Clone, Debug)]
pub struct Participant {
    pub name: String,
    /// From 0, in the order of joining.
    pub number: usize,
    pub answers: BTreeMap<TaskKey, Answer>,
}

/// Where the chosen documents came from: counts over all finished judgments of queries. Nothing is
/// chosen in the form of lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Credit {
    pub a_only: usize,
    pub b_only: usize,
    pub both: usize,
    pub neither: usize,
}

impl Credit {
    pub fn chosen(&self) -> usize {
        self.a_only + self.b_only + self.both + self.neither
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            a_only: self.a_only + other.a_only,
            b_only: self.b_only + other.b_only,
            both: self.both + other.both,
            neither: self.neither + other.neither,
        }
    }
}

/// A finished task.
pub(super) struct Judgment<'a> {
    pub kind: TaskKind,
    /// Index of the query in the duel.
    pub query: usize,
    /// Index of the participant.
    pub participant: usize,
    pub answer: &'a Answer,
    content: Content,
    pub credit: Credit,
    /// From −1 (all credit to B) to 1 (all credit to A).
    pub preference: f64,
}

impl Judgment<'_> {
    /// The documents shown, from the first position, and whether each was chosen. Empty in the form
    /// of lists.
    pub fn shown(&self) -> impl Iterator<Item = (&Option<DocId>, bool)> {
        let places: &[Place] = match &self.content {
            Content::Places(places) => places,
            Content::Lists { .. } => &[],
        };
        let chosen = |place: &Place| self.answer.selected.contains_key(&place.document);
        places
            .iter()
            .map(move |place| (&place.document, chosen(place)))
    }

    /// The preferred list, in the form of lists: `Some(0)` left, `Some(1)` right; `None` for
    /// neither.
    pub fn preferred_list(&self) -> Option<usize> {
        match self.answer.preference.map(i8::signum) {
            Some(-1) => Some(0),
            Some(1) => Some(1),
            _ => None,
        }
    }

    pub fn better(&self) -> Option<Side> {
        side_of(self.preference)
    }
}

/// The ranking favored by a preference.
pub(super) fn side_of(preference: f64) -> Option<Side> {
    // Means of thirds and ninths may not be exactly 0.
    match preference {
        _ if preference > 1e-12 => Some(Side::A),
        _ if preference < -1e-12 => Some(Side::B),
        _ => None,
    }
}

/// All finished tasks, by query, then by participant. Skips answers to tasks that the participant
/// does not have, and comparisons of lists without a preference.
pub(super) fn judgments<'a>(duel: &Duel, participants: &'a [Participant]) -> Vec<Judgment<'a>> {
    let places = duel.queries.iter().enumerate();
    let places: HashMap<_, _> = places
        .map(|(at, query)| (&query.query, (at, query)))
        .collect();
    let mut found = Vec::new();
    for (participant, of) in participants.iter().enumerate() {
        for Task { key, content } in schedule(duel, of.number) {
            let answer = of.answers.get(&key).filter(|answer| answer.finished);
            let (Some(answer), Some((query, on))) = (answer, places.get(&key.query)) else {
                continue;
            };
            if duel.form == DuelForm::Lists && answer.preference.is_none() {
                continue;
            }
            let credit = credit(on, &content, answer);
            found.push(Judgment {
                kind: key.kind,
                query: *query,
                participant,
                answer,
                preference: preference(&content, answer, credit),
                content,
                credit,
            });
        }
    }
    found.sort_by_key(|one| (one.query, one.participant));
    found
}

/// Number of [`judgments`] of queries, the tasks that count in the result.
pub fn judgment_count(duel: &Duel, participants: &[Participant]) -> usize {
    let answers = participants.iter().flat_map(|one| &one.answers);
    let counts = |(key, answer): &(&TaskKey, &Answer)| {
        let says = duel.form != DuelForm::Lists || answer.preference.is_some();
        key.kind == TaskKind::Query && answer.finished && says
    };
    answers.filter(counts).count()
}

fn credit(query: &DuelQuery, content: &Content, answer: &Answer) -> Credit {
    let mut credit = Credit::default();
    let Content::Places(places) = content else {
        return credit;
    };
    let chosen = places
        .iter()
        .filter(|place| answer.selected.contains_key(&place.document));
    for place in chosen {
        let same = |id: &DocId| query.documents.iter().find(|one| one.document == *id);
        let ranks = || {
            place
                .document
                .as_ref()
                .and_then(same)
                .map(|one| query.came_from(one))
        };
        let from = match place.team {
            Some(Side::A) => Some((true, false)),
            Some(Side::B) => Some((false, true)),
            None => ranks(),
        };
        match from {
            Some((true, false)) => credit.a_only += 1,
            Some((false, true)) => credit.b_only += 1,
            Some((true, true)) => credit.both += 1,
            Some((false, false)) => credit.neither += 1,
            // The instruction of an attention task.
            None => {}
        }
    }
    credit
}

fn preference(content: &Content, answer: &Answer, credit: Credit) -> f64 {
    match content {
        Content::Places(_) => {
            let more = credit.a_only as f64 - credit.b_only as f64;
            more / credit.chosen().max(1) as f64
        }
        Content::Lists { left, .. } => {
            let right = f64::from(answer.preference.unwrap_or(0)) / 2.0;
            match left {
                Side::A => 0.0 - right,
                Side::B => right,
            }
        }
    }
}
