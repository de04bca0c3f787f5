//! One row a judge, and what is known of the one under the cursor.

use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::domain::agreement::{Interval, Share};
use crate::domain::judge_report::{BothOrders, JudgeReport, PositionCounts};
use crate::domain::sanitise;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::layout::inset;
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::notice;
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// A column: its header, its width, the narrowest screen that shows it and the widest.
const COLUMNS: [(&str, usize, u16, u16); 12] = [
    ("names 1st", 9, 0, u16::MAX),
    ("flips", 17, 140, u16::MAX),
    ("flips", 5, 0, 139),
    ("lean", 5, 0, u16::MAX),
    ("votes", 7, 0, u16::MAX),
    ("ties", 5, 0, u16::MAX),
    ("failed", 6, 100, u16::MAX),
    ("agrees with people", 20, 0, u16::MAX),
    ("corrected", 18, 130, u16::MAX),
    ("cycles", 9, 100, u16::MAX),
    ("p50", 8, 150, u16::MAX),
    ("$/1,000", 8, 110, u16::MAX),
];

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    let mut areas = Areas::default();
    let Some(report) = &model.judges.report else {
        notice("reading every vote …", theme, area, buf);
        return areas;
    };
    let rows = rows(report);
    if rows.is_empty() {
        let words = "No judge has voted yet. s on the list of queries starts a run.";
        notice(words, theme, area, buf);
        return areas;
    }
    let [head, list, rule, detail] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(rows.len() as u16),
        Constraint::Length(1),
        Constraint::Min(1),
    ])
    .areas(area);
    let columns: Vec<_> = COLUMNS
        .iter()
        .filter(|(_, _, from, to)| (*from..=*to).contains(&(area.width + 2)))
        .collect();
    let fixed: usize = columns.iter().map(|(_, width, ..)| width + 1).sum();
    let room = usize::from(area.width)
        .saturating_sub(fixed + 2)
        .clamp(4, 24);
    let mut header = vec![Span::styled(
        format!("  {}", text::pad_right("judge", room)),
        theme.muted(),
    )];
    for (name, width, ..) in &columns {
        header.push(Span::styled(
            format!(" {}", text::pad_left(name, *width)),
            theme.muted(),
        ));
    }
    Line::from(header).render(head, buf);
    for (line, (place, (name, card, at))) in list.rows().zip(rows.iter().enumerate()) {
        let selected = place == model.judges.cursor;
        if selected {
            buf.set_style(line, theme.selection());
        }
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(text::pad_right(name, room), theme.strong()),
        ];
        for (head, width, ..) in &columns {
            let words = cell((*head, *width), *card, *at, report);
            spans.push(Span::raw(format!(" {}", text::pad_left(&words, *width))));
        }
        Line::from(spans).render(line, buf);
    }
    let width = usize::from(area.width);
    text::rule(width, theme.faint()).render(rule, buf);
    Paragraph::new(detail_lines(model, report, theme, width)).render(detail, buf);
    areas.list = list;
    areas.lines = rows.len();
    areas.page = usize::from(list.height);
    areas
}

/// Every judge with its card and its place among the judges, and the ensemble last.
pub(super) fn rows(report: &RaterReport) -> Vec<(String, Option<&JudgeReport>, Option<usize>)> {
    let judges = report.rater_data.judges.iter().enumerate();
    let mut rows: Vec<_> = judges
        .map(|(at, (_, spec))| {
            let card = report.cards.iter().find(|card| card.judge == Some(at));
            (sanitise::line(&spec.name).into_owned(), card, Some(at))
        })
        .collect();
    if let Some(card) = &report.ensemble {
        rows.push(("ensemble".to_owned(), Some(card), None));
    }
    rows
}

fn cell(
    (head, width): (&str, usize),
    card: Option<&JudgeReport>,
    at: Option<usize>,
    report: &RaterReport,
) -> String {
    let none = || "–".to_owned();
    let Some(card) = card else { return none() };
    let calls = at.and_then(|at| report.calls.get(at));
    match head {
        "names 1st" => at
            .and_then(|at| report.named.get(at)?.first_share())
            .map_or_else(none, |share| format!("{:.0} %", 100.0 * share)),
        "votes" => text::count(card.votes),
        "ties" => card
            .ties
            .map_or_else(none, |ties| format!("{:.0} %", 100.0 * ties.value)),
        "failed" => calls.map_or_else(none, |calls| {
            text::count(calls.failures.values().sum::<usize>())
        }),
        "agrees with people" => card.people.all.raw.map_or_else(none, share),
        "corrected" => card.people.all.corrected.map_or_else(none, |corrected| {
            percent(corrected.value, corrected.interval)
        }),
        "flips" => card.flips.as_ref().map_or_else(none, |flips| match width {
            // Without its interval where there is no room.
            5 => format!("{:.0} %", 100.0 * flips.changed.value),
            _ => share(flips.changed),
        }),
        "lean" => card
            .position
            .as_ref()
            .map_or_else(none, |shift| text::signed(shift.value, 2)),
        "cycles" if card.triads.all > 0 => format!("{}/{}", card.triads.cyclic, card.triads.all),
        "p50" => calls
            .and_then(|calls| calls.latency_p50_ms)
            .map_or_else(none, |ms| format!("{ms:.0} ms")),
        "$/1,000" => calls
            .and_then(|calls| calls.usd_per_1000)
            .map_or_else(none, |usd| format!("{usd:.2}")),
        _ => none(),
    }
}

fn share(share: Share) -> String {
    percent(share.value, share.interval)
}

