//! The keys with the ruling, and the findings of others: picks, label and other people.

use crate::app::adjudication::data::AdjudicationList;
use crate::app::adjudication::document_evidence::{DocumentEvidence, JudgePick};
use crate::app::text_format::moment_words;
use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::{sanitize, text as words};
use crate::tui::keymap::{Command, Scope, key_name};
use crate::tui::model::Model;
use crate::tui::model::ruling::CurrentRuling;
use crate::tui::screens::Screen;
use crate::tui::screens::review::panel::draft;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::Choice;
use ratatui::text::{Line, Span};
use serde::Deserialize;
use std::ops::Range;

const SCOPE: Scope = Scope::Screen(Screen::RULING);

pub(super) const FINDINGS: Choice<Finding> = Choice(&[
    (Command::RuleRelevant, Finding::Relevant),
    (Command::RulePartially, Finding::Partially),
    (Command::RuleNot, Finding::Not),
    (Command::RuleCannotTell, Finding::CannotTell),
]);

pub(super) const CAUSES: Choice<DisagreementCause> = Choice(&[
    (Command::FaultJudgeWrong, DisagreementCause::JudgeWrong),
    (Command::FaultBoth, DisagreementCause::BothDefensible),
    (Command::FaultQuery, DisagreementCause::QueryUnclear),
    (Command::FaultLabelWrong, DisagreementCause::LabelWrong),
    (Command::FaultLabelMissing, DisagreementCause::LabelMissing),
]);

/// Maximum number of lines of a judge's reason.
const REASON: usize = 3;

/// The benchmark's metadata of a document other than its grade.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BenchmarkMetadata {
    label: Option<String>,
    evidence_sentences: Vec<usize>,
    source: Option<String>,
    first_stage_rank: Option<usize>,
}

impl BenchmarkMetadata {
    fn of(evidence: &DocumentEvidence) -> Self {
        serde_json::from_str(evidence.metadata.as_str()).unwrap_or_default()
    }
}

/// The keys with the ruling, below everything else.
pub(super) fn keys(
    model: &Model,
    current: &CurrentRuling,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = FINDINGS.rows(current.finding, Finding::words, SCOPE, theme, columns);
    if current.ruled.is_none() {
        lines.extend(draft(model, theme, columns));
    } else if current.open {
        let words = DisagreementCause::words;
        lines.extend(CAUSES.rows(current.fault, words, SCOPE, theme, columns));
        lines.extend(ruled(current, theme, columns));
    }
    let disagreements = model.adjudication.disagreements.iter();
    let left = disagreements
        .filter(|one| current.ruled.is_none() || !current.is_about(one.query, &one.document))
        .count();
    let done = model
        .adjudication
        .overview
        .as_ref()
        .map_or(0, |found| found.ruled);
    let warning = model.adjudication.session.warning();
    lines.extend(
        warning
            .iter()
            .flat_map(|words| text::lines(words, columns, theme.warn())),
    );
    let words = format!("{left} left to rule on · {done} ruled by you");
    lines.push(text::line(&words, columns, theme.muted()));
    lines
}

/// The findings of other people, the judges and the benchmark; empty while the ruling is blind.
pub(super) fn findings(
    model: &Model,
    current: &CurrentRuling,
    evidence: &DocumentEvidence,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    if !current.open {
        return Vec::new();
    }
    let mut lines = people(model, evidence, theme, columns);
    lines.extend(judges(evidence, theme, columns));
    lines.extend(label(evidence, theme, columns));
    lines
}

/// The person's ruling, and the key that confirms it.
fn ruled(current: &CurrentRuling, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let text_of = |finding: Option<Finding>| finding.map_or("", Finding::words);
    let mut words = format!("you ruled: {}", text_of(current.ruled));
    if current.finding != current.ruled {
        words = format!("{words}; now: {}", text_of(current.finding));
    }
    let enter = key_name(Command::Open, SCOPE);
    let mut lines = text::lines(
        &format!("{words} · {enter} keeps it and opens the next document"),
        columns,
        theme.override_mark(),
    );
    if let Some(note) = &current.note {
        let note = format!("reason: {}", sanitize::line(note));
        lines.extend(text::lines(&note, columns, theme.text()));
    }
    lines
}

/// `You: not relevant · label: grade 1 · picked by 1 of 3 · bea relevant`: the ruling, and everyone
/// else's findings.
pub(super) fn headline(
    model: &Model,
    current: &CurrentRuling,
    evidence: &DocumentEvidence,
) -> Option<String> {
    let finding = current.finding.filter(|_| current.open)?;
    let mut parts = vec![format!("You: {}", finding.words())];
    parts.push(match evidence.label {
        Some(grade) => format!("label: grade {grade}"),
        None => "no label".to_owned(),
    });
    let known = evidence.picks.iter().filter_map(|pick| pick.picked);
    let known: Vec<bool> = known.collect();
    if !known.is_empty() {
        let picked = known.iter().filter(|picked| **picked).count();
        parts.push(format!("picked by {picked} of {}", known.len()));
    }
    let annotator = &model.options.annotator;
    let others = evidence.rulings.iter();
    for ruling in others.filter(|ruling| ruling.annotator != *annotator) {
        let who = sanitize::line(&ruling.annotator);
        parts.push(format!("{who} {}", ruling.finding.words()));
    }
    Some(parts.join(" · "))
}

