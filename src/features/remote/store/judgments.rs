//! Showings, verdicts, rulings and their undos as self-contained rows, in which documents are named.
//!
//! A row of the server may come from anyone who may write there. Its own judgment is checked against
//! the person who stored it; other rows in it only say what it is about.

use super::items::item_hash;
use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::QueryId;
use crate::store::merge::empty_project;
use crate::store::{Db, Result, StoreError};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, HashSet};

const SHOWN: &str = "uid, annotator, policy, draw, drawn_of, shown_ms, later_ms";
const VERDICT: &str = "uid, decision, note, annotator, blind, active_ms, replaces, created_ms,
                       confidence, cause, policy, role, inclusion, revealed_ms, shown, order_ms,
                       guideline";
const RULING: &str = "uid, document, finding, relevant, fault, note, annotator, blind, active_ms,
                      revealed_ms, grade, against, answers, draw, drawn_of, replaces, created_ms,
                      order_ms, guideline";
const UNDO: &str = "uid, verdict, annotator, created_ms, order_ms";
const RULING_UNDO: &str = "uid, ruling, annotator, created_ms, order_ms";

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Integer(number) => Self::Integer(number),
            Value::Real(number) => Self::Real(number),
            Value::Text(text) => Self::Text(text),
            Value::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl From<Cell> for Value {
    fn from(cell: Cell) -> Self {
        match cell {
            Cell::Null => Self::Null,
            Cell::Integer(number) => Self::Integer(number),
            Cell::Real(number) => Self::Real(number),
            Cell::Text(text) => Self::Text(text),
            Cell::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

/// The values of a row that are not about documents.
type Cells = Vec<Cell>;

/// A row about a pair: the positions of A and B in [`JudgmentRows::documents`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PairRow {
    a: u8,
    b: u8,
    cells: Cells,
}

/// A judgment with everything that it refers to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgmentRows {
    query: String,
    /// The hash of the query's text.
    text: Vec<u8>,
    /// The names of the documents and the hashes of their texts.
    documents: Vec<(String, Vec<u8>)>,
    shown: Vec<PairRow>,
    /// With those that they replace.
    verdicts: Vec<PairRow>,
    undos: Vec<Cells>,
    rulings: Vec<Cells>,
    ruling_undos: Vec<Cells>,
    /// The table and the unique ID of the judgment.
    #[serde(skip)]
    own: (String, String),
    /// Who judged.
    #[serde(skip)]
    person: String,
}

/// The end of the server's ID of a showing that was put off. The same one without it has another ID.
const LATER: &str = ":later";

/// The hash of a text.
pub fn text_hash(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// The hash of the text of a document, in the pool of a query or besides it.
fn document_hash(db: &Db, query: i64, name: &str) -> Result<Option<Vec<u8>>> {
    db.maybe_value(
        "SELECT hash FROM document JOIN content ON content.id = content
         WHERE query = ?1 AND document.name = ?2
         UNION ALL SELECT hash FROM candidate JOIN content ON content.id = content
         WHERE query = ?1 AND candidate.name = ?2",
        params![query, name],
    )
}

fn cells(row: &rusqlite::Row<'_>, from: usize, columns: &str) -> rusqlite::Result<Cells> {
    let columns = from..from + columns.split(',').count();
    columns
        .map(|at| Ok(row.get::<_, Value>(at)?.into()))
        .collect()
}

impl JudgmentRows {
    /// A judgment of the project, given its table and unique ID.
    pub fn read(db: &Db, table: &str, uid: &str) -> Result<Self> {
        let mut rows = Self {
            own: (table.to_owned(), uid.to_owned()),
            ..Self::default()
        };
        let query: i64 = match table {
            "shown" => {
                let query = rows.shown(db, uid)?;
                rows.person = db.value("SELECT annotator FROM shown WHERE uid = ?1", [uid])?;
                query
            }
            "verdict" => rows.verdict(db, uid)?,
            "undo" => {
                let verdict: String = db.value("SELECT verdict FROM undo WHERE uid = ?1", [uid])?;
                let query = rows.verdict(db, &verdict)?;
                rows.undos = vec![db.one(
                    &format!("SELECT {UNDO} FROM undo WHERE uid = ?1"),
                    [uid],
                    |row| cells(row, 0, UNDO),
                )?];
                rows.person = db.value("SELECT annotator FROM undo WHERE uid = ?1", [uid])?;
                query
            }
            "ruling" => rows.ruling(db, uid)?,
            _ => {
                let ruling: String =
                    db.value("SELECT ruling FROM ruling_undo WHERE uid = ?1", [uid])?;
                let query = rows.ruling(db, &ruling)?;
                rows.ruling_undos = vec![db.one(
                    &format!("SELECT {RULING_UNDO} FROM ruling_undo WHERE uid = ?1"),
                    [uid],
                    |row| cells(row, 0, RULING_UNDO),
                )?];
                rows.person =
                    db.value("SELECT annotator FROM ruling_undo WHERE uid = ?1", [uid])?;
                query
            }
        };
        let (name, text): (String, String) = db.one(
            "SELECT name, text FROM query WHERE id = ?1",
            [query],
            |row| row.try_into(),
        )?;
        (rows.query, rows.text) = (name, text_hash(&text));
        Ok(rows)
    }

    /// Adds when a pair was shown. Returns the query.
    fn shown(&mut self, db: &Db, uid: &str) -> Result<i64> {
        let (query, a, b, cells) = db.one(
            &format!("SELECT query, a, b, {SHOWN} FROM shown WHERE uid = ?1"),
            [uid],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, cells(row, 3, SHOWN)?)),
        )?;
        let (a, b) = (self.place(db, query, a)?, self.place(db, query, b)?);
        self.shown.push(PairRow { a, b, cells });
        Ok(query)
    }

    /// Adds a verdict, those that it replaces, and when its pair was shown. Returns the query.
    fn verdict(&mut self, db: &Db, uid: &str) -> Result<i64> {
        let (mut next, mut of) = (Some(uid.to_owned()), None);
        let mut seen = HashSet::new();
        while let Some(uid) = next.filter(|uid| seen.insert(uid.clone())) {
            let (query, a, b, shown, replaces, person, rest) = db.one(
                &format!(
                    "SELECT query, a, b, shown, replaces, annotator, {VERDICT} FROM verdict
                     WHERE uid = ?1"
                ),
                [&uid],
                |row| {
                    Ok((
                        row.get(0)?,
                        row.get(1)?,
                        row.get(2)?,
                        row.get::<_, Option<String>>(3)?,
                        row.get(4)?,
                        row.get(5)?,
                        cells(row, 6, VERDICT)?,
                    ))
                },
            )?;
            if of.is_none() {
                self.person = person;
            }
            of = Some(query);
            let (a, b) = (self.place(db, query, a)?, self.place(db, query, b)?);
            self.verdicts.push(PairRow { a, b, cells: rest });
            if let Some(shown) = shown {
                self.shown(db, &shown)?;
            }
            next = replaces;
        }
        of.ok_or_else(|| StoreError::Corrupt("a verdict is not there".to_owned()))
    }

    /// Adds a ruling and those that it replaces. Returns the query.
    fn ruling(&mut self, db: &Db, uid: &str) -> Result<i64> {
        let (mut next, mut of) = (Some(uid.to_owned()), None);
        let mut seen = HashSet::new();
        while let Some(uid) = next.filter(|uid| seen.insert(uid.clone())) {
            let (query, document, replaces, person, cells) = db.one(
                &format!(
                    "SELECT query, document, replaces, annotator, {RULING} FROM ruling
                     WHERE uid = ?1"
                ),
                [&uid],
                |row| {
                    let values: (i64, String, Option<String>, String) =
                        (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
                    let rest = cells(row, 4, RULING)?;
                    Ok((values.0, values.1, values.2, values.3, rest))
                },
            )?;
            if of.is_none() {
                self.person = person;
            }
            of = Some(query);
            // A ruling may be about a document of which the project has no text.
            let hash = document_hash(db, query, &document)?;
            self.documents = vec![(document, hash.unwrap_or_default())];
            self.rulings.push(cells);
            next = replaces;
        }
        of.ok_or_else(|| StoreError::Corrupt("a ruling is not there".to_owned()))
    }

    /// The place of a document in [`Self::documents`], where it is added.
    fn place(&mut self, db: &Db, query: i64, position: i64) -> Result<u8> {
        let document: (String, Vec<u8>) = db.one(
            "SELECT document.name, hash FROM document JOIN content ON content.id = content
             WHERE query = ?1 AND position = ?2",
            [query, position],
            |row| row.try_into(),
        )?;
        let known = self.documents.iter().position(|known| *known == document);
        let place = known.unwrap_or(self.documents.len());
        if known.is_none() {
            self.documents.push(document);
        }
        u8::try_from(place)
            .map_err(|_| StoreError::Corrupt("a verdict is about too many documents".to_owned()))
    }

    /// Whether its documents have the same texts in a project.
    fn knows_documents(&self, db: &Db) -> Result<bool> {
        for (name, hash) in self.documents.iter().filter(|(_, hash)| !hash.is_empty()) {
            let query: i64 = db.value("SELECT id FROM query WHERE name = ?1", [&self.query])?;
            if document_hash(db, query, name)?.as_ref() != Some(hash) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The name of the query.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Who judged.
    pub fn person(&self) -> &str {
        &self.person
    }

    /// Its unique ID on the server.
    pub fn server_uid(&self) -> String {
        let (table, uid) = &self.own;
        let is_put_off = table == "shown"
            && self.own_row().is_some_and(|row| {
                matches!(cell(row.cells, SHOWN, "later_ms"), Some(Cell::Integer(_)))
            });
        format!("{uid}{}", if is_put_off { LATER } else { "" })
    }

    /// The row of the judgment itself.
    fn own_row(&self) -> Option<OwnRow<'_>> {
        fn pairs(rows: &[PairRow]) -> Vec<&Cells> {
            rows.iter().map(|row| &row.cells).collect()
        }
        let (table, uid) = &self.own;
        let (columns, rows, references): (_, Vec<&Cells>, &'static [_]) = match table.as_str() {
            "shown" => (SHOWN, pairs(&self.shown), &[]),
            "verdict" => {
                let references = &[("verdict", "replaces"), ("shown", "shown")];
                (VERDICT, pairs(&self.verdicts), references)
            }
            "undo" => (UNDO, self.undos.iter().collect(), &[("verdict", "verdict")]),
            "ruling" => {
                let references = &[("ruling", "replaces")];
                (RULING, self.rulings.iter().collect(), references)
            }
            "ruling_undo" => {
                let references = &[("ruling", "ruling")];
                (RULING_UNDO, self.ruling_undos.iter().collect(), references)
            }
            _ => return None,
        };
        let mut rows = rows.into_iter();
        let cells = rows.find(|cells| text(cells, columns, "uid") == Some(uid))?;
        Some(OwnRow {
            cells,
            person: text(cells, columns, "annotator")?,
            references: references
                .iter()
                .filter_map(|(table, column)| Some((*table, text(cells, columns, column)?)))
                .collect(),
        })
    }

    /// Checks that it is what its row of the server says. `uid` is the server's.
    ///
    /// # Errors
    /// Whoever stored it there has named another person, query, pair or document.
    pub fn check(
        mut self,
        (table, uid): (&str, &str),
        person: &str,
        query: &str,
        item: &[u8],
    ) -> Result<Self> {
        let of_table = uid.strip_suffix(LATER).filter(|_| table == "shown");
        self.own = (table.to_owned(), of_table.unwrap_or(uid).to_owned());
        let is_by = |row: &OwnRow<'_>| stored_annotator_name(row.person) == person;
        if !self.own_row().as_ref().is_some_and(is_by) {
            return Err(corrupt("its author is not the one that the server names"));
        }
        if self.query != query || self.item() != item || !self.is_about_item() {
            return Err(corrupt("it is not about what the server says"));
        }
        self.person = person.to_owned();
        Ok(self)
    }

    /// Whether its own row is about the documents that it names.
    fn is_about_item(&self) -> bool {
        let is_pair = |rows: &[PairRow], columns: &str| {
            let mut own = rows.iter();
            let own = own.find(|row| text(&row.cells, columns, "uid") == Some(&self.own.1));
            self.documents.len() == 2
                && own.is_some_and(|row| matches!((row.a, row.b), (0, 1) | (1, 0)))
        };
        match self.own.0.as_str() {
            "shown" => is_pair(&self.shown, SHOWN),
            "verdict" => is_pair(&self.verdicts, VERDICT),
            "ruling" => {
                let document = self.own_row();
                let document = document.and_then(|row| text(row.cells, RULING, "document"));
                matches!(&self.documents[..], [(name, _)] if document == Some(name))
            }
            // Compared with what they take back.
            _ => true,
        }
    }

    /// What it replaces, takes back or answers must be by the same person, and about the same.
    /// `others` are the judgments that are merged with it.
    fn check_references(&self, db: &Db, others: &Others<'_>) -> Result<()> {
        let Some(row) = self.own_row() else {
            return Ok(());
        };
        let (table, uid) = &self.own;
        let own = [(table.as_str(), uid.as_str())];
        for of in own.into_iter().chain(row.references) {
            let (by, item) = match (db.annotator_of(of)?, others.get(&of)) {
                (Some(by), _) => (by, Self::read(db, of.0, of.1)?.item()),
                (None, Some(other)) => (other.person.clone(), other.item()),
                (None, None) if self.shows(of) => continue,
                (None, None) => {
                    return Err(StoreError::NotFound(
                        "the judgment that it refers to".to_owned(),
                    ));
                }
            };
            if by != self.person {
                return Err(corrupt("it changes a judgment of another person"));
            }
            if item != self.item() {
                return Err(corrupt("it refers to a judgment about something else"));
            }
        }
        Ok(())
    }

    /// Whether it contains a showing to its person, as those of earlier versions do.
    fn shows(&self, (table, uid): Own<'_>) -> bool {
        let is_it = |row: &PairRow| {
            text(&row.cells, SHOWN, "uid") == Some(uid)
                && text(&row.cells, SHOWN, "annotator") == Some(&self.person)
        };
        table == "shown" && self.shown.iter().any(is_it)
    }

    /// Keeps only its own row, and those of its person that a project has.
    fn keep_known(&mut self, db: &Db, others: &HashSet<(String, String)>) -> Result<()> {
        let (own, person) = (self.own.clone(), self.person.clone());
        let is_kept = |table: &str, columns: &str, cells: &Cells| -> Result<bool> {
            let uid = text(cells, columns, "uid").unwrap_or_default();
            if (table, uid) == (&own.0, &own.1) {
                return Ok(true);
            }
            Ok(match db.annotator_of((table, uid))? {
                Some(by) => table != "shown" && by == person,
                None => {
                    let is_by = text(cells, columns, "annotator") == Some(&person);
                    let is_sent = others.contains(&(table.to_owned(), uid.to_owned()));
                    table == "shown" && is_by && !is_sent
                }
            })
        };
        keep(&mut self.shown, |row| is_kept("shown", SHOWN, &row.cells))?;
        keep(&mut self.verdicts, |row| {
            is_kept("verdict", VERDICT, &row.cells)
        })?;
        keep(&mut self.undos, |row| is_kept("undo", UNDO, row))?;
        keep(&mut self.rulings, |row| is_kept("ruling", RULING, row))?;
        keep(&mut self.ruling_undos, |row| {
            is_kept("ruling_undo", RULING_UNDO, row)
        })
    }

    /// The hash of what was judged: a pair or a document of a query.
    pub fn item(&self) -> Vec<u8> {
        let names = self.documents.iter().map(|(name, _)| name.as_str());
        item_hash(&self.query, names.collect())
    }

    /// The rows as bytes.
    pub fn pack(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(|error| StoreError::Internal(error.to_string()))
    }

    /// Reads packed rows.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn unpack(bytes: &[u8]) -> Result<Self> {
        let rows: Self = postcard::from_bytes(bytes)
            .map_err(|error| StoreError::Corrupt(format!("a judgment cannot be read: {error}")))?;
        let is_whole = |cells: &Cells, columns: &str| cells.len() == columns.split(',').count();
        let pairs = |of: &[PairRow], columns| of.iter().all(|row| is_whole(&row.cells, columns));
        let others = |of: &[Cells], columns| of.iter().all(|cells| is_whole(cells, columns));
        let are_whole = pairs(&rows.shown, SHOWN)
            && pairs(&rows.verdicts, VERDICT)
            && others(&rows.undos, UNDO)
            && others(&rows.rulings, RULING)
            && others(&rows.ruling_undos, RULING_UNDO);
        if !are_whole {
            return Err(StoreError::Corrupt(
                "a judgment has values for other columns".to_owned(),
            ));
        }
        Ok(rows)
    }

    /// Its table and unique ID.
    fn own(&self) -> Own<'_> {
        (&self.own.0, &self.own.1)
    }
}

