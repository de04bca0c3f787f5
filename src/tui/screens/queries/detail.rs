//! Draws the selected query: its text, its matrix, its first documents, and what is unusual about
//! it.

use super::preview;
use crate::domain::priority::at_the_cut;
use crate::domain::ranking::DocumentOrder;
use crate::domain::sanitize;
use crate::store::corpus::QueryInfo;
use crate::store::summary_cache::QuerySummary;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Caches;
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::screens::matrix::cells::MatrixCells;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::heading;
use crate::tui::widgets::heatmap::{
    self, HeatmapCache, HeatmapOptions, HeatmapState, WITHIN_95, Zoom,
};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::cmp::Ordering;

/// Number of documents shown.
const FIRST: usize = 5;
/// Rows of the text below the list.
const TEXT: usize = 2;
/// Columns of an interval next to a list, and in a line with two documents.
const PLOT: u16 = 17;
const SMALL_PLOT: u16 = 9;
/// Columns of a rank, and of a movement.
const RANK: u16 = 3;
const MOVED: u16 = 4;
/// Minimum distance of an unusual battle to the fit, in standard deviations; by chance, 1 of 370
/// battles is this far away.
const SURPRISING: f64 = 3.0;

/// Rows of the selected query on a screen of this many rows.
pub(super) fn height(rows: u16) -> u16 {
    match rows {
        30.. => 3 + TEXT as u16 + FIRST as u16,
        16.. => 6,
        _ => 0,
    }
}

/// Draws the selected query below the list.
pub(super) fn below(model: &Model, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let Some((info, summary)) = model.queries.selected().filter(|_| area.height > 0) else {
        return;
    };
    let mut rest = area;
    title(info, theme, cut(&mut rest, 1), buf);
    let columns = usize::from(area.width);
    let full = sanitize::line(&info.text);
    let lines = text::first_lines(&full, columns, TEXT, theme.strong());
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(cut(&mut rest, rows), buf);
    if let Some(open) = preview::read_already(model, info.key) {
        let first = FirstDocuments::of(open);
        if area.height > 6 {
            first.rows(theme, cut(&mut rest, first.documents.len() as u16), buf);
        } else if rest.height > 1 && first.documents.len() > 1 {
            first.pair(theme, cut(&mut rest, 1), buf);
        }
    }
    let parts = facts(model, info, summary.as_ref());
    let lines = text::parts(&parts, columns, usize::from(rest.height), theme.text());
    Paragraph::new(lines).render(rest, buf);
}

/// Draws the selected query next to the list.
pub(super) fn aside(model: &Model, caches: &mut Caches, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let Some((info, summary)) = model.queries.selected() else {
        return;
    };
    let mut rest = area;
    title(info, theme, cut(&mut rest, 1), buf);
    let columns = usize::from(area.width);
    let full = sanitize::line(&info.text);
    let most = usize::from(area.height / 4).max(TEXT);
    let mut lines = text::first_lines(&full, columns, most, theme.strong());
    let parts = facts(model, info, summary.as_ref());
    lines.extend(text::parts(&parts, columns, 4, theme.text()));
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(cut(&mut rest, rows), buf);
    let Some(open) =
        preview::read_already(model, info.key).filter(|open| open.view.progress().0 > 0)
    else {
        return;
    };
    let first = FirstDocuments::of(open);
    let unusual: Vec<_> = unusual(open, summary.as_ref())
        .iter()
        .flat_map(|words| text::lines(words, columns, theme.text()))
        .collect();
    let below = (first.documents.len() + unusual.len()) as u16 + 4;
    cut(&mut rest, 1);
    if rest.height > below + 5 {
        let high = rest.height - below;
        let used = matrix(
            open,
            &mut caches.preview,
            high,
            Canvas::new(theme, rest, buf),
        );
        cut(&mut rest, used + 1);
    }
    let words = format!(
        "top {} · zELO, 95 % · ▲▼ against the hybrid order",
        first.documents.len()
    );
    heading(&words, false, theme, cut(&mut rest, 1), buf);
    first.rows(theme, cut(&mut rest, first.documents.len() as u16), buf);
    if !unusual.is_empty() {
        cut(&mut rest, 1);
        heading("unusual", false, theme, cut(&mut rest, 1), buf);
    }
    Paragraph::new(unusual).render(rest, buf);
}

fn title(info: &QueryInfo, theme: &Theme, area: Rect, buf: &mut Buffer) {
    heading(&sanitize::line(info.id.as_str()), false, theme, area, buf);
}

