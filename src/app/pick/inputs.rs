//! Pools, their labels, and what judges have picked from them.

use crate::app::error::{AppError, invalid};
use crate::app::input_files::{grades_of, read_pools};
use crate::domain::adjudication::PickRecord;
use crate::domain::corpus::Pool;
use crate::domain::metrics::Qrels;
use crate::domain::sanitise;
use crate::store::Store;
use std::path::{Path, PathBuf};

/// What judges are asked about, and what they have answered.
#[derive(Debug)]
pub struct PickInputs {
    pub(super) source: PathBuf,
    pub(super) pools: Vec<Pool>,
    pub(super) labels: Qrels,
    /// All answers of the project.
    pub picks: Vec<PickRecord>,
}

impl PickInputs {
    /// The pools of a dataset, or all of the project; only those of the queries named, where some are.
    pub fn read(
        project: Option<&Store>,
        dataset: Option<&Path>,
        queries: &[String],
    ) -> Result<Self, AppError> {
        let source = dataset
            .or(project.map(Store::path))
            .unwrap_or(Path::new(""));
        let mut inputs = Self {
            source: source.to_owned(),
            pools: Vec::new(),
            labels: Qrels::new(),
            picks: Vec::new(),
        };
        if let Some(store) = project {
            let whole = dataset.is_none();
            (inputs.pools, inputs.labels, inputs.picks) = store.read_blocking(move |db| {
                let queries = if whole { db.queries()? } else { Vec::new() };
                let pools = queries.into_iter().map(|query| db.pool(query.key));
                Ok((pools.collect::<Result<_, _>>()?, db.labels()?, db.picks()?))
            })?;
        }
        if let Some(path) = dataset {
            inputs.pools = read_pools(path)?;
            for (query, grades) in grades_of(&inputs.pools, path)? {
                inputs.labels.entry(query).or_default().extend(grades);
            }
        }
        for name in queries {
            if !inputs
                .pools
                .iter()
                .any(|pool| pool.query.id.as_str() == name)
            {
                let name = sanitise::line(name);
                return Err(invalid!("--query: there is no query {name:?}"));
            }
        }
        let named = |pool: &Pool| queries.iter().any(|name| name == pool.query.id.as_str());
        inputs
            .pools
            .retain(|pool| queries.is_empty() || named(pool));
        Ok(inputs)
    }
}
