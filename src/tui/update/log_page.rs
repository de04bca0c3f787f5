//! The log as a page of text, latest first.

use crate::app::log::rows::LogRow;
use crate::domain::adjudication::Finding;
use crate::domain::sanitize;
use crate::domain::verdict::Decision;

/// Maximum number of log entries read; `overrule log` prints all.
pub(crate) const LOGGED: usize = 500;

/// When, who and what on one line; the subject and the change on the next.
pub(crate) fn words(rows: &[LogRow]) -> String {
    let mut text = match rows.len() {
        0 => "Nothing was decided, imported or run in this project yet.\n".to_owned(),
        _ => "Times are UTC. `overrule log` prints this as a table, `overrule log --csv` for a \
              spreadsheet.\n"
            .to_owned(),
    };
    for row in rows.iter().rev() {
        let when = row.when.get(..16).unwrap_or(&row.when).replace('T', " ");
        let who = row
            .who
            .as_ref()
            .map_or(String::new(), |who| format!(" by {who}"));
        // An entry always has two lines: a note must not add another one.
        let first = format!("{when}  {}{who}", row.event);
        text.push_str(&format!("\n{}\n", sanitize::line(&first)));
        let about = about(row);
        if !about.is_empty() {
            text.push_str(&format!("  {}\n", sanitize::line(&about)));
        }
    }
    if rows.len() >= LOGGED {
        text.push_str(&format!(
            "\nThe latest {LOGGED} entries; `overrule log` prints all.\n"
        ));
    }
    text
}

fn about(row: &LogRow) -> String {
    let Some(query) = &row.query else {
        return row.about.clone().unwrap_or_default();
    };
    let documents = match (&row.a, &row.b) {
        (Some(a), Some(b)) => format!("{query}: A {a}, B {b}"),
        (Some(document), None) | (None, Some(document)) => format!("{query}: {document}"),
        (None, None) => query.clone(),
    };
    let mut parts = vec![documents];
    match (row.before.map(said), row.after.map(said)) {
        (None, None) => {}
        (None, Some(after)) => parts.push(after),
        (before, after) => {
            let [before, after] = [before, after].map(|said| said.unwrap_or("nothing".to_owned()));
            parts.push(format!("{after} (before: {before})"));
        }
    }
    let why = [row.confidence, row.cause, row.note.as_deref()];
    parts.extend(why.into_iter().flatten().map(str::to_owned));
    parts.join(" · ")
}

/// Describes a verdict or a ruling, given its name.
fn said(name: &str) -> String {
    match (name.parse::<Decision>(), name.parse::<Finding>()) {
        (Ok(decision), _) => decision.words("A", "B"),
        (_, Ok(finding)) => finding.words().to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::DocId;

    #[test]
    fn the_latest_comes_first_and_what_changed_is_said() {
        let verdict = LogRow {
            when: "2026-03-01T14:05:00.000Z".to_owned(),
            event: "verdict",
            who: Some("ada".to_owned()),
            query: Some("q1".to_owned()),
            a: Some(DocId::new("d1")),
            b: Some(DocId::new("d2")),
            after: Some("a"),
            note: Some("names the trial".to_owned()),
            ..LogRow::default()
        };
        let run = LogRow {
            when: "2026-03-01T15:00:00.000Z".to_owned(),
            event: "run",
            about: Some("3 cycles".to_owned()),
            ..LogRow::default()
        };
        let text = words(&[verdict, run]);
        let (latest, first) = (
            text.find("15:00  run\n  3 cycles"),
            text.find("14:05  verdict by ada"),
        );
        assert!(latest.unwrap() < first.unwrap(), "{text}");
        assert!(
            text.contains("  q1: A d1, B d2 · A is better · names the trial\n"),
            "{text}"
        );
        assert!(words(&[]).starts_with("Nothing was decided"));
    }

    #[test]
    fn no_note_looks_like_an_entry() {
        let note = "fine\n\n2026-03-02 01:00  verdict by bob\n  q1: A d1, B d2 · B is better";
        let verdict = LogRow {
            when: "2026-03-01T14:05:00.000Z".to_owned(),
            event: "verdict",
            who: Some("mallory\nbob".to_owned()),
            query: Some("q1".to_owned()),
            note: Some(note.to_owned()),
            ..LogRow::default()
        };
        let text = words(&[verdict]);
        let entries = text.lines().filter(|line| line.starts_with("2026-"));
        assert_eq!(entries.count(), 1, "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
    }
}
