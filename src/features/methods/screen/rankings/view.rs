//! Draws two columns of documents, rank by rank.

use crate::domain::corpus::DocId;
use crate::domain::sanitize;
use crate::features::methods::app::shown_name;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::Screen;
use crate::tui::text::{self, pad_right, truncate};
use crate::tui::widgets::metadata::{FieldColumns, value};
use crate::tui::widgets::{notice, scroll_to};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use std::collections::BTreeMap;

/// Columns of the cursor, the rank and the sign between the rankings.
const FIXED: usize = 12;
/// Minimum columns for showing a document's zELO and identifier before the title.
const WHOLE: usize = 76;
/// Minimum columns of grade, score and title next to metadata.
const TITLE_MIN: usize = 34;
/// Number of documents of each ranking whose values decide the columns of a field.
const LISTED: usize = 20;
const SIGNS: &str = "≠ another document here · ▲ ▼ higher or lower than in the left ranking";

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut area = inset(area);
    let rankings = model.methods().rankings();
    let grades = model.methods().grades();
    let (Some((one, other)), Some(report)) = (rankings, model.methods().found()) else {
        let back = key_on(Command::Back, Screen::RANKINGS);
        let words = format!(
            "Neither of the two methods has a ranking of this query. Press {back} to go back to \
             the methods."
        );
        notice(&words, theme, area, buf);
        return Areas::default();
    };
    let Some(open) = &model.open else {
        notice("loading …", theme, area, buf);
        return Areas::default();
    };
    let columns = usize::from(area.width);
    text::line(&sanitize::line(&open.info.text), columns, theme.title())
        .render(cut(&mut area, 1), buf);
    if let Some(failure) = model.methods().failure() {
        let words = format!("failed: {}", sanitize::line(&failure.message));
        for line in text::lines(&words, columns, theme.warn())
            .into_iter()
            .take(3)
        {
            line.render(cut(&mut area, 1), buf);
        }
    }
    let half = columns.saturating_sub(FIXED) / 2;
    let listed: Vec<&DocId> = one.iter().chain(other).take(2 * LISTED).collect();
    let fields = FieldColumns::new(
        &model.options.config.screen.metadata,
        &listed,
        |id, field| field_value(open, id, field),
        half.saturating_sub(TITLE_MIN),
    );
    let method = model
        .methods()
        .method()
        .map_or("", |method| method.name.as_str());
    let whole = columns >= WHOLE;
    let head = |name: &str, columns| {
        let name = sanitize::line(name);
        let words = if whole {
            format!("{:>6} {:>5} {}{name}", "zELO", "grade", fields.header())
        } else {
            format!("{:>5} {}{name}", "grade", fields.header())
        };
        pad_right(&truncate(&words, columns), columns)
    };
    let head = format!(
        "  rank {}    {}",
        head(&shown_name(&report.baseline), half),
        head(method, half.saturating_sub(1))
    );
    text::line(&head, columns, theme.muted()).render(cut(&mut area, 1), buf);
    if area.height > 4 {
        let row = cut_bottom(&mut area, 1);
        text::line(SIGNS, columns, theme.muted()).render(row, buf);
    }
    let count = one.len().max(other.len());
    let cursor = model.methods().rank_cursor.min(count.saturating_sub(1));
    let first = scroll_to(0, cursor, usize::from(area.height));
    for (row, at) in area.rows().zip(first..count) {
        let selected = at == cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let (left, right) = (one.get(at), other.get(at));
        let sign = if left == right { "=" } else { "≠" };
        let style = if left == right {
            theme.muted()
        } else {
            theme.text()
        };
        let by = right
            .and_then(|id| one.iter().position(|other| other == id))
            .map_or(0, |before| before as i64 - at as i64);
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(format!("{:>3}  ", at + 1), theme.muted()),
            Span::styled(cell(open, grades, left, &fields, (half, whole)), style),
            Span::styled(format!(" {sign} "), theme.faint()),
        ];
        spans.push(match by {
            1.. => Span::styled("▲", theme.good()),
            0 => Span::raw(" "),
            _ => Span::styled("▼", theme.bad()),
        });
        spans.push(Span::styled(
            cell(
                open,
                grades,
                right,
                &fields,
                (half.saturating_sub(1), whole),
            ),
            style,
        ));
        Line::from(spans).render(row, buf);
    }
    Areas {
        list: area,
        lines: count,
        page: usize::from(area.height),
        first,
        position: Some(ListPosition::unfiltered(cursor, count)),
        ..Areas::default()
    }
}

/// A metadata field of a document of the query.
fn field_value(open: &OpenQuery, id: &DocId, field: &str) -> String {
    let document = open.documents.iter().find(|document| document.id == *id);
    document.map_or(String::new(), |document| value(&document.metadata, field))
}

/// A document with its identifier and title, and its zELO and grade if it has them; with only grade
/// and title unless `whole`.
fn cell(
    open: &OpenQuery,
    grades: Option<&BTreeMap<DocId, i32>>,
    id: Option<&DocId>,
    fields: &FieldColumns,
    (columns, whole): (usize, bool),
) -> String {
    let Some(id) = id else {
        return pad_right("–", columns);
    };
    let place = open
        .documents
        .iter()
        .position(|document| document.id == *id);
    let document = place.and_then(|place| open.documents.get(place));
    let zelo = place.and_then(|place| open.view.scores().get(place).copied().flatten());
    let zelo = zelo.map_or_else(
        || "   –  ".to_owned(),
        |zelo| text::pad_left(&text::signed(zelo, 2), 6),
    );
    let title = document.map(|document| {
        let words = document.title.as_deref().unwrap_or(&document.snippet);
        sanitize::line(words).into_owned()
    });
    let grade = grades.and_then(|grades| grades.get(id));
    let grade = grade.map_or_else(|| "–".to_owned(), ToString::to_string);
    let fields = fields.row(|field| field_value(open, id, field));
    let id = sanitize::line(id.as_str());
    let words = match (whole, title) {
        (true, title) => format!(
            "{zelo} {grade:>5} {fields}{id} {}",
            title.unwrap_or_default()
        ),
        (false, Some(title)) => format!("{grade:>5} {fields}{title}"),
        (false, None) => format!("{grade:>5} {fields}{id}"),
    };
    pad_right(&truncate(&words, columns), columns)
}
