//! The dialog for choosing what to export, and the file to write.

use super::clicks::ClickAreas;
use super::prompt::LinePrompt;
use super::{KeyOutcome, boxed, key_line};
use crate::app::export::offered_forms::OfferedForm;
use crate::app::export::request::{Export, LabelSource, RulingOptions};
use crate::app::export::why_empty::why_empty;
use crate::app::output_file::{BEIR, CSV, JSON_LINES, PARQUET};
use crate::app::picture::Picture;
use crate::formats::file::unpacked_name;
use crate::registry::PAGES;
use crate::store::contents::ProjectContents;
use crate::tui::canvas::Canvas;
use crate::tui::layout::{centred, cut, cut_bottom};
use crate::tui::text::{self, pad_right, truncate, width};
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

const WIDTH: u16 = 76;
const NAME: usize = 18;

/// The subject of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportSubject {
    #[default]
    Scores,
    Votes,
    Verdicts,
    Labels,
    Picks,
}

/// An export option, with its suggested file name.
#[derive(Clone, Debug)]
struct Choice {
    name: &'static str,
    doc: &'static str,
    file: Cow<'static, str>,
    about: ExportSubject,
    export: Export,
}

const TABLE_ENDINGS: &str = "the extension sets the format: .csv, .jsonl or .parquet";
const FORM: &str = "form: ";
const PICTURE_ENDINGS: &str = "the extension sets the format: .svg or .png";

#[rustfmt::skip]
static CHOICES: [Choice; 9] = [
    Choice { name: "annotated", doc: "documents with zELO scores, JSON lines", file: Cow::Borrowed("annotated.jsonl"), about: ExportSubject::Scores, export: Export::Annotated { ranking: None, keep_unscored: false } },
    Choice { name: "run", doc: "documents by zELO, TREC's columns", file: Cow::Borrowed("zelo.trec"), about: ExportSubject::Scores, export: Export::Run { ranking: None, tag: None, places: false } },
    Choice { name: "votes", doc: "every vote and failed call of every judge", file: Cow::Borrowed("votes.csv"), about: ExportSubject::Votes, export: Export::Votes },
    Choice { name: "verdicts", doc: "each person's verdict on each pair", file: Cow::Borrowed("verdicts.csv"), about: ExportSubject::Verdicts, export: Export::Verdicts(None) },
    Choice { name: "corrected qrels", doc: "labels as rulings correct them; and the rulings, .csv", file: Cow::Borrowed("corrected.qrels"), about: ExportSubject::Labels, export: Export::labels(LabelSource::Corrected(RulingOptions::USUAL)) },
    Choice { name: "rulings", doc: "every ruling that stands and what it changes", file: Cow::Borrowed("rulings.csv"), about: ExportSubject::Labels, export: Export::Rulings(RulingOptions::USUAL) },
    Choice { name: "qrels", doc: "labels as they were imported", file: Cow::Borrowed("labels.qrels"), about: ExportSubject::Labels, export: Export::labels(LabelSource::Imported) },
    Choice { name: "picks", doc: "every answer of a judge on a pool, JSON lines", file: Cow::Borrowed("picks.jsonl"), about: ExportSubject::Picks, export: Export::Picks },
    Choice { name: "ai-scores", doc: "battles with every vote, as zBench writes them", file: Cow::Borrowed("ai_scores.json"), about: ExportSubject::Votes, export: Export::AiScores { members: Vec::new() } },
];

/// What to write, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportOrder {
    pub export: Export,
    /// The file, as typed.
    pub path: String,
}

/// How and where the chosen option is written.
#[derive(Clone, Debug)]
struct Target {
    /// The forms to choose from; empty if there is only one.
    forms: Vec<OfferedForm>,
    form: usize,
    /// The extension of the file in each form.
    endings: Vec<String>,
    file: LinePrompt,
}

impl Target {
    fn of(choice: &Choice) -> Self {
        let forms = choice.export.offered_forms();
        let usual = ending_of(&choice.file).to_owned();
        let others = forms.iter().skip(1);
        let others = others.map(|form| form.export.file_form(None).ending().to_owned());
        Self {
            endings: std::iter::once(usual).chain(others).collect(),
            forms,
            form: 0,
            file: file_prompt(&choice.file),
        }
    }

