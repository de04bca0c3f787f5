//! One pair of documents submitted to the judges by hand: who is asked, and in which order of the
//! documents.
//!
//! The query keeps its judges, its seed and its plan. A pair is asked about once in each order; if
//! both orders have been judged, there is nothing more to ask. Offline judges do not depend on the
//! order and are asked once.

use super::estimate::CostEstimate;
use super::request::RunRequest;
use crate::app::error::{AppError, invalid};
use crate::app::text_format::first_names;
use crate::domain::battle::Pair;
use crate::domain::sampling::{MAX_GAMES, PlannedBattle, SeenOrders};
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::corpus::QueryKey;
use crate::store::outstanding::CallSelection;
use crate::store::{Db, Store};

/// A question about one pair that can be sent to judges.
#[derive(Clone, Debug, PartialEq)]
pub struct PairQuestion {
    pub query: QueryKey,
    pub battle: PlannedBattle,
    /// Names of the judges to ask.
    pub judges: Vec<String>,
    /// Names of the query's judges that cannot be asked now.
    pub absent: Vec<String>,
}

/// A question with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct PricedQuestion {
    pub question: PairQuestion,
    pub estimate: CostEstimate,
}

impl PairQuestion {
    /// Determines what may still be asked about a pair, of those of the query's judges that are in
    /// `specs`, or of all `specs` if the query has no judges yet.
    ///
    /// # Errors
    /// The query has other judges, or each has judged the pair in both orders (offline judges: in
    /// one).
    pub fn of(db: &Db, query: QueryKey, pair: Pair, specs: &[JudgeSpec]) -> Result<Self, AppError> {
        let of_query = db.judges_of(query)?;
        let known = db.known_judges(specs)?;
        let is_of_query = |judge: &JudgeId| of_query.iter().any(|(id, _)| id == judge);
        let seats: Vec<usize> = if of_query.is_empty() {
            (0..specs.len()).collect()
        } else {
            (0..specs.len())
                .filter(|at| is_of_query(&known[*at]))
                .collect()
        };
        let absent = of_query.iter().filter(|(id, _)| !known.contains(id));
        let absent: Vec<String> = absent.map(|(_, spec)| spec.name.clone()).collect();
        if seats.is_empty() {
            return Err(invalid!(
                "no judge of this query can be asked: {} dropped, not chosen or not configured. A \
                 run with the current judges asks about all pairs of the query",
                match absent.len() {
                    1 => format!("{} is", first_names(&absent)),
                    _ => format!("{} are", first_names(&absent)),
                }
            ));
        }
        let votes = db.shown_of_pair(query, pair)?;
        // A judge that was shown the pair in both orders has nothing more to say about it, whether
        // or not both answers count. Offline judges do not depend on the order: if asked again,
        // they would count twice.
        let can_be_asked = |at: usize, game: u32| {
            let mut seen = SeenOrders::default();
            votes
                .iter()
                .filter(|(_, judge, _)| *judge == known[at])
                .for_each(|(_, _, later_first)| seen.add(*later_first));
            let has_voted = votes
                .iter()
                .any(|(in_game, judge, _)| (*in_game, *judge) == (game, known[at]));
            !has_voted && seen.next(false).is_some() && !(game > 0 && specs[at].is_offline())
        };
        for game in 0..MAX_GAMES {
            let judges: Vec<usize> = seats
                .iter()
                .copied()
                .filter(|at| can_be_asked(*at, game))
                .collect();
            if !judges.is_empty() {
                return Ok(Self {
                    query,
                    battle: PlannedBattle {
                        pair,
                        game,
                        cycle: 0,
                    },
                    judges: judges.iter().map(|at| specs[*at].name.clone()).collect(),
                    absent,
                });
            }
        }
        Err(if seats.iter().all(|at| specs[*at].is_offline()) {
            invalid!(
                "the offline judges have judged this pair; the order of its documents makes no \
                 difference to them"
            )
        } else {
            invalid!("the judges have judged this pair in both orders of its documents")
        })
    }

    /// The ensemble of the judges to ask.
    pub fn ensemble(&self, all: &JudgeEnsemble) -> JudgeEnsemble {
        let asked = all
            .iter()
            .filter(|judge| self.judges.contains(&judge.spec().name));
        asked.cloned().collect()
    }

    /// The run request for this question; `usual` is how the project is usually run.
    pub fn request(&self, usual: &RunRequest) -> RunRequest {
        RunRequest {
            queries: Some(vec![self.query]),
            selection: CallSelection::FreshAndFailed,
            probe: 0,
            at_most: None,
            pair: Some(self.battle),
            ..usual.clone()
        }
    }
}

impl PricedQuestion {
    /// What may be asked about a pair, and its cost.
    ///
    /// # Errors
    /// There is nothing to ask, or no judge to ask.
    pub fn of(
        store: &Store,
        (query, pair): (QueryKey, Pair),
        all: &JudgeEnsemble,
        usual: &RunRequest,
    ) -> Result<Self, AppError> {
        let specs: Vec<JudgeSpec> = all.iter().map(|judge| judge.spec().clone()).collect();
        let question =
            store.read_blocking(move |db| Ok(PairQuestion::of(db, query, pair, &specs)))??;
        let estimate =
            CostEstimate::of_project(store, &question.ensemble(all), &question.request(usual))?;
        if estimate.calls() + estimate.free_votes() == 0 {
            return Err(invalid!("a batch is already asking about this pair"));
        }
        Ok(Self { question, estimate })
    }
}
