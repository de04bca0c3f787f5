//! Pairs of documents with their votes, reasons and verdicts.

use crate::app::battles::QueryBattles;
use crate::app::error::AppError;
use crate::domain::battle::Pair;
use crate::domain::document_names::distinct_names;
use crate::domain::number_words::{fixed, probability};
use crate::domain::reasoning::{self, OTHER_ORDER};
use crate::domain::sanitize;
use crate::domain::verdict::ErrorCause;
use crate::domain::vote::{Margin, Outcome};
use crate::features::report::domain::{ReportedPair, ReportedVote};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::vote_details::VoteDetail;
use std::cmp::Ordering;
use std::sync::Arc;

/// Characters of a document's name.
const NAME: usize = 80;

/// Characters of a document's text that are shown.
const TEXT: usize = 4_000;

/// Reads the pairs of a query.
pub(super) struct PairReader<'a> {
    store: &'a Store,
    query: QueryKey,
    loaded: &'a QueryBattles,
}

impl<'a> PairReader<'a> {
    pub(super) fn new(store: &'a Store, query: QueryKey, loaded: &'a QueryBattles) -> Self {
        Self {
            store,
            query,
            loaded,
        }
    }

    /// A pair with its lower document as A.
    pub(super) fn read(&self, pair: Pair) -> Result<ReportedPair, AppError> {
        let sides = [pair.low(), pair.high()];
        let names = names(self.loaded, sides);
        let count = self.loaded.view.vote_count(pair.low(), pair.high());
        let mut facts = vec![format!("Votes: {count}")];
        let mut votes = Vec::new();
        for (index, cast) in &self.loaded.battles {
            let battle = self.loaded.view.rows().battles[*index].battle;
            if Pair::new(battle.a, battle.b) != Some(pair) {
                continue;
            }
            facts.extend(battle_facts(self.loaded, *index, pair));
            let is_reversed = battle.a != pair.low();
            votes.extend(cast.iter().map(|vote| self.vote(vote, is_reversed, &names)));
        }
        facts.extend(self.said(pair, &names));
        let query = self.query;
        let texts = self.store.read_blocking(move |db| {
            sides
                .iter()
                .map(|at| db.document_text(query, *at))
                .collect::<Result<Vec<Arc<str>>, _>>()
        })?;
        let text = |at: usize| shortened(texts.get(at).map_or("", |text| text));
        Ok(ReportedPair {
            texts: [text(0), text(1)],
            names,
            facts,
            votes,
        })
    }

    fn vote(&self, vote: &VoteDetail, is_reversed: bool, names: &[String; 2]) -> ReportedVote {
        let judge = self.loaded.judge(vote.judge);
        let judge = judge.map_or(String::new(), |spec| {
            sanitize::line(&spec.name).into_owned()
        });
        let said = match &vote.result {
            Ok(margin) => preference(*margin, is_reversed, names),
            Err((cause, message)) => format!("failed: {cause}: {}", sanitize::line(message)),
        };
        // A judge that saw the documents in another order than that of the columns.
        let is_other = vote.swapped != is_reversed;
        let reasoning = sanitize::block(vote.reasoning.text());
        let shown = reasoning::oriented(&reasoning, is_other);
        let note = if shown.is_reversed {
            format!("({OTHER_ORDER})\n")
        } else {
            String::new()
        };
        ReportedVote {
            judge,
            said,
            reasoning: format!("{note}{}", shown.text),
        }
    }

    /// Each person's verdict with its cause and note.
    fn said(&self, pair: Pair, names: &[String; 2]) -> Vec<String> {
        let rows = self.loaded.said.rows();
        let of_pair = rows.filter(|(row, _)| Pair::new(row.verdict.a, row.verdict.b) == Some(pair));
        let told = of_pair.map(|(row, in_force)| {
            let verdict = &row.verdict;
            let decision = verdict.seen_from(pair.low()).words(&names[0], &names[1]);
            let blind = if row.blind { "blind" } else { "not blind" };
            let counts = if in_force { "" } else { ", does not count" };
            let cause = row.cause.map(ErrorCause::words);
            let note = verdict.note.as_deref().map(sanitize::line);
            let more: Vec<String> = cause
                .map(str::to_owned)
                .into_iter()
                .chain(note.map(|note| format!("“{note}”")))
                .collect();
            let more = match more.join("; ") {
                none if none.is_empty() => none,
                words => format!(" – {words}"),
            };
            let who = sanitize::line(&verdict.annotator);
            format!("{who} ({blind}{counts}): {decision}{more}")
        });
        told.collect()
    }
}

/// Whether the effective verdict on a pair contradicts the votes.
pub(super) fn contradicts_votes(loaded: &QueryBattles, pair: Pair) -> bool {
    let verdict = loaded.view.verdict(pair);
    let decided = verdict.and_then(|verdict| verdict.seen_from(pair.low()).direction());
    let count = loaded.view.vote_count(pair.low(), pair.high());
    let voted = count.share().map(|share| share.total_cmp(&0.5));
    let side = match decided {
        Some(Outcome::A) => Ordering::Greater,
        Some(Outcome::B) => Ordering::Less,
        Some(Outcome::Tie) => Ordering::Equal,
        None => return false,
    };
    voted.is_some_and(|voted| voted != side)
}

fn battle_facts(loaded: &QueryBattles, index: usize, pair: Pair) -> Vec<String> {
    let battle = loaded.view.rows().battles[index].battle;
    let numbers = loaded.view.battles[index];
    let is_reversed = battle.a != pair.low();
    let mut facts = Vec::new();
    facts.extend(numbers.expected.map(|for_b| {
        let for_a = if is_reversed { for_b } else { 1.0 - for_b };
        format!(
            "Probability that A wins, by the fit: {}",
            probability(for_a)
        )
    }));
    facts.extend(numbers.surprise.map(|surprise| {
        let towards_a = (surprise < 0.0) != is_reversed;
        let towards = if towards_a { "A" } else { "B" };
        format!(
            "Surprise: {} σ in favor of {towards}",
            fixed(surprise.abs(), 1)
        )
    }));
    facts
}

/// Names that tell the documents apart.
fn names(loaded: &QueryBattles, sides: [usize; 2]) -> [String; 2] {
    let documents = sides.map(|at| &loaded.documents[at]);
    let [a, b] = documents.map(|document| document.title().unwrap_or(&document.snippet));
    let clean = |name: &str| sanitize::line(name).into_owned();
    match distinct_names(a, b, NAME) {
        Some(names) => names.map(|name| clean(&name)),
        None => documents.map(|document| clean(document.id.as_str())),
    }
}

/// The preferred document and how strongly, from 0 to 1.
fn preference(margin: Margin, is_reversed: bool, [a, b]: &[String; 2]) -> String {
    let strength = fixed(margin.get().abs(), 2);
    let seen = if is_reversed {
        margin.flipped()
    } else {
        margin
    };
    match seen.outcome() {
        Outcome::Tie => "a tie".to_owned(),
        Outcome::A => format!("prefers A, {a} ({strength})"),
        Outcome::B => format!("prefers B, {b} ({strength})"),
    }
}

fn shortened(text: &str) -> String {
    let text = sanitize::block(text);
    match text.char_indices().nth(TEXT) {
        None => text.into_owned(),
        Some((end, _)) => format!("{} …", &text[..end]),
    }
}
