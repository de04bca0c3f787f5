//! Creating a duel: choosing two rankings of the project and a form.

use super::commands;
use super::moving::load;
use crate::app::error::AppError;
use crate::domain::sanitize;
use crate::features::duel::domain::DuelForm;
use crate::features::duel::screen::state::{DuelChooser, DuelPhase};
use crate::features::duel::store::DuelKey;
use crate::features::methods::screen::commands::SHOW_METHODS;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::cut;
use crate::tui::message::Effect;
use crate::tui::model::{Model, Overlay};
use crate::tui::navigation::moved;
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::Click;
use crate::tui::text;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::page::Page;
use crate::tui::widgets::scroll_to;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Minimum number of visible rankings, if there are that many.
const LISTED: usize = 5;

const NONE_YET: &str = "This project has no duel yet.";

const ANOTHER: &str = "Make a new duel; earlier ones are kept.";

const ABOUT: &str = "A duel shows people documents of two rankings, without saying which is which. \
                     The result says which ranking won.";

fn too_few() -> String {
    let back = key_on(Command::Back, Screen::DUEL);
    let [methods, import] =
        [SHOW_METHODS, Command::Import].map(|command| key_on(command, Screen::QUERIES));
    format!(
        "A duel needs two rankings. Press {back}, then {methods} to run a method or {import} to \
         import a run. In the shell, `overrule duel --a RANKING --b FILE` takes a run from a file."
    )
}

fn form_question(form: DuelForm) -> &'static str {
    match form {
        DuelForm::Grid => "grid: nine documents; which of them serve the query?",
        DuelForm::Lists => "lists: both side by side; which is better?",
        DuelForm::Interleaved => {
            "interleaved: one list made of both; which documents serve the query?"
        }
    }
}

pub(super) fn offers(chooser: &DuelChooser, command: Command) -> bool {
    match command {
        Command::Open => !chooser.making && chooser.sides.iter().all(Option::is_some),
        commands::PREFER_LEFT | commands::PREFER_RIGHT => chooser.rankings.names.len() > 1,
        Command::NextPane => true,
        _ => false,
    }
}

pub(super) const LABELS: &[(&str, &str)] = &[
    ("read", "make the duel"),
    ("left", "as A"),
    ("right", "as B"),
    ("tasks", "form"),
];

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let (page, seed) = (model.areas.page, model.options.request.seed);
    let DuelPhase::Choosing(chooser) = &mut model.duel_mut().state else {
        return Vec::new();
    };
    if chooser.making {
        return Vec::new();
    }
    match command {
        commands::PREFER_LEFT if !chooser.rankings.names.is_empty() => chooser.take(0),
        commands::PREFER_RIGHT if !chooser.rankings.names.is_empty() => chooser.take(1),
        Command::NextPane => chooser.turn_form(true),
        Command::PreviousPane => chooser.turn_form(false),
        Command::Open => {
            let Some(request) = chooser.request(seed) else {
                model.inform("a duel needs two rankings");
                return Vec::new();
            };
            chooser.making = true;
            chooser.failed = None;
            return vec![model.make_duel(request)];
        }
        command => {
            chooser.cursor = moved(chooser.cursor, command, chooser.rankings.names.len(), page)
        }
    }
    Vec::new()
}

/// The duel was created, or failed with a reason.
pub(crate) fn made(
    model: &mut Model,
    made: Result<(DuelKey, Vec<String>), AppError>,
) -> Vec<Effect> {
    match made {
        Ok((key, notes)) => {
            let line = notes.join("; ");
            // More than one line is shown as a page.
            if text::width(&line) + 4 > usize::from(model.size.0) {
                let page = Page::new("About this duel", &notes.join("\n\n"));
                model.overlays.push(Overlay::Page(page));
            } else if !notes.is_empty() {
                model.inform(&line);
            }
            load(model, Some(key))
        }
        Err(error) => {
            if let DuelPhase::Choosing(chooser) = &mut model.duel_mut().state {
                chooser.making = false;
                chooser.failed = Some(error.to_string());
            }
            Vec::new()
        }
    }
}

/// A click selects a ranking.
pub(super) fn click(chooser: &mut DuelChooser, areas: Areas, row: u16) -> Click {
    let clicked = areas.first + usize::from(row.saturating_sub(areas.list.y));
    if clicked < chooser.rankings.names.len() {
        chooser.cursor = clicked;
    }
    Click::Moved
}

pub(super) fn view(model: &Model, chooser: &DuelChooser, canvas: Canvas<'_>) -> Areas {
    let Canvas {
        theme,
        mut area,
        buf,
    } = canvas;
    let columns = usize::from(area.width);
    let lead = if chooser.another { ANOTHER } else { NONE_YET };
    let about = format!("{lead} {ABOUT}");
    let mut about = text::lines(&about, columns, theme.text());
    about.push(Line::default());
    let mut head = Vec::new();
    if chooser.rankings.names.len() < 2 {
        head.extend(text::lines(&too_few(), columns, theme.warn()));
        head.push(Line::default());
    }
    let [a, b, form, make] = [
        commands::PREFER_LEFT,
        commands::PREFER_RIGHT,
        Command::NextPane,
        Command::Open,
    ]
    .map(|command| key_on(command, Screen::DUEL));
    let words = format!("{form} form · {}", form_question(chooser.form));
    head.extend(text::lines(&words, columns, theme.strong()));
    let words = if chooser.making {
        "the duel is being made …".to_owned()
    } else {
        format!("{a} as A · {b} as B · press {make} to make the duel of all queries that both have")
    };
    head.extend(text::lines(&words, columns, theme.muted()));
    if let Some(words) = chooser.difference_words() {
        head.extend(text::lines(&words, columns, theme.text()));
    }
    if let Some(why) = &chooser.failed {
        let words = format!("not made: {}", sanitize::line(why));
        head.extend(text::lines(&words, columns, theme.error()));
    }
    head.push(Line::default());
    // Showing the rankings has priority over explaining duels.
    let listed = chooser.rankings.names.len().min(LISTED);
    if about.len() + head.len() + listed <= usize::from(area.height) {
        head.splice(0..0, about);
    }
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut area, rows), buf);
    let (count, page) = (chooser.rankings.names.len(), usize::from(area.height));
    let before = model.areas.first.min(count.saturating_sub(page));
    let first = scroll_to(before, chooser.cursor, page);
    for (row, (at, name)) in area
        .rows()
        .zip(chooser.rankings.names.iter().enumerate().skip(first))
    {
        let cursor = at == chooser.cursor;
        if cursor {
            buf.set_style(row, theme.selection());
        }
        let side = match chooser.sides {
            [Some(a), _] if a == at => "A",
            [_, Some(b)] if b == at => "B",
            _ => " ",
        };
        let name = sanitize::line(name);
        Line::from(vec![
            Span::styled(if cursor { "▌ " } else { "  " }, theme.accent()),
            Span::styled(format!("{side}  "), theme.override_mark()),
            Span::styled(
                text::truncate(&name, columns.saturating_sub(5)).into_owned(),
                theme.text(),
            ),
        ])
        .render(row, buf);
    }
    scrollbar(first, count, Canvas::new(theme, area, buf));
    Areas {
        list: area,
        lines: count,
        page,
        first,
        ..Areas::default()
    }
}
