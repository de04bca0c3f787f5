//! The screens of a duel: the grid, the text with its passage, the lists, the tasks and the pause.

use crate::domain::corpus::DocId;
use crate::domain::metrics::RankedRun;
use crate::features::duel::domain::{Action, Duel, DuelDocument, DuelForm, DuelQuery, Source};
use crate::features::duel::screen::state::OpenDuel;
use crate::suites::screens::bench::Bench;
use crate::suites::screens::{SIZES, name, snapshot};
use crate::tui::screens::Screen;
use crate::tui::theme::{ColorDepth, Theme};

const SIDES: [&str; 2] = ["first-stage-run", "turned-run"];

/// A duel on the judged sample between the first stage's order and its reverse.
pub(crate) fn duel(form: DuelForm) -> impl Fn(&mut crate::store::Db) -> crate::store::Result<()> {
    move |db| {
        let mut queries = Vec::new();
        for query in db.queries()? {
            let documents = db.documents(query.key)?;
            let ids: Vec<DocId> = documents.into_iter().map(|one| one.id).collect();
            let count = ids.len();
            let one = |at: usize, source| DuelDocument {
                document: ids[at].clone(),
                source,
                rank_a: Some(at + 1),
                rank_b: Some(count - at),
            };
            let mut chosen = Vec::new();
            for at in 0..4 {
                chosen.push(one(at, Source::TopOfA));
                chosen.push(one(count - 1 - at, Source::TopOfB));
            }
            chosen.push(one(count / 2, Source::EasyNegative));
            queries.push(DuelQuery {
                query: query.id,
                documents: chosen,
                depth: 4,
                shortfall: String::new(),
            });
        }
        let [a, b] = SIDES.map(str::to_owned);
        let duel = Duel {
            form,
            a,
            b,
            top: 4,
            seed: 7,
            controls: false,
            level: 1,
            queries,
        };
        db.add_duel(&duel, 1).map(drop)
    }
}

fn bench(form: DuelForm, size: (u16, u16)) -> Bench {
    let mut bench = Bench::judged(size.0, size.1);
    let add = duel(form);
    bench.store.write_blocking(move |db| add(db)).unwrap();
    bench.press("X");
    bench
}

fn open(bench: &Bench) -> &OpenDuel {
    bench.model.duel().open().unwrap()
}

/// The answers on disk, as actions in order.
fn stored(bench: &Bench) -> Vec<Action> {
    open(bench)
        .session
        .events
        .iter()
        .map(|event| event.action.clone())
        .collect()
}

#[test]
fn documents_are_chosen_from_a_grid_with_the_passage_that_says_so() {
    for size in SIZES {
        let mut bench = bench(DuelForm::Grid, size);
        snapshot(name("duel", size), bench.shot());
        bench.press("5 enter");
        assert_eq!(bench.model.screen(), Screen::PASSAGE);
        bench.press("l l h {");
        snapshot(name("duel-passage", size), bench.shot());
        bench.press("enter 2 space down");
        assert_eq!(bench.model.screen(), Screen::DUEL);
        snapshot(name("duel-chosen", size), bench.shot());
        bench.press(". n n space tab");
        snapshot(name("duel-tasks", size), bench.shot());
        bench.press("tab p");
        snapshot(name("duel-paused", size), bench.shot());
    }
}

#[test]
fn lists_are_compared_in_five_steps() {
    for size in SIZES {
        let mut bench = bench(DuelForm::Lists, size);
        bench.press("l j B");
        snapshot(name("duel-lists", size), bench.shot());
        assert_eq!(stored(&bench).last(), Some(&Action::Prefer { step: 2 }));
        bench.press("enter");
        bench.press("enter space backspace");
        assert_eq!(bench.model.screen(), Screen::PASSAGE);
        bench.press("esc .");
        assert_eq!(open(&bench).done(), 1);
    }
}

