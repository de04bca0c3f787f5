//! The answers of simulated judges to the questions of ranking methods.
//!
//! Battles and comparisons use the noise model of [`Noise`](super::Noise), with the documents in
//! the order in which they are shown. For other prompts, the judge reads each document with an
//! independent error, drawn for each prompt, of variance (pair² + own² + call²) / 2. Any two
//! documents of a list are then as hard to distinguish as in a battle, however long the list is.
//! The position bias decreases linearly from the first position to the last one, and the difference
//! between these two is that of a battle. Real prompts may do worse: models overlook documents in
//! the middle of long lists, and grades of different prompts may not be on one scale.

use super::quality::GRADE_SHARES;
use super::simulated_query::SimulatedQuery;
use crate::domain::battle::Pair;
use crate::domain::candidate_question::{Answer, GradeScale, Question};
use crate::domain::numeric::best_first;
use crate::domain::sampling::SeededRng;

impl SimulatedQuery {
    /// The answer of the judge that the question names, or of the first one if it names none. The
    /// same question always has the same answer. An unreadable answer is requested once more; if
    /// the second one is unreadable too, there is none.
    pub fn answer(&self, question: &Question) -> Answer {
        let shown = question.shown();
        let seat = match question {
            Question::Battle { judge, .. } => *judge,
            _ => 0,
        };
        let words: Vec<String> = shown.iter().map(usize::to_string).collect();
        let (prompt, judge) = (words.join(" "), seat.to_string());
        let mut rng = SeededRng::new(self.seed, &["prompt", &self.name, &prompt, &judge]);
        if rng.unit() < self.noise.errors && rng.unit() < self.noise.errors {
            return Answer::Unreadable("simulated".to_owned());
        }
        let numbers = |order: &[usize], count: usize| {
            let numbers = order.iter().take(count).map(|at| *at as i64 + 1);
            Answer::Numbers(numbers.collect())
        };
        let read = |rng: &mut SeededRng| best_first(&self.readings(&shown, rng));
        match question {
            Question::Rank { .. } => numbers(&read(&mut rng), shown.len()),
            Question::Select { count, .. } => numbers(&read(&mut rng), *count),
            Question::Best { .. } => numbers(&read(&mut rng), 1),
            Question::Compare { a, b } => {
                Answer::SecondWins(self.shown_preference(*a, *b, seat, &mut rng) > 0.0)
            }
            Question::Battle { a, b, .. } => {
                let preference = self.shown_preference(*a, *b, seat, &mut rng);
                let tie = self.noise.judges.get(seat).map_or(0.0, |judge| judge.tie);
                Answer::Margin(if preference.abs() <= tie {
                    0.0
                } else {
                    preference.clamp(-1.0, 1.0)
                })
            }
            Question::Grade { scale, .. } => {
                let reading = self.readings(&shown, &mut rng).first().copied();
                Answer::Grade(self.grade(reading.unwrap_or(0.0), *scale))
            }
            Question::Score { .. } => Answer::Scores(self.readings(&shown, &mut rng)),
        }
    }

    /// The quality of each document of a prompt as perceived by the first judge, in units of the
    /// true scores.
    fn readings(&self, shown: &[usize], rng: &mut SeededRng) -> Vec<f64> {
        let Some(judge) = self.noise.judges.first() else {
            return vec![0.0; shown.len()];
        };
        let (pair, own, call) = (self.noise.pair, judge.own, self.noise.call);
        let error = ((pair * pair + own * own + call * call) / 2.0).sqrt();
        let last = shown.len().saturating_sub(1);
        let read = shown.iter().enumerate().map(|(place, document)| {
            let truth = self.truth.get(*document).copied().unwrap_or(0.0);
            let lean = match last {
                0 => 0.0,
                _ => 0.5 - place as f64 / last as f64,
            };
            judge.slope * truth + error * rng.normal() + judge.order * lean
        });
        read.collect()
    }

    /// How much the judge prefers the document shown second.
    fn shown_preference(&self, a: usize, b: usize, seat: usize, rng: &mut SeededRng) -> f64 {
        let (Some(judge), Some(pair)) = (self.noise.judges.get(seat), Pair::new(a, b)) else {
            return 0.0;
        };
        let truth = |document: usize| self.truth.get(document).copied().unwrap_or(0.0);
        let names = format!("{} {}", pair.low(), pair.high());
        let shared = SeededRng::new(self.seed, &["pair", &self.name, &names]).normal();
        let own =
            SeededRng::new(self.seed, &["vote", &self.name, &names, &seat.to_string()]).normal();
        let of_pair = self.noise.pair * shared + judge.own * own;
        let towards_b = if b == pair.high() { of_pair } else { -of_pair };
        judge.slope * (truth(b) - truth(a)) + towards_b + self.noise.call * rng.normal()
            - judge.order
    }

