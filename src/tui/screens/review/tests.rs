use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::review_queue::{QueueItem, QueueItemState};
use crate::domain::battle::Pair;
use crate::domain::priority::DrawReason;
use crate::domain::verdict::{Confidence, Decision, ErrorCause, Verdict};
use crate::store::corpus::QueryKey;
use crate::tui::job::{answer, asked, fail, first, is_write, only, tell_that};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::queue::jobs::{BuildQueue, BuiltQueue, PostponePair};
use crate::tui::screens::testing::{flat, model};
use crate::tui::update::commands::on_command;
use crate::tui::update::requests::verdicts::SaveVerdict;
use crate::tui::update::update;
use std::time::{Duration, Instant};

fn item(a: usize, b: usize) -> QueueItem {
    QueueItem {
        query: QueryKey(7),
        pair: Pair::new(a, b).unwrap(),
        draw: DrawReason::Control { of: 5 },
        priority: Some(0.5),
        standing: QueueItemState::Fresh,
    }
}

/// The test query with three items in the queue, the first one under review.
pub(crate) fn reviewing() -> Model {
    let mut model = model(Screen::REVIEW);
    model.stack = vec![Screen::QUERIES, Screen::QUEUE, Screen::REVIEW];
    let items = vec![item(0, 1), item(1, 2), item(0, 4)];
    let effects =
        super::super::queue::update::queued(&mut model, items, AnnotatorStatistics::default());
    assert!(model.queue.current.is_some(), "{effects:?}");
    model
}

/// The time of the last message, plus some seconds.
fn later(model: &mut Model, seconds: u64) -> Instant {
    model.now += Duration::from_secs(seconds);
    model.now
}

/// Everything that the judges, the fit or the files reveal about the pair.
const SECRETS: [&str; 8] = [
    "bm25", "votes", "zELO", "rank", "5912283", "13497630", "surprise", "fit",
];

#[test]
fn nothing_of_the_judges_is_drawn_before_the_decision() {
    let mut model = reviewing();
    for size in [(80, 24), (120, 40), (200, 60)] {
        let page = flat(&mut model, size);
        assert!(page.contains("Which document"), "{page}");
        for secret in SECRETS {
            assert!(!page.contains(secret), "{secret}: {page}");
        }
    }
    on_command(&mut model, Command::NextReasoning);
    let page = flat(&mut model, (120, 40));
    assert!(page.contains("hidden until you have decided"), "{page}");
    assert_eq!(on_command(&mut model, Command::Copy), []);
}

