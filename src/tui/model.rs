//! The model: everything that the screens show, without drawing or waiting.

pub mod adjudication;
pub mod battle;
pub(crate) mod destination;
pub mod export;
pub(crate) mod human_label;
pub mod import;
pub mod matrix;
pub mod open_query;
pub mod pace;
pub(crate) mod panes;
pub mod queries;
pub mod question_set;
pub mod queue;
pub mod remembered;
pub mod review;
pub mod ruling;
pub mod ruling_session;
pub mod run;
pub mod scale;
pub mod session;
pub mod states;
pub mod text_search;
pub mod votes;

use super::drawing::Areas;
use super::fuzzy;
use super::keymap::{Command, Scope, key_on};
use super::screens::Screen;
use super::slot::Jobs;
use super::theme::{Ramp, ThemeChoice};
use super::widgets::confirm::Confirm;
use super::widgets::document_text::LayoutCache;
use super::widgets::export_dialog::ExportDialog;
use super::widgets::guideline_editor::GuidelineEditor;
use super::widgets::heatmap::HeatmapState;
use super::widgets::help::Help;
use super::widgets::import_dialog::ImportDialog;
use super::widgets::page::Page;
use super::widgets::palette::Palette;
use super::widgets::prompt::LinePrompt;
use super::widgets::question_dialog::QuestionDialog;
use super::widgets::settings_dialog::SettingsDialog;
use super::widgets::text_editor::TextEditor;
use super::widgets::toast::{Level, Toast};
use crate::app::adjudication::data::AdjudicationItem;
use crate::app::annotate::RunRequest;
use crate::app::init::discovery::FoundServer;
use crate::app::project::Sample;
use crate::app::text_editor;
use crate::client::RunControl;
use crate::config::{Config, JudgingConfig};
use crate::domain::sanitize;
use crate::store::corpus::QueryKey;
pub use crate::store::drafts::DecisionSubject as Subject;
use adjudication::AdjudicationState;
use battle::BattleState;
use crossterm::event::KeyCode;
use destination::Destination;
use export::ExportState;
use import::ImportState;
use matrix::MatrixState;
use open_query::OpenQuery;
use queries::QueriesState;
use question_set::QuestionState;
use queue::QueueState;
use ratatui::layout::Position;
use remembered::{Configured, Remembered};
use run::RunState;
use session::ReviewSession;
use states::ScreenStates;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use text_search::TextSearch;
use votes::CurrentVotes;

/// An overlay on the screen, which receives keys first.
#[derive(Debug)]
pub enum Overlay {
    Help(Help),
    Palette(Palette),
    Prompt(LinePrompt, PromptFor),
    Confirm(Confirm, ConfirmFor),
    Page(Page),
    Import(ImportDialog),
    Export(ExportDialog),
    Questions(QuestionDialog),
    Settings(SettingsDialog),
    /// A text that is edited on this screen.
    Editor(TextEditor, Screen),
    Guideline(GuidelineEditor),
}

impl Overlay {
    /// Whether its keys are text.
    pub(crate) fn is_typed_into(&self) -> bool {
        match self {
            Self::Palette(_) | Self::Prompt(..) | Self::Editor(..) | Self::Guideline(_) => true,
            Self::Import(dialog) => dialog.is_typed_into(),
            Self::Export(dialog) => dialog.is_typed_into(),
            Self::Help(_)
            | Self::Confirm(..)
            | Self::Page(_)
            | Self::Questions(_)
            | Self::Settings(_) => false,
        }
    }

