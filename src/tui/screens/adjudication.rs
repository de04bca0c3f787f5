//! Adjudication: picks against labels, what rulings make of the rankings, and what is to be ruled on.

mod tables;

pub(super) use tables::fold;

use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::domain::adjudication::{CONTROL_SHARE, DisagreementOrder, DisagreementRule};
use crate::domain::sanitise;
use crate::judge::OFFLINE_LABEL;
use crate::store::rulings::StoredRuling;
use crate::tui::keymap::Command;
use crate::tui::model::{
    AdjudicationOverview, Areas, CurrentRuling, Effect, Model, Overlay, Screen,
};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::page::Page;
use crate::tui::widgets::toast::Level;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Goes to adjudication.
pub fn show(model: &mut Model) -> Vec<Effect> {
    model.adjudication.cursor = 0;
    model.adjudication.current = None;
    model.stack.push(Screen::Adjudication);
    ask(model)
}

/// Asks for the figures about picks, labels and rulings now.
pub fn ask(model: &mut Model) -> Vec<Effect> {
    model.adjudication.generation += 1;
    model.adjudication.ruled_since.clear();
    model.adjudication.waiting = true;
    let rule = DisagreementRule {
        order: model.adjudication.order,
        controls: CONTROL_SHARE,
        seed: model.options.request.seed,
    };
    vec![Effect::LoadDisagreements(
        rule,
        model.adjudication.list,
        model.adjudication.generation,
    )]
}

/// Asks for another list; the one that is there is not what its heading would say.
fn reload(model: &mut Model) -> Vec<Effect> {
    model.adjudication.cursor = 0;
    model.adjudication.disagreements.clear();
    ask(model)
}

/// Takes the overview in, unless it has been overtaken. What was ruled on meanwhile is not called again, and what was
/// put off comes last.
pub fn arrived(
    model: &mut Model,
    generation: u64,
    mut overview: Box<AdjudicationOverview>,
) -> Vec<Effect> {
    let adjudication = &mut model.adjudication;
    if generation != adjudication.generation {
        return Vec::new();
    }
    let mut disagreements = std::mem::take(&mut overview.disagreements);
    if adjudication.list == AdjudicationList::Open {
        let done = |disagreement: &AdjudicationItem| {
            let mut since = adjudication.ruled_since.iter();
            since.any(|(query, document)| {
                disagreement.query == *query && disagreement.document == *document
            })
        };
        overview.ruled += adjudication.ruled_since.len();
        disagreements.retain(|disagreement| !done(disagreement));
    }
    let rows = model.queries.rows.iter().enumerate();
    adjudication.places = rows.map(|(at, (info, _))| (info.key, at)).collect();
    let off = |disagreement: &AdjudicationItem| {
        let mut later = adjudication.put_off.iter();
        later.any(|(query, document)| {
            disagreement.query == *query && disagreement.document == *document
        })
    };
    let (later, first): (Vec<AdjudicationItem>, Vec<AdjudicationItem>) =
        disagreements.into_iter().partition(off);
    adjudication.disagreements = [first, later].concat();
    adjudication.ranking = adjudication
        .ranking
        .min(overview.effect.len().saturating_sub(1));
    adjudication.overview = Some(overview);
    adjudication.waiting = false;
    let last = shown(model).len().saturating_sub(1);
    model.adjudication.cursor = model.adjudication.cursor.min(last);
    if model.screen() == Screen::Ruling && model.adjudication.current.is_none() {
        return super::ruling::begin_ruling(model, 0);
    }
    Vec::new()
}