/// Draws the matrix in zELO order in at most `high` rows, with its legend; returns its rows.
fn matrix(open: &OpenQuery, cache: &mut HeatmapCache, high: u16, canvas: Canvas<'_>) -> u16 {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    let words = "matrix in zELO order";
    heading(words, false, theme, cut(&mut rest, 1), buf);
    let order = open.view.order(DocumentOrder::Zelo);
    let source = MatrixCells::observed(open, &order);
    let options = HeatmapOptions {
        cut: Some(open.top()),
        lens: false,
        bare: true,
        cursor: false,
        ..HeatmapOptions::default()
    };
    let state = HeatmapState {
        zoom: Some(Zoom::Overview),
        ..HeatmapState::default()
    };
    let picture = Rect {
        height: high.saturating_sub(2).min(rest.height),
        ..rest
    };
    let shown = heatmap::render(picture, buf, theme, &state, cache, &source, &options);
    let used = shown.body.height;
    cut(&mut rest, used);
    let mut legend = Vec::new();
    for (share, meaning) in [(1.0, "the row won"), (0.5, "even"), (0.0, "it lost")] {
        let (symbol, style) = theme.heat_pair(Some(share), Some(share));
        legend.push(Span::styled(symbol.to_string().repeat(2), style));
        legend.push(Span::styled(format!(" {meaning}   "), theme.muted()));
    }
    legend.push(match shown.stride {
        (1, 1) => Span::styled(
            format!("line: end of the top {}", open.top()),
            theme.muted(),
        ),
        (down, across) => Span::styled(
            format!("a cell is the mean of {down} × {across}"),
            theme.muted(),
        ),
    });
    Line::from(legend).render(cut(&mut rest, 1), buf);
    used + 2
}

/// The first documents of a query by zELO.
struct FirstDocuments<'a> {
    open: &'a OpenQuery,
    documents: Vec<usize>,
    /// The range of their intervals.
    axis: (f64, f64),
}

impl<'a> FirstDocuments<'a> {
    fn of(open: &'a OpenQuery) -> Self {
        let documents: Vec<usize> = open
            .view
            .by_zelo
            .iter()
            .copied()
            .filter(|document| open.standing(*document).is_some())
            .take(FIRST)
            .collect();
        let axis = documents
            .iter()
            .filter_map(|document| open.standing(*document))
            .fold(
                (f64::INFINITY, f64::NEG_INFINITY),
                |(low, high), standing| {
                    let reach = WITHIN_95 * standing.se.unwrap_or(0.0);
                    (
                        low.min(standing.zelo - reach),
                        high.max(standing.zelo + reach),
                    )
                },
            );
        Self {
            open,
            documents,
            axis,
        }
    }

    /// One document per row.
    fn rows(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        for (document, row) in self.documents.iter().zip(area.rows()) {
            let [words, _, plot, _, moved] = Layout::horizontal([
                Constraint::Fill(1),
                Constraint::Length(1),
                Constraint::Length(PLOT),
                Constraint::Length(1),
                Constraint::Length(MOVED),
            ])
            .areas(row);
            self.name(*document, theme, words, buf);
            self.plot(*document, theme, plot, buf);
            self.moved(*document, theme).render(moved, buf);
        }
    }

    /// Two documents in one row.
    fn pair(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let [left, _, right] = Layout::horizontal([
            Constraint::Fill(1),
            Constraint::Length(2),
            Constraint::Fill(1),
        ])
        .areas(area);
        for (document, half) in self.documents.iter().zip([left, right]) {
            let [words, _, plot] = Layout::horizontal([
                Constraint::Fill(1),
                Constraint::Length(1),
                Constraint::Length(SMALL_PLOT),
            ])
            .areas(half);
            self.name(*document, theme, words, buf);
            self.plot(*document, theme, plot, buf);
        }
    }

    fn name(&self, document: usize, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let standing = self.open.standing(document);
        let rank = standing.map_or(String::new(), |standing| standing.rank.to_string());
        let room = usize::from(area.width.saturating_sub(RANK));
        let title = self.open.headline(document);
        Line::from(vec![
            Span::styled(format!("{rank:<2} "), theme.strong()),
            Span::raw(text::truncate(&title, room).into_owned()),
        ])
        .render(area, buf);
    }

    fn plot(&self, document: usize, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let standing = self.open.standing(document);
        let score = standing.and_then(|standing| Some((standing.zelo, standing.se?)));
        let columns = usize::from(area.width);
        heatmap::interval_plot(theme, (area.x, area.y), columns, score, self.axis, buf);
    }

    /// The ranks that it gained over the hybrid order of the documents with a score.
    fn moved(&self, document: usize, theme: &Theme) -> Line<'static> {
        let rank = self.open.standing(document).map(|standing| standing.rank);
        let entered = self.open.view.entered();
        let place = entered.iter().position(|at| *at == document);
        let words = match rank.zip(place.map(|place| place + 1)) {
            Some((rank, before)) => match before.cmp(&rank) {
                Ordering::Greater => format!("▲{}", before - rank),
                Ordering::Less => format!("▼{}", rank - before),
                Ordering::Equal => "=".to_owned(),
            },
            None => String::new(),
        };
        text::line(&words, usize::from(MOVED), theme.muted())
    }
}

