//! Texts for the clipboard: without control characters, and tables that no spreadsheet evaluates.

use crate::domain::sanitize;
use crate::formats::csv_cell::spreadsheet_safe;
use crate::tui::text;

/// A table to copy as tab-separated values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClipboardTable {
    /// The name of one row, such as `query`.
    pub row: &'static str,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl ClipboardTable {
    pub fn new<const N: usize>(
        row: &'static str,
        columns: [&str; N],
        rows: impl Iterator<Item = [String; N]>,
    ) -> Self {
        Self {
            row,
            columns: columns.map(str::to_owned).to_vec(),
            rows: rows.map(Vec::from).collect(),
        }
    }

    pub fn tsv(&self) -> String {
        [&self.columns]
            .into_iter()
            .chain(&self.rows)
            .map(|row| tsv_line(row.iter().map(String::as_str)) + "\n")
            .collect()
    }

    pub fn describe(&self) -> String {
        let rows = text::counted(self.rows.len(), self.row);
        format!("{rows} as a table (tab-separated)")
    }
}

/// Cells on one line, separated by tabs.
pub(crate) fn tsv_line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let safe = |cell: &str| spreadsheet_safe(&sanitize::line(cell)).into_owned();
    cells.map(safe).collect::<Vec<_>>().join("\t")
}

/// A number, or nothing if it is not known.
pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_no_formulas_and_contain_no_control_characters() {
        let cells = ["=1+1", "+a", "-0.25", "@x", "a\tb\nc", "e\u{1b}[2J", "'=x"];
        let rows = [cells.map(str::to_owned)].into_iter();
        let table = ClipboardTable::new("query", ["a", "b", "c", "d", "e", "f", "g"], rows);
        assert_eq!(
            table.tsv(),
            "a\tb\tc\td\te\tf\tg\n'=1+1\t'+a\t-0.25\t'@x\ta b c\te␛[2J\t''=x\n"
        );
        assert_eq!(table.describe(), "1 query as a table (tab-separated)");
    }
}
