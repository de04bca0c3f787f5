//! The result of a duel as lines of text, for both the command and the screen.

use crate::app::interval_axis::IntervalAxis;
use crate::app::text_format::{counted, duration};
use crate::domain::number_words::{count, signed};
use crate::domain::sanitize;
use crate::features::duel::domain::{ControlResult, DuelEstimate, DuelForm, DuelResult, Side};
use crate::features::duel::store::StoredDuel;
use crate::features::methods::app::shown_name;

const UNKNOWN: &str = "–";
const PREFERENCE_COLUMNS: usize = 51;

/// A duel with its number, its rankings and its form.
pub fn duel_name(stored: &StoredDuel) -> String {
    format!(
        "duel {}, {} against {} ({})",
        stored.key.0,
        sanitize::line(&stored.duel.a),
        sanitize::line(&stored.duel.b),
        stored.duel.form
    )
}

/// Describes what a participant sees.
pub fn form_words(form: DuelForm) -> &'static str {
    match form {
        DuelForm::Grid => "a grid",
        DuelForm::Lists => "two lists",
        DuelForm::Interleaved => "an interleaved list",
    }
}

/// The result as lines without colors or trailing blanks, with the queries at the end; lines are
/// not wrapped.
pub fn result_lines(result: &DuelResult) -> Vec<String> {
    let mut lines = Vec::new();
    if result.judgments > 0 {
        lines.extend([answer(result), String::new()]);
    }
    lines.extend([
        format!("A  {}", sanitize::line(&result.a)),
        format!("B  {}", sanitize::line(&result.b)),
        String::new(),
        format!(
            "{} of {} judged, {} by {}",
            count(result.per_query.len()),
            counted(result.queries, "query"),
            counted(result.judgments, "judgment"),
            counted(result.participants, "participant")
        ),
    ]);
    if result.judgments == 0 {
        lines.push("no result yet: a judgment counts when its task is done".to_owned());
    } else {
        lines.push(format!(
            "A better on {}, B on {}, neither on {}",
            counted(result.wins_a, "query"),
            result.wins_b,
            result.ties
        ));
        lines.extend(after_reveal(result));
        lines.extend(held_back(result));
        lines.push(stop_words(result));
        lines.push(String::new());
        lines.extend(preference_bar(result));
        lines.extend(preference(result));
        lines.extend(credit(result));
        lines.push(String::new());
        lines.push(agreement(result));
        let median = result.median_seconds.map_or(UNKNOWN.to_owned(), duration);
        lines.push(format!("median time of a judgment: {median}"));
        lines.extend(places(result));
    }
    let did_something =
        |one: &&ControlResult| one.judgments + one.repeats + one.same_lists + one.attention > 0;
    let controls = result.controls.iter().filter(did_something);
    let controls: Vec<String> = controls.map(control_words).collect();
    if !controls.is_empty() {
        lines.push(String::new());
        lines.push("Controls, not part of the numbers above".to_owned());
        lines.extend(controls);
    }
    if !result.per_query.is_empty() {
        lines.push(String::new());
        lines.push("Queries: preference from −1.00 (B) to +1.00 (A)".to_owned());
        let queries = result.per_query.iter();
        lines.extend(queries.map(|query| {
            let better = match query.better {
                Some(Side::A) => "A",
                Some(Side::B) => "B",
                None => "=",
            };
            let judgments = match query.judgments {
                1 => String::new(),
                several => format!(" · {}", counted(several, "judgment")),
            };
            format!(
                "{better}  {}  {}{judgments}",
                signed(query.preference, 2),
                sanitize::line(query.query.as_str())
            )
        }));
    }
    lines
}

/// Which ranking people prefer, according to the interval of the mean preference.
fn answer(result: &DuelResult) -> String {
    let [a, b] = [&result.a, &result.b].map(|name| shown_name(name));
    let interval = result.preference.as_ref().and_then(|mean| mean.interval);
    match interval {
        Some((low, _)) if low > 0.0 => format!("People prefer {a} (A) to {b} (B)."),
        Some((_, high)) if high < 0.0 => format!("People prefer {b} (B) to {a} (A)."),
        _ => format!("Not decided between {a} (A) and {b} (B)."),
    }
}

