//! Draws two documents side by side, the judges' reasoning, and the person's verdict.

use super::calls::{self, QuoteTexts, Reasoning};
use super::{judges, numbers, panel, rank_changes, texts};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{heading, notice};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::ops::Range;

/// Minimum width for showing the judges next to the texts instead of below.
const WIDE: u16 = 150;
/// Maximum number of calls whose quotes are looked up per frame.
const QUOTING: usize = 12;
/// Below this height, the texts have priority over everything else.
const SMALL: u16 = 18;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    view_with(model, Canvas::new(theme, area, buf), None, &|columns| {
        let open = model.open.as_ref();
        open.map_or(Vec::new(), |open| panel::lines(model, open, theme, columns))
    })
}

/// Draws the screen with a different verdict panel, which receives the number of columns, and a
/// different line below the query.
pub(crate) fn view_with(
    model: &Model,
    canvas: Canvas<'_>,
    headline: Option<String>,
    panel: &dyn Fn(usize) -> Vec<Line<'static>>,
) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let mut areas = Areas::default();
    let Some(open) = &model.open else {
        notice("loading …", theme, rest, buf);
        return areas;
    };
    let (a, b) = (model.battle.a, model.battle.b);
    if model.battle.pair().is_none() || a.max(b) >= open.documents.len() {
        notice("no such pair in this query", theme, rest, buf);
        return areas;
    }
    let height = rest.height;
    let top = cut(&mut rest, 2);
    let wide = area.width >= WIDE;
    let (pair, mut side) = if wide {
        let [pair, _, side] = Layout::horizontal([
            Constraint::Fill(2),
            Constraint::Length(2),
            Constraint::Length((rest.width / 3).min(72)),
        ])
        .areas(rest);
        (pair, side)
    } else {
        (rest, rest)
    };
    let titled = headline.is_none();
    head(
        model,
        open,
        headline,
        pair.width,
        Canvas::new(theme, top, buf),
    );
    let columns = usize::from(side.width);
    let figures = numbers::lines(open, a, b, theme, columns);
    let panel = panel(columns);
    let most = |lines: &[Line<'_>], share: u16| (lines.len() as u16).min((height / share).max(1));
    let (figures_rows, panel_rows) = if wide {
        (figures.len() as u16, panel.len() as u16 + 1)
    } else {
        // After a blind verdict, the panel lists the available actions.
        let share = match model.screen() {
            Screen::REVIEW => 3,
            _ => 5,
        };
        if height < SMALL {
            // The texts get half of the rows, and the footer shows the keys. After a blind verdict,
            // the panel needs more space.
            (1, 1 + u16::from(model.screen() == Screen::REVIEW))
        } else {
            (most(&figures, 6), most(&panel, share))
        }
    };
    let panel_area = cut_bottom(&mut side, panel_rows);
    let pair = if wide {
        pair
    } else {
        let half = (height + 2).div_ceil(2);
        let most = if height < SMALL {
            half
        } else {
            side.height.saturating_sub(figures_rows) / 2
        };
        let rows = texts::rows(model, open, side.width).min(usize::from(most)) as u16;
        cut(&mut side, rows)
    };
    Paragraph::new(figures).render(cut(&mut side, figures_rows), buf);
    if let Some(before) = &model.battle.before {
        let screen = model.screen();
        let most = match (wide, height < SMALL && screen == Screen::REVIEW) {
            // The line below the query shows the pair's rank changes.
            (false, true) => 0,
            (false, false) => side.height * 3 / 5,
            (true, _) => side.height / 2,
        };
        let rows = rank_changes::rows(open, before, (a, b), most);
        let area = if wide {
            cut_bottom(&mut side, rows)
        } else {
            cut(&mut side, rows)
        };
        if rows > 0 {
            let canvas = Canvas::new(theme, area, buf);
            rank_changes::render(open, before, (a, b), screen, canvas);
        }
    }
    let (reasoning, shown) = chosen_reasoning(model, open, theme, usize::from(side.width));
    let judged = judges::render(
        model,
        open,
        &shown,
        &reasoning,
        Canvas::new(theme, side, buf),
    );
    areas.aside = judged;
    let canvas = Canvas::new(theme, pair, buf);
    let quotes = texts::Quotes {
        chosen: &reasoning.found,
        others: &quoted_by_others(model, open, &shown),
    };
    texts::render(model, open, &quotes, titled, &mut areas, canvas);
    if wide {
        let mut below = panel_area;
        heading("your verdict", false, theme, cut(&mut below, 1), buf);
        let rows = usize::from(below.height);
        Paragraph::new(text::clipped(panel, columns, rows)).render(below, buf);
    } else {
        let rows = usize::from(panel_area.height);
        Paragraph::new(text::clipped(panel, columns, rows)).render(panel_area, buf);
    }
    areas
}

