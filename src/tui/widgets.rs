//! Widgets: plain state that takes keys, returns a [`KeyOutcome`], and draws to a buffer.

pub(crate) mod clicks;
pub mod confirm;
pub(crate) mod document_text;
pub mod export_dialog;
pub mod footer;
pub(crate) mod gauge;
pub mod guideline_editor;
pub mod header;
pub mod heatmap;
pub mod help;
pub mod import_dialog;
pub(crate) mod list;
pub(crate) mod metadata;
pub mod page;
pub mod palette;
pub mod prompt;
pub mod question_dialog;
pub(crate) mod score_axis;
mod scroll_box;
pub mod settings_dialog;
pub mod text_editor;
pub mod toast;

use self::clicks::ClickAreas;
use super::canvas::Canvas;
use super::keymap::{Command, Scope, Screen, key_name, key_on};
use super::text;
use super::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Widget};

/// How a widget handled a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOutcome<T = ()> {
    Consumed,
    /// Not handled: the screen below or the global table may use it.
    Pass,
    /// Accepted, with the result; close the widget.
    Submitted(T),
    /// Canceled; close the widget.
    Cancelled,
}

impl<T> KeyOutcome<T> {
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> KeyOutcome<U> {
        match self {
            Self::Consumed => KeyOutcome::Consumed,
            Self::Pass => KeyOutcome::Pass,
            Self::Submitted(result) => KeyOutcome::Submitted(with(result)),
            Self::Cancelled => KeyOutcome::Cancelled,
        }
    }
}

/// Maximum columns next to a box that are cleared, because they are too narrow for words.
const STRIP: u16 = 3;

/// Clears `area`, draws a titled border and returns the inner area with one blank column on each
/// side.
pub fn boxed(title: &str, theme: &Theme, area: Rect, buf: &mut Buffer) -> Rect {
    let area = area.intersection(buf.area);
    let whole = buf.area;
    let left = area.x.saturating_sub(whole.x);
    let right = whole.right().saturating_sub(area.right());
    let is_strip = left.max(right) <= STRIP;
    let cleared = Rect {
        x: if is_strip { whole.x } else { area.x },
        width: if is_strip { whole.width } else { area.width },
        ..area
    };
    Clear.render(cleared, buf);
    let block = Block::bordered()
        .border_style(theme.border_focus())
        .title(format!(" {title} "))
        .title_style(theme.title());
    let inner = block.inner(area);
    block.render(area, buf);
    Rect {
        x: inner.x + u16::from(inner.width > 2),
        width: inner
            .width
            .saturating_sub(if inner.width > 2 { 2 } else { 0 }),
        ..inner
    }
}

/// Draws a pane's heading: text, then a line to the right edge.
pub(crate) fn heading(words: &str, focus: bool, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let columns = usize::from(area.width);
    let mark = if focus { "▸ " } else { "" };
    let words = text::truncate(words, columns.saturating_sub(mark.chars().count())).into_owned();
    let used = text::width(&words) + mark.chars().count() + 1;
    let (style, rule) = if focus {
        (theme.accent(), theme.border_focus())
    } else {
        (theme.title(), theme.border())
    };
    Line::from(vec![
        Span::styled(mark, style),
        Span::styled(words, style),
        Span::raw(" "),
        Span::styled("─".repeat(columns.saturating_sub(used)), rule),
    ])
    .render(area, buf);
}

/// Draws a text in place of missing or pending content.
pub(crate) fn notice(words: &str, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let lines = text::lines(words, usize::from(area.width), theme.muted());
    Paragraph::new(lines).render(area, buf);
}

/// Draws lines from `first` on; if more follow, the last row gives their number and how to see
/// them.
pub(crate) fn folded_page(
    lines: Vec<Line<'static>>,
    first: usize,
    hint: &str,
    canvas: Canvas<'_>,
) -> (usize, usize) {
    let Canvas { theme, area, buf } = canvas;
    let (total, page) = (lines.len(), usize::from(area.height));
    let first = first.min(total.saturating_sub(page));
    let mut shown: Vec<Line<'static>> = lines.into_iter().skip(first).take(page).collect();
    let hidden = total.saturating_sub(first + page);
    if hidden > 0 && page > 1 {
        shown.pop();
        let words = format!("… {} more lines{hint}", hidden + 1);
        shown.push(Line::styled(words, theme.muted()));
    } else if hidden > 0
        && let Some(only) = shown.first_mut()
    {
        *only = text::ended(only, usize::from(area.width));
    }
    Paragraph::new(shown).render(area, buf);
    (total, page)
}

