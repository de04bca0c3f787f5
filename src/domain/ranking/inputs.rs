//! What the fit is made of, taken from a query's rows.

use super::{Rows, Settings};
use crate::domain::battle::{Battle, Pair};
use crate::domain::rating::Observation;
use crate::domain::verdict::OverrideMode;
use crate::domain::vote::Outcome;
use std::collections::HashMap;

/// What a fit starts from.
pub(super) struct Inputs {
    /// Pool indexes of the documents with a score.
    pub(super) entered: Vec<usize>,
    /// For each pool index its place in `entered`.
    pub(super) compact: Vec<Option<usize>>,
    /// Where the verdict on a pair is among the rows.
    pub(super) verdict_of: HashMap<Pair, usize>,
    /// Documents are places in `entered`.
    pub(super) observations: Vec<Observation>,
}

impl Inputs {
    pub(super) fn new(rows: &Rows, settings: &Settings) -> Self {
        let entered = entered(rows);
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
        let observations = observations(rows, settings, &compact, &verdict_of);
        Self {
            entered,
            compact,
            verdict_of,
            observations,
        }
    }
}

/// Pool indexes of the documents that have a score: those entered by a plan, and those with a battle or a verdict.
/// While nobody has voted or decided anything there are no scores, unless a document is alone.
fn entered(rows: &Rows) -> Vec<usize> {
    let mut entered = vec![false; rows.documents];
    for flag in entered.iter_mut().take(rows.depth.unwrap_or(0)) {
        *flag = true;
    }
    let fought = rows
        .battles
        .iter()
        .map(|record| (record.battle.a, record.battle.b));
    let judged = rows.verdicts.iter().map(|verdict| (verdict.a, verdict.b));
    for (a, b) in fought.chain(judged) {
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
    if entered.len() > 1 && !voted && !decided {
        return Vec::new();
    }
    entered
}

/// What the fit is made of: the votes that no verdict replaces, and the verdicts.
fn observations(
    rows: &Rows,
    settings: &Settings,
    compact: &[Option<usize>],
    verdict_of: &HashMap<Pair, usize>,
) -> Vec<Observation> {
    let index = |document: usize| compact.get(document).copied().flatten();
    let mut observations = votes_in_force(rows, settings, compact, verdict_of);
    observations.extend(rows.verdicts.iter().filter_map(|verdict| {
        let score = verdict.decision.score()?;
        Some(Observation::new(
            index(verdict.a)?,
            index(verdict.b)?,
            score,
            settings.override_weight,
        ))
    }));
    observations
}

pub(super) fn votes_in_force(
    rows: &Rows,
    settings: &Settings,
    compact: &[Option<usize>],
    verdict_of: &HashMap<Pair, usize>,
) -> Vec<Observation> {
    let index = |document: usize| compact.get(document).copied().flatten();
    let replaced = |battle: Battle| {
        settings.override_mode == OverrideMode::Replace
            && Pair::new(battle.a, battle.b)
                .and_then(|pair| rows.verdicts.get(*verdict_of.get(&pair)?))
                .is_some_and(|verdict| verdict.decision.score().is_some())
    };
    let standing = rows
        .battles
        .iter()
        .filter(|record| !replaced(record.battle));
    standing
        .filter_map(|record| {
            let score = settings
                .vote_rule
                .score(record.votes.iter().map(|vote| vote.margin))?;
            Some(Observation::new(
                index(record.battle.a)?,
                index(record.battle.b)?,
                score,
                1.0,
            ))
        })
        .collect()
}

pub(super) fn consensus(rows: &Rows) -> (usize, usize) {
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
