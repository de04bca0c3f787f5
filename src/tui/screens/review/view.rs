//! The pair under review: nothing of the judges, no score and no name is drawn before the person has decided.

use super::panel;
use crate::domain::sanitise;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::screens::battle;
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
            "Nothing left to judge here. Esc goes back to the queue."
        } else {
            "loading …"
        };
        notice(words, theme, rest, buf);
        return areas;
    };
    if open.info.key != current.item.query {
        notice("loading …", theme, rest, buf);
        return areas;
    }
    let columns = usize::from(rest.width);
    if !current.is_blind() {
        return battle::view::view_with(model, Canvas::new(theme, area, buf), &|columns| {
            panel::open(model, current, theme, columns)
        });
    }
    let ask = "Which document serves this query better? Judges, scores and names are hidden until you have decided.";
    let mut head = query_lines(&open.info.text, theme, columns);
    head.extend(text::lines(ask, columns, theme.muted()));
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let lines = panel::blind(model, current, theme, columns);
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(cut_bottom(&mut rest, rows), buf);
    let canvas = Canvas::new(theme, rest, buf);
    battle::texts::render(model, open, &Default::default(), &mut areas, canvas);
    areas
}

pub(crate) fn query_lines(query: &str, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let query = sanitise::line(query);
    let ranges = text::wrap(&query, columns.saturating_sub(6));
    let lines = ranges.into_iter().take(3).enumerate();
    lines
        .map(|(at, range)| {
            let mark = if at == 0 { "query " } else { "      " };
            Line::from(vec![
                Span::styled(mark, theme.muted()),
                Span::styled(query[range].to_owned(), theme.strong()),
            ])
        })
        .collect()
}
