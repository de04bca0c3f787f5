//! Imports queries, candidates and their ranking from a table with the texts of both.

use super::imported::PoolsImport;
use crate::app::error::{AppError, FileProblems, invalid};
use crate::app::input_files::{display_name, open, stem};
use crate::client::now_ms;
use crate::domain::corpus::{DocId, Document, JsonObject, Pool, Query, QueryId};
use crate::domain::metrics::RankedRun;
use crate::domain::sanitize;
use crate::formats::columns::{Layout, PoolRow, read_pool_rows};
use crate::formats::problem::{Problem, quoted};
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::{self, Display};
use std::path::Path;

/// A table that was read completely.
#[derive(Debug)]
pub(super) struct PoolTable {
    /// In the order of the file; documents by score, or by rank.
    pools: Vec<Pool>,
    /// The name of the ranking.
    name: String,
    run: RankedRun,
}

/// Result of importing queries with documents and their ranking.
#[derive(Clone, Debug, Serialize)]
pub struct PoolTableImport {
    #[serde(flatten)]
    pools: PoolsImport,
    ranking: String,
    ranking_replaced: bool,
}

impl PoolTable {
    /// Reads the pools of a table whose ranking is `run`. Rows without texts are problems, and so
    /// are rows with another text for their query.
    pub(super) fn read(
        path: &Path,
        layout: &Layout,
        (name, mut run): (String, RankedRun),
        problems: &mut FileProblems,
    ) -> Result<Self, AppError> {
        let file = display_name(path);
        let mut pools: Vec<Pool> = Vec::new();
        let mut places: HashMap<QueryId, (usize, u64)> = HashMap::new();
        let mut ranks: HashMap<(QueryId, DocId), Option<i32>> = HashMap::new();
        for row in read_pool_rows(open(path)?, &file, layout) {
            let Some((line, row)) = problems.keep(row) else {
                continue;
            };
            let PoolRow {
                ranked,
                query_text,
                text,
            } = row;
            let at = match places.entry(ranked.query.clone()) {
                Entry::Occupied(known) => {
                    let (at, first) = *known.get();
                    if pools
                        .get(at)
                        .is_some_and(|pool| pool.query.text != query_text)
                    {
                        let query = quoted(ranked.query.as_str());
                        let what = format!("query {query} has another text on line {first}");
                        problems.add(Problem::new(&file, Some(line), what));
                        continue;
                    }
                    at
                }
                Entry::Vacant(new) => {
                    new.insert((pools.len(), line));
                    pools.push(Pool {
                        query: Query {
                            id: ranked.query.clone(),
                            text: query_text,
                            extra: JsonObject::default(),
                        },
                        documents: Vec::new(),
                        extra: JsonObject::default(),
                    });
                    pools.len() - 1
                }
            };
            ranks.insert((ranked.query, ranked.document.clone()), ranked.rank);
            if let Some(pool) = pools.get_mut(at) {
                pool.documents.push(Document {
                    id: ranked.document,
                    title: None,
                    content: text,
                    metadata: JsonObject::default(),
                    extra: JsonObject::default(),
                    input_score: ranked.score,
                });
            }
        }
        for pool in &mut pools {
            let rank_of = |document: &Document| {
                let key = (pool.query.id.clone(), document.id.clone());
                ranks.get(&key).copied().flatten()
            };
            // A stable sort: ties, and files without scores and ranks, keep the order of the file.
            pool.documents
                .sort_by(|x, y| match (x.input_score, y.input_score) {
                    (Some(x), Some(y)) => y.total_cmp(&x),
                    _ => rank_of(x).cmp(&rank_of(y)),
                });
            for (rank, document) in (1..).zip(&mut pool.documents) {
                document.metadata =
                    JsonObject::from_compact(format!("{{\"first_stage_rank\":{rank}}}"));
            }
        }
        // Skipped rows are not in the ranking either.
        run.retain(|query, ranked| {
            ranked.retain(|(id, _)| ranks.contains_key(&(query.clone(), id.clone())));
            !ranked.is_empty()
        });
        Ok(Self { pools, name, run })
    }

    pub(super) fn queries(&self) -> impl Iterator<Item = &QueryId> {
        self.pools.iter().map(|pool| &pool.query.id)
    }

