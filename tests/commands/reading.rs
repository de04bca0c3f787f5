//! Commands that only read: matrix, queries, status, keys, config, doctor, help, and where their
//! output goes.

use crate::support::{AI_SCORES, Ran, Sandbox, dataset};
use rstest::rstest;
use serde_json::json;
use std::fs::OpenOptions;

fn imported() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    sandbox
}

const MATRIX: &str = "matrix --query capital-of-france";

#[test]
fn the_matrix_is_told_in_text() {
    let text = imported().done(&MATRIX).text().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "capital-of-france  What is the capital of France?"
    );
    assert!(
        lines[1].starts_with("#  document") && lines[1].contains("zELO"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("1  d2") && lines[2].ends_with(r"\WW"),
        "{text}"
    );
    assert!(text.contains("d2 won every battle"), "{text}");
}

#[test]
fn scores_are_compared_by_a_metadata_field() {
    let sandbox = Sandbox::new();
    let documents: Vec<_> = ["one", "two", "three", "four"]
        .iter()
        .enumerate()
        .map(|(at, words)| {
            let brand = if at < 2 { "Acme" } else { "Bolt" };
            json!({
                "id": format!("d{at}"),
                "content": format!("insomnia therapy {words}"),
                "metadata": { "brand": brand, "grade": at, "title": words },
            })
        })
        .collect();
    let query = json!({ "id": "q", "query": "insomnia therapy" });
    let pool = json!({ "query": query, "documents": documents });
    sandbox.write("in.jsonl", pool.to_string());
    sandbox.done("annotate in.jsonl out.jsonl");
    let found = sandbox.json("matrix --query q --by brand --json");
    let slices = found["slices"].as_array().unwrap();
    assert_eq!(slices.len(), 2);
    let mean: f64 = slices
        .iter()
        .map(|slice| slice["mean_zelo"].as_f64().unwrap() * slice["scored"].as_f64().unwrap())
        .sum();
    assert!(mean.abs() < 1e-6, "scores of a query add up to 0: {mean}");
    assert!(
        slices
            .iter()
            .all(|slice| slice["se"].as_f64().unwrap() > 0.0)
    );
    let text = sandbox.done("matrix --query q --by brand");
    assert!(text.text().contains("mean zELO") && text.text().contains("Acme"));
    // Labels are not offered as fields.
    sandbox.refused("matrix --query q --by grade", 2, &["the fields are: brand"]);
}

