//! Votes into rows: pools grow, every vote finds its game, and every person's vote becomes a verdict.

use super::Report;
use crate::domain::battle::BattleId;
use crate::domain::corpus::{Document, JsonObject, Pool, Query};
use crate::domain::verdict::Decision;
use crate::domain::vote::{JudgeId, Margin, Outcome};
use crate::formats::foreign::{ForeignDocument, ForeignVote, Kind, hash};
use crate::formats::problem::Problem;
use crate::judge::{JudgeSpec, Usage};
use crate::store::calls::{CallRecord, CallResult};
use crate::store::corpus::QueryKey;
use crate::store::verdicts::NewVerdict;
use crate::store::{Db, StoreError};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// The provider's name of judges whose votes were imported.
const PROVIDER: &str = "import";

/// One file on its way into a project.
pub(super) struct Taking<'a> {
    db: &'a Db,
    /// What the file is called in the project.
    label: &'a str,
    /// When votes and verdicts that say nothing else were given.
    now_ms: i64,
    judges: HashMap<String, JudgeId>,
    seats: Vec<JudgeId>,
    queries: HashMap<String, Taken>,
    report: Report,
}

/// A query of the file.
struct Taken {
    key: QueryKey,
    fresh: bool,
    places: HashMap<String, usize>,
    games: HashMap<(usize, usize), Vec<Game>>,
    people: People,
    voted: bool,
    changed: bool,
}

/// What the file's people have said of a query so far.
#[derive(Default)]
struct People {
    /// How often each verdict was given, word for word.
    given: HashMap<[u8; 32], u32>,
    /// The latest that does not say when it was given, by annotator and pair.
    latest: HashMap<(String, usize, usize), String>,
}

/// A battle of a pair.
struct Game {
    battle: BattleId,
    a: usize,
    number: u32,
    votes: Vec<Known>,
}

/// A vote that is stored. `met` says that a line of the file stands for it.
struct Known {
    judge: JudgeId,
    first: usize,
    /// Oriented to the battle.
    margin: Margin,
    reasoning: [u8; 32],
    met: bool,
}

impl<'a> Taking<'a> {
    pub(super) fn new(db: &'a Db, label: &'a str, now_ms: i64) -> Self {
        Self {
            db,
            label,
            now_ms,
            judges: HashMap::new(),
            seats: Vec::new(),
            queries: HashMap::new(),
            report: Report::default(),
        }
    }

