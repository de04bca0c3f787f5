use super::update::{show, update};
use crate::domain::ranking::{RankingSettings, View};
use crate::domain::verdict::{Decision, Verdict};
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::cycles::state::rows;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model};
use crate::tui::theme::ColorDepth;

/// A person ranks 0 far above 1 and 1 far above 2, and 2 above 0.
fn circle() -> Model {
    let mut model = model(Screen::MATRIX);
    let open = model.open.as_mut().unwrap();
    let mut rows = open.view.rows().clone();
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        open.people.give(Verdict {
            uid: format!("{a}{b}"),
            a,
            b,
            decision: if b == 0 { Decision::A } else { Decision::MuchA },
            note: None,
            annotator: "ann".to_owned(),
            created_ms: 1,
        });
    }
    rows.verdicts = open.people.in_force();
    open.view = View::new(rows, RankingSettings::default());
    show(&mut model);
    model
}

#[test]
fn a_cycle_is_a_circle_of_wins_with_the_weakest_first() {
    let mut model = circle();
    let open = model.open.as_ref().unwrap();
    for row in rows(open) {
        let edges = &row.edges;
        assert_eq!(edges.len(), 3);
        for at in 0..3 {
            assert_eq!(edges[at].loser, edges[(at + 1) % 3].winner);
            assert!(edges[0].strength <= edges[at].strength);
        }
    }
    let first = rows(open).remove(0);
    assert_eq!(first.weakest(), (2, 0));
    let page = flat(&mut model, (120, 38));
    assert!(
        page.contains("Insomnia treatments co… ⇢ A trial in older adult…"),
        "{page}"
    );
    assert!(page.contains("◆ overruled by ann: A is better"), "{page}");
    update(&mut model, Command::Open);
    assert_eq!(
        (model.screen(), model.battle.a, model.battle.b),
        (Screen::BATTLE, 2, 0)
    );
}

#[test]
fn no_size_breaks_the_cycles() {
    for size in TINY.into_iter().chain(SIZES) {
        drawn(&mut circle(), ColorDepth::None, size);
    }
}
