//! Synchronizes a project with the server: rows of other copies are merged here, and what was
//! changed here is stored there.

use crate::app::error::{AppError, invalid};
use crate::app::merge::finish_merges;
use crate::app::merge::state::{
    Refused, merge_judgments, merge_part, merge_query, pack_part, pack_query,
};
use crate::client::now_ms;
use crate::domain::sanitize;
use crate::features::remote::client::{
    Cursor, Judgment, Server, SharedProject, State, StateVersion,
};
use crate::features::remote::store::{
    JudgmentRows, RefusedJudgment, Shared, Unsynced, check_query_name, judgments_as_project,
    text_hash,
};
use crate::registry;
use crate::store::changes::QUERY_KIND;
use crate::store::file::inode;
use crate::store::merge::{MergeCounts, MergePart, Snapshot};
use crate::store::{Db, SCHEMA_VERSION, Store, StoreError};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use uuid::Uuid;

/// Bytes that are sent or received in one request, unless one state is larger.
const BATCH: i64 = 4 << 20;
/// Number of states that are sent in one request at most.
const STATES: usize = 64;
/// The same for texts.
const TEXTS: usize = 16;
/// Number of judgments in one request.
const JUDGMENTS: i64 = 2_000;
/// Number of items whose judgments are read in one request.
const ITEMS: i64 = 200;
/// How often a state is packed, if other copies are faster.
const ATTEMPTS: usize = 5;
/// Maximum size of a packed state in bytes, as the server has it.
const LARGEST: usize = 128 << 20;
/// Compression level of texts.
const LEVEL: i32 = 9;

/// The result of a synchronization.
#[derive(Debug, Default)]
pub struct Synced {
    /// What came from the server.
    pub received: MergeCounts,
    /// Number of queries whose rows were stored on the server.
    pub sent_queries: usize,
    /// Number of parts that belong to no query, such as the labels, that were stored on the server.
    pub sent_parts: usize,
    /// Number of showings, verdicts, rulings and undos that were stored on the server.
    pub sent_judgments: usize,
    /// Number of changes that are still not on the server.
    pub waiting: i64,
    /// Number of changes that stay here, since annotators send only their own judgments.
    pub kept_here: i64,
    /// How far the clock of this machine is ahead of the server's, in milliseconds.
    pub ahead_ms: i64,
    /// Why rows of the server were left out.
    pub problems: Vec<String>,
}

impl Synced {
    /// Whether nothing was left out.
    pub fn is_complete(&self) -> bool {
        self.problems.is_empty() && self.received.refused.is_empty() && self.waiting == 0
    }
}

/// Progress of a synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncProgress {
    /// Number of queries and parts received so far, of all.
    Received(usize, usize),
    /// Number of queries and parts sent so far.
    Sent(usize),
    /// Number of judgments received or sent so far.
    Judgments(usize),
}

/// Shares a project under a name. A project with this name on the server becomes the same one.
///
/// # Errors
/// The project is shared as another one.
pub async fn share(server: &Server, store: &Store, name: &str) -> Result<SharedProject, AppError> {
    let project = server.share(name).await?;
    let known = store.read(|db| db.shared()).await?;
    if let Some(known) = known {
        if known.project == project.uid {
            return Ok(project);
        }
        if let Some(other) = server.shared(known.project).await? {
            return Err(invalid!(
                "this project is shared as {:?} already; use a new project file to take part in \
                 {:?}",
                sanitize::line(&other.name),
                sanitize::line(name)
            ));
        }
    }
    let shared = Shared {
        project: project.uid,
        copy: Uuid::now_v7(),
        file: file_number(store.path()),
        reached: Cursor::start().0,
        reader: None,
    };
    store.write(move |db| db.share(&shared)).await?;
    Ok(project)
}

fn file_number(path: &Path) -> Option<i64> {
    inode(path).map(u64::cast_signed)
}

/// A synchronization in progress.
struct Sync<'a> {
    server: &'a mut Server,
    store: &'a Store,
    project: SharedProject,
    shared: Shared,
    synced: Synced,
    /// Whether a query or part was left out, so that all states are read again next time.
    is_incomplete: bool,
    /// Judgments that were not sent since they cannot be packed.
    unsent: HashSet<String>,
}

