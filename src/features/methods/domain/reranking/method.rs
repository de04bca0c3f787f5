//! Methods by name, and their strategies.

use super::call_bounds::CallBounds;
use super::infogain::InfoGain;
use super::mohajer::Mohajer;
use super::pointwise::Pointwise;
use super::prp::Prp;
use super::rankgpt::RankGpt;
use super::scoring::Scoring;
use super::setwise::Setwise;
use super::stages::{self, StageConfig};
use super::tourrank::{CPYTHON_SEED, Dealing, TourRank};
use super::zelo::Zelo;
use super::{AnswerError, Ranking, Strategy, Validation};
use crate::domain::candidate_question::GradeScale;
use crate::domain::named::named;
use crate::domain::sampling::SeededRng;

/// A way to rank the candidates of a query. Its text form is a name such as `prp@20:p3`: the
/// method, the number of top candidates it looks at, and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    pub kind: MethodKind,
    /// Number of top candidates to look at, from 1; `None` for all.
    pub depth: Option<usize>,
    /// Whether invalid answers are repaired.
    pub validation: Validation,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MethodKind {
    /// The first-stage order.
    Original,
    /// Windows of `window` candidates, 2 or more, moved by `stride`, from 1 to `window`.
    RankGpt {
        window: usize,
        stride: usize,
    },
    /// `passes` passes, at least 1.
    Prp {
        passes: usize,
    },
    /// `rounds` rounds, at least 1.
    TourRank {
        rounds: usize,
        shuffle: Shuffle,
        /// Empty for stages that suit the number of candidates.
        stages: Vec<StageConfig>,
    },
    /// Sets of `set` candidates, 2 or more, including the parent; only the `top` best ranks are
    /// sorted.
    Setwise {
        set: usize,
        top: usize,
    },
    Pointwise {
        scale: GradeScale,
    },
    /// `budget` calls per candidate, above 0.
    Zelo {
        budget: f64,
    },
    /// `rounds` rounds, at least 1.
    InfoGain {
        rounds: usize,
    },
    /// The `top` best are selected, from as many groups, at least 1.
    Mohajer {
        top: usize,
    },
    /// A service, a program or a run with this name.
    Named(String),
}

named! {
    "a shuffle", "kebab-case";
    #[derive(Default)]
    pub enum Shuffle {
        /// Seeded per query.
        #[default]
        Seeded,
        /// As in ranksmith: CPython's generator with seed 13, candidates dealt in the order of the
        /// answers, and its group sizes.
        Cpython,
    }
}

/// A number of candidates that a method cannot rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CandidateCountError {
    #[error("tourrank needs at least 2 candidates, found {0}")]
    TooFew(usize),
}

/// Options of methods in addition to their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodOptions {
    /// For `tourrank`.
    pub shuffle: Shuffle,
}

impl Method {
    /// The method with these options, if they apply to it and differ from the defaults.
    #[must_use]
    pub fn with(mut self, options: &MethodOptions) -> Self {
        if let MethodKind::TourRank { shuffle, .. } = &mut self.kind
            && options.shuffle != Shuffle::default()
        {
            *shuffle = options.shuffle;
        }
        self
    }

    /// How many of this many candidates it looks at; the rest follow in their original order, see
    /// [`Ranking::with_rest`].
    pub fn looks_at(&self, candidates: usize) -> usize {
        match self.kind {
            MethodKind::Original => 0,
            _ => self.depth.unwrap_or(candidates).min(candidates),
        }
    }

    /// Checks that the method can rank `n` candidates, as many as [`Method::looks_at`] returns. As
    /// in ranksmith, a tournament of one candidate is an error, and no candidates need no order.
    ///
    /// # Errors
    /// It cannot.
    pub fn check_count(&self, n: usize) -> Result<(), CandidateCountError> {
        match self.kind {
            MethodKind::TourRank { .. } if n == 1 => Err(CandidateCountError::TooFew(n)),
            _ => Ok(()),
        }
    }

    /// The only number of candidates that `tourrank` accepts in strict mode: that of its first
    /// stage, or else its depth.
    fn required(&self) -> Option<usize> {
        match (&self.kind, self.validation) {
            (MethodKind::TourRank { stages, .. }, Validation::Strict) => stages
                .first()
                .map(|first| first.candidates())
                .or(self.depth),
            _ => None,
        }
    }

