//! `overrule init` with somebody there to choose.

use super::Terminal;
use super::fake_provider::FakeProvider;

fn init(folder: &std::path::Path, server: &FakeProvider) -> Terminal {
    let address = format!("llamacpp={}", server.v1());
    let mut terminal = Terminal::start(folder, &["init", "--server", &address], &[], (100, 30));
    terminal.wait("Which judges?");
    terminal
}

#[test]
fn a_number_chooses_a_judge_which_is_written_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let server = FakeProvider::start();
    server.list_models(&["qwen3-4b", "qwen3-8b"]);
    let mut terminal = init(folder.path(), &server);
    terminal.wait("2  llamacpp qwen3-8b");
    terminal.keys("2\r");
    terminal.wait("wrote overrule.toml: llamacpp qwen3-8b");
    terminal.wait("right in both orders");
    assert_eq!(terminal.end(), 0);
    let written = std::fs::read_to_string(folder.path().join("overrule.toml")).unwrap();
    assert!(written.contains("model = \"qwen3-8b\""), "{written}");
}

#[test]
fn whoever_leaves_has_nothing_written() {
    let folder = tempfile::tempdir().unwrap();
    let server = FakeProvider::start();
    server.list_models(&["qwen3-4b"]);
    for answer in ["q\r", "7\r", "\u{4}"] {
        let mut terminal = init(folder.path(), &server);
        terminal.keys(answer);
        assert_eq!(terminal.end(), 2, "{answer:?}: {}", terminal.screen());
        terminal.wait("nothing was written");
        assert!(!folder.path().join("overrule.toml").exists());
    }
    let asked = server.requests();
    assert!(
        asked.iter().all(|request| request.method == "GET"),
        "no model was asked"
    );
}

#[test]
fn a_dumb_terminal_is_refused_like_a_pipe() {
    for arguments in [&[][..], &["demo"], &["demo", "--project", "sample.db"]] {
        let folder = tempfile::tempdir().unwrap();
        let mut terminal = Terminal::start(folder.path(), arguments, &[("TERM", "dumb")], (80, 24));
        assert_eq!(terminal.end(), 2, "{arguments:?}");
        let raw = String::from_utf8_lossy(&terminal.raw);
        assert!(raw.contains("the workbench needs a terminal"), "{raw}");
        assert!(!raw.contains('\x1b'), "{raw}");
    }
}

#[test]
fn sixteen_colors_are_set_with_the_codes_for_sixteen() {
    let folder = tempfile::tempdir().unwrap();
    let environment = [("TERM", "xterm"), ("COLORTERM", "")];
    let mut terminal = super::demo(folder.path(), &environment, (120, 40));
    terminal.keys("s");
    terminal.wait("every battle has all its votes");
    terminal.keys("\r");
    terminal.wait("zELO, 95 %");
    terminal.press("qy");
    assert_eq!(terminal.end(), 0);
    let raw = String::from_utf8_lossy(&terminal.raw);
    for wide in ["38;5;", "48;5;", "58;5;", "38;2;", "48;2;"] {
        assert!(!raw.contains(wide), "{wide} was sent");
    }
    let is_set = |codes: std::ops::Range<u32>| {
        codes
            .into_iter()
            .any(|code| raw.contains(&format!("[{code}m")) || raw.contains(&format!("[{code};")))
    };
    assert!(is_set(30..38) || is_set(90..98));
}
