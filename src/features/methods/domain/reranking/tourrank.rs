//! TourRank: tournaments in stages of groups, with one point for each advance (Chen et al. 2024).

use super::call_list::CallList;
use super::cpython_random::CpythonRandom;
use super::stages::Stage;
use super::{AnswerError, Call, Ranking, Strategy, Validation};
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::numeric::best_first;
use crate::domain::sampling::SeededRng;

/// Default number of rounds.
pub(super) const ROUNDS: usize = 2;

/// The seed that ranksmith shuffles with.
pub(super) const CPYTHON_SEED: u64 = 13;

/// How the candidates of a stage are dealt to its groups, and how a group is shuffled before it is
/// shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dealing {
    /// By points and then by first-stage rank, as in the authors' code; shuffled with this seed.
    /// Within a round, all remaining candidates have the same points.
    Seeded(u64),
    /// In the order of the answers of the previous stage, shuffled by CPython's generator, as in
    /// ranksmith.
    Cpython(u64),
}

/// All rounds start at once: each starts from the first-stage order and counts its own points.
#[derive(Debug)]
pub(super) struct TourRank {
    stages: Vec<Stage>,
    dealing: Dealing,
    points: Vec<usize>,
    rounds: Vec<Round>,
    validation: Validation,
    calls: CallList<Group>,
}

#[derive(Clone, Debug)]
struct Round {
    stage: usize,
    order: Vec<usize>,
    /// By group, the candidates that advance to the next stage.
    selected: Vec<Option<Vec<usize>>>,
}

#[derive(Debug)]
struct Group {
    round: usize,
    number: usize,
    /// In the order in which they were dealt.
    seeded: Vec<usize>,
    shown: Vec<usize>,
    count: usize,
}

impl TourRank {
    pub(super) fn new(
        candidates: usize,
        rounds: usize,
        stages: Vec<Stage>,
        dealing: Dealing,
        validation: Validation,
    ) -> Self {
        let round = Round {
            stage: 0,
            order: (0..candidates).collect(),
            selected: Vec::new(),
        };
        let mut new = Self {
            stages,
            dealing,
            points: vec![0; candidates],
            rounds: vec![round; rounds],
            validation,
            calls: CallList::default(),
        };
        (0..rounds).for_each(|round| new.ask(round));
        new
    }

    pub(super) fn calls(rounds: usize, stages: &[Stage]) -> usize {
        let groups: usize = stages.iter().map(|stage| stage.groups).sum();
        rounds.saturating_mul(groups)
    }

    /// Asks about the groups of the round's current stage.
    fn ask(&mut self, round: usize) {
        let Some(state) = self.rounds.get_mut(round) else {
            return;
        };
        let Some(stage) = self.stages.get(state.stage) else {
            return;
        };
        state.selected = vec![None; stage.groups];
        for number in 0..stage.groups {
            let seeded: Vec<usize> = state
                .order
                .iter()
                .skip(number)
                .step_by(stage.groups)
                .copied()
                .collect();
            let mut shown = seeded.clone();
            match self.dealing {
                Dealing::Seeded(seed) => {
                    let names = [round, state.stage, number].map(|name| name.to_string());
                    let names = [&["tourrank"], &names.each_ref().map(String::as_str)[..]];
                    SeededRng::new(seed, &names.concat()).shuffle(&mut shown);
                }
                Dealing::Cpython(seed) => {
                    let own = round * 1_000_003 + state.stage * 1_009 + number;
                    CpythonRandom::new(seed.wrapping_add(own as u64)).shuffle(&mut shown);
                }
            }
            let count = stage.selected_of(number);
            let question = Question::Select {
                candidates: shown.clone(),
                count,
            };
            let group = Group {
                round,
                number,
                seeded,
                shown,
                count,
            };
            self.calls.ask(question, group);
        }
    }

    /// Records which candidates of a group advance. The last group completes the stage.
    fn go_on(&mut self, group: &Group, selected: Vec<usize>) {
        for candidate in &selected {
            if let Some(points) = self.points.get_mut(*candidate) {
                *points += 1;
            }
        }
        let Some(round) = self.rounds.get_mut(group.round) else {
            return;
        };
        if let Some(place) = round.selected.get_mut(group.number) {
            *place = Some(selected);
        }
        let all: Option<Vec<Vec<usize>>> = round.selected.iter().cloned().collect();
        if let Some(all) = all {
            round.order = all.concat();
            if let Dealing::Seeded(_) = self.dealing {
                round.order.sort_unstable();
            }
            round.stage += 1;
            self.ask(group.round);
        }
    }
}

impl Strategy for TourRank {
    fn next(&mut self) -> Vec<Call> {
        self.calls.hand_out()
    }

    fn answer(&mut self, id: usize, answer: Answer) -> Result<(), AnswerError> {
        let group = self.calls.take(id)?;
        let selected = self
            .validation
            .selected(&answer, &group.shown, group.count, &group.seeded);
        let selected = self.calls.accept_repaired(selected)?;
        self.go_on(&group, selected);
        Ok(())
    }

    fn outcome(&self) -> Option<Ranking> {
        self.calls.is_over().then(|| {
            let points: Vec<f64> = self.points.iter().map(|points| *points as f64).collect();
            Ranking {
                order: best_first(&points),
                scores: Some(points.into_iter().map(Some).collect()),
            }
        })
    }

    fn repairs(&self) -> usize {
        self.calls.repairs()
    }
}
