//! The test of a judge against another one, with its result in words.

use super::judge::GateJudge;
use super::look::record_look;
use super::reference::{ReferenceCounts, ReferencePair, reference_pairs};
use crate::app::error::{AppError, invalid};
use crate::domain::corpus::DocId;
use crate::domain::non_inferiority::{
    FEWEST_QUERIES, GateDecision, GateMethod, NonInferiority, PairedAnswer, test_early, test_fixed,
};
use crate::domain::number_words::{counted, signed};
use crate::domain::sanitize;
use crate::features::prompts::app::StoredAnswers;
use crate::features::prompts::app::trial::LOOKS_BEFORE_FRESH_PAIRS;
use crate::features::prompts::domain::p_words;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};

/// Number of pairs of a test, unless it is chosen.
pub const PAIRS: usize = 100;
/// Maximum one-sided mid-p value at which a judge is said to be better.
const SIGNIFICANT: f64 = 0.05;

/// The judges to compare, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct GateRequest {
    pub judge: String,
    pub against: String,
    /// In 0..1.
    pub margin: f64,
    /// Number of pairs to test; for an early test, the largest number.
    pub pairs: Option<usize>,
    /// Whether to stop at the first decision.
    pub early: bool,
    /// The person who looks at the result.
    pub author: String,
}

/// A reference pair that at least one of the judges has not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LackingPair {
    pub query: String,
    pub a: String,
    pub b: String,
    /// The names of the judges without an answer.
    pub lacks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GateReport {
    pub judge: GateJudge,
    pub against: GateJudge,
    pub test: NonInferiority,
    pub reference: ReferenceCounts,
    /// Number of pairs that were asked for.
    pub wanted: Option<usize>,
    /// The pairs without an answer, in the order of the test.
    pub lacking: Vec<LackingPair>,
    /// Number of looks at the held-out part in the log of the project, this one included unless the
    /// project is read-only.
    pub looks: usize,
    /// Whether this look is not logged, because the project is read-only.
    pub is_unlogged: bool,
    /// The command that gets the missing answers, if it is not `annotate`.
    pub remedy: Option<String>,
}

/// A judge of a test, with answers that it gave in addition to its votes.
#[derive(Clone, Debug)]
pub struct GateSide {
    pub judge: GateJudge,
    pub answers: StoredAnswers,
}

/// Tests a judge against another one with the answers that the project holds.
///
/// The pairs are taken in the order of their hashes, one per query if there are enough queries or
/// the test may stop early. Pairs that neither judge has answered are passed over.
///
/// # Errors
/// A judge is unknown, or there is no reference pair.
pub fn gate(store: &Store, request: &GateRequest) -> Result<GateReport, AppError> {
    let (new, old) = (request.judge.clone(), request.against.clone());
    let judges = store.read_blocking(move |db| {
        Ok(GateJudge::find(db, &new).and_then(|new| Ok([new, GateJudge::find(db, &old)?])))
    })??;
    if judges[0].id == judges[1].id {
        let name = sanitize::line(&judges[0].spec.name);
        return Err(invalid!("--judge and --against are the same judge, {name}"));
    }
    let sides = judges.map(|judge| GateSide {
        judge,
        answers: StoredAnswers::new(),
    });
    gate_between(store, sides, request)
}

/// Tests the first judge against the second, as [`gate`] does.
///
/// # Errors
/// There is no reference pair.
pub fn gate_between(
    store: &Store,
    sides: [GateSide; 2],
    request: &GateRequest,
) -> Result<GateReport, AppError> {
    let judges = sides.each_ref().map(|side| side.judge.clone());
    let (pairs, reference) = reference_pairs(store, judges.clone())?;
    if pairs.is_empty() {
        return Err(no_pairs(reference));
    }
    let (answers, pairs) = store.read_blocking(move |db| {
        let answers = sides.map(|side| directions(db, side, &pairs));
        let [new, old] = answers;
        Ok(([new?, old?], pairs))
    })?;
    let answered: Vec<AnsweredPair<'_>> = pairs
        .iter()
        .map(|pair| AnsweredPair::of(pair, &answers))
        .collect();
    let names = judges.clone().map(|judge| judge.spec.name);
    let lacking = answered.iter().filter_map(|of| of.lacking(&names));
    let wanted = request.pairs.or((!request.early).then_some(PAIRS));
    let chosen = chosen(&answered, wanted, request.early);
    let test = if request.early {
        test_early(&chosen, request.margin)
    } else {
        test_fixed(&chosen, request.margin)
    };
    let lacking = lacking.collect();
    let specs = judges.each_ref().map(|judge| &judge.spec);
    let lines = || answered.iter().map(AnsweredPair::line).collect();
    let lines = (!request.early).then(lines);
    let looks = record_look(store, specs, lines, &test, &request.author)?;
    let [judge, against] = judges;
    Ok(GateReport {
        judge,
        against,
        test,
        reference,
        wanted,
        lacking,
        looks: looks.logged,
        is_unlogged: looks.is_unlogged,
        remedy: None,
    })
}

