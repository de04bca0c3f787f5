//! Handles a terminal that disappears while the interface is running, because its window was closed
//! or its connection broke.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is known to be gone. This is global because the terminal is.
static LOST: AtomicBool = AtomicBool::new(false);

pub fn is_lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

pub(super) fn set_lost() {
    LOST.store(true, Ordering::Relaxed);
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
