//! The result of a duel: credit, wins, tests, agreement, positions, time and controls.

use super::controls::{ControlResult, control_results};
use super::inference::{
    Cell, DuelEstimate, Estimator, crossed_estimates, permutation_test, sign_test,
};
use super::judgments::{Credit, Judgment, Participant, judgments, side_of};
use super::places::{PlaceShare, places};
use super::stop::{StopRule, StopState};
use super::{Duel, DuelForm, Side, TaskKind};
use crate::domain::agreement::{Alpha, LabelUnits, alpha};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::numeric::median;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The shares of the chosen documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CreditShares {
    pub a_only: DuelEstimate,
    pub b_only: DuelEstimate,
    pub both: DuelEstimate,
    pub neither: DuelEstimate,
}

/// A query with at least one finished judgment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DuelQueryResult {
    pub query: QueryId,
    /// Finished judgments, one per participant.
    pub judgments: usize,
    pub credit: Credit,
    /// Judgments in which nothing was chosen.
    pub none_chosen: usize,
    /// The mean of its judgments, from −1 (all credit to B) to 1 (all credit to A).
    pub preference: f64,
    /// By the preference's sign; `None` for a tie.
    pub better: Option<Side>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DuelResult {
    pub form: DuelForm,
    pub a: String,
    pub b: String,
    /// Queries of the duel.
    pub queries: usize,
    /// Participants with a finished judgment.
    pub participants: usize,
    /// Finished judgments of queries, without controls.
    pub judgments: usize,
    /// How many of them are held back, and counted in no credit, preference, win, test, agreement
    /// or `per_query`. A further judgment of a query counts only once its participant has judged
    /// every query, since it may have been requested because of the first one.
    pub held_back: usize,
    /// How many of them were given or changed after the participant had seen the result. They are
    /// not blind, so [`DuelResult::stop`] skips them.
    pub after_reveal: usize,
    pub credit: Credit,
    /// `None` if nothing was chosen.
    pub credit_shares: Option<CreditShares>,
    /// The mean over the judged queries, from −1 (all credit to B) to 1 (all credit to A).
    pub preference: Option<DuelEstimate>,
    /// Queries on which A was preferred, neither, or B.
    pub wins_a: usize,
    pub ties: usize,
    pub wins_b: usize,
    /// Two-sided p-value of wins against losses, ignoring ties (the exact sign test). `None`
    /// without either.
    pub sign_p: Option<f64>,
    /// Two-sided p-value of the mean preference, swapping A and B per query. `None` without
    /// judgments.
    pub permutation_p: Option<f64>,
    /// Krippendorff's α of the choices, over documents judged by at least two participants; in the
    /// form of lists, of the preferences.
    pub agreement: Option<Alpha>,
    pub places: Vec<PlaceShare>,
    /// p-value for all positions being chosen equally often (Cochran's Q), or left and right
    /// (exact). `None` for an interleaved list, where better documents are placed higher.
    pub places_p: Option<f64>,
    /// Median active time of a finished judgment, in seconds.
    pub median_seconds: Option<f64>,
    /// By participant, in the order of joining.
    pub controls: Vec<ControlResult>,
    /// Computed from the blind judgments.
    pub stop: StopState,
    /// In the duel's order, only queries with a finished judgment.
    pub per_query: Vec<DuelQueryResult>,
}

/// The control results of these participants only.
pub fn controls_of(duel: &Duel, participants: &[Participant]) -> Vec<ControlResult> {
    let all = judgments(duel, participants);
    let (on_queries, controls): (Vec<&Judgment<'_>>, Vec<&Judgment<'_>>) =
        all.iter().partition(|one| one.kind == TaskKind::Query);
    control_results(duel.form, participants, &on_queries, &controls)
}

