//! CSV that a spreadsheet shows as it was written: no cell of ours is ever a formula.

use std::borrow::Cow;
use std::io::Write;

/// A cell that no spreadsheet takes for a formula: what starts like one gets a leading `'`, unless it is a number.
/// Control characters other than line feed and tab are removed.
pub fn spreadsheet_safe(cell: &str) -> Cow<'_, str> {
    let unwanted = |ch: char| ch.is_control() && ch != '\n' && ch != '\t';
    let clean = if cell.contains(unwanted) {
        Cow::Owned(cell.replace(unwanted, ""))
    } else {
        Cow::Borrowed(cell)
    };
    if starts_like_a_formula(&clean) && !is_number(&clean) {
        Cow::Owned(format!("'{clean}"))
    } else {
        clean
    }
}

fn starts_like_a_formula(cell: &str) -> bool {
    // The full-width forms are formulas too where the spreadsheet's locale is Japanese.
    cell.starts_with(['=', '+', '-', '@', '\t', '\n', '＝', '＋', '－', '＠'])
}

fn is_number(cell: &str) -> bool {
    let spelled =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'+' | b'-' | b'e' | b'E');
    cell.bytes().all(spelled) && cell.parse::<f64>().is_ok()
}

/// A CSV file being written, each of its cells through [`spreadsheet_safe`].
pub struct SafeCsv<W: Write>(csv::Writer<W>);

impl<W: Write> SafeCsv<W> {
    /// Starts a file; `out` need not be buffered.
    pub fn new(out: W) -> Self {
        Self(csv::Writer::from_writer(out))
    }

    /// Writes one row. Every row has as many cells as the first.
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
        fn a_safe_cell_stays_safe(cell in "[=+@\t\r\n\u{0}\u{1b}'a1.e-]{0,6}|\\PC{0,20}") {
            let safe = spreadsheet_safe(&cell).into_owned();
            prop_assert!(!starts_like_a_formula(&safe) || is_number(&safe));
            prop_assert!(!safe.chars().any(|ch| ch.is_control() && ch != '\n' && ch != '\t'));
            prop_assert_eq!(spreadsheet_safe(&safe), safe.as_str());
        }
    }
}
