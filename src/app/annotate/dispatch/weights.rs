//! Checks whether the judges answer with the same model weights as in their earlier votes.

use super::Dispatcher;
use crate::app::annotate::error::RunError;
use crate::client::now_ms;
use crate::store::judge_weights::FingerprintSource;
use futures::future::join_all;

impl Dispatcher {
    /// Queries the servers that run the models, all at once.
    pub(super) async fn ask_for_weights(&mut self) -> Result<(), RunError> {
        let judges = self.ensemble.clone();
        let answers = join_all(judges.iter().map(|judge| judge.weights())).await;
        for (judge_index, fingerprint) in answers.into_iter().enumerate() {
            if let Some(fingerprint) = fingerprint {
                let listed = FingerprintSource::Listed;
                self.note_weights(judge_index, fingerprint, listed).await?;
            }
        }
        Ok(())
    }

    /// Records the fingerprint in a judge's first answer, if its server has not listed any.
    pub(super) async fn hear_of_weights(
        &mut self,
        judge_index: usize,
        fingerprint: Option<&str>,
    ) -> Result<(), RunError> {
        match fingerprint.filter(|_| !self.judges[judge_index].weighed) {
            Some(fingerprint) => {
                let source = FingerprintSource::Answer;
                self.note_weights(judge_index, fingerprint.to_owned(), source)
                    .await
            }
            None => Ok(()),
        }
    }

    async fn note_weights(
        &mut self,
        judge_index: usize,
        fingerprint: String,
        source: FingerprintSource,
    ) -> Result<(), RunError> {
        let running = &mut self.judges[judge_index];
        running.weighed = true;
        let judge = running.id;
        let note =
            move |db: &mut crate::store::Db| db.note_weights(judge, &fingerprint, source, now_ms());
        if let Some(votes) = self.store.write(note).await? {
            let judge = &mut self.progress.judges[judge_index];
            judge.votes_by_other_weights = votes;
            if let Some(words) = judge.replaced_words() {
                let line = format!("{} {words}", judge.name);
                self.progress.say(line);
            }
        }
        Ok(())
    }
}
