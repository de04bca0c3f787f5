//! The introduction for a newcomer: what the program is, who judges, and the next steps.

use crate::domain::sanitize;
use crate::tui::keymap::{Command, Scope, key_name};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

const SCOPE: Scope = Scope::Screen(Screen::QUERIES);

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
            Span::raw("  choose a file to import: its contents are counted first"),
        ]),
        Line::default(),
        Line::raw("a dataset (.jsonl)      queries with their documents"),
        Line::raw("ai_scores.json          the votes of a zBench run"),
        Line::raw("a benchmark's folder    queries, corpus and labels (BEIR)"),
        Line::raw("another project (.db)   what is new in it is added"),
        Line::default(),
        Line::raw("In the shell: overrule import FILE, or overrule demo for the bundled sample."),
        Line::default(),
    ];
    lines.extend(judges(model, theme));
    lines
}

/// Commands with a hint, each with another command that does the same, if there is one.
const HINTED: [(Command, Command); 5] = [
    (Command::StartRun, Command::StartRun),
    (Command::Open, Command::ShowMatrix),
    (Command::ShowQueue, Command::ShowQueue),
    (Command::ShowJudges, Command::ShowJudges),
    (Command::Import, Command::Import),
];

/// Hides the hint of a command for good, because the person has used it on the list.
pub(crate) fn note_use(model: &mut Model, command: Command) {
    if model.screen() != Screen::QUERIES || model.queries.rows().is_empty() {
        return;
    }
    let hinted = HINTED
        .into_iter()
        .find(|(hinted, same)| [*hinted, *same].contains(&command));
    if let Some((hinted, _)) = hinted {
        model.queries.used.insert(hinted.name().to_owned());
    }
}

/// The next steps that the person has not used yet, in at most `rows` rows. What the program is
/// and who judges come first if there is room for them; empty if there is no room for the steps.
pub(super) fn next_steps(model: &Model, theme: &Theme, rows: usize) -> Vec<Line<'static>> {
    let steps = steps(model, theme);
    if steps.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<_> = model
        .options
        .sample
        .map(|sample| Line::styled(sample.about(), theme.text()))
        .into_iter()
        .chain(judges(model, theme))
        .collect();
    lines.push(Line::default());
    if lines.len() + steps.len() > rows {
        lines.clear();
    }
    lines.extend(steps);
    if lines.len() > rows {
        Vec::new()
    } else {
        lines
    }
}

fn steps(model: &Model, theme: &Theme) -> Vec<Line<'static>> {
    let start = "let the judges compare the documents; no call is made twice";
    let open = "see which document beat which, and open a battle that looks wrong";
    let queue = "judge the pairs that matter most, blind";
    let import = if model.options.sample.is_some() {
        "make a project of your own data"
    } else {
        "import more: queries, labels, rankings or votes"
    };
    let totals = model.queries.totals();
    let any_judged = totals.judged > 0;
    let any_left = totals.judged < totals.counted;
    let steps = match (any_judged, any_left) {
        (false, _) => [
            (Command::StartRun, start),
            (Command::Open, "see the documents of the query"),
            (Command::Import, import),
        ],
        (true, true) => [
            (Command::StartRun, start),
            (Command::Open, open),
            (Command::ShowQueue, queue),
        ],
        (true, false) if model.queries.failures(None) > 0 => [
            (Command::StartRun, "ask again for the calls that failed"),
            (Command::Open, open),
            (Command::ShowQueue, queue),
        ],
        (true, false) => [
            (Command::Open, open),
            (Command::ShowQueue, queue),
            (Command::ShowJudges, "see which judge to trust"),
        ],
    };
    let own = (model.options.sample.is_some() && any_judged).then_some((Command::Import, import));
    let line = |(command, words): (Command, &str)| {
        Line::from(vec![
            Span::styled(format!("{:>7}", key_name(command, SCOPE)), theme.key_hint()),
            Span::raw(format!("  {words}")),
        ])
    };
    steps
        .into_iter()
        .chain(own)
        .filter(|(command, _)| !model.queries.used.contains(command.name()))
        .map(line)
        .collect()
}

