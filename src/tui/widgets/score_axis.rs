//! An axis of scores that fits the points on it, and their intervals, drawn as `──●──`.

use crate::tui::text::{axis_ends, signed};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::style::Style;

/// Number of standard errors on either side of a score in a 95 % interval.
const WITHIN_95: f64 = 1.96;
/// Free space on both sides of the points, as a share of their range.
const FREE: f64 = 0.04;
/// One, two, and more points in a column of the line.
const POINTS: [char; 3] = ['·', '•', '●'];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreAxis {
    low: f64,
    high: f64,
    columns: usize,
    /// A value marked by a vertical line.
    cut: Option<f64>,
}

impl ScoreAxis {
    /// `None` if there are no scores or no columns.
    pub fn new(scores: &[f64], columns: usize, cut: Option<f64>) -> Option<Self> {
        let finite = || scores.iter().copied().filter(|score| score.is_finite());
        let low = finite().reduce(f64::min)?;
        let high = finite().reduce(f64::max)?;
        let free = if high > low { FREE * (high - low) } else { 1.0 };
        (columns > 0).then_some(Self {
            low: low - free,
            high: high + free,
            columns,
            cut: cut.filter(|cut| cut.is_finite()),
        })
    }

    /// The column of a value, negative or past the end if the value is outside.
    fn column(&self, value: f64) -> isize {
        let share = (value - self.low) / (self.high - self.low);
        (share * self.columns as f64)
            .floor()
            .clamp(-1.0, self.columns as f64) as isize
    }

    fn inside(&self, value: f64) -> Option<usize> {
        let column = usize::try_from(self.column(value)).ok()?;
        (column < self.columns).then_some(column)
    }

    /// Its end values, and 0.
    pub fn labels(&self) -> String {
        let (low, high) = (signed(self.low, 1), signed(self.high, 1));
        let zero = (self.low < 0.0 && self.high > 0.0).then(|| self.inside(0.0));
        axis_ends(&low, &high, zero.flatten(), self.columns)
    }

    /// The position of the marked value.
    pub fn cut_column(&self) -> Option<usize> {
        self.inside(self.cut?)
    }

    /// All scores as points on one line.
    pub fn points(&self, theme: &Theme, scores: &[f64], at: (u16, u16), buf: &mut Buffer) {
        let mut counts = vec![0usize; self.columns];
        for column in scores.iter().filter_map(|score| self.inside(*score)) {
            counts[column] += 1;
        }
        self.draw(at, buf, |column| match counts[column] {
            0 => self.ground(theme, column, ' '),
            several => (POINTS[several.min(POINTS.len()) - 1], theme.accent()),
        });
    }

    /// A score with its 95 % interval; an end that leaves the axis is an arrow. Without a score,
    /// only the marked value is drawn.
    pub fn interval(
        &self,
        theme: &Theme,
        score: Option<(f64, Option<f64>)>,
        at: (u16, u16),
        buf: &mut Buffer,
    ) {
        let shown = score
            .filter(|(zelo, _)| zelo.is_finite())
            .map(|(zelo, se)| {
                let reach = WITHIN_95 * se.filter(|se| se.is_finite()).unwrap_or(0.0).abs();
                (
                    self.column(zelo - reach),
                    self.column(zelo),
                    self.column(zelo + reach),
                )
            });
        self.draw(at, buf, |column| {
            let here = column as isize;
            match shown {
                Some((_, point, _)) if here == point => ('●', theme.accent()),
                Some((low, _, _)) if column == 0 && low < 0 => ('◂', theme.muted()),
                Some((_, _, high)) if column + 1 == self.columns && high > here => {
                    ('▸', theme.muted())
                }
                Some((low, _, high)) if (low..=high).contains(&here) => ('─', theme.muted()),
                _ => self.ground(theme, column, ' '),
            }
        });
    }

    /// The mark of the cut, or `blank`.
    fn ground(&self, theme: &Theme, column: usize, blank: char) -> (char, Style) {
        if self.cut_column() == Some(column) {
            ('┊', theme.muted())
        } else {
            (blank, Style::new())
        }
    }

    fn draw(&self, (x, y): (u16, u16), buf: &mut Buffer, symbol: impl Fn(usize) -> (char, Style)) {
        for column in 0..self.columns {
            let (symbol, style) = symbol(column);
            if let Some(cell) = buf.cell_mut((x + column as u16, y)) {
                cell.set_char(symbol).set_style(style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, text};

    fn drawn(axis: ScoreAxis, score: Option<(f64, Option<f64>)>) -> String {
        let buffer = draw(20, 1, |_, buf| {
            axis.interval(&Theme::default(), score, (0, 0), buf)
        });
        text(&buffer).trim_end_matches('\n').to_owned()
    }

    #[test]
    fn an_interval_that_leaves_the_axis_ends_in_an_arrow() {
        let axis = ScoreAxis::new(&[-2.0, 0.0, 2.0], 20, Some(1.0)).unwrap();
        let plot = |zelo, se| drawn(axis, Some((zelo, se)));
        assert_eq!(plot(0.0, Some(0.5)), "     ─────●────");
        assert_eq!(plot(-2.0, Some(0.6)), "●──────       ┊");
        assert!(
            plot(-1.5, Some(1.0)).starts_with('◂'),
            "{}",
            plot(-1.5, Some(1.0))
        );
        assert!(
            plot(1.5, Some(1.0)).ends_with('▸'),
            "{}",
            plot(1.5, Some(1.0))
        );
        assert_eq!(plot(0.0, None).trim(), "●   ┊");
        assert_eq!(drawn(axis, None).trim(), "┊");
        assert_eq!(axis.labels(), "−2.2      0     +2.2");
    }

    #[test]
    fn points_that_share_a_column_are_larger() {
        let scores = [-2.0, 0.0, 0.0, 2.0, 2.0, 2.0];
        let axis = ScoreAxis::new(&scores, 11, None).unwrap();
        let buffer = draw(11, 1, |_, buf| {
            axis.points(&Theme::default(), &scores, (0, 0), buf)
        });
        assert_eq!(text(&buffer), "·    •    ●\n");
    }

    #[test]
    fn broken_scores_and_no_room_do_no_harm() {
        assert_eq!(ScoreAxis::new(&[f64::NAN], 10, None), None);
        assert_eq!(ScoreAxis::new(&[1.0], 0, None), None);
        let axis = ScoreAxis::new(&[1.0], 10, Some(f64::NAN)).unwrap();
        assert_eq!(drawn(axis, Some((f64::NAN, Some(1.0)))).trim(), "");
        assert_eq!(drawn(axis, Some((1.0, Some(f64::INFINITY)))).trim(), "●");
    }
}
