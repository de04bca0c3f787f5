//! The document's battles as a table, with every number from this document's point of view.

use crate::domain::battle::Pair;
use crate::domain::ranking::VoteCount;
use crate::domain::verdict::Decision;
use crate::domain::vote::Outcome;
use crate::tui::canvas::Canvas;
use crate::tui::keymap::{Command, Screen, key_on};
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::battle::calls::{self, CallResult};
use crate::tui::screens::document::state::opponent;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::heading;
use crate::tui::widgets::metadata::{self, FieldColumns};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Rows around the list: the heading, the legend and the column names.
pub(super) const FRAME: u16 = 3;
/// Minimum columns for a judge's margin under its name, and the maximum if the titles also have
/// room.
const MARGIN: (usize, usize) = (7, 13);
/// Minimum columns for a title before the judges' names get more.
const TITLE: usize = 36;
/// Minimum columns for a title next to metadata.
const TITLE_WITH_FIELDS: usize = 16;
/// Columns of score, fit and surprise.
const FIGURES: usize = 6 + 6 + 8;

struct ColumnWidths {
    id: usize,
    title: usize,
    judges: usize,
    /// Columns of each judge's margin.
    margin: usize,
    mark: usize,
    /// The chosen metadata fields that fit.
    fields: FieldColumns,
}

impl ColumnWidths {
    fn of(open: &OpenQuery, opponents: &[usize], chosen: &[String], columns: usize) -> Self {
        let longest = opponents
            .iter()
            .map(|document| text::width(&open.name(*document)))
            .max()
            .unwrap_or(2);
        let id = longest.clamp(2, 16) + 4;
        let mark = if columns >= 100 { 14 } else { 10 };
        let fixed = 5 + id + FIGURES + mark;
        let judges = (columns.saturating_sub(fixed) / MARGIN.0).min(open.judges.len());
        let names = (0..judges).map(|judge| text::width(&open.judge_name(judge)) + 1);
        let wanted = names.max().unwrap_or(0).clamp(MARGIN.0, MARGIN.1);
        let margin = if columns.saturating_sub(fixed + judges * wanted) >= TITLE {
            wanted
        } else {
            MARGIN.0
        };
        let room = columns.saturating_sub(fixed + judges * margin);
        let fields = FieldColumns::new(
            chosen,
            opponents,
            |document, field| field_value(open, *document, field),
            room.saturating_sub(TITLE_WITH_FIELDS),
        );
        let title = room - fields.width();
        Self {
            id,
            title: if title >= 8 { title } else { 0 },
            judges,
            margin,
            mark,
            fields,
        }
    }
}

fn field_value(open: &OpenQuery, document: usize, field: &str) -> String {
    let document = open.documents.get(document);
    document.map_or(String::new(), |document| {
        metadata::value(&document.metadata, field)
    })
}

/// Draws the table; returns the area of its rows and the first one shown.
pub(super) fn render(
    model: &Model,
    open: &OpenQuery,
    shown: &[usize],
    canvas: Canvas<'_>,
) -> (Rect, usize) {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    let columns = usize::from(area.width);
    let document = model.document().document;
    let sort = model.document().sort.describe();
    let words = format!("battles: {} · {sort}{}", shown.len(), gaps(open, shown));
    let focus = !model.document().reading;
    heading(&words, focus, theme, cut(&mut rest, 1), buf);
    Paragraph::new(legend(open, document, theme, columns)).render(cut(&mut rest, 1), buf);
    let opponents: Vec<usize> = shown
        .iter()
        .filter_map(|index| opponent(open, *index, document))
        .collect();
    let chosen = &model.options.config.screen.metadata;
    let widths = ColumnWidths::of(open, &opponents, chosen, columns);
    names(open, &widths, theme).render(cut(&mut rest, 1), buf);
    if shown.is_empty() {
        let words = if open.is_unjudged() {
            let start = key_on(Command::StartRun, Screen::DOCUMENT);
            format!("Not judged yet. {start}: let the judges compare the documents.")
        } else {
            "no battle is planned for this document".to_owned()
        };
        Line::styled(words, theme.missing()).render(rest, buf);
        return (rest, 0);
    }
    let page = usize::from(rest.height).max(1);
    let cursor = model.document_cursor();
    let first = cursor
        .saturating_sub(page / 2)
        .min(shown.len().saturating_sub(page));
    for ((place, index), row) in shown.iter().enumerate().skip(first).zip(rest.rows()) {
        line(open, *index, document, &widths, place == cursor, theme).render(row, buf);
        if place == cursor {
            buf.set_style(row, theme.selection());
        }
    }
    let bottom = Rect {
        height: (shown.len() - first).min(usize::from(rest.height)) as u16,
        ..rest
    };
    (bottom, first)
}

