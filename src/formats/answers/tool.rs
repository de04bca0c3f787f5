//! What an annotation tool's export is: how it looks, and the answers of one of its items.

use super::item_fields::ItemFields;
use super::options::AnswerOptions;
use crate::domain::vote::Outcome;
use crate::formats::object::ObjectReader;
use crate::formats::problem::Problem;
use crate::formats::table_objects::TableSchema;
use std::sync::Arc;

/// The name of the question for a text about another answer.
pub(crate) const COMMENT: &str = "comment";

/// The answer that both documents of a pair are equal.
pub(crate) const TIE: &str = "tie";

/// The export of an annotation tool: an array, JSON lines or a table of items with answers.
pub(crate) trait AnswerTool: Sync {
    /// An item, as messages call it.
    fn unit(&self) -> &'static str;

    /// Whether a file that begins with `start`, without leading whitespace, is such an export.
    fn recognizes(&self, start: &str) -> bool;

    /// The columns of its tables; `None` if it exports none.
    fn table(&self) -> Option<&'static TableSchema> {
        None
    }

    /// The item in an object; `None` if there are problems, which are recorded.
    fn item(&self, object: ObjectReader<'_, '_>, options: &AnswerOptions) -> Option<AnsweredItem>;

    /// Answers with a fixed name that choose between the documents of a pair.
    fn choices(&self) -> &'static [(&'static str, Outcome)] {
        &[(TIE, Outcome::Tie)]
    }

    /// The names of the two positions of a pair, whose documents only the user knows.
    fn positions(&self) -> Option<[&'static str; 2]> {
        None
    }
}

/// An item with its answers.
#[derive(Debug, Default)]
pub(crate) struct AnsweredItem {
    pub(super) fields: ItemFields,
    pub(super) answers: Vec<PersonAnswer>,
    /// Answers to the question [`COMMENT`], if they may be about the others.
    pub(super) comments: Vec<PersonAnswer>,
    /// Answers that say nothing, or one if nobody was asked.
    pub(super) unanswered: Vec<EmptyAnswer>,
    /// People whose answers are not read.
    pub(super) others: Vec<String>,
}

/// An answer that says nothing: to which question, and of which person, as far as is known.
#[derive(Debug, Default)]
pub(super) struct EmptyAnswer {
    pub(super) question: Option<String>,
    pub(super) rater: Option<String>,
}

impl AnsweredItem {
    /// Whether a person's answers are read; if not, the person is remembered.
    pub(super) fn wants(&mut self, rater: Option<&str>, options: &AnswerOptions) -> bool {
        let wants = options.wants(rater);
        if let (false, Some(rater)) = (wants, rater) {
            self.others.push(rater.to_owned());
        }
        wants
    }

    pub(super) fn add_empty(&mut self, question: Option<&str>, rater: Option<&str>) {
        self.unanswered.push(EmptyAnswer {
            question: question.map(str::to_owned),
            rater: rater.map(str::to_owned),
        });
    }
}

/// A person's answer to a question about an item.
#[derive(Debug)]
pub(super) struct PersonAnswer {
    pub(super) question: String,
    /// The person's name or number, if the file has it.
    pub(super) rater: Option<String>,
    pub(super) value: AnswerValue,
    /// What the person wrote about it; empty if nothing.
    pub(super) note: String,
    /// In milliseconds since the Unix epoch, if the file has it.
    pub(super) created_ms: Option<i64>,
}

#[derive(Debug)]
pub(super) enum AnswerValue {
    /// A choice, a number or a text.
    One(String),
    /// Several choices, or a ranking, which has a rank of each; equal ranks are ties.
    List(Vec<(String, Option<i64>)>),
}

impl AnsweredItem {
    /// Makes the comments the notes of the same person's answers. People who only commented have not
    /// answered.
    pub(super) fn note_comments(&mut self) {
        for comment in std::mem::take(&mut self.comments) {
            let AnswerValue::One(text) = comment.value else {
                continue;
            };
            let rater = comment.rater.as_deref();
            let mut has_answered = false;
            for answer in &mut self.answers {
                if answer.rater.as_deref() == rater {
                    answer.note.clone_from(&text);
                    has_answered = true;
                }
            }
            let mut empty = self.unanswered.iter();
            if !has_answered && !empty.any(|empty| empty.rater.as_deref() == rater) {
                self.add_empty(None, rater);
            }
        }
    }

    /// Makes the comments answers like others.
    pub(super) fn answer_comments(&mut self) {
        self.answers.append(&mut self.comments);
    }

    /// Whether it has a question besides [`COMMENT`].
    pub(super) fn has_question(&self) -> bool {
        let of_empty = |empty: &EmptyAnswer| empty.question.is_some();
        !self.answers.is_empty() || self.unanswered.iter().any(of_empty)
    }
}

/// An answer with its place in the file.
pub(super) struct PlacedAnswer {
    pub(super) line: u64,
    pub(super) fields: Arc<ItemFields>,
    pub(super) answer: PersonAnswer,
}

impl AnsweredItem {
    pub(super) fn placed(self, line: u64) -> impl Iterator<Item = PlacedAnswer> {
        let fields = Arc::new(self.fields);
        self.answers.into_iter().map(move |answer| PlacedAnswer {
            line,
            fields: Arc::clone(&fields),
            answer,
        })
    }
}

impl PlacedAnswer {
    pub(super) fn question(&self) -> &str {
        &self.answer.question
    }

    /// A problem with the answer, in the file.
    pub(super) fn in_file<T>(&self, file: &str, read: Result<T, String>) -> Result<T, Problem> {
        read.map_err(|what| Problem::new(file, Some(self.line), what))
    }
}
