//! Draws the frame: header, screen, footer, and overlays.

use super::canvas::Canvas;
use super::drawing::{Areas, Caches, ListPosition};
use super::layout::inset;
use super::model::{Model, Overlay};
use super::screens::Screen;
use super::text;
use super::theme::Theme;
use super::tour;
use super::update;
use super::widgets::header::Header;
use super::widgets::toast::Level;
use crate::app::annotate::progress::RunProgress;
use crate::domain::sanitize;
use crate::domain::spend::Spend;
use crate::judge::{OFFLINE, OFFLINE_LABEL};
use crate::registry;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

/// Columns of a long annotator name.
const MOST_OF_NAME: usize = 20;

pub fn view(
    model: &Model,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
    caches: &mut Caches,
) -> Areas {
    if area.width < 20 || area.height < 6 {
        Line::raw("Please make the terminal larger.").render(area, buf);
        return Areas::default();
    }
    let ends = tour::end_hint(model);
    let room = usize::from(inset(area).width).saturating_sub(text::width(&ends) + 2);
    let tour = tour::line(model, room);
    let [top, body, between, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(u16::from(tour.is_some())),
        Constraint::Length(1),
    ])
    .areas(area);
    if let Some(words) = tour {
        tour_line(&words, &ends, Canvas::new(theme, inset(between), buf));
    }
    let mut areas = model
        .behavior()
        .view(model, Canvas::new(theme, body, buf), caches);
    let mut header = Header {
        crumbs: crumbs(model),
        facts: facts(model, areas.position, theme),
    };
    for service in registry::SERVICES {
        if let Some((words, level)) = service.state(model) {
            let columns = usize::from(inset(top).width);
            let is_important = matches!(level, Level::Warn | Level::Error);
            header.add_fitting(&words, style_of(level, theme), columns, is_important);
        }
    }
    header.render(theme, top, buf);
    let footer = update::offers::footer(model, usize::from(area.width));
    // An open box shows its own keys.
    let boxed = |overlay: &Overlay| !matches!(overlay, Overlay::Prompt(..));
    if !model.overlays.iter().any(boxed) {
        footer.render(theme, bottom, buf);
    }
    if let Some(toast) = &model.toast {
        // Place it above the keys if there is room, because a reader of an error needs to know
        // which key to press.
        let up = u16::from(area.height >= 10) + between.height;
        let line = Rect {
            y: bottom.y.saturating_sub(up),
            ..bottom
        };
        toast.render(theme, line, buf);
    }
    for overlay in &model.overlays {
        match overlay {
            Overlay::Help(help) => help.render(theme, body, buf),
            Overlay::Page(page) => page.render(theme, body, buf),
            Overlay::Settings(dialog) => dialog.render(theme, area, buf),
            Overlay::Questions(dialog) => dialog.render(theme, area, buf),
            Overlay::Export(dialog) => areas.caret = dialog.render(theme, area, buf),
            Overlay::Import(dialog) => areas.caret = dialog.render(theme, area, buf),
            Overlay::Palette(palette) => areas.caret = palette.render(theme, area, buf),
            Overlay::Prompt(prompt, _) => {
                Clear.render(bottom, buf);
                let bottom = inset(bottom);
                let mut line = bottom;
                if let Some(search) = &model.search {
                    let count = format!(" {}", search.count());
                    let columns = (text::width(&count) as u16).min(bottom.width / 2);
                    let [input, right] =
                        Layout::horizontal([Constraint::Fill(1), Constraint::Length(columns)])
                            .areas(bottom);
                    Line::styled(count, theme.muted()).render(right, buf);
                    line = input;
                }
                areas.caret = prompt.render(theme, line, buf);
            }
            Overlay::Confirm(confirm, _) => confirm.render(theme, area, buf),
            Overlay::Editor(editor, _) => {
                areas.caret = editor.render(theme, areas.panes[0], inset(bottom), buf);
            }
            Overlay::Guideline(editor) => {
                areas.caret = editor.render(theme, body, inset(bottom), buf);
            }
        }
    }
    Theme::make_legible(buf);
    areas
}

/// Draws the step of the tour, and the key that ends it if there is room.
fn tour_line(words: &str, ends: &str, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let columns = usize::from(area.width);
    let gap = columns.saturating_sub(text::width(words) + text::width(ends));
    let mut line = vec![Span::styled(
        text::truncate(words, columns).into_owned(),
        theme.accent(),
    )];
    if gap >= 2 {
        line.push(Span::raw(" ".repeat(gap)));
        line.push(Span::styled(ends.to_owned(), theme.muted()));
    }
    Line::from(line).render(area, buf);
}

fn crumbs(model: &Model) -> Vec<String> {
    let mut crumbs = vec![sanitize::line(&model.options.project).into_owned()];
    let above = model
        .stack
        .iter()
        .filter(|screen| **screen != Screen::QUERIES);
    crumbs.extend(above.map(|screen| match &model.open {
        Some(open) => registry::screen(*screen).crumb(model, open),
        None => screen.name().to_owned(),
    }));
    if model.stack.len() == 1 {
        crumbs.push(Screen::QUERIES.name().to_owned());
    }
    crumbs
}