/// Missing votes, and why they are missing.
fn gaps(open: &OpenQuery, shown: &[usize]) -> String {
    let records = &open.view.rows().battles;
    let failed: usize = shown
        .iter()
        .filter_map(|index| records.get(*index))
        .map(|record| record.failed.len())
        .sum();
    let missing: usize = shown
        .iter()
        .filter_map(|index| open.view.battles.get(*index))
        .map(|view| view.missing)
        .sum();
    let mut words = String::new();
    if failed > 0 {
        words += &format!(" · {failed} failed");
    }
    if missing > failed {
        words += &format!(" · {} not run", missing - failed);
    }
    words
}

/// The meaning of the symbols.
fn legend(open: &OpenQuery, document: usize, theme: &Theme, columns: usize) -> Line<'static> {
    let mut parts = vec![("+ for this document (A)".to_owned(), theme.muted())];
    let apart = open.view.rows().verdicts.iter().filter(|verdict| {
        let pair = Pair::new(verdict.a, verdict.b);
        pair.is_some_and(|pair| {
            pair.other(document).is_some() && open.view.battles_of(pair).is_empty()
        })
    });
    let apart = apart.count();
    if apart > 0 {
        parts.push((
            format!("◆ {apart} on pairs never fought"),
            theme.override_mark(),
        ));
    }
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut room = columns;
    for (words, style) in parts {
        let gap = if spans.is_empty() { "" } else { " · " };
        spans.push(Span::styled(gap, theme.muted()));
        let words = text::truncate(&words, room.saturating_sub(gap.len())).into_owned();
        room = room.saturating_sub(text::width(&words) + text::width(gap));
        spans.push(Span::styled(words, style));
    }
    Line::from(spans)
}

fn names(open: &OpenQuery, widths: &ColumnWidths, theme: &Theme) -> Line<'static> {
    let opponent = text::pad_right("opponent", widths.id + widths.title);
    let mut spans = vec![Span::styled(format!("   # {opponent}"), theme.muted())];
    spans.push(Span::styled(widths.fields.header(), theme.muted()));
    for index in 0..widths.judges {
        let name = open.judge_name(index);
        let name = text::truncate(&name, widths.margin - 1).into_owned();
        spans.push(Span::styled(
            text::pad_left(&name, widths.margin),
            theme.judge(index),
        ));
    }
    spans.push(Span::styled(
        format!("{:>6}{:>6}{:>8}", "A : B", "fit", "surpr."),
        theme.muted(),
    ));
    let hidden = open.judges.len() - widths.judges;
    let verdict = if hidden > 0 {
        format!(" +{hidden} judges")
    } else {
        " verdict".to_owned()
    };
    spans.push(Span::styled(
        text::truncate(&verdict, widths.mark).into_owned(),
        theme.muted(),
    ));
    Line::from(spans)
}

