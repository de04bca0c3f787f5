//! Converts scores to grades: predicts the grade that a person would give a document from its zELO.

use crate::domain::numeric::{sigma, solve};

/// The weak prior of a fit, which keeps it finite if scores separate the grades.
const PRIOR: f64 = 0.01;
/// Maximum number of steps of a fit; eight are typical.
const STEPS: usize = 100;

/// Cumulative logistic regression of a grade on a score (McCullagh 1980): P(grade ≥ level j) = σ(β
/// · score − c_j), with increasing cuts c.
#[derive(Clone, Debug, PartialEq)]
pub struct GradeModel {
    beta: f64,
    cuts: Vec<f64>,
    /// The grades above 0 that the cuts lead to, increasing.
    levels: Vec<i32>,
}

impl GradeModel {
    /// Creates a model from its parameters; `None` unless β is above 0, cuts and levels increase,
    /// and there are as many cuts as levels.
    pub fn new(beta: f64, cuts: Vec<f64>, levels: Vec<i32>) -> Option<Self> {
        let rising = cuts.windows(2).all(|pair| pair[0] < pair[1]);
        let levels_rise = levels.windows(2).all(|pair| pair[0] < pair[1]);
        let sound = beta > 0.0
            && !cuts.is_empty()
            && cuts.len() == levels.len()
            && cuts.iter().all(|cut| cut.is_finite())
            && levels.first().is_some_and(|level| *level > 0);
        (sound && rising && levels_rise).then_some(Self { beta, cuts, levels })
    }

    /// The model that gives the best 3, 7 and 15 % of a pool the grades 3, 2 and 1, in simulated
    /// pools of 40 documents with four battles per document and a standard deviation of scores of
    /// 2.7. A convention, for projects without any graded documents.
    pub fn uncalibrated() -> Self {
        Self {
            beta: 2.33,
            cuts: vec![3.97, 7.16, 10.44],
            levels: vec![1, 2, 3],
        }
    }

    /// Fits the model to graded scores, each with its weight; grades below 0 count as 0. `None`
    /// without a document of grade 0 or without one above it, and if no model fits.
    ///
    /// Maximizes the log-likelihood minus 0.005 · (ln² β + Σ c²).
    pub fn fit(graded: &[GradedScore]) -> Option<Self> {
        Self::fit_shifted(graded, &[])
    }

    /// As [`GradeModel::fit`], with P(grade ≥ level j) = σ(β · score + shift − c_j). The shifts are
    /// in the order of the scores; missing ones are 0.
    pub fn fit_shifted(graded: &[GradedScore], shifts: &[f64]) -> Option<Self> {
        let mut levels: Vec<i32> = graded.iter().map(|one| one.grade.max(0)).collect();
        levels.sort_unstable();
        levels.dedup();
        if levels.first() != Some(&0) || levels.len() < 2 {
            return None;
        }
        levels.remove(0);
        let place = |grade: i32| levels.iter().filter(|level| **level <= grade).count();
        let shifts = shifts.iter().copied().chain(std::iter::repeat(0.0));
        let rows: Vec<Row> = graded
            .iter()
            .zip(shifts)
            .map(|(one, shift)| Row {
                score: one.score,
                shift,
                place: place(one.grade),
                weight: one.weight,
            })
            .collect();
        let total: f64 = rows.iter().map(|row| row.weight).sum();
        let logit_above = |at: usize| {
            let above = rows.iter().filter(|row| row.place > at);
            let share = (above.map(|row| row.weight).sum::<f64>() / total).clamp(1e-4, 1.0 - 1e-4);
            ((1.0 - share) / share).ln()
        };
        let mut start = vec![0.0];
        for at in 0..levels.len() {
            let above = start.last().filter(|_| at > 0).copied();
            let cut = logit_above(at);
            start.push(above.map_or(cut, |above| cut.max(above + 0.1)));
        }
        let found = minimize(&rows, start)?;
        let (log_beta, cuts) = found.split_first()?;
        Self::new(log_beta.exp(), cuts.to_vec(), levels)
    }

    /// The probability of grade 0, then of each level.
    pub fn probabilities(&self, score: f64) -> Vec<f64> {
        (0..=self.cuts.len())
            .map(|place| cell(self.beta * score, &self.cuts, place))
            .collect()
    }

