//! The questions that a program asks the judges while it ranks a query, and their replies.

use crate::judge::call::CallError;
use futures::future::BoxFuture;
use serde::Serialize;

/// A pair of documents, by their places among the candidates that the program was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskedPair {
    pub a: usize,
    pub b: usize,
}

/// The judges' reply about a pair, as a program receives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairReply {
    /// Mean of the votes, from −1 (A is better) to 1 (B is better); `None` without a vote.
    pub margin: Option<f64>,
    pub votes: Vec<JudgeVote>,
    /// The judges whose call failed or gave no usable answer. A failure is never a vote.
    pub failures: Vec<JudgeFailure>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeVote {
    pub judge: String,
    pub margin: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgeFailure {
    pub judge: String,
    pub error: String,
}

impl PairReply {
    pub fn new(votes: Vec<JudgeVote>, failures: Vec<JudgeFailure>) -> Self {
        let sum: f64 = votes.iter().map(|vote| vote.margin).sum();
        Self {
            margin: (!votes.is_empty()).then(|| sum / votes.len() as f64),
            votes,
            failures,
        }
    }
}

/// Answers the questions of a program.
pub trait AskedJudges: Send + Sync {
    /// Asks all judges about these pairs; one reply for each pair.
    ///
    /// # Errors
    /// The run ends or a judge makes no more calls, so the program cannot go on.
    fn ask<'a>(
        &'a self,
        pairs: &'a [AskedPair],
    ) -> BoxFuture<'a, Result<Vec<PairReply>, CallError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_the_mean_of_the_votes_and_nothing_without_one() {
        let vote = |margin| JudgeVote {
            judge: "gpt".to_owned(),
            margin,
        };
        let failure = JudgeFailure {
            judge: "claude".to_owned(),
            error: "429".to_owned(),
        };
        let reply = PairReply::new(vec![vote(-1.0), vote(0.5)], vec![failure.clone()]);
        assert_eq!(reply.margin, Some(-0.25));
        let reply = PairReply::new(Vec::new(), vec![failure]);
        assert_eq!(
            serde_json::to_string(&reply).unwrap(),
            r#"{"margin":null,"votes":[],"failures":[{"judge":"claude","error":"429"}]}"#
        );
    }
}
