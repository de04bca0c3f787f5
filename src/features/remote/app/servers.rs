//! The servers of this user's shared projects.
//!
//! They are kept outside of the projects, which may come from anyone: a project must not choose the
//! machine that its texts and a password are sent to.

use crate::app::error::AppError;
use crate::formats::file;
use crate::store::file::canonical;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Addresses by the path of the project.
type Servers = BTreeMap<String, String>;

/// The file with the addresses.
fn path() -> Result<PathBuf, AppError> {
    let folders = directories::ProjectDirs::from("", "", "overrule");
    let folders = folders.ok_or_else(|| AppError::Failed("there is no home folder".to_owned()))?;
    Ok(folders.data_local_dir().join("servers.json"))
}

fn read() -> Result<Servers, AppError> {
    let path = path()?;
    let text = match file::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Servers::new()),
        Err(error) => return Err(named(&path, error)),
    };
    serde_json::from_str(&text).map_err(|error| named(&path, error))
}

fn named(path: &Path, error: impl std::fmt::Display) -> AppError {
    AppError::Failed(format!("{}: {error}", path.display()))
}

/// The address of the server that a project is shared on.
///
/// # Errors
/// The file with the addresses cannot be read.
pub fn known(project: &Path) -> Result<Option<String>, AppError> {
    Ok(read()?.remove(&key(project)?))
}

/// Remembers the server that a project is shared on.
///
/// # Errors
/// The file with the addresses cannot be written.
pub fn remember(project: &Path, url: &str) -> Result<(), AppError> {
    let mut servers = read()?;
    servers.insert(key(project)?, url.to_owned());
    let path = path()?;
    let written = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let part = path.with_extension("json.part");
        let mut new = file::create(&part)?;
        new.write_all(&serde_json::to_vec_pretty(&servers)?)?;
        new.sync_all()?;
        std::fs::rename(&part, &path)
    };
    written().map_err(|error: std::io::Error| named(&path, error))
}

fn key(project: &Path) -> Result<String, AppError> {
    Ok(canonical(project)?.to_string_lossy().into_owned())
}