/// As many lines as fit; the last one gives the number of hidden lines and the key that shows them.
pub(crate) fn folded_rows(
    mut lines: Vec<Line<'static>>,
    room: u16,
    shown_by: &str,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let room = usize::from(room);
    if lines.len() > room && room > 0 {
        let more = lines.len() - (room - 1);
        lines.truncate(room - 1);
        let words = format!("… {} than fit: {shown_by}", text::counted(more, "more row"));
        lines.push(Line::styled(words, theme.warn()));
    }
    lines
}

/// Describes the key that shows the hidden rows of a screen on a separate page.
pub(crate) fn page_hint(screen: Screen) -> String {
    format!("{} shows all", key_on(Command::ShowTables, screen))
}

/// Keys with their labels, in as many rows as they need; the chosen one is marked.
pub(crate) fn key_rows(
    keys: &[(Command, &'static str, bool)],
    scope: Scope,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0;
    for (command, words, chosen) in keys {
        let key = key_name(*command, scope);
        let width = key.chars().count() + words.chars().count() + 3;
        if used + width > columns && used > 0 {
            rows.push(Vec::new());
            used = 0;
        }
        let (mark, style) = if *chosen {
            ("●", theme.strong())
        } else {
            (" ", theme.text())
        };
        if let Some(row) = rows.last_mut() {
            row.push(Span::raw("["));
            row.push(Span::styled(key, theme.key_hint()));
            row.push(Span::styled(format!("]{mark}{words} "), style));
        }
        used += width + 1;
    }
    rows.into_iter().map(Line::from).collect()
}

/// Keys with their labels on one line, which take clicks. The label belongs to its key, or is
/// shared by several.
fn key_line(keys: &[(&str, &str)], clicks: &ClickAreas, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let mut spans = Vec::new();
    let mut used = 0;
    for (key, does) in keys {
        let whole = text::width(key) + text::width(does) + 1;
        let names: Vec<&str> = key.split(' ').collect();
        let mut place = used;
        for name in &names {
            let columns = if names.len() == 1 {
                whole
            } else {
                text::width(name)
            };
            clicks.named_key(name, area, area.x + place as u16, columns);
            place += columns + 1;
        }
        used += whole + 2;
        spans.push(Span::styled((*key).to_owned(), theme.key_hint()));
        spans.push(Span::styled(format!(" {does}  "), theme.muted()));
    }
    Line::from(spans).render(area, buf);
}

/// Commands that select answers, each with its answer.
pub(crate) struct Choice<T: 'static>(pub(crate) &'static [(Command, T)]);

impl<T: Copy + PartialEq> Choice<T> {
    pub(crate) fn of(&self, command: Command) -> Option<T> {
        self.0
            .iter()
            .find(|(known, _)| *known == command)
            .map(|(_, answer)| *answer)
    }

    /// The keys with their labels; the chosen answer is marked.
    pub(crate) fn rows(
        &self,
        chosen: Option<T>,
        words: fn(T) -> &'static str,
        scope: Scope,
        theme: &Theme,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let keys = self
            .0
            .iter()
            .map(|(command, answer)| (*command, words(*answer), chosen == Some(*answer)));
        key_rows(&keys.collect::<Vec<_>>(), scope, theme, columns)
    }
}

/// The first visible row such that `selected` is among `rows` visible ones, moving `top` no more
/// than needed.
pub fn scroll_to(top: usize, selected: usize, rows: usize) -> usize {
    if selected < top {
        selected
    } else if rows > 0 && selected >= top + rows {
        selected + 1 - rows
    } else {
        top
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn scrolling_moves_no_more_than_needed() {
        assert_eq!(scroll_to(0, 3, 5), 0);
        assert_eq!(scroll_to(0, 5, 5), 1);
        assert_eq!(scroll_to(4, 2, 5), 2);
        assert_eq!(scroll_to(0, 9, 0), 0);
    }

    #[test]
    fn boxes_fit_any_area() {
        for (width, height) in [(0, 0), (1, 1), (3, 2), (80, 24)] {
            crate::tui::testing::draw(width, height, |area, buf| {
                let inner = boxed(
                    "title",
                    &Theme::default(),
                    crate::tui::layout::centred(area, 40, 9),
                    buf,
                );
                assert_eq!(inner.intersection(area), inner);
            });
        }
    }

    #[test]
    fn no_single_letters_are_left_next_to_a_box() {
        for (width, left) in [(46, " "), (60, "x")] {
            let page = crate::tui::testing::draw(width, 5, |area, buf| {
                for row in area.rows() {
                    buf.set_string(
                        row.x,
                        row.y,
                        "x".repeat(usize::from(row.width)),
                        Style::default(),
                    );
                }
                let frame = crate::tui::layout::centred(area, 40, 3);
                boxed("title", &Theme::default(), frame, buf);
            });
            assert_eq!(page[(0, 2)].symbol(), left);
            assert_eq!(page[(0, 0)].symbol(), "x");
        }
    }
}
