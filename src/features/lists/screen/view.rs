//! Draws the list calls of a query; for one of them, its documents side by side and the reply.

use super::commands;
use super::state::Focus;
use crate::domain::battle::Pair;
use crate::domain::sanitize;
use crate::features::lists::app::{ListCounting, ListOutcome, QueryList};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::Screen;
use crate::tui::text::{self, pad_left, pad_right, usd};
use crate::tui::theme::Theme;
use crate::tui::widgets::document_text::TextMarks;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{document_text, folded_page, heading, notice};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Minimum columns of a document, and the columns between two of them.
const COLUMN: u16 = 21;
const GAP: u16 = 3;
/// Maximum number of documents side by side.
const SIDE_BY_SIDE: usize = 8;
/// Columns of the number of a list, of its plan, and of its round.
const NUMBER: usize = 4;
const PLAN: usize = 8;
const ROUND: usize = 5;
/// Minimum and maximum columns of a judge, and of the question.
const JUDGE: (usize, usize) = (5, 16);
const QUESTION: (usize, usize) = (8, 16);
/// Columns of the mark of the document under the cursor.
const MARK: usize = 2;
/// Minimum rows of a text before a document gets two rows of facts.
const LEAST_TEXT: u16 = 4;
/// Minimum height for two rows about the list.
const TALL: u16 = 30;
/// Maximum number of bytes of a reply shown.
const SHOWN_BYTES: usize = 20_000;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let found = model
        .open
        .as_ref()
        .map(|open| (open, model.lists().found(open.info.key)));
    let say = |words: &str, buf| {
        notice(words, theme, rest, buf);
        Areas::default()
    };
    let (open, lists) = match found {
        None => return say("loading …", buf),
        Some((_, None)) => return say("reading the list calls …", buf),
        Some((_, Some(Err(error)))) => return say(&sanitize::line(error), buf),
        Some((_, Some(Ok([])))) => {
            let words = "No list calls about this query yet. In the shell, `overrule lists ask \
                         --calls 60 --dry-run` shows what they cost.";
            return say(words, buf);
        }
        Some((open, Some(Ok(lists)))) => (open, lists),
    };
    let state = model.lists();
    let most = (rest.height / 5).max(3);
    let rows = (lists.len() as u16).min(most) + 1;
    let top = cut(&mut rest, rows);
    let mut areas = table(model, open, lists, Canvas::new(theme, top, buf));
    let Some(list) = state.chosen() else {
        return areas;
    };
    let screen = ListView {
        model,
        open,
        list,
        is_hidden: model.hides_list(open, list),
        theme,
    };
    let facts = screen.facts(
        usize::from(rest.width),
        if area.height < TALL { 1 } else { 2 },
    );
    let rows = facts.len() as u16;
    Paragraph::new(facts).render(cut(&mut rest, rows), buf);
    let columns = usize::from(rest.width);
    let reply = screen.reply(columns, caches);
    let share = match state.focus {
        Focus::Reply => rest.height / 2,
        Focus::Lists | Focus::Texts => rest.height / 4,
    };
    let panes = model.split(
        rest,
        PaneSplit {
            upright: false,
            gap: 1,
            usual: (reply.lines.len() as u16)
                .saturating_add(1)
                .min(share)
                .max(2),
            least: [LEAST_TEXT, 2],
        },
    );
    areas.border = Some(panes.border);
    areas.panes = [top, panes.first, panes.second];
    screen.documents(&mut areas, Canvas::new(theme, panes.first, buf));
    Paragraph::new(screen.pair(columns)).render(panes.between, buf);
    let mut below = panes.second;
    let focus = state.focus == Focus::Reply;
    let top = cut(&mut below, 1);
    heading(&reply.title, focus, theme, top, buf);
    let hint = format!(": {} then {}", key(Command::NextPane), key(Command::Down));
    let hint = if focus { "" } else { hint.as_str() };
    let canvas = Canvas::new(theme, below, buf);
    areas.aside = folded_page(reply.lines, state.reply_scroll, hint, canvas);
    areas
}

fn key(command: Command) -> String {
    key_on(command, Screen::LISTS)
}

