//! Each fault of each provider: its cause, whether to retry, and whether the judge stops.

use super::{HASTY, PROVIDERS, call, case, judge};
use crate::judge::JudgeQuestion;
use crate::judge::{CallError, FailureCause, Judge, Retry};
use crate::suites::fake_provider::{FakeProvider, Fault, Faults};
use futures::future::join_all;
use std::time::Duration;

const ANY: Retry = Retry::After(None);
const SOON: Retry = Retry::After(Some(Duration::from_millis(20)));

async fn outcome(judge: &dyn Judge) -> CallError {
    match call(judge).await {
        Err(error) => error,
        Ok(reply) => {
            let error = judge.parse(&case(), &reply).unwrap_err();
            CallError::new(error.cause(), error.to_string())
        }
    }
}

#[tokio::test]
async fn every_fault_has_its_cause_and_its_remedy() {
    let fake = FakeProvider::start();
    for (provider, ..) in PROVIDERS {
        let judge = judge(&fake, provider, "");
        for (fault, cause, retry, stops) in [
            (Fault::RateLimited, FailureCause::RateLimited, SOON, false),
            (
                Fault::RateLimitedBare,
                FailureCause::RateLimited,
                ANY,
                false,
            ),
            (
                Fault::Quota,
                FailureCause::QuotaExhausted,
                Retry::Never,
                true,
            ),
            (
                Fault::Unauthorized,
                FailureCause::Unauthorized,
                Retry::Never,
                true,
            ),
            (
                Fault::UnknownModel,
                FailureCause::BadRequest,
                Retry::Never,
                true,
            ),
            (Fault::Server500, FailureCause::Server, ANY, false),
            (Fault::Unavailable503, FailureCause::Server, ANY, false),
            (Fault::Overloaded529, FailureCause::Server, ANY, false),
            (Fault::Reset, FailureCause::Connection, ANY, false),
            (Fault::CutBody, FailureCause::Connection, ANY, false),
            (Fault::CutJson, FailureCause::Malformed, Retry::Never, false),
            (
                Fault::WrongType,
                FailureCause::Malformed,
                Retry::Never,
                false,
            ),
            (Fault::Huge, FailureCause::Malformed, Retry::Never, false),
        ] {
            fake.fail_next(&[fault]);
            let error = outcome(judge.as_ref()).await;
            let found = (error.cause, error.retry, error.stops_judge);
            assert_eq!(
                found,
                (cause, retry, stops),
                "{provider}, {fault:?}: {error}"
            );
            assert!(error.message.len() > 5, "{provider}, {fault:?}: {error}");
            assert!(error.exchange.sent, "{provider}, {fault:?}");
        }
        assert!(call(judge.as_ref()).await.is_ok(), "{provider} recovers");
    }
}

