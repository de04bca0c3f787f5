//! The layout of a heatmap: the areas of its parts, and the documents they show.

use ratatui::layout::Rect;

use super::source::HeatmapOptions;
use super::state::{HeatmapState, Zoom};

const MARGIN_MAX: usize = 56;
/// Minimum columns for titles when the largest cells are used.
const TITLES_MIN: usize = 30;
const LENS_MIN: usize = 30;
const LENS_MAX: usize = 44;
const LENS_GAP: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// The zoom in effect; an overview in which every document has its own cell is reported as
    /// dense.
    pub zoom: Zoom,
    pub offset: (usize, usize),
    pub shown: (usize, usize),
    /// Number of documents per cell of the picture, vertically and horizontally; (1, 1) except in
    /// the overview.
    pub stride: (usize, usize),
    pub body: Rect,
}

impl Viewport {
    pub fn is_whole(&self, k: usize) -> bool {
        self.shown.0 >= k && self.shown.1 >= k
    }

    /// Row and column at a terminal position, for the mouse; a half block returns its upper half.
    pub fn at(&self, x: u16, y: u16) -> Option<(usize, usize)> {
        if !self.body.contains((x, y).into()) {
            return None;
        }
        let line = usize::from(y - self.body.y) / self.zoom.lines_a_row();
        let line = line * self.zoom.rows_a_line() * self.stride.0;
        let column = usize::from(x - self.body.x) / self.zoom.columns() * self.stride.1;
        (line < self.shown.0 && column < self.shown.1)
            .then(|| (self.offset.0 + line, self.offset.1 + column))
    }
}

pub(super) struct Frame {
    pub(super) view: Viewport,
    pub(super) header: Rect,
    pub(super) margin: Rect,
    pub(super) lens: Option<Rect>,
    pub(super) footer: Rect,
}

/// Rows of the full legend.
const FULL: u16 = 2;

struct Bands {
    header: u16,
    footer: u16,
    lines: usize,
}

fn bands(area: Rect, bare: bool) -> Bands {
    let (header, footer) = match area.height {
        _ if bare => (0, 0),
        28.. => (2, FULL),
        8.. => (1, 1),
        4.. => (1, 0),
        _ => (0, 0),
    };
    Bands {
        header,
        footer,
        lines: usize::from(area.height.saturating_sub(header + footer)),
    }
}

fn margin_min(area: Rect, zoom: Zoom, bare: bool) -> usize {
    match (area.width, zoom) {
        _ if bare => 0,
        (90.., zoom) if zoom.has_numbers() => 18,
        (60.., _) => 14,
        (24.., _) => 6,
        _ => 0,
    }
}

fn room(area: Rect, zoom: Zoom, bare: bool) -> usize {
    usize::from(area.width).saturating_sub(margin_min(area, zoom, bare))
}

/// The largest zoom at which the whole matrix of `k` documents fits in an area.
pub fn fit(k: usize, area: Rect) -> Zoom {
    let lines = bands(area, false).lines;
    [
        Zoom::Huge,
        Zoom::Large,
        Zoom::Tile,
        Zoom::Number,
        Zoom::Block,
        Zoom::Dense,
    ]
    .into_iter()
    .find(|&zoom| {
        let high = k.saturating_mul(zoom.lines_a_row()) <= lines * zoom.rows_a_line();
        let titles = if zoom >= Zoom::Large { TITLES_MIN } else { 0 };
        let columns = room(area, zoom, false).min(usize::from(area.width).saturating_sub(titles));
        high && k.saturating_mul(zoom.columns()) <= columns
    })
    .unwrap_or(Zoom::Overview)
}

/// Columns of a picture of `k` documents at this zoom, including a margin with titles.
pub fn columns_wanted(k: usize, zoom: Zoom) -> usize {
    k.saturating_mul(zoom.columns()) + MARGIN_MAX
}

