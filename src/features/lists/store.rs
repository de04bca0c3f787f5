//! List calls, and qualifications of judges for them. Rows are only added; the answers are calls
//! outside runs.

use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::candidate_question::Answer;
use crate::domain::corpus::{DocId, QueryId};
use crate::features::lists::domain::{CountingModel, ProbeFigures, Qualification};
use crate::store::{Db, Result, StoreError};
use rusqlite::{Row, params};

/// A list call, planned or answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredList {
    /// Globally unique.
    pub uid: String,
    pub query: QueryId,
    /// The name of the judge.
    pub judge: String,
    /// Hash of the judge with its model, prompt and parameters.
    pub identity: [u8; 32],
    /// The form of the answer, in words.
    pub form: String,
    /// The documents in the order in which they are shown.
    pub shown: Vec<DocId>,
    /// How the documents were chosen.
    pub plan: String,
    pub round: usize,
    /// Hash of the judge and of everything that it is sent.
    pub key: [u8; 32],
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// The stored answer to a list call.
#[derive(Clone, Debug, PartialEq)]
pub struct ListReply {
    pub answer: Answer,
    /// The model that answered, as the service names it.
    pub model: Option<String>,
    pub raw: Option<String>,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars; `None` if the price is unknown.
    pub cost_usd: Option<f64>,
}

/// A test of whether the lists of a judge may count.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredQualification {
    /// Globally unique.
    pub uid: String,
    /// The name of the judge.
    pub judge: String,
    /// Hash of the judge with its model, prompt and parameters.
    pub identity: [u8; 32],
    /// Number of documents shown.
    pub size: usize,
    /// The form of the answer, in words.
    pub form: String,
    pub result: Qualification,
    pub figures: ProbeFigures,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// A decision on whether list calls count in the scores of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCounting {
    /// Globally unique.
    pub uid: String,
    /// Their weights; `None` if they do not count.
    pub model: Option<CountingModel>,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

impl StoredList {
    /// The same list under another name of its judge.
    #[must_use]
    pub fn of_judge(&self, judge: &str) -> Self {
        Self {
            judge: judge.to_owned(),
            ..self.clone()
        }
    }
}

const QUALIFICATION: &str = "uid, judge, identity, size, form, result, figures, author, created_ms";

const LIST: &str = "list_call.uid, list_call.query, list_call.judge, list_call.identity,
     list_call.form, list_call.shown, list_call.plan, list_call.round, list_call.key,
     list_call.created_ms";

fn read_counting(row: &Row<'_>) -> Result<StoredCounting> {
    let model: Option<String> = row.get(1)?;
    let corrupt = |why: String| {
        StoreError::Corrupt(format!(
            "the weights of list calls cannot be read: {why}; `overrule lists count --off` ignores them"
        ))
    };
    let model = model.map(|text| {
        let model: CountingModel =
            serde_json::from_str(&text).map_err(|error| corrupt(error.to_string()))?;
        if model.is_valid() {
            Ok(model)
        } else {
            Err(corrupt("a number is out of range".to_owned()))
        }
    });
    Ok(StoredCounting {
        uid: row.get(0)?,
        model: model.transpose()?,
        author: row.get(2)?,
        created_ms: row.get(3)?,
    })
}

fn read_list(row: &Row<'_>) -> Result<StoredList> {
    let shown: Vec<String> = serde_json::from_str(&row.get::<_, String>(5)?)?;
    Ok(StoredList {
        uid: row.get(0)?,
        query: QueryId::new(row.get::<_, String>(1)?),
        judge: row.get(2)?,
        identity: row.get(3)?,
        form: row.get(4)?,
        shown: shown.into_iter().map(DocId::new).collect(),
        plan: row.get(6)?,
        round: row.get(7)?,
        key: row.get(8)?,
        created_ms: row.get(9)?,
    })
}

impl Db {
    /// Stores a list call unless it is known. Returns whether it is new. It may have an answer
    /// already, from an identical call.
    pub fn add_list_call(&self, list: &StoredList) -> Result<bool> {
        let shown: Vec<&str> = list.shown.iter().map(DocId::as_str).collect();
        let added = self.change(
            "INSERT OR IGNORE INTO list_call
                 (uid, query, judge, identity, form, shown, plan, round, key, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                list.uid,
                list.query.as_str(),
                list.judge,
                &list.identity[..],
                list.form,
                serde_json::to_string(&shown)?,
                list.plan,
                list.round,
                &list.key[..],
                list.created_ms,
            ],
        )?;
        if added > 0 && self.counting_model()?.is_some() {
            self.change(
                "UPDATE query SET revision = revision + 1 WHERE name = ?1",
                [list.query.as_str()],
            )?;
        }
        Ok(added > 0)
    }

