//! Plots methods by their difference from a baseline and their cost as plain SVG text; the same
//! input gives the same bytes.

use super::labels::escape;
use crate::domain::number_words::signed;
use std::cmp::Ordering;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 50.0;
/// The height of the plane, without its axes and the list below it.
const HEIGHT: f64 = 340.0;
/// The height between the bottom of the plane and the list.
const AXIS: f64 = 62.0;
/// The height of a line of text in the list.
const LINE: f64 = 18.0;
const RADIUS: f64 = 8.0;
/// Right edges of the numbers in the list.
const NUMBERS: [f64; 3] = [430.0, 640.0, WIDTH - RIGHT];
const NAME_LETTERS_MAX: usize = 44;
/// Minimum space between the numbers on an axis.
const TICK_GAP: f64 = 14.0;

/// A method: a line in the list, and a point if its place is known.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneMethod {
    /// Its label at the point and in the list.
    pub label: String,
    pub name: String,
    /// Its quality, its difference from the baseline, and its cost.
    pub numbers: [String; 3],
    /// Whether it is significantly better or worse than the baseline.
    pub effect: Option<Ordering>,
    /// Whether no other method is both better and cheaper.
    pub on_front: bool,
    pub point: Option<PlanePoint>,
}

/// A place in the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanePoint {
    /// The share of the width to its left, 0..=1.
    pub across: f64,
    pub difference: f64,
    pub interval: Option<(f64, f64)>,
}

/// The texts of the picture, and its axes.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    pub title: &'a str,
    /// The headings of [`PlaneMethod::numbers`].
    pub headings: [&'a str; 3],
    /// Label of the cost axis, with its unit.
    pub cost: &'a str,
    /// Label of the axis of differences.
    pub difference: &'a str,
    pub captions: &'a [String],
    /// The ends of the axis of differences; 0 is between them.
    pub range: (f64, f64),
    /// Costs at their share of the width.
    pub ticks: &'a [(f64, String)],
}

/// The plane of cost and difference, with a list of the methods below it.
pub fn plane_svg(methods: &[PlaneMethod], plane: &Plane<'_>) -> String {
    let list = TOP + HEIGHT + AXIS;
    let captions = list + LINE * (methods.len() as f64 + 1.0) + 8.0;
    let height = captions + LINE * plane.captions.len() as f64;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" font-family="system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="12">"#
    );
    let _ = writeln!(
        svg,
        "<title>{}</title>\n<desc>{}</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
        escape(plane.title),
        escape(&plane.captions.join(" "))
    );
    let _ = writeln!(
        svg,
        r#"<text x="{LEFT}" y="24" font-size="15">{}</text>"#,
        escape(plane.title)
    );
    axes(&mut svg, plane);
    let points = methods
        .iter()
        .filter_map(|method| Some((method, method.point?)));
    let mut front: Vec<PlanePoint> = points
        .clone()
        .filter(|(method, _)| method.on_front)
        .map(|(_, point)| point)
        .collect();
    front.sort_by(|one, other| one.across.total_cmp(&other.across));
    let along = front.iter().map(|point| place(plane, *point));
    let along: Vec<String> = along.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    if along.len() > 1 {
        let _ = writeln!(
            svg,
            r##"<path class="front" d="M{}" fill="none" stroke="#777" stroke-dasharray="2 4"/>"##,
            along.join("L")
        );
    }
    for (method, point) in points.clone() {
        interval(&mut svg, plane, method, point);
    }
    for (method, point) in points {
        mark(&mut svg, method, place(plane, point));
    }
    rows(&mut svg, methods, plane, list);
    for (at, caption) in plane.captions.iter().enumerate() {
        let y = captions + LINE * at as f64;
        words(&mut svg, (LEFT, y), "start", "#555", caption);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The color of a method: green and red only if its difference is significant.
fn color(method: &PlaneMethod) -> &'static str {
    match method.effect {
        Some(Ordering::Greater) => "#1f7a33",
        Some(Ordering::Less) => "#b3261e",
        _ => "#555",
    }
}

