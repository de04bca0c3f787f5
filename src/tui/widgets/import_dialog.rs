//! The dialog for choosing what to import, merge or build pools from: first a path with the files
//! of its folder, then its content.

use super::clicks::ClickAreas;
use super::prompt::LinePrompt;
use super::{KeyOutcome, boxed, key_line, scroll_to};
use crate::app::import::source::SourcePreview;
use crate::app::import::{FolderEntry, THIS_PROJECT};
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::layout::{centred, cut, cut_bottom};
use crate::tui::text::{self, pad_left, pad_right, truncate};
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use std::cell::Cell;

const WIDTH: u16 = 92;
const HEIGHT: u16 = 22;
const SIZE: usize = 9;

/// What the dialog needs from the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The content of a folder.
    Folder(String),
    /// The content of a file, checked for a purpose.
    Check(String, ImportPurpose),
}

/// The purpose of the dialog; files for other purposes are not listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportPurpose {
    Any,
    Merge,
    Pools,
}

impl ImportPurpose {
    fn title(self) -> &'static str {
        match self {
            Self::Any => "Import",
            Self::Merge => "Merge another project",
            Self::Pools => "Build pools from a benchmark",
        }
    }

    /// The label of the input.
    fn label(self) -> &'static str {
        match self {
            Self::Any => "file: ",
            Self::Merge => "project: ",
            Self::Pools => "folder: ",
        }
    }

    fn lists(self, entry: &FolderEntry) -> bool {
        match self {
            Self::Any => true,
            Self::Merge => entry.folder || entry.holds == Some("an Overrule project"),
            Self::Pools => entry.folder,
        }
    }

    /// The message if nothing is listed.
    fn nothing(self) -> &'static str {
        match self {
            Self::Any => "no file here has this in its name",
            Self::Merge => "no other project is here; type the path of one",
            Self::Pools => "no folder is here; type the path of one",
        }
    }
}

#[derive(Clone, Debug)]
enum Stage {
    Choosing,
    Checking(String),
    Checked(String, Box<SourcePreview>),
    /// The problems of the file, one per line.
    Refused(String, Vec<String>),
}

#[derive(Clone, Debug)]
pub struct ImportDialog {
    prompt: LinePrompt,
    purpose: ImportPurpose,
    /// The name of the project that files are imported into; `None` if they become a separate
    /// project.
    project: Option<String>,
    /// The listed folder as typed: empty, or with a slash at the end.
    folder: String,
    /// `None` while they are pending; an error if the folder cannot be read.
    entries: Option<Result<Vec<FolderEntry>, String>>,
    selected: usize,
    stage: Stage,
    /// The text of the prompt when a file was chosen.
    words: String,
    top: Cell<usize>,
    rows: Cell<usize>,
    pub(crate) clicks: ClickAreas,
}

impl ImportDialog {
    pub fn new(project: Option<&str>, purpose: ImportPurpose) -> Self {
        Self {
            prompt: LinePrompt::new(purpose.label(), "type a path, or choose below"),
            purpose,
            project: project.map(str::to_owned),
            folder: String::new(),
            entries: None,
            selected: 0,
            stage: Stage::Choosing,
            words: String::new(),
            top: Cell::new(0),
            rows: Cell::new(1),
            clicks: ClickAreas::default(),
        }
    }

    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    pub fn listed(&mut self, entries: Result<Vec<FolderEntry>, String>) {
        self.entries = Some(entries);
        self.selected = 0;
    }

    /// Receives the content of a file, or its problems.
    pub fn checked(&mut self, found: Result<SourcePreview, Vec<String>>) {
        if let Stage::Checking(path) = &self.stage {
            let path = path.clone();
            self.stage = match found {
                Ok(preview) => Stage::Checked(path, Box::new(preview)),
                Err(problems) => Stage::Refused(path, problems),
            };
        }
    }

    /// The typed path up to its last slash, and the rest.
    fn typed(&self) -> (&str, &str) {
        let text = self.prompt.text();
        text.split_at(text.rfind('/').map_or(0, |at| at + 1))
    }

    /// The entries whose names contain the typed text, with those that start with it first.
    fn shown(&self) -> Vec<&FolderEntry> {
        let Some(Ok(entries)) = &self.entries else {
            return Vec::new();
        };
        let (folder, words) = self.typed();
        if folder != self.folder {
            return Vec::new();
        }
        let wanted = words.to_lowercase();
        let visible = |entry: &&FolderEntry| words.starts_with('.') || !entry.name.starts_with('.');
        let mut shown: Vec<&FolderEntry> = entries
            .iter()
            .filter(visible)
            // The open project is not offered, but can be selected by typing its name.
            .filter(|entry| {
                if entry.holds == Some(THIS_PROJECT) {
                    entry.name == words
                } else {
                    self.purpose.lists(entry)
                }
            })
            .filter(|entry| entry.name.to_lowercase().contains(&wanted))
            .collect();
        shown.sort_by_key(|entry| {
            (
                entry.name != words,
                !entry.name.to_lowercase().starts_with(&wanted),
            )
        });
        shown
    }

