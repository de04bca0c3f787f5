//! The documents of two rankings, each text once.

use crate::domain::corpus::DocId;
use crate::domain::sbr::{SbrProfile, text_key};
use std::collections::HashMap;

/// A document of a ranking, with the text that a person reads.
#[derive(Clone, Copy, Debug)]
pub struct RankedText<'a> {
    pub id: &'a DocId,
    pub text: &'a str,
}

/// A text of one or both rankings.
#[derive(Debug)]
pub(super) struct DistinctDocument<'a> {
    /// The id with which it is shown: that of its best rank in either ranking, of two the lesser one.
    pub id: &'a DocId,
    /// Every id that it has.
    pub ids: Vec<&'a DocId>,
    pub text: &'a str,
    /// Its rank among A's different texts, from 1.
    pub rank_a: Option<usize>,
    pub rank_b: Option<usize>,
}

impl DistinctDocument<'_> {
    /// Its better rank of the two.
    pub fn best_rank(&self) -> usize {
        let ranks = [self.rank_a, self.rank_b].into_iter().flatten();
        ranks.min().unwrap_or(usize::MAX)
    }
}

/// The different texts of two rankings, both best first. Texts that differ in case or white space only are one.
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
