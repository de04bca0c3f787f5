//! The lines below the texts: keys, decisions and statistics.

use crate::app::review::annotator_statistics::{AnnotatorStatistics, Fraction};
use crate::app::text_format::moment_words;
use crate::domain::sanitize;
use crate::domain::verdict::{Confidence, Decision, ErrorCause, Verdict};
use crate::tui::keymap::{Command, Scope, key_name};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::review::CurrentItem;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::panel::decision_keys;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::Choice;
use ratatui::text::Line;

const SCOPE: Scope = Scope::Screen(Screen::REVIEW);

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
    lines.extend(decision_keys(Screen::REVIEW, theme, columns));
    lines.extend(draft(model, theme, columns));
    lines.extend(confidences(current, theme, columns));
    lines.extend(account(model, theme, columns));
    lines
}

/// The reason that was drafted before the decision.
pub(crate) fn draft(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    model.draft().map_or_else(Vec::new, |note| {
        let words = format!("reason, kept for your decision: {}", sanitize::line(note));
        text::lines(&words, columns, theme.text())
    })
}

/// If people disagree: who said what and why, shown before the verdict that resolves it.
pub(super) fn contested(
    model: &Model,
    current: &CurrentItem,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = people(model, true, theme, columns);
    lines.extend(decision_keys(Screen::REVIEW, theme, columns));
    lines.extend(draft(model, theme, columns));
    lines.extend(confidences(current, theme, columns));
    lines.extend(account(model, theme, columns));
    lines
}

/// `You: A · judges A 2 : 1 B · bea B · rank of A 6 → 4`: the decision and everyone else's, on one
/// line.
pub(super) fn headline(model: &Model, current: &CurrentItem) -> Option<String> {
    let open = model.open.as_ref()?;
    let (a, b) = (model.battle.a, model.battle.b);
    let mut parts = vec![format!("You: {}", letter(current.decision?))];
    let votes = open.view.vote_count(a, b);
    parts.push(match votes.votes() {
        0 => "no judge voted".to_owned(),
        _ => format!("judges {votes}"),
    });
    let others: Vec<String> = others(model, open)
        .map(|verdict| {
            let who = sanitize::line(&verdict.annotator);
            format!("{who} {}", letter(verdict.seen_from(a)))
        })
        .collect();
    if !others.is_empty() {
        parts.push(others.join(", "));
    }
    if model.saving > 0 || model.is_opening() {
        parts.push("fitting the ranking …".to_owned());
    } else if let Some(before) = &model.battle.before {
        let now = open.ranks();
        let moved = |document: usize, name: &str| {
            let was = before.ranks.get(document).copied().flatten()?;
            let is = now.get(document).copied().flatten()?;
            (was != is).then(|| format!("rank of {name} {was} → {is}"))
        };
        let moves: Vec<String> = [moved(a, "A"), moved(b, "B")]
            .into_iter()
            .flatten()
            .collect();
        parts.push(if moves.is_empty() {
            "ranks of A and B unchanged".to_owned()
        } else {
            moves.join(", ")
        });
    }
    Some(parts.join(" · "))
}

fn letter(decision: Decision) -> &'static str {
    match decision {
        Decision::A => "A",
        Decision::MuchA => "A by far",
        Decision::B => "B",
        Decision::MuchB => "B by far",
        Decision::Tie => "tie",
        Decision::CannotTell => "cannot tell",
    }
}

/// Other people's verdicts on the pair.
fn others<'a>(model: &'a Model, open: &'a OpenQuery) -> impl Iterator<Item = &'a Verdict> {
    let pair = model.battle.pair();
    let said = pair
        .map_or(Vec::new(), |pair| open.people.on(pair))
        .into_iter();
    said.filter(|verdict| verdict.annotator != model.options.annotator)
}

/// Who said what, when and why, one person per line; includes the current person with `too`.
fn people(model: &Model, too: bool, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let (Some(open), Some(pair)) = (&model.open, model.battle.pair()) else {
        return Vec::new();
    };
    let annotator = &model.options.annotator;
    let said = open.people.on(pair).into_iter();
    let said = said.filter(|verdict| too || verdict.annotator != *annotator);
    let lines = said.flat_map(|verdict| {
        let said = verdict.seen_from(model.battle.a).words("A", "B");
        let why = match &verdict.note {
            Some(note) => format!(": {note}"),
            None => ", no reason given".to_owned(),
        };
        let when = moment_words(verdict.created_ms);
        let who = if verdict.annotator == *annotator {
            "you"
        } else {
            &verdict.annotator
        };
        let words = format!("{who} decided on {when}: {said}{why}");
        text::lines(&sanitize::line(&words), columns, theme.override_mark())
    });
    lines.collect()
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
    let blind = if current.in_sight { "" } else { ", blind" };
    let mut words = format!(
        "your first verdict{blind}: {}",
        text_of(current.first_decision)
    );
    if current.decision != current.first_decision {
        words = format!("{words}; now: {}", text_of(current.decision));
    }
    let mut lines = text::lines(&words, columns, theme.override_mark());
    lines.extend(people(model, false, theme, columns));
    let key = |command| key_name(command, SCOPE);
    let words = format!(
        "{} keeps it and opens the next pair; {} {} {} {} change it",
        key(Command::Open),
        key(Command::JudgeA),
        key(Command::JudgeTie),
        key(Command::JudgeB),
        key(Command::CannotTell),
    );
    lines.extend(text::lines(&words, columns, theme.strong()));
    lines.extend(CAUSES.rows(current.cause, ErrorCause::words, SCOPE, theme, columns));
    lines.extend(confidences(current, theme, columns));
    if let Some(note) = &current.note {
        let note = format!("reason: {}", sanitize::line(note));
        lines.extend(text::lines(&note, columns, theme.text()));
    }
    lines.extend(account(model, theme, columns));
    lines
}

/// The statistics, starting with a warning if the pace is too fast.
fn account(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let warning = model.session.warning();
    let warning = warning.iter();
    let warning = warning.flat_map(|words| text::lines(words, columns, theme.warn()));
    let figures = statistics_lines(&model.queue.stats, theme, columns);
    warning.chain(figures).collect()
}

fn confidences(current: &CurrentItem, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    CONFIDENCES.rows(current.confidence, Confidence::words, SCOPE, theme, columns)
}

/// Number of judgments, pace, and agreement with the ensemble and with one's own repeats.
pub(crate) fn statistics_lines(
    stats: &AnnotatorStatistics,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let share = |count: &Fraction, what: &str| {
        count.share().map(|share| {
            format!(
                "{what} {} of {} ({:.0}–{:.0} %)",
                share.part,
                share.n,
                100.0 * share.interval.low,
                100.0 * share.interval.high
            )
        })
    };
    let mut parts = vec![format!("{} judged", stats.judged)];
    parts.extend(
        stats
            .per_hour()
            .map(|pace| format!("{} an hour", text::count(pace.round() as u64))),
    );
    parts.extend(share(&stats.agreement, "agree with the judges"));
    parts.extend(share(&stats.consistent, "same when asked again"));
    if let Some(changed) = stats.changed.share() {
        parts.push(format!(
            "changed after the judges were shown {} of {}, {} towards the judges",
            changed.part, changed.n, stats.swayed
        ));
    }
    let warning = stats.warning();
    let warning = warning.map(|words| text::line(words, columns, theme.warn()));
    let figures = text::parts(&parts, columns, 2, theme.muted());
    warning.into_iter().chain(figures).collect()
}