fn words(svg: &mut String, (x, y): (f64, f64), anchor: &str, fill: &str, words: &str) {
    let _ = writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="{fill}" font-size="11">{}</text>"#,
        escape(words)
    );
}

/// The position of a point in pixels.
fn place(plane: &Plane<'_>, point: PlanePoint) -> (f64, f64) {
    (column(point.across), row(plane, point.difference))
}

fn column(across: f64) -> f64 {
    let width = WIDTH - LEFT - RIGHT - 2.0 * RADIUS;
    LEFT + RADIUS + width * across.clamp(0.0, 1.0)
}

fn row(plane: &Plane<'_>, difference: f64) -> f64 {
    let (low, high) = plane.range;
    let up = ((difference - low) / (high - low)).clamp(0.0, 1.0);
    TOP + HEIGHT * (1.0 - up)
}

/// Both axes with their numbers, and a line at 0.
fn axes(svg: &mut String, plane: &Plane<'_>) {
    let (low, high) = plane.range;
    let (bottom, right) = (TOP + HEIGHT, WIDTH - RIGHT);
    let zero = row(plane, 0.0);
    let _ = writeln!(
        svg,
        r##"<path d="M{LEFT} {TOP}V{bottom:.1}H{right:.1}" fill="none" stroke="#999"/><path d="M{LEFT} {zero:.1}H{right:.1}" stroke="#999" stroke-dasharray="4 4"/>"##
    );
    let numbers = [(high, signed(high, 2)), (low, signed(low, 2))];
    let numbers = numbers
        .iter()
        .filter(|(value, _)| (row(plane, *value) - zero).abs() >= TICK_GAP);
    for (value, number) in [(0.0, "0".to_owned())].iter().chain(numbers) {
        let at = (LEFT - 8.0, row(plane, *value) + 4.0);
        words(svg, at, "end", "#555", number);
    }
    for (across, amount) in plane.ticks {
        let x = column(*across);
        let _ = writeln!(svg, r##"<path d="M{x:.1} {bottom:.1}v4" stroke="#999"/>"##);
        words(svg, (x, bottom + 18.0), "middle", "#555", amount);
    }
    let middle = f64::midpoint(LEFT, right);
    words(svg, (middle, bottom + 36.0), "middle", "#222", plane.cost);
    let _ = writeln!(
        svg,
        r##"<text transform="translate(18 {:.1}) rotate(-90)" text-anchor="middle" fill="#222" font-size="11">{}</text>"##,
        TOP + HEIGHT / 2.0,
        escape(plane.difference)
    );
}

/// The interval of a difference, with end caps.
fn interval(svg: &mut String, plane: &Plane<'_>, method: &PlaneMethod, point: PlanePoint) {
    let Some((low, high)) = point.interval else {
        return;
    };
    let x = column(point.across);
    let (bottom, top) = (row(plane, low), row(plane, high));
    let _ = writeln!(
        svg,
        r#"<path class="interval" d="M{x:.1} {bottom:.1}V{top:.1}M{0:.1} {bottom:.1}h8M{0:.1} {top:.1}h8" fill="none" stroke="{1}" stroke-width="1.5"/>"#,
        x - 4.0,
        color(method)
    );
}

/// A point with its label, and its name as a tooltip.
fn mark(svg: &mut String, method: &PlaneMethod, (x, y): (f64, f64)) {
    let [_, difference, cost] = &method.numbers;
    let _ = writeln!(
        svg,
        r##"<g class="method"><title>{}</title><circle cx="{x:.1}" cy="{y:.1}" r="{RADIUS}" fill="{}"/><text x="{x:.1}" y="{:.1}" text-anchor="middle" fill="#fff" font-size="11">{}</text></g>"##,
        escape(&format!("{}: {difference} at {cost}", method.name)),
        color(method),
        y + 4.0,
        escape(&method.label)
    );
}

/// The list of methods with their labels and numbers.
fn rows(svg: &mut String, methods: &[PlaneMethod], plane: &Plane<'_>, top: f64) {
    for (x, heading) in NUMBERS.into_iter().zip(plane.headings) {
        words(svg, (x, top), "end", "#555", heading);
    }
    for (at, method) in methods.iter().enumerate() {
        let y = top + LINE * (at as f64 + 1.0);
        mark_in_list(svg, method, y);
        for (x, number) in NUMBERS.into_iter().zip(&method.numbers) {
            words(svg, (x, y), "end", "#222", number);
        }
    }
}

fn mark_in_list(svg: &mut String, method: &PlaneMethod, y: f64) {
    let star = if method.on_front { " *" } else { "" };
    let name: String = if method.name.chars().count() > NAME_LETTERS_MAX {
        let kept = method.name.chars().take(NAME_LETTERS_MAX - 1);
        kept.chain(['…']).collect()
    } else {
        method.name.clone()
    };
    let _ = writeln!(
        svg,
        r##"<circle cx="{LEFT}" cy="{:.1}" r="{}" fill="{}"/><text x="{LEFT}" y="{y:.1}" text-anchor="middle" fill="#fff" font-size="10">{}</text>"##,
        y - 4.0,
        RADIUS - 1.0,
        color(method),
        escape(&method.label)
    );
    let name = format!("{name}{star}");
    words(svg, (LEFT + 14.0, y), "start", "#222", &name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::svg::tests::well_formed;

    fn method(label: &str, effect: Option<Ordering>, point: Option<PlanePoint>) -> PlaneMethod {
        PlaneMethod {
            label: label.to_owned(),
            name: format!("method <{label}>"),
            numbers: ["0.5".to_owned(), "+0.1".to_owned(), "3".to_owned()],
            effect,
            on_front: effect != Some(Ordering::Less),
            point,
        }
    }

    fn at(across: f64, difference: f64) -> Option<PlanePoint> {
        Some(PlanePoint {
            across,
            difference,
            interval: Some((difference - 0.05, difference + 0.05)),
        })
    }

    fn drawn(methods: &[PlaneMethod]) -> String {
        let plane = Plane {
            title: "Quality & cost",
            headings: ["ndcg@10", "difference", "cost"],
            cost: "calls",
            difference: "difference",
            captions: &["One.".to_owned(), "Two.".to_owned()],
            range: (-0.1, 0.3),
            ticks: &[(0.0, "0".to_owned()), (1.0, "20".to_owned())],
        };
        plane_svg(methods, &plane)
    }

    #[test]
    fn only_significant_methods_have_a_color_and_each_has_one_label() {
        let svg = drawn(&[
            method("a", None, at(0.0, 0.0)),
            method("b", Some(Ordering::Greater), at(1.0, 0.2)),
            method("c", Some(Ordering::Less), at(0.5, -0.05)),
            method("d", None, None),
        ]);
        well_formed(&svg);
        assert_eq!(svg.matches(r#"class="method""#).count(), 3);
        assert_eq!(svg.matches(r#"class="interval""#).count(), 3);
        // A point, its interval and its line in the list.
        for color in ["#1f7a33", "#b3261e"] {
            assert_eq!(svg.matches(color).count(), 3, "{color}");
        }
        // Only the first and the second are on the front.
        assert!(
            svg.contains(r#"<path class="front" d="M78.0 305.0L722.0 135.0""#),
            "{svg}"
        );
        assert!(svg.contains("method &lt;d&gt; *") && svg.contains("−0.10"));
        assert_eq!(
            svg,
            drawn(&[
                method("a", None, at(0.0, 0.0)),
                method("b", Some(Ordering::Greater), at(1.0, 0.2)),
                method("c", Some(Ordering::Less), at(0.5, -0.05)),
                method("d", None, None),
            ])
        );
    }

    #[test]
    fn a_plane_without_methods_has_axes() {
        let svg = drawn(&[]);
        well_formed(&svg);
        assert!(!svg.contains("front") && svg.contains("+0.30"), "{svg}");
    }
}
