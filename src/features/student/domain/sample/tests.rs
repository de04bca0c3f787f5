use super::*;
use crate::domain::battle::all_pairs;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn disjoint(queries: usize, documents: usize) -> Vec<SampleQuery> {
    (0..queries)
        .map(|query| SampleQuery {
            documents: (query * documents..(query + 1) * documents).collect(),
            pairs: AllowedPairs::All,
        })
        .collect()
}

fn request(pairs: usize, train: usize, seed: u64) -> SampleRequest {
    SampleRequest {
        pairs,
        train,
        split: SampleSplit::Queries,
        seed,
    }
}

/// Checks the guarantees of every sample, and returns its number of pairs by query.
fn check(
    queries: &[SampleQuery],
    sample: &PairSample,
    wanted: SampleRequest,
) -> BTreeMap<usize, usize> {
    assert_eq!(sample.train.len(), wanted.train);
    assert_eq!(sample.test.len(), wanted.pairs - wanted.train);
    let mut used = BTreeSet::new();
    let mut counts = BTreeMap::new();
    for one in sample.train.iter().chain(&sample.test) {
        let query = &queries[one.query];
        for place in [one.pair.low(), one.pair.high()] {
            assert!(used.insert(query.documents[place]), "a document twice");
        }
        assert!(query.pairs.has(one.pair));
        *counts.entry(one.query).or_default() += 1;
    }
    let queries_of =
        |side: &[SampledPair]| -> BTreeSet<usize> { side.iter().map(|one| one.query).collect() };
    let is_disjoint = queries_of(&sample.train).is_disjoint(&queries_of(&sample.test));
    assert!(is_disjoint || wanted.split == SampleSplit::Pairs);
    counts
}

#[test]
fn the_sample_of_the_note_is_even() {
    let queries = disjoint(5_300, 100);
    let wanted = request(10_000, 8_000, 7);
    let found = sample(&queries, wanted).unwrap();
    let counts = check(&queries, &found, wanted);
    assert_eq!(counts.len(), 5_300);
    assert!(counts.values().all(|count| (1..=2).contains(count)));
    assert_eq!(sample(&queries, wanted), Ok(found.clone()));
    assert_ne!(sample(&queries, request(10_000, 8_000, 8)), Ok(found));
}

#[test]
fn single_pairs_can_be_divided() {
    let queries = disjoint(3, 8);
    // All 12 pairs without a repeated document: no split by queries has 7 of them for training.
    let by_queries = request(12, 7, 3);
    assert!(matches!(
        sample(&queries, by_queries),
        Err(SampleRefusal::NoSplit { .. })
    ));
    let wanted = SampleRequest {
        split: SampleSplit::Pairs,
        ..by_queries
    };
    let found = sample(&queries, wanted).unwrap();
    let counts = check(&queries, &found, wanted);
    assert!(counts.values().all(|count| *count == 4));
    let both = found.train.iter().filter(|one| {
        let mut test = found.test.iter();
        test.any(|other| other.query == one.query)
    });
    assert!(both.count() > 0);
    assert_eq!(sample(&queries, wanted), Ok(found.clone()));
    assert_ne!(
        sample(&queries, SampleRequest { seed: 4, ..wanted }),
        Ok(found)
    );
    let more = SampleRequest {
        pairs: 13,
        ..wanted
    };
    assert_eq!(
        sample(&queries, more),
        Err(SampleRefusal::TooMany {
            wanted: 13,
            most: 12
        })
    );
}

#[test]
fn pairs_that_are_taken_are_not_drawn_again() {
    // Each document has met all others except one.
    let met = |query: usize| {
        let other = |at: usize| (at + 1 + query) % 2 + at / 2 * 2;
        let pairs = all_pairs(100).filter(|pair| pair.high() != other(pair.low()));
        AllowedPairs::AllBut(pairs.collect())
    };
    let queries: Vec<SampleQuery> = disjoint(20, 100)
        .into_iter()
        .enumerate()
        .map(|(at, query)| SampleQuery {
            pairs: met(2 * at),
            ..query
        })
        .collect();
    let wanted = request(1_000, 800, 5);
    let found = sample(&queries, wanted).unwrap();
    check(&queries, &found, wanted);
    assert_eq!(
        sample(&queries, request(1_001, 800, 5)),
        Err(SampleRefusal::TooMany {
            wanted: 1_001,
            most: 1_000
        })
    );
}

