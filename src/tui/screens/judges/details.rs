//! Text about the judge under the cursor.

use super::table::{rows, share};
use crate::app::annotate::progress::replaced_weights;
use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::text_format::counted;
use crate::domain::answering_models::changed_model;
use crate::domain::judge_report::{BothOrders, JudgeReport, PositionCounts, PositionShift};
use crate::domain::sanitize;
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::Line;

/// The text below the table about the judge under the cursor.
pub(super) fn detail_lines(
    model: &Model,
    report: &RaterReport,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let rows = rows(report);
    let Some(row) = rows.get(model.judges().cursor.min(rows.len().saturating_sub(1))) else {
        return Vec::new();
    };
    let name = &row.name;
    let mut words: Vec<String> = Vec::new();
    let named = row.place.and_then(|at| report.named.get(at));
    if let Some(finding) = named.and_then(PositionCounts::finding_words) {
        words.push(format!("{name}: {finding}."));
    }
    let both = row.place.and_then(|at| report.both_orders.get(at));
    let offline = row
        .place
        .is_some_and(|at| report.rater_data.judges[at].1.is_offline());
    if let Some(both) = both.and_then(BothOrders::words).filter(|_| !offline) {
        words.push(format!("{name} {both}."));
    }
    let models = row.place.and_then(|at| report.models.get(at));
    if let Some(changed) = models.and_then(|models| changed_model(models)) {
        words.push(format!("{name} {changed}."));
    }
    if let Some(votes) = row.place.and_then(|at| *report.replaced.get(at)?) {
        words.push(format!("{name} {}.", replaced_weights(votes)));
    }
    if let Some(card) = row.card {
        words.extend(revealed(report, card));
        words.extend(sentences(name, card));
    }
    if let Some(at) = row.place {
        let with: Vec<String> = report
            .pairs
            .iter()
            .filter(|(a, b, _)| a == name || b == name)
            .filter_map(|(a, b, pair)| {
                let other = sanitize::line(if a == name { b } else { a }).into_owned();
                let kappa = pair.kappa?;
                let interval = kappa.interval.map_or(String::new(), |interval| {
                    format!(
                        " ({}–{})",
                        text::fixed(interval.low, 2),
                        text::fixed(interval.high, 2)
                    )
                });
                Some(format!(
                    "{other} {}{interval} on {}",
                    text::fixed(kappa.value, 2),
                    text::counted(pair.n, "battle")
                ))
            })
            .collect();
        if !with.is_empty() {
            words.push(format!("Cohen's κ (95 %) with {}.", with.join(" · ")));
        }
        let audit = report.audits.get(at).copied().unwrap_or_default();
        if audit.votes > 0 {
            words.push(format!(
                "Reasoning of {}: {}.",
                text::counted(audit.votes, "vote"),
                audit.words()
            ));
        }
        let failures = report.calls.get(at).map(|calls| &calls.failures);
        if let Some(failures) = failures.filter(|failures| !failures.is_empty()) {
            let list: Vec<String> = failures
                .iter()
                .map(|(cause, count)| format!("{} {cause}", text::count(count)))
                .collect();
            words.push(format!("Failed calls: {}.", list.join(", ")));
        }
        if let Some((judge, without)) = model.judges().without
            && report
                .rater_data
                .judges
                .get(at)
                .is_some_and(|(id, _)| *id == judge)
        {
            words.push(dropped(name, &without));
        } else {
            words.push(format!(
                "Press {} to see what would change without this judge, {} for the battles where it \
                 differs from the others.",
                key_on(Command::WithoutJudge, Screen::JUDGES),
                key_on(Command::Open, Screen::JUDGES)
            ));
        }
    }
    if report.rater_data.verdicts.is_empty() {
        words.push(format!(
            "No verdict yet, so agreement with people cannot be measured. {} opens the queue.",
            key_on(Command::ShowQueue, Screen::JUDGES)
        ));
    }
    let lines = |sentence: &String| text::lines(sentence, columns, theme.text());
    words.iter().flat_map(lines).collect()
}

