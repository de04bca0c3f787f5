//! The table of judges: one sentence about each, and its agreement with people and position bias as
//! points with their intervals.

use super::axis::{Axis, WIDTH};
use crate::app::judge_report::report::RaterReport;
use crate::domain::agreement::{Interval, Share};
use crate::domain::judge_report::{ENOUGH_PAIRS, JudgeConclusion, JudgeReport};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, ListPosition};
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::scroll_to;
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Minimum columns of the header over people's agreement.
const PEOPLE: &str = "with people";
const FIRST: usize = 11;

/// A judge or the ensemble.
pub(super) struct JudgeRow<'a> {
    pub(super) name: String,
    pub(super) card: Option<&'a JudgeReport>,
    /// Its index among the judges; `None` for the ensemble.
    pub(super) place: Option<usize>,
    conclusion: JudgeConclusion,
}

impl JudgeRow<'_> {
    fn blind(&self) -> Option<Share> {
        self.card?.people.blind
    }

    fn first(&self) -> Option<(f64, Option<Interval>)> {
        let position = self.card?.position.as_ref()?;
        Some((position.first_share(), position.first_interval()))
    }
}

/// All judges, with the ensemble last.
pub(super) fn rows(report: &RaterReport) -> Vec<JudgeRow<'_>> {
    let judges = report.rater_data.judges.iter().enumerate();
    let mut rows: Vec<_> = judges
        .map(|(place, (_, spec))| JudgeRow {
            name: sanitize::line(&spec.name).into_owned(),
            card: report.record(place).card,
            place: Some(place),
            conclusion: report.record(place).conclusion(),
        })
        .collect();
    if let (Some(card), Some(conclusion)) = (&report.ensemble, report.ensemble_conclusion()) {
        rows.push(JudgeRow {
            name: "ensemble".to_owned(),
            card: Some(card),
            place: None,
            conclusion,
        });
    }
    rows
}

/// Number of rows below the header, with that of people.
pub(super) fn height(report: &RaterReport) -> u16 {
    (rows(report).len() + usize::from(report.people_with_each_other.is_some())) as u16
}

/// Columns between the name of a judge and its sentence.
const GAP: usize = 2;

/// The widths of the table's parts.
struct Columns {
    name: usize,
    sentence: usize,
    counts: usize,
    /// Whether to draw intervals, if there is room.
    people: Option<Axis>,
    first: Option<Axis>,
}

impl Columns {
    fn of(report: &RaterReport, rows: &[JudgeRow<'_>], width: usize) -> Self {
        let people = rows
            .iter()
            .filter_map(JudgeRow::blind)
            .chain(report.people_with_each_other)
            .filter(|share| share.n >= ENOUGH_PAIRS);
        let first = rows.iter().filter_map(|row| row.first()?.1);
        let longest = |words: &dyn Fn(&JudgeRow<'_>) -> usize| rows.iter().map(words).max();
        let name = longest(&|row| text::width(&row.name))
            .unwrap_or(0)
            .clamp(8, 20);
        let sentence = longest(&|row| text::width(&row.conclusion.words())).unwrap_or(0);
        let counts = rows
            .iter()
            .filter_map(JudgeRow::blind)
            .chain(report.people_with_each_other)
            .map(|share| text::width(&agreement_words(share)));
        let mut columns = Self {
            name,
            counts: counts.max().unwrap_or(0).max(PEOPLE.len()),
            sentence: sentence.max("in one sentence".len()),
            people: Axis::up_to_one(people.map(|share| share.interval)),
            first: Axis::around_half(first),
        };
        if columns.used() > width {
            columns.people = None;
        }
        if columns.used() > width {
            columns.first = None;
        }
        let over = columns.used().saturating_sub(width);
        columns.sentence = columns.sentence.saturating_sub(over);
        columns
    }

    fn used(&self) -> usize {
        let axes = [self.people, self.first].into_iter().flatten().count();
        2 + self.name + GAP + self.sentence + 1 + self.counts + 1 + FIRST + axes * (WIDTH + 2)
    }

    fn line(&self, name: Span<'static>, sentence: Span<'static>, shares: Shares) -> Line<'static> {
        let mut spans = vec![name, Span::raw(" ".repeat(GAP)), sentence, Span::raw(" ")];
        for (figure, axis, has_axis) in [
            (shares.people, shares.people_axis, self.people.is_some()),
            (shares.first, shares.first_axis, self.first.is_some()),
        ] {
            spans.push(figure);
            spans.push(Span::raw(" "));
            if has_axis {
                spans.push(Span::raw(" "));
                let blank = || vec![Span::raw(" ".repeat(WIDTH))];
                spans.extend(axis.unwrap_or_else(blank));
                spans.push(Span::raw(" "));
            }
        }
        Line::from(spans)
    }

    fn header(&self, theme: &Theme) -> Line<'static> {
        let style = theme.muted();
        let head = |axis: Option<Axis>| Some(vec![Span::styled(axis?.header(), style)]);
        self.line(
            Span::styled(text::pad_right("  judge", self.name + 2), style),
            Span::styled(text::pad_right("in one sentence", self.sentence), style),
            Shares {
                people: Span::styled(text::pad_left(PEOPLE, self.counts), style),
                people_axis: head(self.people),
                first: Span::styled(text::pad_left("first doc.", FIRST), style),
                first_axis: head(self.first),
            },
        )
    }

