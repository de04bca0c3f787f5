//! Splits areas.

use ratatui::layout::Rect;

/// The area without one column on each side.
pub(crate) fn inset(area: Rect) -> Rect {
    Rect {
        x: area.x + 1.min(area.width),
        width: area.width.saturating_sub(2),
        ..area
    }
}

pub(crate) fn cut(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    let top = Rect {
        height: rows,
        ..*area
    };
    area.y += rows;
    area.height -= rows;
    top
}

pub(crate) fn cut_bottom(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    area.height -= rows;
    Rect {
        y: area.y + area.height,
        height: rows,
        ..*area
    }
}

/// The first row of `area`, clipped to `bounds`.
pub(crate) fn first_row(area: Rect, bounds: Rect) -> Rect {
    let height = area.height.min(1);
    Rect { height, ..area }.intersection(bounds)
}

/// A box of at most `width`×`height`, centered in `area`.
pub(crate) fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}
