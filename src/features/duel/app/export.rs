//! Exports duels as rows: the chosen documents, the participants' judgments, and all events.

use crate::app::error::AppError;
use crate::app::export::AddedExport;
use crate::app::text_format::{counted, rfc_3339};
use crate::domain::corpus::{DocId, QueryId};
use crate::features::duel::app::{
    DraftedDuel, TaskTexts, chosen_duel, duel_name, participants, task_texts,
};
use crate::features::duel::domain::sbr::SbrProfile;
use crate::features::duel::domain::{
    Action, Answer, Content, Duel, DuelEvent, DuelQuery, Participant, Passage, Side, Source, Task,
    TaskKey, TaskKind, answers_of, schedule,
};
use crate::features::duel::store::DuelKey;
use crate::formats::own_tables::NINE;
use crate::formats::table_file::{Column, TableFormat, TableWriter};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Which rows to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuelRows {
    /// One row per document shown to a participant, for tasks that count.
    #[default]
    Judgments,
    /// One row per event, including controls.
    Events,
}

const JUDGMENTS: [Column; 22] = [
    Column::text("qid"),
    Column::text("docno").or_null(),
    Column::text("user"),
    Column::flag("selected").or_null(),
    Column::text("passage").or_null(),
    Column::whole("start").or_null(),
    Column::whole("end").or_null(),
    Column::text("source").or_null(),
    Column::whole("rank_a").or_null(),
    Column::whole("rank_b").or_null(),
    Column::whole("place").or_null(),
    Column::flag("opened").or_null(),
    Column::number("seconds"),
    Column::text("created"),
    Column::text("team").or_null(),
    Column::text("preferred").or_null(),
    Column::whole("strength").or_null(),
    Column::flag("none_serves"),
    Column::flag("finished"),
    Column::text("form"),
    Column::flag("blind"),
    Column::text("left").or_null(),
];

const EVENTS: [Column; 13] = [
    Column::text("user_id"),
    Column::text("qid"),
    Column::text("docno").or_null(),
    Column::text("event_type"),
    Column::whole("start_idx").or_null(),
    Column::whole("end_idx").or_null(),
    Column::whole("duration"),
    Column::whole("pass_flag").or_null(),
    Column::text("timestamp"),
    Column::text("task"),
    Column::whole("value").or_null(),
    Column::text("uid"),
    Column::text("undoes").or_null(),
];

/// Writes the chosen documents of a duel in the columns of the authors' script.
pub fn write_nine(
    drafted: &DraftedDuel,
    profile: SbrProfile,
    out: &mut (dyn Write + Send),
) -> Result<(), AppError> {
    let mut rows = TableWriter::new(&NINE, TableFormat::Csv, out)?;
    let duel = &drafted.duel;
    // The authors' script knows only two rankings, with these names.
    let (a, b) = match profile {
        SbrProfile::Original => ("ColBERT", "SBR"),
        SbrProfile::Overrule => (duel.a.as_str(), duel.b.as_str()),
    };
    let queries = duel.queries.iter().zip(&drafted.queries);
    for ((chosen, query), negative) in queries.zip(&drafted.negatives) {
        for (turn, document) in (1..).zip(&chosen.documents) {
            let easy = document.source == Source::EasyNegative;
            let negative = negative.as_ref().filter(|_| easy);
            let (source, from) = match document.source {
                Source::TopOfA => (format!("top from {a}"), a),
                Source::TopOfB => (format!("top from {b}"), b),
                Source::EasyNegative if document.rank_b.is_none() => {
                    ("easy negative".to_owned(), a)
                }
                Source::EasyNegative => ("easy negative".to_owned(), b),
            };
            rows.write(json!({
                "qid": chosen.query,
                "query": query.text,
                "docno": document.document,
                "text": query.text_of(&document.document),
                "colbert_rank": document.rank_a,
                "sbr_rank": document.rank_b,
                "source": source,
                "from": from,
                "selected_in_turn": turn,
                "semantic_sim": negative.map(|one| one.similarity),
                "label": negative.and_then(|one| one.grade),
            }))?;
        }
    }
    Ok(rows.finish()?)
}

