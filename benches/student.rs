//! A sample of pairs: 8,000 to learn from and 2,000 to test on, of all pairs of 5,300 queries with
//! 100 documents each; then of what is left when each query has fought 400 battles; and the
//! greatest number, which takes every document.

use criterion::{Criterion, criterion_group, criterion_main};
use overrule::internals::{
    AllowedPairs, Pair, SampleQuery, SampleRequest, SampleSplit, SeededRng, sample,
};
use std::collections::BTreeSet;
use std::hint::black_box;

const DOCUMENTS: usize = 100;
const BATTLES: usize = 400;

fn queries(count: usize, fought: bool) -> Vec<SampleQuery> {
    let mut rng = SeededRng::new(1, &["fought"]);
    let mut pairs = move || -> BTreeSet<Pair> {
        let draw = |_| Pair::new(rng.below(DOCUMENTS), rng.below(DOCUMENTS));
        (0..BATTLES).filter_map(draw).collect()
    };
    let query = |at: usize| SampleQuery {
        documents: (at * DOCUMENTS..(at + 1) * DOCUMENTS).collect(),
        pairs: if fought {
            AllowedPairs::AllBut(pairs())
        } else {
            AllowedPairs::All
        },
    };
    (0..count).map(query).collect()
}

fn samples(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("student sample");
    group.sample_size(10);
    let wanted = SampleRequest {
        pairs: 10_000,
        train: 8_000,
        split: SampleSplit::Queries,
        seed: 7,
    };
    for (name, fought) in [("10,000 pairs", false), ("10,000 new pairs", true)] {
        let queries = queries(5_300, fought);
        group.bench_function(name, |b| b.iter(|| sample(black_box(&queries), wanted)));
    }
    let few = queries(200, true);
    let all = SampleRequest {
        pairs: 10_000,
        train: 10_000,
        split: SampleSplit::Queries,
        seed: 7,
    };
    group.bench_function("every document of 200 queries", |b| {
        b.iter(|| sample(black_box(&few), all));
    });
    group.finish();
}

criterion_group!(benches, samples);
criterion_main!(benches);
