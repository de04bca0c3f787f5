//! Sets votes aside whose judges were shown other titles, metadata or fields of the query than the
//! project has now.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::corpus::DocId;
use crate::domain::vote::JudgeId;
use crate::judge::prompt::Template;
use crate::judge::{JudgeSpec, PoolText};
use crate::registry;
use rusqlite::params;
use serde_json::{Value, json};

/// The parameter that distinguishes a judge from itself with the present data.
const EARLIER: &str = "earlier_inputs";

impl Db {
    /// Sets aside the votes and failures of a query whose judges were shown a part of `before` that
    /// is now different. They stay in the project under an earlier identity of the judge, so they count
    /// no longer, and the next run asks again. Returns the number of votes.
    ///
    /// A judge whose prompt is unknown keeps its votes, because nobody knows what it was shown.
    pub(super) fn set_stale_votes_aside(
        &self,
        query: QueryKey,
        before: &PoolText,
    ) -> Result<usize> {
        let after = self.inputs_of(query)?;
        let mut votes = 0;
        for (judge, spec) in self.judges_asked_lists()? {
            let changed = self.changed_inputs(&spec, before, &after)?;
            if !changed.is_empty() && self.are_in_open_lists(query, judge, &changed)? {
                return Err(self.refused_change(query, &spec.name)?);
            }
        }
        for (judge, spec) in self.judges_asked_about(query)? {
            let changed = self.changed_inputs(&spec, before, &after)?;
            if changed.is_empty() {
                continue;
            }
            self.check_open_batches(query, judge, &spec.name, &changed)?;
            let earlier = self.earlier_identity(query, &spec)?;
            for document in changed {
                let moved = params![judge.0, earlier.0, query.0, document];
                votes += self.change(
                    "UPDATE vote SET judge = ?2 WHERE judge = ?1 AND battle IN (SELECT id
                     FROM battle WHERE query = ?3 AND (a = ?4 OR b = ?4))",
                    moved,
                )?;
                // A question that failed for good can be asked again with other data.
                self.change(
                    "UPDATE failure SET judge = ?2 WHERE judge = ?1 AND battle IN (SELECT id
                     FROM battle WHERE query = ?3 AND (a = ?4 OR b = ?4))",
                    moved,
                )?;
            }
            self.recount(query, judge)?;
            self.recount(query, earlier)?;
        }
        Ok(votes)
    }

    /// The documents of which the judge is now shown something else; none if its prompt is unknown.
    fn changed_inputs(
        &self,
        spec: &JudgeSpec,
        before: &PoolText,
        after: &PoolText,
    ) -> Result<Vec<usize>> {
        let prompt = registry::known_prompt(self, &spec.prompt_hash)?;
        let Some(template) = prompt.as_ref().and_then(Template::of_stored) else {
            return Ok(Vec::new());
        };
        let is_changed =
            |at: &usize| template.data_shown(before, *at) != template.data_shown(after, *at);
        Ok((0..after.titles.len()).filter(is_changed).collect())
    }

    /// Whether votes of a judge with this name were set aside.
    pub fn has_votes_set_aside(&self, judge: &str) -> Result<bool> {
        let judges = self.all_judges()?;
        Ok(judges
            .iter()
            .any(|(_, spec)| spec.name == judge && is_earlier(spec)))
    }

    fn judges_asked_about(&self, query: QueryKey) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        let asked: Vec<i64> = self.all(
            "SELECT judge FROM call_total WHERE query = ?1
             UNION
             SELECT batch.judge FROM batch_call JOIN batch ON batch.id = batch_call.batch
             JOIN battle ON battle.id = batch_call.battle
             WHERE closed_ms IS NULL AND done = 0 AND battle.query = ?1",
            [query.0],
            |row| row.get(0),
        )?;
        let judges = self.all_judges()?.into_iter();
        Ok(judges
            .filter(|(judge, spec)| asked.contains(&judge.0) && !is_earlier(spec))
            .collect())
    }

    /// Refuses a change of documents about which open batches of the judge will be answered: their
    /// answers would count as if the judge had been shown the new data.
    fn check_open_batches(
        &self,
        query: QueryKey,
        judge: JudgeId,
        name: &str,
        documents: &[usize],
    ) -> Result<()> {
        let pairs: Vec<[usize; 2]> = self.all(
            "SELECT a, b FROM batch_call JOIN batch ON batch.id = batch_call.batch
             JOIN battle ON battle.id = batch_call.battle
             WHERE closed_ms IS NULL AND done = 0 AND batch.judge = ?1 AND battle.query = ?2",
            params![judge.0, query.0],
            |row| Ok([row.get(0)?, row.get(1)?]),
        )?;
        let open = pairs.iter().flatten().any(|at| documents.contains(at));
        if !open {
            return Ok(());
        }
        Err(self.refused_change(query, name)?)
    }

    fn refused_change(&self, query: QueryKey, name: &str) -> Result<StoreError> {
        Ok(StoreError::Conflict(format!(
            "an open batch of {name:?} asks about query {:?} with the earlier data; fetch its \
             answers first (`overrule batch fetch`), or cancel it",
            self.query(query)?.id.as_str()
        )))
    }

    /// Whether a list that an open batch of the judge asks about shows one of these documents.
    fn are_in_open_lists(
        &self,
        query: QueryKey,
        judge: JudgeId,
        documents: &[usize],
    ) -> Result<bool> {
        let lists = self.lists_being_made(judge)?;
        if lists.is_empty() {
            return Ok(false);
        }
        let (name, ids) = (self.query(query)?.id, self.document_ids(query)?);
        let changed: Vec<&DocId> = documents.iter().filter_map(|at| ids.get(*at)).collect();
        for key in lists {
            if let Some((asked, shown)) = registry::listed_documents(self, &key)?
                && asked == name
                && shown.iter().any(|document| changed.contains(&document))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An identity of the judge under which it was asked nothing about the query.
    fn earlier_identity(&self, query: QueryKey, spec: &JudgeSpec) -> Result<JudgeId> {
        let mut number = 1;
        loop {
            let earlier = self.judge(&numbered(spec, number))?;
            let is_used: bool = self.value(
                "SELECT EXISTS (SELECT 1 FROM call_total WHERE query = ?1 AND judge = ?2)",
                params![query.0, earlier.0],
            )?;
            if !is_used {
                return Ok(earlier);
            }
            number += 1;
        }
    }
}

/// Whether this is the identity of votes that were set aside, and not of a judge that can be asked.
pub fn is_earlier(spec: &JudgeSpec) -> bool {
    let params = serde_json::from_str::<Value>(&spec.params);
    params.is_ok_and(|params| params.get(EARLIER).is_some())
}

fn numbered(spec: &JudgeSpec, number: usize) -> JudgeSpec {
    let mut params = match serde_json::from_str(&spec.params) {
        Ok(Value::Object(params)) => params,
        _ => [("params".to_owned(), json!(spec.params))]
            .into_iter()
            .collect(),
    };
    params.insert(EARLIER.to_owned(), json!(number));
    JudgeSpec {
        params: Value::Object(params).to_string(),
        ..spec.clone()
    }
}
