//! Groups of rows: by radius, in buckets of equal population, and in segments of two axes. Each
//! group keeps the indexes of its rows, if they are wanted.

use super::folded::{Category, FoldedRow};
use super::rows::{KeyedRow, PartStarts, SortedRows, SortingRows, StudentRows};
use crate::domain::numeric::{PairMeans, PairSpread};
use crate::features::student::domain::spool::{Scratch, SpoolError};
use serde::Serialize;

/// Number of radii at which the yield is given.
const RADII: usize = 10;
/// Number of buckets, starting with the least certain, in which P(tie) is compared with ties.
const UNSURE_BUCKETS: usize = 5;

/// The battles up to a point of an order, and their composition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct YieldPoint {
    /// The maximum radius of these battles.
    pub radius: f64,
    pub n: usize,
    /// Their share of all battles.
    pub share: f64,
    /// Shares by [`Category`]; `None` without battles.
    pub composition: Option<[f64; 5]>,
}

/// Battles with similar expectations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bucket {
    pub n: usize,
    /// Lowest and highest value of the sort key.
    pub low: f64,
    pub high: f64,
    /// Mean folded score expected by the student and given by the ensemble, with the standard error
    /// of the latter treating battles as independent; `None` for one battle.
    pub expected: f64,
    pub observed: f64,
    pub observed_se: Option<f64>,
    /// Shares by [`Category`].
    pub composition: [f64; 5],
    /// Mean P(tie), and the ensemble's mean |C|.
    pub tie: f64,
    pub observed_decisiveness: f64,
    /// Indexes into the rows, sorted like the buckets, if they are kept.
    #[serde(skip)]
    pub rows: Vec<usize>,
}

/// Whether P(tie) distinguishes ties from splits among battles with nearly the same expected score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResidualTies {
    /// Lowest and highest expected score.
    pub low: f64,
    pub high: f64,
    pub n: usize,
    /// Correlation of P(tie) with the ensemble's |C|: negative if P(tie) carries more information.
    /// `None` if one does not vary.
    pub correlation: Option<f64>,
    #[serde(skip)]
    pub rows: Vec<usize>,
}

/// Battles that are similar in both E\[C\] and E|C|.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// The index of the strip by expected score, and of its cell by E|C|.
    pub strip: usize,
    pub cell: usize,
    pub n: usize,
    /// Lowest and highest expected score and E|C| among its battles.
    pub expected_range: (f64, f64),
    pub decisiveness_range: (f64, f64),
    pub expected: f64,
    pub observed: f64,
    pub decisiveness: f64,
    pub observed_decisiveness: f64,
    /// Share of battles in which the ensemble prefers the other document.
    pub wrong: f64,
    #[serde(skip)]
    pub rows: Vec<usize>,
}

/// Number of rows by [`Category`].
type Counts = [usize; 5];

fn count(counts: &mut Counts, row: &FoldedRow) {
    for (count, category) in counts.iter_mut().zip(Category::ALL) {
        *count += usize::from(row.category == category);
    }
}

fn composition(counts: &Counts) -> Option<[f64; 5]> {
    let all: usize = counts.iter().sum();
    (all > 0).then(|| counts.map(|count| count as f64 / all as f64))
}

/// The sum and the range of some numbers.
#[derive(Clone, Copy, Debug)]
struct Sum {
    sum: f64,
    low: f64,
    high: f64,
}

impl Default for Sum {
    fn default() -> Self {
        Self {
            // As in `Iterator::sum`.
            sum: -0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        }
    }
}

impl Sum {
    fn add(&mut self, number: f64) {
        self.sum += number;
        self.low = self.low.min(number);
        self.high = self.high.max(number);
    }

    fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// The rows of a group.
#[derive(Clone, Debug, Default)]
struct Members {
    counts: Counts,
    n: usize,
    key: Sum,
    expected: Sum,
    observed: Sum,
    decisiveness: Sum,
    observed_decisiveness: Sum,
    tie: Sum,
    wrong: usize,
    rows: Vec<usize>,
}

impl Members {
    fn add(&mut self, of: &KeyedRow, keeps_rows: bool) {
        let row = &of.folded;
        count(&mut self.counts, row);
        self.n += 1;
        self.key.add(of.key);
        self.expected.add(row.expected());
        self.observed.add(row.score);
        self.decisiveness.add(row.decisiveness());
        self.observed_decisiveness.add(row.observed_decisiveness());
        self.tie.add(row.tie());
        self.wrong += usize::from(row.score > 0.5);
        self.rows.extend(keeps_rows.then_some(of.index));
    }

    fn mean(&self, sum: Sum) -> f64 {
        sum.sum / self.n as f64
    }

    fn bucket(self, squares: f64) -> Bucket {
        let n = self.n as f64;
        Bucket {
            n: self.n,
            low: self.key.low,
            high: self.key.high,
            expected: self.mean(self.expected),
            observed: self.mean(self.observed),
            observed_se: (self.n > 1).then(|| (squares / n / (n - 1.0)).sqrt()),
            composition: composition(&self.counts).unwrap_or_default(),
            tie: self.mean(self.tie),
            observed_decisiveness: self.mean(self.observed_decisiveness),
            rows: self.rows,
        }
    }

    fn segment(self, strip: usize, cell: usize) -> Segment {
        Segment {
            strip,
            cell,
            n: self.n,
            expected_range: self.expected.range(),
            decisiveness_range: self.decisiveness.range(),
            expected: self.mean(self.expected),
            observed: self.mean(self.observed),
            decisiveness: self.mean(self.decisiveness),
            observed_decisiveness: self.mean(self.observed_decisiveness),
            wrong: self.wrong as f64 / self.n as f64,
            rows: self.rows,
        }
    }
}

/// The composition of the rows within each radius, of rows that are added one by one.
#[derive(Clone, Debug, Default)]
pub(super) struct Radii {
    within: [Counts; RADII],
    rows: usize,
}

impl Radii {
    fn radius(at: usize) -> f64 {
        (at + 1) as f64 / RADII as f64
    }

    pub(super) fn add(&mut self, row: &FoldedRow) {
        self.rows += 1;
        for (at, counts) in self.within.iter_mut().enumerate() {
            if row.radius <= Self::radius(at) {
                count(counts, row);
            }
        }
    }

