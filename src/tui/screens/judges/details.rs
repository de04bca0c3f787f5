//! Text about the judge under the cursor: the most important facts below the table, and all numbers
//! on a separate page.

use super::table::{JudgeRow, range, rows, share};
use crate::app::annotate::progress::replaced_weights;
use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::text_format::counted;
use crate::domain::agreement::{Alpha, Share};
use crate::domain::answering_models::changed_model;
use crate::domain::judge_report::{BothOrders, ENOUGH_PAIRS, JudgeReport};
use crate::domain::sanitize;
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

/// Columns of the label in front of each fact.
const LABEL: usize = 10;

/// A labelled fact.
struct Fact(&'static str, String);

/// The judge under the cursor.
pub(super) fn selected<'a>(model: &Model, report: &'a RaterReport) -> Option<JudgeRow<'a>> {
    let mut rows = rows(report);
    let last = rows.len().checked_sub(1)?;
    Some(rows.swap_remove(model.judges().cursor.min(last)))
}

/// The text below the table about the judge under the cursor.
pub(super) fn detail_lines(
    model: &Model,
    report: &RaterReport,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let Some(row) = selected(model, report) else {
        return Vec::new();
    };
    let facts = facts(model, report, &row);
    facts
        .into_iter()
        .flat_map(|fact| fact.lines(theme, columns))
        .collect()
}

impl Fact {
    fn lines(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let wrapped = text::lines(&self.1, columns.saturating_sub(LABEL).max(1), theme.text());
        let label = |at: usize| if at == 0 { self.0 } else { "" };
        wrapped
            .into_iter()
            .enumerate()
            .map(|(at, mut line)| {
                let label = text::pad_right(label(at), LABEL);
                line.spans.insert(0, Span::styled(label, theme.muted()));
                line
            })
            .collect()
    }
}

/// Votes, failures and price, for the heading.
pub(super) fn calls_words(report: &RaterReport, row: &JudgeRow<'_>) -> String {
    let votes = row.card.map_or(0, |card| card.votes);
    let mut parts = vec![text::counted(votes, "vote")];
    if let Some(calls) = row.place.and_then(|at| report.calls.get(at)) {
        let failed: usize = calls.failures.values().sum();
        parts.push(format!("{} failed", text::count(failed)));
        parts.extend(
            calls
                .usd_per_1000
                .map(|price| format!("{} per 1,000", text::usd(price))),
        );
    }
    parts.join(" · ")
}

fn facts(model: &Model, report: &RaterReport, row: &JudgeRow<'_>) -> Vec<Fact> {
    let mut facts = Vec::new();
    let card = row.card;
    let both = row.place.and_then(|at| report.both_orders.get(at));
    if let Some(card) = card {
        facts.push(Fact("People", people_words(card)));
        facts.extend(
            card.gap
                .map(|gap| Fact("Ceiling", format!("{}.", gap.sentence()))),
        );
        let alt_test = row
            .place
            .and_then(|at| report.alt_tests.get(&at)?.as_ref().ok());
        facts.extend(alt_test.map(|test| Fact("Alt-test", format!("{}.", test.words()))));
        facts.extend(report.people_with_themselves.map(|found| {
            let words = format!(
                "people repeat their verdict on {} of {}.",
                share(found),
                text::counted(found.n, "repeated pair")
            );
            Fact("Repeats", words)
        }));
        facts.extend(unblind_facts(report, card));
    }
    facts.extend(
        card.filter(|_| row.place.is_some())
            .map(|card| Fact("Position", position_words(card, both))),
    );
    if let Some(longer) = card.and_then(|card| card.length.longer) {
        facts.push(Fact(
            "Length",
            format!("prefers the longer document in {}.", share(longer)),
        ));
    }
    let together = report.independence.as_ref();
    let together = together.filter(|of| of.panel.is_ok());
    let together = together.map(|of| Fact("Together", of.sentence()));
    let Some(at) = row.place else {
        facts.extend(together);
        return facts;
    };
    let audit = report.audits.get(at).copied().unwrap_or_default();
    if audit.votes > 0 {
        facts.push(Fact(
            "Reasons",
            format!(
                "of {}: {}.",
                text::counted(audit.votes, "vote"),
                audit.words()
            ),
        ));
    }
    let models = report.models.get(at);
    if let Some(changed) = models.and_then(|models| changed_model(models)) {
        facts.push(Fact("Model", format!("{changed}.")));
    }
    if let Some(votes) = report.replaced.get(at).copied().flatten() {
        facts.push(Fact("Weights", format!("{}.", replaced_weights(votes))));
    }
    let failures = report.calls.get(at).map(|calls| &calls.failures);
    if let Some(failures) = failures.filter(|failures| !failures.is_empty()) {
        let list: Vec<String> = failures
            .iter()
            .map(|(cause, count)| format!("{} {cause}", text::count(count)))
            .collect();
        facts.push(Fact("Failed", format!("{}.", list.join(", "))));
    }
    facts.extend(together);
    if let Some((judge, without)) = model.judges().without
        && report.rater_data.judges[at].0 == judge
    {
        facts.push(Fact("Without", without_words(&without)));
    }
    facts
}