/// Agreement with people's verdicts after the reveal, if it differs from that with their blind
/// verdicts.
fn revealed(report: &RaterReport, card: &JudgeReport) -> Option<String> {
    let (changed, all) = (
        report.changed_since_reveal(),
        report.rater_data.verdicts.len(),
    );
    let raw = card.people.revealed.raw.filter(|_| changed > 0)?;
    Some(format!(
        "{changed} of {} changed after the votes were shown; raw agreement with the present \
         verdicts: {}.",
        text::counted(all, "verdict"),
        share(raw)
    ))
}

fn sentences(name: &str, card: &JudgeReport) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(position) = &card.position {
        words.push(position_bias(name, position));
    }
    if let Some(longer) = card.length.longer {
        words.push(format!(
            "It prefers the longer document in {} of its battles without a tie.",
            share(longer)
        ));
    }
    if let Some(calibration) = &card.calibration {
        words.push(format!(
            "Calibration against people: expected calibration error {:.2}, Brier score {:.2}, on {}.",
            calibration.ece,
            calibration.brier,
            text::counted(calibration.n, "pair")
        ));
    }
    if let Some(surprise) = &card.surprise {
        words.push(format!(
            "Predictability of its votes by the fit: {:.2} bit per vote (a coin has 1; less is \
             more predictable).",
            surprise.bits
        ));
    }
    words
}

/// The position bias toward its side; none was found if the interval contains 0.
fn position_bias(name: &str, bias: &PositionShift) -> String {
    let (side, sign) = if bias.value < 0.0 {
        ("second", -1.0)
    } else {
        ("first", 1.0)
    };
    let size = text::signed(sign * bias.value, 2);
    let size = if bias.value.abs() < 0.005 {
        size
    } else {
        format!("{size} towards the document shown {side}")
    };
    let scale = "0: none, 1: always that one";
    let Some(interval) = bias.interval else {
        return format!(
            "Position bias of {name}: {size} ({scale}), with too few votes for an interval."
        );
    };
    let (one, other) = (sign * interval.low, sign * interval.high);
    let (low, high) = (one.min(other), one.max(other));
    let words = format!(
        "{size} (95 %: {} to {}; {scale}).",
        text::signed(low, 2),
        text::signed(high, 2)
    );
    if low <= 0.0 {
        format!("No position bias found in {name}: {words}")
    } else {
        format!("{name} has a position bias: {words}")
    }
}

fn dropped(name: &str, without: &RankingShift) -> String {
    match without.tau {
        None => format!(
            "Without {name}, no ranking changes can be measured: it is the only judge of its \
             battles."
        ),
        Some(tau) => format!(
            "Without {name}, the top {} changes in {} of {}: {} it. Mean Kendall τ to the current \
             ranking: {tau:.3}.",
            without.top,
            without.top_changed,
            counted(without.queries, "query"),
            match without.leaving {
                1 => "1 document leaves".to_owned(),
                count => format!("{} documents leave", text::count(count)),
            }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::agreement::Interval;

    #[test]
    fn a_position_bias_has_the_interval_of_its_side() {
        let words = |value: f64, interval: Option<(f64, f64)>| {
            let interval = interval.map(|(low, high)| Interval { low, high });
            let bias = PositionShift {
                value,
                interval,
                a_first: 10,
                b_first: 10,
                both: 0,
            };
            position_bias("ada", &bias)
        };
        let scale = "; 0: none, 1: always that one).";
        assert_eq!(
            words(-0.3, Some((-0.4, -0.2))),
            format!(
                "ada has a position bias: +0.30 towards the document shown second (95 %: +0.20 to \
                 +0.40{scale}"
            )
        );
        assert_eq!(
            words(-0.16, Some((-0.4, 0.08))),
            format!(
                "No position bias found in ada: +0.16 towards the document shown second (95 %: \
                 −0.08 to +0.40{scale}"
            )
        );
        assert_eq!(
            words(0.001, Some((-0.4, 0.4))),
            format!("No position bias found in ada: 0.00 (95 %: −0.40 to +0.40{scale}")
        );
        assert!(words(1.0, None).ends_with("with too few votes for an interval."));
    }
}