#[test]
fn the_matrix_in_json_is_square_and_its_shares_mirror() {
    let matrix = imported().json(&format!("{MATRIX} --json"));
    let documents = matrix["documents"].as_array().unwrap();
    assert_eq!(
        documents
            .iter()
            .map(|row| row["rank"].as_u64().unwrap())
            .min(),
        Some(1)
    );
    for row in 0..3 {
        for column in 0..3 {
            match (
                matrix["observed"][row][column].as_f64(),
                matrix["observed"][column][row].as_f64(),
            ) {
                (Some(share), Some(mirrored)) => assert!((share + mirrored - 1.0).abs() < 1e-12),
                (one, other) => assert_eq!((one, other), (None, None)),
            }
        }
    }
    assert_eq!(matrix["fit"]["converged"], true);
    assert!((matrix["phi"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
}

#[test]
fn the_matrix_as_a_table_has_a_column_a_document() {
    let table = imported().done(&format!("{MATRIX} --format csv --order hybrid"));
    let mut reader = csv::Reader::from_reader(table.stdout.as_slice());
    let header = [
        "rank",
        "document",
        "zelo",
        "se",
        "rank_low",
        "rank_high",
        "d2",
        "d3",
        "d1",
    ];
    assert_eq!(reader.headers().unwrap(), header.as_slice());
    assert_eq!(reader.records().count(), 3);
}

#[test]
fn the_matrix_as_a_picture_is_one_svg_element() {
    let sandbox = imported();
    sandbox.done(&format!("{MATRIX} --format svg --out matrix.svg"));
    let svg = sandbox.read("matrix.svg");
    assert!(
        svg.trim_start().starts_with("<svg") && svg.trim_end().ends_with("</svg>"),
        "{svg}"
    );
    assert!(svg.contains("d2") && !svg.contains("<script"));
}

#[test]
fn two_orders_are_compared_in_words_in_json_and_as_a_picture() {
    const ORDERS: &str = "orders --query capital-of-france";
    let sandbox = imported();
    let ran = sandbox.done(ORDERS);
    let text = ran.text();
    assert!(text.contains("zELO ") && text.contains("top 1"), "{text}");
    assert!(text.contains("hybrid  moved"), "{text}");
    sandbox.done(&format!("{ORDERS} --json --svg orders.svg"));
    let json = sandbox.json(&format!("{ORDERS} --json"));
    assert_eq!(json["unscored"], 0);
    let compared = &json["comparison"];
    let documents = compared["documents"].as_array().unwrap();
    assert_eq!(documents.len(), 3);
    let pairs = &compared["pairs"];
    let count = |name: &str| pairs[name].as_u64().unwrap();
    // Two of the documents have the same score.
    assert_eq!(count("same") + count("reversed"), 2);
    for document in documents {
        let number = |name: &str| document[name].as_i64().unwrap();
        // A document rises to the worst of the ranks that it shares, and falls to the best.
        let shared = documents
            .iter()
            .filter(|one| one["rank"] == document["rank"]);
        let worst = number("rank") + shared.count() as i64 - 1;
        let hybrid = number("hybrid_rank");
        let reached = hybrid.clamp(number("rank"), worst);
        assert_eq!(hybrid - reached, number("rose"));
    }
    let svg = sandbox.read("orders.svg");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("hybrid order") && svg.contains("zELO order"));
}

#[test]
fn a_picture_in_png_is_written_or_the_build_that_writes_it_is_named() {
    let sandbox = imported();
    for arguments in [
        "orders --query capital-of-france --png picture.png",
        &format!("{MATRIX} --format png --out picture.png"),
    ] {
        let ran = sandbox.run(arguments);
        if cfg!(feature = "png") && ran.code == Some(0) {
            continue;
        }
        let told = &ran.stderr;
        assert!(
            told.contains("--features png") || told.contains("no fonts"),
            "{told}"
        );
        assert!(!sandbox.path("picture.png").exists());
    }
    let binary = sandbox.run(&format!("{MATRIX} --format png"));
    assert_eq!(binary.code, Some(2));
    assert!(binary.stderr.contains("--out FILE"), "{}", binary.stderr);
}

#[test]
fn queries_and_status_count_what_was_imported() {
    let sandbox = imported();
    let queries = sandbox.json("queries --json");
    assert_eq!(queries.as_array().unwrap().len(), 1);
    assert_eq!(queries[0]["text"], "What is the capital of France?");
    assert_eq!(
        (&queries[0]["fought"], &queries[0]["battles"]),
        (&json!(8), &json!(8))
    );
    assert_eq!(queries[0]["offline"], false);
    let status = sandbox.json("status --json");
    assert_eq!(
        (&status["votes"], &status["calls"]),
        (&json!(24), &json!(24))
    );
    assert_eq!(status["calls_without_price"], 24);
    assert!(sandbox.done("queries").text().contains("capital-of-france"));
    let text = sandbox.done("status");
    text.prints("24 stored, 0 missing, 0 failed");
    assert!(
        !text.text().contains("lexical"),
        "language models voted here"
    );
}

#[test]
fn votes_of_offline_judges_are_said_to_be_lexical() {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset([3]));
    sandbox.done("annotate in.jsonl out.jsonl");
    for arguments in ["status", "matrix --query q0", "battles --query q0"] {
        let ran = sandbox.done(arguments);
        assert!(
            ran.text()
                .contains("offline judges: lexical, not a language model"),
            "{}",
            ran.text()
        );
    }
}

#[test]
fn the_keys_are_one_table_in_three_forms() {
    let sandbox = Sandbox::new();
    let rows = sandbox.json("keys --json");
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 10);
    let markdown = sandbox.done("keys --markdown");
    assert!(
        markdown.text().lines().any(|line| line.starts_with('|')),
        "{}",
        markdown.text()
    );
    assert!(sandbox.done("keys").text().lines().count() >= rows.len());
}

