//! Whether someone still waits for a slow report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether someone waits for a report.
#[derive(Clone, Debug, Default)]
pub struct ReportRequest(Arc<AtomicBool>);

impl ReportRequest {
    pub fn take_back(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn stands(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for ReportRequest {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
