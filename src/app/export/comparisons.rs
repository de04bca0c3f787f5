//! Exports people's verdicts as comparisons in the formats of other tools.

use crate::app::error::AppError;
use crate::app::review::pair_verdicts::PairVerdicts;
use crate::app::text_format::counted;
use crate::domain::verdict::Decision;
use crate::formats::pairs::{
    ExportedChoice, ExportedItem, ExportedPair, LostDetails, PairForm, PairWriter,
};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::StoredVerdict;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Write;

/// What comparisons do not say about verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Verdicts *cannot tell*, which are not written.
    cannot_tell: usize,
    /// Verdicts *much better*, which are written as *better*.
    strengths: usize,
    confidences: usize,
    causes: usize,
    /// Verdicts that were blind, which are written like others.
    blind: usize,
    details: LostDetails,
}

impl LeftOut {
    /// What the user should know about the file, one sentence each.
    pub fn notes(self) -> Vec<String> {
        let LostDetails { notes, times } = self.details;
        let lost = [
            (notes, "note"),
            (times, "timestamp"),
            (self.strengths, "strength"),
            (self.confidences, "confidence"),
            (self.causes, "cause"),
        ];
        let lost = lost.into_iter().filter(|(number, _)| *number > 0);
        let lost: Vec<String> = lost.map(|(number, of)| counted(number, of)).collect();
        let mut said = Vec::new();
        if !lost.is_empty() {
            said.push(format!("left out: {}", lost.join(", ")));
        }
        if self.blind > 0 {
            said.push(format!(
                "blind verdicts, not marked in the file: {}",
                self.blind
            ));
        }
        if self.cannot_tell > 0 {
            let verdicts = counted(self.cannot_tell, "verdict");
            said.push(format!("skipped {verdicts} that cannot tell"));
        }
        said
    }

    fn count(&mut self, row: &StoredVerdict) {
        let is_strong = matches!(row.verdict.decision, Decision::MuchA | Decision::MuchB);
        self.strengths += usize::from(is_strong);
        self.confidences += usize::from(row.confidence.is_some());
        self.causes += usize::from(row.cause.is_some());
        self.blind += usize::from(row.blind);
    }
}

/// Writes each person's verdict on each pair of some queries: those that the person neither took
/// back nor replaced. People who saw the documents of a pair in the same order share an item.
pub fn write_comparisons(
    store: &Store,
    keys: &[QueryKey],
    form: PairForm,
    out: &mut dyn Write,
) -> Result<LeftOut, AppError> {
    let mut writer = PairWriter::new(form, out);
    let mut left_out = LeftOut::default();
    for key in keys {
        let key = *key;
        let judged = store.read_blocking(move |db| {
            let verdicts = PairVerdicts::load(db, key)?;
            let has_rows = verdicts.rows().next().is_some();
            Ok(has_rows
                .then(|| db.pool(key))
                .transpose()?
                .map(|pool| (pool, verdicts)))
        })?;
        let Some((pool, verdicts)) = judged else {
            continue;
        };
        let item = |at: usize| ExportedItem {
            id: pool.documents[at].id.as_str(),
            text: &pool.documents[at].content,
        };
        let query = ExportedItem {
            id: pool.query.id.as_str(),
            text: &pool.query.text,
        };
        let mut pairs: Vec<ExportedPair<'_>> = Vec::new();
        let mut places: HashMap<(usize, usize), usize> = HashMap::new();
        for (row, _) in verdicts.rows() {
            let verdict = &row.verdict;
            let Some(choice) = verdict.decision.direction() else {
                left_out.cannot_tell += 1;
                continue;
            };
            left_out.count(row);
            let place = match places.entry((verdict.a, verdict.b)) {
                Entry::Occupied(place) => *place.get(),
                Entry::Vacant(place) => {
                    pairs.push(ExportedPair {
                        query,
                        a: item(verdict.a),
                        b: item(verdict.b),
                        choices: Vec::new(),
                    });
                    *place.insert(pairs.len() - 1)
                }
            };
            pairs[place].choices.push(ExportedChoice {
                by: &verdict.annotator,
                choice,
                note: verdict.note.as_deref(),
                created_ms: verdict.created_ms,
            });
        }
        for pair in &pairs {
            writer.add(pair)?;
        }
    }
    left_out.details = writer.finish()?;
    Ok(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::verdict::Confidence;
    use crate::store::verdicts::NewVerdict;
    use crate::suites::fixtures::pool;

    #[test]
    fn the_last_word_of_each_person_is_written_and_what_is_missing_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("p.overrule")).unwrap();
        let written = store.write_blocking(move |db| {
            let key = db.add_pool(&pool(1, 3), "set")?.key();
            let add =
                |a, b, decision, who| db.add_verdict(&NewVerdict::open(key, a, b, decision, who));
            add(0, 1, Decision::B, "ann")?;
            add(0, 1, Decision::A, "ann")?;
            add(1, 0, Decision::MuchA, "bob")?;
            add(0, 2, Decision::CannotTell, "bob")?;
            let mut sure = NewVerdict::open(key, 1, 2, Decision::Tie, "bob");
            sure.confidence = Some(Confidence::High);
            sure.blind = true;
            db.add_verdict(&sure)?;
            Ok(key)
        });
        let key = written.unwrap();
        let mut forms = PairForm::all();
        let arena = forms.find(|form| form.names().name == "arena").unwrap();
        let mut out = Vec::new();
        let left_out = write_comparisons(&store, &[key], arena, &mut out).unwrap();
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&out).unwrap();
        let said: Vec<[String; 4]> = rows
            .iter()
            .map(|row| {
                ["model_a", "model_b", "winner", "judge"]
                    .map(|name| row[name].as_str().unwrap().to_owned())
            })
            .collect();
        let expected = [
            ["d0", "d1", "model_a", "ann"],
            ["d1", "d0", "model_a", "bob"],
            ["d1", "d2", "tie", "bob"],
        ];
        assert_eq!(said, expected.map(|row| row.map(str::to_owned)));
        assert_eq!(
            left_out.notes(),
            [
                "left out: 1 strength, 1 confidence",
                "blind verdicts, not marked in the file: 1",
                "skipped 1 verdict that cannot tell"
            ]
        );
    }
}
