//! Duels, their participants and their events; events are only appended.

use crate::domain::corpus::QueryId;
use crate::features::duel::domain::{Action, Duel, DuelEvent, DuelForm, DuelQuery, TaskKind};
use crate::store::columns::read_word;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, StoreError};
use rusqlite::types::{FromSql, FromSqlResult, ValueRef};
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

impl FromSql for DuelForm {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        read_word(value)
    }
}

impl FromSql for TaskKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        read_word(value)
    }
}

/// Row ID of a duel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DuelKey(pub i64);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDuel {
    pub key: DuelKey,
    /// Globally unique.
    pub uid: String,
    pub duel: Duel,
    /// Creation time in milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// A participant in a duel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuelParticipant {
    pub annotator: String,
    /// Counts from 0 and determines the tasks. Two participants may have the same number after a
    /// merge.
    pub number: usize,
    /// Time of joining in milliseconds since the Unix epoch.
    pub joined_ms: i64,
}

/// A new event of a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDuelEvent {
    pub annotator: String,
    pub kind: TaskKind,
    pub query: QueryId,
    pub action: Action,
    /// Active time in the task since the participant's previous event, in milliseconds.
    pub active_ms: i64,
    /// In milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// Counts over all duels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuelCounts {
    pub duels: usize,
    /// Number of distinct participant names.
    pub participants: usize,
    pub events: usize,
}

/// The stored settings of a duel, without its rankings.
#[derive(Serialize, Deserialize)]
struct Settings {
    top: usize,
    seed: u64,
    controls: bool,
    /// Duels stored before this field existed used 1.
    #[serde(default = "usual_level")]
    level: i32,
}

fn usual_level() -> i32 {
    1
}

impl Db {
    /// Stores a duel. Its queries must be in the project.
    pub fn add_duel(&self, duel: &Duel, created_ms: i64) -> Result<DuelKey> {
        self.add_duel_as(&Uuid::now_v7().to_string(), duel, created_ms)
    }

