//! Exports a project as a folder of tables, with the columns of the original human-evaluation study
//! for its nine tables, and Overrule's own for votes, verdicts and rulings.

use super::{write_rulings, write_verdicts, write_votes};
use crate::app::adjudication::data::{AdjudicationData, adjudication_data};
use crate::app::adjudication::sheets::titled_text;
use crate::app::error::{AppError, invalid};
use crate::app::output_file::write_whole;
use crate::app::text_format::{counted, first_names};
use crate::domain::adjudication::PickAnswer;
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::{EvaluationRules, Measure, Metric, Qrels, RankedRun, evaluate_gains};
use crate::formats::table_file::{CellKind, Column, TableFormat, TableWriter};
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Depth of the original study's metrics.
const DEPTH: usize = 10;

/// The grade from which a document counts as relevant.
const LEVEL: i32 = 1;

/// The file that defines a view for each table.
const VIEWS: &str = "views.sql";

/// The tables, in the order in which the original study makes them.
const TABLES: [&str; 12] = [
    "docs",
    "queries",
    "qrels",
    "candidates",
    "judge_set",
    "judge_items_for_llm",
    "ollama_picks",
    "eval_per_query",
    "eval_summary",
    "votes",
    "verdicts",
    "rulings",
];

const DOCS: [Column; 3] = [
    Column::text("doc_id"),
    Column::text("title").or_null(),
    Column::text("text"),
];
const QUERIES: [Column; 2] = [Column::text("query_id"), Column::text("text")];
const QRELS: [Column; 4] = [
    Column::text("query_id"),
    Column::text("doc_id"),
    Column::whole("relevance"),
    Column::text("iteration"),
];
const CANDIDATES: [Column; 4] = [
    Column::text("query_id"),
    Column::text("doc_id"),
    Column::whole("rank"),
    Column::text("source"),
];
const JUDGE_SET: [Column; 4] = [
    Column::text("query_id"),
    Column::text("doc_id"),
    Column::whole("slot"),
    Column::text("source"),
];
const JUDGE_ITEMS: [Column; 7] = [
    Column::text("query_id"),
    Column::text("query_text"),
    Column::whole("n_rel"),
    Column::text("doc_id"),
    Column::text("title").or_null(),
    Column::text("text"),
    Column::whole("slot"),
];
/// The original study's columns, whose judge was always Ollama, then the judge's name and the
/// number of the document order.
const PICKS: [Column; 8] = [
    Column::text("query_id"),
    Column::whole("slot"),
    Column::text("doc_id"),
    Column::text("model"),
    Column::text("prompt_v"),
    Column::of("created_at", CellKind::Time).or_null(),
    Column::text("judge"),
    Column::whole("permutation"),
];
const PER_QUERY: [Column; 6] = [
    Column::text("query_id"),
    Column::whole("n_rel"),
    Column::whole("n_rel_retrieved"),
    Column::number("recall_at_10"),
    Column::number("mrr_at_10"),
    Column::text("source"),
];
const SUMMARY: [Column; 4] = [
    Column::number("avg_recall_at_10").or_null(),
    Column::number("avg_mrr_at_10").or_null(),
    Column::whole("n_queries"),
    Column::text("source"),
];

/// The files that a folder of tables consists of.
pub fn table_files(folder: &Path, format: TableFormat) -> Vec<PathBuf> {
    let names = TABLES.iter().map(|name| file_name(name, format));
    names
        .chain([VIEWS.to_owned()])
        .map(|name| folder.join(name))
        .collect()
}

fn file_name(table: &str, format: TableFormat) -> String {
    format!("{table}.{}", format.extension())
}

/// Writes the tables of these queries to a folder. Messages for the user go to `tell`.
pub fn write_tables(
    store: &Store,
    keys: &[QueryKey],
    folder: &Path,
    format: TableFormat,
    tell: &mut dyn FnMut(&str),
) -> Result<(), AppError> {
    let tables = ProjectTables::read(store, keys)?;
    if !tables.other_texts.is_empty() {
        tell(&format!(
            "{} with different texts in different queries: docs has the text of the first query: {}",
            counted(tables.other_texts.len(), "document"),
            first_names(&Vec::from_iter(&tables.other_texts))
        ));
    }
    let write = |table: &str, columns: &[Column], rows: Vec<Value>| {
        write_whole(&folder.join(file_name(table, format)), |out| {
            let mut file = TableWriter::new(columns, format, out)?;
            rows.into_iter().try_for_each(|row| file.write(row))?;
            Ok(file.finish()?)
        })
    };
    write("docs", &DOCS, tables.docs())?;
    write("queries", &QUERIES, tables.queries())?;
    write("qrels", &QRELS, tables.qrels())?;
    write("candidates", &CANDIDATES, tables.candidates())?;
    write("judge_set", &JUDGE_SET, tables.judge_set())?;
    write("judge_items_for_llm", &JUDGE_ITEMS, tables.judge_items())?;
    write("ollama_picks", &PICKS, tables.picks())?;
    let (per_query, summary) = tables.evaluation()?;
    write("eval_per_query", &PER_QUERY, per_query)?;
    write("eval_summary", &SUMMARY, summary)?;
    let path = |table: &str| folder.join(file_name(table, format));
    write_whole(&path("votes"), |out| {
        write_votes(store, keys, format, out).map(drop)
    })?;
    write_whole(&path("verdicts"), |out| {
        write_verdicts(store, keys, format, out)
    })?;
    write_whole(&path("rulings"), |out| {
        let corrections = tables.data.corrections(None);
        write_rulings(&tables.data, &corrections, format, out)
    })?;
    write_whole(&folder.join(VIEWS), |out| {
        for table in TABLES {
            let file = file_name(table, format);
            writeln!(
                out,
                "CREATE OR REPLACE VIEW {table} AS SELECT * FROM '{file}';"
            )?;
        }
        Ok(())
    })
}