/// Synchronizes once. `person` is shown to the others as present. With `again`, everything is sent
/// and read again.
///
/// # Errors
/// The project is not shared, or is not on this server, or the server cannot be reached, or knows the
/// person under another name. What was exchanged before stays.
pub async fn sync(
    server: &mut Server,
    store: &Store,
    person: &str,
    again: bool,
    told: &mut (dyn FnMut(SyncProgress) + Send),
) -> Result<Synced, AppError> {
    let (project, mut shared) = opened(server, store).await?;
    let annotator = project.annotator.clone();
    if let Some(login) = annotator.as_deref().filter(|login| *login != person) {
        return Err(invalid!(
            "{}: knows you as {:?}, but you judge as {:?} here; use `--annotator {}`",
            server.name(),
            sanitize::line(login),
            sanitize::line(person),
            sanitize::line(login)
        ));
    }
    if shared.reader != annotator {
        shared.reached = Cursor::start().0;
        // On the server, the old copy belongs to another person.
        (shared.copy, shared.reader) = (Uuid::now_v7(), annotator.clone());
        let (copy, file, reader) = (shared.copy, shared.file, annotator.clone());
        let noted = store.write(move |db| {
            db.become_copy(copy, file)?;
            db.read_as(reader.as_deref())
        });
        noted.await?;
    }
    let horizon = server.horizon().await?;
    if again || horizon.is_before(&Cursor(shared.reached.clone())) {
        // The server was restored, and counts its transactions anew.
        shared.reached = Cursor::start().0;
        store.write(|db| db.start_over()).await?;
    }
    let mut sync = Sync {
        server,
        store,
        project,
        shared,
        synced: Synced::default(),
        is_incomplete: false,
        unsent: HashSet::new(),
    };
    let exchanged = sync.exchange(&horizon, told).await;
    if sync.synced.received != MergeCounts::default() {
        let store = store.clone();
        let finished = tokio::task::spawn_blocking(move || finish_merges(&store));
        finished.await.map_err(AppError::failed)??;
    }
    exchanged?;
    let Sync {
        server,
        project,
        shared,
        mut synced,
        ..
    } = sync;
    let counts = store.read(|db| Ok((db.unsynced_count()?, db.kept_count()?)));
    (synced.waiting, synced.kept_here) = counts.await?;
    let server_ms = server
        .take_part(&project, shared.copy, person, synced.waiting)
        .await?;
    synced.ahead_ms = now_ms() - server_ms;
    synced.received.refused.sort();
    synced.received.refused.dedup();
    Ok(synced)
}

/// The shared project, and how this file takes part in it.
pub async fn opened(server: &Server, store: &Store) -> Result<(SharedProject, Shared), AppError> {
    let Some(mut shared) = store.read(|db| db.shared()).await? else {
        return Err(invalid!(
            "this project is not shared; share it with `overrule remote add`"
        ));
    };
    // Merging ends with the transaction in which it begins, so it is never in progress here.
    store.write(|db| db.end_merging()).await?;
    let file = file_number(store.path());
    if shared.file != file {
        (shared.copy, shared.file) = (Uuid::now_v7(), file);
        let copy = shared.copy;
        store.write(move |db| db.become_copy(copy, file)).await?;
    }
    let Some(project) = server.shared(shared.project).await? else {
        return Err(invalid!(
            "{}: this project is not on the server; share it with `overrule remote add`",
            server.name()
        ));
    };
    Ok((project, shared))
}

