//! Text tables: columns as wide as their cells, split into several tables on a narrow terminal.

use super::lines::shortened;
use super::terminal_width;
use crate::domain::number_words;
use std::borrow::Cow;
use std::collections::HashSet;
use unicode_width::UnicodeWidthStr as _;

/// A last column wider than this contains text, which a narrow terminal truncates.
const TEXT_COLUMN: usize = 30;
/// Minimum width to which such a text is truncated.
const LEAST_TEXT: usize = 12;

/// Formats columns of text, separated by two spaces and left-aligned. A header that starts with `>`
/// marks numbers, whose thousands are separated; one with `#` marks numbers that are names. On a
/// narrow terminal, a text in the last column is truncated with `…`. If the other columns do not
/// fit, they are split into tables below one another, so that nothing is truncated. Each table
/// repeats the columns from the left that distinguish the rows; if these leave no room, the rows
/// are numbered.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    table_within(terminal_width(), header, rows)
}

fn table_within(width: Option<usize>, header: &[&str], rows: &[Vec<String>]) -> String {
    let line = width.unwrap_or(usize::MAX);
    let columns_of = |header: &[&str], rows: &[Vec<String>]| {
        let mut columns = TableColumns::new(header);
        rows.iter().for_each(|row| columns.make_room(row));
        columns
    };
    if let Some(parts) = columns_of(header, rows).parts(line, key_columns(rows)) {
        return printed(&parts, line, header, rows);
    }
    let header = [&["#"], header].concat();
    let numbered = rows.iter().enumerate().map(|(at, row)| {
        std::iter::once((at + 1).to_string())
            .chain(row.iter().cloned())
            .collect()
    });
    let rows: Vec<Vec<String>> = numbered.collect();
    let parts = columns_of(&header, &rows).parts(line, 1);
    // A column that is wider than the terminal gets its own table.
    let parts = parts.unwrap_or_else(|| (1..header.len()).map(|at| vec![0, at]).collect());
    printed(&parts, line, &header, &rows)
}

/// Formats tables of these columns, one below the other.
fn printed(parts: &[Vec<usize>], line: usize, header: &[&str], rows: &[Vec<String>]) -> String {
    let tables = parts.iter().map(|part| {
        let cells = |row: &Vec<String>| part.iter().map(|at| row[*at].clone()).collect();
        let header: Vec<&str> = part.iter().map(|at| header[*at]).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
        let mut columns = TableColumns::new(&header);
        rows.iter().for_each(|row| columns.make_room(row));
        let lines = rows.iter().map(|row| columns.line(row));
        let lines = std::iter::once(columns.header()).chain(lines);
        lines
            .map(|words| shortened(words.trim_end(), line) + "\n")
            .collect::<String>()
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// Formats a cell: in columns of numbers, the thousands of integers are separated.
fn cell_words(cell: &str, kind: ColumnKind) -> Cow<'_, str> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    if kind != ColumnKind::Numbers
        || !cell
            .as_bytes()
            .windows(4)
            .any(|four| four.iter().all(is_digit))
    {
        return Cow::Borrowed(cell);
    }
    let mut words = String::new();
    let mut rest = cell;
    while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
        words.push_str(&rest[..at]);
        let end = rest[at..].find(|character: char| !character.is_ascii_digit());
        let (digits, after) = rest[at..].split_at(end.unwrap_or(rest.len() - at));
        if words.ends_with(['.', ',']) {
            words.push_str(digits)
        } else {
            words.push_str(&number_words::count(digits))
        }
        rest = after;
    }
    words.push_str(rest);
    Cow::Owned(words)
}

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    Text,
    Numbers,
    /// Numbers that are names: options accept them as they are shown.
    Identifiers,
}

impl ColumnKind {
    /// The kind and the name of a column, from its header as given by the caller.
    fn of(header: &str) -> (Self, &str) {
        match (header.strip_prefix('>'), header.strip_prefix('#')) {
            (Some(name), _) => (Self::Numbers, name),
            (None, Some(name)) if !name.is_empty() => (Self::Identifiers, name),
            _ => (Self::Text, header),
        }
    }

