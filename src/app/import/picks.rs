//! Imports picks into a project.

use super::datasets::REFUSED;
use super::imported::KnownQueries;
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{display_name, open};
use crate::app::text_format::counted;
use crate::domain::adjudication::PickRecord;
use crate::domain::sanitize;
use crate::formats::picks::read_picks;
use crate::store::Store;
use serde::Serialize;
use std::fmt::{self, Display};
use std::path::Path;

#[derive(Clone, Debug, Serialize)]
pub struct PicksImport {
    file: String,
    picks: usize,
    picks_added: usize,
    picks_of_unknown_queries: usize,
}

pub(super) fn read(path: &Path) -> Result<Vec<PickRecord>, AppError> {
    let mut problems = FileProblems::of(path);
    let picks =
        read_picks(open(path)?, &display_name(path)).filter_map(|record| problems.keep(record));
    let picks = picks.map(|(_, record)| record).collect();
    problems.refuse(REFUSED)?;
    Ok(picks)
}

pub(super) fn import(
    store: &Store,
    path: &Path,
    picks: Vec<PickRecord>,
) -> Result<PicksImport, AppError> {
    let known = KnownQueries::read(store)?;
    let count = picks.len();
    let (added, unknown) = store.write_blocking(move |db| {
        let (mut added, mut unknown) = (0, 0);
        for pick in &picks {
            if known.contains(&pick.query) {
                added += usize::from(db.add_pick(pick)?)
            } else {
                unknown += 1
            }
        }
        Ok((added, unknown))
    })?;
    Ok(PicksImport {
        file: display_name(path),
        picks: count,
        picks_added: added,
        picks_of_unknown_queries: unknown,
    })
}

impl Display for PicksImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = self.picks_of_unknown_queries;
        let left_out = match unknown {
            0 => String::new(),
            count => format!("; skipped {count} of queries that are not in the project"),
        };
        write!(
            f,
            "{}: {}, {} new, {} already there{left_out}",
            sanitize::line(&self.file),
            counted(self.picks, "pick"),
            self.picks_added,
            self.picks - unknown - self.picks_added
        )
    }
}
