//! Wraps text to the width of a terminal.

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Wraps text between words to lines of at most `width` columns. Continuation lines are indented to
/// the first word of their line, or to the first word after a gap of two or more spaces. Text
/// between backticks is meant to be copied and is not broken.
pub(crate) fn wrapped(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| text.lines().any(|line| line.width() > *width)) else {
        return Cow::Borrowed(text);
    };
    let mut lines = Vec::new();
    for line in text.split('\n') {
        if line.width() <= width {
            lines.push(line.to_owned());
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let gap = line[indent..].find("  ").map(|gap| indent + gap);
        let begin = gap
            .map(|gap| line.len() - line[gap..].trim_start_matches(' ').len())
            .filter(|at| 2 * line[..*at].width() <= width);
        let (lead, words) = line.split_at(begin.unwrap_or(indent));
        wrap_into(&mut lines, lead.to_owned(), words, width, lead.width());
    }
    Cow::Owned(lines.join("\n"))
}

/// Adds words after a lead, in lines of `columns` columns, with continuation lines indented by
/// `hanging`.
pub(crate) fn wrap_into(
    out: &mut Vec<String>,
    lead: String,
    words: &str,
    columns: usize,
    hanging: usize,
) {
    let mut line = lead;
    let mut empty = true;
    for word in units(words, &['`']) {
        if !empty && line.width() + 1 + word.width() > columns {
            out.push(std::mem::replace(&mut line, " ".repeat(hanging)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push(line);
}

/// Adds a command line in lines of `columns` columns, with a backslash at the end of each but the
/// last, so that a shell reads a copy as one line. Quoted text is not broken.
pub(crate) fn wrap_command(
    out: &mut Vec<String>,
    indent: usize,
    command: &str,
    columns: usize,
    hanging: usize,
) {
    let words = units(command, &['"', '\'']);
    // Keep an option and its value together.
    let of_option =
        |word: &&str, next: &&str| word.starts_with("--") && !next.starts_with(['-', '|']);
    let mut line = " ".repeat(indent);
    let mut empty = true;
    for words in words.chunk_by(of_option) {
        let words = words.join(" ");
        if !empty && line.width() + 1 + words.width() + 2 > columns {
            line.push_str(" \\");
            out.push(std::mem::replace(&mut line, " ".repeat(hanging)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&words);
        empty = false;
    }
    out.push(line);
}

/// The words of a text; text between two of the same of these marks belongs to one word.
fn units<'a>(text: &'a str, marks: &[char]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let (mut start, mut open) = (0, None);
    for (at, character) in text.char_indices() {
        match open {
            Some(mark) if mark == character => open = None,
            None if marks.contains(&character) && text[at + 1..].contains(character) => {
                open = Some(character);
            }
            None if character == ' ' => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words.retain(|word| !word.is_empty());
    words
}

/// The beginning of a text that is wider than `columns` columns, with `…` at its end.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(character);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words_and_stay_below_their_first() {
        let text = "one two three\njudges   bm25 and ngram and gpt\n  in and on\n";
        assert_eq!(wrapped(text, None), text);
        let wanted =
            "one two three\njudges   bm25 and\n         ngram and\n         gpt\n  in and on\n";
        assert_eq!(wrapped(text, Some(18)), wanted);
        assert_eq!(wrapped("  one two three", Some(8)), "  one\n  two\n  three");
        assert_eq!(wrapped("/a/long/path", Some(8)), "/a/long/path");
    }

    #[test]
    fn what_is_to_be_copied_stays_on_one_line() {
        let text = "none yet (`overrule queue --policy mixed`)\n";
        let wanted = "none yet\n(`overrule queue --policy mixed`)\n";
        assert_eq!(wrapped(text, Some(34)), wanted);
        assert_eq!(wrapped("a ` b c", Some(4)), "a `\nb c");
        let mut out = Vec::new();
        wrap_command(
            &mut out,
            2,
            "overrule x --note \"names the trial\" --json",
            32,
            6,
        );
        let wanted = [
            "  overrule x \\",
            "      --note \"names the trial\" \\",
            "      --json",
        ];
        assert_eq!(out, wanted);
    }

    #[test]
    fn a_text_that_does_not_fit_ends_with_an_ellipsis() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("longer text", 7), "longer…");
        assert_eq!(shortened("漢字漢字", 5), "漢字…");
    }
}