    /// The keys that a click stands for: a click on a row selects it, and the next one accepts it.
    /// In the list of commands, the first click runs the command.
    pub(crate) fn keys_of_click(&self, at: Position) -> Vec<KeyCode> {
        let (clicks, selected) = match self {
            Self::Prompt(..) => return Vec::new(),
            Self::Editor(editor, _) => return editor.keys_of_click(at),
            Self::Guideline(editor) => return editor.keys_of_click(at),
            Self::Palette(palette) => (&palette.clicks, palette.selected_row()),
            Self::Import(dialog) => (&dialog.clicks, dialog.selected()),
            Self::Export(dialog) => (&dialog.clicks, dialog.selected()),
            Self::Questions(dialog) => (&dialog.clicks, dialog.selected()),
            Self::Settings(dialog) => (&dialog.clicks, dialog.selected()),
            Self::Confirm(confirm, _) => (&confirm.clicks, 0),
            Self::Help(help) => (help.clicks(), 0),
            Self::Page(page) => (page.clicks(), 0),
        };
        let again = match self {
            Self::Settings(_) => KeyCode::Right,
            _ => KeyCode::Enter,
        };
        let mut keys = clicks.keys(at, selected, again);
        if matches!(self, Self::Palette(_)) && !keys.is_empty() && !keys.contains(&again) {
            keys.push(again);
        }
        keys
    }
}

/// The purpose of an input line; the screen below it uses the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptFor {
    /// Filter rows.
    Filter,
    FindDocument,
    /// Search the texts on screen.
    Search,
    Reason,
    /// Set the spending limit of the project in dollars.
    Budget,
    /// Name the file of a project to be created from data.
    NewProject,
    /// Give the name under which decisions are stored.
    Annotator,
    /// Name the file with the project's guideline.
    Guideline,
    /// A line for this screen.
    Screen(Screen),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmFor {
    /// Leave although a run is in progress.
    Quit,
    Stop,
    /// Start a run that costs money.
    Start,
    /// Overwrite an existing file with an export.
    Overwrite,
    /// Ask questions during a run that cost money.
    Questions,
    /// Stop asking them.
    StopQuestions,
    /// Store decisions under another name.
    Annotator,
    /// Close the guideline without storing its changes.
    DiscardGuideline,
    /// What this screen has asked.
    Screen(Screen),
    /// Run a command of this screen that was chosen on another one.
    Command(Command),
}

#[derive(Clone, Debug, Default)]
pub struct TuiOptions {
    pub annotator: String,
    /// Whether to ask for that name before the first decision, because it was not set and others
    /// have decided in the project.
    pub asks_name: bool,
    /// Everyone with decisions in the project when the workbench was opened.
    pub people: Vec<String>,
    pub request: RunRequest,
    /// Its initial controls.
    pub control: RunControl,
    pub judging: JudgingConfig,
    /// The configuration in use.
    pub config: Config,
    /// Name of the project in the header.
    pub project: String,
    /// The bundled sample that it is, if any.
    pub sample: Option<Sample>,
    /// The suggested file for the user's own project.
    pub new_project: String,
    /// The names of the judges that a run would ask.
    pub judges: Vec<String>,
    /// Whether calls may cost money.
    pub paid: bool,
    /// Whether any judge that a run would ask is offline.
    pub offline: bool,
    /// A note about the judges to show at the start.
    pub note: String,
    /// Whether to look for servers on this machine, because the offline judges are used only for
    /// lack of others.
    pub look_for_servers: bool,
    /// Why no judge can be asked, and what to do: keys are missing, or the votes of the sample were
    /// recorded.
    pub no_run: Option<String>,
    /// The configuration file in use, which is never written over.
    pub configuration: Option<PathBuf>,
    /// This person's drafts of reasons.
    pub drafts: HashMap<Subject, String>,
    /// Preferences and positions from this person's last session in the project.
    pub remembered: Remembered,
    /// The initial screen.
    pub start: Start,
    /// The user's editor, if one is set.
    pub editor: Option<text_editor::TextEditor>,
    /// When the workbench was opened, in milliseconds since the Unix epoch.
    pub opened_ms: i64,
}

/// The initial screen of the workbench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    #[default]
    Queries,
    /// Another screen, and the key of the row that it shows.
    Row(Screen, i64),
}

