//! One row per judge of the run: its progress, the latency and cost of its calls, and its state.

use crate::app::annotate::progress::{JudgeProgress, RunProgress};
use crate::domain::sanitize;
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::gauge::gauge;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Minimum width for showing a judge's note in its row instead of below it.
const SIDE_BY_SIDE: u16 = 150;

const FIGURES: usize = 69;
/// Columns of the tokens, which a narrow screen omits.
const TOKENS: usize = 24;
const NARROW: u16 = 76;

/// Cells of a judge's progress bar, if there is room for one.
const JUDGE_BAR: usize = 10;
const UNKNOWN: &str = "–";

/// A heading, and a row with a note for each judge.
pub(super) struct JudgeTable {
    head: Line<'static>,
    judges: Vec<JudgeRow>,
    chosen: usize,
}

struct JudgeRow {
    figures: Line<'static>,
    /// Shown below the numbers; `None` if there is no note, or there is room next to them.
    note: Option<Line<'static>>,
}

/// Properties shared by the rows of a table.
struct Shape {
    name: usize,
    /// Columns of a count of votes.
    count: usize,
    bar: usize,
    tokens: bool,
    /// Whether every judge counts words instead of tokens.
    words: bool,
    /// Whether calls can be in flight.
    running: bool,
}

impl Shape {
    fn new(progress: &RunProgress, running: bool, columns: u16) -> Self {
        let judges = || progress.judges.iter();
        let tokens = columns >= NARROW;
        let longest = |of: &dyn Fn(&JudgeProgress) -> usize| judges().map(of).max().unwrap_or(0);
        let count = longest(&|judge| text::count(judge.votes.max(judge.total)).len()).max(6);
        let hidden = if tokens { 0 } else { TOKENS };
        let room = usize::from(columns).saturating_sub(FIGURES - hidden + 2 * (count - 6));
        Self {
            name: longest(&|judge| text::width(&judge.name)).clamp(5, room.max(5)),
            count,
            bar: if columns >= 100 { JUDGE_BAR } else { 0 },
            tokens,
            words: judges().all(|judge| judge.offline),
            running,
        }
    }
}

impl JudgeTable {
    pub(super) fn new(model: &Model, progress: &RunProgress, theme: &Theme, columns: u16) -> Self {
        let chosen = Some(model.run.chosen_judge);
        Self::of(progress, chosen, model.run.running, theme, columns)
    }

    pub(super) fn of(
        progress: &RunProgress,
        chosen: Option<usize>,
        running: bool,
        theme: &Theme,
        columns: u16,
    ) -> Self {
        let shape = Shape::new(progress, running, columns);
        let unit = if shape.words { "words in" } else { "tokens in" };
        let head = format!(
            "  {}  {}{} {:>7}{} {:>9} {:>9}",
            text::pad_right("judge", shape.name),
            " ".repeat(shape.bar),
            text::pad_left("votes", 2 * shape.count + 1),
            "failed",
            if shape.tokens {
                format!(" {unit:>11} {:>11}", "out")
            } else {
                String::new()
            },
            "a call",
            "spent"
        );
        let rows = progress.judges.iter().enumerate().map(|(index, judge)| {
            let mut figures = judge_line(index, judge, chosen == Some(index), &shape, theme);
            let words = note(judge, &shape, theme);
            let fits = columns >= SIDE_BY_SIDE && !words.is_empty();
            if fits {
                figures.push_span(Span::raw("  "));
                figures.extend(words.clone());
            }
            let note = (!fits && !words.is_empty()).then(|| {
                let mut line = Line::raw("    ");
                line.extend(words);
                line
            });
            JudgeRow { figures, note }
        });
        Self {
            head: Line::styled(head, theme.muted()),
            judges: rows.collect(),
            chosen: chosen.unwrap_or(0),
        }
    }

