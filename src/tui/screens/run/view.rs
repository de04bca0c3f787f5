//! Calls, rates, failures, spend, log.

use crate::app::annotate::progress::{JudgeProgress, RunPhase, RunProgress};
use crate::domain::sanitise;
use crate::judge::OFFLINE_LABEL;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::layout::inset;
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::time::Duration;

/// From this width on, what is to be said of a judge stands in its row, else below it.
const BESIDE: u16 = 150;

const FIGURES: usize = 69;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let Some(progress) = &model.run.progress else {
        let lines = vec![
            Line::default(),
            Line::styled("No run yet.", theme.strong()),
            Line::default(),
            Line::raw("Press s to judge every battle of the project that has no vote yet."),
            Line::styled(
                "Nothing that has been judged is asked again.",
                theme.muted(),
            ),
        ];
        Paragraph::new(lines).render(inset(area), buf);
        return Areas::default();
    };
    let area = inset(area);
    let beside = area.width >= BESIDE;
    let judges = progress.judges.len() as u16 * if beside { 1 } else { 2 } + 1;
    let [head, bar, _, table, _, log] = Layout::vertical([
        Constraint::Length(5),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(judges),
        Constraint::Length(1),
        Constraint::Min(1),
    ])
    .areas(area);
    head_lines(model, progress, theme).render(head, buf);
    let (done, total) = match progress.phase {
        RunPhase::Refitting | RunPhase::Writing => (progress.step_done, progress.step_total),
        RunPhase::Planning | RunPhase::Judging | RunPhase::Done => {
            (progress.done(), progress.total)
        }
    };
    render_bar(done, total, theme, bar, buf);
    judge_table(progress, model.run.chosen_judge, theme, table, buf);
    let page = usize::from(log.height.saturating_sub(1));
    log_lines(model, progress, theme, page).render(log, buf);
    Areas {
        list: log,
        lines: progress.log.len(),
        page,
        ..Areas::default()
    }
}

fn state(model: &Model, progress: &RunProgress) -> &'static str {
    match (model.run.running, progress.phase, progress.paused) {
        (false, ..) => "ended",
        (true, _, true) => "paused",
        (true, RunPhase::Planning, _) => "planning",
        (true, RunPhase::Judging, _) => "judging",
        (true, RunPhase::Refitting, _) => "refitting",
        (true, RunPhase::Writing, _) => "writing",
        (true, RunPhase::Done, _) => "finishing",
    }
}

fn head_lines(model: &Model, progress: &RunProgress, theme: &Theme) -> Paragraph<'static> {
    let label = |name: &'static str| Span::styled(format!("{name:<10}"), theme.muted());
    let left = match (model.run.running, progress.eta_s()) {
        (true, Some(seconds)) => format!(
            " · about {} left",
            text::duration(Duration::from_secs_f64(seconds.max(0.0)))
        ),
        _ => String::new(),
    };
    let rate = match (model.run.running, progress.phase) {
        (true, RunPhase::Judging) => format!(" · {}", progress.rate_words()),
        _ => String::new(),
    };
    let pace = match model.run.control.pace {
        Some(pace) => format!(" · {} calls/s in all", text::count(pace as u64)),
        None => String::new(),
    };
    let mut first = vec![
        label("state"),
        Span::styled(state(model, progress), theme.strong()),
    ];
    if let (true, Some((_, done, all))) = (model.run.running, progress.step()) {
        let (done, all) = (text::count(done as u64), text::count(all as u64));
        first.push(Span::raw(format!(" · {done} of {all} queries")));
    }
    if let (false, Some(ended)) = (model.run.running, &model.run.ended) {
        first.push(Span::raw(format!(": {ended}")));
    }
    let unpriced = match progress.unpriced {
        0 => String::new(),
        calls => format!(", {} calls without a known price", text::count(calls)),
    };
    let total = progress.spent_before_usd + progress.charged_usd();
    let budget = match model.run.control.budget_usd {
        Some(usd) => format!(
            " by this run, {} of {} by the project",
            text::usd(total),
            text::usd(usd)
        ),
        None if progress.spent_before_usd > 0.0 => {
            format!(" by this run, {} by the project", text::usd(total))
        }
        None => String::new(),
    };
    let lines = vec![
        Line::from(first),
        Line::from(vec![
            label("queries"),
            Span::raw(format!(
                "{} of {} done · {} battles",
                text::count(progress.queries_done),
                text::count(progress.queries),
                text::count(progress.battles)
            )),
            Span::styled(
                match progress.already {
                    0 => String::new(),
                    votes => format!(" · {} votes were there already", text::count(votes)),
                },
                theme.muted(),
            ),
        ]),
        Line::from(vec![
            label("calls"),
            Span::raw(format!(
                "{} of {}{rate}{left}",
                text::count(progress.done()),
                text::count(progress.total)
            )),
        ]),
        Line::from(vec![
            label("limits"),
            Span::raw(format!(
                "{}at most {} calls at a time set for each judge{pace}",
                in_flight(model, progress),
                text::count(model.run.control.concurrency)
            )),
        ]),
        Line::from(vec![
            label("spent"),
            Span::raw(format!(
                "{}{budget}{unpriced}",
                text::usd(progress.charged_usd())
            )),
            Span::raw(" · "),
            Span::styled(
                format!("{} failed", text::count(progress.failures())),
                if progress.failures() > 0 {
                    theme.bad()
                } else {
                    Style::new()
                },
            ),
        ]),
    ];
    Paragraph::new(lines)
}

