//! Opens projects, creates them with the configured settings, and fills them with the bundled
//! sample.

use super::error::{AppError, invalid};
use super::import;
use crate::config::Config;
use crate::domain::sanitise;
use crate::store::Store;
use std::path::Path;

/// The bundled claims with their candidates.
const SCIFACT: &[u8] = include_bytes!("../../data/scifact.jsonl");
/// The bundled battles of three language models.
const ZBENCH: &[u8] = include_bytes!("../../data/zbench_example.ai_scores.json");

/// Names of the sample's datasets in a project.
const SAMPLES: [&str; 2] = ["scifact", "zbench_example"];

/// Opens a project, creating it with the configured rating settings if there is none.
pub fn open_or_create(path: &Path, config: &Config) -> Result<Store, AppError> {
    let fresh =
        !Store::may_exist(path) || std::fs::metadata(path).is_ok_and(|found| found.len() == 0);
    let store = Store::open(path)?;
    if fresh {
        let settings = config.rating;
        store.write_blocking(move |db| db.set_settings(&settings))?;
    }
    Ok(store)
}

/// Creates or opens a project that contains only the bundled sample.
pub fn open_sample(path: &Path, config: &Config) -> Result<Store, AppError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .map_err(|error| AppError::file(folder, format!("cannot be made: {error}")))?;
    }
    let store = open_or_create(path, config)?;
    let datasets = store.read_blocking(|db| db.datasets())?;
    let mut foreign = datasets
        .iter()
        .filter(|name| !SAMPLES.contains(&name.as_str()));
    if let Some(foreign) = foreign.next() {
        return Err(invalid!(
            "{}: holds queries of {:?}; the sample goes into a project of its own",
            path.display(),
            sanitise::line(foreign)
        ));
    }
    store.write_blocking(|db| {
        import::datasets::add(db, SCIFACT, "scifact.jsonl", SAMPLES[0])?;
        let name = "zbench_example.ai_scores.json";
        import::ai_scores::add(db, [ZBENCH, ZBENCH], name, SAMPLES[1])
    })?;
    Ok(store)
}
