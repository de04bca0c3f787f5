//! Draws the prompt next to the request that it makes.

use super::state::PromptState;
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::layout::{cut, inset};
use crate::tui::model::{Model, Overlay};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{heading, notice};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// Maximum number of lines about the request.
const HEAD: usize = 4;
/// Columns from which the text and the request are next to each other.
const WIDE: u16 = 100;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let state = model.prompt();
    let columns = usize::from(rest.width);
    let Some(head) = headline(state) else {
        let words = match &state.problem {
            Some(problem) => sanitize::line(problem).into_owned(),
            None => "loading …".to_owned(),
        };
        notice(&words, theme, rest, buf);
        return Areas::default();
    };
    text::line(&head, columns, theme.strong()).render(cut(&mut rest, 1), buf);
    let (words, style) = match &state.problem {
        Some(problem) => (sanitize::line(problem).into_owned(), theme.error()),
        None => (request_words(state), theme.muted()),
    };
    let lines = text::first_lines(&words, columns, HEAD, style);
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(cut(&mut rest, rows), buf);
    let parts = [Constraint::Fill(1), Constraint::Fill(1)];
    let [left, right] = if rest.width >= WIDE {
        Layout::horizontal(parts).spacing(2).areas(rest)
    } else {
        Layout::vertical(parts).areas(rest)
    };
    let is_typed = matches!(model.overlays.last(), Some(Overlay::Editor(..)));
    let mut areas = Areas::default();
    let focus = [!state.in_preview, state.in_preview && !is_typed];
    let mut pane = |at: usize, words: &str, mut area: Rect, lines: &[&Line<'static>]| {
        heading(words, focus[at], theme, cut(&mut area, 1), buf);
        let page = usize::from(area.height);
        let first = state.scroll[at].min(lines.len().saturating_sub(page));
        areas.panes[at] = area;
        areas.sides[at] = lines.len();
        areas.firsts[at] = first;
        for (row, line) in area.rows().zip(lines.iter().skip(first)) {
            line.render(row, buf);
        }
    };
    let [draft, system, message] = &mut caches.texts;
    let draft = draft.lines(&state.draft, usize::from(left.width), theme.text());
    pane(0, "prompt", left, &draft.iter().collect::<Vec<_>>());
    let columns = usize::from(right.width);
    let Some(Ok(preview)) = &state.preview else {
        let lines = missing_preview(state, theme, columns);
        pane(1, "request", right, &lines.iter().collect::<Vec<_>>());
        return areas;
    };
    let about = format!("request about {}", sanitize::line(&preview.about));
    let label = |words| Line::styled(words, theme.muted());
    let (of_system, blank, of_message) = (label("system"), Line::default(), label("message"));
    let system = system.lines(&preview.system, columns, theme.text());
    let message = message.lines(&preview.message, columns, theme.text());
    let lines = [&of_system]
        .into_iter()
        .chain(system)
        .chain([&blank, &of_message])
        .chain(message);
    pane(1, &about, right, &lines.collect::<Vec<_>>());
    areas
}

/// `gpt, prompt 1f3a…, made from 0b2c…: used by 48 votes.`
fn headline(state: &PromptState) -> Option<String> {
    let version = state.version.as_ref()?;
    let judge = sanitize::line(&state.judge);
    if state.is_changed() {
        return Some(format!(
            "{judge}: a copy of prompt {} that is not stored yet.",
            version.hash
        ));
    }
    let name = version.name.map(|name| format!(" ({name})"));
    let parent = version.parent.as_ref();
    let parent = parent.map(|parent| format!(", made from {}", sanitize::line(parent)));
    let votes = match version.votes() {
        0 => "no vote uses it".to_owned(),
        votes => format!("{} use it", counted(votes, "vote")),
    };
    Some(format!(
        "{judge}: prompt {}{}{}; {votes}.",
        version.hash,
        name.unwrap_or_default(),
        parent.unwrap_or_default(),
    ))
}

/// The tokens of the request, and the placeholders that a prompt may contain.
fn request_words(state: &PromptState) -> String {
    let Some(Ok(preview)) = &state.preview else {
        return String::new();
    };
    let usd = match preview.usd {
        Some(0.0) => "free".to_owned(),
        Some(usd) => format!("{} a call", text::usd(usd)),
        None => "price unknown".to_owned(),
    };
    format!(
        "about {} and {usd}, estimated from the texts · placeholders in {{{{ }}}}: {}",
        text::counted(preview.tokens as usize, "token"),
        preview.placeholders.join(" ")
    )
}

/// Why there is no request.
fn missing_preview(state: &PromptState, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    match &state.preview {
        None if state.case.is_none() => {
            text::lines("the project has no pair to show", columns, theme.muted())
        }
        Some(Err(why)) => text::lines(&sanitize::line(why), columns, theme.error()),
        _ => text::lines("loading …", columns, theme.muted()),
    }
}
