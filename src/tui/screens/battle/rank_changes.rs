//! The rank changes after the last verdict, with the old ranks.

use crate::tui::canvas::Canvas;
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::cut;
use crate::tui::model::battle::RankingBefore;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::heading;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::cmp::Ordering;

/// The pair first, then all other documents whose rank changed, by new rank.
fn listed(open: &OpenQuery, before: &RankingBefore, a: usize, b: usize) -> Vec<usize> {
    let ranks = open.ranks();
    let rank_before = |document: usize| before.ranks.get(document).copied().flatten();
    let others = open.view.by_zelo.iter().copied().filter(|document| {
        *document != a
            && *document != b
            && ranks.get(*document).copied().flatten() != rank_before(*document)
    });
    [a, b].into_iter().chain(others).collect()
}

/// Number of rows for heading and list, at most `most`; a single sentence if nothing moved and the
/// pair does not fit.
pub(super) fn rows(
    open: &OpenQuery,
    before: &RankingBefore,
    (a, b): (usize, usize),
    most: u16,
) -> u16 {
    let any = any(open, before);
    let rows = listed(open, before, a, b).len() as u16 + u16::from(!any) + 1;
    if rows > most && !any {
        most.min(2)
    } else {
        rows.min(most)
    }
}

fn any(open: &OpenQuery, before: &RankingBefore) -> bool {
    open.ranks() != before.ranks
}

pub(super) fn render(
    open: &OpenQuery,
    before: &RankingBefore,
    (a, b): (usize, usize),
    screen: Screen,
    canvas: Canvas<'_>,
) {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    let key = |command| key_on(command, screen);
    let change = &before.change;
    let redo = format!("{} redoes it", key(Command::Redo));
    let undo = format!("{} undoes it", key(Command::Undo));
    let words = if before.taken_back {
        format!("what changed · {redo} · {change}")
    } else {
        format!(
            "what changed · {change} · {undo} · {} gives a reason",
            key(Command::WriteNote)
        )
    };
    if area.height == 1 {
        // A heading without rows would be useless.
        let moved = match listed(open, before, a, b).len().saturating_sub(2) {
            _ if !any(open, before) => "no document changed its rank".to_owned(),
            0 => "only this pair changed its ranks".to_owned(),
            others => format!(
                "ranks changed, of {} too",
                text::counted(others, "other document")
            ),
        };
        let next = if before.taken_back { redo } else { undo };
        let words = format!("{moved} · {next}");
        text::line(&words, usize::from(area.width), theme.strong()).render(area, buf);
        return;
    }
    heading(&words, false, theme, cut(&mut rest, 1), buf);
    let room = usize::from(rest.height);
    let documents = listed(open, before, a, b);
    let mut lines = Vec::new();
    if !any(open, before) {
        lines.push(Line::styled("no document changed its rank", theme.muted()));
    }
    let ids = documents
        .iter()
        .map(|document| text::width(&open.name(*document)))
        .max()
        .unwrap_or(0)
        .min(24);
    for document in &documents {
        let role = if *document == a {
            "A"
        } else if *document == b {
            "B"
        } else {
            " "
        };
        lines.push(row(open, before, *document, role, ids, theme));
    }
    if lines.len() > room && !any(open, before) {
        // The ranks of the pair have not changed either.
        lines.truncate(1);
    } else if lines.len() > room && room > 0 {
        let more = lines.len() - (room - 1);
        lines.truncate(room - 1);
        let words = format!("… {more} more documents");
        lines.push(Line::styled(words, theme.muted()));
    }
    Paragraph::new(lines).render(rest, buf);
}

fn row(
    open: &OpenQuery,
    before: &RankingBefore,
    document: usize,
    role: &'static str,
    ids: usize,
    theme: &Theme,
) -> Line<'static> {
    let standing = open.standing(document);
    let now = standing.map(|standing| standing.rank);
    let was = before.ranks.get(document).copied().flatten();
    let (ghost, style) = match (was, now) {
        (Some(was), Some(now)) => match was.cmp(&now) {
            Ordering::Greater => (format!("was {was} ▲{}", was - now), theme.good()),
            Ordering::Less => (format!("was {was} ▼{}", now - was), theme.bad()),
            Ordering::Equal => (format!("was {was} ="), theme.ghost()),
        },
        (None, Some(_)) => ("was unranked".to_owned(), theme.ghost()),
        (Some(was), None) => (format!("was {was}"), theme.ghost()),
        (None, None) => (String::new(), theme.ghost()),
    };
    let rank = now.map_or("–".to_owned(), |rank| rank.to_string());
    let mut spans = vec![
        Span::styled(format!("{role} "), theme.strong()),
        Span::raw(text::pad_right(&open.name(document), ids)),
        Span::raw(format!("  rank {rank:>3} ")),
        Span::styled(text::pad_right(&ghost, 12), style),
    ];
    if let Some(standing) = standing {
        let se = standing
            .se
            .map_or(String::new(), |se| format!(" ± {se:.2}"));
        let delta = before
            .scores
            .get(document)
            .copied()
            .flatten()
            .map_or(String::new(), |old| {
                format!(" (moved {})", text::signed(standing.zelo - old, 2))
            });
        spans.push(Span::raw(format!(
            "  zELO {}{se}",
            text::signed(standing.zelo, 2)
        )));
        spans.push(Span::styled(delta, theme.muted()));
    }
    Line::from(spans)
}
