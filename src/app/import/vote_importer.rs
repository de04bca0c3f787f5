//! Stores imported votes: adds documents to pools, assigns every vote to a game, and turns every
//! person's vote into a verdict.

use super::imported::VotesImport;
use super::imported_verdicts::ImportedVerdicts;
use super::pair_games::{PairGames, VoteInGame};
use super::recorded_call::{recorded_call, recorded_judge, recorded_vote};
use crate::domain::battle::{BattleId, Pair};
use crate::domain::corpus::{Document, JsonObject, Pool, Query};
use crate::domain::vote::{JudgeId, Margin};
use crate::formats::votes::{
    ExternalAnswer, ExternalDocument, ExternalVote, RecordedFailure, text_hash,
};
use crate::judge::{FailureCause, JudgeSpec};
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::store::votes::{CallOutcome, CallTally, PackedAhead, TextPacker};
use crate::store::{Db, StoreError};
use serde_json::Value;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Provider name of judges whose votes were imported.
const PROVIDER: &str = "import";

/// The import of one file into a project.
pub(super) struct VotesImporter<'a> {
    db: &'a Db,
    /// Name of the file in the project.
    dataset: &'a str,
    /// Time of votes and verdicts that state no other time.
    now_ms: i64,
    /// By name, and by provider if the file states it.
    judges: HashMap<(String, Option<String>), Vec<JudgeId>>,
    /// The row IDs of the file's judges with their names, in order of their first vote.
    file_judges: Vec<(Vec<JudgeId>, String)>,
    queries: HashMap<String, ImportedQuery>,
    bad_lines: BTreeSet<Option<u64>>,
    report: VotesImport,
}

/// A line of a file.
pub(super) enum ReadVote {
    Vote(Box<PackedVote>),
    /// The line has this number and is no vote.
    Problem(Option<u64>),
}

/// A vote with its reasoning packed for the project.
pub(super) struct PackedVote {
    vote: ExternalVote,
    /// The hash of the reasoning.
    reasoning: [u8; 32],
    reply: Option<PackedAhead>,
}

impl PackedVote {
    pub(super) fn of(vote: ExternalVote, packer: &mut TextPacker) -> Result<Self, StoreError> {
        let is_vote = matches!(vote.answer, ExternalAnswer::Vote(_));
        let text = if is_vote { vote.reasoning.as_str() } else { "" };
        Ok(Self {
            reasoning: text_hash(text),
            reply: packer.reasoning(text)?,
            vote,
        })
    }
}

struct ImportedQuery {
    key: QueryKey,
    fresh: bool,
    places: HashMap<String, usize>,
    games: HashMap<Pair, PairGames>,
    verdicts: ImportedVerdicts,
    /// Judges whose votes did not count in the exporting project.
    not_counting: HashSet<JudgeId>,
    tally: CallTally,
    voted: bool,
    changed: bool,
}

impl ImportedQuery {
    /// Records that judges have voted, and whether they counted in the exporting project.
    fn met(&mut self, vote: &ExternalVote, judges: &[JudgeId]) {
        self.voted = true;
        if vote.exported.as_ref().is_some_and(|place| !place.counts) {
            self.not_counting.extend(judges);
        }
    }

    /// The battles of a pair.
    fn games(&mut self, db: &Db, pair: Pair) -> Result<&mut PairGames, StoreError> {
        Ok(match self.games.entry(pair) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) if self.fresh => entry.insert(PairGames::default()),
            Entry::Vacant(entry) => entry.insert(PairGames::stored(db, self.key, pair)?),
        })
    }
}

impl<'a> VotesImporter<'a> {
    pub(super) fn new(db: &'a Db, dataset: &'a str, now_ms: i64) -> Self {
        Self {
            db,
            dataset,
            now_ms,
            judges: HashMap::new(),
            file_judges: Vec::new(),
            queries: HashMap::new(),
            bad_lines: BTreeSet::new(),
            report: VotesImport::default(),
        }
    }

