//! Draws the judges that can be chosen, and details on the one under the cursor.

use super::state::{SetupState, TestState};
use crate::app::init::setup::{Candidate, CandidatePrice, JudgeSetup};
use crate::app::text_format::{counted, first_of};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, ListPosition};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::panes::PaneSplit;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{notice, scroll_to};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Rows for the judge under the cursor.
const DETAIL: u16 = 8;
/// Maximum number of judges named.
const NAMED: usize = 4;

pub(super) fn view(model: &Model, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let area = inset(area);
    let state = model.judge_setup();
    let Some(setup) = &state.setup else {
        let words = match &state.problem {
            Some(problem) => {
                let problem = sanitize::line(problem);
                format!("Judges cannot be set up here: {problem}")
            }
            None => "looking for keys and for servers on this machine …".to_owned(),
        };
        notice(&words, theme, area, buf);
        return Areas::default();
    };
    let mut body = area;
    let head = cut(&mut body, 1);
    cut(&mut body, 1);
    let panes = model.split(
        body,
        PaneSplit {
            upright: false,
            gap: 1,
            usual: DETAIL.min(area.height / 2),
            least: [1, 1],
        },
    );
    let (list, rule, detail) = (panes.first, panes.between, panes.second);
    let columns = usize::from(head.width);
    text::line(&headline(setup), columns, theme.strong()).render(head, buf);
    let page = usize::from(list.height);
    let first = scroll_to(0, state.cursor, page);
    let columns = Columns::of(setup, usize::from(area.width));
    for (line, at) in list.rows().zip(first..state.rows()) {
        let selected = at == state.cursor;
        if selected {
            buf.set_style(line, theme.selection());
        }
        let words = match setup.candidates.get(at) {
            Some(judge) => columns.row(judge, state.tests.get(&at), theme),
            None => Line::raw("    + another server or model"),
        };
        let mark = if selected { "▌ " } else { "  " };
        let mut spans = vec![Span::raw(mark)];
        spans.extend(words.spans);
        Line::from(spans).render(line, buf);
    }
    scrollbar(first, state.rows(), Canvas::new(theme, list, buf));
    text::rule(usize::from(area.width), theme.faint()).render(rule, buf);
    let lines = details(model, state, theme, usize::from(area.width));
    let (lines, aside) = model.pane_text(lines, detail.height);
    Paragraph::new(lines).render(detail, buf);
    Areas {
        list,
        page,
        lines: state.rows(),
        first,
        aside,
        position: Some(ListPosition::unfiltered(state.cursor, state.rows())),
        ..Areas::default()
    }
    .split(&panes)
}

fn headline(setup: &JudgeSetup) -> String {
    let found: Vec<String> = [(setup.servers, "server"), (setup.keys, "key")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(count, what))
        .collect();
    let found = if found.is_empty() {
        "Found no model server and no key.".to_owned()
    } else {
        format!("Found here: {}.", found.join(", "))
    };
    format!("{found} Nothing is sent until you test a judge.")
}

/// The widths of the parts of a row.
struct Columns {
    name: usize,
    model: usize,
    place: usize,
    price: usize,
    test: usize,
}

impl Columns {
    fn of(setup: &JudgeSetup, width: usize) -> Self {
        let longest = |words: &dyn Fn(&Candidate) -> String, most: usize| {
            let widths = setup
                .candidates
                .iter()
                .map(|judge| text::width(&words(judge)));
            widths.max().unwrap_or(0).min(most)
        };
        let name = longest(&|judge| judge.config.name.clone(), 18);
        let price = longest(&price_words, 26);
        let mut columns = Self {
            name,
            model: longest(&|judge| judge.config.model.clone(), 30),
            place: longest(&place_words, 34),
            price,
            test: 0,
        };
        let used = |columns: &Self| {
            2 + 4 + columns.name + columns.model + columns.place + columns.price + 3 * 2
        };
        // The model is often the name; the place is more useful.
        if used(&columns) > width {
            columns.model = 0;
        }
        let over = used(&columns).saturating_sub(width);
        columns.place = columns.place.saturating_sub(over);
        columns.test = width.saturating_sub(used(&columns) + 2);
        columns
    }

    fn row(&self, judge: &Candidate, test: Option<&TestState>, theme: &Theme) -> Line<'static> {
        let mark = if judge.chosen { "[x] " } else { "[ ] " };
        let part = |words: &str, width: usize| match width {
            0 => String::new(),
            _ => format!("{}  ", text::pad_right(&sanitize::line(words), width)),
        };
        let (status, style) = match (test, &judge.problem) {
            (Some(TestState::Calling), _) => ("testing …".to_owned(), theme.muted()),
            (Some(TestState::Answered(test)), _) if test.ok => {
                (format!("✓ {}", test.words), theme.good())
            }
            (Some(TestState::Answered(test)), _) => (format!("! {}", test.words), theme.bad()),
            (None, Some(problem)) => (problem.clone(), theme.muted()),
            (None, None) => ("not tested".to_owned(), theme.muted()),
        };
        let name = text::pad_right(&sanitize::line(&judge.config.name), self.name);
        Line::from(vec![
            Span::raw(mark),
            Span::styled(format!("{name}  "), theme.strong()),
            Span::raw(part(&judge.config.model, self.model)),
            Span::raw(part(&place_words(judge), self.place)),
            Span::raw(part(&price_words(judge), self.price)),
            Span::styled(
                text::truncate(&sanitize::line(&status), self.test).into_owned(),
                style,
            ),
        ])
    }
}

