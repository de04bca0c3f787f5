//! What a person sees who has decided nothing yet: what this is, who judges, and what to do next.

use crate::domain::sanitise;
use crate::tui::keymap::{Command, Scope, key_name};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

const SCOPE: Scope = Scope::Screen(Screen::Queries);

pub(super) fn empty_project(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = vec![
        Line::default(),
        Line::styled("This project holds no queries yet.", theme.strong()),
        Line::default(),
        Line::from(vec![
            Span::styled(
                format!("{:>7}", key_name(Command::Import, SCOPE)),
                theme.key_hint(),
            ),
            Span::raw("  choose a file to import: what it holds is counted first"),
        ]),
        Line::default(),
        Line::raw("a dataset (.jsonl)      queries with their documents"),
        Line::raw("ai_scores.json          the votes of a zBench run"),
        Line::raw("a benchmark's folder    queries, corpus and labels as BEIR has them"),
        Line::raw("another project (.db)   what is new in it is taken over"),
        Line::default(),
        Line::raw("In the shell: overrule import FILE, or overrule demo for the bundled sample."),
        Line::default(),
    ];
    lines.extend(judges(model, theme));
    lines
}

/// Three things to do, for as long as no verdict has been given.
pub(super) fn next_steps(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if model.options.sample {
        lines.push(Line::styled(
            "The bundled sample: scientific claims, and the abstracts found for each.",
            theme.text(),
        ));
    }
    lines.extend(judges(model, theme));
    lines.push(Line::default());
    let summaries = model
        .queries
        .rows
        .iter()
        .filter_map(|(_, summary)| summary.as_ref());
    let fought: usize = summaries.map(|summary| summary.fought).sum();
    let steps = match fought {
        0 => [
            (
                Command::StartRun,
                "have the judges compare the documents; no call is made twice",
            ),
            (Command::Open, "see the documents of the query"),
            (
                Command::Import,
                "import more: queries, labels, rankings or votes",
            ),
        ],
        _ => [
            (
                Command::Open,
                "see who beat whom, and open a battle that looks wrong",
            ),
            (
                Command::ShowQueue,
                "judge the pairs that matter most, blind",
            ),
            (Command::ShowJudges, "see which judge to trust"),
        ],
    };
    let own = (Command::Import, "make a project of your own data");
    let own = model.options.sample.then_some(own);
    lines.extend(steps.into_iter().chain(own).map(|(command, words)| {
        Line::from(vec![
            Span::styled(format!("{:>7}", key_name(command, SCOPE)), theme.key_hint()),
            Span::raw(format!("  {words}")),
        ])
    }));
    lines
}

fn judges(model: &Model, theme: &Theme) -> Option<Line<'static>> {
    let names: Vec<_> = model
        .options
        .judges
        .iter()
        .map(|name| sanitise::line(name).into_owned())
        .collect();
    let why = match model.options.paid {
        _ if model.options.sample => " (offline: no key is used)",
        true => "",
        false => " (nothing here costs money)",
    };
    let words = format!("judges: {}{why}", names.join(", "));
    (!names.is_empty()).then(|| Line::styled(words, theme.muted()))
}
