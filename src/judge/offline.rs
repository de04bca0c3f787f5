//! The embedded judges: the three lexical measures, labeled as such, which need no network and
//! disagree for real reasons.

mod picks;
mod reranking;

pub use super::lexical::{LexicalMethod, LexicalScores, NAMES};

use super::call::{CallError, JudgePrompt, JudgeReply, RateLimits, Usage};
use super::judge_trait::{Judge, JudgeEnsemble};
use super::lexical::{self, count_words};
use super::presented::{JudgeQuestion, PresentedPair, PresentedPool, PresentedQuestion, RerankAsk};
use super::prompt::{rerank_task_text, task_text};
use super::spec::{JudgeSpec, OFFLINE};
use crate::domain::adjudication::PickRequest;
use crate::domain::hex::short_hex;
use crate::domain::text;
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Instant;

/// Number of words of a prompt outside the query and the documents: `Query:`, `Document A:`,
/// `Document B:`.
const LABEL_WORDS: u64 = 5;

/// Words of a note on two abstracts, about the mean over SciFact pools.
const TYPICAL_NOTE: u64 = 130;

#[derive(Debug)]
struct LexicalJudge {
    method: LexicalMethod,
    spec: JudgeSpec,
}

impl LexicalJudge {
    fn new(method: LexicalMethod) -> Self {
        let model = format!("lexical {} v1", method.name());
        let digest = Sha256::digest(format!("overrule offline {model}"));
        Self {
            method,
            spec: JudgeSpec {
                name: method.name().to_owned(),
                provider: OFFLINE.to_owned(),
                prompt_hash: short_hex(&digest),
                params: lexical::parameters(method).to_string(),
                model,
            },
        }
    }
}

impl LexicalJudge {
    fn compare(&self, case: &PresentedPair) -> JudgeReply {
        let started = Instant::now();
        let analysis = case.pool.analysis();
        let thoughts = analysis.thoughts(self.method, case.first, case.second);
        let output = thoughts
            .iter()
            .map(|thought| count_words(thought))
            .sum::<u64>()
            + 1;
        let score = analysis.margin(self.method, case.first, case.second);
        let text = json!({"thoughts": thoughts, "score": score}).to_string();
        let usage = Usage {
            input: LABEL_WORDS + analysis.words(case.first, case.second),
            output,
            ..Usage::default()
        };
        self.reply(text, usage, started)
    }

    fn pick(&self, lineup: &PresentedPool, prompt: &JudgePrompt) -> JudgeReply {
        let started = Instant::now();
        let (answer, output) = match lineup.ask {
            PickRequest::PerDocument => {
                let verdicts = picks::verdicts(self.method, lineup);
                let words: u64 = verdicts
                    .iter()
                    .filter_map(|given| given.sentence.as_ref())
                    .map(|quote| count_words(quote))
                    .sum();
                let output = words + verdicts.len() as u64;
                (json!({ "verdicts": verdicts }), output)
            }
            PickRequest::Exactly(_) | PickRequest::AnyNumber => {
                let slots = picks::slots(self.method, lineup);
                let output = slots.len() as u64;
                (json!({ "slots": slots }), output)
            }
        };
        let usage = Usage {
            input: prompt.user.split_whitespace().count() as u64,
            output,
            ..Usage::default()
        };
        self.reply(answer.to_string(), usage, started)
    }

    fn rerank(&self, question: &PresentedQuestion, prompt: &JudgePrompt) -> JudgeReply {
        let started = Instant::now();
        let (text, output, odds) = reranking::answer(self.method, question);
        let usage = Usage {
            input: words(&prompt.user) as u64,
            output,
            ..Usage::default()
        };
        JudgeReply {
            odds,
            ..self.reply(text, usage, started)
        }
    }

    fn reply(&self, text: String, usage: Usage, started: Instant) -> JudgeReply {
        JudgeReply {
            text,
            outside: None,
            model: Some(self.spec.model.clone()),
            stop_reason: Some("stop".to_owned()),
            request_id: None,
            usage,
            cost_usd: Some(0.0),
            latency: started.elapsed(),
            fingerprint: None,
            odds: None,
            limits: RateLimits::default(),
        }
    }
}

pub fn ensemble() -> JudgeEnsemble {
    LexicalMethod::ALL
        .iter()
        .map(|method| Arc::new(LexicalJudge::new(*method)) as Arc<dyn Judge>)
        .collect()
}

/// The embedded judge with this name, one of [`NAMES`].
pub fn judge(name: &str) -> Option<Arc<dyn Judge>> {
    let method = LexicalMethod::ALL
        .into_iter()
        .find(|method| method.name() == name)?;
    Some(Arc::new(LexicalJudge::new(method)))
}

impl Judge for LexicalJudge {
    fn spec(&self) -> &JudgeSpec {
        &self.spec
    }

    fn can_answer(&self, question: JudgeQuestion<'_>) -> bool {
        match question {
            JudgeQuestion::Pair(_) | JudgeQuestion::Pool(_) => true,
            // Scores of different queries are not comparable.
            JudgeQuestion::Rerank(question) => {
                !matches!(question.ask, RerankAsk::Link | RerankAsk::Revise)
            }
        }
    }

    fn prompt(&self, question: JudgeQuestion<'_>) -> JudgePrompt {
        match question {
            JudgeQuestion::Pair(case) => pair_prompt(case),
            JudgeQuestion::Pool(lineup) => {
                let pool = &lineup.pool;
                let documents = pool.documents.iter().map(|text| &**text);
                let task = task_text(lineup.ask, pool.documents.len());
                listed(&pool.query, documents, &task)
            }
            JudgeQuestion::Rerank(question) => {
                let task = rerank_task_text(question.ask, question.shown.len());
                listed(&question.pool.query, question.texts(), &task)
            }
        }
    }

