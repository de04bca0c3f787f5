//! Plots methods by quality and cost as plain SVG text; the same input gives the same bytes.

use super::labels::escape;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 60.0;

/// A method as a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanePoint {
    pub name: String,
    pub cost: f64,
    pub quality: f64,
    /// Interval of the quality.
    pub interval: Option<(f64, f64)>,
    /// Whether no other method is both better and cheaper.
    pub on_front: bool,
}

/// The texts of the picture.
#[derive(Clone, Copy, Debug)]
pub struct PlaneWords<'a> {
    pub title: &'a str,
    /// Label of the cost axis, with its unit.
    pub cost: &'a str,
    pub quality: &'a str,
    pub caption: &'a str,
}

/// The plane of cost and quality. The cost has a square root scale, which separates cheap methods
/// from free ones.
pub fn plane_svg(points: &[PlanePoint], words: &PlaneWords<'_>) -> String {
    let most = points.iter().map(|point| point.cost).fold(0.0, f64::max);
    let lows = points
        .iter()
        .map(|p| p.interval.map_or(p.quality, |(low, _)| low));
    let highs = points
        .iter()
        .map(|p| p.interval.map_or(p.quality, |(_, high)| high));
    let low = (lows.fold(1.0, f64::min) * 20.0).floor() / 20.0;
    let high = (highs.fold(low, f64::max) * 20.0).ceil() / 20.0;
    let span = (high - low).max(0.05);
    let x = |cost: f64| {
        if most > 0.0 {
            LEFT + (WIDTH - LEFT - RIGHT) * (cost.max(0.0) / most).sqrt()
        } else {
            LEFT
        }
    };
    let y = |quality: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (quality - low) / span;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="12">"#
    );
    let _ = writeln!(
        svg,
        "<title>{}</title>\n<desc>{}</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
        escape(words.title),
        escape(words.caption)
    );
    let _ = writeln!(
        svg,
        r#"<text x="{LEFT}" y="24" font-size="15">{}</text>"#,
        escape(words.title)
    );
    for step in 0..=4 {
        let part = f64::from(step) / 4.0;
        let (quality, cost) = (low + span * part, most * part * part);
        let (row, column) = (y(quality), x(cost));
        let _ = writeln!(
            svg,
            r##"<path d="M{LEFT} {row:.1}H{:.1}" stroke="#ddd"/><text x="{:.1}" y="{:.1}" text-anchor="end">{quality:.2}</text>"##,
            WIDTH - RIGHT,
            LEFT - 8.0,
            row + 4.0
        );
        if step == 0 || most > 0.0 {
            let _ = writeln!(
                svg,
                r##"<path d="M{column:.1} {TOP}V{:.1}" stroke="#eee"/><text x="{column:.1}" y="{:.1}" text-anchor="middle">{}</text>"##,
                HEIGHT - BOTTOM,
                HEIGHT - BOTTOM + 18.0,
                amount(cost)
            );
        }
    }
    let mut front: Vec<&PlanePoint> = points.iter().filter(|point| point.on_front).collect();
    front.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    let mut path = String::new();
    for (at, point) in front.iter().enumerate() {
        let (column, row) = (x(point.cost), y(point.quality));
        let _ = match at {
            0 => write!(path, "M{column:.1} {row:.1}"),
            _ => write!(path, "H{column:.1}V{row:.1}"),
        };
    }
    if !path.is_empty() {
        let _ = writeln!(
            svg,
            r##"<path d="{path}H{:.1}" fill="none" stroke="#2c912d" stroke-width="1.5" stroke-dasharray="5 3"/>"##,
            WIDTH - RIGHT
        );
    }
    for point in points {
        mark(&mut svg, point, (x(point.cost), y(point.quality)), y);
    }
    let _ = writeln!(
        svg,
        r#"<text x="{:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - BOTTOM + 36.0,
        escape(&format!("{} (square roots)", words.cost))
    );
    let _ = writeln!(
        svg,
        r#"<text transform="translate(18 {:.1}) rotate(-90)" text-anchor="middle">{}</text>"#,
        (TOP + HEIGHT - BOTTOM) / 2.0,
        escape(words.quality)
    );
    let _ = writeln!(
        svg,
        r##"<text x="{LEFT}" y="{:.1}" font-size="11" fill="#555">{}</text>"##,
        HEIGHT - 8.0,
        escape(words.caption)
    );
    svg.push_str("</svg>\n");
    svg
}

/// A point with its whisker and its name; points on the front are filled.
fn mark(svg: &mut String, point: &PlanePoint, (x, row): (f64, f64), y: impl Fn(f64) -> f64) {
    let name = escape(&point.name);
    let _ = writeln!(
        svg,
        "<g class=\"method\"><title>{name}: {:.4} at {}</title>",
        point.quality,
        amount(point.cost)
    );
    if let Some((low, high)) = point.interval {
        let _ = writeln!(
            svg,
            r##"<path d="M{x:.1} {:.1}V{:.1}" stroke="#555"/>"##,
            y(low),
            y(high)
        );
    }
    let fill = if point.on_front { "#2c912d" } else { "#fff" };
    let left = x > WIDTH - RIGHT - 160.0;
    let (anchor, at) = if left {
        ("end", x - 9.0)
    } else {
        ("start", x + 9.0)
    };
    let _ = writeln!(
        svg,
        r##"<circle cx="{x:.1}" cy="{row:.1}" r="5" fill="{fill}" stroke="#2c912d" stroke-width="1.5"/><text x="{at:.1}" y="{:.1}" text-anchor="{anchor}">{name}</text></g>"##,
        row - 7.0
    );
}

fn amount(cost: f64) -> String {
    match cost {
        0.0 => "0".to_owned(),
        ..0.01 => format!("{cost:.5}"),
        ..10.0 => format!("{cost:.2}"),
        _ => format!("{cost:.0}"),
    }
}
