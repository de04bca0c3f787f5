//! The state of each question, based on the project's picks and new answers.

use crate::domain::adjudication::{PickRecord, PickResult};
use crate::domain::corpus::QueryId;
use crate::domain::spend::Spend;
use crate::judge::{JudgeSpec, LearntUsage, Usage, UsageSums};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuestionState {
    picked: bool,
    /// Answers to it that broke the rules.
    pub(super) invalid: usize,
    /// Whether a call about it failed for good.
    failed: bool,
    /// Verdicts in the answer without a supporting sentence from the document.
    pub(super) unproven: usize,
    usage: Usage,
    /// Calls whose cost is known or 0, and the others.
    spend: Spend,
}

/// Number of answers that break the rules before a question is given up.
const ASKED: usize = 2;

impl QuestionState {
    pub(super) fn is_valid(&self) -> bool {
        self.picked
    }

    /// Whether it was given up because the answers broke the rules.
    pub(super) fn is_invalid(&self) -> bool {
        !self.picked && self.invalid >= ASKED
    }

    /// Whether its call failed and there is no answer.
    pub(super) fn is_failed(&self) -> bool {
        !self.picked && self.invalid == 0 && self.failed
    }
}

/// Identifies a question: the query, the order of its pool, and the hash of judge and prompt. Two
/// pools may have the same prompt; each is asked separately.
pub(super) type PickQuestionKey = (QueryId, usize, String);

#[derive(Debug, Default)]
pub struct PickAnswers {
    states: HashMap<PickQuestionKey, QuestionState>,
    /// Usage of the answers, by name, provider, model and prompt of the judge.
    used: HashMap<[String; 4], UsageSums>,
}

impl PickAnswers {
    /// Starts with the answers of a project.
    pub fn new(picks: Vec<PickRecord>) -> Self {
        let mut answers = Self::default();
        picks.iter().for_each(|record| answers.add(record));
        answers
    }

    /// Records an answer.
    pub fn add(&mut self, record: &PickRecord) {
        let question = (
            record.query.clone(),
            record.permutation,
            record.call.clone(),
        );
        let state = self.states.entry(question).or_default();
        match &record.result {
            PickResult::Slots(_) => state.picked = true,
            PickResult::Verdicts(verdicts) => {
                state.picked = true;
                let unproven = verdicts.iter().filter(|given| given.unproven.is_some());
                state.unproven = unproven.count();
            }
            PickResult::Invalid(_) => state.invalid += 1,
            PickResult::Failure(_) => state.failed |= !record.again,
        }
        let usage = Usage {
            input: record.tokens_input,
            output: record.tokens_output,
            ..Usage::default()
        };
        state.usage.input += usage.input;
        state.usage.output += usage.output;
        state.spend += Spend::of(record.cost_usd);
        if !matches!(record.result, PickResult::Failure(_)) {
            let judge = [
                &record.judge,
                &record.provider,
                &record.model,
                &record.prompt,
            ];
            let sums = self.used.entry(judge.map(Clone::clone)).or_default();
            sums.add(usage, record.cost_usd);
        }
    }

    /// The state of a question; `None` if it was never answered and never failed.
    pub(super) fn state(&self, question: &PickQuestionKey) -> Option<&QuestionState> {
        self.states.get(question)
    }

    /// Average usage of a judge's answers; `None` if there are none yet.
    pub(super) fn learnt(&self, judge: &JudgeSpec) -> Option<LearntUsage> {
        let key = [
            &judge.name,
            &judge.provider,
            &judge.model,
            &judge.prompt_hash,
        ];
        let sums = self.used.get(&key.map(Clone::clone))?;
        sums.learnt().filter(|_| !judge.is_offline())
    }

    /// Tokens and dollars spent on these questions.
    pub(super) fn used(&self, questions: &[&PickQuestionKey]) -> (Usage, Spend) {
        let mut usage = Usage::default();
        let mut spend = Spend::default();
        for state in questions.iter().filter_map(|one| self.state(one)) {
            usage.input += state.usage.input;
            usage.output += state.usage.output;
            spend += state.spend;
        }
        (usage, spend)
    }
}