#[test]
fn an_interleaved_list_is_chosen_from_like_a_grid() {
    for size in SIZES {
        let mut bench = bench(DuelForm::Interleaved, size);
        bench.press("j j space 1 enter enter");
        snapshot(name("duel-interleaved", size), bench.shot());
        let chosen = open(&bench).answer().unwrap().selected.len();
        assert_eq!(chosen, 2);
    }
}

#[test]
fn a_duel_without_color_is_told_by_signs() {
    let mut bench = bench(DuelForm::Grid, (120, 40));
    bench.theme = Theme::new(ColorDepth::None, false);
    bench.press("3 space 5 enter enter 6");
    snapshot("duel-depth-none", bench.shot());
    bench.press("5 enter");
    snapshot("duel-passage-depth-none", bench.shot());
}

#[test]
fn a_duel_works_in_a_small_terminal() {
    let mut bench = bench(DuelForm::Grid, (60, 16));
    bench.press("5 space 6");
    snapshot("duel-60x16", bench.shot());
    bench.press("enter");
    snapshot("duel-passage-60x16", bench.shot());
}

#[test]
fn no_size_is_too_small_for_a_duel() {
    for form in [DuelForm::Grid, DuelForm::Lists, DuelForm::Interleaved] {
        for size in [(1, 1), (10, 3), (24, 8), (40, 12), (99, 18), (300, 90)] {
            let mut bench = bench(form, size);
            bench.press("9 enter l ) { esc space a . tab down up enter p p u U K");
            bench.shot();
        }
    }
}

#[test]
fn nothing_of_the_rankings_is_drawn_before_the_end() {
    for form in [DuelForm::Grid, DuelForm::Lists, DuelForm::Interleaved] {
        for size in SIZES {
            let mut bench = bench(form, size);
            for keys in [
                "", "3", "enter", "esc", "space", "a", ".", "tab", "tab", "n", "p",
            ] {
                if !keys.is_empty() {
                    bench.press(keys);
                }
                let shot = bench.shot();
                let text = shot.split("styles:").next().unwrap().to_lowercase();
                for secret in SIDES.iter().chain(&[
                    "easy negative",
                    "easy-negative",
                    "top of",
                    "rank_a",
                    "rank a",
                ]) {
                    assert!(!text.contains(secret), "{secret} on {size:?}:\n{text}");
                }
            }
        }
    }
}

#[test]
fn undo_takes_back_one_answer_after_the_other_over_tasks_and_redo_gives_them_again() {
    let mut bench = bench(DuelForm::Grid, (120, 40));
    bench.press("3 space .");
    assert_eq!((open(&bench).task, open(&bench).done()), (1, 1));
    bench.press("u");
    assert_eq!((open(&bench).task, open(&bench).done()), (0, 0));
    bench.press("u");
    assert!(!open(&bench).is_answered());
    bench.press("u");
    assert!(!open(&bench).is_answered());
    bench.press("U");
    assert_eq!(open(&bench).answer().unwrap().selected.len(), 1);
    bench.press("U U");
    assert_eq!(open(&bench).done(), 1);
    // A new answer clears what could be redone.
    bench.press("u 0 U");
    assert!(open(&bench).answer().unwrap().none_serves);
    assert_eq!(open(&bench).done(), 0);
}

#[test]
fn what_was_answered_is_there_again_after_a_restart() {
    let mut bench = bench(DuelForm::Grid, (120, 40));
    bench.press("3 space . 0 . 2 enter ) enter");
    let before = open(&bench).session.events.clone();
    let answer = open(&bench).answer().cloned();
    bench.press("esc");
    assert_eq!(bench.model.screen(), Screen::QUERIES);
    bench.press("esc X");
    let after = &open(&bench).session.events;
    assert_eq!(&after[..before.len()], before);
    assert_eq!((open(&bench).task, open(&bench).done()), (2, 2));
    let left = open(&bench).answer().cloned();
    assert_eq!(
        left.map(|answer| answer.selected),
        answer.map(|answer| answer.selected)
    );
}

