//! The most important statement that a judge's statistics support, as one sentence.

use super::people_agreement::{ENOUGH_PAIRS, PersonComparison, worse_by};
use super::{AnswerFinding, BothOrders, JudgeReport, PeopleGap, PositionCounts};
use crate::domain::agreement::{Interval, Share};
use crate::domain::number_words::fixed;
use serde::Serialize;

/// Share of answers for one position above which a judge depends too much on the order.
const LEANS: f64 = 0.6;

/// A statement about a judge. Each one is decided by a 95 % interval; if no interval decides,
/// [`Self::NotEnough`] says what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeConclusion {
    /// The answers do not depend on the documents; with their share.
    Void(AnswerFinding, f64),
    /// The share of answers for the document shown first.
    LeansFirst(f64),
    /// The share of answers for the document shown second.
    LeansSecond(f64),
    /// The share of pairs whose answer changes with the order.
    Flips(f64),
    /// Agrees with people less than people do with each other; with the difference.
    WorseThanPeople(f64),
    /// The share of votes for the longer document, if the judge prefers it beyond what the scores
    /// explain.
    PrefersLonger(f64),
    PrefersShorter(f64),
    AsGoodAsPeople,
    NotEnough(MissingEvidence),
}

/// Why nothing can be said about a judge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingEvidence {
    /// Number of pairs that people judged blind.
    BlindPairs(usize),
    /// Number of those pairs that at least two people judged.
    JudgedTwice(usize),
    /// Number of pairs that at least two people judged, if they vary too little for an interval of
    /// the gap to people.
    NoInterval(usize),
    /// The interval of the gap to people is too wide.
    Gap(Interval),
}

impl JudgeConclusion {
    /// The conclusion about a judge, or about the ensemble, which has no presentation order.
    pub fn of(
        card: Option<&JudgeReport>,
        named: &PositionCounts,
        both_orders: &BothOrders,
    ) -> Self {
        let flips = || {
            both_orders
                .flips_too_often()
                .then(|| both_orders.flip_share())?
        };
        void(card, named)
            .or_else(|| leans(card?))
            .or_else(|| flips().map(|share| Self::Flips(share.value)))
            .or_else(|| worse(card?))
            .or_else(|| length(card?))
            .unwrap_or_else(|| compared_with_people(card))
    }

    /// Whether this is a problem with the judge.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Self::AsGoodAsPeople | Self::NotEnough(_))
    }

    /// The words with a verb, to be appended to the judge's name in a sentence.
    pub fn clause(&self) -> String {
        let words = self.words();
        match self {
            Self::WorseThanPeople(_) | Self::AsGoodAsPeople => format!("is {words}"),
            _ => words,
        }
    }

    /// The text of the column next to the judge's name.
    pub fn words(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        match *self {
            Self::Void(AnswerFinding::AlwaysTie, share) => {
                format!("calls everything a tie ({})", percent(share))
            }
            Self::Void(finding, share) => {
                let side = if finding == AnswerFinding::AlwaysFirst {
                    "first"
                } else {
                    "second"
                };
                format!("always names the {side} document ({})", percent(share))
            }
            Self::LeansFirst(share) => format!("leans to the first document ({})", percent(share)),
            Self::LeansSecond(share) => {
                format!("leans to the second document ({})", percent(share))
            }
            Self::Flips(share) => format!("changes its answer with the order ({})", percent(share)),
            Self::WorseThanPeople(by) => worse_by(by),
            Self::PrefersLonger(share) => format!("prefers long documents ({})", percent(share)),
            Self::PrefersShorter(share) => format!("prefers short documents ({})", percent(share)),
            Self::AsGoodAsPeople => "as good as a person".to_owned(),
            Self::NotEnough(missing) => format!("not enough to tell ({})", missing.words()),
        }
    }
}

impl MissingEvidence {
    fn words(&self) -> String {
        match *self {
            Self::BlindPairs(pairs) => format!("{pairs} of {ENOUGH_PAIRS} blind pairs"),
            Self::JudgedTwice(pairs) => {
                format!("{pairs} of {ENOUGH_PAIRS} pairs with two people")
            }
            Self::NoInterval(pairs) => {
                format!("no interval from {pairs} pairs with two people")
            }
            Self::Gap(Interval { low, high }) => format!(
                "{} to {} points from a person",
                fixed(100.0 * low, 0),
                fixed(100.0 * high, 0)
            ),
        }
    }
}

