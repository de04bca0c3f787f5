//! The choice of two rankings and a form for a new duel.

use crate::app::text_format::counted;
use crate::features::duel::app::{DuelRankings, DuelRequest};
use crate::features::duel::domain::DuelForm;

#[derive(Clone, Debug, PartialEq)]
pub struct DuelChooser {
    /// The project's rankings.
    pub rankings: DuelRankings,
    /// Whether the project already has a duel.
    pub another: bool,
    /// Index of the ranking under the cursor.
    pub cursor: usize,
    /// The rankings to compare, A first; they differ.
    pub sides: [Option<usize>; 2],
    pub form: DuelForm,
    /// Whether the duel is being created.
    pub making: bool,
    /// Why it could not be created.
    pub failed: Option<String>,
}

impl DuelChooser {
    /// Starts with the two rankings that differ most: people learn nothing from a duel of nearly
    /// identical lists.
    pub fn new(rankings: DuelRankings, another: bool) -> Self {
        let farthest = rankings.farthest();
        let only = (rankings.names.len() == 1).then_some(0);
        Self {
            sides: [farthest.map(|(a, _)| a).or(only), farthest.map(|(_, b)| b)],
            rankings,
            another,
            cursor: 0,
            form: DuelForm::Grid,
            making: false,
            failed: None,
        }
    }

    /// Selects the ranking under the cursor for one side; if it is on the other side, the two are
    /// swapped.
    pub fn take(&mut self, side: usize) {
        let before = self.sides[side];
        if self.sides[1 - side] == Some(self.cursor) {
            self.sides[1 - side] = before;
        }
        self.sides[side] = Some(self.cursor);
        self.failed = None;
    }

    /// Describes the difference between the tops of the two chosen rankings.
    pub fn difference_words(&self) -> Option<String> {
        let [a, b] = self.sides;
        let (a, b) = (a?, b?);
        Some(match self.rankings.between(a, b) {
            None => "A and B have no query in common".to_owned(),
            Some(of) => format!(
                "the top {} of A and B differs by {:.2} (0: same order, 1: nothing in common; {})",
                self.rankings.top,
                of.distance,
                counted(of.queries, "query")
            ),
        })
    }

    /// Selects the next or the previous form.
    pub fn turn_form(&mut self, forward: bool) {
        let all = DuelForm::ALL;
        let here = all.iter().position(|form| *form == self.form).unwrap_or(0);
        let step = if forward { 1 } else { all.len() - 1 };
        self.form = all[(here + step) % all.len()];
    }

    /// The request for the chosen duel; `None` if a ranking is missing.
    pub fn request(&self, seed: u64) -> Option<DuelRequest> {
        let [a, b] = self.sides.map(|side| self.rankings.names.get(side?));
        Some(DuelRequest::new([a?.clone(), b?.clone()], self.form, seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> DuelChooser {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let rankings = DuelRankings {
            names,
            ..DuelRankings::default()
        };
        DuelChooser::new(rankings, false)
    }

    #[test]
    fn a_ranking_is_never_both_sides() {
        let mut chooser = of(&["x", "y", "z"]);
        let request = |chooser: &DuelChooser| {
            let request = chooser.request(3).unwrap();
            (request.a, request.b)
        };
        assert_eq!(request(&chooser), ("x".to_owned(), "y".to_owned()));
        chooser.take(1);
        assert_eq!(request(&chooser), ("y".to_owned(), "x".to_owned()));
        let words = chooser.difference_words();
        assert_eq!(words.as_deref(), Some("A and B have no query in common"));
        chooser.cursor = 2;
        chooser.take(1);
        assert_eq!(request(&chooser), ("y".to_owned(), "z".to_owned()));
        let only = of(&["x"]);
        assert_eq!(only.request(3), None);
    }

    #[test]
    fn forms_go_round() {
        let mut chooser = of(&[]);
        let forms: Vec<DuelForm> = (0..3)
            .map(|_| {
                chooser.turn_form(true);
                chooser.form
            })
            .collect();
        assert_eq!(
            forms,
            [DuelForm::Lists, DuelForm::Interleaved, DuelForm::Grid]
        );
        chooser.turn_form(false);
        assert_eq!(chooser.form, DuelForm::Interleaved);
        assert_eq!(chooser.request(0), None);
    }
}