    fn is_right(self) -> bool {
        self != Self::Text
    }
}

/// Whether a column contains the intervals or errors of the previous one.
fn is_interval(name: &str) -> bool {
    name.starts_with("95 %") || name.ends_with("95 %") || name.starts_with('±')
}

/// Number of columns from the left needed to distinguish the rows, or to distinguish as many as
/// possible.
fn key_columns(rows: &[Vec<String>]) -> usize {
    let distinct = |columns: usize| {
        let keys = rows.iter().map(|row| row.get(..columns).unwrap_or(row));
        keys.collect::<HashSet<_>>().len()
    };
    let all = rows.first().map_or(1, Vec::len);
    let most = distinct(all);
    (1..all)
        .find(|columns| distinct(*columns) == most)
        .unwrap_or(1)
}

/// Widths of a table's columns.
pub(crate) struct TableColumns {
    names: Vec<String>,
    kinds: Vec<ColumnKind>,
    widths: Vec<usize>,
}

impl TableColumns {
    /// Wide enough for the header.
    pub(crate) fn new(header: &[&str]) -> Self {
        let columns = header.iter().map(|header| ColumnKind::of(header));
        let (kinds, names): (Vec<_>, Vec<_>) = columns.unzip();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        Self {
            kinds,
            widths: names.iter().map(|name| name.width()).collect(),
            names,
        }
    }

    /// Makes the columns wide enough for a row.
    pub(crate) fn make_room<S: AsRef<str>>(&mut self, row: &[S]) {
        let columns = self.widths.iter_mut().zip(&self.kinds);
        for ((width, kind), cell) in columns.zip(row) {
            *width = (*width).max(cell_words(cell.as_ref(), *kind).width());
        }
    }

    /// Number of columns left for the last cell in a line of `line` columns.
    pub(crate) fn left_for_last(&self, line: usize) -> usize {
        let before = self.widths.iter().rev().skip(1);
        line.saturating_sub(before.map(|width| width + 2).sum())
    }

    /// The indices of the columns of each table, such that its lines fit: the first `key` columns
    /// in all of them, and an interval next to the column it belongs to. `None` if a column does
    /// not fit next to the first ones.
    fn parts(&self, line: usize, key: usize) -> Option<Vec<Vec<usize>>> {
        let wide = |places: &[usize]| {
            let widths = places.iter().map(|at| self.widths[*at] + 2);
            widths.sum::<usize>().saturating_sub(2)
        };
        let last = self.widths.last().copied().unwrap_or(0);
        let of_text = last > TEXT_COLUMN && self.left_for_last(line) >= LEAST_TEXT;
        let all: Vec<usize> = (0..self.widths.len()).collect();
        if of_text || wide(&all) <= line {
            return Some(vec![all]);
        }
        let keys = &all[..key];
        let mut parts = vec![keys.to_vec()];
        for group in all[key..].chunk_by(|_, next| is_interval(&self.names[*next])) {
            let fits = |part: &[usize]| wide(&[part, group].concat()) <= line;
            match parts.last_mut() {
                Some(part) if fits(part) => part.extend(group),
                _ if fits(keys) => parts.push([keys, group].concat()),
                _ => return None,
            }
        }
        Some(parts)
    }

    pub(crate) fn header(&self) -> String {
        self.line(&self.names)
    }

