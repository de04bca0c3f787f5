//! The trial of a prompt: a judge is asked about pairs that people decided, and its answers are
//! compared with the votes that it cast under its old prompt. No fit uses the answers of a trial, but
//! a run in which the judge is asked the same question stores them as votes.

mod case;
mod examples;
mod looks;
mod outcome;
mod reading;
mod reasonings;

pub use looks::{HeldOutLooks, LOOKS_BEFORE_FRESH_PAIRS, look_at};
pub use outcome::{JudgeFigures, TrialResult, TriedPair};
pub use reading::TrialReading;
pub use reasonings::BothReasonings;

use super::set::RegressionSet;
use super::set_texts::{SetTexts, SetVotes};
use super::voting_judge::{VotingJudge, voting_judge};
use crate::app::annotate::prompt_inputs::{LackingInputs, check_project};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::client::{RunControl, now_ms};
use crate::domain::battle::Pair;
use crate::domain::sanitize;
use crate::domain::vote::JudgeId;
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::pair_judge::{AskedPair, PairAnswer, PairJudge};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::prompts::domain::{PromptWords, SetPart};
use crate::features::prompts::store::StoredPrompt;
use crate::judge::{JudgeSpec, PoolText, PresentedPair, PromptText};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use case::TrialCase;
use examples::ExamplePair;
use outcome::TrialAnswers;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Which pairs of a part are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum TrialPairs {
    /// All pairs that the judge has voted on
    #[default]
    All,
    /// Pairs on which people overruled the judge; nothing can break
    Overruled,
    /// Gold pairs
    Gold,
}

/// The prompt and the pairs to try.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRequest {
    pub judge: String,
    /// The text of the prompt.
    pub text: String,
    /// Names of the queries whose pairs are known to be examples in the text.
    pub examples_of: Vec<String>,
    /// Number of examples to add.
    pub examples: usize,
    pub model: Option<String>,
    pub pairs: TrialPairs,
    pub part: SetPart,
    /// Whether to ask again about pairs whose answer was unreadable.
    pub retry: bool,
}

/// Pairs of the part that are not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The judge has not voted on them.
    pub without_vote: usize,
    /// Their query is an example in the prompt, or the prompt holds a copy of one of their texts.
    pub in_prompt: usize,
    /// A text of theirs is also in the held-out part.
    pub in_held_out: usize,
}

/// A prepared trial.
#[derive(Clone, Debug)]
pub struct PromptTrial {
    pub request: TrialRequest,
    pub judge: PairJudge,
    /// The judge whose votes are compared.
    pub old: (JudgeId, JudgeSpec),
    pub prompt: PromptText,
    pub cases: Vec<TrialCase>,
    pub left_out: LeftOut,
    /// The pairs that were added to the prompt as examples.
    pub examples: Vec<ExamplePair>,
    pub notes: Vec<String>,
}

/// The remaining calls of a trial and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrialEstimate {
    pub pairs: usize,
    /// Answers that the project already holds.
    pub known: usize,
    pub expected: CallVolume,
    pub most: CallVolume,
}

