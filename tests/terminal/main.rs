//! The real binary in a real pseudo-terminal: it starts, walks, overrules, and gives the terminal
//! back clean.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod adjudication;
mod duel;
mod exports;
#[path = "../support/fake_provider.rs"]
mod fake_provider;
mod init;
mod leaving;
mod permissions;
mod prompts;
mod review;
mod sampling;
mod signals;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

struct Terminal {
    parser: vt100::Parser,
    output: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Told to the reader: no more is read, and its end of the terminal goes too.
    closing: Arc<AtomicBool>,
    /// Told to the reader: nothing is read as long as this is set.
    held: Arc<AtomicBool>,
}

impl Terminal {
    fn start(
        folder: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
        size: (u16, u16),
    ) -> Self {
        let pair = native_pty_system()
            .openpty(PtySize {
                rows: size.1,
                cols: size.0,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_overrule"));
        command.args(arguments);
        command.cwd(folder);
        command.env_clear();
        for (name, value) in [
            ("TERM", "xterm-256color"),
            ("COLORTERM", "truecolor"),
            ("HOME", folder.to_str().unwrap()),
            ("USER", "ana"),
            (
                "OVERRULE_CONFIG",
                folder.join("config.toml").to_str().unwrap(),
            ),
        ] {
            command.env(name, value);
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        // The background is told, so that nobody is asked and nobody has to answer.
        std::fs::write(
            folder.join("config.toml"),
            "[screen]\ntheme = \"dark\"\n[run]\ndemo_pace = 0.0\n",
        )
        .unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let (sender, output) = channel();
        let closing = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&closing);
        let held = Arc::new(AtomicBool::new(false));
        let holds = Arc::clone(&held);
        std::thread::spawn(move || {
            let mut chunk = vec![0; 1 << 16];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                if sender.send(chunk[..read].to_vec()).is_err() || closed.load(Ordering::SeqCst) {
                    return;
                }
                while holds.load(Ordering::SeqCst) {
                    std::thread::park_timeout(Duration::from_millis(50));
                }
            }
        });
        Self {
            parser: vt100::Parser::new(size.1.try_into().unwrap(), size.0.try_into().unwrap(), 0),
            output,
            raw: Vec::new(),
            writer,
            child,
            master: pair.master,
            closing,
            held,
        }
    }

    fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    /// Whether a frame has begun that has not ended: a part of the screen is still that of the frame
    /// before.
    fn is_within_frame(&self) -> bool {
        let last = |mark: &[u8]| self.raw.windows(mark.len()).rposition(|at| at == mark);
        last(b"\x1b[?2026h") > last(b"\x1b[?2026l")
    }

    /// Takes output in until `enough` at the end of a frame; false where it never is.
    fn until(&mut self, mut enough: impl FnMut(&Self) -> bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if !self.is_within_frame() && enough(self) {
                return true;
            }
            match self
                .output
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(bytes) => {
                    self.parser.process(&bytes);
                    self.raw.extend(bytes);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return enough(self);
                }
            }
        }
    }

    #[track_caller]
    fn wait(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        assert!(
            self.until(|terminal| terminal.screen().contains(text)),
            "no {text:?} on:\n{}",
            self.screen()
        );
    }

    #[track_caller]
    fn wait_gone(&mut self, text: &str) {
        assert!(
            self.until(|terminal| !terminal.screen().contains(text)),
            "still {text:?} on:\n{}",
            self.screen()
        );
    }

    fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Takes output in until none has come for a while.
    fn quiet(&mut self, duration: Duration) {
        while let Ok(bytes) = self.output.recv_timeout(duration) {
            self.parser.process(&bytes);
            self.raw.extend(bytes);
        }
    }

    /// Waits for longer than keys after a line are ignored.
    fn pause(&mut self) {
        self.quiet(Duration::from_millis(250));
    }

    /// Presses keys as a person does: all at once they would be taken for text.
    fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            self.keys(&key.to_string());
            self.quiet(Duration::from_millis(30));
        }
    }

    /// Waits for the end and says how it was.
    fn end(&mut self) -> u32 {
        while let Ok(bytes) = self.output.recv_timeout(PATIENCE) {
            self.parser.process(&bytes);
            self.raw.extend(bytes);
        }
        self.child.wait().unwrap().exit_code()
    }

    /// Closes the terminal as whoever closes its window does, and says how the program ended.
    fn close(mut self) -> u32 {
        self.closing.store(true, Ordering::SeqCst);
        // Something more to draw, so that the reader wakes up and ends.
        self.keys("?");
        while self.output.recv_timeout(PATIENCE).is_ok() {}
        drop((self.writer, self.master));
        self.child.wait().unwrap().exit_code()
    }

    fn signal(&self, name: &str) {
        let id = self.child.process_id().unwrap().to_string();
        assert!(
            std::process::Command::new("kill")
                .args(["-s", name, &id])
                .status()
                .unwrap()
                .success()
        );
    }

    /// The last word on each mode that the program switches on.
    #[track_caller]
    fn assert_clean(&self) {
        let raw = String::from_utf8_lossy(&self.raw);
        for mode in ["1049", "2004", "1000", "1006"] {
            let on = raw.rfind(&format!("\x1b[?{mode}h"));
            let off = raw.rfind(&format!("\x1b[?{mode}l"));
            assert!(on.is_none() || on < off, "mode {mode} is left on");
        }
        let (hidden, shown) = (raw.rfind("\x1b[?25l"), raw.rfind("\x1b[?25h"));
        assert!(
            hidden.is_none() || hidden < shown,
            "the cursor is left hidden"
        );
    }
}