/// A problem with a judge's answers: they ignore the documents, or depend on the order of
/// presentation far too much.
pub fn answer_finding(card: Option<&JudgeReport>, named: &PositionCounts) -> Option<AnswerFinding> {
    if let Some(JudgeConclusion::Void(finding, _)) = void(card, named) {
        return Some(finding);
    }
    let interval = card?.position.as_ref()?.first_interval()?;
    if interval.low > LEANS {
        Some(AnswerFinding::LeansFirst)
    } else if interval.high < 1.0 - LEANS {
        Some(AnswerFinding::LeansSecond)
    } else {
        None
    }
}

/// A finding that makes the votes worthless. Naming one position only counts if the judge saw both
/// orders, because otherwise the documents may explain it.
fn void(card: Option<&JudgeReport>, named: &PositionCounts) -> Option<JudgeConclusion> {
    let saw_both = || card.is_none_or(|card| card.position.is_some());
    let finding = named.finding().filter(|finding| {
        finding.is_void() && (*finding == AnswerFinding::AlwaysTie || saw_both())
    })?;
    let share = |part: usize| part as f64 / named.votes().max(1) as f64;
    let share = match finding {
        AnswerFinding::AlwaysTie => share(named.ties),
        AnswerFinding::AlwaysFirst | AnswerFinding::LeansFirst => share(named.first),
        AnswerFinding::AlwaysSecond | AnswerFinding::LeansSecond => share(named.second),
    };
    Some(JudgeConclusion::Void(finding, share))
}

fn leans(card: &JudgeReport) -> Option<JudgeConclusion> {
    let position = card.position.as_ref()?;
    let (first, interval) = (position.first_share(), position.first_interval()?);
    if interval.low > 0.5 {
        Some(JudgeConclusion::LeansFirst(first))
    } else if interval.high < 0.5 {
        Some(JudgeConclusion::LeansSecond(1.0 - first))
    } else {
        None
    }
}

fn worse(card: &JudgeReport) -> Option<JudgeConclusion> {
    let gap = enough(card).ok()?;
    let is_worse = gap.comparison() == PersonComparison::Worse;
    is_worse.then_some(JudgeConclusion::WorseThanPeople(-gap.value))
}

/// The share alone is not a bias, because longer documents may really be better, so the slope at
/// equal scores has to agree with it.
fn length(card: &JudgeReport) -> Option<JudgeConclusion> {
    let Share {
        value, interval, ..
    } = card.length.longer?;
    let slope = card.length.slope?.interval?;
    if interval.low > 0.5 && slope.low > 0.0 {
        Some(JudgeConclusion::PrefersLonger(value))
    } else if interval.high < 0.5 && slope.high < 0.0 {
        Some(JudgeConclusion::PrefersShorter(1.0 - value))
    } else {
        None
    }
}

fn compared_with_people(card: Option<&JudgeReport>) -> JudgeConclusion {
    let Some(card) = card else {
        return JudgeConclusion::NotEnough(MissingEvidence::BlindPairs(0));
    };
    let gap = match enough(card) {
        Ok(gap) => gap,
        Err(missing) => return JudgeConclusion::NotEnough(missing),
    };
    match (gap.comparison(), gap.interval) {
        (PersonComparison::AsGood, _) => JudgeConclusion::AsGoodAsPeople,
        (_, Some(interval)) => JudgeConclusion::NotEnough(MissingEvidence::Gap(interval)),
        (_, None) => JudgeConclusion::NotEnough(MissingEvidence::NoInterval(gap.n)),
    }
}

