//! Renders a student's report as a single HTML page: inline figures and tables of their numbers,
//! without scripts or external resources.

use super::svg::{StudentStep, figure_svg, steps_svg};
use crate::domain::number_words::fixed;
use crate::features::student::domain::figure::{Figure, FigureGroup, correlation_interval, groups};
use crate::features::student::domain::figures::{Category, Figures, Measured};
use crate::formats::svg::{CHART_STYLE, Place, escape};
use std::fmt::Write;

const PAGE_STYLE: &str = "\
:root{color-scheme:light dark}
body{margin:0 auto;padding:1.5rem;max-width:66rem;font:15px/1.5 system-ui,'Segoe UI',Helvetica,Arial,sans-serif;color:#222;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem}nav a{margin-right:.8rem}a{color:#1a5fa8}
figure{margin:1rem 0}figure svg{max-width:100%;height:auto}
table{border-collapse:collapse;margin:.8rem 0;font-variant-numeric:tabular-nums;font-size:13px}
th,td{padding:.15rem .7rem;text-align:right;border-bottom:1px solid #e2e2de}th:first-child,td:first-child{text-align:left}
thead th{border-bottom:1px solid #888}caption{text-align:left;color:#555;padding:.2rem 0}.wide{overflow-x:auto}
@media (prefers-color-scheme:dark){body{color:#e6e6e3;background:#16181d}a{color:#6fb0f2}caption{color:#a9a9a4}
th,td{border-color:#33363d}thead th{border-color:#8a8a86}}
";

/// The content of a page.
#[derive(Clone, Copy, Debug)]
pub struct StudentPage<'a> {
    pub student: &'a str,
    /// Notes for the reader, one sentence each.
    pub notes: &'a [String],
    pub steps: &'a [StudentStep<'a>],
}

impl StudentPage<'_> {
    pub fn html(&self) -> String {
        let name = escape(self.student);
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
             'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>Student \
             {name}</title>\n<style>\n{PAGE_STYLE}{CHART_STYLE}</style>\n</head>\n<body>\n<h1>Student {name}</h1>\n"
        );
        for note in self.notes {
            let _ = writeln!(html, "<p>{}</p>", escape(note));
        }
        html += "<nav>";
        for figure in Figure::ALL {
            let _ = write!(
                html,
                "<a href=\"#fig{0}\" title=\"{1}\">Figure {0}</a>",
                figure.number(),
                escape(figure.title())
            );
        }
        html += "</nav>\n";
        self.overview(&mut html);
        for figure in Figure::ALL {
            self.section(&mut html, figure);
        }
        html += "</body>\n</html>\n";
        html
    }

    fn overview(&self, html: &mut String) {
        html.push_str("<h2>Calibration</h2>\n");
        if let Some(svg) = steps_svg(self.student, self.steps, Place::Page) {
            let _ = writeln!(html, "<figure>{svg}</figure>");
        }
        let head = [
            "step",
            "battles",
            "queries",
            "accuracy on consensus",
            "ECE, equal population",
            "ECE by chance",
            "ECE, equal width",
            "ECE of E|C|",
            "largest error of a bucket",
            "Brier of the score",
            "Brier of three outcomes",
            "cross entropy, nats",
            "divergence, nats",
            "reliability",
            "resolution",
            "uncertainty",
        ];
        let columns: Vec<Vec<String>> = self.steps.iter().map(overview).collect();
        // Put the values in rows, because there are more of them than checkpoints.
        let mut rows: Vec<Vec<String>> = head.iter().map(|name| vec![(*name).to_owned()]).collect();
        for column in columns {
            for (row, cell) in rows.iter_mut().zip(column) {
                row.push(cell);
            }
        }
        let head = rows.remove(0);
        table(
            html,
            "95 % intervals over queries in brackets",
            &head,
            &rows,
        );
    }

    fn section(&self, html: &mut String, figure: Figure) {
        let _ = writeln!(
            html,
            "<section id=\"fig{}\">\n<h2>Figure {} · {}</h2>",
            figure.number(),
            figure.number(),
            escape(figure.title())
        );
        // The first figure shows all checkpoints in one picture.
        let drawn = match figure {
            Figure::Accuracy => self.steps.len().min(1),
            _ => self.steps.len(),
        };
        for at in 0..drawn {
            let svg = figure_svg(figure, self.student, self.steps, at, Place::Page);
            let _ = writeln!(html, "<figure>{}</figure>", svg.unwrap_or_default());
        }
        for step in self.steps {
            let caption = match step.step {
                Some(step) => format!("Step {step}: numbers"),
                None => "Numbers".to_owned(),
            };
            // Scatter plots have many cells.
            let open = if figure.is_plane() { "" } else { " open" };
            let _ = writeln!(html, "<details{open}><summary>{caption}</summary>");
            numbers(html, figure, step.figures);
            html.push_str("</details>\n");
        }
        html.push_str("</section>\n");
    }
}

fn overview(of: &StudentStep<'_>) -> Vec<String> {
    let figures = of.figures;
    let calibration = &figures.calibration;
    let murphy = calibration.murphy;
    vec![
        of.step.map_or_else(dash, |step| step.to_string()),
        figures.n.to_string(),
        figures.queries.to_string(),
        figures.consensus_accuracy.map_or_else(dash, measured),
        measured(calibration.ece),
        calibration.ece_by_chance.map_or_else(dash, number),
        measured(calibration.ece_equal_width),
        measured(calibration.ece_decisiveness),
        measured(calibration.mce),
        measured(calibration.brier),
        measured(calibration.brier_ternary),
        measured(figures.cross_entropy),
        number(figures.divergence()),
        number(murphy.reliability),
        number(murphy.resolution),
        number(murphy.uncertainty),
    ]
}

/// Writes the numbers of a figure's groups, with additional values shown in the figure.
fn numbers(html: &mut String, figure: Figure, figures: &Figures) {
    let mut head = vec![
        "battles of the group".to_owned(),
        "n".to_owned(),
        "expected score".to_owned(),
        "observed score".to_owned(),
        "95 % interval".to_owned(),
    ];
    let more: Vec<Vec<String>> = match figure {
        Figure::Yield | Figure::Ranks => {
            head.extend(["radius".to_owned(), "share of all".to_owned()]);
            head.extend(categories());
            let points = match figure {
                Figure::Yield => &figures.by_radius,
                _ => &figures.by_rank,
            };
            let cells = points.iter().map(|point| {
                let mut cells = vec![number(point.radius), percent(point.share)];
                cells.extend(composition(point.composition));
                cells
            });
            cells.collect()
        }
        Figure::Buckets => {
            head.extend(["mean P(tie)".to_owned(), "observed |C|".to_owned()]);
            head.extend(categories());
            let cells = figures.score_buckets.iter().map(|bucket| {
                let mut cells = vec![number(bucket.tie), number(bucket.observed_decisiveness)];
                cells.extend(composition(Some(bucket.composition)));
                cells
            });
            cells.collect()
        }
        Figure::ResidualTies => {
            head.extend([
                "correlation of P(tie) with |C|".to_owned(),
                "95 % interval".to_owned(),
            ]);
            let cells = figures.residual_ties.iter().map(|of| {
                let interval = of
                    .correlation
                    .and_then(|value| correlation_interval(value, of.n));
                vec![of.correlation.map_or_else(dash, number), ends(interval)]
            });
            cells.collect()
        }
        Figure::Segments => {
            head.extend(["mean E|C|", "observed |C|", "other preferred"].map(str::to_owned));
            let mut segments: Vec<_> = figures.segments.iter().collect();
            segments.sort_by_key(|of| (of.cell, of.strip));
            let cells = segments.into_iter().map(|of| {
                vec![
                    number(of.decisiveness),
                    number(of.observed_decisiveness),
                    percent(of.wrong),
                ]
            });
            cells.collect()
        }
        _ => Vec::new(),
    };
    let groups = groups(figures, figure);
    let rows = groups.iter().enumerate().map(|(at, group)| {
        let mut cells = basics(group);
        cells.extend(more.get(at).cloned().unwrap_or_default());
        cells
    });
    let (x, y) = figure.axes();
    let caption = format!(
        "across: {x}; up: {y}; N = {}; scores: 0 all for the favorite, 1 all against it; \
         intervals from single battles",
        figures.n
    );
    table(html, &caption, &head, &rows.collect::<Vec<_>>());
    if figure == Figure::Buckets {
        let mut head: Vec<String> = ["radius", "n", "expected score", "observed score"]
            .map(str::to_owned)
            .to_vec();
        head.extend(categories());
        let rows = figures.radius_buckets.iter().map(|bucket| {
            let mut cells = vec![
                format!("{} to {}", number(bucket.low), number(bucket.high)),
                bucket.n.to_string(),
                number(bucket.expected),
                number(bucket.observed),
            ];
            cells.extend(composition(Some(bucket.composition)));
            cells
        });
        table(html, "Buckets by radius", &head, &rows.collect::<Vec<_>>());
    }
}

fn basics(group: &FigureGroup) -> Vec<String> {
    vec![
        group.name.clone(),
        group.rows.len().to_string(),
        group.expected.map_or_else(dash, number),
        group.observed.map_or_else(dash, number),
        ends(group.interval),
    ]
}

fn categories() -> impl Iterator<Item = String> {
    Category::ALL
        .into_iter()
        .map(|category| category.name().to_owned())
}

fn composition(shares: Option<[f64; 5]>) -> Vec<String> {
    match shares {
        Some(shares) => shares.map(percent).to_vec(),
        None => vec![dash(); 5],
    }
}

fn dash() -> String {
    "–".to_owned()
}

fn number(value: f64) -> String {
    fixed(value, 4)
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn ends(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(dash, |(low, high)| {
        format!("{} to {}", number(low), number(high))
    })
}

fn measured(of: Measured) -> String {
    match of.interval {
        Some(interval) => format!("{} ({})", number(of.value), ends(Some(interval))),
        None => number(of.value),
    }
}

fn table(html: &mut String, caption: &str, head: &[String], rows: &[Vec<String>]) {
    let _ = write!(
        html,
        "<div class=\"wide\"><table><caption>{}</caption>\n<thead><tr>",
        escape(caption)
    );
    for cell in head {
        let _ = write!(html, "<th>{}</th>", escape(cell));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            let _ = write!(html, "<td>{}</td>", escape(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::prediction::OutcomeProbabilities;
    use crate::features::student::domain::figures::{FigureOptions, StudentRow};

    fn figures(battles: usize) -> Figures {
        let row = |at: usize| {
            let a = (at % 10) as f64 / 12.0;
            StudentRow {
                score: (at % 7) as f64 / 6.0,
                predicted: OutcomeProbabilities::new(a, 0.9 * (1.0 - a)).unwrap(),
                query: at % 5,
            }
        };
        let rows: Vec<StudentRow> = (0..battles).map(row).collect();
        Figures::of(rows, &FigureOptions::of(battles)).unwrap()
    }

    #[test]
    fn a_page_has_every_figure_with_its_numbers_and_nothing_from_elsewhere() {
        for battles in [1, 150] {
            let (one, two) = (figures(battles), figures(battles + 3));
            let steps = [(10, &one), (20, &two)].map(|(step, figures)| StudentStep {
                step: Some(step),
                figures,
            });
            let notes = vec!["a < b".to_owned()];
            let page = StudentPage {
                student: "<b>llama</b>",
                notes: &notes,
                steps: &steps,
            };
            let html = page.html();
            for number in 1..=10 {
                assert!(html.contains(&format!("<section id=\"fig{number}\">")));
            }
            // Nine figures per checkpoint, one for all checkpoints, and the comparison of
            // checkpoints.
            assert_eq!(html.matches("<svg ").count(), 9 * 2 + 1 + 1);
            assert_eq!(html.matches("<style>").count(), 1);
            assert_eq!(
                html.matches("<details").count(),
                html.matches("</details>").count()
            );
            assert_eq!(html.matches("<table>").count(), 1 + 2 * 11);
            let addresses = html.matches("http").count();
            assert_eq!(
                addresses,
                html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count() + 1
            );
            assert!(!html.contains("<b>") && !html.contains("<script") && !html.contains("NaN"));
            assert!(html.contains("a &lt; b") && html.contains("&lt;b&gt;llama"));
        }
    }
}