    /// All lines of the table.
    pub(super) fn lines(&self) -> Vec<Line<'static>> {
        let rows = self.judges.iter();
        let rows = rows.flat_map(|row| [Some(row.figures.clone()), row.note.clone()]);
        let rows = rows.flatten();
        std::iter::once(self.head.clone()).chain(rows).collect()
    }

    /// As much of the table as fits, always including the chosen judge; the last row gives the
    /// number of hidden lines and the key that shows them.
    pub(super) fn fitting(
        &self,
        (rows, columns): (usize, usize),
        shown_by: &str,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let mut lines = self.lines();
        if lines.len() > rows {
            let all = lines.len();
            let judges = rows.saturating_sub(2).max(1);
            let first = (self.chosen + 1).saturating_sub(judges);
            let shown: Vec<&JudgeRow> = self.judges.iter().skip(first).take(judges).collect();
            let mut spare = judges - shown.len();
            lines = vec![self.head.clone()];
            for row in shown {
                lines.push(row.figures.clone());
                let note = row.note.as_ref().filter(|_| spare > 0);
                spare -= usize::from(note.is_some());
                lines.extend(note.cloned());
            }
            let more = text::counted(all - lines.len(), "more row");
            let words = format!("… {more} than fit: {shown_by}");
            lines.push(Line::styled(words, theme.warn()));
        }
        let cut = |line: &Line<'static>| {
            if line.width() > columns {
                text::ended(line, columns)
            } else {
                line.clone()
            }
        };
        lines.iter().map(cut).collect()
    }
}

/// The note on a judge, next to its numbers.
fn note(judge: &JudgeProgress, shape: &Shape, theme: &Theme) -> Vec<Span<'static>> {
    let mut words = Vec::new();
    if let Some(finding) = judge.answers.finding_in_short() {
        words.push(Span::styled(finding, theme.bad()));
    }
    if let Some(flips) = judge.both_orders.in_short().filter(|_| !judge.offline) {
        let style = if judge.both_orders.flips_too_often() {
            theme.bad()
        } else {
            Style::new()
        };
        words.push(Span::styled(flips, style));
    }
    let state = state_words(judge, shape);
    if !state.is_empty() {
        words.push(Span::styled(state, theme.muted()));
    }
    let count = words.len();
    let parts = words.into_iter().enumerate();
    parts
        .flat_map(|(at, words)| {
            if at + 1 < count {
                vec![words, Span::raw(" · ")]
            } else {
                vec![words]
            }
        })
        .collect()
}

fn judge_line(
    index: usize,
    judge: &JudgeProgress,
    chosen: bool,
    shape: &Shape,
    theme: &Theme,
) -> Line<'static> {
    let calls = judge.calls();
    let latency = if calls == 0 || judge.latency_ms <= 0.0 {
        UNKNOWN.to_owned()
    } else {
        latency_words(judge.latency_ms / calls as f64)
    };
    let tokens = |number: u64| match number {
        0 => UNKNOWN.to_owned(),
        number => text::count(number),
    };
    // The number of planned calls of an earlier run is not known.
    let votes = match judge.total {
        0 => format!(
            "{} ",
            text::pad_left(&text::count(judge.votes), 2 * shape.count + 1)
        ),
        total => format!(
            "{}/{} ",
            text::pad_left(&text::count(judge.votes), shape.count),
            text::pad_right(&text::count(total), shape.count)
        ),
    };
    let failed = text::count(judge.failures);
    let indent = " ".repeat(7_usize.saturating_sub(failed.len()));
    let share = match judge.total {
        0 => 0.0,
        total => calls as f64 / total as f64,
    };
    let [filled, rest] = gauge(share, shape.bar, theme.judge(index), theme);
    Line::from(vec![
        Span::raw(if chosen { "▸ " } else { "  " }),
        Span::styled(
            text::pad_right(&sanitize::line(&judge.name), shape.name),
            theme.judge(index),
        ),
        Span::raw("  "),
        filled,
        rest,
        Span::raw(votes),
        Span::raw(indent),
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
            if shape.tokens {
                format!(
                    " {:>11} {:>11}",
                    tokens(judge.usage.input),
                    tokens(judge.usage.output)
                )
            } else {
                String::new()
            },
            latency,
            judge.spend.in_short()
        )),
    ])
}

