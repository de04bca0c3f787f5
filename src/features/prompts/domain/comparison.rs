//! Compares two prompts by how often a judge agrees with people under each of them.

use crate::domain::agreement::{
    ClusteredError, Interval, SampledItem, Share, SurveyShare, survey_share,
};
use crate::domain::judge_report::BothOrders;
use crate::domain::metrics::{Resampling, compare};
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::collections::BTreeMap;

/// Minimum number of pairs on which exactly one prompt is right; with fewer, nothing is concluded.
pub const ENOUGH: usize = 20;
/// Maximum p-value of a significant difference.
pub const SIGNIFICANT: f64 = 0.05;

/// A pair that people decided, with a judge's answers under two prompts in the same order of the
/// documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedPair {
    /// A number of the query: pairs of one query are similar.
    pub query: usize,
    /// The probability with which the pair was drawn, if it is known.
    pub inclusion: Option<f64>,
    pub cause: Option<ErrorCause>,
    pub people: Outcome,
    pub old: Outcome,
    pub new: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairChange {
    Fixed,
    Broken,
    BothRight,
    BothWrong,
}

impl PairChange {
    pub fn words(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Broken => "broken",
            Self::BothRight => "both right",
            Self::BothWrong => "both wrong",
        }
    }
}

impl ComparedPair {
    pub fn change(&self) -> PairChange {
        match (self.old == self.people, self.new == self.people) {
            (false, true) => PairChange::Fixed,
            (true, false) => PairChange::Broken,
            (true, true) => PairChange::BothRight,
            (false, false) => PairChange::BothWrong,
        }
    }

    /// 1 if the new prompt fixed it, −1 if it broke it.
    fn gain(&self) -> f64 {
        match self.change() {
            PairChange::Fixed => 1.0,
            PairChange::Broken => -1.0,
            PairChange::BothRight | PairChange::BothWrong => 0.0,
        }
    }
}

/// A difference of two shares, with its interval over queries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub value: f64,
    pub interval: Option<Interval>,
}

/// Judgments that people overruled for one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CauseCount {
    /// `None` if the person gave no cause.
    pub cause: Option<ErrorCause>,
    pub fixed: usize,
    pub still_wrong: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    NotEnough,
    NoDifference,
    Better,
    Worse,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptComparison {
    pub pairs: usize,
    pub both_right: usize,
    pub fixed: usize,
    pub broken: usize,
    pub both_wrong: usize,
    /// Two-sided p-value of the exact McNemar test.
    pub mcnemar_p: f64,
    /// Two-sided p-value of the randomization test over queries, for pairs that share queries.
    pub query_p: Option<f64>,
    /// Agreement with people under the old prompt, and under the new one.
    pub old: SurveyShare,
    pub new: SurveyShare,
    /// New minus old, weighted if every pair has a known probability.
    pub difference: Option<Difference>,
    pub causes: Vec<CauseCount>,
    pub conclusion: Conclusion,
    /// Number of further verdicts after which the test is expected to have enough changed pairs;
    /// `None` if it has, or if no pair has changed.
    pub expected_verdicts: Option<usize>,
}

impl PromptComparison {
    pub fn of(pairs: &[ComparedPair]) -> Self {
        let count = |change| pairs.iter().filter(|pair| pair.change() == change).count();
        let (fixed, broken) = (count(PairChange::Fixed), count(PairChange::Broken));
        let mcnemar_p = mcnemar(fixed, broken);
        let shares = |right: &dyn Fn(&ComparedPair) -> bool| {
            let items = pairs.iter().map(|pair| SampledItem {
                value: f64::from(u8::from(right(pair))),
                inclusion: pair.inclusion,
                cluster: pair.query,
            });
            survey_share(&items.collect::<Vec<_>>())
        };
        let conclusion = match (fixed + broken >= ENOUGH, mcnemar_p <= SIGNIFICANT) {
            (false, _) => Conclusion::NotEnough,
            (true, false) => Conclusion::NoDifference,
            (true, true) if fixed > broken => Conclusion::Better,
            (true, true) => Conclusion::Worse,
        };
        Self {
            pairs: pairs.len(),
            both_right: count(PairChange::BothRight),
            fixed,
            broken,
            both_wrong: count(PairChange::BothWrong),
            mcnemar_p,
            query_p: query_p(pairs),
            old: shares(&|pair| pair.old == pair.people),
            new: shares(&|pair| pair.new == pair.people),
            difference: difference(pairs),
            causes: causes(pairs),
            conclusion,
            expected_verdicts: expected_verdicts(pairs.len(), fixed + broken),
        }
    }

