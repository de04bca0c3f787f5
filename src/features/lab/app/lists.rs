//! Simulates campaigns of list calls: the quality of the scores, and the coverage of their
//! intervals.

use super::every::every;
use crate::app::error::{AppError, invalid};
use crate::features::lab::domain::{
    Coverage, ListCampaign, ListQuery, ListWorld, Quality, Theta, quality,
};
use crate::features::lists::domain::{ListModel, QueryBlocks, estimate, fit_blocks};

/// A simulation in which every campaign gets the same queries and judges.
#[derive(Debug)]
pub struct ListSimulation {
    pub queries: usize,
    pub worlds: Vec<ListWorld>,
    pub campaigns: Vec<ListCampaign>,
    /// Distribution of true scores.
    pub theta: Theta,
    /// Number of documents per query.
    pub documents: usize,
    /// Number of threads, which does not affect the result.
    pub threads: Option<usize>,
    /// Random seed for worlds, answers and plans.
    pub seed: u64,
}

/// The results of a campaign in one world, on all queries.
#[derive(Debug)]
pub struct ListResult {
    pub world: ListWorld,
    pub campaign: ListCampaign,
    /// The model that the answers of all queries support.
    pub model: ListModel,
    /// By query.
    pub qualities: Vec<Quality>,
    /// By query.
    pub coverages: Vec<Coverage>,
}

impl ListResult {
    /// The dispersion of the campaign's answers.
    pub fn phi(&self) -> f64 {
        self.model.phi_of(self.campaign.kind)
    }

    /// The variance of tastes relative to that of the scores; 0 if the model has no tastes.
    pub fn taste_share(&self) -> f64 {
        self.model.taste * self.model.precision
    }
}

impl ListSimulation {
    /// Runs every campaign in every world, in this order. `progress` receives the number of
    /// finished runs.
    pub fn run(&self, progress: &mut dyn FnMut(usize)) -> Result<Vec<ListResult>, AppError> {
        let smallest = self.campaigns.iter().map(|campaign| campaign.kind.size());
        match smallest.max() {
            None => return Err(invalid!("--campaigns: name at least one")),
            Some(size) if size > self.documents => {
                return Err(invalid!(
                    "a list of {size} does not fit a query of {} documents",
                    self.documents
                ));
            }
            Some(_) => {}
        }
        let runs: Vec<(ListWorld, ListCampaign)> = self
            .worlds
            .iter()
            .flat_map(|world| self.campaigns.iter().map(|campaign| (*world, *campaign)))
            .collect();
        every(runs.len(), self.threads, progress, |at| {
            let (world, campaign) = runs[at];
            self.play(world, campaign)
        })
    }

    fn play(&self, world: ListWorld, campaign: ListCampaign) -> Result<ListResult, AppError> {
        let queries: Vec<ListQuery> = (0..self.queries)
            .map(|index| ListQuery::synthetic(world, self.theta, self.documents, self.seed, index))
            .collect();
        let played: Vec<QueryBlocks> = queries
            .iter()
            .map(|query| query.play(&campaign, self.seed))
            .collect();
        let model = estimate(&played);
        let (mut qualities, mut coverages) = (Vec::new(), Vec::new());
        for (query, played) in queries.iter().zip(&played) {
            let fit = fit_blocks(played.documents, &played.blocks, &model).ok_or_else(|| {
                AppError::Failed(format!("the scores of {campaign} cannot be fitted"))
            })?;
            qualities.push(quality(&fit.scores, query.truth()));
            coverages.extend(Coverage::of(&fit.scores, &fit.covariance, query.truth()));
        }
        Ok(ListResult {
            world,
            campaign,
            model,
            qualities,
            coverages,
        })
    }
}
