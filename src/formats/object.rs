//! Reads an object member by member: problems are recorded with their paths, and reading continues.

use super::json::{Members, ValueError, is_null, is_whole, reason, string};
use super::lines::breaks;
use crate::domain::corpus::JsonObject;
use serde_json::value::RawValue;
use std::fmt;

/// Maximum number of problems listed for one element of an array.
const MOST_IN_ELEMENT: usize = 1_000;

/// Problems in a piece of JSON: the first messages with the line breaks before each, and the number
/// of further ones.
pub(super) struct ProblemNotes<'a> {
    lines: LineCounter<'a>,
    most: usize,
    noted: Vec<(u64, String)>,
    more: usize,
}

/// Counts the line breaks before slices of a text. Each part of the text is counted once if the
/// slices come in order.
pub(super) struct LineCounter<'a> {
    text: &'a str,
    /// The end of the counted part, in bytes.
    counted: usize,
    breaks: u64,
}

impl<'a> LineCounter<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            counted: 0,
            breaks: 0,
        }
    }

    /// The number of line breaks before `at`, a slice of the text; 0 for another text.
    pub(super) fn before(&mut self, at: &str) -> u64 {
        let offset = (at.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        let Some(offset) = offset.filter(|offset| *offset <= self.text.len()) else {
            return 0;
        };
        if offset < self.counted {
            (self.counted, self.breaks) = (0, 0);
        }
        let uncounted = self.text.as_bytes().get(self.counted..offset);
        self.breaks += breaks(uncounted.unwrap_or_default());
        self.counted = offset;
        self.breaks
    }
}

impl<'a> ProblemNotes<'a> {
    pub(super) fn new(text: &'a str, most: usize) -> Self {
        Self {
            lines: LineCounter::new(text),
            most,
            noted: Vec::new(),
            more: 0,
        }
    }

    /// Records a problem at `path`; `at`, a slice of the text, gives its position.
    fn add(&mut self, at: &str, path: fmt::Arguments<'_>, what: impl fmt::Display) {
        if self.noted.len() == self.most {
            self.more += 1;
            return;
        }
        let lines_down = self.lines.before(at);
        self.noted.push((lines_down, format!("{path}: {what}")));
    }

    /// For an element of a large array, of which all problems are listed unless it has very many.
    pub(super) fn of_element(text: &'a str) -> Self {
        Self::new(text, MOST_IN_ELEMENT)
    }

    /// The value if there are no problems, otherwise the messages with the line breaks before them,
    /// the last of which states how many were omitted.
    pub(super) fn finish<T>(mut self, value: Option<T>) -> Result<T, Vec<(u64, String)>> {
        let more = std::mem::take(&mut self.more);
        if let (Some((line, _)), 1..) = (self.noted.last(), more) {
            let words = format!("and {more} more problems in this element");
            self.noted.push((*line, words));
        }
        self.only(value)
    }

    fn only<T>(self, value: Option<T>) -> Result<T, Vec<(u64, String)>> {
        match value {
            Some(value) if self.noted.is_empty() => Ok(value),
            _ => Err(self.noted),
        }
    }

    /// The value if there are no problems, otherwise the messages, the last of which states how
    /// many were omitted.
    pub(super) fn finish_line<T>(self, value: Option<T>) -> Result<T, Vec<String>> {
        let more = match self.more {
            0 => None,
            1 => Some("and 1 more problem on this line".to_owned()),
            more => Some(format!("and {more} more problems on this line")),
        };
        let strip = |noted: Vec<(u64, String)>| noted.into_iter().map(|(_, message)| message);
        self.only(value)
            .map_err(|noted| strip(noted).chain(more).collect())
    }
}

/// An object whose members are removed one after the other.
pub(crate) struct ObjectReader<'a, 'n> {
    text: &'a str,
    path: String,
    members: Members<'a>,
    notes: &'n mut ProblemNotes<'a>,
}

impl<'a, 'n> ObjectReader<'a, 'n> {
    /// The object that makes up a whole text.
    pub(super) fn whole(
        text: &'a str,
        members: Members<'a>,
        notes: &'n mut ProblemNotes<'a>,
    ) -> Self {
        Self {
            text,
            path: String::new(),
            members,
            notes,
        }
    }

