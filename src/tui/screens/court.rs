//! The label court: picks against labels, what rulings make of the rankings, and what is to be ruled on.

mod tables;

pub(super) use tables::fold;

use crate::domain::adjudication::{CONTROL_SHARE, DisagreementOrder, DisagreementRule};
use crate::domain::sanitise;
use crate::judge::OFFLINE_LABEL;
use crate::store::labels::{AdjudicationItem, AdjudicationList};
use crate::store::rulings::StoredRuling;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, CourtFindings, Effect, Hearing, Model, Overlay, Screen};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::page::Page;
use crate::tui::widgets::toast::Level;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Goes to the court.
pub fn show(model: &mut Model) -> Vec<Effect> {
    model.court.cursor = 0;
    model.court.hearing = None;
    model.stack.push(Screen::Court);
    ask(model)
}

/// Asks for what picks, labels and rulings amount to now.
pub fn ask(model: &mut Model) -> Vec<Effect> {
    model.court.generation += 1;
    model.court.since.clear();
    model.court.waiting = true;
    let rule = DisagreementRule {
        order: model.court.order,
        controls: CONTROL_SHARE,
        seed: model.options.request.seed,
    };
    vec![Effect::Court(
        rule,
        model.court.roll,
        model.court.generation,
    )]
}

/// Asks for another list; the one that is there is not what its heading would say.
fn call_anew(model: &mut Model) -> Vec<Effect> {
    model.court.cursor = 0;
    model.court.matters.clear();
    ask(model)
}

/// Takes the findings in, unless they have been overtaken. What was ruled on meanwhile is not called again, and what was
/// put off comes last.
pub fn arrived(
    model: &mut Model,
    generation: u64,
    mut findings: Box<CourtFindings>,
) -> Vec<Effect> {
    let court = &mut model.court;
    if generation != court.generation {
        return Vec::new();
    }
    let mut matters = std::mem::take(&mut findings.matters);
    if court.roll == AdjudicationList::Open {
        let done = |matter: &AdjudicationItem| {
            let mut since = court.since.iter();
            since.any(|(query, document)| matter.query == *query && matter.document == *document)
        };
        findings.ruled += court.since.len();
        matters.retain(|matter| !done(matter));
    }
    let rows = model.queries.rows.iter().enumerate();
    court.places = rows.map(|(at, (info, _))| (info.key, at)).collect();
    let off = |matter: &AdjudicationItem| {
        let mut later = court.later.iter();
        later.any(|(query, document)| matter.query == *query && matter.document == *document)
    };
    let (later, first): (Vec<AdjudicationItem>, Vec<AdjudicationItem>) =
        matters.into_iter().partition(off);
    court.matters = [first, later].concat();
    court.ranking = court.ranking.min(findings.effect.len().saturating_sub(1));
    court.findings = Some(findings);
    court.waiting = false;
    let last = shown(model).len().saturating_sub(1);
    model.court.cursor = model.court.cursor.min(last);
    if model.screen() == Screen::Ruling && model.court.hearing.is_none() {
        return super::ruling::take_up(model, 0);
    }
    Vec::new()
}

/// Takes back what the screen shows of a ruling that could not be stored.
pub fn not_stored(model: &mut Model) -> Vec<Effect> {
    if let Some(hearing) = &mut model.court.hearing {
        (hearing.ruled, hearing.finding) = (None, None);
    }
    ask(model)
}

/// Tells what an undo took back. A document that lies before the person is to be ruled on again, with what has been seen in
/// sight.
pub fn undone(model: &mut Model, undone: Option<Box<StoredRuling>>) -> Vec<Effect> {
    let Some(undone) = undone else {
        model.say(Level::Info, "no ruling of yours to take back".to_owned());
        return Vec::new();
    };
    let ruling = undone.ruling;
    let words = format!(
        "taken back: query {}, document {}: {}",
        ruling.query,
        ruling.document,
        ruling.finding.words()
    );
    model.say(Level::Good, words);
    if let Some(hearing) = &mut model.court.hearing
        && hearing.is_about(undone.query, &ruling.document)
    {
        *hearing = Hearing {
            ruled: None,
            finding: None,
            fault: None,
            note: None,
            unsaved: false,
            ..hearing.clone()
        };
    }
    ask(model)
}

/// The matters whose query matches the filter, as indexes.
pub fn shown(model: &Model) -> Vec<usize> {
    if model.court.filter.trim().is_empty() {
        return (0..model.court.matters.len()).collect();
    }
    let filter = model.court.filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let matters = model.court.matters.iter().enumerate();
    matters
        .filter(|(_, matter)| {
            let name = format!("{} {}", matter.query_id, asked(model, matter)).to_lowercase();
            words.iter().all(|word| name.contains(word))
        })
        .map(|(at, _)| at)
        .collect()
}

