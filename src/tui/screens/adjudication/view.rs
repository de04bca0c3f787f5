//! Draws the comparison of picks with labels, the effect of rulings on rankings, and the items to
//! rule on.

use super::tables;
use crate::app::adjudication::data::{AdjudicationItem, AdjudicationList};
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::metadata::{FieldColumns, value};
use crate::tui::widgets::{folded_rows, notice, page_hint};
use ratatui::layout::{Constraint, Layout};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Minimum number of columns for showing a command and its description on one line.
const STEPS: usize = 100;

/// Minimum number of rows for showing the metrics: a heading, two metrics, and the number of
/// further ones.
const MEASURES: u16 = 4;

/// Minimum number of columns next to the identifiers for showing both the document's title and the
/// query text.
const BOTH: usize = 60;
/// Minimum columns of the titles next to metadata.
const TITLE_MIN: usize = 24;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    let mut areas = Areas::default();
    let columns = usize::from(area.width);
    let Some(overview) = &model.adjudication.overview else {
        notice("reading picks, labels and rulings …", theme, area, buf);
        return areas;
    };
    if overview.judges.is_empty() {
        Paragraph::new(nothing(overview, theme, columns)).render(area, buf);
        return areas;
    }
    let judges = tables::judges(overview, theme, columns);
    let effect = tables::effect(model, overview, theme, columns);
    // The list keeps a third of the screen.
    let room = area.height.saturating_sub(7) * 2 / 3;
    let judge_rows = (judges.len() as u16).min(room.saturating_sub(4).max(3));
    let effect_rows = (effect.len() as u16).min(room.saturating_sub(judge_rows));
    // A table of one or two rows is useless; the key that shows all is given below the judges.
    let effect_rows = if effect_rows < MEASURES {
        0
    } else {
        effect_rows
    };
    let hint = page_hint(Screen::ADJUDICATION);
    let judges = folded_rows(judges, judge_rows, &hint, theme);
    let effect = folded_rows(effect, effect_rows, &hint, theme);
    let [head, boxes, gap, measures, rule, list] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(judge_rows),
        Constraint::Length(u16::from(effect_rows > 0)),
        Constraint::Length(effect_rows),
        Constraint::Length(3),
        Constraint::Min(1),
    ])
    .areas(area);
    Paragraph::new(headline(model, overview, theme, columns)).render(head, buf);
    Paragraph::new(judges).render(boxes, buf);
    Line::default().render(gap, buf);
    Paragraph::new(effect).render(measures, buf);
    let shown = model.shown_disagreements();
    Paragraph::new(list_head(model, &shown, theme, columns)).render(rule, buf);
    areas.list = list;
    areas.page = usize::from(list.height);
    areas.lines = shown.len();
    areas.position = Some(ListPosition {
        cursor: model.adjudication.cursor,
        shown: shown.len(),
        all: model.adjudication.disagreements.len(),
    });
    if shown.is_empty() {
        let next = key_on(Command::Conflicts, Screen::ADJUDICATION);
        let words = match (
            model.adjudication.filter.is_empty(),
            model.adjudication.list,
        ) {
            _ if model.is_reading_overview() => "reading …".to_owned(),
            (false, _) => {
                let back = key_on(Command::Back, Screen::ADJUDICATION);
                format!("Nothing matches the filter. Press {back} to show all.")
            }
            (true, AdjudicationList::Open) => {
                let export = key_on(Command::Export, Screen::ADJUDICATION);
                format!("Nothing left to rule on. Press {export} to export the corrected labels.")
            }
            (true, AdjudicationList::Ruled) => {
                format!("You have made no ruling yet. Press {next} for the next list.")
            }
            (true, AdjudicationList::Contested) => {
                format!("No conflicts between people. Press {next} for the next list.")
            }
        };
        text::line(&words, columns, theme.muted()).render(list, buf);
        return areas;
    }
    areas.first = (model.adjudication.cursor + 1).saturating_sub(areas.page);
    let width = |of: &dyn Fn(&AdjudicationItem) -> String| {
        let widths = shown
            .iter()
            .skip(areas.first)
            .take(areas.page)
            .map(|at| text::width(&of(&model.adjudication.disagreements[*at])));
        widths.max().unwrap_or(5).clamp(5, 22)
    };
    let query_id = |disagreement: &AdjudicationItem| {
        sanitize::line(disagreement.query_id.as_str()).into_owned()
    };
    let document = |disagreement: &AdjudicationItem| {
        sanitize::line(disagreement.document.as_str()).into_owned()
    };
    let (first, second) = (width(&query_id), width(&document).max(8));
    let listed = |disagreement: &AdjudicationItem| {
        let place = (disagreement.query, disagreement.document.clone());
        model.adjudication.titles.get(&place)
    };
    let field = |disagreement: &AdjudicationItem, name: &str| {
        listed(disagreement).map_or(String::new(), |found| value(&found.metadata, name))
    };
    let room = columns.saturating_sub(first + second + 12);
    let in_sight: Vec<&AdjudicationItem> = shown
        .iter()
        .skip(areas.first)
        .take(areas.page)
        .map(|at| &model.adjudication.disagreements[*at])
        .collect();
    let fields = FieldColumns::new(
        &model.options.config.screen.metadata,
        &in_sight,
        |item, name| field(item, name),
        room.saturating_sub(TITLE_MIN),
    );
    let room = room - fields.width();
    let contested = model.adjudication.list == AdjudicationList::Contested;
    let what = if contested {
        "who said what"
    } else {
        "text of the query"
    };
    // People's findings get space first, then a title before a query's text, which is the same for
    // several rows.
    let title = match (room >= BOTH, contested) {
        (true, _) => room / 2,
        (false, true) => 0,
        (false, false) => room,
    };
    let gap = if title > 0 && title < room { 2 } else { 0 };
    let rest = room.saturating_sub(title + gap);
    let cells = |name: &str, words: &str| {
        let name = text::truncate(name, title);
        let words = text::truncate(words, rest);
        format!("{}{:gap$}{words}", text::pad_right(&name, title), "")
    };
    let heads = format!(
        "     #  {}  {}  {}{}",
        text::pad_right("query", first),
        text::pad_right("document", second),
        fields.header(),
        cells("title", what)
    );
    text::line(&heads, columns, theme.muted()).render(cut_bottom(&mut rule.clone(), 1), buf);
    let placed = shown.iter().enumerate().skip(areas.first);
    for (row, (place, at)) in list.rows().zip(placed) {
        let disagreement = &model.adjudication.disagreements[*at];
        let selected = place == model.adjudication.cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let words = if disagreement.said.is_empty() {
            model.query_text(disagreement).to_owned()
        } else {
            said(disagreement)
        };
        let title = listed(disagreement).map_or("", |found| &found.title);
        let title = sanitize::line(title);
        let words = cells(&title, &sanitize::line(&words));
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
            Span::raw(fields.row(|name| field(disagreement, name))),
            Span::styled(words, theme.muted()),
        ])
        .render(row, buf);
    }
    areas
}

