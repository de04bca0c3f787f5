//! Exports training data for students: supervised prompts, preferences, pairs and single documents.

use super::judged_pairs::{JudgedPairs, JudgedQuery};
use super::sample::{SamplePlaces, all_judged, read_places};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, read_query_ids};
use crate::app::scored_pools::ScoreSource;
use crate::app::text_format::{counted, first_names};
use crate::domain::common_scale::ProjectScale;
use crate::domain::corpus::QueryId;
use crate::domain::document_cut::DocumentCut;
use crate::domain::prediction::OutcomeProbabilities;
use crate::domain::ranking::PairTarget;
use crate::domain::sampling::SeededRng;
use crate::features::scale::app::project_scale_of;
use crate::features::student::formats::sample::SampleSide;
use crate::formats::table_file::{CellKind, Column, TableFormat, TableWriter};
use crate::judge::prompt::{LETTER, Template};
use crate::judge::{JudgePrompt, PoolText, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// The content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// A prompt with the most probable answer, and the probabilities of all three answers.
    Sft,
    /// A prompt with an answer that is preferred to another.
    Dpo,
    /// Two texts with a target, and with how much better the first one is.
    Pairwise,
    /// A query and a document with its score: the calibrated score if the query is on the project's
    /// common scale, or else its zELO.
    Pointwise,
}

/// The first columns of every line of a pair.
const PAIR_NAMES: [Column; 3] = [
    Column::text("query_id"),
    Column::text("a_id"),
    Column::text("b_id"),
];
const TARGETS: [Column; 5] = [
    Column::number("p_a"),
    Column::number("p_b"),
    Column::number("p_tie"),
    Column::number("target"),
    Column::number("weight"),
];

impl ExportForm {
    /// The columns of a file, which are the same in all file formats.
    pub fn columns(self) -> Vec<Column> {
        let own: &[Column] = match self {
            Self::Sft => &[
                Column::of("prompt", CellKind::Messages),
                Column::of("completion", CellKind::Messages),
            ],
            Self::Dpo => &[
                Column::of("prompt", CellKind::Messages),
                Column::of("chosen", CellKind::Messages),
                Column::of("rejected", CellKind::Messages),
                Column::number("margin"),
            ],
            Self::Pairwise => &[
                Column::text("query"),
                Column::text("text_a"),
                Column::text("text_b"),
                Column::number("a_over_b"),
            ],
            Self::Pointwise => {
                return vec![
                    Column::text("query_id"),
                    Column::text("document_id"),
                    Column::text("query"),
                    Column::text("text"),
                    Column::number("target"),
                    Column::number("target_se").or_null(),
                    Column::text("target_is"),
                    Column::number("expected_grade").or_null(),
                    Column::number("zelo"),
                    Column::number("se").or_null(),
                ];
            }
        };
        [&PAIR_NAMES, own, &TARGETS].concat()
    }
}

#[derive(Clone, Debug)]
pub struct StudentExport {
    pub form: ExportForm,
    pub format: TableFormat,
    /// Only the pairs of this sample.
    pub sample: Option<PathBuf>,
    /// Only this side of the sample.
    pub side: Option<SampleSide>,
    /// Files with test queries, which are skipped: labels, or one query per line.
    pub test_queries: Vec<PathBuf>,
    /// Random seed for the order in which two documents are shown.
    pub seed: u64,
    /// Number of characters of a document shown in prompts.
    pub chars: usize,
}

/// Result of an export.
#[derive(Clone, Debug, Default)]
pub struct ExportedLines {
    pub lines: usize,
    pub queries: usize,
    /// Notes to the user, one sentence each.
    pub notes: Vec<String>,
}

