//! The judges' answers on a battle, converted to the screen's A and B.

use crate::app::embedded_reasoning::REASONING_GONE;
use crate::domain::battle::{Battle, Pair};
use crate::domain::ranking::OrderEffect;
use crate::domain::reasoning::{self, OTHER_ORDER, OrientedReasoning};
use crate::domain::sanitize;
use crate::domain::vote::{JudgeId, Margin, Outcome};
use crate::store::vote_details::{VoteDetail, VoteReasoning};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::document_text::PreparedText;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of bytes of a reasoning shown.
const SHOWN_BYTES: usize = 20_000;
/// Maximum number of quotes of one reasoning to look up.
const LOOKED_UP: usize = 24;
/// Marks a quote that is in neither text.
const NOT_IN_TEXT: &str = " [not in text]";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CallResult {
    /// A vote, negative if it prefers the screen's A.
    Prefers(Margin),
    /// The call failed and is unresolved.
    Failed,
    NotRun,
    /// A round chose other judges for this battle.
    NotAsked,
}

#[derive(Debug)]
pub(crate) struct JudgeCall<'a> {
    pub index: usize,
    pub name: String,
    /// 0 for the pair's first battle.
    pub game: u32,
    pub result: CallResult,
    /// The margins with the screen's A first and with B first, and the effect of the order, if the
    /// judge was asked in both.
    pub by_order: Option<([Margin; 2], OrderEffect)>,
    /// Whether the judge was shown the screen's B first, if known.
    pub b_first: Option<bool>,
    pub loaded: bool,
    pub detail: Option<&'a VoteDetail>,
}

/// Each judge's call on a battle, in ensemble order, with document `a` as A.
pub(crate) fn of_battle(open: &OpenQuery, index: usize, a: usize) -> Vec<JudgeCall<'_>> {
    let Some(record) = open.view.rows().battles.get(index) else {
        return Vec::new();
    };
    let turned = record.battle.a != a;
    let details = open.votes.get(&record.battle.id);
    let one = |(index, (judge, _)): (usize, &(JudgeId, _))| {
        let detail =
            details.and_then(|details| details.iter().find(|detail| detail.judge == *judge));
        let vote = record.votes.iter().find(|vote| vote.judge == *judge);
        let result = match vote {
            Some(vote) if turned => CallResult::Prefers(vote.margin.flipped()),
            Some(vote) => CallResult::Prefers(vote.margin),
            None if record.failed.contains(judge) => CallResult::Failed,
            None if record.is_asked(*judge) => CallResult::NotRun,
            None => CallResult::NotAsked,
        };
        let swapped = vote
            .map(|vote| vote.swapped)
            .or(detail.map(|detail| detail.swapped));
        JudgeCall {
            index,
            name: open.judge_name(index),
            game: record.battle.game,
            result,
            by_order: by_order(open, *judge, record.battle, a),
            b_first: swapped.map(|swapped| swapped != turned),
            loaded: details.is_some(),
            detail,
        }
    };
    open.judges.iter().enumerate().map(one).collect()
}

fn by_order(
    open: &OpenQuery,
    judge: JudgeId,
    battle: Battle,
    a: usize,
) -> Option<([Margin; 2], OrderEffect)> {
    let b = if battle.a == a { battle.b } else { battle.a };
    let [a_first, b_first] = open.view.margins_by_order(judge, a, b);
    let effect = open.view.order_effect(judge, a, b)?;
    Some(([a_first?, b_first?], effect))
}

/// All calls on the pair's battles, battle by battle.
pub(crate) fn of_pair(open: &OpenQuery, a: usize, b: usize) -> Vec<JudgeCall<'_>> {
    let battles = Pair::new(a, b).map_or(&[][..], |pair| open.view.battles_of(pair));
    battles
        .iter()
        .flat_map(|index| of_battle(open, *index, a))
        .collect()
}

/// The size of a margin with two decimals; a small one is not rounded to 0.
fn size(margin: Margin) -> String {
    match margin.get().abs() {
        size if size < 0.005 => "<0.01".to_owned(),
        size => format!("{size:.2}"),
    }
}

/// `→ A 0.43` or `= tie`.
fn said(margin: Margin) -> String {
    match margin.outcome() {
        Outcome::Tie => "= tie".to_owned(),
        Outcome::A => format!("→ A {}", size(margin)),
        Outcome::B => format!("→ B {}", size(margin)),
    }
}