#[test]
fn a_choice_can_be_changed_and_removed() {
    let mut bench = bench(DuelForm::Grid, (120, 40));
    bench.press("4 space");
    let choice = |bench: &Bench| {
        let open = open(bench);
        open.choice(&open.card().unwrap().document)
    };
    assert_eq!(choice(&bench).unwrap().passage, None);
    assert!(choice(&bench).unwrap().stored);
    bench.press("enter enter");
    let passage = choice(&bench).unwrap().passage.unwrap();
    bench.press("enter");
    assert_eq!(
        open(&bench).reading.as_ref().unwrap().passage(),
        Some(passage)
    );
    bench.press("backspace");
    assert_eq!((bench.model.screen(), choice(&bench)), (Screen::DUEL, None));
    bench.press("backspace");
    let removed = stored(&bench)
        .iter()
        .filter(|action| matches!(action, Action::Unselect { .. }))
        .count();
    assert_eq!(removed, 1);
    bench.press("space 0");
    assert_eq!(choice(&bench), None, "none serves ends every choice");
}

/// Without a duel, but with the reverse of the first stage's order as a ranking.
fn without_a_duel(size: (u16, u16)) -> Bench {
    let mut bench = Bench::judged(size.0, size.1);
    bench
        .store
        .write_blocking(|db| {
            let mut run = RankedRun::default();
            for query in db.queries()? {
                let scores = db
                    .documents(query.key)?
                    .into_iter()
                    .enumerate()
                    .map(|(at, one)| (one.id, at as f64))
                    .collect();
                run.insert(query.id, scores);
            }
            db.put_ranking(SIDES[1], &run, 1)
        })
        .unwrap();
    bench.press("X");
    bench
}

#[test]
fn a_project_without_a_duel_makes_one_of_two_rankings() {
    for size in SIZES {
        let mut bench = without_a_duel(size);
        bench.press("j a tab");
        snapshot(name("duel-choose", size), bench.shot());
        bench.press("tab tab 0 . n u enter");
        let open = open(&bench);
        assert_eq!((open.form(), open.session.duel.level), (DuelForm::Grid, 1));
        let duel = &open.session.duel;
        assert_eq!((duel.a.as_str(), duel.b.as_str()), ("original", SIDES[1]));
        bench.press("1 space");
        assert!(open_choice(&bench));
    }
}

fn open_choice(bench: &Bench) -> bool {
    let open = open(bench);
    open.choice(&open.card().unwrap().document).is_some()
}

#[test]
fn a_project_with_one_ranking_says_how_to_get_another() {
    let mut bench = Bench::judged(80, 24);
    bench.press("X");
    let shot = bench.shot();
    assert!(shot.contains("A duel needs two rankings"), "{shot}");
    bench.press("enter a b space 0 . tab p u U K n esc");
    assert_eq!(bench.model.screen(), Screen::QUERIES);
}

#[test]
fn a_query_that_does_not_fit_ends_in_an_ellipsis() {
    let mut bench = bench(DuelForm::Grid, (60, 16));
    let shot = bench.shot();
    let head = shot.lines().find(|line| line.contains("query ")).unwrap();
    assert!(head.contains('…'), "{shot}");
}

#[test]
fn the_box_at_the_end_lets_the_result_through() {
    let mut bench = bench(DuelForm::Grid, (120, 40));
    while !open(&bench).all_done() {
        bench.press("0 .");
    }
    let shot = bench.shot();
    assert!(
        shot.contains("Press K to see the result.") && !shot.contains("Your controls"),
        "{shot}"
    );
    bench.press("K");
    let shot = bench.shot();
    assert!(
        shot.contains(SIDES[0]) && !shot.contains("This session"),
        "{shot}"
    );
    assert_eq!(stored(&bench).last(), Some(&Action::Reveal));
    bench.press("esc");
    assert!(bench.shot().contains("not blind"));
    // It is stored once.
    bench.press("K esc");
    let seen = stored(&bench)
        .iter()
        .filter(|action| **action == Action::Reveal)
        .count();
    assert_eq!(seen, 1);
}
