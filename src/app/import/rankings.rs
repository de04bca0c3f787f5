//! Imports rankings into a project.

use super::imported::{KnownQueries, without_pool};
use crate::app::error::AppError;
use crate::app::input_files::display_name;
use crate::app::text_format::counted;
use crate::client::now_ms;
use crate::domain::metrics::RankedRun;
use crate::domain::sanitize;
use crate::store::Store;
use serde::Serialize;
use std::fmt::{self, Display};
use std::path::Path;

#[derive(Clone, Debug, Serialize)]
pub struct RankingImport {
    file: String,
    ranking: String,
    queries: usize,
    replaced: bool,
    unknown_queries: usize,
}

pub(super) fn import(
    store: &Store,
    path: &Path,
    name: String,
    run: RankedRun,
) -> Result<RankingImport, AppError> {
    let known = KnownQueries::read(store)?;
    let ranking = name.clone();
    Ok(RankingImport {
        file: display_name(path),
        ranking,
        queries: run.len(),
        unknown_queries: known.lacking(run.keys()),
        replaced: store.write_blocking(move |db| db.put_ranking(&name, &run, now_ms()))?,
    })
}

impl Display for RankingImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = if self.replaced {
            "replacing the ranking with that name"
        } else {
            "new"
        };
        write!(
            f,
            "{}: ranking {} of {}, {again}{}",
            sanitize::line(&self.file),
            sanitize::line(&self.ranking),
            counted(self.queries, "query"),
            without_pool(self.unknown_queries)
        )
    }
}
