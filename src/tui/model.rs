//! The model: everything the screen shows, and nothing that draws or waits.

mod adjudication;
mod message;
mod review;
mod state;

pub use adjudication::{
    AdjudicationOverview, AdjudicationScreen, CurrentRuling, DocumentEvidence, JudgePick, PickRow,
};
pub use message::{Effect, Msg};
pub use review::{CurrentItem, JudgesScreen, QueueScreen};
pub use state::{
    BattleScreen, BattleSort, DocumentScreen, Layer, MatrixScreen, OpenQuery, QueriesScreen,
    QuerySort, RankingBefore,
};

use super::keymap::Scope;
use super::screens::document::prose::LayoutCache;
use super::widgets::confirm::Confirm;
use super::widgets::heatmap::Viewport;
use super::widgets::help::Help;
use super::widgets::page::Page;
use super::widgets::palette::Palette;
use super::widgets::prompt::LinePrompt;
use super::widgets::toast::Toast;
use crate::app::annotate::progress::RunProgress;
use crate::client::RunControl;
use crate::config::JudgingConfig;
use crate::store::corpus::QueryInfo;
use crate::store::summary_cache::QuerySummary;
use ratatui::layout::{Position, Rect};
use std::time::Instant;

/// Which screen is on top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Screen {
    /// One row a query.
    #[default]
    Queries,
    /// The run that is going on.
    Run,
    /// The K×K matrix of a query.
    Matrix,
    /// One document and its battles.
    Document,
    /// Two documents side by side.
    Battle,
    /// Which pairs to look at first.
    Queue,
    /// A pair of the queue under review.
    Review,
    /// A card a judge.
    Judges,
    /// Battles of a query that contradict each other.
    Cycles,
    /// Picks against labels.
    Adjudication,
    /// The document being ruled on.
    Ruling,
}

impl Screen {
    /// The keys that work here.
    pub fn scope(self) -> Scope {
        match self {
            Self::Queries => Scope::Queries,
            Self::Run => Scope::Run,
            Self::Matrix => Scope::Matrix,
            Self::Document => Scope::Document,
            Self::Battle => Scope::Battle,
            Self::Queue => Scope::Queue,
            Self::Review => Scope::Review,
            Self::Judges => Scope::Judges,
            Self::Cycles => Scope::Cycles,
            Self::Adjudication => Scope::Adjudication,
            Self::Ruling => Scope::Ruling,
        }
    }

    /// What it is called in the header.
    pub fn title(self) -> &'static str {
        match self {
            Self::Queries => "queries",
            Self::Run => "run",
            Self::Matrix => "matrix",
            Self::Document => "document",
            Self::Battle => "battle",
            Self::Queue => "queue",
            Self::Review => "review",
            Self::Judges => "judges",
            Self::Cycles => "cycles",
            Self::Adjudication => "adjudication",
            Self::Ruling => "ruling",
        }
    }
}

/// What lies over the screen and is given keys first.
#[derive(Debug)]
pub enum Overlay {
    /// The keys, explained.
    Help(Help),
    /// Commands by name.
    Palette(Palette),
    /// A line being typed.
    Prompt(LinePrompt, PromptFor),
    /// A question.
    Confirm(Confirm, ConfirmFor),
    /// A text to read.
    Page(Page),
}

/// What a typed line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptFor {
    /// Rows to keep.
    Filter,
    /// A document to go to.
    FindDocument,
    /// The reason for the verdict just given.
    Reason,
    /// The reason for the verdict under review.
    ReviewReason,
    /// Items of the queue to keep.
    QueueFilter,
    /// Disagreements to keep.
    AdjudicationFilter,
    /// The reason for the ruling.
    RulingReason,
    /// Dollars that the project may have spent.
    Budget,
}

/// What a yes is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmFor {
    /// Leave although a run goes on.
    Quit,
    /// Stop the run.
    Stop,
    /// Begin a run that costs money.
    Start,
}

