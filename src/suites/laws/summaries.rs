//! Summaries and scores that are computed in bulk equal freshly computed ones, bit for bit.

use super::bench::{Bench, bench};
use super::scripted::{Act, trio};
use crate::app::annotate::progress::RunPhase;
use crate::app::export::write_annotated;
use crate::app::review::review_queue::{QueueItem, QueueRequest, build_review_queue};
use crate::client::RunControl;
use crate::domain::battle::Pair;
use crate::domain::priority::{Policy, QueueCandidate, Scoring, score_pairs, value_parts};
use crate::domain::ranking::{LearnedPrior, PriorPrecision, RankingSettings};
use crate::domain::rating::RatingModel;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::store::corpus::QueryKey;
use crate::store::judge_tallies::TallyNow;
use crate::store::outstanding::CallSelection;
use crate::store::priority_cache::{PolicyPriorities, QueryPriorities, UrgentPairs};
use crate::store::summary_cache::QuerySummary;
use crate::store::{Db, Store, StoreError};
use std::collections::HashSet;

async fn judged(sizes: &[usize]) -> Bench {
    let bench = bench(sizes);
    let judges = trio(|_, count| match count % 7 {
        3 => Act::Panic,
        _ => Act::Answer,
    });
    bench.finish(judges, CallSelection::Fresh).await;
    bench
}

/// Makes every summary stale.
async fn turn(bench: &Bench, phi: f64) {
    let settings = RankingSettings {
        phi: Some(phi),
        ..RankingSettings::default()
    };
    let turned = bench.store.write(move |db| db.set_settings(&settings));
    turned.await.unwrap();
}

async fn kept(bench: &Bench) -> Vec<Option<QuerySummary>> {
    let rows = bench.store.read(|db| db.overview()).await.unwrap();
    rows.into_iter().map(|(_, summary)| summary).collect()
}

/// The cached priorities that are up to date, by query and policy.
fn kept_priorities(db: &mut Db) -> Result<Vec<Vec<Option<PolicyPriorities>>>, StoreError> {
    let of_query = |(query, _)| {
        let kept = Policy::ALL.iter();
        let kept = kept.map(|policy| db.kept_priorities(query, *policy));
        kept.collect()
    };
    db.query_names()?.into_iter().map(of_query).collect()
}

