//! The screen of a student: its figures, the battles of a part of one, and a battle with its
//! verdict.

use crate::domain::ranking::{NotLearned, OpinionWeight};
use crate::features::student::app::keep_trained;
use crate::features::student::app::train::{TrainOptions, train};
use crate::store::StoreError;
use crate::suites::screens::bench::Bench;
use crate::suites::screens::snapshot;
use crate::tui::model::matrix::Layer;
use crate::tui::screens::Screen;
use crate::tui::theme::{ColorDepth, Theme};

#[test]
fn figures_of_the_built_in_student() {
    let mut bench = Bench::judged(80, 24);
    bench.press("Y V V V V V");
    bench.snapshots("student-triangle");
    bench.press("v v v down down");
    bench.snapshots("student-yield");
    bench.press("v v G");
    bench.snapshots("student-buckets");
    bench.press("enter");
    assert_eq!(bench.model.screen(), Screen::STUDENT_BATTLES);
    bench.snapshots("student-battles");
    bench.press("esc v v v right up");
    bench.snapshots("student-segments");
}

#[test]
fn the_other_figures() {
    let mut bench = Bench::judged(120, 40);
    bench.press("Y V V V V V V");
    snapshot("student-accuracy", bench.shot());
    bench.press("v v");
    snapshot("student-fold", bench.shot());
    bench.press("v");
    snapshot("student-radius", bench.shot());
    bench.press("v v");
    snapshot("student-ranks", bench.shot());
    bench.press("v v");
    snapshot("student-ties", bench.shot());
    bench.press("v");
    snapshot("student-axes", bench.shot());
}

#[test]
fn a_student_is_trained_from_its_screen_after_a_yes() {
    let mut bench = Bench::judged(120, 40);
    bench.press("Y +");
    assert!(bench.shot().contains("it costs"), "{}", bench.shot());
    bench.press("y");
    let names = bench.model.student().names();
    assert!(names.iter().any(|name| name == "trained"), "{names:?}");
}

#[test]
fn figures_without_color_are_told_by_signs() {
    let mut bench = Bench::judged(120, 40);
    bench.theme = Theme::new(ColorDepth::None, false);
    bench.press("Y V V V V");
    snapshot("student-fold-depth-none", bench.shot());
    bench.press("v v");
    snapshot("student-yield-depth-none", bench.shot());
}

#[test]
fn from_a_bucket_to_a_verdict_and_back() {
    let mut bench = Bench::judged(120, 40);
    bench.press("J Y G enter");
    let battle = bench.model.student().battle(0).unwrap().clone();
    let before = bench.model.student().battles.len();
    bench.press("enter");
    assert_eq!(bench.model.screen(), Screen::BATTLE);
    let open = bench.model.open.as_ref().unwrap();
    assert_eq!(open.info.id, battle.query);
    assert_eq!(bench.model.battle.pair(), Some(battle.pair));
    let verdict = if battle.score < 0.5 { "B" } else { "A" };
    bench.press(verdict);
    bench.press("esc");
    assert_eq!(bench.model.screen(), Screen::STUDENT_BATTLES);
    // The verdict affects the scores that the student is compared with.
    let step = bench.model.student().step().unwrap();
    let again = step
        .battles
        .iter()
        .find(|again| again.query == battle.query && again.pair == battle.pair);
    assert_ne!(again.unwrap().score, battle.score);
    assert!(before > 0 && !bench.model.student().battles.is_empty());
    bench.press("esc esc");
    assert_eq!(bench.model.screen(), Screen::JUDGES);
}

/// Trains a student, and keeps it as `own`.
fn keep_own(bench: &Bench) {
    let options = TrainOptions {
        other_battles: false,
        folds: 5,
        seed: 0,
        all_pairs: true,
    };
    let trained = train(&bench.store, options).unwrap();
    keep_trained(&bench.store, &trained, "own", "ann").unwrap();
}

#[test]
fn a_student_of_the_project_stands_next_to_judges_and_votes() {
    let mut bench = Bench::judged(80, 24);
    keep_own(&bench);
    let named = bench
        .store
        .read_blocking(|db| db.estimated_student("own", OpinionWeight::Set(0.5)))
        .unwrap();
    bench
        .store
        .write_blocking(move |db| db.name_student(Some(&named)))
        .unwrap();
    bench.press("J G");
    bench.snapshots("student-next-to-judges");
    bench.press("esc enter V V");
    assert_eq!(bench.model.matrix.layer, Layer::Student(0));
    bench.snapshots("student-layer");
    bench.press("enter");
    bench.snapshots("student-in-battle");
}

#[test]
fn a_student_that_changed_counts_for_nothing_until_its_weight_is_estimated_outside_of_the_write() {
    let bench = Bench::judged(80, 24);
    keep_own(&bench);
    let store = &bench.store;
    let named = store
        .read_blocking(|db| db.estimated_student("own", OpinionWeight::Auto))
        .unwrap();
    let written = named.clone();
    let (name, in_write) = store
        .write_blocking(move |db| {
            db.name_student(Some(&written))?;
            db.students_changed(&["own".to_owned()])?;
            Ok::<_, StoreError>((written.name, db.named_student()?))
        })
        .unwrap();
    let in_write = in_write.unwrap();
    assert_eq!((name, in_write.in_force()), ("own".to_owned(), 0.0));
    assert_eq!(in_write.not_learned, Some(NotLearned::Changed));
    store.estimate_student().unwrap();
    let after = store.read_blocking(|db| db.named_student());
    let after = after.unwrap().unwrap();
    assert!(named.in_force() > 0.0);
    assert_eq!(
        (after.in_force(), after.not_learned),
        (named.in_force(), None)
    );
}