fn corrupt(why: &str) -> StoreError {
    StoreError::Corrupt(why.to_owned())
}

/// A table of judgments, and a unique ID.
type Own<'a> = (&'a str, &'a str);

/// Judgments that are merged together.
type Others<'a> = HashMap<Own<'a>, &'a JudgmentRows>;

/// The row of a judgment itself.
struct OwnRow<'a> {
    cells: &'a Cells,
    person: &'a str,
    /// The judgments that it replaces, takes back or answers.
    references: Vec<Own<'a>>,
}

/// The value of a column.
fn cell<'a>(cells: &'a Cells, columns: &str, name: &str) -> Option<&'a Cell> {
    let mut names = columns.split(',').map(str::trim);
    cells.get(names.position(|column| column == name)?)
}

fn text<'a>(cells: &'a Cells, columns: &str, name: &str) -> Option<&'a str> {
    match cell(cells, columns, name)? {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

/// `Vec::retain` with a condition that may fail.
fn keep<T>(rows: &mut Vec<T>, is_kept: impl Fn(&T) -> Result<bool>) -> Result<()> {
    let kept = rows.iter().map(is_kept).collect::<Result<Vec<bool>>>()?;
    let mut kept = kept.into_iter();
    rows.retain(|_| kept.next().unwrap_or(false));
    Ok(())
}

/// A judgment that is not merged, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedJudgment {
    pub query: String,
    pub item: Vec<u8>,
    pub reason: &'static str,
}

