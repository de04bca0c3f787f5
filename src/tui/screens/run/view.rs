//! Draws calls, rates, failures, spending and the log.

use super::judge_table::JudgeTable;
use super::{failures, last, missing, notes, questions};
use crate::app::annotate::progress::{JudgeProgress, RunPhase, RunProgress};
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::gauge::gauge;
use crate::tui::widgets::{folded_rows, page_hint};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline, Widget};

/// Below this height, less important parts are omitted.
const LOW: u16 = 20;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut area = inset(area);
    let columns = usize::from(area.width);
    let hint = page_hint(Screen::RUN);
    let Some(progress) = &model.run.progress else {
        let mut lines = idle_lines(model, theme, columns);
        lines.splice(0..0, questions::line(model, theme));
        Paragraph::new(folded_rows(lines, area.height, &hint, theme)).render(area, buf);
        return Areas::default();
    };
    if let Some(line) = questions::line(model, theme) {
        line.render(cut(&mut area, 1), buf);
    }
    let low = area.height < LOW;
    let judges = JudgeTable::new(model, progress, theme, area.width);
    let failed = failure_lines(model, progress, theme, columns);
    let rows = usize::from(area.height / 6).max(3).min(failed.len()) as u16;
    let failed = folded_rows(failed, rows, &hint, theme);
    let head = head_lines(model, progress, theme, low, columns);
    let head_rows = head.len() as u16;
    let pace_rows = if low { u16::from(model.run.running) } else { 2 };
    let table_rows = judges.lines().len() as u16;
    let left = area.height.saturating_sub(head_rows + 1 + pace_rows + rows);
    let table_rows = table_rows.min(left);
    let [head_area, bar, pace, table, failures, _, log] = Layout::vertical([
        Constraint::Length(head_rows),
        Constraint::Length(1),
        Constraint::Length(pace_rows),
        Constraint::Length(table_rows),
        Constraint::Length(rows),
        Constraint::Length(u16::from(left > table_rows)),
        Constraint::Min(0),
    ])
    .areas(area);
    let head = head.into_iter();
    let head = head.map(|line| {
        if line.width() > columns {
            text::ended(&line, columns)
        } else {
            line
        }
    });
    Paragraph::new(head.collect::<Vec<_>>()).render(head_area, buf);
    let (done, total) = match progress.phase {
        RunPhase::Refitting | RunPhase::Writing => (progress.step_done, progress.step_total),
        RunPhase::Planning | RunPhase::Judging | RunPhase::Done => {
            (progress.done(), progress.total)
        }
    };
    render_bar(done, total, theme, bar, buf);
    render_pace(model, theme, pace, buf);
    let room = (usize::from(table.height), columns);
    Paragraph::new(judges.fitting(room, &hint, theme)).render(table, buf);
    Paragraph::new(failed).render(failures, buf);
    let page = usize::from(log.height.saturating_sub(1));
    log_lines(model, progress, theme, (page, columns)).render(log, buf);
    Areas {
        list: log,
        lines: progress.log.len(),
        page,
        ..Areas::default()
    }
}

/// The whole content of the screen without truncation, for a page with this many columns.
pub(super) fn page_text(model: &Model, columns: usize) -> String {
    let theme = &Theme::default();
    let Some(progress) = &model.run.progress else {
        return joined(&idle_lines(model, theme, usize::MAX));
    };
    let width = u16::try_from(columns).unwrap_or(u16::MAX);
    let mut parts = vec![
        joined(&head_lines(model, progress, theme, false, columns)),
        joined(&JudgeTable::new(model, progress, theme, width).lines()),
    ];
    let failed = failure_lines(model, progress, theme, usize::MAX);
    if !failed.is_empty() {
        parts.push(joined(&failed));
    }
    if !progress.log.is_empty() {
        let log: Vec<String> = progress.log.iter().map(ToString::to_string).collect();
        parts.push(format!("log\n{}", log.join("\n")));
    }
    parts.join("\n\n")
}

