//! Judges that know nothing, and one that knows all, through the real command and over a real
//! server: what the report says of them.

use super::{court, desk, json_of, pick, told};
use crate::desk::Desk;
use rstest::rstest;
use serde_json::{Value, json};
use std::fmt::Write as _;

const QUERIES: usize = 102;
/// Every sixth query has two labeled documents, the others have one.
const LABELLED: usize = QUERIES + QUERIES / 6;
/// Enough where nothing is left to chance.
const FEW: usize = 30;
const DOCUMENTS: usize = 10;

/// A word of letters for each query, so that its documents are the ones found for it.
fn word(query: usize) -> String {
    let letter = |at: usize| char::from(b'a' + (query / at % 26) as u8);
    format!("zq{}{}x", letter(26), letter(1))
}

/// Judges of these names on the fake server, and pools of ten as `pool build` makes them.
fn benchmark(judges: &[&str], layout: &str, queries: usize) -> Desk {
    let desk = desk(judges);
    let (mut corpus, mut asked) = (String::new(), String::new());
    let mut qrels = String::from("query-id\tcorpus-id\tscore\n");
    for query in 0..queries {
        let word = word(query);
        let line = json!({"_id": query.to_string(), "text": format!("what of {word}?")});
        writeln!(asked, "{line}").unwrap();
        for at in 0..DOCUMENTS {
            let gold = at == 4 || (at == 7 && query % 6 == 0);
            let kind = if gold { "gold" } else { "tin" };
            let text = format!("{kind} {word}, number {at} of query {query}.");
            let line = json!({"_id": format!("d{query}-{at}"), "title": "", "text": text});
            writeln!(corpus, "{line}").unwrap();
            if gold {
                writeln!(qrels, "{query}\td{query}-{at}\t1").unwrap();
            }
        }
    }
    std::fs::create_dir_all(desk.path("beir/qrels")).unwrap();
    for (name, text) in [
        ("beir/corpus.jsonl", corpus),
        ("beir/queries.jsonl", asked),
        ("beir/qrels/test.tsv", qrels),
    ] {
        std::fs::write(desk.path(name), text).unwrap();
    }
    let build = ["pool", "build", "--beir", "beir", "--layout", layout];
    let output = desk.run(&[&build[..], &["--out", "built.jsonl"]].concat());
    assert!(output.status.success(), "{}", told(&output));
    std::fs::rename(desk.path("built.jsonl"), desk.path("pools.jsonl")).unwrap();
    desk
}