/// Number of documents per half block so that everything is visible; neither direction is
/// compressed more than twice as much as the other.
fn stride(k: usize, lines: usize, columns: usize) -> (usize, usize) {
    let down = k.div_ceil((lines * 2).max(1)).max(1);
    let across = k.div_ceil(columns.max(1)).max(1);
    (down.max(across.div_ceil(2)), across.max(down.div_ceil(2)))
}

fn scroll(old: usize, cursor: usize, visible: usize, k: usize, step: usize) -> usize {
    if visible >= k || visible == 0 {
        return 0;
    }
    let lowest = (cursor + 1).saturating_sub(visible).div_ceil(step) * step;
    let highest = cursor / step * step;
    let last = (k - visible).div_ceil(step) * step;
    old.clamp(lowest, highest.max(lowest)).min(last.max(lowest)) / step * step
}

impl Frame {
    pub(super) fn new(
        area: Rect,
        k: usize,
        state: &HeatmapState,
        old: (usize, usize),
        options: &HeatmapOptions<'_>,
    ) -> Self {
        let bare = options.bare;
        let lens = options.lens && !bare;
        let Bands {
            header,
            footer,
            lines,
        } = bands(area, bare);
        let mut zoom = state.zoom.unwrap_or_else(|| fit(k, area));
        let columns = room(area, zoom, bare);
        let stride = match zoom {
            Zoom::Overview => stride(k, lines, columns),
            _ => (1, 1),
        };
        if zoom == Zoom::Overview && stride == (1, 1) {
            zoom = Zoom::Dense;
        }
        let (cell, halves) = (zoom.columns(), zoom.rows_a_line());
        let visible = (
            (lines * halves / zoom.lines_a_row()).saturating_mul(stride.0),
            (columns / cell).saturating_mul(stride.1),
        );
        let cursor = state.clamped(k);
        let offset = (
            scroll(old.0, cursor.0, visible.0, k, halves * stride.0),
            scroll(old.1, cursor.1, visible.1, k, stride.1),
        );
        let shown = (
            visible.0.min(k - offset.0.min(k)),
            visible.1.min(k - offset.1.min(k)),
        );
        let wide = shown.1.div_ceil(stride.1) * cell;
        let high = shown.0.div_ceil(stride.0).div_ceil(halves) * zoom.lines_a_row();

        let spare = usize::from(area.width).saturating_sub(wide);
        let margin = match margin_min(area, zoom, bare) {
            0 => 0,
            least => {
                let with_lens = lens && zoom <= Zoom::Dense && spare >= least + LENS_MIN + LENS_GAP;
                let most = if with_lens {
                    spare - LENS_MIN - LENS_GAP
                } else {
                    spare
                };
                most.min(MARGIN_MAX).max(least)
            }
        };
        let left = spare.saturating_sub(margin);
        let narrow = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let top = area.y + header;
        let body =
            Rect::new(area.x + narrow(margin), top, narrow(wide), narrow(high)).intersection(area);
        let lens =
            (lens && zoom <= Zoom::Dense && left >= LENS_MIN + LENS_GAP && lines >= 7).then(|| {
                let width = narrow((left - LENS_GAP).min(LENS_MAX));
                Rect::new(
                    body.right() + narrow(LENS_GAP),
                    area.y,
                    width,
                    header + narrow(lines),
                )
                .intersection(area)
            });
        // A free row below the picture shows the part of the legend that does not fit.
        let free = (area.bottom() - footer).saturating_sub(body.bottom());
        let footer = match lens {
            None if footer == FULL && free > 1 => footer + 1,
            _ => footer,
        };
        Self {
            view: Viewport {
                zoom,
                offset,
                shown,
                stride,
                body,
            },
            header: Rect::new(body.x, area.y, area.right().saturating_sub(body.x), header)
                .intersection(Rect {
                    width: body.width + 1,
                    ..Rect::new(body.x, area.y, 0, header)
                })
                .intersection(area),
            margin: Rect::new(area.x, top, narrow(margin), body.height).intersection(area),
            lens,
            footer: Rect::new(area.x, area.bottom() - footer, area.width, footer),
        }
    }
}
