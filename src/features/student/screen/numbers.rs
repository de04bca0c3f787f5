//! The numbers next to a figure: its summary, a table of its groups, and a description of the
//! selected group.

use super::plot::{SIGNS, composition};
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::features::student::domain::figure::{Figure, correlation_interval};
use crate::features::student::domain::figures::{Category, Figures, Measured};
use crate::features::student::screen::state::StudentState;
use crate::tui::canvas::Canvas;
use crate::tui::text::{self, pad_left, pad_right};
use crate::tui::theme::{ColorDepth, Theme};
use crate::tui::widgets::scroll_to;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Minimum columns for showing a group's name and its scores on one line.
pub(super) const TWO_LINES: usize = 130;

/// Columns of a table's numbers: battles, expected, observed, interval.
const COUNT: usize = 6;
const SCORE: usize = 6;
const INTERVAL: usize = 11;

/// Whether the student is calibrated, from the interval of its calibration error.
pub(super) fn answer(figures: &Figures) -> String {
    let error = figures.calibration.ece;
    let off = format!("{:.3}", error.value);
    match (error.interval, figures.calibration.ece_by_chance) {
        (Some((low, high)), Some(chance)) if low > chance => format!(
            "Not calibrated: off by {off} on average ({low:.3} to {high:.3}), {chance:.3} by chance."
        ),
        (Some(_), Some(chance)) => format!(
            "No calibration error found: off by {off} on average, {chance:.3} by chance alone."
        ),
        _ => "There are too few battles to measure its calibration.".to_owned(),
    }
}

/// The summary of a figure, and its legend.
pub(super) fn summary(
    screen: &StudentState,
    figures: &Figures,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = totals(screen, figures, theme, columns);
    lines.extend(legend(screen.figure, theme));
    lines
}

/// The summary of a figure.
pub(super) fn totals(
    screen: &StudentState,
    figures: &Figures,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let calibration = &figures.calibration;
    let mut lines = Vec::new();
    let mut say = |words: String| lines.extend(text::lines(&words, columns, theme.text()));
    match screen.figure {
        Figure::Accuracy => {
            say(match figures.consensus_accuracy {
                Some(found) => format!("accuracy {}", measured(found)),
                None => "accuracy –".to_owned(),
            });
            say(format!(
                "on {} of {}",
                counted(figures.consensus, "unanimous battle"),
                figures.n
            ));
            say(format!(
                "cross entropy {} nats",
                measured(figures.cross_entropy)
            ));
            say(format!(
                "divergence {} nats: cross entropy minus the entropy of the targets",
                number(figures.divergence())
            ));
            if let Some(order) = screen.step().and_then(|step| step.order) {
                say(format!(
                    "order: {} towards the first document, the preferred document changes on {:.0} \
                     % of {}",
                    text::signed(order.toward_first, 3),
                    100.0 * order.flips,
                    counted(order.pairs, "pair")
                ));
            }
            for note in screen.report().iter().flat_map(|report| &report.notes) {
                say(sanitize::line(note).into_owned());
            }
        }
        Figure::Buckets => {
            say(format!("ECE {}", measured(calibration.ece)));
            say(format!(
                "by chance alone {}",
                calibration.ece_by_chance.map_or_else(dash, number)
            ));
            say(format!("largest error {}", measured(calibration.mce)));
            say(format!(
                "equal width {}",
                measured(calibration.ece_equal_width)
            ));
            say(format!("Brier {}", measured(calibration.brier)));
            say(format!(
                "Brier of 3 outcomes {}",
                measured(calibration.brier_ternary)
            ));
            let parts = calibration.murphy;
            say(format!(
                "reliability {} − resolution {} + uncertainty {}",
                number(parts.reliability),
                number(parts.resolution),
                number(parts.uncertainty)
            ));
        }
        Figure::ResidualTies => {
            say(
                "below 0: P(tie) separates ties from splits where the expected score is the same"
                    .to_owned(),
            );
            say(format!(
                "E|C| with |C| over all: {}",
                figures
                    .decisiveness_correlation
                    .map_or_else(dash, |value| text::signed(value, 3))
            ));
        }
        Figure::Axes | Figure::Segments => {
            say(format!(
                "ECE of E|C| {}",
                measured(calibration.ece_decisiveness)
            ));
            say(format!(
                "weight of a prediction {:.2} battles",
                figures.mean_strength
            ));
        }
        _ => {}
    }
    lines
}

