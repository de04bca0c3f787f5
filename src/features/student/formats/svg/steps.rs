//! Plots values of a student over its checkpoints, with intervals.

use crate::features::student::domain::figures::{Figures, Measured};
use crate::formats::svg::chart::{Chart, Frame};

/// One checkpoint of a student.
#[derive(Clone, Copy, Debug)]
pub struct StudentStep<'a> {
    /// `None` if there are no steps.
    pub step: Option<u64>,
    pub figures: &'a Figures,
}

/// The value of one checkpoint.
type Value = Option<Measured>;

const LABELS: usize = 8;

pub(super) fn accuracy(mut chart: Chart, steps: &[StudentStep<'_>]) -> String {
    let values: Vec<Value> = steps
        .iter()
        .map(|of| of.figures.consensus_accuracy)
        .collect();
    let lowest = values.iter().flatten().map(low).fold(0.5, f64::min);
    let frame = Frame {
        left: 70.0,
        top: 60.0,
        width: 610.0,
        height: 360.0,
        across: (0.0, steps.len() as f64),
        up: ((lowest * 10.0).floor() / 10.0, 1.0),
    };
    panel(
        &mut chart,
        &frame,
        steps,
        &values,
        "accuracy, share of consensus battles",
    );
    chart.path(
        "axis dash",
        &frame.along([(0.0, 0.5), (steps.len() as f64, 0.5)]),
    );
    let place = (frame.left + frame.width - 4.0, frame.y(0.5) - 5.0);
    chart.words(place, "end", "dim", "a coin");
    chart.finish()
}

pub(super) fn over_steps(mut chart: Chart, steps: &[StudentStep<'_>]) -> String {
    let plain = |value: f64| Measured {
        value,
        interval: None,
    };
    let panels: [(&str, Vec<Value>); 3] = [
        (
            "accuracy on consensus, share",
            steps
                .iter()
                .map(|of| of.figures.consensus_accuracy)
                .collect(),
        ),
        (
            "calibration error ECE, score",
            steps
                .iter()
                .map(|of| Some(of.figures.calibration.ece))
                .collect(),
        ),
        (
            "divergence from the targets, nats",
            steps
                .iter()
                .map(|of| Some(plain(of.figures.divergence())))
                .collect(),
        ),
    ];
    for (at, (words, values)) in panels.iter().enumerate() {
        let highest = values.iter().flatten().map(high).fold(0.0, f64::max);
        let lowest = values.iter().flatten().map(low).fold(highest, f64::min);
        let up = match at {
            0 => ((lowest * 10.0).floor() / 10.0, 1.0),
            _ => (0.0, above(highest)),
        };
        let frame = Frame {
            left: 70.0 + 330.0 * at as f64,
            top: 60.0,
            width: 250.0,
            height: 290.0,
            across: (0.0, steps.len() as f64),
            up: (up.0.min(up.1 - 0.05), up.1),
        };
        panel(&mut chart, &frame, steps, values, words);
    }
    chart.finish()
}

/// The smallest round number, at least 0.05, that is not below a value.
fn above(value: f64) -> f64 {
    let rounds = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0];
    rounds
        .into_iter()
        .find(|round| *round >= value)
        .unwrap_or_else(|| value.ceil())
}

fn low(of: &Measured) -> f64 {
    of.interval.map_or(of.value, |(low, _)| low)
}

fn high(of: &Measured) -> f64 {
    of.interval.map_or(of.value, |(_, high)| high)
}

fn panel(
    chart: &mut Chart,
    frame: &Frame,
    steps: &[StudentStep<'_>],
    values: &[Value],
    words: &str,
) {
    let ticks: Vec<f64> = (0..=5)
        .map(|tick| frame.up.0 + (frame.up.1 - frame.up.0) * f64::from(tick) / 5.0)
        .collect();
    let unit = match steps {
        [one] if one.step.is_none() => "one checkpoint, without a step",
        _ => "checkpoint, step of training",
    };
    chart.axes(frame, (&[], &ticks), (unit, words));
    let every = steps.len().div_ceil(LABELS).max(1);
    let middle = |at: usize| at as f64 + 0.5;
    let line = values
        .iter()
        .enumerate()
        .filter_map(|(at, value)| Some((middle(at), (*value)?.value)));
    chart.path("line", &frame.along(line));
    for (at, (step, value)) in steps.iter().zip(values).enumerate() {
        let x = frame.x(middle(at));
        let foot = frame.top + frame.height;
        if let Some(step) = step
            .step
            .filter(|_| at % every == 0 || at + 1 == steps.len())
        {
            chart.words((x, foot + 16.0), "middle", "dim", &step.to_string());
        }
        let Some(value) = value else {
            chart.words((x, foot - 6.0), "middle", "dim", "–");
            continue;
        };
        let mut hint = format!("{:.4}", value.value);
        if let Some((low, high)) = value.interval {
            hint += &format!(" (95 %: {low:.4} to {high:.4})");
            chart.whisker(x, (frame.y(low), frame.y(high)));
        }
        chart.circle("point", (x, frame.y(value.value)), 4.0, &hint);
        if steps.len() == 1 {
            chart.words((x + 12.0, frame.y(value.value) + 4.0), "start", "", &hint);
        }
    }
}
