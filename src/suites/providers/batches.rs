//! Batches, from submitted lines to parsed opinions.

use super::{KEY, call, case, expected, judge};
use crate::judge::JudgeQuestion;
use crate::judge::batch::{BatchState, UnconfirmedBatch};
use crate::suites::fake_provider::{BatchFaults, FakeProvider};
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
        let prompt = judge.prompt(JudgeQuestion::Pair(&case()));
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
        let lines = [batch
            .batch_line("i-1", &judge.prompt(JudgeQuestion::Pair(&case())))
            .to_string()];
        let id = batch.submit("run-2", &lines).await.unwrap();
        let sought = |name, id_prefix, calls| UnconfirmedBatch {
            name,
            id_prefix,
            calls,
            others: &[],
        };
        // Anthropic keeps no names: a batch may be anybody's until its results show the ids of its
        // calls.
        let has_names = provider != "anthropic";
        let found = batch.find(sought("run-2", "i-", 1)).await.unwrap();
        let ids = |found: bool| Vec::from_iter(found.then(|| id.clone()));
        assert_eq!(
            (found.marked, found.possible, found.is_whole),
            (ids(has_names), ids(!has_names), true),
            "{provider}"
        );
        for other in [sought("another", "i-", 2), sought("another", "j-", 2)] {
            let none = batch.find(other).await.unwrap();
            assert_eq!((none.marked, none.possible), (vec![], vec![]), "{provider}");
        }
        batch.cancel(&id).await.unwrap();
        assert_eq!(
            batch.status(&id).await.unwrap().state,
            BatchState::Cancelled,
            "{provider}"
        );
        let nowhere = batch.status("batches/none").await.unwrap_err();
        assert!(nowhere.message.contains("no such thing"), "{nowhere}");
        assert!(batch.status("../../etc").await.is_err());
        fake.finish_batches();
    }
    let ollama = judge(&fake, "ollama", "");
    assert!(ollama.batch().is_none());
}

#[tokio::test]
async fn a_batch_is_sought_on_all_pages_and_told_by_its_mark() {
    for provider in ["openai", "anthropic", "gemini"] {
        let fake = FakeProvider::start();
        let judge = judge(&fake, provider, "");
        let batch = judge.batch().unwrap();
        let prompt = judge.prompt(JudgeQuestion::Pair(&case()));
        let line = |id: &str| [batch.batch_line(id, &prompt).to_string()];
        let mut ids = Vec::new();
        for at in 0..5 {
            let name = format!("run-{at}");
            let id = batch.submit(&name, &line(&format!("r{at}-0"))).await;
            ids.push(id.unwrap());
        }
        fake.finish_batches();
        let sought = UnconfirmedBatch {
            name: "run-3",
            id_prefix: "r3-",
            calls: 1,
            others: &ids[..1],
        };
        // With or without names, on one page or on many.
        for (page, no_names) in [(None, false), (Some(1), false), (Some(2), true)] {
            fake.set_batch_faults(BatchFaults {
                page,
                no_names,
                stranger: no_names,
                ..BatchFaults::default()
            });
            let found = batch.find(sought).await.unwrap();
            assert_eq!(found.marked, [ids[3].clone()], "{provider} {page:?}");
            assert!(
                found.possible.is_empty() && found.is_whole,
                "{provider} {found:?}"
            );
        }
        // Nothing tells which of the others it is while there are no results.
        fake.set_batch_faults(BatchFaults {
            no_names: true,
            lose_lines: 9,
            ..BatchFaults::default()
        });
        let found = batch.find(sought).await.unwrap();
        assert_eq!(
            (found.marked.len(), found.possible.len()),
            (0, 4),
            "{provider}"
        );
        fake.set_batch_faults(BatchFaults {
            endless_list: true,
            ..BatchFaults::default()
        });
        let found = batch.find(sought).await.unwrap();
        assert!(
            found.marked.is_empty() && !found.is_whole,
            "{provider} {found:?}"
        );
    }
}
