//! Figures of battles in groups: yield, composition by rank, buckets, ties within buckets,
//! segments.

use crate::domain::number_words::signed;
use crate::features::student::domain::figure::{Figure, FigureGroup, correlation_interval, groups};
use crate::features::student::domain::figures::{Category, Figures, YieldPoint};
use crate::formats::svg::chart::{Chart, Frame, level};

/// The colors of the five categories.
const CATEGORIES: [(&str, Category); 5] = [
    ("f0", Category::AllFor),
    ("f2", Category::MoreFor),
    ("f3", Category::Even),
    ("f4", Category::MoreAgainst),
    ("f6", Category::AllAgainst),
];

fn categories_legend(chart: &mut Chart) {
    let entries = CATEGORIES.map(|(class, category)| {
        let words = match category {
            Category::AllFor => format!("{} the favorite", category.name()),
            _ => category.name().to_owned(),
        };
        (class, words)
    });
    chart.legend(70.0, &entries);
}

const FIFTHS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
const HALVES: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];

const FRAME: Frame = Frame {
    left: 70.0,
    top: 60.0,
    width: 610.0,
    height: 360.0,
    across: (0.0, 1.0),
    up: (0.0, 1.0),
};

/// Stacked areas by category; each point gives its position and the height of all five.
fn stacked(chart: &mut Chart, frame: &Frame, points: &[(f64, [f64; 5])]) {
    let columns: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    let mut low = vec![0.0; points.len()];
    for (at, (class, _)) in CATEGORIES.iter().enumerate() {
        let shares = points
            .iter()
            .map(|(_, shares)| shares.get(at).copied().unwrap_or(0.0));
        let high: Vec<f64> = low
            .iter()
            .zip(shares)
            .map(|(low, share)| low + share)
            .collect();
        chart.path(class, &frame.between(&columns, &low, &high));
        low = high;
    }
}

fn shares(point: &YieldPoint, of: f64) -> [f64; 5] {
    point
        .composition
        .unwrap_or_default()
        .map(|share| share * of)
}

pub(super) fn by_radius(mut chart: Chart, figures: &Figures) -> String {
    let mut points = vec![(0.0, [0.0; 5])];
    let drawn = figures.by_radius.iter();
    points.extend(drawn.map(|point| (point.radius, shares(point, point.share))));
    stacked(&mut chart, &FRAME, &points);
    chart.axes(&FRAME, (&FIFTHS, &FIFTHS), Figure::Yield.axes());
    for point in &figures.by_radius {
        let hint = format!("r ≤ {:.1}: {} battles", point.radius, point.n);
        let at = (FRAME.x(point.radius), FRAME.y(point.share));
        chart.circle("point", at, 2.5, &hint);
    }
    categories_legend(&mut chart);
    chart.finish()
}

pub(super) fn by_rank(mut chart: Chart, figures: &Figures) -> String {
    let drawn = figures.by_rank.iter();
    let points: Vec<(f64, [f64; 5])> = drawn
        .map(|point| (point.share, shares(point, 1.0)))
        .collect();
    stacked(&mut chart, &FRAME, &points);
    chart.axes(
        &FRAME,
        (&FIFTHS, &FIFTHS),
        (Figure::Ranks.axes().0, "composition, share; radius r"),
    );
    let radii = figures
        .by_rank
        .iter()
        .map(|point| (point.share, point.radius));
    chart.path("line dash", &FRAME.along(radii));
    categories_legend(&mut chart);
    chart.finish()
}

