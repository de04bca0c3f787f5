//! Draws three battles that cannot all be right, side by side.

use crate::domain::battle::Pair;
use crate::domain::priority::DecidedPair;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, Screen, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::battle::numbers::votes_text;
use crate::tui::screens::cycles::state::{CycleRow, rows};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::notice;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Maximum number of lines per title, normally and on tall screens.
const TITLE_LINES: (usize, usize) = (2, 4);
/// Minimum number of rows of a tall screen.
const TALL: u16 = 18;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    let mut areas = Areas::default();
    let Some(open) = &model.open else {
        notice("loading …", theme, area, buf);
        return areas;
    };
    let rows = rows(open);
    if rows.is_empty() {
        let words =
            "No cycle here: neither the ensemble nor any judge puts A over B over C over A.";
        let (_, all) = open.view.triads;
        let columns = usize::from(area.width);
        if open.is_unjudged() {
            let start = key_on(Command::StartRun, Screen::CYCLES);
            let words = format!("Not judged yet. {start}: let the judges compare the documents.");
            notice(&words, theme, area, buf);
            return areas;
        }
        let counted = format!("Triads whose three pairs are decided: {all}.");
        let mut lines = text::lines(words, columns, theme.text());
        lines.extend(text::lines(&counted, columns, theme.muted()));
        Paragraph::new(lines).render(area, buf);
        return areas;
    }
    let room = (rows.len() as u16).min(area.height / 3).max(1);
    let mut body = area;
    let head = cut(&mut body, 1);
    let panes = model.split(
        body,
        PaneSplit {
            upright: false,
            gap: 1,
            usual: body.height.saturating_sub(room + 1).max(1),
            least: [1, 3],
        },
    );
    let (list, rule, detail) = (panes.first, panes.between, panes.second);
    let words = format!(
        "{} · one battle of each three is wrong, most likely the first (⇢)",
        counts(open, &rows)
    );
    text::line(&words, usize::from(head.width), theme.muted()).render(head, buf);
    let page = usize::from(list.height);
    let cursor = model.cycles().place(&rows);
    let first = (cursor + 1).saturating_sub(page);
    for (line, (place, row)) in list.rows().zip(rows.iter().enumerate().skip(first)) {
        if place == cursor {
            buf.set_style(line, theme.selection());
        }
        let words = arrows(open, row, usize::from(line.width).saturating_sub(16));
        Line::from(vec![
            Span::raw(if place == cursor { "▌ " } else { "  " }),
            Span::styled(text::pad_right(&who(open, row), 14), theme.strong()),
            Span::raw(
                text::truncate(&words, usize::from(line.width).saturating_sub(16)).into_owned(),
            ),
        ])
        .render(line, buf);
    }
    text::rule(usize::from(rule.width), theme.faint()).render(rule, buf);
    battles(open, &rows[cursor], theme, detail, buf);
    areas = areas.split(&panes);
    areas.list = list;
    areas.lines = rows.len();
    areas.page = page;
    areas.first = first;
    areas.position = Some(ListPosition::unfiltered(cursor, rows.len()));
    areas
}

/// Number of cycles of the ensemble, as on the matrix, and of single judges.
fn counts(open: &OpenQuery, rows: &[CycleRow]) -> String {
    let (cyclic, _) = open.view.triads;
    let ensemble = format!("{} of the ensemble", text::counted(cyclic, "cycle"));
    match rows.len() - rows.iter().filter(|row| row.judge.is_none()).count() {
        0 => ensemble,
        of_judges => format!("{ensemble}, {} of single judges", text::count(of_judges)),
    }
}

/// `A ⇢ B → C → A` with titles, weakest win first; with identifiers if there is little space.
fn arrows(open: &OpenQuery, row: &CycleRow, columns: usize) -> String {
    let each = columns.saturating_sub(9) / 4;
    let called = |document: usize| match each {
        18.. => text::truncate(&open.headline(document), each).into_owned(),
        _ => open.name(document),
    };
    let mut words = String::new();
    for (at, edge) in row.edges.iter().enumerate() {
        let arrow = if at == 0 { " ⇢ " } else { " → " };
        words += &format!("{}{arrow}", called(edge.winner));
    }
    let back = row.edges.first().map(|edge| called(edge.winner));
    words + &back.unwrap_or_default()
}

fn who(open: &OpenQuery, row: &CycleRow) -> String {
    match row.judge {
        None => "ensemble".to_owned(),
        Some((index, _)) => open.judge_name(index),
    }
}

fn battles(open: &OpenQuery, row: &CycleRow, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let columns: [Rect; 3] = Layout::horizontal([Constraint::Fill(1); 3])
        .spacing(2)
        .areas(area);
    for ((place, edge), column) in row.edges.iter().enumerate().zip(columns) {
        let width = usize::from(column.width);
        let titles = if area.height >= TALL {
            TITLE_LINES.1
        } else {
            TITLE_LINES.0
        };
        let lines = edge_lines(open, edge, (place == 0, titles), theme, width);
        Paragraph::new(lines).render(column, buf);
    }
}

fn edge_lines(
    open: &OpenQuery,
    edge: &DecidedPair,
    (weakest, titles): (bool, usize),
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let (words, style) = if weakest {
        ("⇢ weakest link", theme.warn())
    } else {
        ("→ stronger", theme.muted())
    };
    let mut lines = vec![text::line(words, columns, style)];
    let names = format!("A {} → B {}", open.name(edge.winner), open.name(edge.loser));
    lines.extend(text::lines(&names, columns, theme.strong()));
    for (letter, document) in [("A", edge.winner), ("B", edge.loser)] {
        let title = format!("{letter}: {}", open.headline(document));
        lines.extend(text::first_lines(&title, columns, titles, theme.muted()));
    }
    let mut say = |words: String, style| lines.extend(text::lines(&words, columns, style));
    if let Some(votes) = votes_text(open, edge.winner, edge.loser) {
        say(votes, theme.text());
    }
    let pair = Pair::new(edge.winner, edge.loser);
    if let Some(verdict) = pair.and_then(|pair| open.view.verdict(pair)) {
        let words = verdict.seen_from(edge.winner).words("A", "B");
        let who = sanitize::line(&verdict.annotator);
        say(
            format!("◆ overruled by {who}: {words}"),
            theme.override_mark(),
        );
    }
    let fitted = open.view.expected(edge.winner, edge.loser);
    let fitted = fitted.map_or(String::new(), |p| {
        format!(" · fit: A wins {}", text::probability(p))
    });
    say(
        format!("strength {:.2} of 0.50{fitted}", edge.strength),
        theme.text(),
    );
    if let Some(pair) = Pair::new(edge.winner, edge.loser) {
        for vote in open.votes_of(pair) {
            let index = open.judge_index(vote.judge);
            let name = index.map_or(String::new(), |index| open.judge_name(index));
            let battle = open
                .view
                .rows()
                .battles
                .iter()
                .find(|record| record.battle.id == vote.battle);
            let (Ok(margin), Some(record)) = (&vote.result, battle) else {
                say(format!("{name}: no vote"), theme.bad());
                continue;
            };
            let towards = if record.battle.b == edge.winner {
                margin.get()
            } else {
                -margin.get()
            };
            let words = match towards {
                for_a if for_a > 0.0 => format!("{name} → A {for_a:.2}"),
                for_b if for_b < 0.0 => format!("{name} → B {:.2}", -for_b),
                _ => format!("{name} = tie"),
            };
            say(words, theme.judge(index.unwrap_or(0)));
        }
    }
    lines
}
