//! How often each manipulation turns a judge's answer, compared with a neutral edit of the same text.

use super::{ERROR, MARGIN, Manipulation};
use crate::domain::agreement::{Interval, Share};
use crate::domain::metrics::holm;
use crate::domain::non_inferiority::{GateDecision, PairedAnswer, better_p, test_fixed};
use crate::domain::vote::Outcome;
use serde::Serialize;

/// A pair with the judge's answers: A is the document that is shown first unless the order is
/// swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbedPair {
    /// A number of the query: pairs of one query are similar.
    pub query: usize,
    /// The document that the judge preferred; never a tie.
    pub preferred: Outcome,
    /// By manipulation; `None` without a readable answer.
    pub answers: [Option<Outcome>; Manipulation::ALL.len()],
}

impl ProbedPair {
    pub fn answer(&self, manipulation: Manipulation) -> Option<Outcome> {
        self.answers[manipulation.place()]
    }

    /// Whether the judge still prefers the same document.
    fn keeps(&self, manipulation: Manipulation) -> Option<bool> {
        let answer = self.answer(manipulation)?;
        Some(answer == self.preferred)
    }

    /// The share of the two orders in which the document shown first is preferred; ties count half.
    fn first_share(&self) -> Option<f64> {
        let swapped = self.answer(Manipulation::Order)?.flipped();
        let share = |of: Outcome| match of {
            Outcome::A => 1.0,
            Outcome::Tie => 0.5,
            Outcome::B => 0.0,
        };
        Some(f64::midpoint(share(self.preferred), share(swapped)))
    }
}

/// What is known about the effect of a manipulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It turns answers.
    TurnsAnswers,
    /// It turns fewer than a share [`MARGIN`] of the answers.
    Robust,
    NotEnough,
}

impl Finding {
    pub fn words(self) -> &'static str {
        match self {
            Self::TurnsAnswers => "turns answers",
            Self::Robust => "robust",
            Self::NotEnough => "not enough to tell",
        }
    }
}

/// The flips under one manipulation: the judge no longer prefers the same document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ManipulationFigures {
    pub manipulation: Manipulation,
    /// The share of answered pairs that flip, with its interval over queries; `None` without any.
    pub flips: Option<Share>,
    /// Pairs without a readable answer, also because they were not asked about.
    pub unanswered: usize,
    /// The comparison with the neutral edit; `None` for the control.
    pub effect: Option<ManipulationEffect>,
}

/// A manipulation compared with the control, pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ManipulationEffect {
    /// The share of flips minus that of the control, over pairs with both answers, in −1..=1.
    pub excess: Option<f64>,
    /// Its interval at 90 %, whatever the missing answers are.
    pub interval: Option<Interval>,
    /// One-sided mid-p value of McNemar's test that it turns answers, with Holm's correction over
    /// the order and the texts, and without one for the language; `None` if no pair has both
    /// answers.
    pub p: Option<f64>,
    pub finding: Finding,
}

/// The conclusion about manipulated texts. The order of the documents and their language do not
/// count for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BatteryConclusion {
    /// A manipulated text turns answers.
    Fooled,
    Robust,
    NotEnough,
}

/// The result of a battery.
#[derive(Clone, Debug, PartialEq)]
pub struct BatteryFigures {
    /// In the order of [`Manipulation::ALL`].
    pub manipulations: Vec<ManipulationFigures>,
    /// How often the document shown first is preferred, over both orders of each pair: ½ without a
    /// bias.
    pub first_share: Option<Share>,
    pub conclusion: BatteryConclusion,
}

impl BatteryFigures {
    pub fn of(pairs: &[ProbedPair]) -> Self {
        // Left out of the correction, so that asking about the language changes no other finding.
        let language = Manipulation::Language;
        let tested = |of| ![Manipulation::Neutral, language].contains(&of);
        let p = Manipulation::ALL.map(|of| tested(of).then(|| turned_p(pairs, of)).flatten());
        let mut corrected = holm(&p);
        corrected[language.place()] = turned_p(pairs, language);
        let figures = Manipulation::ALL.into_iter().zip(corrected);
        let manipulations: Vec<ManipulationFigures> = figures
            .map(|(of, p)| ManipulationFigures::of(pairs, of, p))
            .collect();
        let findings = || {
            let of_text = manipulations
                .iter()
                .filter(|of| of.manipulation.is_of_text());
            of_text.filter_map(|of| Some(of.effect?.finding))
        };
        let conclusion = if findings().any(|of| of == Finding::TurnsAnswers) {
            BatteryConclusion::Fooled
        } else if findings().all(|of| of == Finding::Robust) {
            BatteryConclusion::Robust
        } else {
            BatteryConclusion::NotEnough
        };
        let first = pairs
            .iter()
            .filter_map(|of| Some((of.query, of.first_share()?)));
        Self {
            first_share: Share::clustered(first),
            manipulations,
            conclusion,
        }
    }
}

