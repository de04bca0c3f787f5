//! Choosing how judges pick, with what that would take.

use super::{KeyOutcome, boxed, key_line};
use crate::app::pick::prepared::PickPrice;
use crate::app::wording::first_names;
use crate::domain::adjudication::PickMode;
use crate::domain::sanitise;
use crate::tui::layout::{centred, cut, cut_bottom};
use crate::tui::text::{self, count_of, pad_right, truncate};
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

const WIDTH: u16 = 78;
const HEIGHT: u16 = 17;
const NAME: usize = 19;

/// A way to pick, its name, and what a judge is asked.
const WAYS: [(PickMode, &str, &str); 3] = [
    (
        PickMode::Exactly,
        "as many as labels",
        "a judge is told how many are labelled relevant",
    ),
    (
        PickMode::AnyNumber,
        "any number",
        "a judge names all that it finds relevant, or none",
    ),
    (
        PickMode::PerDocument,
        "every document",
        "supports, refutes or not enough, with the sentence",
    ),
];

/// What is known of the price of a way to pick.
#[derive(Clone, Debug, Default)]
enum Priced {
    #[default]
    Unknown,
    /// It is being worked out.
    Asked,
    /// What it would take, or why it cannot be had.
    Known(Result<PickPrice, String>),
}

#[derive(Clone, Debug, Default)]
pub struct PickDialog {
    selected: usize,
    priced: [Priced; WAYS.len()],
    /// What money may be spent, in words.
    budget: String,
}

/// What a person chose.
#[derive(Clone, Debug, PartialEq)]
pub struct PickOrder {
    pub way: PickMode,
    pub price: PickPrice,
}

impl PickDialog {
    pub fn new(budget: String) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// The way under the cursor, where its price is still to be asked for. It counts as asked for from now on: a price is
    /// worked out from the whole project, and one at a time is enough for a way.
    pub fn ask(&mut self) -> Option<PickMode> {
        let price = &mut self.priced[self.selected];
        let unknown = matches!(price, Priced::Unknown);
        unknown.then(|| {
            *price = Priced::Asked;
            WAYS[self.selected].0
        })
    }

    pub fn priced(&mut self, way: PickMode, price: Result<PickPrice, String>) {
        if let Some(at) = WAYS.iter().position(|(known, ..)| *known == way) {
            self.priced[at] = Priced::Known(price);
        }
    }

    /// Moves in the list; Enter accepts a way that there is something to ask in.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<PickOrder> {
        match event.code {
            KeyCode::Enter => {
                if let Priced::Known(Ok(price)) = &self.priced[self.selected]
                    && price.calls > 0
                {
                    return KeyOutcome::Submitted(PickOrder {
                        way: WAYS[self.selected].0,
                        price: price.clone(),
                    });
                }
            }
            KeyCode::Esc | KeyCode::Char('q') => return KeyOutcome::Cancelled,
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
                self.selected = (self.selected + 1).min(WAYS.len() - 1);
            }
            KeyCode::Up | KeyCode::Char('k') | KeyCode::BackTab => {
                self.selected = self.selected.saturating_sub(1);
            }
            _ => return KeyOutcome::Pass,
        }
        KeyOutcome::Consumed
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let mut inner = boxed("Picks", theme, centred(area, WIDTH, HEIGHT), buf);
        let asks =
            matches!(&self.priced[self.selected], Priced::Known(Ok(price)) if price.calls > 0);
        let choose: &[(&str, &str)] = &[("↑ ↓", "choose"), ("Esc", "give up")];
        let ask: &[(&str, &str)] = if asks {
            &[("Enter", "ask the judges")]
        } else {
            &[]
        };
        let keys = [ask, choose].concat();
        key_line(&keys, theme, cut_bottom(&mut inner, 1), buf);
        let columns = usize::from(inner.width);
        let mut list = cut(&mut inner, WAYS.len() as u16 + 1);
        list.height = list.height.min(WAYS.len() as u16);
        for (row, (at, (_, name, doc))) in list.rows().zip(WAYS.iter().enumerate()) {
            let selected = at == self.selected;
            if selected {
                buf.set_style(row, theme.selection());
            }
            let doc = truncate(doc, columns.saturating_sub(NAME + 2)).into_owned();
            Line::from(vec![
                Span::raw(if selected { "▌ " } else { "  " }),
                Span::styled(pad_right(name, NAME), theme.text()),
                Span::styled(doc, theme.muted()),
            ])
            .render(row, buf);
        }
        let lines: Vec<Line<'static>> = match &self.priced[self.selected] {
            Priced::Unknown | Priced::Asked => vec![Line::styled("counting …", theme.muted())],
            Priced::Known(Err(why)) => text::lines(&sanitise::line(why), columns, theme.error()),
            Priced::Known(Ok(price)) => {
                let said = words(price, &self.budget);
                let said = said.iter();
                said.flat_map(|words| text::lines(words, columns, theme.text()))
                    .collect()
            }
        };
        Paragraph::new(lines).render(inner, buf);
    }
}