/// The latency of a call in a suitable unit.
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

/// The unusual parts of a judge's state, and its unit if it differs from the heading's.
fn state_words(judge: &JudgeProgress, shape: &Shape) -> String {
    let mut words = Vec::new();
    if judge.dropped {
        words.push("dropped".to_owned());
    }
    if judge.stopped.is_some() {
        words.push("stopped".to_owned());
    }
    if let Some(causes) = judge.tally.words() {
        words.push(format!("failed: {causes}"));
    }
    if let Some(seconds) = judge.held_s {
        let why = judge.waiting_for.as_deref().unwrap_or_default();
        words.push(format!(
            "waits {:.0} s: {}",
            seconds.ceil(),
            sanitize::line(why)
        ));
    }
    if judge.models.len() > 1 {
        let models: Vec<_> = judge
            .models
            .iter()
            .map(|of| sanitize::line(&of.model))
            .collect();
        words.push(format!("answered as {}", models.join(", then as ")));
    }
    if judge.votes_by_other_weights > 0 {
        let votes = text::counted(judge.votes_by_other_weights, "earlier vote");
        words.push(format!("its weights differ from those of {votes}"));
    }
    if judge.spend.assumed_usd > 0.0 {
        words.push(format!(
            "{} of it assumed",
            text::usd(judge.spend.assumed_usd)
        ));
    }
    if judge.spend.unpriced > 0 {
        let calls = text::counted(judge.spend.unpriced, "call");
        words.push(format!("no known price for {calls}"));
    }
    if judge.retries > 0 {
        words.push(format!("{} asked again", text::count(judge.retries)));
    }
    if judge.reused > 0 {
        words.push(format!("{} reused", text::count(judge.reused)));
    }
    if !judge.offline && shape.running {
        words.push(format!(
            "{} in flight, {} at most",
            text::count(judge.in_flight),
            text::count(judge.window)
        ));
    } else if judge.offline && shape.tokens && !shape.words {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{CallError, FailureCause};
    use crate::tui::screens::Screen;
    use crate::tui::screens::testing::model;
    use crate::tui::theme::ColorDepth;

    /// The table of three judges with one failed call each, in this many rows, with one of them
    /// chosen.
    fn shown(rows: usize, chosen: usize) -> Vec<String> {
        let mut model = model(Screen::RUN);
        model.run.chosen_judge = chosen;
        let judges = ["ada", "bob", "eve"].map(|name| {
            let mut judge = JudgeProgress {
                name: name.to_owned(),
                ..JudgeProgress::default()
            };
            judge.failed(&CallError::new(FailureCause::TimedOut, "no answer"));
            judge
        });
        let mut progress = RunProgress::default();
        progress.judges = judges.to_vec();
        let theme = Theme::new(ColorDepth::None, false);
        let table = JudgeTable::new(&model, &progress, &theme, 58);
        let lines = table.fitting((rows, 58), "K shows all", &theme);
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn where_not_all_fits_the_chosen_judge_is_there_and_how_much_is_not_is_said() {
        assert_eq!(shown(7, 0).len(), 7, "all of it");
        let page = shown(5, 0).join("\n");
        for name in ["ada", "bob", "eve"] {
            assert!(
                page.contains(name),
                "what is said of them goes first: {page}"
            );
        }
        for chosen in 0..3 {
            let lines = shown(3, chosen);
            assert_eq!(lines.len(), 3, "{lines:?}");
            assert!(
                lines[1].starts_with(&format!("▸ {}", ["ada", "bob", "eve"][chosen])),
                "{lines:?}"
            );
            assert_eq!(lines[2], "… 5 more rows than fit: K shows all");
        }
    }
}
