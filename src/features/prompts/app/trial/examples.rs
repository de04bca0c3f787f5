//! Chooses decided pairs as examples in a prompt. They come from the tuning part only.

use crate::app::error::{AppError, invalid};
use crate::app::text_format::counted;
use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Outcome;
use crate::features::prompts::app::set_texts::{SetTexts, SetVotes};
use crate::features::prompts::domain::{DecidedPair, PromptExample, SetPart, with_examples};
use crate::judge::prompt::{CASE, EXAMPLES};
use crate::store::corpus::QueryKey;
use std::collections::HashSet;

/// A pair in a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct ExamplePair {
    pub query: QueryId,
    pub pair: Pair,
    /// Whether people overruled the judge.
    pub is_overruled: bool,
    example: PromptExample,
}

/// Chooses this many pairs of different queries: first those on which people overruled the judge.
/// The better document is A and B in turn.
///
/// # Errors
/// There are too few queries.
pub(super) fn choose(
    set: &[(QueryKey, DecidedPair)],
    votes: &SetVotes,
    texts: &SetTexts,
    count: usize,
) -> Result<Vec<ExamplePair>, AppError> {
    let mut candidates: Vec<(bool, usize, &(QueryKey, DecidedPair))> = set
        .iter()
        .filter(|(key, of)| of.part() == SetPart::Tuning && !texts.are_held_out(*key, of.pair))
        .map(|row| {
            let (key, of) = row;
            let vote = votes.get(&(*key, of.pair));
            let confirmed = vote.is_none_or(|vote| vote.margin.outcome() == of.people);
            let place = of.pair.low().to_string() + " " + &of.pair.high().to_string();
            let mut rng = SeededRng::new(0, &["example", of.query.as_str(), &place]);
            (confirmed, rng.below(usize::MAX), row)
        })
        .collect();
    candidates.sort_by_key(|(confirmed, draw, _)| (*confirmed, *draw));
    let mut queries = HashSet::new();
    candidates.retain(|(.., (key, _))| queries.insert(*key));
    if candidates.len() < count {
        return Err(invalid!(
            "--examples {count}: the tuning part has pairs of only {} that can be examples",
            counted(candidates.len(), "query")
        ));
    }
    candidates.truncate(count);
    let chosen = candidates.into_iter().enumerate();
    Ok(chosen
        .map(|(at, (confirmed, _, (key, of)))| {
            let [query, low, high] = texts.of(*key, of.pair).map(str::to_owned);
            let better_as_a = at % 2 == 0;
            let swap = match of.people {
                Outcome::A => !better_as_a,
                Outcome::B => better_as_a,
                Outcome::Tie => false,
            };
            let (a, b, people) = match (swap, of.people) {
                (false, people) => (low, high, people),
                (true, Outcome::A) => (high, low, Outcome::B),
                (true, Outcome::B) => (high, low, Outcome::A),
                (true, Outcome::Tie) => (high, low, Outcome::Tie),
            };
            ExamplePair {
                query: of.query.clone(),
                pair: of.pair,
                is_overruled: !confirmed,
                example: PromptExample {
                    query,
                    a,
                    b,
                    people,
                },
            }
        })
        .collect())
}

/// The prompt with these examples.
pub(super) fn added_to(prompt: &str, examples: &[ExamplePair]) -> Result<String, AppError> {
    let texts: Vec<PromptExample> = examples.iter().map(|of| of.example.clone()).collect();
    with_examples(prompt, (EXAMPLES, CASE), &texts)
        .ok_or_else(|| invalid!("the prompt has no line {CASE:?}, before which examples go"))
}
