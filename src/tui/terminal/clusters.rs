//! Redraws rows with characters of several code points, whose width differs between terminals.
//!
//! A vowel sign of an Indic script takes a separate cell in one terminal, and is part of the
//! previous cell in another. Text to the right of it may therefore be in a different place than in
//! the buffer, and the difference between two buffers does not show which cells must be drawn
//! again. If a row with such a character changes, everything from that character to the end of the
//! row is sent, and once more after the row no longer contains one.

use ratatui::buffer::{Buffer, CellDiffOption};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The rows with such characters in the last frame that was sent.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    rows: Vec<Option<Row>>,
}

/// A row with at least one such character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// The column of the first of them.
    first: usize,
    content: u64,
}

impl Clusters {
    /// Marks for sending the cells that may not be where the previous buffer had them.
    pub(super) fn mark(&mut self, buffer: &mut Buffer) {
        let columns = usize::from(buffer.area.width).max(1);
        let before = std::mem::take(&mut self.rows);
        for (at, cells) in buffer.content.chunks_mut(columns).enumerate() {
            let first = cells
                .iter()
                .position(|cell| cell.symbol().chars().nth(1).is_some());
            let row = first.map(|first| {
                let mut hasher = DefaultHasher::new();
                cells.hash(&mut hasher);
                Row {
                    first,
                    content: hasher.finish(),
                }
            });
            let drawn = before.get(at).copied().flatten();
            if row != drawn {
                let from = row.into_iter().chain(drawn).map(|row| row.first).min();
                for cell in cells.iter_mut().skip(from.unwrap_or(columns)) {
                    cell.set_diff_option(CellDiffOption::AlwaysUpdate);
                }
            }
            self.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::terminal::backend::FrugalBackend;
    use ratatui::backend::Backend as _;
    use ratatui::layout::Rect;
    use ratatui::style::Style;
    use std::num::NonZero;

    const TEXTS: [&str; 6] = [
        "अनिद्रा के इलाज में व्यवहार चिकित्सा | right",
        "insomnia in older adults | right",
        "অনিদ্রার চিকিৎসায় আচরণ থেরাপি | right",
        "தூக்கமின்மைக்கு சிகிச்சை | right",
        "အိပ်မပျော်ခြင်း ကုသမှု | right",
        "naïve cafe\u{301} family 👨\u{200d}👩\u{200d}👧 | right",
    ];
    const AREA: Rect = Rect::new(0, 0, 60, 1);

    fn frame(text: &str) -> Buffer {
        let mut buffer = Buffer::empty(AREA);
        buffer.set_string(2, 0, text, Style::new());
        buffer
    }

    fn send(
        parser: &mut vt100::Parser,
        clusters: &mut Clusters,
        before: &Buffer,
        now: &mut Buffer,
    ) {
        let mut bytes = Vec::new();
        clusters.mark(now);
        FrugalBackend::new(&mut bytes)
            .draw(before.diff(now).into_iter())
            .unwrap();
        parser.process(&bytes);
    }

    fn terminal() -> vt100::Parser {
        vt100::Parser::new(NonZero::new(1).unwrap(), NonZero::new(60).unwrap(), 0)
    }

    #[test]
    fn a_text_leaves_nothing_of_the_one_before_it() {
        for first in TEXTS {
            for second in TEXTS {
                let (mut parser, mut clusters) = (terminal(), Clusters::default());
                let (mut one, mut two) = (frame(first), frame(second));
                send(&mut parser, &mut clusters, &Buffer::empty(AREA), &mut one);
                send(&mut parser, &mut clusters, &one, &mut two);
                let mut fresh = terminal();
                let mut alone = frame(second);
                send(
                    &mut fresh,
                    &mut Clusters::default(),
                    &Buffer::empty(AREA),
                    &mut alone,
                );
                assert_eq!(
                    parser.screen().contents().trim_end(),
                    fresh.screen().contents().trim_end(),
                    "{first:?}, then {second:?}"
                );
            }
        }
    }

    #[test]
    fn rows_that_stay_as_they_are_cost_nothing() {
        let mut clusters = Clusters::default();
        let (mut one, mut same) = (frame(TEXTS[0]), frame(TEXTS[0]));
        clusters.mark(&mut one);
        clusters.mark(&mut same);
        let options = |buffer: &Buffer| {
            let cells = buffer.content.iter();
            cells
                .filter(|cell| cell.diff_option != CellDiffOption::None)
                .count()
        };
        assert!(options(&one) > 0);
        assert_eq!(options(&same), 0);
        let mut plain = frame(TEXTS[1]);
        Clusters::default().mark(&mut plain);
        assert_eq!(options(&plain), 0);
    }
}