    /// Selects the next form, or the previous one. A file name that ends as files of the old form do
    /// then ends as those of the new one do, or as the user named it in that form.
    fn change_form(&mut self, back: bool) {
        let count = self.forms.len();
        let Some(before) = self.forms.get(self.form) else {
            return;
        };
        let path = PathBuf::from(self.file.text());
        let fits = [
            before.export.file_form(None),
            CSV,
            JSON_LINES,
            PARQUET,
            BEIR,
        ];
        let fits = fits.iter().any(|form| form.names(&path));
        let left = self.form;
        self.form = (left + if back { count - 1 } else { 1 }) % count;
        if !fits {
            return;
        }
        let bare = unpacked_name(&path);
        if let Some(ending) = bare.extension().and_then(OsStr::to_str) {
            self.endings[left] = ending.to_owned();
        }
        let ending = &self.endings[self.form];
        let packed = if bare == path { "" } else { ".gz" };
        let name = bare.with_extension(ending);
        self.file = file_prompt(&format!("{}{packed}", name.display()));
    }

    /// What is written.
    fn export<'a>(&'a self, choice: &'a Choice) -> &'a Export {
        let form = self.forms.get(self.form);
        form.map_or(&choice.export, |form| &form.export)
    }
}

fn file_prompt(name: &str) -> LinePrompt {
    LinePrompt::new("file: ", "a name, or a path").with_text(name)
}

fn ending_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[derive(Clone, Debug)]
pub struct ExportDialog {
    /// All export options, with those about the screen first.
    choices: Vec<Choice>,
    selected: usize,
    /// The content of the project, once it has been read.
    pub held: Option<ProjectContents>,
    /// The form and the input of the file name, once an option is chosen.
    target: Option<Target>,
    pub(crate) clicks: ClickAreas,
}

impl ExportDialog {
    /// Lists the picture of the screen first, then the exports about its subject, and pages last.
    pub fn new(first: ExportSubject, picture: Option<Arc<dyn Picture>>, annotator: &str) -> Self {
        let picture = picture.map(|picture| Choice {
            name: "picture",
            doc: "the chart on this screen, .svg or .png",
            file: format!("{}.svg", picture.file_name()).into(),
            about: first,
            export: Export::Picture(picture),
        });
        let (about, others): (Vec<_>, Vec<_>) = CHOICES
            .iter()
            .cloned()
            .partition(|choice| choice.about == first);
        let pages = PAGES.iter().map(|offered| Choice {
            name: offered.name,
            doc: offered.doc,
            file: offered.file.into(),
            about: first,
            export: Export::Page((offered.page)(annotator)),
        });
        let tables = about.into_iter().chain(others);
        Self {
            choices: picture.into_iter().chain(tables).chain(pages).collect(),
            selected: 0,
            held: None,
            target: None,
            clicks: ClickAreas::default(),
        }
    }

    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    fn choice(&self) -> &Choice {
        self.choices.get(self.selected).unwrap_or(&CHOICES[0])
    }

