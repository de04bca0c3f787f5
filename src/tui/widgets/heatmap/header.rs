//! The column header: ranks if they fit, or ticks at every fifth column, with the cursor's column
//! highlighted.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::painter::Painter;

const STEPS: [usize; 14] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000,
];

pub(super) fn columns(painter: &Painter<'_>, buf: &mut Buffer) {
    let header = painter.frame.header;
    if header.is_empty() {
        return;
    }
    let view = &painter.frame.view;
    let (first, end) = (view.offset.1, view.offset.1 + view.shown.1);
    let cell = view.zoom.columns();
    let label_width = painter.source.len().to_string().len();
    let step = STEPS
        .into_iter()
        .find(|step| step * cell / view.stride.1 > label_width)
        .unwrap_or(usize::MAX);
    let x_of = |at: usize| usize::from(header.x) + (at - first) / view.stride.1 * cell;
    let cursor_x = x_of(painter.cursor.1);

    for at in (first..end).filter(|at| (at + 1) % step == 0 || (*at == 0 && step > 1)) {
        let x = x_of(at);
        let near = x.abs_diff(cursor_x) <= label_width + 1 && !view.zoom.has_numbers();
        if !near {
            label(painter, at, x, false, buf);
        }
    }
    label(painter, painter.cursor.1, cursor_x, true, buf);
    if cell > 1 {
        let lit = Rect::new(cursor_x as u16, header.y, cell as u16, header.height);
        if let Some(tint) = painter.theme.selection().bg {
            buf.set_style(lit.intersection(header), Style::new().bg(tint));
        }
    }

    if header.height > 1 {
        let tick = step.min(5).max(step / 2);
        let y = header.y + 1;
        for at in (first..end).filter(|at| step > 1 && (at + 1) % tick == 0) {
            let x = x_of(at) as u16;
            buf.set_stringn(
                x,
                y,
                "╷",
                usize::from(header.right().saturating_sub(x)),
                painter.theme.faint(),
            );
        }
        let lead = if cell >= 4 { cell / 2 } else { 0 };
        let x = (cursor_x + lead) as u16;
        let room = usize::from(header.right().saturating_sub(x));
        buf.set_stringn(
            x,
            y,
            if cell == 2 { "▾▾" } else { "▾" },
            room,
            painter.theme.strong(),
        );
    }
}

fn label(painter: &Painter<'_>, at: usize, x: usize, lit: bool, buf: &mut Buffer) {
    let header = painter.frame.header;
    let rank = painter.source.rank(at);
    let lead = match painter.frame.view.zoom.columns() {
        4 => 4usize.saturating_sub(rank.width()),
        wide @ 5.. => (wide / 2 + 1).saturating_sub(rank.width() / 2),
        _ => 0,
    };
    let last = usize::from(header.right()).saturating_sub(rank.width());
    let x = (x + lead).min(last).max(usize::from(header.x)) as u16;
    let style = if lit {
        painter.theme.strong()
    } else {
        painter.theme.muted()
    };
    buf.set_stringn(
        x,
        header.y,
        rank,
        usize::from(header.right().saturating_sub(x)),
        style,
    );
}
