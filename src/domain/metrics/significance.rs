//! Uncertainty of means over queries, and tests of whether two runs differ by more than the choice
//! of queries explains.

use crate::domain::analysis::wilson_share;
use crate::domain::sampling::SeededRng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::collections::BTreeSet;

/// How to resample. The same values and settings give the same numbers on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resampling {
    /// Number of resamples, and of random sign patterns in a randomization test.
    pub draws: usize,
    /// Confidence level of the intervals, between 0 and 1.
    pub level: f64,
    pub seed: u64,
}

impl Resampling {
    /// Settings for interactive use: 10,000 draws for up to a thousand cases, fewer beyond that,
    /// but at least 1,000.
    pub fn of(cases: usize) -> Self {
        Self {
            draws: (10_000_000 / cases.max(1)).clamp(1_000, 10_000),
            ..Self::default()
        }
    }
}

impl Default for Resampling {
    fn default() -> Self {
        Self {
            draws: 10_000,
            level: 0.95,
            seed: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanEstimate {
    pub mean: f64,
    /// Number of queries.
    pub n: usize,
    /// Interval over queries, see [`mean_interval`]; `None` for fewer than two. If all values are
    /// the same share, it is Wilson's interval; for other equal values it is `None`.
    pub interval: Option<(f64, f64)>,
}

/// The paired t-test (Student 1908) of a mean difference of zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// The mean difference divided by its standard error.
    pub t: f64,
    pub degrees: usize,
    pub p: f64,
    pub standard_error: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Queries for which both have a value.
    pub n: usize,
    /// Mean of first minus second.
    pub mean_difference: f64,
    /// Interval of the mean difference over queries, see [`mean_interval`]; `None` for fewer than
    /// two, and if all differences are the same. If all differences are 0, it is 0 to 0.
    pub interval: Option<(f64, f64)>,
    /// Two-sided p-value of the paired randomization test.
    pub randomization_p: f64,
    /// The paired t-test, if the differences vary.
    pub t_test: Option<TTest>,
    /// Number of queries on which the first is better, both are equal, and the second is better.
    pub wins_ties_losses: (usize, usize, usize),
}

/// Whether a mean difference is within a margin, by two one-sided t-tests (Schuirmann 1987).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// The largest difference that counts as equal; above 0.
    pub margin: f64,
    /// The larger of the p-values of the two tests, against a difference of −margin or less and
    /// against one of margin or more.
    pub p: f64,
    /// The t interval of the difference at 90 %. It is within the margin if `p` is below 5 %.
    pub interval: (f64, f64),
}

/// What a comparison shows at an error of 5 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PairedVerdict {
    Better,
    Worse,
    /// The difference is within the margin.
    Equal,
    Undecided,
}

impl PairedVerdict {
    /// The verdict from the two-sided p-value of the difference and that of the equivalence. A
    /// difference that is significant and within the margin is better or worse.
    pub fn of(difference: f64, p: f64, equivalence: Option<f64>) -> Self {
        const ERROR: f64 = 0.05;
        if p <= ERROR && difference > 0.0 {
            Self::Better
        } else if p <= ERROR && difference < 0.0 {
            Self::Worse
        } else if equivalence.is_some_and(|p| p <= ERROR) {
            Self::Equal
        } else {
            Self::Undecided
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equal => "equal",
            Self::Undecided => "undecided",
        }
    }
}

impl Comparison {
    /// Tests whether the difference is within `margin`; `None` if the differences do not vary.
    pub fn equivalence(&self, margin: f64) -> Option<Equivalence> {
        let test = self.t_test?;
        let student = StudentsT::new(0.0, 1.0, test.degrees as f64).ok()?;
        let p = |distance: f64| student.cdf(-distance / test.standard_error);
        let half = student.inverse_cdf(0.95) * test.standard_error;
        Some(Equivalence {
            margin,
            p: p(margin + self.mean_difference).max(p(margin - self.mean_difference)),
            interval: (self.mean_difference - half, self.mean_difference + half),
        })
    }
}

