//! State of a participant's duel: the tasks, the answers, and the events being written.

mod cards;
mod chooser;
mod clock;
mod reading;

pub use cards::{Card, TaskCards};
pub use chooser::DuelChooser;
pub use clock::ActiveClock;
pub use reading::{Reading, shown_passage};

use crate::domain::corpus::DocId;
use crate::features::duel::app::DuelSession;
use crate::features::duel::domain::{
    Action, Answer, Content, DuelEvent, DuelForm, Passage, Task, TaskKey, answers_of,
};
use crate::tui::model::Model;
use std::collections::{BTreeMap, HashSet};

/// Number of columns and rows of a grid.
pub const GRID: usize = 3;

/// State of the duel screen.
#[derive(Debug, Default)]
pub enum DuelPhase {
    #[default]
    Loading,
    /// A duel can be created.
    Choosing(DuelChooser),
    /// It cannot be opened, with the reason.
    Failed(String),
    Open(Box<OpenDuel>),
}

#[derive(Debug, Default)]
pub struct DuelState {
    pub state: DuelPhase,
    /// Whether another duel is being created although there is one.
    pub another: bool,
    /// Number of the last event sent to the disk.
    pub serial: u64,
}

impl DuelState {
    pub fn open(&self) -> Option<&OpenDuel> {
        match &self.state {
            DuelPhase::Open(open) => Some(open),
            _ => None,
        }
    }

    pub fn open_mut(&mut self) -> Option<&mut OpenDuel> {
        match &mut self.state {
            DuelPhase::Open(open) => Some(open),
            _ => None,
        }
    }
}

impl Model {
    pub(crate) fn duel(&self) -> &DuelState {
        self.state()
    }

    pub(crate) fn duel_mut(&mut self) -> &mut DuelState {
        self.state_mut()
    }
}

/// Answers by task.
type Answers = BTreeMap<TaskKey, Answer>;

#[derive(Debug)]
pub struct OpenDuel {
    /// The state on disk.
    pub session: DuelSession,
    /// Events being written, each with its number, in order.
    pub pending: Vec<(u64, DuelEvent)>,
    /// The answers on disk.
    stored: Answers,
    /// The answers including events being written.
    answers: Answers,
    /// Index of the current task among those of the session.
    pub task: usize,
    /// Position of the cursor, from 0; for two lists, within the list of the cursor's side.
    pub cursor: usize,
    /// The list with the cursor: 0 left, 1 right.
    pub side: usize,
    /// Selected row in the list of tasks; `None` while the list is hidden.
    pub tasks_cursor: Option<usize>,
    pub paused: bool,
    /// The texts of recently used tasks.
    pub cards: BTreeMap<usize, TaskCards>,
    /// The document whose text is open.
    pub reading: Option<Reading>,
    pub clock: ActiveClock,
    /// Undos that can be redone, latest last.
    pub undone: Vec<String>,
    /// Number of events on disk when the duel was opened.
    pub before: usize,
}

impl OpenDuel {
    /// Starts at the first task that is not done.
    pub fn new(session: DuelSession) -> Self {
        let before = session.events.len();
        let mut open = Self {
            session,
            pending: Vec::new(),
            stored: Answers::new(),
            answers: Answers::new(),
            task: 0,
            cursor: 0,
            side: 0,
            tasks_cursor: None,
            paused: false,
            cards: BTreeMap::new(),
            reading: None,
            clock: ActiveClock::default(),
            undone: Vec::new(),
            before,
        };
        open.refresh();
        let tasks = open.session.tasks.iter();
        let undone = tasks.take_while(|task| open.is_done(task)).count();
        open.task = if undone < open.session.tasks.len() {
            undone
        } else {
            0
        };
        open
    }

    /// Recomputes the answers.
    pub fn refresh(&mut self) {
        self.stored = answers_of(&self.session.events);
        self.answers = if self.pending.is_empty() {
            self.stored.clone()
        } else {
            let pending = self.pending.iter().map(|(_, event)| event.clone());
            let all: Vec<DuelEvent> = self.session.events.iter().cloned().chain(pending).collect();
            answers_of(&all)
        };
    }

    pub fn form(&self) -> DuelForm {
        self.session.duel.form
    }