    /// The result in one or two sentences.
    pub fn sentence(&self) -> String {
        let overruled = self.fixed + self.both_wrong;
        let confirmed = self.broken + self.both_right;
        let counts = format!(
            "The new prompt fixes {} of the {overruled} judgments that people overruled and breaks \
             {} of the {confirmed} that they confirmed.",
            self.fixed, self.broken
        );
        let p = format!("exact McNemar p = {}", p_words(self.mcnemar_p));
        let conclusion = match (self.conclusion, self.expected_verdicts) {
            (Conclusion::NotEnough, Some(more)) => format!(
                "Not enough to tell ({p}). About {more} more verdicts are expected to decide it."
            ),
            (Conclusion::NotEnough, None) => "Not enough to tell: no pair has changed.".to_owned(),
            (Conclusion::NoDifference, _) => format!("No significant difference ({p})."),
            (Conclusion::Better, _) => format!("It agrees with people more often ({p})."),
            (Conclusion::Worse, _) => format!("It agrees with people less often ({p})."),
        };
        format!("{counts} {conclusion}")
    }
}

/// A p-value without its leading zero, such as `.07`.
pub fn p_words(p: f64) -> String {
    if p < 0.001 {
        return "<.001".to_owned();
    }
    let digits = if p < 0.01 {
        format!("{p:.3}")
    } else {
        format!("{p:.2}")
    };
    digits.strip_prefix('0').unwrap_or(&digits).to_owned()
}

