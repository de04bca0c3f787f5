//! The metadata of documents that a judge is shown, in the form in which zBench shows it.

use crate::domain::corpus::JsonObject;
use crate::domain::retrieval::SlotSource;
use crate::formats::json::{members, string};
use crate::formats::python;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::str::FromStr as _;

/// The members that hold labels in pools built from them: the grade itself, and the rank in the
/// first stage, which a document that is there because of its label does not have.
const LABELS: [&str; 2] = ["grade", "first_stage_rank"];

/// The member that says in such pools whether a document is labeled relevant; in other datasets it
/// is any member.
const SOURCE: &str = "source";

/// The other members of such pools that give labels away: the label of a claim with its sentences,
/// the places in the stages, and the slot, which follows the labels in the original layout. In
/// other datasets, they are any members.
const POOL_MEMBERS: [&str; 4] = ["label", "evidence_sentences", "stages", "slot"];

/// Whether a field of this name holds a label in every dataset.
pub(super) fn holds_labels(name: &str) -> bool {
    LABELS.contains(&name)
}

/// A member of an object as plain text: a string as it is, anything else as JSON. `None` if it is
/// missing, null or blank.
pub(super) fn member_text(object: &JsonObject, name: &str) -> Option<String> {
    let members = members(object.as_str()).unwrap_or_default();
    let (_, value) = members.into_iter().find(|(known, _)| known == name)?;
    let text = string(value).unwrap_or_else(|_| value.get().to_owned());
    (!text.trim().is_empty() && value.get() != "null").then_some(text)
}

/// A field of a query as plain text: a member of its object, or else of the object's `metadata`.
/// `None` if it is missing, null or blank.
pub fn query_field(query: &JsonObject, name: &str) -> Option<String> {
    member_text(query, name).or_else(|| {
        let metadata = member_text(query, "metadata")?;
        member_text(&JsonObject::from_compact(metadata), name)
    })
}

/// The names of the fields that [`query_field`] finds.
pub fn query_field_names(query: &JsonObject) -> Vec<String> {
    let names = |object: &JsonObject| -> Vec<String> {
        let members = MetadataFields::All.values(object);
        members.into_iter().map(|(name, _)| name).collect()
    };
    let metadata = member_text(query, "metadata").map(JsonObject::from_compact);
    let inner = metadata.map_or_else(Vec::new, |metadata| names(&metadata));
    let mut all = names(query);
    all.retain(|name| name != "metadata");
    all.extend(inner);
    all
}

/// The setting `metadata` of a judge.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "\"all\" or a list of fields, such as [\"price\", \"brand\"]"
)]
pub enum MetadataSetting {
    Word(String),
    Fields(Vec<String>),
}

/// Which members of a document's metadata a judge is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataFields {
    All,
    /// Those with these names, in the order of the document.
    Named(BTreeSet<String>),
}

/// Why a setting names no metadata.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMetadata {
    #[error("metadata: expected \"all\" or a list of fields, such as [\"price\"], found {0:?}")]
    Word(String),
    #[error("metadata: the list names no field; leave it out to show none")]
    Empty,
}

impl MetadataFields {
    pub fn of(setting: &MetadataSetting) -> Result<Self, InvalidMetadata> {
        match setting {
            MetadataSetting::Word(word) if word == "all" => Ok(Self::All),
            MetadataSetting::Word(word) => Err(InvalidMetadata::Word(word.clone())),
            MetadataSetting::Fields(fields) if fields.iter().all(|name| name.is_empty()) => {
                Err(InvalidMetadata::Empty)
            }
            MetadataSetting::Fields(fields) => Ok(Self::Named(fields.iter().cloned().collect())),
        }
    }

    /// The same text for the same fields, whatever their order in the setting.
    pub fn canonical(&self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::Named(names) => serde_json::Value::from_iter(names.iter().cloned()).to_string(),
        }
    }

    /// Reads what [`Self::canonical`] wrote.
    pub fn of_canonical(text: &str) -> Option<Self> {
        match text {
            "all" => Some(Self::All),
            names => serde_json::from_str(names).ok().map(Self::Named),
        }
    }

    /// The text of a document with its metadata, as zBench shows it.
    pub fn with(&self, metadata: &JsonObject, content: &str) -> String {
        let mut text = String::from("Metadata: ");
        python::write_dict(&mut text, self.shown(metadata));
        text.push_str("\nContent: ");
        text.push_str(content);
        text
    }

    /// The shown members of a document's metadata with their values as text, in the order of the
    /// document; empty if the metadata is not an object.
    pub fn values(&self, metadata: &JsonObject) -> Vec<(String, String)> {
        self.shown(metadata)
            .map(|(name, value)| {
                let text = string(value).unwrap_or_else(|_| value.get().to_owned());
                (name.into_owned(), text)
            })
            .collect()
    }

    /// The text of one field as a placeholder shows it; `None` if the document does not have it, or
    /// if it holds a label.
    pub(super) fn text_of(field: &str, metadata: &JsonObject) -> Option<String> {
        let mut shown = Self::All.shown(metadata);
        shown.find(|(name, _)| name == field)?;
        member_text(metadata, field)
    }

    fn shown<'a>(
        &self,
        metadata: &'a JsonObject,
    ) -> impl Iterator<Item = (Cow<'a, str>, &'a RawValue)> {
        let members = members(metadata.as_str()).unwrap_or_default();
        let is_of_labels = members
            .iter()
            .any(|(name, value)| name.as_ref() == SOURCE && is_slot_source(value));
        members
            .into_iter()
            .filter(move |(name, _)| self.shows(name, is_of_labels))
    }

    /// Whether a member is shown; `is_of_labels` means that the pool was built from labels.
    fn shows(&self, name: &str, is_of_labels: bool) -> bool {
        let is_label = LABELS.contains(&name)
            || is_of_labels && (name == SOURCE || POOL_MEMBERS.contains(&name));
        self.chooses(name) && !is_label
    }

    fn chooses(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(name),
        }
    }

    /// The chosen fields that are never shown, or not in pools built from labels, in words; `None`
    /// if there are none.
    pub fn withheld(&self) -> Option<String> {
        let mut names: Vec<String> = LABELS
            .into_iter()
            .filter(|name| self.chooses(name))
            .map(str::to_owned)
            .collect();
        let of_pools: Vec<&str> = [SOURCE]
            .into_iter()
            .chain(POOL_MEMBERS)
            .filter(|name| self.chooses(name))
            .collect();
        if let Some((first, others)) = of_pools.split_first() {
            let others = match others.join(", ") {
                others if others.is_empty() => others,
                others => format!(", with {others}"),
            };
            names.push(format!("{first} (of pools built from labels{others})"));
        }
        (!names.is_empty()).then(|| names.join(", "))
    }
}