/// Holm's step-down correction (1979) of p-values, in their original order: at most 1, and never
/// below the corrected value of a smaller p-value. Missing values were not tested and do not count.
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p
        .iter()
        .enumerate()
        .filter_map(|(at, p)| Some((at, (*p)?)))
        .collect();
    order.sort_by(|x, y| x.1.total_cmp(&y.1));
    let tests = order.len();
    let mut corrected = vec![None; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, (at, p)) in order.into_iter().enumerate() {
        largest = largest.max(((tests - rank) as f64 * p).min(1.0));
        if let Some(place) = corrected.get_mut(at) {
            *place = Some(largest);
        }
    }
    corrected
}

/// The mean of `values` with its interval, or `None` without values.
pub fn estimate(values: &[f64], how: &Resampling) -> Option<MeanEstimate> {
    with_interval(values, mean_interval(&sorted(values), how), how)
}

/// Sorts the values, so that the resamples and random signs do not depend on the order in which the
/// values were given.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The [`estimate`] of each column, identical to the last bit. Columns of the same length share the
/// same resamples, which are drawn only once.
pub fn estimates(columns: &[Vec<f64>], how: &Resampling) -> Vec<Option<MeanEstimate>> {
    let mut found: Vec<Option<MeanEstimate>> = columns.iter().map(|_| None).collect();
    let lengths: BTreeSet<usize> = columns.iter().map(Vec::len).collect();
    for (at, column) in columns.iter().enumerate() {
        if column.len() <= MOST_FOR_T {
            found[at] = estimate(column, how);
        }
    }
    for length in lengths.into_iter().filter(|length| *length > MOST_FOR_T) {
        let alike: Vec<usize> = (0..columns.len())
            .filter(|at| columns[*at].len() == length)
            .collect();
        for together in alike.chunks(TOGETHER) {
            // Store the columns interleaved, so that one memory access fetches a case's values of
            // all columns.
            let mut cases = vec![[0.0; TOGETHER]; length];
            for (place, column) in together.iter().enumerate() {
                for (case, value) in cases.iter_mut().zip(sorted(&columns[*column])) {
                    case[place] = value;
                }
            }
            let intervals = bootstraps(length, how, |chosen| {
                let mut sums = [-0.0; TOGETHER];
                for case in chosen.iter().filter_map(|at| cases.get(*at)) {
                    sums.iter_mut().zip(case).for_each(|(sum, of)| *sum += of);
                }
                sums.map(|sum| Some(sum / chosen.len() as f64))
            });
            for (column, interval) in together.iter().zip(intervals) {
                found[*column] = with_interval(&columns[*column], interval, how);
            }
        }
    }
    found
}

fn with_interval(
    values: &[f64],
    interval: Option<(f64, f64)>,
    how: &Resampling,
) -> Option<MeanEstimate> {
    // The mean of shares is always in 0..=1.
    let shares = values.iter().all(|value| (0.0..=1.0).contains(value));
    let (mean, n) = (mean(values)?, values.len());
    let interval = match (interval, shares) {
        (Some((low, high)), true) => Some((low.max(0.0), high.min(1.0))),
        (None, true) => equal_shares(mean, n, how.level),
        (interval, false) => interval,
    };
    Some(MeanEstimate { mean, n, interval })
}

/// The interval of a share that is the same in all of `n` cases: Wilson's, as if each case were one
/// yes-or-no answer. Values in 0..=1 cannot spread more than those, and resampling identical values
/// says nothing about how much others might differ. `None` for fewer than two cases or a level
/// outside (0, 1).
pub fn equal_shares(share: f64, n: usize, level: f64) -> Option<(f64, f64)> {
    (n > 1 && level > 0.0 && level < 1.0).then(|| wilson_share(share, n as f64, level))
}

