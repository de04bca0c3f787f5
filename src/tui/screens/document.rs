//! The document screen: the text, where it stands, its battles, and the reasoning behind the one selected.

mod head;
pub mod prose;
mod reasons;
mod table;

pub(super) use head::standing;

use super::battle::{cut, cut_bottom, inset, wanted};
use crate::domain::battle::Pair;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, BattleSort, DocumentScreen, Effect, Model, OpenQuery};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// From this width on the text stands beside the battles instead of above.
const WIDE: u16 = 150;
/// Battles whose votes are asked for on entering, so that walking through them does not wait.
const AHEAD: usize = 32;

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    let mut rest = inset(area);
    let mut areas = Areas {
        body: area,
        ..Areas::default()
    };
    let Some(open) = &model.open else {
        Line::styled("loading …", theme.muted()).render(rest, buf);
        return areas;
    };
    if model.document.document >= open.documents.len() {
        Line::styled("no such document in this query", theme.muted()).render(rest, buf);
        return areas;
    }
    let lines = head::lines(model, open, theme, usize::from(rest.width));
    let rows = (lines.len() as u16).min((rest.height / 3).max(4));
    Paragraph::new(lines).render(cut(&mut rest, rows), buf);
    let shown = model.document_battles();
    let chosen = shown
        .get(model.document.cursor.min(shown.len().saturating_sub(1)))
        .copied();
    if model.document.expanded {
        let (lines, page) = reasons::render(model, open, chosen, theme, rest, buf);
        return Areas {
            lines,
            page,
            list: Rect::default(),
            ..areas
        };
    }
    let mut battles = rest;
    let mut read = if area.width >= WIDE {
        let [left, _, right] = Layout::horizontal([
            Constraint::Fill(2),
            Constraint::Length(2),
            Constraint::Fill(3),
        ])
        .areas(rest);
        battles = right;
        left
    } else {
        let source = open.texts.get(&model.document.document);
        let wanted = source.map_or(1, |source| {
            model
                .layouts
                .lines(source, &open.info.text, usize::from(rest.width), true)
                .1
                .len()
        });
        cut(
            &mut battles,
            (rest.height * 3 / 10)
                .max(4)
                .min(wanted.min(1_000) as u16 + 1),
        )
    };
    (areas.lines, areas.page) = read_pane(model, open, theme, &mut read, buf);
    let wanted = shown.len().clamp(1, 1_000) as u16 + table::FRAME;
    let reasons_rows = battles
        .height
        .saturating_sub(wanted)
        .max(battles.height * 2 / 5);
    let below = cut_bottom(&mut battles, reasons_rows);
    let (list, first) = table::render(model, open, &shown, theme, battles, buf);
    areas.list = list;
    areas.first = first;
    reasons::render(model, open, chosen, theme, below, buf);
    if !model.document.reading {
        areas.page = usize::from(list.height);
    }
    areas
}

/// Draws the document's text; returns its lines and how many fit.
fn read_pane(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    area: &mut Rect,
    buf: &mut Buffer,
) -> (usize, usize) {
    let top = cut(area, 1);
    let focus = model.document.reading;
    let Some(source) = open.texts.get(&model.document.document) else {
        prose::heading("text", focus, theme, top, buf);
        Line::styled("loading the text …", theme.missing()).render(*area, buf);
        return (0, 0);
    };
    let (shown, lines) =
        model
            .layouts
            .lines(source, &open.info.text, usize::from(area.width), true);
    let page = usize::from(area.height);
    let first = model.document.scroll.min(lines.len().saturating_sub(page));
    let mut words = "text".to_owned();
    if lines.len() > page && page > 0 {
        words += &format!(
            " · lines {}–{} of {}",
            first + 1,
            (first + page).min(lines.len()),
            lines.len()
        );
    }
    if let Some(note) = shown.note(true) {
        words += &format!(" · {note}");
    }
    prose::heading(&words, focus, theme, top, buf);
    if shown.text.trim().is_empty() {
        Line::styled("this document has no text", theme.missing()).render(*area, buf);
        return (0, page);
    }
    prose::render(&shown, &lines, first, &[], theme, *area, buf);
    (lines.len(), page)
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let scrolls = model.document.expanded || model.document.reading;
    match command {
        Command::Open => return open_battle(model),
        Command::SortBattles => sort(model),
        Command::NextDocument => return turn(model, true),
        Command::PreviousDocument => return turn(model, false),
        Command::ExpandReasoning => {
            model.document.expanded = !model.document.expanded;
            model.document.scroll = 0;
        }
        Command::NextPane | Command::PreviousPane if !model.document.expanded => {
            model.document.reading = !model.document.reading;
        }
        Command::Left | Command::Right if model.document.expanded => {
            model.document.scroll = 0;
            return walk(
                model,
                if command == Command::Left {
                    Command::Up
                } else {
                    Command::Down
                },
            );
        }
        _ if scrolls => {
            let (lines, page) = (model.areas.lines, model.areas.page);
            model.document.scroll =
                super::battle::scrolled(model.document.scroll, command, lines, page);
        }
        _ => return walk(model, command),
    }
    Vec::new()
}