    /// Adds a vote, or counts a line that is none.
    pub(super) fn add(&mut self, read: ReadVote) -> Result<(), StoreError> {
        let PackedVote {
            vote,
            reasoning,
            reply,
        } = match read {
            ReadVote::Vote(vote) => *vote,
            ReadVote::Problem(line) => {
                self.bad_lines.insert(line);
                return Ok(());
            }
        };
        let mut query = match self.queries.remove(vote.query.as_str()) {
            Some(query) => query,
            None => self.query(&vote)?,
        };
        if let Some(pool) = vote.exported.as_ref().and_then(|place| place.pool.as_ref()) {
            for document in &pool.documents {
                self.place_document(&mut query, document)?;
            }
        }
        let (a, b) = (
            self.place(&mut query, &vote.a)?,
            self.place(&mut query, &vote.b)?,
        );
        match &vote.answer {
            ExternalAnswer::Vote(score) => {
                let score = (*score, reasoning, reply);
                self.add_vote(&mut query, &vote, score, a, b)?;
            }
            ExternalAnswer::Failure(failure) => {
                self.add_failure(&mut query, &vote, failure, a, b)?;
            }
            ExternalAnswer::Verdict(score) => {
                self.add_verdict(&mut query, &vote, *score, a, b)?;
            }
        }
        self.queries.insert(vote.query.as_str().to_owned(), query);
        Ok(())
    }

    /// The vote's query, either a new one or the one in the project.
    fn query(&mut self, vote: &ExternalVote) -> Result<ImportedQuery, StoreError> {
        let id = vote.query.as_str();
        let (key, places, fresh) = match self.db.known_query(id)? {
            Some(key) => {
                self.report.queries_unchanged += 1;
                let places = self
                    .db
                    .documents(key)?
                    .into_iter()
                    .enumerate()
                    .map(|(at, document)| (document.id.to_string(), at));
                (key, places.collect(), false)
            }
            None => {
                self.report.queries_added += 1;
                let exported = vote
                    .exported
                    .as_ref()
                    .and_then(|place| place.pool.as_deref());
                let pool = match exported {
                    Some(pool) => pool.clone(),
                    None => Pool {
                        query: Query {
                            id: vote.query.clone(),
                            text: vote.query_text.clone().unwrap_or_default(),
                            extra: JsonObject::default(),
                        },
                        documents: Vec::new(),
                        extra: JsonObject::default(),
                    },
                };
                let key = self.db.add_pool(&pool, self.dataset)?.key();
                self.report.documents_added += pool.documents.len();
                let places = pool
                    .documents
                    .iter()
                    .enumerate()
                    .map(|(at, document)| (document.id.to_string(), at));
                (key, places.collect(), true)
            }
        };
        Ok(ImportedQuery {
            key,
            fresh,
            places,
            games: HashMap::new(),
            verdicts: ImportedVerdicts::default(),
            not_counting: HashSet::new(),
            tally: CallTally::default(),
            voted: false,
            changed: fresh,
        })
    }

    /// A document's position; a new document is appended to the pool.
    fn place(
        &mut self,
        query: &mut ImportedQuery,
        document: &ExternalDocument,
    ) -> Result<usize, StoreError> {
        if let Some(place) = query.places.get(document.id.as_str()) {
            return Ok(*place);
        }
        let added = Document {
            id: document.id.clone(),
            title: None,
            content: document.content.clone().unwrap_or_default(),
            metadata: JsonObject::default(),
            extra: JsonObject::default(),
            input_score: None,
        };
        self.place_document(query, &added)
    }

    fn place_document(
        &mut self,
        query: &mut ImportedQuery,
        document: &Document,
    ) -> Result<usize, StoreError> {
        if let Some(place) = query.places.get(document.id.as_str()) {
            return Ok(*place);
        }
        let place = self.db.add_document(query.key, document)?;
        query.places.insert(document.id.to_string(), place);
        query.changed = true;
        self.report.documents_added += 1;
        Ok(place)
    }

    /// The row IDs of a vote's judge: a single one, unless the vote was exported and the project
    /// has several judges with that name.
    fn judges(&mut self, vote: &ExternalVote) -> Result<Vec<JudgeId>, StoreError> {
        let provider = vote.exported.as_ref().map(|place| place.provider.clone());
        let key = (vote.by.clone(), provider);
        if let Some(judges) = self.judges.get(&key) {
            return Ok(judges.clone());
        }
        let judges = match &vote.exported {
            None => vec![self.db.judge(&external_judge(&vote.by))?],
            Some(place) => {
                let known = self.db.all_judges()?.into_iter();
                let known = known
                    .filter(|(_, spec)| spec.name == vote.by && spec.provider == place.provider);
                let known: Vec<JudgeId> = known.map(|(judge, _)| judge).collect();
                if known.is_empty() {
                    let spec = recorded_judge(&vote.by, &place.provider, &place.model);
                    vec![self.db.judge(&spec)?]
                } else {
                    known
                }
            }
        };
        self.file_judges.push((judges.clone(), vote.by.clone()));
        self.report.judges.push(vote.by.clone());
        self.judges.insert(key, judges.clone());
        Ok(judges)
    }

