//! Standard output for data. On a terminal, anything that could control it is escaped; a file or a
//! pipe gets the bytes unchanged.

use crate::domain::sanitize;
use std::io::{self, IsTerminal as _, Stdout, Write};

/// Standard output that is safe on a terminal.
#[derive(Debug)]
pub struct SafeStdout {
    out: Stdout,
    /// The first bytes of an incomplete character; `None` if nothing is escaped.
    begun: Option<Vec<u8>>,
}

impl Default for SafeStdout {
    fn default() -> Self {
        let out = io::stdout();
        Self {
            begun: out.is_terminal().then(Vec::new),
            out,
        }
    }
}

impl Write for SafeStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.begun {
            None => self.out.write(bytes),
            Some(begun) => {
                let text = escaped(begun, bytes);
                self.out.write_all(text.as_bytes())?;
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The text of `begun` and `bytes`, with hazards escaped as in `\u001b`, which JSON parses back to
/// the same characters; an incomplete character stays in `begun`.
fn escaped(begun: &mut Vec<u8>, bytes: &[u8]) -> String {
    begun.extend_from_slice(bytes);
    let mut text = String::with_capacity(begun.len());
    let mut whole = begun.len();
    for chunk in begun.utf8_chunks() {
        chunk.valid().chars().for_each(|ch| push(&mut text, ch));
        let invalid = chunk.invalid();
        let at_end = invalid.as_ptr_range().end == begun.as_ptr_range().end;
        let cut = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if at_end && cut {
            whole -= invalid.len();
        } else if !invalid.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    begun.drain(..whole);
    text
}

fn push(text: &mut String, ch: char) {
    if ch == '\n' || ch == '\t' || !sanitize::is_hazard(ch) {
        text.push(ch);
        return;
    }
    for unit in ch.encode_utf16(&mut [0; 2]) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hazards_are_escaped_however_the_bytes_come() {
        let data = "a\u{9b}31m é\u{202e}b\u{1b}]0;x\u{7}\t\u{e0041}\n".as_bytes();
        let wanted = "a\\u009b31m é\\u202eb\\u001b]0;x\\u0007\t\\udb40\\udc41\n";
        for size in 1..=data.len() {
            let mut begun = Vec::new();
            let pieces = data.chunks(size).map(|piece| escaped(&mut begun, piece));
            assert_eq!(pieces.collect::<String>(), wanted, "{size}");
        }
        let mut begun = Vec::new();
        assert_eq!(escaped(&mut begun, b"a\xffb\xc3"), "a\u{fffd}b");
        assert_eq!(escaped(&mut begun, b"\xa9"), "é");
    }
}
