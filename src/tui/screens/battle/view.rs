//! Draws two documents side by side, the judges' votes and reasoning, and the person's verdict.

use super::calls::{self, JudgeCall, QuoteTexts, Reasoning};
use super::{judges, numbers, panel, texts};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::{cut, cut_bottom, inset};
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::Screen;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{folded_page, heading, notice};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Widget};
use std::ops::Range;

/// Minimum width for showing the judges next to the texts instead of below.
const WIDE: u16 = 150;
/// Minimum width for showing reasoning next to the votes instead of below.
const SPLIT: u16 = 100;
/// Minimum height for showing reasoning below the texts all the time.
const TALL: u16 = 26;
/// Maximum number of calls whose quotes are looked up per frame.
const QUOTING: usize = 12;
/// Rows of the terminal above and below the screen.
const FRAME: u16 = 2;
/// Rows of text that stay visible above the reasoning on a small screen.
const VISIBLE: u16 = 5;
/// Minimum columns of a text and of the judges, and minimum rows of both.
const TEXT_MIN: u16 = 20;
const SIDE_MIN: u16 = 30;
const ROWS_MIN: u16 = 4;
/// The number of the judges' pane, after those of both texts.
const JUDGES: usize = 2;

/// Draws the lines below the texts, given the number of columns and the maximum number of rows.
pub(crate) type VerdictPanel<'a> = &'a dyn Fn(usize, usize) -> Vec<Line<'static>>;

/// Whether a terminal of this size shows reasoning only over the texts.
pub(super) fn is_small((width, height): (u16, u16)) -> bool {
    width < WIDE && height.saturating_sub(FRAME) < TALL
}

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let heading = match &model.battle.before {
        Some(before) if before.taken_back => "what the undo changed".to_owned(),
        Some(_) => "what your verdict changed".to_owned(),
        None => {
            let key = key_on(Command::ShowTables, Screen::BATTLE);
            format!("your verdict · {key} shows how it counts")
        }
    };
    let canvas = Canvas::new(theme, area, buf);
    view_with(model, canvas, &heading, &|columns, rows| {
        let open = model.open.as_ref();
        open.map_or_else(Vec::new, |open| {
            panel::lines(model, open, theme, (columns, rows))
        })
    })
}

/// Draws the screen with a heading above a verdict panel.
pub(crate) fn view_with(
    model: &Model,
    canvas: Canvas<'_>,
    title: &str,
    panel: VerdictPanel<'_>,
) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let rest = inset(area);
    let Some(open) = &model.open else {
        notice("loading …", theme, rest, buf);
        return Areas::default();
    };
    let (a, b) = (model.battle.a, model.battle.b);
    if model.battle.pair().is_none() || a.max(b) >= open.documents.len() {
        notice("no such pair in this query", theme, rest, buf);
        return Areas::default();
    }
    let screen = BattleView::new(model, open);
    let canvas = Canvas::new(theme, rest, buf);
    if area.width >= WIDE {
        screen.wide(title, panel, canvas)
    } else {
        screen.narrow(title, panel, canvas)
    }
}

/// The pair as the screen shows it.
struct BattleView<'a> {
    model: &'a Model,
    open: &'a OpenQuery,
    calls: Vec<JudgeCall<'a>>,
    texts: QuoteTexts<'a>,
    /// Index of the call whose reasoning is shown.
    chosen: usize,
}

impl<'a> BattleView<'a> {
    fn new(model: &'a Model, open: &'a OpenQuery) -> Self {
        let (a, b) = (model.battle.a, model.battle.b);
        let calls = calls::of_pair(open, a, b);
        Self {
            model,
            open,
            texts: QuoteTexts::of(model, open, a, b),
            chosen: model.battle.judge.min(calls.len().saturating_sub(1)),
            calls,
        }
    }

    /// Three columns: both texts, and the judges with all reasoning above the verdict.
    fn wide(&self, title: &str, panel: VerdictPanel<'_>, canvas: Canvas<'_>) -> Areas {
        let Canvas { theme, area, buf } = canvas;
        let mut rest = area;
        self.head(2, Canvas::new(theme, cut(&mut rest, 3), buf));
        let panes = self.model.split(
            rest,
            PaneSplit {
                upright: true,
                gap: 2,
                usual: (rest.width / 3).min(76),
                least: [2 * TEXT_MIN, SIDE_MIN],
            },
        );
        let mut side = panes.second;
        let columns = usize::from(side.width);
        let lines = panel(columns, usize::from(side.height / 2));
        let mut below = cut_bottom(&mut side, lines.len() as u16 + 1);
        heading(title, false, theme, cut(&mut below, 1), buf);
        Paragraph::new(lines).render(below, buf);
        let mut areas = Areas::default().split(&panes);
        heading("judges", false, theme, cut(&mut side, 1), buf);
        let most = usize::from(side.height / 2);
        self.axis(&mut side, most, theme, buf);
        let quotes = self.reasoning(theme, columns).found;
        areas.aside = self.all_reasoning(Canvas::new(theme, side, buf));
        self.render_texts(
            &quotes,
            true,
            &mut areas,
            Canvas::new(theme, panes.first, buf),
        );
        areas.panes[JUDGES] = panes.second;
        areas
    }