impl JudgeCall<'_> {
    /// `bm25 → A 0.43`, `bm25 = tie`, `gpt → B 1.00 flip`, `bm25 failed`, `bm25 not run`.
    pub(crate) fn summary(&self) -> String {
        let said = match self.result {
            CallResult::Failed => "failed".to_owned(),
            CallResult::NotRun => "not run".to_owned(),
            CallResult::NotAsked => "not asked".to_owned(),
            CallResult::Prefers(margin) => said(margin),
        };
        let flip = if self.flips() { " flip" } else { "" };
        format!("{} {said}{flip}", self.title())
    }

    /// Whether the judge names the other document when the order is swapped.
    pub(crate) fn flips(&self) -> bool {
        matches!(self.by_order, Some((_, OrderEffect::Flip)))
    }

    /// The judge's answer in each order, if it was asked in both.
    pub(crate) fn order_note(&self) -> Option<String> {
        let ([a_first, b_first], effect) = self.by_order?;
        let effect = match effect {
            OrderEffect::None => "the same either way",
            OrderEffect::TieOnce => "a tie in one order only",
            OrderEffect::Flip => "flip: it names the other document in the other order",
        };
        Some(format!(
            "asked in both orders: {} with A first, {} with B first: {effect}",
            said(a_first),
            said(b_first)
        ))
    }

    /// Whose reasoning it is and the name of the document that the judge prefers: `bm25 prefers:
    /// Sleep in adults`, `bm25: a tie`, `bm25: failed`.
    pub(crate) fn heading(&self, [a, b]: &[String; 2]) -> String {
        let who = self.title();
        let said = match self.result {
            CallResult::Prefers(margin) => match margin.outcome() {
                Outcome::A => format!(" prefers: {a}"),
                Outcome::B => format!(" prefers: {b}"),
                Outcome::Tie => ": a tie".to_owned(),
            },
            CallResult::Failed => ": failed".to_owned(),
            CallResult::NotRun => ": not run".to_owned(),
            CallResult::NotAsked => ": not asked".to_owned(),
        };
        let shown = if self.b_first == Some(true) {
            " · saw B first"
        } else {
            ""
        };
        format!("{who}{said}{shown}")
    }

    /// The judge's name, with the number of the battle if it is not the pair's first.
    pub(crate) fn title(&self) -> String {
        match self.game {
            0 => self.name.clone(),
            game => format!("{} #{}", self.name, game + 1),
        }
    }

    /// Model, tokens, latency and price of the call, if known.
    pub(crate) fn cost_note(&self, offline: bool) -> Option<String> {
        let detail = self.detail?;
        let mut parts: Vec<String> = detail
            .model
            .iter()
            .map(|model| text::truncate(&sanitize::line(model), 40).into_owned())
            .collect();
        let (input, output) = detail.tokens;
        if input + output > 0 {
            let unit = if offline { "words" } else { "tokens" };
            parts.push(format!("{input} {unit} in, {output} out"));
        }
        parts.extend(detail.latency_ms.map(|ms| format!("{ms:.1} ms")));
        parts.extend(detail.cost_usd.map(text::usd));
        if detail.attempt > 1 {
            parts.push(format!("call {}", detail.attempt));
        }
        (!parts.is_empty()).then(|| parts.join(" · "))
    }
}

/// The texts in which a quote may occur.
pub(crate) struct QuoteTexts<'a> {
    /// The screen's A and B; `None` if one is not loaded.
    documents: [Option<Arc<PreparedText>>; 2],
    query: &'a str,
}

