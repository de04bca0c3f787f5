//! Votes into rows: pools grow, every vote finds its game, and every person's vote becomes a verdict.

use super::imported::VotesImport;
use super::pair_games::{PairGames, VoteInGame};
use super::recorded_call::{recorded_call, recorded_judge, recorded_vote};
use crate::domain::battle::Pair;
use crate::domain::corpus::{Document, JsonObject, Pool, Query};
use crate::domain::verdict::Decision;
use crate::domain::vote::{JudgeId, Outcome};
use crate::formats::problem::Problem;
use crate::formats::votes::{ExternalDocument, ExternalVote, VoterKind, text_hash};
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::store::{Db, StoreError};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// The provider's name of judges whose votes were imported.
const PROVIDER: &str = "import";

/// One file on its way into a project.
pub(super) struct VotesImporter<'a> {
    db: &'a Db,
    /// What the file is called in the project.
    dataset: &'a str,
    /// When votes and verdicts that say nothing else were given.
    now_ms: i64,
    judges: HashMap<String, JudgeId>,
    /// The file's judges with their names, in order of their first vote.
    file_judges: Vec<(JudgeId, String)>,
    queries: HashMap<String, ImportedQuery>,
    report: VotesImport,
}

struct ImportedQuery {
    key: QueryKey,
    fresh: bool,
    places: HashMap<String, usize>,
    games: HashMap<Pair, PairGames>,
    verdicts: ImportedVerdicts,
    voted: bool,
    changed: bool,
}