/// The legend of colors, or of the symbols used without color.
fn legend(figure: Figure, theme: &Theme) -> Vec<Line<'static>> {
    let swatch = |value: f64| {
        let (glyph, style) = theme.score_pair(Some(value), Some(value));
        Span::styled(format!("{glyph}{glyph}"), style)
    };
    let entry = |value: f64, words: &str| {
        vec![
            swatch(value),
            Span::styled(format!(" {words}  "), theme.muted()),
        ]
    };
    const CATEGORIES: [&str; 5] = ["all for", "more for", "even", "more against", "all against"];
    let category = |at: usize| {
        let mut spans = entry(1.0 - at as f64 / 4.0, CATEGORIES[at]);
        if theme.depth == ColorDepth::None {
            spans[0] = Span::raw(SIGNS[at].to_string().repeat(2));
        }
        spans
    };
    let of = |entries: &[(f64, &str)]| {
        let spans = entries
            .iter()
            .flat_map(|(value, words)| entry(*value, words));
        Line::from(spans.collect::<Vec<_>>())
    };
    match figure {
        Figure::Accuracy | Figure::ResidualTies => Vec::new(),
        Figure::Buckets => vec![Line::from(vec![
            Span::raw("○"),
            Span::styled(" expected  ", theme.muted()),
            Span::styled("●", theme.accent()),
            Span::styled(" observed, 95 %", theme.muted()),
        ])],
        Figure::Triangle => vec![of(&[(1.0, "A better"), (0.0, "B better")])],
        Figure::Fold | Figure::Axes | Figure::Segments => {
            vec![of(&[(1.0, "for favorite"), (0.0, "against")])]
        }
        Figure::Radius | Figure::Yield | Figure::Ranks => [0..2, 2..3, 3..5]
            .map(|categories| categories.flat_map(category).collect::<Line<'_>>())
            .to_vec(),
    }
}

/// Draws the groups of a figure that form a sequence, with the selected one; returns the area of
/// the rows and the first visible one.
pub(super) fn table(screen: &StudentState, canvas: Canvas<'_>) -> (Rect, usize) {
    let Canvas { theme, area, buf } = canvas;
    let mut list = area;
    let head = crate::tui::layout::cut(&mut list, 1);
    let with_interval = usize::from(area.width) >= 24 + COUNT + 2 * SCORE + INTERVAL;
    let fixed = COUNT + 2 * (SCORE + 1) + if with_interval { INTERVAL + 2 } else { 0 };
    let room = usize::from(area.width).saturating_sub(fixed + 3).min(22);
    // For ties, the buckets contain a correlation.
    let ties = screen.figure == Figure::ResidualTies;
    let heads = if ties {
        ("exp.", "corr.")
    } else {
        ("exp.", "obs.")
    };
    let mut words = format!(
        "  {} {} {} {}",
        pad_right(group_word(screen.figure), room),
        pad_left("n", COUNT),
        pad_left(heads.0, SCORE),
        pad_left(heads.1, SCORE)
    );
    if with_interval {
        words += &format!("  {}", pad_left("95 %", INTERVAL));
    }
    Line::styled(words, theme.muted()).render(head, buf);
    let first = scroll_to(0, screen.cursor, usize::from(list.height));
    let rows = screen.groups.iter().enumerate().skip(first);
    for (row, (at, group)) in list.rows().zip(rows) {
        let selected = at == screen.cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let (value, reach) = if ties {
            let found = correlation(screen, at);
            let value = found.map_or_else(dash, |(value, _)| text::signed(value, 2));
            let reach = found.and_then(|(_, interval)| interval);
            let signed = |value: f64| text::signed(value, 2);
            let reach = reach.map(|(low, high)| format!("{}…{}", signed(low), signed(high)));
            (value, reach.unwrap_or_else(dash))
        } else {
            (score(group.observed), ends(group.interval))
        };
        let mut words = format!(
            "{}{} {} {} {}",
            if selected { "▌ " } else { "  " },
            pad_right(&group.name, room),
            pad_left(&text::count(group.rows.len()), COUNT),
            pad_left(&score(group.expected), SCORE),
            pad_left(&value, SCORE)
        );
        if with_interval {
            words += &format!("  {}", pad_left(&reach, INTERVAL));
        }
        Line::raw(words).render(row, buf);
    }
    (list, first)
}

