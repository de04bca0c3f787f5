//! Each fault of each provider: its cause, whether to try again, whether the judge stops.

use super::fake_provider::{FakeProvider, Fault, Faults};
use super::{PROVIDERS, call, case, judge};
use overrule::judge::{CallError, Cause, Judge, Retry};
use std::time::Duration;

const ANY: Retry = Retry::After(None);
const SOON: Retry = Retry::After(Some(Duration::from_millis(20)));

async fn outcome(judge: &dyn Judge) -> CallError {
    match call(judge).await {
        Err(error) => error,
        Ok(reply) => {
            let error = judge.parse(&reply).unwrap_err();
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
            (Fault::RateLimited, Cause::RateLimited, SOON, false),
            (Fault::RateLimitedBare, Cause::RateLimited, ANY, false),
            (Fault::Quota, Cause::QuotaExhausted, Retry::Never, true),
            (Fault::Unauthorised, Cause::Unauthorised, Retry::Never, true),
            (Fault::UnknownModel, Cause::BadRequest, Retry::Never, true),
            (Fault::Server500, Cause::Server, ANY, false),
            (Fault::Unavailable503, Cause::Server, ANY, false),
            (Fault::Overloaded529, Cause::Server, ANY, false),
            (Fault::Reset, Cause::Connection, ANY, false),
            (Fault::CutBody, Cause::Connection, ANY, false),
            (Fault::CutJson, Cause::Server, ANY, false),
            (Fault::WrongType, Cause::Server, ANY, false),
            (Fault::Huge, Cause::Malformed, Retry::Never, false),
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
            (Fault::CutText, Cause::Malformed),
            (Fault::Prose, Cause::Malformed),
            (Fault::OutOfRange, Cause::Malformed),
            (Fault::Empty, Cause::Malformed),
            (Fault::Length, Cause::Truncated),
            (Fault::Refusal, Cause::Refused),
        ] {
            fake.fail_next(&[fault]);
            let result = call(judge.as_ref()).await;
            let usage = match &result {
                Ok(reply) => reply.usage,
                Err(error) => error.exchange.usage,
            };
            assert!(usage.input > 0, "{provider}, {fault:?}");
            let found = match result {
                Ok(reply) => judge.parse(&reply).unwrap_err().cause(),
                Err(error) => error.cause,
            };
            assert_eq!(found, cause, "{provider}, {fault:?}");
        }
        if provider != "ollama" {
            fake.fail_next(&[Fault::Filtered]);
            let error = outcome(judge.as_ref()).await;
            let cause = if provider == "anthropic" {
                Cause::Refused
            } else {
                Cause::Filtered
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
async fn patience_ends() {
    let fake = FakeProvider::start();
    let judge = judge(&fake, "openai", "");
    for fault in [Fault::Hang, Fault::Slow] {
        fake.fail_next(&[fault]);
        let error = outcome(judge.as_ref()).await;
        assert_eq!(
            (error.cause, error.retry),
            (Cause::TimedOut, ANY),
            "{error}"
        );
        assert!(error.exchange.latency >= Duration::from_millis(300));
    }
}

#[tokio::test]
async fn nobody_listening_is_no_connection() {
    let url = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let judge = super::judge_at("ollama", "qwen3:8b", &url, "");
    let error = outcome(judge.as_ref()).await;
    assert_eq!((error.cause, error.retry), (Cause::Connection, ANY));
    assert!(error.message.contains("is the server running?"), "{error}");
}

#[tokio::test]
async fn a_server_without_encryption_is_no_connection_under_https() {
    let fake = FakeProvider::start();
    let url = fake.v1().replace("http:", "https:");
    let judge = super::judge_at("openai", "gpt-6.1-terra", &url, "");
    assert_eq!(outcome(judge.as_ref()).await.cause, Cause::Connection);
}

#[tokio::test]
async fn a_second_asking_reminds_or_gives_more_room() {
    let fake = FakeProvider::start();
    let judge = judge(&fake, "openai", "");
    let prompt = judge.prompt(&case());
    let reminded = judge.reask(&prompt, Cause::Malformed).unwrap();
    assert!(reminded.user.starts_with(&prompt.user) && reminded.user.len() > prompt.user.len());
    let longer = judge.reask(&prompt, Cause::Truncated).unwrap();
    judge.call(&case(), &longer).await.unwrap();
    assert_eq!(
        fake.requests().pop().unwrap().body["max_completion_tokens"],
        8192
    );
    assert_eq!(judge.reask(&longer, Cause::Truncated), None);
    for last in [
        Cause::Refused,
        Cause::Filtered,
        Cause::RateLimited,
        Cause::Unauthorised,
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
                Ok(reply) => judge.parse(&reply).err().map(|error| error.cause()),
                Err(error) => Some(error.cause),
            });
        }
        for cause in [None, Some(Cause::Server), Some(Cause::Malformed)] {
            assert!(causes.contains(&cause), "{cause:?}");
        }
        runs.push(causes);
    }
    assert_eq!(runs[0], runs[1]);
}
