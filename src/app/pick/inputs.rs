//! Pools, their labels, and the judges' picks from them.

use crate::app::error::{AppError, invalid};
use crate::app::input_files::{grades_of, read_pools};
use crate::domain::adjudication::PickRecord;
use crate::domain::corpus::{Pool, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sanitize;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The pools that judges are asked about.
#[derive(Debug)]
pub(super) enum PoolSource {
    /// Those of a project, read on demand, since their texts may not all fit in memory.
    Project(Store, Vec<(QueryKey, QueryId)>),
    /// Those of a file.
    File(Vec<Arc<Pool>>),
}

impl PoolSource {
    fn has(&self, name: &str) -> bool {
        match self {
            Self::Project(_, queries) => queries.iter().any(|(_, id)| id.as_str() == name),
            Self::File(pools) => pools.iter().any(|pool| pool.query.id.as_str() == name),
        }
    }

    fn retain(&mut self, wanted: impl Fn(&QueryId) -> bool) {
        match self {
            Self::Project(_, queries) => queries.retain(|(_, id)| wanted(id)),
            Self::File(pools) => pools.retain(|pool| wanted(&pool.query.id)),
        }
    }
}

/// The pools that judges are asked about, and the answers.
#[derive(Debug)]
pub struct PickInputs {
    pub(super) source: PathBuf,
    pub(super) pools: PoolSource,
    pub(super) labels: Qrels,
    /// All answers in the project.
    pub picks: Vec<PickRecord>,
}

impl PickInputs {
    /// Reads the pools of a dataset, or all of the project, restricted to the named queries if
    /// there are any.
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
            pools: PoolSource::File(Vec::new()),
            labels: Qrels::new(),
            picks: Vec::new(),
        };
        if let Some(store) = project {
            let names;
            (names, inputs.labels, inputs.picks) =
                store.read_blocking(|db| Ok((db.query_names()?, db.labels()?, db.picks()?)))?;
            let queries = names
                .into_iter()
                .map(|(key, name)| (key, QueryId::new(name)));
            inputs.pools = PoolSource::Project(store.clone(), queries.collect());
        }
        if let Some(path) = dataset {
            let pools = read_pools(path)?;
            for (query, grades) in grades_of(&pools, path)? {
                inputs.labels.entry(query).or_default().extend(grades);
            }
            inputs.pools = PoolSource::File(pools.into_iter().map(Arc::new).collect());
        }
        for name in queries {
            if !inputs.pools.has(name) {
                let name = sanitize::line(name);
                return Err(invalid!("--query: no such query: {name:?}"));
            }
        }
        let named = |id: &QueryId| queries.iter().any(|name| name == id.as_str());
        if !queries.is_empty() {
            inputs.pools.retain(named);
        }
        Ok(inputs)
    }
}
