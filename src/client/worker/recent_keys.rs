//! Keys of recently answered questions.

use std::collections::{HashSet, VecDeque};

/// Number of keys to remember: more than can have been looked up before they were answered.
const REMEMBERED: usize = 4_096;

/// The most recent keys of answered questions.
#[derive(Default)]
pub(super) struct RecentKeys {
    keys: HashSet<[u8; 32]>,
    order: VecDeque<[u8; 32]>,
}

impl RecentKeys {
    pub(super) fn add(&mut self, key: [u8; 32]) {
        if self.keys.insert(key) {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }

    pub(super) fn forget(&mut self, key: &[u8; 32]) {
        if self.keys.remove(key) {
            self.order.retain(|known| known != key);
        }
    }

    pub(super) fn holds(&self, key: &[u8; 32]) -> bool {
        self.keys.contains(key)
    }
}
