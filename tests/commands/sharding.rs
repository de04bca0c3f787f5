//! `annotate --shard` and `merge` with several files: machines that share the work end with what a
//! single one would have.

use crate::support::{Sandbox, dataset};
use serde_json::Value;
use std::fs;
use std::process::Command;

const SIZES: [usize; 10] = [6, 9, 4, 7, 5, 8, 6, 3, 7, 5];
const SHARDS: usize = 3;

/// The scores of a single run, and of shards that are merged in another order than they were
/// judged.
fn scores(options: &str, settings: Option<&str>) -> [Vec<u8>; 2] {
    let prepared = || {
        let sandbox = Sandbox::new();
        sandbox.write("in.jsonl", dataset(SIZES));
        sandbox.done("import in.jsonl");
        if let Some(settings) = settings {
            sandbox.done(&format!("config project {settings}"));
        }
        sandbox
    };
    let single = prepared();
    single.done(&format!("annotate in.jsonl out.jsonl {options}"));
    let merged = prepared();
    let shards: Vec<Sandbox> = (1..=SHARDS)
        .map(|number| {
            let shard = match settings {
                Some(_) => prepared(),
                None => Sandbox::new(),
            };
            shard.write("in.jsonl", dataset(SIZES));
            shard.done(&format!(
                "annotate in.jsonl out.jsonl {options} --shard {number}/{SHARDS}"
            ));
            shard
        })
        .collect();
    let files = shards.iter().rev().map(|shard| shard.project());
    let files: Vec<String> = files.map(|file| file.display().to_string()).collect();
    merged.done(&format!("merge {}", files.join(" ")));
    let last = merged.done(&format!("annotate in.jsonl out.jsonl {options} --probe 0"));
    last.says("0 votes and 0 failures");
    [single, merged].map(|sandbox| fs::read(sandbox.path("out.jsonl")).unwrap())
}

#[test]
fn shards_give_the_scores_of_a_single_run_in_any_order() {
    let [single, merged] = scores("--cycles 3", None);
    assert_eq!(single, merged);
}

#[test]
fn shards_of_an_adaptive_run_with_a_given_prior_give_its_scores() {
    let options = "--sampler top --judging escalate --battles 2";
    let [single, merged] = scores(options, Some("--lambda 0.1"));
    assert_eq!(single, merged);
}

#[test]
fn a_shard_holds_only_its_queries_and_names_its_part_of_the_budget() {
    let mut queries = 0;
    for number in 1..=SHARDS {
        let sandbox = Sandbox::new();
        sandbox.write("in.jsonl", dataset(SIZES));
        let run = format!("annotate in.jsonl --shard {number}/{SHARDS} --budget 12");
        let part = format!("shard {number} of 3 may spend $4.00");
        sandbox.done(&run).says(&part);
        let lines = sandbox.read(&format!("in_annotated-{number}-of-3.jsonl"));
        let lines = lines.lines().count();
        assert_eq!(sandbox.count("SELECT count(*) FROM query"), lines as i64);
        queries += lines;
    }
    assert_eq!(queries, SIZES.len());
    let sandbox = Sandbox::new();
    for wrong in ["0/3", "4/3", "3", "x/y"] {
        sandbox.refused(&format!("annotate in.jsonl --shard {wrong}"), 2, &["3/16"]);
    }
}

#[test]
fn of_several_files_each_is_merged_completely_or_not_at_all() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset(SIZES));
    sandbox.done("import in.jsonl");
    for number in [1, 2] {
        let shard = Sandbox::new();
        shard.write("in.jsonl", dataset(SIZES));
        shard.done(&format!("annotate in.jsonl --shard {number}/2"));
        fs::copy(shard.project(), sandbox.path(&format!("{number}.db"))).unwrap();
    }
    sandbox.write("broken.db", "not a project");
    let votes_to_add = || -> Vec<u64> {
        let tried = sandbox.done("merge 1.db 2.db --json --dry-run");
        let votes = |line: &str| serde_json::from_str::<Value>(line).unwrap()["votes"].as_u64();
        tried.text().lines().filter_map(votes).collect()
    };
    let both = votes_to_add();
    assert!(both.len() == 2 && !both.contains(&0), "{both:?}");
    let merged = sandbox.run("merge 1.db broken.db 2.db");
    assert_eq!(merged.code, Some(2));
    merged.says("broken.db");
    // The file before the broken one is there, and the one after it is not.
    assert_eq!(votes_to_add(), [0, both[1]]);
    sandbox.done("merge 1.db 2.db");
    assert_eq!(votes_to_add(), [0, 0]);
}

/// The blocks of the manual's chapter in a language.
fn blocks(language: &str) -> Vec<String> {
    let chapter = include_str!("../../assets/manual/machines.md");
    let fence = format!("```{language}\n");
    let blocks = chapter.split(&fence).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// Runs a script once per shard, as a scheduler would with this variable, and merges the files.
fn follow(script: &str, variable: &str, first: usize) {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset(SIZES));
    let single = Sandbox::new();
    single.write("in.jsonl", dataset(SIZES));
    single.done("annotate in.jsonl out.jsonl");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_overrule"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    for at in first..first + 16 {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(sandbox.path("."));
        shell.env_clear().env("PATH", &path);
        let output = shell.env(variable, at.to_string()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        assert!(told.contains("may spend $12.50"), "{told}");
    }
    sandbox.done("import in.jsonl");
    let files: Vec<String> = (1..=16).map(|at| format!("shard-{at}.db")).collect();
    sandbox.done(&format!("merge {}", files.join(" ")));
    sandbox.done("annotate in.jsonl out.jsonl");
    assert_eq!(sandbox.read("out.jsonl"), single.read("out.jsonl"));
}

#[test]
fn the_recipe_for_slurm_works_with_processes_in_place_of_nodes() {
    let [script] = &blocks("sh")[..] else {
        panic!("one script");
    };
    follow(script, "SLURM_ARRAY_TASK_ID", 1);
}

#[test]
fn the_recipe_for_kubernetes_works_with_processes_in_place_of_pods() {
    let [job] = &blocks("yaml")[..] else {
        panic!("one job");
    };
    let (_, script) = job.split_once("- |\n").unwrap();
    let indent = "              ";
    let lines = script.lines().map_while(|line| line.strip_prefix(indent));
    follow(
        &lines.collect::<Vec<_>>().join("\n"),
        "JOB_COMPLETION_INDEX",
        0,
    );
}
