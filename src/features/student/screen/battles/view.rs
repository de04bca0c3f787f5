//! Draws one row per battle: the query, both documents, the ensemble's score and the student's
//! prediction.

use crate::domain::sanitize;
use crate::features::student::app::ReportedBattle;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::text::{self, pad_left, pad_right, truncate};
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{notice, scroll_to};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Columns of the mark, of a number, and of the identifiers of a query and a document.
const MARK: usize = 2;
const NUMBER: usize = 6;
const NAMES: (usize, usize) = (8, 22);
/// Blanks between and after the three names.
const NAMES_GAPS: usize = 3;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut list = inset(area);
    let (Some(report), Some(group)) = (model.student().report(), model.student().group()) else {
        notice("calculating the figures …", theme, list, buf);
        return Areas::default();
    };
    let columns = usize::from(list.width);
    let count = model.student().battles.len();
    let cursor = model.student().battle_cursor.min(count.saturating_sub(1));
    let words = format!(
        "{} · figure {} · {} · least expected first",
        sanitize::line(&report.name),
        model.student().figure.number(),
        group.name
    );
    let head = cut(&mut list, 1);
    text::line(&words, columns, theme.text()).render(head, buf);
    let first = scroll_to(0, cursor, usize::from(list.height.saturating_sub(1)));
    let shown = first..count.min(first + usize::from(list.height));
    let longest = |of: fn(&ReportedBattle) -> &str| {
        let widths = shown
            .clone()
            .filter_map(|at| model.student().battle(at))
            .map(|battle| text::width(&sanitize::line(of(battle))));
        widths.max().unwrap_or(0).clamp(NAMES.0, NAMES.1)
    };
    let mut names = [
        longest(|battle| battle.query.as_str()),
        longest(|battle| battle.a.as_str()),
        longest(|battle| battle.b.as_str()),
    ];
    // A narrow screen omits P(tie) first, then P(B); both follow from the rest or are shown in the
    // battle itself.
    let mut heads = vec![(0, "score"), (1, "P(A)"), (2, "P(tie)"), (3, "P(B)")];
    let room = |heads: usize| columns.saturating_sub(MARK + heads * (NUMBER + 1) + NAMES_GAPS);
    for left_out in [2, 3] {
        if names.iter().sum::<usize>() > room(heads.len()) {
            heads.retain(|(at, _)| *at != left_out);
        }
    }
    let numbers = heads.len() * (NUMBER + 1);
    let room = room(heads.len());
    while names.iter().sum::<usize>() > room
        && let Some(widest) = names.iter_mut().max().filter(|name| **name > NAMES.0)
    {
        *widest -= 1;
    }
    let taken = names.iter().sum::<usize>() + names.len();
    let rest = columns.saturating_sub(MARK + taken + numbers + 2);
    let mut titles = format!(
        "  {} {} {}",
        pad_right("query", names[0]),
        pad_right("A", names[1]),
        pad_right("B", names[2])
    );
    for (_, title) in &heads {
        titles += &format!(" {}", pad_left(title, NUMBER));
    }
    if rest >= 12 {
        titles += "  text";
    }
    text::line(&titles, columns, theme.muted()).render(cut(&mut list, 1), buf);
    for (row, at) in list.rows().zip(shown) {
        let Some(battle) = model.student().battle(at) else {
            continue;
        };
        let selected = at == cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let cell = |id: &str, width| pad_right(&truncate(&sanitize::line(id), width), width);
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(cell(battle.query.as_str(), names[0]), theme.muted()),
            Span::raw(format!(
                " {} {}",
                cell(battle.a.as_str(), names[1]),
                cell(battle.b.as_str(), names[2])
            )),
        ];
        let scores = scores(battle);
        spans.extend(heads.iter().map(|(at, _)| {
            let value = scores[*at];
            let style = if *at == 0 {
                theme.strong()
            } else {
                theme.text()
            };
            Span::styled(
                format!(" {}", pad_left(&format!("{value:.3}"), NUMBER)),
                style,
            )
        }));
        if rest >= 12 {
            let query = model.queries.identified(&battle.query);
            let words = query.map_or(String::new(), |info| {
                sanitize::line(&info.text).into_owned()
            });
            spans.push(Span::styled(
                format!("  {}", truncate(&words, rest)),
                theme.muted(),
            ));
        }
        Line::from(spans).render(row, buf);
    }
    scrollbar(first, count, Canvas::new(theme, list, buf));
    Areas {
        list,
        first,
        lines: count,
        page: usize::from(list.height),
        position: Some(ListPosition::unfiltered(cursor, count)),
        ..Areas::default()
    }
}

/// The ensemble's score (1: B better), and the student's prediction.
fn scores(battle: &ReportedBattle) -> [f64; 4] {
    let predicted = battle.predicted;
    [battle.score, predicted.a(), predicted.tie(), predicted.b()]
}
