//! Worlds from the project's own votes.

use crate::cli::command::{CommandFailure, usage};
use crate::cli::{output};
use crate::domain::battle::Pair;
use crate::domain::rating::Covariance;
use crate::domain::sampling::SeededRng;
use crate::domain::simulation::{
    Noise, ObservedQuery, ObservedVote, SimulatedQuery, fitted_noise, plausible_scores,
};
use crate::domain::vote::JudgeId;
use crate::store::Store;
use anyhow::anyhow;
use std::collections::BTreeMap;

/// A fitted query.
struct FittedQuery {
    name: String,
    scores: Vec<f64>,
    covariance: Covariance,
    votes: Vec<ObservedVote>,
}

/// The fitted queries of the ensemble that most of them have, and how its judges err.
pub(super) struct ProjectWorlds {
    reals: Vec<FittedQuery>,
    noise: Noise,
}

impl ProjectWorlds {
    pub(super) fn load(store: &Store, seed: u64) -> Result<Self, CommandFailure> {
        let (groups, skipped) = store.read_blocking(|db| {
            let mut groups: BTreeMap<Vec<JudgeId>, Vec<FittedQuery>> = BTreeMap::new();
            let mut skipped = 0;
            for (key, name) in db.query_names()? {
                let judges: Vec<JudgeId> =
                    db.judges_of(key)?.into_iter().map(|(id, _)| id).collect();
                let view = db.view(key)?;
                let (Ok(fit), Some(covariance)) = (&view.fit, view.covariance()) else {
                    skipped += 1;
                    continue;
                };
                let mut votes = Vec::new();
                for record in &view.rows().battles {
                    let (a, b) = (record.battle.a, record.battle.b);
                    let Some((low, high)) = Pair::new(a, b).and_then(|pair| view.places(pair))
                    else {
                        continue;
                    };
                    let (a, b) = if a < b { (low, high) } else { (high, low) };
                    for vote in &record.votes {
                        if let Some(seat) = judges.iter().position(|id| *id == vote.judge) {
                            votes.push(ObservedVote {
                                a,
                                b,
                                seat,
                                outcome: vote.margin.outcome(),
                                swapped: vote.swapped,
                            });
                        }
                    }
                }
                if votes.is_empty() || fit.scores.len() < 2 {
                    skipped += 1;
                    continue;
                }
                groups.entry(judges).or_default().push(FittedQuery {
                    name,
                    scores: fit.scores.clone(),
                    covariance: covariance.clone(),
                    votes,
                });
            }
            Ok((groups, skipped))
        })?;
        let all: usize = groups.values().map(Vec::len).sum();
        // Of ensembles with equally many queries the one that came first.
        let Some((judges, reals)) = groups
            .into_iter()
            .rev()
            .max_by_key(|(_, reals)| reals.len())
        else {
            return Err(usage!(
                "--resample: no query has votes and a fit with errors; judge some first (`overrule annotate`)"
            ));
        };
        let left_out = skipped + all - reals.len();
        if left_out > 0 {
            output::message(&format!(
                "{left_out} {} left out: no votes, no fit with errors, or other judges than most have",
                if left_out == 1 { "query" } else { "queries" }
            ));
        }
        let truths = reals
            .iter()
            .map(|real| real.truth(seed, 0))
            .collect::<Result<Vec<_>, _>>()?;
        let tables: Vec<ObservedQuery> = truths
            .iter()
            .zip(&reals)
            .map(|(scores, real)| ObservedQuery {
                scores,
                votes: &real.votes,
            })
            .collect();
        let noise = fitted_noise(judges.len(), &tables)
            .map_err(|error| usage!("--resample: {error}"))?;
        Ok(Self { reals, noise })
    }

    pub(super) fn queries(&self) -> usize {
        self.reals.len()
    }

    pub(super) fn noise(&self) -> &Noise {
        &self.noise
    }

    /// The real queries in turn, each time with other scores that its votes leave possible.
    pub(super) fn world(&self, seed: u64, index: usize) -> Result<SimulatedQuery, CommandFailure> {
        let count = self.reals.len().max(1);
        let Some(real) = self.reals.get(index % count) else {
            return Err(anyhow!("no query to draw from").into());
        };
        let draw = index / count;
        let (name, truth) = (format!("{} {draw}", real.name), real.truth(seed, draw)?);
        Ok(SimulatedQuery::new(seed, &name, truth, self.noise.clone()))
    }
}

impl FittedQuery {
    fn truth(&self, seed: u64, draw: usize) -> Result<Vec<f64>, CommandFailure> {
        let mut rng = SeededRng::new(seed, &["plausible", &self.name, &draw.to_string()]);
        plausible_scores(&self.scores, &self.covariance, &mut rng)
            .ok_or_else(|| anyhow!("query {}: its errors are of another pool", self.name).into())
    }
}
