//! Estimates offsets of queries from graded anchors: ordinal regression with a random intercept per
//! query.

use crate::domain::common_scale::Offset;
use crate::domain::metrics::{GradeModel, GradedScore};

/// Maximum number of rounds of the fit, and the change in spread at which it has converged.
const ROUNDS: usize = 200;
const DONE: f64 = 1e-9;
/// Maximum number of steps to find a query's intercept.
const STEPS: usize = 50;

/// A graded anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnchorGrade {
    /// The index of the query.
    pub query: usize,
    /// The document's zELO.
    pub score: f64,
    /// At least 0; values below count as 0.
    pub grade: i32,
}

/// Offsets with the model that they were estimated with.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonScale {
    /// By query; `None` for queries without an anchor.
    pub offsets: Vec<Option<Offset>>,
    /// Predicts the grade that the anchors' judge would give a document with a linked score.
    pub grades: GradeModel,
    /// Standard deviation of the offsets among queries, which determines how much the fit shrinks
    /// them.
    pub spread: f64,
}

/// Fits P(grade ≥ level j) = σ(β · score + u_q − c_j) with u_q ~ N(0, s²): β and the cuts with the
/// prior of [`GradeModel`], the intercepts at their mode, s² by expectation maximization with the
/// curvature there. The offset of a query is u_q / β.
///
/// `None` if the grades fit no model: if all are the same, or none is 0.
pub fn fit_anchors(queries: usize, anchors: &[AnchorGrade]) -> Option<CommonScale> {
    let graded: Vec<GradedScore> = anchors
        .iter()
        .map(|anchor| GradedScore {
            score: anchor.score,
            grade: anchor.grade,
            weight: 1.0,
        })
        .collect();
    let mut of_query: Vec<Vec<&AnchorGrade>> = vec![Vec::new(); queries];
    for anchor in anchors {
        of_query.get_mut(anchor.query)?.push(anchor);
    }
    let with_anchors = of_query.iter().filter(|of| !of.is_empty()).count() as f64;
    let mut model = GradeModel::fit(&graded)?;
    let mut variance = 1.0;
    let mut intercepts = vec![(0.0, variance); queries];
    for _ in 0..ROUNDS {
        for (anchors, intercept) in of_query.iter().zip(&mut intercepts) {
            *intercept = mode(&model, anchors, variance, intercept.0);
        }
        let shifts: Vec<f64> = anchors
            .iter()
            .filter_map(|anchor| Some(intercepts.get(anchor.query)?.0))
            .collect();
        model = GradeModel::fit_shifted(&graded, &shifts)?;
        let sum: f64 = of_query
            .iter()
            .zip(&intercepts)
            .filter(|(anchors, _)| !anchors.is_empty())
            .map(|(_, (u, curve))| u * u + curve)
            .sum();
        let next = sum / with_anchors;
        let done = (next - variance).abs() <= DONE * (1.0 + variance);
        variance = next;
        if done {
            break;
        }
    }
    let slope = model.slope();
    let offset = |(anchors, (u, curve)): (&Vec<&AnchorGrade>, &(f64, f64))| {
        (!anchors.is_empty()).then(|| Offset {
            value: u / slope,
            se: curve.sqrt() / slope,
        })
    };
    Some(CommonScale {
        offsets: of_query.iter().zip(&intercepts).map(offset).collect(),
        spread: variance.sqrt() / slope,
        grades: model,
    })
}

/// The most probable intercept of a query and the variance around it, by Newton's method on a
/// concave function from `start`.
fn mode(model: &GradeModel, anchors: &[&AnchorGrade], variance: f64, start: f64) -> (f64, f64) {
    let mut u = start;
    let slopes = |u: f64| {
        let start = (-u / variance, -1.0 / variance);
        anchors.iter().fold(start, |(first, second), anchor| {
            let (pull, curve) = model.pull(anchor.score, u, anchor.grade.max(0));
            (first + pull, second + curve)
        })
    };
    for _ in 0..STEPS {
        let (first, second) = slopes(u);
        let step = (first / second).clamp(-2.0, 2.0);
        u -= step;
        if step.abs() < 1e-12 {
            break;
        }
    }
    (u, -1.0 / slopes(u).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    /// Grades for forty queries whose level increases from −3 to 3, five anchors each.
    fn anchors() -> Vec<AnchorGrade> {
        let mut rng = SeededRng::new(4, &["anchors"]);
        let mut anchors = Vec::new();
        for query in 0..40 {
            let level = -3.0 + 6.0 * query as f64 / 39.0;
            for place in 0..5 {
                let score = 3.0 - 1.5 * f64::from(place);
                let logistic = {
                    let p = rng.unit();
                    (p / (1.0 - p)).ln()
                };
                let felt = score + level + logistic;
                let grade = [1.0, 3.0].iter().filter(|cut| felt > **cut).count() as i32;
                anchors.push(AnchorGrade {
                    query,
                    score,
                    grade,
                });
            }
        }
        anchors
    }

    #[test]
    fn levels_of_queries_are_found() {
        let anchors = anchors();
        let found = fit_anchors(41, &anchors).unwrap();
        assert_eq!(found.offsets[40], None);
        let offsets: Vec<Offset> = found.offsets[..40].iter().map(|of| of.unwrap()).collect();
        let mean = |of: &[Offset]| of.iter().map(|of| of.value).sum::<f64>() / of.len() as f64;
        assert!(mean(&offsets[..13]) < -1.2 && mean(&offsets[27..]) > 1.2);
        assert!((1.0..2.6).contains(&found.spread), "{found:?}");
        assert!((0.6..1.5).contains(&found.grades.slope()), "{found:?}");
        // Levels are within two standard errors about as often as expected.
        let within = offsets.iter().enumerate().filter(|(query, of)| {
            let level = -3.0 + 6.0 * *query as f64 / 39.0;
            (of.value - level).abs() < 2.0 * of.se
        });
        assert!(within.count() >= 33);
        assert_eq!(fit_anchors(41, &anchors), Some(found));
    }

    #[test]
    fn grades_that_say_nothing_give_no_scale() {
        let all = |grade| {
            anchors()
                .into_iter()
                .map(|anchor| AnchorGrade { grade, ..anchor })
                .collect::<Vec<_>>()
        };
        assert_eq!(fit_anchors(40, &all(0)), None);
        assert_eq!(fit_anchors(40, &all(2)), None);
        assert_eq!(fit_anchors(3, &anchors()), None);
        assert_eq!(fit_anchors(3, &[]), None);
    }
}
