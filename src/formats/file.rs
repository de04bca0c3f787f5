//! Files on disk: which kind a path names, and files that only their owner may read.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// What a path names, in words, where that is no regular file.
pub fn odd_kind(found: &Metadata) -> Option<&'static str> {
    if found.is_file() {
        return None;
    }
    if found.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = found.file_type();
        let known = [
            (kind.is_fifo(), "a pipe (FIFO)"),
            (kind.is_socket(), "a socket"),
            (kind.is_char_device() || kind.is_block_device(), "a device"),
        ];
        if let Some((_, words)) = known.iter().find(|(is, _)| *is) {
            return Some(words);
        }
    }
    Some("not a regular file")
}

/// Whether two paths lead to one file, by whatever links.
pub fn same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let number = |path: &Path| {
            let found = std::fs::metadata(path).ok()?;
            Some((found.dev(), found.ino()))
        };
        number(one).is_some() && number(one) == number(other)
    }
    #[cfg(not(unix))]
    {
        let real = |path: &Path| path.canonicalize().ok();
        real(one).is_some() && real(one) == real(other)
    }
}

/// Opens a regular file for reading. The kind is looked at first: opening a pipe waits until somebody writes into it.
pub fn open(path: &Path) -> io::Result<File> {
    match odd_kind(&std::fs::metadata(path)?) {
        None => File::open(path),
        Some(kind) => Err(odd(kind)),
    }
}

pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// Creates a file, or empties one, that only its owner may read and write, whatever the umask.
pub fn create(path: &Path) -> io::Result<File> {
    if let Ok(found) = std::fs::metadata(path)
        && let Some(kind) = odd_kind(&found)
    {
        return Err(odd(kind));
    }
    let mut options = OpenOptions::new();
    private(options.write(true).create(true).truncate(true), path)
}

/// Creates a file that only its owner may read and write; [`io::ErrorKind::AlreadyExists`] where there is one.
pub fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true), path)
}

/// Opens a file to write after its end; one that it makes is its owner's alone.
pub fn append(path: &Path) -> io::Result<File> {
    if let Ok(found) = std::fs::metadata(path) {
        return match odd_kind(&found) {
            None => OpenOptions::new().append(true).open(path),
            Some(kind) => Err(odd(kind)),
        };
    }
    private(OpenOptions::new().append(true).create(true), path)
}

fn odd(kind: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("is {kind}; name a regular file"),
    )
}

#[cfg(unix)]
fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let file = options.mode(0o600).open(path)?;
    // The umask may have taken away the owner's own rights, and a file that was there has its old ones.
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}
