//! Simulated duels between rankings whose difference in quality is known, with participants who
//! make errors.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::numeric::sigma;
use crate::domain::sampling::SeededRng;
use crate::features::duel::domain::{
    Answer, Content, Duel, DuelDocument, DuelEstimate, DuelForm, DuelQuery, Participant, Side,
    Source, Task, looks, result, schedule, sign_test,
};
use std::collections::HashMap;

/// Log-odds that a document is chosen, before effects of ranking, query and position.
const CHOICE: f64 = -0.5;

/// How much less an easy negative is chosen, in log-odds.
const NEGATIVE: f64 = 3.0;

/// Standard deviation of document quality in addition to the effect of the ranking, in log-odds.
const DOCUMENTS: f64 = 1.0;

/// Significance level of the tests at the end.
const ALPHA: f64 = 0.05;

/// Parameters of a duel: grids of nine documents, of which some came from one ranking, some from
/// both and one from none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedDuel {
    pub queries: usize,
    pub participants: usize,
    /// How much more likely a document of B is chosen than one of A, in log-odds; 0 if neither is
    /// better.
    pub effect: f64,
    /// Standard deviation of the effect over queries, in log-odds.
    pub query_effect: f64,
    /// How much more likely the first position of the grid is chosen than the last one, in
    /// log-odds.
    pub place_bias: f64,
}

/// The result of a simulated duel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuelPlay {
    /// The ranking named by the stopping rule if checked after every judgment, and the number of
    /// judgments by then.
    pub stopped: Option<(Side, usize)>,
    /// The ranking that a sign test at 5 % would have named if checked as often.
    pub peeked: Option<Side>,
    /// The rankings named by tests at 5 % at the end: sign test, permutation test.
    pub sign: Option<Side>,
    pub permutation: Option<Side>,
    pub preference: Option<DuelEstimate>,
    /// Whether the position test finds a bias at 5 %.
    pub places: bool,
}

impl SimulatedDuel {
    /// Runs the duel with this number. The result depends only on the seed and the number.
    pub fn play(&self, seed: u64, index: usize) -> DuelPlay {
        let index = index.to_string();
        let mut rng = SeededRng::new(seed, &["simulated duel", &index]);
        let duel = self.duel(rng.below(1 << 30) as u64);
        let liking = self.liking(&duel, &mut rng);
        let mut participants: Vec<Participant> = (0..self.participants)
            .map(|number| Participant {
                name: format!("p{number}"),
                number,
                answers: Default::default(),
            })
            .collect();
        // Each turn goes to a random participant, who does the next of their tasks.
        let mut tasks: Vec<_> = (0..self.participants)
            .map(|number| schedule(&duel, number).into_iter())
            .collect();
        for time in 0..self.queries * self.participants {
            let left: Vec<usize> = (0..tasks.len()).filter(|at| tasks[*at].len() > 0).collect();
            let at = left.get(rng.below(left.len())).copied().unwrap_or(0);
            let (Some(task), Some(who)) = (
                tasks.get_mut(at).and_then(Iterator::next),
                participants.get_mut(at),
            ) else {
                continue;
            };
            let answer = self.answer(&task, &liking, time as i64, &mut rng);
            who.answers.insert(task.key, answer);
        }
        self.outcome(&duel, &participants)
    }

    fn duel(&self, seed: u64) -> Duel {
        let query = |at: usize| DuelQuery {
            query: QueryId::new(format!("q{at}")),
            documents: (0..9).map(|turn| document(at, turn)).collect(),
            depth: 4,
            shortfall: String::new(),
        };
        Duel {
            form: DuelForm::Grid,
            a: "a".to_owned(),
            b: "b".to_owned(),
            top: 4,
            seed,
            controls: false,
            level: 1,
            queries: (0..self.queries).map(query).collect(),
        }
    }

