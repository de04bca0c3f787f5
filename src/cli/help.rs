//! The help as it is printed: paragraphs that wrap at any width, and a file's name where a command is wanted.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::path::Path;

/// The command with the paragraphs below its options, and below those of its subcommands, in lines of their own, so that
/// they wrap as wide as the terminal is.
pub(super) fn flowing(command: Command) -> Command {
    let below = command.get_after_help().map(ToString::to_string);
    let command = match below {
        Some(text) => command.after_help(joined(&text)),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// Joins the lines of a paragraph; what is indented, and what follows a colon at the end of a line, stays as it is.
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

/// What to do with a file or folder that was named where a command is wanted; `None` where the usage is wrong otherwise.
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
            "{name} is a folder, not a command: `overrule import {name}` takes in a benchmark's folder"
        ));
    }
    let is_project = path.extension().is_some_and(|extension| extension == "db");
    Some(match is_project {
        true => format!(
            "{name} is a project, not a command: `overrule --project {name}` opens it, `overrule merge {name}` takes over what \
             it has"
        ),
        false => format!(
            "{name} is a file, not a command: `overrule import {name}` brings it into the project, `overrule annotate {name} \
             OUT` judges it and writes the scores to OUT"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_joined_and_lists_and_examples_are_not() {
        let text = "One sentence that\ngoes on. Another.\n\nPolicies:\nvalue\n  split   votes differ\n  cycle\nEnd.";
        assert_eq!(
            joined(text),
            "One sentence that goes on. Another.\n\nPolicies:\nvalue\n  split   votes differ\n  cycle\nEnd."
        );
        assert_eq!(joined(""), "");
    }
}
