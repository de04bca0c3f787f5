//! Votes into rows: pools grow, every vote finds its game, and every person's vote becomes a verdict.

mod games;
mod verdicts;

use super::VotesImport;
use crate::domain::battle::Pair;
use crate::domain::corpus::{Document, JsonObject, Pool, Query};
use crate::domain::vote::JudgeId;
use crate::formats::problem::Problem;
use crate::formats::votes::{ExternalDocument, ExternalVote, VoterKind};
use crate::judge::{JudgeSpec, Usage};
use crate::store::calls::{CallOutcome, CallRecord};
use crate::store::corpus::QueryKey;
use crate::store::{Db, StoreError};
use games::{PairGames, VoteInGame};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use verdicts::ImportedVerdicts;

/// The provider's name of judges whose votes were imported.
const PROVIDER: &str = "import";

/// One file on its way into a project.
pub(super) struct VotesImporter<'a> {
    db: &'a Db,
    /// What the file is called in the project.
    label: &'a str,
    /// When votes and verdicts that say nothing else were given.
    now_ms: i64,
    judges: HashMap<String, JudgeId>,
    /// The file's judges with their names, in order of their first vote.
    seats: Vec<(JudgeId, String)>,
    queries: HashMap<String, ImportedQuery>,
    report: VotesImport,
}

/// A query of the file.
struct ImportedQuery {
    key: QueryKey,
    fresh: bool,
    places: HashMap<String, usize>,
    games: HashMap<Pair, PairGames>,
    said: ImportedVerdicts,
    voted: bool,
    changed: bool,
}

impl<'a> VotesImporter<'a> {
    pub(super) fn new(db: &'a Db, label: &'a str, now_ms: i64) -> Self {
        Self {
            db,
            label,
            now_ms,
            judges: HashMap::new(),
            seats: Vec::new(),
            queries: HashMap::new(),
            report: VotesImport::default(),
        }
    }

    /// Takes every vote, and leaves the lines out that are none.
    pub(super) fn all(
        mut self,
        votes: impl Iterator<Item = Result<ExternalVote, Problem>>,
    ) -> Result<VotesImport, StoreError> {
        let mut bad = BTreeSet::new();
        for vote in votes {
            match vote {
                Ok(vote) => self.take(&vote)?,
                Err(problem) => {
                    bad.insert(problem.line);
                }
            }
        }
        self.report.skipped = bad.len();
        self.finish()
    }

    fn take(&mut self, vote: &ExternalVote) -> Result<(), StoreError> {
        let mut query = match self.queries.remove(vote.query.as_str()) {
            Some(query) => query,
            None => self.query(vote)?,
        };
        let (a, b) = (
            self.place(&mut query, &vote.a)?,
            self.place(&mut query, &vote.b)?,
        );
        match vote.kind {
            VoterKind::Llm => self.vote(&mut query, vote, a, b)?,
            VoterKind::Human => self.verdict(&mut query, vote, a, b)?,
        }
        self.queries.insert(vote.query.as_str().to_owned(), query);
        Ok(())
    }

    /// The vote's query, new or as the project has it.
    fn query(&mut self, vote: &ExternalVote) -> Result<ImportedQuery, StoreError> {
        let id = vote.query.as_str();
        let (key, places, fresh) = match self.db.find_query(id) {
            Ok(key) => {
                self.report.queries_unchanged += 1;
                let documents = self.db.documents(key)?.into_iter().enumerate();
                let places = documents.map(|(at, document)| (document.id.to_string(), at));
                (key, places.collect(), false)
            }
            Err(StoreError::NotFound(_)) => {
                self.report.queries_added += 1;
                let pool = Pool {
                    query: Query {
                        id: vote.query.clone(),
                        text: vote.query_text.clone().unwrap_or_default(),
                        extra: JsonObject::default(),
                    },
                    documents: Vec::new(),
                    extra: JsonObject::default(),
                };
                let key = self.db.add_pool(&pool, self.label)?.key();
                (key, HashMap::new(), true)
            }
            Err(error) => return Err(error),
        };
        Ok(ImportedQuery {
            key,
            fresh,
            places,
            games: HashMap::new(),
            said: ImportedVerdicts::default(),
            voted: false,
            changed: fresh,
        })
    }