    /// The probability of a grade of at least the lowest level.
    pub fn at_least_one(&self, score: f64) -> f64 {
        self.cuts
            .first()
            .map_or(0.0, |cut| sigma(self.beta * score - cut))
    }

    /// The expected grade, which is the document's contribution to a gain.
    pub fn gain(&self, score: f64) -> f64 {
        let mut below = 0;
        let mut gain = 0.0;
        for (cut, level) in self.cuts.iter().zip(&self.levels) {
            gain += f64::from(level - below) * sigma(self.beta * score - cut);
            below = *level;
        }
        gain
    }

    /// The first and second derivative of the log-probability of a grade with respect to the logit
    /// β · score + shift; the second is negative.
    pub fn pull(&self, score: f64, shift: f64, grade: i32) -> (f64, f64) {
        let eta = self.beta * score + shift;
        let place = self.levels.iter().filter(|level| **level <= grade).count();
        let above = |at: Option<usize>| {
            at.and_then(|at| self.cuts.get(at))
                .map(|cut| sigma(eta - cut))
        };
        let (reached, next) = (above(place.checked_sub(1)), above(Some(place)));
        let slope = |p: Option<f64>| p.map_or(0.0, |p| p * (1.0 - p));
        (
            1.0 - reached.unwrap_or(1.0) - next.unwrap_or(0.0),
            -slope(reached) - slope(next),
        )
    }

    /// β, the slope of the logit on the score.
    pub fn slope(&self) -> f64 {
        self.beta
    }

    /// The most probable grade (the lower one in a tie) and its probability.
    pub fn grade(&self, score: f64) -> (i32, f64) {
        let levels = std::iter::once(0).chain(self.levels.iter().copied());
        let mut best = (0, -1.0);
        for (level, probability) in levels.zip(self.probabilities(score)) {
            if probability > best.1 {
                best = (level, probability);
            }
        }
        best
    }
}

/// A document's score and the grade that a person gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradedScore {
    pub score: f64,
    pub grade: i32,
    pub weight: f64,
}

/// Grades of `n` documents by rank alone: 3, 2 and 1 for the best 3, 7 and 15 %, each rounded up.
pub fn rank_grades(n: usize) -> Vec<i32> {
    let within = |percent: usize| (n * percent).div_ceil(100);
    (0..n)
        .map(|above| match above {
            above if above < within(3) => 3,
            above if above < within(7) => 2,
            above if above < within(15) => 1,
            _ => 0,
        })
        .collect()
}

struct Row {
    score: f64,
    /// Added to β · score.
    shift: f64,
    /// Number of levels that the grade reaches.
    place: usize,
    weight: f64,
}

/// P(exactly `place` levels are reached) for the logit `eta` before the cuts, accurate in both
/// tails.
fn cell(eta: f64, cuts: &[f64], place: usize) -> f64 {
    let reached = place.checked_sub(1).and_then(|at| cuts.get(at));
    match (reached, cuts.get(place)) {
        (None, None) => 1.0,
        (None, Some(next)) => sigma(next - eta),
        (Some(cut), None) => sigma(eta - cut),
        (Some(cut), Some(next)) if eta > *next => sigma(next - eta) - sigma(cut - eta),
        (Some(cut), Some(next)) => sigma(eta - cut) - sigma(eta - next),
    }
}

/// The objective to minimize at (ln β, c), and its gradient; infinite unless the cuts increase.
fn objective(rows: &[Row], at: &[f64]) -> (f64, Vec<f64>) {
    let Some((log_beta, cuts)) = at.split_first() else {
        return (f64::INFINITY, Vec::new());
    };
    if cuts.windows(2).any(|pair| pair[0] >= pair[1]) {
        return (f64::INFINITY, vec![0.0; at.len()]);
    }
    let beta = log_beta.exp();
    let mut value = PRIOR / 2.0 * at.iter().map(|x| x * x).sum::<f64>();
    let mut gradient: Vec<f64> = at.iter().map(|x| PRIOR * x).collect();
    let density = |z: f64| sigma(z) * sigma(-z);
    for row in rows {
        let eta = beta * row.score + row.shift;
        let probability = cell(eta, cuts, row.place).max(f64::MIN_POSITIVE);
        value -= row.weight * probability.ln();
        let reached = row.place.checked_sub(1);
        let lower = reached
            .and_then(|at| cuts.get(at))
            .map_or(0.0, |cut| density(eta - cut));
        let upper = cuts.get(row.place).map_or(0.0, |cut| density(eta - cut));
        let scale = row.weight / probability;
        gradient[0] -= scale * (lower - upper) * beta * row.score;
        if let Some(at) = reached {
            gradient[at + 1] += scale * lower;
        }
        if row.place < cuts.len() {
            gradient[row.place + 1] -= scale * upper;
        }
    }
    (value, gradient)
}

