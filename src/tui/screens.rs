//! The screens: their names, their keys, and a folder for each.

pub(crate) mod adjudication;
pub(crate) mod battle;
pub(crate) mod cycles;
pub(crate) mod document;
pub(crate) mod judges;
pub(crate) mod matrix;
pub(crate) mod queries;
pub(crate) mod queue;
pub(crate) mod registry;
pub(crate) mod review;
pub(crate) mod ruling;
pub(crate) mod run;
pub(crate) mod spec;
#[cfg(test)]
pub(crate) mod testing;

use super::keymap::binding::Binding;

/// A screen by its name; [`registry::spec`] says what it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Screen {
    #[default]
    Queries,
    /// The run that is going on.
    Run,
    /// The K×K matrix of a query.
    Matrix,
    /// One document and its battles.
    Document,
    /// Two documents side by side.
    Battle,
    /// Which pairs to look at first.
    Queue,
    /// A pair of the queue, judged blind first.
    Review,
    Judges,
    /// Battles of a query that contradict each other.
    Cycles,
    /// Picks against labels.
    Adjudication,
    /// A document on which pick and label disagree, ruled on blind first.
    Ruling,
}

impl Screen {
    /// In the order of the printed key tables.
    pub const ALL: [Self; 11] = [
        Self::Queries,
        Self::Run,
        Self::Matrix,
        Self::Document,
        Self::Battle,
        Self::Queue,
        Self::Review,
        Self::Judges,
        Self::Cycles,
        Self::Adjudication,
        Self::Ruling,
    ];

    /// Its name in the header, the heading of its key table, and its keys.
    fn entry(self) -> (&'static str, &'static str, &'static [Binding]) {
        match self {
            Self::Queries => ("queries", "Queries", queries::keys::KEYS),
            Self::Run => ("run", "Run", run::keys::KEYS),
            Self::Matrix => ("matrix", "Matrix", matrix::keys::KEYS),
            Self::Document => ("document", "Document", document::keys::KEYS),
            Self::Battle => ("battle", "Battle", battle::keys::KEYS),
            Self::Queue => ("queue", "Queue", queue::keys::KEYS),
            Self::Review => ("review", "Review", review::keys::KEYS),
            Self::Judges => ("judges", "Judges", judges::keys::KEYS),
            Self::Cycles => ("cycles", "Cycles", cycles::keys::KEYS),
            Self::Adjudication => ("adjudication", "Adjudication", adjudication::keys::KEYS),
            Self::Ruling => ("ruling", "Ruling", ruling::keys::KEYS),
        }
    }

    pub fn name(self) -> &'static str {
        self.entry().0
    }

    pub fn heading(self) -> &'static str {
        self.entry().1
    }

    pub(crate) fn keys(self) -> &'static [Binding] {
        self.entry().2
    }
}
