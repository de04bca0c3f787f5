//! Finds as many pairs as possible without using a document twice: a maximum matching (Edmonds
//! 1965), by searching from one free document after another, with blossoms in a union-find forest.

use super::{AllowedPairs, SampleQuery, SampledPair};
use crate::domain::battle::{Pair, all_pairs};
use std::collections::{HashMap, VecDeque};

const NONE: usize = usize::MAX;

/// A document's position in a search: at an even distance from its root, at an odd one, or not
/// reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Unreached,
    Outer,
    Inner,
}

pub(super) struct Matching<'a> {
    queries: &'a [SampleQuery],
    /// The queries that may provide pairs.
    own: Vec<usize>,
    /// Queries by document.
    queries_of: Vec<Vec<usize>>,
    /// For each document, the documents that it forms listed pairs with.
    listed: Vec<Vec<usize>>,
    closed: Vec<bool>,
    mate: Vec<usize>,
    /// State of the search.
    label: Vec<Label>,
    parent: Vec<usize>,
    base: Vec<usize>,
    seen: Vec<usize>,
    round: usize,
    /// The document that first scanned a query's documents, by query.
    looked: HashMap<usize, usize>,
    size: usize,
}

impl<'a> Matching<'a> {
    /// An empty matching of the documents of some queries, without closed documents.
    pub(super) fn new(
        queries: &'a [SampleQuery],
        own: &[usize],
        closed: impl Fn(usize) -> bool,
    ) -> Self {
        let documents = own.iter().flat_map(|at| &queries[*at].documents);
        let n = documents.max().map_or(0, |most| most + 1);
        let mut queries_of = vec![Vec::new(); n];
        let mut listed = vec![Vec::new(); n];
        for at in own {
            let query = &queries[*at];
            let mut list = |pair: Pair| {
                let (x, y) = (query.documents[pair.low()], query.documents[pair.high()]);
                listed[x].push(y);
                listed[y].push(x);
            };
            match &query.pairs {
                AllowedPairs::All => query
                    .documents
                    .iter()
                    .for_each(|document| queries_of[*document].push(*at)),
                AllowedPairs::Listed(pairs) => pairs.iter().copied().for_each(list),
                AllowedPairs::AllBut(_) => all_pairs(query.documents.len())
                    .filter(|pair| query.pairs.has(*pair))
                    .for_each(&mut list),
            }
        }
        Self {
            queries,
            own: own.to_vec(),
            queries_of,
            listed,
            closed: (0..n).map(closed).collect(),
            mate: vec![NONE; n],
            label: vec![Label::Unreached; n],
            parent: vec![NONE; n],
            base: (0..n).collect(),
            seen: vec![0; n],
            round: 0,
            looked: HashMap::new(),
            size: 0,
        }
    }

