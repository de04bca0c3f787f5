//! Draws the current task. It reveals nothing about the rankings: no name, rank, score or source.

use super::commands;
use super::{chooser, grid, lists, tasks};
use crate::domain::sanitize;
use crate::features::duel::domain::{Answer, DuelForm};
use crate::features::duel::screen::state::{DuelPhase, OpenDuel};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::key_on;
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::review::view::{QUERY_LINES, query_lines};
use crate::tui::text;
use crate::tui::text::counted;
use crate::tui::theme::Theme;
use crate::tui::widgets::notice;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Below this height, the documents have priority over everything else.
const SMALL: u16 = 18;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let open = match &model.duel().state {
        DuelPhase::Loading => {
            notice("loading the duel …", theme, rest, buf);
            return Areas::default();
        }
        DuelPhase::Choosing(choice) => {
            return chooser::view(model, choice, Canvas::new(theme, rest, buf));
        }
        DuelPhase::Failed(why) => {
            let columns = usize::from(rest.width);
            let words = format!("the duel cannot be opened: {}", sanitize::line(why));
            Paragraph::new(text::lines(&words, columns, theme.error())).render(rest, buf);
            return Areas::default();
        }
        DuelPhase::Open(open) => open,
    };
    if open.paused {
        paused(open, Canvas::new(theme, rest, buf));
        return Areas::default();
    }
    if let Some(cursor) = open.tasks_cursor {
        return tasks::view(model, open, cursor, Canvas::new(theme, rest, buf));
    }
    let Some(cards) = open.task_cards() else {
        notice("loading the task …", theme, rest, buf);
        return Areas::default();
    };
    let columns = usize::from(rest.width);
    let small = area.height < SMALL;
    let most = if small { 1 } else { QUERY_LINES };
    let mut head = query_lines(&cards.query, most, theme, columns);
    head.push(status(open, theme, columns));
    if area.height > 28 {
        head.extend(text::lines(&question(open.form()), columns, theme.muted()));
    } else if !small {
        head.push(text::line(
            short_question(open.form()),
            columns,
            theme.muted(),
        ));
    }
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let canvas = Canvas::new(theme, rest, buf);
    match open.form() {
        DuelForm::Grid => grid::view(open, cards, canvas),
        DuelForm::Interleaved => lists::interleaved(model, open, cards, canvas),
        DuelForm::Lists => lists::two(model, open, cards, canvas),
    }
}

/// The side and the position of a click, based on the areas of the last frame.
pub(super) fn place_at(open: &OpenDuel, areas: Areas, at: (u16, u16)) -> Option<(usize, usize)> {
    match open.form() {
        DuelForm::Grid => {
            let cells = grid::cells(areas.list, open.places());
            let place = cells.iter().position(|cell| cell.contains(at.into()))?;
            Some((0, place))
        }
        DuelForm::Interleaved | DuelForm::Lists => lists::place_at(open, areas, at),
    }
}

fn question(form: DuelForm) -> String {
    let none = key_on(commands::NONE_SERVES, Screen::DUEL);
    let done = key_on(commands::FINISH_TASK, Screen::DUEL);
    match form {
        DuelForm::Grid | DuelForm::Interleaved => format!(
            "Which of these serve the query? Choose each and mark the passage that shows it. Press \
             {none} if none does, and {done} when done. Their rankings are hidden."
        ),
        DuelForm::Lists => format!(
            "Which list serves the query better? Press {done} when done. Which ranking is which is \
             hidden."
        ),
    }
}

/// The question on one line; the keys are in the footer.
fn short_question(form: DuelForm) -> &'static str {
    match form {
        DuelForm::Grid | DuelForm::Interleaved => {
            "Which of these serve the query? Choose each and mark its passage."
        }
        DuelForm::Lists => "Which list serves the query better?",
    }
}

/// `task 3 of 12 · 2 done · 1 document chosen`.
fn status(open: &OpenDuel, theme: &Theme, columns: usize) -> Line<'static> {
    let done = open.done();
    let lead = format!("task {} of {}", open.task + 1, open.session.tasks.len());
    let mut rest = format!(" · {done} done");
    let empty = Answer::default();
    let stored = open.stored_answer().unwrap_or(&empty);
    let waits = !open.pending.is_empty();
    if let Some(words) = answer_words(stored) {
        rest = format!("{rest} · {words}");
    }
    if open.has_seen_result() {
        rest += " · not blind";
    }
    let state = match (waits, stored.finished) {
        (true, _) => " · storing …",
        (false, true) => " · this task is done",
        (false, false) => "",
    };
    let room = columns.saturating_sub(text::width(&lead) + text::width(state));
    Line::from(vec![
        Span::styled(lead, theme.strong()),
        Span::styled(text::truncate(&rest, room).into_owned(), theme.muted()),
        Span::styled(state, if waits { theme.warn() } else { theme.good() }),
    ])
}

/// The stored part of an answer.
pub(super) fn answer_words(answer: &Answer) -> Option<String> {
    if answer.none_serves {
        return Some("none of them serves".to_owned());
    }
    if let Some(step) = answer.preference {
        return Some(super::choice::preference_words(step).to_owned());
    }
    let chosen = answer.selected.len();
    (chosen > 0).then(|| format!("{} chosen", counted(chosen, "document")))
}

pub(crate) fn paused(open: &OpenDuel, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let go_on = key_on(commands::PAUSE_TASK, Screen::DUEL);
    let lines = vec![
        Line::styled("Paused", theme.strong()),
        Line::default(),
        text::line(
            &format!("The task is hidden and its clock is stopped. Press {go_on} to resume."),
            usize::from(area.width),
            theme.text(),
        ),
        text::line(
            &format!(
                "{} of {} done",
                open.done(),
                counted(open.session.tasks.len(), "task")
            ),
            usize::from(area.width),
            theme.muted(),
        ),
    ];
    Paragraph::new(lines).render(area, buf);
}