fn percent(value: f64, interval: Interval) -> String {
    format!(
        "{:.0} % ({:.0}–{:.0})",
        100.0 * value,
        100.0 * interval.low,
        100.0 * interval.high
    )
}

/// What is told below the table about the judge under the cursor.
fn detail_lines(
    model: &Model,
    report: &RaterReport,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let rows = rows(report);
    let Some((name, card, at)) = rows.get(model.judges.cursor.min(rows.len() - 1)) else {
        return Vec::new();
    };
    let mut words: Vec<String> = Vec::new();
    let named = at.and_then(|at| report.named.get(at));
    if let Some(finding) = named.and_then(PositionCounts::finding_words) {
        words.push(format!("{name}: {finding}."));
    }
    let both = at.and_then(|at| report.both_orders.get(at));
    let offline = at.is_some_and(|at| report.rater_data.judges[at].1.is_offline());
    if let Some(both) = both.and_then(BothOrders::words).filter(|_| !offline) {
        words.push(format!("{name} {both}."));
    }
    if let Some(card) = card {
        words.extend(revealed(report, card));
        words.extend(sentences(name, card));
    }
    if let Some(at) = *at {
        let with: Vec<String> = report
            .pairs
            .iter()
            .filter(|(a, b, _)| a == name || b == name)
            .filter_map(|(a, b, pair)| {
                let other = sanitise::line(if a == name { b } else { a }).into_owned();
                let kappa = pair.kappa?;
                let interval = kappa.interval.map_or(String::new(), |interval| {
                    format!(" ({:.2}–{:.2})", interval.low, interval.high)
                });
                Some(format!(
                    "{other} {:.2}{interval} on {}",
                    kappa.value, pair.n
                ))
            })
            .collect();
        if !with.is_empty() {
            words.push(format!("Cohen's κ (95 %) with {}.", with.join(" · ")));
        }
        let audit = report.audits.get(at).copied().unwrap_or_default();
        if audit.votes > 0 {
            words.push(format!(
                "Reasoning of {} votes: {}.",
                audit.votes,
                audit.words()
            ));
        }
        let failures = report.calls.get(at).map(|calls| &calls.failures);
        if let Some(failures) = failures.filter(|failures| !failures.is_empty()) {
            let list: Vec<String> = failures
                .iter()
                .map(|(cause, count)| format!("{count} {cause}"))
                .collect();
            words.push(format!("Failed calls: {}.", list.join(", ")));
        }
        if let Some((judge, without)) = model.judges.without
            && report
                .rater_data
                .judges
                .get(at)
                .is_some_and(|(id, _)| *id == judge)
        {
            words.push(dropped(name, &without));
        } else {
            words.push("d shows what would change without this judge; Enter queues the battles on which it parts from the others.".to_owned());
        }
    }
    if let Some(alpha) = &report.alpha_judges {
        let interval = alpha.interval.map_or(String::new(), |interval| {
            format!(" (95 %: {:.2}–{:.2})", interval.low, interval.high)
        });
        words.push(format!(
            "Krippendorff's α over the judges: {:.2}{interval}.",
            alpha.value
        ));
    }
    if let Some(alpha) = &report.alpha_people {
        words.push(format!(
            "Krippendorff's α over the people: {:.2}.",
            alpha.value
        ));
    }
    if report.rater_data.verdicts.is_empty() {
        words.push(
            "No verdict yet: agreement with people needs some. w opens the queue.".to_owned(),
        );
    }
    let lines = |sentence: &String| text::lines(sentence, columns, theme.text());
    words.iter().flat_map(lines).collect()
}

/// Agreement with what people say since they saw the votes, where that is something else than what they said blind.
fn revealed(report: &RaterReport, card: &JudgeReport) -> Option<String> {
    let (changed, all) = (
        report.changed_since_reveal(),
        report.rater_data.verdicts.len(),
    );
    let raw = card.people.revealed.raw.filter(|_| changed > 0)?;
    Some(format!(
        "With the votes in sight {changed} of {all} verdicts changed; raw agreement with them as they are now: {}.",
        share(raw)
    ))
}

fn sentences(name: &str, card: &JudgeReport) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(position) = &card.position {
        let side = if position.value > 0.0 {
            "first"
        } else {
            "second"
        };
        let interval = position.interval.map_or(String::new(), |interval| {
            format!(
                " (95 %: {} to {})",
                text::signed(interval.low, 2),
                text::signed(interval.high, 2)
            )
        });
        words.push(match position.value.abs() < 0.005 {
            true => format!("{name} leans to neither side{interval}."),
            false => format!(
                "{name} leans by {:.2}{interval} towards the document shown {side}, on a scale of 0 to 1 either way.",
                position.value.abs()
            ),
        });
    }
    if let Some(longer) = card.length.longer {
        words.push(format!(
            "It prefers the longer document in {} of decided battles.",
            share(longer)
        ));
    }
    if let Some(calibration) = &card.calibration {
        words.push(format!(
            "Sure or not, against people: expected calibration error {:.2}, Brier {:.2}, on {} pairs.",
            calibration.ece, calibration.brier, calibration.n
        ));
    }
    if let Some(surprise) = &card.surprise {
        words.push(format!(
            "Surprise {:.2} bit a vote under the fit (1 for a coin).",
            surprise.bits
        ));
    }
    words
}

fn dropped(name: &str, without: &RankingShift) -> String {
    match without.tau {
        None => format!("{name} is the only judge wherever it counts."),
        Some(tau) => format!(
            "Without {name}: the top changes in {} of {} queries, {} documents leave it, mean Kendall τ to the present ranking {tau:.3}.",
            without.top_changed, without.queries, without.leaving
        ),
    }
}
