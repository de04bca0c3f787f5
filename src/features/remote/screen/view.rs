//! Draws the people, the machines, and the state of the connection.

use super::state::{Link, PersonRow, Presence, TeamState};
use crate::domain::agreement::Share;
use crate::domain::sanitize;
use crate::features::remote::app::dollars;
use crate::features::remote::app::team::TeamReport;
use crate::features::remote::client::{JobStatus, WorkerStatus};
use crate::tui::canvas::Canvas;
use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::drawing::{Areas, ListPosition};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::text::{self, count, counted, duration, fixed, usd};
use crate::tui::theme::Theme;
use crate::tui::widgets::list::scrollbar;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Stands for a number that is not known.
const UNKNOWN: &str = "—";
/// Minimum and maximum columns of names.
const NAME: (usize, usize) = (8, 24);
/// Maximum columns of what a person does now.
const NOW: usize = 48;
/// Columns of the numbers of verdicts, and of the agreement with its interval.
const NUMBER: usize = 8;
const AGREEMENT: usize = 22;
/// Columns of the units of a worker, of its pace, and of its spending.
const UNITS: usize = 24;
const PACE: usize = 12;
const SPENT: usize = 22;

pub(super) fn view(model: &Model, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let columns = usize::from(rest.width);
    let team = model.team();
    let mut head = text::lines(&sentence(team), columns, theme.strong());
    if let Some(words) = connection(team) {
        head.extend(text::lines(&words, columns, theme.warn()));
    }
    for problem in &team.problems {
        let problem = sanitize::line(problem);
        head.extend(text::lines(&problem, columns, theme.warn()));
    }
    head.truncate(usize::from(rest.height / 2));
    head.push(Line::default());
    let lines = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, lines), buf);
    let foot = cut_bottom(&mut rest, 1);
    Paragraph::new(totals(team, theme, columns)).render(foot, buf);

    let people = team.rows();
    let machines = machines(team, theme, columns);
    // The people come first, and the machines take what is left.
    let high = (people.len() as u16 + 1).min(rest.height);
    let mut table = cut(&mut rest, high);
    let names = people.iter().map(|row| text::width(&name(row)));
    let widest = names.max().unwrap_or(0).clamp(NAME.0, NAME.1);
    let numbers = 2 + widest + 2 + 2 * NUMBER + 2 + AGREEMENT + 1;
    let now = columns.saturating_sub(numbers).min(NOW);
    let header = format!(
        "  {}  {}{}{}  {}",
        text::pad_right("person", widest),
        text::pad_right("now", now),
        text::pad_left("today", NUMBER),
        text::pad_left("in all", NUMBER),
        text::pad_right("agrees with the others", AGREEMENT),
    );
    text::line(&header, columns, theme.muted()).render(cut(&mut table, 1), buf);
    let page = usize::from(table.height);
    let cursor = team.cursor.min(people.len().saturating_sub(1));
    let first = (cursor + 1).saturating_sub(page.max(1));
    for ((place, row), area) in people.iter().enumerate().skip(first).zip(table.rows()) {
        let is_selected = place == cursor;
        if is_selected {
            buf.set_style(area, theme.selection());
        }
        let number = |of: fn((usize, usize)) -> usize| {
            let number = row.counts.map(of).map(count);
            text::pad_left(number.as_deref().unwrap_or(UNKNOWN), NUMBER)
        };
        let style = match row.now {
            Presence::Present(_) => theme.text(),
            Presence::Absent(_) | Presence::Unknown => theme.muted(),
        };
        Line::from(vec![
            Span::raw(if is_selected { "▌ " } else { "  " }),
            Span::styled(text::pad_right(&name(row), widest), theme.strong()),
            Span::raw("  "),
            Span::styled(text::pad_right(&now_words(&row.now), now), style),
            Span::raw(number(|(today, _)| today)),
            Span::raw(number(|(_, all)| all)),
            Span::raw("  "),
            Span::raw(agreement(row.agreement)),
        ])
        .render(area, buf);
    }
    scrollbar(first, people.len(), Canvas::new(theme, table, buf));
    Paragraph::new(machines).render(rest, buf);
    Areas {
        list: table,
        page,
        lines: people.len(),
        first,
        position: Some(ListPosition::unfiltered(cursor, people.len())),
        ..Areas::default()
    }
}

/// How much people have judged, and how far they agree.
fn sentence(team: &TeamState) -> String {
    let report = match &team.report {
        None => return "reading the verdicts …".to_owned(),
        Some(Err(error)) => return sanitize::line(error).into_owned(),
        Some(Ok(report)) => report,
    };
    let judged = match report.judged {
        // Others may have judged more.
        pairs if report.only.is_some() => {
            let seen = format!("You can see verdicts on {}.", counted(pairs, "pair"));
            return match &report.agreement.share {
                None => seen,
                Some(_) => format!("{seen} {}", agreement_words(report)),
            };
        }
        0 => return "Nobody has judged a pair yet.".to_owned(),
        1 => "1 pair has a verdict.".to_owned(),
        judged => format!("{} pairs have a verdict.", count(judged)),
    };
    format!("{judged} {}", agreement_words(report))
}

fn agreement_words(report: &TeamReport) -> String {
    let Some(share) = &report.agreement.share else {
        return "No pair has been judged by two people yet.".to_owned();
    };
    let alpha = &report.agreement.alpha;
    let alpha = alpha.as_ref().map_or(String::new(), |alpha| {
        format!(" (Krippendorff's α {})", fixed(alpha.value, 2))
    });
    let pairs = match share.n {
        1 => "the pair".to_owned(),
        pairs => format!("the {} pairs", count(pairs)),
    };
    format!(
        "People agree on {} % of {pairs} that at least two have judged{alpha}.",
        fixed(100.0 * share.value, 0)
    )
}

