//! A page of text on top of the screen.

use super::KeyOutcome;
use super::clicks::ClickAreas;
use super::scroll_box::ScrollBox;
use crate::app::manual::{Chapter, Emphasis, LineKind, ManualLine};
use crate::domain::sanitize;
use crate::tui::keymap::Command;
use crate::tui::text;
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

const WIDTH: u16 = 90;

#[derive(Clone, Debug)]
enum PageContent {
    Text(String),
    Chapter(Chapter),
}

#[derive(Clone, Debug)]
pub struct Page {
    content: PageContent,
    page: ScrollBox,
    passes: Option<Command>,
}

impl Page {
    /// Creates a page; control characters in `text` are shown as symbols.
    pub fn new(title: &'static str, text: &str) -> Self {
        Self {
            content: PageContent::Text(sanitize::block(text).into_owned()),
            page: ScrollBox::new(title, WIDTH),
            passes: None,
        }
    }

    /// A chapter of the manual, scrolled to a section, in a terminal with `columns` columns.
    pub(crate) fn of_manual(chapter: Chapter, section: Option<&str>, columns: u16) -> Self {
        let page = chapter.body(Self::columns(columns));
        let line = section.and_then(|section| page.line_of(section));
        Self {
            content: PageContent::Chapter(chapter),
            page: ScrollBox::new(chapter.title(), WIDTH).starting_at(line.unwrap_or(0)),
            passes: None,
        }
    }

    /// A command of the screen below that closes the page and is executed.
    pub fn passing(mut self, command: Command) -> Self {
        self.passes = Some(command);
        self
    }

    pub(crate) fn passes(&self, command: Command) -> bool {
        self.passes == Some(command)
    }

    /// Columns for its text in a terminal with `columns` columns.
    pub(crate) fn columns(columns: u16) -> usize {
        ScrollBox::new("", WIDTH).columns(Rect::new(0, 0, columns, 1))
    }

    pub(crate) fn clicks(&self) -> &ClickAreas {
        &self.page.clicks
    }

    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        self.page.handle(event)
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = self.page.columns(area);
        let lines = match &self.content {
            PageContent::Text(text) => {
                text::lines(text.trim_end_matches('\n'), columns, theme.text())
            }
            PageContent::Chapter(chapter) => {
                let lines = chapter.body(columns).lines.into_iter();
                lines.map(|line| manual_line(line, theme)).collect()
            }
        };
        self.page.render(lines, theme, area, buf);
    }
}

/// A line of the manual with its styles.
fn manual_line(line: ManualLine, theme: &Theme) -> Line<'static> {
    let ManualLine { kind, pieces } = line;
    let spans = pieces.into_iter().map(|(text, emphasis)| {
        let style = match (kind, emphasis) {
            (LineKind::Title | LineKind::Section, _) => theme.title(),
            (LineKind::TableHead, _) => theme.muted(),
            (_, Emphasis::Code) => theme.key_hint(),
            (_, Emphasis::Strong) => theme.strong(),
            (_, Emphasis::None) => theme.text(),
        };
        Span::styled(text, style)
    });
    Line::from_iter(spans)
}
