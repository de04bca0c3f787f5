//! Formats that are kept in a list: everything but reading and writing follows from the list, which
//! is how a file is recognized, the values of options, the help and the error messages.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use std::fmt;

/// How users know a format.
#[derive(Debug)]
pub struct FormatNames {
    /// Its name on the command line.
    pub name: &'static str,
    /// The content of a file, as part of a sentence.
    pub describe: &'static str,
    /// What a file looks like, in a few words.
    pub looks_like: &'static str,
}

/// What all formats of a list have in common.
pub trait ListedFormat: Sync + 'static {
    /// All formats, in the order in which they are tried and listed.
    fn all() -> &'static [Listed<Self>];

    fn names(&self) -> &FormatNames;

    /// Whether a file that begins with `start`, without leading whitespace, is in this format.
    /// `start` may end anywhere.
    fn recognizes(&self, start: &str) -> bool;
}

/// A format of a list.
pub struct Listed<T: ?Sized + 'static>(pub(super) &'static T);

impl<T: ListedFormat + ?Sized> Listed<T> {
    /// The format of a file that begins with `start`, without leading whitespace.
    ///
    /// # Errors
    /// If it may be one of several, which are named.
    pub fn recognize(start: &str) -> Result<Option<Self>, String> {
        let formats = T::all().iter().copied();
        let found: Vec<Self> = formats
            .filter(|format| format.0.recognizes(start))
            .collect();
        match found.as_slice() {
            [] => Ok(None),
            [format] => Ok(Some(*format)),
            several => {
                let names = several.iter().map(|format| {
                    let FormatNames { name, describe, .. } = format.names();
                    format!("{describe} (--as {name})")
                });
                let names: Vec<String> = names.collect();
                Err(format!(
                    "may hold {}; say which with --as",
                    names.join(" or ")
                ))
            }
        }
    }

    pub fn names(self) -> &'static FormatNames {
        self.0.names()
    }

    /// One line of help for each format: what a file looks like, and what it holds.
    pub fn help_lines() -> String {
        let lines = T::all().iter().map(|format| {
            let names = format.names();
            format!("  {:<38}  {}\n", names.looks_like, names.describe)
        });
        lines.collect()
    }
}

impl<T: ?Sized> Clone for Listed<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Listed<T> {}

impl<T: ListedFormat + ?Sized> fmt::Debug for Listed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listed({})", self.names().name)
    }
}

impl<T: ListedFormat + ?Sized> PartialEq for Listed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.names().name == other.names().name
    }
}

impl<T: ListedFormat + ?Sized> Eq for Listed<T> {}

impl<T: ListedFormat + ?Sized> ValueEnum for Listed<T> {
    fn value_variants<'a>() -> &'a [Self] {
        T::all()
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let names = self.names();
        Some(PossibleValue::new(names.name).help(names.describe))
    }
}
