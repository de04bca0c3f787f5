//! The model: everything the screens show, and nothing that draws or waits.

pub mod adjudication;
pub mod battle;
pub mod comparison;
pub mod cycles;
pub mod document;
pub mod duel;
pub mod export;
pub mod import;
pub mod judges;
pub mod matrix;
pub mod methods;
pub mod open_query;
pub mod pace;
mod pair;
pub mod queries;
pub mod question_set;
pub mod queue;
pub mod remembered;
pub mod report_request;
pub mod review;
pub mod ruling;
pub mod ruling_session;
pub mod run;
pub mod scale;
pub mod session;
pub mod student;
pub mod text_search;

use super::drawing::Areas;
use super::fuzzy;
use super::keymap::{Command, Scope, key_on};
use super::screens::Screen;
use super::theme::{Ramp, ThemeChoice};
use super::widgets::confirm::Confirm;
use super::widgets::document_text::LayoutCache;
use super::widgets::export_dialog::ExportDialog;
use super::widgets::help::Help;
use super::widgets::import_dialog::ImportDialog;
use super::widgets::page::Page;
use super::widgets::palette::Palette;
use super::widgets::prompt::LinePrompt;
use super::widgets::question_dialog::QuestionDialog;
use super::widgets::settings_dialog::SettingsDialog;
use super::widgets::toast::{Level, Toast};
use crate::app::adjudication::data::AdjudicationItem;
use crate::app::annotate::RunRequest;
use crate::client::RunControl;
use crate::config::{Config, JudgingConfig};
use crate::domain::sanitise;
use crate::store::corpus::QueryKey;
pub use crate::store::drafts::DecisionSubject as Subject;
use crate::store::duels::DuelKey;
use adjudication::AdjudicationScreen;
use battle::BattleScreen;
use comparison::ComparisonScreen;
use cycles::CyclesScreen;
use document::DocumentScreen;
use duel::DuelScreen;
use export::ExportState;
use import::ImportState;
use judges::JudgesScreen;
use matrix::MatrixScreen;
use methods::MethodsScreen;
use open_query::OpenQuery;
use queries::QueriesScreen;
use question_set::QuestionState;
use queue::QueueScreen;
use remembered::{Configured, Remembered};
use run::RunScreen;
use session::ReviewSession;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use student::StudentScreen;
use text_search::TextSearch;

/// What lies over the screen and is given keys first.
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
}

impl Overlay {
    /// Whether its keys are text.
    pub(crate) fn is_typed_into(&self) -> bool {
        match self {
            Self::Palette(_) | Self::Prompt(..) => true,
            Self::Import(dialog) => dialog.is_typed_into(),
            Self::Export(dialog) => dialog.is_typed_into(),
            Self::Help(_)
            | Self::Confirm(..)
            | Self::Page(_)
            | Self::Questions(_)
            | Self::Settings(_) => false,
        }
    }
}

/// What a typed line is for; the screen under it takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptFor {
    /// Rows to keep.
    Filter,
    FindDocument,
    /// Words to find in the texts on screen.
    Search,
    Reason,
    /// Dollars that the project may have spent.
    Budget,
    /// The file of a project that is made of data.
    NewProject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmFor {
    /// Leave although a run goes on.
    Quit,
    Stop,
    /// Begin a run that costs money.
    Start,
    /// Write an export over a file that exists.
    Overwrite,
    /// Ask questions during a run that cost money.
    Questions,
    /// Ask no more of them.
    StopQuestions,
    /// Show the result of a duel that is not done.
    EndBlindness,
}

#[derive(Clone, Debug, Default)]
pub struct TuiOptions {
    pub annotator: String,
    pub request: RunRequest,
    /// How it is steered at first.
    pub control: RunControl,
    pub judging: JudgingConfig,
    /// The configuration in use.
    pub config: Config,
    /// What the header calls the project.
    pub project: String,
    /// Whether it is the bundled sample.
    pub sample: bool,
    /// The file that is proposed for a project of the user's own.
    pub new_project: String,
    /// The names of the judges that a run would ask.
    pub judges: Vec<String>,
    /// Whether calls may cost money.
    pub paid: bool,
    /// What is to be told about the judges at the start.
    pub note: String,
    /// Why no run may start: keys that are missing and what to do.
    pub missing_keys: Option<String>,
    /// The configuration file in use, which is never written over.
    pub configuration: Option<PathBuf>,
    /// Reasons that this person wrote before a decision.
    pub drafts: HashMap<Subject, String>,
    /// What this person's last session in the project left.
    pub remembered: Remembered,
    /// Where to begin.
    pub start: Start,
    /// When the workbench was opened, in milliseconds since the Unix epoch.
    pub opened_ms: i64,
}