    pub fn current(&self) -> Option<&Task> {
        self.session.tasks.get(self.task)
    }

    /// The answer to the current task, whether stored or being written.
    pub fn answer(&self) -> Option<&Answer> {
        self.answers.get(&self.current()?.key)
    }

    /// The stored part of that answer.
    pub fn stored_answer(&self) -> Option<&Answer> {
        self.stored.get(&self.current()?.key)
    }

    /// Whether a task is done according to the disk.
    pub fn is_done(&self, task: &Task) -> bool {
        self.stored
            .get(&task.key)
            .is_some_and(|answer| answer.finished)
    }

    /// Whether a task was begun and not finished.
    pub fn is_begun(&self, task: &Task) -> bool {
        self.stored
            .get(&task.key)
            .is_some_and(|answer| !answer.finished && is_answer(answer))
    }

    /// Number of tasks that are done according to the disk.
    pub fn done(&self) -> usize {
        self.session
            .tasks
            .iter()
            .filter(|task| self.is_done(task))
            .count()
    }

    pub fn all_done(&self) -> bool {
        !self.session.tasks.is_empty() && self.done() == self.session.tasks.len()
    }

    /// Whether the person has seen the result, including events being written.
    pub fn has_seen_result(&self) -> bool {
        let pending = self.pending.iter().map(|(_, event)| event);
        self.session
            .events
            .iter()
            .chain(pending)
            .any(|event| event.action == Action::Reveal)
    }

    /// Whether the task can be finished: there is a choice, a preference, or the answer that none
    /// serves.
    pub fn is_answered(&self) -> bool {
        self.answer().is_some_and(is_answer)
    }

    /// The next task that is not done, starting from the current one; whether or not it is stored.
    pub fn next_undone(&self) -> Option<usize> {
        let count = self.session.tasks.len();
        let done = |at: &usize| {
            let task = self.session.tasks.get(*at);
            let answer = task.and_then(|task| self.answers.get(&task.key));
            answer.is_some_and(|answer| answer.finished)
        };
        (1..count)
            .map(|step| (self.task + step) % count)
            .find(|at| !done(at))
    }

    /// Number of positions in the grid or list with the cursor.
    pub fn places(&self) -> usize {
        match self.current().map(|task| &task.content) {
            None => 0,
            Some(Content::Places(places)) => places.len(),
            Some(Content::Lists { lists, .. }) => lists.get(self.side).map_or(0, Vec::len),
        }
    }

    /// The index of a position among the task's cards.
    pub fn card_index(&self, side: usize, place: usize) -> usize {
        match self.current().map(|task| &task.content) {
            Some(Content::Lists { lists, .. }) if side > 0 => {
                lists.first().map_or(0, Vec::len) + place
            }
            _ => place,
        }
    }

    /// The texts of the current task, once they are loaded.
    pub fn task_cards(&self) -> Option<&TaskCards> {
        self.cards.get(&self.task)
    }

    /// The card under the cursor.
    pub fn card(&self) -> Option<&Card> {
        let at = self.card_index(self.side, self.cursor);
        self.task_cards()?.cards.get(at)
    }

    /// The choice of a document; `None` if it is not chosen.
    pub fn choice(&self, document: &Option<DocId>) -> Option<Choice> {
        let now = self.answer()?.selected.get(document)?;
        let stored = self
            .stored_answer()
            .and_then(|answer| answer.selected.get(document));
        Some(Choice {
            passage: *now,
            stored: stored == Some(now),
        })
    }

    /// The latest stored answer that was not undone, with its identifier.
    pub fn last_decision(&self) -> Option<&DuelEvent> {
        let mut taken: HashSet<&str> = HashSet::new();
        for event in self.session.events.iter().rev() {
            if taken.contains(event.uid.as_str()) {
                continue;
            }
            match &event.action {
                Action::Undo { of } => drop(taken.insert(of)),
                action if action.decides() => return Some(event),
                _ => {}
            }
        }
        None
    }
}

/// The choice of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `None` for the whole text.
    pub passage: Option<Passage>,
    /// Whether it is on disk.
    pub stored: bool,
}

fn is_answer(answer: &Answer) -> bool {
    !answer.selected.is_empty() || answer.none_serves || answer.preference.is_some()
}
