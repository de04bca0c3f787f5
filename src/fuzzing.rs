//! Fuzz targets for everything that reads foreign text: functions that take any bytes and check
//! invariants of the result. The fuzzers in `fuzz/` run them for a long time; the tests here run
//! them on fixed inputs.

use crate::domain::adjudication::PickRequest;
use crate::domain::corpus::Pool;
use crate::domain::metrics::{Qrels, RankedRun};
use crate::domain::sanitize;
use crate::formats::ai_scores::{ExpectedJudges, ScoredPairsWriter, ZbenchPair, read_scored_pairs};
use crate::formats::columns::{self, Layout, TableContent};
use crate::formats::file_kind::{FileKind, recognize};
use crate::formats::problem::Problem;
use crate::formats::{beir, dataset, gold, picks, predictions, trec, votes};
use crate::judge::ensemble::{Dotenv, JudgesFile};
use crate::judge::parse::{self, Written};
use crate::judge::price::PriceTable;
use crate::judge::prompt::Template;
use std::fmt::Debug;
use std::io::BufReader;

/// A function that must not panic on any bytes.
pub type FuzzTarget = fn(&[u8]);

/// The targets by name; the folders of examples in `fuzz/seeds` have the same names.
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

/// Buffer size in bytes for reading a file a second time: items must not depend on buffer
/// boundaries.
const PIECE: usize = 7;

/// Every message is safe to print.
fn check_problem(problem: &Problem) {
    let text = problem.to_string();
    assert_eq!(sanitize::line(&text), text);
}

/// The items of a file; checks that reading it in small pieces gives the same items.
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

/// Replies of judges: strict and tolerant parsing agree on a score that follows the contract.
pub fn judge_reply(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let written = Written::from(&*text);
    let score = parse::score(written);
    if let Ok(strict) = parse::strict_score(&text) {
        assert_eq!(score, Ok(strict));
    }
    // Text copied from a document is not the judge's answer.
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

/// Files next to a project: prompts, `overrule.toml`, prices and `.env`.
pub fn judge_settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = (
        Template::parse(&text),
        JudgesFile::parse(&text),
        PriceTable::parse(&text),
    );
    // Only names are printed, and a name contains no value.
    let dotenv = format!("{:?}", Dotenv::parse(&text));
    assert!(!dotenv.contains('='));
}

/// Pools: a pool survives writing and reading, with the same bytes.
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

/// The labels of a file in columns; `None` if it is not recognized.
fn labels(data: &[u8]) -> Option<Qrels> {
    let layout = layout(data, None)?;
    let rows = items(data, |reader| columns::read_labels(reader, "f", &layout));
    let labels = columns::collect_labels(rows.into_iter().map(Ok), "f", &mut |problem| {
        check_problem(&problem);
    });
    Some(labels.labels)
}

/// The rankings of a file in columns.
fn rankings(data: &[u8]) -> Option<RankedRun> {
    let layout = layout(data, None)?;
    let rows = items(data, |reader| columns::read_rankings(reader, "f", &layout));
    items(data, |reader| {
        columns::read_scored_texts(reader, "f", &layout)
    });
    let found = columns::collect_rankings(rows.into_iter().map(Ok), &layout, "f", &mut |problem| {
        check_problem(&problem);
    });
    Some(found.run)
}

fn layout(data: &[u8], wanted: Option<TableContent>) -> Option<Layout> {
    match recognize(data, "f", wanted) {
        Ok(FileKind::Table(layout)) => Some(layout),
        Ok(_) => None,
        Err(problem) => {
            check_problem(&problem);
            None
        }
    }
}

/// BEIR's three files: labels survive writing and reading.
pub fn beir_files(data: &[u8]) {
    items(data, |reader| beir::read_corpus(reader, "f"));
    items(data, |reader| beir::read_queries(reader, "f"));
    let Some(qrels) = labels(data) else { return };
    let mut written = Vec::new();
    if beir::write_qrels(&mut written, &qrels).is_ok() {
        assert_eq!(labels(&written), Some(qrels));
    }
}

/// Labels and rankings in columns, and how they are recognized.
pub fn trec_files(data: &[u8]) {
    for wanted in [TableContent::Labels, TableContent::Rankings] {
        layout(data, Some(wanted));
    }
    // An identifier may begin a file as JSON does.
    let is_text = |written: &[u8]| {
        let is_table = |kind| matches!(kind, FileKind::Table(_));
        recognize(written, "f", None).is_ok_and(is_table)
    };
    if let Some(qrels) = labels(data) {
        let mut written = Vec::new();
        if trec::write_qrels(&mut written, &qrels).is_ok() && is_text(&written) {
            assert_eq!(labels(&written), Some(qrels));
        }
    }
    if let Some(run) = rankings(data) {
        let mut written = Vec::new();
        let wrote = run
            .iter()
            .all(|(query, ranking)| trec::write_run(&mut written, query, ranking, "run").is_ok());
        if wrote && is_text(&written) {
            assert_eq!(rankings(&written), Some(run));
        }
    }
}

/// Picks: a record survives writing and reading.
pub fn pick_records(data: &[u8]) {
    for (_, record) in items(data, |reader| picks::read_picks(reader, "f")) {
        let Ok(line) = serde_json::to_string(&record) else {
            continue;
        };
        let again = items(line.as_bytes(), |reader| picks::read_picks(reader, "f"));
        assert_eq!(again, [(1, record)]);
    }
}

/// Gold items and predictions, as lines or as a table.
pub fn gold_items(data: &[u8]) {
    let (items, problems) = gold::read_gold(data, "f");
    assert!(items.iter().all(|item| item.a != item.b));
    problems.iter().for_each(check_problem);
    let (lines, problems) = predictions::read_predictions(data, "f");
    assert!(lines.iter().all(|line| line.a != line.b));
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
