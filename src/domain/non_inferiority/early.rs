//! A sequential test with e-values, which stays valid if it is looked at after every pair.

use super::GateDecision;
use crate::domain::betting::Capital;
use serde::Serialize;

/// An e-value from which a decision is made. A false one is made with probability at most 1 / 20,
/// however often the test is looked at (Ville 1939).
pub const ENOUGH: f64 = 20.0;

/// The e-values against the two hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Against a loss of the margin or more.
    pub not_worse: f64,
    /// Against a gain or no difference.
    pub worse: f64,
}

/// Bets on pairs one after the other (Waudby-Smith & Ramdas 2024). With d = 1 if only the new judge
/// is right, −1 if only the old one is, and 0 otherwise, the capital is the mean of Π(1 + λ(d +
/// margin)) over λ = .1, .2, … .9, each divided by 1 − margin, and the mean of Π(1 − λd) over λ = .1,
/// .2, … .9 for the other hypothesis.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyTest {
    margin: f64,
    not_worse: Capital,
    worse: Capital,
    decision: GateDecision,
}

impl EarlyTest {
    /// A test with a margin in 0..1.
    pub fn new(margin: f64) -> Self {
        Self {
            margin,
            not_worse: Capital::default(),
            worse: Capital::default(),
            decision: GateDecision::Undecided,
        }
    }

    /// Adds a pair whose gain d lies between `least` and `most`; they differ if an answer is missing.
    /// Once there is a decision, it stays.
    pub fn add(&mut self, least: f64, most: f64) {
        self.not_worse.bet(least + self.margin, 1.0 - self.margin);
        self.worse.bet(-most, 1.0);
        if self.decision == GateDecision::Undecided {
            let evidence = self.evidence();
            self.decision = if evidence.not_worse >= ENOUGH {
                GateDecision::Pass
            } else if evidence.worse >= ENOUGH {
                GateDecision::Worse
            } else {
                GateDecision::Undecided
            };
        }
    }

    pub fn evidence(&self) -> Evidence {
        Evidence {
            not_worse: self.not_worse.value(),
            worse: self.worse.value(),
        }
    }

    /// The first decision that was reached.
    pub fn decision(&self) -> GateDecision {
        self.decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    const GOLDEN: &str = include_str!("../../../tests/golden/trust2/gate_seq.json");

    #[derive(Deserialize)]
    struct Golden {
        tolerance: f64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        margin: f64,
        d: Vec<f64>,
        at: Vec<usize>,
        e_non_inferior: Vec<f64>,
        e_worse: Vec<f64>,
        decision: String,
        n: usize,
    }

    #[test]
    fn the_capital_and_the_first_decision_are_those_of_the_reference() {
        let golden: Golden = serde_json::from_str(GOLDEN).unwrap();
        assert!(golden.cases.len() > 5);
        for case in golden.cases {
            let mut test = EarlyTest::new(case.margin);
            let (mut decided_at, mut checked) = (case.d.len(), 0);
            for (n, d) in (1..).zip(&case.d) {
                let was_open = test.decision() == GateDecision::Undecided;
                test.add(*d, *d);
                if was_open && test.decision() != GateDecision::Undecided {
                    decided_at = n;
                }
                if let Some(place) = case.at.iter().position(|at| *at == n) {
                    let found = test.evidence();
                    let near = |found: f64, expected: f64| {
                        (found - expected).abs() < golden.tolerance * expected.max(1.0)
                    };
                    assert!(near(found.not_worse, case.e_non_inferior[place]), "{n}");
                    assert!(near(found.worse, case.e_worse[place]), "{n}");
                    checked += 1;
                }
            }
            assert_eq!(checked, case.at.len());
            assert_eq!(
                (test.decision().words(), decided_at),
                (&*case.decision, case.n)
            );
        }
    }
}