/// Computes the result from the finished answers. Preferences and credit are over queries only;
/// controls are separate.
pub fn result(duel: &Duel, participants: &[Participant]) -> DuelResult {
    let all = judgments(duel, participants);
    let (on_queries, controls): (Vec<&Judgment<'_>>, Vec<&Judgment<'_>>) =
        all.iter().partition(|one| one.kind == TaskKind::Query);
    let counted = counted(duel, &on_queries);
    let by_query: Vec<&[&Judgment<'_>]> = counted.chunk_by(|x, y| x.query == y.query).collect();
    let per_query: Vec<DuelQueryResult> = by_query
        .iter()
        .filter_map(|of_query| query_result(duel, of_query))
        .collect();
    let preferences: Vec<f64> = per_query.iter().map(|one| one.preference).collect();
    let won = |side: Option<Side>| per_query.iter().filter(|one| one.better == side).count();
    let (wins_a, ties, wins_b) = (won(Some(Side::A)), won(None), won(Some(Side::B)));
    let judging: BTreeSet<usize> = on_queries.iter().map(|one| one.participant).collect();
    let (places, places_p) = places(duel.form, &on_queries);
    let (preference, credit_shares) = estimates(&counted, duel.seed);
    DuelResult {
        form: duel.form,
        a: duel.a.clone(),
        b: duel.b.clone(),
        queries: duel.queries.len(),
        participants: judging.len(),
        judgments: on_queries.len(),
        held_back: on_queries.len() - counted.len(),
        after_reveal: on_queries
            .iter()
            .filter(|one| one.answer.after_reveal)
            .count(),
        credit: counted
            .iter()
            .fold(Credit::default(), |sum, one| sum.plus(one.credit)),
        credit_shares,
        preference,
        wins_a,
        ties,
        wins_b,
        sign_p: sign_test(wins_a, wins_b),
        permutation_p: permutation_test(&preferences, duel.seed),
        agreement: agreement(duel.form, &by_query, participants.len()),
        places,
        places_p,
        median_seconds: median(
            on_queries
                .iter()
                .map(|one| one.answer.active_ms as f64 / 1_000.0),
        ),
        controls: control_results(duel.form, participants, &on_queries, &controls),
        stop: stop_state(duel, &on_queries),
        per_query,
    }
}

/// The first judgment of each query, and all judgments of participants who have judged every query,
/// in the same order.
fn counted<'a, 'b>(duel: &Duel, judgments: &[&'b Judgment<'a>]) -> Vec<&'b Judgment<'a>> {
    let mut judged: BTreeMap<usize, usize> = BTreeMap::new();
    let mut first: BTreeMap<usize, (Option<i64>, usize)> = BTreeMap::new();
    for one in judgments {
        *judged.entry(one.participant).or_default() += 1;
        let time = (one.answer.finished_ms, one.participant);
        let known = first.entry(one.query).or_insert(time);
        *known = (*known).min(time);
    }
    judgments
        .iter()
        .copied()
        .filter(|one| {
            judged.get(&one.participant) >= Some(&duel.queries.len())
                || first.get(&one.query) == Some(&(one.answer.finished_ms, one.participant))
        })
        .collect()
}

fn cells(judgments: &[&Judgment<'_>], of: impl Fn(&Judgment<'_>) -> (f64, f64)) -> Vec<Cell> {
    let cell = |one: &&Judgment<'_>| {
        let (part, whole) = of(one);
        Cell {
            query: one.query,
            participant: one.participant,
            part,
            whole,
        }
    };
    judgments.iter().map(cell).collect()
}

