//! State of the student screen: the students, the current figure, and the selected group of
//! battles.

use crate::app::error::AppError;
use crate::features::student::app::{ReportedBattle, StepReport, StudentReport, StudentsFound};
use crate::features::student::domain::figure::{Figure, FigureGroup, groups};
use crate::tui::model::Model;

/// Name under which a student trained on the screen is stored.
pub(super) const TRAINED: &str = "trained";

#[derive(Debug, Default)]
pub struct StudentState {
    /// The result, or why there is none; `None` while it is being computed.
    pub found: Option<Result<Box<StudentsFound>, AppError>>,
    /// Index of the checkpoint.
    pub step: usize,
    pub figure: Figure,
    /// The groups of the figure, and the one under the cursor.
    pub groups: Vec<FigureGroup>,
    pub cursor: usize,
    /// The battles of that group by row, largest difference from the prediction first, and the one
    /// under the cursor.
    pub battles: Vec<usize>,
    pub battle_cursor: usize,
}

impl Model {
    pub(crate) fn student(&self) -> &StudentState {
        self.state()
    }

    pub(crate) fn student_mut(&mut self) -> &mut StudentState {
        self.state_mut()
    }
}

impl StudentState {
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

    /// Recomputes the groups of the current figure, keeping the cursor if possible.
    pub(crate) fn regroup(&mut self) {
        let groups = self
            .step()
            .map_or_else(Vec::new, |step| groups(&step.figures, self.figure));
        let selected = self.group().map(|group| group.place);
        let place = groups
            .iter()
            .position(|group| Some(group.place) == selected);
        let last = groups.len().saturating_sub(1);
        self.cursor = place.unwrap_or(self.cursor.min(last));
        self.groups = groups;
        self.sort_battles();
    }

    /// The battles of the selected group, largest difference from the student's prediction first.
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
        let selected = self.battles.get(self.battle_cursor);
        let place = rows.iter().position(|row| Some(row) == selected);
        let last = rows.len().saturating_sub(1);
        self.battle_cursor = place.unwrap_or(self.battle_cursor.min(last));
        self.battles = rows;
    }
}
