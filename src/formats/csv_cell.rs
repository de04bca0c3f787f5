//! Escapes CSV cells so that no spreadsheet evaluates them as formulas, and unescapes them on
//! reading.

use std::borrow::Cow;
use std::io::Write;

/// The escaped cell: a cell that starts like a formula, even after apostrophes, gets a `'` prefix
/// unless it is a number, so different cells stay different. Control characters other than line
/// feed and tab are removed.
pub fn spreadsheet_safe(cell: &str) -> Cow<'_, str> {
    protected_cell(cell, '\'')
}

/// As [`spreadsheet_safe`], but with `prefix` before a cell that starts like a formula.
pub(super) fn protected_cell(cell: &str, prefix: char) -> Cow<'_, str> {
    let unwanted = |ch: char| ch.is_control() && ch != '\n' && ch != '\t';
    let clean = if cell.contains(unwanted) {
        Cow::Owned(cell.replace(unwanted, ""))
    } else {
        Cow::Borrowed(cell)
    };
    if starts_like_a_formula(clean.trim_start_matches('\'')) && !is_number(&clean) {
        Cow::Owned(format!("{prefix}{clean}"))
    } else {
        clean
    }
}

/// Reverses [`spreadsheet_safe`], except for removed control characters.
pub(super) fn read_back(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if starts_like_a_formula(rest.trim_start_matches('\'')) => rest,
        _ => cell,
    }
}

fn starts_like_a_formula(cell: &str) -> bool {
    // The full-width forms also start formulas if the spreadsheet's locale is Japanese.
    cell.starts_with(['=', '+', '-', '@', '\t', '\n', '＝', '＋', '－', '＠'])
}

fn is_number(cell: &str) -> bool {
    let spelled =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'+' | b'-' | b'e' | b'E');
    cell.bytes().all(spelled) && cell.parse::<f64>().is_ok()
}

/// Writes a CSV file, passing each cell through [`spreadsheet_safe`].
pub struct SafeCsv<W: Write>(csv::Writer<W>);

impl<W: Write> SafeCsv<W> {
    /// Starts a file; `out` need not be buffered.
    pub fn new(out: W) -> Self {
        Self(csv::Writer::from_writer(out))
    }

    /// Writes one row. All rows must have as many cells as the first.
    pub fn row<I>(&mut self, cells: I) -> Result<(), csv::Error>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        for cell in cells {
            self.0
                .write_field(spreadsheet_safe(cell.as_ref()).as_bytes())?;
        }
        self.0.write_record(None::<&[u8]>)
    }

    pub fn finish(self) -> Result<W, csv::Error> {
        self.0
            .into_inner()
            .map_err(|error| csv::Error::from(error.into_error()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("plain", "plain")]
    #[case("", "")]
    #[case("=1+1", "'=1+1")]
    #[case("+CMD|' /C calc'!A0", "'+CMD|' /C calc'!A0")]
    #[case("@SUM(A1)", "'@SUM(A1)")]
    #[case("\t=1", "'\t=1")]
    #[case("\r=1", "'=1")]
    #[case("\0=1", "'=1")]
    #[case("＝1", "'＝1")]
    #[case("-1.25", "-1.25")]
    #[case("+3", "+3")]
    #[case("-1.5e-7", "-1.5e-7")]
    #[case("-1+1", "'-1+1")]
    #[case("-inf", "'-inf")]
    #[case("-", "'-")]
    #[case("two\nlines\ttab\u{1b}[2J", "two\nlines\ttab[2J")]
    #[case("'=1+1", "''=1+1")]
    #[case("''-k", "'''-k")]
    #[case("'-1.25", "''-1.25")]
    #[case("'tis", "'tis")]
    #[case("'", "'")]
    fn cells_never_become_formulas(#[case] cell: &str, #[case] expected: &str) {
        assert_eq!(spreadsheet_safe(cell), expected);
    }

    #[test]
    fn rows_are_quoted_where_needed() {
        let mut csv = SafeCsv::new(Vec::new());
        csv.row(["id", "text"]).unwrap();
        csv.row(["-0.5", "=HYPERLINK(\"x\"),y"]).unwrap();
        csv.row([String::new(), String::new()]).unwrap();
        let text = String::from_utf8(csv.finish().unwrap()).unwrap();
        assert_eq!(text, "id,text\n-0.5,\"'=HYPERLINK(\"\"x\"\"),y\"\n,\n");
    }

    proptest! {
        #[test]
        fn a_safe_cell_is_no_formula_and_is_read_back(
            cell in "[=+@\t\r\n\u{0}\u{1b}'a1.e-]{0,6}|'{0,3}\\PC{0,20}",
        ) {
            let safe = spreadsheet_safe(&cell).into_owned();
            prop_assert!(!starts_like_a_formula(&safe) || is_number(&safe));
            let kept = |ch: &char| !ch.is_control() || matches!(ch, '\n' | '\t');
            prop_assert!(safe.chars().all(|ch| kept(&ch)));
            prop_assert_eq!(read_back(&safe), cell.chars().filter(kept).collect::<String>());
        }
    }
}
