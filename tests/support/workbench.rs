//! The bundled sample, judged, and the screens drawn from it without a terminal.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use overrule::engine::{RunControl, RunHandle, RunRequest};
use overrule::formats::dataset;
use overrule::judge::offline;
use overrule::store::Store;
use overrule::tui::drawing::Caches;
use overrule::tui::effects::answer;
use overrule::tui::message::{Effect, Msg};
use overrule::tui::model::{Model, TuiOptions};
use overrule::tui::theme::{ColourDepth, Ramp, Theme};
use overrule::tui::update::update;
use overrule::tui::view::view;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use std::fmt::Write as _;
use std::time::Instant;
use tempfile::TempDir;

pub(crate) const SCIFACT: &[u8] = include_bytes!("../../data/scifact.jsonl");

/// A judged project and a model looking at it; effects are carried out at once.
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
    /// The bundled claims with all their votes.
    pub(crate) fn judged(columns: u16, rows: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("overrule.db")).unwrap();
        for pool in dataset::read_pools(SCIFACT, "scifact.jsonl") {
            let pool = pool.unwrap();
            store
                .write_blocking(move |db| db.add_pool(&pool, "scifact"))
                .unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let judge = store.clone();
        runtime.block_on(async move {
            let run = RunHandle::start(
                judge,
                offline::ensemble(),
                RunRequest::default(),
                RunControl::default(),
            );
            assert_eq!(run.end.await.unwrap().unwrap().missing, Some(0));
        });
        // How long a call took is the one thing that differs from run to run.
        let project = rusqlite::Connection::open(folder.path().join("overrule.db")).unwrap();
        project
            .execute("UPDATE vote SET latency_ms = 0.1", [])
            .unwrap();
        Self::over(folder, store, columns, rows)
    }

    /// The bundled claims with the picks of the offline judges.
    pub(crate) fn picked(columns: u16, rows: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let picked = std::process::Command::new(env!("CARGO_BIN_EXE_overrule"))
            .args([
                "pick",
                concat!(env!("CARGO_MANIFEST_DIR"), "/data/scifact.jsonl"),
            ])
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .output()
            .unwrap();
        assert!(picked.status.success(), "{picked:?}");
        let store = Store::open(&folder.path().join("overrule.db")).unwrap();
        Self::over(folder, store, columns, rows)
    }

    fn over(folder: TempDir, store: Store, columns: u16, rows: u16) -> Self {
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
            theme: Theme::new(ColourDepth::True, false),
            start,
            caches: Caches::default(),
            size: (columns, rows),
        };
        bench.carry_out(vec![Effect::List]);
        bench.draw();
        bench
    }

    /// Presses keys: single characters, or `enter`, `esc`, `tab`, `down`, `up`, `left`, `right`.
    pub(crate) fn press(&mut self, keys: &str) {
        for name in keys.split(' ') {
            let code = match name {
                "enter" => KeyCode::Enter,
                "esc" => KeyCode::Esc,
                "tab" => KeyCode::Tab,
                "down" => KeyCode::Down,
                "up" => KeyCode::Up,
                "left" => KeyCode::Left,
                "right" => KeyCode::Right,
                "space" => KeyCode::Char(' '),
                other => KeyCode::Char(other.chars().next().unwrap()),
            };
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            let effects = update(&mut self.model, Msg::Key(key), self.start);
            self.carry_out(effects);
            self.draw();
        }
    }

    /// Lets something happen.
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

    /// What the terminal would show, and in which styles.
    pub(crate) fn shot(&mut self) -> String {
        self.model.toast = None;
        styled(&self.draw())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let annotator = self.model.options.annotator.clone();
            let answered = self
                .store
                .write_blocking(move |db| answer(db, effect, &annotator, 0))
                .unwrap();
            if let Some(msg) = answered {
                let effects = update(&mut self.model, msg, self.start);
                self.carry_out(effects);
            }
        }
    }
}

/// The characters of a screen, then every run of cells whose style is not the terminal's own.
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
        for (name, colour) in [("fg", cell.fg), ("bg", cell.bg)] {
            if colour != Color::Reset {
                let _ = write!(words, " {name}={colour}");
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