fn joined(lines: &[Line<'_>]) -> String {
    let lines = lines.iter().map(ToString::to_string);
    lines.collect::<Vec<_>>().join("\n")
}

/// Shown while this session has had no run: what is missing, and the last run.
fn idle_lines(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("Nothing is running.", theme.strong())];
    lines.extend(notes::lines(model, theme, columns));
    lines.extend(missing::lines(model, theme, columns));
    lines.extend(retry_line(model, theme, columns));
    lines.push(Line::default());
    lines.extend(last::lines(model.run.last.as_ref(), theme, columns));
    lines
}

/// Failures by cause, and how to retry them once the run has ended.
fn failure_lines(
    model: &Model,
    progress: &RunProgress,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = notes::lines(model, theme, columns);
    lines.extend(failures::lines(progress, theme, columns));
    lines.extend(retry_line(model, theme, columns));
    lines
}

/// How to retry failed calls; `None` during a run, or if none failed.
fn retry_line(model: &Model, theme: &Theme, columns: usize) -> Option<Line<'static>> {
    let failed = model.queries.failures(None);
    (failed > 0 && !model.run.running).then(|| {
        let words = format!(
            "Press {} to ask again for {}.",
            key_on(Command::StartRun, Screen::RUN),
            text::counted(failed, "failed call")
        );
        text::line(&words, columns, theme.strong())
    })
}

/// The state of the run in one sentence.
fn sentence(model: &Model, progress: &RunProgress) -> String {
    let share = match progress.total {
        0 => 1.0,
        total => progress.done() as f64 / total as f64,
    };
    let share = text::probability(share);
    let of_queries = |name: &str| match progress.step() {
        Some((_, done, all)) => format!(
            "{name}: {} of {}.",
            text::count(done),
            text::counted(all, "query")
        ),
        None => format!("{name}."),
    };
    match (model.run.running, progress.phase) {
        (false, _) => match &model.run.ended {
            Some(ended) => format!("The run has ended: {}.", ended.words),
            None => "The run has ended.".to_owned(),
        },
        (true, _) if progress.paused => format!("Paused at {share}."),
        (true, RunPhase::Planning) => of_queries("Planning"),
        (true, RunPhase::Judging) => match progress.eta_s() {
            Some(seconds) => format!(
                "{share} done, about {} left.",
                text::duration(seconds.max(0.0))
            ),
            None => format!("{share} done."),
        },
        (true, RunPhase::Refitting) => of_queries("Refitting"),
        (true, RunPhase::Writing) => of_queries("Writing"),
        (true, RunPhase::Done) => "Finishing.".to_owned(),
    }
}

/// The judge that fails most, in one line.
fn failing_line(progress: &RunProgress, theme: &Theme, columns: usize) -> Option<Line<'static>> {
    let judge = progress.failing_judge()?;
    let name = sanitize::line(&judge.name);
    let failed = format!(
        "{} of {} failed",
        text::count(judge.failures),
        text::counted(judge.calls(), "call")
    );
    let causes = judge.tally.words();
    let causes = causes.map_or_else(String::new, |causes| format!(" ({causes})"));
    let others = |other: &&JudgeProgress| other.failures > 0 && other.name != judge.name;
    let others = match progress.judges.iter().filter(others).count() {
        0 => String::new(),
        others => format!(" · failures of {}", text::counted(others, "more judge")),
    };
    let (words, style) = match &judge.stopped {
        Some(why) => (
            format!("{name} stopped: {} · {failed}{others}", sanitize::line(why)),
            theme.bad(),
        ),
        None => (format!("{name}: {failed}{causes}{others}"), theme.warn()),
    };
    Some(text::line(&words, columns, style))
}

/// Columns of the names before the figures of a run.
const LABEL: usize = 10;

