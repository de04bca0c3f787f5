//! Builds the input of the fit from a query's rows.

use super::counted_answers::higher_score;
use super::verdict_effect::{VerdictEffect, verdict_effects};
use super::{BattleRecord, QueryRows, RankingSettings};
use crate::domain::battle::{Battle, Pair};
use crate::domain::rating::Observation;
use crate::domain::vote::{Outcome, VoteRule};
use std::collections::HashMap;

pub(super) struct FitInputs {
    /// Pool indexes of the documents with a score.
    pub(super) entered: Vec<usize>,
    /// For each pool index, its position in `entered`.
    pub(super) compact: Vec<Option<usize>>,
    /// Index of the verdict on each pair among the rows.
    pub(super) verdict_of: HashMap<Pair, usize>,
    pub(super) effects: HashMap<Pair, VerdictEffect>,
    /// Documents are positions in `entered`.
    pub(super) observations: Vec<Observation>,
}

impl FitInputs {
    pub(super) fn new(rows: &QueryRows, settings: &RankingSettings) -> Self {
        let entered = entered(rows, settings);
        let mut compact = vec![None; rows.documents];
        for (index, document) in entered.iter().enumerate() {
            compact[*document] = Some(index);
        }
        let verdict_of: HashMap<Pair, usize> = rows
            .verdicts
            .iter()
            .enumerate()
            .filter_map(|(index, verdict)| Some((Pair::new(verdict.a, verdict.b)?, index)))
            .collect();
        let effects = verdict_effects(rows, settings);
        let observations = observations(rows, settings, &compact, &effects);
        Self {
            entered,
            compact,
            verdict_of,
            effects,
            observations,
        }
    }
}

/// Pool indexes of the documents that have a score: those entered by a plan, and those with a
/// battle, another answer or a verdict. There are no scores until somebody has voted or decided
/// something, except for a single document.
fn entered(rows: &QueryRows, settings: &RankingSettings) -> Vec<usize> {
    let mut entered = vec![false; rows.documents];
    for flag in entered.iter_mut().take(rows.depth.unwrap_or(0)) {
        *flag = true;
    }
    let fought = rows
        .battles
        .iter()
        .map(|record| (record.battle.a, record.battle.b));
    let judged = rows.verdicts.iter().map(|verdict| (verdict.a, verdict.b));
    let answers = rows.answers_in_fit(settings);
    let answered = answers.iter().flat_map(|answer| &answer.pairs);
    let answered = answered.map(|of| (of.a, of.b));
    for (a, b) in fought.chain(judged).chain(answered) {
        for document in [a, b] {
            if let Some(flag) = entered.get_mut(document) {
                *flag = true;
            }
        }
    }
    let entered: Vec<usize> = (0..rows.documents)
        .filter(|document| entered[*document])
        .collect();
    let voted = rows.battles.iter().any(|record| !record.votes.is_empty());
    let decided = rows
        .verdicts
        .iter()
        .any(|verdict| verdict.decision.score().is_some());
    if entered.len() > 1 && !voted && !decided && answers.is_empty() {
        return Vec::new();
    }
    entered
}

/// The observations for the fit: the votes that no verdict replaces, the other answers that none
/// masks, and the verdicts.
fn observations(
    rows: &QueryRows,
    settings: &RankingSettings,
    compact: &[Option<usize>],
    effects: &HashMap<Pair, VerdictEffect>,
) -> Vec<Observation> {
    let index = |document: usize| compact.get(document).copied().flatten();
    let mut observations = counted_votes(rows, settings, compact, effects);
    let answers = rows.answers_in_fit(settings).iter();
    for of in answers.flat_map(|answer| &answer.pairs) {
        let effect = Pair::new(of.a, of.b).and_then(|pair| effects.get(&pair));
        let is_masked = effect.is_some_and(|effect| effect.masks(higher_score(of)));
        if let (Some(a), Some(b), false) = (index(of.a), index(of.b), is_masked) {
            observations.push(Observation { a, b, ..*of });
        }
    }
    for verdict in &rows.verdicts {
        let effect = Pair::new(verdict.a, verdict.b).and_then(|pair| effects.get(&pair));
        if let (Some(effect), Some(a), Some(b)) = (effect, index(verdict.a), index(verdict.b)) {
            observations.extend(effect.observations(a, b));
        }
    }
    observations
}

/// The judges' votes that no verdict replaces.
pub(super) fn counted_votes(
    rows: &QueryRows,
    settings: &RankingSettings,
    compact: &[Option<usize>],
    effects: &HashMap<Pair, VerdictEffect>,
) -> Vec<Observation> {
    let index = |document: usize| compact.get(document).copied().flatten();
    let replaced = |battle: Battle| {
        Pair::new(battle.a, battle.b)
            .and_then(|pair| effects.get(&pair))
            .is_some_and(|effect| effect.replaces_votes)
    };
    let joint = settings.has_joint_weights() && rows.responses.len() == rows.judges.len();
    let tastes = settings.taste() > 0.0;
    let mut observations = Vec::new();
    for record in rows
        .battles
        .iter()
        .filter(|record| !replaced(record.battle))
    {
        let (Some(a), Some(b)) = (index(record.battle.a), index(record.battle.b)) else {
            continue;
        };
        if joint || tastes {
            observations.extend(responses(rows, settings.vote_rule, joint, record, a, b));
        } else if let Some(score) = rows.score(record, settings.vote_rule) {
            let weight = record.weight(rows.judges.len());
            observations.push(Observation::new(a, b, score, weight));
        }
    }
    observations
}

/// The votes of a battle as separate observations, each with its judge, and with `joint` weights its
/// response parameters; their weights sum to that of the battle (science.md § Judges).
fn responses<'a>(
    rows: &'a QueryRows,
    rule: VoteRule,
    joint: bool,
    record: &'a BattleRecord,
    a: usize,
    b: usize,
) -> impl Iterator<Item = Observation> + 'a {
    let votes = record.votes.len().max(1) as f64;
    let weight = record.weight(rows.judges.len()) / votes;
    record.votes.iter().map(move |vote| {
        let seat = rows.judges.iter().position(|judge| *judge == vote.judge);
        let (slope, gamma) = seat
            .filter(|_| joint)
            .and_then(|seat| rows.responses.get(seat))
            .copied()
            .unwrap_or((1.0, 0.0));
        let score = rule.vote_score(vote.margin, rows.curve_of(vote.judge));
        Observation {
            slope,
            offset: if vote.swapped { gamma } else { -gamma },
            judge: seat.map(|seat| seat as u32),
            ..Observation::new(a, b, score, weight)
        }
    })
}

pub(super) fn consensus(rows: &QueryRows) -> (usize, usize) {
    let mut unanimous = 0;
    let mut judged = 0;
    for record in rows.battles.iter().filter(|record| record.votes.len() >= 2) {
        judged += 1;
        let first = record.votes[0].margin.outcome();
        if first != Outcome::Tie
            && record
                .votes
                .iter()
                .all(|vote| vote.margin.outcome() == first)
        {
            unanimous += 1;
        }
    }
    (unanimous, judged)
}
