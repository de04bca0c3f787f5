//! The report on a judge's picks, as text.

use crate::app::adjudication::{JudgePickReport, LEVEL, OrderConsistency, OrderReport};
use crate::app::text_format::counted;
use crate::cli::output::{self, clean, or_dash};
use crate::domain::adjudication::{EvidenceLabel, PickCounts, PickMode, PooledCounts};
use crate::domain::agreement::Share;
use crate::domain::analysis::wilson;
use crate::domain::number_words::fixed;
use crate::judge::{OFFLINE, OFFLINE_LABEL};

/// The report as text.
pub(super) fn describe(report: &JudgePickReport<'_>) -> String {
    let answers = report.answers;
    let ask = match answers.way {
        PickMode::Exactly => "as many as are labeled",
        PickMode::AnyNumber => "any number",
        PickMode::PerDocument => "a verdict on every document",
    };
    let (judge, model) = (clean(&answers.judge), clean(&answers.model));
    let mut text = format!("{judge} · {model} · {ask}\n");
    if answers.provider == OFFLINE {
        text.push_str(&format!("{OFFLINE_LABEL}\n"));
    }
    if answers.truncated > 0 {
        text.push_str(&format!(
            "{} about pools with truncated documents\n",
            counted(answers.truncated, "answer")
        ));
    }
    for order in &report.orders {
        text.push('\n');
        if report.orders.len() > 1 {
            text.push_str(&format!("order {}: ", order.permutation));
        }
        text.push_str(&answers_line(order, report.missing(order)));
        text.push_str(&boxes_table(&order.summary.boxes));
        text.push_str(&shares_table(order));
        text.push_str(&sources_table(order));
        text.push_str(&verdicts_table(&order.by_verdict));
    }
    for other in &report.consistency {
        text.push_str(&consistency_line(other));
    }
    text
}

fn answers_line(order: &OrderReport, missing: usize) -> String {
    let summary = &order.summary;
    let (invalid, answers) = order.invalid();
    let causes = summary.invalid.iter();
    let causes: Vec<String> = causes
        .map(|(cause, count)| format!("{count} {cause}"))
        .collect();
    let causes = if causes.is_empty() {
        String::new()
    } else {
        format!(" ({})", causes.join(", "))
    };
    let mut text = format!(
        "{} valid, {invalid} invalid{causes}, {} failed, {missing} missing\n",
        counted(summary.valid, "answer"),
        order.failed,
    );
    if answers > 0 {
        text.push_str(&format!(
            "invalid rate {}{}\n",
            percent(summary.invalid_rate()),
            in_brackets(wilson(invalid, answers, LEVEL))
        ));
    }
    text
}

fn boxes_table(boxes: &PickCounts) -> String {
    let cells = |name: &str, picked: usize, not: usize| {
        vec![name.to_owned(), picked.to_string(), not.to_string()]
    };
    output::table(
        &["", ">picked", ">not picked"],
        &[
            cells("labeled relevant", boxes.agreed, boxes.label_only),
            cells("not labeled", boxes.pick_only, boxes.neither),
        ],
    )
}

fn shares_table(order: &OrderReport) -> String {
    let summary = &order.summary;
    let (boxes, intervals, chance) = (&summary.boxes, &summary.intervals, &summary.chance);
    let row = |name: &str, spell: fn(Option<f64>) -> String, value, interval, chance| {
        vec![
            name.to_owned(),
            spell(value),
            range(interval, spell),
            spell(chance),
        ]
    };
    let shares = [
        (
            "agreement",
            boxes.agreement(),
            intervals.agreement,
            chance.agreement,
        ),
        (
            "picks that are labeled",
            boxes.precision(),
            intervals.precision,
            chance.precision,
        ),
        (
            "labels that are picked",
            boxes.recall(),
            intervals.recall,
            chance.recall,
        ),
    ];
    let rows =
        shares.map(|(name, share, interval, chance)| row(name, percent, share, interval, chance));
    let kappa = row(
        "Cohen's κ",
        decimal,
        boxes.kappa(),
        intervals.kappa,
        chance.kappa,
    );
    let mut rows = rows.to_vec();
    rows.push(kappa);
    output::table(&["", ">share", "95 % interval", ">by chance"], &rows)
}

