//! The lines below the texts: keys, what has been decided, how it goes.

use crate::app::review::annotator_statistics::{AnnotatorStatistics, Fraction};
use crate::domain::sanitise;
use crate::domain::verdict::{Confidence, Decision, ErrorCause};
use crate::tui::keymap::{Command, Scope, key_name};
use crate::tui::model::Model;
use crate::tui::model::review::CurrentItem;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::panel::decision_keys;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::Choice;
use ratatui::text::Line;

const SCOPE: Scope = Scope::Screen(Screen::Review);

pub(super) const CONFIDENCES: Choice<Confidence> = Choice(&[
    (Command::Guess, Confidence::Low),
    (Command::FairlySure, Confidence::Medium),
    (Command::Sure, Confidence::High),
]);

pub(super) const CAUSES: Choice<ErrorCause> = Choice(&[
    (Command::CauseJudge, ErrorCause::JudgeWrong),
    (Command::CauseDefensible, ErrorCause::BothDefensible),
    (Command::CauseQuery, ErrorCause::QueryUnclear),
    (Command::CauseGuideline, ErrorCause::GuidelineGap),
    (Command::CauseDocument, ErrorCause::DocumentBroken),
    (Command::CauseOther, ErrorCause::Other),
]);

pub(super) fn blind(
    model: &Model,
    current: &CurrentItem,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = vec![text::rule(columns, theme.faint())];
    if current.since.is_none() {
        lines.push(Line::styled("loading the texts …", theme.muted()));
        return lines;
    }
    lines.extend(decision_keys(Screen::Review, theme, columns));
    lines.extend(confidences(current, theme, columns));
    lines.extend(statistics_lines(&model.queue.stats, theme, columns));
    lines
}

pub(super) fn open(
    model: &Model,
    current: &CurrentItem,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let text_of = |decision: Option<Decision>| {
        decision.map_or(String::new(), |decision| decision.words("A", "B"))
    };
    let mut words = format!("you said, blind: {}", text_of(current.blind));
    if current.decision != current.blind {
        words = format!("{words}; now: {}", text_of(current.decision));
    }
    let mut lines = text::lines(&words, columns, theme.override_mark());
    let enter = key_name(Command::Open, SCOPE);
    let words = format!("{enter} keeps it and goes on; a b t x and A B change it");
    lines.extend(text::lines(&words, columns, theme.strong()));
    lines.extend(CAUSES.rows(current.cause, ErrorCause::words, SCOPE, theme, columns));
    lines.extend(confidences(current, theme, columns));
    if let Some(note) = &current.note {
        let note = format!("reason: {}", sanitise::line(note));
        lines.extend(text::lines(&note, columns, theme.text()));
    }
    lines.extend(statistics_lines(&model.queue.stats, theme, columns));
    lines
}

fn confidences(current: &CurrentItem, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    CONFIDENCES.rows(current.confidence, Confidence::words, SCOPE, theme, columns)
}

/// How much has been judged, how fast, how far one agrees with the ensemble and with oneself.
pub(crate) fn statistics_lines(
    stats: &AnnotatorStatistics,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let share = |count: &Fraction, what: &str| {
        count.share().map(|share| {
            format!(
                "{what} {} of {} (95 %: {:.0}–{:.0} %)",
                share.part,
                share.n,
                100.0 * share.interval.low,
                100.0 * share.interval.high
            )
        })
    };
    let mut parts = vec![format!("{} judged", stats.judged)];
    parts.extend(stats.per_hour().map(|pace| format!("{pace:.0} an hour")));
    parts.extend(share(&stats.agreement, "you and the ensemble agree on"));
    parts.extend(share(&stats.consistent, "repeats judged alike"));
    if let Some(changed) = stats.changed.share() {
        parts.push(format!(
            "changed after the reveal {} of {}, {} towards the ensemble",
            changed.part, changed.n, stats.swayed
        ));
    }
    let words = parts.join(" · ");
    let warning = stats.warning();
    let warning = warning.map(|words| text::line(words, columns, theme.warn()));
    let figures = text::lines(&words, columns, theme.muted())
        .into_iter()
        .take(2);
    warning.into_iter().chain(figures).collect()
}