/// Reads what a trial needs, and builds the judge with the prompt. Changes nothing.
///
/// # Errors
/// The prompt is invalid, the judge cannot be asked, or no pair of the part has a vote of it.
pub fn prepare_trial(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    mut request: TrialRequest,
) -> Result<PromptTrial, AppError> {
    let set = RegressionSet::read(store)?;
    let name = request.judge.clone();
    let pairs = set.pairs.clone();
    let (old, texts) = store.read_blocking(move |db| {
        let old = voting_judge(db, &name, &pairs)?;
        Ok((old, SetTexts::read(db, &pairs)?))
    })?;
    let shown = sanitize::line(&request.judge).into_owned();
    let Some(VotingJudge { id, spec, votes }) = old else {
        return Err(invalid!(
            "{shown} has no vote on a pair of the regression set, which holds {} (`overrule prompt \
             set`); judge such pairs first, or decide pairs blindly in the review",
            crate::app::text_format::counted(set.pairs.len(), "pair")
        ));
    };
    let examples = examples::choose(&set.pairs, &votes, &texts, request.examples)?;
    if !examples.is_empty() {
        request.text = examples::added_to(&request.text, &examples)?;
        let queries = examples.iter().map(|of| of.query.as_str().to_owned());
        request.examples_of.extend(queries);
    }
    let chosen =
        configuration.choose_changed(&request.judge, &request.text, request.model.as_deref())?;
    let judge = chosen
        .ensemble
        .first()
        .cloned()
        .ok_or_else(|| invalid!("no judge is called {shown:?}"))?;
    let Some(prompt) = judge.prompt_text() else {
        return Err(invalid!("{shown} has no prompt"));
    };
    let (cases, left_out) = cases_of(&request, &set, &votes, &texts);
    if cases.is_empty() {
        return Err(invalid!(
            "no pair to try in the {} part: {} without a vote of {shown}, {} in the prompt, {} \
             also in the held-out part",
            request.part.words(),
            crate::app::text_format::counted(left_out.without_vote, "pair"),
            left_out.in_prompt,
            left_out.in_held_out,
        ));
    }
    let mut lacking = LackingInputs::of(&chosen.ensemble);
    let tried = cases.iter().flat_map(|case| &case.asked);
    tried.for_each(|asked| lacking.look_in(&asked.case.pool));
    store.read_blocking(move |db| check_project(db, lacking, &[]))?;
    Ok(PromptTrial {
        judge: PairJudge { judge },
        old: (id, spec),
        prompt,
        cases,
        left_out,
        examples,
        notes: chosen.notes,
        request,
    })
}

/// The pairs to try, in the order of the set.
fn cases_of(
    request: &TrialRequest,
    set: &RegressionSet,
    votes: &SetVotes,
    texts: &SetTexts,
) -> (Vec<TrialCase>, LeftOut) {
    let words = PromptWords::new(&request.text);
    let in_prompt: HashSet<QueryKey> = set
        .pairs
        .iter()
        .filter(|(key, of)| {
            request.examples_of.iter().any(|id| id == of.query.as_str())
                || texts.of(*key, of.pair).iter().any(|text| words.hold(text))
        })
        .map(|(key, _)| *key)
        .collect();
    let (mut cases, mut left_out) = (Vec::new(), LeftOut::default());
    for (key, decided) in &set.pairs {
        let wanted = request.pairs != TrialPairs::Gold || decided.is_gold;
        if decided.part() != request.part || !wanted {
            continue;
        }
        let Some(vote) = votes.get(&(*key, decided.pair)) else {
            left_out.without_vote += 1;
            continue;
        };
        let is_overruled = vote.margin.outcome() != decided.people;
        if request.pairs == TrialPairs::Overruled && !is_overruled {
            continue;
        }
        if in_prompt.contains(key) {
            left_out.in_prompt += 1;
            continue;
        }
        if request.part == SetPart::Tuning && texts.are_held_out(*key, decided.pair) {
            left_out.in_held_out += 1;
            continue;
        }
        let Some(pool) = texts.pools.get(key) else {
            continue;
        };
        let asked = [vote.later_first, !vote.later_first].map(|later_first| AskedPair {
            query: *key,
            case: presented(pool, decided.pair, later_first),
        });
        cases.push(TrialCase {
            query: *key,
            decided: decided.clone(),
            old: *vote,
            asked,
        });
    }
    (cases, left_out)
}

pub(super) fn presented(pool: &Arc<PoolText>, pair: Pair, later_first: bool) -> PresentedPair {
    let (low, high) = (pair.low(), pair.high());
    PresentedPair {
        pool: Arc::clone(pool),
        first: if later_first { high } else { low },
        second: if later_first { low } else { high },
    }
}

impl PromptTrial {
    fn asked(&self) -> Vec<AskedPair> {
        self.cases
            .iter()
            .flat_map(|case| case.asked.iter().cloned())
            .collect()
    }