    /// A document's position; one that is new goes to the end of the pool.
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
        let place = self.db.add_document(query.key, &added)?;
        query.places.insert(document.id.to_string(), place);
        query.changed = true;
        self.report.documents_added += 1;
        Ok(place)
    }

    fn judge(&mut self, name: &str) -> Result<JudgeId, StoreError> {
        if let Some(judge) = self.judges.get(name) {
            return Ok(*judge);
        }
        let judge = self.db.judge(&recorded(name))?;
        self.judges.insert(name.to_owned(), judge);
        self.seats.push((judge, name.to_owned()));
        self.report.judges.push(name.to_owned());
        Ok(judge)
    }

    /// Stores a model's vote, unless the same is there and no other line stands for it.
    fn vote(
        &mut self,
        query: &mut ImportedQuery,
        vote: &ExternalVote,
        a: usize,
        b: usize,
    ) -> Result<(), StoreError> {
        let judge = self.judge(&vote.by)?;
        query.voted = true;
        let Some(pair) = Pair::new(a, b) else {
            return Ok(());
        };
        let games = match query.games.entry(pair) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) if query.fresh => entry.insert(PairGames::default()),
            Entry::Vacant(entry) => entry.insert(PairGames::stored(self.db, query.key, pair)?),
        };
        let cast = VoteInGame::new(judge, vote, a, b);
        if games.meet(&cast) {
            self.report.unchanged += 1;
            return Ok(());
        }
        let seated = games.seat(&cast, |number| {
            self.report.battles += 1;
            self.db.add_fought_battle(query.key, a, b, number)
        })?;
        self.db.record(&CallRecord {
            battle: seated.battle,
            judge,
            swapped: seated.swapped,
            attempt: 1,
            usage: Usage::default(),
            cost_usd: None,
            latency_ms: None,
            truncated: false,
            call_key: None,
            run: None,
            created_ms: vote.created_ms.unwrap_or(self.now_ms),
            raw: None,
            result: CallOutcome::Vote {
                margin: seated.margin,
                reasoning: vote.reasoning.clone(),
                model: None,
                stop_reason: None,
                request_id: None,
            },
        })?;
        query.changed = true;
        self.report.votes += 1;
        Ok(())
    }

    /// Says whose votes count, and computes what the list of queries shows.
    fn finish(mut self) -> Result<VotesImport, StoreError> {
        let mut queries: Vec<&ImportedQuery> = self.queries.values().collect();
        queries.sort_by_key(|query| query.key);
        let mut changed = Vec::new();
        for query in queries {
            let seated = query.voted && self.seat(query.key)?;
            if query.voted && !self.seats_all(query.key)? {
                self.report.keep_their_judges += 1;
            }
            if query.changed || seated {
                changed.push(query.key);
            }
            self.report.conflicts += self.db.conflicts(Some(query.key))?.len();
        }
        for key in &changed {
            self.db.cache_summary(*key)?;
        }
        if !changed.is_empty() {
            for ensemble in self.db.ensembles_in_force()? {
                if self.db.estimate_phi(ensemble)? {
                    for key in self.db.queries_of(ensemble)? {
                        self.db.cache_summary(key)?;
                    }
                }
            }
        }
        self.report.rule = self.db.final_rule()?;
        Ok(self.report)
    }

    /// Lets the file's judges count for a query beside those of earlier imports, and says whether that changed anything.
    /// Where a run of the project has chosen the judges, they stay; so does a judge whose name is taken.
    fn seat(&self, query: QueryKey) -> Result<bool, StoreError> {
        if self.db.is_planned(query)? {
            return Ok(false);
        }
        let mut seats = self.db.judges_of(query)?;
        let before = seats.len();
        for (judge, name) in &self.seats {
            if seats.iter().all(|(_, spec)| spec.name != *name) {
                seats.push((*judge, recorded(name)));
            }
        }
        let grown = seats.len() > before;
        if grown {
            let seats: Vec<JudgeId> = seats.into_iter().map(|(judge, _)| judge).collect();
            let ensemble = self.db.ensemble(&seats)?;
            self.db.set_ensemble(query, ensemble, None)?;
        }
        Ok(grown)
    }

    fn seats_all(&self, query: QueryKey) -> Result<bool, StoreError> {
        let seated = self.db.judges_of(query)?;
        let counts = |judge: JudgeId| seated.iter().any(|(seat, _)| *seat == judge);
        Ok(self.seats.iter().all(|(judge, _)| counts(*judge)))
    }
}

/// A judge of whom only the name and the votes are known.
fn recorded(name: &str) -> JudgeSpec {
    JudgeSpec {
        name: name.to_owned(),
        provider: PROVIDER.to_owned(),
        model: name.to_owned(),
        prompt_hash: String::new(),
        params: "{}".to_owned(),
    }
}
