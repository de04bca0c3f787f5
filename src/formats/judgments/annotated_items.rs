//! Grades of single documents in the exports of annotation tools, and labels for them to import.

use super::tool_format::{
    ExportedLabels, FormatInfo, JudgmentItem, Rating, ReadItem, ToolFormat, unwritable,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::answers::{
    AnswerOptions, AnswerTool, Argilla, GradedItem, LabelStudio, Potato, read_answers,
};
use crate::formats::columns::GradedDocument;
use crate::formats::listed::FormatNames;
use crate::formats::safe_json;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};

/// Grades in the export of an annotation tool.
pub(super) struct AnnotatedItems {
    tool: &'static dyn AnswerTool,
    info: FormatInfo,
    /// A label as an item of the tool; `None` if the tool reads no judged items.
    item: Option<fn(&LabeledItem<'_>) -> Value>,
}

/// A label to write.
struct LabeledItem<'a> {
    query: &'a QueryId,
    query_text: &'a str,
    document: &'a DocId,
    /// The document's text, if the project has it.
    text: Option<&'a str>,
    grade: i32,
}

pub(super) static LABEL_STUDIO: AnnotatedItems = AnnotatedItems {
    tool: &LabelStudio,
    info: FormatInfo {
        names: FormatNames {
            name: "label-studio",
            describe: "labels (Label Studio)",
            looks_like: "tasks with \"annotations\", or JSON-MIN",
        },
        file_words: "JSON (.json)",
        endings: &["json"],
        needs_index: false,
        writes_documents: true,
        is_written: true,
        unrated: "answer",
    },
    item: Some(label_studio_task),
};

pub(super) static ARGILLA: AnnotatedItems = AnnotatedItems {
    tool: &Argilla,
    info: FormatInfo {
        names: FormatNames {
            name: "argilla",
            describe: "labels (Argilla)",
            looks_like: "records with \"fields\" and \"responses\"",
        },
        file_words: "JSON (.json)",
        endings: &["json"],
        needs_index: false,
        writes_documents: true,
        is_written: true,
        unrated: "answer",
    },
    item: Some(argilla_record),
};

pub(super) static POTATO: AnnotatedItems = AnnotatedItems {
    tool: &Potato,
    info: FormatInfo {
        names: FormatNames {
            name: "potato",
            describe: "labels (Potato)",
            looks_like: "lines or a table with \"instance_id\"",
        },
        file_words: "JSON lines (.jsonl)",
        endings: &["jsonl"],
        needs_index: false,
        writes_documents: false,
        is_written: false,
        unrated: "answer",
    },
    item: None,
};

/// The question that exported labels answer.
const QUESTION: &str = "relevance";

impl ToolFormat for AnnotatedItems {
    fn info(&self) -> &FormatInfo {
        &self.info
    }

    fn recognizes(&self, start: &str) -> bool {
        self.tool.recognizes(start)
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        found: &mut dyn FnMut(ReadItem),
    ) {
        let answers = read_answers(self.tool, reader, file, options, &mut |problem| {
            found(Err(problem));
        });
        (0..answers.unanswered).for_each(|_| found(Ok(JudgmentItem::Unrated)));
        for graded in answers.grades(file, options) {
            match graded {
                Ok(graded) => rating(graded).into_iter().for_each(|item| found(Ok(item))),
                Err(problem) => found(Err(problem)),
            }
        }
    }

    fn write(&self, out: &mut dyn Write, labels: &ExportedLabels<'_>) -> io::Result<()> {
        let Some(written) = self.item else {
            return Err(unwritable("the tool reads no judged items".to_owned()));
        };
        let queries = labels.queries()?;
        let mut before = "[\n";
        for (query_text, query, grades) in queries {
            let texts = labels.documents.get(query);
            for (document, grade) in grades {
                let item = written(&LabeledItem {
                    query,
                    query_text,
                    document,
                    text: texts
                        .and_then(|texts| texts.get(document))
                        .map(String::as_str),
                    grade: *grade,
                });
                write!(out, "{before}{}", safe_json::compact(&item)?)?;
                before = ",\n";
            }
        }
        writeln!(out, "{}]", if before == "[\n" { "[" } else { "\n" })
    }
}

/// A grade, and the text of its query if the file has an identifier and a text.
fn rating(graded: GradedItem) -> Vec<JudgmentItem> {
    let query = QueryId::new(graded.query.name);
    let text = graded
        .query
        .text
        .map(|text| JudgmentItem::Text(graded.line, query.clone(), text));
    let rating = JudgmentItem::Rating(Rating {
        line: graded.line,
        label: GradedDocument {
            query,
            document: DocId::new(graded.document.name),
            grade: graded.grade,
        },
        rater: graded.rater.unwrap_or_default(),
        may_be_text: !graded.document.is_id,
    });
    text.into_iter().chain([rating]).collect()
}

impl LabeledItem<'_> {
    /// The texts that people read.
    fn texts(&self) -> Map<String, Value> {
        let mut texts = Map::new();
        texts.insert("query".to_owned(), json!(self.query_text));
        if let Some(text) = self.text {
            texts.insert("document".to_owned(), json!(text));
        }
        texts
    }

    fn ids(&self) -> Map<String, Value> {
        let ids = [
            ("query_id", json!(self.query)),
            ("document_id", json!(self.document)),
        ];
        ids.map(|(name, id)| (name.to_owned(), id))
            .into_iter()
            .collect()
    }
}

/// A task with an annotation by the tag `Number`. Texts come last, so that the beginning of the file
/// shows its format.
fn label_studio_task(item: &LabeledItem<'_>) -> Value {
    let mut data = item.ids();
    data.extend(item.texts());
    let result = json!({
        "from_name": QUESTION,
        "to_name": "document",
        "type": "number",
        "value": {"number": item.grade},
    });
    json!({"annotations": [{"result": [result]}], "data": data})
}

/// A record that suggests the grade: only people respond.
fn argilla_record(item: &LabeledItem<'_>) -> Value {
    let mut suggestions = Map::new();
    suggestions.insert(
        QUESTION.to_owned(),
        json!({"value": item.grade, "agent": "overrule"}),
    );
    json!({
        "id": json!([item.query, item.document]).to_string(),
        "responses": {},
        "metadata": item.ids(),
        "fields": item.texts(),
        "suggestions": suggestions,
        "vectors": {},
        "status": "pending",
    })
}
