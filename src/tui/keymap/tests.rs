use std::collections::HashSet;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::binding::{ENTER, ESC, TAB};
use super::*;
use crate::tui::text::width;

const BATTLE: Scope = Scope::Screen(Screen::BATTLE);
const MATRIX: Scope = Scope::Screen(Screen::MATRIX);
const RUN: Scope = Scope::Screen(Screen::RUN);

/// Global keys that a scope uses for a different command, by the name of the scope.
const SHADOWS: [(&str, KeyChord); 13] = [
    // `q` in an overlay closes the overlay: quitting the program from its help page would be
    // surprising.
    ("list", KeyChord::char('q')),
    // On these screens, Tab moves to the next judge or student.
    ("run", TAB),
    ("matrix", TAB),
    ("battle", TAB),
    ("review", TAB),
    ("student", TAB),
    // Here, to the next prompt.
    ("setup", TAB),
    // While a person's time is measured, a pause refers to the person.
    ("duel", KeyChord::char('p')),
    ("passage", KeyChord::char('p')),
    // Here, parentheses mark sentences, and there is one pane.
    ("passage", KeyChord::char('(')),
    ("passage", KeyChord::char(')')),
    ("input", ENTER),
    ("input", ESC),
];

fn bindings() -> impl Iterator<Item = &'static Binding> {
    Scope::all().flat_map(Scope::own)
}

fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
    KeyEvent::new(code, modifiers)
}

fn char(c: char) -> KeyEvent {
    press(KeyCode::Char(c), KeyModifiers::NONE)
}

#[test]
fn no_key_means_two_things_in_a_scope() {
    for scope in Scope::all() {
        let mut seen = HashSet::new();
        for key in scope.own().iter().flat_map(|binding| binding.keys) {
            assert!(seen.insert(*key), "{key} twice in {scope}");
        }
    }
}

#[test]
fn a_scope_redefines_a_global_key_only_where_listed() {
    for scope in Scope::all().filter(|scope| *scope != Scope::Global) {
        for mine in scope.own().iter() {
            for key in mine.keys {
                let taken = Scope::Global
                    .own()
                    .iter()
                    .any(|all| all.keys.contains(key) && all.command != mine.command);
                assert_eq!(
                    taken,
                    SHADOWS.contains(&(scope.name(), *key)),
                    "{key} in {scope}"
                );
            }
        }
    }
}

/// Commands that are equivalent on different screens, such as the next item, the sort order, or the
/// next judge.
const FAMILIES: [&[Command]; 32] = [
    // Edits what the screen is about.
    &[Command::EditJudge, Command::EditGuideline],
    // More of what the screen is about: calls at a time, methods, students, judges.
    &[
        Command::MoreCalls,
        Command::RunMethod,
        Command::TrainStudent,
        Command::SetUpJudges,
        // A prompt for a judge.
        Command::UsePrompt,
    ],
    &[
        Command::NextSurprise,
        Command::NextDocument,
        Command::NextBattle,
        Command::NextMatch,
        Command::NextCheckpoint,
        Command::NextTask,
    ],
    &[
        Command::PreviousSurprise,
        Command::PreviousDocument,
        Command::PreviousBattle,
        Command::PreviousMatch,
        Command::PreviousCheckpoint,
        Command::PreviousTask,
    ],
    // Another order: the reverse one, the previous one, or both at once.
    &[
        Command::ReverseSort,
        Command::PreviousPolicy,
        Command::CompareOrders,
    ],
    // Input by a person: a reason or, on the list of queries, where there are no decisions, a file.
    &[Command::WriteNote, Command::Import],
    // Another view of the same data: a layer of the matrix, a truth, a figure; or a different
    // amount of it.
    &[
        Command::NextLayer,
        Command::NextTruth,
        Command::NextFigure,
        Command::NextMetric,
    ],
    // The matrix of a query, the measurement of a method, or its margin.
    &[
        Command::ShowMatrix,
        Command::ShowMeasure,
        Command::NextMargin,
    ],
    &[Command::PreviousLayer, Command::PreviousFigure],
    &[Command::Zoom, Command::NextDepth],
    // An explanation: the order of two documents, or a judge's full reasoning.
    &[Command::ExplainOrder, Command::ExpandReasoning],
    &[
        Command::SortQueries,
        Command::FlipOrder,
        Command::SortBattles,
        Command::NextPolicy,
    ],
    &[
        Command::NextPane,
        Command::NextJudge,
        Command::NextJudgeLayer,
        Command::NextReasoning,
        Command::NextStudent,
        Command::NextPrompt,
    ],
    // The verdicts: for the first, for both, for the second, for neither.
    &[Command::JudgeA, Command::RuleRelevant, Command::PreferLeft],
    &[
        Command::JudgeTie,
        Command::RulePartially,
        Command::PreferNeither,
        // No verdict is given where judges are set up.
        Command::TestJudge,
        Command::TryPrompt,
    ],
    &[Command::JudgeB, Command::RuleNot, Command::PreferRight],
    &[Command::JudgeAStrongly, Command::PreferLeftStrongly],
    &[Command::JudgeBStrongly, Command::PreferRightStrongly],
    // A pause of the run, or of a person whose time is measured.
    &[Command::PauseRun, Command::PauseTask],
    // The queue, and the part of it that decides a trial.
    &[Command::ShowQueue, Command::DecideTrial],
    // A list behind the screen: cycles, or the pairs that prompts are tuned on.
    &[Command::ShowCycles, Command::ShowPromptSet],
    // Zero: the baseline of the other methods, or none of the documents.
    &[Command::SetBaseline, Command::NoneServes],
    // The list of queries and a duel use this letter for duels, as no judge is chosen there.
    &[
        Command::DropJudge,
        Command::WithoutJudge,
        Command::ShowDuel,
        Command::NewDuel,
    ],
    &[
        Command::ChooseWhole,
        Command::ChooseJudge,
        Command::ColorSlices,
    ],
    // The end of a run, or of setting up judges.
    &[Command::StopRun, Command::SaveJudges],
    &[Command::CannotTell, Command::RuleCannotTell],
    // Parentheses make something smaller or larger: the first pane, or the marked passage.
    &[Command::BorderBack, Command::FewerSentences],
    &[Command::BorderForward, Command::MoreSentences],
    // Questions to the judges, with the price first: about a pair, or in batches.
    &[Command::AskJudges, Command::Batches],
    // The scope of the queue; judges and their prompts belong to the whole project too.
    &[Command::WholeProject, Command::EditPrompt],
    // Decisions of people: those that differ, or those that test a prompt.
    &[Command::Conflicts, Command::TestPrompt],
    // Accepting, on a full screen and on an input line.
    &[Command::Open, Command::Submit],
];

