//! Results of the control tasks: repeats, identical lists and attention.

use super::judgments::{Judgment, Participant};
use super::{DuelForm, Side, TaskKind};
use serde::Serialize;

/// Results of a participant's control tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControlResult {
    pub participant: String,
    /// Finished judgments of queries.
    pub judgments: usize,
    /// How many of them were given or changed after the participant had seen the result.
    pub after_reveal: usize,
    /// Finished repeats whose first task was finished, too.
    pub repeats: usize,
    /// Documents (or preferences) judged again in those, and how many got the same judgment.
    pub repeated: usize,
    pub repeated_same: usize,
    /// Finished tasks with two identical lists, and the credit of each list in them: chosen
    /// documents, or judgments in which it was preferred.
    pub same_lists: usize,
    pub same_lists_a: usize,
    pub same_lists_b: usize,
    /// Finished attention tasks, and those in which the instruction was followed.
    pub attention: usize,
    pub attention_passed: usize,
}

/// The control results of every participant, in order.
pub(super) fn control_results(
    form: DuelForm,
    participants: &[Participant],
    on_queries: &[&Judgment<'_>],
    controls: &[&Judgment<'_>],
) -> Vec<ControlResult> {
    let of = |(at, participant): (usize, &Participant)| {
        let own = on_queries.iter().filter(|one| one.participant == at);
        let own: Vec<&Judgment<'_>> = own.copied().collect();
        let mut result = ControlResult {
            participant: participant.name.clone(),
            judgments: own.len(),
            after_reveal: own.iter().filter(|one| one.answer.after_reveal).count(),
            repeats: 0,
            repeated: 0,
            repeated_same: 0,
            same_lists: 0,
            same_lists_a: 0,
            same_lists_b: 0,
            attention: 0,
            attention_passed: 0,
        };
        for one in controls.iter().filter(|one| one.participant == at) {
            let first = own.iter().find(|first| first.query == one.query);
            result.add(form, one, first.copied());
        }
        result
    };
    participants.iter().enumerate().map(of).collect()
}

impl ControlResult {
    /// Adds a control, given the judgment of the query itself.
    fn add(&mut self, form: DuelForm, control: &Judgment<'_>, first: Option<&Judgment<'_>>) {
        match (control.kind, first) {
            (TaskKind::Repeat, Some(first)) => {
                self.repeats += 1;
                if form == DuelForm::Lists {
                    self.repeated += 1;
                    self.repeated_same += usize::from(control.better() == first.better());
                }
                for (document, chosen) in control.shown() {
                    let before = first.shown().find(|(before, _)| *before == document);
                    self.repeated += usize::from(before.is_some());
                    self.repeated_same += usize::from(before.is_some_and(|(_, was)| was == chosen));
                }
            }
            (TaskKind::SameLists, _) => {
                self.same_lists += 1;
                if form == DuelForm::Lists {
                    self.same_lists_a += usize::from(control.better() == Some(Side::A));
                    self.same_lists_b += usize::from(control.better() == Some(Side::B));
                } else {
                    self.same_lists_a += control.credit.a_only;
                    self.same_lists_b += control.credit.b_only;
                }
            }
            (TaskKind::Attention, _) => {
                let chosen = &control.answer.selected;
                let passed = chosen.len() == 1 && chosen.contains_key(&None);
                self.attention += 1;
                self.attention_passed += usize::from(passed);
            }
            (TaskKind::Query | TaskKind::Repeat, _) => {}
        }
    }
}
