//! Renders the manual's Markdown as plain text: headings, paragraphs, lists, tables and examples.

use unicode_width::UnicodeWidthStr;

/// Columns between two table cells.
const GAP: usize = 2;

/// Renders Markdown as plain text of at most `width` columns; examples are not wrapped.
pub(super) fn plain(markdown: &str, width: usize) -> String {
    let mut page = Page {
        width,
        text: String::new(),
    };
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with("<!--") {
            page.gap();
        } else if line.starts_with("```") {
            while let Some(example) = lines.next().filter(|line| !line.starts_with("```")) {
                page.line("    ", example);
            }
        } else if let Some(title) = line.strip_prefix("# ") {
            page.heading(title, "=");
        } else if let Some(title) = line.strip_prefix("## ") {
            page.heading(title, "-");
        } else if line.starts_with('|') {
            let mut rows = vec![cells(line)];
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                if !row.starts_with("| ---") {
                    rows.push(cells(row));
                }
            }
            page.table(&rows);
        } else {
            let mut paragraph = line.to_owned();
            while let Some(more) = lines.next_if(|line| continues(line)) {
                paragraph.push(' ');
                paragraph.push_str(more.trim_start());
            }
            match paragraph.strip_prefix("- ") {
                Some(item) => page.wrapped("- ", &inline(item)),
                None => page.wrapped("", &inline(&paragraph)),
            }
        }
    }
    page.text.truncate(page.text.trim_end().len());
    page.text.push('\n');
    page.text
}

/// Whether a line continues the paragraph before it.
fn continues(line: &str) -> bool {
    !line.is_empty()
        && !["- ", "|", "```", "#", "<!--"]
            .iter()
            .any(|start| line.starts_with(start))
}

/// The cells of a table row, without markup: the columns make clear where code begins and ends.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim_matches('|');
    row.split(" | ")
        .map(|cell| inline(cell.trim()).replace('`', ""))
        .collect()
}

/// Removes emphasis from a text and replaces links by the commands that follow them. Code stays in
/// backticks.
fn inline(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (at, part) in text.split('`').enumerate() {
        if at > 0 {
            plain.push('`');
        }
        let is_code = at % 2 == 1;
        if is_code {
            plain.push_str(part);
        } else {
            plain.push_str(&links(&part.replace('*', "")));
        }
    }
    plain
}

fn links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, name, target, after)) = link(rest) {
        plain.push_str(before);
        plain.push_str(name);
        match target.strip_suffix(".md") {
            Some(topic) => plain.push_str(&format!(" (`overrule manual {topic}`)")),
            None => plain.push_str(&format!(" ({target})")),
        }
        rest = after;
    }
    plain + rest
}

/// The first link of a text: the text before it, its label, its target, and the text after it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (before, rest) = text.split_once("](")?;
    let (before, name) = before.rsplit_once('[')?;
    let (target, after) = rest.split_once(')')?;
    Some((before, name, target, after))
}

struct Page {
    width: usize,
    text: String,
}

impl Page {
    fn line(&mut self, indent: &str, line: &str) {
        self.text.push_str(indent);
        self.text.push_str(line);
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }

    /// Adds one empty line if there is anything above.
    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn heading(&mut self, title: &str, rule: &str) {
        self.line("", title);
        self.line("", &rule.repeat(title.width()));
    }

    /// Adds a paragraph whose first line begins with `bullet`, with the other lines indented to
    /// match.
    fn wrapped(&mut self, bullet: &str, text: &str) {
        let space = " ".repeat(bullet.width());
        let mut indent = bullet;
        for line in wrap(text, self.width.saturating_sub(bullet.width())) {
            self.line(indent, &line);
            indent = &space;
        }
    }

    /// Adds a table with columns as wide as their widest cell. If they do not fit, the wide ones
    /// share the space left by the narrow ones, and their cells are wrapped.
    fn table(&mut self, rows: &[Vec<String>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.width())
                .max()
                .unwrap_or(0)
        };
        let room = self.width.saturating_sub(columns.saturating_sub(1) * GAP);
        let widths = shared_widths((0..columns).map(widest).collect(), room);
        for row in rows {
            let wrapped = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| wrap(cell, *width));
            let cells: Vec<Vec<String>> = wrapped.collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0);
            for at in 0..height {
                let mut line = String::new();
                for (cell, width) in cells.iter().zip(&widths) {
                    let text = cell.get(at).map_or("", String::as_str);
                    line.push_str(text);
                    line.push_str(&" ".repeat(width.saturating_sub(text.width()) + GAP));
                }
                self.line("", &line);
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

/// Wraps a text at spaces to lines of at most `width` columns; longer words get their own line.
/// Never empty.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
