//! The metadata of documents: price, brand, date and the like, next to texts and in lists.

use crate::domain::corpus::JsonObject;
use crate::domain::sanitize;
use crate::judge::metadata::MetadataFields;
use crate::tui::text;

/// Longer metadata is not parsed while a frame is drawn.
const LONGEST: usize = 64_000;

/// Members that screens show in another way: the title, and the label with its evidence, which
/// would also decide a blind ruling.
const SHOWN_ELSEWHERE: [&str; 3] = ["title", "label", "evidence_sentences"];

/// Maximum columns of a field in a list, and the columns after it.
const FIELD_MAX: usize = 14;
const GAP: usize = 2;

/// Maximum number of rows whose values decide the columns of a field, so that a frame parses
/// little metadata.
const MEASURED: usize = 40;

/// The chosen metadata fields that fit in a list, each with its heading and its columns.
#[derive(Debug, Default)]
pub(crate) struct FieldColumns(Vec<(String, String, usize)>);

impl FieldColumns {
    /// As many fields as fit in `room`. The values in the rows decide their columns.
    pub(crate) fn new<T>(
        chosen: &[String],
        rows: &[T],
        value: impl Fn(&T, &str) -> String,
        room: usize,
    ) -> Self {
        Self::headed(chosen, rows, value, room, "")
    }

    /// The same for pairs of documents.
    pub(crate) fn of_pairs<T>(
        chosen: &[String],
        rows: &[T],
        values: impl Fn(&T, &str) -> String,
        room: usize,
    ) -> Self {
        Self::headed(chosen, rows, values, room, " A / B")
    }

    fn headed<T>(
        chosen: &[String],
        rows: &[T],
        value: impl Fn(&T, &str) -> String,
        room: usize,
        end: &str,
    ) -> Self {
        let mut left = room;
        let mut columns = Vec::new();
        for field in chosen {
            let heading = format!("{}{end}", sanitize::line(field));
            let widths = rows
                .iter()
                .take(MEASURED)
                .map(|row| text::width(&value(row, field)));
            let most = FIELD_MAX + text::width(end);
            let width = widths.fold(text::width(&heading), usize::max).min(most);
            let Some(rest) = left.checked_sub(width + GAP) else {
                break;
            };
            left = rest;
            columns.push((field.clone(), heading, width));
        }
        Self(columns)
    }

    /// Columns of all fields.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, _, width)| width + GAP).sum()
    }

    pub(crate) fn header(&self) -> String {
        self.0
            .iter()
            .map(|(_, heading, width)| cell(heading, *width))
            .collect()
    }

    /// The values of a row.
    pub(crate) fn row(&self, value: impl Fn(&str) -> String) -> String {
        self.0
            .iter()
            .map(|(field, _, width)| cell(&value(field), *width))
            .collect()
    }
}

fn cell(words: &str, width: usize) -> String {
    format!("{}{:GAP$}", text::pad_right(words, width), "")
}

/// `price 3.50 · brand Åre`: the chosen fields of a document, in the chosen order; empty if it has
/// none of them.
pub(crate) fn chosen_words(metadata: &JsonObject, chosen: &[String]) -> String {
    let values = values(metadata);
    let find = |name: &String| values.iter().find(|(known, _)| known == name);
    words(chosen.iter().filter_map(find))
}

/// `metadata: price 3.50 · brand Åre`: all fields of a document that a person may see; empty if it
/// has none.
pub(crate) fn all_words(metadata: &JsonObject) -> String {
    if metadata.as_str().len() > LONGEST {
        return "the metadata is too long to be shown".to_owned();
    }
    match words(values(metadata).iter()) {
        none if none.is_empty() => none,
        words => format!("metadata: {words}"),
    }
}

/// The value of a field; empty if the document does not have it.
pub(crate) fn value(metadata: &JsonObject, field: &str) -> String {
    values(metadata)
        .into_iter()
        .find(|(name, _)| name == field)
        .map_or(String::new(), |(_, value)| value)
}

fn words<'a>(values: impl Iterator<Item = &'a (String, String)>) -> String {
    let words: Vec<String> = values
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    words.join(" · ")
}

/// Names and values, sanitized for a terminal.
fn values(metadata: &JsonObject) -> Vec<(String, String)> {
    if metadata.as_str().len() > LONGEST {
        return Vec::new();
    }
    MetadataFields::All
        .values(metadata)
        .into_iter()
        .filter(|(name, _)| !SHOWN_ELSEWHERE.contains(&name.as_str()))
        .map(|(name, value)| {
            let line = |text: &str| sanitize::line(text).into_owned();
            (line(&name), line(&value))
        })
        .filter(|(_, value)| !value.is_empty() && value != "null")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_named_and_labels_are_left_out() {
        let metadata = JsonObject::from_compact(
            r#"{"title":"T","price":3.50,"label":"SUPPORT","grade":1,"brand":"a\u001b[2Jb","none":null}"#,
        );
        assert_eq!(all_words(&metadata), "metadata: price 3.50 · brand a␛[2Jb");
        let chosen = ["brand", "grade", "price", "missing"].map(str::to_owned);
        assert_eq!(
            chosen_words(&metadata, &chosen),
            "brand a␛[2Jb · price 3.50"
        );
        assert_eq!(value(&metadata, "price"), "3.50");
        assert_eq!(value(&metadata, "label"), "");
        assert_eq!(all_words(&JsonObject::from_compact("no object")), "");
    }

    #[test]
    fn metadata_of_any_size_is_drawn_at_once() {
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(LONGEST));
        let long = JsonObject::from_compact(long);
        assert!(all_words(&long).contains("too long"));
        assert_eq!(value(&long, "text"), "");
    }
}
