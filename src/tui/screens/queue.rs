//! The queue: which pairs to look at, first things first.

use crate::app::review::annotator_statistics::{AnnotatorStatistics, Fraction};
use crate::app::review::queue::{QueueItem, QueueItemState, QueueRequest};
use crate::domain::priority::Policy;
use crate::domain::sanitise;
use crate::domain::vote::JudgeId;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, Effect, Model, Screen};
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Items that are listed at most.
const LISTED: usize = 1_000;

/// Goes to the queue, over the project or over the query that is open in a matrix.
pub fn show(model: &mut Model) -> Vec<Effect> {
    let scope = match model.screen() {
        Screen::Matrix | Screen::Cycles => model.open.as_ref().map(|open| open.info.key),
        _ => None,
    };
    if model.screen() == Screen::Cycles {
        model.queue.policy = Policy::Cycle;
    }
    model.queue.scope = scope;
    show_against(model, None)
}

/// Goes to the queue of battles on which a judge parts from the others, or of all.
pub fn show_against(model: &mut Model, judge: Option<JudgeId>) -> Vec<Effect> {
    model.queue.against = judge;
    model.queue.cursor = 0;
    model.queue.loaded = false;
    model.queue.items.clear();
    model.queue.current = None;
    model.stack.push(Screen::Queue);
    ask(model)
}

/// Asks for the queue as it is now.
pub fn ask(model: &mut Model) -> Vec<Effect> {
    model.queue.generation += 1;
    let request = QueueRequest {
        policy: model.queue.policy,
        scope: model.queue.scope,
        annotator: model.options.annotator.clone(),
        seed: model.options.request.seed,
        limit: LISTED,
        against: model.queue.against,
        conflicts: model.queue.conflicts,
        gold: model.options.judging.gold,
        overlap: model.options.judging.overlap,
    };
    vec![Effect::Queue(request, model.queue.generation)]
}

/// Takes the queue in, unless it has been overtaken.
pub fn arrived(
    model: &mut Model,
    generation: u64,
    items: Vec<QueueItem>,
    stats: AnnotatorStatistics,
) -> Vec<Effect> {
    if generation != model.queue.generation {
        return Vec::new();
    }
    model.queue.items = items;
    model.queue.stats = stats;
    model.queue.loaded = true;
    let last = shown(model).len().saturating_sub(1);
    model.queue.cursor = model.queue.cursor.min(last);
    if model.screen() == Screen::Review && model.queue.current.is_none() {
        model.queue.cursor = 0;
        return super::review::review_item(model, 0);
    }
    Vec::new()
}

/// The items whose query matches the filter, as indexes.
pub fn shown(model: &Model) -> Vec<usize> {
    let words: Vec<String> = model
        .queue
        .filter
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    (0..model.queue.items.len())
        .filter(|at| {
            let Some((id, text)) = query_of(model, &model.queue.items[*at]) else {
                return words.is_empty();
            };
            let name = format!("{id} {text}").to_lowercase();
            words.iter().all(|word| name.contains(word))
        })
        .collect()
}

