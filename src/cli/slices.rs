//! Values by a field of the queries: the options `--slice` and `--tags`, and their tables.

use super::command::CommandFailure;
use super::output::{self, clean, or_dash};
use crate::app::evaluate::{SliceField, SlicedMetric, SlicedRow};
use crate::app::text_format::p_value;
use crate::domain::number_words::{fixed, signed};
use crate::store::Store;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SliceOptions {
    /// Print the values by this field of the queries
    #[arg(long, value_name = "FIELD")]
    slice: Option<String>,
    /// Table or JSON lines with query_id and the field of --slice [default: the metadata of the
    /// project's queries]
    #[arg(long, value_name = "FILE", requires = "slice")]
    tags: Option<PathBuf>,
}

impl SliceOptions {
    /// Whether values by slice are wanted.
    pub(crate) fn is_given(&self) -> bool {
        self.slice.is_some()
    }

    /// The file of tags.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.tags.as_deref()
    }

    /// The field, if one is named. `open` opens the project.
    pub(crate) fn field(
        &self,
        open: impl FnOnce() -> Result<Store, CommandFailure>,
    ) -> Result<Option<SliceField>, CommandFailure> {
        Ok(match (&self.slice, &self.tags) {
            (None, _) => None,
            (Some(name), Some(path)) => Some(SliceField::of_file(path, name)?),
            (Some(name), None) => Some(SliceField::of_project(&open()?, name)?),
        })
    }

    /// As [`Self::field`], for a command that has opened the project.
    pub(crate) fn field_in(&self, store: &Store) -> Result<Option<SliceField>, CommandFailure> {
        Ok(match (&self.slice, &self.tags) {
            (None, _) => None,
            (Some(name), Some(path)) => Some(SliceField::of_file(path, name)?),
            (Some(name), None) => Some(SliceField::of_project(store, name)?),
        })
    }
}

/// A table of a metric by slice, and a sentence that names the worst one. `other` is the ranking
/// that it is compared with.
pub(crate) fn slices_table(metric: &SlicedMetric, field: &str, other: &str) -> String {
    let compared = metric.is_compared();
    let field = clean(field);
    let mut header = vec![field.as_str(), ">queries", ">mean", "95 % interval"];
    let against = format!(">minus {}", clean(other));
    if compared {
        header.extend([&against, "95 % interval", ">p (Holm)"]);
    } else {
        header.extend([">minus other queries", "95 % interval", ">p (Holm)"]);
    }
    let rows: Vec<Vec<String>> = metric.rows.iter().map(|row| cells(row, compared)).collect();
    let mut page = format!("\n{} by {field}\n", clean(&metric.metric));
    page.push_str(&output::table(&header, &rows));
    page.extend(metric.sentence(other).map(|words| format!("{words}\n")));
    page
}

fn cells(row: &SlicedRow, compared: bool) -> Vec<String> {
    let estimate = row.slice.estimate;
    let mut cells = vec![
        clean(row.name()),
        estimate.n.to_string(),
        fixed(estimate.mean, 4),
        range(estimate.interval),
    ];
    let difference = if compared {
        row.comparison
            .map(|(of, p)| (of.mean_difference, of.interval, p))
    } else {
        let rest = row.slice.rest;
        rest.map(|of| (of.difference, Some((of.low, of.high)), Some(of.p_holm)))
    };
    cells.push(or_dash(difference, |(mean, ..)| signed(mean, 4)));
    cells.push(range(difference.and_then(|(_, interval, _)| interval)));
    cells.push(or_dash(difference.and_then(|(.., p)| p), p_value));
    cells
}

fn range(interval: Option<(f64, f64)>) -> String {
    or_dash(interval, |(low, high)| {
        format!("{} to {}", fixed(low, 4), fixed(high, 4))
    })
}
