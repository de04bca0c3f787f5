//! The prior estimated from an ensemble's battles at the end of a run, an import or a merge.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result, Store, StoreError};
use crate::domain::ranking::{self, LearnedPrior, RankingSettings};
use crate::domain::rating::{Dispersion, MAX_DENSE, PRIOR_BATTLES, PriorEvidence};
use crate::domain::sampling::SeededRng;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::registry;

/// Maximum number of queries in an estimate.
const QUERIES: usize = 200;

/// Maximum cost of an estimate: the cubes of the queries' document counts, summed.
const WORK: usize = QUERIES * 100 * 100 * 100;

/// The queries from which a prior is learned.
struct PriorSample {
    queries: Vec<QueryKey>,
    /// Number of queries of the ensemble.
    all: usize,
    settings: RankingSettings,
}

impl PriorSample {
    /// What the votes on a query say about the prior, and the number of their judges.
    fn evidence(&self, db: &Db, query: QueryKey) -> Result<(Option<PriorEvidence>, usize)> {
        let rows = db.fitted_rows(query, &self.settings)?;
        let evidence = ranking::prior_evidence(&rows, &self.settings);
        Ok((evidence, rows.judges.len()))
    }

    /// The most probable prior; `None` if there are too few battles.
    fn prior(&self, pooled: &PooledEvidence) -> Option<LearnedPrior> {
        let PooledEvidence { evidence, judges } = pooled;
        let assumed = 1.0 / (*judges).max(1) as f64;
        let phi =
            |dispersion: Dispersion| self.settings.phi.or(dispersion.phi()).unwrap_or(assumed);
        let battles = evidence.battles();
        if battles * self.all < PRIOR_BATTLES * self.queries.len() {
            return None;
        }
        let lambda = evidence.best(phi)?;
        Some(LearnedPrior { lambda, battles })
    }
}

/// The evidence of several queries.
#[derive(Default)]
struct PooledEvidence {
    evidence: PriorEvidence,
    /// The largest number of judges.
    judges: usize,
}

impl PooledEvidence {
    fn add(&mut self, evidence: Option<PriorEvidence>, judges: usize) {
        self.judges = self.judges.max(judges);
        if let Some(of_query) = evidence {
            self.evidence = std::mem::take(&mut self.evidence).pooled(&of_query);
        }
    }
}

impl Store {
    /// [`Db::learn_prior`] on all cores. Blocks.
    pub fn learn_prior(&self, ensemble: EnsembleId) -> Result<Option<LearnedPrior>> {
        let Some(sample) = self.read_blocking(move |db| db.prior_sample(ensemble))? else {
            return Ok(None);
        };
        let mut pooled = PooledEvidence::default();
        self.read_each(
            &sample.queries,
            |db, query| sample.evidence(db, query),
            |_, (evidence, judges)| {
                pooled.add(evidence, judges);
                Ok::<_, StoreError>(())
            },
        )?;
        Ok(sample.prior(&pooled))
    }
}

impl Db {
    /// Estimates the prior from an ensemble's votes: `None` if it is not to be learned or there are
    /// too few battles. Changes nothing.
    pub fn learn_prior(&self, ensemble: EnsembleId) -> Result<Option<LearnedPrior>> {
        let Some(sample) = self.prior_sample(ensemble)? else {
            return Ok(None);
        };
        let mut pooled = PooledEvidence::default();
        for query in &sample.queries {
            let (evidence, judges) = sample.evidence(self, *query)?;
            pooled.add(evidence, judges);
        }
        Ok(sample.prior(&pooled))
    }

    /// The queries from which an ensemble's prior is learned; `None` if it is not to be learned.
    fn prior_sample(&self, ensemble: EnsembleId) -> Result<Option<PriorSample>> {
        let settings = self.settings()?;
        if !settings.learns_prior() {
            return Ok(None);
        }
        let (queries, all) = self.sampled(ensemble)?;
        Ok(Some(PriorSample {
            queries,
            all,
            settings,
        }))
    }

