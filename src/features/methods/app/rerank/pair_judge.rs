//! Questions about single pairs outside a run, such as those of a prompt's trial. A judge is asked
//! as in a battle. Each answer is stored before it counts and is paid for once: a run that would
//! make the same call stores it as a vote.

use super::asked_targets::{AskedTarget, ask_each};
use super::estimate::CallVolume;
use super::question::Target;
use super::run::RerankEvent;
use crate::app::annotate::prompt_inputs::LackingInputs;
use crate::app::choose_judges::{JudgeConfiguration, check_budget, is_paid};
use crate::app::error::{AppError, invalid};
use crate::client::RunControl;
use crate::client::call_key::key_of;
use crate::client::question::CaseId;
use crate::domain::candidate_question::Answer;
use crate::domain::sanitize;
use crate::domain::vote::Margin;
use crate::features::methods::store::KnownAnswer;
use crate::judge::{Judge, JudgeQuestion, MAX_CHARGED, PresentedPair};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use std::collections::HashSet;
use std::slice;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A judge that is asked about pairs.
#[derive(Clone, Debug)]
pub struct PairJudge {
    pub judge: Arc<dyn Judge>,
}

/// A pair in the order in which it is shown.
#[derive(Clone, Debug)]
pub struct AskedPair {
    pub query: QueryKey,
    pub case: PresentedPair,
}

/// A judge's answer about a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct PairAnswer {
    /// Negative if the document shown first is better, or why the reply is not an answer.
    pub margin: Result<Margin, String>,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
}

impl PairAnswer {
    /// The same answer without tokens and cost, for a call that was not made.
    fn shared(self) -> Self {
        Self {
            tokens_input: 0,
            tokens_output: 0,
            cost_usd: Some(0.0),
            ..self
        }
    }

    /// `None` for an answer to another question.
    fn of(known: KnownAnswer) -> Option<Self> {
        let margin = match known.answer {
            Answer::Margin(margin) => Ok(Margin::new(margin)?),
            Answer::Unreadable(why) => Err(why),
            _ => return None,
        };
        Some(Self {
            margin,
            tokens_input: known.tokens_input,
            tokens_output: known.tokens_output,
            cost_usd: known.cost_usd,
        })
    }
}

/// A configured judge for pairs, with what is needed to check its project.
pub struct ChosenPairJudge {
    pub judge: PairJudge,
    pub lacking: LackingInputs,
    pub notes: Vec<String>,
}

impl PairJudge {
    /// The configured judge with this name.
    ///
    /// # Errors
    /// It cannot be asked, or it is embedded; the message then ends with `embedded`.
    pub fn choose(
        configuration: &JudgeConfiguration<'_>,
        name: &str,
        embedded: &str,
    ) -> Result<ChosenPairJudge, AppError> {
        let chosen = configuration.choose(&[name.to_owned()])?;
        let shown = sanitize::line(name);
        let judge = chosen.ensemble.first().cloned();
        let judge = judge.ok_or_else(|| invalid!("no judge is called {shown:?}"))?;
        if judge.spec().is_offline() {
            return Err(invalid!("{shown} is an embedded judge, which {embedded}"));
        }
        Ok(ChosenPairJudge {
            judge: Self { judge },
            lacking: LackingInputs::of(&chosen.ensemble),
            notes: chosen.notes,
        })
    }

    /// The configured judge with this name; `None` if it cannot be asked, such as without a key.
    pub fn configured(configuration: &JudgeConfiguration<'_>, name: &str) -> Option<Self> {
        let chosen = configuration.choose(&[name.to_owned()]).ok()?;
        let judge = chosen.ensemble.into_iter().next()?;
        Some(Self { judge })
    }

    pub fn is_paid(&self) -> bool {
        is_paid(self.judge.as_ref())
    }

    /// # Errors
    /// It is not an amount in dollars, or the worst-case cost of a call is unknown.
    pub fn check_budget(&self, budget: f64) -> Result<(), AppError> {
        check_budget(budget, &vec![Arc::clone(&self.judge)])
    }

