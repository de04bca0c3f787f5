//! A frame at K = 25, 100 and 200 and an override at K = 100 with 400 battles, and a turn of order
//! or layer at K = 500 with 100,000: what a key may cost.
#![allow(missing_docs, clippy::unwrap_used)]

use criterion::{Criterion, criterion_group, criterion_main};
use overrule::internals::{
    AnnotatorVerdicts, Battle, BattleId, BattleRecord, Caches, ColorDepth, Decision, DocId,
    DocumentInfo, DocumentOrder, JsonObject, JudgeId, JudgeSpec, Layer, Margin, Model, OpenQuery,
    QueryId, QueryInfo, QueryKey, QueryRows, Ramp, RankingSettings, Screen, SeededRng, Theme,
    TuiOptions, Verdict, View, Vote, plan, view,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

const K: usize = 100;
/// Documents and cycles of a pool on which nearly every pair is judged.
const LARGE: (usize, usize) = (500, 200);

fn rows(k: usize, cycles: usize) -> QueryRows {
    let mut rng = SeededRng::new(7, &["bench"]);
    let battles = plan(7, "q", k, cycles)
        .into_iter()
        .enumerate()
        .map(|(at, planned)| {
            let (a, b) = (planned.pair.low(), planned.pair.high());
            let votes = (0..3)
                .map(|judge| {
                    let lean = (a as f64 - b as f64) / k as f64 + rng.unit() - 0.5;
                    Vote {
                        judge: JudgeId(judge),
                        margin: Margin::new(lean.clamp(-1.0, 1.0)).unwrap(),
                        swapped: false,
                    }
                })
                .collect();
            BattleRecord {
                battle: Battle {
                    id: BattleId(at as i64),
                    a,
                    b,
                    game: 0,
                },
                votes,
                failed: Vec::new(),
                asked: None,
            }
        })
        .collect();
    QueryRows {
        by_identifier: Vec::new(),
        probes: Vec::new(),
        curves: Vec::new(),
        answers: None,
        student: None,
        responses: Vec::new(),
        documents: k,
        depth: Some(k),
        judges: (0..3).map(JudgeId).collect(),
        battles,
        verdicts: Vec::new(),
    }
}

fn model(k: usize, cycles: usize) -> Model {
    let spec = |name: &str| JudgeSpec {
        name: name.to_owned(),
        provider: "offline".to_owned(),
        model: String::new(),
        prompt_hash: String::new(),
        params: "{}".to_owned(),
    };
    let mut model = Model::new(
        TuiOptions::default(),
        Ramp::default(),
        (200, 60),
        Instant::now(),
    );
    model.stack.push(Screen::MATRIX);
    model.open = Some(OpenQuery {
        labels: Default::default(),
        info: QueryInfo {
            key: QueryKey(1),
            id: QueryId::new("q"),
            text: "a query".to_owned(),
            documents: k,
        },
        documents: (0..k)
            .map(|at| DocumentInfo {
                id: DocId::new(format!("d{at}")),
                title: None,
                snippet: "some text".to_owned(),
                metadata: JsonObject::default(),
            })
            .collect(),
        judges: ["x", "y", "z"]
            .iter()
            .enumerate()
            .map(|(at, name)| (JudgeId(at as i64), spec(name)))
            .collect(),
        view: View::new(rows(k, cycles), RankingSettings::default()),
        students: Vec::new(),
        people: AnnotatorVerdicts::default(),
        proposals: AnnotatorVerdicts::default(),
        texts: HashMap::new(),
        votes: HashMap::new(),
    });
    model
}

fn frames(criterion: &mut Criterion) {
    let theme = Theme::new(ColorDepth::True, false);
    for k in [25, K, 200] {
        let model = model(k, 4);
        for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
            let area = Rect::new(0, 0, columns, rows);
            let mut caches = Caches::default();
            let name = format!("matrix frame K = {k} {columns}x{rows}");
            criterion.bench_function(&name, |bench| {
                bench.iter(|| {
                    let mut buffer = Buffer::empty(area);
                    black_box(view(&model, &theme, area, &mut buffer, &mut caches));
                });
            });
        }
    }
}

fn turns(criterion: &mut Criterion) {
    let mut model = model(LARGE.0, LARGE.1);
    if let Some(open) = &model.open {
        open.view.prepare_matrix();
    }
    let theme = Theme::new(ColorDepth::True, false);
    let area = Rect::new(0, 0, 200, 60);
    let mut caches = Caches::default();
    let orders = [DocumentOrder::Hybrid, DocumentOrder::Zelo];
    let layers = [
        Layer::Observed,
        Layer::Fitted,
        Layer::Residual,
        Layer::Judge(1),
        Layer::Verdicts,
    ];
    let mut turn = 0;
    criterion.bench_function("matrix turned at K = 500", |bench| {
        bench.iter(|| {
            turn += 1;
            model.matrix.order = orders[turn % orders.len()];
            model.matrix.layer = layers[turn / 2 % layers.len()];
            let mut buffer = Buffer::empty(area);
            black_box(view(&model, &theme, area, &mut buffer, &mut caches));
        });
    });
}

fn overrides(criterion: &mut Criterion) {
    let mut rows = rows(K, 4);
    rows.verdicts.push(Verdict {
        uid: String::new(),
        a: 3,
        b: 40,
        decision: Decision::B,
        note: None,
        annotator: String::new(),
        created_ms: 0,
    });
    criterion.bench_function("view after an override", |bench| {
        bench.iter(|| View::new(black_box(rows.clone()), RankingSettings::default()));
    });
}

criterion_group!(benches, frames, turns, overrides);
criterion_main!(benches);
