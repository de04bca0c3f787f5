//! The battles behind figures, in scratch files: in their order, and sorted by a number.

use super::{FoldedRow, StudentRow};
use crate::domain::prediction::OutcomeProbabilities;
use crate::features::student::domain::spool::{Scratch, Sorted, Sorter, Spool, SpoolError};

/// The battles of a student.
pub struct StudentRows(Spool<4>);

impl StudentRows {
    pub fn new(scratch: &dyn Scratch) -> Result<Self, SpoolError> {
        Ok(Self(Spool::new(scratch)?))
    }

    pub fn push(&mut self, row: StudentRow) -> Result<(), SpoolError> {
        let (a, b) = (row.predicted.a(), row.predicted.b());
        self.0.push([row.score, a, b, row.query as f64])
    }

    /// Number of battles.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Visits the battles in the order in which they were added, each with its index.
    pub(super) fn each(&self, mut visit: impl FnMut(usize, &StudentRow)) -> Result<(), SpoolError> {
        let (mut index, mut is_sound) = (0, true);
        self.0.each(|[score, a, b, query]| {
            match student_row(score, a, b, query) {
                Some(row) => visit(index, &row),
                None => is_sound = false,
            }
            index += 1;
        })?;
        is_sound.then_some(()).ok_or_else(SpoolError::damaged)
    }
}

fn student_row(score: f64, a: f64, b: f64, query: f64) -> Option<StudentRow> {
    Some(StudentRow {
        score,
        predicted: OutcomeProbabilities::new(a, b)?,
        query: query as usize,
    })
}

/// A battle with the number that it is sorted by.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyedRow {
    pub(super) key: f64,
    pub(super) row: StudentRow,
    pub(super) folded: FoldedRow,
    /// Its index in the order in which battles were added.
    pub(super) index: usize,
}

/// Battles that are being sorted; those with equal numbers stay in their order.
pub(super) struct SortingRows(Sorter<6>);

impl SortingRows {
    pub(super) fn new(scratch: &dyn Scratch) -> Result<Self, SpoolError> {
        Ok(Self(Sorter::new(scratch, 1)?))
    }

    pub(super) fn push(
        &mut self,
        key: f64,
        row: &StudentRow,
        index: usize,
    ) -> Result<(), SpoolError> {
        let (a, b) = (row.predicted.a(), row.predicted.b());
        self.0
            .push([key, row.score, a, b, row.query as f64, index as f64])
    }

    pub(super) fn sorted(self) -> SortedRows {
        SortedRows(self.0.sorted())
    }
}

/// Sorted battles.
pub(super) struct SortedRows(Sorted<6>);

impl SortedRows {
    /// Visits the battles in order, each with the index of its part: parts have sizes that differ
    /// by at most one.
    pub(super) fn each_in_parts(
        &self,
        parts: usize,
        mut visit: impl FnMut(usize, &KeyedRow),
    ) -> Result<(), SpoolError> {
        let n = self.0.len();
        let (mut rank, mut part, mut is_sound) = (0, 0, true);
        self.0.each(|[key, score, a, b, query, index]| {
            while rank >= (part + 1) * n / parts.max(1) {
                part += 1;
            }
            rank += 1;
            match student_row(score, a, b, query) {
                Some(row) => visit(
                    part,
                    &KeyedRow {
                        key,
                        folded: FoldedRow::of(&row),
                        row,
                        index: index as usize,
                    },
                ),
                None => is_sound = false,
            }
        })?;
        is_sound.then_some(()).ok_or_else(SpoolError::damaged)
    }

    /// Where the parts start.
    pub(super) fn starts(&self, parts: usize) -> Result<PartStarts, SpoolError> {
        let mut starts = PartStarts::default();
        self.each_in_parts(parts, |part, of| starts.add(part, of))?;
        Ok(starts)
    }
}

/// The first battle of each part of sorted battles that is not empty.
#[derive(Clone, Debug, Default)]
pub(super) struct PartStarts(Vec<(f64, usize, usize)>);

impl PartStarts {
    /// Adds the next battle in order.
    pub(super) fn add(&mut self, part: usize, of: &KeyedRow) {
        if self.0.last().is_none_or(|(.., last)| *last < part) {
            self.0.push((of.key, of.index, part));
        }
    }

    /// The part of a battle.
    pub(super) fn part(&self, key: f64, index: usize) -> usize {
        let is_before = |(start, first, _): &(f64, usize, usize)| {
            start.total_cmp(&key).then(first.cmp(&index)).is_le()
        };
        let after = self.0.partition_point(is_before);
        let start = after.checked_sub(1).and_then(|at| self.0.get(at));
        start.map_or(0, |(.., part)| *part)
    }
}