    /// Hash of the judge and of everything it is sent about a pair.
    pub fn key(&self, pair: &AskedPair) -> [u8; 32] {
        self.target(pair).key()
    }

    /// The answers that the project holds, from earlier questions or as votes. An unreadable answer
    /// counts only if there is no other. Pairs with the same texts share an answer, whose tokens and
    /// cost are those of the first of them.
    ///
    /// With `retry`, unreadable answers do not count.
    pub fn known(
        &self,
        db: &Db,
        pairs: &[AskedPair],
        retry: bool,
    ) -> Result<Vec<Option<PairAnswer>>, StoreError> {
        let known = |key: &[u8; 32]| -> Result<Option<PairAnswer>, StoreError> {
            if let Some(known) = db.rerank_answer(key, true)? {
                return Ok(PairAnswer::of(known));
            }
            if let Some(call) = db.answer_of_call(key)? {
                return Ok(Some(PairAnswer {
                    margin: Ok(call.margin),
                    tokens_input: call.tokens_input,
                    tokens_output: call.tokens_output,
                    cost_usd: call.cost_usd,
                }));
            }
            if retry {
                return Ok(None);
            }
            Ok(db.rerank_answer(key, false)?.and_then(PairAnswer::of))
        };
        let mut seen = HashSet::new();
        let answers = pairs.iter().map(|pair| {
            let key = self.key(pair);
            Ok(known(&key)?.map(|answer| {
                if seen.insert(key) {
                    answer
                } else {
                    answer.shared()
                }
            }))
        });
        answers.collect()
    }

    /// The expected effort of asking about these pairs, and the maximum effort: all attempts of
    /// each call but the last fail and are charged. Pairs with the same texts are asked about once.
    pub fn estimate(&self, pairs: &[&AskedPair]) -> (CallVolume, CallVolume) {
        let (mut expected, mut most) = (CallVolume::NONE, CallVolume::NONE);
        let mut seen = HashSet::new();
        for pair in pairs {
            let prompt = self.judge.prompt(JudgeQuestion::Pair(&pair.case));
            if !seen.insert(key_of(self.judge.spec(), &prompt)) {
                continue;
            }
            expected.add(1.0, self.judge.estimate(&prompt));
            most.add(f64::from(MAX_CHARGED), self.judge.most(&prompt));
        }
        (expected, most)
    }

    /// Asks about these pairs. The answers are in the project when they are returned; `None` stands
    /// for a question that was not asked or whose call failed.
    pub async fn ask(
        &self,
        store: &Store,
        pairs: Vec<AskedPair>,
        control: watch::Receiver<RunControl>,
        events: &mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<Vec<Option<PairAnswer>>, StoreError> {
        let keyed = pairs.into_iter().map(|pair| {
            let key = self.key(&pair);
            (pair, key)
        });
        self.ask_keyed(store, keyed.collect(), control, events)
            .await
    }

    /// Asks as [`Self::ask`], and stores the answers under these keys. No run and no other question
    /// uses an answer under another key than that of the pair.
    pub async fn ask_keyed(
        &self,
        store: &Store,
        pairs: Vec<(AskedPair, [u8; 32])>,
        control: watch::Receiver<RunControl>,
        events: &mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<Vec<Option<PairAnswer>>, StoreError> {
        let targets = pairs.iter().map(|(pair, key)| AskedTarget {
            judge: 0,
            target: self.target(pair),
            case: Some(CaseId(pair.query.0)),
            key: *key,
        });
        let targets = targets.collect();
        let answers = ask_each(
            store,
            slice::from_ref(&self.judge),
            targets,
            control,
            events,
        )
        .await?;
        let answers = answers.into_iter();
        Ok(answers.map(|known| PairAnswer::of(known?)).collect())
    }

    fn target(&self, pair: &AskedPair) -> Target {
        Target::Battle {
            judge: Arc::clone(&self.judge),
            prompt: self.judge.prompt(JudgeQuestion::Pair(&pair.case)),
            case: pair.case.clone(),
        }
    }
}