    fn row(&self, row: &JudgeRow<'_>, selected: bool, theme: &Theme) -> Line<'static> {
        let mark = if selected { "▌ " } else { "  " };
        let name = format!("{mark}{}", text::pad_right(&row.name, self.name));
        let conclusion = match row.conclusion {
            JudgeConclusion::NotEnough(_) => theme.muted(),
            conclusion if conclusion.is_fault() => theme.warn(),
            _ => theme.good(),
        };
        let words = text::pad_right(&row.conclusion.words(), self.sentence);
        let first = row.first();
        let axis = |axis: Option<Axis>, value: f64, interval: Option<Interval>| {
            Some(axis?.track(value, interval?, theme))
        };
        let share = row.blind();
        let figure = first.map(|(value, _)| format!("{:.0} %", 100.0 * value));
        self.line(
            Span::styled(name, theme.strong()),
            Span::styled(words, conclusion),
            Shares {
                people: or_dash(share.map(agreement_words), self.counts, theme),
                people_axis: share
                    .filter(|share| share.n >= ENOUGH_PAIRS)
                    .and_then(|share| axis(self.people, share.value, Some(share.interval))),
                first: or_dash(figure, FIRST, theme),
                first_axis: first.and_then(|(value, interval)| axis(self.first, value, interval)),
            },
        )
    }

    fn people(&self, share: Share, theme: &Theme) -> Line<'static> {
        let words = "  people with each other";
        let width = 2 + self.name + GAP + self.sentence;
        let axis = self.people.filter(|_| share.n >= ENOUGH_PAIRS);
        self.line(
            Span::styled(text::pad_right(words, width - GAP), theme.muted()),
            Span::raw(""),
            Shares {
                people: or_dash(Some(agreement_words(share)), self.counts, theme),
                people_axis: axis.map(|axis| axis.track(share.value, share.interval, theme)),
                first: Span::raw(" ".repeat(FIRST)),
                first_axis: None,
            },
        )
    }
}

/// The cells of a row to the right of its sentence.
struct Shares {
    people: Span<'static>,
    people_axis: Option<Vec<Span<'static>>>,
    first: Span<'static>,
    first_axis: Option<Vec<Span<'static>>>,
}

/// `184/214  86 %`; only the counts if there are too few pairs for a share.
fn agreement_words(share: Share) -> String {
    let decimals = usize::from(share.part.fract() != 0.0);
    let counts = format!("{:.decimals$}/{}", share.part, text::count(share.n));
    if share.n < ENOUGH_PAIRS {
        counts
    } else {
        format!("{counts} {:>5}", format!("{:.0} %", 100.0 * share.value))
    }
}

fn or_dash(words: Option<String>, width: usize, theme: &Theme) -> Span<'static> {
    match words {
        Some(words) => Span::raw(text::pad_left(&words, width)),
        None => Span::styled(text::pad_left("–", width), theme.faint()),
    }
}

/// Draws the table; `area` has one row more than [`height`].
pub(super) fn table(model: &Model, report: &RaterReport, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let rows = rows(report);
    let [head, list] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let columns = Columns::of(report, &rows, usize::from(area.width));
    columns.header(theme).render(head, buf);
    let cursor = model.judges().cursor;
    let page = usize::from(list.height);
    let first = scroll_to(0, cursor.min(rows.len().saturating_sub(1)), page);
    let mut lines = list.rows();
    for ((place, row), line) in rows.iter().enumerate().skip(first).zip(lines.by_ref()) {
        let selected = place == cursor;
        if selected {
            buf.set_style(line, theme.selection());
        }
        columns.row(row, selected, theme).render(line, buf);
    }
    if let (Some(share), Some(line)) = (report.people_with_each_other, lines.next()) {
        columns.people(share, theme).render(line, buf);
    }
    Areas {
        list,
        first,
        lines: rows.len(),
        page,
        position: Some(ListPosition::unfiltered(cursor, rows.len())),
        ..Areas::default()
    }
}

/// `86 % (79–91)`.
pub(super) fn share(share: Share) -> String {
    range(share.value, share.interval)
}

pub(super) fn range(value: f64, interval: Interval) -> String {
    format!(
        "{:.0} % ({:.0}–{:.0})",
        100.0 * value,
        100.0 * interval.low,
        100.0 * interval.high
    )
}
