//! The judged pairs that a student learns from. The numbers of each document are stored once; the
//! features of a pair are computed when it is read.

use crate::domain::battle::Pair;
use crate::domain::parallel::in_order;
use crate::domain::ranking::PairTarget;
use crate::features::student::domain::features::{PairFeatures, QueryFeatures};
use crate::features::student::domain::spool::{Scratch, ScratchFile, SpoolError};

/// The judged pairs of one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainingQuery<'a> {
    /// The index of the query.
    pub query: usize,
    pub features: &'a QueryFeatures,
    /// The ensemble's scores, which determine the soft targets, and weights in battles.
    pub pairs: &'a [PairTarget],
    /// Additional differences and symmetric numbers, as many for each pair, in the order of the
    /// pairs.
    pub differences: &'a [f64],
    pub others: &'a [f64],
}

impl TrainingQuery<'_> {
    /// Reads the features of the pair at an index.
    #[inline]
    pub fn read(&self, at: usize, into: &mut PairFeatures) {
        let Some(target) = self.pairs.get(at) else {
            return;
        };
        let documents = (target.pair.low(), target.pair.high());
        let differences = part(self.differences, at, self.pairs.len());
        let features = self.features;
        features.read_pair(documents, differences, self.others_of(at), into);
    }

    /// The additional symmetric numbers of the pair at an index.
    #[inline]
    pub fn others_of(&self, at: usize) -> &[f64] {
        part(self.others, at, self.pairs.len())
    }

    /// Number of features that each pair has: those of its documents, additional differences, and
    /// additional symmetric numbers. `None` if pairs have different features.
    fn shape(&self) -> Option<[usize; 3]> {
        let of = |numbers: &[f64]| {
            let pairs = self.pairs.len();
            numbers
                .len()
                .is_multiple_of(pairs)
                .then(|| numbers.len() / pairs)
        };
        Some([
            self.features.width(),
            of(self.differences)?,
            of(self.others)?,
        ])
    }
}

/// Bytes of the first queries that stay in main memory: fits read all queries a hundred times.
const IN_MEMORY: usize = 40 << 20;

/// Number of queries whose results are kept at once by [`TrainingPairs::each_in_parallel`].
const IN_PARALLEL: usize = 128;

/// The judged pairs of many queries: of the first ones in main memory, of others in a scratch file.
pub struct TrainingPairs {
    memory: Vec<u8>,
    /// Maximum number of bytes in main memory.
    limit: usize,
    file: Box<dyn ScratchFile>,
    queries: Vec<StoredQuery>,
    /// Of the queries with pairs, if all have the same.
    shape: Option<[usize; 3]>,
    /// Whether every query has the same shape, and its pairs a weight and a score.
    is_sound: bool,
    /// Number of bytes in the file.
    size: u64,
}

/// The place of a query in main memory or in the file.
#[derive(Clone, Copy, Debug)]
struct StoredQuery {
    query: usize,
    is_in_memory: bool,
    place: u64,
    pairs: u32,
    /// How many numbers there are of its documents, and additional ones of its judged and of its
    /// other pairs: differences, then symmetric ones.
    documents: u32,
    judged: [u32; 2],
    unjudged: [u32; 2],
    /// Number of features of a document.
    width: u32,
}

/// Additional differences and symmetric numbers of pairs that are not judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnjudgedNumbers<'a> {
    pub differences: &'a [f64],
    pub others: &'a [f64],
}

impl<'a> UnjudgedNumbers<'a> {
    /// The numbers of the pair at an index; `pairs` is the number of pairs.
    pub fn of(&self, at: usize, pairs: usize) -> (&'a [f64], &'a [f64]) {
        (
            part(self.differences, at, pairs),
            part(self.others, at, pairs),
        )
    }
}

/// The numbers of one of several pairs, which have as many each.
#[inline]
fn part(numbers: &[f64], at: usize, pairs: usize) -> &[f64] {
    let width = numbers.len() / pairs.max(1);
    numbers
        .get(at * width..(at + 1) * width)
        .unwrap_or_default()
}