#[test]
fn two_keys_judge_a_pair_and_go_on_to_the_next() {
    let mut model = reviewing();
    later(&mut model, 5);
    on_command(&mut model, Command::FairlySure);
    let effects = on_command(&mut model, Command::JudgeA);
    let Some(SaveVerdict(blind)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert!(blind.blind && !blind.after_reveal);
    assert_eq!(
        (blind.decision, blind.active_ms, blind.confidence),
        (Decision::A, Some(5_000), Some(Confidence::Medium))
    );
    assert_eq!(
        blind.item.as_ref().map(|item| item.draw),
        Some(DrawReason::Control { of: 5 })
    );
    let page = flat(&mut model, (120, 40));
    assert!(
        page.contains("You agree with 2 of 3 judges: A trial in older adults")
            && page.contains("A 3 : 2 B · 1 tie"),
        "{page}"
    );

    later(&mut model, 2);
    let effects = on_command(&mut model, Command::Open);
    let Some(SaveVerdict(kept)) = first(&effects) else {
        panic!("{effects:?}");
    };
    assert!(!kept.blind && kept.after_reveal);
    assert_eq!((kept.decision, kept.active_ms), (Decision::A, Some(2_000)));
    assert!(asked::<BuildQueue>(&effects).is_some());
    let current = model.queue.current.as_ref().unwrap();
    assert!(current.is_hidden() && current.item == item(1, 2));
}

#[test]
fn a_verdict_changed_after_the_reveal_is_stored_even_when_one_leaves() {
    let mut model = reviewing();
    later(&mut model, 1);
    on_command(&mut model, Command::JudgeA);
    assert_eq!(on_command(&mut model, Command::JudgeB), []);
    on_command(&mut model, Command::CauseDefensible);
    super::update::note(&mut model, " two readings ");
    let page = flat(&mut model, (120, 40));
    assert!(
        page.contains("you decided first, blind: A trial")
            && page.contains("You overruled 2 of 3 judges: Behavioral therapy")
            && page.contains("reason: two readings"),
        "{page}"
    );
    let effects = on_command(&mut model, Command::Back);
    let Some(SaveVerdict(kept)) = first(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(
        (kept.decision, kept.cause, kept.note.as_deref()),
        (
            Decision::B,
            Some(ErrorCause::BothDefensible),
            Some("two readings")
        )
    );
    assert_eq!(model.screen(), Screen::QUEUE);
}

#[test]
fn moving_about_writes_nothing_and_later_is_told_to_the_ledger() {
    let mut model = reviewing();
    assert_eq!(writes(&on_command(&mut model, Command::NextBattle)), 0);
    assert_eq!(writes(&on_command(&mut model, Command::PreviousBattle)), 0);
    assert_eq!(writes(&on_command(&mut model, Command::Open)), 0);
    assert_eq!(writes(&on_command(&mut model, Command::CauseJudge)), 0);
    let effects = on_command(&mut model, Command::PutOff);
    assert!(
        only::<PostponePair>(&effects[..1]).is_some() && writes(&effects) == 1,
        "{effects:?}"
    );
    assert_eq!(model.queue.current.as_ref().unwrap().item, item(1, 2));
}

fn writes(effects: &[Effect]) -> usize {
    effects.iter().filter(|effect| is_write(effect)).count()
}

#[test]
fn a_pair_chosen_from_further_down_was_nobodys_draw() {
    let mut model = reviewing();
    on_command(&mut model, Command::NextBattle);
    later(&mut model, 1);
    let effects = on_command(&mut model, Command::JudgeTie);
    let Some(SaveVerdict(blind)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(
        blind.item.as_ref().map(|item| item.draw),
        Some(DrawReason::Priority)
    );
}

#[test]
fn a_queue_that_is_not_there_yet_says_how_much_is_left() {
    let mut model = model(Screen::QUEUE);
    model.queue.loaded = false;
    let now = model.now;
    let waits = |left| {
        tell_that(move |model| {
            model.queue.waits_for = Some(left);
            Vec::new()
        })
    };
    update(&mut model, waits(4_312), now);
    let page = flat(&mut model, (80, 24));
    assert!(page.contains("4,312 queries to go"), "{page}");
    let mut late = model.build_queue();
    let mut asked = model.build_queue();
    for (effects, shown) in [(&mut late, false), (&mut asked, true)] {
        let failed = fail::<BuildQueue>(effects, "p.db-wal: was deleted");
        update(&mut model, failed, now);
        let page = flat(&mut model, (80, 24));
        assert_eq!(page.contains("p.db-wal: was deleted"), shown, "{page}");
        assert_eq!(page.contains("calculating"), !shown, "{page}");
    }
}

#[test]
fn an_overtaken_queue_is_dropped_and_an_empty_one_is_said() {
    let mut model = reviewing();
    let empty = BuiltQueue::default;
    let mut late = model.build_queue();
    let mut asked = on_command(&mut model, Command::PutOff);
    let now = model.now;
    update(&mut model, answer::<BuildQueue>(&mut late, empty()), now);
    assert_eq!(model.queue.items.len(), 2);
    model.queue.current = None;
    update(&mut model, answer::<BuildQueue>(&mut asked, empty()), now);
    let page = flat(&mut model, (80, 24));
    assert!(page.contains("Nothing left to judge"), "{page}");
}

#[test]
fn a_battle_of_the_matrix_is_judged_blind_where_that_is_asked_for() {
    let mut model = model(Screen::MATRIX);
    model.options.judging.battle_blind = true;
    model.open_battle(0, 1);
    assert_eq!(model.screen(), Screen::REVIEW);
    later(&mut model, 1);
    let effects = on_command(&mut model, Command::JudgeB);
    let Some(SaveVerdict(blind)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert!(blind.blind && blind.item.is_none());
    let effects = on_command(&mut model, Command::Open);
    assert!(only::<SaveVerdict>(&effects).is_some(), "{effects:?}");
    assert_eq!(model.screen(), Screen::MATRIX);
}

#[test]
fn a_queue_that_is_not_blind_opens_the_battle() {
    let mut model = reviewing();
    model.stack = vec![Screen::QUERIES, Screen::QUEUE];
    model.options.judging.queue_blind = false;
    on_command(&mut model, Command::Open);
    assert_eq!(model.screen(), Screen::BATTLE);
    assert!(!model.battle.blind);
}

#[test]
fn a_pair_on_which_people_differ_is_decided_with_what_they_said_in_sight() {
    let mut model = model(Screen::REVIEW);
    model.stack = vec![Screen::QUERIES, Screen::QUEUE, Screen::REVIEW];
    model.queue.conflicts = true;
    let items = vec![item(2, 3), item(1, 2)];
    super::super::queue::update::queued(&mut model, items, AnnotatorStatistics::default());
    for size in [(80, 24), (120, 40), (200, 60)] {
        let page = flat(&mut model, size);
        assert!(page.contains("decided on 1970"), "{page}");
        assert!(page.contains("names␇"), "{page}");
    }
    let page = flat(&mut model, (120, 40));
    assert!(!page.contains("judges: "), "{page}");
    let effects = on_command(&mut model, Command::JudgeTie);
    let Some(SaveVerdict(first)) = only(&effects) else {
        panic!("{effects:?}");
    };
    assert!(!first.blind && !first.after_reveal && first.item.is_some());
    let page = flat(&mut model, (120, 40));
    assert!(page.contains("not blind: it moves the ranking"), "{page}");
    on_command(&mut model, Command::Open);
    let next = model.queue.current.as_ref().unwrap();
    assert!(next.in_sight && next.is_undecided() && !model.battle.blind);
}

#[test]
fn what_a_program_proposes_is_shown_after_the_verdict_only() {
    let mut model = reviewing();
    let (a, b) = (model.battle.a, model.battle.b);
    let open = model.open.as_mut().unwrap();
    open.proposals.give(Verdict {
        uid: "p1".to_owned(),
        a,
        b,
        decision: Decision::Tie,
        note: Some("both name\u{7} it".to_owned()),
        annotator: "robo".to_owned(),
        created_ms: 0,
    });
    for size in [(80, 24), (120, 40), (200, 60)] {
        let page = flat(&mut model, size);
        assert!(!page.contains("robo"), "{page}");
    }
    on_command(&mut model, Command::JudgeA);
    for size in [(80, 24), (120, 40), (200, 60)] {
        let page = flat(&mut model, size);
        assert!(page.contains("◇ robo proposes"), "{page}");
        assert!(!page.contains('\u{7}'), "{page}");
    }
}
