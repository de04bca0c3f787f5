//! Whatever a server loses, repeats, delays or claims about batches, every paid answer is stored in
//! the project once, and no call is made twice.

use super::bench::{Bench, bench};
use crate::app::annotate::batch;
use crate::app::annotate::batch::prepared::PreparedBatches;
use crate::app::annotate::{RunHandle, RunRequest};
use crate::app::question_set::{BatchStep, PreparedQuestions, QuestionSession};
use crate::client::RunControl;
use crate::judge::JudgeEnsemble;
use crate::judge::ensemble::{Dotenv, JudgeSources, JudgesFile, ensemble_from};
use crate::judge::provider::http::Timeouts;
use crate::judge::provider::registry::PROVIDERS;
use crate::store::runs::RunId;
use crate::suites::fake_provider::{BatchFaults, FakeProvider};
use proptest::prelude::*;
use std::path::Path;
use tokio::sync::watch;

const KEY: &str = "sk-first-0123456789abcdef";
const OTHER_KEY: &str = "sk-other-0123456789abcdef";

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    /// The server misbehaves in these ways from now on.
    Faults(BatchFaults),
    /// `annotate --batch`: fetches finished batches and submits outstanding calls.
    Annotate,
    /// `batch status`.
    Status,
    /// `batch fetch`.
    Fetch,
    /// `batch fetch` that is killed after some steps of its work.
    KilledFetch(usize),
    /// `annotate --batch` with the key of another account.
    WithAnotherKey,
    /// More than two minutes pass, after which the server lists its batches.
    Later,
    /// The batches at the server are over.
    Finish,
}

