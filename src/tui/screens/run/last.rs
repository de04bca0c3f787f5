//! Summary of the latest run, shown if this session has had none.

use super::failures;
use super::judge_table::JudgeTable;
use crate::app::annotate::progress::{JudgeProgress, RunProgress};
use crate::app::failure_tally::FailureTally;
use crate::app::text_format::moment_words;
use crate::store::last_run::LastRun;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

/// The lines about the latest run; `None` if the summary has not been read yet.
pub(super) fn lines(
    last: Option<&Option<Box<LastRun>>>,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    match last {
        None => vec![Line::styled("looking up the last run …", theme.muted())],
        Some(None) => vec![Line::styled("No run yet.", theme.strong())],
        Some(Some(run)) => summary(run, theme, columns),
    }
}

fn summary(run: &LastRun, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let state = match run.state.as_str() {
        "done" => "done",
        "cancelled" => "stopped",
        "failed" => "ended with an error",
        "killed" => "interrupted",
        _ => "interrupted, or still in progress in another program",
    };
    let mut lines = vec![Line::styled(
        format!("The last run: {state}"),
        theme.strong(),
    )];
    let mut fact = |name: &str, words: String| {
        let label = Span::styled(format!("{name:<10}"), theme.muted());
        let words = text::truncate(&words, columns.saturating_sub(10)).into_owned();
        lines.push(Line::from(vec![label, Span::raw(words)]));
    };
    let began = moment_words(run.started_ms);
    let took = run
        .ended_ms
        .map(|ended| ended.saturating_sub(run.started_ms));
    let took = took.and_then(|ms| u64::try_from(ms).ok());
    fact(
        "began",
        match took {
            Some(ms) => format!("{began}, took {}", text::duration(ms as f64 / 1000.0)),
            None => began,
        },
    );
    fact(
        "plan",
        format!("{}, seed {}", counted(run.cycles, "cycle"), run.seed),
    );
    let votes: usize = run.judges.iter().map(|judge| judge.votes).sum();
    let failed: usize = run.judges.iter().map(|judge| judge.failures).sum();
    let votes = counted(votes, "vote");
    fact("calls", format!("{votes}, {} failed", text::count(failed)));
    fact("spent", run.spend.words());
    lines.push(Line::default());
    let width = u16::try_from(columns).unwrap_or(u16::MAX);
    lines.extend(JudgeTable::of(&progress_of(run), None, false, theme, width).lines());
    let failures = failures::earlier(run, theme, columns);
    if !failures.is_empty() {
        lines.push(Line::default());
        lines.push(Line::styled("failures, by cause", theme.muted()));
        lines.extend(failures);
    }
    lines
}

/// The results of an earlier run as progress; the number of planned calls, their latency and their
/// tokens are not known.
fn progress_of(run: &LastRun) -> RunProgress {
    let judges = run.judges.iter().map(|judge| {
        let failures = run.failures.iter().filter(|one| one.judge == judge.name);
        JudgeProgress {
            name: judge.name.clone(),
            votes: judge.votes,
            failures: judge.failures,
            tally: FailureTally {
                causes: failures.map(|one| (one.cause, one.count)).collect(),
                ..FailureTally::default()
            },
            spend: judge.spend,
            ..JudgeProgress::default()
        }
    });
    let mut progress = RunProgress::default();
    progress.judges = judges.collect();
    progress
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::spend::Spend;
    use crate::judge::FailureCause;
    use crate::store::last_run::{FailuresInRun, JudgeInRun};
    use crate::tui::theme::ColorDepth;

    fn shown(last: Option<&Option<Box<LastRun>>>, columns: usize) -> String {
        let lines = lines(last, &Theme::new(ColorDepth::None, false), columns);
        let lines = lines.iter().map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn no_run_is_said_only_where_there_was_none() {
        assert!(shown(None, 80).contains("looking up"));
        assert!(shown(Some(&None), 80).contains("No run yet."));
        let failures = |judge: &str, cause, count, first_ms| FailuresInRun {
            cause,
            judge: judge.to_owned(),
            count,
            first_ms,
            last_ms: first_ms + 120_000,
        };
        let run = LastRun {
            seed: 7,
            cycles: 4,
            started_ms: 1_700_000_000_000,
            ended_ms: Some(1_700_000_185_000),
            state: "cancelled".to_owned(),
            judges: vec![JudgeInRun {
                name: "gpt\u{1b}".to_owned(),
                votes: 1,
                failures: 12,
                spend: Spend {
                    known_usd: 0.25,
                    assumed_usd: 0.5,
                    unpriced: 1,
                },
            }],
            failures: vec![
                failures("gpt", FailureCause::TimedOut, 5, 1_700_000_000_000),
                failures("mini", FailureCause::TimedOut, 4, 1_700_000_060_000),
                failures("gpt", FailureCause::RateLimited, 7, 1_700_000_000_000),
            ],
            spend: Spend {
                known_usd: 0.25,
                assumed_usd: 0.5,
                unpriced: 1,
            },
        };
        let page = shown(Some(&Some(Box::new(run))), 120);
        for words in [
            "The last run: stopped",
            "2023-11-14 22:13 UTC, took 3 min 05 s",
            "4 cycles, seed 7",
            "1 vote, 12 failed",
            "$0.75, $0.50 of it assumed at the worst price, and an unknown amount for 1 call \
             without a",
            "9 timed out · first 2023-11-14 22:13 UTC, last 2023-11-14 22:16 UTC · gpt 5, mini 4",
            "7 rate limited",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert!(!page.contains("No run yet") && !page.contains('\u{1b}'));
        assert!(page.find("timed out") < page.find("rate limited"));
    }
}
