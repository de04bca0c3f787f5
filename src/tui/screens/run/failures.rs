//! Failures of a run by cause: how many, when, and of which judges.

use crate::app::annotate::progress::RunProgress;
use crate::app::text_format::moment_words;
use crate::domain::sanitize;
use crate::store::last_run::LastRun;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

/// One line per cause, most frequent first, for the current or just finished run.
pub(super) fn lines(progress: &RunProgress, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let after = |seconds: f64| text::duration(seconds.max(0.0));
    progress
        .failures_by_cause()
        .into_iter()
        .map(|found| {
            let times = found.times;
            let (first, last) = (after(times.first_s), after(times.last_s));
            let when = if first == last {
                format!("{first} after the start")
            } else {
                format!("first {first}, last {last} after the start")
            };
            line(
                found.count,
                &found.cause.to_string(),
                &format!("{when} · {}", judges_in_words(&found.judges)),
                found.message,
                theme,
                columns,
            )
        })
        .collect()
}

/// The same for a run that ended before the program started.
pub(super) fn earlier(run: &LastRun, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut causes = Vec::new();
    for one in &run.failures {
        if !causes.contains(&one.cause) {
            causes.push(one.cause);
        }
    }
    let of_cause = |cause| run.failures.iter().filter(move |one| one.cause == cause);
    let count = |cause| of_cause(cause).map(|one| one.count).sum::<usize>();
    causes.sort_by_key(|cause| std::cmp::Reverse(count(*cause)));
    let each = causes.into_iter().map(|cause| {
        let first = of_cause(cause).map(|one| one.first_ms).min();
        let last = of_cause(cause).map(|one| one.last_ms).max();
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        let (first, last) = (moment_words(first), moment_words(last));
        let when = if first == last {
            first
        } else {
            format!("first {first}, last {last}")
        };
        let judges: Vec<(&str, usize)> = of_cause(cause)
            .map(|one| (one.judge.as_str(), one.count))
            .collect();
        line(
            count(cause),
            &cause.to_string(),
            &format!("{when} · {}", judges_in_words(&judges)),
            "",
            theme,
            columns,
        )
    });
    each.collect()
}

fn judges_in_words(judges: &[(&str, usize)]) -> String {
    let words =
        |(name, count): &(&str, usize)| format!("{} {}", sanitize::line(name), text::count(*count));
    judges.iter().map(words).collect::<Vec<_>>().join(", ")
}

/// `message` is that of the first failure, or empty if it is unknown.
fn line(
    count: usize,
    cause: &str,
    circumstances: &str,
    message: &str,
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let count = text::count(count);
    let indent = " ".repeat(6_usize.saturating_sub(count.len()));
    let lead = format!("{count} {cause}");
    let rest = match message {
        "" => format!(" · {circumstances}"),
        message => format!(" · {circumstances} · {}", sanitize::line(message)),
    };
    let room = columns.saturating_sub(indent.len() + text::width(&lead));
    Line::from(vec![
        Span::raw(indent),
        Span::styled(lead, theme.bad()),
        Span::raw(text::truncate(&rest, room).into_owned()),
    ])
}
