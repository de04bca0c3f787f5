//! Draws the two documents, the certainty of their order, and the battles for and against it.

use crate::domain::battle::Pair;
use crate::domain::priority::separation;
use crate::domain::ranking::{OrderEvidence, share_bar};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::screens::battle::numbers::votes_text;
use crate::tui::screens::comparison::state::EvidenceEntry;
use crate::tui::screens::run::ask_pair::price_words;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::notice;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Probability from which the order of two documents counts as certain.
const SURE: f64 = 0.95;
/// Columns of the bar of a probability, and of one side against an opponent.
const BAR: usize = 20;
const SIDE_BAR: usize = 6;
/// Columns of `A 3 : 0` with its bar.
const SIDE: usize = 8 + SIDE_BAR;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let Some((open, evidence)) = model
        .open
        .as_ref()
        .zip(model.comparison().evidence.as_ref())
    else {
        notice("loading …", theme, rest, buf);
        return Areas::default();
    };
    let columns = usize::from(rest.width);
    let head = head(model, open, evidence, theme, columns);
    let rows = (head.len() as u16).min(rest.height.saturating_sub(4));
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let (lines, places) = body(model, open, evidence, theme, columns);
    let page = usize::from(rest.height);
    let cursor = model
        .comparison()
        .cursor
        .min(places.len().saturating_sub(1));
    let at = places.get(cursor).copied().unwrap_or(0);
    let first = (at + 2)
        .saturating_sub(page)
        .min(lines.len().saturating_sub(page));
    let total = lines.len();
    let shown: Vec<Line<'_>> = lines.into_iter().skip(first).take(page).collect();
    Paragraph::new(shown).render(rest, buf);
    if let Some(row) = rest.rows().nth(at - first.min(at)) {
        buf.set_style(row, theme.selection());
    }
    Areas {
        lines: total,
        page,
        ..Areas::default()
    }
}

/// Query, both documents, and the certainty of their order.
fn head(
    model: &Model,
    open: &OpenQuery,
    evidence: &OrderEvidence,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let (a, b) = (evidence.a, evidence.b);
    let query = sanitize::line(&open.info.text);
    let query = text::truncate(&query, columns.saturating_sub(6)).into_owned();
    let mut lines = vec![Line::from(vec![
        Span::styled("query ", theme.muted()),
        Span::raw(query),
    ])];
    for (letter, document) in [("A", a), ("B", b)] {
        let standing = match open.standing(document) {
            Some(standing) => {
                let zelo = text::signed(standing.zelo, 2);
                let se = standing
                    .se
                    .map_or(String::new(), |se| format!(" ± {se:.2}"));
                format!("{} · zELO {zelo}{se}", open.rank_text(document))
            }
            None => "not scored".to_owned(),
        };
        let name = format!("{letter} {}", open.name(document));
        let used = text::width(&name) + text::width(&standing) + 4;
        let title = open.headline(document);
        let title = text::truncate(&title, columns.saturating_sub(used)).into_owned();
        lines.push(Line::from(vec![
            Span::styled(name, theme.strong()),
            Span::styled(format!("  {standing}  "), theme.muted()),
            Span::raw(title),
        ]));
    }
    lines.push(Line::default());
    lines.extend(sureness(model, open, evidence, theme, columns));
    lines
}

