//! Splits texts into the tokens by which they are compared: words, or characters and pairs of
//! characters in scripts that are written without spaces between words.

use super::folding::{fold_into, is_ignorable};
use super::{normalize_into, readable};
use icu_properties::CodePointMapData;
use icu_properties::props::Script;
use icu_properties::script::ScriptWithExtensions;
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart<'a> {
    /// Words separated by spaces or punctuation, not yet split.
    Words(&'a str),
    /// One character, or two adjacent ones, of a script without spaces.
    Characters(&'a str),
}

/// Calls `take` with the parts of `text` in order, without invisible characters. A character comes
/// before the pair that it begins.
pub fn each_part(text: &str, mut take: impl FnMut(TextPart<'_>)) {
    let visible = VisibleText::new(readable(text));
    each_part_at(&visible.text, |_, part| take(part));
}

/// Calls `take` with each token of `text` in order: its byte range in `text`, and its normalized
/// form.
///
/// Tokens are words by Unicode's word boundaries (UAX #29). Text in a script without spaces, and
/// Korean text, where particles are attached to words, is split into characters and pairs of
/// adjacent characters; a pair follows its first character.
pub fn each_token(text: &str, mut take: impl FnMut(Range<usize>, &str)) {
    let visible = VisibleText::new(readable(text));
    let mut normal = String::new();
    each_part_at(&visible.text, |start, part| match part {
        TextPart::Words(words) => {
            for (at, word) in words.unicode_word_indices() {
                normalize_into(word, &mut normal);
                take(visible.origin(start + at, word), &normal);
            }
        }
        TextPart::Characters(characters) => {
            fold_into(characters, &mut normal);
            take(visible.origin(start, characters), &normal);
        }
    });
}

/// Whether a text has words without spaces between them, which a search that splits at spaces
/// misses.
pub fn is_unspaced(text: &str) -> bool {
    text.chars()
        .any(|c| is_read_by_character(c) && script(c) != Script::Hangul)
}

/// Whether a token is a single character of a script without spaces.
pub(super) fn is_one_character(token: &str) -> bool {
    token.starts_with(is_read_by_character) && token.graphemes(true).nth(1).is_none()
}

/// A text without ignorable characters, and a map to the bytes of the original.
struct VisibleText<'a> {
    text: Cow<'a, str>,
    /// Positions in `text`, each with the total number of bytes removed up to there.
    left_out: Vec<(usize, usize)>,
}

impl<'a> VisibleText<'a> {
    fn new(text: &'a str) -> Self {
        let mut left_out = Vec::new();
        if text.is_ascii() || !text.contains(is_ignorable) {
            let text = Cow::Borrowed(text);
            return Self { text, left_out };
        }
        let mut visible = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            if is_ignorable(c) {
                left_out.push((visible.len(), at + c.len_utf8() - visible.len()));
            } else {
                visible.push(c);
            }
        }
        Self {
            text: Cow::Owned(visible),
            left_out,
        }
    }

    /// The byte range in the original text of `token`, which starts at `start` in `text`.
    fn origin(&self, start: usize, token: &str) -> Range<usize> {
        let left_out = |cuts: usize| {
            cuts.checked_sub(1)
                .and_then(|last| self.left_out.get(last))
                .map_or(0, |(_, bytes)| *bytes)
        };
        let end = start + token.len();
        let before_start = self.left_out.partition_point(|(at, _)| *at <= start);
        let before_end = self.left_out.partition_point(|(at, _)| *at < end);
        start + left_out(before_start)..end + left_out(before_end)
    }
}

/// [`each_part`] of a text without ignorable characters, with the first byte of each part.
fn each_part_at<'a>(text: &'a str, mut take: impl FnMut(usize, TextPart<'a>)) {
    if text.is_ascii() || !text.contains(is_read_by_character) {
        take(0, TextPart::Words(text));
        return;
    }
    let mut words = 0;
    let mut clusters = text.grapheme_indices(true).peekable();
    while let Some((at, cluster)) = clusters.next() {
        if !cluster.starts_with(is_read_by_character) {
            continue;
        }
        if words < at {
            take(words, TextPart::Words(&text[words..at]));
        }
        words = at + cluster.len();
        take(at, TextPart::Characters(cluster));
        let next = clusters.peek();
        if let Some((_, next)) = next.filter(|(_, next)| next.starts_with(is_read_by_character)) {
            let pair = &text[at..words + next.len()];
            take(at, TextPart::Characters(pair));
        }
    }
    if words < text.len() {
        take(words, TextPart::Words(&text[words..]));
    }
}

