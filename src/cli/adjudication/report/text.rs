//! The report as text.

use super::super::super::output;
use super::{JudgePickReport, LEVEL, OrderConsistency, OrderReport};
use crate::app::wording::counted;
use crate::domain::adjudication::{EvidenceLabel, PickCounts, PickMode};
use crate::domain::analysis::wilson;
use crate::domain::sanitise;
use crate::judge::{OFFLINE, OFFLINE_LABEL};

impl JudgePickReport<'_> {
    /// The report for people.
    pub(in crate::cli::adjudication) fn words(&self) -> String {
        let group = self.group;
        let ask = match group.way {
            PickMode::Exactly => "as many as are labelled",
            PickMode::AnyNumber => "any number",
            PickMode::PerDocument => "a verdict on every document",
        };
        let mut text = format!(
            "{} · {} · {ask}\n",
            sanitise::line(&group.judge),
            sanitise::line(&group.model)
        );
        if group.provider == OFFLINE {
            text.push_str(&format!("{OFFLINE_LABEL}\n"));
        }
        for order in &self.orders {
            text.push_str(&self.order_words(order));
        }
        for other in &self.agreement {
            text.push_str(&other.words());
        }
        text
    }

    fn order_words(&self, order: &OrderReport) -> String {
        let (summary, boxes) = (&order.summary, &order.summary.boxes);
        let (invalid, answers) = order.invalid();
        let mut text = String::from("\n");
        if self.orders.len() > 1 {
            text.push_str(&format!("order {}: ", order.permutation));
        }
        let causes: Vec<String> = summary
            .invalid
            .iter()
            .map(|(cause, count)| format!("{count} {cause}"))
            .collect();
        let causes = match causes.is_empty() {
            true => String::new(),
            false => format!(" ({})", causes.join(", ")),
        };
        text.push_str(&format!(
            "{} valid, {invalid} invalid{causes}, {} failed, {} missing\n",
            counted(summary.valid, "answer"),
            order.failed,
            self.missing(order)
        ));
        if answers > 0 {
            text.push_str(&format!(
                "invalid rate {}{}\n",
                percent(summary.invalid_rate()),
                interval(wilson(invalid, answers, LEVEL))
            ));
        }
        let cells = |name: &str, picked: usize, not: usize| {
            vec![name.to_owned(), picked.to_string(), not.to_string()]
        };
        text.push_str(&output::table(
            &["", ">picked", ">not picked"],
            &[
                cells("labelled relevant", boxes.agreed, boxes.label_only),
                cells("not labelled", boxes.pick_only, boxes.neither),
            ],
        ));
        let chance = &summary.chance;
        let intervals = &summary.intervals;
        let row = |name: &str, share, interval, chance| {
            vec![
                name.to_owned(),
                percent(share),
                range(interval, percent),
                percent(chance),
            ]
        };
        // Nothing is rounded to a minus without a number.
        let thousandths = |value: f64| (1e3 * value).round() / 1e3 + 0.0;
        let decimal = |value: Option<f64>| {
            value.map_or("–".to_owned(), |value| {
                format!("{:.3}", thousandths(value))
            })
        };
        text.push_str(&output::table(
            &["", ">share", "95 % interval", ">by chance"],
            &[
                row(
                    "agreement",
                    boxes.agreement(),
                    intervals.agreement,
                    chance.agreement,
                ),
                row(
                    "picks that are labelled",
                    boxes.precision(),
                    intervals.precision,
                    chance.precision,
                ),
                row(
                    "labels that are picked",
                    boxes.recall(),
                    intervals.recall,
                    chance.recall,
                ),
                vec![
                    "Cohen's κ".to_owned(),
                    decimal(boxes.kappa()),
                    range(intervals.kappa, decimal),
                    decimal(chance.kappa),
                ],
            ],
        ));
        let line = |name: String, boxes: &PickCounts| {
            vec![
                name,
                boxes.total().to_string(),
                boxes.labelled().to_string(),
                boxes.picked().to_string(),
                boxes.agreed.to_string(),
                percent(boxes.pick_rate()),
                range(wilson(boxes.picked(), boxes.total(), LEVEL), percent),
            ]
        };
        let mut rows: Vec<Vec<String>> = summary
            .by_source
            .iter()
            .map(|(source, boxes)| line(source.name().to_owned(), boxes))
            .collect();
        let slots = summary.by_slot.iter().enumerate();
        rows.extend(slots.map(|(at, boxes)| line(format!("slot {}", at + 1), boxes)));
        let header = [
            "source, slot",
            ">documents",
            ">labelled",
            ">picked",
            ">agreed",
            ">picked of all",
            "95 % interval",
        ];
        text.push_str(&output::table(&header, &rows));
        if !order.by_verdict.is_empty() {
            let cells = |(verdict, boxes): &(EvidenceLabel, PickCounts)| {
                let (all, labelled) = (boxes.total(), boxes.labelled());
                vec![
                    verdict.name().to_owned(),
                    all.to_string(),
                    labelled.to_string(),
                    percent((all > 0).then(|| labelled as f64 / all as f64)),
                    range(wilson(labelled, all, LEVEL), percent),
                ]
            };
            let rows: Vec<Vec<String>> = order.by_verdict.iter().map(cells).collect();
            let header = [
                "verdict",
                ">documents",
                ">labelled",
                ">labelled of all",
                "95 % interval",
            ];
            text.push_str(&output::table(&header, &rows));
        }
        text
    }
}

impl OrderConsistency {
    fn words(&self) -> String {
        format!(
            "\norder {} against order 1: the same picks in {} of {}{}, mean overlap {}{}\n",
            self.permutation,
            self.same,
            counted(self.pools, "pool"),
            interval(wilson(self.same, self.pools, LEVEL)),
            percent(self.overlap),
            interval(self.overlap_interval)
        )
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

fn range(interval: Option<(f64, f64)>, spell: impl Fn(Option<f64>) -> String) -> String {
    interval.map_or("–".to_owned(), |(low, high)| {
        format!("{} to {}", spell(Some(low)), spell(Some(high)))
    })
}

fn interval(interval: Option<(f64, f64)>) -> String {
    match interval {
        Some(_) => format!(" ({})", range(interval, percent)),
        None => String::new(),
    }
}
