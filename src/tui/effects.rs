//! Effects are carried out here, and their results come back as messages.

use super::model::{Effect, Msg, OpenQuery, Options};
use crate::engine::{self, Run, now_ms};
use crate::judge::Ensemble;
use crate::store::verdicts::NewVerdict;
use crate::store::{Db, Result, Store};
use std::collections::HashMap;
use tokio::sync::mpsc;

/// Carries effects out.
#[derive(Debug)]
pub struct Runner {
    store: Store,
    ensemble: Ensemble,
    options: Options,
    results: mpsc::Sender<Msg>,
    control: Option<tokio::sync::watch::Sender<engine::Control>>,
}

impl Runner {
    /// A runner that answers into `results`.
    pub fn new(
        store: Store,
        ensemble: Ensemble,
        options: Options,
        results: mpsc::Sender<Msg>,
    ) -> Self {
        Self {
            store,
            ensemble,
            options,
            results,
            control: None,
        }
    }

    /// Begins to carry out an effect that concerns the project or a run; the terminal's effects are the loop's.
    pub fn carry_out(&mut self, effect: Effect, control: engine::Control) {
        match effect {
            Effect::Start => self.start(control),
            Effect::Steer(control) => {
                if let Some(sender) = &self.control {
                    sender.send_replace(control);
                }
            }
            Effect::Copy(_) | Effect::Suspend | Effect::Redraw | Effect::Quit => {}
            effect => self.ask(effect),
        }
    }

    /// Puts an effect to the project.
    fn ask(&self, effect: Effect) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let annotator = self.options.annotator.clone();
        tokio::spawn(async move {
            let saving = match &effect {
                Effect::Save(verdict) => Some(verdict.query),
                _ => None,
            };
            let writes = matches!(
                effect,
                Effect::Save(_) | Effect::Undo | Effect::Summarise(_)
            );
            let work = move |db: &mut Db| answer(db, effect, &annotator, now_ms());
            let result = if writes {
                store.write(work).await
            } else {
                store.read(work).await
            };
            let msg = match (result, saving) {
                (Ok(msg), _) => msg,
                (Err(error), Some(query)) => Some(Msg::NotSaved(query, error.to_string())),
                (Err(error), None) => Some(Msg::Failed(error.to_string())),
            };
            if let Some(msg) = msg {
                drop(results.send(msg).await);
            }
        });
    }

    fn start(&mut self, control: engine::Control) {
        let run = Run::start(
            self.store.clone(),
            self.ensemble.clone(),
            self.options.request.clone(),
            control,
        );
        self.control = Some(run.control);
        let (mut progress, results) = (run.progress, self.results.clone());
        tokio::spawn(async move {
            while progress.changed().await.is_ok() {
                let now = progress.borrow_and_update().clone();
                if results.send(Msg::Progress(now)).await.is_err() {
                    return;
                }
            }
            let end = match run.end.await {
                Ok(end) => end,
                Err(error) => Err(engine::EngineError::Crashed(error.to_string())),
            };
            drop(results.send(Msg::Ended(end)).await);
        });
    }
}

/// What the project answers to an effect; `None` for effects that are not about it.
pub fn answer(db: &mut Db, effect: Effect, annotator: &str, now_ms: i64) -> Result<Option<Msg>> {
    Ok(Some(match effect {
        Effect::List => Msg::Listed(db.overview()?),
        Effect::Summarise(keys) => {
            let keys = keys.into_iter();
            Msg::Summarised(
                keys.map(|key| Ok((key, db.cache_summary(key)?)))
                    .collect::<Result<_>>()?,
            )
        }
        Effect::Open(key, generation) => Msg::Opened(
            generation,
            Box::new(OpenQuery {
                info: db.query(key)?,
                documents: db.documents(key)?,
                judges: db.judges_of(key)?,
                view: db.view(key)?,
                texts: HashMap::new(),
                votes: HashMap::new(),
                last_verdict: None,
            }),
        ),
        Effect::Texts(key, documents) => {
            let documents = documents.into_iter();
            Msg::Texts(
                key,
                documents
                    .map(|at| Ok((at, db.document_text(key, at)?)))
                    .collect::<Result<_>>()?,
            )
        }
        Effect::Votes(key, battles, judges) => {
            let battles = battles.into_iter();
            let votes = battles.map(|battle| Ok((battle, db.battle_votes(battle, &judges)?)));
            Msg::Votes(key, votes.collect::<Result<_>>()?)
        }
        Effect::Save(verdict) => {
            let query = verdict.query;
            db.add_verdict(&NewVerdict {
                created_ms: now_ms,
                ..verdict
            })?;
            Msg::Saved(query)
        }
        Effect::Undo => match db.undo_verdict(annotator, now_ms)? {
            None => Msg::Undone(None),
            Some(undone) => {
                let info = db.query(undone.query)?;
                Msg::Undone(Some((undone, info)))
            }
        },
        Effect::Start
        | Effect::Steer(_)
        | Effect::Copy(_)
        | Effect::Suspend
        | Effect::Redraw
        | Effect::Quit => return Ok(None),
    }))
}
