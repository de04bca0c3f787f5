//! Recording calls: each is counted once and charged once, and stays outstanding until resolved.

use super::*;
use crate::domain::battle::{PROBE_GAME, Pair};
use crate::domain::corpus::DocId;
use crate::domain::ranking::RankingSettings;
use crate::domain::sampling::PlannedBattle;
use crate::domain::verdict::{Decision, FinalRule};
use crate::judge::JudgeSpec;
use crate::store::batches::{BatchCall, BatchCallState, BatchStage, BatchedVote};
use crate::store::judges::EnsembleId;
use crate::store::labels::tests::pool;
use crate::store::outstanding::{CallSelection, OutstandingCall};
use crate::store::runs::RunRow;
use crate::store::verdicts::NewVerdict;

/// A project with one planned battle and one judge.
struct OneBattle {
    db: Db,
    query: QueryKey,
    judge: JudgeId,
    ensemble: EnsembleId,
    battle: BattleId,
    run: RunId,
    plan: [PlannedBattle; 1],
}

const KEY: [u8; 32] = [7; 32];

impl OneBattle {
    fn new() -> Self {
        let db = Db::scratch().unwrap();
        let query = db
            .add_pool(&pool(&["{}", "{}", "{}"]), "set")
            .unwrap()
            .key();
        let judge = db
            .judge(&JudgeSpec {
                name: "j".to_owned(),
                provider: "p".to_owned(),
                model: "m".to_owned(),
                prompt_hash: "h".to_owned(),
                params: "{}".to_owned(),
            })
            .unwrap();
        let ensemble = db.ensemble(&[judge]).unwrap();
        let run = RunRow {
            uid: "r".to_owned(),
            seed: 1,
            cycles: 1,
            depth: None,
            campaign: None,
            ensemble,
            started_ms: 1,
        };
        let run = db.start_run(&run).unwrap();
        let plan = [PlannedBattle {
            pair: Pair::new(0, 1).unwrap(),
            game: 0,
            cycle: 0,
        }];
        db.add_plan(query, &plan, 3, ensemble).unwrap();
        let battle = db.battle_at(query, 0, 1, 0).unwrap().unwrap().0;
        Self {
            db,
            query,
            judge,
            ensemble,
            battle,
            run,
            plan,
        }
    }

    fn call(&self, result: CallOutcome) -> CallRecord {
        CallRecord {
            battle: self.battle,
            judge: self.judge,
            swapped: false,
            attempt: 1,
            usage: Usage::default(),
            cost_usd: Some(0.25),
            latency_ms: None,
            truncated: false,
            call_key: Some(KEY),
            run: Some(self.run),
            created_ms: 1,
            raw: None,
            result,
        }
    }

    fn outstanding(&self, selection: CallSelection) -> Vec<OutstandingCall> {
        let (judges, shown) = ([self.judge], [vec![Some(false)]]);
        self.db
            .outstanding(self.query, &self.plan, &judges, &shown, selection)
            .unwrap()
    }

    /// Whether the query's numbers have become stale since the last call of this function.
    fn has_changed(&self) -> bool {
        let overview = self.db.overview().unwrap();
        let stale = overview.iter().any(|(_, summary)| summary.is_none());
        for (info, _) in overview {
            self.db.cache_summary(info.key).unwrap();
        }
        stale
    }
}

fn vote(margin: f64) -> CallOutcome {
    CallOutcome::Vote {
        margin: Margin::new(margin).unwrap(),
        reasoning: String::new(),
        model: None,
        stop_reason: None,
        request_id: None,
    }
}

fn failure(cause: FailureCause) -> CallOutcome {
    CallOutcome::Failure {
        cause,
        message: "it was so".to_owned(),
    }
}

#[test]
fn a_second_vote_is_paid_for_and_does_not_count() {
    let one = OneBattle::new();
    one.has_changed();
    assert_eq!(
        one.db.record(&one.call(vote(-0.5))).unwrap(),
        Recorded::Kept
    );
    assert!(one.has_changed());
    let second = one.db.record(&one.call(vote(0.5))).unwrap();
    assert_eq!(second, Recorded::Duplicate);
    let (margin, _) = one.db.vote_on(one.battle, one.judge).unwrap().unwrap();
    assert_eq!(margin.get(), -0.5, "the first one stays");
    assert!(one.db.has_failed(one.battle, one.judge).unwrap());
    assert_eq!(one.db.committed_usd().unwrap(), 0.5, "both were paid for");
    assert_eq!(one.outstanding(CallSelection::FreshAndFailed), []);
}

