//! A judge that follows a test's script.

use crate::domain::sampling::SeededRng;
use crate::judge::{
    CallError, FailureCause, Judge, JudgeEnsemble, JudgePrompt, JudgeQuestion, JudgeReply,
    JudgeSpec, PresentedPair, RateLimits, Retry, Usage,
};
use futures::FutureExt as _;
use futures::future::{BoxFuture, pending};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// What a scripted judge does with a call.
pub(crate) enum Act {
    /// Votes as determined by its name and the two texts.
    Answer,
    /// Ends with this failure.
    Fail(FailureCause),
    /// Breaks its connection, like a server that is briefly unavailable.
    Break,
    /// Replies with something that is not an opinion.
    Babble,
    /// Panics inside the call.
    Panic,
    /// Never ends.
    Hang,
    /// Waits until the receiver holds `true`, then votes.
    Wait(watch::Receiver<bool>),
}

pub(crate) type Script = dyn Fn(&PresentedPair, usize) -> Act + Send + Sync;

/// A judge whose votes depend only on its name and the texts, and whose behavior follows a script.
pub(crate) struct Scripted {
    spec: JudgeSpec,
    script: Box<Script>,
    pub(crate) calls: Arc<AtomicUsize>,
    /// The cost of a call, if known.
    pub(crate) price: Option<f64>,
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scripted({})", self.spec.name)
    }
}

fn pair(question: JudgeQuestion<'_>) -> &PresentedPair {
    match question {
        JudgeQuestion::Pair(case) => case,
        other => panic!("not about two documents: {other:?}"),
    }
}

impl Judge for Scripted {
    fn spec(&self) -> &JudgeSpec {
        &self.spec
    }

    fn prompt(&self, question: JudgeQuestion<'_>) -> JudgePrompt {
        let case = pair(question);
        JudgePrompt {
            system: String::new(),
            user: format!(
                "{}\n{}\n{}",
                case.pool.query,
                case.first_text(),
                case.second_text()
            ),
            ..JudgePrompt::default()
        }
    }

    fn call<'a>(
        &'a self,
        question: JudgeQuestion<'a>,
        _: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        let case = pair(question);
        let count = self.calls.fetch_add(1, Ordering::SeqCst);
        let act = (self.script)(case, count);
        async move {
            let text = match act {
                Act::Answer => self.opinion(case),
                Act::Babble => "I would rather not say.".to_owned(),
                Act::Fail(cause) => {
                    return Err(CallError {
                        cause,
                        message: "scripted".to_owned(),
                        raw: Some("{\"error\":\"scripted\"}".to_owned()),
                        retry: Retry::Never,
                        ..CallError::new(cause, "")
                    });
                }
                Act::Break => {
                    return Err(CallError {
                        retry: Retry::After(Some(Duration::ZERO)),
                        ..CallError::new(FailureCause::Connection, "scripted")
                    });
                }
                // Like `panic!`, without the message on stderr.
                Act::Panic => std::panic::resume_unwind(Box::new("scripted panic".to_owned())),
                Act::Hang => pending().await,
                Act::Wait(mut gate) => {
                    gate.wait_for(|open| *open).await.unwrap();
                    self.opinion(case)
                }
            };
            Ok(JudgeReply {
                text,
                outside: None,
                model: None,
                stop_reason: None,
                request_id: None,
                usage: Usage::default(),
                cost_usd: self.price,
                latency: Duration::from_millis(1),
                fingerprint: None,
                odds: None,
                limits: RateLimits::default(),
            })
        }
        .boxed()
    }

    fn estimate(&self, _: &JudgePrompt) -> (Usage, Option<f64>) {
        (Usage::default(), self.price)
    }
}

impl Scripted {
    fn opinion(&self, case: &PresentedPair) -> String {
        let margin =
            (self.strength(case.second_text()) - self.strength(case.first_text())).clamp(-1.0, 1.0);
        format!(r#"{{"thoughts":["because"],"score":{margin}}}"#)
    }

    fn strength(&self, text: &str) -> f64 {
        SeededRng::new(0, &[&self.spec.name, text]).unit()
    }
}

pub(crate) fn scripted(
    name: &str,
    script: impl Fn(&PresentedPair, usize) -> Act + Send + Sync + 'static,
) -> Scripted {
    Scripted {
        spec: JudgeSpec {
            name: name.to_owned(),
            provider: "scripted".to_owned(),
            model: "none".to_owned(),
            prompt_hash: String::new(),
            params: "{}".to_owned(),
        },
        script: Box::new(script),
        calls: Arc::default(),
        price: Some(0.001),
    }
}

pub(crate) fn ensemble(judges: impl IntoIterator<Item = Scripted>) -> JudgeEnsemble {
    judges
        .into_iter()
        .map(|judge| Arc::new(judge) as Arc<dyn Judge>)
        .collect()
}

/// Three judges, the second of which follows `script`.
pub(crate) fn trio(
    script: impl Fn(&PresentedPair, usize) -> Act + Send + Sync + 'static,
) -> JudgeEnsemble {
    ensemble([
        scripted("ada", |_, _| Act::Answer),
        scripted("ben", script),
        scripted("cay", |_, _| Act::Answer),
    ])
}

/// Whether the scripts below make a case fail; a property of the pair, not of the presentation.
pub(crate) fn spoiled(case: &PresentedPair) -> bool {
    let (low, high) = (case.first.min(case.second), case.first.max(case.second));
    (3 * low + 5 * high).is_multiple_of(4)
}
