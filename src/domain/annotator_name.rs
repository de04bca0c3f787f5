//! Normalizes the names of annotators: one spelling for each person.

use crate::domain::text::is_ignorable;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// A name without surrounding whitespace and in Unicode's composed form; `None` if blank.
pub fn annotator_name(text: &str) -> Option<String> {
    let trimmed = text.trim_matches(|ch: char| ch.is_whitespace() || is_ignorable(ch));
    let name = ComposingNormalizerBorrowed::new_nfc().normalize(trimmed);
    (!name.is_empty()).then(|| name.into_owned())
}

/// The same for a stored name; a blank one is kept.
pub fn stored_annotator_name(text: &str) -> String {
    annotator_name(text).unwrap_or_else(|| text.to_owned())
}

/// The other names that are easily confused with this one: they differ only in case, accents,
/// whitespace or punctuation.
pub fn look_alikes<'a>(name: &str, others: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let letters = letters_of(name);
    others
        .into_iter()
        .map(String::as_str)
        .filter(|other| *other != name && !letters.is_empty() && letters_of(other) == letters)
        .collect()
}

fn letters_of(name: &str) -> String {
    DecomposingNormalizerBorrowed::new_nfkd()
        .normalize(name)
        .chars()
        .filter(|ch| ch.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_person_has_one_spelling() {
        let name = |text| annotator_name(text).unwrap();
        assert_eq!(name(" ada\t"), "ada");
        assert_eq!(name("ada\u{a0}\u{200b}"), "ada");
        assert_eq!(name("Jose\u{301}"), "Jos\u{e9}");
        assert_eq!(name("Ada Lovelace"), "Ada Lovelace");
        for blank in ["", "   ", "\u{3000}", "\u{feff}\u{200b}"] {
            assert_eq!(annotator_name(blank), None, "{blank:?}");
        }
    }

    #[test]
    fn names_that_differ_in_case_accents_or_spaces_look_alike() {
        let known = ["Ada", "ada", "José", "a.d.a", "bob", "!"].map(str::to_owned);
        assert_eq!(look_alikes("ada", &known), ["Ada", "a.d.a"]);
        assert_eq!(look_alikes("jose", &known), ["José"]);
        assert_eq!(look_alikes("?", &known), Vec::<&str>::new());
    }
}