    /// A row as a line.
    pub(crate) fn line<S: AsRef<str>>(&self, row: &[S]) -> String {
        let mut line = String::new();
        for ((cell, width), kind) in row.iter().zip(&self.widths).zip(&self.kinds) {
            let cell = cell_words(cell.as_ref(), *kind);
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) = if kind.is_right() {
                (pad.as_str(), "")
            } else {
                ("", pad.as_str())
            };
            line.push_str(before);
            line.push_str(&cell);
            line.push_str(after);
            line.push_str("  ");
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_last_column_ends_at_the_width_of_the_terminal() {
        let text = "Insomnia can be treated with therapy.";
        let rows = [vec!["q1".to_owned(), text.to_owned()]];
        let table = |width| table_within(width, &["query", "text"], &rows);
        assert_eq!(table(None), format!("query  text\nq1     {text}\n"));
        assert_eq!(table(Some(60)), table(None));
        assert_eq!(table(Some(22)), "query  text\nq1     Insomnia can b…\n");
    }

    #[test]
    fn a_wide_table_becomes_several_on_a_narrow_terminal() {
        let rows = [["bm25", "57 %", "1200", "0.25 s"]
            .map(str::to_owned)
            .to_vec()];
        let header = ["judge", ">flips", ">votes", ">p50"];
        let table = |width| table_within(width, &header, &rows);
        assert_eq!(table(Some(28)), table(None));
        assert_eq!(
            table(None),
            "judge  flips  votes     p50\nbm25    57 %  1,200  0.25 s\n"
        );
        let parts = "judge  flips\nbm25    57 %\n\njudge  votes\nbm25   1,200\n\njudge     \
                     p50\nbm25   0.25 s\n";
        assert_eq!(table(Some(14)), parts);
    }

    fn rows(cells: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
        cells.iter().map(row).collect()
    }

    #[test]
    fn each_part_of_a_table_has_the_columns_that_tell_its_rows_apart() {
        let header = ["query", "by", "pair", ">strength", ">against"];
        let cells = rows(&[
            &["q1", "gpt", "a × b", "0.50", "0.25"],
            &["q1", "gpt", "a × c", "0.75", "0.00"],
            &["q1", "bm25", "a × b", "1.00", "0.50"],
        ]);
        let parts = [
            "query  by    pair   strength",
            "q1     gpt   a × b      0.50",
            "q1     gpt   a × c      0.75",
            "q1     bm25  a × b      1.00",
            "",
            "query  by    pair   against",
            "q1     gpt   a × b     0.25",
            "q1     gpt   a × c     0.00",
            "q1     bm25  a × b     0.50",
            "",
        ];
        assert_eq!(table_within(Some(28), &header, &cells), parts.join("\n"));
        let parts = [
            "#  query  by    pair",
            "1  q1     gpt   a × b",
            "2  q1     gpt   a × c",
            "3  q1     bm25  a × b",
            "",
            "#  strength  against",
            "1      0.50     0.25",
            "2      0.75     0.00",
            "3      1.00     0.50",
            "",
        ];
        assert_eq!(table_within(Some(24), &header, &cells), parts.join("\n"));
    }

    #[test]
    fn an_interval_stays_beside_what_it_is_of() {
        let header = ["", ">share", "95 % interval", ">by chance", ">± 1 se"];
        let cells = rows(&[&["both", "0.50", "0.4 to 0.6", "0.25", "0.01"]]);
        let parts = [
            "      share  95 % interval",
            "both   0.50  0.4 to 0.6",
            "",
            "      by chance  ± 1 se",
            "both       0.25    0.01",
            "",
        ];
        assert_eq!(table_within(Some(34), &header, &cells), parts.join("\n"));
    }

    #[test]
    fn numbers_in_columns_of_numbers_have_separated_thousands() {
        let shown = ["2400", "12/1500", "0.12345", "1,234", "12345 ms"]
            .map(|cell| cell_words(cell, ColumnKind::Numbers).into_owned());
        assert_eq!(
            shown,
            ["2,400", "12/1,500", "0.12345", "1,234", "12,345 ms"]
        );
        assert_eq!(cell_words("970012", ColumnKind::Text), "970012");
        let rows = [vec!["q1".to_owned(), "2400".to_owned()]];
        let table = table_within(None, &["query", ">votes"], &rows);
        assert_eq!(table, "query  votes\nq1     2,400\n");
        let rows = [vec!["1200".to_owned(), "2400".to_owned()]];
        let table = table_within(None, &["#batch", ">votes"], &rows);
        assert_eq!(table, "batch  votes\n 1200  2,400\n");
    }
}
