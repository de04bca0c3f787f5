//! What is wrong with what was typed is said in words, with the file, the name that was meant, and
//! what to do.

use crate::support::{AI_SCORES, Sandbox};
use rstest::rstest;

fn imported() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.done(&["import", AI_SCORES]);
    sandbox
}

#[rstest]
#[case::query(
    "matrix --query capital-of-frnce",
    "(did you mean \"capital-of-france\"?); `overrule queries`"
)]
#[case::document(
    "override --query capital-of-france --a d1 --b d22 --verdict a",
    "did you mean \"d2\"?"
)]
#[case::judge(
    "annotate votes.jsonl --judges bm52 --dry-run",
    "did you mean \"bm25\"?"
)]
#[case::ranking("export run --ranking orginal", "did you mean \"original\"?")]
#[case::chapter("manual anotate", "did you mean \"annotate\"?")]
#[case::file(
    "import vots.jsonl",
    "there is no such file (did you mean \"votes.jsonl\"?)"
)]
#[case::folder("import nowhere/votes.jsonl", "there is no folder nowhere")]
fn the_nearest_name_is_offered(#[case] command: &str, #[case] words: &str) {
    let sandbox = imported();
    sandbox.write(
        "votes.jsonl",
        "{\"query\":{\"id\":\"q\",\"query\":\"x\"},\"documents\":[]}\n",
    );
    sandbox.refused(command, 2, &[words]);
}

#[test]
fn a_name_that_is_far_from_all_is_offered_none() {
    let ran = imported().refused("matrix --query weather", 2, &["no query \"weather\""]);
    assert!(!ran.stderr.contains("did you mean"), "{}", ran.stderr);
}

#[rstest]
#[case(
    "annotate in.jsonl --budget -1",
    "expected a dollar amount of 0 or more"
)]
#[case("pick --budget nan", "expected a dollar amount of 0 or more")]
#[case(
    "rerank --method prp@3 --budget inf",
    "expected a dollar amount of 0 or more"
)]
#[case(
    "annotate in.jsonl --concurrency 0",
    "expected a whole number of at least 1"
)]
#[case("pick --concurrency -1", "expected a whole number of at least 1")]
#[case(
    "queue --limit -1",
    "--limit <N>: expected a whole number of at least 0, found \"-1\""
)]
#[case(
    "queue --limit many",
    "--limit <N>: expected a whole number, found \"many\""
)]
#[case(
    "annotate in.jsonl --seed 99999999999999999999",
    "expected a smaller whole number"
)]
#[case("student sample --pairs 0", "0 is not in 1..")]
fn a_number_that_cannot_be_is_refused_before_anything_is_done(
    #[case] command: &str,
    #[case] words: &str,
) {
    let sandbox = Sandbox::new();
    sandbox.refused(command, 2, &[words]);
    assert!(!sandbox.project().exists());
}

#[rstest]
#[case::votes(
    "export votes --out votes.arrow",
    "the output is CSV (.csv), JSON lines (.jsonl) or Parquet (.parquet), not .arrow"
)]
#[case::lines(
    "export votes --format jsonl --out votes.csv",
    "JSON lines (.jsonl), not .csv"
)]
#[case::scores("export annotated --out scored.json", "Parquet (.parquet), not .json")]
#[case::labels("export qrels --out labels.csv", "TREC's columns")]
#[case::packed("export verdicts --out v.xlsx.gz", "or Parquet (.parquet), not .xlsx")]
#[case::training(
    "student export --form sft --out train.csv",
    "JSON lines (.jsonl) or Parquet (.parquet), not .csv"
)]
#[case::objects(
    "export picks --out picks.csv",
    "JSON lines (.jsonl) or Parquet (.parquet), not .csv"
)]
fn a_file_is_not_called_what_it_is_not(#[case] command: &str, #[case] words: &str) {
    let sandbox = imported();
    let before = std::fs::read_dir(sandbox.path("")).unwrap().count();
    sandbox.refused(command, 2, &[words, "rename the file"]);
    let after = std::fs::read_dir(sandbox.path("")).unwrap().count();
    assert_eq!(before, after);
}

#[test]
fn the_name_of_a_file_chooses_between_rows_and_lines() {
    let sandbox = imported();
    sandbox.done("export votes --out votes.jsonl");
    assert!(sandbox.read("votes.jsonl").starts_with('{'));
    sandbox.done("export votes --out votes.txt");
    assert!(sandbox.read("votes.txt").starts_with("query,"));
}

#[test]
fn nothing_is_printed_before_the_first_row_is_certain() {
    let sandbox = imported();
    sandbox.refused(
        "export predictions --student nobody",
        2,
        &["no student \"nobody\""],
    );
    sandbox.refused("export run --ranking nothing", 2, &["no such ranking"]);
    sandbox.refused(
        "battles --query nothing --json",
        2,
        &["no query \"nothing\""],
    );
}

#[test]
fn a_note_is_not_said_before_the_command_is_refused() {
    let sandbox = imported();
    for command in [
        "annotate absent.jsonl",
        "annotate --sample absent.jsonl",
        "annotate --pair nowhere d1 d2",
    ] {
        let ran = sandbox.run(command);
        assert_eq!(ran.code, Some(2));
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn a_cause_is_said_once() {
    let ran = Sandbox::new().refused(
        "--config absent.toml status",
        2,
        &["absent.toml: cannot be read"],
    );
    assert_eq!(
        ran.stderr.matches("no such file").count(),
        1,
        "{}",
        ran.stderr
    );
}

#[test]
fn a_log_goes_into_no_database_and_no_folder() {
    let sandbox = imported();
    let before = std::fs::read(sandbox.project()).unwrap();
    sandbox.refused(
        "--log-file overrule.db keys",
        2,
        &["overrule.db: is a database", "name another file"],
    );
    assert_eq!(std::fs::read(sandbox.project()).unwrap(), before);
    sandbox.refused(
        "--log-file . keys",
        2,
        &["is a folder", "name another file"],
    );
}

#[test]
fn an_empty_table_is_said_to_be_empty() {
    let sandbox = imported();
    sandbox.write("empty.csv", "");
    for command in ["gold import empty.csv", "student import empty.csv --name x"] {
        sandbox.refused(
            command,
            2,
            &["empty.csv: is empty; expected JSON lines, or CSV with the columns query, a, b"],
        );
    }
}

#[test]
fn the_usage_of_a_report_names_both_ways() {
    let ran = imported().run("student report");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .contains("student report [OPTIONS] --student <NAME>"),
        "{}",
        ran.stderr
    );
}
