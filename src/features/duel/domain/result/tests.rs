use super::*;
use crate::features::duel::domain::schedule::tests::duel;
use crate::features::duel::domain::{
    Answer, Content, DuelDocument, Place, Source, TaskKey, schedule,
};
use proptest::prelude::*;

/// A participant who finishes every task and chooses wherever `chooses` returns true for its key,
/// index and place.
fn participant(
    duel: &Duel,
    number: usize,
    chooses: impl Fn(&TaskKey, usize, &Place) -> bool,
) -> Participant {
    let answer = |key: &TaskKey, content: &Content| {
        let places = match content {
            Content::Places(places) => places.as_slice(),
            Content::Lists { .. } => &[],
        };
        let chosen = places
            .iter()
            .enumerate()
            .filter(|(at, place)| chooses(key, *at, place));
        Answer {
            selected: chosen
                .map(|(_, place)| (place.document.clone(), None))
                .collect(),
            finished: true,
            active_ms: 1_000 * (number as i64 + 1),
            finished_ms: Some(number as i64),
            ..Answer::default()
        }
    };
    let tasks = schedule(duel, number).into_iter();
    Participant {
        name: format!("p{number}"),
        number,
        answers: tasks
            .map(|task| (task.key.clone(), answer(&task.key, &task.content)))
            .collect(),
    }
}

/// The first documents alternate between A's and B's; the ninth is the negative.
fn turn(place: &Place) -> Option<u32> {
    place
        .document
        .as_ref()?
        .as_str()
        .chars()
        .last()?
        .to_digit(10)
}

#[test]
fn judgments_that_are_not_blind_are_no_evidence_to_stop() {
    let duel = duel(DuelForm::Grid, 12, 1);
    let of_a = |_: &TaskKey, _: usize, place: &Place| turn(place).is_some_and(|turn| turn % 2 == 0);
    let of_b = |_: &TaskKey, _: usize, place: &Place| turn(place).is_some_and(|turn| turn % 2 == 1);
    let mut seen = participant(&duel, 0, of_a);
    let blind = participant(&duel, 1, of_b);
    let one_side = result(&duel, std::slice::from_ref(&seen));
    assert_eq!(one_side.stop.better, Some(Side::A));
    for answer in seen.answers.values_mut() {
        answer.after_reveal = true;
    }
    let alone = result(&duel, std::slice::from_ref(&seen));
    assert_eq!((alone.judgments, alone.after_reveal), (12, 12));
    assert_eq!(alone.wins_a, one_side.wins_a);
    assert_eq!(alone.stop, StopRule::new(3).state());
    assert_eq!(looks(&duel, std::slice::from_ref(&seen)), []);
    // The blind one is the first of each query, though it came later.
    let people = [seen, blind];
    let both = result(&duel, &people);
    assert_eq!(both.stop, result(&duel, &people[1..]).stop);
    assert_eq!(both.stop.better, Some(Side::B));
    assert_eq!(looks(&duel, &people), looks(&duel, &people[1..]));
}

#[test]
fn who_chooses_of_b_only_makes_b_win() {
    let duel = duel(DuelForm::Grid, 12, 1);
    let b_only =
        |_: &TaskKey, _: usize, place: &Place| turn(place).is_none_or(|turn| turn % 2 == 1);
    let found = result(
        &duel,
        &[participant(&duel, 0, b_only), participant(&duel, 1, b_only)],
    );
    assert_eq!(
        (found.participants, found.judgments, found.queries),
        (2, 24, 12)
    );
    assert_eq!(
        found.credit,
        Credit {
            b_only: 96,
            ..Credit::default()
        }
    );
    let shares = found.credit_shares.unwrap();
    assert_eq!((shares.b_only.value, shares.a_only.value), (1.0, 0.0));
    // All of twelve queries: Wilson's interval.
    assert!((shares.b_only.interval.unwrap().0 - 0.7575).abs() < 1e-3);
    assert_eq!(
        found.preference.map(|of| (of.value, of.interval)),
        Some((-1.0, None))
    );
    assert_eq!((found.wins_a, found.ties, found.wins_b), (0, 0, 12));
    assert!((found.sign_p.unwrap() - 2.0 / 4_096.0).abs() < 1e-15);
    assert_eq!(found.permutation_p, Some(2.0 / 4_096.0));
    assert_eq!(
        found.agreement.map(|alpha| (alpha.value, alpha.units)),
        Some((1.0, 108))
    );
    assert_eq!(found.stop.better, Some(Side::B));
    assert_eq!(found.median_seconds, Some(1.5));
    let controls = &found.controls[0];
    assert_eq!(
        (controls.repeats, controls.repeated, controls.repeated_same),
        (2, 18, 18)
    );
    assert_eq!((controls.attention, controls.attention_passed), (2, 0));
    assert_eq!(controls.same_lists, 2);
    assert_eq!(controls.same_lists_a + controls.same_lists_b, 8);
    assert_eq!(found.per_query.len(), 12);
}

