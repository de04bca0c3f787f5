//! Properties of whole campaigns.

use super::*;
use crate::domain::sampling::{MAX_GAMES, PlannedBattle};
use crate::domain::vote::Outcome;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use std::collections::BTreeMap;

const EVERY: [(Sampler, JudgeChoice); 10] = [
    (Sampler::Cycles, JudgeChoice::All),
    (Sampler::Cycles, JudgeChoice::Rotate),
    (Sampler::Swiss, JudgeChoice::All),
    (Sampler::Swiss, JudgeChoice::Rotate),
    (Sampler::Eig, JudgeChoice::All),
    (Sampler::Eig, JudgeChoice::Rotate),
    (Sampler::Eig, JudgeChoice::Escalate),
    (Sampler::Top, JudgeChoice::All),
    (Sampler::Top, JudgeChoice::Rotate),
    (Sampler::Top, JudgeChoice::Escalate),
];

/// A campaign with judges that prefer the higher index four times out of five and sometimes fail.
struct RoundSeries {
    documents: usize,
    judges: usize,
    strategy: Strategy,
    rng: SeededRng,
    asked: Vec<AskedPair>,
    rounds: Vec<Vec<PairTask>>,
}

impl RoundSeries {
    fn new(documents: usize, judges: usize, strategy: Strategy, seed: u64) -> Self {
        Self {
            documents,
            judges,
            strategy,
            rng: SeededRng::new(seed, &["campaign"]),
            asked: Vec::new(),
            rounds: Vec::new(),
        }
    }

    fn round(&mut self, calls: usize) -> usize {
        let state = SamplingState::new(self.documents, self.judges, &self.asked, 0.05);
        let round = Round {
            seed: 5,
            query: "q",
            number: self.rounds.len(),
            calls,
        };
        let tasks = next_round(&state, &self.strategy, &round);
        assert_eq!(
            tasks,
            next_round(&state, &self.strategy, &round),
            "not deterministic"
        );
        let spent: usize = tasks.iter().map(|task| task.judges.len()).sum();
        assert!(spent <= calls);
        for task in &tasks {
            assert!(!task.judges.is_empty() && task.pair.high() < self.documents);
            assert!(
                task.judges.without(state.free(task.pair)).is_empty(),
                "asked twice"
            );
            let mut votes = Vec::new();
            for _ in task.judges.iter() {
                match self.rng.below(10) {
                    0 => {}
                    1 => votes.push(Outcome::A),
                    2 => votes.push(Outcome::Tie),
                    _ => votes.push(Outcome::B),
                }
            }
            self.asked.push(AskedPair {
                pair: task.pair,
                judges: task.judges,
                votes,
            });
        }
        let pairs: HashSet<Pair> = tasks.iter().map(|task| task.pair).collect();
        assert_eq!(pairs.len(), tasks.len(), "a pair twice in a round");
        self.rounds.push(tasks);
        spent
    }

    fn play(&mut self, budget: usize) -> usize {
        let mut spent = 0;
        loop {
            let more = self.round(budget - spent);
            spent += more;
            if more == 0 {
                return spent;
            }
        }
    }
}

#[test]
fn round_0_is_the_first_cycle_of_the_plan() {
    for (sampler, judging) in EVERY {
        let mut campaign = RoundSeries::new(40, 3, Strategy::new(sampler, judging), 1);
        campaign.round(usize::MAX);
        let first: Vec<Pair> = campaign.rounds[0].iter().map(|task| task.pair).collect();
        let plan: Vec<Pair> = plan(5, "q", 40, 1)
            .iter()
            .map(|battle: &PlannedBattle| battle.pair)
            .collect();
        assert_eq!(first, plan);
    }
}

#[test]
fn a_campaign_without_a_budget_asks_everything_once_and_ends() {
    for (sampler, judging) in EVERY {
        for documents in [0, 1, 2, 3, 4, 7, 10] {
            for judges in [0, 1, 3] {
                let strategy = Strategy::new(sampler, judging);
                let spent = RoundSeries::new(documents, judges, strategy, 2).play(usize::MAX);
                // The plain plan has each pair twice, so there is no third judge.
                let each = match (sampler, judging) {
                    (Sampler::Cycles, JudgeChoice::Rotate) => judges.min(MAX_GAMES as usize),
                    _ => judges,
                };
                let all = documents * documents.saturating_sub(1) / 2 * each;
                assert_eq!(spent, all, "{sampler} {judging}: {documents}, {judges}");
            }
        }
    }
}