fn judges(model: &Model, theme: &Theme) -> Option<Line<'static>> {
    let names: Vec<_> = model
        .options
        .judges
        .iter()
        .map(|name| sanitize::line(name).into_owned())
        .collect();
    let why = match model.options.paid {
        _ if (model.options.sample).is_some_and(|sample| !sample.recorded_judges().is_empty()) => {
            " (recorded: no judge is asked)"
        }
        _ if model.options.sample.is_some() => " (offline: no key is used)",
        true => "",
        false => " (no judge here costs money)",
    };
    let words = format!("judges: {}{why}", names.join(", "));
    (!names.is_empty()).then(|| Line::styled(words, theme.muted()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::project::Sample;
    use crate::store::summary_cache::QuerySummary;
    use crate::tui::model::remembered::Remembered;
    use crate::tui::screens::testing;
    use crate::tui::theme::ColorDepth;

    /// The keys of the suggested actions on the sample in at most `rows` rows, given the number of
    /// battles with votes in each query.
    fn keys(fought: &[usize], rows: usize) -> (usize, String) {
        let mut model = testing::model(Screen::MATRIX);
        model.options.sample = Some(Sample::Scifact);
        let info = model.open.as_ref().map(|open| open.info.clone()).unwrap();
        let row = |fought: &usize| {
            let summary = QuerySummary {
                fought: *fought,
                ..QuerySummary::default()
            };
            (info.clone(), Some(summary))
        };
        model.queries.set_rows(fought.iter().map(row).collect());
        let lines = next_steps(&model, &Theme::new(ColorDepth::None, false), rows);
        let key = |line: &Line<'_>| match line.to_string().trim().split_once("  ") {
            Some((key, _)) if key.len() < 6 => format!("{key} "),
            _ => String::new(),
        };
        (lines.len(), lines.iter().map(key).collect())
    }

    #[test]
    fn what_is_proposed_fits_the_rows_and_what_is_judged() {
        assert_eq!(keys(&[0, 8], 9), (6, "s Enter w i ".to_owned()));
        assert_eq!(keys(&[0, 8], 4), (4, "s Enter w i ".to_owned()));
        assert_eq!(keys(&[0, 8], 3).0, 0);
        assert_eq!(keys(&[0, 0], 3), (3, "s Enter i ".to_owned()));
        assert_eq!(keys(&[8, 8], 4), (4, "Enter w J i ".to_owned()));
    }

    #[test]
    fn a_hint_is_gone_for_good_once_it_was_used() {
        let mut model = testing::model(Screen::QUERIES);
        let info = model.open.as_ref().map(|open| open.info.clone()).unwrap();
        let summary = QuerySummary {
            fought: 8,
            ..QuerySummary::default()
        };
        model.queries.set_rows(vec![(info, Some(summary))]);
        let theme = Theme::new(ColorDepth::None, false);
        let rows = |model: &Model| {
            let lines = next_steps(model, &theme, 3);
            lines.iter().map(ToString::to_string).collect::<String>()
        };
        for (command, hint) in [
            (Command::ShowMatrix, "which document beat"),
            (Command::ShowQueue, "matter most, blind"),
        ] {
            assert!(rows(&model).contains(hint), "{}", rows(&model));
            note_use(&mut model, command);
            assert!(!rows(&model).contains(hint), "{}", rows(&model));
        }
        let kept = Remembered::of(&model);
        assert_eq!(kept.used.len(), 2);
        model.stack.push(Screen::MATRIX);
        note_use(&mut model, Command::ShowJudges);
        assert_eq!(Remembered::of(&model).used, kept.used, "used elsewhere");
        model.stack.pop();
        note_use(&mut model, Command::ShowJudges);
        assert_eq!(rows(&model), "");
    }

    #[test]
    fn calls_that_failed_are_the_next_step_once_all_else_is_judged() {
        let proposed = |failures| {
            let mut model = testing::model(Screen::MATRIX);
            let info = model.open.as_ref().map(|open| open.info.clone()).unwrap();
            let summary = QuerySummary {
                fought: 8,
                failures,
                ..QuerySummary::default()
            };
            model.queries.set_rows(vec![(info, Some(summary))]);
            let lines = next_steps(&model, &Theme::new(ColorDepth::None, false), 9);
            lines.iter().map(ToString::to_string).collect::<String>()
        };
        assert!(proposed(2).contains("s  ask again for the calls that failed"));
        assert!(!proposed(0).contains("ask again"));
    }
}