/// Compares first with second, pair by pair; `None` without pairs or for lists of different
/// lengths.
pub fn compare(first: &[f64], second: &[f64], how: &Resampling) -> Option<Comparison> {
    if first.len() != second.len() {
        return None;
    }
    let differences: Vec<f64> = first.iter().zip(second).map(|(x, y)| x - y).collect();
    let differences = sorted(&differences);
    let mean_difference = mean(&differences)?;
    let count = |test: fn(&f64) -> bool| differences.iter().filter(|d| test(d)).count();
    // Identical values also have no differences in any resample.
    let nothing = differences.iter().all(|d| *d == 0.0);
    let alike = Resampling { draws: 1, ..*how };
    let how = if nothing { &alike } else { how };
    Some(Comparison {
        n: differences.len(),
        mean_difference,
        interval: if nothing {
            (differences.len() > 1).then_some((0.0, 0.0))
        } else {
            mean_interval(&differences, how)
        },
        randomization_p: randomization_p(&differences, how)?,
        t_test: t_test(&differences),
        wins_ties_losses: (
            count(|d| *d > 0.0),
            count(|d| *d == 0.0),
            count(|d| *d < 0.0),
        ),
    })
}

/// The number of queries with which a paired t-test at 5 %, Bonferroni-corrected for `tests` tests,
/// finds a true difference of this size in 4 of 5 cases, if differences vary as in `measured`; the
/// normal approximation with the correction of Guenther (1981). `None` if they do not vary.
pub fn queries_to_detect(difference: f64, measured: &Comparison, tests: usize) -> Option<usize> {
    const ERROR: f64 = 0.05;
    const POWER: f64 = 0.8;
    let deviation = measured.t_test?.standard_error * (measured.n as f64).sqrt();
    let normal = Normal::standard();
    let critical = normal.inverse_cdf(1.0 - ERROR / (2.0 * tests.max(1) as f64));
    let distance = critical + normal.inverse_cdf(POWER);
    let needed = (distance * deviation / difference).powi(2) + critical.powi(2) / 2.0;
    needed.is_finite().then(|| needed.ceil() as usize)
}

/// Number of columns whose resamples are summed at the same time.
const TOGETHER: usize = 8;

/// Minimum number of cases for the bootstrap: with ten cases, a 95 % percentile interval covers the
/// mean in only 90 % of samples.
const ENOUGH_TO_RESAMPLE: usize = 30;

/// Maximum number of cases for which the interval of a mean is Student's: with thirty cases, the
/// percentile interval covers .917.
const MOST_FOR_T: usize = 100;

/// The interval of a mean: Student's for up to [`MOST_FOR_T`] values, the bootstrap's for more.
/// `None` in the same cases as [`bootstrap`].
fn mean_interval(values: &[f64], how: &Resampling) -> Option<(f64, f64)> {
    let statistic = |chosen: &[usize]| mean_of(values, chosen);
    if values.len() > MOST_FOR_T {
        return bootstrap(values.len(), how, statistic);
    }
    if values.len() < 2 || !(how.level > 0.0 && how.level < 1.0) {
        return None;
    }
    // For a mean, the jackknife interval is Student's.
    let [interval] = jackknives(values.len(), how.level, |chosen| [statistic(chosen)]);
    interval.filter(has_width)
}

/// Whether the ends differ by more than rounding: sums of the same numbers in another order may
/// differ in the last bits.
pub(super) fn has_width((low, high): &(f64, f64)) -> bool {
    high - low > 1e-12 * high.abs().max(1.0)
}

/// The percentile bootstrap interval (Efron & Tibshirani 1993, §13.3) of a statistic of `n`
/// exchangeable cases. For fewer than [`ENOUGH_TO_RESAMPLE`] cases, the jackknife interval with the
/// t quantile, which for a mean is Student's.
///
/// `statistic` receives the indexes of a resample, drawn with replacement; resamples without a
/// value are skipped. The ends are order statistics at the tail probabilities of the draws. `None`
/// for fewer than two cases, for a level outside (0, 1), if no resample has a value, if a jackknife
/// statistic has none, and if both ends are the same: identical cases do not say how uncertain
/// their statistic is.
pub(crate) fn bootstrap(
    n: usize,
    how: &Resampling,
    statistic: impl Fn(&[usize]) -> Option<f64>,
) -> Option<(f64, f64)> {
    let [interval] = bootstraps(n, how, |chosen| [statistic(chosen)]);
    interval
}

