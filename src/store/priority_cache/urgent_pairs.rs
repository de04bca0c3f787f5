//! The pairs of a query, and those with the highest priorities, in short encodings of the cache.

use crate::domain::battle::Pair;
use crate::store::corpus::QueryKey;
use std::cmp::Ordering;

/// Number of pairs after which no other priority is added.
const ENOUGH: usize = 16;
/// Maximum number of pairs. Pairs of equal priority stay together.
const MOST: usize = 1_024;

/// The most urgent pairs of a query under one policy, and a bound for the others. Most queues need
/// only these.
#[derive(Clone, Debug, PartialEq)]
pub struct UrgentPairs {
    pub query: QueryKey,
    pub name: String,
    /// By priority, the highest first. Pairs of equal priority are either all there or all missing.
    pub pairs: Vec<UrgentPair>,
    /// The highest priority of the other pairs; −∞ if none has one, ∞ if nothing is cached.
    pub bound: f64,
}

/// The pairs of many queries, in about two bytes each.
#[derive(Debug, Default)]
pub struct AllPairs {
    /// Each query with its name and the end of its pairs in `bytes`.
    pub(super) queries: Vec<(QueryKey, String, usize)>,
    pub(super) bytes: Vec<u8>,
}

impl AllPairs {
    /// Each query with its name and its pairs, each with whether a judge has voted.
    pub fn queries(
        &self,
    ) -> impl Iterator<
        Item = (
            QueryKey,
            &str,
            impl Iterator<Item = (Pair, bool)> + Clone + '_,
        ),
    > {
        let mut start = 0;
        self.queries.iter().map(move |(query, name, end)| {
            let bytes = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            (*query, name.as_str(), EncodedPairs::new(bytes))
        })
    }
}

/// A pair with a priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UrgentPair {
    pub pair: Pair,
    pub priority: f64,
    /// Whether a judge has voted on it.
    pub voted: bool,
}

impl UrgentPair {
    pub(super) fn order(&self, priority: f64) -> Ordering {
        self.priority.total_cmp(&priority)
    }
}

/// Encodes the most urgent of all pairs of a query that have a priority, `ranked` by it: the bound
/// for the others, NaN if there are none; then, for each priority, its value, the number of its
/// pairs, and the pairs.
pub(super) fn encode(ranked: &[UrgentPair]) -> Vec<u8> {
    let (mut bytes, mut pairs) = (vec![0; size_of::<f64>()], 0);
    for tied in ranked.chunk_by(|x, y| x.order(y.priority).is_eq()) {
        if pairs >= ENOUGH || pairs + tied.len() > MOST {
            break;
        }
        pairs += tied.len();
        bytes.extend(priority_of(tied.first()).to_le_bytes());
        put(&mut bytes, tied.len());
        for UrgentPair { pair, voted, .. } in tied {
            put_pair(&mut bytes, *pair, *voted);
        }
    }
    let bound = priority_of(ranked.get(pairs));
    bytes[..size_of::<f64>()].copy_from_slice(&bound.to_le_bytes());
    bytes
}

fn priority_of(pair: Option<&UrgentPair>) -> f64 {
    pair.map_or(f64::NAN, |pair| pair.priority)
}

/// The encoded pairs and the bound for the others, of a query with this highest priority. `None` if
/// they do not fit it, as in a damaged file.
pub(super) fn decode(mut bytes: &[u8], highest: f64) -> Option<(Vec<UrgentPair>, f64)> {
    let bytes = &mut bytes;
    let bound = take_priority(bytes)?;
    let mut pairs: Vec<UrgentPair> = Vec::new();
    while !bytes.is_empty() {
        let priority = take_priority(bytes)?;
        let follows = match pairs.last() {
            Some(last) => last.order(priority).is_gt(),
            None => highest.total_cmp(&priority).is_eq(),
        };
        if !follows {
            return None;
        }
        for _ in 0..take(bytes)? {
            let (pair, voted) = take_pair(bytes)?;
            pairs.push(UrgentPair {
                pair,
                priority,
                voted,
            });
        }
    }
    let is_bound = match pairs.last() {
        Some(last) => bound.is_nan() || last.order(bound).is_gt(),
        None => highest.total_cmp(&bound).is_eq(),
    };
    let bound = Some(bound).filter(|bound| !bound.is_nan());
    is_bound.then_some((pairs, bound.unwrap_or(f64::NEG_INFINITY)))
}

/// Encodes the pairs of a query, sorted by their documents, each with whether a judge has voted:
/// their number, and the pairs.
pub(super) fn encode_all(pairs: impl ExactSizeIterator<Item = (Pair, bool)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, pairs.len());
    pairs.for_each(|(pair, voted)| put_pair(&mut bytes, pair, voted));
    bytes
}

/// The pairs of [`encode_all`], each with whether a judge has voted.
#[derive(Clone, Debug)]
pub struct EncodedPairs<'a> {
    bytes: &'a [u8],
    left: usize,
}

