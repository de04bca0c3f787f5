use super::super::{CellSource, HeatCell, MarginRow};

/// A sparse matrix in which a smaller position always beats a larger one.
pub(super) struct Triangle {
    pub(super) k: usize,
    pub(super) overruled: Option<(usize, usize)>,
    pub(super) sparse: bool,
}

impl Triangle {
    pub(super) fn new(k: usize) -> Self {
        Self {
            k,
            overruled: None,
            sparse: false,
        }
    }
}

impl CellSource for Triangle {
    fn len(&self) -> usize {
        self.k
    }

    fn cell(&self, row: usize, col: usize) -> HeatCell {
        let apart = row.abs_diff(col);
        HeatCell {
            value: (apart > 0 && apart % 4 != 3).then_some(if row < col { 0.9 } else { 0.1 }),
            signed: None,
            expected: None,
            answered: None,
            planned: apart % 8 == 3,
            missing: apart % 16 == 1,
            overruled: (self.overruled == Some((row, col))).then_some(1.0),
            diagonal: apart == 0,
            label: None,
        }
    }

    fn margin(&self, at: usize) -> MarginRow {
        let half = self.k as f64 / 2.0;
        MarginRow {
            rank: (at + 1).to_string(),
            id: format!("doc-{at}-日本語-with-a-long-name"),
            title: format!("A title of document {at}, 日本語, that is longer than a line"),
            zelo: Some((half - at as f64) / half.max(1.0)),
            se: Some(0.2),
            flag: ' ',
            group: None,
        }
    }

    fn generation(&self) -> u64 {
        1
    }

    fn visit(&self, cell: &mut dyn FnMut(usize, usize, HeatCell)) -> bool {
        if self.sparse {
            for row in 0..self.k {
                for col in 0..self.k {
                    if row != col {
                        cell(row, col, self.cell(row, col));
                    }
                }
            }
        }
        self.sparse
    }
}
