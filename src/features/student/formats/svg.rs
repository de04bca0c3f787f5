//! The figures of a student as pictures, each with labeled axes, units and N.

mod groups;
mod scatter;
mod steps;

pub use steps::StudentStep;

use crate::features::student::domain::figure::Figure;
use crate::features::student::domain::figures::Figures;
use crate::formats::svg::chart::{Chart, Place};

/// The picture of one figure at one of the student's checkpoints; the first figure shows all
/// checkpoints. `None` if there is no such checkpoint.
pub fn figure_svg(
    figure: Figure,
    student: &str,
    steps: &[StudentStep<'_>],
    at: usize,
    place: Place,
) -> Option<String> {
    let step = steps.get(at)?;
    let figures = step.figures;
    let mut of = student.to_owned();
    if let Some(step) = step.step.filter(|_| figure != Figure::Accuracy) {
        of += &format!(", step {step}");
    }
    let title = format!("Figure {} · {} · {of}", figure.number(), figure.title());
    let start = |words: &str| {
        let wide = matches!(figure, Figure::Buckets);
        let width = if wide { 1_000.0 } else { 720.0 };
        // Use only the necessary height: half a triangle is lower.
        let height = match figure {
            Figure::Fold => 440.0,
            Figure::Radius => 350.0,
            _ => 500.0,
        };
        Chart::new((width, height), place, &title, words)
    };
    let n = population(figures);
    Some(match figure {
        Figure::Accuracy => steps::accuracy(
            start(&format!(
                "{} battles on which every judge agrees, of {n}; whiskers: 95 % intervals over \
                 queries",
                figures.consensus
            )),
            steps,
        ),
        Figure::Triangle | Figure::Fold | Figure::Radius | Figure::Axes => {
            let mut chart = start(&format!(
                "{n}; dots: battles, by the ensemble's score; {}",
                match figure {
                    Figure::Triangle => "dashed: no tie",
                    Figure::Axes => "dashed: the least E|C| that is possible",
                    Figure::Radius => "arcs: equal r from (1, 0); dashed: no tie, no favorite",
                    _ => "dashed: no tie, no favorite",
                }
            ));
            scatter::scatter(&mut chart, figure, figures);
            chart.finish()
        }
        Figure::Yield => groups::by_radius(start(&n), figures),
        Figure::Ranks => groups::by_rank(
            start(&format!(
                "{n}; dashed: radius of the least certain battle so far"
            )),
            figures,
        ),
        Figure::Buckets => groups::buckets(
            start(&format!(
                "{n}; buckets of equal population; whiskers: 95 % intervals from single battles; \
                 dashed: observed as expected"
            )),
            figures,
        ),
        Figure::ResidualTies => groups::residual_ties(
            start(&format!(
                "{n}; below 0: P(tie) tells ties from splits; whiskers: 95 % intervals from single \
                 battles"
            )),
            figures,
        ),
        Figure::Segments => groups::segments(
            start(&format!(
                "{n}; observed score, expected score and battles of each segment"
            )),
            figures,
        ),
    })
}

/// Accuracy, calibration and divergence over the checkpoints; `None` for fewer than two.
pub fn steps_svg(student: &str, steps: &[StudentStep<'_>], place: Place) -> Option<String> {
    let n = population(steps.last()?.figures);
    let title = format!("Checkpoints of {student}");
    let caption = format!("{n} at the last one; whiskers: 95 % intervals over queries");
    (steps.len() > 1).then(|| {
        let chart = Chart::new((1_000.0, 420.0), place, &title, &caption);
        steps::over_steps(chart, steps)
    })
}

fn population(figures: &Figures) -> String {
    let queries = match figures.queries {
        1 => "1 query".to_owned(),
        queries => format!("{queries} queries"),
    };
    format!("N = {} battles of {queries}", figures.n)
}

#[cfg(test)]
mod tests;
