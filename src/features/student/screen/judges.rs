//! The students below the judges: they do not vote, and have other columns.

use crate::app::error::AppError;
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::features::student::app::{StudentCard, student_cards};
use crate::store::Store;
use crate::tui::canvas::Canvas;
use crate::tui::screens::additions::AddedRaters;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Minimum columns of each cell of a card; 0 for cells that a narrow screen omits.
const WIDTHS: [usize; 8] = [0, 13, 22, 6, 6, 14, 14, 20];
/// Minimum screen width at which each cell is shown.
const FROM: [u16; 8] = [0, 110, 0, 60, 60, 125, 125, 74];

#[derive(Debug)]
struct Students(Vec<StudentCard>);

/// The students of a project.
pub(crate) fn students(store: &Store) -> Result<Box<dyn AddedRaters>, AppError> {
    Ok(Box::new(Students(student_cards(store, None)?)))
}

impl AddedRaters for Students {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn render(&self, selected: Option<usize>, canvas: Canvas<'_>) {
        render(&self.0, selected, canvas);
    }

    fn lines(&self, at: usize, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        match self.0.get(at) {
            Some(card) => lines(card, theme, columns),
            None => Vec::new(),
        }
    }
}

fn render(cards: &[StudentCard], selected: Option<usize>, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let shown: Vec<usize> = (1..WIDTHS.len())
        .filter(|at| area.width + 2 >= FROM[*at])
        .collect();
    let fixed: usize = shown.iter().map(|at| WIDTHS[*at] + 1).sum();
    let room = usize::from(area.width)
        .saturating_sub(fixed + 2)
        .clamp(8, 32);
    let mut lines = area.rows();
    let mut header = vec![Span::styled(
        format!("  {}", text::pad_right("student", room)),
        theme.muted(),
    )];
    for at in &shown {
        let name = StudentCard::HEADER[*at].trim_start_matches('>');
        let cell = format!(" {}", text::pad_left(name, WIDTHS[*at]));
        header.push(Span::styled(cell, theme.muted()));
    }
    if let Some(line) = lines.next() {
        Line::from(header).render(line, buf);
    }
    for (line, (at, card)) in lines.zip(cards.iter().enumerate()) {
        let here = selected == Some(at);
        if here {
            buf.set_style(line, theme.selection());
        }
        let cells = card.cells();
        let name = sanitize::line(&cells[0]);
        let mut spans = vec![
            Span::raw(if here { "▌ " } else { "  " }),
            Span::styled(text::pad_right(&name, room), theme.strong()),
        ];
        for cell in &shown {
            let words = &cells[*cell];
            let style = if words == "–" {
                theme.faint()
            } else {
                Style::new()
            };
            let words = format!(" {}", text::pad_left(words, WIDTHS[*cell]));
            spans.push(Span::styled(words, style));
        }
        Line::from(spans).render(line, buf);
    }
}

/// Text about a student.
fn lines(card: &StudentCard, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let name = sanitize::line(&card.student).into_owned();
    let mut words = match card.pairs {
        0 => vec![format!("{name} predicts no judged pair.")],
        pairs => vec![format!(
            "{name} predicts {}; on {} of them all votes name the same document.",
            counted(pairs, "judged pair"),
            text::count(card.consensus)
        )],
    };
    if let Some(order) = card.order {
        words.push(format!(
            "Asked about {} in both orders, it has a position bias of {} towards the first \
             document (0: none) and changes its preferred document on {:.1} %.",
            counted(order.pairs, "pair"),
            text::signed(order.toward_first, 3),
            100.0 * order.flips
        ));
    }
    if let (Some(expected), Some(observed)) = (card.ties_expected, card.ties_observed) {
        words.push(format!(
            "Mean P(tie) {:.1} %; the ensemble's 1 − |C| {:.1} %.",
            100.0 * expected,
            100.0 * observed
        ));
    }
    words.push(
        "ECE: mean distance of expected and observed score, with a 95 % interval. A student has no \
         votes: its predictions count in scores only where the project names it, as far as its \
         weight says."
            .to_owned(),
    );
    let lines = words.iter();
    lines
        .flat_map(|line| text::lines(line, columns, theme.muted()))
        .collect()
}
