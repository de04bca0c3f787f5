//! Lays out the manual's Markdown for a terminal: headings, paragraphs, lists, tables and examples.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

/// Columns between two table cells.
const GAP: usize = 2;

/// How a part of a line is emphasized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emphasis {
    #[default]
    None,
    Strong,
    Code,
}

/// The part of the chapter that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Text,
    /// The heading of the chapter.
    Title,
    /// The heading of a section.
    Section,
    TableHead,
    /// An example, which is not wrapped.
    Example,
}

/// Text with its emphasis.
pub type Piece = (String, Emphasis);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualLine {
    pub kind: LineKind,
    pub pieces: Vec<Piece>,
}

impl ManualLine {
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(text, _)| text.as_str()).collect()
    }
}

/// A chapter as lines of a given width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManualPage {
    pub lines: Vec<ManualLine>,
    /// The names of sections, and the line of each.
    sections: Vec<(String, usize)>,
    /// The names of table rows and defined terms, and the line of each.
    entries: Vec<(String, usize)>,
}

impl ManualPage {
    /// The line of a section or, if there is no section of this name, of a table row or a defined
    /// term.
    pub fn line_of(&self, name: &str) -> Option<usize> {
        let find = |anchors: &[(String, usize)]| {
            let found = anchors
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            found.map(|(_, line)| *line)
        };
        find(&self.sections).or_else(|| find(&self.entries))
    }

    /// The page as plain text, with headings underlined.
    pub(super) fn plain(&self) -> String {
        let mut plain = String::new();
        for line in &self.lines {
            let text = line.text();
            plain.push_str(&text);
            plain.push('\n');
            let rule = match line.kind {
                LineKind::Title => "=",
                LineKind::Section => "-",
                LineKind::Text | LineKind::TableHead | LineKind::Example => continue,
            };
            plain.push_str(&rule.repeat(text.width()));
            plain.push('\n');
        }
        plain
    }
}

/// Lays out Markdown in lines of at most `width` columns; only examples may be longer. With
/// `quoted`, code in sentences is in backticks, for readers without styles.
pub(super) fn layout(markdown: &str, width: usize, quoted: bool) -> ManualPage {
    let mut layout = Layout {
        width,
        quoted,
        page: ManualPage::default(),
        words: Words::default(),
        emphasis: Emphasis::None,
        links: Vec::new(),
        lists: Vec::new(),
        bullet: None,
        example: false,
        rows: Vec::new(),
        defined: None,
    };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        layout.take(event);
    }
    layout.page
}

/// Words of a paragraph; a word consists of pieces without a space between them.
#[derive(Clone, Debug, Default)]
struct Words {
    words: Vec<Vec<Piece>>,
    /// Whether the next piece belongs to the last word.
    joined: bool,
}

impl Words {
    fn push(&mut self, text: &str, emphasis: Emphasis) {
        for (at, part) in text.split(' ').enumerate() {
            self.joined &= at == 0;
            if part.is_empty() {
                continue;
            }
            let piece = (part.to_owned(), emphasis);
            match self.words.last_mut() {
                Some(word) if self.joined => word.push(piece),
                _ => self.words.push(vec![piece]),
            }
            self.joined = true;
        }
    }

    fn space(&mut self) {
        self.joined = false;
    }