/// The mean preference as a point with its interval, from B on the left to A on the right.
fn preference_bar(result: &DuelResult) -> Vec<String> {
    let Some(mean) = &result.preference else {
        return Vec::new();
    };
    let axis = IntervalAxis::new(-1.0, 1.0, PREFERENCE_COLUMNS);
    let bar = axis.row(Some(mean.value), mean.interval);
    vec![
        format!("  B {} A", axis.labels()),
        format!("    {}", bar.trim_end()),
    ]
}

/// Describes whether the duel may stop, or how many judgments are expected to be missing.
fn stop_words(result: &DuelResult) -> String {
    let stop = &result.stop;
    let decided = stop.wins_a + stop.wins_b;
    // The stopping rule ignores queries that were judged only after the result was seen.
    let left = result.queries - (decided + stop.ties);
    match (stop.better, stop.further) {
        (Some(Side::A), _) => "may stop: A is better, error ≤ 5 %".to_owned(),
        (Some(Side::B), _) => "may stop: B is better, error ≤ 5 %".to_owned(),
        (None, Some(further)) => format!(
            "go on: about {} of other queries expected until one may be called better with error ≤ \
             5 %{}",
            counted(further, "further judgment"),
            match left {
                left if left >= further => String::new(),
                0 => "; all queries of this duel are judged, so more people are needed".to_owned(),
                left => format!("; this duel has {} left", counted(left, "query")),
            }
        ),
        (None, None) if decided == 0 => {
            "go on: no query decided yet, too early to estimate".to_owned()
        }
        (None, None) => {
            "go on: the share of wins is too close to one half to estimate how many judgments are \
             missing"
                .to_owned()
        }
    }
}

/// The number of judgments that do not count yet, if any.
fn held_back(result: &DuelResult) -> Option<String> {
    (result.held_back > 0).then(|| {
        let verb = if result.held_back == 1 { "does" } else { "do" };
        format!(
            "{} of queries that were judged before {verb} not count until their participant has \
             judged every query",
            counted(result.held_back, "judgment")
        )
    })
}

/// The number of judgments that are not blind, if any.
fn after_reveal(result: &DuelResult) -> Option<String> {
    let count = result.after_reveal;
    (count > 0).then(|| {
        let verb = if count == 1 { "is" } else { "are" };
        format!(
            "{} {verb} not blind: given or changed after the result was seen, and not used by the \
             stop rule",
            counted(count, "judgment")
        )
    })
}

/// Describes one participant's results on controls.
pub fn control_words(control: &ControlResult) -> String {
    let share = |of: usize, all: usize, what: &str| match all {
        0 => format!("{what} {UNKNOWN}"),
        all => format!("{what} {of} of {all}"),
    };
    let repeats = share(
        control.repeated_same,
        control.repeated,
        "same answer when repeated",
    );
    let attention = share(
        control.attention_passed,
        control.attention,
        "attention tasks passed",
    );
    let same = match control.same_lists {
        0 => format!("one list on both sides {UNKNOWN}"),
        tasks => format!(
            "one list on both sides in {}: A {}, B {}",
            counted(tasks, "task"),
            control.same_lists_a,
            control.same_lists_b
        ),
    };
    format!(
        "{}: {}{} · {repeats} · {same} · {attention}",
        sanitize::line(&control.participant),
        counted(control.judgments, "judgment"),
        match control.after_reveal {
            0 => String::new(),
            count => format!(", {count} not blind"),
        }
    )
}

fn preference(result: &DuelResult) -> Vec<String> {
    let mean = result
        .preference
        .as_ref()
        .map_or(UNKNOWN.to_owned(), |mean| {
            let interval = mean
                .interval
                .map_or("no interval".to_owned(), |(low, high)| {
                    format!("95 % {} to {}", signed(low, 2), signed(high, 2))
                });
            format!("{} ({interval})", signed(mean.value, 2))
        });
    vec![
        format!("mean preference {mean}, from −1.00 (all to B) to +1.00 (all to A)"),
        format!(
            "sign test {}, permutation test {}",
            p_words(result.sign_p),
            p_words(result.permutation_p)
        ),
    ]
}