#[test]
fn a_call_that_is_to_be_asked_once_more_is_owed_and_not_failed() {
    let one = OneBattle::new();
    let malformed = one.call(failure(FailureCause::Malformed));
    one.db.record_attempt(&malformed, true).unwrap();
    let owed = one.outstanding(CallSelection::Fresh);
    assert_eq!(
        (owed[0].attempt, owed[0].again),
        (2, Some(FailureCause::Malformed))
    );
    assert_eq!(one.outstanding(CallSelection::Failed), []);
    let view = one.db.rows(one.query).unwrap();
    assert_eq!(view.battles[0].failed, [], "nothing has failed yet");
    one.db.record(&malformed).unwrap();
    assert_eq!(one.outstanding(CallSelection::Fresh), []);
    let failed = one.outstanding(CallSelection::Failed);
    assert_eq!((failed[0].attempt, failed[0].again), (3, None));
    assert_eq!(
        one.db.rows(one.query).unwrap().battles[0].failed,
        [one.judge]
    );
}

#[test]
fn what_an_open_batch_makes_is_bought_nowhere_else_and_counts_against_a_budget() {
    let one = OneBattle::new();
    let call = BatchCall {
        number: 0,
        vote: Some(BatchedVote {
            battle: one.battle,
            swapped: false,
            attempt: 1,
        }),
        truncated: 0,
        call_key: KEY,
        worst_usd: Some(0.75),
    };
    let add = |uid| {
        one.db.add_batch(
            uid,
            one.judge,
            Some(one.run),
            "",
            std::slice::from_ref(&call),
            1,
        )
    };
    let open = |is: bool| {
        assert_eq!(
            one.outstanding(CallSelection::FreshAndFailed).is_empty(),
            is
        );
        assert_eq!(one.db.is_being_made(&KEY).unwrap(), is);
        assert_eq!(one.db.committed_usd().unwrap(), if is { 0.75 } else { 0.0 });
        let played = one.db.played(one.query, 3, &[one.judge]).unwrap();
        assert_eq!(
            played.calls(),
            usize::from(is),
            "a round counts it as asked"
        );
    };
    open(false);
    let fetched = add("a").unwrap();
    open(true);
    let known = |state| Some((call.clone(), state));
    let found = || one.db.batch_call(fetched, 0).unwrap();
    assert_eq!(found(), known(BatchCallState::Open));
    for state in [
        BatchCallState::Failed,
        BatchCallState::Unusable,
        BatchCallState::Answered,
    ] {
        one.db.end_batch_call(fetched, 0, state).unwrap();
        open(false);
        assert_eq!(found(), known(state));
    }
    let failed = add("b").unwrap();
    open(true);
    one.db
        .note_batch(failed, BatchStage::Failed, (0, 0), None, 2)
        .unwrap();
    open(true);
    one.db.close_batch(failed, 3).unwrap();
    open(false);
    assert_eq!(
        one.db.batches(true).unwrap().len(),
        1,
        "the first was never closed"
    );
}

#[test]
fn a_pair_is_shown_the_other_way_round_while_a_batch_is_asking_about_it() {
    let one = OneBattle::new();
    let second = PlannedBattle {
        game: 1,
        ..one.plan[0]
    };
    one.db
        .add_plan(one.query, &[second], 3, one.ensemble)
        .unwrap();
    let asked = |planned: &[PlannedBattle]| {
        let shown = [vec![Some(false); planned.len()]];
        let selection = CallSelection::Fresh;
        let calls = one
            .db
            .outstanding(one.query, planned, &[one.judge], &shown, selection)
            .unwrap();
        calls.iter().map(|call| call.swapped).collect::<Vec<_>>()
    };
    assert_eq!(asked(&[second]), [false], "nothing is known of the pair");
    assert_eq!(asked(&[one.plan[0], second]), [false, true]);
    let call = BatchCall {
        number: 0,
        vote: Some(BatchedVote {
            battle: one.battle,
            swapped: false,
            attempt: 1,
        }),
        truncated: 0,
        call_key: KEY,
        worst_usd: None,
    };
    one.db
        .add_batch("a", one.judge, Some(one.run), "", &[call], 1)
        .unwrap();
    assert_eq!(asked(&[second]), [true]);
}

