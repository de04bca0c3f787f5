//! The workbench: one event loop in which input comes first, with at most one frame per sixteen
//! milliseconds, and none if nothing has changed.

pub(crate) mod canvas;
pub(crate) mod clipboard;
pub mod drawing;
pub mod effects;
pub(crate) mod fuzzy;
pub mod job;
mod key_gate;
pub mod keymap;
pub(crate) mod layout;
pub mod model;
pub(crate) mod navigation;
pub(crate) mod panes;
pub(crate) mod requests;
pub mod screens;
pub(crate) mod service;
mod signals;
pub(crate) mod slot;
pub mod terminal;
mod terminal_events;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod text;
pub mod theme;
pub(crate) mod tour;
#[cfg(not(feature = "remote"))]
pub(crate) mod unsynchronized;
pub mod update;
pub mod view;
pub(crate) mod widgets;

use crate::app::import::typed_path;
use crate::app::text_editor::{Draft, EditedText, EditorFailure, TextEditor};
use crate::config::ScreenConfig;
use crate::domain::number_words::counted;
use crate::judge::JudgeEnsemble;
use crate::judge::provider::calls_in_flight;
use crate::registry;
use crate::store::Store;
use crossterm::event::{Event, KeyEvent, KeyEventKind};
use drawing::Caches;
use effects::{Finish, Runner};
pub use job::message;
use key_gate::{KeyGate, PAUSE};
use message::{Effect, Msg};
use model::{Model, Start, TuiOptions};
use signals::{Request, Signals};
use std::path::PathBuf;
use std::pin::pin;
use std::time::{Duration, Instant};
use terminal::{Background, ReplyFilter, TerminalGuard, detect_background, detect_depth};
use terminal_events::TerminalEvents;
use theme::{ColorDepth, Ramp, Theme};
use tokio::sync::mpsc;
use update::verdict_state::use_of;

/// Minimum time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// Maximum number of queued messages.
const BACKLOG: usize = 1024;

/// Why the workbench could not start or continue.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// The terminal failed.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] std::io::Error),
    /// A setting is invalid.
    #[error("configuration: screen.{name}: {message}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// The reason.
        message: String,
    },
    /// Someone did not wait for this number of calls in flight.
    #[error("quit at once: {0} in flight dropped, and their cost is unknown")]
    CallsDropped(String),
    /// Someone did not wait for pending writes.
    #[error("quit at once: data that was still being written may not be in the project")]
    LeftAtOnce,
}

/// Opens the workbench on a project and returns when the user leaves, with the path of the project
/// to open next, if any.
pub fn run(
    store: Store,
    ensemble: JudgeEnsemble,
    options: TuiOptions,
    screen: &ScreenConfig,
) -> Result<Option<PathBuf>, TuiError> {
    let depth = detect_depth(setting("color", &screen.color)?);
    let ramp: Ramp = setting("ramp", &screen.ramp)?.unwrap_or_default();
    let flag = match screen.theme.as_str() {
        "auto" => None,
        "dark" => Some(Background::Dark),
        "light" => Some(Background::Light),
        other => {
            let message = format!("{other:?}: expected auto, dark or light");
            return Err(TuiError::Setting {
                name: "theme",
                message,
            });
        }
    };
    let light = detect_background(flag) == Background::Light;
    let theme = Theme { depth, light, ramp };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let (results, inbox) = mpsc::channel(BACKLOG);
    let panics = results.clone();
    terminal::install_panic_hook(move |panic| {
        let words = format!(
            "a task failed ({}): {} at {}",
            panic.thread, panic.message, panic.location
        );
        drop(panics.try_send(Msg::Failed(words)));
    });
    let mut signals = {
        let _context = runtime.enter();
        Signals::new()?
    };
    let mut guard = TerminalGuard::enter(depth, screen.mouse)?;
    let size = guard.size()?;
    let runner = Runner::new(store, ensemble, options.clone(), results);
    let mut model = Model::new(options, ramp, size, Instant::now());
    // On a screen such as a duel, no judges are asked, and the note would cover its keys.
    if !model.options.note.is_empty() && model.options.start == Start::Queries {
        let note = model.options.note.clone();
        model.inform(&note);
    }
    let app = App {
        model,
        theme,
        runner,
        caches: Caches::default(),
        gate: KeyGate::default(),
        replies: ReplyFilter::default(),
        drawn: Instant::now() - FRAME,
        dirty: true,
        leaving: false,
        edited: None,
        parting: Parting::default(),
    };
    let (end, mut runner, parting) = runtime.block_on(app.go(&mut guard, &mut signals, inbox));
    // Restore the terminal before waiting for anything.
    let stalled = !terminal::restore().unwrap_or(true);
    if stalled && !matches!(end, Ok(Some(_))) {
        terminal::silence();
    }
    drop(guard);
    parting.files.iter().for_each(|line| print_line(line));
    let finish = runtime.block_on(runner.finish(signals.insists(), &mut print_line));
    if finish == Finish::Stored {
        for name in &parting.unsaved {
            print_line(&format!(
                "your changes to the {name} are not lost: its editor opens with them next time"
            ));
        }
    }
    let calls = calls_in_flight();
    // Do not wait for computations in progress.
    runtime.shutdown_background();
    if finish != Finish::Insisted {
        runner.close();
        return end;
    }
    runner.leave();
    Err(match calls {
        0 => TuiError::LeftAtOnce,
        calls => TuiError::CallsDropped(counted(calls, "call")),
    })
}

