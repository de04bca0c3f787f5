//! Lists the files of a folder with what can be imported from them.

use super::file_content::recognize;
use crate::app::error::{AppError, invalid};
use crate::domain::sanitize;
use crate::formats::file;
use crate::store::file::sibling;
use std::cmp::Ordering;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Description of the open project's own file.
pub const THIS_PROJECT: &str = "this project";
/// The first bytes of an SQLite file.
const SQLITE: &[u8; 16] = b"SQLite format 3\0";
/// The application ID of a project, as in `store/schema.rs`.
const PROJECT_MARK: &[u8] = b"OVRL";
/// Maximum number of files listed, since each is opened to determine its content.
const LISTED: usize = 500;

/// A file or a folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    pub name: String,
    pub folder: bool,
    pub bytes: u64,
    /// A phrase that describes its content; `None` if it is not recognized.
    pub holds: Option<&'static str>,
}

/// Expands a path as typed by a person: `~/` is the home directory.
pub fn typed_path(typed: &str) -> PathBuf {
    let home = || directories::BaseDirs::new().map(|folders| folders.home_dir().to_owned());
    match typed.strip_prefix('~') {
        Some("") => home().unwrap_or_else(|| PathBuf::from(typed)),
        Some(rest) if rest.starts_with('/') => {
            home().map_or_else(|| PathBuf::from(typed), |home| home.join(&rest[1..]))
        }
        _ => PathBuf::from(typed),
    }
}

/// Rejects the open project and the files next to it: opening and closing one of them would release
/// SQLite's locks.
pub fn refuse_project(path: &Path, project: &Path) -> Result<(), AppError> {
    let real = real_path(project);
    if file::same(path, &real) || is_beside_project(path, &real) {
        Err(invalid!(
            "{}: is the open project; name another file",
            path.display()
        ))
    } else {
        Ok(())
    }
}

fn real_path(project: &Path) -> PathBuf {
    project
        .canonicalize()
        .unwrap_or_else(|_| project.to_owned())
}

fn is_beside_project(path: &Path, real: &Path) -> bool {
    let companions = ["-wal", "-shm", "-journal", "-run"].map(|suffix| sibling(real, suffix));
    companions.iter().any(|other| file::same(path, other))
}

/// Lists a folder, with the open project as [`THIS_PROJECT`]: first importable files, then folders,
/// then other files, each sorted by name. Symbolic links are followed.
pub fn list_folder(folder: &Path, project: &Path) -> io::Result<Vec<FolderEntry>> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let real = real_path(project);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)?.take(LISTED) {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        // A name that cannot be displayed unchanged cannot be typed either.
        if sanitize::line(name) != name {
            continue;
        }
        let Ok(found) = std::fs::metadata(&path) else {
            continue;
        };
        if is_beside_project(&path, &real) {
            continue;
        }
        entries.push(FolderEntry {
            name: name.to_owned(),
            folder: found.is_dir(),
            bytes: found.len(),
            holds: match found.is_dir() {
                true => is_benchmark(&path).then_some("a benchmark (BEIR)"),
                false if file::same(&path, &real) => Some(THIS_PROJECT),
                false if is_project_file(&path) => Some("an Overrule project"),
                false => recognize(&path, None).ok().map(|found| found.describe()),
            },
        });
    }
    entries.sort_by(order);
    Ok(entries)
}

/// Whether a folder is a benchmark in BEIR format.
pub(super) fn is_benchmark(folder: &Path) -> bool {
    let names = ["corpus.jsonl", "corpus.jsonl.gz"];
    let corpus = || names.iter().any(|name| folder.join(name).is_file());
    folder.join("qrels").is_dir() && corpus()
}

/// Whether a file is a project, based on the application ID that SQLite stores at byte 68.
pub(super) fn is_project_file(path: &Path) -> bool {
    let mut start = [0; 72];
    let read = |mut file: std::fs::File| file.read_exact(&mut start);
    // Reading from a named pipe would block until someone writes to it.
    path.is_file()
        && std::fs::File::open(path).and_then(read).is_ok()
        && start.starts_with(SQLITE)
        && start.get(68..) == Some(PROJECT_MARK)
}

fn order(one: &FolderEntry, other: &FolderEntry) -> Ordering {
    let rank = |entry: &FolderEntry| match (entry.holds, entry.folder) {
        (Some(_), false) => 0,
        (_, true) => 1,
        (None, false) => 2,
    };
    (rank(one), &one.name).cmp(&(rank(other), &other.name))
}
