//! The names of the screens.

use super::binding::Binding;
use super::screens;

/// The name of a screen; `registry::spec` defines its behavior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Screen {
    #[default]
    Queries,
    Run,
    Matrix,
    Document,
    /// Two documents side by side.
    Battle,
    /// The pairs to judge, in order of priority.
    Queue,
    /// A pair of the queue, judged blind first.
    Review,
    Judges,
    /// Comparison of reranking methods.
    Methods,
    /// Two rankings of a query side by side.
    Rankings,
    /// Evaluation of a student of the ensemble.
    Student,
    /// The battles behind a part of a student's figure.
    StudentBattles,
    /// Cycles: battles of a query that contradict each other.
    Cycles,
    /// Why one document is ranked above another.
    Comparison,
    /// Comparison of picks and labels.
    Adjudication,
    /// A document on which pick and label disagree, ruled on blind first.
    Ruling,
    /// Two rankings, for a person who does not know which is which.
    Duel,
    /// A document of a duel in full, with a marked passage.
    Passage,
}

impl Screen {
    /// In the order of the printed key tables.
    pub const ALL: [Self; 18] = [
        Self::Queries,
        Self::Run,
        Self::Matrix,
        Self::Document,
        Self::Battle,
        Self::Queue,
        Self::Review,
        Self::Judges,
        Self::Methods,
        Self::Rankings,
        Self::Student,
        Self::StudentBattles,
        Self::Cycles,
        Self::Comparison,
        Self::Adjudication,
        Self::Ruling,
        Self::Duel,
        Self::Passage,
    ];

    /// Its name in the header, the heading of its key table, and its keys.
    fn entry(self) -> (&'static str, &'static str, &'static [Binding]) {
        match self {
            Self::Queries => ("queries", "Queries", screens::QUERIES),
            Self::Run => ("run", "Run", screens::RUN),
            Self::Matrix => ("matrix", "Matrix", screens::MATRIX),
            Self::Document => ("document", "Document", screens::DOCUMENT),
            Self::Battle => ("battle", "Battle", screens::BATTLE),
            Self::Queue => ("queue", "Queue", screens::QUEUE),
            Self::Review => ("review", "Review", screens::REVIEW),
            Self::Judges => ("judges", "Judges", screens::JUDGES),
            Self::Methods => ("methods", "Methods", screens::METHODS),
            Self::Rankings => ("rankings", "Rankings", screens::RANKINGS),
            Self::Student => ("student", "Student", screens::STUDENT),
            Self::StudentBattles => ("battles", "Student battles", screens::STUDENT_BATTLES),
            Self::Cycles => ("cycles", "Cycles", screens::CYCLES),
            Self::Comparison => ("why", "Why", screens::COMPARISON),
            Self::Adjudication => ("adjudication", "Adjudication", screens::ADJUDICATION),
            Self::Ruling => ("ruling", "Ruling", screens::RULING),
            Self::Duel => ("duel", "Duel", screens::DUEL),
            Self::Passage => ("passage", "Passage", screens::PASSAGE),
        }
    }

    pub fn name(self) -> &'static str {
        self.entry().0
    }

    pub fn heading(self) -> &'static str {
        self.entry().1
    }

    pub(super) fn keys(self) -> &'static [Binding] {
        self.entry().2
    }
}
