//! What each screen remembers, and the query that is open.

use crate::domain::battle::{BattleId, Pair};
use crate::domain::ranking::{DocumentOrder, View};
use crate::domain::sanitise;
use crate::domain::verdict::AnnotatorVerdicts;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::store::corpus::{DocumentInfo, QueryInfo, QueryKey};
use crate::store::summary_cache::QuerySummary;
use crate::store::votes::VoteDetail;
use crate::tui::widgets::heatmap::HeatmapState;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The list of queries.
#[derive(Debug, Default)]
pub struct QueriesScreen {
    /// Every query, with its summary where it is known and up to date.
    pub rows: Vec<(QueryInfo, Option<QuerySummary>)>,
    /// The row under the cursor, among those shown.
    pub cursor: usize,
    /// Keep only rows that match.
    pub filter: String,
    /// What the rows are sorted by.
    pub sort: QuerySort,
    /// Whether a list has arrived yet.
    pub loaded: bool,
    /// Queries whose summaries have been asked for since the list arrived, and are on their way.
    pub asked: HashSet<QueryKey>,
}

/// What queries are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuerySort {
    /// As imported.
    #[default]
    Import,
    /// Lowest share of unanimous battles first.
    Consensus,
    /// Most cyclic triads first.
    Cycles,
    /// Widest rank interval first.
    Widest,
}

impl QuerySort {
    /// The next in turn.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Import => Self::Consensus,
            Self::Consensus => Self::Cycles,
            Self::Cycles => Self::Widest,
            Self::Widest => Self::Import,
        }
    }

    /// Its name on the screen.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Import => "as imported",
            Self::Consensus => "least consensus first",
            Self::Cycles => "most cycles first",
            Self::Widest => "widest interval first",
        }
    }
}

/// A layer of the matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// Ensemble scores of the battles fought, with verdicts in force.
    #[default]
    Observed,
    /// The fit's probability for every pair.
    Fitted,
    /// Observed minus fitted.
    Residual,
    /// One judge's votes, by its place in the ensemble.
    Judge(usize),
    /// Verdicts alone.
    Verdicts,
}

/// The matrix screen.
#[derive(Debug, Default)]
pub struct MatrixScreen {
    /// What the cells show.
    pub layer: Layer,
    /// The order of rows and columns.
    pub order: DocumentOrder,
    /// Which surprise was jumped to last, 0 the greatest.
    pub surprise: Option<usize>,
    /// Cursor, window and zoom, in display positions.
    pub heat: HeatmapState,
}

/// What a document's battles are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BattleSort {
    /// Most surprising first.
    #[default]
    Surprise,
    /// The opponent's rank.
    Opponent,
    /// As planned.
    Planned,
}

/// The document screen.
#[derive(Debug, Default)]
pub struct DocumentScreen {
    /// Pool index.
    pub document: usize,
    /// The battle under the cursor, among those shown.
    pub cursor: usize,
    /// How the battles are sorted.
    pub sort: BattleSort,
    /// Whether the reasoning takes the whole width.
    pub expanded: bool,
    /// Which part scrolls: false the battles, true the text or the reasoning.
    pub reading: bool,
    /// First line shown of the text or the reasoning.
    pub scroll: usize,
}

/// The battle screen.
#[derive(Debug, Default)]
pub struct BattleScreen {
    /// The document shown as A.
    pub a: usize,
    /// The document shown as B.
    pub b: usize,
    /// First line shown of A and of B.
    pub scroll: [usize; 2],
    /// Whether both texts scroll together.
    pub together: bool,
    /// What scrolls: 0 for A, 1 for B (both where they scroll together), 2 for the reasoning.
    pub side: usize,
    /// Whole texts instead of the best passages.
    pub full: bool,
    /// The judge whose reasoning is shown, by its place among the pair's calls: battle by battle, in ensemble order.
    pub judge: usize,
    /// First line shown of the reasoning.
    pub judge_scroll: usize,
    /// The reasoning as the judge wrote it, not re-labelled.
    pub raw: bool,
    /// What the last verdict on this screen did, for the ghosts.
    pub before: Option<RankingBefore>,
    /// Whether names and scores of the two are hidden.
    pub blind: bool,
}

/// The ranking before the last change, to show how far everyone moved.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingBefore {
    /// What was done.
    pub change: String,
    /// Ranks before, by pool index.
    pub ranks: Vec<Option<usize>>,
    /// Scores before, by pool index.
    pub zelo: Vec<Option<f64>>,
}

/// A query with all that its screens need.
#[derive(Debug)]
pub struct OpenQuery {
    /// The query.
    pub info: QueryInfo,
    /// Its documents.
    pub documents: Vec<DocumentInfo>,
    /// The judges that count.
    pub judges: Vec<(JudgeId, JudgeSpec)>,
    /// Its numbers.
    pub view: View,
    /// What each person says of its pairs.
    pub people: AnnotatorVerdicts,
    /// Texts that have been asked for.
    pub texts: HashMap<usize, Arc<str>>,
    /// Votes with reasoning that have been asked for.
    pub votes: HashMap<BattleId, Vec<VoteDetail>>,
}

impl RankingBefore {
    /// The ranking as it is now, before something changes it.
    pub fn of(open: &OpenQuery, change: String) -> Self {
        Self {
            change,
            ranks: open.ranks(),
            zelo: open
                .view
                .standings
                .iter()
                .map(|standing| standing.map(|standing| standing.zelo))
                .collect(),
        }
    }
}

impl OpenQuery {
    /// The judges' votes are lexical, at least in part.
    pub fn offline(&self) -> bool {
        self.judges.iter().any(|(_, spec)| spec.is_offline())
    }

    /// Votes with reasoning of the pair's battles, as far as they are loaded, in battle order.
    pub fn votes_of(&self, pair: Pair) -> Vec<&VoteDetail> {
        self.view
            .battles_of(pair)
            .iter()
            .filter_map(|index| {
                self.votes
                    .get(&self.view.rows().battles.get(*index)?.battle.id)
            })
            .flatten()
            .collect()
    }

    /// What a document is called on screen: its sanitised identifier.
    pub fn name(&self, document: usize) -> String {
        self.documents
            .get(document)
            .map_or(String::new(), |document| {
                sanitise::line(document.id.as_str()).into_owned()
            })
    }

    /// A document's sanitised title, or the beginning of its text.
    pub fn headline(&self, document: usize) -> String {
        self.documents
            .get(document)
            .map_or(String::new(), |document| {
                sanitise::line(document.title.as_deref().unwrap_or(&document.snippet)).into_owned()
            })
    }

    /// Ranks by pool index.
    pub fn ranks(&self) -> Vec<Option<usize>> {
        self.view
            .standings
            .iter()
            .map(|standing| standing.map(|standing| standing.rank))
            .collect()
    }
}
