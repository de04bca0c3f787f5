//! A list of settings, with one row per setting and its chosen value.

use super::clicks::ClickAreas;
use super::{KeyOutcome, boxed, key_line};
use crate::app::settings::ProjectSettings;
use crate::tui::canvas::Canvas;
use crate::tui::layout::{centred, cut_bottom};
use crate::tui::text::{pad_right, truncate, width, wrap};
use crate::tui::theme::ColorDepth;
use crate::tui::theme::{Ramp, Theme, ThemeChoice};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

const WIDTH: u16 = 76;
/// Columns of the mark of the selected row.
const MARK: u16 = 2;
const NAME: usize = 20;
const VALUE: usize = 26;
/// Rows for the description of the selected setting.
const SENTENCE: u16 = 3;

/// What a row sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    Ramp,
    Theme,
    Order,
    QueueBlind,
    BattleBlind,
    FinalRule,
    OverrideMode,
    Top,
    Annotator,
    /// A setting of a feature, by name.
    Added(&'static str),
}

#[derive(Clone, Debug)]
pub struct Setting {
    pub kind: SettingKind,
    pub name: &'static str,
    pub doc: &'static str,
    pub values: Vec<String>,
    pub chosen: usize,
}

#[derive(Clone, Debug)]
pub struct SettingsDialog {
    rows: Vec<Setting>,
    selected: usize,
    /// The project's settings when the dialog was opened.
    pub project: Box<ProjectSettings>,
    /// The display settings at that time.
    pub looks: (Ramp, ThemeChoice),
    pub(crate) clicks: ClickAreas,
}

impl SettingsDialog {
    pub fn new(rows: Vec<Setting>, project: ProjectSettings, looks: (Ramp, ThemeChoice)) -> Self {
        Self {
            rows,
            selected: 0,
            project: Box::new(project),
            looks,
            clicks: ClickAreas::default(),
        }
    }

    pub(crate) fn selected(&self) -> usize {
        self.selected
    }

    /// The index of the chosen value.
    pub fn chosen(&self, kind: SettingKind) -> Option<usize> {
        let row = self.rows.iter().find(|row| row.kind == kind)?;
        Some(row.chosen)
    }

    fn change(&mut self, forward: bool) {
        if let Some(row) = self.rows.get_mut(self.selected) {
            let count = row.values.len().max(1);
            row.chosen = (row.chosen + if forward { 1 } else { count - 1 }) % count;
        }
    }

    /// ↑ and ↓ select a setting, ← and → its value; Enter applies all, Esc none.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::CONTROL) {
            return KeyOutcome::Pass;
        }
        match event.code {
            KeyCode::Enter => return KeyOutcome::Submitted(()),
            KeyCode::Esc | KeyCode::Char('q') => return KeyOutcome::Cancelled,
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Tab => {
                let last = self.rows.len().saturating_sub(1);
                self.selected = (self.selected + 1).min(last);
            }
            KeyCode::Up | KeyCode::Char('k') | KeyCode::BackTab => {
                self.selected = self.selected.saturating_sub(1);
            }
            KeyCode::Right | KeyCode::Char('l' | ' ') => self.change(true),
            KeyCode::Left | KeyCode::Char('h') => self.change(false),
            _ => {}
        }
        KeyOutcome::Consumed
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let rows = u16::try_from(self.rows.len()).unwrap_or(u16::MAX);
        let area = centred(area, WIDTH, rows + SENTENCE + 4);
        let mut inner = boxed("Settings", theme, area, buf);
        let keys = [
            ("↑ ↓", "setting"),
            ("← →", "value"),
            ("Enter", "keep"),
            ("Esc", "cancel"),
        ];
        self.clicks.clear();
        let line = cut_bottom(&mut inner, 1);
        key_line(&keys, &self.clicks, Canvas::new(theme, line, buf));
        let sentence = cut_bottom(&mut inner, SENTENCE);
        if let Some(row) = self.rows.get(self.selected) {
            let lines = wrap(row.doc, usize::from(sentence.width));
            for (area, line) in sentence.rows().zip(lines) {
                Line::styled(&row.doc[line], theme.muted()).render(area, buf);
            }
        }
        let first = (self.selected + 1).saturating_sub(usize::from(inner.height));
        for (area, (at, row)) in inner.rows().zip(self.rows.iter().enumerate().skip(first)) {
            let selected = at == self.selected;
            self.clicks.row(area, at);
            if selected {
                buf.set_style(area, theme.selection());
                let column = area.x + MARK + NAME as u16;
                self.clicks.named_key("←", area, column, 2);
            }
            let value = row.values.get(row.chosen).map_or("", String::as_str);
            // The ramp is shown next to its name.
            let columns = match row.kind {
                SettingKind::Ramp => row.values.iter().map(|value| width(value)).max(),
                _ => None,
            };
            let columns = columns.unwrap_or(VALUE).min(VALUE);
            let value = pad_right(&truncate(value, columns), columns);
            let mut spans = vec![
                Span::raw(if selected { "▌ " } else { "  " }),
                Span::styled(pad_right(row.name, NAME), theme.text()),
                Span::styled(if selected { "◂ " } else { "  " }, theme.key_hint()),
                Span::styled(value, theme.strong()),
                Span::styled(if selected { " ▸ " } else { "   " }, theme.key_hint()),
            ];
            if row.kind == SettingKind::Ramp {
                // As many cells as fit, including both ends.
                let used: usize = spans.iter().map(Span::width).sum();
                let room = usize::from(area.width).saturating_sub(used) / 2;
                let last = room.clamp(2, 9) - 1;
                spans.extend((0..=last).map(|step| {
                    let heat = theme.heat(step as f64 / last as f64);
                    let words = match theme.depth {
                        ColorDepth::None => format!("{}{}", heat.sign, heat.glyph),
                        _ => format!("{} ", heat.sign),
                    };
                    Span::styled(words, heat.style)
                }));
            }
            Line::from(spans).render(area, buf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, key};

    fn dialog() -> SettingsDialog {
        let row = |kind, values: [&str; 2]| Setting {
            kind,
            name: "name",
            doc: "What it does.",
            values: values.map(str::to_owned).to_vec(),
            chosen: 0,
        };
        let project = ProjectSettings {
            ranking: Default::default(),
            rule: Default::default(),
            guideline: None,
            domain_note: None,
            language_note: None,
        };
        let rows = vec![
            row(SettingKind::Ramp, ["red-green", "gray"]),
            row(SettingKind::Order, ["hybrid", "zELO"]),
        ];
        SettingsDialog::new(rows, project, Default::default())
    }

    #[test]
    fn arrows_choose_a_setting_and_go_round_its_values() {
        let mut dialog = dialog();
        for code in [KeyCode::Right, KeyCode::Down, KeyCode::Down, KeyCode::Left] {
            assert_eq!(dialog.handle(key(code)), KeyOutcome::Consumed);
        }
        assert_eq!(dialog.chosen(SettingKind::Ramp), Some(1));
        assert_eq!(dialog.chosen(SettingKind::Order), Some(1));
        assert_eq!(dialog.chosen(SettingKind::Theme), None);
        assert_eq!(
            dialog.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted(())
        );
        assert_eq!(dialog.handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
    }

    #[test]
    fn any_size_is_drawn() {
        for (width, height) in [(0, 0), (20, 6), (60, 16), (200, 60)] {
            draw(width, height, |area, buf| {
                dialog().render(&Theme::default(), area, buf);
            });
        }
    }
}
