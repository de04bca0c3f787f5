//! Simulated worlds based on the project's own votes.

use crate::app::error::{AppError, invalid};
use crate::domain::battle::Pair;
use crate::domain::rating::Covariance;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::JudgeId;
use crate::features::lab::domain::{
    Noise, ObservedQuery, ObservedVote, SimulatedQuery, fitted_noise, plausible_scores,
};
use crate::store::Store;
use std::collections::BTreeMap;

#[derive(Debug)]
struct FittedQuery {
    name: String,
    scores: Vec<f64>,
    covariance: Covariance,
    votes: Vec<ObservedVote>,
}

/// The fitted queries of the most frequent ensemble, and the error model of its judges.
#[derive(Debug)]
pub struct ProjectWorlds {
    queries: Vec<FittedQuery>,
    noise: Noise,
    /// Number of the project's queries that are not used.
    pub left_out: usize,
}

impl ProjectWorlds {
    /// Fits the judges of a project.
    pub fn load(store: &Store, seed: u64) -> Result<Self, AppError> {
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
        // If several ensembles have the most queries, use the one that came first.
        let Some((judges, queries)) = groups
            .into_iter()
            .rev()
            .max_by_key(|(_, queries)| queries.len())
        else {
            return Err(invalid!(
                "--resample: no query has votes and a fit with errors; judge some first (`overrule \
                 annotate`)"
            ));
        };
        let left_out = skipped + all - queries.len();
        let truths = queries
            .iter()
            .map(|fitted| fitted.truth(seed, 0))
            .collect::<Result<Vec<_>, _>>()?;
        let tables: Vec<ObservedQuery> = truths
            .iter()
            .zip(&queries)
            .map(|(scores, fitted)| ObservedQuery {
                scores,
                votes: &fitted.votes,
            })
            .collect();
        let noise =
            fitted_noise(judges.len(), &tables).map_err(|error| invalid!("--resample: {error}"))?;
        Ok(Self {
            queries,
            noise,
            left_out,
        })
    }

    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// Cycles through the fitted queries, each time with different scores that are compatible with
    /// its votes.
    pub fn world(&self, seed: u64, index: usize) -> Result<SimulatedQuery, AppError> {
        let count = self.queries.len().max(1);
        let Some(fitted) = self.queries.get(index % count) else {
            return Err(AppError::Failed("no query to draw from".to_owned()));
        };
        let draw = index / count;
        let (name, truth) = (format!("{} {draw}", fitted.name), fitted.truth(seed, draw)?);
        Ok(SimulatedQuery::new(seed, &name, truth, self.noise.clone()))
    }
}

impl FittedQuery {
    fn truth(&self, seed: u64, draw: usize) -> Result<Vec<f64>, AppError> {
        let mut rng = SeededRng::new(seed, &["plausible", &self.name, &draw.to_string()]);
        plausible_scores(&self.scores, &self.covariance, &mut rng).ok_or_else(|| {
            AppError::Failed(format!(
                "query {}: its errors are of another pool",
                self.name
            ))
        })
    }
}
