//! Names that tell two documents apart in a heading or a sentence.

/// Two titles, or texts of documents without one, each cut to `room` characters. If the part that
/// fits begins alike, both names start just before the first word in which they differ. `None` if
/// they do not differ or one of them is empty.
pub fn distinct_names(one: &str, other: &str, room: usize) -> Option<[String; 2]> {
    let alike = one
        .split_whitespace()
        .zip(other.split_whitespace())
        .take_while(|(one, other)| one == other)
        .count();
    let both = [one, other];
    let differ = both.map(|text| difference_ends(text, alike));
    let fits = differ.iter().all(|end| end.is_none_or(|end| end <= room));
    // A word that they share shows where the rest belongs.
    let skipped = if fits { 0 } else { alike.saturating_sub(1) };
    let omission = (skipped > 0).then_some("…");
    let names = both.map(|text| {
        let words = text.split_whitespace().skip(skipped);
        clipped(omission.into_iter().chain(words), room)
    });
    (names[0] != names[1] && names.iter().all(|name| !name.is_empty())).then_some(names)
}

/// Number of characters up to the end of the first word after `alike` words.
fn difference_ends(text: &str, alike: usize) -> Option<usize> {
    let mut words = text.split_whitespace().map(|word| word.chars().count() + 1);
    let before: usize = words.by_ref().take(alike).sum();
    words.next().map(|word| before + word)
}

/// As much of the words as fits.
fn clipped<'a>(words: impl Iterator<Item = &'a str>, room: usize) -> String {
    let mut name = String::new();
    for word in words {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
        if name.chars().count() > room {
            let cut: String = name.chars().take(room.saturating_sub(1)).collect();
            return format!("{}…", cut.trim_end());
        }
    }
    // The name may be in the middle of a sentence.
    name.truncate(name.trim_end_matches('.').len());
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn titles_that_begin_alike_are_shown_from_the_word_in_which_they_differ() {
        let table = [
            (
                ["Sleep in mice", "Diet in mice"],
                ["Sleep in mice", "Diet in mice"],
            ),
            (
                ["Sleep in mice", "Sleep in rats"],
                ["Sleep in mice", "Sleep in rats"],
            ),
            (
                ["Sleep of old mice", "Sleep of old rats"],
                ["… old mice", "… old rats"],
            ),
            (
                ["The very small cat", "The very small cat sat"],
                ["… cat", "… cat sat"],
            ),
            (["Insomnia therapies", "Diet."], ["Insomnia thera…", "Diet"]),
        ];
        for ([one, other], expected) in table {
            let names = distinct_names(one, other, 15);
            assert_eq!(names, Some(expected.map(str::to_owned)), "{one} / {other}");
        }
        for [one, other] in [["The  same", "The same"], ["", "Sleep"], ["", ""]] {
            assert_eq!(distinct_names(one, other, 15), None);
        }
    }

    proptest! {
        #[test]
        fn names_fit_and_differ_if_the_texts_do(
            one in prop::collection::vec("[ab]{1,4}", 1..12),
            other in prop::collection::vec("[ab]{1,4}", 1..12),
            room in 16usize..40,
        ) {
            let (one, other) = (one.join(" "), other.join(" "));
            let names = distinct_names(&one, &other, room);
            prop_assert_eq!(one == other, names.is_none());
            if let Some([a, b]) = names {
                prop_assert!([&a, &b].iter().all(|name| name.chars().count() <= room));
                prop_assert_eq!(distinct_names(&other, &one, room), Some([b, a]));
            }
        }
    }
}
