use super::*;
use crate::features::duel::domain::Side;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;

const SMALL: &str = include_str!("../../../../../tests/golden/sbr/step2_small.json");
const REAL: &str = include_str!("../../../../../tests/golden/sbr/real.json");

/// Document, rank in A, rank in B, source, turn, similarity, label.
type ChosenRow = (DocId, usize, usize, String, usize, Option<f64>, Option<f64>);

/// Document (its SBR rank, or a string if step 1 had dropped it for its text), rank in ColBERT's
/// list from 0, source, similarity, label.
type RealRow = (Value, usize, String, Option<f64>, Option<f64>);

#[derive(Deserialize)]
struct Case {
    variant: String,
    qrels: String,
    a: Vec<DocId>,
    b: Vec<DocId>,
    vectors: HashMap<DocId, Vec<f64>>,
    chosen: Vec<ChosenRow>,
}

fn with_text<'a>(ids: &'a [DocId], texts: &'a HashMap<&DocId, String>) -> Vec<RankedText<'a>> {
    let text = |id: &'a DocId| RankedText {
        id,
        text: texts.get(id).map_or(id.as_str(), String::as_str),
    };
    ids.iter().map(text).collect()
}

fn source_name(source: Source) -> &'static str {
    match source {
        Source::TopOfA => "top from ColBERT",
        Source::TopOfB => "top from SBR",
        Source::EasyNegative => "easy negative",
    }
}

#[test]
fn every_small_case_has_the_originals_documents() {
    let cases: Vec<Case> = serde_json::from_str(SMALL).unwrap();
    assert_eq!(cases.len(), 108);
    for case in cases {
        let texts = HashMap::new();
        let (a, b) = (with_text(&case.a, &texts), with_text(&case.b, &texts));
        let vectors = case.vectors.iter().map(|(id, vector)| {
            let vector: Vec<f32> = vector.iter().map(|x| *x as f32).collect();
            (id.clone(), vector)
        });
        let vectors: HashMap<DocId, Vec<f32>> = vectors.collect();
        let odd = |id: &DocId| id.as_str()[1..].parse::<i32>().unwrap() % 2;
        let grades: Option<BTreeMap<DocId, i32>> = match case.qrels.as_str() {
            "all_relevant" => Some(case.a.iter().map(|id| (id.clone(), 1)).collect()),
            "half" => Some(case.a.iter().map(|id| (id.clone(), 1 - odd(id))).collect()),
            _ => None,
        };
        let query = QueryId::new("1");
        let input = NineInput {
            query: &query,
            place: 0,
            a: &a,
            b: &b,
            grades: grades.as_ref(),
            relevant_from: 1,
            vectors: Some(&vectors),
        };
        let options = NineOptions {
            top: 4,
            profile: SbrProfile::Original,
            seed: 0,
        };
        let found = match case.qrels.as_str() {
            "none" => original(&input, 4, None),
            _ => nine(&input, &options),
        };
        let name = format!("{} {} {}", case.a.len(), case.variant, case.qrels);
        assert_eq!(found.chosen.documents.len(), case.chosen.len(), "{name}");
        for (turn, (found, expected)) in found.chosen.documents.iter().zip(&case.chosen).enumerate()
        {
            let (document, rank_a, rank_b, source, in_turn, ..) = expected;
            let ranks = (found.rank_a, found.rank_b);
            assert_eq!(&found.document, document, "{name}");
            assert_eq!(ranks, (Some(*rank_a), Some(*rank_b)), "{name}");
            assert_eq!(
                (source_name(found.source), turn + 1),
                (source.as_str(), *in_turn),
                "{name}"
            );
        }
        let last = case.chosen.last().unwrap();
        let similarity = found.negative.map(|negative| negative.similarity);
        assert_eq!(similarity.is_some(), last.5.is_some(), "{name}");
        assert!(
            (similarity.unwrap_or(0.0) - last.5.unwrap_or(0.0)).abs() < 1e-6,
            "{name}"
        );
        let grade = found.negative.and_then(|negative| negative.grade);
        assert_eq!(grade.map(f64::from), last.6, "{name}");
        assert_eq!(
            found.chosen.shortfall.is_empty(),
            case.chosen.len() == 9,
            "{name}"
        );
    }
}

#[derive(Deserialize)]
struct Real {
    k5_alpha1: Vec<RealQuery>,
}

