//! Verdicts on a battle, and movement through battles and texts.

use super::{calls, judges, panel, verdict, view};
use crate::domain::battle::Pair;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::battle::BattleState;
use crate::tui::model::{Model, Overlay};
use crate::tui::navigation::{neighbor, scrolled};
use crate::tui::requests;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::copy::reasoning_on;
use crate::tui::screens::battle::verdict::decision_of;
use crate::tui::screens::behavior::Copied;
use crate::tui::widgets::document_text::PreparedText;
use crate::tui::widgets::page::Page;
use std::collections::HashSet;
use std::sync::Arc;

pub(crate) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if let Some(decision) = decision_of(command) {
        return verdict::give_verdict(model, decision);
    }
    match command {
        Command::WriteNote => ask_why(model),
        Command::NextBattle => return step(model, true),
        Command::PreviousBattle => return step(model, false),
        Command::ToggleFullText => {
            model.from_top = !model.from_top;
            model.battle.scroll = [None, None];
        }
        Command::ToggleScrollLock => {
            let both = &mut model.battle;
            both.together = !both.together;
            if both.together {
                let first = model.areas.firsts[both.side.min(1)];
                both.scroll = [Some(first); 2];
            }
        }
        Command::ToggleRawReply => {
            model.battle.raw = !model.battle.raw;
            model.battle.judge_scroll = 0;
        }
        Command::NextReasoning => choose_judge(model, true),
        Command::PreviousPane => choose_judge(model, false),
        Command::ShowTables => {
            if let Some(open) = &model.open {
                let page = Page::new("Numbers", &panel::page_text(model, open));
                model.overlays.push(Overlay::Page(page));
            }
        }
        Command::Left => {
            model.battle.side = model.battle.side.saturating_sub(1);
            model.battle.is_reading = false;
        }
        Command::Right => {
            let skip = if model.battle.together {
                2
            } else {
                model.battle.side + 1
            };
            model.battle.side = skip.min(2);
            model.battle.is_reading = model.battle.side == 2;
        }
        _ => scroll(model, command),
    }
    if model.battle.together && model.battle.side == 1 {
        model.battle.side = 0;
    }
    Vec::new()
}

/// Goes to the next judge's reasoning. On a small screen, opens it first, and closes it after the
/// last one.
fn choose_judge(model: &mut Model, forward: bool) {
    let is_small = view::is_small(model.size);
    let Some(open) = &model.open else { return };
    let order = judges::listed(&calls::of_pair(open, model.battle.a, model.battle.b));
    let battle = &mut model.battle;
    battle.judge_scroll = 0;
    if is_small && !battle.is_reading {
        (battle.is_reading, battle.side) = (true, 2);
        return;
    }
    let here = battle.judge.min(order.len().saturating_sub(1));
    let place = order.iter().position(|at| *at == here).unwrap_or(0);
    let next = neighbor(place, forward, order.len());
    let wrapped = if forward { order.first() } else { order.last() };
    let at = next.and_then(|next| order.get(next)).or(wrapped);
    battle.judge = at.copied().unwrap_or(0);
    if next.is_none() {
        close_reasoning(model);
    }
}

/// Closes reasoning that covers a part of the texts; returns false if none does.
pub(crate) fn close_reasoning(model: &mut Model) -> bool {
    let covers = view::is_small(model.size) && model.battle.is_reading;
    if covers {
        (model.battle.is_reading, model.battle.side) = (false, 0);
    }
    covers
}

fn ask_why(model: &mut Model) {
    let given = model.open.as_ref().and_then(|open| {
        let verdict = open
            .people
            .by(&model.options.annotator, model.battle.pair()?)?;
        Some(verdict.note.clone().unwrap_or_default())
    });
    let note = given.or_else(|| model.draft().map(str::to_owned));
    model.ask_reason(&note.unwrap_or_default());
}

