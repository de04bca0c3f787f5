//! Draws a figure in terminal cells.

use super::shapes::{Plot, PlotWords};
use crate::features::student::app::StepReport;
use crate::features::student::domain::figure::{CELLS, Figure, FigureGroup, correlation_interval};
use crate::features::student::domain::figures::{Category, Figures, FoldedRow};
use crate::features::student::screen::state::StudentState;
use crate::tui::canvas::Canvas;
use crate::tui::theme::ColorDepth;
use crate::tui::widgets::notice;
use std::ops::Range;

/// The symbol of each category without color, from all votes for the favorite to all against it.
pub(super) const SIGNS: [char; 5] = ['█', '▒', '·', '/', '×'];

/// Draws the current figure with the selected group marked.
pub(super) fn plot(screen: &StudentState, canvas: Canvas<'_>) {
    let Some(step) = screen.step() else { return };
    let figures = &step.figures;
    let count = screen.groups.len().max(1);
    let (across, up, ends) = match screen.figure {
        Figure::Accuracy => ((0.0, checkpoints(screen) as f64), (0.0, 1.0), ("", "")),
        Figure::Triangle => ((0.0, 1.0), (0.0, 1.0), ("0", "1")),
        // The other document's probability is at most the favorite's.
        Figure::Fold => ((0.0, 1.0), (0.0, 0.5), ("0", "1")),
        Figure::Axes => ((0.0, 0.5), (0.0, 1.0), ("0", "0.5")),
        Figure::Radius | Figure::Yield => ((0.0, 1.0), (0.0, 1.0), ("0", "1")),
        Figure::Ranks => ((0.0, count as f64), (0.0, 1.0), ("0 %", "100 %")),
        Figure::Buckets => ((0.0, count as f64), (0.0, highest(screen)), ("1", "")),
        Figure::ResidualTies => ((0.0, count as f64), (-1.0, 1.0), ("", "")),
        Figure::Segments => {
            let (strips, cells) = divisions(screen);
            ((0.0, strips as f64), (0.0, cells as f64), ("", ""))
        }
    };
    let (x, y) = screen.figure.axes();
    let (first, last) = match screen.figure {
        Figure::Buckets => (ends.0.to_owned(), count.to_string()),
        Figure::Accuracy => steps_shown(screen),
        _ => (ends.0.to_owned(), ends.1.to_owned()),
    };
    let y = match screen.figure {
        Figure::Radius => "share of the largest ring's battles",
        _ => y,
    };
    let x = match screen.figure {
        Figure::Radius => "radius r from the certain corner (1, 0)",
        _ => x,
    };
    let words = PlotWords {
        across: x,
        up: y,
        ends: (&first, &last),
        numbered: screen.figure != Figure::Segments,
    };
    let Canvas { theme, area, buf } = canvas;
    let Some(mut plot) = Plot::new(across, up, &words, Canvas::new(theme, area, buf)) else {
        notice("a larger terminal shows the figure", theme, area, buf);
        return;
    };
    match screen.figure {
        Figure::Accuracy => accuracy(&mut plot, screen),
        Figure::Triangle | Figure::Fold | Figure::Axes => {
            scatter(&mut plot, screen.figure, figures);
        }
        Figure::Radius => rings(&mut plot, screen, figures),
        Figure::Yield => grown(&mut plot, screen, figures),
        Figure::Ranks => {
            let groups = &screen.groups;
            let composed: Vec<[f64; 5]> = groups
                .iter()
                .map(|group| composition(figures, group))
                .collect();
            stacked(&mut plot, &composed, |_| 1.0);
        }
        Figure::Buckets => buckets(&mut plot, screen),
        Figure::ResidualTies => residual_ties(&mut plot, figures),
        Figure::Segments => segments(&mut plot, screen),
    }
    mark_cursor(&mut plot, screen);
}

fn checkpoints(screen: &StudentState) -> usize {
    screen
        .report()
        .map_or(1, |report| report.steps.len())
        .max(1)
}

/// The first and the last checkpoint; empty if there is only one.
fn steps_shown(screen: &StudentState) -> (String, String) {
    let steps = screen.report().map_or(&[][..], |report| &*report.steps);
    let name = |of: &StepReport| of.step.map_or(String::new(), |step| step.to_string());
    match steps {
        [first, .., last] => (name(first), name(last)),
        _ => (String::new(), String::new()),
    }
}

/// Number of strips and cells of the segments.
fn divisions(screen: &StudentState) -> (usize, usize) {
    screen
        .groups
        .iter()
        .map(|group| group.place)
        .fold((1, 1), |(strips, cells), (strip, cell)| {
            (strips.max(strip + 1), cells.max(cell + 1))
        })
}

