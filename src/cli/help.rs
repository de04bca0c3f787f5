//! The layout of `--help`, and messages for numbers and files that the command line cannot take.

mod by_task;

use super::output::{terminal_width, wrap_command, wrap_into};
use by_task::commands_by_task;
use clap::Command;
use clap::builder::{Resettable, StyledStr};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::Path;
use unicode_width::UnicodeWidthStr as _;

/// Width of the help without a terminal, and its maximum, because longer lines are hard to read.
const MOST: usize = 100;
/// Indentation of the continuation of a command, and of a comment below it.
const HANGING: usize = 4;

/// Columns of the help on this terminal.
pub(crate) fn columns() -> usize {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_width()
        .or_else(told)
        .unwrap_or(MOST)
        .clamp(20, MOST)
}

/// Lays out the text after the options of a command and its subcommands for a terminal of `columns`
/// columns: each paragraph becomes one line, which clap wraps, and lists wrap below their second
/// column.
pub(super) fn flowing(command: Command, columns: usize) -> Command {
    let below = command.get_after_help().map(ToString::to_string);
    let command = match below {
        Some(text) => command.after_help(laid_out(&joined(&text), columns)),
        None => command,
    };
    command.mut_subcommands(|command| flowing(command, columns))
}

/// Arranges the help of `overrule` and of its commands: examples come first, options after them,
/// and the commands of `overrule` are grouped by task.
pub(super) fn arranged(command: Command, columns: usize) -> Command {
    let (examples, rest) = examples_and_rest(&command);
    let tasks = commands_by_task(&command, columns);
    let options = heading(&command, "Options");
    command
        .mut_subcommands(examples_first)
        .before_help(format!("{}\n\n{tasks}", examples.unwrap_or_default()))
        .after_help(Resettable::<StyledStr>::from(rest.map(StyledStr::from)))
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n\
             {{before-help}}{options}\n{{options}}{{after-help}}"
        ))
}

/// Moves the examples of a command and its subcommands from the end of the help to its start.
fn examples_first(command: Command) -> Command {
    let (examples, rest) = examples_and_rest(&command);
    command
        .mut_subcommands(examples_first)
        .before_help(Resettable::<StyledStr>::from(examples.map(StyledStr::from)))
        .after_help(Resettable::<StyledStr>::from(rest.map(StyledStr::from)))
        .help_template(
            "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}",
        )
}

/// The examples in the text after a command's options, below a styled heading, and the other
/// paragraphs.
fn examples_and_rest(command: &Command) -> (Option<String>, Option<String>) {
    let text = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut examples = None;
    let mut rest = Vec::new();
    for paragraph in text.split("\n\n").filter(|text| !text.is_empty()) {
        match paragraph.split_once(":\n") {
            Some((name @ ("Example" | "Examples"), lines)) => {
                examples = Some(format!("{}\n{lines}", heading(command, name)));
            }
            _ => rest.push(paragraph),
        }
    }
    (examples, (!rest.is_empty()).then(|| rest.join("\n\n")))
}

/// A heading in the style that clap uses.
fn heading(command: &Command, text: &str) -> String {
    let style = command.get_styles().get_header();
    format!("{}{text}:{}", style.render(), style.render_reset())
}

/// Lets options take values that begin with a minus sign, so that the error is about the number and
/// not about an unknown option.
pub(super) fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let takes = argument.get_long().is_some() && argument.get_action().takes_values();
        argument.allow_negative_numbers(takes)
    });
    command.mut_subcommands(with_negative_numbers)
}

/// Has options treat an empty variable as unset; clap would take it for a missing value.
pub(super) fn without_empty_variables(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let value = argument.get_env().and_then(std::env::var_os);
        match value.filter(|value| value.is_empty()) {
            Some(_) => argument.env(None::<&'static str>),
            None => argument,
        }
    });
    command.mut_subcommands(without_empty_variables)
}

