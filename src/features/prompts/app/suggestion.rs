//! Asks a judge to revise a prompt, showing it judgments of the tuning part that people overruled.
//! The proposal is a version like any other.

use super::set::RegressionSet;
use super::set_texts::SetTexts;
use super::versions::{NewVersion, add_version, versions};
use super::voting_judge::{VotingJudge, voting_judge};
use crate::app::choose_judges::{JudgeConfiguration, check_budget, is_paid};
use crate::app::error::{AppError, invalid};
use crate::app::text_format::counted;
use crate::client::{RunControl, now_ms};
use crate::domain::candidate_question::Answer;
use crate::domain::judge_report::as_shown;
use crate::domain::sampling::SeededRng;
use crate::domain::sanitize;
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::methods::app::rerank::single_question::SingleQuestion;
use crate::features::prompts::domain::{
    DecidedPair, OverruledJudgment, PromptVersion, PromptWords, SetPart,
};
use crate::features::prompts::store::PairVote;
use crate::judge::prompt::{instructions, with_instructions};
use crate::judge::{JudgeEnsemble, PoolText, PresentedQuestion, RerankAsk, RerankKind};
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A request that holds this many characters from the start of a held-out text, or all of a shorter
/// one, shows that text.
const HELD_OUT_START: usize = 300;

/// Which prompt is to be revised, and by which judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestionRequest {
    /// The judge whose prompt is revised.
    pub judge: String,
    /// The judge that is asked.
    pub with: String,
    /// Maximum number of judgments that are shown.
    pub judgments: usize,
    /// Whether to ask again if the answer was unreadable.
    pub retry: bool,
}

/// Overruled judgments of the tuning part that are not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NotShown {
    /// They exceed the number of judgments to show.
    pub over_limit: usize,
    /// They contain a text of the held-out part.
    pub in_held_out: usize,
}

/// A prepared suggestion.
#[derive(Clone, Debug)]
pub struct PromptSuggestion {
    pub request: SuggestionRequest,
    question: SingleQuestion,
    /// The prompt of the judge's votes.
    pub parent: PromptVersion,
    /// Number of judgments that are shown.
    pub shown: usize,
    pub not_shown: NotShown,
    pub notes: Vec<String>,
}

/// The remaining call of a suggestion and its cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SuggestionEstimate {
    pub expected: CallVolume,
    pub most: CallVolume,
}

/// The answer to a suggestion.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// The text of a prompt.
    Prompt(String),
    /// The judge proposes the present prompt.
    Unchanged,
    /// The reply cannot be read, with the reason.
    Unreadable(String),
}

/// Reads what a suggestion needs. Changes nothing.
///
/// # Errors
/// The judge has no vote on the regression set, people overruled none of its votes in the tuning
/// part, the text of its prompt is unknown or shows a held-out text, or `with` cannot write.
pub fn prepare_suggestion(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    request: SuggestionRequest,
) -> Result<PromptSuggestion, AppError> {
    let chosen =
        configuration.choose_rerankers(std::slice::from_ref(&request.with), RerankKind::Revise)?;
    let with = sanitize::line(&request.with).into_owned();
    let asked = chosen.ensemble.first().cloned();
    let asked = asked.ok_or_else(|| invalid!("no judge is called {with:?}"))?;
    let set = RegressionSet::read(store)?;
    let (name, pairs) = (request.judge.clone(), set.pairs.clone());
    let (old, texts, known) = store.read_blocking(move |db| {
        let old = voting_judge(db, &name, &pairs)?;
        Ok((old, SetTexts::read(db, &pairs)?, versions(db)?))
    })?;
    let shown = sanitize::line(&request.judge).into_owned();
    let Some(old) = old else {
        return Err(invalid!(
            "{shown} has no vote on a pair of the regression set (`overrule prompt set`); in \
             the blind review, decide pairs that it has judged"
        ));
    };
    let hash = &old.spec.prompt_hash;
    let parent = known.into_iter().find(|version| version.hash == *hash);
    let text = parent.as_ref().and_then(|parent| parent.text.as_deref());
    let present = text.and_then(instructions).map(str::to_owned);
    let (Some(parent), Some(present)) = (parent, present) else {
        return Err(invalid!(
            "the text of prompt {hash}, with which {shown} voted, is unknown; run {shown} with it, \
             or store it with `prompt edit score --file FILE`"
        ));
    };
    let holds_held_out = |text: &str| {
        let words = PromptWords::new(text);
        let mut held_out = texts.held_out.iter();
        held_out.any(|text| words.hold_start(text, HELD_OUT_START))
    };
    if holds_held_out(&present) {
        return Err(invalid!(
            "prompt {hash} shows a text of the held-out part, which no suggestion may use"
        ));
    }
    let mut judgments = Vec::new();
    let mut not_shown = NotShown::default();
    for overruled in overruled(&set.pairs, &old) {
        if judgments.len() == request.judgments {
            not_shown.over_limit += 1;
            continue;
        }
        let (key, of, _) = overruled;
        let text = judgment_of(store, &old, &texts, overruled)?.text();
        if texts.are_held_out(key, of.pair) || holds_held_out(&text) {
            not_shown.in_held_out += 1;
        } else {
            judgments.push(Arc::from(text));
        }
    }
    if judgments.is_empty() {
        return Err(invalid!(
            "there is nothing to learn from: people overruled no vote of {shown} in the tuning part \
             ({} with a text of the held-out part left out)",
            counted(not_shown.in_held_out, "judgment")
        ));
    }
    let shown = judgments.len();
    let shown_question = PresentedQuestion {
        pool: Arc::new(PoolText::new(present, judgments)),
        shown: (0..shown).collect(),
        ask: RerankAsk::Revise,
    };
    Ok(PromptSuggestion {
        request,
        question: SingleQuestion {
            judge: asked,
            shown: shown_question,
        },
        parent,
        shown,
        not_shown,
        notes: chosen.notes,
    })
}