impl Sync<'_> {
    /// Receives and sends everything that is new. What was left out is read again next time.
    async fn exchange(
        &mut self,
        horizon: &Cursor,
        told: &mut (dyn FnMut(SyncProgress) + Send),
    ) -> Result<(), AppError> {
        self.receive(told).await?;
        if !self.is_incomplete {
            let reached = horizon.0.clone();
            self.store.write(move |db| db.reach(&reached)).await?;
        }
        self.send(told).await?;
        self.receive_unread().await
    }

    /// Merges judgments that may be older than those read so far: those of others that can be read
    /// since the annotator has judged the same, and those that could not be merged before.
    async fn receive_unread(&mut self) -> Result<(), AppError> {
        let mut last = Vec::new();
        loop {
            let items = self.store.read(move |db| db.unread(&last, ITEMS)).await?;
            let Some(end) = items.last() else {
                return Ok(());
            };
            last = end.clone();
            let (mut after, mut unmerged) = (None, HashSet::new());
            loop {
                let page = self
                    .server
                    .judgments(
                        &self.project,
                        Some(&items),
                        &Cursor::start(),
                        after.as_ref(),
                        JUDGMENTS,
                    )
                    .await?;
                if page.last.is_none() {
                    break;
                }
                after = page.last;
                unmerged.extend(self.merge_judgments(page.judgments, true).await?);
            }
            let read = self.store.write(move |db| {
                let mut read = items.iter().filter(|item| !unmerged.contains(*item));
                read.try_for_each(|item| db.note_read(item))
            });
            read.await?;
        }
    }

    /// Merges what other copies have stored.
    async fn receive(
        &mut self,
        told: &mut (dyn FnMut(SyncProgress) + Send),
    ) -> Result<(), AppError> {
        let from = Cursor(self.shared.reached.clone());
        let changed = self.server.changed_states(&self.project, &from).await?;
        let versions = changed.clone();
        let known = self.store.read(move |db| {
            let versions = versions.iter();
            let versions = versions.map(|of| db.synced_version(&of.kind, &of.subject));
            versions.collect::<Result<Vec<i64>, StoreError>>()
        });
        let known = known.await?;
        let mut changed: Vec<StateVersion> = changed
            .into_iter()
            .zip(known)
            .filter(|(of, known)| of.version != *known)
            .map(|(of, _)| of)
            .collect();
        let (all, mut done) = (changed.len(), 0);
        while !changed.is_empty() {
            let mut size = 0;
            let count = changed
                .iter()
                .take(STATES)
                .take_while(|of| {
                    size += of.size;
                    size <= BATCH
                })
                .count();
            let batch: Vec<(String, String)> = changed
                .drain(..count.max(1))
                .map(|of| (of.kind, of.subject))
                .collect();
            done += batch.len();
            self.receive_states(&batch).await?;
            told(SyncProgress::Received(done, all));
        }
        self.receive_judgments(&from, told).await
    }

    /// Merges the latest versions of states.
    async fn receive_states(&mut self, of: &[(String, String)]) -> Result<(), AppError> {
        for state in self.server.states(&self.project, of).await? {
            if let Err(error) = self.receive_state(&state).await {
                let why = problem_of_rows(error)?;
                self.is_incomplete = true;
                self.synced.problems.push(format!(
                    "{}: left out: {why}",
                    described(&state.kind, &state.subject)
                ));
            }
        }
        Ok(())
    }

    async fn receive_state(&mut self, state: &State) -> Result<(), AppError> {
        let part = part_of(&state.kind);
        if part.is_none() && state.kind != QUERY_KIND {
            return Err(AppError::Failed(format!(
                "{}: has {:?}, which a newer version of overrule stored: update overrule",
                self.server.name(),
                sanitize::line(&state.kind)
            )));
        }
        let body = state.body.clone();
        let unpacked = tokio::task::spawn_blocking(move || {
            let piece = Snapshot::of_state(&body)?;
            let hashes = piece.db().text_hashes()?;
            Ok::<_, StoreError>((piece, hashes))
        });
        let (piece, hashes) = unpacked.await.map_err(AppError::failed)??;
        self.receive_texts(hashes).await?;
        let State {
            kind,
            subject,
            version,
            ..
        } = state.clone();
        let refused = self.synced.received.refused.clone();
        let merged = self.store.write(move |db| {
            let merged = db.merging(|db| match part {
                Some(part) => merge_part(db, &piece, part, &refused),
                None => merge_query(db, &piece, &subject),
            })?;
            if merged.refused.is_empty() {
                db.note_version(&kind, &subject, version)?;
            }
            if merged.votes_set_aside > 0 {
                db.note_set_aside(&subject)?;
            }
            Ok(merged)
        });
        let merged = merged.await?;
        self.is_incomplete |= !merged.refused.is_empty();
        self.synced.received.add(merged);
        Ok(())
    }

    /// Stores those of these texts that the project lacks.
    async fn receive_texts(&mut self, hashes: Vec<Vec<u8>>) -> Result<(), AppError> {
        let lacking = self.store.read(move |db| db.lacking_texts(hashes)).await?;
        for hashes in lacking.chunks(TEXTS) {
            let texts = self.server.texts(&self.project, hashes).await?;
            let wanted = hashes.len();
            if texts.len() < wanted {
                return Err(StoreError::Corrupt(format!(
                    "{} texts of documents are not on the server",
                    wanted - texts.len()
                ))
                .into());
            }
            let stored = self.store.write(move |db| {
                for (hash, packed) in texts {
                    let text = unpacked_text(&packed)?;
                    if text_hash(&text) != hash {
                        return Err(StoreError::Corrupt(
                            "a text on the server is damaged".to_owned(),
                        ));
                    }
                    db.keep_text(&text)?;
                }
                Ok(())
            });
            stored.await?;
        }
        Ok(())
    }

    async fn receive_judgments(
        &mut self,
        from: &Cursor,
        told: &mut (dyn FnMut(SyncProgress) + Send),
    ) -> Result<(), AppError> {
        let (mut after, mut done) = (None, 0);
        loop {
            let page = self
                .server
                .judgments(&self.project, None, from, after.as_ref(), JUDGMENTS)
                .await?;
            let Some(last) = page.last else {
                return Ok(());
            };
            after = Some(last);
            done += page.judgments.len();
            let unmerged = self.merge_judgments(page.judgments, false).await?;
            let noted = self
                .store
                .write(move |db| unmerged.iter().try_for_each(|item| db.note_unread(item)));
            noted.await?;
            told(SyncProgress::Judgments(done));
        }
    }

    /// Merges judgments, except those that cannot be merged. Returns the items of those that may be
    /// merged later; they are named the `last` time that they are tried.
    async fn merge_judgments(
        &mut self,
        judgments: Vec<Judgment>,
        last: bool,
    ) -> Result<HashSet<Vec<u8>>, AppError> {
        let (newer, judgments): (Vec<_>, Vec<_>) = judgments
            .into_iter()
            .partition(|judgment| judgment.form > SCHEMA_VERSION);
        let people: BTreeSet<&str> = newer.iter().map(|one| one.person.as_str()).collect();
        for person in people.into_iter().filter(|_| last) {
            self.synced.problems.push(format!(
                "judgments of {}: left out: a newer version of overrule stored them; update overrule",
                sanitize::line(person)
            ));
        }
        let mut unmerged: HashSet<Vec<u8>> = newer.into_iter().map(|one| one.item).collect();
        let mut waiting = vec![judgments];
        while let Some(mut page) = waiting.pop() {
            let error = match self.merge_page(page.clone()).await {
                Ok(refused) => {
                    for of in refused {
                        if last {
                            let refused = (of.query, of.reason.to_owned());
                            self.synced.received.refused.push(refused);
                        }
                        unmerged.insert(of.item);
                    }
                    continue;
                }
                Err(error) => error,
            };
            let may_be_merged_later = matches!(&error, AppError::Store(StoreError::NotFound(_)));
            let why = problem_of_rows(error)?;
            let [judgment] = &page[..] else {
                let rest = page.split_off(page.len() / 2);
                waiting.extend([rest, page]);
                continue;
            };
            if may_be_merged_later {
                unmerged.insert(judgment.item.clone());
            }
            if last || !may_be_merged_later {
                let person = sanitize::line(&judgment.person);
                self.synced
                    .problems
                    .push(format!("a judgment of {person}: left out: {why}"));
            }
        }
        Ok(unmerged)
    }

    async fn merge_page(
        &mut self,
        judgments: Vec<Judgment>,
    ) -> Result<Vec<RefusedJudgment>, AppError> {
        let annotator = self.project.annotator.clone();
        let merged = self.store.write(move |db| {
            let mut rows = Vec::new();
            for judgment in &judgments {
                let Judgment {
                    kind,
                    uid,
                    person,
                    query,
                    item,
                    ..
                } = judgment;
                if db.has_judgment((kind, uid), person)? {
                    continue;
                }
                let unpacked = JudgmentRows::unpack(&judgment.body)?;
                rows.push(unpacked.check((kind, uid), person, query, item)?);
                if reveals(kind) && annotator.as_ref() == Some(person) {
                    db.note_unread(item)?;
                }
            }
            if rows.is_empty() {
                return Ok((MergeCounts::default(), Vec::new()));
            }
            let (judgments, refused) = judgments_as_project(db, rows)?;
            let merged = db.merging(|db| {
                let merged = merge_judgments(db, &judgments)?;
                // Decisions from the future must not take precedence over new ones.
                db.order_before(now_ms())?;
                Ok(merged)
            })?;
            Ok((merged, refused))
        });
        let (merged, refused) = merged.await?;
        self.synced.received.add(merged);
        Ok(refused)
    }

    /// Stores what was changed here.
    async fn send(&mut self, told: &mut (dyn FnMut(SyncProgress) + Send)) -> Result<(), AppError> {
        // First, so that no state that cannot be sent holds them back. A copy that does not have their
        // query yet reads them again.
        loop {
            let person = self.project.annotator.clone();
            let mut new = self
                .store
                .read(move |db| db.unsynced_judgments(JUDGMENTS, person.as_deref()))
                .await?;
            new.retain(|of| !self.unsent.contains(&of.subject));
            if new.is_empty() {
                break;
            }
            self.send_judgments(new).await?;
            told(SyncProgress::Judgments(self.synced.sent_judgments));
        }
        if self.project.annotator.is_some() {
            return Ok(());
        }
        let changed = self.store.read(|db| db.unsynced_states()).await?;
        for chunk in changed.chunks(STATES) {
            let mut rest = chunk.to_vec();
            for _ in 0..ATTEMPTS {
                let overtaken = self.send_states(rest).await?;
                told(SyncProgress::Sent(
                    self.synced.sent_queries + self.synced.sent_parts,
                ));
                for of in &overtaken {
                    let name = (of.kind.clone(), of.subject.clone());
                    self.receive_states(&[name]).await?;
                }
                rest = overtaken;
                if rest.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Stores states, and returns those that other copies have replaced.
    async fn send_states(&mut self, changed: Vec<Unsynced>) -> Result<Vec<Unsynced>, AppError> {
        let mut overtaken = Vec::new();
        let mut waiting: Vec<(Unsynced, State)> = Vec::new();
        let mut size = 0;
        for of in changed {
            let (packed, refused) = (of.clone(), self.synced.received.refused.clone());
            let packed = self
                .store
                .read(move |db| packed_state(db, &packed, &refused));
            let (state, hashes) = match packed.await {
                Ok(packed) => packed,
                Err(error) => {
                    let why = problem_of_rows(error.into())?;
                    let problem = format!("{}: not sent: {why}", described(&of.kind, &of.subject));
                    if !self.synced.problems.contains(&problem) {
                        self.synced.problems.push(problem);
                    }
                    continue;
                }
            };
            self.send_texts(hashes).await?;
            size += state.body.len() as i64;
            waiting.push((of, state));
            if size >= BATCH {
                size = 0;
                overtaken.extend(self.send_batch(std::mem::take(&mut waiting)).await?);
            }
        }
        if !waiting.is_empty() {
            overtaken.extend(self.send_batch(waiting).await?);
        }
        Ok(overtaken)
    }

    async fn send_batch(
        &mut self,
        batch: Vec<(Unsynced, State)>,
    ) -> Result<Vec<Unsynced>, AppError> {
        let (changed, states): (Vec<Unsynced>, Vec<State>) = batch.into_iter().unzip();
        let stored = self
            .server
            .store_states(&self.project, self.shared.copy, &states)
            .await?;
        let (mut kept, mut overtaken) = (Vec::new(), Vec::new());
        for of in changed {
            let name = (of.kind.clone(), of.subject.clone());
            match stored.get(&name) {
                Some(version) => kept.push((of, *version)),
                None => overtaken.push(of),
            }
        }
        let queries = kept.iter().filter(|(of, _)| of.query().is_some()).count();
        self.synced.sent_queries += queries;
        self.synced.sent_parts += kept.len() - queries;
        let noted = self.store.write(move |db| {
            for (of, version) in kept {
                db.note_version(&of.kind, &of.subject, version)?;
                db.note_synced(&of)?;
            }
            Ok(())
        });
        noted.await?;
        Ok(overtaken)
    }

    /// Stores those of these texts that the server lacks.
    async fn send_texts(&mut self, hashes: Vec<Vec<u8>>) -> Result<(), AppError> {
        if hashes.is_empty() {
            return Ok(());
        }
        let missing = self.server.missing_texts(&self.project, &hashes).await?;
        for hashes in missing.chunks(TEXTS) {
            let hashes = hashes.to_vec();
            let texts = self.store.read(move |db| {
                let texts = hashes.into_iter().map(|hash| {
                    let text = db.text_with(&hash)?;
                    let packed = zstd::bulk::compress(text.as_bytes(), LEVEL);
                    let packed = packed.map_err(|error| StoreError::Internal(error.to_string()))?;
                    Ok((hash, packed))
                });
                texts.collect::<Result<Vec<_>, StoreError>>()
            });
            let texts = texts.await?;
            self.server.store_texts(&self.project, &texts).await?;
        }
        Ok(())
    }

    async fn send_judgments(&mut self, new: Vec<Unsynced>) -> Result<(), AppError> {
        let rows = new.clone();
        let packed = self.store.read(move |db| {
            let packed = rows.iter().map(|of| packed_judgment(db, of));
            Ok(packed.collect::<Vec<_>>())
        });
        let (mut judgments, mut sent) = (Vec::new(), Vec::new());
        for (packed, of) in packed.await?.into_iter().zip(new) {
            match packed {
                Ok(judgment) => {
                    judgments.push(judgment);
                    sent.push(of);
                }
                Err(error) => {
                    let why = problem_of_rows(error.into())?;
                    let problem = format!("{} {}: not sent: {why}", of.kind, of.subject);
                    self.synced.problems.push(problem);
                    self.unsent.insert(of.subject);
                }
            }
        }
        self.server
            .store_judgments(&self.project, self.shared.copy, &judgments)
            .await?;
        self.synced.sent_judgments += judgments.len();
        let is_annotator = self.project.annotator.is_some();
        let noted = self.store.write(move |db| {
            for judgment in judgments
                .iter()
                .filter(|one| is_annotator && reveals(&one.kind))
            {
                db.note_unread(&judgment.item)?;
            }
            for of in &sent {
                db.note_synced(of)?;
            }
            Ok(())
        });
        Ok(noted.await?)
    }
}

/// Whether judgments of others on the same item can be read after a judgment of this kind.
fn reveals(kind: &str) -> bool {
    matches!(kind, "verdict" | "ruling")
}

/// A judgment with everything that it refers to.
fn packed_judgment(db: &Db, of: &Unsynced) -> Result<Judgment, StoreError> {
    let rows = JudgmentRows::read(db, &of.kind, &of.subject)?;
    check_query_name(rows.query())?;
    Ok(Judgment {
        uid: rows.server_uid(),
        kind: of.kind.clone(),
        person: rows.person().to_owned(),
        query: rows.query().to_owned(),
        item: rows.item(),
        form: SCHEMA_VERSION,
        body: rows.pack()?,
    })
}

/// The reason why rows of the server cannot be merged.
///
/// # Errors
/// The error is about something else.
fn problem_of_rows(error: AppError) -> Result<String, AppError> {
    use StoreError::{Conflict, Corrupt, NotAProject, NotFound, Sql};
    match error {
        AppError::Store(Corrupt(why)) => Ok(sanitize::line(&why).into_owned()),
        AppError::Store(error @ (Conflict(_) | NotAProject { .. } | NotFound(_) | Sql(_))) => {
            Ok(sanitize::line(&error.to_string()).into_owned())
        }
        other => Err(other),
    }
}

/// The part of a project with this name.
fn part_of(kind: &str) -> Option<&'static MergePart> {
    registry::merge_parts().find(|part| part.name == kind)
}

fn described(kind: &str, subject: &str) -> String {
    if kind == QUERY_KIND {
        format!("query {:?}", sanitize::line(subject))
    } else {
        sanitize::line(kind).into_owned()
    }
}

/// The state of a query or part, and the hashes of the texts of its documents.
fn packed_state(
    db: &Db,
    of: &Unsynced,
    refused: &Refused,
) -> Result<(State, Vec<Vec<u8>>), StoreError> {
    check_query_name(&of.subject)?;
    let version = db.synced_version(&of.kind, &of.subject)?;
    let (body, hashes) = match (of.query(), part_of(&of.kind)) {
        (Some(query), _) => (pack_query(db, query)?, db.text_hashes_of(query)?),
        (None, Some(part)) => (pack_part(db, part, refused)?, Vec::new()),
        (None, None) => {
            return Err(StoreError::Corrupt(format!(
                "a change of {:?} is not known",
                of.kind
            )));
        }
    };
    if body.len() > LARGEST {
        return Err(StoreError::Conflict(format!(
            "its rows take more than {} MiB and cannot be shared",
            LARGEST >> 20
        )));
    }
    let state = State {
        kind: of.kind.clone(),
        subject: of.subject.clone(),
        version,
        place: of.query().map_or(0, |query| query.0),
        body,
    };
    Ok((state, hashes))
}

fn unpacked_text(packed: &[u8]) -> Result<String, StoreError> {
    use std::io::Read as _;
    /// Maximum size of a text in bytes.
    const LARGEST: u64 = 256 << 20;
    let damaged = || StoreError::Corrupt("a text on the server cannot be read".to_owned());
    let mut text = String::new();
    let decoder = zstd::stream::Decoder::new(packed).map_err(|_| damaged())?;
    decoder
        .take(LARGEST + 1)
        .read_to_string(&mut text)
        .map_err(|_| damaged())?;
    if text.len() as u64 > LARGEST {
        return Err(damaged());
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
