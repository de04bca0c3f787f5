//! The lens: the cells around the cursor as numbers, next to a picture that is too small to read.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::margin::{clipped, interval_plot, score_text};
use super::paint::square;
use super::painter::Painter;
use super::source::{CellScale, HeatCell, HeatmapOptions};

const CELL: usize = 4;
const DETAIL_LINES: usize = 7;

pub(super) fn magnify(painter: &Painter<'_>, area: Rect, scale: f64, buf: &mut Buffer) {
    let k = painter.source.len();
    let rank = k.to_string().len().max(3);
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let detail_lines = if height >= DETAIL_LINES + 6 {
        DETAIL_LINES
    } else {
        0
    };
    let cells = width.saturating_sub(rank + 2) / CELL;
    let cells = cells
        .min(height.saturating_sub(1 + detail_lines))
        .min(9)
        .min(k);
    let cells = if cells > 1 && cells < k {
        cells - 1 + cells % 2
    } else {
        cells
    };
    let first = |cursor: usize| cursor.saturating_sub(cells / 2).min(k - cells);
    let (top, left) = (first(painter.cursor.0), first(painter.cursor.1));
    let x_of = |column: usize| area.x + (rank + 2 + column * CELL) as u16;

    for column in 0..cells {
        let lit = left + column == painter.cursor.1;
        let style = if lit {
            painter.theme.strong()
        } else {
            painter.theme.muted()
        };
        let text = painter.source.rank(left + column);
        let lead = CELL.saturating_sub(text.width()) as u16;
        buf.set_stringn(x_of(column) + lead, area.y, text, CELL, style);
    }
    for line in 0..cells {
        let y = area.y + 1 + line as u16;
        let lit = top + line == painter.cursor.0;
        let style = if lit {
            painter.theme.strong()
        } else {
            painter.theme.muted()
        };
        let text = painter.source.rank(top + line);
        let lead = rank.saturating_sub(text.width()) as u16;
        buf.set_stringn(area.x + lead, y, text, rank, style);
        if lit {
            buf.set_stringn(area.x + rank as u16, y, "▸", 1, style);
        }
        for column in 0..cells {
            let at = Rect::new(x_of(column), y, CELL as u16, 1).intersection(area);
            square(painter, at, top + line, left + column, buf);
        }
    }
    if detail_lines > 0 {
        let y = area.y + cells as u16 + 2;
        details(
            painter,
            Rect {
                y,
                height: area.bottom().saturating_sub(y),
                ..area
            },
            scale,
            buf,
        );
    }
}

fn details(painter: &Painter<'_>, area: Rect, scale: f64, buf: &mut Buffer) {
    let (row, col) = painter.cursor;
    let width = usize::from(area.width);
    let mut y = area.y;
    for (name, at) in [("row", row), ("col", col)] {
        let margin = painter.source.margin(at);
        let title = format!("{name} {} ", margin.rank);
        let (x, _) = buf.set_stringn(area.x, y, &title, width, painter.theme.muted());
        clipped(
            buf,
            (x, y),
            &margin.id,
            usize::from(area.right() - x),
            painter.theme.strong(),
        );
        let score = margin.zelo.map(|zelo| (zelo, margin.se.unwrap_or(0.0)));
        let columns = width.saturating_sub(13).min(21);
        interval_plot(
            painter.theme,
            (area.x, y + 1),
            columns,
            score,
            (-scale, scale),
            buf,
        );
        let x = area.x + columns as u16 + 1;
        buf.set_stringn(
            x,
            y + 1,
            score_text(&margin),
            width.saturating_sub(columns + 1),
            painter.theme.muted(),
        );
        y += 2;
    }
    let words = cell_text(painter.source.cell(row, col), painter.options);
    for (line, y) in crate::tui::text::lines(&words, width, Style::new())
        .iter()
        .zip(y..area.bottom())
    {
        buf.set_line(area.x, y, line, area.width);
    }
}

fn cell_text(cell: HeatCell, options: &HeatmapOptions<'_>) -> String {
    if cell.diagonal {
        return "the same document".to_owned();
    }
    let mut words = match (cell.value, cell.signed) {
        (Some(_), Some(signed)) if options.scale == CellScale::Sigmas => {
            format!("{} σ from the fit", crate::tui::text::signed(signed, 1))
        }
        (Some(_), Some(signed)) => {
            format!("margin {} for the row", crate::tui::text::signed(signed, 2))
        }
        (Some(value), None) => format!("share of the row {value:.2}"),
        (None, _) if cell.answered.is_some() => format!(
            "share of the row {:.2}, from {}",
            cell.answered.unwrap_or(0.5),
            options.answers.unwrap_or("other answers")
        ),
        (None, _) if cell.planned => "planned, not judged yet".to_owned(),
        (None, _) => options.absent.unwrap_or("not scored").to_owned(),
    };
    if cell.overruled.is_some() {
        words.push_str(" · overruled");
    }
    if cell.missing {
        words.push_str(" · votes missing");
    }
    words
}