    /// The list call with this ID.
    pub fn list_call(&self, uid: &str) -> Result<Option<StoredList>> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("SELECT {LIST} FROM list_call WHERE uid = ?1"))?;
        let mut rows = statement.query([uid])?;
        rows.next()?.map(read_list).transpose()
    }

    /// The first list call with this hash.
    pub fn list_call_of(&self, key: &[u8; 32]) -> Result<Option<StoredList>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {LIST} FROM list_call WHERE key = ?1 ORDER BY created_ms, uid LIMIT 1"
        ))?;
        let mut rows = statement.query([&key[..]])?;
        rows.next()?.map(read_list).transpose()
    }

    /// Whether the judge of a list was asked the same under another identity.
    pub fn has_list_of_other_identity(&self, list: &StoredList) -> Result<bool> {
        let shown: Vec<&str> = list.shown.iter().map(DocId::as_str).collect();
        self.value(
            "SELECT EXISTS (SELECT 1 FROM list_call WHERE query = ?1 AND judge = ?2
             AND shown = ?3 AND form = ?4 AND identity <> ?5)",
            params![
                list.query.as_str(),
                list.judge,
                serde_json::to_string(&shown)?,
                list.form,
                &list.identity[..],
            ],
        )
    }

    /// The list calls of a query, or of all queries, in the order in which they were planned.
    pub fn list_calls(&self, query: Option<&QueryId>) -> Result<Vec<StoredList>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {LIST} FROM list_call WHERE ?1 IS NULL OR query = ?1 ORDER BY query, round, uid"
        ))?;
        let mut rows = statement.query([query.map(QueryId::as_str)])?;
        let mut lists = Vec::new();
        while let Some(row) = rows.next()? {
            lists.push(read_list(row)?);
        }
        Ok(lists)
    }

    /// The same calls, each with the first answer to it by time, so that merged copies agree;
    /// readable answers take precedence. There is none if a call was not asked, or failed.
    pub fn answered_list_calls(
        &self,
        query: Option<&QueryId>,
    ) -> Result<Vec<(StoredList, Option<ListReply>)>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {LIST}, answer, reply.model, raw, tokens_input, tokens_output,
                    cost_usd
             FROM list_call
             LEFT JOIN rerank_call AS reply ON reply.id =
                 (SELECT id FROM rerank_call
                  WHERE rerank_call.key = list_call.key AND (answer IS NULL) = 0
                  ORDER BY readable DESC, rerank_call.created_ms, rerank_call.uid LIMIT 1)
             WHERE ?1 IS NULL OR query = ?1 ORDER BY query, round, list_call.uid"
        ))?;
        let mut rows = statement.query([query.map(QueryId::as_str)])?;
        let mut lists = Vec::new();
        while let Some(row) = rows.next()? {
            let answer: Option<String> = row.get(10)?;
            let reply = answer.map(|answer| {
                Ok::<_, StoreError>(ListReply {
                    answer: serde_json::from_str(&answer)?,
                    model: row.get(11)?,
                    raw: row.get(12)?,
                    tokens_input: row.get(13)?,
                    tokens_output: row.get(14)?,
                    cost_usd: row.get(15)?,
                })
            });
            lists.push((read_list(row)?, reply.transpose()?));
        }
        Ok(lists)
    }

    /// Stores a qualification unless it is known, or the latest one has the same figures. Returns
    /// whether it is new.
    pub fn add_list_qualification(&self, of: &StoredQualification) -> Result<bool> {
        let figures = serde_json::to_string(&of.figures)?;
        let latest: Option<String> = self.maybe_value(
            "SELECT figures FROM list_qualification WHERE identity = ?1 AND size = ?2 AND form = ?3
             ORDER BY created_ms DESC, uid DESC LIMIT 1",
            params![&of.identity[..], of.size, of.form],
        )?;
        if latest.is_some_and(|latest| latest == figures) {
            return Ok(false);
        }
        let added = self.change(
            &format!(
                "INSERT OR IGNORE INTO list_qualification ({QUALIFICATION})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
            ),
            params![
                of.uid,
                of.judge,
                &of.identity[..],
                of.size,
                of.form,
                of.result.name(),
                figures,
                stored_annotator_name(&of.author),
                of.created_ms,
            ],
        )?;
        Ok(added > 0)
    }

    /// Gives the lists and qualifications of a judge to another name. A list that was asked under both
    /// names stays under the old one, so that it does not count twice. Identities do not change: they
    /// are hashes of the judge, including its name at the time.
    pub fn rename_list_judges(&self, old: &str, new: &str) -> Result<()> {
        self.change(
            "UPDATE list_call SET judge = ?2 WHERE judge = ?1 AND NOT EXISTS (
                 SELECT 1 FROM list_call AS known WHERE known.query = list_call.query
                 AND known.judge = ?2 AND known.shown = list_call.shown
                 AND known.form = list_call.form)",
            [old, new],
        )?;
        self.change(
            "UPDATE list_qualification SET judge = ?2 WHERE judge = ?1",
            [old, new],
        )?;
        Ok(())
    }

    /// The names with which a judge answered its lists.
    pub fn list_judge_names(&self, judge: &str) -> Result<Vec<String>> {
        self.all(
            "SELECT DISTINCT service FROM list_call JOIN rerank_call
             ON rerank_call.key = list_call.key WHERE judge = ?1 ORDER BY service",
            [judge],
            |row| row.get(0),
        )
    }

    /// The decision on whether list calls count that applies, if there is one: the latest.
    pub fn list_counting(&self) -> Result<Option<StoredCounting>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uid, model, author, created_ms FROM list_counting
             ORDER BY created_ms DESC, uid DESC LIMIT 1",
        )?;
        let mut rows = statement.query([])?;
        rows.next()?.map(read_counting).transpose()
    }

    /// The stored weights of list calls as text, and the time of the decision, without reading them.
    pub fn list_counting_text(&self) -> Result<Option<(Option<String>, i64)>> {
        self.maybe(
            "SELECT model, created_ms FROM list_counting
             ORDER BY created_ms DESC, uid DESC LIMIT 1",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// The weights of list calls in the scores of the project; `None` if they do not count.
    pub fn counting_model(&self) -> Result<Option<CountingModel>> {
        Ok(self.list_counting()?.and_then(|latest| latest.model))
    }

    /// All decisions on whether list calls count, the latest last.
    pub fn list_countings(&self) -> Result<Vec<StoredCounting>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uid, model, author, created_ms FROM list_counting ORDER BY created_ms, uid",
        )?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read_counting(row)?);
        }
        Ok(found)
    }

    /// Stores a decision on whether list calls count unless it is known. Returns whether it is new.
    pub fn add_list_counting(&self, of: &StoredCounting) -> Result<bool> {
        let model = of.model.as_ref().map(serde_json::to_string).transpose()?;
        let added = self.change(
            "INSERT OR IGNORE INTO list_counting (uid, model, author, created_ms)
             VALUES (?1, ?2, ?3, ?4)",
            params![
                of.uid,
                model,
                stored_annotator_name(&of.author),
                of.created_ms
            ],
        )?;
        Ok(added > 0)
    }

    /// Marks the numbers of all queries with list calls as changed.
    pub fn touch_queries_with_lists(&self) -> Result<()> {
        self.change(
            "UPDATE query SET revision = revision + 1
             WHERE name IN (SELECT query FROM list_call)",
            [],
        )?;
        Ok(())
    }

    /// If list calls count, marks the numbers of the queries as changed that have this list call, or
    /// any.
    pub fn list_answers_changed(&self, key: Option<&[u8; 32]>) -> Result<()> {
        if self.counting_model()?.is_none() {
            return Ok(());
        }
        let Some(key) = key else {
            return self.touch_queries_with_lists();
        };
        self.change(
            "UPDATE query SET revision = revision + 1
             WHERE name IN (SELECT query FROM list_call WHERE key = ?1)",
            [&key[..]],
        )?;
        Ok(())
    }

    /// Whether there are list calls about a query.
    pub fn has_list_calls(&self, query: &QueryId) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM list_call WHERE query = ?1)",
            [query.as_str()],
        )
    }

    /// All qualifications, the latest last.
    pub fn list_qualifications(&self) -> Result<Vec<StoredQualification>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {QUALIFICATION} FROM list_qualification ORDER BY created_ms, uid"
        ))?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let result: String = row.get(5)?;
            let figures: String = row.get(6)?;
            found.push(StoredQualification {
                uid: row.get(0)?,
                judge: row.get(1)?,
                identity: row.get(2)?,
                size: row.get(3)?,
                form: row.get(4)?,
                result: result.parse().map_err(|error| {
                    StoreError::Corrupt(format!("a qualification cannot be read: {error}"))
                })?,
                figures: serde_json::from_str(&figures)?,
                author: row.get(7)?,
                created_ms: row.get(8)?,
            });
        }
        Ok(found)
    }
}
