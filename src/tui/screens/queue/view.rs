//! Draws the pairs to judge, in order of priority.

use super::LISTED;
use crate::app::review::pair_description::{ListedDocument, ListedPair, PairDescription};
use crate::app::review::review_queue::{QueueItem, QueueItemState};
use crate::domain::priority::{InTop, Policy};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::inset;
use crate::tui::model::{Model, Subject};
use crate::tui::screens::Screen;
use crate::tui::screens::review::panel::statistics_lines;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::metadata::{FieldColumns, value};
use crate::tui::widgets::notice;
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Columns besides number, query and value from which a row shows the titles of both documents.
/// Minimum columns of texts and titles next to metadata.
const TEXT_MIN: usize = 30;
const WITH_TITLES: usize = 84;

/// Columns of the name of a person who is judging a pair.
const NAME: usize = 12;

/// Below this P(a verdict corrects something in the top), a verdict hardly matters.
const CUT: f64 = 0.05;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    // Both titles and, if people disagree, who said what.
    let (details, foot) = if area.height >= 20 {
        (4, 3)
    } else {
        (2 + u16::from(model.queue.conflicts), 2)
    };
    let [totals, settled, head, list, detail, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(details),
        Constraint::Length(foot),
    ])
    .areas(area);
    let columns = usize::from(area.width);
    let shown = model.shown_items();
    text::line(&headline(model), columns, theme.text()).render(totals, buf);
    let about = text::parts(&about(model), columns, 1, theme.muted());
    Paragraph::new(about).render(settled, buf);
    let mut lines = description(model, theme, columns);
    if area.height >= 20 {
        lines.insert(0, text::rule(columns, theme.faint()));
    }
    Paragraph::new(lines).render(detail, buf);
    Paragraph::new(statistics_lines(&model.queue.stats, theme, columns)).render(foot, buf);
    let mut areas = Areas {
        list,
        page: usize::from(list.height),
        lines: shown.len(),
        position: Some(ListPosition {
            cursor: model.queue.cursor,
            shown: shown.len(),
            all: model.queue.items.len(),
        }),
        ..Areas::default()
    };
    if shown.is_empty() {
        notice(&empty(model), theme, list, buf);
        return areas;
    }
    let page = usize::from(list.height);
    let cut = cut_place(model, &shown);
    let mut first = (model.queue.cursor + 1).saturating_sub(page);
    // The cutoff takes one line of the page.
    if first > 0 && cut.is_some_and(|cut| (first..=model.queue.cursor).contains(&cut)) {
        first += 1;
    }
    areas.first = first;
    let names: Vec<String> = shown
        .iter()
        .skip(first)
        .take(page)
        .map(|at| {
            model
                .queries
                .info(model.queue.items[*at].query)
                .map_or(String::new(), |info| {
                    sanitize::line(info.id.as_str()).into_owned()
                })
        })
        .collect();
    let width = names
        .iter()
        .map(|name| text::width(name))
        .max()
        .unwrap_or(5)
        .clamp(5, 22);
    let unit = if model.queue.conflicts {
        ""
    } else {
        unit(model.queue.policy)
    };
    let policy = model.queue.policy;
    let priorities = shown.iter().skip(first).take(page);
    let priorities = priorities.map(|at| {
        let item = &model.queue.items[*at];
        let taken = model.taken_by(&Subject::Pair(item.query, item.pair));
        match taken {
            Some(name) => format!("with {}", text::truncate(&sanitize::line(&name), NAME)),
            None => priority_text(policy, item),
        }
    });
    let priorities: Vec<String> = priorities.collect();
    let words = priorities.iter().map(|words| text::width(words));
    let last = words.max().unwrap_or(0).max(text::width(unit));
    let room = columns.saturating_sub(width + last + 12);
    let in_sight: Vec<&QueueItem> = shown
        .iter()
        .skip(first)
        .take(page)
        .map(|at| &model.queue.items[*at])
        .collect();
    let fields = FieldColumns::of_pairs(
        &model.options.config.screen.metadata,
        &in_sight,
        |item, name| field(model, item, name),
        room.saturating_sub(TEXT_MIN),
    );
    let widths = Widths::new(room - fields.width(), model.queue.scope.is_some());
    Line::styled(
        format!(
            "     #  {}  {}{} {}",
            text::pad_right("query", width),
            fields.header(),
            widths.row("text", "A", "B"),
            text::pad_left(unit, last)
        ),
        theme.muted(),
    )
    .render(head, buf);
    let mut rows = list.rows();
    let items = shown.iter().enumerate().skip(first);
    for (((place, at), name), priority) in items.zip(&names).zip(&priorities) {
        if cut == Some(place)
            && let Some(row) = rows.next()
        {
            let words = format!(" below: P(a verdict corrects the top) under {CUT:.2} ");
            let rule = "┄".repeat(columns.saturating_sub(text::width(&words) + 4));
            Line::styled(format!("┄┄┄┄{words}{rule}"), theme.muted()).render(row, buf);
        }
        let Some(row) = rows.next() else { break };
        let item = &model.queue.items[*at];
        let selected = place == model.queue.cursor;
        let query = model
            .queries
            .info(item.query)
            .map_or(String::new(), |info| {
                sanitize::line(&info.text).into_owned()
            });
        let [a, b] = match model.queue.titles.get(&(item.query, item.pair)) {
            Some(Some(pair)) => sides(model, item, pair).map(|one| sanitize::line(&one.title)),
            Some(None) | None => Default::default(),
        };
        if selected {
            buf.set_style(row, theme.selection());
        }
        Line::from(vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(text::pad_left(&(at + 1).to_string(), 4), theme.muted()),
            Span::raw("  "),
            Span::styled(text::pad_right(name, width), theme.strong()),
            Span::raw("  "),
            Span::raw(fields.row(|name| field(model, item, name))),
            Span::raw(widths.row(&query, &a, &b)),
            Span::raw(" "),
            Span::styled(text::pad_left(priority, last), theme.muted()),
        ])
        .render(row, buf);
    }
    scrollbar(first, shown.len(), Canvas::new(theme, list, buf));
    areas
}

