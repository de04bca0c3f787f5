//! Chooses the documents of a grid: the tops of two rankings, and one document that neither ranks
//! high.

use super::distinct::{DistinctDocument, RankedText, distinct_documents};
use super::{DuelDocument, DuelQuery, Source};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::named::named;
use crate::domain::sampling::SeededRng;
use crate::domain::text;
use crate::features::duel::domain::sbr::{SbrProfile, dot, mean, unit};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

named! {
    "a measure of similarity", "kebab-case";
    /// The measure of similarity between two documents.
    pub enum Likeness {
        /// The cosine similarity of their vectors.
        Vectors,
        /// The share of the union of their stems that both have (Jaccard 1912), without stopwords.
        Stems,
    }
}

/// The data from which the documents of a query are chosen.
#[derive(Clone, Copy, Debug)]
pub struct NineInput<'a> {
    pub query: &'a QueryId,
    /// Index of the query in the duel; together with the seed, it determines which ranking chooses
    /// first.
    pub place: usize,
    /// Ranking A, best first.
    pub a: &'a [RankedText<'a>],
    pub b: &'a [RankedText<'a>],
    /// Grades of the query's documents according to labels and rulings, or `None` without any.
    pub grades: Option<&'a BTreeMap<DocId, i32>>,
    /// The lowest grade that counts as relevant.
    pub relevant_from: i32,
    /// Vectors of the documents of both rankings. Unless all compared documents have one, stems are
    /// compared.
    pub vectors: Option<&'a HashMap<DocId, Vec<f32>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NineOptions {
    /// Number of documents of each ranking: 4.
    pub top: usize,
    pub profile: SbrProfile,
    pub seed: u64,
}

/// Information about an easy negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EasyNegative {
    /// Its mean similarity to the best documents.
    pub similarity: f64,
    pub likeness: Likeness,
    /// Its grade; `None` if ungraded.
    pub grade: Option<i32>,
}

/// The chosen documents, with information about the easy negative, which is the last of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Nine {
    pub chosen: DuelQuery,
    pub negative: Option<EasyNegative>,
}

/// Down to this rank of either ranking, an ungraded document may be relevant.
const UNJUDGED_TOP: usize = 10;

/// Number of best documents that the original compares with.
const ORIGINAL_REFERENCE: usize = 5;

/// Chooses the documents of a query.
///
/// [`SbrProfile::Overrule`]: documents with the same text count once; A and B take turns to choose
/// their best remaining document. The negative is the document least like those chosen that is
/// neither known to be relevant, nor ungraded in the first ten of a ranking, nor ranked as high as
/// a chosen document.
///
/// [`SbrProfile::Original`]: as the authors' script chooses, where A is the first stage and B is
/// SBR. Without grades, the first ten of either ranking count as relevant.
pub fn nine(input: &NineInput<'_>, options: &NineOptions) -> Nine {
    match options.profile {
        SbrProfile::Overrule => balanced(input, options),
        SbrProfile::Original => {
            let dummy = original_grades(input);
            original(input, options.top, Some(input.grades.unwrap_or(&dummy)))
        }
    }
}