impl<'a> EncodedPairs<'a> {
    fn new(mut bytes: &'a [u8]) -> Self {
        let left = take(&mut bytes).unwrap_or(0);
        Self { bytes, left }
    }
}

impl Iterator for EncodedPairs<'_> {
    type Item = (Pair, bool);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let left = self.left.checked_sub(1)?;
        let next = take_pair(&mut self.bytes)?;
        self.left = left;
        Some(next)
    }
}

/// Whether the pairs are complete and sorted, unlike in a damaged file.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let (mut pairs, mut last) = (EncodedPairs::new(bytes), None);
    let is_sorted = pairs.by_ref().all(|(pair, _)| {
        let follows = Some(pair) > last;
        last = Some(pair);
        follows
    });
    !bytes.is_empty() && is_sorted && pairs.left == 0 && pairs.bytes.is_empty()
}

/// Appends the low document, and twice the distance to the high one, plus 1 if a judge has voted.
fn put_pair(bytes: &mut Vec<u8>, pair: Pair, voted: bool) {
    put(bytes, pair.low());
    put(bytes, 2 * (pair.high() - pair.low()) + usize::from(voted));
}

#[inline]
fn take_pair(bytes: &mut &[u8]) -> Option<(Pair, bool)> {
    let (low, coded) = match **bytes {
        // Most pairs of up to 128 documents take two or three bytes.
        [low @ ..0x80, coded @ ..0x80, ref rest @ ..] => {
            *bytes = rest;
            (usize::from(low), usize::from(coded))
        }
        [
            low @ ..0x80,
            first @ 0x80..=0xff,
            next @ ..0x80,
            ref rest @ ..,
        ] => {
            *bytes = rest;
            let coded = usize::from(first & 0x7f) | usize::from(next) << 7;
            (usize::from(low), coded)
        }
        _ => (take(bytes)?, take(bytes)?),
    };
    let pair = Pair::new(low, low.checked_add(coded / 2)?)?;
    Some((pair, coded % 2 == 1))
}

/// Appends a number in LEB128.
fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn take(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take_priority(bytes: &mut &[u8]) -> Option<f64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(f64::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranked(priorities: &[u8]) -> Vec<UrgentPair> {
        let pairs = priorities
            .iter()
            .enumerate()
            .map(|(at, priority)| UrgentPair {
                pair: Pair::new(at, 300 * at + 1).unwrap(),
                priority: f64::from(*priority) / 7.0,
                voted: at % 3 == 0,
            });
        let mut pairs: Vec<UrgentPair> = pairs.collect();
        pairs.sort_by(|x, y| y.order(x.priority));
        pairs
    }

    proptest! {
        #[test]
        fn the_most_urgent_pairs_come_with_all_their_ties(
            priorities in prop::collection::vec(any::<u8>(), 1..60),
        ) {
            let ranked = ranked(&priorities);
            let (pairs, bound) = decode(&encode(&ranked), ranked[0].priority).unwrap();
            prop_assert!(pairs.len() >= ranked.len().min(ENOUGH));
            prop_assert_eq!(&pairs[..], &ranked[..pairs.len()]);
            let next = ranked.get(pairs.len()).map(|next| next.priority);
            prop_assert_eq!(bound, next.unwrap_or(f64::NEG_INFINITY));
            prop_assert!(bound < pairs[pairs.len() - 1].priority);
        }

        #[test]
        fn other_bytes_are_refused_or_have_the_highest_priority(
            bytes in prop::collection::vec(any::<u8>(), 0..40), highest in 0f64..1.0,
        ) {
            if let Some((pairs, bound)) = decode(&bytes, highest) {
                let first = pairs.first().map_or(bound, |first| first.priority);
                prop_assert_eq!(first, highest);
            }
        }
    }

    #[test]
    fn the_pairs_of_a_query_are_kept_and_damage_is_noticed() {
        let pairs = ranked(&[1; 50])
            .into_iter()
            .map(|one| (one.pair, one.voted));
        let pairs: Vec<(Pair, bool)> = pairs.collect();
        let bytes = encode_all(pairs.iter().copied());
        assert!(is_whole(&bytes));
        assert!(EncodedPairs::new(&bytes).eq(pairs));
        assert!(!is_whole(&bytes[1..]) && !is_whole(&bytes[..bytes.len() - 1]) && !is_whole(&[]));
        assert!(is_whole(&encode_all(std::iter::empty())));
    }

    #[test]
    fn too_many_ties_are_left_to_the_bound() {
        let mut tied = ranked(&[3; MOST + 1]);
        assert_eq!(
            decode(&encode(&tied), 3.0 / 7.0),
            Some((Vec::new(), 3.0 / 7.0))
        );
        tied.pop();
        let whole = (tied.clone(), f64::NEG_INFINITY);
        assert_eq!(decode(&encode(&tied), 3.0 / 7.0), Some(whole));
        let cut = &encode(&tied)[1..];
        assert_eq!(decode(cut, 3.0 / 7.0), None);
    }
}