/// Writes the participants' judgments of a duel, or all events, and returns the number of rows.
pub fn write_duel(
    store: &Store,
    key: DuelKey,
    rows: DuelRows,
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> Result<usize, AppError> {
    let written = match rows {
        DuelRows::Judgments => {
            let rows = store.read_blocking(move |db| judgment_rows(db, key))?;
            write_rows(&JUDGMENTS, rows, format, out)?
        }
        DuelRows::Events => {
            let rows = store.read_blocking(move |db| event_rows(db, key))?;
            write_rows(&EVENTS, rows, format, out)?
        }
    };
    Ok(written)
}

/// An export of a whole duel.
#[derive(Clone, Copy, Debug)]
pub struct DuelExport {
    /// By default, the latest.
    pub duel: Option<DuelKey>,
    pub rows: DuelRows,
}

impl AddedExport for DuelExport {
    fn write(
        &self,
        store: &Store,
        _keys: &[QueryKey],
        format: TableFormat,
        out: &mut (dyn Write + Send),
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let key = chosen_duel(store, self.duel)?;
        let rows = write_duel(store, key, self.rows, format, out)?;
        tell(&written_words(store, key, rows)?);
        Ok(())
    }
}

/// Describes what was written of a duel.
pub fn written_words(store: &Store, key: DuelKey, rows: usize) -> Result<String, AppError> {
    let stored = store.read_blocking(move |db| db.duel(key))?;
    Ok(format!("{}: {}", duel_name(&stored), counted(rows, "row")))
}

/// Returns the number of rows.
fn write_rows(
    columns: &[Column],
    rows: Vec<Value>,
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> Result<usize, AppError> {
    let written = rows.len();
    let mut table = TableWriter::new(columns, format, out)?;
    rows.into_iter().try_for_each(|row| table.write(row))?;
    table.finish()?;
    Ok(written)
}

fn judgment_rows(db: &Db, key: DuelKey) -> crate::store::Result<Vec<Value>> {
    let duel = db.duel(key)?.duel;
    let of_query: BTreeMap<&QueryId, &DuelQuery> = duel
        .queries
        .iter()
        .map(|query| (&query.query, query))
        .collect();
    let mut rows = Vec::new();
    for participant in participants(db, key)? {
        for task in schedule(&duel, participant.number) {
            let answer = participant.answers.get(&task.key);
            let counts = task.key.kind == TaskKind::Query;
            if let (true, Some(answer), Some(query)) =
                (counts, answer, of_query.get(&task.key.query))
            {
                let texts = task_texts(db, &task)?;
                let of = JudgedTask {
                    duel: &duel,
                    query,
                    task: &task,
                    answer,
                    participant: &participant,
                    texts: &texts,
                };
                rows.extend(of.rows());
            }
        }
    }
    Ok(rows)
}

/// A task that a participant has begun.
struct JudgedTask<'a> {
    duel: &'a Duel,
    query: &'a DuelQuery,
    task: &'a Task,
    answer: &'a Answer,
    participant: &'a Participant,
    texts: &'a TaskTexts,
}

impl JudgedTask<'_> {
    /// One row per position, or a single row for two lists.
    fn rows(&self) -> Vec<Value> {
        match &self.task.content {
            Content::Places(places) => {
                let places = (1..).zip(places);
                let documents = places
                    .filter_map(|(at, place)| Some((at, place.document.as_ref()?, place.team)));
                documents
                    .map(|(at, document, team)| self.document(at, document, team))
                    .collect()
            }
            Content::Lists { left, .. } => vec![self.preference(*left)],
        }
    }

    fn circumstances(&self) -> Value {
        let answer = self.answer;
        json!({
            "qid": self.task.key.query,
            "user": self.participant.name,
            "seconds": answer.active_ms as f64 / 1000.0,
            "created": rfc_3339(answer.finished_ms.unwrap_or(answer.changed_ms)),
            "none_serves": answer.none_serves,
            "finished": answer.finished,
            "form": self.duel.form.name(),
            "blind": !answer.after_reveal,
        })
    }

    fn document(&self, place: usize, document: &DocId, team: Option<Side>) -> Value {
        let known = self.query.documents.iter();
        let known = known.clone().find(|one| one.document == *document);
        let chosen = self.answer.selected.get(&Some(document.clone()));
        let passage = chosen.copied().flatten();
        let mut row = self.circumstances();
        row["docno"] = json!(document);
        row["selected"] = json!(chosen.is_some());
        row["passage"] = json!(passage.map(|passage| self.passage(document, passage)));
        row["start"] = json!(passage.map(|passage| passage.start));
        row["end"] = json!(passage.map(|passage| passage.end));
        row["source"] = json!(known.map(|one| one.source.name()));
        row["rank_a"] = json!(known.and_then(|one| one.rank_a));
        row["rank_b"] = json!(known.and_then(|one| one.rank_b));
        row["place"] = json!(place);
        row["opened"] = json!(self.answer.opened.contains(document));
        row["team"] = json!(team.map(Side::name));
        row
    }

    fn passage(&self, document: &DocId, passage: Passage) -> String {
        let text = self.texts.texts.get(document).map_or("", String::as_str);
        let length = passage.end.saturating_sub(passage.start);
        text.chars().skip(passage.start).take(length).collect()
    }

    /// The better list, and the ranking shown on the left. The step is counted from left to right.
    fn preference(&self, left: Side) -> Value {
        let mut row = self.circumstances();
        row["left"] = json!(left.name());
        if let Some(step) = self.answer.preference {
            let better = match (step.signum(), left) {
                (0, _) => "neither",
                (-1, Side::A) | (1, Side::B) => Side::A.name(),
                _ => Side::B.name(),
            };
            row["preferred"] = json!(better);
            row["strength"] = json!(step.unsigned_abs());
        }
        row
    }
}