/// The two-sided p-value of the exact McNemar test: twice the probability of at most the smaller
/// count among the changed pairs, if each is as likely to be fixed as broken.
pub fn mcnemar(fixed: usize, broken: usize) -> f64 {
    let (n, least) = (fixed + broken, fixed.min(broken));
    let mut term = 0.5f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    if term == 0.0 {
        return large_mcnemar(fixed, broken);
    }
    let mut tail = 0.0;
    for k in 0..=least {
        tail += term;
        term *= (n - k) as f64 / (k + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

/// The same with logarithms, for counts whose smallest term would underflow.
fn large_mcnemar(fixed: usize, broken: usize) -> f64 {
    let n = (fixed + broken) as f64;
    let mut term = -n * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..=fixed.min(broken) {
        tail += term.exp();
        term += ((n - k as f64) / (k + 1) as f64).ln();
    }
    (2.0 * tail).min(1.0)
}

/// Further verdicts until [`ENOUGH`] pairs have changed, at the rate seen so far.
pub fn expected_verdicts(pairs: usize, changed: usize) -> Option<usize> {
    let missing = ENOUGH.checked_sub(changed).filter(|missing| *missing > 0)?;
    (changed > 0).then(|| (missing * pairs).div_ceil(changed))
}

/// The randomization test of the queries' summed gains; `None` if no query has several pairs.
fn query_p(pairs: &[ComparedPair]) -> Option<f64> {
    let mut gains: BTreeMap<usize, f64> = BTreeMap::new();
    for pair in pairs {
        *gains.entry(pair.query).or_default() += pair.gain();
    }
    if gains.len() == pairs.len() || gains.len() < 2 {
        return None;
    }
    let gains: Vec<f64> = gains.into_values().collect();
    let none = vec![0.0; gains.len()];
    compare(&gains, &none, &Resampling::of(gains.len())).map(|of| of.randomization_p)
}

fn difference(pairs: &[ComparedPair]) -> Option<Difference> {
    let weights: Option<Vec<f64>> = pairs
        .iter()
        .map(|pair| {
            pair.inclusion
                .filter(|pi| *pi > 0.0 && *pi <= 1.0)
                .map(f64::recip)
        })
        .collect();
    let weights = weights.unwrap_or_else(|| vec![1.0; pairs.len()]);
    let total: f64 = weights.iter().sum();
    let weighted = || pairs.iter().zip(&weights);
    let sum: f64 = weighted().map(|(pair, weight)| weight * pair.gain()).sum();
    let value = (total > 0.0).then(|| sum / total)?;
    let pull = |(pair, weight): (&ComparedPair, &f64)| {
        (pair.query, weight * (pair.gain() - value) / total)
    };
    let error = ClusteredError::new(weighted().map(pull));
    Some(Difference {
        value,
        interval: error.and_then(|error| error.interval(value, -1.0, 1.0)),
    })
}

/// The overruled judgments by cause, most frequent first.
fn causes(pairs: &[ComparedPair]) -> Vec<CauseCount> {
    let mut counts: Vec<CauseCount> = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.old != pair.people) {
        let at = counts.iter().position(|of| of.cause == pair.cause);
        let at = at.unwrap_or_else(|| {
            counts.push(CauseCount {
                cause: pair.cause,
                ..CauseCount::default()
            });
            counts.len() - 1
        });
        if pair.new == pair.people {
            counts[at].fixed += 1;
        } else {
            counts[at].still_wrong += 1;
        }
    }
    counts.sort_by_key(|of| {
        (
            std::cmp::Reverse(of.fixed + of.still_wrong),
            of.cause.map(ErrorCause::words),
        )
    });
    counts
}

/// How a judge's answers depend on the order of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrderEffect {
    /// Number of pairs seen in both orders.
    pub pairs: usize,
    /// The share of pairs whose answer changed with the order.
    pub flips: Option<Share>,
    /// The mean advantage of the document shown first, from −1 to 1.
    pub lean: f64,
}

/// The effect of the order on pairs seen in both orders: each with the number of its query, and the
/// answers with the earlier document of the pool first and second, where A is that document. `None`
/// without pairs.
pub fn order_effect(pairs: &[(usize, Outcome, Outcome)]) -> Option<OrderEffect> {
    let mut queries: BTreeMap<usize, Vec<(Outcome, Outcome)>> = BTreeMap::new();
    let mut lean = 0.0;
    for (query, low_first, high_first) in pairs {
        let presented = high_first.flipped();
        queries
            .entry(*query)
            .or_default()
            .push((*low_first, presented));
        lean += score(*high_first) - score(*low_first);
    }
    let mut orders = BothOrders::default();
    for of_query in queries.into_values() {
        orders.add_query(of_query);
    }
    (!pairs.is_empty()).then(|| OrderEffect {
        pairs: pairs.len(),
        flips: orders.flip_share(),
        lean: lean / pairs.len() as f64,
    })
}

fn score(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::A => 0.0,
        Outcome::Tie => 0.5,
        Outcome::B => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair(query: usize, old: bool, new: bool) -> ComparedPair {
        let outcome = |right| if right { Outcome::A } else { Outcome::B };
        ComparedPair {
            query,
            inclusion: None,
            cause: None,
            people: Outcome::A,
            old: outcome(old),
            new: outcome(new),
        }
    }

    fn pairs(fixed: usize, broken: usize, right: usize, wrong: usize) -> Vec<ComparedPair> {
        [
            (fixed, false, true),
            (broken, true, false),
            (right, true, true),
            (wrong, false, false),
        ]
        .into_iter()
        .flat_map(|(count, old, new)| std::iter::repeat_n((old, new), count))
        .enumerate()
        .map(|(query, (old, new))| pair(query, old, new))
        .collect()
    }

    #[test]
    fn the_exact_test_gives_the_values_of_the_binomial_table() {
        for (fixed, broken, p) in [
            (0, 0, 1.0),
            (1, 0, 1.0),
            (7, 1, 18.0 / 256.0),
            (1, 7, 18.0 / 256.0),
            (5, 5, 1.0),
            (10, 0, 2.0 / 1024.0),
            // 1 + 20 + 190 + 1140 + 4845 + 15504 of 2^20, twice.
            (15, 5, 2.0 * 21_700.0 / 1_048_576.0),
        ] {
            assert!(
                (mcnemar(fixed, broken) - p).abs() < 1e-12,
                "{fixed} {broken}"
            );
        }
        assert!((large_mcnemar(15, 5) - mcnemar(15, 5)).abs() < 1e-12);
        assert!(mcnemar(1_200, 1_000) < 0.001 && mcnemar(1_100, 1_090) > 0.8);
    }

    #[test]
    fn few_changed_pairs_are_not_enough_to_tell() {
        let found = PromptComparison::of(&pairs(7, 1, 2, 2));
        assert_eq!(found.conclusion, Conclusion::NotEnough);
        assert_eq!(found.expected_verdicts, Some(18));
        let sentence = found.sentence();
        assert!(sentence.starts_with("The new prompt fixes 7 of the 9 judgments that people overruled and breaks 1 of the 3 that they confirmed. Not enough to tell (exact McNemar p = .07). About 18 more verdicts"), "{sentence}");
        let nothing = PromptComparison::of(&pairs(0, 0, 5, 5));
        assert_eq!(
            (nothing.conclusion, nothing.expected_verdicts),
            (Conclusion::NotEnough, None)
        );
        let better = PromptComparison::of(&pairs(18, 3, 9, 2));
        assert_eq!(
            (better.conclusion, better.expected_verdicts),
            (Conclusion::Better, None)
        );
        assert_eq!(
            PromptComparison::of(&pairs(3, 18, 0, 0)).conclusion,
            Conclusion::Worse
        );
        assert_eq!(
            PromptComparison::of(&pairs(11, 10, 0, 0)).conclusion,
            Conclusion::NoDifference
        );
    }

    #[test]
    fn rare_pairs_weigh_more_and_pairs_of_one_query_are_one_observation() {
        let mut two = [pair(0, false, true), pair(1, true, false)];
        two[0].inclusion = Some(0.1);
        two[1].inclusion = Some(1.0);
        let found = PromptComparison::of(&two);
        let difference = found.difference.unwrap().value;
        assert!((difference - 9.0 / 11.0).abs() < 1e-12, "{difference}");
        assert!((found.new.corrected.unwrap().value - 10.0 / 11.0).abs() < 1e-12);
        // Twelve fixed pairs of two queries are hardly more than two observations.
        let alike: Vec<ComparedPair> = (0..12).map(|at| pair(at % 2, false, true)).collect();
        let found = PromptComparison::of(&alike);
        assert!(found.mcnemar_p < 0.001 && found.query_p.unwrap() >= 0.5);
    }

    #[test]
    fn causes_count_the_overruled_judgments() {
        let mut some = pairs(2, 1, 1, 1);
        some[0].cause = Some(ErrorCause::GuidelineGap);
        let causes = PromptComparison::of(&some).causes;
        assert_eq!(causes.len(), 2);
        assert_eq!(
            (causes[0].cause, causes[0].fixed, causes[0].still_wrong),
            (None, 1, 1)
        );
        assert_eq!(causes[1].cause, Some(ErrorCause::GuidelineGap));
    }

    #[test]
    fn a_judge_that_names_the_first_document_leans_and_flips() {
        let first =
            order_effect(&[(0, Outcome::A, Outcome::B), (1, Outcome::A, Outcome::B)]).unwrap();
        assert_eq!((first.lean, first.flips.unwrap().value), (1.0, 1.0));
        let steady = order_effect(&[(0, Outcome::A, Outcome::A)]).unwrap();
        assert_eq!((steady.lean, steady.flips.unwrap().value), (0.0, 0.0));
        assert_eq!(order_effect(&[]), None);
    }

    proptest! {
        #[test]
        fn an_unchanged_prompt_changes_nothing(answers in prop::collection::vec((0usize..5, any::<bool>()), 1..40)) {
            let same: Vec<ComparedPair> = answers.iter().map(|(query, right)| pair(*query, *right, *right)).collect();
            let found = PromptComparison::of(&same);
            prop_assert_eq!((found.fixed, found.broken, found.mcnemar_p), (0, 0, 1.0));
            prop_assert_eq!(found.old, found.new);
            prop_assert_eq!(found.difference.unwrap().value, 0.0);
        }

        #[test]
        fn exchanging_the_prompts_exchanges_fixed_and_broken(fixed in 0usize..40, broken in 0usize..40) {
            let forth = PromptComparison::of(&pairs(fixed, broken, 3, 2));
            let back = PromptComparison::of(&pairs(broken, fixed, 3, 2));
            prop_assert_eq!((forth.fixed, forth.broken), (back.broken, back.fixed));
            prop_assert_eq!(forth.mcnemar_p, back.mcnemar_p);
            prop_assert!(forth.mcnemar_p > 0.0 && forth.mcnemar_p <= 1.0);
        }
    }
}
