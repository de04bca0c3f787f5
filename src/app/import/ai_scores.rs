//! zBench's `ai_scores.json`: imports recorded votes without making any calls.

use super::ahead::{ReadAhead, read_ahead};
use super::imported::PoolsImport;
use super::preview::PoolCounts;
use super::recorded_call::{recorded_call, recorded_judge, recorded_vote};
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{ReadProgress, display_name, open_counted, stem};
use crate::client::now_ms;
use crate::domain::battle::BattleId;
use crate::domain::corpus::{Document, JsonObject, Pool, Query};
use crate::domain::vote::JudgeId;
use crate::formats::ai_scores::{self, ExpectedJudges, RecordedVote, ZbenchPair};
use crate::formats::problem::Problem;
use crate::judge::FailureCause;
use crate::store::corpus::QueryKey;
use crate::store::vote_details::VoteReasoning;
use crate::store::votes::{CallOutcome, CallRecord, CallTally, PackedAhead, TextPacker};
use crate::store::{Db, Store, StoreError};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::path::Path;

/// The texts that a file has given for each query and document so far.
#[derive(Default)]
struct TextHashes {
    known: HashMap<(String, Option<String>), [u8; 32]>,
}

impl TextHashes {
    fn documents(&self) -> usize {
        self.known
            .keys()
            .filter(|(_, document)| document.is_some())
            .count()
    }

    /// How a pair contradicts an earlier one: the same identifier must not stand for two texts.
    fn contradicted_by(&mut self, pair: &ZbenchPair) -> Option<String> {
        let query = pair.query_id.as_str().to_owned();
        let documents = [&pair.a, &pair.b].into_iter();
        let documents = documents.map(|one| (Some(one.id.to_string()), one.content.as_str()));
        let named = std::iter::once((None, pair.query.as_str())).chain(documents);
        for (document, text) in named {
            let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
            let what = match &document {
                None => format!("query {query:?}"),
                Some(document) => format!("document {document:?} of query {query:?}"),
            };
            if *self.known.entry((query.clone(), document)).or_insert(hash) != hash {
                return Some(format!(
                    "{what} has a different text than before; give it another id"
                ));
            }
        }
        None
    }
}

/// The pool of a query as far as known from its scored pairs, with documents in order of their
/// first battle.
#[derive(Default)]
struct GatheredPool {
    pool: Option<Pool>,
    place: HashMap<String, usize>,
}

impl GatheredPool {
    fn add(&mut self, pair: &ZbenchPair) {
        let pool = self.pool.get_or_insert_with(|| Pool {
            query: Query {
                id: pair.query_id.clone(),
                text: pair.query.clone(),
                extra: JsonObject::default(),
            },
            documents: Vec::new(),
            extra: JsonObject::default(),
        });
        for scored in [&pair.a, &pair.b] {
            let next = pool.documents.len();
            if *self
                .place
                .entry(scored.id.as_str().to_owned())
                .or_insert(next)
                == next
            {
                pool.documents.push(Document {
                    id: scored.id.clone(),
                    title: None,
                    content: scored.content.clone(),
                    metadata: scored.metadata.clone(),
                    extra: JsonObject::default(),
                    input_score: None,
                });
            }
        }
    }
}

/// The problems of a file, pair by pair, and the size of the valid part.
pub(super) fn check(
    path: &Path,
    progress: &ReadProgress,
) -> Result<(FileProblems, PoolCounts), AppError> {
    let name = display_name(path);
    let mut problems = FileProblems::of(path);
    let mut texts = TextHashes::default();
    let mut counts = PoolCounts::default();
    let file = open_counted(path, progress)?;
    let pairs = ai_scores::read_scored_pairs(file, &name, ExpectedJudges::Any);
    for (at, pair) in pairs.enumerate() {
        let Some(pair) = problems.keep(pair) else {
            continue;
        };
        match texts.contradicted_by(&pair) {
            Some(what) => {
                let what = format!("scored_pairs[{at}]: {what}");
                problems.add(Problem::new(&name, None, &what));
            }
            None => {
                let votes = pair.votes.iter();
                if !pair.meets_itself() {
                    counts.votes += votes
                        .filter(|(_, vote)| matches!(vote, RecordedVote::Vote { .. }))
                        .count();
                    counts.battles += 1;
                }
                counts.queries.insert(pair.query_id);
            }
        }
    }
    counts.documents = texts.documents();
    Ok((problems, counts))
}

