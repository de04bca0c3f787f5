//! Grades as search tools write them.

/// Parses a grade: a whole number, which may have zeros after the decimal point (`3`, `3.0`,
/// `3.000`). `None` if it has a fraction, or is no number.
pub(super) fn whole_grade(text: &str) -> Option<i32> {
    let whole = match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => {
            whole
        }
        Some(_) => return None,
        None => text,
    };
    whole.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("3", Some(3))]
    #[case("-1", Some(-1))]
    #[case("3.0", Some(3))]
    #[case("2.000", Some(2))]
    #[case("0.7", None)]
    #[case("3.", None)]
    #[case(".0", None)]
    #[case("3.0.0", None)]
    #[case("3e0", None)]
    #[case("99999999999", None)]
    #[case("", None)]
    fn a_grade_is_whole(#[case] text: &str, #[case] expected: Option<i32>) {
        assert_eq!(whole_grade(text), expected);
    }
}