/// Causes use the digits from 4 on; causes on both screens have the same digit.
const CAUSES: [(char, Command, Command); 5] = [
    ('4', Command::CauseJudge, Command::FaultJudgeWrong),
    ('5', Command::CauseDefensible, Command::FaultBoth),
    ('6', Command::CauseQuery, Command::FaultQuery),
    ('7', Command::CauseGuideline, Command::FaultLabelWrong),
    ('8', Command::CauseDocument, Command::FaultLabelMissing),
];

/// In a duel, where nothing is explained, the digits are the positions of documents.
const PLACES: [(char, Command, Command); 9] = [
    ('1', Command::Guess, Command::Place1),
    ('2', Command::FairlySure, Command::Place2),
    ('3', Command::Sure, Command::Place3),
    ('4', Command::CauseJudge, Command::Place4),
    ('5', Command::CauseDefensible, Command::Place5),
    ('6', Command::CauseQuery, Command::Place6),
    ('7', Command::CauseGuideline, Command::Place7),
    ('8', Command::CauseDocument, Command::Place8),
    ('9', Command::CauseOther, Command::Place9),
];

#[test]
fn a_key_means_one_thing_in_the_whole_program() {
    let digit = |known: &KeyChord, one: Command, other: Command| {
        PLACES.iter().any(|(key, cause, place)| {
            *known == KeyChord::char(*key) && (*place == one || *place == other) && {
                let fault = CAUSES.iter().find(|(digit, ..)| digit == key);
                let other = if *place == one { other } else { one };
                other == *cause || fault.is_some_and(|(_, _, fault)| *fault == other)
            }
        })
    };
    let same = |one: Command, other: Command| {
        one == other
            || FAMILIES
                .iter()
                .any(|all| all.contains(&one) && all.contains(&other))
            || CAUSES
                .iter()
                .any(|(_, a, b)| [*a, *b] == [one, other] || [*b, *a] == [one, other])
    };
    let closes = [Command::Back, Command::Cancel, Command::Quit];
    let mut meanings: Vec<(KeyChord, Command, Scope)> = Vec::new();
    for scope in Scope::all() {
        for binding in scope.own() {
            for key in binding.keys {
                for (known, command, place) in &meanings {
                    let both = closes.contains(command) && closes.contains(&binding.command);
                    assert!(
                        known != key
                            || same(*command, binding.command)
                            || digit(key, *command, binding.command)
                            || both,
                        "{key} is {command} in {place} and {} in {scope}",
                        binding.command
                    );
                }
                meanings.push((*key, binding.command, scope));
            }
        }
    }
}

#[test]
fn every_command_has_a_key_a_name_and_a_sentence() {
    let mut names = HashSet::new();
    for command in Command::ALL.iter().copied() {
        assert!(
            bindings().any(|binding| binding.command == command),
            "{command} has no key"
        );
        assert!(names.insert(command.name()));
        assert!(
            command
                .name()
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '-')
        );
        assert!(
            command.doc().ends_with('.') && width(command.doc()) <= 62,
            "{command}"
        );
    }
}

