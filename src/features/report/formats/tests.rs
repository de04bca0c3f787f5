use super::*;
use crate::features::report::domain::{ReportTable, ReportedPair, ReportedQuery, ReportedVote};
use proptest::prelude::*;

fn escaped(text: &str) -> String {
    let mut out = String::new();
    MarkdownText.write_escaped_str(&mut out, text).unwrap();
    out
}

/// Undoes backslashes as Markdown does.
fn shown(markdown: &str) -> String {
    let mut letters = markdown.chars();
    let mut text = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text
}

proptest! {
    #[test]
    fn markdown_shows_every_text_as_it_is(text in "[ -~éß\n]{0,40}") {
        let escaped = escaped(&text);
        prop_assert_eq!(shown(&escaped), text.replace('\n', " "));
        let is_open = |(at, letter): (usize, char)| {
            let slashes = escaped[..at].chars().rev().take_while(|before| *before == '\\');
            "`*_[]<>|#&".contains(letter) && slashes.count() % 2 == 0
        };
        prop_assert!(!escaped.char_indices().any(is_open), "{escaped}");
    }
}

#[test]
fn the_same_report_is_written_in_both_formats() {
    let vote = ReportedVote {
        judge: "gpt".to_owned(),
        said: "prefers A, One (0.40)".to_owned(),
        reasoning: "<b>A names</b>\nthe trial".to_owned(),
    };
    let pair = ReportedPair {
        names: ["One".to_owned(), "Two".to_owned()],
        texts: ["first".to_owned(), "second".to_owned()],
        facts: vec!["ada (blind): Two is better".to_owned()],
        votes: vec![vote],
    };
    let report = ProjectReport {
        project: "p.db".to_owned(),
        overview: ReportTable::new(
            &["query", ">documents"],
            vec![vec!["q|1".to_owned(), "25".to_owned()]],
        ),
        queries: vec![ReportedQuery {
            anchor: "query-1".to_owned(),
            id: "q|1".to_owned(),
            decided: vec![pair],
            ..ReportedQuery::default()
        }],
        ..ProjectReport::default()
    };
    let page = html(&report).unwrap();
    for words in [
        "<th class=\"number\">documents</th>",
        "<td>q|1</td><td class=\"number\">25</td>",
        "&#60;b&#62;A names&#60;/b&#62;\nthe trial",
        "<li>ada (blind): Two is better</li>",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
    let page = markdown(&report).unwrap();
    for words in [
        "| query | documents |\n| --- | ---: |\n| q\\|1 | 25 |",
        "- gpt: prefers A, One \\(0.40\\) – \\<b\\>A names\\</b\\> the trial",
    ] {
        assert!(page.contains(words), "{words}\n{page}");
    }
}