/// The gap to people, if there are enough pairs for an interval.
fn enough(card: &JudgeReport) -> Result<PeopleGap, MissingEvidence> {
    let blind = card.people.blind.map_or(0, |share| share.n);
    if blind < ENOUGH_PAIRS {
        return Err(MissingEvidence::BlindPairs(blind));
    }
    let gap = card.gap.unwrap_or_default();
    if gap.n < ENOUGH_PAIRS {
        return Err(MissingEvidence::JudgedTwice(gap.n));
    }
    match gap.interval {
        Some(_) => Ok(gap),
        None => Err(MissingEvidence::NoInterval(gap.n)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::judge_reports;
    use super::super::tests::rating;
    use super::super::{LengthBias, LengthSlope, PositionShift};
    use super::*;
    use rstest::rstest;

    fn card() -> JudgeReport {
        judge_reports(&[rating(0, 0, 1, 1.0)], &[]).remove(0)
    }

    fn share(value: f64, low: f64, high: f64, n: usize) -> Option<Share> {
        let interval = Interval { low, high };
        let part = value * n as f64;
        Some(Share {
            part,
            n,
            value,
            interval,
        })
    }

    fn words(card: &JudgeReport) -> String {
        let (named, both) = (PositionCounts::default(), BothOrders::default());
        JudgeConclusion::of(Some(card), &named, &both).words()
    }

    #[rstest]
    #[case(0.36, Some((0.2, 0.52)), "leans to the first document (68 %)")]
    #[case(-0.4, Some((-0.6, -0.2)), "leans to the second document (70 %)")]
    #[case(-0.4, Some((-0.9, 0.1)), "not enough to tell (0 of 20 blind pairs)")]
    #[case(0.4, None, "not enough to tell (0 of 20 blind pairs)")]
    fn the_interval_decides_about_position(
        #[case] value: f64,
        #[case] interval: Option<(f64, f64)>,
        #[case] expected: &str,
    ) {
        let position = PositionShift {
            value,
            interval: interval.map(|(low, high)| Interval { low, high }),
            a_first: 10,
            b_first: 10,
            both: 0,
        };
        let card = JudgeReport {
            position: Some(position),
            ..card()
        };
        assert_eq!(words(&card), expected);
    }

    #[rstest]
    #[case(3, None, 0, "not enough to tell (3 of 20 blind pairs)")]
    #[case(60, None, 0, "not enough to tell (0 of 20 pairs with two people)")]
    #[case(60, Some((-0.01, 0.02)), 8, "not enough to tell (8 of 20 pairs with two people)")]
    #[case(
        60,
        None,
        40,
        "not enough to tell (no interval from 40 pairs with two people)"
    )]
    #[case(60, Some((-0.12, 0.03)), 40, "not enough to tell (−12 to 3 points from a person)")]
    #[case(60, Some((-0.04, 0.03)), 40, "as good as a person")]
    #[case(60, Some((-0.04, -0.01)), 40, "as good as a person")]
    #[case(60, Some((-0.30, -0.1)), 40, "worse than a person by 20 points")]
    fn the_gap_to_people_decides_about_quality(
        #[case] blind: usize,
        #[case] gap: Option<(f64, f64)>,
        #[case] n: usize,
        #[case] expected: &str,
    ) {
        let mut card = card();
        card.people.blind = share(0.61, 0.5, 0.7, blind);
        card.gap = Some(PeopleGap {
            value: gap.map_or(0.0, |(low, high)| (low + high) / 2.0),
            interval: gap.map(|(low, high)| Interval { low, high }),
            n,
            ..PeopleGap::default()
        });
        assert_eq!(words(&card), expected);
    }

    #[test]
    fn length_is_a_bias_only_at_equal_scores() {
        let slope = |low, high| LengthSlope {
            value: 0.0,
            se: 0.1,
            interval: Some(Interval { low, high }),
            n: 90,
        };
        let with = |slope| JudgeReport {
            length: LengthBias {
                longer: share(0.58, 0.53, 0.63, 90),
                slope: Some(slope),
            },
            ..card()
        };
        assert_eq!(
            words(&with(slope(0.1, 0.4))),
            "prefers long documents (58 %)"
        );
        assert!(words(&with(slope(-0.1, 0.4))).starts_with("not enough"));
    }

    #[test]
    fn answers_that_ignore_the_documents_come_first() {
        let named = PositionCounts {
            first: 0,
            second: 60,
            ties: 1,
        };
        let of =
            |card: &JudgeReport| JudgeConclusion::of(Some(card), &named, &BothOrders::default());
        let position = PositionShift {
            value: -1.0,
            interval: None,
            a_first: 30,
            b_first: 31,
            both: 0,
        };
        let shown_both_ways = JudgeReport {
            position: Some(position),
            ..card()
        };
        let found = of(&shown_both_ways);
        assert_eq!(found.words(), "always names the second document (98 %)");
        assert!(found.is_fault());
        // If every battle was shown in one order, the documents may explain the answers.
        assert!(!of(&card()).is_fault());
    }
}