/// Explains an invalid number; `None` for other errors.
pub(crate) fn wrong_number(error: &clap::Error) -> Option<String> {
    let cause = std::error::Error::source(error)?;
    let context = |kind| match error.get(kind)? {
        ContextValue::String(text) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (
        context(ContextKind::InvalidArg)?,
        context(ContextKind::InvalidValue)?,
    );
    let expected = match cause
        .downcast_ref::<ParseIntError>()
        .map(ParseIntError::kind)
    {
        Some(IntErrorKind::PosOverflow) => "a smaller whole number",
        Some(_) if value.starts_with('-') => "a whole number of at least 0",
        Some(_) => "a whole number",
        None if cause.is::<ParseFloatError>() => "a number",
        None => return None,
    };
    Some(format!("{option}: expected {expected}, found {value:?}"))
}

/// Joins the lines of each paragraph, except for indented lines and for lines after a line that
/// ends in a colon.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut flows = false;
    for line in text.lines() {
        let indented = line.starts_with(' ');
        if !out.is_empty() {
            out.push(if flows && !line.is_empty() && !indented {
                ' '
            } else {
                '\n'
            });
        }
        out.push_str(line);
        flows = !line.is_empty() && !indented && !line.ends_with(':');
    }
    out
}

/// The parts of an indented line: `  name   description`.
struct Entry<'a> {
    indent: usize,
    name: &'a str,
    /// The text after two or more spaces.
    about: Option<&'a str>,
    /// The column where `about` begins.
    column: usize,
}

impl<'a> Entry<'a> {
    fn of(line: &'a str) -> Self {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let (name, about) = match body.split_once("  ") {
            Some((name, about)) => (name, Some(about.trim_start())),
            None => (body, None),
        };
        let about = about.filter(|about| !about.is_empty());
        let column = line.width() - about.map_or(0, |about| about.width());
        Self {
            indent,
            name,
            about,
            column,
        }
    }

    /// Wraps the name at `columns`; the lines of a command can be copied to a shell.
    fn name_into(&self, out: &mut Vec<String>, columns: usize) {
        let hanging = self.indent + HANGING;
        if is_command(self.name) {
            wrap_command(out, self.indent, self.name, columns, hanging);
        } else {
            let lead = " ".repeat(self.indent);
            wrap_into(out, lead, self.name, columns, hanging);
        }
    }
}

/// Whether a line of the help is a command line of this program.
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("overrule ")
}

/// Wraps indented lines that are too long: a list below its second column, or below its command if
/// there is too little room. Lines that are indented more than the entry above them belong to it.
fn laid_out(text: &str, columns: usize) -> String {
    let mut out = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with(' ') {
            out.push(line.to_owned());
            continue;
        }
        // Join examples of several lines first, so that each stays one command wherever it is
        // wrapped.
        let mut command = line.to_owned();
        while is_command(&command) && command.ends_with('\\') {
            let Some(next) = lines.next() else { break };
            command.pop();
            command.truncate(command.trim_end().len());
            command.push(' ');
            command.push_str(next.trim_start());
        }
        let line = command.as_str();
        let entry = Entry::of(line);
        let Some(about) = entry.about else {
            let goes_on = line.trim_end().ends_with(['{', '}', '\\', ',']);
            let of_json = goes_on || (line.ends_with('\'') && !is_command(line));
            if line.width() > columns && !of_json {
                entry.name_into(&mut out, columns);
            } else {
                out.push(line.to_owned());
            }
            continue;
        };
        let mut about = about.to_owned();
        while let Some(next) = lines.next_if(|next| Entry::of(next).indent > entry.indent) {
            about.push(' ');
            about.push_str(next.trim_start());
        }
        let lead = entry.about.and_then(|about| line.strip_suffix(about));
        let lead = lead.unwrap_or_default().to_owned();
        if entry.column + about.width() <= columns {
            out.push(lead + &about);
        } else if 2 * entry.column <= columns {
            wrap_into(&mut out, lead, &about, columns, entry.column);
        } else {
            let hanging = entry.indent + HANGING;
            entry.name_into(&mut out, columns);
            wrap_into(&mut out, " ".repeat(hanging), &about, columns, hanging);
        }
    }
    out.join("\n")
}

