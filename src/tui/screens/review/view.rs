//! Draws the pair under review; judges, scores and names are hidden until the person has decided.

use super::panel;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::screens::{Screen, battle};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::notice;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut areas = Areas::default();
    let mut rest = inset(area);
    let (Some(current), Some(open)) = (&model.queue.current, &model.open) else {
        let words = if model.queue.loaded && model.queue.items.is_empty() {
            let back = key_on(Command::Back, Screen::REVIEW);
            format!("Nothing left to judge here. Press {back} to go back to the queue.")
        } else {
            "loading …".to_owned()
        };
        notice(&words, theme, rest, buf);
        return areas;
    };
    if open.info.key != current.item.query {
        notice("loading …", theme, rest, buf);
        return areas;
    }
    let columns = usize::from(rest.width);
    if !current.is_hidden() {
        let title = if current.is_undecided() {
            "your verdict, knowing theirs"
        } else {
            "what your verdict changed"
        };
        let canvas = Canvas::new(theme, area, buf);
        return battle::view::view_with(model, canvas, title, &|columns, rows| {
            if current.is_undecided() {
                let lines = panel::contested(model, current, theme, columns);
                text::clipped(lines, columns, rows)
            } else {
                panel::open(model, current, theme, (columns, rows))
            }
        });
    }
    let ask = "Judges, scores and names are hidden until you have decided.";
    let ask = text::lines(ask, columns, theme.muted());
    let mut lines = panel::blind(model, current, theme, columns);
    let spare = spare_lines(area.height);
    let most = QUERY_LINES.min((spare / 3).max(1));
    let mut head = query_lines(&open.info.text, most, theme, columns);
    if model.queue.stats.judged == 0 && head.len() + ask.len() + lines.len() <= spare {
        head.extend(ask);
    }
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let room = spare.saturating_sub(usize::from(rows));
    if lines.len() > room {
        // The line above the keys is the least important one.
        lines.remove(0);
        lines.truncate(room);
    }
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(cut_bottom(&mut rest, rows), buf);
    let canvas = Canvas::new(theme, rest, buf);
    let none = Default::default();
    let quotes = battle::texts::Quotes {
        chosen: &none,
        others: &none,
    };
    battle::texts::render(model, open, &quotes, false, &mut areas, canvas);
    areas
}

/// Number of rows that may show anything but the texts, which get half of the terminal's rows; the
/// terminal has two rows more than the screen.
pub(crate) fn spare_lines(height: u16) -> usize {
    let texts = (height + 2).div_ceil(2);
    usize::from(height.saturating_sub(texts))
}

/// Maximum number of lines of the query if there is room.
pub(crate) const QUERY_LINES: usize = 3;

pub(crate) fn query_lines(
    query: &str,
    most: usize,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let query = sanitize::line(query);
    let room = columns.saturating_sub(6);
    let ranges = text::wrap(&query, room);
    let cut_off = ranges.len() > most;
    let lines = ranges.into_iter().take(most).enumerate();
    lines
        .map(|(at, range)| {
            let mark = if at == 0 { "query " } else { "      " };
            let words = if cut_off && at + 1 == most {
                text::truncate(query.get(range.start..).unwrap_or_default(), room)
            } else {
                query.get(range).unwrap_or_default().into()
            };
            Line::from(vec![
                Span::styled(mark, theme.muted()),
                Span::styled(words.into_owned(), theme.strong()),
            ])
        })
        .collect()
}
