//! Draws both reasonings next to each other, below the decision of people and its note.

use crate::domain::number_words::fixed;
use crate::domain::sanitize;
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::{Margin, Outcome};
use crate::features::prompts::screen::state::OpenReasonings;
use crate::features::prompts::screen::trial::distinct;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{heading, notice};
use ratatui::layout::{Constraint, Layout};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};

/// Columns from which the reasonings are next to each other.
const WIDE: u16 = 70;

pub(super) fn view(model: &Model, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let state = model.prompt();
    let Some(open) = &state.reasonings else {
        notice("loading …", theme, rest, buf);
        return Areas::default();
    };
    let columns = usize::from(rest.width);
    let head = head(open, theme, columns);
    let rows = (head.len() as u16).min(rest.height.saturating_sub(4));
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let parts = [Constraint::Fill(1), Constraint::Fill(1)];
    let panes: [_; 2] = if rest.width >= WIDE {
        Layout::horizontal(parts).spacing(2).areas(rest)
    } else {
        Layout::vertical(parts).areas(rest)
    };
    let later_first = is_later_first(open);
    let new = Margin::new(open.tried.new_margin);
    let answers = [Some(open.tried.old.margin), new]
        .map(|margin| margin.map_or("no answer".to_owned(), |margin| words(margin, later_first)));
    let texts = open
        .found
        .as_ref()
        .map_or(["", ""], |found| [&*found.old, &*found.new]);
    let mut areas = Areas::default();
    for (at, mut pane) in panes.into_iter().enumerate() {
        let name = ["old prompt", "new prompt"][at];
        let title = format!("{name}: {}", answers[at]);
        heading(&title, at == 1, theme, cut(&mut pane, 1), buf);
        let lines = match texts[at] {
            "" => text::lines(
                "the project has no reasoning",
                usize::from(pane.width),
                theme.muted(),
            ),
            written => text::lines(
                &sanitize::block(written),
                usize::from(pane.width),
                theme.text(),
            ),
        };
        let page = usize::from(pane.height);
        areas.lines = areas.lines.max(lines.len());
        areas.page = page;
        let first = state
            .reasonings_scroll
            .min(lines.len().saturating_sub(page));
        let shown: Vec<Line<'static>> = lines.into_iter().skip(first).take(page).collect();
        Paragraph::new(shown).render(pane, buf);
    }
    areas
}

/// An answer in terms of the order shown, in which A is the first document.
fn words(margin: Margin, later_first: bool) -> String {
    let shown = if later_first {
        margin.flipped()
    } else {
        margin
    };
    let size = fixed(shown.get().abs(), 2);
    match shown.outcome() {
        Outcome::A => format!("A better {size}"),
        Outcome::B => format!("B better {size}"),
        Outcome::Tie => "tie".to_owned(),
    }
}

/// Whether the document later in the pool was shown first, as A.
fn is_later_first(open: &OpenReasonings) -> bool {
    let shown = open.found.as_ref().map_or([0, 1], |found| found.shown);
    shown[0] > shown[1]
}

/// The titles of A and B in the order shown.
pub(super) fn titles_shown(open: &OpenReasonings) -> [String; 2] {
    let titles = distinct(&open.titles).map(|title| sanitize::line(&title).into_owned());
    let [low, high] = titles;
    if is_later_first(open) {
        [high, low]
    } else {
        [low, high]
    }
}

fn head(open: &OpenReasonings, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let query = sanitize::line(&open.query);
    let mut lines = text::first_lines(&query, columns, 2, theme.strong());
    let later_first = is_later_first(open);
    for (letter, title) in ["A", "B"].into_iter().zip(titles_shown(open)) {
        let words = format!("{letter}  {title}");
        lines.push(text::line(&words, columns, theme.text()));
    }
    let decided = &open.tried.decided;
    let better = match (decided.people, later_first) {
        (Outcome::Tie, _) => "neither is better",
        (Outcome::A, false) | (Outcome::B, true) => "A is better",
        (Outcome::A, true) | (Outcome::B, false) => "B is better",
    };
    let from = if decided.is_gold {
        "known answer"
    } else {
        "people"
    };
    let mut parts = vec![format!("{}; {from}: {better}", open.tried.change.words())];
    parts.extend(
        decided
            .cause
            .map(|cause| format!("cause: {}", ErrorCause::words(cause))),
    );
    let note = decided.note.as_deref().filter(|note| !note.is_empty());
    parts.extend(note.map(|note| format!("note: {}", sanitize::line(note))));
    lines.extend(text::lines(&parts.join(" · "), columns, theme.accent()));
    lines
}