    /// The texts above the judges and the verdict.
    fn narrow(&self, title: &str, panel: VerdictPanel<'_>, canvas: Canvas<'_>) -> Areas {
        let Canvas { theme, area, buf } = canvas;
        let mut rest = area;
        let is_tall = area.height >= TALL;
        let sentence = if is_tall { 2 } else { 1 };
        self.head(
            sentence,
            Canvas::new(theme, cut(&mut rest, 1 + sentence as u16), buf),
        );
        let columns = usize::from(area.width);
        let most = (area.height / 3).saturating_sub(u16::from(!is_tall)).max(1);
        let lines = panel(columns, usize::from(most));
        let mut below = cut_bottom(&mut rest, lines.len() as u16 + u16::from(is_tall));
        if is_tall {
            heading(title, false, theme, cut(&mut below, 1), buf);
        }
        Paragraph::new(lines).render(below, buf);
        let mut areas = Areas::default();
        let quotes = self.reasoning(theme, columns).found;
        if is_tall {
            let wanted = texts::rows(self.model, self.open, area.width) as u16;
            let least = (area.height / 5).min(rest.height);
            let panes = self.model.split(
                rest,
                PaneSplit {
                    upright: false,
                    gap: 0,
                    usual: rest.height.saturating_sub(wanted).max(least),
                    least: [ROWS_MIN; 2],
                },
            );
            areas = areas.split(&panes);
            self.render_texts(
                &quotes,
                true,
                &mut areas,
                Canvas::new(theme, panes.first, buf),
            );
            areas.panes[JUDGES] = panes.second;
            let canvas = Canvas::new(theme, panes.second, buf);
            areas.aside = if area.width >= SPLIT {
                self.split(canvas)
            } else {
                self.stacked(canvas)
            };
            return areas;
        }
        let line = cut_bottom(&mut rest, 1);
        self.one_line(theme, columns).render(line, buf);
        self.render_texts(&quotes, false, &mut areas, Canvas::new(theme, rest, buf));
        if self.model.battle.is_reading {
            let mut over = rest;
            cut(&mut over, VISIBLE);
            Clear.render(over, buf);
            for text in &mut areas.panes[..JUDGES] {
                text.height = text.height.min(VISIBLE);
            }
            areas.panes[JUDGES] = over;
            areas.aside = self.chosen_reasoning(Canvas::new(theme, over, buf));
        }
        areas
    }

    /// Draws the query and, below it, the most important numbers in up to `sentence` lines.
    fn head(&self, sentence: usize, canvas: Canvas<'_>) {
        let Canvas { theme, area, buf } = canvas;
        let columns = usize::from(area.width);
        let query = sanitize::line(&self.open.info.text);
        let query = text::truncate(&query, columns).into_owned();
        let mut lines = vec![Line::styled(query, theme.strong())];
        let (a, b) = (self.model.battle.a, self.model.battle.b);
        lines.extend(numbers::lines(self.open, a, b, theme, (columns, sentence)));
        Paragraph::new(lines).render(area, buf);
    }

    fn render_texts(
        &self,
        chosen: &[Vec<Range<usize>>; 2],
        detailed: bool,
        areas: &mut Areas,
        canvas: Canvas<'_>,
    ) {
        let quotes = texts::Quotes {
            chosen,
            others: &self.quoted_by_others(),
        };
        texts::render(self.model, self.open, &quotes, detailed, areas, canvas);
    }

    /// Quotes from A and from B by the judges whose reasoning is not chosen.
    fn quoted_by_others(&self) -> [Vec<Range<usize>>; 2] {
        let mut found = [Vec::new(), Vec::new()];
        for (at, call) in self.calls.iter().enumerate().take(QUOTING) {
            if at != self.chosen {
                let [in_a, in_b] = calls::quoted(call, &self.texts);
                found[0].extend(in_a);
                found[1].extend(in_b);
            }
        }
        found
    }

    /// The chosen judge's reasoning, with quotes looked up in both texts.
    fn reasoning(&self, theme: &Theme, columns: usize) -> Reasoning {
        self.calls
            .get(self.chosen)
            .map_or_else(Reasoning::default, |call| {
                calls::reasoning_of(call, &self.texts, self.model.battle.raw, theme, columns)
            })
    }

