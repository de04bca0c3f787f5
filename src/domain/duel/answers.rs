//! What a participant did, and what it comes to.

use super::{TaskKey, TaskKind};
use crate::domain::corpus::{DocId, QueryId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A stretch of a document's text, in characters from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    pub start: usize,
    /// The first character after it.
    pub end: usize,
}

/// One thing that a participant did in a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Opened a document's full text.
    Open { document: Option<DocId> },
    /// Closed it without a choice.
    Close { document: Option<DocId> },
    /// Chose a document, or marked another passage of it; `passage` is `None` for the whole text, `document` is `None` for
    /// the request of an attention task.
    Select {
        document: Option<DocId>,
        passage: Option<Passage>,
    },
    /// Took the choice of a document back.
    Unselect { document: Option<DocId> },
    /// None of them serves the query. Choices made before are gone.
    NoneServes,
    /// Which list is better, from -2 (the left one by far) to 2 (the right one by far).
    Prefer { step: i8 },
    /// The task is done; it can be changed afterwards.
    Finish,
    /// Left the task: for another, for a pause or for good.
    Leave,
    /// Saw the result: what the participant answers from then on, in any task, is not blind. It cannot be taken back.
    Reveal,
    /// Takes back the event of this uid, and with it an undo its event again (redo).
    Undo { of: String },
}

impl Action {
    /// Whether it is an answer, and can be taken back.
    pub fn decides(&self) -> bool {
        match self {
            Self::Select { .. }
            | Self::Unselect { .. }
            | Self::NoneServes
            | Self::Prefer { .. }
            | Self::Finish => true,
            Self::Open { .. }
            | Self::Close { .. }
            | Self::Leave
            | Self::Reveal
            | Self::Undo { .. } => false,
        }
    }
}

/// An action with its circumstances. Rows are only added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuelEvent {
    /// Globally unique; later ones are greater.
    pub uid: String,
    pub participant: String,
    pub kind: TaskKind,
    pub query: QueryId,
    pub action: Action,
    /// Active time in the task since the participant's event before, in milliseconds; idle time is left out.
    pub active_ms: i64,
    /// When, in milliseconds since the Unix epoch.
    pub created_ms: i64,
}

impl DuelEvent {
    pub fn task(&self) -> TaskKey {
        TaskKey {
            kind: self.kind,
            query: self.query.clone(),
        }
    }
}

/// What a participant's events on one task come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Documents chosen, with the passage marked; the key `None` is the request of an attention task.
    pub selected: BTreeMap<Option<DocId>, Option<Passage>>,
    /// Said that none serves.
    pub none_serves: bool,
    /// From -2 (left by far) to 2 (right by far).
    pub preference: Option<i8>,
    /// Documents whose full text was opened.
    pub opened: BTreeSet<DocId>,
    pub finished: bool,
    /// Active time, in milliseconds.
    pub active_ms: i64,
    /// When the task was first finished and when its answer last changed, in milliseconds since the Unix epoch.
    pub finished_ms: Option<i64>,
    pub changed_ms: i64,
    /// Whether it was given or changed after the participant had seen the result.
    pub after_reveal: bool,
}

/// One participant's answers, from the participant's events in the order of their uids.
///
/// An event that is taken back counts for nothing but its time, unless what took it back is itself taken back. An undo of an
/// event that is not there, or comes later, does nothing. What was answered after the first [`Action::Reveal`] is marked, and so
/// is an answer that was changed then.
pub fn answers_of(events: &[DuelEvent]) -> BTreeMap<TaskKey, Answer> {
    // From the last event: an undo counts if no later one that counts takes it back.
    let mut taken_back: BTreeSet<&str> = BTreeSet::new();
    for event in events.iter().rev() {
        if let Action::Undo { of } = &event.action
            && *of < event.uid
            && !taken_back.contains(event.uid.as_str())
        {
            taken_back.insert(of);
        }
    }
    let mut reveals = events.iter().filter(|event| event.action == Action::Reveal);
    let revealed = reveals.next().map(|event| event.uid.as_str());
    let mut answers: BTreeMap<TaskKey, Answer> = BTreeMap::new();
    for event in events {
        // Who sees the result elsewhere has not begun the task that the row names.
        if event.action == Action::Reveal && event.active_ms <= 0 {
            continue;
        }
        let answer = answers.entry(event.task()).or_default();
        answer.active_ms += event.active_ms.max(0);
        if !taken_back.contains(event.uid.as_str()) {
            answer.take(event);
            let after = |uid: &str| revealed.is_some_and(|revealed| uid > revealed);
            answer.after_reveal |= after(&event.uid)
                && match &event.action {
                    // What was answered after the result and taken back leaves no mark.
                    Action::Undo { of } => !after(of) && Some(of.as_str()) != revealed,
                    action => action.decides(),
                };
        }
    }
    for answer in answers.values_mut() {
        answer.finished &= answer.is_given();
    }
    answers
}