#[tokio::test]
async fn bad_answers_are_failures_and_were_paid_for() {
    let fake = FakeProvider::start();
    for provider in [
        "openai",
        "anthropic",
        "gemini",
        "azure",
        "ollama",
        "compatible",
        "groq",
    ] {
        let judge = judge(&fake, provider, "");
        for (fault, cause) in [
            (Fault::CutText, FailureCause::Malformed),
            (Fault::Prose, FailureCause::Malformed),
            (Fault::OutOfRange, FailureCause::Malformed),
            (Fault::Empty, FailureCause::Malformed),
            (Fault::Length, FailureCause::Truncated),
            (Fault::Refusal, FailureCause::Refused),
        ] {
            fake.fail_next(&[fault]);
            let result = call(judge.as_ref()).await;
            let usage = match &result {
                Ok(reply) => reply.usage,
                Err(error) => error.exchange.usage,
            };
            assert!(usage.input > 0, "{provider}, {fault:?}");
            let found = match result {
                Ok(reply) => judge.parse(&case(), &reply).unwrap_err().cause(),
                Err(error) => error.cause,
            };
            assert_eq!(found, cause, "{provider}, {fault:?}");
        }
        if provider != "ollama" {
            fake.fail_next(&[Fault::Filtered]);
            let error = outcome(judge.as_ref()).await;
            let cause = if provider == "anthropic" {
                FailureCause::Refused
            } else {
                FailureCause::Filtered
            };
            assert_eq!(
                (error.cause, error.stops_judge),
                (cause, false),
                "{provider}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_says_that_it_had_begun() {
    // In parallel, since each waits for the rest of an answer as long as a busy machine may need to
    // start one.
    join_all(PROVIDERS.map(|(provider, ..)| async move {
        let fake = FakeProvider::start();
        let judge = judge(&fake, provider, "timeout_s = 2");
        for fault in [Fault::Slow, Fault::Huge] {
            fake.fail_next(&[fault]);
            let error = outcome(judge.as_ref()).await;
            let exchange = &error.exchange;
            assert_eq!(
                (exchange.status, exchange.sent),
                (Some(200), true),
                "{error}"
            );
            assert_eq!(exchange.cost_usd, None, "{provider}, {fault:?}");
            assert!(error.raw.is_some(), "{provider}, {fault:?}");
        }
        fake.fail_next(&[Fault::Reset]);
        let error = outcome(judge.as_ref()).await;
        assert_eq!((error.exchange.status, error.exchange.sent), (None, true));
    }))
    .await;
    for (half, bytes) in [("{\"choices\":[{", 13), ("", 0)] {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\nx-request-id: r1\r\nconnection: close\r\n\r\n";
        let url = super::secrets::parrot(format!("{head}{half}"));
        let judge = super::judge_at("openai", "gpt-6.1-terra", &url, "");
        let error = outcome(judge.as_ref()).await;
        let exchange = &error.exchange;
        assert_eq!((error.cause, error.retry), (FailureCause::Connection, ANY));
        assert_eq!((exchange.status, exchange.sent), (Some(200), true));
        assert_eq!(exchange.request_id.as_deref(), Some("r1"));
        assert_eq!(
            error.raw.as_deref(),
            Some(half).filter(|half| !half.is_empty())
        );
        let cut = format!("the answer was cut off after {bytes} bytes from 127.0.0.1");
        assert!(error.message.starts_with(&cut), "{error}");
    }
}

/// Regression test: a time in the headers once overflowed the program's arithmetic.
#[tokio::test]
async fn a_server_that_names_the_end_of_time_is_heard_out() {
    let body = "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":\"{\\\"thoughts\\\":[\\\"x\\\"],\\\"score\\\":1}\"}}]}";
    for header in [
        "retry-after: 9223372036854775807",
        "x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 1e19",
    ] {
        let answer = super::secrets::http("200 OK", &format!("{header}\r\n"), body);
        let url = super::secrets::parrot(answer);
        let judge = super::judge_at("openai", "gpt-6.1-terra", &url, "");
        let limits = call(judge.as_ref()).await.unwrap().limits;
        let longest = limits.retry_after.or(limits.tokens_reset).unwrap();
        assert_eq!(longest, Duration::from_secs(24 * 60 * 60), "{header}");
    }
}

#[tokio::test]
async fn patience_ends() {
    let fake = FakeProvider::start();
    let judge = judge(&fake, "openai", HASTY);
    for fault in [Fault::Hang, Fault::Slow] {
        fake.fail_next(&[fault]);
        let error = outcome(judge.as_ref()).await;
        assert_eq!(
            (error.cause, error.retry),
            (FailureCause::TimedOut, ANY),
            "{error}"
        );
        assert!(error.exchange.latency >= Duration::from_millis(300));
    }
}

#[tokio::test]
async fn an_answer_with_too_many_headers_is_not_paid_for_again() {
    let headers: String = (0..5_000).map(|at| format!("x-{at}: y\r\n")).collect();
    let answer = super::secrets::http("200 OK", &headers, "{}");
    let url = super::secrets::parrot(answer);
    let judge = super::judge_at("openai", "gpt-6.1-terra", &url, "");
    let error = outcome(judge.as_ref()).await;
    assert_eq!(
        (error.cause, error.retry, error.exchange.sent),
        (FailureCause::Connection, Retry::Never, true),
        "{error}"
    );
    assert!(
        error.message.contains("the headers of the answer"),
        "{error}"
    );
}

#[tokio::test]
async fn nobody_listening_is_no_connection() {
    let url = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let judge = super::judge_at("ollama", "qwen3:8b", &url, "");
    let error = outcome(judge.as_ref()).await;
    assert_eq!((error.cause, error.retry), (FailureCause::Connection, ANY));
    assert!(!error.exchange.sent, "nothing can be charged");
    assert!(error.message.contains("is the server running?"), "{error}");
}

#[tokio::test]
async fn a_server_without_encryption_is_no_connection_under_https() {
    let fake = FakeProvider::start();
    let url = fake.v1().replace("http:", "https:");
    let judge = super::judge_at("openai", "gpt-6.1-terra", &url, "");
    let error = outcome(judge.as_ref()).await;
    assert_eq!(
        (error.cause, error.exchange.sent),
        (FailureCause::Connection, false)
    );
}

#[tokio::test]
async fn a_second_asking_reminds_or_gives_more_room() {
    let fake = FakeProvider::start();
    let judge = judge(&fake, "openai", "");
    let prompt = judge.prompt(JudgeQuestion::Pair(&case()));
    let reminded = judge.reask(&prompt, FailureCause::Malformed).unwrap();
    assert!(reminded.user.starts_with(&prompt.user) && reminded.user.len() > prompt.user.len());
    let longer = judge.reask(&prompt, FailureCause::Truncated).unwrap();
    judge
        .call(JudgeQuestion::Pair(&case()), &longer)
        .await
        .unwrap();
    assert_eq!(
        fake.requests().pop().unwrap().body["max_completion_tokens"],
        8192
    );
    assert_eq!(judge.reask(&longer, FailureCause::Truncated), None);
    for last in [
        FailureCause::Refused,
        FailureCause::Filtered,
        FailureCause::RateLimited,
        FailureCause::Unauthorized,
    ] {
        assert_eq!(judge.reask(&prompt, last), None);
    }
}

#[tokio::test]
async fn the_same_seed_fails_the_same_calls() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let fake = FakeProvider::start();
        fake.fail_at_random(Faults {
            seed: 7,
            rates: vec![(Fault::Server500, 0.3), (Fault::Prose, 0.2)],
            doomed: Vec::new(),
        });
        let judge = judge(&fake, "openai", "");
        let mut causes = Vec::new();
        for _ in 0..30 {
            causes.push(match call(judge.as_ref()).await {
                Ok(reply) => judge
                    .parse(&case(), &reply)
                    .err()
                    .map(|error| error.cause()),
                Err(error) => Some(error.cause),
            });
        }
        for cause in [
            None,
            Some(FailureCause::Server),
            Some(FailureCause::Malformed),
        ] {
            assert!(causes.contains(&cause), "{cause:?}");
        }
        runs.push(causes);
    }
    assert_eq!(runs[0], runs[1]);
}