    /// A random sample of an ensemble's queries, as large as the cost allows, and the number of
    /// queries it is taken from. It follows from the names of the queries, so that it does not
    /// depend on the order in which shards of a dataset were merged.
    pub(crate) fn sampled(&self, ensemble: EnsembleId) -> Result<(Vec<QueryKey>, usize)> {
        let mut drawn: Vec<(usize, String, QueryKey, usize)> = self.all(
            "SELECT id, name, documents FROM query WHERE ensemble = ?1 AND documents <= ?2",
            (ensemble.0, MAX_DENSE),
            |row| {
                let name: String = row.get(1)?;
                let draw = SeededRng::new(0, &["prior sample", &name]).below(usize::MAX);
                Ok((draw, name, QueryKey(row.get(0)?), row.get(2)?))
            },
        )?;
        drawn.sort_unstable();
        let cost = drawn
            .iter()
            .map(|(.., documents)| *documents)
            .max()
            .unwrap_or(1)
            .max(1)
            .pow(3);
        let count = (WORK / cost).clamp(1, QUERIES);
        let chosen = drawn.iter().take(count).map(|(_, _, query, _)| *query);
        Ok((chosen.collect(), drawn.len()))
    }

    /// Stores a learned prior. Returns whether the prior has changed; the numbers of the ensemble's
    /// queries are then outdated.
    pub fn keep_prior(&self, ensemble: EnsembleId, learned: Option<LearnedPrior>) -> Result<bool> {
        let Some(learned) = learned else {
            return Ok(false);
        };
        let (before, settings) = (self.learned_prior(ensemble)?, self.settings()?);
        let value = serde_json::json!([learned.lambda, learned.battles]).to_string();
        self.remember(&name(ensemble), &value)?;
        if !settings.learns_prior()
            || settings.lambda.value(before) == settings.lambda.value(Some(learned))
        {
            return Ok(false);
        }
        self.touch_ensemble(ensemble)?;
        Ok(true)
    }

    /// Identifies the current state of the data from which the prior and noise of an ensemble are
    /// estimated.
    pub fn estimate_basis(&self, ensemble: EnsembleId) -> Result<EstimateBasis> {
        let (queries, revisions) = self.one(
            "SELECT count(*), coalesce(sum(revision), 0) FROM query WHERE ensemble = ?1",
            [ensemble.0],
            |row| row.try_into(),
        )?;
        Ok(EstimateBasis {
            queries,
            revisions,
            settings: serde_json::to_string(&self.settings()?)?,
        })
    }

    /// Whether prior and noise were estimated from this state.
    pub fn is_estimated_from(&self, ensemble: EnsembleId, basis: &EstimateBasis) -> Result<bool> {
        let known = self.remembered(&basis_name(ensemble))?;
        Ok(known.is_some_and(|known| known == basis.text()))
    }

    /// Records that prior and noise were estimated from this state. Storing the results has since
    /// changed each of the ensemble's queries `times` times.
    pub fn estimated_from(
        &self,
        ensemble: EnsembleId,
        mut basis: EstimateBasis,
        times: i64,
    ) -> Result<()> {
        basis.revisions += times * basis.queries;
        self.remember(&basis_name(ensemble), &basis.text())
    }

    /// The prior last learned from an ensemble's battles.
    fn learned_prior(&self, ensemble: EnsembleId) -> Result<Option<LearnedPrior>> {
        let Some(text) = self.remembered(&name(ensemble))? else {
            return Ok(None);
        };
        let (lambda, battles) = serde_json::from_str(&text)?;
        Ok(Some(LearnedPrior { lambda, battles }))
    }

    /// The precision of the prior with which the rounds of a campaign choose their pairs, or `None`
    /// if it must be learned from the campaign's opening cycle.
    ///
    /// Once known, it is kept even though the prior is learned again at the end of every run, so
    /// that a campaign that was stopped asks about the same pairs as one that was not. Strategies
    /// that show a pair to one judge at a time keep their initial prior: their opening cycle has
    /// one vote per pair, from which the evidence estimates a prior that is far too strong (λ .2 to
    /// 2 instead of .02 to .3 in simulation, which costs up to .06 of Kendall τ).
    pub fn campaign_prior(
        &self,
        ensemble: EnsembleId,
        campaign: &AdaptivePlan,
        seed: u64,
    ) -> Result<Option<f64>> {
        let settings = self.settings_under(Some(ensemble))?;
        let lambda = settings.rating().lambda;
        if !settings.learns_prior() {
            return Ok(Some(lambda));
        }
        if let Some(text) = self.remembered(&campaign_name(ensemble))? {
            let (before, lambda): (serde_json::Value, f64) = serde_json::from_str(&text)?;
            if before == serde_json::json!([campaign, seed]) {
                return Ok(Some(lambda));
            }
        }
        if settings.learned.is_none() && campaign.strategy.opens_with_whole_battles() {
            return Ok(None);
        }
        self.remember_campaign_prior(ensemble, campaign, seed, lambda)?;
        Ok(Some(lambda))
    }

