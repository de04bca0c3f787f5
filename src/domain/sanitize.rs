//! Sanitizes text of documents and models for the terminal: anything that could move the cursor,
//! change colors, reorder or hide text, or take a different width than it claims is replaced by
//! something visible.
//!
//! Control characters become their control pictures (`␛`, `␀`), other invisible characters `·`.
//! Ordinary text in any script is unchanged: Persian keeps its non-joiners, Hindi its joiners, and
//! accents stay combined.

use std::borrow::Cow;

/// Safe text for one line, without line breaks. Tabs and line breaks become a space.
pub fn line(text: &str) -> Cow<'_, str> {
    clean(text, LineBreaks::Space)
}

/// Safe text for several lines, with `\n` as its only line break and only control character. Tabs
/// become four spaces.
pub fn block(text: &str) -> Cow<'_, str> {
    clean(text, LineBreaks::Newline)
}

/// Whether a character should not appear in a message: a control, bidirectional or invisible
/// character.
pub fn is_hazard(ch: char) -> bool {
    ch.is_control() || is_invisible(ch) || is_selector(ch) || matches!(ch, ZWNJ | ZWJ | SOFT_HYPHEN)
}

const ZWNJ: char = '\u{200c}';
const ZWJ: char = '\u{200d}';
const SOFT_HYPHEN: char = '\u{ad}';
const DOT: &str = "·";

/// More combining marks than this on one letter are an attack on the line above, not an accent.
const MARKS_PER_LETTER: u8 = 6;
/// An emoji sequence has one selector and one joiner after each picture; more would be hidden data.
const JOINS_PER_LETTER: u8 = 2;

const CONTROL_PICTURES: [&str; 32] = [
    "␀", "␁", "␂", "␃", "␄", "␅", "␆", "␇", "␈", "␉", "␊", "␋", "␌", "␍", "␎", "␏", "␐", "␑", "␒",
    "␓", "␔", "␕", "␖", "␗", "␘", "␙", "␚", "␛", "␜", "␝", "␞", "␟",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineBreaks {
    Space,
    Newline,
}

/// The context from the preceding characters; removed characters do not change it.
#[derive(Default)]
struct CleanContext {
    previous: Option<char>,
    marks: u8,
    joins: u8,
}

fn clean(text: &str, breaks: LineBreaks) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut context = CleanContext::default();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let plain = plain_ascii(rest.as_bytes(), breaks);
        if plain > 0 {
            context = CleanContext {
                previous: rest[..plain].chars().next_back(),
                ..CleanContext::default()
            };
        }
        at += plain;
        let Some(ch) = rest[plain..].chars().next() else {
            break;
        };
        let mut end = at + ch.len_utf8();
        if ch == '\r' && text.as_bytes().get(end) == Some(&b'\n') {
            end += 1;
        }
        if let Some(replacement) = context.replacement(ch, breaks) {
            out.push_str(&text[copied..at]);
            out.push_str(replacement);
            copied = end;
        }
        at = end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Number of bytes at the start that are printable ASCII, or newlines to keep.
fn plain_ascii(bytes: &[u8], breaks: LineBreaks) -> usize {
    bytes
        .iter()
        .position(|byte| {
            !matches!(byte, b' '..=b'~') && (*byte != b'\n' || breaks == LineBreaks::Space)
        })
        .unwrap_or(bytes.len())
}

impl CleanContext {
    fn replacement(&mut self, ch: char, breaks: LineBreaks) -> Option<&'static str> {
        match ch {
            '\n' | '\r' if breaks == LineBreaks::Newline => self.replaced("\n"),
            '\n' | '\r' => self.replaced(" "),
            '\t' if breaks == LineBreaks::Newline => self.replaced("    "),
            '\t' => self.replaced(" "),
            '\u{7f}' => self.replaced("␡"),
            SOFT_HYPHEN => Some(""),
            ZWJ | ZWNJ if self.previous.is_some_and(joins_letters) => self.kept(ch),
            ZWJ => self.joined(),
            ch if is_selector(ch) => self.joined(),
            ch if is_mark(ch) => {
                self.marks = self.marks.saturating_add(1);
                (self.marks > MARKS_PER_LETTER).then_some("")
            }
            ch if is_invisible(ch) || ch == ZWNJ => self.replaced(DOT),
            ch if ch.is_control() => {
                self.replaced(CONTROL_PICTURES.get(ch as usize).copied().unwrap_or(DOT))
            }
            ch => self.kept(ch),
        }
    }

    fn kept(&mut self, ch: char) -> Option<&'static str> {
        *self = Self {
            previous: Some(ch),
            ..Self::default()
        };
        None
    }

    fn replaced(&mut self, replacement: &'static str) -> Option<&'static str> {
        *self = Self::default();
        Some(replacement)
    }

    /// Handles a joiner or selector. Without it, a picture is drawn in its plain form, with the
    /// width it claims.
    fn joined(&mut self) -> Option<&'static str> {
        let carries = self
            .previous
            .is_some_and(|base| !base.is_ascii() || matches!(base, '#' | '*' | '0'..='9'));
        if carries && self.joins < JOINS_PER_LETTER {
            self.joins += 1;
            return Some("");
        }
        self.replaced(DOT)
    }
}

