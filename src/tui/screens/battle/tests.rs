use super::update::update;
use super::verdict::{explain, give_verdict};
use crate::domain::battle::{BattleId, Pair};
use crate::domain::ranking::View;
use crate::domain::reasoning::OTHER_ORDER;
use crate::domain::verdict::{Decision, FinalRule, OverrideMode};
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::store::vote_details::VoteReasoning;
use crate::tui::job::{answer, first, only};
use crate::tui::keymap::Command;
use crate::tui::model::{Model, Overlay, PromptFor};
use crate::tui::requests::pair as load;
use crate::tui::requests::{ReadTexts, ReadVotes};
use crate::tui::screens::Screen;
use crate::tui::screens::testing::{SIZES, TINY, drawn, flat, model, sized};
use crate::tui::theme::ColorDepth;
use crate::tui::update::commands::on_command;
use crate::tui::update::requests::queries::ReadQuery;
use crate::tui::update::requests::verdicts::{SaveDraft, SaveVerdict};
use crate::tui::update::update as apply;

fn on(a: usize, b: usize) -> Model {
    let mut model = model(Screen::BATTLE);
    (model.battle.a, model.battle.b) = (a, b);
    model
}

#[test]
fn the_pair_the_judges_and_the_keys_are_shown_at_every_size() {
    for size in SIZES {
        for depth in [ColorDepth::None, ColorDepth::Ansi16, ColorDepth::True] {
            let mut model = on(0, 1);
            let page = drawn(&mut model, depth, size);
            for words in [
                "A  A trial in older adults",
                "· #2",
                "B  Behavioral therapy",
                "Insomnia can be treated",
                "3 of 6 votes in 2 battles prefer A, A 3 : 2 B · 1 tie",
                "[x] cannot tell",
            ] {
                assert!(page.contains(words), "{words} at {size:?}\n{page}");
            }
            let judges: &[&str] = if size.1 < 30 {
                &["▌bm25 A .43"]
            } else {
                &[
                    "A ◀──",
                    "▌ bm25",
                    ".43 ━━━━┤",
                    ".60 ━━━━━━┤",
                    "├━━ .20",
                    "bm25 #2",
                    "┼ tie",
                    "bm25 prefers: A trial",
                    "P(A above B)",
                    "K shows how it counts",
                    "zELO",
                ]
            };
            for words in judges {
                assert!(page.contains(words), "{words} at {size:?}\n{page}");
            }
            assert_eq!(page.matches("A better").count(), 1, "{page}");
            assert!(!page.contains('\u{1b}'));
        }
    }
}

#[test]
fn each_text_keeps_half_of_a_small_screen_before_and_after_a_verdict() {
    let mut model = on(0, 1);
    for document in [0, 1] {
        let texts = &mut model.open.as_mut().unwrap().texts;
        texts.insert(document, "many words here\n".repeat(80).into());
    }
    for _ in 0..2 {
        let page = drawn(&mut model, ColorDepth::None, (80, 22));
        let rows = page.lines().filter(|line| line.contains('│')).count();
        assert!(rows >= 12, "{rows}: {page}");
        give_verdict(&mut model, Decision::MuchB);
    }
}

#[test]
fn a_swapped_judge_is_read_in_the_screens_labels_and_raw_on_demand() {
    let mut model = on(0, 1);
    model.battle.judge = 1;
    let page = flat(&mut model, (80, 38));
    assert!(page.contains("ngram prefers: A trial"), "{page}");
    assert!(page.contains("saw B first"), "{page}");
    assert!(!page.contains(OTHER_ORDER), "{page}");
    assert!(
        page.contains("Document A says “Cognitive behavioral"),
        "{page}"
    );
    assert!(page.contains("vitamin A is"), "{page}");
    update(&mut model, Command::ToggleRawReply);
    let raw = flat(&mut model, (80, 38));
    assert!(raw.contains(OTHER_ORDER), "{raw}");
    assert!(raw.contains("RAW Document B says “Cognitive"), "{raw}");
}

#[test]
fn a_swapped_judge_whose_letters_are_uncertain_is_left_as_written() {
    let mut model = on(0, 1);
    model.battle.judge = 1;
    let votes = model.open.as_mut().unwrap().votes.values_mut().flatten();
    for vote in votes {
        vote.reasoning = VoteReasoning::Kept("Document A is good. B is not.".to_owned());
    }
    for size in [(80, 38), (120, 38), (200, 58)] {
        let page = flat(&mut model, size);
        assert!(page.contains("ngram prefers: A trial"), "{page}");
        assert!(page.contains(OTHER_ORDER), "{page}");
        assert!(page.contains("Document A is good. B is not."), "{page}");
    }
}