    /// Number of candidates of all queries.
    pub(super) fn documents(&self) -> usize {
        self.pools.iter().map(|pool| pool.documents.len()).sum()
    }

    /// Imports queries, documents and ranking, or nothing.
    pub(super) fn import(
        self,
        store: &Store,
        path: &Path,
        keep_known: Option<String>,
    ) -> Result<PoolTableImport, AppError> {
        for pool in &self.pools {
            let pool = pool.clone();
            store
                .read_blocking(move |db| db.check_pool(&pool))
                .map_err(|error| match error {
                    StoreError::Conflict(what) => {
                        invalid!("{what}; `--as ranking` imports the ranking alone")
                    }
                    other => other.into(),
                })?;
        }
        let (file, dataset) = (display_name(path), stem(path));
        let Self { pools, name, run } = self;
        let ranking = name.clone();
        let (pools, ranking_replaced) = store.write_blocking(move |db| {
            let mut import = PoolsImport {
                file,
                ..PoolsImport::default()
            };
            for pool in &pools {
                import.add(db.add_pool(pool, &dataset)?, pool);
            }
            import.check_known(keep_known.as_deref())?;
            Ok::<_, StoreError>((import, db.put_ranking(&name, &run, now_ms())?))
        })?;
        Ok(PoolTableImport {
            pools,
            ranking,
            ranking_replaced,
        })
    }
}

impl Display for PoolTableImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = if self.ranking_replaced {
            ", in place of those in the ranking of that name"
        } else {
            ""
        };
        write!(
            f,
            "{}; ranking {}{again}",
            self.pools,
            sanitize::line(&self.ranking)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::input_files::{kind, rankings_of};
    use crate::formats::file_kind::FileKind;

    fn read(text: &str) -> (PoolTable, FileProblems) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let found = kind(&path).unwrap();
        let run = rankings_of(&path, &found, &mut Vec::new()).unwrap();
        let FileKind::Table(layout) = found else {
            panic!("a table");
        };
        assert!(layout.has_pools());
        let mut problems = FileProblems::of(&path);
        let table = PoolTable::read(&path, &layout, ("t".to_owned(), run), &mut problems);
        (table.unwrap(), problems)
    }

    fn order(table: &PoolTable) -> Vec<Vec<&str>> {
        table
            .pools
            .iter()
            .map(|pool| pool.documents.iter().map(|one| one.id.as_str()).collect())
            .collect()
    }

    #[test]
    fn documents_are_ordered_by_score_or_by_rank() {
        let (table, _) = read(
            "qid,query,docno,text,score,rank\n1,one,b,of b,.5,1\n1,one,a,of a,2,0\n2,two,a,of a,1,0\n1,one,c,of c,.5,2\n",
        );
        assert_eq!(order(&table), [vec!["a", "b", "c"], vec!["a"]]);
        assert_eq!(table.pools[0].query.text, "one");
        assert_eq!(table.pools[0].documents[0].input_score, Some(2.0));
        let (table, _) = read(
            "docno\tposition\tquery_id\tquery_text\tcontent\nb\t2\t1\tone\tof b\na\t1\t1\tone\tof a\n",
        );
        assert_eq!(order(&table), [["a", "b"]]);
        assert_eq!(table.pools[0].documents[0].input_score, None);
    }

    #[test]
    fn rows_without_texts_and_other_texts_of_a_query_are_problems() {
        let (table, problems) = read(
            "qid,query,docno,text,score\n1,one,a,of a,1\n1,two,b,of b,2\n1,one,c, ,3\n1,,d,of d,4\n",
        );
        let told: Vec<String> = problems.first.iter().map(ToString::to_string).collect();
        for (told, expected) in told.iter().zip([
            "t.csv:3: query \"1\" has another text on line 2",
            "t.csv:4: the text of the document is empty",
            "t.csv:5: the text of the query is empty",
        ]) {
            assert!(told.contains(expected), "{told}");
        }
        assert_eq!(told.len(), 3);
        assert_eq!(order(&table), [["a"]]);
        assert_eq!(table.run.values().map(Vec::len).sum::<usize>(), 1);
    }
}
