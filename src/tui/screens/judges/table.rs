//! The table of judges, with columns as numbers and as points with their intervals.

use crate::app::judge_report::report::RaterReport;
use crate::domain::agreement::{Interval, Share};
use crate::domain::analysis::wilson;
use crate::domain::judge_report::{BothOrders, JudgeReport, PositionCounts};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    NamesFirst,
    /// The same as a point between 0 and 100 % with its interval.
    NamesFirstTrack,
    Flips,
    FlipsRange,
    Lean,
    Votes,
    Ties,
    Failed,
    People,
    PeopleTrack,
    Corrected,
    Cycles,
    Latency,
    Price,
}

/// Each column with its header, its width, and the minimum and maximum screen width at which it is
/// shown.
const COLUMNS: [(Column, &str, usize, u16, u16); 14] = [
    (Column::NamesFirst, "names 1st", 9, 0, u16::MAX),
    (
        Column::NamesFirstTrack,
        " 0 %  50 %  100 %",
        17,
        120,
        u16::MAX,
    ),
    (Column::FlipsRange, "flips", 14, 150, u16::MAX),
    (Column::Flips, "flips", 6, 0, 149),
    (Column::Lean, "lean", 6, 74, u16::MAX),
    (Column::Votes, "votes", 7, 0, u16::MAX),
    (Column::Ties, "ties", 5, 74, u16::MAX),
    (Column::Failed, "failed", 7, 100, u16::MAX),
    (Column::People, "agrees with people", 20, 0, u16::MAX),
    (Column::PeopleTrack, " 0 %  50 %  100 %", 17, 170, u16::MAX),
    (Column::Corrected, "corrected", 14, 185, u16::MAX),
    (Column::Cycles, "cycles", 9, 105, u16::MAX),
    (Column::Latency, "p50", 8, 160, u16::MAX),
    (Column::Price, "$/1,000", 8, 130, u16::MAX),
];

/// Draws the table; `area` has one row more than there are judges.
pub(super) fn table(model: &Model, report: &RaterReport, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let rows = rows(report);
    let [head, list] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let columns: Vec<_> = COLUMNS
        .iter()
        .filter(|(.., from, to)| (*from..=*to).contains(&(area.width + 2)))
        .collect();
    let columns: Vec<_> = columns
        .into_iter()
        .map(|(column, name, width, ..)| (*column, *name, wide_enough(*column, *width, &rows)))
        .collect();
    let fixed: usize = columns.iter().map(|(.., width)| width + 1).sum();
    let room = usize::from(area.width)
        .saturating_sub(fixed + 2)
        .clamp(4, 24);
    let mut header = vec![Span::styled(
        format!("  {}", text::pad_right("judge", room)),
        theme.muted(),
    )];
    for (_, name, width) in &columns {
        header.push(Span::styled(
            format!(" {}", text::pad_left(name, *width)),
            theme.muted(),
        ));
    }
    Line::from(header).render(head, buf);
    for (line, (place, row)) in list.rows().zip(rows.iter().enumerate()) {
        let selected = place == model.judges().cursor;
        if selected {
            buf.set_style(line, theme.selection());
        }
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(text::pad_right(&row.name, room), theme.strong()),
        ];
        for (column, _, width) in &columns {
            spans.push(Span::raw(" "));
            spans.extend(cell(*column, *width, row, theme));
        }
        Line::from(spans).render(line, buf);
    }
    Areas {
        list,
        lines: rows.len(),
        page: usize::from(list.height),
        ..Areas::default()
    }
}

/// The width of a column with possibly long counts, so that no digit is truncated.
fn wide_enough(column: Column, width: usize, rows: &[JudgeRow<'_>]) -> usize {
    let longest = match column {
        Column::Votes | Column::Failed | Column::Cycles => {
            let widths = rows.iter().map(|row| text::width(&figure_of(column, row)));
            widths.max().unwrap_or(0)
        }
        _ => 0,
    };
    width.max(longest)
}

/// The text of a column for a judge, without surrounding blanks.
fn figure_of(column: Column, row: &JudgeRow<'_>) -> String {
    let cell = cell(column, usize::from(u8::MAX), row, &Theme::default());
    Line::from(cell).to_string().trim().to_owned()
}

/// All numbers of a judge, one per line, for a separate page.
pub(super) fn figures(row: &JudgeRow<'_>) -> String {
    let tracks = [Column::NamesFirstTrack, Column::PeopleTrack, Column::Flips];
    let columns = COLUMNS
        .iter()
        .filter(|(column, ..)| !tracks.contains(column));
    let lines = columns.map(|(column, name, ..)| {
        let figure = figure_of(*column, row);
        format!("{}  {figure}\n", text::pad_right(name, 18))
    });
    lines.collect()
}

/// A judge or the ensemble, with its statistics.
pub(super) struct JudgeRow<'a> {
    pub(super) name: String,
    pub(super) card: Option<&'a JudgeReport>,
    /// Its index among the judges; `None` for the ensemble.
    pub(super) place: Option<usize>,
    named: Option<PositionCounts>,
    /// Among pairs seen in both orders, the share with different answers.
    flips: Option<(f64, Interval)>,
    failed: Option<usize>,
    latency_ms: Option<f64>,
    usd_per_1000: Option<f64>,
}

