//! Basic shapes with axes: dots, bars, areas, lines and text in one picture, for light and dark
//! pages.

use super::labels::escape;
use crate::domain::number_words::fixed;
use std::fmt::Write;

/// Colors by class, for light pages, and for dark ones if the reader prefers them. Levels 0 to 6 go
/// from blue (0) through gray (½) to orange (1).
pub const CHART_STYLE: &str = "\
svg text{fill:#222}svg .dim{fill:#555}svg .page{fill:#fff}svg \
.line{fill:none;stroke:#333;stroke-width:1.5}
svg .axis{fill:none;stroke:#888}svg .grid{fill:none;stroke:#e2e2de}svg .dash{stroke-dasharray:5 4}
svg .dots{fill:none;stroke-linecap:round;stroke-opacity:.75}svg .point{fill:#333}svg \
.bar{fill:#4d8cc7}
svg .soft{fill-opacity:.4}
svg .f0{fill:#1a5fa8}svg .f1{fill:#4d8cc7}svg .f2{fill:#93bbe0}svg .f3{fill:#a3a3a0}svg \
.f4{fill:#eab67c}svg .f5{fill:#d97b2b}svg .f6{fill:#b3510a}
svg .s0{stroke:#1a5fa8}svg .s1{stroke:#4d8cc7}svg .s2{stroke:#93bbe0}svg .s3{stroke:#a3a3a0}svg \
.s4{stroke:#eab67c}svg .s5{stroke:#d97b2b}svg .s6{stroke:#b3510a}
@media (prefers-color-scheme:dark){
svg text{fill:#e6e6e3}svg .dim{fill:#a9a9a4}svg .page{fill:#16181d}svg .line{stroke:#d8d8d4}
svg .axis{stroke:#8a8a86}svg .grid{stroke:#33363d}svg .point{fill:#e6e6e3}svg .bar{fill:#5c9bd6}
svg .f0{fill:#3f93ee}svg .f1{fill:#6fb0f2}svg .f2{fill:#a9cff5}svg .f3{fill:#85858a}svg .f4{fill:#f5cfa2}svg .f5{fill:#f2a053}svg .f6{fill:#ee7320}
svg .s0{stroke:#3f93ee}svg .s1{stroke:#6fb0f2}svg .s2{stroke:#a9cff5}svg .s3{stroke:#85858a}svg .s4{stroke:#f5cfa2}svg .s5{stroke:#f2a053}svg .s6{stroke:#ee7320}
}
";

/// Where a picture is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In its own file, which includes the colors.
    File,
    /// In a page that includes [`CHART_STYLE`].
    Page,
}

/// The color level of a value in 0..=1.
pub(crate) fn level(value: f64) -> usize {
    (value.clamp(0.0, 1.0) * 6.0).round() as usize
}

/// A picture that is being drawn.
pub(crate) struct Chart {
    svg: String,
    height: f64,
}

impl Chart {
    pub(crate) fn new(
        (width, height): (f64, f64),
        place: Place,
        title: &str,
        caption: &str,
    ) -> Self {
        let mut svg = String::new();
        let _ = writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="12">"#
        );
        let (title, caption) = (escape(title), escape(caption));
        let _ = writeln!(svg, "<title>{title}</title>\n<desc>{caption}</desc>");
        if place == Place::File {
            let _ = writeln!(svg, "<style>{CHART_STYLE}</style>");
        }
        let _ = writeln!(
            svg,
            r#"<rect class="page" width="{width}" height="{height}"/>"#
        );
        let _ = writeln!(svg, r#"<text x="16" y="25" font-size="15">{title}</text>"#);
        let _ = writeln!(
            svg,
            r#"<text class="dim" x="16" y="43" font-size="11">{caption}</text>"#
        );
        Self { svg, height }
    }

    pub(crate) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    /// Text at a position; `anchor` is start, middle or end.
    pub(crate) fn words(&mut self, (x, y): (f64, f64), anchor: &str, class: &str, words: &str) {
        let _ = writeln!(
            self.svg,
            r#"<text class="{class}" x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="11">{}</text>"#,
            escape(words)
        );
    }

    /// A path in pixels with the given classes.
    pub(crate) fn path(&mut self, class: &str, path: &str) {
        if !path.is_empty() {
            let _ = writeln!(self.svg, r#"<path class="{class}" d="{path}"/>"#);
        }
    }

    /// A rectangle in pixels, with a tooltip.
    pub(crate) fn rectangle(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        hint: &str,
    ) {
        let _ = writeln!(
            self.svg,
            r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}"><title>{}</title></rect>"#,
            width.max(0.0),
            height.max(0.0),
            escape(hint)
        );
    }

    pub(crate) fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64, hint: &str) {
        let _ = writeln!(
            self.svg,
            r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="{radius}"><title>{}</title></circle>"#,
            escape(hint)
        );
    }

    /// Dots of one size, with one path per color; smaller if there are many.
    pub(crate) fn dots(&mut self, frame: &Frame, points: &[(f64, f64, usize)]) {
        let width = match points.len() {
            0..400 => 6.0,
            400..3_000 => 4.0,
            _ => 2.6,
        };
        for level in 0..=6 {
            let mut path = String::new();
            for (x, y, _) in points.iter().filter(|point| point.2 == level) {
                let _ = write!(path, "M{:.1} {:.1}h0", frame.x(*x), frame.y(*y));
            }
            if !path.is_empty() {
                let _ = writeln!(
                    self.svg,
                    r#"<path class="dots s{level}" stroke-width="{width}" d="{path}"/>"#
                );
            }
        }
    }

    /// Colored squares with their meanings, in a row at the bottom.
    pub(crate) fn legend(&mut self, left: f64, entries: &[(&str, String)]) {
        let (mut x, y) = (left, self.height - 12.0);
        for (class, words) in entries {
            self.rectangle(class, (x, y - 9.0), (10.0, 10.0), words);
            self.words((x + 15.0, y), "start", "dim", words);
            x += 15.0 + 6.2 * words.chars().count() as f64 + 14.0;
        }
    }

    /// The frame with ticks, their numbers, and the labels of both axes.
    pub(crate) fn axes(&mut self, frame: &Frame, ticks: (&[f64], &[f64]), labels: (&str, &str)) {
        let (left, right) = (frame.left, frame.left + frame.width);
        let (top, bottom) = (frame.top, frame.top + frame.height);
        let decimals = |ticks: &[f64]| {
            let fine = ticks.iter().any(|tick| (tick * 10.0).fract().abs() > 1e-9);
            if fine { 2 } else { 1 }
        };
        for tick in ticks.0 {
            let x = frame.x(*tick);
            self.path("grid", &format!("M{x:.1} {top:.1}V{bottom:.1}"));
            let digits = decimals(ticks.0);
            self.words((x, bottom + 16.0), "middle", "dim", &fixed(*tick, digits));
        }
        for tick in ticks.1 {
            let y = frame.y(*tick);
            self.path("grid", &format!("M{left:.1} {y:.1}H{right:.1}"));
            let digits = decimals(ticks.1);
            let number = fixed(*tick, digits);
            self.words((left - 7.0, y + 4.0), "end", "dim", &number);
        }
        self.path(
            "axis",
            &format!("M{left:.1} {top:.1}V{bottom:.1}H{right:.1}"),
        );
        self.words(
            ((left + right) / 2.0, bottom + 36.0),
            "middle",
            "",
            labels.0,
        );
        let _ = writeln!(
            self.svg,
            r#"<text transform="translate({:.1} {:.1}) rotate(-90)" text-anchor="middle" font-size="11">{}</text>"#,
            left - 42.0,
            (top + bottom) / 2.0,
            escape(labels.1)
        );
    }

    /// A vertical line for an interval, with end caps.
    pub(crate) fn whisker(&mut self, x: f64, (low, high): (f64, f64)) {
        self.path(
            "line",
            &format!(
                "M{x:.1} {low:.1}V{high:.1}M{0:.1} {low:.1}h6M{0:.1} {high:.1}h6",
                x - 3.0
            ),
        );
    }
}

/// A part of a picture with a scale on both axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Position in the picture, in pixels.
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The range of the axes.
    pub(crate) across: (f64, f64),
    pub(crate) up: (f64, f64),
}

impl Frame {
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.left + self.width * (value - self.across.0) / (self.across.1 - self.across.0)
    }

    pub(crate) fn y(&self, value: f64) -> f64 {
        self.top + self.height * (1.0 - (value - self.up.0) / (self.up.1 - self.up.0))
    }

    /// A path through points.
    pub(crate) fn along(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        for (at, (x, y)) in points.into_iter().enumerate() {
            let start = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{start}{:.1} {:.1}", self.x(x), self.y(y));
        }
        path
    }

    /// The area between two lines over the same x positions.
    pub(crate) fn between(&self, columns: &[f64], low: &[f64], high: &[f64]) -> String {
        let up = columns.iter().copied().zip(high.iter().copied());
        let back = columns.iter().copied().zip(low.iter().copied()).rev();
        match columns.len() {
            0 | 1 => String::new(),
            _ => self.along(up.chain(back)) + "z",
        }
    }
}