/// What the terminal can do and what the user wants of it.
#[derive(Clone, Debug, Default)]
pub struct TuiOptions {
    /// Who gives verdicts.
    pub annotator: String,
    /// How a run is started from here.
    pub request: crate::app::annotate::RunRequest,
    /// How it is steered at first.
    pub control: RunControl,
    /// How pairs are judged.
    pub judging: JudgingConfig,
    /// What the header calls the project.
    pub project: String,
    /// Whether this is the bundled sample.
    pub demo: bool,
    /// Whether calls may cost money.
    pub paid: bool,
    /// What is to be said about the judges at the start.
    pub note: String,
}

/// Everything.
#[derive(Debug)]
pub struct Model {
    /// The screens from the bottom up; the last is shown, the first is always the list of queries.
    pub stack: Vec<Screen>,
    /// What lies over them.
    pub overlays: Vec<Overlay>,
    /// The list of queries.
    pub queries: QueriesScreen,
    /// The query that is open.
    pub open: Option<OpenQuery>,
    /// The matrix screen.
    pub matrix: MatrixScreen,
    /// The document screen.
    pub document: DocumentScreen,
    /// The battle screen.
    pub battle: BattleScreen,
    /// The queue, and the pair under review.
    pub queue: QueueScreen,
    /// The judges screen.
    pub judges: JudgesScreen,
    /// Disagreements between picks and labels, and the document being ruled on.
    pub adjudication: AdjudicationScreen,
    /// The cycle under the cursor of the cycles screen.
    pub cycle: usize,
    /// A query that was loaded before it is wanted.
    pub prefetched: Option<OpenQuery>,
    /// The run's latest progress, of the last run where none is going on.
    pub progress: Option<RunProgress>,
    /// Whether a run is going on.
    pub running: bool,
    /// How it is steered.
    pub control: RunControl,
    /// How the last run ended, in words.
    pub ended: Option<String>,
    /// The judge that `d` on the run screen drops.
    pub chosen_judge: usize,
    /// First line of the run's log that is shown, from the end.
    pub log_scroll: usize,
    /// A line that goes away by itself.
    pub toast: Option<Toast>,
    /// Size of the terminal.
    pub size: (u16, u16),
    /// The time of the last message.
    pub now: Instant,
    /// What was asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    /// Whether an answer for the open query is on its way.
    pub loading: bool,
    /// Verdicts that are on their way to the disk.
    pub saving: usize,
    /// Whether the list of queries is on its way.
    pub listing: bool,
    /// When the open query was last asked for.
    pub loaded: Instant,
    /// When the list was last asked for while a run goes on.
    pub listed: Instant,
    /// What the user wants.
    pub options: TuiOptions,
    /// The ramp, changed on a key.
    pub ramp: super::theme::Ramp,
    /// Where things were drawn last, for clicks.
    pub areas: Areas,
    /// Texts prepared for drawing.
    pub layouts: LayoutCache,
}

/// Where things were drawn last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// The body of the screen.
    pub body: Rect,
    /// The list or matrix inside it.
    pub list: Rect,
    /// Lines of the longest scrollable text, for clamping.
    pub lines: usize,
    /// Rows or lines that fit on a page.
    pub page: usize,
    /// The first row shown of a list.
    pub first: usize,
    /// Lines of A and of B, where two texts scroll apart.
    pub sides: [usize; 2],
    /// Lines of a second scrollable text beside the first, and how many of them fit.
    pub aside: (usize, usize),
    /// What the heatmap shows, where there is one.
    pub heatmap: Option<Viewport>,
    /// Where the terminal's cursor belongs, when something is typed.
    pub caret: Option<Position>,
}