/// What asking would take, a sentence a line.
fn words(price: &PickPrice, budget: &str) -> Vec<String> {
    let judges = first_names(&price.judges);
    let mut words = vec![format!(
        "{} to {judges} about {}.",
        count_of(price.calls, "call"),
        count_of(price.pools, "pool")
    )];
    if price.already > 0 {
        let there = count_of(price.already, "answer");
        words.push(format!(
            "{there} are in the project and are not asked for again."
        ));
    }
    match (price.calls, price.expected_usd, price.worst_usd) {
        (0, ..) => words.push("Nothing is left to ask.".to_owned()),
        (_, _, Some(0.0)) => words.push("They cost nothing.".to_owned()),
        (_, Some(expected), Some(worst)) => words.push(format!(
            "About {} is expected, {} at the very most (estimated from the texts). {budget}",
            text::usd(expected),
            text::usd(worst)
        )),
        _ => words.push(format!("The price is not known for every judge. {budget}")),
    }
    words.extend(
        price
            .notes
            .iter()
            .map(|note| format!("Note: {}", sanitise::line(note))),
    );
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, key, text};

    fn price(calls: usize, worst_usd: Option<f64>) -> PickPrice {
        PickPrice {
            pools: 20,
            calls,
            already: 3,
            judges: vec!["gpt".to_owned()],
            expected_usd: worst_usd.map(|usd| usd / 2.0),
            worst_usd,
            paid: worst_usd != Some(0.0),
            notes: Vec::new(),
        }
    }

    fn shown(dialog: &PickDialog) -> String {
        text(&draw(80, 24, |area, buf| {
            dialog.render(&Theme::default(), area, buf);
        }))
    }

    #[test]
    fn a_way_is_accepted_once_its_price_is_on_screen() {
        let mut dialog = PickDialog::new("No budget is set.".to_owned());
        assert_eq!(dialog.ask(), Some(PickMode::Exactly));
        assert_eq!(dialog.handle(key(KeyCode::Enter)), KeyOutcome::Consumed);
        dialog.priced(PickMode::Exactly, Err("no label".to_owned()));
        assert_eq!(dialog.handle(key(KeyCode::Enter)), KeyOutcome::Consumed);
        assert!(shown(&dialog).contains("no label"));
        dialog.handle(key(KeyCode::Down));
        assert_eq!(dialog.ask(), Some(PickMode::AnyNumber));
        dialog.priced(PickMode::AnyNumber, Ok(price(40, Some(0.5))));
        let page = shown(&dialog);
        for words in [
            "40 calls to gpt about 20 pools.",
            "3 answers are in the project",
            "About $0.25 is expected, $0.50 at the very most",
            "No budget is set.",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        let order = PickOrder {
            way: PickMode::AnyNumber,
            price: price(40, Some(0.5)),
        };
        assert_eq!(
            dialog.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted(order)
        );
    }

    #[test]
    fn where_nothing_is_left_nothing_is_asked_and_any_size_is_drawn() {
        let mut dialog = PickDialog::default();
        dialog.priced(PickMode::Exactly, Ok(price(0, Some(0.0))));
        assert!(shown(&dialog).contains("Nothing is left to ask."));
        assert!(!shown(&dialog).contains("ask the judges"));
        assert_eq!(dialog.handle(key(KeyCode::Enter)), KeyOutcome::Consumed);
        for (width, height) in [(0, 0), (20, 6), (60, 16), (200, 60)] {
            draw(width, height, |area, buf| {
                dialog.render(&Theme::default(), area, buf);
            });
        }
        assert_eq!(dialog.handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
    }
}
