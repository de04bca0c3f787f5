//! Rulings: a person's judgment of a document on which pick and label differ, and its effect on the
//! label.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::named::named;
use crate::domain::verdict::FinalRule;
use std::collections::HashMap;

named! {
    "a ruling", "kebab-case";
    /// Whether a document answers its query, as judged by a person.
    pub enum Finding {
        Relevant,
        Partially,
        Not,
        /// Cannot tell: the label stays as it is.
        CannotTell,
    }
}

impl Finding {
    pub fn words(self) -> &'static str {
        match self {
            Self::Not => "not relevant",
            Self::Partially => "partially relevant",
            Self::Relevant => "relevant",
            Self::CannotTell => "cannot tell",
        }
    }

    /// Whether it counts as (at least partially) relevant; `None` for *cannot tell*.
    pub fn side(self) -> Option<bool> {
        match self {
            Self::Not => Some(false),
            Self::Partially | Self::Relevant => Some(true),
            Self::CannotTell => None,
        }
    }
}

named! {
    "a cause", "kebab-case";
    /// Why pick and label differ.
    pub enum DisagreementCause {
        LabelWrong,
        /// The document is unlabeled but should be labeled.
        LabelMissing,
        JudgeWrong,
        BothDefensible,
        /// The query is ambiguous.
        QueryUnclear,
    }
}

impl DisagreementCause {
    pub fn words(self) -> &'static str {
        match self {
            Self::LabelWrong => "the label is wrong",
            Self::LabelMissing => "the label is missing",
            Self::JudgeWrong => "the judge is wrong",
            Self::BothDefensible => "both can be defended",
            Self::QueryUnclear => "the query is unclear",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// Globally unique, so that files of two analysts can be merged.
    pub uid: String,
    pub query: QueryId,
    pub document: DocId,
    pub finding: Finding,
    /// The grade that *relevant* has in the labels of this benchmark; see [`RulingGrades::of`].
    pub relevant: i32,
    /// Why pick and label differ.
    pub fault: Option<DisagreementCause>,
    /// The person's explanation.
    pub note: Option<String>,
    pub annotator: String,
    /// Time of the ruling, in milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// The ruling that applies to one document, given each annotator's latest ruling, earliest first.
///
/// Under [`FinalRule::Majority`], more than half of those who can tell must be on one side, (at
/// least partially) relevant or not. On the relevant side, *partially* wins unless more than half
/// of that side said *relevant*.
pub(super) fn ruling_in_force<'a>(rule: &FinalRule, said: &[&'a Ruling]) -> Option<&'a Ruling> {
    match rule {
        FinalRule::Latest => said.last().copied(),
        FinalRule::Majority => majority(said),
        FinalRule::Adjudicator(name) => said
            .iter()
            .rev()
            .find(|ruling| ruling.annotator == *name)
            .copied()
            .or_else(|| majority(said)),
    }
}

fn majority<'a>(said: &[&'a Ruling]) -> Option<&'a Ruling> {
    let sides = || said.iter().filter_map(|ruling| ruling.finding.side());
    let (all, relevant) = (sides().count(), sides().filter(|side| *side).count());
    if all == 0 {
        return said.last().copied();
    }
    let side = match (2 * relevant > all, 2 * (all - relevant) > all) {
        (true, _) => true,
        (_, true) => false,
        _ => return None,
    };
    let plain = said
        .iter()
        .filter(|ruling| ruling.finding == Finding::Relevant)
        .count();
    let finding = match side {
        false => Finding::Not,
        true if 2 * plain > relevant => Finding::Relevant,
        true => Finding::Partially,
    };
    let mut latest_first = said.iter().rev();
    latest_first
        .find(|ruling| ruling.finding == finding)
        .copied()
}

/// Each annotator's latest ruling, grouped by document in the order in which documents were first
/// ruled on; `standing` holds the rulings that were not undone, earliest first.
pub fn latest_by_annotator(standing: &[Ruling]) -> Vec<Vec<&Ruling>> {
    let mut places = HashMap::new();
    let mut documents: Vec<Vec<&Ruling>> = Vec::new();
    for ruling in standing {
        let at = *places
            .entry((&ruling.query, &ruling.document))
            .or_insert(documents.len());
        if at == documents.len() {
            documents.push(Vec::new());
        }
        documents[at].retain(|earlier| earlier.annotator != ruling.annotator);
        documents[at].push(ruling);
    }
    documents
}

/// Whether people disagree about a document, given each person's latest ruling.
pub fn has_conflict(said: &[&Ruling]) -> bool {
    let mut sides = said.iter().filter_map(|ruling| ruling.finding.side());
    let first = sides.next();
    sides.any(|side| Some(side) != first)
}

