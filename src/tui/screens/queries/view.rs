//! Draws one row per query, with its doubtful points, and the selected query.

use super::columns::Column;
use super::{detail, sentence, votes, welcome};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::panes::{PaneSplit, second_share};
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::list::scrollbar;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Minimum width for showing the selected query next to the list.
const WIDE: u16 = 160;
/// Minimum columns of the list and of the query next to it.
const LIST_MIN: u16 = 60;
const DETAIL_MIN: u16 = 30;
/// Minimum rows of the list with the lines above it.
const ROWS_MIN: u16 = 3;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    if model.queries.loaded && model.queries.rows().is_empty() {
        Paragraph::new(welcome::empty_project(model, theme)).render(area, buf);
        return Areas::default();
    }
    let wide = area.width + 2 >= WIDE;
    let split = if wide {
        PaneSplit {
            upright: true,
            gap: 3,
            usual: second_share(area.width, 3, [2, 1]),
            least: [LIST_MIN, DETAIL_MIN],
        }
    } else {
        PaneSplit {
            upright: false,
            gap: 0,
            usual: detail::height(area.height).min(area.height.saturating_sub(ROWS_MIN)),
            least: [ROWS_MIN, 1],
        }
    };
    let panes = model.split(area, split);
    let areas = list(model, Canvas::new(theme, panes.first, buf)).split(&panes);
    let canvas = Canvas::new(theme, panes.second, buf);
    if wide {
        detail::aside(model, caches, canvas);
    } else {
        detail::below(model, canvas);
    }
    areas
}

/// Draws the rows below a sentence about all of them.
fn list(model: &Model, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rows = area;
    let votes = votes::lines(model, theme, usize::from(area.width));
    let totals = cut(&mut rows, 1);
    let below_totals = cut(&mut rows, votes.len() as u16);
    let head = cut(&mut rows, 1);
    Paragraph::new(votes).render(below_totals, buf);
    let queries = &model.queries;
    let shown = queries.shown();
    let words = sentence::totals(queries, usize::from(totals.width));
    text::line(&words, usize::from(totals.width), theme.text()).render(totals, buf);
    let page = usize::from(rows.height);
    let first = (queries.cursor + 1).saturating_sub(page);
    let table = QueryTable::new(model, area.width, &shown, first..first + page);
    table.header(theme).render(head, buf);
    for (line, (place, index)) in rows.rows().zip(shown.iter().enumerate().skip(first)) {
        let selected = place == queries.cursor;
        if selected {
            buf.set_style(line, theme.selection());
        }
        table.row(*index, selected, theme).render(line, buf);
    }
    scrollbar(first, shown.len(), Canvas::new(theme, rows, buf));
    if queries.filter.is_empty() {
        let mut free = rows;
        cut(&mut free, shown.len() as u16 + 1);
        let lines = welcome::next_steps(model, theme, usize::from(free.height));
        Paragraph::new(lines).render(free, buf);
    }
    if shown.is_empty() && queries.loaded {
        let text = format!(
            "No query matches “{}”. Press {} to show all.",
            sanitize::line(&queries.filter),
            key_on(Command::Back, Screen::QUERIES)
        );
        Line::styled(text, theme.muted()).render(rows, buf);
    }
    Areas {
        list: rows,
        page,
        lines: shown.len(),
        first,
        position: Some(ListPosition {
            cursor: queries.cursor,
            shown: shown.len(),
            all: queries.rows().len(),
        }),
        ..Areas::default()
    }
}

/// The columns of the list and their widths.
struct QueryTable<'a> {
    model: &'a Model,
    /// The width that decides which columns are shown.
    screen: u16,
    columns: Vec<Column>,
    name: usize,
    text: usize,
}

impl<'a> QueryTable<'a> {
    /// The table in a list of this width; `visible` are the places of the visible rows.
    fn new(model: &'a Model, width: u16, shown: &[usize], visible: std::ops::Range<usize>) -> Self {
        let screen = width + 2;
        let columns = Column::shown(screen, &model.queries);
        let fixed: usize = columns.iter().map(|column| column.width(screen) + 1).sum();
        let room = usize::from(width).saturating_sub(fixed + 2);
        let name = shown
            .iter()
            .skip(visible.start)
            .take(visible.len())
            .map(|index| text::width(&name(model, *index)))
            .max()
            .unwrap_or(5)
            .clamp(5, 22)
            .min(room);
        Self {
            model,
            screen,
            columns,
            name,
            text: room.saturating_sub(name + 2),
        }
    }

    fn header(&self, theme: &Theme) -> Line<'static> {
        let words = format!(
            "  {}  {}",
            text::pad_right("query", self.name),
            text::pad_right("text", self.text)
        );
        let mut header = vec![Span::styled(words, theme.muted())];
        for column in &self.columns {
            header.push(Span::raw(" "));
            header.push(column.header(&self.model.queries, self.screen, theme));
        }
        Line::from(header)
    }

    fn row(&self, index: usize, selected: bool, theme: &Theme) -> Line<'static> {
        let (info, summary) = &self.model.queries.rows()[index];
        let name = text::pad_right(&name(self.model, index), self.name);
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(name, theme.strong()),
            Span::raw("  "),
            Span::raw(text::pad_right(&sanitize::line(&info.text), self.text)),
        ];
        for column in &self.columns {
            spans.push(Span::raw(" "));
            spans.extend(column.cell(info.documents, summary.as_ref(), self.screen, theme));
        }
        Line::from(spans)
    }
}

fn name(model: &Model, index: usize) -> String {
    sanitize::line(model.queries.rows()[index].0.id.as_str()).into_owned()
}