#[derive(Deserialize)]
struct RealQuery {
    sbr: Vec<Value>,
    nine: Vec<RealRow>,
}

/// For ColBERT's real lists, the documents of the nine and their ranks are known, and the SBR list
/// in full.
fn real_lists(real: &RealQuery) -> (Vec<DocId>, Vec<DocId>) {
    let id = |value: &Value| DocId::new(value.to_string().trim_matches('"'));
    let mut by_rank: Vec<_> = real.nine.iter().map(|row| (row.1, id(&row.0))).collect();
    by_rank.sort();
    let a = by_rank.into_iter().map(|(_, id)| id).collect();
    let b = (1..=real.sbr.len()).map(|rank| DocId::new(rank.to_string()));
    (a, b.collect())
}

#[test]
fn the_real_lists_have_the_originals_eight() {
    let real: Real = serde_json::from_str(REAL).unwrap();
    assert_eq!(real.k5_alpha1.len(), 53);
    for query in real.k5_alpha1 {
        let (a, b) = real_lists(&query);
        let texts = HashMap::new();
        let (a, b) = (with_text(&a, &texts), with_text(&b, &texts));
        let id = QueryId::new("q");
        let input = NineInput {
            query: &id,
            place: 0,
            a: &a,
            b: &b,
            grades: None,
            relevant_from: 1,
            vectors: None,
        };
        let found = original(&input, 4, None).chosen.documents;
        assert_eq!(found.len(), 9);
        for (found, expected) in found.iter().zip(&query.nine).take(8) {
            let name = expected.0.to_string();
            assert_eq!(found.document.as_str(), name.trim_matches('"'));
            assert_eq!(source_name(found.source), expected.2);
            let known = expected.0.is_number().then_some(found.document.as_str());
            assert_eq!(found.rank_b.map(|rank| rank.to_string()).as_deref(), known);
        }
    }
}

/// Step 1 drops a document if an earlier one in the file has the same text. The file is in
/// ColBERT's order, so if a document among the first four was dropped, the earlier one is among
/// them too.
#[test]
fn where_the_original_shows_a_text_twice_ours_shows_it_once() {
    let real: Real = serde_json::from_str(REAL).unwrap();
    let mut twice = 0;
    for query in real.k5_alpha1 {
        let (ids, b) = real_lists(&query);
        let mut texts: HashMap<&DocId, String> = HashMap::new();
        let earlier = ids.first().unwrap().to_string();
        for id in ids.iter().filter(|id| id.as_str().starts_with('a')) {
            texts.insert(id, format!(" {earlier}\n"));
        }
        twice += usize::from(!texts.is_empty());
        let (a, b) = (with_text(&ids, &texts), with_text(&b, &texts));
        let id = QueryId::new("q");
        let input = NineInput {
            query: &id,
            place: 0,
            a: &a,
            b: &b,
            grades: None,
            relevant_from: 1,
            vectors: None,
        };
        let options = NineOptions {
            top: 4,
            profile: SbrProfile::Overrule,
            seed: 0,
        };
        let chosen = nine(&input, &options).chosen;
        let shown: BTreeSet<&str> = chosen
            .documents
            .iter()
            .map(|one| one.document.as_str())
            .collect();
        assert_eq!((shown.len(), chosen.shortfall.as_str()), (9, ""));
        assert!(shown.iter().all(|id| !id.starts_with('a')), "{shown:?}");
    }
    assert_eq!(twice, 25);
}

/// Two lists over texts, some of them identical, with grades for some.
#[derive(Debug)]
struct Lists {
    ids: Vec<DocId>,
    texts: Vec<String>,
    a: Vec<usize>,
    b: Vec<usize>,
    grades: BTreeMap<DocId, i32>,
}

impl Lists {
    fn ranked<'a>(&'a self, list: &[usize]) -> Vec<RankedText<'a>> {
        let one = |at: &usize| RankedText {
            id: &self.ids[*at],
            text: &self.texts[*at],
        };
        list.iter().map(one).collect()
    }

    fn nine(&self, place: usize, turned: bool) -> Nine {
        let (a, b) = (self.ranked(&self.a), self.ranked(&self.b));
        let (a, b) = if turned { (&b, &a) } else { (&a, &b) };
        let query = QueryId::new("q");
        let input = NineInput {
            query: &query,
            place,
            a,
            b,
            grades: Some(&self.grades),
            relevant_from: 1,
            vectors: None,
        };
        let options = NineOptions {
            top: 4,
            profile: SbrProfile::Overrule,
            seed: 3,
        };
        nine(&input, &options)
    }

    fn text(&self, id: &DocId) -> String {
        let at = self.ids.iter().position(|one| one == id).unwrap();
        text_of(&self.texts[at])
    }
}

