//! Which pairs to look at, first things first.

use crate::app::review::review_queue::{QueueItem, QueueItemState};
use crate::domain::priority::Policy;
use crate::domain::sanitise;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::layout::inset;
use crate::tui::model::Model;
use crate::tui::requests::LISTED;
use crate::tui::screens::review::panel::statistics_lines;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::notice;
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    let [head, list, foot] = Layout::vertical([
        Constraint::Length(3),
        Constraint::Min(1),
        Constraint::Length(3),
    ])
    .areas(area);
    let columns = usize::from(area.width);
    Paragraph::new(headline(model, theme, columns)).render(head, buf);
    Paragraph::new(statistics_lines(&model.queue.stats, theme, columns)).render(foot, buf);
    let shown = model.shown_items();
    let mut areas = Areas {
        list,
        page: usize::from(list.height),
        lines: shown.len(),
        ..Areas::default()
    };
    if shown.is_empty() {
        notice(empty(model), theme, list, buf);
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
            let found = model.queries.info(model.queue.items[*at].query);
            found.map_or(String::new(), |info| {
                sanitise::line(info.id.as_str()).into_owned()
            })
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
        let found = model.queries.info(item.query);
        let words = found.map_or(String::new(), |info| {
            sanitise::line(&info.text).into_owned()
        });
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

/// Why an item comes so early. Controls and repeats look like the rest: knowing them would change how they are judged.
fn priority_text(policy: Policy, item: &QueueItem) -> String {
    match (item.standing, policy, item.priority) {
        (QueueItemState::Again, ..) => "taken back".to_owned(),
        (QueueItemState::PassedOver, ..) => "passed over".to_owned(),
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
            let info = model.queries.info(key);
            info.map_or("one query".to_owned(), |info| {
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
        text::line(&first, columns, theme.strong()),
        text::line(queue.policy.words(), columns, theme.muted()),
        text::line(&settled_text(model), columns, theme.muted()),
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

fn empty(model: &Model) -> &'static str {
    match (model.queue.loaded, model.queue.filter.is_empty()) {
        (false, _) => "working out what to look at first …",
        (true, false) => "No query matches the filter. Esc shows all.",
        (true, true) => "Nothing to look at under this policy. o takes the next one.",
    }
}