/// Noteworthy facts about the query, one sentence each.
fn unusual(open: &OpenQuery, summary: Option<&QuerySummary>) -> Vec<String> {
    let key = |command| key_on(command, Screen::MATRIX);
    let number = |of: fn(&QuerySummary) -> usize| summary.map(of).filter(|number| *number > 0);
    let (cyclic, triads) = open.view.triads;
    let surprises = open
        .view
        .battles
        .iter()
        .filter(|battle| (battle.surprise).is_some_and(|sigmas| sigmas.abs() >= SURPRISING))
        .count();
    let warnings = open
        .view
        .warnings
        .iter()
        .map(|warning| warning.words(|document| open.name(document)));
    [
        number(|summary| summary.missing)
            .map(|count| format!("{} missing", counted(count, "vote"))),
        number(|summary| summary.failures).map(|count| counted(count, "failed call")),
        (cyclic > 0).then(|| {
            format!(
                "{} in {} ({} on the matrix)",
                counted(cyclic, "cycle"),
                counted(triads, "decided triad"),
                key(Command::ShowCycles)
            )
        }),
        votes_at_the_cut(open),
        (surprises > 0).then(|| {
            format!(
                "{} at least {SURPRISING:.0} σ from the fit ({} on the matrix)",
                counted(surprises, "battle"),
                key(Command::NextSurprise)
            )
        }),
    ]
    .into_iter()
    .flatten()
    .chain(warnings)
    .collect()
}

/// How the votes on the two documents at the cutoff are split; `None` if they are not.
fn votes_at_the_cut(open: &OpenQuery) -> Option<String> {
    let top = open.top();
    let last = *open.view.by_zelo.get(top.checked_sub(1)?)?;
    let pair = at_the_cut(&open.view, top)?;
    let (mut for_last, mut for_next) = (0, 0);
    for index in open.view.battles_of(pair) {
        let record = &open.view.rows().battles[*index];
        let sign = if record.battle.b == last { 1.0 } else { -1.0 };
        for vote in &record.votes {
            let margin = sign * vote.margin.get();
            for_last += usize::from(margin > 0.0);
            for_next += usize::from(margin < 0.0);
        }
    }
    let next = top + 1;
    (for_last > 0 && for_next > 0).then(|| {
        format!("votes at the cut are split: {for_last} for rank {top}, {for_next} for rank {next}")
    })
}

/// The main numbers of a query, most important first.
fn facts(model: &Model, info: &QueryInfo, summary: Option<&QuerySummary>) -> Vec<String> {
    match summary {
        None => vec!["counting …".to_owned()],
        Some(summary) if summary.battles == 0 => vec![format!(
            "{}, not judged yet: {} starts the run, {} opens adjudication.",
            counted(info.documents, "document"),
            key_on(Command::StartRun, Screen::QUERIES),
            key_on(Command::ShowAdjudication, Screen::QUERIES)
        )],
        Some(summary) => {
            let relevant = model.scale.query_words(&info.id);
            let open = preview::read_already(model, info.key);
            relevant
                .into_iter()
                .chain(summary_parts(summary))
                .chain(open.and_then(OpenQuery::small_pool))
                .collect()
        }
    }
}

fn summary_parts(summary: &QuerySummary) -> Vec<String> {
    let top = summary.top;
    let progress = (summary.fought < summary.battles).then(|| {
        format!(
            "{} of {} battles fought",
            text::count(summary.fought),
            text::count(summary.battles)
        )
    });
    let settled = summary.settled.map(|sure| {
        let words = match summary.least_to_settle() {
            _ if summary.stop => "settled".to_owned(),
            Some(battles) => format!("not settled: at least {}", counted(battles, "more battle")),
            None if summary.is_stuck() => {
                "not settled; more battles at the cut are unlikely to help".to_owned()
            }
            None => "not settled".to_owned(),
        };
        format!("P(top {top} right) {}, {words}", text::probability(sure))
    });
    let widest = summary.widest.filter(|_| summary.judged > 0).map(|ranks| {
        format!(
            "widest 95 % interval in the top {top}: {}",
            counted(ranks, "rank")
        )
    });
    let unanimous = (summary.judged > 0).then(|| {
        let (alike, all) = (summary.unanimous, summary.judged);
        format!("judges unanimous on {alike} of {all}")
    });
    let cycles = (summary.triads > 0)
        .then(|| format!("{} of {} triads cyclic", summary.cyclic, summary.triads));
    let missing =
        (summary.missing > 0).then(|| format!("{} missing", counted(summary.missing, "vote")));
    let verdicts = (summary.verdicts > 0).then(|| counted(summary.verdicts, "verdict"));
    [
        progress, settled, widest, unanimous, cycles, missing, verdicts,
    ]
    .into_iter()
    .flatten()
    .collect()
}