#[test]
fn the_default_configuration_is_a_configuration() {
    let sandbox = Sandbox::new();
    let default = sandbox.done("config default").text().to_owned();
    sandbox.write("config.toml", default);
    let (bare, own) = (sandbox.json("config show --json"), {
        sandbox.json("--config config.toml config show --json")
    });
    assert_eq!(bare["config"], own["config"]);
    assert!(bare["file"].is_null());
    assert_eq!(own["file"], "config.toml");
    let shown = sandbox.done("config show").text().to_owned();
    assert!(
        shown.contains("# annotator: ") && shown.contains("[run]"),
        "{shown}"
    );
}

#[test]
fn arguments_of_key_commands_are_not_shown() {
    let sandbox = Sandbox::new();
    let commands = "ONE = [\"sh\", \"-c\", \"echo sk-secret\"]\nTWO = [\"print-key\"]";
    sandbox.write("own.toml", format!("[keys.key_command]\n{commands}\n"));
    let shown = sandbox.json("--config own.toml config show --json");
    let shown = &shown["config"]["keys"]["key_command"];
    assert_eq!(shown["ONE"], json!(["sh", "(arguments not shown)"]));
    assert_eq!(shown["TWO"], json!(["print-key"]));
    let text = sandbox
        .done("--config own.toml config show")
        .text()
        .to_owned();
    assert!(text.contains("sh") && !text.contains("sk-secret"), "{text}");
}

#[test]
fn rating_settings_stay_with_the_project() {
    let sandbox = imported();
    let before = sandbox.json("config project --json");
    assert_eq!(before["model"], "map");
    sandbox.done("config project --model zbench --override-weight 1.5");
    let after = sandbox.json("config project --json");
    assert_eq!(
        (&after["model"], &after["override_weight"]),
        (&json!("zbench"), &json!(1.5))
    );
    assert_eq!(sandbox.json("status --json")["rating"], after);
    let matrix = sandbox.json(&format!("{MATRIX} --json"));
    assert!(
        matrix["documents"][0]["se"].is_null(),
        "the scores follow the settings"
    );
    sandbox.refused(
        "config project --override-weight 4",
        2,
        &["--override-weight", "up to 3"],
    );
    sandbox.refused("config project --lambda NaN", 2, &["--lambda"]);
    assert_eq!(sandbox.json("config project --json"), after);
}

