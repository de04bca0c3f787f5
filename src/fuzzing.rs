//! What reads text of others, as functions that take any bytes and check the laws of what they read. The fuzzers of
//! `fuzz/` drive them for long; the tests here drive them with the same inputs every time.

use crate::domain::adjudication::PickRequest;
use crate::domain::corpus::Pool;
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::sanitise;
use crate::formats::ai_scores::{ExpectedJudges, ScoredPairsWriter, ZbenchPair, read_scored_pairs};
use crate::formats::file_kind::recognise;
use crate::formats::problem::Problem;
use crate::formats::{beir, dataset, gold, picks, trec, votes};
use crate::judge::ensemble::{Dotenv, JudgesFile};
use crate::judge::parse::{self, Written};
use crate::judge::price::PriceTable;
use crate::judge::prompt::Template;
use std::fmt::Debug;
use std::io::BufReader;

/// What is given any bytes and must not panic.
pub type FuzzTarget = fn(&[u8]);

/// The targets by their names, which are those of their folders of examples in `fuzz/seeds` too.
pub const TARGETS: [(&str, FuzzTarget); 9] = [
    ("judge_reply", judge_reply),
    ("judge_settings", judge_settings),
    ("dataset", pools),
    ("ai_scores", scored_pairs),
    ("beir", beir_files),
    ("trec", trec_files),
    ("picks", pick_records),
    ("gold", gold_items),
    ("votes", external_votes),
];

/// Bytes at a time in which files are read once more: an item must not depend on where a buffer ends.
const PIECE: usize = 7;

/// Every message is safe to print.
fn check_problem(problem: &Problem) {
    let text = problem.to_string();
    assert_eq!(sanitise::line(&text), text);
}

/// The items of a file; it reads the same in pieces of a few bytes.
fn items<'a, T, I>(data: &'a [u8], read: impl Fn(BufReader<&'a [u8]>) -> I) -> Vec<T>
where
    T: Debug + PartialEq,
    I: Iterator<Item = Result<T, Problem>>,
{
    let whole: Vec<_> = read(BufReader::new(data)).collect();
    let pieces: Vec<_> = read(BufReader::with_capacity(PIECE, data)).collect();
    assert_eq!(whole, pieces);
    for problem in whole.iter().filter_map(|item| item.as_ref().err()) {
        check_problem(problem);
    }
    whole.into_iter().flatten().collect()
}

/// Replies of judges: a score by the contract is read the same by the tolerant reading.
pub fn judge_reply(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let written = Written::from(&*text);
    let score = parse::score(written);
    if let Ok(strict) = parse::strict_score(&text) {
        assert_eq!(score, Ok(strict));
    }
    // What a document contains is not the judge's answer.
    let shown = [&*text];
    let copied = Written {
        shown: &shown,
        ..written
    };
    assert!(parse::score(copied).is_err() && parse::choice(copied).is_err());
    let choice = parse::choice(written);
    let letter = parse::letter(written, None);
    for opinion in [score, choice, letter].into_iter().flatten() {
        assert!((-1.0..=1.0).contains(&opinion.margin.get()));
    }
    for request in [PickRequest::Exactly(2), PickRequest::AnyNumber] {
        if let Ok((slots, _)) = parse::slots(written, 10, request) {
            assert!(slots.iter().all(|slot| *slot < 10));
        }
    }
    let documents = ["Fever is common.", "Bread."];
    if let Ok((verdicts, _)) = parse::verdicts(written, &documents) {
        assert_eq!(verdicts.len(), documents.len());
    }
}

/// Files beside a project: prompts, `overrule.toml`, prices and `.env`.
pub fn judge_settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = (
        Template::parse(&text),
        JudgesFile::parse(&text),
        PriceTable::parse(&text),
    );
    // Only names are printed, and a name holds no value.
    let dotenv = format!("{:?}", Dotenv::parse(&text));
    assert!(!dotenv.contains('='));
}