fn asked<'a>(model: &'a Model, matter: &AdjudicationItem) -> &'a str {
    let place = model.court.places.get(&matter.query);
    let row = place.and_then(|at| model.queries.rows.get(*at));
    row.filter(|(info, _)| info.key == matter.query)
        .map_or("", |(info, _)| &info.text)
}

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    let area = super::battle::inset(area);
    let mut areas = Areas {
        body: area,
        ..Areas::default()
    };
    let columns = usize::from(area.width);
    let Some(findings) = &model.court.findings else {
        Line::styled("reading picks, labels and rulings …", theme.muted()).render(area, buf);
        return areas;
    };
    if findings.judges.is_empty() {
        Paragraph::new(nothing(findings, theme)).render(area, buf);
        return areas;
    }
    let judges = tables::judges(findings, theme, columns);
    let effect = tables::effect(model, findings, theme, columns);
    // The docket keeps a third of the screen.
    let room = area.height.saturating_sub(6) * 2 / 3;
    let judge_rows = (judges.len() as u16).min(room.saturating_sub(4).max(3));
    let effect_rows = (effect.len() as u16).min(room.saturating_sub(judge_rows));
    let judges = tables::fold(judges, judge_rows, theme);
    let effect = tables::fold(effect, effect_rows, theme);
    let [head, boxes, gap, measures, rule, list] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(judge_rows),
        Constraint::Length(u16::from(effect_rows > 0)),
        Constraint::Length(effect_rows),
        Constraint::Length(2),
        Constraint::Min(1),
    ])
    .areas(area);
    Paragraph::new(headline(model, findings, theme, columns)).render(head, buf);
    Paragraph::new(judges).render(boxes, buf);
    Line::default().render(gap, buf);
    Paragraph::new(effect).render(measures, buf);
    let shown = shown(model);
    Paragraph::new(docket_head(model, &shown, theme, columns)).render(rule, buf);
    areas.list = list;
    areas.page = usize::from(list.height);
    areas.lines = shown.len();
    if shown.is_empty() {
        let words = match (model.court.filter.is_empty(), model.court.roll) {
            _ if model.court.waiting => "reading …",
            (false, _) => "No query matches the filter. Esc shows all.",
            (true, AdjudicationList::Open) => {
                "Nothing left to rule on: overrule export qrels --corrected writes the labels."
            }
            (true, AdjudicationList::Ruled) => "You have ruled on nothing yet. d goes on.",
            (true, AdjudicationList::Contested) => "People go different ways nowhere. d goes on.",
        };
        Line::styled(text::truncate(words, columns), theme.muted()).render(list, buf);
        return areas;
    }
    areas.first = (model.court.cursor + 1).saturating_sub(areas.page);
    let width = |of: &dyn Fn(&AdjudicationItem) -> String| {
        let rows = shown.iter().skip(areas.first).take(areas.page);
        let widths = rows.map(|at| text::width(&of(&model.court.matters[*at])));
        widths.max().unwrap_or(5).clamp(5, 22)
    };
    let query_id =
        |matter: &AdjudicationItem| sanitise::line(matter.query_id.as_str()).into_owned();
    let document =
        |matter: &AdjudicationItem| sanitise::line(matter.document.as_str()).into_owned();
    let (first, second) = (width(&query_id), width(&document));
    let placed = shown.iter().enumerate().skip(areas.first);
    for (row, (place, at)) in list.rows().zip(placed) {
        let matter = &model.court.matters[*at];
        let selected = place == model.court.cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let room = columns.saturating_sub(first + second + 12);
        let words = sanitise::line(asked(model, matter));
        Line::from(vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(text::pad_left(&(at + 1).to_string(), 4), theme.muted()),
            Span::raw("  "),
            Span::styled(text::pad_right(&query_id(matter), first), theme.strong()),
            Span::raw("  "),
            Span::raw(text::pad_right(&document(matter), second)),
            Span::raw("  "),
            Span::styled(text::truncate(&words, room).into_owned(), theme.muted()),
        ])
        .render(row, buf);
    }
    areas
}

fn headline(
    model: &Model,
    findings: &CourtFindings,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let conflicts = match findings.conflicts {
        0 => String::new(),
        1 => " · people differ on 1 document".to_owned(),
        count => format!(" · people differ on {count} documents"),
    };
    let labels = match findings.changed {
        1 => "1 label".to_owned(),
        count => format!("{count} labels"),
    };
    let words = format!(
        "{} pools · {} labels · {} ruled by you · {} in force change {labels}{conflicts}",
        findings.pools, findings.labels, findings.ruled, findings.in_force
    );
    let note = match (findings.warning, findings.offline) {
        _ if model.court.waiting => Line::styled("reading anew …", theme.muted()),
        (Some(warning), _) => {
            Line::styled(text::truncate(warning, columns).into_owned(), theme.warn())
        }
        (None, true) => Line::styled(text::truncate(OFFLINE_LABEL, columns), theme.warn()),
        (None, false) => Line::default(),
    };
    vec![
        Line::styled(text::truncate(&words, columns).into_owned(), theme.strong()),
        note,
    ]
}