/// The content of the tables.
struct ProjectTables {
    pools: Vec<Pool>,
    data: AdjudicationData,
    /// The position of each query's pool among those with labels or picks.
    judged: HashMap<QueryId, usize>,
    picks: Vec<PickRow>,
    /// Documents with different texts in different queries.
    other_texts: BTreeSet<String>,
}

/// A document that a judge picked.
struct PickRow {
    query: QueryId,
    document: DocId,
    slot: usize,
    model: String,
    prompt: String,
    created_ms: Option<i64>,
    judge: String,
    permutation: usize,
}

impl ProjectTables {
    fn read(store: &Store, keys: &[QueryKey]) -> Result<Self, AppError> {
        let mut pools: Vec<Pool> = Vec::with_capacity(keys.len());
        store.read_each(
            keys,
            |db, key| db.pool(key),
            |_, pool| {
                pools.push(pool);
                Ok::<(), AppError>(())
            },
        )?;
        let (mut data, answered) = store.read_blocking(|db| {
            let mut answered: HashMap<(QueryId, String, usize), i64> = HashMap::new();
            for pick in db.picks()? {
                let key = (pick.query, pick.judge, pick.permutation);
                let at = answered.entry(key).or_default();
                *at = pick.created_ms.max(*at);
            }
            Ok::<_, StoreError>((adjudication_data(db, LEVEL)?, answered))
        })?;
        let wanted: BTreeSet<QueryId> = pools.iter().map(|pool| pool.query.id.clone()).collect();
        data.labels.retain(|query, _| wanted.contains(query));
        data.rulings
            .retain(|row| wanted.contains(&row.ruling.query));
        for (_, run) in &mut data.rankings {
            run.retain(|query, _| wanted.contains(query));
        }
        let judged = data.pool_set.pools.iter().zip(0..);
        let judged = judged
            .map(|(pool, at)| (pool.query.clone(), at))
            .filter(|(query, _)| wanted.contains(query))
            .collect();
        let mut tables = Self {
            picks: Vec::new(),
            other_texts: BTreeSet::new(),
            pools,
            data,
            judged,
        };
        tables.picks = tables.read_picks(&answered);
        tables.other_texts = tables.ambiguous();
        Ok(tables)
    }

    /// The valid picks of all judges, by query.
    fn read_picks(&self, answered: &HashMap<(QueryId, String, usize), i64>) -> Vec<PickRow> {
        let mut rows = Vec::new();
        for pool in &self.pools {
            let query = &pool.query.id;
            let Some(at) = self.judged.get(query) else {
                continue;
            };
            let slot_of = |wanted: &DocId| pool.documents.iter().position(|one| one.id == *wanted);
            for group in &self.data.groups {
                for (permutation, given) in &group.orders {
                    let Some(given) = given.get(at) else { continue };
                    if !matches!(given.answer, PickAnswer::Picks(_)) {
                        continue;
                    }
                    let key = (query.clone(), group.judge.clone(), *permutation);
                    for document in given.picked() {
                        let Some(slot) = slot_of(document) else {
                            continue;
                        };
                        rows.push(PickRow {
                            query: query.clone(),
                            document: document.clone(),
                            slot: slot + 1,
                            model: group.model.clone(),
                            prompt: group.prompt.clone(),
                            created_ms: answered.get(&key).copied(),
                            judge: group.judge.clone(),
                            permutation: *permutation,
                        });
                    }
                }
            }
        }
        rows
    }

    fn ambiguous(&self) -> BTreeSet<String> {
        let mut texts: HashMap<&str, &str> = HashMap::new();
        self.pools
            .iter()
            .flat_map(|pool| &pool.documents)
            .filter(|one| {
                *texts.entry(one.id.as_str()).or_insert(&one.content) != one.content.as_str()
            })
            .map(|one| one.id.to_string())
            .collect()
    }