    /// Stores a duel under the UID that it came with.
    pub(crate) fn add_duel_as(&self, uid: &str, duel: &Duel, created_ms: i64) -> Result<DuelKey> {
        let settings = Settings {
            top: duel.top,
            seed: duel.seed,
            controls: duel.controls,
            level: duel.level,
        };
        self.change(
            "INSERT INTO duel (uid, form, a, b, settings, created_ms) VALUES (?1, ?2, ?3, ?4, ?5,
             ?6)",
            params![
                uid,
                duel.form.name(),
                duel.a,
                duel.b,
                serde_json::to_string(&settings)?,
                created_ms
            ],
        )?;
        let key = self.connection.last_insert_rowid();
        for (place, query) in duel.queries.iter().enumerate() {
            let QueryKey(row) = self.find_query(query.query.as_str())?;
            self.change(
                "INSERT INTO duel_query (duel, place, query, documents, depth, shortfall)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    key,
                    place,
                    row,
                    serde_json::to_string(&query.documents)?,
                    query.depth,
                    query.shortfall
                ],
            )?;
        }
        Ok(DuelKey(key))
    }

    /// All duels, oldest first.
    pub fn duels(&self) -> Result<Vec<StoredDuel>> {
        let keys: Vec<i64> =
            self.all("SELECT id FROM duel ORDER BY created_ms, id", [], |row| {
                row.get(0)
            })?;
        keys.into_iter()
            .map(|key| self.duel(DuelKey(key)))
            .collect()
    }

    /// The latest duel, if any.
    pub fn latest_duel(&self) -> Result<Option<DuelKey>> {
        let key = self.maybe_value(
            "SELECT id FROM duel ORDER BY created_ms DESC, id DESC LIMIT 1",
            [],
        )?;
        Ok(key.map(DuelKey))
    }

    /// The duel with this UID, if the project has it.
    pub(crate) fn known_duel(&self, uid: &str) -> Result<Option<DuelKey>> {
        Ok(self
            .maybe_value("SELECT id FROM duel WHERE uid = ?1", [uid])?
            .map(DuelKey))
    }

    pub fn duel(&self, key: DuelKey) -> Result<StoredDuel> {
        type Columns = (String, DuelForm, String, String, String, i64);
        let found: Option<Columns> = self.maybe(
            "SELECT uid, form, a, b, settings, created_ms FROM duel WHERE id = ?1",
            [key.0],
            |row| row.try_into(),
        )?;
        let Some((uid, form, a, b, settings, created_ms)) = found else {
            return Err(StoreError::NotFound(format!(
                "no duel {} in the project; `overrule duel --list` lists them",
                key.0
            )));
        };
        let Settings {
            top,
            seed,
            controls,
            level,
        } = serde_json::from_str(&settings)?;
        Ok(StoredDuel {
            key,
            uid,
            duel: Duel {
                form,
                a,
                b,
                top,
                seed,
                controls,
                level,
                queries: self.duel_queries(key)?,
            },
            created_ms,
        })
    }

    fn duel_queries(&self, key: DuelKey) -> Result<Vec<DuelQuery>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.name, duel_query.documents, duel_query.depth, shortfall
             FROM duel_query JOIN query ON query.id = duel_query.query WHERE duel = ?1
             ORDER BY place",
        )?;
        let mut rows = statement.query([key.0])?;
        let mut queries = Vec::new();
        while let Some(row) = rows.next()? {
            queries.push(DuelQuery {
                query: row.get(0)?,
                documents: serde_json::from_str(&row.get::<_, String>(1)?)?,
                depth: row.get(2)?,
                shortfall: row.get(3)?,
            });
        }
        Ok(queries)
    }

    /// Adds a participant and returns the participant's number: the existing one, or the next.
    pub fn join_duel(&self, key: DuelKey, annotator: &str, now_ms: i64) -> Result<usize> {
        if let Some(number) = self.duel_number(key, annotator)? {
            return Ok(number);
        }
        let next = self.value(
            "SELECT coalesce(max(number) + 1, 0) FROM duel_participant WHERE duel = ?1",
            [key.0],
        )?;
        let participant = DuelParticipant {
            annotator: annotator.to_owned(),
            number: next,
            joined_ms: now_ms,
        };
        self.add_duel_participant(key, &participant)?;
        Ok(next)
    }

    /// A participant's number, if the participant has joined.
    pub fn duel_number(&self, key: DuelKey, annotator: &str) -> Result<Option<usize>> {
        self.maybe_value(
            "SELECT number FROM duel_participant WHERE duel = ?1 AND annotator = ?2",
            params![key.0, annotator],
        )
    }

    /// Adds a participant with a given number, unless the participant is already known. Returns
    /// whether it was new.
    pub(crate) fn add_duel_participant(
        &self,
        key: DuelKey,
        participant: &DuelParticipant,
    ) -> Result<bool> {
        let added = self.change(
            "INSERT INTO duel_participant (duel, annotator, number, joined_ms) VALUES (?1, ?2, ?3,
             ?4)
             ON CONFLICT DO NOTHING",
            params![
                key.0,
                participant.annotator,
                participant.number,
                participant.joined_ms
            ],
        )?;
        Ok(added > 0)
    }

    /// The participants, ordered by number, then name.
    pub fn duel_participants(&self, key: DuelKey) -> Result<Vec<DuelParticipant>> {
        self.all(
            "SELECT annotator, number, joined_ms FROM duel_participant WHERE duel = ?1
             ORDER BY number, annotator",
            [key.0],
            |row| {
                Ok(DuelParticipant {
                    annotator: row.get(0)?,
                    number: row.get(1)?,
                    joined_ms: row.get(2)?,
                })
            },
        )
    }

    /// Stores an event and returns its identifier, which is greater than those of the participant's
    /// earlier events even if the clock was set back.
    pub fn add_duel_event(&self, key: DuelKey, new: &NewDuelEvent) -> Result<String> {
        let latest: Option<String> = self.value(
            "SELECT max(uid) FROM duel_event WHERE duel = ?1 AND annotator = ?2",
            params![key.0, new.annotator],
        )?;
        let latest = latest.as_deref().map(Uuid::parse_str).transpose();
        let latest = latest.map_err(|error| {
            StoreError::Corrupt(format!(
                "the name of a duel's event cannot be read: {error}"
            ))
        })?;
        let mut uid = Uuid::now_v7();
        if let Some(latest) = latest.filter(|latest| *latest >= uid) {
            uid = Uuid::from_u128(latest.as_u128().saturating_add(1));
        }
        let event = DuelEvent {
            uid: uid.to_string(),
            participant: new.annotator.clone(),
            kind: new.kind,
            query: new.query.clone(),
            action: new.action.clone(),
            active_ms: new.active_ms,
            created_ms: new.created_ms,
        };
        self.add_duel_event_as(key, &event)?;
        Ok(event.uid)
    }

    /// Stores an event under the identifier that it came with. Returns whether it was new.
    pub(crate) fn add_duel_event_as(&self, key: DuelKey, event: &DuelEvent) -> Result<bool> {
        let QueryKey(query) = self.find_query(event.query.as_str())?;
        let added = self.change(
            "INSERT INTO duel_event (uid, duel, annotator, task, query, action, active_ms,
             created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            params![
                event.uid,
                key.0,
                event.participant,
                event.kind.name(),
                query,
                serde_json::to_string(&event.action)?,
                event.active_ms,
                event.created_ms
            ],
        )?;
        Ok(added > 0)
    }

    /// Counts over all duels.
    pub fn duel_counts(&self) -> Result<DuelCounts> {
        Ok(DuelCounts {
            duels: self.value("SELECT count(*) FROM duel", [])?,
            participants: self
                .value("SELECT count(DISTINCT annotator) FROM duel_participant", [])?,
            events: self.value("SELECT count(*) FROM duel_event", [])?,
        })
    }

    /// All events of a duel, ordered by identifier.
    pub fn duel_events(&self, key: DuelKey) -> Result<Vec<DuelEvent>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uid, annotator, task, query.name, action, active_ms, created_ms
             FROM duel_event JOIN query ON query.id = duel_event.query WHERE duel = ?1 ORDER BY uid",
        )?;
        let mut rows = statement.query([key.0])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            events.push(event(row)?);
        }
        Ok(events)
    }

    /// All events of a duel by participant.
    pub fn duel_events_by_participant(
        &self,
        key: DuelKey,
    ) -> Result<BTreeMap<String, Vec<DuelEvent>>> {
        let mut by_participant: BTreeMap<String, Vec<DuelEvent>> = BTreeMap::new();
        for event in self.duel_events(key)? {
            let name = event.participant.clone();
            by_participant.entry(name).or_default().push(event);
        }
        Ok(by_participant)
    }
}

