//! Fuzzy matching for filters and the palette; the only module that uses `fuzzy-matcher`, so that
//! it can be replaced.

use std::cmp::Reverse;

use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;

/// A matching candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Index among the candidates.
    pub index: usize,
    /// Higher is better; comparable only within one call.
    pub score: i64,
    /// Matched characters, as character indices in the candidate.
    pub chars: Vec<usize>,
}

/// The candidates that match `query`, best first and ties in their original order; an empty query
/// keeps all.
///
/// Words of the query may match in any order. Case matters only if the query contains capitals.
pub fn rank<S: AsRef<str>>(query: &str, candidates: impl IntoIterator<Item = S>) -> Vec<Match> {
    let matcher = SkimMatcherV2::default().smart_case();
    let words: Vec<&str> = query.split_whitespace().collect();
    let mut found: Vec<Match> = candidates
        .into_iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let mut all = Match {
                index,
                score: 0,
                chars: Vec::new(),
            };
            for word in &words {
                let (score, chars) = matcher.fuzzy_indices(candidate.as_ref(), word)?;
                all.score += score;
                all.chars.extend(chars);
            }
            all.chars.sort_unstable();
            all.chars.dedup();
            Some(all)
        })
        .collect();
    found.sort_by_key(|one| Reverse(one.score));
    found
}

/// The words of a filter; a name matches if it contains all of them.
pub(crate) struct WordFilter(Vec<String>);

impl WordFilter {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.0.iter().all(|word| name.contains(word))
    }
}

/// Indices of the names that match a filter, in their original order: those that contain all its
/// words or, if there are none, those that contain its letters in order. An empty filter keeps all.
pub fn kept<S: AsRef<str>>(filter: &str, names: &[S]) -> Vec<usize> {
    let words = WordFilter::new(filter);
    let mut found: Vec<usize> = (0..names.len())
        .filter(|at| words.matches(names[*at].as_ref()))
        .collect();
    if found.is_empty() {
        let near = rank(filter, names).into_iter();
        found = near.map(|one| one.index).collect();
        found.sort_unstable();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["next-layer", "next-surprising", "page-up", "pause-run"];

    fn ranked(query: &str) -> Vec<&str> {
        rank(query, NAMES)
            .into_iter()
            .map(|one| NAMES[one.index])
            .collect()
    }

    #[test]
    fn an_empty_query_keeps_every_candidate_in_order() {
        assert_eq!(ranked(""), NAMES);
        assert_eq!(ranked("  "), NAMES);
    }

    #[test]
    fn initials_and_words_in_any_order_match() {
        assert_eq!(ranked("nl"), ["next-layer"]);
        assert_eq!(ranked("surp next"), ["next-surprising"]);
        assert!(ranked("xyz").is_empty());
    }

    #[test]
    fn a_filter_keeps_what_holds_its_words_and_is_generous_only_where_nothing_does() {
        assert_eq!(kept("next", &NAMES), [0, 1]);
        assert_eq!(kept("PAGE", &NAMES), [2]);
        assert_eq!(kept("pgup", &NAMES), [2], "letters in order");
        assert_eq!(kept("", &NAMES), [0, 1, 2, 3]);
        assert_eq!(kept("zzz", &NAMES), [0_usize; 0]);
    }

    #[test]
    fn matched_characters_are_positions_to_underline() {
        let [only] = rank("漢l", ["a漢-layer"]).try_into().unwrap();
        assert_eq!(only.chars, [1, 3]);
    }
}