fn sureness(
    model: &Model,
    open: &OpenQuery,
    evidence: &OrderEvidence,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let Some(above) = evidence.above else {
        let words = match &open.view.fit {
            Err(error) => format!("No probability: {error}."),
            Ok(_) => "No probability: A or B has no score, or the scores have no standard errors."
                .to_owned(),
        };
        return text::lines(&words, columns, theme.muted());
    };
    let (for_a, for_b) = share_bar(above, BAR);
    let mut lines = vec![Line::from(vec![
        Span::styled(
            format!("P(A above B) {} ", text::probability(above)),
            theme.strong(),
        ),
        Span::styled(for_a, theme.bar_fill()),
        Span::styled(for_b, theme.bar_back()),
        Span::styled(
            format!(" P(B above A) {}", text::probability(1.0 - above)),
            theme.muted(),
        ),
    ])];
    let mut parts = Vec::new();
    if let Some(before) = model.comparison().above_before {
        parts.push(format!(
            "P(A above B) was {} before the judges were asked",
            text::probability(before)
        ));
    }
    if let Some(expected) = evidence.expected {
        parts.push(format!(
            "fit: A wins {} of battles",
            text::probability(expected)
        ));
    }
    if above.max(1.0 - above) >= SURE {
        parts.push("A and B are separated at 95 %".to_owned());
    } else if let Some(more) = Pair::new(evidence.a, evidence.b)
        .and_then(|pair| separation(&open.view, pair, SURE))
        .filter(|more| more.battles > 0)
    {
        parts.push(format!(
            "about {} between them would separate them at 95 %",
            counted(more.battles, "more battle")
        ));
    }
    lines.extend(text::lines(&parts.join(" · "), columns, theme.muted()));
    lines
}

/// The evidence, and the line of each entry.
fn body(
    model: &Model,
    open: &OpenQuery,
    evidence: &OrderEvidence,
    theme: &Theme,
    columns: usize,
) -> (Vec<Line<'static>>, Vec<usize>) {
    let (a, b) = (evidence.a, evidence.b);
    let title = |words: String| {
        let rule = "─".repeat(columns.saturating_sub(text::width(&words) + 1));
        Line::from(vec![
            Span::styled(text::truncate(&words, columns).into_owned(), theme.title()),
            Span::styled(format!(" {rule}"), theme.border()),
        ])
    };
    let mut lines = vec![Line::default(), title("their own battles".to_owned())];
    let mut places = Vec::new();
    let entries = model.comparison().entries();
    let chosen = entries.get(
        model
            .comparison()
            .cursor
            .min(entries.len().saturating_sub(1)),
    );
    let weakest = evidence.weakest();
    for entry in &entries {
        let here = Some(entry) == chosen;
        let mark = if here { "▌ " } else { "  " };
        match *entry {
            EvidenceEntry::Direct => {
                places.push(lines.len());
                let words = match votes_text(open, a, b) {
                    Some(votes) => format!("{votes}{}", overruled(open, a, b)),
                    None => match overruled(open, a, b) {
                        said if said.is_empty() => "A and B never fought".to_owned(),
                        said => format!("no judge was asked about A and B{said}"),
                    },
                };
                let words = format!("{mark}{words}");
                lines.push(text::line(&words, columns, Style::new()));
                lines.extend(asking(model, theme, columns));
                if evidence.chain.len() < 2 {
                    let words = chain_words(open, evidence);
                    lines.push(Line::default());
                    lines.push(title(words));
                }
            }
            EvidenceEntry::Link(at) => {
                if at == 0 {
                    lines.push(Line::default());
                    lines.push(title(chain_words(open, evidence)));
                }
                places.push(lines.len());
                let Some(link) = evidence.chain.get(at) else {
                    continue;
                };
                let words = format!(
                    "{mark}{} → {}  {}",
                    called(open, evidence, link.winner),
                    called(open, evidence, link.loser),
                    against(open, link.winner, link.loser, link.share),
                );
                let doubt = if weakest == Some(*link) {
                    "  weakest link"
                } else {
                    ""
                };
                let room = columns.saturating_sub(text::width(doubt));
                lines.push(Line::from(vec![
                    Span::raw(text::truncate(&words, room).into_owned()),
                    Span::styled(doubt, theme.warn()),
                ]));
            }
            EvidenceEntry::Opponent(at) => {
                if at == 0 {
                    lines.push(Line::default());
                    let count = counted(evidence.common.len(), "common opponent");
                    lines.push(title(format!(
                        "{count}, those that separate A and B most first"
                    )));
                }
                places.push(lines.len());
                lines.push(opponent(model, open, evidence, at, here, theme, columns));
            }
        }
    }
    if evidence.common.is_empty() {
        lines.push(Line::default());
        lines.push(title("no common opponent".to_owned()));
    }
    (lines, places)
}