/// The bundled data, as `data` in this folder.
fn link_data(folder: &Path) {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    std::os::unix::fs::symlink(data, folder.join("data")).unwrap();
}

/// Runs a command that must succeed, and gives what it printed.
fn overrule(folder: &Path, arguments: &str) -> String {
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_overrule"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("USER", "ana")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

fn demo(folder: &Path, environment: &[(&str, &str)], size: (u16, u16)) -> Terminal {
    let mut terminal = Terminal::start(
        folder,
        &["demo", "--project", "sample.db"],
        environment,
        size,
    );
    terminal.wait("scifact-641");
    terminal
}

#[test]
fn a_first_run_chooses_as_the_configuration_says() {
    let folder = tempfile::tempdir().unwrap();
    let rounds = "[screen]\ntheme = \"dark\"\n[run]\ncycles = 1\nsampler = \"top\"\njudging = \"rotate\"\nbudget = 2.5\ndemo_pace = 0.0\n";
    std::fs::write(folder.path().join("rounds.toml"), rounds).unwrap();
    let sample = ["demo", "--project", "sample.db", "--config", "rounds.toml"];
    let mut terminal = Terminal::start(folder.path(), &sample, &[], (120, 40));
    terminal.wait("scifact-641");
    terminal.keys("s");
    terminal.wait("every battle has all its votes");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    let db = rusqlite::Connection::open(folder.path().join("sample.db")).unwrap();
    let count = |sql: &str| -> i64 { db.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert!(count("SELECT count(*) FROM task") > 0);
    let sql = "SELECT count(*) FROM run WHERE campaign ->> 'sampler' = 'top' AND campaign ->> 'judging' = 'rotate'";
    assert_eq!(count(sql), 1);
}

#[test]
fn the_main_job_from_start_to_undo() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[], (120, 40));
    terminal.keys("s");
    terminal.wait("every battle has all its votes");
    terminal.keys("\r");
    terminal.wait("zELO, 95 %");
    terminal.keys("o");
    terminal.wait("hybrid order");
    terminal.wait(" offline · ");
    terminal.keys("o");
    terminal.wait("zELO order");
    terminal.keys("d");
    terminal.wait("reasoning");
    terminal.keys("\r");
    terminal.wait("your verdict");
    terminal.pause();
    terminal.keys("A");
    terminal.wait("what your verdict changed");
    terminal.keys("u");
    terminal.wait("undone");
    terminal.keys("\x1b");
    terminal.wait_gone("what the undo changed");
    terminal.keys("r");
    terminal.wait("words in");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    terminal.assert_clean();

    let project = rusqlite::Connection::open(folder.path().join("sample.db")).unwrap();
    let count = |table: &str| -> i64 {
        project
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get(0)
            })
            .unwrap()
    };
    assert_eq!(
        (count("vote"), count("verdict"), count("undo")),
        (2424, 1, 1)
    );
}

#[test]
fn help_palette_and_filter_open_and_close() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[], (80, 24));
    terminal.keys("?");
    terminal.wait("↓ more");
    terminal.keys("\x1b");
    terminal.wait_gone("↓ more");
    terminal.keys(":");
    terminal.wait("Commands");
    terminal.keys("next-ramp");
    terminal.wait("Change the colors");
    terminal.keys("\r");
    terminal.wait("blue-orange");
    terminal.pause();
    terminal.keys("/");
    terminal.keys("\x1b[200~insomnia\n\x1b[201~");
    terminal.wait_gone("scifact-415");
    terminal.wait("scifact-641");
    terminal.keys("\r");
    terminal.pause();
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    terminal.assert_clean();
}

