//! Tests the fake provider itself: its limit, counters, latencies and endpoints.

use super::{HASTY, KEY, PROVIDERS, call, judge};
use crate::judge::{FailureCause, Retry};
use crate::suites::fake_provider::{FakeProvider, Fault, Latency, RetryAfter};
use std::time::Duration;

#[tokio::test]
async fn a_bucket_takes_its_burst_and_tells_when_to_come_back() {
    let fake = FakeProvider::start();
    fake.limit_requests(1.0, 2, true, RetryAfter::Seconds(7));
    let judge = judge(&fake, "openai", "");
    for left in [1, 0] {
        let reply = call(judge.as_ref()).await.unwrap();
        assert_eq!(reply.limits.requests_remaining, Some(left));
    }
    let error = call(judge.as_ref()).await.unwrap_err();
    assert_eq!(error.cause, FailureCause::RateLimited);
    assert_eq!(error.retry, Retry::After(Some(Duration::from_secs(7))));
    let books = fake.books();
    assert_eq!((books.requests, books.refused, books.answered), (3, 1, 2));
    assert_eq!(books.served, [2]);
    fake.lift_limit();
    assert!(call(judge.as_ref()).await.is_ok());
}

#[tokio::test]
async fn every_answer_that_was_computed_is_billed_once() {
    for (provider, model, _) in PROVIDERS {
        let fake = FakeProvider::start();
        fake.set_price(model, 2.0, 8.0);
        let judge = judge(&fake, provider, "");
        let usage = call(judge.as_ref()).await.unwrap().usage;
        let once = (usage.input as f64 * 2.0 + usage.output as f64 * 8.0) / 1e6;
        assert!((fake.billed_usd() - once).abs() < 1e-12, "{provider}");
        let faults = [
            Fault::CutBody,
            Fault::NoUsage,
            Fault::NegativeUsage,
            Fault::AbsurdUsage,
            Fault::RateLimited1s,
            Fault::Server500,
            Fault::Reset,
            Fault::WrongType,
        ];
        for fault in faults {
            fake.fail_next(&[fault]);
            drop(call(judge.as_ref()).await);
        }
        assert!((fake.billed_usd() - 5.0 * once).abs() < 1e-12, "{provider}");
        assert_eq!(fake.total_requests(), 1 + faults.len());
    }
}

#[tokio::test]
async fn the_key_comes_back_where_there_is_text() {
    let fake = FakeProvider::start();
    for provider in ["openai", "anthropic", "gemini"] {
        fake.fail_next(&[Fault::KeyEcho]);
        let answer = reqwest::Client::new()
            .post(match provider {
                "openai" => format!("{}/chat/completions", fake.v1()),
                "anthropic" => format!("{}/v1/messages", fake.root()),
                _ => format!("{}/v1beta/models/m:generateContent", fake.root()),
            })
            .header("authorization", format!("Bearer {KEY}"))
            .header("x-api-key", KEY)
            .header("x-goog-api-key", KEY)
            .body(r#"{"model":"m","messages":[{"content":"two documents"}]}"#)
            .send()
            .await
            .unwrap();
        assert_eq!(answer.headers()["x-request-id"], KEY);
        assert!(answer.text().await.unwrap().matches(KEY).count() >= 3);
    }
}

#[tokio::test]
async fn a_server_that_went_down_comes_back_at_its_address() {
    let fake = FakeProvider::start();
    let judge = judge(&fake, "openai", "");
    assert!(call(judge.as_ref()).await.is_ok());
    fake.go_down();
    let error = call(judge.as_ref()).await.unwrap_err();
    assert_eq!(error.cause, FailureCause::Connection);
    fake.come_back();
    assert!(call(judge.as_ref()).await.is_ok());
    fake.go_silent();
    let hasty = super::judge(&fake, "openai", HASTY);
    let error = call(hasty.as_ref()).await.unwrap_err();
    assert_eq!(error.cause, FailureCause::TimedOut);
    assert_eq!(fake.total_requests(), 2);
}

#[test]
fn latencies_are_the_same_for_the_same_seed_and_have_their_mean() {
    let latency = |seed| Latency::LogNormal {
        median: Duration::from_millis(1500),
        sigma: 0.5,
        seed,
    };
    assert_eq!(latency(1).of("m", "c", 1), latency(1).of("m", "c", 1));
    assert_ne!(latency(1).of("m", "c", 1), latency(2).of("m", "c", 1));
    let drawn: Duration = (0..4000).map(|at| latency(1).of("m", "c", at)).sum();
    let (found, mean) = (
        drawn.as_secs_f64() / 4000.0,
        latency(1).mean().as_secs_f64(),
    );
    assert!((found / mean - 1.0).abs() < 0.03, "{found} for {mean}");
}