/// Upper end of the buckets' scale, in tenths.
fn highest(screen: &StudentState) -> f64 {
    let ends = screen
        .groups
        .iter()
        .filter_map(|group| match group.interval {
            Some((_, high)) => Some(high),
            None => group.observed,
        });
    (ends.fold(0.5, f64::max) * 10.0).ceil() / 10.0
}

fn mark_cursor(plot: &mut Plot<'_>, screen: &StudentState) {
    let Some(group) = screen.group() else { return };
    let (column, row) = group.place;
    let cells = CELLS as f64;
    match screen.figure {
        Figure::Accuracy => {
            let step = screen.step as f64;
            plot.cursor(plot.columns_of(step, step + 1.0), None);
        }
        Figure::Triangle | Figure::Fold | Figure::Axes => {
            let width = if screen.figure == Figure::Axes {
                0.5
            } else {
                1.0
            } / cells;
            let columns = plot.columns_of(column as f64 * width, (column + 1) as f64 * width);
            plot.cursor(
                columns,
                Some((row as f64 / cells, (row + 1) as f64 / cells)),
            );
        }
        Figure::Radius | Figure::Yield => {
            let columns = plot.columns_of(column as f64 / cells, (column + 1) as f64 / cells);
            plot.cursor(columns, None);
        }
        Figure::Ranks | Figure::Buckets | Figure::ResidualTies => {
            plot.cursor(plot.columns_of(column as f64, (column + 1) as f64), None);
        }
        Figure::Segments => {
            let columns = plot.columns_of(column as f64, (column + 1) as f64);
            let block = columns.start..columns.end.saturating_sub(1).max(columns.start + 1);
            plot.cursor(block, Some((row as f64, (row + 1) as f64)));
        }
    }
}

/// Draws each checkpoint's accuracy with its interval, and a line at one half, which this labels.
const COIN: &str = " a coin";

fn accuracy(plot: &mut Plot<'_>, screen: &StudentState) {
    plot.level(0.5);
    let end = plot.columns().saturating_sub(COIN.len());
    plot.mark(end, 0.5, COIN, plot.theme.muted());
    let Some(report) = screen.report() else {
        return;
    };
    for (at, step) in report.steps.iter().enumerate() {
        let columns = plot.columns_of(at as f64, (at + 1) as f64);
        let middle = (columns.start + columns.end) / 2;
        let Some(found) = step.figures.consensus_accuracy else {
            continue;
        };
        if let Some(interval) = found.interval {
            plot.whisker(middle, interval);
        }
        plot.mark(middle, found.value, "●", plot.theme.accent());
    }
}

/// Draws half blocks colored by the mean score of their battles.
fn scatter(plot: &mut Plot<'_>, figure: Figure, figures: &Figures) {
    let mut sums = vec![(0.0, 0.0); plot.columns() * plot.pixels()];
    for row in &figures.rows {
        let (x, y) = match figure {
            Figure::Triangle => row.predicted(),
            Figure::Axes => (row.expected(), row.decisiveness()),
            _ => (row.x, row.y),
        };
        let better = if figure == Figure::Triangle && row.turned {
            row.score
        } else {
            1.0 - row.score
        };
        let at = plot.pixel(y) * plot.columns() + plot.column(x);
        if let Some((sum, n)) = sums.get_mut(at) {
            *sum += better;
            *n += 1.0;
        }
    }
    let columns = plot.columns();
    plot.paint(|column, pixel| {
        let (sum, n) = sums.get(pixel * columns + column)?;
        (*n > 0.0).then(|| sum / n)
    });
}

/// Shares of a group by category.
pub(super) fn composition(figures: &Figures, group: &FigureGroup) -> [f64; 5] {
    let rows = || group.rows.iter().filter_map(|at| figures.rows.get(*at));
    let n = rows().count().max(1) as f64;
    Category::ALL.map(|category| {
        rows()
            .filter(|row: &&FoldedRow| row.category == category)
            .count() as f64
            / n
    })
}

