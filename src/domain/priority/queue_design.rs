//! Orders the scored pairs of many queries for one person's review.

use super::Policy;
use super::inclusion::{Assignment, DrawReason, PairKey};
use crate::domain::battle::Pair;
use crate::domain::sampling::SeededRng;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueCandidate {
    pub key: PairKey,
    /// The priority; `None` if the order is random.
    pub priority: Option<f64>,
    /// Whether a judge has voted on it: controls are drawn only from such pairs.
    pub voted: bool,
}

impl QueueCandidate {
    /// The priority, if it is finite.
    fn urgency(&self) -> Option<f64> {
        self.priority.filter(|priority| priority.is_finite())
    }
}

/// A priority ordered by its bits, which is a total order.
#[derive(Clone, Copy, Debug)]
struct OrderedPriority(f64);

impl Ord for OrderedPriority {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for OrderedPriority {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OrderedPriority {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OrderedPriority {}

/// The `keep` most urgent of any number of candidates, in bounded memory.
#[derive(Debug)]
struct MostUrgent {
    ties: u64,
    keep: usize,
    /// With the hash that orders ties.
    kept: Vec<(u64, QueueCandidate)>,
    /// The last place that can still be among the most urgent, if that many are known.
    last: Option<Place>,
}

/// A sort key: the most urgent first, ties by a hash of the pair.
type Place = (Reverse<OrderedPriority>, u64, PairKey);

fn place((tie, candidate): &(u64, QueueCandidate)) -> Place {
    let priority = candidate.urgency().unwrap_or(f64::NEG_INFINITY);
    (Reverse(OrderedPriority(priority)), *tie, candidate.key)
}

impl MostUrgent {
    fn new(ties: u64, keep: usize) -> Self {
        Self {
            ties,
            keep,
            kept: Vec::new(),
            last: None,
        }
    }

    /// Adds a candidate with a priority.
    fn add(&mut self, candidate: QueueCandidate) {
        let placed = (hash(self.ties, candidate.key), candidate);
        if self.last.is_some_and(|last| place(&placed) > last) {
            return;
        }
        self.kept.push(placed);
        if self.kept.len() >= room(self.keep) {
            self.last = keep_first(&mut self.kept, self.keep, place);
        }
    }

    /// Whether a candidate with this priority can still be among the most urgent.
    fn wants(&self, priority: f64) -> bool {
        let priority = Reverse(OrderedPriority(priority));
        self.last.is_none_or(|last| priority <= last.0)
    }

