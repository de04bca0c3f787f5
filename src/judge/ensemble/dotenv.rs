//! `.env`: lines of `NAME=value`, read into memory only. No interpolation, no multi-line values.

use crate::formats::file;
use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use std::{fmt, io};

/// The variables of a `.env` file. They contain keys, so only their names are ever printed.
#[derive(Clone, Default)]
pub struct Dotenv(Vec<(String, SecretString)>);

impl fmt::Debug for Dotenv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Dotenv {
    /// Reads `.env` in `folder`; a missing file counts as empty.
    ///
    /// # Errors
    /// If it cannot be read, or is not a regular file with a single name: a link could point to
    /// other secrets of the user, which `overrule.toml` would then send to a server.
    pub fn load(folder: &Path) -> io::Result<Self> {
        let path = folder.join(".env");
        match file::read_to_string_unlinked(&path) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(io::Error::new(
                error.kind(),
                format!("{}: {error}", path.display()),
            )),
        }
    }

    pub fn parse(text: &str) -> Self {
        let assignment = |line: &str| {
            let line = line.trim();
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (name, value) = line.split_once('=')?;
            let name = name.trim();
            let valid =
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            valid.then(|| (name.to_owned(), SecretString::from(unquoted(value.trim()))))
        };
        Self(
            text.trim_start_matches('\u{feff}')
                .lines()
                .filter_map(assignment)
                .collect(),
        )
    }

    /// The value of a variable (the last one if repeated); empty values count as unset.
    pub fn get(&self, name: &str) -> Option<&SecretString> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value)
            .filter(|value| !value.expose_secret().trim().is_empty())
    }
}

/// A value without its quotes, or without a trailing comment.
fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.split_once(quote))
        {
            return inner.to_owned();
        }
    }
    let end = value.find(" #").unwrap_or(value.len());
    value[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_read_and_the_rest_is_passed_over() {
        let env = Dotenv::parse(
            "# keys\nA=1\r\nexport B = \"two # not a comment\" # a comment\nC='3'\nD=4 # \
             five\nnonsense\n=x\nE=\nA=9\n",
        );
        let get = |name| env.get(name).map(|value| value.expose_secret().to_owned());
        assert_eq!(get("A").as_deref(), Some("9"));
        assert_eq!(get("B").as_deref(), Some("two # not a comment"));
        assert_eq!(
            (get("C").as_deref(), get("D").as_deref(), get("E")),
            (Some("3"), Some("4"), None)
        );
        assert_eq!(format!("{:?}", Dotenv::parse("A=secret")), "{\"A\"}");
    }

    #[test]
    fn no_file_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Dotenv::load(folder.path()).unwrap().get("A").is_none());
        std::fs::write(folder.path().join(".env"), "A=1").unwrap();
        assert!(Dotenv::load(folder.path()).unwrap().get("A").is_some());
    }

    #[test]
    #[cfg(unix)]
    fn only_a_regular_file_in_the_folder_itself_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, secret) = (folder.path().join(".env"), folder.path().join("secret"));
        std::fs::write(&secret, "A=1").unwrap();
        let refusal = || Dotenv::load(folder.path()).unwrap_err().to_string();
        for target in ["secret", "../secret", "nowhere"] {
            std::os::unix::fs::symlink(target, &path).unwrap();
            let why = refusal();
            assert!(why.contains(".env: is a symbolic link"), "{target}: {why}");
            std::fs::remove_file(&path).unwrap();
        }
        std::fs::hard_link(&secret, &path).unwrap();
        assert!(refusal().contains("several names (hard links)"));
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(refusal().contains("is a folder"));
    }
}
