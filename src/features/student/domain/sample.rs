//! Draws the pairs for training and testing a student: spread evenly over queries, without using a
//! document twice, and with each query on one side only, unless single pairs are divided.

mod matching;

use crate::domain::battle::Pair;
use crate::domain::named::named;
use crate::domain::sampling::SeededRng;
use matching::Matching;
use std::collections::BTreeSet;
use thiserror::Error;

/// Number of random splits to try before giving up.
const SPLITS: usize = 20;

/// A query to draw from.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleQuery {
    /// By pool index, the number of the document, from 0: the same in every query that contains it,
    /// and unique within a query.
    pub documents: Vec<usize>,
    pub pairs: AllowedPairs,
}

/// The pairs of a query that may be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum AllowedPairs {
    /// All pairs of its documents.
    All,
    Listed(Vec<Pair>),
    /// All pairs of its documents except these.
    AllBut(BTreeSet<Pair>),
}

impl AllowedPairs {
    /// Whether no pair is allowed, given the number of documents.
    fn is_empty(&self, documents: usize) -> bool {
        let all = documents * documents.saturating_sub(1) / 2;
        match self {
            Self::All => all == 0,
            Self::Listed(pairs) => pairs.is_empty(),
            Self::AllBut(pairs) => pairs.len() >= all,
        }
    }

    fn has(&self, pair: Pair) -> bool {
        match self {
            Self::All => true,
            Self::Listed(pairs) => pairs.contains(&pair),
            Self::AllBut(pairs) => !pairs.contains(&pair),
        }
    }
}

named! {
    "a split", "lowercase";
    /// What is divided into training and test data.
    #[derive(Default)]
    pub enum SampleSplit {
        /// All pairs of a query are on one side.
        #[default]
        Queries,
        /// Each pair is on a random side, so that a query may be on both.
        Pairs,
    }
}

/// The requested sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRequest {
    pub pairs: usize,
    /// Number of pairs for training; the others are for testing.
    pub train: usize,
    pub split: SampleSplit,
    pub seed: u64,
}

/// A drawn pair: the index of a query, and two of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampledPair {
    pub query: usize,
    pub pair: Pair,
}

/// Pairs of each side, in the order of their queries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairSample {
    pub train: Vec<SampledPair>,
    pub test: Vec<SampledPair>,
}

/// Why no such sample exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SampleRefusal {
    #[error("{train} training pairs are more than {pairs} in total")]
    TrainAboveAll { train: usize, pairs: usize },
    /// No choice of pairs without repeated documents has more than `most`.
    #[error("cannot sample {wanted} pairs without using a document twice; the maximum is {most}")]
    TooMany { wanted: usize, most: usize },
    /// There are enough pairs, but no split of the queries was found with enough on both sides.
    #[error(
        "found no split of the queries with {train} training pairs and {test} test pairs; the \
         closest has {train_found} and {test_found}"
    )]
    NoSplit {
        train: usize,
        test: usize,
        train_found: usize,
        test_found: usize,
    },
}

/// Draws a sample; the same queries and request give the same one.
///
/// Each side takes one pair per query in turn as long as possible, so that no query has two more
/// than another query of its side that could still provide a pair. If this ends early, pairs are
/// exchanged along augmenting paths (Edmonds 1965) as long as that helps, so a request is only
/// refused as too large if it is impossible.
pub fn sample(
    queries: &[SampleQuery],
    request: SampleRequest,
) -> Result<PairSample, SampleRefusal> {
    let SampleRequest {
        pairs, train, seed, ..
    } = request;
    let test = pairs
        .checked_sub(train)
        .ok_or(SampleRefusal::TrainAboveAll { train, pairs })?;
    if request.split == SampleSplit::Pairs {
        return divided_pairs(queries, request);
    }
    let mut nearest: Option<(usize, usize)> = None;
    for attempt in 0..SPLITS {
        let mut drawer = Drawer::new(queries, seed, attempt);
        let (train_queries, test_queries) = drawer.split(train, test);
        let mut found = [
            drawer.fill(&train_queries, train),
            drawer.fill(&test_queries, test),
        ];
        let short = |found: &[Vec<SampledPair>; 2]| pairs - found[0].len() - found[1].len();
        if short(&found) > 0 && attempt == 0 {
            let all: Vec<usize> = (0..queries.len()).collect();
            let mut matching = Matching::new(queries, &all, |_| false);
            let most = matching.grow(found.iter().flatten(), pairs);
            if most < pairs {
                return Err(SampleRefusal::TooMany {
                    wanted: pairs,
                    most,
                });
            }
        }
        for (side, (own, wanted)) in [(&train_queries, train), (&test_queries, test)]
            .into_iter()
            .enumerate()
        {
            if found[side].len() < wanted {
                let other = drawer.documents_of(&found[1 - side]);
                let mut matching = Matching::new(queries, own, |document| other[document]);
                matching.grow(found[side].iter(), wanted);
                found[side] = matching.pairs();
            }
        }
        if short(&found) == 0 {
            let [mut train, mut test] = found;
            train.sort_unstable();
            test.sort_unstable();
            return Ok(PairSample { train, test });
        }
        let counts = (found[0].len(), found[1].len());
        if nearest.is_none_or(|(x, y)| x + y < counts.0 + counts.1) {
            nearest = Some(counts);
        }
    }
    let (train_found, test_found) = nearest.unwrap_or_default();
    Err(SampleRefusal::NoSplit {
        train,
        test,
        train_found,
        test_found,
    })
}

