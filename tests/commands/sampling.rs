//! `overrule annotate --sampler …` and `lab sampler`: runs in rounds, their budgets, and what they
//! are worth.

use crate::support::{Sandbox, dataset};
use rstest::rstest;
use serde_json::Value;

const SIZES: [usize; 3] = [12, 1, 9];

fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset(SIZES));
    sandbox
}

#[test]
fn a_run_in_rounds_keeps_its_budget_and_is_done() {
    let sandbox = prepared();
    let arguments = "annotate in.jsonl out.jsonl --sampler top --judging escalate --battles 1.5";
    let dry = sandbox.done(&format!("{arguments} --dry-run"));
    dry.prints("total: at most 94 calls");
    assert!(!sandbox.project().exists());

    let ran = sandbox.done(arguments);
    ran.says("94 votes and 0 failures");
    let status = sandbox.json("status --json");
    assert_eq!(
        (&status["votes"], &status["votes_missing"]),
        (&94.into(), &0.into())
    );
    let out = sandbox.read("out.jsonl");
    assert_eq!(
        out.matches("\"score\":").count(),
        SIZES.iter().sum::<usize>()
    );

    let dry = sandbox.done(&format!("{arguments} --dry-run --json"));
    let dry: Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!(
        (&dry["rounds"], &dry["already"], &dry["judges"][0]["calls"]),
        (&true.into(), &94.into(), &0.into())
    );
    let again = sandbox.done(arguments);
    again.says(": 0 votes and 0 failures");
    assert_eq!(sandbox.read("out.jsonl"), out);
}

#[test]
fn the_battles_say_who_was_asked() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl --judging rotate --battles 1");
    let told = sandbox.json("battles --query q0 --json");
    let battles = told["battles"].as_array().unwrap();
    assert_eq!(battles.len(), 36);
    for battle in battles {
        let votes = battle["votes"].as_array().unwrap();
        assert_eq!((votes.len(), &battle["missing"]), (1, &0.into()));
        assert_eq!(
            battle["asked"],
            Value::from(vec![votes[0]["judge"].clone()])
        );
    }
}

#[test]
fn a_total_is_shared_out_by_documents() {
    let sandbox = prepared();
    // 50 calls for 22 documents: 27 for the pool of 12, 20 for the one of 9, and 2 for the one with
    // nobody to fight.
    sandbox.done("annotate in.jsonl --sampler swiss --judging rotate --max-calls 50");
    let queries = sandbox.json("queries --json");
    let votes: Vec<u64> = queries
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["votes"].as_u64().unwrap())
        .collect();
    assert_eq!(votes, [27, 0, 20]);
}

#[test]
fn a_merge_brings_tasks_and_campaign_along() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl --judging rotate --battles 1");
    let other = sandbox.path("other.db");
    std::fs::rename(sandbox.project(), &other).unwrap();
    sandbox.done("import in.jsonl");
    sandbox.done("merge other.db");
    let status = sandbox.json("status --json");
    assert_eq!(
        (&status["votes"], &status["votes_missing"]),
        (&63.into(), &0.into())
    );
    assert_eq!(sandbox.count("SELECT count(*) FROM task"), 63);
    assert_eq!(
        sandbox.count("SELECT count(*) FROM run WHERE campaign IS NOT NULL"),
        1
    );
    let again = sandbox.done("annotate in.jsonl --judging rotate --battles 1");
    again.says(": 0 votes and 0 failures");
}

#[test]
fn the_plain_plan_knows_nothing_of_rounds() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl --sampler cycles --judging all");
    assert_eq!(sandbox.count("SELECT count(*) FROM task"), 0);
    assert_eq!(
        sandbox.count("SELECT count(*) FROM run WHERE campaign IS NULL"),
        1
    );
    assert_eq!(
        sandbox.count("SELECT count(*) FROM battle WHERE origin = 'plan'"),
        4 * 21
    );
}

#[rstest]
#[case("--sampler best", "expected cycles, swiss, eig or top")]
#[case("--sampler swiss --judging escalate", "use eig or top")]
#[case("--sampler swiss --focus 0.5", "--focus goes with --sampler top")]
#[case("--top 5", "--top goes with --sampler top")]
#[case("--sampler top --focus 2", "must be between 0 and 1")]
#[case("--sampler top --round 0", "must be at least 1")]
#[case("--sampler top --battles 0", "must be above 0")]
#[case("--sampler top --max-calls 0", "max-calls")]
#[case("--sampler top --batch", "each round waits for the votes")]
fn what_makes_no_sense_is_refused(#[case] options: &str, #[case] why: &str) {
    let sandbox = prepared();
    sandbox.refused(&format!("annotate in.jsonl {options}"), 2, &[why]);
    assert!(!sandbox.project().exists());
}

