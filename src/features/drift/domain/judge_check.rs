//! Compares the answers of a judge with its two reference answers.

use super::betting::{against_zero, interval};
use super::{ERROR, MARGIN};
use crate::domain::agreement::Interval;
use crate::domain::vote::Outcome;
use serde::Serialize;

/// The least and the largest possible excess.
const RANGE: [f64; 2] = [-0.5, 1.0];

/// A judge's answer about a pair, and the two answers that it gave at the start to the same question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferencedAnswer {
    pub reference: [Outcome; 2],
    pub answer: Outcome,
}

impl ReferencedAnswer {
    /// How much of the two reference answers it contradicts: 0, ½ or 1.
    fn turned(self) -> f64 {
        let turned = self.reference.iter().filter(|of| **of != self.answer);
        turned.count() as f64 / 2.0
    }

    /// 1 if the reference answers contradict each other, otherwise 0.
    fn own(self) -> f64 {
        f64::from(u8::from(self.reference[0] != self.reference[1]))
    }
}

/// One check of a judge.
///
/// If the judge has not changed, the three answers about a pair are drawn from the same distribution,
/// whatever it is. The expected share of turned answers is then the expected share of pairs on which
/// the reference answers differ, pair by pair, and bets on their difference win nothing on average.
/// This holds for a judge that contradicts itself often, and for pairs of one query.
///
/// Checks share the reference answers, so they are no independent evidence. Check k may use the part
/// 1 / (k (k + 1)) of the error, and all together use at most [`ERROR`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeCheck {
    /// The share of reference answers that the answers contradict, in 0..=1.
    pub turned: f64,
    /// The share of pairs on which the reference answers contradict each other, in 0..=1.
    pub own: f64,
    /// `turned` − `own`.
    pub excess: f64,
    /// The interval of the excess at 95 %, for this check alone.
    pub interval: Interval,
    /// The evidence of a change.
    pub e_value: f64,
    /// The evidence that shows a change in this check.
    pub needed: f64,
}

impl JudgeCheck {
    /// The check with this number, from 1; `None` without answers.
    pub fn of(number: usize, answers: &[ReferencedAnswer]) -> Option<Self> {
        if answers.is_empty() {
            return None;
        }
        let mean = |of: fn(ReferencedAnswer) -> f64| {
            answers.iter().map(|answer| of(*answer)).sum::<f64>() / answers.len() as f64
        };
        let excess: Vec<f64> = answers.iter().map(|of| of.turned() - of.own()).collect();
        let [least, most] = RANGE;
        let k = number.max(1) as f64;
        Some(Self {
            turned: mean(ReferencedAnswer::turned),
            own: mean(ReferencedAnswer::own),
            excess: mean(|of| of.turned() - of.own()),
            interval: interval(&excess, least, most),
            e_value: against_zero(&excess, least, most).min(f64::MAX),
            needed: k * (k + 1.0) / ERROR,
        })
    }

    /// Whether the judge has changed.
    pub fn shows_change(&self) -> bool {
        self.e_value >= self.needed
    }

