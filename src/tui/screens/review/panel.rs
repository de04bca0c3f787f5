//! The lines below the texts: keys, decisions and statistics.

use crate::app::review::annotator_statistics::{AnnotatorStatistics, Fraction};
use crate::app::text_format::moment_words;
use crate::domain::sanitize;
use crate::domain::verdict::{Confidence, Decision, ErrorCause, Verdict};
use crate::tui::keymap::{Command, Scope, key_on};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::review::CurrentItem;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::outcome;
use crate::tui::screens::battle::panel::{decision_keys, proposals};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::Choice;
use ratatui::text::{Line, Span};

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
    let mut lines = vec![question(theme, columns)];
    if current.since.is_none() {
        lines.push(Line::styled("loading the texts …", theme.muted()));
        return lines;
    }
    lines.extend(decision_keys(Screen::REVIEW, None, theme, columns));
    lines.extend(draft(model, theme, columns));
    lines.extend(confidences(current, theme, columns));
    lines.extend(account(model, theme, columns));
    lines
}

/// The question above the keys, with a rule to the right edge.
fn question(theme: &Theme, columns: usize) -> Line<'static> {
    let words = text::truncate("Which document serves this query better? ", columns).into_owned();
    let rule = "─".repeat(columns - text::width(&words));
    Line::from(vec![
        Span::styled(words, theme.title()),
        Span::styled(rule, theme.border()),
    ])
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
    lines.extend(decision_keys(Screen::REVIEW, None, theme, columns));
    lines.extend(draft(model, theme, columns));
    lines.extend(confidences(current, theme, columns));
    lines.extend(account(model, theme, columns));
    lines
}

/// `You: A · judges A 2 : 1 B · bea B · A #6 → #4`: the decision and everyone else's, on one line.
fn headline(model: &Model, open: &OpenQuery, decision: Decision) -> String {
    let (a, b) = (model.battle.a, model.battle.b);
    let mut parts = vec![format!("You: {}", letter(decision))];
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
    let pair = model.battle.pair();
    for proposal in pair.map_or(Vec::new(), |pair| open.proposals.on(pair)) {
        let who = sanitize::line(&proposal.annotator);
        parts.push(format!(
            "◇ {who} proposes {}",
            letter(proposal.seen_from(a))
        ));
    }
    parts.push(match &model.battle.before {
        Some(before) if !is_fitting(model) => {
            let moves = [("A", a), ("B", b)].map(|(letter, document)| {
                format!("{letter} {}", outcome::rank_change(open, before, document))
            });
            moves.join(", ")
        }
        _ => "fitting the ranking …".to_owned(),
    });
    parts.join(" · ")
}

/// Whether the ranking on the screen is provisional.
fn is_fitting(model: &Model) -> bool {
    model.saving > 0 || model.is_opening()
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
    let (a, b) = (model.battle.a, model.battle.b);
    let annotator = &model.options.annotator;
    let said = open.people.on(pair).into_iter();
    let said = said.filter(|verdict| too || verdict.annotator != *annotator);
    let lines = said.flat_map(|verdict| {
        let said = open.decision_text(verdict.seen_from(a), a, b);
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

/// What programs propose for the pair.
fn proposed(model: &Model, open: &OpenQuery, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let (a, b) = (model.battle.a, model.battle.b);
    let words = model.battle.pair().into_iter();
    words
        .flat_map(|pair| proposals(open, pair, a, b))
        .flat_map(|words| text::lines(&words, columns, theme.muted()))
        .collect()
}

/// Rows that the full effect of a verdict needs; with fewer, one line names it.
const FULL: usize = 8;

/// The effects of the verdict, the cause of a disagreement, and the keys to go on.
pub(super) fn open(
    model: &Model,
    current: &CurrentItem,
    theme: &Theme,
    (columns, rows): (usize, usize),
) -> Vec<Line<'static>> {
    let (Some(open), Some(decision)) = (&model.open, current.decision) else {
        return Vec::new();
    };
    if rows < FULL {
        return brief(model, open, current, decision, theme, (columns, rows));
    }
    let mut lines = Vec::new();
    if current.first_decision != Some(decision) {
        let first = current
            .first_decision
            .map(|first| open.decision_text(first, model.battle.a, model.battle.b));
        let blind = if current.in_sight { "" } else { ", blind" };
        let words = format!("you decided first{blind}: {}", first.unwrap_or_default());
        lines.extend(text::lines(&words, columns, theme.muted()));
    }
    if let Some(note) = &current.note {
        let note = format!("reason: {}", sanitize::line(note));
        lines.extend(text::lines(&note, columns, theme.text()));
    }
    lines.extend(people(model, false, theme, columns));
    lines.extend(proposed(model, open, theme, columns));
    lines.extend(causes(current, theme, columns));
    lines.extend(confidences(current, theme, columns));
    lines.extend(account(model, theme, columns));
    let room = rows.saturating_sub(lines.len()).max(FULL / 2);
    let before = model.battle.before.as_ref();
    let effect = before.map_or_else(Vec::new, |before| {
        outcome::lines(model, open, before, theme, (columns, room))
    });
    text::clipped([effect, lines].concat(), columns, rows)
}

/// The same on a small screen: a line with the decisions and ranks, and a line with keys.
fn brief(
    model: &Model,
    open: &OpenQuery,
    current: &CurrentItem,
    decision: Decision,
    theme: &Theme,
    (columns, rows): (usize, usize),
) -> Vec<Line<'static>> {
    let words = headline(model, open, decision);
    let mut lines = vec![text::line(&words, columns, theme.override_mark())];
    if let Some(note) = current.note.as_ref().filter(|_| rows > 3) {
        let note = format!("reason: {}", sanitize::line(note));
        lines.push(text::line(&note, columns, theme.text()));
    }
    let key = |command| key_on(command, Screen::REVIEW);
    let why = match current.cause {
        Some(cause) => cause.words().to_owned(),
        None => format!(
            "{}–{} why",
            key(Command::CauseJudge),
            key(Command::CauseOther)
        ),
    };
    let change = CHANGES.map(key).join(" ");
    let keep = key(Command::Open);
    let words = format!("{why} · {keep} keep, next · {change} change it");
    lines.push(text::line(&words, columns, theme.text()));
    lines
}

/// The commands that change a verdict.
const CHANGES: [Command; 4] = [
    Command::JudgeA,
    Command::JudgeB,
    Command::JudgeTie,
    Command::CannotTell,
];

/// The keys of the causes of a disagreement, with short labels.
fn causes(current: &CurrentItem, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    CAUSES.rows(current.cause, cause_label, SCOPE, theme, columns)
}

fn cause_label(cause: ErrorCause) -> &'static str {
    match cause {
        ErrorCause::JudgeWrong => "judges wrong",
        ErrorCause::BothDefensible => "both fine",
        ErrorCause::QueryUnclear => "query unclear",
        ErrorCause::GuidelineGap => "guideline silent",
        ErrorCause::DocumentBroken => "document broken",
        ErrorCause::Other => "other cause",
    }
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
