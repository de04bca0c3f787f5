//! The report as text.

use super::super::super::output;
use super::{Consistency, LEVEL, Order, Report, spelt};
use crate::domain::analysis::wilson;
use crate::domain::court::Boxes;
use crate::domain::sanitise;
use crate::judge::{OFFLINE, OFFLINE_LABEL};

impl Report<'_> {
    /// The report for people.
    pub(in crate::cli::court) fn words(&self) -> String {
        let group = self.group;
        let ask = match group.open {
            true => "any number",
            false => "as many as are labelled",
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

    fn order_words(&self, order: &Order) -> String {
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
            output::counted(summary.valid, "answer"),
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
        let row = |name: &str, of: fn(&Boxes) -> Option<f64>, chance: Option<f64>| {
            vec![
                name.to_owned(),
                percent(of(boxes)),
                range(order.interval(of), percent),
                percent(chance),
            ]
        };
        let decimal =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
        text.push_str(&output::table(
            &["", ">share", "95 % interval", ">by chance"],
            &[
                row("agreement", Boxes::agreement, chance.agreement),
                row(
                    "picks that are labelled",
                    Boxes::precision,
                    chance.precision,
                ),
                row("labels that are picked", Boxes::recall, chance.recall),
                vec![
                    "Cohen's κ".to_owned(),
                    decimal(boxes.kappa()),
                    range(summary.kappa_interval, decimal),
                    decimal(Some(0.0)),
                ],
            ],
        ));
        let line = |name: String, boxes: &Boxes| {
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
            .map(|(source, boxes)| line(spelt(source), boxes))
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
        text
    }
}

impl Consistency {
    fn words(&self) -> String {
        format!(
            "\norder {} against order 1: the same picks in {} of {}{}, mean overlap {}{}\n",
            self.permutation,
            self.same,
            output::counted(self.pools, "pool"),
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