    /// Takes every vote, and leaves the lines out that are none.
    pub(super) fn all(
        mut self,
        votes: impl Iterator<Item = Result<ForeignVote, Problem>>,
    ) -> Result<Report, StoreError> {
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

    fn take(&mut self, vote: &ForeignVote) -> Result<(), StoreError> {
        let mut query = match self.queries.remove(vote.query.as_str()) {
            Some(query) => query,
            None => self.query(vote)?,
        };
        let (a, b) = (
            self.place(&mut query, &vote.a)?,
            self.place(&mut query, &vote.b)?,
        );
        match vote.kind {
            Kind::Llm => self.vote(&mut query, vote, a, b)?,
            Kind::Human => self.verdict(&mut query, vote, a, b)?,
        }
        self.queries.insert(vote.query.as_str().to_owned(), query);
        Ok(())
    }

    /// The vote's query, new or as the project has it.
    fn query(&mut self, vote: &ForeignVote) -> Result<Taken, StoreError> {
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
        Ok(Taken {
            key,
            fresh,
            places,
            games: HashMap::new(),
            people: People::default(),
            voted: false,
            changed: fresh,
        })
    }

    /// A document's position; one that is new goes to the end of the pool.
    fn place(
        &mut self,
        query: &mut Taken,
        document: &ForeignDocument,
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
        let judge = self.db.judge(&JudgeSpec {
            name: name.to_owned(),
            provider: PROVIDER.to_owned(),
            model: name.to_owned(),
            prompt_hash: String::new(),
            params: "{}".to_owned(),
        })?;
        self.judges.insert(name.to_owned(), judge);
        self.seats.push(judge);
        self.report.judges.push(name.to_owned());
        Ok(judge)
    }

    /// Stores a model's vote, unless the same is there and no other line stands for it. It goes into the first game that
    /// the judge has not voted in and whose voters saw the same document first, or else into another game.
    fn vote(
        &mut self,
        query: &mut Taken,
        vote: &ForeignVote,
        a: usize,
        b: usize,
    ) -> Result<(), StoreError> {
        let judge = self.judge(&vote.by)?;
        query.voted = true;
        let (first, reasoning) = (if vote.swapped { b } else { a }, hash(&vote.reasoning));
        let games = match query.games.entry((a.min(b), a.max(b))) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) if query.fresh => entry.insert(Vec::new()),
            Entry::Vacant(entry) => entry.insert(stored_games(self.db, query.key, a, b)?),
        };
        let oriented = |game: &Game| match game.a == a {
            true => vote.score,
            false => vote.score.flipped(),
        };
        for game in games.iter_mut() {
            let margin = oriented(game);
            let same = game.votes.iter_mut().find(|known| {
                !known.met
                    && (known.judge, known.first, known.margin) == (judge, first, margin)
                    && known.reasoning == reasoning
            });
            if let Some(known) = same {
                known.met = true;
                self.report.unchanged += 1;
                return Ok(());
            }
        }
        let free = games.iter().position(|game| {
            let shown_alike = game.votes.iter().any(|known| known.first == first);
            let voted = game.votes.iter().any(|known| known.judge == judge);
            !voted && (shown_alike || game.votes.is_empty())
        });
        let at = match free {
            Some(at) => at,
            None => {
                let number = games.last().map_or(0, |game| game.number + 1);
                games.push(Game {
                    battle: self.db.add_fought_battle(query.key, a, b, number)?,
                    a,
                    number,
                    votes: Vec::new(),
                });
                self.report.battles += 1;
                games.len() - 1
            }
        };
        let Some(game) = games.get_mut(at) else {
            return Ok(());
        };
        let margin = oriented(game);
        game.votes.push(Known {
            judge,
            first,
            margin,
            reasoning,
            met: true,
        });
        self.db.record(&CallRecord {
            battle: game.battle,
            judge,
            swapped: first != game.a,
            attempt: 1,
            usage: Usage::default(),
            cost_usd: None,
            latency_ms: None,
            truncated: false,
            call_key: None,
            run: None,
            created_ms: vote.created_ms.unwrap_or(self.now_ms),
            raw: None,
            result: CallResult::Vote {
                margin,
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

    /// Stores a person's vote as a verdict on the pair as it was shown to them. Its identifier follows from the line, so
    /// that the same line is the same verdict in every project.
    fn verdict(
        &mut self,
        query: &mut Taken,
        vote: &ForeignVote,
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
        let people = &mut query.people;
        let before = people.given.entry(hash(&line.to_string())).or_default();
        let uid = uid(&format!("{line} {before}"));
        *before += 1;
        // Verdicts without a time follow each other as their lines do.
        let replaces = match vote.created_ms {
            Some(_) => None,
            None => {
                let whose = (vote.by.clone(), a.min(b), a.max(b));
                people.latest.insert(whose, uid.clone())
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
    fn finish(mut self) -> Result<Report, StoreError> {
        let mut queries: Vec<&Taken> = self.queries.values().collect();
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
    /// Where a run of the project has chosen the judges, they stay.
    fn seat(&self, query: QueryKey) -> Result<bool, StoreError> {
        if self.db.is_planned(query)? {
            return Ok(false);
        }
        let mut seats: Vec<JudgeId> = self.seated(query)?;
        let before = seats.len();
        for judge in &self.seats {
            if !seats.contains(judge) {
                seats.push(*judge);
            }
        }
        if seats.len() > before {
            let ensemble = self.db.ensemble(&seats)?;
            self.db.set_ensemble(query, ensemble, None)?;
        }
        Ok(seats.len() > before)
    }

    fn seats_all(&self, query: QueryKey) -> Result<bool, StoreError> {
        let seated = self.seated(query)?;
        Ok(self.seats.iter().all(|judge| seated.contains(judge)))
    }

    fn seated(&self, query: QueryKey) -> Result<Vec<JudgeId>, StoreError> {
        let judges = self.db.judges_of(query)?.into_iter();
        Ok(judges.map(|(judge, _)| judge).collect())
    }
}

fn stored_games(db: &Db, query: QueryKey, a: usize, b: usize) -> Result<Vec<Game>, StoreError> {
    let games = db.games(query, a, b)?.into_iter();
    Ok(games
        .map(|game| {
            let other = if game.a == a { b } else { a };
            let votes = game.votes.into_iter().map(|(vote, reasoning)| Known {
                judge: vote.judge,
                first: if vote.swapped { other } else { game.a },
                margin: vote.margin,
                reasoning: hash(&reasoning),
                met: false,
            });
            Game {
                battle: game.battle,
                a: game.a,
                number: game.game,
                votes: votes.collect(),
            }
        })
        .collect())
}

/// An identifier that is the same for the same text, in the form of the others.
fn uid(text: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash(text)[..16]);
    uuid::Builder::from_custom_bytes(bytes)
        .into_uuid()
        .to_string()
}
