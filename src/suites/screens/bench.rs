//! The bundled sample, judged, with its screens drawn without a terminal.

use super::{SIZES, name, snapshot};
use crate::app::annotate::{RunHandle, RunRequest};
use crate::app::judge_report::report::rater_report;
use crate::app::pick::run::{PickSession, PickTask, PoolAt, ShownPool, call_id, run};
use crate::app::status;
use crate::client::RunControl;
use crate::domain::adjudication::PickRequest;
use crate::formats::dataset;
use crate::judge::{JudgeQuestion, offline};
use crate::store::Store;
use crate::tui::drawing::Caches;
use crate::tui::job::Workbench;
use crate::tui::message::{Effect, Msg};
use crate::tui::model::{Model, TuiOptions};
use crate::tui::theme::{ColorDepth, Ramp, Theme};
use crate::tui::update::requests::runs::Estimate;
use crate::tui::update::update;
use crate::tui::view::view;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tempfile::TempDir;

pub(crate) const SCIFACT: &[u8] = include_bytes!("../../../data/scifact.jsonl");

/// The file of a project with the bundled claims, after `work`.
fn made(work: impl FnOnce(Store)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("overrule.db");
    let store = Store::open(&path).unwrap();
    for pool in dataset::read_pools(SCIFACT, "scifact.jsonl") {
        let pool = pool.unwrap();
        store
            .write_blocking(move |db| db.add_pool(&pool, "scifact"))
            .unwrap();
    }
    work(store);
    // Merge the log into the file, and fix the latency of calls, the only value that differs
    // between runs.
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE vote SET latency_ms = 0.1; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    std::fs::read(&path).unwrap()
}

fn block_on(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work);
}

async fn judge(store: Store) {
    let run = RunHandle::start(
        store,
        offline::ensemble(),
        RunRequest::default(),
        RunControl::default(),
    );
    assert_eq!(run.end.await.unwrap().unwrap().missing, Some(0));
}

async fn pick(store: Store) {
    let labels = store.read(|db| db.labels()).await.unwrap();
    let ensemble = offline::ensemble();
    let mut tasks = Vec::new();
    for pool in dataset::read_pools(SCIFACT, "scifact.jsonl") {
        let pool = pool.unwrap();
        let grades = &labels[&pool.query.id];
        let wanted = grades.values().filter(|grade| **grade > 0).count();
        let ask = PickRequest::Exactly(wanted);
        let order: Arc<[usize]> = (0..pool.documents.len()).collect();
        let shown = ShownPool::new(&pool, &order, ask);
        let pool = Arc::new(pool);
        for (judge_index, judge) in ensemble.iter().enumerate() {
            let prompt = judge.prompt(JudgeQuestion::Pool(&shown.lineup));
            tasks.push(PickTask {
                seat: judge_index,
                query: pool.query.id.clone(),
                permutation: 1,
                order: Arc::clone(&order),
                call: call_id(judge.spec(), &prompt),
                pool: PoolAt::Loaded(Arc::clone(&pool)),
                ask,
                asked: 0,
            });
        }
    }
    let (_steer, control) = tokio::sync::watch::channel(RunControl::default());
    let session = PickSession {
        store: store.clone(),
        ensemble,
        control,
    };
    let (events, _ended) = tokio::sync::mpsc::unbounded_channel();
    run(session, tasks, events).await.unwrap();
}

/// A judged project and a model that shows it; effects are carried out immediately.
pub(crate) struct Bench {
    _folder: TempDir,
    pub(crate) store: Store,
    pub(crate) model: Model,
    pub(crate) theme: Theme,
    start: Instant,
    caches: Caches,
    size: (u16, u16),
}

impl Bench {
    /// The bundled claims with all their votes, and the cached numbers of each query.
    pub(crate) fn judged(columns: u16, rows: u16) -> Self {
        static PROJECT: OnceLock<Vec<u8>> = OnceLock::new();
        let project = PROJECT.get_or_init(|| {
            made(|store| {
                block_on(judge(store.clone()));
                rater_report(&store, None).unwrap();
                status::summaries(&store).unwrap();
            })
        });
        Self::over(project, columns, rows)
    }

    /// The bundled claims without any vote.
    pub(crate) fn unjudged(columns: u16, rows: u16) -> Self {
        static PROJECT: OnceLock<Vec<u8>> = OnceLock::new();
        let project = PROJECT.get_or_init(|| made(drop));
        Self::over(project, columns, rows)
    }

    /// The bundled claims with the picks of the offline judges.
    pub(crate) fn picked(columns: u16, rows: u16) -> Self {
        static PROJECT: OnceLock<Vec<u8>> = OnceLock::new();
        let project = PROJECT.get_or_init(|| made(|store| block_on(pick(store))));
        Self::over(project, columns, rows)
    }