    fn call<'a>(
        &'a self,
        question: JudgeQuestion<'a>,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        let reply = match question {
            JudgeQuestion::Pair(case) => self.compare(case),
            JudgeQuestion::Pool(lineup) => self.pick(lineup, prompt),
            JudgeQuestion::Rerank(question) => self.rerank(question, prompt),
        };
        ready(Ok(reply)).boxed()
    }

    /// In words; the output is the length of a typical note.
    fn estimate(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        let usage = Usage {
            input: words(&prompt.user) as u64,
            output: TYPICAL_NOTE,
            ..Usage::default()
        };
        (usage, Some(0.0))
    }

    fn most(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        self.estimate(prompt)
    }
}

fn pair_prompt(case: &PresentedPair) -> JudgePrompt {
    let query = text::readable(&case.pool.query);
    let (first, second) = (
        text::readable(case.first_text()),
        text::readable(case.second_text()),
    );
    JudgePrompt {
        user: format!("Query:\n{query}\n\nDocument A:\n{first}\n\nDocument B:\n{second}\n"),
        ..JudgePrompt::default()
    }
}

/// A message with a query, numbered documents and a task.
fn listed<'a>(query: &str, documents: impl Iterator<Item = &'a str>, task: &str) -> JudgePrompt {
    let mut user = format!("Query:\n{}\n", text::readable(query));
    for (number, document) in (1..).zip(documents) {
        let document = text::readable(document);
        user.push_str(&format!("\nDocument {number}:\n{document}\n"));
    }
    user.push_str(&format!("\n{task}\n"));
    JudgePrompt {
        user,
        ..JudgePrompt::default()
    }
}

/// Number of words of a text. A plan counts those of every pool, most of which are plain ASCII.
fn words(text: &str) -> usize {
    if !text.is_ascii() {
        return text.split_whitespace().count();
    }
    let (mut words, mut blank) = (0, true);
    for byte in text.bytes() {
        let now = matches!(byte, b'\t'..=b'\r' | b' ');
        words += usize::from(blank && !now);
        blank = now;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::parse::strict_score;
    use crate::judge::presented::PoolText;

    #[test]
    fn words_stand_between_white_space_of_any_kind() {
        for text in [
            "",
            " ",
            "one",
            " two  words\n",
            "a\u{b}b\u{c}c\td\re",
            "\u{1c}x\u{1f}",
            "naïve\u{a0}words",
        ] {
            assert_eq!(words(text), text.split_whitespace().count(), "{text:?}");
        }
    }

    fn case(first: usize, second: usize) -> PresentedPair {
        let texts = [
            "Aspirin reduces fever,\nthey \"say\".",
            "Fever is\u{1b}[31m common.",
            "Nothing.",
        ];
        let documents = texts.iter().map(|text| (*text).into()).collect();
        PresentedPair {
            pool: Arc::new(PoolText::new("Does aspirin reduce fever?", documents)),
            first,
            second,
        }
    }

    fn reply(judge: &dyn Judge, case: &PresentedPair) -> JudgeReply {
        let question = JudgeQuestion::Pair(case);
        futures::executor::block_on(judge.call(question, &judge.prompt(question))).unwrap()
    }

    #[test]
    fn the_ensemble_is_the_three_named_judges() {
        let judges = ensemble();
        assert_eq!(
            judges
                .iter()
                .map(|judge| judge.spec().name.as_str())
                .collect::<Vec<_>>(),
            NAMES
        );
        for name in NAMES {
            let spec = judge(name).unwrap().spec().clone();
            assert!(
                spec.is_offline()
                    && spec.model == format!("lexical {name} v1")
                    && spec.prompt_hash.len() == 16
            );
        }
        assert!(judge("gpt").is_none());
        let hashes: std::collections::HashSet<_> = judges
            .iter()
            .map(|judge| &judge.spec().prompt_hash)
            .collect();
        assert_eq!(hashes.len(), 3);
        assert_eq!(
            judges[0].spec().params,
            r#"{"k1":1.2,"b":0.75,"stemmer":"porter"}"#
        );
    }

    #[test]
    fn replies_parse_and_flip_with_the_presentation() {
        for judge in ensemble() {
            let opinion = |first, second| {
                strict_score(&reply(judge.as_ref(), &case(first, second)).text).unwrap()
            };
            assert!(opinion(0, 1).margin.get() < 0.0, "{judge:?}");
            assert_eq!(opinion(0, 1).margin, opinion(1, 0).margin.flipped());
            assert_eq!(opinion(2, 2).margin.get(), 0.0);
            assert_eq!(opinion(0, 1).thoughts.len(), 4);
        }
    }

    #[test]
    fn a_call_costs_nothing_and_uses_the_words_of_its_prompt() {
        for judge in ensemble() {
            let case = case(0, 1);
            let (estimate, cost) = judge.estimate(&judge.prompt(JudgeQuestion::Pair(&case)));
            let reply = reply(judge.as_ref(), &case);
            assert_eq!(reply.usage.input, estimate.input);
            assert_eq!((cost, reply.cost_usd), (Some(0.0), Some(0.0)));
            assert_eq!(reply.model.as_deref(), Some(judge.spec().model.as_str()));
            assert!(
                reply.text.starts_with(r#"{"thoughts":["Document A "#),
                "{}",
                reply.text
            );
        }
    }
}