/// The composition of buckets by radius, and next to it the expected and observed scores of buckets
/// by expected score.
pub(super) fn buckets(mut chart: Chart, figures: &Figures) -> String {
    let count = figures.radius_buckets.len().max(1) as f64;
    let frame = Frame {
        width: 440.0,
        across: (0.0, count),
        ..FRAME
    };
    for (at, bucket) in figures.radius_buckets.iter().enumerate() {
        let left = frame.x(at as f64 + 0.06);
        let width = frame.x(at as f64 + 0.94) - left;
        let mut low = 0.0;
        for ((class, category), share) in CATEGORIES.iter().zip(bucket.composition) {
            let hint = format!(
                "bucket {}, r {:.3} to {:.3}, {} battles: {:.1} % {}",
                at + 1,
                bucket.low,
                bucket.high,
                bucket.n,
                100.0 * share,
                category.name()
            );
            let top = frame.y(low + share);
            if share > 0.0 {
                chart.rectangle(class, (left, top), (width, frame.y(low) - top), &hint);
            }
            low += share;
        }
    }
    chart.axes(
        &frame,
        (&[], &FIFTHS),
        ("bucket, by rising radius", "composition, share"),
    );
    let step = if count > 10.0 { 5 } else { 1 };
    for at in (0..figures.radius_buckets.len()).filter(|at| (at + 1) % step == 0 || *at == 0) {
        let place = (frame.x(at as f64 + 0.5), frame.top + frame.height + 16.0);
        chart.words(place, "middle", "dim", &(at + 1).to_string());
    }
    calibration(&mut chart, figures);
    categories_legend(&mut chart);
    chart.finish()
}

fn calibration(chart: &mut Chart, figures: &Figures) {
    let buckets = groups(figures, Figure::Buckets);
    let reach = |of: &FigureGroup| of.interval.map(|(_, high)| high).or(of.observed);
    let highest = buckets.iter().filter_map(reach).fold(0.5, f64::max);
    let most = (highest * 10.0).ceil() / 10.0;
    let frame = Frame {
        left: 600.0,
        width: 360.0,
        across: (0.0, 0.5),
        up: (0.0, most),
        ..FRAME
    };
    let ticks: Vec<f64> = (0..=10)
        .map(|tick| f64::from(tick) / 10.0)
        .filter(|tick| *tick <= most + 1e-9)
        .collect();
    chart.axes(
        &frame,
        (&[0.0, 0.1, 0.2, 0.3, 0.4, 0.5], &ticks),
        (
            "expected score (0: for the favorite)",
            "observed score (1: all against it)",
        ),
    );
    chart.path("axis dash", &frame.along([(0.0, 0.0), (0.5, 0.5)]));
    for group in &buckets {
        let (Some(expected), Some(observed)) = (group.expected, group.observed) else {
            continue;
        };
        let hint = format!(
            "expected {expected:.3}, observed {observed:.3}, {} battles",
            group.rows.len()
        );
        if let Some((low, high)) = group.interval {
            chart.whisker(frame.x(expected), (frame.y(low), frame.y(high)));
        }
        chart.circle("point", (frame.x(expected), frame.y(observed)), 3.5, &hint);
    }
    let ece = figures.calibration.ece;
    let mut words = format!("ECE {:.4}", ece.value);
    if let Some((low, high)) = ece.interval {
        words += &format!(" (95 %: {low:.4} to {high:.4})");
    }
    if let Some(chance) = figures.calibration.ece_by_chance {
        words += &format!("; {chance:.4} by chance alone");
    }
    // Below the axis, next to the legend.
    let place = (frame.left + frame.width, frame.top + frame.height + 68.0);
    chart.words(place, "end", "", &words);
}

pub(super) fn residual_ties(mut chart: Chart, figures: &Figures) -> String {
    let count = figures.residual_ties.len().max(1) as f64;
    let frame = Frame {
        height: 345.0,
        across: (0.0, count),
        up: (-1.0, 1.0),
        ..FRAME
    };
    chart.axes(&frame, (&[], &HALVES), ("", Figure::ResidualTies.axes().1));
    chart.path("axis", &frame.along([(0.0, 0.0), (count, 0.0)]));
    let foot = frame.top + frame.height;
    for (at, of) in figures.residual_ties.iter().enumerate() {
        let middle = frame.x(at as f64 + 0.5);
        let battles = if of.n == 1 { "battle" } else { "battles" };
        for (line, words) in [
            format!("{:.3} to {:.3}", of.low, of.high),
            format!("{} {battles}", of.n),
        ]
        .iter()
        .enumerate()
        {
            let place = (middle, foot + 16.0 + 14.0 * line as f64);
            chart.words(place, "middle", "dim", words);
        }
        let Some(value) = of.correlation else {
            chart.words((middle, frame.y(0.0) - 6.0), "middle", "dim", "–");
            continue;
        };
        let (top, bottom) = (frame.y(value.max(0.0)), frame.y(value.min(0.0)));
        let left = frame.x(at as f64 + 0.25);
        let width = frame.x(at as f64 + 0.75) - left;
        let hint = format!("correlation {}", signed(value, 3));
        chart.rectangle("bar", (left, top), (width, bottom - top), &hint);
        if let Some((low, high)) = correlation_interval(value, of.n) {
            chart.whisker(middle, (frame.y(low), frame.y(high)));
        }
    }
    let middle = frame.left + frame.width / 2.0;
    chart.words(
        (middle, foot + 52.0),
        "middle",
        "",
        "expected score of the bucket, the least sure last",
    );
    chart.finish()
}

