//! Draws the result of a trial: the sentence, the table of fixed and broken, the figures of both
//! prompts, and the pairs.

use crate::domain::agreement::SurveyShare;
use crate::domain::number_words::{fixed, signed, usd};
use crate::domain::sanitize;
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::{Margin, Outcome};
use crate::features::prompts::app::trial::{
    JudgeFigures, LOOKS_BEFORE_FRESH_PAIRS, TrialPairs, TrialReading, TriedPair,
};
use crate::features::prompts::domain::{PairChange, PromptComparison, SetPart, p_words};
use crate::features::prompts::screen::commands;
use crate::features::prompts::screen::state::{OpenTrial, PairTitles};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, ListPosition};
use crate::tui::keymap::{Screen, key_on};
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::text::{self, counted};
use crate::tui::theme::Theme;
use crate::tui::widgets::list::scrollbar;
use crate::tui::widgets::{heading, notice, scroll_to};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Columns of the 2 × 2 table.
const TABLE: usize = 38;
/// Columns of the name of a figure.
const LABEL: usize = 35;
/// Columns of the kind of change.
const CHANGE: usize = 11;

pub(super) fn view(model: &Model, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let state = model.prompt();
    let columns = usize::from(rest.width);
    let reading = match &state.trial {
        None => {
            notice("reading the stored answers …", theme, rest, buf);
            return Areas::default();
        }
        Some(Err(why)) => {
            let mut words = sanitize::line(why).into_owned();
            if state.is_changed() {
                let edit = key_on(commands::EDIT_PROMPT, Screen::PROMPT_TRIAL);
                words.push_str(&format!("; {edit} edits the prompt"));
            }
            notice(&words, theme, rest, buf);
            return Areas::default();
        }
        Some(Ok(open)) => match &open.reading {
            Some(reading) if reading.result.comparison.pairs > 0 => reading,
            _ => {
                notice(&missing_words(model, open), theme, rest, buf);
                return Areas::default();
            }
        },
    };
    let mut head = text::lines(&reading.sentence(), columns, theme.strong());
    head.extend(missing_lines(model, theme, columns));
    let compact = area.height < 30;
    head.extend(numbers(reading, theme, columns, compact));
    let rows = (head.len() as u16).min(rest.height.saturating_sub(5));
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    let pairs = &reading.result.pairs;
    let words = format!("{}, changed ones first", counted(pairs.len(), "pair"));
    heading(&words, true, theme, cut(&mut rest, 1), buf);
    let page = usize::from(rest.height);
    let first = scroll_to(0, state.cursor, page);
    let titles = state.found().map(|found| &found.titles);
    for (row, (at, pair)) in rest.rows().zip(pairs.iter().enumerate().skip(first)) {
        let selected = at == state.cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let key = (pair.query, pair.decided.pair);
        let titles = titles.and_then(|titles| titles.get(&key));
        pair_row(pair, titles, selected, theme, columns).render(row, buf);
    }
    scrollbar(first, pairs.len(), Canvas::new(theme, rest, buf));
    Areas {
        list: rest,
        page,
        lines: pairs.len(),
        first,
        position: Some(ListPosition::unfiltered(state.cursor, pairs.len())),
        ..Areas::default()
    }
}

/// How far the questions are that judges are being asked.
fn asking_words(model: &Model) -> Option<String> {
    let (_, progress) = model.questions.going.as_ref()?;
    Some(format!(
        "{} of {} so far. The result is shown when the last one is in.",
        text::count(progress.done),
        counted(progress.all, "answer"),
    ))
}

/// What is missing before there is a result.
fn missing_words(model: &Model, open: &OpenTrial) -> String {
    let missing = counted(open.missing, "answer");
    if let Some(words) = asking_words(model) {
        return words;
    }
    match (model.prompt().part, open.missing) {
        (_, 0) => format!(
            "No answer can be compared with a vote: no reply was readable. {} edits the prompt.",
            key_on(commands::EDIT_PROMPT, Screen::PROMPT_TRIAL)
        ),
        (SetPart::Tuning, _) => {
            format!(
                "No pair was tried yet: {missing} missing. {} asks for them.",
                key_on(commands::TRY_PROMPT, Screen::PROMPT_TRIAL)
            )
        }
        (SetPart::HeldOut, _) => format!(
            "The final test shows its result when it is complete: {missing} missing. {} asks for \
             them.",
            key_on(commands::TEST_PROMPT, Screen::PROMPT_TRIAL)
        ),
    }
}

