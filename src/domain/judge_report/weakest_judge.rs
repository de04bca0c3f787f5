//! Finds the worst judge, if its statistics set one apart from all others.

use super::{
    AnswerFinding, BothOrders, ENOUGH_PAIRS, JudgeConclusion, JudgeReport, PositionCounts,
    answer_finding,
};
use crate::domain::agreement::{Interval, Kappa};
use crate::domain::number_words::fixed;
use serde::Serialize;

/// Two judges by index, and their κ.
pub type JudgeKappa = (usize, usize, Kappa);

/// The statistics of one judge.
#[derive(Clone, Copy, Debug)]
pub struct JudgeRecord<'a> {
    pub card: Option<&'a JudgeReport>,
    pub named: PositionCounts,
    pub both_orders: BothOrders,
}

impl JudgeRecord<'_> {
    pub fn conclusion(&self) -> JudgeConclusion {
        JudgeConclusion::of(self.card, &self.named, &self.both_orders)
    }

    pub fn finding(&self) -> Option<AnswerFinding> {
        answer_finding(self.card, &self.named)
    }
}

/// A judge that stands out, and why.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WeakestJudge {
    /// Index of the judge.
    pub judge: usize,
    pub reason: WeaknessReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeaknessReason {
    /// Its answers do not depend on the documents, or depend on them too little.
    Answers(AnswerFinding),
    /// It agrees with people less often than the others do.
    People(Comparison),
    /// It contradicts itself more often than the others when a pair is swapped.
    Flips(Comparison),
    /// It agrees with the other judges less than they do with each other (Cohen's κ).
    Kappa(Comparison),
}

/// A judge's value compared with that of the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub value: f64,
    /// 95 % interval; `None` for a mean of several κ.
    pub interval: Option<Interval>,
    /// The unweighted mean of the others.
    pub others: f64,
}

impl WeaknessReason {
    /// The finding as a clause to be appended to the judge's name.
    pub fn words(&self, record: &JudgeRecord<'_>) -> String {
        let shares = |what: &str, compared: &Comparison, side: &str| {
            let range = compared.interval.map_or(String::new(), |interval| {
                format!(
                    " ({:.0}–{:.0})",
                    100.0 * interval.low,
                    100.0 * interval.high
                )
            });
            let points = 100.0 * (compared.value - compared.others).abs();
            format!(
                "{what} {:.0} %{range}, {points:.0} points {side} the others",
                100.0 * compared.value
            )
        };
        match self {
            Self::Answers(finding) if finding.is_void() => {
                record.named.finding_words().unwrap_or_default()
            }
            Self::Answers(_) => record.conclusion().words(),
            Self::People(compared) => shares("agrees with people in", compared, "below"),
            Self::Flips(compared) => shares("flips", compared, "above"),
            Self::Kappa(compared) => format!(
                "κ {} with the other judges, which have {} with one another",
                fixed(compared.value, 2),
                fixed(compared.others, 2)
            ),
        }
    }
}

/// The judge that stands out, by the first applicable criterion: answers that do not depend on the
/// documents, agreement with people, flips, κ with the other judges. A share is conclusive if the
/// 95 % interval of the worst judge excludes the mean of the others, with at least 20 pairs; κ is
/// conclusive if the upper ends of all its intervals are below the lower ends of all others. `None`
/// if no judge stands out, which does not mean that all are good.
pub fn weakest_judge(judges: &[JudgeRecord<'_>], kappas: &[JudgeKappa]) -> Option<WeakestJudge> {
    by_answers(judges)
        .or_else(|| {
            let people = |judge: &JudgeRecord<'_>| {
                let raw = judge.card?.people.all.raw?;
                Some((raw.value, raw.interval, raw.n))
            };
            by_share(judges, people, false, WeaknessReason::People)
        })
        .or_else(|| {
            let flips = |judge: &JudgeRecord<'_>| {
                let share = judge.both_orders.flip_share()?;
                Some((share.value, share.interval, share.n))
            };
            by_share(judges, flips, true, WeaknessReason::Flips)
        })
        .or_else(|| by_kappa(judges.len(), kappas))
}