impl ExportedLines {
    /// Notes which queries were skipped as test data.
    pub(super) fn add_left_out<'a>(&mut self, queries: impl Iterator<Item = &'a QueryId>) {
        let left_out: Vec<&str> = queries.map(QueryId::as_str).collect();
        if !left_out.is_empty() {
            self.notes.push(format!(
                "skipped {} (also test data): {}",
                counted(left_out.len(), "query"),
                first_names(&left_out)
            ));
        }
    }

    /// Notes which of the written queries have people's labels or gold pairs, so that students may
    /// be evaluated on them.
    pub(super) fn add_known<'a>(
        &mut self,
        store: &Store,
        written: impl Iterator<Item = &'a QueryId> + Clone,
    ) -> Result<(), AppError> {
        let (labels, gold) = store.read_blocking(|db| {
            let mut gold = BTreeSet::new();
            for (query, _) in db.gold(None)? {
                gold.insert(query);
            }
            let gold = gold.into_iter().map(|query| Ok(db.query(query)?.id));
            Ok((
                db.labels()?,
                gold.collect::<Result<BTreeSet<_>, StoreError>>()?,
            ))
        })?;
        let labeled = written.clone().filter(|id| labels.contains_key(*id));
        self.add_leak("with labels of people", labeled);
        let known = written.filter(|id| gold.contains(*id));
        self.add_leak("with pairs whose answer is known (gold)", known);
        Ok(())
    }

    fn add_leak<'a>(&mut self, what: &str, queries: impl Iterator<Item = &'a QueryId>) {
        let both: Vec<&str> = queries.map(QueryId::as_str).collect();
        if !both.is_empty() {
            self.notes.push(format!(
                "{} {what} in these files; a student trained on the files must not be measured on \
                 them: {}",
                counted(both.len(), "query"),
                first_names(&both)
            ));
        }
    }
}

/// Queries to be left out of training files.
#[derive(Clone, Debug, Default)]
pub(super) struct TestQueries(BTreeSet<QueryId>);

impl TestQueries {
    /// Reads the queries of files. A note names each file that has no known query.
    pub(super) fn read(
        paths: &[PathBuf],
        is_known: impl Fn(&QueryId) -> bool,
        notes: &mut Vec<String>,
    ) -> Result<Self, AppError> {
        let mut queries = BTreeSet::new();
        for path in paths {
            let found = read_query_ids(path)?;
            if !found.iter().any(&is_known) {
                notes.push(format!(
                    "{}: none of its {} is in the project",
                    display_name(path),
                    counted(found.len(), "query")
                ));
            }
            queries.extend(found);
        }
        Ok(Self(queries))
    }

    pub(super) fn contains(&self, query: &QueryId) -> bool {
        self.0.contains(query)
    }
}

impl StudentExport {
    /// Writes the lines of all requested queries.
    pub fn write(
        &self,
        store: &Store,
        out: &mut (dyn Write + Send),
    ) -> Result<ExportedLines, AppError> {
        let columns = self.form.columns();
        let mut rows = TableWriter::new(&columns, self.format, out)?;
        let template = Template::parse(LETTER).map_err(AppError::failed)?;
        let judged = all_judged(store)?;
        let sample = match &self.sample {
            Some(path) => Some(read_places(path, &judged)?),
            None => None,
        };
        let mut done = ExportedLines::default();
        let is_known = |id: &QueryId| judged.query_place(id.as_str()).is_some();
        let test_queries = TestQueries::read(&self.test_queries, is_known, &mut done.notes)?;
        // Only votes, so that no student learns from another student.
        let scale = match self.form {
            ExportForm::Pointwise => project_scale_of(store, ScoreSource::VotesAlone)?,
            _ => None,
        };
        let (wanted, left_out): (Vec<_>, Vec<_>) = judged
            .queries
            .iter()
            .enumerate()
            .map(|(at, query)| (query, self.wanted(at, query, sample.as_ref())))
            .filter(|(_, targets)| !targets.is_empty())
            .partition(|(query, _)| !test_queries.contains(&query.id));
        let wanted: HashMap<_, _> = wanted
            .into_iter()
            .map(|(query, targets)| (query.key, (query, targets)))
            .collect();
        done.queries = wanted.len();
        let linked = |id: &QueryId| scale.as_ref().is_some_and(|of| of.offset(id).is_some());
        // Lines with calibrated scores come first, since readers of JSON infer the types of all
        // columns from the first lines.
        let (first, last): (Vec<_>, Vec<_>) = judged
            .queries
            .iter()
            .filter(|query| wanted.contains_key(&query.key))
            .partition(|query| linked(&query.id));
        let keys: Vec<QueryKey> = first.iter().chain(&last).map(|query| query.key).collect();
        let mut unlinked = 0;
        store.read_each(
            &keys,
            |db, key| {
                let texts = QueryTexts::read(db, key)?;
                let scores = match self.form {
                    ExportForm::Pointwise => votes_alone(db, key)?,
                    _ => Vec::new(),
                };
                Ok((texts, scores))
            },
            |key, (texts, scores)| {
                let Some((query, targets)) = wanted.get(&key) else {
                    return Ok(());
                };
                let lines = match self.form {
                    ExportForm::Pointwise => {
                        unlinked += usize::from(!linked(&query.id));
                        documents(query, &texts, &scores, scale.as_ref())
                    }
                    _ => self.pairs(query, targets, &texts, &template),
                };
                done.lines += lines.len();
                lines
                    .into_iter()
                    .try_for_each(|line| Ok::<(), AppError>(rows.write(line)?))
            },
        )?;
        rows.finish()?;
        if done.lines == 0 {
            return Err(invalid!(
                "nothing to write: the sample, its side or the test data leave no judged pair"
            ));
        }
        done.add_left_out(left_out.iter().map(|(of, _)| &of.id));
        if self.form == ExportForm::Pointwise {
            done.notes.extend(scale_notes(scale.as_ref(), unlinked));
        }
        self.add_leaks(store, &judged, &test_queries, sample.as_ref(), &mut done)?;
        Ok(done)
    }