/// Scripts whose spelling needs the zero-width joiner and non-joiner: Semitic, Indic, Southeast
/// Asian, Mongolian.
fn joins_letters(ch: char) -> bool {
    matches!(ch, '\u{5d0}'..='\u{109f}' | '\u{1700}'..='\u{18af}' | '\u{1a20}'..='\u{1aaf}' | '\u{a800}'..='\u{abff}')
}

fn is_mark(ch: char) -> bool {
    matches!(
        ch,
        '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
    )
}

fn is_selector(ch: char) -> bool {
    matches!(ch, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_invisible(ch: char) -> bool {
    matches!(
        ch,
        '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
            | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("plain text, naïve 文字", "plain text, naïve 文字")]
    #[case("\u{1b}[31mred\u{1b}[0m", "␛[31mred␛[0m")]
    #[case("\u{1b}]0;title\u{7}", "␛]0;title␇")]
    #[case("a\tb\nc\r\nd\re", "a b c d e")]
    #[case(
        "nul \0 del \u{7f} csi \u{9b}31m nel \u{85}",
        "nul ␀ del ␡ csi ·31m nel ·"
    )]
    #[case("user\u{202e}txt.exe\u{2069}", "user·txt.exe·")]
    #[case("a\u{2028}b\u{200b}c\u{feff}d", "a·b·c·d")]
    #[case("soft\u{ad}hyphen", "softhyphen")]
    #[case("می\u{200c}خواهم", "می\u{200c}خواهم")]
    #[case("क\u{94d}\u{200d}ष", "क\u{94d}\u{200d}ष")]
    #[case("ig\u{200c}no\u{200d}re", "ig·no·re")]
    #[case("👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3}", "👩👧 ❤ 1\u{20e3}")]
    #[case("❤\u{fe0f}\u{fe01}\u{fe02}\u{fe03}", "❤··")]
    #[case("a\u{e0041}\u{e0042}b", "a··b")]
    #[case("e\u{301}", "e\u{301}")]
    #[case("\u{200d}\u{fe0f}", "··")]
    fn a_line_shows_what_it_cannot_print(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(line(text), expected);
    }

    #[rstest]
    #[case("a\nb", "a\nb")]
    #[case("a\r\nb\rc\n", "a\nb\nc\n")]
    #[case("fn f() {\n\treturn\u{8}\n}", "fn f() {\n    return␈\n}")]
    fn a_block_keeps_its_lines(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(block(text), expected);
    }

    #[test]
    fn clean_text_is_borrowed() {
        assert!(matches!(line("Zürich, 東京 and Москва"), Cow::Borrowed(_)));
        assert!(matches!(block("two\nlines"), Cow::Borrowed(_)));
        assert!(matches!(line(""), Cow::Borrowed("")));
    }

    #[test]
    fn a_tower_of_marks_is_cut() {
        let zalgo = format!("a{}b", "\u{301}".repeat(500));
        assert_eq!(
            line(&zalgo),
            format!("a{}b", "\u{301}".repeat(usize::from(MARKS_PER_LETTER)))
        );
    }

    fn nasty() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            any::<char>(),
            prop::char::ranges(
                vec![
                    '\0'..='\u{a0}',
                    '\u{2000}'..='\u{206f}',
                    '\u{fe00}'..='\u{fe0f}'
                ]
                .into()
            ),
            prop::sample::select(vec![
                '\r', '\n', '\t', '\u{1b}', '\u{301}', '\u{ad}', 'ب', '❤', '\u{200c}', '\u{94d}'
            ]),
        ];
        prop::collection::vec(pieces, 0..60).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn no_control_character_survives(text in nasty()) {
            let (line, block) = (line(&text), block(&text));
            prop_assert!(!line.chars().any(|ch| ch.is_control() || is_invisible(ch) || is_selector(ch)));
            prop_assert!(!block.chars().any(|ch| ch != '\n' && (ch.is_control() || is_invisible(ch) || is_selector(ch))));
        }

        #[test]
        fn cleaning_twice_is_cleaning_once(text in nasty()) {
            let (once, lines) = (line(&text).into_owned(), block(&text).into_owned());
            prop_assert!(matches!(line(&once), Cow::Borrowed(same) if same == once));
            prop_assert!(matches!(block(&lines), Cow::Borrowed(same) if same == lines));
        }

        #[test]
        fn printable_ascii_is_left_alone(text in "[ -~]{0,80}") {
            prop_assert_eq!(line(&text), text.as_str());
        }
    }
}
