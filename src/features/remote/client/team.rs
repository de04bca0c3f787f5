//! Shared projects: the states of their queries and parts, the judgments of people, and who takes
//! part.

use super::error::ServerError;
use super::server::{Server, in_time};
use super::work::Cursor;
use std::collections::HashMap;
use tokio_postgres::Row;
use uuid::Uuid;

/// A project on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedProject {
    pub id: i64,
    pub uid: Uuid,
    pub name: String,
    /// The server's name of an annotator, who stores only judgments under this name, and reads
    /// those of others on a pair or document after a judgment on it. `None`: the user may read and
    /// store everything.
    pub annotator: Option<String>,
}

/// The columns of a [`SharedProject`].
const PROJECT: &str =
    "id, uid, name, CASE WHEN NOT overrule.reads_all() THEN session_user::text END";

/// A query, or a part of the project that belongs to no query, in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateVersion {
    pub kind: String,
    /// The name of the query, or an empty text.
    pub subject: String,
    pub version: i64,
    /// The size of its body in bytes.
    pub size: i64,
}

/// The rows of a query or part, as a small project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub kind: String,
    pub subject: String,
    /// The version; of a new one, the version that it replaces, or 0.
    pub version: i64,
    /// The order of the query in this copy of the project.
    pub place: i64,
    pub body: Vec<u8>,
}

/// A verdict, a ruling or an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgment {
    pub uid: String,
    pub kind: String,
    pub person: String,
    pub query: String,
    /// The hash of what it is about.
    pub item: Vec<u8>,
    /// The version of the schema of its rows.
    pub form: i32,
    pub body: Vec<u8>,
}

/// A page of judgments, and the place of the last one.
#[derive(Clone, Debug, Default)]
pub struct JudgmentPage {
    pub judgments: Vec<Judgment>,
    pub last: Option<(Cursor, i64)>,
}

/// A person who takes part with a copy of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct Participant {
    pub person: String,
    /// Number of changes of the copy that were not on the server when it was last heard of.
    pub waiting: i64,
    /// Since then, in seconds.
    pub silent_s: f64,
}

impl Server {
    /// The project with this name, which is created if there is none.
    pub async fn share(&self, name: &str) -> Result<SharedProject, ServerError> {
        let known = format!("SELECT {PROJECT} FROM overrule.project WHERE name = $1");
        let new = "INSERT INTO overrule.project (name) VALUES ($1) ON CONFLICT DO NOTHING";
        if let Some(row) = self.answer(self.client.query_opt(&known, &[&name])).await? {
            return self.project(&row);
        }
        self.answer(self.client.execute(new, &[&name])).await?;
        let row = self.answer(self.client.query_one(&known, &[&name])).await?;
        self.project(&row)
    }

    /// The project with this unique ID.
    pub async fn shared(&self, uid: Uuid) -> Result<Option<SharedProject>, ServerError> {
        let known = format!("SELECT {PROJECT} FROM overrule.project WHERE uid = $1");
        let row = self.answer(self.client.query_opt(&known, &[&uid])).await?;
        row.map(|row| self.project(&row)).transpose()
    }

    fn project(&self, row: &Row) -> Result<SharedProject, ServerError> {
        let project = || {
            Ok(SharedProject {
                id: row.try_get(0)?,
                uid: row.try_get(1)?,
                name: row.try_get(2)?,
                annotator: row.try_get(3)?,
            })
        };
        project().map_err(|error| self.error(&error))
    }

    /// Tells the server that a copy takes part, and how many of its changes are not there. Returns the
    /// server's time in milliseconds since the Unix epoch.
    pub async fn take_part(
        &self,
        project: &SharedProject,
        copy: Uuid,
        person: &str,
        waiting: i64,
    ) -> Result<i64, ServerError> {
        let row = self
            .answer(self.client.query_one(
                "INSERT INTO overrule.copy (id, project, person, waiting) VALUES ($1, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE
             SET person = excluded.person, waiting = excluded.waiting, seen = now()
             RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
                &[&copy, &project.id, &person, &waiting],
            ))
            .await?;
        row.try_get(0).map_err(|error| self.error(&error))
    }

    /// Everyone who has taken part, the latest first.
    pub async fn participants(
        &self,
        project: &SharedProject,
    ) -> Result<Vec<Participant>, ServerError> {
        let rows = self
            .answer(self.client.query(
                "SELECT person, waiting, extract(epoch FROM now() - seen)::float8
                 FROM overrule.copy WHERE project = $1 ORDER BY seen DESC, id",
                &[&project.id],
            ))
            .await?;
        let participant = |row: Row| {
            Ok(Participant {
                person: row.try_get(0)?,
                waiting: row.try_get(1)?,
                silent_s: row.try_get(2)?,
            })
        };
        self.each(rows, participant)
    }