    /// The judged pairs of a query to write.
    fn wanted(
        &self,
        at: usize,
        query: &JudgedQuery,
        sample: Option<&SamplePlaces>,
    ) -> Vec<PairTarget> {
        let is_wanted = |target: &&PairTarget| match sample {
            None => true,
            Some(places) => places
                .get(&(at, target.pair))
                .is_some_and(|side| self.side.is_none_or(|only| only == *side)),
        };
        query.pairs.iter().filter(is_wanted).copied().collect()
    }

    /// Reports which of the written queries students may be evaluated on: those with labels, those
    /// with gold pairs, and those of the sample's other side.
    fn add_leaks(
        &self,
        store: &Store,
        judged: &JudgedPairs,
        test_queries: &TestQueries,
        sample: Option<&SamplePlaces>,
        done: &mut ExportedLines,
    ) -> Result<(), AppError> {
        if self.side == Some(SampleSide::Test) {
            return Ok(());
        }
        let written = || {
            judged.queries.iter().enumerate().filter(|(at, query)| {
                let in_sample = |places: &SamplePlaces| places.keys().any(|(of, _)| of == at);
                !query.pairs.is_empty()
                    && !test_queries.contains(&query.id)
                    && sample.is_none_or(in_sample)
            })
        };
        done.add_known(store, written().map(|(_, query)| &query.id))?;
        if let (Some(places), None) = (sample, self.side) {
            let test = places.iter().filter(|(_, side)| **side == SampleSide::Test);
            let test: BTreeSet<usize> = test.map(|((query, _), _)| *query).collect();
            let both = written().filter(|(at, _)| test.contains(at));
            done.add_leak(
                "of the sample's test side",
                both.map(|(_, query)| &query.id),
            );
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
        // Draw for every pair of the query, so that a subset of pairs is shown as in the full
        // export.
        let turned: HashMap<_, bool> = query
            .pairs
            .iter()
            .map(|target| (target.pair, rng.below(2) == 1))
            .collect();
        let cut = DocumentCut { chars: self.chars };
        let line = |target: &PairTarget| {
            let (low, high) = (target.pair.low(), target.pair.high());
            let turned = turned.get(&target.pair).copied().unwrap_or_default();
            let (a, b, score) = if turned {
                (high, low, 1.0 - target.score)
            } else {
                (low, high, target.score)
            };
            let soft = OutcomeProbabilities::soft_target(score);
            let prompt = || {
                let pair = PresentedPair {
                    pool: Arc::clone(&texts.0),
                    first: a,
                    second: b,
                };
                messages(template.fill(&pair, cut))
            };
            let mut row = json!({
                "query_id": query.id,
                "a_id": query.documents.get(a),
                "b_id": query.documents.get(b),
                "p_a": soft.a(),
                "p_b": soft.b(),
                "p_tie": soft.tie(),
                "target": score,
                "weight": target.weight,
            });
            match self.form {
                ExportForm::Sft => {
                    row["prompt"] = prompt();
                    row["completion"] = answer(ranked(soft)[0].0);
                }
                ExportForm::Dpo => {
                    let [best, .., worst] = ranked(soft);
                    row["prompt"] = prompt();
                    row["chosen"] = answer(best.0);
                    row["rejected"] = answer(worst.0);
                    row["margin"] = json!(best.1 - worst.1);
                }
                ExportForm::Pairwise | ExportForm::Pointwise => {
                    row["query"] = json!(texts.query());
                    row["text_a"] = json!(texts.text(a));
                    row["text_b"] = json!(texts.text(b));
                    row["a_over_b"] = json!(soft.a() - soft.b());
                }
            }
            row
        };
        targets.iter().map(line).collect()
    }
}

/// Notes on the targets of single documents: whether those of different queries are comparable.
fn scale_notes(scale: Option<&ProjectScale>, unlinked: usize) -> Vec<String> {
    let Some(scale) = scale else {
        return vec![
            "target is zelo, which is comparable only within a query, because the queries are not \
             on one scale (`overrule scale run`)"
                .to_owned(),
        ];
    };
    let mut notes = vec![format!(
        "target is zelo_linked, on one scale by {}; {}",
        scale.basis, scale.cuts
    )];
    if unlinked > 0 {
        notes.push(format!(
            "{} not on that scale: target is zelo there, which is comparable only within a query",
            counted(unlinked, "query")
        ));
    }
    notes
}

/// The three answers with their probabilities, most probable first; ties are in the order A, B, T.
fn ranked(soft: OutcomeProbabilities) -> [(&'static str, f64); 3] {
    let mut answers = [("A", soft.a()), ("B", soft.b()), ("T", soft.tie())];
    answers.sort_by(|one, other| other.1.total_cmp(&one.1));
    answers
}

fn answer(letter: &str) -> Value {
    json!([{"role": "assistant", "content": letter}])
}

fn messages(prompt: JudgePrompt) -> Value {
    json!([
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ])
}

/// By pool index: zELO and its standard error, from votes and verdicts alone.
type Scores = Vec<Option<(f64, Option<f64>)>>;

fn votes_alone(db: &Db, query: QueryKey) -> Result<Scores, StoreError> {
    Ok(db
        .view_without_student(query)?
        .standings
        .into_iter()
        .map(|of| of.map(|of| (of.zelo, of.se)))
        .collect())
}

/// The texts of a query.
pub(super) struct QueryTexts(Arc<PoolText>);

impl QueryTexts {
    pub(super) fn read(db: &Db, query: QueryKey) -> Result<Self, StoreError> {
        Ok(Self(Arc::new(db.pool_text(query, None)?)))
    }

    pub(super) fn query(&self) -> &str {
        &self.0.query
    }

    pub(super) fn text(&self, document: usize) -> &str {
        self.0.documents.get(document).map_or("", |text| text)
    }
}

/// The documents with a score, in hybrid order.
fn documents(
    query: &JudgedQuery,
    texts: &QueryTexts,
    scores: &Scores,
    scale: Option<&ProjectScale>,
) -> Vec<Value> {
    let scored = scores.iter().enumerate();
    let scored = scored.filter_map(|(at, score)| Some((at, (*score)?)));
    scored
        .map(|(at, (zelo, se))| {
            let linked = scale.and_then(|scale| scale.linked(&query.id, zelo, se));
            let grades = scale.and_then(|scale| scale.grades.as_ref());
            let (target, target_se, target_is) = match linked {
                Some(linked) => (linked.value, linked.se, "zelo_linked"),
                None => (zelo, se, "zelo"),
            };
            let grade = linked.zip(grades);
            let grade = grade.map(|(linked, model)| model.gain(linked.value));
            json!({
                "query_id": query.id,
                "document_id": query.documents.get(at),
                "query": texts.query(),
                "text": texts.text(at),
                "target": target,
                "target_se": target_se,
                "target_is": target_is,
                "expected_grade": grade,
                "zelo": zelo,
                "se": se,
            })
        })
        .collect()
}