    /// Creates the strategy for one query with `n` candidates, as many as [`Method::looks_at`]
    /// returns. The same seed asks the same questions. `judges` is the size of the ensemble, which
    /// only `zelo` uses.
    pub fn strategy(&self, n: usize, seed: u64, judges: usize) -> Box<dyn Strategy> {
        let validation = self.validation;
        match self.kind {
            MethodKind::Original => Box::new(FirstStage(n)),
            MethodKind::RankGpt { window, stride } => {
                Box::new(RankGpt::new(n, window, stride, validation))
            }
            MethodKind::Prp { passes } => Box::new(Prp::new(n, passes)),
            MethodKind::TourRank {
                rounds,
                shuffle,
                ref stages,
            } => {
                if let Some(required) = self.required().filter(|required| *required != n) {
                    return Box::new(Refused(AnswerError::CandidateCount { required, found: n }));
                }
                let dealing = match shuffle {
                    Shuffle::Seeded => Dealing::Seeded(seed),
                    Shuffle::Cpython => Dealing::Cpython(CPYTHON_SEED),
                };
                let stages = shuffle.stages(stages, n);
                Box::new(TourRank::new(n, rounds, stages, dealing, validation))
            }
            MethodKind::Setwise { set, top } => Box::new(Setwise::new(n, set, top, validation)),
            MethodKind::Pointwise { scale } => Box::new(Pointwise::new(n, scale, false)),
            MethodKind::Zelo { budget } => Box::new(Zelo::new(n, budget, judges, seed)),
            MethodKind::InfoGain { rounds } => Box::new(InfoGain::new(n, rounds, seed)),
            MethodKind::Mohajer { top } => Box::new(Mohajer::new(n, top, seed)),
            MethodKind::Named(_) => Box::new(Scoring::new(n, validation)),
        }
    }

    /// Grades `n` candidates: a missing grade does not invalidate the others.
    pub fn grades(n: usize, scale: GradeScale) -> Box<dyn Strategy> {
        Box::new(Pointwise::new(n, scale, true))
    }

    /// The number of calls for a query with `n` candidates to look at. For `prp`, `setwise`,
    /// `infogain` and `mohajer`, the expected number is the mean over simulated queries (see
    /// [`CallBounds::simulated`]); all others need a fixed number.
    pub fn calls(&self, n: usize, judges: usize) -> CallBounds {
        match self.kind {
            MethodKind::Original => CallBounds::exactly(0),
            MethodKind::RankGpt { window, stride } => {
                CallBounds::exactly(RankGpt::calls(n, window, stride))
            }
            MethodKind::Prp { passes } => {
                CallBounds::simulated(n, |n| Box::new(Prp::new(n, passes)))
                    .with_most(Prp::most_calls(n, passes))
            }
            MethodKind::TourRank {
                rounds,
                shuffle,
                ref stages,
            } => match self.required() {
                Some(required) if required != n => CallBounds::exactly(0),
                _ => CallBounds::exactly(TourRank::calls(rounds, &shuffle.stages(stages, n))),
            },
            MethodKind::Setwise { set, top } => CallBounds::simulated(n, |n| {
                Box::new(Setwise::new(n, set, top, Validation::Repair))
            }),
            MethodKind::Pointwise { .. } => CallBounds::exactly(n),
            MethodKind::Zelo { budget } => CallBounds::exactly(Zelo::calls(n, budget, judges)),
            MethodKind::InfoGain { rounds } => InfoGain::calls(n, rounds),
            MethodKind::Mohajer { top } => Mohajer::calls(n, top),
            MethodKind::Named(_) => CallBounds::exactly(n.min(1)),
        }
    }

    /// The largest number of calls for a query with `n` candidates to look at.
    pub fn most_calls(&self, n: usize, judges: usize) -> usize {
        match self.kind {
            MethodKind::Prp { passes } => Prp::most_calls(n, passes),
            MethodKind::InfoGain { rounds } => InfoGain::most_calls(n, rounds),
            MethodKind::Mohajer { top } => Mohajer::most_calls(n, top),
            _ => self.calls(n, judges).most,
        }
    }

    /// Derives the seed of one query from the seed of the run.
    pub fn query_seed(seed: u64, query: &str) -> u64 {
        let mut rng = SeededRng::new(seed, &["reranking", query]);
        (0..4).fold(0, |sum, _| (sum << 16) | rng.below(1 << 16) as u64)
    }
}

impl Shuffle {
    fn stages(self, configs: &[StageConfig], candidates: usize) -> Vec<stages::Stage> {
        match self {
            _ if !configs.is_empty() => stages::configured(configs, candidates),
            Self::Seeded => stages::balanced(candidates),
            Self::Cpython => stages::single_group(candidates),
        }
    }
}

/// Asks nothing and has no order, for this reason.
#[derive(Debug)]
struct Refused(AnswerError);

impl Strategy for Refused {
    fn next(&mut self) -> Vec<super::Call> {
        Vec::new()
    }

    fn answer(&mut self, id: usize, _: super::Answer) -> Result<(), AnswerError> {
        Err(AnswerError::NotAsked(id))
    }

    fn refusal(&self) -> Option<AnswerError> {
        Some(self.0.clone())
    }

    fn outcome(&self) -> Option<Ranking> {
        None
    }

    fn repairs(&self) -> usize {
        0
    }
}

/// Keeps the existing order.
#[derive(Debug)]
struct FirstStage(usize);

impl Strategy for FirstStage {
    fn next(&mut self) -> Vec<super::Call> {
        Vec::new()
    }

    fn answer(&mut self, id: usize, _: super::Answer) -> Result<(), super::AnswerError> {
        Err(super::AnswerError::NotAsked(id))
    }

    fn outcome(&self) -> Option<Ranking> {
        Some(Ranking {
            order: (0..self.0).collect(),
            scores: None,
        })
    }

    fn repairs(&self) -> usize {
        0
    }
}
