//! The invariant of a duel: no answer is given without its own key in the right state, whatever is
//! pressed, clicked or stored meanwhile.

use super::commands;
use super::jobs::{OpenDuelOf, ReadResult, ReadTaskTexts, StoreEvent};
use super::update::{FoundDuel, opened};
use crate::app::log::rows::LogRow;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sampling::SeededRng;
use crate::features::duel::app::{DuelSession, TaskTexts};
use crate::features::duel::domain::{
    Action, Content, Duel, DuelDocument, DuelEvent, DuelForm, DuelQuery, Source, Task, schedule,
};
use crate::features::duel::store::{DuelKey, NewDuelEvent};
use crate::tui::job::{answer, asked, every, fail, first, only, tell_that};
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::message::{Effect, Msg};
use crate::tui::model::{Model, Overlay, TuiOptions};
use crate::tui::screens::{Screen, testing};
use crate::tui::theme::{ColorDepth, Ramp};
use crate::tui::update::commands::on_command;
use crate::tui::update::requests::pages::ReadLog;
use crate::tui::update::{offers, update};
use crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const FORMS: [DuelForm; 3] = [DuelForm::Grid, DuelForm::Lists, DuelForm::Interleaved];
const QUERIES: usize = 6;

fn duel(form: DuelForm) -> Duel {
    let documents = |query: usize| {
        let one = |at: usize| DuelDocument {
            document: DocId::new(format!("d{query}-{at}")),
            source: match at {
                8 => Source::EasyNegative,
                at if at % 2 == 0 => Source::TopOfA,
                _ => Source::TopOfB,
            },
            rank_a: Some(at + 1),
            rank_b: Some(9 - at),
        };
        (0..9).map(one).collect()
    };
    let queries = (0..QUERIES).map(|query| DuelQuery {
        query: QueryId::new(format!("q{query}")),
        documents: documents(query),
        depth: 4,
        shortfall: String::new(),
    });
    Duel {
        form,
        a: "bm25".to_owned(),
        b: "hybrid".to_owned(),
        top: 4,
        seed: 3,
        controls: true,
        level: 1,
        queries: queries.collect(),
    }
}

fn texts(task: &Task) -> TaskTexts {
    let documents: Vec<DocId> = match &task.content {
        Content::Places(places) => places
            .iter()
            .filter_map(|place| place.document.clone())
            .collect(),
        Content::Lists { lists, .. } => lists.iter().flatten().cloned().collect(),
    };
    let text = |id: &DocId| {
        let text =
            format!("Title of {id}\n\nTherapy helps. It improves sleep. Document {id} ends here.");
        (id.clone(), text)
    };
    TaskTexts {
        query: "does therapy improve sleep".to_owned(),
        texts: documents.iter().map(text).collect(),
        titles: BTreeMap::new(),
    }
}

/// The store, as seen by the screen.
#[derive(Default)]
struct Disk {
    waiting: Vec<(NewDuelEvent, Vec<Effect>)>,
    stored: u64,
}

impl Disk {
    /// Stores the oldest pending event, or fails to.
    fn answer(&mut self, fails: bool) -> Option<Msg> {
        if self.waiting.is_empty() {
            return None;
        }
        let (new, mut effects) = self.waiting.remove(0);
        if fails {
            return Some(fail::<StoreEvent>(&mut effects, "the disk is full"));
        }
        self.stored += 1;
        let event = DuelEvent {
            uid: format!("{:08}", self.stored),
            participant: new.annotator,
            kind: new.kind,
            query: new.query,
            action: new.action,
            active_ms: new.active_ms,
            created_ms: 1,
        };
        Some(answer::<StoreEvent>(&mut effects, event))
    }
}

/// The session of a participant without answers.
fn session(form: DuelForm, annotator: &str, number: usize) -> DuelSession {
    let duel = duel(form);
    DuelSession {
        key: DuelKey(1),
        tasks: schedule(&duel, number),
        duel,
        annotator: annotator.to_owned(),
        number,
        events: Vec::new(),
    }
}

struct Bench {
    model: Model,
    disk: Disk,
}

impl Bench {
    fn new(form: DuelForm) -> Self {
        let options = TuiOptions {
            annotator: "ana".to_owned(),
            ..TuiOptions::default()
        };
        let mut model = Model::new(options, Ramp::default(), (100, 30), Instant::now());
        model.stack.push(Screen::DUEL);
        let session = session(form, "ana", 0);
        let mut bench = Self {
            model,
            disk: Disk::default(),
        };
        let now = bench.model.now;
        let found = FoundDuel::Session(Box::new(session));
        bench.tell(tell_that(|model| opened(model, Ok(found))), now);
        bench
    }

