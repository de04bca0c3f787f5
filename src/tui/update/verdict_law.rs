//! The invariant of verdicts: none is given without a verdict key pressed in the verdict state, and
//! none on another pair or document.

use super::{results, update};
use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::domain::adjudication::Finding;
use crate::domain::battle::Pair;
use crate::domain::sampling::SeededRng;
use crate::domain::verdict::Decision;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::tui::job::{asked, only, tell_that};
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::message::{Effect, Msg};
use crate::tui::model::{Model, Overlay, Subject};
use crate::tui::screens::Screen;
use crate::tui::screens::ruling::jobs::SaveRuling;
use crate::tui::screens::{queue, review, ruling, testing};
use crate::tui::update::requests::verdicts::SaveVerdict;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of key sequences to try from each screen.
const SEQUENCES: usize = 500;
/// Number of keys, pastes and answers in a sequence.
const LENGTH: usize = 12;
/// Number of sequences per model, since creating a model costs more than running them.
const REUSED: usize = 50;

#[derive(Clone, Debug)]
enum Event {
    Key(KeyEvent),
    Paste(&'static str),
    /// A verdict is on disk.
    Stored,
    NotStored,
    /// The queue has been recomputed, or texts arrive.
    Queued,
    Texts,
    Evidence,
}

fn one_of<T: Clone>(rng: &mut SeededRng, all: &[T]) -> T {
    all[rng.below(all.len())].clone()
}

fn letter(rng: &mut SeededRng, keys: &str) -> Event {
    let keys: Vec<char> = keys.chars().collect();
    Event::Key(KeyEvent::from(KeyCode::Char(one_of(rng, &keys))))
}

fn event(rng: &mut SeededRng) -> Event {
    const NAMED: [KeyCode; 5] = [
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::Backspace,
        KeyCode::Down,
    ];
    match rng.below(20) {
        0..4 => letter(rng, "abtxAB1234"),
        4..7 => letter(rng, "/:?iM"),
        7..12 => letter(
            rng,
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 $!|@[]+-=",
        ),
        12..16 => Event::Key(KeyEvent::from(one_of(rng, &NAMED))),
        16 => {
            let code = KeyCode::Char(one_of(rng, &['c', 'r', 'u', 'd', 'l']));
            Event::Key(KeyEvent::new(code, KeyModifiers::CONTROL))
        }
        17 => Event::Paste(one_of(rng, &["lamb", "a\nb", "131", "t"])),
        _ => one_of(
            rng,
            &[
                Event::Stored,
                Event::NotStored,
                Event::Queued,
                Event::Texts,
                Event::Evidence,
            ],
        ),
    }
}

fn message(event: &Event, model: &Model) -> Msg {
    match event {
        Event::Key(key) => Msg::Key(*key),
        Event::Paste(text) => Msg::Paste((*text).to_owned()),
        Event::Stored => tell_that(|model| results::saved(model, QueryKey(7), None)),
        Event::NotStored => {
            let (a, b) = (model.battle.a, model.battle.b);
            let new = NewVerdict::open(QueryKey(7), a, b, Decision::Tie, "ann");
            tell_that(move |model| results::not_saved(model, &new, "the disk is full"))
        }
        Event::Queued => {
            let items = model.queue.items.clone();
            let stats = AnnotatorStatistics::default();
            tell_that(|model| queue::update::queued(model, items, stats))
        }
        Event::Texts => tell_that(|model| {
            let texts = vec![(0, Arc::from("lamb and mutton"))];
            model.show_texts(QueryKey(7), texts)
        }),
        Event::Evidence => ruling::tests::arrived(ruling::tests::evidence("5912283")),
    }
}

/// A model on one of the screens where verdicts are given, or on the way to one.
fn start(which: usize) -> Model {
    match which {
        0 => testing::sized(Screen::BATTLE, 3, 1),
        1 => review::tests::reviewing(),
        2 => ruling::tests::current(),
        3 => testing::sized(Screen::DOCUMENT, 3, 1),
        4 => testing::sized(Screen::MATRIX, 3, 1),
        _ => {
            // Texts that have not been loaded.
            let mut model = testing::sized(Screen::BATTLE, 3, 1);
            if let Some(open) = &mut model.open {
                open.texts.clear();
            }
            model
        }
    }
}

/// The decision of a verdict key, independent of the screens' code.
fn decision(command: Command) -> Option<Decision> {
    Some(match command {
        Command::JudgeA => Decision::A,
        Command::JudgeAStrongly => Decision::MuchA,
        Command::JudgeB => Decision::B,
        Command::JudgeBStrongly => Decision::MuchB,
        Command::JudgeTie => Decision::Tie,
        Command::CannotTell => Decision::CannotTell,
        _ => return None,
    })
}

fn finding(command: Command) -> Option<Finding> {
    Some(match command {
        Command::RuleRelevant => Finding::Relevant,
        Command::RulePartially => Finding::Partially,
        Command::RuleNot => Finding::Not,
        Command::RuleCannotTell => Finding::CannotTell,
        _ => return None,
    })
}

/// A decision from the point of view of the pair's first document.
fn oriented(pair: Pair, a: usize, decision: Decision) -> Decision {
    if a == pair.low() {
        decision
    } else {
        decision.flipped()
    }
}

#[derive(Default)]
struct Pressed {
    verdicts: HashMap<(QueryKey, Pair), Decision>,
    rulings: HashMap<(QueryKey, String), Finding>,
    /// When a line was last accepted, or when the last key that belongs to it came: keys belong to
    /// it until there is a pause.
    accepted: Option<Instant>,
}

impl Pressed {
    /// Records a verdict key pressed in the verdict state, when no overlay is open and no search is
    /// active.
    fn note(&mut self, model: &Model, key: KeyEvent) {
        let now = model.now;
        let soon = |accepted| now.duration_since(accepted) < Duration::from_millis(150);
        if self.accepted.is_some_and(soon) {
            self.accepted = Some(now);
            return;
        }
        if !model.overlays.is_empty() || model.search.is_some() {
            return;
        }
        let command = keymap::resolve(Scope::Screen(model.screen()), key);
        let (Some(command), Some(subject)) = (command, model.subject()) else {
            return;
        };
        match subject {
            Subject::Pair(query, pair) => {
                if let Some(decision) = decision(command) {
                    let decision = oriented(pair, model.battle.a, decision);
                    self.verdicts.insert((query, pair), decision);
                }
            }
            Subject::Document(query, document) => {
                if let Some(finding) = finding(command) {
                    self.rulings.insert((query, document.to_string()), finding);
                }
            }
        }
    }