    /// The log-odds of each document being chosen, without the position effect.
    fn liking(&self, duel: &Duel, rng: &mut SeededRng) -> HashMap<DocId, f64> {
        let mut liking = HashMap::new();
        for query in &duel.queries {
            let better = self.effect + self.query_effect * rng.normal();
            for document in &query.documents {
                let ranked = match query.came_from(document) {
                    (true, false) => -better / 2.0,
                    (false, true) => better / 2.0,
                    (true, true) => 0.0,
                    (false, false) => -NEGATIVE,
                };
                let own = CHOICE + ranked + DOCUMENTS * rng.normal();
                liking.insert(document.document.clone(), own);
            }
        }
        liking
    }

    fn answer(
        &self,
        task: &Task,
        liking: &HashMap<DocId, f64>,
        time: i64,
        rng: &mut SeededRng,
    ) -> Answer {
        let places = match &task.content {
            Content::Places(places) => places.as_slice(),
            Content::Lists { .. } => &[],
        };
        let last = places.len().saturating_sub(1).max(1) as f64;
        let chosen = places.iter().enumerate().filter(|(at, place)| {
            let own = place.document.as_ref().and_then(|id| liking.get(id));
            let bias = self.place_bias * (0.5 - *at as f64 / last);
            rng.unit() < sigma(own.copied().unwrap_or(0.0) + bias)
        });
        Answer {
            selected: chosen
                .map(|(_, place)| (place.document.clone(), None))
                .collect(),
            finished: true,
            finished_ms: Some(time),
            ..Answer::default()
        }
    }

    fn outcome(&self, duel: &Duel, participants: &[Participant]) -> DuelPlay {
        let looks = looks(duel, participants);
        let stopped = (1..)
            .zip(&looks)
            .find_map(|(judgments, look)| Some((look.better?, judgments)));
        let by_sign = |a: usize, b: usize| {
            sign_test(a, b)
                .filter(|p| *p <= ALPHA)
                .map(|_| if a > b { Side::A } else { Side::B })
        };
        let result = result(duel, participants);
        let preferred = result.preference.map_or(0.0, |of| of.value);
        let by_mean = if preferred > 0.0 { Side::A } else { Side::B };
        DuelPlay {
            stopped,
            peeked: looks.iter().find_map(|look| {
                let (a, b) = look.first_wins;
                by_sign(a, b)
            }),
            sign: by_sign(result.wins_a, result.wins_b),
            permutation: result
                .permutation_p
                .filter(|p| *p <= ALPHA)
                .map(|_| by_mean),
            preference: result.preference,
            places: result.places_p.is_some_and(|p| p <= ALPHA),
        }
    }
}

/// The documents of a query: alternately from A and B, of which the last two came from both, and a
/// negative.
fn document(query: usize, turn: usize) -> DuelDocument {
    let high = Some(turn / 2 + 1);
    let (source, rank_a, rank_b) = match turn {
        8 => (Source::EasyNegative, None, Some(30)),
        6 => (Source::TopOfA, high, Some(3)),
        7 => (Source::TopOfB, Some(3), high),
        _ if turn.is_multiple_of(2) => (Source::TopOfA, high, None),
        _ => (Source::TopOfB, None, high),
    };
    DuelDocument {
        document: DocId::new(format!("q{query}d{turn}")),
        source,
        rank_a,
        rank_b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duel(effect: f64, place_bias: f64) -> SimulatedDuel {
        SimulatedDuel {
            queries: 30,
            participants: 2,
            effect,
            query_effect: 0.5,
            place_bias,
        }
    }

    #[test]
    fn a_clear_preference_is_found_and_none_is_not() {
        let plays = |duel: SimulatedDuel| (0..40).map(move |index| duel.play(0, index));
        let named = |duel, side| {
            plays(duel)
                .filter_map(|play| play.stopped)
                .filter(|(found, _)| *found == side)
                .count()
        };
        assert!(named(duel(3.0, 0.0), Side::B) >= 38);
        assert_eq!(named(duel(3.0, 0.0), Side::A), 0);
        assert!(named(duel(0.0, 2.0), Side::A) + named(duel(0.0, 2.0), Side::B) <= 4);
        let biased = plays(duel(0.0, 2.0)).filter(|play| play.places);
        assert!(biased.count() >= 38);
        assert_eq!(duel(1.0, 0.5).play(3, 7), duel(1.0, 0.5).play(3, 7));
    }
}
