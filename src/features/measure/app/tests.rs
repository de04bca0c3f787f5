use super::*;
use crate::app::adjudication::rule::{LabelRuling, RulingTarget, rule_on_label};
use crate::app::evaluate::SliceField;
use crate::app::merge::merge_into;
use crate::domain::adjudication::Finding;
use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::domain::metrics::RankedRun;
use crate::domain::sampling::SeededRng;
use crate::features::measure::domain::{FEWEST_DRAWS, IntervalKind, MeasuredVerdict};
use crate::store::Store;
use crate::store::merge::Snapshot;
use std::path::Path;

const QUERIES: usize = 6;
const DOCUMENTS: usize = 14;
const SEED: u64 = 5;

/// Documents 0 to 4 of each pool are relevant.
fn is_relevant(document: &str) -> bool {
    document[1..].parse::<usize>().unwrap() < 5
}

/// Pools with two rankings: `good` puts relevant documents first more often than `bad`.
fn project(path: &Path) -> Store {
    let store = Store::open(path).unwrap();
    store
        .write_blocking(|db| {
            let mut rng = SeededRng::new(3, &["pools"]);
            let mut runs = [RankedRun::new(), RankedRun::new()];
            for query in 0..QUERIES {
                let id = QueryId::new(format!("q{query}"));
                let document = |at: usize| Document {
                    id: DocId::new(format!("d{at}")),
                    title: None,
                    content: format!("text {at} of {query}"),
                    metadata: JsonObject::default(),
                    extra: JsonObject::default(),
                    input_score: None,
                };
                let pool = Pool {
                    query: Query {
                        id: id.clone(),
                        text: format!("query {query}"),
                        extra: JsonObject::default(),
                    },
                    documents: (0..DOCUMENTS).map(document).collect(),
                    extra: JsonObject::default(),
                };
                db.add_pool(&pool, "set")?;
                for (run, noise) in runs.iter_mut().zip([1.0, 9.0]) {
                    let mut ranked: Vec<(DocId, f64)> = (0..DOCUMENTS)
                        .map(|at| {
                            let score = -(at as f64) / 2.0 + noise * rng.normal();
                            (DocId::new(format!("d{at}")), score)
                        })
                        .collect();
                    ranked.sort_by(|x, y| y.1.total_cmp(&x.1));
                    run.insert(id.clone(), ranked);
                }
            }
            let [good, bad] = runs;
            db.put_ranking("good", &good, 0)?;
            db.put_ranking("bad", &bad, 0)?;
            Ok(())
        })
        .unwrap();
    store
}

fn request(metric: &str) -> MeasureRequest {
    MeasureRequest {
        run: "good".to_owned(),
        baseline: Some("bad".to_owned()),
        metric: metric.parse().unwrap(),
        level: 1,
    }
}

fn report(store: &Store, interval: IntervalKind) -> MeasureReport {
    let measurement = read_measurement(store, &request("p@5")).unwrap();
    let options = ReportOptions {
        interval,
        margin: 0.05,
    };
    MeasureReport::new(&measurement, &measurement.design(), options)
}

fn next(store: &Store, annotator: &str) -> Option<NextDocument> {
    let measurement = read_measurement(store, &request("p@5")).unwrap();
    let design = measurement.design();
    next_document(store, &measurement, &design, annotator, SEED, 7).unwrap()
}

fn rule(store: &Store, annotator: &str, on: RulingTarget, document: &str) {
    let finding = if is_relevant(document) {
        Finding::Relevant
    } else {
        Finding::Not
    };
    let ruling = LabelRuling {
        on,
        finding,
        cause: None,
        note: None,
        annotator: annotator.to_owned(),
        level: 1,
    };
    rule_on_label(store, ruling).unwrap();
}

