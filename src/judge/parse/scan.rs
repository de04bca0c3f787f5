//! Finding the one answer in a text, in time linear in it, or saying why there is none.

use super::error::ParseError;
use std::ops::Range;

/// How a model begins when it declines. Apostrophes are compared as ASCII ones.
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

/// Whether `text` begins as a refusal does.
pub(super) fn declines(text: &str) -> bool {
    let start: String = text.chars().take(60).collect();
    let start = start.to_lowercase().replace('’', "'");
    DECLINING.iter().any(|opening| start.starts_with(opening))
}

/// `text` without one leading `<think>…</think>`; nothing is left of one that does not end.
pub(super) fn without_thinking(text: &str) -> &str {
    match text.strip_prefix("<think>") {
        Some(rest) => rest
            .split_once("</think>")
            .map_or("", |(_, after)| after.trim()),
        None => text,
    }
}

/// The one object with `key` among the outermost ones of `text`.
pub(super) fn object<'a>(text: &'a str, key: &'static str) -> Result<Option<&'a str>, ParseError> {
    let mut found = None;
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|start| at + start) {
        let Some(end) = closing(text, start) else {
            if mentions(&text[start..], key) {
                return Err(ParseError::Json("the object does not end".to_owned()));
            }
            break;
        };
        let candidate = &text[start..end];
        if mentions(candidate, key) && found.replace(candidate).is_some() {
            return Err(ParseError::Duplicate(key));
        }
        at = end;
    }
    Ok(found)
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

/// The bytes of `text` from `start` that are not inside JSON strings; quotes that open one are included.
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

/// Where the value of `key` stands in `object` if it is neither string, list nor object and the key occurs once.
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

/// The value of the one `<key>…</key>` in `text`, and the text without it.
pub(super) fn tag<'a>(
    text: &'a str,
    key: &'static str,
) -> Result<Option<(&'a str, String)>, ParseError> {
    let (open, close) = (format!("<{key}>"), format!("</{key}>"));
    let Some((before, rest)) = text.split_once(&open) else {
        return Ok(None);
    };
    let Some((value, after)) = rest.split_once(&close) else {
        return Err(ParseError::Json(format!("{open} does not end")));
    };
    if rest.contains(&open) {
        return Err(ParseError::Duplicate(key));
    }
    Ok(Some((value.trim(), format!("{before}\n{after}"))))
}

/// Whether the key stands in `text` at all, which makes a broken object a broken answer.
fn mentions(text: &str, key: &str) -> bool {
    text.contains(&format!("\"{key}\""))
}