    /// Why the chosen option would produce a file without rows.
    fn why_empty(&self, choice: &Choice) -> Option<&'static str> {
        why_empty(self.held?, &choice.export)
    }

    pub fn paste(&mut self, text: &str) {
        if let Some(target) = &mut self.target {
            target.file.paste(text);
        }
    }

    /// Whether its keys are text.
    pub fn is_typed_into(&self) -> bool {
        self.target.is_some()
    }

    /// Moves in the list; Enter asks for the file's name and then accepts it, Tab changes its form,
    /// Esc goes back by a step.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<ExportOrder> {
        let choice = self.choice().clone();
        if let Some(target) = &mut self.target {
            if !target.forms.is_empty() && matches!(event.code, KeyCode::Tab | KeyCode::BackTab) {
                target.change_form(event.code == KeyCode::BackTab);
                return KeyOutcome::Consumed;
            }
            return match target.file.handle(event) {
                KeyOutcome::Submitted(path) if path.trim().is_empty() => {
                    target.file.refuse("a file needs a name".to_owned());
                    KeyOutcome::Consumed
                }
                KeyOutcome::Submitted(path) => KeyOutcome::Submitted(ExportOrder {
                    export: target.export(&choice).clone(),
                    path: path.trim().to_owned(),
                }),
                KeyOutcome::Cancelled => {
                    self.target = None;
                    KeyOutcome::Consumed
                }
                KeyOutcome::Consumed => KeyOutcome::Consumed,
                KeyOutcome::Pass => KeyOutcome::Pass,
            };
        }
        match event.code {
            KeyCode::Enter => {
                self.target = Some(Target::of(&choice));
            }
            KeyCode::Esc | KeyCode::Char('q') => return KeyOutcome::Cancelled,
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
                self.selected = (self.selected + 1).min(self.choices.len() - 1);
            }
            KeyCode::Up | KeyCode::Char('k') | KeyCode::BackTab => {
                self.selected = self.selected.saturating_sub(1);
            }
            _ => return KeyOutcome::Pass,
        }
        KeyOutcome::Consumed
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let rows = u16::try_from(self.choices.len()).unwrap_or(u16::MAX);
        let mut inner = boxed("Export", theme, centred(area, WIDTH, rows + 4), buf);
        let keys: &[(&str, &str)] = match &self.target {
            None => &[
                ("Enter", "name the file"),
                ("↑ ↓", "choose"),
                ("Esc", "cancel"),
            ],
            Some(target) if target.forms.is_empty() => {
                &[("Enter", "write it"), ("Esc", "something else")]
            }
            Some(_) => &[
                ("Enter", "write it"),
                ("Tab", "another form"),
                ("Esc", "something else"),
            ],
        };
        self.clicks.clear();
        let line = cut_bottom(&mut inner, 1);
        key_line(keys, &self.clicks, Canvas::new(theme, line, buf));
        if let Some(target) = &self.target {
            let choice = self.choice();
            let words = format!("{}: {}", choice.name, choice.doc);
            Line::styled(words, theme.text()).render(cut(&mut inner, 1), buf);
            if let Some(form) = target.forms.get(target.form) {
                let place = format!("  {} of {}", target.form + 1, target.forms.len());
                let columns = usize::from(inner.width);
                let room = columns.saturating_sub(width(FORM) + width(form.name) + width(&place));
                let describe = format!("  {}", form.describe);
                Line::from(vec![
                    Span::styled(FORM, theme.accent()),
                    Span::styled(form.name, theme.strong()),
                    Span::styled(truncate(&describe, room).into_owned(), theme.muted()),
                    Span::styled(place, theme.muted()),
                ])
                .render(cut(&mut inner, 1), buf);
            }
            let export = target.export(choice);
            let endings = match export {
                Export::Picture(_) => Some(PICTURE_ENDINGS.to_owned()),
                export if export.is_table() => Some(TABLE_ENDINGS.to_owned()),
                _ if target.form > 0 => {
                    let words = export.file_form(None).words();
                    Some(format!("the file is {words}"))
                }
                _ => None,
            };
            if let Some(endings) = endings {
                Line::styled(endings, theme.muted()).render(cut(&mut inner, 1), buf);
            }
            if let Some(why) = self.why_empty(choice) {
                let words = format!("0 rows: {why}");
                Line::styled(words, theme.warn()).render(cut(&mut inner, 1), buf);
            }
            return target.file.render(theme, inner, buf);
        }
        // The line above the keys shows in full what is truncated in the selected row.
        let below = cut_bottom(&mut inner, 1);
        let first = (self.selected + 1).saturating_sub(usize::from(inner.height));
        let columns = usize::from(inner.width);
        for (row, (at, choice)) in inner
            .rows()
            .zip(self.choices.iter().enumerate().skip(first))
        {
            self.clicks.row(row, at);
            let selected = at == self.selected;
            if selected {
                buf.set_style(row, theme.selection());
            }
            let (doc, style) = match self.why_empty(choice) {
                Some(why) => (format!("0 rows: {why}"), theme.ghost()),
                None => (choice.doc.to_owned(), theme.muted()),
            };
            let doc = match truncate(&doc, columns.saturating_sub(NAME + 2)) {
                Cow::Borrowed(whole) => whole.to_owned(),
                Cow::Owned(cut) => {
                    if selected {
                        text::line(&doc, columns, theme.strong()).render(below, buf);
                    }
                    cut
                }
            };
            Line::from(vec![
                Span::raw(if selected { "▌ " } else { "  " }),
                Span::styled(pad_right(choice.name, NAME), theme.text()),
                Span::styled(doc, style),
            ])
            .render(row, buf);
        }
        None
    }
}