impl<'a> QuoteTexts<'a> {
    pub(crate) fn of(model: &Model, open: &'a OpenQuery, a: usize, b: usize) -> Self {
        let query = open.info.text.as_str();
        let prepared = |document: usize| {
            let source = open.texts.get(&document)?;
            Some(model.layouts.prepared(source, query))
        };
        Self {
            documents: [a, b].map(prepared),
            query,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Reasoning {
    pub lines: Vec<Line<'static>>,
    /// Where its quotes occur in A and in B.
    pub found: [Vec<Range<usize>>; 2],
}

/// A call's reasoning with the screen's labels, or as received, with each quote marked as found or
/// not.
pub(crate) fn reasoning_of(
    call: &JudgeCall<'_>,
    texts: &QuoteTexts<'_>,
    raw: bool,
    theme: &Theme,
    columns: usize,
) -> Reasoning {
    let plain = |words: &str, style: Style| Reasoning {
        lines: wrapped(words, &[], columns, style),
        ..Reasoning::default()
    };
    let Some(detail) = call.detail else {
        return match (call.result, call.loaded) {
            (CallResult::NotRun, _) => plain(
                "not run: no answer of this judge is recorded",
                theme.missing(),
            ),
            (CallResult::NotAsked, _) => plain(
                "not asked: a round chose other judges for this battle",
                theme.muted(),
            ),
            (_, false) => plain("loading the reasoning …", theme.missing()),
            (_, true) => plain("no reasoning is recorded", theme.missing()),
        };
    };
    if let Err((cause, message)) = &detail.result {
        let message = sanitize::line(clip(message));
        let mut shown = plain(&format!("failed: {cause}: {message}"), theme.bad());
        shown.lines.extend(wrapped(
            "A failed call is no vote and changes no score.",
            &[],
            columns,
            theme.muted(),
        ));
        if let (true, Some(reply)) = (raw, &detail.raw) {
            shown.lines.extend(wrapped(
                &sanitize::block(clip(reply)),
                &[],
                columns,
                Style::new(),
            ));
        }
        return shown;
    }
    let sent = if raw {
        detail.raw.as_deref().unwrap_or(detail.reasoning.text())
    } else {
        detail.reasoning.text()
    };
    if detail.reasoning == VoteReasoning::Gone {
        return plain(REASONING_GONE, theme.missing());
    }
    let clean = sanitize::block(clip(sent));
    let swapped = call.b_first == Some(true);
    let shown = if raw {
        OrientedReasoning {
            text: clean,
            is_reversed: swapped,
        }
    } else {
        reasoning::oriented(&clean, swapped)
    };
    let labelled = shown.text;
    if labelled.trim().is_empty() {
        return plain("no reasoning was given", theme.missing());
    }
    // Quotation marks in a raw reply may belong to JSON, so search only the reasoning for quotes.
    let (words, marks, found) = if raw {
        (
            labelled.into_owned(),
            StyledRanges::new(),
            quoted(call, texts),
        )
    } else {
        with_quotes(&labelled, texts, theme)
    };
    let mut lines = Vec::new();
    if shown.is_reversed {
        lines.extend(text::lines(OTHER_ORDER, columns, theme.warn()));
    }
    lines.extend(wrapped(&words, &marks, columns, Style::new()));
    if clip(sent).len() < sent.len() {
        let note = format!(
            "… the first {} kB of {} kB",
            SHOWN_BYTES / 1_000,
            sent.len() / 1_000
        );
        lines.push(Line::styled(note, theme.muted()));
    }
    Reasoning { lines, found }
}

/// The passages of the screen's A and B that a judge quotes.
pub(crate) fn quoted(call: &JudgeCall<'_>, texts: &QuoteTexts<'_>) -> [Vec<Range<usize>>; 2] {
    let sent = call
        .detail
        .filter(|detail| detail.result.is_ok())
        .map_or("", |detail| detail.reasoning.text());
    let mut found = [Vec::new(), Vec::new()];
    for quote in reasoning::quotes(clip(sent)).into_iter().take(LOOKED_UP) {
        for (places, text) in found.iter_mut().zip(&texts.documents) {
            let text = text.iter();
            places.extend(text.flat_map(|text| text.folded.find(&clip(sent)[quote.clone()])));
        }
    }
    found
}

fn clip(text: &str) -> &str {
    let mut end = text.len().min(SHOWN_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

type StyledRanges = Vec<(Range<usize>, Style)>;

/// The reasoning with a marker after every quote that is in neither document nor in the query.
fn with_quotes(
    labelled: &str,
    texts: &QuoteTexts<'_>,
    theme: &Theme,
) -> (String, StyledRanges, [Vec<Range<usize>>; 2]) {
    let (mut words, mut marks, mut found) =
        (String::new(), StyledRanges::new(), [Vec::new(), Vec::new()]);
    let mut copied = 0;
    // A quote that is not found in one text may be in the other if that is not fully loaded.
    let whole = |text: &Arc<PreparedText>| text.clipped_of.is_none();
    let complete = texts
        .documents
        .iter()
        .all(|text| text.as_ref().is_some_and(whole));
    for quote in reasoning::quotes(labelled).into_iter().take(LOOKED_UP) {
        let phrase = &labelled[quote.clone()];
        let find = |text: &Arc<PreparedText>| text.folded.find(phrase);
        let places = texts
            .documents
            .each_ref()
            .map(|text| text.as_ref().map_or(Vec::new(), find));
        let known = places.iter().any(|places| !places.is_empty());
        let (start, shift) = (quote.start, words.len());
        words.push_str(&labelled[copied..quote.end]);
        let at = shift + start - copied..words.len();
        copied = quote.end;
        if known {
            marks.push((at, theme.quote()));
        } else if complete && !reasoning::occurs(phrase, texts.query) {
            marks.push((at, theme.quote_missing()));
            let closing = labelled[copied..]
                .chars()
                .next()
                .filter(|c| "”\"'’".contains(*c));
            if let Some(closing) = closing {
                words.push(closing);
                copied += closing.len_utf8();
            }
            marks.push((words.len()..words.len() + NOT_IN_TEXT.len(), theme.warn()));
            words.push_str(NOT_IN_TEXT);
        }
        for (all, new) in found.iter_mut().zip(places) {
            all.extend(new);
        }
    }
    words.push_str(&labelled[copied..]);
    (words, marks, found)
}

pub(crate) fn wrapped(
    words: &str,
    marks: &[(Range<usize>, Style)],
    columns: usize,
    style: Style,
) -> Vec<Line<'static>> {
    let own = |span: Span<'_>| Span::styled(span.content.into_owned(), span.style);
    text::wrap(words.trim_end(), columns)
        .into_iter()
        .map(|line| {
            let near: Vec<_> = marks
                .iter()
                .filter(|(mark, _)| mark.start < line.end && mark.end > line.start)
                .cloned()
                .collect();
            let line = text::highlight(words, line, &near);
            Line::from(line.spans.into_iter().map(own).collect::<Vec<_>>()).style(style)
        })
        .collect()
}