/// Imports a file in one transaction.
pub(super) fn import(
    store: &Store,
    path: &Path,
    progress: &ReadProgress,
) -> Result<PoolsImport, AppError> {
    let readers = [open_counted(path, progress)?, open_counted(path, progress)?];
    let (name, dataset) = (display_name(path), stem(path));
    let imported = store.write_blocking(move |db| add(db, readers, &name, &dataset))?;
    store.update_estimates()?;
    Ok(imported)
}

/// Adds the pools and votes of the file `name`. It reads the file twice, first for the pools and
/// then for the votes, so that only texts and no votes are kept in memory.
pub fn add(
    db: &mut Db,
    readers: [impl BufRead + Send; 2],
    name: &str,
    dataset: &str,
) -> Result<PoolsImport, StoreError> {
    let [first, second] = readers;
    let mut import = PoolsImport {
        file: name.to_owned(),
        ..PoolsImport::default()
    };
    let mut gathered: HashMap<String, GatheredPool> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut texts = TextHashes::default();
    for pair in ai_scores::read_scored_pairs(first, name, ExpectedJudges::Any) {
        let Some(pair) = pair
            .ok()
            .filter(|pair| texts.contradicted_by(pair).is_none())
        else {
            import.skipped += 1;
            continue;
        };
        if pair.meets_itself() {
            import.self_pairs += 1;
        } else {
            let outside = |(_, vote): &&(String, RecordedVote)| {
                matches!(vote, RecordedVote::OutOfRange { .. })
            };
            import.out_of_range += pair.votes.iter().filter(outside).count();
        }
        let id = pair.query_id.as_str().to_owned();
        if !gathered.contains_key(&id) {
            order.push(id.clone());
        }
        for (judge, _) in &pair.votes {
            if !names.contains(judge) {
                names.push(judge.clone());
            }
        }
        gathered.entry(id).or_default().add(&pair);
    }
    let judges: HashMap<String, JudgeId> = names
        .iter()
        .map(|name| {
            Ok((
                name.clone(),
                db.judge(&recorded_judge(name, "recorded", "not recorded"))?,
            ))
        })
        .collect::<Result<_, StoreError>>()?;
    let counting: Vec<JudgeId> = names
        .iter()
        .filter_map(|name| judges.get(name).copied())
        .collect();
    let ensemble = db.ensemble(&counting)?;
    let mut keys: HashMap<String, QueryKey> = HashMap::new();
    for id in order {
        let Some(pool) = gathered
            .get_mut(&id)
            .and_then(|gathered| gathered.pool.take())
        else {
            continue;
        };
        // A dataset imported earlier has the hybrid order, and documents without battles.
        let key = match db.known_query(&id)? {
            Some(key) => {
                same_documents(db, key, &pool)?;
                import.queries_unchanged += 1;
                key
            }
            None => {
                import.queries_added += 1;
                db.add_pool(&pool, dataset)?.key()
            }
        };
        db.set_ensemble(key, ensemble, None)?;
        import.keys.push(key);
        keys.insert(id, key);
    }
    drop(gathered);
    let packer = db.reply_packer()?;
    let mut games = NextGames::default();
    let mut tallies: BTreeMap<QueryKey, CallTally> = BTreeMap::new();
    read_ahead(
        db,
        |ahead| read_votes(second, name, packer, ahead),
        |pair: PackedPair| match keys.get(pair.pair.query_id.as_str()) {
            Some(key) => {
                let tally = tallies.entry(*key).or_default();
                import_votes(db, (*key, tally), pair, &judges, &mut games, &mut import)
            }
            None => Ok(()),
        },
    )??;
    for (key, mut tally) in tallies {
        db.count_calls(key, &mut tally)?;
        db.touch(key)?;
    }
    if !import.keys.is_empty() {
        db.need_estimates()?;
    }
    Ok(import)
}

fn same_documents(db: &Db, key: QueryKey, pool: &Pool) -> Result<(), StoreError> {
    if db.query(key)?.text != pool.query.text {
        let query = pool.query.id.as_str();
        return Err(StoreError::Conflict(format!(
            "the project has a different text for query {query:?}"
        )));
    }
    for document in &pool.documents {
        let position = db.find_document(key, document.id.as_str())?;
        if *db.document_text(key, position)? != *document.content {
            return Err(StoreError::Conflict(format!(
                "query {:?}: the project has a different text for document {:?}",
                pool.query.id.as_str(),
                document.id.as_str()
            )));
        }
    }
    Ok(())
}

