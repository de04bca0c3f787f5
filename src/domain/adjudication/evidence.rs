//! Verdicts on every document of a pool, each with the sentence that proves it.

use super::pick_reply::{InvalidPick, PickRequest, SlotsReply};
use crate::domain::named::named;
use crate::domain::text::fold_into;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

named! {
    "a verdict on a document", "snake_case";
    /// What a document says about the query.
    pub enum EvidenceLabel {
        /// It shows that a claim is true, or answers a question.
        Supports,
        /// It shows that a claim, or the assumption of a question, is false.
        Refutes,
        /// It shows neither.
        NotEnough,
    }
}

impl EvidenceLabel {
    /// Whether a document with this label counts as picked.
    pub fn is_evidence(self) -> bool {
        self != Self::NotEnough
    }
}

named! {
    "a missing proof", "kebab-case";
    /// Why the proof that a verdict requires is missing.
    pub enum MissingProof {
        /// No sentence was given.
        NoSentence,
        /// The sentence is not in the document.
        NotQuoted,
    }
}

impl MissingProof {
    /// The remark shown with the verdict.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoSentence => "without a sentence: not counted",
            Self::NotQuoted => "not in the document: not counted",
        }
    }
}

/// The claimed verdict on the document in one slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotVerdict {
    /// The slot in the order shown, from 1.
    pub slot: usize,
    pub verdict: EvidenceLabel,
    /// The document's own words that prove it, or the words claimed to be in it; `None` for
    /// insufficient evidence.
    pub sentence: Option<String>,
    /// Why the verdict is unproven. Such a verdict counts neither for nor against its document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven: Option<MissingProof>,
}

/// A reply as decoded from JSON: an object with a list `verdicts`. Other members are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VerdictsReply {
    /// The verdicts as given.
    pub verdicts: Vec<ClaimedVerdict>,
}

/// One member of the list: integer, word, string or null.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ClaimedVerdict {
    /// The slot, from 1.
    pub slot: i64,
    pub verdict: String,
    /// The quotation; whitespace alone counts as none.
    #[serde(default)]
    pub sentence: Option<String>,
}

impl VerdictsReply {
    /// The verdicts on the documents with these texts, by slot.
    ///
    /// # Errors
    /// The first that applies: a slot out of range, a slot given twice, a missing slot; then, in
    /// the order given, a word that is not a verdict. A sentence with `not_enough` is ignored. A
    /// verdict whose sentence is missing, or not in its document, is kept as claimed and marked as
    /// unproven; the others are unaffected.
    pub fn check(self, documents: &[impl AsRef<str>]) -> Result<Vec<SlotVerdict>, InvalidPick> {
        let slots = self.verdicts.iter().map(|given| given.slot);
        let places = each_once(slots.collect(), documents.len())?;
        let mut verdicts = Vec::with_capacity(places.len());
        for (at, given) in places.into_iter().zip(self.verdicts) {
            let slot = given.slot;
            let unknown = |_| InvalidPick::UnknownVerdict { slot };
            let verdict: EvidenceLabel = given.verdict.parse().map_err(unknown)?;
            let sentence = given.sentence.filter(|text| !text.trim().is_empty());
            let sentence = sentence.filter(|_| verdict.is_evidence());
            let text = documents.get(at).map_or("", AsRef::as_ref);
            let unproven = match &sentence {
                _ if !verdict.is_evidence() => None,
                None => Some(MissingProof::NoSentence),
                Some(quote) => match find_quote(text, quote) {
                    Some(_) => None,
                    None => Some(MissingProof::NotQuoted),
                },
            };
            verdicts.push(SlotVerdict {
                slot: at + 1,
                verdict,
                sentence,
                unproven,
            });
        }
        verdicts.sort_by_key(|verdict| verdict.slot);
        Ok(verdicts)
    }
}

impl SlotVerdict {
    /// Checks that there is a sentence if and only if one is required, or that it is marked as
    /// missing.
    fn prove(&self) -> Result<(), InvalidPick> {
        let slot = i64::try_from(self.slot).unwrap_or(i64::MAX);
        match (self.verdict.is_evidence(), &self.sentence, self.unproven) {
            (true, None, None) => Err(InvalidPick::NoSentence { slot }),
            (false, Some(_), _) => Err(InvalidPick::StraySentence { slot }),
            _ => Ok(()),
        }
    }
}

/// Checks whether verdicts could be an answer about a pool of `slots` documents, without their
/// texts.
///
/// # Errors
/// As [`VerdictsReply::check`], except for quotations.
pub(super) fn check_verdicts(verdicts: &[SlotVerdict], slots: usize) -> Result<(), InvalidPick> {
    let given = verdicts.iter().map(|verdict| verdict.slot);
    let given = given.map(|slot| i64::try_from(slot).unwrap_or(-1));
    each_once(given.collect(), slots)?;
    verdicts.iter().try_for_each(SlotVerdict::prove)
}

