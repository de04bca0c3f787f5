//! The cycles of a query: three battles that cannot all be right, side by side.

use crate::domain::battle::Pair;
use crate::domain::priority::{
    CyclicTriad, DecidedPair, cyclic_triads, decided_pairs, decided_pairs_of_judge,
};
use crate::domain::vote::JudgeId;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, Effect, Model, OpenQuery, Screen};
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// A cycle, of the ensemble or of one judge.
struct CycleRow {
    judge: Option<(usize, JudgeId)>,
    triad: CyclicTriad,
}

/// Goes to the cycles of the query that is open.
pub fn show(model: &mut Model) -> Vec<Effect> {
    model.cycle = 0;
    model.stack.push(Screen::Cycles);
    wanted(model)
}

fn rows(open: &OpenQuery) -> Vec<CycleRow> {
    let of = |judge, triads: Vec<CyclicTriad>| {
        triads
            .into_iter()
            .map(move |triad| CycleRow { judge, triad })
    };
    let mut rows: Vec<CycleRow> = of(None, cyclic_triads(&decided_pairs(&open.view))).collect();
    for (index, (judge, _)) in open.judges.iter().enumerate() {
        let triads = cyclic_triads(&decided_pairs_of_judge(&open.view, *judge));
        rows.extend(of(Some((index, *judge)), triads));
    }
    rows
}

/// The three pairs of a triad, the weakest first.
fn pairs(triad: &CyclicTriad) -> Vec<Pair> {
    let [x, y, z] = triad.documents;
    let mut pairs: Vec<Pair> = [(x, y), (y, z), (x, z)]
        .into_iter()
        .filter_map(|(x, y)| Pair::new(x, y))
        .collect();
    pairs.sort_by_key(|pair| *pair != triad.weakest);
    pairs
}

/// Texts and votes of the cycle under the cursor.
fn wanted(model: &Model) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let rows = rows(open);
    let Some(row) = rows.get(model.cycle.min(rows.len().saturating_sub(1))) else {
        return Vec::new();
    };
    let battles: Vec<usize> = pairs(&row.triad)
        .into_iter()
        .flat_map(|pair| open.view.battles_of(pair).to_vec())
        .collect();
    super::battle::wanted(open, &row.triad.documents, &battles)
}

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    let area = super::battle::inset(area);
    let mut areas = Areas {
        body: area,
        ..Areas::default()
    };
    let Some(open) = &model.open else {
        Line::styled("loading …", theme.muted()).render(area, buf);
        return areas;
    };
    let rows = rows(open);
    if rows.is_empty() {
        let words =
            "No cycle here: neither the ensemble nor any judge puts A over B over C over A.";
        let (_, all) = open.view.triads;
        let lines = vec![
            Line::styled(words, theme.text()),
            Line::styled(
                format!("Triads whose three pairs are decided: {all}."),
                theme.muted(),
            ),
        ];
        Paragraph::new(lines).render(area, buf);
        return areas;
    }
    let room = (rows.len() as u16).min(area.height / 3).max(1);
    let [head, list, rule, detail] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(room),
        Constraint::Length(1),
        Constraint::Min(1),
    ])
    .areas(area);
    Line::styled(
        text::truncate(
            &format!("{} cycles · one battle of each three is wrong", rows.len()),
            usize::from(head.width),
        )
        .into_owned(),
        theme.muted(),
    )
    .render(head, buf);
    let page = usize::from(list.height);
    let cursor = model.cycle.min(rows.len() - 1);
    let first = (cursor + 1).saturating_sub(page);
    for (line, (place, row)) in list.rows().zip(rows.iter().enumerate().skip(first)) {
        if place == cursor {
            buf.set_style(line, theme.selection());
        }
        let names: Vec<String> = row
            .triad
            .documents
            .iter()
            .map(|document| open.name(*document))
            .collect();
        let words = format!(
            "{} · weakest {} × {}, {:.2} against {:.2}",
            names.join(" "),
            open.name(row.triad.weakest.low()),
            open.name(row.triad.weakest.high()),
            row.triad.strength,
            row.triad.against
        );
        Line::from(vec![
            Span::raw(if place == cursor { "▌ " } else { "  " }),
            Span::styled(text::pad_right(&who(open, row), 14), theme.strong()),
            Span::raw(
                text::truncate(&words, usize::from(line.width).saturating_sub(16)).into_owned(),
            ),
        ])
        .render(line, buf);
    }
    Line::styled("─".repeat(usize::from(rule.width)), theme.faint()).render(rule, buf);
    battles(open, &rows[cursor], theme, detail, buf);
    areas.list = list;
    areas.lines = rows.len();
    areas.page = page;
    areas.first = first;
    areas
}

