//! Finds the objects and tags of a text that state an answer, in linear time.

use super::error::NoAnswer;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::ops::Range;

/// How models start when they decline. Apostrophes are compared as ASCII.
const DECLINING: &[&str] = &[
    "i can't",
    "i cannot",
    "i can not",
    "i won't",
    "i'm sorry, but i can",
    "i'm sorry, i can",
    "i am sorry, but i can",
    "i'm not able to",
    "i am not able to",
    "i'm unable to",
    "i am unable to",
    "i must decline",
    "sorry, but i can",
    "sorry, i can",
    "as an ai",
];
/// Things that an undecided model says it cannot do; this is not declining.
const UNDECIDED: &[&str] = &[
    "choose",
    "decide",
    "determine",
    "distinguish",
    "pick",
    "prefer",
    "say which",
    "say whether",
    "see a difference",
    "tell",
];
/// Maximum number of braces that open no object to skip.
const STRAY_BRACES: usize = 64;

/// Whether `text` starts like a refusal.
pub(super) fn declines(text: &str) -> bool {
    let start: String = text.chars().take(60).collect();
    let start = start.to_lowercase().replace('’', "'");
    DECLINING.iter().any(|opening| {
        start.strip_prefix(opening).is_some_and(|rest| {
            !UNDECIDED
                .iter()
                .any(|verb| rest.trim_start().starts_with(verb))
        })
    })
}

/// The outermost objects of a text.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) whole: Vec<Range<usize>>,
    /// The start of an object that does not end. None is searched for after it.
    pub(super) unfinished: Option<usize>,
}

impl Objects {
    /// The object that contains the byte `at`.
    pub(super) fn around(&self, at: usize) -> Option<&Range<usize>> {
        let next = self.whole.partition_point(|object| object.end <= at);
        self.whole.get(next).filter(|object| object.contains(&at))
    }
}

/// The objects of `text`. A brace that does not start an object is skipped, unless another one
/// closes it.
pub(super) fn objects(text: &str) -> Objects {
    let mut found = Objects::default();
    let (mut at, mut stray) = (0, 0);
    while let Some(start) = text[at..].find('{').map(|start| at + start) {
        if let Some(end) = closing(text, start) {
            found.whole.push(start..end);
            at = end;
            continue;
        }
        stray += 1;
        if stray > STRAY_BRACES || text[start + 1..].trim_start().starts_with('"') {
            found.unfinished = Some(start);
            break;
        }
        at = start + 1;
    }
    found
}

/// Whether `object` is JSON, except for line breaks in its strings.
pub(super) fn is_json(object: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(&with_escaped_controls(object)).is_ok()
}

/// Whether `text` is one object and nothing else.
pub(super) fn is_object(text: &str) -> bool {
    text.starts_with('{') && closing(text, 0) == Some(text.len())
}

/// The byte after the brace that closes the one at `start`.
fn closing(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in outside_strings(text, start) {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The bytes of `text` from `start` that are outside JSON strings; opening quotes are included.
fn outside_strings(text: &str, start: usize) -> impl Iterator<Item = (usize, u8)> {
    let (mut inside, mut escaped) = (false, false);
    text.bytes()
        .enumerate()
        .skip(start)
        .filter(move |(_, byte)| {
            if inside {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => inside = false,
                    _ => {}
                }
                return false;
            }
            inside = *byte == b'"';
            true
        })
}

/// `object` with control characters inside its strings escaped, as JSON requires; models write line
/// breaks there.
pub(super) fn with_escaped_controls(object: &str) -> Cow<'_, str> {
    if !object.contains(|c: char| c < ' ') {
        return object.into();
    }
    let (mut inside, mut escaped) = (false, false);
    let mut written = String::with_capacity(object.len() + 16);
    for c in object.chars() {
        match c {
            '"' if !escaped => inside = !inside,
            c if inside && c < ' ' => {
                // A preceding backslash would escape the replacement.
                if escaped {
                    written.pop();
                }
                escaped = false;
                written.push_str(&format!("\\u{:04x}", u32::from(c)));
                continue;
            }
            _ => {}
        }
        escaped = inside && c == '\\' && !escaped;
        written.push(c);
    }
    written.into()
}

/// The position of the value of `key` in `object` if it is not a string, list or object, and the
/// key occurs once.
pub(super) fn bare_value(object: &str, key: &str) -> Option<Range<usize>> {
    let quoted = format!("\"{key}\"");
    let mut depth = 0usize;
    let mut found = None;
    for (at, byte) in outside_strings(object, 0) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' if depth == 1 && object[at..].starts_with(&quoted) => {
                let after = &object[at + quoted.len()..];
                // A string that is a value is followed by a comma or a brace.
                let Some(value) = after.trim_start().strip_prefix(':') else {
                    continue;
                };
                let value = value.trim_start();
                let start = object.len() - value.len();
                let length = value
                    .find(|c: char| c.is_whitespace() || ",}]{[\"".contains(c))
                    .filter(|length| *length > 0)?;
                if found.replace(start..start + length).is_some() {
                    return None;
                }
            }
            _ => {}
        }
    }
    found
}

/// A place in a text that states an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement<'a> {
    /// An object that mentions the key.
    Object { range: Range<usize>, text: &'a str },
    /// `<key>value</key>` outside objects.
    Tag { range: Range<usize>, value: &'a str },
}

impl Statement<'_> {
    pub(super) fn range(&self) -> &Range<usize> {
        match self {
            Self::Object { range, .. } | Self::Tag { range, .. } => range,
        }
    }
}

/// The statements of `key` in `text`, in order.
///
/// # Errors
/// If the last one does not end.
pub(super) fn statements<'a>(text: &'a str, key: &str) -> Result<Vec<Statement<'a>>, NoAnswer> {
    let objects = objects(text);
    let quoted = format!("\"{key}\"");
    let mentions = |text: &str| text.contains(&quoted);
    if objects
        .unfinished
        .is_some_and(|start| mentions(&text[start..]))
    {
        return Err(NoAnswer::Unfinished);
    }
    let mut statements: Vec<Statement<'a>> = objects
        .whole
        .iter()
        .map(|range| Statement::Object {
            range: range.clone(),
            text: &text[range.clone()],
        })
        .filter(|object| mentions(&text[object.range().clone()]))
        .collect();
    let (open, close) = (format!("<{key}>"), format!("</{key}>"));
    let mut at = 0;
    let mut unfinished_tag = None;
    while let Some(start) = text[at..].find(&open).map(|start| at + start) {
        at = start + open.len();
        if let Some(object) = objects.around(start) {
            at = object.end;
            continue;
        }
        let Some(length) = text[at..].find(&close) else {
            unfinished_tag = Some(start);
            break;
        };
        let value = &text[at..at + length];
        at += length + close.len();
        statements.push(Statement::Tag {
            range: start..at,
            value: value.trim(),
        });
    }
    statements.sort_by_key(|statement| statement.range().start);
    let last = statements.last().map_or(0, |last| last.range().start);
    if unfinished_tag.is_some_and(|start| start >= last) {
        return Err(NoAnswer::Unfinished);
    }
    Ok(statements)
}