fn credit(result: &DuelResult) -> Vec<String> {
    if result.form == DuelForm::Lists {
        return Vec::new();
    }
    let chosen = counted(result.credit.chosen(), "document");
    let Some(shares) = &result.credit_shares else {
        return vec!["no document was chosen".to_owned()];
    };
    let line = |words: &str, share: &DuelEstimate| format!("  {words:<13}{}", share_words(share));
    if result.form == DuelForm::Interleaved {
        return vec![
            format!("{chosen} chosen, which stood in the list for"),
            line("A", &shares.a_only),
            line("B", &shares.b_only),
        ];
    }
    vec![
        format!("{chosen} chosen, which came from"),
        line("A only", &shares.a_only),
        line("B only", &shares.b_only),
        line("both", &shares.both),
        line("neither", &shares.neither),
    ]
}

fn agreement(result: &DuelResult) -> String {
    match &result.agreement {
        None => format!("agreement between participants: {UNKNOWN} (nothing judged by two)"),
        Some(alpha) => {
            let interval = alpha.interval.as_ref().map_or(String::new(), |interval| {
                format!(
                    ", 95 % {} to {}",
                    signed(interval.low, 2),
                    signed(interval.high, 2)
                )
            });
            format!(
                "agreement between participants: Krippendorff's α {}{interval}, {}",
                signed(alpha.value, 2),
                counted(alpha.units, "unit")
            )
        }
    }
}

fn places(result: &DuelResult) -> Vec<String> {
    let lists = result.form == DuelForm::Lists;
    let (what, name): (_, fn(usize) -> String) = if lists {
        ("preferred", |place| match place {
            1 => "left".to_owned(),
            _ => "right".to_owned(),
        })
    } else {
        ("chosen", |place| place.to_string())
    };
    let mut lines = Vec::new();
    if result.places.is_empty() {
        return lines;
    }
    let even = match result.form {
        DuelForm::Interleaved => String::new(),
        DuelForm::Grid | DuelForm::Lists => format!("; all alike: {}", p_words(result.places_p)),
    };
    lines.push(format!("How often each place was {what}{even}"));
    lines.extend(result.places.iter().map(|place| {
        let (low, high) = place.interval;
        format!(
            "  {:<6}{:>3} of {:<4} {:>3.0} % (95 % {:.0} to {:.0} %)",
            name(place.place),
            place.chosen,
            place.shown,
            100.0 * place.share,
            100.0 * low,
            100.0 * high
        )
    }));
    lines
}

fn share_words(share: &DuelEstimate) -> String {
    let interval = share.interval.map_or(String::new(), |(low, high)| {
        format!(" (95 % {:.0} to {:.0} %)", 100.0 * low, 100.0 * high)
    });
    format!("{:.0} %{interval}", 100.0 * share.value)
}