/// Moves the cursor through the battles.
fn walk(model: &mut Model, command: Command) -> Vec<Effect> {
    let last = model.document_battles().len().saturating_sub(1);
    let page = model.areas.page.max(1);
    let from = model.document.cursor.min(last);
    model.document.cursor = match command {
        Command::Down => (from + 1).min(last),
        Command::Up => from.saturating_sub(1),
        Command::PageDown => (from + page).min(last),
        Command::PageUp => from.saturating_sub(page),
        Command::First => 0,
        Command::Last => last,
        _ => from,
    };
    needs(model, 1)
}

fn open_battle(model: &mut Model) -> Vec<Effect> {
    let index = model.document_battles().get(model.document.cursor).copied();
    let battle =
        index.and_then(|index| Some(model.open.as_ref()?.view.rows().battles.get(index)?.battle));
    battle.map_or(Vec::new(), |battle| model.open_battle(battle.a, battle.b))
}

/// Sorts the battles the next way; the cursor stays on its battle.
fn sort(model: &mut Model) {
    let chosen = model.document_battles().get(model.document.cursor).copied();
    model.document.sort = match model.document.sort {
        BattleSort::Surprise => BattleSort::Opponent,
        BattleSort::Opponent => BattleSort::Planned,
        BattleSort::Planned => BattleSort::Surprise,
    };
    let at = model
        .document_battles()
        .iter()
        .position(|index| Some(*index) == chosen);
    model.document.cursor = at.unwrap_or(0);
}

/// Goes to the next document by score.
fn turn(model: &mut Model, forward: bool) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let order = &open.view.by_zelo;
    let at = order
        .iter()
        .position(|document| *document == model.document.document)
        .unwrap_or(0);
    let next = if forward {
        Some(at + 1)
    } else {
        at.checked_sub(1)
    };
    let Some(document) = next.and_then(|next| order.get(next)).copied() else {
        return Vec::new();
    };
    model.document = DocumentScreen {
        document,
        sort: model.document.sort,
        expanded: model.document.expanded,
        reading: model.document.reading,
        ..DocumentScreen::default()
    };
    enter(model)
}

/// Asks for the texts and votes that the screen needs and that are not loaded.
pub fn enter(model: &mut Model) -> Vec<Effect> {
    needs(model, AHEAD)
}

/// What is not loaded: this document's text, the text of the opponent under the cursor, and the votes of the next
/// `ahead` battles from the cursor on.
fn needs(model: &Model, ahead: usize) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let shown = model.document_battles();
    let cursor = model.document.cursor.min(shown.len().saturating_sub(1));
    let mut documents = vec![model.document.document];
    documents.extend(
        shown
            .get(cursor)
            .and_then(|index| opponent(open, *index, model.document.document)),
    );
    let (before, after) = shown.split_at(cursor);
    let battles: Vec<usize> = after.iter().chain(before).copied().take(ahead).collect();
    wanted(open, &documents, &battles)
}

/// The other document of a battle.
fn opponent(open: &OpenQuery, index: usize, document: usize) -> Option<usize> {
    let battle = open.view.rows().battles.get(index)?.battle;
    Pair::new(battle.a, battle.b)?.other(document)
}

#[cfg(test)]
mod tests;
