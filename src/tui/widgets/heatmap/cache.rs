//! State that a heatmap keeps between frames: scroll position, averages of the overview, and score
//! scale.

use super::frame::Viewport;
use super::source::{CellSource, HeatCell};

/// Number of standard errors on either side of a score in a 95 % interval.
pub(crate) const WITHIN_95: f64 = 1.96;

const CELLS_READ_MAX: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AverageKey {
    generation: u64,
    k: usize,
    stride: (usize, usize),
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pixel {
    sum: f64,
    present: u32,
    pub(super) planned: bool,
    pub(super) missing: bool,
    verdicts: (f64, u32),
    answers: (f64, u32),
    pub(super) diagonal: bool,
}

impl Pixel {
    pub(super) fn add(&mut self, cell: HeatCell) {
        if let Some(value) = cell.value {
            self.sum += value;
            self.present += 1;
        }
        self.planned |= cell.planned;
        self.missing |= cell.missing;
        if let Some(verdict) = cell.overruled {
            self.verdicts = (self.verdicts.0 + verdict, self.verdicts.1 + 1);
        }
        if let Some(share) = cell.answered {
            self.answers = (self.answers.0 + share, self.answers.1 + 1);
        }
        self.diagonal |= cell.diagonal;
    }

    /// The mean of its cells whose results come from answers outside battles.
    pub(super) fn answered(&self) -> Option<f64> {
        let (sum, count) = self.answers;
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The mean of its verdicts.
    pub(super) fn overruled(&self) -> Option<f64> {
        let (sum, count) = self.verdicts;
        (count > 0).then(|| sum / f64::from(count))
    }

    pub(super) fn value(&self) -> Option<f64> {
        (self.present > 0).then(|| self.sum / f64::from(self.present))
    }
}

impl From<HeatCell> for Pixel {
    fn from(cell: HeatCell) -> Self {
        let mut pixel = Self::default();
        pixel.add(cell);
        pixel
    }
}

/// State of a heatmap between frames; keep one per screen. It may be dropped at any time.
#[derive(Clone, Debug, Default)]
pub struct HeatmapCache {
    pub(super) offset: (usize, usize),
    scaled: Option<(u64, usize)>,
    scale: f64,
    averaged: Option<AverageKey>,
    columns: usize,
    pixels: Vec<Pixel>,
    scores: Vec<Option<(f64, f64)>>,
    sampled: bool,
}

impl HeatmapCache {
    /// The largest distance from 0 of any document's 95 % interval, which is the end of a margin's
    /// plot.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    pub(super) fn is_sampled(&self) -> bool {
        self.sampled
    }

    pub(super) fn pixel(&self, line: usize, column: usize) -> Pixel {
        if column >= self.columns {
            return Pixel::default();
        }
        self.pixels
            .get(line * self.columns + column)
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn score(&self, line: usize) -> Option<(f64, f64)> {
        self.scores.get(line).copied().flatten()
    }

    pub(super) fn refresh(&mut self, source: &dyn CellSource, view: &Viewport) {
        let (generation, k) = (source.generation(), source.len());
        if self.scaled != Some((generation, k)) {
            self.scaled = Some((generation, k));
            self.scale = (0..k)
                .filter_map(|at| source.score(at))
                .map(|(zelo, se)| zelo.abs() + WITHIN_95 * se.abs())
                .filter(|reach| reach.is_finite())
                .fold(0.0, f64::max);
        }
        if view.stride == (1, 1) {
            self.sampled = false;
            return;
        }
        let key = AverageKey {
            generation,
            k,
            stride: view.stride,
        };
        if self.averaged != Some(key) {
            self.averaged = Some(key);
            self.average(source, view.stride);
        }
    }

    fn average(&mut self, source: &dyn CellSource, (down, across): (usize, usize)) {
        let k = source.len();
        let columns = k.div_ceil(across);
        let mut pixels = vec![Pixel::default(); columns * k.div_ceil(down)];
        let mut add = |row: usize, col: usize, cell: HeatCell| {
            if col < k
                && let Some(pixel) = pixels.get_mut(row / down * columns + col / across)
            {
                pixel.add(cell);
            }
        };
        self.sampled = false;
        if source.visit(&mut add) {
            for at in 0..k {
                add(
                    at,
                    at,
                    HeatCell {
                        diagonal: true,
                        ..HeatCell::default()
                    },
                );
            }
        } else {
            let step = (1..k.max(2))
                .find(|step| k.div_ceil(*step).pow(2) <= CELLS_READ_MAX)
                .unwrap_or(1);
            self.sampled = step > 1;
            for row in (0..k).step_by(step) {
                for col in (0..k).step_by(step) {
                    add(row, col, source.cell(row, col));
                }
            }
        }
        self.columns = columns;
        self.pixels = pixels;
        self.scores = (0..k)
            .step_by(down)
            .map(|first| mean_score(source, first, (first + down).min(k)))
            .collect();
    }
}

fn mean_score(source: &dyn CellSource, first: usize, end: usize) -> Option<(f64, f64)> {
    let (count, zelo, se) = (first..end)
        .filter_map(|at| source.score(at))
        .fold((0.0, 0.0, 0.0), |(n, z, s), (zelo, se)| {
            (n + 1.0, z + zelo, s + se)
        });
    (count > 0.0).then(|| (zelo / count, se / count))
}
