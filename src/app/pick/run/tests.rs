use super::*;
use crate::formats::dataset;
use crate::judge::{RateLimits, Usage};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const POOLS: usize = 12;
const PRICE_USD: f64 = 0.001;

/// Picks nothing, at a price, once the receiver holds `true`.
#[derive(Debug)]
struct Waiting {
    spec: JudgeSpec,
    gate: watch::Receiver<bool>,
    calls: Arc<AtomicUsize>,
}

impl Judge for Waiting {
    fn spec(&self) -> &JudgeSpec {
        &self.spec
    }

    fn can_answer(&self, question: JudgeQuestion<'_>) -> bool {
        matches!(question, JudgeQuestion::Pool(_))
    }

    fn prompt(&self, question: JudgeQuestion<'_>) -> JudgePrompt {
        let JudgeQuestion::Pool(lineup) = question else {
            panic!("picks only");
        };
        JudgePrompt {
            user: lineup.pool.query.to_string(),
            ..JudgePrompt::default()
        }
    }

    fn call<'a>(
        &'a self,
        _: JudgeQuestion<'a>,
        _: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let mut gate = self.gate.clone();
        async move {
            gate.wait_for(|open| *open).await.unwrap();
            Ok(JudgeReply {
                text: r#"{"slots":[]}"#.to_owned(),
                outside: None,
                model: None,
                stop_reason: None,
                request_id: None,
                usage: Usage::default(),
                cost_usd: Some(PRICE_USD),
                latency: Duration::from_millis(1),
                fingerprint: None,
                odds: None,
                limits: RateLimits::default(),
            })
        }
        .boxed()
    }

    fn estimate(&self, _: &JudgePrompt) -> (Usage, Option<f64>) {
        (Usage::default(), Some(PRICE_USD))
    }
}

fn pools() -> Vec<Pool> {
    let lines: String = (0..POOLS)
        .map(|at| {
            format!(
                "{{\"query\":{{\"id\":\"q{at}\",\"query\":\"trams \
                 {at}\"}},\"documents\":[{{\"id\":\"a\",\"content\":\"a \
                 tram\"}},{{\"id\":\"b\",\"content\":\"a bus\"}}]}}\n"
            )
        })
        .collect();
    dataset::read_pools(lines.as_bytes(), "in.jsonl")
        .map(Result::unwrap)
        .collect()
}

fn tasks(judge: &dyn Judge) -> Vec<PickTask> {
    let ask = PickRequest::AnyNumber;
    let order: Arc<[usize]> = Arc::from([0, 1]);
    pools()
        .into_iter()
        .map(|pool| {
            let pool = Arc::new(pool);
            let shown = ShownPool::new(&pool, &order, ask);
            PickTask {
                seat: 0,
                query: pool.query.id.clone(),
                permutation: 1,
                order: Arc::clone(&order),
                call: call_id(
                    judge.spec(),
                    &judge.prompt(JudgeQuestion::Pool(&shown.lineup)),
                ),
                pool: PoolAt::Loaded(pool),
                ask,
                asked: 0,
            }
        })
        .collect()
}

// Uses one thread, so that the new limit applies before the judge is allowed to answer.
#[tokio::test]
async fn a_budget_that_is_lowered_ends_picks_that_are_going_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("picks.db")).unwrap();
    let adding = store.write(|db| {
        pools()
            .iter()
            .try_for_each(|pool| db.add_pool(pool, "in").map(drop))
    });
    adding.await.unwrap();
    let (open, gate) = watch::channel(false);
    let calls = Arc::<AtomicUsize>::default();
    let judge: Arc<dyn Judge> = Arc::new(Waiting {
        spec: JudgeSpec {
            name: "gpt".to_owned(),
            provider: "waiting".to_owned(),
            model: "none".to_owned(),
            prompt_hash: String::new(),
            params: "{}".to_owned(),
        },
        gate,
        calls: Arc::clone(&calls),
    });
    let (steer, control) = watch::channel(RunControl {
        concurrency: 1,
        budget_usd: Some(1.0),
        ..RunControl::default()
    });
    let session = PickSession {
        store: store.clone(),
        ensemble: vec![Arc::clone(&judge)],
        control,
    };
    let (heard, mut events) = mpsc::unbounded_channel();
    let asked = tokio::spawn(run(session, tasks(judge.as_ref()), heard));
    // One call is in flight, and money is reserved for the next one.
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < deadline, "nobody was asked");
        let spent = store.read(|db| db.spent()).await.unwrap();
        let begun = spent.first().map_or(0, |spent| spent.open_calls);
        if begun == 2 && calls.load(Ordering::SeqCst) == 1 {
            break;
        }
    }
    steer.send_modify(|control| control.budget_usd = Some(PRICE_USD));
    tokio::task::yield_now().await;
    open.send_replace(true);
    let (mut recorded, mut reached) = (0, false);
    while let Some(event) = events.recv().await {
        match event {
            PickEvent::Recorded { .. } => recorded += 1,
            PickEvent::BudgetReached => reached = true,
            other => panic!("{other:?}"),
        }
    }
    asked.await.unwrap().unwrap();
    assert_eq!((recorded, reached), (2, true));
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}