    /// The answers that the project holds, two for each case.
    fn known(&self, store: &Store) -> Result<Vec<Option<PairAnswer>>, AppError> {
        let (judge, asked, retry) = (self.judge.clone(), self.asked(), self.request.retry);
        Ok(store.read_blocking(move |db| judge.known(db, &asked, retry))?)
    }

    pub fn estimate(&self, store: &Store) -> Result<TrialEstimate, AppError> {
        let (asked, known) = (self.asked(), self.known(store)?);
        let open: Vec<&AskedPair> = asked
            .iter()
            .zip(&known)
            .filter_map(|(pair, known)| known.is_none().then_some(pair))
            .collect();
        let (expected, most) = self.judge.estimate(&open);
        Ok(TrialEstimate {
            pairs: self.cases.len(),
            known: asked.len() - open.len(),
            expected,
            most,
        })
    }

    /// Stores the prompt as a version, so that every answer has one. Returns whether it is new.
    pub fn keep_prompt(&self, store: &Store, author: &str) -> Result<bool, AppError> {
        let old = &self.old.1.prompt_hash;
        let stored = StoredPrompt {
            prompt: self.prompt.clone(),
            parent: Some(old.clone()).filter(|parent| *parent != self.prompt.hash),
            note: None,
            author: Some(author.to_owned()),
            examples: self.request.examples_of.clone(),
            created_ms: now_ms(),
        };
        Ok(store.write_blocking(move |db| db.add_prompt(&stored))?)
    }