    /// Whether anything was changed by transactions from `from` on, except by this copy, and the
    /// oldest transaction in progress, from which to read next time.
    pub async fn news(
        &self,
        project: &SharedProject,
        copy: Uuid,
        from: &Cursor,
    ) -> Result<(bool, Cursor), ServerError> {
        let row = self
            .answer(self.client.query_one(
                "SELECT overrule.has_news($1, $2, $3::text::xid8),
                     pg_snapshot_xmin(pg_current_snapshot())::text",
                &[&project.id, &copy, &from.0],
            ))
            .await?;
        let news = || Ok((row.try_get(0)?, Cursor(row.try_get(1)?)));
        news().map_err(|error| self.error(&error))
    }

    /// The versions of all states that were changed by transactions from `from` on.
    pub async fn changed_states(
        &self,
        project: &SharedProject,
        from: &Cursor,
    ) -> Result<Vec<StateVersion>, ServerError> {
        let rows = self
            .answer(self.client.query(
                "SELECT kind, subject, version, size
                 FROM overrule.changed_states($1, $2::text::xid8)",
                &[&project.id, &from.0],
            ))
            .await?;
        let version = |row: Row| {
            Ok(StateVersion {
                kind: row.try_get(0)?,
                subject: row.try_get(1)?,
                version: row.try_get(2)?,
                size: row.try_get(3)?,
            })
        };
        self.each(rows, version)
    }

    /// The latest versions of these states, given their kinds and subjects.
    pub async fn states(
        &self,
        project: &SharedProject,
        of: &[(String, String)],
    ) -> Result<Vec<State>, ServerError> {
        let (kinds, subjects): (Vec<&str>, Vec<&str>) = of
            .iter()
            .map(|(kind, subject)| (kind.as_str(), subject.as_str()))
            .unzip();
        let rows = in_time(
            self.patience * 10,
            self.client.query(
                "SELECT kind, subject, version, place, body FROM overrule.states($1, $2, $3)",
                &[&project.id, &kinds, &subjects],
            ),
        )
        .await;
        let rows = self.outcome(rows)?;
        let state = |row: Row| {
            Ok(State {
                kind: row.try_get(0)?,
                subject: row.try_get(1)?,
                version: row.try_get(2)?,
                place: row.try_get(3)?,
                body: row.try_get(4)?,
            })
        };
        self.each(rows, state)
    }

    /// Stores new versions of states, each unless another version than the one that it replaces is
    /// there. Returns those stored, with their new versions.
    pub async fn store_states(
        &mut self,
        project: &SharedProject,
        copy: Uuid,
        states: &[State],
    ) -> Result<HashMap<(String, String), i64>, ServerError> {
        let patience = self.patience * 10;
        let stored = async {
            let transaction = self.client.transaction().await?;
            let mut stored = HashMap::new();
            // In one order for all copies, so that they do not wait for each other.
            let mut sorted: Vec<&State> = states.iter().collect();
            sorted.sort_by_key(|state| (&state.kind, &state.subject));
            for state in sorted {
                let version = transaction
                    .query_opt(
                        "INSERT INTO overrule.state AS known
                             (project, kind, subject, copy, body, place)
                         VALUES ($1, $2, $3, $4, $5, $7)
                         ON CONFLICT (project, kind, subject) DO UPDATE
                         SET version = known.version + 1, copy = excluded.copy,
                             body = excluded.body, changed = pg_current_xact_id()
                         WHERE known.version = $6
                         RETURNING version",
                        &[
                            &project.id,
                            &state.kind,
                            &state.subject,
                            &copy,
                            &state.body,
                            &state.version,
                            &state.place,
                        ],
                    )
                    .await?;
                if let Some(row) = version {
                    let name = (state.kind.clone(), state.subject.clone());
                    stored.insert(name, row.try_get(0)?);
                }
            }
            transaction.commit().await?;
            Ok(stored)
        };
        let stored = in_time(patience, stored).await;
        self.outcome(stored)
    }

