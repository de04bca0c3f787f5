//! Changes of `overrule.toml` that keep its comments and its layout.

use super::config::{JudgeConfig, JudgesFile};
use toml_edit::{ArrayOfTables, DocumentMut, Item, RawString, Table, value};

/// The judge `name` gets the prompt `prompt`, or none, which stands for the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeEdit {
    SetPrompt {
        judge: String,
        prompt: Option<String>,
    },
    /// A copy of a judge under another name, with another prompt.
    Copy {
        judge: String,
        name: String,
        prompt: String,
    },
    /// Removes a judge that is still as a [`JudgeEdit::Copy`] has added it.
    RemoveCopy { judge: String },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("no judge is called {0:?}")]
    Unknown(String),
    #[error("a judge is called {0:?} already; choose another name")]
    NameTaken(String),
    #[error(
        "{0:?} has been edited since it was added as a copy of another judge, or the other judge \
         has; remove it by hand"
    )]
    Edited(String),
    /// The judges are not written as `[[judge]]`, or the file cannot be read.
    #[error("it cannot be edited automatically ({0}); change the judge's `prompt` by hand")]
    Unusual(String),
}

impl JudgeEdit {
    /// The judges after the edit.
    pub fn apply(&self, file: &JudgesFile) -> Result<JudgesFile, EditError> {
        let mut file = file.clone();
        let place = |file: &JudgesFile, name: &str| {
            let at = file.judges.iter().position(|judge| judge.name == name);
            at.ok_or_else(|| EditError::Unknown(name.to_owned()))
        };
        match self {
            Self::SetPrompt { judge, prompt } => {
                let at = place(&file, judge)?;
                file.judges[at].prompt.clone_from(prompt);
            }
            Self::Copy {
                judge,
                name,
                prompt,
            } => {
                let at = place(&file, judge)?;
                if place(&file, name).is_ok() {
                    return Err(EditError::NameTaken(name.clone()));
                }
                let copy = JudgeConfig {
                    name: name.clone(),
                    prompt: Some(prompt.clone()),
                    ..file.judges[at].clone()
                };
                file.judges.push(copy);
            }
            Self::RemoveCopy { judge } => {
                let at = place(&file, judge)?;
                let removed = file.judges.remove(at);
                let is_copy = file.judges.iter().any(|of| {
                    let copy = JudgeConfig {
                        name: removed.name.clone(),
                        prompt: removed.prompt.clone(),
                        ..of.clone()
                    };
                    copy == removed
                });
                if !is_copy {
                    return Err(EditError::Edited(judge.clone()));
                }
            }
        }
        Ok(file)
    }

    /// The text of the file after the edit. It is parsed again and compared, so that nothing else
    /// has changed.
    pub fn edit(&self, text: &str) -> Result<String, EditError> {
        let unusual = |error: &dyn std::fmt::Display| EditError::Unusual(error.to_string());
        let before = JudgesFile::parse(text).map_err(|error| unusual(&error))?;
        let wanted = self.apply(&before)?;
        let mut document: DocumentMut = text
            .parse()
            .map_err(|error: toml_edit::TomlError| unusual(&error))?;
        let judges = document
            .get_mut("judge")
            .and_then(Item::as_array_of_tables_mut)
            .ok_or_else(|| unusual(&"its judges are not [[judge]] tables"))?;
        self.change(judges)?;
        let edited = document.to_string();
        match JudgesFile::parse(&edited) {
            Ok(after) if after == wanted => Ok(edited),
            Ok(_) => Err(unusual(&"the edit would change something else")),
            Err(error) => Err(unusual(&error)),
        }
    }

    fn change(&self, judges: &mut ArrayOfTables) -> Result<(), EditError> {
        let named =
            |table: &Table, name: &str| table.get("name").and_then(Item::as_str) == Some(name);
        let place = |judges: &ArrayOfTables, name: &str| {
            let at = judges.iter().position(|table| named(table, name));
            at.ok_or_else(|| EditError::Unknown(name.to_owned()))
        };
        match self {
            Self::SetPrompt { judge, prompt } => {
                let at = place(judges, judge)?;
                if let Some(table) = judges.get_mut(at) {
                    match prompt {
                        Some(prompt) => set(table, "prompt", prompt),
                        None => drop(table.remove("prompt")),
                    }
                }
            }
            Self::Copy {
                judge,
                name,
                prompt,
            } => {
                let at = place(judges, judge)?;
                if let Some(copy) = judges.get(at).map(|of| copy_of(of, name, prompt)) {
                    judges.push(copy);
                }
            }
            Self::RemoveCopy { judge } => {
                let at = place(judges, judge)?;
                let Some(removed) = judges.get(at).cloned() else {
                    return Err(EditError::Unknown(judge.clone()));
                };
                judges.remove(at);
                // Comments are part of a table, and someone may have added some.
                let text = |table: &Table| (table.decor().clone(), table.to_string());
                let prompt = removed.get("prompt").and_then(Item::as_str).unwrap_or("");
                let is_copy = judges
                    .iter()
                    .any(|of| text(&copy_of(of, judge, prompt)) == text(&removed));
                if !is_copy {
                    return Err(EditError::Edited(judge.clone()));
                }
            }
        }
        Ok(())
    }
}