fn is_slot_source(value: &RawValue) -> bool {
    string(value).is_ok_and(|name| SlotSource::from_str(&name).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn fields(names: &[&str]) -> MetadataFields {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        MetadataFields::of(&MetadataSetting::Fields(names)).unwrap()
    }

    #[rstest]
    #[case(
        MetadataFields::All,
        "Metadata: {'price': 3.5, 'source': 'a.pdf', 'brand': 'x'}\nContent: text"
    )]
    #[case(fields(&["brand", "price", "none"]), "Metadata: {'price': 3.5, 'brand': 'x'}\nContent: text")]
    #[case(fields(&["grade"]), "Metadata: {}\nContent: text")]
    fn chosen_fields_are_shown_as_zbench_shows_them(
        #[case] fields: MetadataFields,
        #[case] expected: &str,
    ) {
        let metadata =
            r#"{"price":3.50,"grade":2,"source":"a.pdf","brand":"x","first_stage_rank":7}"#;
        let metadata = JsonObject::from_compact(metadata);
        assert_eq!(fields.with(&metadata, "text"), expected);
    }

    #[rstest]
    #[case("label-found")]
    #[case("label-missed")]
    #[case("fill")]
    fn a_pool_built_from_labels_does_not_give_them_away(#[case] source: &str) {
        let metadata = format!(r#"{{"source":"{source}","year":1999}}"#);
        let metadata = JsonObject::from_compact(metadata);
        let shown = "Metadata: {'year': 1999}\nContent: x";
        assert_eq!(MetadataFields::All.with(&metadata, "x"), shown);
        let shown = "Metadata: {}\nContent: x";
        assert_eq!(fields(&["source", "grade"]).with(&metadata, "x"), shown);
    }

    #[test]
    fn values_are_plain_text_and_follow_the_same_rule() {
        let metadata = r#"{"price":3.50,"brand":"Åre \u00d6","tags":["a","b"],"grade":2}"#;
        let metadata = JsonObject::from_compact(metadata);
        let values = MetadataFields::All.values(&metadata);
        let values: Vec<_> = values
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        let expected = [
            ("price", "3.50"),
            ("brand", "Åre Ö"),
            ("tags", r#"["a","b"]"#),
        ];
        assert_eq!(values, expected);
        assert_eq!(fields(&["grade"]).values(&metadata), []);
    }

    #[test]
    fn what_a_pool_says_about_its_labels_is_not_shown() {
        let of_pool = r#"{"title":"t","grade":1,"label":"SUPPORT","evidence_sentences":[2],"source":"label-found","first_stage_rank":3,"stages":{"bm25":1},"slot":4}"#;
        let shown = MetadataFields::All.with(&JsonObject::from_compact(of_pool), "x");
        assert_eq!(shown, "Metadata: {'title': 't'}\nContent: x");
        let of_others = r#"{"label":"red","slot":4,"source":"a.pdf"}"#;
        let shown = MetadataFields::All.with(&JsonObject::from_compact(of_others), "x");
        let all = "Metadata: {'label': 'red', 'slot': 4, 'source': 'a.pdf'}\nContent: x";
        assert_eq!(shown, all);
    }

    #[test]
    fn the_order_of_the_setting_makes_no_difference() {
        let one = fields(&["price", "brand"]);
        assert_eq!(one, fields(&["brand", "price", "brand"]));
        assert_eq!(one.canonical(), r#"["brand","price"]"#);
        assert_eq!(MetadataFields::All.canonical(), "all");
        assert_ne!(one.canonical(), fields(&["price"]).canonical());
        assert_eq!(one.withheld(), None);
        let withheld = MetadataFields::All.withheld().unwrap();
        assert!(withheld.starts_with("grade, first_stage_rank, source ("));
        let wrong = MetadataFields::of(&MetadataSetting::Word("price".to_owned()));
        assert!(wrong.unwrap_err().to_string().contains("found \"price\""));
        assert!(MetadataFields::of(&MetadataSetting::Fields(Vec::new())).is_err());
    }
}
