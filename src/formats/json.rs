//! JSON kept as text: members of an object as slices of the input, and the two layouts that zBench
//! writes.

use super::problem::{clipped, quoted};
use crate::domain::corpus::JsonObject;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

/// Why a value cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum ValueError {
    #[error("expected {expected}, found {found}")]
    Expected {
        expected: &'static str,
        found: String,
    },
    #[error("expected a string, found the number {}; put it in quotes", quoted(.0))]
    UnquotedNumber(String),
    #[error("expected a number, found the string {}; remove the quotes", quoted(.0))]
    QuotedNumber(String),
    #[error("{} is too large to be a number", quoted(.0))]
    TooLarge(String),
    /// A number outside the range of its member.
    #[error("{found} is {range}")]
    OutOfRange { found: String, range: &'static str },
    #[error("{0}: an escape stands for no character; write the text as plain UTF-8")]
    Escape(String),
    #[error("is empty")]
    Empty,
    #[error("occurs more than once; keep one")]
    Repeated,
    /// An optional member with an invalid value.
    #[error("{0}; omit it if there is none")]
    InOptional(Box<Self>),
    #[error("{} is not a whole number, as grades are; round it, or write scores as a run", .0)]
    NotAGrade(String),
    #[error("expected a list of names")]
    NotNames,
    #[error("a known answer cannot be \"cannot-tell\"; remove the pair")]
    UnknownAnswer,
    #[error(
        "expected \"ab\" or \"ba\", found {}; say which document was shown first",
        quoted(.0)
    )]
    ShownOrder(String),
    /// Not JSON, according to the parser.
    #[error("{0}")]
    Json(String),
}

impl ValueError {
    pub(crate) fn expected(expected: &'static str, found: impl Into<String>) -> Self {
        Self::Expected {
            expected,
            found: found.into(),
        }
    }
}

/// An object's members in order, each value as its original text.
pub(super) struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of `value`, or an error if it is not an object.
    pub(super) fn of(value: &'a RawValue) -> Result<Self, ValueError> {
        if kind(value) != "an object" {
            return Err(ValueError::expected("an object", kind(value)));
        }
        serde_json::from_str(value.get()).map_err(|error| ValueError::Json(reason(&error)))
    }

    /// Removes and returns the member called `key`; a repeated member is an error, because either
    /// could be meant.
    pub(super) fn take(&mut self, key: &str) -> Result<Option<&'a RawValue>, ValueError> {
        let Some(first) = self.0.iter().position(|(name, _)| name.as_ref() == key) else {
            return Ok(None);
        };
        let (_, value) = self.0.remove(first);
        let before = self.0.len();
        self.0.retain(|(name, _)| name.as_ref() != key);
        if self.0.len() == before {
            Ok(Some(value))
        } else {
            Err(ValueError::Repeated)
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// The remaining members as an object.
    pub(super) fn rest(&self) -> JsonObject {
        if self.0.is_empty() {
            return JsonObject::default();
        }
        let mut text = String::from("{");
        for (name, value) in &self.0 {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&serde_json::Value::from(name.as_ref()).to_string());
            text.push(':');
            compact_into(value.get(), &mut text);
        }
        text.push('}');
        JsonObject::from_compact(text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(map.size_hint().unwrap_or(4));
                while let Some(MemberName(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(MembersVisitor).map(Self)
    }
}

/// The members of an object in order; `None` if the text is no object.
pub(crate) fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    let members: Members<'_> = serde_json::from_str(object).ok()?;
    Some(members.0)
}

/// A member's name: a slice of the input unless it contains escapes.
struct MemberName<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for MemberName<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(name))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(name.to_owned()))
            }
        }

        deserializer.deserialize_str(NameVisitor).map(Self)
    }
}

