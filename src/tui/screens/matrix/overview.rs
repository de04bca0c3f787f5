//! The overview of the query next to its matrix: whether its top is settled, cycles, the
//! distribution of its scores, and the most surprising battles.

use crate::domain::priority::{Certainty, certainty};
use crate::store::summary_cache::QuerySummary;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::TopCertainty;
use crate::tui::keymap::{Command, Scope, Screen, key_name};
use crate::tui::layout::cut;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::heading;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Maximum number of documents for which sampling a probability takes only milliseconds.
const DRAWN_AT_ONCE: usize = 120;
/// Rows of the histogram without its axis.
const HIGH: u16 = 3;
/// Rows of the block about scores.
pub(super) const BLOCK: u16 = 5 + HIGH + 2;
/// Number of surprising battles listed.
const LISTED: usize = 6;

/// The certainty of the query's top; `None` if it cannot be computed immediately.
fn top_certainty<'a>(known: &'a mut TopCertainty, open: &OpenQuery) -> Option<&'a Certainty> {
    if open.view.entered().len() > DRAWN_AT_ONCE {
        return None;
    }
    let mut hash = DefaultHasher::new();
    (open.info.key, open.top(), open.view.phi.to_bits()).hash(&mut hash);
    let stamp = open.view.grid().map(|grid| grid.stamp());
    (stamp, open.view.covariance().is_some()).hash(&mut hash);
    for score in open.scores() {
        score.map(f64::to_bits).hash(&mut hash);
    }
    let stamp = Some(hash.finish());
    if known.stamp != stamp {
        known.stamp = stamp;
        known.certainty = certainty(&open.view, open.top());
    }
    known.certainty.as_ref()
}

/// Confidence level at which a top counts as settled.
const SURE: f64 = 0.95;

/// The probability that the top is right, and whether it is settled: computed for small pools, and
/// cached with the list of queries for large ones.
fn top_standing(
    open: &OpenQuery,
    known: &mut TopCertainty,
    kept: Option<&QuerySummary>,
) -> Option<(f64, bool)> {
    if let Some(found) = top_certainty(known, open) {
        return Some((found.probability, found.settled(SURE)));
    }
    let kept = kept.filter(|kept| kept.top == open.top())?;
    Some((kept.settled?, kept.stop))
}

pub(super) fn render(
    open: &OpenQuery,
    known: &mut TopCertainty,
    kept: Option<&QuerySummary>,
    canvas: Canvas<'_>,
) {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    heading("this query", false, theme, cut(&mut rest, 1), buf);
    let columns = usize::from(rest.width);
    if open.view.pairs().next().is_none() {
        text::line("no battle yet", columns, theme.muted()).render(rest, buf);
        return;
    }
    let key = |command| key_name(command, Scope::Screen(Screen::MATRIX));
    let top = open.top();
    let mut facts = Vec::new();
    if let Some((probability, settled)) = top_standing(open, known, kept) {
        let words = if settled { "settled" } else { "not settled" };
        let style = if settled { theme.good() } else { theme.warn() };
        let lead = format!("P(top {top} right) {} · ", text::probability(probability));
        facts.push(Line::from(vec![
            Span::styled(lead, theme.strong()),
            Span::styled(words, style),
        ]));
    }
    if let Some(words) = open.small_pool() {
        facts.extend(text::lines(&words, columns, theme.muted()));
    }
    let (cyclic, all) = open.view.triads;
    let cycles = match cyclic {
        0 => format!("no cycle in {}", counted(all, "decided triad")),
        cyclic => format!(
            "{} ({}) in {}",
            counted(cyclic, "cycle"),
            key(Command::ShowCycles),
            counted(all, "decided triad")
        ),
    };
    facts.push(text::line(&cycles, columns, Style::new()));
    let (alike, several) = open.view.consensus;
    let words = format!("unanimous on {alike} of {}", counted(several, "battle"));
    facts.push(text::line(&words, columns, Style::new()));
    let lines = facts.len() as u16;
    Paragraph::new(facts).render(cut(&mut rest, lines), buf);
    cut(&mut rest, 1);
    distribution(open, Canvas::new(theme, cut(&mut rest, HIGH + 2), buf));
    cut(&mut rest, 1);
    surprises(
        open,
        &key(Command::NextSurprise),
        Canvas::new(theme, rest, buf),
    );
}

/// Draws the scores as a histogram over their range.
fn distribution(open: &OpenQuery, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let scores: Vec<f64> = open.scores().into_iter().flatten().collect();
    let (low, high) = scores
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), score| {
            (low.min(*score), high.max(*score))
        });
    if scores.len() < 2 || high <= low || area.height < HIGH + 2 {
        return;
    }
    let mut rest = area;
    let words = format!("zELO of {} documents", scores.len());
    text::line(&words, usize::from(area.width), theme.muted()).render(cut(&mut rest, 1), buf);
    let bins = usize::from(area.width).clamp(1, 48);
    let bin = |score: f64| {
        let place = (score - low) / (high - low) * bins as f64;
        (place as usize).min(bins - 1)
    };
    let mut counts = vec![0usize; bins];
    for score in &scores {
        counts[bin(*score)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let picture = cut(&mut rest, HIGH);
    histogram(&counts, most, theme, picture, buf);
    let zero = (low < 0.0 && high > 0.0).then(|| bin(0.0));
    let axis = text::axis_ends(&text::signed(low, 1), &text::signed(high, 1), zero, bins);
    text::line(&axis, usize::from(area.width), theme.muted()).render(cut(&mut rest, 1), buf);
}

fn histogram(
    counts: &[usize],
    most: usize,
    theme: &Theme,
    area: Rect,
    buf: &mut ratatui::buffer::Buffer,
) {
    const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let levels = usize::from(area.height) * 8;
    for (x, count) in (area.left()..area.right()).zip(counts) {
        let level = (count * levels).div_ceil(most);
        for (from_bottom, y) in (area.top()..area.bottom()).rev().enumerate() {
            let part = level.saturating_sub(from_bottom * 8).min(8);
            buf.set_stringn(x, y, EIGHTHS[part], 1, theme.bar_fill());
        }
    }
}

/// Draws the battles that the fit did not expect, most surprising first.
fn surprises(open: &OpenQuery, key: &str, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let surprising = open.view.most_surprising();
    if area.height < 4 || surprising.is_empty() {
        return;
    }
    let mut rest = area;
    let words = format!("most surprising battles · {key} next");
    heading(&words, false, theme, cut(&mut rest, 1), buf);
    let listed = surprising.iter().take(LISTED).zip(rest.rows());
    for (index, row) in listed {
        let Some(battle) = open.battle(*index) else {
            continue;
        };
        let surprise = open.view.battles[*index].surprise.unwrap_or(0.0);
        // The side that did better than expected comes first.
        let (better, other) = if surprise > 0.0 {
            (battle.b, battle.a)
        } else {
            (battle.a, battle.b)
        };
        let rank = |document| {
            let standing = open.standing(document);
            standing.map_or_else(|| "–".to_owned(), |standing| standing.rank.to_string())
        };
        let words = format!(
            "{:.1} σ to rank {} against rank {} · {}",
            surprise.abs(),
            rank(better),
            rank(other),
            open.headline(better)
        );
        let style = if surprise.abs() >= 2.0 {
            theme.warn()
        } else {
            Style::new()
        };
        text::line(&words, usize::from(row.width), style).render(row, buf);
    }
}