/// Draws one row per list call.
fn table(model: &Model, open: &OpenQuery, lists: &[QueryList], canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rows = area;
    let head = cut(&mut rows, 1);
    let columns = usize::from(area.width);
    let cursor = model.lists().cursor();
    let page = usize::from(rows.height);
    let first = (cursor + 1).saturating_sub(page.max(1));
    let widest = |(least, most): (usize, usize), of: fn(&QueryList) -> String| {
        let widths = lists.iter().map(|list| text::width(&of(list)));
        widths.max().unwrap_or(0).clamp(least, most)
    };
    let (judge, asked) = (widest(JUDGE, judge_name), widest(QUESTION, question));
    let row = |number: &str, name: &str, plan: &str, round: &str, words: &str| {
        format!(
            "{}  {}  {}{}  {}  ",
            pad_left(number, NUMBER),
            pad_right(name, judge),
            pad_right(plan, PLAN),
            pad_left(round, ROUND),
            pad_right(words, asked)
        )
    };
    let is_focused = model.lists().focus == Focus::Lists;
    let titles = row("list", "judge", "plan", "round", "question") + "answer";
    let (mark, style) = if is_focused {
        ("▸ ", theme.accent())
    } else {
        ("  ", theme.muted())
    };
    text::line(&format!("{mark}{titles}"), columns, style).render(head, buf);
    for (line, (at, list)) in rows.rows().zip(lists.iter().enumerate().skip(first)) {
        if at == cursor {
            buf.set_style(line, theme.selection());
        }
        let plan = sanitize::line(&list.call.list.plan);
        let round = (list.call.list.round + 1).to_string();
        let number = list.number.to_string();
        let facts = row(&number, &judge_name(list), &plan, &round, &question(list));
        let mark = if at == cursor { "▌ " } else { "  " };
        let before = format!("{mark}{facts}");
        let room = columns.saturating_sub(text::width(&before));
        let (words, style) = answer(model, open, list, theme);
        Line::from(vec![
            Span::raw(text::truncate(&before, columns).into_owned()),
            Span::styled(text::truncate(&words, room).into_owned(), style),
        ])
        .render(line, buf);
    }
    scrollbar(first, lists.len(), Canvas::new(theme, rows, buf));
    Areas {
        list: rows,
        first,
        position: Some(ListPosition::unfiltered(cursor, lists.len())),
        ..Areas::default()
    }
}

fn judge_name(list: &QueryList) -> String {
    sanitize::line(&list.call.list.judge).into_owned()
}

/// `order of 5`, `best:2 of 5`.
fn question(list: &QueryList) -> String {
    let form = sanitize::line(&list.call.list.form);
    format!("{form} of {}", list.call.list.shown.len())
}

/// The answer in the numbers of the columns, best first: `3 > 1 > 2, counts`.
fn answer(model: &Model, open: &OpenQuery, list: &QueryList, theme: &Theme) -> (String, Style) {
    match list.call.outcome {
        ListOutcome::Outstanding => return ("outstanding".to_owned(), theme.missing()),
        ListOutcome::InBatch => return ("in a batch".to_owned(), theme.missing()),
        ListOutcome::Malformed(_) => return ("malformed".to_owned(), theme.warn()),
        ListOutcome::Answered(_) => {}
    }
    let counts = match list.counting {
        ListCounting::Counts(_) => "counts",
        ListCounting::Probe => "probe",
        _ => "does not count",
    };
    if model.hides_list(open, list) {
        return (format!("hidden, {counts}"), theme.muted());
    }
    let named = list.call.words(|at| (at + 1).to_string());
    let named = named.unwrap_or_default();
    (format!("{counts}: {named}"), theme.text())
}

/// A reply with its heading.
struct ReplyLines {
    title: String,
    lines: Vec<Line<'static>>,
}

/// The list under the cursor as the screen shows it.
struct ListView<'a> {
    model: &'a Model,
    open: &'a OpenQuery,
    list: &'a QueryList,
    is_hidden: bool,
    theme: &'a Theme,
}

