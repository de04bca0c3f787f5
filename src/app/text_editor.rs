//! Edits a text in the person's own editor.

use crate::formats::file;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use uuid::Uuid;

/// The command line of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEditor(String);

/// An edited text, and the file that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedText {
    pub text: String,
    pub draft: PathBuf,
}

/// Why a text was not edited.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EditorFailure {
    message: String,
    /// The file with the text, if the person has changed it.
    pub draft: Option<PathBuf>,
}

impl EditorFailure {
    fn new(error: impl Display) -> Self {
        Self {
            message: error.to_string(),
            draft: None,
        }
    }

    /// The reason, and the file that stays.
    pub fn kept_words(&self) -> String {
        let kept = self.draft.as_ref().map_or(String::new(), |draft| {
            format!("; the text stays in {}", draft.display())
        });
        format!("{self}{kept}")
    }
}

impl TextEditor {
    /// The editor that `$VISUAL` or `$EDITOR` names.
    pub fn of_person() -> Option<Self> {
        ["VISUAL", "EDITOR"]
            .iter()
            .filter_map(|name| std::env::var(name).ok())
            .find(|value| !value.trim().is_empty())
            .map(Self)
    }

    /// Opens a copy of a text, whose file has this word in its name, and waits until the editor
    /// exits.
    ///
    /// # Errors
    /// The editor cannot be started or fails, or the copy cannot be written or read.
    pub fn edit(&self, text: &str, word: &str) -> Result<EditedText, EditorFailure> {
        let draft = Draft::create(text, word)?;
        let exit = self.command(&draft).status();
        draft.after(self, exit)
    }

    /// The command that opens a draft. The editor's own command may have arguments.
    pub fn command(&self, draft: &Draft) -> Command {
        let mut words = self.0.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(&draft.path);
        command
    }
}

/// A copy of a text, for an editor.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    before: String,
}

impl Draft {
    /// Writes the text to a new file, which has this word in its name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(text: &str, word: &str) -> Result<Self, EditorFailure> {
        let name = format!("overrule-{word}-{}.md", Uuid::now_v7());
        let path = std::env::temp_dir().join(name);
        file::create_new(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(EditorFailure::new)?;
        Ok(Self {
            path,
            before: text.to_owned(),
        })
    }

    /// The text after the editor has exited.
    ///
    /// # Errors
    /// The editor could not be started or failed, or the file cannot be read.
    pub fn after(
        self,
        TextEditor(editor): &TextEditor,
        exit: io::Result<ExitStatus>,
    ) -> Result<EditedText, EditorFailure> {
        let problem = match exit {
            Ok(status) if status.success() => match read(&self.path) {
                Ok(text) => {
                    return Ok(EditedText {
                        text,
                        draft: self.path,
                    });
                }
                Err(failure) => failure.message,
            },
            Ok(status) => format!("{editor:?} ended with {status}; nothing was stored"),
            Err(error) => format!("{editor:?} cannot be started: {error}"),
        };
        Err(self.kept(&problem))
    }

    /// Gives up for a reason. The file stays if the person has changed it.
    pub fn kept(self, problem: &str) -> EditorFailure {
        let is_unchanged = read(&self.path).is_ok_and(|found| found == self.before);
        if !is_unchanged {
            return EditorFailure {
                draft: Some(self.path),
                ..EditorFailure::new(problem)
            };
        }
        match std::fs::remove_file(&self.path) {
            Ok(()) => EditorFailure::new(problem),
            Err(error) => EditorFailure::new(error),
        }
    }
}

fn read(path: &Path) -> Result<String, EditorFailure> {
    file::read_to_string(path).map_err(|error| {
        let name = file::display_name(path);
        EditorFailure::new(format!("{name}: cannot be read: {error}"))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn edit(command: &str) -> Result<EditedText, EditorFailure> {
        TextEditor(command.to_owned()).edit("one\n", "test")
    }

    #[test]
    fn the_text_is_edited_in_a_copy() {
        let edited = edit("sed -i s/one/two/").unwrap();
        assert_eq!(edited.text, "two\n");
        std::fs::remove_file(edited.draft).unwrap();
    }

    #[test]
    fn an_unchanged_copy_is_removed_if_the_editor_fails() {
        for (command, words) in [("false", "nothing was stored"), ("/no/editor", "cannot be")] {
            let failure = edit(command).unwrap_err();
            assert!(failure.to_string().contains(words), "{failure}");
            assert_eq!(failure.draft, None);
        }
    }
}
