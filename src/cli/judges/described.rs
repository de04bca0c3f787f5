//! The cards of judges as JSON.

use crate::app::judge_report::independence::PanelReport;
use crate::domain::judge_report::{
    BothOrders, JudgeConclusion, JudgeReport, PanelChange, PositionShift,
};
use serde_json::{Value, json};

/// Pairs seen in both orders, with the effect of the order on the answers. The lean is the judge's
/// position bias, as in `position`.
pub(super) fn both_orders(both: &BothOrders, position: Option<&PositionShift>) -> Value {
    let flip = both.flip_share();
    let position = position.filter(|_| both.pairs() > 0);
    json!({
        "pairs": both.pairs(),
        "flips": both.flips(),
        "flip": flip.map(|share| share.value),
        "flip_interval_95": flip.map(|share| share.interval),
        "lean": position.map(|position| position.value),
        "lean_interval_95": position.and_then(|position| position.interval),
    })
}

/// The sentence about a judge, as text and as data.
pub(super) fn conclusion(conclusion: &JudgeConclusion) -> Value {
    json!({ "words": conclusion.words(), "finding": conclusion })
}

/// The effective number of independent judges, with its price.
pub(super) fn independence(report: &PanelReport) -> Value {
    let change = |of: &PanelChange| {
        json!({
            "name": report.name(of.judge),
            "model": report.judges[of.judge].spec.model,
            "prompt": report.judges[of.judge].spec.prompt_hash,
            "usd_per_1000": report.judges[of.judge].usd_per_1000,
            "adds": of.adds,
            "adds_interval_95": of.interval,
            "value": of.after.value,
            "interval_95": of.after.interval,
            "agreement": of.after.agreement,
            "pairs": of.after.pairs,
        })
    };
    let panel = report.panel.as_ref().ok();
    let together = panel.map(|panel| panel.together);
    let price = report.usd_per_1000_independent();
    let changes = |of: Option<&[PanelChange]>| -> Vec<Value> {
        of.unwrap_or_default().iter().map(change).collect()
    };
    json!({
        "judges": report.members.len(),
        "value": together.map(|of| of.value),
        "interval_95": together.map(|of| of.interval),
        "error_correlation": together.map(|of| of.correlation),
        "error_correlation_interval_95": together.map(|of| of.correlation_interval),
        "pairs": together.map(|of| of.pairs),
        "queries": together.map(|of| of.queries),
        "agreement": together.map(|of| of.agreement),
        "usd_per_1000_battles": report.usd_per_1000_battles(),
        "usd_per_1000_independent": price.map(|(usd, _)| usd),
        "usd_per_1000_independent_interval_95": price.map(|(_, interval)| interval),
        "without": changes(panel.map(|of| &of.without[..])),
        "with": changes(panel.map(|of| &of.with[..])),
        "drop": report.drop().map(change),
        "add": report.add().map(change),
        "unknown": report.panel.as_ref().err(),
        "words": report.sentence(),
        "advice": report.advice(),
    })
}

/// The content of a judge's card, with the keys of `judges --json`.
pub(super) fn described(name: &str, kind: &str, card: Option<&JudgeReport>) -> Value {
    let agreement = card.map(|card| {
        let all = &card.people.all;
        let revealed = &card.people.revealed;
        // The interval belongs to the corrected share if there is one.
        let interval = all
            .corrected
            .map(|share| share.interval)
            .or(all.raw.map(|share| share.interval));
        json!({
            "raw": all.raw.map(|share| share.value),
            "corrected": all.corrected.map(|share| share.value),
            "low": interval.map(|interval| interval.low),
            "high": interval.map(|interval| interval.high),
            "n": all.raw.map_or(0, |share| share.n),
            "raw_interval_95": all.raw.map(|share| share.interval),
            "effective_n": all.corrected.map(|share| share.effective).filter(|n| n.is_finite()),
            "decided": card.people.decided,
            "without_probability": all.without_probability,
            "blind": card.people.blind,
            "revealed": {
                "raw": revealed.raw.map(|share| share.value),
                "raw_interval_95": revealed.raw.map(|share| share.interval),
                "corrected": revealed.corrected.map(|share| share.value),
                "corrected_interval_95": revealed.corrected.map(|share| share.interval),
                "n": revealed.raw.map_or(0, |share| share.n),
            },
        })
    });
    json!({
        "name": name,
        "kind": kind,
        "votes": card.map_or(0, |card| card.votes),
        "ties": card.and_then(|card| card.ties).map_or(0.0, |share| share.part),
        "failures": 0,
        "agreement": agreement,
        "flip": card.and_then(|card| card.flips.as_ref()).map(|flips| json!({
            "rate": flips.changed.value,
            "n": flips.changed.n,
            "interval_95": flips.changed.interval,
            "reversed": flips.reversed.value, "softened": flips.softened.value,
        })),
        "position_shift": card.and_then(|card| card.position.as_ref()).map(|shift| shift.value),
        "position": card.and_then(|card| card.position.as_ref()),
        "first_share": card.and_then(|card| card.position.as_ref()).map(|shift| json!({
            "value": shift.first_share(), "interval_95": shift.first_interval(),
        })),
        "gap_to_people": card.and_then(|card| card.gap),
        "compared_with_person": card.and_then(|card| card.gap).map(|gap| json!({
            "words": gap.words(), "finding": gap.comparison(), "sentence": gap.sentence(),
        })),
        "response": card.and_then(|card| card.response.as_ref()),
        "length": card.map(|card| &card.length),
        "calibration": card.and_then(|card| card.calibration.as_ref()),
        "triads": card.map(|card| card.triads),
        "surprise": card.and_then(|card| card.surprise.as_ref()),
    })
}
