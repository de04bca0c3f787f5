use super::*;
use crate::domain::corpus::QueryId;
use crate::features::duel::app::TaskTexts;
use crate::features::duel::domain::{Content, Place, Task, TaskKey, TaskKind};
use crate::features::duel::screen::state::TaskCards;
use std::collections::BTreeMap;

const TEXT: &str = "Sleep\n\nA first sentence says nothing.\tTherapy im\u{ad}proved sleep. The \u{1b}[31mend came soon.";

fn card(text: &str) -> Card {
    let document = DocId::new("d");
    let texts = TaskTexts {
        query: "therapy sleep".to_owned(),
        texts: BTreeMap::from([(document.clone(), text.to_owned())]),
        titles: BTreeMap::from([(document.clone(), "Sleep".to_owned())]),
    };
    let place = Place {
        document: Some(document),
        team: None,
    };
    let key = TaskKey {
        kind: TaskKind::Query,
        query: QueryId::new("q"),
    };
    let task = Task {
        key,
        content: Content::Places(vec![place]),
    };
    TaskCards::new(&task, &texts).cards.remove(0)
}

/// The marked characters of the document.
fn marked(reading: &Reading, text: &str) -> String {
    let passage = reading.passage().unwrap();
    text.chars()
        .skip(passage.start)
        .take(passage.end - passage.start)
        .collect()
}

#[test]
fn the_best_sentence_is_marked_first_in_the_characters_of_the_document() {
    let card = card(TEXT);
    assert!(card.shown.text[card.body..].starts_with("A first"));
    let mut reading = Reading::new(&card, None);
    assert_eq!(marked(&reading, TEXT), "Therapy im\u{ad}proved sleep.");
    assert_eq!(reading.marked_words(), 3);
    reading.step(true);
    assert_eq!(marked(&reading, TEXT), "The \u{1b}[31mend came soon.");
    reading.edge(false);
    assert_eq!(marked(&reading, TEXT), "Sleep");
}

#[test]
fn a_mark_grows_and_shrinks_by_words_and_sentences() {
    let card = card(TEXT);
    let mut reading = Reading::new(&card, None);
    reading.word(false);
    assert_eq!(marked(&reading, TEXT), "Therapy im\u{ad}proved");
    reading.word(false);
    reading.word(false);
    assert_eq!(marked(&reading, TEXT), "Therapy", "one word stays");
    reading.word(true);
    reading.start(true);
    assert_eq!(marked(&reading, TEXT), "nothing.\tTherapy im\u{ad}proved");
    reading.start(false);
    reading.start(false);
    assert_eq!(marked(&reading, TEXT), "im\u{ad}proved");
    reading.start(false);
    assert_eq!(marked(&reading, TEXT), "im\u{ad}proved");
    reading.sentence(true);
    reading.sentence(true);
    assert!(marked(&reading, TEXT).ends_with("end came soon."));
    reading.sentence(false);
    assert_eq!(marked(&reading, TEXT), "im\u{ad}proved sleep.");
    reading.sentence(false);
    assert_eq!(marked(&reading, TEXT), "im\u{ad}proved sleep.");
}

#[test]
fn a_stored_passage_is_marked_again_as_it_was() {
    let card = card(TEXT);
    let mut reading = Reading::new(&card, None);
    reading.start(true);
    reading.word(false);
    let stored = reading.passage();
    let again = Reading::new(&card, stored);
    assert_eq!(
        (again.mark.clone(), again.passage()),
        (reading.mark, stored)
    );
    let mut point = Reading::new(&card, None);
    point.point(0);
    point.stretch(card.shown.text.len());
    assert_eq!(point.mark, 0..card.shown.text.len());
}

#[test]
fn an_empty_text_has_nothing_to_mark() {
    let mut reading = Reading::new(&card(""), None);
    reading.step(true);
    reading.word(true);
    reading.word(false);
    reading.sentence(true);
    reading.start(true);
    reading.stretch(3);
    assert_eq!(reading.passage(), None);
}
