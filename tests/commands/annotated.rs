//! `overrule annotate`: in.jsonl to out.jsonl, resumable, cautious.

use crate::support::{Sandbox, dataset};
use rstest::rstest;
use serde_json::Value;
use std::path::Path;

/// One pool of each small size, and one of nine documents.
const SIZES: [usize; 4] = [1, 2, 3, 9];

fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("in.jsonl", dataset(SIZES));
    sandbox
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// Asserts the form of zBench's AnnotatedQueryDocuments and gives the documents' scores, pool by
/// pool.
fn scores(text: &str) -> Vec<Vec<Option<f64>>> {
    assert!(text.ends_with('\n') && !text.contains("\n\n"));
    text.lines()
        .map(|line| {
            let pool: Value = serde_json::from_str(line).unwrap();
            assert_eq!(keys(&pool), ["query", "documents"]);
            assert_eq!(keys(&pool["query"]), ["id", "query"]);
            assert!(pool["query"]["id"].is_string() && pool["query"]["query"].is_string());
            assert!(
                line.starts_with(r#"{"query":{"id":""#)
                    && !line.contains("\": ")
                    && !line.contains(", \"")
            );
            let documents = pool["documents"].as_array().unwrap();
            assert!(!documents.is_empty());
            let mut scores = Vec::new();
            for document in documents {
                assert_eq!(keys(document), ["id", "content", "metadata", "score"]);
                assert!(document["id"].is_string() && document["content"].is_string());
                assert!(document["metadata"].is_object());
                scores.push(document["score"].as_f64());
            }
            scores
        })
        .collect()
}

fn calls(sandbox: &Sandbox) -> u64 {
    sandbox.json("status --json")["calls"].as_u64().unwrap()
}

fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn annotate_writes_what_zbench_reads() {
    let sandbox = prepared();
    let ran = sandbox.done("annotate in.jsonl out.jsonl");
    assert_eq!(ran.text(), "", "the scores go to the file");
    assert!(
        ran.stderr.contains("lexical, not a language model")
            && ran.stderr.contains("wrote out.jsonl")
    );
    let scores = scores(&sandbox.read("out.jsonl"));
    assert_eq!(scores.iter().map(Vec::len).collect::<Vec<_>>(), SIZES);
    for pool in &scores {
        assert!(
            pool.iter().flatten().sum::<f64>().abs() < 1e-9,
            "scores sum to zero: {pool:?}"
        );
        assert_eq!(pool.iter().flatten().count(), pool.len());
    }
    assert_eq!(scores[0], [Some(0.0)]);
    assert!(scores[3].iter().flatten().any(|score| score.abs() > 0.1));
}

#[test]
fn each_document_of_a_pool_fights_its_share_of_battles() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl");
    let queries = sandbox.json("queries --json");
    let battles: Vec<u64> = queries
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["battles"].as_u64().unwrap())
        .collect();
    // One document has nobody to fight, two fight twice, three meet in three pairs twice, nine
    // fight 4 cycles of 9.
    assert_eq!(battles, [0, 2, 6, 36]);
    assert_eq!(calls(&sandbox), 3 * 44);
}

#[test]
fn a_second_run_calls_nobody_and_writes_the_same() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl");
    let (first, made) = (sandbox.read("out.jsonl"), calls(&sandbox));
    let again = sandbox.done("annotate in.jsonl again.jsonl");
    again.says(": 0 votes and 0 failures");
    again.says("132 votes already there");
    assert_eq!(calls(&sandbox), made);
    assert_eq!(sandbox.read("again.jsonl"), first);
}

#[test]
fn more_cycles_add_calls_and_repeat_none() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl --cycles 2");
    let before = calls(&sandbox);
    sandbox.done("annotate in.jsonl out.jsonl --cycles 4");
    let direct = prepared();
    direct.done("annotate in.jsonl out.jsonl --cycles 4");
    assert!(before < calls(&sandbox));
    assert_eq!(calls(&sandbox), calls(&direct));
}

#[test]
fn the_output_stands_beside_the_dataset_when_it_is_not_named() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl");
    assert_eq!(
        scores(&sandbox.read("in_annotated.jsonl")).len(),
        SIZES.len()
    );
}

#[test]
fn the_output_is_a_dataset_that_can_be_annotated_again() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl");
    let made = calls(&sandbox);
    sandbox.done("annotate out.jsonl twice.jsonl");
    assert_eq!(calls(&sandbox), made);
    assert_eq!(sandbox.read("twice.jsonl"), sandbox.read("out.jsonl"));
}