impl Default for ExportDialog {
    fn default() -> Self {
        Self::new(ExportSubject::default(), None, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::picture::TwoOrdersPicture;
    use crate::store::corpus::QueryKey;
    use crate::tui::testing::{draw, key, text, typed};
    use rstest::rstest;

    #[test]
    fn a_kind_is_chosen_and_its_file_named() {
        let mut dialog = ExportDialog::default();
        for code in [KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Enter] {
            assert_eq!(dialog.handle(key(code)), KeyOutcome::Consumed);
        }
        let screen = text(&draw(80, 24, |area, buf| {
            dialog.render(&Theme::default(), area, buf);
        }));
        assert!(screen.contains("verdicts.csv"), "{screen}");
        assert!(screen.contains(TABLE_ENDINGS), "{screen}");
        for event in typed(".old") {
            dialog.handle(event);
        }
        let order = ExportOrder {
            export: Export::Verdicts(None),
            path: "verdicts.csv.old".to_owned(),
        };
        assert_eq!(
            dialog.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted(order)
        );
    }

    #[test]
    fn labels_and_verdicts_are_offered_in_every_form_without_an_index() {
        use crate::formats::judgments::JudgmentFormat;
        use crate::formats::pairs::PairForm;
        use clap::ValueEnum as _;
        let tools = JudgmentFormat::value_variants().iter();
        let tools = tools.filter(|tool| tool.info().is_written && !tool.info().needs_index);
        let tools = tools.map(|tool| tool.names().name);
        let of_labels: Vec<&str> = std::iter::once("trec").chain(tools).collect();
        let tools = PairForm::all().map(|form| form.names().name);
        let of_verdicts: Vec<&str> = std::iter::once("table").chain(tools).collect();
        for choice in &CHOICES {
            let forms = choice.export.offered_forms();
            let offered: Vec<&str> = forms.iter().map(|form| form.name).collect();
            let expected = match choice.name {
                "qrels" | "corrected qrels" => of_labels.clone(),
                "verdicts" => of_verdicts.clone(),
                _ => Vec::new(),
            };
            assert_eq!(offered, expected, "{}", choice.name);
        }
    }

    #[test]
    fn tab_changes_the_form_and_the_extension_with_it() {
        let mut dialog = ExportDialog::new(ExportSubject::Verdicts, None, "ana");
        dialog.handle(key(KeyCode::Enter));
        dialog.handle(key(KeyCode::Home));
        typed("my-").for_each(|event| {
            dialog.handle(event);
        });
        let shown = |dialog: &ExportDialog| {
            text(&draw(80, 24, |area, buf| {
                dialog.render(&Theme::default(), area, buf);
            }))
        };
        assert!(shown(&dialog).contains("form: table  everything"));
        let mut seen = Vec::new();
        for _ in 0..4 {
            dialog.handle(key(KeyCode::Tab));
            let screen = shown(&dialog);
            // The line of the kind is true of every form.
            assert!(screen.contains("verdicts: each person's verdict on each pair"));
            let line = |start: &str| {
                let line = screen.lines().find(|line| line.contains(start));
                let rest = line.and_then(|line| line.split_once(start));
                rest.map_or("", |(_, rest)| rest.split_whitespace().next().unwrap_or(""))
                    .to_owned()
            };
            seen.push((line("form: "), line("file: ")));
        }
        let expected = [
            ("label-studio", "my-verdicts.json"),
            ("argilla", "my-verdicts.json"),
            ("arena", "my-verdicts.json"),
            ("table", "my-verdicts.csv"),
        ];
        assert_eq!(
            seen,
            expected.map(|(form, file)| (form.to_owned(), file.to_owned()))
        );
        dialog.handle(key(KeyCode::BackTab));
        let KeyOutcome::Submitted(order) = dialog.handle(key(KeyCode::Enter)) else {
            panic!("it is complete");
        };
        let Export::Verdicts(Some(form)) = order.export else {
            panic!("{order:?}");
        };
        assert_eq!(
            (form.names().name, order.path.as_str()),
            ("arena", "my-verdicts.json")
        );
    }

    #[rstest]
    #[case::packed("out.csv.gz", "out.json.gz")]
    #[case::table("out.parquet", "out.json")]
    #[case::other("answers.v2", "answers.v2")]
    #[case::none("", "")]
    fn only_an_extension_of_the_old_form_is_changed(#[case] name: &str, #[case] expected: &str) {
        let choice = CHOICES.iter().find(|choice| choice.name == "verdicts");
        let choice = choice.unwrap();
        let mut target = Target::of(choice);
        target.file = file_prompt(name);
        target.change_form(false);
        assert_eq!(target.file.text(), expected);
        target.change_form(true);
        assert_eq!(target.file.text(), name);
    }

    #[test]
    fn the_picture_of_the_screen_comes_first() {
        let picture: Arc<dyn Picture> = Arc::new(TwoOrdersPicture(QueryKey(1)));
        let mut dialog = ExportDialog::new(ExportSubject::Scores, Some(picture.clone()), "ana");
        assert_eq!(dialog.choices.len(), CHOICES.len() + PAGES.len() + 1);
        dialog.handle(key(KeyCode::Enter));
        let screen = text(&draw(80, 24, |area, buf| {
            dialog.render(&Theme::default(), area, buf);
        }));
        assert!(screen.contains("two-orders.svg"), "{screen}");
        assert!(screen.contains(PICTURE_ENDINGS), "{screen}");
        let order = ExportOrder {
            export: Export::Picture(picture),
            path: "two-orders.svg".to_owned(),
        };
        assert_eq!(
            dialog.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted(order)
        );
    }

    #[test]
    fn what_the_screen_shows_comes_first_and_what_is_empty_says_so() {
        let mut dialog = ExportDialog::new(ExportSubject::Labels, None, "ana");
        assert_eq!(dialog.choices.len(), CHOICES.len() + PAGES.len());
        dialog.held = Some(ProjectContents {
            labels: true,
            ..ProjectContents::default()
        });
        let shown = |dialog: &ExportDialog| {
            text(&draw(80, 24, |area, buf| {
                dialog.render(&Theme::default(), area, buf);
            }))
        };
        let screen = shown(&dialog);
        let place = |words: &str| {
            screen
                .find(words)
                .unwrap_or_else(|| panic!("{words}: {screen}"))
        };
        assert!(
            place("▌ corrected qrels   labels") < place("rulings           0 rows: there is no")
        );
        assert!(place("0 rows: there is no ruling yet") < place("0 rows: nothing is scored yet"));
        dialog.handle(key(KeyCode::Down));
        dialog.handle(key(KeyCode::Enter));
        let screen = shown(&dialog);
        assert!(screen.contains("rulings.csv"), "{screen}");
        assert!(
            screen.contains("0 rows: there is no ruling yet"),
            "{screen}"
        );
    }

    #[test]
    fn what_is_cut_in_the_row_of_the_choice_is_said_below() {
        let mut dialog = ExportDialog::default();
        dialog.handle(key(KeyCode::Down));
        dialog.handle(key(KeyCode::Down));
        let screen = text(&draw(60, 24, |area, buf| {
            dialog.render(&Theme::default(), area, buf);
        }));
        assert!(
            screen.contains("every vote and failed call of every…"),
            "{screen}"
        );
        assert!(
            screen.contains("every vote and failed call of every judge"),
            "{screen}"
        );
    }

    #[test]
    fn esc_goes_back_by_a_step_and_any_size_is_drawn() {
        let mut dialog = ExportDialog::default();
        dialog.handle(key(KeyCode::Enter));
        assert_eq!(dialog.handle(key(KeyCode::Esc)), KeyOutcome::Consumed);
        for (width, height) in [(0, 0), (20, 6), (60, 16), (200, 60)] {
            draw(width, height, |area, buf| {
                dialog.render(&Theme::default(), area, buf);
            });
        }
        assert_eq!(dialog.handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
    }

    #[test]
    fn what_is_cut_in_the_row_of_the_choice_is_said_in_full_below() {
        let dialog = ExportDialog::default();
        let whole = dialog.choice().doc;
        let drawn = |columns| {
            text(&draw(columns, 16, |area, buf| {
                dialog.render(&Theme::default(), area, buf);
            }))
        };
        let (narrow, wide) = (drawn(48), drawn(100));
        assert!(narrow.contains(whole), "{narrow}");
        assert_eq!(wide.matches(whole).count(), 1, "{wide}");
    }
}
