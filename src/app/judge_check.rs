//! Checks a judge with one small question, asked in both orders, whose answer is known.

use crate::app::retirements::retirement_of;
use crate::app::text_format::counted;
use crate::client::single_call::SingleCall;
use crate::domain::number_words::{signed, usd};
use crate::domain::vote::Outcome;
use crate::judge::parse::{NoAnswer, ParseError};
use crate::judge::{
    CallError, FailureCause, Judge, JudgePrompt, JudgeQuestion, JudgeReply, OFFLINE_LABEL,
    PoolText, PresentedPair, call_adapting,
};
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::sync::Arc;

/// The question, a document that answers it, and one that does not.
const QUESTION: [&str; 3] = [
    "What is the capital of France?",
    "Paris is the capital of France.",
    "Rome is the capital of Italy.",
];

/// The finding and the remedy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckResult {
    pub ok: bool,
    pub found: String,
    pub remedy: Option<String>,
}

impl CheckResult {
    pub fn new(ok: bool, found: impl Into<String>) -> Self {
        Self {
            ok,
            found: found.into(),
            remedy: None,
        }
    }

    #[must_use]
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Self {
            remedy: Some(remedy.into()),
            ..self
        }
    }
}

/// The check result for a judge without a call.
pub fn configured(judge: &dyn Judge) -> CheckResult {
    let spec = judge.spec();
    let price = price(judge);
    let found = format!("{} {}: not called; {price}", spec.provider, spec.model);
    CheckResult {
        remedy: unpriced(judge),
        ..CheckResult::new(true, found)
    }
}

/// Asks the judge in both orders: a judge that always names the first document is right once.
pub async fn examine(judge: &dyn Judge) -> CheckResult {
    let [query, right, wrong] = QUESTION;
    let documents = vec![Arc::from(right), Arc::from(wrong)];
    let pool = Arc::new(PoolText::new(query, documents));
    let mut spent_usd = 0.0;
    let mut replies = Vec::new();
    let mut answers = Vec::new();
    for (first, second) in [(0, 1), (1, 0)] {
        let case = PresentedPair {
            pool: Arc::clone(&pool),
            first,
            second,
        };
        let question = JudgeQuestion::Pair(&case);
        let prompt = judge.prompt(question);
        let reply = match ask(judge, question, &prompt, &mut spent_usd).await {
            Ok(reply) => reply,
            Err(error) => {
                let found = with_cost(error.cause.to_string(), spent_usd);
                return CheckResult::new(false, found).remedy(error.message);
            }
        };
        match judge.parse(&case, &reply) {
            Ok(opinion) => answers.push(opinion.margin),
            Err(error) => {
                let found = with_cost(error.to_string(), spent_usd);
                return CheckResult::new(false, found).remedy(unread_remedy(&error));
            }
        }
        replies.push(reply);
    }
    // As presented: the right document comes first, then second.
    let outcomes: Vec<Outcome> = answers.iter().map(|margin| margin.outcome()).collect();
    let margins = answers.iter().map(|margin| signed(margin.get(), 2));
    let margins = margins.collect::<Vec<_>>().join(" and ");
    let about = with_cost(about(judge, &replies), spent_usd);
    let useless =
        "its votes would say nothing about the documents: use a larger model, or check its prompt";
    match outcomes[..] {
        [Outcome::A, Outcome::B] => CheckResult {
            remedy: unpriced(judge),
            ..CheckResult::new(true, format!("right in both orders ({margins}); {about}"))
        },
        [Outcome::A, Outcome::A] => CheckResult::new(
            false,
            format!("names the first document in both orders ({margins}); {about}"),
        )
        .remedy(useless),
        [Outcome::B, Outcome::B] => CheckResult::new(
            false,
            format!("names the second document in both orders ({margins}); {about}"),
        )
        .remedy(useless),
        [Outcome::B, Outcome::A] => CheckResult::new(
            false,
            format!("names the wrong document in both orders ({margins}); {about}"),
        )
        .remedy(
            "it says that Rome is the capital of France: check its prompt, or use another model",
        ),
        [Outcome::Tie, Outcome::Tie] => {
            CheckResult::new(false, format!("calls it a tie in both orders; {about}"))
                .remedy(useless)
        }
        _ => CheckResult::new(
            false,
            format!("right in one order, a tie in the other ({margins}); {about}"),
        )
        .remedy("its votes depend on the order: see its flips and its lean in `overrule judges`"),
    }
}

/// The answer to one test question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCall {
    /// Whether the judge named the right document.
    pub ok: bool,
    pub words: String,
}

impl TestCall {
    pub fn failed(words: &str) -> Self {
        Self {
            ok: false,
            words: words.to_owned(),
        }
    }
}