/// The positions, from 0, of documents that proven verdicts make relevant.
pub fn picks_of_verdicts(verdicts: &[SlotVerdict]) -> Vec<usize> {
    positions(verdicts, |given| {
        given.verdict.is_evidence() && given.unproven.is_none()
    })
}

/// The positions, from 0, of documents with an unproven verdict.
pub(super) fn unproven_verdicts(verdicts: &[SlotVerdict]) -> Vec<usize> {
    positions(verdicts, |given| given.unproven.is_some())
}

fn positions(verdicts: &[SlotVerdict], wanted: impl Fn(&SlotVerdict) -> bool) -> Vec<usize> {
    let wanted = verdicts.iter().filter(|given| wanted(given));
    wanted
        .filter_map(|given| given.slot.checked_sub(1))
        .collect()
}

/// The positions of slots that name each of `count` slots exactly once.
fn each_once(slots: Vec<i64>, count: usize) -> Result<Vec<usize>, InvalidPick> {
    let places = SlotsReply { slots }.picks(count, PickRequest::AnyNumber)?;
    match (0..count).find(|at| !places.contains(at)) {
        Some(at) => Err(InvalidPick::MissingSlot { slot: at + 1 }),
        None => Ok(places),
    }
}

/// The position of a quotation in a text, in bytes. Runs of whitespace and control characters match
/// a single space, and case is ignored; a space between two opening brackets, which prompts insert,
/// is ignored. Also `None` for a quotation without letters or digits.
pub(super) fn find_quote(text: &str, quote: &str) -> Option<Range<usize>> {
    let (wanted, _) = fold(quote);
    let wanted = wanted.trim();
    if !wanted.contains(char::is_alphanumeric) {
        return None;
    }
    let (folded, origins) = fold(text);
    // A character such as ß folds to several, and a quotation does not begin or end within one.
    let is_boundary = |at: usize| match at.checked_sub(1) {
        Some(before) => origins.get(before) != origins.get(at),
        None => true,
    };
    let start = folded
        .char_indices()
        .map(|(at, _)| at)
        .filter(|at| folded[*at..].starts_with(wanted))
        .find(|at| is_boundary(*at) && is_boundary(at + wanted.len()))?;
    let first = origins.get(start)?.start;
    let last = origins.get(start + wanted.len() - 1)?.end;
    Some(first..last)
}