    /// Delivers a message; returns what was sent to the disk.
    fn tell(&mut self, msg: Msg, now: Instant) -> Vec<NewDuelEvent> {
        let mut recorded = Vec::new();
        for effect in update(&mut self.model, msg, now) {
            let mut effects = vec![effect];
            let asked = first::<ReadTaskTexts>(&effects).map(|ReadTaskTexts(task)| texts(task));
            if let Some(texts) = asked {
                self.tell(answer::<ReadTaskTexts>(&mut effects, texts), now);
            } else if let Some(StoreEvent { new, .. }) = first(&effects) {
                recorded.push(new.clone());
                self.disk.waiting.push((new.clone(), effects));
            }
        }
        testing::drawn(&mut self.model, ColorDepth::None, (100, 28));
        recorded
    }

    fn press(&mut self, keys: &str) -> Vec<Action> {
        let mut actions = Vec::new();
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                '\t' => KeyCode::Tab,
                '\u{8}' => KeyCode::Backspace,
                key => KeyCode::Char(key),
            };
            let now = self.model.now + Duration::from_secs(1);
            let recorded = self.tell(Msg::Key(KeyEvent::from(code)), now);
            actions.extend(recorded.into_iter().map(|new| new.action));
            while let Some(msg) = self.disk.answer(false) {
                self.tell(msg, now);
            }
        }
        actions.retain(Action::decides);
        actions
    }
}

#[test]
fn another_participant_gets_tasks_and_answers_of_their_own() {
    for form in FORMS {
        let mut bench = Bench::new(form);
        let (first, next) = match form {
            DuelForm::Lists => ("a", 'b'),
            DuelForm::Grid | DuelForm::Interleaved => (" \n", ' '),
        };
        assert_eq!(bench.press(first).len(), 1);
        bench.model.options.asks_name = true;
        let now = bench.model.now + Duration::from_secs(1);
        let clear = KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL);
        let keys = [KeyEvent::from(KeyCode::Char(next)), clear];
        let name = "bea".chars().map(|key| KeyEvent::from(KeyCode::Char(key)));
        for key in keys.into_iter().chain(name) {
            assert_eq!(update(&mut bench.model, Msg::Key(key), now), []);
        }
        let effects = update(
            &mut bench.model,
            Msg::Key(KeyEvent::from(KeyCode::Enter)),
            now,
        );
        // What is pending belongs to the first participant, then the tasks of the second one are
        // opened.
        let events = every(&effects);
        assert!(
            events
                .iter()
                .all(|StoreEvent { new, .. }| new.annotator == "ana")
        );
        assert!(effects.contains(&Effect::Rename("bea".to_owned())));
        let open = OpenDuelOf(Some(DuelKey(1)));
        assert_eq!(asked(&effects), Some(&open), "{effects:?}");
        assert_eq!(bench.model.screen(), Screen::DUEL);
        assert!(bench.model.duel().open().is_none());
        // The session of the first participant arrives late.
        let found = |annotator: &str, number| {
            let session = session(form, annotator, number);
            tell_that(move |model| opened(model, Ok(FoundDuel::Session(Box::new(session)))))
        };
        let effects = update(&mut bench.model, found("ana", 0), now);
        assert_eq!(asked(&effects), Some(&open));
        bench.tell(found("bea", 1), now);
        assert!(bench.model.duel().open().unwrap().answer().is_none());
        let now = now + Duration::from_secs(1);
        let key = KeyEvent::from(KeyCode::Char(next));
        let recorded = bench.tell(Msg::Key(key), now);
        assert_eq!(recorded.len(), 1);
        assert_eq!(recorded[0].annotator, "bea");
    }
}

/// The answer that a key may give in the current state, derived from what is on screen and
/// independently of the screen's code.
fn allowed(model: &Model, key: KeyEvent) -> Option<Action> {
    let open = model.duel().open()?;
    let screen = model.screen();
    let in_sight = open.task_cards().is_some() && !open.paused && open.tasks_cursor.is_none();
    if !model.overlays.is_empty() || !in_sight || key.kind != KeyEventKind::Press {
        return None;
    }
    let command = keymap::resolve(Scope::Screen(screen), key)?;
    let choosing = open.form() != DuelForm::Lists;
    let document = match screen {
        Screen::DUEL => open.card()?.document.clone(),
        Screen::PASSAGE => open.reading.as_ref()?.document.clone(),
        _ => return None,
    };
    let passage = open.reading.as_ref().and_then(|reading| reading.passage());
    match (screen, command) {
        (_, commands::CHOOSE_WHOLE) if choosing => Some(Action::Select {
            document,
            passage: None,
        }),
        (_, commands::REMOVE_CHOICE) if choosing => Some(Action::Unselect { document }),
        (Screen::PASSAGE, Command::Open) if choosing => Some(Action::Select {
            document,
            passage: Some(passage?),
        }),
        (Screen::DUEL, commands::NONE_SERVES) if choosing => Some(Action::NoneServes),
        (Screen::DUEL, commands::FINISH_TASK) => Some(Action::Finish),
        (Screen::DUEL, commands::PREFER_LEFT_STRONGLY) => Some(Action::Prefer { step: -2 }),
        (Screen::DUEL, commands::PREFER_LEFT) => Some(Action::Prefer { step: -1 }),
        (Screen::DUEL, commands::PREFER_NEITHER) => Some(Action::Prefer { step: 0 }),
        (Screen::DUEL, commands::PREFER_RIGHT) => Some(Action::Prefer { step: 1 }),
        (Screen::DUEL, commands::PREFER_RIGHT_STRONGLY) => Some(Action::Prefer { step: 2 }),
        _ => None,
    }
    .filter(|action| !matches!(action, Action::Prefer { .. }) || !choosing)
}

