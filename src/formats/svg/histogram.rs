//! Draws histograms of metrics as plain SVG text; the same input gives the same bytes.

use super::chart::{Chart, Frame, Place};
use crate::domain::metrics::MetricDistribution;
use crate::domain::number_words::fixed;

/// Number of bars, as in zBench's plot.
const BARS: usize = 30;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 78.0;
/// The height of one histogram, and of it with its axis and title.
const PANEL: f64 = 190.0;
const STEP: f64 = 270.0;

/// One histogram below the other, each with a dashed line at its mean. `unit` names the values.
pub fn histogram_svg(
    distributions: &[MetricDistribution],
    unit: &str,
    title: &str,
    caption: &str,
) -> String {
    let height = TOP + STEP * distributions.len() as f64 - (STEP - PANEL) + 60.0;
    let mut chart = Chart::new((WIDTH, height), Place::File, title, caption);
    for (at, of) in distributions.iter().enumerate() {
        let counts: [usize; BARS] = of.counts();
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let step = most.div_ceil(4).max(1);
        let up: Vec<f64> = (0..=most.div_ceil(step))
            .map(|tick| (tick * step) as f64)
            .collect();
        let frame = Frame {
            left: LEFT,
            top: TOP + STEP * at as f64,
            width: WIDTH - LEFT - RIGHT,
            height: PANEL,
            across: (0.0, 1.0),
            up: (0.0, up.last().copied().unwrap_or(1.0)),
        };
        chart.axes(
            &frame,
            (&[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], &up),
            (unit, "queries"),
        );
        for (bar, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let edge = |bar: usize| bar as f64 / BARS as f64;
            let (x, y) = (frame.x(edge(bar)), frame.y(*count as f64));
            let size = (frame.x(edge(bar + 1)) - x - 1.0, frame.y(0.0) - y);
            let hint = format!(
                "{} to {}: {count}",
                fixed(edge(bar), 3),
                fixed(edge(bar + 1), 3)
            );
            chart.rectangle("bar", (x, y), size, &hint);
        }
        let mean = of.mean().map_or_else(
            || "no value".to_owned(),
            |mean| {
                let x = frame.x(mean);
                let (top, bottom) = (frame.y(frame.up.1), frame.y(0.0));
                chart.path("line dash", &format!("M{x:.1} {top:.1}V{bottom:.1}"));
                format!("mean {}", fixed(mean, 4))
            },
        );
        let words = format!("{} · {mean}, n {}", of.name, of.values.len());
        chart.words((LEFT, frame.top - 8.0), "start", "", &words);
    }
    chart.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_a_bar_for_each_part_with_values() {
        let of = |name: &str, values: Vec<f64>| MetricDistribution {
            name: name.to_owned(),
            values,
        };
        let two = [of("a<b", vec![0.0, 0.01, 1.0]), of("none", Vec::new())];
        let svg = histogram_svg(&two, "ndcg@10", "NDCG", "3 queries");
        assert_eq!(svg.matches(r#"class="bar""#).count(), 2);
        assert!(svg.contains("0.000 to 0.033: 2") && svg.contains("0.967 to 1.000: 1"));
        assert!(svg.contains("a&lt;b · mean 0.3367, n 3"), "{svg}");
        assert!(svg.contains("none · no value, n 0"));
        assert_eq!(svg.matches(r#"class="line dash""#).count(), 1);
        assert_eq!(svg, histogram_svg(&two, "ndcg@10", "NDCG", "3 queries"));
    }
}