#[test]
fn attention_is_passed_by_the_request_alone() {
    let duel = duel(DuelForm::Grid, 10, 1);
    let attentive = |key: &TaskKey, _: usize, place: &Place| match key.kind {
        TaskKind::Attention => place.document.is_none(),
        _ => turn(place) == Some(0),
    };
    let found = result(&duel, &[participant(&duel, 0, attentive)]);
    let controls = &found.controls[0];
    assert_eq!((controls.attention, controls.attention_passed), (1, 1));
    assert_eq!(found.credit.a_only, 10);
    assert_eq!(found.agreement, None);
}

#[test]
fn nothing_judged_says_nothing() {
    for form in DuelForm::ALL {
        let duel = duel(form, 6, 1);
        let nobody = Participant {
            name: "p".to_owned(),
            number: 0,
            answers: BTreeMap::new(),
        };
        for participants in [vec![], vec![nobody]] {
            let found = result(&duel, &participants);
            assert_eq!((found.participants, found.judgments, found.ties), (0, 0, 0));
            let figures = [
                found.sign_p,
                found.permutation_p,
                found.places_p,
                found.median_seconds,
            ];
            assert_eq!(figures, [None; 4]);
            assert!(found.credit_shares.is_none() && found.preference.is_none());
            assert!(found.places.is_empty() && found.per_query.is_empty());
            assert_eq!((found.stop.better, found.stop.further), (None, None));
            assert!((found.stop.e_value - 0.8).abs() < 1e-12);
        }
    }
}

#[test]
fn a_choice_by_place_is_seen() {
    let duel = duel(DuelForm::Grid, 18, 4);
    let first = |_: &TaskKey, at: usize, _: &Place| at < 2;
    let by_place = result(&duel, &[participant(&duel, 0, first)]);
    assert!(by_place.places_p < Some(1e-6), "{:?}", by_place.places_p);
    assert_eq!(
        (by_place.places[0].chosen, by_place.places[8].chosen),
        (18, 0)
    );
    let by_document =
        |_: &TaskKey, _: usize, place: &Place| turn(place).is_some_and(|turn| turn < 2);
    let even = result(&duel, &[participant(&duel, 0, by_document)]);
    assert_eq!(even.places_p, Some(1.0));
}

/// A participant who always prefers the left list prefers neither ranking.
#[test]
fn a_liking_for_the_left_is_no_preference() {
    let duel = duel(DuelForm::Lists, 10, 4);
    let likes = |number: usize, step: &dyn Fn(Side) -> i8| {
        let mut of = participant(&duel, number, |_, _, _| false);
        for task in schedule(&duel, number) {
            if let (Content::Lists { left, .. }, Some(answer)) =
                (&task.content, of.answers.get_mut(&task.key))
            {
                answer.preference = Some(step(*left));
            }
        }
        of
    };
    let left = result(&duel, &[likes(0, &|_| -2), likes(1, &|_| -2)]);
    assert_eq!((left.wins_a, left.ties, left.wins_b), (0, 10, 0));
    assert!(left.places_p < Some(1e-4));
    let a = |left| if left == Side::A { -1 } else { 1 };
    let for_a = result(&duel, &[likes(0, &a), likes(1, &a)]);
    assert_eq!(
        (for_a.wins_a, for_a.preference.map(|of| of.value)),
        (10, Some(0.5))
    );
    assert_eq!(for_a.places_p, Some(1.0));
    let controls = &for_a.controls[0];
    assert_eq!((controls.repeated, controls.repeated_same), (1, 1));
    assert_eq!((controls.same_lists, controls.attention), (1, 0));
    assert_eq!(for_a.agreement, None);
}