/// For each pair, the first game that its next battle in the file may be.
type NextGames = HashMap<(QueryKey, usize, usize), u32>;

/// A pair whose reasonings are packed for the project.
struct PackedPair {
    pair: ZbenchPair,
    /// For each of its votes.
    replies: Vec<Option<PackedAhead>>,
}

/// Hands over the valid pairs of a file, except those of a document with itself.
fn read_votes(
    reader: impl BufRead,
    name: &str,
    mut packer: TextPacker,
    ahead: &mut ReadAhead<PackedPair>,
) -> Result<(), StoreError> {
    let mut texts = TextHashes::default();
    let pairs = ai_scores::read_scored_pairs(reader, name, ExpectedJudges::Any);
    for pair in pairs.filter_map(Result::ok) {
        if texts.contradicted_by(&pair).is_some() || pair.meets_itself() {
            continue;
        }
        let replies = pair.votes.iter().map(|(_, vote)| match vote {
            RecordedVote::Vote { thought, .. } => packer.reasoning(thought),
            RecordedVote::OutOfRange { .. } | RecordedVote::Failure => Ok(None),
        });
        let replies = replies.collect::<Result<_, _>>()?;
        if !ahead.put(PackedPair { pair, replies }) {
            break;
        }
    }
    Ok(())
}

/// Imports one battle's votes into the first of the pair's games in which none of its judges has a
/// different vote. A file can therefore be imported repeatedly, and in addition to votes from
/// elsewhere.
fn import_votes(
    db: &Db,
    (query, tally): (QueryKey, &mut CallTally),
    PackedPair { pair, mut replies }: PackedPair,
    judges: &HashMap<String, JudgeId>,
    games: &mut NextGames,
    import: &mut PoolsImport,
) -> Result<(), StoreError> {
    let a = db.find_document(query, pair.a.id.as_str())?;
    let b = db.find_document(query, pair.b.id.as_str())?;
    let next = games.entry((query, a.min(b), a.max(b))).or_default();
    loop {
        let game = *next;
        *next += 1;
        let (battle, reversed, new) = match db.battle_at(query, a, b, game)? {
            Some((battle, stored_a)) => (battle, stored_a != a, false),
            None => (db.add_fought_battle(query, a, b, game)?, false, true),
        };
        let mut fresh = Vec::new();
        let mut fits = true;
        for (at, (name, vote)) in pair.votes.iter().enumerate() {
            let Some(judge) = judges.get(name).copied() else {
                continue;
            };
            let call = call(battle, judge, vote, reversed);
            if new {
                fresh.push((at, call));
                continue;
            }
            match (&call.result, db.vote_on(battle, judge)?) {
                (
                    CallOutcome::Vote {
                        margin, reasoning, ..
                    },
                    Some((known, known_reasoning)),
                ) => {
                    fits &= known == *margin
                        && (known_reasoning == VoteReasoning::Unkept
                            || known_reasoning.text() == reasoning);
                }
                (CallOutcome::Failure { .. }, Some(_)) => fits = false,
                (CallOutcome::Failure { .. }, None) if db.has_failed(battle, judge)? => {}
                (_, None) => fresh.push((at, call)),
            }
        }
        if !fits {
            continue;
        }
        import.battles += usize::from(new);
        for (at, call) in fresh {
            match call.result {
                CallOutcome::Vote { .. } => import.votes += 1,
                CallOutcome::Failure { .. } => import.failures += 1,
            }
            db.record_packed(&call, replies[at].take(), tally)?;
        }
        return Ok(());
    }
}

/// A recorded vote or failure as a call on a battle, which may be stored in the opposite order.
fn call(battle: BattleId, judge: JudgeId, vote: &RecordedVote, reversed: bool) -> CallRecord {
    let (swapped, result) = match vote {
        RecordedVote::Vote {
            margin,
            swapped,
            thought,
        } => {
            let margin = if reversed { margin.flipped() } else { *margin };
            (*swapped != reversed, recorded_vote(margin, thought))
        }
        RecordedVote::OutOfRange { score, .. } => (
            false,
            failure(format!("recorded score {score} is outside -1..1")),
        ),
        RecordedVote::Failure => {
            let message = "recorded by zBench as score 0 with an empty thought";
            (false, failure(message.to_owned()))
        }
    };
    recorded_call(battle, judge, swapped, now_ms(), result)
}

fn failure(message: String) -> CallOutcome {
    CallOutcome::Failure {
        cause: FailureCause::Malformed,
        message,
    }
}
