//! `pool build` and the offline judges on texts of all scripts: without spaces, decomposed, and
//! with invisible characters.

use crate::support::Sandbox;
use rstest::rstest;
use serde_json::json;
use std::collections::BTreeSet;
use unicode_segmentation::UnicodeSegmentation as _;

const BUILD: &str = "pool build --beir b --out pools.jsonl --run-out run.trec";

/// A benchmark of these documents (d0, d1, …) and queries (q0, q1, …), where query n has document n
/// as its relevant one.
fn benchmark(documents: &[&str], queries: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("b/qrels")).unwrap();
    let records = |kind: &str, texts: &[&str]| -> String {
        let record = |(at, text): (usize, &&str)| {
            json!({"_id": format!("{kind}{at}"), "text": text}).to_string() + "\n"
        };
        texts.iter().enumerate().map(record).collect()
    };
    sandbox.write("b/corpus.jsonl", records("d", documents));
    sandbox.write("b/queries.jsonl", records("q", queries));
    let labels: String = (0..queries.len())
        .map(|at| format!("q{at}\td{at}\t1\n"))
        .collect();
    sandbox.write(
        "b/qrels/test.tsv",
        format!("query-id\tcorpus-id\tscore\n{labels}"),
    );
    sandbox
}

/// The documents that `pool build` found for a query, best first.
fn found(sandbox: &Sandbox, query: usize) -> Vec<String> {
    let query = format!("q{query} ");
    sandbox
        .read("run.trec")
        .lines()
        .filter(|line| line.starts_with(&query))
        .map(|line| line.split(' ').nth(2).unwrap().to_owned())
        .collect()
}

#[rstest]
#[case::chinese(
    &["中国的首都是北京，有很多古迹。", "华山是著名的旅游景点。", "上海是最大的城市。", "他昨天买了三本小说。"],
    &["中国首都", "华山旅游", "最大城市"],
)]
#[case::japanese(
    &["東京は日本の首都です。", "富士山は日本で一番高い山です。", "データベースの検索は速い。", "猫がねずみを追いかけた。"],
    &["日本の首都", "高い山", "データ検索"],
)]
#[case::thai(
    &["กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย", "ภูเขาสูงที่สุดคือดอยอินทนนท์", "น้ำตกสวยมากในฤดูฝน", "แมวกินปลาทู"],
    &["เมืองหลวง", "ภูเขาสูง", "น้ำตก"],
)]
#[case::korean(
    &["대한민국의 수도는 서울이다.", "한라산은 제주도에 있는 산이다.", "문서를 검색하는 방법을 배운다.", "고양이가 쥐를 쫓았다."],
    &["서울 수도", "제주도 한라산", "문서 검색 방법"],
)]
#[case::lao(
    &["ວຽງຈັນແມ່ນເມືອງຫຼວງ", "ພູເຂົາສູງ", "ນ້ຳຕົກງາມ"],
    &["ເມືອງຫຼວງ", "ພູເຂົາ"],
)]
#[case::khmer(
    &["ភ្នំពេញជារដ្ឋធានី", "ភាសាខ្មែរ", "ទឹកជ្រោះ"],
    &["រដ្ឋធានី", "ភាសា"],
)]
#[case::burmese(
    &["နေပြည်တော်သည်မြို့တော်ဖြစ်သည်", "မြန်မာဘာသာ", "ရေတံခွန်"],
    &["မြို့တော်", "ဘာသာ"],
)]
fn a_search_finds_what_a_search_by_characters_finds(
    #[case] documents: &[&str],
    #[case] queries: &[&str],
) {
    let sandbox = benchmark(documents, queries);
    let ran = sandbox.done(BUILD);
    assert!(!ran.stderr.contains("without spaces"), "{}", ran.stderr);
    let characters = |text: &str| -> BTreeSet<String> {
        text.graphemes(true)
            .filter(|character| character.starts_with(char::is_alphanumeric))
            .map(str::to_owned)
            .collect()
    };
    for (at, query) in queries.iter().enumerate() {
        let ranking = found(&sandbox, at);
        assert_eq!(ranking[0], format!("d{at}"), "{query}: {ranking:?}");
        let sharing: BTreeSet<String> = (0..documents.len())
            .filter(|other| !characters(query).is_disjoint(&characters(documents[*other])))
            .map(|other| format!("d{other}"))
            .collect();
        assert_eq!(
            ranking.into_iter().collect::<BTreeSet<_>>(),
            sharing,
            "{query}"
        );
    }
    // The offline judges prefer the same documents.
    sandbox.done("annotate pools.jsonl zelo.jsonl --judges offline");
    let measured = sandbox.json("evaluate b/qrels/test.tsv zelo.jsonl --metrics mrr --json");
    assert_eq!(measured["metrics"]["mrr"]["mean"], 1.0, "{measured}");
}