/// Where the workbench begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    #[default]
    Queries,
    /// A duel, the latest where none is named.
    Duel(Option<DuelKey>),
}

#[derive(Debug)]
pub struct Model {
    /// The screens from the bottom up; the last is shown, the first is always the list of queries.
    pub stack: Vec<Screen>,
    pub overlays: Vec<Overlay>,
    pub queries: QueriesScreen,
    pub import: ImportState,
    pub export: ExportState,
    pub questions: QuestionState,
    pub run: RunScreen,
    pub matrix: MatrixScreen,
    pub document: DocumentScreen,
    /// Also what a pair under review shows.
    pub battle: BattleScreen,
    /// Also the pair under review.
    pub queue: QueueScreen,
    pub judges: JudgesScreen,
    pub methods: MethodsScreen,
    pub student: StudentScreen,
    pub cycles: CyclesScreen,
    pub comparison: ComparisonScreen,
    /// Also the document being ruled on.
    pub adjudication: AdjudicationScreen,
    /// Also the text of it that is read.
    pub duel: DuelScreen,
    pub open: Option<OpenQuery>,
    /// A query that was loaded before it is wanted.
    pub prefetched: Option<OpenQuery>,
    /// A line that goes away by itself.
    pub toast: Option<Toast>,
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
    pub options: TuiOptions,
    /// Changed on a key.
    pub ramp: Ramp,
    pub theme: ThemeChoice,
    pub configured: Configured,
    pub scale: scale::ScaleState,
    /// What the project remembers as of now.
    pub remembered: Remembered,
    /// The query and the cell of its matrix to go back to, until that is done.
    pub return_to: Option<(String, (usize, usize))>,
    pub areas: Areas,
    pub layouts: LayoutCache,
    /// Words that are lit in the texts on screen.
    pub search: Option<TextSearch>,
    /// Long texts begin at their top instead of at the passage nearest to the query.
    pub from_top: bool,
    /// Verdicts that were taken back and can be given again, the latest last.
    pub undone_verdicts: Vec<String>,
    /// The same of rulings.
    pub undone_rulings: Vec<String>,
    /// The decision of an earlier session that was named on screen when the last key was pressed.
    pub undo_named: Option<String>,
    /// The pair that its query's matrix is to show once it is loaded.
    pub wanted_pair: Option<(QueryKey, usize, usize)>,
    /// What was judged since review was opened.
    pub session: ReviewSession,
    /// When a line was last accepted.
    pub typed: Option<Instant>,
    /// The project to open next, by its path as typed, once this one has been left.
    pub next_project: Option<String>,
    /// What was before the person when a reason was asked for.
    pub explained: Option<Subject>,
    /// Reasons that were written before a decision.
    pub drafts: HashMap<Subject, String>,
    /// The last key, click or paste.
    pub touched: Instant,
    /// Since when the workbench is suspended.
    pub suspended: Option<Instant>,
}

impl Model {
    pub fn new(mut options: TuiOptions, ramp: Ramp, size: (u16, u16), now: Instant) -> Self {
        let remembered = options.remembered.clone();
        let options_drafts = std::mem::take(&mut options.drafts);
        let configured = Configured {
            ramp,
            queue_blind: options.judging.queue_blind,
            battle_blind: options.judging.battle_blind,
        };
        let judging = &mut options.judging;
        judging.queue_blind = remembered.queue_blind.unwrap_or(judging.queue_blind);
        judging.battle_blind = remembered.battle_blind.unwrap_or(judging.battle_blind);
        Self {
            stack: vec![Screen::Queries],
            overlays: Vec::new(),
            queries: QueriesScreen::default(),
            import: ImportState::default(),
            export: ExportState::default(),
            questions: QuestionState::default(),
            run: RunScreen {
                control: options.control,
                ..RunScreen::default()
            },
            matrix: MatrixScreen {
                order: remembered.order,
                ..MatrixScreen::default()
            },
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
            methods: MethodsScreen::default(),
            student: StudentScreen::default(),
            cycles: CyclesScreen::default(),
            comparison: ComparisonScreen::default(),
            adjudication: AdjudicationScreen::default(),
            duel: DuelScreen::default(),
            open: None,
            prefetched: None,
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
            ramp: remembered.ramp.unwrap_or(ramp),
            theme: remembered.theme,
            configured,
            return_to: (remembered.query.clone()).map(|query| (query, remembered.cell)),
            remembered,
            areas: Areas::default(),
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
            drafts: options_drafts,
            touched: now,
            suspended: None,
            scale: scale::ScaleState::default(),
        }
    }

    pub fn screen(&self) -> Screen {
        self.stack.last().copied().unwrap_or_default()
    }

