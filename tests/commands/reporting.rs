//! `report`: a page to share, whatever the texts contain; `status --require`: a check for CI.

use crate::support::Sandbox;
use serde_json::{Value, json};

/// Markup, a script, an image that would be loaded, and Markdown that would become a link.
const ATTACK: &str = "</p><script>alert(1)</script><img src=\"https://evil.example/a.png\" \
                      onerror=alert(1)>\" style='x' [link](https://evil.example) |cell| `code` # h \
                      www.evil.example {{ report }}";

/// A judged project with hostile texts, titles and names, and a verdict on its first battle.
fn attacked() -> Sandbox {
    let sandbox = Sandbox::new();
    let document = |id: &str| {
        json!({ "id": format!("{id}{ATTACK}"), "content": format!("apples {id} {ATTACK}\nmore"),
                "metadata": { "title": format!("{id} {ATTACK}") } })
    };
    let documents = ["a", "b", "c"].map(document);
    let line = json!({
        "query": { "id": "q1", "query": format!("apples {ATTACK}") },
        "documents": documents,
    });
    sandbox.write("in.jsonl", line.to_string());
    sandbox.done("annotate in.jsonl out.jsonl");
    let battles: Value = sandbox.json("battles --query q1 --json");
    let first = &battles["battles"][0];
    let id = |side: &str| first[side].as_str().unwrap().to_owned();
    let (a, b) = (id("a"), id("b"));
    let arguments = [
        "override",
        "--query",
        "q1",
        "--a",
        &a,
        "--b",
        &b,
        "--verdict",
        "b",
        "--note",
        ATTACK,
    ];
    let given = sandbox.run(&arguments);
    assert_eq!(given.code, Some(0), "{}", given.stderr);
    sandbox
}

/// A project with one query and no vote.
fn unjudged() -> Sandbox {
    let sandbox = Sandbox::new();
    let line = json!({
        "query": { "id": "q1", "query": "apples" },
        "documents": [{ "id": "a", "content": "apples" }, { "id": "b", "content": "pears" }],
    });
    sandbox.write("in.jsonl", line.to_string());
    sandbox.done("import in.jsonl");
    sandbox
}

#[test]
fn the_page_has_everything_and_nothing_of_the_texts_is_markup() {
    let sandbox = attacked();
    sandbox.done("report --html report.html --md report.md");
    let html = sandbox.read("report.html");
    for words in [
        "<h2 id=\"judges\">Judges</h2>",
        "bm25: not enough to tell (0 of 20 blind pairs).",
        "Pairs that people decided",
        "<svg xmlns=",
        "How the numbers were obtained",
        "&#60;script&#62;alert(1)&#60;/script&#62;",
    ] {
        assert!(html.contains(words), "{words}\n{html}");
    }
    let lower = html.to_lowercase();
    for markup in [
        "<script",
        "<img",
        "<a href=\"http",
        "onerror=alert(1)>\" style",
        "<link",
        "url(http",
    ] {
        assert!(!lower.contains(markup), "{markup}");
    }
    // Every address in an attribute is in the page itself, apart from the name of SVG.
    for attribute in ["href=\"", "src=\""] {
        for (at, _) in html.match_indices(attribute) {
            let rest = &html[at + attribute.len()..];
            assert!(rest.starts_with('#'), "{}", &rest[..40]);
        }
    }
    let markdown = sandbox.read("report.md");
    for words in [
        "\\<script\\>alert\\(1\\)",
        "\\[link\\]\\(https\\://evil\\.example\\)",
        "\\|cell\\|",
        "www\\.evil\\.example",
    ] {
        assert!(markdown.contains(words), "{words}\n{markdown}");
    }
    let unescaped = markdown.replace("\\<", "");
    assert!(!unescaped.contains('<') && !unescaped.contains("](http"));
}

#[test]
fn named_queries_have_sections_and_an_unknown_one_writes_nothing() {
    let sandbox = attacked();
    let line = json!({
        "query": { "id": "q2", "query": "pears" },
        "documents": [{ "id": "x", "content": "pears" }, { "id": "y", "content": "plums" }],
    });
    sandbox.write("more.jsonl", line.to_string());
    sandbox.done("annotate more.jsonl more-out.jsonl");
    sandbox.done("report --html all.html");
    let all = sandbox.read("all.html");
    assert_eq!(all.matches("<section ").count(), 2);
    sandbox.done("report --html one.html --query q2 --query q2");
    let one = sandbox.read("one.html");
    assert_eq!(one.matches("<section ").count(), 1);
    assert!(one.contains("Queries without a section: 1."), "{one}");
    let refused = sandbox.run("report --html none.html --query q9");
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(!sandbox.path("none.html").exists());
    for wrong in ["report", "report --html a.html --md a.html"] {
        assert_eq!(sandbox.run(wrong).code, Some(2), "{wrong}");
    }
}

#[test]
fn an_empty_project_says_what_is_missing() {
    let sandbox = unjudged();
    sandbox.done("report --html report.html");
    let html = sandbox.read("report.html");
    for words in [
        "<dt>Battles with a vote</dt><dd>not run</dd>",
        "<dt>Verdicts of people</dt><dd>none</dd>",
        "No scores: no battle is judged, or they cannot be fitted.",
    ] {
        assert!(html.contains(words), "{words}\n{html}");
    }
}

#[test]
fn a_requirement_of_the_status_that_is_not_met_is_the_exit_code() {
    let sandbox = unjudged();
    let early = sandbox.run("status --require fought=1");
    assert_eq!(early.code, Some(1));
    early.says("fought is not run, required: at least 100 %");
    sandbox.done("annotate in.jsonl out.jsonl");
    sandbox.done("status --require fought=1,failures=0 --require missing=0");
    let missed = sandbox.run("status --require failures=0,verdicts=3 --json");
    assert_eq!(missed.code, Some(1));
    missed.says("verdicts is 0, required: at least 3");
    let told: Value = serde_json::from_str(missed.text()).unwrap();
    assert_eq!(told["requirements"][0]["met"], true);
    assert_eq!(
        told["requirements"][1],
        json!({ "name": "verdicts", "value": 0.0, "required": 3.0, "at_least": true, "met": false })
    );
    assert_eq!(sandbox.run("status --require speed=1").code, Some(2));
}
