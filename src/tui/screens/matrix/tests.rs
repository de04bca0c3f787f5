use super::cells::MatrixCells;
use super::update::update;
use crate::domain::battle::Pair;
use crate::domain::prediction::{OutcomeProbabilities, PairPrediction};
use crate::domain::ranking::{DocumentOrder, LearnedPrior, RankingSettings, View};
use crate::domain::verdict::{Decision, Verdict};
use crate::store::verdicts::NewVerdict;
use crate::tui::job::only;
use crate::tui::keymap::Command;
use crate::tui::message::{Effect, Msg};
use crate::tui::model::Model;
use crate::tui::model::matrix::Layer;
use crate::tui::model::run::RunScope;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::numbers;
use crate::tui::screens::battle::update::update as in_battle;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model, sized};
use crate::tui::testing::key;
use crate::tui::theme::ColorDepth;
use crate::tui::update::requests::runs::Estimate;
use crate::tui::update::requests::verdicts::SaveVerdict;
use crate::tui::update::update as apply;
use crate::tui::widgets::heatmap::CellSource as _;
use crossterm::event::KeyCode;
use proptest::prelude::*;

/// All verdict keys, each with the key for the same verdict when the two documents are swapped.
const KEYS: [(Command, Command); 6] = [
    (Command::JudgeA, Command::JudgeB),
    (Command::JudgeB, Command::JudgeA),
    (Command::JudgeAStrongly, Command::JudgeBStrongly),
    (Command::JudgeBStrongly, Command::JudgeAStrongly),
    (Command::JudgeTie, Command::JudgeTie),
    (Command::CannotTell, Command::CannotTell),
];

/// Opens the cell of two documents and presses a verdict key; returns the model and the stored
/// verdict.
fn judged(row: usize, column: usize, key: Command) -> (Model, NewVerdict) {
    let mut model = model(Screen::MATRIX);
    model.look_at(row, column);
    update(&mut model, Command::Open);
    assert_eq!(
        (model.screen(), model.battle.a, model.battle.b),
        (Screen::BATTLE, row, column)
    );
    let mut effects = in_battle(&mut model, key);
    let saved = effects.pop();
    match only(saved.as_slice()) {
        Some(SaveVerdict(verdict)) => (model, verdict.clone()),
        None => panic!("{saved:?}"),
    }
}

fn from_lower(verdict: &NewVerdict) -> Decision {
    let stored = Verdict {
        uid: String::new(),
        a: verdict.a,
        b: verdict.b,
        decision: verdict.decision,
        note: None,
        annotator: String::new(),
        created_ms: 0,
    };
    stored.seen_from(verdict.a.min(verdict.b))
}

proptest! {
    #[test]
    fn a_cell_and_its_transposed_cell_give_the_same_verdict(
        row in 0usize..6,
        other in 1usize..6,
        key in 0usize..6,
    ) {
        let column = (row + other) % 6;
        let (key, turned) = KEYS[key];
        let (model, verdict) = judged(row, column, key);
        let (transposed, other) = judged(column, row, turned);
        prop_assert_eq!((verdict.a, verdict.b), (row, column));
        prop_assert_eq!(from_lower(&verdict), from_lower(&other));
        let scores = |model: &Model| model.open.as_ref().unwrap().scores();
        for (one, other) in scores(&model).into_iter().zip(scores(&transposed)) {
            prop_assert_eq!(one.is_some(), other.is_some());
            prop_assert!((one.unwrap_or(0.0) - other.unwrap_or(0.0)).abs() < 1e-9);
        }
        let pair = Pair::new(row, column).unwrap();
        let own = |model: &Model| {
            let open = model.open.as_ref().unwrap();
            open.people.by("ann", pair).unwrap().seen_from(row)
        };
        let meant = match key {
            Command::JudgeA => Decision::A,
            Command::JudgeB => Decision::B,
            Command::JudgeAStrongly => Decision::MuchA,
            Command::JudgeBStrongly => Decision::MuchB,
            Command::JudgeTie => Decision::Tie,
            _ => Decision::CannotTell,
        };
        prop_assert_eq!((own(&model), own(&transposed)), (meant, meant));
    }
}