pub(super) fn segments(mut chart: Chart, figures: &Figures) -> String {
    let strips = 1 + figures
        .segments
        .iter()
        .map(|of| of.strip)
        .max()
        .unwrap_or(0);
    let cells = 1 + figures.segments.iter().map(|of| of.cell).max().unwrap_or(0);
    let frame = Frame {
        across: (0.0, strips as f64),
        up: (0.0, cells as f64),
        ..FRAME
    };
    chart.axes(&frame, (&[], &[]), ("", Figure::Segments.axes().1));
    for of in &figures.segments {
        let (left, top) = (frame.x(of.strip as f64), frame.y((of.cell + 1) as f64));
        let (width, height) = (frame.width / strips as f64, frame.height / cells as f64);
        let hint = format!(
            "segment {}.{}: {} battles, expected {:.3}, observed {:.3}, E|C| {:.3}, observed |C| \
             {:.3}, other preferred {:.1} %",
            of.strip + 1,
            of.cell + 1,
            of.n,
            of.expected,
            of.observed,
            of.decisiveness,
            of.observed_decisiveness,
            100.0 * of.wrong
        );
        let class = format!("soft f{}", level(of.observed));
        chart.rectangle(&class, (left, top), (width - 2.0, height - 2.0), &hint);
        let middle = left + width / 2.0;
        // Use the full text color: the gray of ticks is hard to read on the colors.
        let upper = top + height / 2.0;
        chart.words(
            (middle, upper - 10.0),
            "middle",
            "",
            &format!("{:.3}", of.observed),
        );
        let words = format!("expected {:.3}", of.expected);
        chart.words((middle, upper + 5.0), "middle", "", &words);
        let (low, high) = of.decisiveness_range;
        let words = format!("n {} · E|C| {low:.2}–{high:.2}", of.n);
        chart.words((middle, upper + 19.0), "middle", "", &words);
    }
    let foot = frame.top + frame.height;
    for strip in 0..strips {
        let of = || figures.segments.iter().filter(|of| of.strip == strip);
        let low = of().map(|of| of.expected_range.0).reduce(f64::min);
        let high = of().map(|of| of.expected_range.1).reduce(f64::max);
        // With few battles, some strips are empty.
        if let Some((low, high)) = low.zip(high) {
            let middle = frame.x(strip as f64 + 0.5);
            let words = format!("{low:.3} to {high:.3}");
            chart.words((middle, foot + 16.0), "middle", "dim", &words);
        }
    }
    let middle = frame.left + frame.width / 2.0;
    chart.words(
        (middle, foot + 36.0),
        "middle",
        "",
        "strip by expected score; each strip is cut into cells by E|C|, the lowest below",
    );
    // As light as the segments, which have text on them.
    let entries = [
        ("soft f0", "0: for the favorite"),
        ("soft f1", "1/6"),
        ("soft f2", "2/6"),
        ("soft f3", "½"),
        ("soft f4", "4/6"),
        ("soft f5", "5/6"),
        ("soft f6", "1: against it"),
    ];
    let entries = entries.map(|(class, words)| (class, words.to_owned()));
    chart.words((70.0, 488.0), "start", "dim", "observed score:");
    chart.legend(165.0, &entries);
    chart.finish()
}
