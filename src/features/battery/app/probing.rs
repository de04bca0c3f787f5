//! Asks a judge about the pairs of its battery.

use super::answers::{PairAnswers, answer_key, is_answered};
use super::pairs::{Translations, choose_pairs, manipulated};
use crate::app::annotate::prompt_inputs::check_project;
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::app::frozen_pairs::PoolTexts;
use crate::app::pool::texts_of_corpus;
use crate::app::text_format::{counted, moment_words};
use crate::client::call_key::identity_of;
use crate::client::{RunControl, now_ms};
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::sanitize;
use crate::domain::vote::Outcome;
use crate::features::battery::domain::Manipulation;
use crate::features::methods::app::rerank::estimate::CallVolume;
use crate::features::methods::app::rerank::pair_judge::{AskedPair, ChosenPairJudge, PairJudge};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::store::frozen_sets::FrozenSet;
use crate::store::{Db, Result as StoreResult, Store};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// What is wanted of a battery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatteryWish {
    pub judge: String,
    /// Number of pairs to choose at the start.
    pub pairs: usize,
    /// Whether to choose pairs again.
    pub anew: bool,
    /// A corpus with the documents in another language.
    pub translations: Option<PathBuf>,
}

/// A prepared battery.
#[derive(Clone, Debug)]
pub struct Battery {
    pub judge: PairJudge,
    pub set: FrozenSet,
    pub pairs: Vec<FrozenPair>,
    /// The plain questions, in the order of the pairs; `None` if the texts have changed.
    asked: Vec<Option<AskedPair>>,
    translations: Translations,
    pub notes: Vec<String>,
}

/// The remaining calls of a battery and their cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BatteryEstimate {
    pub pairs: usize,
    /// Pairs whose texts have changed, or are missing.
    pub altered: usize,
    /// Answers that the project already holds, votes included.
    pub known: usize,
    pub expected: CallVolume,
    pub most: CallVolume,
}

/// The questions without an answer, with the keys of their answers.
#[derive(Debug, Default)]
struct OpenQuestions {
    /// Without a manipulation, about pairs without a vote.
    plain: Vec<(AskedPair, [u8; 32])>,
    /// By manipulation, about pairs of which the judge preferred a document.
    manipulated: [Vec<(AskedPair, [u8; 32])>; Manipulation::ALL.len()],
    /// Those that follow an open plain question.
    presumed: Vec<AskedPair>,
    /// Number of answers that are there.
    known: usize,
}

/// Reads what a battery needs. Changes nothing.
///
/// # Errors
/// The judge cannot be asked, or there is no pair.
pub fn prepare_battery(
    store: &Store,
    configuration: &JudgeConfiguration<'_>,
    wish: &BatteryWish,
    author: &str,
) -> Result<Battery, AppError> {
    let ChosenPairJudge {
        judge,
        lacking,
        notes,
    } = PairJudge::choose(
        configuration,
        &wish.judge,
        "reads no prompt; a battery is for language models",
    )?;
    let shown = sanitize::line(&wish.judge).into_owned();
    let (of, author) = (wish.clone(), author.to_owned());
    let now = now_ms();
    let mut battery = store.read_blocking(move |db| {
        check_project(db, lacking, &[])?;
        prepared(db, judge, &of, author, notes, now)
    })?;
    if battery.pairs.is_empty() {
        return Err(invalid!(
            "no query has two documents, so that there is no pair to ask {shown} about"
        ));
    }
    if let Some(file) = &wish.translations {
        battery.read_translations(file)?;
    }
    Ok(battery)
}