    /// What a decision would be about now.
    pub(crate) fn subject(&self) -> Option<Subject> {
        match self.screen() {
            Screen::Ruling => {
                let current = self.adjudication.current.as_ref()?;
                let (query, document) =
                    (current.disagreement.query, &current.disagreement.document);
                Some(Subject::Document(query, document.clone()))
            }
            Screen::Review => {
                let item = self.queue.current.as_ref()?.item;
                Some(Subject::Pair(item.query, item.pair))
            }
            Screen::Battle => {
                let open = self.open.as_ref()?;
                Some(Subject::Pair(open.info.key, self.battle.pair()?))
            }
            Screen::Document => {
                let open = self.open.as_ref()?;
                let document = open.documents.get(self.document.document)?;
                Some(Subject::Document(open.info.key, document.id.clone()))
            }
            _ => None,
        }
    }

    /// The reason that was written for the decision on screen.
    pub(crate) fn draft(&self) -> Option<&str> {
        self.drafts.get(&self.subject()?).map(String::as_str)
    }

    /// The reason for the decision that is made now.
    pub(crate) fn take_draft(&mut self) -> Option<String> {
        let subject = self.subject()?;
        self.drafts.remove(&subject)
    }

    /// A key was pressed. What exceeds the idle time since the one before it was not spent on reading.
    pub(crate) fn touch(&mut self, now: Instant) {
        let idle = Duration::from_secs(self.options.judging.idle_s);
        let before = std::mem::replace(&mut self.touched, now);
        for since in self.reading_since() {
            let absent = now.saturating_duration_since(before.max(*since));
            *since += absent.saturating_sub(idle);
        }
    }

    /// The workbench is in sight again: no time has passed since it was suspended.
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

    /// Since when the texts of what is decided have been in sight.
    fn reading_since(&mut self) -> impl Iterator<Item = &mut Instant> {
        let pair = self.queue.current.as_mut();
        let document = self.adjudication.current.as_mut();
        let pair = pair.and_then(|current| current.since.as_mut());
        let document = document.and_then(|current| current.since.as_mut());
        pair.into_iter().chain(document)
    }

    /// Whose keys work, where nothing lies over the screen.
    pub(crate) fn scope(&self) -> Scope {
        match self.search {
            Some(_) => Scope::Search,
            None => Scope::Screen(self.screen()),
        }
    }

    /// Pool index at each display position of the matrix.
    pub fn matrix_order(&self) -> Vec<usize> {
        let open = self.open.as_ref();
        open.map_or(Vec::new(), |open| open.view.order(self.matrix.order))
    }

    /// Puts the cursor of the matrix on two documents.
    pub(crate) fn look_at(&mut self, row: usize, column: usize) {
        let order = self.matrix_order();
        let place = |document: usize| order.iter().position(|at| *at == document);
        if let (Some(row), Some(column)) = (place(row), place(column)) {
            self.matrix.heat.move_to(row, column, order.len());
        }
    }

    /// Indexes of the document screen's battles in the order in which they are shown.
    pub fn document_battles(&self) -> Vec<usize> {
        let open = self.open.as_ref();
        open.map_or(Vec::new(), |open| self.document.battles(open))
    }

    /// The queue's items whose query matches the filter, as indexes.
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

    /// The disagreements whose query or document matches the filter, as indexes.
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
        let place = self.adjudication.places.get(&item.query);
        let row = place.and_then(|at| self.queries.rows.get(*at));
        row.filter(|(info, _)| info.key == item.query)
            .map_or("", |(info, _)| &info.text)
    }

    /// Shows a line for a few seconds.
    pub fn say(&mut self, level: Level, words: &str) {
        let words = sanitise::line(words).into_owned();
        self.toast = Some(Toast::new(level, words, self.now));
    }

    /// Shows a line that is neither good nor bad.
    pub fn inform(&mut self, words: &str) {
        self.say(Level::Info, words);
    }

    /// Says what the next undo would take back, which is older than this session.
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

    /// Asks for a line; the placeholder stands there while it is empty.
    pub fn ask(&mut self, label: &str, placeholder: &str, text: &str, purpose: PromptFor) {
        let prompt = LinePrompt::new(label, placeholder).with_text(text);
        self.overlays.push(Overlay::Prompt(prompt, purpose));
    }

    /// Asks for the reason of a decision, before it or after.
    pub fn ask_reason(&mut self, note: &str) {
        let placeholder = "the reason, in one line; Enter stores it";
        let note = sanitise::line(note).into_owned();
        self.explained = self.subject();
        self.ask("reason: ", placeholder, &note, PromptFor::Reason);
    }

    /// Asks before something that cannot be taken back.
    pub fn confirm(&mut self, title: &str, question: &str, purpose: ConfirmFor) {
        let confirm = Confirm::new(title, question);
        self.overlays.push(Overlay::Confirm(confirm, purpose));
    }
}
