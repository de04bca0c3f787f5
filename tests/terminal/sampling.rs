//! Pairs that are planned while somebody is asked what they may cost.

use super::{Terminal, overrule};

#[test]
fn other_judges_set_votes_aside_only_after_a_yes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let documents: Vec<_> = (0..4)
        .map(|at| serde_json::json!({ "id": format!("d{at}"), "content": format!("text {at} on trams") }))
        .collect();
    let line =
        serde_json::json!({ "query": { "id": "q", "query": "trams" }, "documents": documents });
    std::fs::write(folder.join("in.jsonl"), format!("{line}\n")).unwrap();
    overrule(folder, "annotate in.jsonl out.jsonl --judges bm25");
    let other = ["annotate", "in.jsonl", "out.jsonl", "--judges", "ngram"];
    for (answer, code) in [("n\r", 2), ("y\r", 0)] {
        let mut terminal = Terminal::start(folder, &other, &[], (120, 30));
        terminal.wait("of bm25 on 1 query will be set aside");
        terminal.wait("Start?");
        terminal.keys(answer);
        assert_eq!(terminal.end(), code, "{}", terminal.screen());
    }
    // Nobody is asked with --yes.
    let back = [&other[..3], &["--judges", "bm25", "--yes"]].concat();
    let mut terminal = Terminal::start(folder, &back, &[], (120, 30));
    terminal.wait("of ngram on 1 query will be set aside");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
}

#[test]
fn nobody_else_gives_a_query_judges_while_a_sample_asks_what_it_may_spend() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let judge = "[[judge]]\nname = \"gpt\"\nprovider = \"compatible\"\nmodel = \"gpt\"\n\
                 base_url = \"http://127.0.0.1:9/v1\"\nprice = { input = 1.0, output = 1.0 }\n";
    std::fs::write(folder.join("overrule.toml"), judge).unwrap();
    let documents: Vec<_> = (0..6)
        .map(|at| serde_json::json!({ "id": format!("d{at}"), "content": format!("text {at} on trams") }))
        .collect();
    let line =
        serde_json::json!({ "query": { "id": "q", "query": "trams" }, "documents": documents });
    std::fs::write(folder.join("in.jsonl"), format!("{line}\n")).unwrap();
    overrule(folder, "import in.jsonl");
    let arguments = "student sample --pairs 2 --train 2 --plan --judges gpt --out new.jsonl";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut terminal = Terminal::start(folder, &arguments, &[], (120, 30));
    terminal.wait("Start?");
    let other = std::process::Command::new(env!("CARGO_BIN_EXE_overrule"))
        .args(["annotate", "in.jsonl", "out.jsonl", "--judges", "bm25"])
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .output()
        .unwrap();
    let said = String::from_utf8(other.stderr).unwrap();
    assert!(
        said.contains("another overrule process is running"),
        "{said}"
    );
    terminal.keys("y\r");
    assert_eq!(terminal.end(), 0, "{}", terminal.screen());
    let written = std::fs::read_to_string(folder.join("new.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 2);
    assert!(overrule(folder, "annotate --sample new.jsonl --dry-run").contains("total: 2 calls"));
}
