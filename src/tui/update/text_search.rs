//! Searching the texts on screen: typing, moving between matches, ending.

use crate::tui::keymap::Command;
use crate::tui::model::text_search::TextSearch;
use crate::tui::model::{Model, PromptFor};
use crate::tui::screens::behavior::Find;

/// Asks for words to search for in the texts on screen.
pub(super) fn ask(model: &mut Model) {
    let words = model.search.as_ref().map(|search| search.words.clone());
    let placeholder = "words to find in the text";
    model.ask(
        "/",
        placeholder,
        &words.unwrap_or_default(),
        PromptFor::Search,
    );
}

/// Highlights the matches; without words, nothing is searched.
pub(super) fn look_for(model: &mut Model, words: &str) {
    let Find::Texts(texts) = model.behavior().find() else {
        return;
    };
    let before = model.search.take();
    if words.trim().is_empty() {
        return;
    }
    let mut search = TextSearch::new(words, &texts(model));
    if let Some(before) = before.filter(|before| before.words == words) {
        search.at = before.at.min(search.found.len().saturating_sub(1));
    }
    model.search = Some(search);
    show(model);
}

impl Model {
    /// Repeats the search after texts have been loaded.
    pub(crate) fn refresh_search(&mut self) {
        if let Some(words) = self.search.as_ref().map(|search| search.words.clone()) {
            look_for(self, &words);
        }
    }
}

/// Handles a command during a search; returns false if it is unrelated to the search.
pub(super) fn on_command(model: &mut Model, command: Command) -> bool {
    let Some(search) = &mut model.search else {
        return false;
    };
    match command {
        Command::NextMatch | Command::PreviousMatch => {
            search.step(command == Command::NextMatch);
            show(model);
        }
        Command::Back => model.search = None,
        _ => return false,
    }
    true
}

/// Scrolls to the current match.
fn show(model: &mut Model) {
    let side = model.search.as_ref().and_then(TextSearch::current);
    if let Some(side) = side.map(|(side, _)| *side)
        && let Find::Texts(_) = model.behavior().find()
    {
        model.behavior().reveal(model, side);
    }
}
