//! Writes output files atomically, through symbolic links, and never over the project, a
//! configuration, an input or a device.

use super::error::{AppError, invalid};
use crate::config::user_file;
use crate::formats::file;
use crate::formats::safe_stdout::SafeStdout;
use crate::formats::table_file::{TableFormat, WITHOUT_PARQUET};
use crate::store::file::sibling;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

/// Files that must not be overwritten under any name.
#[derive(Clone, Copy, Debug)]
pub struct ProtectedFiles<'a> {
    /// The project with its logs and its lock.
    pub project: &'a Path,
    /// The active configuration, if it is a file.
    pub configuration: Option<&'a Path>,
}

/// Suffix of a file that is being written.
const PART: &str = ".part";

impl ProtectedFiles<'_> {
    /// Rejects an output file that cannot be written, that contains configuration, or that would
    /// replace the project or one of the inputs, before any work is done.
    pub fn check_target(&self, path: &Path, inputs: &[(&str, &Path)]) -> Result<(), AppError> {
        let refuse = |why: &str| Err(AppError::file(path, format!("{why}; name another file")));
        if is_standard_output(path) {
            return refuse("is the standard output, which cannot be used here");
        }
        let target = destination(path)?;
        let (found, name) = (target.exists(), target.file_name().unwrap_or_default());
        if let Some(what) = is_configuration(path).or_else(|| is_configuration(&target)) {
            return refuse(&format!("is {what}, which is never overwritten"));
        }
        let mut kept: Vec<(&str, PathBuf)> = vec![("project", self.project.to_owned())];
        let log = real(self.project).unwrap_or_else(|| self.project.to_owned());
        for suffix in ["-wal", "-shm", "-journal", "-run"] {
            kept.push(("project's log or lock", sibling(&log, suffix)));
        }
        let configuration = self.configuration.map(Path::to_owned).into_iter();
        let configuration = configuration.chain(user_file());
        kept.extend(configuration.map(|path| ("configuration", path)));
        kept.extend(
            inputs
                .iter()
                .map(|(what, path)| (*what, path.to_path_buf())),
        );
        let part = sibling(&target, PART);
        for (what, other) in &kept {
            let is_written = real(other).is_some_and(|other| other == target || other == part);
            if is_written || file::same(other, path) {
                return refuse(&format!("would overwrite the {what}"));
            }
        }
        // Only now is it safe to open the file: closing a handle on the open project would release
        // SQLite's locks.
        if found && is_database(path) {
            return refuse("would overwrite a database");
        }
        let probe = target.with_file_name(format!(".{}.overrule", name.to_string_lossy()));
        if let Err(error) = file::create(&probe) {
            return refuse(&format!("cannot be written: {error}"));
        }
        drop(std::fs::remove_file(&probe));
        Ok(())
    }
}

/// An output format, with its file extensions.
#[derive(Clone, Copy, Debug)]
pub struct FileForm {
    /// A description that names the extension to use.
    words: &'static str,
    endings: &'static [&'static str],
}

pub const CSV: FileForm = FileForm {
    words: "CSV (.csv)",
    endings: &["csv"],
};
pub const JSON: FileForm = FileForm {
    words: "JSON (.json)",
    endings: &["json"],
};
pub const JSON_LINES: FileForm = FileForm {
    words: "JSON lines (.jsonl)",
    endings: &["jsonl", "ndjson"],
};
pub const PARQUET: FileForm = FileForm {
    words: "Parquet (.parquet)",
    endings: &["parquet"],
};
pub const SVG: FileForm = FileForm {
    words: "SVG (.svg)",
    endings: &["svg"],
};
pub const PNG: FileForm = FileForm {
    words: "PNG (.png)",
    endings: &["png"],
};
pub const HTML: FileForm = FileForm {
    words: "HTML (.html)",
    endings: &["html", "htm"],
};
pub const TREC: FileForm = FileForm {
    words: "TREC's columns (.trec, .qrels or .txt)",
    endings: &["trec", "qrels", "run", "txt"],
};
pub const BEIR: FileForm = FileForm {
    words: "BEIR's columns (.tsv)",
    endings: &["tsv"],
};

/// Extensions that imply a format; files in other formats must not use them.
const PROMISED: [&str; 18] = [
    "arrow", "csv", "db", "feather", "html", "json", "jsonl", "md", "ndjson", "npy", "ods",
    "parquet", "png", "svg", "toml", "tsv", "xls", "xlsx",
];