fn query_of<'a>(model: &'a Model, item: &QueueItem) -> Option<(&'a str, &'a str)> {
    let mut rows = model.queries.rows.iter();
    let (info, _) = rows.find(|(info, _)| info.key == item.query)?;
    Some((info.id.as_str(), &info.text))
}

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    let area = super::battle::inset(area);
    let [head, list, foot] = Layout::vertical([
        Constraint::Length(3),
        Constraint::Min(1),
        Constraint::Length(3),
    ])
    .areas(area);
    let columns = usize::from(area.width);
    Paragraph::new(headline(model, theme, columns)).render(head, buf);
    Paragraph::new(statistics_lines(&model.queue.stats, theme, columns)).render(foot, buf);
    let shown = shown(model);
    let mut areas = Areas {
        body: area,
        list,
        page: usize::from(list.height),
        lines: shown.len(),
        ..Areas::default()
    };
    if shown.is_empty() {
        Paragraph::new(empty(model, theme)).render(list, buf);
        return areas;
    }
    let page = usize::from(list.height);
    let first = (model.queue.cursor + 1).saturating_sub(page);
    areas.first = first;
    let names: Vec<String> = shown
        .iter()
        .skip(first)
        .take(page)
        .map(|at| {
            let found = query_of(model, &model.queue.items[*at]);
            found.map_or(String::new(), |(id, _)| sanitise::line(id).into_owned())
        })
        .collect();
    let width = names
        .iter()
        .map(|name| text::width(name))
        .max()
        .unwrap_or(5)
        .clamp(5, 22);
    let placed = shown.iter().enumerate().skip(first);
    for ((row, (place, at)), name) in list.rows().zip(placed).zip(&names) {
        let item = &model.queue.items[*at];
        let selected = place == model.queue.cursor;
        let words = query_of(model, item)
            .map_or(String::new(), |(_, text)| sanitise::line(text).into_owned());
        let priority = priority_text(model.queue.policy, item);
        let room = columns.saturating_sub(width + 5 + 4 + priority.chars().count() + 3);
        if selected {
            buf.set_style(row, theme.selection());
        }
        Line::from(vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(text::pad_left(&(at + 1).to_string(), 4), theme.muted()),
            Span::raw("  "),
            Span::styled(text::pad_right(name, width), theme.strong()),
            Span::raw("  "),
            Span::raw(text::pad_right(&words, room)),
            Span::raw(" "),
            Span::styled(priority, theme.muted()),
        ])
        .render(row, buf);
    }
    areas
}

/// What is said beside an item. Controls and repeats are not told apart from the rest: that would change how they are
/// judged.
fn priority_text(policy: Policy, item: &QueueItem) -> String {
    match (item.standing, policy, item.priority) {
        (QueueItemState::Again, ..) => "taken back".to_owned(),
        (QueueItemState::Later, ..) => "put off".to_owned(),
        (_, Policy::Mixed | Policy::Random, _) | (.., None) => String::new(),
        (_, Policy::Failed, Some(missing)) => format!("{missing:.0} missing"),
        (_, Policy::Split, Some(bits)) => format!("{bits:.2} bit"),
        (_, Policy::Surprise, Some(residual)) => format!("{residual:.1} sd"),
        (_, _, Some(priority)) => format!("{priority:.3}"),
    }
}

fn headline(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let queue = &model.queue;
    let scope = match queue.scope {
        None => "all queries".to_owned(),
        Some(key) => {
            let mut rows = model.queries.rows.iter();
            let found = rows.find(|(info, _)| info.key == key);
            found.map_or("one query".to_owned(), |(info, _)| {
                format!("query {}", sanitise::line(info.id.as_str()))
            })
        }
    };
    let count = match queue.items.len() {
        _ if !queue.loaded => "…".to_owned(),
        LISTED => format!("{LISTED} and more"),
        items => items.to_string(),
    };
    let filter = if queue.filter.is_empty() {
        String::new()
    } else {
        format!(" · filter: {}", sanitise::line(&queue.filter))
    };
    let against = if queue.conflicts {
        " · where people differ"
    } else if queue.against.is_some() {
        " · one judge against the others"
    } else {
        ""
    };
    let first = format!(
        "{} · {scope}{against} · {count} to judge{filter}",
        queue.policy
    );
    vec![
        Line::styled(text::truncate(&first, columns).into_owned(), theme.strong()),
        Line::styled(
            text::truncate(queue.policy.words(), columns).into_owned(),
            theme.muted(),
        ),
        Line::styled(
            text::truncate(&settled_text(model), columns).into_owned(),
            theme.muted(),
        ),
    ]
}

/// The stopping rule: where the top is sure, further judgments do not change it.
fn settled_text(model: &Model) -> String {
    let scope = model.queue.scope;
    let rows = model
        .queries
        .rows
        .iter()
        .filter(|(info, _)| scope.is_none_or(|scope| scope == info.key))
        .filter_map(|(_, summary)| summary.as_ref())
        .filter(|summary| summary.settled.is_some());
    let (mut all, mut sure) = (0, 0);
    for summary in rows {
        all += 1;
        sure += usize::from(summary.stop);
    }
    match (all, sure) {
        (0, _) => String::new(),
        (1, 1) => "the top is settled at 95 %: further judgments do not change it".to_owned(),
        (all, sure) if all == sure => {
            "every top is settled at 95 %: further judgments do not change it".to_owned()
        }
        (1, _) => "the top is not settled at 95 % yet".to_owned(),
        (all, sure) => format!("the top is settled at 95 % for {sure} of {all} queries"),
    }
}

