//! The documents of a task, prepared for display.

use crate::domain::corpus::DocId;
use crate::domain::sanitize;
use crate::features::duel::app::TaskTexts;
use crate::features::duel::domain::{Content, Task};
use crate::tui::widgets::document_text::PreparedText;
use std::sync::Arc;

/// The text shown in an attention task in place of a document.
const REQUEST: &str = "Please choose this one, and no other.\nThis is not a document: it checks \
                       that the texts are read.";

/// The content of one position.
#[derive(Clone, Debug)]
pub struct Card {
    /// `None` for the request of an attention task.
    pub document: Option<DocId>,
    /// Safe to draw; for a text without a title, its first words.
    pub title: String,
    /// The text as stored in the project; passages count its characters.
    pub source: Arc<str>,
    pub shown: Arc<PreparedText>,
    /// Start of the text after its title.
    pub body: usize,
}

#[derive(Clone, Debug)]
pub struct TaskCards {
    pub query: String,
    /// For a grid or one list: by position. For two lists: those of the left list, then those of
    /// the right one.
    pub cards: Vec<Card>,
}

impl Card {
    fn new(document: Option<DocId>, title: Option<&str>, source: &str, query: &str) -> Self {
        let shown = PreparedText::new(source, query);
        let title = title.map(|title| sanitize::line(title.trim()).into_owned());
        let title = title.filter(|title| !title.is_empty());
        let first = shown.text.trim_start();
        let body = title
            .as_deref()
            .filter(|title| first.starts_with(*title))
            .map_or(0, |title| {
                let rest = first.get(title.len()..).unwrap_or_default();
                shown.text.len() - rest.trim_start().len()
            });
        // A text that consists only of its title is shown anyway.
        let body = if body < shown.text.trim_end().len() {
            body
        } else {
            0
        };
        let words = || sanitize::line(&first.chars().take(200).collect::<String>()).into_owned();
        Self {
            document,
            title: title.unwrap_or_else(words),
            source: Arc::from(source),
            shown: Arc::new(shown),
            body,
        }
    }
}

impl TaskCards {
    pub fn new(task: &Task, texts: &TaskTexts) -> Self {
        let card = |document: &Option<DocId>| match document {
            None => Card::new(None, None, REQUEST, ""),
            Some(id) => {
                let title = texts.titles.get(id).map(String::as_str);
                let text = texts.texts.get(id).map_or("", String::as_str);
                Card::new(Some(id.clone()), title, text, &texts.query)
            }
        };
        let cards = match &task.content {
            Content::Places(places) => places.iter().map(|place| card(&place.document)).collect(),
            Content::Lists { lists, .. } => lists
                .iter()
                .flatten()
                .cloned()
                .map(|id| card(&Some(id)))
                .collect(),
        };
        Self {
            query: texts.query.clone(),
            cards,
        }
    }
}
