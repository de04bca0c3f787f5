//! The tools for reading: commands with `--json`, with some of their options as arguments.

use crate::cli;
use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};
use std::any::TypeId;
use std::path::Path;

/// A command that an agent may run to read the project.
pub(super) struct ReadingTool {
    /// The command, such as `gold list`.
    command: &'static str,
    /// The options and positional arguments that an agent may set; all others keep their defaults.
    /// Options that write files, name files or spend money are not among them.
    arguments: &'static [&'static str],
}

const fn tool(command: &'static str, arguments: &'static [&'static str]) -> ReadingTool {
    ReadingTool { command, arguments }
}

pub(super) const READING_TOOLS: &[ReadingTool] = &[
    tool("status", &[]),
    tool("queries", &[]),
    tool("matrix", &["query", "order", "layer"]),
    tool("orders", &["query"]),
    tool("battles", &["query", "document"]),
    tool(
        "queue",
        &["policy", "query", "conflicts", "against", "limit"],
    ),
    tool("cycles", &["query"]),
    tool("judges", &["query", "joint"]),
    tool("log", &["query", "limit"]),
    tool(
        "adjudication",
        &["level", "disagreements", "order", "limit"],
    ),
    tool("methods", &["cuts", "baseline", "at", "level", "partial"]),
    tool("measure", &["run", "baseline", "metric", "margin", "level"]),
    tool("prompt list", &[]),
    tool("prompt show", &["prompt"]),
    tool("prompt diff", &["old", "new"]),
    tool("student list", &[]),
    tool("prices", &["words"]),
];

impl ReadingTool {
    /// `gold_list`.
    pub(super) fn name(&self) -> String {
        self.command.replace(' ', "_")
    }

    fn clap(&self) -> Option<Command> {
        let mut names = self.command.split(' ');
        names.try_fold(cli::visible(), |found, name| {
            found.find_subcommand(name).cloned()
        })
    }

    fn clap_arguments(&self) -> Vec<Arg> {
        let command = self.clap();
        let of_command = command.iter().flat_map(Command::get_arguments);
        let allowed = of_command.filter(|arg| self.arguments.contains(&arg.get_id().as_str()));
        allowed.cloned().collect()
    }

    /// What the command does, in its own words.
    pub(super) fn description(&self) -> String {
        let about = self.clap().and_then(|command| command.get_about().cloned());
        let about = about.map(|about| about.to_string()).unwrap_or_default();
        format!(
            "{about}. Prints what `overrule {} --json` prints.",
            self.command
        )
    }

    /// The JSON schema of its arguments.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let arguments = self.clap_arguments();
        let of = |arg: &Arg| (arg.get_id().to_string(), schema_of(arg));
        let required = arguments.iter().filter(|arg| arg.is_required_set());
        let required: Vec<&str> = required.map(|arg| arg.get_id().as_str()).collect();
        object_schema(arguments.iter().map(of).collect(), &required)
    }

    /// The words of the command line for a call.
    ///
    /// # Errors
    /// An argument is unknown, has a wrong type, or is the name of a file.
    pub(super) fn command_line(&self, given: &Map<String, Value>) -> Result<Vec<String>, String> {
        let known = self.clap_arguments();
        let mut words: Vec<String> = self.command.split(' ').map(str::to_owned).collect();
        words.push("--json".to_owned());
        let mut positional = Vec::new();
        for (name, value) in given {
            let at = known.iter().position(|arg| arg.get_id() == name.as_str());
            let Some((at, arg)) = at.and_then(|at| Some((at, known.get(at)?))) else {
                let names: Vec<&str> = known.iter().map(|arg| arg.get_id().as_str()).collect();
                return Err(match names.is_empty() {
                    true => format!("{name:?}: this tool has no arguments"),
                    false => format!("{name:?}: unknown argument; known: {}", names.join(", ")),
                });
            };
            let long = arg.get_long();
            match (arg.get_action(), long, value) {
                (_, _, Value::Null) => {}
                (ArgAction::SetTrue, Some(long), Value::Bool(is_set)) => {
                    words.extend(is_set.then(|| format!("--{long}")));
                }
                (ArgAction::SetTrue, ..) => return Err(format!("{name}: expected true or false")),
                (_, Some(long), value) => words.push(format!("--{long}={}", text(name, value)?)),
                (_, None, Value::Array(values)) => {
                    for value in values {
                        positional.push((at, text(name, value)?));
                    }
                }
                (_, None, value) => positional.push((at, text(name, value)?)),
            }
        }
        positional.sort_by_key(|(at, _)| *at);
        if !positional.is_empty() {
            words.push("--".to_owned());
            words.extend(positional.into_iter().map(|(_, value)| value));
        }
        Ok(words)
    }
}

