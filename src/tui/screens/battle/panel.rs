//! The verdict panel: the keys and people's verdicts, or what the last verdict changed.

use super::{numbers, outcome};
use crate::domain::battle::Pair;
use crate::domain::ranking::{verdict_kinds_words, verdict_rule_words};
use crate::domain::sanitize;
use crate::domain::verdict::{Decision, Verdict};
use crate::tui::keymap::Scope;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::verdict::DECISIONS;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::key_rows;
use ratatui::text::Line;

/// The keys of verdicts; the given one is marked.
pub(crate) fn decision_keys(
    screen: Screen,
    given: Option<Decision>,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let keys =
        DECISIONS.map(|(command, decision, words)| (command, words, given == Some(decision)));
    key_rows(&keys, Scope::Screen(screen), theme, columns)
}

/// The keys of verdicts and people's verdicts on the pair, or what the last one changed, in at most
/// `rows` lines.
pub(super) fn lines(
    model: &Model,
    open: &OpenQuery,
    theme: &Theme,
    (columns, rows): (usize, usize),
) -> Vec<Line<'static>> {
    let (a, b) = (model.battle.a, model.battle.b);
    let pair = Pair::new(a, b);
    let own = pair.and_then(|pair| open.people.by(&model.options.annotator, pair));
    let people = pair.map_or_else(Vec::new, |pair| {
        let is_judged = own.is_some() || model.battle.before.is_some();
        let proposed = is_judged.then(|| proposals(open, pair, a, b));
        opinions(model, open, pair, model.battle.before.is_some())
            .iter()
            .chain(proposed.iter().flatten())
            .flat_map(|words| text::lines(words, columns, theme.override_mark()))
            .collect()
    });
    if let Some(before) = &model.battle.before {
        let room = rows.saturating_sub(people.len()).max(rows.min(2));
        let mut lines = outcome::lines(model, open, before, theme, (columns, room));
        lines.extend(people);
        return text::clipped(lines, columns, rows);
    }
    let given = own.map(|own| own.seen_from(a));
    let mut lines = decision_keys(Screen::BATTLE, given, theme, columns);
    lines.extend(people);
    text::clipped(lines, columns, rows)
}

/// Numbers on the pair, how a verdict on it counts, and all rank changes, for a page.
pub(super) fn page_text(model: &Model, open: &OpenQuery) -> String {
    let (a, b) = (model.battle.a, model.battle.b);
    let mut text = String::new();
    for (letter, document) in [("A", a), ("B", b)] {
        let rank = open.rank_text(document);
        let (name, title) = (open.name(document), open.headline(document));
        text += &format!("{letter}  {name}, {rank}\n   {title}\n");
    }
    text += "\n";
    for part in numbers::parts(open, a, b) {
        text += &format!("{part}\n");
    }
    if let Some(pair) = Pair::new(a, b) {
        text += "\nHow a verdict counts\n";
        let votes = open.view.votes_for(a, b).count();
        if let Some(verdict) = open.view.verdict(pair) {
            text += &format!("{}\n", in_force(open, verdict, a, b, votes));
        }
        text += &format!("{}\n", counts(open, pair, votes));
    }
    if let Some(before) = &model.battle.before {
        text += &format!("\nWhat moved\n{}", outcome::page_text(open, before));
    }
    text
}

/// People's verdicts on the pair: the effective one, of which only the reason is new if it is the
/// person's own and `own_is_known`, and the others.
fn opinions(model: &Model, open: &OpenQuery, pair: Pair, own_is_known: bool) -> Vec<String> {
    let (a, b) = (model.battle.a, model.battle.b);
    let votes = open.view.votes_for(a, b).count();
    let counting = open.view.verdict(pair);
    let others = others(open, pair, counting, (a, b));
    let first = match counting {
        Some(verdict) if own_is_known && verdict.annotator == model.options.annotator => {
            reason(verdict)
        }
        Some(verdict) => Some(in_force(open, verdict, a, b, votes)),
        None if others.is_empty() => None,
        None => Some("◆ no majority, so no verdict counts.".to_owned()),
    };
    first.into_iter().chain(others).collect()
}

/// What programs propose for the pair; nobody sees it before their own verdict.
pub(crate) fn proposals(open: &OpenQuery, pair: Pair, a: usize, b: usize) -> Vec<String> {
    let proposals = open.proposals.on(pair).into_iter();
    proposals
        .map(|proposal| {
            let words = open.decision_text(proposal.seen_from(a), a, b);
            let why = proposal.note.as_deref().unwrap_or_default();
            let (who, why) = (sanitize::line(&proposal.annotator), sanitize::line(why));
            format!("◇ {who} proposes: {words}: {why}")
        })
        .collect()
}

fn reason(verdict: &Verdict) -> Option<String> {
    let note = verdict.note.as_deref()?;
    Some(format!("Reason: {}", sanitize::line(note)))
}

/// How much a verdict on this pair would count, before there is one.
fn counts(open: &OpenQuery, pair: Pair, votes: usize) -> String {
    let settings = &open.view.settings;
    let counting = if votes == 0 {
        format!(
            "No votes on this pair: your verdict alone counts; {}.",
            verdict_kinds_words(settings)
        )
    } else {
        format!(
            "{} on this pair ({}). {}",
            counted(votes, "vote"),
            counted(open.view.battles_of(pair).len(), "battle"),
            verdict_rule_words(settings)
        )
    };
    format!("{counting} Cannot tell changes no score.")
}

/// The effective verdict in words, its effect and its reason.
fn in_force(open: &OpenQuery, verdict: &Verdict, a: usize, b: usize, votes: usize) -> String {
    let words = open.decision_text(verdict.seen_from(a), a, b);
    let who = sanitize::line(&verdict.annotator);
    let effect = match Pair::new(a, b).and_then(|pair| open.view.verdict_effect(pair)) {
        Some(effect) => effect.words(),
        None if votes == 0 => "nothing counts on this pair".to_owned(),
        None => format!("the judges' {} count", counted(votes, "vote")),
    };
    let note = reason(verdict).map_or(String::new(), |reason| format!(" {reason}"));
    format!("◆ verdict by {who}: {words} ({effect}).{note}")
}

fn others(
    open: &OpenQuery,
    pair: Pair,
    in_force: Option<&Verdict>,
    (a, b): (usize, usize),
) -> Vec<String> {
    let opinions = open.people.on(pair).into_iter();
    opinions
        .filter(|verdict| in_force.is_none_or(|in_force| in_force.annotator != verdict.annotator))
        .map(|verdict| {
            let words = open.decision_text(verdict.seen_from(a), a, b);
            let why = verdict
                .note
                .as_deref()
                .map_or(String::new(), |note| format!(" ({})", sanitize::line(note)));
            format!("{} said: {words}{why}.", sanitize::line(&verdict.annotator))
        })
        .collect()
}