/// Draws pairs of all queries, and divides them at random.
fn divided_pairs(
    queries: &[SampleQuery],
    request: SampleRequest,
) -> Result<PairSample, SampleRefusal> {
    let SampleRequest {
        pairs, train, seed, ..
    } = request;
    let mut drawer = Drawer::new(queries, seed, 0);
    let mut all: Vec<usize> = (0..queries.len()).collect();
    drawer.rng.shuffle(&mut all);
    let mut found = drawer.fill(&all, pairs);
    if found.len() < pairs {
        all.sort_unstable();
        let mut matching = Matching::new(queries, &all, |_| false);
        let most = matching.grow(found.iter(), pairs);
        if most < pairs {
            return Err(SampleRefusal::TooMany {
                wanted: pairs,
                most,
            });
        }
        found = matching.pairs();
    }
    found.sort_unstable();
    drawer.rng.shuffle(&mut found);
    let mut test = found.split_off(train);
    found.sort_unstable();
    test.sort_unstable();
    Ok(PairSample { train: found, test })
}

/// One attempt: the documents used so far.
struct Drawer<'a> {
    queries: &'a [SampleQuery],
    rng: SeededRng,
    used: Vec<bool>,
}

impl<'a> Drawer<'a> {
    fn new(queries: &'a [SampleQuery], seed: u64, attempt: usize) -> Self {
        let documents = queries.iter().flat_map(|query| &query.documents);
        let count = documents.max().map_or(0, |most| most + 1);
        Self {
            queries,
            rng: SeededRng::new(seed, &["student sample", &attempt.to_string()]),
            used: vec![false; count],
        }
    }

    /// Splits the queries at random, in proportion to the pairs.
    fn split(&mut self, train: usize, test: usize) -> (Vec<usize>, Vec<usize>) {
        let gives = |at: &usize| {
            let query = &self.queries[*at];
            !query.pairs.is_empty(query.documents.len())
        };
        let mut order: Vec<usize> = (0..self.queries.len()).filter(gives).collect();
        self.rng.shuffle(&mut order);
        let n = order.len();
        let share = train as f64 / (train + test).max(1) as f64;
        let least = usize::from(train > 0 && n > 0);
        let most = n - usize::from(test > 0 && n > 0).min(n);
        let size = ((share * n as f64).round() as usize).clamp(least.min(most), most);
        let rest = order.split_off(size);
        (order, rest)
    }

    /// Takes one pair per query in turn.
    fn fill(&mut self, own: &[usize], wanted: usize) -> Vec<SampledPair> {
        let queries = self.queries;
        let mut left: Vec<(usize, Left<'_>)> = own
            .iter()
            .map(|at| (*at, Left::new(&queries[*at])))
            .collect();
        let mut found = Vec::new();
        while !left.is_empty() && found.len() < wanted {
            left.retain_mut(|(query, left)| {
                if found.len() == wanted {
                    return true;
                }
                let documents = &self.queries[*query].documents;
                let pair = left.draw(documents, &mut self.used, &mut self.rng);
                found.extend(pair.map(|pair| SampledPair {
                    query: *query,
                    pair,
                }));
                pair.is_some()
            });
        }
        found
    }

    fn documents_of(&self, pairs: &[SampledPair]) -> Vec<bool> {
        let mut used = vec![false; self.used.len()];
        for one in pairs {
            let documents = &self.queries[one.query].documents;
            used[documents[one.pair.low()]] = true;
            used[documents[one.pair.high()]] = true;
        }
        used
    }
}

/// The remaining supply of a query.
enum Left<'a> {
    /// Pool indexes, to be paired in any allowed way.
    Documents(Vec<usize>, &'a AllowedPairs),
    Pairs(Vec<Pair>),
}

impl<'a> Left<'a> {
    fn new(query: &'a SampleQuery) -> Self {
        match &query.pairs {
            AllowedPairs::Listed(pairs) => Self::Pairs(pairs.clone()),
            all => Self::Documents((0..query.documents.len()).collect(), all),
        }
    }

    /// Draws a pair of unused documents and marks them as used.
    fn draw(
        &mut self,
        documents: &[usize],
        used: &mut [bool],
        rng: &mut SeededRng,
    ) -> Option<Pair> {
        match self {
            Self::Documents(left, allowed) => {
                left.retain(|at| !used[documents[*at]]);
                while left.len() > 1 {
                    let first = left.swap_remove(rng.below(left.len()));
                    // Start at a random position, so that each partner is equally likely.
                    let begin = rng.below(left.len());
                    let mut pairs = (begin..left.len())
                        .chain(0..begin)
                        .map(|at| (at, Pair::new(first, left[at])));
                    let found = pairs
                        .find_map(|(at, pair)| Some((at, pair.filter(|pair| allowed.has(*pair))?)));
                    // A document that fits none of the remaining ones will not fit any later.
                    let Some((at, pair)) = found else {
                        continue;
                    };
                    left.swap_remove(at);
                    used[documents[pair.low()]] = true;
                    used[documents[pair.high()]] = true;
                    return Some(pair);
                }
                None
            }
            Self::Pairs(left) => {
                while !left.is_empty() {
                    let pair = left.swap_remove(rng.below(left.len()));
                    let (low, high) = (documents[pair.low()], documents[pair.high()]);
                    if low != high && !used[low] && !used[high] {
                        used[low] = true;
                        used[high] = true;
                        return Some(pair);
                    }
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
