//! The password of a PostgreSQL user: from `PGPASSWORD`, or from the password file.

use super::error::ServerError;
use secrecy::SecretString;
use std::path::{Path, PathBuf};

/// Finds the password for a connection; `None` if there is none.
pub(super) fn password(
    host: &str,
    port: u16,
    database: &str,
    user: &str,
) -> Result<Option<SecretString>, ServerError> {
    if let Ok(given) = std::env::var("PGPASSWORD") {
        return Ok(Some(given.into()));
    }
    let Some(file) = file() else {
        return Ok(None);
    };
    let Ok(lines) = std::fs::read_to_string(&file) else {
        return Ok(None);
    };
    check_permissions(&file)?;
    let port = port.to_string();
    Ok(find(&lines, [host, &port, database, user]).map(Into::into))
}

fn file() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PGPASSFILE") {
        return Some(named.into());
    }
    let folders = directories::BaseDirs::new()?;
    Some(if cfg!(windows) {
        folders.data_dir().join("postgresql").join("pgpass.conf")
    } else {
        folders.home_dir().join(".pgpass")
    })
}

/// As PostgreSQL itself, rejects a file that other users may read.
#[cfg(unix)]
fn check_permissions(file: &Path) -> Result<(), ServerError> {
    use std::os::unix::fs::PermissionsExt as _;
    let is_open =
        std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
    if is_open {
        return Err(ServerError::Address(format!(
            "{}: other users may read it, so it is not used; run `chmod 600 {}`",
            file.display(),
            file.display()
        )));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_permissions(_: &Path) -> Result<(), ServerError> {
    Ok(())
}

/// The password in the first line whose fields match: `host:port:database:user:password`, where `*`
/// matches everything and `\` makes the next character literal.
fn find(lines: &str, wanted: [&str; 4]) -> Option<String> {
    lines
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(fields)
        .find(|fields| {
            fields.len() >= 5
                && fields
                    .iter()
                    .zip(wanted)
                    .all(|(field, wanted)| field == "*" || field == wanted)
        })
        .and_then(|fields| fields.into_iter().nth(4))
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            // The rest is the password; a colon in it needs no escape.
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(last) = fields.last_mut() {
            last.push(literal);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_line_counts() {
        let lines = "# comment\nother:5432:*:ada:no\ndb:*:se\\:arch:ada:se:cr\\\\et\n*:*:*:*:any";
        let of = |host, database| find(lines, [host, "5432", database, "ada"]);
        assert_eq!(of("db", "se:arch").as_deref(), Some("se:cr\\et"));
        assert_eq!(of("other", "x").as_deref(), Some("no"));
        assert_eq!(of("third", "x").as_deref(), Some("any"));
        assert_eq!(find("db:5432:x:ada", ["db", "5432", "x", "ada"]), None);
    }
}
