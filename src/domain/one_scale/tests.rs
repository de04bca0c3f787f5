//! The laws of one scale over queries, and its table in simulation.

use super::*;
use serde::Deserialize;

const CROSS_QUERY: &str = include_str!("../../../tests/golden/science/cross_query.json");

#[derive(Deserialize)]
struct CrossQuery {
    within_scores: Vec<Vec<f64>>,
    battles: Vec<CrossBattle>,
    offsets: Vec<f64>,
}

#[derive(Deserialize)]
struct CrossBattle {
    q1: usize,
    i: usize,
    q2: usize,
    j: usize,
    s: f64,
}

#[test]
fn offsets_of_links_are_those_of_the_oracle() {
    let golden: CrossQuery = serde_json::from_str(CROSS_QUERY).unwrap();
    let answers = golden.battles.iter().map(|battle| AnsweredLink {
        link: Link {
            a: (battle.q1, battle.i),
            b: (battle.q2, battle.j),
        },
        share: battle.s,
    });
    let found = fit_links(&golden.within_scores, &answers.collect::<Vec<_>>()).unwrap();
    for (mine, oracle) in found.iter().zip(&golden.offsets) {
        assert!((mine - oracle).abs() < 1e-9, "{mine} {oracle}");
    }
    assert_eq!(found.len(), golden.offsets.len());
}

#[test]
fn anchors_are_spread_from_the_first_rank_to_the_60_percent_quantile() {
    assert_eq!(anchor_ranks(101, 5), [0, 15, 30, 45, 60]);
    assert_eq!(anchor_ranks(3, 5), [0, 1, 2]);
    assert_eq!(anchor_ranks(5, 5), [0, 1, 2, 3, 4]);
    assert_eq!(anchor_ranks(1, 5), [0]);
    assert_eq!(anchor_ranks(0, 5), [0; 0]);
    for documents in 2..60 {
        for count in 2..10 {
            let ranks = anchor_ranks(documents, count);
            assert_eq!(ranks.len(), count.min(documents));
            assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(ranks.iter().all(|rank| *rank < documents));
        }
    }
}

fn grades(of: &[&[(f64, i32)]]) -> Vec<AnchorGrade> {
    let queries = of.iter().enumerate();
    let anchors = queries.flat_map(|(query, own)| {
        own.iter().map(move |(score, grade)| AnchorGrade {
            query,
            score: *score,
            grade: *grade,
        })
    });
    anchors.collect()
}

#[test]
fn better_grades_at_equal_scores_lift_a_query() {
    let rich: &[(f64, i32)] = &[(3.0, 3), (1.0, 2), (-1.0, 2), (-2.0, 1)];
    let middle: &[(f64, i32)] = &[(3.0, 2), (1.0, 1), (-1.0, 0), (-2.0, 1)];
    let poor: &[(f64, i32)] = &[(3.0, 1), (1.0, 0), (-1.0, 0), (-2.0, 0)];
    let found = fit_anchors(4, &grades(&[rich, middle, poor])).unwrap();
    let b = |query: usize| found.offsets[query].unwrap().b;
    assert!(b(0) > b(1) && b(1) > b(2), "{:?}", found.offsets);
    assert!((b(0) + b(1) + b(2)).abs() < 1e-6);
    assert_eq!(found.offsets[3], None);
    assert!(found.offsets[0].unwrap().se > 0.0 && found.tau > 0.5);
    // A judge that begins with 1 says the same.
    let mut raised = grades(&[rich, middle, poor]);
    let lowered: Vec<AnchorGrade> = raised
        .iter_mut()
        .map(|anchor| AnchorGrade {
            grade: anchor.grade.min(2) + 1,
            ..*anchor
        })
        .collect();
    let again = fit_anchors(3, &lowered).unwrap();
    assert!(again.offsets[0].unwrap().b > again.offsets[2].unwrap().b);
}

