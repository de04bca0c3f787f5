//! Exports list calls with everything that another copy of the project needs to check them.

use super::list_judge::{ListJudge, shown_texts};
use super::list_line::{CallLine, HexBytes, ListLine};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::app::export::AddedExport;
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::features::lists::store::StoredList;
use crate::formats::safe_json;
use crate::formats::table_file::TableFormat;
use crate::judge::{JudgeSpec, MetadataFields, RerankKind, text_hash};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result, Store};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;

/// Writes list calls as JSON lines.
#[derive(Debug, Default)]
pub struct ListExport {
    /// The configured judges.
    pub(super) judges: Vec<ShownJudge>,
    /// Why configured judges are not among them.
    pub(super) notes: Vec<String>,
}

/// A judge with the metadata that it is shown.
type ShownJudge = (JudgeSpec, Option<MetadataFields>);

/// The judges of the project's lists by identity and form of the answer; `None` for those that are
/// neither configured nor have voted.
type KnownJudges = HashMap<([u8; 32], String), Option<ListJudge>>;

/// Why a list call is not exported.
enum Skipped {
    UnknownJudge(String),
    ChangedText,
}

impl ListExport {
    /// Reads the configured judges. An export is also possible without them, because judges that
    /// have voted are known.
    pub fn new(configuration: &JudgeConfiguration<'_>) -> Self {
        // The form of the answer changes only the prompt.
        let chosen = match configuration.available_rerankers(RerankKind::Rank) {
            Ok(chosen) => chosen,
            Err(error) => {
                return Self {
                    notes: vec![format!("the configured judges cannot be read: {error}")],
                    ..Self::default()
                };
            }
        };
        let judges = chosen.ensemble.iter();
        let missing = chosen.missing.iter().map(|missing| {
            let (judge, problem) = (sanitize::line(&missing.judge), &missing.problem);
            format!("judge {judge:?} {problem}")
        });
        Self {
            judges: judges
                .map(|judge| (judge.spec().clone(), judge.metadata().cloned()))
                .collect(),
            notes: chosen.notes.iter().cloned().chain(missing).collect(),
        }
    }
}

/// Finds the judge of each list by its identity: a configured one, or one that has voted, under its
/// present name or an earlier one.
fn known_judges(
    db: &Db,
    lists: Vec<StoredList>,
    mut judges: Vec<ShownJudge>,
) -> Result<KnownJudges> {
    for (_, voter) in db.all_judges()? {
        judges.push((voter.clone(), None));
        judges.push((voter, Some(MetadataFields::All)));
    }
    let mut known = KnownJudges::new();
    for list in lists {
        let Ok(form) = list.form.parse() else {
            continue;
        };
        let Entry::Vacant(entry) = known.entry((list.identity, list.form)) else {
            continue;
        };
        let mut names = db.list_judge_names(&list.judge)?;
        names.push(list.judge);
        let named = names.iter().flat_map(|name| {
            judges.iter().filter_map(move |(spec, fields)| {
                let spec = JudgeSpec {
                    name: name.clone(),
                    ..spec.clone()
                };
                ListJudge::new(&spec, fields.as_ref(), form)
            })
        });
        let mut named = named.filter(|judge| judge.identity() == list.identity);
        entry.insert(named.next());
    }
    Ok(known)
}

impl AddedExport for ListExport {
    fn formats(&self) -> &'static [TableFormat] {
        &[TableFormat::Jsonl]
    }

    fn write(
        &self,
        store: &Store,
        keys: &[QueryKey],
        _: TableFormat,
        mut out: &mut (dyn Write + Send),
        tell: &mut dyn FnMut(&str),
    ) -> std::result::Result<(), AppError> {
        let judges = self.judges.clone();
        let exported: HashSet<QueryKey> = keys.iter().copied().collect();
        let (known, gone) = store.read_blocking(move |db| {
            let lists = db.list_calls(None)?;
            let queries = db.query_names()?;
            let names: HashSet<&str> = queries.iter().map(|(_, name)| name.as_str()).collect();
            let gone = lists.iter().filter(|of| !names.contains(of.query.as_str()));
            let gone = gone.count();
            let is_whole = queries.iter().all(|(key, _)| exported.contains(key));
            let known = known_judges(db, lists, judges)?;
            Ok((known, if is_whole { gone } else { 0 }))
        })?;
        let (mut unknown, mut changed) = (BTreeMap::new(), 0);
        let lines = |db: &Db, query| {
            let lists = db.list_calls(Some(&db.query(query)?.id))?;
            let lines = lists.iter().map(|list| line(db, query, list, &known));
            lines.collect::<Result<Vec<_>>>()
        };
        store.read_each(keys, lines, |_, lines| {
            for line in lines {
                match line {
                    Ok(line) => safe_json::write_line(&mut out, &line)?,
                    Err(Skipped::UnknownJudge(judge)) => *unknown.entry(judge).or_default() += 1,
                    Err(Skipped::ChangedText) => changed += 1,
                }
            }
            Ok::<(), AppError>(())
        })?;
        let lists = |count| counted(count, "list call");
        for (judge, count) in &unknown {
            let judge = sanitize::line(judge);
            tell(&format!(
                "skipped {}; judge not available: {judge} (it is offline, or has another model or \
                 other parameters now)",
                lists(*count)
            ));
        }
        if !unknown.is_empty() {
            self.notes.iter().for_each(|note| tell(note));
        }
        if changed > 0 {
            let lists = lists(changed);
            tell(&format!(
                "skipped {lists}: a text or metadata has changed since then"
            ));
        }
        if gone > 0 {
            let lists = lists(gone);
            tell(&format!(
                "skipped {lists} about queries that the project no longer has"
            ));
        }
        Ok(())
    }
}

/// The line of a list call, if its key is that of a known judge and the present texts.
fn line(
    db: &Db,
    query: QueryKey,
    list: &StoredList,
    known: &KnownJudges,
) -> Result<std::result::Result<ListLine, Skipped>> {
    let place = (list.identity, list.form.clone());
    let Some(Some(judge)) = known.get(&place) else {
        return Ok(Err(Skipped::UnknownJudge(list.judge.clone())));
    };
    let Ok(shown) = shown_texts(db, query, &list.shown)? else {
        return Ok(Err(Skipped::ChangedText));
    };
    let query_sha256 = HexBytes(text_hash(&shown.query));
    let hashes = shown.documents.iter().map(|text| HexBytes(text_hash(text)));
    let document_sha256 = hashes.collect();
    if judge.key(shown) != list.key {
        return Ok(Err(Skipped::ChangedText));
    }
    let calls = db.rerank_calls(&list.key)?;
    Ok(Ok(ListLine {
        uid: list.uid.clone(),
        query: list.query.clone(),
        judge: list.judge.clone(),
        plan: list.plan.clone(),
        round: list.round as u64 + 1,
        created_ms: list.created_ms,
        answer_form: list.form.clone(),
        shown: list.shown.clone(),
        spec: judge.spec.clone(),
        metadata: judge.fields.as_ref().map(MetadataFields::canonical),
        query_sha256,
        document_sha256,
        identity: HexBytes(list.identity),
        key: HexBytes(list.key),
        calls: calls.into_iter().map(CallLine::of).collect(),
    }))
}