fn by_answers(judges: &[JudgeRecord<'_>]) -> Option<WeakestJudge> {
    let found = |void: bool| {
        judges.iter().enumerate().find_map(|(judge, record)| {
            let finding = record.finding()?;
            (finding.is_void() == void).then_some(WeakestJudge {
                judge,
                reason: WeaknessReason::Answers(finding),
            })
        })
    };
    found(true).or_else(|| found(false))
}

fn by_share(
    judges: &[JudgeRecord<'_>],
    share: impl Fn(&JudgeRecord<'_>) -> Option<(f64, Interval, usize)>,
    high_is_bad: bool,
    reason: fn(Comparison) -> WeaknessReason,
) -> Option<WeakestJudge> {
    let sign = if high_is_bad { -1.0 } else { 1.0 };
    let known: Vec<(usize, f64, Interval)> = judges
        .iter()
        .enumerate()
        .filter_map(|(judge, record)| {
            let (value, interval, n) = share(record)?;
            (n >= ENOUGH_PAIRS).then_some((judge, value, interval))
        })
        .collect();
    let (judge, value, interval) = *known
        .iter()
        .min_by(|x, y| (sign * x.1).total_cmp(&(sign * y.1)))?;
    let others = known.iter().filter(|(other, ..)| *other != judge);
    let others = mean(others.map(|(_, value, _)| *value))?;
    let apart = if high_is_bad {
        interval.low > others
    } else {
        interval.high < others
    };
    apart.then(|| WeakestJudge {
        judge,
        reason: reason(Comparison {
            value,
            interval: Some(interval),
            others,
        }),
    })
}

fn by_kappa(judges: usize, kappas: &[JudgeKappa]) -> Option<WeakestJudge> {
    (0..judges).find_map(|judge| {
        let (own, others): (Vec<JudgeKappa>, Vec<JudgeKappa>) = kappas
            .iter()
            .partition(|(a, b, _)| *a == judge || *b == judge);
        let high = own.iter().map(|(.., kappa)| Some(kappa.interval?.high));
        let high = high
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .reduce(f64::max)?;
        let low = others.iter().map(|(.., kappa)| Some(kappa.interval?.low));
        let low = low
            .collect::<Option<Vec<f64>>>()?
            .into_iter()
            .reduce(f64::min)?;
        (high < low).then_some(())?;
        let value = |pairs: &[JudgeKappa]| mean(pairs.iter().map(|(.., kappa)| kappa.value));
        Some(WeakestJudge {
            judge,
            reason: WeaknessReason::Kappa(Comparison {
                value: value(&own)?,
                interval: None,
                others: value(&others)?,
            }),
        })
    })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(first: usize, second: usize, ties: usize) -> PositionCounts {
        PositionCounts {
            first,
            second,
            ties,
        }
    }

    fn kappa(value: f64) -> Kappa {
        Kappa {
            value,
            observed: 0.0,
            expected: 0.0,
            se: 0.05,
            n: 100,
            interval: Some(Interval {
                low: value - 0.1,
                high: value + 0.1,
            }),
        }
    }

    #[test]
    fn a_judge_that_answers_by_position_is_the_worst_whatever_else_is_known() {
        let record = |named| JudgeRecord {
            card: None,
            named,
            both_orders: BothOrders::default(),
        };
        let judges = [record(named(20, 20, 0)), record(named(0, 40, 0))];
        let found = weakest_judge(&judges, &[]).map(|weakest| (weakest.judge, weakest.reason));
        assert_eq!(
            found,
            Some((1, WeaknessReason::Answers(AnswerFinding::AlwaysSecond)))
        );
    }

    #[test]
    fn leaning_is_less_than_always() {
        let record = |named| JudgeRecord {
            card: None,
            named,
            both_orders: BothOrders::default(),
        };
        let judges = [record(named(80, 20, 0)), record(named(0, 0, 60))];
        let found = weakest_judge(&judges, &[]).map(|weakest| weakest.judge);
        assert_eq!(found, Some(1));
    }

    #[test]
    fn a_judge_that_agrees_with_nobody_stands_out_only_beyond_the_intervals() {
        let judges = [JudgeRecord {
            card: None,
            named: named(10, 10, 0),
            both_orders: BothOrders::default(),
        }; 3];
        let apart = [(0, 1, kappa(0.7)), (0, 2, kappa(0.2)), (1, 2, kappa(0.3))];
        let found = weakest_judge(&judges, &apart).map(|weakest| weakest.judge);
        assert_eq!(found, Some(2));
        let near = [(0, 1, kappa(0.45)), (0, 2, kappa(0.3)), (1, 2, kappa(0.3))];
        assert_eq!(weakest_judge(&judges, &near), None);
        assert_eq!(weakest_judge(&judges[..2], &apart[..1]), None);
    }
}