fn event_rows(db: &Db, key: DuelKey) -> crate::store::Result<Vec<Value>> {
    let mut rows = Vec::new();
    for (participant, events) in db.duel_events_by_participant(key)? {
        let mut chosen: BTreeSet<(TaskKey, Option<DocId>)> = BTreeSet::new();
        for (at, event) in events.iter().enumerate() {
            let before = events.get(..=at).unwrap_or_default();
            let mut row = event_row(event, before, &mut chosen);
            row["user_id"] = json!(participant);
            rows.push(row);
        }
    }
    rows.sort_by(|x, y| x["uid"].as_str().cmp(&y["uid"].as_str()));
    Ok(rows)
}

/// An event in the terms of the authors' web page, if it has a term for it.
fn event_row(
    event: &DuelEvent,
    so_far: &[DuelEvent],
    chosen: &mut BTreeSet<(TaskKey, Option<DocId>)>,
) -> Value {
    let mut row = json!({
        "qid": event.query,
        "duration": event.active_ms,
        "timestamp": rfc_3339(event.created_ms),
        "task": event.kind.name(),
        "uid": event.uid,
    });
    let of = |document: &Option<DocId>| (event.task(), document.clone());
    let (name, document) = match &event.action {
        Action::Open { document } => ("OPEN_DOC", document.clone()),
        Action::Close { document } => ("CANCEL_DOC", document.clone()),
        Action::Select { document, passage } => {
            row["start_idx"] = json!(passage.map(|passage| passage.start));
            row["end_idx"] = json!(passage.map(|passage| passage.end));
            if chosen.insert(of(document)) {
                ("PASSAGE_SELECTION", document.clone())
            } else {
                ("UPDATE_SELECTION", document.clone())
            }
        }
        Action::Unselect { document } => {
            chosen.remove(&of(document));
            ("UNSELECT", document.clone())
        }
        Action::NoneServes => {
            chosen.retain(|(task, _)| *task != event.task());
            ("NONE_SERVES", None)
        }
        Action::Prefer { step } => {
            row["value"] = json!(step);
            ("PREFERENCE", None)
        }
        Action::Finish if event.kind == TaskKind::Attention => {
            let answers = answers_of(so_far);
            let followed = answers.get(&event.task()).is_some_and(|answer| {
                let mut chosen = answer.selected.keys();
                chosen.next() == Some(&None) && chosen.next().is_none()
            });
            row["pass_flag"] = json!(u8::from(followed));
            ("ATTENTION_CHECK", None)
        }
        Action::Finish => ("FINISH", None),
        Action::Leave => ("PAGE_NAV", None),
        Action::Reveal => ("RESULT_SEEN", None),
        Action::Undo { of } => {
            row["undoes"] = json!(of);
            // The current choices follow from the current answers.
            chosen.clear();
            let answers = answers_of(so_far);
            for (task, answer) in &answers {
                let selected = answer.selected.keys();
                chosen.extend(selected.map(|document| (task.clone(), document.clone())));
            }
            ("UNDO", None)
        }
    };
    row["event_type"] = json!(name);
    row["docno"] = json!(document);
    row
}
