//! Merges the documents of two rankings that have the same text.

use crate::domain::corpus::DocId;
use crate::features::duel::domain::sbr::{SbrProfile, text_key};
use std::collections::HashMap;

/// A document of a ranking, with the text shown to people.
#[derive(Clone, Copy, Debug)]
pub struct RankedText<'a> {
    pub id: &'a DocId,
    pub text: &'a str,
}

/// A distinct text of one or both rankings.
#[derive(Debug)]
pub(super) struct DistinctDocument<'a> {
    /// The ID shown: that of its best rank in either ranking; the lesser ID in a tie.
    pub id: &'a DocId,
    /// All IDs with this text.
    pub ids: Vec<&'a DocId>,
    pub text: &'a str,
    /// Its rank among A's distinct texts, from 1.
    pub rank_a: Option<usize>,
    pub rank_b: Option<usize>,
}

impl DistinctDocument<'_> {
    /// The better of its two ranks.
    pub fn best_rank(&self) -> usize {
        let ranks = [self.rank_a, self.rank_b].into_iter().flatten();
        ranks.min().unwrap_or(usize::MAX)
    }
}

/// The distinct texts of two rankings, both best first. Texts that differ only in case or
/// whitespace are the same.
pub(super) fn distinct_documents<'a>(
    a: &[RankedText<'a>],
    b: &[RankedText<'a>],
) -> Vec<DistinctDocument<'a>> {
    let mut documents: Vec<DistinctDocument<'a>> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (list, of_b) in [(a, false), (b, true)] {
        let mut ranks = 0;
        for one in list {
            let key = text_key(one.text, SbrProfile::Overrule);
            let at = *known.entry(key).or_insert(documents.len());
            if at == documents.len() {
                documents.push(DistinctDocument {
                    id: one.id,
                    ids: Vec::new(),
                    text: one.text,
                    rank_a: None,
                    rank_b: None,
                });
            }
            let Some(document) = documents.get_mut(at) else {
                continue;
            };
            if !document.ids.contains(&one.id) {
                document.ids.push(one.id);
            }
            let best = document.best_rank();
            let rank = if of_b {
                &mut document.rank_b
            } else {
                &mut document.rank_a
            };
            if rank.is_some() {
                continue;
            }
            ranks += 1;
            *rank = Some(ranks);
            if ranks < best || ranks == best && one.id < document.id {
                (document.id, document.text) = (one.id, one.text);
            }
        }
    }
    documents
}
