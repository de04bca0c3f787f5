//! Which documents are anchors, and the offsets of queries that their grades tell.

use crate::domain::metrics::{GradeModel, GradedScore};

/// The share of a ranking, from its top, over which anchors are spread: further down nearly all grades are 0.
const SPREAD: f64 = 0.6;
/// Rounds of the fit at most; tens are usual.
const ROUNDS: usize = 500;
/// The largest change of an offset in the last round, in units of zELO: far below any standard error.
const TOLERANCE: f64 = 1e-5;
/// Each step of the variance is taken so many times, in its logarithm: EM alone is slow, and this still converges.
const OVERSTEP: f64 = 1.9;
/// The variance of offsets never falls below this, in units of zELO².
const LEAST_VARIANCE: f64 = 1e-6;

/// A grade that a judge gave an anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnchorGrade {
    /// The number of its query.
    pub query: usize,
    /// Its zELO in the query.
    pub score: f64,
    /// From 0.
    pub grade: i32,
}

/// Where a query is on the common scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryOffset {
    /// In units of zELO; the mean over the queries is 0.
    pub b: f64,
    /// Its standard error, with the judge's cut points taken as known.
    pub se: f64,
    /// Grades that it rests on.
    pub anchors: usize,
}

/// What the grades of anchors tell.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchorFit {
    /// By query number; `None` for a query without a grade.
    pub offsets: Vec<Option<QueryOffset>>,
    /// The judge's cut points on e + b.
    pub grades: GradeModel,
    /// Standard deviation of the offsets, in units of zELO.
    pub tau: f64,
}

/// The ranks, from 0, of the anchors of a query with `documents` documents: `count` of them or as many as there are, spread
/// evenly from the first to the 60 % quantile.
pub fn anchor_ranks(documents: usize, count: usize) -> Vec<usize> {
    let count = count.min(documents);
    let deepest = ((documents.saturating_sub(1)) as f64 * SPREAD).round() as usize;
    // A short pool has fewer places above the quantile than anchors are wanted.
    let deepest = deepest.max(count.saturating_sub(1));
    let step = deepest as f64 / count.saturating_sub(1).max(1) as f64;
    (0..count)
        .map(|at| (at as f64 * step).round() as usize)
        .collect()
}

/// Fits offsets and cut points by MAP, with the variance of the offsets by EM (Laplace). `None` where all grades are the same,
/// or where there are none: they tell nothing then.
pub fn fit_anchors(queries: usize, anchors: &[AnchorGrade]) -> Option<AnchorFit> {
    let lowest = anchors.iter().map(|anchor| anchor.grade).min()?;
    let mut of_query: Vec<Vec<&AnchorGrade>> = vec![Vec::new(); queries];
    for anchor in anchors {
        if let Some(own) = of_query.get_mut(anchor.query) {
            own.push(anchor);
        }
    }
    let asked = of_query.iter().filter(|own| !own.is_empty()).count();
    // A judge that never gives 0 has one cut point fewer.
    let grade_of = |anchor: &AnchorGrade| {
        if anchor.grade == lowest {
            0
        } else {
            anchor.grade
        }
    };
    let mut b = vec![0.0; queries];
    let mut variance = 1.0f64;
    let mut model: Option<GradeModel> = None;
    let mut curvature = vec![0.0; queries];
    for _ in 0..ROUNDS {
        let graded: Vec<GradedScore> = anchors
            .iter()
            .map(|anchor| GradedScore {
                score: anchor.score + b.get(anchor.query).copied().unwrap_or(0.0),
                grade: grade_of(anchor),
                weight: 1.0,
            })
            .collect();
        let found = GradeModel::fit_from(&graded, model.as_ref())?;
        let mut largest = 0.0f64;
        for ((own, offset), bend) in of_query.iter().zip(&mut b).zip(&mut curvature) {
            if own.is_empty() {
                continue;
            }
            let before = *offset;
            (*offset, *bend) = best_offset(own, &found, grade_of, before, variance);
            largest = largest.max((*offset - before).abs());
        }
        let count = asked as f64;
        let mean = b.iter().sum::<f64>() / count;
        for (offset, own) in b.iter_mut().zip(&of_query) {
            if !own.is_empty() {
                *offset -= mean;
            }
        }
        let spread = of_query.iter().zip(b.iter().zip(&curvature));
        let spread = spread.filter(|(own, _)| !own.is_empty());
        let sum: f64 = spread.map(|(_, (b, bend))| b * b + 1.0 / bend).sum();
        let step = sum / count / variance;
        variance = (variance * step.powf(OVERSTEP)).max(LEAST_VARIANCE);
        model = Some(found.shifted(-mean));
        if largest < TOLERANCE {
            break;
        }
    }
    let offsets = of_query.iter().zip(b.iter().zip(&curvature));
    let offsets = offsets.map(|(own, (b, bend))| {
        (!own.is_empty()).then(|| QueryOffset {
            b: *b,
            se: (1.0 / bend).sqrt(),
            anchors: own.len(),
        })
    });
    Some(AnchorFit {
        offsets: offsets.collect(),
        grades: model?,
        tau: variance.sqrt(),
    })
}

/// The offset of a query that is most probable, and the curvature there, prior included: Newton's method on a concave function,
/// with steps of at most one standard deviation of the prior.
fn best_offset(
    own: &[&AnchorGrade],
    model: &GradeModel,
    grade_of: impl Fn(&AnchorGrade) -> i32,
    start: f64,
    variance: f64,
) -> (f64, f64) {
    let mut b = start;
    let most = variance.sqrt();
    let mut bend = 1.0 / variance;
    for _ in 0..100 {
        let (mut slope, mut curvature) = (-b / variance, 1.0 / variance);
        for anchor in own {
            let (gain, fall) = model.slope(anchor.score + b, grade_of(anchor));
            slope += gain;
            curvature += fall;
        }
        bend = curvature;
        let step = (slope / curvature).clamp(-most, most);
        b += step;
        if step.abs() < TOLERANCE / 100.0 {
            break;
        }
    }
    (b, bend)
}