#[test]
fn common_keys_mean_the_same_on_every_screen() {
    let named = |code| press(code, KeyModifiers::NONE);
    for scope in Screen::all().map(Scope::Screen) {
        for (event, command) in [
            (char('j'), Command::Down),
            (named(KeyCode::Down), Command::Down),
            (char('k'), Command::Up),
            (named(KeyCode::Up), Command::Up),
            (char('g'), Command::First),
            (char('G'), Command::Last),
            (named(KeyCode::PageDown), Command::PageDown),
            (named(KeyCode::PageUp), Command::PageUp),
            (char('/'), Command::Filter),
            (char('?'), Command::Help),
            (char(':'), Command::Palette),
            (char('u'), Command::Undo),
            (char('q'), Command::Quit),
            (named(KeyCode::Esc), Command::Back),
            (named(KeyCode::Enter), Command::Open),
        ] {
            assert_eq!(resolve(scope, event), Some(command), "{scope}");
        }
    }
}

#[test]
fn no_command_needs_a_chord_but_the_two_that_shells_own() {
    for binding in bindings() {
        let chord_only = binding.keys.iter().all(|key| key.ctrl);
        let custom = matches!(binding.command, Command::Suspend | Command::Redraw);
        assert_eq!(chord_only, custom, "{}", binding.command);
    }
}

#[test]
fn shift_is_part_of_the_letter_however_it_is_reported() {
    assert_eq!(resolve(BATTLE, char('a')), Some(Command::JudgeA));
    for event in [
        char('A'),
        press(KeyCode::Char('A'), KeyModifiers::SHIFT),
        press(KeyCode::Char('a'), KeyModifiers::SHIFT),
    ] {
        assert_eq!(resolve(BATTLE, event), Some(Command::JudgeAStrongly));
    }
    assert_eq!(
        resolve(RUN, press(KeyCode::Char('?'), KeyModifiers::SHIFT)),
        Some(Command::Help)
    );
    assert_eq!(
        resolve(RUN, press(KeyCode::Tab, KeyModifiers::SHIFT)),
        Some(Command::PreviousPane)
    );
    assert_eq!(
        resolve(BATTLE, press(KeyCode::Char('a'), KeyModifiers::ALT)),
        None
    );
    assert_eq!(
        resolve(BATTLE, press(KeyCode::Char('a'), KeyModifiers::CONTROL)),
        None
    );
}

#[test]
fn repeats_count_and_releases_do_not() {
    let mut event = char('j');
    event.kind = KeyEventKind::Repeat;
    assert_eq!(resolve(MATRIX, event), Some(Command::Down));
    event.kind = KeyEventKind::Release;
    assert_eq!(resolve(MATRIX, event), None);
}

#[test]
fn a_text_input_keeps_its_letters() {
    assert_eq!(resolve(Scope::Input, char('q')), None);
    assert_eq!(
        resolve(
            Scope::Input,
            press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        ),
        None
    );
    assert_eq!(
        resolve(
            Scope::Input,
            press(KeyCode::Char('c'), KeyModifiers::CONTROL)
        ),
        Some(Command::Quit)
    );
    assert_eq!(
        resolve(Scope::Input, press(KeyCode::Enter, KeyModifiers::NONE)),
        Some(Command::Submit)
    );
    assert_eq!(resolve(Scope::List, char('q')), Some(Command::Back));
}

#[test]
fn hints_are_short_distinct_and_led_by_the_scope() {
    for scope in Scope::all() {
        let hints = hints(scope);
        let commands: HashSet<_> = hints.iter().map(|binding| binding.command).collect();
        assert_eq!(commands.len(), hints.len());
        assert!(!commands.contains(&Command::Help));
        let first = scope
            .own()
            .iter()
            .find(|binding| binding.footer && binding.command != Command::Help);
        assert_eq!(Some(hints[0].command), first.map(|binding| binding.command));
    }
    assert!(bindings().all(|binding| width(binding.hint) <= 12));
}

#[test]
fn keys_are_found_from_commands() {
    let keys = |command, scope| key_of(command, scope).map(|key| key.to_string());
    assert_eq!(keys(Command::PageDown, RUN), Some("PgDn".into()));
    assert_eq!(keys(Command::JudgeA, RUN), Some("a".into()));
    assert_eq!(keys(Command::Suspend, RUN), Some("Ctrl-z".into()));
}

#[test]
fn printed_tables_hold_every_binding_and_fit_eighty_columns_at_hand() {
    let page = markdown();
    assert!(page.contains("| `↓` `j` | `down` | Move down. |"));
    assert_eq!(
        page.lines().filter(|line| line.starts_with("| `")).count(),
        bindings().count()
    );
    let page = plain();
    assert!(
        page.lines()
            .all(|line| width(line) <= 100 && line.trim_end() == line)
    );
    assert!(page.contains("\nMatrix\n"));
    assert_eq!(rows().len(), bindings().count());
    assert!(
        serde_json::to_string(&rows())
            .unwrap()
            .contains(r#""scope":"queries","keys":["s"],"command":"start-run""#)
    );
}
