//! Finds rankings that come from the scores or the judges that they are evaluated against.

use super::RankedRun;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::number_words::counted;
use crate::domain::sanitize;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Largest difference between scores that differ only by rounding, and by a constant per query.
const ROUNDING: f64 = 1e-6;
/// Minimum number of documents, beyond the first of each query, for the conclusion that two
/// rankings with the same documents in the same order are one.
const ENOUGH_ORDERED: usize = 10;
/// Minimum logarithm of the number of possible orders, of one in 500 million, for the conclusion
/// that a ranking in the order of the scores was made from them.
const ENOUGH_ORDERS: f64 = 20.0;
/// Minimum length of a judge's name that is looked for in the name of a file.
const NAME: usize = 3;

/// A ranking that judges or rerankers made, which the project stores.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedRanking {
    pub method: String,
    pub judges: Vec<String>,
    pub orders: BTreeMap<QueryId, Vec<DocId>>,
}

/// The origin of scores that serve as the truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreOrigin {
    /// The scores, best first.
    pub scores: RankedRun,
    /// The names and models of their judges.
    pub judges: Vec<(String, String)>,
    /// The stored rankings that were made by judges.
    pub rankings: Vec<JudgedRanking>,
}

/// What a ranking and its truth have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedOrigin {
    /// Number of queries with at least two documents in both.
    pub queries: usize,
    /// Number of those queries in which the scores are the same, apart from a constant.
    pub same_scores: usize,
    /// Whether all documents of all of those queries are in the same order.
    pub same_order: bool,
    /// The method of the project whose ranking this is.
    pub method: Option<String>,
    /// The judges of the truth that made the ranking, or whose name or model is in the name of its
    /// file.
    pub judges: Vec<String>,
}

impl ScoreOrigin {
    /// What the ranking of a file has in common with the scores.
    pub fn shared(&self, file: &str, run: &RankedRun) -> SharedOrigin {
        let mut found = SharedOrigin::default();
        let (mut in_order, mut orders) = (true, 0.0);
        for (query, scores) in &self.scores {
            let scores: HashMap<&DocId, f64> =
                scores.iter().map(|(id, score)| (id, *score)).collect();
            let of_run = run.get(query).map_or(&[][..], Vec::as_slice);
            // The scores of the run and of the truth.
            let both: Vec<[f64; 2]> = of_run
                .iter()
                .filter_map(|(id, score)| Some([*score, *scores.get(id)?]))
                .collect();
            if both.len() < 2 {
                continue;
            }
            found.queries += 1;
            orders += log_orders(both.iter().map(|[_, truth]| *truth));
            found.same_scores += usize::from(are_shifted(&both));
            in_order &= both.windows(2).all(|two| two[0][1] >= two[1][1]);
        }
        found.same_order = in_order && orders >= ENOUGH_ORDERS;
        let made = self.rankings.iter().find(|made| is_ranking(run, made));
        found.method = made.map(|made| made.method.clone());
        let makers: BTreeSet<&str> = made
            .map(|made| made.judges.iter().map(String::as_str).collect())
            .unwrap_or_default();
        let file = file.to_lowercase();
        let is_shared = |(name, model): &&(String, String)| {
            makers.contains(name.as_str()) || is_named(&file, name) || is_named(&file, model)
        };
        let shared = self.judges.iter().filter(is_shared);
        found.judges = shared.map(|(name, _)| name.clone()).collect();
        found
    }
}

/// The natural logarithm of the number of orders of these scores, where equal ones are not told
/// apart: n! / Π t! for groups of t equal scores.
fn log_orders(scores: impl Iterator<Item = f64>) -> f64 {
    let mut scores: Vec<f64> = scores.collect();
    scores.sort_by(f64::total_cmp);
    let mut equal = 0;
    let mut orders = 0.0;
    for (at, score) in scores.iter().enumerate() {
        let is_equal = at > 0 && scores[at - 1] == *score;
        equal = if is_equal { equal + 1 } else { 1 };
        orders += ((at + 1) as f64 / f64::from(equal)).ln();
    }
    orders
}

/// Whether the differences between two scores of each document are the same, and the scores are
/// not.
fn are_shifted(both: &[[f64; 2]]) -> bool {
    let shifts = || both.iter().map(|[run, truth]| run - truth);
    let spread = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), of| {
            (low.min(of), high.max(of))
        });
        high - low
    };
    spread(&mut shifts()) <= ROUNDING
        && spread(&mut both.iter().map(|[_, truth]| *truth)) > ROUNDING
}

/// Whether the documents of a run are those that a stored ranking begins with, in the same order,
/// in each query that both have.
fn is_ranking(run: &RankedRun, made: &JudgedRanking) -> bool {
    let mut beyond_first = 0;
    for (query, order) in &made.orders {
        let Some(of_run) = run.get(query) else {
            continue;
        };
        let ids = of_run.iter().map(|(id, _)| id);
        if of_run.len() > order.len() || !ids.eq(order.iter().take(of_run.len())) {
            return false;
        }
        beyond_first += of_run.len().saturating_sub(1);
    }
    beyond_first >= ENOUGH_ORDERED
}

/// Whether a lowercase text contains this name as a word.
fn is_named(text: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    let ends = |at: Option<char>| at.is_none_or(|char| !char.is_alphanumeric());
    name.chars().count() >= NAME
        && text.match_indices(&name).any(|(at, _)| {
            ends(text[..at].chars().next_back()) && ends(text[at + name.len()..].chars().next())
        })
}

