//! What a student learns from, as JSON lines: supervised prompts, preferences, pairs and single documents.

use super::judged_pairs::{JudgedPairs, JudgedQuery};
use super::sample::{all_judged, read_places};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::read_labels;
use crate::app::wording::{counted, first_names};
use crate::domain::corpus::QueryId;
use crate::domain::ranking::PairTarget;
use crate::domain::sampling::SeededRng;
use crate::domain::student::OutcomeProbabilities;
use crate::formats::safe_json;
use crate::formats::student_sample::SampleSide;
use crate::judge::prompt::{DocumentCut, LETTER, Template};
use crate::judge::{JudgePrompt, PoolText, PresentedPair};
use crate::store::{Db, Store, StoreError};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// A prompt with the most probable answer, and the probabilities of all three.
    Sft,
    /// A prompt with an answer that is preferred to another.
    Dpo,
    /// Two texts with a target.
    Pairwise,
    /// A query and a document with its zELO.
    Pointwise,
}

#[derive(Clone, Debug)]
pub struct StudentExport {
    pub form: ExportForm,
    /// Only the pairs of this sample.
    pub sample: Option<PathBuf>,
    /// Only this side of it.
    pub side: Option<SampleSide>,
    /// Labels whose queries are for measuring, and are left out.
    pub held_out: Vec<PathBuf>,
    /// Of the order in which two documents are shown.
    pub seed: u64,
    /// Characters of a document that prompts show.
    pub chars: usize,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct ExportedLines {
    pub lines: usize,
    pub queries: usize,
    /// What a person should know, a sentence each.
    pub notes: Vec<String>,
}

impl StudentExport {
    /// Writes the lines of all queries that are wanted.
    pub fn write(&self, store: &Store, out: &mut dyn Write) -> Result<ExportedLines, AppError> {
        let template = Template::parse(LETTER).map_err(AppError::failed)?;
        let judged = all_judged(store)?;
        let sample = match &self.sample {
            Some(path) => Some(read_places(path, &judged)?),
            None => None,
        };
        let held_out = self.held_out_queries()?;
        let mut done = ExportedLines::default();
        let mut left_out = Vec::new();
        for (at, query) in judged.queries.iter().enumerate() {
            let wanted = |target: &&PairTarget| match &sample {
                None => true,
                Some(places) => places
                    .get(&(at, target.pair))
                    .is_some_and(|side| self.side.is_none_or(|only| only == *side)),
            };
            let targets: Vec<PairTarget> = query.pairs.iter().filter(wanted).copied().collect();
            if targets.is_empty() {
                continue;
            }
            if held_out.contains(&query.id) {
                left_out.push(query.id.as_str());
                continue;
            }
            done.queries += 1;
            let name = query.id.as_str().to_owned();
            let texts = store.read_blocking(move |db| QueryTexts::read(db, &name))?;
            let lines = match self.form {
                ExportForm::Pointwise => texts.documents(query),
                _ => self.pairs(query, &targets, &texts, &template),
            };
            for line in &lines {
                safe_json::write_line(out, line)?;
            }
            done.lines += lines.len();
        }
        if done.lines == 0 {
            return Err(invalid!(
                "nothing is left to write: the sample, its side or the test data leave no judged pair"
            ));
        }
        if !left_out.is_empty() {
            done.notes.push(format!(
                "{} left out, also test data: {}",
                counted(left_out.len(), "query"),
                first_names(&left_out)
            ));
        }
        self.add_leaks(store, &judged, &held_out, &mut done)?;
        Ok(done)
    }

    fn held_out_queries(&self) -> Result<BTreeSet<QueryId>, AppError> {
        let mut queries = BTreeSet::new();
        for path in &self.held_out {
            queries.extend(read_labels(path)?.into_keys());
        }
        Ok(queries)
    }

    /// Says which of the queries people have labelled: whoever learns from them must not be measured on them.
    fn add_leaks(
        &self,
        store: &Store,
        judged: &JudgedPairs,
        held_out: &BTreeSet<QueryId>,
        done: &mut ExportedLines,
    ) -> Result<(), AppError> {
        let labels = store.read_blocking(|db| db.labels())?;
        let queries = judged.queries.iter().map(|query| &query.id);
        let both: Vec<&str> = queries
            .filter(|id| labels.contains_key(*id) && !held_out.contains(*id))
            .map(QueryId::as_str)
            .collect();
        if !both.is_empty() && self.side != Some(SampleSide::Test) {
            done.notes.push(format!(
                "{} of the project with labels of people: measure no student on them that learned from them: {}",
                counted(both.len(), "query"),
                first_names(&both)
            ));
        }
        Ok(())
    }