/// Pools: what is read is written and read back to the same pool and the same bytes.
pub fn pools(data: &[u8]) {
    let write = |pools: &[Pool]| {
        let mut out = Vec::new();
        for pool in pools {
            assert!(dataset::write_pool(&mut out, pool).is_ok());
        }
        out
    };
    let read = items(data, |reader| dataset::read_pools(reader, "f"));
    for pool in &read {
        for document in &pool.documents {
            let _ = dataset::BenchmarkLabels::of(document);
        }
    }
    let written = write(&read);
    let again = items(&written, |reader| dataset::read_pools(reader, "f"));
    assert_eq!(again, read);
    assert_eq!(write(&again), written);
}

/// Scored pairs: the same law.
pub fn scored_pairs(data: &[u8]) {
    let any = |reader| read_scored_pairs(reader, "f", ExpectedJudges::Any);
    let read: Vec<ZbenchPair> = items(data, any);
    let zbench = |reader| read_scored_pairs(reader, "f", ExpectedJudges::Zbench);
    assert!(items(data, zbench).len() <= read.len());
    let mut written = Vec::new();
    if let Ok(mut writer) = ScoredPairsWriter::new(&mut written) {
        assert!(read.iter().all(|pair| writer.write(pair).is_ok()));
        assert!(writer.finish().is_ok());
    }
    assert_eq!(items(&written, any), read);
}

fn labels(rows: impl Iterator<Item = (u64, trec::GradedDocument)>) -> Qrels {
    trec::collect_qrels(rows.map(Ok), "f", &mut |problem| check_problem(&problem))
}

/// BEIR's three files: labels are read back as they are written.
pub fn beir_files(data: &[u8]) {
    items(data, |reader| beir::read_corpus(reader, "f"));
    items(data, |reader| beir::read_queries(reader, "f"));
    let qrels = labels(items(data, |reader| beir::read_qrels(reader, "f")).into_iter());
    let mut written = Vec::new();
    if beir::write_qrels(&mut written, &qrels).is_ok() {
        let again = items(&written, |reader| beir::read_qrels(reader, "f"));
        assert_eq!(labels(again.into_iter()), qrels);
    }
}

/// TREC's files and lists of candidates, and what tells them apart.
pub fn trec_files(data: &[u8]) {
    if let Err(problem) = recognise(data, "f") {
        check_problem(&problem);
    }
    let mut report = |problem: Problem| check_problem(&problem);
    let candidates = items(data, |reader| trec::read_candidates(reader, "f"));
    trec::collect_candidates(candidates.into_iter().map(Ok), "f", &mut report);

    let qrels = labels(items(data, |reader| trec::read_qrels(reader, "f")).into_iter());
    let mut written = Vec::new();
    if trec::write_qrels(&mut written, &qrels).is_ok() {
        let again = items(&written, |reader| trec::read_qrels(reader, "f"));
        assert_eq!(labels(again.into_iter()), qrels);
    }

    let mut run = |rows: Vec<(u64, trec::RankedDocument)>| {
        trec::collect_run(rows.into_iter().map(Ok), "f", &mut report)
    };
    let read: RankedRun = run(items(data, |reader| trec::read_run(reader, "f")));
    let mut written = Vec::new();
    let wrote = read
        .iter()
        .all(|(query, ranking)| trec::write_run(&mut written, query, ranking, "run").is_ok());
    if wrote {
        assert_eq!(
            run(items(&written, |reader| trec::read_run(reader, "f"))),
            read
        );
    }
}

/// Picks: a record is read back as it is written.
pub fn pick_records(data: &[u8]) {
    for (_, record) in items(data, |reader| picks::read_picks(reader, "f")) {
        let Ok(line) = serde_json::to_string(&record) else {
            continue;
        };
        let again = items(line.as_bytes(), |reader| picks::read_picks(reader, "f"));
        assert_eq!(again, [(1, record)]);
    }
}

/// Gold items, as lines or as a table.
pub fn gold_items(data: &[u8]) {
    let (items, problems) = gold::read_gold(data, "f");
    assert!(items.iter().all(|item| item.a != item.b));
    problems.iter().for_each(check_problem);
}

/// Other systems' votes.
pub fn external_votes(data: &[u8]) {
    let unknown = |_: &str| Ok(None);
    for vote in items(data, |reader| votes::read_votes(reader, "f", unknown)) {
        assert_ne!(vote.a.id, vote.b.id);
    }
}

#[cfg(test)]
mod tests;