/// Goes to the next pair: of the document that the user came from, or of all by surprise.
fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let from_document = model.stack.iter().rev().nth(1) == Some(&Screen::DOCUMENT);
    let mut order = if from_document {
        model.document().battles(open)
    } else {
        (0..open.view.battles.len()).collect()
    };
    if !from_document {
        open.sort_by_surprise(&mut order);
    }
    let mut seen = HashSet::new();
    let pairs: Vec<(usize, (usize, usize))> = order
        .into_iter()
        .filter_map(|index| Some((index, open.battle(index)?)))
        .filter(|(_, battle)| Pair::new(battle.a, battle.b).is_some_and(|pair| seen.insert(pair)))
        .map(|(index, battle)| {
            let turned = from_document && battle.b == model.document().document;
            let sides = if turned {
                (battle.b, battle.a)
            } else {
                (battle.a, battle.b)
            };
            (index, sides)
        })
        .collect();
    let here = model.battle.pair();
    let at = pairs
        .iter()
        .position(|(_, (a, b))| Pair::new(*a, *b) == here);
    let next = at.map_or(Some(0), |at| neighbor(at, forward, pairs.len()));
    let Some((index, (a, b))) = next.and_then(|next| pairs.get(next).copied()) else {
        let end = if forward { "last" } else { "first" };
        model.inform(&format!("this is the {end} battle"));
        return Vec::new();
    };
    if from_document {
        model.choose_battle(Some(index));
    }
    model.battle = BattleState {
        raw: model.battle.raw,
        ..model.battle.on(a, b)
    };
    model.look_at(a, b);
    requests::pair(model)
}

/// Goes to a pair of documents, with or without a battle: A is the row of the matrix, B the column.
pub(crate) fn open_pair(model: &mut Model, a: usize, b: usize) -> Vec<Effect> {
    model.look_at(a, b);
    model.battle = model.battle.on(a, b);
    model.stack.push(Screen::BATTLE);
    requests::pair(model)
}

pub(crate) fn copy(model: &Model) -> Copied {
    let pair = (model.battle.a, model.battle.b);
    let open = model.open.as_ref();
    open.map_or(Copied::Nothing, |open| {
        reasoning_on(open, pair, model.battle.judge)
    })
}

/// Scrolls what has the focus: both texts, one of them, or the reasoning.
fn scroll(model: &mut Model, command: Command) {
    let (sides, page, aside) = (model.areas.sides, model.areas.page, model.areas.aside);
    let firsts = model.areas.firsts;
    let battle = &mut model.battle;
    if battle.side == 2 {
        battle.judge_scroll = scrolled(battle.judge_scroll, command, aside.0, aside.1);
        return;
    }
    let together = battle.together;
    for side in (0..2).filter(|side| together || *side == battle.side) {
        let from = battle.scroll[side].unwrap_or(firsts[side]);
        let to = scrolled(from, command, sides[side], page);
        if to != from {
            battle.scroll[side] = Some(to);
        }
    }
}

/// Scrolls a text or the judges' reasoning, whichever has the focus.
pub(crate) fn scroll_pane(model: &mut Model, pane: usize, command: Command) {
    let focus = std::mem::replace(&mut model.battle.side, pane);
    scroll(model, command);
    model.battle.side = focus;
}

pub(crate) fn focus_pane(model: &mut Model, pane: usize) {
    let battle = &mut model.battle;
    battle.is_reading = pane == 2;
    battle.side = if battle.together && pane < 2 { 0 } else { pane };
}

/// Both texts, if they are loaded.
pub(crate) fn texts(model: &Model) -> Vec<Option<Arc<PreparedText>>> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let text = |document: usize| {
        let source = open.texts.get(&document)?;
        Some(model.layouts.prepared(source, &open.info.text))
    };
    vec![text(model.battle.a), text(model.battle.b)]
}

/// Scrolls one text to the search match; the other one stays.
pub(crate) fn reveal(model: &mut Model, side: usize) {
    model.battle.scroll = model.areas.firsts.map(Some);
    if let Some(scroll) = model.battle.scroll.get_mut(side) {
        *scroll = None;
    }
}

/// Why no verdict can be given on the pair, for example before both texts are visible.
pub(crate) fn obstacle(model: &Model) -> Option<&'static str> {
    let (a, b) = (model.battle.a, model.battle.b);
    let open = model
        .open
        .as_ref()
        .filter(|_| model.battle.pair().is_some());
    let shown = open.is_some_and(|open| {
        a.max(b) < open.documents.len() && [a, b].iter().all(|side| open.texts.contains_key(side))
    });
    (!shown).then_some("no verdict yet: the texts are still loading")
}

/// Which commands are available for the pair now.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    match command {
        Command::ToggleFullText => model.areas.lines > model.areas.page,
        Command::NextReasoning | Command::ToggleRawReply => {
            let open = model.open.as_ref();
            open.is_some_and(|open| {
                !calls::of_pair(open, model.battle.a, model.battle.b).is_empty()
            })
        }
        _ => true,
    }
}
