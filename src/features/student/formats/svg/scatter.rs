//! Scatter plots with one dot per battle: the triangle of probabilities, the folded triangle, with
//! radii, and with the axes E[C] and E|C|.

use crate::features::student::domain::figure::Figure;
use crate::features::student::domain::figures::{Figures, FoldedRow};
use crate::formats::svg::chart::{Chart, Frame, level};

const FIFTHS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
const TENTHS_TO_HALF: [f64; 6] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];

pub(super) fn scatter(chart: &mut Chart, figure: Figure, figures: &Figures) {
    // Both axes have the same scale, unless they are not probabilities.
    let (width, height, across, up) = match figure {
        Figure::Triangle => (360.0, 360.0, 1.0, 1.0),
        Figure::Fold => (620.0, 310.0, 1.0, 0.5),
        Figure::Radius => (440.0, 220.0, 1.0, 0.5),
        _ => (600.0, 360.0, 0.5, 1.0),
    };
    let frame = Frame {
        left: 70.0,
        top: 60.0,
        width,
        height,
        across: (0.0, across),
        up: (0.0, up),
    };
    let ticks = |most: f64| if most < 1.0 { &TENTHS_TO_HALF } else { &FIFTHS };
    chart.axes(&frame, (ticks(across), ticks(up)), figure.axes());
    let edge = match figure {
        Figure::Axes => frame.along([(0.0, 1.0), (0.5, 0.0)]),
        Figure::Triangle => frame.along([(0.0, 1.0), (1.0, 0.0)]),
        _ => frame.along([(0.0, 0.0), (0.5, 0.5), (1.0, 0.0)]),
    };
    chart.path("axis dash", &edge);
    let place = |row: &FoldedRow| match figure {
        Figure::Triangle => row.predicted(),
        Figure::Axes => (row.expected(), row.decisiveness()),
        _ => (row.x, row.y),
    };
    let points: Vec<(f64, f64, usize)> = figures
        .rows
        .iter()
        .map(|row| {
            let (x, y) = place(row);
            let score = if figure == Figure::Triangle && row.turned {
                1.0 - row.score
            } else {
                row.score
            };
            (x, y, level(score))
        })
        .collect();
    chart.dots(&frame, &points);
    let (zero, one) = match figure {
        Figure::Triangle => ("A better", "B better"),
        _ => ("for the favorite", "against it"),
    };
    let entry = |at: usize| match at {
        0 => format!("0: {zero}"),
        3 => "½".to_owned(),
        6 => format!("1: {one}"),
        at => format!("{at}/6"),
    };
    let classes = ["f0", "f1", "f2", "f3", "f4", "f5", "f6"];
    let entries: Vec<(&str, String)> = classes.into_iter().zip((0..=6).map(entry)).collect();
    chart.legend(70.0, &entries);
    if figure == Figure::Radius {
        radii(chart, &frame, figures);
    }
}

/// Arcs around the corner of certainty, labeled with the number of battles within.
fn radii(chart: &mut Chart, frame: &Frame, figures: &Figures) {
    let x = frame.left + frame.width + 20.0;
    chart.words(
        (x, frame.top + 12.0),
        "start",
        "",
        "battles within r of (1, 0)",
    );
    for (at, point) in figures.by_radius.iter().enumerate() {
        let r = point.radius;
        if at % 2 == 1 {
            // Up to the edge of the triangle: y ≤ 1 − x up to half a right angle, and y ≤ x.
            let inside = |angle: &f64| r * angle.sin() <= 1.0 - r * angle.cos() + 1e-9;
            let angles = (0..=60).map(|step| std::f64::consts::FRAC_PI_4 * f64::from(step) / 60.0);
            let arc: Vec<(f64, f64)> = angles
                .take_while(inside)
                .map(|angle| (1.0 - r * angle.cos(), r * angle.sin()))
                .collect();
            // The arc of r = 1 is a single point.
            if let [_, .., (to, up)] = arc[..] {
                let end = (frame.x(to) + 4.0, frame.y(up) - 3.0);
                chart.words(end, "start", "", &format!("r = {r:.1}"));
            }
            chart.path("line", &frame.along(arc));
        }
        let words = format!("r ≤ {r:.1}: {} ({:.1} %)", point.n, 100.0 * point.share);
        let place = (x, frame.top + 32.0 + 20.0 * at as f64);
        chart.words(place, "start", "dim", &words);
    }
}