fn missing_lines(model: &Model, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let state = model.prompt();
    let missing = state.found().map_or(0, |found| found.missing);
    if missing > 0 {
        let words = asking_words(model).unwrap_or_else(|| {
            format!(
                "Incomplete: {} missing; {} asks for them.",
                counted(missing, "answer"),
                key_on(commands::TRY_PROMPT, Screen::PROMPT_TRIAL)
            )
        });
        lines.extend(text::lines(&words, columns, theme.warn()));
    }
    if state.is_changed() {
        let words = "The prompt on screen is not stored, because it is not a valid prompt.";
        lines.extend(text::lines(words, columns, theme.warn()));
    }
    lines
}

/// The 2 × 2 table next to the figures of both prompts, then the causes and remarks.
fn numbers(
    reading: &TrialReading,
    theme: &Theme,
    columns: usize,
    compact: bool,
) -> Vec<Line<'static>> {
    let found = reading.comparison();
    let table = table_lines(&found, reading.is_test());
    let figures = figure_lines(reading);
    let blank = || Line::default();
    let mut lines = vec![blank()];
    let wide = TABLE
        + figures
            .iter()
            .map(|line| text::width(line))
            .max()
            .unwrap_or(0)
        <= columns;
    if wide {
        let empty = String::new();
        for at in 0..table.len().max(figures.len()) {
            let left = text::pad_right(table.get(at).unwrap_or(&empty), TABLE);
            let right = figures.get(at).unwrap_or(&empty);
            lines.push(text::line(&format!("{left}{right}"), columns, theme.text()));
        }
    } else {
        let all = table.iter().chain(&figures);
        lines.extend(all.map(|words| text::line(words, columns, theme.text())));
    }
    let remarks = remarks(reading, &found);
    if !compact {
        lines.push(blank());
    }
    lines.extend(text::lines(&remarks.join(" · "), columns, theme.muted()));
    lines
}

fn table_lines(found: &PromptComparison, is_test: bool) -> Vec<String> {
    let row =
        |words: &str, right: String, wrong: String| format!("{words:<11}{right:>10}{wrong:>13}");
    let mut lines = vec![
        row("", "new right".to_owned(), "new wrong".to_owned()),
        row(
            "old right",
            found.both_right.to_string(),
            format!("broken {}", found.broken),
        ),
        row(
            "old wrong",
            format!("fixed {}", found.fixed),
            found.both_wrong.to_string(),
        ),
    ];
    if is_test {
        lines.push(format!("exact McNemar p = {}", p_words(found.mcnemar_p)));
    }
    lines
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn agreement(share: &SurveyShare) -> String {
    let with = |value: f64, low: f64, high: f64| {
        format!(
            "{} ({:.0}–{:.0})",
            percent(value),
            100.0 * low,
            100.0 * high
        )
    };
    let weighted = share.corrected.filter(|_| share.without_probability == 0);
    match (weighted, share.raw) {
        (Some(of), _) => with(of.value, of.interval.low, of.interval.high),
        (None, Some(of)) => with(of.value, of.interval.low, of.interval.high),
        (None, None) => "–".to_owned(),
    }
}

/// A value under both prompts, `old → new`.
fn figure_lines(reading: &TrialReading) -> Vec<String> {
    let (old, new) = (&reading.result.old, &reading.result.new);
    let found = &reading.result.comparison;
    let is_weighted = found.old.without_probability == 0 && found.old.corrected.is_some();
    let dash = || "–".to_owned();
    let both = |name: &str, of: &dyn Fn(&JudgeFigures) -> Option<String>| {
        let [old, new] = [of(old), of(new)].map(|words| words.unwrap_or_else(dash));
        format!("{name:<LABEL$}{old} → {new}")
    };
    let how = if is_weighted {
        "weighted"
    } else {
        "not weighted"
    };
    vec![
        format!(
            "{:<LABEL$}{} → {}",
            format!("agrees with people, {how}"),
            agreement(&found.old),
            agreement(&found.new)
        ),
        both("flips when swapped", &|of| {
            let order = of.order?;
            Some(format!(
                "{} of {}",
                percent(order.flips?.value),
                order.pairs
            ))
        }),
        both("lean to the first document", &|of| {
            Some(signed(of.order?.lean, 2))
        }),
        both("ties", &|of| of.ties.map(percent)),
        both("failed or unreadable", &|of| of.invalid.map(percent)),
        both("tokens per call", &|of| Some(fixed(of.tokens_per_call?, 0))),
        both("cost of 1,000 votes", &|of| of.usd_per_1000.map(usd)),
    ]
}

/// The difference, the test over queries, the causes, the looks, and what was left out.
fn remarks(reading: &TrialReading, found: &PromptComparison) -> Vec<String> {
    let (trial, result) = (&reading.trial, &reading.result);
    let mut parts = Vec::new();
    if let Some(of) = found.difference {
        let interval = of.interval.map_or("–".to_owned(), |interval| {
            format!(
                "{} to {}",
                signed(interval.low, 2),
                signed(interval.high, 2)
            )
        });
        parts.push(format!(
            "change of agreement {} (95 % over queries: {interval})",
            signed(of.value, 2)
        ));
    }
    if let Some(p) = found.query_p.filter(|_| reading.is_test()) {
        parts.push(format!(
            "randomization test over queries p = {}",
            p_words(p)
        ));
    }
    if found.causes.iter().any(|of| of.cause.is_some()) {
        parts.extend(found.causes.iter().map(|of| {
            let cause = of.cause.map_or("no cause given", ErrorCause::words);
            let all = of.fixed + of.still_wrong;
            format!("{cause}: {} of {all} fixed", of.fixed)
        }));
    }
    if let Some(looks) = reading.looks {
        parts.push(format!(
            "look {}; Holm's correction over {}: p = {}",
            looks.looks,
            counted(looks.versions, "version"),
            p_words(looks.holm_p)
        ));
        if looks.looks >= LOOKS_BEFORE_FRESH_PAIRS {
            parts.push("judge fresh pairs before the next look".to_owned());
        }
    }
    if trial.request.pairs == TrialPairs::Gold {
        parts.push("gold pairs only".to_owned());
    }
    let left_out = [
        (trial.left_out.without_vote, "without a vote of the judge"),
        (
            trial.left_out.in_prompt,
            "whose query or texts are in the prompt",
        ),
        (
            trial.left_out.in_held_out,
            "with a text of the held-out part",
        ),
    ];
    parts.extend(
        left_out
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("left out: {} {why}", counted(count, "pair"))),
    );
    let cost = result.cost_usd.map_or("an unknown amount".to_owned(), usd);
    parts.push(format!(
        "prompt {}; its answers cost {cost}",
        trial.prompt.hash
    ));
    parts
}