impl Answer {
    /// Whether something is said: a choice, that none serves, or a preference.
    pub fn is_given(&self) -> bool {
        !self.selected.is_empty() || self.none_serves || self.preference.is_some()
    }

    /// Takes in an event that counts.
    fn take(&mut self, event: &DuelEvent) {
        match &event.action {
            Action::Open { document } => {
                self.opened.extend(document.clone());
                return;
            }
            Action::Close { .. } | Action::Leave | Action::Reveal => return,
            Action::Select { document, passage } => {
                self.none_serves = false;
                self.selected.insert(document.clone(), *passage);
            }
            Action::Unselect { document } => {
                self.selected.remove(document);
            }
            Action::NoneServes => {
                self.selected.clear();
                self.none_serves = true;
            }
            Action::Prefer { step } => self.preference = Some((*step).clamp(-2, 2)),
            Action::Finish => {
                self.finished = true;
                self.finished_ms.get_or_insert(event.created_ms);
            }
            // What it takes back is left out; that changes the answer now.
            Action::Undo { .. } => {}
        }
        self.changed_ms = event.created_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn doc(name: &str) -> Option<DocId> {
        Some(DocId::new(name))
    }

    fn event(at: usize, action: Action) -> DuelEvent {
        DuelEvent {
            uid: format!("{at:04}"),
            participant: "ann".to_owned(),
            kind: TaskKind::Query,
            query: QueryId::new(if at.is_multiple_of(3) { "q1" } else { "q2" }),
            action,
            active_ms: 10,
            created_ms: 1_000 + at as i64,
        }
    }

    fn on_q1(actions: impl IntoIterator<Item = Action>) -> Answer {
        let events = actions.into_iter().enumerate();
        let events: Vec<DuelEvent> = events
            .map(|(at, action)| {
                let mut event = event(at, action);
                event.query = QueryId::new("q1");
                event
            })
            .collect();
        answers_of(&events).into_values().next().unwrap_or_default()
    }

    fn select(name: &str) -> Action {
        Action::Select {
            document: doc(name),
            passage: None,
        }
    }

    fn undo(at: usize) -> Action {
        Action::Undo {
            of: format!("{at:04}"),
        }
    }

    #[test]
    fn what_is_finished_and_then_taken_back_is_no_answer() {
        let answer = on_q1([
            select("a"),
            Action::Finish,
            Action::Unselect { document: doc("a") },
        ]);
        assert!(!answer.finished && !answer.is_given());
        let again = on_q1([
            select("a"),
            Action::Finish,
            Action::Unselect { document: doc("a") },
            select("b"),
        ]);
        assert!(again.finished && again.is_given());
    }

    #[test]
    fn choices_are_made_changed_and_taken_back() {
        let passage = Passage { start: 3, end: 9 };
        let marked = Action::Select {
            document: doc("a"),
            passage: Some(passage),
        };
        let answer = on_q1([
            Action::Open { document: doc("a") },
            select("a"),
            select("b"),
            marked,
            Action::Unselect { document: doc("b") },
            Action::Finish,
            Action::Leave,
        ]);
        assert_eq!(answer.selected, BTreeMap::from([(doc("a"), Some(passage))]));
        assert_eq!(answer.opened, BTreeSet::from([DocId::new("a")]));
        assert!(answer.finished && !answer.none_serves);
        assert_eq!(
            (answer.active_ms, answer.finished_ms, answer.changed_ms),
            (70, Some(1_005), 1_005)
        );
        let none = on_q1([select("a"), Action::NoneServes]);
        assert!(none.none_serves && none.selected.is_empty());
        let again = on_q1([Action::NoneServes, select("a")]);
        assert!(!again.none_serves && again.selected.len() == 1);
    }

    #[test]
    fn seeing_the_result_elsewhere_begins_no_task() {
        let mut seen = event(0, Action::Reveal);
        assert_eq!(answers_of(&[seen.clone()]).len(), 1);
        seen.active_ms = 0;
        assert_eq!(answers_of(&[seen]), BTreeMap::new());
    }

    #[test]
    fn an_undo_is_undone_by_another() {
        let chosen = |actions: &[Action]| on_q1(actions.to_vec()).selected.len();
        assert_eq!(chosen(&[select("a"), undo(0)]), 0);
        assert_eq!(chosen(&[select("a"), undo(0), undo(1)]), 1);
        assert_eq!(chosen(&[select("a"), undo(0), undo(1), undo(2)]), 0);
        // Both take it back; one of them is taken back.
        assert_eq!(chosen(&[select("a"), undo(0), undo(0), undo(1)]), 0);
        // Nothing is taken back before it is there.
        assert_eq!(chosen(&[undo(1), select("a"), undo(7)]), 1);
    }

    #[test]
    fn what_is_answered_or_changed_after_the_result_is_not_blind() {
        let marked = |actions: &[Action]| on_q1(actions.to_vec()).after_reveal;
        let given = [select("a"), Action::Finish];
        let with = |more: &[Action]| marked(&[&given[..], more].concat());
        assert!(!with(&[Action::Reveal]));
        assert!(!with(&[
            Action::Reveal,
            Action::Open { document: doc("b") },
            Action::Leave
        ]));
        assert!(with(&[Action::Reveal, select("b")]));
        assert!(marked(&[Action::Reveal, select("a"), Action::Finish]));
        // What is taken back again leaves the answer as blind as it was; a blind choice that is taken back does not.
        assert!(!with(&[Action::Reveal, select("b"), undo(3)]));
        assert!(with(&[Action::Reveal, undo(1)]));
        assert!(!with(&[Action::Reveal, undo(1), undo(3)]));
        assert!(
            with(&[Action::Reveal, undo(2), select("b")]),
            "what was seen stays seen"
        );
    }

    fn action() -> impl Strategy<Value = Action> {
        let document = || prop::option::of((0u8..3).prop_map(|at| DocId::new(at.to_string())));
        prop_oneof![
            (document(), prop::option::of(0usize..5)).prop_map(|(document, start)| {
                Action::Select {
                    document,
                    passage: start.map(|start| Passage {
                        start,
                        end: start + 2,
                    }),
                }
            }),
            document().prop_map(|document| Action::Unselect { document }),
            document().prop_map(|document| Action::Open { document }),
            Just(Action::NoneServes),
            Just(Action::Finish),
            Just(Action::Leave),
            Just(Action::Reveal),
            (-2i8..=2).prop_map(|step| Action::Prefer { step }),
            (0usize..12).prop_map(undo),
        ]
    }

    /// The answers without their times, empty ones left out.
    fn untimed(events: &[DuelEvent]) -> BTreeMap<TaskKey, Answer> {
        let mut answers = answers_of(events);
        for answer in answers.values_mut() {
            (answer.active_ms, answer.changed_ms) = (0, 0);
        }
        answers.retain(|_, answer| *answer != Answer::default());
        answers
    }

    proptest! {
        #[test]
        fn an_undo_gives_what_was_before_and_a_redo_what_was_after(
            actions in prop::collection::vec(action(), 0..12), next in action(),
        ) {
            let mut events: Vec<DuelEvent> =
                actions.into_iter().enumerate().map(|(at, action)| event(at, action)).collect();
            let before = untimed(&events);
            let at = events.len();
            events.push(event(at, next));
            let after = untimed(&events);
            events.push(event(at + 1, undo(at)));
            prop_assert_eq!(&untimed(&events), &before);
            events.push(event(at + 2, undo(at + 1)));
            prop_assert_eq!(&untimed(&events), &after);
        }

        #[test]
        fn no_time_is_lost(actions in prop::collection::vec(action(), 0..12)) {
            let events: Vec<DuelEvent> =
                actions.into_iter().enumerate().map(|(at, action)| event(at, action)).collect();
            let time: i64 = answers_of(&events).values().map(|answer| answer.active_ms).sum();
            prop_assert_eq!(time, 10 * events.len() as i64);
        }
    }
}
