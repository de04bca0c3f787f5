//! Edits a text in the person's own editor.

use crate::formats::file;
use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
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
        let name = format!("overrule-{word}-{}.md", Uuid::now_v7());
        let draft = std::env::temp_dir().join(name);
        file::create_new(&draft)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(EditorFailure::new)?;
        let edited = self.run(&draft).and_then(|()| read(&draft));
        match edited {
            Ok(text) => Ok(EditedText { text, draft }),
            Err(failure) if read(&draft).is_ok_and(|found| found == text) => {
                std::fs::remove_file(&draft).map_err(EditorFailure::new)?;
                Err(failure)
            }
            Err(failure) => Err(EditorFailure {
                draft: Some(draft),
                ..failure
            }),
        }
    }

    fn run(&self, path: &Path) -> Result<(), EditorFailure> {
        let Self(editor) = self;
        let mut words = editor.split_whitespace();
        let program = words.next().unwrap_or_default();
        let status = Command::new(program)
            .args(words)
            .arg(path)
            .status()
            .map_err(|error| {
                EditorFailure::new(format!("{editor:?} cannot be started: {error}"))
            })?;
        if status.success() {
            Ok(())
        } else {
            let words = format!("{editor:?} ended with {status}; nothing was stored");
            Err(EditorFailure::new(words))
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
