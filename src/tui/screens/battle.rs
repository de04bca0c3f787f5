//! The battle screen: two documents side by side, what the judges said, and the person's verdict.

pub(in crate::tui) mod calls;
mod judges;
mod needs;
mod numbers;
mod rank_changes;
mod texts;
mod verdict;

pub use needs::enter;
pub use verdict::{explain, give_verdict};

pub(super) use needs::wanted;
pub(super) use texts::scrolled;
pub(super) use verdict::{apply, remember_ranking};

use crate::domain::battle::Pair;
use crate::domain::sanitise;
use crate::domain::verdict::Decision;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, Effect, Model, OpenQuery, Overlay, PromptFor, Screen};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::prompt::LinePrompt;
use crate::tui::widgets::toast::Level;
use calls::{QuoteTexts, Reasoning};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::collections::HashSet;

/// From this width on the judges stand beside the texts instead of below.
const WIDE: u16 = 150;

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    view_with(model, theme, area, buf, &|columns| {
        model.open.as_ref().map_or(Vec::new(), |open| {
            verdict::lines(model, open, theme, columns)
        })
    })
}

/// Draws the two texts alone, with nothing but the letters A and B above them where the pair is judged blind.
pub(super) fn render_texts(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
) -> ([usize; 2], usize) {
    texts::render(model, open, &[Vec::new(), Vec::new()], theme, area, buf)
}

/// Draws the screen with another panel for the verdict, of so many columns.
pub(super) fn view_with(
    model: &Model,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
    panel: &dyn Fn(usize) -> Vec<Line<'static>>,
) -> Areas {
    let mut rest = inset(area);
    let mut areas = Areas {
        body: area,
        ..Areas::default()
    };
    let Some(open) = &model.open else {
        Line::styled("loading …", theme.muted()).render(rest, buf);
        return areas;
    };
    let (a, b) = (model.battle.a, model.battle.b);
    if Pair::new(a, b).is_none() || a.max(b) >= open.documents.len() {
        Line::styled("no such pair in this query", theme.muted()).render(rest, buf);
        return areas;
    }
    let height = rest.height;
    head(model, open, theme, cut(&mut rest, 2), buf);
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
        (Rect::default(), rest)
    };
    let columns = usize::from(side.width);
    let figures = numbers::lines(open, a, b, theme, columns);
    let panel = panel(columns);
    let most = |lines: &[Line<'_>], share: u16| (lines.len() as u16).min((height / share).max(1));
    let (figures_rows, panel_rows) = if wide {
        (figures.len() as u16, panel.len() as u16 + 1)
    } else {
        // After a blind verdict the panel says what can still be done.
        let share = if model.screen() == Screen::Review {
            3
        } else {
            5
        };
        (most(&figures, 6), most(&panel, share))
    };
    let panel_area = cut_bottom(&mut side, panel_rows);
    let pair = if wide {
        pair
    } else {
        let most = side.height.saturating_sub(figures_rows) / 2;
        let rows = texts::rows(model, open, side.width).min(usize::from(most)) as u16;
        cut(&mut side, rows)
    };
    Paragraph::new(figures).render(cut(&mut side, figures_rows), buf);
    if let Some(before) = &model.battle.before {
        let rows = rank_changes::rows(open, before, a, b) as u16 + 1;
        let most = if wide {
            side.height / 2
        } else {
            side.height * 3 / 5
        };
        let area = if wide {
            cut_bottom(&mut side, rows.min(most))
        } else {
            cut(&mut side, rows.min(most))
        };
        rank_changes::render(open, before, (a, b), theme, area, buf);
    }
    let (reasoning, shown) = chosen_reasoning(model, open, theme, usize::from(side.width));
    let judged = judges::render(model, open, &shown, &reasoning, theme, side, buf);
    areas.aside = judged;
    (areas.sides, areas.page) = texts::render(model, open, &reasoning.found, theme, pair, buf);
    areas.lines = areas.sides[0].max(areas.sides[1]);
    areas.list = pair;
    if wide {
        let mut below = panel_area;
        super::document::prose::heading("your verdict", false, theme, cut(&mut below, 1), buf);
        Paragraph::new(panel).render(below, buf);
    } else {
        Paragraph::new(panel).render(panel_area, buf);
    }
    areas
}

/// The area without a column at either side.
pub(super) fn inset(area: Rect) -> Rect {
    Rect {
        x: area.x + 1.min(area.width),
        width: area.width.saturating_sub(2),
        ..area
    }
}

/// Takes rows from the top.
pub(super) fn cut(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    let top = Rect {
        height: rows,
        ..*area
    };
    area.y += rows;
    area.height -= rows;
    top
}

/// Takes rows from the bottom.
pub(super) fn cut_bottom(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    area.height -= rows;
    Rect {
        y: area.y + area.height,
        height: rows,
        ..*area
    }
}

/// The reasoning of the judge that is chosen, looked up in both texts, and all calls on the pair.
fn chosen_reasoning<'a>(
    model: &Model,
    open: &'a OpenQuery,
    theme: &Theme,
    columns: usize,
) -> (Reasoning, Vec<calls::JudgeCall<'a>>) {
    let shown = calls::of_pair(open, model.battle.a, model.battle.b);
    let query = open.info.text.as_str();
    let prose = [model.battle.a, model.battle.b].map(|document| {
        open.texts
            .get(&document)
            .map(|source| model.layouts.prose(source, query))
    });
    let texts = QuoteTexts {
        a: prose[0].as_deref(),
        b: prose[1].as_deref(),
        query,
    };
    let chosen = shown.get(model.battle.judge.min(shown.len().saturating_sub(1)));
    let reasoning = chosen.map_or_else(Reasoning::default, |call| {
        calls::reasoning_of(call, &texts, model.battle.raw, theme, columns)
    });
    (reasoning, shown)
}

