//! A dialog for choosing questions to ask outside a run and the judges to ask, with their price.

use super::clicks::ClickAreas;
use super::{KeyOutcome, boxed, key_line};
use crate::app::question_set::{QuestionSet, QuestionSetPrice};
use crate::app::text_format::first_names;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::layout::{centred, cut, cut_bottom};
use crate::tui::text::{self, counted, pad_right, truncate};
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

const WIDTH: u16 = 78;
/// Columns between the borders of the box and its text, and the borders.
const FRAME: u16 = 4;
/// Rows for a price. A longer one makes the box higher.
const PRICE: usize = 4;
const NAME: usize = 19;
/// Rows of the list; if there are more options, it scrolls.
const ROWS: usize = 5;

/// An option: a question set, its name in the list, and the question to a judge.
#[derive(Clone, Debug)]
pub struct QuestionWay {
    pub set: QuestionSet,
    pub name: String,
    pub doc: String,
}

/// The known price of an option.
#[derive(Clone, Debug, Default)]
enum Priced {
    #[default]
    Unknown,
    /// It is being computed.
    Asked,
    /// The price, or why it cannot be computed.
    Known(Result<QuestionSetPrice, String>),
}

#[derive(Clone, Debug, Default)]
pub struct QuestionDialog {
    title: &'static str,
    ways: Vec<(QuestionWay, Priced)>,
    selected: usize,
    /// Describes the spending limit.
    budget: String,
    pub(crate) clicks: ClickAreas,
}

/// The chosen option.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionOrder {
    pub set: QuestionSet,
    pub price: QuestionSetPrice,
}

impl QuestionDialog {
    /// Creates the dialog; needs at least one option.
    pub fn new(title: &'static str, ways: Vec<QuestionWay>, budget: String) -> Self {
        Self {
            title,
            ways: ways.into_iter().map(|way| (way, Priced::Unknown)).collect(),
            selected: 0,
            budget,
            clicks: ClickAreas::default(),
        }
    }

    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    /// The option under the cursor, if its price has not been requested. It counts as requested
    /// from now on: a price is computed from the whole project, and one request per option is
    /// enough.
    pub fn ask(&mut self) -> Option<QuestionSet> {
        let (way, price) = self.ways.get_mut(self.selected)?;
        matches!(price, Priced::Unknown).then(|| {
            *price = Priced::Asked;
            way.set.clone()
        })
    }

    pub fn priced(&mut self, set: &QuestionSet, found: Result<QuestionSetPrice, String>) {
        let mut ways = self.ways.iter_mut();
        if let Some((_, price)) = ways.find(|(way, _)| way.set == *set) {
            *price = Priced::Known(found);
        }
    }

    /// The chosen option, if its price is known and there is something to do.
    fn order(&self) -> Option<QuestionOrder> {
        match self.ways.get(self.selected)? {
            (way, Priced::Known(Ok(price))) if !price.is_empty() => Some(QuestionOrder {
                set: way.set.clone(),
                price: price.clone(),
            }),
            _ => None,
        }
    }

    /// Moves in the list; Enter accepts an option with something to do.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<QuestionOrder> {
        match event.code {
            KeyCode::Enter => {
                if let Some(order) = self.order() {
                    return KeyOutcome::Submitted(order);
                }
            }
            KeyCode::Esc | KeyCode::Char('q') => return KeyOutcome::Cancelled,
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
                self.selected = (self.selected + 1).min(self.ways.len().saturating_sub(1));
            }
            KeyCode::Up | KeyCode::Char('k') | KeyCode::BackTab => {
                self.selected = self.selected.saturating_sub(1);
            }
            _ => return KeyOutcome::Pass,
        }
        KeyOutcome::Consumed
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(WIDTH.min(area.width).saturating_sub(FRAME));
        let shown = self.ways.len().min(ROWS);
        // The longest price, so that the box stays where it is when another option is chosen.
        let prices = (0..self.ways.len()).map(|at| self.price_lines(at, theme, columns).len());
        let price = prices.max().unwrap_or_default().max(PRICE);
        // The list, the price and the keys, with a blank row between them and two borders.
        let height = (shown + price + 5) as u16;
        let mut inner = boxed(self.title, theme, centred(area, WIDTH, height), buf);
        let order = self.order();
        let choose: &[(&str, &str)] = &[("↑ ↓", "choose"), ("Esc", "cancel")];
        let ask = order.map(|order| ("Enter", order.set.action()));
        let keys: Vec<_> = ask.into_iter().chain(choose.iter().copied()).collect();
        self.clicks.clear();
        let line = cut_bottom(&mut inner, 1);
        key_line(&keys, &self.clicks, Canvas::new(theme, line, buf));
        let columns = usize::from(inner.width);
        let first = self.selected.saturating_sub(shown.saturating_sub(1));
        let mut list = cut(&mut inner, shown as u16 + 1);
        list.height = list.height.min(shown as u16);
        let ways = self.ways.iter().enumerate().skip(first);
        for (row, (at, (way, _))) in list.rows().zip(ways) {
            self.clicks.row(row, at);
            let selected = at == self.selected;
            if selected {
                buf.set_style(row, theme.selection());
            }
            let doc = truncate(&way.doc, columns.saturating_sub(NAME + 2)).into_owned();
            let name = truncate(&way.name, NAME - 1);
            Line::from(vec![
                Span::raw(if selected { "▌ " } else { "  " }),
                Span::styled(pad_right(&name, NAME), theme.text()),
                Span::styled(doc, theme.muted()),
            ])
            .render(row, buf);
        }
        let lines = self.price_lines(self.selected, theme, columns);
        Paragraph::new(lines).render(inner, buf);
    }

    /// The price of an option, or why there is none.
    fn price_lines(&self, at: usize, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        match self.ways.get(at).map(|(_, price)| price) {
            None | Some(Priced::Unknown | Priced::Asked) => {
                vec![Line::styled("counting …", theme.muted())]
            }
            Some(Priced::Known(Err(why))) => {
                text::lines(&sanitize::line(why), columns, theme.error())
            }
            Some(Priced::Known(Ok(price))) => {
                let said = words(price, &self.budget);
                said.iter()
                    .flat_map(|words| text::lines(words, columns, theme.text()))
                    .collect()
            }
        }
    }
}

