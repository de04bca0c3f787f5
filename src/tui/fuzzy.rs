//! Fuzzy matching for the filter and the palette; the only user of `fuzzy-matcher`, so that it can be replaced.

use std::cmp::Reverse;

use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;

/// A candidate that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Position among the candidates.
    pub index: usize,
    /// Higher is better; comparable within one call only.
    pub score: i64,
    /// Matched characters, as character positions in the candidate.
    pub chars: Vec<usize>,
}

/// The candidates that match `query`, best first, equal ones in their own order; an empty query keeps all.
///
/// Words of the query may match in any order. Case matters only when the query has capitals.
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
    fn matched_characters_are_positions_to_underline() {
        let [only] = rank("漢l", ["a漢-layer"]).try_into().unwrap();
        assert_eq!(only.chars, [1, 3]);
    }
}
