//! The tasks of a participant: the order of the queries and the layout of each task.

use super::design::row_of;
use super::lists::list_of;
use super::{Duel, DuelForm, DuelQuery, Side};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::named::named;
use crate::domain::sampling::SeededRng;
use std::collections::HashMap;

named! {
    "a kind of task", "kebab-case";
    /// The purpose of a task.
    pub enum TaskKind {
        /// A query of the duel. Only these count in the result.
        Query,
        /// A query that the participant has already judged, with another layout: is the answer
        /// consistent?
        Repeat,
        /// Two identical lists: credit must be even.
        SameLists,
        /// One document is replaced by an instruction to choose it and no other. Not in the form of
        /// lists.
        Attention,
    }
}

/// Identifies a task: a participant has at most one of each kind per query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskKey {
    pub kind: TaskKind,
    pub query: QueryId,
}

/// The content of one position of a grid or list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// `None` for the instruction of an attention task.
    pub document: Option<DocId>,
    /// The ranking credited with a selection if the task decides that instead of the ranks: the
    /// team in an interleaved list, or the list that the document was assigned to in a task of
    /// [`TaskKind::SameLists`].
    pub team: Option<Side>,
}

/// The content shown to a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Grid: up to nine places, row by row. Interleaved: from the top.
    Places(Vec<Place>),
    /// Two lists, the left one first.
    Lists {
        /// The ranking on the left.
        left: Side,
        lists: [Vec<DocId>; 2],
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub key: TaskKey,
    pub content: Content,
}

/// Minimum number of queries in a duel with controls.
pub const CONTROLS_FROM: usize = 5;

/// One control of each kind per this many queries, rounded up.
const CONTROL_BLOCK: usize = 10;

/// Minimum number of tasks between a query and its control.
const CONTROL_GAP: usize = 3;

/// The tasks of the participant with this number (from 0, in the order of joining), in the order in
/// which they are offered. Always the same for the same duel and number.
///
/// Each participant has a different order of queries. If the duel has controls and at least
/// [`CONTROLS_FROM`] queries, there is one control of each kind per ten queries (rounded up), on a
/// query that came at least [`CONTROL_GAP`] tasks earlier.
pub fn schedule(duel: &Duel, participant: usize) -> Vec<Task> {
    let mut rng = SeededRng::new(duel.seed, &["duel", "order", &participant.to_string()]);
    let mut order: Vec<usize> = (0..duel.queries.len()).collect();
    rng.shuffle(&mut order);
    let with_controls = duel.controls && order.len() >= CONTROLS_FROM;
    let kinds: &[TaskKind] = match (with_controls, duel.form) {
        (false, _) => &[],
        (true, DuelForm::Lists) => &[TaskKind::Repeat, TaskKind::SameLists],
        (true, DuelForm::Grid | DuelForm::Interleaved) => {
            &[TaskKind::Repeat, TaskKind::SameLists, TaskKind::Attention]
        }
    };
    let layout = Layout::new(duel, participant);
    let tasks = mixed(&order, kinds, &mut rng).into_iter();
    tasks
        .filter_map(|(kind, at)| {
            let query = duel.queries.get(at)?;
            Some(Task {
                key: TaskKey {
                    kind,
                    query: query.query.clone(),
                },
                content: layout.content(kind, at, query),
            })
        })
        .collect()
}

/// The queries in this order, interspersed with controls.
fn mixed(order: &[usize], kinds: &[TaskKind], rng: &mut SeededRng) -> Vec<(TaskKind, usize)> {
    let mut tasks: Vec<(TaskKind, usize)> = Vec::new();
    // The controls on each query.
    let mut given: Vec<Vec<TaskKind>> = vec![Vec::new(); order.len()];
    for block in order.chunks(CONTROL_BLOCK) {
        let begin = tasks.len();
        tasks.extend(block.iter().map(|query| (TaskKind::Query, *query)));
        let mut kinds = kinds.to_vec();
        rng.shuffle(&mut kinds);
        for kind in kinds {
            let last = (tasks.len() + 1).saturating_sub(CONTROL_GAP);
            let queries = tasks.iter().take(last).enumerate();
            let queries = queries.filter(|(_, (other, _))| *other == TaskKind::Query);
            // Queries with the fewest controls and none of this kind.
            let free = queries
                .filter_map(|(at, (_, query))| Some((given.get(*query)?, at, *query)))
                .filter(|(controls, ..)| !controls.contains(&kind))
                .map(|(controls, at, query)| (controls.len(), at, query));
            let free: Vec<(usize, usize, usize)> = free.collect();
            let fewest = free.iter().map(|(controls, ..)| *controls).min();
            let free: Vec<_> = free.iter().filter(|one| Some(one.0) == fewest).collect();
            let Some((_, at, query)) = free.get(rng.below(free.len())) else {
                continue;
            };
            let earliest = begin.max(at + CONTROL_GAP);
            let place = earliest + rng.below(tasks.len() + 1 - earliest);
            tasks.insert(place, (kind, *query));
            if let Some(controls) = given.get_mut(*query) {
                controls.push(kind);
            }
        }
    }
    tasks
}

/// Builds what one participant sees in the tasks of a duel.
struct Layout<'a> {
    duel: &'a Duel,
    participant: usize,
    /// The number of each query among the duel's queries with the same number of documents.
    numbers: Vec<usize>,
    /// Random shift of the designs, the same for all participants.
    offset: usize,
}