impl FileForm {
    pub const fn new(words: &'static str, endings: &'static [&'static str]) -> Self {
        Self { words, endings }
    }

    /// The kind of file and its extension, as part of a sentence.
    pub fn words(self) -> &'static str {
        self.words
    }

    /// The usual extension.
    pub fn ending(self) -> &'static str {
        self.endings.first().copied().unwrap_or_default()
    }

    /// Whether a file name has an extension of this format, compressed or not.
    pub fn names(self, path: &Path) -> bool {
        ending(path).is_some_and(|ending| self.endings.contains(&ending.as_str()))
    }
}

/// The extension of a file name in lower case, without that of compression.
fn ending(path: &Path) -> Option<String> {
    let name = file::unpacked_name(path);
    Some(name.extension()?.to_str()?.to_lowercase())
}

/// Rejects a name whose extension implies a format other than `forms`. Extensions that imply no
/// format are accepted.
pub fn check_ending(path: &Path, forms: &[FileForm]) -> Result<(), AppError> {
    let is_named = || forms.iter().any(|form| form.names(path));
    match ending(path) {
        Some(ending) if PROMISED.contains(&ending.as_str()) && !is_named() => {
            let words: Vec<&str> = forms.iter().map(|form| form.words).collect();
            let words = match &*words {
                [earlier @ .., last] if !earlier.is_empty() => {
                    format!("{} or {last}", earlier.join(", "))
                }
                words => words.concat(),
            };
            Err(AppError::file(
                path,
                format!("the output is {words}, not .{ending}; rename the file"),
            ))
        }
        _ => Ok(()),
    }
}

/// The format of a table: the requested one, or the one implied by the file name, or else the
/// default. Rejects a name that implies a different format, and Parquet that is not written to a
/// file or would be compressed twice.
pub fn table_format(
    asked: Option<TableFormat>,
    usual: TableFormat,
    others: &[TableFormat],
    path: Option<&Path>,
) -> Result<TableFormat, AppError> {
    let form = |format: TableFormat| match format {
        TableFormat::Csv => CSV,
        TableFormat::Jsonl => JSON_LINES,
        TableFormat::Parquet => PARQUET,
    };
    let possible = || std::iter::once(usual).chain(others.iter().copied());
    if let Some(path) = path {
        let forms: Vec<FileForm> = match asked {
            Some(asked) => vec![form(asked)],
            None => possible().map(form).collect(),
        };
        check_ending(path, &forms)?;
    }
    let named = path.and_then(|path| possible().find(|format| form(*format).names(path)));
    let format = asked.or(named).unwrap_or(usual);
    match (format, path) {
        (format, _) if !format.is_available() => Err(invalid!("{WITHOUT_PARQUET}")),
        (TableFormat::Parquet, None) => Err(invalid!(
            "Parquet is binary: expected a file, with --out FILE"
        )),
        (TableFormat::Parquet, Some(path)) if file::unpacked_name(path) != path => {
            Err(AppError::file(
                path,
                "Parquet files are already compressed; name a file without .gz",
            ))
        }
        _ => Ok(format),
    }
}

/// Stands for the standard output in place of a file name.
const STANDARD_OUTPUT: &str = "-";

pub fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == STANDARD_OUTPUT
}

/// The display name of an output file.
pub fn output_name(path: &Path) -> String {
    if is_standard_output(path) {
        "the standard output".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The canonical path of an existing or future file; `None` if its folder does not exist.
fn real(path: &Path) -> Option<PathBuf> {
    let folder = real_folder(path)?;
    path.canonicalize()
        .ok()
        .or_else(|| Some(folder.join(path.file_name()?)))
}

/// The canonical folder of a file; `None` if it does not exist.
fn real_folder(path: &Path) -> Option<PathBuf> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    folder.canonicalize().ok()
}

/// Maximum number of symbolic links to follow.
const LINKS: usize = 40;

/// The regular file that is written for `path`, whether or not it exists yet: the target of a
/// symbolic link, so that the link is kept.
fn destination(path: &Path) -> Result<PathBuf, AppError> {
    let refuse = |why: &str| AppError::file(path, format!("{why}; name another file"));
    if let Some(kind) = std::fs::metadata(path)
        .ok()
        .as_ref()
        .and_then(file::odd_kind)
    {
        return Err(refuse(&format!("cannot be written: it is {kind}")));
    }
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        let (Some(name), Some(folder)) = (at.file_name(), real_folder(&at)) else {
            return Err(refuse("cannot be written: its folder does not exist"));
        };
        if holds_no_files(&folder) {
            return Err(refuse(
                "cannot be written: it is a device or an open file of a program, as /dev/stdout is \
                 (- is the standard output)",
            ));
        }
        let here = folder.join(name);
        match std::fs::read_link(&here) {
            Ok(target) => at = folder.join(target),
            Err(_) => return Ok(here),
        }
    }
    Err(refuse(
        "cannot be written: it is a symbolic link that leads to no file",
    ))
}

