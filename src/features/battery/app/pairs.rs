//! Chooses the pairs of a battery, and makes the questions about them.

use crate::app::frozen_pairs::{self, PairCandidate, voted_pairs};
use crate::domain::battle::Pair;
use crate::domain::corpus::DocId;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Outcome;
use crate::features::battery::domain::{Manipulation, VariantTexts, variant_of};
use crate::features::methods::app::rerank::pair_judge::{AskedPair, PairJudge};
use crate::judge::PresentedPair;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The pairs for a judge: those on which it has voted for a document come first, then, if these are
/// too few, pairs drawn from the pools. Queries take turns.
pub(super) fn choose_pairs(db: &Db, judge: &PairJudge, wanted: usize) -> Result<Vec<FrozenPair>> {
    let votes = voted_pairs(db, judge.judge.spec())?;
    let voted: BTreeSet<(QueryKey, Pair)> = votes.iter().map(|of| (of.query, of.pair)).collect();
    let decided = votes
        .iter()
        .filter(|of| of.margin.outcome() != Outcome::Tie);
    let mut candidates: Vec<PairCandidate> = decided
        .map(|of| PairCandidate {
            query: of.query,
            pair: of.pair,
            later_first: Some(of.later_first),
            is_secondary: false,
        })
        .collect();
    if candidates.len() < wanted {
        let drawn = drawn_pairs(db, wanted)?;
        let new = drawn.into_iter().filter(|place| !voted.contains(place));
        candidates.extend(new.map(|(query, pair)| PairCandidate {
            query,
            pair,
            later_first: None,
            is_secondary: true,
        }));
    }
    let key = |query, case: &PresentedPair| {
        judge.key(&AskedPair {
            query,
            case: case.clone(),
        })
    };
    let vote = |key: &[u8; 32]| Ok(db.answer_of_call(key)?.map(|answer| answer.margin));
    frozen_pairs::choose_pairs(db, "battery pair", &candidates, wanted, key, vote)
}

/// Random pairs of each pool, enough for `wanted` over all queries.
fn drawn_pairs(db: &Db, wanted: usize) -> Result<BTreeSet<(QueryKey, Pair)>> {
    let queries = db.query_names()?;
    let of_query = (2 * wanted).div_ceil(queries.len().max(1));
    let mut drawn = BTreeSet::new();
    for (query, name) in queries {
        let documents = db.document_ids(query)?.len();
        let mut rng = SeededRng::new(0, &["battery draw", &name]);
        for _ in 0..of_query {
            let one = rng.below(documents);
            let other = rng.below(documents.saturating_sub(1));
            let pair = Pair::new(one, other + usize::from(other >= one));
            drawn.extend(
                pair.filter(|of| of.high() < documents)
                    .map(|of| (query, of)),
            );
        }
    }
    Ok(drawn)
}

/// The texts of documents in another language.
pub(super) type Translations = HashMap<DocId, Arc<str>>;

/// The question about a pair under a manipulation, if the judge preferred this document; `None` if
/// the manipulation changes nothing, or nothing that the judge is shown.
pub(super) fn manipulated(
    judge: &PairJudge,
    asked: &AskedPair,
    pair: &FrozenPair,
    preferred: Outcome,
    manipulation: Manipulation,
    translations: &Translations,
) -> Option<AskedPair> {
    let case = match manipulation {
        Manipulation::Order => PresentedPair {
            pool: Arc::clone(&asked.case.pool),
            first: asked.case.second,
            second: asked.case.first,
        },
        Manipulation::Language => {
            let [first, second] = pair.documents.each_ref().map(|of| translations.get(of));
            translated(&asked.case, [first?, second?])?
        }
        Manipulation::Neutral
        | Manipulation::Words
        | Manipulation::Padding
        | Manipulation::Instruction => {
            let lost_first = preferred == Outcome::B;
            let texts = [asked.case.first_text(), asked.case.second_text()];
            let names = pair.documents.each_ref().map(DocId::as_str);
            let (lost, won) = if lost_first { (0, 1) } else { (1, 0) };
            let texts = VariantTexts {
                names: [pair.query.as_str(), names[lost], names[won]],
                query: &asked.case.pool.query,
                text: texts[lost],
                other: texts[won],
            };
            let changed = variant_of(manipulation, &texts)?;
            if !is_seen(judge, &asked.case, texts.text, &changed) {
                return None;
            }
            asked.case.with_text(lost_first, changed)
        }
    };
    Some(AskedPair {
        query: asked.query,
        case,
    })
}

/// The pair with these texts; `None` if they are those that it has.
fn translated(case: &PresentedPair, [first, second]: [&str; 2]) -> Option<PresentedPair> {
    let is_new = [case.first_text(), case.second_text()] != [first, second];
    is_new.then(|| {
        let first = case.with_text(true, first.to_owned());
        first.with_text(false, second.to_owned())
    })
}

/// Whether a judge that is shown only the start of long texts sees more in the changed text than the
/// start of the text as it was.
fn is_seen(judge: &PairJudge, case: &PresentedPair, text: &str, changed: &str) -> bool {
    let cuts = [judge.judge.document_cut(), case.pool.limit];
    let Some(cut) = cuts.into_iter().flatten().min() else {
        return true;
    };
    let [text, changed] = [text, changed].map(|of| cut.head(of).unwrap_or(of));
    !text.starts_with(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::PoolText;

    #[test]
    fn texts_in_the_same_language_are_no_translation() {
        let texts: Vec<Arc<str>> = ["trams", "buses"].map(Arc::from).to_vec();
        let case = PresentedPair {
            pool: Arc::new(PoolText::new("transport", texts)),
            first: 1,
            second: 0,
        };
        assert!(translated(&case, ["buses", "trams"]).is_none());
        let german = translated(&case, ["Busse", "trams"]).unwrap();
        assert_eq!(
            [german.first_text(), german.second_text()],
            ["Busse", "trams"]
        );
    }
}