fn empty(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let words = if !model.queue.loaded {
        "working out what to look at first …"
    } else if !model.queue.filter.is_empty() {
        "No query matches the filter. Esc shows all."
    } else {
        "Nothing to look at under this policy. o takes the next one."
    };
    vec![Line::styled(words, theme.muted())]
}

/// The tally in lines: how much, how fast, how far one agrees with the ensemble and with oneself.
pub(super) fn statistics_lines(
    stats: &AnnotatorStatistics,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let share = |count: Fraction, what: &str| {
        count.share().map(|(_, low, high)| {
            format!(
                "{what} {} of {} (95 %: {:.0}–{:.0} %)",
                count.part,
                count.of,
                100.0 * low,
                100.0 * high
            )
        })
    };
    let mut parts = vec![format!("{} judged", stats.judged)];
    parts.extend(stats.per_hour().map(|pace| format!("{pace:.0} an hour")));
    parts.extend(share(stats.agreement, "you and the ensemble agree on"));
    parts.extend(share(stats.consistent, "repeats judged alike"));
    if stats.changed.of > 0 {
        parts.push(format!(
            "changed after the reveal {} of {}, {} towards the ensemble",
            stats.changed.part, stats.changed.of, stats.swayed
        ));
    }
    let words = parts.join(" · ");
    let mut lines: Vec<Line<'static>> = text::wrap(&words, columns)
        .into_iter()
        .take(2)
        .map(|range| Line::styled(words[range].to_owned(), theme.muted()))
        .collect();
    if let Some(warning) = stats.warning() {
        lines.insert(
            0,
            Line::styled(text::truncate(warning, columns).into_owned(), theme.warn()),
        );
    }
    lines
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let last = shown(model).len().saturating_sub(1);
    let page = model.areas.page.max(1);
    let cursor = model.queue.cursor;
    match command {
        Command::Down => model.queue.cursor = (cursor + 1).min(last),
        Command::Up => model.queue.cursor = cursor.saturating_sub(1),
        Command::PageDown => model.queue.cursor = (cursor + page).min(last),
        Command::PageUp => model.queue.cursor = cursor.saturating_sub(page),
        Command::First => model.queue.cursor = 0,
        Command::Last => model.queue.cursor = last,
        Command::NextPolicy | Command::PreviousPolicy => {
            let all = Policy::ALL;
            let here = all.iter().position(|policy| *policy == model.queue.policy);
            let step = if command == Command::NextPolicy {
                1
            } else {
                all.len() - 1
            };
            model.queue.policy = all[(here.unwrap_or(0) + step) % all.len()];
            model.queue.cursor = 0;
            model.queue.loaded = false;
            model.queue.items.clear();
            return ask(model);
        }
        Command::WholeProject => {
            let here = model.open.as_ref().map(|open| open.info.key);
            model.queue.scope = match model.queue.scope {
                Some(_) => None,
                None => here,
            };
            model.queue.cursor = 0;
            model.queue.loaded = false;
            model.queue.items.clear();
            return ask(model);
        }
        Command::Conflicts => {
            model.queue.conflicts = !model.queue.conflicts;
            model.queue.cursor = 0;
            model.queue.loaded = false;
            model.queue.items.clear();
            return ask(model);
        }
        Command::Guideline => return vec![Effect::Guideline],
        Command::Open => {
            if let Some(at) = shown(model).get(cursor).copied() {
                if !model.options.judging.queue_blind {
                    let item = model.queue.items[at];
                    let mut effects = model.open_query(item.query);
                    effects.extend(model.open_battle(item.pair.low(), item.pair.high()));
                    return effects;
                }
                model.stack.push(Screen::Review);
                return super::review::review_item(model, at);
            }
        }
        _ => {}
    }
    Vec::new()
}
