//! The frame: header, screen, footer, and what lies over them.

use super::model::{Areas, Model, Overlay, Screen};
use super::screens;
use super::text;
use super::theme::Theme;
use super::widgets::footer::Footer;
use super::widgets::header::Header;
use super::widgets::heatmap::HeatmapCache;
use crate::domain::sanitise;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};
use std::time::Duration;

/// What drawing remembers from frame to frame; it changes how fast a frame is drawn and where it is scrolled to.
#[derive(Debug, Default)]
pub struct Caches {
    /// The heatmap's averages and window.
    pub heatmap: HeatmapCache,
}

/// Draws everything and says where it went.
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
    Header::new(crumbs(model))
        .status(status(model))
        .render(theme, top, buf);
    let mut areas = match model.screen() {
        Screen::Queries => screens::queries::view(model, theme, body, buf),
        Screen::Run => screens::run::view(model, theme, body, buf),
        Screen::Matrix => screens::matrix::view(model, theme, body, buf, caches),
        Screen::Document => screens::document::view(model, theme, body, buf),
        Screen::Battle => screens::battle::view(model, theme, body, buf),
        Screen::Queue => screens::queue::view(model, theme, body, buf),
        Screen::Review => screens::review::view(model, theme, body, buf),
        Screen::Judges => screens::judges::view(model, theme, body, buf),
        Screen::Cycles => screens::cycles::view(model, theme, body, buf),
        Screen::Adjudication => screens::adjudication::view(model, theme, body, buf),
        Screen::Ruling => screens::ruling::view(model, theme, body, buf),
    };
    let mut footer = Footer::new(model.screen().scope());
    if model.running && model.control.paused {
        footer = footer.relabel("pause", "resume");
    }
    footer.render(theme, bottom, buf);
    if let Some(toast) = &model.toast {
        toast.render(theme, bottom, buf);
    }
    for overlay in &model.overlays {
        match overlay {
            Overlay::Help(help) => help.render(theme, area, buf),
            Overlay::Page(page) => page.render(theme, area, buf),
            Overlay::Palette(palette) => areas.caret = palette.render(theme, area, buf),
            Overlay::Prompt(prompt, _) => {
                Clear.render(bottom, buf);
                areas.caret = prompt.render(theme, bottom, buf);
            }
            Overlay::Confirm(confirm, _) => confirm.render(theme, area, buf),
        }
    }
    areas
}

fn crumbs(model: &Model) -> Vec<String> {
    let mut crumbs = vec![
        "overrule".to_owned(),
        sanitise::line(&model.options.project).into_owned(),
    ];
    for screen in &model.stack {
        match (screen, &model.open) {
            (Screen::Queries, _) => {}
            (
                Screen::Run
                | Screen::Queue
                | Screen::Review
                | Screen::Judges
                | Screen::Cycles
                | Screen::Adjudication
                | Screen::Ruling,
                _,
            )
            | (_, None) => crumbs.push(screen.title().to_owned()),
            (Screen::Matrix, Some(open)) => {
                crumbs.push(sanitise::line(open.info.id.as_str()).into_owned())
            }
            (Screen::Document, Some(open)) => crumbs.push(open.name(model.document.document)),
            (Screen::Battle, Some(open)) => {
                crumbs.push(format!(
                    "{} × {}",
                    open.name(model.battle.a),
                    open.name(model.battle.b)
                ));
            }
        }
    }
    if model.stack.len() == 1 {
        crumbs.push("queries".to_owned());
    }
    crumbs
}

/// The run in a few words: what it does, how far it is, how fast, how long, what it costs.
fn status(model: &Model) -> String {
    let Some(progress) = &model.progress else {
        return String::new();
    };
    if !model.running {
        return match &model.ended {
            Some(ended) => format!("■ {ended}"),
            None => String::new(),
        };
    }
    let mark = if progress.paused { "‖ paused" } else { "▶" };
    if let Some((what, done, all)) = progress.step() {
        return format!("{mark} {what} {done}/{all}");
    }
    let left = progress.eta_s().map_or(String::new(), |seconds| {
        format!(
            " · {} left",
            text::duration(Duration::from_secs_f64(seconds))
        )
    });
    let failed = match progress.failures() {
        0 => String::new(),
        failures => format!(" · {failures} failed"),
    };
    format!(
        "{mark} {}/{} · {}/s{left}{failed} · {}",
        text::count(progress.done() as u64),
        text::count(progress.total as u64),
        text::count(progress.rate.round() as u64),
        text::usd(progress.charged_usd())
    )
}