/// Cost of asking the judges about the pair, or why they cannot be asked; empty until it is known.
fn asking(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let key = key_on(Command::AskJudges, Screen::COMPARISON);
    let words = match &model.comparison().price {
        None => return Vec::new(),
        Some(_) if model.run.running => "a run is in progress".to_owned(),
        Some(Ok(priced)) => format!("{key} {}", price_words(priced)),
        Some(Err(why)) => sanitize::line(why).into_owned(),
    };
    let lines = text::lines(&words, columns.saturating_sub(2), theme.muted());
    let indented = lines.into_iter().map(|mut line| {
        line.spans.insert(0, Span::raw("  "));
        line
    });
    indented.collect()
}

/// Describes the chain of wins that leads to the higher-ranked document.
fn chain_words(open: &OpenQuery, evidence: &OrderEvidence) -> String {
    let zelo = |document| open.standing(document).map(|standing| standing.zelo);
    let (upper, lower) = if zelo(evidence.a) < zelo(evidence.b) {
        ("B", "A")
    } else {
        ("A", "B")
    };
    match evidence.chain.len() {
        0 => format!("no chain of wins leads from {upper} to {lower}"),
        1 => format!("the strongest chain of wins: {upper} beat {lower} directly"),
        links => format!("the strongest chain of wins from {upper} to {lower}, {links} links"),
    }
}

fn called(open: &OpenQuery, evidence: &OrderEvidence, document: usize) -> String {
    let letter = match document {
        document if document == evidence.a => "A ",
        document if document == evidence.b => "B ",
        _ => "",
    };
    let rank = open.standing(document);
    let rank = rank.map_or(String::new(), |standing| {
        format!(" (rank {})", standing.rank)
    });
    format!("{letter}{}{rank}", open.name(document))
}

/// `3 : 0 ━━━━━━` from the first document's side, or `◆ ━━━━━━` if a verdict decides.
fn against(open: &OpenQuery, document: usize, other: usize, share: f64) -> String {
    let count = open.view.vote_count(document, other);
    let (heavy, light) = share_bar(share, SIDE_BAR);
    let pair = Pair::new(document, other);
    let verdict = pair.and_then(|pair| open.view.verdict(pair)?.decision.score());
    let words = match verdict {
        Some(_) => "◆".to_owned(),
        None => format!("{} : {}", count.a, count.b),
    };
    format!("{words} {heavy}{light}")
}

fn overruled(open: &OpenQuery, a: usize, b: usize) -> String {
    let verdict = Pair::new(a, b).and_then(|pair| open.view.verdict(pair));
    match verdict {
        Some(verdict) => format!(" ◆ {}", sanitize::line(&verdict.annotator)),
        None => String::new(),
    }
}

fn opponent(
    model: &Model,
    open: &OpenQuery,
    evidence: &OrderEvidence,
    at: usize,
    here: bool,
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let Some(common) = evidence.common.get(at) else {
        return Line::default();
    };
    let other = common.document;
    let cell = |document: usize, share: f64, letter: &str, chosen: bool| {
        let words = format!("{letter} {}", against(open, document, other, share));
        let style = if here && chosen {
            theme.accent().patch(theme.strong())
        } else {
            Style::new()
        };
        Span::styled(text::pad_right(&words, SIDE + 4), style)
    };
    let right = model.comparison().right;
    let used = 2 + 2 * (SIDE + 4) + 8;
    let rank = open.standing(other);
    let rank = rank.map_or("–".to_owned(), |standing| standing.rank.to_string());
    let name = format!("{rank:>3} {}  {}", open.name(other), open.headline(other));
    Line::from(vec![
        Span::raw(if here { "▌ " } else { "  " }),
        Span::styled(
            text::pad_right(&text::signed(common.apart(), 2), 7),
            theme.strong(),
        ),
        cell(evidence.a, common.a, "A", !right),
        cell(evidence.b, common.b, "B", right),
        Span::styled(
            text::truncate(&name, columns.saturating_sub(used)).into_owned(),
            theme.muted(),
        ),
    ])
}
