use super::*;
use crate::features::duel::domain::{DuelDocument, Source};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A duel with this many queries of nine documents each: four of A, four of B, drafted in turn, and
/// a negative.
pub(in crate::features::duel::domain) fn duel(form: DuelForm, queries: usize, seed: u64) -> Duel {
    let query = |at: usize| {
        let document = |turn: usize| {
            let rank = Some(turn / 2 + 1);
            let (source, rank_a, rank_b) = match turn {
                8 => (Source::EasyNegative, Some(40), Some(50)),
                _ if turn.is_multiple_of(2) => (Source::TopOfA, rank, Some(20 + turn)),
                _ => (Source::TopOfB, None, rank),
            };
            DuelDocument {
                document: DocId::new(format!("q{at}d{turn}")),
                source,
                rank_a,
                rank_b,
            }
        };
        DuelQuery {
            query: QueryId::new(format!("q{at}")),
            documents: (0..9).map(document).collect(),
            depth: 4,
            shortfall: String::new(),
        }
    };
    Duel {
        form,
        a: "bm25".to_owned(),
        b: "hybrid".to_owned(),
        top: 4,
        seed,
        controls: true,
        level: 1,
        queries: (0..queries).map(query).collect(),
    }
}

fn documents(content: &Content) -> Vec<Option<&DocId>> {
    match content {
        Content::Places(places) => places.iter().map(|one| one.document.as_ref()).collect(),
        Content::Lists { lists, .. } => lists.iter().flatten().map(Some).collect(),
    }
}

fn task<'a>(tasks: &'a [Task], kind: TaskKind, query: &QueryId) -> Option<&'a Task> {
    tasks
        .iter()
        .find(|task| task.key.kind == kind && task.key.query == *query)
}

