//! The foot of the picture: the meaning of colors and marks, the averaging, and the cursor
//! position.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::cache::HeatmapCache;
use super::paint::{
    OVERRULED, OVERRULED_LOST, PLANNED, answered_style, expectation, expectation_style, half_tone,
    hatch, unfought,
};
use super::painter::{Painter, few_colors, plain};
use super::source::{CellScale, RowLabel};
use super::state::Zoom;
use crate::tui::theme::Theme;

const GAP: usize = 3;

pub(super) fn lines(painter: &Painter<'_>, cache: &HeatmapCache, buf: &mut Buffer) {
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
    let caption = caption(painter, cache, brief);
    let dense = painter.frame.view.zoom <= Zoom::Dense;
    let ramp = ramp(painter.theme, painter.options.scale, dense, brief);
    if brief {
        let mut all = vec![ramp];
        // The cursor's row and column are highlighted, so its position comes last.
        let (place, what) = caption
            .split_last()
            .map_or((None, &caption[..]), |(last, all)| (Some(last), all));
        all.extend(what.iter().cloned());
        all.extend(marks(painter, brief));
        all.extend(place.cloned());
        parts(buf, row(foot.y), &all);
    } else {
        parts(buf, row(foot.y), &caption);
        let mut all = vec![ramp];
        all.extend(marks(painter, brief));
        // A note over the last row hides no colors.
        let left = parts(buf, row(foot.y + 1), &all);
        if foot.height > 2 {
            parts(buf, row(foot.y + 2), &left);
        }
    }
}

type LegendPart = Vec<(String, Style)>;

/// Writes the parts that fit completely, from the left; only the first one may be truncated.
/// Returns those that do not fit.
fn parts(buf: &mut Buffer, area: Rect, parts: &[LegendPart]) -> Vec<LegendPart> {
    let mut x = area.x;
    let mut left = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let wide: usize = part.iter().map(|(text, _)| text.width()).sum();
        let gap = if index == 0 { 0 } else { GAP };
        let room = usize::from(area.right().saturating_sub(x));
        if index > 0 && gap + wide > room {
            left.push(part.clone());
            continue;
        }
        x += gap as u16;
        for (text, style) in part {
            let room = usize::from(area.right().saturating_sub(x));
            (x, _) = buf.set_stringn(x, area.y, text, room, *style);
        }
    }
    left
}

/// The colors of shares with their values, for a picture without a legend; `dense` if it consists
/// of half blocks.
pub fn ramp_line(theme: &Theme, dense: bool) -> Line<'static> {
    ramp(theme, CellScale::Share, dense, false)
        .into_iter()
        .map(|(text, style)| Span::styled(text, style))
        .collect()
}

/// The colors with their values: `0 ▒▒▒ ½ ▒▒▒ 1 row's share`.
fn ramp(theme: &Theme, scale: CellScale, dense: bool, brief: bool) -> LegendPart {
    let muted = theme.muted();
    let (ends, what) = match scale {
        CellScale::Share => (["0", "½", "1"], "share of the row"),
        CellScale::Margin => (["−1", "0", "+1"], "margin, + for the row"),
        CellScale::Sigmas => (["−3 σ", "0", "+3 σ"], "+ better than the fit expects"),
    };
    let steps = if brief || few_colors(theme) { 3 } else { 5 };
    let colors = |from: f64, to: f64| {
        (0..steps).map(move |step| {
            let value = from + (to - from) * f64::from(step) / f64::from(steps - 1);
            if few_colors(theme) && dense {
                // As painted in the picture, with two cells per character.
                let (half, style) = theme.heat_pair(Some(value), Some(value));
                return (half.to_string(), style);
            }
            let heat = theme.heat(value);
            let text = if few_colors(theme) {
                format!("{}{}", heat.glyph, heat.sign.to_string().trim())
            } else {
                " ".to_owned()
            };
            (text, heat.style)
        })
    };
    let mut part: LegendPart = vec![(format!("{} ", ends[0]), muted)];
    part.extend(colors(0.0, 0.4));
    part.push((format!(" {} ", ends[1]), muted));
    part.extend(colors(0.6, 1.0));
    let what = if brief {
        String::new()
    } else {
        format!(" {what}")
    };
    part.push((format!(" {}{what}", ends[2]), muted));
    part
}