#[test]
fn a_dry_run_makes_no_project_and_no_output() {
    let sandbox = prepared();
    let before = listing(sandbox.project().parent().unwrap());
    let ran = sandbox.done("annotate in.jsonl out.jsonl --dry-run");
    assert!(
        ran.text().contains("total: 132 calls, $0.00 ")
            && ran.text().contains("nothing was changed")
    );
    let estimate = sandbox.json("annotate in.jsonl --dry-run --json");
    assert_eq!(estimate["queries"], 4);
    assert_eq!(estimate["battles"], 44);
    assert_eq!(listing(sandbox.project().parent().unwrap()), before);
}

#[test]
fn a_dry_run_on_a_project_changes_nothing_and_knows_what_is_there() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl --cycles 1");
    let state = |sandbox: &Sandbox| {
        (
            sandbox.json("status --json"),
            sandbox.json("queries --json"),
            sandbox.read("out.jsonl"),
        )
    };
    let before = state(&sandbox);
    let estimate = sandbox.json("annotate in.jsonl out.jsonl --dry-run --json");
    assert_eq!(estimate["already"], before.0["votes"]);
    let left: u64 = estimate["judges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|judge| judge["calls"].as_u64().unwrap())
        .sum();
    assert_eq!(left + calls(&sandbox), 132);
    assert_eq!(state(&sandbox), before);
}

#[test]
fn documents_past_the_limit_have_the_score_of_one_without_battles() {
    let sandbox = prepared();
    let ran = sandbox.done("annotate in.jsonl out.jsonl --document-limit 3");
    ran.says("6 documents past the limit: written with the score of a document without battles");
    let limited = scores(&sandbox.read("out.jsonl"));
    assert_eq!(limited.iter().map(Vec::len).collect::<Vec<_>>(), SIZES);
    assert_eq!(limited[3][3..], [Some(0.0); 6]);
    let judged: f64 = limited[3][..3].iter().flatten().sum();
    assert!(judged.abs() < 1e-9 && limited[3][..3].iter().all(Option::is_some));

    // zBench's iteration runs over all documents of the pool.
    sandbox.done("config project --model zbench");
    sandbox
        .done("annotate in.jsonl zbench.jsonl --document_threshold 3 --ai-scores ai_scores.json");
    let limited = scores(&sandbox.read("zbench.jsonl"));
    let all: f64 = limited[3].iter().flatten().sum();
    assert!(all.abs() < 1e-9, "{limited:?}");
    assert!(limited[3][3..].iter().all(|score| *score == limited[3][3]));
}