    pub fn paste(&mut self, text: &str) -> Option<Wanted> {
        match self.stage {
            Stage::Choosing => {
                self.prompt.paste(text);
                self.follow()
            }
            _ => None,
        }
    }

    /// Requests the entries if another folder was typed.
    fn follow(&mut self) -> Option<Wanted> {
        self.selected = 0;
        let folder = self.typed().0.to_owned();
        if folder == self.folder {
            return None;
        }
        self.entries = None;
        self.folder.clone_from(&folder);
        Some(Wanted::Folder(folder))
    }

    /// Puts the selected entry in the prompt; returns whether it can be inspected.
    fn complete(&mut self) -> Option<bool> {
        let entry = (*self.shown().get(self.selected)?).clone();
        let slash = if entry.folder { "/" } else { "" };
        let path = format!("{}{}{slash}", self.folder, entry.name);
        self.prompt = self.prompt.clone().with_text(&path);
        let benchmark = entry.holds.is_some() && self.purpose != ImportPurpose::Merge;
        Some(!entry.folder || benchmark)
    }

    fn enter(&mut self) -> Option<Wanted> {
        self.words = self.prompt.text().to_owned();
        match self.complete() {
            Some(false) => return self.follow(),
            // Something that is not listed is reported as a file that cannot be opened.
            None if self.typed().1.is_empty() => return None,
            _ => {}
        }
        let path = self.prompt.text().to_owned();
        self.stage = Stage::Checking(path.clone());
        Some(Wanted::Check(path, self.purpose))
    }

    /// Whether its keys are text.
    pub fn is_typed_into(&self) -> bool {
        matches!(self.stage, Stage::Choosing)
    }

    /// Types and completes a path, and moves in the list. Enter inspects a file and, once it is
    /// inspected, accepts its path. Esc goes back one step.
    pub fn handle(&mut self, event: KeyEvent) -> (KeyOutcome<String>, Option<Wanted>) {
        let held = event.kind == KeyEventKind::Release;
        if held || matches!(self.stage, Stage::Choosing) {
            return self.choose(event);
        }
        let plain = !event.modifiers.contains(KeyModifiers::CONTROL);
        let outcome = match (event.code, &self.stage) {
            (KeyCode::Esc, _) => {
                self.stage = Stage::Choosing;
                self.prompt = self.prompt.clone().with_text(&self.words);
                KeyOutcome::Consumed
            }
            (KeyCode::Enter, Stage::Checked(path, _)) => KeyOutcome::Submitted(path.clone()),
            _ if plain => KeyOutcome::Consumed,
            _ => KeyOutcome::Pass,
        };
        (outcome, None)
    }

    fn choose(&mut self, event: KeyEvent) -> (KeyOutcome<String>, Option<Wanted>) {
        let before = self.prompt.text().len();
        let mut wanted = None;
        let outcome = match self.prompt.handle(event) {
            KeyOutcome::Submitted(_) => {
                wanted = self.enter();
                KeyOutcome::Consumed
            }
            KeyOutcome::Consumed => {
                if self.prompt.text().len() != before {
                    wanted = self.follow();
                }
                KeyOutcome::Consumed
            }
            KeyOutcome::Pass => {
                let page = isize::try_from(self.rows.get()).unwrap_or(1);
                match event.code {
                    KeyCode::Down => self.step(1),
                    KeyCode::Up => self.step(-1),
                    KeyCode::PageDown => self.step(page),
                    KeyCode::PageUp => self.step(-page),
                    KeyCode::Tab => {
                        if self.complete().is_some() {
                            wanted = self.follow();
                        }
                        KeyOutcome::Consumed
                    }
                    _ => KeyOutcome::Pass,
                }
            }
            KeyOutcome::Cancelled => KeyOutcome::Cancelled,
        };
        (outcome, wanted)
    }

    /// Describes what Enter does with the inspected file.
    fn next(&self, preview: &SourcePreview) -> String {
        match &self.project {
            Some(project) => format!("Enter {} the project {project}.", preview.act),
            None if preview.is_project => format!("Enter {} it.", preview.act),
            None => "Enter asks for the name of a new project for it.".to_owned(),
        }
    }