    /// Stores a model's vote, unless an identical one exists that no other line matches.
    fn add_vote(
        &mut self,
        query: &mut ImportedQuery,
        vote: &ExternalVote,
        (score, reasoning, reply): (Margin, [u8; 32], Option<PackedAhead>),
        a: usize,
        b: usize,
    ) -> Result<(), StoreError> {
        let judges = self.judges(vote)?;
        query.met(vote, &judges);
        let Some(pair) = Pair::new(a, b) else {
            return Ok(());
        };
        let key = query.key;
        let games = query.games(self.db, pair)?;
        let in_game = |judge| VoteInGame::new(judge, vote, (score, reasoning), a, b);
        let mut known = judges.iter().map(|judge| in_game(*judge));
        if known.any(|vote| games.matches(&vote)) {
            self.report.unchanged += 1;
            return Ok(());
        }
        let judge = judges[0];
        let placed = games.place(&in_game(judge), |number| {
            self.report.battles += 1;
            self.db.add_fought_battle(key, a, b, number)
        })?;
        self.ask(placed.battle, placed.partial.then_some(judge), vote)?;
        let call = recorded_call(
            placed.battle,
            judge,
            placed.swapped,
            vote.created_ms.unwrap_or(self.now_ms),
            recorded_vote(placed.margin, ""),
        );
        self.db.record_packed(&call, reply, &mut query.tally)?;
        query.changed = true;
        self.report.votes += 1;
        let is_graded = ![0.0, 1.0].contains(&score.get().abs());
        self.report.graded += usize::from(is_graded && vote.exported.is_none());
        Ok(())
    }

    /// Stores a failed call of an export, unless the project already has that failure, or a vote of
    /// the judge.
    fn add_failure(
        &mut self,
        query: &mut ImportedQuery,
        vote: &ExternalVote,
        failure: &RecordedFailure,
        a: usize,
        b: usize,
    ) -> Result<(), StoreError> {
        let judges = self.judges(vote)?;
        query.met(vote, &judges);
        let Some(pair) = Pair::new(a, b) else {
            return Ok(());
        };
        let game = vote.exported.as_ref().map_or(0, |place| place.game);
        let key = query.key;
        let games = query.games(self.db, pair)?;
        let place = games.place_failure(&judges, game, a, |number| {
            self.report.battles += 1;
            self.db.add_fought_battle(key, a, b, number)
        })?;
        let failed = |battle| {
            let failures = judges
                .iter()
                .map(|judge| self.db.has_failed(battle, *judge));
            failures.collect::<Result<Vec<_>, _>>()
        };
        let (battle, stored_a) = match place {
            Some((battle, stored_a)) if !failed(battle)?.contains(&true) => (battle, stored_a),
            _ => {
                self.report.unchanged += 1;
                return Ok(());
            }
        };
        self.ask(battle, None, vote)?;
        let known = serde_json::from_value(Value::String(failure.cause.clone()));
        let (cause, message) = match known {
            Ok(cause) => (cause, failure.message.clone()),
            Err(_) => (
                FailureCause::Malformed,
                format!("{}: {}", failure.cause, failure.message),
            ),
        };
        let swapped = vote.swapped != (stored_a != a);
        let outcome = CallOutcome::Failure { cause, message };
        self.db.record(&recorded_call(
            battle,
            judges[0],
            swapped,
            self.now_ms,
            outcome,
        ))?;
        query.changed = true;
        self.report.failures += 1;
        Ok(())
    }