    fn pairs(
        &self,
        query: &JudgedQuery,
        targets: &[PairTarget],
        texts: &QueryTexts,
        template: &Template,
    ) -> Vec<Value> {
        let mut rng = SeededRng::new(self.seed, &["student order", query.id.as_str()]);
        // One draw a pair of the query, so that a part of its pairs is shown as all of them are.
        let turned: HashMap<_, bool> = query
            .pairs
            .iter()
            .map(|target| (target.pair, rng.below(2) == 1))
            .collect();
        let cut = DocumentCut { chars: self.chars };
        let line = |target: &PairTarget| {
            let (low, high) = (target.pair.low(), target.pair.high());
            let turned = turned.get(&target.pair).copied().unwrap_or_default();
            let (a, b, score) = match turned {
                true => (high, low, 1.0 - target.score),
                false => (low, high, target.score),
            };
            let soft = OutcomeProbabilities::soft_target(score);
            let prompt = || {
                let pair = PresentedPair {
                    pool: Arc::clone(&texts.pool),
                    first: a,
                    second: b,
                };
                messages(&template.fill(&pair, cut))
            };
            let mut line = json!({
                "query_id": query.id,
                "a_id": query.documents.get(a),
                "b_id": query.documents.get(b),
            });
            match self.form {
                ExportForm::Sft => {
                    line["prompt"] = prompt();
                    line["completion"] = answer(ranked(soft)[0].0);
                }
                ExportForm::Dpo => {
                    let [best, .., worst] = ranked(soft);
                    line["prompt"] = prompt();
                    line["chosen"] = answer(best.0);
                    line["rejected"] = answer(worst.0);
                    line["margin"] = json!(best.1 - worst.1);
                }
                ExportForm::Pairwise | ExportForm::Pointwise => {
                    line["query"] = json!(texts.pool.query);
                    line["text_a"] = json!(texts.text(a));
                    line["text_b"] = json!(texts.text(b));
                }
            }
            line["p_a"] = json!(soft.a());
            line["p_b"] = json!(soft.b());
            line["p_tie"] = json!(soft.tie());
            line["target"] = json!(score);
            line["weight"] = json!(target.weight);
            line
        };
        targets.iter().map(line).collect()
    }
}

/// The three answers with their probabilities, the most probable first; of equal ones a tie is last before the unlikely.
fn ranked(soft: OutcomeProbabilities) -> [(&'static str, f64); 3] {
    let mut answers = [("A", soft.a()), ("B", soft.b()), ("T", soft.tie())];
    answers.sort_by(|one, other| other.1.total_cmp(&one.1));
    answers
}

fn answer(letter: &str) -> Value {
    json!([{"role": "assistant", "content": letter}])
}

fn messages(prompt: &JudgePrompt) -> Value {
    json!([
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ])
}

/// The texts and scores of a query.
struct QueryTexts {
    pool: Arc<PoolText>,
    /// By pool index: zELO and its standard error.
    scores: Vec<Option<(f64, Option<f64>)>>,
}

impl QueryTexts {
    fn read(db: &Db, query: &str) -> Result<Self, StoreError> {
        let key = db.find_query(query)?;
        let info = db.query(key)?;
        let texts = (0..info.documents).map(|at| db.document_text(key, at));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let standings = db.view(key)?.standings.into_iter();
        Ok(Self {
            pool: Arc::new(PoolText::new(info.text, texts)),
            scores: standings.map(|of| of.map(|of| (of.zelo, of.se))).collect(),
        })
    }

    fn text(&self, document: usize) -> &str {
        self.pool.documents.get(document).map_or("", |text| text)
    }

    /// The documents with a score, in hybrid order.
    fn documents(&self, query: &JudgedQuery) -> Vec<Value> {
        let scored = self.scores.iter().enumerate();
        let scored = scored.filter_map(|(at, score)| Some((at, (*score)?)));
        scored
            .map(|(at, (zelo, se))| {
                json!({
                    "query_id": query.id,
                    "document_id": query.documents.get(at),
                    "query": self.pool.query,
                    "text": self.text(at),
                    "zelo": zelo,
                    "se": se,
                })
            })
            .collect()
    }
}
