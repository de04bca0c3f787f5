//! JSON values as Python prints them: `repr` of what `json.loads` makes of them.

use super::json::{is_whole, kind, members};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt::Write;

/// Maximum nesting that is written as Python prints it. Deeper values are written as they are:
/// Python cannot read a thousand levels, and a file may contain a million.
const DEEPEST: usize = 100;

/// Writes a dictionary with these members; of repeated names, the last value counts, at the place
/// of the first.
pub(crate) fn write_dict<'a>(
    out: &mut String,
    members: impl IntoIterator<Item = (impl AsRef<str>, &'a RawValue)>,
) {
    write_members(out, members, 0);
}

fn write_members<'a>(
    out: &mut String,
    members: impl IntoIterator<Item = (impl AsRef<str>, &'a RawValue)>,
    depth: usize,
) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut values: Vec<(String, &RawValue)> = Vec::new();
    for (name, value) in members {
        let name = name.as_ref();
        match places.get(name) {
            Some(at) => values[*at].1 = value,
            None => {
                places.insert(name.to_owned(), values.len());
                values.push((name.to_owned(), value));
            }
        }
    }
    out.push('{');
    for (at, (name, value)) in values.into_iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_string(out, &name);
        out.push_str(": ");
        write_value(out, value, depth + 1);
    }
    out.push('}');
}

fn write_value(out: &mut String, value: &RawValue, depth: usize) {
    let text = value.get();
    match kind(value) {
        "an object" | "an array" if depth > DEEPEST => out.push_str(text),
        "an object" => write_members(out, members(text).unwrap_or_default(), depth),
        "an array" => {
            let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
            out.push('[');
            for (at, item) in items.into_iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_value(out, item, depth + 1);
            }
            out.push(']');
        }
        "a string" => match serde_json::from_str::<String>(text) {
            Ok(text) => write_string(out, &text),
            // An escape that stands for half a character, which Python prints as it is written.
            Err(_) => {
                let inside = text.get(1..text.len().saturating_sub(1));
                let _ = write!(out, "'{}'", inside.unwrap_or_default());
            }
        },
        "a boolean" => out.push_str(if text == "true" { "True" } else { "False" }),
        "null" => out.push_str("None"),
        _ if is_whole(value) => out.push_str(if text == "-0" { "0" } else { text }),
        _ => write_float(out, text.parse().unwrap_or(f64::NAN)),
    }
}

/// The shortest digits that give the number back, with an exponent below 1e-4 and from 1e16.
fn write_float(out: &mut String, value: f64) {
    let shortest = format!("{value:e}");
    let Some((digits, exponent)) = shortest.split_once('e') else {
        out.push_str(&shortest);
        return;
    };
    // Writing to a string cannot fail.
    let _ = match exponent.parse::<i32>() {
        Ok(power @ -4..16) => {
            let positional = format!("{value}");
            let point = if power >= 0 && !positional.contains('.') {
                ".0"
            } else {
                ""
            };
            write!(out, "{positional}{point}")
        }
        Ok(power) => write!(
            out,
            "{digits}e{}{:02}",
            if power < 0 { '-' } else { '+' },
            power.abs()
        ),
        Err(_) => write!(out, "{shortest}"),
    };
}

fn write_string(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    out.push(quote);
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '\\' => write!(out, "\\\\"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            c if c == quote => write!(out, "\\{c}"),
            c if is_printable(c) => write!(out, "{c}"),
            c => match u32::from(c) {
                code @ ..0x100 => write!(out, "\\x{code:02x}"),
                code @ 0x100..0x1_0000 => write!(out, "\\u{code:04x}"),
                code => write!(out, "\\U{code:08x}"),
            },
        };
    }
    out.push(quote);
}

/// Whether a character is shown as itself. Rust and Python escape the same categories; in front of
/// it, a letter, because Rust escapes combining marks at the start of a text only.
fn is_printable(c: char) -> bool {
    match c {
        '\'' | '"' => true,
        ' '..='~' => true,
        c => String::from_iter(['a', c]).escape_debug().count() == 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn printed(json: &str) -> String {
        let mut out = String::new();
        write_dict(&mut out, members(json).unwrap());
        out
    }

    /// Printed by Python 3.12: `print(json.loads(...))`.
    #[rstest]
    #[case("{}", "{}")]
    #[case(
        r#"{"price":3.50,"brand":"O'Neil","new":true,"old":false,"of":null}"#,
        r#"{'price': 3.5, 'brand': "O'Neil", 'new': True, 'old': False, 'of': None}"#
    )]
    #[case(
        r#"{"a":"it's \"so\"","b":"\\ \n\t\r\u0007","c":"say \"x\""}"#,
        r#"{'a': 'it\'s "so"', 'b': '\\ \n\t\r\x07', 'c': 'say "x"'}"#
    )]
    #[case(r#"{"n":[1,-0,1.0,-0.0,1e5,1e15,1e16,123456789012345678901234567890,0.0001,0.00001,1.5e-7,1e400,0.1]}"#, "{'n': [1, 0, 1.0, -0.0, 100000.0, 1000000000000000.0, 1e+16, 123456789012345678901234567890, 0.0001, 1e-05, 1.5e-07, inf, 0.1]}")]
    #[case(r#"{"t":{"é":["ä","日本","e\u0301","\u00a0","\u200b","\ud83d\ude00","\ue000","\u2028","\u00ad"]}}"#, r"{'t': {'é': ['ä', '日本', 'é', '\xa0', '\u200b', '😀', '\ue000', '\u2028', '\xad']}}")]
    #[case(r#"{"a":1,"b":2,"a":{"x":[]}}"#, "{'a': {'x': []}, 'b': 2}")]
    #[case(r#"{"half":"\ud800"}"#, r"{'half': '\ud800'}")]
    fn values_are_printed_as_python_prints_them(#[case] json: &str, #[case] expected: &str) {
        assert_eq!(printed(json), expected);
    }

    #[test]
    fn of_many_repeated_names_the_last_value_counts() {
        let members: Vec<String> = (0..60_000)
            .map(|at| format!(r#""n{}":{at}"#, at % 30_000))
            .collect();
        let text = printed(&format!("{{{}}}", members.join(",")));
        assert!(
            text.starts_with("{'n0': 30000, 'n1': 30001, "),
            "{}",
            &text[..40]
        );
        assert!(text.ends_with(", 'n29999': 59999}"));
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let levels = 100_000;
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        let text = printed(&deep);
        assert!(text.starts_with("{'a': [[") && text.ends_with("]]}"));
        assert_eq!(text.matches('[').count(), levels);
    }
}