    fn text(&self) -> String {
        let words = self.words.iter().map(|word| word_text(word));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Lines of at most `width` columns; longer words get their own line. Never empty.
    fn wrap(self, width: usize) -> Vec<Vec<Piece>> {
        let mut lines = Vec::new();
        let (mut line, mut used) = (Vec::new(), 0);
        for word in self.words {
            let wide = word_width(&word);
            if used > 0 && used + 1 + wide > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            if used > 0 {
                let before = line.last().map(|(_, emphasis)| *emphasis);
                let emphasis =
                    before.filter(|before| word.first().map(|piece| piece.1) == Some(*before));
                add(&mut line, (" ".to_owned(), emphasis.unwrap_or_default()));
                used += 1;
            }
            word.into_iter().for_each(|piece| add(&mut line, piece));
            used += wide;
        }
        lines.push(line);
        lines
    }

    /// The same words, broken where they are wider than `width`.
    fn broken(self, width: usize) -> Self {
        let words = self.words.into_iter().flat_map(|word| {
            if word_width(&word) <= width {
                return vec![word];
            }
            let (mut parts, mut used) = (vec![Vec::new()], 0);
            for (text, emphasis) in word {
                for cluster in text.graphemes(true) {
                    if used > 0 && used + cluster.width() > width {
                        parts.push(Vec::new());
                        used = 0;
                    }
                    if let Some(part) = parts.last_mut() {
                        add(part, (cluster.to_owned(), emphasis));
                    }
                    used += cluster.width();
                }
            }
            parts
        });
        Self {
            words: words.collect(),
            joined: false,
        }
    }
}

fn word_text(word: &[Piece]) -> String {
    word.iter().map(|(text, _)| text.as_str()).collect()
}

fn word_width(word: &[Piece]) -> usize {
    word.iter().map(|(text, _)| text.width()).sum()
}

/// Adds a piece to a line, as a part of the last one if it is emphasized alike.
fn add(line: &mut Vec<Piece>, piece: Piece) {
    match line.last_mut() {
        Some((text, emphasis)) if *emphasis == piece.1 => text.push_str(&piece.0),
        _ => line.push(piece),
    }
}

struct Layout {
    width: usize,
    quoted: bool,
    page: ManualPage,
    words: Words,
    emphasis: Emphasis,
    /// The targets of the links around the current text.
    links: Vec<String>,
    /// The next number of each open list; `None` for a list with bullets.
    lists: Vec<Option<u64>>,
    /// The bullet of the list item whose first line comes next.
    bullet: Option<String>,
    example: bool,
    /// The rows of the current table.
    rows: Vec<Vec<Words>>,
    /// The first term that the current item emphasizes.
    defined: Option<String>,
}

impl Layout {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.example => {
                for line in text.lines() {
                    let line = format!("    {line}");
                    self.line(LineKind::Example, vec![(line, Emphasis::Code)]);
                }
            }
            Event::Text(text) => {
                if self.emphasis == Emphasis::Strong && self.defined.is_none() {
                    self.defined = Some(text.to_string());
                }
                self.words.push(&text, self.emphasis);
            }
            Event::Code(code) => self.code(&code),
            // `<FILE>` in a sentence looks like HTML.
            Event::InlineHtml(text) => self.words.push(&text, self.emphasis),
            Event::SoftBreak | Event::HardBreak => self.words.space(),
            Event::Html(_)
            | Event::Rule
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_) => {}
        }
    }

    /// Code, in backticks if nothing else shows where it begins and ends; in a table, columns do.
    fn code(&mut self, code: &str) {
        if self.quoted && self.rows.is_empty() {
            self.words.push(&format!("`{code}`"), Emphasis::Code);
        } else {
            self.words.push(code, Emphasis::Code);
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } | Tag::Table(_) => self.gap(),
            Tag::Paragraph if self.lists.is_empty() => self.gap(),
            Tag::CodeBlock(_) => {
                self.gap();
                self.example = true;
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                } else {
                    self.paragraph();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.defined = None;
                self.bullet = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "- ".to_owned(),
                });
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::Strong => self.emphasis = Emphasis::Strong,
            Tag::Link { dest_url, .. } => self.links.push(dest_url.to_string()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::Paragraph | TagEnd::Item => self.paragraph(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.example = false,
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.words);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table(),
            TagEnd::Strong => self.emphasis = Emphasis::None,
            TagEnd::Link => {
                let target = self.links.pop().unwrap_or_default();
                self.words.push(" (", Emphasis::None);
                match target.strip_suffix(".md") {
                    Some(topic) => self.code(&format!("overrule manual {topic}")),
                    None => self.words.push(&target, Emphasis::None),
                }
                self.words.push(")", Emphasis::None);
            }
            _ => {}
        }
    }

    fn line(&mut self, kind: LineKind, mut pieces: Vec<Piece>) {
        if let Some((text, _)) = pieces.last_mut() {
            text.truncate(text.trim_end_matches(' ').len());
        }
        self.page.lines.push(ManualLine { kind, pieces });
    }

    /// Adds one empty line if there is anything above.
    fn gap(&mut self) {
        if self
            .page
            .lines
            .last()
            .is_some_and(|line| !line.pieces.is_empty())
        {
            self.line(LineKind::Text, Vec::new());
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let words = std::mem::take(&mut self.words);
        let kind = match level {
            HeadingLevel::H1 => LineKind::Title,
            _ => LineKind::Section,
        };
        let at = self.page.lines.len();
        self.page.sections.push((words.text(), at));
        let text = words.text();
        self.line(kind, vec![(text, Emphasis::Strong)]);
    }

    /// Adds the words so far, indented as the list requires.
    fn paragraph(&mut self) {
        let words = std::mem::take(&mut self.words);
        if words.words.is_empty() {
            return;
        }
        if let Some(term) = self.defined.take().filter(|_| !self.lists.is_empty()) {
            let at = self.page.lines.len();
            self.page.entries.push((term, at));
        }
        let outer = "  ".repeat(self.lists.len().saturating_sub(1));
        let mut lead = outer.clone();
        if !self.lists.is_empty() {
            lead += self.bullet.take().as_deref().unwrap_or("  ");
        }
        let indent = " ".repeat(lead.width());
        for line in words.wrap(self.width.saturating_sub(indent.width())) {
            let mut pieces = vec![(std::mem::replace(&mut lead, indent.clone()), Emphasis::None)];
            pieces.retain(|(text, _)| !text.is_empty());
            line.into_iter().for_each(|piece| add(&mut pieces, piece));
            self.line(LineKind::Text, pieces);
        }
    }

    /// Adds the table with columns as wide as their widest cell. If they do not fit, the wide ones
    /// share the space left by the narrow ones, and their cells are wrapped.
    fn table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.text().width())
                .max()
                .unwrap_or(0)
        };
        let room = self.width.saturating_sub(columns.saturating_sub(1) * GAP);
        let widths = shared_widths((0..columns).map(widest).collect(), room);
        for (at, row) in rows.into_iter().enumerate() {
            if let Some(name) = row.first() {
                self.page.entries.push((name.text(), self.page.lines.len()));
            }
            let cells: Vec<Vec<Vec<Piece>>> = row
                .into_iter()
                .zip(&widths)
                .map(|(cell, width)| cell.broken(*width).wrap(*width))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            let kind = if at == 0 {
                LineKind::TableHead
            } else {
                LineKind::Text
            };
            for at in 0..height {
                let mut line = Vec::new();
                for (cell, width) in cells.iter().zip(&widths) {
                    let pieces = cell.get(at).cloned().unwrap_or_default();
                    let gap = width.saturating_sub(word_width(&pieces)) + GAP;
                    pieces.into_iter().for_each(|piece| add(&mut line, piece));
                    add(&mut line, (" ".repeat(gap), Emphasis::None));
                }
                self.line(kind, line);
            }
        }
    }
}