fn balanced(input: &NineInput<'_>, options: &NineOptions) -> Nine {
    let documents = distinct_documents(input.a, input.b);
    let mut rng = SeededRng::new(options.seed, &["duel", "who chooses first"]);
    let b_first = (rng.below(2) + input.place) % 2 == 1;
    let mut taken: Vec<(usize, Source)> = Vec::new();
    let mut depth = 0;
    for turn in 0..2 * options.top {
        let of_b = (turn % 2 == 1) != b_first;
        let rank = |document: &DistinctDocument<'_>| {
            if of_b {
                document.rank_b
            } else {
                document.rank_a
            }
        };
        let free = documents.iter().enumerate().filter_map(|(at, document)| {
            let free = taken.iter().all(|(other, _)| *other != at);
            Some((rank(document).filter(|_| free)?, at))
        });
        let Some((rank, at)) = free.min() else {
            continue;
        };
        depth = depth.max(rank);
        taken.push((at, if of_b { Source::TopOfB } else { Source::TopOfA }));
    }
    let above = |rank: Option<usize>, most: usize| rank.is_some_and(|rank| rank <= most);
    let rest: Vec<usize> = (0..documents.len())
        .filter(|at| taken.iter().all(|(other, _)| other != at))
        .collect();
    let qualifies = |at: &&usize| {
        let document = &documents[**at];
        let high = |most| above(document.rank_a, most) || above(document.rank_b, most);
        let fits = match grade_of(input, &document.ids) {
            Some(grade) => grade < input.relevant_from,
            None => !high(UNJUDGED_TOP),
        };
        fits && !high(depth) && !document.text.trim().is_empty()
    };
    let fit: Vec<usize> = rest.iter().filter(qualifies).copied().collect();
    let of = |at: &usize| RankedText {
        id: documents[*at].id,
        text: documents[*at].text,
    };
    let best: Vec<RankedText<'_>> = taken.iter().map(|(at, _)| of(at)).collect();
    let others: Vec<RankedText<'_>> = fit.iter().map(of).collect();
    let (likeness, similarities) = similarities(&others, &best, input.vectors);
    let lowest = fit.iter().zip(similarities).min_by(|x, y| {
        let deepest = |at: &usize| std::cmp::Reverse(documents[*at].best_rank());
        let by_rank = || deepest(x.0).cmp(&deepest(y.0));
        let by_id = || documents[*x.0].id.cmp(documents[*y.0].id);
        x.1.total_cmp(&y.1).then_with(by_rank).then_with(by_id)
    });
    let shortfall = shortfall(taken.len(), 2 * options.top, rest.len(), lowest.is_some());
    let negative = lowest.map(|(at, similarity)| {
        taken.push((*at, Source::EasyNegative));
        EasyNegative {
            similarity,
            likeness,
            grade: grade_of(input, &documents[*at].ids),
        }
    });
    let chosen = taken.into_iter().map(|(at, source)| DuelDocument {
        document: documents[at].id.clone(),
        source,
        rank_a: documents[at].rank_a,
        rank_b: documents[at].rank_b,
    });
    Nine {
        chosen: DuelQuery {
            query: input.query.clone(),
            documents: chosen.collect(),
            depth,
            shortfall,
        },
        negative,
    }
}

/// Why there are fewer documents than requested.
fn shortfall(taken: usize, asked: usize, rest: usize, negative: bool) -> String {
    let documents = |n: usize| match n {
        1 => "1 document".to_owned(),
        n => format!("{n} documents"),
    };
    let mut reasons = Vec::new();
    if taken < asked {
        reasons.push(format!(
            "the tops of the rankings have only {} of different texts, not {asked}",
            documents(taken)
        ));
    }
    if !negative {
        reasons.push(match rest {
            0 => "no easy negative: the rankings have no further document".to_owned(),
            rest => format!(
                "no easy negative: none of the {} further down is known not to be relevant, or \
                 ungraded below rank {UNJUDGED_TOP} of \
                 both rankings",
                documents(rest)
            ),
        });
    }
    reasons.join("; ")
}

/// The highest grade of a document under any of its IDs.
fn grade_of(input: &NineInput<'_>, ids: &[&DocId]) -> Option<i32> {
    let grades = input.grades?;
    ids.iter().filter_map(|id| grades.get(*id)).copied().max()
}

/// The grades that the original assigns if there are none.
fn original_grades(input: &NineInput<'_>) -> BTreeMap<DocId, i32> {
    let tops = [input.a, input.b].map(|list| list.iter().take(UNJUDGED_TOP));
    tops.into_iter()
        .flatten()
        .map(|one| (one.id.clone(), 1))
        .collect()
}

