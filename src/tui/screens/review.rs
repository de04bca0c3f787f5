//! The pair under review: judged blind first, then again with everything in sight. Nothing of the judges, no score and no
//! name is drawn before the person has decided.

mod actions;
mod panel;

pub use actions::{leave, note, ready, reapply, review_item, review_pair};
pub(in crate::tui::screens) use panel::keys;

use super::battle;
use crate::domain::sanitise;
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, Effect, Model};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::toast::Level;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    let mut areas = Areas {
        body: area,
        ..Areas::default()
    };
    let mut rest = battle::inset(area);
    let (Some(current), Some(open)) = (&model.queue.current, &model.open) else {
        let words = if model.queue.loaded && model.queue.items.is_empty() {
            "Nothing left to judge here. Esc goes back to the queue."
        } else {
            "loading …"
        };
        Line::styled(words, theme.muted()).render(rest, buf);
        return areas;
    };
    if open.info.key != current.item.query {
        Line::styled("loading …", theme.muted()).render(rest, buf);
        return areas;
    }
    let columns = usize::from(rest.width);
    if !current.is_blind() {
        return battle::view_with(model, theme, area, buf, &|columns| {
            panel::open(model, current, theme, columns)
        });
    }
    let query = sanitise::line(&open.info.text).into_owned();
    let ranges = text::wrap(&query, columns.saturating_sub(6));
    let mut head: Vec<Line<'_>> = Vec::new();
    for (at, range) in ranges.into_iter().take(3).enumerate() {
        head.push(Line::from(vec![
            Span::styled(if at == 0 { "query " } else { "      " }, theme.muted()),
            Span::styled(query[range].to_owned(), theme.strong()),
        ]));
    }
    let ask = "Which document serves this query better? Judges, scores and names are hidden until you have decided.";
    let ask_columns = text::wrap(ask, columns);
    head.extend(
        ask_columns
            .into_iter()
            .map(|range| Line::styled(&ask[range], theme.muted())),
    );
    let rows = head.len() as u16;
    Paragraph::new(head).render(battle::cut(&mut rest, rows), buf);
    let lines = panel::blind(model, current, theme, columns);
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(battle::cut_bottom(&mut rest, rows), buf);
    (areas.sides, areas.page) = battle::render_texts(model, open, theme, rest, buf);
    areas.lines = areas.sides[0].max(areas.sides[1]);
    areas.list = rest;
    areas
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if let Some(decision) = decision(command) {
        return actions::decide(model, decision);
    }
    if let Some(confidence) = confidence(command) {
        if let Some(current) = &mut model.queue.current {
            current.unsaved |= !current.is_blind() && current.confidence != Some(confidence);
            current.confidence = Some(confidence);
        }
        return Vec::new();
    }
    if let Some(cause) = cause(command) {
        return actions::blame(model, cause);
    }
    match command {
        Command::Open => actions::keep(model),
        Command::PutOff => actions::put_off(model),
        Command::NextBattle => actions::step(model, true),
        Command::PreviousBattle => actions::step(model, false),
        Command::Guideline => vec![Effect::Guideline],
        Command::WriteNote => actions::ask_why(model),
        Command::NextReasoning | Command::PreviousPane | Command::ToggleRawReply
            if model
                .queue
                .current
                .as_ref()
                .is_none_or(|current| current.is_blind()) =>
        {
            model.say(
                Level::Info,
                "the judges are hidden until you have decided".to_owned(),
            );
            Vec::new()
        }
        command => battle::update(model, command),
    }
}

fn decision(command: Command) -> Option<Decision> {
    Some(match command {
        Command::JudgeA => Decision::A,
        Command::JudgeAStrongly => Decision::MuchA,
        Command::JudgeB => Decision::B,
        Command::JudgeBStrongly => Decision::MuchB,
        Command::JudgeTie => Decision::Tie,
        Command::CannotTell => Decision::CannotTell,
        _ => return None,
    })
}

fn confidence(command: Command) -> Option<Confidence> {
    Some(match command {
        Command::Guess => Confidence::Low,
        Command::FairlySure => Confidence::Medium,
        Command::Sure => Confidence::High,
        _ => return None,
    })
}

/// The commands that name a cause, in the order of [`ErrorCause::ALL`].
const CAUSES: [Command; 6] = [
    Command::CauseJudge,
    Command::CauseDefensible,
    Command::CauseQuery,
    Command::CauseGuideline,
    Command::CauseDocument,
    Command::CauseOther,
];

fn cause(command: Command) -> Option<ErrorCause> {
    let at = CAUSES.iter().position(|known| *known == command)?;
    ErrorCause::ALL.get(at).copied()
}

#[cfg(test)]
mod tests;