/// Calls in flight now, of as many as the judges are found to take; nothing while none are made.
fn in_flight(model: &Model, progress: &RunProgress) -> String {
    let going = progress.judges.iter();
    let going = going.filter(|judge| judge.stopped.is_none() && !judge.dropped);
    let (now, most) = going.fold((0, 0), |(now, most), judge| {
        (now + judge.in_flight, most + judge.window)
    });
    match (model.run.running, progress.phase) {
        (true, RunPhase::Judging) => {
            let (now, most) = (text::count(now), text::count(most));
            format!("{now} calls in flight of at most {most} now · ")
        }
        _ => String::new(),
    }
}

/// A bar over the whole width with the share at its end; without colour it is made of `█` and `░`.
fn render_bar(done: usize, total: usize, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let share = if total == 0 {
        1.0
    } else {
        done as f64 / total as f64
    };
    let figure = if total == 0 {
        "nothing to do".to_owned()
    } else {
        format!("{:>5.1} %", 100.0 * share)
    };
    let room = usize::from(area.width).saturating_sub(figure.len() + 1);
    let filled = ((room as f64) * share).floor() as usize;
    let line = Line::from(vec![
        Span::styled("█".repeat(filled), theme.bar_fill()),
        Span::styled("░".repeat(room - filled), theme.bar_back()),
        Span::raw(format!(" {figure}")),
    ]);
    line.render(area, buf);
}

fn judge_table(progress: &RunProgress, chosen: usize, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let name_width = progress
        .judges
        .iter()
        .map(|judge| text::width(&judge.name))
        .max()
        .unwrap_or(5)
        .clamp(5, usize::from(area.width).saturating_sub(FIGURES).max(5));
    let head = format!(
        "  {}  {:>13} {:>7} {:>11} {:>11} {:>9} {:>9}",
        text::pad_right("judge", name_width),
        "votes",
        "failed",
        "tokens in",
        "out",
        "a call",
        "spent"
    );
    let mut lines = vec![Line::styled(head, theme.muted())];
    for (index, judge) in progress.judges.iter().enumerate() {
        let mut line = judge_line(index, judge, index == chosen, name_width, theme);
        let mut words = vec![Span::styled(state_words(judge), theme.muted())];
        if let Some(flips) = judge.both_orders.in_short().filter(|_| !judge.offline) {
            let style = match judge.both_orders.flips_too_often() {
                true => theme.bad(),
                false => Style::new(),
            };
            words.insert(0, Span::styled(format!("{flips} · "), style));
        }
        if let Some(finding) = judge.answers.finding_in_short() {
            words.insert(0, Span::styled(format!("{finding} · "), theme.bad()));
        }
        if area.width >= BESIDE {
            line.push_span(Span::raw("  "));
            line.extend(words);
            lines.push(line);
        } else {
            lines.push(line);
            words.insert(0, Span::raw("    "));
            lines.push(Line::from(words));
        }
    }
    Paragraph::new(lines).render(area, buf);
}