/// Prints a message after the interface is gone, unless the terminal accepts no output.
pub fn print_line(line: &str) {
    terminal::print_line(&crate::domain::sanitize::line(line));
}

/// Parses a setting that may be `auto`.
fn setting<T: std::str::FromStr<Err: std::fmt::Display>>(
    name: &'static str,
    value: &str,
) -> Result<Option<T>, TuiError> {
    if value == "auto" {
        return Ok(None);
    }
    value
        .parse()
        .map(Some)
        .map_err(|error: T::Err| TuiError::Setting {
            name,
            message: error.to_string(),
        })
}

/// A text to open in an editor.
struct TextToEdit {
    editor: TextEditor,
    text: String,
    is_guideline: bool,
}

struct App {
    model: Model,
    theme: Theme,
    runner: Runner,
    caches: Caches,
    gate: KeyGate,
    replies: ReplyFilter,
    drawn: Instant,
    dirty: bool,
    leaving: bool,
    /// A text to open in the user's editor.
    edited: Option<TextToEdit>,
    parting: Parting,
}

/// What becomes of the texts that were being edited when the workbench had to end.
#[derive(Default)]
struct Parting {
    /// Messages about files that hold them.
    files: Vec<String>,
    /// The names of those that are stored for the next session.
    unsaved: Vec<String>,
}

impl App {
    /// Runs until the user leaves, and returns the work that remains to be completed and what to
    /// tell the user afterwards.
    async fn go(
        mut self,
        guard: &mut TerminalGuard,
        signals: &mut Signals,
        inbox: mpsc::Receiver<Msg>,
    ) -> (Result<Option<PathBuf>, TuiError>, Runner, Parting) {
        let end = match self.until_left(guard, signals, inbox).await {
            // Closing the terminal means leaving.
            Err(TuiError::Terminal(error)) if terminal::is_loss(&error) => Ok(()),
            end => end,
        };
        // If the person quit, everything is already stored; a signal or a lost terminal comes
        // without a question.
        let before = self.model.remembered.unsaved.clone();
        for effect in update::leaving::keep_all(&mut self.model) {
            self.runner.carry_out(effect, self.model.run.control);
        }
        let unsaved = self.model.unsaved.iter();
        let new = unsaved.filter(|(name, text)| before.get(*name) != Some(text));
        self.parting.unsaved = new.map(|(name, _)| name.clone()).collect();
        let next = self.model.next_project;
        if next.is_some() {
            // Remove this project's content from the screen before the next one is opened.
            drop(guard.redraw());
        }
        let next = next.map(|path| typed_path(&path));
        (end.map(|()| next), self.runner, self.parting)
    }

    async fn until_left(
        &mut self,
        guard: &mut TerminalGuard,
        signals: &mut Signals,
        mut inbox: mpsc::Receiver<Msg>,
    ) -> Result<(), TuiError> {
        let mut keys = TerminalEvents::start()?;
        let mut gone = pin!(terminal_events::gone());
        let mut first = vec![self.model.list(), Effect::Watch];
        first.extend(self.model.find_servers());
        if let Start::Row(screen, key) = self.model.options.start {
            first.extend(registry::screen(screen).open_row(&mut self.model, key));
        }
        self.carry_out(first, guard, &mut keys)?;
        #[cfg(debug_assertions)]
        panic_on_request("worker");
        loop {
            if let Some(text) = self.edited.take() {
                self.edit(text, guard, signals, &mut keys).await?;
            }
            // Check this before `is_lost`: if the terminal is lost after this point, `written`
            // completes.
            let writing = !terminal::is_idle();
            if self.leaving || terminal::is_lost() {
                break;
            }
            let (held, wake) = (self.gate.due(), self.wake_at());
            tokio::select! {
                biased;
                request = signals.next() => match request {
                    Request::End => break,
                    Request::Stop => self.stop(guard, &mut keys)?,
                    Request::Continue => self.resume(guard, &mut keys)?,
                },
                () = &mut gone => break,
                batch = keys.next(), if !keys.is_stopped() => {
                    let Some(batch) = batch.transpose()? else { break };
                    for event in batch.events {
                        self.take(event, batch.at, guard, &mut keys)?;
                    }
                },
                // Poll this after the keys, so that no key that followed the held one is still
                // waiting to be read.
                () = sleep_until(held), if held.is_some() => {
                    if let Some(key) = self.gate.release(Instant::now()) {
                        self.handle(Msg::Key(key), guard, &mut keys)?;
                    }
                },
                msg = inbox.recv() => if let Some(msg) = msg {
                    self.handle(msg, guard, &mut keys)?;
                    while let Ok(msg) = inbox.try_recv() {
                        self.handle(msg, guard, &mut keys)?;
                    }
                },
                written = terminal::written(), if writing => written?,
                () = sleep_until(wake), if wake.is_some() => {
                    if !self.dirty {
                        self.handle(Msg::Tick, guard, &mut keys)?;
                    }
                }
            }
            if self.can_draw() && self.drawn.elapsed() >= FRAME {
                self.draw(guard)?;
            }
        }
        Ok(())
    }