/// The first order's report on each judge, by name.
fn reports(desk: &Desk, way: &[&str]) -> impl Fn(&str) -> Value + use<> {
    let output = pick(desk, &[way, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let judges = json_of(&output)["judges"].clone();
    assert!(
        judges
            .as_array()
            .unwrap()
            .iter()
            .all(|judge| judge["missing"] == 0 && judge["failed"] == 0),
        "{judges}"
    );
    let found = court(desk);
    move |name| {
        let judge = found["judges"]
            .as_array()
            .unwrap()
            .iter()
            .find(|judge| judge["judge"] == name)
            .unwrap();
        judge["permutations"][0].clone()
    }
}

/// Three standard deviations of random picks: of the documents agreed on, and of κ, which grows
/// evenly with them. Of eight stubs that know nothing one is farther off than two of them in every
/// third set of pools, and none than three in 49 of 50.
fn three_sd(report: &Value) -> (f64, f64) {
    let count = |key: &str| report["boxes"][key].as_f64().unwrap();
    let (agreed, labels, picks) = (count("agreed"), count("label_only"), count("pick_only"));
    let all = agreed + labels + picks + count("neither");
    let (labelled, picked) = ((agreed + labels) / all, (agreed + picks) / all);
    let expected = labelled * picked + (1.0 - labelled) * (1.0 - picked);
    let sd = report["chance"]["sd"].as_f64().unwrap();
    (3.0 * sd, 3.0 * 2.0 * sd / (all * (1.0 - expected)))
}

fn kappa(report: &Value, key: &str) -> f64 {
    report["kappa"][key].as_f64().unwrap()
}

fn is_chance(name: &str, report: &Value) {
    let (of_agreed, of_kappa) = three_sd(report);
    let agreed = report["boxes"]["agreed"].as_f64().unwrap();
    let chance = report["chance"]["agreed"].as_f64().unwrap();
    assert!(
        (agreed - chance).abs() <= of_agreed,
        "{name}: {agreed} by chance {chance}"
    );
    let (found, expected) = (kappa(report, "value"), kappa(report, "chance"));
    assert!(
        (found - expected).abs() <= of_kappa,
        "{name}: κ {found} by chance {expected}"
    );
    assert!(
        found.abs() <= of_kappa,
        "{name}: κ {found}, 3 standard errors {of_kappa}"
    );
}

#[rstest]
// Two slots are an answer where two are asked for, and a list of one verdict is none.
#[case::as_many_as_labelled(&[], QUERIES / 6, "wrong-count")]
#[case::any_number(&["--open"], QUERIES, "")]
#[case::per_document(&["--per-document"], 0, "missing-slot")]
fn under_the_shuffled_layout_only_the_oracle_beats_chance(
    #[case] way: &[&str],
    #[case] echoes: usize,
    #[case] wrong: &str,
) {
    let judges = ["first", "garbage", "echo", "oracle", "random"];
    let desk = benchmark(&judges, "shuffled", QUERIES);
    let of = reports(&desk, way);
    // What breaks the rules is asked for once more, and only that.
    let expected = judges.len() * QUERIES + QUERIES + (QUERIES - echoes);
    assert_eq!(desk.server.requests().len(), expected);

    let garbage = of("garbage");
    assert_eq!(
        (&garbage["valid"], &garbage["kappa"]["value"]),
        (&json!(0), &Value::Null)
    );
    assert_eq!(garbage["invalid"], json!({"not-json": QUERIES}));
    assert_eq!(garbage["invalid_rate"]["value"], 1.0);

    let echo = of("echo");
    assert_eq!(echo["valid"], json!(echoes));
    if echoes < QUERIES {
        assert_eq!(echo["invalid"], json!({wrong: QUERIES - echoes}));
    }
    for name in ["first", "echo", "random"] {
        let report = of(name);
        if report["valid"] != 0 {
            is_chance(name, &report);
        }
    }
    // A preference for a place shows, also where it does no good.
    let rates = |report: &Value| [0, 9].map(|at| report["by_slot"][at]["pick_rate"].clone());
    assert_eq!(rates(&of("first")), [json!(1.0), json!(0.0)]);

    let oracle = of("oracle");
    assert_eq!(
        (&oracle["valid"], kappa(&oracle, "value")),
        (&json!(QUERIES), 1.0)
    );
    assert_eq!(oracle["boxes"]["agreed"], json!(LABELLED));
}

#[rstest]
#[case::as_many_as_labelled(&[])]
#[case::any_number(&["--open"])]
#[case::per_document(&["--per-document"])]
fn under_the_original_layout_the_first_slot_looks_good_and_is_given_away(#[case] way: &[&str]) {
    let desk = benchmark(&["first"], "original", FEW);
    let first = reports(&desk, way)("first");
    // Every pick is labeled, although the judge has read nothing.
    assert_eq!(
        (&first["precision"]["value"], &first["boxes"]["pick_only"]),
        (&json!(1.0), &json!(0))
    );
    assert!(kappa(&first, "value") > 0.9, "{}", first["kappa"]);
    let (of_agreed, _) = three_sd(&first);
    let chance = first["chance"]["agreed"].as_f64().unwrap();
    assert!(first["boxes"]["agreed"].as_f64().unwrap() > chance + 3.0 * of_agreed);
    // What gives it away: chance beside it, the rates by slot, and a note.
    let precision = first["precision"]["chance"].as_f64().unwrap();
    assert!(
        precision < 0.15 && kappa(&first, "chance") < 0.02,
        "{precision}"
    );
    let slots = first["by_slot"].as_array().unwrap();
    assert_eq!(slots[0]["pick_rate"], 1.0);
    assert!(
        slots[2..].iter().all(|slot| slot["pick_rate"] == 0.0),
        "{slots:?}"
    );
    let output = desk.run(&["court"]);
    let told = told(&output);
    for words in [
        "the labeled documents come first in every pool",
        "by chance",
        &format!("{:.1} %\n", 100.0 * precision),
        "slot 1",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn a_verdict_without_its_proof_spoils_no_other_and_counts_for_nothing() {
    let desk = benchmark(&["careless"], "original", FEW);
    let output = pick(&desk, &["--per-document"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // In the original layout the first slot is gold too; every sixth query has a second gold
    // document.
    let (without, misquoted) = (FEW, FEW / 6);
    let said = format!(
        "careless: {} verdicts without a sentence of the document",
        without + misquoted
    );
    assert!(told(&output).contains(&said), "{}", told(&output));
    let of = reports(&desk, &["--per-document"]);
    // An answer of which a part is spoilt is an answer: nothing is asked for once more.
    assert_eq!(desk.server.requests().len(), FEW);
    let report = of("careless");
    assert_eq!(
        (&report["valid"], &report["invalid"]),
        (&json!(FEW), &json!({}))
    );
    let by_verdict = |verdict: &str| report["by_verdict"][verdict]["unproven"].clone();
    assert_eq!(by_verdict("refutes"), json!(without));
    assert_eq!(by_verdict("supports"), json!(misquoted));
    let boxes = &report["boxes"];
    let counts = ["agreed", "label_only", "pick_only", "neither", "unproven"];
    let rest = FEW * DOCUMENTS - without - misquoted;
    assert_eq!(
        counts.map(|count| boxes[count].clone()),
        [0, 0, 0, rest, without + misquoted].map(|count| json!(count))
    );
    let verdicts = report["per_query"]["0"]["verdicts"].as_array().unwrap();
    assert_eq!(
        (&verdicts[0]["verdict"], &verdicts[0]["unproven"]),
        (&json!("refutes"), &json!("no-sentence"))
    );
    assert_eq!(
        (
            &verdicts[1]["verdict"],
            &verdicts[1]["sentence"],
            &verdicts[1]["unproven"]
        ),
        (
            &json!("supports"),
            &json!("It says so."),
            &json!("not-quoted")
        )
    );
    assert_eq!(verdicts[2]["sentence"], Value::Null);
    let output = desk.run(&["court"]);
    assert!(
        told(&output).contains("counted neither as picked nor as not picked"),
        "{}",
        told(&output)
    );
    // Nobody contradicts a label by a verdict that counts for nothing.
    let output = desk.run(&["court", "--disagreements"]);
    assert!(!told(&output).contains("d0-4"), "{}", told(&output));
    // The export goes back in as it came out.
    let output = desk.run(&["export", "picks", "--out", "picks.jsonl"]);
    assert!(output.status.success(), "{}", told(&output));
    let picks = std::fs::read_to_string(desk.path("picks.jsonl")).unwrap();
    assert_eq!(
        picks.matches("\"unproven\":\"no-sentence\"").count(),
        without
    );
    assert_eq!(
        picks.matches("\"unproven\":\"not-quoted\"").count(),
        misquoted
    );
}
