//! A terminal that goes away while the interface is up: its window was closed, or its connection broke.

use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal was found to be gone. It belongs to the process, so this does too.
static LOST: AtomicBool = AtomicBool::new(false);

pub fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Whether an error means that the terminal is gone.
pub fn is_loss(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let gone = [
            Errno::IO,
            Errno::NXIO,
            Errno::PIPE,
            Errno::BADF,
            Errno::NOTTY,
        ];
        if Errno::from_io_error(error).is_some_and(|errno| gone.contains(&errno)) {
            return true;
        }
    }
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof
    )
}

/// Stdout, which takes everything once the terminal is gone: an error in a drop would be printed, to nobody, and that
/// would be a panic.
#[derive(Debug)]
pub(super) struct Out(Stdout);

impl Default for Out {
    fn default() -> Self {
        Self(io::stdout())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_lost(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_lost(self.0.flush(), ())
    }
}

fn unless_lost<T>(result: io::Result<T>, instead: T) -> io::Result<T> {
    match result {
        Err(error) if is_loss(&error) => {
            LOST.store(true, Ordering::Relaxed);
            Ok(instead)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_terminal_is_its_loss() {
        #[cfg(unix)]
        for errno in [rustix::io::Errno::IO, rustix::io::Errno::PIPE] {
            assert!(is_loss(&errno.into()), "{errno}");
        }
        assert!(is_loss(&io::ErrorKind::BrokenPipe.into()));
        for kind in [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted] {
            assert!(!is_loss(&kind.into()), "{kind}");
        }
    }
}