/// Column widths that fit in `room` together. Each column gets its full width or, if the total is
/// too large, at most an equal share of the space left by narrower columns.
fn shared_widths(wanted: Vec<usize>, room: usize) -> Vec<usize> {
    let mut by_width: Vec<usize> = (0..wanted.len()).collect();
    by_width.sort_by_key(|column| wanted[*column]);
    let mut widths = wanted;
    let (mut left, mut columns) = (room, widths.len());
    for column in by_width {
        widths[column] = widths[column].min((left / columns).max(1));
        left = left.saturating_sub(widths[column]);
        columns -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(markdown: &str, width: usize) -> String {
        layout(markdown, width, true).plain()
    }

    #[test]
    fn markdown_becomes_text_for_a_terminal() {
        let markdown = "# Title\n\nA **bold** word and `a*b`,\nsee [Picks](picks.md).\n\n- one\n- \
                        two, which is\n  long\n\n\
                        | key | what |\n| --- | --- |\n| `a` | A is *better* and so on \
                        |\n\n```console\n$ overrule keys\n```\n";
        let wanted = "Title\n=====\n\nA bold word and `a*b`, see\nPicks (`overrule \
                      manual\npicks`).\n\n- one\n- two, which is long\n\n\
                      key  what\na    A is better and so on\n\n    $ overrule keys\n";
        assert_eq!(plain(markdown, 28), wanted);
    }

    #[test]
    fn wide_columns_share_what_narrow_ones_leave() {
        let table = "| a | b |\n| --- | --- |\n| first | words that do not fit into the line |\n";
        assert_eq!(
            plain(table, 31),
            "a      b\nfirst  words that do not fit\n       into the line\n"
        );
        let table = "| a | b | c |\n| --- | --- | --- |\n| first | words that are wrapped | as \
                     these are too |\n";
        assert_eq!(
            plain(table, 31),
            "a      b            c\nfirst  words that   as these\n       are wrapped  are too\n"
        );
    }

    #[test]
    fn a_word_in_a_table_is_broken_rather_than_the_table() {
        let table = "| a | b |\n| --- | --- |\n| x | `https://example.org/a/long/path` |\n";
        let page = layout(table, 20, false);
        assert!(page.lines.iter().all(|line| line.text().width() <= 20));
        assert_eq!(page.lines.len(), 3);
    }

    #[test]
    fn styles_replace_backticks_and_sections_are_found() {
        let markdown = "# T\n\nPress `s` now.\n\n## The list\n\n- A **cycle** is odd.\n\n\
                        | screen | shows |\n| --- | --- |\n| Run | calls |\n";
        let page = layout(markdown, 40, false);
        let code = ("s".to_owned(), Emphasis::Code);
        assert!(page.lines.iter().any(|line| line.pieces.contains(&code)));
        let at = |name| page.line_of(name).map(|line| page.lines[line].text());
        assert_eq!(at("the list").as_deref(), Some("The list"));
        assert_eq!(at("Cycle").as_deref(), Some("- A cycle is odd."));
        assert_eq!(at("run").as_deref(), Some("Run     calls"));
        assert_eq!(at("nothing"), None);
    }

    #[test]
    fn numbers_paragraphs_and_angle_brackets_survive() {
        let markdown = "1. one\n2. two\n\n   more of two\n\nA <FILE> here.\n\n<!-- note -->\n";
        assert_eq!(
            plain(markdown, 30),
            "1. one\n2. two\n  more of two\n\nA <FILE> here.\n"
        );
    }
}
