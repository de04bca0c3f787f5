//! As many pairs as possible without a document twice: a maximum matching (Edmonds 1965), by search from one free document
//! after the other with blossoms in a union-find forest.

use super::{AllowedPairs, SampleQuery, SampledPair};
use crate::domain::battle::{Pair, all_pairs};
use std::collections::{HashMap, VecDeque};

const NONE: usize = usize::MAX;

/// A document's place in a search: at an even distance from its root, at an odd one, or not reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Unreached,
    Outer,
    Inner,
}

pub(super) struct Matching<'a> {
    queries: &'a [SampleQuery],
    /// The queries that may give pairs.
    own: Vec<usize>,
    /// Queries by document.
    queries_of: Vec<Vec<usize>>,
    /// Documents met in listed pairs, with the query.
    listed: Vec<Vec<usize>>,
    closed: Vec<bool>,
    mate: Vec<usize>,
    /// Of the search.
    label: Vec<Label>,
    parent: Vec<usize>,
    base: Vec<usize>,
    seen: Vec<usize>,
    round: usize,
    /// The document that looked over a query's documents first, by query.
    looked: HashMap<usize, usize>,
    size: usize,
}

impl<'a> Matching<'a> {
    /// An empty matching of the documents of some queries; those that are closed are left out.
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

    /// Begins with some pairs and finds more until there are so many or no more; returns how many there are.
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
            // A document that an earlier search reached in vain stays out of the others.
            if free && self.label[document] == Label::Unreached && self.search(document) {
                self.size += 1;
            }
        }
        self.size
    }

    /// The pairs, each of the query with the fewest so far that has it.
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

    /// Looks for a path from a free document to another one along which pairs can be exchanged, and exchanges them.
    fn search(&mut self, start: usize) -> bool {
        let mut reached = vec![start];
        let mut looked = Vec::new();
        self.label[start] = Label::Outer;
        let mut queue = VecDeque::from([start]);
        let mut end = None;
        'search: while let Some(from) = queue.pop_front() {
            for to in self.neighbours(from, &mut looked) {
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
            // No search that comes later can leave these documents on a path to a free one.
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

    /// The documents that one may be paired with. Who comes to a query second needs the first one only: with that one it
    /// joins a blossom, in which all are that came before.
    fn neighbours(&mut self, from: usize, looked: &mut Vec<usize>) -> Vec<usize> {
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

    /// The nearest blossom above both.
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
                // Both are of one tree, so that its root is above both.
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