/// The reasoning of the chosen judge, with quotes looked up in both texts, and all calls on the
/// pair.
fn chosen_reasoning<'a>(
    model: &Model,
    open: &'a OpenQuery,
    theme: &Theme,
    columns: usize,
) -> (Reasoning, Vec<calls::JudgeCall<'a>>) {
    let (a, b) = (model.battle.a, model.battle.b);
    let shown = calls::of_pair(open, a, b);
    let texts = QuoteTexts::of(model, open, a, b);
    let reasoning = shown
        .get(model.battle.judge.min(shown.len().saturating_sub(1)))
        .map_or_else(Reasoning::default, |call| {
            calls::reasoning_of(call, &texts, model.battle.raw, theme, columns)
        });
    (reasoning, shown)
}

/// Quotes from A and from B by the judges whose reasoning is not shown.
fn quoted_by_others(
    model: &Model,
    open: &OpenQuery,
    shown: &[calls::JudgeCall<'_>],
) -> [Vec<Range<usize>>; 2] {
    let texts = QuoteTexts::of(model, open, model.battle.a, model.battle.b);
    let chosen = model.battle.judge.min(shown.len().saturating_sub(1));
    let mut found = [Vec::new(), Vec::new()];
    for (at, call) in shown.iter().enumerate().take(QUOTING) {
        if at != chosen {
            let [in_a, in_b] = calls::quoted(call, &texts);
            found[0].extend(in_a);
            found[1].extend(in_b);
        }
    }
    found
}

/// Draws the query and, below it, the most important information: `headline`, or both titles above
/// the texts, which have `pair` columns together, or else the names.
fn head(model: &Model, open: &OpenQuery, headline: Option<String>, pair: u16, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let columns = usize::from(area.width);
    let query = sanitize::line(&open.info.text);
    let query = Line::from(vec![
        Span::styled("query ", theme.muted()),
        Span::raw(text::truncate(&query, columns.saturating_sub(6))),
    ]);
    let (a, b) = (model.battle.a, model.battle.b);
    let titles = [a, b].map(|document| texts::title(open, document));
    if headline.is_none() && titles.iter().any(Option::is_some) {
        query.render(area, buf);
        let [left, _, right] = texts::split(Rect {
            width: pair,
            ..area
        });
        for ((letter, title), side) in ["A", "B"].into_iter().zip(titles).zip([left, right]) {
            let title = title.unwrap_or_else(|| "no title".to_owned());
            let words = format!("{letter}  {title}");
            let words = text::truncate(&words, usize::from(side.width));
            let row = side.rows().nth(1).unwrap_or_default();
            Line::styled(words, theme.strong()).render(row, buf);
        }
        return;
    }
    let named = |document: usize| match open.standing(document) {
        Some(standing) => format!("{} (rank {})", open.name(document), standing.rank),
        None => format!("{} (not scored)", open.name(document)),
    };
    let words = headline.unwrap_or_else(|| format!("A {} against B {}", named(a), named(b)));
    let words = Line::styled(text::truncate(&words, columns), theme.strong());
    Paragraph::new(vec![query, words]).render(area, buf);
}
