//! Describes what a query's scores and intervals are based on.

use crate::app::text_format::counted;
use crate::domain::ranking::{ScoreWarning, verdict_rule_words};
use crate::tui::model::open_query::OpenQuery;

/// The coverage of the intervals, or why it is unknown.
fn reliability(open: &OpenQuery) -> String {
    let mut warnings = open.view.warnings.iter();
    match warnings.find(|warning| matches!(warning, ScoreWarning::ManyTies { .. })) {
        Some(warning) => format!("{}.", warning.words(|at| open.name(at))),
        None => "All intervals hold the true value in 95 of 100 cases.".to_owned(),
    }
}

/// One line per fact.
pub(super) fn text_of(open: &OpenQuery) -> String {
    let (view, settings) = (&open.view, open.view.settings);
    let (fought, battles) = view.progress();
    let votes: usize = view.rows().battles.iter().map(|one| one.votes.len()).sum();
    let judges = open.judges.len();
    let phi = match (settings.phi, settings.phi_battles) {
        (Some(_), Some(battles)) => {
            format!(
                "It is estimated from {} of these judges in the project.",
                counted(battles, "battle")
            )
        }
        (Some(_), None) => "It is set for this project.".to_owned(),
        (None, _) => {
            format!(
                "It is assumed to be one over the {}, until there are enough battles to estimate it.",
                counted(judges, "judge")
            )
        }
    };
    [
        format!(
            "{}; {} of them have a score.",
            counted(open.documents.len(), "document"),
            view.entered().len()
        ),
        format!(
            "{fought} of {} are judged, by {}.",
            counted(battles, "battle"),
            counted(votes, "vote")
        ),
        format!("The dispersion φ is {:.2}. {phi}", view.phi),
        "φ says how much a battle's score varies, in units of one coin flip: 1 for one coin, less \
         where several judges vote on \
         each battle. Intervals grow with its square root. Scores do not depend on it."
            .to_owned(),
        verdict_rule_words(&settings),
        reliability(open),
    ]
    .into_iter()
    .chain(
        view.student_in_fit()
            .map(|(student, share)| format!("The {}.", student.words(share))),
    )
    .chain(view.basis_note().map(|note| format!("The {note}.")))
    .collect::<Vec<_>>()
    .join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::screens::Screen;
    use crate::tui::screens::testing::model;

    #[test]
    fn the_dispersion_is_said_with_where_it_comes_from() {
        let mut open = model(Screen::MATRIX).open.unwrap();
        let words = text_of(&open);
        assert!(
            words.contains("φ is 0.33. It is assumed to be one over the 3 judges"),
            "{words}"
        );
        open.view.settings.phi = Some(0.4);
        open.view.settings.phi_battles = Some(2_400);
        assert!(text_of(&open).contains("estimated from 2,400 battles"));
    }
}