    /// The most urgent first.
    fn sorted(mut self) -> impl Iterator<Item = QueueCandidate> {
        keep_first(&mut self.kept, self.keep, place);
        self.kept.sort_unstable_by_key(place);
        self.kept.into_iter().map(|(_, candidate)| candidate)
    }
}

/// The number of collected items at which all but the first `keep` are dropped.
fn room(keep: usize) -> usize {
    keep.saturating_add(keep / 4).saturating_add(64)
}

/// Drops all but the first `keep` items, and returns the key of the last of them if there are that
/// many.
fn keep_first<T, K: Ord>(items: &mut Vec<T>, keep: usize, key: fn(&T) -> K) -> Option<K> {
    let last = keep.checked_sub(1).filter(|last| *last < items.len());
    let Some(last) = last else {
        items.truncate(keep);
        return None;
    };
    let (_, found, _) = items.select_nth_unstable_by_key(last, key);
    let found = key(found);
    items.truncate(keep);
    Some(found)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDesign {
    /// Random seed for ties, controls and repeats.
    pub seed: u64,
    /// Slots that are planned together, 1..=1000.
    pub batch: usize,
    /// Share of random controls in a batch, in 0..=1: all but ⌈(1 − share) · batch⌉ of its slots,
    /// and at least one if the share is above 0. Without controls nothing can be estimated.
    pub share: f64,
    /// Share of repeats in a batch, rounded down to whole slots; they replace priority slots.
    pub repeats: f64,
    /// A pair is repeated once, after at least this many slots.
    pub gap: usize,
}

impl QueueDesign {
    /// A policy's default design for one person: a quarter controls and a twentieth repeats for
    /// `Mixed`, only controls for `Random`, only priorities for the others. Batches of 20; repeats
    /// after 20 slots.
    pub fn new(policy: Policy, seed: u64, annotator: &str) -> Self {
        let (share, repeats) = match policy {
            Policy::Mixed => (0.25, 0.05),
            Policy::Random => (1.0, 0.0),
            _ => (0.0, 0.0),
        };
        Self {
            seed: draw_seed(&mut SeededRng::new(seed, &["queue", annotator])),
            batch: 20,
            share,
            repeats,
            gap: 20,
        }
    }

    /// Whether it draws pairs at random, so that a queue needs all candidates.
    pub fn has_controls(&self) -> bool {
        self.share > 0.0
    }

    fn size(&self) -> usize {
        self.batch.clamp(1, 1000)
    }

    /// The kind of each slot of a batch; each control is at a random slot of its part of the batch.
    fn slots(&self, batch: usize) -> Vec<SlotKind> {
        let size = self.size();
        let part = |share: f64| share.clamp(0.0, 1.0) * size as f64;
        let certain = (part(1.0 - self.share) - 1e-9).ceil() as usize;
        let controls = (size - certain.min(size)).max(usize::from(self.share > 0.0));
        let repeats = (part(self.repeats) + 1e-9) as usize;
        let mut slots = vec![SlotKind::Priority; size];
        let mut rng = SeededRng::new(self.seed, &["slots", &batch.to_string()]);
        for control in 0..controls {
            let (from, to) = (control * size / controls, (control + 1) * size / controls);
            slots[from + rng.below(to - from)] = SlotKind::Control;
        }
        for _ in 0..repeats {
            let free: Vec<usize> = (0..size)
                .filter(|at| slots[*at] == SlotKind::Priority)
                .collect();
            if let Some(at) = free.get(rng.below(free.len())) {
                slots[*at] = SlotKind::Repeat;
            }
        }
        slots
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotKind {
    Priority,
    Control,
    Repeat,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueEntry {
    pub key: PairKey,
    /// Why the pair was drawn; stored in the ledger with the verdict.
    pub draw: DrawReason,
    /// The priority, if the policy has one.
    pub priority: Option<f64>,
}

/// The next `limit` entries for a person who has been shown `shown`, oldest first, from all
/// candidates; see [`QueueSelection`].
pub fn build_queue(
    candidates: &[QueueCandidate],
    shown: &[Assignment],
    design: &QueueDesign,
    limit: usize,
) -> Vec<QueueEntry> {
    let mut selection = QueueSelection::new(shown, design, limit);
    let of_queries = || {
        let of_queries = candidates.chunk_by(|x, y| x.key.query == y.key.query);
        of_queries.filter_map(|of| {
            let pairs = of.iter().map(|one| (one.key.pair, one.voted));
            Some((of.first()?.key.query, pairs))
        })
    };
    of_queries().for_each(|(query, pairs)| selection.count(query, pairs));
    of_queries().for_each(|(query, pairs)| selection.draw(query, pairs));
    candidates.iter().for_each(|one| selection.add(*one));
    let mut entries = selection.entries();
    let controls = entries.iter_mut().filter_map(|entry| match entry.draw {
        DrawReason::Control { .. } => Some((entry.key, &mut entry.priority)),
        _ => None,
    });
    let mut controls: HashMap<PairKey, &mut Option<f64>> = controls.collect();
    for candidate in candidates {
        if let Some(priority) = controls.get_mut(&candidate.key) {
            **priority = candidate.priority;
        }
    }
    entries
}

/// Selects the next entries of a queue from candidates that are passed one by one. Memory depends
/// on the largest number of entries only.
///
/// The candidates are all pairs that the estimate is about, including those already shown. Ties are
/// ordered by a seeded hash of the pair, never by input order. Controls use permanent random
/// numbers (Ohlsson 1995): the next control is the pair not shown yet with the smallest hash, which
/// is uniform given the past and does not change with the priorities. A frame with other pairs uses
/// other numbers, because otherwise its new pairs would come too early.
///
/// The queue may be rebuilt whenever something has changed, and must be rebuilt when a pair was
/// shown or decided outside of it. A slot that cannot be filled becomes a slot of the other kind; a
/// queue without controls ends with the last pair that has a priority.
#[derive(Debug)]
pub struct QueueSelection<'a> {
    shown: &'a [Assignment],
    design: QueueDesign,
    limit: usize,
    seeds: Seeds,
    /// The pairs that were shown, by query.
    seen: HashMap<u64, HashSet<Pair>>,
    urgent: MostUrgent,
    /// A hash of the frame.
    frame: u64,
    /// Number of pairs of the frame that were not shown.
    left: usize,
    /// The pairs with the smallest hashes, for controls.
    random: Vec<(u64, PairKey)>,
    /// The greatest hash of these that can still be drawn, the greatest of all until that many are
    /// known.
    last_random: u64,
}

impl<'a> QueueSelection<'a> {
    pub fn new(shown: &'a [Assignment], design: &QueueDesign, limit: usize) -> Self {
        let seeds = Seeds::new(design.seed);
        // Each entry takes one candidate from either list, and skips only candidates that were
        // taken from the other one.
        let keep = if design.has_controls() {
            limit.saturating_mul(2)
        } else {
            limit
        };
        let mut seen: HashMap<u64, HashSet<Pair>> = HashMap::new();
        for PairKey { query, pair } in shown.iter().map(|line| line.key) {
            seen.entry(query).or_default().insert(pair);
        }
        Self {
            shown,
            design: *design,
            limit,
            seen,
            urgent: MostUrgent::new(seeds.ties, keep),
            seeds,
            frame: 0,
            left: 0,
            random: Vec::new(),
            last_random: u64::MAX,
        }
    }

    /// Counts pairs of a query, each with whether a judge has voted on it. If the design has
    /// controls, all pairs must be counted before the first one is drawn.
    pub fn count(&mut self, query: u64, pairs: impl Iterator<Item = (Pair, bool)>) {
        if !self.design.has_controls() {
            return;
        }
        let (state, seen) = (mixed(self.seeds.ties, query), self.seen.get(&query));
        let (mut frame, mut left) = (0, 0);
        // Loops instead of adapters, which would be calls that cost as much as the hash.
        for (pair, voted) in pairs {
            if voted {
                frame ^= hash_pair(state, pair);
                left += usize::from(!seen.is_some_and(|seen| seen.contains(&pair)));
            }
        }
        self.frame ^= frame;
        self.left += left;
    }

    /// Adds pairs of a query, each with whether a judge has voted on it, for the slots of controls.
    /// These entries have no priority.
    pub fn draw(&mut self, query: u64, pairs: impl Iterator<Item = (Pair, bool)>) {
        if !self.design.has_controls() {
            return;
        }
        let (state, seen) = (
            mixed(self.seeds.controls ^ self.frame, query),
            self.seen.get(&query),
        );
        let keep = self.limit.saturating_mul(2);
        let mut last = self.last_random;
        for (pair, voted) in pairs {
            let hash = hash_pair(state, pair);
            if hash > last || !voted || seen.is_some_and(|seen| seen.contains(&pair)) {
                continue;
            }
            self.random.push((hash, PairKey { query, pair }));
            if self.random.len() >= room(keep)
                && let Some((greatest, _)) = keep_first(&mut self.random, keep, |drawn| *drawn)
            {
                last = greatest;
            }
        }
        self.last_random = last;
    }

    /// Adds a candidate for the slots by priority.
    pub fn add(&mut self, candidate: QueueCandidate) {
        let is_urgent = candidate
            .urgency()
            .is_some_and(|urgency| self.urgent.wants(urgency));
        let PairKey { query, pair } = candidate.key;
        let seen = self.seen.get(&query);
        if is_urgent && !seen.is_some_and(|seen| seen.contains(&pair)) {
            self.urgent.add(candidate);
        }
    }

    /// Whether candidates of which none has a priority above `bound` need to be added: the others
    /// cannot be among the most urgent any more.
    pub fn wants(&self, bound: f64) -> bool {
        bound > f64::NEG_INFINITY && self.urgent.wants(bound)
    }

    /// The entries, in order.
    pub fn entries(mut self) -> Vec<QueueEntry> {
        self.random.sort_unstable();
        let drawn = |(_, key)| QueueCandidate {
            key,
            priority: None,
            voted: true,
        };
        let mut random = self.random.into_iter().map(drawn);
        let mut urgent = self.urgent.sorted();
        let mut left = self.left;
        let (shown, design) = (self.shown, &self.design);
        let mut repeats = Repeats::new(shown, self.seeds.repeats, design.gap);
        let mut placed: HashSet<PairKey> = HashSet::new();
        let mut entries = Vec::new();
        let size = design.size();
        let mut slots = Vec::new();
        for slot in shown.len().. {
            if entries.len() >= self.limit {
                break;
            }
            if slots.is_empty() || slot % size == 0 {
                slots = design.slots(slot / size);
            }
            let kind = slots
                .get(slot % size)
                .copied()
                .unwrap_or(SlotKind::Priority);
            if kind == SlotKind::Repeat
                && let Some(key) = repeats.next(slot)
            {
                entries.push(QueueEntry {
                    key,
                    draw: DrawReason::Repeat,
                    priority: None,
                });
                continue;
            }
            let mut by_priority = || Some((urgent.find(|c| !placed.contains(&c.key))?, false));
            let mut by_chance = || Some((random.find(|c| !placed.contains(&c.key))?, true));
            let next = if kind == SlotKind::Control {
                by_chance().or_else(by_priority)
            } else {
                by_priority().or_else(by_chance)
            };
            let Some((candidate, drawn)) = next else {
                break;
            };
            entries.push(QueueEntry {
                key: candidate.key,
                draw: if drawn {
                    DrawReason::Control { of: left }
                } else {
                    DrawReason::Priority
                },
                priority: candidate.priority,
            });
            left -= usize::from(candidate.voted && left > 0);
            placed.insert(candidate.key);
            repeats.shown(candidate.key, slot);
        }
        entries
    }
}

/// Pairs shown once and waiting to be repeated, in the order of a hash.
struct Repeats {
    seed: u64,
    gap: usize,
    /// Each pair with the slot in which it was shown, oldest first; the first `ready` of them are
    /// in `due`.
    first: Vec<(PairKey, usize)>,
    ready: usize,
    due: BinaryHeap<std::cmp::Reverse<(u64, PairKey)>>,
    done: HashSet<PairKey>,
}

impl Repeats {
    fn new(shown: &[Assignment], seed: u64, gap: usize) -> Self {
        let mut repeats = Self {
            seed,
            gap,
            first: Vec::new(),
            ready: 0,
            due: BinaryHeap::new(),
            done: HashSet::new(),
        };
        let mut known = HashSet::new();
        for (slot, line) in shown.iter().enumerate() {
            if known.insert(line.key) {
                repeats.first.push((line.key, slot));
            } else {
                repeats.done.insert(line.key);
            }
        }
        repeats
    }

    fn shown(&mut self, key: PairKey, slot: usize) {
        self.first.push((key, slot));
    }

    fn next(&mut self, slot: usize) -> Option<PairKey> {
        while let Some((key, at)) = self.first.get(self.ready) {
            if slot.saturating_sub(*at) < self.gap.max(1) {
                break;
            }
            if !self.done.contains(key) {
                self.due
                    .push(std::cmp::Reverse((hash(self.seed, *key), *key)));
            }
            self.ready += 1;
        }
        self.due.pop().map(|std::cmp::Reverse((_, key))| key)
    }
}

/// One seed per purpose: if ties were broken by the numbers of the controls, the controls would not
/// be fully random.
#[derive(Debug)]
struct Seeds {
    ties: u64,
    controls: u64,
    repeats: u64,
}

impl Seeds {
    fn new(seed: u64) -> Self {
        let of = |purpose: &str| draw_seed(&mut SeededRng::new(seed, &[purpose]));
        Self {
            ties: of("ties"),
            controls: of("controls"),
            repeats: of("repeats"),
        }
    }
}

fn draw_seed(rng: &mut SeededRng) -> u64 {
    (0..4).fold(0, |seed, _| seed << 16 | rng.below(1 << 16) as u64)
}

/// SplitMix64 (Steele, Lea & Flood 2014) over the parts of a key.
fn hash(seed: u64, key: PairKey) -> u64 {
    hash_pair(mixed(seed, key.query), key.pair)
}

/// The hash of a pair, from the state after its query.
#[inline]
fn hash_pair(state: u64, pair: Pair) -> u64 {
    mixed(mixed(state, pair.low() as u64), pair.high() as u64)
}

#[inline]
fn mixed(state: u64, part: u64) -> u64 {
    let mut z = (state ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
