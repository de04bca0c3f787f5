//! Whose votes count in the project, and whose a run would set aside.

use crate::app::annotate::judge_history::SetAsideJudge;
use crate::app::text_format::first_of;
use crate::tui::text::counted;

/// Maximum number of judges named.
const NAMED: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CurrentVotes {
    /// The names of the judges that count together, and the number of queries they count for.
    pub counting: Vec<(Vec<String>, usize)>,
    /// The judges whose votes the next run would set aside.
    pub set_aside: Vec<SetAsideJudge>,
}

impl CurrentVotes {
    /// Whose votes are on the screen, and whose votes a run by these judges would replace them
    /// with, if any can be asked. `None` without votes.
    pub fn words(&self, asked: &[String]) -> Option<String> {
        let ensembles: Vec<String> = match self.counting.as_slice() {
            [] => return None,
            [(judges, _)] => vec![first_of(judges, NAMED)],
            several => several
                .iter()
                .map(|(judges, queries)| {
                    format!(
                        "{} ({})",
                        first_of(judges, NAMED),
                        counted(*queries, "query")
                    )
                })
                .collect(),
        };
        let same_names = || {
            self.set_aside
                .iter()
                .all(|judge| asked.contains(&judge.name))
        };
        let next = if self.set_aside.is_empty() || asked.is_empty() {
            String::new()
        } else if same_names() {
            "; these judges have changed, and a run would ask them again".to_owned()
        } else {
            format!("; a run would ask {} instead", first_of(asked, NAMED))
        };
        Some(format!("votes of {}{next}", ensembles.join(" · ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judges_that_count_are_named_and_those_that_would_replace_them() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut votes = CurrentVotes::default();
        assert_eq!(votes.words(&[]), None);
        votes.counting = vec![(names(&["bm25", "ngram"]), 8)];
        assert_eq!(votes.words(&[]).unwrap(), "votes of bm25, ngram");
        votes.set_aside = vec![SetAsideJudge {
            name: "bm25".to_owned(),
            votes: 48,
            queries: 8,
        }];
        assert_eq!(
            votes.words(&names(&["qwen\x1b[2J"])).unwrap(),
            "votes of bm25, ngram; a run would ask qwen␛[2J instead"
        );
        assert_eq!(
            votes.words(&names(&["bm25", "qwen"])).unwrap(),
            "votes of bm25, ngram; these judges have changed, and a run would ask them again"
        );
        assert_eq!(votes.words(&[]).unwrap(), "votes of bm25, ngram");
        votes.set_aside.clear();
        votes.counting.push((names(&["gpt"]), 1));
        assert_eq!(
            votes.words(&[]).unwrap(),
            "votes of bm25, ngram (8 queries) · gpt (1 query)"
        );
    }
}
