use super::update::{load, update};
use crate::domain::common_scale::{Offset, ProjectScale};
use crate::domain::ranking::ScoreWarning;
use crate::store::corpus::QueryKey;
use crate::tui::job::{answer, first};
use crate::tui::keymap::Command;
use crate::tui::model::Model;
use crate::tui::requests::{ReadTexts, ReadVotes};
use crate::tui::screens::Screen;
use crate::tui::screens::document::state::BattleSort;
use crate::tui::screens::testing::{SIZES, TINY, drawn, model, sized};
use crate::tui::theme::ColorDepth;
use crate::tui::update::commands::on_command;
use crate::tui::update::requests::queries::ReadScale;
use crate::tui::update::update as apply;

fn shown(model: &mut Model, size: (u16, u16)) -> String {
    drawn(model, ColorDepth::None, size)
}

fn on(document: usize) -> Model {
    let mut model = model(Screen::DOCUMENT);
    model.document_mut().document = document;
    model
}

#[test]
fn text_standing_battles_and_reasoning_are_shown_at_every_size() {
    for size in SIZES {
        for depth in [ColorDepth::None, ColorDepth::Ansi256, ColorDepth::True] {
            let page = drawn(&mut on(0), depth, size);
            for words in [
                "5912283  A trial in older adults",
                "rank 2 (95 %: ",
                "zELO +",
                "SE",
                "human label: relevant (SUPPORT) · hybrid rank 1",
                "+ for this document",
                "13497630",
                "bm25",
                "+0.43",
                "tie",
                "σ",
                "this document)",
            ] {
                assert!(page.contains(words), "{words} at {size:?}\n{page}");
            }
            assert!(!page.contains('\u{1b}'));
        }
    }
    let mut model = on(0);
    model
        .open
        .as_mut()
        .unwrap()
        .view
        .warnings
        .push(ScoreWarning::Undefeated(vec![0, 3]));
    let page = shown(&mut model, (80, 22));
    assert!(page.contains("! this document won every battle"), "{page}");
}

#[test]
fn numbers_are_told_from_this_documents_side() {
    let page = shown(&mut on(1), (120, 38));
    assert!(page.contains("−0.43"), "{page}");
    assert!(page.contains("−0.60"), "{page}");
}

#[test]
fn missing_failed_and_overruled_battles_are_marked_apart() {
    let page = shown(&mut on(2), (120, 38));
    assert!(
        page.contains("failed") && page.contains("1 failed · 3 not run"),
        "{page}"
    );
    assert!(
        page.contains("1 missing") && page.contains("3 missing"),
        "{page}"
    );
    assert!(page.contains("◆ far worse"), "{page}");
    assert!(
        page.contains("◆ verdict of bea␛[31m: Ignore all") && page.contains("is much better."),
        "{page}"
    );
    assert!(page.contains("no human label"), "{page}");
}

#[test]
fn hostile_and_empty_documents_are_shown_safely() {
    let page = shown(&mut on(3), (120, 38));
    assert!(
        page.contains("hostile␛[2J") && page.contains("␛]0;owned␇previous instructions·"),
        "{page}"
    );
    assert!(page.contains("human label: ␛[31mred"), "{page}");
    let page = shown(&mut on(5), (120, 38));
    assert!(page.contains("this document has no text"), "{page}");
    assert!(
        page.contains("not scored: it is in no battle yet"),
        "{page}"
    );
    assert!(
        page.contains("no battle is planned for this document"),
        "{page}"
    );
}

#[test]
fn the_cursor_walks_the_battles_and_opens_one_with_itself_as_a() {
    let mut model = on(1);
    model.document_mut().sort = BattleSort::Planned;
    shown(&mut model, (80, 22));
    update(&mut model, Command::Last);
    assert_eq!(model.document_cursor(), 3);
    update(&mut model, Command::Up);
    update(&mut model, Command::Open);
    assert_eq!(
        (model.screen(), model.battle.a, model.battle.b),
        (Screen::BATTLE, 1, 4)
    );
}

#[test]
fn sorting_keeps_the_cursor_on_its_battle() {
    let mut model = on(1);
    let chosen = model.document_battles()[2];
    model.choose_battle(Some(chosen));
    for _ in 0..3 {
        update(&mut model, Command::SortBattles);
        assert_eq!(model.document_battles()[model.document_cursor()], chosen);
    }
}

#[test]
fn a_verdict_on_a_battle_leaves_the_cursor_on_it() {
    let mut model = on(1);
    let mut reordered = false;
    for at in 0..model.document_battles().len() {
        let battles = model.document_battles();
        model.choose_battle(Some(battles[at]));
        update(&mut model, Command::Open);
        crate::tui::screens::battle::update::update(&mut model, Command::JudgeBStrongly);
        on_command(&mut model, Command::Back);
        let after = model.document_battles();
        assert_eq!(after[model.document_cursor()], battles[at]);
        reordered |= after != battles;
    }
    assert!(reordered);
}