/// The property that distinguishes the rows of the table.
fn group_word(figure: Figure) -> &'static str {
    match figure {
        Figure::Accuracy => "student",
        Figure::Radius | Figure::Yield => "radius",
        Figure::Ranks => "most certain",
        _ => "bucket",
    }
}

/// The correlation of P(tie) with |C| in a bucket, with its interval.
fn correlation(screen: &StudentState, at: usize) -> Option<(f64, Option<(f64, f64)>)> {
    let of = screen.step()?.figures.residual_ties.get(at)?;
    let value = of.correlation?;
    Some((value, correlation_interval(value, of.n)))
}

/// Describes the selected group and its composition, on three lines if two are too narrow.
pub(super) fn description(
    screen: &StudentState,
    figures: &Figures,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let Some(group) = screen.group() else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let mut head = format!("{} · {}", group.name, counted(group.rows.len(), "battle"));
    if columns < TWO_LINES {
        lines.push(text::line(&head, columns, theme.strong()));
        head.clear();
    }
    let mut parts: Vec<String> = Vec::new();
    parts.extend(Some(head).filter(|head| !head.is_empty()));
    if let (Some(expected), Some(observed)) = (group.expected, group.observed) {
        let mut words = format!("expected {expected:.3}, observed {observed:.3}");
        let is_about_ties = screen.figure == Figure::ResidualTies;
        if let Some((low, high)) = group.interval.filter(|_| !is_about_ties) {
            words += &format!(" (95 %: {low:.3} to {high:.3})");
        }
        parts.push(words);
    }
    if screen.figure == Figure::ResidualTies {
        parts.push(match correlation(screen, screen.cursor) {
            Some((value, interval)) => format!(
                "correlation {} ({})",
                text::signed(value, 2),
                interval.map_or_else(dash, |(low, high)| {
                    format!("{} to {}", text::signed(low, 2), text::signed(high, 2))
                })
            ),
            None => "correlation –".to_owned(),
        });
    }
    lines.push(text::line(&parts.join(" · "), columns, theme.strong()));
    if !group.rows.is_empty() {
        let shares = composition(figures, group);
        let parts: Vec<String> = Category::ALL
            .iter()
            .zip(shares)
            .map(|(category, share)| format!("{} {}", category.name(), text::probability(share)))
            .collect();
        lines.push(text::line(&parts.join(" · "), columns, theme.muted()));
    }
    lines
}

fn dash() -> String {
    "–".to_owned()
}

fn number(value: f64) -> String {
    text::fixed(value, 4)
}

fn score(value: Option<f64>) -> String {
    value.map_or_else(dash, |value| format!("{value:.3}"))
}

fn ends(interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(dash, |(low, high)| format!("{low:.3}–{high:.3}"))
}

fn measured(of: Measured) -> String {
    match of.interval {
        Some((low, high)) => format!("{} ({low:.3} to {high:.3})", number(of.value)),
        None => number(of.value),
    }
}