#[derive(Debug)]
pub struct Model {
    /// The screens from bottom to top: the last one is shown, and the first one is always the list
    /// of queries.
    pub stack: Vec<Screen>,
    pub overlays: Vec<Overlay>,
    pub queries: QueriesState,
    pub import: ImportState,
    pub export: ExportState,
    pub questions: QuestionState,
    pub run: RunState,
    /// Whose votes count in the project.
    pub votes: CurrentVotes,
    /// Servers on this machine that could be judges.
    pub servers: Vec<FoundServer>,
    pub matrix: MatrixState,
    /// Also used for a pair under review.
    pub battle: BattleState,
    /// Also contains the pair under review.
    pub queue: QueueState,
    /// Also contains the document being ruled on.
    pub adjudication: AdjudicationState,
    states: ScreenStates,
    pub open: Option<OpenQuery>,
    /// A query that was loaded ahead.
    pub prefetched: Option<OpenQuery>,
    /// A line that disappears by itself.
    pub toast: Option<Toast>,
    pub size: (u16, u16),
    /// The time of the last message.
    pub now: Instant,
    /// The numbers of the requests, so that superseded answers are dropped.
    pub(crate) jobs: Jobs,
    /// Number of verdicts being written.
    pub saving: usize,
    /// When the open query was last requested.
    pub loaded: Instant,
    /// When the list was last requested during a run.
    pub listed: Instant,
    pub options: TuiOptions,
    /// Changed with a key.
    pub ramp: Ramp,
    pub theme: ThemeChoice,
    pub configured: Configured,
    pub scale: scale::ScaleState,
    /// The preferences and positions currently stored in the project.
    pub remembered: Remembered,
    /// The query, and the identifiers of the documents under the cursor of its matrix, to restore.
    pub return_to: Option<(String, Option<(String, String)>)>,
    pub areas: Areas,
    pub panes: panes::PaneState,
    pub layouts: LayoutCache,
    /// The active search in the texts on screen.
    pub search: Option<TextSearch>,
    /// Show long texts from the top instead of from the passage most similar to the query.
    pub from_top: bool,
    /// Undone verdicts that can be redone, latest last.
    pub undone_verdicts: Vec<String>,
    /// Undone rulings that can be redone, latest last.
    pub undone_rulings: Vec<String>,
    /// The decision of an earlier session that was named on screen at the last key press.
    pub undo_named: Option<String>,
    /// The pair to select in its query's matrix once it is loaded.
    pub wanted_pair: Option<(QueryKey, usize, usize)>,
    /// Statistics on verdicts since review was opened.
    pub session: ReviewSession,
    /// When a line was last accepted.
    pub typed: Option<Instant>,
    /// The project to open next, by its path as typed, after leaving this one.
    pub next_project: Option<String>,
    /// The subject on screen when a reason was requested.
    pub explained: Option<Subject>,
    /// Drafts of reasons.
    pub drafts: HashMap<Subject, String>,
    /// Texts that were being edited when a session ended, by the name of what they change.
    pub unsaved: BTreeMap<String, String>,
    /// The destination of a command from the palette, until it is reached.
    pub(crate) destination: Option<Destination>,
    /// Whether the header has stated in full that the judges are offline.
    pub offline_told: bool,
    /// Time of the last key, click or paste.
    pub touched: Instant,
    /// When the workbench was suspended, if it is.
    pub suspended: Option<Instant>,
    /// Whether the tour of the sample is shown.
    pub tour: bool,
}

