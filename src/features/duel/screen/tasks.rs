//! The list of tasks: done, begun and open ones. It does not reveal the purpose of a task.

use crate::domain::sanitize;
use crate::features::duel::screen::state::OpenDuel;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, ListPosition};
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::scroll_to;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

pub(super) fn view(model: &Model, open: &OpenDuel, cursor: usize, canvas: Canvas<'_>) -> Areas {
    let Canvas {
        theme,
        mut area,
        buf,
    } = canvas;
    let count = open.session.tasks.len();
    let words = format!(
        "tasks · {} done, {} to do",
        open.done(),
        count - open.done()
    );
    let head = cut(&mut area, 1);
    text::line(&words, usize::from(head.width), theme.text()).render(head, buf);
    let page = usize::from(area.height);
    let first = scroll_to(
        model.areas.first.min(count.saturating_sub(page)),
        cursor,
        page,
    );
    let rows = open.session.tasks.iter().enumerate().skip(first);
    for (row, (at, task)) in area.rows().zip(rows) {
        let selected = at == cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let (state, style) = match (open.is_done(task), open.is_begun(task)) {
            (true, _) => ("done ", theme.good()),
            (false, true) => ("begun", theme.warn()),
            (false, false) => ("  –  ", theme.missing()),
        };
        let query = &task.key.query;
        let info = model.queries.identified(query);
        let words = sanitize::line(info.map_or(query.as_str(), |info| &info.text));
        let lead = format!("{}{:>4}  ", if selected { "▌" } else { " " }, at + 1);
        let room = usize::from(row.width).saturating_sub(text::width(&lead) + 7);
        Line::from(vec![
            Span::styled(lead, theme.muted()),
            Span::styled(state, style),
            Span::raw("  "),
            Span::styled(
                text::truncate(&words, room).into_owned(),
                if at == open.task {
                    theme.strong()
                } else {
                    theme.text()
                },
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
        position: Some(ListPosition::unfiltered(cursor, count)),
        ..Areas::default()
    }
}
