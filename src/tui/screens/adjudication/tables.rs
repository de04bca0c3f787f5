//! The confusion counts of each judge, and each ranking before and after.

use crate::app::adjudication::overview::{AdjudicationOverview, PickRow};
use crate::domain::adjudication::{PickCounts, Remeasured};
use crate::domain::metrics::MeanEstimate;
use crate::domain::sanitize;
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};
use std::ops::Range;

/// A column of the judges' table: its header, its width, and the screen widths at which it is
/// shown.
const COLUMNS: [(&str, usize, Range<usize>); 10] = [
    ("answers", 7, 66..usize::MAX),
    ("invalid", 7, 90..usize::MAX),
    ("agreed", 6, 0..usize::MAX),
    ("label only", 10, 0..usize::MAX),
    ("pick only", 9, 0..usize::MAX),
    ("neither", 7, 0..usize::MAX),
    ("labels picked (chance)", 22, 110..usize::MAX),
    ("picks labeled (chance)", 23, 140..usize::MAX),
    ("κ", 5, 0..KAPPA_INTERVAL),
    ("κ (95 %)", 18, KAPPA_INTERVAL..usize::MAX),
];

/// Minimum screen width for showing the interval of κ.
const KAPPA_INTERVAL: usize = 74;

/// One row per judge and order, below a header.
pub(super) fn judges(
    overview: &AdjudicationOverview,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let offered: Vec<_> = COLUMNS
        .iter()
        .filter(|(_, _, shown)| shown.contains(&(columns + 2)))
        .collect();
    let longest = overview
        .judges
        .iter()
        .map(|row| text::width(&row.name))
        .max()
        .unwrap_or(0);
    let room = |gap: usize| {
        let fixed: usize = offered.iter().map(|(_, width, _)| width + gap).sum();
        columns.saturating_sub(fixed)
    };
    // Put more space between headings if the names still fit.
    let gap = if room(2) >= longest.min(30) { 2 } else { 1 };
    let room = room(gap).clamp(4, 30);
    let line = |name: &str, cell: &dyn Fn(&str) -> String| {
        let mut words = text::pad_right(name, room);
        for (head, width, _) in &offered {
            words = format!("{words}{:gap$}{}", "", text::pad_left(&cell(head), *width));
        }
        words
    };
    let mut lines = vec![Line::styled(line("judge", &str::to_owned), theme.muted())];
    for row in &overview.judges {
        let name = sanitize::line(&row.name);
        lines.push(Line::raw(line(&name, &|head| cell(row, head))));
    }
    lines
}

fn cell(row: &PickRow, head: &str) -> String {
    let (summary, boxes) = (&row.summary, &row.summary.boxes);
    let share = |of: fn(&PickCounts) -> Option<f64>, chance: Option<f64>| match (of(boxes), chance)
    {
        (Some(value), Some(chance)) => format!("{:.0} % ({:.0} %)", 100.0 * value, 100.0 * chance),
        _ => "–".to_owned(),
    };
    match head {
        "answers" => text::count(summary.valid),
        "invalid" => text::count(summary.invalid.values().sum::<usize>() + row.failed),
        "agreed" => text::count(boxes.agreed),
        "label only" => text::count(boxes.label_only),
        "pick only" => text::count(boxes.pick_only),
        "neither" => text::count(boxes.neither),
        "labels picked (chance)" => share(PickCounts::recall, summary.chance.recall),
        "picks labeled (chance)" => share(PickCounts::precision, summary.chance.precision),
        "κ" => boxes
            .kappa()
            .map_or("–".to_owned(), |kappa| text::fixed(kappa, 2)),
        _ => match (boxes.kappa(), summary.intervals.kappa) {
            (Some(kappa), Some((low, high))) => {
                let [kappa, low, high] = [kappa, low, high].map(|value| text::fixed(value, 2));
                format!("{kappa} ({low}–{high})")
            }
            (Some(kappa), None) => text::fixed(kappa, 2),
            (None, _) => "–".to_owned(),
        },
    }
}

