//! Whatever two people do in two windows, in any order and with any clocks, nothing is lost and all
//! counts are consistent.

use super::bench::bench;
use crate::app::review::annotator_statistics::annotator_statistics;
use crate::app::review::review_queue::{QueueRequest, build_review_queue, judged_conflicts};
use crate::app::status::ProjectStatus;
use crate::domain::battle::{Pair, all_pairs};
use crate::domain::priority::{DrawReason, Policy};
use crate::domain::verdict::Decision;
use crate::store::assignments::NewAssignment;
use crate::store::corpus::QueryKey;
use crate::store::drafts::DecisionSubject;
use crate::store::verdicts::NewVerdict;
use crate::store::{Db, Store};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

const PEOPLE: [&str; 2] = ["ada", "eve"];
const DOCUMENTS: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Act {
    /// With the judges' votes visible, or for the queue.
    Judge(Decision, bool),
    Undo,
    Draft,
    Postpone,
    Restart,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    window: usize,
    person: usize,
    pair: Pair,
    act: Act,
    clock: i64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let decision = prop_oneof![Just(Decision::A), Just(Decision::B)];
    let act = prop_oneof![
        5 => (decision, any::<bool>()).prop_map(|(decision, queued)| Act::Judge(decision, queued)),
        2 => Just(Act::Undo),
        2 => Just(Act::Draft),
        1 => Just(Act::Postpone),
        1 => Just(Act::Restart),
    ];
    let pairs: Vec<Pair> = all_pairs(DOCUMENTS).collect();
    let step = (
        0..2_usize,
        0..2_usize,
        prop::sample::select(pairs),
        act,
        0..40_i64,
    )
        .prop_map(|(window, person, pair, act, clock)| Step {
            window,
            person,
            pair,
            act,
            clock,
        });
    prop::collection::vec(step, 1..14)
}

/// A verdict in the reference.
#[derive(Clone, Debug)]
struct Given {
    uid: String,
    person: usize,
    pair: Pair,
    decision: Decision,
    note: Option<String>,
    /// Index of the verdict that it replaces.
    replaces: Option<usize>,
    undone: bool,
}

/// People's actions, kept in memory.
#[derive(Clone, Debug, Default)]
struct Reference {
    given: Vec<Given>,
    drafts: HashMap<(usize, Pair), String>,
    postponed: HashSet<(usize, Pair)>,
}

impl Reference {
    /// Index of a person's verdict on a pair.
    fn own(&self, person: usize, pair: Pair) -> Option<usize> {
        self.given
            .iter()
            .rposition(|given| !given.undone && given.person == person && given.pair == pair)
    }

    fn judge(&mut self, uid: String, step: &Step, decision: Decision, queued: bool) {
        let (person, pair) = (step.person, step.pair);
        let note = self.drafts.remove(&(person, pair));
        let replaces = self
            .own(person, pair)
            .filter(|own| queued || (note.is_some() && self.given[*own].decision == decision));
        self.given.push(Given {
            uid,
            person,
            pair,
            decision,
            note,
            replaces,
            undone: false,
        });
    }

    fn undo(&mut self, person: usize) -> Option<String> {
        let latest = self
            .given
            .iter()
            .rposition(|given| !given.undone && given.person == person)?;
        let mut back = Some(latest);
        while let Some(at) = back {
            self.given[at].undone = true;
            back = self.given[at].replaces;
        }
        Some(self.given[latest].uid.clone())
    }

    /// Each person's decision on each pair.
    fn standing(&self) -> BTreeMap<(Pair, usize), Decision> {
        let given = self.given.iter().filter(|given| !given.undone);
        given
            .map(|given| ((given.pair, given.person), given.decision))
            .collect()
    }

    fn judged(&self) -> BTreeSet<Pair> {
        self.standing().keys().map(|(pair, _)| *pair).collect()
    }

    fn conflicts(&self) -> BTreeSet<Pair> {
        let standing = self.standing();
        let says = |pair, person| standing.get(&(pair, person));
        let pairs = self.judged().into_iter();
        pairs
            .filter(|pair| {
                says(*pair, 0)
                    .zip(says(*pair, 1))
                    .is_some_and(|(ada, eve)| ada != eve)
            })
            .collect()
    }
}

fn item() -> NewAssignment {
    NewAssignment {
        policy: Policy::default(),
        draw: DrawReason::Priority,
    }
}

fn act(db: &mut Db, query: QueryKey, step: &Step, reference: &mut Reference) {
    let annotator = PEOPLE[step.person];
    let subject = DecisionSubject::Pair(query, step.pair);
    match step.act {
        Act::Judge(decision, queued) => {
            let (a, b) = (step.pair.low(), step.pair.high());
            let verdict = NewVerdict {
                created_ms: step.clock,
                blind: queued,
                item: queued.then(item),
                ..NewVerdict::open(query, a, b, decision, annotator)
            };
            let uid = db.add_verdict(&verdict).unwrap();
            reference.judge(uid, step, decision, queued);
        }
        Act::Undo => {
            let undone = db.undo_verdict(annotator, step.clock).unwrap();
            let undone = undone.map(|stored| stored.verdict.uid);
            assert_eq!(undone, reference.undo(step.person));
        }
        Act::Draft => {
            let note = format!("at {}", step.clock);
            db.set_draft(annotator, &subject, Some(&note)).unwrap();
            reference.drafts.insert((step.person, step.pair), note);
        }
        Act::Postpone => {
            db.postpone(annotator, query, step.pair, &item(), step.clock)
                .unwrap();
            reference.postponed.insert((step.person, step.pair));
        }
        Act::Restart => {}
    }
}

