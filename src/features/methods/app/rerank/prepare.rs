//! Resolves the names of methods to what they ask: judges configured for their kind of question,
//! rerankers, or runs.

use super::candidates::Orders;
use super::plan::{CandidateSource, LongDocuments, RerankPlan, RerankScope, orders_of};
use super::prepared_method::{AskedJudge, Asks, PreparedMethod};
use super::service::RerankService;
use crate::app::choose_judges::{ChosenJudges, JudgeConfiguration};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::read_ranking;
use crate::app::text_format::counted;
use crate::domain::candidate_question::GradeScale;
use crate::domain::corpus::DocId;
use crate::domain::sanitize;
use crate::features::methods::domain::ORIGINAL;
use crate::features::methods::domain::reranking::{Method, MethodKind, MethodOptions, Validation};
use crate::judge::ensemble::FILE;
use crate::judge::reranker::Reranker;
use crate::judge::{Judge, JudgeEnsemble, RerankKind};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The methods of a run, by name, and who answers their questions.
#[derive(Clone, Copy, Debug)]
pub struct MethodChoice<'a> {
    pub methods: &'a [Method],
    /// Names of the judges; if empty, the first available one.
    pub judges: &'a [String],
    pub options: MethodOptions,
    pub seed: u64,
}

/// A plan, with notes about it.
#[derive(Debug)]
pub struct PreparedRun {
    pub plan: RerankPlan,
    pub notes: Vec<String>,
    /// The judges to ask, for a check of the budget.
    pub ensemble: JudgeEnsemble,
    /// Whether an offline judge is asked.
    pub offline: bool,
}

/// Prepares a run.
///
/// # Errors
/// A method, judge or reranker does not exist, a method is named twice, or a judge cannot answer
/// such questions.
pub fn prepare(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    choice: &MethodChoice<'_>,
    scope: &RerankScope<'_>,
) -> Result<PreparedRun, AppError> {
    let mut preparing = Preparing::of(store, configuration, choice)?;
    let has_original = preparing
        .methods
        .iter()
        .any(|method| method.method.kind == MethodKind::Original);
    let pools = scope.shuffle.is_none() && matches!(scope.candidates, CandidateSource::Pools);
    if !has_original && (!pools || store.read_blocking(|db| db.has_rerank_result(ORIGINAL))?) {
        // The methods are compared with the order in which they receive the candidates.
        let original = Method {
            kind: MethodKind::Original,
            depth: None,
            validation: Validation::Repair,
        };
        preparing.add(&original)?;
    }
    let mut names: Vec<&str> = preparing
        .methods
        .iter()
        .map(|method| method.name.as_str())
        .collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(invalid!(
            "--method: {:?} is named twice",
            sanitize::line(twice[0])
        ));
    }
    let waiting = waiting_note(store, &preparing.methods)?;
    let mut prepared = preparing.planned(scope)?;
    prepared.notes.extend(waiting);
    Ok(prepared)
}

/// Names a judge that open batches ask about lists, if a method may ask it for the same.
fn waiting_note(store: &Store, methods: &[PreparedMethod]) -> Result<Option<String>, AppError> {
    let asked = store.read_blocking(|db| db.judges_asked_lists())?;
    let strict = methods
        .iter()
        .filter(|method| method.method.validation == Validation::Strict);
    let mut judges = strict.flat_map(|method| &method.judges);
    let judge = judges.find(|judge| asked.iter().any(|(_, spec)| spec.name == **judge));
    Ok(judge.map(|judge| {
        format!(
            "an open batch asks {} about lists; a ranking that needs the same calls waits for \
             `overrule batch fetch`",
            sanitize::line(judge)
        )
    }))
}

/// Prepares a run in which one judge grades the anchors of a scale one by one, from 0 to 3.
///
/// # Errors
/// The judge does not exist, is ambiguous, or cannot be asked for grades.
pub fn prepare_anchors(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    judge: &str,
    anchors: &HashMap<QueryKey, Vec<DocId>>,
    retry_failed: bool,
) -> Result<PreparedRun, AppError> {
    let grades = Method {
        kind: MethodKind::Pointwise {
            scale: GradeScale::ZeroToThree,
        },
        depth: None,
        validation: Validation::Repair,
    };
    let choice = MethodChoice {
        methods: &[grades],
        judges: &[judge.to_owned()],
        options: MethodOptions::default(),
        seed: 0,
    };
    let mut preparing = Preparing::of(store, configuration, &choice)?;
    if preparing.methods.len() != 1 {
        return Err(invalid!(
            "--judge: {:?} is {}; a scale needs the grades of one judge: name one",
            sanitize::line(judge),
            counted(preparing.methods.len(), "judge")
        ));
    }
    let methods = preparing.methods.into_iter();
    preparing.methods = methods.filter_map(PreparedMethod::for_anchors).collect();
    preparing.planned(&RerankScope {
        dataset: None,
        queries: &[],
        candidates: CandidateSource::Named(anchors),
        shuffle: None,
        max_queries: None,
        retry_failed,
        one_at_a_time: false,
        long_documents: LongDocuments::default(),
    })
}