fn head_lines(
    model: &Model,
    progress: &RunProgress,
    theme: &Theme,
    low: bool,
    columns: usize,
) -> Vec<Line<'static>> {
    let label = |name: &'static str| Span::styled(format!("{name:<LABEL$}"), theme.muted());
    let rate = match (model.run.running && !progress.paused, progress.phase) {
        (true, RunPhase::Judging) => format!(" · {}", progress.rate_words()),
        _ => String::new(),
    };
    let pace = match model.run.control.pace {
        Some(pace) => format!(" · {} calls/s in total", text::count(pace as u64)),
        None => String::new(),
    };
    let of_run = progress.spend();
    let total = progress.spent_before + of_run;
    let words = match model.run.control.budget_usd {
        Some(usd) => format!(
            "{} by this run; of {} by the project: {}",
            of_run.words(),
            text::usd(usd),
            total.words()
        ),
        None if progress.spent_before != Spend::default() => format!(
            "{} by this run; by the project: {}",
            of_run.words(),
            total.words()
        ),
        None => of_run.words(),
    };
    let room = columns.saturating_sub(LABEL);
    let mut spent: Vec<Line> = text::lines(&words, room, Style::new());
    for (at, line) in spent.iter_mut().enumerate() {
        line.spans
            .insert(0, label(if at == 0 { "spent" } else { "" }));
    }
    if let Some(bar) = budget_gauge(total, model.run.control.budget_usd, theme) {
        match spent.last_mut() {
            Some(last) if last.width() + 2 + bar.width() <= columns => {
                last.push_span("  ");
                last.spans.extend(bar.spans);
            }
            _ => {
                let mut bar = bar;
                bar.spans.insert(0, label(""));
                spent.push(bar);
            }
        }
    }
    let mut lines = text::lines(&sentence(model, progress), columns, theme.strong());
    lines.extend(failing_line(progress, theme, columns));
    lines.extend(missing::lines(model, theme, columns));
    let mut rows = vec![
        Line::from(vec![
            label("queries"),
            Span::raw(format!(
                "{} of {} done · {}",
                text::count(progress.queries_done),
                text::count(progress.queries),
                text::counted(progress.battles, "battle")
            )),
            Span::styled(
                match progress.already {
                    0 => String::new(),
                    votes => format!(" · {} kept from earlier runs", text::counted(votes, "vote")),
                },
                theme.muted(),
            ),
        ]),
        Line::from(vec![
            label("calls"),
            Span::raw(format!(
                "{} of {} · ",
                text::count(progress.done()),
                text::count(progress.total)
            )),
            Span::styled(
                format!("{} failed", text::count(progress.failures())),
                match progress.failures() {
                    0 => Style::new(),
                    _ => theme.bad(),
                },
            ),
            Span::raw(rate),
        ]),
        Line::from(vec![
            label("limits"),
            Span::raw(format!(
                "{}at most {} at a time for each judge{pace}",
                in_flight(model, progress),
                text::count(model.run.control.concurrency)
            )),
        ]),
    ];
    if low {
        rows.remove(2);
    }
    rows.extend(spent);
    lines.extend(rows);
    lines
}

/// The share of the budget that is spent. Calls without a known price are not in it: with some of
/// them it is a lower bound, and if no call has a price there is no share.
fn budget_gauge(total: Spend, budget_usd: Option<f64>, theme: &Theme) -> Option<Line<'static>> {
    let budget_usd = budget_usd.filter(|usd| *usd > 0.0)?;
    let share = total.told_usd()? / budget_usd;
    let fill = match share {
        0.9.. => theme.bad(),
        _ => theme.bar_fill(),
    };
    let at_least = if total.unpriced > 0 { "at least " } else { "" };
    let mut bar = Line::from(gauge(share, 10, fill, theme).to_vec());
    bar.push_span(format!(" {at_least}{:.0} %", 100.0 * share));
    Some(bar)
}

/// Calls in flight, and the current maximum of the judges; empty if no calls are being made.
fn in_flight(model: &Model, progress: &RunProgress) -> String {
    let (now, most) = progress
        .judges
        .iter()
        .filter(|judge| judge.stopped.is_none() && !judge.dropped)
        .fold((0, 0), |(now, most), judge| {
            (now + judge.in_flight, most + judge.window)
        });
    match (model.run.running, progress.phase) {
        (true, RunPhase::Judging) => {
            let (now, most) = (text::count(now), text::count(most));
            format!("{now} of {most} calls in flight, ")
        }
        _ => String::new(),
    }
}