impl TrainingPairs {
    pub fn new(scratch: &dyn Scratch) -> Result<Self, SpoolError> {
        Self::within(IN_MEMORY, scratch)
    }

    /// With a limit for the bytes in main memory.
    fn within(limit: usize, scratch: &dyn Scratch) -> Result<Self, SpoolError> {
        Ok(Self {
            memory: Vec::new(),
            limit,
            file: scratch.file()?,
            queries: Vec::new(),
            shape: None,
            is_sound: true,
            size: 0,
        })
    }

    /// Adds a query, with the numbers of its pairs that are not judged. It may have no judged
    /// pairs.
    pub fn add(
        &mut self,
        query: TrainingQuery<'_>,
        unjudged: UnjudgedNumbers<'_>,
    ) -> Result<(), SpoolError> {
        let mut bytes = Vec::new();
        for target in query.pairs {
            for document in [target.pair.low(), target.pair.high()] {
                bytes.extend(count(document)?.to_le_bytes());
            }
            bytes.extend(target.score.to_le_bytes());
            bytes.extend(target.weight.to_le_bytes());
        }
        let numbers = [
            query.features.numbers(),
            query.differences,
            query.others,
            unjudged.differences,
            unjudged.others,
        ];
        let all = numbers.iter().copied().flatten();
        bytes.extend(all.flat_map(|number| number.to_le_bytes()));
        let is_in_memory = self.size == 0 && self.memory.len() + bytes.len() <= self.limit;
        let place = if is_in_memory {
            let place = self.memory.len() as u64;
            self.memory.extend_from_slice(&bytes);
            place
        } else {
            let place = self.size;
            self.file.append(&bytes)?;
            self.size += bytes.len() as u64;
            place
        };
        let [documents, differences, others, ..] = numbers;
        self.queries.push(StoredQuery {
            query: query.query,
            is_in_memory,
            place,
            pairs: count(query.pairs.len())?,
            documents: count(documents.len())?,
            judged: [count(differences.len())?, count(others.len())?],
            unjudged: [
                count(unjudged.differences.len())?,
                count(unjudged.others.len())?,
            ],
            width: count(query.features.width())?,
        });
        if !query.pairs.is_empty() {
            let shape = query.shape();
            self.shape = self.shape.or(shape);
            let is_target = |of: &PairTarget| of.weight > 0.0 && (0.0..=1.0).contains(&of.score);
            self.is_sound &=
                shape.is_some() && shape == self.shape && query.pairs.iter().all(is_target);
        }
        Ok(())
    }

    /// Number of judged pairs, and of queries with any.
    pub fn counts(&self) -> (usize, usize) {
        let judged = self.queries.iter().filter(|query| query.pairs > 0);
        let pairs = judged.clone().map(|query| query.pairs as usize);
        (pairs.sum(), judged.count())
    }

    /// The places of the queries with judged pairs, each with the index of the query.
    pub(super) fn judged(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let queries = self.queries.iter().enumerate();
        let judged = queries.filter(|(_, query)| query.pairs > 0);
        judged.map(|(place, query)| (place, query.query))
    }

    /// Number of features, and how many of them (the first ones) are odd. `None` without pairs, and
    /// if pairs have different features, a weight of 0 or a score outside 0..=1.
    pub(super) fn shape(&self) -> Option<(usize, usize)> {
        let [documents, differences, others] = self.shape.filter(|_| self.is_sound)?;
        let odd = documents + differences;
        Some((2 * odd + 1 + others, odd))
    }