fn docket_head(
    model: &Model,
    shown: &[usize],
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let filter = match model.court.filter.is_empty() {
        true => String::new(),
        false => format!(" · filter: {}", sanitise::line(&model.court.filter)),
    };
    let count = match model.court.waiting && shown.is_empty() {
        true => "…".to_owned(),
        false => shown.len().to_string(),
    };
    let order = model.court.order;
    let words = match model.court.roll {
        AdjudicationList::Open => {
            format!("{count} to rule on · {order}: {}{filter}", order.words())
        }
        AdjudicationList::Ruled => format!("{count} ruled by you, the latest first{filter}"),
        AdjudicationList::Contested => format!("{count} on which people go different ways{filter}"),
    };
    vec![
        Line::styled("─".repeat(columns), theme.faint()),
        Line::styled(text::truncate(&words, columns).into_owned(), theme.strong()),
    ]
}

/// What to do where no judge has picked.
fn nothing(findings: &CourtFindings, theme: &Theme) -> Vec<Line<'static>> {
    let labels = match findings.labels {
        0 => "This project holds no labels yet.".to_owned(),
        count => format!("{count} labels, and no judge has picked from the pools yet."),
    };
    vec![
        Line::styled(labels, theme.strong()),
        Line::default(),
        Line::raw("overrule pool build --beir DIR   pools and labels of a benchmark"),
        Line::raw("overrule import QRELS RUN        labels, and rankings to measure"),
        Line::raw("overrule pick                    has judges pick the relevant documents"),
    ]
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let shown = shown(model);
    let last = shown.len().saturating_sub(1);
    let page = model.areas.page.max(1);
    let cursor = model.court.cursor;
    match command {
        Command::Down => model.court.cursor = (cursor + 1).min(last),
        Command::Up => model.court.cursor = cursor.saturating_sub(1),
        Command::PageDown => model.court.cursor = (cursor + page).min(last),
        Command::PageUp => model.court.cursor = cursor.saturating_sub(page),
        Command::First => model.court.cursor = 0,
        Command::Last => model.court.cursor = last,
        Command::NextPolicy | Command::PreviousPolicy => {
            let all = DisagreementOrder::ALL;
            let here = all.iter().position(|order| *order == model.court.order);
            let step = match command {
                Command::NextPolicy => 1,
                _ => all.len() - 1,
            };
            model.court.order = all[(here.unwrap_or(0) + step) % all.len()];
            return call_anew(model);
        }
        Command::NextPane => {
            let findings = model.court.findings.as_ref();
            let count = findings.map_or(0, |findings| findings.effect.len());
            if count < 2 {
                let words = "there is no other ranking: overrule import RUN brings one in";
                model.say(Level::Info, words.to_owned());
            }
            model.court.ranking = (model.court.ranking + 1) % count.max(1);
        }
        Command::Conflicts => {
            model.court.roll = match model.court.roll {
                AdjudicationList::Open => AdjudicationList::Ruled,
                AdjudicationList::Ruled => AdjudicationList::Contested,
                AdjudicationList::Contested => AdjudicationList::Open,
            };
            return call_anew(model);
        }
        Command::Guideline => return vec![Effect::Guideline],
        Command::ShowTables => {
            if let Some(findings) = &model.court.findings {
                let page = Page::new("Picks by source and by slot", &tables::details(findings));
                model.overlays.push(Overlay::Page(page));
            }
        }
        Command::Open => {
            if let Some(at) = shown.get(cursor).copied() {
                model.stack.push(Screen::Ruling);
                return super::ruling::take_up(model, at);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Copies the identifiers of the matter under the cursor, or of the one before the person.
pub fn copy(model: &mut Model) -> Vec<Effect> {
    let matter = match (&model.court.hearing, model.screen()) {
        (Some(hearing), Screen::Ruling) => Some(&hearing.matter),
        _ => {
            let shown = shown(model);
            let at = shown.get(model.court.cursor).copied();
            at.and_then(|at| model.court.matters.get(at))
        }
    };
    let Some(matter) = matter else {
        return Vec::new();
    };
    let words = format!("{}\t{}", matter.query_id, matter.document);
    model.say(Level::Good, "copied the identifiers".to_owned());
    vec![Effect::Copy(words)]
}

#[cfg(test)]
pub(in crate::tui::screens) mod tests;