/// All judges, with the ensemble last.
pub(super) fn rows(report: &RaterReport) -> Vec<JudgeRow<'_>> {
    let judges = report.rater_data.judges.iter().enumerate();
    let mut rows: Vec<_> = judges
        .map(|(place, (_, spec))| {
            let calls = report.calls.get(place);
            JudgeRow {
                name: sanitize::line(&spec.name).into_owned(),
                card: report.cards.iter().find(|card| card.judge == Some(place)),
                place: Some(place),
                named: report.named.get(place).copied(),
                flips: report
                    .both_orders
                    .get(place)
                    .and_then(BothOrders::flip_share)
                    .map(|share| (share.value, share.interval)),
                failed: calls.map(|calls| calls.failures.values().sum()),
                latency_ms: calls.and_then(|calls| calls.latency_p50_ms),
                usd_per_1000: calls.and_then(|calls| calls.usd_per_1000),
            }
        })
        .collect();
    if let Some(card) = &report.ensemble {
        rows.push(JudgeRow {
            name: "ensemble".to_owned(),
            card: Some(card),
            place: None,
            named: None,
            flips: None,
            failed: None,
            latency_ms: None,
            usd_per_1000: None,
        });
    }
    rows
}

fn cell(column: Column, width: usize, row: &JudgeRow<'_>, theme: &Theme) -> Vec<Span<'static>> {
    let figure =
        |words: String, style: Style| vec![Span::styled(text::pad_left(&words, width), style)];
    let plain = |words: Option<String>| match words {
        Some(words) => figure(words, Style::new()),
        None => figure("–".to_owned(), theme.faint()),
    };
    let finding = row.named.and_then(|named| named.finding());
    let mark = if finding.is_some() {
        theme.bad()
    } else {
        theme.strong()
    };
    let card = row.card;
    let people = card.map(|card| &card.people.all);
    let raw = people.and_then(|all| all.raw);
    match column {
        Column::NamesFirst => match row.named.and_then(|named| named.first_share()) {
            Some(first) if finding.is_some() => figure(percent(first), theme.bad()),
            first => plain(first.map(percent)),
        },
        Column::NamesFirstTrack => match row.named.and_then(first_interval) {
            Some((value, interval)) => track(value, interval, width, mark, theme),
            None => plain(None),
        },
        Column::Flips => plain(row.flips.map(|(value, _)| percent(value))),
        Column::FlipsRange => plain(row.flips.map(|(value, interval)| range(value, interval))),
        Column::Lean => plain(
            card.and_then(|card| card.position.as_ref())
                .map(|shift| text::signed(shift.value, 2)),
        ),
        Column::Votes => plain(card.map(|card| text::count(card.votes))),
        Column::Ties => plain(
            card.and_then(|card| card.ties)
                .map(|ties| percent(ties.value)),
        ),
        Column::Failed => match row.failed {
            Some(failed) if failed > 0 => figure(text::count(failed), theme.bad()),
            failed => plain(failed.map(text::count)),
        },
        Column::People => plain(raw.map(share)),
        Column::PeopleTrack => match raw {
            Some(raw) => track(raw.value, raw.interval, width, theme.strong(), theme),
            None => plain(None),
        },
        Column::Corrected => plain(people.and_then(|all| {
            let corrected = all.corrected?;
            Some(range(corrected.value, corrected.interval))
        })),
        Column::Cycles => plain(
            card.map(|card| card.triads)
                .filter(|triads| triads.all > 0)
                .map(|triads| format!("{}/{}", triads.cyclic, triads.all)),
        ),
        Column::Latency => plain(row.latency_ms.map(|ms| format!("{ms:.0} ms"))),
        Column::Price => plain(row.usd_per_1000.map(|usd| format!("{usd:.2}"))),
    }
}

fn first_interval(named: PositionCounts) -> Option<(f64, Interval)> {
    let (low, high) = wilson(named.first, named.first + named.second, 0.95)?;
    Some((named.first_share()?, Interval { low, high }))
}

/// A point with its interval between 0 and 100 %, with 50 % marked.
fn track(
    value: f64,
    interval: Interval,
    width: usize,
    mark: Style,
    theme: &Theme,
) -> Vec<Span<'static>> {
    let place = |share: f64| ((width - 1) as f64 * share.clamp(0.0, 1.0)).round() as usize;
    let (low, at, high) = (place(interval.low), place(value), place(interval.high));
    (0..width)
        .map(|cell| match cell {
            cell if cell == at => Span::styled("●", mark),
            cell if (low..=high).contains(&cell) => Span::styled("━", mark),
            cell if cell == width / 2 => Span::styled("┊", theme.faint()),
            _ => Span::styled("·", theme.faint()),
        })
        .collect()
}

fn percent(value: f64) -> String {
    format!("{:.0} %", 100.0 * value)
}

pub(super) fn share(share: Share) -> String {
    range(share.value, share.interval)
}

fn range(value: f64, interval: Interval) -> String {
    format!(
        "{:.0} % ({:.0}–{:.0})",
        100.0 * value,
        100.0 * interval.low,
        100.0 * interval.high
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_digit_of_a_count_is_cut() {
        let row = JudgeRow {
            name: "bm25".to_owned(),
            card: None,
            place: Some(0),
            named: None,
            flips: None,
            failed: Some(1_060_000),
            latency_ms: None,
            usd_per_1000: None,
        };
        assert_eq!(wide_enough(Column::Failed, 7, &[row]), "1,060,000".len());
        assert_eq!(wide_enough(Column::Failed, 7, &[]), 7);
    }
}