    /// Whether a frame is due and can be drawn: the terminal is ours and has accepted the previous
    /// frame.
    fn can_draw(&self) -> bool {
        self.dirty && terminal::is_active() && terminal::is_idle()
    }

    /// Gives the terminal back and stops the process, as SIGTSTP requests.
    fn stop(
        &mut self,
        guard: &mut TerminalGuard,
        keys: &mut TerminalEvents,
    ) -> Result<(), TuiError> {
        self.model.suspended.get_or_insert(Instant::now());
        // Keys typed in the shell must not be read here.
        keys.stop();
        Ok(guard.stop()?)
    }

    /// Sets up the terminal again after the process was stopped, including by SIGSTOP.
    fn resume(
        &mut self,
        guard: &mut TerminalGuard,
        keys: &mut TerminalEvents,
    ) -> Result<(), TuiError> {
        guard.resume()?;
        if keys.is_stopped() {
            *keys = TerminalEvents::start()?;
        }
        self.model.size = guard.size()?;
        self.model.resume(Instant::now());
        self.dirty = true;
        Ok(())
    }

    /// Lends the terminal to the user's editor until it exits. Runs and reads continue, and their
    /// answers are shown when the editor has ended.
    async fn edit(
        &mut self,
        wanted: TextToEdit,
        guard: &mut TerminalGuard,
        signals: &mut Signals,
        keys: &mut TerminalEvents,
    ) -> Result<(), TuiError> {
        let TextToEdit {
            editor,
            text: before,
            is_guideline,
        } = wanted;
        let word = if is_guideline { "guideline" } else { "prompt" };
        self.model.suspended.get_or_insert(Instant::now());
        // The editor reads the keys from now on.
        keys.stop();
        terminal::restore()?;
        let edited = match Draft::create(&before, word) {
            Ok(draft) => self.wait_for_editor(&editor, draft, signals).await,
            Err(failure) => Err(failure),
        };
        self.resume(guard, keys)?;
        let msg = if is_guideline {
            Msg::GuidelineEdited { before, edited }
        } else {
            Msg::Edited(edited)
        };
        self.handle(msg, guard, keys)
    }

    /// Runs the editor. It is stopped together with this process, and ended if this process must
    /// end.
    async fn wait_for_editor(
        &mut self,
        editor: &TextEditor,
        draft: Draft,
        signals: &mut Signals,
    ) -> Result<EditedText, EditorFailure> {
        let command = tokio::process::Command::from(editor.command(&draft))
            .kill_on_drop(true)
            .spawn();
        let exit = match command {
            Err(error) => Err(error),
            Ok(mut child) => loop {
                tokio::select! {
                    exit = child.wait() => break exit,
                    request = signals.next() => match request {
                        Request::Stop => if let Err(error) = terminal::stop_process() {
                            break Err(error);
                        },
                        Request::Continue => {}
                        Request::End => {
                            self.leaving = true;
                            let failure = draft.kept("the editor was ended");
                            let kept = failure.draft.is_some();
                            self.parting.files.extend(kept.then(|| failure.kept_words()));
                            return Err(failure);
                        }
                    },
                }
            },
        };
        draft.after(editor, exit)
    }

    /// When something is due without an event: the next frame, the end of a toast, or the verdict
    /// keys, which work again shortly after typing.
    fn wake_at(&self) -> Option<Instant> {
        let frame = self.can_draw().then(|| self.drawn + FRAME);
        let toast = self.model.toast.as_ref().map(|toast| toast.until);
        let typed = self.model.typed.map(|typed| typed + PAUSE);
        let typed = typed.filter(|until| self.model.now < *until);
        frame.into_iter().chain(toast).chain(typed).min()
    }

