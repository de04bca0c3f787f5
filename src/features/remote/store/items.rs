//! What people judge, by names that are the same in all copies of a project.

use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::domain::sanitize;
use crate::store::corpus::QueryKey;
use crate::store::drafts::DecisionSubject;
use crate::store::{Db, Result, StoreError};
use rusqlite::params;
use sha2::{Digest as _, Sha256};

/// A pair or a document of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The hash of the names.
    pub hash: Vec<u8>,
    /// The name of the query.
    pub query: String,
    /// The names of the two documents of a pair, or of one document, in order.
    pub documents: Vec<String>,
}

/// The hash of what is judged: the name of a query, and the names of documents.
pub(super) fn item_hash(query: &str, mut documents: Vec<&str>) -> Vec<u8> {
    documents.sort_unstable();
    let names = serde_json::json!([query, documents]).to_string();
    Sha256::digest(names.as_bytes()).to_vec()
}

impl Item {
    /// Whether PostgreSQL can store its names.
    pub fn is_storable(&self) -> bool {
        let mut names = self.documents.iter().chain([&self.query]);
        names.all(|name| !name.contains('\0'))
    }
}

/// Rejects the name of a query that PostgreSQL cannot store.
///
/// # Errors
/// It contains a NUL character.
pub fn check_query_name(query: &str) -> Result<()> {
    if query.contains('\0') {
        return Err(StoreError::Conflict(format!(
            "the name of the query {:?} contains a NUL character, which PostgreSQL cannot store; \
             give it another name in the dataset, and import that",
            sanitize::line(query)
        )));
    }
    Ok(())
}

impl Db {
    /// What a decision is about; `None` if it is not in the project any more.
    pub fn shared_item(&self, subject: &DecisionSubject) -> Result<Option<Item>> {
        let (query, mut documents) = match subject {
            DecisionSubject::Pair(query, pair) => {
                let documents =
                    "SELECT name FROM document WHERE query = ?1 AND position IN (?2, ?3)";
                let of = params![query.0, pair.low(), pair.high()];
                let documents: Vec<String> = self.all(documents, of, |row| row.get(0))?;
                if documents.len() != 2 {
                    return Ok(None);
                }
                (query, documents)
            }
            DecisionSubject::Document(query, document) => {
                (query, vec![document.as_str().to_owned()])
            }
        };
        documents.sort_unstable();
        let name = "SELECT name FROM query WHERE id = ?1";
        let Some(query) = self.maybe_value::<String>(name, [query.0])? else {
            return Ok(None);
        };
        Ok(Some(Item {
            hash: item_hash(&query, documents.iter().map(String::as_str).collect()),
            query,
            documents,
        }))
    }

    /// The pair or document of the project with these names, if there is one.
    pub fn subject_of(&self, query: &str, documents: &[String]) -> Result<Option<DecisionSubject>> {
        let key = "SELECT id FROM query WHERE name = ?1";
        let Some(key) = self.maybe_value::<i64>(key, [query])? else {
            return Ok(None);
        };
        let place = |name: &String| {
            let place = "SELECT position FROM document WHERE query = ?1 AND name = ?2";
            self.maybe_value::<usize>(place, params![key, name])
        };
        Ok(match documents {
            [one] => Some(DecisionSubject::Document(
                QueryKey(key),
                DocId::new(one.as_str()),
            )),
            [one, other] => place(one)?
                .zip(place(other)?)
                .and_then(|(one, other)| Pair::new(one, other))
                .map(|pair| DecisionSubject::Pair(QueryKey(key), pair)),
            _ => None,
        })
    }

    /// Whether this is a gold item, which everyone is asked about.
    pub fn is_gold(&self, subject: &DecisionSubject) -> Result<bool> {
        let DecisionSubject::Pair(query, pair) = subject else {
            return Ok(false);
        };
        self.value(
            "SELECT EXISTS (SELECT 1 FROM gold WHERE query = ?1 AND a = ?2 AND b = ?3)",
            params![query.0, pair.low(), pair.high()],
        )
    }

    /// The person other than `reader` whose decision on a pair or document is the latest.
    pub fn judged_by(&self, subject: &DecisionSubject, reader: &str) -> Result<Option<String>> {
        let mut people: Vec<String> = match subject {
            DecisionSubject::Pair(query, pair) => {
                let said = self.people(*query)?;
                said.on(*pair)
                    .iter()
                    .map(|of| of.annotator.clone())
                    .collect()
            }
            DecisionSubject::Document(query, document) => {
                let rulings = self.rulings_on(*query, document)?.into_iter();
                rulings.map(|of| of.ruling.annotator).collect()
            }
        };
        people.retain(|person| person != reader);
        Ok(people.pop())
    }
}