    /// The object at `path`; records a problem if it is not an object.
    pub(super) fn of(
        value: &'a RawValue,
        path: String,
        notes: &'n mut ProblemNotes<'a>,
    ) -> Option<Self> {
        let text = value.get();
        match Members::of(value) {
            Ok(members) => Some(Self {
                text,
                path,
                members,
                notes,
            }),
            Err(what) => {
                notes.add(text, format_args!("{path}"), what);
                None
            }
        }
    }

    fn note_at(&mut self, at: &str, key: &str, what: impl fmt::Display) {
        match self.path.as_str() {
            "" => self.notes.add(at, format_args!("{key}"), what),
            path => self.notes.add(at, format_args!("{path}.{key}"), what),
        }
    }

    /// Records a problem with the object itself.
    pub(super) fn note_self(&mut self, what: impl fmt::Display) {
        self.notes
            .add(self.text, format_args!("{}", self.path), what);
    }

    /// Records a problem with a missing member.
    pub(super) fn note(&mut self, key: &str, what: impl fmt::Display) {
        self.note_at(self.text, key, what);
    }

    /// Applies `read` to a member's value, and records a problem if it fails.
    pub(crate) fn read<T>(
        &mut self,
        key: &str,
        value: &'a RawValue,
        read: impl FnOnce(&'a RawValue) -> Result<T, ValueError>,
    ) -> Option<T> {
        read(value)
            .map_err(|what| self.note_at(value.get(), key, what))
            .ok()
    }

    fn member(&mut self, key: &str) -> Option<Option<&'a RawValue>> {
        let member = self.members.take(key);
        member.map_err(|what| self.note(key, what)).ok()
    }

    /// Whether there is a member called `key`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.members.iter().any(|(name, _)| name == key)
    }

    /// The required member called `key`.
    pub(crate) fn required(&mut self, key: &str) -> Option<&'a RawValue> {
        let value = self.member(key)?;
        if value.is_none() {
            self.note(key, "is missing");
        }
        value
    }

    /// Applies `read` to the member called `key`, if it exists.
    pub(super) fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&'a RawValue) -> Result<T, ValueError>,
    ) -> Option<T> {
        let value = self.member(key)??;
        self.read(key, value, read)
    }

    /// As [`Self::optional`], but treats null as missing.
    pub(super) fn nullable<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&'a RawValue) -> Result<T, ValueError>,
    ) -> Option<T> {
        let value = self.member(key)?.filter(|value| !is_null(value))?;
        self.read(key, value, read)
    }

    pub(super) fn string(&mut self, key: &str) -> Option<String> {
        let value = self.required(key)?;
        self.read(key, value, string)
    }

    /// A required string that is not empty.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let value = self.required(key)?;
        self.read(key, value, |value| match string(value)? {
            text if text.trim().is_empty() => Err(ValueError::Empty),
            text => Ok(text),
        })
    }

    /// An identifier, which may be an integer.
    pub(crate) fn identifier(&mut self, key: &str) -> Option<String> {
        let value = self.required(key)?;
        self.read(key, value, |value| match string(value) {
            Ok(text) if text.trim().is_empty() => Err(ValueError::Empty),
            Err(_) if is_whole(value) => Ok(value.get().to_owned()),
            read => read,
        })
    }

    pub(super) fn object(&mut self, key: &str) -> Option<ObjectReader<'a, '_>> {
        let value = self.required(key)?;
        self.enter(key, value)
    }

    /// The object in a member's value.
    pub(super) fn enter(&mut self, key: &str, value: &'a RawValue) -> Option<ObjectReader<'a, '_>> {
        let path = match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        };
        ObjectReader::of(value, path, self.notes)
    }

    /// The elements of the required array called `key`.
    pub(super) fn array(&mut self, key: &str) -> Option<Vec<&'a RawValue>> {
        let value = self.required(key)?;
        self.read(key, value, |value| match super::json::kind(value) {
            "an array" => {
                serde_json::from_str(value.get()).map_err(|error| ValueError::Json(reason(&error)))
            }
            other => Err(ValueError::expected("an array", other)),
        })
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.iter()
    }

    /// The remaining members as an object.
    pub(super) fn rest(&self) -> JsonObject {
        self.members.rest()
    }
}
