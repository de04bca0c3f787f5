//! Shares as points with their intervals, on an axis that all rows share.

use crate::app::interval_axis::IntervalAxis;
use crate::domain::agreement::Interval;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::Span;

/// Columns of an axis.
pub(super) const WIDTH: usize = 19;

/// An axis of shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis(IntervalAxis);

impl Axis {
    /// From the lowest interval, rounded down to 10 %, up to 100 %.
    pub(super) fn up_to_one(intervals: impl Iterator<Item = Interval>) -> Option<Self> {
        let low = intervals.map(|interval| interval.low).reduce(f64::min)?;
        let low = ((low * 10.0 + 1e-9).floor() / 10.0).clamp(0.0, 0.9);
        Some(Self(IntervalAxis::new(low, 1.0, WIDTH)))
    }

    /// Around 50 %, as far as the intervals reach, rounded up to 10 %.
    pub(super) fn around_half(intervals: impl Iterator<Item = Interval>) -> Option<Self> {
        let far = |interval: Interval| (interval.high - 0.5).max(0.5 - interval.low);
        let far = intervals.map(far).reduce(f64::max)?;
        let far = ((far * 10.0 - 1e-9).ceil() / 10.0).clamp(0.1, 0.5);
        Some(Self(IntervalAxis::new(0.5 - far, 0.5 + far, WIDTH)))
    }

    /// The ends and the middle, above the axis.
    pub(super) fn header(self) -> String {
        let Self(IntervalAxis { low, high, .. }) = self;
        let percent = |share: f64| format!("{:.0}", 100.0 * share);
        let middle = percent((low + high) / 2.0);
        let half = WIDTH / 2 - middle.len() / 2;
        let left = text::pad_right(&percent(low), half);
        let right = format!("{} %", percent(high));
        format!(
            "{left}{}{right}",
            text::pad_right(&middle, WIDTH - half - right.len())
        )
    }

    pub(super) fn track(self, value: f64, interval: Interval, theme: &Theme) -> Vec<Span<'static>> {
        let at = self.0.column(value);
        let range = self.0.column(interval.low)..=self.0.column(interval.high);
        (0..WIDTH)
            .map(|cell| match cell {
                cell if cell == at => Span::raw("●"),
                cell if range.contains(&cell) => Span::raw("─"),
                cell if cell == WIDTH / 2 => Span::styled("┊", theme.faint()),
                _ => Span::raw(" "),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_fits_its_intervals() {
        let of = |low, high| Interval { low, high };
        let people = Axis::up_to_one([of(0.63, 0.8), of(0.7, 0.99)].into_iter()).unwrap();
        assert_eq!(people.header(), "60      80    100 %");
        let first = Axis::around_half([of(0.46, 0.54), of(0.6, 0.76)].into_iter()).unwrap();
        assert_eq!(first.header(), "20      50     80 %");
        let theme = Theme::default();
        let drawn = |axis: Axis, value, interval| -> String {
            let spans = axis.track(value, interval, &theme);
            spans.iter().map(|span| span.content.as_ref()).collect()
        };
        assert_eq!(drawn(first, 0.68, of(0.6, 0.76)), "         ┊  ──●─── ");
        assert_eq!(drawn(first, 0.9, of(0.7, 1.0)), "         ┊     ───●");
        assert_eq!(Axis::up_to_one([].into_iter()), None);
    }
}