/// The file that zBench leaves behind: its members, and our own import reads it.
#[test]
fn the_votes_are_written_as_zbench_leaves_them() {
    let sandbox = prepared();
    let ran = sandbox.done("annotate in.jsonl out.jsonl --ai-scores ai_scores.json");
    ran.says("warning: zBench's own reader refuses this file");
    ran.says("wrote ai_scores.json");
    assert_eq!(
        sandbox.read("ai_scores.json"),
        sandbox.done("export ai-scores").text()
    );
    let judges = sandbox.json("judges --json");
    let judges = judges["judges"].as_array().unwrap().iter();
    let names: Vec<&str> = judges
        .map(|judge| judge["judge"].as_str().or(judge["name"].as_str()).unwrap())
        .collect();
    let named = format!(
        "openai={},gemini={},anthropic={}",
        names[0], names[1], names[2]
    );
    let ran = sandbox.done(&format!(
        "annotate in.jsonl out.jsonl --ai-scores zbench.json --as {named}"
    ));
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let file: Value = serde_json::from_str(&sandbox.read("zbench.json")).unwrap();
    assert_eq!(keys(&file), ["scored_pairs"]);
    let pairs = file["scored_pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 44);
    let members = ["pair", "openai_score", "gemini_score", "anthropic_score"];
    for pair in pairs {
        assert_eq!(keys(pair), members);
        assert_eq!(
            keys(&pair["pair"]),
            ["pair_id", "query_id", "query", "document_a", "document_b"]
        );
        for document in ["document_a", "document_b"] {
            let document = &pair["pair"][document];
            assert_eq!(keys(document), ["document_id", "metadata", "content"]);
        }
        for member in &members[1..] {
            assert_eq!(keys(&pair[*member]), ["thought", "score"]);
        }
    }
    // What was written is read again, in a new project.
    sandbox.done("import zbench.json --project again.db");
    let again = sandbox.done(
        "export ai-scores --project again.db --as openai=openai,gemini=gemini,anthropic=anthropic",
    );
    assert_eq!(again.text(), sandbox.read("zbench.json"));

    for (command, why) in [
        (
            "--ai-scores out.jsonl",
            "would overwrite the annotated file",
        ),
        ("--ai-scores votes.csv", "JSON (.json)"),
        ("--ai-scores in.jsonl", "would overwrite the dataset"),
        (
            "--ai-scores a.json --as openai=nobody",
            "no judge of these queries is called",
        ),
        ("--as openai=x", "--ai-scores"),
    ] {
        let command = format!("annotate in.jsonl out.jsonl {command}");
        sandbox.refused(command.as_str(), 2, &[why]);
    }
}

#[test]
fn zbench_spellings_of_the_options_work() {
    let sandbox = prepared();
    for (name, limit) in [("one", "document_limit"), ("two", "document_threshold")] {
        sandbox.done(&format!(
            "annotate in.jsonl {name}.jsonl --cycle_num 1 --{limit} 2 --project {name}.db"
        ));
    }
    assert_eq!(sandbox.read("one.jsonl"), sandbox.read("two.jsonl"));
    let written = scores(&sandbox.read("one.jsonl"));
    let judged = written
        .iter()
        .flatten()
        .filter(|score| **score != Some(0.0));
    assert_eq!(judged.count(), 6);
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_another_folder() {
    let (here, there) = (prepared(), prepared());
    here.done("annotate in.jsonl out.jsonl --seed 7 --cycles 2");
    there.done("annotate in.jsonl out.jsonl --seed 7 --cycles 2 --concurrency 1");
    assert_eq!(here.read("out.jsonl"), there.read("out.jsonl"));
    assert_eq!(pairs(&here), pairs(&there));
}

#[test]
fn another_seed_gives_another_plan() {
    let (here, there) = (prepared(), prepared());
    here.done("annotate in.jsonl out.jsonl --seed 7 --cycles 2");
    there.done("annotate in.jsonl out.jsonl --seed 8 --cycles 2");
    assert_ne!(pairs(&here), pairs(&there));
}

/// The pairs of the largest pool, in the order of its plan, with what each judge was shown first.
fn pairs(sandbox: &Sandbox) -> Vec<String> {
    let battles = sandbox.json("battles --query q3 --json");
    let battles = battles["battles"].as_array().unwrap();
    assert_eq!(battles.len(), 18);
    battles
        .iter()
        .map(|battle| {
            let shown: Vec<&Value> = battle["votes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|vote| &vote["swapped"])
                .collect();
            format!("{} {} {shown:?}", battle["a"], battle["b"])
        })
        .collect()
}

#[test]
fn judges_are_chosen_by_name_and_in_order() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl --judges ngram,bm25");
    let battles = sandbox.json("battles --query q1 --json");
    let votes = battles["battles"][0]["votes"].as_array().unwrap();
    assert_eq!(
        votes
            .iter()
            .map(|vote| vote["judge"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["ngram", "bm25"]
    );
}

#[rstest]
#[case::unknown_judge("annotate in.jsonl out.jsonl --judges nobody", &["\"nobody\"", "bm25, proximity, ngram"])]
#[case::dataset_as_output("annotate in.jsonl in.jsonl", &["would overwrite the dataset"])]
#[case::no_dataset("annotate absent.jsonl out.jsonl", &["absent.jsonl", "cannot be opened"])]
#[case::a_folder("annotate . out.jsonl", &["is a folder"])]
#[case::limit_zero("annotate in.jsonl out.jsonl --document-limit 0", &["--document-limit"])]
#[case::half_a_cycle("annotate in.jsonl out.jsonl --cycles 1.5", &["--cycles"])]
#[case::bad_config("annotate in.jsonl out.jsonl --config in.jsonl", &["in.jsonl"])]
fn what_cannot_be_done_is_refused_before_anything_is_written(
    #[case] arguments: &str,
    #[case] words: &[&str],
) {
    let sandbox = prepared();
    sandbox.refused(arguments, 2, words);
    assert!(!sandbox.path("out.jsonl").exists());
    assert_eq!(sandbox.read("in.jsonl"), dataset(SIZES));
    assert_eq!(sandbox.count("SELECT count(*) FROM query"), 0);
}

#[test]
fn recorded_votes_are_no_dataset() {
    let sandbox = Sandbox::new();
    sandbox.refused(
        &["annotate", crate::support::AI_SCORES, "out.jsonl"],
        2,
        &["recorded votes", "overrule import"],
    );
}

#[test]
fn a_query_with_other_documents_than_the_project_has_is_refused() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl");
    let before = sandbox.json("status --json");
    sandbox.write("other.jsonl", dataset([2]));
    sandbox.refused(
        "annotate other.jsonl other_out.jsonl",
        2,
        &["\"q0\"", "1 documents instead of 2"],
    );
    assert_eq!(sandbox.json("status --json"), before);
}

#[test]
fn bad_lines_stop_an_annotation_unless_they_are_to_be_left_out() {
    let sandbox = Sandbox::new();
    let mut lines = dataset([3]);
    lines += "{\"query\":\n";
    sandbox.write("in.jsonl", &lines);
    sandbox.refused(
        "annotate in.jsonl out.jsonl",
        2,
        &["in.jsonl:2:", "nothing imported"],
    );
    sandbox.refused("annotate in.jsonl --dry-run", 2, &["in.jsonl:2:"]);
    let ran = sandbox.done("annotate in.jsonl out.jsonl --skip-bad");
    ran.says("skipped 1 invalid line");
    assert_eq!(scores(&sandbox.read("out.jsonl")).len(), 1);
}

#[test]
fn scores_that_cannot_be_written_leave_the_votes_in_the_project() {
    let sandbox = prepared();
    sandbox.refused(
        "annotate in.jsonl nowhere/out.jsonl",
        2,
        &["nowhere/out.jsonl", "cannot be written"],
    );
    sandbox.done("annotate in.jsonl out.jsonl");
    assert_eq!(calls(&sandbox), 132);
}

#[test]
fn a_limit_writes_the_same_documents_whatever_ran_before() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl fresh.jsonl --document-limit 3 --project fresh.db");
    let documents = |name: &str| -> Vec<Vec<String>> {
        sandbox
            .read(name)
            .lines()
            .map(|line| {
                let pool: Value = serde_json::from_str(line).unwrap();
                let documents = pool["documents"].as_array().unwrap();
                documents.iter().map(|one| one["id"].to_string()).collect()
            })
            .collect()
    };
    let fresh = documents("fresh.jsonl");
    assert_eq!(fresh.iter().map(Vec::len).collect::<Vec<_>>(), SIZES);
    sandbox.done("annotate in.jsonl full.jsonl");
    for more in [
        "",
        " --cycles 6 --seed 9",
        " --query q3",
        " --sampler swiss",
    ] {
        let command = format!("annotate in.jsonl out.jsonl --document-limit 3{more}");
        sandbox.done(command.as_str());
        let wanted = if more.contains("--query") {
            &fresh[3..]
        } else {
            &fresh[..]
        };
        assert_eq!(documents("out.jsonl"), wanted, "{more}");
    }
    // The scores are those of the project, which has seen the other documents too.
    let (full, limited) = (scores(&sandbox.read("full.jsonl")), "out.jsonl");
    let kept = scores(&sandbox.read(limited));
    assert_eq!(kept[3].len(), full[3].len());
    assert!(kept[3].iter().all(Option::is_some) && kept[3][3] != Some(0.0));
    // Up again: everything is there, and nothing is bought for it.
    let before = calls(&sandbox);
    sandbox.done("annotate in.jsonl out.jsonl");
    assert_eq!(
        (documents("out.jsonl"), calls(&sandbox)),
        (documents("full.jsonl"), before)
    );
}

#[test]
fn metadata_that_was_edited_replaces_what_the_project_has() {
    let sandbox = Sandbox::new();
    let dataset = |source: &str, title: &str, rank: u64| {
        let documents: Vec<Value> = (0..3)
            .map(|at| {
                serde_json::json!({ "id": format!("d{at}"), "content": format!("text {at}"), "url": format!("u{rank}"),
                    "metadata": { "source": source, "title": title } })
            })
            .collect();
        let query = serde_json::json!({ "id": "q", "query": "text", "topic": rank });
        format!(
            "{}\n",
            serde_json::json!({ "query": query, "documents": documents, "split": rank })
        )
    };
    sandbox.write("a.jsonl", dataset("OLD", "old title", 1));
    sandbox.write("b.jsonl", dataset("NEW", "new title", 2));
    sandbox.done("annotate a.jsonl first.jsonl");
    let before = calls(&sandbox);
    let ran = sandbox.done("annotate b.jsonl second.jsonl");
    assert!(
        ran.stderr
            .contains("of 3 documents in 1 query differ from the project's and replace them"),
        "{}",
        ran.stderr
    );
    assert_eq!(calls(&sandbox), before, "every vote stays valid");
    let second: Value = serde_json::from_str(&sandbox.read("second.jsonl")).unwrap();
    assert_eq!(second["documents"][2]["metadata"]["source"], "NEW");
    assert_eq!(
        (&second["documents"][2]["url"], &second["split"]),
        (&"u2".into(), &2.into())
    );
    let scores_of = |name: &str| scores_only(&sandbox.read(name));
    assert_eq!(scores_of("first.jsonl"), scores_of("second.jsonl"));
    // Importing does the same, and says the same; a second time there is nothing to say.
    let imported = sandbox.json("import a.jsonl --json");
    assert_eq!(imported[0]["documents_updated"], 3, "{imported}");
    let again = sandbox.done("import a.jsonl");
    assert!(again.text().contains("1 already there"), "{}", again.text());
    assert!(!again.text().contains("differ"), "{}", again.text());
    let again = sandbox.done("annotate a.jsonl first.jsonl");
    assert!(!again.stderr.contains("differ"), "{}", again.stderr);
    // Texts are refused, before anything is estimated or asked.
    sandbox.write(
        "c.jsonl",
        dataset("OLD", "old title", 1).replace("text 2", "other"),
    );
    for more in ["", " --dry-run"] {
        let command = format!("annotate c.jsonl third.jsonl{more}");
        sandbox.refused(command.as_str(), 2, &["a different text for document"]);
    }
}

/// The scores of a file, whatever fields its lines have besides.
fn scores_only(text: &str) -> Vec<f64> {
    text.lines()
        .flat_map(|line| {
            let pool: Value = serde_json::from_str(line).unwrap();
            let documents = pool["documents"].as_array().cloned().unwrap();
            documents
                .into_iter()
                .map(|one| one["score"].as_f64().unwrap())
        })
        .collect()
}

#[test]
fn the_dataset_is_not_overwritten_under_another_spelling_of_its_name() {
    for spelling in ["./in.jsonl", "home/../in.jsonl", "link.jsonl"] {
        let sandbox = prepared();
        std::fs::create_dir(sandbox.path("home")).unwrap();
        std::os::unix::fs::symlink(sandbox.path("in.jsonl"), sandbox.path("link.jsonl")).unwrap();
        sandbox.refused(
            &["annotate", "in.jsonl", spelling],
            2,
            &["would overwrite the dataset"],
        );
        assert_eq!(sandbox.read("in.jsonl"), dataset(SIZES));
    }
}

#[test]
fn the_project_is_not_overwritten_by_the_scores() {
    let sandbox = prepared();
    sandbox.refused("annotate in.jsonl overrule.db", 2, &["overrule.db"]);
    sandbox.done("annotate in.jsonl out.jsonl");
    sandbox.refused("export annotated --out overrule.db", 2, &["overrule.db"]);
    sandbox.done("status");
}

#[test]
fn a_judge_named_twice_is_refused() {
    let sandbox = prepared();
    sandbox.refused(
        "annotate in.jsonl out.jsonl --judges bm25,bm25",
        2,
        &["\"bm25\"", "twice"],
    );
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_first_call() {
    let sandbox = prepared();
    sandbox.refused(
        "annotate in.jsonl nowhere/out.jsonl",
        2,
        &["nowhere/out.jsonl", "cannot be written"],
    );
    assert_eq!(sandbox.count("SELECT count(*) FROM vote"), 0);
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.refused("annotate in.jsonl folder", 2, &["folder"]);
    assert!(!sandbox.path("folder.part").exists());
}

#[test]
fn a_run_of_no_cycles_is_refused() {
    prepared().refused("annotate in.jsonl out.jsonl --cycles 0", 2, &["--cycles"]);
}

#[test]
fn a_project_is_one_file_after_the_command_has_ended() {
    let sandbox = prepared();
    sandbox.done("annotate in.jsonl out.jsonl");
    let copy = Sandbox::new();
    std::fs::copy(sandbox.project(), copy.project()).unwrap();
    assert_eq!(calls(&copy), 132);
}