    /// Starts with some pairs and adds more until there are `wanted` or no more can be found;
    /// returns their number.
    pub(super) fn grow<'p>(
        &mut self,
        begin: impl Iterator<Item = &'p SampledPair>,
        wanted: usize,
    ) -> usize {
        for one in begin {
            let documents = &self.queries[one.query].documents;
            let (x, y) = (documents[one.pair.low()], documents[one.pair.high()]);
            self.mate[x] = y;
            self.mate[y] = x;
            self.size += 1;
        }
        for document in 0..self.mate.len() {
            if self.size >= wanted {
                break;
            }
            let free = self.mate[document] == NONE && !self.closed[document];
            // A document that a failed search has reached is skipped in later searches.
            if free && self.label[document] == Label::Unreached && self.search(document) {
                self.size += 1;
            }
        }
        self.size
    }

    /// The pairs, each assigned to the query that contains it and has the fewest pairs so far.
    pub(super) fn pairs(&self) -> Vec<SampledPair> {
        let mut options: HashMap<(usize, usize), Vec<SampledPair>> = HashMap::new();
        for at in &self.own {
            let query = &self.queries[*at];
            let places: HashMap<usize, usize> = query
                .documents
                .iter()
                .enumerate()
                .map(|(place, document)| (*document, place))
                .collect();
            for (document, place) in &places {
                let mate = self.mate[*document];
                let Some(other) = places.get(&mate).filter(|_| *document < mate) else {
                    continue;
                };
                let Some(pair) = Pair::new(*place, *other) else {
                    continue;
                };
                if query.pairs.has(pair) {
                    options
                        .entry((*document, mate))
                        .or_default()
                        .push(SampledPair { query: *at, pair });
                }
            }
        }
        let mut options: Vec<_> = options.into_iter().collect();
        options.sort_unstable_by_key(|(documents, from)| (from.len(), *documents));
        let mut counts: HashMap<usize, usize> = HashMap::new();
        let mut found = Vec::with_capacity(options.len());
        for (_, from) in options {
            let count = |one: &&SampledPair| (counts.get(&one.query).copied(), one.query);
            if let Some(one) = from.iter().min_by_key(count).copied() {
                *counts.entry(one.query).or_default() += 1;
                found.push(one);
            }
        }
        found
    }

    fn root(&mut self, document: usize) -> usize {
        let mut at = document;
        while self.base[at] != at {
            self.base[at] = self.base[self.base[at]];
            at = self.base[at];
        }
        at
    }

    /// Searches for an augmenting path from a free document to another one, and exchanges pairs
    /// along it.
    fn search(&mut self, start: usize) -> bool {
        let mut reached = vec![start];
        let mut looked = Vec::new();
        self.label[start] = Label::Outer;
        let mut queue = VecDeque::from([start]);
        let mut end = None;
        'search: while let Some(from) = queue.pop_front() {
            for to in self.neighbors(from, &mut looked) {
                if self.closed[to] || to == from {
                    continue;
                }
                let label = self.label[to];
                if label == Label::Unreached {
                    reached.push(to);
                    self.parent[to] = from;
                    self.label[to] = Label::Inner;
                    let mate = self.mate[to];
                    if mate == NONE {
                        end = Some(to);
                        break 'search;
                    }
                    reached.push(mate);
                    self.label[mate] = Label::Outer;
                    queue.push_back(mate);
                } else if label == Label::Outer && self.root(from) != self.root(to) {
                    let top = self.common(from, to);
                    self.contract(from, to, top, &mut queue);
                    self.contract(to, from, top, &mut queue);
                }
            }
        }
        let Some(mut at) = end else {
            // No later search can find a path from these documents to a free one.
            return false;
        };
        while at != NONE {
            let before = self.parent[at];
            let next = self.mate[before];
            self.mate[at] = before;
            self.mate[before] = at;
            at = next;
        }
        for document in reached {
            self.label[document] = Label::Unreached;
            self.parent[document] = NONE;
            self.base[document] = document;
        }
        looked.iter().for_each(|query| {
            self.looked.remove(query);
        });
        true
    }

    /// The documents that `from` may be paired with. Only the first document to scan a query gets
    /// all of its documents; later ones get that first document, with which they join a blossom
    /// that contains all earlier ones.
    fn neighbors(&mut self, from: usize, looked: &mut Vec<usize>) -> Vec<usize> {
        let mut found = self.listed[from].clone();
        for query in &self.queries_of[from] {
            match self.looked.get(query) {
                Some(first) => found.push(*first),
                None => {
                    self.looked.insert(*query, from);
                    looked.push(*query);
                    found.extend(&self.queries[*query].documents);
                }
            }
        }
        found
    }

    /// The nearest blossom that is an ancestor of both.
    fn common(&mut self, x: usize, y: usize) -> usize {
        self.round += 1;
        let (mut x, mut y) = (x, y);
        loop {
            if x != NONE {
                x = self.root(x);
                if self.seen[x] == self.round {
                    return x;
                }
                self.seen[x] = self.round;
                x = match self.mate[x] {
                    NONE => NONE,
                    mate => self.parent[mate],
                };
            }
            std::mem::swap(&mut x, &mut y);
            if x == NONE && y == NONE {
                // Both are in the same tree, so its root is a common ancestor.
                return self.base.len();
            }
        }
    }

    fn contract(
        &mut self,
        mut at: usize,
        mut other: usize,
        top: usize,
        queue: &mut VecDeque<usize>,
    ) {
        while self.root(at) != top {
            self.parent[at] = other;
            other = self.mate[at];
            if self.label[other] == Label::Inner {
                self.label[other] = Label::Outer;
                queue.push_back(other);
            }
            for one in [at, other] {
                if self.base[one] == one {
                    self.base[one] = top;
                }
            }
            at = self.parent[other];
        }
    }
}