    fn over(project: &[u8], columns: u16, rows: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("overrule.db");
        std::fs::write(&path, project).unwrap();
        let store = Store::open(&path).unwrap();
        let options = TuiOptions {
            annotator: "ana".to_owned(),
            project: "sample".to_owned(),
            ..TuiOptions::default()
        };
        let start = Instant::now();
        let mut bench = Self {
            _folder: folder,
            store,
            model: Model::new(options, Ramp::default(), (columns, rows), start),
            theme: Theme::new(ColorDepth::True, false),
            start,
            caches: Caches::default(),
            size: (columns, rows),
        };
        let list = bench.model.list();
        bench.carry_out(vec![list]);
        bench.draw();
        bench
    }

    /// Presses keys: single characters, or `enter`, `esc`, `tab`, `down`, `up`, `left`, `right`,
    /// `space`, `backspace`.
    pub(crate) fn press(&mut self, keys: &str) {
        for name in keys.split(' ') {
            self.press_undrawn(name);
            self.draw();
        }
    }

    /// Presses a key without drawing a frame.
    pub(crate) fn press_undrawn(&mut self, name: &str) {
        let effects = update(&mut self.model, Msg::Key(Self::key(name)), self.start);
        self.carry_out(effects);
    }

    /// Compares the screen with its snapshot at each size, and returns to the smallest.
    pub(crate) fn snapshots(&mut self, of: &str) {
        for size in SIZES.into_iter().rev() {
            self.size = size;
            self.tell(Msg::Resize(size.0, size.1));
            snapshot(name(of, size), self.shot());
        }
    }

    /// A key by its name.
    pub(crate) fn key(name: &str) -> KeyEvent {
        if let Some(letter) = name.strip_prefix("ctrl-") {
            let code = KeyCode::Char(letter.chars().next().unwrap());
            return KeyEvent::new(code, KeyModifiers::CONTROL);
        }
        let code = match name {
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "tab" => KeyCode::Tab,
            "down" => KeyCode::Down,
            "up" => KeyCode::Up,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "space" => KeyCode::Char(' '),
            "backspace" => KeyCode::Backspace,
            other => KeyCode::Char(other.chars().next().unwrap()),
        };
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    /// Presses `y`; the text that it copies, and the message about it.
    pub(crate) fn copied(&mut self) -> (String, String) {
        let effects = update(&mut self.model, Msg::Key(Self::key("y")), self.start);
        let text = effects.into_iter().find_map(|effect| match effect {
            Effect::Copy(text) => Some(text),
            _ => None,
        });
        let toast = self.model.toast.as_ref();
        let words = toast.map_or(String::new(), |toast| toast.text.clone());
        (text.unwrap_or_default(), words)
    }

    /// Delivers a message.
    pub(crate) fn tell(&mut self, msg: Msg) {
        let effects = update(&mut self.model, msg, self.start);
        self.carry_out(effects);
        self.draw();
    }

    /// Draws a frame.
    pub(crate) fn draw(&mut self) -> Buffer {
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        let mut buffer = Buffer::empty(area);
        let theme = Theme {
            ramp: self.model.ramp,
            ..self.theme
        };
        self.model.areas = view(&self.model, &theme, area, &mut buffer, &mut self.caches);
        buffer
    }

    /// The terminal's content, with styles.
    pub(crate) fn shot(&mut self) -> String {
        self.model.toast = None;
        styled(&self.draw())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let Effect::Job(job) = effect else { continue };
            // Tests say what a run costs.
            if job.request::<Estimate>().is_some() {
                continue;
            }
            let (store, options) = (self.store.clone(), self.model.options.clone());
            let workbench = Workbench::new(store, offline::ensemble(), options);
            for msg in job.run_here(&workbench) {
                let effects = update(&mut self.model, msg, self.start);
                self.carry_out(effects);
            }
        }
    }
}

/// The characters of a screen, then every run of cells with a non-default style.
pub(crate) fn styled(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut text = String::new();
    for y in 0..area.height {
        let line: String = (0..area.width).map(|x| buffer[(x, y)].symbol()).collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push_str("styles:\n");
    let style = |x: u16, y: u16| {
        let cell = &buffer[(x, y)];
        let mut words = String::new();
        for (name, color) in [("fg", cell.fg), ("bg", cell.bg)] {
            if color != Color::Reset {
                let _ = write!(words, " {name}={color}");
            }
        }
        if cell.modifier != Modifier::empty() {
            let _ = write!(words, " {:?}", cell.modifier);
        }
        words
    };
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let (start, words) = (x, style(x, y));
            while x < area.width && style(x, y) == words {
                x += 1;
            }
            if !words.is_empty() {
                let _ = writeln!(text, "{y}:{start}-{}{words}", x - 1);
            }
        }
    }
    text
}
