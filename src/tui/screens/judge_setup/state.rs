//! State of judge set-up.

use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::judge_history::SetAsideJudge;
use crate::app::init::setup::{Candidate, JudgeSetup};
use crate::app::judge_check::TestCall;
use crate::tui::model::Model;
use std::collections::HashMap;

/// The consequences of asking the chosen judges, for the project.
#[derive(Debug)]
pub(super) struct Outlook {
    pub(super) estimate: CostEstimate,
    pub(super) set_aside: Vec<SetAsideJudge>,
    /// The judges whose keys are not set.
    pub(super) missing: Vec<String>,
}

/// A test call.
#[derive(Debug)]
pub(super) enum TestState {
    Calling,
    Answered(TestCall),
}

#[derive(Debug, Default)]
pub(crate) struct SetupState {
    /// The judges that were found; `None` while they are being looked for.
    pub(super) setup: Option<Box<JudgeSetup>>,
    /// Why they cannot be set up here.
    pub(super) problem: Option<String>,
    /// Index of the row under the cursor; the last row adds a judge.
    pub(super) cursor: usize,
    /// Test calls by candidate.
    pub(super) tests: HashMap<usize, TestState>,
    /// The consequences of asking the chosen judges, for the project.
    pub(super) outlook: Option<Outlook>,
    /// Whether saving would change the file.
    pub(super) is_changed: bool,
    /// Whether the line that is typed contains settings.
    pub(super) edits_settings: bool,
    /// Whether the person waits for the file to be written.
    pub(super) is_saving: bool,
}

impl SetupState {
    /// The judge under the cursor.
    pub(super) fn selected(&self) -> Option<&Candidate> {
        self.setup.as_ref()?.candidates.get(self.cursor)
    }

    /// Number of rows, with the one that adds a judge.
    pub(super) fn rows(&self) -> usize {
        let candidates = self.setup.as_ref().map(|setup| setup.candidates.len());
        candidates.map_or(0, |candidates| candidates + 1)
    }
}

impl Model {
    pub(super) fn judge_setup(&self) -> &SetupState {
        self.state()
    }

    pub(super) fn judge_setup_mut(&mut self) -> &mut SetupState {
        self.state_mut()
    }
}