#[test]
fn the_battle_shows_the_row_as_a_and_both_screens_say_the_votes_alike() {
    for (row, column, votes) in [(1, 2, "A 0 : 1 B · 1 tie"), (2, 1, "A 1 : 0 B · 1 tie")] {
        let mut model = model(Screen::MATRIX);
        model.look_at(row, column);
        let page = flat(&mut model, (120, 38));
        assert!(page.contains(votes), "{page}");
        update(&mut model, Command::Open);
        let page = flat(&mut model, (120, 38));
        let title = model.open.as_ref().unwrap().headline(row);
        assert!(page.contains(&format!("A {}", &title[..12])), "{page}");
        assert!(page.contains(votes), "{page}");
    }
}

#[test]
fn the_cursor_follows_the_battles_that_are_walked_through() {
    let mut model = model(Screen::MATRIX);
    model.look_at(0, 1);
    update(&mut model, Command::Open);
    for _ in 0..3 {
        in_battle(&mut model, Command::NextBattle);
        assert_eq!(model.matrix.cursor, (model.battle.a, model.battle.b));
    }
}

fn all_pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count)
        .flat_map(move |row| (0..count).map(move |column| (row, column)))
        .filter(|(row, column)| row != column)
}

/// Presses a key on the topmost screen.
fn press(model: &mut Model, code: KeyCode) {
    let now = model.now;
    apply(model, Msg::Key(key(code)), now);
}

#[test]
fn a_verdict_that_changes_the_order_leaves_the_cursor_on_its_pair() {
    let mut model = model(Screen::MATRIX);
    let order = model.matrix_order();
    let mut moved = 0;
    for (row, column) in all_pairs(6) {
        model.look_at(row, column);
        for verdict in ['A', 'B', 'u'] {
            let before = model.matrix_order();
            press(&mut model, KeyCode::Enter);
            press(&mut model, KeyCode::Char(verdict));
            press(&mut model, KeyCode::Esc);
            assert_eq!(model.screen(), Screen::MATRIX);
            press(&mut model, KeyCode::Enter);
            assert_eq!((model.battle.a, model.battle.b), (row, column));
            press(&mut model, KeyCode::Esc);
            moved += usize::from(model.matrix_order() != before);
        }
    }
    assert!(moved > 0, "{order:?}");
}

#[test]
fn both_orders_have_the_cursor_on_the_same_pair() {
    let mut model = model(Screen::MATRIX);
    for (row, column) in all_pairs(6) {
        model.look_at(row, column);
        for _ in 0..2 {
            press(&mut model, KeyCode::Char('o'));
            let order = model.matrix_order();
            let (at, across) = model.heat().cursor;
            assert_eq!((order[at], order[across]), (row, column));
        }
    }
}

#[test]
fn a_run_over_this_query_alone_is_started_from_its_matrix() {
    let mut model = model(Screen::MATRIX);
    // Whose votes count is known once the queries are listed.
    model.queries.loaded = true;
    let key = model.open.as_ref().unwrap().info.key;
    let effects = update(&mut model, Command::StartRun);
    assert_eq!(effects, [Effect::Start(RunScope::Query(key))]);
    assert!(model.run.running);
}

#[test]
fn a_paid_run_over_this_query_is_asked_about_first() {
    let mut model = model(Screen::MATRIX);
    model.options.paid = true;
    let key = model.open.as_ref().unwrap().info.key;
    let effects = update(&mut model, Command::StartRun);
    assert_eq!(only(&effects), Some(&Estimate(RunScope::Query(key))));
    assert!(!model.run.running);
}

#[test]
fn expectations_and_titles_are_shown_until_a_key_hides_them() {
    let mut model = model(Screen::MATRIX);
    let page = flat(&mut model, (120, 38));
    assert!(page.contains("not fought: the fit's expectation"), "{page}");
    assert!(page.contains("3 ✗ therapy for"), "{page}");
    update(&mut model, Command::ToggleExpectations);
    update(&mut model, Command::ToggleTitles);
    let page = flat(&mut model, (120, 38));
    assert!(
        !page.contains("not fought: the fit's expectation"),
        "{page}"
    );
    assert!(page.contains("3 ✗ 13497630"), "{page}");
}

#[test]
fn a_weak_signal_is_named_under_the_matrix() {
    let mut model = model(Screen::MATRIX);
    for size in SIZES {
        assert!(!flat(&mut model, size).contains("weak signal"));
    }
    let open = model.open.as_mut().unwrap();
    let settings = RankingSettings {
        learned: Some(LearnedPrior {
            lambda: 3.0,
            battles: 9_000,
        }),
        ..open.view.settings
    };
    open.view = View::new(open.view.rows().clone(), settings);
    for size in SIZES {
        let page = flat(&mut model, size);
        assert!(page.contains("weak signal ·"), "{size:?}: {page}");
    }
}

