//! Concludes whether the judge or the search system has changed.

use super::{JudgeCheck, SystemChange};
use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftConclusion {
    /// The judge has not changed so far, nor has the system, if it was compared.
    Unchanged,
    JudgeChanged,
    /// The system has changed, and the judge has not.
    SystemChanged,
    NotEnough,
}

impl DriftConclusion {
    pub fn words(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged so far",
            Self::JudgeChanged => "the judge changed",
            Self::SystemChanged => "the system changed",
            Self::NotEnough => "not enough to tell",
        }
    }
}

/// The conclusion from all checks of a judge, the latest last; `None` stands for one without answers.
/// `is_open`: whether answers of the latest round are missing, or another model has answered since.
///
/// Only the judge can move its answers about frozen pairs. A difference of two rankings is
/// attributed to the system only if the latest check excludes a change of the judge.
pub fn conclude(
    checks: &[Option<JudgeCheck>],
    is_open: bool,
    system: Option<&SystemChange>,
) -> DriftConclusion {
    if checks.iter().flatten().any(JudgeCheck::shows_change) {
        return DriftConclusion::JudgeChanged;
    }
    let latest = checks.last().and_then(Option::as_ref);
    if is_open || !latest.is_some_and(JudgeCheck::excludes_change) {
        return DriftConclusion::NotEnough;
    }
    if system.is_some_and(SystemChange::shows_change) {
        DriftConclusion::SystemChanged
    } else {
        DriftConclusion::Unchanged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::vote::Outcome;
    use crate::features::drift::domain::ReferencedAnswer;
    use rstest::rstest;

    /// A check of 100 pairs with this number of turned answers.
    fn check(number: usize, pairs: usize, turned: usize) -> Option<JudgeCheck> {
        let answers: Vec<ReferencedAnswer> = (0..pairs)
            .map(|at| ReferencedAnswer {
                reference: [Outcome::A; 2],
                answer: if at < turned { Outcome::B } else { Outcome::A },
            })
            .collect();
        JudgeCheck::of(number, &answers)
    }

    #[rstest]
    #[case::no_check(&[], DriftConclusion::NotEnough, DriftConclusion::NotEnough)]
    #[case::few_pairs(&[(10, 0)], DriftConclusion::NotEnough, DriftConclusion::NotEnough)]
    #[case::same(&[(100, 0)], DriftConclusion::Unchanged, DriftConclusion::SystemChanged)]
    #[case::latest_without_answers(&[(100, 0), (0, 0)], DriftConclusion::NotEnough,
        DriftConclusion::NotEnough)]
    #[case::turned(&[(100, 30)], DriftConclusion::JudgeChanged, DriftConclusion::JudgeChanged)]
    #[case::turned_and_back(&[(100, 30), (100, 0)], DriftConclusion::JudgeChanged,
        DriftConclusion::JudgeChanged)]
    fn a_difference_of_rankings_is_the_systems_only_if_the_judge_is_unchanged(
        #[case] checks: &[(usize, usize)],
        #[case] alone: DriftConclusion,
        #[case] with_difference: DriftConclusion,
    ) {
        let checks: Vec<Option<JudgeCheck>> = (1..)
            .zip(checks)
            .map(|(number, (pairs, turned))| check(number, *pairs, *turned))
            .collect();
        let none = SystemChange::of(&[0.0; 50]).unwrap();
        let some = SystemChange::of(&[0.4; 50]).unwrap();
        assert_eq!(conclude(&checks, false, None), alone);
        assert_eq!(conclude(&checks, false, Some(&none)), alone);
        assert_eq!(conclude(&checks, false, Some(&some)), with_difference);
        // While a check is open, nothing is excluded.
        let open = if alone == DriftConclusion::JudgeChanged {
            alone
        } else {
            DriftConclusion::NotEnough
        };
        assert_eq!(conclude(&checks, true, Some(&some)), open);
    }
}