    /// Whether the inspected file is itself a project.
    pub fn is_project(&self) -> bool {
        matches!(&self.stage, Stage::Checked(_, preview) if preview.is_project)
    }

    fn step(&mut self, by: isize) -> KeyOutcome<String> {
        let last = self.shown().len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        KeyOutcome::Consumed
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let mut inner = boxed(
            self.purpose.title(),
            theme,
            centred(area, WIDTH, HEIGHT),
            buf,
        );
        let keys: &[(&str, &str)] = match &self.stage {
            Stage::Choosing => &[
                ("Enter", "read it"),
                ("Tab", "complete"),
                ("↑ ↓", "choose"),
                ("Esc", "cancel"),
            ],
            Stage::Checked(..) => &[("Enter", "continue"), ("Esc", "another file")],
            Stage::Checking(_) => &[("Esc", "cancel")],
            Stage::Refused(..) => &[("Esc", "another file")],
        };
        self.clicks.clear();
        let line = cut_bottom(&mut inner, 1);
        key_line(keys, &self.clicks, Canvas::new(theme, line, buf));
        let lines = match &self.stage {
            Stage::Choosing => {
                let caret = self.prompt.render(theme, cut(&mut inner, 1), buf);
                self.render_list(theme, inner, buf);
                return caret;
            }
            Stage::Checking(path) => vec![(format!("Reading {path} …"), theme.text())],
            Stage::Checked(path, preview) => {
                let mut lines = vec![(path.clone(), theme.strong())];
                lines.extend(
                    preview
                        .holds
                        .iter()
                        .map(|line| (line.clone(), theme.text())),
                );
                lines.push((String::new(), theme.text()));
                lines.push((self.next(preview), theme.text()));
                lines
            }
            Stage::Refused(path, problems) => {
                let head = format!("{path}: nothing was changed");
                let problems = problems
                    .iter()
                    .map(|problem| (problem.clone(), theme.text()));
                std::iter::once((head, theme.error()))
                    .chain(problems)
                    .collect()
            }
        };
        let columns = usize::from(inner.width);
        let mut rows = lines
            .into_iter()
            .flat_map(|(line, style)| text::lines(&sanitize::line(&line), columns, style));
        for row in inner.rows() {
            if let Some(line) = rows.next() {
                line.render(row, buf);
            }
        }
        None
    }

    fn render_list(&self, theme: &Theme, list: Rect, buf: &mut Buffer) {
        let rows = usize::from(list.height);
        self.rows.set(rows.max(1));
        self.top.set(scroll_to(self.top.get(), self.selected, rows));
        let shown = self.shown();
        let note = match &self.entries {
            None => Some("reading the folder …".to_owned()),
            Some(Err(error)) => Some(sanitize::line(error).into_owned()),
            Some(Ok(_)) if shown.is_empty() => Some(self.purpose.nothing().to_owned()),
            Some(Ok(_)) => None,
        };
        if let Some(note) = note {
            Line::styled(note, theme.muted()).render(list, buf);
            return;
        }
        let columns = usize::from(list.width);
        let kind = if columns > 50 { 24 } else { 0 };
        let name = columns.saturating_sub(2 + SIZE + 2 + kind);
        let entries = shown.iter().enumerate().skip(self.top.get());
        for (row, (at, entry)) in list.rows().zip(entries) {
            self.clicks.row(row, at);
            let selected = at == self.selected;
            let style = if entry.holds.is_some() || entry.folder {
                theme.text()
            } else {
                theme.muted()
            };
            let slash = if entry.folder { "/" } else { "" };
            let label = format!("{}{slash}", sanitize::line(&entry.name));
            let holds = entry
                .holds
                .unwrap_or(if entry.folder { "" } else { "not recognized" });
            let size = if entry.folder {
                String::new()
            } else {
                bytes(entry.bytes)
            };
            if selected {
                buf.set_style(row, theme.selection());
            }
            Line::from(vec![
                Span::raw(if selected { "▌ " } else { "  " }),
                Span::styled(pad_right(&truncate(&label, name), name), style),
                Span::styled(pad_left(&size, SIZE), theme.muted()),
                Span::raw("  "),
                Span::styled(truncate(holds, kind).into_owned(), style),
            ])
            .render(row, buf);
        }
    }
}

/// A file's size with its unit.
fn bytes(count: u64) -> String {
    let scaled = |unit: f64| count as f64 / unit;
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.0} kB", scaled(1e3)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", scaled(1e6)),
        _ => format!("{:.1} GB", scaled(1e9)),
    }
}

#[cfg(test)]
mod tests;