/// Why numbers of the server are missing, if they are.
fn connection(team: &TeamState) -> Option<String> {
    if !team.is_shared() {
        let words = "This project is not synchronized: share it with `overrule remote add`.";
        return Some(words.to_owned());
    }
    match &team.link {
        Link::Connected => None,
        Link::Connecting => Some("Connecting to the server …".to_owned()),
        Link::Away(why) => Some(format!(
            "The server is offline ({}). Work goes on, and changes wait here.",
            sanitize::line(why)
        )),
        Link::Refused(why) => Some(format!("Not synchronized: {}", sanitize::line(why))),
    }
}

fn name(row: &PersonRow<'_>) -> String {
    sanitize::line(row.name).into_owned()
}

fn now_words(now: &Presence) -> String {
    match now {
        Presence::Unknown => UNKNOWN.to_owned(),
        Presence::Absent(seconds) => format!("last seen {} ago", duration(*seconds)),
        Presence::Present(None) => "here".to_owned(),
        Presence::Present(Some((query, place))) => {
            format!("{}, {}", sanitize::line(query), sanitize::line(place))
        }
    }
}

/// `0.86 (0.78–0.92)`.
fn agreement(share: Option<&Share>) -> String {
    share.map_or(UNKNOWN.to_owned(), |share| {
        let (low, high) = (share.interval.low, share.interval.high);
        format!(
            "{} ({}–{})",
            fixed(share.value, 2),
            fixed(low, 2),
            fixed(high, 2)
        )
    })
}

/// The workers of the jobs on the server that have not ended.
fn machines(team: &TeamState, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let jobs = team.jobs.as_deref().unwrap_or_default();
    let workers: Vec<(&JobStatus, &WorkerStatus)> = jobs
        .iter()
        .flat_map(|job| job.workers.iter().map(move |worker| (job, worker)))
        .filter(|(_, worker)| !worker.has_ended)
        .collect();
    if workers.is_empty() {
        return Vec::new();
    }
    let several = workers.iter().any(|(job, _)| job.name != workers[0].0.name);
    let name = |(job, worker): &(&JobStatus, &WorkerStatus)| {
        let worker = sanitize::line(&worker.name);
        if several {
            format!("{} · {worker}", sanitize::line(&job.name))
        } else {
            worker.into_owned()
        }
    };
    let widest = workers.iter().map(|of| text::width(&name(of)));
    let room = columns.saturating_sub(2 + UNITS + PACE + SPENT);
    let widest = widest.max().unwrap_or(0).clamp(NAME.0, room.max(NAME.0));
    let row = |name: &str, units: &str, pace: &str, spent: &str| {
        format!(
            "  {}{}{}{}",
            text::pad_right(name, widest),
            text::pad_left(units, UNITS),
            text::pad_left(pace, PACE),
            text::pad_left(spent, SPENT),
        )
    };
    let header = row(
        "worker",
        "units done / leased",
        "answers/min",
        "spent of its share",
    );
    let mut lines = vec![Line::default(), text::line(&header, columns, theme.muted())];
    lines.extend(workers.iter().map(|of| {
        let (job, worker) = of;
        let units = format!("{} / {}", count(worker.done), count(worker.leased));
        let pace = if worker.is_silent() {
            "silent".to_owned()
        } else {
            let pace = worker.votes_per_s().map(|pace| fixed(60.0 * pace, 0));
            pace.unwrap_or(UNKNOWN.to_owned())
        };
        let spent = usd(dollars(worker.spent));
        let spent = match job.budget {
            Some(_) => format!("{spent} of {}", usd(dollars(worker.reserved))),
            None => spent,
        };
        let words = row(&name(of), &units, &pace, &spent);
        text::line(&words, columns, theme.text())
    }));
    lines
}

/// Conflicts and spending, on a rule.
fn totals(team: &TeamState, theme: &Theme, columns: usize) -> Line<'static> {
    let mut parts = Vec::new();
    if let Some(Ok(report)) = &team.report {
        let mut conflicts = counted(report.conflicts, "conflict");
        if report.conflicts > 0 {
            let open = report.conflicts.saturating_sub(report.judged_conflicts);
            conflicts += &format!(", {} for you to adjudicate", count(open));
        }
        parts.push(conflicts);
        if team.link == Link::Connected && team.is_shared() {
            parts.push(format!("{} open", counted(team.leases.len(), "item")));
        }
        let spent = report.spent.in_short();
        parts.push(match report.budget_usd {
            Some(budget) => format!("budget {spent} of {}", usd(budget)),
            None => format!("spent {spent}"),
        });
    }
    let words = parts.join(" · ");
    let words = format!("── {words} ");
    let rule = "─".repeat(columns.saturating_sub(text::width(&words)));
    text::line(&format!("{words}{rule}"), columns, theme.muted())
}

/// The people as a table.
pub(super) fn table(model: &Model) -> ClipboardTable {
    let rows = model.team().rows();
    let row = |row: &PersonRow<'_>| {
        let count = |of: fn((usize, usize)) -> usize| {
            row.counts
                .map(of)
                .map_or(String::new(), |of| of.to_string())
        };
        [
            row.name.to_owned(),
            now_words(&row.now),
            count(|(today, _)| today),
            count(|(_, all)| all),
            number(row.agreement.map(|of| of.value), 4),
            number(row.agreement.map(|of| of.interval.low), 4),
            number(row.agreement.map(|of| of.interval.high), 4),
        ]
    };
    let columns = [
        "person",
        "now",
        "today",
        "in_all",
        "agreement",
        "low",
        "high",
    ];
    ClipboardTable::new("person", columns, rows.iter().map(row))
}
