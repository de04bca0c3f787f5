//! Detects answers that repeat themselves forever, as small models sometimes do.

/// Number of characters at the end of a text to look at.
const LOOKED_AT: usize = 1_000;
/// Maximum length of a repeated piece, in characters.
const PIECE: usize = 250;
/// Minimum number of characters that the repetitions must cover, and minimum number of repetitions.
const LEAST: usize = 120;
const TIMES: usize = 4;

/// Whether a text ends with a piece that is repeated several times, the last time possibly in part.
pub(crate) fn repeats_itself(text: &str) -> bool {
    let mut end: Vec<char> = text.chars().rev().take(LOOKED_AT).collect();
    end.reverse();
    let longest = PIECE.min(end.len() / TIMES);
    (1..=longest).any(|piece| {
        let span = (piece * TIMES).max(LEAST);
        let Some(start) = end.len().checked_sub(span) else {
            return false;
        };
        let tail = &end[start..];
        tail.iter().zip(&tail[piece..]).all(|(a, b)| a == b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::white_space(format!("{{\"thoughts\": [\"A\"{}", "\n".repeat(300)), true)]
    #[case::thoughts(format!("{{\"thoughts\": [{}\"A says", "\"A says that Paris is the capital.\", ".repeat(9)), true)]
    #[case::digits(format!("{{\"score\": 0.{}", "3".repeat(500)), true)]
    #[case::long_piece(format!("{}end", "A tells how long the bridge over the river is. B does not. ".repeat(30)), true)]
    #[case::cut(format!("{{\"thoughts\": [\"{}", (0..90).map(|at| format!("point {at} of A, ")).collect::<String>()), false)]
    #[case::few("no, no, no, no, no".to_owned(), false)]
    #[case::empty(String::new(), false)]
    fn a_loop_is_told_from_a_long_answer(#[case] text: String, #[case] loops: bool) {
        // Where a piece is truncated only matters at the end.
        let text = text.trim_end_matches("end");
        assert_eq!(repeats_itself(text), loops, "{text}");
    }
}