fn judge_line(
    index: usize,
    judge: &JudgeProgress,
    chosen: bool,
    name_width: usize,
    theme: &Theme,
) -> Line<'static> {
    let calls = judge.votes + judge.failures;
    let latency = if calls == 0 {
        "–".to_owned()
    } else {
        latency_words(judge.latency_ms / calls as f64)
    };
    let failed = format!("{:>7}", text::count(judge.failures));
    Line::from(vec![
        Span::raw(if chosen { "▸ " } else { "  " }),
        Span::styled(
            text::pad_right(&sanitise::line(&judge.name), name_width),
            theme.judge(index),
        ),
        Span::raw(format!(
            "  {:>6}/{:<6} ",
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
            " {:>11} {:>11} {:>9} {:>9}",
            text::count(judge.usage.input),
            text::count(judge.usage.output),
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

/// How a judge is being used, as far as that is not as usual.
fn state_words(judge: &JudgeProgress) -> String {
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
        let votes = text::count(judge.votes_by_other_weights);
        words.push(format!("other weights than those of {votes} earlier votes"));
    }
    if judge.assumed_usd > 0.0 {
        words.push(format!("{} of it assumed", text::usd(judge.assumed_usd)));
    }
    if judge.retries > 0 {
        words.push(format!("{} asked again", text::count(judge.retries)));
    }
    if judge.reused > 0 {
        words.push(format!("{} taken over", text::count(judge.reused)));
    }
    words.push(if judge.offline {
        "words, not tokens".to_owned()
    } else {
        format!(
            "{} in flight, at most {}",
            text::count(judge.in_flight),
            text::count(judge.window)
        )
    });
    if let Some(per_minute) = judge.learned_per_minute {
        words.push(format!("limit met: about {per_minute:.0} a minute"));
    }
    words.extend(judge.server_notes.iter().map(|note| (*note).to_owned()));
    words.join(" · ")
}

fn log_lines(
    model: &Model,
    progress: &RunProgress,
    theme: &Theme,
    page: usize,
) -> Paragraph<'static> {
    let mut lines = Vec::new();
    if progress.judges.iter().any(|judge| judge.offline) {
        lines.push(Line::styled(OFFLINE_LABEL, theme.warn()));
    } else {
        lines.push(Line::styled("log", theme.muted()));
    }
    let end = progress.log.len().saturating_sub(model.run.log_scroll);
    let start = end.saturating_sub(page);
    for line in progress.log.iter().skip(start).take(end - start) {
        lines.push(Line::raw(sanitise::line(line).into_owned()));
    }
    Paragraph::new(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::FailureCause;
    use crate::tui::screens::Screen;
    use crate::tui::screens::testing::model;
    use crate::tui::testing;
    use crate::tui::theme::ColourDepth;

    fn drawn(progress: RunProgress) -> String {
        let mut model = model(Screen::Run);
        model.run.running = true;
        model.run.progress = Some(progress);
        let area = Rect::new(0, 0, 150, 20);
        let mut buf = Buffer::empty(area);
        view(
            &model,
            Canvas::new(&Theme::new(ColourDepth::None, false), area, &mut buf),
            &mut Caches::default(),
        );
        testing::text(&buf)
    }

    #[test]
    fn after_the_last_vote_the_queries_count_and_there_is_no_rate() {
        let mut progress = RunProgress::default();
        progress.total = 360_000;
        progress.judges = vec![JudgeProgress {
            votes: 360_000,
            total: 360_000,
            ..JudgeProgress::default()
        }];
        progress.enter(RunPhase::Judging, 0);
        assert!(drawn(progress.clone()).contains(" · no call ended"));
        progress.enter(RunPhase::Refitting, 300);
        progress.step_done = 75;
        let page = drawn(progress);
        assert!(page.contains("refitting · 75 of 300 queries"), "{page}");
        assert!(page.contains(" 25.0 %") && !page.contains("/s"), "{page}");
    }

    #[test]
    fn the_causes_of_failures_stand_beside_their_judge() {
        let mut judge = JudgeProgress {
            name: "gpt".to_owned(),
            ..JudgeProgress::default()
        };
        judge.failed(FailureCause::TimedOut);
        let mut progress = RunProgress::default();
        progress.judges = vec![judge];
        let page = drawn(progress);
        assert!(page.contains("failed: 1 timed out"), "{page}");
    }
}