/// `ann: relevant · bob: not relevant`.
fn said(item: &AdjudicationItem) -> String {
    let each = item.said.iter();
    let each = each.map(|(who, finding)| format!("{who}: {}", finding.words()));
    each.collect::<Vec<_>>().join(" · ")
}

fn headline(
    model: &Model,
    overview: &AdjudicationOverview,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut parts = vec![
        counted(overview.pools, "pool"),
        counted(overview.labels, "label"),
        format!("{} ruled by you", overview.ruled),
    ];
    if overview.conflicts > 0 {
        let documents = counted(overview.conflicts, "document");
        parts.push(format!("people differ on {documents}"));
    }
    match (overview.in_force, overview.changed) {
        (0, _) => {}
        (_, 0) => parts.push("no label changed yet".to_owned()),
        (rulings, labels) => parts.push(format!(
            "{} changed by {}",
            counted(labels, "label"),
            counted(rulings, "ruling")
        )),
    }
    let note = match overview.warning {
        _ if model.is_reading_overview() => Line::styled("updating …", theme.muted()),
        Some(warning) => text::line(warning, columns, theme.warn()),
        None => Line::default(),
    };
    let mut lines = text::parts(&parts, columns, 1, theme.strong());
    lines.push(note);
    lines
}

fn list_head(model: &Model, shown: &[usize], theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let filter = if model.adjudication.filter.is_empty() {
        String::new()
    } else {
        format!(" · filter: {}", sanitize::line(&model.adjudication.filter))
    };
    let count = if model.is_reading_overview() && shown.is_empty() {
        "…".to_owned()
    } else {
        shown.len().to_string()
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
        text::rule(columns, theme.faint()),
        text::line(&words, columns, theme.strong()),
    ]
}

fn nothing(overview: &AdjudicationOverview, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let labels = match overview.labels {
        0 => "This project holds no labels yet.".to_owned(),
        count => format!(
            "{}, and no judge has picked from the pools yet.",
            counted(count, "label")
        ),
    };
    let steps = [
        (
            Command::BuildPools,
            "builds pools with the labels of a benchmark",
            "overrule pool build --beir DIR",
        ),
        (
            Command::Import,
            "imports labels, and rankings to measure",
            "overrule import QRELS RUN",
        ),
        (
            Command::Pick,
            "has judges pick the relevant documents",
            "overrule pick",
        ),
    ];
    let mut lines = text::lines(&labels, columns, theme.strong());
    lines.push(Line::default());
    for (key, what, command) in steps {
        let step = format!("{}  {what}", key_on(key, Screen::ADJUDICATION));
        if columns >= STEPS {
            let step = Span::raw(text::pad_right(&step, 50));
            lines.push(Line::from(vec![step, Span::styled(command, theme.muted())]))
        } else {
            lines.push(text::line(&step, columns, theme.text()));
            let command = format!("   {command}");
            lines.push(text::line(&command, columns, theme.muted()));
        }
    }
    lines
}