    /// Whether an excess of [`MARGIN`] or more, to either side, is excluded. Some changes move no
    /// excess: a judge that decided by a coin flip and then always answers the same contradicts its
    /// reference answers as often as before.
    pub fn excludes_change(&self) -> bool {
        !self.shows_change() && self.interval.low > -MARGIN && self.interval.high < MARGIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    /// A judge that answers A with one of these probabilities, by pair.
    fn answer(rng: &mut SeededRng, probability: f64) -> Outcome {
        if rng.unit() < probability {
            Outcome::A
        } else {
            Outcome::B
        }
    }

    fn steady(pairs: usize) -> Vec<[Outcome; 2]> {
        let of = |at: usize| [Outcome::A, Outcome::B][at % 2];
        (0..pairs).map(|at| [of(at); 2]).collect()
    }

    fn check(number: usize, reference: &[[Outcome; 2]], answers: &[Outcome]) -> JudgeCheck {
        let pairs = reference.iter().zip(answers);
        let pairs: Vec<ReferencedAnswer> = pairs
            .map(|(reference, answer)| ReferencedAnswer {
                reference: *reference,
                answer: *answer,
            })
            .collect();
        JudgeCheck::of(number, &pairs).unwrap()
    }

    #[test]
    fn a_judge_that_never_contradicts_itself_is_caught_by_few_turned_answers() {
        let reference = steady(100);
        let same: Vec<Outcome> = reference.iter().map(|of| of[0]).collect();
        let found = check(1, &reference, &same);
        assert!(
            found.excludes_change() && !found.shows_change(),
            "{found:?}"
        );
        let turned = |count: usize| -> Vec<Outcome> {
            let answer = |(at, of): (usize, &[Outcome; 2])| match of[0] {
                Outcome::A if at < 2 * count => Outcome::B,
                other => other,
            };
            reference.iter().enumerate().map(answer).collect()
        };
        let few = check(1, &reference, &turned(2));
        assert!(!few.shows_change() && few.excess > 0.0, "{few:?}");
        let caught = check(1, &reference, &turned(8));
        assert!(caught.shows_change(), "{caught:?}");
        // The same turned answers show less in a later check.
        assert!(!check(60, &reference, &turned(8)).shows_change());
        assert_eq!(JudgeCheck::of(1, &[]), None);
    }

    #[test]
    fn a_few_pairs_exclude_nothing() {
        for (pairs, is_excluded) in [(10, false), (52, false), (53, true)] {
            let reference = steady(pairs);
            let same: Vec<Outcome> = reference.iter().map(|of| of[0]).collect();
            let found = check(2, &reference, &same);
            assert_eq!(found.excludes_change(), is_excluded, "{found:?}");
            assert!(!found.shows_change(), "{found:?}");
        }
    }

    #[test]
    fn a_coin_flip_that_becomes_constant_is_not_seen() {
        let of = |at: usize| [Outcome::A, Outcome::B][at % 2];
        let reference: Vec<[Outcome; 2]> = (0..100).map(|at| [of(at), of(at / 2)]).collect();
        let found = check(2, &reference, &[Outcome::A; 100]);
        assert_eq!((found.excess, found.own, found.turned), (0.0, 0.5, 0.5));
        assert!(!found.shows_change(), "{found:?}");
    }

    #[test]
    fn a_judge_that_contradicts_itself_and_has_not_changed_is_seldom_accused() {
        const WORLDS: usize = 600;
        const CHECKS: usize = 6;
        let mut rng = SeededRng::new(3, &["unchanged judge"]);
        let mut accused = 0;
        for world in 0..WORLDS {
            let noise = [0.0, 0.05, 0.2, 0.5][world % 4];
            let chance: Vec<f64> = (0..60)
                .map(|at| if at % 2 == 0 { noise } else { 1.0 - noise })
                .collect();
            let draw = |rng: &mut SeededRng| -> Vec<Outcome> {
                chance.iter().map(|of| answer(rng, *of)).collect()
            };
            let (a, b) = (draw(&mut rng), draw(&mut rng));
            let reference: Vec<[Outcome; 2]> = a.into_iter().zip(b).map(<[_; 2]>::from).collect();
            let is_accused = (1..=CHECKS)
                .any(|number| check(number, &reference, &draw(&mut rng)).shows_change());
            accused += usize::from(is_accused);
        }
        // 5 % of 600 are 30.
        assert!(accused <= 30, "{accused} of {WORLDS}");
    }

    #[test]
    fn a_judge_that_contradicts_itself_and_has_changed_is_caught() {
        const WORLDS: usize = 200;
        let mut rng = SeededRng::new(4, &["changed judge"]);
        let mut caught = 0;
        for _ in 0..WORLDS {
            let pairs: Vec<(f64, f64)> = (0..100)
                .map(|at| {
                    let before = if at % 2 == 0 { 0.02 } else { 0.98 };
                    // Every fifth pair is now decided the other way.
                    (before, if at % 5 == 0 { 1.0 - before } else { before })
                })
                .collect();
            let reference: Vec<[Outcome; 2]> = pairs
                .iter()
                .map(|(before, _)| [answer(&mut rng, *before), answer(&mut rng, *before)])
                .collect();
            let answers: Vec<Outcome> = pairs
                .iter()
                .map(|(_, now)| answer(&mut rng, *now))
                .collect();
            caught += usize::from(check(2, &reference, &answers).shows_change());
        }
        assert!(caught * 10 >= WORLDS * 9, "{caught} of {WORLDS}");
    }
}
