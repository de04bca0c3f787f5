//! Compares a person's time before a decision with the amount of text to read.

use crate::domain::numeric::median;
use crate::tui::text;

/// Maximum number of words that are assumed to be read: a person who knows the answer by then
/// stops.
const READ_WORDS: usize = 200;
/// Words per minute above which a text can hardly have been read.
const MOST_WORDS_A_MINUTE: f64 = 1_000.0;
/// Number of consecutive decisions to check, and the number of fast ones that triggers a warning.
const LATEST: usize = 5;
const FAST: usize = 3;

/// The time of one decision, and the number of words shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadingPace {
    /// Active seconds until the first decision; `None` if they were not measured.
    pub seconds: Option<f64>,
    /// Number of words of the texts that are assumed to be read.
    pub words: usize,
}

impl ReadingPace {
    pub fn new<'a>(active_ms: Option<i64>, texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            seconds: active_ms.map(|ms| ms as f64 / 1_000.0),
            words: texts.into_iter().map(words_read).sum(),
        }
    }

    fn is_fast(&self) -> bool {
        self.seconds
            .is_some_and(|seconds| self.words as f64 * 60.0 > MOST_WORDS_A_MINUTE * seconds)
    }
}

/// Number of words of a text that are assumed to be read.
fn words_read(text: &str) -> usize {
    crate::domain::text::words(text).take(READ_WORDS).count()
}

/// A warning if the latest decisions came faster than the texts can be read; decisions are given
/// earliest first.
pub fn warning(decisions: impl DoubleEndedIterator<Item = ReadingPace>) -> Option<String> {
    let latest: Vec<ReadingPace> = decisions.rev().take(LATEST).collect();
    let fast = latest.iter().filter(|pace| pace.is_fast()).count();
    (fast >= FAST).then(|| {
        format!(
            "too fast to read: {fast} of your last {} decisions, over {} words a minute",
            latest.len(),
            text::count(MOST_WORDS_A_MINUTE as u64),
        )
    })
}

/// Describes the total and the median time of decisions, with a `noun` for each; `None` if they
/// were not measured.
pub fn time_words(decisions: impl Iterator<Item = ReadingPace>, noun: &str) -> Option<String> {
    let seconds: Vec<f64> = decisions.filter_map(|pace| pace.seconds).collect();
    let total = seconds.iter().sum::<f64>();
    let median = median(seconds)?;
    Some(format!(
        "{} of reading in total, {median:.0} s for the median {noun}",
        text::duration(total)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_read_fast_and_long_ones_to_a_point() {
        let pace = |words: usize, ms| {
            let text = "word ".repeat(words);
            ReadingPace::new(Some(ms), [text.as_str()])
        };
        assert_eq!(warning([pace(20, 2_000); 3].into_iter()), None);
        assert_eq!(pace(900, 1).words, READ_WORDS);
        let mixed = [[pace(900, 1_000); 3], [pace(20, 2_000); 3]].concat();
        assert_eq!(warning(mixed.into_iter()), None, "two of the last five");
        let words = warning([pace(900, 1_000); 4].into_iter());
        assert!(words.unwrap().contains("4 of your last 4 decisions"));
    }

    #[test]
    fn a_decision_without_a_clock_has_no_time() {
        let paces = [Some(4_000), None, Some(6_000), Some(5_000)];
        let paces = paces.map(|ms| ReadingPace::new(ms, ["a"]));
        assert_eq!(
            time_words(paces.into_iter(), "pair").unwrap(),
            "15 s of reading in total, 5 s for the median pair"
        );
        assert_eq!(
            time_words([ReadingPace::default()].into_iter(), "pair"),
            None
        );
    }
}