/// What the file's people have said of a query so far.
#[derive(Default)]
struct ImportedVerdicts {
    /// How often each verdict was given, word for word.
    given: HashMap<[u8; 32], u32>,
    /// The latest that does not say when it was given, by annotator and pair.
    latest: HashMap<(String, usize, usize), String>,
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
            report: VotesImport::default(),
        }
    }

    /// Imports every vote, and leaves the lines out that are none.
    pub(super) fn import(
        mut self,
        votes: impl Iterator<Item = Result<ExternalVote, Problem>>,
    ) -> Result<VotesImport, StoreError> {
        let mut bad = BTreeSet::new();
        for vote in votes {
            match vote {
                Ok(vote) => self.add(&vote)?,
                Err(problem) => {
                    bad.insert(problem.line);
                }
            }
        }
        self.report.skipped = bad.len();
        self.finish()
    }

    fn add(&mut self, vote: &ExternalVote) -> Result<(), StoreError> {
        let mut query = match self.queries.remove(vote.query.as_str()) {
            Some(query) => query,
            None => self.query(vote)?,
        };
        let (a, b) = (
            self.place(&mut query, &vote.a)?,
            self.place(&mut query, &vote.b)?,
        );
        match vote.kind {
            VoterKind::Llm => self.add_vote(&mut query, vote, a, b)?,
            VoterKind::Human => self.add_verdict(&mut query, vote, a, b)?,
        }
        self.queries.insert(vote.query.as_str().to_owned(), query);
        Ok(())
    }

    /// The vote's query, new or as the project has it.
    fn query(&mut self, vote: &ExternalVote) -> Result<ImportedQuery, StoreError> {
        let id = vote.query.as_str();
        let (key, places, fresh) = match self.db.known_query(id)? {
            Some(key) => {
                self.report.queries_unchanged += 1;
                let documents = self.db.documents(key)?.into_iter().enumerate();
                let places = documents.map(|(at, document)| (document.id.to_string(), at));
                (key, places.collect(), false)
            }
            None => {
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
                let key = self.db.add_pool(&pool, self.dataset)?.key();
                (key, HashMap::new(), true)
            }
        };
        Ok(ImportedQuery {
            key,
            fresh,
            places,
            games: HashMap::new(),
            verdicts: ImportedVerdicts::default(),
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
        let judge = self.db.judge(&external_judge(name))?;
        self.judges.insert(name.to_owned(), judge);
        self.file_judges.push((judge, name.to_owned()));
        self.report.judges.push(name.to_owned());
        Ok(judge)
    }

    /// Stores a model's vote, unless the same is there and no other line stands for it.
    fn add_vote(
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
        let in_game = VoteInGame::new(judge, vote, a, b);
        if games.matches(&in_game) {
            self.report.unchanged += 1;
            return Ok(());
        }
        let placed = games.place(&in_game, |number| {
            self.report.battles += 1;
            self.db.add_fought_battle(query.key, a, b, number)
        })?;
        self.db.record(&recorded_call(
            placed.battle,
            judge,
            placed.swapped,
            vote.created_ms.unwrap_or(self.now_ms),
            recorded_vote(placed.margin, &vote.reasoning),
        ))?;
        query.changed = true;
        self.report.votes += 1;
        Ok(())
    }

    /// Stores a person's vote as a verdict on the pair as it was shown to them. Its identifier follows from the line, so
    /// that the same line is the same verdict in every project.
    fn add_verdict(
        &mut self,
        query: &mut ImportedQuery,
        vote: &ExternalVote,
        a: usize,
        b: usize,
    ) -> Result<(), StoreError> {
        if !self.report.annotators.contains(&vote.by) {
            self.report.annotators.push(vote.by.clone());
        }
        let straight = match vote.score.outcome() {
            Outcome::A => Decision::A,
            Outcome::Tie => Decision::Tie,
            Outcome::B => Decision::B,
        };
        let (shown, decision) = match vote.swapped {
            false => ((a, b), straight),
            true => ((b, a), straight.flipped()),
        };
        let line = serde_json::json!([
            vote.query,
            vote.a.id,
            vote.b.id,
            vote.by,
            straight,
            vote.swapped,
            vote.reasoning,
            vote.created_ms,
        ]);
        let verdicts = &mut query.verdicts;
        let before = verdicts
            .given
            .entry(text_hash(&line.to_string()))
            .or_default();
        let uid = uid(&format!("{line} {before}"));
        *before += 1;
        // Verdicts without a time follow each other as their lines do.
        let replaces = match vote.created_ms {
            Some(_) => None,
            None => {
                let whose = (vote.by.clone(), a.min(b), a.max(b));
                verdicts.latest.insert(whose, uid.clone())
            }
        };
        let added = self.db.add_verdict_as(
            &uid,
            &NewVerdict {
                query: query.key,
                a: shown.0,
                b: shown.1,
                decision,
                note: Some(vote.reasoning.clone()).filter(|note| !note.is_empty()),
                annotator: vote.by.clone(),
                blind: true,
                created_ms: vote.created_ms.unwrap_or(self.now_ms),
                role: Some("import".to_owned()),
                replaces,
                ..NewVerdict::default()
            },
        )?;
        match added {
            true => self.report.verdicts += 1,
            false => self.report.unchanged += 1,
        }
        query.changed |= added;
        Ok(())
    }

    /// Says whose votes count, and computes what the list of queries shows.
    fn finish(mut self) -> Result<VotesImport, StoreError> {
        let mut queries: Vec<&ImportedQuery> = self.queries.values().collect();
        queries.sort_by_key(|query| query.key);
        let mut changed = Vec::new();
        for query in queries {
            let newly_counting = query.voted && self.let_count(query.key)?;
            if query.voted && !self.all_count_for(query.key)? {
                self.report.keep_their_judges += 1;
            }
            if query.changed || newly_counting {
                changed.push(query.key);
            }
            self.report.conflicts += self.db.conflicts(Some(query.key))?.len();
        }
        self.db.cache_changed(&changed)?;
        self.report.rule = self.db.final_rule()?;
        Ok(self.report)
    }

    /// Lets the file's judges count for a query beside those of earlier imports, and says whether that changed anything.
    /// Where a run of the project has chosen the judges, they stay; so does a judge whose name is taken.
    fn let_count(&self, query: QueryKey) -> Result<bool, StoreError> {
        if self.db.is_planned(query)? {
            return Ok(false);
        }
        let mut counting = self.db.judges_of(query)?;
        let before = counting.len();
        for (judge, name) in &self.file_judges {
            if counting.iter().all(|(_, spec)| spec.name != *name) {
                counting.push((*judge, external_judge(name)));
            }
        }
        let grown = counting.len() > before;
        if grown {
            let counting: Vec<JudgeId> = counting.into_iter().map(|(judge, _)| judge).collect();
            let ensemble = self.db.ensemble(&counting)?;
            self.db.set_ensemble(query, ensemble, None)?;
        }
        Ok(grown)
    }

    fn all_count_for(&self, query: QueryKey) -> Result<bool, StoreError> {
        let counting = self.db.judges_of(query)?;
        let counts = |judge: JudgeId| counting.iter().any(|(id, _)| *id == judge);
        Ok(self.file_judges.iter().all(|(judge, _)| counts(*judge)))
    }
}

/// A judge of whom only the name and the votes are known.
fn external_judge(name: &str) -> JudgeSpec {
    recorded_judge(name, PROVIDER, name)
}

/// An identifier that is the same for the same text, in the form of the others.
fn uid(text: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&text_hash(text)[..16]);
    uuid::Builder::from_custom_bytes(bytes)
        .into_uuid()
        .to_string()
}