#[test]
fn what_cannot_be_had_is_refused_with_what_can() {
    // Five documents give two pairs.
    let queries = disjoint(4, 5);
    assert_eq!(
        sample(&queries, request(9, 6, 1)),
        Err(SampleRefusal::TooMany { wanted: 9, most: 8 })
    );
    check(
        &queries,
        &sample(&queries, request(8, 6, 1)).unwrap(),
        request(8, 6, 1),
    );
    assert_eq!(
        sample(&queries, request(8, 7, 1)),
        Err(SampleRefusal::NoSplit {
            train: 7,
            test: 1,
            train_found: 6,
            test_found: 1
        })
    );
    assert_eq!(
        sample(&queries, request(2, 3, 1)),
        Err(SampleRefusal::TrainAboveAll { train: 3, pairs: 2 })
    );
    assert_eq!(
        sample(&[], request(1, 1, 1)),
        Err(SampleRefusal::TooMany { wanted: 1, most: 0 })
    );
    assert_eq!(sample(&[], request(0, 0, 1)), Ok(PairSample::default()));
}

#[test]
fn a_document_of_many_queries_counts_once() {
    // One document shared by five queries of two documents: one pair.
    let queries: Vec<SampleQuery> = (1..=5)
        .map(|other| SampleQuery {
            documents: vec![0, other],
            pairs: AllowedPairs::All,
        })
        .collect();
    assert_eq!(
        sample(&queries, request(2, 2, 3)),
        Err(SampleRefusal::TooMany { wanted: 2, most: 1 })
    );
    assert_eq!(sample(&queries, request(1, 1, 3)).unwrap().train.len(), 1);
}

/// The maximum number of pairs, by brute force.
fn brute(edges: &[(usize, usize)], used: u32) -> usize {
    let Some(((x, y), rest)) = edges.split_first() else {
        return 0;
    };
    let without = brute(rest, used);
    let (x, y) = (1u32 << x, 1u32 << y);
    if used & (x | y) == 0 {
        without.max(1 + brute(rest, used | x | y))
    } else {
        without
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_greatest_number_is_exact(
        sets in prop::collection::vec(prop::collection::btree_set(0usize..9, 1..5), 1..6),
        kind in 0usize..3,
        seed in 0u64..1000,
    ) {
        let mut rng = SeededRng::new(seed, &["pairs"]);
        let mut edges = BTreeSet::new();
        let queries: Vec<SampleQuery> = sets
            .iter()
            .map(|set| {
                let documents: Vec<usize> = set.iter().copied().collect();
                let (mut pairs, mut others) = (Vec::new(), BTreeSet::new());
                for x in 0..documents.len() {
                    for y in x + 1..documents.len() {
                        let pair = Pair::new(x, y).unwrap();
                        if kind == 0 || rng.below(2) == 0 {
                            pairs.push(pair);
                            edges.insert((documents[x], documents[y]));
                        } else {
                            others.insert(pair);
                        }
                    }
                }
                let pairs = match kind {
                    0 => AllowedPairs::All,
                    1 => AllowedPairs::Listed(pairs),
                    _ => AllowedPairs::AllBut(others),
                };
                SampleQuery { documents, pairs }
            })
            .collect();
        let edges: Vec<(usize, usize)> = edges.into_iter().collect();
        let most = brute(&edges, 0);
        let wanted = request(most, most, seed);
        check(&queries, &sample(&queries, wanted).unwrap(), wanted);
        prop_assert_eq!(
            sample(&queries, request(most + 1, most + 1, seed)),
            Err(SampleRefusal::TooMany { wanted: most + 1, most })
        );
    }
}