#[rstest]
#[case::soft_hyphen("they co\u{ad}operate well", "cooperate")]
#[case::zero_width_space("they co\u{200b}operate well", "cooperate")]
#[case::joiner("they co\u{2060}oper\u{200d}ate well", "cooperate")]
#[case::byte_order_mark("\u{feff}cooperate", "cooperate")]
#[case::hangul_decomposed("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}", "한국")]
#[case::hangul_composed("한국", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}")]
#[case::accent_decomposed("cafe\u{301}", "café")]
#[case::kana_decomposed("か\u{3099}ん", "がん")]
#[case::dotted_capital("İSTANBUL", "istanbul")]
#[case::capitals_of_turkish("ISPARTA", "ısparta")]
#[case::sharp_s("STRASSE", "Straße")]
#[case::final_sigma("ΟΔΟΣ", "οδός")]
#[case::virama("हिन्दी भाषा", "हिन्दी")]
fn a_word_is_found_however_it_is_encoded(#[case] document: &str, #[case] query: &str) {
    let sandbox = benchmark(&[document, "something else"], &[query]);
    sandbox.done(BUILD);
    assert_eq!(found(&sandbox, 0), ["d0"]);
}

/// Two documents that differ in their encoding alone are equal to every judge, and better than a
/// third one.
#[rstest]
#[case::hangul(
    "한국어 문서",
    "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}어 문서",
    "한국어"
)]
#[case::accent("a café there", "a cafe\u{301} there", "café")]
#[case::soft_hyphen("they cooperate", "they co\u{ad}operate", "cooperate")]
#[case::zero_width_space("they cooperate", "they co\u{200b}operate", "cooperate")]
#[case::dotted_capital("in istanbul", "in İstanbul", "istanbul")]
#[case::dotted_capital_query("in istanbul", "in İstanbul", "İSTANBUL")]
#[case::sharp_s("die straße", "die STRASSE", "Straße")]
fn equal_texts_are_equal_to_the_judges(
    #[case] one: &str,
    #[case] other: &str,
    #[case] query: &str,
) {
    let sandbox = Sandbox::new();
    let documents = json!([
        {"id": "one", "content": one}, {"id": "other", "content": other},
        {"id": "third", "content": "something else"},
    ]);
    let pool = json!({"query": {"id": "q", "query": query}, "documents": documents});
    sandbox.write("in.jsonl", pool.to_string());
    sandbox.done("annotate in.jsonl out.jsonl --judges offline");
    let battles = sandbox.json("battles --query q --json");
    for judge in ["bm25", "proximity", "ngram"] {
        let text = battles.to_string();
        assert!(text.contains(judge), "{text}");
    }
    let out: serde_json::Value = serde_json::from_str(&sandbox.read("out.jsonl")).unwrap();
    let score = |id: &str| {
        let documents = out["documents"].as_array().unwrap();
        let document = documents.iter().find(|document| document["id"] == id);
        document.unwrap()["score"].as_f64().unwrap()
    };
    assert!((score("one") - score("other")).abs() < 1e-9, "{out}");
    assert!(score("one") > score("third"), "{out}");
}

#[test]
fn the_profile_of_another_tool_says_what_it_misses() {
    let sandbox = benchmark(
        &["中国的首都是北京。", "plain text"],
        &["中国首都", "plain"],
    );
    let ran = sandbox.done(&format!("{BUILD} --profile duckdb"));
    ran.says("note: 1 document and 1 query have text without spaces between words");
    ran.says("--profile overrule");
    assert_eq!(found(&sandbox, 0), Vec::<String>::new());
    assert_eq!(found(&sandbox, 1), ["d1"]);
    let sandbox = benchmark(&["plain text"], &["plain"]);
    let ran = sandbox.done(&format!("{BUILD} --profile duckdb"));
    assert!(!ran.stderr.contains("without spaces"), "{}", ran.stderr);
}