fn no_pairs(reference: ReferenceCounts) -> AppError {
    let left_out: Vec<String> = [
        (reference.tuned, "in the tuning part of the regression set"),
        (reference.in_prompt, "in the prompt of a judge"),
        (
            reference.not_blind,
            "decided with the judges' votes visible",
        ),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, why)| format!("{} {why}", counted(count, "pair")))
    .collect();
    let left_out = if left_out.is_empty() {
        String::new()
    } else {
        format!(" ({})", left_out.join(", "))
    };
    invalid!(
        "there is no reference pair{left_out}; decide pairs blindly in the review, or import gold \
         pairs (`overrule gold import`)"
    )
}

/// What a judge prefers on each reference pair, where A is the document earlier in the pool: the
/// answer that came with it, or else its first vote on the pair.
type Directions = StoredAnswers;

fn directions(db: &Db, side: GateSide, pairs: &[ReferencePair]) -> Result<Directions, StoreError> {
    let queries: BTreeSet<QueryKey> = pairs.iter().map(|of| of.query).collect();
    let mut found = side.answers;
    let Some(judge) = side.judge.id else {
        return Ok(found);
    };
    for query in queries {
        for vote in db.pair_votes_of(query, judge)? {
            let place = (query, vote.pair);
            found.entry(place).or_insert_with(|| vote.margin.outcome());
        }
    }
    Ok(found)
}

/// A reference pair with whether each judge agrees with the people.
struct AnsweredPair<'a> {
    pair: &'a ReferencePair,
    right: [Option<bool>; 2],
}

impl<'a> AnsweredPair<'a> {
    fn of(pair: &'a ReferencePair, answers: &[Directions; 2]) -> Self {
        let place = (pair.query, pair.decided.pair);
        let right = |of: &Directions| Some(*of.get(&place)? == pair.decided.people);
        Self {
            pair,
            right: [right(&answers[0]), right(&answers[1])],
        }
    }

    /// The pair with what people decided and whether the judges agree, on one line.
    fn line(&self) -> String {
        let decided = &self.pair.decided;
        let documents = self.pair.documents.each_ref().map(DocId::as_str);
        let query = decided.query.as_str();
        format!(
            "{query:?} {documents:?} {:?} {:?}\n",
            decided.people, self.right
        )
    }