/// The rankings before and after, and every judge's picks by source and by slot, as text wrapped to
/// `columns`; narrow screens omit the sum of documents.
pub(super) fn details(model: &Model, overview: &AdjudicationOverview, columns: usize) -> String {
    const NAME: usize = 14;
    const CELL: usize = 11;
    let narrow = columns < NAME + 5 * CELL;
    let (first, cell_columns) = if narrow { (2, CELL - 1) } else { (1, CELL) };
    let percent = |share: Option<f64>| {
        share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
    };
    let theme = Theme::default();
    let tables = [
        judges(overview, &theme, columns),
        effect(model, overview, &theme, columns),
    ];
    let mut details = String::new();
    for table in tables {
        let lines = table.iter().map(|line| format!("{line}\n"));
        details.extend(lines.chain(["\n".to_owned()]));
    }
    for row in &overview.judges {
        let (summary, boxes) = (&row.summary, &row.summary.boxes);
        let invalid: Vec<String> = summary
            .invalid
            .iter()
            .map(|(cause, count)| format!("{} {cause}", text::count(count)))
            .collect();
        let invalid = if invalid.is_empty() {
            "none invalid".to_owned()
        } else {
            format!(
                "{} of the answers invalid ({})",
                percent(summary.invalid_rate()),
                invalid.join(", ")
            )
        };
        let unproven = match boxes.unproven {
            0 => String::new(),
            count => format!(
                ", {} without evidence in the document (not counted)",
                text::counted(count, "verdict")
            ),
        };
        let share = |of: fn(&PickCounts) -> Option<f64>, chance: Option<f64>| {
            format!("{} (by chance {})", percent(of(boxes)), percent(chance))
        };
        let chance = &summary.chance;
        details.push_str(&format!(
            "{}\n{}, {invalid}, {} failed{unproven}\nagreement {} · picks labeled {} · labels \
             picked {}\n",
            sanitize::line(&row.name),
            text::counted(summary.valid, "answer"),
            text::counted(row.failed, "call"),
            share(PickCounts::agreement, chance.agreement),
            share(PickCounts::precision, chance.precision),
            share(PickCounts::recall, chance.recall),
        ));
        let mut line = |cells: [String; 6]| {
            let mut words = text::pad_right(&cells[0], NAME);
            for cell in &cells[first..] {
                words = format!("{words} {}", text::pad_left(cell, cell_columns - 1));
            }
            details.push_str(words.trim_end());
            details.push('\n');
        };
        let head = [
            "",
            "documents",
            "labeled",
            "picked",
            "of labels",
            "of others",
        ];
        line(head.map(str::to_owned));
        let counts = |name: String, boxes: &PickCounts| {
            [
                name,
                boxes.total().to_string(),
                boxes.labelled().to_string(),
                boxes.picked().to_string(),
                percent(boxes.recall()),
                percent(boxes.false_pick_rate()),
            ]
        };
        for (source, of_source) in &summary.by_source {
            line(counts(source.name().to_owned(), &of_source.boxes));
        }
        for (at, of_slot) in summary.by_slot.iter().enumerate() {
            line(counts(format!("slot {}", at + 1), &of_slot.boxes));
        }
        details.push('\n');
    }
    details
}

/// The metrics of the chosen ranking, before and after.
pub(super) fn effect(
    model: &Model,
    overview: &AdjudicationOverview,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let at = model.adjudication.ranking;
    let Some((name, rows)) = overview.effect.get(at) else {
        let words = "No ranking to measure. `overrule import RUN` adds one.";
        return vec![text::line(words, columns, theme.muted())];
    };
    let place = match overview.effect.len() {
        1 => String::new(),
        count => {
            let next = key_on(Command::NextPane, Screen::ADJUDICATION);
            format!(" ({} of {count}, {next})", at + 1)
        }
    };
    let (mean, room) = if columns < 62 {
        (6, columns.saturating_sub(46))
    } else {
        (8, columns.saturating_sub(50))
    };
    let room = room.clamp(8, 40);
    let title = format!("{}{place}", sanitize::line(name));
    let header = format!(
        "{} {} {}  {}  {}",
        text::pad_right(&text::truncate(&title, room), room),
        text::pad_left("before", mean),
        text::pad_left("after", mean),
        text::pad_left("difference", 10),
        "95 % interval"
    );
    let mut lines = vec![Line::styled(header, theme.muted())];
    lines.extend(rows.iter().map(|row| measure(row, room, mean, theme)));
    lines
}

fn measure(row: &Remeasured, room: usize, columns: usize, theme: &Theme) -> Line<'static> {
    let mean = |estimate: Option<MeanEstimate>| {
        estimate.map_or("–".to_owned(), |estimate| format!("{:.4}", estimate.mean))
    };
    let signed = |value: f64| text::signed(value, 4);
    let of = row.difference;
    let difference = of.map_or("–".to_owned(), |of| signed(of.mean_difference));
    let interval = of.and_then(|of| of.interval);
    let interval = interval.map_or("–".to_owned(), |(low, high)| {
        format!("{} to {}", signed(low), signed(high))
    });
    let style = match of.map_or(0.0, |of| of.mean_difference) {
        0.0 => theme.text(),
        _ => theme.strong(),
    };
    Line::from(vec![
        Span::raw(text::pad_right(&row.metric.to_string(), room)),
        Span::raw(format!(" {}", text::pad_left(&mean(row.before), columns))),
        Span::raw(format!(" {}", text::pad_left(&mean(row.after), columns))),
        Span::styled(format!("  {}", text::pad_left(&difference, 10)), style),
        Span::styled(format!("  {interval}"), theme.muted()),
    ])
}
