//! Picks that machines share.

use super::labels;
use crate::domain::adjudication::{PickRecord, PickResult};
use crate::store::corpus::QueryKey;
use crate::store::merge::{AnswerCount, SharedAnswers, Terms};
use crate::store::{Db, Result};
use serde_json::json;

/// The picks of the judges that the terms name.
pub const SHARED_PICKS: SharedAnswers = SharedAnswers {
    command: "pick",
    merge: |merger, query, terms| {
        let mut about_it = Vec::new();
        for pick in picks(merger.other, QueryKey(query.theirs), terms)? {
            if merger.db.known_query(pick.query.as_str())? == Some(query.ours) {
                about_it.push(pick);
            }
        }
        labels::picks(merger, about_it)
    },
    count: |db, query, terms| {
        let picks = picks(db, query, terms)?;
        let has_failed = |pick: &&PickRecord| matches!(pick.result, PickResult::Failure(_));
        let failures = picks.iter().filter(has_failed).count();
        Ok(AnswerCount {
            answers: picks.len() - failures,
            failures,
        })
    },
};

/// The picks about a query of the judges in the terms, each of which is a list of the name, the
/// provider, the model, the hash of the prompt, and the parameters.
fn picks(db: &Db, query: QueryKey, terms: &Terms) -> Result<Vec<PickRecord>> {
    let judges = terms.get("judges").and_then(|judges| judges.as_array());
    let asked: Vec<_> = judges
        .into_iter()
        .flatten()
        .filter_map(|judge| judge.as_array()?.get(..4))
        .collect();
    let is_asked = |pick: &PickRecord| {
        let judge = [&pick.judge, &pick.provider, &pick.model, &pick.prompt].map(|of| json!(of));
        asked.contains(&&judge[..])
    };
    let mut picks = db.picks_of(query)?;
    picks.retain(is_asked);
    Ok(picks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::merge::{PieceTerms, merge_piece};
    use crate::formats::dataset;
    use crate::store::Store;
    use crate::store::merge::{MergeCounts, Piece, Snapshot};
    use rusqlite::Connection;
    use tempfile::TempDir;

    const LINES: &str = r#"{"query":{"id":"q","query":"trams"},"documents":[{"id":"a","content":"a tram"},{"id":"b","content":"a bus"}]}
{"query":{"id":"r","query":"ships"},"documents":[{"id":"c","content":"a ship"},{"id":"d","content":"a boat"}]}
"#;

    struct Project {
        _folder: TempDir,
        store: Store,
    }

    /// A project with two queries, and these picks.
    fn project(picks: &[(&str, &str, serde_json::Value)]) -> Project {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("picks.db")).unwrap();
        let picks: Vec<PickRecord> = picks
            .iter()
            .enumerate()
            .map(|(at, (query, judge, result))| {
                let mut record = json!({
                    "query": query, "judge": judge, "provider": "compatible", "model": "m",
                    "prompt": "h", "call": format!("{at}"), "permutation": 1,
                    "ask": "any-number", "order": ["a", "b"], "attempt": 1, "answered_by": null,
                    "raw": null, "tokens_input": 9, "tokens_output": 1, "cost_usd": 0.5,
                    "latency_ms": 1.0, "created_ms": at,
                });
                for (name, value) in result.as_object().unwrap() {
                    record[name] = value.clone();
                }
                serde_json::from_value(record).unwrap()
            })
            .collect();
        let add = move |db: &mut Db| {
            for pool in dataset::read_pools(LINES.as_bytes(), "in.jsonl") {
                db.add_pool(&pool.unwrap(), "in")?;
            }
            picks
                .iter()
                .try_for_each(|pick| db.add_pick(pick).map(drop))
        };
        store.write_blocking(add).unwrap();
        Project {
            _folder: folder,
            store,
        }
    }

    fn terms() -> Terms {
        let judges = json!([["m", "compatible", "m", "h", "{}"]]);
        [("judges".to_owned(), judges)].into_iter().collect()
    }

    impl Project {
        /// The piece about the query `q`.
        fn piece(&self) -> Piece {
            let piece = |db: &mut Db| {
                let query = db.find_query("q")?;
                Piece::of_answers(db, query, &SHARED_PICKS, &terms())
            };
            self.store.write_blocking(piece).unwrap().unwrap()
        }

        fn merge(&self, name: &'static str, piece: Piece) -> Result<MergeCounts> {
            const OF: &SharedAnswers = &SHARED_PICKS;
            self.store.write_blocking(move |db| {
                let terms = PieceTerms::Answers {
                    name,
                    of: OF,
                    terms: &terms(),
                };
                merge_piece(db, &Snapshot::of_piece(&piece.bytes)?, terms)
            })
        }
    }

    #[test]
    fn a_piece_has_the_picks_of_the_judges_about_its_query() {
        let slots = || json!({ "slots": [1] });
        let one = project(&[
            ("q", "m", slots()),
            ("q", "m", json!({ "failure": "away" })),
            ("q", "other", slots()),
            ("r", "m", slots()),
        ]);
        let piece = one.piece();
        assert_eq!((piece.votes, piece.failures), (1, 1));
        let all = project(&[]);
        let merged = all.merge("q", piece.clone()).unwrap();
        assert_eq!((merged.picks, merged.spent_usd), (2, 1.0));
        assert_eq!(all.merge("q", piece.clone()).unwrap().picks, 0);
        let error = all.merge("r", piece).unwrap_err();
        assert!(error.to_string().contains("instead of"), "{error}");
    }

    #[test]
    fn a_piece_with_foreign_picks_or_absurd_costs_adds_none() {
        let one = project(&[
            ("q", "m", json!({ "slots": [1] })),
            ("r", "m", json!({ "slots": [2] })),
        ]);
        let disguise = "UPDATE pick SET query = (SELECT id FROM query WHERE name = 'q')";
        let sql = Connection::open(one.store.path()).unwrap();
        assert_eq!(sql.execute(disguise, []).unwrap(), 2);
        let all = project(&[]);
        assert_eq!(all.merge("q", one.piece()).unwrap().picks, 1);
        let paid = project(&[("q", "m", json!({ "slots": [1], "cost_usd": -1.0 }))]);
        let error = all.merge("q", paid.piece()).unwrap_err();
        assert!(error.to_string().contains("a cost is negative"), "{error}");
    }
}