/// Whether a character is a letter or digit of a script that is written without spaces between
/// words, or of Korean.
fn is_read_by_character(c: char) -> bool {
    // Below are Latin, Greek, Cyrillic and the alphabets of the Near East and India.
    c >= '\u{e00}'
        && c.is_alphanumeric()
        && matches!(
            script(c),
            Script::Ahom
                | Script::Balinese
                | Script::Bopomofo
                | Script::Han
                | Script::Hangul
                | Script::Hiragana
                | Script::Javanese
                | Script::Katakana
                | Script::Khmer
                | Script::Lao
                | Script::Myanmar
                | Script::NewTaiLue
                | Script::Nushu
                | Script::TaiLe
                | Script::TaiTham
                | Script::TaiViet
                | Script::Tangut
                | Script::Thai
                | Script::Yi
        )
}

/// The script of a character. Signs that several scripts share, such as ー, count as Katakana if
/// that is one of them.
fn script(c: char) -> Script {
    match CodePointMapData::<Script>::new().get(c) {
        Script::Common | Script::Inherited
            if ScriptWithExtensions::new().has_script(c, Script::Katakana) =>
        {
            Script::Katakana
        }
        script => script,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
    use proptest::prelude::*;
    use rstest::rstest;

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        each_token(text, |_, token| tokens.push(token.to_owned()));
        tokens
    }

    #[rstest]
    #[case::english("The Cell's wall", "the cell wall")]
    #[case::chinese("中国的。", "中 中国 国 国的 的")]
    #[case::japanese("データを", "デ デー ー ータ タ タを を")]
    #[case::thai("น้ำใจ", "น้ำ น้ำใ ใ ใจ จ")]
    #[case::korean("검색을 AI검색", "검 검색 색 색을 을 ai 검 검색 색")]
    #[case::korean_decomposed("\u{1100}\u{1165}\u{11b7}\u{1109}\u{1162}\u{11a8}", "검 검색 색")]
    #[case::khmer("ភាសា", "ភា ភាសា សា")]
    #[case::lao("ພາສາ", "ພ ພາ າ າສ ສ ສາ າ")]
    #[case::burmese("မြန်မာ", "မြ မြန် န် န်မ မ မာ ာ")]
    #[case::mixed("iPhone手机 15号", "iphone 手 手机 机 15 号")]
    #[case::hindi("हिन्दी भाषा", "हिन्दी भाषा")]
    #[case::soft_hyphen("co\u{ad}operate", "cooperate")]
    #[case::zero_width_space("中\u{200b}国 na\u{200b}me", "中 中国 国 name")]
    fn words_and_characters(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(tokens(text).join(" "), expected);
    }

    #[test]
    fn a_token_is_where_the_text_spells_it() {
        let text = "\u{feff}Co\u{ad}operate\u{200b}, \u{200b}中\u{2060}国";
        let mut found = Vec::new();
        each_token(text, |range, token| {
            found.push((&text[range], token.to_owned()))
        });
        let found: Vec<(&str, &str)> = found.iter().map(|(x, y)| (*x, y.as_str())).collect();
        assert_eq!(
            found,
            [
                ("Co\u{ad}operate", "cooperate"),
                ("中", "中"),
                ("中\u{2060}国", "中国"),
                ("国", "国"),
            ]
        );
    }

    #[test]
    fn korean_has_spaces_and_chinese_has_none() {
        for (text, expected) in [
            ("plain", false),
            ("한국어 검색", false),
            ("中国", true),
            ("ไทย", true),
            ("、。", false),
        ] {
            assert_eq!(is_unspaced(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn tokens_are_in_order_and_the_form_of_their_text_alone(
            text in "[a-c' .\u{ad}\u{200b}ÄßİI中国語ガか\u{3099}ーไทยน้ำ검색\u{1100}\u{1161}\u{11a8}हिन्]{0,24}|.{0,24}",
        ) {
            let mut last = 0;
            each_token(&text, |range, token| {
                assert!(last <= range.start && range.start < range.end);
                last = range.start;
                let mut normal = String::new();
                normalize_into(&text[range], &mut normal);
                assert_eq!(token, normal);
            });
            let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&text).into_owned();
            let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&text).into_owned();
            prop_assert_eq!(tokens(&composed), tokens(&decomposed));
        }
    }
}
