//! Pairwise agreement as a grid of Cohen's κ, with people after the judges.

use crate::app::judge_report::report::RaterReport;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::text;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

const CELL: usize = 6;
/// Minimum κ that is usually called substantial agreement (Landis & Koch 1977).
const HIGH: f64 = 0.6;
/// Below this number of pairs, a κ is unreliable and dimmed.
const FEW: usize = 20;
const NAME: usize = 14;
/// Above this number of raters, agreement is described only in words.
const MOST: usize = 10;

fn raters(report: &RaterReport) -> Vec<String> {
    let judges = report.rater_data.judges.iter();
    judges
        .map(|(_, spec)| &spec.name)
        .chain(&report.rater_data.people)
        .map(|name| sanitize::line(name).into_owned())
        .collect()
}

/// Columns and rows of the grid; `None` if nothing can be compared.
pub(super) fn size(report: &RaterReport) -> Option<(u16, u16)> {
    let raters = raters(report).len();
    let known = report.pairs.iter().any(|(.., pair)| pair.kappa.is_some());
    (known && raters <= MOST).then_some(((NAME + raters * CELL) as u16, raters as u16 + 5))
}

pub(super) fn render(report: &RaterReport, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let raters = raters(report);
    let mut header = vec![Span::raw(" ".repeat(NAME))];
    for at in 1..=raters.len() {
        header.push(Span::styled(
            text::pad_left(&at.to_string(), CELL - 1),
            theme.muted(),
        ));
        header.push(Span::raw(" "));
    }
    let mut lines = vec![Line::styled("Cohen's κ", theme.title()), Line::from(header)];
    for (row, name) in raters.iter().enumerate() {
        let label = text::pad_right(&format!("{} {name}", row + 1), NAME - 1);
        let mut spans = vec![Span::raw(label), Span::raw(" ")];
        for column in 0..raters.len() {
            let pair = report.pairs.iter().map(|(.., pair)| pair);
            let kappa = pair
                .filter(|pair| (pair.a, pair.b) == (row.min(column), row.max(column)))
                .find_map(|pair| pair.kappa);
            spans.push(match kappa {
                Some(kappa) => Span::styled(
                    text::pad_left(&text::fixed(kappa.value, 2), CELL),
                    match kappa.n {
                        0..FEW => theme.faint(),
                        _ if kappa.value >= HIGH => theme.strong(),
                        _ => theme.text(),
                    },
                ),
                None => Span::styled(text::pad_left("·", CELL), theme.faint()),
            });
        }
        lines.push(Line::from(spans));
    }
    let words = format!("1: identical · 0: chance agreement · dim: fewer than {FEW} pairs");
    let columns = usize::from(area.width);
    lines.extend(text::lines(&words, columns, theme.muted()));
    Paragraph::new(lines).render(area, buf);
}
