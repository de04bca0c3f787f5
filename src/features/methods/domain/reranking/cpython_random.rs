//! CPython's `random.Random(int).shuffle`: the MT19937 generator (Matsumoto and Nishimura 1998),
//! seeded by an array.

use sha2::{Digest as _, Sha256};

const LENGTH: usize = 624;
const MIDDLE: usize = 397;

/// The seed that ranksmith derives from these parts: the first four bytes of the SHA-256 of the
/// parts, joined by colons.
pub(crate) fn stable_seed(parts: &[&str]) -> u32 {
    let hash = Sha256::digest(parts.join(":"));
    hash.iter()
        .take(4)
        .fold(0, |seed, byte| (seed << 8) | u32::from(*byte))
}

#[derive(Clone, Debug)]
pub(crate) struct CpythonRandom {
    state: Vec<u32>,
    at: usize,
}

impl CpythonRandom {
    pub(crate) fn new(seed: u64) -> Self {
        let (low, high) = (seed as u32, (seed >> 32) as u32);
        let key: &[u32] = if high == 0 { &[low] } else { &[low, high] };
        Self {
            state: seeded(key),
            at: LENGTH,
        }
    }

    pub(crate) fn next_u32(&mut self) -> u32 {
        if self.at >= LENGTH {
            self.refill();
        }
        let mut drawn = self.state[self.at];
        self.at += 1;
        drawn ^= drawn >> 11;
        drawn ^= (drawn << 7) & 0x9d2c_5680;
        drawn ^= (drawn << 15) & 0xefc6_0000;
        drawn ^ (drawn >> 18)
    }

    /// A uniform integer in `0..bound`; 0 if `bound` is 0. Bounds must be below 2³².
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u32::try_from(bound).unwrap_or(u32::MAX);
        if bound == 0 {
            return 0;
        }
        let spare = bound.leading_zeros();
        loop {
            let drawn = self.next_u32() >> spare;
            if drawn < bound {
                return drawn as usize;
            }
        }
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }

    fn refill(&mut self) {
        for at in 0..LENGTH {
            let mixed =
                (self.state[at] & 0x8000_0000) | (self.state[(at + 1) % LENGTH] & 0x7fff_ffff);
            let twist = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[at] = self.state[(at + MIDDLE) % LENGTH] ^ (mixed >> 1) ^ twist;
        }
        self.at = 0;
    }
}

/// The state for a key of at least one word.
fn seeded(key: &[u32]) -> Vec<u32> {
    let mut state = vec![19_650_218_u32; LENGTH];
    for at in 1..LENGTH {
        state[at] = mixed(&state, at)
            .wrapping_mul(1_812_433_253)
            .wrapping_add(at as u32);
    }
    let mut at = 1;
    for step in 0..LENGTH.max(key.len()) {
        let place = step % key.len().max(1);
        let word = key.get(place).copied().unwrap_or(0);
        state[at] = (state[at] ^ mixed(&state, at).wrapping_mul(1_664_525))
            .wrapping_add(word)
            .wrapping_add(place as u32);
        at = following(&mut state, at);
    }
    for _ in 1..LENGTH {
        state[at] =
            (state[at] ^ mixed(&state, at).wrapping_mul(1_566_083_941)).wrapping_sub(at as u32);
        at = following(&mut state, at);
    }
    state[0] = 0x8000_0000;
    state
}

fn mixed(state: &[u32], at: usize) -> u32 {
    state[at - 1] ^ (state[at - 1] >> 30)
}

/// The next index; after the last one, copies the last word to the first and continues at 1.
fn following(state: &mut [u32], at: usize) -> usize {
    if at + 1 < LENGTH {
        return at + 1;
    }
    state[0] = state[LENGTH - 1];
    1
}