type Overruled<'a> = (QueryKey, &'a DecidedPair, &'a PairVote);

/// The overruled judgments of the tuning part: those with a note first, then those with a cause; the
/// others, and equal ones, in a fixed random order.
fn overruled<'a>(set: &'a [(QueryKey, DecidedPair)], old: &'a VotingJudge) -> Vec<Overruled<'a>> {
    let mut found: Vec<(bool, bool, usize, Overruled<'a>)> = set
        .iter()
        .filter(|(_, of)| of.part() == SetPart::Tuning)
        .filter_map(|(key, of)| {
            let vote = old.votes.get(&(*key, of.pair))?;
            let place = format!("{} {}", of.pair.low(), of.pair.high());
            let mut rng = SeededRng::new(0, &["suggestion", of.query.as_str(), &place]);
            let draw = rng.below(usize::MAX);
            (vote.margin.outcome() != of.people).then_some((
                of.note.is_none(),
                of.cause.is_none(),
                draw,
                (*key, of, vote),
            ))
        })
        .collect();
    found.sort_by_key(|(no_note, no_cause, draw, _)| (*no_note, *no_cause, *draw));
    found.into_iter().map(|(.., overruled)| overruled).collect()
}

fn judgment_of(
    store: &Store,
    old: &VotingJudge,
    texts: &SetTexts,
    (key, of, vote): Overruled<'_>,
) -> Result<OverruledJudgment, StoreError> {
    let [query, low, high] = texts.of(key, of.pair).map(str::to_owned);
    let (battle, judge) = (vote.battle, old.id);
    let votes = store.read_blocking(move |db| db.battle_votes(battle, &[judge]))?;
    let reasoning: Vec<&str> = votes.iter().map(|vote| vote.reasoning.text()).collect();
    let (a, b, judge) = if vote.later_first {
        (high, low, vote.margin.flipped())
    } else {
        (low, high, vote.margin)
    };
    Ok(OverruledJudgment {
        query,
        a,
        b,
        judge,
        reasoning: reasoning.join("\n"),
        people: as_shown(of.people, vote.later_first),
        cause: of.cause,
        note: of.note.clone(),
    })
}

impl PromptSuggestion {
    /// The model that is asked.
    pub fn model(&self) -> &str {
        &self.question.judge.spec().model
    }

    pub fn is_paid(&self) -> bool {
        is_paid(self.question.judge.as_ref())
    }

    /// The judge that is asked, as the only one of an ensemble.
    pub fn ensemble(&self) -> JudgeEnsemble {
        vec![Arc::clone(&self.question.judge)]
    }

    /// # Errors
    /// It is not an amount in dollars, or the worst-case cost of a call is unknown.
    pub fn check_budget(&self, budget: f64) -> Result<(), AppError> {
        check_budget(budget, &self.ensemble())
    }

    /// The effort of the call; none if the project holds the answer.
    pub fn estimate(&self, store: &Store) -> Result<SuggestionEstimate, AppError> {
        let (question, retry) = (self.question.clone(), self.request.retry);
        let known = store.read_blocking(move |db| question.known(db, retry))?;
        let (expected, most) = match known {
            Some(_) => (CallVolume::NONE, CallVolume::NONE),
            None => self.question.estimate(),
        };
        Ok(SuggestionEstimate { expected, most })
    }

    /// Asks for the proposal, unless the project holds the answer.
    pub async fn ask(
        &self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<(), AppError> {
        self.question.ask(store, control, events).await?;
        Ok(())
    }

    /// The proposal in the answer that the project holds; `None` if there is no answer.
    pub fn proposal(&self, store: &Store) -> Result<Option<Proposal>, AppError> {
        let question = self.question.clone();
        let Some(known) = store.read_blocking(move |db| question.known(db, false))? else {
            return Ok(None);
        };
        let text = match known.answer {
            Answer::Text(text) => text,
            Answer::Unreadable(why) => return Ok(Some(Proposal::Unreadable(why))),
            other => return Err(invalid!("the stored answer is of another kind: {other:?}")),
        };
        let present = self.parent.text.as_deref().unwrap_or_default();
        let Some(prompt) = with_instructions(present, &text) else {
            return Err(invalid!("prompt {} has no instructions", self.parent.hash));
        };
        Ok(Some(if instructions(present) == instructions(&prompt) {
            Proposal::Unchanged
        } else {
            Proposal::Prompt(prompt)
        }))
    }

    /// Stores a proposal as a version. Returns its hash, and whether it is new.
    pub fn keep(
        &self,
        store: &Store,
        prompt: String,
        author: String,
    ) -> Result<(String, bool), AppError> {
        let note = format!(
            "suggested by {} ({}) from {}",
            sanitize::line(&self.request.with),
            sanitize::line(self.model()),
            counted(self.shown, "overruled judgment")
        );
        let new = NewVersion {
            text: prompt,
            parent: Some(self.parent.clone()),
            note: Some(note),
            author,
            examples: self.parent.examples.clone(),
        };
        add_version(store, new, now_ms())
    }
}
