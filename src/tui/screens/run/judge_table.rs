//! One row a judge of the run: how far it is, what its calls take and cost, and how it is being used.

use crate::app::annotate::progress::{JudgeProgress, RunProgress};
use crate::domain::sanitise;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::folded_rows;
use crate::tui::widgets::gauge::gauge;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// From this width on, what is to be said of a judge stands in its row, else below it.
pub(super) const BESIDE: u16 = 150;

const FIGURES: usize = 69;
/// Columns of the tokens, which are left out on a narrow screen.
const TOKENS: usize = 24;
const NARROW: u16 = 76;

/// Cells of a judge's bar, where there is room for one.
const JUDGE_BAR: usize = 10;

pub(super) fn render(
    progress: &RunProgress,
    chosen: usize,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
) {
    let tokens = area.width >= NARROW;
    let hidden = if tokens { 0 } else { TOKENS };
    let name_width = progress
        .judges
        .iter()
        .map(|judge| text::width(&judge.name))
        .max()
        .unwrap_or(5)
        .clamp(
            5,
            usize::from(area.width)
                .saturating_sub(FIGURES - hidden)
                .max(5),
        );
    let bars = if area.width >= 100 { JUDGE_BAR } else { 0 };
    let all_offline = progress.judges.iter().all(|judge| judge.offline);
    let read = if all_offline { "words in" } else { "tokens in" };
    let head = format!(
        "  {}  {}{:>13} {:>7}{} {:>9} {:>9}",
        text::pad_right("judge", name_width),
        " ".repeat(bars),
        "votes",
        "failed",
        match tokens {
            true => format!(" {read:>11} {:>11}", "out"),
            false => String::new(),
        },
        "a call",
        "spent"
    );
    let mut lines = vec![Line::styled(head, theme.muted())];
    for (index, judge) in progress.judges.iter().enumerate() {
        let mut line = judge_line(
            index,
            judge,
            index == chosen,
            (name_width, bars, tokens),
            theme,
        );
        let words = words_of(judge, !all_offline, theme);
        if area.width >= BESIDE {
            line.push_span(Span::raw("  "));
            line.extend(words);
            lines.push(line);
        } else {
            lines.push(line);
            if !words.is_empty() {
                let indent = std::iter::once(Span::raw("    "));
                lines.push(indent.chain(words).collect());
            }
        }
    }
    Paragraph::new(folded_rows(lines, area.height, theme)).render(area, buf);
}

/// What is to be said of a judge beside its figures, the worst first.
fn words_of(judge: &JudgeProgress, mixed: bool, theme: &Theme) -> Vec<Span<'static>> {
    let finding = judge.answers.finding_in_short();
    let finding = finding.map(|words| (words, theme.bad()));
    let flips = judge.both_orders.in_short().filter(|_| !judge.offline);
    let flips = flips.map(|words| match judge.both_orders.flips_too_often() {
        true => (words, theme.bad()),
        false => (words, Style::new()),
    });
    let state = Some(state_words(judge, mixed)).filter(|words| !words.is_empty());
    let state = state.map(|words| (words, theme.muted()));
    let mut spans = Vec::new();
    for (words, style) in [finding, flips, state].into_iter().flatten() {
        if !spans.is_empty() {
            spans.push(Span::styled(" · ", theme.muted()));
        }
        spans.push(Span::styled(words, style));
    }
    spans
}

fn judge_line(
    index: usize,
    judge: &JudgeProgress,
    chosen: bool,
    (name_width, bars, tokens): (usize, usize, bool),
    theme: &Theme,
) -> Line<'static> {
    let calls = judge.votes + judge.failures;
    let latency = if calls == 0 {
        "–".to_owned()
    } else {
        latency_words(judge.latency_ms / calls as f64)
    };
    let failed = format!("{:>7}", text::count(judge.failures));
    let share = calls as f64 / judge.total.max(1) as f64;
    let [filled, rest] = gauge(share, bars, theme.judge(index), theme);
    Line::from(vec![
        Span::raw(if chosen { "▸ " } else { "  " }),
        Span::styled(
            text::pad_right(&sanitise::line(&judge.name), name_width),
            theme.judge(index),
        ),
        Span::raw("  "),
        filled,
        rest,
        Span::raw(format!(
            "{:>6}/{:<6} ",
            text::count(judge.votes),
            text::count(judge.total)
        )),
        Span::styled(
            failed,
            if judge.failures > 0 {
                theme.bad()
            } else {
                Style::new()
            },
        ),
        Span::raw(format!(
            "{} {:>9} {:>9}",
            match tokens {
                true => format!(
                    " {:>11} {:>11}",
                    text::count(judge.usage.input),
                    text::count(judge.usage.output)
                ),
                false => String::new(),
            },
            latency,
            text::usd(judge.spent_usd + judge.assumed_usd)
        )),
    ])
}

/// How long a call takes, in the unit that suits it.
fn latency_words(ms: f64) -> String {
    if ms >= 10_000.0 {
        format!("{:.0} s", ms / 1e3)
    } else if ms >= 1_000.0 {
        format!("{:.1} s", ms / 1e3)
    } else if ms >= 10.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{ms:.2} ms")
    }
}

/// How a judge is being used, as far as that is not as usual; what an offline judge reads, where others read tokens (`mixed`).
fn state_words(judge: &JudgeProgress, mixed: bool) -> String {
    let mut words = Vec::new();
    if judge.dropped {
        words.push("dropped".to_owned());
    }
    if judge.stopped.is_some() {
        words.push("stopped".to_owned());
    }
    if let Some(causes) = judge.failure_words() {
        words.push(format!("failed: {causes}"));
    }
    if let Some(seconds) = judge.held_s {
        let why = judge.waiting_for.as_deref().unwrap_or_default();
        words.push(format!(
            "waits {:.0} s: {}",
            seconds.ceil(),
            sanitise::line(why)
        ));
    }
    if judge.votes_by_other_weights > 0 {
        let votes = text::counted(judge.votes_by_other_weights, "earlier vote");
        words.push(format!("its weights differ from those of {votes}"));
    }
    if judge.assumed_usd > 0.0 {
        words.push(format!("{} of it assumed", text::usd(judge.assumed_usd)));
    }
    if judge.retries > 0 {
        words.push(format!("{} asked again", text::count(judge.retries)));
    }
    if judge.reused > 0 {
        words.push(format!("{} reused", text::count(judge.reused)));
    }
    if !judge.offline {
        words.push(format!(
            "{} in flight, {} at most",
            text::count(judge.in_flight),
            text::count(judge.window)
        ));
    } else if mixed {
        words.push("words instead of tokens".to_owned());
    }
    if let Some(per_minute) = judge.learned_per_minute {
        words.push(format!(
            "limit reached: about {} calls a minute",
            text::count(per_minute.round() as u64)
        ));
    }
    words.extend(judge.server_notes.iter().map(|note| (*note).to_owned()));
    words.join(" · ")
}