pub(super) fn kind(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

pub(super) fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// Whether `value` is a number without a fraction and an exponent.
pub(super) fn is_whole(value: &RawValue) -> bool {
    let digits = value.get().strip_prefix('-').unwrap_or(value.get());
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The string in `value`.
pub(crate) fn string(value: &RawValue) -> Result<String, ValueError> {
    match kind(value) {
        "a string" => {
            serde_json::from_str(value.get()).map_err(|error| ValueError::Escape(reason(&error)))
        }
        "a number" => Err(ValueError::UnquotedNumber(value.get().to_owned())),
        other => Err(ValueError::expected("a string", other)),
    }
}

/// The boolean in `value`.
pub(super) fn boolean(value: &RawValue) -> Result<bool, ValueError> {
    match value.get() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ValueError::expected("true or false", kind(value))),
    }
}

/// The finite number in `value`, correctly rounded.
pub(crate) fn number(value: &RawValue) -> Result<f64, ValueError> {
    let text = value.get();
    match kind(value) {
        "a number" => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(ValueError::TooLarge(text.to_owned())),
        },
        "a string" => Err(ValueError::QuotedNumber(text.to_owned())),
        other => Err(ValueError::expected("a number", other)),
    }
}

/// The object in `value`, without whitespace between its tokens.
pub(super) fn object(value: &RawValue) -> Result<JsonObject, ValueError> {
    match kind(value) {
        "an object" => {
            let mut text = String::with_capacity(value.get().len());
            compact_into(value.get(), &mut text);
            Ok(JsonObject::from_compact(text))
        }
        other => Err(ValueError::expected("an object", other)),
    }
}

/// Maximum length of a parser's message, which may repeat a text of the file.
const MESSAGE_CHARACTERS: usize = 300;

/// Maximum length of a path in a message.
const PATH_CHARACTERS: usize = 60;

/// The message of a serde_json error, without the position, which the caller adds.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    clipped(&text[..end], MESSAGE_CHARACTERS)
}

/// The path of the value that ends at byte `end` of a JSON text, such as `calls[0].cause`; empty for
/// the whole value.
pub(super) fn path_of(json: &str, end: usize) -> String {
    enum Step<'a> {
        /// In an object; `None` before the name of the member.
        Member(Option<&'a str>),
        Element(usize),
    }
    let bytes = json.as_bytes();
    let bytes = bytes.get(..end).unwrap_or(bytes);
    let (mut steps, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let mut next = at + 1;
        match (byte, steps.last_mut()) {
            (b'"', step) => {
                next = string_end(bytes, at);
                if let Some(Step::Member(name @ None)) = step {
                    *name = json.get(at + 1..next.saturating_sub(1));
                }
            }
            (b'{', _) => steps.push(Step::Member(None)),
            (b'[', _) => steps.push(Step::Element(0)),
            (b'}' | b']', _) => drop(steps.pop()),
            (b',', Some(Step::Member(name))) => *name = None,
            (b',', Some(Step::Element(number))) => *number += 1,
            _ => {}
        }
        at = next;
    }
    let mut path = String::new();
    for step in &steps {
        match step {
            Step::Member(Some(name)) if path.is_empty() => path.push_str(name),
            Step::Member(Some(name)) => path.extend([".", name]),
            Step::Member(None) => {}
            Step::Element(number) => path.extend(["[", &number.to_string(), "]"]),
        }
    }
    clipped(&path, PATH_CHARACTERS)
}

/// Appends `json` without whitespace between its tokens; strings and numbers keep their spelling.
fn compact_into(json: &str, out: &mut String) {
    let bytes = json.as_bytes();
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.push_str(&json[copied..at]);
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    out.push_str(&json[copied..]);
}

/// The index after the string that starts at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

pub(super) fn write_string(out: &mut impl Write, text: &str) -> io::Result<()> {
    serde_json::to_writer(out, text).map_err(io::Error::from)
}

/// Writes a finite number as pydantic does: the shortest digits that round-trip.
pub(super) fn write_number(out: &mut impl Write, number: f64) -> io::Result<()> {
    serde_json::to_writer(out, &number).map_err(io::Error::from)
}

