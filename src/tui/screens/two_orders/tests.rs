use super::update::{click, update};
use crate::domain::ranking::DocumentOrder;
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model, sized};
use crate::tui::theme::ColorDepth;
use crate::tui::update::commands::on_command;

fn opened(row: usize, column: usize) -> Model {
    let mut model = model(Screen::MATRIX);
    model.look_at(row, column);
    on_command(&mut model, Command::CompareOrders);
    assert_eq!(model.screen(), Screen::TWO_ORDERS);
    model
}

#[test]
fn one_key_shows_how_far_the_orders_agree_and_who_moved() {
    let mut model = opened(0, 2);
    for size in SIZES {
        let page = flat(&mut model, size);
        for words in [
            "zELO keeps the hybrid order on",
            "rose most:",
            "fell most:",
            "end of the top 3",
        ] {
            assert!(page.contains(words), "{words} at {size:?}\n{page}");
        }
    }
    model.size = (120, 40);
    let wide = flat(&mut model, (120, 38));
    assert!(wide.contains("hybrid order zELO order"), "{wide}");
    assert!(wide.contains("share of the row"), "{wide}");
}

#[test]
fn a_narrow_screen_shows_the_list_and_on_tab_a_matrix() {
    let mut model = opened(0, 2);
    model.size = (80, 24);
    let list = flat(&mut model, (80, 22));
    assert!(
        list.contains("rank was title") && !list.contains("share of the row"),
        "{list}"
    );
    on_command(&mut model, Command::NextPane);
    let matrix = flat(&mut model, (80, 22));
    assert!(
        matrix.contains("zELO order") && !matrix.contains("rank was title"),
        "{matrix}"
    );
    on_command(&mut model, Command::FlipOrder);
    assert!(flat(&mut model, (80, 22)).contains("hybrid order"));
}

#[test]
fn both_matrices_share_a_cursor_on_documents() {
    let mut model = opened(0, 2);
    for order in [DocumentOrder::Zelo, DocumentOrder::Hybrid] {
        assert_eq!(model.two_orders().order, order);
        assert_eq!(model.matrix.cursor, (0, 2));
        drawn(&mut model, ColorDepth::True, (120, 38));
        let shown = model.areas.heatmap.unwrap();
        let places = model.open.as_ref().unwrap().view.order(order);
        let place = |document| places.iter().position(|at| *at == document).unwrap();
        let (x, y) = (
            shown.body.x + (place(2) * shown.zoom.columns()) as u16,
            shown.body.y + (place(0) / shown.zoom.rows_a_line()) as u16,
        );
        click(&mut model, x, y);
        assert_eq!(model.matrix.cursor, (0, 2));
        update(&mut model, Command::FlipOrder);
    }
    update(&mut model, Command::FlipOrder);
    update(&mut model, Command::Down);
    update(&mut model, Command::Right);
    let order = model
        .open
        .as_ref()
        .unwrap()
        .view
        .order(DocumentOrder::Hybrid);
    assert_eq!(model.matrix.cursor, (order[1], order[3]));
}

#[test]
fn enter_opens_the_battle_and_leaving_keeps_the_pair_in_the_matrix() {
    let mut model = opened(0, 2);
    update(&mut model, Command::Open);
    assert_eq!(
        (model.screen(), model.battle.a, model.battle.b),
        (Screen::BATTLE, 0, 2)
    );
    on_command(&mut model, Command::Back);
    assert_eq!(model.screen(), Screen::TWO_ORDERS);
    update(&mut model, Command::Down);
    let pair = model.matrix.cursor;
    on_command(&mut model, Command::Back);
    assert_eq!(model.screen(), Screen::MATRIX);
    assert_eq!(model.matrix.cursor, pair);
}

#[test]
fn without_scores_the_key_that_starts_judging_is_named() {
    let mut model = sized(Screen::MATRIX, 6, 0);
    on_command(&mut model, Command::CompareOrders);
    let page = flat(&mut model, (80, 22));
    assert!(
        page.contains("No zELO order yet: s starts judging."),
        "{page}"
    );
}

#[test]
fn no_size_and_no_pool_is_too_small() {
    for size in TINY.into_iter().chain(SIZES).chain([(60, 14)]) {
        for depth in [ColorDepth::None, ColorDepth::True] {
            for (documents, judges) in [(6, 3), (2, 1), (1, 1), (0, 0)] {
                let mut model = sized(Screen::MATRIX, documents, judges);
                on_command(&mut model, Command::CompareOrders);
                for command in [
                    Command::Down,
                    Command::NextPane,
                    Command::Last,
                    Command::Right,
                ] {
                    update(&mut model, command);
                    drawn(&mut model, depth, size);
                }
            }
        }
    }
}