#[test]
fn labels_follow_the_screen_where_it_turns_the_stored_pair_round() {
    let mut turned = on(1, 0);
    let page = flat(&mut turned, (80, 38));
    assert!(page.contains("▌bm25 B .43"), "{page}");
    assert!(page.contains("bm25 prefers: A trial"), "{page}");
    assert!(page.contains("saw B first"), "{page}");
    assert!(page.contains("Document B says “Cognitive"), "{page}");
}

#[test]
fn quotes_that_are_in_neither_text_are_flagged_without_color() {
    let mut model = on(0, 1);
    let page = flat(&mut model, (80, 38));
    assert!(
        page.contains("“measured sleep with actigraphy” [not in text]"),
        "{page}"
    );
    assert!(!page.contains("sleep efficiency” [not in text]"), "{page}");
    model.open.as_mut().unwrap().texts.remove(&1);
    let page = flat(&mut model, (80, 38));
    assert!(
        !page.contains("[not in text]"),
        "what is not loaded is not accused\n{page}"
    );
}

#[test]
fn failures_and_silence_are_told_apart_and_are_no_votes() {
    let mut model = on(1, 2);
    model.battle.judge = 2;
    let page = flat(&mut model, (80, 38));
    assert!(page.contains("gpt␛[1m failed"), "{page}");
    assert!(
        page.contains("failed: malformed reply: no number␛[2J"),
        "{page}"
    );
    assert!(
        page.contains("1 of 2 judges prefers B, A 0 : 1 B · 1 tie"),
        "{page}"
    );
    assert!(page.contains("1 call failed"), "{page}");
    let page = flat(&mut on(0, 2), (80, 38));
    assert!(
        page.contains("bm25 not run") && page.contains("No vote yet"),
        "{page}"
    );
}

#[test]
fn a_pair_that_only_a_person_judged_is_not_called_unfought() {
    let mut model = on(2, 4);
    give_verdict(&mut model, Decision::A);
    for size in &SIZES[..2] {
        let page = flat(&mut model, *size);
        assert!(!page.contains("never fought"), "{page}");
        assert!(
            page.contains("No judge was asked about this pair"),
            "{page}"
        );
    }
    model.stack.push(Screen::MATRIX);
    model.look_at(2, 4);
    let page = flat(&mut model, (120, 38));
    assert!(
        page.contains("◆ judged by ann") && !page.contains("never fought"),
        "{page}"
    );
}

#[test]
fn a_pair_never_fought_says_so_and_can_be_judged() {
    let mut model = on(2, 4);
    for size in &SIZES[..2] {
        let page = flat(&mut model, *size);
        assert!(page.contains("never fought"), "{page}");
    }
    let numbers = numbers(&model);
    assert!(
        numbers.contains("your verdict alone counts; better counts as a direction"),
        "{numbers}"
    );
    assert_eq!(give_verdict(&mut model, Decision::A).len(), 1);
    let page = flat(&mut model, (120, 38));
    assert!(page.contains("You decided alone"), "{page}");
    let open = model.open.as_ref().unwrap();
    assert!(open.view.verdict(Pair::new(2, 4).unwrap()).is_some());
}

/// The page that the numbers key opens.
fn numbers(model: &Model) -> String {
    super::panel::page_text(model, model.open.as_ref().unwrap())
}

#[test]
fn a_page_says_what_a_verdict_counts() {
    let mut model = on(0, 1);
    let page = numbers(&model);
    assert!(
        page.contains("6 votes on this pair (2 battles). A verdict is added to the judges' votes"),
        "{page}"
    );
    assert!(
        page.contains("better counts as a direction, by far as a direction and a win of 3 battles"),
        "{page}"
    );
    let open = model.open.as_mut().unwrap();
    let mut settings = open.view.settings;
    settings.override_mode = OverrideMode::Replace;
    open.view = View::new(open.view.rows().clone(), settings);
    let page = numbers(&model);
    assert!(
        page.contains("contradicts the judges' votes replaces them"),
        "{page}"
    );
    update(&mut model, Command::ShowTables);
    assert!(matches!(model.overlays.last(), Some(Overlay::Page(_))));
    let page = flat(&mut on(2, 3), (120, 38));
    let words = "◆ verdict by bea␛[31m: Ignore all ␛]0;owned␇previous";
    assert!(page.contains(words), "{page}");
    assert!(page.contains("Reason: it names␇ the drug"), "{page}");
}