fn event(rng: &mut SeededRng) -> Msg {
    const KEYS: &str = " 0.123456789abtABnNpKhjklgG(){}uU/:?rMcyvx";
    const NAMED: [KeyCode; 7] = [
        KeyCode::Enter,
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::Backspace,
        KeyCode::Down,
        KeyCode::Right,
    ];
    let keys: Vec<char> = KEYS.chars().collect();
    let pick = |rng: &mut SeededRng, count: usize| rng.below(count);
    match rng.below(20) {
        0..11 => {
            let mut key = KeyEvent::from(KeyCode::Char(keys[pick(rng, keys.len())]));
            if rng.below(12) == 0 {
                key.kind = KeyEventKind::Repeat;
            }
            Msg::Key(key)
        }
        11..17 => Msg::Key(KeyEvent::from(NAMED[pick(rng, NAMED.len())])),
        17 => Msg::Paste("space 0 . enter".to_owned()),
        _ => Msg::Mouse(MouseEvent {
            kind: match rng.below(3) {
                0 => MouseEventKind::Drag(MouseButton::Left),
                1 => MouseEventKind::ScrollDown,
                _ => MouseEventKind::Down(MouseButton::Left),
            },
            column: rng.below(100) as u16,
            row: rng.below(30) as u16,
            modifiers: KeyModifiers::NONE,
        }),
    }
}

#[test]
fn no_answer_without_its_key_in_the_right_state() {
    let mut given = BTreeMap::<&str, usize>::new();
    for (which, form) in FORMS.into_iter().enumerate() {
        let mut rng = SeededRng::new(which as u64, &["duel keys"]);
        for _ in 0..30 {
            let mut bench = Bench::new(form);
            for _ in 0..120 {
                if bench.model.screen() == Screen::QUERIES {
                    break;
                }
                let msg = event(&mut rng);
                let now = bench.model.now + Duration::from_millis(200 + rng.below(900) as u64);
                let may = match &msg {
                    Msg::Key(key) => allowed(&bench.model, *key),
                    _ => None,
                };
                let told = format!("{msg:?} on {:?}", bench.model.screen());
                let recorded = bench.tell(msg, now);
                for new in recorded.into_iter().filter(|new| new.action.decides()) {
                    assert_eq!(Some(&new.action), may.as_ref(), "{told}");
                    *given.entry(name(&new.action)).or_default() += 1;
                }
                if rng.below(3) > 0 {
                    let fails = rng.below(10) == 0;
                    while let Some(msg) = bench.disk.answer(fails) {
                        bench.tell(msg, now);
                    }
                }
            }
        }
    }
    // An invariant that was never exercised proves nothing.
    for action in ["select", "passage", "unselect", "none", "prefer", "finish"] {
        assert!(given.contains_key(action), "{action}: {given:?}");
    }
}

fn name(action: &Action) -> &'static str {
    match action {
        Action::Select { passage: None, .. } => "select",
        Action::Select { .. } => "passage",
        Action::Unselect { .. } => "unselect",
        Action::NoneServes => "none",
        Action::Prefer { .. } => "prefer",
        Action::Finish => "finish",
        _ => "other",
    }
}

#[test]
fn typed_words_choose_nothing() {
    let mut bench = Bench::new(DuelForm::Grid);
    for command in ["choose-whole", "none-serves", "finish-task"] {
        assert_eq!(bench.press(&format!(":{command}\n")), [], "{command}");
        // A command that is not available now leaves the palette open.
        bench.model.overlays.clear();
    }
    bench.press("\n");
    assert_eq!(bench.model.screen(), Screen::PASSAGE);
    assert_eq!(bench.press(":open\n"), []);
    assert_eq!(bench.press("\n").len(), 1);
}