impl Model {
    /// A model before anything is loaded.
    pub fn new(
        options: TuiOptions,
        ramp: super::theme::Ramp,
        size: (u16, u16),
        now: Instant,
    ) -> Self {
        Self {
            stack: vec![Screen::Queries],
            overlays: Vec::new(),
            queries: QueriesScreen::default(),
            open: None,
            matrix: MatrixScreen::default(),
            document: DocumentScreen::default(),
            battle: BattleScreen {
                together: true,
                ..BattleScreen::default()
            },
            queue: QueueScreen {
                policy: options.judging.policy,
                ..QueueScreen::default()
            },
            judges: JudgesScreen::default(),
            adjudication: AdjudicationScreen::default(),
            cycle: 0,
            prefetched: None,
            progress: None,
            running: false,
            control: options.control,
            ended: None,
            chosen_judge: 0,
            log_scroll: 0,
            toast: None,
            size,
            now,
            generation: 0,
            loading: false,
            saving: 0,
            listing: false,
            loaded: now,
            listed: now,
            options,
            ramp,
            areas: Areas::default(),
            layouts: LayoutCache::default(),
        }
    }

    /// The screen on top.
    pub fn screen(&self) -> Screen {
        self.stack.last().copied().unwrap_or_default()
    }

    /// Rows of the list of queries that are shown, as indexes, filtered and sorted.
    pub fn shown_queries(&self) -> Vec<usize> {
        let rows = &self.queries.rows;
        let mut shown: Vec<usize> = if self.queries.filter.is_empty() {
            (0..rows.len()).collect()
        } else {
            let names: Vec<String> = rows
                .iter()
                .map(|(info, _)| format!("{} {}", info.id, info.text))
                .collect();
            let words: Vec<String> = self
                .queries
                .filter
                .split_whitespace()
                .map(str::to_lowercase)
                .collect();
            let plain = |name: &String| words.iter().all(|word| name.to_lowercase().contains(word));
            let found: Vec<usize> = (0..rows.len())
                .filter(|index| plain(&names[*index]))
                .collect();
            if found.is_empty() {
                // Nothing holds the words as they are typed: be generous with slips.
                let mut found: Vec<usize> = super::fuzzy::rank(&self.queries.filter, &names)
                    .into_iter()
                    .map(|found| found.index)
                    .collect();
                found.sort_unstable();
                found
            } else {
                found
            }
        };
        let key = |index: &usize| -> f64 {
            let Some(summary) = &rows[*index].1 else {
                return f64::INFINITY;
            };
            match self.queries.sort {
                QuerySort::Import => 0.0,
                QuerySort::Consensus if summary.judged == 0 => f64::INFINITY,
                QuerySort::Consensus => summary.unanimous as f64 / summary.judged as f64,
                QuerySort::Cycles => -(summary.cyclic as f64),
                QuerySort::Widest => summary
                    .widest
                    .map_or(f64::INFINITY, |widest| -(widest as f64)),
            }
        };
        if self.queries.sort != QuerySort::Import {
            shown.sort_by(|x, y| key(x).total_cmp(&key(y)));
        }
        shown
    }

    /// The query under the cursor of the list.
    pub fn selected_query(&self) -> Option<&(QueryInfo, Option<QuerySummary>)> {
        self.queries
            .rows
            .get(*self.shown_queries().get(self.queries.cursor)?)
    }

    /// Pool index at each display position of the matrix.
    pub fn matrix_order(&self) -> Vec<usize> {
        self.open
            .as_ref()
            .map_or(Vec::new(), |open| open.view.order(self.matrix.order))
    }

    /// Indexes of the document screen's battles in the order in which they are shown.
    pub fn document_battles(&self) -> Vec<usize> {
        let Some(open) = &self.open else {
            return Vec::new();
        };
        let mut battles = open.view.battles_with(self.document.document);
        let opponent = |index: &usize| -> usize {
            let battle = open.view.rows().battles[*index].battle;
            let other = if battle.a == self.document.document {
                battle.b
            } else {
                battle.a
            };
            open.view.standings[other].map_or(usize::MAX, |standing| standing.rank)
        };
        match self.document.sort {
            BattleSort::Planned => {}
            BattleSort::Opponent => battles.sort_by_key(opponent),
            BattleSort::Surprise => battles.sort_by(|x, y| {
                let size =
                    |index: &usize| open.view.battles[*index].surprise.map_or(-1.0, f64::abs);
                size(y).total_cmp(&size(x))
            }),
        }
        battles
    }
}