/// The [`bootstrap`] intervals of several statistics over the same resamples.
pub fn bootstraps<const N: usize>(
    n: usize,
    how: &Resampling,
    statistics: impl FnMut(&[usize]) -> [Option<f64>; N],
) -> [Option<(f64, f64)>; N] {
    if n < 2 || !(how.level > 0.0 && how.level < 1.0) {
        return [None; N];
    }
    let found = if n < ENOUGH_TO_RESAMPLE {
        jackknives(n, how.level, statistics)
    } else {
        percentiles(n, how, statistics)
    };
    found.map(|ends| ends.filter(has_width))
}

fn percentiles<const N: usize>(
    n: usize,
    how: &Resampling,
    mut statistics: impl FnMut(&[usize]) -> [Option<f64>; N],
) -> [Option<(f64, f64)>; N] {
    let mut rng = SeededRng::new(how.seed, &["bootstrap"]);
    let mut chosen = vec![0; n];
    let mut values: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(how.draws));
    for _ in 0..how.draws {
        rng.fill_below(n, &mut chosen);
        for (values, found) in values.iter_mut().zip(statistics(&chosen)) {
            values.extend(found);
        }
    }
    let tail = (1.0 - how.level) / 2.0;
    values.map(|mut values| {
        values.sort_unstable_by(f64::total_cmp);
        let cut = (tail * values.len() as f64).floor() as usize;
        Some((*values.get(cut)?, *values.iter().rev().nth(cut)?))
    })
}

/// θ ± t · se with the jackknife error (Tukey 1958), se² = (n − 1) / n · Σ (θ_i − mean)² over the
/// statistics θ_i without case i, and n − 1 degrees of freedom.
fn jackknives<const N: usize>(
    n: usize,
    level: f64,
    mut statistics: impl FnMut(&[usize]) -> [Option<f64>; N],
) -> [Option<(f64, f64)>; N] {
    let all: Vec<usize> = (0..n).collect();
    let whole = statistics(&all);
    let mut without: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(n));
    for left_out in 0..n {
        let rest: Vec<usize> = all.iter().copied().filter(|at| *at != left_out).collect();
        for (values, found) in without.iter_mut().zip(statistics(&rest)) {
            values.extend(found);
        }
    }
    let degrees = n as f64 - 1.0;
    let t = StudentsT::new(0.0, 1.0, degrees).map(|t| t.inverse_cdf(0.5 + level / 2.0));
    std::array::from_fn(|at| {
        let (value, left) = (whole[at]?, &without[at]);
        let mean = mean(left).filter(|_| left.len() == n)?;
        let squares: f64 = left.iter().map(|value| (value - mean).powi(2)).sum();
        let half = t.as_ref().ok()? * (squares * degrees / n as f64).sqrt();
        half.is_finite().then_some((value - half, value + half))
    })
}

/// The two-sided p-value of the paired randomization test (Fisher 1935; Smucker, Allan & Carterette
/// 2007), or `None` without differences.
///
/// Exact, over all sign patterns, if there are no more of them than draws; otherwise (b + 1) /
/// (draws + 1), where b is the number of random patterns whose mean is at least as far from zero
/// (Phipson & Smyth 2010).
pub(crate) fn randomization_p(differences: &[f64], how: &Resampling) -> Option<f64> {
    let n = differences.len();
    if n == 0 {
        return None;
    }
    let observed = differences.iter().sum::<f64>().abs();
    // Sort ascending, so that the signs do not depend on the order of the queries or of the runs.
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let sizes = sorted(&sizes);
    // Sums of the same numbers with other signs may differ in the last bits.
    let slack = 1e-12 * sizes.iter().sum::<f64>();
    let signed = |minus: &mut dyn FnMut(usize) -> bool| -> bool {
        let sum: f64 = sizes
            .iter()
            .enumerate()
            .map(|(at, d)| if minus(at) { -d } else { *d })
            .sum();
        sum.abs() >= observed - slack
    };
    let patterns = u32::try_from(n).ok().and_then(|n| 1usize.checked_shl(n));
    if let Some(all) = patterns.filter(|all| *all <= how.draws) {
        let extreme = (0..all)
            .filter(|pattern| signed(&mut |at| pattern >> at & 1 == 1))
            .count();
        return Some(extreme as f64 / all as f64);
    }
    let mut rng = SeededRng::new(how.seed, &["randomisation"]);
    let extreme = (0..how.draws)
        .filter(|_| signed(&mut |_| rng.below(2) == 1))
        .count();
    Some((extreme + 1) as f64 / (how.draws + 1) as f64)
}