/// Compares everything in the project with the reference.
fn compare(db: &Db, query: QueryKey, reference: &Reference) {
    let conflicts = reference.conflicts();
    let ever: Vec<_> = db.verdicts_ever(None).unwrap();
    let ever: Vec<_> = ever
        .into_iter()
        .map(|stored| (stored.verdict.uid, stored.verdict.note))
        .collect();
    let given = reference.given.iter();
    let given: Vec<_> = given
        .map(|given| (given.uid.clone(), given.note.clone()))
        .collect();
    assert_eq!(ever, given, "in the order in which they were given");
    let rows = db.verdict_rows(Some(query)).unwrap();
    assert_eq!(
        rows.len(),
        reference.given.iter().filter(|given| !given.undone).count()
    );
    let standing: BTreeMap<_, _> = db
        .standing_verdicts(None)
        .unwrap()
        .into_iter()
        .map(|stored| {
            let verdict = stored.verdict;
            let person = PEOPLE
                .iter()
                .position(|name| *name == verdict.annotator)
                .unwrap();
            (
                (Pair::new(verdict.a, verdict.b).unwrap(), person),
                verdict.decision,
            )
        })
        .collect();
    assert_eq!(standing, reference.standing());
    for (person, annotator) in PEOPLE.into_iter().enumerate() {
        let drafts: HashMap<_, _> = reference
            .drafts
            .iter()
            .filter(|((of, _), _)| *of == person)
            .map(|((_, pair), note)| (DecisionSubject::Pair(query, *pair), note.clone()))
            .collect();
        assert_eq!(db.drafts(annotator).unwrap(), drafts);
        let judged: HashSet<Pair> = standing
            .keys()
            .filter(|(_, of)| *of == person)
            .map(|(pair, _)| *pair)
            .collect();
        let by_both = conflicts
            .iter()
            .filter(|pair| judged.contains(pair))
            .count();
        assert_eq!(judged_conflicts(db, annotator, None).unwrap(), by_both);
        let statistics = annotator_statistics(db, annotator, None).unwrap();
        let blind = rows
            .iter()
            .filter(|row| row.blind && row.verdict.annotator == annotator);
        assert_eq!(statistics.judged, blind.count());
        let judged: BTreeSet<Pair> = judged.into_iter().collect();
        for conflicts_only in [true, false] {
            let listed = pairs_in_queue(db, annotator, conflicts_only);
            assert!(listed.is_disjoint(&judged), "{annotator}: {listed:?}");
        }
        let was_judged = |pair: Pair| {
            reference
                .given
                .iter()
                .any(|given| (given.person, given.pair) == (person, pair))
        };
        let waiting: BTreeSet<Pair> = reference
            .postponed
            .iter()
            .filter(|(of, pair)| *of == person && !was_judged(*pair))
            .map(|(_, pair)| *pair)
            .collect();
        let listed = pairs_in_queue(db, annotator, false);
        assert!(
            waiting.is_subset(&listed),
            "{annotator}: {waiting:?} {listed:?}"
        );
    }
    // Someone who has judged nothing may resolve every conflict.
    assert_eq!(pairs_in_queue(db, "kim", true), conflicts);
}

fn pairs_in_queue(db: &Db, annotator: &str, conflicts: bool) -> BTreeSet<Pair> {
    let request = QueueRequest {
        policy: Policy::default(),
        scope: None,
        only: None,
        annotator: annotator.to_owned(),
        seed: 0,
        limit: 100,
        gold: 0.0,
        overlap: 0.0,
        conflicts,
        against: None,
    };
    build_review_queue(db, &request)
        .unwrap()
        .iter()
        .map(|item| item.pair)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_that_people_did_is_lost_and_all_counts_agree(steps in steps()) {
        let bench = bench(&[DOCUMENTS]);
        let query = bench.keys[0];
        let open = || Store::open(bench.store.path()).unwrap();
        let mut windows = [open(), open()];
        let mut reference = Reference::default();
        for step in &steps {
            if matches!(step.act, Act::Restart) {
                windows[step.window] = open();
            }
            let (window, step) = (&windows[step.window], *step);
            let mut known = std::mem::take(&mut reference);
            reference = window
                .write_blocking(move |db| {
                    act(db, query, &step, &mut known);
                    Ok(known)
                })
                .unwrap();
        }
        for window in &windows {
            let status = ProjectStatus::read(window).unwrap();
            assert_eq!(status.verdicts, reference.judged().len());
            assert_eq!(status.conflicts, reference.conflicts().len());
            let known = reference.clone();
            window.read_blocking(move |db| {
                compare(db, query, &known);
                Ok(())
            }).unwrap();
        }
    }
}