#[test]
fn the_doctor_finds_the_judges_well() {
    let sandbox = Sandbox::new();
    let checks = sandbox.json("doctor --json");
    let names: Vec<&str> = checks
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    for name in [
        "configuration",
        "project",
        "terminal",
        "judge bm25",
        "judge proximity",
        "judge ngram",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(
        checks
            .as_array()
            .unwrap()
            .iter()
            .all(|check| check["ok"] == true),
        "{checks}"
    );
    assert!(!sandbox.project().exists(), "looking makes no project");
    sandbox.write(
        "overrule.db",
        "not a database, but long enough to be taken for one at first sight",
    );
    let ran = sandbox.run("doctor");
    assert_eq!(ran.code, Some(3));
    ran.prints("not an Overrule project");
}

#[rstest]
#[case("bash", "complete -F _overrule")]
#[case("zsh", "#compdef overrule")]
#[case("fish", "complete -c overrule")]
fn completions_are_for_the_shell_that_was_named(#[case] shell: &str, #[case] word: &str) {
    let script = Sandbox::new().done(&["completions", shell]);
    assert!(script.text().contains(word) && script.text().contains("annotate"));
    assert!(script.text().contains("sampler") && !script.text().contains("bench-sampler"));
}

#[test]
fn the_manual_page_and_the_help_name_every_command() {
    let sandbox = Sandbox::new();
    let (man, help) = (sandbox.done("man"), sandbox.done("--help"));
    man.prints(".TH overrule 1");
    help.prints("Exit codes: 0 done");
    for command in [
        "demo",
        "annotate",
        "import",
        "export",
        "status",
        "queries",
        "matrix",
        "battles",
        "override",
        "undo",
        "fit",
        "lab",
        "keys",
        "config",
        "doctor",
        "completions",
    ] {
        assert!(
            help.text().contains(&format!("\n  {command} ")),
            "{command}"
        );
        assert!(
            man.text().contains(&format!("overrule\\-{command}(1)")),
            "{command}"
        );
        assert!(
            sandbox.done(&[command, "--help"]).text().contains("Usage:"),
            "{command}"
        );
    }
    assert!(sandbox.done("--version").text().starts_with("overrule "));
}

#[test]
fn the_help_lists_commands_by_task_after_the_examples() {
    let sandbox = Sandbox::new();
    let help = sandbox.done("--help");
    let headings = [
        "Examples:",
        "Judge a dataset:",
        "Compare rankings:",
        "Options:",
    ];
    let places = headings.map(|heading| help.text().find(&format!("\n{heading}\n")).unwrap());
    assert!(places.is_sorted(), "{}", help.text());
    let annotate = sandbox.done("annotate --help");
    let (start, _) = annotate.text().split_once("\nOptions:\n").unwrap();
    assert!(start.contains("Examples:\n  overrule annotate in.jsonl out.jsonl\n"));
}

#[rstest]
#[case("bench-sampler", "lab sampler")]
#[case("bench-methods", "lab methods")]
#[case("bench-override", "lab override")]
#[case("bench-duel", "lab duel")]
#[case("bench-student", "lab student")]
fn experiments_have_their_former_names_too(#[case] former: &str, #[case] name: &str) {
    let sandbox = Sandbox::new();
    let refused = |command: &str| {
        let arguments = format!("{command} --queries 0");
        sandbox.refused(&arguments, 2, &["--queries"]).stderr
    };
    assert_eq!(refused(former), refused(name));
    assert!(!sandbox.done("--help").text().contains(former));
    sandbox
        .done("lab --help")
        .prints(name.trim_start_matches("lab "));
}

#[test]
fn a_file_in_place_of_a_command_is_told_which_commands_take_it() {
    let sandbox = Sandbox::new();
    let file = sandbox.path("data.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let name = file.to_str().unwrap();
    let import = format!("`overrule import {name}`");
    sandbox.refused(name, 2, &[&import, "`overrule annotate"]);
    sandbox.refused("no-such-file", 2, &["unrecognized subcommand"]);
}

#[test]
fn prices_say_where_they_are_from_and_which_judges_they_concern() {
    let sandbox = Sandbox::new();
    let toml = r#"
[[judge]]
name = "old"
provider = "openai"
model = "gpt-4.1"

[[judge]]
name = "tuned"
provider = "openai"
model = "my-finetune"

[[judge]]
name = "own"
provider = "openai"
model = "my-finetune"
price = { input = 3.0, output = 6.0 }
"#;
    std::fs::write(sandbox.path("overrule.toml"), toml).unwrap();
    let listed = sandbox.done("prices gpt-6.1");
    listed.prints("litellm 1.109.1 of 2026-11-12, retrieved on 2026-11-21");
    listed.prints("gpt-6.1-terra");
    assert!(!listed.text().contains("claude"), "{}", listed.text());
    assert!(
        listed
            .stderr
            .contains("no price is known for my-finetune of openai (judge tuned)")
    );
    assert!(
        listed.stderr.contains("retired on 2027-01-14"),
        "{}",
        listed.stderr
    );
    let prices = sandbox.json("prices --json");
    assert_eq!(prices["unknown"], json!(["tuned"]));
    let judge = |at: usize, field: &str| prices["judges"][at][field].clone();
    assert_eq!(
        (judge(0, "input"), judge(0, "retires")),
        (json!(2.0), json!("2027-01-14"))
    );
    assert_eq!(
        (judge(2, "from"), judge(2, "output")),
        (json!("overrule.toml"), json!(6.0))
    );
    assert!(prices["age_days"].as_i64().unwrap() >= 5);
    assert!(prices["models"].as_array().unwrap().len() > 100);
}

#[rstest]
#[case("status")]
#[case("queries --json")]
#[case("matrix --query q")]
#[case("battles --query q")]
#[case("export votes")]
#[case("undo")]
#[case("config project")]
fn reading_a_project_that_is_not_there_is_refused_and_makes_none(#[case] arguments: &str) {
    let sandbox = Sandbox::new();
    sandbox.refused(arguments, 2, &["overrule.db", "no such project"]);
    assert!(!sandbox.project().exists());
}

#[rstest]
#[case("matrix --query q9", "\"q9\"")]
#[case("battles --query q9", "\"q9\"")]
#[case("battles --query capital-of-france --document d9", "\"d9\"")]
#[case("export ai-scores --query q9", "\"q9\"")]
#[case("export everything", "everything")]
#[case("rate", "rate")]
fn what_is_not_there_is_named(#[case] arguments: &str, #[case] word: &str) {
    imported().refused(arguments, 2, &[word]);
}

#[test]
fn the_workbench_needs_a_terminal_and_says_so() {
    let sandbox = imported();
    sandbox.refused("", 2, &["needs a terminal", "overrule status"]);
}

#[test]
fn the_sample_can_be_made_without_a_screen() {
    let sandbox = Sandbox::new();
    sandbox.done("demo --no-screen");
    let queries = sandbox.json("queries --json");
    assert_eq!(queries.as_array().unwrap().len(), 9);
    sandbox.done("demo --no-screen");
    assert_eq!(sandbox.json("queries --json"), queries);
}

#[test]
fn the_sample_of_recorded_votes_has_reasons_and_people_who_disagree() {
    let sandbox = Sandbox::new();
    sandbox.done("demo pandalm --no-screen");
    let status = sandbox.json("status --json");
    sandbox.done("demo pandalm --no-screen");
    assert_eq!(sandbox.json("status --json"), status);
    assert_eq!(sandbox.json("queries --json").as_array().unwrap().len(), 65);
    let judges = sandbox.json("judges --json");
    let names: Vec<_> = judges["judges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|judge| judge["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[..2], ["gpt-3.5-turbo", "pandalm-7b"]);
    let conflicts = sandbox.json("queue --conflicts --limit 1000 --json");
    assert!(conflicts.as_array().unwrap().len() > 20, "{conflicts}");
    sandbox
        .done("battles --query pandalm-122")
        .prints("Response 2 is ");
    sandbox.refused("demo --no-screen", 2, &["pandalm", "needs its own project"]);
}

#[test]
fn a_log_goes_to_its_file_and_nowhere_else() {
    let sandbox = imported();
    let plain = sandbox.done("status");
    let logged = sandbox.done("--log-file overrule.log status");
    assert_eq!(logged.stdout, plain.stdout);
    assert_eq!(logged.stderr, "");
    assert!(sandbox.path("overrule.log").exists());
}

/// Every command that prints, on a project with votes.
const PRINTING: [&str; 12] = [
    "status",
    "status --json",
    "queries",
    "queries --json",
    "matrix --query capital-of-france",
    "battles --query capital-of-france",
    "battles --query capital-of-france --json",
    "export ai-scores",
    "keys",
    "man",
    "--help",
    "config default",
];

fn into_closed_pipe(sandbox: &Sandbox, arguments: &str) -> Ran {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = sandbox.command(arguments);
    let child = command
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(command);
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: Vec::new(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = imported();
    for arguments in PRINTING {
        let ran = into_closed_pipe(&sandbox, arguments);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn output_that_is_lost_is_an_error() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        return;
    };
    let sandbox = imported();
    for arguments in PRINTING.iter().filter(|arguments| **arguments != "--help") {
        let mut command = sandbox.command(arguments);
        let status = command
            .stdout(full.try_clone().unwrap())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
    }
}

#[rstest]
#[case::csv("export votes")]
#[case::csv_of_verdicts("export verdicts")]
#[case::completions("completions bash")]
fn a_reader_of_tables_and_completions_that_goes_away_is_no_error(#[case] arguments: &str) {
    let ran = into_closed_pipe(&imported(), arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[rstest]
#[case::newer("PRAGMA user_version = 99", "newer version")]
#[case::foreign("PRAGMA application_id = 7", "another program's")]
fn a_file_that_is_no_project_is_bad_input(#[case] sql: &str, #[case] word: &str) {
    let sandbox = imported();
    rusqlite::Connection::open(sandbox.project())
        .unwrap()
        .execute_batch(sql)
        .unwrap();
    sandbox.refused("status", 2, &["overrule.db", word]);
}

#[rstest]
#[case::newer("PRAGMA user_version = 99", "newer version")]
#[case::foreign("PRAGMA application_id = 7", "another program's")]
fn a_file_that_is_not_understood_is_left_as_it_is(#[case] sql: &str, #[case] word: &str) {
    let sandbox = imported();
    {
        let db = rusqlite::Connection::open(sandbox.project()).unwrap();
        db.execute_batch(sql).unwrap();
    }
    let before = std::fs::read(sandbox.project()).unwrap();
    for arguments in [&["status"][..], &["import", AI_SCORES], &["doctor"]] {
        let ran = sandbox.run(arguments);
        assert_ne!(ran.code, Some(0), "{arguments:?}");
        assert!(
            format!("{}{}", ran.stderr, ran.text()).contains(word),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
    assert_eq!(std::fs::read(sandbox.project()).unwrap(), before);
}

#[rstest]
#[case::not_a_number("nan")]
#[case::infinite("inf")]
#[case::no_prior("0.0")]
#[case::negative("-1.0")]
fn rating_settings_that_are_no_settings_are_refused(#[case] lambda: &str) {
    let sandbox = Sandbox::new();
    sandbox.write("config.toml", format!("[rating]\nlambda = {lambda}\n"));
    let arguments = ["--config", "config.toml", "import", AI_SCORES];
    sandbox.refused(&arguments, 2, &["config.toml", "lambda"]);
    sandbox.done(&["import", AI_SCORES]);
    sandbox.refused(&["config", "project", "--lambda", lambda], 2, &["--lambda"]);
}

#[test]
fn a_matrix_without_scores_names_the_documents_to_blame() {
    let sandbox = imported();
    sandbox.done("config project --model mle");
    let matrix = sandbox.done(&MATRIX);
    let reason = matrix
        .text()
        .lines()
        .find(|line| line.starts_with("no scores: "))
        .unwrap();
    assert!(reason.contains("d2"), "{reason}");
}

#[test]
fn a_prior_is_learned_until_it_is_set() {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    let settings = |more: &str| sandbox.json(&format!("config project --json {more}"));
    let learned = settings("");
    assert_eq!(learned["lambda"], "auto");
    assert_eq!(learned["lambda_in_force"], 0.05);
    sandbox
        .done("status")
        .prints("prior precision λ per battle: 0.05 (default until there are 300 battles)");
    let set = settings("--lambda 0.15");
    assert_eq!(
        (&set["lambda"], &set["lambda_in_force"]),
        (&json!(0.15), &json!(0.15))
    );
    sandbox
        .done("status")
        .prints("prior precision λ per battle: 0.15 (set)");
    assert_eq!(settings("--lambda auto"), learned);
}

#[test]
fn a_variable_that_is_empty_counts_as_unset() {
    let sandbox = imported();
    for variable in [
        "OVERRULE_PROJECT",
        "OVERRULE_CONFIG",
        "OVERRULE_ANNOTATOR",
        "OVERRULE_LOG",
    ] {
        let run = |value: Option<&str>| {
            let mut command = sandbox.command("status");
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
            let done = command.output().unwrap();
            assert!(done.status.success(), "{variable}: {done:?}");
            done.stdout
        };
        assert_eq!(run(Some("")), run(None), "{variable}");
    }
}
