//! Scratch files on disk, which the system removes even if the program is killed.

use crate::app::error::AppError;
use crate::features::student::domain::spool::{Scratch, ScratchFile, SpoolError};
use crate::store::Store;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A folder for scratch files, which have no names in it where the system allows that.
#[derive(Clone, Debug)]
pub(super) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// The folder of the project; that of the system for temporary files if the project can only be
    /// read.
    pub(super) fn of(store: &Store) -> Self {
        let folder = store.path().parent().filter(|_| !store.is_read_only());
        Self(folder.map_or_else(std::env::temp_dir, PathBuf::from))
    }

    fn failed(&self, error: &io::Error) -> SpoolError {
        let folder = self.0.display();
        SpoolError(format!(
            "cannot use a temporary file in {folder}: {error}; the folder must be writable and \
             have about 300 bytes free per judged pair"
        ))
    }
}

impl Scratch for ScratchFolder {
    fn file(&self) -> Result<Box<dyn ScratchFile>, SpoolError> {
        let file = tempfile::tempfile_in(&self.0).map_err(|error| self.failed(&error))?;
        Ok(Box::new(TemporaryFile {
            folder: self.clone(),
            file: Mutex::new(file),
        }))
    }
}

impl From<SpoolError> for AppError {
    fn from(error: SpoolError) -> Self {
        Self::failed(error)
    }
}

struct TemporaryFile {
    folder: ScratchFolder,
    file: Mutex<File>,
}

impl TemporaryFile {
    fn with(&self, work: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), SpoolError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut file).map_err(|error| self.folder.failed(&error))
    }
}

impl ScratchFile for TemporaryFile {
    fn append(&mut self, bytes: &[u8]) -> Result<(), SpoolError> {
        self.with(|file| {
            file.seek(SeekFrom::End(0))?;
            file.write_all(bytes)
        })
    }

    fn read(&self, place: u64, into: &mut [u8]) -> Result<(), SpoolError> {
        self.with(|file| {
            file.seek(SeekFrom::Start(place))?;
            file.read_exact(into)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_where_it_was_written_and_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = ScratchFolder(folder.path().to_owned());
        let mut file = scratch.file().unwrap();
        file.append(b"first ").unwrap();
        let mut found = [0; 5];
        file.read(0, &mut found).unwrap();
        assert_eq!(&found, b"first");
        file.append(b"second").unwrap();
        file.read(6, &mut found).unwrap();
        assert_eq!(&found, b"secon");
        assert!(file.read(8, &mut found).is_err());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let nowhere = ScratchFolder(folder.path().join("nowhere"));
        let error = nowhere.file().err().unwrap().to_string();
        assert!(error.contains("nowhere"), "{error}");
    }
}