/// The benchmark's label, and its evidence.
fn label(evidence: &DocumentEvidence, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let metadata = BenchmarkMetadata::of(evidence);
    let mut words = match evidence.label {
        Some(grade) => format!("benchmark: grade {grade}"),
        None => "benchmark: no label".to_owned(),
    };
    if let Some(label) = &metadata.label {
        words = format!("{words}, {}", sanitize::line(label));
    }
    if !metadata.evidence_sentences.is_empty() {
        let sentences: Vec<String> = metadata
            .evidence_sentences
            .iter()
            .map(|at| (at + 1).to_string())
            .collect();
        words = format!("{words} by sentence {} (underlined)", sentences.join(", "));
    }
    words = match (metadata.first_stage_rank, metadata.source) {
        (Some(rank), _) => format!("{words} · hybrid rank {rank}"),
        (None, Some(_)) => format!("{words} · not found by the first stage"),
        (None, None) => words,
    };
    text::lines(&words, columns, theme.strong())
}

/// Each person's ruling, its time and its reason.
fn people(
    model: &Model,
    evidence: &DocumentEvidence,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let annotator = &model.options.annotator;
    let contested = model.adjudication.list == AdjudicationList::Contested;
    let lines = evidence
        .rulings
        .iter()
        .filter(|ruling| contested || ruling.annotator != *annotator)
        .map(|ruling| {
            let parts = [
                Some(ruling.finding.words().to_owned()),
                ruling.fault.map(|fault| fault.words().to_owned()),
                Some(ruling.note.clone().unwrap_or("no reason given".to_owned())),
            ];
            let ruled = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
            let when = moment_words(ruling.created_ms);
            let who = if ruling.annotator == *annotator {
                "you"
            } else {
                &ruling.annotator
            };
            let words = format!("{who} ruled on {when}: {ruled}");
            text::lines(&sanitize::line(&words), columns, theme.override_mark())
        });
    lines.flatten().collect()
}

/// Everything visible about a document, for a separate page: keys first, then who said what; `None`
/// while it is blind.
pub(super) fn page_text(model: &Model, columns: usize) -> Option<String> {
    let current = model.adjudication.current.as_ref()?;
    let evidence = current.evidence.as_ref().filter(|_| current.open)?;
    let theme = Theme::default();
    let headline = headline(model, current, evidence).map(Line::raw);
    let below = keys(model, current, &theme, columns);
    let findings = findings(model, current, evidence, &theme, columns);
    Some(
        headline
            .into_iter()
            .chain(below)
            .chain(findings)
            .map(|line| format!("{line}\n"))
            .collect(),
    )
}

/// The answer of each judge with its reason; judges without a reason share a line.
fn judges(evidence: &DocumentEvidence, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let (silent, reasoned): (Vec<_>, Vec<_>) = evidence
        .picks
        .iter()
        .partition(|pick| pick.reason.trim().is_empty());
    let mut lines: Vec<_> = reasoned
        .into_iter()
        .flat_map(|pick| reason(pick, theme, columns))
        .collect();
    let silent: Vec<String> = silent
        .into_iter()
        .map(|pick| format!("{} {}", sanitize::line(&pick.judge), picked_words(pick)))
        .collect();
    if !silent.is_empty() {
        lines.extend(text::lines(&silent.join(" · "), columns, theme.text()));
    }
    lines
}

fn picked_words(pick: &JudgePick) -> &'static str {
    match pick.picked {
        Some(true) => "picked",
        Some(false) => "not picked",
        None => "no evidence",
    }
}

/// A judge's pick with its reason, in a few lines.
fn reason(pick: &JudgePick, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let style = match pick.picked {
        Some(true) => theme.strong(),
        Some(false) => theme.text(),
        None => theme.warn(),
    };
    let lead = format!("{} {}", sanitize::line(&pick.judge), picked_words(pick));
    let whole = format!("{lead}: {}", sanitize::line(&pick.reason));
    text::wrap(&whole, columns)
        .into_iter()
        .take(REASON)
        .enumerate()
        .map(|(at, range)| {
            let words = whole[range].to_owned();
            if at > 0 || words.len() < lead.len() {
                return Line::styled(words, theme.muted());
            }
            Line::from(vec![
                Span::styled(lead.clone(), style),
                Span::styled(words[lead.len()..].to_owned(), theme.muted()),
            ])
        })
        .collect()
}

/// The sentences that the label is based on, as ranges of the displayed text; `None` if the data
/// does not contain them.
pub(super) fn evidence_ranges(
    evidence: &DocumentEvidence,
    shown: &str,
) -> Option<Vec<Range<usize>>> {
    let metadata = BenchmarkMetadata::of(evidence);
    if metadata.evidence_sentences.is_empty() {
        return None;
    }
    // The title comes before the text and is not counted.
    let title = evidence.title.as_deref().map(str::trim);
    let start = title
        .filter(|title| shown.starts_with(*title))
        .map_or(0, str::len);
    let body = shown.get(start..)?;
    let sentences = words::sentences(body);
    let found = metadata.evidence_sentences.iter().filter_map(|at| {
        let range = sentences.get(*at)?;
        Some(start + range.start..start + range.end)
    });
    Some(found.collect())
}