    pub(super) fn points(&self) -> Vec<YieldPoint> {
        let points = self.within.iter().enumerate();
        points
            .map(|(at, counts)| point(counts, Self::radius(at), self.rows))
            .collect()
    }
}

fn point(counts: &Counts, radius: f64, all: usize) -> YieldPoint {
    let n = counts.iter().sum();
    YieldPoint {
        radius,
        n,
        share: n as f64 / all as f64,
        composition: composition(counts),
    }
}

/// Parts of equal population of sorted rows.
pub(super) struct Buckets {
    pub(super) buckets: Vec<Bucket>,
    /// The composition of the rows up to the end of each.
    pub(super) up_to: Vec<YieldPoint>,
    pub(super) starts: PartStarts,
}

/// Divides rows into parts of equal population, without empty ones.
pub(super) fn buckets(
    rows: &SortedRows,
    parts: usize,
    keeps_rows: bool,
) -> Result<Buckets, SpoolError> {
    let mut members: Vec<Members> = vec![Members::default(); parts];
    let mut starts = PartStarts::default();
    rows.each_in_parts(parts, |part, row| {
        starts.add(part, row);
        if let Some(members) = members.get_mut(part) {
            members.add(row, keeps_rows);
        }
    })?;
    let means: Vec<f64> = members.iter().map(|of| of.mean(of.observed)).collect();
    let mut squares = vec![Sum::default(); parts];
    rows.each_in_parts(parts, |part, row| {
        if let (Some(squares), Some(mean)) = (squares.get_mut(part), means.get(part)) {
            squares.add((row.folded.score - mean).powi(2));
        }
    })?;
    let all = members.iter().map(|of| of.n).sum();
    let mut taken = Counts::default();
    let (mut buckets, mut up_to) = (Vec::new(), Vec::new());
    for (members, squares) in members.into_iter().zip(squares).filter(|(of, _)| of.n > 0) {
        let counts = taken.iter_mut().zip(members.counts);
        counts.for_each(|(sum, n)| *sum += n);
        up_to.push(point(&taken, members.key.high, all));
        buckets.push(members.bucket(squares.sum));
    }
    Ok(Buckets {
        buckets,
        up_to,
        starts,
    })
}

/// The correlation of P(tie) with |C| in each of the least certain buckets.
pub(super) fn residual_ties(
    rows: &StudentRows,
    buckets: &[Bucket],
    keeps_rows: bool,
) -> Result<Vec<ResidualTies>, SpoolError> {
    let from = buckets.len().saturating_sub(UNSURE_BUCKETS);
    let unsure = buckets.get(from..).unwrap_or_default();
    // Keep battles with the same expectation together, even if a bucket boundary falls among them.
    let is_inside = |bucket: &Bucket, row: &FoldedRow| {
        let expected = row.expected();
        bucket.low <= expected && expected <= bucket.high
    };
    let each_inside = |visit: &mut dyn FnMut(usize, usize, (f64, f64))| {
        rows.each(|index, row| {
            let row = FoldedRow::of(row);
            for (at, bucket) in unsure.iter().enumerate() {
                if is_inside(bucket, &row) {
                    visit(at, index, (row.tie(), row.observed_decisiveness()));
                }
            }
        })
    };
    let mut counts = vec![0; unsure.len()];
    let mut indexes = vec![Vec::new(); unsure.len()];
    each_inside(&mut |at, index, _| {
        counts[at] += 1;
        indexes[at].extend(keeps_rows.then_some(index));
    })?;
    let mut means: Vec<PairMeans> = counts.iter().copied().map(PairMeans::of).collect();
    each_inside(&mut |at, _, pair| means[at].add(pair))?;
    let mut spreads: Vec<PairSpread> = means.into_iter().map(PairSpread::about).collect();
    each_inside(&mut |at, _, pair| spreads[at].add(pair))?;
    let found = unsure.iter().zip(counts).zip(spreads).zip(indexes);
    Ok(found
        .map(|(((bucket, n), spread), rows)| ResidualTies {
            low: bucket.low,
            high: bucket.high,
            n,
            correlation: spread.correlation(),
            rows,
        })
        .collect())
}

/// Divides rows sorted by expected score into strips, and each strip by E|C| into cells, all of
/// equal population and without empty ones.
pub(super) fn segments(
    by_expected: &SortedRows,
    (strips, cells): (usize, usize),
    keeps_rows: bool,
    scratch: &dyn Scratch,
) -> Result<Vec<Segment>, SpoolError> {
    let sorting = (0..strips).map(|_| SortingRows::new(scratch));
    let mut sorting = sorting.collect::<Result<Vec<_>, _>>()?;
    let mut result = Ok(());
    by_expected.each_in_parts(strips, |strip, of| {
        if let (Some(sorting), Ok(())) = (sorting.get_mut(strip), &result) {
            result = sorting.push(of.folded.decisiveness(), &of.row, of.index);
        }
    })?;
    result?;
    let mut found = Vec::new();
    for (strip, rows) in sorting.into_iter().enumerate() {
        let mut members: Vec<Members> = vec![Members::default(); cells];
        rows.sorted().each_in_parts(cells, |cell, row| {
            if let Some(members) = members.get_mut(cell) {
                members.add(row, keeps_rows);
            }
        })?;
        let filled = members.into_iter().enumerate().filter(|(_, of)| of.n > 0);
        found.extend(filled.map(|(cell, members)| members.segment(strip, cell)));
    }
    Ok(found)
}