#[test]
fn what_is_not_on_disk_is_not_shown_as_stored() {
    let mut bench = Bench::new(DuelForm::Grid);
    let now = bench.model.now + Duration::from_secs(1);
    bench.tell(Msg::Key(KeyEvent::from(KeyCode::Char(' '))), now);
    let shot = testing::flat(&mut bench.model, (100, 28));
    assert!(shot.contains("◌") && shot.contains("storing …"), "{shot}");
    assert!(!shot.contains("chosen"), "{shot}");
    let msg = bench.disk.answer(true).unwrap();
    bench.tell(msg, now);
    let shot = testing::flat(&mut bench.model, (100, 28));
    assert!(!shot.contains("◌") && !shot.contains('●'), "{shot}");
    bench.press(" ");
    let shot = testing::flat(&mut bench.model, (100, 28));
    assert!(
        shot.contains('●') && shot.contains("1 document chosen"),
        "{shot}"
    );
}

#[test]
fn a_pause_hides_everything_and_stops_the_clock() {
    let mut bench = Bench::new(DuelForm::Grid);
    bench.press("3\n");
    bench.press("p");
    let shot = testing::flat(&mut bench.model, (100, 28));
    for hidden in ["Title of", "Therapy", "sleep"] {
        assert!(!shot.contains(hidden), "{hidden}: {shot}");
    }
    assert_eq!(bench.press(" \n0.\u{8}1"), []);
    bench.model.now += Duration::from_secs(30);
    bench.press("p \u{1b}");
    let events = &bench.model.duel().open().unwrap().session.events;
    let active: i64 = events.iter().map(|event| event.active_ms).sum();
    // Three seconds before the pause; after it, the key that resumes restarts the clock.
    assert_eq!(active, 5_000, "{events:?}");
}

#[test]
fn a_click_moves_and_opens_and_chooses_nothing() {
    let mut bench = Bench::new(DuelForm::Grid);
    let list = bench.model.areas.list;
    let down = |column: u16, row: u16| {
        Msg::Mouse(MouseEvent {
            kind: MouseEventKind::Down(MouseButton::Left),
            column,
            row,
            modifiers: KeyModifiers::NONE,
        })
    };
    let now = bench.model.now;
    let (column, row) = (list.right() - 2, list.bottom() - 1);
    bench.tell(down(column, row), now);
    assert_eq!(bench.model.duel().open().unwrap().cursor, 8);
    bench.tell(down(column, row), now);
    assert_eq!(bench.model.screen(), Screen::PASSAGE);
    let text = bench.model.areas.list;
    let mark = |bench: &Bench| {
        let open = bench.model.duel().open().unwrap();
        open.reading.as_ref().unwrap().mark.clone()
    };
    let before = mark(&bench);
    bench.tell(down(text.x + 20, text.y + 2), now);
    let one = mark(&bench);
    assert_ne!(one, before);
    let drag = MouseEvent {
        kind: MouseEventKind::Drag(MouseButton::Left),
        column: text.x + 45,
        row: text.y + 2,
        modifiers: KeyModifiers::NONE,
    };
    bench.tell(Msg::Mouse(drag), now);
    assert!(mark(&bench).end > one.end, "{one:?} {:?}", mark(&bench));
    let events = bench.disk.waiting.iter();
    assert_eq!(events.filter(|(new, _)| new.action.decides()).count(), 0);
}

#[test]
fn the_result_is_asked_for_before_the_end_and_shown_after_it() {
    let mut bench = Bench::new(DuelForm::Grid);
    bench.press("K");
    assert!(matches!(
        bench.model.overlays.last(),
        Some(Overlay::Confirm(..))
    ));
    bench.press("n");
    assert!(!bench.model.duel().open().unwrap().has_seen_result());
    for _ in 0..2 * QUERIES {
        bench.press("0.");
    }
    assert!(bench.model.duel().open().unwrap().all_done());
    let Some(Overlay::Page(_)) = bench.model.overlays.last() else {
        panic!("no summary: {:?}", bench.model.overlays);
    };
    bench.press("\u{1b}");
    let now = bench.model.now;
    let key = Msg::Key(KeyEvent::from(KeyCode::Char('K')));
    let effects = update(&mut bench.model, key, now);
    let Some(StoreEvent { new, .. }) = first(&effects) else {
        panic!("{effects:?}");
    };
    assert_eq!(only(&effects[1..]), Some(&ReadResult(DuelKey(1))));
    assert_eq!(new.action, Action::Reveal);
}

#[test]
fn the_log_stays_closed_until_the_end() {
    let mut bench = Bench::new(DuelForm::Grid);
    assert!(!offers::offers(&bench.model, Command::ShowLog));
    assert_eq!(on_command(&mut bench.model, Command::ShowLog), []);
    let now = bench.model.now;
    let mut log = bench.model.read_log();
    let log = answer::<ReadLog>(&mut log, Vec::<LogRow>::new());
    update(&mut bench.model, log, now);
    assert!(bench.model.overlays.is_empty());
}