fn prepared(
    db: &Db,
    judge: PairJudge,
    wish: &BatteryWish,
    author: String,
    notes: Vec<String>,
    now_ms: i64,
) -> StoreResult<Battery> {
    let identity = identity_of(judge.judge.spec());
    if let Some(set) = latest_battery(db, &wish.judge, Some(&identity))? {
        let mut known = Battery::read(db, judge.clone(), set)?;
        let is_continued = wish.anew && known.has_untried(db)?;
        if is_continued {
            known.notes.push(format!(
                "the battery of {} continues",
                moment_words(known.set.created_ms)
            ));
        }
        if is_continued || !wish.anew {
            known.notes.extend(notes);
            return Ok(known);
        }
    }
    let mut battery = Battery {
        set: FrozenSet {
            uid: Uuid::now_v7().to_string(),
            judge: wish.judge.clone(),
            identity,
            model: judge.judge.spec().model.clone(),
            author,
            created_ms: now_ms,
        },
        pairs: choose_pairs(db, &judge, wish.pairs)?,
        judge,
        asked: Vec::new(),
        translations: Translations::new(),
        notes,
    };
    battery.read_texts(db)?;
    Ok(battery)
}

/// The latest battery of the judge with this name; with an identity, only one of that identity.
pub(super) fn latest_battery(
    db: &Db,
    judge: &str,
    identity: Option<&[u8; 32]>,
) -> StoreResult<Option<FrozenSet>> {
    let batteries = db.batteries()?;
    Ok(batteries
        .into_iter()
        .find(|of| of.judge == judge && identity.is_none_or(|identity| of.identity == *identity)))
}

impl Battery {
    /// The battery of a judge with its texts as they are now.
    pub(super) fn read(db: &Db, judge: PairJudge, set: FrozenSet) -> StoreResult<Self> {
        let mut battery = Self {
            judge,
            pairs: db.battery_pairs(&set.uid)?,
            set,
            asked: Vec::new(),
            translations: Translations::new(),
            notes: Vec::new(),
        };
        battery.read_texts(db)?;
        Ok(battery)
    }

    fn read_texts(&mut self, db: &Db) -> StoreResult<()> {
        let mut texts = PoolTexts::default();
        for pair in &self.pairs {
            let asked = texts.question(db, pair)?;
            let asked = asked.map(|(query, case)| AskedPair { query, case });
            self.asked
                .push(asked.filter(|asked| self.judge.key(asked) == pair.key));
        }
        Ok(())
    }

    /// Whether some pairs are shown in another language.
    pub fn is_translated(&self) -> bool {
        !self.translations.is_empty()
    }

    /// Reads the documents in another language. Pairs of which one is missing are not asked about in
    /// that language.
    fn read_translations(&mut self, file: &Path) -> Result<(), AppError> {
        let documents = self.pairs.iter().flat_map(|of| &of.documents);
        self.translations = texts_of_corpus(file, &documents.cloned().collect())?;
        let language = Manipulation::Language;
        let is_translated = |(pair, asked): &(&FrozenPair, &AskedPair)| {
            let texts = &self.translations;
            manipulated(&self.judge, asked, pair, Outcome::A, language, texts).is_some()
        };
        let pairs = self.unchanged().filter(is_translated).count();
        if pairs == 0 {
            return Err(AppError::file(
                file,
                "has no other texts for both documents of a pair; give a corpus.jsonl with \
                 translations under the IDs of the project's documents",
            ));
        }
        self.notes.push(format!(
            "translations: both documents of {pairs} of {}",
            counted(self.pairs.len(), "pair")
        ));
        Ok(())
    }

    /// The pairs whose texts are as they were, with their plain questions.
    fn unchanged(&self) -> impl Iterator<Item = (&FrozenPair, &AskedPair)> {
        let pairs = self.pairs.iter().zip(&self.asked);
        pairs.filter_map(|(pair, asked)| Some((pair, asked.as_ref()?)))
    }

