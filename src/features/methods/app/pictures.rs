//! The plane of difference and cost, on screen and as a picture.

use super::report::{MethodEntry, MethodsReport};
use super::summary::shown_name;
use crate::app::interval_axis::IntervalAxis;
use crate::app::text_format::counted;
use crate::domain::number_words::{fixed, signed};
use crate::domain::sanitize;
use crate::formats::svg::{Plane, PlaneMethod, PlanePoint, plane_svg};
use std::collections::BTreeSet;

/// Number of columns of the picture.
const COLUMNS: usize = 80;
const UNKNOWN: &str = "–";

/// A method in the plane.
pub(crate) struct PlottedMethod<'a> {
    /// Its index in the report.
    pub(crate) at: usize,
    pub(crate) method: &'a MethodEntry,
    /// Its place by cost, in 0..=1.
    across: f64,
    /// The column in which its letter has room.
    pub(crate) column: usize,
    pub(crate) difference: f64,
    pub(crate) interval: Option<(f64, f64)>,
}

/// The letter that stands for a method in the table and in the plane.
pub(crate) fn letter(at: usize) -> String {
    let letters = ('a'..='z').chain('A'..='Z');
    letters.cycle().nth(at % 52).unwrap_or('?').to_string()
}

impl MethodsReport {
    /// The number of queries, and the truth that the methods are measured against.
    pub fn heading(&self) -> String {
        let queries = counted(self.queries.len(), "query");
        match self.against {
            Some(against) => format!("{queries}, {against}"),
            None => format!("{queries}, against {}", sanitize::line(&self.truth)),
        }
    }

    /// An axis on which all differences from the baseline fit with their intervals.
    pub(crate) fn difference_axis(&self, columns: usize) -> IntervalAxis {
        let values = self
            .methods
            .iter()
            .filter_map(MethodEntry::first_test)
            .flat_map(|test| {
                let (low, high) = test.comparison.interval.unzip();
                [Some(test.comparison.mean_difference), low, high]
            });
        IntervalAxis::of_differences(values.flatten(), columns)
    }

    /// The methods with a known cost and difference, in separate columns if there is room. Costs
    /// have a square root scale, which separates cheap methods from free ones.
    pub(crate) fn plotted(&self, columns: usize) -> Vec<PlottedMethod<'_>> {
        let most = self.highest_cost();
        let mut taken = BTreeSet::new();
        let methods = self.methods.iter().enumerate();
        methods
            .filter_map(|(at, method)| {
                let test = method.first_test();
                let difference = match test {
                    Some(test) => test.comparison.mean_difference,
                    None if method.name == self.baseline => 0.0,
                    None => return None,
                };
                let cost = method.cost(self.in_usd)?;
                let across = if most > 0.0 {
                    (cost / most).sqrt()
                } else {
                    0.0
                };
                let column = (across * columns.saturating_sub(1) as f64).round() as usize;
                let mut places = (column..columns).chain((0..column).rev());
                let free =
                    |column: &usize| !taken.contains(column) && !taken.contains(&(column + 1));
                let column = places.find(free).unwrap_or(column);
                taken.insert(column);
                taken.insert(column + 1);
                Some(PlottedMethod {
                    at,
                    method,
                    across,
                    column,
                    difference,
                    interval: test.and_then(|test| test.comparison.interval),
                })
            })
            .collect()
    }

    fn highest_cost(&self) -> f64 {
        let costs = self
            .methods
            .iter()
            .filter_map(|method| method.cost(self.in_usd));
        costs.fold(0.0, f64::max)
    }

    /// Costs at their share of the width of the plane: none, a quarter of the highest one, which is
    /// halfway across, and the highest one.
    pub(crate) fn cost_ticks(&self) -> Vec<(f64, String)> {
        let most = self.highest_cost();
        let shares: &[f64] = if most > 0.0 { &[0.0, 0.5, 1.0] } else { &[0.0] };
        let tick = |across: &f64| (*across, self.cost_words(most * across * across));
        shares.iter().map(tick).collect()
    }

    fn cost_words(&self, cost: f64) -> String {
        match (cost, self.in_usd) {
            (0.0, _) => "0".to_owned(),
            (_, true) => format!("{cost:.5}"),
            (..10.0, false) => format!("{cost:.1}"),
            (_, false) => format!("{cost:.0}"),
        }
    }

    /// The plane of difference and cost, with a list of all methods, as SVG.
    pub fn quality_cost_svg(&self) -> String {
        let plotted = self.plotted(COLUMNS);
        let metric = self.metrics.first().map(ToString::to_string);
        let metric = metric.unwrap_or_default();
        let methods = self.methods.iter().enumerate();
        let methods: Vec<PlaneMethod> = methods
            .map(|(at, method)| self.plane_method(at, method, &plotted))
            .collect();
        let axis = self.difference_axis(COLUMNS);
        let baseline = shown_name(&self.baseline);
        let captions = [
            format!(
                "{}; bars are 95 % intervals of the differences; green and red are significantly \
                 better and worse",
                self.heading()
            ),
            "* no other method is better and cheaper; the dotted line joins these methods"
                .to_owned(),
        ];
        plane_svg(
            &methods,
            &Plane {
                title: "Quality and cost of reranking methods",
                headings: [
                    &metric,
                    &format!("difference from {baseline}"),
                    self.cost_unit(),
                ],
                cost: &format!("{} (square roots)", self.cost_unit()),
                difference: &format!("difference from {baseline} in {metric}"),
                captions: &captions,
                range: (axis.low, axis.high),
                ticks: &self.cost_ticks(),
            },
        )
    }

    fn plane_method(
        &self,
        at: usize,
        method: &MethodEntry,
        plotted: &[PlottedMethod<'_>],
    ) -> PlaneMethod {
        let test = method.first_test();
        let difference = match test.map(|test| &test.comparison) {
            Some(comparison) => {
                let by = signed(comparison.mean_difference, 4);
                comparison.interval.map_or(by.clone(), |(low, high)| {
                    format!("{by} ({} to {})", signed(low, 4), signed(high, 4))
                })
            }
            None if method.name == self.baseline => "baseline".to_owned(),
            None => UNKNOWN.to_owned(),
        };
        let quality = method.values.first().and_then(|values| values.all);
        let or_unknown = |words: Option<String>| words.unwrap_or_else(|| UNKNOWN.to_owned());
        let point = plotted.iter().find(|of| of.at == at);
        PlaneMethod {
            label: letter(at),
            name: shown_name(&method.name).into_owned(),
            numbers: [
                or_unknown(quality.map(|of| fixed(of.mean, 4))),
                difference,
                or_unknown(method.cost(self.in_usd).map(|cost| self.cost_words(cost))),
            ],
            effect: test.and_then(|test| test.significant()),
            on_front: method.on_front,
            point: point.map(|of| PlanePoint {
                across: of.across,
                difference: of.difference,
                interval: of.interval,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_repeat_after_capitals() {
        let letters = [0, 25, 26, 51, 52].map(letter);
        assert_eq!(letters, ["a", "z", "A", "Z", "a"]);
    }
}