/// A copy of a judge's table, to be placed at the end of the file, after everything else and a blank
/// line.
fn copy_of(table: &Table, name: &str, prompt: &str) -> Table {
    let mut copy = table.clone();
    set(&mut copy, "name", name);
    set(&mut copy, "prompt", prompt);
    copy.set_position(None);
    let prefix = copy.decor().prefix().and_then(RawString::as_str);
    let prefix = prefix.unwrap_or_default().to_owned();
    if !prefix.starts_with('\n') {
        copy.decor_mut().set_prefix(format!("\n{prefix}"));
    }
    copy
}

/// Sets a member and keeps the comment after its value.
fn set(table: &mut Table, key: &str, text: &str) {
    let mut new = value(text);
    let old = table.get(key).and_then(Item::as_value);
    if let (Some(new), Some(old)) = (new.as_value_mut(), old) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Our judges.\n[[judge]]\nname = \"gpt\" # the best\nprovider = \"openai\"\nmodel = \"m\"\nparams = { effort = \"low\" }\n\n# cheap\n[[judge]]\nname = \"mini\"\nprovider = \"openai\"\nmodel = \"n\"\nprompt = \"letter\" # one token\n\n[[embedder]]\nname = \"e\"\nprovider = \"ollama\"\n";

    fn set_prompt(judge: &str, prompt: Option<&str>) -> JudgeEdit {
        JudgeEdit::SetPrompt {
            judge: judge.to_owned(),
            prompt: prompt.map(str::to_owned),
        }
    }

    #[test]
    fn a_prompt_is_set_and_removed_and_everything_else_stays() {
        let set = set_prompt("mini", Some("p.md")).edit(FILE).unwrap();
        assert_eq!(set, FILE.replace("\"letter\" # one", "\"p.md\" # one"));
        let back = set_prompt("mini", Some("letter")).edit(&set).unwrap();
        assert_eq!(back, FILE);
        let added = set_prompt("gpt", Some("p.md")).edit(FILE).unwrap();
        assert!(
            added.contains("params = { effort = \"low\" }\nprompt = \"p.md\"\n\n# cheap"),
            "{added}"
        );
        assert_eq!(set_prompt("gpt", None).edit(&added).unwrap(), FILE);
    }

    #[test]
    fn a_copy_is_added_and_removed_and_a_name_is_used_once() {
        let copy = |name: &str| JudgeEdit::Copy {
            judge: "mini".to_owned(),
            name: name.to_owned(),
            prompt: "p.md".to_owned(),
        };
        let edited = copy("mini2").edit(FILE).unwrap();
        let judges = JudgesFile::parse(&edited).unwrap().judges;
        assert_eq!((judges.len(), judges[2].name.as_str()), (3, "mini2"));
        assert_eq!(judges[2].prompt.as_deref(), Some("p.md"));
        let remove = JudgeEdit::RemoveCopy {
            judge: "mini2".to_owned(),
        };
        assert_eq!(remove.edit(&edited).unwrap(), FILE);
        let first = JudgeEdit::Copy {
            judge: "gpt".to_owned(),
            name: "mini2".to_owned(),
            prompt: "p.md".to_owned(),
        };
        let first = first.edit(FILE).unwrap();
        assert!(
            first.contains("\n\n# Our judges.\n[[judge]]\nname = \"mini2\""),
            "{first}"
        );
        assert_eq!(remove.edit(&first).unwrap(), FILE);
        // Neither someone's changes and comments nor a judge that is not a copy are removed.
        for changed in [
            edited.replacen(
                "model = \"n\"\nprompt = \"p.md\"",
                "model = \"o\"\nprompt = \"p.md\"",
                1,
            ),
            edited.replace("\"mini2\"", "\"mini2\" # keep this one"),
            edited.replace(
                "prompt = \"p.md\" # one token\n",
                "prompt = \"p.md\" # one token\nparams = { effort = \"low\" }\n",
            ),
            edited.replacen("model = \"n\"", "model = \"o\"", 1),
        ] {
            assert_ne!(changed, edited);
            let removed = remove.edit(&changed);
            assert_eq!(removed, Err(EditError::Edited("mini2".to_owned())));
        }
        let more = format!(
            "{edited}\n# another\n[[judge]]\nname = \"x\"\nprovider = \"openai\"\nmodel = \"m\"\n"
        );
        let removed = remove.edit(&more).unwrap();
        assert!(
            removed.starts_with(FILE)
                && removed.ends_with("name = \"x\"\nprovider = \"openai\"\nmodel = \"m\"\n"),
            "{removed}"
        );
        assert_eq!(
            copy("gpt").edit(FILE),
            Err(EditError::NameTaken("gpt".to_owned()))
        );
        assert_eq!(
            set_prompt("no", None).edit(FILE),
            Err(EditError::Unknown("no".to_owned()))
        );
    }

    #[test]
    fn judges_in_another_form_are_left_alone() {
        let inline = "judge = [{ name = \"gpt\", provider = \"openai\", model = \"m\" }]\n";
        let edited = set_prompt("gpt", Some("p.md")).edit(inline);
        assert!(matches!(edited, Err(EditError::Unusual(_))), "{edited:?}");
    }
}