#[test]
fn the_configuration_says_how_runs_choose() {
    let sandbox = prepared();
    sandbox.write(
        "own.toml",
        "[run]\ncycles = 2\nsampler = \"top\"\njudging = \"escalate\"\nfocus = 0.5\nround = 5\n",
    );
    let annotate = |options: &str| {
        sandbox.done(&format!("--config own.toml annotate in.jsonl {options}"));
    };
    annotate("");
    let campaign = |of: &str| {
        sandbox.count(&format!(
            "SELECT count(*) FROM run WHERE campaign IS NOT NULL AND {of}"
        ))
    };
    assert_eq!(
        campaign(
            "campaign ->> 'sampler' = 'top' AND campaign ->> 'judging' = 'escalate' AND campaign ->> 'floor' = 0.5 \
             AND campaign ->> 'size' = 5 AND campaign ->> 'battles' = 2"
        ),
        1
    );
    // The command line overrules it, option by option.
    annotate("--focus 0.1 --judging rotate");
    assert_eq!(
        campaign("campaign ->> 'judging' = 'rotate' AND campaign ->> 'floor' = 0.1"),
        1
    );
    annotate("--sampler cycles --judging all");
    assert_eq!(
        sandbox.count("SELECT count(*) FROM run WHERE campaign IS NULL"),
        1
    );
    let swiss = [
        "--config",
        "own.toml",
        "annotate",
        "in.jsonl",
        "--sampler",
        "swiss",
    ];
    sandbox.refused(&swiss, 2, &["use eig or top", "--judging overrules"]);
}

#[test]
fn the_help_says_which_sampler_is_for_training() {
    let sandbox = Sandbox::new();
    let help = sandbox.done("annotate --help");
    let words = help.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("For scores used as training targets, use swiss or eig"));
}

#[test]
fn a_simulation_depends_on_its_seed_and_not_on_threads() {
    let sandbox = Sandbox::new();
    let simulate = |threads: &str, seed: &str| {
        sandbox.json(&[
            "lab",
            "sampler",
            "--documents",
            "16",
            "--queries",
            "6",
            "--strategies",
            "cycles:4,top+escalate:2",
            "--threads",
            threads,
            "--seed",
            seed,
            "--json",
        ])
    };
    let one = simulate("1", "3");
    assert_eq!(one, simulate("4", "3"));
    assert_ne!(one, simulate("4", "4"));
    let strategies = one["strategies"].as_array().unwrap();
    assert_eq!(one["against"], "cycles:4");
    assert_eq!(strategies[0]["change"], Value::Null);
    let informed = &strategies[1];
    assert_eq!(informed["strategy"], "top+escalate:2");
    assert_eq!(informed["battles_per_document"], 2.0);
    for part in [&informed["quality"]["ndcg@10"], &informed["change"]["tau"]] {
        let [low, mean, high] = ["low", "mean", "high"].map(|key| part[key].as_f64().unwrap());
        assert!(low < mean && mean < high && part["queries"] == 6);
    }
    let intervals = &informed["rank_intervals"];
    assert_eq!(intervals["level"], 0.95);
    for part in ["covered", "covered_first_10"] {
        let mean = intervals[part]["mean"].as_f64().unwrap();
        assert!((0.8..=1.0).contains(&mean), "{part}: {mean}");
    }
    assert!(intervals["width"]["mean"].as_f64().unwrap() > 1.0);
}

#[test]
fn a_simulation_learns_the_prior_that_its_judges_call_for() {
    let sandbox = Sandbox::new();
    let lambda = |more: &[&str]| {
        let simulate = "lab sampler --documents 16 --queries 40 --strategies cycles:4 --json";
        let arguments: Vec<&str> = simulate.split(' ').chain(more.iter().copied()).collect();
        let told = sandbox.json(&arguments);
        let intervals = &told["strategies"][0]["rank_intervals"];
        (intervals["lambda"].as_f64().unwrap(), told)
    };
    let (clear, noisy) = (lambda(&["--noise", "0.35"]), lambda(&["--noise", "1.6"]));
    assert!(clear.0 < 0.05 && noisy.0 > 0.05, "{} {}", clear.0, noisy.0);
    assert_eq!(noisy.1["noise"]["judges"][0]["own"], 1.6);
    assert_eq!(lambda(&["--noise", "1.6", "--lambda", "0.05"]).0, 0.05);
    for refused in [["--noise", "-1"], ["--lambda", "0"], ["--lambda", "much"]] {
        let arguments = ["lab", "sampler", &refused.join("=")];
        sandbox.refused(&arguments, 2, &[refused[0]]);
    }
}

#[test]
fn the_projects_own_judges_can_be_simulated() {
    let sandbox = prepared();
    sandbox.refused("lab sampler --resample", 2, &["no such project"]);
    sandbox.done("import in.jsonl");
    sandbox.refused("lab sampler --resample", 2, &["no query has votes"]);
    sandbox.done("annotate in.jsonl");
    let arguments = "lab sampler --resample --queries 5 --strategies cycles:2,swiss:2";
    let ran = sandbox.done(arguments);
    ran.prints("drawn from 2 of the project");
    assert!(ran.text().contains("no model was asked"));
    ran.prints("hold the true rank");
    ran.says("skipped 1 query");
    let told = sandbox.json(&format!("{arguments} --json"));
    assert_eq!(told["noise"]["judges"].as_array().unwrap().len(), 3);
}

#[rstest]
#[case("top", "SAMPLER:BATTLES")]
#[case("best:2", "expected cycles, swiss, eig or top")]
#[case("top:-1", "must be above 0")]
fn a_strategy_that_is_none_is_refused(#[case] strategy: &str, #[case] why: &str) {
    Sandbox::new().refused(&["lab", "sampler", "--strategies", strategy], 2, &[why]);
}
