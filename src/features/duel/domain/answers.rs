//! Participants' events, and the answers computed from them.

use super::{TaskKey, TaskKind};
use crate::domain::corpus::{DocId, QueryId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A range of a document's text, in characters from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    pub start: usize,
    /// End of the range (exclusive).
    pub end: usize,
}

/// A participant's action in a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Opened a document's full text.
    Open { document: Option<DocId> },
    /// Closed it without choosing.
    Close { document: Option<DocId> },
    /// Chose a document, or marked another passage of it; `passage` is `None` for the whole text,
    /// `document` is `None` for the instruction of an attention task.
    Select {
        document: Option<DocId>,
        passage: Option<Passage>,
    },
    /// Withdrew the choice of a document.
    Unselect { document: Option<DocId> },
    /// None of the documents answers the query. Clears earlier choices.
    NoneServes,
    /// Which list is better, from -2 (left, by far) to 2 (right, by far).
    Prefer { step: i8 },
    /// Finished the task; it can still be changed.
    Finish,
    /// Left the task: for another one, for a break or for good.
    Leave,
    /// Saw the result: the participant's later answers, in any task, are not blind. Cannot be
    /// undone.
    Reveal,
    /// Undoes the event with this UID. Undoing an undo restores its event (redo).
    Undo { of: String },
}

impl Action {
    /// Whether it changes the answer and can be undone.
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

/// An action with its context. Rows are append-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuelEvent {
    /// Globally unique; later events have greater UIDs.
    pub uid: String,
    pub participant: String,
    pub kind: TaskKind,
    pub query: QueryId,
    pub action: Action,
    /// Active time in the task since the participant's previous event, in milliseconds, excluding
    /// idle time.
    pub active_ms: i64,
    /// Time of the event, in milliseconds since the Unix epoch.
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

/// A participant's answer to one task, computed from the events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Chosen documents with the marked passage; the key `None` is the instruction of an attention
    /// task.
    pub selected: BTreeMap<Option<DocId>, Option<Passage>>,
    /// Whether the participant said that no document answers the query.
    pub none_serves: bool,
    /// From -2 (left, by far) to 2 (right, by far).
    pub preference: Option<i8>,
    /// Documents whose full text was opened.
    pub opened: BTreeSet<DocId>,
    pub finished: bool,
    /// Active time, in milliseconds.
    pub active_ms: i64,
    /// When the task was first finished and when its answer last changed, in milliseconds since the
    /// Unix epoch.
    pub finished_ms: Option<i64>,
    pub changed_ms: i64,
    /// Whether it was given or changed after the participant had seen the result.
    pub after_reveal: bool,
}

/// Computes one participant's answers from the participant's events, sorted by UID.
///
/// An undone event contributes only its time, unless its undo is itself undone. Undoing an event
/// that does not exist or comes later has no effect. Answers given or changed after the first
/// [`Action::Reveal`] are marked.
pub fn answers_of(events: &[DuelEvent]) -> BTreeMap<TaskKey, Answer> {
    // Iterate from the last event: an undo is effective unless a later effective undo takes it
    // back.
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
        // A participant who sees the result elsewhere has not started the task named in the row.
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
                    // An answer given after the result and then undone leaves no mark.
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
    /// Whether there is an answer: a choice, that no document answers the query, or a preference.
    pub fn is_given(&self) -> bool {
        !self.selected.is_empty() || self.none_serves || self.preference.is_some()
    }

    /// Applies an event that is not undone.
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
            // The event that it undoes is already filtered out; the answer changes now.
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
        // Two undos of the same event, one of which is undone.
        assert_eq!(chosen(&[select("a"), undo(0), undo(0), undo(1)]), 0);
        // An event cannot be undone before it happens.
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
        // Undoing a choice made after the reveal leaves the answer blind; undoing a blind choice
        // does not.
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

    /// The answers without their times, excluding empty ones.
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
