//! The columns of the list of queries, with their headers.

use crate::store::summary_cache::QuerySummary;
use crate::tui::model::queries::{QueriesState, QuerySort};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::gauge::gauge;
use ratatui::style::Style;
use ratatui::text::Span;

/// Cells of the bars for progress and for the widest interval.
const BAR: usize = 6;

/// Minimum screen width for showing headers in full.
const WIDE: u16 = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Documents,
    Battles,
    TopRight,
    ToSettle,
    Widest,
    Consensus,
    Cycles,
    Missing,
    Failed,
    Verdicts,
}

impl Column {
    pub(super) const ALL: [Self; 10] = [
        Self::Documents,
        Self::Battles,
        Self::TopRight,
        Self::ToSettle,
        Self::Widest,
        Self::Consensus,
        Self::Cycles,
        Self::Missing,
        Self::Failed,
        Self::Verdicts,
    ];

    /// Its header, its width, and the minimum screen width at which it is shown.
    fn shape(self) -> (&'static str, usize, u16) {
        match self {
            Self::Documents => ("docs", 5, 100),
            Self::Battles => ("battles", 16, 0),
            Self::TopRight => ("P(top k right)", 16, 0),
            Self::ToSettle => ("to settle", 10, 70),
            Self::Widest => ("widest", 10, 100),
            Self::Consensus => ("consensus", 10, 130),
            Self::Cycles => ("cycles", 9, 140),
            Self::Missing => ("missing", 8, 100),
            Self::Failed => ("failed", 7, 80),
            Self::Verdicts => ("verdicts", 9, 80),
        }
    }

    fn sort(self) -> Option<QuerySort> {
        match self {
            Self::Documents | Self::ToSettle | Self::Missing => None,
            Self::Battles => Some(QuerySort::Fought),
            Self::TopRight => Some(QuerySort::Settled),
            Self::Widest => Some(QuerySort::Widest),
            Self::Consensus => Some(QuerySort::Consensus),
            Self::Cycles => Some(QuerySort::Cycles),
            Self::Failed => Some(QuerySort::Failed),
            Self::Verdicts => Some(QuerySort::Verdicts),
        }
    }

    /// The columns shown at this width that contain something other than 0 or a full bar; the sort
    /// key is always among them.
    pub(super) fn shown(width: u16, queries: &QueriesState) -> Vec<Self> {
        Self::ALL
            .into_iter()
            .filter(|column| {
                width >= column.shape().2 && column.says_something(queries)
                    || column.sort() == Some(queries.sort)
            })
            .collect()
    }

    fn says_something(self, queries: &QueriesState) -> bool {
        let totals = queries.totals();
        match self {
            Self::Battles => totals.unfought,
            Self::ToSettle => queries.nearest().is_some(),
            Self::Missing => totals.missing > 0,
            Self::Failed => totals.failures > 0,
            Self::Verdicts => totals.verdicts > 0,
            Self::Documents | Self::TopRight | Self::Widest | Self::Consensus | Self::Cycles => {
                true
            }
        }
    }

    /// Its width on a screen of this width.
    pub(super) fn width(self, screen: u16) -> usize {
        match self {
            Self::TopRight if screen < WIDE => 11,
            _ => self.shape().1,
        }
    }

    /// The header, with an arrow if the rows are sorted by it: `▼` if the largest is on top. The
    /// header names k of the project's top; small pools have a smaller one.
    pub(super) fn header(
        self,
        queries: &QueriesState,
        screen: u16,
        theme: &Theme,
    ) -> Span<'static> {
        let width = self.width(screen);
        let name = match self {
            Self::TopRight => {
                let k = queries
                    .totals()
                    .top
                    .map_or("k".to_owned(), |top| top.to_string());
                let right = if screen < WIDE { "" } else { " right" };
                format!("P(top {k}{right})")
            }
            _ => self.shape().0.to_owned(),
        };
        if self.sort() != Some(queries.sort) {
            return Span::styled(text::pad_left(&name, width), theme.muted());
        }
        let arrow = if queries.largest_first() {
            "▼"
        } else {
            "▲"
        };
        Span::styled(
            text::pad_left(&format!("{arrow}{name}"), width),
            theme.strong(),
        )
    }

    pub(super) fn cell(
        self,
        documents: usize,
        summary: Option<&QuerySummary>,
        screen: u16,
        theme: &Theme,
    ) -> Vec<Span<'static>> {
        let width = self.width(screen);
        let right =
            |words: String, style: Style| vec![Span::styled(text::pad_left(&words, width), style)];
        if self == Self::Documents {
            return right(text::count(documents), Style::new());
        }
        let Some(summary) = summary else {
            return right("…".to_owned(), theme.muted());
        };
        let none = || right("–".to_owned(), theme.faint());
        let number = |count: usize, style: Style| match count {
            0 => right("0".to_owned(), theme.faint()),
            _ => right(text::count(count), style),
        };
        let bar = |share: f64, figure: String, fill: Style| {
            let mut spans = vec![Span::raw(" ")];
            spans.extend(gauge(share, BAR, fill, theme));
            spans.push(Span::raw(text::pad_left(&figure, width - BAR - 1)));
            spans
        };
        match self {
            Self::Battles if summary.battles == 0 => right("not run".to_owned(), theme.muted()),
            Self::Battles => bar(
                summary.fought as f64 / summary.battles as f64,
                format!("{}/{}", summary.fought, summary.battles),
                theme.bar_fill(),
            ),
            Self::TopRight => match summary.settled {
                None => none(),
                Some(sure) if summary.stop => {
                    right(format!("✓ {}", text::probability(sure)), theme.good())
                }
                Some(sure) => right(text::probability(sure), Style::new()),
            },
            Self::ToSettle => match summary.least_to_settle() {
                Some(battles) => right(format!("≥ {}", text::count(battles)), Style::new()),
                None if summary.is_stuck() => right("unlikely".to_owned(), theme.muted()),
                None => none(),
            },
            Self::Widest if summary.judged == 0 => none(),
            Self::Widest => summary.widest.map_or_else(none, |ranks| {
                bar(
                    ranks as f64 / documents.max(1) as f64,
                    ranks.to_string(),
                    theme.warn(),
                )
            }),
            Self::Consensus => summary.consensus().map_or_else(none, |share| {
                right(format!("{:.0} %", 100.0 * share), Style::new())
            }),
            Self::Cycles if summary.triads == 0 => none(),
            Self::Cycles => right(
                format!("{}/{}", summary.cyclic, summary.triads),
                Style::new(),
            ),
            Self::Missing => number(summary.missing, theme.warn()),
            Self::Failed => number(summary.failures, theme.bad()),
            Self::Verdicts | Self::Documents => number(summary.verdicts, theme.override_mark()),
        }
    }
}