    /// The questions without an answer.
    fn open(&self, db: &Db) -> StoreResult<OpenQuestions> {
        let mut open = OpenQuestions::default();
        for (pair, asked) in self.unchanged() {
            let plain = PairAnswers::read(db, &self.set, pair)?.plain;
            let key = answer_key(&self.set, pair, None);
            let is_open = pair.vote.is_none() && !is_answered(db, &key)?;
            if is_open {
                open.plain.push((asked.clone(), key));
            } else {
                open.known += 1;
            }
            // After a tie or an unreadable answer, there is nothing to turn.
            let Some(sides) = (match plain {
                Some(Outcome::Tie) => None,
                Some(side) => Some([side; 2]),
                None => is_open.then_some([Outcome::A, Outcome::B]),
            }) else {
                continue;
            };
            for manipulation in Manipulation::ALL {
                let key = answer_key(&self.set, pair, Some(manipulation));
                if is_answered(db, &key)? {
                    open.known += 1;
                    continue;
                }
                let [one, other] = sides.map(|side| {
                    let translations = &self.translations;
                    manipulated(&self.judge, asked, pair, side, manipulation, translations)
                });
                if is_open {
                    open.presumed.extend(self.dearer(one, other));
                } else if let Some(question) = one {
                    open.manipulated[manipulation.place()].push((question, key));
                }
            }
        }
        Ok(open)
    }

    /// The question with more tokens.
    fn dearer(&self, one: Option<AskedPair>, other: Option<AskedPair>) -> Option<AskedPair> {
        let questions = one.into_iter().chain(other);
        let tokens = |of: &AskedPair| self.judge.estimate(&[of]).1.tokens_input;
        questions.max_by(|one, other| tokens(one).total_cmp(&tokens(other)))
    }

    /// Number of questions without an answer.
    pub(super) fn missing(&self, db: &Db) -> StoreResult<usize> {
        Ok(self.open(db)?.count())
    }

    /// Whether a question was never asked.
    fn has_untried(&self, db: &Db) -> StoreResult<bool> {
        let open = self.open(db)?;
        for (_, key) in open.plain.iter().chain(open.manipulated.iter().flatten()) {
            if !db.has_rerank_call(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The remaining calls. Which document is manipulated depends on the plain answer: as long as
    /// this is unknown, the more expensive question counts.
    pub fn estimate(&self, store: &Store) -> Result<BatteryEstimate, AppError> {
        let battery = self.clone();
        Ok(store.read_blocking(move |db| {
            let open = battery.open(db)?;
            // Questions with the same text are separate calls unless they have the same purpose.
            let asked = [&open.plain].into_iter().chain(&open.manipulated);
            let asked = asked.map(|open| open.iter().map(|(asked, _)| asked).collect());
            let presumed = open.presumed.iter().map(|asked| vec![asked]);
            let volumes = asked
                .chain(presumed)
                .map(|asked: Vec<&AskedPair>| battery.judge.estimate(&asked));
            let (expected, most): (Vec<CallVolume>, Vec<CallVolume>) = volumes.unzip();
            let pairs = battery.unchanged().count();
            Ok(BatteryEstimate {
                pairs,
                altered: battery.pairs.len() - pairs,
                known: open.known,
                expected: expected.into_iter().sum(),
                most: most.into_iter().sum(),
            })
        })?)
    }

    /// Stores the pairs, so that a battery that is stopped can be continued.
    pub fn begin(&self, store: &Store) -> Result<(), AppError> {
        let (set, pairs) = (self.set.clone(), self.pairs.clone());
        store.write_blocking(move |db| db.add_battery(&set, &pairs))?;
        Ok(())
    }

    /// Asks the questions that have no stored answer: the plain ones first, because they decide
    /// which document is manipulated. Returns how many are left without an answer.
    pub async fn ask(
        self: Arc<Self>,
        store: &Store,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<usize, AppError> {
        let battery = Arc::clone(&self);
        let plain = store.read(move |db| battery.open(db)).await?.plain;
        if !plain.is_empty() {
            self.judge
                .ask_keyed(store, plain, control.clone(), &events)
                .await?;
        }
        let battery = Arc::clone(&self);
        let open = store.read(move |db| battery.open(db)).await?.manipulated;
        let open = open.into_iter().flatten().collect();
        self.judge.ask_keyed(store, open, control, &events).await?;
        Ok(store.read(move |db| self.missing(db)).await?)
    }
}

impl OpenQuestions {
    fn count(&self) -> usize {
        let manipulated: usize = self.manipulated.iter().map(Vec::len).sum();
        self.plain.len() + manipulated + self.presumed.len()
    }
}