/// Agreement with people's blind verdicts.
fn people_words(card: &JudgeReport) -> String {
    let share = |found: Share| {
        if found.n < ENOUGH_PAIRS {
            let decimals = usize::from(found.part.fract() != 0.0);
            format!("{:.decimals$} of {}", found.part, pairs(found.n))
        } else {
            format!("{} of {}", share(found), pairs(found.n))
        }
    };
    let Some(blind) = card.people.blind else {
        return "nobody has judged a pair of this judge blind.".to_owned();
    };
    format!("agrees on {}.", share(blind))
}

/// Verdicts that were never blind, or that changed after the votes were shown.
fn unblind_facts(report: &RaterReport, card: &JudgeReport) -> Vec<Fact> {
    let data = &report.rater_data;
    let mut facts = Vec::new();
    if data.never_blind > 0 {
        let verdicts = match data.never_blind {
            1 => "1 verdict was".to_owned(),
            several => format!("{} verdicts were", text::count(several)),
        };
        let words = format!("{verdicts} given with the votes in sight and not counted here.");
        facts.push(Fact("Not blind", words));
    }
    let changed = report.changed_since_reveal();
    if let Some(raw) = card.people.revealed.raw.filter(|_| changed > 0) {
        facts.push(Fact(
            "Changed",
            format!(
                "{changed} of {} changed after the votes were shown; agreement with the present \
                 verdicts: {}.",
                text::counted(data.verdicts.len(), "verdict"),
                share(raw)
            ),
        ));
    }
    facts
}

fn pairs(n: usize) -> String {
    text::counted(n, "blind pair")
}

/// Position bias, and how often the answer changes with the order.
fn position_words(card: &JudgeReport, both: Option<&BothOrders>) -> String {
    let mut words = Vec::new();
    if let Some((flips, both)) = both.and_then(|both| Some((both.flip_share()?, both))) {
        words.push(format!(
            "asked in both orders on {}: {} flip.",
            text::counted(flips.n, "pair"),
            share(flips)
        ));
        if both.flips_too_often() {
            words.push(
                "Its answers depend on the order; try another prompt or a larger model.".to_owned(),
            );
        }
    }
    words.push(match &card.position {
        None => "Every battle was shown in one order, so bias cannot be measured.".to_owned(),
        Some(position) => {
            let first = position.first_share();
            match position.first_interval() {
                None => format!(
                    "First document {:.0} %, with too few different answers for an interval.",
                    100.0 * first
                ),
                Some(interval) => format!(
                    "First document {}. {}.",
                    range(first, interval),
                    if interval.low > 0.5 {
                        "It leans to the first document"
                    } else if interval.high < 0.5 {
                        "It leans to the second document"
                    } else {
                        "No bias found"
                    }
                ),
            }
        }
    });
    words.join(" ")
}