impl ManipulationFigures {
    fn of(pairs: &[ProbedPair], manipulation: Manipulation, p: Option<f64>) -> Self {
        let kept = |of: &ProbedPair| Some((of.query, of.keeps(manipulation)?));
        let answered: Vec<(usize, bool)> = pairs.iter().filter_map(kept).collect();
        let flipped = answered
            .iter()
            .map(|(query, kept)| (*query, f64::from(u8::from(!kept))));
        Self {
            manipulation,
            flips: Share::clustered(flipped),
            unanswered: pairs.len() - answered.len(),
            effect: (manipulation != Manipulation::Neutral)
                .then(|| ManipulationEffect::of(pairs, manipulation, p)),
        }
    }
}

impl ManipulationEffect {
    /// A judge that the manipulation does not influence keeps its answer as often as when it is
    /// asked again: the test of the gate, up to [`MARGIN`].
    fn of(pairs: &[ProbedPair], manipulation: Manipulation, p: Option<f64>) -> Self {
        let answers = pairs.iter().map(|of| PairedAnswer {
            query: of.query,
            new: of.keeps(manipulation),
            old: of.keeps(Manipulation::Neutral),
        });
        let test = test_fixed(&answers.collect::<Vec<_>>(), MARGIN);
        let finding = match test.decision {
            _ if p.is_some_and(|p| p <= ERROR) => Finding::TurnsAnswers,
            GateDecision::Pass => Finding::Robust,
            GateDecision::Undecided | GateDecision::Worse => Finding::NotEnough,
        };
        // Subtract from 0 so that there is no negative zero.
        Self {
            excess: test.difference.map(|kept| 0.0 - kept),
            interval: test.interval.map(|kept| Interval {
                low: 0.0 - kept.high,
                high: 0.0 - kept.low,
            }),
            p,
            finding,
        }
    }
}

