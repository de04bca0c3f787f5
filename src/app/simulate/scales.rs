//! What designs of one scale over queries are worth, over many worlds.

use super::every::every;
use crate::app::error::AppError;
use crate::domain::one_scale::{ScaleDesign, ScaleWorld};
use crate::domain::simulation::MeanInterval;

/// Worlds that every design meets.
#[derive(Clone, Copy, Debug)]
pub struct ScaleSimulation {
    pub worlds: usize,
    pub queries: usize,
    pub documents: usize,
    /// Standard deviation of queries' means over that within queries.
    pub between: f64,
    pub threads: Option<usize>,
    pub seed: u64,
}

impl ScaleSimulation {
    /// The correlation of each design's scores with the truth over all documents: its mean over the worlds.
    pub fn run(
        &self,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<(ScaleDesign, Option<MeanInterval>)>, AppError> {
        let failed =
            |error: crate::domain::rating::RatingError| AppError::Failed(error.to_string());
        let played = every(self.worlds, self.threads, progress, |index| {
            let seed = self.seed.wrapping_add(index as u64);
            let world = ScaleWorld::new(seed, self.queries, self.documents, self.between);
            let world = world.map_err(failed)?;
            let values = ScaleDesign::ALL.map(|design| world.correlation(design).map_err(failed));
            values.into_iter().collect::<Result<Vec<_>, AppError>>()
        })?;
        let designs = ScaleDesign::ALL.into_iter().enumerate();
        Ok(designs
            .map(|(at, design)| {
                let values = played.iter().filter_map(|world| *world.get(at)?);
                (design, MeanInterval::of(&values.collect::<Vec<_>>()))
            })
            .collect())
    }
}