/// The paired t-test of differences, or `None` for fewer than two or if all are equal up to
/// rounding, because rounding noise is not variance.
pub(crate) fn t_test(differences: &[f64]) -> Option<TTest> {
    let n = differences.len();
    let mean = mean(differences)?;
    let degrees = n.checked_sub(1).filter(|degrees| *degrees > 0)?;
    let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
    let standard_error = (squares / degrees as f64 / n as f64).sqrt();
    let (low, high) = differences
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), d| {
            (low.min(*d), high.max(*d))
        });
    if standard_error.is_nan() || !has_width(&(low, high)) {
        return None;
    }
    let t = mean / standard_error;
    let student = StudentsT::new(0.0, 1.0, degrees as f64).ok()?;
    Some(TTest {
        t,
        degrees,
        p: 2.0 * student.cdf(-t.abs()),
        standard_error,
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| (values.iter().sum::<f64>() + 0.0) / values.len() as f64)
}

fn mean_of(values: &[f64], chosen: &[usize]) -> Option<f64> {
    let sum: f64 = chosen.iter().filter_map(|at| values.get(*at)).sum();
    Some(sum / chosen.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holms_correction_is_the_textbooks() {
        let p = [Some(0.01), Some(0.04), None, Some(0.03), Some(0.005)];
        let found = holm(&p);
        let expected = [Some(0.03), Some(0.06), None, Some(0.06), Some(0.02)];
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-15);
        }
        assert_eq!(holm(&[Some(0.9), Some(0.8)]), [Some(1.0), Some(1.0)]);
    }

    /// Computed by hand from the six differences.
    #[test]
    fn equivalence_is_two_one_sided_t_tests() {
        let first = [0.52, 0.61, 0.48, 0.70, 0.55, 0.63];
        let second = [0.50, 0.62, 0.49, 0.68, 0.56, 0.60];
        let of = compare(&first, &second, &Resampling::default()).unwrap();
        let mean = 0.04 / 6.0;
        let squares: f64 = [0.02, -0.01, -0.01, 0.02, -0.01, 0.03f64]
            .iter()
            .map(|d| (d - mean).powi(2))
            .sum();
        let error = (squares / 5.0 / 6.0).sqrt();
        let found = of.equivalence(0.03).unwrap();
        // t(5) at .95 is 2.015048.
        assert!((found.interval.0 - (mean - 2.015_048 * error)).abs() < 1e-7);
        assert!((found.interval.1 - (mean + 2.015_048 * error)).abs() < 1e-7);
        assert!(found.p < 0.05 && found.interval.1 < 0.03);
        // At the end of its 90 % interval, the test is exactly at 5 %.
        let at_end = of.equivalence(found.interval.1).unwrap();
        assert!((at_end.p - 0.05).abs() < 1e-9);
        assert!(of.equivalence(0.005).unwrap().p > 0.5);
        let alike = compare(&[0.5; 9], &[0.5; 9], &Resampling::default()).unwrap();
        assert_eq!(alike.equivalence(0.1), None);
    }

    #[test]
    fn a_verdict_needs_a_small_p_value() {
        let table = [
            (0.1, 0.01, Some(0.9), PairedVerdict::Better),
            (-0.1, 0.05, None, PairedVerdict::Worse),
            (-0.001, 0.2, Some(0.05), PairedVerdict::Equal),
            (0.001, 0.01, Some(0.01), PairedVerdict::Better),
            (0.0, 1.0, Some(0.01), PairedVerdict::Equal),
            (0.1, 0.06, Some(0.06), PairedVerdict::Undecided),
            (0.0, 0.0, None, PairedVerdict::Undecided),
        ];
        for (difference, p, equivalence, verdict) in table {
            assert_eq!(PairedVerdict::of(difference, p, equivalence), verdict);
        }
    }

    #[test]
    fn few_queries_have_students_interval() {
        // 1, 2, 3, 4: mean 2.5, error (5 / 3 / 4)^½, t(3) = 3.182446.
        let of = estimate(&[1.0, 2.0, 3.0, 4.0], &Resampling::default()).unwrap();
        let half = 3.182_446_3 * (5.0f64 / 12.0).sqrt();
        let (low, high) = of.interval.unwrap();
        assert!((low - (2.5 - half)).abs() < 1e-6 && (high - (2.5 + half)).abs() < 1e-6);
        let shares = estimate(&[0.0, 1.0, 1.0], &Resampling::default()).unwrap();
        assert_eq!(shares.interval, Some((0.0, 1.0)));
    }

    /// The numbers are those of G*Power 3.1: matched pairs, two tails, power .8.
    #[test]
    fn the_number_of_queries_follows_from_the_spread() {
        let measured = |deviation: f64| Comparison {
            n: 25,
            t_test: Some(TTest {
                t: 0.0,
                degrees: 24,
                p: 1.0,
                standard_error: deviation / 5.0,
            }),
            ..compare(&[0.0], &[0.0], &Resampling::default()).unwrap()
        };
        let needed = |deviation| queries_to_detect(0.03, &measured(deviation), 1);
        assert_eq!(needed(0.1), Some(90));
        assert_eq!(needed(0.2), Some(351));
        assert_eq!(needed(0.03), Some(10));
        assert!(queries_to_detect(0.03, &measured(0.1), 4) > needed(0.1));
        let alike = compare(&[0.5; 9], &[0.5; 9], &Resampling::default()).unwrap();
        assert_eq!(queries_to_detect(0.03, &alike, 1), None);
    }

    #[test]
    fn values_that_do_not_differ_do_not_collapse_the_interval() {
        let how = Resampling::default();
        for n in [2, 4, 29, 30, 200] {
            for share in [0.0, 2.0 / 3.0, 1.0] {
                let of = estimate(&vec![share; n], &how).unwrap();
                assert_eq!(of.interval, Some(wilson_share(of.mean, n as f64, 0.95)));
            }
            assert_eq!(estimate(&vec![7.3; n], &how).unwrap().interval, None);
            let apart = compare(&vec![0.7; n], &vec![0.4; n], &how).unwrap();
            assert_eq!(apart.interval, None);
            let alike = compare(&vec![0.7; n], &vec![0.7; n], &how).unwrap();
            assert_eq!(alike.interval, Some((0.0, 0.0)));
        }
    }

    #[test]
    fn columns_together_have_the_estimates_of_each_alone() {
        let mut rng = SeededRng::new(4, &["columns"]);
        let lengths = [
            0, 1, 12, 140, 140, 12, 140, 200, 140, 140, 140, 140, 140, 140, 40,
        ];
        let columns: Vec<Vec<f64>> = lengths
            .iter()
            .map(|length| (0..*length).map(|_| 2.0 * rng.unit() - 0.5).collect())
            .collect();
        let how = Resampling::default();
        let together = estimates(&columns, &how);
        assert_eq!(together.len(), columns.len());
        for (column, found) in columns.iter().zip(together) {
            assert_eq!(found, estimate(column, &how), "{}", column.len());
        }
    }

    /// How often the interval of the mean of ten queries, drawn by `value`, covers `truth`.
    fn coverage(truth: f64, value: impl Fn(&mut SeededRng) -> f64) -> f64 {
        let mut rng = SeededRng::new(9, &["coverage"]);
        let held = (0..2000).filter(|_| {
            let values: Vec<f64> = (0..10).map(|_| value(&mut rng)).collect();
            estimate(&values, &Resampling::default())
                .and_then(|of| of.interval)
                .is_some_and(|(low, high)| low <= truth && truth <= high)
        });
        held.count() as f64 / 2000.0
    }

    #[test]
    fn intervals_of_ten_queries_cover() {
        // Distributions like that of NDCG: uniform, skewed toward 1, and with a fifth of the
        // queries at 1.
        let even = coverage(0.5, SeededRng::unit);
        let high = coverage(2.0 / 3.0, |rng| rng.unit().sqrt());
        let ceiling = coverage(0.6, |rng| if rng.unit() < 0.2 { 1.0 } else { rng.unit() });
        for share in [even, high, ceiling] {
            assert!((0.93..=0.975).contains(&share), "{even} {high} {ceiling}");
        }
    }
}