/// Newton's method with steps that are damped until they descend; the second derivatives are finite
/// differences of the gradient.
fn minimize(rows: &[Row], start: Vec<f64>) -> Option<Vec<f64>> {
    let mut at = start;
    let (mut value, mut gradient) = objective(rows, &at);
    let mut damping = 0.0;
    for _ in 0..STEPS {
        let largest = gradient.iter().map(|x| x.abs()).fold(0.0, f64::max);
        if largest < 1e-9 * (1.0 + value.abs()) {
            break;
        }
        let hessian = curvature(rows, &at);
        let step = loop {
            let mut damped = hessian.clone();
            for (at, row) in damped.iter_mut().enumerate() {
                row[at] += damping;
            }
            let step = solve(damped, &gradient);
            let trial: Option<Vec<f64>> = step
                .as_ref()
                .map(|step| at.iter().zip(step).map(|(x, d)| x - d).collect());
            let reached = trial.map(|trial| (objective(rows, &trial), trial));
            if let Some(((next, slope), trial)) = reached
                && next <= value
            {
                damping = if damping > 1e-6 { damping / 10.0 } else { 0.0 };
                break Some((trial, next, slope));
            }
            damping = (damping * 10.0).max(1e-3);
            if damping > 1e12 {
                break None;
            }
        };
        let Some((trial, next, slope)) = step else {
            break;
        };
        let done = value - next <= 1e-14 * value.abs();
        (at, value, gradient) = (trial, next, slope);
        if done {
            break;
        }
    }
    value.is_finite().then_some(at)
}

fn curvature(rows: &[Row], at: &[f64]) -> Vec<Vec<f64>> {
    const STEP: f64 = 1e-5;
    let slope = |place: usize, by: f64| {
        let mut moved = at.to_vec();
        moved[place] += by;
        objective(rows, &moved).1
    };
    let rows = (0..at.len()).map(|place| {
        let (up, down) = (slope(place, STEP), slope(place, -STEP));
        up.iter()
            .zip(&down)
            .map(|(up, down)| (up - down) / (2.0 * STEP))
            .collect()
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graded(score: f64, grade: i32) -> GradedScore {
        GradedScore {
            score,
            grade,
            weight: 1.0,
        }
    }

    #[test]
    fn a_fit_wants_documents_on_both_sides() {
        assert_eq!(GradeModel::fit(&[]), None);
        assert_eq!(GradeModel::fit(&[graded(1.0, 1), graded(2.0, 2)]), None);
        assert_eq!(GradeModel::fit(&[graded(1.0, 0), graded(2.0, -1)]), None);
        // Scores that separate the grades still give a finite model.
        let apart = GradeModel::fit(&[graded(-1.0, 0), graded(1.0, 2)]).unwrap();
        assert_eq!((apart.grade(-3.0).0, apart.grade(3.0).0), (0, 2));
        assert!(apart.gain(9.0) <= 2.0 && apart.gain(-9.0) >= 0.0);
    }

    #[test]
    fn places_make_grades() {
        assert_eq!(rank_grades(0), Vec::<i32>::new());
        assert_eq!(rank_grades(1), [3]);
        let counts =
            |n: usize| [3, 2, 1, 0].map(|g| rank_grades(n).iter().filter(|x| **x == g).count());
        assert_eq!(counts(25), [1, 1, 2, 21]);
        assert_eq!(counts(100), [3, 4, 8, 85]);
    }
}