fn faults() -> impl Strategy<Value = BatchFaults> {
    let flag = || prop::bool::weighted(0.2);
    let creation = (flag(), flag(), flag(), 0..3usize, 0..2usize, 0..2usize);
    let list = (prop::option::weighted(0.3, 1..3usize), flag(), flag());
    let state = (flag(), flag(), flag(), flag());
    let files = (
        prop_oneof![3 => Just(0), 1 => 1..4usize],
        flag(),
        flag(),
        flag(),
        flag(),
    );
    (creation, list, state, files).prop_map(|(creation, list, state, files)| {
        let (lose_creation, drop_creation, list_late, failing, unusable, late) = creation;
        let (page, endless_list, no_names) = list;
        let (no_counts, no_files, empty_ids, claims_failure) = state;
        let (lose_lines, repeat, stranger, garbage, no_usage) = files;
        BatchFaults {
            lose_creation,
            drop_creation,
            list_late,
            failing,
            unusable,
            late,
            no_usage,
            page,
            endless_list,
            no_names,
            no_counts,
            // If a server says that a batch failed and names no result files, there are none.
            no_files: no_files && !claims_failure,
            empty_ids,
            claims_failure,
            lose_lines,
            repeat,
            stranger,
            garbage,
            only_key: Some(KEY),
        }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => faults().prop_map(Step::Faults),
        4 => Just(Step::Annotate),
        2 => Just(Step::Status),
        3 => Just(Step::Fetch),
        1 => (1..60usize).prop_map(Step::KilledFetch),
        1 => Just(Step::WithAnotherKey),
        2 => Just(Step::Later),
        3 => Just(Step::Finish),
    ];
    prop::collection::vec(step, 1..14)
}

/// The judge on the server, whose batches have three calls each.
fn judges(fake: &FakeProvider, provider: &str, key: &str) -> JudgeEnsemble {
    let (model, url) = match provider {
        "openai" => ("gpt-6.1-terra", fake.v1()),
        "anthropic" => ("claude-sonnet-5-5", fake.root()),
        _ => ("gemini-3.8-flash", fake.root()),
    };
    let text = format!(
        "[[judge]]\nname = \"j\"\nprovider = {provider:?}\nmodel = {model:?}\nbase_url = {url:?}\nbatch_requests = 3\n"
    );
    let sources = JudgeSources {
        providers: &PROVIDERS,
        env: &|name| name.ends_with("_KEY").then(|| key.to_owned()),
        key_commands: &crate::judge::provider::KeyCommands::default(),
        dotenv: &Dotenv::parse(""),
        folder: Path::new("."),
        today: jiff::civil::date(2026, 11, 21),
        insecure_http: false,
        timeouts: Timeouts::default(),
        trusted_hosts: &[],
        allows: &|_, _| false,
        project_texts: &|| Ok(Default::default()),
    };
    let file = JudgesFile::parse(&text).unwrap();
    ensemble_from(&file, &sources).unwrap().0
}

struct World {
    fake: FakeProvider,
    bench: Bench,
    judges: JudgeEnsemble,
    others: JudgeEnsemble,
    run: RunId,
}

impl World {
    /// A project in which one call was made, as before every submission.
    async fn new(provider: &str) -> Self {
        let fake = FakeProvider::start();
        let bench = bench(&[4]);
        let judges = judges(&fake, provider, KEY);
        let request = RunRequest {
            at_most: Some(1),
            ..RunRequest::default()
        };
        let control = RunControl::default();
        let tried = RunHandle::start(bench.store.clone(), judges.clone(), request, control);
        let run = tried.end.await.unwrap().unwrap().run;
        let others = self::judges(&fake, provider, OTHER_KEY);
        fake.set_batch_faults(BatchFaults {
            only_key: Some(KEY),
            ..BatchFaults::default()
        });
        Self {
            fake,
            bench,
            judges,
            others,
            run,
        }
    }

    async fn fetch(&self, judges: &JudgeEnsemble) {
        let store = &self.bench.store;
        for known in batch::refresh(store, judges, true).await.unwrap() {
            batch::collect(store, judges, &known).await.unwrap();
        }
    }

    async fn annotate(&self, judges: &JudgeEnsemble) {
        self.fetch(judges).await;
        let request = RunRequest::default();
        let (store, run) = (&self.bench.store, self.run);
        batch::submit(store, judges, &[0], &request, run, None, &mut |_| {})
            .await
            .unwrap();
    }

    async fn step(&self, step: &Step) {
        match step {
            Step::Faults(faults) => self.fake.set_batch_faults(faults.clone()),
            Step::Annotate => self.annotate(&self.judges).await,
            Step::Status => {
                let store = &self.bench.store;
                batch::refresh(store, &self.judges, true).await.unwrap();
            }
            Step::Fetch => self.fetch(&self.judges).await,
            Step::KilledFetch(polls) => {
                let mut fetch = Box::pin(self.fetch(&self.judges));
                for _ in 0..*polls {
                    if futures::poll!(&mut fetch).is_ready() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            Step::WithAnotherKey => self.annotate(&self.others).await,
            Step::Later => {
                self.fake.list_batches();
                self.change("UPDATE batch SET submitted_ms = submitted_ms - 130000");
            }
            Step::Finish => self.fake.finish_batches(),
        }
    }

    fn open(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.bench.store.path()).unwrap()
    }

    fn change(&self, sql: &str) {
        self.open().execute_batch(sql).unwrap();
    }

    fn count(&self, sql: &str) -> usize {
        self.open().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Number of answers from batches in the project: votes except the first one, and failures with
    /// a text.
    fn here(&self) -> usize {
        let votes = self.count("SELECT count(*) FROM vote");
        let texts = self.count("SELECT count(*) FROM failure WHERE raw LIKE '%I cannot decide%'");
        votes + texts - 1
    }

    fn waiting(&self) -> usize {
        self.count(
            "SELECT count(*) FROM batch_call JOIN batch ON batch.id = batch
             WHERE done IN (0, 3) AND closed_ms IS NULL",
        )
    }

    async fn check(&self, after: &Step) {
        // Wait for the writes of a killed fetch, so that all counts are from the same moment.
        self.bench.store.write(|_| Ok(())).await.unwrap();
        let (paid, here, waiting) = (self.fake.batch_answers(), self.here(), self.waiting());
        assert!(here <= paid, "{here} answers of {paid} after {after:?}");
        assert!(
            here + waiting >= paid,
            "{here} answers and {waiting} calls of open batches for {paid} after {after:?}"
        );
    }

    /// The server works again: after enough requests, all its answers are in the project.
    async fn recover(&self) {
        self.fake.set_batch_faults(BatchFaults {
            only_key: Some(KEY),
            ..BatchFaults::default()
        });
        for _ in 0..2 {
            self.step(&Step::Later).await;
            self.annotate(&self.judges).await;
            self.fake.finish_batches();
        }
        self.fetch(&self.judges).await;
        let twice: Vec<_> = self
            .fake
            .calls()
            .into_iter()
            .filter(|(_, times)| *times > 1)
            .collect();
        assert_eq!(twice, [], "calls were made twice");
        assert_eq!(self.here(), self.fake.batch_answers());
        assert_eq!(self.waiting(), 0, "batches are open");
    }
}

#[test]
fn the_workbench_submits_what_it_priced_and_fetches_it_later() {
    let (fake, bench) = (FakeProvider::start(), bench(&[4]));
    let judges = judges(&fake, "openai", KEY);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_steer, control) = watch::channel(RunControl::default());
    let carry_out = |step| {
        let request = RunRequest::default();
        let prepared = PreparedBatches::of_project(&bench.store, &judges, &request, step).unwrap();
        let price = prepared.price();
        let session = QuestionSession::locking(&bench.store, control.clone(), Box::new(|_| {}));
        let outcome = runtime.block_on(Box::new(prepared).run(session)).unwrap();
        assert_eq!(outcome.troubles, Vec::<String>::new());
        (price, outcome)
    };
    let (price, submitted) = carry_out(BatchStep::Submit);
    assert!(price.calls > 3 && price.paid && price.pending.is_none());
    assert_eq!(submitted.progress.done, price.calls);
    let batches = (price.calls - 1).div_ceil(3);
    let open = format!("{batches} open batches with {} calls", price.calls - 1);
    let (again, nothing) = carry_out(BatchStep::Submit);
    assert_eq!((again.calls, again.pending), (0, Some(open.clone())));
    assert_eq!(nothing.progress.done, 0);

    fake.finish_batches();
    let (to_fetch, fetched) = carry_out(BatchStep::Fetch);
    assert_eq!((to_fetch.calls, to_fetch.pending), (0, Some(open)));
    assert_eq!(fetched.notes.len(), batches, "{:?}", fetched.notes);
    let (rest, _) = carry_out(BatchStep::Submit);
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(fake.batch_answers(), price.calls - 1);
    assert!(fake.calls().values().all(|times| *times == 1));
}

#[test]
fn the_workbench_submits_no_batch_that_would_have_to_wait_for_another() {
    let (fake, bench) = (FakeProvider::start(), bench(&[4]));
    let judges = judges(&fake, "openai", KEY);
    let refused = |judges: &JudgeEnsemble, request: &RunRequest| {
        let submit = BatchStep::Submit;
        let prepared = PreparedBatches::of_project(&bench.store, judges, request, submit);
        prepared.unwrap_err().to_string()
    };
    let rounds = RunRequest {
        campaign: Some("top:2".parse().unwrap()),
        ..RunRequest::default()
    };
    assert!(refused(&judges, &rounds).contains("in rounds"));
    let offline = crate::judge::offline::ensemble();
    let why = refused(&offline, &RunRequest::default());
    assert!(why.contains("has no batch endpoint"), "{why}");
    assert!(fake.calls().is_empty());
}

async fn play(provider: &str, steps: &[Step]) {
    let world = World::new(provider).await;
    for step in steps {
        world.step(step).await;
        world.check(step).await;
    }
    world.recover().await;
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_paid_answer_of_a_batch_is_kept_once_and_no_call_is_made_twice(
        provider in prop::sample::select(vec!["openai", "anthropic", "gemini"]),
        steps in steps(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(play(provider, &steps));
    }
}