/// A small project in memory with these judgments on queries of `db`. The others are named.
///
/// # Errors
/// A judgment changes one of another person, or one that is not there.
pub fn judgments_as_project(
    db: &Db,
    mut judgments: Vec<JudgmentRows>,
) -> Result<(Db, Vec<RefusedJudgment>)> {
    let mut others: Others<'_> = HashMap::new();
    for judgment in &judgments {
        let known = others.entry(judgment.own()).or_insert(judgment);
        if known.person != judgment.person {
            return Err(corrupt("it has the ID of a judgment of another person"));
        }
    }
    for judgment in &judgments {
        judgment.check_references(db, &others)?;
    }
    let others: HashSet<(String, String)> = judgments
        .iter()
        .map(|judgment| judgment.own.clone())
        .collect();
    for judgment in &mut judgments {
        judgment.keep_known(db, &others)?;
    }
    let project = empty_project()?;
    // A judgment that it refers to may be in the project that it is merged into.
    project
        .connection
        .pragma_update(None, "foreign_keys", false)?;
    let (mut queries, mut refused) = (HashMap::new(), Vec::new());
    for judgment in &judgments {
        let known: Option<String> =
            db.maybe_value("SELECT text FROM query WHERE name = ?1", [&judgment.query])?;
        let reason = match &known {
            None => "it is not in this project yet",
            Some(text) if text_hash(text) != judgment.text => "it has a different text there",
            Some(_) if !judgment.knows_documents(db)? => "a document has a different text there",
            Some(_) => {
                add(
                    &project,
                    judgment,
                    known.as_deref().unwrap_or_default(),
                    &mut queries,
                )?;
                continue;
            }
        };
        refused.push(RefusedJudgment {
            query: judgment.query.clone(),
            item: judgment.item(),
            reason,
        });
    }
    Ok((project, refused))
}