fn who(open: &OpenQuery, row: &CycleRow) -> String {
    match row.judge {
        None => "ensemble".to_owned(),
        Some((index, _)) => open.judges.get(index).map_or(String::new(), |(_, spec)| {
            crate::domain::sanitise::line(&spec.name).into_owned()
        }),
    }
}

/// The three battles side by side.
fn battles(open: &OpenQuery, row: &CycleRow, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let all = match row.judge {
        None => decided_pairs(&open.view),
        Some((_, judge)) => decided_pairs_of_judge(&open.view, judge),
    };
    let columns: [Rect; 3] = Layout::horizontal([Constraint::Fill(1); 3])
        .spacing(2)
        .areas(area);
    for (pair, column) in pairs(&row.triad).into_iter().zip(columns) {
        let edge = all
            .iter()
            .find(|edge| Pair::new(edge.winner, edge.loser) == Some(pair));
        let weakest = pair == row.triad.weakest;
        let lines = edge.map_or(Vec::new(), |edge| {
            edge_lines(open, edge, weakest, theme, usize::from(column.width))
        });
        Paragraph::new(lines).render(column, buf);
    }
}

fn edge_lines(
    open: &OpenQuery,
    edge: &DecidedPair,
    weakest: bool,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled(
        text::truncate(if weakest { "weakest" } else { "stronger" }, columns).into_owned(),
        if weakest { theme.warn() } else { theme.muted() },
    )];
    let mut say = |words: String, style| {
        for range in text::wrap(&words, columns) {
            lines.push(Line::styled(words[range].to_owned(), style));
        }
    };
    say(
        format!("{} over {}", open.name(edge.winner), open.name(edge.loser)),
        theme.strong(),
    );
    let fitted = open.view.expected(edge.winner, edge.loser);
    say(
        format!(
            "strength {:.2} of 0.50{}",
            edge.strength,
            fitted.map_or(String::new(), |p| format!(
                " · the fit gives it {:.0} %",
                100.0 * p
            ))
        ),
        theme.text(),
    );
    if let Some(pair) = Pair::new(edge.winner, edge.loser) {
        for vote in open.votes_of(pair) {
            let index = open.judges.iter().position(|(id, _)| *id == vote.judge);
            let name = index.map_or(String::new(), |index| {
                crate::domain::sanitise::line(&open.judges[index].1.name).into_owned()
            });
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
            let words = if towards > 0.0 {
                format!("{name}: for {} {towards:.2}", open.name(edge.winner))
            } else if towards < 0.0 {
                format!("{name}: for {} {:.2}", open.name(edge.loser), -towards)
            } else {
                format!("{name}: tie")
            };
            say(words, theme.judge(index.unwrap_or(0)));
        }
    }
    for document in [edge.winner, edge.loser] {
        say(
            format!("{}: {}", open.name(document), open.headline(document)),
            theme.muted(),
        );
    }
    lines
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let rows = rows(open);
    let last = rows.len().saturating_sub(1);
    let cursor = model.cycle.min(last);
    match command {
        Command::Down => model.cycle = (cursor + 1).min(last),
        Command::Up => model.cycle = cursor.saturating_sub(1),
        Command::First => model.cycle = 0,
        Command::Last => model.cycle = last,
        Command::Open => {
            if let Some(row) = rows.get(cursor) {
                let pair = row.triad.weakest;
                return model.open_battle(pair.low(), pair.high());
            }
        }
        _ => {}
    }
    wanted(model)
}
