//! What exports print on a terminal.

use super::Terminal;

#[test]
fn an_export_on_the_terminal_is_escaped_and_in_a_file_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "bad \u{9b}31m \u{202e}text\u{2066} \u{1b}]0;x\u{7} é";
    let documents: Vec<_> = (0..2)
        .map(|at| serde_json::json!({"id": format!("d{at}"), "content": format!("{text} {at}"), "metadata": {}}))
        .collect();
    let line = serde_json::json!({"query": {"id": "q", "query": text}, "documents": documents});
    std::fs::write(folder.join("in.jsonl"), format!("{line}\n")).unwrap();
    let judged = ["annotate", "in.jsonl", "out.jsonl", "--judges", "offline"];
    assert_eq!(Terminal::start(folder, &judged, &[], (100, 30)).end(), 0);
    for arguments in [
        &["export", "annotated"][..],
        &["export", "votes"],
        &["export", "votes", "--format", "jsonl"],
    ] {
        let mut terminal = Terminal::start(folder, arguments, &[], (100, 30));
        assert_eq!(terminal.end(), 0, "{}", terminal.screen());
        let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
        assert!(
            !raw.contains(['\u{9b}', '\u{202e}', '\u{2066}', '\u{1b}', '\u{7}']),
            "{arguments:?}: {raw:?}"
        );
        let out = [arguments, &["--out", "e.jsonl"]].concat();
        if arguments.contains(&"annotated") {
            assert!(raw.contains("\\u202e") && raw.contains("é"), "{raw:?}");
            assert_eq!(Terminal::start(folder, &out, &[], (100, 30)).end(), 0);
            let written = std::fs::read_to_string(folder.join("e.jsonl")).unwrap();
            let written: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(written["query"]["query"], text);
        }
    }
}
