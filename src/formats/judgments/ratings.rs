//! Grades of several people, of which each document keeps one.

use super::read_judgments::ReadJudgments;
use super::tool_format::Rating;
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::answers::{AnswerOptions, no_answers_of};
use crate::formats::columns::GradedDocument;
use crate::formats::problem::{Problem, quoted};
use std::collections::{BTreeMap, BTreeSet};

/// The grades of a file by document, and the lines of the first ones.
#[derive(Default)]
pub(super) struct Ratings {
    by_document: BTreeMap<(QueryId, DocId), RatedDocument>,
    raters: BTreeSet<String>,
}

struct RatedDocument {
    line: u64,
    /// Whether the document may be named by its text.
    may_be_text: bool,
    /// By person.
    grades: BTreeMap<String, i32>,
}

impl Ratings {
    /// Adds a grade. Calls `report` if the person has graded the document before.
    pub(super) fn add(
        &mut self,
        rating: Rating,
        options: &AnswerOptions,
        file: &str,
        report: &mut dyn FnMut(Problem),
    ) {
        let Rating {
            line,
            label,
            rater,
            may_be_text,
        } = rating;
        self.raters.insert(rater.clone());
        if options
            .rater
            .as_ref()
            .is_some_and(|wanted| *wanted != rater)
        {
            return;
        }
        let rated = self
            .by_document
            .entry((label.query.clone(), label.document.clone()))
            .or_insert_with(|| RatedDocument {
                line,
                may_be_text,
                grades: BTreeMap::new(),
            });
        if rated.grades.insert(rater.clone(), label.grade).is_some() {
            let whose = match rater.as_str() {
                "" => String::new(),
                rater => format!(" of {}", quoted(rater)),
            };
            let what = format!(
                "document {} of query {} has a grade{whose} on an earlier line; keep one",
                quoted(label.document.as_str()),
                quoted(label.query.as_str())
            );
            report(Problem::new(file, Some(line), what));
        }
    }

    /// Adds a label for each document: the grade on which people agree, or the median. Calls
    /// `report` with each document on which they differ if they must agree.
    pub(super) fn settle(
        self,
        options: &AnswerOptions,
        file: &str,
        read: &mut ReadJudgments,
        report: &mut dyn FnMut(Problem),
    ) {
        if let Some(wanted) = &options.rater
            && !self.raters.is_empty()
            && !self.raters.contains(wanted)
        {
            report(no_answers_of(file, wanted, &self.raters));
            return;
        }
        let mut by_line: Vec<_> = self.by_document.into_iter().collect();
        by_line.sort_by_key(|(_, rated)| rated.line);
        for ((query, document), rated) in by_line {
            let mut grades: Vec<i32> = rated.grades.values().copied().collect();
            grades.sort_unstable();
            let agree = grades.first() == grades.last();
            read.differing += usize::from(!agree);
            if !agree && !options.median {
                let named = rated.grades.iter().take(8);
                let named = named.map(|(rater, grade)| format!("{} {grade}", quoted(rater)));
                let what = format!(
                    "people differ on document {} of query {}: {}; `overrule import` reads one of \
                     them with --rater NAME, or their median with --median",
                    quoted(document.as_str()),
                    quoted(query.as_str()),
                    named.collect::<Vec<_>>().join(", ")
                );
                report(Problem::new(file, Some(rated.line), what));
                continue;
            }
            if let Some(grade) = grades.get((grades.len().max(1) - 1) / 2).copied() {
                if rated.may_be_text {
                    let name = (query.clone(), document.clone());
                    read.document_lines.insert(name, rated.line);
                }
                let label = GradedDocument {
                    query,
                    document,
                    grade,
                };
                read.collected.add(rated.line, label, file, report);
            }
        }
    }
}