fn line(
    open: &OpenQuery,
    index: usize,
    document: usize,
    widths: &ColumnWidths,
    cursor: bool,
    theme: &Theme,
) -> Line<'static> {
    let Some(other) = opponent(open, index, document) else {
        return Line::default();
    };
    let (Some(view), Some(record)) = (
        open.view.battles.get(index),
        open.view.rows().battles.get(index),
    ) else {
        return Line::default();
    };
    let rank = open.standing(other);
    let rank = rank.map_or("–".to_owned(), |standing| standing.rank.to_string());
    let game = if record.battle.game > 0 {
        format!(" #{}", record.battle.game + 1)
    } else {
        String::new()
    };
    let id = format!("{}{game}", text::truncate(&open.name(other), widths.id - 4));
    let mark = if cursor { "▸" } else { " " };
    let mut spans = vec![
        Span::styled(mark, theme.accent()),
        Span::raw(format!("{rank:>3} {}", text::pad_right(&id, widths.id))),
    ];
    if widths.title > 0 {
        spans.push(Span::styled(
            text::pad_right(&open.headline(other), widths.title),
            theme.muted(),
        ));
    }
    let value = |field: &str| field_value(open, other, field);
    spans.push(Span::raw(widths.fields.row(value)));
    // Seen with the opponent as A, so that + favors this document.
    for call in calls::of_battle(open, index, other)
        .iter()
        .take(widths.judges)
    {
        let (words, style) = match call.result {
            CallResult::Failed => ("failed".to_owned(), theme.bad()),
            CallResult::NotRun => ("–".to_owned(), theme.missing()),
            CallResult::NotAsked => ("·".to_owned(), theme.faint()),
            CallResult::Prefers(margin) if margin.outcome() == Outcome::Tie => {
                ("tie".to_owned(), Style::new())
            }
            CallResult::Prefers(margin) if margin.get().abs() < 0.005 => (
                if margin.get() > 0.0 {
                    "+<.01"
                } else {
                    "−<.01"
                }
                .to_owned(),
                Style::new(),
            ),
            CallResult::Prefers(margin) => (text::signed(margin.get(), 2), Style::new()),
        };
        spans.push(Span::styled(text::pad_left(&words, widths.margin), style));
    }
    let mine = record.battle.b == document;
    let share = |value: Option<f64>| match value {
        None => "–".to_owned(),
        Some(score) => format!("{:.2}", if mine { score } else { 1.0 - score }),
    };
    let votes = view.score.map_or("–".to_owned(), |_| {
        let count: VoteCount = record
            .votes
            .iter()
            .map(|vote| vote.margin.outcome())
            .collect();
        if mine {
            format!("{} : {}", count.b, count.a)
        } else {
            format!("{} : {}", count.a, count.b)
        }
    });
    spans.push(Span::styled(
        format!("{votes:>6}"),
        if view.replaced {
            theme.ghost()
        } else {
            theme.strong()
        },
    ));
    spans.push(Span::styled(
        format!("{:>6}", share(view.expected)),
        theme.muted(),
    ));
    let (surprise, style) = match view.surprise {
        Some(surprise) => (
            format!(
                "{}σ",
                text::signed(if mine { surprise } else { -surprise }, 1)
            ),
            if surprise.abs() >= 2.0 {
                theme.warn()
            } else {
                Style::new()
            },
        ),
        None => ("–".to_owned(), theme.missing()),
    };
    spans.push(Span::styled(text::pad_left(&surprise, 8), style));
    if let Some(words) = verdict(open, other, document) {
        let words = text::truncate(&words, widths.mark - 1).into_owned();
        spans.push(Span::styled(format!(" {words}"), theme.override_mark()));
    } else if view.missing > 0 {
        let words = format!("{} missing", view.missing);
        spans.push(Span::styled(
            format!(" {}", text::truncate(&words, widths.mark - 1)),
            theme.missing(),
        ));
    } else {
        // Nobody has decided this pair, and its votes depend on the order.
        let words = match open.view.flips(other, document).count() {
            0 => String::new(),
            1 => " flip".to_owned(),
            flips => format!(" {flips} flips"),
        };
        spans.push(Span::styled(words, theme.warn()));
    }
    Line::from(spans)
}

/// The effective verdict from this document's point of view.
fn verdict(open: &OpenQuery, other: usize, document: usize) -> Option<String> {
    let verdict = open.view.verdict(Pair::new(other, document)?)?;
    // Seen with the other document as A.
    let words = match verdict.seen_from(other) {
        Decision::MuchA => "far worse",
        Decision::A => "worse",
        Decision::Tie => "equal",
        Decision::B => "better",
        Decision::MuchB => "by far",
        Decision::CannotTell => "can't tell",
    };
    Some(format!("◆ {words}"))
}