impl<'a> Layout<'a> {
    fn new(duel: &'a Duel, participant: usize) -> Self {
        let sizes: Vec<usize> = duel.queries.iter().map(|one| one.documents.len()).collect();
        let mut counts: HashMap<usize, usize> = HashMap::new();
        let number = |size: usize| {
            let count = counts.entry(size).or_default();
            *count += 1;
            *count - 1
        };
        Self {
            numbers: sizes.into_iter().map(number).collect(),
            offset: SeededRng::new(duel.seed, &["duel", "design"]).below(1_000),
            duel,
            participant,
        }
    }

    fn rng(&self, purpose: &str, participant: usize, query: &QueryId) -> SeededRng {
        let participant = participant.to_string();
        let purpose = ["duel", purpose, &participant, query.as_str()];
        SeededRng::new(self.duel.seed, &purpose)
    }

    fn content(&self, kind: TaskKind, at: usize, query: &DuelQuery) -> Content {
        match self.duel.form {
            DuelForm::Grid => Content::Places(self.grid(kind, at, query)),
            DuelForm::Lists => self.lists(kind, at, query),
            DuelForm::Interleaved => Content::Places(self.interleaved(kind, query)),
        }
    }

    fn grid(&self, kind: TaskKind, at: usize, query: &DuelQuery) -> Vec<Place> {
        let size = query.documents.len();
        let mut rng = self.rng(kind.name(), self.participant, &query.query);
        let number = self.numbers.get(at).copied().unwrap_or(0);
        let shift = match kind {
            TaskKind::Query => 0,
            _ => 1 + rng.below(size.saturating_sub(1)),
        };
        let row = row_of(
            size,
            self.participant,
            number,
            self.offset % size.max(1) + shift,
        );
        let mut places: Vec<Place> = query.documents.iter().map(place_of).collect();
        match kind {
            TaskKind::Query | TaskKind::Repeat => {}
            TaskKind::SameLists => deal(&mut places, query, &mut rng),
            TaskKind::Attention => ask_for_attention(&mut places, &mut rng),
        }
        row.into_iter()
            .filter_map(|at| places.get(at).cloned())
            .collect()
    }

    /// A is on the left for half of the participants of a query, and for half of the queries of a
    /// participant.
    fn lists(&self, kind: TaskKind, at: usize, query: &DuelQuery) -> Content {
        let a_left = (self.participant + at + self.offset).is_multiple_of(2);
        // A repeat swaps the lists.
        let a_left = a_left != (kind == TaskKind::Repeat);
        let left = if a_left { Side::A } else { Side::B };
        let mut sides = [left, left.other()];
        if kind == TaskKind::SameLists {
            let mut rng = self.rng(kind.name(), self.participant, &query.query);
            sides = [if rng.below(2) == 0 { Side::A } else { Side::B }; 2];
        }
        let lists = sides.map(|side| list_of(query, side).into_iter().cloned().collect());
        Content::Lists { left, lists }
    }

    /// Team draft (Radlinski, Kurup & Joachims 2008): in each round, each list adds its best
    /// document that is not yet included, in an order decided by a coin toss. Two consecutive
    /// participants have opposite coins, and so have a query and its repeat.
    fn interleaved(&self, kind: TaskKind, query: &DuelQuery) -> Vec<Place> {
        let mut rng = self.rng("draft", self.participant / 2, &query.query);
        let turned = self.participant.is_multiple_of(2) != (kind == TaskKind::Repeat);
        let mut lists = [list_of(query, Side::A), list_of(query, Side::B)];
        if kind == TaskKind::SameLists {
            let only = rng.below(2);
            lists = [lists[only].clone(), lists[only].clone()];
        }
        let mut places: Vec<Place> = Vec::new();
        while places.len() < self.duel.top {
            let before = places.len();
            let b_first = (rng.below(2) == 1) != turned;
            for of_b in [b_first, !b_first] {
                let list = &lists[usize::from(of_b)];
                let known = |id: &DocId| places.iter().any(|one| one.document.as_ref() == Some(id));
                let next = list.iter().find(|id| !known(id)).copied().cloned();
                if let Some(document) = next.filter(|_| places.len() < self.duel.top) {
                    places.push(Place {
                        document: Some(document),
                        team: Some(if of_b { Side::B } else { Side::A }),
                    });
                }
            }
            if places.len() == before {
                break;
            }
        }
        if kind == TaskKind::Attention {
            let mut rng = self.rng(kind.name(), self.participant, &query.query);
            ask_for_attention(&mut places, &mut rng);
        }
        places
    }
}

fn place_of(found: &super::DuelDocument) -> Place {
    Place {
        document: Some(found.document.clone()),
        team: None,
    }
}

/// Deals the documents of a grid to two lists, as if both had ranked them in the order in which
/// they were chosen: a coin decides which list gets which document of each two. The easy negative
/// belongs to neither.
fn deal(places: &mut [Place], query: &DuelQuery, rng: &mut SeededRng) {
    let drafted = query
        .documents
        .iter()
        .take_while(|one| one.source != super::Source::EasyNegative);
    let drafted = drafted.count().min(places.len());
    for pair in places[..drafted].chunks_mut(2) {
        let mut side = if rng.below(2) == 0 { Side::A } else { Side::B };
        for place in pair {
            place.team = Some(side);
            side = side.other();
        }
    }
}

/// Replaces one document with the instruction.
fn ask_for_attention(places: &mut [Place], rng: &mut SeededRng) {
    let at = rng.below(places.len());
    if let Some(place) = places.get_mut(at) {
        (place.document, place.team) = (None, None);
    }
}

#[cfg(test)]
pub(super) mod tests;