/// Draws one bar per group, stacked by category with those for the favorite at the bottom; `height`
/// gives the bar's height.
fn stacked(plot: &mut Plot<'_>, composed: &[[f64; 5]], height: impl Fn(usize) -> f64) {
    let columns: Vec<Range<usize>> = (0..composed.len())
        .map(|at| {
            let width = plot.columns();
            at * width / composed.len()..(at + 1) * width / composed.len()
        })
        .collect();
    let category = |column: usize, up: f64| {
        let at = columns
            .iter()
            .position(|columns| columns.contains(&column))?;
        let up = up / height(at).max(f64::MIN_POSITIVE);
        if up > 1.0 {
            return None;
        }
        let mut low = 0.0;
        let shares = composed.get(at)?;
        let category = shares.iter().position(|share| {
            low += share;
            up < low
        });
        // If rounding makes shares add up to slightly less than 1, the last nonzero category fills
        // the rest.
        category.or_else(|| shares.iter().rposition(|share| *share > 0.0))
    };
    if plot.theme.depth == ColorDepth::None {
        plot.signs(|column, up| SIGNS.get(category(column, up)?).copied());
        return;
    }
    let pixels = plot.pixels() as f64;
    plot.paint(|column, pixel| {
        let category = category(column, (pixel as f64 + 0.5) / pixels)?;
        Some(1.0 - category as f64 / 4.0)
    });
}

fn rings(plot: &mut Plot<'_>, screen: &StudentState, figures: &Figures) {
    let counts = screen.groups.iter().map(|group| group.rows.len());
    let most = counts.clone().max().unwrap_or(1).max(1) as f64;
    let heights: Vec<f64> = counts.map(|count| count as f64 / most).collect();
    let composed: Vec<[f64; 5]> = screen
        .groups
        .iter()
        .map(|group| composition(figures, group))
        .collect();
    stacked(plot, &composed, |at| {
        heights.get(at).copied().unwrap_or(0.0)
    });
}

fn grown(plot: &mut Plot<'_>, screen: &StudentState, figures: &Figures) {
    let shares: Vec<f64> = screen
        .groups
        .iter()
        .map(|group| group.rows.len() as f64 / figures.n.max(1) as f64)
        .collect();
    let composed: Vec<[f64; 5]> = screen
        .groups
        .iter()
        .map(|group| composition(figures, group))
        .collect();
    stacked(plot, &composed, |at| shares.get(at).copied().unwrap_or(0.0));
}

/// Draws expected scores as rings, and observed ones as dots with intervals.
fn buckets(plot: &mut Plot<'_>, screen: &StudentState) {
    for (at, group) in screen.groups.iter().enumerate() {
        let columns = plot.columns_of(at as f64, (at + 1) as f64);
        let middle = (columns.start + columns.end) / 2;
        if let Some(interval) = group.interval {
            plot.whisker(middle, interval);
        }
        let (Some(expected), Some(observed)) = (group.expected, group.observed) else {
            continue;
        };
        plot.mark(middle, observed, "●", plot.theme.accent());
        let together = plot.pixel(expected) / 2 == plot.pixel(observed) / 2;
        if together {
            plot.mark(middle, expected, "◉", plot.theme.accent())
        } else {
            plot.mark(middle, expected, "○", plot.theme.text())
        }
    }
}

fn residual_ties(plot: &mut Plot<'_>, figures: &Figures) {
    plot.level(0.0);
    for (at, of) in figures.residual_ties.iter().enumerate() {
        let columns = plot.columns_of(at as f64, (at + 1) as f64);
        let middle = (columns.start + columns.end) / 2;
        let Some(value) = of.correlation else {
            plot.mark(middle, 0.0, "–", plot.theme.muted());
            continue;
        };
        if let Some(interval) = correlation_interval(value, of.n) {
            plot.whisker(middle, interval);
        }
        plot.mark(middle, value, "●", plot.theme.accent());
    }
}

/// Draws blocks colored by the observed score, which is printed in them.
fn segments(plot: &mut Plot<'_>, screen: &StudentState) {
    for (at, group) in screen.groups.iter().enumerate() {
        let (strip, cell) = group.place;
        let columns = plot.columns_of(strip as f64, (strip + 1) as f64);
        let mut block = plot.block(columns, cell as f64, (cell + 1) as f64);
        // Leave one column between strips.
        block.width = block.width.saturating_sub(1).max(1);
        let Some(observed) = group.observed else {
            continue;
        };
        let mut style = plot.theme.heat(1.0 - observed).style;
        if at == screen.cursor {
            style = style.patch(plot.theme.cursor_cell());
        }
        plot.buf.set_style(block, style);
        let words = format!("{observed:.2}");
        let middle = block.y + block.height / 2;
        let left = block.x + block.width.saturating_sub(words.len() as u16) / 2;
        if usize::from(block.width) >= words.len() && middle < plot.inside.bottom() {
            plot.buf.set_string(left, middle, words, style);
        }
    }
}