    fn allows(&self, effect: &Effect) -> bool {
        let effect = std::slice::from_ref(effect);
        if let Some(SaveVerdict(new)) = only(effect) {
            Pair::new(new.a, new.b).is_some_and(|pair| {
                let said = self.verdicts.get(&(new.query, pair));
                said == Some(&oriented(pair, new.a, new.decision))
            })
        } else if let Some(SaveRuling(new)) = only(effect) {
            let about = (new.query, new.document.to_string());
            self.rulings.get(&about) == Some(&new.finding)
        } else {
            true
        }
    }
}

/// Runs a sequence.
fn obeys(model: &mut Model, pressed: &mut Pressed, events: &[(Event, u64)]) {
    for (at, (event, wait)) in events.iter().enumerate() {
        let now = model.now + Duration::from_millis(*wait);
        let typed_into = |model: &Model| model.overlays.last().is_some_and(Overlay::is_typed_into);
        let typing = typed_into(model);
        let screen = model.screen();
        if let Event::Key(key) = event {
            model.now = now;
            pressed.note(model, *key);
        }
        let msg = message(event, model);
        let effects = update(model, msg, now);
        let is_enter = matches!(event, Event::Key(key) if key.code == KeyCode::Enter);
        if is_enter && typing && !typed_into(model) {
            pressed.accepted = Some(now);
        }
        for effect in &effects {
            assert!(
                pressed.allows(effect),
                "{effect:?} on {screen:?} after {:?}",
                &events[..=at]
            );
        }
        let typed = matches!(event, Event::Key(key) if key.modifiers.is_empty()
            && matches!(key.code, KeyCode::Char(_)));
        assert!(
            !(typing && typed && decides(&effects)),
            "typed into a prompt: {:?}",
            &events[..=at]
        );
    }
}

fn tried(sequences: usize) {
    for which in 0..6 {
        let mut rng = SeededRng::new(which as u64, &["keys"]);
        let mut model = start(which);
        let mut pressed = Pressed::default();
        let stack = model.stack.clone();
        for sequence in 0..sequences {
            let events: Vec<(Event, u64)> = (0..LENGTH)
                .map(|_| (event(&mut rng), rng.below(400) as u64))
                .collect();
            obeys(&mut model, &mut pressed, &events);
            let decided = matches!(which, 1 | 2) && model.subject().is_none();
            if sequence % REUSED == REUSED - 1 || decided {
                model = start(which);
                pressed = Pressed::default();
            } else if model.stack.len() < stack.len() {
                model.stack.clone_from(&stack);
            }
        }
    }
}

#[test]
fn no_verdict_without_a_verdict_key_in_the_verdict_state() {
    tried(SEQUENCES);
}

/// The same with 10⁵ sequences: `cargo test --lib verdict_law -- --ignored`.
#[test]
#[ignore = "takes a minute or two"]
fn no_verdict_without_a_verdict_key_in_a_hundred_thousand_sequences() {
    tried(17_000);
}

fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let now = model.now;
    let keys = keys.chars().map(|c| match c {
        '\n' => KeyEvent::from(KeyCode::Enter),
        '\u{1b}' => KeyEvent::from(KeyCode::Esc),
        c => KeyEvent::from(KeyCode::Char(c)),
    });
    keys.flat_map(|key| update(model, Msg::Key(key), now))
        .collect()
}