/// Rules on this many drawn documents, or on all that are left.
fn rule_on_draws(store: &Store, annotator: &str, count: usize) {
    for _ in 0..count {
        let Some(next) = next(store, annotator) else {
            return;
        };
        rule(
            store,
            annotator,
            RulingTarget::Item(next.item),
            next.document.as_str(),
        );
    }
}

#[test]
fn rulings_on_all_documents_give_the_exact_difference() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(&folder.path().join("p.db"));
    rule_on_draws(&store, "ana", FEWEST_DRAWS - 1);
    let early = report(&store, IntervalKind::Sequence);
    assert_eq!((early.drawn, &early.result), (FEWEST_DRAWS - 1, &None));
    assert!(
        early.sentence().starts_with("Not yet: 19 of 20"),
        "{}",
        early.sentence()
    );
    rule_on_draws(&store, "ana", 1);
    let first = report(&store, IntervalKind::Sequence)
        .result
        .unwrap()
        .these_queries;
    let narrow = report(&store, IntervalKind::Student)
        .result
        .unwrap()
        .these_queries;
    assert!(narrow.high < first.high && narrow.low > first.low);
    rule_on_draws(&store, "ana", QUERIES * DOCUMENTS);
    let last = report(&store, IntervalKind::Sequence);
    assert_eq!((last.left(), last.drawn), (0, last.documents));
    let exact = last.result.unwrap();
    // The share of relevant documents among the first five.
    let rankings = store.read_blocking(|db| db.rankings()).unwrap();
    let precision = |at: usize| {
        let tops = rankings[at].1.values();
        let top = tops.flat_map(|ranked| ranked.iter().take(5));
        top.filter(|(id, _)| is_relevant(id.as_str())).count() as f64 / 5.0 / QUERIES as f64
    };
    let truth = precision(1) - precision(0);
    assert!((exact.these_queries.value - truth).abs() < 1e-12);
    assert_eq!(exact.these_queries.low, exact.these_queries.high);
    assert_eq!(exact.decision.unwrap().verdict, MeasuredVerdict::Better);
    assert!(first.low < truth && truth < first.high, "{first:?} {truth}");
}

#[test]
fn an_item_stays_until_it_is_ruled_on_and_returns_when_the_ruling_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(&folder.path().join("p.db"));
    let first = next(&store, "ana").unwrap();
    assert_eq!(next(&store, "ana").unwrap().item, first.item);
    rule_on_draws(&store, "ana", 22);
    let before = report(&store, IntervalKind::Sequence);
    let undone = store
        .write_blocking(|db| db.undo_ruling("ana", 9))
        .unwrap()
        .unwrap();
    let after = report(&store, IntervalKind::Sequence);
    assert_eq!((before.drawn, after.drawn), (22, 21));
    assert_eq!(
        next(&store, "ana").unwrap().document,
        undone.ruling.document
    );
    store
        .write_blocking(move |db| db.redo_ruling("ana", &undone.ruling.uid, 10))
        .unwrap();
    assert_eq!(report(&store, IntervalKind::Sequence), before);
}

#[test]
fn a_ruling_on_a_document_that_was_not_drawn_is_known_but_no_estimate() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(&folder.path().join("p.db"));
    rule_on_draws(&store, "ana", 21);
    let before = report(&store, IntervalKind::Sequence);
    // The draw that waits is one of bob's, so that ana's ruling on the others is by hand.
    let waiting = next(&store, "bob").unwrap();
    let documents = (0..QUERIES).flat_map(|q| (0..DOCUMENTS).map(move |d| (q, d)));
    for (query, document) in documents.filter(|(_, document)| *document < 3) {
        let (query, document) = (format!("q{query}"), format!("d{document}"));
        if (waiting.query.as_str(), waiting.document.as_str()) != (&query, &document) {
            let on = RulingTarget::Document {
                query,
                document: DocId::new(document.clone()),
            };
            rule(&store, "ana", on, &document);
        }
    }
    let after = report(&store, IntervalKind::Sequence);
    assert!(after.ruled > before.ruled);
    let value = |of: &MeasureReport| of.result.as_ref().unwrap().these_queries;
    assert_eq!((after.drawn, value(&after)), (before.drawn, value(&before)));
}