/// The duel with A and B swapped.
fn turned(duel: &Duel) -> Duel {
    let document = |one: &DuelDocument| DuelDocument {
        document: one.document.clone(),
        source: match one.source {
            Source::TopOfA => Source::TopOfB,
            Source::TopOfB => Source::TopOfA,
            Source::EasyNegative => Source::EasyNegative,
        },
        rank_a: one.rank_b,
        rank_b: one.rank_a,
    };
    let mut turned = duel.clone();
    std::mem::swap(&mut turned.a, &mut turned.b);
    for query in &mut turned.queries {
        query.documents = query.documents.iter().map(document).collect();
    }
    turned
}

fn flipped(of: DuelEstimate) -> (f64, Option<(f64, f64)>) {
    (
        0.0 - of.value,
        of.interval.map(|(low, high)| (0.0 - high, 0.0 - low)),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn changing_a_and_b_about_changes_the_result_about(
        seed in 0u64..50, queries in 1usize..14, people in 1usize..4, chosen in any::<u64>(),
    ) {
        let duel = duel(DuelForm::Grid, queries, seed);
        let chooses = |key: &TaskKey, _: usize, place: &Place| {
            let at = key.query.as_str().len() + turn(place).unwrap_or(9) as usize;
            let spread = chosen.rotate_left((7 * at) as u32) ^ chosen.rotate_left(13 * key.query.as_str().as_bytes()[1] as u32);
            spread % 3 == 0
        };
        let people: Vec<Participant> = (0..people).map(|number| participant(&duel, number, chooses)).collect();
        let other = turned(&duel);
        let (one, other) = (result(&duel, &people), result(&other, &people));
        prop_assert_eq!((one.wins_a, one.ties, one.wins_b), (other.wins_b, other.ties, other.wins_a));
        prop_assert_eq!(one.credit.a_only, other.credit.b_only);
        prop_assert_eq!((one.credit.both, one.credit.neither), (other.credit.both, other.credit.neither));
        prop_assert_eq!(one.sign_p, other.sign_p);
        prop_assert_eq!(one.permutation_p, other.permutation_p);
        prop_assert_eq!(&one.places, &other.places);
        prop_assert_eq!(one.stop.better, other.stop.better.map(Side::other));
        prop_assert_eq!((one.stop.e_value * 1e6).round(), (other.stop.e_value * 1e6).round());
        prop_assert_eq!(one.stop.further, other.stop.further);
        let (preference, mirrored) = (one.preference.unwrap(), flipped(other.preference.unwrap()));
        prop_assert!((preference.value - mirrored.0).abs() < 1e-12);
        let ends = preference.interval.zip(mirrored.1);
        prop_assert_eq!(preference.interval.is_some(), mirrored.1.is_some());
        prop_assert!(ends.is_none_or(|(x, y)| (x.0 - y.0).abs() < 1e-9 && (x.1 - y.1).abs() < 1e-9));
    }

    /// The order of joining only affects which judgment of a query is first.
    #[test]
    fn the_order_of_participants_does_not_matter(seed in 0u64..50, queries in 1usize..12) {
        let duel = duel(DuelForm::Grid, queries, seed);
        let of = |number: usize| participant(&duel, number, move |_, at, place| {
            (at + turn(place).unwrap_or(0) as usize + number).is_multiple_of(3)
        });
        let people = [of(0), of(1), of(2)];
        let other = [of(2), of(0), of(1)];
        let (one, other) = (result(&duel, &people), result(&duel, &other));
        prop_assert_eq!(&one.per_query, &other.per_query);
        prop_assert_eq!(&one.places, &other.places);
        prop_assert_eq!(&one.stop, &other.stop);
        let last = looks(&duel, &people).last().copied();
        prop_assert_eq!(last, Some(Look {
            first_wins: (one.stop.wins_a, one.stop.wins_b),
            better: one.stop.better,
        }));
        prop_assert_eq!(one.agreement.map(|of| of.value), other.agreement.map(|of| of.value));
    }
}
