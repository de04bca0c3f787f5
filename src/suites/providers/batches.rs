//! Batches, from lines to opinions.

use super::{KEY, call, case, expected, judge};
use crate::judge::batch::{BatchState, UnconfirmedBatch};
use crate::suites::fake_provider::FakeProvider;
use std::collections::BTreeMap;

#[tokio::test]
async fn a_batch_comes_back_as_opinions_at_half_the_price() {
    let fake = FakeProvider::start();
    for (provider, model) in [
        ("openai", "gpt-6.1-terra"),
        ("anthropic", "claude-sonnet-5-5"),
        ("gemini", "gemini-3.8-flash"),
    ] {
        let judge = judge(&fake, provider, "");
        let alone = call(judge.as_ref()).await.unwrap();
        let batch = judge.batch().unwrap();
        let prompt = judge.prompt(&case());
        let lines: Vec<String> = (0..3)
            .map(|n| batch.batch_line(&format!("i-{n}"), &prompt).to_string())
            .collect();
        let id = batch.submit("run-1", &lines).await;
        let id = id.unwrap_or_else(|error| panic!("{provider}: {error}"));
        let running = batch.status(&id).await.unwrap();
        assert_eq!(
            (running.state, running.total),
            (BatchState::Running, 3),
            "{provider}"
        );
        assert!(!running.state.is_over());
        fake.finish_batches();
        let ended = batch.status(&id).await.unwrap();
        assert_eq!(ended.state, BatchState::Ended, "{provider}");
        let mut results = BTreeMap::new();
        batch
            .fetch(&id, &ended, &mut |line| {
                let (id, result) = batch.parse_batch_line(line).unwrap();
                results.insert(id, result.made().unwrap().unwrap());
            })
            .await
            .unwrap();
        assert_eq!(
            results.keys().collect::<Vec<_>>(),
            ["i-0", "i-1", "i-2"],
            "{provider}"
        );
        for reply in results.values() {
            let margin = judge.parse(&case(), reply).unwrap().margin.get();
            assert!((margin - expected(model)).abs() < 1e-9);
            let (batched, usual) = (reply.cost_usd.unwrap(), alone.cost_usd.unwrap());
            assert!(
                (batched - usual / 2.0).abs() < usual * 0.01,
                "{provider}: {batched} {usual}"
            );
        }
    }
    assert!(
        fake.requests()
            .iter()
            .all(|request| !request.target.contains(KEY))
    );
}

#[tokio::test]
async fn a_batch_can_be_cancelled_and_found_again() {
    let fake = FakeProvider::start();
    for provider in ["openai", "anthropic", "gemini"] {
        let judge = judge(&fake, provider, "");
        let batch = judge.batch().unwrap();
        let lines = [batch.batch_line("i-1", &judge.prompt(&case())).to_string()];
        let id = batch.submit("run-2", &lines).await.unwrap();
        let sought = |name, lines| UnconfirmedBatch {
            name,
            lines,
            since_ms: 1_767_225_600_000,
        };
        let found = batch.find(sought("run-2", 1)).await.unwrap();
        assert_eq!(found, (vec![id.clone()], true), "{provider}");
        let none = batch.find(sought("another", 2)).await.unwrap();
        assert!(none.0.is_empty(), "{provider}: {none:?}");
        batch.cancel(&id).await.unwrap();
        assert_eq!(
            batch.status(&id).await.unwrap().state,
            BatchState::Cancelled,
            "{provider}"
        );
        let nowhere = batch.status("batches/none").await.unwrap_err();
        assert!(nowhere.message.contains("no such thing"), "{nowhere}");
        assert!(batch.status("../../etc").await.is_err());
    }
    let ollama = judge(&fake, "ollama", "");
    assert!(ollama.batch().is_none());
}
