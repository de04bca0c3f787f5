//! Explains why an export has no rows.

use super::request::ExportKind;
use crate::store::contents::ProjectContents;

/// Why an export of the whole project has no rows; `None` if it has some, or if that is unknown
/// without writing it.
pub fn why_empty(held: ProjectContents, kind: ExportKind, corrected: bool) -> Option<&'static str> {
    let (has, why) = match kind {
        ExportKind::Annotated | ExportKind::Run => (
            held.votes || held.verdicts || held.student,
            "nothing is scored yet",
        ),
        ExportKind::AiScores => (held.votes, "no judge has voted yet"),
        ExportKind::Votes => (held.votes || held.failures, "no judge has been asked yet"),
        ExportKind::Verdicts => (held.verdicts, "no verdict was given yet"),
        ExportKind::Qrels => (
            held.labels || (corrected && held.rulings),
            "the project has no labels",
        ),
        ExportKind::Rulings => (held.rulings, "nothing was ruled on yet"),
        ExportKind::Picks => (held.picks, "no judge has picked documents yet"),
        ExportKind::Duel | ExportKind::DuelLabels | ExportKind::Predictions => return None,
    };
    (!has).then_some(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::Decision;
    use crate::store::Db;
    use crate::store::verdicts::NewVerdict;
    use crate::suites::fixtures::pool;

    #[test]
    fn an_export_without_a_row_says_why() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(1, 3), "set").unwrap().key();
        let why = |kind| why_empty(db.contents().unwrap(), kind, false);
        let kinds = [
            ExportKind::Annotated,
            ExportKind::Run,
            ExportKind::AiScores,
            ExportKind::Votes,
            ExportKind::Verdicts,
            ExportKind::Qrels,
            ExportKind::Rulings,
            ExportKind::Picks,
        ];
        assert!(kinds.iter().all(|kind| why(*kind).is_some()));
        let verdict = NewVerdict::open(query, 0, 1, Decision::A, "ada");
        db.add_verdict(&verdict).unwrap();
        assert_eq!(
            (why(ExportKind::Annotated), why(ExportKind::Verdicts)),
            (None, None)
        );
        assert!(why(ExportKind::Votes).is_some());
        db.undo_verdict("ada", 9).unwrap();
        assert!(why(ExportKind::Verdicts).is_some(), "it was taken back");
    }

    #[test]
    fn rulings_alone_make_corrected_labels() {
        let held = ProjectContents {
            rulings: true,
            ..ProjectContents::default()
        };
        assert_eq!(why_empty(held, ExportKind::Qrels, true), None);
        assert!(why_empty(held, ExportKind::Qrels, false).is_some());
    }
}