/// One service per judge.
pub(super) fn services_of(ensemble: &JudgeEnsemble) -> Vec<RerankService> {
    let judges = ensemble.iter();
    judges
        .map(|judge| RerankService::Judge(Arc::clone(judge)))
        .collect()
}

impl PreparedRun {
    /// Rejects an invalid budget, or one that the judges and rerankers cannot keep.
    ///
    /// # Errors
    /// It is not an amount in dollars, or the worst-case cost of a call is unknown.
    pub fn check_budget(&self, budget: f64) -> Result<(), AppError> {
        self.plan.check_budget(budget, &self.ensemble)
    }
}

struct Preparing<'a> {
    store: &'a Store,
    configuration: &'a JudgeConfiguration<'a>,
    choice: &'a MethodChoice<'a>,
    services: Vec<RerankService>,
    notes: Vec<String>,
    methods: Vec<PreparedMethod>,
    names: Option<KnownNames>,
}

/// The existing names that a method name may refer to, read when the first name is looked up.
struct KnownNames {
    rerankers: Vec<String>,
    rankings: Vec<(String, Arc<Orders>)>,
}

impl KnownNames {
    fn read(store: &Store, configuration: &JudgeConfiguration<'_>) -> Result<Self, AppError> {
        let rankings = store.read_blocking(|db| db.rankings())?.into_iter();
        Ok(Self {
            rerankers: configuration.reranker_names()?,
            rankings: rankings
                .map(|(name, run)| (name, Arc::new(orders_of(run))))
                .collect(),
        })
    }

    /// The meaning of the name other than as a reranker, in words. `overrule.toml`, which someone
    /// else may have written, must not change its meaning.
    fn other_meaning(&self, name: &str) -> Option<&'static str> {
        if self.rankings.iter().any(|(of, _)| of == name) {
            Some("a ranking of the project")
        } else if Path::new(name).is_file() {
            Some("a file")
        } else {
            None
        }
    }
}

impl<'a> Preparing<'a> {
    /// Resolves the methods of a choice.
    fn of(
        store: &'a Store,
        configuration: &'a JudgeConfiguration<'a>,
        choice: &'a MethodChoice<'a>,
    ) -> Result<Self, AppError> {
        let mut preparing = Self {
            store,
            configuration,
            choice,
            services: Vec::new(),
            notes: Vec::new(),
            methods: Vec::new(),
            names: None,
        };
        for method in choice.methods {
            preparing.add(&method.clone().with(&choice.options))?;
        }
        Ok(preparing)
    }

    fn planned(self, scope: &RerankScope<'_>) -> Result<PreparedRun, AppError> {
        let Self {
            store,
            services,
            mut notes,
            mut methods,
            ..
        } = self;
        let ensemble: JudgeEnsemble = services.iter().filter_map(RerankService::judge).collect();
        let offline = ensemble.iter().any(|judge| judge.spec().is_offline());
        for method in &mut methods {
            method.refuses_long |= scope.long_documents.refuse;
        }
        let plan = RerankPlan::new(store, methods, services, scope, &mut notes)?;
        notes.dedup();
        Ok(PreparedRun {
            plan,
            notes,
            ensemble,
            offline,
        })
    }