/// The rulings that apply, at most one per document, and the number of documents on which people
/// disagree; see [`latest_by_annotator`].
pub fn rulings_in_force(rule: &FinalRule, standing: &[Ruling]) -> (Vec<Ruling>, usize) {
    let documents = latest_by_annotator(standing);
    let settled = documents
        .iter()
        .filter_map(|said| ruling_in_force(rule, said));
    let conflicts = documents.iter().filter(|said| has_conflict(said)).count();
    (settled.cloned().collect(), conflicts)
}

/// The grades that rulings assign to labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RulingGrades {
    pub partially: i32,
    pub relevant: i32,
}

impl RulingGrades {
    /// For a benchmark whose highest label is `highest`: 1 for both if that is 1, otherwise 1 and
    /// 2.
    pub fn of(highest: Option<i32>) -> Self {
        Self::up_to(if highest.unwrap_or(1) > 1 { 2 } else { 1 })
    }

    /// 1 for *partially*, and this for *relevant*.
    pub fn up_to(relevant: i32) -> Self {
        Self {
            partially: 1,
            relevant,
        }
    }

    /// The label after a ruling: the old label if it agrees, otherwise the grade of the finding.
    /// *Cannot tell* changes nothing; *not relevant* gives 0, also for an unlabeled document.
    pub fn corrected(self, label: Option<i32>, finding: Finding) -> Option<i32> {
        match (finding, label) {
            (Finding::CannotTell, label) => label,
            (Finding::Not, Some(grade)) if grade <= 0 => Some(grade),
            (Finding::Not, _) => Some(0),
            (Finding::Partially, Some(grade))
                if (self.partially..self.relevant).contains(&grade) =>
            {
                Some(grade)
            }
            (Finding::Partially, _) => Some(self.partially),
            (Finding::Relevant, Some(grade)) if grade >= self.relevant => Some(grade),
            (Finding::Relevant, _) => Some(self.relevant),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LabelCorrection {
    pub ruling: Ruling,
    /// The label before; `None` for an unjudged document.
    pub before: Option<i32>,
    /// The label after; `None` if nobody can tell and the document is unjudged.
    pub after: Option<i32>,
}

impl LabelCorrection {
    /// The effect of a ruling on a label, using the ruling's own grades.
    pub fn of(ruling: Ruling, before: Option<i32>) -> Self {
        let grades = RulingGrades::up_to(ruling.relevant);
        Self::with(ruling, before, grades)
    }

    fn with(ruling: Ruling, before: Option<i32>, grades: RulingGrades) -> Self {
        let after = grades.corrected(before, ruling.finding);
        Self {
            ruling,
            before,
            after,
        }
    }

    pub fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// The effect of each applicable ruling on its label, in the order given. Uses each ruling's own
/// grades unless `grades` overrides them for all.
pub fn label_corrections(
    labels: &Qrels,
    in_force: impl IntoIterator<Item = Ruling>,
    grades: Option<RulingGrades>,
) -> Vec<LabelCorrection> {
    let correct = |ruling: Ruling| {
        let before = labels
            .get(&ruling.query)
            .and_then(|grades| grades.get(&ruling.document))
            .copied();
        match grades {
            Some(grades) => LabelCorrection::with(ruling, before, grades),
            None => LabelCorrection::of(ruling, before),
        }
    };
    in_force.into_iter().map(correct).collect()
}

#[must_use]
pub fn corrected_labels(labels: &Qrels, corrections: &[LabelCorrection]) -> Qrels {
    let mut out = labels.clone();
    for correction in corrections {
        if let Some(grade) = correction.after {
            let ruling = &correction.ruling;
            let grades = out.entry(ruling.query.clone()).or_default();
            grades.insert(ruling.document.clone(), grade);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn given(annotator: &str, finding: Finding) -> Ruling {
        Ruling {
            uid: format!("{annotator} {finding}"),
            query: QueryId::new("q"),
            document: DocId::new("d"),
            finding,
            relevant: 1,
            fault: None,
            note: None,
            annotator: annotator.to_owned(),
            created_ms: 0,
        }
    }

    #[test]
    fn a_majority_is_more_than_half_of_those_who_can_tell() {
        use Finding::{CannotTell, Not, Partially, Relevant};
        let table: &[(&[Finding], Option<Finding>)] = &[
            (&[Relevant], Some(Relevant)),
            (&[Relevant, Not], None),
            (&[Relevant, Not, CannotTell], None),
            (&[Relevant, Not, Partially], Some(Partially)),
            (&[Relevant, Partially, Relevant, Not], Some(Relevant)),
            (&[Not, Not, Relevant], Some(Not)),
            (&[Not, CannotTell], Some(Not)),
            (&[CannotTell, CannotTell], Some(CannotTell)),
            (&[], None),
        ];
        for (findings, expected) in table {
            let rulings: Vec<Ruling> = findings
                .iter()
                .enumerate()
                .map(|(at, finding)| given(&at.to_string(), *finding))
                .collect();
            let rulings: Vec<&Ruling> = rulings.iter().collect();
            let chosen = |rule: &FinalRule| ruling_in_force(rule, &rulings).map(|one| one.finding);
            assert_eq!(chosen(&FinalRule::Majority), *expected, "{findings:?}");
            assert_eq!(chosen(&FinalRule::Latest), findings.last().copied());
            let first = FinalRule::Adjudicator("0".to_owned());
            assert_eq!(chosen(&first), findings.first().copied());
        }
    }

    #[test]
    fn a_ruling_changes_a_label_only_where_it_says_something_else() {
        use Finding::{CannotTell, Not, Partially, Relevant};
        let (two, three) = (
            RulingGrades {
                partially: 1,
                relevant: 1,
            },
            RulingGrades {
                partially: 1,
                relevant: 2,
            },
        );
        let table = [
            (None, Relevant, Some(1), Some(2)),
            (None, Partially, Some(1), Some(1)),
            (None, Not, Some(0), Some(0)),
            (None, CannotTell, None, None),
            (Some(0), Relevant, Some(1), Some(2)),
            (Some(0), Not, Some(0), Some(0)),
            (Some(-1), Not, Some(-1), Some(-1)),
            (Some(1), Relevant, Some(1), Some(2)),
            (Some(1), Partially, Some(1), Some(1)),
            (Some(1), Not, Some(0), Some(0)),
            (Some(1), CannotTell, Some(1), Some(1)),
            (Some(3), Relevant, Some(3), Some(3)),
            (Some(3), Partially, Some(1), Some(1)),
        ];
        for (label, finding, binary, graded) in table {
            let both = [two, three].map(|grades| grades.corrected(label, finding));
            assert_eq!(both, [binary, graded], "{label:?} {finding}");
        }
    }

    #[test]
    fn corrections_touch_nothing_else() {
        let labels: Qrels = BTreeMap::from([(
            QueryId::new("q"),
            BTreeMap::from([(DocId::new("d"), 1), (DocId::new("e"), 1)]),
        )]);
        let made = label_corrections(&labels, [given("a", Finding::Not)], None);
        assert_eq!((made[0].before, made[0].after), (Some(1), Some(0)));
        let after = corrected_labels(&labels, &made);
        let grade = |document: &str| after[&QueryId::new("q")][&DocId::new(document)];
        assert_eq!((grade("d"), grade("e")), (0, 1));
        assert_eq!(corrected_labels(&labels, &[]), labels);
    }

    #[test]
    fn the_last_word_of_each_annotator_counts() {
        let rulings = [
            given("ada", Finding::Not),
            given("bob", Finding::Relevant),
            given("ada", Finding::Partially),
        ];
        let settled = |rule: &FinalRule, rulings: &[Ruling]| {
            let (settled, conflicts) = rulings_in_force(rule, rulings);
            let findings: Vec<Finding> = settled.iter().map(|ruling| ruling.finding).collect();
            (findings, conflicts)
        };
        let all = |rule| settled(&rule, &rulings);
        assert_eq!(all(FinalRule::Latest), (vec![Finding::Partially], 0));
        assert_eq!(all(FinalRule::Majority), (vec![Finding::Partially], 0));
        let two = settled(&FinalRule::Majority, &rulings[..2]);
        assert_eq!(two, (Vec::new(), 1), "no ruling counts, and they differ");
    }

    #[test]
    fn a_ruling_keeps_the_grade_of_its_benchmark() {
        let labels = Qrels::new();
        let graded = Ruling {
            relevant: RulingGrades::of(Some(3)).relevant,
            ..given("a", Finding::Relevant)
        };
        let after = |over| {
            label_corrections(
                &labels,
                [graded.clone(), given("b", Finding::Relevant)],
                over,
            )
        };
        let grades: Vec<_> = after(None).iter().map(|one| one.after).collect();
        assert_eq!(grades, [Some(2), Some(1)]);
        let over = RulingGrades::up_to(3);
        assert!(after(Some(over)).iter().all(|one| one.after == Some(3)));
        assert_eq!(RulingGrades::of(None).relevant, 1);
    }
}
