//! The effect of vote rules on margins; changing a rule is reversible.

use super::bench::bench;
use super::scripted::{Act, trio};
use crate::app::settings::calibrate_margins;
use crate::client::RunControl;
use crate::domain::battle::Pair;
use crate::domain::judge_report::{Rating, margin_curves};
use crate::domain::metrics::kendall_tau_b;
use crate::domain::ranking::RankingSettings;
use crate::domain::rating::{Observation, RatingOptions, fit};
use crate::domain::sampling::plan;
use crate::domain::vote::{Margin, VoteRule, calibrated_score};
use crate::features::lab::domain::{Noise, SimulatedQuery, Theta};
use crate::store::outstanding::CallSelection;

/// How three judges state a preference: proportionally, almost always with certainty, and timidly.
fn stated(seat: usize, preference: f64) -> Margin {
    let size = (preference.abs() / 2.0).tanh();
    let size = match seat {
        0 => size,
        1 => size.powf(0.2),
        _ => 0.1 * size,
    };
    Margin::new(size.copysign(preference)).unwrap()
}

#[test]
fn calibrated_margins_rank_better_than_directions_for_the_same_calls() {
    const K: usize = 30;
    let mut ratings = Vec::new();
    let mut worlds = Vec::new();
    for query in 0..24 {
        let world = SimulatedQuery::synthetic(Theta::Gaussian, K, Noise::standard(3), 3, query);
        let mut battles = Vec::new();
        for (battle, planned) in plan(1, world.name(), K, 4).into_iter().enumerate() {
            let pair = planned.pair;
            let margin = |seat| stated(seat, world.preference(pair, seat).unwrap());
            let margins = [0, 1, 2].map(margin);
            ratings.extend((0..3).map(|judge| Rating {
                query,
                battle,
                a: pair.low(),
                b: pair.high(),
                judge,
                margin: margins[judge],
                swapped: false,
                length_a: 1,
                length_b: 1,
                gap: None,
            }));
            battles.push((pair, margins));
        }
        worlds.push((world, battles));
    }
    let curves = margin_curves(&ratings, &[]);
    let mean_tau = |score: &dyn Fn(&[Margin; 3]) -> f64| {
        let tau = |(world, battles): &(SimulatedQuery, Vec<(Pair, [Margin; 3])>)| {
            let battle = |(pair, margins): &(Pair, [Margin; 3])| {
                Observation::new(pair.low(), pair.high(), score(margins), 1.0)
            };
            let battles: Vec<Observation> = battles.iter().map(battle).collect();
            let scores = fit(K, &battles, &RatingOptions::default(), None)
                .unwrap()
                .scores;
            kendall_tau_b(&scores, world.truth()).unwrap()
        };
        worlds.iter().map(tau).sum::<f64>() / worlds.len() as f64
    };
    let by_rule =
        |rule: VoteRule| mean_tau(&|margins| rule.score(margins.iter().copied()).unwrap());
    let (ternary, as_stated) = (by_rule(VoteRule::Ternary), by_rule(VoteRule::Margin));
    let calibrated = mean_tau(&|margins| {
        let votes = margins.iter().zip(0..);
        calibrated_score(
            votes.map(|(margin, judge)| (*margin, curves.get(&judge).map(|c| &c.curve))),
        )
        .unwrap()
    });
    assert!(
        calibrated > ternary + 0.03,
        "{ternary} {as_stated} {calibrated}"
    );
    assert!(calibrated > as_stated, "{ternary} {as_stated} {calibrated}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_is_written_in_the_project_and_taken_back_to_the_last_bit() {
    let bench = bench(&[12; 4]);
    let run = bench.start(
        trio(|_, _| Act::Answer),
        CallSelection::Fresh,
        RunControl::default(),
    );
    run.end.await.unwrap().unwrap();
    let (key, store) = (bench.keys[0], bench.store.clone());
    let set = async |rule: VoteRule| {
        let settings = RankingSettings {
            vote_rule: rule,
            ..RankingSettings::default()
        };
        store
            .write(move |db| db.set_settings(&settings))
            .await
            .unwrap();
        let view = store.read(move |db| db.view(key)).await.unwrap();
        assert_eq!(view.settings.vote_rule, rule);
        view
    };
    let before = set(VoteRule::Ternary).await;
    let other = store.clone();
    let judges = tokio::task::spawn_blocking(move || calibrate_margins(&other))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(judges.len(), 3);
    let scores = |view: &crate::domain::ranking::View| -> Vec<u64> {
        view.standings
            .iter()
            .flatten()
            .map(|standing| standing.zelo.to_bits())
            .collect()
    };
    for rule in [VoteRule::Margin, VoteRule::Calibrated] {
        assert_ne!(scores(&set(rule).await), scores(&before), "{rule:?}");
    }
    assert_eq!(scores(&set(VoteRule::Ternary).await), scores(&before));
}