/// The facts that hold on every screen, least important first: offline judges, the annotator, the
/// position in the list, and the current activity.
fn facts(model: &Model, position: Option<ListPosition>, theme: &Theme) -> Vec<(String, Style)> {
    let offline = model.is_offline().then(|| {
        let words = if model.offline_told {
            OFFLINE
        } else {
            OFFLINE_LABEL
        };
        (words.to_owned(), theme.muted())
    });
    let annotator = sanitize::line(&model.options.annotator);
    let annotator = text::truncate(&annotator, MOST_OF_NAME).into_owned();
    let position = position.map(|position| (position_words(position), theme.muted()));
    offline
        .into_iter()
        .chain([(annotator, theme.muted())])
        .chain(position)
        .chain([(activity(model), theme.accent())])
        .chain(ended_run(model, theme))
        .filter(|(words, _)| !words.is_empty())
        .collect()
}

/// `3 of 8`, and the number of hidden rows.
fn position_words(position: ListPosition) -> String {
    let ListPosition { cursor, shown, all } = position;
    let words = match shown {
        0 => "0".to_owned(),
        _ => format!("{} of {}", text::count(cursor + 1), text::count(shown)),
    };
    if shown < all {
        format!("{words}, {} hidden", text::count(all - shown))
    } else {
        words
    }
}

/// How the latest run of this session ended, and its cost.
fn ended_run(model: &Model, theme: &Theme) -> Option<(String, Style)> {
    let ended = model.run.ended.as_ref().filter(|_| !model.run.running)?;
    let spend = model
        .run
        .progress
        .as_ref()
        .map(RunProgress::spend)
        .filter(|spend| *spend != Spend::default())
        .map_or(String::new(), |spend| format!(" · {}", spend.in_short()));
    let style = style_of(ended.level, theme);
    Some((format!("■ {}{spend}", ended.badge), style))
}

fn style_of(level: Level, theme: &Theme) -> Style {
    match level {
        Level::Info | Level::Good => theme.muted(),
        Level::Warn => theme.warn(),
        Level::Error => theme.error(),
    }
}

/// The current activity in a few words: import, export and questions, then the run.
fn activity(model: &Model) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(going) = &model.import.going {
        let file = sanitize::line(&going.file);
        let share = going
            .share
            .map_or(String::new(), |share| format!(" {:.0} %", 100.0 * share));
        parts.push(format!("importing {file}{share}"));
    }
    if let Some(file) = &model.export.going {
        parts.push(format!("writing {}", sanitize::line(file)));
    }
    if let Some((set, going)) = &model.questions.going {
        let (done, all) = (text::count(going.done), text::count(going.all));
        parts.push(format!("{} {done}/{all}", set.noun()));
    }
    parts.extend(Some(run_status(model)).filter(|words| !words.is_empty()));
    parts.join(" · ")
}

/// The run in a few words: phase, progress, rate, remaining time and cost.
fn run_status(model: &Model) -> String {
    let Some(progress) = &model.run.progress else {
        return String::new();
    };
    if !model.run.running {
        return String::new();
    }
    let mark = if progress.paused { "‖ paused" } else { "▶" };
    if let Some((what, done, all)) = progress.step() {
        return format!("{mark} {what} {done}/{all}");
    }
    let left = progress.eta_s().map_or(String::new(), |seconds| {
        format!(" · {} left", text::duration(seconds))
    });
    let failed = match progress.failures() {
        0 => String::new(),
        failures => format!(" · {failures} failed"),
    };
    let rate = if progress.paused {
        String::new()
    } else {
        format!(" · {}/s", text::count(progress.rate.round() as u64))
    };
    format!(
        "{mark} {}/{}{rate}{left}{failed} · {}",
        text::count(progress.done() as u64),
        text::count(progress.total as u64),
        progress.spend().in_short()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::message::Msg;
    use crate::tui::screens::testing::model;
    use crate::tui::testing::{draw, key, text};
    use crate::tui::update::update;
    use crossterm::event::KeyCode;

    fn header(model: &Model) -> String {
        let buffer = draw(100, 20, |area, buf| {
            view(model, &Theme::default(), area, buf, &mut Caches::default());
        });
        let page = text(&buffer);
        page.lines()
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_owned()
    }

    #[test]
    fn offline_judges_are_stated_in_full_until_the_first_key_and_then_as_a_badge() {
        let mut model = model(Screen::MATRIX);
        model.options.annotator = "ann\u{1b}".to_owned();
        assert!(header(&model).ends_with("lexical, not a language model · ann␛"));
        let now = model.now;
        update(&mut model, Msg::Key(key(KeyCode::Down)), now);
        assert!(header(&model).ends_with("  offline · ann␛"));
    }

    #[test]
    fn the_position_in_a_list_is_in_the_header() {
        let position = |cursor, shown, all| position_words(ListPosition { cursor, shown, all });
        assert_eq!(position(0, 8, 8), "1 of 8");
        assert_eq!(position(2, 3, 1_200), "3 of 3, 1,197 hidden");
        assert_eq!(position(0, 0, 5), "0, 5 hidden");
        let mut model = model(Screen::QUERIES);
        let info = model.open.as_ref().map(|open| open.info.clone());
        let rows = info.into_iter().map(|info| (info, None)).collect();
        model.queries.set_rows(rows);
        let header = header(&model);
        assert!(header.ends_with("1 of 1"), "{header}");
    }
}