#[test]
fn equal_grades_tell_nothing() {
    assert!(fit_anchors(0, &[]).is_none());
    assert!(fit_anchors(2, &grades(&[&[(1.0, 2), (0.0, 2)], &[(2.0, 2)]])).is_none());
    // Queries that do not differ have offsets near 0.
    let like: &[(f64, i32)] = &[
        (3.0, 3),
        (1.0, 2),
        (-1.0, 1),
        (-3.0, 0),
        (0.5, 1),
        (-0.5, 2),
    ];
    let found = fit_anchors(2, &grades(&[like, like])).unwrap();
    assert!(
        found
            .offsets
            .iter()
            .all(|offset| offset.unwrap().b.abs() < 1e-6)
    );
}

#[test]
fn the_best_documents_of_two_queries_never_meet() {
    let scores: Vec<Vec<f64>> = (0..9)
        .map(|query| (0..4).map(|at| f64::from((at * 3 + query) % 4)).collect())
        .collect();
    let offsets = vec![0.0; 9];
    let mut taken = [0; 9];
    for round in 0..4 {
        let links = choose_links(&scores, &offsets, 7, round);
        assert_eq!(links, choose_links(&scores, &offsets, 7, round));
        for link in links {
            let best = |(query, at): (usize, usize)| scores[query][at] == 3.0;
            assert!(link.a.0 != link.b.0 && !(best(link.a) && best(link.b)));
            taken[link.a.0] += 1;
            taken[link.b.0] += 1;
        }
    }
    assert_eq!(taken, [8; 9]);
}

#[test]
fn drift_is_what_varies_between_queries_only() {
    assert_eq!(Drift::of(&[]), None);
    assert_eq!(Drift::of(&[(0, 1.0), (1, 0.0)]), None);
    let steady: Vec<(usize, f64)> = (0..120).map(|at| (at / 4, [1.0, -1.0][at % 2])).collect();
    let steady = Drift::of(&steady).unwrap();
    assert_eq!((steady.between, steady.ratio()), (0.0, 0.0));
    assert!(steady.is_known() && !steady.is_too_large());
    let moody: Vec<(usize, f64)> = (0..120)
        .map(|at| (at / 4, [1.0, -1.0][at % 2] + [2.0, -2.0][at / 4 % 2]))
        .collect();
    let moody = Drift::of(&moody).unwrap();
    // 120 of 30 queries: within 4/3 of 1, between 4 · 30/29 less its share of the noise.
    assert!((moody.within - (4.0f64 / 3.0).sqrt()).abs() < 1e-12);
    assert!((moody.between - (4.0 * 30.0 / 29.0 - 1.0 / 3.0f64).sqrt()).abs() < 1e-12);
    assert!(moody.is_too_large());
    assert!(
        !Drift {
            rulings: 99,
            ..moody
        }
        .is_too_large()
    );
}

/// SCIENCE2 §4, on three other worlds of the same size: correlations within .015 of its table, which rests on three worlds too;
/// without a scale they vary more from world to world.
#[test]
fn five_anchors_do_what_the_table_says() {
    let worlds = (0..3).map(|seed| ScaleWorld::new(seed, 60, 30, 1.0).unwrap());
    let worlds: Vec<ScaleWorld> = worlds.collect();
    let mean = |design: ScaleDesign| {
        let found = worlds
            .iter()
            .map(|world| world.correlation(design).unwrap());
        found.map(Option::unwrap).sum::<f64>() / worlds.len() as f64
    };
    let anchors = |drift: f64| ScaleDesign::Anchors { count: 5, drift };
    let cases = [
        (ScaleDesign::None, 0.671, 0.03),
        (anchors(0.0), 0.928, 0.015),
        (anchors(0.5), 0.912, 0.015),
        (ScaleDesign::Links(4), 0.925, 0.015),
        (ScaleDesign::Links(8), 0.947, 0.015),
        (ScaleDesign::Truth, 0.965, 0.015),
    ];
    for (design, table, within) in cases {
        let found = mean(design);
        assert!(
            (found - table).abs() < within,
            "{design}: {found:.4} {table}"
        );
    }
}