#[test]
fn the_draws_of_two_people_count_together_after_merges_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("1.db"), folder.path().join("2.db"));
    let (first, second) = (project(&one), project(&two));
    rule_on_draws(&first, "ana", 12);
    rule_on_draws(&second, "bob", 12);
    let merge = |into: &Store, from: &Path| {
        merge_into(into, Snapshot::of(from).unwrap(), true).unwrap();
    };
    merge(&first, &two);
    merge(&first, &two);
    merge(&second, &one);
    let [a, b] = [&first, &second].map(|store| report(store, IntervalKind::Sequence));
    assert_eq!(a.drawn, 24);
    assert_eq!(a, b);
}

#[test]
fn a_relevance_model_that_does_not_hold_for_the_run_voids_what_depends_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(&folder.path().join("p.db"));
    let options = ReportOptions {
        interval: IntervalKind::Sequence,
        margin: 0.05,
    };
    let of = |store: &Store, metric: &str| {
        let measurement = read_measurement(store, &request(metric)).unwrap();
        MeasureReport::new(&measurement, &measurement.design(), options)
    };
    // People find every drawn document relevant.
    let rule_on_all = |store: &Store, metric: &str, count: usize| {
        for _ in 0..count {
            let measurement = read_measurement(store, &request(metric)).unwrap();
            let design = measurement.design();
            let next = next_document(store, &measurement, &design, "ana", SEED, 7).unwrap();
            let on = RulingTarget::Item(next.unwrap().item);
            rule(store, "ana", on, "d0");
        }
    };
    rule_on_all(&store, "ndcg@5", FEWEST_DRAWS - 1);
    let early = of(&store, "ndcg@5");
    assert!((early.residual, early.void()) == (None, None));
    assert!(
        early.sentence().starts_with("Not yet"),
        "{}",
        early.sentence()
    );
    rule_on_all(&store, "ndcg@5", 11);
    let void = of(&store, "ndcg@5");
    assert_eq!(void.result, None);
    assert!(void.void().unwrap().low > 0.0, "{:?}", void.residual);
    assert!(
        void.sentence().starts_with("Void: on 30 drawn documents"),
        "{}",
        void.sentence()
    );
    let json = void.json(None);
    assert_eq!(
        (&json["void"], &json["not_yet"], &json["verdict"]),
        (&true.into(), &false.into(), &serde_json::Value::Null)
    );
    // A sum over documents does not depend on the model.
    let other = project(&folder.path().join("other.db"));
    rule_on_all(&other, "p@5", FEWEST_DRAWS);
    let sum = of(&other, "p@5");
    assert!(sum.residual.unwrap().value > 0.0);
    assert!(sum.void().is_none() && sum.result.is_some());
    assert_eq!(sum.caveats(), Vec::<String>::new());
}

#[test]
fn only_metrics_with_an_expectation_are_measured_and_most_are_first_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(&folder.path().join("p.db"));
    let error = read_measurement(&store, &request("bpref")).unwrap_err();
    assert!(
        error.to_string().contains("bpref: cannot be measured"),
        "{error}"
    );
    let options = ReportOptions {
        interval: IntervalKind::Sequence,
        margin: 0.05,
    };
    let measurement = read_measurement(&store, &request("ndcg@5")).unwrap();
    let ndcg = MeasureReport::new(&measurement, &measurement.design(), options);
    assert!(ndcg.first_order.unwrap().contains("one scale"));
    assert_eq!(ndcg.documents, QUERIES * DOCUMENTS);
    let p = report(&store, IntervalKind::Sequence);
    assert_eq!(p.first_order, None);
    assert!(p.documents < ndcg.documents);
}

