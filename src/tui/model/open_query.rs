//! The open query, as shown on its screens.

use crate::domain::battle::{Battle, BattleId, Pair};
use crate::domain::document_names::distinct_names;
use crate::domain::number_words::counted;
use crate::domain::prediction::QueryPredictions;
use crate::domain::priority::top_of;
use crate::domain::ranking::{Standing, View};
use crate::domain::sanitize;
use crate::domain::verdict::{AnnotatorVerdicts, Decision};
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::store::corpus::{DocumentInfo, QueryInfo};
use crate::store::vote_details::VoteDetail;
use crate::tui::clipboard::tsv_line;
use crate::tui::model::human_label::HumanLabel;
use std::collections::HashMap;
use std::sync::Arc;

/// Columns of a document's name in a sentence.
const NAME: usize = 60;

/// A query with the data of its screens.
#[derive(Debug)]
pub struct OpenQuery {
    pub info: QueryInfo,
    pub documents: Vec<DocumentInfo>,
    /// People's label of each document.
    pub labels: Vec<HumanLabel>,
    /// The judges that count.
    pub judges: Vec<(JudgeId, JudgeSpec)>,
    pub view: View,
    /// The students' predictions for its pairs, by name.
    pub students: Vec<(String, QueryPredictions)>,
    /// People's verdicts on its pairs.
    pub people: AnnotatorVerdicts,
    /// Verdicts on its pairs that programs propose.
    pub proposals: AnnotatorVerdicts,
    /// Texts that have been loaded.
    pub texts: HashMap<usize, Arc<str>>,
    /// Votes with reasoning that have been loaded.
    pub votes: HashMap<BattleId, Vec<VoteDetail>>,
}

impl OpenQuery {
    /// Whether any of the judges' votes are lexical.
    pub fn offline(&self) -> bool {
        self.judges.iter().any(|(_, spec)| spec.is_offline())
    }

    /// Whether it has no votes yet, neither of judges nor of people.
    pub fn is_unjudged(&self) -> bool {
        let rows = self.view.rows();
        rows.verdicts.is_empty() && rows.battles.iter().all(|battle| battle.votes.is_empty())
    }

    /// Loaded votes with reasoning on the pair's battles, in battle order.
    pub fn votes_of(&self, pair: Pair) -> Vec<&VoteDetail> {
        let battles = self.view.battles_of(pair).iter();
        battles
            .filter_map(|index| self.votes.get(&self.battle(*index)?.id))
            .flatten()
            .collect()
    }

    /// The identifiers of the query and of documents, separated by tabs.
    pub(crate) fn identifiers(&self, documents: &[usize]) -> String {
        let documents = documents
            .iter()
            .filter_map(|document| Some(self.documents.get(*document)?.id.as_str()));
        tsv_line([self.info.id.as_str()].into_iter().chain(documents))
    }

    /// The display name of a document: its sanitized identifier.
    pub fn name(&self, document: usize) -> String {
        self.documents
            .get(document)
            .map_or(String::new(), |document| line(document.id.as_str()))
    }

    /// A document's sanitized title, or the beginning of its text.
    pub fn headline(&self, document: usize) -> String {
        self.documents
            .get(document)
            .map_or(String::new(), |document| {
                line(document.title().unwrap_or(&document.snippet))
            })
    }

    /// Names of two documents that tell them apart within `room` columns: their titles, or texts
    /// without one, or else identifiers.
    pub fn names_of(&self, a: usize, b: usize, room: usize) -> [String; 2] {
        self.distinct_titles(a, b, room)
            .unwrap_or_else(|| [a, b].map(|at| self.name(at)))
    }

    /// The same without identifiers, which would tell where a document comes from: titles that do
    /// not differ are shown as they are.
    pub fn titles_of(&self, a: usize, b: usize, room: usize) -> [String; 2] {
        self.distinct_titles(a, b, room)
            .unwrap_or_else(|| [a, b].map(|at| self.headline(at)))
    }

    fn distinct_titles(&self, a: usize, b: usize, room: usize) -> Option<[String; 2]> {
        let [one, other] = [a, b].map(|at| self.title_or_text(at));
        distinct_names(&one, &other, room)
    }

    /// A document's sanitized title, or else as much of its text as is loaded.
    fn title_or_text(&self, at: usize) -> String {
        let document = self.documents.get(at);
        let title = document.and_then(DocumentInfo::title);
        let text = || match self.texts.get(&at) {
            Some(text) => &**text,
            None => document.map_or("", |document| &document.snippet),
        };
        line(title.unwrap_or_else(text))
    }

    /// Whether any document has a label.
    pub fn has_labels(&self) -> bool {
        self.labels
            .iter()
            .any(|label| label.is_relevant().is_some())
    }

    pub fn label(&self, document: usize) -> HumanLabel {
        self.labels.get(document).cloned().unwrap_or_default()
    }

    /// A judge's sanitized name, by its index in the ensemble.
    pub fn judge_name(&self, index: usize) -> String {
        self.judges
            .get(index)
            .map_or(String::new(), |(_, spec)| line(&spec.name))
    }

    /// A student's sanitized name, by its index.
    pub fn student_name(&self, index: usize) -> String {
        self.students
            .get(index)
            .map_or(String::new(), |(name, _)| line(name))
    }

    pub fn judge_index(&self, judge: JudgeId) -> Option<usize> {
        self.judges.iter().position(|(id, _)| *id == judge)
    }

    pub fn standing(&self, document: usize) -> Option<Standing> {
        self.view.standings.get(document).copied().flatten()
    }

    /// `rank 3 (95 %: 2–7)`.
    pub fn rank_text(&self, document: usize) -> String {
        let Some(standing) = self.standing(document) else {
            return "not scored".to_owned();
        };
        let interval = standing
            .interval
            .map_or(String::new(), |interval| format!(" ({interval})"));
        format!("rank {}{interval}", standing.rank)
    }

    /// Sorts battles by the size of their surprise; those without one come last.
    pub fn sort_by_surprise(&self, battles: &mut [usize]) {
        let size = |index: &usize| {
            let battle = self.view.battles.get(*index);
            battle
                .and_then(|battle| battle.surprise)
                .map_or(-1.0, f64::abs)
        };
        battles.sort_by(|x, y| size(y).total_cmp(&size(x)));
    }

    pub fn battle(&self, index: usize) -> Option<Battle> {
        Some(self.view.rows().battles.get(index)?.battle)
    }

    /// Describes a decision on a pair displayed as A and B by the documents' names.
    pub fn decision_text(&self, decision: Decision, a: usize, b: usize) -> String {
        let [a, b] = self.names_of(a, b, NAME);
        decision.words(&a, &b)
    }

    /// Why fewer ranks count as the top than in larger pools of the project.
    pub(crate) fn small_pool(&self) -> Option<String> {
        let (documents, top) = (self.view.rows().documents, self.view.settings.top);
        (documents <= top).then(|| {
            format!(
                "top {} of {}: half of the pool, because the project's top {top} would be all of it",
                self.top(),
                counted(documents, "document")
            )
        })
    }

    /// Number of ranks that count as the top.
    pub fn top(&self) -> usize {
        top_of(&self.view)
    }

    /// Ranks by pool index.
    pub fn ranks(&self) -> Vec<Option<usize>> {
        let standings = self.view.standings.iter();
        standings
            .map(|standing| standing.map(|standing| standing.rank))
            .collect()
    }

    /// Scores by pool index.
    pub fn scores(&self) -> Vec<Option<f64>> {
        self.view.scores()
    }
}

fn line(text: &str) -> String {
    sanitize::line(text).into_owned()
}