#[test]
fn the_terminal_is_given_back_after_every_signal() {
    for signal in ["TERM", "HUP", "INT", "QUIT"] {
        let folder = tempfile::tempdir().unwrap();
        let terminal = &mut demo(folder.path(), &[], (100, 30));
        terminal.keys("s");
        terminal.signal(signal);
        terminal.end();
        terminal.assert_clean();
    }
}

#[test]
fn a_panic_in_a_worker_is_told_and_the_screen_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[("OVERRULE_PANIC", "worker")], (120, 40));
    terminal.wait("asked to panic in a worker");
    terminal.press("\r");
    terminal.wait("not judged yet");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    terminal.assert_clean();
}

#[test]
fn a_panic_while_drawing_gives_the_terminal_back_before_it_speaks() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["demo", "--project", "sample.db"];
    let mut terminal = Terminal::start(
        folder.path(),
        &arguments,
        &[("OVERRULE_PANIC", "screen")],
        (120, 40),
    );
    assert_eq!(terminal.end(), 1);
    terminal.assert_clean();
    let raw = String::from_utf8_lossy(&terminal.raw);
    let (left, spoke) = (
        raw.find("\x1b[?1049l"),
        raw.find("asked to panic while drawing"),
    );
    assert!(left.is_some() && left < spoke);
}

#[test]
fn without_color_nothing_is_colored_and_the_matrix_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[("NO_COLOR", "1")], (120, 40));
    terminal.keys("s");
    terminal.wait("every battle has all its votes");
    terminal.keys("\r");
    terminal.wait("zELO, 95 %");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    let raw = String::from_utf8_lossy(&terminal.raw);
    for color in ["[38;5;", "[38;2;", "[48;5;", "[48;2;"] {
        let at = raw.find(color);
        assert!(
            at.is_none(),
            "a color was sent: {:?}",
            at.map(|at| &raw[at..raw.len().min(at + 60)])
        );
    }
    terminal.assert_clean();
}

#[test]
fn a_new_size_is_drawn_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = demo(folder.path(), &[], (120, 40));
    let size = PtySize {
        rows: 24,
        cols: 80,
        pixel_width: 0,
        pixel_height: 0,
    };
    let (rows, columns) = (24u16.try_into().unwrap(), 80u16.try_into().unwrap());
    terminal.parser = vt100::Parser::new(rows, columns, 0);
    terminal.master.resize(size).unwrap();
    // An empty screen of the new size: what stands on it has been drawn since.
    let drawn = |terminal: &Terminal| {
        let screen = terminal.screen();
        let lines: Vec<&str> = screen.lines().collect();
        lines.len() == 24 && lines[23].contains("? help") && screen.contains("scifact-641")
    };
    assert!(terminal.until(drawn), "{}", terminal.screen());
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn hostile_documents_reach_no_terminal_raw() {
    let folder = tempfile::tempdir().unwrap();
    let nasty =
        "\u{1b}]0;owned\u{7} \u{1b}[2J \u{202e}desrever\u{202c} \u{9b}31m \0 insomnia therapy";
    let line = serde_json::json!({
        "query": { "id": format!("q\u{1b}[31m"), "query": format!("insomnia {nasty}") },
        "documents": (0..6).map(|at| serde_json::json!({
            "id": format!("d{at}\u{1b}[5m"),
            "content": format!("{nasty} {at} {}", "therapy ".repeat(at)),
            "metadata": { "title": nasty },
        })).collect::<Vec<_>>(),
    });
    std::fs::write(folder.path().join("in.jsonl"), format!("{line}\n")).unwrap();
    overrule(folder.path(), "annotate in.jsonl");
    let mut terminal = Terminal::start(folder.path(), &[], &[], (120, 40));
    let mut before = "";
    for (keys, seen) in [
        ("", "insomnia"),
        ("\r", "zELO, 95 %"),
        ("n", "surprise 1 of"),
        ("\r", "your verdict"),
        ("f", "your verdict"),
        ("W", "your verdict"),
        ("\x1b", "zELO, 95 %"),
        ("d", "most surprising first"),
        ("e", "reasoning"),
        ("\x1b", "zELO, 95 %"),
        ("r", "Nothing is running"),
        ("qy", ""),
    ] {
        terminal.press(keys);
        if keys == "\x1b" {
            terminal.wait_gone(before);
        }
        terminal.wait(seen);
        before = seen;
    }
    assert_eq!(terminal.end(), 0);
    let raw = String::from_utf8_lossy(&terminal.raw);
    for sequence in ["\x1b]0;", "\x1b[2J", "\u{202e}", "\u{9b}", "\0", "\x1b[5m"] {
        assert!(!raw.contains(sequence), "{sequence:?} reached the terminal");
    }
    terminal.assert_clean();
}