/// Describes the price, one sentence per line.
fn words(price: &QuestionSetPrice, budget: &str) -> Vec<String> {
    let judges = first_names(&price.judges);
    let mut words = Vec::new();
    if price.calls > 0 {
        words.push(format!(
            "{} to {judges} about {}.",
            counted(price.calls, "call"),
            price.about
        ));
    }
    if let Some(there) = &price.already {
        words.push(format!(
            "{there} are in the project and are not asked for again."
        ));
    }
    if let Some(pending) = &price.pending {
        words.push(format!("{pending}: what has ended is fetched first."));
    }
    match (price.calls, price.expected_usd, price.worst_usd) {
        (0, ..) if price.pending.is_some() => {}
        (0, ..) => words.push("Nothing is left to ask.".to_owned()),
        (_, _, Some(0.0)) => words.push("They cost nothing.".to_owned()),
        (_, Some(expected), Some(worst)) => words.push(format!(
            "About {} is expected, {} at most (estimated from the texts). {budget}",
            text::usd(expected),
            text::usd(worst)
        )),
        _ => words.push(format!("The price is not known for every judge. {budget}")),
    }
    words.extend(
        price
            .notes
            .iter()
            .map(|note| format!("Note: {}", sanitize::line(note))),
    );
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::adjudication::PickMode;
    use crate::tui::testing::{draw, key, text};

    fn price(calls: usize, worst_usd: Option<f64>) -> QuestionSetPrice {
        QuestionSetPrice {
            about: "20 pools".to_owned(),
            calls,
            already: Some("3 answers".to_owned()),
            pending: None,
            judges: vec!["gpt".to_owned()],
            expected_usd: worst_usd.map(|usd| usd / 2.0),
            worst_usd,
            paid: worst_usd != Some(0.0),
            notes: Vec::new(),
        }
    }

    const EXACTLY: QuestionSet = QuestionSet::Picks(PickMode::Exactly);
    const ANY_NUMBER: QuestionSet = QuestionSet::Picks(PickMode::AnyNumber);

    fn dialog() -> QuestionDialog {
        let way = |set, name: &str| QuestionWay {
            set,
            name: name.to_owned(),
            doc: String::new(),
        };
        let ways = vec![
            way(EXACTLY, "as many as labels"),
            way(ANY_NUMBER, "any number"),
        ];
        QuestionDialog::new("Picks", ways, "No budget is set.".to_owned())
    }

    fn shown(dialog: &QuestionDialog) -> String {
        text(&draw(80, 24, |area, buf| {
            dialog.render(&Theme::default(), area, buf);
        }))
    }

    #[test]
    fn a_way_is_accepted_once_its_price_is_on_screen() {
        let mut dialog = dialog();
        assert_eq!(dialog.ask(), Some(EXACTLY));
        assert_eq!(dialog.handle(key(KeyCode::Enter)), KeyOutcome::Consumed);
        dialog.priced(&EXACTLY, Err("no label".to_owned()));
        assert_eq!(dialog.handle(key(KeyCode::Enter)), KeyOutcome::Consumed);
        assert!(shown(&dialog).contains("no label"));
        dialog.handle(key(KeyCode::Down));
        assert_eq!(dialog.ask(), Some(ANY_NUMBER));
        dialog.priced(&ANY_NUMBER, Ok(price(40, Some(0.5))));
        let page = shown(&dialog);
        for words in [
            "40 calls to gpt about 20 pools.",
            "3 answers are in the project",
            "About $0.25 is expected, $0.50 at most",
            "(estimated from the texts)",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
        let order = QuestionOrder {
            set: ANY_NUMBER,
            price: price(40, Some(0.5)),
        };
        assert_eq!(
            dialog.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted(order)
        );
    }

    #[test]
    fn where_nothing_is_left_nothing_is_asked_and_any_size_is_drawn() {
        let mut dialog = dialog();
        dialog.priced(&EXACTLY, Ok(price(0, Some(0.0))));
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