/// A bar over the whole width with the percentage at its end; without color, it consists of `█` and
/// `░`.
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

/// Calls that ended in each of the latest seconds, with the latest on the right.
fn render_pace(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let [label, plot, most, _] = Layout::horizontal([
        Constraint::Length(10),
        Constraint::Length(60),
        Constraint::Length(24),
        Constraint::Min(0),
    ])
    .areas(Rect {
        height: area.height.min(1),
        ..area
    });
    let latest = model.run.pace.latest(usize::from(plot.width));
    let peak = latest.iter().max().copied().unwrap_or(0);
    if peak == 0 || latest.len() < 2 {
        return;
    }
    Line::styled("pace", theme.muted()).render(label, buf);
    let width = (latest.len() as u16).min(plot.width);
    Sparkline::default()
        .data(&latest)
        .style(theme.bar_fill())
        .render(Rect { width, ..plot }, buf);
    let words = format!(" peak {} calls/s", text::count(peak));
    let right = Rect {
        x: plot.x + width,
        ..most
    };
    Line::styled(words, theme.muted()).render(right, buf);
}

fn log_lines(
    model: &Model,
    progress: &RunProgress,
    theme: &Theme,
    (page, columns): (usize, usize),
) -> Paragraph<'static> {
    let mut lines = Vec::new();
    if !progress.log.is_empty() {
        lines.push(Line::styled("what happened", theme.muted()));
    }
    let end = progress.log.len().saturating_sub(model.run.log_scroll);
    let start = end.saturating_sub(page);
    for line in progress.log.iter().skip(start).take(end - start) {
        lines.push(text::line(
            &sanitize::line(&line.to_string()),
            columns,
            theme.text(),
        ));
    }
    Paragraph::new(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{CallError, FailureCause};
    use crate::tui::screens::testing::model;
    use crate::tui::testing;
    use crate::tui::theme::ColorDepth;

    fn drawn(progress: RunProgress) -> String {
        let mut model = model(Screen::RUN);
        model.run.running = true;
        model.run.progress = Some(progress);
        let area = Rect::new(0, 0, 150, 20);
        let mut buf = Buffer::empty(area);
        view(
            &model,
            Canvas::new(&Theme::new(ColorDepth::None, false), area, &mut buf),
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
        assert!(page.contains("Refitting: 75 of 300 queries."), "{page}");
        assert!(page.contains(" 25.0 %") && !page.contains("/s"), "{page}");
    }

    #[test]
    fn the_gauge_of_the_budget_does_not_count_an_unknown_price_as_nothing() {
        let theme = Theme::new(ColorDepth::None, false);
        let gauge = |known_usd: f64, unpriced: usize, budget_usd: f64| {
            let total = Spend {
                known_usd,
                unpriced,
                ..Spend::default()
            };
            budget_gauge(total, Some(budget_usd), &theme).map(|line| line.to_string())
        };
        assert_eq!(gauge(0.5, 0, 1.0).as_deref(), Some("━━━━━┄┄┄┄┄ 50 %"));
        assert_eq!(
            gauge(0.5, 3, 1.0).as_deref(),
            Some("━━━━━┄┄┄┄┄ at least 50 %")
        );
        assert_eq!(gauge(0.0, 24, 1.0), None);
        assert_eq!(gauge(0.5, 0, 0.0), None);
    }

    #[test]
    fn the_causes_of_failures_stand_next_to_their_judge() {
        let mut judge = JudgeProgress {
            name: "gpt".to_owned(),
            ..JudgeProgress::default()
        };
        judge.failed(&CallError::new(FailureCause::TimedOut, "no answer"));
        let mut progress = RunProgress::default();
        progress.judges = vec![judge];
        let page = drawn(progress);
        assert!(page.contains("failed: 1 timed out"), "{page}");
        assert!(
            page.contains("gpt: 1 of 1 call failed (1 timed out)"),
            "{page}"
        );
        assert!(!page.contains("what happened"), "{page}");
    }
}