/// Columns for the query's text and for the title of each document; 0 for hidden ones.
struct Widths {
    text: usize,
    title: usize,
}

impl Widths {
    /// The queue of one query omits its text, which would be the same in every row.
    fn new(room: usize, one_query: bool) -> Self {
        let (text, titles) = match one_query {
            true => (0, room),
            false if room >= WITH_TITLES => (room / 3, room - room / 3 - 2),
            false => (room, 0),
        };
        Self {
            text,
            title: titles.saturating_sub(2) / 2,
        }
    }

    fn row(&self, query: &str, a: &str, b: &str) -> String {
        let cells = [(query, self.text), (a, self.title), (b, self.title)];
        let cells = cells
            .into_iter()
            .filter(|(_, width)| *width > 0)
            .map(|(words, width)| text::pad_right(words, width));
        cells.collect::<Vec<_>>().join("  ")
    }
}

/// `3.50 / 4.20`: a metadata field of A and of B; empty if neither has it.
fn field(model: &Model, item: &QueueItem, name: &str) -> String {
    let listed = model.queue.titles.get(&(item.query, item.pair));
    let Some(pair) = listed.and_then(Option::as_ref) else {
        return String::new();
    };
    let values = sides(model, item, pair).map(|one| value(&one.metadata, name));
    match values.each_ref().map(String::as_str) {
        ["", ""] => String::new(),
        [a, b] => format!("{} / {}", or_dash(a), or_dash(b)),
    }
}

fn or_dash(value: &str) -> &str {
    if value.is_empty() { "–" } else { value }
}

/// The documents of a pair as it will be shown, A first.
fn sides<'a>(model: &Model, item: &QueueItem, pair: &'a ListedPair) -> [&'a ListedDocument; 2] {
    let (a, _) = item.sides(model.options.request.seed, &model.options.annotator);
    let [low, high] = pair;
    if a == item.pair.low() {
        [low, high]
    } else {
        [high, low]
    }
}

/// Index of the item at a row of the terminal. The line at the cutoff belongs to the item below it.
pub(super) fn row_at(model: &Model, row: u16) -> usize {
    let (first, line) = (model.areas.first, row.saturating_sub(model.areas.list.y));
    let at = first + usize::from(line);
    let cut = cut_place(model, &model.shown_items());
    match cut.filter(|cut| *cut >= first) {
        Some(cut) if at > cut => at - 1,
        _ => at,
    }
}

