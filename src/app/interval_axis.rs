//! Values with their intervals, drawn as `──●──` on an axis that several rows share.

use crate::domain::number_words::signed;

/// An axis with a range of values and a number of terminal columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct IntervalAxis {
    pub(crate) low: f64,
    pub(crate) high: f64,
    columns: usize,
}

impl IntervalAxis {
    /// An axis of differences: it contains 0 and all `values`, and ends at whole hundredths.
    pub(crate) fn of_differences(values: impl Iterator<Item = f64>, columns: usize) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((-0.01_f64, 0.01_f64), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        Self {
            low: (low * 100.0 + 1e-9).floor() / 100.0,
            high: (high * 100.0 - 1e-9).ceil() / 100.0,
            columns,
        }
    }

    /// An axis with these ends.
    pub(crate) fn new(low: f64, high: f64, columns: usize) -> Self {
        Self { low, high, columns }
    }

    /// The share of the axis below a value, from 0 to 1.
    pub(crate) fn part(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// The column of a value, from 0.
    pub(crate) fn column(&self, value: f64) -> usize {
        (self.part(value) * self.columns.saturating_sub(1) as f64).round() as usize
    }

    /// The values at both ends, and 0 at its place if there is room.
    pub(crate) fn labels(&self) -> String {
        let (low, high) = (signed(self.low, 2), signed(self.high, 2));
        let (from, to) = (low.chars().count(), high.chars().count());
        let gap = self.columns.saturating_sub(from + to);
        let zero = self.column(0.0);
        if zero > from && zero + 1 + to < self.columns {
            let after = self.columns - to - zero - 1;
            return format!(
                "{low}{}0{}{high}",
                " ".repeat(zero - from),
                " ".repeat(after)
            );
        }
        format!("{low}{}{high}", " ".repeat(gap))
    }

    /// A value with its interval, and a mark at 0; only the mark if there is no value.
    pub(crate) fn row(&self, value: Option<f64>, interval: Option<(f64, f64)>) -> String {
        let zero = self.column(0.0);
        let point = value.map(|value| self.column(value));
        let reach = interval.map(|(from, to)| self.column(from)..=self.column(to));
        let symbol = |at: usize| match &reach {
            _ if point == Some(at) => '●',
            Some(reach) if reach.contains(&at) && at == zero => '┼',
            Some(reach) if reach.contains(&at) => '─',
            _ if at == zero => '│',
            _ => ' ',
        };
        (0..self.columns).map(symbol).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_the_value_its_interval_and_zero() {
        let axis = IntervalAxis::of_differences([-0.1, 0.104].into_iter(), 22);
        assert_eq!((axis.low, axis.high), (-0.1, 0.11));
        assert_eq!(axis.labels(), "−0.10     0      +0.11");
        assert_eq!(
            axis.row(Some(-0.02), Some((-0.05, 0.03))),
            "     ───●─┼───        "
        );
        assert_eq!(axis.row(None, None), "          │           ");
        assert_eq!(
            axis.row(Some(0.07), Some((0.05, 0.09))),
            "          │    ──●──  "
        );
    }

    #[test]
    fn an_axis_without_differences_has_a_width() {
        let axis = IntervalAxis::of_differences([0.0, f64::NAN].into_iter(), 5);
        assert!(axis.high > axis.low);
        assert_eq!(axis.row(Some(0.0), Some((0.0, 0.0))), "  ●  ");
    }
}
