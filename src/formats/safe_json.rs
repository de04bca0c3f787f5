//! Writes JSON in which no string can control a terminal: everything that [`sanitize`] would
//! replace is escaped, and reads back unchanged.

use crate::domain::sanitize;
use serde::Serialize;
use std::io::{self, Write};

/// Writes a value as JSON on one line.
pub fn write_line<T: Serialize>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    writeln!(out, "{}", compact(value)?)
}

/// Formats a value as JSON on one line, without a line break.
pub fn compact<T: Serialize>(value: &T) -> serde_json::Result<String> {
    Ok(escaped(serde_json::to_string(value)?))
}

/// Formats a value as indented JSON, with a final line break.
pub fn pretty<T: Serialize>(value: &T) -> serde_json::Result<String> {
    Ok(escaped(serde_json::to_string_pretty(value)?) + "\n")
}

/// Hazards can only occur in strings: the rest of JSON is plain ASCII, with line breaks if it is
/// indented.
fn escaped(json: String) -> String {
    if !json.contains(|ch| ch != '\n' && sanitize::is_hazard(ch)) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for ch in json.chars() {
        if ch != '\n' && sanitize::is_hazard(ch) {
            for unit in ch.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(ch);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn hazards_are_escaped_and_read_back_the_same() {
        let value = json!({ "a\u{202e}": "x\u{1b}[2J\n\u{e0041}", "plain": "héé" });
        let text = pretty(&value).expect("a value can be written");
        let hazard = |ch| ch != '\n' && sanitize::is_hazard(ch);
        assert!(!text.contains(hazard), "{text:?}");
        assert_eq!(
            serde_json::from_str::<Value>(&text).expect("it is JSON"),
            value
        );
    }
}
