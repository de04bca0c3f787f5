//! Folds texts for comparison: without case or invisible characters, and composed (Unicode NFC).

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

/// The combining dot that remains over the i when İ is lowercased.
const DOT_ABOVE: char = '\u{307}';

/// Whether a character is invisible and does not distinguish words: a soft hyphen, a zero-width
/// space or joiner, a variation selector.
pub fn is_ignorable(c: char) -> bool {
    c >= '\u{ad}' && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// Unicode's full case folding of a character, except that ı becomes i as well, so that a text and
/// its uppercase form fold to the same text in every language.
fn fold_case(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}

/// `text` folded for comparison.
pub fn folded(text: &str) -> String {
    let mut folded = String::new();
    fold_into(text, &mut folded);
    folded
}

/// Writes `text`, [`folded`], to a buffer that is cleared first.
pub fn fold_into(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        folded.push_str(text);
        folded.make_ascii_lowercase();
        return;
    }
    let visible = text.chars().filter(|c| !is_ignorable(*c));
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize_iter(visible);
    let mut last = ' ';
    let small = decomposed.flat_map(fold_case).filter(|c| {
        // `last` remains the i, so that further dots are dropped too and a folded text folds to
        // itself.
        if *c == DOT_ABOVE && last == 'i' {
            return false;
        }
        last = *c;
        true
    });
    folded.extend(ComposingNormalizerBorrowed::new_nfc().normalize_iter(small));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_composition_and_invisible_characters_do_not_matter() {
        for (text, expected) in [
            ("The CELL", "the cell"),
            ("İstanbul ISPARTA ısparta", "istanbul isparta isparta"),
            ("i\u{307}", "i"),
            ("İ\u{307}", "i"),
            ("Straße STRASSE", "strasse strasse"),
            ("ΟΔΟΣ οδος οδοσ", "οδοσ οδοσ οδοσ"),
            ("\u{212a} ſ µ", "k s μ"),
            ("Cafe\u{301} CAFÉ", "café café"),
            ("\u{1112}\u{1161}\u{11ab}국", "한국"),
            (
                "co\u{ad}op\u{200b}er\u{200d}ate\u{feff}\u{2060}",
                "cooperate",
            ),
            ("が か\u{3099}", "が が"),
            ("น้ำ", "น้ำ"),
        ] {
            assert_eq!(folded(text), expected);
        }
    }

    proptest! {
        #[test]
        fn a_text_folds_as_it_does_in_capitals_and_decomposed(
            text in "[ -~ß-ſΑ-ωİıА-џა-ჰႠ-Ⴥ한글がŉǰΐ\u{ad}\u{301}\u{307}\u{200b}]{0,24}",
        ) {
            let once = folded(&text);
            prop_assert_eq!(&folded(&once), &once);
            prop_assert_eq!(&folded(&text.to_uppercase()), &once);
            prop_assert_eq!(&folded(&text.to_lowercase()), &once);
            let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&text).into_owned();
            prop_assert_eq!(&folded(&decomposed), &once);
        }
    }
}