fn sources_table(order: &OrderReport) -> String {
    let summary = &order.summary;
    let line = |name: String, counts: &PooledCounts| {
        let boxes = &counts.boxes;
        vec![
            name,
            boxes.total().to_string(),
            boxes.labelled().to_string(),
            boxes.picked().to_string(),
            boxes.agreed.to_string(),
            percent(boxes.recall()),
            range(ends(counts.picked_of_labelled()), percent),
            percent(boxes.false_pick_rate()),
            range(ends(counts.picked_of_others()), percent),
        ]
    };
    let sources = summary.by_source.iter();
    let sources = sources.map(|(source, boxes)| line(source.name().to_owned(), boxes));
    let slots = summary.by_slot.iter().enumerate();
    let slots = slots.map(|(at, boxes)| line(format!("slot {}", at + 1), boxes));
    let header = [
        "source, slot",
        ">documents",
        ">labeled",
        ">picked",
        ">agreed",
        ">picked of labeled",
        "95 % interval",
        ">picked of others",
        "95 % interval",
    ];
    output::table(&header, &sources.chain(slots).collect::<Vec<_>>())
}

/// Empty if no verdicts were requested.
fn verdicts_table(by_verdict: &[(EvidenceLabel, PooledCounts)]) -> String {
    if by_verdict.is_empty() {
        return String::new();
    }
    let rows = by_verdict.iter().map(|(verdict, counts)| {
        let (all, labelled) = (counts.boxes.total(), counts.boxes.labelled());
        vec![
            verdict.name().to_owned(),
            all.to_string(),
            labelled.to_string(),
            percent((all > 0).then(|| labelled as f64 / all as f64)),
            range(ends(counts.labelled_of_all()), percent),
            counts.boxes.unproven.to_string(),
        ]
    });
    let header = [
        "verdict",
        ">documents",
        ">labeled",
        ">labeled of all",
        "95 % interval",
        ">no evidence",
    ];
    let mut text = output::table(&header, &rows.collect::<Vec<_>>());
    let unproven: usize = by_verdict
        .iter()
        .map(|(_, counts)| counts.boxes.unproven)
        .sum();
    if unproven > 0 {
        let verdicts = counted(unproven, "verdict");
        text.push_str(&format!(
            "{verdicts} without a sentence of the document: counted neither as picked nor as not \
             picked\n"
        ));
    }
    text
}

fn consistency_line(other: &OrderConsistency) -> String {
    format!(
        "\norder {} against order 1: the same picks in {} of {}{}, mean overlap {}{}\n",
        other.permutation,
        other.same,
        counted(other.pools, "pool"),
        in_brackets(wilson(other.same, other.pools, LEVEL)),
        percent(other.overlap),
        in_brackets(other.overlap_interval)
    )
}

fn decimal(value: Option<f64>) -> String {
    or_dash(value, |value| fixed(value, 3))
}

fn percent(share: Option<f64>) -> String {
    or_dash(share, |share| format!("{:.1} %", 100.0 * share))
}

fn ends(share: Option<Share>) -> Option<(f64, f64)> {
    share.map(|share| (share.interval.low, share.interval.high))
}

fn range(interval: Option<(f64, f64)>, spell: impl Fn(Option<f64>) -> String) -> String {
    or_dash(interval, |(low, high)| {
        format!("{} to {}", spell(Some(low)), spell(Some(high)))
    })
}

fn in_brackets(interval: Option<(f64, f64)>) -> String {
    match interval {
        Some(_) => format!(" ({})", range(interval, percent)),
        None => String::new(),
    }
}