/// Takes back what the screen shows of a ruling that could not be stored.
pub fn not_stored(model: &mut Model) -> Vec<Effect> {
    if let Some(current) = &mut model.adjudication.current {
        (current.ruled, current.finding) = (None, None);
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
    if let Some(current) = &mut model.adjudication.current
        && current.is_about(undone.query, &ruling.document)
    {
        *current = CurrentRuling {
            ruled: None,
            finding: None,
            fault: None,
            note: None,
            unsaved: false,
            ..current.clone()
        };
    }
    ask(model)
}

/// The disagreements whose query matches the filter, as indexes.
pub fn shown(model: &Model) -> Vec<usize> {
    if model.adjudication.filter.trim().is_empty() {
        return (0..model.adjudication.disagreements.len()).collect();
    }
    let filter = model.adjudication.filter.to_lowercase();
    let words: Vec<&str> = filter.split_whitespace().collect();
    let disagreements = model.adjudication.disagreements.iter().enumerate();
    disagreements
        .filter(|(_, disagreement)| {
            let name =
                format!("{} {}", disagreement.query_id, asked(model, disagreement)).to_lowercase();
            words.iter().all(|word| name.contains(word))
        })
        .map(|(at, _)| at)
        .collect()
}

fn asked<'a>(model: &'a Model, disagreement: &AdjudicationItem) -> &'a str {
    let place = model.adjudication.places.get(&disagreement.query);
    let row = place.and_then(|at| model.queries.rows.get(*at));
    row.filter(|(info, _)| info.key == disagreement.query)
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
    let Some(overview) = &model.adjudication.overview else {
        Line::styled("reading picks, labels and rulings …", theme.muted()).render(area, buf);
        return areas;
    };
    if overview.judges.is_empty() {
        Paragraph::new(nothing(overview, theme)).render(area, buf);
        return areas;
    }
    let judges = tables::judges(overview, theme, columns);
    let effect = tables::effect(model, overview, theme, columns);
    // The list keeps a third of the screen.
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
    Paragraph::new(headline(model, overview, theme, columns)).render(head, buf);
    Paragraph::new(judges).render(boxes, buf);
    Line::default().render(gap, buf);
    Paragraph::new(effect).render(measures, buf);
    let shown = shown(model);
    Paragraph::new(list_head(model, &shown, theme, columns)).render(rule, buf);
    areas.list = list;
    areas.page = usize::from(list.height);
    areas.lines = shown.len();
    if shown.is_empty() {
        let words = match (
            model.adjudication.filter.is_empty(),
            model.adjudication.list,
        ) {
            _ if model.adjudication.waiting => "reading …",
            (false, _) => "No query matches the filter. Esc shows all.",
            (true, AdjudicationList::Open) => {
                "Nothing left to rule on: overrule export qrels --corrected writes the labels."
            }
            (true, AdjudicationList::Ruled) => {
                "You have ruled on nothing yet. Press d for the next list."
            }
            (true, AdjudicationList::Contested) => {
                "No conflicts between people. Press d for the next list."
            }
        };
        Line::styled(text::truncate(words, columns), theme.muted()).render(list, buf);
        return areas;
    }
    areas.first = (model.adjudication.cursor + 1).saturating_sub(areas.page);
    let width = |of: &dyn Fn(&AdjudicationItem) -> String| {
        let rows = shown.iter().skip(areas.first).take(areas.page);
        let widths = rows.map(|at| text::width(&of(&model.adjudication.disagreements[*at])));
        widths.max().unwrap_or(5).clamp(5, 22)
    };
    let query_id = |disagreement: &AdjudicationItem| {
        sanitise::line(disagreement.query_id.as_str()).into_owned()
    };
    let document = |disagreement: &AdjudicationItem| {
        sanitise::line(disagreement.document.as_str()).into_owned()
    };
    let (first, second) = (width(&query_id), width(&document));
    let placed = shown.iter().enumerate().skip(areas.first);
    for (row, (place, at)) in list.rows().zip(placed) {
        let disagreement = &model.adjudication.disagreements[*at];
        let selected = place == model.adjudication.cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let room = columns.saturating_sub(first + second + 12);
        let words = sanitise::line(asked(model, disagreement));
        Line::from(vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(text::pad_left(&(at + 1).to_string(), 4), theme.muted()),
            Span::raw("  "),
            Span::styled(
                text::pad_right(&query_id(disagreement), first),
                theme.strong(),
            ),
            Span::raw("  "),
            Span::raw(text::pad_right(&document(disagreement), second)),
            Span::raw("  "),
            Span::styled(text::truncate(&words, room).into_owned(), theme.muted()),
        ])
        .render(row, buf);
    }
    areas
}

