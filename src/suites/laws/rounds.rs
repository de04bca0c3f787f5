//! Runs in rounds: the budget is exact to the call, nobody is asked twice, and no interruption
//! changes a vote.

use super::bench::{Bench, bench, until};
use super::scripted::{Act, ensemble, scripted, spoiled, trio};
use crate::app::annotate::{RunHandle, RunOutcome, RunRequest};
use crate::client::RunControl;
use crate::domain::judge_set::JudgeSet;
use crate::domain::rating::RatingOptions;
use crate::domain::sampling::adaptive::{AdaptivePlan, JudgeChoice};
use crate::judge::{FailureCause, JudgeEnsemble, PresentedPair};
use crate::store::outstanding::CallSelection;
use rstest::rstest;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Pools of these sizes; the second one has no pairs.
pub(super) const SIZES: [usize; 4] = [14, 1, 5, 11];

/// The judge, the query and the two documents of each question, in presentation order.
type Asked = Arc<Mutex<Vec<(&'static str, String, usize, usize)>>>;

/// Three judges that record what they are asked.
fn noted(
    asked: &Asked,
    act: impl Fn(&PresentedPair, usize) -> Act + Clone + Send + Sync + 'static,
) -> JudgeEnsemble {
    ensemble(["ada", "ben", "cay"].map(|name| {
        let (asked, act) = (Arc::clone(asked), act.clone());
        scripted(name, move |case, count| {
            let call = (name, case.pool.query.clone(), case.first, case.second);
            asked.lock().unwrap().push(call);
            act(case, count)
        })
    }))
}

/// A vote: the judge, both documents in presentation order, and the margin for the one later in the
/// pool.
pub(super) type Vote = (i64, usize, usize, u64);

/// The votes of every query, sorted.
pub(super) async fn votes(bench: &Bench) -> Vec<Vec<Vote>> {
    let keys = bench.keys.clone();
    let rows = bench.store.read(move |db| {
        keys.into_iter()
            .map(|key| db.rows(key))
            .collect::<Result<Vec<_>, _>>()
    });
    let of_query = |rows: crate::domain::ranking::QueryRows| {
        let mut votes: Vec<Vote> = Vec::new();
        for record in rows.battles {
            let battle = record.battle;
            for vote in record.votes {
                let (first, second) = if vote.swapped {
                    (battle.b, battle.a)
                } else {
                    (battle.a, battle.b)
                };
                let margin = if battle.a < battle.b {
                    vote.margin
                } else {
                    vote.margin.flipped()
                };
                votes.push((vote.judge.0, first, second, margin.get().to_bits()));
            }
        }
        votes.sort_unstable();
        votes
    };
    rows.await.unwrap().into_iter().map(of_query).collect()
}

/// All tasks: query, pair, judge and round.
async fn tasks(bench: &Bench) -> BTreeSet<(i64, usize, usize, i64, i64)> {
    let path = bench.store.path().to_owned();
    let db = rusqlite::Connection::open(path).unwrap();
    let mut statement = db
        .prepare("SELECT query, min(a, b), max(a, b), judge, round FROM task JOIN battle ON battle.id = task.battle")
        .unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        Ok((
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
        ))
    };
    statement
        .query_map([], row)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn play(
    bench: &Bench,
    campaign: &str,
    judges: JudgeEnsemble,
    selection: CallSelection,
    control: RunControl,
) -> RunHandle {
    let request = RunRequest {
        campaign: Some(campaign.parse().unwrap()),
        selection,
        ..RunRequest::default()
    };
    RunHandle::start(bench.store.clone(), judges, request, control)
}

pub(super) async fn played(bench: &Bench, campaign: &str, judges: JudgeEnsemble) -> RunOutcome {
    let run = play(
        bench,
        campaign,
        judges,
        CallSelection::Fresh,
        RunControl::default(),
    );
    run.end.await.unwrap().unwrap()
}

/// The votes of an uninterrupted run.
async fn undisturbed(campaign: &str) -> Vec<Vec<Vote>> {
    let bench = bench(&SIZES);
    played(&bench, campaign, trio(|_, _| Act::Answer)).await;
    votes(&bench).await
}

#[rstest]
#[case("swiss:2")]
#[case("swiss+rotate:1.7")]
#[case("eig:1.5")]
#[case("eig+escalate:2")]
#[case("top:2")]
#[case("top+rotate:0.4")]
#[case("top+escalate:2")]
#[case("cycles:1.5")]
#[case("cycles+rotate:2.5")]
#[case("top+escalate:99")]
#[tokio::test]
async fn the_budget_is_spent_and_no_judge_meets_a_pair_twice(#[case] strategy: &str) {
    let (bench, asked) = (bench(&SIZES), Asked::default());
    let outcome = played(&bench, strategy, noted(&asked, |_, _| Act::Answer)).await;
    let campaign: AdaptivePlan = strategy.parse().unwrap();
    // If all judges are asked, the rest of a budget may not suffice for all of them.
    let rest = match campaign.strategy.judging {
        JudgeChoice::All => 2,
        JudgeChoice::Rotate | JudgeChoice::Escalate => 0,
    };
    let calls = asked.lock().unwrap().clone();
    for (seed, size) in SIZES.into_iter().enumerate() {
        let query = crate::suites::fixtures::pool(seed as u64, size).query.text;
        let made = calls.iter().filter(|call| call.1 == query).count();
        let budget = campaign.calls(size, 3).min(campaign.askable(size, 3));
        assert!(
            made <= budget && made + rest >= budget,
            "{made} of {budget}"
        );
    }
    let pairs: BTreeSet<_> = calls
        .iter()
        .map(|(judge, query, first, second)| (judge, query, first.min(second), first.max(second)))
        .collect();
    assert_eq!(pairs.len(), calls.len(), "a judge met a pair twice");
    let progress = &outcome.progress;
    assert_eq!(
        (progress.total, progress.votes(), progress.failures()),
        (calls.len(), calls.len(), 0)
    );
    assert_eq!(outcome.missing, Some(0));
    assert_eq!(progress.queries_done, SIZES.len());
    assert!(
        progress
            .judges
            .iter()
            .all(|judge| judge.total == judge.votes)
    );

    let run = bench.store.read(|db| db.latest_run()).await.unwrap();
    assert_eq!(run.unwrap().campaign, Some(campaign));

    let again = Asked::default();
    let outcome = played(&bench, strategy, noted(&again, |_, _| Act::Answer)).await;
    assert_eq!(again.lock().unwrap().len(), 0, "what is played stays so");
    assert_eq!(
        (outcome.progress.already, outcome.missing),
        (calls.len(), Some(0))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rounds_depend_on_seed_and_votes_alone() {
    for strategy in ["swiss:2", "top+escalate:2"] {
        let mut campaigns = Vec::new();
        for concurrency in [1, 3, 500] {
            let bench = bench(&SIZES);
            let control = RunControl {
                concurrency,
                ..RunControl::default()
            };
            let judges = trio(|_, _| Act::Answer);
            let run = play(&bench, strategy, judges, CallSelection::Fresh, control);
            run.end.await.unwrap().unwrap();
            campaigns.push((votes(&bench).await, tasks(&bench).await));
        }
        assert!(campaigns.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[rstest]
#[case("swiss:2")]
#[case("top+escalate:2")]
#[case("cycles+rotate:2")]
#[tokio::test]
async fn a_run_that_is_stopped_anywhere_goes_on_to_the_same_votes(#[case] strategy: &str) {
    let whole = undisturbed(strategy).await;
    let calls: usize = whole.iter().map(Vec::len).sum();
    let bench = bench(&SIZES);
    let mut known = 0;
    for more in [1, 30, 4, 61, 17] {
        let asked = Asked::default();
        let answered = Arc::new(AtomicUsize::new(0));
        let judges = noted(&asked, move |_, _| {
            if answered.fetch_add(1, Ordering::SeqCst) < more {
                Act::Answer
            } else {
                Act::Hang
            }
        });
        let run = play(
            &bench,
            strategy,
            judges,
            CallSelection::Fresh,
            RunControl::default(),
        );
        known += more;
        bench.until_recorded(known).await;
        run.control
            .send_modify(|control| control.stop_within(Duration::from_millis(300)));
        let outcome = run.end.await.unwrap().unwrap();
        assert!(outcome.cancelled);
        assert_eq!(outcome.missing, Some(calls - known));
    }
    let asked = Asked::default();
    let outcome = played(&bench, strategy, noted(&asked, |_, _| Act::Answer)).await;
    assert_eq!(
        asked.lock().unwrap().len(),
        calls - known,
        "a call was repeated"
    );
    assert_eq!(outcome.missing, Some(0));
    assert_eq!(votes(&bench).await, whole);
}

#[tokio::test]
async fn a_run_that_runs_out_of_money_goes_on_to_the_same_votes() {
    let whole = undisturbed("top+escalate:2").await;
    let bench = bench(&SIZES);
    let calls: usize = whole.iter().map(Vec::len).sum();
    for made in [20, 100] {
        // A call costs a tenth of a cent.
        let control = RunControl {
            budget_usd: Some(made as f64 * 0.001 + 0.000_5),
            ..RunControl::default()
        };
        let judges = trio(|_, _| Act::Answer);
        let run = play(
            &bench,
            "top+escalate:2",
            judges,
            CallSelection::Fresh,
            control,
        );
        let outcome = run.end.await.unwrap().unwrap();
        assert!(outcome.budget_reached);
        assert_eq!(outcome.missing, Some(calls - made));
    }
    played(&bench, "top+escalate:2", trio(|_, _| Act::Answer)).await;
    assert_eq!(votes(&bench).await, whole);
}

#[rstest]
#[case("swiss:2")]
#[case("eig+rotate:2")]
#[case("top+escalate:2")]
#[tokio::test]
async fn failures_hold_no_round_up_and_can_be_asked_again(#[case] strategy: &str) {
    let bench = bench(&SIZES);
    let script = |case: &PresentedPair, _: usize| {
        if spoiled(case) {
            Act::Fail(FailureCause::Server)
        } else {
            Act::Answer
        }
    };
    let outcome = played(&bench, strategy, trio(script)).await;
    let failures = outcome.progress.failures();
    assert!(failures > 5);
    assert_eq!(
        outcome.progress.done(),
        outcome.progress.total,
        "the budget was not spent"
    );
    assert_eq!(outcome.missing, Some(failures));
    let before = tasks(&bench).await;

    let asked = Asked::default();
    let judges = noted(&asked, |_, _| Act::Answer);
    let run = play(
        &bench,
        strategy,
        judges,
        CallSelection::FreshAndFailed,
        RunControl::default(),
    );
    let outcome = run.end.await.unwrap().unwrap();
    assert_eq!(asked.lock().unwrap().len(), failures);
    assert_eq!(
        (outcome.progress.total, outcome.missing),
        (failures, Some(0))
    );
    assert_eq!(
        tasks(&bench).await,
        before,
        "rounds that are played are not planned anew"
    );
}

#[tokio::test]
async fn a_server_that_is_away_for_a_moment_ends_no_run() {
    let bench = bench(&SIZES);
    let (open, gate) = tokio::sync::watch::channel(false);
    let judges = ensemble([scripted("ada", move |_, call| match call {
        ..6 => Act::Break,
        _ => Act::Wait(gate.clone()),
    })]);
    let mut run = play(
        &bench,
        "swiss:2",
        judges,
        CallSelection::Fresh,
        RunControl::default(),
    );
    until(&mut run.progress, |progress| {
        progress.judges[0].waiting_for.is_some()
    })
    .await;
    open.send_replace(true);
    let outcome = run.end.await.unwrap().unwrap();
    assert_eq!(outcome.missing, Some(0));
    assert_eq!(outcome.progress.done(), outcome.progress.total);
}

#[tokio::test]
async fn who_comes_back_is_asked_nothing_twice() {
    /// Number of calls of a judge in the first round, and the number of them that fail.
    const ROUND: usize = 28;
    const BROKEN: usize = 6;
    let bench = bench(&[ROUND]);
    let gate = || tokio::sync::watch::channel(false);
    let ((open_ben, ben_opens), (open_ada, ada_opens), (open_rest, rest_opens)) =
        (gate(), gate(), gate());
    // Ada is in the second round, without ben, when ben's other calls are answered; then she waits
    // until ben is back.
    let ada = move |_: &PresentedPair, call: usize| {
        if call == ROUND + BROKEN {
            open_ben.send_replace(true);
        }
        match call {
            ..ROUND => Act::Answer,
            _ => Act::Wait(ada_opens.clone()),
        }
    };
    // Ben's failed calls are in flight again when the third round asks for more.
    let ben = move |_: &PresentedPair, call: usize| {
        if call == ROUND {
            open_ada.send_replace(true);
        }
        if call == ROUND + BROKEN {
            open_rest.send_replace(true);
        }
        match call {
            ..BROKEN => Act::Break,
            BROKEN..ROUND => Act::Wait(ben_opens.clone()),
            _ => Act::Wait(rest_opens.clone()),
        }
    };
    let judges = ensemble([scripted("ada", ada), scripted("ben", ben)]);
    let outcome = played(&bench, "swiss:4", judges).await;
    let votes: usize = votes(&bench).await.iter().map(Vec::len).sum();
    assert_eq!(outcome.progress.votes(), votes);
    let reused = outcome.progress.judges.iter().map(|one| one.reused);
    assert_eq!(reused.sum::<usize>(), 0);
}

#[tokio::test]
async fn who_is_dropped_holds_nobody_up_and_is_asked_later() {
    for strategy in ["swiss:2", "top+escalate:2"] {
        let bench = bench(&SIZES);
        let control = RunControl {
            dropped: JudgeSet::one(1),
            ..RunControl::default()
        };
        let judges = trio(|_, _| Act::Answer);
        let run = play(&bench, strategy, judges, CallSelection::Fresh, control);
        let outcome = run.end.await.unwrap().unwrap();
        let [ada, ben, cay] = &outcome.progress.judges[..] else {
            panic!("three judges")
        };
        assert_eq!((ada.votes, cay.votes), (ada.total, cay.total));
        assert_eq!(ben.votes, 0);
        assert_eq!(outcome.missing, Some(ben.total));
        assert!(outcome.progress.queries_done < SIZES.len());

        let asked = Asked::default();
        let later = played(&bench, strategy, noted(&asked, |_, _| Act::Answer)).await;
        let asked = asked.lock().unwrap();
        assert!(asked.len() == ben.total && asked.iter().all(|call| call.0 == "ben"));
        assert_eq!(later.missing, Some(0));
    }
}

/// The prior stored for the ensemble's campaign.
async fn campaign_prior(bench: &Bench) -> Option<f64> {
    let text = bench.store.read(|db| db.remembered("campaign-prior:1"));
    let (_, lambda): (serde_json::Value, f64) =
        serde_json::from_str(&text.await.unwrap()?).unwrap();
    Some(lambda)
}

#[tokio::test]
async fn a_campaign_learns_its_prior_once_from_the_opening_cycle_of_all_queries() {
    // The opening cycle has 360 battles, which are enough to learn from.
    let sizes = [30; 12];
    let whole = bench(&sizes);
    played(&whole, "swiss:2", trio(|_, _| Act::Answer)).await;
    let learned = campaign_prior(&whole).await.unwrap();
    assert_ne!(learned, RatingOptions::default().lambda);
    let opened: usize = tasks(&whole)
        .await
        .iter()
        .filter(|task| task.4 == 0)
        .count();
    assert_eq!(opened, 3 * 360);

    let stopped = bench(&sizes);
    let mut known = 0;
    for more in [700, 300, 150, 400] {
        let answered = Arc::new(AtomicUsize::new(0));
        let judges = trio(move |_, _| {
            if answered.fetch_add(1, Ordering::SeqCst) < more {
                Act::Answer
            } else {
                Act::Hang
            }
        });
        let run = play(
            &stopped,
            "swiss:2",
            judges,
            CallSelection::Fresh,
            RunControl::default(),
        );
        known += more;
        stopped.until_recorded(known).await;
        if known < opened {
            let later = tasks(&stopped).await.iter().any(|task| task.4 > 0);
            assert!(!later, "a second round before the opening cycle was over");
            assert_eq!(campaign_prior(&stopped).await, None);
        }
        run.control
            .send_modify(|control| control.stop_within(Duration::from_millis(300)));
        assert!(run.end.await.unwrap().unwrap().cancelled);
    }
    played(&stopped, "swiss:2", trio(|_, _| Act::Answer)).await;
    assert_eq!(campaign_prior(&stopped).await, Some(learned));
    assert_eq!(tasks(&stopped).await, tasks(&whole).await);
    assert_eq!(votes(&stopped).await, votes(&whole).await);
}

#[tokio::test]
async fn failures_in_the_opening_cycle_keep_no_campaign_from_going_on() {
    let bench = bench(&[30; 12]);
    let outcome = played(
        &bench,
        "swiss:2",
        trio(|case, _| {
            if spoiled(case) {
                Act::Fail(FailureCause::Server)
            } else {
                Act::Answer
            }
        }),
    )
    .await;
    assert!(outcome.progress.failures() > 5);
    assert_eq!(outcome.progress.done(), outcome.progress.total);
    assert!(campaign_prior(&bench).await.is_some());
}