fn event(row: &Row<'_>) -> Result<DuelEvent> {
    Ok(DuelEvent {
        uid: row.get(0)?,
        participant: row.get(1)?,
        kind: row.get(2)?,
        query: row.get(3)?,
        action: serde_json::from_str(&row.get::<_, String>(4)?)?,
        active_ms: row.get(5)?,
        created_ms: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::DocId;
    use crate::features::duel::domain::{DuelDocument, Passage, Source};
    use crate::store::labels::tests::pool;

    fn duel() -> Duel {
        let document = |name: &str, source, rank_a, rank_b| DuelDocument {
            document: DocId::new(name),
            source,
            rank_a,
            rank_b,
        };
        Duel {
            form: DuelForm::Grid,
            a: "one".to_owned(),
            b: "two".to_owned(),
            top: 4,
            seed: u64::MAX,
            controls: true,
            level: 1,
            queries: vec![DuelQuery {
                query: QueryId::new("q"),
                documents: vec![
                    document("1", Source::TopOfA, Some(1), None),
                    document("0", Source::EasyNegative, Some(9), Some(8)),
                ],
                depth: 5,
                shortfall: "nothing else is there".to_owned(),
            }],
        }
    }

    fn project() -> (Db, DuelKey) {
        let db = Db::scratch().unwrap();
        db.add_pool(&pool(&["{}", "{}"]), "set").unwrap();
        let key = db.add_duel(&duel(), 7).unwrap();
        (db, key)
    }

    fn event(annotator: &str, action: Action) -> NewDuelEvent {
        NewDuelEvent {
            annotator: annotator.to_owned(),
            kind: TaskKind::Query,
            query: QueryId::new("q"),
            action,
            active_ms: 1_200,
            created_ms: 5,
        }
    }

    #[test]
    fn a_duel_comes_back_as_it_was_stored() {
        let (db, key) = project();
        let stored = db.duel(key).unwrap();
        assert_eq!((&stored.duel, stored.created_ms), (&duel(), 7));
        assert_eq!(db.known_duel(&stored.uid).unwrap(), Some(key));
        let later = db.add_duel(&duel(), 8).unwrap();
        assert_eq!(db.latest_duel().unwrap(), Some(later));
        let keys: Vec<DuelKey> = db.duels().unwrap().iter().map(|one| one.key).collect();
        assert_eq!(keys, [key, later]);
        let missing = db.duel(DuelKey(99)).unwrap_err().to_string();
        assert!(missing.contains("no duel 99"), "{missing}");
        let mut foreign = duel();
        foreign.queries[0].query = QueryId::new("unknown");
        assert!(db.add_duel(&foreign, 9).is_err());
    }

    #[test]
    fn participants_keep_their_numbers() {
        let (db, key) = project();
        let join = |name: &str| db.join_duel(key, name, 3).unwrap();
        assert_eq!([join("ada"), join("bob"), join("ada")], [0, 1, 0]);
        assert_eq!(db.duel_number(key, "eve").unwrap(), None);
        let names: Vec<String> = db
            .duel_participants(key)
            .unwrap()
            .into_iter()
            .map(|one| one.annotator)
            .collect();
        assert_eq!(names, ["ada", "bob"]);
    }

    #[test]
    fn events_come_back_in_the_order_in_which_they_were_added() {
        let (db, key) = project();
        let select = Action::Select {
            document: Some(DocId::new("1")),
            passage: Some(Passage { start: 3, end: 9 }),
        };
        let one = db
            .add_duel_event(key, &event("ada", select.clone()))
            .unwrap();
        // Simulates a clock that was far ahead.
        let ahead = DuelEvent {
            uid: "f0000000-0000-7000-8000-000000000000".to_owned(),
            action: Action::Undo { of: one.clone() },
            ..db.duel_events(key).unwrap().remove(0)
        };
        assert!(db.add_duel_event_as(key, &ahead).unwrap());
        assert!(!db.add_duel_event_as(key, &ahead).unwrap());
        let last = db
            .add_duel_event(key, &event("ada", Action::Finish))
            .unwrap();
        assert_eq!(last, "f0000000-0000-7000-8000-000000000001");
        let bob = db
            .add_duel_event(key, &event("bob", Action::Leave))
            .unwrap();
        assert!(
            bob < last,
            "the clock of another participant stands for itself"
        );
        let events = db.duel_events_by_participant(key).unwrap();
        let actions: Vec<&Action> = events["ada"].iter().map(|one| &one.action).collect();
        assert_eq!(actions, [&select, &ahead.action, &Action::Finish]);
        assert_eq!(events["bob"].len(), 1);
    }
}