/// The first row with a value below the cutoff, if there are rows above it.
fn cut_place(model: &Model, shown: &[usize]) -> Option<usize> {
    if model.queue.policy != Policy::Value {
        return None;
    }
    let value = |at: &usize| {
        let item = &model.queue.items[*at];
        item.priority
            .filter(|_| item.standing == QueueItemState::Fresh)
    };
    let under = |at: &usize| value(at).is_some_and(|value| value < CUT);
    shown.iter().position(under).filter(|place| *place > 0)
}

/// The two documents of the selected pair as they will be shown, and the reason for its priority.
fn description(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let queue = &model.queue;
    let shown = model.shown_items();
    let item = shown.get(queue.cursor).and_then(|at| queue.items.get(*at));
    let Some(item) = item else {
        return lines;
    };
    let unread = ListedPair::default();
    let titles = queue.titles.get(&(item.query, item.pair));
    let titles = titles.and_then(Option::as_ref).unwrap_or(&unread);
    for (side, one) in ["A", "B"].into_iter().zip(sides(model, item, titles)) {
        let words = format!("{side}  {}", sanitize::line(&one.title));
        lines.push(text::line(&words, columns, theme.text()));
    }
    let described = match &queue.described {
        Some((query, pair, found)) if (item.query, item.pair) == (*query, *pair) => found,
        _ => return lines,
    };
    match described {
        Some(PairDescription::Verdicts(said)) => {
            let (a, _) = item.sides(model.options.request.seed, &model.options.annotator);
            let said = said.iter().map(|verdict| {
                let who = sanitize::line(&verdict.annotator);
                format!("{who}: {}", verdict.seen_from(a).words("A", "B"))
            });
            let said = said.collect::<Vec<_>>().join(" · ");
            lines.push(text::line(&said, columns, theme.override_mark()));
        }
        // Controls and repeats look like other items.
        Some(PairDescription::Value(Some(parts))) => {
            // Another program may have recomputed the numbers since the list was made.
            let value = item
                .priority
                .filter(|value| (value - parts.value()).abs() < 1e-9);
            if let Some(value) = value {
                let wrong = text::probability(parts.wrong);
                let words = match parts.in_top {
                    InTop::Probability(inside) => format!(
                        "P(judges wrong) {wrong} × P(A or B in the top {}) {} = {value:.3}",
                        parts.top,
                        text::probability(inside),
                    ),
                    InTop::ByScores(inside) => format!(
                        "P(judges wrong) {wrong}{} = {value:.3} · {} in the top {} by the scores, \
                         which have no standard errors",
                        if inside { "" } else { " × 0" },
                        if inside { "A or B" } else { "neither A nor B" },
                        parts.top,
                    ),
                };
                lines.push(text::line(&words, columns, theme.muted()));
            }
        }
        Some(PairDescription::Value(None)) | None => {}
    }
    lines
}

/// The unit of the last column.
fn unit(policy: Policy) -> &'static str {
    match policy {
        Policy::Value => "value",
        Policy::Impact => "impact",
        Policy::Uncertain => "P(wrong)",
        Policy::Split => "entropy",
        Policy::Surprise => "surprise",
        Policy::Cycle => "weight",
        Policy::Student => "bits",
        Policy::Failed => "votes",
        Policy::Accept => "|z|",
        Policy::Mixed | Policy::Random | Policy::Proposed => "",
    }
}

/// The reason for an item's priority. Controls and repeats look like other items, since knowing
/// them would change how they are judged.
fn priority_text(policy: Policy, item: &QueueItem) -> String {
    match (item.standing, policy, item.priority) {
        (QueueItemState::Again, ..) => "undone".to_owned(),
        (QueueItemState::PassedOver, ..) => "skipped".to_owned(),
        (QueueItemState::Later, ..) => "postponed".to_owned(),
        (_, Policy::Mixed | Policy::Random, _) | (.., None) => String::new(),
        (_, Policy::Failed, Some(missing)) => format!("{missing:.0} missing"),
        (_, Policy::Split | Policy::Student, Some(bits)) => format!("{bits:.2} bit"),
        (_, Policy::Surprise, Some(residual)) => format!("{residual:.1} σ"),
        (_, Policy::Accept, Some(score)) => format!("{score:.2}"),
        (_, _, Some(priority)) => format!("{priority:.3}"),
    }
}