fn decides(effects: &[Effect]) -> bool {
    asked::<SaveVerdict>(effects).is_some() || asked::<SaveRuling>(effects).is_some()
}

#[test]
fn words_that_are_searched_are_no_verdict_while_typed_and_while_lit() {
    for which in 0..3 {
        let mut model = start(which);
        let after_a_pause = |model: &mut Model, keys| {
            model.now += Duration::from_secs(1);
            press(model, keys)
        };
        assert!(!decides(&press(&mut model, "/therapy\nab")));
        let effects = after_a_pause(&mut model, "abtxAB1234nNab");
        assert!(!decides(&effects), "{effects:?}");
        let search = model.search.as_ref().unwrap();
        assert!(search.found.len() > 1 || which == 2, "{search:?}");
        // Without a match, the search stays active until it is ended, so typed keys still give no
        // verdict.
        assert!(!decides(&press(&mut model, "/zzz\n")));
        let effects = after_a_pause(&mut model, "ab131");
        assert!(!decides(&effects) && model.search.is_some());
        let effects = press(&mut model, "\u{1b}");
        assert!(!decides(&effects) && model.search.is_none());
        model.now += Duration::from_secs(1);
        let key = keymap::key_name(
            match which {
                2 => Command::RuleRelevant,
                _ => Command::JudgeA,
            },
            Scope::Screen(model.screen()),
        );
        assert!(decides(&press(&mut model, &key)));
    }
}

#[test]
fn a_reason_may_be_written_first_and_goes_with_the_verdict() {
    for which in 0..3 {
        let mut model = start(which);
        assert!(!decides(&press(&mut model, "ibad dose\n")));
        // A second pasted line gives no verdict.
        assert!(!decides(&press(&mut model, "ab")));
        model.now += Duration::from_secs(1);
        let key = match which {
            2 => keymap::key_name(Command::RuleNot, Scope::Screen(Screen::RULING)),
            _ => "b".to_owned(),
        };
        let effects = press(&mut model, &key);
        let note = match asked(&effects) {
            Some(SaveVerdict(new)) => new.note.clone(),
            None => asked(&effects).and_then(|SaveRuling(new)| new.note.clone()),
        };
        assert_eq!(note.as_deref(), Some("bad dose"), "{effects:?}");
    }
}

#[test]
fn the_palette_tells_the_key_of_a_verdict_and_gives_none() {
    let mut model = start(0);
    assert!(!decides(&press(&mut model, ":judge-tie\n")));
    let toast = model.toast.as_ref().unwrap();
    assert!(toast.text.contains("press t"), "{toast:?}");
}

#[test]
fn no_verdict_is_given_on_a_text_that_is_not_in_sight() {
    let mut model = start(5);
    assert!(!decides(&press(&mut model, "abtxAB")));
}

#[test]
fn a_key_that_is_held_down_decides_once() {
    let mut model = start(0);
    let mut key = KeyEvent::from(KeyCode::Char('a'));
    key.kind = crossterm::event::KeyEventKind::Repeat;
    let now = model.now;
    assert!(!decides(&update(&mut model, Msg::Key(key), now)));
    assert!(decides(&press(&mut model, "a")));
    assert!(
        !decides(&press(&mut model, "a")),
        "the same verdict is not stored twice"
    );
}