#[test]
fn labels_are_marked_at_the_rows_and_on_the_diagonal() {
    let mut model = model(Screen::MATRIX);
    model.look_at(0, 1);
    let page = drawn(&mut model, ColorDepth::None, (200, 58));
    for words in ["▸✓ ", " ✗ ", "✓ ✗ human label", "human label: relevant"] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    let marks = page.matches('✓').count();
    assert_eq!(marks, 3, "row, diagonal and legend\n{page}");
    model.open.as_mut().unwrap().labels.clear();
    assert!(!flat(&mut model, (200, 58)).contains("human label"));
}

#[test]
fn going_through_surprises_says_the_position_in_the_description_of_the_cell() {
    for size in SIZES {
        let mut model = model(Screen::MATRIX);
        update(&mut model, Command::NextSurprise);
        assert!(model.toast.is_none());
        let all = model.open.as_ref().unwrap().view.most_surprising().len();
        let page = flat(&mut model, size);
        assert!(page.contains(&format!("surprise 1 of {all}:")), "{page}");
        update(&mut model, Command::NextSurprise);
        assert!(flat(&mut model, size).contains(&format!("surprise 2 of {all}:")));
        model.look_at(0, 0);
        assert!(!flat(&mut model, size).contains(" of {all}:"));
    }
}

#[test]
fn formulas_and_lists_are_not_broken_next_to_the_matrix() {
    for columns in 112..140 {
        let mut model = model(Screen::MATRIX);
        model.look_at(0, 1);
        let page = drawn(&mut model, ColorDepth::None, (columns, 38));
        assert!(page.contains("P(A above B) "), "{page}");
        let begins_with_dot = |line: &str| {
            let side: String = line.chars().skip(usize::from(columns) * 2 / 3).collect();
            side.contains("  · ")
        };
        assert!(!page.lines().any(begins_with_dot), "{page}");
    }
}

#[test]
fn no_size_breaks_the_matrix() {
    for size in TINY.into_iter().chain(SIZES).chain([(60, 12)]) {
        for (documents, judges) in [(6, 3), (2, 1), (1, 1), (0, 0)] {
            let mut model = sized(Screen::MATRIX, documents, judges);
            flat(&mut model, size);
        }
    }
}

/// A student with predictions for only two pairs.
fn with_student(model: &mut Model) {
    let p = |a, b| PairPrediction::in_order(OutcomeProbabilities::new(a, b).unwrap());
    let open = model.open.as_mut().unwrap();
    let (fought, unfought): (Vec<Pair>, Vec<Pair>) = (0..open.documents.len())
        .flat_map(|low| {
            (low + 1..open.documents.len()).filter_map(move |high| Pair::new(low, high))
        })
        .partition(|pair| open.view.cell(pair.low(), pair.high()).observed.is_some());
    let predictions = [(fought[0], p(0.7, 0.1)), (unfought[0], p(0.2, 0.7))];
    open.students = vec![("tiny\u{1b}[1m".to_owned(), predictions.into())];
}

#[test]
fn the_layer_of_a_student_shows_votes_and_expectations_apart() {
    let mut model = model(Screen::MATRIX);
    with_student(&mut model);
    let (judges, places) = {
        let open = model.open.as_ref().unwrap();
        let places: Vec<Pair> = open.students[0].1.keys().copied().collect();
        (open.judges.len(), places)
    };
    for _ in 0..3 + judges {
        update(&mut model, Command::NextLayer);
    }
    assert_eq!(model.matrix.layer, Layer::Student(0));
    model.matrix.order = DocumentOrder::Hybrid;
    let order = model.matrix_order();
    let open = model.open.as_ref().unwrap();
    let cells = MatrixCells::new(&model, open, &order);
    let mut told = Vec::new();
    for pair in places {
        let cell = cells.cell(pair.low(), pair.high());
        let other = cells.cell(pair.high(), pair.low());
        let value = cell.value.or(cell.expected).unwrap();
        let mirrored = other.value.or(other.expected).unwrap();
        assert!((value + mirrored - 1.0).abs() < 1e-12);
        told.push((cell.value.is_some(), cell.expected.is_some()));
        let words = numbers::students(open, pair.low(), pair.high());
        assert!(words[0].starts_with("student tiny") && !words[0].contains('\u{1b}'));
    }
    told.sort_unstable();
    assert_eq!(told, [(false, true), (true, false)]);
    update(&mut model, Command::NextLayer);
    assert_eq!(model.matrix.layer, Layer::Verdicts);
}