    /// Visits the queries at some places.
    pub(super) fn each_at(
        &self,
        places: &[usize],
        mut visit: impl FnMut(&TrainingQuery<'_>),
    ) -> Result<(), SpoolError> {
        let mut read = ReadQuery::default();
        for query in places.iter().filter_map(|at| self.queries.get(*at)) {
            read.fill(self, query, false)?;
            visit(&read.training(query.query));
        }
        Ok(())
    }

    /// Runs `work` for each query on all cores and passes the results to `take` in order. Keeps
    /// those of a few queries in main memory.
    pub fn each_in_parallel<T: Send>(
        &self,
        work: impl Fn(&TrainingQuery<'_>) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), SpoolError>,
    ) -> Result<(), SpoolError> {
        for queries in self.queries.chunks(IN_PARALLEL) {
            let read = |query: &StoredQuery| {
                let mut read = ReadQuery::default();
                read.fill(self, query, false)?;
                Ok(work(&read.training(query.query)))
            };
            for found in in_order(queries, read) {
                take(found?)?;
            }
        }
        Ok(())
    }

    /// Visits the queries, with the numbers of their pairs that are not judged, as long as `visit`
    /// succeeds.
    pub fn each<E: From<SpoolError>>(
        &self,
        mut visit: impl FnMut(&TrainingQuery<'_>, UnjudgedNumbers<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut read = ReadQuery::default();
        for query in &self.queries {
            read.fill(self, query, true)?;
            let [differences, others] = &read.unjudged;
            let unjudged = UnjudgedNumbers {
                differences,
                others,
            };
            visit(&read.training(query.query), unjudged)?;
        }
        Ok(())
    }
}

/// A length or an index as it is stored.
fn count(number: usize) -> Result<u32, SpoolError> {
    u32::try_from(number)
        .map_err(|_| SpoolError(format!("{number} numbers of one query are too many")))
}

/// A query as read from the file; its buffers are reused for the next one.
#[derive(Default)]
struct ReadQuery {
    bytes: Vec<u8>,
    features: QueryFeatures,
    pairs: Vec<PairTarget>,
    judged: [Vec<f64>; 2],
    unjudged: [Vec<f64>; 2],
}

/// Bytes of a stored pair: two documents, a score and a weight.
const PAIR: usize = 4 + 4 + 8 + 8;

impl ReadQuery {
    fn fill(
        &mut self,
        stored: &TrainingPairs,
        query: &StoredQuery,
        wants_unjudged: bool,
    ) -> Result<(), SpoolError> {
        let unjudged = query.unjudged.map(|of| if wants_unjudged { of } else { 0 });
        let [differences, others] = query.judged;
        let lengths = [
            query.documents,
            differences,
            others,
            unjudged[0],
            unjudged[1],
        ];
        let numbers: usize = lengths.iter().map(|of| *of as usize).sum();
        let pairs = PAIR * query.pairs as usize;
        let length = pairs + 8 * numbers;
        let bytes = if query.is_in_memory {
            let place = query.place as usize;
            let bytes = stored.memory.get(place..place + length);
            bytes.ok_or_else(SpoolError::damaged)?
        } else {
            self.bytes.resize(length, 0);
            stored.file.read(query.place, &mut self.bytes)?;
            &self.bytes[..]
        };
        let (pairs, mut rest) = bytes.split_at(pairs);
        self.pairs.clear();
        let (pairs, _) = pairs.as_chunks();
        for pair in pairs {
            self.pairs
                .push(target(pair).ok_or_else(SpoolError::damaged)?);
        }
        let mut next = |into: &mut Vec<f64>, length: u32| {
            let (of, others) = rest.split_at(8 * length as usize);
            rest = others;
            into.clear();
            let (numbers, _) = of.as_chunks();
            into.extend(numbers.iter().map(|number| f64::from_le_bytes(*number)));
        };
        let width = query.width as usize;
        self.features
            .refill(width, |into| next(into, query.documents));
        let both = self.judged.iter_mut().chain(&mut self.unjudged);
        for (into, length) in both.zip(&lengths[1..]) {
            next(into, *length);
        }
        Ok(())
    }

    fn training(&self, query: usize) -> TrainingQuery<'_> {
        let [differences, others] = &self.judged;
        TrainingQuery {
            query,
            features: &self.features,
            pairs: &self.pairs,
            differences,
            others,
        }
    }
}

/// A stored pair.
#[inline]
fn target(bytes: &[u8; PAIR]) -> Option<PairTarget> {
    let ([low, high, ..], _) = bytes.as_chunks() else {
        return None;
    };
    let ([_, score, weight], _) = bytes.as_chunks() else {
        return None;
    };
    let place = |bytes| u32::from_le_bytes(bytes) as usize;
    Some(PairTarget {
        pair: Pair::new(place(*low), place(*high))?,
        score: f64::from_le_bytes(*score),
        weight: f64::from_le_bytes(*weight),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::student::domain::spool::InMemory;

    #[test]
    fn features_are_those_of_the_pair_with_its_own_additional_numbers() {
        let numbers: Vec<Vec<Option<f64>>> =
            [1.0, 3.0, 8.0].map(|x| vec![Some(x), Some(-x)]).to_vec();
        let features = QueryFeatures::new(&numbers);
        let target = |low, high| PairTarget {
            pair: Pair::new(low, high).unwrap(),
            score: 1.0,
            weight: 2.0,
        };
        let pairs = [target(0, 1), target(1, 2)];
        let query = TrainingQuery {
            query: 4,
            features: &features,
            pairs: &pairs,
            differences: &[0.1, 0.2, 0.3, 0.4],
            others: &[5.0, 6.0],
        };
        let mut read = PairFeatures::default();
        query.read(1, &mut read);
        assert_eq!(read, features.pair(1, 2, &[0.3, 0.4], &[6.0]));
        query.read(0, &mut read);
        assert_eq!(read, features.pair(0, 1, &[0.1, 0.2], &[5.0]));
        let shape = |queries: &[TrainingQuery<'_>]| {
            let mut pairs = TrainingPairs::new(&InMemory).unwrap();
            for query in queries {
                pairs.add(*query, UnjudgedNumbers::default()).unwrap();
            }
            pairs.shape()
        };
        assert_eq!(
            shape(&[query]).unwrap(),
            (read.odd().len() + read.even().len(), read.odd().len())
        );
        for wrong in [
            TrainingQuery {
                differences: &[0.1],
                ..query
            },
            TrainingQuery {
                others: &[0.1],
                ..query
            },
            TrainingQuery {
                others: &[],
                ..query
            },
        ] {
            assert!(shape(&[query, wrong]).is_none());
        }
        assert!(shape(&[]).is_none());
    }

    #[test]
    fn a_query_is_read_as_it_was_added() {
        let numbers: Vec<Vec<Option<f64>>> = [1.0, 3.0, 8.0].map(|x| vec![Some(x)]).to_vec();
        let features = QueryFeatures::new(&numbers);
        let pairs = [PairTarget {
            pair: Pair::new(0, 2).unwrap(),
            score: 0.25,
            weight: 3.0,
        }];
        let query = |query, pairs| TrainingQuery {
            query,
            features: &features,
            pairs,
            differences: &[],
            others: &[0.5],
        };
        let judged = query(7, &pairs);
        let nothing = TrainingQuery {
            others: &[],
            ..query(9, &[])
        };
        let unjudged = UnjudgedNumbers {
            differences: &[1.0, 2.0],
            others: &[],
        };
        for limit in [0, 70, IN_MEMORY] {
            let mut stored = TrainingPairs::within(limit, &InMemory).unwrap();
            stored.add(nothing, unjudged).unwrap();
            stored.add(judged, unjudged).unwrap();
            assert_eq!(stored.counts(), (1, 1));
            assert_eq!(stored.judged().collect::<Vec<_>>(), [(1, 7)]);
            stored
                .each_at(&[1], |query| assert_eq!(*query, judged))
                .unwrap();
            let mut expected = [nothing, judged].into_iter();
            stored
                .each(|query, numbers| {
                    assert_eq!(Some(*query), expected.next());
                    assert_eq!(numbers.of(1, 2), (&[2.0][..], &[][..]));
                    Ok::<(), SpoolError>(())
                })
                .unwrap();
            assert_eq!(expected.next(), None);
        }
    }
}