/// A text normalized for comparison, with the original character of each of its bytes.
fn fold(text: &str) -> (String, Vec<Range<usize>>) {
    let mut folded = String::with_capacity(text.len());
    let mut origins = Vec::with_capacity(text.len());
    let mut small = String::new();
    for (at, cluster) in text.grapheme_indices(true) {
        let is_gap = cluster.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_gap && folded.ends_with(' ') {
            continue;
        }
        if cluster == "[" && folded.ends_with("[ ") {
            folded.pop();
            origins.pop();
        }
        if is_gap {
            folded.push(' ');
        } else {
            fold_into(cluster, &mut small);
            folded.push_str(&small);
        }
        origins.resize(folded.len(), at..at + cluster.len());
    }
    (folded, origins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXTS: [&str; 3] = [
        "Aspirin lowers\n fever. It is old.",
        "Aspirin does NOT help.",
        "Bread.",
    ];

    fn check(verdicts: &str) -> Result<Vec<SlotVerdict>, InvalidPick> {
        let reply: VerdictsReply =
            serde_json::from_str(&format!("{{\"verdicts\":{verdicts}}}")).unwrap();
        reply.check(&TEXTS)
    }

    const FIRST: &str = r#"{"slot":1,"verdict":"supports","sentence":"aspirin lowers fever."}"#;
    const SECOND: &str =
        r#"{"slot":2,"sentence":" Aspirin does not help. ","verdict":"refutes","sure":true}"#;
    const THIRD: &str = r#"{"slot":3,"verdict":"not_enough","sentence":null}"#;

    #[test]
    fn each_document_has_its_verdict_and_its_proof() {
        let verdicts = check(&format!("[{THIRD},{FIRST},{SECOND}]")).unwrap();
        let stances: Vec<EvidenceLabel> = verdicts.iter().map(|given| given.verdict).collect();
        assert_eq!(stances, EvidenceLabel::ALL);
        assert_eq!(picks_of_verdicts(&verdicts), [0, 1]);
        assert_eq!(check_verdicts(&verdicts, 3), Ok(()));
        assert_eq!(
            serde_json::to_string(&verdicts[0]).unwrap(),
            r#"{"slot":1,"verdict":"supports","sentence":"aspirin lowers fever."}"#
        );
        for bare in [
            r#"{"slot":3,"verdict":"not_enough"}"#,
            r#"{"slot":3,"verdict":"not_enough","sentence":" "}"#,
        ] {
            assert_eq!(
                check(&format!("[{FIRST},{SECOND},{bare}]")),
                Ok(verdicts.clone())
            );
        }
        for stance in EvidenceLabel::ALL {
            assert_eq!(serde_json::json!(stance), stance.name());
        }
    }

    #[test]
    fn nothing_is_filled_in_or_mended() {
        const NO_VERDICT: &str = "no verdict of the three for slot 3";
        for (slot, verdict, sentence, expected) in [
            (4, "not_enough", "", "slot 4 is not in 1 to 3"),
            (0, "not_enough", "", "slot 0 is not in 1 to 3"),
            (-1, "not_enough", "", "slot -1 is not in 1 to 3"),
            (2, "not_enough", "", "slot 2 is given twice"),
            (3, "Supports", "Bread.", NO_VERDICT),
            (3, "not enough", "", NO_VERDICT),
        ] {
            let sentence = (!sentence.is_empty()).then_some(sentence);
            let third = serde_json::json!({"slot": slot, "verdict": verdict, "sentence": sentence});
            let found = check(&format!("[{FIRST},{SECOND},{third}]")).unwrap_err();
            assert_eq!(found.to_string(), expected, "{third}");
        }
        assert_eq!(
            check(&format!("[{FIRST},{SECOND}]")),
            Err(InvalidPick::MissingSlot { slot: 3 })
        );
        assert_eq!(check("[]").unwrap_err().cause(), "missing-slot");
    }

    #[test]
    fn a_verdict_without_its_proof_is_kept_as_claimed_and_counts_for_nothing() {
        use MissingProof::{NoSentence, NotQuoted};
        for (verdict, sentence, unproven) in [
            ("supports", "", NoSentence),
            ("refutes", " ", NoSentence),
            ("supports", ".", NotQuoted),
            ("supports", "Aspirin does not help.", NotQuoted),
            ("refutes", "Bread is good.", NotQuoted),
        ] {
            let third = serde_json::json!({"slot": 3, "verdict": verdict, "sentence": sentence});
            let verdicts = check(&format!("[{FIRST},{SECOND},{third}]")).unwrap();
            let given = &verdicts[2];
            assert_eq!(given.verdict.name(), verdict);
            let kept = (!sentence.trim().is_empty()).then_some(sentence);
            assert_eq!(
                (given.sentence.as_deref(), given.unproven),
                (kept, Some(unproven))
            );
            assert_eq!(picks_of_verdicts(&verdicts), [0, 1]);
            assert_eq!(unproven_verdicts(&verdicts), [2]);
            assert_eq!(check_verdicts(&verdicts, 3), Ok(()));
            let written = serde_json::to_string(given).unwrap();
            assert!(
                written.ends_with(&format!("\"unproven\":\"{unproven}\"}}")),
                "{written}"
            );
            assert_eq!(
                serde_json::from_str::<SlotVerdict>(&written).unwrap(),
                *given
            );
        }
    }

    #[test]
    fn a_sentence_beside_not_enough_is_ignored() {
        for sentence in ["Bread.", "It says nothing of the kind."] {
            let third =
                serde_json::json!({"slot": 3, "verdict": "not_enough", "sentence": sentence});
            let verdicts = check(&format!("[{FIRST},{SECOND},{third}]")).unwrap();
            assert_eq!((&verdicts[2].sentence, verdicts[2].unproven), (&None, None));
        }
    }

    #[test]
    fn a_quotation_is_found_where_it_stands() {
        let found = |text: &'static str, quote: &str| find_quote(text, quote).map(|at| &text[at]);
        assert_eq!(
            found("Über  die\u{7}BRÜCKE. x", "ÜBER die brücke"),
            Some("Über  die\u{7}BRÜCKE")
        );
        assert_eq!(
            found("see [[a]] or [ [a]]", "[ [A]] or [[a"),
            Some("[[a]] or [ [a")
        );
        assert_eq!(found("İstanbul x", "x"), Some("x"));
        assert_eq!(found("İa I", "i"), Some("İ"));
        assert_eq!(found("in İzmir", "i\u{307}zmir"), Some("İzmir"));
        assert_eq!(found("die Bru\u{308}cke", "Brücke"), Some("Bru\u{308}cke"));
        assert_eq!(
            found("they co\u{ad}operate", "cooperate"),
            Some("co\u{ad}operate")
        );
        assert_eq!(found("ßs", "s"), Some("s"));
        assert_eq!(found("ß", "s"), None);
        assert_eq!(found("now here", "nowhere"), None);
        assert_eq!(found("", "a"), None);
        assert_eq!(found("a. b", " . "), None);
    }

    proptest! {
        #[test]
        fn any_part_of_any_text_is_found(text in "[ -~éß\n\t\\[\u{1b}İ漢]{0,60}", from in 0..60usize, length in 0..60usize) {
            let part: String = text.chars().skip(from).take(length).collect();
            let found = find_quote(&text, &part);
            prop_assert_eq!(found.is_some(), part.contains(char::is_alphanumeric), "{:?}", part);
            if let Some(range) = found {
                prop_assert_eq!(fold(&text[range]).0, fold(part.trim_matches(|c: char| c.is_whitespace() || c.is_control())).0);
            }
        }
    }
}