/// The mean preference, and the shares of the chosen documents.
fn estimates(
    judgments: &[&Judgment<'_>],
    seed: u64,
) -> (Option<DuelEstimate>, Option<CreditShares>) {
    let share = |part: fn(&Credit) -> usize| {
        let of = |one: &Judgment<'_>| (part(&one.credit) as f64, one.credit.chosen() as f64);
        (cells(judgments, of), Estimator::Share)
    };
    let preference = cells(judgments, |one| (one.preference, 1.0));
    let lists = [
        (preference, Estimator::MeanOfQueries),
        share(|credit| credit.a_only),
        share(|credit| credit.b_only),
        share(|credit| credit.both),
        share(|credit| credit.neither),
    ];
    let [preference, a_only, b_only, both, neither] = crossed_estimates(lists, seed);
    let shares = || {
        Some(CreditShares {
            a_only: a_only?,
            b_only: b_only?,
            both: both?,
            neither: neither?,
        })
    };
    (preference, shares())
}

fn query_result(duel: &Duel, judgments: &[&Judgment<'_>]) -> Option<DuelQueryResult> {
    let query = duel.queries.get(judgments.first()?.query)?;
    let sum: f64 = judgments.iter().map(|one| one.preference).sum();
    let preference = sum / judgments.len() as f64;
    let better = side_of(preference);
    let none_chosen = judgments.iter().filter(|one| match duel.form {
        DuelForm::Lists => false,
        DuelForm::Grid | DuelForm::Interleaved => one.credit.chosen() == 0,
    });
    Some(DuelQueryResult {
        query: query.query.clone(),
        judgments: judgments.len(),
        credit: judgments
            .iter()
            .fold(Credit::default(), |sum, one| sum.plus(one.credit)),
        none_chosen: none_chosen.count(),
        preference: if better.is_some() { preference } else { 0.0 },
        better,
    })
}

/// The blind judgments in the order in which they were finished; ties go to the earlier
/// participant. Participants who know which ranking leads may judge accordingly, so their judgments
/// are not fair bets.
fn blind_in_time<'a, 'b>(judgments: impl Iterator<Item = &'b Judgment<'a>>) -> Vec<&'b Judgment<'a>>
where
    'a: 'b,
{
    let mut blind: Vec<_> = judgments.filter(|one| !one.answer.after_reveal).collect();
    blind.sort_by_key(|one| (one.answer.finished_ms, one.participant));
    blind
}

fn stop_state(duel: &Duel, judgments: &[&Judgment<'_>]) -> StopState {
    let mut rule = StopRule::new(duel.queries.len());
    for one in blind_in_time(judgments.iter().copied()) {
        rule.add(one.participant, one.query, one.preference);
    }
    rule.state()
}

/// The state of a duel as seen by an observer at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Queries on which A and B were preferred in the first judgment.
    pub first_wins: (usize, usize),
    /// The ranking that [`DuelResult::stop`] names.
    pub better: Option<Side>,
}

/// The observer's view after each finished blind judgment.
pub fn looks(duel: &Duel, participants: &[Participant]) -> Vec<Look> {
    let all = judgments(duel, participants);
    let on_queries = all.iter().filter(|one| one.kind == TaskKind::Query);
    let mut rule = StopRule::new(duel.queries.len());
    let look = |one: &Judgment<'_>| {
        rule.add(one.participant, one.query, one.preference);
        Look {
            first_wins: rule.first_wins(),
            better: rule.claim(),
        }
    };
    blind_in_time(on_queries).into_iter().map(look).collect()
}

fn agreement(form: DuelForm, by_query: &[&[&Judgment<'_>]], participants: usize) -> Option<Alpha> {
    let (mut rows, mut clusters) = (Vec::new(), Vec::new());
    for (cluster, of_query) in by_query.iter().enumerate() {
        let mut units: BTreeMap<Option<&DocId>, Vec<Option<f64>>> = BTreeMap::new();
        for one in *of_query {
            let mut labels: Vec<(Option<&DocId>, f64)> = match form {
                DuelForm::Lists => vec![(None, sign(one.better()))],
                DuelForm::Grid | DuelForm::Interleaved => Vec::new(),
            };
            let choice = |chosen| f64::from(u8::from(chosen));
            let shown = one.shown();
            labels.extend(shown.map(|(document, chosen)| (document.as_ref(), choice(chosen))));
            for (unit, label) in labels {
                let row = units
                    .entry(unit)
                    .or_insert_with(|| vec![None; participants]);
                if let Some(place) = row.get_mut(one.participant) {
                    *place = Some(label);
                }
            }
        }
        clusters.extend(units.iter().map(|_| cluster));
        rows.extend(units.into_values());
    }
    alpha(LabelUnits {
        rows: &rows,
        clusters: &clusters,
    })
}

fn sign(side: Option<Side>) -> f64 {
    match side {
        Some(Side::A) => 1.0,
        Some(Side::B) => -1.0,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests;