/// `Ollama, http://localhost:11434`.
pub(super) fn place_words(judge: &Candidate) -> String {
    let provider = &judge.config.provider;
    if judge.is_embedded() {
        "embedded, lexical".to_owned()
    } else if judge.place.is_empty() {
        provider.clone()
    } else {
        format!("{provider}, {}", judge.place)
    }
}

pub(super) fn price_words(judge: &Candidate) -> String {
    match judge.price {
        CandidatePrice::Free => "free".to_owned(),
        CandidatePrice::Known(input, output) => format!("${input} / ${output} per M tokens"),
        CandidatePrice::Unknown => "price unknown".to_owned(),
    }
}

fn details(model: &Model, state: &SetupState, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(judge) = state.selected() {
        lines.extend(text::lines(
            &settings_words(model, judge),
            columns,
            theme.text(),
        ));
        if let Some(problem) = &judge.problem {
            lines.push(text::line(&sanitize::line(problem), columns, theme.warn()));
        }
        if let Some(TestState::Answered(test)) = state.tests.get(&state.cursor) {
            let style = if test.ok { theme.good() } else { theme.bad() };
            lines.extend(text::first_lines(
                &format!("Test: {}", sanitize::line(&test.words)),
                columns,
                3,
                style,
            ));
        }
    } else {
        lines.extend(text::lines(
            "Enter adds a judge by its provider and model, with an address if it is not the usual \
             one. `overrule config judges` lists the providers and all settings.",
            columns,
            theme.text(),
        ));
    }
    lines.extend(outlook_lines(state, theme, columns));
    lines
}

/// `qwen3:8b: calls at once as the run allows · prompt score · budget of the project none`.
fn settings_words(model: &Model, judge: &Candidate) -> String {
    let config = &judge.config;
    let mut words = vec![format!(
        "{}: {} {}",
        sanitize::line(&config.name),
        sanitize::line(&config.provider),
        sanitize::line(&config.model)
    )];
    if !judge.is_embedded() {
        words.push(match config.concurrency {
            Some(calls) => format!("calls at once: {}", text::count(calls)),
            None => "calls at once: as many as the run allows".to_owned(),
        });
        let prompt = config.prompt.as_deref().unwrap_or("score");
        words.push(format!("prompt: {}", sanitize::line(prompt)));
        words.push(sanitize::line(&judge.key_and_params()).into_owned());
        words.retain(|words| !words.is_empty());
    }
    words.push(match model.run.control.budget_usd {
        Some(usd) => format!("budget of the project: {}", text::usd(usd)),
        None => "budget of the project: none".to_owned(),
    });
    words.join(" · ")
}

/// The cost of asking the chosen judges, and the votes that would be set aside.
fn outlook_lines(state: &SetupState, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let Some(outlook) = &state.outlook else {
        return Vec::new();
    };
    let estimate = &outlook.estimate;
    let mut lines = Vec::new();
    if estimate.battles > 0 {
        let judges: Vec<String> = estimate
            .judges
            .iter()
            .map(|judge| {
                let cost = match (judge.cost_usd, judge.worst_usd) {
                    (Some(0.0), Some(0.0)) => "free".to_owned(),
                    (Some(cost), Some(worst)) => {
                        format!("{}, at most {}", text::usd(cost), text::usd(worst))
                    }
                    _ => "price unknown".to_owned(),
                };
                let calls = text::counted(judge.calls, "call");
                format!("{} {calls}, {cost}", sanitize::line(&judge.name))
            })
            .collect();
        let words = format!(
            "For the {} of this project: {}.",
            text::counted(estimate.battles, "battle"),
            judges.join(" · ")
        );
        lines.extend(text::lines(&words, columns, theme.text()));
    }
    if !outlook.missing.is_empty() {
        let words = format!("! No key is set for {}.", first_of(&outlook.missing, NAMED));
        lines.extend(text::lines(&words, columns, theme.warn()));
    }
    let votes: usize = outlook.set_aside.iter().map(|judge| judge.votes).sum();
    if votes > 0 {
        let names: Vec<&str> = outlook
            .set_aside
            .iter()
            .map(|judge| judge.name.as_str())
            .collect();
        let words = format!(
            "! The next run sets aside {} of {}. They are kept: choose those judges to use them \
             again.",
            text::counted(votes, "vote"),
            first_of(&names, NAMED)
        );
        lines.extend(text::lines(&words, columns, theme.warn()));
    }
    lines
}