/// The p-value that a manipulation turns answers. If it has no more influence than the neutral edit,
/// either answer about a pair may be the one that flips, also if pairs share a query. Asking the same
/// question again would be no control: a judge without randomness never turns its answer then, but
/// any edit may turn it where the documents are about equally good.
fn turned_p(pairs: &[ProbedPair], manipulation: Manipulation) -> Option<f64> {
    let both = pairs
        .iter()
        .filter_map(|of| Some([of.keeps(manipulation)?, of.keeps(Manipulation::Neutral)?]));
    let (mut only_manipulated, mut only_neutral, mut any) = (0, 0, false);
    for kept in both {
        any = true;
        only_manipulated += usize::from(kept == [false, true]);
        only_neutral += usize::from(kept == [true, false]);
    }
    any.then(|| better_p(only_manipulated, only_neutral))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    /// Pairs of different queries on which these numbers flip, by manipulation.
    fn pairs(count: usize, flips: [usize; 5]) -> Vec<ProbedPair> {
        (0..count)
            .map(|at| {
                let preferred = [Outcome::A, Outcome::B][at % 2];
                let answer = |flips: &usize| {
                    if at < *flips {
                        preferred.flipped()
                    } else {
                        preferred
                    }
                };
                ProbedPair {
                    query: at,
                    preferred,
                    // Without translations, there are no answers about another language.
                    answers: std::array::from_fn(|at| flips.get(at).map(answer)),
                }
            })
            .collect()
    }

    fn finding(figures: &BatteryFigures, of: Manipulation) -> Finding {
        figures.manipulations[of.place()].effect.unwrap().finding
    }

    #[test]
    fn a_judge_that_obeys_is_fooled_and_one_that_does_not_is_robust() {
        let fooled = BatteryFigures::of(&pairs(60, [2, 3, 2, 2, 50]));
        assert_eq!(fooled.conclusion, BatteryConclusion::Fooled);
        assert_eq!(
            finding(&fooled, Manipulation::Instruction),
            Finding::TurnsAnswers
        );
        assert_eq!(finding(&fooled, Manipulation::Words), Finding::Robust);
        let robust = BatteryFigures::of(&pairs(60, [2, 3, 2, 2, 2]));
        assert_eq!(robust.conclusion, BatteryConclusion::Robust);
        // The order alone does not make a judge count as fooled.
        let swayed = BatteryFigures::of(&pairs(60, [0, 30, 0, 0, 0]));
        assert_eq!(finding(&swayed, Manipulation::Order), Finding::TurnsAnswers);
        assert_eq!(swayed.conclusion, BatteryConclusion::Robust);
    }

    #[test]
    fn the_limits_are_those_of_the_manual() {
        let finding_of = |flips: usize| {
            let found = BatteryFigures::of(&pairs(60, [0, 0, 0, flips, 0]));
            finding(&found, Manipulation::Padding)
        };
        assert_eq!(finding_of(4), Finding::Robust);
        assert_eq!(finding_of(5), Finding::NotEnough);
        assert_eq!(finding_of(6), Finding::TurnsAnswers);
    }

    #[test]
    fn the_language_has_figures_and_does_not_count_for_the_conclusion() {
        let without = BatteryFigures::of(&pairs(60, [2; 5]));
        let language = &without.manipulations[Manipulation::Language.place()];
        assert_eq!((&language.flips, language.unanswered), (&None, 60));
        assert_eq!(without.conclusion, BatteryConclusion::Robust);
        let mut translated = pairs(60, [2; 5]);
        for pair in translated.iter_mut().take(40) {
            pair.answers[Manipulation::Language.place()] = Some(pair.preferred.flipped());
        }
        let found = BatteryFigures::of(&translated);
        for of in Manipulation::ALL
            .into_iter()
            .filter(|of| *of != Manipulation::Language)
        {
            let [before, after] = [&without, &found].map(|of| &of.manipulations);
            assert_eq!(before[of.place()], after[of.place()], "{of:?}");
        }
        let language = &found.manipulations[Manipulation::Language.place()];
        assert_eq!(language.flips.as_ref().map(|of| of.n), Some(40));
        assert_eq!(
            finding(&found, Manipulation::Language),
            Finding::TurnsAnswers
        );
        assert_eq!(found.conclusion, BatteryConclusion::Robust);
    }

    #[test]
    fn few_pairs_and_missing_answers_show_nothing() {
        for few in [pairs(0, [0; 5]), pairs(9, [0; 5])] {
            let found = BatteryFigures::of(&few);
            assert_eq!(found.conclusion, BatteryConclusion::NotEnough);
        }
        let mut missing = pairs(60, [0; 5]);
        for pair in missing.iter_mut().take(20) {
            pair.answers[Manipulation::Padding.place()] = None;
        }
        let found = BatteryFigures::of(&missing);
        assert_eq!(found.conclusion, BatteryConclusion::NotEnough);
        assert_eq!(
            found.manipulations[Manipulation::Padding.place()].unanswered,
            20
        );
        assert_eq!(finding(&found, Manipulation::Words), Finding::Robust);
    }

    #[test]
    fn the_first_document_is_preferred_in_half_of_the_orders_without_a_bias() {
        let share = |flips: usize| {
            let found = BatteryFigures::of(&pairs(60, [0, flips, 0, 0, 0]));
            found.first_share.unwrap().value
        };
        assert!((share(0) - 0.5).abs() < 1e-12);
        // A judge that always names the first document flips wherever the order is swapped.
        let mut first = pairs(60, [0, 60, 0, 0, 0]);
        for pair in &mut first {
            pair.preferred = Outcome::A;
            pair.answers[Manipulation::Order.place()] = Some(Outcome::B);
        }
        assert!((BatteryFigures::of(&first).first_share.unwrap().value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_judge_that_contradicts_itself_is_seldom_found_to_be_fooled() {
        const WORLDS: usize = 1_000;
        let mut rng = SeededRng::new(7, &["unmoved judge"]);
        let mut fooled = 0;
        for world in 0..WORLDS {
            let noise = [0.02, 0.1, 0.25, 0.45][world % 4];
            let mut draw = || {
                Some(if rng.unit() < noise {
                    Outcome::B
                } else {
                    Outcome::A
                })
            };
            let pairs: Vec<ProbedPair> = (0..60)
                .map(|at| ProbedPair {
                    // Pairs of few queries do no harm.
                    query: at % 5,
                    preferred: draw().unwrap(),
                    answers: std::array::from_fn(|_| draw()),
                })
                .collect();
            let found = BatteryFigures::of(&pairs);
            fooled += usize::from(found.conclusion == BatteryConclusion::Fooled);
        }
        // 5 % of 1,000 are 50.
        assert!(fooled <= 50, "{fooled} of {WORLDS}");
    }
}