/// Says which commands take a file or folder that was given in place of a command; `None` if the
/// error is about something else.
pub(super) fn file_for_command(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let ContextValue::String(name) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let path = Path::new(name);
    if !path.exists() {
        return None;
    }
    if path.is_dir() {
        return Some(format!(
            "{name} is a folder, not a command: `overrule import {name}` imports a benchmark's \
             folder"
        ));
    }
    let is_project = path.extension().is_some_and(|extension| extension == "db");
    Some(if is_project {
        format!(
            "{name} is a project, not a command: `overrule --project {name}` opens it, `overrule \
             merge {name}` merges it"
        )
    } else {
        format!(
            "{name} is a file, not a command: `overrule import {name}` imports it into the \
             project, \
             `overrule annotate {name} OUT` judges it and writes the scores to OUT"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn paragraphs_are_joined_and_lists_and_examples_are_not() {
        let text = "One sentence that\ngoes on. Another.\n\nPolicies:\nvalue\n  split   votes \
                    differ\n  cycle\nEnd.";
        assert_eq!(
            joined(text),
            "One sentence that goes on. Another.\n\nPolicies:\nvalue\n  split   votes differ\n  \
             cycle\nEnd."
        );
        assert_eq!(joined(""), "");
    }

    #[test]
    fn lists_wrap_below_their_second_column_and_comments_below_their_command() {
        let list = "Policies:\n  value  likely wrong and near the top of it\n  split  votes differ";
        assert_eq!(
            laid_out(list, 30),
            "Policies:\n  value  likely wrong and near\n         the top of it\n  split  votes \
             differ"
        );
        assert_eq!(laid_out(list, 80), list);
        let example = "  overrule annotate in out --batch    half the price,\n      within a day";
        assert_eq!(
            laid_out(example, 40),
            "  overrule annotate in out --batch\n      half the price, within a day"
        );
        let json = "  {\"query\":{\"id\":\"q1\",\"query\":\"trams\"},\n   \"by\":\"gpt\"}";
        assert_eq!(laid_out(json, 20), json);
        assert_eq!(
            laid_out("  overrule pick --open --dry-run --json", 24),
            "  overrule pick --open \\\n      --dry-run --json"
        );
        let example =
            "  overrule override --a 1 --note \"names the trial\" \\\n      --cause judge-wrong";
        assert_eq!(
            laid_out(example, 44),
            "  overrule override --a 1 \\\n      --note \"names the trial\" \\\n      --cause \
             judge-wrong"
        );
        assert_eq!(
            laid_out(example, 80),
            "  overrule override --a 1 --note \"names the trial\" --cause judge-wrong"
        );
    }

    #[test]
    fn every_command_that_can_print_json_shows_an_example() {
        let mut waiting = vec![crate::cli::Arguments::command()];
        let mut seen = 0;
        while let Some(command) = waiting.pop() {
            let json = command.get_arguments().any(|of| of.get_id() == "json");
            let shown = command
                .get_after_help()
                .map(ToString::to_string)
                .is_some_and(|text| text.contains("Example"));
            // For the batch commands, the parent command has the examples.
            let of_batches = matches!(command.get_name(), "fetch" | "cancel" | "adopt" | "forget");
            assert!(shown || !json || of_batches, "{}", command.get_name());
            seen += usize::from(json);
            waiting.extend(command.get_subcommands().cloned());
        }
        assert!(seen > 30, "{seen}");
    }

    #[test]
    fn the_help_begins_with_the_examples() {
        let mut command = arranged(flowing(crate::cli::Arguments::command(), 80), 80);
        let help = command.render_help().to_string();
        let place = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}\n{help}"));
        assert!(place("Usage: overrule") < place("Examples:\n  overrule  "));
        assert!(place("Examples:") < place("\nJudge a dataset:\n  annotate "));
        assert!(place("  lab ") < place("\nOptions:\n"));
        assert!(place("--project <FILE>") < place("Exit codes: 0 done"));
        assert!(!help.contains("bench-") && !help.contains("\nCommands:"));
        command.build();
        let annotate = command.find_subcommand_mut("annotate").unwrap();
        let help = annotate.render_help().to_string();
        let (examples, options) = help.split_once("\nOptions:\n").unwrap();
        assert!(examples.contains("Examples:\n  overrule annotate in.jsonl out.jsonl\n"));
        assert!(!options.contains("Examples:"));
    }

    #[test]
    fn every_command_shows_an_example() {
        let command = crate::cli::Arguments::command();
        for command in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let (examples, _) = examples_and_rest(command);
            let name = command.get_name();
            let examples = examples.unwrap_or_else(|| panic!("{name}"));
            assert!(examples.contains("overrule "), "{name}: {examples}");
        }
    }

    #[test]
    fn every_help_keeps_its_lists_in_their_columns() {
        for columns in [60, 80, 100] {
            let mut command = flowing(crate::cli::Arguments::command(), columns);
            command.build();
            let mut waiting = vec![command];
            while let Some(command) = waiting.pop() {
                let text = command.get_after_help().map(ToString::to_string);
                for line in text.unwrap_or_default().lines() {
                    let listed = line.starts_with(' ') && Entry::of(line).about.is_some();
                    assert!(
                        !listed || line.width() <= columns,
                        "{}: {line}",
                        command.get_name()
                    );
                }
                waiting.extend(command.get_subcommands().cloned());
            }
        }
    }
}
