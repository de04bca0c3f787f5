//! Draws the judges' reasoning on the selected battle.

use crate::domain::battle::Pair;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::calls::{self, QuoteTexts};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{folded_page, heading};
use ratatui::text::Line;

/// Draws the reasoning on a battle, one judge after the other; returns the number of lines and the
/// number that fits.
pub(super) fn render(
    model: &Model,
    open: &OpenQuery,
    index: Option<usize>,
    canvas: Canvas<'_>,
) -> (usize, usize) {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    let top = cut(&mut rest, 1);
    let Some((index, battle)) = index.and_then(|index| Some((index, open.battle(index)?))) else {
        heading("reasoning", false, theme, top, buf);
        return (0, 0);
    };
    let expanded = model.document().expanded;
    let columns = usize::from(area.width);
    let room = (columns / 2).saturating_sub(24).max(12);
    let one = |document: usize, name: &str| {
        let rank = open
            .standing(document)
            .map_or("not scored".to_owned(), |one| format!("rank {}", one.rank));
        let this = if document == model.document().document {
            ", this document"
        } else {
            ""
        };
        format!("{name} ({rank}{this})")
    };
    // As in the table above, A is this document.
    let pair = if battle.b == model.document().document {
        (battle.b, battle.a)
    } else {
        (battle.a, battle.b)
    };
    let names = open.names_of(pair.0, pair.1, room);
    let words = format!(
        "A {} against B {}",
        one(pair.0, &names[0]),
        one(pair.1, &names[1])
    );
    heading(&words, expanded, theme, top, buf);
    let (scroll, hint) = if expanded {
        (model.document().scroll.unwrap_or(0), String::new())
    } else {
        let key = key_on(Command::ExpandReasoning, Screen::DOCUMENT);
        (0, format!(": {key} shows all"))
    };
    let lines = lines(model, open, index, pair, theme, usize::from(rest.width));
    folded_page(lines, scroll, &hint, Canvas::new(theme, rest, buf))
}

fn overruled(open: &OpenQuery, a: usize, b: usize) -> Option<String> {
    let verdict = open.view.verdict(Pair::new(a, b)?)?;
    let words = open.decision_text(verdict.seen_from(a), a, b);
    let note = verdict.note.as_deref().map_or(String::new(), |note| {
        format!(". Reason: {}", sanitize::line(note))
    });
    Some(format!(
        "◆ verdict of {}: {words}{note}",
        sanitize::line(&verdict.annotator)
    ))
}

fn lines(
    model: &Model,
    open: &OpenQuery,
    index: usize,
    (a, b): (usize, usize),
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let texts = QuoteTexts::of(model, open, a, b);
    let mut lines = Vec::new();
    if let Some(words) = overruled(open, a, b) {
        lines.extend(text::lines(&words, columns, theme.override_mark()));
    }
    let names = open.names_of(a, b, columns / 2);
    for call in calls::of_battle(open, index, a) {
        if !lines.is_empty() && model.document().expanded {
            lines.push(Line::default());
        }
        let style = theme.judge(call.index).patch(theme.strong());
        let title = text::truncate(&call.heading(&names), columns).into_owned();
        lines.push(Line::styled(title, style));
        lines.extend(calls::reasoning_of(&call, &texts, false, theme, columns).lines);
    }
    lines
}