/// The most urgent pairs of a query.
fn urgent_pairs(db: &Db, query: QueryKey, policy: Policy) -> Result<UrgentPairs, StoreError> {
    let mut found = None;
    db.each_urgent(Some(query), policy, |urgent| found = Some(urgent))?;
    Ok(found.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn summaries_of_many_queries_are_those_of_one_at_a_time() {
    let bench = judged(&[4, 9, 1, 6, 12, 5, 8, 3, 7, 10]).await;
    turn(&bench, 0.7).await;
    assert!(kept(&bench).await.iter().all(Option::is_none));
    let fresh = bench.store.read({
        let keys = bench.keys.clone();
        move |db| {
            let numbers = keys.iter().map(|key| Ok(db.summary_now(*key)?.1));
            numbers.collect::<Result<Vec<_>, StoreError>>()
        }
    });
    let fresh = fresh.await.unwrap();
    let (store, keys) = (bench.store.clone(), bench.keys.clone());
    let told = tokio::task::spawn_blocking(move || {
        let mut told = Vec::new();
        let each = |key, summary| {
            told.push((key, summary));
            true
        };
        store.summarize_all(&keys, each).map(|()| told)
    });
    let told = told.await.unwrap().unwrap();
    let one_by_one: Vec<_> = fresh
        .iter()
        .map(|numbers| numbers.summary.clone())
        .collect();
    assert_eq!(
        told.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        bench.keys
    );
    let summaries: Vec<_> = told.into_iter().map(|(_, summary)| summary).collect();
    assert_eq!(summaries, one_by_one);
    // The cache stores text.
    let as_text = |summary| serde_json::from_str(&serde_json::to_string(summary).unwrap()).unwrap();
    let one_by_one: Vec<QuerySummary> = one_by_one.iter().map(as_text).collect();
    let on_disk: Vec<_> = kept(&bench).await.into_iter().flatten().collect();
    assert_eq!(on_disk, one_by_one);
    let kept = bench.store.read(kept_priorities).await.unwrap();
    assert_eq!(kept.len(), fresh.len());
    for (kept, numbers) in kept.into_iter().zip(&fresh) {
        let priorities = numbers.priorities.as_ref().unwrap();
        for (kept, policy) in kept.into_iter().zip(Policy::ALL) {
            assert_eq!(kept.unwrap(), priorities.under(policy));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn priorities_that_another_version_kept_are_made_anew_and_kept() {
    let bench = judged(&[4, 9, 6]).await;
    let store = bench.store.clone();
    tokio::task::spawn_blocking(move || {
        let kept = |store: &Store| store.read_blocking(kept_priorities).unwrap();
        let refreshed = |store: &Store| {
            let mut told = Vec::new();
            store
                .refresh_priorities(&mut |left| told.push(left))
                .unwrap();
            told
        };
        refreshed(&store);
        let before = kept(&store);
        let file = rusqlite::Connection::open(store.path()).unwrap();
        let other = "UPDATE urgency SET form = 0";
        assert_eq!(file.execute(other, []).unwrap(), 3);
        assert!(kept(&store).iter().flatten().all(Option::is_none));
        assert_eq!(refreshed(&store), [2, 1, 0]);
        assert_eq!(kept(&store), before);
        assert_eq!(refreshed(&store), [0; 0]);
    })
    .await
    .unwrap();
}

/// The queue of each policy, of all queries and of one; short, and longer than the most urgent
/// pairs.
fn queues(store: &Store, only: QueryKey) -> Vec<Vec<QueueItem>> {
    let requests = Policy::ALL.into_iter().flat_map(|policy| {
        let wanted = [None, Some(HashSet::from([only]))].into_iter();
        let wanted = wanted.flat_map(|only| [(only.clone(), 7), (only, 80)]);
        wanted.map(move |(only, limit)| QueueRequest {
            policy,
            scope: None,
            only,
            annotator: "ann".to_owned(),
            seed: 3,
            limit,
            gold: 0.0,
            overlap: 0.0,
            conflicts: false,
            against: None,
        })
    });
    let queues = requests.map(|request| {
        let items = store.read_blocking(move |db| build_review_queue(db, &request));
        items.unwrap()
    });
    queues.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_are_the_same_from_a_cache_that_is_whole_damaged_partly_stale_or_empty() {
    let bench = judged(&[4, 9, 12]).await;
    let (store, only) = (bench.store.clone(), bench.keys[2]);
    tokio::task::spawn_blocking(move || {
        store.refresh_priorities(&mut |_| {}).unwrap();
        let expected = queues(&store, only);
        for length in [7, 80] {
            assert!(expected.iter().any(|items| items.len() == length));
        }
        let file = rusqlite::Connection::open(store.path()).unwrap();
        let damages = [
            "UPDATE urgency_part SET value = substr(value, 2) WHERE part > 0",
            "UPDATE urgency_part SET value = x'00' WHERE part = 0",
            "DELETE FROM urgency_part WHERE part > 0",
            "DELETE FROM urgency_part WHERE part = 0",
            "UPDATE urgency SET top = -1",
            "UPDATE urgency SET highest = substr(highest, 2)",
            "UPDATE urgent SET value = substr(value, 2)",
            "UPDATE urgent SET value = substr(value, 1, length(value) - 1)",
            "UPDATE urgent SET value = x''",
            "DELETE FROM urgent",
            "UPDATE urgency SET form = 0 WHERE query = (SELECT min(query) FROM urgency)",
            "DELETE FROM urgency",
        ];
        for damage in damages {
            file.execute_batch(damage).unwrap();
            assert_eq!(queues(&store, only), expected, "{damage}");
            file.execute_batch("DELETE FROM urgency; DELETE FROM urgency_part; DELETE FROM urgent")
                .unwrap();
            store.refresh_priorities(&mut |_| {}).unwrap();
        }
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_priorities_and_bounds_are_those_of_the_view() {
    let bench = judged(&[12]).await;
    let (key, view) = (bench.keys[0], bench.view().await);
    let numbers = QueryPriorities::of(&view);
    let keep = move |db: &mut Db| {
        let (revision, _) = db.priorities_now(key)?;
        db.keep_priorities(key, revision, &numbers)
    };
    let unknown = bench
        .store
        .read(move |db| urgent_pairs(db, key, Policy::Value));
    assert_eq!(unknown.await.unwrap().bound, f64::INFINITY);
    bench.store.write(keep).await.unwrap();
    for policy in Policy::ALL {
        let read = bench.store.read(move |db| {
            let urgent = urgent_pairs(db, key, policy)?;
            Ok((db.policy_priorities(key, policy)?, urgent))
        });
        let (kept, urgent) = read.await.unwrap();
        let scoring = Scoring { policy, exact: 0 };
        let expected = score_pairs(&view, &scoring);
        let expected = || {
            expected
                .iter()
                .map(|one| (one.pair, one.priority, one.voted))
        };
        let candidates: Vec<QueueCandidate> = kept.candidates(7).collect();
        let found = candidates
            .iter()
            .map(|one| (one.key.pair, one.priority, one.voted));
        assert!(found.eq(expected()), "{policy}");
        let ranked =
            expected().filter_map(|(pair, priority, voted)| Some((pair, priority?, voted)));
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by(|x, y| y.1.total_cmp(&x.1));
        let pairs = urgent.pairs.iter();
        let pairs: Vec<_> = pairs
            .map(|one| (one.pair, one.priority, one.voted))
            .collect();
        assert!(pairs.len() >= ranked.len().min(16), "{policy}");
        assert_eq!(pairs, ranked[..pairs.len()], "{policy}");
        let next = ranked.get(pairs.len()).map(|(_, priority, _)| *priority);
        assert_eq!(urgent.bound, next.unwrap_or(f64::NEG_INFINITY), "{policy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_value_is_made_of_is_kept_with_it() {
    let bench = judged(&[12]).await;
    let key = bench.keys[0];
    let parts = async |pairs: Vec<Pair>| {
        let read = bench.store.read(move |db| {
            let parts = pairs.iter().map(|pair| db.value_parts(key, *pair));
            parts.collect::<Result<Vec<_>, StoreError>>()
        });
        read.await.unwrap()
    };
    let refresh = async || {
        let store = bench.store.clone();
        let refreshed = tokio::task::spawn_blocking(move || store.refresh_priorities(&mut |_| {}));
        refreshed.await.unwrap().unwrap();
    };
    refresh().await;
    let view = bench.view().await;
    let pairs: Vec<Pair> = view.pairs().collect();
    let kept = parts(pairs.clone()).await;
    assert!(kept.len() > 10, "{kept:?}");
    for (pair, kept) in pairs.iter().zip(&kept) {
        assert_eq!(*kept, value_parts(&view, *pair));
    }
    // The queue keeps showing them until it is recomputed.
    turn(&bench, 0.3).await;
    assert_eq!(parts(pairs.clone()).await, kept);
    refresh().await;
    assert_ne!(parts(pairs).await, kept);
    let unknown = Pair::new(40, 41).unwrap();
    assert_eq!(parts(vec![unknown]).await, [None]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tallies_are_kept_until_a_query_changes() {
    let bench = judged(&[4, 9, 1, 6, 12, 5]).await;
    let tallies = async || {
        let (store, keys) = (bench.store.clone(), bench.keys.clone());
        let read = tokio::task::spawn_blocking(move || {
            let mut found = Vec::new();
            let all = store.tally_all(&keys, |_, now| {
                found.push(now);
                true
            });
            all.map(|()| found)
        });
        read.await.unwrap().unwrap()
    };
    let looked: Vec<TallyNow> = tallies().await;
    assert!(
        looked.iter().all(|now| now.cases.is_some()),
        "computed at the first look"
    );
    let kept = tallies().await;
    assert!(
        kept.iter().all(|now| now.cases.is_none()),
        "read from the cache"
    );
    for ((before, now), key) in looked.iter().zip(&kept).zip(&bench.keys) {
        assert_eq!(before.tally, now.tally);
        let key = *key;
        let cases = bench
            .store
            .read(move |db| db.kept_cases(key))
            .await
            .unwrap();
        assert_eq!(before.cases, Some(cases));
    }
    turn(&bench, 0.7).await;
    assert!(tallies().await.iter().all(|now| now.cases.is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_no_more_keeps_what_there_is() {
    let bench = judged(&[4, 5, 6, 7, 8, 9]).await;
    turn(&bench, 0.7).await;
    let (store, keys) = (bench.store.clone(), bench.keys.clone());
    let ended = tokio::task::spawn_blocking(move || {
        let mut left = 2;
        store.summarize_all(&keys, |_, _| {
            left -= 1;
            left > 0
        })
    });
    ended.await.unwrap().unwrap();
    let there: Vec<bool> = kept(&bench).await.iter().map(Option::is_some).collect();
    assert_eq!(there, [true, true, false, false, false, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_comes_in_order_and_ends_with_the_first_error() {
    let bench = bench(&[2; 40]);
    let (store, keys) = (bench.store.clone(), bench.keys.clone());
    let read = tokio::task::spawn_blocking(move || {
        let (mut seen, last) = (Vec::new(), keys[30]);
        let work = |_: &_, key| {
            if key == last {
                panic!("a request that fails")
            } else {
                Ok(key)
            }
        };
        let result: Result<(), StoreError> = store.read_each(&keys, work, |key, value| {
            seen.push((key, value));
            Ok(())
        });
        (keys, seen, result)
    });
    let (keys, seen, result) = read.await.unwrap();
    let expected: Vec<_> = keys[..30].iter().map(|key| (*key, *key)).collect();
    assert_eq!(seen, expected);
    assert!(
        result.is_err(),
        "a panic is an error, and no answer is missing"
    );
}

#[tokio::test]
async fn scores_alone_are_those_of_the_view_to_the_last_bit() {
    let bench = judged(&[9, 1, 2, 14]).await;
    for phi in [0.3, 1.0] {
        turn(&bench, phi).await;
        for key in bench.keys.clone() {
            let (scores, view) = bench
                .store
                .read(move |db| Ok((db.scores(key)?, db.view(key)?)))
                .await
                .unwrap();
            let bits = |scores: Vec<Option<f64>>| -> Vec<Option<u64>> {
                scores
                    .into_iter()
                    .map(|score| score.map(f64::to_bits))
                    .collect()
            };
            let of_view = bits(view.scores());
            assert_eq!(bits(scores.unwrap()), of_view);
            let read = move |db: &mut Db| Ok((db.kept_scores(key)?, db.scores(key)?));
            let (kept, _) = bench.store.read(read).await.unwrap();
            assert_eq!(kept, None, "nothing was kept since");
            let kept = bench.store.write(move |db| db.cache_summary(key)).await;
            kept.unwrap();
            let (kept, scores) = bench.store.read(read).await.unwrap();
            assert_eq!(bits(kept.unwrap()), of_view);
            assert_eq!(bits(scores.unwrap()), of_view);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_written_file_keeps_the_scores_and_the_next_one_needs_no_votes() {
    let bench = judged(&[9, 1, 12]).await;
    let (store, keys) = (bench.store.clone(), bench.keys.clone());
    let written = tokio::task::spawn_blocking(move || {
        let write = |limit| {
            let mut out = Vec::new();
            write_annotated(&store, &keys, limit, true, &mut out, |_| {}).unwrap();
            out
        };
        let kept = || {
            let keys = keys.clone();
            let read = move |db: &mut Db| {
                let kept = keys.iter().map(|key| Ok(db.kept_scores(*key)?.is_some()));
                kept.collect::<Result<Vec<_>, StoreError>>()
            };
            store.read_blocking(read).unwrap()
        };
        assert!(!kept().contains(&true));
        let first = write(Some(5));
        assert!(!kept().contains(&false));
        let votes = rusqlite::Connection::open(store.path()).unwrap();
        votes.execute_batch("DELETE FROM vote").unwrap();
        assert_eq!(write(Some(5)), first);
        let all = write(None);
        let touch = "UPDATE query SET revision = revision + 1";
        votes.execute(touch, []).unwrap();
        assert!(!kept().contains(&true));
        assert_ne!(write(None), all);
    });
    written.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_that_it_refits_and_how_far_it_is() {
    // 2,000 battles are enough to estimate the noise of the battles at the end.
    let bench = bench(&[10; 50]);
    let mut run = bench.start(
        trio(|_, _| Act::Answer),
        CallSelection::Fresh,
        RunControl::default(),
    );
    while run.progress.changed().await.is_ok() {
        let seen = run.progress.borrow_and_update();
        if seen.phase == RunPhase::Refitting {
            assert_eq!((seen.done(), seen.step_total), (seen.total, 50));
            assert_eq!(seen.step(), Some(("refitting", seen.step_done, 50)));
            assert!(seen.rate == 0.0, "no calls, no rate");
        }
    }
    let outcome = run.end.await.unwrap().unwrap();
    let steps = (outcome.progress.step_done, outcome.progress.step_total);
    assert_eq!(steps, (50, 50));
    // Intervals are computed when someone looks at them.
    assert!(kept(&bench).await.iter().all(Option::is_none));
    let view = bench.view().await;
    assert_eq!(view.settings.phi_battles, Some(2_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_learns_the_prior_and_only_map_takes_it() {
    let bench = judged(&[20; 26]).await;
    let (key, store) = (bench.keys[0], &bench.store);
    let learned = store.read(move |db| Ok(db.view(key)?.settings.learned));
    let learned = learned.await.unwrap().unwrap();
    let kept = store.read(|db| db.remembered("lambda:1")).await.unwrap();
    assert_eq!(
        kept,
        Some(format!("[{},{}]", learned.lambda, learned.battles))
    );
    assert!(
        learned.battles >= 2_000 && learned.lambda <= 0.3,
        "{learned:?}"
    );
    // Used by a view, and by scores computed alone.
    let (view, scores) = store
        .read(move |db| Ok((db.view(key)?, db.scores(key)?.unwrap())))
        .await
        .unwrap();
    assert_eq!(view.settings.rating().lambda, learned.lambda);
    let standing = view
        .standings
        .iter()
        .map(|standing| Some((*standing)?.zelo));
    assert!(standing.eq(scores));
    // A repeated estimate from the same battles is equal.
    let ensemble = store.read(|db| db.ensembles_in_force()).await.unwrap()[0];
    let again = store
        .read(move |db| db.learn_prior(ensemble))
        .await
        .unwrap();
    assert_eq!(again, Some(learned));
    // A campaign keeps its initial prior, whatever is learned in the meantime.
    let (learns, other) = (
        learned.lambda,
        LearnedPrior {
            lambda: 0.02,
            ..learned
        },
    );
    let plan = |name: &str| name.parse::<AdaptivePlan>().unwrap();
    let (short, long) = (plan("swiss:2"), plan("swiss:4"));
    let priors = store
        .write(move |db| {
            let began = db.campaign_prior(ensemble, &short, 1)?;
            db.keep_prior(ensemble, Some(other))?;
            let goes_on = db.campaign_prior(ensemble, &short, 1)?;
            let next = db.campaign_prior(ensemble, &long, 1)?;
            db.keep_prior(ensemble, Some(learned))?;
            Ok([began, goes_on, next])
        })
        .await
        .unwrap();
    assert_eq!(priors, [learns, learns, 0.02].map(Some));
    // A prior that is set takes precedence, and other models ignore the learned one.
    for settings in [
        RankingSettings {
            lambda: PriorPrecision::Set(0.07),
            ..RankingSettings::default()
        },
        RankingSettings {
            model: RatingModel::Thurstone,
            ..RankingSettings::default()
        },
    ] {
        let expected = settings.rating().lambda;
        store
            .write(move |db| db.set_settings(&settings))
            .await
            .unwrap();
        let view = store.read(move |db| db.view(key)).await.unwrap();
        assert_eq!(view.settings.rating().lambda, expected);
        assert_eq!(view.settings.learned, None);
        let campaign = store.write(move |db| db.campaign_prior(ensemble, &long, 1));
        assert_eq!(campaign.await.unwrap(), Some(expected));
        let nothing = store
            .read(move |db| db.learn_prior(ensemble))
            .await
            .unwrap();
        assert_eq!(nothing, None);
    }
}
