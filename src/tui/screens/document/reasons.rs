//! What the judges wrote about the selected battle.

use crate::domain::battle::Pair;
use crate::domain::sanitise;
use crate::judge::OFFLINE_LABEL;
use crate::tui::model::{Model, OpenQuery};
use crate::tui::screens::battle::calls::{self, QuoteTexts};
use crate::tui::screens::document::prose;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Draws the reasoning of a battle, one judge after the other; returns the lines there are and how many fit.
pub(super) fn render(
    model: &Model,
    open: &OpenQuery,
    index: Option<usize>,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
) -> (usize, usize) {
    let mut rest = area;
    let top = super::cut(&mut rest, 1);
    let Some(battle) = index.and_then(|index| Some(open.view.rows().battles.get(index)?.battle))
    else {
        prose::heading("reasoning", false, theme, top, buf);
        return (0, 0);
    };
    let this = |document: usize| {
        if document == model.document.document {
            ", this document"
        } else {
            ""
        }
    };
    let one = |document: usize| {
        format!(
            "{} ({}{})",
            open.name(document),
            rank(open, document),
            this(document)
        )
    };
    let words = format!("A {} against B {}", one(battle.a), one(battle.b));
    prose::heading(&words, model.document.expanded, theme, top, buf);
    let page = usize::from(rest.height);
    let scroll = if model.document.expanded {
        model.document.scroll
    } else {
        0
    };
    let lines = lines(
        model,
        open,
        index.unwrap_or(0),
        (battle.a, battle.b),
        theme,
        usize::from(rest.width),
    );
    let total = lines.len();
    let first = scroll.min(total.saturating_sub(page));
    let mut shown: Vec<Line<'static>> = lines.into_iter().skip(first).take(page).collect();
    let hidden = total.saturating_sub(first + page);
    if hidden > 0 && page > 1 {
        shown.pop();
        let how = if model.document.expanded {
            ""
        } else {
            ": e shows all"
        };
        shown.push(Line::styled(
            format!("… {} more lines{how}", hidden + 1),
            theme.muted(),
        ));
    }
    Paragraph::new(shown).render(rest, buf);
    (total, page)
}

/// The verdict in force on the pair.
fn overruled(open: &OpenQuery, a: usize, b: usize) -> Option<String> {
    let verdict = open.view.verdict(Pair::new(a, b)?)?;
    let decision = if verdict.a == a {
        verdict.decision
    } else {
        verdict.decision.flipped()
    };
    let words = decision.words(
        &format!("A {}", open.name(a)),
        &format!("B {}", open.name(b)),
    );
    let note = verdict.note.as_deref().map_or(String::new(), |note| {
        format!(". Reason: {}", sanitise::line(note))
    });
    Some(format!(
        "◆ verdict of {}: {words}{note}",
        sanitise::line(&verdict.annotator)
    ))
}

fn rank(open: &OpenQuery, document: usize) -> String {
    let standing = open.view.standings.get(document).copied().flatten();
    standing.map_or("not scored".to_owned(), |standing| {
        format!("rank {}", standing.rank)
    })
}

fn lines(
    model: &Model,
    open: &OpenQuery,
    index: usize,
    (a, b): (usize, usize),
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let query = open.info.text.as_str();
    let prose = [a, b].map(|document| {
        open.texts
            .get(&document)
            .map(|source| model.layouts.prose(source, query))
    });
    let texts = QuoteTexts {
        a: prose[0].as_deref(),
        b: prose[1].as_deref(),
        query,
    };
    let mut lines = Vec::new();
    if model.document.expanded && open.offline() {
        lines.push(Line::styled(OFFLINE_LABEL, theme.warn()));
    }
    if let Some(words) = overruled(open, a, b) {
        lines.extend(calls::wrapped(&words, &[], columns, theme.override_mark()));
    }
    for call in calls::of_battle(open, index, a) {
        if !lines.is_empty() && model.document.expanded {
            lines.push(Line::default());
        }
        let mut title = vec![Span::styled(
            call.summary(),
            theme.judge(call.index).patch(theme.strong()),
        )];
        if call.b_first == Some(true) {
            title.push(Span::styled(" · saw B first, re-labelled", theme.muted()));
        }
        lines.push(Line::from(title));
        lines.extend(calls::reasoning_of(&call, &texts, false, theme, columns).lines);
    }
    lines
}