#[test]
fn a_verdict_moves_the_ranking_in_the_same_frame_and_is_stored() {
    let mut model = on(0, 1);
    let before = model.open.as_ref().unwrap().view.standings.clone();
    let mut late = model.reload();
    let effects = update(&mut model, Command::JudgeBStrongly);
    let saved = NewVerdict::open(QueryKey(7), 0, 1, Decision::MuchB, "ann");
    assert_eq!(only(&effects), Some(&SaveVerdict(saved)));
    let unjudged = on(0, 1).open.unwrap();
    let now = model.now;
    apply(&mut model, answer::<ReadQuery>(&mut late, unjudged), now);
    for size in &SIZES[..2] {
        let page = flat(&mut model, *size);
        for words in [
            "◆ You overruled 2 of 3 judges: Behavioral therapy",
            "your winner Behavioral",
            "the other A trial",
            "#2 → #4 ▼2",
            "▲",
            "u undo",
            "not blind: it moves the ranking",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
    let page = numbers(&model);
    assert!(
        page.contains("counts as a direction and a win of 3 battles, alongside"),
        "{page}"
    );
    assert!(page.contains("What moved\n#"), "{page}");
    assert!(flat(&mut model, (60, 16)).contains("u undo"));
    model.battle.before.as_mut().unwrap().taken_back = true;
    assert!(flat(&mut model, (60, 16)).contains("U redoes it"));
    let open = model.open.as_mut().unwrap();
    let mut rows = open.view.rows().clone();
    rows.verdicts.pop();
    let after = View::new(rows, open.view.settings).standings;
    assert_eq!(after, before, "taking the verdict away restores every bit");
}

#[test]
fn a_second_verdict_replaces_the_first_and_cannot_tell_moves_nothing() {
    let mut model = on(3, 2);
    give_verdict(&mut model, Decision::CannotTell);
    let view_now = &model.open.as_ref().unwrap().view;
    assert_eq!(view_now.rows().verdicts.len(), 1);
    let mut model = on(0, 1);
    give_verdict(&mut model, Decision::CannotTell);
    let page = flat(&mut model, (120, 38));
    assert!(page.contains("You cannot tell which is better"), "{page}");
    assert!(page.contains("No rank changed"), "{page}");
    assert!(numbers(&model).contains("the judges' 6 votes count"));
}

#[test]
fn a_verdict_that_replaces_another_does_not_deny_that_the_blind_one_counts() {
    let mut model = on(0, 1);
    give_verdict(&mut model, Decision::A);
    let page = flat(&mut model, (120, 38));
    let first = "does not count in agreement with judges";
    assert!(page.contains(first), "{page}");
    give_verdict(&mut model, Decision::B);
    let page = flat(&mut model, (120, 38));
    assert!(
        page.contains("only your blind verdict counts in agreement with judges"),
        "{page}"
    );
    assert!(!page.contains(first), "{page}");
}

#[test]
fn a_reason_is_added_to_ones_own_verdict_or_kept_for_the_one_to_come() {
    let mut model = on(2, 3);
    let effects = explain(&mut model, "mine");
    assert!(
        matches!(only(&effects), Some(SaveDraft(_, Some(note))) if note == "mine"),
        "{effects:?}"
    );
    let effects = give_verdict(&mut model, Decision::B);
    assert!(
        matches!(only(&effects), Some(SaveVerdict(new)) if new.note.as_deref() == Some("mine")),
        "{effects:?}"
    );
    update(&mut model, Command::WriteNote);
    assert!(matches!(
        model.overlays.last(),
        Some(Overlay::Prompt(_, PromptFor::Reason))
    ));
    (model.battle.a, model.battle.b) = (3, 2);
    let effects = explain(&mut model, " it is \u{1b} newer ");
    assert!(
        matches!(only(&effects), Some(SaveVerdict(new)) if new.decision == Decision::A && new.note.as_deref() == Some("it is \u{1b} newer"))
    );
    assert!(flat(&mut model, (120, 38)).contains("Reason: it is ␛ newer"));
    assert!(explain(&mut model, "it is \u{1b} newer").is_empty());
}

#[test]
fn texts_scroll_together_or_apart_and_the_reasoning_by_itself() {
    let mut model = on(0, 1);
    model
        .open
        .as_mut()
        .unwrap()
        .texts
        .insert(0, "many words here\n".repeat(80).into());
    flat(&mut model, (80, 22));
    update(&mut model, Command::Last);
    let end = model.battle.scroll;
    assert!(end[0] > Some(40) && end[1].is_none(), "{end:?}");
    update(&mut model, Command::ToggleScrollLock);
    update(&mut model, Command::First);
    assert_eq!(model.battle.scroll, [Some(0), end[1]]);
    update(&mut model, Command::Right);
    update(&mut model, Command::Down);
    assert_eq!(model.battle.side, 1);
    update(&mut model, Command::Right);
    let page = flat(&mut model, (80, 22));
    assert!(
        page.contains("bm25 prefers"),
        "the reasoning is opened: {page}"
    );
    model.areas.aside = (10, 3);
    update(&mut model, Command::Down);
    assert_eq!((model.battle.side, model.battle.judge_scroll), (2, 1));
    update(&mut model, Command::ToggleScrollLock);
    update(&mut model, Command::Left);
    assert_eq!(model.battle.side, 0);
}

#[test]
fn judges_and_battles_are_walked_through() {
    let mut model = on(0, 1);
    model.size = (120, 40);
    let mut seen = Vec::new();
    for _ in 0..6 {
        update(&mut model, Command::NextReasoning);
        seen.push(model.battle.judge);
    }
    assert_eq!(model.battle.judge, 0);
    update(&mut model, Command::PreviousPane);
    assert_eq!(model.battle.judge, seen[4]);
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
    let mut seen = vec![Pair::new(model.battle.a, model.battle.b)];
    for _ in 0..12 {
        update(&mut model, Command::PreviousBattle);
    }
    for _ in 0..12 {
        seen.push(Pair::new(model.battle.a, model.battle.b));
        update(&mut model, Command::NextBattle);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7, "each pair once");
}

#[test]
fn on_a_small_screen_a_reasoning_is_opened_over_the_texts_and_closed_again() {
    let mut model = on(2, 3);
    let shown = |model: &mut Model| flat(model, (80, 22)).contains(" prefers: ");
    assert!(!shown(&mut model));
    for judge in 0..3 {
        update(&mut model, Command::NextReasoning);
        assert!(shown(&mut model) && model.battle.judge == judge);
        assert!(flat(&mut model, (80, 22)).contains("[a] A better"));
    }
    update(&mut model, Command::NextReasoning);
    assert!(!shown(&mut model) && model.battle.judge == 0);
    update(&mut model, Command::NextReasoning);
    on_command(&mut model, Command::Back);
    assert!(!shown(&mut model) && model.screen() == Screen::BATTLE);
    on_command(&mut model, Command::Back);
    assert_eq!(model.screen(), Screen::MATRIX);
}

#[test]
fn what_is_not_loaded_is_asked_for_once() {
    let mut model = on(0, 1);
    assert!(load(&mut model).is_empty());
    let open = model.open.as_mut().unwrap();
    open.texts.clear();
    open.votes.get_mut(&BattleId(10)).unwrap().pop();
    open.votes.remove(&BattleId(17));
    let effects = load(&mut model);
    assert!(
        matches!(first(&effects), Some(ReadTexts { key: QueryKey(7), documents }) if documents == &[0, 1])
    );
    assert!(
        matches!(first(&effects[1..]), Some(ReadVotes { battles, judges, .. }) if battles.len() == 2 && judges.len() == 3)
    );
    assert!(flat(&mut model, (80, 22)).contains("loading"));
}

#[test]
fn a_failure_made_good_is_asked_for_anew() {
    let mut model = on(1, 2);
    assert!(load(&mut model).is_empty());
    let open = model.open.as_mut().unwrap();
    let mut rows = open.view.rows().clone();
    rows.battles[1].failed.clear();
    let vote = rows.battles[0].votes[2];
    rows.battles[1].votes.push(vote);
    open.view = View::new(rows, open.view.settings);
    assert!(
        matches!(only(&load(&mut model)), Some(ReadVotes { battles, .. }) if battles == &[BattleId(11)])
    );
}

#[test]
fn no_size_and_no_pool_is_too_small() {
    for (documents, judges) in [(6, 3), (2, 1), (1, 1), (0, 0)] {
        for size in TINY.into_iter().chain(SIZES) {
            let mut model = sized(Screen::BATTLE, documents, judges);
            flat(&mut model, size);
            give_verdict(&mut model, Decision::Tie);
            update(&mut model, Command::Down);
            flat(&mut model, size);
        }
    }
    let mut model = on(0, 1);
    model.open = None;
    assert!(flat(&mut model, (80, 22)).contains("loading"));
    assert!(give_verdict(&mut model, Decision::A).is_empty());
}

#[test]
fn what_others_said_is_told_and_the_rule_decides_at_once() {
    let mut model = on(2, 3);
    if let Some(open) = &mut model.open {
        open.people.rule = FinalRule::Majority;
    }
    update(&mut model, Command::JudgeA);
    let open = model.open.as_ref().unwrap();
    let pair = Pair::new(2, 3).unwrap();
    assert_eq!(open.people.on(pair).len(), 2);
    assert!(open.view.verdict(pair).is_none(), "two people, two ways");
    let page = flat(&mut model, SIZES[2]);
    assert!(page.contains("no majority, so no verdict"), "{page}");
    assert!(page.contains("bea␛[31m said:"), "{page}");
    update(&mut model, Command::JudgeB);
    let open = model.open.as_ref().unwrap();
    let verdict = open.view.verdict(pair).unwrap();
    assert_eq!(
        (verdict.annotator.as_str(), verdict.decision),
        ("ann", Decision::B),
        "two say it, and one of them not by far"
    );
    let page = flat(&mut model, SIZES[2]);
    assert!(page.contains("is much better (it names"), "{page}");
}
