//! The students of the project, the figure on screen, and the group of battles under the cursor.

use crate::app::student::{ReportedBattle, StepReport, StudentReport, StudentsFound};
use crate::domain::student::figure::{Figure, FigureGroup, groups};
use crate::tui::model::report_request::ReportRequest;

#[derive(Debug, Default)]
pub struct StudentScreen {
    /// What was found, or why nothing was; `None` while it is worked out.
    pub found: Option<Result<Box<StudentsFound>, String>>,
    /// What was asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    /// Whether that is still waited for.
    pub request: ReportRequest,
    /// Which checkpoint.
    pub step: usize,
    pub figure: Figure,
    /// The groups of the figure, and the one under the cursor.
    pub groups: Vec<FigureGroup>,
    pub cursor: usize,
    /// The battles of that group by their rows, the farthest from what was expected first, and the one under the cursor.
    pub battles: Vec<usize>,
    pub battle_cursor: usize,
}

impl StudentScreen {
    pub(crate) fn names(&self) -> &[String] {
        let found = self.found.as_ref().and_then(|found| found.as_ref().ok());
        found.map_or(&[], |found| &found.names)
    }

    pub(crate) fn report(&self) -> Option<&StudentReport> {
        self.found.as_ref()?.as_ref().ok()?.report.as_ref()
    }

    pub(crate) fn step(&self) -> Option<&StepReport> {
        let steps = &self.report()?.steps;
        steps.get(self.step.min(steps.len().saturating_sub(1)))
    }

    pub(crate) fn group(&self) -> Option<&FigureGroup> {
        self.groups.get(self.cursor)
    }

    pub(crate) fn battle(&self, at: usize) -> Option<&ReportedBattle> {
        self.step()?.battles.get(*self.battles.get(at)?)
    }

    /// Works out the groups of the figure on screen; the cursor stays where that is possible.
    pub(crate) fn regroup(&mut self) {
        let groups = self
            .step()
            .map_or_else(Vec::new, |step| groups(&step.figures, self.figure));
        self.cursor = self.cursor.min(groups.len().saturating_sub(1));
        self.groups = groups;
        self.sort_battles();
    }

    /// The battles of the group under the cursor, the farthest from what the student expected first.
    pub(crate) fn sort_battles(&mut self) {
        let mut rows = self
            .group()
            .map_or_else(Vec::new, |group| group.rows.clone());
        if let Some(step) = self.step() {
            let distance = |at: &usize| {
                let row = step.figures.rows.get(*at);
                row.map_or(0.0, |row| (row.expected() - row.score).abs())
            };
            rows.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
        }
        self.battle_cursor = self.battle_cursor.min(rows.len().saturating_sub(1));
        self.battles = rows;
    }
}
