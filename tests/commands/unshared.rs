//! A build without shared work names the remedy, and starts nothing.
#![cfg(not(feature = "remote"))]

use crate::support::Sandbox;
use rstest::rstest;

#[rstest]
#[case("remote status postgres://ada@db.example.org/search --json")]
#[case("remote --help")]
#[case("sync")]
#[case("sync --watch")]
#[case("annotate in.jsonl --remote postgres://ada@db.example.org/search --budget 5")]
#[case("annotate in.jsonl --job j --remote postgres://ada@db.example.org/search")]
#[case("pick pools.jsonl --remote=postgres://ada@db.example.org/search")]
#[case("rerank in.jsonl --method prp --remote postgres://ada@db.example.org/search --lease 9")]
fn shared_work_is_refused_with_the_remedy(#[case] command: &str) {
    let sandbox = Sandbox::new();
    let remedy = "cargo install --path . --features remote";
    sandbox.refused(command, 2, &["built without PostgreSQL", remedy]);
    assert!(!sandbox.path("overrule.db").exists());
}

#[test]
fn the_help_lists_only_what_this_build_can_do() {
    let sandbox = Sandbox::new();
    for command in ["--help", "annotate --help"] {
        let help = sandbox.done(command);
        for word in ["\n  sync", "\n  remote", "--remote"] {
            assert!(!help.text().contains(word), "{command}: {word}");
        }
    }
}