    /// Estimates the prior from battles that were not chosen by scores: those of plain plans and of
    /// opening cycles. `None` if there are too few.
    pub fn learn_opening_prior(&self, ensemble: EnsembleId) -> Result<Option<f64>> {
        let settings = self.settings()?;
        let (sampled, all) = self.sampled(ensemble)?;
        let mut pooled = PooledEvidence::default();
        for query in &sampled {
            let mut rows = self.fitted_rows(*query, &settings)?;
            let chosen = self.battles_chosen_by_scores(*query)?;
            rows.battles
                .retain(|record| !chosen.contains(&record.battle.id));
            pooled.add(ranking::prior_evidence(&rows, &settings), rows.judges.len());
        }
        let PooledEvidence { evidence, judges } = pooled;
        if evidence.battles() * all < PRIOR_BATTLES * sampled.len() {
            return Ok(None);
        }
        // One cycle is too little to distinguish noise from a weak prior, so assume the noise of
        // independent judges.
        let phi = settings.phi.unwrap_or(1.0 / judges.max(1) as f64);
        Ok(evidence.best(|_| phi))
    }

    /// Stores the prior learned from a campaign's opening cycle and returns the campaign's prior.
    /// If none was learned, returns the project's current prior without storing it, since further
    /// queries may still teach one.
    pub fn keep_campaign_prior(
        &self,
        ensemble: EnsembleId,
        campaign: &AdaptivePlan,
        seed: u64,
        learned: Option<f64>,
    ) -> Result<f64> {
        let Some(lambda) = learned else {
            return Ok(self.settings_under(Some(ensemble))?.rating().lambda);
        };
        self.remember_campaign_prior(ensemble, campaign, seed, lambda)?;
        Ok(lambda)
    }

    fn remember_campaign_prior(
        &self,
        ensemble: EnsembleId,
        campaign: &AdaptivePlan,
        seed: u64,
        lambda: f64,
    ) -> Result<()> {
        let value = serde_json::json!([[campaign, seed], lambda]).to_string();
        self.remember(&campaign_name(ensemble), &value)
    }

    /// The project's settings with the prior and the tastes learned from an ensemble's battles, if they
    /// are to be learned, and with the tastes of other answers that count.
    pub(crate) fn settings_under(&self, ensemble: Option<EnsembleId>) -> Result<RankingSettings> {
        let mut settings = self.settings()?;
        settings.counted_taste = registry::counted_taste(self)?;
        if let Some(ensemble) = ensemble.filter(|_| settings.learns_prior()) {
            settings.learned = self.learned_prior(ensemble)?;
        }
        if let Some(ensemble) = ensemble.filter(|_| settings.learns_tastes()) {
            settings.learned_taste = self.learned_taste(ensemble)?;
        }
        Ok(settings)
    }

    /// The project's settings with the learned prior and tastes; of several ensembles, the prior of the
    /// one with the most battles counts, and the largest tastes.
    pub fn settings_in_force(&self) -> Result<RankingSettings> {
        let mut settings = self.settings_under(None)?;
        for ensemble in self.ensembles_in_force()? {
            let RankingSettings {
                learned,
                learned_taste,
                ..
            } = self.settings_under(Some(ensemble))?;
            let larger = |before: f64| learned_taste.map_or(before, |learned| learned.max(before));
            settings.learned_taste = settings.learned_taste.map(larger).or(learned_taste);
            let battles = |of: Option<LearnedPrior>| of.map(|learned| learned.battles);
            if battles(learned) > battles(settings.learned) {
                settings.learned = learned;
            }
        }
        Ok(settings)
    }
}

/// A state of an ensemble's queries. Revisions only grow, so no two states are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimateBasis {
    queries: i64,
    revisions: i64,
    settings: String,
}

impl EstimateBasis {
    fn text(&self) -> String {
        format!("{} {} {}", self.queries, self.revisions, self.settings)
    }
}

fn basis_name(ensemble: EnsembleId) -> String {
    format!("estimated:{}", ensemble.0)
}

fn campaign_name(ensemble: EnsembleId) -> String {
    format!("campaign-prior:{}", ensemble.0)
}

fn name(ensemble: EnsembleId) -> String {
    format!("lambda:{}", ensemble.0)
}