    /// Records which judges a battle is meant for, if not for all: those that the export names, or
    /// the one that has voted again.
    fn ask(
        &self,
        battle: BattleId,
        again: Option<JudgeId>,
        vote: &ExternalVote,
    ) -> Result<(), StoreError> {
        let asked = vote
            .exported
            .as_ref()
            .and_then(|place| place.asked.as_ref());
        let mut judges: Vec<JudgeId> = again.into_iter().collect();
        for name in asked.into_iter().flatten() {
            let named = |((known, _), rows): (&(String, Option<String>), &Vec<JudgeId>)| {
                (known == name).then(|| rows[0])
            };
            judges.extend(self.judges.iter().find_map(named));
        }
        for judge in judges {
            self.db.ask(battle, judge)?;
        }
        Ok(())
    }

    fn add_verdict(
        &mut self,
        query: &mut ImportedQuery,
        vote: &ExternalVote,
        score: Margin,
        a: usize,
        b: usize,
    ) -> Result<(), StoreError> {
        if !self.report.annotators.contains(&vote.by) {
            self.report.annotators.push(vote.by.clone());
        }
        let (uid, verdict) = query.verdicts.verdict(vote, score, a, b);
        let verdict = NewVerdict {
            query: query.key,
            created_ms: vote.created_ms.unwrap_or(self.now_ms),
            ..verdict
        };
        let verdicts = &mut query.verdicts;
        if verdicts.is_given(self.db, &uid, &verdict, vote.created_ms)? {
            self.report.unchanged += 1;
            self.report.given_before += 1;
            return Ok(());
        }
        let added = self.db.add_verdict_as(&uid, &verdict)?;
        if added {
            query.verdicts.changed(&verdict);
            self.report.verdicts += 1
        } else {
            self.report.unchanged += 1
        }
        query.changed |= added;
        Ok(())
    }

    /// Sets whose votes count.
    pub(super) fn finish(mut self) -> Result<VotesImport, StoreError> {
        let mut queries: Vec<ImportedQuery> =
            std::mem::take(&mut self.queries).into_values().collect();
        queries.sort_by_key(|query| query.key);
        let mut changed = false;
        for mut query in queries {
            if query.changed {
                self.db.count_calls(query.key, &mut query.tally)?;
                self.db.touch(query.key)?;
            }
            let newly_counting = query.voted && self.let_count(&query)?;
            if query.voted && !self.all_count_for(&query)? {
                self.report.keep_their_judges += 1;
            }
            changed |= query.changed || newly_counting;
            self.report.conflicts += self.db.conflicts(Some(query.key))?.len();
        }
        if changed {
            self.db.need_estimates()?;
        }
        self.report.skipped = self.bad_lines.len();
        self.report.rule = self.db.final_rule()?;
        self.report.vote_rule = self.db.settings()?.vote_rule;
        Ok(self.report)
    }

    /// Makes the file's judges count for a query, in addition to those of earlier imports, and
    /// returns whether that changed anything. If a run of the project has chosen the judges, they
    /// are kept, and a judge whose name is already used is not added.
    fn let_count(&self, query: &ImportedQuery) -> Result<bool, StoreError> {
        if self.db.is_planned(query.key)? {
            return Ok(false);
        }
        let known = self.db.judges_of(query.key)?;
        let mut counting: Vec<(JudgeId, String)> = known
            .into_iter()
            .map(|(judge, spec)| (judge, spec.name))
            .collect();
        let before = counting.len();
        for (judges, name) in &self.file_judges {
            let counted = judges
                .iter()
                .find(|judge| !query.not_counting.contains(judge));
            if let Some(judge) = counted
                && counting.iter().all(|(_, taken)| taken != name)
            {
                counting.push((*judge, name.clone()));
            }
        }
        let grown = counting.len() > before;
        if grown {
            let counting: Vec<JudgeId> = counting.into_iter().map(|(judge, _)| judge).collect();
            let ensemble = self.db.ensemble(&counting)?;
            self.db.set_ensemble(query.key, ensemble, None)?;
        }
        Ok(grown)
    }

    fn all_count_for(&self, query: &ImportedQuery) -> Result<bool, StoreError> {
        let counting = self.db.judges_of(query.key)?;
        let fine = |judge: &JudgeId| {
            query.not_counting.contains(judge) || counting.iter().any(|(id, _)| id == judge)
        };
        Ok(self
            .file_judges
            .iter()
            .all(|(judges, _)| judges.iter().any(fine)))
    }
}

/// A judge of which only the name and the votes are known.
fn external_judge(name: &str) -> JudgeSpec {
    recorded_judge(name, PROVIDER, name)
}