fn headline(
    model: &Model,
    overview: &AdjudicationOverview,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let conflicts = match overview.conflicts {
        0 => String::new(),
        1 => " · people differ on 1 document".to_owned(),
        count => format!(" · people differ on {count} documents"),
    };
    let labels = match overview.changed {
        1 => "1 label".to_owned(),
        count => format!("{count} labels"),
    };
    let words = format!(
        "{} pools · {} labels · {} ruled by you · {} in force change {labels}{conflicts}",
        overview.pools, overview.labels, overview.ruled, overview.in_force
    );
    let note = match (overview.warning, overview.offline) {
        _ if model.adjudication.waiting => Line::styled("reading anew …", theme.muted()),
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

fn list_head(model: &Model, shown: &[usize], theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let filter = match model.adjudication.filter.is_empty() {
        true => String::new(),
        false => format!(" · filter: {}", sanitise::line(&model.adjudication.filter)),
    };
    let count = match model.adjudication.waiting && shown.is_empty() {
        true => "…".to_owned(),
        false => shown.len().to_string(),
    };
    let order = model.adjudication.order;
    let words = match model.adjudication.list {
        AdjudicationList::Open => {
            format!("{count} to rule on · {order}: {}{filter}", order.words())
        }
        AdjudicationList::Ruled => format!("{count} ruled by you, the latest first{filter}"),
        AdjudicationList::Contested => format!("{count} on which people differ{filter}"),
    };
    vec![
        Line::styled("─".repeat(columns), theme.faint()),
        Line::styled(text::truncate(&words, columns).into_owned(), theme.strong()),
    ]
}

/// What to do where no judge has picked.
fn nothing(overview: &AdjudicationOverview, theme: &Theme) -> Vec<Line<'static>> {
    let labels = match overview.labels {
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
    let cursor = model.adjudication.cursor;
    match command {
        Command::Down => model.adjudication.cursor = (cursor + 1).min(last),
        Command::Up => model.adjudication.cursor = cursor.saturating_sub(1),
        Command::PageDown => model.adjudication.cursor = (cursor + page).min(last),
        Command::PageUp => model.adjudication.cursor = cursor.saturating_sub(page),
        Command::First => model.adjudication.cursor = 0,
        Command::Last => model.adjudication.cursor = last,
        Command::NextPolicy | Command::PreviousPolicy => {
            let all = DisagreementOrder::ALL;
            let here = all
                .iter()
                .position(|order| *order == model.adjudication.order);
            let step = match command {
                Command::NextPolicy => 1,
                _ => all.len() - 1,
            };
            model.adjudication.order = all[(here.unwrap_or(0) + step) % all.len()];
            return reload(model);
        }
        Command::NextPane => {
            let overview = model.adjudication.overview.as_ref();
            let count = overview.map_or(0, |overview| overview.effect.len());
            if count < 2 {
                let words = "there is no other ranking: overrule import RUN brings one in";
                model.say(Level::Info, words.to_owned());
            }
            model.adjudication.ranking = (model.adjudication.ranking + 1) % count.max(1);
        }
        Command::Conflicts => {
            model.adjudication.list = match model.adjudication.list {
                AdjudicationList::Open => AdjudicationList::Ruled,
                AdjudicationList::Ruled => AdjudicationList::Contested,
                AdjudicationList::Contested => AdjudicationList::Open,
            };
            return reload(model);
        }
        Command::Guideline => return vec![Effect::Guideline],
        Command::ShowTables => {
            if let Some(overview) = &model.adjudication.overview {
                let page = Page::new("Picks by source and by slot", &tables::details(overview));
                model.overlays.push(Overlay::Page(page));
            }
        }
        Command::Open => {
            if let Some(at) = shown.get(cursor).copied() {
                model.stack.push(Screen::Ruling);
                return super::ruling::begin_ruling(model, at);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Copies the identifiers of the disagreement under the cursor, or of the one before the person.
pub fn copy(model: &mut Model) -> Vec<Effect> {
    let disagreement = match (&model.adjudication.current, model.screen()) {
        (Some(current), Screen::Ruling) => Some(&current.disagreement),
        _ => {
            let shown = shown(model);
            let at = shown.get(model.adjudication.cursor).copied();
            at.and_then(|at| model.adjudication.disagreements.get(at))
        }
    };
    let Some(disagreement) = disagreement else {
        return Vec::new();
    };
    let words = format!("{}\t{}", disagreement.query_id, disagreement.document);
    model.say(Level::Good, "copied the identifiers".to_owned());
    vec![Effect::Copy(words)]
}

#[cfg(test)]
pub(in crate::tui::screens) mod tests;
