use super::*;
use proptest::prelude::*;
use ratatui::style::Modifier;

fn wrapped(text: &str, columns: usize) -> Vec<&str> {
    wrap(text, columns)
        .into_iter()
        .map(|line| &text[line])
        .collect()
}

#[test]
fn truncation_keeps_clusters_whole() {
    assert_eq!(truncate("relevance", 9), "relevance");
    assert_eq!(truncate("relevance", 5), "rele…");
    assert_eq!(truncate("漢字漢字", 5), "漢字…");
    assert_eq!(truncate("漢字漢字", 4), "漢…");
    assert_eq!(truncate("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
    assert_eq!(truncate("abc", 1), "…");
    assert_eq!(truncate("abc", 0), "");
}

#[test]
fn padding_fills_or_cuts_to_the_exact_width() {
    assert_eq!(pad_right("ab", 4), "ab  ");
    assert_eq!(pad_left("ab", 4), "  ab");
    assert_eq!(pad_left("漢字漢", 4), " 漢…");
    assert_eq!(width(&pad_right("漢字漢", 4)), 4);
}

#[test]
fn wrapping_prefers_spaces_and_keeps_newlines_and_indentation() {
    assert_eq!(
        wrapped("the quick brown fox", 9),
        ["the quick", "brown fox"]
    );
    assert_eq!(
        wrapped("one\n\n  two three", 6),
        ["one", "", "  two", "three"]
    );
    assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
    assert_eq!(wrapped("  abcdef", 4), ["  ab", "cdef"]);
    assert_eq!(wrapped("ab     cd", 4), ["ab", "cd"]);
    assert_eq!(wrapped("漢字漢字", 5), ["漢字", "漢字"]);
    assert_eq!(
        wrapped("see 漢字漢字 there", 8),
        ["see 漢字", "漢字", "there"]
    );
    assert_eq!(wrapped("", 4), [""]);
}

#[test]
fn a_number_keeps_what_belongs_to_it() {
    assert_eq!(wrapped("of them 94 % are", 11), ["of them", "94 % are"]);
    assert_eq!(wrapped("score 4.45 ± 1.26", 14), ["score", "4.45 ± 1.26"]);
    assert_eq!(wrapped("surprise 1.0 σ", 13), ["surprise", "1.0 σ"]);
    assert_eq!(wrapped("none % of them", 6), ["none %", "of", "them"]);
    assert_eq!(wrapped("94 %", 3), ["94", "%"]);
}

#[test]
fn a_probability_stays_on_one_line() {
    assert_eq!(
        wrapped("fit: A wins 93 % · P(A above B) 98 % · surprise", 34),
        ["fit: A wins 93 % ·", "P(A above B) 98 % · surprise"]
    );
    assert_eq!(
        wrapped("P(top 10 right) 7 %, not settled", 22),
        ["P(top 10 right) 7 %,", "not settled"]
    );
    assert_eq!(wrapped("P(A) and (B or C)", 12), ["P(A) and (B", "or C)"]);
}

#[test]
fn a_word_wider_than_the_line_is_broken_after_a_hyphen() {
    assert_eq!(wrapped("High-performance", 13), ["High-", "performance"]);
    assert_eq!(
        wrapped("a Self-assembling-x y", 13),
        ["a", "Self-", "assembling-x", "y"]
    );
    assert_eq!(wrapped("four-session", 13), ["four-session"]);
    assert_eq!(wrapped("--abcdef", 4), ["--", "abcd", "ef"]);
}

#[test]
fn labels_of_an_axis_never_touch() {
    assert_eq!(axis_ends("−6.7", "+6.7", Some(5), 11), "−6.7 0 +6.7");
    assert_eq!(axis_ends("−10.1", "+10.1", Some(5), 11), "−10.1 +10.1");
    assert_eq!(axis_ends("−10.1", "+10.1", Some(6), 13), "−10.1 0 +10.1");
    assert_eq!(axis_ends("−100.1", "+100.1", Some(5), 11), " ".repeat(11));
    assert_eq!(axis_ends("−1", "+9", Some(1), 9), "−1     +9");
    assert_eq!(axis_ends("+1", "+9", None, 6), "+1  +9");
    assert_eq!(axis_ends("", "", None, 0), "");
}

#[test]
fn a_title_is_never_broken_inside_a_word() {
    let lines = |title: &'static str, columns, rows| {
        title_lines(title, columns, rows)
            .into_iter()
            .map(Cow::into_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        lines("High-performance computing", 13, 2),
        ["High-", "performance …"]
    );
    assert_eq!(lines("Cyproheptadinium works", 13, 2), ["Cyproheptadi…"]);
    assert_eq!(
        lines("A Cyproheptadinium works", 13, 3),
        ["A", "Cyproheptadi…"]
    );
    assert_eq!(lines("漢字漢字漢字", 5, 2), ["漢字", "漢字…"]);
    assert_eq!(lines("one two", 13, 2), ["one two"]);
    assert_eq!(lines("", 13, 2), [""]);
    assert_eq!(lines("one two", 3, 0), [""; 0]);
}

#[test]
fn a_cluster_wider_than_the_line_stands_alone() {
    assert_eq!(wrapped("漢字", 1), ["漢", "字"]);
    assert_eq!(wrapped("ab", 0), ["a", "b"]);
}

#[test]
fn wrapping_a_long_text_takes_linear_time() {
    let text = "x".repeat(400_000) + &" ".repeat(200_000) + &"é ".repeat(50_000);
    assert!(wrap(&text, 80).len() > 5_000);
}

#[test]
fn marks_are_clipped_to_the_line_and_patched_in_order() {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let dim = Style::new().add_modifier(Modifier::DIM);
    let line = highlight(
        "alpha beta",
        2..8,
        &[(0..4, bold), (3..7, dim), (9..10, bold)],
    );
    let spans: Vec<_> = line
        .spans
        .iter()
        .map(|span| (span.content.as_ref(), span.style))
        .collect();
    assert_eq!(
        spans,
        [
            ("p", bold),
            ("h", bold.patch(dim)),
            ("a b", dim),
            ("e", Style::default())
        ]
    );
    assert!(highlight("é", 1..40, &[(1..2, bold)]).width() <= 1);
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_width(text in "[ a-z\n漢é\u{301}🙂\u{200d}\u{ff9e}\\PC]{0,80}", columns in 1_usize..30) {
        for line in wrap(&text, columns) {
            let line = &text[line];
            prop_assert!(width(line) <= columns || line.graphemes(true).filter(|g| cluster_width(g) > 0).count() == 1);
        }
        prop_assert!(width(&truncate(&text, columns)) <= columns);
    }

    #[test]
    fn wrapping_loses_nothing_but_blanks(text in "\\PC{0,120}", columns in 1_usize..20) {
        let joined: String = wrapped(&text, columns).concat();
        let ink = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        prop_assert_eq!(ink(&joined), ink(&text));
    }

    #[test]
    fn highlighting_keeps_the_text(text in "\\PC{0,40}", from in 0_usize..60, len in 0_usize..60) {
        let line = highlight(&text, 0..text.len(), &[(from..from + len, Style::new())]);
        prop_assert_eq!(line.to_string(), text);
    }
}

#[test]
fn a_dot_between_parts_does_not_begin_a_line() {
    let words = "bm25 → A 0.94 · ngram → A 0.93";
    let shown = lines(words, 15, Style::default());
    let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["bm25 → A 0.94", "ngram → A 0.93"]);

    let words =
        "fit: A wins 65 % · P(A above B) 86 % · surprising: 2.7 σ to B, which is a long part of it";
    let shown = lines(words, 32, Style::default());
    let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "fit: A wins 65 %",
            "P(A above B) 86 %",
            "surprising: 2.7 σ to B, which is",
            "a long part of it"
        ]
    );

    let shown = lines("one two · four five\nand six seven", 15, Style::default());
    let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["one two", "four five", "and six seven"]);
}

#[test]
fn a_line_that_is_cut_keeps_the_styles_of_its_parts() {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let line = Line::from(vec![Span::raw("judge "), Span::styled("flips often", bold)]);
    let cut = ended(&line, 12);
    assert_eq!(cut.to_string(), "judge flips…");
    assert_eq!(cut.spans[1].style, bold);
    assert_eq!(ended(&Line::raw("one  "), 9).to_string(), "one…");
}
