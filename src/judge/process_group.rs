//! Child processes that are ended together with everything that they have started.

use tokio::process::{Child, Command};

/// A child's process group; dropping it kills all of its processes.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl ProcessGroup {
    /// Starts a command as the leader of a new group.
    pub(super) fn spawn(command: &mut Command) -> std::io::Result<(Self, Child)> {
        command.kill_on_drop(true);
        // Protect it from the terminal's Ctrl-C: a stopped run waits for calls in flight.
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn()?;
        let group = Self {
            #[cfg(unix)]
            leader: child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
        };
        Ok((group, child))
    }

    /// Leaves the remaining processes alone, because the leader has ended.
    pub(super) fn release(self) {
        let _undropped = std::mem::ManuallyDrop::new(self);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // An error means that the group has ended.
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            use rustix::process::{Signal, kill_process_group};
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}