/// Asks the judge once, with the right document first, and describes the answer, its time and its
/// cost, which counts as spending of the project.
pub async fn test_call(store: &Store, judge: &dyn Judge, limit_usd: Option<f64>) -> TestCall {
    let [query, right, wrong] = QUESTION;
    let documents = vec![Arc::from(right), Arc::from(wrong)];
    let case = PresentedPair {
        pool: Arc::new(PoolText::new(query, documents)),
        first: 0,
        second: 1,
    };
    let question = JudgeQuestion::Pair(&case);
    let prompt = judge.prompt(question);
    let call = call_adapting(|| judge.call(question, &prompt));
    let result = if judge.spec().is_offline() {
        call.await
    } else {
        let single = SingleCall {
            purpose: CallPurpose::Test,
            service: judge.spec().name.clone(),
            worst_usd: judge.worst(&prompt).1,
            limit_usd,
        };
        match single.make(store, call).await {
            Ok(result) => result,
            Err(error) => return TestCall::failed(&error.to_string()),
        }
    };
    let cost = match cost_of(&result) {
        cost if cost > 0.0 => format!(", {}", usd(cost)),
        _ => String::new(),
    };
    let reply = match result {
        Ok(reply) => reply,
        Err(error) => {
            return TestCall::failed(&format!("{}{cost}: {}", error.cause, error.message));
        }
    };
    let taken = format!("in {:.1} s{cost}", reply.latency.as_secs_f64());
    let opinion = match judge.parse(&case, &reply) {
        Ok(opinion) => opinion,
        Err(error) => {
            let remedy = unread_remedy(&error);
            return TestCall::failed(&format!("{error} {taken}; {remedy}"));
        }
    };
    let outcome = opinion.margin.outcome();
    let found = match outcome {
        Outcome::A => "right",
        Outcome::B => "names the wrong document",
        Outcome::Tie => "calls it a tie",
    };
    let thoughts = opinion.thoughts.join(" ");
    let reason = if thoughts.trim().is_empty() {
        String::new()
    } else {
        format!(": “{thoughts}”")
    };
    TestCall {
        ok: outcome == Outcome::A,
        words: format!("{found} {taken}{reason}"),
    }
}

/// Asks once, and again with a larger limit if the answer was truncated, as a run does. Adds the
/// cost to `spent_usd`.
async fn ask(
    judge: &dyn Judge,
    question: JudgeQuestion<'_>,
    prompt: &JudgePrompt,
    spent_usd: &mut f64,
) -> Result<JudgeReply, CallError> {
    let mut result = call_adapting(|| judge.call(question, prompt)).await;
    *spent_usd += cost_of(&result);
    if let Err(error) = &result
        && error.cause == FailureCause::Truncated
        && let Some(longer) = judge.reask(prompt, error.cause)
    {
        result = call_adapting(|| judge.call(question, &longer)).await;
        *spent_usd += cost_of(&result);
    }
    result
}

/// Dollars that a call cost, as far as known.
fn cost_of(result: &Result<JudgeReply, CallError>) -> f64 {
    let cost = match result {
        Ok(reply) => reply.cost_usd,
        Err(error) => error.exchange.cost_usd,
    };
    cost.unwrap_or(0.0)
}

/// A finding with the cost of the check, which no project's spending includes.
fn with_cost(found: String, spent_usd: f64) -> String {
    if spent_usd > 0.0 {
        let cost = usd(spent_usd);
        format!("{found}; this check cost {cost}, not counted in the project's spending")
    } else {
        found
    }
}

/// The remedy for a judge whose answer cannot be parsed.
fn unread_remedy(error: &ParseError) -> &'static str {
    match error {
        ParseError::NotALetter(_) => {
            "try prompt = \"choice\" in overrule.toml, which lets the model write first, or \
             another model"
        }
        ParseError::NoAnswer(NoAnswer::OutsideContent { .. } | NoAnswer::OnlyThinking) => {
            "turn the model's thinking off with `params`, or raise max_output_tokens, in \
             overrule.toml"
        }
        _ => "try another model, or prompt = \"choice\" or \"letter\" in overrule.toml",
    }
}

/// Number of a judge's votes that were cast with model weights other than those on its server now.
///
/// # Errors
/// The project cannot be read.
pub async fn votes_by_other_weights(store: &Store, judge: &dyn Judge) -> Result<usize, StoreError> {
    let Some(now) = judge.weights().await else {
        return Ok(0);
    };
    let spec = judge.spec().clone();
    store
        .read(move |db| {
            let known = db.all_judges()?;
            let Some((id, _)) = known.iter().find(|(_, known)| known.is_same_judge(&spec)) else {
                return Ok(0);
            };
            if db.weights_of(*id)?.is_some_and(|before| before != now) {
                db.votes_of(*id)
            } else {
                Ok(0)
            }
        })
        .await
}

/// Describes how it answered: latency, form, price, and findings about its server.
fn about(judge: &dyn Judge, replies: &[JudgeReply]) -> String {
    let seconds: f64 = replies
        .iter()
        .map(|reply| reply.latency.as_secs_f64())
        .sum();
    let milliseconds = 1e3 * seconds / replies.len().max(1) as f64;
    let mut words = vec![format!("{milliseconds:.1} ms per call")];
    if judge.spec().is_offline() {
        words.push(OFFLINE_LABEL.to_owned());
    } else {
        let kept = replies
            .iter()
            .filter(|reply| judge.keeps_form(reply))
            .count();
        words.push(match replies.len() - kept {
            0 => "structured output followed".to_owned(),
            lost => format!(
                "structured output not followed in {}, but readable",
                counted(lost, "answer")
            ),
        });
        words.push(price(judge).to_owned());
    }
    words.extend(judge.server_notes().iter().map(|note| (*note).to_owned()));
    words.join("; ")
}

fn price(judge: &dyn Judge) -> &'static str {
    match judge.estimate(&JudgePrompt::default()).1 {
        Some(usd) if usd > 0.0 => "price known",
        Some(_) => "free",
        None => "price unknown",
    }
}

fn unpriced(judge: &dyn Judge) -> Option<String> {
    let unpriced = (price(judge) == "price unknown").then(|| {
        "set `price` in overrule.toml; without it, spending is not counted and --budget is refused"
            .to_owned()
    });
    let remedies: Vec<String> = unpriced.into_iter().chain(retirement_of(judge)).collect();
    (!remedies.is_empty()).then(|| remedies.join("; "))
}
