//! Opens projects, creates them with the configured settings, and fills them with the bundled
//! sample.

use super::error::{AppError, invalid};
use super::import;
use crate::config::Config;
use crate::domain::sanitize;
use crate::domain::verdict::FinalRule;
use crate::store::{Db, Store, StoreError};
use flate2::read::GzDecoder;
use std::io::BufReader;
use std::path::Path;

/// The bundled claims with their candidates.
const SCIFACT: &[u8] = include_bytes!("../../data/scifact.jsonl");
/// The bundled battles of three language models.
const ZBENCH: &[u8] = include_bytes!("../../data/zbench_example.ai_scores.json");
/// The bundled votes of two language models and three people on answers of five models.
const PANDALM: &[u8] = include_bytes!("../../data/pandalm.jsonl.gz");

const SCIFACT_DATASETS: [&str; 2] = ["scifact", "zbench_example"];

/// A bundled sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// Scientific claims with abstracts and labels, to be judged by the offline judges.
    #[default]
    Scifact,
    /// Prompts with the answers of language models, judged by two language models, which give
    /// reasons, and by three people, who disagree.
    Pandalm,
}

impl Sample {
    /// Its name on screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scifact => "sample",
            Self::Pandalm => "pandalm",
        }
    }

    /// Its content, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Scifact => "The bundled sample: scientific claims, and abstracts found for each.",
            Self::Pandalm => {
                "The bundled sample PandaLM: prompts, and answers that two models and three people \
                 compared."
            }
        }
    }

    /// Names of its datasets in a project.
    fn datasets(self) -> &'static [&'static str] {
        match self {
            Self::Scifact => &SCIFACT_DATASETS,
            Self::Pandalm => &["pandalm"],
        }
    }

    /// The judges whose recorded votes it contains, if no run is meant to add any.
    pub fn recorded_judges(self) -> &'static [&'static str] {
        match self {
            Self::Scifact => &[],
            Self::Pandalm => &["gpt-3.5-turbo", "pandalm-7b"],
        }
    }

    /// Adds what is not yet in the project.
    fn add(self, db: &mut Db) -> Result<(), StoreError> {
        match self {
            Self::Scifact => {
                let [claims, battles] = SCIFACT_DATASETS;
                import::datasets::add(db, SCIFACT, "scifact.jsonl", claims)?;
                let name = "zbench_example.ai_scores.json";
                import::ai_scores::add(db, [ZBENCH, ZBENCH], name, battles)?;
            }
            // Each import would give the verdicts again.
            Self::Pandalm if db.datasets()?.is_empty() => {
                let votes = BufReader::new(GzDecoder::new(PANDALM));
                import::votes::add(db, votes, "pandalm.jsonl.gz", "pandalm")?;
                db.set_final_rule(&FinalRule::Majority)?;
            }
            Self::Pandalm => {}
        }
        Ok(())
    }
}

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

/// Creates or opens a project that contains only this sample.
pub fn open_sample(path: &Path, config: &Config, sample: Sample) -> Result<Store, AppError> {
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
        .filter(|name| !sample.datasets().contains(&name.as_str()));
    if let Some(foreign) = foreign.next() {
        return Err(invalid!(
            "{}: contains queries of {:?}; the sample needs its own project",
            path.display(),
            sanitize::line(foreign)
        ));
    }
    store.write_blocking(move |db| sample.add(db))?;
    store.update_estimates()?;
    Ok(store)
}