/// The queries of a small project: key, and the positions of documents by name.
type Queries = HashMap<QueryId, (i64, HashMap<String, usize>)>;

fn add(project: &Db, rows: &JudgmentRows, text: &str, queries: &mut Queries) -> Result<()> {
    let id = QueryId::new(rows.query.as_str());
    if !queries.contains_key(&id) {
        project.change(
            "INSERT INTO query (name, text, extra, line, dataset, documents)
             VALUES (?1, ?2, '{}', '{}', '', 0)",
            params![rows.query, text],
        )?;
        let key = project.connection.last_insert_rowid();
        queries.insert(id.clone(), (key, HashMap::new()));
    }
    let Some((query, documents)) = queries.get_mut(&id) else {
        return Ok(());
    };
    let query = *query;
    let mut places = Vec::new();
    let is_about_pair = !rows.verdicts.is_empty() || !rows.shown.is_empty();
    for (name, hash) in rows.documents.iter().filter(|_| is_about_pair) {
        let next = documents.len();
        let place = *documents.entry(name.clone()).or_insert(next);
        places.push(place);
        if place < next {
            continue;
        }
        project.change(
            "INSERT INTO content (hash, text) VALUES (?1, '') ON CONFLICT DO NOTHING",
            [hash],
        )?;
        project.change(
            "INSERT INTO document (query, position, name, content, metadata, extra)
             SELECT ?1, ?2, ?3, id, '{}', '{}' FROM content WHERE hash = ?4",
            params![query, place, name, hash],
        )?;
    }
    let pair = |row: &PairRow| -> Result<[Value; 3]> {
        let place = |at: u8| places.get(usize::from(at)).copied();
        match place(row.a).zip(place(row.b)) {
            Some((a, b)) => Ok([query.into(), (a as i64).into(), (b as i64).into()]),
            None => Err(StoreError::Corrupt(
                "a judgment is about a document that it does not name".to_owned(),
            )),
        }
    };
    for row in &rows.shown {
        let values = pair(row)?.into_iter().chain(values(&row.cells));
        project.change(
            &format!(
                "INSERT INTO shown (query, a, b, {SHOWN})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT (uid) DO UPDATE SET later_ms = excluded.later_ms
                 WHERE later_ms IS NULL"
            ),
            params_from_iter(values),
        )?;
    }
    for row in &rows.verdicts {
        let values = pair(row)?.into_iter().chain(values(&row.cells));
        project.change(
            &format!(
                "INSERT OR IGNORE INTO verdict (query, a, b, {VERDICT})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                 ?17, ?18, ?19, ?20)"
            ),
            params_from_iter(values),
        )?;
    }
    for cells in &rows.undos {
        project.change(
            &format!("INSERT OR IGNORE INTO undo ({UNDO}) VALUES (?1, ?2, ?3, ?4, ?5)"),
            params_from_iter(values(cells)),
        )?;
    }
    for cells in &rows.rulings {
        let values = std::iter::once(query.into()).chain(values(cells));
        project.change(
            &format!(
                "INSERT OR IGNORE INTO ruling (query, {RULING})
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                 ?17, ?18, ?19, ?20)"
            ),
            params_from_iter(values),
        )?;
    }
    for cells in &rows.ruling_undos {
        project.change(
            &format!(
                "INSERT OR IGNORE INTO ruling_undo ({RULING_UNDO}) VALUES (?1, ?2, ?3, ?4, ?5)"
            ),
            params_from_iter(values(cells)),
        )?;
    }
    Ok(())
}