#[test]
fn a_pair_that_was_seen_in_both_orders_is_not_asked_about_again() {
    let one = OneBattle::new();
    let probe = PlannedBattle {
        game: PROBE_GAME,
        ..one.plan[0]
    };
    let second = PlannedBattle {
        game: 1,
        ..one.plan[0]
    };
    one.db
        .add_plan(one.query, &[probe], 3, one.ensemble)
        .unwrap();
    one.db.record(&one.call(vote(-0.5))).unwrap();
    let battle_at = |game| {
        one.db
            .battle_at(one.query, 0, 1, game)
            .unwrap()
            .map(|(battle, _)| battle)
    };
    let other_order = CallRecord {
        battle: battle_at(PROBE_GAME).unwrap(),
        swapped: true,
        call_key: Some([8; 32]),
        ..one.call(vote(0.5))
    };
    one.db.record(&other_order).unwrap();
    let owed = || {
        let (judges, shown) = ([one.judge], [vec![Some(false)]]);
        let selection = CallSelection::FreshAndFailed;
        let owed = one
            .db
            .planned_calls(one.query, &[second], &judges, &shown, selection);
        owed.unwrap().len()
    };
    assert_eq!(
        owed(),
        0,
        "the second battle is not entered, and the probe has asked"
    );
    one.db
        .add_plan(one.query, &[second], 3, one.ensemble)
        .unwrap();
    assert_eq!(owed(), 0);
    assert_eq!(battle_at(1), Some(other_order.battle), "the probe counts");
    assert_eq!(battle_at(PROBE_GAME), None);
}

#[test]
fn numbers_that_a_vote_has_overtaken_are_not_kept() {
    let one = OneBattle::new();
    let (revision, numbers) = one.db.summary_now(one.query).unwrap();
    one.db.record(&one.call(vote(-0.5))).unwrap();
    one.db.keep_summary(one.query, revision, &numbers).unwrap();
    assert!(one.has_changed(), "they are of another revision");
    assert!(!one.has_changed());
}

#[test]
fn whatever_numbers_follow_from_makes_them_stale() {
    let one = OneBattle::new();
    one.has_changed();
    one.db.set_final_rule(&FinalRule::Majority).unwrap();
    assert!(one.has_changed(), "whose verdict counts");
    one.db.set_settings(&RankingSettings::default()).unwrap();
    assert!(one.has_changed(), "how scores are fitted");
    let more = PlannedBattle {
        pair: Pair::new(0, 2).unwrap(),
        ..one.plan[0]
    };
    let plan = || one.db.add_plan(one.query, &[more], 3, one.ensemble);
    plan().unwrap();
    assert!(one.has_changed(), "a battle more");
    plan().unwrap();
    assert!(!one.has_changed(), "it is there already");
    let mut document = pool(&["{}"]).documents.remove(0);
    document.id = DocId::new("new");
    one.db.add_document(one.query, &document).unwrap();
    assert!(one.has_changed(), "a document more");
}

#[test]
fn a_verdict_and_its_reason_are_taken_back_together() {
    let one = OneBattle::new();
    let standing = || one.db.standing_verdicts(None).unwrap().len();
    let given = NewVerdict::open(one.query, 0, 1, Decision::A, "ada");
    one.has_changed();
    one.db.add_verdict(&given).unwrap();
    assert!(one.has_changed());
    let explained = NewVerdict {
        note: Some("it says so".to_owned()),
        ..given
    };
    one.db.add_verdict(&explained).unwrap();
    assert_eq!(standing(), 1, "the reason stands for both");
    assert!(one.has_changed());
    let undone = one.db.undo_verdict("ada", 9).unwrap().unwrap();
    assert_eq!(standing(), 0);
    assert!(one.has_changed());
    let redo = |who: &str, uid: &str| one.db.redo_verdict(who, uid, 9).unwrap();
    assert!(redo("bob", &undone.verdict.uid).is_none(), "it is not his");
    let again = redo("ada", &undone.verdict.uid).unwrap();
    assert_eq!(standing(), 1, "with its reason, as rows of their own");
    assert_eq!(again.verdict.note.as_deref(), Some("it says so"));
    assert!(redo("ada", &again.verdict.uid).is_none(), "it stands");
    assert!(one.db.undo_verdict("ada", 9).unwrap().is_some());
    assert_eq!(standing(), 0);
    assert!(one.has_changed());
    assert!(one.db.undo_verdict("ada", 9).unwrap().is_none());
}

