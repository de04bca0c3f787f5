//! Limits on open files in this process. Each call in flight holds a connection. Beyond the limit,
//! even the project could not be written, and paid answers would be lost.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Open-file limit requested at startup. A higher limit has no benefit, and child processes may
/// iterate over every possible descriptor.
#[cfg(unix)]
const WANTED: u64 = 8_192;
/// Files used by the project, the terminal and the runtime.
const OTHERS: u64 = 96;
/// Files per call in flight: while connections are being made, there may be one more of them than
/// calls.
const OF_A_CALL: u64 = 2;

static LIMIT: OnceLock<Option<u64>> = OnceLock::new();
static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);

/// Raises the limit to the useful maximum, if the system allows it.
pub fn raise_limit() {
    limit();
}

/// Maximum number of open files; `None` for no limit.
fn limit() -> Option<u64> {
    *LIMIT.get_or_init(raised)
}

#[cfg(unix)]
fn raised() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let wanted = now.maximum.map_or(WANTED, |most| most.min(WANTED));
    if now.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            ..now
        };
        // If the system refuses, the old limit stays.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    getrlimit(Resource::Nofile).current
}

#[cfg(not(unix))]
fn raised() -> Option<u64> {
    None
}

fn calls_within(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| {
        let calls = limit.saturating_sub(OTHERS) / OF_A_CALL;
        usize::try_from(calls).unwrap_or(usize::MAX).max(1)
    })
}

/// Describes the limit on calls in flight if it is below `wanted`.
pub fn bound_note(wanted: usize) -> Option<String> {
    let (limit, most) = (limit()?, calls_within(limit()));
    (wanted > most).then(|| {
        format!(
            "at most {most} calls are in flight at a time: this system allows {limit} open files \
             (`ulimit -n`)"
        )
    })
}

/// Permission to have one call in flight.
#[derive(Debug)]
pub(crate) struct OpenCall(());

impl OpenCall {
    /// Returns `None` if the maximum number of calls is already in flight.
    pub(crate) fn begin() -> Option<Self> {
        let most = calls_within(limit());
        let more = |calls: usize| (calls < most).then(|| calls + 1);
        let begun = IN_FLIGHT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        begun.ok().map(|_| Self(()))
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        IN_FLIGHT.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_leave_room_for_the_project() {
        assert_eq!(calls_within(None), usize::MAX);
        assert_eq!(calls_within(Some(8_192)), 4_048);
        assert_eq!(calls_within(Some(1_024)), 464);
        assert_eq!(calls_within(Some(256)), 80);
        assert_eq!(calls_within(Some(20)), 1);
    }
}