    fn docs(&self) -> Vec<Value> {
        let mut documents: BTreeMap<&DocId, Value> = BTreeMap::new();
        for document in self.pools.iter().flat_map(|pool| &pool.documents) {
            documents.entry(&document.id).or_insert_with(|| {
                let (title, text) = titled_text(document);
                json!({"doc_id": document.id, "title": title, "text": text})
            });
        }
        documents.into_values().collect()
    }

    fn queries(&self) -> Vec<Value> {
        let pools = self.pools.iter();
        pools
            .map(|pool| json!({"query_id": pool.query.id, "text": pool.query.text}))
            .collect()
    }

    fn qrels(&self) -> Vec<Value> {
        let labels = self.data.labels.iter();
        labels
            .flat_map(|(query, grades)| {
                grades.iter().map(move |(document, grade)| {
                    json!({
                        "query_id": query, "doc_id": document, "relevance": grade, "iteration": "0",
                    })
                })
            })
            .collect()
    }

    fn candidates(&self) -> Vec<Value> {
        let rankings = self.data.rankings.iter();
        rankings
            .flat_map(|(source, run)| {
                run.iter().flat_map(move |(query, ranked)| {
                    (1..).zip(ranked).map(move |(rank, (document, _))| {
                        json!({
                            "query_id": query, "doc_id": document, "rank": rank, "source": source,
                        })
                    })
                })
            })
            .collect()
    }

    fn judge_set(&self) -> Vec<Value> {
        self.pools
            .iter()
            .filter_map(|pool| {
                self.data
                    .pool_set
                    .pools
                    .get(*self.judged.get(&pool.query.id)?)
            })
            .flat_map(|pool| {
                (1..).zip(&pool.slots).map(|(slot, one)| {
                    json!({
                        "query_id": pool.query, "doc_id": one.document, "slot": slot,
                        "source": one.source().name(),
                    })
                })
            })
            .collect()
    }

    /// The pools of queries with a relevant document, with their texts.
    fn judge_items(&self) -> Vec<Value> {
        let relevant = self.relevant();
        let mut rows = Vec::new();
        for pool in &self.pools {
            let Some(labels) = relevant.get(&pool.query.id) else {
                continue;
            };
            for (slot, document) in (1..).zip(&pool.documents) {
                let (title, text) = titled_text(document);
                rows.push(json!({
                    "query_id": pool.query.id, "query_text": pool.query.text,
                    "n_rel": labels.len(), "doc_id": document.id, "title": title, "text": text,
                    "slot": slot,
                }));
            }
        }
        rows
    }

    fn picks(&self) -> Vec<Value> {
        let picks = self.picks.iter();
        picks
            .map(|pick| {
                json!({
                    "query_id": pick.query, "slot": pick.slot, "doc_id": pick.document,
                    "model": pick.model, "prompt_v": pick.prompt, "created_at": pick.created_ms,
                    "judge": pick.judge, "permutation": pick.permutation,
                })
            })
            .collect()
    }

    /// The relevant documents of the queries that have any.
    fn relevant(&self) -> Qrels {
        let mut labels = self.data.labels.clone();
        for grades in labels.values_mut() {
            grades.retain(|_, grade| *grade >= LEVEL);
        }
        labels.retain(|_, grades| !grades.is_empty());
        labels
    }

    /// The metrics of each ranking by query, and their means. A query without candidates counts as
    /// 0.
    fn evaluation(&self) -> Result<(Vec<Value>, Vec<Value>), AppError> {
        let metrics = [Measure::Recall, Measure::Mrr].map(|of| Metric::new(of, Some(DEPTH)));
        let [recall, mrr] = metrics;
        let wrong = |error| invalid!("{error}");
        let metrics = [recall.map_err(wrong)?, mrr.map_err(wrong)?];
        let rules = EvaluationRules {
            relevant_from: LEVEL,
            count_missing: true,
            ..EvaluationRules::default()
        };
        let relevant = self.relevant();
        let (mut rows, mut means) = (Vec::new(), Vec::new());
        for (source, run) in &self.data.rankings {
            let run: &RankedRun = run;
            let found = evaluate_gains(&relevant, None, run, &metrics, &rules)?;
            for of in &found.queries {
                let value = |at: usize| of.values.get(at).copied().flatten().unwrap_or_default();
                let retrieved = (value(0) * of.relevant as f64).round() as usize;
                rows.push(json!({
                    "query_id": of.query, "n_rel": of.relevant, "n_rel_retrieved": retrieved,
                    "recall_at_10": value(0), "mrr_at_10": value(1), "source": source,
                }));
            }
            means.push(json!({
                "avg_recall_at_10": found.mean(metrics[0]), "avg_mrr_at_10": found.mean(metrics[1]),
                "n_queries": found.queries.len(), "source": source,
            }));
        }
        Ok((rows, means))
    }
}