    /// Takes an event of the terminal that was read at `at`.
    fn take(
        &mut self,
        event: Event,
        at: Instant,
        guard: &mut TerminalGuard,
        keys: &mut TerminalEvents,
    ) -> Result<(), TuiError> {
        match event {
            Event::Key(key) => self.press(key, at, guard, keys),
            Event::Paste(text) => self.handle(Msg::Paste(text), guard, keys),
            Event::Resize(columns, rows) => self.handle(Msg::Resize(columns, rows), guard, keys),
            Event::Mouse(mouse) => self.handle(Msg::Mouse(mouse), guard, keys),
            Event::FocusGained | Event::FocusLost => Ok(()),
        }
    }

    fn press(
        &mut self,
        key: KeyEvent,
        at: Instant,
        guard: &mut TerminalGuard,
        keys: &mut TerminalEvents,
    ) -> Result<(), TuiError> {
        if key.kind == KeyEventKind::Release || self.replies.swallows(key, at) {
            return Ok(());
        }
        let passed = self.gate.press(key, at, use_of(&self.model, key));
        for key in passed.keys {
            self.handle(Msg::Key(key), guard, keys)?;
        }
        if passed.is_text {
            self.handle(Msg::TextAsKeys, guard, keys)?;
        }
        Ok(())
    }

    fn handle(
        &mut self,
        msg: Msg,
        guard: &mut TerminalGuard,
        keys: &mut TerminalEvents,
    ) -> Result<(), TuiError> {
        self.dirty = true;
        let effects = update::update(&mut self.model, msg, Instant::now());
        self.carry_out(effects, guard, keys)
    }

    fn carry_out(
        &mut self,
        effects: Vec<Effect>,
        guard: &mut TerminalGuard,
        keys: &mut TerminalEvents,
    ) -> Result<(), TuiError> {
        for effect in effects {
            match effect {
                Effect::Quit => self.leaving = true,
                Effect::Redraw => guard.redraw()?,
                Effect::Edit(text) => {
                    let editor = self.model.options.editor.clone();
                    self.edited = editor.map(|editor| TextToEdit {
                        editor,
                        text,
                        is_guideline: false,
                    });
                }
                // The signal goes to the whole job, this process included.
                Effect::Suspend => {
                    if !terminal::ask_to_stop()? {
                        self.resume(guard, keys)?;
                    }
                }
                Effect::Copy(text) => {
                    guard.write(crossterm::clipboard::CopyToClipboard::to_clipboard_from(
                        text,
                    ))?;
                }
                Effect::EditGuideline(text) => self.edit_guideline(text),
                effect => self.runner.carry_out(effect, self.model.run.control),
            }
        }
        Ok(())
    }

    /// Opens the guideline in the person's editor.
    fn edit_guideline(&mut self, text: String) {
        let editor = self.model.options.editor.clone();
        self.edited = editor.map(|editor| TextToEdit {
            editor,
            text,
            is_guideline: true,
        });
    }

    fn draw(&mut self, guard: &mut TerminalGuard) -> Result<(), TuiError> {
        let theme = Theme {
            ramp: self.model.ramp,
            light: self.model.theme.light().unwrap_or(self.theme.light),
            ..self.theme
        };
        let (model, caches) = (&self.model, &mut self.caches);
        let mut areas = model.areas;
        guard.draw(|frame| {
            #[cfg(debug_assertions)]
            panic_on_request("screen");
            areas = view::view(model, &theme, frame.area(), frame.buffer_mut(), caches);
            if let Some(caret) = areas.caret {
                frame.set_cursor_position(caret);
            }
        })?;
        self.model.areas = areas;
        self.drawn = Instant::now();
        self.dirty = false;
        Ok(())
    }
}

/// Panics at the place named by `OVERRULE_PANIC`, in test builds, to check that the terminal is
/// restored.
#[cfg(debug_assertions)]
#[allow(clippy::panic)]
fn panic_on_request(place: &str) {
    if std::env::var("OVERRULE_PANIC").is_ok_and(|wanted| wanted == place) {
        match place {
            "worker" => drop(tokio::spawn(async { panic!("asked to panic in a worker") })),
            _ => panic!("asked to panic while drawing"),
        }
    }
}

async fn sleep_until(at: Option<Instant>) {
    tokio::time::sleep_until(at.unwrap_or_else(Instant::now).into()).await;
}

/// The name of a color depth, for `doctor`.
pub fn depth_name(depth: ColorDepth) -> &'static str {
    match depth {
        ColorDepth::None => "none",
        ColorDepth::Ansi16 => "16 colors",
        ColorDepth::Ansi256 => "256 colors",
        ColorDepth::True => "true color",
    }
}