impl SharedOrigin {
    /// Whether the ranking was made from the scores that it is evaluated against.
    pub fn is_from_same_scores(&self) -> bool {
        self.same_order || (self.same_scores > 0 && 2 * self.same_scores >= self.queries)
    }

    /// What the values of the ranking do not show, one sentence each.
    pub fn warnings(&self, file: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.is_from_same_scores() {
            let queries = counted(self.queries, "query");
            let what = if self.same_scores == self.queries {
                format!("has the scores that it is evaluated against, in {queries}")
            } else if self.same_order {
                format!("has the order of the scores that it is evaluated against, in {queries}")
            } else {
                format!(
                    "has the scores that it is evaluated against in {} of {queries}",
                    self.same_scores
                )
            };
            let origin = if self.same_scores == self.queries {
                "was exported from them"
            } else {
                "was probably exported from them"
            };
            warnings.push(format!(
                "{file} {what}: it {origin}, so the values do not show its quality"
            ));
        }
        if !self.judges.is_empty() {
            let names: Vec<_> = self
                .judges
                .iter()
                .map(|name| sanitize::line(name))
                .collect();
            let by = match &self.method {
                Some(method) => format!("is the ranking of {}", sanitize::line(method)),
                None => "has a judge of the truth in its name".to_owned(),
            };
            warnings.push(format!(
                "{file} {by}: it shares {} with the truth, so it looks better than it is",
                names.join(", ")
            ));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(queries: usize, score: impl Fn(usize, usize) -> f64) -> RankedRun {
        (0..queries)
            .map(|query| {
                let mut documents: Vec<(DocId, f64)> = (0..6)
                    .map(|at| (DocId::new(format!("d{at}")), score(query, at)))
                    .collect();
                documents.sort_by(|x, y| y.1.total_cmp(&x.1));
                (QueryId::new(format!("q{query}")), documents)
            })
            .collect()
    }

    fn zelo(query: usize, at: usize) -> f64 {
        ((7 * at + 3 * query) % 11) as f64 / 3.0
    }

    fn origin() -> ScoreOrigin {
        ScoreOrigin {
            scores: run(5, zelo),
            judges: vec![
                ("gpt".to_owned(), "gpt-4o-mini".to_owned()),
                ("llama".to_owned(), "llama3".to_owned()),
            ],
            rankings: Vec::new(),
        }
    }

    #[test]
    fn the_same_scores_are_found_after_a_shift_and_in_positions() {
        let origin = origin();
        let shifted = origin.shared(
            "run.trec",
            &run(5, |query, at| zelo(query, at) + query as f64),
        );
        assert_eq!((shifted.queries, shifted.same_scores), (5, 5));
        assert!(shifted.is_from_same_scores());
        let places = origin.shared("run.trec", &run(5, |query, at| zelo(query, at).powi(3)));
        assert_eq!((places.same_scores, places.same_order), (0, true));
        assert!(places.warnings("run.trec")[0].contains("order of the scores"));
    }

    #[test]
    fn another_ranking_shares_nothing() {
        let origin = origin();
        let other = origin.shared(
            "bm25.trec",
            &run(5, |query, at| ((5 * at + query) % 6) as f64),
        );
        assert!(!other.is_from_same_scores() && other.warnings("bm25.trec").is_empty());
        // Two documents in the same order are a coincidence.
        let short: RankedRun = run(1, zelo)
            .into_iter()
            .map(|(query, documents)| {
                let two = documents.into_iter().take(2);
                (query, two.map(|(id, score)| (id, score.powi(3))).collect())
            })
            .collect();
        assert!(!origin.shared("run.trec", &short).is_from_same_scores());
    }

    #[test]
    fn scores_of_an_earlier_state_are_found_if_most_queries_are_unchanged() {
        let shared = |changed: usize| {
            let score = |query: usize, at: usize| {
                zelo(query, at) * if query < changed { -0.9 } else { 1.0 }
            };
            origin()
                .shared("run.trec", &run(5, score))
                .is_from_same_scores()
        };
        assert!(shared(2));
        assert!(!shared(3));
    }

    #[test]
    fn shared_judges_are_found_by_ranking_and_by_name() {
        let mut origin = origin();
        let reversed = run(5, |query, at| -zelo(query, at));
        let orders = reversed.iter().map(|(query, order)| {
            (
                query.clone(),
                order.iter().map(|(id, _)| id.clone()).collect(),
            )
        });
        origin.rankings.push(JudgedRanking {
            method: "setwise:llama".to_owned(),
            judges: vec!["llama".to_owned()],
            orders: orders.collect(),
        });
        let made = origin.shared("run.trec", &reversed);
        assert_eq!(made.method.as_deref(), Some("setwise:llama"));
        assert_eq!(made.judges, ["llama"]);
        let other = run(5, |query, at| ((5 * at + query) % 6) as f64);
        let by_name = |file: &str| origin.shared(file, &other).judges;
        assert_eq!(by_name("rankgpt-GPT-4o-mini.trec"), ["gpt"]);
        assert_eq!(by_name("gpt.trec"), ["gpt"]);
        assert!(by_name("rankgpt.trec").is_empty());
        assert!(by_name("llamas.trec").is_empty());
    }
}