    /// Asks the questions that have no stored answer. Returns how many were answered, and how many
    /// of the answers cannot be read; pairs with the same texts are one question.
    pub async fn ask(
        &self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<(usize, usize), AppError> {
        let (judge, asked, retry) = (self.judge.clone(), self.asked(), self.request.retry);
        let open = store
            .read(move |db| {
                let known = judge.known(db, &asked, retry)?;
                let open = asked.into_iter().zip(known);
                Ok(open
                    .filter_map(|(pair, known)| known.is_none().then_some(pair))
                    .collect::<Vec<_>>())
            })
            .await?;
        let keys: Vec<_> = open.iter().map(|pair| self.judge.key(pair)).collect();
        let answers = self.judge.ask(store, open, control, &events).await?;
        let mut unreadable: HashMap<[u8; 32], bool> = HashMap::new();
        for (key, answer) in keys.into_iter().zip(answers) {
            if let Some(answer) = answer {
                unreadable.insert(key, answer.margin.is_err());
            }
        }
        let bad = unreadable.values().filter(|bad| **bad).count();
        Ok((unreadable.len(), bad))
    }

    /// The result of the answers that the project holds.
    pub fn result(&self, store: &Store) -> Result<TrialResult, AppError> {
        // An answer that stayed unreadable after a retry is still an answer.
        let (judge, asked) = (self.judge.clone(), self.asked());
        let old = self.old.0;
        let answers = store.read_blocking(move |db| {
            let new = judge.known(db, &asked, false)?;
            let mut failed = 0;
            for (pair, _) in asked.iter().zip(&new).filter(|(_, new)| new.is_none()) {
                failed += usize::from(db.has_rerank_call(&judge.key(pair))?);
            }
            Ok(TrialAnswers {
                new,
                failed,
                repeated: db.repeated_votes_of(old)?,
                old: db.votes_and_failures_of(old)?,
            })
        })?;
        Ok(TrialResult::of(&self.cases, &answers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::QueryId;
    use crate::domain::vote::{Margin, Outcome};
    use crate::features::prompts::domain::DecidedPair;
    use crate::features::prompts::store::PairVote;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const PROMPT: &str = "answer: score\n=== system ===\nJudge.\n=== case ===\n{{query}}{{a}}{{b}}";

    /// A set of one pair per query, where the texts of a document are named by a number.
    fn set_of(documents: &[(usize, usize)]) -> (RegressionSet, SetTexts, SetVotes) {
        let text = |at: usize| -> Arc<str> {
            Arc::from(format!(
                "document {at} on subject {} with {} remarks and more",
                at * 7919,
                at * 104_729
            ))
        };
        let (mut set, mut votes, mut pools) =
            (RegressionSet::default(), SetVotes::new(), BTreeMap::new());
        for (at, (a, b)) in documents.iter().enumerate() {
            let (key, pair) = (QueryKey(at as i64 + 1), Pair::new(0, 1).unwrap());
            let pool = PoolText::new(
                format!("query {at} about {}", at * 15_485_863),
                vec![text(*a), text(*b)],
            );
            pools.insert(key, Arc::new(pool));
            let decided = DecidedPair {
                query: QueryId::new(format!("q{at}")),
                pair,
                people: if at % 3 == 0 { Outcome::B } else { Outcome::A },
                is_gold: at % 2 == 0,
                inclusion: None,
                cause: None,
                note: None,
            };
            votes.insert(
                (key, pair),
                PairVote {
                    battle: crate::domain::battle::BattleId(0),
                    query: key,
                    pair,
                    later_first: at % 2 == 1,
                    margin: Margin::new(-0.5).unwrap(),
                    tokens_input: 1,
                    tokens_output: 1,
                    cost_usd: None,
                },
            );
            set.pairs.push((key, decided));
        }
        let mut texts = SetTexts {
            pools,
            held_out: HashSet::new(),
        };
        let held_out: Vec<String> = set
            .pairs
            .iter()
            .filter(|(_, of)| of.part() == SetPart::HeldOut)
            .flat_map(|(key, of)| texts.of(*key, of.pair))
            .map(str::to_owned)
            .collect();
        texts.held_out.extend(held_out);
        (set, texts, votes)
    }

    fn request(text: &str, examples_of: Vec<String>, part: SetPart) -> TrialRequest {
        TrialRequest {
            judge: "gpt".to_owned(),
            text: text.to_owned(),
            examples_of,
            examples: 0,
            model: None,
            pairs: TrialPairs::All,
            part,
            retry: false,
        }
    }

    proptest! {
        /// Whatever texts queries share, and however many examples there are: a tuning request
        /// holds no text of the held-out part, and no tried pair is in the prompt.
        #[test]
        fn nothing_leaks(
            documents in prop::collection::vec((0usize..30, 30usize..60), 2..24),
            count in 0usize..6,
        ) {
            let (set, texts, votes) = set_of(&documents);
            let examples = match examples::choose(&set.pairs, &votes, &texts, count) {
                Ok(examples) => examples,
                Err(_) => return Ok(()),
            };
            let text = examples::added_to(PROMPT, &examples).unwrap();
            let queries: Vec<String> = examples.iter().map(|of| of.query.as_str().to_owned()).collect();
            for held_out in &texts.held_out {
                prop_assert!(!text.contains(held_out.as_str()));
            }
            let tuning = request(&text, queries.clone(), SetPart::Tuning);
            let (cases, _) = cases_of(&tuning, &set, &votes, &texts);
            for case in &cases {
                prop_assert_eq!(case.decided.part(), SetPart::Tuning);
                prop_assert!(!queries.iter().any(|of| of == case.decided.query.as_str()));
                for shown in texts.of(case.query, case.decided.pair) {
                    prop_assert!(!texts.held_out.contains(shown));
                    prop_assert!(!text.contains(shown));
                }
                // The old vote and the first question show the same document first.
                prop_assert_eq!(case.asked[0].case.first == case.decided.pair.high(), case.old.later_first);
                prop_assert_eq!(case.asked[0].case.first, case.asked[1].case.second);
            }
            let held_out = request(&text, queries, SetPart::HeldOut);
            let (cases, _) = cases_of(&held_out, &set, &votes, &texts);
            for case in &cases {
                prop_assert!(!texts.of(case.query, case.decided.pair).iter().any(|shown| text.contains(*shown)));
            }
        }
    }
}