/// Whether a folder contains devices or open files of processes, which a file must not replace.
fn holds_no_files(folder: &Path) -> bool {
    folder == Path::new("/dev") || ["/dev/fd", "/proc"].iter().any(|of| folder.starts_with(of))
}

/// What kind of configuration a file is by its name, if it contains keys or settings: such files
/// are never overwritten.
pub fn is_configuration(path: &Path) -> Option<&'static str> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    [path, &real].into_iter().find_map(|path| {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        match name.as_str() {
            "overrule.toml" | "config.toml" => Some("a configuration file"),
            ".env" => Some("a file of keys"),
            name if name.starts_with(".env.") => Some("a file of keys"),
            _ => None,
        }
    })
}

/// Whether a file is an SQLite database, as projects and cached vectors are.
pub fn is_database(path: &Path) -> bool {
    let mut start = [0; 16];
    let read = file::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && &start == b"SQLite format 3\0"
}

/// A folder for files that are written together. If it was newly created, it is deleted on drop,
/// with its content, unless it is kept.
#[derive(Debug)]
pub struct OutputFolder {
    made: Option<PathBuf>,
}

impl OutputFolder {
    pub fn make(path: &Path) -> Result<Self, AppError> {
        let there = path.exists();
        std::fs::create_dir_all(path)
            .map_err(|error| AppError::file(path, format!("cannot be made: {error}")))?;
        Ok(Self {
            made: (!there).then(|| path.to_owned()),
        })
    }

    /// Keeps the folder when everything is written.
    pub fn keep(mut self) {
        self.made = None;
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        if let Some(path) = &self.made {
            drop(std::fs::remove_dir_all(path));
        }
    }
}

/// Writes a file under a temporary name in the same folder and renames it when it is complete,
/// compressing it if its name ends in `.gz`. Only its owner can access it. A symbolic link is kept,
/// and its target is written. `-` is the standard output.
pub fn write_whole<T>(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, AppError>,
) -> Result<T, AppError> {
    if is_standard_output(path) {
        return write_to_stdout(write);
    }
    let cannot = |error: &dyn std::fmt::Display| {
        AppError::Failed(format!("{}: cannot be written: {error}", path.display()))
    };
    let target = destination(path)?;
    let part = sibling(&target, PART);
    let file = file::create(&part)
        .map_err(|error| invalid!("{}: cannot be written: {error}", path.display()))?;
    let mut out = BufWriter::new(file);
    let written = if file::unpacked_name(path) == path {
        write(&mut out)
    } else {
        let mut packed = GzEncoder::new(&mut out, Compression::default());
        write(&mut packed).and_then(|done| {
            packed.finish()?;
            Ok(done)
        })
    };
    let written = written.and_then(|done| {
        out.flush()?;
        Ok(done)
    });
    let moved = written
        .map_err(|error| match error {
            error if error.is_disk_full() => {
                cannot(&"the disk is full; free some space and repeat the command")
            }
            AppError::Io(error) if error.kind() == std::io::ErrorKind::FileTooLarge => cannot(
                &"the limit of file sizes for this process is reached (`ulimit -f`); raise it and \
                  repeat the command",
            ),
            error => error,
        })
        .and_then(|done| {
            std::fs::rename(&part, &target).map_err(|error| cannot(&error))?;
            Ok(done)
        });
    if moved.is_err() {
        drop(std::fs::remove_file(&part));
    }
    moved
}

/// Writes to the standard output. On failure, buffered output is not printed.
fn write_to_stdout<T>(
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let mut out = BufWriter::new(SafeStdout::default());
    match write(&mut out) {
        Ok(done) => {
            out.flush()?;
            Ok(done)
        }
        Err(error) => {
            // Dropping the buffer itself would print it.
            drop(out.into_parts());
            Err(error)
        }
    }
}