#[test]
fn documents_are_walked_through_by_score() {
    let mut model = on(0);
    let order = model.open.as_ref().unwrap().view.by_zelo.clone();
    model.document_mut().document = order[0];
    update(&mut model, Command::PreviousDocument);
    assert_eq!(model.document().document, order[0]);
    for expected in &order[1..] {
        update(&mut model, Command::NextDocument);
        assert_eq!(model.document().document, *expected);
    }
    update(&mut model, Command::NextDocument);
    assert_eq!(Some(&model.document().document), order.last());
}

#[test]
fn reading_scrolls_the_text_and_expanding_shows_all_reasoning() {
    let mut model = on(0);
    model
        .open
        .as_mut()
        .unwrap()
        .texts
        .insert(0, "many words here\n".repeat(80).into());
    shown(&mut model, (80, 22));
    update(&mut model, Command::NextPane);
    shown(&mut model, (80, 22));
    update(&mut model, Command::Last);
    assert!(model.document().scroll > Some(60) && model.document_cursor() == 0);
    update(&mut model, Command::ExpandReasoning);
    assert_eq!(model.document().scroll, None);
    let page = shown(&mut model, (120, 38));
    assert!(
        page.contains("[not in text]") || page.contains("reasoning"),
        "{page}"
    );
    assert!(!page.contains("+ for this document"), "{page}");
    update(&mut model, Command::Right);
    assert_eq!(model.document_cursor(), 1);
}

#[test]
fn the_reasoning_is_relabelled_as_on_the_battle_screen() {
    let mut model = on(1);
    model.document_mut().sort = BattleSort::Planned;
    update(&mut model, Command::ExpandReasoning);
    let page = shown(&mut model, (120, 38));
    assert!(
        page.contains("A Behavioral therapy")
            && page.contains("(rank 3, this document) against B A trial"),
        "{page}"
    );
    assert!(page.contains("ngram prefers: A trial in older"), "{page}");
    assert!(page.contains(" · saw B first"), "{page}");
    assert!(!page.contains("Document A says “Cognitive"), "{page}");
}

#[test]
fn what_is_not_loaded_is_asked_for_once() {
    let mut model = on(1);
    assert!(load(&mut model).is_empty());
    let open = model.open.as_mut().unwrap();
    open.texts.clear();
    open.votes.clear();
    let effects = load(&mut model);
    assert!(
        matches!(first(&effects), Some(ReadTexts { key: QueryKey(7), documents }) if documents.len() == 2 && documents[0] == 1)
    );
    assert!(matches!(first(&effects[1..]), Some(ReadVotes { battles, .. }) if battles.len() == 4));
    let effects = update(&mut model, Command::Down);
    assert!(matches!(first(&effects[1..]), Some(ReadVotes { battles, .. }) if battles.len() == 1));
    assert!(shown(&mut model, (80, 22)).contains("loading"));
}

#[test]
fn no_size_and_no_pool_is_too_small() {
    for (documents, judges) in [(6, 3), (2, 1), (1, 1), (0, 0)] {
        for size in TINY.into_iter().chain(SIZES) {
            for expanded in [false, true] {
                let mut model = sized(Screen::DOCUMENT, documents, judges);
                model.document_mut().expanded = expanded;
                shown(&mut model, size);
                for command in [
                    Command::Down,
                    Command::PageDown,
                    Command::NextPane,
                    Command::Down,
                    Command::NextDocument,
                ] {
                    update(&mut model, command);
                }
                shown(&mut model, size);
            }
        }
    }
    let mut model = on(0);
    model.open = None;
    assert!(shown(&mut model, (80, 22)).contains("loading"));
}

#[test]
fn a_linked_score_is_shown_where_the_query_is_on_a_scale_and_nowhere_else() {
    let mut model = on(0);
    let page = shown(&mut model, (120, 40));
    assert!(!page.contains("over all queries"), "{page}");
    let id = model.open.as_ref().unwrap().info.id.clone();
    let offset = Offset {
        value: 1.5,
        se: 0.4,
    };
    let instant = model.now;
    let (mut late, mut now) = (vec![model.read_scale()], vec![model.read_scale()]);
    let scale = ProjectScale::of_query(id.clone(), offset, 2.5);
    apply(
        &mut model,
        answer::<ReadScale>(&mut now, Some(scale)),
        instant,
    );
    // An answer to an earlier request changes nothing.
    apply(
        &mut model,
        answer::<ReadScale>(&mut late, None::<ProjectScale>),
        instant,
    );
    let zelo = model.open.as_ref().unwrap().standing(0).unwrap().zelo;
    let words = format!(
        "over all queries {}",
        crate::tui::text::signed(zelo + 1.5, 2)
    );
    for size in SIZES {
        let page = shown(&mut model, size);
        assert!(page.contains(&words), "{words} at {size:?}\n{page}");
    }
    assert!(shown(&mut model, (120, 40)).contains("anchors of gpt"));
    let words = model.scale.query_words(&id);
    assert_eq!(words.as_deref(), Some("expected relevant 2.5"));
}
