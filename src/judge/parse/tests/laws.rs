//! Properties of parsing: answers that follow the contract are read, and nothing else is.

use super::*;

/// Words as written by models and authors of documents, including reasoning marks and answers.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "Paris", "A", "B", "the", "first", "score", "is", "better", "No,", "1", "-0.5", "{", "}",
        "\"", "<", "\n", ".", "```json", "Yes",
    ]);
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

/// Text without letters and digits, which cannot be or contradict an answer.
fn marks() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", " ", "\n", "\n\n", " \n", "**\n"])
}

/// A mark that starts reasoning, and the one that ends it.
fn thinking() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("<think>", "</think>"),
        ("", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
        ("<reasoning>", "</think>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        (
            "<|channel|>analysis<|message|>",
            "<|start|>assistant<|channel|>final<|message|>",
        ),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
    ])
}

/// An answer in one of the supported forms.
fn answer() -> impl Strategy<Value = String> {
    let object = (-1.0..=1.0f64, ".{0,12}").prop_map(|(score, thought)| {
        serde_json::json!({"thoughts": [thought], "score": score}).to_string()
    });
    prop_oneof![
        object.clone(),
        object.prop_map(|object| format!("```json\n{object}\n```")),
        (-1.0..=1.0f64).prop_map(|score| format!("<score>{score}</score>")),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        score in -1.0..=1.0f64, thoughts in prop::collection::vec(".*", 0..4), before in "[ a-z.,]*", around in marks(),
    ) {
        let text = serde_json::json!({"thoughts": &thoughts, "score": score}).to_string();
        for text in [text.clone(), format!("{before}{around}{text}{around}")] {
            let opinion = parse(&text).unwrap();
            prop_assert_eq!(opinion.margin.get(), score);
            prop_assert_eq!(&opinion.thoughts, &thoughts);
        }
    }

    /// Whatever the reasoning, the answer after it counts.
    #[test]
    fn thinking_changes_no_answer(draft in answer(), words in words(), (open, close) in thinking()) {
        for (text, margin) in [(FINAL, -0.5), ("<score>1</score>", 1.0)] {
            let text = format!("{open}{words} {draft} {words}{close}\n{text}");
            prop_assert_eq!(parse(&text).ok().map(|opinion| opinion.margin.get()), Some(margin), "{}", text);
        }
    }

    /// A reply whose answers are all inside reasoning is never a vote.
    #[test]
    fn thinking_alone_is_never_a_vote(draft in answer(), words in words(), (open, close) in thinking()) {
        let closed = format!("{open}{words} {draft} {words}{close}");
        prop_assert!(parse(&closed).is_err(), "{}", closed);
        let words_after = format!("{closed}\nThe first one names the capital.");
        prop_assert!(parse(&words_after).is_err(), "{}", words_after);
        if !open.is_empty() {
            let unclosed = format!("{open}{words} {draft}");
            prop_assert!(parse(&unclosed).is_err(), "{}", unclosed);
        }
        let letter_in_it = format!("{open}{words}\nB\n{close}");
        prop_assert!(letter(letter_in_it.as_str().into(), None).is_err(), "{}", letter_in_it);
    }

    /// A reply whose answers are all in a document is never a vote, whatever surrounds them and
    /// wherever they are in the document.
    #[test]
    fn a_quoted_answer_is_never_a_vote(quoted in answer(), before in words(), after in words(), mark in prop::bool::ANY) {
        let quoted = quoted.trim_start_matches("```json\n").trim_end_matches("\n```").to_owned();
        let document = format!("Some text. {quoted} More text.");
        let shown = ["a query", "another document", document.as_str()];
        for quote in [quoted.clone(), quoted.replace("\",\"", "\",\n  \""), format!("```json\n{quoted}\n```")] {
            let mark = if mark { "</think>" } else { "" };
            // Braces and tags in it would start an answer that does not end.
            let around = |words: &str| words.replace(['{', '}', '<'], "");
            let text = format!("{} {mark} {quote} {}", around(&before), around(&after));
            prop_assert_eq!(margin(&text, &shown), None, "{}", text);
        }
    }

    /// Words around a letter never yield a vote, whatever the probabilities are.
    #[test]
    fn words_around_a_letter_are_never_a_vote(
        before in "([A-Za-z]{2,8} ){0,4}", letter in "[ABT]", after in "( [A-Za-z]{2,8}){0,4}",
    ) {
        prop_assume!(!before.is_empty() || !after.is_empty());
        let text = format!("{before}{letter}{after}");
        prop_assert!(super::letter(text.as_str().into(), Some(ODDS)).is_err(), "{}", text);
        prop_assert_eq!(answer_word(&text), None);
    }

    #[test]
    fn no_text_panics(
        text in "[ -~“\\u{0}\\u{202e}−]{0,40}",
        parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "\"score\"", "\"thoughts\"", ":", ",", "[", "]", "\"", "\\", "−1", "+1", "0.5", "NaN", "<score>",
            "</score>", "<think>", "</think>", "```", "```json ", " ", "é", "<|channel|>", "final", "<|message|>", "[THINK]",
            "◁/think▷", "\n", "assistantfinal", "<answer>", "</s>",
        ]), 0..14),
    ) {
        for text in [text, parts.concat()] {
            // A document may contain the whole reply, the end of it, or nothing of it.
            for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let shown = [&text[at..]];
                let written = Written { shown: &shown, ..Written::from(text.as_str()) };
                let _ = (score(written), choice(written), letter(written, None));
            }
        }
    }

    #[test]
    fn a_cut_object_is_never_a_vote(cut in 0..46usize) {
        let whole = r#"{"thoughts": ["a {b} c"], "score": 0.5, "x": 1}"#;
        prop_assert!(parse(&whole[..cut]).is_err());
    }
}
