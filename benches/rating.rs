//! Fits of one query's worth of battles: 100 documents, 400 battles by three judges.

use criterion::{Criterion, criterion_group, criterion_main};
use overrule::internals::{
    Observation, RatingModel, RatingOptions, covariance, dispersion, fit, rank_intervals, structure,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::hint::black_box;

const DOCUMENTS: usize = 100;

/// Four random cycles over documents of evenly spread strength, judged by three coins a battle.
/// The default prior with another model.
fn with_model(model: RatingModel) -> RatingOptions {
    RatingOptions {
        model,
        ..RatingOptions::default()
    }
}

fn battles() -> Vec<Observation> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut uniform = move || (random.next_u64() >> 11) as f64 / 9_007_199_254_740_992.0;
    let mut battles = Vec::new();
    for _ in 0..4 {
        let mut order: Vec<usize> = (0..DOCUMENTS).collect();
        for i in (1..DOCUMENTS).rev() {
            order.swap(i, (uniform() * (i + 1) as f64) as usize);
        }
        for i in 0..DOCUMENTS {
            let (a, b) = (order[i], order[(i + 1) % DOCUMENTS]);
            let gap = (b as f64 - a as f64) * 0.08;
            let wins = (0..3)
                .filter(|_| uniform() < 1.0 / (1.0 + (-gap).exp()))
                .count();
            battles.push(Observation::new(a, b, wins as f64 / 3.0, 1.0));
        }
    }
    battles
}

fn rating(criterion: &mut Criterion) {
    let battles = battles();
    let map = RatingOptions::default();
    let Ok(base) = fit(DOCUMENTS, &battles, &map, None) else {
        return;
    };
    let mut flipped = battles.clone();
    flipped[17].score = 1.0 - flipped[17].score;

    criterion.bench_function("map fit", |b| {
        b.iter(|| fit(DOCUMENTS, black_box(&battles), &map, None));
    });
    criterion.bench_function("map fit and covariance", |b| {
        b.iter(|| {
            let fit = fit(DOCUMENTS, black_box(&battles), &map, None).ok()?;
            covariance(DOCUMENTS, &battles, &fit, &map, 1.0 / 3.0)
        });
    });
    criterion.bench_function("map refit after one flip", |b| {
        b.iter(|| fit(DOCUMENTS, black_box(&flipped), &map, Some(&base.scores)));
    });
    for model in [RatingModel::Zbench, RatingModel::Thurstone] {
        let options = with_model(model);
        criterion.bench_function(&format!("{model} fit"), |b| {
            b.iter(|| fit(DOCUMENTS, black_box(&battles), &options, None));
        });
    }
    criterion.bench_function("structure", |b| {
        b.iter(|| structure(DOCUMENTS, black_box(&battles)));
    });
    if let Some(covariance) = covariance(DOCUMENTS, &battles, &base, &map, 1.0 / 3.0) {
        criterion.bench_function("dispersion", |b| {
            b.iter(|| dispersion(black_box(&battles), &base, &map, &covariance));
        });
        criterion.bench_function("rank intervals", |b| {
            b.iter(|| rank_intervals(black_box(&base.scores), &covariance, 1));
        });
    }
}

criterion_group!(benches, rating);
criterion_main!(benches);
