//! Tests that a key has one meaning on all screens, except for the cases listed here.

use crate::features::duel::screen::commands as duel;
use crate::features::lists::screen::commands as lists;
use crate::features::measure::screen::commands as measure;
use crate::features::methods::screen::commands as methods;
use crate::features::prompts::screen::commands as prompts;
#[cfg(feature = "remote")]
use crate::features::remote::screen::commands as remote;
use crate::features::student::screen::commands as student;
use crate::tui::keymap::binding::{ENTER, ESC, TAB};
use crate::tui::keymap::{Command, KeyChord, Scope, commands};
use std::fs;
use std::path::Path;

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

#[test]
fn a_scope_redefines_a_global_key_only_where_listed() {
    for scope in Scope::all().filter(|scope| *scope != Scope::Global) {
        for mine in scope.own() {
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
        methods::RUN_METHOD,
        student::TRAIN_STUDENT,
        Command::SetUpJudges,
        // A prompt for a judge.
        prompts::USE_PROMPT,
    ],
    &[
        Command::NextSurprise,
        Command::NextDocument,
        Command::NextBattle,
        Command::NextMatch,
        student::NEXT_CHECKPOINT,
        duel::NEXT_TASK,
    ],
    &[
        Command::PreviousSurprise,
        Command::PreviousDocument,
        Command::PreviousBattle,
        Command::PreviousMatch,
        student::PREVIOUS_CHECKPOINT,
        duel::PREVIOUS_TASK,
    ],
    // Another order: the reverse one, the previous one, or both at once.
    &[
        Command::ReverseSort,
        Command::PreviousPolicy,
        Command::CompareOrders,
    ],
    // Input by a person: a reason or, on the list of queries, where there are no decisions, a file.
    &[Command::WriteNote, Command::Import],
    // Another view of the same data: a layer of the matrix, a truth, a figure, the verdicts of a
    // person; or a different amount of it.
    &[
        Command::NextLayer,
        methods::NEXT_TRUTH,
        student::NEXT_FIGURE,
        measure::NEXT_METRIC,
        #[cfg(feature = "remote")]
        remote::SHOW_VERDICTS,
    ],
    // The matrix of a query, the measurement of a method, or its margin.
    &[
        Command::ShowMatrix,
        measure::SHOW_MEASURE,
        measure::NEXT_MARGIN,
    ],
    &[Command::PreviousLayer, student::PREVIOUS_FIGURE],
    &[Command::Zoom, methods::NEXT_DEPTH],
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
        student::NEXT_STUDENT,
        Command::NextPrompt,
    ],
    // The verdicts: for the first, for both, for the second, for neither.
    &[Command::JudgeA, Command::RuleRelevant, duel::PREFER_LEFT],
    &[
        Command::JudgeTie,
        Command::RulePartially,
        duel::PREFER_NEITHER,
        // No verdict is given where judges are set up.
        Command::TestJudge,
        prompts::TRY_PROMPT,
    ],
    &[Command::JudgeB, Command::RuleNot, duel::PREFER_RIGHT],
    &[Command::JudgeAStrongly, duel::PREFER_LEFT_STRONGLY],
    &[Command::JudgeBStrongly, duel::PREFER_RIGHT_STRONGLY],
    // A pause of the run, or of a person whose time is measured.
    &[Command::PauseRun, duel::PAUSE_TASK],
    // The queue, and the part of it that decides a trial.
    &[Command::ShowQueue, prompts::DECIDE_TRIAL],
    // A list behind the screen: cycles, or the pairs that prompts are tuned on.
    &[Command::ShowCycles, prompts::SHOW_PROMPT_SET],
    // Zero: the baseline of the other methods, or none of the documents.
    &[methods::SET_BASELINE, duel::NONE_SERVES],
    // The list of queries and a duel use this letter for duels, as no judge is chosen there.
    &[
        Command::DropJudge,
        Command::WithoutJudge,
        duel::SHOW_DUEL,
        duel::NEW_DUEL,
    ],
    &[
        duel::CHOOSE_WHOLE,
        lists::MARK_DOCUMENT,
        Command::ChooseJudge,
        Command::ColorSlices,
    ],
    // The end of a run, or of setting up judges; or what was decided goes to the others.
    &[
        Command::StopRun,
        Command::SaveJudges,
        #[cfg(feature = "remote")]
        remote::SYNCHRONIZE,
    ],
    &[Command::CannotTell, Command::RuleCannotTell],
    // Parentheses make something smaller or larger: the first pane, or the marked passage.
    &[Command::BorderBack, duel::FEWER_SENTENCES],
    &[Command::BorderForward, duel::MORE_SENTENCES],
    // Questions to the judges, with the price first: about a pair, or in batches.
    &[Command::AskJudges, Command::Batches],
    // The scope of the queue; judges and their prompts belong to the whole project too.
    &[Command::WholeProject, prompts::EDIT_PROMPT],
    // Decisions of people: those that differ, or those that test a prompt.
    &[Command::Conflicts, prompts::TEST_PROMPT],
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
    ('1', Command::Guess, duel::PLACE_1),
    ('2', Command::FairlySure, duel::PLACE_2),
    ('3', Command::Sure, duel::PLACE_3),
    ('4', Command::CauseJudge, duel::PLACE_4),
    ('5', Command::CauseDefensible, duel::PLACE_5),
    ('6', Command::CauseQuery, duel::PLACE_6),
    ('7', Command::CauseGuideline, duel::PLACE_7),
    ('8', Command::CauseDocument, duel::PLACE_8),
    ('9', Command::CauseOther, duel::PLACE_9),
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

/// The commands are listed from the keys, so one without a key is found in the source only.
#[test]
fn every_command_of_a_feature_has_a_key() {
    let bound = commands();
    let mut found = 0;
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/features");
    for feature in fs::read_dir(features).unwrap() {
        let feature = feature.unwrap();
        if feature.file_name() == "remote" && !cfg!(feature = "remote") {
            continue;
        }
        let path = feature.path().join("screen/commands.rs");
        let Ok(source) = fs::read_to_string(&path) else {
            continue;
        };
        for constant in source.split(" Command::").skip(1) {
            let name = constant.split('"').nth(1).unwrap();
            let has_key = bound.iter().any(|command| command.name() == name);
            assert!(has_key, "{}: {name} has no key", path.display());
            found += 1;
        }
    }
    assert!(found > 40, "only {found} were found");
}