/// The original's choice. Without `grades`, every document qualifies.
pub(crate) fn original(
    input: &NineInput<'_>,
    top: usize,
    grades: Option<&BTreeMap<DocId, i32>>,
) -> Nine {
    let rank_in = |list: &[RankedText<'_>], id: &DocId| {
        let at = list.iter().position(|one| one.id == id);
        at.map(|at| at + 1)
    };
    let mut taken: Vec<(&RankedText<'_>, Source)> = Vec::new();
    let from_a = input.a.iter().take(top);
    taken.extend(from_a.map(|one| (one, Source::TopOfA)));
    let known: BTreeSet<&DocId> = taken.iter().map(|(one, _)| one.id).collect();
    let rest = input.b.iter().filter(|one| !known.contains(one.id));
    let rest: Vec<&RankedText<'_>> = rest.collect();
    let (from_b, rest) = rest.split_at(top.min(rest.len()));
    taken.extend(from_b.iter().map(|one| (*one, Source::TopOfB)));
    let own_rank = |(one, source): &(&RankedText<'_>, Source)| match source {
        Source::TopOfA => rank_in(input.a, one.id),
        Source::TopOfB | Source::EasyNegative => rank_in(input.b, one.id),
    };
    let depth = taken.iter().filter_map(own_rank).max().unwrap_or(0);
    // All documents that B ranks, then those that only A has.
    let mut reference: Vec<RankedText<'_>> = input.b.to_vec();
    let only_a = taken.iter().map(|(one, _)| **one);
    reference.extend(only_a.filter(|one| rank_in(input.b, one.id).is_none()));
    reference.truncate(taken.len().min(ORIGINAL_REFERENCE));
    let grade = |id: &DocId| grades.map(|grades| grades.get(id).copied().unwrap_or(0));
    let rest: Vec<RankedText<'_>> = rest.iter().map(|one| **one).collect();
    let mut fit = rest.clone();
    fit.retain(|one| grade(one.id).is_none_or(|grade| grade == 0));
    if fit.is_empty() {
        fit.clone_from(&rest);
    }
    let (likeness, similarities) = similarities(&fit, &reference, input.vectors);
    let lowest = fit.iter().zip(similarities);
    let lowest = lowest.min_by(|x, y| x.1.total_cmp(&y.1));
    let shortfall = shortfall(taken.len(), 2 * top, rest.len(), lowest.is_some());
    let negative = lowest.map(|(one, similarity)| {
        taken.push((one, Source::EasyNegative));
        EasyNegative {
            similarity,
            likeness,
            grade: grade(one.id),
        }
    });
    let chosen = taken.into_iter().map(|(one, source)| DuelDocument {
        document: one.id.clone(),
        source,
        rank_a: rank_in(input.a, one.id),
        rank_b: rank_in(input.b, one.id),
    });
    Nine {
        chosen: DuelQuery {
            query: input.query.clone(),
            documents: chosen.collect(),
            depth,
            shortfall,
        },
        negative,
    }
}

/// The mean similarity of each document to the best ones, excluding itself.
fn similarities(
    documents: &[RankedText<'_>],
    best: &[RankedText<'_>],
    vectors: Option<&HashMap<DocId, Vec<f32>>>,
) -> (Likeness, Vec<f64>) {
    let means = |alike: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        let of = |(at, document): (usize, &RankedText<'_>)| {
            let others = best.iter().enumerate();
            let others = others.filter(|(_, other)| other.id != document.id);
            mean(others.map(|(other, _)| alike(at, other)))
        };
        documents.iter().enumerate().map(of).collect()
    };
    let units = |list: &[RankedText<'_>]| -> Option<Vec<Vec<f64>>> {
        list.iter()
            .map(|one| Some(unit(vectors?.get(one.id)?)))
            .collect()
    };
    if let (Some(own), Some(others)) = (units(documents), units(best)) {
        return (Likeness::Vectors, means(&|x, y| dot(&own[x], &others[y])));
    }
    let stems = |list: &[RankedText<'_>]| -> Vec<BTreeSet<String>> {
        list.iter().map(|one| stems(one.text)).collect()
    };
    let (own, others) = (stems(documents), stems(best));
    let alike = |x: usize, y: usize| {
        let common = own[x].intersection(&others[y]).count();
        let either = own[x].len() + others[y].len() - common;
        common as f64 / either.max(1) as f64
    };
    (Likeness::Stems, means(&alike))
}

fn stems(text: &str) -> BTreeSet<String> {
    let mut stems = BTreeSet::new();
    text::each_token(text, |_, word| {
        if !text::is_stopword(word) {
            stems.insert(text::stem(word));
        }
    });
    stems
}

#[cfg(test)]
mod tests;