/// Writes a line break and `depth` levels of four spaces.
pub(super) fn write_break(out: &mut impl Write, depth: usize) -> io::Result<()> {
    out.write_all(b"\n")?;
    (0..depth).try_for_each(|_| out.write_all(b"    "))
}

/// Writes compact JSON with an indent of four spaces, for insertion `depth` levels deep.
pub(super) fn write_indented(
    out: &mut impl Write,
    compact: &str,
    mut depth: usize,
) -> io::Result<()> {
    let bytes = compact.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let mut end = at + 1;
        match byte {
            b'"' => {
                end = string_end(bytes, at).min(bytes.len());
                out.write_all(&bytes[at..end])?;
            }
            b'{' | b'[' if matches!(bytes.get(end), Some(b'}' | b']')) => {
                end += 1;
                out.write_all(&bytes[at..end])?;
            }
            b'{' | b'[' => {
                depth += 1;
                out.write_all(&[*byte])?;
                write_break(out, depth)?;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                write_break(out, depth)?;
                out.write_all(&[*byte])?;
            }
            b',' => {
                out.write_all(b",")?;
                write_break(out, depth)?;
            }
            b':' => out.write_all(b": ")?,
            _ => out.write_all(&[*byte])?,
        }
        at = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compact(json: &str) -> String {
        let mut out = String::new();
        compact_into(json, &mut out);
        out
    }

    fn indented(json: &str) -> String {
        let mut out = Vec::new();
        write_indented(&mut out, json, 0).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn compacting_leaves_strings_and_digits_alone() {
        let json = "{ \"a b\\\" c\" :\t[ 1.50 , 1E5,{ } , \" \\\\\" ],\r\n \"é\\u00e9\":null }";
        assert_eq!(
            compact(json),
            r#"{"a b\" c":[1.50,1E5,{}," \\"],"é\u00e9":null}"#
        );
    }

    #[test]
    fn the_path_leads_to_the_value_before_a_position() {
        let json = r#"{"a,": "]\"", "b": [1, {"c": -2}, [] ], "d": {}}"#;
        for (before, path) in [
            ("{", ""),
            (r#"{"a,": "]\"""#, "a,"),
            (r#"{"a,": "]\"", "b": [1"#, "b[0]"),
            (r#"{"a,": "]\"", "b": [1, {"c": -2"#, "b[1].c"),
            (r#"{"a,": "]\"", "b": [1, {"c": -2}"#, "b[1]"),
            (r#"{"a,": "]\"", "b": [1, {"c": -2}, [] ]"#, "b"),
            (json, ""),
        ] {
            assert!(json.starts_with(before), "{before}");
            assert_eq!(path_of(json, before.len()), path, "{before}");
        }
        let long = format!("{{\"{}\": 1", "x".repeat(1_000));
        assert_eq!(
            path_of(&long, usize::MAX).chars().count(),
            PATH_CHARACTERS + 1
        );
        assert_eq!(path_of("{\"é", 3), "");
    }

    #[test]
    fn numbers_are_spelled_as_pydantic_spells_them() {
        let table = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1e-5, "0.00001"),
            (1e-6, "1e-6"),
            (1.2345e-7, "1.2345e-7"),
            (1.2345678901234567e19, "1.2345678901234567e+19"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
        ];
        for (number, expected) in table {
            let mut out = Vec::new();
            write_number(&mut out, number).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<i32>().prop_map(Into::into),
            any::<String>().prop_map(Into::into)
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn layouts_match_serde_json_and_undo_each_other(value in value()) {
            let (flat, pretty) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap());
            prop_assert_eq!(compact(&pretty), flat.as_str());
            prop_assert_eq!(compact(&indented(&flat)), flat.as_str());
            let mut four = Vec::new();
            let layout = serde_json::ser::PrettyFormatter::with_indent(b"    ");
            serde::Serialize::serialize(&value, &mut serde_json::Serializer::with_formatter(&mut four, layout)).unwrap();
            prop_assert_eq!(indented(&flat), String::from_utf8(four).unwrap());
        }
    }
}
