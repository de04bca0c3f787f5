//! The models named in a judge's votes, used to detect that a provider changed the model behind a
//! name.

use super::number_words::counted;
use super::sanitize;
use serde::{Deserialize, Serialize};

/// Votes of one judge that name the same model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnsweringModel {
    pub model: String,
    pub votes: usize,
    /// Time of the first vote, in milliseconds since the Unix epoch.
    pub first_ms: i64,
}

/// A message that the model changed, to be appended to the judge's name, listing the models in the
/// order of their first votes. `None` for a judge that always answered as the same model.
pub fn changed_model(models: &[AnsweringModel]) -> Option<String> {
    if models.len() < 2 {
        return None;
    }
    let each: Vec<String> = models
        .iter()
        .map(|of| {
            format!(
                "{} ({})",
                sanitize::line(&of.model),
                counted(of.votes, "vote")
            )
        })
        .collect();
    Some(format!(
        "answered as {}: the provider changed the model behind this judge; use another judge name \
         to keep the votes apart",
        each.join(", then as ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_reported_with_the_votes_of_each_model() {
        let of = |model: &str, votes| AnsweringModel {
            model: model.to_owned(),
            votes,
            first_ms: 0,
        };
        assert_eq!(changed_model(&[]), None);
        assert_eq!(changed_model(&[of("m-1", 60)]), None);
        let words = changed_model(&[of("m-1", 60), of("m-2\u{1b}", 1)]).unwrap();
        assert!(
            words.starts_with("answered as m-1 (60 votes), then as m-2"),
            "{words}"
        );
        assert!(words.contains("(1 vote): the provider changed") && !words.contains('\u{1b}'));
    }
}
