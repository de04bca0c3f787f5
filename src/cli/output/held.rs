//! Output that is held back until all of it is known to be correct.

use crate::cli::command::CommandResult;
use crate::formats::safe_json;
use crate::formats::safe_stdout::SafeStdout;
use std::io::{self, Write};

/// stdout for data in rows. Output still held when a command fails is never printed: a table
/// without rows is not an answer.
pub(crate) struct HeldOutput(Option<io::BufWriter<SafeStdout>>);

impl HeldOutput {
    pub(crate) fn new() -> Self {
        Self(Some(io::BufWriter::new(SafeStdout::default())))
    }

    /// Prints the remaining output.
    pub(crate) fn end(mut self) -> CommandResult {
        Ok(self.0.take().map_or(Ok(()), |mut out| out.flush())?)
    }
}

impl Write for HeldOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .as_mut()
            .map_or(Ok(bytes.len()), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        // Writers of tables flush at the end, when the command may still fail.
        Ok(())
    }
}

impl Drop for HeldOutput {
    fn drop(&mut self) {
        // Dropping the buffer itself would print it.
        drop(self.0.take().map(io::BufWriter::into_parts));
    }
}

/// A JSON array that is printed to stdout element by element.
pub(crate) struct JsonArray {
    out: HeldOutput,
    elements: usize,
}

impl JsonArray {
    pub(crate) fn new() -> Self {
        Self {
            out: HeldOutput::new(),
            elements: 0,
        }
    }

    pub(crate) fn push<T: serde::Serialize>(&mut self, value: &T) -> CommandResult {
        let before = if self.elements == 0 { "[" } else { "," };
        self.elements += 1;
        self.out.write_all(before.as_bytes())?;
        for line in safe_json::pretty(value)?.lines() {
            write!(self.out, "\n  {line}")?;
        }
        Ok(())
    }

    pub(crate) fn end(mut self) -> CommandResult {
        let end = if self.elements == 0 { "[]\n" } else { "\n]\n" };
        self.out.write_all(end.as_bytes())?;
        self.out.end()
    }
}