    fn lacking(&self, names: &[String; 2]) -> Option<LackingPair> {
        let lacks: Vec<String> = names
            .iter()
            .zip(self.right)
            .filter(|(_, right)| right.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        let [a, b] = self.pair.documents.each_ref();
        (!lacks.is_empty()).then(|| LackingPair {
            query: self.pair.decided.query.as_str().to_owned(),
            a: a.as_str().to_owned(),
            b: b.as_str().to_owned(),
            lacks,
        })
    }
}

/// The pairs to test: the first ones that a judge has answered. One per query if that is required,
/// or if there are as many queries as pairs wanted.
fn chosen(pairs: &[AnsweredPair<'_>], wanted: Option<usize>, early: bool) -> Vec<PairedAnswer> {
    let answered = pairs.iter().filter(|of| of.right != [None, None]);
    let answered: Vec<PairedAnswer> = answered
        .map(|of| PairedAnswer {
            query: usize::try_from(of.pair.query.0).unwrap_or_default(),
            new: of.right[0],
            old: of.right[1],
        })
        .collect();
    let mut seen = HashSet::new();
    let firsts: Vec<PairedAnswer> = answered
        .iter()
        .copied()
        .filter(|of| seen.insert(of.query))
        .collect();
    let wanted = wanted.unwrap_or(usize::MAX);
    let mut chosen = if early || firsts.len() >= wanted {
        firsts
    } else {
        answered
    };
    chosen.truncate(wanted);
    chosen
}

impl GateReport {
    fn names(&self) -> [String; 2] {
        let [new, old] = [&self.judge.spec, &self.against.spec];
        let is_named_alike = new.name == old.name;
        [new, old].map(|spec| {
            let name = sanitize::line(&spec.name);
            if !is_named_alike {
                return name.into_owned();
            }
            let version = if new.prompt_hash == old.prompt_hash {
                &spec.model
            } else {
                &spec.prompt_hash
            };
            format!("{name}@{}", sanitize::line(version))
        })
    }

    /// The decision with its numbers, in two sentences.
    pub fn sentence(&self) -> String {
        let test = &self.test;
        let [new, old] = self.names();
        let margin = test.margin;
        let n = test.counts.pairs();
        let conclusion = match test.decision {
            GateDecision::Pass => {
                let better = match test.better_p {
                    Some(p) if p <= SIGNIFICANT => {
                        format!(", and it is better (one-sided mid-p {})", p_words(p))
                    }
                    _ => String::new(),
                };
                format!("{new} is not worse than {old} by {margin} or more{better}.")
            }
            GateDecision::Worse => format!("{new} is worse than {old}."),
            GateDecision::Undecided if n == 0 => {
                format!("there is no reference pair that both {new} and {old} answered.")
            }
            GateDecision::Undecided => format!(
                "a loss of {margin} or more is not excluded, and {new} is not shown to be worse \
                 than {old}."
            ),
        };
        let conclusion = format!("{}: {conclusion}", test.decision.words());
        let Some(difference) = test.difference else {
            return conclusion;
        };
        let [new_right, old_right] = test.counts.right();
        let numbers = format!(
            "{new} is right about {new_right} of {}, {old} about {old_right}",
            counted(n, "reference pair")
        );
        let interval = match (test.interval, test.evidence) {
            (Some(of), _) => format!(
                "difference {}, 90 % interval {} to {}",
                signed(difference, 2),
                signed(of.low, 2),
                signed(of.high, 2)
            ),
            (None, Some(of)) => format!(
                "difference {}; e-values: {:.2} for not worse, {:.2} for worse; 20 decides",
                signed(difference, 2),
                of.not_worse,
                of.worse
            ),
            (None, None) => format!(
                "difference {}; the pairs are of {}, too few for an interval, which needs \
                 {FEWEST_QUERIES}",
                signed(difference, 2),
                counted(test.queries, "query")
            ),
        };
        format!("{conclusion} {numbers} ({interval}).")
    }

    /// Whether the new judge lacks at least as many answers as the old one.
    pub fn lacks_answers_of_new(&self) -> bool {
        self.test.without_new >= self.test.without_old
    }

    /// What the reader should know about the pairs.
    pub fn remarks(&self) -> Vec<String> {
        let (test, reference) = (&self.test, self.reference);
        let mut remarks = vec![format!(
            "{}: {} with a blind verdict, {} gold",
            counted(reference.pairs(), "reference pair"),
            reference.blind,
            reference.gold
        )];
        let tested = test.counts.pairs() + test.lacking();
        remarks.push(match test.method {
            GateMethod::Newcombe => format!("tested: {}, one per query", counted(tested, "pair")),
            GateMethod::Clustered => format!(
                "tested: {} of {}, with intervals over queries",
                counted(tested, "pair"),
                counted(test.queries, "query")
            ),
            GateMethod::Early => format!(
                "tested: {} in hash order, one per query, until the first decision",
                counted(tested, "pair")
            ),
        });
        if let Some(wanted) = self.wanted.filter(|wanted| tested < *wanted) {
            remarks.push(format!(
                "{} are wanted; more blind verdicts make a decision more likely",
                counted(wanted, "pair")
            ));
        }
        for (count, why) in [
            (reference.tuned, "in the tuning part of the regression set"),
            (reference.in_prompt, "whose query or texts are in a prompt"),
            (
                reference.not_blind,
                "decided with the judges' votes visible",
            ),
        ] {
            if count > 0 {
                remarks.push(format!("left out: {} {why}", counted(count, "pair")));
            }
        }
        remarks.extend(self.lacking_words());
        let fresh = if self.looks >= LOOKS_BEFORE_FRESH_PAIRS {
            "; judge fresh pairs before the next one"
        } else {
            ""
        };
        remarks.push(format!(
            "{} at reference pairs so far (`overrule log`){fresh}",
            counted(self.looks, "look")
        ));
        if self.is_unlogged {
            remarks.push("the project is read-only: this look is not logged".to_owned());
        }
        remarks
    }

    fn lacking_words(&self) -> Option<String> {
        let first = self.lacking.first()?;
        let in_test = match self.test.lacking() {
            0 => "none of them is in the test".to_owned(),
            count => format!(
                "{count} of them {} in the test, which allows for any answer",
                if count == 1 { "is" } else { "are" }
            ),
        };
        let remedy = self.remedy.clone().unwrap_or_else(|| {
            format!(
                "overrule annotate --pair {} {} {} --judges {}",
                sanitize::line(&first.query),
                sanitize::line(&first.a),
                sanitize::line(&first.b),
                sanitize::line(&first.lacks.join(",")),
            )
        });
        Some(format!(
            "{} lack the answer of a judge; {in_test}. Get it with `{remedy}` (--json lists all)",
            counted(self.lacking.len(), "reference pair"),
        ))
    }
}
