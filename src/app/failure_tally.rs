//! Counts failures by cause, with the message of the first one and a remedy.

use crate::domain::number_words::count;
use crate::judge::{CallError, FailureCause};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FailureTally {
    pub causes: BTreeMap<FailureCause, usize>,
    /// The message of the first failure of each cause.
    pub messages: BTreeMap<FailureCause, String>,
}

impl FailureTally {
    pub fn add(&mut self, error: &CallError) {
        self.add_words(error.cause, &error.message);
    }

    pub fn add_words(&mut self, cause: FailureCause, message: &str) {
        *self.causes.entry(cause).or_default() += 1;
        self.messages
            .entry(cause)
            .or_insert_with(|| message.to_owned());
    }

    pub fn merge(&mut self, other: Self) {
        for (cause, more) in other.causes {
            *self.causes.entry(cause).or_default() += more;
        }
        for (cause, message) in other.messages {
            self.messages.entry(cause).or_insert(message);
        }
    }

    /// Most frequent first.
    fn by_frequency(&self) -> Vec<(FailureCause, usize)> {
        let mut causes: Vec<_> = self
            .causes
            .iter()
            .map(|(cause, count)| (*cause, *count))
            .collect();
        causes.sort_by_key(|(_, count)| Reverse(*count));
        causes
    }

    /// The counts as text: `9 rate limited, 3 timed out`. `None` without failures.
    pub fn words(&self) -> Option<String> {
        let words = self.by_frequency().into_iter();
        let words: Vec<String> = words
            .map(|(cause, count)| format!("{count} {cause}"))
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// One line per cause: the count, the message of the first failure, and a remedy.
    pub fn lines(&self) -> Vec<String> {
        let line = |(cause, failures): (FailureCause, usize)| {
            let message = self.messages.get(&cause).map_or("", String::as_str);
            let first = if failures == 1 { "" } else { "the first: " };
            let remedy = cause.remedy().map(|remedy| format!("; {remedy}"));
            format!(
                "{} {cause}: {first}{message}{}",
                count(failures),
                remedy.unwrap_or_default()
            )
        };
        self.by_frequency().into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_told_with_its_first_message_and_a_remedy() {
        let mut tally = FailureTally::default();
        assert_eq!((tally.words(), tally.lines()), (None, Vec::new()));
        tally.add(&CallError::new(
            FailureCause::TimedOut,
            "no answer within 300 s",
        ));
        for words in ["slow down", "slower"] {
            tally.add(&CallError::new(FailureCause::RateLimited, words));
        }
        assert_eq!(
            tally.words().as_deref(),
            Some("2 rate limited, 1 timed out")
        );
        let [limited, late] = tally.lines().try_into().unwrap();
        assert!(
            limited.starts_with("2 rate limited: the first: slow down; try again later"),
            "{limited}"
        );
        assert!(
            late.starts_with("1 timed out: no answer within 300 s; raise first_byte_timeout_s"),
            "{late}"
        );
    }
}