fn values(cells: &[Cell]) -> impl Iterator<Item = Value> + '_ {
    cells.iter().cloned().map(Value::from)
}

impl Db {
    /// Whether the project has a judgment of a person, given its table and the server's ID.
    ///
    /// # Errors
    /// A judgment of another person has this ID.
    pub fn has_judgment(&self, (table, uid): (&str, &str), person: &str) -> Result<bool> {
        let put_off = uid.strip_suffix(LATER).filter(|_| table == "shown");
        match self.annotator_of((table, put_off.unwrap_or(uid)))? {
            None => Ok(false),
            Some(by) if by != person => {
                Err(corrupt("it has the ID of a judgment of another person"))
            }
            Some(_) => match put_off {
                Some(uid) => self.value(
                    "SELECT EXISTS (SELECT 1 FROM shown WHERE uid = ?1 AND later_ms IS NOT NULL)",
                    [uid],
                ),
                None => Ok(true),
            },
        }
    }

    /// Who gave a judgment; `None` if the project does not have it.
    fn annotator_of(&self, (table, uid): Own<'_>) -> Result<Option<String>> {
        let sql = match table {
            "shown" => "SELECT annotator FROM shown WHERE uid = ?1",
            "verdict" => "SELECT annotator FROM verdict WHERE uid = ?1",
            "undo" => "SELECT annotator FROM undo WHERE uid = ?1",
            "ruling" => "SELECT annotator FROM ruling WHERE uid = ?1",
            "ruling_undo" => "SELECT annotator FROM ruling_undo WHERE uid = ?1",
            _ => return Ok(None),
        };
        self.maybe_value(sql, [uid])
    }
}