impl Model {
    pub fn new(mut options: TuiOptions, ramp: Ramp, size: (u16, u16), now: Instant) -> Self {
        let remembered = options.remembered.clone();
        let drafts = std::mem::take(&mut options.drafts);
        let unsaved = remembered.unsaved.clone();
        let configured = Configured {
            ramp,
            queue_blind: options.judging.queue_blind,
            battle_blind: options.judging.battle_blind,
        };
        let is_toured =
            options.sample.is_some() && !remembered.toured && options.start == Start::Queries;
        let judging = &mut options.judging;
        judging.queue_blind = remembered.queue_blind.unwrap_or(judging.queue_blind);
        judging.battle_blind = remembered.battle_blind.unwrap_or(judging.battle_blind);
        Self {
            stack: vec![Screen::QUERIES],
            overlays: Vec::new(),
            queries: QueriesState::new(remembered.used.clone()),
            import: ImportState::default(),
            export: ExportState::default(),
            questions: QuestionState::default(),
            run: RunState {
                control: options.control,
                ..RunState::default()
            },
            votes: CurrentVotes::default(),
            servers: Vec::new(),
            matrix: MatrixState {
                order: remembered.order,
                ..MatrixState::default()
            },
            battle: BattleState {
                together: true,
                ..BattleState::default()
            },
            queue: QueueState {
                policy: options.judging.policy,
                ..QueueState::default()
            },
            adjudication: AdjudicationState::default(),
            states: ScreenStates::default(),
            open: None,
            prefetched: None,
            toast: None,
            size,
            now,
            jobs: Jobs::default(),
            saving: 0,
            loaded: now,
            listed: now,
            options,
            ramp: remembered.ramp.unwrap_or(ramp),
            theme: remembered.theme,
            configured,
            return_to: remembered
                .query
                .clone()
                .map(|query| (query, remembered.pair.clone())),
            remembered,
            areas: Areas::default(),
            panes: panes::PaneState::default(),
            layouts: LayoutCache::default(),
            search: None,
            from_top: false,
            undone_verdicts: Vec::new(),
            undone_rulings: Vec::new(),
            undo_named: None,
            wanted_pair: None,
            session: ReviewSession::default(),
            typed: None,
            next_project: None,
            explained: None,
            drafts,
            unsaved,
            destination: None,
            offline_told: false,
            touched: now,
            suspended: None,
            tour: is_toured,
            scale: scale::ScaleState::default(),
        }
    }

    pub fn screen(&self) -> Screen {
        self.stack.last().copied().unwrap_or(Screen::QUERIES)
    }

    /// Whether the votes on screen are lexical, or would be if there are none yet.
    pub(crate) fn is_offline(&self) -> bool {
        let totals = self.queries.totals();
        let picking = matches!(self.screen(), Screen::ADJUDICATION | Screen::RULING);
        if picking && let Some(overview) = &self.adjudication.overview {
            overview.offline
        } else if self.stack.len() > 1
            && let Some(open) = &self.open
            && !open.judges.is_empty()
        {
            open.offline()
        } else if totals.judged > 0 {
            totals.offline
        } else {
            self.options.offline
        }
    }

    /// Records a key press. Time beyond the idle limit since the previous one was not spent on
    /// reading.
    pub(crate) fn touch(&mut self, now: Instant) {
        self.offline_told |= self.is_offline();
        let idle = Duration::from_secs(self.options.judging.idle_s);
        let before = std::mem::replace(&mut self.touched, now);
        for since in self.reading_since() {
            let absent = now.saturating_duration_since(before.max(*since));
            *since += absent.saturating_sub(idle);
        }
    }

    /// The workbench is visible again; the time since it was suspended does not count.
    pub(crate) fn resume(&mut self, now: Instant) {
        let Some(suspended) = self.suspended.take() else {
            return;
        };
        for since in self.reading_since() {
            *since += now.saturating_duration_since(suspended.max(*since));
        }
        self.touched = now;
        self.now = now;
    }

    /// The times at which the texts to be decided on became visible.
    fn reading_since(&mut self) -> impl Iterator<Item = &mut Instant> {
        let pair = self.queue.current.as_mut();
        let document = self.adjudication.current.as_mut();
        let pair = pair.and_then(|current| current.since.as_mut());
        let document = document.and_then(|current| current.since.as_mut());
        pair.into_iter().chain(document)
    }

    /// The scope whose keys work if there is no overlay.
    pub(crate) fn scope(&self) -> Scope {
        match self.search {
            Some(_) => Scope::Search,
            None => Scope::Screen(self.screen()),
        }
    }

    /// Pool index at each display position of the matrix.
    pub fn matrix_order(&self) -> Vec<usize> {
        let open = self.open.as_ref();
        open.map_or(Vec::new(), |open| self.matrix.order_of(&open.view))
    }

    /// The cursor of the matrix in display positions, and its zoom.
    pub(crate) fn heat(&self) -> HeatmapState {
        let order = self.matrix_order();
        let place = |document: usize| order.iter().position(|at| *at == document).unwrap_or(0);
        let (row, column) = self.matrix.cursor;
        HeatmapState {
            cursor: (place(row), place(column)),
            zoom: self.matrix.zoom,
        }
    }