impl ListView<'_> {
    /// What was answered, by which model, and at which cost.
    fn facts(&self, columns: usize, rows: usize) -> Vec<Line<'static>> {
        let Self { list, theme, .. } = *self;
        let reply = list.call.reply.as_ref();
        let (state, style) = match &list.call.outcome {
            ListOutcome::Outstanding => {
                let words = "no answer: not asked yet, or the calls failed".to_owned();
                (words, theme.missing())
            }
            ListOutcome::InBatch => {
                let words = "no answer yet: it is in an open batch".to_owned();
                (words, theme.missing())
            }
            ListOutcome::Malformed(why) => {
                let words = format!("does not count: {}", sanitize::line(why));
                (words, theme.warn())
            }
            ListOutcome::Answered(_) => (list.counting.words(), theme.text()),
        };
        let mut parts = vec![format!("list {}: {state}", list.number)];
        if let Some(reply) = reply {
            let model = reply.model.as_deref().map(sanitize::line);
            parts.extend(model.map(|model| format!("model {model}")));
            parts.push(reply.cost_usd.map_or("price unknown".to_owned(), usd));
            parts.push(format!(
                "{} + {} tokens",
                text::count(reply.tokens_input),
                text::count(reply.tokens_output)
            ));
        }
        text::parts(&parts, columns, rows, style)
    }

    fn reply(&self, columns: usize, caches: &mut Caches) -> ReplyLines {
        let Self { list, theme, .. } = *self;
        let plain = |words: &str| ReplyLines {
            title: "reply".to_owned(),
            lines: text::lines(words, columns, theme.muted()),
        };
        let Some(reply) = &list.call.reply else {
            return plain(match list.call.outcome {
                ListOutcome::InBatch => "There is no reply yet. `overrule batch fetch` fetches it.",
                _ => "There is no reply. `overrule lists ask` asks again.",
            });
        };
        let Some(raw) = reply.raw.as_deref() else {
            return plain("The project has no text of this reply.");
        };
        if self.is_hidden {
            return plain(
                "Hidden until you have decided one of the pairs of this list, as the settings say \
                 for other battles.",
            );
        }
        let mut end = raw.len().min(SHOWN_BYTES);
        while !raw.is_char_boundary(end) {
            end -= 1;
        }
        let clipped = if end < raw.len() {
            format!(
                ", first {} of {} kB",
                SHOWN_BYTES / 1_000,
                raw.len() / 1_000
            )
        } else {
            String::new()
        };
        let lines = caches.texts[0].lines(&raw[..end], columns, theme.text());
        ReplyLines {
            title: format!("reply as sent; the numbers are those of the columns{clipped}"),
            lines: lines.to_vec(),
        }
    }

    /// Draws as many documents side by side as fit, including the one under the cursor.
    fn documents(&self, areas: &mut Areas, canvas: Canvas<'_>) {
        let Canvas { theme, area, buf } = canvas;
        let mut body = area;
        let state = self.model.lists();
        let count = self.list.documents.len();
        let fit = usize::from((area.width + GAP) / (COLUMN + GAP)).clamp(1, SIDE_BY_SIDE);
        let shown = fit.min(count);
        let first = (state.column + 1).saturating_sub(shown);
        let mut title = "documents in the order shown".to_owned();
        if shown < count {
            title += &format!(
                " · {} to {} of {count}, {} {} for the others",
                first + 1,
                first + shown,
                key(Command::Left),
                key(Command::Right)
            );
        }
        let focus = state.focus == Focus::Texts;
        heading(&title, focus, theme, cut(&mut body, 1), buf);
        let columns = Layout::horizontal(vec![Constraint::Fill(1); shown])
            .spacing(GAP)
            .split(body);
        for (at, column) in (first..count).zip(columns.iter()) {
            if at > first {
                let rule = Rect {
                    x: column.x.saturating_sub(2),
                    width: 1,
                    ..*column
                };
                for row in rule.intersection(body).rows() {
                    Line::styled("│", theme.border()).render(row, buf);
                }
            }
            let (lines, page, top) = self.document(at, Canvas::new(theme, *column, buf));
            if at == state.column {
                (areas.lines, areas.page, areas.text_first) = (lines, page, top);
            }
        }
    }

    /// Draws the document of a place; returns the number of lines of its text, the number that
    /// fits, and the first visible one.
    fn document(&self, at: usize, canvas: Canvas<'_>) -> (usize, usize, usize) {
        let Canvas { theme, area, buf } = canvas;
        let mut body = area;
        let columns = usize::from(area.width);
        let Self { model, open, .. } = *self;
        let state = model.lists();
        let letter = match state.places() {
            Some([_, b]) if b == at => "B ",
            _ if state.marked == Some(at) => "A ",
            _ => "",
        };
        let place = self.list.place_words(at).filter(|_| !self.is_hidden);
        let place = place.map_or(String::new(), |place| format!(" {place}"));
        let top = cut(&mut body, 1);
        let words = format!("{letter}{}{place}", at + 1);
        let Some(document) = self.list.documents.get(at).copied().flatten() else {
            heading(&words, at == state.column, theme, top, buf);
            let shown = self.list.call.list.shown.get(at);
            let name = shown.map_or(String::new(), |name| {
                sanitize::line(name.as_str()).into_owned()
            });
            text::line(&name, columns, theme.strong()).render(cut(&mut body, 1), buf);
            notice("not in the pool of this query", theme, body, buf);
            return (0, 0, 0);
        };
        let facts = self.document_facts(document, columns);
        let rows = if body.height > LEAST_TEXT { 2 } else { 1 };
        let mut facts = facts.into_iter().take(rows);
        let names = cut(&mut body, rows as u16);
        let mut lines = Vec::new();
        lines.extend(
            facts
                .next()
                .map(|name| text::line(&name[0], columns, theme.strong())),
        );
        lines.extend(facts.flat_map(|parts| text::parts(&parts, columns, 1, theme.muted())));
        Paragraph::new(lines).render(names, buf);
        let Some(source) = open.texts.get(&document) else {
            heading(&words, at == state.column, theme, top, buf);
            Line::styled("loading the text …", theme.missing()).render(body, buf);
            return (0, 0, 0);
        };
        let (shown, lines) = model.layouts.lines(source, &open.info.text, columns);
        let search = model.search.as_ref();
        let marks = TextMarks {
            found: search.map_or(Vec::new(), |search| search.in_text(at)),
            current: search.and_then(|search| search.current_in(at)),
            ..TextMarks::default()
        };
        let page = usize::from(body.height);
        let first = match (state.scroll(at), &marks.current) {
            (Some(first), _) => first.min(lines.len().saturating_sub(page)),
            (None, Some(place)) => shown.line_in_view(&lines, page, place),
            (None, None) => shown.first_line(&lines, page, model.from_top),
        };
        let mut part = document_text::place(first, page, lines.len());
        let mark = if at == state.column { MARK } else { 0 };
        if text::width(&words) + text::width(&part) + mark > columns && !part.is_empty() {
            part = " …".to_owned();
        }
        let words = format!("{words}{part}");
        heading(&words, at == state.column, theme, top, buf);
        let canvas = Canvas::new(theme, body, buf);
        let count = document_text::render(&shown, &lines, first, &marks, canvas);
        (count, page, first)
    }

    /// The title of a document if it tells it from the others, or else its identifier; then its
    /// rank, its score and the other name.
    fn document_facts(&self, document: usize, columns: usize) -> [Vec<String>; 2] {
        let Self { open, list, .. } = *self;
        let name = open.name(document);
        let title = |document: usize| {
            let title = open.documents.get(document)?.title()?;
            Some(text::truncate(&sanitize::line(title), columns).into_owned())
        };
        let own = title(document);
        let mut others = list.documents.iter().flatten();
        let is_distinct = others.all(|other| *other == document || title(*other) != own);
        let mut facts = match open.standing(document) {
            _ if self.is_hidden => Vec::new(),
            None => vec!["not scored".to_owned()],
            Some(standing) => {
                let se = standing
                    .se
                    .map_or(String::new(), |se| format!(" ± {}", text::fixed(se, 2)));
                let score = text::signed(standing.zelo, 2);
                vec![format!("#{} zELO {score}{se}", standing.rank)]
            }
        };
        match own {
            Some(title) if is_distinct => {
                facts.push(name);
                [vec![title], facts]
            }
            other => {
                facts.extend(other);
                [vec![name], facts]
            }
        }
    }

    /// The pair to overrule, or how to choose one.
    fn pair(&self, columns: usize) -> Vec<Line<'static>> {
        let Self {
            model,
            open,
            list,
            theme,
            ..
        } = *self;
        let state = model.lists();
        let (Some([a, b]), Some(pair)) = (state.places(), state.pair()) else {
            let words = format!(
                "{} marks A, the cursor is on B; {} opens their battle",
                key(commands::MARK_DOCUMENT),
                key(Command::Open)
            );
            return vec![text::line(&words, columns, theme.muted())];
        };
        let names = [pair.0, pair.1].map(|document| open.name(document));
        let mut parts = vec![format!("A {} × B {}", names[0], names[1])];
        let is_answered = matches!(list.call.outcome, ListOutcome::Answered(_));
        if is_answered && !self.is_hidden {
            let better = list.better_of(a, b);
            parts.push(match better {
                Some(better) if better == a => "the list: A is better".to_owned(),
                Some(_) => "the list: B is better".to_owned(),
                None => "the list does not decide".to_owned(),
            });
        }
        let verdict = Pair::new(pair.0, pair.1).and_then(|of| open.view.verdict(of));
        if let Some(verdict) = verdict.filter(|_| !self.is_hidden) {
            let decision = verdict.seen_from(pair.0).words("A", "B");
            let who = sanitize::line(&verdict.annotator);
            parts.push(format!("◆ overruled by {who}: {decision}"));
        }
        parts.push(format!("{} judges the pair", key(Command::Open)));
        text::parts(&parts, columns, 1, theme.text())
    }
}