/// The queries q0 and q1 are about cars, q2 has no topic, and the others are about the sea.
fn by_topic(store: &Store, request: &MeasureRequest) -> SlicedMeasurement {
    let sea = [("q3", "sea"), ("q4", "sea"), ("q5", "sea")];
    let topics = [[("q0", "cars"), ("q1", "cars")].as_slice(), &sea].concat();
    let field = SliceField::of_values("topic", &topics);
    let measurement = read_measurement(store, request).unwrap();
    sliced(store, &measurement, &field).unwrap()
}

#[test]
fn slices_are_unknown_until_a_draw_falls_into_them_and_exact_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = project(&folder.path().join("p.db"));
    let none = by_topic(&store, &request("p@5"));
    let names: Vec<&str> = none.rows.iter().map(MeasuredSlice::name).collect();
    assert_eq!(names, ["cars", "sea", "(no value)"]);
    assert!(
        none.rows
            .iter()
            .all(|row| row.value.is_none() && row.p_holm.is_none())
    );
    assert!(
        none.rows
            .iter()
            .all(|row| row.limits.0 < 0.0 && row.limits.1 > 0.0)
    );
    assert_eq!(none.sentence(), None);
    rule_on_draws(&store, "ana", 6);
    let some = by_topic(&store, &request("p@5"));
    let drawn: usize = some
        .rows
        .iter()
        .filter_map(|row| Some(row.value?.rulings))
        .sum();
    assert_eq!((drawn, some.unused_draws), (6, 0));
    for of in some.rows.iter().filter_map(|row| row.value) {
        assert!(
            of.low <= of.value && of.value <= of.high && of.low < of.high,
            "{of:?}"
        );
    }
    rule_on_draws(&store, "ana", QUERIES * DOCUMENTS);
    let all = by_topic(&store, &request("p@5"));
    let mut sum = 0.0;
    for row in &all.rows {
        let of = row.value.unwrap();
        assert!(row.is_exact && row.ruled == row.documents);
        assert_eq!((of.low, of.high), (of.value, of.value));
        sum += of.value * row.queries as f64 / QUERIES as f64;
    }
    let whole = report(&store, IntervalKind::Sequence).result.unwrap();
    assert!((sum - whole.these_queries.value).abs() < 1e-12);
    let single = MeasureRequest {
        baseline: None,
        ..request("p@5")
    };
    let single = by_topic(&store, &single);
    assert!(single.rows.iter().all(|row| row.p_holm.is_none()));
    let error = {
        let measurement = read_measurement(&store, &request("ndcg@5")).unwrap();
        let field = SliceField::of_values("topic", &[("q0", "cars")]);
        sliced(&store, &measurement, &field).unwrap_err()
    };
    assert!(
        error
            .to_string()
            .contains("ndcg@5 cannot be measured by slice"),
        "{error}"
    );
}

#[test]
fn slices_survive_a_merge_and_damaged_numbers_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("1.db"), folder.path().join("2.db"));
    let (first, second) = (project(&one), project(&two));
    rule_on_draws(&first, "ana", 14);
    merge_into(&second, Snapshot::of(&one).unwrap(), true).unwrap();
    let before = by_topic(&first, &request("p@5"));
    assert_eq!(by_topic(&second, &request("p@5")), before);
    assert!(before.sentence().unwrap().contains("P@5 against bad: "));
    second
        .write_blocking(|db| {
            db.change(
                "UPDATE measure_draw SET parts = zeroblob(144) WHERE step < 3",
                [],
            )
        })
        .unwrap();
    let after = by_topic(&second, &request("p@5"));
    assert_eq!(after.unused_draws, 3);
    let rulings = |of: &SlicedMeasurement| -> usize {
        let of = of.rows.iter().filter_map(|row| row.value);
        of.map(|of| of.rulings).sum()
    };
    assert_eq!((rulings(&before), rulings(&after)), (14, 11));
}