fn form() -> impl Strategy<Value = DuelForm> {
    prop::sample::select(DuelForm::ALL.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn each_query_comes_once_and_controls_after_it(
        form in form(), queries in 0usize..45, seed in 0u64..1_000, participant in 0usize..30,
    ) {
        let duel = duel(form, queries, seed);
        let tasks = schedule(&duel, participant);
        prop_assert_eq!(&tasks, &schedule(&duel, participant));
        let of_kind = |kind: TaskKind| -> Vec<&TaskKey> {
            tasks.iter().map(|task| &task.key).filter(|key| key.kind == kind).collect()
        };
        let keys: BTreeSet<&TaskKey> = tasks.iter().map(|task| &task.key).collect();
        prop_assert_eq!(keys.len(), tasks.len());
        prop_assert_eq!(of_kind(TaskKind::Query).len(), queries);
        let blocks = if queries < CONTROLS_FROM { 0 } else { queries.div_ceil(10) };
        for kind in [TaskKind::Repeat, TaskKind::SameLists, TaskKind::Attention] {
            let none = form == DuelForm::Lists && kind == TaskKind::Attention;
            prop_assert_eq!(of_kind(kind).len(), if none { 0 } else { blocks });
        }
        let place = |key: &TaskKey| tasks.iter().position(|task| task.key == *key);
        for key in keys.iter().filter(|key| key.kind != TaskKind::Query) {
            let first = TaskKey { kind: TaskKind::Query, query: key.query.clone() };
            prop_assert!(place(key) >= place(&first).map(|first| first + CONTROL_GAP));
        }
        let without = Duel { controls: false, ..duel };
        prop_assert_eq!(schedule(&without, participant).len(), queries);
    }

    #[test]
    fn a_control_is_what_it_says(seed in 0u64..200, participant in 0usize..30) {
        let duel = duel(DuelForm::Grid, 10, seed);
        let tasks = schedule(&duel, participant);
        for query in &duel.queries {
            let first = task(&tasks, TaskKind::Query, &query.query).unwrap();
            let all: BTreeSet<Option<&DocId>> = query.documents.iter().map(|one| Some(&one.document)).collect();
            let shown = |task: &Task| documents(&task.content).into_iter().map(|one| one.cloned()).collect::<Vec<_>>();
            prop_assert_eq!(documents(&first.content).into_iter().collect::<BTreeSet<_>>(), all);
            for kind in [TaskKind::Repeat, TaskKind::SameLists, TaskKind::Attention] {
                let Some(control) = task(&tasks, kind, &query.query) else { continue };
                let moved = shown(first).into_iter().zip(shown(control)).all(|(x, y)| x != y);
                prop_assert!(moved);
                let requests = shown(control).iter().filter(|one| one.is_none()).count();
                prop_assert_eq!(requests, usize::from(kind == TaskKind::Attention));
                let Content::Places(places) = &control.content else { unreachable!() };
                let of = |side| places.iter().filter(|one| one.team == Some(side)).count();
                let dealt = if kind == TaskKind::SameLists { 4 } else { 0 };
                prop_assert_eq!((of(Side::A), of(Side::B)), (dealt, dealt));
            }
        }
    }

    #[test]
    fn teams_draft_in_turn(seed in 0u64..200, participant in 0usize..30) {
        let duel = Duel { top: 8, ..duel(DuelForm::Interleaved, 12, seed) };
        for query in &duel.queries {
            let teams = |participant, kind| -> Vec<Place> {
                let tasks = schedule(&duel, participant);
                match task(&tasks, kind, &query.query).map(|task| task.content.clone()) {
                    Some(Content::Places(places)) => places,
                    _ => Vec::new(),
                }
            };
            let places = teams(participant, TaskKind::Query);
            prop_assert_eq!(places.len(), 8);
            for round in places.chunks(2) {
                prop_assert_ne!(round[0].team, round[1].team);
            }
            // The other participant of a pair has the opposite coins, and so has a repeat.
            let other = teams(participant ^ 1, TaskKind::Query);
            let repeat = teams(participant, TaskKind::Repeat);
            for (place, other) in places.iter().zip(other.iter()).chain(places.iter().zip(repeat.iter())) {
                prop_assert_ne!(place.team, other.team);
            }
            let same = teams(participant, TaskKind::SameLists);
            let ranks: Vec<usize> = same.iter().map(|place| {
                let found = query.documents.iter().find(|one| Some(&one.document) == place.document.as_ref()).unwrap();
                found.rank_b.filter(|rank| *rank <= 4).or(found.rank_a).unwrap()
            }).collect();
            prop_assert!(ranks.is_sorted());
        }
    }
}

#[test]
fn nine_participants_see_every_document_of_nine_queries_once_in_every_place() {
    let duel = duel(DuelForm::Grid, 9, 5);
    let mut of_query: BTreeMap<(DocId, usize), usize> = BTreeMap::new();
    for participant in 0..9 {
        let mut of_participant = BTreeSet::new();
        for task in schedule(&duel, participant) {
            if task.key.kind == TaskKind::Query {
                for (place, document) in documents(&task.content).into_iter().enumerate() {
                    let document = document.unwrap().clone();
                    // The turn in which it was chosen.
                    let turn = document.as_str().chars().last();
                    assert!(of_participant.insert((turn, place)));
                    *of_query.entry((document, place)).or_default() += 1;
                }
            }
        }
        assert_eq!(of_participant.len(), 81);
    }
    assert!(of_query.len() == 9 * 81 && of_query.values().all(|times| *times == 1));
}

#[test]
fn a_is_on_the_left_for_half_of_the_queries_and_half_of_the_participants() {
    let duel = duel(DuelForm::Lists, 10, 2);
    let left = |participant: usize| -> BTreeMap<TaskKey, Side> {
        let tasks = schedule(&duel, participant).into_iter();
        tasks
            .filter_map(|task| match task.content {
                Content::Lists { left, lists } => {
                    let other_lists = task.key.kind == TaskKind::SameLists;
                    assert_eq!(lists[0] == lists[1], other_lists);
                    Some((task.key, left))
                }
                Content::Places(_) => None,
            })
            .collect()
    };
    let (even, odd) = (left(0), left(1));
    let queries = |of: &BTreeMap<TaskKey, Side>, side| {
        of.iter()
            .filter(|(key, _)| key.kind == TaskKind::Query)
            .filter(|(_, left)| **left == side)
            .count()
    };
    assert_eq!((queries(&even, Side::A), queries(&odd, Side::A)), (5, 5));
    for (key, side) in &even {
        let first = TaskKey {
            kind: TaskKind::Query,
            query: key.query.clone(),
        };
        match key.kind {
            TaskKind::Query => assert_eq!(odd[key], side.other()),
            TaskKind::Repeat => assert_eq!(even[&first], side.other()),
            TaskKind::SameLists | TaskKind::Attention => {}
        }
    }
}
