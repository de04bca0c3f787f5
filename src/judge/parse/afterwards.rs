//! Detects whether the words after an answer retract it.
//!
//! Words are compared with a list, so some answers are rejected that a reader would accept.
//! Counting a vote against the judge's last words would be worse.

/// The document that an answer favors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Favored {
    First,
    Second,
    Neither,
}

impl Favored {
    fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
            Self::Neither => Self::Neither,
        }
    }
}

/// The meaning of an answer, as far as words can contradict it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Stance {
    pub(super) favored: Option<Favored>,
    pub(super) score: Option<f64>,
}

/// Words that retract an answer at the start of a sentence.
const OPENINGS: [&str; 10] = [
    "wait",
    "but wait",
    "actually",
    "hmm",
    "oops",
    "correction",
    "sorry",
    "apologies",
    "alternatively",
    "instead",
];
/// Words that retract an answer anywhere.
const RETRACTIONS: [&str; 24] = [
    "i ignore",
    "i ignored",
    "i will ignore",
    "i'll ignore",
    "i disregard",
    "i will disregard",
    "i reject",
    "i retract",
    "i take back",
    "i was wrong",
    "i made a mistake",
    "i made an error",
    "my mistake",
    "let me reconsider",
    "let me correct",
    "let me revise",
    "changed my mind",
    "scratch that",
    "on reflection",
    "second thought",
    "second thoughts",
    "should be",
    "that is wrong",
    "that's wrong",
];
const BETTER: [&str; 8] = [
    "better",
    "best",
    "superior",
    "preferable",
    "preferred",
    "stronger",
    "wins",
    "winner",
];
/// Words that express a preference after "more".
const MORE: [&str; 5] = ["relevant", "useful", "helpful", "suitable", "complete"];
const WORSE: [&str; 3] = ["worse", "inferior", "weaker"];
const PREFER: [&str; 7] = [
    "prefer", "choose", "chose", "pick", "favor", "favour", "select",
];
/// Nouns that name a document by its letter.
const NOUNS: [&str; 5] = ["answer", "choice", "verdict", "vote", "winner"];
/// Words between a preference and a document that negate or reverse it.
const TURNING: [&str; 6] = ["not", "isn't", "doesn't", "never", "than", "over"];
/// Words that name a document before its letter.
const DOCUMENTS: [&str; 6] = ["document", "doc", "passage", "text", "option", "result"];
/// Words after which a lone A is not an article, in addition to [`DOCUMENTS`], [`PREFER`] and
/// [`NOUNS`].
const BEFORE_A: [&str; 5] = ["is", "be", "than", "over", "to"];
/// Words before which a lone A is not an article.
const AFTER_A: [&str; 12] = [
    "is", "was", "seems", "looks", "remains", "wins", "has", "does", "answers", "names", "would",
    "clearly",
];
/// Maximum number of words between a preference and the document that it names.
const REACH: usize = 4;

/// Whether the words after an answer contradict it.
pub(super) fn takes_back(after: &str, stance: Stance) -> bool {
    let sentences = after.split(|c: char| "!?;\n".contains(c));
    // A period inside a number does not end a sentence.
    sentences.flat_map(|part| part.split(". ")).any(|sentence| {
        let words: Vec<&str> = sentence
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !"-+−".contains(c)))
            .filter(|word| word.contains(char::is_alphanumeric))
            .collect();
        let lower: Vec<String> = words
            .iter()
            .map(|word| word.to_lowercase().replace('’', "'"))
            .collect();
        let line = format!(" {} ", lower.join(" "));
        let denies = sentence.trim_start().to_lowercase().starts_with("no,") || line == " no ";
        denies
            || OPENINGS
                .iter()
                .any(|opening| line.starts_with(&format!(" {opening} ")))
            || RETRACTIONS
                .iter()
                .any(|words| line.contains(&format!(" {words} ")))
            || line.contains(" a tie ") && stance.favored.is_some_and(|of| of != Favored::Neither)
            || other_score(&lower, stance.score)
            || other_favored(&words, &lower, stance.favored)
    })
}

/// Whether a sentence about the score states another number.
fn other_score(words: &[String], score: Option<f64>) -> bool {
    let (Some(score), true) = (score, words.iter().any(|word| word == "score")) else {
        return false;
    };
    words
        .iter()
        .filter_map(|word| word.replace('−', "-").parse::<f64>().ok())
        .any(|number| number != score)
}

/// Whether a sentence prefers another document.
fn other_favored(words: &[&str], lower: &[String], favored: Option<Favored>) -> bool {
    let Some(favored) = favored else {
        return false;
    };
    let is = |at: usize, list: &[&str]| {
        lower
            .get(at)
            .is_some_and(|word| list.contains(&word.as_str()))
    };
    let named = |at: &usize| favored_at(words, lower, *at).is_some();
    let letter = |at: &usize| named(at) && is(*at, &["a", "b", "tie"]);
    let before = |at: usize| (at.saturating_sub(REACH)..at).rev().find(named);
    let after = |at: usize, reach: usize| at + 1..lower.len().min(at + 1 + reach);
    (0..lower.len()).any(|at| {
        let better = is(at, &BETTER) || is(at, &["more"]) && is(at + 1, &MORE);
        let place = match (better, is(at, &WORSE)) {
            (true, _) => before(at).or_else(|| after(at, REACH).find(named)),
            (_, true) => before(at),
            _ if is(at, &PREFER) => after(at, REACH).find(named),
            _ => None,
        };
        let place = place.or_else(|| after(at, 2).find(letter).filter(|_| is(at, &NOUNS)));
        let Some(place) = place else {
            return false;
        };
        // "B is not better" and "better than B" do not prefer B.
        let turned = (place.min(at)..place.max(at)).any(|at| is(at, &TURNING));
        let told = favored_at(words, lower, place)
            .map(|told| if is(at, &WORSE) { told.other() } else { told });
        !turned && told != Some(favored)
    })
}

/// The document that the word at `at` names.
fn favored_at(words: &[&str], lower: &[String], at: usize) -> Option<Favored> {
    let lower_at = |at: usize| lower.get(at).map_or("", String::as_str);
    let before = at.checked_sub(1).map_or("", lower_at);
    let after = lower_at(at + 1);
    let named = DOCUMENTS.contains(&before);
    let announced = [&BEFORE_A[..], &PREFER, &NOUNS]
        .iter()
        .any(|list| list.contains(&before));
    match *words.get(at)? {
        "A" if named || announced || AFTER_A.contains(&after) => Some(Favored::First),
        "B" => Some(Favored::Second),
        "1" if named => Some(Favored::First),
        "2" if named => Some(Favored::Second),
        _ => match lower_at(at) {
            "first" | "former" => Some(Favored::First),
            "second" | "latter" => Some(Favored::Second),
            "neither" | "tie" => Some(Favored::Neither),
            _ => None,
        },
    }
}