    /// The grade of a document with this perceived quality, from 0 to 1. On a scale of grades it
    /// depends on the number of cuts that the quality exceeds, where the cuts are those of the
    /// grades used to measure rankings; for yes or no it is the probability of exceeding the lowest
    /// cut.
    fn grade(&self, reading: f64, scale: GradeScale) -> f64 {
        let ideal = best_first(&self.truth);
        let truth = |rank: usize| ideal.get(rank).and_then(|at| self.truth.get(*at)).copied();
        let cuts = GRADE_SHARES.map(|share| {
            let above = ((share * ideal.len() as f64).round() as usize).max(1);
            let (inside, outside) = (truth(above - 1), truth(above));
            (inside.unwrap_or(0.0) + outside.or(inside).unwrap_or(0.0)) / 2.0
        });
        match scale {
            GradeScale::ZeroToThree => {
                cuts.iter().filter(|cut| reading > **cut).count() as f64 / cuts.len() as f64
            }
            GradeScale::YesNo => {
                let [.., lowest] = cuts;
                1.0 / (1.0 + (lowest - reading).exp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::lab::domain::{Noise, Theta};

    fn world(own: f64, index: usize) -> SimulatedQuery {
        let noise = Noise::standard(1).with_own(own);
        SimulatedQuery::synthetic(Theta::Gaussian, 20, noise, 3, index).in_first_stage_order(0.5)
    }

    #[test]
    fn a_list_of_two_is_as_hard_as_a_battle() {
        let (mut listed, mut compared) = (0, 0);
        for index in 0..300 {
            let world = world(1.6, index);
            for a in (0..20).step_by(2) {
                let b = a + 1;
                let second = world.truth()[b] > world.truth()[a];
                let list = world.answer(&Question::Rank {
                    candidates: vec![a, b],
                });
                let expected = if second { [2, 1] } else { [1, 2] };
                listed += usize::from(list == Answer::Numbers(expected.to_vec()));
                let battle = world.answer(&Question::Compare { a, b });
                compared += usize::from(battle == Answer::SecondWins(second));
            }
        }
        // 3,000 answers each; the standard error of the difference is 0.010.
        let (listed, compared) = (listed as f64 / 3000.0, compared as f64 / 3000.0);
        assert!((listed - compared).abs() < 0.03, "{listed} {compared}");
        assert!((0.7..0.85).contains(&compared), "{compared}");
    }

    #[test]
    fn the_first_stage_knows_as_much_as_it_is_told_to() {
        let rank_sum = |correlation| -> f64 {
            let of = |index| {
                let world = world(1.0, index).in_first_stage_order(correlation);
                best_first(world.truth())[0] as f64
            };
            (0..200).map(of).sum::<f64>() / 200.0
        };
        let (blind, half, all) = (rank_sum(0.0), rank_sum(0.5), rank_sum(1.0));
        assert!((8.0..11.0).contains(&blind), "{blind}");
        assert!((2.5..6.0).contains(&half), "{half}");
        assert_eq!(all, 0.0);
    }

    #[test]
    fn the_judge_leans_to_what_is_shown_first() {
        let first = |swap: bool| -> usize {
            let of = |index| {
                let world = world(1.0, index);
                let (a, b) = if swap { (1, 0) } else { (0, 1) };
                world.answer(&Question::Compare { a, b }) == Answer::SecondWins(swap)
            };
            (0..2000).filter(|index| of(*index)).count()
        };
        // How often the better-placed document wins when shown first and when shown second.
        let (shown_first, shown_second) = (first(false), first(true));
        assert!(
            shown_first > shown_second + 30,
            "{shown_first} {shown_second}"
        );
    }

    #[test]
    fn grades_fall_with_the_truth() {
        let world = world(0.0, 1);
        let ideal = best_first(world.truth());
        let grade = |rank: usize, scale| match world.answer(&Question::Grade {
            candidate: ideal[rank],
            scale,
        }) {
            Answer::Grade(grade) => grade,
            other => panic!("{other:?}"),
        };
        for scale in [GradeScale::ZeroToThree, GradeScale::YesNo] {
            assert!(grade(0, scale) > grade(19, scale));
            assert!((0..20).all(|rank| (0.0..=1.0).contains(&grade(rank, scale))));
        }
        assert_eq!(grade(19, GradeScale::ZeroToThree), 0.0);
    }
}