    /// Moves the cursor of the matrix in display positions.
    pub(crate) fn move_in_matrix(&mut self, step: impl FnOnce(&mut HeatmapState, usize)) {
        let order = self.matrix_order();
        let mut heat = self.heat();
        step(&mut heat, order.len());
        let (row, column) = heat.cursor;
        if let (Some(row), Some(column)) = (order.get(row), order.get(column)) {
            self.look_at(*row, *column);
        }
    }

    /// Moves the cursor of the matrix to two documents, which are shown if they were not.
    pub(crate) fn look_at(&mut self, row: usize, column: usize) {
        self.matrix
            .slice
            .take_if(|slice| !slice.has(row) || !slice.has(column));
        self.matrix.cursor = (row, column);
    }

    /// Indices of the queue's items whose query matches the filter.
    pub(crate) fn shown_items(&self) -> Vec<usize> {
        let items = &self.queue.items;
        if self.queue.filter.trim().is_empty() {
            return (0..items.len()).collect();
        }
        let listed: HashSet<QueryKey> = items.iter().map(|item| item.query).collect();
        let matching = self
            .queries
            .matching_keys(&self.queue.filter, Some(&listed));
        let shown = |at: &usize| matching.contains(&items[*at].query);
        (0..items.len()).filter(shown).collect()
    }

    /// Indices of the disagreements whose query or document matches the filter.
    pub(crate) fn shown_disagreements(&self) -> Vec<usize> {
        let all = &self.adjudication.disagreements;
        let filter = &self.adjudication.filter;
        if filter.trim().is_empty() {
            return (0..all.len()).collect();
        }
        let name = |item: &AdjudicationItem| {
            let said = item.said.iter().map(|(who, _)| who.as_str());
            let people = said.collect::<Vec<_>>().join(" ");
            let text = self.query_text(item);
            format!("{} {} {text} {people}", item.query_id, item.document)
        };
        let names: Vec<String> = all.iter().map(name).collect();
        fuzzy::kept(filter, &names)
    }

    pub(crate) fn chosen_disagreement(&self) -> Option<&AdjudicationItem> {
        let at = *self.shown_disagreements().get(self.adjudication.cursor)?;
        self.adjudication.disagreements.get(at)
    }

    pub(crate) fn query_text(&self, item: &AdjudicationItem) -> &str {
        let info = self.queries.info(item.query);
        info.map_or("", |info| &info.text)
    }

    /// Shows a line for a few seconds.
    pub fn say(&mut self, level: Level, words: &str) {
        let words = sanitize::line(words).into_owned();
        self.toast = Some(Toast::new(level, words, self.now));
    }

    /// Shows a line that is neither good nor bad.
    pub fn inform(&mut self, words: &str) {
        self.say(Level::Info, words);
    }

    /// Names the decision that the next undo would remove, which is older than this session.
    pub(crate) fn name_older(&mut self, uid: String, words: &str) {
        let undo = key_on(Command::Undo, self.screen());
        self.say(
            Level::Warn,
            &format!("given before this session; press {undo} again to undo it: {words}"),
        );
        if let Some(toast) = &mut self.toast {
            toast.asks = Some(uid);
        }
    }

    /// Opens an input line; the placeholder is shown while it is empty.
    pub fn ask(&mut self, label: &str, placeholder: &str, text: &str, purpose: PromptFor) {
        let prompt = LinePrompt::new(label, placeholder).with_text(text);
        self.overlays.push(Overlay::Prompt(prompt, purpose));
    }

    /// Asks for the file with the project's guideline.
    pub(crate) fn ask_for_guideline(&mut self) {
        let placeholder = "a Markdown file with the guideline, or - for none";
        self.ask("guideline", placeholder, "", PromptFor::Guideline);
    }

    /// Asks for confirmation before an irreversible action.
    pub fn confirm(&mut self, title: &str, question: &str, purpose: ConfirmFor) {
        let confirm = Confirm::new(title, question);
        self.overlays.push(Overlay::Confirm(confirm, purpose));
    }
}