    fn reasoning_lines(
        &self,
        call: &JudgeCall<'_>,
        theme: &Theme,
        columns: usize,
    ) -> Vec<Line<'static>> {
        let raw = self.model.battle.raw;
        let reasoning = calls::reasoning_of(call, &self.texts, raw, theme, columns);
        judges::with_notes(self.open, call, reasoning.lines, theme, columns)
    }

    /// The heading of a call's reasoning.
    fn title(&self, call: &JudgeCall<'_>, columns: usize) -> String {
        let (a, b) = (self.model.battle.a, self.model.battle.b);
        let room = columns.saturating_sub(text::width(&call.title()) + 26);
        let names = self.open.names_of(a, b, room.max(12));
        let sent = if self.model.battle.raw {
            " · as sent"
        } else {
            ""
        };
        format!("{}{sent}", call.heading(&names))
    }

    /// The axis with a row for each call, in at most `most` rows cut off the top of the area.
    fn axis(&self, area: &mut Rect, most: usize, theme: &Theme, buf: &mut Buffer) {
        if self.calls.is_empty() {
            let words = if self.open.judges.is_empty() {
                "no judge was asked about this query"
            } else {
                "no judge was asked about this pair"
            };
            Line::styled(words, theme.missing()).render(cut(area, 1), buf);
            return;
        }
        let head = judges::axis_head(&self.calls);
        Line::styled(head, theme.muted()).render(cut(area, 1), buf);
        let most = most.saturating_sub(1).max(1);
        let lines = judges::axis(&self.calls, self.chosen, theme, most);
        let rows = lines.len() as u16;
        Paragraph::new(lines).render(cut(area, rows), buf);
    }

    /// The axis on the left and the chosen reasoning on the right.
    fn split(&self, canvas: Canvas<'_>) -> (usize, usize) {
        let Canvas { theme, area, buf } = canvas;
        let columns = judges::axis_columns(&self.calls) as u16;
        let [mut left, rule, right] = Layout::horizontal([
            Constraint::Length(columns),
            Constraint::Length(2),
            Constraint::Fill(1),
        ])
        .areas(area);
        let mut top = cut(&mut left, 1);
        top.width += rule.width - 1;
        heading("judges", false, theme, top, buf);
        let most = usize::from(left.height);
        self.axis(&mut left, most, theme, buf);
        for row in rule.rows().skip(1) {
            Line::styled("│", theme.border()).render(row, buf);
        }
        self.chosen_reasoning(Canvas::new(theme, right, buf))
    }

    /// The votes on one line above the chosen reasoning.
    fn stacked(&self, canvas: Canvas<'_>) -> (usize, usize) {
        let Canvas { theme, area, buf } = canvas;
        let mut rest = area;
        let columns = usize::from(area.width);
        self.one_line(theme, columns).render(cut(&mut rest, 1), buf);
        self.chosen_reasoning(Canvas::new(theme, rest, buf))
    }

    fn one_line(&self, theme: &Theme, columns: usize) -> Line<'static> {
        if self.calls.is_empty() {
            return Line::styled("no judge was asked about this pair", theme.missing());
        }
        let key = key_on(Command::NextReasoning, self.model.screen());
        let hint = if self.model.battle.is_reading {
            String::new()
        } else {
            format!("  {key} why")
        };
        let room = columns.saturating_sub(text::width(&hint));
        let mut line = judges::one_line(&self.calls, self.chosen, theme, room);
        line.push_span(Span::styled(hint, theme.muted()));
        line
    }

    /// The chosen reasoning below its heading; returns the number of lines and the number that
    /// fits.
    fn chosen_reasoning(&self, canvas: Canvas<'_>) -> (usize, usize) {
        let Canvas { theme, area, buf } = canvas;
        let mut rest = area;
        let columns = usize::from(area.width);
        let focus = self.model.battle.side == 2;
        let top = cut(&mut rest, 1);
        let Some(call) = self.calls.get(self.chosen) else {
            heading("reasoning", focus, theme, top, buf);
            return (0, 0);
        };
        heading(&self.title(call, columns), focus, theme, top, buf);
        let lines = self.reasoning_lines(call, theme, columns);
        self.page(lines, focus, Canvas::new(theme, rest, buf))
    }

    /// All reasoning, that of the chosen call first.
    fn all_reasoning(&self, canvas: Canvas<'_>) -> (usize, usize) {
        let Canvas { theme, area, buf } = canvas;
        let columns = usize::from(area.width);
        let mut order = judges::listed(&self.calls);
        let place = order.iter().position(|at| *at == self.chosen);
        order.rotate_left(place.unwrap_or(0));
        let mut lines = Vec::new();
        for call in order.into_iter().filter_map(|at| self.calls.get(at)) {
            let style = theme.judge(call.index).patch(theme.strong());
            let title = text::truncate(&self.title(call, columns), columns).into_owned();
            lines.push(Line::default());
            lines.push(Line::styled(title, style));
            lines.extend(self.reasoning_lines(call, theme, columns));
        }
        let focus = self.model.battle.side == 2;
        self.page(lines, focus, Canvas::new(theme, area, buf))
    }

    fn page(&self, lines: Vec<Line<'static>>, focus: bool, canvas: Canvas<'_>) -> (usize, usize) {
        let key = |command| key_on(command, self.model.screen());
        let hint = if focus {
            String::new()
        } else {
            format!(": {} then {}", key(Command::Right), key(Command::Down))
        };
        folded_page(lines, self.model.battle.judge_scroll, &hint, canvas)
    }
}
