//! The fields of an item that people were asked about, and which of them name the query and the
//! documents.

use super::field_role::FieldRole;
use super::options::AnswerOptions;
use crate::formats::json::{kind, string};
use crate::formats::problem::quoted;
use serde_json::value::RawValue;

/// The name of a query or a document in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemName {
    /// An identifier, or a text.
    pub name: String,
    /// Whether it can only be an identifier.
    pub is_id: bool,
    /// The text, if the file has an identifier and a text.
    pub text: Option<String>,
}

/// The fields of an item with their values, in the order of the file. Fields that are neither texts
/// nor numbers are left out.
#[derive(Debug, Default)]
pub(super) struct ItemFields(Vec<(String, String)>);

impl ItemFields {
    /// Adds a field if its value is a text or a number.
    pub(super) fn add(&mut self, name: &str, value: &RawValue) {
        if let Some(text) = scalar(value) {
            self.0.push((name.to_owned(), text));
        }
    }

    /// Fields with these names and values.
    pub(super) fn of(fields: &[(String, String)]) -> Self {
        Self(fields.to_vec())
    }

    /// What the item calls the query or document.
    ///
    /// # Errors
    /// If no field names it, or if two fields do.
    pub(super) fn named(
        &self,
        role: FieldRole,
        options: &AnswerOptions,
    ) -> Result<ItemName, String> {
        if let Some(given) = options.fields.get(&role) {
            let name = self.exactly(given)?;
            let name = name.ok_or_else(|| {
                format!("has no field {}; {}", quoted(given), self.names_in_words())
            })?;
            return self.filled(given, name, false, None);
        }
        let ids = role
            .ids()
            .iter()
            .filter_map(|name| self.alike(name).transpose());
        let ids: Vec<(&str, &str)> = ids.collect::<Result<_, _>>()?;
        let id = ids.first().copied();
        if let Some((first, value)) = id
            && let Some((other, _)) = ids.iter().find(|(_, other)| *other != value)
        {
            return Err(format!(
                "the fields {} and {} differ; name one of them with --fields {}=FIELD",
                quoted(first),
                quoted(other),
                role.name()
            ));
        }
        let plain = self.alike(role.name())?;
        match (id, plain) {
            (Some((field, id)), text) => {
                let text = text.map(|(_, text)| text.to_owned());
                // A document may be empty; a query without a text is one that the file does not give.
                let text = text.filter(|text| role != FieldRole::Query || !text.trim().is_empty());
                self.filled(field, id, true, text)
            }
            (None, Some((field, name))) => self.filled(field, name, false, None),
            (None, None) => Err(format!(
                "has no field called {0} or {0}_id; {1}; name the field with --fields {0}=FIELD",
                role.name(),
                self.names_in_words()
            )),
        }
    }

    fn filled(
        &self,
        field: &str,
        name: &str,
        is_id: bool,
        text: Option<String>,
    ) -> Result<ItemName, String> {
        if name.trim().is_empty() {
            return Err(format!("{field}: is empty"));
        }
        Ok(ItemName {
            name: name.to_owned(),
            is_id,
            text,
        })
    }

    fn exactly(&self, wanted: &str) -> Result<Option<&str>, String> {
        let mut same = self.0.iter().filter(|(name, _)| name == wanted);
        let first = same.next().map(|(_, value)| value.as_str());
        match same.find(|(_, value)| Some(value.as_str()) != first) {
            Some(_) => Err(format!("{wanted}: has two different values; keep one")),
            None => Ok(first),
        }
    }

    /// The field with this name, ignoring case and separators, and its value.
    fn alike(&self, wanted: &str) -> Result<Option<(&str, &str)>, String> {
        let mut same = self.0.iter().filter(|(name, _)| bare(name) == wanted);
        let Some((name, value)) = same.next() else {
            return Ok(None);
        };
        match same.find(|(_, other)| other != value) {
            Some((other, _)) => Err(format!(
                "the fields {} and {} differ; name one of them with --fields",
                quoted(name),
                quoted(other)
            )),
            None => Ok(Some((name, value))),
        }
    }

    fn names_in_words(&self) -> String {
        let names = self.0.iter().take(8);
        let names: Vec<String> = names.map(|(name, _)| quoted(name)).collect();
        match names.as_slice() {
            [] => "it has no fields with a text".to_owned(),
            names => format!("its fields are {}", names.join(", ")),
        }
    }

    /// Whether the field with the text or identifier of a role is called `name`.
    pub(super) fn is_field(&self, role: FieldRole, name: &str, options: &AnswerOptions) -> bool {
        match options.fields.get(&role) {
            Some(given) => given == name && self.0.iter().any(|(of, _)| of == name),
            None => matches!(self.alike(role.name()), Ok(Some((of, _))) if of == name),
        }
    }
}

/// A text or a number as text.
pub(super) fn scalar(value: &RawValue) -> Option<String> {
    match kind(value) {
        "a string" => string(value).ok(),
        "a number" => Some(value.get().to_owned()),
        _ => None,
    }
}

/// A name without separators, in lower case.
fn bare(name: &str) -> String {
    name.chars()
        .filter(|ch| !matches!(ch, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}
