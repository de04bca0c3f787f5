//! Explains why an export has no rows.

use super::request::{Export, LabelExport, LabelSource};
use crate::store::contents::ProjectContents;

/// Why an export of the whole project has no rows; `None` if it has some, or if that is unknown
/// without writing it.
pub fn why_empty(held: ProjectContents, export: &Export) -> Option<&'static str> {
    let (has, why) = match export {
        Export::Annotated {
            ranking: Some(_), ..
        }
        | Export::Run {
            ranking: Some(_), ..
        } => return None,
        Export::Annotated { .. } | Export::Run { .. } => (
            held.votes || held.verdicts || held.student,
            "nothing is scored yet",
        ),
        Export::AiScores { .. } => (held.votes, "no judge has voted yet"),
        Export::Votes => (held.votes || held.failures, "no judge has been asked yet"),
        Export::Verdicts(_) => (held.verdicts, "there is no verdict yet"),
        Export::Labels(LabelExport { source, .. }) => match source {
            LabelSource::Imported => (held.labels, "the project has no labels"),
            LabelSource::Corrected(_) => (held.labels || held.rulings, "the project has no labels"),
            LabelSource::Changes { .. } | LabelSource::Zelo { .. } | LabelSource::Added(_) => {
                return None;
            }
        },
        Export::Rulings(_) => (held.rulings, "there is no ruling yet"),
        Export::Picks => (held.picks, "no judge has picked documents yet"),
        Export::Tables | Export::Added(_) | Export::Page(_) | Export::Picture(_) => return None,
    };
    (!has).then_some(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::export::request::RulingOptions;
    use crate::domain::verdict::Decision;
    use crate::store::Db;
    use crate::store::verdicts::NewVerdict;
    use crate::suites::fixtures::pool;

    fn annotated() -> Export {
        Export::Annotated {
            ranking: None,
            keep_unscored: false,
        }
    }

    #[test]
    fn an_export_without_a_row_says_why() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(1, 3), "set").unwrap().key();
        let why = |export: &Export| why_empty(db.contents().unwrap(), export);
        let exports = [
            annotated(),
            Export::Run {
                ranking: None,
                tag: None,
                places: false,
            },
            Export::AiScores {
                members: Vec::new(),
            },
            Export::Votes,
            Export::Verdicts(None),
            Export::labels(LabelSource::Imported),
            Export::Rulings(RulingOptions::USUAL),
            Export::Picks,
        ];
        assert!(exports.iter().all(|export| why(export).is_some()));
        let verdict = NewVerdict::open(query, 0, 1, Decision::A, "ada");
        db.add_verdict(&verdict).unwrap();
        assert_eq!(
            (why(&annotated()), why(&Export::Verdicts(None))),
            (None, None)
        );
        assert!(why(&Export::Votes).is_some());
        db.undo_verdict("ada", 9).unwrap();
        assert!(why(&Export::Verdicts(None)).is_some(), "it was taken back");
    }

    #[test]
    fn rulings_alone_make_corrected_labels() {
        let held = ProjectContents {
            rulings: true,
            ..ProjectContents::default()
        };
        let corrected = Export::labels(LabelSource::Corrected(RulingOptions::USUAL));
        assert_eq!(why_empty(held, &corrected), None);
        assert!(why_empty(held, &Export::labels(LabelSource::Imported)).is_some());
    }
}