/// The meaning of the marks.
fn marks(painter: &Painter<'_>, brief: bool) -> Vec<LegendPart> {
    let theme = painter.theme;
    let muted = theme.muted();
    let mark = |symbol: String, style: Style, meaning: &str| -> LegendPart {
        vec![(symbol, style), (format!(" {meaning}"), muted)]
    };
    let dotted = painter.frame.view.zoom <= Zoom::Dense && !plain(theme);
    let planned = if dotted { ':' } else { PLANNED };
    let overruled = OVERRULED.to_string();
    let mut all = vec![if plain(theme) {
        vec![(
            format!("verdict: {OVERRULED} won {OVERRULED_LOST} lost"),
            muted,
        )]
    } else {
        mark(overruled, theme.override_mark(), "overruled")
    }];
    if painter.options.gaps {
        all.extend([
            mark(hatch(theme).to_string(), theme.missing(), "votes missing"),
            mark(planned.to_string(), muted, "not judged yet"),
        ]);
    }
    let zoom = painter.frame.view.zoom;
    if let Some(cut) = painter
        .options
        .cut
        .filter(|_| painter.frame.view.stride == (1, 1))
    {
        let line = Style::new().add_modifier(Modifier::UNDERLINED);
        all.insert(
            0,
            vec![
                ("  ".to_owned(), line),
                (
                    if brief && plain(theme) {
                        // Leaves room for both symbols of a verdict.
                        format!(" top {cut}")
                    } else {
                        format!(" end of the top {cut}")
                    },
                    muted,
                ),
            ],
        );
    }
    if let Some(meaning) = painter.options.expectations.filter(|_| zoom > Zoom::Dense) {
        let mut signs: LegendPart = [0.9, 0.1, 0.5]
            .map(|expected| {
                let style = expectation_style(theme, expected);
                (format!("{} ", expectation(expected)), style)
            })
            .to_vec();
        signs.push((meaning.to_owned(), muted));
        all.insert(0, signs);
    } else if let Some(absent) = painter.options.absent {
        all.push(if zoom <= Zoom::Dense || few_colors(theme) {
            vec![(format!("blank {absent}"), muted)]
        } else {
            mark(unfought(theme).to_string(), theme.faint(), absent)
        });
    }
    if let Some(answers) = painter.options.answers {
        let style = answered_style(theme, &theme.heat(1.0));
        let words = format!("from {answers}");
        all.insert(0, mark(half_tone(theme).to_string(), style, &words));
    }
    if painter.options.labels {
        let [relevant, not] = [RowLabel::Relevant, RowLabel::NotRelevant];
        all.push(vec![
            (format!("{} ", relevant.symbol()), relevant.style(theme)),
            (not.symbol().to_string(), not.style(theme)),
            (" human label".to_owned(), muted),
        ]);
    }
    all
}

fn caption(painter: &Painter<'_>, cache: &HeatmapCache, brief: bool) -> Vec<LegendPart> {
    let theme = painter.theme;
    let view = &painter.frame.view;
    let k = painter.source.len();
    // A document without a rank is named by its position in the order.
    let rank = |at: usize| match painter.source.rank(at) {
        none if none == "–" => (at + 1).to_string(),
        rank => rank,
    };
    let mut all: Vec<LegendPart> = Vec::new();
    let (down, across) = view.stride;
    if (down, across) != (1, 1) {
        let sample = if cache.is_sampled() { ", sampled" } else { "" };
        let text = if brief {
            format!("means of {down}×{across}{sample}")
        } else {
            format!("a cell is the mean of {down} × {across} documents{sample}")
        };
        all.push(vec![(text, theme.strong())]);
    }
    let words = if brief {
        painter.options.brief
    } else {
        painter.options.caption
    };
    if !words.is_empty() {
        all.push(vec![(words.to_owned(), theme.text())]);
    }
    let (row, col) = (rank(painter.cursor.0), rank(painter.cursor.1));
    let place = vec![(format!("row {row} × column {col} of {k}"), theme.muted())];
    if !brief {
        all.push(place.clone());
    }
    if !view.is_whole(k) {
        let range = |from: usize, n: usize| format!("{}–{}", from + 1, from + n);
        let text = format!(
            "showing rows {}, columns {}",
            range(view.offset.0, view.shown.0),
            range(view.offset.1, view.shown.1)
        );
        all.push(vec![(text, theme.muted())]);
    }
    if brief {
        all.push(place);
    }
    all
}
