//! What the people of a project have judged, and how far they agree.

use crate::app::review::review_queue::judged_conflicts;
use crate::domain::battle::Pair;
use crate::domain::judge_report::PersonVote;
use crate::domain::spend::Spend;
use crate::domain::verdict::Verdict;
use crate::features::remote::domain::{TeamAgreement, team_agreement};
use crate::store::corpus::QueryKey;
use crate::store::ledger::Spent;
use crate::store::{Db, Result};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, HashMap};

/// A person with verdicts or rulings that were not undone or replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// Number of verdicts and rulings since the day began.
    pub today: usize,
    pub all: usize,
}

/// The people of a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeamReport {
    /// When the day began, in milliseconds since the Unix epoch.
    pub since_ms: i64,
    /// The only person whose judgments are all here: an annotator does not get those of others on
    /// pairs and documents that they have not judged. `None` if all judgments are here.
    pub only: Option<String>,
    /// By name.
    pub members: Vec<Member>,
    /// Number of pairs with a verdict.
    pub judged: usize,
    /// By the same order as the members.
    pub agreement: TeamAgreement,
    /// Number of pairs on which people differ.
    pub conflicts: usize,
    /// Number of those that the reader has judged.
    pub judged_conflicts: usize,
    pub spent: Spend,
    /// The most that the project may spend, in dollars.
    pub budget_usd: Option<f64>,
}

/// Verdicts by pair and person: each person's latest one.
type Latest = BTreeMap<(QueryKey, Pair, String), Verdict>;

fn latest(db: &Db) -> Result<Latest> {
    let standing = db.standing_verdicts(None)?.into_iter();
    Ok(standing
        .filter_map(|stored| {
            let verdict = stored.verdict;
            let pair = Pair::new(verdict.a, verdict.b)?;
            Some(((stored.query, pair, verdict.annotator.clone()), verdict))
        })
        .collect())
}

/// When the day of a time began in the system's time zone, both in milliseconds since the Unix
/// epoch.
pub fn day_began_ms(ms: i64) -> i64 {
    let began = Timestamp::from_millisecond(ms)
        .and_then(|time| time.to_zoned(TimeZone::system()).start_of_day());
    began.map_or(ms, |began| began.timestamp().as_millisecond())
}

/// Counts what people have judged, for one of them. `since_ms`: when the day began, in milliseconds
/// since the Unix epoch.
///
/// # Errors
/// The project cannot be read.
pub fn team_report(db: &Db, reader: &str, since_ms: i64) -> Result<TeamReport> {
    let verdicts = latest(db)?;
    let mut members: BTreeMap<String, Member> = BTreeMap::new();
    let rulings = db.standing_rulings()?.into_iter();
    let rulings = rulings.map(|stored| (stored.ruling.annotator, stored.ruling.created_ms));
    let of_verdicts = verdicts
        .values()
        .map(|verdict| (verdict.annotator.clone(), verdict.created_ms));
    for (name, created_ms) in of_verdicts.chain(rulings) {
        let member = members.entry(name.clone()).or_default();
        member.name = name;
        member.all += 1;
        member.today += usize::from(created_ms >= since_ms);
    }
    let members: Vec<Member> = members.into_values().collect();
    let place = |name: &str| {
        members
            .binary_search_by(|of| of.name.as_str().cmp(name))
            .ok()
    };
    let mut queries: HashMap<QueryKey, usize> = HashMap::new();
    let votes: Vec<PersonVote> = verdicts
        .iter()
        .filter_map(|((query, pair, name), verdict)| {
            let next = queries.len();
            Some(PersonVote {
                person: place(name)?,
                query: *queries.entry(*query).or_insert(next),
                pair: *pair,
                outcome: verdict.seen_from(pair.low()).direction()?,
            })
        })
        .collect();
    let mut pairs: Vec<_> = verdicts
        .keys()
        .map(|(query, pair, _)| (*query, *pair))
        .collect();
    pairs.dedup();
    Ok(TeamReport {
        since_ms,
        only: db.judgment_reader()?,
        judged: pairs.len(),
        agreement: team_agreement(&votes, members.len()),
        conflicts: db.conflicts(None)?.len(),
        judged_conflicts: judged_conflicts(db, reader, None)?,
        spent: db.spent()?.iter().map(Spent::spend).sum(),
        budget_usd: db.project_budget()?.flatten(),
        members,
    })
}

/// A person's verdict on a pair, and the reader's own one.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedVerdict {
    pub query: String,
    /// The names of documents A and B.
    pub documents: [String; 2],
    pub verdict: Verdict,
    /// The reader's verdict; `None` if the reader is this person.
    pub own: Option<Verdict>,
}

/// A person's verdicts, as far as the reader may see them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedVerdicts {
    /// The latest ones first.
    pub shown: Vec<ComparedVerdict>,
    /// Number of visible verdicts that are not among them.
    pub more: usize,
    /// Number of verdicts on pairs that the reader has not judged.
    pub hidden: usize,
    /// Whether the server may have more of them.
    pub is_partial: bool,
}

/// A person's latest verdicts, at most `limit`: only those on pairs that the reader has judged too,
/// so that a blind verdict stays possible on the others.
///
/// # Errors
/// The project cannot be read.
pub fn compared_verdicts(
    db: &Db,
    person: &str,
    reader: &str,
    limit: usize,
) -> Result<ComparedVerdicts> {
    let verdicts = latest(db)?;
    let mut found = ComparedVerdicts {
        is_partial: db.judgment_reader()?.is_some_and(|only| only != person),
        ..ComparedVerdicts::default()
    };
    let mut visible: Vec<(QueryKey, &Verdict, Option<&Verdict>)> = Vec::new();
    for ((query, pair, name), verdict) in &verdicts {
        if name != person {
            continue;
        }
        let own = verdicts.get(&(*query, *pair, reader.to_owned()));
        match own {
            _ if person == reader => visible.push((*query, verdict, None)),
            Some(own) => visible.push((*query, verdict, Some(own))),
            None => found.hidden += 1,
        }
    }
    visible.sort_by_key(|(_, verdict, _)| std::cmp::Reverse(verdict.created_ms));
    found.more = visible.len().saturating_sub(limit);
    for (query, verdict, own) in visible.into_iter().take(limit) {
        let documents = db.documents(query)?;
        let name = |at: usize| {
            let document = documents.get(at);
            document.map_or(String::new(), |of| of.id.as_str().to_owned())
        };
        found.shown.push(ComparedVerdict {
            query: db.query(query)?.id.as_str().to_owned(),
            documents: [name(verdict.a), name(verdict.b)],
            verdict: verdict.clone(),
            own: own.cloned(),
        });
    }
    Ok(found)
}