/// Titles without a beginning that both share.
pub(in crate::features::prompts::screen) fn distinct(titles: &PairTitles) -> PairTitles {
    let [low, high] = titles;
    let common = low
        .split_whitespace()
        .zip(high.split_whitespace())
        .take_while(|(one, other)| one == other)
        .count();
    if common < 3 {
        return titles.clone();
    }
    let after = |title: &str| {
        let words: Vec<&str> = title.split_whitespace().skip(common).collect();
        format!("… {}", words.join(" "))
    };
    [after(low), after(high)]
}

/// The title of the better document; A is the document earlier in the pool.
fn winner(outcome: Outcome, titles: &PairTitles) -> String {
    match outcome {
        Outcome::A => titles[0].clone(),
        Outcome::B => titles[1].clone(),
        Outcome::Tie => "tie".to_owned(),
    }
}

/// An answer compared with people's decision: `yours .44`, `the other .61`, `tie`.
fn answer(margin: Margin, people: Outcome) -> String {
    let size = fixed(margin.get().abs(), 2);
    match margin.outcome() {
        Outcome::Tie => "tie".to_owned(),
        same if same == people => format!("agrees {size}"),
        _ => format!("differs {size}"),
    }
}

fn pair_row(
    pair: &TriedPair,
    titles: Option<&PairTitles>,
    selected: bool,
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let titles = titles.map(distinct).unwrap_or_default();
    let titles = titles.map(|title| sanitize::line(&title).into_owned());
    let people = pair.decided.people;
    let answers = format!(
        "old {:<13}new {:<13}",
        answer(pair.old.margin, people),
        Margin::new(pair.new_margin).map_or("–".to_owned(), |margin| answer(margin, people))
    );
    let room = columns.saturating_sub(2 + CHANGE + text::width(&answers) + 2);
    let (pair_room, people_room) = (room * 3 / 5, room - room * 3 / 5);
    let names = if people_room >= 16 {
        let half = pair_room.saturating_sub(5) / 2;
        format!(
            "{} × {}",
            text::truncate(&titles[0], half),
            text::truncate(&titles[1], half)
        )
    } else {
        String::new()
    };
    let people = format!("people: {}", winner(people, &titles));
    let (names, people) = if names.is_empty() {
        (String::new(), text::pad_right(&people, room))
    } else {
        (
            text::pad_right(&names, pair_room),
            text::pad_right(&people, people_room.saturating_sub(1)) + " ",
        )
    };
    let style = match pair.change {
        PairChange::Fixed => theme.good(),
        PairChange::Broken => theme.bad(),
        PairChange::BothRight | PairChange::BothWrong => theme.muted(),
    };
    Line::from(vec![
        Span::raw(if selected { "▌ " } else { "  " }),
        Span::styled(text::pad_right(pair.change.words(), CHANGE), style),
        Span::raw(names),
        Span::styled(people, theme.text()),
        Span::styled(answers, theme.muted()),
    ])
}