#[test]
fn rotating_judges_share_pairs_and_documents() {
    for sampler in Sampler::ALL {
        let mut campaign = RoundSeries::new(30, 3, Strategy::new(sampler, JudgeChoice::Rotate), 3);
        campaign.play(240);
        let mut total = [0i64; 3];
        let mut by_document: BTreeMap<usize, [i64; 3]> = BTreeMap::new();
        for entry in &campaign.asked {
            assert_eq!(entry.judges.len(), 1);
            for seat in entry.judges.iter() {
                total[seat] += 1;
                for document in [entry.pair.low(), entry.pair.high()] {
                    by_document.entry(document).or_default()[seat] += 1;
                }
            }
        }
        let spread =
            |counts: &[i64; 3]| counts.iter().max().unwrap() - counts.iter().min().unwrap();
        assert!(spread(&total) <= 6, "{sampler}: {total:?}");
        assert!(
            by_document.values().all(|counts| spread(counts) <= 4),
            "{sampler}: {by_document:?}"
        );
        let pairs: HashSet<Pair> = campaign.asked.iter().map(|entry| entry.pair).collect();
        assert_eq!(
            pairs.len(),
            240,
            "{sampler}: a second judge while pairs are left"
        );
    }
}

#[test]
fn swiss_pairs_neighbors_that_have_not_met() {
    let pair = |x, y| Pair::new(x, y).unwrap();
    let asked: Vec<AskedPair> = [(0, 1, 9), (1, 2, 9), (2, 3, 9)]
        .into_iter()
        .map(|(x, y, votes)| AskedPair {
            pair: pair(x, y),
            judges: JudgeSet::first(3),
            votes: vec![Outcome::B; votes],
        })
        .collect();
    let state = SamplingState::new(4, 3, &asked, 0.05);
    let round = Round {
        seed: 1,
        query: "q",
        number: 1,
        calls: 100,
    };
    let tasks = next_round(
        &state,
        &Strategy::new(Sampler::Swiss, JudgeChoice::All),
        &round,
    );
    // The ranking is 3, 2, 1, 0: 3 has met 2 and takes 1; 2 takes 0.
    let pairs: Vec<Pair> = tasks.iter().map(|task| task.pair).collect();
    assert_eq!(pairs, [pair(3, 1), pair(2, 0)]);
}

#[test]
fn a_failed_call_is_asked_again_only_when_it_is_left_out() {
    let pair = Pair::new(0, 1).unwrap();
    let round = Round {
        seed: 1,
        query: "q",
        number: 0,
        calls: 100,
    };
    for (sampler, judging) in EVERY {
        let next = |judges: JudgeSet| {
            let asked = AskedPair {
                pair,
                judges,
                votes: vec![Outcome::A; 2],
            };
            next_round(
                &SamplingState::new(2, 3, &[asked], 0.05),
                &Strategy::new(sampler, judging),
                &round,
            )
        };
        assert_eq!(next(JudgeSet::first(3)), []);
        if sampler != Sampler::Cycles {
            let judges = JudgeSet::one(2);
            assert_eq!(
                next(JudgeSet::first(2)),
                [PairTask { pair, judges }],
                "{sampler} {judging}"
            );
        }
    }
}

#[test]
fn top_asks_about_the_top() {
    let mut spent_on_top = [0, 0];
    for (at, sampler) in [Sampler::Eig, Sampler::Top].into_iter().enumerate() {
        let strategy = Strategy {
            top: 5,
            ..Strategy::new(sampler, JudgeChoice::All)
        };
        let mut campaign = RoundSeries::new(40, 3, strategy, 4);
        campaign.play(480);
        // Higher indexes win, so the top consists of the last ten.
        let high = campaign
            .asked
            .iter()
            .filter(|entry| entry.pair.high() >= 30);
        spent_on_top[at] = high.count();
    }
    assert!(spent_on_top[1] > spent_on_top[0], "{spent_on_top:?}");
}

#[test]
fn pools_too_large_for_a_covariance_are_paired_by_rank() {
    let documents = crate::domain::rating::MAX_DENSE + 1;
    let mut campaign = RoundSeries::new(
        documents,
        1,
        Strategy::new(Sampler::Top, JudgeChoice::All),
        6,
    );
    campaign.round(usize::MAX);
    campaign.round(usize::MAX);
    assert_eq!(campaign.rounds[1].len(), documents / 2);
}

#[test]
fn calls_are_battles_times_documents_times_judges() {
    assert_eq!(calls(2.0, 100, 3), 600);
    assert_eq!(calls(1.1, 10, 3), 33);
    assert_eq!(calls(0.5, 5, 1), 2);
    assert_eq!(calls(-1.0, 10, 3), 0);
    assert_eq!(calls(f64::NAN, 10, 3), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_campaign_spends_its_budget_and_not_a_call_more(
        seed: u64,
        documents in 4usize..16,
        judges in 1usize..4,
        budget in 0usize..60,
        size in proptest::option::of(1usize..20),
        which in 0usize..EVERY.len(),
    ) {
        let (sampler, judging) = EVERY[which];
        let strategy = Strategy { size, ..Strategy::new(sampler, judging) };
        let spent = RoundSeries::new(documents, judges, strategy, seed).play(budget);
        let all = documents * (documents - 1) / 2 * judges;
        let unit = if judging == JudgeChoice::All { judges } else { 1 };
        if sampler != Sampler::Cycles {
            prop_assert_eq!(spent, budget.min(all) / unit * unit);
        }
        prop_assert!(spent <= budget);
    }
}
