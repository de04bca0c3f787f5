//! State of the list calls on screen.

use crate::domain::battle::Pair;
use crate::features::lists::app::{ListCounting, QueryList};
use crate::store::corpus::QueryKey;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::navigation::cycled;

/// The part of the screen that the arrow keys move in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    #[default]
    Lists,
    Texts,
    Reply,
}

impl Focus {
    /// By the number of the pane.
    pub(super) const ALL: [Self; 3] = [Self::Lists, Self::Texts, Self::Reply];
}

#[derive(Debug, Default)]
pub(crate) struct ListsState {
    /// The list calls of a query, or why they cannot be read; `None` while they are being read.
    found: Option<(QueryKey, Result<Vec<QueryList>, String>)>,
    /// The documents that the person comes from; the first list with all of them is shown, or
    /// the first of these that counts.
    wanted: Vec<usize>,
    cursor: usize,
    pub(super) focus: Focus,
    /// The place in the list of the document under the cursor.
    pub(super) column: usize,
    /// The place of the document that is A.
    pub(super) marked: Option<usize>,
    /// First visible line of the text of each place; if there is none, the text is scrolled to its
    /// best passage.
    scroll: Vec<Option<usize>>,
    pub(super) reply_scroll: usize,
}

impl ListsState {
    /// The screen is opened for these documents.
    pub(super) fn of(wanted: Vec<usize>) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// The lists of this query, or why they cannot be read.
    pub(super) fn found(&self, query: QueryKey) -> Option<Result<&[QueryList], &str>> {
        let (of, found) = self.found.as_ref()?;
        (*of == query).then(|| found.as_deref().map_err(String::as_str))
    }

    /// The lists were read: keeps the cursor on its list. Returns false if no list has the documents
    /// that the person comes from.
    pub(super) fn show(&mut self, query: QueryKey, found: Result<Vec<QueryList>, String>) -> bool {
        let uid = self.chosen().map(|list| list.call.list.uid.clone());
        self.found = Some((query, found));
        let lists = self.lists();
        let kept = lists
            .iter()
            .position(|list| Some(&list.call.list.uid) == uid.as_ref());
        let wanted = std::mem::take(&mut self.wanted);
        let has_all = |list: &QueryList| {
            let mut wanted = wanted.iter();
            wanted.all(|document| list.documents.contains(&Some(*document)))
        };
        let lists = self.lists();
        let counts = |list: &QueryList| matches!(list.counting, ListCounting::Counts(_));
        let first = lists
            .iter()
            .position(|list| has_all(list) && counts(list))
            .or_else(|| lists.iter().position(has_all));
        if !wanted.is_empty()
            && let Some(at) = first
        {
            self.choose(at);
            let place = |document: &usize| {
                let documents = &self.chosen()?.documents;
                documents.iter().position(|of| *of == Some(*document))
            };
            let places: Vec<usize> = wanted.iter().filter_map(place).collect();
            self.column = places.last().copied().unwrap_or(0);
            self.marked = places.first().copied().filter(|at| *at != self.column);
        } else if kept.is_none() {
            self.choose(0);
        } else {
            self.cursor = kept.unwrap_or(0);
        }
        wanted.is_empty() || first.is_some()
    }

    fn lists(&self) -> &[QueryList] {
        match &self.found {
            Some((_, Ok(lists))) => lists,
            Some((_, Err(_))) | None => &[],
        }
    }

    pub(super) fn count(&self) -> usize {
        self.lists().len()
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// The list under the cursor.
    pub(super) fn chosen(&self) -> Option<&QueryList> {
        self.lists().get(self.cursor)
    }

    /// Moves the cursor to a list and shows it from its beginning.
    pub(super) fn choose(&mut self, at: usize) {
        self.cursor = at;
        (self.column, self.marked) = (0, None);
        self.scroll.clear();
        self.reply_scroll = 0;
    }

    /// Goes to the next or previous pane.
    pub(super) fn turn(&mut self, forward: bool) {
        self.focus = cycled(&Focus::ALL, self.focus, forward);
    }

    /// The marked document and the one under the cursor, if both are in the pool.
    pub(super) fn pair(&self) -> Option<(usize, usize)> {
        let [a, b] = self.places()?;
        let documents = &self.chosen()?.documents;
        let (a, b) = ((*documents.get(a)?)?, (*documents.get(b)?)?);
        Pair::new(a, b).map(|_| (a, b))
    }

    /// The places of A and B.
    pub(super) fn places(&self) -> Option<[usize; 2]> {
        let marked = self.marked.filter(|at| *at != self.column)?;
        Some([marked, self.column])
    }

    pub(super) fn scroll(&self, place: usize) -> Option<usize> {
        self.scroll.get(place).copied().flatten()
    }

    /// Scrolls the text of a place to a line.
    pub(super) fn scroll_to(&mut self, place: usize, line: Option<usize>) {
        if self.scroll.len() <= place {
            self.scroll.resize(place + 1, None);
        }
        if let Some(scroll) = self.scroll.get_mut(place) {
            *scroll = line;
        }
    }

    /// Goes to the text of a place and scrolls it to the search match.
    pub(super) fn reveal(&mut self, place: usize) {
        self.column = place;
        self.scroll_to(place, None);
    }
}

impl Model {
    pub(super) fn lists(&self) -> &ListsState {
        self.state()
    }

    pub(super) fn lists_mut(&mut self) -> &mut ListsState {
        self.state_mut()
    }

    /// Whether the answer of a list is hidden: battles are judged blind, and the person has decided
    /// none of its pairs.
    pub(super) fn hides_list(&self, open: &OpenQuery, list: &QueryList) -> bool {
        let known: Vec<usize> = list.documents.iter().flatten().copied().collect();
        let decided = |a: usize, b: usize| {
            let pair = Pair::new(a, b);
            pair.is_some_and(|pair| open.people.by(&self.options.annotator, pair).is_some())
        };
        self.options.judging.battle_blind
            && !known
                .iter()
                .any(|a| known.iter().any(|b| a < b && decided(*a, *b)))
    }
}