    /// The hashes of texts among these that are not on the server.
    pub async fn missing_texts(
        &self,
        project: &SharedProject,
        hashes: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, ServerError> {
        let rows = self
            .answer(self.client.query(
                "SELECT hash FROM unnest($2::bytea[]) AS wanted (hash)
                 WHERE NOT EXISTS (SELECT 1 FROM overrule.text
                     WHERE project = $1 AND text.hash = wanted.hash)",
                &[&project.id, &hashes],
            ))
            .await?;
        self.each(rows, |row| row.try_get(0))
    }

    /// Stores packed texts by their hashes.
    pub async fn store_texts(
        &self,
        project: &SharedProject,
        texts: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<(), ServerError> {
        let (hashes, bodies): (Vec<&[u8]>, Vec<&[u8]>) = texts
            .iter()
            .map(|(hash, body)| (&hash[..], &body[..]))
            .unzip();
        let stored = in_time(
            self.patience * 10,
            self.client.execute(
                "INSERT INTO overrule.text (project, hash, body)
             SELECT $1, hash, body FROM unnest($2::bytea[], $3::bytea[]) AS new (hash, body)
             ORDER BY hash ON CONFLICT DO NOTHING",
                &[&project.id, &hashes, &bodies],
            ),
        )
        .await;
        self.outcome(stored)?;
        Ok(())
    }

    /// The packed texts with these hashes.
    pub async fn texts(
        &self,
        project: &SharedProject,
        hashes: &[Vec<u8>],
    ) -> Result<Vec<(Vec<u8>, Vec<u8>)>, ServerError> {
        let rows = in_time(
            self.patience * 10,
            self.client.query(
                "SELECT hash, body FROM overrule.text WHERE project = $1 AND hash = ANY ($2)",
                &[&project.id, &hashes],
            ),
        )
        .await;
        let rows = self.outcome(rows)?;
        let text = |row: Row| Ok((row.try_get(0)?, row.try_get(1)?));
        self.each(rows, text)
    }

    /// Stores judgments. Those that are there already stay as they are.
    pub async fn store_judgments(
        &self,
        project: &SharedProject,
        copy: Uuid,
        judgments: &[Judgment],
    ) -> Result<(), ServerError> {
        let text = |of: fn(&Judgment) -> &str| -> Vec<&str> { judgments.iter().map(of).collect() };
        let items: Vec<&[u8]> = judgments.iter().map(|one| &one.item[..]).collect();
        let forms: Vec<i32> = judgments.iter().map(|one| one.form).collect();
        let bodies: Vec<&[u8]> = judgments.iter().map(|one| &one.body[..]).collect();
        self.answer(self.client.execute(
            "INSERT INTO overrule.judgment (project, copy, uid, kind, person, query, item, form, body)
             SELECT $1, $2, uid, kind, person, query, item, form, body
             FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::int[],
                 $9::bytea[]) WITH ORDINALITY
                 AS new (uid, kind, person, query, item, form, body, at)
             ORDER BY at ON CONFLICT DO NOTHING",
            &[
                &project.id,
                &copy,
                &text(|one| &one.uid),
                &text(|one| &one.kind),
                &text(|one| &one.person),
                &text(|one| &one.query),
                &items,
                &forms,
                &bodies,
            ],
        ))
        .await?;
        Ok(())
    }

    /// Up to `limit` judgments from transaction `from` on, after the place `after`, in the order of
    /// their transactions; with `items`, only those on these items.
    pub async fn judgments(
        &self,
        project: &SharedProject,
        items: Option<&[Vec<u8>]>,
        from: &Cursor,
        after: Option<&(Cursor, i64)>,
        limit: i64,
    ) -> Result<JudgmentPage, ServerError> {
        let (changed, seq) = after.map_or((from, -1), |(changed, seq)| (changed, *seq));
        let rows = self
            .answer(self.client.query(
                "SELECT uid, kind, person, query, item, form, body, changed, seq
                 FROM overrule.judgments($1, $2, $3::text::xid8, $4, $5)",
                &[&project.id, &items, &changed.0, &seq, &limit],
            ))
            .await?;
        let mut page = JudgmentPage::default();
        for row in rows {
            page.judgments.push(self.judgment(&row)?);
            let place = || Ok((Cursor(row.try_get(7)?), row.try_get(8)?));
            page.last = Some(place().map_err(|error| self.error(&error))?);
        }
        Ok(page)
    }

    fn judgment(&self, row: &Row) -> Result<Judgment, ServerError> {
        let judgment = || {
            Ok(Judgment {
                uid: row.try_get(0)?,
                kind: row.try_get(1)?,
                person: row.try_get(2)?,
                query: row.try_get(3)?,
                item: row.try_get(4)?,
                form: row.try_get(5)?,
                body: row.try_get(6)?,
            })
        };
        judgment().map_err(|error| self.error(&error))
    }
}
