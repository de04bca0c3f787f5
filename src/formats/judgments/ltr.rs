//! Judgment lists for learning to rank: lines `GRADE qid:QUERY FEATURE:VALUE… # DOCUMENT COMMENT`,
//! as RankLib, the plugins of Elasticsearch and OpenSearch, Solr's tools and SVMrank read them.
//! Features are ignored. Lines `# qid:QUERY: TEXT` give the texts of queries.

use super::tool_format::{ExportedLabels, FormatInfo, JudgmentItem, ReadItem, ToolFormat};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitize::is_hazard;
use crate::formats::answers::AnswerOptions;
use crate::formats::columns::GradedDocument;
use crate::formats::grade::whole_grade;
use crate::formats::lines::{NotText, TextLines};
use crate::formats::listed::FormatNames;
use crate::formats::problem::quoted;
use crate::formats::trec::cell;
use std::io::{self, BufRead, Write};

static INFO: FormatInfo = FormatInfo {
    names: FormatNames {
        name: "ltr",
        describe: "a judgment list for learning to rank",
        looks_like: "4 qid:1 # DOCUMENT TITLE",
    },
    file_words: "a judgment list (.txt)",
    endings: &["txt"],
    needs_index: false,
    writes_documents: false,
    is_written: true,
    unrated: "row",
};

pub(super) struct JudgmentList;

impl ToolFormat for JudgmentList {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn recognizes(&self, start: &str) -> bool {
        let mut lines = start.lines().map(str::trim).filter(|line| !line.is_empty());
        match lines.find(|line| !line.starts_with('#') || query_text(line).is_some()) {
            Some(line) if line.starts_with('#') => true,
            Some(line) => {
                let mut words = line.split_ascii_whitespace();
                words.next().is_some_and(|word| word.parse::<f64>().is_ok())
                    && words.next().is_some_and(|word| word.starts_with("qid:"))
            }
            None => false,
        }
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        _: &AnswerOptions,
        found: &mut dyn FnMut(ReadItem),
    ) {
        let mut lines = TextLines::new(reader, file);
        while let Some(line) = lines.next() {
            let item = match line {
                Ok(line) => line.text().map_err(ListError::from).and_then(item),
                Err(problem) => return found(Err(problem)),
            };
            match item {
                Ok(ListItem::Comment) => {}
                Ok(ListItem::Text(query, text)) => {
                    found(Ok(JudgmentItem::Text(lines.number(), query, text)))
                }
                Ok(ListItem::Label(label)) => found(Ok(JudgmentItem::Label(lines.number(), label))),
                Err(error) => found(Err(lines.problem(error))),
            }
        }
    }

    fn write(&self, out: &mut dyn Write, labels: &ExportedLabels<'_>) -> io::Result<()> {
        let queries = labels.queries_by_text()?;
        // Most readers accept only integers after `qid:`.
        let number_in = |query: &QueryId| {
            let number = query.as_str().parse::<u32>().ok()?;
            (number.to_string() == query.as_str()).then_some(number)
        };
        let keeps_ids = queries
            .iter()
            .all(|(_, query, _)| number_in(query).is_some());
        // A new number is not the identifier of a query.
        let taken = labels.texts.keys().filter_map(number_in).max();
        let number = |at: usize, query: &QueryId| {
            if keeps_ids {
                query.as_str().to_owned()
            } else {
                (at as u64 + 1 + u64::from(taken.unwrap_or_default())).to_string()
            }
        };
        for (at, (text, query, _)) in queries.iter().enumerate() {
            let words: Vec<&str> = text.split_whitespace().collect();
            let text = words.join(" ").replace(is_hazard, "");
            writeln!(out, "# qid:{}: {text}", number(at, query))?;
        }
        for (at, (_, query, grades)) in queries.iter().enumerate() {
            let number = number(at, query);
            for (document, grade) in *grades {
                writeln!(out, "{grade}\tqid:{number} #\t{}", cell(document.as_str())?)?;
            }
        }
        Ok(())
    }
}

enum ListItem {
    Comment,
    Text(QueryId, String),
    Label(GradedDocument),
}

/// Why a line is not one of a judgment list.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error(transparent)]
    NotText(#[from] NotText),
    #[error("expected GRADE qid:QUERY # DOCUMENT")]
    NoQuery,
    #[error("the grade {} is not a whole number", quoted(.0))]
    NotAGrade(String),
    #[error("{} is not a feature, such as 3:0.5; features come before #", quoted(.0))]
    NotAFeature(String),
    #[error(
        "has no document after #; write the identifier of the document there, without which its grade \
         cannot be used"
    )]
    NoDocument,
}

fn item(line: &str) -> Result<ListItem, ListError> {
    let line = line.trim();
    if line.starts_with('#') {
        return Ok(match query_text(line) {
            Some((query, text)) => ListItem::Text(QueryId::new(query), text.to_owned()),
            None => ListItem::Comment,
        });
    }
    let (columns, comment) = line.split_once('#').unwrap_or((line, ""));
    let mut columns = columns.split_ascii_whitespace();
    let (grade, query) = (columns.next(), columns.next());
    let query = query.and_then(|query| query.strip_prefix("qid:"));
    let (Some(grade), Some(query)) = (grade, query.filter(|query| !query.is_empty())) else {
        return Err(ListError::NoQuery);
    };
    let grade = whole_grade(grade).ok_or_else(|| ListError::NotAGrade(grade.to_owned()))?;
    let is_feature = |word: &str| {
        let parts = word.split_once(':');
        parts.is_some_and(|(name, value)| !name.is_empty() && value.parse::<f64>().is_ok())
    };
    if let Some(word) = columns.find(|word| !is_feature(word)) {
        return Err(ListError::NotAFeature(word.to_owned()));
    }
    let mut words = comment.split_ascii_whitespace();
    // LETOR writes `#docid = GX008-86-4444840 inc = 1 prob = 0.086622`.
    let document = match (words.next(), words.next(), words.next()) {
        (Some("docid"), Some("="), Some(document)) => document,
        (Some(document), _, _) => document,
        (None, _, _) => return Err(ListError::NoDocument),
    };
    Ok(ListItem::Label(GradedDocument {
        query: QueryId::new(query),
        document: DocId::new(document),
        grade,
    }))
}

/// The query and its text on a line `# qid:QUERY: TEXT`.
fn query_text(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix("qid:")?;
    let (query, text) = rest.split_once(':')?;
    let (query, text) = (query.trim(), text.trim());
    (!query.is_empty() && !text.is_empty()).then_some((query, text))
}