    fn add(&mut self, method: &Method) -> Result<(), AppError> {
        let seed = self.choice.seed;
        let kind = match &method.kind {
            MethodKind::Original => {
                self.methods
                    .push(PreparedMethod::new(method.clone(), Asks::Nothing, seed));
                return Ok(());
            }
            MethodKind::Named(name) => {
                let asks = self.named(name)?;
                self.methods
                    .push(PreparedMethod::new(method.clone(), asks, seed));
                return Ok(());
            }
            MethodKind::Zelo { .. } => {
                let asks = Asks::Ensemble(self.judges_of_pairs()?);
                self.methods
                    .push(PreparedMethod::new(method.clone(), asks, seed));
                return Ok(());
            }
            MethodKind::RankGpt { .. } => RerankKind::Rank,
            MethodKind::Prp { .. } | MethodKind::InfoGain { .. } | MethodKind::Mohajer { .. } => {
                RerankKind::Compare
            }
            MethodKind::TourRank { .. } => RerankKind::Select,
            MethodKind::Setwise { .. } => RerankKind::Best,
            MethodKind::Pointwise {
                scale: GradeScale::YesNo,
            } => RerankKind::YesNo,
            MethodKind::Pointwise {
                scale: GradeScale::ZeroToThree,
            } => RerankKind::Grade,
        };
        let chosen = self
            .configuration
            .choose_rerankers(self.choice.judges, kind)?;
        let mut judges = self.noted(chosen);
        if self.choice.judges.is_empty() && judges.len() > 1 {
            let (asked, others) = (judges.first(), judges.len() - 1);
            let name = asked.map_or("", |judge| &judge.spec().name);
            self.notes.push(format!(
                "methods ask the first judge, {} (zelo asks all); name {} with --judges to have \
                 each judge asked",
                sanitize::line(name),
                if others == 1 { "both" } else { "several" },
            ));
            judges.truncate(1);
        }
        for judge in judges {
            let service = self.service(&judge);
            let asks = Asks::Judge { service, judge };
            self.methods
                .push(PreparedMethod::new(method.clone(), asks, seed));
        }
        Ok(())
    }

    /// All chosen judges, for questions about pairs.
    fn judges_of_pairs(&mut self) -> Result<Vec<AskedJudge>, AppError> {
        let chosen = self.configuration.choose(self.choice.judges)?;
        let judges = self.noted(chosen);
        Ok(judges
            .into_iter()
            .map(|judge| (self.service(&judge), judge))
            .collect())
    }

    /// A reranker with the judges that it may ask.
    fn reranker(&mut self, service: usize, reranker: Arc<Reranker>) -> Result<Asks, AppError> {
        let judges = if reranker.asks_judges() {
            self.judges_of_pairs()?
        } else {
            Vec::new()
        };
        Ok(Asks::Reranker {
            service,
            reranker,
            judges,
        })
    }

    fn noted(&mut self, chosen: ChosenJudges) -> JudgeEnsemble {
        for note in chosen.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        chosen.ensemble
    }

    /// The index of a judge's service: there is one queue per judge, however many kinds of
    /// questions it is asked.
    fn service(&mut self, judge: &Arc<dyn Judge>) -> usize {
        let name = &judge.spec().name;
        let known = self.services.iter().position(|service| {
            service
                .judge()
                .is_some_and(|known| known.spec().name == *name)
        });
        known.unwrap_or_else(|| {
            self.services.push(RerankService::Judge(Arc::clone(judge)));
            self.services.len() - 1
        })
    }

    /// Resolves a name to a reranker, a ranking of the project, or a file.
    fn named(&mut self, name: &str) -> Result<Asks, AppError> {
        let asked = self.services.iter().enumerate();
        let asked = asked.filter_map(|(at, service)| Some((at, service.reranker()?)));
        if let Some((service, reranker)) = asked.into_iter().find(|(_, of)| of.name() == name) {
            return self.reranker(service, reranker);
        }
        let known = match &mut self.names {
            Some(known) => known,
            unread => unread.insert(KnownNames::read(self.store, self.configuration)?),
        };
        if known.rerankers.iter().any(|of| of == name) {
            if let Some(other) = known.other_meaning(name) {
                let name = sanitize::line(name);
                return Err(invalid!(
                    "--method: {name:?} is a reranker of {FILE} and {other}; give the reranker \
                     another name"
                ));
            }
            if let Some(reranker) = self.configuration.reranker(name)? {
                let reranker = Arc::new(reranker);
                let service = self.services.len();
                self.services
                    .push(RerankService::Reranker(Arc::clone(&reranker)));
                return self.reranker(service, reranker);
            }
        }
        if let Some((_, orders)) = known.rankings.iter().find(|(of, _)| of == name) {
            return Ok(Asks::Orders(Arc::clone(orders)));
        }
        let path = Path::new(name);
        if path.is_file() {
            let run = read_ranking(path, &mut self.notes)?;
            return Ok(Asks::Orders(Arc::new(orders_of(run))));
        }
        let rankings = known.rankings.iter().map(|(name, _)| name);
        let all: Vec<_> = known
            .rerankers
            .iter()
            .chain(rankings)
            .map(|name| sanitize::line(name))
            .collect();
        let there = if all.is_empty() {
            format!("{FILE} has no [[reranker]], and the project has no ranking")
        } else {
            format!("the rerankers and rankings are {}", all.join(", "))
        };
        Err(invalid!(
            "--method: no method, reranker, ranking or file is called {:?}; {there}. The methods \
             are rankgpt, prp, tourrank, \
             setwise, pointwise, zelo, infogain, mohajer and original, such as prp@20:p3",
            sanitize::line(name),
        ))
    }
}