fn without_words(without: &RankingShift) -> String {
    match without.tau {
        None => {
            "no ranking changes can be measured: it is the only judge of its battles.".to_owned()
        }
        Some(tau) => format!(
            "the top {} changes in {} of {}: {} it. Mean Kendall τ to the current ranking: \
             {tau:.3}.",
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

/// All numbers of a judge, one per line.
pub(super) fn figures(report: &RaterReport, row: &JudgeRow<'_>) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    if let Some(card) = row.card {
        let people = &card.people;
        lines.push(("votes", text::count(card.votes)));
        lines.extend(card.ties.map(|ties| ("ties", share(ties))));
        lines.extend(people.blind.map(|blind| {
            (
                "with people, blind",
                format!("{} of {}", share(blind), blind.n),
            )
        }));
        lines.extend(people.all.raw.map(|raw| {
            (
                "with people, all verdicts",
                format!("{} of {}", share(raw), raw.n),
            )
        }));
        lines.extend(people.all.corrected.map(|corrected| {
            let words = range(corrected.value, corrected.interval);
            ("corrected for the queue", words)
        }));
        lines.extend(card.gap.map(|gap| {
            ("minus people with each other", {
                let range = gap.interval.map_or(String::new(), |interval| {
                    let (low, high) = (points(interval.low), points(interval.high));
                    format!(" ({low} to {high})")
                });
                format!(
                    "{} points{range} on {}",
                    points(gap.value),
                    text::counted(gap.n, "pair")
                )
            })
        }));
        lines.extend(card.position.as_ref().map(|position| {
            let lean = text::signed(position.value, 2);
            let range = position.interval.map_or(String::new(), |interval| {
                let (low, high) = (interval.low, interval.high);
                format!(" ({} to {})", text::signed(low, 2), text::signed(high, 2))
            });
            (
                "position shift",
                format!("{lean}{range}: first minus second document"),
            )
        }));
        lines.extend(card.length.slope.map(|slope| {
            (
                "length slope",
                format!("{} ± {:.2}", text::signed(slope.value, 2), slope.se),
            )
        }));
        if card.triads.all > 0 {
            lines.push((
                "cycles",
                format!("{} of {} triads", card.triads.cyclic, card.triads.all),
            ));
        }
        lines.extend(card.calibration.as_ref().map(|calibration| {
            let pairs = text::counted(calibration.n, "pair");
            let (ece, brier) = (calibration.ece, calibration.brier);
            let words =
                format!("expected calibration error {ece:.2}, Brier {brier:.2}, on {pairs}");
            ("calibration", words)
        }));
        lines.extend(card.surprise.as_ref().map(|surprise| {
            (
                "surprise",
                format!("{:.2} bit per vote (a coin has 1)", surprise.bits),
            )
        }));
    }
    if let Some(calls) = row.place.and_then(|at| report.calls.get(at)) {
        lines.extend(
            calls
                .latency_p50_ms
                .map(|ms| ("median latency", format!("{ms:.0} ms"))),
        );
        lines.extend(
            calls
                .usd_per_1000
                .map(|price| ("price", format!("{} per 1,000", text::usd(price)))),
        );
    }
    lines
        .iter()
        .map(|(label, words)| format!("{}  {words}\n", text::pad_right(label, 28)))
        .collect()
}

fn points(share: f64) -> String {
    text::signed(100.0 * share, 0)
}

/// The agreement of everyone with everyone else.
pub(super) fn agreement_words(report: &RaterReport) -> String {
    let mut words = String::new();
    let alpha = |who: &str, alpha: &Option<Alpha>| {
        let alpha = alpha.as_ref()?;
        let interval = alpha.interval.map_or(String::new(), |interval| {
            let (low, high) = (text::fixed(interval.low, 2), text::fixed(interval.high, 2));
            format!(" ({low}–{high})")
        });
        Some(format!("{who} {}{interval}", text::fixed(alpha.value, 2)))
    };
    let alphas = [
        alpha("judges", &report.alpha_judges),
        alpha("people", &report.alpha_people),
    ];
    let alphas: Vec<String> = alphas.into_iter().flatten().collect();
    if !alphas.is_empty() {
        words += &format!("Krippendorff's α: {}\n", alphas.join(" · "));
    }
    if let Some(panel) = &report.independence {
        if panel.panel.is_err() {
            words += &format!("Together: {}\n", panel.sentence());
        }
        for (name, contribution) in panel.contributions() {
            words += &format!("{name} {contribution}\n");
        }
        for advice in panel.advice() {
            words += &format!("{advice}\n");
        }
    }
    for (a, b, pair) in &report.pairs {
        let Some(kappa) = pair.kappa else {
            continue;
        };
        let interval = kappa.interval.map_or(String::new(), |interval| {
            let (low, high) = (text::fixed(interval.low, 2), text::fixed(interval.high, 2));
            format!(" ({low}–{high})")
        });
        words += &format!(
            "Cohen's κ of {} and {}: {}{interval} on {}\n",
            sanitize::line(a),
            sanitize::line(b),
            text::fixed(kappa.value, 2),
            text::counted(pair.n, "pair")
        );
    }
    if report.rater_data.judges.len() > 1 {
        let worst = report.weakest_words();
        words += &worst.map_or("No judge is clearly the worst.\n".to_owned(), |worst| {
            format!("Worst: {worst}.\n")
        });
    }
    words
}
