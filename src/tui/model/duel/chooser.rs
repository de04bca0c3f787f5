//! Two rankings and a form that a person chooses for a new duel.

use crate::app::duel::DuelRequest;
use crate::domain::duel::DuelForm;

#[derive(Clone, Debug, PartialEq)]
pub struct DuelChooser {
    /// The names of the project's rankings.
    pub rankings: Vec<String>,
    /// The ranking under the cursor.
    pub cursor: usize,
    /// The rankings that are held against each other, A first; they differ.
    pub sides: [Option<usize>; 2],
    pub form: DuelForm,
    /// Whether the duel is being made.
    pub making: bool,
    /// Why it could not be made.
    pub failed: Option<String>,
}

impl DuelChooser {
    /// With the first two rankings chosen.
    pub fn new(rankings: Vec<String>) -> Self {
        let there = |at: usize| (at < rankings.len()).then_some(at);
        Self {
            sides: [there(0), there(1)],
            rankings,
            cursor: 0,
            form: DuelForm::Grid,
            making: false,
            failed: None,
        }
    }

    /// Takes the ranking under the cursor as one side; where it was the other one, they change places.
    pub fn take(&mut self, side: usize) {
        let before = self.sides[side];
        if self.sides[1 - side] == Some(self.cursor) {
            self.sides[1 - side] = before;
        }
        self.sides[side] = Some(self.cursor);
        self.failed = None;
    }

    /// The next form, or the one before.
    pub fn turn_form(&mut self, forward: bool) {
        let all = DuelForm::ALL;
        let here = all.iter().position(|form| *form == self.form).unwrap_or(0);
        let step = if forward { 1 } else { all.len() - 1 };
        self.form = all[(here + step) % all.len()];
    }

    /// The duel that was chosen; `None` where one ranking is missing.
    pub fn request(&self, seed: u64) -> Option<DuelRequest> {
        let [a, b] = self.sides.map(|side| self.rankings.get(side?));
        Some(DuelRequest::new([a?.clone(), b?.clone()], self.form, seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_is_never_both_sides() {
        let mut chooser = DuelChooser::new(["x", "y", "z"].map(str::to_owned).to_vec());
        let request = |chooser: &DuelChooser| {
            let request = chooser.request(3).unwrap();
            (request.a, request.b)
        };
        assert_eq!(request(&chooser), ("x".to_owned(), "y".to_owned()));
        chooser.take(1);
        assert_eq!(request(&chooser), ("y".to_owned(), "x".to_owned()));
        chooser.cursor = 2;
        chooser.take(1);
        assert_eq!(request(&chooser), ("y".to_owned(), "z".to_owned()));
        let only = DuelChooser::new(vec!["x".to_owned()]);
        assert_eq!(only.request(3), None);
    }

    #[test]
    fn forms_go_round() {
        let mut chooser = DuelChooser::new(Vec::new());
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
