//! Draws the frame: header, screen, footer, and overlays.

use super::canvas::Canvas;
use super::drawing::{Areas, Caches};
use super::model::{Model, Overlay};
use super::screens::Screen;
use super::screens::behavior::Find;
use super::text;
use super::theme::Theme;
use super::update;
use super::widgets::footer::Footer;
use super::widgets::header::Header;
use crate::domain::sanitize;
use crate::registry;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

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
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    let header = Header {
        crumbs: crumbs(model),
        status: status(model),
    };
    header.render(theme, top, buf);
    let mut areas = model
        .behavior()
        .view(model, Canvas::new(theme, body, buf), caches);
    let offered = |command| update::offers::offers(model, command);
    let mut footer = Footer::new(model.scope()).only(offered);
    let find = match model.behavior().find() {
        Find::Rows { .. } => "filter",
        Find::Document => "find",
        Find::Texts(_) | Find::Nothing => "search",
    };
    footer = footer.relabel("filter", find);
    for (from, to) in model.behavior().labels(model) {
        footer = footer.relabel(from, to);
    }
    if let Some(search) = &model.search {
        let words = sanitize::line(&search.words);
        let words = text::truncate(&words, usize::from(area.width) / 3);
        footer = footer.led_by(format!("/{words} · {}", search.count()));
    }
    if model.run.running && model.run.control.paused {
        footer = footer.relabel("pause", "resume");
    }
    // An open box shows its own keys.
    let boxed = |overlay: &Overlay| !matches!(overlay, Overlay::Prompt(..));
    if !model.overlays.iter().any(boxed) {
        footer.render(theme, bottom, buf);
    }
    if let Some(toast) = &model.toast {
        // Place it above the keys if there is room, because a reader of an error needs to know
        // which key to press.
        let up = u16::from(area.height >= 10);
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
        }
    }
    Theme::make_legible(buf);
    areas
}

fn crumbs(model: &Model) -> Vec<String> {
    let project = sanitize::line(&model.options.project).into_owned();
    let program = "overrule".to_owned();
    // Do not repeat the name of a project with the default file name.
    let mut crumbs = if project == program {
        vec![program]
    } else {
        vec![program, project]
    };
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

/// The current activity in a few words: import, export and questions, then the run.
fn status(model: &Model) -> String {
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
        return match &model.run.ended {
            Some(ended) => format!("■ {ended}"),
            None => String::new(),
        };
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
