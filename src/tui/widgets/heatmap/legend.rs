//! The foot of the picture: what the colours and marks mean, what is averaged, where the cursor is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::cache::HeatmapCache;
use super::paint::{OVERRULED, PLANNED, hatch, unfought};
use super::painter::{Painter, few_colours, plain};
use super::source::HeatmapOptions;
use super::state::Zoom;

const GAP: usize = 3;

pub(super) fn lines(
    painter: &Painter<'_>,
    cache: &HeatmapCache,
    options: &HeatmapOptions<'_>,
    buf: &mut Buffer,
) {
    let foot = painter.frame.footer;
    if foot.is_empty() {
        return;
    }
    let row = |y: u16| Rect {
        y,
        height: 1,
        ..foot
    };
    let brief = foot.height == 1;
    let mut caption = caption(painter, cache, options, brief);
    if brief {
        caption.extend(legend(painter, brief));
        parts(buf, row(foot.y), &caption);
    } else {
        parts(buf, row(foot.y), &caption);
        parts(buf, row(foot.y + 1), &legend(painter, brief));
    }
}

type LegendPart = Vec<(String, Style)>;

/// Writes whole parts from the left until the next one does not fit; only the first may be cut.
fn parts(buf: &mut Buffer, area: Rect, parts: &[LegendPart]) {
    let mut x = area.x;
    for (index, part) in parts.iter().enumerate() {
        let wide: usize = part.iter().map(|(text, _)| text.width()).sum();
        let gap = if index == 0 { 0 } else { GAP };
        let room = usize::from(area.right().saturating_sub(x));
        if index > 0 && gap + wide > room {
            continue;
        }
        x += gap as u16;
        for (text, style) in part {
            let room = usize::from(area.right().saturating_sub(x));
            (x, _) = buf.set_stringn(x, area.y, text, room, *style);
        }
    }
}

fn legend(painter: &Painter<'_>, brief: bool) -> Vec<LegendPart> {
    let theme = painter.theme;
    let muted = theme.muted();
    let side = if brief { "" } else { "row " };
    let mut ramp: LegendPart = vec![(format!("{side}worse "), muted)];
    let steps = if plain(theme) || brief { 5 } else { 11 };
    for step in 0..steps {
        let heat = theme.heat(f64::from(step) / f64::from(steps - 1));
        let text = match plain(theme) {
            true => format!("{}{} ", heat.glyph, heat.sign.to_string().trim()),
            false if few_colours(theme) => format!("{}{}", heat.glyph, heat.sign),
            false if step == 0 || step == steps - 1 => heat.sign.to_string(),
            false => " ".to_owned(),
        };
        ramp.push((text, heat.style));
    }
    let gap = if plain(theme) { "" } else { " " };
    ramp.push((format!("{gap}{side}better"), muted));

    let mark = |symbol: String, style: Style, meaning: &str| -> LegendPart {
        vec![(symbol, style), (format!(" {meaning}"), muted)]
    };
    let dotted = painter.frame.view.zoom <= Zoom::Dense && !plain(theme);
    let planned = if dotted { ':' } else { PLANNED };
    let mut all = vec![
        ramp,
        mark(OVERRULED.to_string(), theme.override_mark(), "overruled"),
        mark(hatch(theme).to_string(), theme.missing(), "votes missing"),
        mark(planned.to_string(), muted, "not judged yet"),
    ];
    if painter.frame.view.zoom <= Zoom::Dense || few_colours(theme) {
        all.push(vec![("blank not fought".to_owned(), muted)]);
    } else {
        all.push(mark(
            unfought(theme).to_string(),
            theme.faint(),
            "not fought",
        ));
    }
    all
}

fn caption(
    painter: &Painter<'_>,
    cache: &HeatmapCache,
    options: &HeatmapOptions<'_>,
    brief: bool,
) -> Vec<LegendPart> {
    let theme = painter.theme;
    let view = &painter.frame.view;
    let k = painter.source.len();
    let rank = |at: usize| painter.source.margin(at).rank;
    let mut all: Vec<LegendPart> = Vec::new();
    if !options.caption.is_empty() {
        all.push(vec![(options.caption.to_owned(), theme.text())]);
    }
    let (down, across) = view.stride;
    if (down, across) != (1, 1) {
        let sample = if cache.is_sampled() { ", sampled" } else { "" };
        let text = match brief {
            true => format!("means of {down}×{across}{sample}"),
            false => format!("a cell is the mean of {down} × {across} documents{sample}"),
        };
        all.push(vec![(text, theme.text())]);
    }
    let (row, col) = (rank(painter.cursor.0), rank(painter.cursor.1));
    let place = match brief {
        true => format!("{row} × {col} of {k}"),
        false => format!("row {row} × column {col} of {k}"),
    };
    all.push(vec![(place, theme.muted())]);
    if !view.is_whole(k) {
        let range = |from: usize, n: usize| format!("{}–{}", from + 1, from + n);
        let text = format!(
            "showing rows {}, columns {}",
            range(view.offset.0, view.shown.0),
            range(view.offset.1, view.shown.1)
        );
        all.push(vec![(text, theme.muted())]);
    }
    all
}