fn text_of(text: &str) -> String {
    crate::features::duel::domain::sbr::text_key(text, SbrProfile::Overrule)
}

fn lists() -> impl Strategy<Value = Lists> {
    let order = || Just((0..30usize).collect::<Vec<_>>()).prop_shuffle();
    let texts = prop::collection::vec("[a-cA-C ]{1,5}", 30);
    let grades = prop::collection::btree_map(0..30usize, 0..2i32, 0..20);
    (order(), order(), 0..30usize, 0..30usize, texts, grades).prop_map(
        |(mut a, mut b, in_a, in_b, texts, grades)| {
            a.truncate(in_a);
            b.truncate(in_b);
            let ids: Vec<DocId> = (0..30).map(|at| DocId::new(format!("d{at}"))).collect();
            let grades = grades
                .into_iter()
                .map(|(at, grade)| (ids[at].clone(), grade));
            Lists {
                grades: grades.collect(),
                ids,
                texts,
                a,
                b,
            }
        },
    )
}

proptest! {
    #[test]
    fn no_text_comes_twice_and_no_negative_may_be_relevant(lists in lists(), place in 0usize..4) {
        let found = lists.nine(place, false);
        let documents = &found.chosen.documents;
        let texts: BTreeSet<String> = documents.iter().map(|one| lists.text(&one.document)).collect();
        prop_assert_eq!(texts.len(), documents.len());
        prop_assert_eq!(documents.len() < 9, !found.chosen.shortfall.is_empty());
        for document in documents {
            let negative = document.source == Source::EasyNegative;
            prop_assert_eq!(found.chosen.came_from(document) == (false, false), negative);
        }
        if let Some(negative) = found.negative {
            let last = documents.last().unwrap();
            prop_assert!(negative.grade.is_none_or(|grade| grade < 1));
            let top = [last.rank_a, last.rank_b].into_iter().flatten().min().unwrap();
            prop_assert!(negative.grade.is_some() || top > 10);
        }
    }

    #[test]
    fn equal_lists_give_even_credit(mut lists in lists(), place in 0usize..4) {
        lists.b = lists.a.clone();
        let found = lists.nine(place, false).chosen;
        for document in &found.documents {
            let (of_a, of_b) = found.came_from(document);
            prop_assert_eq!(of_a, of_b);
            prop_assert_eq!(document.rank_a, document.rank_b);
        }
    }

    /// Swapping A and B, and which one goes first, gives the same choice with the sides swapped.
    #[test]
    fn the_choice_is_symmetric(lists in lists(), place in 0usize..4) {
        let (one, other) = (lists.nine(place, false), lists.nine(place + 1, true));
        prop_assert_eq!(one.chosen.depth, other.chosen.depth);
        prop_assert_eq!(one.chosen.documents.len(), other.chosen.documents.len());
        for (one, other) in one.chosen.documents.iter().zip(&other.chosen.documents) {
            prop_assert_eq!(&one.document, &other.document);
            prop_assert_eq!((one.rank_a, one.rank_b), (other.rank_b, other.rank_a));
            let sources = (one.source, other.source);
            let turned = [(Source::TopOfA, Source::TopOfB), (Source::TopOfB, Source::TopOfA)];
            let negative = (Source::EasyNegative, Source::EasyNegative);
            prop_assert!(turned.contains(&sources) || sources == negative);
        }
    }

    #[test]
    fn lists_hold_each_text_once_in_its_order(lists in lists(), top in 1usize..12) {
        let (a, b) = (lists.ranked(&lists.a), lists.ranked(&lists.b));
        let query = QueryId::new("q");
        let found = super::super::lists::tops(&query, &a, &b, top);
        for (side, ranked) in [(Side::A, &a), (Side::B, &b)] {
            let mut expected: Vec<String> = Vec::new();
            for one in ranked {
                let text = text_of(one.text);
                if expected.len() < top && !expected.contains(&text) {
                    expected.push(text);
                }
            }
            let list = super::super::lists::list_of(&found, side);
            let list: Vec<String> = list.into_iter().map(|id| lists.text(id)).collect();
            prop_assert_eq!(list, expected);
        }
    }
}
