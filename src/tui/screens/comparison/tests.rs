use super::update::{show, update};
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model, sized};
use crate::tui::theme::ColorDepth;

fn on(a: usize, b: usize) -> Model {
    let mut model = model(Screen::MATRIX);
    model.look_at(a, b);
    show(&mut model);
    assert_eq!(model.screen(), Screen::COMPARISON);
    model
}

#[test]
fn one_key_on_a_pair_that_never_fought_says_why() {
    let mut model = on(2, 4);
    for size in SIZES {
        let page = flat(&mut model, size);
        for words in [
            "A 4688340 rank 4",
            "B 8883846 rank",
            "P(A above B)",
            "A and B never fought",
            "common opponents",
        ] {
            assert!(page.contains(words), "{words} at {size:?}\n{page}");
        }
    }
}

#[test]
fn the_direct_battle_reads_as_in_the_matrix_and_every_line_opens_its_battle() {
    let mut model = on(0, 1);
    let page = flat(&mut model, (120, 38));
    assert!(page.contains("A 3 : 2 B · 1 tie"), "{page}");
    update(&mut model, Command::Open);
    assert_eq!(
        (model.screen(), model.battle.a, model.battle.b),
        (Screen::BATTLE, 0, 1)
    );
    model.stack.pop();
    update(&mut model, Command::Last);
    let (a, other) = model.comparison().chosen().unwrap();
    assert_eq!(a, 0);
    update(&mut model, Command::Right);
    assert_eq!(model.comparison().chosen(), Some((1, other)));
    update(&mut model, Command::Open);
    assert_eq!((model.battle.a, model.battle.b), (1, other));
}

#[test]
fn a_document_and_itself_are_no_pair() {
    let mut model = model(Screen::MATRIX);
    model.look_at(1, 1);
    show(&mut model);
    assert_eq!(model.screen(), Screen::MATRIX);
    assert!(model.toast.is_some());
}

#[test]
fn no_size_and_no_pool_is_too_small() {
    for size in TINY.into_iter().chain(SIZES) {
        for depth in [ColorDepth::None, ColorDepth::True] {
            let mut model = sized(Screen::MATRIX, 6, 3);
            model.look_at(0, 3);
            show(&mut model);
            for command in [Command::Down, Command::Last, Command::Right] {
                update(&mut model, command);
                drawn(&mut model, depth, size);
            }
        }
    }
    let mut model = on(0, 1);
    model.open = None;
    assert!(flat(&mut model, (80, 22)).contains("loading"));
}
