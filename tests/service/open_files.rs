//! Runs under a small limit of open files: fewer calls are in flight, and none is lost.
#![cfg(unix)]

use crate::desk::{CALLS, Desk, told};
use std::process::Command;
use std::time::Duration;

fn annotate_within(desk: &Desk, limit: &str) -> std::process::Output {
    let usual = desk.command(&[]);
    let script = format!(
        "ulimit {limit}; exec '{}' annotate in.jsonl out.jsonl --yes --concurrency 200",
        env!("CARGO_BIN_EXE_overrule")
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env_clear();
    let set = usual
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    command.envs(set).current_dir(desk.folder.path());
    command.output().unwrap()
}

#[test]
fn calls_in_flight_stay_below_the_limit_of_open_files_which_is_said() {
    let desk = Desk::new("");
    desk.server.set_latency(Duration::from_millis(200));
    let ran = annotate_within(&desk, "-n 128");
    let said = told(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(
        said.contains(
            "at most 16 calls are in flight at a time: this system allows 128 open files"
        ),
        "{said}"
    );
    assert_eq!(desk.count("SELECT count(*) FROM vote"), CALLS as i64);
    assert_eq!(desk.server.total_calls(), CALLS);
}

#[test]
fn a_soft_limit_is_raised() {
    let desk = Desk::new("");
    let ran = annotate_within(&desk, "-S -n 128");
    let said = told(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(!said.contains("open files"), "{said}");
    assert_eq!(desk.count("SELECT count(*) FROM vote"), CALLS as i64);
}