fn headline(model: &Model) -> String {
    let queue = &model.queue;
    let order = if queue.conflicts {
        "where people differ".to_owned()
    } else {
        format!("{}: {}", queue.policy, queue.policy.words())
    };
    let mut parts = Vec::new();
    if !queue.filter.is_empty() {
        parts.push(format!("filter: {}", sanitize::line(&queue.filter)));
    }
    parts.push(order);
    if queue.conflicts && queue.stats.conflicts > 0 {
        let judged = text::counted(queue.stats.conflicts, "pair");
        parts.push(format!("{judged} judged by you already"));
    }
    if queue.within.is_some() {
        parts.push("queries on which prompts are tuned".to_owned());
    }
    if queue.against.is_some() {
        parts.push("one judge against the others".to_owned());
    }
    match queue.items.len() {
        _ if queue.failed.is_some() => parts.push("not available".to_owned()),
        _ if !queue.loaded => parts.push("calculating …".to_owned()),
        LISTED => parts.push(format!("the first {}", text::count(LISTED))),
        _ => {}
    }
    parts.join(" · ")
}

/// The stopping rule (if the top is settled, further judgments are not expected to change it), and
/// the queries of the queue.
fn about(model: &Model) -> Vec<String> {
    let scope = model.queue.scope;
    let about = match scope {
        None => "all queries".to_owned(),
        Some(key) => {
            let info = model.queries.info(key);
            info.map_or("one query".to_owned(), |info| {
                format!("query {}", sanitize::line(info.id.as_str()))
            })
        }
    };
    let (all, sure) = match scope {
        Some(query) => {
            let summary = model.queries.summary(query);
            let decidable = summary.filter(|summary| summary.settled.is_some());
            decidable.map_or((0, 0), |summary| (1, usize::from(summary.stop)))
        }
        None => {
            let totals = model.queries.totals();
            (totals.decidable, totals.settled)
        }
    };
    let settled = match (all, sure) {
        (0, _) => return vec![about],
        (1, 1) => {
            "the top is settled at 95 %: more verdicts are not expected to change it".to_owned()
        }
        (all, sure) if all == sure => {
            "every top is settled at 95 %: more verdicts are not expected to change it".to_owned()
        }
        (1, _) => "the top is not settled at 95 % yet".to_owned(),
        (all, sure) => format!(
            "the top is settled at 95 % for {} of {} queries",
            text::count(sure),
            text::count(all)
        ),
    };
    vec![settled, about]
}

fn empty(model: &Model) -> String {
    let key = |command| key_on(command, Screen::QUEUE);
    if let Some(why) = &model.queue.failed {
        return sanitize::line(why).into_owned();
    }
    match (model.queue.loaded, model.queue.filter.is_empty()) {
        (true, true) if model.queue.conflicts => {
            let words = match model.queue.stats.conflicts {
                0 => "No conflicts: no two people decided a pair differently.".to_owned(),
                judged => format!(
                    "People differ on {}, judged by you already: somebody else has to resolve \
                     that, or you change your verdict.",
                    text::counted(judged, "pair")
                ),
            };
            format!(
                "{words} Press {} to list all pairs.",
                key(Command::Conflicts)
            )
        }
        (false, _) => match model.queue.waits_for {
            Some(left) if left > 0 => format!(
                "calculating what to look at first: {} to go …",
                text::counted(left, "query")
            ),
            _ => "calculating what to look at first …".to_owned(),
        },
        (true, false) => format!(
            "No query matches the filter. Press {} to show all.",
            key(Command::Back)
        ),
        (true, true) if model.queries.rows().is_empty() => {
            let import = key_on(Command::Import, Screen::QUERIES);
            let back = key(Command::Back);
            format!("This project holds no queries yet. {back}, then {import}: import some.")
        }
        (true, true) if model.queries.is_unjudged() => format!(
            "Not judged yet. {}: let the judges compare the documents.",
            key(Command::StartRun)
        ),
        (true, true) if model.queue.policy == Policy::Accept => format!(
            "No battle of an acceptance is left to judge. {}: start one, or show its result. {}: \
             another order.",
            key(Command::Accept),
            key(Command::NextPolicy)
        ),
        (true, true) if model.queue.policy == Policy::Proposed => format!(
            "No proposed verdict waits. Agents propose them through `overrule mcp`. {}: another order.",
            key(Command::NextPolicy)
        ),
        (true, true) => format!(
            "Every pair of this order is decided. {}: pairs on which people differ. {}: another \
             order.",
            key(Command::Conflicts),
            key(Command::NextPolicy)
        ),
    }
}