/// The schema of an object with these properties and no others.
pub(super) fn object_schema(
    properties: Map<String, Value>,
    required: &[&str],
) -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn schema_of(arg: &Arg) -> Value {
    let type_id = arg.get_value_parser().type_id();
    let is = |of: &[TypeId]| of.iter().any(|of| type_id == *of);
    let mut schema = if matches!(arg.get_action(), ArgAction::SetTrue) {
        json!({ "type": "boolean" })
    } else if is(&[TypeId::of::<f64>()]) {
        json!({ "type": "number" })
    } else if is(&[
        TypeId::of::<usize>(),
        TypeId::of::<u64>(),
        TypeId::of::<u32>(),
        TypeId::of::<u16>(),
        TypeId::of::<u8>(),
        TypeId::of::<i64>(),
    ]) {
        json!({ "type": "integer" })
    } else if arg.is_positional() && matches!(arg.get_action(), ArgAction::Append) {
        json!({ "type": "array", "items": { "type": "string" } })
    } else {
        json!({ "type": "string" })
    };
    let values = arg.get_possible_values();
    if !values.is_empty() && schema["type"] == "string" {
        let names: Vec<&str> = values
            .iter()
            .map(clap::builder::PossibleValue::get_name)
            .collect();
        schema["enum"] = json!(names);
    }
    if let Some(help) = arg.get_help() {
        schema["description"] = json!(help.to_string());
    }
    schema
}

/// Arguments that name a ranking of the project or a file; an agent may name the ranking only.
const RANKINGS: [&str; 2] = ["run", "baseline"];

/// A value as a word of the command line.
fn text(name: &str, value: &Value) -> Result<String, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(format!("{name}: expected a text or a number")),
    };
    if RANKINGS.contains(&name) && Path::new(&text).exists() {
        return Err(format!(
            "{name}: {text:?} is a file, and this server reads the project only"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> &'static ReadingTool {
        READING_TOOLS
            .iter()
            .find(|tool| tool.name() == name)
            .unwrap()
    }

    fn line(tool: &str, arguments: Value) -> Result<String, String> {
        let words = named(tool).command_line(arguments.as_object().unwrap())?;
        Ok(words.join(" "))
    }

    #[test]
    fn every_tool_is_a_command_that_prints_json_with_known_arguments() {
        for tool in READING_TOOLS {
            let command = tool.clap().unwrap();
            assert!(
                command
                    .get_arguments()
                    .any(|arg| arg.get_long() == Some("json")),
                "{}",
                tool.command
            );
            assert_eq!(
                tool.clap_arguments().len(),
                tool.arguments.len(),
                "{}",
                tool.command
            );
            assert!(tool.description().len() > 60, "{}", tool.description());
        }
    }

    #[test]
    fn arguments_become_words_that_cannot_be_other_options() {
        let found = line("battles", json!({ "query": "--help", "document": "d 1" }));
        assert_eq!(
            found.unwrap(),
            "battles --json --query=--help --document=d 1"
        );
        let found = line(
            "queue",
            json!({ "limit": 5, "conflicts": true, "policy": null }),
        );
        assert_eq!(found.unwrap(), "queue --json --limit=5 --conflicts");
        let found = line("prompt_diff", json!({ "new": "-x", "old": "1f3a" }));
        assert_eq!(found.unwrap(), "prompt diff --json -- 1f3a -x");
        let found = line("prices", json!({ "words": ["gpt", "--json"] }));
        assert_eq!(found.unwrap(), "prices --json -- gpt --json");
    }

    #[test]
    fn unknown_arguments_files_and_other_types_are_refused() {
        assert!(
            line("status", json!({ "require": "x" }))
                .unwrap_err()
                .contains("no arguments")
        );
        assert!(
            line("matrix", json!({ "out": "x" }))
                .unwrap_err()
                .contains("known: ")
        );
        assert!(
            line("measure", json!({ "run": "Cargo.toml" }))
                .unwrap_err()
                .contains("is a file")
        );
        assert!(
            line("queue", json!({ "conflicts": "yes" }))
                .unwrap_err()
                .contains("true or false")
        );
        assert!(
            line("queue", json!({ "query": {} }))
                .unwrap_err()
                .contains("expected a text")
        );
    }

    #[test]
    fn schemas_have_types_choices_and_required_arguments() {
        let schema = Value::Object(named("matrix").schema());
        assert_eq!(schema["required"], json!(["query"]));
        assert_eq!(
            schema["properties"]["order"]["enum"],
            json!(["hybrid", "zelo"])
        );
        let schema = Value::Object(named("queue").schema());
        assert_eq!(schema["properties"]["limit"]["type"], "integer");
        assert_eq!(schema["properties"]["conflicts"]["type"], "boolean");
    }
}
