//! The commands in `overrule --help`, grouped by task.

use crate::cli::output::wrap_into;
use crate::registry::COMMAND_TASKS;
use clap::Command;

/// The tasks with the commands of the core. Those of the features follow.
const TASKS: &[(&str, &[&str])] = &[
    ("Get started", &["demo", "init", "doctor", "manual"]),
    (
        "Judge a dataset",
        &["annotate", "batch", "import", "export", "fit"],
    ),
    (
        "Look at the results",
        &[
            "status", "queries", "matrix", "orders", "battles", "cycles", "judges",
        ],
    ),
    (
        "Review and overrule",
        &["queue", "override", "undo", "gold", "log", "merge"],
    ),
    (
        "Correct the labels of a benchmark",
        &["pool", "pick", "adjudication", "rule"],
    ),
    ("Compare rankings", &["evaluate", "compare"]),
    ("Build on the votes", &[]),
    (
        "Settings and maintenance",
        &["config", "allow", "prices", "backup", "keys", "completions"],
    ),
    ("Simulate", &[]),
];

/// The tasks that have commands, with the names of all of them.
fn tasks() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    TASKS
        .iter()
        .map(|(task, names)| {
            let added = COMMAND_TASKS
                .iter()
                .filter(move |(of, _)| of == task)
                .flat_map(|(_, names)| *names);
            (*task, names.iter().chain(added).copied().collect())
        })
        .filter(|(_, names): &(_, Vec<_>)| !names.is_empty())
}

/// The subcommands of `command` with their descriptions, below the headings of their tasks.
pub(super) fn commands_by_task(command: &Command, columns: usize) -> String {
    let header = command.get_styles().get_header();
    let name_width = tasks()
        .flat_map(|(_, names)| names)
        .map(str::len)
        .max()
        .unwrap_or_default();
    let mut lines = Vec::new();
    for (task, names) in tasks() {
        lines.push(format!(
            "{}{task}:{}",
            header.render(),
            header.render_reset()
        ));
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(Command::get_about)
                .map(ToString::to_string)
                .unwrap_or_default();
            let lead = format!("  {name:name_width$}  ");
            wrap_into(&mut lines, lead, &about, columns, name_width + 4);
        }
        lines.push(String::new());
    }
    lines.pop();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_that_is_not_hidden_has_one_task() {
        let command = crate::cli::Arguments::command();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = tasks().flat_map(|(_, names)| names).collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }

    #[test]
    fn every_description_fits_on_one_line_of_a_terminal() {
        let command = crate::cli::Arguments::command();
        let text = commands_by_task(&command, 80);
        let lines = text.lines().filter(|line| line.starts_with("  "));
        assert_eq!(
            lines.count(),
            tasks().map(|(_, names)| names.len()).sum::<usize>(),
            "{text}"
        );
    }
}
