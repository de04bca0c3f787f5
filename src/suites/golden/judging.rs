//! Judges against references: the judge regression (science.md § Judges), cards on real judges and
//! people, and simulations.

mod model;

use crate::domain::agreement::Share;
use crate::domain::judge_report::tests::{ensemble_report, judge_reports};
use crate::domain::judge_report::{
    HumanVerdict, Rating, RegressionTrial, judge_alpha, judge_pairs, judge_regression,
};
use crate::domain::vote::Margin;
use serde::Deserialize;

const REGRESSION: &str = include_str!("../../../tests/golden/science/judge_regression.json");
const LABELS: &str = include_str!("../../../tests/golden/agreement/pandalm_labels.json");

#[derive(Deserialize)]
struct Regression {
    d: Vec<f64>,
    o: Vec<f64>,
    vote: Vec<f64>,
    beta: f64,
    gamma: f64,
    se: [f64; 2],
}

const PROMPTS: &str = include_str!("../../../tests/golden/agreement/pandalm_prompts.json");

/// The prompt of each battle, and agreement with its interval from a bootstrap of prompts.
#[derive(Deserialize)]
struct Prompts {
    prompts: Vec<usize>,
    agreement: std::collections::BTreeMap<String, PromptAgreement>,
}

#[derive(Deserialize)]
struct PromptAgreement {
    agree: f64,
    n: usize,
    interval_95: (f64, f64),
}

#[derive(Deserialize)]
struct Labels {
    battles: Vec<String>,
}

#[test]
fn the_judge_regression_meets_its_reference() {
    let golden: Regression = serde_json::from_str(REGRESSION).unwrap();
    let rows = golden.d.iter().zip(&golden.o).zip(&golden.vote);
    let trials: Vec<RegressionTrial> = rows
        .map(|((gap, order), vote)| RegressionTrial {
            gap: *gap,
            b_first: *order > 0.0,
            vote: *vote,
        })
        .collect();
    let fit = judge_regression(&trials).unwrap();
    for (ours, theirs) in [
        (fit.beta, golden.beta),
        (fit.gamma, golden.gamma),
        (fit.beta_se, golden.se[0]),
        (fit.gamma_se, golden.se[1]),
    ] {
        assert!((ours - theirs).abs() < 1e-8, "{ours} {theirs}");
    }
    assert_eq!(fit.n, 400);
}

/// GPT-3.5 (judge 3) and PandaLM (judge 4), each battle as a separate query, with the majority of
/// three people.
fn pandalm() -> (Vec<Rating>, Vec<HumanVerdict>) {
    let labels: Labels = serde_json::from_str(LABELS).unwrap();
    let (mut ratings, mut verdicts) = (Vec::new(), Vec::new());
    for (query, row) in labels.battles.iter().enumerate() {
        let labels: Vec<char> = row.chars().collect();
        let margin = |label: char| match label {
            '1' => Some(-1.0),
            '0' => Some(0.0),
            '2' => Some(1.0),
            _ => None,
        };
        for judge in [3, 4] {
            ratings.extend(
                margin(labels[judge])
                    .and_then(Margin::new)
                    .map(|margin| Rating {
                        query,
                        battle: 0,
                        a: 0,
                        b: 1,
                        judge,
                        margin,
                        swapped: false,
                        length_a: 1,
                        length_b: 1,
                        gap: None,
                    }),
            );
        }
        let votes = |label: &char| labels[..3].iter().filter(|l| *l == label).count();
        let majority = ['0', '1', '2'].into_iter().find(|label| votes(label) >= 2);
        verdicts.push(HumanVerdict {
            query,
            a: 0,
            b: 1,
            score: majority.and_then(margin).map(|margin| (1.0 + margin) / 2.0),
            revealed: None,
            blind: true,
            inclusion: Some(1.0),
        });
    }
    (ratings, verdicts)
}

#[test]
fn cards_of_real_judges_meet_the_counts_of_the_data() {
    let (ratings, verdicts) = pandalm();
    let cards = judge_reports(&ratings, &verdicts);
    for (card, agree, n) in [(&cards[0], 697.0, 974), (&cards[1], 667.0, 999)] {
        let raw = card.people.all.raw.unwrap();
        assert_eq!((raw.part, raw.n, card.votes), (agree, n, n));
        // Everything was reviewed, so there is nothing to correct.
        let corrected = card.people.all.corrected.unwrap();
        assert!((corrected.value - raw.value).abs() < 1e-12);
        assert!((corrected.interval.low - raw.interval.low).abs() < 1e-9);
        assert!((corrected.effective - n as f64).abs() < 1e-6);
        // Every margin is −1, 0 or 1, which states no confidence.
        assert_eq!(card.calibration, None);
        assert_eq!((card.flips, card.position), (None, None));
    }
    assert_eq!(ensemble_report(&ratings, &verdicts).votes, 999);
    let pair = judge_pairs(&ratings)[0];
    assert_eq!(
        (pair.a, pair.b, pair.n, pair.agree.unwrap().part),
        (3, 4, 974, 684.0)
    );
    // Over both orientations of every battle, with the error from a numerical derivative with
    // respect to the weight of each.
    let kappa = pair.kappa.unwrap();
    assert!((kappa.value - 0.472_868_969_327).abs() < 1e-11);
    assert!((kappa.se - 0.024_385_194_989).abs() < 1e-9, "{kappa:?}");
    let alpha = judge_alpha(&ratings).unwrap();
    assert!((alpha.value - 0.471_718_414_491).abs() < 1e-11);
}

#[test]
fn agreement_with_people_has_the_interval_of_a_bootstrap_of_prompts() {
    let golden: Prompts = serde_json::from_str(PROMPTS).unwrap();
    let (mut ratings, mut verdicts) = pandalm();
    // Battles of the same prompt form one query, each with its own two documents.
    for rating in &mut ratings {
        (rating.a, rating.b) = (2 * rating.query, 2 * rating.query + 1);
        rating.query = golden.prompts[rating.query];
    }
    for verdict in &mut verdicts {
        (verdict.a, verdict.b) = (2 * verdict.query, 2 * verdict.query + 1);
        verdict.query = golden.prompts[verdict.query];
    }
    let cards = judge_reports(&ratings, &verdicts);
    for (card, name) in cards.iter().zip(["gpt-3.5-turbo", "pandalm-7b"]) {
        let (raw, expected) = (card.people.all.raw.unwrap(), &golden.agreement[name]);
        assert_eq!((raw.part, raw.n), (expected.agree, expected.n));
        let (low, high) = expected.interval_95;
        assert!((raw.interval.low - low).abs() < 0.005, "{name}: {raw:?}");
        assert!((raw.interval.high - high).abs() < 0.005, "{name}: {raw:?}");
        // 1.5 times as wide as if battles had been sampled independently.
        let plain = Share::of_clusters([(raw.part, raw.n)]).unwrap().interval;
        assert!(
            high - low > 1.4 * (plain.high - plain.low),
            "{name}: {plain:?}"
        );
    }
}
