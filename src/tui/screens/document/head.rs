//! Draws the document's name and position.

use crate::domain::ranking::ScoreWarning;
use crate::domain::sanitize;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::metadata::all_words;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

const BAR: usize = 24;

pub(super) fn lines(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let document = model.document().document;
    let name = open.name(document);
    let room = columns.saturating_sub(text::width(&name) + 2);
    let fitted = |words: &str, style: Style| text::line(words, columns, style);
    let query = sanitize::line(&open.info.text);
    let mut place = vec![Span::styled(place(open, document, columns), theme.strong())];
    let used = text::width(&place[0].content);
    if columns >= used + BAR + 14 {
        place.extend(bar(open, document, theme));
    }
    let linked = open.standing(document).and_then(|standing| {
        let scale = &model.scale;
        scale.document_words(&open.info.id, standing.zelo, standing.se)
    });
    let mut lines = vec![
        Line::from(vec![
            Span::styled("query ", theme.muted()),
            Span::raw(text::truncate(&query, columns.saturating_sub(6)).into_owned()),
        ]),
        Line::from(vec![
            Span::styled(name, theme.strong()),
            Span::raw(format!(
                "  {}",
                text::truncate(&open.headline(document), room)
            )),
        ]),
        Line::from(place),
        fitted(
            &format!(
                "{} · hybrid rank {}",
                open.label(document).words(),
                document + 1
            ),
            theme.muted(),
        ),
    ];
    let metadata = open.documents.get(document);
    let metadata = metadata.map_or(String::new(), |document| all_words(&document.metadata));
    if !metadata.is_empty() {
        lines.push(fitted(&metadata, theme.text()));
    }
    lines.extend(linked.map(|words| fitted(&words, theme.text())));
    lines.extend(warnings(open, document).map(|words| fitted(&format!("! {words}"), theme.warn())));
    lines
}

/// Rank and score with their known errors; the simultaneous interval only if there is room for it.
fn place(open: &OpenQuery, document: usize, columns: usize) -> String {
    let whole = standing_words(open, document, true);
    if text::width(&whole) <= columns {
        return whole;
    }
    let short = standing_words(open, document, false);
    text::truncate(&short, columns).into_owned()
}

fn standing_words(open: &OpenQuery, document: usize, at_once: bool) -> String {
    let Some(standing) = open.standing(document) else {
        return match &open.view.fit {
            Err(error) => format!("not scored: {error}"),
            Ok(_) => "not scored: it is in no battle yet".to_owned(),
        };
    };
    let entered = open.view.standings.iter().flatten().count();
    let tied = open
        .view
        .standings
        .iter()
        .flatten()
        .filter(|other| other.rank == standing.rank)
        .count();
    let tie = if tied > 1 {
        format!(", tied with {} more", tied - 1)
    } else {
        String::new()
    };
    let interval = match standing.interval {
        Some(interval) if at_once => format!(
            " ({interval}; all at once {}–{})",
            interval.low_at_once, interval.high_at_once
        ),
        Some(interval) => format!(" ({interval})"),
        None => " (no interval)".to_owned(),
    };
    let se = standing
        .se
        .map_or(" (error unknown)".to_owned(), |se| format!(" ± {se:.2} SE"));
    format!(
        "rank {}{interval} of {entered}{tie} · zELO {}{se}",
        standing.rank,
        text::signed(standing.zelo, 2)
    )
}

/// The score on the query's scale, with its standard error as a thick line:
/// `  worst ┄┄┄━●━┄┄ best`.
fn bar(open: &OpenQuery, document: usize, theme: &Theme) -> Vec<Span<'static>> {
    let Some(here) = open.standing(document) else {
        return Vec::new();
    };
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for standing in open.view.standings.iter().flatten() {
        let se = standing.se.unwrap_or(0.0);
        low = low.min(standing.zelo - se);
        high = high.max(standing.zelo + se);
    }
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let at = |value: f64| {
        (((value - low) / span) * (BAR - 1) as f64)
            .round()
            .clamp(0.0, (BAR - 1) as f64) as usize
    };
    let (middle, se) = (at(here.zelo), here.se.unwrap_or(0.0));
    let (from, to) = (at(here.zelo - se), at(here.zelo + se));
    let stretch = |glyph: &str, count: usize| glyph.repeat(count);
    vec![
        Span::styled("  worst ", theme.muted()),
        Span::styled(stretch("┄", from), theme.bar_back()),
        Span::styled(stretch("━", middle - from), theme.bar_fill()),
        Span::styled("●", theme.accent()),
        Span::styled(stretch("━", to - middle), theme.bar_fill()),
        Span::styled(stretch("┄", BAR - 1 - to), theme.bar_back()),
        Span::styled(" best", theme.muted()),
    ]
}

/// The view's warnings about this document.
fn warnings(open: &OpenQuery, document: usize) -> impl Iterator<Item = String> {
    open.view.warnings.iter().filter_map(move |warning| {
        let own = |documents: &Vec<usize>| documents.contains(&document).then(|| vec![document]);
        let warning = match warning {
            ScoreWarning::NotConnected(documents) => ScoreWarning::NotConnected(own(documents)?),
            ScoreWarning::Isolated(documents) => ScoreWarning::Isolated(own(documents)?),
            ScoreWarning::Undefeated(documents) => ScoreWarning::Undefeated(own(documents)?),
            ScoreWarning::Winless(documents) => ScoreWarning::Winless(own(documents)?),
            ScoreWarning::NotConverged(_)
            | ScoreWarning::TooLargeForErrors(_)
            | ScoreWarning::WeakSignal { .. }
            | ScoreWarning::ManyTies { .. } => warning.clone(),
        };
        Some(warning.words(|_| "this document".to_owned()))
    })
}