fn p_words(p: Option<f64>) -> String {
    match p {
        None => format!("p {UNKNOWN}"),
        Some(p) if p < 0.001 => "p < 0.001".to_owned(),
        Some(p) => format!("p {p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::QueryId;
    use crate::features::duel::domain::{
        Credit, CreditShares, DuelQueryResult, PlaceShare, StopState,
    };

    fn stop(
        wins_a: usize,
        wins_b: usize,
        better: Option<Side>,
        further: Option<usize>,
    ) -> StopState {
        StopState {
            wins_a,
            wins_b,
            ties: 0,
            e_value: 1.0,
            people: 1,
            better,
            further,
        }
    }

    fn some() -> DuelResult {
        let share = |value, low, high| DuelEstimate {
            value,
            interval: Some((low, high)),
        };
        DuelResult {
            form: DuelForm::Grid,
            a: "bm25".to_owned(),
            b: "re\u{1b}[31mrank".to_owned(),
            queries: 10,
            participants: 1,
            judgments: 3,
            held_back: 0,
            after_reveal: 1,
            credit: Credit {
                a_only: 1,
                b_only: 2,
                both: 1,
                neither: 0,
            },
            credit_shares: Some(CreditShares {
                a_only: share(0.25, 0.0, 0.75),
                b_only: share(0.5, 0.0, 1.0),
                both: share(0.25, 0.0, 0.75),
                neither: DuelEstimate {
                    value: 0.0,
                    interval: None,
                },
            }),
            preference: Some(share(-0.25, -0.6, 0.001)),
            wins_a: 1,
            ties: 0,
            wins_b: 2,
            sign_p: Some(1.0),
            permutation_p: None,
            agreement: None,
            places: vec![PlaceShare {
                place: 1,
                shown: 3,
                chosen: 1,
                share: 1.0 / 3.0,
                interval: (0.06, 0.79),
            }],
            places_p: Some(0.0001),
            median_seconds: Some(42.0),
            controls: vec![ControlResult {
                participant: "ana".to_owned(),
                judgments: 3,
                after_reveal: 1,
                repeats: 1,
                repeated: 9,
                repeated_same: 8,
                same_lists: 1,
                same_lists_a: 3,
                same_lists_b: 2,
                attention: 0,
                attention_passed: 0,
            }],
            stop: stop(1, 2, None, Some(40)),
            per_query: vec![DuelQueryResult {
                query: QueryId::new("q1"),
                judgments: 1,
                credit: Credit::default(),
                none_chosen: 0,
                preference: -0.5,
                better: Some(Side::B),
            }],
        }
    }

    #[test]
    fn every_number_has_its_interval_and_what_is_not_known_is_a_dash() {
        let text = result_lines(&some()).join("\n");
        for words in [
            "1 of 10 queries judged, 3 judgments by 1 participant",
            "Not decided between",
            "  B −1.00                    0                    +1.00 A",
            "              ─────────●─────┼",
            "A better on 1 query, B on 2, neither on 0",
            "mean preference −0.25 (95 % −0.60 to 0.00)",
            "sign test p 1.000, permutation test p –",
            "  A only       25 % (95 % 0 to 75 %)",
            "  neither      0 %",
            "nothing judged by two",
            "median time of a judgment: 42 s",
            "all alike: p < 0.001",
            "33 % (95 % 6 to 79 %)",
            "1 judgment is not blind: given or changed after the result was seen, and not used by \
             the stop rule",
            "go on: about 40 further judgments of other queries expected until one may be called \
             better with error ≤ 5 %; this duel has 7 queries left",
            "ana: 3 judgments, 1 not blind · same answer when repeated 8 of 9 · one list on both \
             sides in 1 task: A 3, B 2 · attention tasks passed –",
            "B  −0.50  q1",
        ] {
            assert!(text.contains(words), "{words:?} is not in:\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
    }

    #[test]
    fn a_duel_may_stop_or_says_what_is_missing() {
        let words = |stop: StopState, queries: usize| {
            stop_words(&DuelResult {
                stop,
                queries,
                ..some()
            })
        };
        let named = |side| words(stop(7, 0, Some(side), None), 10);
        assert_eq!(named(Side::B), "may stop: B is better, error ≤ 5 %");
        assert_eq!(named(Side::A), "may stop: A is better, error ≤ 5 %");
        assert!(words(stop(0, 0, None, None), 10).contains("no query decided yet"));
        assert!(words(stop(3, 3, None, None), 10).contains("too close to one half"));
        let missing = |queries| words(stop(1, 4, None, Some(5)), queries);
        assert!(missing(10).ends_with("with error ≤ 5 %"));
        assert!(missing(9).ends_with("; this duel has 4 queries left"));
        assert!(missing(5).ends_with("so more people are needed"));
    }

    #[test]
    fn without_a_judgment_nothing_is_claimed() {
        let none = DuelResult {
            judgments: 0,
            participants: 0,
            per_query: Vec::new(),
            controls: Vec::new(),
            ..some()
        };
        let text = result_lines(&none).join("\n");
        assert!(
            text.contains("no result yet") && !text.contains("p 1.000"),
            "{text}"
        );
    }
}