fn head(model: &Model, open: &OpenQuery, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let columns = usize::from(area.width);
    let (a, b) = (model.battle.a, model.battle.b);
    let ranks = open.ranks();
    let rank = |document: usize| match ranks.get(document).copied().flatten() {
        Some(rank) => format!("rank {rank}"),
        None => "not scored".to_owned(),
    };
    let battles = Pair::new(a, b).map_or(0, |pair| open.view.battles_of(pair).len());
    let fought = match battles {
        0 => " · never fought",
        1 => "",
        _ => " · fought more than once",
    };
    let title = format!(
        "A {} ({}) against B {} ({}){fought}",
        open.name(a),
        rank(a),
        open.name(b),
        rank(b)
    );
    let query = sanitise::line(&open.info.text);
    Paragraph::new(vec![
        Line::from(vec![
            Span::styled("query ", theme.muted()),
            Span::raw(text::truncate(&query, columns.saturating_sub(6))),
        ]),
        Line::styled(text::truncate(&title, columns), theme.strong()),
    ])
    .render(area, buf);
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::JudgeA => return give_verdict(model, Decision::A),
        Command::JudgeAStrongly => return give_verdict(model, Decision::MuchA),
        Command::JudgeB => return give_verdict(model, Decision::B),
        Command::JudgeBStrongly => return give_verdict(model, Decision::MuchB),
        Command::JudgeTie => return give_verdict(model, Decision::Tie),
        Command::CannotTell => return give_verdict(model, Decision::CannotTell),
        Command::WriteNote => ask_why(model),
        Command::NextBattle => return step(model, true),
        Command::PreviousBattle => return step(model, false),
        Command::ToggleFullText => {
            model.battle.full = !model.battle.full;
            model.battle.scroll = [0, 0];
        }
        Command::ToggleScrollLock => {
            let both = &mut model.battle;
            both.together = !both.together;
            if both.together {
                both.scroll = [both.scroll[both.side.min(1)]; 2];
            }
        }
        Command::ToggleRawReply => {
            model.battle.raw = !model.battle.raw;
            model.battle.judge_scroll = 0;
        }
        Command::NextReasoning => choose_judge(model, true),
        Command::PreviousPane => choose_judge(model, false),
        Command::Left => model.battle.side = model.battle.side.saturating_sub(1),
        Command::Right => {
            let skip = if model.battle.together {
                2
            } else {
                model.battle.side + 1
            };
            model.battle.side = skip.min(2);
        }
        _ => texts::scroll(model, command),
    }
    if model.battle.together && model.battle.side == 1 {
        model.battle.side = 0;
    }
    Vec::new()
}

fn choose_judge(model: &mut Model, forward: bool) {
    let Some(open) = &model.open else { return };
    let count = calls::of_pair(open, model.battle.a, model.battle.b)
        .len()
        .max(1);
    let step = if forward { 1 } else { count - 1 };
    model.battle.judge = (model.battle.judge.min(count - 1) + step) % count;
    model.battle.judge_scroll = 0;
}

/// Asks for the reason of one's own verdict.
fn ask_why(model: &mut Model) {
    let given = model.open.as_ref().and_then(|open| {
        let pair = Pair::new(model.battle.a, model.battle.b)?;
        let verdict = open.people.by(&model.options.annotator, pair)?;
        Some(verdict.note.clone().unwrap_or_default())
    });
    match given {
        Some(note) => {
            let prompt = LinePrompt::new("reason: ", "why, in a line; Enter stores it")
                .with_text(&sanitise::line(&note));
            model
                .overlays
                .push(Overlay::Prompt(prompt, PromptFor::Reason));
        }
        None => model.say(
            Level::Info,
            "give a verdict first, then its reason".to_owned(),
        ),
    }
}

/// Goes to the next pair: of the document one came from, or of all by surprise.
fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let from_document = model.stack.iter().rev().nth(1) == Some(&Screen::Document);
    let mut order = if from_document {
        model.document_battles()
    } else {
        (0..open.view.battles.len()).collect()
    };
    if !from_document {
        let size = |index: &usize| {
            open.view
                .battles
                .get(*index)
                .and_then(|battle| battle.surprise)
                .map_or(-1.0, f64::abs)
        };
        order.sort_by(|x, y| size(y).total_cmp(&size(x)));
    }
    let mut seen = HashSet::new();
    let pairs: Vec<(usize, usize)> = order
        .into_iter()
        .map(|index| open.view.rows().battles[index].battle)
        .filter(|battle| Pair::new(battle.a, battle.b).is_some_and(|pair| seen.insert(pair)))
        .map(|battle| (battle.a, battle.b))
        .collect();
    let here = Pair::new(model.battle.a, model.battle.b);
    let at = pairs.iter().position(|(a, b)| Pair::new(*a, *b) == here);
    let next = match (at, forward) {
        (None, _) => Some(0),
        (Some(at), true) => Some(at + 1).filter(|next| *next < pairs.len()),
        (Some(at), false) => at.checked_sub(1),
    };
    let Some((a, b)) = next.and_then(|next| pairs.get(next)).copied() else {
        let words = if forward {
            "that was the last battle"
        } else {
            "that was the first battle"
        };
        model.say(Level::Info, words.to_owned());
        return Vec::new();
    };
    if from_document {
        model.document.cursor = next.unwrap_or(0);
    }
    let before = std::mem::take(&mut model.battle);
    model.battle.a = a;
    model.battle.b = b;
    model.battle.together = before.together;
    model.battle.full = before.full;
    model.battle.raw = before.raw;
    enter(model)
}

#[cfg(test)]
mod tests;