#[test]
fn a_shared_vote_is_turned_where_the_battle_is_shown_the_other_way_round() {
    let one = OneBattle::new();
    one.db.record(&one.call(vote(-0.5))).unwrap();
    let known = one.db.vote_by_call(&KEY).unwrap().unwrap();
    for (game, swapped, margin) in [(1, false, -0.5), (2, true, 0.5)] {
        let battle = one.db.add_fought_battle(one.query, 0, 1, game).unwrap();
        one.has_changed();
        one.db
            .reuse_vote(known, battle, one.judge, swapped, 1, one.run, 2)
            .unwrap();
        assert!(one.has_changed());
        let shared = one.db.vote_on(battle, one.judge).unwrap().unwrap();
        assert_eq!(shared.0.get(), margin);
    }
    assert_eq!(one.db.committed_usd().unwrap(), 0.25, "paid for once");
}

#[test]
fn a_run_that_never_said_how_it_ended_was_killed_when_the_next_begins() {
    let one = OneBattle::new();
    let states = || {
        let runs = one.db.runs().unwrap();
        runs.into_iter().map(|run| run.ended).collect::<Vec<_>>()
    };
    assert_eq!(states(), [None]);
    let next = RunRow {
        uid: "s".to_owned(),
        seed: 1,
        cycles: 1,
        depth: None,
        campaign: None,
        ensemble: one.ensemble,
        started_ms: 5,
    };
    let next = one.db.start_run(&next).unwrap();
    one.db.end_run(next, "done", 6).unwrap();
    assert_eq!(states(), [None, Some((6, "done".to_owned()))]);
    let state: String = one
        .db
        .value("SELECT state FROM run WHERE id = ?1", [one.run.0])
        .unwrap();
    assert_eq!(state, "killed");
}

#[test]
fn the_latest_run_is_told_from_its_rows() {
    let one = OneBattle::new();
    let run = one.db.last_run().unwrap().unwrap();
    assert_eq!((run.state.as_str(), run.ended_ms), ("running", None));
    assert_eq!((run.seed, run.cycles, run.judges.len()), (1, 1, 0));
    let failed = |cause: &str, at: i64, usd: Option<f64>| {
        one.db
            .change(
                "INSERT INTO failure (battle, judge, swapped, cause, message, attempt, tokens_input, tokens_output, cost_usd,
                     run, created_ms) VALUES (?1, ?2, 0, ?3, 'm', 1, 0, 0, ?4, ?5, ?6)",
                rusqlite::params![one.battle.0, one.judge.0, cause, usd, one.run.0, at],
            )
            .unwrap();
    };
    failed("rate-limited", 10, Some(0.5));
    failed("timed-out", 20, None);
    failed("rate-limited", 30, Some(0.25));
    one.db.end_run(one.run, "done", 40).unwrap();
    let run = one.db.last_run().unwrap().unwrap();
    assert_eq!((run.state.as_str(), run.ended_ms), ("done", Some(40)));
    let [judge] = run.judges.as_slice() else {
        panic!("{run:?}");
    };
    assert_eq!(
        (judge.votes, judge.failures, judge.spend.unpriced),
        (0, 3, 1)
    );
    assert_eq!(judge.spend.known_usd, 0.75);
    assert_eq!(run.spend, judge.spend);
    let [first, second] = run.failures.as_slice() else {
        panic!("{run:?}");
    };
    assert_eq!((first.count, first.first_ms, first.last_ms), (2, 10, 30));
    assert_eq!((second.count, second.first_ms), (1, 20));
    let later = RunRow {
        uid: "later".to_owned(),
        seed: 9,
        cycles: 1,
        depth: None,
        campaign: None,
        ensemble: one.ensemble,
        started_ms: 50,
    };
    one.db.start_run(&later).unwrap();
    let run = one.db.last_run().unwrap().unwrap();
    assert_eq!(run.seed, 1, "the later one asked nothing");
    assert_eq!(Db::scratch().unwrap().last_run().unwrap(), None);
}
