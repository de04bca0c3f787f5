//! Measures the time from a key press until its frame is ready for the terminal. Random keys in the
//! matrix, in battles and in the queue of a project of 100,000 battles with 200 documents per query,
//! and of one with 500, go through the update, the view and the diff to the previous frame, in
//! bytes, at 200×60. The project's response to a key arrives in a later message and is drawn in
//! another frame; it is listed separately. Last, each order of the queue is chosen: the time until
//! the frame with its pairs, including reading them from the project.
//!
//! `cargo bench --features internals --bench keys [-- PROJECT]`; without a project it judges one
//! first, for about a minute.

#![allow(clippy::unwrap_used, reason = "a bench may fail")]

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use overrule::internals::{
    Caches, ColorDepth, Effect, Model, Msg, Ramp, SeededRng, Store, Theme, TuiOptions, answer,
    update, view,
};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

const KEYS: usize = 2_000;
/// Number of times that another order is chosen, each several times.
const ORDERS: usize = 60;
const SIZE: (u16, u16) = (200, 60);
/// Queries, documents and cycles: 100,000 battles, and large matrices.
const PROJECTS: [(usize, usize, usize); 2] = [(250, 200, 2), (8, 500, 10)];
/// What the interface may take for a frame.
const FRAME: Duration = Duration::from_millis(16);

/// Where keys are pressed, how one gets there, and the keys: all that neither leave the screen nor
/// write.
const SCREENS: [(&str, &[&str], &[&str]); 3] = [
    (
        "matrix",
        &["m"],
        &[
            "down", "up", "left", "right", "g", "G", "pgdn", "pgup", "n", "N", "v", "V", "o", "z",
            "E", "T", "tab", "c",
        ],
    ),
    (
        "battle",
        &["m", "n", "enter"],
        &["n", "N", "down", "up", "pgdn", "pgup", "f", "tab", "e", "|"],
    ),
    (
        "queue",
        &["w", "P"],
        &["down", "up", "g", "G", "pgdn", "pgup", "o", "O"],
    ),
];

fn main() {
    let named = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    if let Some(project) = named {
        return measure(Path::new(&project));
    }
    for size in PROJECTS {
        println!("{} queries of {} documents", size.0, size.1);
        let folder = tempfile::tempdir().unwrap();
        measure(&judged(folder.path(), size));
    }
}

fn measure(project: &Path) {
    let store = Store::open(project).unwrap();
    store.refresh_priorities(&mut |_| {}).unwrap();
    for (name, way, keys) in SCREENS {
        let mut session = Session::new(store.clone());
        way.iter().for_each(|key| session.press(key));
        (session.keys, session.answers) = (Vec::new(), Vec::new());
        session.written.set(0);
        let mut rng = SeededRng::new(5, &[name]);
        (0..KEYS).for_each(|_| session.press(keys[rng.below(keys.len())]));
        println!(
            "{name}, {KEYS} keys, {} bytes each",
            session.written.get() / KEYS
        );
        tell("key to frame", &mut session.keys);
        tell("answer to frame", &mut session.answers);
    }
    let mut session = Session::new(store);
    ["w", "P"].iter().for_each(|key| session.press(key));
    let mut orders: Vec<Duration> = (0..ORDERS)
        .map(|_| {
            let began = Instant::now();
            session.press("o");
            began.elapsed()
        })
        .collect();
    println!("queue, another order, bound 30 ms");
    tell("key to the frame with its pairs", &mut orders);
}

fn judged(folder: &Path, (queries, documents, cycles): (usize, usize, usize)) -> PathBuf {
    let mut rng = SeededRng::new(1, &["words"]);
    let mut lines = String::new();
    for query in 0..queries {
        let mut words = |count: usize| {
            let words: Vec<String> = (0..count)
                .map(|_| format!("w{}", rng.below(2_000)))
                .collect();
            words.join(" ")
        };
        let _ = write!(
            lines,
            "{{\"query\": {{\"id\": \"q{query}\", \"query\": \"{}\"}}, \"documents\": [",
            words(4)
        );
        for document in 0..documents {
            let comma = if document > 0 { ", " } else { "" };
            let _ = write!(
                lines,
                "{comma}{{\"id\": \"q{query}d{document}\", \"content\": \"{}\"}}",
                words(40)
            );
        }
        lines.push_str("]}\n");
    }
    std::fs::write(folder.join("in.jsonl"), lines).unwrap();
    let project = folder.join("overrule.db");
    let done = Command::new(env!("CARGO_BIN_EXE_overrule"))
        .args([
            "--project",
            "overrule.db",
            "annotate",
            "in.jsonl",
            "out.jsonl",
        ])
        .args(["--judges", "bm25", "--yes", "--cycles", &cycles.to_string()])
        .env("HOME", folder)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(done.success());
    project
}

/// Counts the bytes that a terminal would get.
struct Counter(Rc<Cell<usize>>);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The workbench without a terminal: what it would write goes nowhere.
struct Session {
    store: Store,
    model: Model,
    terminal: Terminal<CrosstermBackend<Counter>>,
    theme: Theme,
    caches: Caches,
    keys: Vec<Duration>,
    answers: Vec<Duration>,
    written: Rc<Cell<usize>>,
}

impl Session {
    fn new(store: Store) -> Self {
        let options = TuiOptions::default();
        let model = Model::new(options, Ramp::default(), SIZE, Instant::now());
        let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
        let written = Rc::new(Cell::new(0));
        let backend = CrosstermBackend::new(Counter(Rc::clone(&written)));
        let mut session = Self {
            store,
            model,
            terminal: Terminal::with_options(backend, TerminalOptions { viewport }).unwrap(),
            theme: Theme::new(ColorDepth::True, false),
            caches: Caches::default(),
            keys: Vec::new(),
            answers: Vec::new(),
            written,
        };
        let list = session.model.list();
        session.carry_out(vec![list]);
        session
    }

    fn press(&mut self, name: &str) {
        let code = match name {
            "enter" => KeyCode::Enter,
            "tab" => KeyCode::Tab,
            "down" => KeyCode::Down,
            "up" => KeyCode::Up,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "pgdn" => KeyCode::PageDown,
            "pgup" => KeyCode::PageUp,
            other => KeyCode::Char(other.chars().next().unwrap()),
        };
        let (effects, took) = self.tell(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        self.keys.push(took);
        self.carry_out(effects);
    }

    /// Takes a message in and draws; what is to be done, and how long that took.
    fn tell(&mut self, msg: Msg) -> (Vec<Effect>, Duration) {
        let began = Instant::now();
        let effects = update(&mut self.model, msg, began);
        let theme = Theme {
            ramp: self.model.ramp,
            ..self.theme
        };
        let (model, caches) = (&self.model, &mut self.caches);
        let mut areas = model.areas;
        self.terminal
            .draw(|frame| areas = view(model, &theme, frame.area(), frame.buffer_mut(), caches))
            .unwrap();
        self.model.areas = areas;
        (effects, began.elapsed())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            for msg in answer(&self.store, effect, &self.model.options) {
                let (effects, took) = self.tell(msg);
                self.answers.push(took);
                self.carry_out(effects);
            }
        }
    }
}

fn tell(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| times.get(((times.len() - 1) as f64 * share) as usize);
    if let (Some(half), Some(most), Some(last)) = (at(0.5), at(0.99), times.last()) {
        println!(
            "  {what}: p50 {half:.2?}, p99 {most:.2?}, max {last:.2?} of {}; {} above {FRAME:?}",
            times.len(),
            times.iter().filter(|time| **time > FRAME).count()
        );
    }
}
